// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues: creation, resizing, destruction.
 */
#include "compat/compat.h"
#include "objects/device.h"
#include "posting/completion.h"
#include "verbs/cq.h"
#include "verbs/refuse.h"
#include "verbs/ucontext.h"

static void fill_spec(const struct srdma_cq *cq, u32 entries,
			struct srdma_ring_spec *spec)
{
	spec->entries = entries;
	spec->elem_size = srdma_cq_is_user(cq) ? sizeof(struct ib_uverbs_wc) :
					sizeof(struct ib_wc);
}

static int check_create_cq(struct srdma_dev *dev,
			   const struct ib_cq_init_attr *attr, bool is_user)
{
	if (attr->flags)
		return srdma_refuse(&dev->ib, is_user,
				    SRDMA_REFUSED(CQ_FLAGS, EOPNOTSUPP,
						  attr->flags, 0));
	if (!attr->cqe || attr->cqe > dev->bounds.cqe)
		return srdma_refuse(&dev->ib, is_user,
				    SRDMA_REFUSED(CQ_SIZE, EINVAL, attr->cqe,
						  dev->bounds.cqe));
	/* The core asks the same for user space. */
	return attr->comp_vector < dev->ib.num_comp_vectors ? 0 : -EINVAL;
}

int srdma_cq_create(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		    struct ib_udata *udata)
{
	struct ib_ucontext *ucontext = srdma_udata_ucontext(udata);
	struct srdma_dev *dev = to_sdev(ib->device);
	struct srdma_abi_create_cq_resp resp = {};
	struct srdma_cq *cq = to_scq(ib);
	struct srdma_ring_spec spec;
	int err;

	err = srdma_refuse_by_rule(ib->device, udata,
				   SRDMA_NL_VERB_CREATE_CQ, 0);
	if (err)
		return err;
	err = check_create_cq(dev, attr, udata) ?: srdma_udata_no_input(udata);
	if (err)
		return err;
	err = srdma_refuse_beyond(dev, udata, SRDMA_OBJ_CQ);
	if (err)
		return err;

	spin_lock_init(&cq->lock);
	mutex_init(&cq->resizing);
	srdma_cq_events_init(cq);
	fill_spec(cq, attr->cqe, &spec);
	err = srdma_ring_create(&cq->ring, &spec, ucontext, &resp.ring);
	if (err)
		goto err_count;
	err = srdma_udata_answer(udata, &resp, sizeof(resp));
	if (err)
		goto err_ring;
	ib->cqe = srdma_ring_entries(&cq->ring);
	return 0;

err_ring:
	srdma_ring_destroy(&cq->ring);
err_count:
	srdma_dev_uncount(dev, SRDMA_OBJ_CQ);
	return err;
}

int srdma_cq_create_attrs(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs)
{
	return srdma_cq_create(ib, attr, attrs ? &attrs->driver_udata : NULL);
}

/* Queue pairs use the queue no more: the core counts them. */
int srdma_cq_destroy(struct ib_cq *ib, struct ib_udata *udata)
{
	struct srdma_cq *cq = to_scq(ib);

	srdma_upcall_stop(&cq->upcall);
	/* The core has done so before, but an upcall may have queued it since. */
	if (ib->poll_ctx == IB_POLL_WORKQUEUE ||
	    ib->poll_ctx == IB_POLL_UNBOUND_WORKQUEUE)
		cancel_work_sync(&ib->work);
	srdma_ring_destroy(&cq->ring);
	srdma_dev_uncount(to_sdev(ib->device), SRDMA_OBJ_CQ);
	return 0;
}

/**
 * struct cq_move - what the consumer had not taken when the ring was changed
 * @first: its index in the old ring
 * @count: entries; they belong before all others in the new one
 */
struct cq_move {
	u32 first;
	u32 count;
};

/* Uses another ring, unless it is too small; the old one comes back in @ring. */
static int swap_rings(struct srdma_cq *cq, struct srdma_ring *ring,
		    struct cq_move *move)
{
	lockdep_assert_held(&cq->lock);
	move->count = srdma_cq_entries(cq);
	move->first = cq->ring.index - move->count;
	if (move->count > srdma_ring_entries(ring))
		return -EINVAL;
	swap(cq->ring, *ring);
	cq->ib.cqe = srdma_ring_entries(&cq->ring);
	srdma_ring_produce(&cq->ring, move->count);
	return 0;
}

/*
 * User space maps the new ring after the verb has returned. So entries may be
 * copied while others are added behind them. If a program reads the ring earlier,
 * only that program is confused. A kernel consumer may read it at once.
 */
static int change_ring(struct srdma_cq *cq, struct srdma_ring *ring)
{
	struct cq_move move;
	unsigned long flags;
	int err;

	lockdep_assert_held(&cq->resizing);
	spin_lock_irqsave(&cq->lock, flags);
	err = swap_rings(cq, ring, &move);
	if (!err && !srdma_cq_is_user(cq))
		srdma_ring_copy(&cq->ring, 0, ring, move.first, move.count);
	spin_unlock_irqrestore(&cq->lock, flags);
	if (!err && srdma_cq_is_user(cq))
		srdma_ring_copy_slowly(&cq->ring, 0, ring, move.first,
				       move.count);
	return err;
}

static int resize_cq(struct srdma_cq *cq, u32 cqe, struct ib_udata *udata)
{
	struct ib_ucontext *ucontext = srdma_udata_ucontext(udata);
	struct srdma_abi_create_cq_resp resp = {};
	struct srdma_dev *dev = to_sdev(cq->ib.device);
	struct srdma_ring_spec spec;
	struct srdma_ring ring;
	int err;

	if (!cqe || cqe > dev->bounds.cqe)
		return srdma_refuse(&dev->ib, udata,
				    SRDMA_REFUSED(CQ_SIZE, EINVAL, cqe,
						  dev->bounds.cqe));
	err = srdma_refuse_by_rule(&dev->ib, udata,
				   SRDMA_NL_VERB_RESIZE_CQ, 0) ?:
	      srdma_udata_no_input(udata);
	if (err)
		return err;
	fill_spec(cq, cqe, &spec);
	err = srdma_ring_create(&ring, &spec, ucontext, &resp.ring);
	if (err)
		return err;
	/* User space must know of the new ring before the old one goes. */
	err = srdma_udata_answer(udata, &resp, sizeof(resp));
	if (!err) {
		mutex_lock(&cq->resizing);
		err = change_ring(cq, &ring);
		mutex_unlock(&cq->resizing);
		if (err)
			srdma_refuse(&dev->ib, udata,
				     SRDMA_REFUSED(CQ_FULL, EINVAL, cqe, 0));
	}
	/* The new one that is not wanted, or the old one. */
	srdma_ring_destroy(&ring);
	return err;
}

#ifdef SRDMA_HAVE_RESIZE_USER_CQ
int srdma_cq_resize(struct ib_cq *ib, unsigned int cqe, struct ib_udata *udata)
{
	return resize_cq(to_scq(ib), cqe, udata);
}
#else
int srdma_cq_resize(struct ib_cq *ib, int cqe, struct ib_udata *udata)
{
	return cqe < 0 ? -EINVAL : resize_cq(to_scq(ib), cqe, udata);
}
#endif

