/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Internal interfaces of the requester: rc_req.c has the queue and the sending,
 * rc_req_end.c the end of messages, rc_req_resp.c the responses, rc_req_part.c what
 * requests for READs ask for, rc_req_kept.c what is in place behind a hole,
 * rc_req_again.c what the peer lacks, rc_req_late.c what asks for answers that are
 * missing, rc_req_slow.c what slows down while there is congestion, rc_req_delay.c what
 * round trips say of it, rc_req_pace.c what is spread over them, rc_req_time.c the timers
 * and the window.
 */
#ifndef SRDMA_PROTO_RC_REQ_PRIV_H
#define SRDMA_PROTO_RC_REQ_PRIV_H

#include <linux/types.h>

#include "psn.h"
#include "rc_req.h"

/* Steps from the oldest incomplete PSN: orders all PSNs that are in use. */
static inline u32 srdma_req_dist(const struct srdma_rc_req *req, u32 psn)
{
	return srdma_psn_dist(req->una_psn, psn);
}

static inline bool srdma_req_dead(const struct srdma_rc_req *req)
{
	return req->mode == SRDMA_REQ_ERROR;
}

static inline bool srdma_req_outstanding(const struct srdma_rc_req *req)
{
	return req->una_psn != req->max_psn;
}

/*
 * From here on a path is long, and the window that does for others may not fill it.
 */
#define SRDMA_REQ_FAR_NS	1000000ull

/* Going through old PSNs again? */
static inline bool srdma_req_resending(const struct srdma_rc_req *req)
{
	return req->cur_psn != req->max_psn;
}

/* Is message @idx (between tail and head) the failed one or behind it? */
static inline bool srdma_req_behind_fail(const struct srdma_rc_req *req,
					 u32 idx)
{
	return req->failing && idx - req->tail >= req->fail_idx - req->tail;
}

/* Is message @idx one more than may be sent after a RNR NAK? */
static inline bool srdma_req_behind_rnr(const struct srdma_rc_req *req, u32 idx)
{
	return req->rnr_open && idx - req->una >= req->rnr_open;
}

static inline bool srdma_msg_is_local(const struct srdma_rc_msg *msg)
{
	return srdma_wr_infos[msg->op].flags & SRDMA_WRI_LOCAL;
}

/* READ, atomic, ATOMIC WRITE, FLUSH: complete only with its own response. */
static inline bool srdma_msg_is_rd(const struct srdma_rc_msg *msg)
{
	return srdma_wr_infos[msg->op].flags & SRDMA_WRI_RD_ATOMIC;
}

static inline u32 srdma_msg_end(const struct srdma_rc_msg *msg)
{
	return srdma_psn_add(msg->psn, msg->npsn);
}

/* Of a message that has begun: packets of its answer in place, up to the first hole. */
static inline u32 srdma_msg_in_place(const struct srdma_rc_req *req,
				     const struct srdma_rc_msg *msg)
{
	if (!srdma_msg_is_rd(msg))
		return 0;
	return msg->answered ? msg->npsn : msg->done >> req->mtu_shift;
}

/* Of a message that has begun: behind the last PSN of it that was sent. */
static inline u32 srdma_msg_sent_end(const struct srdma_rc_req *req,
				     const struct srdma_rc_msg *msg)
{
	u32 end = srdma_msg_end(msg);

	return srdma_req_dist(req, end) > srdma_req_dist(req, req->max_psn) ?
	       req->max_psn : end;
}

/* Does a request of this READ begin with its packet @pos? */
static inline bool srdma_msg_part_begins(const struct srdma_rc_msg *msg, u32 pos)
{
	return !((pos - msg->from) & ((1u << msg->part) - 1));
}

/* Behind the last packet of the request that asks for packet @pos of this READ. */
static inline u32 srdma_msg_part_end(const struct srdma_rc_msg *msg, u32 pos)
{
	u32 parts = ((pos - msg->from) >> msg->part) + 1;

	return min(msg->npsn, msg->from + (parts << msg->part));
}

/* rc_req.c */

/* The peer has executed everything before @psn. */
void srdma_req_executed(struct srdma_rc_req *req, u32 psn);

/*
 * Moves una over what is complete. Progress resets the retry counters and
 * the timers, and is what the window grows by.
 */
void srdma_req_advance(struct srdma_rc_req *req, u64 now);

/*
 * Losses do not make the window smaller than this, packets, as long as it is not known
 * how fast a path is; nor on a fast one, to a peer that drops all of it; nor on a long
 * one without a queue.
 */
#define SRDMA_REQ_CWND_FLOOR	32u

/* A timeout leaves only this, packets. */
#define SRDMA_REQ_CWND_RESTART	2u

/* The window does not make trains shorter than this, packets. */
#define SRDMA_REQ_TRAIN_FLOOR	8u

/* Nothing has been answered yet, or not so that it says how long that took. */
static inline bool srdma_req_knows_no_trip(const struct srdma_rc_req *req)
{
	return unlikely(!req->srtt_ns) && req->win_first < req->win_max;
}

/*
 * As long as no round trip is known, the first packet goes alone and asks: what follows
 * may overflow a queue whose length nobody knows, and what of it gets through would have
 * asked for nothing.
 */
static inline bool srdma_req_feels_the_way(const struct srdma_rc_req *req, u32 psn)
{
	return srdma_req_knows_no_trip(req) && psn == req->una_psn;
}

/*
 * Few packets at a time on a long path are one part of many in a queue that is full. Any of
 * them may be lost, and what is not is to say so: so each goes alone, and asks.
 */
static inline bool srdma_req_is_one_of_many(const struct srdma_rc_req *req)
{
	return req->cwnd <= SRDMA_REQ_TRAIN_FLOOR && req->srtt_ns >= SRDMA_REQ_FAR_NS;
}

/* The burst at @psn of message @idx, of at most @max packets. */
void srdma_req_fill_burst(const struct srdma_rc_req *req, u32 idx, u32 psn,
			  u32 max, struct srdma_rc_burst *out);

/* Send again all that is incomplete. */
void srdma_req_go_back(struct srdma_rc_req *req, u64 now);

/* Ask again for what is lost of READ or atomic @idx, and for nothing else. */
void srdma_req_ask_again(struct srdma_rc_req *req, u32 idx, u64 now);

/* Message @idx fails here and now; all others not complete are flushed. */
void srdma_req_fail_now(struct srdma_rc_req *req, u32 idx,
			enum srdma_status status);

/* The message that is to fail is the oldest. But in SQD none fails that has not begun. */
static inline bool srdma_req_fails_now(const struct srdma_rc_req *req)
{
	return unlikely(req->failing) && req->una == req->fail_idx &&
	       (req->mode != SRDMA_REQ_DRAIN || req->una != req->fresh);
}

/* rc_req_part.c */

/* As many requests are sent to have all of this READ or atomic answered. */
u32 srdma_req_requests_of(const struct srdma_rc_msg *msg);

/* Requests for READs and atomics that the peer has not answered. */
u32 srdma_req_unanswered(const struct srdma_rc_req *req);

/* A READ or atomic asks for @packets, or asks again. */
void srdma_req_count_asked(struct srdma_rc_req *req, u32 packets, bool again);

/* Does the window apply to answers? It does after a loss. */
bool srdma_req_is_narrow(const struct srdma_rc_req *req);

/* srdma_rc_msg.part of a message that is begun, with a window of @packets. */
u8 srdma_req_part_of(const struct srdma_rc_req *req, const struct srdma_rc_msg *msg,
		     u32 packets);

/* And of the oldest READ, at cur_psn, if all that was asked for of it has come. */
void srdma_req_part_anew(struct srdma_rc_req *req, struct srdma_rc_msg *msg,
			 u32 packets);

/* What is asked for again from @psn on: is it certain to what an answer is? */
bool srdma_req_is_answered_anew(const struct srdma_rc_req *req,
				const struct srdma_rc_msg *msg, u32 psn);

/*
 * Packets that the window has to have room for when this READ or atomic is asked for
 * from cur_psn on. If @divisible, there may be fewer.
 */
u32 srdma_req_answer_packets(const struct srdma_rc_req *req,
			     const struct srdma_rc_msg *msg, bool *divisible);

/* The request for @msg from packet @pos on, of at most @max packets if it is divisible. */
void srdma_req_fill_rd(const struct srdma_rc_req *req,
		       const struct srdma_rc_msg *msg, u32 pos, u32 max,
		       struct srdma_burst *b);

/* rc_req_kept.c */

/* Which started message has @psn? It is one of those outstanding. */
u32 srdma_req_find(const struct srdma_rc_req *req, u32 psn);

/* In those below, packets are counted from the first of the READ. */

/* The first packet from @at on that is not in place; maybe behind @msg->high. */
u32 srdma_req_missing(const struct srdma_rc_req *req,
		      const struct srdma_rc_msg *msg, u32 at);

/* The end of the hole that @at, which is missing, is in. */
u32 srdma_req_hole_end(const struct srdma_rc_req *req,
		       const struct srdma_rc_msg *msg, u32 at);

/* Are there bits for @count packets from @at on? */
bool srdma_req_may_keep(const struct srdma_rc_req *req,
			const struct srdma_rc_msg *msg, u32 at, u32 count);

/* @count packets from @at on are in place, at or behind the first hole. */
void srdma_req_keep(struct srdma_rc_req *req, struct srdma_rc_msg *msg,
		    u32 at, u32 count);

/*
 * First PSN of a READ with holes, from packet @at on, that is asked for this time; its
 * end if there is none.
 */
u32 srdma_req_next_hole(const struct srdma_rc_req *req,
			const struct srdma_rc_msg *msg, u32 at);

/* Data of a READ was placed while a probe was on its way, which may have asked for it. */
void srdma_req_hear_of_probe(struct srdma_rc_req *req,
			     const struct srdma_rc_req_act *act, u64 now);

/*
 * A READ or atomic was sent, or the part of a READ that @b asks for. Which later
 * response shows that it was lost? Returns behind which PSN to go on.
 */
u32 srdma_req_note_asked(struct srdma_rc_req *req, struct srdma_rc_msg *msg,
			 const struct srdma_burst *b);

/* rc_req_again.c */

/* The peer holds back what came behind @nak->psn. */
void srdma_req_repeat_missing(struct srdma_rc_req *req,
			      const struct srdma_pkt *nak, u64 now);

/* The holes of a selective acknowledge. */
void srdma_req_take_holes(struct srdma_rc_req *req,
			  const struct srdma_pkt *pkt, bool probed,
			  u64 now);

/*
 * Is anything to be repeated? SRDMA_NEXT_SEND: @out is the next burst of it;
 * SRDMA_NEXT_WINDOW: it has to wait, and what is new with it; SRDMA_NEXT_EMPTY: no,
 * or a probe comes first.
 */
enum srdma_req_next srdma_req_next_again(struct srdma_rc_req *req, u64 now,
					 const struct srdma_burst_limit *limit,
					 struct srdma_rc_burst *out);

/* It is on its way. */
void srdma_req_again_sent(struct srdma_rc_req *req,
			  const struct srdma_rc_burst *burst, u64 now);

/* rc_req_late.c */

/* Nothing of the oldest READ that is asked for again is on its way. */
static inline void srdma_req_none_on_its_way(struct srdma_rc_req *req)
{
	if (req->mend)
		req->mend->tail_psn = req->mend->lost_psn;
}

/* Was @psn lost once more, and is asked for before that goes on? */
static inline bool srdma_req_is_lost_again(const struct srdma_rc_req *req, u32 psn)
{
	return req->mend && req->mend->tail_psn != req->mend->lost_psn &&
	       srdma_psn_before(psn, req->mend->lost_psn);
}

/* Was @psn, behind a hole, asked for again before that was lost once more? */
static inline bool srdma_req_is_on_its_way(const struct srdma_rc_req *req, u32 psn)
{
	return !srdma_psn_before(psn, req->mend->lost_psn) &&
	       srdma_psn_before(psn, req->mend->tail_psn);
}

/*
 * The packet @at of the READ @idx has come, behind a hole: does that show that what was
 * asked for again is lost once more? Then all in front of it is asked for, first.
 */
bool srdma_req_shows_lost(const struct srdma_rc_req *req, u32 idx, u32 at);
void srdma_req_lost_again(struct srdma_rc_req *req, u32 at, u64 now);

/* Messages from the oldest on that are looked at for a lost answer. */
#define SRDMA_REQ_LOOK_AHEAD	16u

/* What is lost of @idx is asked for again, whether it costs a retry or not. */
void srdma_req_ask_for_lost(struct srdma_rc_req *req, u32 idx, u64 now);

/* Asks at once for what is lost of @idx, if that is allowed; returns whether. */
bool srdma_req_lost(struct srdma_rc_req *req, u32 idx, u64 now);

/* @psn of READ @idx, which is not the oldest, has come. Was it asked for last? */
void srdma_req_came_again(struct srdma_rc_req *req, u32 idx, u32 psn, u64 now);

/* What is late has had its time: ask for it. */
void srdma_req_ask_for_late(struct srdma_rc_req *req, u64 now);

/* A response to @psn came that was not needed: what was asked for had only been late? */
void srdma_req_came_twice(struct srdma_rc_req *req, u32 psn);

/* Something has come behind what was sent after it. */
void srdma_req_overtaken(struct srdma_rc_req *req);

/* What shows that the order changes counts as much as so many losses that do not. */
#define SRDMA_REQ_REORDERS	2

/* Once may be a mistake. But where it is shown twice, trips, and losses, say little. */
static inline bool srdma_req_order_changes(const struct srdma_rc_req *req)
{
	return req->reorders >= 2 * SRDMA_REQ_REORDERS;
}

/* The peer has reported that it lacks @psn, which had only been late. */
void srdma_req_was_late(struct srdma_rc_req *req, u32 psn);

/* Is what is missing in front of @psn given some time? Then srdma_req_ask_for_late(). */
bool srdma_req_may_be_late(struct srdma_rc_req *req, u32 psn, u64 now);

/* rc_req_slow.c; the others, while it is slow. */

/* Is there congestion? */
static inline bool srdma_req_is_slow(const struct srdma_rc_req *req)
{
	return unlikely(req->slow.win);
}

/* There is congestion. Was the window cut for it, and not for an earlier one? */
bool srdma_req_slow_told(struct srdma_rc_req *req);

/* Packets that may be in flight. */
u32 srdma_req_slow_window(const struct srdma_rc_req *req);

/* @steps PSNs became complete; something was lost. */
void srdma_req_slow_progress(struct srdma_rc_req *req, u32 steps);
void srdma_req_slow_loss(struct srdma_rc_req *req);

/* There is no congestion any more. */
void srdma_req_slow_ends(struct srdma_rc_req *req);

/* rc_req_pace.c; the others, while it paces. */

/* A path so long that what goes at once may overflow a queue that is not full, ns. */
#define SRDMA_REQ_LONG_NS	8000000ull

/* Trips that are longer by more wait in a queue, ns. */
#define SRDMA_REQ_QUEUE_NS	2000000ull

/* Is it so long, and has no queue? */
static inline bool srdma_req_is_long(const struct srdma_rc_req *req)
{
	return req->rtt_min_ns >= SRDMA_REQ_LONG_NS &&
	       req->srtt_ns <= req->rtt_min_ns + SRDMA_REQ_QUEUE_NS;
}

/* Are packets spread over the round trip? */
static inline bool srdma_req_paces(const struct srdma_rc_req *req)
{
	return unlikely(req->slow.win || (req->rtt_min_ns >= SRDMA_REQ_LONG_NS && req->stamp));
}

/* Is what is next to wait? slow.pace_at says until when. */
bool srdma_req_must_wait(struct srdma_rc_req *req, u64 now);

/* Packets that may go at once. */
u32 srdma_req_paced_burst(const struct srdma_rc_req *req);

/* A burst was sent. */
void srdma_req_paced_sent(struct srdma_rc_req *req,
			  const struct srdma_rc_burst *burst, u64 now);

/* rc_req_delay.c */

/* Something was lost: of a queue that was full? */
void srdma_req_delay_loss(struct srdma_rc_req *req, bool by_chance);

/* Little gets through in a millisecond: the line is slow, or shared by many. */
bool srdma_req_delay_is_slow_line(const struct srdma_rc_req *req);

/*
 * On a long path, does only what was lost come again? Else, as the peer holds nothing back,
 * a loss costs all that is in the window, and it is better to be careful.
 */
bool srdma_req_delay_only_lost(const struct srdma_rc_req *req);

/* Is what gets lost now, on a long path, rather not lost by a queue that is full? */
bool srdma_req_delay_by_chance(const struct srdma_rc_req *req);

/* Then the path is left full: of @flight what is not in its queue. */
u32 srdma_req_delay_left(const struct srdma_rc_req *req, u32 flight);

/* So is a long one if a queue was too long, unless that is the path: else 0. */
u32 srdma_req_delay_left_of_long(const struct srdma_rc_req *req, u32 flight);

/* The last loss was none. */
void srdma_req_delay_not_lost(struct srdma_rc_req *req);

/* A queue has overflowed before: is a quarter of it full, or more? */
bool srdma_req_delay_matters(const struct srdma_rc_req *req);

/* A period without a notification, where a queue has overflowed before. */
void srdma_req_delay_calm(struct srdma_rc_req *req);

/* A round trip took @rtt. */
void srdma_req_delay_measured(struct srdma_rc_req *req, u64 rtt);

/* rc_req_time.c */

/* How long to hear nothing before a retry is spent; recomputes the deadline. */
void srdma_req_set_patience(struct srdma_rc_req *req);

/*
 * The peer has answered for the first time. Whatever its answer is to, if nothing
 * went twice, the round trip was no longer than since the first packet.
 */
void srdma_req_first_answer(struct srdma_rc_req *req, u64 now);

/* May what is sent, maybe again, be timed? */
bool srdma_req_may_time(const struct srdma_rc_req *req, bool again);

/*
 * Behind what got through to the peer, as if there were no holes. On a short path a hole is
 * filled so soon that una says as much; and what is measured there in the midst of holes,
 * without those in front, would leave smaller windows.
 */
static inline u32 srdma_req_through(const struct srdma_rc_req *req)
{
	u32 held = req->rtt_min_ns >= SRDMA_REQ_FAR_NS ? req->held_all : 0;

	return srdma_psn_add(req->una_psn, held);
}

/* The answer to @psn measures a round trip; if it went @again, maybe of the first. */
static inline void srdma_req_time_trip(struct srdma_rc_req *req, u32 psn,
				       bool again, u64 now)
{
	req->rtt_timed = true;
	req->rtt_again = again;
	req->rtt_probe = false;
	req->rtt_psn = psn;
	req->rtt_through = srdma_req_through(req);
	req->rtt_at = now;
}

/* @packets were sent while @was_idle: nothing was outstanding before. */
void srdma_req_note_sent(struct srdma_rc_req *req, bool was_idle, u64 now);

/* @steps PSNs became complete; una_psn is the new one already. */
void srdma_req_note_progress(struct srdma_rc_req *req, u32 steps, u64 now);

/* Something sent is lost: at most once for a window full. */
void srdma_req_note_loss(struct srdma_rc_req *req);

/* It is over, at the latest because something is sent. */
void srdma_req_end_rnr_wait(struct srdma_rc_req *req, u64 now);

/* The oldest packet was sent once more, and the answer says where the peer is. */
void srdma_req_probe_sent(struct srdma_rc_req *req,
			  const struct srdma_rc_burst *burst, u64 now);

/* Recompute req->deadline. */
void srdma_req_rearm(struct srdma_rc_req *req);

/* A round trip and its spread, or as long as probes have shown it to be, ns. */
u64 srdma_req_longest_trip(const struct srdma_rc_req *req);

/* When to ask next if nothing is heard until then. */
u64 srdma_req_next_probe(const struct srdma_rc_req *req, u64 now);

#endif
