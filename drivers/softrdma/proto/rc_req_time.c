// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The clockwork of a requester: ACK timeout, probes, RNR wait, round trips,
 * and the window that shrinks when packets get lost.
 *
 * A connection manager negotiates an ACK timeout of a second or so. To lose
 * the last packet of a message must not cost that much: after a few round
 * trips of silence the oldest incomplete packet is sent once more (a legal
 * duplicate) and the peer says where it is. Probes are not retries and do
 * not count as such; there is a small number of them, and they wait longer and
 * longer.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "aeth.h"
#include "psn.h"
#include "rc_req.h"
#include "rc_req_priv.h"

#define PROBES_MAX	10
#define PROBE_MIN_NS	100000ull	/* coalesced ACKs, a busy peer */

/*
 * No round trip is measured yet. As long as that TCP waits then (RFC 6298), which
 * is longer than any on Earth: a probe asks for a whole READ again, and a trip with
 * a probe in it is not measured. But what has not asked for an answer gets none.
 */
#define PROBE_FIRST_NS	1000000000ull
#define PROBE_QUIET_NS	2000000ull

/*
 * A smaller window than CWND_FLOOR_MOST, or SRDMA_REQ_CWND_FLOOR if all of it may have to
 * be repeated, makes many acknowledges, short trains and small parts of READs, and is of
 * no use to others, unless it takes longer than this to pass.
 */
#define CWND_FLOOR_NS	1000000ull
#define CWND_FLOOR_MOST	64u

/* For so long a trip may have waited for a CPU; and so long is the turn of a process. */
#define CPU_WAIT_NS	5000000ull
#define CPU_TURN_NS	4000000ull

/* A short trip in which less passed takes this part of the difference: an eighth. */
#define CWND_FLOOR_FALL	8u

/* Nor to who gets fewer packets than this through a long path, in a round trip. */
#define CWND_FLOOR_FAR	8

/* So many doublings say that the round trip that is known is none. */
#define BACKOFF_WRONG	2

/* A packet alone takes so long on a slow line, ns; what takes longer says less of it. */
#define ALONE_NS	2000000ull
#define ALONE_MOST	16u

/*
 * Above ssthresh it grows by this part of what is acknowledged: an eighth; on a long path
 * by a quarter, as long as it has no queue, and what is sent stays in order.
 */
#define GROW_SHIFT	3
#define GROW_LONG_SHIFT	2

/*
 * A timeout is to be seen no sooner than the local ACK timeout and no later
 * than four times that (9.7.6.1.3). Probes find losses long before, so a retry
 * is spent as late as may be: it is rather the peer, or a queue on the way,
 * that takes its time, and to send all again would only add to it. But a peer
 * that has never said anything may well not be there, and then it is that
 * timeout, and the retries, by which a program chooses how long it waits.
 */
#define PATIENCE	4

void srdma_req_set_patience(struct srdma_rc_req *req)
{
	req->timeout_ns = srdma_ack_timeout_ns(req->timeout);
	if (req->heard)
		req->timeout_ns *= PATIENCE;
	srdma_req_rearm(req);
}

/*
 * The first packet went alone, and what follows may wait behind it for as long, each. But
 * one that takes longer than ALONE_NS has waited itself; and where so many have passed,
 * one of them has asked.
 */
static u64 after_first(const struct srdma_rc_req *req)
{
	u32 flight = srdma_req_dist(req, req->cur_psn);

	return min(max(flight, 4u) * req->srtt_ns,
		   ALONE_MOST * max(req->srtt_ns, ALONE_NS));
}

/*
 * Twice a round trip and its spread; @first as long as none is known, but in front of
 * the timeout, and then as late as may be: it may be the trip that is long.
 */
static u64 two_trips(const struct srdma_rc_req *req, u64 first)
{
	u64 most = req->timeout_ns;
	u64 wait = first;

	if (likely(req->srtt_ns && !req->rtt_alone)) {
		wait = max(2 * req->srtt_ns + 4 * req->rttvar_ns, PROBE_MIN_NS);
		most /= 2;
	} else {
		if (req->srtt_ns)
			wait = min(first, max(after_first(req), PROBE_MIN_NS));
		most -= most / 8;
	}
	return most ? min(wait, most) : wait;
}

/*
 * A round trip during which there was a probe is not measured, only how long it took at
 * least: should they have become longer, the doubling finds it out, and so it is kept
 * until one is measured again.
 */
static u32 doublings(const struct srdma_rc_req *req)
{
	return min(req->probes + req->backoff, PROBES_MAX);
}

/* It takes longer than a CPU is waited for: the next one may have to add a turn. */
static bool trip_is_long(const struct srdma_rc_req *req)
{
	return req->srtt_ns >= CPU_WAIT_NS && !req->rtt_guessed && !req->rtt_alone;
}

/*
 * Where many share a slow line each has a packet or two on the way: of what is lost only
 * a probe finds out, and the others do not wait meanwhile. It is lost as easily as any.
 */
static noinline u64 next_probe_far(const struct srdma_rc_req *req, u64 wait)
{
	u64 spread = max(max(req->srtt_ns / 2, 4 * req->rttvar_ns), CPU_TURN_NS);

	return min(wait, req->srtt_ns + spread) << (doublings(req) - !!req->probes);
}

u64 srdma_req_next_probe(const struct srdma_rc_req *req, u64 now)
{
	bool quiet = req->unasked && req->cur == req->head;
	u64 wait = two_trips(req, quiet ? PROBE_QUIET_NS : PROBE_FIRST_NS);
	u32 shift = doublings(req);

	if (unlikely(trip_is_long(req)))
		wait = next_probe_far(req, wait);
	else
		wait <<= shift;
	if (likely(!shift))
		return now + wait;
	/*
	 * A queue that others always keep full has no room for most of what comes: it
	 * takes more tries than there are retries.
	 */
	if (req->timeout_ns && req->retry_left + 1 < req->retry_cnt)
		wait = min(wait, req->timeout_ns / 4);
	return now + wait;
}

u64 srdma_req_longest_trip(const struct srdma_rc_req *req)
{
	return two_trips(req, PROBE_QUIET_NS) / 2 << doublings(req);
}

void srdma_req_probe_sent(struct srdma_rc_req *req,
			  const struct srdma_rc_burst *burst, u64 now)
{
	bool was_asked = req->unasked < srdma_req_dist(req, req->max_psn);

	req->probe_due = false;
	req->unasked = 0;
	req->probe_out = true;
	req->probe_psn = burst->b.psn;
	if (req->mend)
		req->mend->probe_end = req->max_psn;
	/* It has all that is missing reported again. */
	if (burst->b.stamp)
		req->again_count = 0;
	/* Whichever copy is answered: it took no less. But that is no first trip. */
	req->rtt_timed = false;
	if (req->srtt_ns) {
		srdma_req_time_trip(req, burst->b.psn, true, now);
		req->rtt_probe = true;
	}
	if (srdma_msg_is_rd(burst->msg)) {
		/* Nothing was heard for long: then there is no more on its way. */
		srdma_req_none_on_its_way(req);
		burst->msg->cut = burst->msg->high;
		if (burst->b.offset || srdma_req_is_narrow(req)) {
			req->recovering = false;
			srdma_req_note_loss(req);
		}
		srdma_req_note_asked(req, burst->msg, &burst->b);
	}
	req->probe_at = srdma_req_next_probe(req, now);
	/* Nobody is late who was not asked. */
	if (was_asked)
		req->probes++;
	srdma_req_rearm(req);
}

/* When something outstanding has to be looked after, 0 for never. */
static u64 next_look(struct srdma_rc_req *req)
{
	u64 at = 0;

	if (!srdma_req_outstanding(req)) {
		req->late_at = 0;
		return 0;
	}
	if (req->timeout_ns)
		at = req->heard_at + req->timeout_ns;
	if (req->probes < PROBES_MAX && !req->probe_due &&
	    (!at || req->probe_at < at))
		at = req->probe_at;
	if (req->late_at && (!at || req->late_at < at))
		at = req->late_at;
	return at;
}

void srdma_req_rearm(struct srdma_rc_req *req)
{
	u64 pace_at = req->slow.pace_at;

	req->deadline = 0;
	if (srdma_req_dead(req))
		return;
	if (req->rnr_until) {
		req->deadline = req->rnr_until;
		return;
	}
	req->deadline = next_look(req);
	if (unlikely(pace_at) && (!req->deadline || pace_at < req->deadline))
		req->deadline = pace_at;
}

/* Something was sent. */
static void set_next_look(struct srdma_rc_req *req, u64 now)
{
	req->unlooked = false;
	if (!req->probes)
		req->probe_at = srdma_req_next_probe(req, now);
	srdma_req_rearm(req);
}

void srdma_req_note_sent(struct srdma_rc_req *req, bool was_idle, u64 now)
{
	if (was_idle)
		req->heard_at = now;
	if (req->settles)
		req->unlooked = true;
	else
		set_next_look(req, now);
}

void srdma_rc_req_settle_now(struct srdma_rc_req *req, u64 now)
{
	if (req->lag || req->trails)
		srdma_req_advance(req, now);
	if (req->unlooked)
		set_next_look(req, now);
}

/*
 * In a trip that begins when little is on its way, little gets through: it was @now, and
 * says that the path holds less only if a queue @kept the rest.
 */
static u32 smoothed(u32 holds, u32 now, bool kept)
{
	if (now > holds)
		return (holds + now + 1) / 2;
	return kept ? holds - (holds - now) / 4 : holds;
}

/* How many packets got through in the trip that is measured. */
static u32 passed(const struct srdma_rc_req *req)
{
	return max(srdma_psn_diff(srdma_req_through(req), req->rtt_through), 0);
}

/*
 * Of a long path more may be on the way than @win_near, as long as it is not rather a
 * queue that made it long. When a trip is measured, twice what it delivered is on the
 * way: so the window may grow to four times what the path holds, and double in the next
 * trip, too. When a queue begins to fill, to twice that; and when it holds more than the
 * path does, the window had grown too far.
 */
static void widen(struct srdma_rc_req *req, u64 rtt)
{
	u64 delivered = passed(req);
	u32 holds, times;

	if (!req->rtt_again && (!req->rtt_min_ns || rtt < req->rtt_min_ns))
		req->rtt_min_ns = rtt;
	if (req->rtt_min_ns < SRDMA_REQ_FAR_NS)
		return;
	holds = div64_u64(delivered * req->rtt_min_ns, rtt);
	req->delay.holds = smoothed(req->delay.holds, holds,
				    rtt > req->rtt_min_ns + req->rtt_min_ns / 32);
	if (rtt > 2 * req->rtt_min_ns) {
		req->win_top = min(req->win_top, max(2 * holds, req->win_near));
		req->cwnd = min(req->cwnd, req->win_top);
		return;
	}
	times = rtt > req->rtt_min_ns + req->rtt_min_ns / 4 ? 2 : 4;
	req->win_top = clamp(times * holds, req->win_top, req->win_max);
}

/*
 * What passes in a millisecond is left by losses; many that share a slow line
 * have less than that each. But a long path, on which there is no queue, says
 * nothing by its time of how much there is room for: unless more waits to be
 * sent, and so little passes that it is rather a queue that others keep full.
 */
static noinline u8 floor_of(const struct srdma_rc_req *req, u64 rtt)
{
	u64 packets = passed(req);

	if (req->rtt_min_ns >= SRDMA_REQ_FAR_NS) {
		if (!req->overfills && rtt <= req->rtt_min_ns + req->rtt_min_ns / 4 &&
		    (packets >= CWND_FLOOR_FAR || srdma_rc_req_all_sent(req)))
			return SRDMA_REQ_CWND_FLOOR;
		if (srdma_req_delay_only_lost(req)) {
			packets = req->delay.holds;
			rtt = req->rtt_min_ns;
		}
	}
	return clamp_t(u64, packets * CWND_FLOOR_NS / rtt, 1,
		       CWND_FLOOR_MOST);
}

/*
 * In a short trip little passes of what is little. One that is longer may have waited for
 * a CPU: so of much half is left, until the next one.
 */
static u32 floor_after_fall(u32 from, u32 floor, u64 rtt)
{
	if (rtt < SRDMA_REQ_FAR_NS)
		return from - DIV_ROUND_UP(from - floor, CWND_FLOOR_FALL);
	if (rtt < CPU_WAIT_NS && from > SRDMA_REQ_CWND_FLOOR)
		return max(floor, from / 2);
	return floor;
}

static void set_floor(struct srdma_rc_req *req, u64 rtt)
{
	u32 floor = CWND_FLOOR_MOST;

	/* In less time than that, one packet is enough. */
	if (rtt > CWND_FLOOR_NS / CWND_FLOOR_MOST)
		floor = floor_of(req, rtt);
	if (floor < req->cwnd_floor)
		floor = floor_after_fall(req->cwnd_floor, floor, rtt);
	req->cwnd_floor = floor;
}

static void begin_rtt(struct srdma_rc_req *req, u64 rtt)
{
	req->srtt_ns = max(rtt, 1ull);
	req->rttvar_ns = rtt / 2;
}

void srdma_req_first_answer(struct srdma_rc_req *req, u64 now)
{
	req->heard = true;
	if (!req->probe_out && !req->back_at) {
		begin_rtt(req, now - req->heard_at);
		req->rtt_guessed = true;
	}
	srdma_req_set_patience(req);
}

/*
 * What was sent before may be answered to the earlier copy, and says little (Karn). But
 * that is more than nothing, or than a round trip that many probes have shown to be wrong.
 */
bool srdma_req_may_time(const struct srdma_rc_req *req, bool again)
{
	return !again || req->rtt_resend || !req->srtt_ns ||
	       req->backoff >= BACKOFF_WRONG;
}

/*
 * The answer to this copy, or to an earlier one: the trip took no less. It replaces what
 * is known to be wrong, or nothing at all.
 */
static noinline void takes_no_less(struct srdma_rc_req *req, u64 rtt)
{
	u64 wait = two_trips(req, PROBE_FIRST_NS) << req->backoff;

	if (rtt <= req->srtt_ns)
		return;
	begin_rtt(req, rtt);
	req->rtt_guessed = true;
	/* What doublings have shown is not to be doubled again. */
	while (req->backoff && two_trips(req, PROBE_FIRST_NS) << req->backoff > wait)
		req->backoff--;
	set_floor(req, rtt);
}

/*
 * Something was sent again, and answered. A trip that is shorter than any that is known
 * is one of an earlier copy; and as long as none is, each may be, unless the peer has
 * refused those. A probe is one copy more.
 */
static bool is_of_this_copy(const struct srdma_rc_req *req, u64 rtt)
{
	if (!req->rtt_resend || req->rtt_probe)
		return false;
	return req->rtt_min_ns ? rtt >= req->rtt_min_ns : req->rnr_open;
}

/*
 * It is not known what that was an answer to. But if it comes in time, again and again,
 * it need not be waited for as long as probes have shown it to be. (To a probe itself it
 * comes soon if the trip is longer than what was waited for.)
 */
static noinline void note_unsure(struct srdma_rc_req *req, u64 rtt)
{
	if (req->backoff && rtt <= req->srtt_ns && !req->rtt_probe)
		req->backoff--;
	if (!req->rtt_resend || req->rtt_probe || !req->rtt_min_ns)
		takes_no_less(req, rtt);
	/* How much passes meanwhile does not depend on that. */
	if (!req->rtt_min_ns)
		set_floor(req, rtt);
	req->rtt_alone = false;
}

/*
 * Of what followed the first packet, @took after the last news, more than one has come at
 * once: they did not take as long as the first one, each. It need not be measured to say
 * so, for what is timed may be what was lost.
 */
static noinline void note_followers(struct srdma_rc_req *req, u64 took)
{
	begin_rtt(req, max(req->srtt_ns, took));
	req->rtt_guessed = true;
	req->rtt_alone = false;
}

/* Smoothed as TCP does it (RFC 6298): gains of 1/8 and 1/4. */
static void measure(struct srdma_rc_req *req, u64 rtt)
{
	u64 off;

	req->rtt_timed = false;
	if (unlikely(req->rtt_again) && !is_of_this_copy(req, rtt)) {
		note_unsure(req, rtt);
		return;
	}
	req->backoff = 0;
	req->probed = false;
	if (unlikely(rtt > req->delay.top_ns || req->delay.full_ns))
		srdma_req_delay_measured(req, rtt);
	widen(req, rtt);
	set_floor(req, rtt);
	if (!req->srtt_ns || req->rtt_guessed) {
		begin_rtt(req, rtt);
		req->rtt_guessed = false;
		return;
	}
	req->rtt_alone = false;
	off = rtt > req->srtt_ns ? rtt - req->srtt_ns : req->srtt_ns - rtt;
	req->rttvar_ns += off / 4;
	req->rttvar_ns -= req->rttvar_ns / 4;
	req->srtt_ns = max(req->srtt_ns - req->srtt_ns / 8 + rtt / 8, 1ull);
}

static u32 grow_shift(const struct srdma_rc_req *req)
{
	if (req->cwnd < req->ssthresh)
		return 0;
	if (srdma_req_is_long(req) && !srdma_req_order_changes(req))
		return GROW_LONG_SHIFT;
	return GROW_SHIFT;
}

/*
 * Doubles every window below ssthresh, above it grows by a part; but not
 * while what is on the way takes longer than any round trip that is known.
 */
static void grow_window(struct srdma_rc_req *req, u32 steps)
{
	u32 shift = grow_shift(req);
	u32 grown;

	if (req->cwnd >= req->win_top || srdma_req_is_slow(req))
		return;
	if (req->backoff && !srdma_req_resending(req))
		return;
	steps = min(steps, req->cwnd) + req->acked_frac;
	grown = steps >> shift;
	req->acked_frac = steps - (grown << shift);
	req->cwnd += min(grown, req->win_top - req->cwnd);
}

/*
 * A lost packet costs one probe, once. More of them say that round trips take
 * longer than any that is known; and so does one again, before a trip could be
 * measured: else there would be one in each, and none ever would be.
 */
static void note_probes(struct srdma_rc_req *req)
{
	u32 late = req->probed ? max_t(u32, req->probes, 2) : req->probes;

	if (!req->probes)
		return;
	req->backoff = min_t(u32, req->backoff + late - 1, PROBES_MAX);
	req->probed = true;
	req->probes = 0;
}

void srdma_req_note_progress(struct srdma_rc_req *req, u32 steps, u64 now)
{
	u32 from = srdma_psn_sub(req->una_psn, steps);
	u64 since = now - req->heard_at;

	req->heard_at = now;
	req->rnr_until = 0;
	req->retry_left = req->retry_cnt;
	req->news = false;
	req->rnr_left = req->rnr_retry;
	req->rnr_row = 0;
	note_probes(req);
	req->probe_due = false;
	req->probe_out = false;
	req->nak_again = false;
	if (req->rtt_timed && srdma_psn_dist(from, req->rtt_psn) < steps)
		measure(req, now - req->rtt_at);
	else if (unlikely(req->rtt_alone) && req->srtt_ns && steps > 1)
		note_followers(req, since);
	if (req->recovering && srdma_psn_dist(from, req->recover_psn) <= steps)
		req->recovering = false;
	req->probe_at = srdma_req_next_probe(req, now);
	/* The caller finds out when to look. */
	req->unlooked = false;
	if (srdma_req_is_slow(req))
		srdma_req_slow_progress(req, steps);
	grow_window(req, steps);
}

/*
 * A peer that holds nothing back has dropped all that is in the window, and the smaller
 * that is, the better. Answers to READs are held back here.
 */
static u32 least_window(const struct srdma_rc_req *req)
{
	if (req->stamp || srdma_msg_is_rd(srdma_rc_req_msg(req, req->una)))
		return req->cwnd_floor;
	return min_t(u32, req->cwnd_floor, SRDMA_REQ_CWND_FLOOR);
}

/*
 * Half of what was on the way when something got lost: the window itself says
 * nothing as long as there is not that much to send. But a long path that loses
 * something by chance goes on being filled. (And a trip in which that is sent
 * again would be taken for a longer one.)
 */
void srdma_req_note_loss(struct srdma_rc_req *req)
{
	u32 flight = min(req->cwnd, srdma_req_dist(req, req->cur_psn));
	u32 left = max(flight / 2, least_window(req));
	bool by_chance;

	if (req->recovering)
		return;
	if (req->reorders)
		req->reorders--;
	by_chance = srdma_req_delay_by_chance(req);
	if (by_chance)
		left = max(left, srdma_req_delay_left(req, flight));
	else if (srdma_req_delay_only_lost(req))
		left = max(left, srdma_req_delay_left_of_long(req, flight));
	req->recovering = true;
	req->cwnd_before = req->cwnd;
	req->recover_psn = req->cur_psn;
	req->ssthresh = min(left, req->win_max);
	req->cwnd = min(req->cwnd, req->ssthresh);
	req->acked_frac = 0;
	if (srdma_req_delay_only_lost(req))
		req->rtt_timed = false;
	srdma_req_delay_loss(req, by_chance);
}

/* Nothing was heard for the ACK timeout: C9-139 and following. */
static enum srdma_req_timer retry(struct srdma_rc_req *req, u64 now)
{
	if (!req->retry_left && !req->news) {
		srdma_req_fail_now(req, req->una, SRDMA_ST_RETRY_EXC);
		return SRDMA_TIMER_FAILED;
	}
	req->retry_left -= !req->news;
	req->news = false;
	req->heard_at = now;
	req->probe_due = false;
	req->probe_at = srdma_req_next_probe(req, now);
	srdma_rc_req_msg(req, req->una)->asked = 0;
	srdma_req_note_loss(req);
	/*
	 * Either as good as all of it was lost, or it waits in a queue on the way
	 * that takes longer than the timeout to drain: of many connections each
	 * of which repeated even SRDMA_REQ_CWND_FLOOR packets, that queue would only grow,
	 * until their retries are used up. So feel the way again.
	 */
	req->cwnd = min(req->cwnd, SRDMA_REQ_CWND_RESTART);
	req->cwnd_before = 0;
	srdma_req_go_back(req, now);
	srdma_req_rearm(req);
	return SRDMA_TIMER_RETRY;
}

/* The peer wanted silence for so long: that is neither a timeout nor a loss. */
noinline void srdma_req_end_rnr_wait(struct srdma_rc_req *req, u64 now)
{
	req->rnr_until = 0;
	req->late_at = 0;
	req->heard_at = now;
	req->probe_at = srdma_req_next_probe(req, now);
}

enum srdma_req_timer srdma_rc_req_timeout(struct srdma_rc_req *req, u64 now)
{
	srdma_rc_req_settle(req, now);
	/* Of what is complete nothing is asked for, whatever the timer was set for. */
	srdma_req_rearm(req);
	if (!req->deadline || now < req->deadline)
		return SRDMA_TIMER_EARLY;
	if (req->rnr_until) {
		srdma_req_end_rnr_wait(req, now);
		srdma_req_rearm(req);
		return SRDMA_TIMER_RNR;
	}
	if (req->slow.pace_at && now >= req->slow.pace_at) {
		req->slow.pace_at = 0;
		srdma_req_rearm(req);
		if (!req->deadline || now < req->deadline)
			return SRDMA_TIMER_PACE;
	}
	if (req->late_at && now >= req->late_at) {
		srdma_req_ask_for_late(req, now);
		srdma_req_rearm(req);
		return SRDMA_TIMER_LATE;
	}
	if (req->timeout_ns && now - req->heard_at >= req->timeout_ns)
		return retry(req, now);
	req->probe_due = true;
	srdma_req_rearm(req);
	return SRDMA_TIMER_PROBE;
}
