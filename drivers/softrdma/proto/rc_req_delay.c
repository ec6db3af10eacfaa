// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Congestion where nobody marks: losses tell how long round trips are when a queue is
 * full, and round trips tell when it is about to be. Then it counts as marking
 * (rc_req_slow.c).
 *
 * Who fills a queue until it overflows loses what was sent last, and finds out late. Of
 * many that share a slow line, some would always wait for that: those in flight take the
 * room of each packet that leaves, and one that is repeated finds none.
 */
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "rc_req.h"
#include "rc_req_priv.h"

/*
 * A line is slow, or shared by many, if no more packets than this get through it in a
 * millisecond (cwnd_floor), and round trips are longer than what may only be a change of
 * order. Of a faster one it takes trips much longer than the shortest: of a path that may
 * be long more so, for its queue is often long enough for it.
 */
#define SLOW_FLOOR	8u
#define SLOW_NS		2500000ull
#define NEAR_NS		5000000ull

/*
 * Who has fewer packets in flight may be one of many who have never seen the queue empty:
 * then it is not the path that is long.
 */
#define LONG_FROM	32u

/*
 * Each time that a queue is too long, it is believed to have room for this part more, or,
 * the fifth time in a row, for an eighth: those who share it do not give way then, as TCP
 * does not, nor who takes it to be longer. And a trip that was longer than one is thought
 * to be moves that by this part of the difference: it may have waited for something else.
 */
#define ROOM_SHIFT	7
#define FULL_GAIN	8
#define ROWS_MOST	4

/*
 * Who has so many packets in flight, or fewer, is one of many: if each of them believed
 * more and more, the queue would overflow all the time. So that is forgotten again, by the
 * same part in each period in which the queue is not too long, if it is less than a packet;
 * of two packets by an eighth of that.
 */
#define FORGET_MOST	(4 * SRDMA_SLOW_PACKET)

/*
 * A quarter of the queue is to be left to others; and a part of it more for each packet in
 * flight beyond so many, up to three quarters.
 */
#define SPARE_PARTS	256u
#define SPARE_LEAST	64u
#define SPARE_MOST	192u
#define SPARE_FROM	24u

bool srdma_req_delay_is_slow_line(const struct srdma_rc_req *req)
{
	return req->cwnd_floor <= SLOW_FLOOR;
}

static bool overflows(const struct srdma_rc_req *req)
{
	u64 least = req->rtt_min_ns;
	u64 trip = req->srtt_ns;

	/* Then trips, and losses, say little. */
	if (srdma_req_order_changes(req))
		return false;
	if (trip >= SLOW_NS && srdma_req_delay_is_slow_line(req))
		return true;
	if (trip < SRDMA_REQ_FAR_NS)
		return false;
	if (req->overfills)
		return true;
	if (trip < SLOW_NS)
		return false;
	if (least < NEAR_NS && req->delay.top_ns > 5 * least / 4)
		return least;
	return least && trip > 5 * least / 2;
}

/*
 * More was believed to be room for than there was: not all of that is forgotten. Who has
 * measured nothing since the last loss goes by the trip that is known, or would have to
 * lose something each time.
 */
static void learn(struct srdma_rc_req *req)
{
	struct srdma_rc_delay *delay = &req->delay;
	u64 top = delay->top_ns;

	if (!delay->full_ns && !top)
		top = req->srtt_ns;
	if (top)
		delay->full_ns = max((delay->full_ns + top) / 2, top);
	delay->top_ns = 0;
	delay->more_ns = 0;
}

/* Then it is this end that keeps what comes behind a hole, whatever the peer does. */
static bool is_of_a_read(const struct srdma_rc_req *req)
{
	return srdma_msg_is_rd(srdma_rc_req_msg(req, req->una));
}

/* The longest round trip since the last loss, if one was measured. */
static u64 recent_top(const struct srdma_rc_req *req)
{
	return max(req->delay.top_ns, req->srtt_ns);
}

/*
 * Since the last loss, was half of the room in the queue left? Of a slow line, or of one
 * that many share, what others send may have filled it meanwhile.
 */
static bool had_room(const struct srdma_rc_req *req)
{
	return recent_top(req) < req->rtt_min_ns / 2 + req->delay.full_ns / 2 &&
	       !srdma_req_delay_is_slow_line(req);
}

noinline bool srdma_req_delay_only_lost(const struct srdma_rc_req *req)
{
	return req->rtt_min_ns >= SRDMA_REQ_FAR_NS &&
	       (req->stamp || is_of_a_read(req));
}

noinline bool srdma_req_delay_by_chance(const struct srdma_rc_req *req)
{
	if (!srdma_req_delay_only_lost(req))
		return false;
	if (req->delay.full_ns)
		return had_room(req);
	return !srdma_req_is_slow(req) && !overflows(req);
}

/* What is sent, and never gets through, does not count. */
noinline u32 srdma_req_delay_left(const struct srdma_rc_req *req, u32 flight)
{
	u64 least = req->rtt_min_ns;

	return min_t(u64, div64_u64(flight * least, max(recent_top(req), least)),
		     req->delay.holds);
}

noinline u32 srdma_req_delay_left_of_long(const struct srdma_rc_req *req, u32 flight)
{
	if (req->rtt_min_ns < SRDMA_REQ_LONG_NS || flight < LONG_FROM)
		return 0;
	return srdma_req_delay_left(req, flight);
}

/* What is lost by chance says nothing of the queue. */
noinline void srdma_req_delay_loss(struct srdma_rc_req *req, bool by_chance)
{
	bool was_slow = srdma_req_is_slow(req);
	bool is_full = was_slow || overflows(req);

	if (by_chance) {
		req->delay.top_ns = 0;
		return;
	}
	if (!is_full)
		return;
	learn(req);
	if (was_slow)
		srdma_req_slow_loss(req);
	else
		srdma_req_slow_told(req);
}

noinline void srdma_req_delay_not_lost(struct srdma_rc_req *req)
{
	if (!req->delay.full_ns)
		return;
	req->delay.full_ns = 0;
	srdma_req_slow_ends(req);
}

noinline bool srdma_req_delay_matters(const struct srdma_rc_req *req)
{
	u64 full = req->delay.full_ns;
	u64 room = full - min(req->rtt_min_ns, full);

	return req->srtt_ns > full - room / 4 * 3;
}

/*
 * From here on three quarters of the queue are full. On a short path who has more in flight
 * gives way sooner, for all see the same queue, and else it would take them seconds to have
 * equal shares of a fast line (as in Swift, Kumar et al., SIGCOMM 2020).
 */
static u64 too_long(const struct srdma_rc_req *req)
{
	u64 full = req->delay.full_ns;
	u64 room = full - min(req->rtt_min_ns, full);
	u32 left = SPARE_LEAST;

	if (req->rtt_min_ns < NEAR_NS)
		left = clamp(SPARE_LEAST - SPARE_FROM + req->slow.win / SRDMA_SLOW_PACKET,
			     SPARE_LEAST, SPARE_MOST);
	return full - room * left / SPARE_PARTS;
}

/* One trip that is much longer than others rather waited for a CPU. */
static u64 without_stall(const struct srdma_rc_req *req, u64 rtt)
{
	u64 usual = max(req->srtt_ns, req->rtt_min_ns);

	return usual ? min(rtt, 2 * usual) : rtt;
}

static void believe(struct srdma_rc_delay *delay, u64 full, u64 shown)
{
	delay->full_ns = full;
	delay->more_ns = min_t(u64, full - shown, U32_MAX);
}

/* A trip has taken so long: the queue may be longer than is known. */
static void note_seen(struct srdma_rc_delay *delay, u64 seen)
{
	u64 full = delay->full_ns;
	u64 shown = full - delay->more_ns;

	if (seen > full)
		full += (seen - full) / FULL_GAIN;
	if (seen > shown)
		shown += (seen - shown) / FULL_GAIN;
	believe(delay, full, shown);
}

noinline void srdma_req_delay_calm(struct srdma_rc_req *req)
{
	struct srdma_rc_delay *delay = &req->delay;
	u32 shift = ROOM_SHIFT + req->slow.win / SRDMA_SLOW_PACKET * 3 / 2;
	u32 part;

	if (req->slow.win > FORGET_MOST)
		return;
	part = min_t(u64, delay->full_ns >> shift, delay->more_ns);
	delay->full_ns -= part;
	delay->more_ns -= part;
}

/* Is the queue too long, or has it more room than is known? */
static noinline void heed(struct srdma_rc_req *req, u64 rtt)
{
	struct srdma_rc_delay *delay = &req->delay;
	u64 full;
	u64 trip = rtt;

	/* One that is long is no congestion yet. */
	if (!srdma_req_is_slow(req))
		trip = (rtt + req->srtt_ns) / 2;
	note_seen(delay, without_stall(req, rtt));
	if (trip <= too_long(req))
		return;
	if (!srdma_req_slow_told(req))
		return;
	full = delay->full_ns;
	believe(delay, full + (full >> (ROOM_SHIFT - req->slow.row)), full - delay->more_ns);
	if (req->slow.row < ROWS_MOST)
		req->slow.row++;
}

/* On a long path that which has to come again makes a trip twice as long, or more. */
static bool waited_for_lost(const struct srdma_rc_req *req)
{
	return req->recovering && req->rtt_min_ns >= SRDMA_REQ_LONG_NS &&
	       srdma_req_delay_only_lost(req);
}

noinline void srdma_req_delay_measured(struct srdma_rc_req *req, u64 rtt)
{
	if (waited_for_lost(req))
		return;
	if (req->delay.full_ns)
		heed(req, rtt);
	req->delay.top_ns = max(req->delay.top_ns, without_stall(req, rtt));
}
