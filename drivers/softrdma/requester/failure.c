// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that fail. The code that finds a failure records the cause here. The
 * request completes later, after all earlier ones; if an earlier one fails
 * meanwhile, this one is flushed instead. When it completes, its vendor_err and
 * the log say why.
 *
 * No function here is inlined: requests that succeed should not pay for it.
 */
#include <linux/if_addr.h>
#include <rdma/softrdma-abi.h>

#include "memory/explain.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "objects/report.h"
#include "proto/aeth.h"
#include "requester/failure.h"
#include "wire/addresses.h"
#include "wire/path.h"

/* The codes are in the order of the checks. */
#define SAME_ORDER(name)						\
	static_assert((int)SRDMA_WQE_##name == (int)SRDMA_ERR_WR_##name)

SAME_ORDER(OPCODE);
SAME_ORDER(FLAGS);
SAME_ORDER(NUM_SGE);
SAME_ORDER(INLINE);
SAME_ORDER(LENGTH);
SAME_ORDER(ATOMIC_LEN);
SAME_ORDER(AH);
SAME_ORDER(FLUSH_TYPE);

static bool is_reliable(const struct srdma_qp *qp)
{
	return qp->qpt == SRDMA_QPT_RC;
}

/* ---- noting ---- */

/* Is it the request that is going to fail, and so? */
static bool is_chosen(const struct srdma_qp *qp, u32 idx, u8 status)
{
	const struct srdma_rc_req *rc = &qp->req.rc;
	const struct srdma_uc_req *uc = &qp->req.uc;

	if (is_reliable(qp))
		return (rc->failing || rc->failed) && rc->fail_idx == idx &&
		       rc->fail_status == status;
	return uc->failed && uc->fail_idx == idx && uc->fail_status == status;
}

/*
 * Fails a request. Returns the cause to be filled in, or NULL: an earlier one
 * fails, and this one is flushed.
 */
static struct srdma_cause *begin_failure(struct srdma_qp *qp, u32 idx,
				enum srdma_status status)
{
	struct srdma_failure *failure = &qp->req.failure;

	if (is_reliable(qp))
		srdma_rc_req_fail(&qp->req.rc, idx, status);
	else
		srdma_uc_req_fail(&qp->req.uc, idx, status);
	if (!is_chosen(qp, idx, status))
		return NULL;
	failure->idx = idx;
	failure->status = status;
	failure->psn = srdma_send_wqe(&qp->req, idx)->msg.psn;
	srdma_cause_begin(&failure->cause, SRDMA_ERR_NONE);
	return &failure->cause;
}

/* The protocol core has failed one. NULL: it is one that was noted before. */
static struct srdma_cause *note_failed(struct srdma_qp *qp, u16 code)
{
	struct srdma_failure *failure = &qp->req.failure;
	struct srdma_rc_req *rc = &qp->req.rc;

	if (failure->status == rc->fail_status && failure->idx == rc->fail_idx)
		return NULL;
	failure->idx = rc->fail_idx;
	failure->status = rc->fail_status;
	failure->psn = srdma_rc_req_msg(rc, rc->fail_idx)->psn;
	srdma_cause_begin(&failure->cause, code);
	return &failure->cause;
}

/* ---- what the request itself is to blame for ---- */

static void add_slot(struct srdma_cause *cause, const struct srdma_qp *qp)
{
	const struct srdma_wqe_limits *limits = &qp->sq.limits;
	const struct srdma_abi_send_wqe *raw;

	/* A kernel consumer's was checked when it was posted. */
	if (!qp->is_user)
		return;
	raw = qp->req.slot;
	switch (cause->code) {
	case SRDMA_ERR_WR_OPCODE:
		srdma_cause_add(cause, SRDMA_FACT_VALUE, raw->opcode);
		break;
	case SRDMA_ERR_WR_FLAGS:
		srdma_cause_add(cause, SRDMA_FACT_VALUE, raw->send_flags);
		break;
	case SRDMA_ERR_WR_NUM_SGE:
		srdma_cause_add(cause, SRDMA_FACT_VALUE, raw->dma.num_sge);
		srdma_cause_add(cause, SRDMA_FACT_LIMIT, limits->max_sge);
		break;
	case SRDMA_ERR_WR_INLINE:
		srdma_cause_add(cause, SRDMA_FACT_VALUE, raw->dma.length);
		srdma_cause_add(cause, SRDMA_FACT_LIMIT, limits->max_inline);
		break;
	}
}

/**
 * srdma_failure_of_slot - a request that was just taken is none
 * @qp: queue pair
 * @idx: of the request
 * @status: to complete with
 * @code: enum srdma_err
 */
noinline void srdma_failure_of_slot(struct srdma_qp *qp, u32 idx,
				    enum srdma_status status, u16 code)
{
	struct srdma_cause *cause = begin_failure(qp, idx, status);

	if (!cause)
		return;
	cause->code = code;
	add_slot(cause, qp);
}

static void explain_pieces(struct srdma_cause *cause, struct srdma_qp *qp,
			   const struct srdma_wqe *wqe)
{
	bool fills = srdma_wr_info_get(wqe->msg.op)->flags & SRDMA_WRI_FILL;

	srdma_explain_pieces(cause, &qp->who, wqe->sge, wqe->num_sge,
			     fills ? IB_ACCESS_LOCAL_WRITE : 0);
}

/**
 * srdma_failure_to_send - a request cannot be sent
 * @qp: queue pair
 * @idx: of the request
 * @status: to complete with
 */
noinline void srdma_failure_to_send(struct srdma_qp *qp, u32 idx,
				    enum srdma_status status)
{
	const struct srdma_wqe *wqe = srdma_send_wqe(&qp->req, idx);
	struct srdma_cause *cause = begin_failure(qp, idx, status);

	if (!cause)
		return;
	if (status == SRDMA_ST_LOC_LEN) {
		cause->code = SRDMA_ERR_UD_LENGTH;
		srdma_cause_add(cause, SRDMA_FACT_VALUE, wqe->msg.len);
		srdma_cause_add(cause, SRDMA_FACT_LIMIT, qp->req.mtu);
	} else if (status == SRDMA_ST_LOC_QP_OP) {
		cause->code = SRDMA_ERR_AH_UNKNOWN;
		srdma_cause_add(cause, SRDMA_FACT_INDEX, wqe->ud.ah_num);
	} else {
		explain_pieces(cause, qp, wqe);
	}
}

/* The data of a response could not be placed. */
noinline void srdma_failure_to_place(struct srdma_qp *qp, u32 idx)
{
	struct srdma_cause *cause = begin_failure(qp, idx, SRDMA_ST_LOC_PROT);

	if (cause)
		explain_pieces(cause, qp, srdma_send_wqe(&qp->req, idx));
}

/* ---- operations on keys ---- */

static u16 why_not_invalidated(enum srdma_mem_why why)
{
	switch (why) {
	case SRDMA_MEM_PD:
		return SRDMA_ERR_INV_PD;
	case SRDMA_MEM_STATE:
	case SRDMA_MEM_ACCESS:
		return SRDMA_ERR_INV_KIND;
	case SRDMA_MEM_QP:
		return SRDMA_ERR_INV_QP;
	default:
		return SRDMA_ERR_INV_KEY;
	}
}

static u16 why_not_bound(enum srdma_mem_why why)
{
	switch (why) {
	case SRDMA_MEM_PD:
		return SRDMA_ERR_BIND_PD;
	case SRDMA_MEM_ACCESS:
		return SRDMA_ERR_BIND_ACCESS;
	case SRDMA_MEM_STATE:
		return SRDMA_ERR_BIND_STATE;
	case SRDMA_MEM_LENGTH:
		return SRDMA_ERR_BIND_LENGTH;
	case SRDMA_MEM_RANGE:
		return SRDMA_ERR_BIND_RANGE;
	default:
		return SRDMA_ERR_BIND_KEY;
	}
}

static void explain_invalidation(struct srdma_cause *cause, struct srdma_qp *qp,
				 const struct srdma_wqe *wqe,
				 enum srdma_mem_why why)
{
	cause->code = SRDMA_ERR_INV_KEY;
	if (srdma_explain_may_tell(&qp->who, wqe->inv_rkey))
		cause->code = why_not_invalidated(why);
	srdma_explain_key(cause, &qp->who, wqe->inv_rkey);
}

/* The limits are the region's, the key is the window's. */
static void explain_bind(struct srdma_cause *cause, struct srdma_qp *qp,
			 const struct srdma_wqe *wqe, enum srdma_mem_why why)
{
	const struct srdma_mem_who *who = &qp->who;

	cause->code = SRDMA_ERR_BIND_KEY;
	if (srdma_explain_may_tell(who, wqe->mw.mw_rkey) &&
	    (!wqe->mw.length || srdma_explain_may_tell(who, wqe->mw.mr_lkey)))
		cause->code = why_not_bound(why);
	srdma_explain_key(cause, who, wqe->mw.mr_lkey);
	srdma_cause_add(cause, SRDMA_FACT_VALUE, wqe->mw.mr_lkey);
	srdma_cause_add(cause, SRDMA_FACT_KEY, wqe->mw.mw_rkey);
	srdma_cause_add(cause, SRDMA_FACT_ADDR, wqe->mw.addr);
	srdma_cause_add(cause, SRDMA_FACT_BYTES, wqe->mw.length);
	srdma_cause_add(cause, SRDMA_FACT_NEEDS, wqe->mw.access);
}

/**
 * srdma_failure_of_key - an operation on a key has failed
 * @qp: queue pair
 * @idx: of the request
 * @why: what was in its way
 */
noinline void srdma_failure_of_key(struct srdma_qp *qp, u32 idx,
				   enum srdma_mem_why why)
{
	/* The one status for all three (11.6.2, memory management operations). */
	struct srdma_cause *cause = begin_failure(qp, idx, SRDMA_ST_MW_BIND);
	const struct srdma_wqe *wqe = srdma_send_wqe(&qp->req, idx);

	if (!cause)
		return;
	switch (wqe->msg.op) {
	case SRDMA_WR_LOCAL_INV:
		explain_invalidation(cause, qp, wqe, why);
		break;
	case SRDMA_WR_BIND_MW:
		explain_bind(cause, qp, wqe, why);
		break;
	case SRDMA_WR_REG_MR:
		cause->code = SRDMA_ERR_REG;
		srdma_explain_key(cause, &qp->who, wqe->reg.key);
		break;
	}
}

/* ---- what the peer says, or does not say ---- */

static u16 code_of_answer(enum srdma_status status)
{
	switch (status) {
	case SRDMA_ST_REM_INV_REQ:
		return SRDMA_ERR_NAK_INVALID;
	case SRDMA_ST_REM_ACCESS:
		return SRDMA_ERR_NAK_ACCESS;
	case SRDMA_ST_REM_OP:
		return SRDMA_ERR_NAK_OPERATION;
	case SRDMA_ST_RNR_RETRY_EXC:
		return SRDMA_ERR_RNR;
	case SRDMA_ST_RETRY_EXC:
		return SRDMA_ERR_SEQUENCE;
	default:
		return SRDMA_ERR_BAD_RESPONSE;
	}
}

/* A response has failed a request of a reliable connection. */
noinline void srdma_failure_heard(struct srdma_qp *qp,
				  const struct srdma_pkt *pkt)
{
	struct srdma_rc_req *rc = &qp->req.rc;
	struct srdma_cause *cause;

	cause = note_failed(qp, code_of_answer(rc->fail_status));
	if (!cause)
		return;
	qp->req.failure.psn = pkt->psn;
	if (cause->code == SRDMA_ERR_RNR) {
		srdma_cause_add(cause, SRDMA_FACT_TIMES, rc->rnr_retry);
		srdma_cause_add(cause, SRDMA_FACT_WAIT, srdma_rnr_timer_ns(
				srdma_aeth_value(pkt->aeth.syndrome)));
	} else if (cause->code == SRDMA_ERR_SEQUENCE) {
		srdma_cause_add(cause, SRDMA_FACT_TIMES, rc->retry_cnt);
	}
}

/*
 * The peer is a QP of this device. Only its own user learns its state. Which QP
 * numbers exist is no secret: `rdma resource` shows them to all.
 */
static u16 look_at_peer(struct srdma_cause *cause, struct srdma_qp *qp)
{
	struct srdma_qp *peer = srdma_qp_find(qp->dev, qp->attr.dest_qp_num);
	u16 code = SRDMA_ERR_NONE;

	if (!peer)
		return SRDMA_ERR_PEER_NO_QP;
	if (uid_eq(peer->maker.uid, qp->maker.uid) &&
	    !srdma_qp_may(peer, SRDMA_MAY_RECEIVE)) {
		srdma_cause_add(cause, SRDMA_FACT_STATE,
				READ_ONCE(peer->state));
		code = SRDMA_ERR_PEER_STATE;
	}
	return code;
}

static bool has_source(const struct srdma_qp *qp)
{
	const union ib_gid *gid = (const union ib_gid *)&qp->av.src;

	return srdma_addresses_find(qp->dev->net, gid, qp->av.ifindex) ==
	       qp->dev;
}

/*
 * May answers find the way back? The GID that follows from the MAC is there without
 * the address. That of an upper interface is left to the host.
 */
static bool has_host_source(const struct srdma_qp *qp)
{
	const struct srdma_dev *dev = qp->dev;

	return !qp->av.is_v6 || qp->av.ifindex != dev->ndev->ifindex ||
	       srdma_addresses_host_has(dev, &qp->av.src, IFA_F_TENTATIVE);
}

static bool port_is_up(const struct srdma_dev *dev, bool is_local)
{
	if (READ_ONCE(dev->rules.port_down))
		return false;
	return is_local ||
	       (netif_running(dev->ndev) && netif_carrier_ok(dev->ndev));
}

/* What is wrong on this side, if anything is. */
static u16 look_at_way(struct srdma_cause *cause, struct srdma_qp *qp)
{
	struct srdma_path *path = &qp->req.path;
	u16 code = SRDMA_ERR_NONE;
	int way;

	rcu_read_lock();
	way = srdma_path_find(path, qp->dev, &qp->av);
	if (!has_source(qp))
		code = SRDMA_ERR_GID_GONE;
	else if (!path->is_local && port_is_up(qp->dev, false) &&
		 !has_host_source(qp))
		/* Without the address there may be no route either. */
		code = SRDMA_ERR_GID_UNKNOWN;
	else if (way < 0)
		code = SRDMA_ERR_NO_ROUTE;
	else if (!port_is_up(qp->dev, path->is_local))
		code = SRDMA_ERR_PORT_DOWN;
	rcu_read_unlock();
	if (code == SRDMA_ERR_GID_GONE || code == SRDMA_ERR_GID_UNKNOWN)
		srdma_cause_add(cause, SRDMA_FACT_INDEX, qp->av.sgid_index);
	if (!code && path->is_local)
		code = look_at_peer(cause, qp);
	return code;
}

static u16 why_no_answer(const struct srdma_rc_req *rc)
{
	if (rc->nak_again)
		return SRDMA_ERR_SEQUENCE;
	return rc->heard ? SRDMA_ERR_NO_ANSWER : SRDMA_ERR_NEVER_ANSWERED;
}

/* All retries were used up without an answer that helps. */
noinline void srdma_failure_of_time(struct srdma_qp *qp)
{
	struct srdma_cause *cause = note_failed(qp, SRDMA_ERR_NONE);
	const struct srdma_rc_req *rc = &qp->req.rc;

	if (!cause)
		return;
	srdma_cause_add(cause, SRDMA_FACT_TIMES, rc->retry_cnt);
	srdma_cause_add(cause, SRDMA_FACT_WAIT, rc->timeout_ns);
	cause->code = look_at_way(cause, qp);
	if (!cause->code)
		cause->code = why_no_answer(rc);
}

/* ---- telling ---- */

static void fill_request(struct srdma_error *error, const struct srdma_wqe *wqe)
{
	u32 flags = srdma_wr_info_get(wqe->msg.op)->flags;

	error->op = wqe->msg.op;
	error->wr_id = wqe->wr_id;
	error->bytes = wqe->msg.len;
	if (flags & SRDMA_WRI_ATOMIC) {
		error->remote_addr = wqe->atomic.remote_addr;
		error->rkey = wqe->atomic.rkey;
	} else if (flags & SRDMA_WRI_RDMA) {
		error->remote_addr = wqe->rdma.remote_addr;
		error->rkey = wqe->rdma.rkey;
	}
}

static void report_failure(struct srdma_qp *qp,
			   const struct srdma_rc_done *done)
{
	const struct srdma_wqe *wqe = srdma_send_wqe(&qp->req, done->idx);
	const struct srdma_failure *failure = &qp->req.failure;
	struct srdma_error error;

	srdma_report_begin(&error, qp, SRDMA_PART_SEND);
	fill_request(&error, wqe);
	error.status = done->status;
	error.psn = failure->psn;
	error.cause = failure->cause;
	if (!srdma_qp_has_peer(qp))
		error.peer_qpn = wqe->ud.remote_qpn & SRDMA_QPN_MASK;
	srdma_report(qp, &error);
}

/* READs that have no answer retire in front of the request that the peer has refused. */
static u16 flushed_by(const struct srdma_qp *qp)
{
	switch (READ_ONCE(qp->state)) {
	case IB_QPS_ERR:
	case IB_QPS_SQE:
		return READ_ONCE(qp->flushed_by);
	default:
		return SRDMA_ERR_FLUSH_REQUEST;
	}
}

/**
 * srdma_failure_tell - a request is about to complete in error
 * @qp: queue pair
 * @done: request
 *
 * One that is flushed is not worth a record: what has failed has one.
 *
 * Return: its vendor_err.
 */
noinline u16 srdma_failure_tell(struct srdma_qp *qp,
				const struct srdma_rc_done *done)
{
	struct srdma_failure *failure = &qp->req.failure;

	if (failure->status != done->status || failure->idx != done->idx)
		return flushed_by(qp);
	report_failure(qp, done);
	failure->status = SRDMA_ST_OK;
	return failure->cause.code;
}
