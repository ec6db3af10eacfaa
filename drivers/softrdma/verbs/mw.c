// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows: allocation and deallocation.
 */
#include <linux/slab.h>

#include "objects/device.h"
#include "verbs/mw.h"
#include "verbs/refuse.h"
#include "verbs/ucontext.h"

static struct srdma_mw_handle *to_handle(struct ib_mw *ib)
{
	return container_of(ib, struct srdma_mw_handle, ib);
}

/* A window that is bound to nothing; the core has checked its type. */
int srdma_mw_alloc(struct ib_mw *ib, struct ib_udata *udata)
{
	struct srdma_dev *dev = to_sdev(ib->device);
	struct srdma_mw *mw;
	int err;

	err = srdma_refuse_by_rule(ib->device, true,
				   SRDMA_NL_VERB_ALLOC_MW, 0) ?:
	      srdma_udata_no_input(udata) ?:
	      srdma_refuse_beyond(dev, true, SRDMA_OBJ_MW);
	if (err)
		return err;
	err = srdma_bounds_room();
	if (err)
		goto err_count;
	mw = kzalloc(sizeof(*mw), SRDMA_GFP);
	if (!mw) {
		err = -ENOMEM;
		goto err_count;
	}
	mw->type = ib->type;
	spin_lock_init(&mw->key.lock);
	INIT_LIST_HEAD(&mw->entry);
	err = srdma_key_publish(&dev->keys, &mw->key, SRDMA_KEY_MW, ib->pd);
	if (err)
		goto err_mw;
	ib->rkey = mw->key.key;
	to_handle(ib)->mw = mw;
	return 0;

err_mw:
	kfree(mw);
err_count:
	srdma_dev_uncount(dev, SRDMA_OBJ_MW);
	return err;
}

/* The core frees its part when this returns. */
int srdma_mw_dealloc(struct ib_mw *ib)
{
	struct srdma_dev *dev = to_sdev(ib->device);
	struct srdma_mw *mw = to_handle(ib)->mw;

	srdma_mw_end(mw);

	srdma_key_erase(&dev->keys, &mw->key);
	srdma_dev_uncount(dev, SRDMA_OBJ_MW);
	kfree_rcu(mw, key.rcu);
	return 0;
}
