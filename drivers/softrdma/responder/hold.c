// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that came behind a hole. The protocol core says which (rc_resp_hold.c).
 * Here is their memory: a clone of what they came in, in the order of their PSNs. It
 * counts as memory that waits in the inbox. When the hole is filled, the receive
 * engine takes them before all others.
 *
 * What a QP of the same device sends is not held, unless it goes as frames, one by one:
 * those a rule may lose.
 */
#include "compat/compat.h"
#include "engine/backlog.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "observe/counters.h"
#include "observe/trace.h"
#include "responder/hold.h"
#include "wire/drop.h"
#include "wire/packet_in.h"

/* So many skbs, since a peer may have us look for the place of each among all. */
#define HOLD_SKBS_MOST	2048

/* While less is held, an skb that pins much is held as it is, and counts for more. */
#define HELD_LOOSELY	SZ_1M

static enum hrtimer_restart hold_over(struct hrtimer *timer)
{
	struct srdma_qp *qp = container_of(timer, struct srdma_qp, resp.timer);

	srdma_engine_kick(&qp->recv, SRDMA_EVENT_TIMER);
	return HRTIMER_NORESTART;
}

void srdma_hold_init(struct srdma_qp *qp)
{
	skb_queue_head_init(&qp->resp.held);
	srdma_compat_hrtimer_setup(&qp->resp.timer, hold_over,
				   HRTIMER_MODE_ABS_SOFT);
}

/**
 * srdma_hold_provide - memory for what the protocol core notes about losses
 * @qp: queue pair
 *
 * A connection that never loses anything does without.
 *
 * Return: whether there is any.
 */
noinline bool srdma_hold_provide(struct srdma_qp *qp)
{
	struct srdma_rc_resp *rc = &qp->resp.rc;

	if (!rc->mend)
		rc->mend = srdma_qp_zalloc(qp, sizeof(*rc->mend));
	return rc->mend;
}

/* Is @psn nearer to the first that is held than to the last? */
static bool is_near_first(const struct sk_buff_head *held, u32 psn)
{
	const struct sk_buff *first = skb_peek(held);
	const struct sk_buff *last = skb_peek_tail(held);

	return first && srdma_psn_diff(psn, srdma_packet_in(first)->psn) <
			srdma_psn_diff(srdma_packet_in(last)->psn, psn);
}

/*
 * Where in the list one with @psn belongs: behind the one returned. Mostly it is the
 * newest, or fills one of the first holes.
 */
static struct sk_buff *place_of(struct sk_buff_head *held, u32 psn)
{
	struct sk_buff *skb;

	if (is_near_first(held, psn)) {
		skb_queue_walk(held, skb)
			if (srdma_psn_after(srdma_packet_in(skb)->psn, psn))
				break;
		return skb->prev;
	}
	skb_queue_reverse_walk(held, skb)
		if (srdma_psn_before(srdma_packet_in(skb)->psn, psn))
			break;
	return skb;
}

/* Is the packet last returned the only one? */
static bool is_only_one(const struct sk_buff *skb)
{
	const struct srdma_packet_in *in = srdma_packet_in(skb);

	return !in->left && in->index == 1;
}

/* For each page that it pins it counts, though others may pin the same. */
static bool is_held_loosely(struct srdma_qp *qp, const struct sk_buff *skb)
{
	return qp->recv.held < HELD_LOOSELY && !skb_has_frag_list(skb) &&
	       srdma_engine_hold(&qp->recv, srdma_backlog_charge(skb));
}

/* Consumes @held. Returns it or its copy, which counts; NULL for want of memory. */
static struct sk_buff *hold_compactly(struct srdma_qp *qp, struct sk_buff *held)
{
	struct sk_buff *compact = srdma_backlog_compact(held);

	if (compact &&
	    srdma_engine_hold(&qp->recv, srdma_backlog_charge(compact)))
		return compact;
	kfree_skb(compact ?: held);
	return NULL;
}

/* Of a packet that is alone its own skb, else a clone; NULL for want of memory. */
static struct sk_buff *put_aside(struct srdma_qp *qp, struct sk_buff *skb,
				 u32 psn)
{
	bool loosely = is_held_loosely(qp, skb);
	struct sk_buff *held;

	if (loosely && is_only_one(skb))
		return skb_get(skb);
	held = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
	if (held) {
		srdma_packet_in_hold(held, psn);
		return loosely ? held : hold_compactly(qp, held);
	}
	if (loosely)
		srdma_engine_release(&qp->recv, srdma_backlog_charge(skb));
	return NULL;
}

/**
 * srdma_hold_back - keep a request until it is expected
 * @qp: queue pair
 * @skb: what it came in
 * @pkt: the packet last returned
 *
 * srdma_hold_end_of() is to follow.
 *
 * Return: whether it is kept.
 */
noinline bool srdma_hold_back(struct srdma_qp *qp, struct sk_buff *skb,
			      const struct srdma_pkt *pkt)
{
	struct sk_buff_head *held = &qp->resp.held;
	struct srdma_rc_resp *rc = &qp->resp.rc;
	struct sk_buff *fresh;

	if (srdma_packet_in(skb)->kind == SRDMA_PACKET_IN_LOOP ||
	    skb_queue_len(held) >= HOLD_SKBS_MOST ||
	    !srdma_rc_resp_wants(rc, pkt) || !srdma_hold_provide(qp))
		return false;
	if (qp->resp.held_from != skb ||
	    !srdma_packet_in_hold_more(qp->resp.held_last, skb, pkt->psn)) {
		fresh = put_aside(qp, skb, pkt->psn);
		if (!fresh)
			return false;
		__skb_queue_after(held, place_of(held, pkt->psn), fresh);
		qp->resp.held_from = skb;
		qp->resp.held_last = fresh;
		qp->resp.held_psn = pkt->psn;
	}
	srdma_rc_resp_hold(rc, pkt);
	srdma_stat_inc(qp->dev, SRDMA_STAT_REQ_HELD);
	/* They are counted when they are taken. */
	srdma_stat_add(qp->dev, SRDMA_STAT_RX_PACKETS, -1);
	srdma_stat_add(qp->dev, SRDMA_STAT_RX_BYTES,
		       -(u64)srdma_pkt_wire_len(pkt->hdr_len, pkt->payload_len));
	trace_srdma_packet(qp, skb, pkt, SRDMA_STAT_REQ_HELD);
	return true;
}

/**
 * srdma_hold_end_of - an skb was looked at
 * @qp: queue pair that holds something, maybe from it
 */
noinline void srdma_hold_end_of(struct srdma_qp *qp)
{
	struct srdma_responder *resp = &qp->resp;

	/* Its own control block says so only now that nobody walks over it. */
	if (resp->held_from && resp->held_from == resp->held_last)
		srdma_packet_in_hold(resp->held_last, resp->held_psn);
	resp->held_from = NULL;
}

static struct sk_buff *let_go(struct srdma_qp *qp)
{
	struct sk_buff *skb = __skb_dequeue(&qp->resp.held);

	srdma_engine_release(&qp->recv, srdma_backlog_charge(skb));
	return skb;
}

/* What is not waited for any more. */
noinline void srdma_hold_drop(struct srdma_qp *qp)
{
	struct sk_buff *skb;

	while (srdma_hold_any(qp)) {
		skb = let_go(qp);
		srdma_drop(qp->dev, SRDMA_STAT_RX_WRONG_STATE,
			   srdma_packet_in(skb)->left);
		kfree_skb(skb);
	}
}

/**
 * srdma_hold_take - take what has become expected
 * @qp: queue pair that holds something
 *
 * Return: one to be looked at now, or NULL. srdma_hold_taken() is to follow.
 */
noinline struct sk_buff *srdma_hold_take(struct srdma_qp *qp)
{
	struct sk_buff *skb = skb_peek(&qp->resp.held);

	if (srdma_psn_after(srdma_packet_in(skb)->psn, qp->resp.rc.epsn))
		return NULL;
	return let_go(qp);
}

/**
 * srdma_hold_taken - it was looked at
 * @qp: queue pair
 * @psn: of its first packet
 *
 * If that was expected and is still, what is behind it is to come again, too.
 */
noinline void srdma_hold_taken(struct srdma_qp *qp, u32 psn)
{
	if (qp->resp.rc.epsn == psn)
		srdma_rc_resp_forget(&qp->resp.rc);
}

/**
 * srdma_hold_settle - what has become expected was taken
 * @qp: queue pair
 */
noinline void srdma_hold_settle(struct srdma_qp *qp)
{
	const struct sk_buff *first = skb_peek(&qp->resp.held);
	struct srdma_rc_resp *rc = &qp->resp.rc;

	/* If nothing is missing in front of it, it was given up. */
	if (first && !srdma_rc_resp_holds(rc) &&
	    srdma_psn_after(srdma_packet_in(first)->psn, rc->epsn))
		srdma_hold_drop(qp);
}

/**
 * srdma_hold_wake_at - have the engine run again
 * @qp: queue pair
 * @at: when at the latest, ns
 *
 * srdma_hold_time() is to follow when it does.
 */
noinline void srdma_hold_wake_at(struct srdma_qp *qp, u64 at)
{
	struct srdma_responder *resp = &qp->resp;

	if (resp->timer_at && resp->timer_at <= at)
		return;
	resp->timer_at = at;
	hrtimer_start(&resp->timer, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
}

/**
 * srdma_hold_time - report what has been missing for long enough
 * @qp: queue pair
 */
noinline void srdma_hold_time(struct srdma_qp *qp)
{
	struct srdma_responder *resp = &qp->resp;
	u64 now = ktime_get_ns();
	u64 at;

	if (resp->timer_at && now >= resp->timer_at)
		resp->timer_at = 0;
	at = srdma_rc_resp_report(&resp->rc, now);
	if (at)
		srdma_hold_wake_at(qp, at);
}

/* The engine is stopped. */
void srdma_hold_clear(struct srdma_qp *qp)
{
	hrtimer_cancel(&qp->resp.timer);
	qp->resp.timer_at = 0;
	local_bh_disable();
	srdma_hold_drop(qp);
	local_bh_enable();
}
