// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that are spread over a round trip: while there is congestion, for a window says
 * nothing of when they go; and on a long path, where what goes at once may overflow a queue
 * that is not full (srdma_req_paces()).
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "burst.h"
#include "rc_req.h"
#include "rc_req_priv.h"

/*
 * At once goes a quarter of the window, of up to so many packets, and what passes in so
 * many ns: a queue marks a train as it marks one packet, so who sends longer ones would
 * be told less often, and get more.
 */
#define BURST_MOST	16u
#define BURST_NS	500000u

/* On a long path without congestion, that part of the window. */
#define LONG_PARTS	8u

/* No burst is so far from the next one, unless a round trip is longer. */
#define GAP_MOST_NS	100000000ull

/* Who comes late, as timers do, may catch up with so much. */
#define LATE_NS		250000u

/* What is spread over a round trip. On a long path that is so without congestion as well. */
static u32 paced(const struct srdma_rc_req *req)
{
	return req->slow.win ? req->slow.win : req->cwnd * SRDMA_SLOW_PACKET;
}

noinline u32 srdma_req_paced_burst(const struct srdma_rc_req *req)
{
	u64 soon = (u64)req->slow.win * BURST_NS / SRDMA_SLOW_PACKET;
	u32 most = srdma_req_slow_window(req) / 4;

	if (!srdma_req_is_slow(req))
		return max(req->cwnd / LONG_PARTS, 1u);
	if (req->srtt_ns)
		most = min_t(u64, most, div64_u64(soon, req->srtt_ns));
	return clamp(most, 1u, BURST_MOST);
}

/*
 * What does not wait is one packet: a probe, or the oldest one when it is repeated. Else
 * retries would be used up while nothing is sent.
 */
static bool goes_at_once(const struct srdma_rc_req *req)
{
	return req->probe_due || (srdma_req_outstanding(req) &&
				  req->cur_psn == req->una_psn);
}

noinline bool srdma_req_must_wait(struct srdma_rc_req *req, u64 now)
{
	struct srdma_rc_slow *slow = &req->slow;
	bool idle = srdma_rc_req_all_sent(req);
	u64 at = 0;

	if (now < slow->next_at && !goes_at_once(req) && !idle)
		at = slow->next_at;
	slow->pace_at = at;
	return at;
}

/*
 * The window in a round trip; a little faster where it is more than a packet, for then
 * acknowledges hold it back. Of a READ it is the answer that takes its time.
 */
noinline void srdma_req_paced_sent(struct srdma_rc_req *req,
				   const struct srdma_rc_burst *burst, u64 now)
{
	struct srdma_rc_slow *slow = &req->slow;
	u64 since = now - min_t(u64, now, LATE_NS);
	u32 packets = burst->b.count;
	u64 took;

	if (burst->msg->op == SRDMA_WR_READ)
		packets = srdma_burst_packets(burst->b.len, req->mtu_shift);
	took = div_u64(packets * req->srtt_ns * SRDMA_SLOW_PACKET, paced(req));
	if (paced(req) >= SRDMA_SLOW_PACKET)
		took -= took / 4;
	took = min(took, max(req->srtt_ns, GAP_MOST_NS));
	/* What went at once does not put off all that follows, each time. */
	slow->next_at = min(max(slow->next_at, since), now) + took;
}
