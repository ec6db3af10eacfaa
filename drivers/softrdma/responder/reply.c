// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the receive engine of a reliable connection sends: acknowledges, NAKs,
 * atomic results, and the data of READs.
 */
#include "objects/device.h"
#include "objects/qp.h"
#include "observe/stall.h"
#include "observe/trace.h"
#include "posting/srq.h"
#include "proto/aeth.h"
#include "responder/linger.h"
#include "responder/refusal.h"
#include "responder/reply.h"
#include "wire/arrived.h"
#include "wire/notify.h"
#include "wire/tx.h"

/*
 * Packets that a QP may still send when it stops to answer. That is enough for
 * acknowledges, and small enough to hold up nobody with the data of a READ.
 */
#define LAST_REPLIES	64

/**
 * struct read_payload - what a peer reads
 * @base: what the sender of packets knows
 * @qp: queue pair
 * @burst: address, key and packets; the message of the packets' offsets begins
 *	at @burst->va less its own offset
 */
struct read_payload {
	struct srdma_payload base;
	struct srdma_qp *qp;
	const struct srdma_rc_resp_burst *burst;
};

/*
 * The key is looked up for each burst, so that a region that was taken away
 * meanwhile is not read any more.
 */
static int open_read(struct srdma_payload *base, u32 offset)
{
	struct read_payload *read = container_of(base, struct read_payload,
						 base);
	u32 done = offset - read->burst->b.offset;

	return srdma_mem_begin_remote(&base->it, &read->qp->who,
				      read->burst->rkey, read->burst->va + done,
				      read->burst->b.len - done,
				      IB_ACCESS_REMOTE_READ) ? -EFAULT : 0;
}

static void close_read(struct srdma_payload *base)
{
	srdma_mem_end(&base->it);
}

static const struct srdma_payload_ops read_payload_ops = {
	.open = open_read,
	.close = close_read,
};

/*
 * Receive requests that a peer may count on, from the last message completed on: the
 * one that a message has taken, which goes on, is among them (9.7.7.2).
 */
static u32 credits(const struct srdma_qp *qp)
{
	return qp->srq ? SRDMA_RESP_NO_CREDITS :
			 srdma_ring_filled(&qp->rq.ring) + qp->resp.has_rwqe;
}

/* A fatal NAK is out: the QP follows it. */
static void fail_responder(struct srdma_qp *qp, u8 syndrome)
{
	switch (srdma_aeth_value(syndrome)) {
	case SRDMA_NAK_INV_REQ:
		srdma_qp_fail(qp, IB_EVENT_QP_REQ_ERR, SRDMA_ERR_FLUSH_REFUSED);
		break;
	case SRDMA_NAK_REM_ACCESS:
		srdma_qp_fail(qp, IB_EVENT_QP_ACCESS_ERR,
			      SRDMA_ERR_FLUSH_REFUSED);
		break;
	default:
		/* A receive request was bad, and its completion says so. */
		srdma_qp_set_error(qp, SRDMA_ERR_FLUSH_RECEIVE);
	}
}

/**
 * struct replying - what one run answers: set up once for all of its bursts
 * @burst: what the core wants sent
 * @hdr: what their headers say; members that they do not have may be of others before
 * @payload: the data of a READ
 * @tx: all of it
 */
struct replying {
	struct srdma_rc_resp_burst burst;
	struct srdma_pkt hdr;
	struct read_payload payload;
	struct srdma_tx tx;
};

static void begin_replying(struct replying *r, struct srdma_qp *qp,
			   struct srdma_outbox *outbox)
{
	r->hdr = (struct srdma_pkt) {
		.pkey = SRDMA_PKEY_DEFAULT,
		.mig = true,
		.dest_qpn = qp->attr.dest_qp_num,
	};
	r->payload.base.ops = &read_payload_ops;
	r->payload.base.is_open = false;
	r->payload.qp = qp;
	r->payload.burst = &r->burst;
	r->tx.qp = qp;
	r->tx.engine = &qp->recv;
	r->tx.av = &qp->av;
	r->tx.path = &qp->resp.path;
	r->tx.hdr = &r->hdr;
	r->tx.outbox = outbox;
	r->tx.offer = NULL;
}

/* Not inlined: it is rare. */
static noinline enum srdma_tx_result send_sack(struct replying *r, u32 *count)
{
	struct srdma_burst b = r->burst.b;

	srdma_rc_resp_fill_sack(&r->tx.qp->resp.rc, &r->hdr, &b);
	r->tx.burst = &b;
	return srdma_tx_send(&r->tx, count);
}

static enum srdma_tx_result send(struct replying *r, enum srdma_resp_out out,
				 u32 *count)
{
	const struct srdma_rc_resp_burst *burst = &r->burst;
	const struct srdma_rc_resp *rc = &r->tx.qp->resp.rc;

	r->hdr.aeth.syndrome = burst->syndrome;
	r->hdr.aeth.msn = burst->msn;
	r->hdr.aeth.orig = burst->orig;
	r->tx.more = srdma_rc_resp_more(rc, burst);
	r->tx.burst = &burst->b;
	r->tx.payload = NULL;
	if (unlikely(out == SRDMA_OUT_SACK))
		return send_sack(r, count);
	if (out == SRDMA_OUT_READ && burst->b.len)
		r->tx.payload = &r->payload.base;
	return srdma_tx_send(&r->tx, count);
}

/* Returns whether the engine can go on. What was not sent is cut off the burst. */
static bool respond_one(struct replying *r, enum srdma_resp_out out)
{
	struct srdma_rc_resp_burst *burst = &r->burst;
	struct srdma_qp *qp = r->tx.qp;
	struct srdma_rc_resp *rc = &qp->resp.rc;
	u32 count;

	switch (send(r, out, &count)) {
	case SRDMA_TX_SENT:
	case SRDMA_TX_NOROUTE:
	case SRDMA_TX_NOMEM:
		/* What could not be sent is as good as lost on the way. */
		if (count < burst->b.count)
			srdma_burst_trim(&burst->b, count);
		srdma_rc_resp_sent(rc, burst);
		if (burst->fatal)
			fail_responder(qp, burst->syndrome);
		return true;
	case SRDMA_TX_BUSY:
		return false;
	case SRDMA_TX_FAULT:
		srdma_rc_resp_read_fail(rc, burst, SRDMA_WHY_ACCESS);
		if (rc->dead)
			srdma_refusal_of_read(qp, burst);
		return true;
	}
	return false;
}

/* There is something due. Returns what is left of @budget. */
static int respond_into(struct srdma_outbox *outbox, struct srdma_qp *qp,
			int budget)
{
	struct srdma_rc_resp *rc = &qp->resp.rc;
	struct srdma_burst_limit limit;
	enum srdma_resp_out out;
	bool is_limited = false;
	struct replying r;

	begin_replying(&r, qp, outbox);
	while (srdma_rc_resp_due(rc)) {
		if (budget <= 0)
			return 0;
		if (!is_limited)
			srdma_tx_limit(qp, &qp->resp.path, qp->resp.mtu, &limit);
		is_limited = outbox->knows_way;
		out = srdma_rc_resp_next(rc, &limit, credits(qp), &r.burst);
		if (out == SRDMA_OUT_NONE || !respond_one(&r, out))
			break;
		budget -= r.burst.b.count;
	}
	return budget;
}

static int respond(struct srdma_qp *qp, int budget)
{
	struct srdma_outbox outbox;

	srdma_outbox_init(&outbox);
	budget = respond_into(&outbox, qp, budget);
	srdma_tx_flush(qp, &qp->resp.path, &outbox);
	return budget;
}

/* Not inlined: it is rare. */
static noinline void let_wait(struct srdma_qp *qp)
{
	struct srdma_rc_resp *rc = &qp->resp.rc;
	const struct srdma_burst_limit limit = {};
	struct srdma_rc_resp_burst burst;

	srdma_rc_resp_next(rc, &limit, credits(qp), &burst);
	srdma_rc_resp_sent(rc, &burst);
	srdma_linger_begin(qp, &burst);
}

/**
 * srdma_reply - send the answers that are due
 * @qp: queue pair
 * @posted: srdma_linger_posted() when the engine began to run
 * @budget: packets to send at most, give or take a train
 *
 * Return: what is left of the budget; not more than 0 when answers may be.
 */
int srdma_reply(struct srdma_qp *qp, u8 posted, int budget)
{
	if (!srdma_rc_resp_due(&qp->resp.rc) || srdma_stall(SRDMA_STALL_REPLY))
		return budget;
	if (srdma_rc_resp_only_acks(&qp->resp.rc) &&
	    srdma_linger_is_worthwhile(qp, posted)) {
		let_wait(qp);
		if (!srdma_rc_resp_due(&qp->resp.rc))
			return budget;
	}
	return respond(qp, budget);
}

/**
 * srdma_reply_that_lingered - the engine runs, and an acknowledge waits, or did
 * @qp: queue pair
 * @budget: as for srdma_reply(), which sends what need not wait any more
 *
 * But in the error state, where that is not called, what is due is from before the error.
 *
 * Return: what is left of the budget.
 */
noinline int srdma_reply_that_lingered(struct srdma_qp *qp, int budget)
{
	struct srdma_rc_resp *rc = &qp->resp.rc;

	srdma_linger_look(qp);
	if (srdma_qp_may(qp, SRDMA_MAY_RECEIVE) || !srdma_rc_resp_due(rc))
		return budget;
	budget = respond(qp, budget);
	/* There is room for it later. */
	if (rc->ack_due)
		srdma_linger_again(qp);
	return budget;
}

/**
 * srdma_reply_last - send the answers that are due to a QP that stops to answer
 * @qp: queue pair; both of its engines are stopped
 *
 * A run of the receive engine may complete a message and leave its acknowledge
 * to the next run. The program that takes this completion may destroy the QP at
 * once, since it has all that it waited for. Without the acknowledge, the peer's
 * request would fail although it was executed.
 */
void srdma_reply_last(struct srdma_qp *qp)
{
	bool lingered;

	if (qp->qpt != SRDMA_QPT_RC)
		return;
	lingered = srdma_linger_end(qp);
	/* The QP may have failed since then, and its engine not have run again. */
	if ((!lingered && !srdma_qp_may(qp, SRDMA_MAY_RECEIVE)) ||
	    !srdma_rc_resp_due(&qp->resp.rc))
		return;
	local_bh_disable();
	respond(qp, LAST_REPLIES);
	local_bh_enable();
}

/* ---- because a rule says so ---- */

/*
 * A NAK acknowledges what is in front of it: so only what is expected gets one, in its
 * turn behind the answers that are due.
 */
static bool refuse_by_rule(struct srdma_qp *qp, const struct sk_buff *skb,
			   const struct srdma_pkt *pkt, u8 syndrome)
{
	struct srdma_rc_resp *rc = &qp->resp.rc;

	if (qp->qpt != SRDMA_QPT_RC || rc->dead ||
	    !srdma_rc_resp_expects(rc, pkt))
		return false;
	trace_srdma_packet(qp, skb, pkt, SRDMA_STAT_RX_PACKETS);
	srdma_rc_resp_refuse(rc, pkt, syndrome);
	return true;
}

/**
 * srdma_reply_by_rule - answer a request as a rule has it
 * @qp: queue pair; its receive engine is the caller's
 * @skb: what the request came in
 * @pkt: the request
 *
 * Return: whether that was all, and it is not to be executed.
 */
bool srdma_reply_by_rule(struct srdma_qp *qp, const struct sk_buff *skb,
			 struct srdma_pkt *pkt)
{
	const struct srdma_packet_in *in = srdma_packet_in(skb);

	switch (in->order) {
	case SRDMA_NL_ACT_NAK:
		return refuse_by_rule(qp, skb, pkt, srdma_aeth_nak(in->value));
	case SRDMA_NL_ACT_RNR:
		return refuse_by_rule(qp, skb, pkt, srdma_aeth_rnr(in->value));
	case SRDMA_NL_ACT_SILENT:
		pkt->ack_req = false;
		if (!(pkt->op->flags & SRDMA_OP_RD_ATOMIC))
			return false;
		trace_srdma_packet(qp, skb, pkt, SRDMA_STAT_RX_PACKETS);
		return true;
	case SRDMA_NL_ACT_CNP:
		srdma_notify_peer(qp, &qp->recv, &qp->resp.path);
		return false;
	}
	return false;
}
