// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester while it is notified of congestion: the reaction point of ECN (annex
 * A17.9).
 *
 * Adapters keep a rate (DCQCN, Zhu et al., SIGCOMM 2015). A rate alone needs a queue
 * that holds what was sent too fast until the sender knows. Here a window bounds what is
 * in flight. It is cut once for what was in flight, as TCP does (RFC 3168), and grows so
 * that both get about as much of a queue that they share. What a window cannot say,
 * pacing does (rc_req_pace.c): where many share a slow link, less than one packet is in
 * flight on average.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "psn.h"
#include "rc_req.h"
#include "rc_req_priv.h"

/*
 * A notification takes a quarter of the window. With that, and with a step of a packet,
 * a sender gets about as much as a TCP that halves its window (RFC 3168). Of less than a
 * packet it takes an eighth, or many that share a slow line would leave it idle.
 */
#define CUT_SHIFT	2
#define CUT_SHIFT_FEW	3

/*
 * A round trip in which the window grows by a whole packet, or so much of it that is a
 * queue, of one that is longer without.
 */
#define STEP_NS		2000000ull

/*
 * It is no smaller. Where nobody marks, what many add at once overflows the queue: who
 * has less than four packets is one of many, and adds a part of them.
 */
#define STEP_LEAST	(SRDMA_SLOW_PACKET / 4)

/* In a round trip of that the step is a packet where nobody marks; of half, four. */
#define UNMARKED_NS	5000000u

/*
 * The window is never smaller: a packet in six round trips. Less would be for more than a
 * hundred that share a short queue, and some of a few would wait for long without need.
 */
#define WIN_LEAST	(SRDMA_SLOW_PACKET / 6)

/*
 * When nobody has complained for so many ns, steps are twice as long, after twice that
 * five times; but no longer than an eighth of what was acknowledged, beyond so many
 * packets: who has few shares a slow line, and is lucky if nobody complains.
 */
#define CALM_NS		120000000ull
#define CALM_PARTS	16u
#define CALM_PARTS_MOST	(64ull * CALM_PARTS)
#define FAST_SHIFT	3
#define FAST_FROM	8u

/* After so many calm periods it ends, if it no longer matters. */
#define CALM_MOST	64u

/*
 * A period is what was in flight. But of READs that were asked for as a whole that is much
 * more than what comes of them: after so many windows it is over.
 */
#define PERIOD_MOST	3u

static void slow_begin_period(struct srdma_rc_req *req)
{
	struct srdma_rc_slow *slow = &req->slow;

	slow->acked = 0;
	slow->is_cut = false;
	slow->end_psn = req->cur_psn;
}

/*
 * The window is to be @win. But a long path is left full, by the trips since the last cut.
 * What is known of a queue that overflows, a loss tells (rc_req_delay.c).
 */
static void cut_to(struct srdma_rc_req *req, u32 win)
{
	u32 left = srdma_req_delay_left_of_long(req, srdma_req_slow_window(req));

	req->slow.win = max(max(win, left * SRDMA_SLOW_PACKET), WIN_LEAST);
	if (!req->delay.full_ns)
		req->delay.top_ns = 0;
}

/* Once for what is in flight: more notifications of that say the same. */
static void slow_cut(struct srdma_rc_req *req)
{
	struct srdma_rc_slow *slow = &req->slow;
	u32 shift = slow->win < SRDMA_SLOW_PACKET ? CUT_SHIFT_FEW : CUT_SHIFT;

	cut_to(req, slow->win - (slow->win >> shift));
	slow->calm = 0;
	slow->is_cut = true;
	slow->end_psn = req->cur_psn;
}

/*
 * The first time half of what is in flight, unless a loss of that has halved it already.
 * Half of nothing is no window.
 */
static void slow_down(struct srdma_rc_req *req, u32 flight)
{
	u32 win = flight * SRDMA_SLOW_PACKET;

	slow_begin_period(req);
	req->slow.win = req->recovering ? win : win / 2;
	req->slow.calm = 0;
	req->slow.is_cut = true;
	req->slow.next_at = 0;
}

/* With nothing in flight, what the notification is about is over. */
bool srdma_req_slow_told(struct srdma_rc_req *req)
{
	u32 flight = min(req->cwnd, srdma_req_dist(req, req->cur_psn));
	struct srdma_rc_slow *slow = &req->slow;

	if (srdma_req_dead(req) || (slow->win && slow->is_cut))
		return false;
	if (slow->win)
		slow_cut(req);
	else
		slow_down(req, flight);
	return true;
}

/* Who is told by marks need not guess. */
void srdma_rc_req_congested(struct srdma_rc_req *req)
{
	req->delay.full_ns = 0;
	srdma_req_slow_told(req);
}

/*
 * Is the path long, and not its queue? Who gets few packets through may be one of many
 * that have never seen that queue empty.
 */
static bool is_far(const struct srdma_rc_req *req)
{
	return srdma_req_is_long(req) && req->slow.acked > FAST_FROM;
}

static u32 least_step(const struct srdma_rc_req *req)
{
	if (!req->delay.full_ns)
		return STEP_LEAST;
	return min(req->slow.win / 16, STEP_LEAST);
}

/*
 * So much in a round trip, the same for all that share a queue, or there is no fairness.
 * In a long one less than a packet: many that have few packets each would always fill
 * the queue, and what may not be marked is dropped there. A window of less than a packet
 * has periods of several round trips, and grows to two packets in one of them.
 */
static u32 first_step(const struct srdma_rc_req *req)
{
	u32 win = req->slow.win;

	if (win < SRDMA_SLOW_PACKET)
		return min(SRDMA_SLOW_PACKET * SRDMA_SLOW_PACKET / win,
			   2 * SRDMA_SLOW_PACKET - win);
	if (req->srtt_ns <= STEP_NS || is_far(req))
		return SRDMA_SLOW_PACKET;
	return max_t(u64, div64_u64(STEP_NS * SRDMA_SLOW_PACKET, req->srtt_ns),
		     least_step(req));
}

/*
 * Where nobody marks, trips take as long as the queue is: if that is short, the line is
 * fast, and steps of a packet would take seconds to make shares equal.
 */
static u32 unmarked_step(const struct srdma_rc_req *req)
{
	u64 times = div64_u64(16ull * UNMARKED_NS, max(req->srtt_ns, 1ull));
	u64 most = SRDMA_SLOW_PACKET * times * times >> 8;

	return min_t(u64, req->slow.win / 8, most);
}

/*
 * The longer nobody complains, the more room there seems to be: as on a long path, where
 * steps of a packet would take seconds.
 */
static u32 slow_step(const struct srdma_rc_req *req)
{
	const struct srdma_rc_slow *slow = &req->slow;
	u64 calm = div_u64(slow->calm * req->srtt_ns, CALM_NS / CALM_PARTS);
	u32 most = max(slow->acked, FAST_FROM) - FAST_FROM;
	u32 step = first_step(req);

	if (req->delay.full_ns)
		step = max(step, unmarked_step(req));
	calm = min(calm, CALM_PARTS_MOST);
	return step + min_t(u64, div_u64(step * calm * calm, CALM_PARTS * CALM_PARTS),
			    most * SRDMA_SLOW_PACKET >> FAST_SHIFT);
}

void srdma_req_slow_ends(struct srdma_rc_req *req)
{
	req->slow.win = 0;
	req->slow.pace_at = 0;
}

/* The window goes on from here: what it was is of a time before the congestion. */
static void go_on_from_here(struct srdma_rc_req *req)
{
	req->cwnd = min(req->cwnd, srdma_req_slow_window(req));
	req->ssthresh = req->cwnd;
	req->acked_frac = 0;
	srdma_req_slow_ends(req);
}

/*
 * Does it still keep anything back? On a long path the other window would grow at once to
 * what is too much, and send trains that fill a queue which is not full; and who no longer
 * gives way takes the queue from those who do.
 */
static bool slow_matters(const struct srdma_rc_req *req)
{
	u32 window = srdma_req_slow_window(req);

	if (req->delay.full_ns && srdma_req_delay_matters(req))
		return true;
	return req->rtt_min_ns >= SRDMA_REQ_FAR_NS && window < req->win_top &&
	       req->slow.acked >= window / 2;
}

/* What losses have left of the other window grows along: else nothing would, here. */
static void slow_grow(struct srdma_rc_req *req)
{
	struct srdma_rc_slow *slow = &req->slow;
	u32 packets;

	slow->row = 0;
	if (req->delay.full_ns)
		srdma_req_delay_calm(req);
	slow->win += slow_step(req);
	packets = (slow->win + SRDMA_SLOW_PACKET - 1) / SRDMA_SLOW_PACKET;
	if (packets > req->cwnd)
		req->cwnd = clamp(packets, req->cwnd, max(req->cwnd, req->win_top));
	slow->win = min(slow->win, req->cwnd * SRDMA_SLOW_PACKET);
	if (++slow->calm >= CALM_MOST && !slow_matters(req))
		go_on_from_here(req);
}

noinline u32 srdma_req_slow_window(const struct srdma_rc_req *req)
{
	return max(req->slow.win / SRDMA_SLOW_PACKET, 1u);
}

noinline void srdma_req_slow_progress(struct srdma_rc_req *req, u32 steps)
{
	struct srdma_rc_slow *slow = &req->slow;

	slow->acked += steps;
	if (srdma_psn_before(req->una_psn, slow->end_psn) &&
	    slow->acked < PERIOD_MOST * srdma_req_slow_window(req))
		return;
	if (!slow->is_cut)
		slow_grow(req);
	slow_begin_period(req);
}

/* Where marking did not suffice. */
noinline void srdma_req_slow_loss(struct srdma_rc_req *req)
{
	cut_to(req, req->slow.win / 2);
	req->slow.calm = 0;
}
