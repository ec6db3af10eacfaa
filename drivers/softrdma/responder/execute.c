// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The receive engine: takes requests from the inbox, asks the protocol core
 * what they are, executes them, and has them answered (responder/reply.c).
 */
#include "memory/check.h"
#include "memory/invalidate.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "observe/counters.h"
#include "observe/trace.h"
#include "posting/completion.h"
#include "posting/doorbell.h"
#include "posting/srq.h"
#include "proto/ud.h"
#include "responder/drain.h"
#include "responder/execute.h"
#include "responder/hold.h"
#include "responder/linger.h"
#include "responder/refusal.h"
#include "responder/remote.h"
#include "responder/reply.h"
#include "responder/request.h"
#include "responder/wait.h"
#include "wire/drop.h"
#include "wire/notify.h"
#include "wire/packet_in.h"

/* ---- receive requests ---- */

static void complete_rwqe(struct srdma_request *r, enum ib_wc_status status,
			  u16 why, enum ib_wc_opcode opcode, u32 len,
			  bool solicited)
{
	struct srdma_qp *qp = r->qp;
	struct ib_wc wc = {
		.wr_id = qp->resp.rwqe->wr_id,
		.status = status,
		.vendor_err = why,
		.opcode = opcode,
		.byte_len = len,
		.qp = qp->ib,
		.src_qp = qp->attr.dest_qp_num,
		.port_num = SRDMA_PORT,
	};

	if (r->pkt.op && (r->pkt.op->flags & SRDMA_OP_IMM)) {
		wc.ex.imm_data = r->pkt.imm;
		wc.wc_flags |= IB_WC_WITH_IMM;
	} else if (r->pkt.op && (r->pkt.op->flags & SRDMA_OP_IETH)) {
		wc.ex.invalidate_rkey = r->pkt.inv_rkey;
		wc.wc_flags |= IB_WC_WITH_INVALIDATE;
	}
	/* A flushed one has not met a packet. */
	if ((qp->qpt == SRDMA_QPT_UD || qp->qpt == SRDMA_QPT_GSI) && r->skb) {
		wc.src_qp = r->pkt.deth.src_qpn;
		srdma_packet_in_fill_wc(r->skb, &wc,
					!srdma_cq_is_user(qp->recv_cq));
	}
	qp->resp.has_rwqe = false;
	trace_srdma_rwqe_done(qp, &wc);
	if (!srdma_cq_add(qp->recv_cq, &wc, solicited))
		srdma_qp_lost_completion(qp);
}

/* The request that is in use failed; the QP is about to. */
static void fail_rwqe(struct srdma_request *r, enum ib_wc_status status)
{
	u16 why;

	if (!r->qp->resp.has_rwqe)
		return;
	why = srdma_refusal_of_receive(r->qp, &r->pkt, &r->act, status);
	complete_rwqe(r, status, why, IB_WC_RECV, 0, false);
}

static enum srdma_rq_taken take_receive(struct srdma_qp *qp, u32 need)
{
	u32 left;

	return qp->srq ? srdma_srq_take(qp->srq, qp->resp.rwqe, need) :
			 srdma_rq_take(&qp->rq, qp->resp.rwqe, need, &left);
}

/*
 * A receive request is in use when this returns OUTCOME_OK or _BAD_RWQE. One that
 * has less room than @need is not taken.
 */
static __always_inline enum srdma_outcome take_rwqe(struct srdma_qp *qp, u32 need)
{
	struct srdma_responder *resp = &qp->resp;

	if (!resp->has_rwqe) {
		switch (take_receive(qp, need)) {
		case SRDMA_RQ_EMPTY:
			return OUTCOME_NO_RWQE;
		case SRDMA_RQ_SHORT:
			return OUTCOME_TOO_LONG;
		case SRDMA_RQ_BAD:
			resp->has_rwqe = true;
			return OUTCOME_BAD_RWQE;
		case SRDMA_RQ_TAKEN:
			resp->has_rwqe = true;
			break;
		}
	}
	memset(&resp->pos, 0, sizeof(resp->pos));
	return OUTCOME_OK;
}

/* ---- doing what a request says ---- */

static enum srdma_outcome scatter(struct srdma_request *r, u32 offset)
{
	struct srdma_responder *resp = &r->qp->resp;
	struct srdma_rwqe *rwqe = resp->rwqe;
	struct srdma_mem_iter it;
	enum srdma_mem_why why;
	u32 len = r->pkt.payload_len;

	if (len > rwqe->length || offset > rwqe->length - len)
		return OUTCOME_TOO_LONG;
	if (!len)
		return OUTCOME_OK;
	srdma_mem_begin_list(&it, &r->qp->rq_who, rwqe->sge, rwqe->num_sge,
			     IB_ACCESS_LOCAL_WRITE, &resp->pos);
	why = srdma_mem_seek(&it, offset) ?:
	      srdma_packet_in_place(r->skb, &r->walk, &r->pkt, &it);
	resp->pos = it.pos;
	srdma_mem_end(&it);
	if (why == SRDMA_MEM_GONE)
		return OUTCOME_GONE;
	return why ? OUTCOME_LOCAL : OUTCOME_OK;
}

static enum srdma_outcome do_send(struct srdma_request *r)
{
	enum srdma_outcome outcome = OUTCOME_OK;
	struct srdma_qp *qp = r->qp;

	if (r->act.flags & SRDMA_ACT_RWQE)
		outcome = take_rwqe(qp, 0);
	if (!outcome)
		outcome = scatter(r, r->act.offset);
	if (!outcome && (r->act.flags & SRDMA_ACT_END) &&
	    (r->pkt.op->flags & SRDMA_OP_IETH) &&
	    srdma_mem_invalidate(&qp->who, r->pkt.inv_rkey, true))
		outcome = OUTCOME_ACCESS;
	return outcome;
}

static enum srdma_outcome do_write(struct srdma_request *r)
{
	const struct srdma_rc_resp_act *act = &r->act;
	bool starts = act->flags & SRDMA_ACT_START;
	struct srdma_qp *qp = r->qp;
	struct srdma_mem_iter it;
	enum srdma_mem_why why;
	enum srdma_outcome outcome;

	/* Of each packet: the right may have been taken since the first one. */
	if (act->len && !srdma_qp_allows(qp, IB_ACCESS_REMOTE_WRITE))
		return OUTCOME_INVALID;
	if (act->flags & SRDMA_ACT_RWQE) {
		/* No receive request is used up by what cannot be written. */
		if (starts && srdma_mem_check_remote(&qp->who, act->rkey,
						     act->va, act->total,
						     IB_ACCESS_REMOTE_WRITE))
			return OUTCOME_ACCESS;
		outcome = take_rwqe(qp, 0);
		if (outcome)
			return outcome;
	}
	if (!act->len)
		return OUTCOME_OK;
	/* The whole range at the start, so that nothing is half written. */
	why = srdma_mem_begin_remote(&it, &qp->who, act->rkey, act->va,
				     starts ? act->total : act->len,
				     IB_ACCESS_REMOTE_WRITE);
	if (!why) {
		why = srdma_packet_in_place(r->skb, &r->walk, &r->pkt, &it);
		srdma_mem_end(&it);
	}
	if (why == SRDMA_MEM_GONE)
		return OUTCOME_GONE;
	return why ? OUTCOME_ACCESS : OUTCOME_OK;
}

/* What was held has been told of when it came; what waits will be, when it is taken. */
static void tell_of_congestion(struct srdma_request *r)
{
	const struct srdma_packet_in *in = srdma_packet_in(r->skb);

	if (likely(!in->is_ce) || in->is_held || srdma_wait_any(r->qp))
		return;
	srdma_mem_end(&r->place);
	srdma_notify_of(r->qp, false, r->skb, &r->pkt);
}

/* ---- reliable connections ---- */

static enum srdma_outcome execute(struct srdma_request *r,
				  enum srdma_resp_verdict verdict)
{
	switch (verdict) {
	case SRDMA_RESP_SEND:
		return do_send(r);
	case SRDMA_RESP_WRITE:
		return do_write(r);
	case SRDMA_RESP_DUP_READ:
		srdma_hold_provide(r->qp);
		fallthrough;
	case SRDMA_RESP_READ:
		return srdma_remote_read(r);
	case SRDMA_RESP_ATOMIC:
		return srdma_remote_atomic(r);
	case SRDMA_RESP_ATOMIC_WRITE:
		return srdma_remote_atomic_write(r);
	case SRDMA_RESP_FLUSH:
		return srdma_remote_flush(r);
	case SRDMA_RESP_DUP:
	case SRDMA_RESP_NAK_INV_REQ:
	case SRDMA_RESP_DROP_GAP:
	case SRDMA_RESP_DROP_OLD:
	case SRDMA_RESP_DROP_RANGE:
	case SRDMA_RESP_DROP_ERROR:
	case SRDMA_RESP_NR:
		break;
	}
	return OUTCOME_OK;
}

static void complete_message(struct srdma_request *r)
{
	bool solicited = r->act.flags & SRDMA_ACT_SE;

	if (r->act.flags & SRDMA_ACT_COMP)
		complete_rwqe(r, IB_WC_SUCCESS, SRDMA_ERR_NONE,
			      r->pkt.op->flags & SRDMA_OP_WRITE ?
			      IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV,
			      r->act.total, solicited);
}

/* The answer to the peer, and the status of the receive request. */
static enum srdma_resp_why refuse(struct srdma_request *r, enum srdma_outcome outcome)
{
	switch (outcome) {
	case OUTCOME_NO_RWQE:
		return SRDMA_WHY_NO_RWQE;
	case OUTCOME_BAD_RWQE:
		fail_rwqe(r, IB_WC_LOC_QP_OP_ERR);
		return SRDMA_WHY_OP;
	case OUTCOME_TOO_LONG:
		fail_rwqe(r, IB_WC_LOC_LEN_ERR);
		return SRDMA_WHY_INV_REQ;
	case OUTCOME_LOCAL:
		fail_rwqe(r, IB_WC_LOC_PROT_ERR);
		return SRDMA_WHY_OP;
	case OUTCOME_ACCESS:
		srdma_refusal_of_access(r->qp, &r->pkt, &r->act);
		return SRDMA_WHY_ACCESS;
	case OUTCOME_INVALID:
		srdma_refusal_of_request(r->qp, &r->pkt, &r->act);
		break;
	case OUTCOME_OK:
	case OUTCOME_GONE:
		break;
	}
	return SRDMA_WHY_INV_REQ;
}

static void serve_rc(struct srdma_request *r)
{
	struct srdma_rc_resp *rc = &r->qp->resp.rc;
	enum srdma_resp_verdict verdict;
	enum srdma_outcome outcome;

	if (srdma_rc_resp_expects(rc, &r->pkt))
		srdma_packet_in_join(r->skb, &r->walk, &r->pkt, rc->mtu);
	else if (srdma_hold_back(r->qp, r->skb, &r->pkt))
		return;
	verdict = srdma_rc_resp_request(rc, &r->pkt, &r->act);
	srdma_stat_add(r->qp->dev, SRDMA_STAT_REQ + verdict, r->pkt.more + 1);
	trace_srdma_packet(r->qp, r->skb, &r->pkt, SRDMA_STAT_REQ + verdict);
	if (unlikely(verdict == SRDMA_RESP_NAK_INV_REQ))
		srdma_refusal_of_request(r->qp, &r->pkt, &r->act);
	if (verdict >= SRDMA_RESP_DUP)
		return;
	outcome = execute(r, verdict);
	if (outcome == OUTCOME_GONE) {
		/* As if it had not come: the sender has ended its request. */
		srdma_drop(r->qp->dev, SRDMA_STAT_RX_GONE, r->pkt.more + 1);
		return;
	}
	if (outcome == OUTCOME_NO_RWQE && r->may_wait &&
	    srdma_wait_begin(r->qp, r->skb, &r->pkt)) {
		/* It is counted when it is taken. */
		srdma_stat_add(r->qp->dev, SRDMA_STAT_REQ + verdict,
			       -(u64)(r->pkt.more + 1));
		return;
	}
	if (outcome) {
		/* A late copy is dropped, and nobody is told that it was refused. */
		if (verdict != SRDMA_RESP_DUP_READ)
			srdma_rc_resp_fail(rc, &r->pkt, &r->act,
					   refuse(r, outcome));
		return;
	}
	complete_message(r);
	srdma_rc_resp_commit(rc, &r->pkt, &r->act);
}

/* ---- unreliable connections ---- */

/*
 * The peer does not learn of it. A receive request that its own memory or form has
 * failed takes the QP to the error state, whatever the transport (9.9.3, class A); one
 * that a message is too long for does not. Not inlined: it is rare.
 */
static noinline void refuse_silently(struct srdma_request *r,
				     enum srdma_outcome outcome)
{
	/* What explains it looks at keys, and the QP may end. */
	srdma_mem_end(&r->place);
	if (outcome == OUTCOME_GONE)
		srdma_drop(r->qp->dev, SRDMA_STAT_RX_GONE, r->pkt.more + 1);
	else
		refuse(r, outcome);
	if (outcome == OUTCOME_LOCAL || outcome == OUTCOME_BAD_RWQE)
		srdma_qp_set_error(r->qp, SRDMA_ERR_FLUSH_RECEIVE);
}

static void serve_uc(struct srdma_request *r)
{
	struct srdma_uc_resp *uc = &r->qp->resp.uc;
	enum srdma_uc_verdict verdict;
	enum srdma_outcome outcome;

	if (srdma_uc_resp_expects(uc, &r->pkt))
		srdma_packet_in_join(r->skb, &r->walk, &r->pkt, uc->mtu);
	verdict = srdma_uc_resp_request(uc, &r->pkt, &r->act);
	srdma_stat_add(r->qp->dev, SRDMA_STAT_UC + verdict, r->pkt.more + 1);
	trace_srdma_packet(r->qp, r->skb, &r->pkt, SRDMA_STAT_UC + verdict);
	switch (verdict) {
	case SRDMA_UC_SEND:
		outcome = do_send(r);
		break;
	case SRDMA_UC_WRITE:
		outcome = do_write(r);
		break;
	case SRDMA_UC_DROP_LOST:
	case SRDMA_UC_DROP_SEQ:
	case SRDMA_UC_DROP_LEN:
	case SRDMA_UC_NR:
		return;
	}
	if (!outcome) {
		complete_message(r);
		return;
	}
	refuse_silently(r, outcome);
	srdma_uc_resp_fail(uc);
}

/* ---- datagrams ---- */

/*
 * The header area and the message, in one walk over a receive request that has room
 * for both.
 */
static enum srdma_outcome place_datagram(struct srdma_request *r)
{
	const struct srdma_rwqe *rwqe = r->qp->resp.rwqe;
	u8 grh[SRDMA_GRH_LEN];
	enum srdma_mem_why why;

	srdma_packet_in_grh(r->skb, grh);
	srdma_mem_next_list(&r->place, &r->qp->rq_who, rwqe->sge, rwqe->num_sge,
			    IB_ACCESS_LOCAL_WRITE, NULL);
	why = srdma_mem_write(&r->place, grh, sizeof(grh)) ?:
	      srdma_packet_in_place(r->skb, &r->walk, &r->pkt, &r->place);
	srdma_mem_rest(&r->place);
	return why ? OUTCOME_LOCAL : OUTCOME_OK;
}

static void serve_ud(struct srdma_request *r)
{
	struct srdma_qp *qp = r->qp;
	struct srdma_ud_env env = {
		.qkey = qp->attr.qkey,
		.pkey = SRDMA_PKEY_DEFAULT,
		.mtu = ib_mtu_enum_to_int(READ_ONCE(qp->dev->active_mtu)),
		.mads_only = qp->qpt == SRDMA_QPT_GSI,
	};
	u32 need = srdma_ud_recv_need(&r->pkt);
	enum srdma_ud_recv verdict;
	enum srdma_outcome outcome;

	verdict = srdma_ud_recv_check(&r->pkt, &env);
	srdma_stat_inc(qp->dev, SRDMA_STAT_UD + verdict);
	trace_srdma_packet(qp, r->skb, &r->pkt, SRDMA_STAT_UD + verdict);
	if (verdict != SRDMA_UD_RECV_OK)
		return;
	tell_of_congestion(r);
	outcome = take_rwqe(qp, need);
	if (outcome == OUTCOME_NO_RWQE || outcome == OUTCOME_TOO_LONG) {
		srdma_drop(qp->dev, outcome == OUTCOME_NO_RWQE ?
			   SRDMA_STAT_UD_NO_RWQE : SRDMA_STAT_UD_SHORT_RWQE, 1);
		return;
	}
	if (!outcome)
		outcome = place_datagram(r);
	if (outcome) {
		refuse_silently(r, outcome);
		return;
	}
	complete_rwqe(r, IB_WC_SUCCESS, SRDMA_ERR_NONE, IB_WC_RECV,
		      need, r->pkt.se);
}

/* ---- the engine ---- */

static void establish(struct srdma_qp *qp)
{
	if (qp->resp.established)
		return;
	qp->resp.established = true;
	/* In RTS the consumer knows already (11.6.3.2). */
	if (READ_ONCE(qp->state) == IB_QPS_RTR)
		srdma_qp_event(qp, IB_EVENT_COMM_EST);
}

static __always_inline void serve(struct srdma_request *r)
{
	if (srdma_rules_look(&r->qp->dev->rules, SRDMA_NL_POINT_RX) &&
	    srdma_reply_by_rule(r->qp, r->skb, &r->pkt))
		return;
	switch (r->qp->qpt) {
	case SRDMA_QPT_RC:
		srdma_doorbell_peer_asks(&r->qp->bell);
		establish(r->qp);
		serve_rc(r);
		tell_of_congestion(r);
		break;
	case SRDMA_QPT_UC:
		srdma_doorbell_peer_asks(&r->qp->bell);
		establish(r->qp);
		serve_uc(r);
		tell_of_congestion(r);
		break;
	case SRDMA_QPT_UD:
	case SRDMA_QPT_GSI:
		srdma_doorbell_peer_asks(&r->qp->bell);
		serve_ud(r);
		break;
	case SRDMA_QPT_NR:
		break;
	}
}

/*
 * All of an skb; ends early where a request waits: then the skb waits with it. Where the
 * QP is to receive nothing, so that what is for another one is found.
 */
static __always_inline int serve_all(struct srdma_request *r)
{
	struct sk_buff *skb = r->skb;
	struct srdma_qp *qp = r->qp;
	int count = 0;

	if (!srdma_packet_in_is_loop(skb))
		srdma_mem_end(&r->place);
	srdma_skb_walk_begin(&r->walk, skb);
	while (srdma_packet_in(skb)->left && !srdma_wait_any(qp)) {
		switch (srdma_packet_in_next(skb, &r->walk, qp, false,
					     &r->pkt)) {
		case SRDMA_FOUND_PACKET:
			if (srdma_qp_may(qp, SRDMA_MAY_RECEIVE))
				serve(r);
			else
				trace_srdma_packet(qp, skb, &r->pkt,
						   SRDMA_STAT_RX_PACKETS);
			count += r->pkt.more + 1;
			break;
		case SRDMA_FOUND_BAD:
			count++;
			break;
		case SRDMA_FOUND_FOREIGN:
			break;
		}
	}
	srdma_skb_walk_end(&r->walk);
	/* Freeing it may start other engines. */
	if (r->place.span.key && !srdma_packet_in_is_loop(skb))
		srdma_mem_end(&r->place);
	return count;
}

static noinline int serve_alone(struct srdma_qp *qp, struct sk_buff *skb,
				bool may_wait)
{
	struct srdma_request r;
	int count;

	r.qp = qp;
	r.skb = skb;
	r.may_wait = may_wait;
	srdma_mem_init(&r.place);
	count = serve_all(&r);
	srdma_mem_end(&r.place);
	return count;
}

/*
 * In the error state all receive requests complete as flushed; those that user
 * space posts later do when responder/drain.c has seen them. Requests of an SRQ
 * stay in it. Returns what is left of the budget, which bounds the work for a
 * program that goes on posting.
 */
static int flush(struct srdma_qp *qp, int budget)
{
	struct srdma_request r = { .qp = qp };
	u32 left;

	if (qp->resp.has_rwqe)
		complete_rwqe(&r, IB_WC_WR_FLUSH_ERR, qp->flushed_by,
			      IB_WC_RECV, 0, false);
	if (qp->srq) {
		if (!qp->resp.last_wqe)
			srdma_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
		qp->resp.last_wqe = true;
		return budget;
	}
	if (qp->is_user)
		srdma_drain_add(qp);
	for (; budget > 0; budget--) {
		if (srdma_rq_take(&qp->rq, qp->resp.rwqe, 0, &left) ==
		    SRDMA_RQ_EMPTY)
			break;
		complete_rwqe(&r, IB_WC_WR_FLUSH_ERR, qp->flushed_by,
			      IB_WC_RECV, 0, false);
	}
	return budget;
}

/* What was held and has become expected. Returns what is left of the budget. */
static int serve_held(struct srdma_qp *qp, int budget)
{
	struct sk_buff *skb;
	u32 psn;

	srdma_hold_end_of(qp);
	if (!srdma_qp_may(qp, SRDMA_MAY_RECEIVE)) {
		srdma_hold_drop(qp);
		return budget;
	}
	while (budget > 0 && srdma_hold_any(qp) && (skb = srdma_hold_take(qp))) {
		psn = srdma_packet_in(skb)->psn;
		budget -= serve_alone(qp, skb, false);
		srdma_hold_end_of(qp);
		srdma_hold_taken(qp, psn);
		srdma_packet_in_free(skb);
	}
	srdma_hold_settle(qp);
	if (srdma_rc_resp_waits(&qp->resp.rc))
		srdma_hold_time(qp);
	return budget;
}

/* It is tried again, and what came with it follows; what is left of the budget. */
static noinline int serve_waiting(struct srdma_qp *qp, int budget)
{
	struct sk_buff *skb = srdma_wait_take(qp);

	budget -= serve_alone(qp, skb, true);
	if (!srdma_wait_any(qp))
		srdma_packet_in_free(skb);
	return budget;
}

/* What is in the inbox, of which @skb is the first; what is left of the budget. */
static noinline int serve_inbox(struct srdma_qp *qp, struct sk_buff *skb,
				int budget)
{
	struct srdma_request r;

	r.qp = qp;
	r.may_wait = true;
	srdma_mem_init(&r.place);
	do {
		r.skb = skb;
		budget -= serve_all(&r);
		if (likely(!srdma_wait_any(qp)))
			srdma_packet_in_free(skb);
		if (unlikely(srdma_hold_any(qp)))
			budget = serve_held(qp, budget);
	} while (budget > 0 && !srdma_wait_any(qp) &&
		 (skb = srdma_engine_receive(&qp->recv)));
	srdma_mem_end(&r.place);
	return budget;
}

bool srdma_execute_run(struct srdma_engine *engine, unsigned long events,
		       int budget)
{
	struct srdma_qp *qp = container_of(engine, struct srdma_qp, recv);
	u8 posted = srdma_linger_posted(qp);
	struct sk_buff *skb;

	if (unlikely(srdma_linger_any(qp)))
		budget = srdma_reply_that_lingered(qp, budget);
	if (unlikely(srdma_wait_any(qp)))
		budget = serve_waiting(qp, budget);
	/* The budget may have ended before it was taken. */
	if (unlikely(srdma_hold_any(qp)))
		budget = serve_held(qp, budget);
	if (budget > 0 && !srdma_wait_any(qp)) {
		skb = srdma_engine_receive(engine);
		if (skb)
			budget = serve_inbox(qp, skb, budget);
	}
	if (qp->qpt == SRDMA_QPT_RC && srdma_qp_may(qp, SRDMA_MAY_RECEIVE)) {
		if (unlikely(events & BIT(SRDMA_EVENT_TIMER)))
			srdma_hold_time(qp);
		if (unlikely(srdma_wait_any(qp)))
			srdma_wait_wake(qp);
		budget = srdma_reply(qp, posted, budget);
	}
	if (srdma_qp_may(qp, SRDMA_MAY_FLUSH_RQ))
		budget = flush(qp, budget);
	return budget <= 0;
}
