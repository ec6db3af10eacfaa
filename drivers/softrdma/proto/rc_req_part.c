// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests for READs: which packets of an answer each asks for.
 *
 * As long as nothing is lost, one request asks for all, as programs expect it. But if the
 * first READ of a connection is longer than the window before the first answer, one asks
 * for that, and another one, when that has come, for the rest. After a loss the answer has
 * to fit into the window, as what is sent does. A READ that is begun then is asked for in
 * parts, each by a request of its own: to the peer it is as many READs. And what is lost of
 * an answer is asked for again as the window allows.
 *
 * A request that is sent again asks for nothing outside the first one, since the peer
 * remembers each by itself (9.7.5.1); and for no less, unless that has come: to a peer
 * to which it is new, it says how many PSNs the answer has.
 */
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "burst.h"
#include "opcode.h"
#include "psn.h"
#include "rc_req.h"
#include "rc_req_priv.h"

u32 srdma_req_requests_of(const struct srdma_rc_msg *msg)
{
	return msg->op == SRDMA_WR_READ ? ((msg->npsn - msg->from - 1) >> msg->part) + 1 : 1;
}

/* Of the oldest READ those are over whose data has come. */
u32 srdma_req_unanswered(const struct srdma_rc_req *req)
{
	const struct srdma_rc_msg *msg = srdma_rc_req_msg(req, req->una);

	if (req->una == req->fresh || msg->op != SRDMA_WR_READ)
		return req->rd_out;
	return req->rd_out - (((msg->done >> req->mtu_shift) - msg->from) >> msg->part);
}

/* What losses leave of a path lets less than a byte pass in so many ns: 8 MB/s. */
#define NARROW_BYTE_NS	128

/* Packets of answers that say something, and from which on earlier ones count less. */
#define COUNTS_FROM	1024
#define COUNTS_UP_TO	4096

/* Parts of them: if more is asked for again, a queue is overfilled; if less, not. */
#define FILLS_PART	8
#define FITS_PART	256

/*
 * Whoever overfills a queue with whole answers loses most of them; what a network loses,
 * or brings out of order, is less.
 */
void srdma_req_count_asked(struct srdma_rc_req *req, u32 packets, bool again)
{
	if (unlikely(again)) {
		req->asked_again += packets;
		if (req->asked_first >= COUNTS_FROM &&
		    req->asked_again > req->asked_first / FILLS_PART)
			req->overfills = true;
		return;
	}
	req->asked_first += packets;
	if (likely(req->asked_first < COUNTS_UP_TO))
		return;
	if (req->asked_again < req->asked_first / FITS_PART)
		req->overfills = false;
	req->asked_first /= 2;
	req->asked_again /= 2;
}

/*
 * A long path, on which there is no queue, does not become narrow by a loss. But the
 * queue of a slow line makes it long, too: for who fills it, and is known by that, and
 * for the many that share it and get little of it.
 */
bool srdma_req_is_narrow(const struct srdma_rc_req *req)
{
	u64 left = (u64)req->ssthresh << req->mtu_shift;

	if (srdma_req_is_slow(req))
		return true;
	if (req->rtt_min_ns >= SRDMA_REQ_FAR_NS)
		return req->overfills || left * NARROW_BYTE_NS < req->srtt_ns;
	return req->ssthresh < req->win_near;
}

/*
 * Two requests fill the window, if the peer answers two; or four, as long as congestion
 * is notified, when it changes often, and of an answer for which there is no room just
 * now nothing is asked for. Before a round trip is known, one does.
 */
u8 srdma_req_part_of(const struct srdma_rc_req *req, const struct srdma_rc_msg *msg,
		     u32 packets)
{
	u32 rest = msg->npsn - msg->from;

	if (srdma_req_is_narrow(req))
		packets /= clamp_t(u32, req->max_rd_atomic, 1,
				   srdma_req_is_slow(req) ? 4 : 2);
	else if (!srdma_req_knows_no_trip(req))
		return SRDMA_MSG_WHOLE;
	if (msg->op != SRDMA_WR_READ || rest <= packets)
		return SRDMA_MSG_WHOLE;
	return ilog2(max(packets, 1u));
}

/*
 * The oldest READ is asked for the next part, and what was asked for has come: the window
 * may be another one than when the READ was begun. An answer that is longer than the
 * window finds no room in a queue that others keep full. Requests that were answered
 * count no longer.
 */
noinline void srdma_req_part_anew(struct srdma_rc_req *req, struct srdma_rc_msg *msg,
				  u32 packets)
{
	msg->from = srdma_psn_dist(msg->psn, req->cur_psn);
	msg->part = srdma_req_part_of(req, msg, packets);
	req->rd_out = 0;
}

/*
 * May a request, which begins with the packet @pos, be for less than one was before? Not
 * if that may itself not have come: then it is the same again.
 */
static bool is_divisible(const struct srdma_rc_msg *msg, u32 pos, bool again)
{
	return again && (pos < msg->high || !srdma_msg_part_begins(msg, pos));
}

/* Packets from @pos on, of a hole, or of an answer whose rest is lost. */
static u32 packets_from(const struct srdma_rc_req *req,
			const struct srdma_rc_msg *msg, u32 pos, bool again)
{
	u32 end = msg->npsn;

	if (msg->high)
		end = srdma_req_hole_end(req, msg, pos);
	if (again)
		end = min(end, srdma_psn_dist(msg->psn, srdma_msg_sent_end(req, msg)));
	return min(end, srdma_msg_part_end(msg, pos)) - pos;
}

u32 srdma_req_answer_packets(const struct srdma_rc_req *req,
			     const struct srdma_rc_msg *msg, bool *divisible)
{
	u32 pos = srdma_psn_dist(msg->psn, req->cur_psn);
	bool again = srdma_req_resending(req);
	u32 packets;

	*divisible = is_divisible(msg, pos, again);
	/* An answer to which the window does not apply. */
	if (!*divisible && !srdma_req_is_narrow(req))
		return 1;
	packets = packets_from(req, msg, pos, again);
	/* A queue that others keep full has no room for a window at once. */
	if (*divisible && req->anew && srdma_req_is_slow(req))
		packets = min(packets, srdma_req_paced_burst(req));
	return packets;
}

/* It may begin at any packet boundary. */
void srdma_req_fill_rd(const struct srdma_rc_req *req,
		       const struct srdma_rc_msg *msg, u32 pos, u32 max,
		       struct srdma_burst *b)
{
	u32 end = pos + packets_from(req, msg, pos, b->resend);

	if (is_divisible(msg, pos, b->resend))
		end = min(end, pos + max);
	b->count = 1;
	b->mixed = false;
	b->offset = pos << req->mtu_shift;
	b->len = (end < msg->npsn ? end << req->mtu_shift : msg->len) -
		 b->offset;
	b->seg = b->len;
	b->first = srdma_opcode_select(SRDMA_QPT_RC, msg->op, true, true);
	b->middle = b->first;
	b->last = b->first;
	b->ack_req = true;
}

/*
 * In this round, nothing has asked for an answer that begins there: so one that does is to
 * this request, unless it is one to an earlier round, and that late. While many share a
 * line, it may be for seconds that nothing but a READ is asked for again.
 */
bool srdma_req_is_answered_anew(const struct srdma_rc_req *req,
				const struct srdma_rc_msg *msg, u32 psn)
{
	u32 pos = srdma_psn_dist(msg->psn, psn);

	return srdma_req_is_slow(req) && req->anew && msg->op == SRDMA_WR_READ &&
	       pos >= msg->asked && !srdma_msg_part_begins(msg, pos);
}
