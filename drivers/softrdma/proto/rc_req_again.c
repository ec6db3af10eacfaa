// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the peer has reported to be missing (struct srdma_wire_sack), and holds the
 * rest of: this alone is repeated, before anything else is sent, in the order of the
 * reports and with their numbers.
 *
 * All of this is rare, and nothing is inlined.
 */
#include <linux/minmax.h>
#include <linux/types.h>

#include "burst.h"
#include "opcode.h"
#include "packet.h"
#include "psn.h"
#include "rc_req.h"
#include "rc_req_priv.h"
#include "wire.h"

/* What is held opens the window again, but by no more than this, packets. */
#define HELD_OPENS_MOST	256u

/*
 * Or by another window, as long as no more bytes than this come behind the hole: what a
 * peer cannot hold has to be repeated. Ours holds skbs of 4 MB.
 */
#define HELD_OPENS_UP_TO	(3u << 20)

/* So many packets say whether a queue is overfilled, and these parts of them. */
#define REPEATS_FROM	256u
#define REPEATS_FILL	8u
#define REPEATS_FIT	256u

static struct srdma_rc_again *again_at(const struct srdma_rc_req *req, u32 i)
{
	return &req->mend->again[(req->again_out + i) % SRDMA_REQ_AGAIN];
}

/* Was @psn repeated in this round of reports? They, and what they ask for, are in order. */
static bool went_again(const struct srdma_rc_req *req, u32 psn)
{
	u32 to = srdma_req_dist(req, req->mend->again_to);

	return to <= srdma_req_dist(req, req->max_psn) &&
	       srdma_req_dist(req, psn) < to;
}

/* If there is no room, the peer finds out, and reports it once more. */
static void queue_missing(struct srdma_rc_req *req, u32 psn, u32 end, u8 stamp, u64 now)
{
	/* On the circle what is far ahead may end behind. */
	s32 from = srdma_psn_diff(psn, req->una_psn);
	s32 to = from + (s32)srdma_psn_dist(psn, end);

	from = max(from, 0);
	to = min_t(s32, to, srdma_req_dist(req, req->max_psn));
	if (from >= to || req->again_count == SRDMA_REQ_AGAIN)
		return;
	psn = srdma_psn_add(req->una_psn, from);
	end = srdma_psn_add(req->una_psn, to);
	*again_at(req, req->again_count++) = (struct srdma_rc_again){
		.psn = psn, .end = end, .stamp = stamp,
	};
	/* What was lost is not late. */
	req->probed = false;
	/*
	 * It is another loss, one for all of this round. But where reports overtake each
	 * other, they are of many rounds at once.
	 */
	if (went_again(req, psn) && now - req->mend->lost_at >= req->srtt_ns / 2) {
		req->mend->again_to = psn;
		req->recovering = false;
	}
	if (!req->recovering)
		req->mend->lost_at = now;
	srdma_req_note_loss(req);
}

noinline void srdma_req_repeat_missing(struct srdma_rc_req *req,
				       const struct srdma_pkt *nak, u64 now)
{
	req->back_at = now;
	req->stamp = nak->stamp;
	queue_missing(req, nak->psn, srdma_psn_next(nak->psn), nak->stamp, now);
}

static u32 opened_by(const struct srdma_rc_req *req, u32 held)
{
	u32 room = HELD_OPENS_UP_TO >> req->mtu_shift;

	room -= min(room, req->cwnd);
	return min(held, max(min(room, req->cwnd), HELD_OPENS_MOST));
}

/* Packets that had been sent before the last probe, and are not acknowledged. */
static u32 sent_before_probe(const struct srdma_rc_req *req)
{
	u32 sent = srdma_req_dist(req, req->mend->probe_end);

	return sent <= srdma_req_dist(req, req->max_psn) ? sent : 0;
}

/* They are there, or nowhere. */
static void note_gone(struct srdma_rc_req *req)
{
	u32 sent = sent_before_probe(req);

	req->mend->gone = sent - min(sent, req->held_all);
}

noinline void srdma_req_take_holes(struct srdma_rc_req *req,
				   const struct srdma_pkt *pkt, bool probed, u64 now)
{
	u32 i, most = srdma_req_dist(req, req->max_psn);

	/* The peer was not told that this end knows what it says. */
	if (!req->mend)
		return;
	for (i = 0; i < SRDMA_SACK_HOLES; i++)
		if (!pkt->sack.holes[i].count && pkt->sack.holes[i].psn)
			srdma_req_was_late(req, pkt->sack.holes[i].psn);
	/* Overtaken by another one. */
	if (req->stamp && srdma_stamp_before(pkt->stamp, req->stamp)) {
		srdma_req_overtaken(req);
		return;
	}
	req->held_all = min_t(u32, pkt->aeth.held, most);
	req->held = opened_by(req, req->held_all);
	if (probed)
		note_gone(req);
	/* What was reported before is not new. */
	if (req->stamp == pkt->stamp)
		return;
	req->stamp = pkt->stamp;
	for (i = 0; i < SRDMA_SACK_HOLES; i++)
		if (pkt->sack.holes[i].count)
			queue_missing(req, pkt->sack.holes[i].psn,
			      srdma_psn_add(pkt->sack.holes[i].psn,
					    pkt->sack.holes[i].count),
			      pkt->stamp, now);
}

/* Packets that are on their way no more, and wait for being repeated, or reported. */
static u32 gone(const struct srdma_rc_req *req)
{
	u32 i, reported = 0;

	for (i = 0; i < req->again_count; i++)
		reported += srdma_psn_dist(again_at(req, i)->psn,
					   again_at(req, i)->end);
	return max(reported, min(req->mend->gone, sent_before_probe(req)));
}

/*
 * Packets of @again that the window has room for. What waits to be repeated is not
 * on its way. But what the oldest PSN waits for is repeated in any case, a window
 * full of it: more than is known of may be lost.
 */
static u32 room_for(const struct srdma_rc_req *req, const struct srdma_rc_again *again)
{
	u32 sent = srdma_req_dist(req, req->max_psn);

	if (again->psn == req->una_psn)
		return req->cwnd;
	sent -= min(sent, req->held_all + gone(req));
	return req->cwnd - min(req->cwnd, sent);
}

static void fill_again(const struct srdma_rc_req *req, u32 idx,
		       const struct srdma_rc_again *again, u32 room,
		       const struct srdma_burst_limit *limit,
		       struct srdma_rc_burst *out)
{
	const struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);
	u32 pos = srdma_psn_dist(msg->psn, again->psn);
	u32 count = min(srdma_psn_dist(again->psn, again->end), room);

	count = min(count, max(req->cwnd / 2, SRDMA_REQ_TRAIN_FLOOR));
	count = min(count, srdma_burst_most(limit, msg->op, pos,
					    req->mtu_shift));
	srdma_req_fill_burst(req, idx, again->psn, count, out);
	out->again = true;
	out->b.stamp = again->stamp;
	/* The oldest part goes whatever the window says; the next waits for its answer. */
	out->b.ack_req = out->b.count == room || again->psn == req->una_psn ||
			 srdma_psn_add(out->b.psn, out->b.count) == again->end;
}

/*
 * A request for a part of a READ, at @pos, has not come to the peer. If something of the
 * answer has, the report is older. What answers lack is asked for by itself.
 */
static bool lacks_part(const struct srdma_rc_req *req,
		       const struct srdma_rc_msg *msg, u32 pos)
{
	return msg->op == SRDMA_WR_READ && !msg->answered &&
	       srdma_msg_part_begins(msg, pos) && pos >= msg->high &&
	       (msg->high || pos != msg->done >> req->mtu_shift);
}

/* Sent again whatever the window says: there was room for the answer. */
static void fill_missing_part(const struct srdma_rc_req *req, u32 idx,
			      const struct srdma_rc_again *again,
			      struct srdma_rc_burst *out)
{
	const struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);

	srdma_req_fill_burst(req, idx, again->psn, msg->npsn, out);
	out->again = true;
	out->b.stamp = again->stamp;
}

/* The part of a READ, or atomic, with the PSN @pos is going to be asked for again. */
static void ask_for_missing(struct srdma_rc_req *req, u32 idx, u32 pos,
			    struct srdma_rc_again *again, u64 now)
{
	const struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);
	u32 end = srdma_msg_part_end(msg, pos);

	if (!msg->answered && !msg->lost)
		srdma_req_ask_again(req, idx, now);
	again->psn = srdma_psn_add(msg->psn, end);
}

/*
 * What is sent next if @again finds no room. The oldest PSN may be a hole in a READ, which
 * is not @again's to fill, and nothing else opens the window: so that is asked for. And a
 * probe that is due is what ends the wait.
 */
static enum srdma_req_next without_room(const struct srdma_rc_req *req)
{
	bool asks = srdma_req_resending(req) && req->cur_psn == req->una_psn &&
		    srdma_msg_is_rd(srdma_rc_req_msg(req, req->una));

	return asks || req->probe_due ? SRDMA_NEXT_EMPTY : SRDMA_NEXT_WINDOW;
}

noinline enum srdma_req_next
srdma_req_next_again(struct srdma_rc_req *req, u64 now,
		     const struct srdma_burst_limit *limit,
		     struct srdma_rc_burst *out)
{
	for (; req->again_count; req->again_count--, req->again_out++) {
		struct srdma_rc_again *again = again_at(req, 0);

		if (srdma_psn_before(again->psn, req->una_psn))
			again->psn = req->una_psn;
		while (srdma_psn_before(again->psn, again->end)) {
			u32 idx = srdma_req_find(req, again->psn);
			const struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);
			u32 pos;

			if (srdma_req_behind_fail(req, idx) ||
			    srdma_req_behind_rnr(req, idx))
				break;
			if (!srdma_msg_is_rd(msg)) {
				u32 room = room_for(req, again);

				if (!room)
					return without_room(req);
				fill_again(req, idx, again, room, limit, out);
				return SRDMA_NEXT_SEND;
			}
			pos = srdma_psn_dist(msg->psn, again->psn);
			if (lacks_part(req, msg, pos)) {
				fill_missing_part(req, idx, again, out);
				return SRDMA_NEXT_SEND;
			}
			ask_for_missing(req, idx, pos, again, now);
		}
	}
	return SRDMA_NEXT_EMPTY;
}

/*
 * Whoever overfills a queue has more of what was sent repeated than a network loses: more
 * than this part of it. If less than the other part, it is over.
 */
static void count_repeated(struct srdma_rc_req *req, u32 packets)
{
	struct srdma_rc_req_mend *mend = req->mend;
	u32 sent = srdma_psn_dist(mend->counted_psn, req->max_psn);

	mend->repeated += packets;
	if (sent < REPEATS_FROM)
		return;
	if (mend->repeated > sent / REPEATS_FILL)
		req->overfills = true;
	else if (mend->repeated < sent / REPEATS_FIT)
		req->overfills = false;
	mend->repeated = 0;
	mend->counted_psn = req->max_psn;
}

noinline void srdma_req_again_sent(struct srdma_rc_req *req,
				   const struct srdma_rc_burst *burst, u64 now)
{
	struct srdma_rc_again *again = again_at(req, 0);
	const struct srdma_burst *b = &burst->b;
	u32 count = b->count;

	if (burst->msg->op == SRDMA_WR_READ)
		count = srdma_burst_packets(b->len, req->mtu_shift);
	again->psn = srdma_psn_add(b->psn, count);
	/* It is on its way again. */
	req->mend->gone -= min(req->mend->gone, count);
	/* What READs overfill is counted where they ask. */
	if (!srdma_msg_is_rd(burst->msg))
		count_repeated(req, count);
	if (!went_again(req, again->psn))
		req->mend->again_to = again->psn;
	if (srdma_psn_in(req->rtt_psn, b->psn, count))
		req->rtt_timed = false;
	/* The first copy had not come: the answer is to this one, or that was late. */
	if (b->psn == req->una_psn && b->ack_req) {
		req->rtt_resend = true;
		srdma_req_time_trip(req, srdma_burst_psn(b, b->count - 1), true,
				    now);
	}
	srdma_req_note_sent(req, false, now);
}
