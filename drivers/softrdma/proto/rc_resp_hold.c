// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that come behind a hole. The caller holds them back, and they are judged
 * when the hole is filled. Here is known what is missing.
 *
 * A hole is reported when it has been there for a while: if the network has only
 * changed the order, what is missing comes by itself. How long that takes is learned
 * from reports that were not needed.
 *
 * A requester that is not known to know better gets a NAK for the first hole, and goes
 * back there. The NAK has a number in its BTH (struct srdma_wire_sack). One that
 * repeats a packet with that number is told of all holes, by selective acknowledges,
 * each with its own number. It repeats what they report in that order, with their
 * numbers, before it sends anything else, with the last of them: so each packet that
 * comes says of all repetitions that should have come before it, that they, or the
 * reports, were lost.
 *
 * All of this is rare, and nothing is inlined.
 */
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#include "aeth.h"
#include "burst.h"
#include "opcode.h"
#include "packet.h"
#include "psn.h"
#include "rc_resp.h"
#include "rc_resp_priv.h"
#include "wire.h"

/* How long a hole is left alone: at first and at least, and at most. */
#define HOLD_MIN_NS	20000u
#define HOLD_MAX_NS	32000000u

/* So late is, at most, what comes twice: it may have been sent twice, too. */
#define LATE_MAX_NS	4000000u

/*
 * Each NAK makes the next one sooner, by this part of the wait: an eighth. With selective
 * acknowledges that is known of each packet, and only what was needed does so.
 */
#define SOONER_SHIFT	3
#define SOONER_FILLED	4

/* PSNs that a request, or a run, takes; 0 if it takes more than there can be. */
static u32 psns_of(const struct srdma_rc_resp *resp, const struct srdma_pkt *pkt)
{
	if (!(pkt->op->flags & SRDMA_OP_READ))
		return pkt->more + 1u;
	if (pkt->reth.len > SRDMA_MSG_MAX)
		return 0;
	return srdma_burst_packets(pkt->reth.len, resp->mtu_shift);
}

/* The first hole that ends behind @psn; the number of holes if none does. */
static u32 hole_at(const struct srdma_rc_resp *resp, u32 psn)
{
	u32 i;

	for (i = 0; i < resp->hole_count; i++)
		if (srdma_psn_before(psn, resp->mend->holes[i].end))
			break;
	return i;
}

/* Is @psn behind all that was ever held since @epsn has been missing? */
static bool is_newest(const struct srdma_rc_resp *resp, u32 psn)
{
	return !resp->hole_count || !srdma_psn_before(psn, resp->held_end);
}

noinline bool srdma_rc_resp_wants(const struct srdma_rc_resp *resp,
				  const struct srdma_pkt *pkt)
{
	bool room = resp->hole_count < SRDMA_RESP_HOLES;
	u32 count = psns_of(resp, pkt);
	const struct srdma_rc_hole *hole;
	u32 at, end;

	/* After a RNR NAK the requester comes back with all of it. */
	if (resp->dead || resp->told_rnr || !count ||
	    !srdma_psn_after(pkt->psn, resp->epsn) ||
	    srdma_psn_dist(resp->epsn, pkt->psn) + count > SRDMA_PSN_WINDOW_MAX)
		return false;
	if (is_newest(resp, pkt->psn))
		return room || pkt->psn == resp->held_end;
	at = hole_at(resp, pkt->psn);
	if (at == resp->hole_count)
		return false;
	hole = &resp->mend->holes[at];
	end = srdma_psn_add(pkt->psn, count);
	if (srdma_psn_before(pkt->psn, hole->psn) ||
	    srdma_psn_after(end, hole->end))
		return false;
	/* In the middle it makes two of one. */
	return room || pkt->psn == hole->psn || end == hole->end;
}

static void insert_hole(struct srdma_rc_resp *resp, u32 at,
			struct srdma_rc_hole hole)
{
	u32 i;

	for (i = resp->hole_count++; i > at; i--)
		resp->mend->holes[i] = resp->mend->holes[i - 1];
	resp->mend->holes[at] = hole;
}

static void remove_holes(struct srdma_rc_resp *resp, u32 at, u32 count)
{
	u32 i;

	resp->hole_count -= count;
	for (i = at; i < resp->hole_count; i++)
		resp->mend->holes[i] = resp->mend->holes[i + count];
}

/* From @psn to @end, in hole @at, is not missing any more. */
static void fill_hole(struct srdma_rc_resp *resp, u32 at, u32 psn, u32 end)
{
	struct srdma_rc_hole *hole = &resp->mend->holes[at];
	struct srdma_rc_hole rest = *hole;

	rest.psn = end;
	if (psn == hole->psn && end == hole->end) {
		remove_holes(resp, at, 1);
	} else if (psn == hole->psn) {
		*hole = rest;
	} else {
		hole->end = psn;
		if (end != rest.end)
			insert_hole(resp, at + 1, rest);
	}
}

/* Has it the number of a report because that asked for it? */
static bool was_asked_for(const struct srdma_pkt *pkt)
{
	return pkt->stamp && !(pkt->stamp & SRDMA_STAMP_FRESH);
}

/* The requester is told that a report was not needed: it was @psn that came late. */
static void tell_late(struct srdma_rc_resp *resp, u32 psn)
{
	resp->late_psn = psn;
	resp->late_due = true;
	resp->ack_due = true;
}

static void wait_less(struct srdma_rc_resp *resp, u32 shift)
{
	resp->hold_ns -= resp->hold_ns >> shift;
	resp->hold_ns = max(resp->hold_ns, HOLD_MIN_NS);
}

/* Is @pkt in a hole that was reported, and was sent before the report came? */
static void note_late(struct srdma_rc_resp *resp, u32 at,
		      const struct srdma_pkt *pkt)
{
	const struct srdma_rc_hole *hole = &resp->mend->holes[at];

	if (!resp->sacks || !hole->number ||
	    srdma_psn_before(pkt->psn, hole->psn) ||
	    pkt->stamp == SRDMA_STAMP_ALL)
		return;
	if (was_asked_for(pkt)) {
		wait_less(resp, SOONER_FILLED);
		return;
	}
	resp->late_since = hole->since;
	tell_late(resp, pkt->psn);
	resp->waits = true;
}

/* Does @pkt say that it, or the report of it, was lost? */
static bool is_lost_again(const struct srdma_rc_hole *hole,
			  const struct srdma_pkt *pkt)
{
	u8 number = pkt->stamp & ~SRDMA_STAMP_FRESH;

	if (srdma_stamp_before(hole->number, number))
		return true;
	return hole->number == number &&
	       srdma_psn_before(hole->psn, pkt->psn);
}

/* Unless that has only been overtaken: it is given as much time as other holes. */
static void wait_again(struct srdma_rc_resp *resp, struct srdma_rc_hole *hole)
{
	hole->number = 0;
	hole->due = false;
	hole->since = 0;
	resp->waits = true;
}

static void report_again(struct srdma_rc_resp *resp, struct srdma_rc_hole *hole)
{
	hole->number = 0;
	resp->ack_due |= hole->due;
}

noinline void srdma_resp_stamped(struct srdma_rc_resp *resp,
				 const struct srdma_pkt *pkt)
{
	bool first = !resp->sacks;
	u32 i;

	/* Not an answer to any report. */
	if (!resp->number)
		return;
	resp->sacks = true;
	for (i = 0; i < resp->hole_count; i++) {
		struct srdma_rc_hole *hole = &resp->mend->holes[i];

		if (first || pkt->stamp == SRDMA_STAMP_ALL)
			report_again(resp, hole);
		else if (hole->number && is_lost_again(hole, pkt))
			wait_again(resp, hole);
	}
	if (first) {
		resp->gap = false;
		resp->asked = false;
		resp->waits = true;
	}
}

/*
 * A packet came that is not the one missing. If a NAK was given for that, and this one
 * does not follow the one before, the requester has gone back or asks; and if that one
 * was in front of what is missing, and this is behind, it has passed it. Then it was
 * lost again, or the order was changed once more.
 */
noinline void srdma_resp_passes_hole(struct srdma_rc_resp *resp,
				     const struct srdma_pkt *pkt)
{
	bool back = !srdma_psn_after(pkt->psn, resp->gap_psn);
	bool past = srdma_psn_before(resp->gap_psn, resp->epsn) &&
		    srdma_psn_after(pkt->psn, resp->epsn);

	if (pkt->stamp)
		srdma_resp_stamped(resp, pkt);
	if (resp->gap && (back || past)) {
		resp->gap = false;
		resp->mend->holes[0].since = 0;
		resp->waits = true;
	}
	resp->gap_psn = pkt->psn;
	resp->ack_due |= resp->sacks && pkt->ack_req;
}

noinline void srdma_rc_resp_hold(struct srdma_rc_resp *resp,
				 const struct srdma_pkt *pkt)
{
	u32 end = srdma_psn_add(pkt->psn, psns_of(resp, pkt));
	struct srdma_rc_hole hole = {
		.psn = resp->hole_count ? resp->held_end : resp->epsn,
		.end = pkt->psn,
	};
	u32 at = hole_at(resp, pkt->psn);

	if (!is_newest(resp, pkt->psn)) {
		note_late(resp, at, pkt);
		fill_hole(resp, at, pkt->psn, end);
	} else {
		if (hole.psn != hole.end) {
			insert_hole(resp, resp->hole_count, hole);
			resp->waits = true;
		}
		resp->held_end = end;
	}
	srdma_resp_passes_hole(resp, pkt);
}

noinline void srdma_resp_moved(struct srdma_rc_resp *resp,
			       const struct srdma_pkt *pkt)
{
	u32 filled = hole_at(resp, resp->epsn);
	bool told;

	if (pkt->stamp)
		srdma_resp_stamped(resp, pkt);
	/* The requester does not hear of a NAK that is still due: it is dropped. */
	told = resp->gap && !resp->nak_due;
	resp->asked = resp->asked && !resp->nak_due;
	resp->gap = false;
	note_late(resp, 0, pkt);
	remove_holes(resp, 0, filled);
	resp->waits = true;
	/* What was held behind it is executed before the next answer is given. */
	if (filled)
		resp->ack_due = true;
	if (!resp->hole_count)
		return;
	/* If it is sending all of that again, what is missing next is still to come. */
	resp->gap = told && srdma_psn_before(resp->mend->holes[0].psn, resp->back_end);
	if (srdma_psn_before(resp->mend->holes[0].psn, resp->epsn)) {
		resp->mend->holes[0].psn = resp->epsn;
		resp->mend->holes[0].since = 0;
	} else if (!filled) {
		return;
	}
	resp->gap_psn = srdma_psn_add(pkt->psn, pkt->more);
}

void srdma_rc_resp_forget(struct srdma_rc_resp *resp)
{
	resp->hole_count = 0;
}

/* Something came @late after it was missed, and would have come without a report. */
static void wait_longer(struct srdma_rc_resp *resp, u64 late)
{
	resp->hold_ns = clamp_t(u64, 2 * late, resp->hold_ns, HOLD_MAX_NS);
}

/* Or it was repeated twice: so only a step is made towards that, unless it was asked for. */
noinline void srdma_resp_came_twice(struct srdma_rc_resp *resp,
				    const struct srdma_pkt *pkt)
{
	resp->asked = false;
	if (was_asked_for(pkt)) {
		tell_late(resp, pkt->psn);
		wait_longer(resp, resp->late_ns);
	} else {
		wait_longer(resp, min(resp->late_ns, resp->hold_ns));
	}
}

/* The requester knows selective acknowledges: which holes is the next one to report? */
static u64 report_all(struct srdma_rc_resp *resp, u64 now)
{
	u64 next = 0, at;
	u32 i;

	for (i = 0; i < resp->hole_count; i++) {
		struct srdma_rc_hole *hole = &resp->mend->holes[i];

		if (hole->due)
			continue;
		at = hole->since + resp->hold_ns;
		if (now >= at) {
			hole->due = true;
			resp->ack_due = true;
		} else if (!next || at < next) {
			next = at;
		}
	}
	return next;
}

/* It does not: a NAK for the first one, if that is not being sent again anyway. */
static u64 report_first(struct srdma_rc_resp *resp, u64 now)
{
	struct srdma_rc_hole *hole;

	if (!resp->hole_count || resp->gap || resp->dead)
		return 0;
	hole = &resp->mend->holes[0];
	if (now < hole->since + resp->hold_ns)
		return hole->since + resp->hold_ns;
	srdma_resp_nak(resp, srdma_aeth_nak(SRDMA_NAK_PSN_SEQ), resp->epsn);
	hole->due = true;
	resp->gap = true;
	resp->asked = true;
	resp->asked_psn = resp->epsn;
	resp->asked_since = hole->since;
	resp->back_end = resp->held_end;
	resp->late_ns = 0;
	wait_less(resp, SOONER_SHIFT);
	return 0;
}

noinline u64 srdma_rc_resp_report(struct srdma_rc_resp *resp, u64 now)
{
	u32 i;

	resp->waits = false;
	if (resp->late_since)
		wait_longer(resp, now - resp->late_since);
	resp->late_since = 0;
	if (resp->asked && resp->asked_psn != resp->epsn && !resp->late_ns)
		resp->late_ns = min_t(u64, now - resp->asked_since,
				      LATE_MAX_NS);
	for (i = 0; i < resp->hole_count; i++)
		if (!resp->mend->holes[i].since)
			resp->mend->holes[i].since = now;
	return resp->sacks ? report_all(resp, now) : report_first(resp, now);
}

/* ---- the reports ---- */

/* Is the hole one that the next selective acknowledge reports, if there is room? */
static bool to_report(const struct srdma_rc_hole *hole)
{
	return hole->due && !hole->number;
}

u8 srdma_resp_next_number(const struct srdma_rc_resp *resp)
{
	u32 i;

	/* What reports nothing new is no other report. */
	for (i = 0; i < resp->hole_count; i++)
		if (to_report(&resp->mend->holes[i]))
			break;
	if (i == resp->hole_count && resp->number)
		return resp->number;
	return resp->number % SRDMA_STAMP_NUMBERS + 1;
}

/* Beside @n holes, is there room to say that a packet had only been late? */
static bool tells_late(const struct srdma_rc_resp *resp, u32 n)
{
	return resp->late_due && n < SRDMA_SACK_HOLES;
}

noinline void srdma_rc_resp_fill_sack(const struct srdma_rc_resp *resp,
				      struct srdma_pkt *pkt,
				      struct srdma_burst *b)
{
	u32 held = resp->hole_count ? srdma_psn_dist(resp->epsn,
						     resp->held_end) : 0;
	u32 i, count, n = 0;

	b->first = SRDMA_RC_SACK;
	b->middle = SRDMA_RC_SACK;
	b->last = SRDMA_RC_SACK;
	memset(&pkt->sack, 0, sizeof(pkt->sack));
	for (i = 0; i < resp->hole_count; i++) {
		const struct srdma_rc_hole *hole = &resp->mend->holes[i];

		count = srdma_psn_dist(hole->psn, hole->end);
		held -= count;
		if (!to_report(hole) || n == SRDMA_SACK_HOLES)
			continue;
		pkt->sack.holes[n].psn = hole->psn;
		pkt->sack.holes[n++].count = min(count, SRDMA_SACK_COUNT_MAX);
	}
	if (tells_late(resp, n))
		pkt->sack.holes[n].psn = resp->late_psn;
	pkt->aeth.held = min(held, SRDMA_SACK_HELD_MAX);
}

noinline void srdma_resp_reported(struct srdma_rc_resp *resp, u8 number)
{
	u32 i, n = 0, most = resp->sacks ? SRDMA_SACK_HOLES : 1;

	resp->number = number;
	resp->ack_due = false;
	for (i = 0; i < resp->hole_count; i++) {
		if (!to_report(&resp->mend->holes[i]))
			continue;
		/* The rest is for the next one. */
		if (n++ == most) {
			resp->ack_due = resp->sacks;
			break;
		}
		resp->mend->holes[i].number = number;
	}
	if (!resp->sacks)
		return;
	if (tells_late(resp, n))
		resp->late_due = false;
}

void srdma_resp_hold_init(struct srdma_rc_resp *resp)
{
	resp->hold_ns = HOLD_MIN_NS;
}
