// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests of a peer that are refused, and receive requests that fail. The peer
 * learns what the NAK says and no more. The reason goes into the log of the
 * user of the responding QP.
 *
 * No function here is inlined: requests that succeed should not pay for it.
 */
#include "memory/explain.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "objects/report.h"
#include "responder/refusal.h"

/* What the key, and the QP, have to allow for it. */
static u32 access_needed(const struct srdma_pkt *pkt)
{
	u32 op = pkt->op->flags;

	if (op & (SRDMA_OP_WRITE | SRDMA_OP_ATOMIC_WRITE))
		return IB_ACCESS_REMOTE_WRITE;
	if (op & SRDMA_OP_READ)
		return IB_ACCESS_REMOTE_READ;
	if (op & SRDMA_OP_ATOMIC)
		return IB_ACCESS_REMOTE_ATOMIC;
	return op & SRDMA_OP_FLUSH ? SRDMA_ACCESS_FLUSH : 0;
}

static void begin_refusal(struct srdma_error *error, const struct srdma_qp *qp,
		  enum srdma_err_part part, const struct srdma_pkt *pkt)
{
	srdma_report_begin(error, qp, part);
	error->op = pkt->opcode;
	error->psn = pkt->psn;
	if (srdma_qp_is_datagram(qp))
		error->peer_qpn = pkt->deth.src_qpn;
}

/* Of what a QP allows, or the lengths and the order of packets. */
static void add_request(struct srdma_cause *cause, const struct srdma_qp *qp,
			const struct srdma_pkt *pkt)
{
	u32 needs = access_needed(pkt), has = qp->attr.qp_access_flags;
	const struct srdma_rc_resp *rc = &qp->resp.rc;
	u32 op = pkt->op->flags;

	if (needs & ~has) {
		cause->code = SRDMA_ERR_REQ_QP_ACCESS;
		srdma_cause_add(cause, SRDMA_FACT_NEEDS, needs);
		srdma_cause_add(cause, SRDMA_FACT_HAS, has);
	} else if (op & SRDMA_OP_ATOMIC &&
		   !IS_ALIGNED(pkt->atomic.va, sizeof(u64))) {
		cause->code = SRDMA_ERR_REQ_ALIGN;
		srdma_cause_add(cause, SRDMA_FACT_ADDR, pkt->atomic.va);
	} else if (op & SRDMA_OP_ATOMIC_WRITE &&
		   !IS_ALIGNED(pkt->reth.va, sizeof(u64))) {
		cause->code = SRDMA_ERR_REQ_ALIGN;
		srdma_cause_add(cause, SRDMA_FACT_ADDR, pkt->reth.va);
	} else if (op & SRDMA_OP_RD_ATOMIC && rc->res_pending >= rc->nres) {
		cause->code = SRDMA_ERR_REQ_RD_ATOMIC;
		srdma_cause_add(cause, SRDMA_FACT_LIMIT, rc->nres);
	} else {
		cause->code = SRDMA_ERR_REQ_MALFORMED;
		srdma_cause_add(cause, SRDMA_FACT_VALUE, pkt->payload_len);
		srdma_cause_add(cause, SRDMA_FACT_LIMIT, qp->resp.mtu);
	}
}

/**
 * srdma_refusal_of_request - a request makes no sense, or the QP does not let the
 *	peer do that
 * @qp: queue pair
 * @pkt: its packet
 * @act: not looked at where the packet makes no sense
 */
noinline void srdma_refusal_of_request(struct srdma_qp *qp,
				       const struct srdma_pkt *pkt,
				       const struct srdma_rc_resp_act *act)
{
	struct srdma_error error;

	begin_refusal(&error, qp, SRDMA_PART_PEER, pkt);
	error.bytes = pkt->payload_len;
	add_request(&error.cause, qp, pkt);
	srdma_report(qp, &error);
}

/**
 * srdma_refusal_of_access - a key does not let the peer do what it asks for
 * @qp: queue pair
 * @pkt: packet of the request
 * @act: what it asks for
 */
noinline void srdma_refusal_of_access(struct srdma_qp *qp,
				      const struct srdma_pkt *pkt,
				      const struct srdma_rc_resp_act *act)
{
	bool starts = act->flags & SRDMA_ACT_START;
	const struct srdma_claim claim = {
		.key = act->rkey,
		.at = act->va,
		.bytes = starts ? act->total : act->len,
		.access = access_needed(pkt),
	};
	struct srdma_error error;

	begin_refusal(&error, qp, SRDMA_PART_PEER, pkt);
	error.bytes = claim.bytes;
	if (pkt->op->flags & SRDMA_OP_IETH) {
		error.cause.code = SRDMA_ERR_RKEY_INVALIDATE;
		srdma_explain_key(&error.cause, &qp->who, pkt->inv_rkey);
	} else if (pkt->op->flags & SRDMA_OP_FLUSH &&
		   pkt->feth.plt & SRDMA_FLUSH_PERSISTENT) {
		error.cause.code = SRDMA_ERR_REQ_PERSISTENT;
	} else {
		srdma_explain_remote(&error.cause, &qp->who, &claim);
		error.remote_addr = claim.at;
		error.rkey = claim.key;
	}
	srdma_report(qp, &error);
}

/* What a peer was to read has gone meanwhile. */
noinline void srdma_refusal_of_read(struct srdma_qp *qp,
				    const struct srdma_rc_resp_burst *burst)
{
	const struct srdma_claim claim = {
		.key = burst->rkey,
		.at = burst->va,
		.bytes = burst->b.len,
		.access = IB_ACCESS_REMOTE_READ,
	};
	struct srdma_error error;

	srdma_report_begin(&error, qp, SRDMA_PART_PEER);
	error.op = SRDMA_RC_READ_REQ;
	error.psn = burst->b.psn;
	error.bytes = claim.bytes;
	error.remote_addr = claim.at;
	error.rkey = claim.key;
	srdma_explain_remote(&error.cause, &qp->who, &claim);
	srdma_report(qp, &error);
}

static void add_receive(struct srdma_cause *cause, struct srdma_qp *qp,
			const struct srdma_pkt *pkt,
			const struct srdma_rc_resp_act *act,
			enum ib_wc_status status)
{
	const struct srdma_rwqe *rwqe = qp->resp.rwqe;

	if (status == IB_WC_LOC_QP_OP_ERR) {
		cause->code = SRDMA_ERR_RECV_MALFORMED;
		return;
	}
	if (status == IB_WC_LOC_PROT_ERR) {
		srdma_explain_pieces(cause, &qp->rq_who, rwqe->sge,
				     rwqe->num_sge, IB_ACCESS_LOCAL_WRITE);
		return;
	}
	cause->code = SRDMA_ERR_RECV_SHORT;
	srdma_cause_add(cause, SRDMA_FACT_LIMIT, rwqe->length);
	/* So far: how long the message is to be, a SEND does not say. */
	srdma_cause_add(cause, SRDMA_FACT_VALUE, pkt->payload_len +
			(srdma_qp_has_peer(qp) ? (u64)act->offset : 0));
}

/**
 * srdma_refusal_of_receive - a receive request fails
 * @qp: queue pair; srdma_responder.rwqe is the request
 * @pkt: packet that was to go there
 * @act: connected QP: where in the message that is
 * @status: to complete with
 *
 * Return: vendor_err of its completion.
 */
noinline u16 srdma_refusal_of_receive(struct srdma_qp *qp,
				      const struct srdma_pkt *pkt,
				      const struct srdma_rc_resp_act *act,
				      enum ib_wc_status status)
{
	struct srdma_error error;

	begin_refusal(&error, qp, SRDMA_PART_RECEIVE, pkt);
	error.status = status;
	error.wr_id = qp->resp.rwqe->wr_id;
	error.bytes = pkt->payload_len;
	add_receive(&error.cause, qp, pkt, act, status);
	srdma_report(qp, &error);
	return error.cause.code;
}
