// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The queue of a requester, and what it sends next. A PSN of a SEND or WRITE is
 * complete when the peer has acknowledged it. A PSN of a READ, atomic or FLUSH
 * is complete when its response is in place. The two are kept apart. So the
 * requester can ask again for a READ whose response was lost, without repeating
 * what the peer has executed since.
 */
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#include "aeth.h"
#include "burst.h"
#include "opcode.h"
#include "psn.h"
#include "rc_req.h"
#include "rc_req_priv.h"
#include "wire.h"

/* See ask_at_end(). */
#define QUIET_MAX	16u

void srdma_rc_req_init(struct srdma_rc_req *req,
		       const struct srdma_rc_req_attr *attr,
		       void *base, u32 stride, u32 mask)
{
	memset(req, 0, sizeof(*req));
	req->base = base;
	req->stride = stride;
	req->mask = mask;
	req->mtu_shift = ilog2(attr->mtu);
	req->cur_psn = attr->psn;
	req->una_psn = attr->psn;
	req->max_psn = attr->psn;
	req->ack_psn = attr->psn;
	req->resend_psn = attr->psn;
	req->mode = SRDMA_REQ_RUN;
	req->settles = attr->settles;
	req->win_near = U32_MAX;
	if (attr->near_inflight)
		req->win_near = max(attr->near_inflight >> req->mtu_shift, 1u);
	req->win_top = req->win_near;
	srdma_rc_req_update(req, attr);
	req->cwnd = req->win_top;
	if (attr->start_inflight)
		req->cwnd = clamp(attr->start_inflight >> req->mtu_shift, 1u,
				  req->win_top);
	req->win_first = req->win_max;
	if (attr->first_inflight)
		req->win_first = max(attr->first_inflight >> req->mtu_shift,
				     1u);
	req->ssthresh = req->win_max;
	req->cwnd_floor = SRDMA_REQ_CWND_FLOOR;
	req->retry_left = req->retry_cnt;
	req->rnr_left = req->rnr_retry;
}

/* What is left of a new count, when some of the old one were used. */
static u8 left_of(u8 count, u8 used)
{
	return count - min(used, count);
}

void srdma_rc_req_update(struct srdma_rc_req *req,
			 const struct srdma_rc_req_attr *attr)
{
	u32 win = attr->max_inflight >> req->mtu_shift;

	/* 9.7.1: no more than half of the PSNs may be outstanding. */
	if (!attr->max_inflight || win > SRDMA_PSN_WINDOW_MAX)
		win = SRDMA_PSN_WINDOW_MAX;
	req->win_max = max(win, 1u);
	req->win_near = min(req->win_near, req->win_max);
	req->win_top = min(req->win_top, req->win_max);
	req->cwnd = min(req->cwnd, req->win_max);
	req->ssthresh = min(req->ssthresh, req->win_max);
	req->max_rd_atomic = attr->max_rd_atomic;
	req->retry_left = left_of(attr->retry_cnt,
				  req->retry_cnt - req->retry_left);
	req->rnr_left = left_of(attr->rnr_retry,
				req->rnr_retry - req->rnr_left);
	req->retry_cnt = attr->retry_cnt;
	req->rnr_retry = attr->rnr_retry;
	req->timeout = attr->timeout;
	srdma_req_set_patience(req);
}

/*
 * First PSN of a started message that is not complete yet; its end if there
 * is none. Of the message at una what lies before una_psn is complete.
 */
static u32 first_needed(const struct srdma_rc_req *req, u32 idx)
{
	const struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);
	u32 acked, begin, end;

	if (srdma_msg_is_local(msg))
		return msg->psn;
	if (srdma_msg_is_rd(msg)) {
		if (msg->answered)
			return srdma_msg_end(msg);
		return srdma_psn_add(msg->psn, msg->done >> req->mtu_shift);
	}
	begin = idx == req->una ? 0 : srdma_req_dist(req, msg->psn);
	end = srdma_req_dist(req, srdma_msg_end(msg));
	acked = srdma_req_dist(req, req->ack_psn);
	return srdma_psn_add(req->una_psn, clamp(acked, begin, end));
}

static bool is_complete(const struct srdma_rc_req *req, u32 idx)
{
	const struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);

	return first_needed(req, idx) == srdma_msg_end(msg);
}

void srdma_req_executed(struct srdma_rc_req *req, u32 psn)
{
	if (srdma_req_dist(req, psn) > srdma_req_dist(req, req->ack_psn))
		req->ack_psn = psn;
}

/* una has moved on: no other position may be behind it. */
static void pull_along(struct srdma_rc_req *req, u32 from, u32 steps)
{
	if (srdma_psn_dist(from, req->cur_psn) < steps)
		req->cur_psn = req->una_psn;
	if (srdma_psn_dist(from, req->resend_psn) < steps)
		req->resend_psn = req->una_psn;
	if (req->cur - req->tail < req->una - req->tail)
		req->cur = req->una;
}

/*
 * The peer has a receive WQE again. It may take one message, and for each that it
 * takes, one more. So a few messages are sent in vain, not all of the window.
 */
static void open_after_rnr(struct srdma_rc_req *req, u32 taken)
{
	req->rnr_open += taken;
	if (req->rnr_open > req->mask)
		req->rnr_open = 0;
}

void srdma_req_advance(struct srdma_rc_req *req, u64 now)
{
	u32 from = req->una_psn;
	u32 first = req->una;
	u32 steps;

	req->lag = 0;
	req->trails = false;
	while (req->una != req->fresh) {
		u32 idx = req->una;
		struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);

		if (req->failing && idx == req->fail_idx)
			break;
		req->una_psn = first_needed(req, idx);
		if (req->una_psn != srdma_msg_end(msg))
			break;
		if (srdma_msg_is_rd(msg))
			req->rd_out -= srdma_req_requests_of(msg);
		req->una++;
		if (unlikely(req->ahead) && req->una != req->fresh)
			req->ahead -= srdma_msg_in_place(req, srdma_rc_req_msg(req, req->una));
	}
	if (req->rnr_open)
		open_after_rnr(req, req->una - first);
	steps = srdma_psn_dist(from, req->una_psn);
	pull_along(req, from, steps);
	if (steps)
		srdma_req_note_progress(req, steps, now);
	if (srdma_req_fails_now(req))
		srdma_req_fail_now(req, req->fail_idx, req->fail_status);
	srdma_req_rearm(req);
}

/* A response may now be to either copy: it measures no round trip (Karn). */
static void note_back(struct srdma_rc_req *req, u64 now)
{
	req->rtt_timed = false;
	req->rtt_resend = false;
	req->unasked = 0;
	req->nak_again = false;
	req->back_at = now;
}

void srdma_req_go_back(struct srdma_rc_req *req, u64 now)
{
	req->cur = req->una;
	req->cur_psn = req->una_psn;
	req->resend_psn = req->max_psn;
	req->resend_all = true;
	req->late_at = 0;
	req->again_count = 0;
	req->held = 0;
	req->held_all = 0;
	srdma_req_none_on_its_way(req);
	note_back(req, now);
}

void srdma_req_ask_again(struct srdma_rc_req *req, u32 idx, u64 now)
{
	struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);
	u32 end = srdma_msg_sent_end(req, msg);
	u32 psn = first_needed(req, idx);

	if (msg->high)
		psn = srdma_psn_add(msg->psn,
				    srdma_req_missing(req, msg, msg->asked));
	msg->lost = true;
	if (!srdma_req_resending(req)) {
		srdma_req_none_on_its_way(req);
		req->resend_all = false;
		req->resend_psn = end;
	}
	if (srdma_req_dist(req, psn) < srdma_req_dist(req, req->cur_psn)) {
		req->cur = idx;
		req->cur_psn = psn;
	}
	if (srdma_req_dist(req, end) > srdma_req_dist(req, req->resend_psn))
		req->resend_psn = end;
	note_back(req, now);
}

void srdma_req_fail_now(struct srdma_rc_req *req, u32 idx,
			enum srdma_status status)
{
	req->mode = SRDMA_REQ_ERROR;
	/* One before it may have failed here, and wait for what is older still. */
	if (!srdma_req_behind_fail(req, idx)) {
		req->fail_idx = idx;
		req->fail_status = status;
	}
	req->failing = false;
	req->failed = true;
	srdma_req_rearm(req);
}

/* Go to the newest PSN: into a message that has begun, or to a new one. */
static void jump_to_front(struct srdma_rc_req *req)
{
	req->cur = req->fresh;
	req->cur_psn = req->max_psn;
	if (req->fresh != req->una &&
	    srdma_msg_end(srdma_rc_req_msg(req, req->fresh - 1)) !=
	    req->max_psn)
		req->cur--;
}

/*
 * First PSN of the message at cur, from cur_psn on, that is sent again this time; its
 * end if there is none.
 */
static u32 needed_again(const struct srdma_rc_req *req)
{
	const struct srdma_rc_msg *msg = srdma_rc_req_msg(req, req->cur);

	/* What a peer lacks that holds back the rest, it reports. */
	if (!req->resend_all && !(srdma_msg_is_rd(msg) ? msg->lost :
							 !req->stamp))
		return srdma_msg_sent_end(req, msg);
	if (!srdma_msg_is_rd(msg) || !msg->high)
		return first_needed(req, req->cur);
	return srdma_req_next_hole(req, msg,
				   srdma_psn_dist(msg->psn, req->cur_psn));
}

/* Passes over messages that need not be sent again. */
static void skip_complete(struct srdma_rc_req *req)
{
	while (srdma_req_resending(req)) {
		struct srdma_rc_msg *msg;
		u32 needed;

		if (srdma_req_dist(req, req->cur_psn) >=
		    srdma_req_dist(req, req->resend_psn)) {
			jump_to_front(req);
			return;
		}
		msg = srdma_rc_req_msg(req, req->cur);
		needed = needed_again(req);
		if (srdma_req_dist(req, needed) >
		    srdma_req_dist(req, req->cur_psn))
			req->cur_psn = needed;
		if (needed == srdma_msg_sent_end(req, msg))
			msg->lost = false;
		if (needed != srdma_msg_end(msg))
			return;
		req->cur++;
	}
	/* Local operations behind the last PSN were executed before. */
	while (req->cur != req->fresh && is_complete(req, req->cur))
		req->cur++;
}

/* May the message at cur, of which nothing was sent, be begun? */
static enum srdma_req_next may_begin(const struct srdma_rc_req *req,
				     const struct srdma_rc_msg *msg)
{
	if (req->mode == SRDMA_REQ_DRAIN)
		return SRDMA_NEXT_SQD;
	/* 10.8.3: a fence waits for READs and atomics in front. */
	if (msg->flags & SRDMA_WR_FENCE && req->rd_out)
		return SRDMA_NEXT_FENCE;
	if ((msg->flags & SRDMA_MSG_DRAIN || msg->op == SRDMA_WR_LOCAL_INV) &&
	    req->una != req->cur)
		return SRDMA_NEXT_ORDER;
	if (srdma_msg_is_local(msg))
		return SRDMA_NEXT_LOCAL;
	if (srdma_msg_is_rd(msg) && srdma_req_unanswered(req) >= req->max_rd_atomic)
		return SRDMA_NEXT_RD_ATOMIC;
	return SRDMA_NEXT_SEND;
}

/* Before the first answer there is a window of its own. */
static u32 known_window(const struct srdma_rc_req *req)
{
	return likely(req->heard) ? req->cwnd : min(req->cwnd, req->win_first);
}

/* Packets that may be in flight at present. */
static u32 window(const struct srdma_rc_req *req)
{
	u32 win = known_window(req);

	return srdma_req_is_slow(req) ? min(win, srdma_req_slow_window(req)) :
					win;
}

/* Gives a message its place among the PSNs. */
static void begin(struct srdma_rc_req *req, struct srdma_rc_msg *msg)
{
	msg->psn = req->cur_psn;
	/* The peer counts messages, and does not know of local operations. */
	msg->ssn = srdma_msg_is_local(msg) ? req->ssn :
					     srdma_psn_next(req->ssn);
	msg->npsn = 1;
	if (srdma_msg_is_local(msg))
		msg->npsn = 0;
	else if (!srdma_msg_is_rd(msg) || msg->op == SRDMA_WR_READ)
		msg->npsn = srdma_burst_packets(msg->len, req->mtu_shift);
	msg->part = srdma_req_part_of(req, msg, window(req));
}

/*
 * 9.7.7.2: without a credit only the packet that takes the receive WQE may go,
 * and alone. Returns how many packets from @pos on may be sent.
 */
static u32 credit_packets(const struct srdma_rc_req *req,
			  const struct srdma_rc_msg *msg, u32 pos)
{
	u32 gate;

	if (!req->limited || srdma_req_resending(req) ||
	    !(srdma_wr_infos[msg->op].flags & SRDMA_WRI_RWQE) ||
	    !srdma_psn_after(msg->ssn, req->lsn))
		return U32_MAX;
	gate = msg->op == SRDMA_WR_WRITE_IMM ? msg->npsn - 1 : 0;
	/* The first packet was executed: so there was a WQE for it. */
	if (pos > gate)
		return first_needed(req, req->cur) != msg->psn ? U32_MAX : 0;
	if (pos < gate)
		return gate - pos;
	return srdma_req_outstanding(req) ? 0 : 1;
}

/*
 * Packets in flight before an acknowledge is requested inside a message. On a long
 * path there are many in a round trip, and each acknowledge measures the path.
 */
static u32 ask_every(const struct srdma_rc_req *req)
{
	return max(min(known_window(req), req->win_near) / 4, 1u);
}

/*
 * Packets at the end of the queue that may go without a request for an
 * acknowledge, while nobody waits for their completion. So one acknowledge answers
 * many small messages. If no later packet requests it, a probe does.
 */
static u32 ask_at_end(const struct srdma_rc_req *req)
{
	return min(QUIET_MAX, (req->mask + 1) / 4);
}

/* Packets from the oldest one up to @psn that are on their way. */
static u32 on_the_way(const struct srdma_rc_req *req, u32 psn)
{
	u32 sent = srdma_req_dist(req, psn);

	/* What has come is not. */
	return sent - min(sent, req->kept_count + req->ahead + req->held);
}

/* Does the last packet of @b ask for an acknowledge? */
static bool asks(const struct srdma_rc_req *req,
		 const struct srdma_rc_msg *msg, const struct srdma_burst *b)
{
	u32 end = on_the_way(req, srdma_psn_add(b->psn, b->count));
	const struct srdma_rc_msg *after;

	/* The next burst may be far: silence until then shall mean a loss. */
	if (srdma_req_is_slow(req) || srdma_req_feels_the_way(req, b->psn))
		return true;
	if (req->unasked + b->count >= ask_every(req) || end >= window(req))
		return true;
	if (srdma_psn_add(b->psn, b->count) != srdma_msg_end(msg))
		return false;
	if (srdma_req_behind_rnr(req, req->cur + 1))
		return true;
	if (msg->flags & SRDMA_WR_SIGNALED || req->mode != SRDMA_REQ_RUN ||
	    b->resend)
		return true;
	/* The last credit: what follows is going to wait for others. */
	if (req->limited && !srdma_psn_before(msg->ssn, req->lsn) &&
	    srdma_wr_infos[msg->op].flags & SRDMA_WRI_RWQE)
		return true;
	if (req->cur + 1 == req->head)
		return req->unasked + b->count >= ask_at_end(req);
	after = srdma_rc_req_msg(req, req->cur + 1);
	return after->flags & SRDMA_MSG_DRAIN || srdma_msg_is_local(after);
}

/* Not inlined: it is rare. */
static noinline u8 stamp_of(const struct srdma_rc_req *req,
			    const struct srdma_burst *b)
{
	if (b->resend)
		return req->stamp;
	return req->held ? req->stamp | SRDMA_STAMP_FRESH : 0;
}

void srdma_req_fill_burst(const struct srdma_rc_req *req, u32 idx, u32 psn,
			  u32 max, struct srdma_rc_burst *out)
{
	struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);
	u32 pos = srdma_psn_dist(msg->psn, psn);
	struct srdma_burst *b = &out->b;

	out->idx = idx;
	out->msg = msg;
	out->probe = false;
	out->again = false;
	b->psn = psn;
	b->resend = psn != req->max_psn;
	b->stamp = 0;
	if (unlikely(req->stamp))
		b->stamp = stamp_of(req, b);
	b->solicited = false;
	if (srdma_msg_is_rd(msg)) {
		srdma_req_fill_rd(req, msg, pos, max, b);
		return;
	}
	srdma_burst_cut(b, SRDMA_QPT_RC, msg->op, msg->len, pos, max,
			req->mtu_shift);
	if (pos + b->count == msg->npsn)
		b->solicited = msg->flags & SRDMA_WR_SOLICITED;
	b->ack_req = asks(req, msg, b);
}

/* Longest burst of @msg, from cur_psn on, that is to be sent at once. */
static u32 longest(const struct srdma_rc_req *req,
		   const struct srdma_rc_msg *msg,
		   const struct srdma_burst_limit *limit)
{
	u32 packets = max(known_window(req) / 2, SRDMA_REQ_TRAIN_FLOOR);

	if (unlikely(srdma_req_is_one_of_many(req)))
		return 1;
	packets = min(packets,
		      srdma_burst_most(limit, msg->op,
				       srdma_psn_dist(msg->psn, req->cur_psn),
				       req->mtu_shift));
	packets = min(packets, srdma_psn_dist(req->cur_psn,
					      srdma_msg_end(msg)));
	if (srdma_req_resending(req))
		packets = min(packets, srdma_psn_dist(req->cur_psn,
						      req->resend_psn));
	if (srdma_req_paces(req))
		packets = min(packets, srdma_req_paced_burst(req));
	return srdma_req_feels_the_way(req, req->cur_psn) ? 1 : packets;
}

/*
 * Packets of @msg for which the window, old PSNs and the caller have room. A train
 * that the window would cut short waits for an acknowledge that was requested.
 * Otherwise each acknowledge would release a few packets, these would get an
 * acknowledge of their own, and trains would get shorter and shorter.
 */
static u32 room(const struct srdma_rc_req *req, const struct srdma_rc_msg *msg,
		const struct srdma_burst_limit *limit)
{
	u32 flight = on_the_way(req, req->cur_psn);
	u32 win = window(req);
	bool divisible = true;
	u32 packets, left;

	if (flight >= win)
		return 0;
	/* While something is missing, no READ is begun of which not all could be kept. */
	if (req->kept_count + req->ahead && srdma_msg_is_rd(msg) &&
	    req->cur_psn == req->max_psn &&
	    srdma_req_dist(req, srdma_msg_end(msg)) > SRDMA_REQ_KEPT)
		return 0;
	/* A READ of more than half of all PSNs is sent when nothing else is in flight. */
	if (flight && msg->npsn > SRDMA_PSN_WINDOW_MAX - flight)
		return 0;
	if (srdma_msg_is_rd(msg))
		packets = srdma_req_answer_packets(req, msg, &divisible);
	else
		packets = longest(req, msg, limit);
	left = win - flight;
	if (flight && left < packets && !divisible)
		return 0;
	if (left < packets && left < win / 2 && !req->unasked)
		return 0;
	return min(packets, left);
}

/*
 * Packets of @msg that a probe is for. What a READ has lost before a trip was known may
 * have been too much.
 */
static u32 probe_packets(const struct srdma_rc_req *req, const struct srdma_rc_msg *msg)
{
	if (!srdma_msg_is_rd(msg))
		return 1;
	return req->srtt_ns ? window(req) : min(window(req), SRDMA_REQ_CWND_RESTART);
}

/* Sends the oldest incomplete packet again: the peer answers what it expects. */
static void fill_probe(const struct srdma_rc_req *req,
		       struct srdma_rc_burst *out)
{
	const struct srdma_rc_msg *msg = srdma_rc_req_msg(req, req->una);

	srdma_req_fill_burst(req, req->una, req->una_psn, probe_packets(req, msg), out);
	out->b.stamp = req->stamp ? SRDMA_STAMP_ALL : 0;
	out->probe = true;
	out->b.ack_req = true;
	out->b.resend = true;
}

/* The next step waits for an acknowledge that no packet has requested yet. */
static bool ask_now(const struct srdma_rc_req *req, struct srdma_rc_burst *out)
{
	if (!req->unasked || !srdma_req_outstanding(req))
		return false;
	fill_probe(req, out);
	return true;
}

/* The deadline follows. Not inlined: it is rare. */
static noinline bool must_wait(struct srdma_rc_req *req, u64 now)
{
	u64 pace_at = req->slow.pace_at;
	bool waits = srdma_req_must_wait(req, now);

	if (req->slow.pace_at != pace_at)
		srdma_req_rearm(req);
	return waits;
}

enum srdma_req_next srdma_rc_req_next(struct srdma_rc_req *req, u64 now,
				      const struct srdma_burst_limit *limit,
				      struct srdma_rc_burst *out)
{
	enum srdma_req_next may;
	struct srdma_rc_msg *msg;
	u32 credit, packets;

	if (srdma_req_dead(req))
		return SRDMA_NEXT_ERROR;
	if (req->rnr_until > now)
		return SRDMA_NEXT_RNR;
	if (srdma_req_paces(req) && must_wait(req, now))
		return SRDMA_NEXT_PACE;
	if (unlikely(req->again_count)) {
		may = srdma_req_next_again(req, now, limit, out);
		if (may != SRDMA_NEXT_EMPTY)
			return may;
	}
	skip_complete(req);
	if (req->probe_due) {
		fill_probe(req, out);
		return SRDMA_NEXT_SEND;
	}
	if (srdma_req_behind_fail(req, req->cur))
		return SRDMA_NEXT_FAILING;
	if (req->cur == req->head)
		return SRDMA_NEXT_EMPTY;
	if (srdma_req_behind_rnr(req, req->cur))
		return SRDMA_NEXT_RNR;
	msg = srdma_rc_req_msg(req, req->cur);
	if (req->cur == req->fresh) {
		may = may_begin(req, msg);
		if (may == SRDMA_NEXT_ORDER && ask_now(req, out))
			return SRDMA_NEXT_SEND;
		if (may != SRDMA_NEXT_SEND && may != SRDMA_NEXT_LOCAL)
			return may;
		begin(req, msg);
		if (may == SRDMA_NEXT_LOCAL) {
			out->idx = req->cur;
			out->msg = msg;
			return may;
		}
	} else if (req->cur_psn == req->max_psn && srdma_msg_is_rd(msg)) {
		if (!srdma_req_outstanding(req) && req->una == req->cur)
			srdma_req_part_anew(req, msg, window(req));
		/* When what is in flight has come, all of the rest. */
		else if (srdma_req_outstanding(req) && !srdma_req_is_narrow(req))
			return SRDMA_NEXT_WINDOW;
		if (srdma_req_unanswered(req) >= req->max_rd_atomic)
			return SRDMA_NEXT_RD_ATOMIC;
	}
	packets = room(req, msg, limit);
	if (!packets)
		return SRDMA_NEXT_WINDOW;
	credit = credit_packets(req, msg, srdma_psn_dist(msg->psn,
							 req->cur_psn));
	if (!credit)
		return ask_now(req, out) ? SRDMA_NEXT_SEND : SRDMA_NEXT_CREDIT;
	srdma_req_fill_burst(req, req->cur, req->cur_psn, min(packets, credit),
			     out);
	if (req->limited && credit <= out->b.count)
		out->b.ack_req = true;
	return SRDMA_NEXT_SEND;
}

/* The first packet of the message at cur was sent, or it was executed locally. */
static void note_begun(struct srdma_rc_req *req, struct srdma_rc_msg *msg)
{
	req->ssn = msg->ssn;
	req->fresh++;
	if (srdma_msg_is_rd(msg))
		req->rd_out++;
}

/* To the peer each request is a message. */
static void note_next_part(struct srdma_rc_req *req, struct srdma_rc_msg *msg)
{
	msg->ssn = srdma_psn_next(req->ssn);
	req->ssn = msg->ssn;
	req->rd_out++;
}

void srdma_rc_req_sent(struct srdma_rc_req *req,
		       const struct srdma_rc_burst *burst, u64 now)
{
	bool idle = !srdma_req_outstanding(req);
	const struct srdma_burst *b = &burst->b;
	struct srdma_rc_msg *msg = burst->msg;
	bool again = b->resend && !srdma_req_is_answered_anew(req, msg, b->psn);

	if (srdma_req_paces(req))
		srdma_req_paced_sent(req, burst, now);
	if (unlikely(burst->probe | burst->again)) {
		if (burst->probe)
			srdma_req_probe_sent(req, burst, now);
		else
			srdma_req_again_sent(req, burst, now);
		return;
	}
	if (srdma_req_feels_the_way(req, b->psn) && !srdma_msg_is_rd(msg))
		req->rtt_alone = true;
	if (unlikely(req->rnr_until))
		srdma_req_end_rnr_wait(req, now);
	if (burst->idx == req->fresh)
		note_begun(req, msg);
	else if (srdma_msg_is_rd(msg) && !b->resend)
		note_next_part(req, msg);
	if (srdma_msg_is_rd(msg))
		req->cur_psn = srdma_req_note_asked(req, msg, b);
	else
		req->cur_psn = srdma_psn_add(b->psn, b->count);
	if (req->cur_psn == srdma_msg_end(msg))
		req->cur++;
	if (!b->resend)
		req->max_psn = req->cur_psn;
	req->unasked = b->ack_req ? 0 : req->unasked + b->count;
	if (b->ack_req && !req->rtt_timed && srdma_req_may_time(req, again))
		srdma_req_time_trip(req, srdma_burst_psn(b, b->count - 1), again, now);
	srdma_req_note_sent(req, idle, now);
}

void srdma_rc_req_local_done(struct srdma_rc_req *req,
			     const struct srdma_rc_burst *burst)
{
	burst->msg->answered = true;
	note_begun(req, burst->msg);
	req->cur++;
	srdma_req_advance(req, req->heard_at);
}
