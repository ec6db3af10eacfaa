// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The state machine of a queue pair: which transitions and attributes are
 * legal, and what a transition does.
 *
 * The table of transitions with their required and optional attributes is the
 * core's (ib_modify_qp_is_ok(), from table 91 of the specification); the
 * tables here say which values make sense.
 */
#include <linux/slab.h>
#include <net/inet_ecn.h>

#include "compat/compat.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "posting/doorbell.h"
#include "requester/requester.h"
#include "requester/send.h"
#include "responder/reply.h"
#include "responder/responder.h"
#include "verbs/ah.h"
#include "verbs/qp.h"
#include "verbs/qp_state.h"
#include "verbs/refuse.h"
#include "verbs/ucontext.h"
#include "wire/path.h"
#include "wire/shortcut.h"

/*
 * IB_ACCESS_FLUSH_PERSISTENT. The core's connection manager gives a QP both
 * rights to flush where the device has one of them: this one means nothing, as
 * no memory has it.
 */
#define ACCESS_FLUSH_PERSISTENT	BIT(9)

#define QP_ACCESS_FLAGS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
			 IB_ACCESS_MW_BIND | IB_ACCESS_OPTIONAL | \
			 SRDMA_ACCESS_FLUSH | ACCESS_FLUSH_PERSISTENT)

#define MASK_24		0xffffff

/**
 * struct attr_range - the values that an attribute may have
 * @mask: its bit in the attribute mask
 * @offset: where it is in struct ib_qp_attr
 * @size: its size there
 * @min: smallest legal value
 * @max: largest legal value
 */
struct attr_range {
	u32 mask;
	u16 offset;
	u16 size;
	u32 min;
	u32 max;
};

#define RANGE(bit, member, low, high) {					\
	.mask = (bit),							\
	.offset = offsetof(struct ib_qp_attr, member),			\
	.size = sizeof_field(struct ib_qp_attr, member),		\
	.min = (low), .max = (high) }

static const struct attr_range attr_ranges[] = {
	RANGE(IB_QP_STATE, qp_state, IB_QPS_RESET, IB_QPS_ERR),
	RANGE(IB_QP_PKEY_INDEX, pkey_index, 0, SRDMA_PKEY_TABLE_LEN - 1),
	RANGE(IB_QP_PORT, port_num, SRDMA_PORT, SRDMA_PORT),
	RANGE(IB_QP_PATH_MTU, path_mtu, IB_MTU_256, IB_MTU_4096),
	RANGE(IB_QP_TIMEOUT, timeout, 0, 31),
	RANGE(IB_QP_RETRY_CNT, retry_cnt, 0, 7),
	RANGE(IB_QP_RNR_RETRY, rnr_retry, 0, 7),
	RANGE(IB_QP_MIN_RNR_TIMER, min_rnr_timer, 0, 31),
	RANGE(IB_QP_MAX_QP_RD_ATOMIC, max_rd_atomic, 0, SRDMA_MAX_RD_ATOMIC),
	RANGE(IB_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, 0,
	      SRDMA_MAX_RD_ATOMIC),
	RANGE(IB_QP_PATH_MIG_STATE, path_mig_state, IB_MIG_MIGRATED,
	      IB_MIG_MIGRATED),
};

static u32 attr_value(const struct ib_qp_attr *attr,
		      const struct attr_range *range)
{
	const void *at = (const u8 *)attr + range->offset;

	switch (range->size) {
	case 1:
		return *(const u8 *)at;
	case 2:
		return *(const u16 *)at;
	default:
		return *(const u32 *)at;
	}
}

static int check_values(const struct srdma_qp *qp,
			const struct ib_qp_attr *attr, int mask)
{
	const struct attr_range *range;
	u32 value;

	for (range = attr_ranges;
	     range < attr_ranges + ARRAY_SIZE(attr_ranges); range++) {
		if (!(mask & range->mask))
			continue;
		value = attr_value(attr, range);
		if (value < range->min || value > range->max)
			return srdma_refuse_modify(qp, range->mask,
				SRDMA_REFUSED(MODIFY_VALUE, EINVAL, value,
					      range->max));
	}
	return 0;
}

static int check_modify(const struct srdma_qp *qp,
			const struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state cur = qp->state;
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : cur;
	int err;

	/* Path migration is not offered, so there is no alternate path. */
	if (mask & (~IB_QP_ATTR_STANDARD_BITS | IB_QP_ALT_PATH))
		return srdma_refuse_modify(qp, mask,
			SRDMA_REFUSED(MODIFY_ATTR, EOPNOTSUPP,
				      mask & (~IB_QP_ATTR_STANDARD_BITS |
					      IB_QP_ALT_PATH), 0));
	err = check_values(qp, attr, mask);
	if (err)
		return err;
	if ((mask & IB_QP_CUR_STATE) && attr->cur_qp_state != cur)
		return srdma_refuse_modify(qp, mask,
			SRDMA_REFUSED(MODIFY_CURRENT, EINVAL,
				      attr->cur_qp_state, 0));
	if (!ib_modify_qp_is_ok(cur, next, qp->ib->qp_type, mask))
		return srdma_refuse_modify(qp, mask,
			SRDMA_REFUSED(MODIFY_STEP, EINVAL, next, 0));
	if ((mask & IB_QP_PATH_MTU) &&
	    attr->path_mtu > READ_ONCE(qp->dev->active_mtu))
		return srdma_refuse_modify(qp, mask,
			SRDMA_REFUSED(MODIFY_MTU, EINVAL, attr->path_mtu,
				      READ_ONCE(qp->dev->active_mtu)));
	/* The place for answers is made once. */
	if ((mask & IB_QP_MAX_DEST_RD_ATOMIC) && cur != IB_QPS_INIT &&
	    attr->max_dest_rd_atomic != qp->attr.max_dest_rd_atomic)
		return srdma_refuse_modify(qp, mask,
			SRDMA_REFUSED(MODIFY_RD_ATOMIC, EOPNOTSUPP,
				      attr->max_dest_rd_atomic,
				      qp->attr.max_dest_rd_atomic));
	return 0;
}

/* The attributes that are one member. */
#define KEEP(bit, member)						\
	do {								\
		if (mask & (bit))					\
			keep->member = attr->member;			\
	} while (0)

static void keep_attrs(struct srdma_qp *qp, const struct ib_qp_attr *attr,
		       int mask)
{
	struct srdma_qp_attrs *keep = &qp->attr;

	/* For this time only. */
	if (mask & IB_QP_STATE)
		keep->en_sqd_async_notify =
			(mask & IB_QP_EN_SQD_ASYNC_NOTIFY) &&
			attr->en_sqd_async_notify;
	/* Many give what they registered their memory with; rights count. */
	if (mask & IB_QP_ACCESS_FLAGS)
		keep->qp_access_flags = attr->qp_access_flags &
					QP_ACCESS_FLAGS;
	KEEP(IB_QP_PKEY_INDEX, pkey_index);
	KEEP(IB_QP_PORT, port_num);
	KEEP(IB_QP_QKEY, qkey);
	KEEP(IB_QP_PATH_MTU, path_mtu);
	KEEP(IB_QP_TIMEOUT, timeout);
	KEEP(IB_QP_RETRY_CNT, retry_cnt);
	KEEP(IB_QP_RNR_RETRY, rnr_retry);
	KEEP(IB_QP_MIN_RNR_TIMER, min_rnr_timer);
	KEEP(IB_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	KEEP(IB_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	/* Only 24 bits go onto the wire; callers give random 32. */
	if (mask & IB_QP_DEST_QPN)
		keep->dest_qp_num = attr->dest_qp_num & MASK_24;
	if (mask & IB_QP_RQ_PSN)
		keep->rq_psn = attr->rq_psn & MASK_24;
	if (mask & IB_QP_SQ_PSN)
		keep->sq_psn = attr->sq_psn & MASK_24;
	if (mask & IB_QP_AV)
		srdma_av_keep(&keep->ah_attr, &attr->ah_attr);
}

/* ---- changing state ---- */

static void stop_engines(struct srdma_qp *qp)
{
	srdma_engine_stop(&qp->send);
	srdma_engine_stop(&qp->recv);
}

/* In the other states there is nothing to do but for what comes in. */
static void start_engines(struct srdma_qp *qp)
{
	srdma_engine_start(&qp->recv);
	srdma_engine_start(&qp->send);
	if (srdma_qp_may(qp, SRDMA_MAY_FLUSH_RQ))
		srdma_engine_kick(&qp->recv, SRDMA_EVENT_STATE);
	if (srdma_qp_may(qp, SRDMA_MAY_SEND | SRDMA_MAY_FLUSH_SQ))
		srdma_engine_kick(&qp->send, SRDMA_EVENT_STATE);
}

/*
 * Everything that was set or posted is forgotten (10.3.1). What is left is a
 * requester that can flush, in case the QP goes to the error state from here.
 */
static void enter_reset(struct srdma_qp *qp)
{
	memset(&qp->attr, 0, sizeof(qp->attr));
	srdma_requester_reset(qp);
	srdma_responder_reset(qp);
	if (!qp->srq)
		srdma_rq_reset(&qp->rq);
	srdma_requester_ready(qp);
	srdma_mw_set_drop(&qp->windows);
}

/* What changes for the engines, which are stopped. */
static void apply(struct srdma_qp *qp, enum ib_qp_state from,
		  enum ib_qp_state to, struct srdma_rc_res *res)
{
	if (!srdma_qp_may(qp, SRDMA_MAY_POST_SEND))
		srdma_requester_forget(qp);
	if (!(srdma_qp_state_allows[to] & SRDMA_MAY_SEND))
		srdma_requester_halt(qp);
	if (to == IB_QPS_RESET) {
		enter_reset(qp);
	} else if (from == IB_QPS_INIT && to == IB_QPS_RTR) {
		srdma_responder_ready(qp, res);
	} else if (from == IB_QPS_RTR && to == IB_QPS_RTS) {
		srdma_requester_ready(qp);
		srdma_responder_update(qp);
	} else if (from == IB_QPS_SQE && to == IB_QPS_RTS) {
		srdma_requester_halt(qp);
		srdma_send_resume(qp);
	} else if (to == IB_QPS_RTS || to == IB_QPS_SQD) {
		srdma_requester_update(qp);
		srdma_responder_update(qp);
		if (from != to)
			srdma_requester_drain(qp, to == IB_QPS_SQD);
	}
}

/* RTR needs a place for the answers to READs and atomics. */
static int prepare_move(const struct srdma_qp *qp,
			const struct ib_qp_attr *attr, int mask,
			struct srdma_rc_res **res)
{
	*res = NULL;
	if (!(mask & IB_QP_MAX_DEST_RD_ATOMIC) || qp->qpt != SRDMA_QPT_RC ||
	    !attr->max_dest_rd_atomic || qp->state != IB_QPS_INIT)
		return 0;
	*res = kcalloc(attr->max_dest_rd_atomic, sizeof(**res), SRDMA_GFP);
	return *res ? 0 : -ENOMEM;
}

/*
 * A connection slows down when its packets meet congestion: routers may say so by ECN
 * instead of dropping them. Acknowledges are marked, too: what can drop but not mark
 * them would lose them. A program's own bits stay as they are.
 */
static void mark_capable(const struct srdma_qp *qp, struct srdma_av *av)
{
	if (srdma_qp_has_peer(qp) && !(av->traffic_class & INET_ECN_MASK))
		av->traffic_class |= INET_ECN_ECT_0;
}

static int modify(struct srdma_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state from = qp->state;
	enum ib_qp_state to = mask & IB_QP_STATE ? attr->qp_state : from;
	struct srdma_rc_res *res;
	struct srdma_av av;
	u32 dest_qpn;
	int err;

	err = check_modify(qp, attr, mask);
	if (err)
		return err;
	dest_qpn = mask & IB_QP_DEST_QPN ? attr->dest_qp_num & MASK_24 :
					   qp->attr.dest_qp_num;
	if (mask & IB_QP_AV) {
		err = srdma_av_init(&av, qp->dev, qp->is_user, &attr->ah_attr,
				    qp->qpn, dest_qpn);
		if (err)
			return err;
		mark_capable(qp, &av);
	}
	err = prepare_move(qp, attr, mask, &res);
	if (err)
		return err;

	if (mask & IB_QP_AV) {
		qp->av = av;
		srdma_path_drop(&qp->req.path);
		srdma_path_drop(&qp->resp.path);
		srdma_shortcut_forget(qp);
	}
	keep_attrs(qp, attr, mask);
	if (to == IB_QPS_ERR && from != IB_QPS_ERR)
		qp->flushed_by = SRDMA_ERR_FLUSH_MODIFIED;
	apply(qp, from, to, res);
	spin_lock_bh(&qp->state_lock);
	/* A flushed request may have found its CQ full: that was the end. */
	if (qp->state == from)
		srdma_qp_set_state(qp, to);
	spin_unlock_bh(&qp->state_lock);
	return 0;
}

/* Is it to fail because a rule says so? By the state that is asked for. */
static int ask_rules(struct srdma_qp *qp, const struct ib_qp_attr *attr,
		     int mask)
{
	enum srdma_nl_verb verb = SRDMA_NL_VERB_MODIFY_QP;

	if ((mask & IB_QP_STATE) && attr->qp_state <= IB_QPS_ERR)
		verb = SRDMA_NL_VERB_MODIFY_QP_RESET + attr->qp_state;
	return srdma_refuse_by_rule(&qp->dev->ib, qp->is_user, verb, qp->qpn);
}

static bool stops_to_answer(const struct ib_qp_attr *attr, int mask)
{
	return (mask & IB_QP_STATE) && (attr->qp_state == IB_QPS_RESET ||
					attr->qp_state == IB_QPS_ERR);
}

int srdma_qp_modify(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct srdma_qp *qp = to_sqp(ib);
	int err;

	err = ask_rules(qp, attr, mask) ?: srdma_udata_no_input(udata);
	if (err)
		return err;

	mutex_lock(&qp->mutex);
	srdma_doorbell_flush(qp);
	/* While the engines are stopped, nothing else changes the state. */
	stop_engines(qp);
	if (stops_to_answer(attr, mask))
		srdma_reply_last(qp);
	err = modify(qp, attr, mask);
	start_engines(qp);
	mutex_unlock(&qp->mutex);
	return err;
}

/* The QP is complete: its engines may be kicked from now on. */
void srdma_qp_begin(struct srdma_qp *qp)
{
	qp->state = IB_QPS_RESET;
	srdma_requester_ready(qp);
	start_engines(qp);
}

/* The QP is being destroyed: nothing is sent, executed or completed any more */
void srdma_qp_silence(struct srdma_qp *qp)
{
	mutex_lock(&qp->mutex);
	srdma_doorbell_flush(qp);
	stop_engines(qp);
	srdma_reply_last(qp);
	spin_lock_bh(&qp->state_lock);
	srdma_qp_set_state(qp, IB_QPS_RESET);
	spin_unlock_bh(&qp->state_lock);
	srdma_requester_halt(qp);
	mutex_unlock(&qp->mutex);
}
