// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An answer that is missing: asked for again, or given some time, since it may only
 * have been overtaken. On a network that has changed the order of responses before, it
 * is given a part of a round trip. On others it is asked for at once.
 *
 * An answer that comes twice tells: what was asked for again had been on its way.
 *
 * All of this is rare, and nothing is inlined.
 */
#include <linux/minmax.h>
#include <linux/types.h>

#include "psn.h"
#include "rc_req.h"
#include "rc_req_priv.h"

/* Quarters of a round trip, at most. */
#define LATE_MOST	8

/* More does not count. */
#define REORDERS_MOST	(4 * SRDMA_REQ_REORDERS)

static void forget_the_queue(struct srdma_rc_req *req)
{
	srdma_req_delay_not_lost(req);
	/* Nothing waits for the next burst to be due any more, nor does a timer. */
	srdma_req_rearm(req);
}

/*
 * It was no loss, and the window is as it was. But on a line that is slow, or that many
 * share, not all else was late, too: unless this happens all the time.
 */
static void take_loss_back(struct srdma_rc_req *req)
{
	u32 before = min(req->cwnd_before, req->win_top);

	forget_the_queue(req);
	if (before <= req->cwnd || srdma_req_is_slow(req) ||
	    (srdma_req_delay_is_slow_line(req) && !srdma_req_order_changes(req)))
		return;
	req->cwnd = before;
	req->ssthresh = max(req->ssthresh, before);
	req->recovering = false;
	req->cwnd_before = 0;
}

/* Now a queue is no reason any more, for it does not change the order. */
noinline void srdma_req_overtaken(struct srdma_rc_req *req)
{
	req->reorders = min(req->reorders + SRDMA_REQ_REORDERS, REORDERS_MOST);
	if (srdma_req_order_changes(req))
		forget_the_queue(req);
}

noinline void srdma_req_came_twice(struct srdma_rc_req *req, u32 psn)
{
	if (srdma_psn_before(psn, req->asked_psn) ||
	    !srdma_psn_before(psn, req->asked_end))
		return;
	req->asked_end = req->asked_psn;
	req->late = min(2 * req->late + 1, LATE_MOST);
	/* A probe asks for more than was missed, and what it asks for may only be slow. */
	if (req->asked_psn == req->probe_psn)
		return;
	if (!srdma_psn_before(psn, req->asked_to))
		return;
	srdma_req_overtaken(req);
	/* Where a queue is always full, that may have been slow, too. */
	if (!srdma_req_delay_is_slow_line(req) || srdma_req_order_changes(req))
		take_loss_back(req);
}

noinline void srdma_req_was_late(struct srdma_rc_req *req, u32 psn)
{
	srdma_req_overtaken(req);
	if (srdma_psn_before(psn, req->recover_psn))
		take_loss_back(req);
}

static void give_time(struct srdma_rc_req *req, u32 psn, u64 now)
{
	req->late_at = now + req->srtt_ns * req->late / 4;
	req->late_psn = psn;
}

/* Has all come by now that was missed when it was given time? */
static bool is_here(const struct srdma_rc_req *req)
{
	return !srdma_psn_before(req->una_psn, req->late_psn);
}

noinline bool srdma_req_may_be_late(struct srdma_rc_req *req, u32 psn, u64 now)
{
	if (!(req->srtt_ns * req->late / 4))
		return false;
	if (!req->late_at || is_here(req))
		give_time(req, psn, now);
	srdma_req_rearm(req);
	return true;
}

/* Is @idx going to be asked for again anyway? */
static bool is_being_asked(const struct srdma_rc_req *req, u32 idx)
{
	const struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);

	/* Unless it is past the first hole already, and waits for the window. */
	if (msg->lost && (!msg->high || msg->asked <= msg->done >> req->mtu_shift))
		return true;
	/* All is going to be sent again, and this is still to come. */
	if (!srdma_req_resending(req) || !req->resend_all)
		return false;
	if (req->cur != idx)
		return req->cur - req->una < idx - req->una;
	return srdma_psn_dist(msg->psn, req->cur_psn) <= msg->done >> req->mtu_shift;
}

void srdma_req_ask_for_lost(struct srdma_rc_req *req, u32 idx, u64 now)
{
	req->probed = false;
	/* If it is of the same loss, the window at least does not grow. */
	if (req->recovering)
		req->slow.is_cut = true;
	srdma_req_note_loss(req);
	srdma_req_ask_again(req, idx, now);
}

/*
 * The answer to @idx is lost, or what of it was asked for again: ask at once. For
 * the oldest message that costs a retry; with none left the ACK timer decides, as
 * the network may only have changed the order. Returns whether it asks.
 */
bool srdma_req_lost(struct srdma_rc_req *req, u32 idx, u64 now)
{
	if (is_being_asked(req, idx))
		return false;
	if (idx == req->una) {
		if (!req->retry_left)
			return false;
		req->retry_left--;
		srdma_req_none_on_its_way(req);
	}
	srdma_rc_req_msg(req, idx)->asked = 0;
	srdma_req_ask_for_lost(req, idx, now);
	return true;
}

/*
 * A round goes from the first hole to the last, and so do the answers. Where windows are
 * large the end of the round tells soon enough; where the order changes, only that does.
 */
bool srdma_req_shows_lost(const struct srdma_rc_req *req, u32 idx, u32 at)
{
	const struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);

	return srdma_req_is_slow(req) && req->anew && !srdma_req_order_changes(req) &&
	       idx == req->una && idx == req->cur && srdma_req_resending(req) &&
	       at > msg->done >> req->mtu_shift &&
	       at < srdma_psn_dist(msg->psn, req->cur_psn);
}

/* The round goes on behind that. It is another loss. */
noinline void srdma_req_lost_again(struct srdma_rc_req *req, u32 at, u64 now)
{
	struct srdma_rc_msg *msg = srdma_rc_req_msg(req, req->una);
	u32 psn = srdma_psn_add(msg->psn, at);
	u32 tail = req->cur_psn;
	u32 asked = msg->asked;

	/* It was asked for since, and what was asked for later has not come yet. */
	if (srdma_req_is_lost_again(req, req->una_psn) &&
	    srdma_psn_before(psn, req->mend->tail_psn))
		return;
	if (!req->retry_left)
		return;
	req->retry_left--;
	req->recovering = false;
	msg->asked = 0;
	srdma_req_ask_for_lost(req, req->una, now);
	msg->asked = asked;
	req->mend->lost_psn = psn;
	req->mend->tail_psn = tail;
}

/*
 * A peer answers what was asked for again as it is asked, and older messages first. So
 * what of these was asked for before @psn, and has not come, is lost once more.
 */
noinline void srdma_req_came_again(struct srdma_rc_req *req, u32 idx, u32 psn, u64 now)
{
	u32 look, i = req->una;

	if (!req->anew || srdma_psn_before(psn, req->asked_psn) ||
	    !srdma_psn_before(psn, req->asked_to))
		return;
	for (look = 0; look < SRDMA_REQ_LOOK_AHEAD && i != idx && i != req->fresh;
	     look++, i++) {
		struct srdma_rc_msg *msg = srdma_rc_req_msg(req, i);

		if (!msg->high || msg->asked <= msg->done >> req->mtu_shift)
			continue;
		if (srdma_req_may_be_late(req, psn, now))
			msg->asked = 0;
		else
			srdma_req_lost(req, i, now);
	}
}

/*
 * What follows the part of a READ that a probe has asked for. In front of what is kept that
 * is another hole, or the rest of one. Who may forget what is in front is asked for the
 * rest when that has come.
 */
static u32 behind_probe(const struct srdma_rc_req *req,
			const struct srdma_rc_msg *msg)
{
	u32 at = msg->far;

	if (msg->high && req->anew)
		at = srdma_req_missing(req, msg, msg->asked);
	if (!req->anew && !srdma_msg_part_begins(msg, at))
		return srdma_msg_sent_end(req, msg);
	return srdma_psn_add(msg->psn, at);
}

/*
 * A probe has asked for this. What was asked for before the probe, and has not come, is
 * lost: its answers would have been in front.
 */
noinline void srdma_req_hear_of_probe(struct srdma_rc_req *req,
				      const struct srdma_rc_req_act *act, u64 now)
{
	struct srdma_rc_msg *msg = srdma_rc_req_msg(req, act->idx);
	u32 psn = srdma_psn_add(msg->psn, act->offset >> req->mtu_shift);
	u32 next = behind_probe(req, msg);

	req->probe_out = false;
	if (psn != req->probe_psn || act->idx != req->una || next == req->max_psn)
		return;
	srdma_req_note_loss(req);
	/* It took as long as a timeout to find that out: so feel the way. */
	if (!req->srtt_ns)
		req->cwnd = min(req->cwnd, SRDMA_REQ_CWND_RESTART);
	srdma_req_go_back(req, now);
	/* Unless this was only late, and what follows is, too. */
	req->rtt_resend = !srdma_msg_part_begins(msg, act->offset >> req->mtu_shift);
	req->cur_psn = next;
	if (next == srdma_msg_end(msg))
		req->cur++;
}

noinline void srdma_req_ask_for_late(struct srdma_rc_req *req, u64 now)
{
	struct srdma_rc_msg *msg;
	u32 idx = req->una;
	u32 look;

	req->late_at = 0;
	/* What is missed now has not had its time. */
	if (is_here(req)) {
		give_time(req, req->max_psn, now);
		return;
	}
	for (look = 0; look < SRDMA_REQ_LOOK_AHEAD && idx != req->fresh;
	     look++, idx++) {
		msg = srdma_rc_req_msg(req, idx);
		if (!srdma_msg_is_rd(msg) || msg->answered)
			continue;
		if (msg->passed)
			msg->cut = msg->high;
		if (msg->passed || (msg->high && msg->asked <=
				    msg->done >> req->mtu_shift))
			srdma_req_lost(req, idx, now);
		else if (req->anew && msg->asked < msg->high && !msg->lost)
			srdma_req_ask_for_lost(req, idx, now);
		msg->passed = false;
	}
}
