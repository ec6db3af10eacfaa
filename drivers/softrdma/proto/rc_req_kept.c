// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Data of READs that is in place behind a hole. One packet lost of many is not to
 * cost all behind it: what follows a hole is placed, a bit for each packet says so,
 * and only the holes are asked for again, each by a READ of its own: a duplicate that
 * asks for a part of the first one (9.7.5.1).
 *
 * The first hole is asked for at once. The others are, too, if the peer begins its
 * answers anew (FIRST or ONLY), as the specification has it. One that goes on as if
 * the answer were the rest of the first (MIDDLE, LAST) may have forgotten whatever
 * lies in front of the last part that it was asked for, as rdma_rxe does; of it each
 * hole is asked when the one in front is filled.
 *
 * Holes are asked for in rounds, from the first to the last. When the last packet that
 * a round asked for has come, and some hole that it asked for is still there, then it
 * was lost again, and the next round begins.
 */
#include <linux/minmax.h>
#include <linux/types.h>

#include "burst.h"
#include "psn.h"
#include "rc_req.h"
#include "rc_req_priv.h"

/* So many times asked again make the time that is given a quarter less. */
#define LATE_SHORTER_IN	16

#define WORD_BITS	32u

static bool is_kept(const struct srdma_rc_req *req, u32 psn)
{
	u32 bit = psn % SRDMA_REQ_KEPT;

	return req->mend->kept[bit / WORD_BITS] >> bit % WORD_BITS & 1;
}

static void set_kept(struct srdma_rc_req *req, u32 psn, bool kept)
{
	u32 bit = psn % SRDMA_REQ_KEPT;

	if (is_kept(req, psn) == kept)
		return;
	req->mend->kept[bit / WORD_BITS] ^= 1u << bit % WORD_BITS;
	req->kept_count += kept ? 1 : -1;
}

/* Not inlined, as others below: it is rare. */
noinline u32 srdma_req_missing(const struct srdma_rc_req *req,
			       const struct srdma_rc_msg *msg, u32 at)
{
	at = max(at, msg->done >> req->mtu_shift);
	while (at < msg->high && is_kept(req, srdma_psn_add(msg->psn, at)))
		at++;
	return at;
}

u32 srdma_req_hole_end(const struct srdma_rc_req *req,
		       const struct srdma_rc_msg *msg, u32 at)
{
	if (at >= msg->high)
		return msg->npsn;
	/* The one in front of high is kept. */
	while (!is_kept(req, srdma_psn_add(msg->psn, at)))
		at++;
	return at;
}

bool srdma_req_may_keep(const struct srdma_rc_req *req,
			const struct srdma_rc_msg *msg, u32 at, u32 count)
{
	u32 ahead = srdma_req_dist(req, srdma_psn_add(msg->psn, at));

	return req->mend && ahead + count <= SRDMA_REQ_KEPT;
}

noinline void srdma_req_keep(struct srdma_rc_req *req, struct srdma_rc_msg *msg,
			     u32 at, u32 count)
{
	u32 front = msg->done >> req->mtu_shift;
	u32 end = at + count;
	u32 i;

	for (i = max(at, front); i < end && (at > front || i < msg->high); i++)
		set_kept(req, srdma_psn_add(msg->psn, i), at > front);
	if (at > front)
		msg->high = max(msg->high, end);
	else
		front = max(front, end);
	while (front < msg->high && is_kept(req, srdma_psn_add(msg->psn, front)))
		set_kept(req, srdma_psn_add(msg->psn, front++), false);
	if (front >= msg->high)
		msg->high = 0;
	msg->done = min(front << req->mtu_shift, msg->len);
}

u32 srdma_req_next_hole(const struct srdma_rc_req *req,
			const struct srdma_rc_msg *msg, u32 at)
{
	at = srdma_req_missing(req, msg, at);
	if (srdma_req_is_on_its_way(req, srdma_psn_add(msg->psn, at)))
		at = srdma_req_missing(req, msg, srdma_psn_dist(msg->psn, req->mend->tail_psn));
	/* What is behind the last hole may be on its way. */
	if (at >= msg->high && !msg->cut && !req->resend_all)
		return srdma_msg_sent_end(req, msg);
	return srdma_psn_add(msg->psn, at);
}

/* Of a READ a part was asked for that ends at @asked. Returns what is next. */
static noinline u32 note_part(const struct srdma_rc_req *req,
			      struct srdma_rc_msg *msg, u32 asked, bool again)
{
	u32 end = srdma_msg_sent_end(req, msg);
	u32 next = srdma_psn_add(msg->psn, asked);
	bool goes_on = req->resend_all &&
		       (req->anew || srdma_msg_part_begins(msg, asked));

	msg->parts = true;
	if (!again)
		return next;
	if (msg->high)
		goes_on = req->anew &&
			  srdma_req_next_hole(req, msg, asked) != end;
	if (goes_on && next != end)
		return next;
	/* What follows is lost, too, but not yet asked for. */
	if (msg->high && req->resend_all && next != end)
		msg->cut = true;
	msg->lost = false;
	return end;
}

/* An answer to this that is not needed shows that the first one was late. */
static noinline void note_asked_again(struct srdma_rc_req *req,
				      const struct srdma_burst *b, u32 packets,
				      u32 end)
{
	if (++req->asks % LATE_SHORTER_IN == 0 && req->late && !srdma_req_order_changes(req))
		req->late--;
	req->asked_psn = b->psn;
	req->asked_to = srdma_psn_add(b->psn, packets);
	req->asked_end = end;
}

u32 srdma_req_note_asked(struct srdma_rc_req *req, struct srdma_rc_msg *msg,
			 const struct srdma_burst *b)
{
	u32 end = srdma_msg_end(msg);
	u32 asked = msg->npsn;
	u32 packets = 1;

	if (msg->op == SRDMA_WR_READ) {
		packets = srdma_burst_packets(b->len, req->mtu_shift);
		asked = srdma_psn_dist(msg->psn, b->psn) + packets;
		/* If nothing of an answer has come, it may be the request that was lost. */
		if (!b->resend || b->psn != msg->psn || msg->high)
			srdma_req_count_asked(req, packets, b->resend);
	}
	if (b->resend)
		note_asked_again(req, b, packets, end);
	msg->guard = srdma_req_dist(req, end) >
		     srdma_req_dist(req, req->max_psn) ? end : req->max_psn;
	if (asked > msg->high)
		msg->far = asked;
	/* What is new is not of the round, and what was lost again in it no new one. */
	if (b->resend && srdma_req_is_lost_again(req, b->psn))
		msg->asked = max(msg->asked, asked);
	else if (b->resend)
		msg->asked = asked;
	if (asked != msg->npsn)
		return note_part(req, msg, asked, b->resend);
	msg->cut = false;
	msg->lost = false;
	return end;
}

u32 srdma_req_find(const struct srdma_rc_req *req, u32 psn)
{
	u32 dist = srdma_req_dist(req, psn);
	u32 count = req->fresh - req->una;
	u32 idx = req->una;

	/* Mostly the oldest, of which una_psn is the first that is missing. */
	if (dist < srdma_req_dist(req, srdma_msg_end(srdma_rc_req_msg(req, idx))))
		return idx;
	/*
	 * The last one that begins at or before it: messages are in PSN order,
	 * and local operations, which have no PSN, come before their follower.
	 */
	while (count > 1) {
		u32 half = count / 2;
		struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx + half);

		if (srdma_req_dist(req, msg->psn) <= dist) {
			idx += half;
			count -= half;
		} else {
			count = half;
		}
	}
	return idx;
}
