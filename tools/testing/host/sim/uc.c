// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Both ends of an unreliable connection. What the oracle demands: a message
 * that is received was sent, whole and with the right bytes, and no part of
 * a broken one completes; and what is not broken is received. A network that
 * repeats or reorders may make a single-packet message arrive twice: UC does
 * not notice.
 */
#include <string.h>

#include "event.h"
#include "net.h"
#include "node.h"

void uc_start(struct node *n)
{
	srdma_uc_req_init(&n->ureq, SRDMA_QPT_UC, n->p->psn, n->p->attr.mtu,
			  n->ring, sizeof(n->ring[0]), n->p->ring - 1);
	srdma_uc_resp_init(&n->uresp, n->peer->p->psn, n->p->attr.mtu);
}

static void send_burst(struct sim *s, struct node *n,
		       const struct srdma_rc_burst *b)
{
	const struct entry *e = &n->prog[b->idx];
	bool lost = net_begin_train(s);
	struct srdma_pkt pkt;
	struct frame *f;
	u8 *payload;
	u32 i;

	for (i = 0; i < b->b.count; i++) {
		request_headers(e, b->idx, &b->b, i, &pkt);
		SIM_CHECK(s, !pkt.ack_req, "UC asks for an acknowledge");
		f = net_frame(s, n, &pkt, &payload);
		list_gather(&e->local, b->b.offset + i * b->b.seg, payload,
			    pkt.payload_len);
		net_send(s, n, f, lost);
	}
	srdma_uc_req_sent(&n->ureq, b, s->now);
	srdma_uc_req_released(&n->ureq, b->idx);
}

static bool step(struct sim *s, struct node *n)
{
	struct srdma_rc_burst b;

	switch (srdma_uc_req_next(&n->ureq, s->now, &n->p->limit, &b)) {
	case SRDMA_NEXT_SEND:
		if (n->prog[b.idx].fault == FAULT_SEND)
			srdma_uc_req_fail(&n->ureq, b.idx, SRDMA_ST_LOC_PROT);
		else
			send_burst(s, n, &b);
		return true;
	case SRDMA_NEXT_LOCAL:
		srdma_uc_req_local_done(&n->ureq, &b);
		return true;
	default:
		return false;
	}
}

void uc_run(struct sim *s, struct node *n)
{
	struct srdma_rc_done done;

	while (step(s, n))
		;
	while (srdma_uc_req_retire(&n->ureq, &done))
		check_done(s, n, done.idx, done.status);
	if (n->sqd && srdma_uc_req_drained(&n->ureq))
		event_add(s, s->now + 1, EV_RTS, n, NULL);
}

/* Whose packet is this? PSNs follow from the program. */
static const struct entry *owner(const struct node *peer, u32 psn, u32 *pos)
{
	u32 at = peer->p->psn;
	u32 i;

	for (i = 0; i < peer->nwire; i++) {
		const struct entry *e = &peer->prog[peer->wire[i]];
		u32 packets = (e->len + peer->p->attr.mtu - 1) /
			      peer->p->attr.mtu;

		if (!packets)
			packets = 1;
		*pos = srdma_psn_dist(at, psn);
		if (*pos < packets)
			return e;
		at = srdma_psn_add(at, packets);
	}
	return NULL;
}

static bool take_rwqe(struct node *n, const struct srdma_rc_resp_act *act)
{
	if (!(act->flags & SRDMA_ACT_RWQE) || n->rq_held)
		return true;
	if (n->rq_taken == n->rq_posted)
		return false;
	n->rq_taken++;
	n->rq_held = true;
	return true;
}

/* A message that takes a receive WQE has all its bytes in order. */
static void check_whole(struct sim *s, struct node *n, const struct entry *e,
			const struct frame *f,
			const struct srdma_rc_resp_act *act)
{
	const struct rwqe *r = &n->rq[n->rq_taken - 1];
	u8 got[SRDMA_MTU_MAX * 41];
	u32 left = act->total;
	u32 i, at = 0;

	check_received(s, n, e, f, act);
	n->rq_held = false;
	if (!(f->pkt.op->flags & SRDMA_OP_SEND))
		return;
	for (i = 0; i < r->buf.n && left; i++) {
		u32 part = r->buf.p[i].len < left ? r->buf.p[i].len : left;

		memcpy(got + at, n->arena + r->buf.p[i].off, part);
		at += part;
		left -= part;
	}
	SIM_CHECK(s, payload_equal(e, 0, got, act->total),
		  "%c: wrong bytes received", 'A' + n->id);
}

static void broken(struct node *n)
{
	srdma_uc_resp_fail(&n->uresp);
	n->uc_in = false;
}

static void execute(struct sim *s, struct node *n, struct frame *f,
		    const struct srdma_rc_resp_act *act)
{
	const u8 *payload = f->payload;
	const struct rwqe *r;
	const struct entry *e;
	u32 pos;

	e = owner(n->peer, f->pkt.psn, &pos);
	SIM_CHECK(s, e && act->offset == pos * n->p->attr.mtu &&
		  payload_equal(e, act->offset, payload, act->len),
		  "%c: wrong bytes in %s", 'A' + n->id, net_describe(&f->pkt));
	if (s->failed)
		return;
	if (!take_rwqe(n, act) || act->rkey == RKEY_BAD) {
		broken(n);
		return;
	}
	if (f->pkt.op->flags & SRDMA_OP_SEND) {
		r = &n->rq[n->rq_taken - 1];
		if (act->offset > r->len || act->len > r->len - act->offset) {
			broken(n);
			return;
		}
		list_scatter(n, &r->buf, act->offset, payload, act->len);
	} else {
		SIM_CHECK(s, act->va == VA_ARENA + e->remote + act->offset,
			  "%c: UC WRITE to %llx", 'A' + n->id,
			  (unsigned long long)act->va);
		memcpy(n->arena + e->remote + act->offset, payload, act->len);
	}
	if (check_completes(s, n, e, act))
		check_whole(s, n, e, f, act);
}

/* 9.8.2: a message may begin at any time, and goes on only where it was. */
static bool is_to_be_taken(const struct node *n, const struct srdma_pkt *pkt)
{
	return pkt->op->flags & SRDMA_OP_START ||
	       (n->uc_in && pkt->psn == n->uc_psn);
}

void uc_request(struct sim *s, struct node *n, struct frame *f)
{
	bool good = is_to_be_taken(n, &f->pkt);
	struct srdma_rc_resp_act act;
	enum srdma_uc_verdict v;

	n->uc_in = good && !(f->pkt.op->flags & SRDMA_OP_END);
	n->uc_psn = srdma_psn_next(f->pkt.psn);
	v = srdma_uc_resp_request(&n->uresp, &f->pkt, &act);
	s->seen.uc[v]++;
	switch (v) {
	case SRDMA_UC_SEND:
	case SRDMA_UC_WRITE:
		SIM_CHECK(s, good, "%c: %s is taken behind a loss",
			  'A' + n->id, net_describe(&f->pkt));
		execute(s, n, f, &act);
		break;
	case SRDMA_UC_DROP_LOST:
		SIM_CHECK(s, !good, "%c: nothing is lost before %s",
			  'A' + n->id, net_describe(&f->pkt));
		break;
	case SRDMA_UC_DROP_SEQ:
	case SRDMA_UC_DROP_LEN:
		sim_fail(s, "%c: %s is said to be malformed", 'A' + n->id,
			 net_describe(&f->pkt));
		break;
	case SRDMA_UC_NR:
		break;
	}
}
