// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The receive side of the modelled driver. The oracle knows which message
 * of the peer's program must come next and looks at every packet that the
 * core lets through.
 */
#include <string.h>

#include "event.h"
#include "net.h"
#include "node.h"
#include "proto/aeth.h"
#include "proto/burst.h"

void responder_start(struct node *n)
{
	struct srdma_rc_resp_attr attr = {
		.psn = n->peer->p->psn,
		.mtu = n->p->attr.mtu,
		.min_rnr_timer = n->p->min_rnr_timer,
	};

	srdma_rc_resp_init(&n->resp, &attr, n->res, n->p->nres);
	n->resp.msn = n->p->msn;
}

static struct entry *coming(struct sim *s, struct node *n)
{
	struct node *peer = n->peer;

	if (n->exec < peer->nwire)
		return &peer->prog[peer->wire[n->exec]];
	sim_fail(s, "%c executes more than was posted", 'A' + n->id);
	return &peer->prog[0];
}

static bool kind_fits(const struct entry *e, enum srdma_resp_verdict v)
{
	switch (e->op) {
	case SRDMA_WR_SEND:
	case SRDMA_WR_SEND_IMM:
	case SRDMA_WR_SEND_INV:
		return v == SRDMA_RESP_SEND;
	case SRDMA_WR_WRITE:
	case SRDMA_WR_WRITE_IMM:
		return v == SRDMA_RESP_WRITE;
	case SRDMA_WR_READ:
		return v == SRDMA_RESP_READ;
	case SRDMA_WR_ATOMIC_WRITE:
		return v == SRDMA_RESP_ATOMIC_WRITE;
	case SRDMA_WR_FLUSH:
		return v == SRDMA_RESP_FLUSH;
	default:
		return v == SRDMA_RESP_ATOMIC;
	}
}

void check_received(struct sim *s, struct node *n, const struct entry *e,
		    const struct frame *f, const struct srdma_rc_resp_act *act)
{
	const struct rwqe *r = &n->rq[n->rq_completed++];
	bool ok = true;

	SIM_CHECK(s, n->rq_completed == n->rq_taken,
		  "%c completes %u receives of %u taken", 'A' + n->id,
		  n->rq_completed, n->rq_taken);
	SIM_CHECK(s, act->total == e->len, "%c receives %u bytes of %u",
		  'A' + n->id, act->total, e->len);
	SIM_CHECK(s, !!(act->flags & SRDMA_ACT_SE) ==
		  !!(e->flags & SRDMA_WR_SOLICITED), "%c: solicited event",
		  'A' + n->id);
	if (e->op == SRDMA_WR_SEND_IMM || e->op == SRDMA_WR_WRITE_IMM)
		ok = f->pkt.op->flags & SRDMA_OP_IMM &&
		     f->pkt.imm == (__be32)e->imm;
	if (e->op == SRDMA_WR_SEND_INV)
		ok = f->pkt.op->flags & SRDMA_OP_IETH &&
		     f->pkt.inv_rkey == e->imm;
	SIM_CHECK(s, ok, "%c: wrong immediate or key", 'A' + n->id);
	SIM_CHECK(s, guards_intact(n, &r->buf), "%c: receive overflows",
		  'A' + n->id);
}

bool check_completes(struct sim *s, const struct node *n, const struct entry *e,
		     const struct srdma_rc_resp_act *act)
{
	bool must = act->flags & SRDMA_ACT_END &&
		    srdma_wr_infos[e->op].flags & SRDMA_WRI_RWQE;
	bool does = act->flags & SRDMA_ACT_COMP;

	SIM_CHECK(s, does == must, "%c: %s %s a receive", 'A' + n->id,
		  srdma_wr_infos[e->op].name,
		  must ? "does not complete" : "completes");
	return does && must;
}

/* Takes a receive WQE if the packet needs one; false: there is none. */
static bool take_rwqe(struct sim *s, struct node *n,
		      const struct srdma_rc_resp_act *act)
{
	if (!(act->flags & SRDMA_ACT_RWQE))
		return true;
	if (n->rq_taken == n->rq_posted)
		return false;
	SIM_CHECK(s, n->rq[n->rq_taken].entry == n->peer->wire[n->exec],
		  "%c: receive WQE %u for WR %u", 'A' + n->id, n->rq_taken,
		  n->peer->wire[n->exec]);
	n->rq_taken++;
	return true;
}

/* SEND and WRITE: into memory, or why not. */
static bool execute_payload(struct sim *s, struct node *n, struct entry *e,
			    const struct frame *f,
			    const struct srdma_rc_resp_act *act,
			    enum srdma_resp_why *why)
{
	const u8 *payload = f->payload;
	bool send = f->pkt.op->flags & SRDMA_OP_SEND;
	u32 idx = n->peer->wire[n->exec];
	const struct rwqe *r;

	if (!send) {
		*why = SRDMA_WHY_ACCESS;
		if (act->rkey == RKEY_BAD)
			return false;
		SIM_CHECK(s, act->rkey == RKEY_BASE + idx && act->va ==
			  VA_ARENA + e->remote + n->exec_off,
			  "%c WRITE to %llx", 'A' + n->id,
			  (unsigned long long)act->va);
		if (act->flags & SRDMA_ACT_START)
			SIM_CHECK(s, act->total == e->len, "%c WRITE of %u",
				  'A' + n->id, act->total);
	}
	*why = SRDMA_WHY_NO_RWQE;
	if (!take_rwqe(s, n, act))
		return false;
	SIM_CHECK(s, act->offset == n->exec_off && act->len <= e->len &&
		  act->offset <= e->len - act->len &&
		  payload_equal(e, act->offset, payload, act->len),
		  "%c: wrong bytes of WR %u at %u", 'A' + n->id, idx,
		  act->offset);
	if (!send) {
		memcpy(n->arena + (act->va - VA_ARENA), payload, act->len);
		return true;
	}
	r = &n->rq[n->rq_taken - 1];
	*why = SRDMA_WHY_INV_REQ;
	if (act->len > r->len - act->offset)
		return false;
	list_scatter(n, &r->buf, act->offset, payload, act->len);
	return true;
}

/* READ, atomic, FLUSH: check the target, do it, or say why not. */
static bool execute_rd(struct sim *s, struct node *n, struct entry *e,
		       const struct frame *f, struct srdma_rc_resp_act *act,
		       enum srdma_resp_why *why)
{
	u64 *word = &n->words[e->remote % WORDS_MAX];
	u64 base = VA_ARENA + e->remote;

	*why = SRDMA_WHY_ACCESS;
	if (act->rkey == RKEY_BAD)
		return false;
	switch (e->op) {
	case SRDMA_WR_READ:
		base = VA_PATTERN + e->remote;
		break;
	case SRDMA_WR_FETCH_ADD:
		base = VA_WORDS + 8 * e->remote;
		act->orig = *word;
		*word += f->pkt.atomic.swap_add;
		break;
	case SRDMA_WR_CMP_SWAP:
		base = VA_WORDS + 8 * e->remote;
		act->orig = *word;
		if (*word == f->pkt.atomic.compare)
			*word = f->pkt.atomic.swap_add;
		break;
	case SRDMA_WR_ATOMIC_WRITE:
		base = VA_SLOTS + 8 * e->remote;
		memcpy(&n->slots[e->remote], f->payload, 8);
		SIM_CHECK(s, n->slots[e->remote] == e->swap_add,
			  "%c: wrong ATOMIC WRITE", 'A' + n->id);
		break;
	}
	SIM_CHECK(s, act->va == base + n->exec_off && act->len <= e->len -
		  n->exec_off && (act->len == e->len || e->op == SRDMA_WR_READ),
		  "%c: %s at %llx", 'A' + n->id, f->pkt.op->name,
		  (unsigned long long)act->va);
	return true;
}

static void execute(struct sim *s, struct node *n, struct frame *f,
		    enum srdma_resp_verdict v, struct srdma_rc_resp_act *act)
{
	struct entry *e = coming(s, n);
	enum srdma_resp_why why;
	bool completes, ok;

	SIM_CHECK(s, kind_fits(e, v), "%c: %s, but WR %u is next", 'A' + n->id,
		  net_describe(&f->pkt), n->peer->wire[n->exec]);
	SIM_CHECK(s, !!(act->flags & SRDMA_ACT_START) == !n->exec_off ||
		  !e->len || v == SRDMA_RESP_READ, "%c: %s at %u", 'A' + n->id, net_describe(&f->pkt),
		  n->exec_off);
	if (s->failed)
		return;
	why = SRDMA_WHY_OP;
	ok = e->fault != FAULT_OP;
	if (ok && (v == SRDMA_RESP_SEND || v == SRDMA_RESP_WRITE))
		ok = execute_payload(s, n, e, f, act, &why);
	else if (ok)
		ok = execute_rd(s, n, e, f, act, &why);
	if (!ok) {
		SIM_LOG(s, "%c   WR %u not executed: %u", 'A' + n->id,
			n->peer->wire[n->exec], why);
		srdma_rc_resp_fail(&n->resp, &f->pkt, act, why);
		return;
	}
	srdma_rc_resp_commit(&n->resp, &f->pkt, act);
	n->exec_off += v == SRDMA_RESP_READ ? act->len : f->pkt.payload_len;
	completes = check_completes(s, n, e, act);
	if (!(act->flags & SRDMA_ACT_END))
		return;
	/* A READ may be asked for in parts, each of which is a message here. */
	if (v == SRDMA_RESP_READ && n->exec_off != e->len) {
		n->exec_parts++;
		return;
	}
	if (completes)
		check_received(s, n, e, f, act);
	SIM_LOG(s, "%c   WR %u executed", 'A' + n->id, n->peer->wire[n->exec]);
	e->executed++;
	n->exec++;
	n->exec_off = 0;
	SIM_CHECK(s, n->resp.msn == srdma_psn_add(n->p->msn, n->exec +
						  n->exec_parts),
		  "%c: MSN %06x after %u messages", 'A' + n->id, n->resp.msn,
		  n->exec);
}

/* A READ asked for again: any part of what it was. */
static void repeat_read(struct sim *s, struct node *n, struct frame *f,
			struct srdma_rc_resp_act *act)
{
	u32 idx = act->rkey - RKEY_BASE;
	const struct entry *e = &n->peer->prog[idx % MSGS_MAX];
	u64 base = VA_PATTERN + e->remote;

	SIM_CHECK(s, idx < n->peer->nprog && e->op == SRDMA_WR_READ &&
		  act->va >= base && act->len <= e->len &&
		  act->va - base <= e->len - act->len,
		  "%c repeats READ of %u at %llx", 'A' + n->id, act->len,
		  (unsigned long long)act->va);
	if (n->p->forgets) {
		if (act->va < n->asked[act->res])
			return;
		n->asked[act->res] = act->va;
	}
	hold_provide(n);
	srdma_rc_resp_commit(&n->resp, &f->pkt, act);
}

void responder_request(struct sim *s, struct node *n, struct frame *f)
{
	struct srdma_rc_resp_act act;
	enum srdma_resp_verdict v;

	if (srdma_rc_resp_expects(&n->resp, &f->pkt) &&
	    rnd_chance(&s->rng, s->p.net.join))
		net_join(s, n, f);
	else if (hold_back(s, n, f))
		return;
	v = srdma_rc_resp_request(&n->resp, &f->pkt, &act);
	s->seen.verdict[v]++;
	switch (v) {
	case SRDMA_RESP_READ:
		n->asked[act.res] = 0;
		fallthrough;
	case SRDMA_RESP_SEND:
	case SRDMA_RESP_WRITE:
	case SRDMA_RESP_ATOMIC:
	case SRDMA_RESP_ATOMIC_WRITE:
	case SRDMA_RESP_FLUSH:
		execute(s, n, f, v, &act);
		break;
	case SRDMA_RESP_DUP_READ:
		repeat_read(s, n, f, &act);
		break;
	case SRDMA_RESP_NAK_INV_REQ:
		sim_fail(s, "%c finds %s invalid", 'A' + n->id,
			 net_describe(&f->pkt));
		break;
	case SRDMA_RESP_DROP_RANGE:
		sim_fail(s, "%c: %s is not a repetition", 'A' + n->id,
			 net_describe(&f->pkt));
		break;
	case SRDMA_RESP_DUP:
	case SRDMA_RESP_DROP_GAP:
	case SRDMA_RESP_DROP_OLD:
	case SRDMA_RESP_DROP_ERROR:
	case SRDMA_RESP_NR:
		break;
	}
}

static u8 as_the_rest(u8 opcode)
{
	if (opcode == SRDMA_RC_READ_RESP_ONLY)
		return SRDMA_RC_READ_RESP_LAST;
	return opcode == SRDMA_RC_READ_RESP_FIRST ? SRDMA_RC_READ_RESP_MIDDLE :
						    opcode;
}

static bool send_read(struct sim *s, struct node *n,
		      const struct srdma_rc_resp_burst *out,
		      struct srdma_pkt *pkt)
{
	const struct entry *e = &n->peer->prog[(out->rkey - RKEY_BASE) %
					       MSGS_MAX];
	bool lost = net_begin_train(s);
	struct frame *f;
	u8 *payload;
	u32 i;

	if (out->b.len && e->fault == FAULT_READ &&
	    out->va - VA_PATTERN - e->remote + out->b.len > e->len / 2) {
		srdma_rc_resp_read_fail(&n->resp, out, SRDMA_WHY_ACCESS);
		return false;
	}
	for (i = 0; i < out->b.count; i++) {
		pkt->opcode = srdma_burst_opcode(&out->b, i);
		if (n->p->forgets && out->b.offset)
			pkt->opcode = as_the_rest(pkt->opcode);
		pkt->psn = srdma_burst_psn(&out->b, i);
		pkt->payload_len = srdma_burst_payload(&out->b, i);
		f = net_frame(s, n, pkt, &payload);
		memcpy(payload, sim_pattern + (out->va - VA_PATTERN) % PATTERN_SIZE +
		       i * out->b.seg, pkt->payload_len);
		net_send(s, n, f, lost);
	}
	return true;
}

static void send_response(struct sim *s, struct node *n,
			  enum srdma_resp_out kind,
			  const struct srdma_rc_resp_burst *out)
{
	struct srdma_pkt pkt = { .psn = out->b.psn };
	struct srdma_burst b = out->b;
	u8 *payload;

	pkt.aeth.syndrome = out->syndrome;
	pkt.aeth.msn = out->msn;
	pkt.aeth.orig = out->orig;
	pkt.stamp = out->b.stamp;
	if (kind == SRDMA_OUT_SACK)
		srdma_rc_resp_fill_sack(&n->resp, &pkt, &b);
	pkt.opcode = b.first;
	if (kind != SRDMA_OUT_READ)
		net_send(s, n, net_frame(s, n, &pkt, &payload), false);
	else if (!send_read(s, n, out, &pkt))
		return;
	srdma_rc_resp_sent(&n->resp, out);
	if (out->fatal)
		node_error(s, n);
}

void responder_run(struct sim *s, struct node *n)
{
	u32 credits = SRDMA_RESP_NO_CREDITS;
	struct srdma_rc_resp_burst out;
	enum srdma_resp_out kind;

	for (;;) {
		if (n->p->credits)
			credits = n->rq_posted - n->rq_taken;
		kind = srdma_rc_resp_next(&n->resp, &n->p->limit, credits,
					  &out);
		if (kind == SRDMA_OUT_NONE || n->in_error)
			return;
		if (rnd_chance(&s->rng, n->p->busy))
			break;
		send_response(s, n, kind, &out);
	}
	event_add(s, s->now + 1 + rnd_below(&s->rng, 5000), EV_RUN, n, NULL);
}
