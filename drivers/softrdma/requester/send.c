// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The send engine: has work requests taken from the ring (requester/fetch.c), asks the
 * protocol core what to send next, and sends it. What comes back is in
 * requester/response.c.
 */
#include "compat/compat.h"
#include "engine/urge.h"
#include "memory/invalidate.h"
#include "memory/region.h"
#include "memory/window.h"
#include "objects/device.h"
#include "objects/effects.h"
#include "objects/qp.h"
#include "observe/trace.h"
#include "posting/doorbell.h"
#include "posting/effects.h"
#include "requester/datagram.h"
#include "requester/failure.h"
#include "requester/fetch.h"
#include "requester/requester.h"
#include "requester/response.h"
#include "requester/send.h"
#include "wire/path.h"
#include "wire/rider.h"
#include "wire/tx.h"

/* Slots taken from the ring before some of them are sent. */
#define FETCH_BATCH	32

/* ---- where the payload comes from ---- */

/**
 * struct request_payload - the payload of a work request
 * @base: what the sender of packets knows
 * @qp: queue pair
 * @wqe: request
 * @idx: its index
 */
struct request_payload {
	struct srdma_payload base;
	struct srdma_qp *qp;
	struct srdma_wqe *wqe;
	u32 idx;
};

/* Walks on from where the last burst ended, if it was of this message. */
static struct srdma_cursor *gather_cursor(struct request_payload *payload)
{
	struct srdma_cursor *cursor = &payload->qp->req.gather;

	if (cursor->idx != payload->idx) {
		memset(cursor, 0, sizeof(*cursor));
		cursor->idx = payload->idx;
	}
	return cursor;
}

static int open_request(struct srdma_payload *base, u32 offset)
{
	struct request_payload *payload =
		container_of(base, struct request_payload, base);
	struct srdma_wqe *wqe = payload->wqe;

	if (wqe->is_inline) {
		if (unlikely(offset > wqe->msg.len))
			return -EFAULT;
		srdma_mem_begin_kernel(&base->it,
				       srdma_wqe_inline(wqe) + offset,
				       wqe->msg.len - offset);
		return 0;
	}
	srdma_mem_begin_list(&base->it, &payload->qp->who, wqe->sge,
			     wqe->num_sge, 0, &gather_cursor(payload)->pos);
	return srdma_mem_seek(&base->it, offset) ? -EFAULT : 0;
}

static void close_request(struct srdma_payload *base)
{
	struct request_payload *payload =
		container_of(base, struct request_payload, base);

	if (!payload->wqe->is_inline)
		gather_cursor(payload)->pos = base->it.pos;
	srdma_mem_end(&base->it);
}

static const struct srdma_payload_ops request_payload_ops = {
	.open = open_request,
	.close = close_request,
};

/* Its walk, which is most of it, begins when it is opened. */
static void begin_payload(struct request_payload *payload,
			  struct srdma_wqe *wqe, u32 idx)
{
	payload->base.is_open = false;
	payload->wqe = wqe;
	payload->idx = idx;
}

/* ---- sending ---- */

/* The operands that the opcode's headers carry. */
static void fill_headers(const struct srdma_qp *qp,
			 const struct srdma_wr_info *info,
			 const struct srdma_wqe *wqe,
			 const struct srdma_burst *b, struct srdma_pkt *hdr)
{
	if (info->flags & SRDMA_WRI_IMM)
		hdr->imm = wqe->imm;
	if (info->flags & SRDMA_WRI_INV)
		hdr->inv_rkey = wqe->inv_rkey;
	if (info->flags & SRDMA_WRI_ATOMIC) {
		hdr->atomic.va = wqe->atomic.remote_addr;
		hdr->atomic.rkey = wqe->atomic.rkey;
		hdr->atomic.swap_add = wqe->atomic.swap_add;
		hdr->atomic.compare = wqe->atomic.compare;
	} else if (info->flags & SRDMA_WRI_RDMA) {
		hdr->reth.va = wqe->rdma.remote_addr;
		hdr->reth.rkey = wqe->rdma.rkey;
		hdr->reth.len = wqe->msg.len;
		hdr->feth.plt = wqe->rdma.plt;
		hdr->feth.sel = wqe->rdma.sel;
	}
	/* A READ may begin again in its middle. */
	if (wqe->msg.op == SRDMA_WR_READ) {
		hdr->reth.va += b->offset;
		hdr->reth.len = b->len;
	}
}

/* What will come back must have a place, or it is not asked for. */
static enum srdma_status check_fill(struct srdma_qp *qp,
				    struct srdma_outbox *outbox,
				    const struct srdma_wqe *wqe)
{
	return srdma_mem_check_next(&outbox->fill, &qp->who, wqe->sge,
				    wqe->num_sge, IB_ACCESS_LOCAL_WRITE) ?
		SRDMA_ST_LOC_PROT : SRDMA_ST_OK;
}

/*
 * What was lent comes back in the order in which it went. One that does not, since
 * it was dropped on the way, ends the oldest loan too early: that payload is lost,
 * as any may be where there are no acknowledges.
 */
static void take_back(struct srdma_qp *qp)
{
	struct srdma_requester *req = &qp->req;
	/* Pairs with give_back() in wire/loop.c. */
	u32 returned = atomic_read_acquire(&req->returned);

	for (; req->taken_back != returned; req->taken_back++) {
		if (req->lost_sight)
			req->lost_sight--;
		else
			srdma_uc_req_release_oldest(&req->uc);
	}
}

static __always_inline void
count_sent(struct srdma_qp *qp, const struct srdma_rc_burst *burst, bool lent,
	   u64 now)
{
	if (srdma_qp_is_rc(qp)) {
		srdma_rc_req_sent(&qp->req.rc, burst, now);
		return;
	}
	srdma_uc_req_sent(&qp->req.uc, burst, now);
	if (lent) {
		qp->req.lent++;
		take_back(qp);
	} else {
		/* The payload was copied. */
		srdma_uc_req_released(&qp->req.uc, burst->idx);
	}
}

/* Where this is the end of a message: how many are at hand behind it. */
static u32 how_many_follow(const struct srdma_qp *qp,
			   const struct srdma_rc_burst *burst)
{
	const struct srdma_rc_msg *msg = burst->msg;

	return burst->b.offset + burst->b.len == msg->len ?
	       srdma_fetch_head(qp) - burst->idx - 1 : 0;
}

/**
 * struct sending - what one run sends: set up once for all of its bursts
 * @limit: how long a burst is worth while
 * @is_limited: @limit does not change any more
 * @burst: what the core wants sent
 * @b: its packets, as they go
 * @hdr: what their headers say; members that they do not have may be of others before
 * @payload: where their payload comes from
 * @offer: how it may be lent
 * @tx: all of it
 */
struct sending {
	struct srdma_burst_limit limit;
	bool is_limited;
	struct srdma_rc_burst burst;
	struct srdma_burst b;
	struct srdma_pkt hdr;
	struct request_payload payload;
	struct srdma_loan_offer offer;
	struct srdma_tx tx;
};

static void begin_sending(struct sending *s, struct srdma_qp *qp)
{
	s->is_limited = false;
	s->hdr = (struct srdma_pkt) {
		.pkey = SRDMA_PKEY_DEFAULT,
		.mig = true,
		.dest_qpn = qp->attr.dest_qp_num,
	};
	s->payload.base.ops = &request_payload_ops;
	s->payload.qp = qp;
	s->tx.qp = qp;
	s->tx.engine = &qp->send;
	s->tx.av = &qp->av;
	s->tx.path = &qp->req.path;
	s->tx.hdr = &s->hdr;
	s->tx.burst = &s->b;
}

/* All that is special about a request; or why it cannot be sent. */
static enum srdma_status prepare_send(struct srdma_qp *qp,
				      struct srdma_wqe *wqe,
				      struct srdma_pkt *hdr, struct srdma_burst *b,
				      struct srdma_tx *tx)
{
	const struct srdma_wr_info *info = srdma_wr_info_get(wqe->msg.op);

	fill_headers(qp, info, wqe, b, hdr);
	if (!(info->flags & SRDMA_WRI_PAYLOAD)) {
		b->len = 0;
		b->seg = 0;
		tx->payload = NULL;
	}
	if (!srdma_qp_has_peer(qp))
		return srdma_datagram_prepare(qp, wqe, hdr, tx);
	return info->flags & SRDMA_WRI_FILL ? check_fill(qp, tx->outbox, wqe) :
					      SRDMA_ST_OK;
}

static void offer_payload(struct sending *s, struct srdma_wqe *wqe)
{
	struct srdma_loan_offer *offer = &s->offer;

	s->tx.offer = NULL;
	offer->lent = false;
	if (s->b.len < SRDMA_LOAN_MIN || !srdma_qp_has_peer(s->tx.qp) ||
	    wqe->is_inline)
		return;
	offer->returns = !srdma_qp_is_rc(s->tx.qp);
	offer->idx = s->burst.idx;
	offer->num_sge = wqe->num_sge;
	offer->sge = wqe->sge;
	s->tx.offer = offer;
}

/*
 * Returns whether the engine can go on sending. What of the burst was not sent is
 * cut off it.
 */
static bool send_burst(struct sending *s, u64 now, struct srdma_outbox *outbox)
{
	struct srdma_qp *qp = s->tx.qp;
	struct srdma_rc_burst *burst = &s->burst;
	struct srdma_wqe *wqe = srdma_send_wqe(&qp->req, burst->idx);
	enum srdma_status status;
	u32 count;

	s->b = burst->b;
	s->tx.payload = &s->payload.base;
	s->tx.outbox = outbox;
	s->tx.more = how_many_follow(qp, burst) + !!outbox->rider;
	begin_payload(&s->payload, wqe, burst->idx);
	status = prepare_send(qp, wqe, &s->hdr, &s->b, &s->tx);
	if (status)
		goto err_fail;
	offer_payload(s, wqe);

	switch (srdma_tx_send(&s->tx, &count)) {
	case SRDMA_TX_SENT:
	case SRDMA_TX_NOROUTE:
	case SRDMA_TX_NOMEM:
		/* What could not be sent is as good as lost on the way. */
		if (count < burst->b.count)
			srdma_burst_trim(&burst->b, count);
		count_sent(qp, burst, s->offer.lent, now);
		return true;
	case SRDMA_TX_BUSY:
		return false;
	case SRDMA_TX_FAULT:
		status = SRDMA_ST_LOC_PROT;
		break;
	}
err_fail:
	srdma_failure_to_send(qp, burst->idx, status);
	return true;
}

static void run_local(struct srdma_qp *qp, const struct srdma_rc_burst *burst)
{
	struct srdma_wqe *wqe = srdma_send_wqe(&qp->req, burst->idx);
	const struct srdma_mem_who *who = &qp->who;
	enum srdma_mem_why why = SRDMA_MEM_STATE;
	struct srdma_mw_bind bind;

	switch (wqe->msg.op) {
	case SRDMA_WR_LOCAL_INV:
		why = srdma_mem_invalidate(who, wqe->inv_rkey, false);
		break;
	case SRDMA_WR_BIND_MW:
		bind = (struct srdma_mw_bind) {
			.mw_rkey = wqe->mw.mw_rkey,
			.new_rkey = wqe->mw.rkey,
			.mr_lkey = wqe->mw.mr_lkey,
			.addr = wqe->mw.addr,
			.length = wqe->mw.length,
			.access = wqe->mw.access,
		};
		why = srdma_mw_bind(who, &bind);
		break;
	case SRDMA_WR_REG_MR:
		why = srdma_mr_fast_reg(who, wqe->reg.mr, wqe->reg.key,
					wqe->reg.access);
		break;
	}
	if (why)
		srdma_failure_of_key(qp, burst->idx, why);
	else if (srdma_qp_is_rc(qp))
		srdma_rc_req_local_done(&qp->req.rc, burst);
	else
		srdma_uc_req_local_done(&qp->req.uc, burst);
}

static void limit_burst(struct srdma_qp *qp, struct srdma_burst_limit *limit)
{
	struct srdma_requester *req = &qp->req;

	if (srdma_qp_has_peer(qp))
		srdma_tx_limit(qp, &req->path, req->mtu, limit);
	else
		*limit = (struct srdma_burst_limit) {
			.packets = 1,
			.bytes = req->mtu,
		};
}

static enum srdma_req_next ask(struct sending *s, struct srdma_qp *qp, u64 now,
			       const struct srdma_outbox *outbox)
{
	if (srdma_qp_is_rc(qp) && srdma_rc_req_all_sent(&qp->req.rc))
		return SRDMA_NEXT_EMPTY;
	if (!s->is_limited) {
		limit_burst(qp, &s->limit);
		s->is_limited = outbox->knows_way;
	}
	return srdma_qp_is_rc(qp) ?
		srdma_rc_req_next(&qp->req.rc, now, &s->limit, &s->burst) :
		srdma_uc_req_next(&qp->req.uc, now, &s->limit, &s->burst);
}

/*
 * Sends what may be sent. Returns what is left of the budget; 0 when there
 * may be more to send.
 */
static __always_inline int send_into(struct srdma_outbox *outbox,
				     struct srdma_qp *qp, u64 now, int budget)
{
	struct sending s;
	int fetched;

	begin_sending(&s, qp);
	while (budget > 0) {
		switch (ask(&s, qp, now, outbox)) {
		case SRDMA_NEXT_SEND:
			if (!send_burst(&s, now, outbox))
				return budget;
			budget -= s.burst.b.count;
			if (unlikely(outbox->rider))
				srdma_rider_send(qp, outbox);
			break;
		case SRDMA_NEXT_LOCAL:
			srdma_outbox_rest(outbox);
			run_local(qp, &s.burst);
			budget--;
			break;
		case SRDMA_NEXT_EMPTY:
		case SRDMA_NEXT_ERROR:
			srdma_outbox_rest(outbox);
			fetched = srdma_fetch_requests(qp, FETCH_BATCH);
			if (!fetched)
				return budget;
			srdma_response_retire(qp);
			/* Those that are flushed are never sent: they count. */
			if (!srdma_qp_may(qp, SRDMA_MAY_SEND))
				budget -= fetched;
			break;
		case SRDMA_NEXT_ORDER:
			srdma_outbox_rest(outbox);
			/* UC has no responses: what was sent retires by itself. */
			if (srdma_qp_is_rc(qp) || !srdma_response_retire(qp))
				return budget;
			break;
		case SRDMA_NEXT_WINDOW:
		case SRDMA_NEXT_CREDIT:
		case SRDMA_NEXT_RD_ATOMIC:
		case SRDMA_NEXT_FENCE:
		case SRDMA_NEXT_RNR:
		case SRDMA_NEXT_PACE:
		case SRDMA_NEXT_SQD:
		case SRDMA_NEXT_FAILING:
		case SRDMA_NEXT_NR:
			return budget;
		}
	}
	return 0;
}

/* Then nothing was posted that was not sent. */
static bool has_nothing(const struct srdma_qp *qp)
{
	return srdma_qp_is_rc(qp) && srdma_rc_req_all_sent(&qp->req.rc) &&
	       qp->req.fetched == srdma_ring_filled(&qp->sq.ring);
}

/* Not inlined: what it sets up is worth while only where there is something. */
static noinline int send_all(struct srdma_qp *qp, u64 now, int budget)
{
	struct srdma_outbox outbox;

	srdma_outbox_init(&outbox);
	outbox.rider = srdma_rider_take(qp);
	srdma_datagram_begin(qp);
	budget = send_into(&outbox, qp, now, budget);
	/* What was put meanwhile may be for a request that went meanwhile. */
	if (!outbox.rider)
		outbox.rider = srdma_rider_take(qp);
	if (unlikely(outbox.rider))
		srdma_rider_send(qp, &outbox);
	srdma_tx_flush(qp, &qp->req.path, &outbox);
	return budget;
}

static int send_requests(struct srdma_qp *qp, u64 now, int budget)
{
	return has_nothing(qp) ? budget : send_all(qp, now, budget);
}

/* The timer is left alone when it fires early enough. */
static void arm_timer(struct srdma_qp *qp)
{
	struct srdma_requester *req = &qp->req;
	u64 at = srdma_qp_is_rc(qp) ? req->rc.deadline : req->uc.rate.wake_at;

	if (!at || (req->timer_at && req->timer_at <= at))
		return;
	req->timer_at = at;
	trace_srdma_timer_arm(qp, at);
	hrtimer_start(&req->timer, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
}

/* A program that polls is not to keep waiting what brings it much. */
static void watch_softirq(struct srdma_qp *qp)
{
	unsigned int urged = srdma_urge_count();

	if (urged)
		srdma_stat_add(qp->dev, SRDMA_STAT_URGED, urged);
	if (srdma_qp_awaits_much(qp))
		srdma_urge_soon();
}

/* Called only while this tracepoint is enabled. */
static noinline void show_window(struct srdma_qp *qp)
{
	u32 packets = qp->req.rc.cwnd;

	if (qp->req.shown_window == packets)
		return;
	qp->req.shown_window = packets;
	trace_srdma_window(qp, packets);
}

static void raise_drained(struct srdma_qp *qp)
{
	bool drained = srdma_qp_is_rc(qp) ? srdma_rc_req_drained(&qp->req.rc) :
				   srdma_uc_req_drained(&qp->req.uc);

	if (!drained || qp->req.drained)
		return;
	WRITE_ONCE(qp->req.drained, true);
	if (qp->attr.en_sqd_async_notify)
		srdma_qp_event(qp, IB_EVENT_SQ_DRAINED);
}

/* The QP went to the error state, by itself or by the consumer. */
static void abort_requests(struct srdma_qp *qp)
{
	srdma_requester_pass_over(qp);
	if (srdma_qp_is_rc(qp))
		srdma_rc_req_abort(&qp->req.rc);
	else
		srdma_uc_req_abort(&qp->req.uc);
}

/* What the port can carry may have changed. A datagram is one packet. */
static void follow_mtu(struct srdma_qp *qp)
{
	qp->req.mtu = srdma_qp_mtu(qp);
	srdma_uc_req_set_mtu(&qp->req.uc, qp->req.mtu);
}

bool srdma_send_run(struct srdma_engine *engine, unsigned long events,
		    int budget)
{
	struct srdma_qp *qp = container_of(engine, struct srdma_qp, send);
	u64 now = ktime_get_ns();

	srdma_doorbell_take(qp, now);
	if (events & BIT(SRDMA_EVENT_EFFECT))
		srdma_effects_run(qp);
	if (!srdma_qp_may(qp, SRDMA_MAY_SEND | SRDMA_MAY_FLUSH_SQ))
		return srdma_engine_drop(engine, budget) <= 0;
	if (srdma_qp_may(qp, SRDMA_MAY_FLUSH_RQ))
		abort_requests(qp);
	if (!srdma_qp_has_peer(qp))
		follow_mtu(qp);
	if (events & BIT(SRDMA_EVENT_RETURNED))
		take_back(qp);
	budget = srdma_response_hear(qp, now, budget);
	/* Not before: what it waited for may have come, and waited here. */
	if (events & BIT(SRDMA_EVENT_TIMER)) {
		qp->req.timer_at = 0;
		srdma_response_timeout(qp, now);
	}
	srdma_response_retire(qp);
	budget = send_requests(qp, now, budget);
	srdma_response_retire(qp);
	if (READ_ONCE(qp->state) == IB_QPS_SQD)
		raise_drained(qp);
	if (trace_srdma_window_enabled() && srdma_qp_is_rc(qp))
		show_window(qp);
	/* The answer may be here already, and then there is nothing to wait for. */
	if (!srdma_qp_is_rc(qp)) {
		arm_timer(qp);
	} else if (!srdma_engine_kicked(engine)) {
		srdma_rc_req_settle(&qp->req.rc, now);
		arm_timer(qp);
		watch_softirq(qp);
	}
	return budget <= 0;
}

/*
 * SQE is left for RTS: only QPs that are not RC know it. What was posted before
 * is flushed; what is posted from now on may be sent.
 */
void srdma_send_resume(struct srdma_qp *qp)
{
	int left = srdma_ring_filled(&qp->sq.ring) - qp->req.fetched;
	int n;

	srdma_response_retire(qp);
	while (left > 0) {
		n = srdma_fetch_requests(qp, min(left, FETCH_BATCH));
		if (!n)
			break;
		srdma_response_retire(qp);
		left -= n;
	}
	srdma_uc_req_resume(&qp->req.uc);
}
