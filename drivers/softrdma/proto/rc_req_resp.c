// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a response does to the requester. Any response says that the peer has
 * executed everything before it (coalesced and implied acknowledges). An
 * earlier READ or atomic without a response has lost it, and is repeated at
 * once.
 */
#include <linux/minmax.h>
#include <linux/types.h>

#include "aeth.h"
#include "opcode.h"
#include "packet.h"
#include "psn.h"
#include "rc_req.h"
#include "rc_req_priv.h"

/* RNR NAKs in a row double the longest wait, so often and so far at most. */
#define RNR_ROW_MAX		10
#define RNR_BACKOFF_MAX_NS	8000000ull

/*
 * Too early for the peer to have seen what was sent again: within a round trip
 * and its spread, or as long as probes have shown it to be. Twice as long after
 * each retry: what is sent again and again may itself be what makes the trip
 * longer than it was when measured.
 */
static bool just_back(const struct srdma_rc_req *req, u64 now)
{
	u32 spent = req->retry_cnt - req->retry_left;
	u64 trip = srdma_req_longest_trip(req);

	return req->back_at && now - req->back_at < trip << spent >> 1;
}

/* 9.7.7.2: the credits count from the message that the peer is at. */
static void take_credits(struct srdma_rc_req *req, const struct srdma_pkt *pkt)
{
	u8 code = srdma_aeth_value(pkt->aeth.syndrome);
	u32 lsn;

	if (code == SRDMA_CREDIT_UNLIMITED) {
		req->limited = false;
		return;
	}
	lsn = srdma_psn_add(pkt->aeth.msn, srdma_credit_decode(code));
	if (!req->limited || srdma_psn_after(lsn, req->lsn))
		req->lsn = lsn;
	req->limited = true;
}

/*
 * A response to @psn came. A READ or atomic in front of that which has no
 * answer has lost it: responses come in PSN order. But a response that was on
 * its way when the READ was asked for again proves nothing about the second
 * answer: that is msg->guard.
 */
static void check_unanswered(struct srdma_rc_req *req, u32 psn, u64 now)
{
	u32 dist = srdma_req_dist(req, psn);
	struct srdma_rc_msg *msg;
	u32 idx = req->una;
	u32 look;

	if (dist >= srdma_req_dist(req, req->max_psn))
		return;
	for (look = 0; look < SRDMA_REQ_LOOK_AHEAD && idx != req->fresh;
	     look++, idx++) {
		msg = srdma_rc_req_msg(req, idx);
		if (idx != req->una && srdma_req_dist(req, msg->psn) >= dist)
			break;
		if (!srdma_msg_is_rd(msg) || msg->answered ||
		    dist < srdma_req_dist(req, msg->guard))
			continue;
		if (srdma_req_may_be_late(req, psn, now)) {
			msg->passed = true;
			continue;
		}
		msg->cut = msg->high;
		srdma_req_lost(req, idx, now);
	}
}

static enum srdma_req_resp take_ack(struct srdma_rc_req *req,
				    const struct srdma_pkt *pkt, u64 now)
{
	bool probed = req->probe_out && pkt->psn == req->probe_psn;
	u32 from = req->una_psn;

	take_credits(req, pkt);
	srdma_req_executed(req, srdma_psn_next(pkt->psn));
	/* If there were holes, it would say so. */
	req->held = 0;
	req->held_all = 0;
	/* A trip that ends here is told all that has got through. */
	if (pkt->opcode == SRDMA_RC_SACK)
		req->held_all = min_t(u32, pkt->aeth.held,
				      srdma_req_dist(req, req->max_psn));
	srdma_req_advance(req, now);
	req->held_all = 0;
	if (srdma_req_dead(req))
		return SRDMA_REQ_FAILED;
	if (probed && req->una_psn != from && srdma_req_outstanding(req) &&
	    pkt->opcode != SRDMA_RC_SACK) {
		/*
		 * Only now did the peer take the packet that the probe
		 * repeated: it has dropped everything sent behind it, or
		 * that was lost, too.
		 */
		srdma_req_note_loss(req);
		srdma_req_go_back(req, now);
	}
	check_unanswered(req, pkt->psn, now);
	return SRDMA_REQ_ACK;
}

/*
 * A number below 2^16 that is another one for each QP and each time; equal ones do
 * no harm. The time alone differs by little between QPs that were refused together:
 * the factor makes much of it.
 */
static u32 throw_dice(const struct srdma_rc_req *req, u64 now)
{
	return (((u32)now ^ req->una_psn) * 0x9e3779b1u) >> 16;
}

/*
 * How long to wait: at least what was asked for, which may be 10 us. A peer
 * that is not ready again and again has no receives for some time yet; to send
 * it everything each 10 us would take a processor, maybe the very one that the
 * peer needs to post them.
 *
 * Many QPs may have been refused together, by one SRQ. If they waited equally
 * long, they would come together again: one would take all that has been posted
 * meanwhile, the others be refused, and in between nobody would come.
 */
static u64 rnr_wait(struct srdma_rc_req *req, u8 code, u64 now)
{
	u64 asked = srdma_rnr_timer_ns(code);
	u64 most = min(asked << req->rnr_row, max(asked, RNR_BACKOFF_MAX_NS));

	if (req->rnr_row < RNR_ROW_MAX)
		req->rnr_row++;
	return asked + ((most - asked) * throw_dice(req, now) >> 16);
}

/* RNR NAK (9.7.5.2): the message at @psn waits for a receive WQE. */
static enum srdma_req_resp take_rnr(struct srdma_rc_req *req,
				    const struct srdma_pkt *pkt, u64 now)
{
	if (req->rnr_until > now)
		return SRDMA_REQ_DROP_DUP;
	srdma_req_executed(req, pkt->psn);
	srdma_req_advance(req, now);
	if (srdma_req_dead(req))
		return SRDMA_REQ_FAILED;
	if (!req->rnr_left) {
		srdma_req_fail_now(req, srdma_req_find(req, pkt->psn),
				   SRDMA_ST_RNR_RETRY_EXC);
		return SRDMA_REQ_FAILED;
	}
	if (req->rnr_retry != 7)
		req->rnr_left--;
	srdma_req_go_back(req, now);
	req->rtt_resend = true;
	req->rnr_open = 1;
	req->probe_due = false;
	req->rnr_until = now + rnr_wait(req,
					srdma_aeth_value(pkt->aeth.syndrome),
					now);
	srdma_req_rearm(req);
	return SRDMA_REQ_RNR_WAIT;
}

/*
 * Sequence NAK: the peer dropped everything from @psn on. One that comes
 * right after going back for the same PSN is a copy of the one acted upon.
 */
static enum srdma_req_resp take_seq_nak(struct srdma_rc_req *req,
					const struct srdma_pkt *pkt, u64 now)
{
	if (req->rnr_until > now)
		return SRDMA_REQ_DROP_DUP;
	if (srdma_req_resending(req) && req->cur_psn == req->una_psn) {
		srdma_req_go_back(req, now);
		return SRDMA_REQ_DROP_DUP;
	}
	if (just_back(req, now) && pkt->psn == req->nak_psn) {
		req->nak_again = true;
		return SRDMA_REQ_DROP_DUP;
	}
	if (pkt->stamp && pkt->stamp == req->stamp)
		return SRDMA_REQ_DROP_DUP;
	srdma_req_executed(req, pkt->psn);
	srdma_req_advance(req, now);
	if (srdma_req_dead(req))
		return SRDMA_REQ_FAILED;
	/* It got on since the last one, even if an answer to a READ did not. */
	if (pkt->psn != req->nak_psn)
		req->retry_left = req->retry_cnt;
	if (!req->retry_left) {
		srdma_req_fail_now(req, req->una, SRDMA_ST_RETRY_EXC);
		return SRDMA_REQ_FAILED;
	}
	req->retry_left--;
	req->nak_psn = pkt->psn;
	req->heard_at = now;
	/* What took a probe was lost, not late. */
	req->probed = false;
	/* All in flight is lost with it: the next loss is another one. */
	req->recovering = false;
	if (pkt->stamp && req->mend) {
		srdma_req_repeat_missing(req, pkt, now);
	} else {
		srdma_req_note_loss(req);
		srdma_req_go_back(req, now);
		req->rtt_resend = true;
	}
	srdma_req_rearm(req);
	return SRDMA_REQ_RETRY;
}

static enum srdma_req_resp take_nak(struct srdma_rc_req *req,
				    const struct srdma_pkt *pkt, u64 now)
{
	enum srdma_status status;

	switch (srdma_aeth_value(pkt->aeth.syndrome)) {
	case SRDMA_NAK_PSN_SEQ:
		return take_seq_nak(req, pkt, now);
	case SRDMA_NAK_INV_REQ:
		status = SRDMA_ST_REM_INV_REQ;
		break;
	case SRDMA_NAK_REM_ACCESS:
		status = SRDMA_ST_REM_ACCESS;
		break;
	case SRDMA_NAK_REM_OP:
		status = SRDMA_ST_REM_OP;
		break;
	default:
		return SRDMA_REQ_DROP_KIND;
	}
	srdma_req_executed(req, pkt->psn);
	srdma_req_advance(req, now);
	if (!srdma_req_dead(req))
		srdma_req_fail_now(req, srdma_req_find(req, pkt->psn), status);
	return SRDMA_REQ_FAILED;
}

static enum srdma_req_resp take_aeth(struct srdma_rc_req *req,
				     const struct srdma_pkt *pkt, u64 now)
{
	enum srdma_aeth_kind kind = srdma_aeth_kind(pkt->aeth.syndrome);

	/* A NAK overtaken by the ACK of the same packet means nothing. */
	if (kind != SRDMA_AETH_KIND_ACK &&
	    srdma_req_dist(req, pkt->psn) < srdma_req_dist(req, req->ack_psn))
		return SRDMA_REQ_DROP_DUP;
	switch (kind) {
	case SRDMA_AETH_KIND_ACK:
		return take_ack(req, pkt, now);
	case SRDMA_AETH_KIND_RNR:
		return take_rnr(req, pkt, now);
	case SRDMA_AETH_KIND_NAK:
		return take_nak(req, pkt, now);
	case SRDMA_AETH_KIND_BAD:
		break;
	}
	return SRDMA_REQ_DROP_KIND;
}

/* The peer answered what was not asked: nothing more is to be had of it. */
static enum srdma_req_resp bad_response(struct srdma_rc_req *req, u32 idx)
{
	srdma_req_fail_now(req, idx, SRDMA_ST_BAD_RESP);
	return SRDMA_REQ_FAILED;
}

/* A READ response that cannot be kept: it is as good as lost. */
static enum srdma_req_resp too_far(struct srdma_rc_req *req, u32 idx, u64 now)
{
	struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);

	if (msg->high)
		msg->cut = true;
	else if (!just_back(req, now))
		srdma_req_lost(req, idx, now);
	return SRDMA_REQ_DROP_GAP;
}

/*
 * Is this the opcode of a packet at @offset that ends the response, or does not
 * end it? A response that was asked for again begins anew at any packet, and
 * not every peer says so with a FIRST; but none begins in front of the first
 * packet. It ends at the last, or with a part that was asked for.
 */
static bool in_place(const struct srdma_rc_msg *msg,
		     const struct srdma_pkt *pkt, u32 offset, bool ends)
{
	u32 op = pkt->op->flags;

	if (!offset && !(op & SRDMA_OP_START))
		return false;
	return op & SRDMA_OP_END ? ends || msg->parts : !ends;
}

/*
 * The answer to @idx, at @psn, says that all in front of it was executed: which
 * is news unless it is the oldest message that is not complete. Returns false if the QP
 * failed.
 */
static bool reach(struct srdma_rc_req *req, u32 idx, u32 psn, u64 now)
{
	if (idx == req->una + req->lag)
		return true;
	srdma_req_executed(req, psn);
	srdma_req_advance(req, now);
	if (srdma_req_dead(req))
		return false;
	if (idx != req->una)
		check_unanswered(req, psn, now);
	return true;
}

/*
 * Of a READ only a part was asked for, and a run of packets, which begins in it, ends at
 * @end, behind it. What is not asked for is a ghost, and nobody sends both in one.
 */
static noinline bool goes_too_far(const struct srdma_rc_req *req,
				  const struct srdma_rc_msg *msg, u32 end)
{
	return end > srdma_psn_dist(msg->psn, srdma_msg_sent_end(req, msg));
}

/*
 * An answer begins inside of what was asked for first: it is to a request for that. If
 * that was a probe, and the only one, something had been lost, and was not late.
 */
static noinline void note_anew(struct srdma_rc_req *req, u32 psn)
{
	req->anew = true;
	if (req->probes != 1 || psn != req->probe_psn)
		return;
	req->probed = false;
	req->backoff = 0;
}

static enum srdma_req_resp take_read(struct srdma_rc_req *req,
				     const struct srdma_pkt *pkt, u64 now,
				     struct srdma_rc_req_act *act)
{
	u32 idx = srdma_req_find(req, pkt->psn);
	struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);
	u32 count = pkt->more + 1u, most = count << req->mtu_shift;
	u32 at = srdma_psn_dist(msg->psn, pkt->psn);
	u32 offset = at << req->mtu_shift;
	u32 len = 0;

	if (!srdma_msg_is_rd(msg) || srdma_wr_infos[msg->op].flags &
	    SRDMA_WRI_ATOMIC)
		return bad_response(req, idx);
	if (srdma_req_behind_fail(req, idx))
		return SRDMA_REQ_DROP_ERROR;
	if (unlikely(msg->parts) && goes_too_far(req, msg, at + count))
		return SRDMA_REQ_DROP_GHOST;
	if (msg->op == SRDMA_WR_READ)
		len = msg->len;
	if (pkt->op->flags & SRDMA_OP_AETH &&
	    srdma_aeth_kind(pkt->aeth.syndrome) == SRDMA_AETH_KIND_ACK)
		take_credits(req, pkt);
	if (!reach(req, idx, pkt->psn, now))
		return SRDMA_REQ_FAILED;
	if (msg->answered || (offset != msg->done &&
			      srdma_req_missing(req, msg, at) >= at + count)) {
		srdma_req_came_twice(req, pkt->psn);
		return SRDMA_REQ_DROP_DUP;
	}
	if (pkt->payload_len != min(len - offset, most))
		return bad_response(req, idx);
	if (!in_place(msg, pkt, offset, len - offset <= most))
		return bad_response(req, idx);
	if (offset > msg->done && !srdma_req_may_keep(req, msg, at, count))
		return too_far(req, idx, now);
	if (pkt->op->flags & SRDMA_OP_START && !srdma_msg_part_begins(msg, at))
		note_anew(req, pkt->psn);
	act->idx = idx;
	act->psn = srdma_psn_add(pkt->psn, pkt->more);
	act->offset = offset;
	act->len = pkt->payload_len;
	return SRDMA_REQ_PLACE;
}

static enum srdma_req_resp take_atomic(struct srdma_rc_req *req,
				       const struct srdma_pkt *pkt, u64 now,
				       struct srdma_rc_req_act *act)
{
	u32 idx = req->lag ? req->una + req->lag : srdma_req_find(req, pkt->psn);
	struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);

	if (!(srdma_wr_infos[msg->op].flags & SRDMA_WRI_ATOMIC))
		return bad_response(req, idx);
	if (srdma_req_behind_fail(req, idx))
		return SRDMA_REQ_DROP_ERROR;
	if (srdma_aeth_kind(pkt->aeth.syndrome) == SRDMA_AETH_KIND_ACK)
		take_credits(req, pkt);
	if (!reach(req, idx, pkt->psn, now))
		return SRDMA_REQ_FAILED;
	if (msg->answered) {
		srdma_req_came_twice(req, pkt->psn);
		return SRDMA_REQ_DROP_DUP;
	}
	act->idx = idx;
	act->psn = pkt->psn;
	act->offset = 0;
	act->len = SRDMA_ATOMIC_LEN;
	act->orig = pkt->aeth.orig;
	return SRDMA_REQ_ATOMIC;
}

/*
 * 9.7.5.1: a response to what is not outstanding is a ghost. But an ACK that
 * comes again may bring new credits (9.7.7.2); old ones do no harm.
 */
static enum srdma_req_resp take_ghost(struct srdma_rc_req *req,
				      const struct srdma_pkt *pkt)
{
	if (!(pkt->op->flags & SRDMA_OP_AETH) ||
	    pkt->op->flags & (SRDMA_OP_READ_RESP | SRDMA_OP_ATOMIC_ACK) ||
	    !srdma_psn_before(pkt->psn, req->una_psn) ||
	    srdma_aeth_kind(pkt->aeth.syndrome) != SRDMA_AETH_KIND_ACK) {
		if (pkt->op->flags & (SRDMA_OP_READ_RESP |
				      SRDMA_OP_ATOMIC_ACK))
			srdma_req_came_twice(req, pkt->psn);
		return SRDMA_REQ_DROP_GHOST;
	}
	/* No peer takes back what it has acknowledged. */
	if (srdma_psn_before(srdma_psn_next(pkt->psn), req->una_psn))
		srdma_req_overtaken(req);
	take_credits(req, pkt);
	return SRDMA_REQ_ACK;
}

bool srdma_rc_req_expects(const struct srdma_rc_req *req,
			  const struct srdma_pkt *pkt)
{
	const struct srdma_rc_msg *msg;
	u32 idx, at;

	if (!(pkt->op->flags & SRDMA_OP_READ_RESP) ||
	    srdma_req_dist(req, pkt->psn) >= srdma_req_dist(req, req->max_psn))
		return false;
	idx = srdma_req_find(req, pkt->psn);
	msg = srdma_rc_req_msg(req, idx);
	at = srdma_psn_dist(msg->psn, pkt->psn);
	return msg->op == SRDMA_WR_READ && !msg->answered &&
	       (at == msg->done >> req->mtu_shift ||
		(at && at == msg->high));
}

/* It acknowledges as others do; and then the holes. Not inlined: it is rare. */
static noinline enum srdma_req_resp take_sack(struct srdma_rc_req *req,
					      const struct srdma_pkt *pkt,
					      u64 now)
{
	bool probed = req->probe_out && !srdma_psn_before(pkt->psn, req->probe_psn);

	if (srdma_aeth_kind(pkt->aeth.syndrome) != SRDMA_AETH_KIND_ACK)
		return SRDMA_REQ_DROP_KIND;
	if (srdma_req_dist(req, pkt->psn) < srdma_req_dist(req, req->max_psn)) {
		if (!req->heard)
			srdma_req_first_answer(req, now);
		if (take_ack(req, pkt, now) == SRDMA_REQ_FAILED)
			return SRDMA_REQ_FAILED;
	} else if (take_ghost(req, pkt) == SRDMA_REQ_DROP_GHOST) {
		return SRDMA_REQ_DROP_GHOST;
	}
	srdma_req_take_holes(req, pkt, probed, now);
	return SRDMA_REQ_SACK;
}

/* The first PSN that is missing of a READ without a hole. */
static u32 first_missing(const struct srdma_rc_req *req,
			 const struct srdma_rc_msg *msg)
{
	return srdma_psn_add(msg->psn, msg->done >> req->mtu_shift);
}

/* Is it what follows of the READ whose data @una_psn is to move over? */
static bool is_next_data(const struct srdma_rc_req *req,
			 const struct srdma_pkt *pkt)
{
	return pkt->op->flags & SRDMA_OP_READ_RESP &&
	       pkt->psn == first_missing(req, srdma_rc_req_msg(req, req->una));
}

/*
 * Is it the result of the atomic behind those that @una is to move over? It has not come
 * before: see may_lag().
 */
static bool is_next_result(const struct srdma_rc_req *req,
			   const struct srdma_pkt *pkt)
{
	u32 idx = req->una + req->lag;
	const struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);

	return pkt->opcode == SRDMA_RC_ATOMIC_ACK && idx != req->fresh &&
	       msg->psn == pkt->psn &&
	       srdma_wr_infos[msg->op].flags & SRDMA_WRI_ATOMIC;
}

enum srdma_req_resp srdma_rc_req_response(struct srdma_rc_req *req,
					  const struct srdma_pkt *pkt, u64 now,
					  struct srdma_rc_req_act *act)
{
	if ((req->lag && !is_next_result(req, pkt)) ||
	    (req->trails && !is_next_data(req, pkt)))
		srdma_req_advance(req, now);
	if (srdma_req_dead(req))
		return SRDMA_REQ_DROP_ERROR;
	if (!(pkt->op->flags & SRDMA_OP_RESP))
		return SRDMA_REQ_DROP_KIND;
	if (pkt->opcode == SRDMA_RC_SACK)
		return take_sack(req, pkt, now);
	if (srdma_req_dist(req, pkt->psn) >= srdma_req_dist(req, req->max_psn))
		return take_ghost(req, pkt);
	if (!req->heard)
		srdma_req_first_answer(req, now);
	if (pkt->opcode == SRDMA_RC_ACK)
		return take_aeth(req, pkt, now);
	if (pkt->opcode == SRDMA_RC_ATOMIC_ACK)
		return take_atomic(req, pkt, now, act);
	return take_read(req, pkt, now, act);
}

/* There is no hole, or the last one is filled. Is more of the READ to come? */
static void go_on(struct srdma_rc_req *req, u32 idx, bool had_hole, u64 now)
{
	struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);

	if (msg->cut) {
		msg->cut = false;
		/* Of what was not asked for yet nothing is lost. */
		if (first_missing(req, msg) != srdma_msg_sent_end(req, msg)) {
			srdma_req_lost(req, idx, now);
			return;
		}
	}
	if (had_hole)
		msg->lost = false;
	if (msg->lost || msg->done >> req->mtu_shift < msg->far ||
	    srdma_psn_add(msg->psn, msg->far) == srdma_msg_sent_end(req, msg))
		return;
	/* The part has come that was asked for: the next one. */
	srdma_req_ask_again(req, idx, now);
	req->rtt_resend = idx == req->una;
}

/*
 * The packets from @at to @end of a READ were placed, in which there was or is a hole.
 * Is anything to be asked for?
 */
static void mend(struct srdma_rc_req *req, u32 idx, u32 at, u32 end, u32 high,
		 u64 now)
{
	struct srdma_rc_msg *msg = srdma_rc_req_msg(req, idx);
	u32 done = msg->done >> req->mtu_shift;
	u32 behind = srdma_psn_add(msg->psn, end);

	if (at >= high)
		msg->cut = false;
	if (srdma_req_shows_lost(req, idx, at)) {
		srdma_req_lost_again(req, at, now);
		return;
	}
	/* The answer goes on, maybe behind a new hole, that is not asked for yet. */
	if (at > high)
		msg->asked = min(msg->asked, high);
	/* It was not asked for before: the answer can only be to this request. */
	if (msg->asked <= done) {
		if (!srdma_req_may_be_late(req, behind, now))
			req->rtt_resend |= srdma_req_lost(req, idx, now) &&
					   idx == req->una;
	} else if (at > high && req->anew && !msg->lost) {
		if (!srdma_req_may_be_late(req, behind, now))
			srdma_req_ask_for_lost(req, idx, now);
	} else if (at < high && end >= msg->asked) {
		srdma_req_lost(req, idx, now);
	}
}

/*
 * New data came, maybe behind what is lost: the peer is there, and gets on. A queue that
 * is always full may take the same packets many times, and is no reason to give up.
 */
static void note_new_data(struct srdma_rc_req *req, u64 now)
{
	req->news = true;
	req->heard_at = now;
}

/* Not inlined: it is rare. */
static noinline void placed_in_part(struct srdma_rc_req *req,
				    const struct srdma_rc_req_act *act, u64 now)
{
	struct srdma_rc_msg *msg = srdma_rc_req_msg(req, act->idx);
	u32 end = srdma_psn_dist(msg->psn, act->psn) + 1;
	u32 at = act->offset >> req->mtu_shift;
	u32 high = max(msg->high, msg->done >> req->mtu_shift);
	u32 before = srdma_msg_in_place(req, msg);
	bool behind = act->idx != req->una;
	bool had_hole = msg->high;

	note_new_data(req, now);
	if (at < high && at >= msg->asked)
		srdma_req_overtaken(req);
	/* It was only late: then all is coming that was asked for with it. */
	if (end > msg->far)
		msg->far = srdma_msg_part_end(msg, at);
	srdma_req_keep(req, msg, at, end - at);
	msg->answered = msg->done == msg->len;
	if (behind)
		req->ahead += srdma_msg_in_place(req, msg) - before;
	srdma_req_executed(req, srdma_psn_next(act->psn));
	srdma_req_advance(req, now);
	if (srdma_req_dead(req))
		return;
	if (behind)
		srdma_req_came_again(req, act->idx, act->psn, now);
	if (msg->answered)
		return;
	if (msg->high)
		mend(req, act->idx, at, end, high, now);
	else
		go_on(req, act->idx, had_hole, now);
}

/* A READ was asked for in parts. Is this the end of what was? */
static bool ends_part(const struct srdma_rc_msg *msg,
		      const struct srdma_rc_req_act *act)
{
	return msg->parts && srdma_psn_dist(msg->psn, act->psn) + 1 >= msg->far;
}

/*
 * The results of many atomics may come together: una then moves over all of them at once
 * (srdma_rc_req_settle()). Where something behind them has come before, it moves over one
 * by one, and takes that off what is ahead of it when it gets there.
 */
static bool may_lag(const struct srdma_rc_req *req, u32 idx,
		    const struct srdma_rc_msg *msg)
{
	return req->settles && idx == req->una + req->lag && !req->failing &&
	       !req->ahead && srdma_wr_infos[msg->op].flags & SRDMA_WRI_ATOMIC;
}

void srdma_rc_req_placed(struct srdma_rc_req *req,
			 const struct srdma_rc_req_act *act, u64 now)
{
	struct srdma_rc_msg *msg = srdma_rc_req_msg(req, act->idx);

	if (srdma_req_dead(req))
		return;
	msg->passed = false;
	if (unlikely(req->probe_out) && msg->op == SRDMA_WR_READ)
		srdma_req_hear_of_probe(req, act, now);
	if (msg->high || act->offset != msg->done || ends_part(msg, act)) {
		placed_in_part(req, act, now);
		return;
	}
	/* Of those that una moves over together each is the oldest in its turn. */
	if (unlikely(act->idx != req->una + req->lag)) {
		note_new_data(req, now);
		req->ahead += srdma_psn_dist(msg->psn, act->psn) + 1 -
			      (act->offset >> req->mtu_shift);
	}
	msg->done += act->len;
	msg->answered = msg->op != SRDMA_WR_READ || msg->done == msg->len;
	srdma_req_executed(req, srdma_psn_next(act->psn));
	if (may_lag(req, act->idx, msg))
		req->lag++;
	/* The rest may come with it: una_psn then moves over both at once. */
	else if (req->settles && !msg->answered)
		req->trails = true;
	else
		srdma_req_advance(req, now);
}
