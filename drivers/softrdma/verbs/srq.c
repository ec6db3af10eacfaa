// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: creation, resizing, and the limit event.
 */
#include "objects/device.h"
#include "posting/srq.h"
#include "verbs/srq.h"
#include "verbs/ucontext.h"

static int check_create_srq(const struct srdma_dev *dev,
			    const struct ib_srq_init_attr *init)
{
	const struct ib_srq_attr *attr = &init->attr;

	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!attr->max_wr || attr->max_wr > dev->bounds.wr ||
	    attr->max_sge > SRDMA_MAX_SGE || attr->srq_limit > attr->max_wr)
		return -EINVAL;
	return 0;
}

int srdma_srq_create(struct ib_srq *ib, struct ib_srq_init_attr *init,
		     struct ib_udata *udata)
{
	struct ib_ucontext *ucontext = srdma_udata_ucontext(udata);
	struct srdma_abi_create_srq_resp resp = {};
	struct srdma_dev *dev = to_sdev(ib->device);
	struct srdma_srq *srq = to_ssrq(ib);
	int err;

	err = srdma_rules_verb(&dev->rules, SRDMA_NL_VERB_CREATE_SRQ, 0) ?:
	      check_create_srq(dev, init) ?: srdma_udata_no_input(udata);
	if (err)
		return err;
	err = srdma_dev_count(dev, SRDMA_OBJ_SRQ);
	if (err)
		return err;

	mutex_init(&srq->mutex);
	srdma_srq_events_init(srq);
	err = srdma_rq_create(&srq->rq, init->attr.max_wr, init->attr.max_sge,
			      ucontext, &resp.ring);
	if (err)
		goto err_count;
	resp.srq_num = atomic_inc_return(&dev->srq_num);
	err = srdma_udata_answer(udata, &resp, sizeof(resp));
	if (err)
		goto err_rq;

	srq->max_wr = srdma_ring_entries(&srq->rq.ring);
	srq->limit = init->attr.srq_limit;
	init->attr.max_wr = srq->max_wr;
	return 0;

err_rq:
	srdma_rq_destroy(&srq->rq);
err_count:
	srdma_dev_uncount(dev, SRDMA_OBJ_SRQ);
	return err;
}

/* Queue pairs use the queue no more: the core counts them. */
int srdma_srq_destroy(struct ib_srq *ib, struct ib_udata *udata)
{
	struct srdma_srq *srq = to_ssrq(ib);

	srdma_upcall_stop(&srq->upcall);
	srdma_rq_destroy(&srq->rq);
	srdma_dev_uncount(to_sdev(ib->device), SRDMA_OBJ_SRQ);
	return 0;
}

/* Tells user space where the new ring is: by a pointer in the command. */
static int answer_map(struct ib_udata *udata, const struct srdma_abi_map *map)
{
	struct srdma_abi_modify_srq_cmd cmd;
	int err;

	if (!udata)
		return 0;
	if (udata->inlen < sizeof(cmd) ||
	    (udata->inlen > sizeof(cmd) &&
	     !ib_is_udata_cleared(udata, sizeof(cmd),
				  udata->inlen - sizeof(cmd))))
		return -EINVAL;
	err = ib_copy_from_udata(&cmd, udata, sizeof(cmd));
	if (err)
		return err;
	return copy_to_user(u64_to_user_ptr(cmd.map_addr), map, sizeof(*map)) ?
		-EFAULT : 0;
}

static int resize_srq(struct srdma_srq *srq, struct ib_srq_attr *attr,
		      struct ib_udata *udata)
{
	struct ib_ucontext *ucontext = srdma_udata_ucontext(udata);
	struct srdma_abi_map map = {};
	struct srdma_ring ring;
	int err;

	lockdep_assert_held(&srq->mutex);
	err = srdma_rq_prepare_resize(&srq->rq, &ring, attr->max_wr, ucontext,
				      &map);
	if (err)
		return err;
	/* User space must know of the new ring before the old one goes. */
	err = answer_map(udata, &map) ?: srdma_rq_resize(&srq->rq, &ring);
	if (!err) {
		srq->max_wr = srdma_ring_entries(&srq->rq.ring);
		attr->max_wr = srq->max_wr;
	}
	/* The new one that is not wanted, or the old one. */
	srdma_ring_destroy(&ring);
	return err;
}

int srdma_srq_modify(struct ib_srq *ib, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct srdma_dev *dev = to_sdev(ib->device);
	struct srdma_srq *srq = to_ssrq(ib);
	u32 max_wr, limit;
	int err;

	err = srdma_rules_verb(&dev->rules, SRDMA_NL_VERB_MODIFY_SRQ, 0);
	if (err)
		return err;
	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	if ((mask & IB_SRQ_MAX_WR) &&
	    (!attr->max_wr ||
	     attr->max_wr > dev->bounds.wr))
		return -EINVAL;

	mutex_lock(&srq->mutex);
	max_wr = mask & IB_SRQ_MAX_WR ? attr->max_wr : srq->max_wr;
	limit = mask & IB_SRQ_LIMIT ? attr->srq_limit : READ_ONCE(srq->limit);
	if (limit > max_wr)
		err = -EINVAL;
	else if (mask & IB_SRQ_MAX_WR)
		err = resize_srq(srq, attr, udata);
	if (!err && (mask & IB_SRQ_LIMIT))
		WRITE_ONCE(srq->limit, attr->srq_limit);
	mutex_unlock(&srq->mutex);
	return err;
}

int srdma_srq_query(struct ib_srq *ib, struct ib_srq_attr *attr)
{
	struct srdma_srq *srq = to_ssrq(ib);

	mutex_lock(&srq->mutex);
	attr->max_wr = srq->max_wr;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = READ_ONCE(srq->limit);
	mutex_unlock(&srq->mutex);
	return 0;
}

int srdma_srq_post(struct ib_srq *ib, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr)
{
	return srdma_rq_post(&to_ssrq(ib)->rq, wr, bad_wr);
}

