// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The receiving part of the send engine. The protocol core judges responses;
 * this file places their data, handles timeouts, and removes requests from the
 * queue with a completion.
 */
#include "objects/device.h"
#include "objects/qp.h"
#include "observe/counters.h"
#include "observe/trace.h"
#include "posting/completion.h"
#include "requester/failure.h"
#include "requester/response.h"
#include "wire/notify.h"
#include "wire/packet_in.h"

static_assert((int)SRDMA_ST_LOC_LEN == (int)IB_WC_LOC_LEN_ERR);
static_assert((int)SRDMA_ST_LOC_QP_OP == (int)IB_WC_LOC_QP_OP_ERR);
static_assert((int)SRDMA_ST_LOC_PROT == (int)IB_WC_LOC_PROT_ERR);
static_assert((int)SRDMA_ST_FLUSH == (int)IB_WC_WR_FLUSH_ERR);
static_assert((int)SRDMA_ST_MW_BIND == (int)IB_WC_MW_BIND_ERR);
static_assert((int)SRDMA_ST_BAD_RESP == (int)IB_WC_BAD_RESP_ERR);
static_assert((int)SRDMA_ST_LOC_ACCESS == (int)IB_WC_LOC_ACCESS_ERR);
static_assert((int)SRDMA_ST_REM_INV_REQ == (int)IB_WC_REM_INV_REQ_ERR);
static_assert((int)SRDMA_ST_REM_ACCESS == (int)IB_WC_REM_ACCESS_ERR);
static_assert((int)SRDMA_ST_REM_OP == (int)IB_WC_REM_OP_ERR);
static_assert((int)SRDMA_ST_RETRY_EXC == (int)IB_WC_RETRY_EXC_ERR);
static_assert((int)SRDMA_ST_RNR_RETRY_EXC == (int)IB_WC_RNR_RETRY_EXC_ERR);
static_assert((int)SRDMA_ST_FATAL == (int)IB_WC_FATAL_ERR);

/* What user space calls FLUSH and ATOMIC WRITE, which older kernels lack. */
#define WC_FLUSH	8
#define WC_ATOMIC_WRITE	9

static const u8 wc_opcodes[SRDMA_WR_NR] = {
	[SRDMA_WR_WRITE] = IB_WC_RDMA_WRITE,
	[SRDMA_WR_WRITE_IMM] = IB_WC_RDMA_WRITE,
	[SRDMA_WR_SEND] = IB_WC_SEND,
	[SRDMA_WR_SEND_IMM] = IB_WC_SEND,
	[SRDMA_WR_SEND_INV] = IB_WC_SEND,
	[SRDMA_WR_READ] = IB_WC_RDMA_READ,
	[SRDMA_WR_CMP_SWAP] = IB_WC_COMP_SWAP,
	[SRDMA_WR_FETCH_ADD] = IB_WC_FETCH_ADD,
	[SRDMA_WR_LOCAL_INV] = IB_WC_LOCAL_INV,
	[SRDMA_WR_BIND_MW] = IB_UVERBS_WC_BIND_MW,
	[SRDMA_WR_FLUSH] = WC_FLUSH,
	[SRDMA_WR_ATOMIC_WRITE] = WC_ATOMIC_WRITE,
};

static enum ib_wc_opcode wc_opcode(u8 op)
{
	return op == SRDMA_WR_REG_MR ? IB_WC_REG_MR : wc_opcodes[op];
}

/**
 * struct srdma_answer - a response being heard; there is one for all of a run
 * @qp: queue pair
 * @now: time, ns
 * @skb: what it came in
 * @walk: over the bytes of @skb
 * @pkt: its headers
 * @act: what the core wants done
 * @place: where the last data, or result, went; rests in between (memory/access.h)
 */
struct srdma_answer {
	struct srdma_qp *qp;
	u64 now;
	struct sk_buff *skb;
	struct srdma_skb_walk walk;
	struct srdma_pkt pkt;
	struct srdma_rc_req_act act;
	struct srdma_mem_iter place;
};

/* ---- placing ---- */

/* Walks on from where the last response ended, if it was of this message. */
static struct srdma_mem_pos *place_cursor(struct srdma_requester *req, u32 idx)
{
	if (req->place.idx != idx) {
		memset(&req->place, 0, sizeof(req->place));
		req->place.idx = idx;
	}
	return &req->place.pos;
}

static enum srdma_mem_why place_payload(struct srdma_answer *a)
{
	const struct srdma_rc_req_act *act = &a->act;
	struct srdma_qp *qp = a->qp;
	struct srdma_wqe *wqe = srdma_send_wqe(&qp->req, act->idx);
	struct srdma_mem_pos *pos = place_cursor(&qp->req, act->idx);
	enum srdma_mem_why why;

	srdma_mem_next_list(&a->place, &qp->who, wqe->sge, wqe->num_sge,
			    IB_ACCESS_LOCAL_WRITE, pos);
	why = srdma_mem_seek(&a->place, act->offset) ?:
	      srdma_packet_in_place(a->skb, &a->walk, &a->pkt, &a->place);
	*pos = a->place.pos;
	srdma_packet_in_rest(a->skb, &a->place);
	return why;
}

static enum srdma_mem_why place_atomic(struct srdma_answer *a)
{
	struct srdma_wqe *wqe = srdma_send_wqe(&a->qp->req, a->act.idx);
	enum srdma_mem_why why;

	srdma_mem_next_list(&a->place, &a->qp->who, wqe->sge, wqe->num_sge,
			    IB_ACCESS_LOCAL_WRITE, NULL);
	why = srdma_mem_write(&a->place, &a->act.orig, sizeof(a->act.orig));
	srdma_packet_in_rest(a->skb, &a->place);
	return why;
}

/* ---- responses ---- */

static void hear(struct srdma_answer *a)
{
	struct srdma_qp *qp = a->qp;
	struct srdma_rc_req *rc = &qp->req.rc;
	enum srdma_mem_why why = SRDMA_MEM_OK;
	enum srdma_req_resp verdict;

	if (srdma_rc_req_expects(rc, &a->pkt))
		srdma_packet_in_join(a->skb, &a->walk, &a->pkt, qp->req.mtu);
	else if (unlikely(srdma_rc_req_lacks_mend(rc, &a->pkt)))
		rc->mend = srdma_qp_zalloc(qp, sizeof(*rc->mend));
	verdict = srdma_rc_req_response(rc, &a->pkt, a->now, &a->act);
	srdma_stat_add(qp->dev, SRDMA_STAT_RESP + verdict, a->pkt.more + 1);
	trace_srdma_packet(qp, a->skb, &a->pkt, SRDMA_STAT_RESP + verdict);
	switch (verdict) {
	case SRDMA_REQ_PLACE:
		why = place_payload(a);
		break;
	case SRDMA_REQ_ATOMIC:
		why = place_atomic(a);
		break;
	case SRDMA_REQ_FAILED:
		srdma_failure_heard(qp, &a->pkt);
		return;
	case SRDMA_REQ_ACK:
	case SRDMA_REQ_SACK:
	case SRDMA_REQ_RETRY:
	case SRDMA_REQ_RNR_WAIT:
	case SRDMA_REQ_DROP_GHOST:
	case SRDMA_REQ_DROP_DUP:
	case SRDMA_REQ_DROP_GAP:
	case SRDMA_REQ_DROP_KIND:
	case SRDMA_REQ_DROP_ERROR:
	case SRDMA_REQ_RESP_NR:
		return;
	}
	if (!why) {
		srdma_rc_req_placed(rc, &a->act, a->now);
		return;
	}
	srdma_rc_req_settle(rc, a->now);
	srdma_failure_to_place(qp, a->act.idx);
}

/* Not inlined: it is rare. */
static noinline void hear_congestion(struct srdma_answer *a)
{
	struct srdma_qp *qp = a->qp;

	trace_srdma_packet(qp, a->skb, &a->pkt, SRDMA_STAT_RX_PACKETS);
	if (!srdma_qp_has_peer(qp)) {
		srdma_stat_inc(qp->dev, SRDMA_STAT_CNP_IGNORED);
		return;
	}
	srdma_stat_inc(qp->dev, SRDMA_STAT_CNP_HANDLED);
	if (qp->qpt == SRDMA_QPT_UC) {
		srdma_uc_req_congested(&qp->req.uc, a->now);
		return;
	}
	srdma_rc_req_settle(&qp->req.rc, a->now);
	srdma_rc_req_congested(&qp->req.rc);
}

/*
 * Data of a READ that was marked is what this QP has asked for: it asks more slowly. Not
 * every responder listens to the notification.
 */
static noinline void meet_congestion(struct srdma_answer *a)
{
	struct srdma_rc_req *rc = &a->qp->req.rc;

	if (!srdma_notify_of(a->qp, true, a->skb, &a->pkt))
		return;
	srdma_rc_req_settle(rc, a->now);
	srdma_rc_req_congested(rc);
}

/*
 * All of an skb; returns how many packets. Of unreliable QPs they can only be congestion
 * notifications.
 */
static __always_inline int hear_all(struct srdma_answer *a)
{
	struct sk_buff *skb = a->skb;
	int count = 0;

	if (!srdma_packet_in_is_loop(skb))
		srdma_mem_end(&a->place);
	srdma_skb_walk_begin(&a->walk, skb);
	while (srdma_packet_in(skb)->left) {
		switch (srdma_packet_in_next(skb, &a->walk, a->qp, true,
					     &a->pkt)) {
		case SRDMA_FOUND_PACKET:
			if (a->pkt.opcode == SRDMA_CNP)
				hear_congestion(a);
			else
				hear(a);
			if (unlikely(srdma_packet_in(skb)->is_ce))
				meet_congestion(a);
			count += a->pkt.more + 1;
			break;
		case SRDMA_FOUND_BAD:
			count++;
			break;
		case SRDMA_FOUND_FOREIGN:
			break;
		}
	}
	srdma_skb_walk_end(&a->walk);
	return count;
}

/* @skb is the first of them. */
static noinline int hear_inbox(struct srdma_qp *qp, struct sk_buff *skb,
			       u64 now, int budget)
{
	struct srdma_answer a;

	a.qp = qp;
	a.now = now;
	srdma_mem_init(&a.place);
	do {
		a.skb = skb;
		budget -= hear_all(&a);
		srdma_packet_in_free(skb);
	} while (budget > 0 && (skb = srdma_engine_receive(&qp->send)));
	srdma_mem_end(&a.place);
	if (qp->qpt == SRDMA_QPT_RC)
		srdma_rc_req_settle(&qp->req.rc, now);
	return budget;
}

/**
 * srdma_response_hear - process the responses in the inbox
 * @qp: queue pair
 * @now: time, ns
 * @budget: most packets to process, give or take a train
 *
 * Return: what is left of the budget.
 */
int srdma_response_hear(struct srdma_qp *qp, u64 now, int budget)
{
	struct sk_buff *skb = NULL;

	if (budget > 0)
		skb = srdma_engine_receive(&qp->send);
	return skb ? hear_inbox(qp, skb, now, budget) : budget;
}

void srdma_response_timeout(struct srdma_qp *qp, u64 now)
{
	enum srdma_req_timer what = qp->qpt == SRDMA_QPT_RC ?
		srdma_rc_req_timeout(&qp->req.rc, now) :
		srdma_uc_req_timeout(&qp->req.uc, now);

	srdma_stat_inc(qp->dev, SRDMA_STAT_TIMER + what);
	trace_srdma_timer_fire(qp, SRDMA_STAT_TIMER + what);
	if (what == SRDMA_TIMER_FAILED)
		srdma_failure_of_time(qp);
}

/* ---- completions ---- */

static bool retire(struct srdma_qp *qp, struct srdma_rc_done *done)
{
	return qp->qpt == SRDMA_QPT_RC ?
		srdma_rc_req_may_retire(&qp->req.rc) &&
		srdma_rc_req_retire(&qp->req.rc, done) :
		srdma_uc_req_retire(&qp->req.uc, done);
}

static bool report_done(struct srdma_qp *qp, const struct srdma_wqe *wqe,
			enum srdma_status status, u16 why)
{
	struct ib_wc wc = {
		.wr_id = wqe->wr_id,
		.status = (enum ib_wc_status)status,
		.vendor_err = why,
		.opcode = wc_opcode(wqe->msg.op),
		.byte_len = wqe->msg.len,
		.qp = qp->ib,
		.port_num = SRDMA_PORT,
	};

	return srdma_cq_add(qp->send_cq, &wc, false);
}

/* Returns whether the completion found room. */
static bool complete_one(struct srdma_qp *qp, const struct srdma_rc_done *done)
{
	struct srdma_wqe *wqe = srdma_send_wqe(&qp->req, done->idx);
	u16 why = 0;

	/* From here on its memory is the consumer's alone. */
	srdma_loan_end(&qp->req.loans, done->idx);
	/*
	 * The slot is given back first: a program that sees the completion
	 * may post into it.
	 */
	qp->req.fetched--;
	srdma_ring_consume(&qp->sq.ring, 1);
	if (unlikely(done->status))
		why = srdma_failure_tell(qp, done);
	trace_srdma_wqe_done(qp, wqe, done->status, why);
	if (!done->status && !(wqe->msg.flags & SRDMA_WR_SIGNALED))
		return true;
	return report_done(qp, wqe, done->status, why);
}

/**
 * srdma_response_retire_done - take off the queue what is done
 * @qp: queue pair
 *
 * A request that failed takes the QP with it: to the error state if it is
 * reliable, else only its send queue.
 *
 * Return: whether anything was.
 */
bool srdma_response_retire_done(struct srdma_qp *qp)
{
	struct srdma_rc_done done;
	bool any = false;

	while (retire(qp, &done)) {
		any = true;
		if (!complete_one(qp, &done))
			srdma_qp_lost_completion(qp);
		else if (done.status && qp->qpt == SRDMA_QPT_RC)
			srdma_qp_set_error(qp, SRDMA_ERR_FLUSH_REQUEST);
		else if (done.status)
			srdma_qp_set_send_error(qp);
	}
	return any;
}
