// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: creation, resizing, and the limit event.
 */
#include "objects/device.h"
#include "posting/srq.h"
#include "verbs/refuse.h"
#include "verbs/srq.h"
#include "verbs/ucontext.h"

static int refuse_wr(struct srdma_dev *dev, bool is_user, u32 max_wr)
{
	return srdma_refuse(&dev->ib, is_user,
			    SRDMA_REFUSED(SRQ_WR, EINVAL, max_wr,
					  dev->bounds.wr));
}

static int refuse_limit(struct srdma_dev *dev, bool is_user, u32 limit,
			u32 max_wr)
{
	return srdma_refuse(&dev->ib, is_user,
			    SRDMA_REFUSED(SRQ_LIMIT, EINVAL, limit, max_wr));
}

static int check_create_srq(struct srdma_dev *dev,
			    const struct ib_srq_init_attr *init, bool is_user)
{
	const struct ib_srq_attr *attr = &init->attr;

	if (init->srq_type != IB_SRQT_BASIC)
		return srdma_refuse(&dev->ib, is_user,
				    SRDMA_REFUSED(SRQ_TYPE, EOPNOTSUPP,
						  init->srq_type, 0));
	if (!attr->max_wr || attr->max_wr > dev->bounds.wr)
		return refuse_wr(dev, is_user, attr->max_wr);
	if (attr->max_sge > SRDMA_MAX_SGE)
		return srdma_refuse(&dev->ib, is_user,
				    SRDMA_REFUSED(SRQ_SGE, EINVAL,
						  attr->max_sge,
						  SRDMA_MAX_SGE));
	return 0;
}

/* The ring may hold more than the device offers: who asks for as many again gets them. */
static void tell_size(struct srdma_srq *srq)
{
	srq->max_wr = min(srdma_ring_entries(&srq->rq.ring),
			  to_sdev(srq->ib.device)->bounds.wr);
}

/* The limit is none of what an SRQ is made with (ibv_create_srq(3)). */
int srdma_srq_create(struct ib_srq *ib, struct ib_srq_init_attr *init,
		     struct ib_udata *udata)
{
	struct ib_ucontext *ucontext = srdma_udata_ucontext(udata);
	struct srdma_abi_create_srq_resp resp = {};
	struct srdma_dev *dev = to_sdev(ib->device);
	struct srdma_srq *srq = to_ssrq(ib);
	int err;

	err = srdma_refuse_by_rule(ib->device, udata,
				   SRDMA_NL_VERB_CREATE_SRQ, 0) ?:
	      check_create_srq(dev, init, udata) ?: srdma_udata_no_input(udata);
	if (err)
		return err;
	err = srdma_refuse_beyond(dev, udata, SRDMA_OBJ_SRQ);
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

	tell_size(srq);
	srq->limit = 0;
	init->attr.max_wr = srq->max_wr;
	init->attr.max_sge = srq->rq.max_sge;
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
	err = answer_map(udata, &map);
	if (!err) {
		err = srdma_rq_resize(&srq->rq, &ring);
		if (err)
			srdma_refuse(srq->ib.device, udata,
				     SRDMA_REFUSED(SRQ_FULL, -err,
						   attr->max_wr, 0));
	}
	if (!err) {
		tell_size(srq);
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

	err = srdma_refuse_by_rule(ib->device, udata,
				   SRDMA_NL_VERB_MODIFY_SRQ, 0);
	if (err)
		return err;
	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	if ((mask & IB_SRQ_MAX_WR) &&
	    (!attr->max_wr || attr->max_wr > dev->bounds.wr))
		return refuse_wr(dev, udata, attr->max_wr);

	mutex_lock(&srq->mutex);
	max_wr = mask & IB_SRQ_MAX_WR ? attr->max_wr : srq->max_wr;
	limit = mask & IB_SRQ_LIMIT ? attr->srq_limit : READ_ONCE(srq->limit);
	if (limit > max_wr)
		err = refuse_limit(dev, udata, limit, max_wr);
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

