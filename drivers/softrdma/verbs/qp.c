// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: creation, queries, look-up, destruction. Their state machine is
 * in verbs/qp_state.c.
 */
#include <linux/memcontrol.h>

#include "engine/backlog.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "posting/completion.h"
#include "posting/srq.h"
#include "requester/requester.h"
#include "responder/responder.h"
#include "verbs/qp.h"
#include "verbs/qp_state.h"
#include "verbs/refuse.h"
#include "verbs/ucontext.h"
#include "wire/inflight.h"

/* QP 0 and 1 have fixed meanings; low numbers make captures hard to read. */
#define FIRST_QPN	16
#define LAST_QPN	0xfffffe

static int qp_type(struct ib_device *ib, const struct ib_qp_init_attr *init,
		   bool is_user, enum srdma_qpt *qpt)
{
	switch (init->qp_type) {
	case IB_QPT_RC:
		*qpt = SRDMA_QPT_RC;
		return 0;
	case IB_QPT_UC:
		*qpt = SRDMA_QPT_UC;
		return 0;
	case IB_QPT_UD:
		*qpt = SRDMA_QPT_UD;
		return 0;
	case IB_QPT_GSI:
		*qpt = SRDMA_QPT_GSI;
		return 0;
	default:
		return srdma_refuse(ib, is_user,
				    SRDMA_REFUSED(QP_TYPE, EOPNOTSUPP,
						  init->qp_type, 0));
	}
}

static int check_cap(struct srdma_dev *dev, const struct ib_qp_cap *cap,
		     bool has_srq, bool is_user)
{
	const struct srdma_refused caps[] = {
		{ SRDMA_ERR_QP_SEND_WR, -EINVAL, cap->max_send_wr,
		  dev->bounds.wr },
		{ SRDMA_ERR_QP_SEND_SGE, -EINVAL, cap->max_send_sge,
		  SRDMA_MAX_SGE },
		{ SRDMA_ERR_QP_INLINE, -EINVAL, cap->max_inline_data,
		  SRDMA_MAX_INLINE },
		{ SRDMA_ERR_QP_RECV_WR, -EINVAL, cap->max_recv_wr,
		  dev->bounds.wr },
		{ SRDMA_ERR_QP_RECV_SGE, -EINVAL, cap->max_recv_sge,
		  SRDMA_MAX_SGE },
	};
	/* With an SRQ those of receives mean nothing. */
	u32 count = ARRAY_SIZE(caps) - (has_srq ? 2 : 0);
	u32 i;

	for (i = 0; i < count; i++)
		if (caps[i].value > caps[i].limit)
			return srdma_refuse(&dev->ib, is_user, &caps[i]);
	return 0;
}

static int check_create_qp(struct srdma_dev *dev,
			   const struct ib_qp_init_attr *init,
			   struct ib_udata *udata)
{
	if (init->create_flags || init->rwq_ind_tbl || init->xrcd)
		return srdma_refuse(&dev->ib, udata,
				    SRDMA_REFUSED(QP_FLAGS, EOPNOTSUPP,
						  init->create_flags, 0));
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	/* QP 1 belongs to the kernel (10.2.4.1). */
	if (init->qp_type == IB_QPT_GSI &&
	    (udata || init->port_num != SRDMA_PORT))
		return -EINVAL;
	return check_cap(dev, &init->cap, init->srq, udata) ?:
	       srdma_udata_no_input(udata);
}

/* The slots have room for so many pieces, or so many inline bytes. */
static int create_sq(struct srdma_qp *qp, struct ib_ucontext *ucontext,
		     struct srdma_abi_map *map)
{
	struct srdma_wqe_limits *limits = &qp->sq.limits;
	struct ib_qp_cap *cap = &qp->cap;
	struct srdma_ring_spec spec;
	size_t tail;
	int err;

	/* An atomic needs a place for its result, an ATOMIC WRITE for 8 bytes */
	tail = max3((size_t)cap->max_inline_data, (size_t)8,
		    cap->max_send_sge * sizeof(struct srdma_abi_sge));
	limits->qpt = qp->qpt;
	limits->max_sge = cap->max_send_sge;
	limits->max_inline = min_t(size_t, tail, SRDMA_MAX_INLINE);
	spec.entries = max(cap->max_send_wr, 1U);
	if (qp->is_user) {
		qp->sq.slot_bytes = sizeof(struct srdma_abi_send_wqe) + tail;
	} else {
		qp->sq.av_at = ALIGN(srdma_wqe_size(limits), 8);
		qp->sq.slot_bytes = qp->sq.av_at;
		if (srdma_qp_is_datagram(qp))
			qp->sq.slot_bytes += sizeof(struct srdma_av);
	}
	spec.elem_size = qp->sq.slot_bytes;

	spin_lock_init(&qp->sq.lock);
	err = srdma_ring_create(&qp->sq.ring, &spec, ucontext, map);
	if (err)
		return err;
	/* The ring may hold more: but who asks for as many again shall get them. */
	cap->max_send_wr = min(srdma_ring_entries(&qp->sq.ring),
			       qp->dev->bounds.wr);
	cap->max_inline_data = limits->max_inline;
	return 0;
}

static int create_rq(struct srdma_qp *qp, struct ib_ucontext *ucontext,
		     struct srdma_abi_map *map)
{
	struct ib_qp_cap *cap = &qp->cap;
	int err;

	if (qp->srq) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
		return 0;
	}
	err = srdma_rq_create(&qp->rq, cap->max_recv_wr, cap->max_recv_sge,
			      ucontext, map);
	if (err)
		return err;
	cap->max_recv_wr = min(srdma_ring_entries(&qp->rq.ring),
			       qp->dev->bounds.wr);
	cap->max_recv_sge = qp->rq.max_sge;
	return 0;
}

static void destroy_queues(struct srdma_qp *qp)
{
	if (!qp->srq)
		srdma_rq_destroy(&qp->rq);
	srdma_ring_destroy(&qp->sq.ring);
}

static int create_engines(struct srdma_qp *qp)
{
	int err;

	qp->backlog = srdma_backlog_get();
	if (!qp->backlog)
		return -ENOMEM;
	err = srdma_requester_init(qp);
	if (err)
		goto err_backlog;
	err = srdma_responder_init(qp);
	if (err)
		goto err_send;
	return 0;

err_send:
	srdma_requester_uninit(qp);
err_backlog:
	srdma_backlog_put(qp->backlog);
	return err;
}

/* They are stopped. */
static void destroy_engines(struct srdma_qp *qp)
{
	srdma_responder_uninit(qp);
	srdma_requester_uninit(qp);
	srdma_backlog_put(qp->backlog);
}

static int create_queues(struct srdma_qp *qp, struct ib_udata *udata)
{
	struct ib_ucontext *ucontext = srdma_udata_ucontext(udata);
	struct srdma_abi_create_qp_resp resp = {};
	int err;

	err = create_sq(qp, ucontext, &resp.sq);
	if (err)
		return err;
	err = create_rq(qp, ucontext, &resp.rq);
	if (err)
		goto err_sq;
	err = srdma_udata_answer(udata, &resp, sizeof(resp));
	if (err)
		goto err_queues;
	return 0;

err_queues:
	destroy_queues(qp);
	return err;
err_sq:
	srdma_ring_destroy(&qp->sq.ring);
	return err;
}

static void describe_access(struct srdma_qp *qp)
{
	qp->who = (struct srdma_mem_who) {
		.keys = &qp->dev->keys,
		.pd = qp->pd,
		.set = &qp->windows,
		.uid = qp->maker.uid,
	};
	qp->rq_who = (struct srdma_mem_who) {
		.keys = &qp->dev->keys,
		.pd = qp->srq ? qp->srq->ib.pd : qp->pd,
		.uid = qp->maker.uid,
	};
}

static struct srdma_qp *alloc_qp(struct ib_qp *ib,
				 const struct ib_qp_init_attr *init,
				 enum srdma_qpt qpt, bool is_user)
{
	struct srdma_qp *qp;

	qp = srdma_qp_alloc();
	if (!qp)
		return NULL;
	srdma_inflight_begin(qp);
	mutex_init(&qp->mutex);
	spin_lock_init(&qp->state_lock);
	srdma_mw_set_init(&qp->windows);
	srdma_qp_events_init(qp);
	INIT_LIST_HEAD(&qp->drain_entry);
	qp->ib = ib;
	qp->dev = to_sdev(ib->device);
	qp->pd = ib->pd;
	qp->qpt = qpt;
	qp->is_user = is_user;
	if (is_user)
		qp->owner = get_mem_cgroup_from_mm(current->mm);
	srdma_maker_init(&qp->maker, is_user);
	qp->owner_pid = qp->maker.pid;
	qp->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->cap = init->cap;
	qp->send_cq = to_scq(init->send_cq);
	qp->recv_cq = to_scq(init->recv_cq);
	qp->srq = init->srq ? to_ssrq(init->srq) : NULL;
	qp->state = IB_QPS_RESET;
	describe_access(qp);
	return qp;
}

/* From here on packets find the QP, and meet its state. */
static int publish_qp(struct srdma_qp *qp)
{
	struct srdma_dev *dev = qp->dev;
	int err;

	if (qp->qpt == SRDMA_QPT_GSI) {
		qp->qpn = 1;
		err = xa_insert(&dev->qp_numbers, 1, NULL, SRDMA_GFP);
	} else {
		err = xa_alloc_cyclic(&dev->qp_numbers, &qp->qpn, NULL,
				      XA_LIMIT(FIRST_QPN, LAST_QPN),
				      &dev->next_qpn, SRDMA_GFP);
	}
	if (err < 0)
		return err;
	err = srdma_table_reserve(&dev->qps, qp->qpn);
	if (err)
		xa_erase(&dev->qp_numbers, qp->qpn);
	else
		srdma_table_set(&dev->qps, qp->qpn, qp);
	return err;
}

int srdma_qp_create(struct ib_qp *ib, struct ib_qp_init_attr *init,
		    struct ib_udata *udata)
{
	struct srdma_qp_handle *handle;
	struct srdma_dev *dev = to_sdev(ib->device);
	enum srdma_qpt qpt;
	struct srdma_qp *qp;
	int err;

	err = srdma_refuse_by_rule(ib->device, udata,
				   SRDMA_NL_VERB_CREATE_QP, 0) ?:
	      qp_type(ib->device, init, udata, &qpt) ?:
	      check_create_qp(dev, init, udata);
	if (err)
		return err;
	err = srdma_refuse_beyond(dev, udata, SRDMA_OBJ_QP);
	if (err)
		return err;
	qp = alloc_qp(ib, init, qpt, udata);
	if (!qp) {
		err = -ENOMEM;
		goto err_count;
	}
	err = srdma_errors_join(&dev->errors, qp->is_user, &qp->errors);
	if (err)
		goto err_free;
	err = create_queues(qp, udata);
	if (err)
		goto err_errors;
	err = create_engines(qp);
	if (err)
		goto err_queues;
	srdma_qp_begin(qp);
	err = publish_qp(qp);
	if (err)
		goto err_engines;

	handle = container_of(ib, struct srdma_qp_handle, ib);
	handle->qp = qp;
	ib->qp_num = qp->qpn;
	init->cap = qp->cap;
	return 0;

err_engines:
	srdma_qp_silence(qp);
	destroy_engines(qp);
err_queues:
	destroy_queues(qp);
err_errors:
	srdma_errors_leave(&dev->errors, qp->errors);
err_free:
	srdma_qp_free(qp);
err_count:
	srdma_dev_uncount(dev, SRDMA_OBJ_QP);
	return err;
}

int srdma_qp_destroy(struct ib_qp *ib, struct ib_udata *udata)
{
	struct srdma_qp_handle *handle = to_sqp_handle(ib);
	struct srdma_qp *qp = handle->qp;
	struct srdma_dev *dev = qp->dev;

	/* Act 1: no new look-ups find it. */
	WRITE_ONCE(handle->qp, NULL);
	srdma_table_set(&dev->qps, qp->qpn, NULL);
	xa_erase(&dev->qp_numbers, qp->qpn);
	/* Act 2: code that found it earlier sees it dead. */
	srdma_qp_silence(qp);
	/* Act 3: its engines do not run, its queues are not touched any more. */
	destroy_engines(qp);
	srdma_upcall_stop(&qp->upcall);
	destroy_queues(qp);
	/* Act 4: its windows cannot be used any more. */
	srdma_mw_set_drop(&qp->windows);
	srdma_errors_leave(&dev->errors, qp->errors);
	srdma_dev_uncount(dev, SRDMA_OBJ_QP);
	/* Those that found it earlier, and what it sent, see only the empty shell. */
	srdma_inflight_end(qp);
	return 0;
}

static void tell_attrs(const struct srdma_qp *qp, struct ib_qp_attr *attr)
{
	const struct srdma_qp_attrs *kept = &qp->attr;

	*attr = (struct ib_qp_attr) {
		.path_mtu = kept->path_mtu,
		.qkey = kept->qkey,
		.rq_psn = kept->rq_psn,
		.sq_psn = kept->sq_psn,
		.dest_qp_num = kept->dest_qp_num,
		.qp_access_flags = kept->qp_access_flags,
		.ah_attr = kept->ah_attr,
		.pkey_index = kept->pkey_index,
		.en_sqd_async_notify = kept->en_sqd_async_notify,
		.max_rd_atomic = kept->max_rd_atomic,
		.max_dest_rd_atomic = kept->max_dest_rd_atomic,
		.min_rnr_timer = kept->min_rnr_timer,
		.port_num = kept->port_num,
		.timeout = kept->timeout,
		.retry_cnt = kept->retry_cnt,
		.rnr_retry = kept->rnr_retry,
	};
}

/*
 * Some cores let whoever lists resources (nldev) query a QP while it is being
 * destroyed, and until after that.
 */
static struct srdma_qp *get_if_alive(struct ib_qp *ib)
{
	struct srdma_qp *qp;

	rcu_read_lock();
	qp = READ_ONCE(to_sqp_handle(ib)->qp);
	if (qp && !refcount_inc_not_zero(&qp->refs))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

static void query(struct srdma_qp *qp, struct ib_qp *ib,
		  struct ib_qp_attr *attr, struct ib_qp_init_attr *init)
{
	mutex_lock(&qp->mutex);
	tell_attrs(qp, attr);
	attr->qp_state = READ_ONCE(qp->state);
	attr->cur_qp_state = attr->qp_state;
	srdma_requester_query(qp, attr);
	srdma_responder_query(qp, attr);
	mutex_unlock(&qp->mutex);

	attr->cap = qp->cap;
	attr->path_mig_state = IB_MIG_MIGRATED;
	*init = (struct ib_qp_init_attr) {
		.event_handler = ib->event_handler,
		.qp_context = ib->qp_context,
		.send_cq = ib->send_cq,
		.recv_cq = ib->recv_cq,
		.srq = ib->srq,
		.cap = qp->cap,
		.sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR :
					     IB_SIGNAL_REQ_WR,
		.qp_type = ib->qp_type,
		.port_num = SRDMA_PORT,
	};
}

int srdma_qp_query(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct srdma_qp *qp = get_if_alive(ib);
	int err;

	if (!qp)
		return -EINVAL;
	err = srdma_refuse_by_rule(ib->device, qp->is_user,
				   SRDMA_NL_VERB_QUERY_QP, qp->qpn);
	if (!err)
		query(qp, ib, attr, init);
	srdma_qp_put(qp);
	return err;
}
