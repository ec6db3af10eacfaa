// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The memory of what a responder holds back. The oracle compares it with what the
 * core believes to be missing.
 */
#include "event.h"
#include "node.h"

/* PSNs of a packet that is held. */
static u32 psns_of(const struct sim *s, const struct frame *f)
{
	if (!(f->pkt.op->flags & SRDMA_OP_READ))
		return 1;
	return f->pkt.reth.len ? (f->pkt.reth.len - 1) / s->p.mtu + 1 : 1;
}

/* From the PSN that is expected on: a hole, some packets, a hole, and so on. */
static void check(struct sim *s, struct node *n)
{
	const struct srdma_rc_resp *resp = &n->resp;
	const struct frame *f = n->held;
	u32 psn = resp->epsn;
	u32 i;

	for (i = 0; i < resp->hole_count; i++) {
		const struct srdma_rc_hole *hole = &resp->mend->holes[i];

		for (; f && f->pkt.psn == psn; f = f->next)
			psn = srdma_psn_add(psn, psns_of(s, f));
		SIM_CHECK(s, hole->psn == psn && hole->end != psn,
			  "%c: hole %06x to %06x, but %06x is missing",
			  'A' + n->id, hole->psn, hole->end, psn);
		psn = hole->end;
	}
	for (; f && f->pkt.psn == psn; f = f->next)
		psn = srdma_psn_add(psn, psns_of(s, f));
	SIM_CHECK(s, !f, "%c holds %06x behind %06x", 'A' + n->id,
		  f->pkt.psn, psn);
	SIM_CHECK(s, !resp->hole_count || psn == resp->held_end,
		  "%c holds up to %06x, not %06x", 'A' + n->id, psn,
		  resp->held_end);
}

/* Puts a copy of @f in its place among those that are held. */
static void insert(struct node *n, const struct frame *f)
{
	struct frame *copy = frame_get();
	struct frame **at = &n->held;

	*copy = *f;
	copy->payload = copy->data + copy->pkt.hdr_len;
	while (*at && srdma_psn_before((*at)->pkt.psn, f->pkt.psn))
		at = &(*at)->next;
	copy->next = *at;
	*at = copy;
	n->nheld++;
}

bool hold_provide(struct node *n)
{
	if (!n->resp.mend && n->denied++ >= n->p->refusals)
		n->resp.mend = &n->resp_mend;
	return n->resp.mend;
}

bool hold_back(struct sim *s, struct node *n, const struct frame *f)
{
	if (n->nheld >= n->p->holds || !srdma_rc_resp_wants(&n->resp, &f->pkt) ||
	    !hold_provide(n))
		return false;
	insert(n, f);
	srdma_rc_resp_hold(&n->resp, &f->pkt);
	s->seen.held++;
	SIM_LOG(s, "%c   holds psn %06x, missing %06x", 'A' + n->id,
		f->pkt.psn, n->resp.epsn);
	check(s, n);
	return true;
}

static struct frame *pop(struct node *n)
{
	struct frame *f = n->held;

	n->held = f->next;
	n->nheld--;
	return f;
}

void hold_drop(struct node *n)
{
	while (n->held)
		frame_put(pop(n));
}

struct frame *hold_take(struct sim *s, struct node *n)
{
	if (!n->held)
		return NULL;
	if (!srdma_psn_after(n->held->pkt.psn, n->resp.epsn))
		return pop(n);
	/* It was given up, since one in front of it was refused. */
	if (n->in_error || !srdma_rc_resp_holds(&n->resp))
		hold_drop(n);
	else
		check(s, n);
	return NULL;
}

void hold_time(struct sim *s, struct node *n)
{
	u64 at;

	if (!srdma_rc_resp_waits(&n->resp) && n->hold_at)
		return;
	at = srdma_rc_resp_report(&n->resp, s->now);
	if (!at || (n->hold_at && n->hold_at <= at))
		return;
	n->hold_at = at;
	event_add(s, at, EV_HOLD, n, NULL);
}
