// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A request for which no receive request is posted yet. The receiver is often about
 * to post one: it has been given completions, and posts as it polls them. An SRQ
 * that few receives serve many QPs from is empty for a moment again and again. A
 * RNR NAK would cost the peer its wait, 0.6 ms and more, all packets behind the
 * refused one, and another attempt that may find the queue empty as well.
 *
 * So the request waits here for a moment, and the inbox behind it. It is tried again
 * whenever the engine runs, and when the moment is over, for the last time. User space
 * posts without a call, so that nobody could say when it does. To the peer it looks
 * like a responder that takes its time. What came in the same skb for another engine
 * passes.
 *
 * What was held behind a hole does not wait: its place is in front of the inbox.
 */
#include <linux/bottom_half.h>
#include <linux/ktime.h>

#include "engine/engine.h"
#include "objects/device.h"
#include "observe/counters.h"
#include "observe/stall.h"
#include "observe/trace.h"
#include "responder/hold.h"
#include "responder/wait.h"
#include "wire/arrived.h"
#include "wire/drop.h"
#include "wire/packet_in.h"

/*
 * Longer than a program takes from a completion to the next post, for a batch of
 * them; and not longer than a requester's patience: one of ours probes after 100 us at the
 * earliest.
 */
#define MOMENT_NS	(100 * NSEC_PER_USEC)

/**
 * srdma_wait_begin - have a request wait until there is a receive request for it
 * @qp: queue pair
 * @skb: what it came in, from the inbox
 * @pkt: the packet last returned, or the run made of it; nothing was done with it
 *
 * Return: whether it waits, or still does: then @skb is not the caller's any more.
 */
noinline bool srdma_wait_begin(struct srdma_qp *qp, struct sk_buff *skb,
			       const struct srdma_pkt *pkt)
{
	struct srdma_responder *resp = &qp->resp;
	bool again = resp->wait_until && resp->wait_psn == pkt->psn;
	u64 now = ktime_get_ns();

	if (srdma_hold_any(qp) || (again && now >= resp->wait_until) ||
	    !srdma_engine_hold(&qp->recv, skb->truesize)) {
		/* When the peer sends it again, it may wait again. */
		resp->wait_until = 0;
		return false;
	}
	srdma_packet_in_let_pass(skb, qp);
	srdma_packet_in_back(skb, pkt);
	resp->waiting = skb;
	if (again)
		return true;
	resp->wait_psn = pkt->psn;
	resp->wait_until = now + (srdma_stall(SRDMA_STALL_LINGER) ?
				  SRDMA_STALL_LINGER_NS : MOMENT_NS);
	srdma_stat_inc(qp->dev, SRDMA_STAT_REQ_WAITED);
	trace_srdma_packet(qp, skb, pkt, SRDMA_STAT_REQ_WAITED);
	return true;
}

/**
 * srdma_wait_take - take what waits
 * @qp: queue pair of which a request waits
 *
 * Return: the skb, with it as its next packet; to be looked at now, or freed.
 */
noinline struct sk_buff *srdma_wait_take(struct srdma_qp *qp)
{
	struct sk_buff *skb = qp->resp.waiting;

	qp->resp.waiting = NULL;
	srdma_engine_release(&qp->recv, skb->truesize);
	return skb;
}

/**
 * srdma_wait_wake - have the engine run when the wait is over
 * @qp: queue pair of which a request waits
 */
noinline void srdma_wait_wake(struct srdma_qp *qp)
{
	srdma_hold_wake_at(qp, qp->resp.wait_until);
}

/* The engine is stopped, and its timer. */
void srdma_wait_clear(struct srdma_qp *qp)
{
	struct sk_buff *skb;

	qp->resp.wait_until = 0;
	if (!srdma_wait_any(qp))
		return;
	local_bh_disable();
	skb = srdma_wait_take(qp);
	srdma_drop(qp->dev, SRDMA_STAT_RX_WRONG_STATE,
		   srdma_packet_in(skb)->left);
	srdma_packet_in_free(skb);
	local_bh_enable();
}
