// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Random programs. Every buffer is a piece of an arena with guard bytes
 * around it; sources are anywhere in a fixed pattern. What an atomic must
 * return is computed here, by doing the program's atomics in its order.
 */
#include <stdio.h>
#include <string.h>

#include "program.h"

/* @len bytes of the arena, in pieces, each between guard bytes. */
static bool take_arena(struct sim *s, struct node *n, u32 len, u32 pieces,
		       struct list *list)
{
	u32 need = len + (pieces + 1) * GUARD;
	u32 i, part;

	if (n->arena_used + need > ARENA_SIZE)
		return false;
	memset(n->arena + n->arena_used, GUARD_BYTE, need);
	list->n = pieces;
	for (i = 0; i < pieces; i++) {
		part = i + 1 == pieces ? len : rnd_below(&s->rng, len + 1);
		n->arena_used += GUARD;
		list->p[i] = (struct piece){ n->arena_used, part };
		n->arena_used += part;
		len -= part;
	}
	n->arena_used += GUARD;
	return true;
}

static void take_pattern(struct sim *s, u32 len, struct list *list)
{
	u32 i, part;

	list->n = rnd_range(&s->rng, 1, SGES_MAX);
	for (i = 0; i < list->n; i++) {
		part = i + 1 == list->n ? len : rnd_below(&s->rng, len + 1);
		list->p[i].off = rnd_below(&s->rng, PATTERN_SIZE - part);
		list->p[i].len = part;
		len -= part;
	}
}

static u32 pick_len(struct sim *s, u32 room)
{
	u32 mtu = s->p.mtu;
	u32 len;

	switch (rnd_below(&s->rng, 12)) {
	case 0:
		len = 0;
		break;
	case 1:
		len = 1;
		break;
	case 2:
		len = mtu - 1;
		break;
	case 3:
		len = mtu;
		break;
	case 4:
		len = mtu + 1;
		break;
	case 5:
		len = mtu * rnd_range(&s->rng, 2, 12);
		break;
	case 6:
		len = mtu * rnd_range(&s->rng, 2, 12) - 1;
		break;
	case 7:
		len = mtu * rnd_range(&s->rng, 2, 12) + 1;
		break;
	case 8:
		len = rnd_below(&s->rng, 40 * mtu);
		break;
	default:
		len = rnd_below(&s->rng, 4 * mtu);
		break;
	}
	return len > room ? room : len;
}

static u8 pick_op(struct sim *s, const struct node *n)
{
	static const u8 rc[] = {
		SRDMA_WR_WRITE, SRDMA_WR_WRITE, SRDMA_WR_WRITE_IMM,
		SRDMA_WR_SEND, SRDMA_WR_SEND, SRDMA_WR_SEND_IMM,
		SRDMA_WR_SEND_INV, SRDMA_WR_LOCAL_INV, SRDMA_WR_BIND_MW,
		SRDMA_WR_READ, SRDMA_WR_READ, SRDMA_WR_READ,
		SRDMA_WR_CMP_SWAP, SRDMA_WR_FETCH_ADD, SRDMA_WR_FETCH_ADD,
		SRDMA_WR_ATOMIC_WRITE, SRDMA_WR_FLUSH,
	};
	static const u8 uc[] = {
		SRDMA_WR_WRITE, SRDMA_WR_WRITE_IMM, SRDMA_WR_SEND,
		SRDMA_WR_SEND_IMM, SRDMA_WR_BIND_MW,
	};
	u32 count = n->p->attr.max_rd_atomic ? sizeof(rc) : 9;

	if (s->p.uc)
		return uc[rnd_below(&s->rng, sizeof(uc))];
	return rc[rnd_below(&s->rng, count)];
}

/*
 * A word for the atomics and a slot for ATOMIC WRITEs of each message; the
 * peer's memory is followed through the program.
 */
static void make_atomic(struct sim *s, struct entry *e, u64 *words, u64 *slots)
{
	u64 *word;

	e->remote = rnd_below(&s->rng, WORDS_MAX);
	e->swap_add = rnd(&s->rng);
	e->len = SRDMA_ATOMIC_LEN;
	if (e->op == SRDMA_WR_ATOMIC_WRITE) {
		slots[e->remote] = e->swap_add;
		return;
	}
	word = &words[e->remote];
	e->want = *word;
	e->compare = rnd_chance(&s->rng, 7000) ? *word : rnd(&s->rng);
	if (e->op == SRDMA_WR_FETCH_ADD)
		*word += e->swap_add;
	else if (*word == e->compare)
		*word = e->swap_add;
}

static bool make_buffers(struct sim *s, struct node *n, struct entry *e)
{
	u32 pieces = rnd_range(&s->rng, 1, SGES_MAX);
	struct list list;

	switch (e->op) {
	case SRDMA_WR_READ:
		e->remote = rnd_below(&s->rng, PATTERN_SIZE - e->len);
		return take_arena(s, n, e->len, pieces, &e->local);
	case SRDMA_WR_CMP_SWAP:
	case SRDMA_WR_FETCH_ADD:
		return take_arena(s, n, e->len, 1, &e->local);
	case SRDMA_WR_WRITE:
	case SRDMA_WR_WRITE_IMM:
		if (!take_arena(s, n->peer, e->len, 1, &list))
			return false;
		e->remote = list.p[0].off;
		break;
	}
	take_pattern(s, e->len, &e->local);
	return true;
}

/* A receive work request of the peer for what takes one. */
static bool make_rwqe(struct sim *s, struct node *n, struct entry *e, u32 idx)
{
	struct node *peer = n->peer;
	struct rwqe *r = &peer->rq[peer->nrq];
	u32 len = 0;

	if (!(srdma_wr_infos[e->op].flags & SRDMA_WRI_RWQE))
		return true;
	if (e->op != SRDMA_WR_WRITE_IMM)
		len = e->len;
	if (e->fault == FAULT_SHORT)
		len = rnd_below(&s->rng, e->len);
	else if (rnd_chance(&s->rng, 5000))
		len += rnd_below(&s->rng, 64);
	if (!take_arena(s, peer, len, rnd_range(&s->rng, 1, SGES_MAX),
			&r->buf))
		return false;
	r->len = len;
	r->entry = idx;
	e->recv = peer->nrq++;
	return true;
}

/* A fault that message @e can have. */
static u8 fit_fault(const struct entry *e, u8 fault)
{
	u16 f = srdma_wr_infos[e->op].flags;

	if (f & SRDMA_WRI_LOCAL)
		return FAULT_NONE;
	switch (fault) {
	case FAULT_SEND:
		return f & SRDMA_WRI_PAYLOAD ? fault : FAULT_NONE;
	case FAULT_PLACE:
		return f & SRDMA_WRI_FILL && e->len ? fault : FAULT_NONE;
	case FAULT_ACCESS:
		return f & (SRDMA_WRI_RDMA | SRDMA_WRI_ATOMIC) && e->len ?
		       fault : FAULT_NONE;
	case FAULT_READ:
		return e->op == SRDMA_WR_READ && e->len ? fault : FAULT_NONE;
	case FAULT_SHORT:
		return f & SRDMA_WRI_RWQE && e->op != SRDMA_WR_WRITE_IMM &&
		       e->len ? fault : FAULT_NONE;
	}
	return fault;
}

static void make_program(struct sim *s, struct node *n, u32 count, u8 fault)
{
	u32 fault_at = rnd_below(&s->rng, count ? count : 1);
	u64 words[WORDS_MAX], slots[WORDS_MAX];
	u32 i;

	memcpy(words, n->peer->words, sizeof(words));
	memcpy(slots, n->peer->slots, sizeof(slots));
	for (i = 0; i < count; i++) {
		struct entry *e = &n->prog[i];
		u16 f;

		memset(e, 0, sizeof(*e));
		e->op = pick_op(s, n);
		f = srdma_wr_infos[e->op].flags;
		if (rnd_chance(&s->rng, 6000))
			e->flags |= SRDMA_WR_SIGNALED;
		if (rnd_chance(&s->rng, 1000))
			e->flags |= SRDMA_WR_FENCE;
		if (rnd_chance(&s->rng, 2000))
			e->flags |= SRDMA_WR_SOLICITED;
		e->imm = rnd(&s->rng);
		if (!(f & SRDMA_WRI_LOCAL))
			e->len = pick_len(s, PATTERN_SIZE / 2);
		if (f & SRDMA_WRI_ATOMIC || e->op == SRDMA_WR_ATOMIC_WRITE)
			make_atomic(s, e, words, slots);
		if (fault && i >= fault_at) {
			e->fault = fit_fault(e, fault);
			if (e->fault)
				fault = FAULT_NONE;
		}
		if (f & SRDMA_WRI_LOCAL)
			continue;
		if (!make_buffers(s, n, e) || !make_rwqe(s, n, e, i))
			break;
		e->wire = n->nwire;
		n->wire[n->nwire++] = i;
	}
	n->nprog = i;
}

static void make_net(struct sim *s)
{
	struct net_params *net = &s->p.net;
	struct rng *r = &s->rng;

	net->delay_ns = RND_PICK(r, 0, 200, 200, 2000, 2000, 10000, 10000,
				 100000, 100000, 2500000, 20000000, 150000000);
	net->ps_byte = RND_PICK(r, 80, 800, 800, 8000, 8000, 800000);
	net->join = RND_PICK(r, 0, 2000, 10000);
	if (rnd_chance(r, 3000))
		return;
	if (rnd_chance(r, 7000))
		net->loss = RND_PICK(r, 20, 100, 300, 1000, 2500);
	if (rnd_chance(r, 1500))
		net->train_loss = RND_PICK(r, 100, 500, 1500);
	if (rnd_chance(r, 4000))
		net->dup = RND_PICK(r, 50, 500, 2000);
	if (rnd_chance(r, 4000))
		net->late = RND_PICK(r, 50, 300, 1000);
	if (rnd_chance(r, 3000))
		net->spoil = RND_PICK(r, 50, 500);
	if (rnd_below(r, 4) == 0)
		net->mark = RND_PICK(r, 20, 300, 3000);
	if (rnd_chance(r, 5000))
		net->jitter_ns = rnd_below(r, net->delay_ns + 1);
	net->late_ns = RND_PICK(r, 2000, 50000, 1000000);
	if (rnd_chance(r, 1000))
		net->shuffle_ns = 1 + rnd_below(r, net->delay_ns + 20000);
}

static u32 pick_psn(struct rng *r)
{
	if (rnd_chance(r, 5000))
		return srdma_psn_sub(0, rnd_below(r, 200));
	return rnd_below(r, 1u << 24);
}

/* Mostly none. It takes no random number. */
static u32 pick_refusals(u64 seed, u32 id)
{
	static const u32 some[8] = { 0, 0, 0, 1, 0, 0, 4, ~0u };

	return some[(seed + 3 * id) % 8];
}

static void make_node(struct sim *s, u32 id)
{
	struct node_params *p = &s->p.node[id];
	struct rng *r = &s->rng;

	p->psn = pick_psn(r);
	p->msn = rnd_chance(r, 5000) ? 0xfffff0 + rnd_below(r, 16) : 0;
	p->ring = 1u << rnd_range(r, 1, 6);
	p->attr = (struct srdma_rc_req_attr){
		.psn = p->psn,
		.mtu = s->p.mtu,
		.max_inflight = s->p.mtu * RND_PICK(r, 0, 0, 1, 2, 7, 64, 300),
		.near_inflight = s->p.mtu * RND_PICK(r, 0, 1, 8, 64),
		.max_rd_atomic = RND_PICK(r, 0, 1, 1, 2, 3, 4, 8, 16),
		.retry_cnt = RND_PICK(r, 7, 7, 7, 7, 6, 5, 3, 1, 0),
		.rnr_retry = RND_PICK(r, 7, 7, 7, 7, 6, 2, 0),
		.timeout = RND_PICK(r, 0, 6, 8, 10, 12, 14, 14, 14, 18),
	};
	p->min_rnr_timer = RND_PICK(r, 0, 1, 1, 2, 6, 12, 14, 20);
	p->limit.packets = RND_PICK(r, 1, 2, 5, 16, 64);
	p->limit.bytes = RND_PICK(r, 1, 4096, 10000, 65000, 65000);
	p->one_host = rnd_chance(r, 3000);
	p->busy = rnd_chance(r, 2000) ? 2000 : 0;
	p->run_delay_ns = RND_PICK(r, 0, 0, 500, 5000, 50000);
	p->post_ns = RND_PICK(r, 0, 1000, 20000, 500000);
	p->post_batch = RND_PICK(r, 1, 2, 8, 64);
	p->rq_ahead = RND_PICK(r, MSGS_MAX, MSGS_MAX, 8, 2, 1, 0);
	p->rq_ns = RND_PICK(r, 100, 5000, 100000);
	p->credits = rnd_chance(r, 3000);
	p->forgets = rnd_chance(r, 2500);
	p->holds = RND_PICK(r, 0, 0, 3, 50, 1000, 1000);
	p->refusals = pick_refusals(s->p.seed, id);
	p->attr.settles = (s->p.seed / 8 + id) % 2;
	if (rnd_chance(r, 500))
		p->sqd_ns = 1 + rnd_below(r, 500000);
	if (rnd_chance(r, 300))
		p->err_ns = 1 + rnd_below(r, 500000);
	if (rnd_chance(r, 200))
		p->die_ns = 1 + rnd_below(r, 300000);
}

/*
 * 5 % each of loss, duplication, delay and corruption, which connections with
 * all their retries have to survive, and nothing that may make them fail.
 */
static void make_rough(struct sim *s)
{
	u32 id;

	s->p.uc = false;
	s->p.net.loss = 500;
	s->p.net.train_loss = 0;
	s->p.net.dup = 500;
	s->p.net.late = 500;
	s->p.net.spoil = 500;
	s->p.net.late_ns = 300000;
	s->p.net.shuffle_ns = 0;
	for (id = 0; id < 2; id++) {
		struct node_params *p = &s->p.node[id];

		p->attr.retry_cnt = 7;
		p->attr.rnr_retry = 7;
		/* More than any round trip: the queue of a slow one is long. */
		p->attr.timeout = s->p.net.delay_ns > 1000000 ||
				  s->p.net.ps_byte > 8000 ? 20 : 14;
		if (!p->attr.max_rd_atomic)
			p->attr.max_rd_atomic = 1;
		p->sqd_ns = 0;
		p->err_ns = 0;
		p->die_ns = 0;
	}
}

static void link_nodes(struct sim *s)
{
	u32 id, i;

	for (id = 0; id < 2; id++) {
		struct node *n = &s->node[id];

		memset(n, 0, offsetof(struct node, arena));
		memset(&n->arena_used, 0,
		       sizeof(*n) - offsetof(struct node, arena_used));
		n->id = id;
		n->p = &s->p.node[id];
		n->peer = &s->node[!id];
		n->inbox_tail = &n->inbox;
		for (i = 0; i < WORDS_MAX; i++) {
			n->words[i] = rnd(&s->rng);
			n->slots[i] = rnd(&s->rng);
		}
	}
}

static u32 pick_count(struct rng *r)
{
	switch (rnd_below(r, 8)) {
	case 0:
		return 0;
	case 1:
		return rnd_range(r, 30, 120);
	default:
		return rnd_range(r, 1, 30);
	}
}

void program_make(struct sim *s, u64 seed)
{
	u32 id;

	memset(&s->p, 0, sizeof(s->p));
	s->rng.s = seed * 0x2545f4914f6cdd1dull + 1;
	s->p.seed = seed;
	s->p.uc = rnd_chance(&s->rng, 1000);
	s->p.mtu = 256u << RND_PICK(&s->rng, 0, 0, 0, 0, 1, 2, 3, 4);
	make_net(s);
	for (id = 0; id < 2; id++)
		make_node(s, id);
	if (s->rough)
		make_rough(s);
	for (id = 0; id < 2; id++) {
		s->p.node[id].nres = s->p.node[!id].attr.max_rd_atomic;
		if (s->p.node[id].nres && s->p.node[id].nres < 8)
			s->p.node[id].nres += rnd_below(&s->rng, 4);
	}
	link_nodes(s);
	for (id = 0; id < 2; id++)
		make_program(s, &s->node[id], pick_count(&s->rng),
			     !s->rough && rnd_chance(&s->rng, 700) ?
			     rnd_range(&s->rng, 1, FAULT_NR - 1) : 0);
}

/* @count messages from A to B, all alike, which share their buffers. */
static void make_alike(struct sim *s, u8 op, u32 len, u32 count)
{
	struct node *a = &s->node[0];
	u32 i;

	link_nodes(s);
	for (i = 0; i < count; i++) {
		struct entry *e = &a->prog[i];

		memset(e, 0, sizeof(*e));
		e->op = op;
		e->flags = SRDMA_WR_SIGNALED;
		e->len = len;
		if (i) {
			*e = a->prog[0];
			e->recv = i;
			a->peer->rq[i] = a->peer->rq[0];
			a->peer->rq[i].entry = i;
			a->peer->nrq = op == SRDMA_WR_SEND ? i + 1 : 0;
		} else {
			make_buffers(s, a, e);
			make_rwqe(s, a, e, 0);
		}
		e->wire = i;
		a->wire[i] = i;
	}
	a->nprog = count;
	a->nwire = count;
}

void program_make_goodput(struct sim *s, u64 seed, u8 op, u32 len, u32 count,
			  u32 loss, bool trains, bool holds)
{
	u32 id;

	memset(&s->p, 0, sizeof(s->p));
	s->rng.s = seed;
	s->p.seed = seed;
	s->p.mtu = 1024;
	s->p.net = (struct net_params){
		.loss = trains ? 0 : loss,
		.train_loss = trains ? loss : 0,
		.delay_ns = 10000,
		.ps_byte = 800,
	};
	for (id = 0; id < 2; id++) {
		s->p.node[id] = (struct node_params){
			.ring = RING_MAX,
			.attr = {
				.mtu = s->p.mtu,
				.max_inflight = 512 * 1024,
				.max_rd_atomic = 16,
				.retry_cnt = 7,
				.rnr_retry = 7,
				.timeout = 17,
			},
			.nres = 16,
			.limit = { .packets = 60, .bytes = 65000 },
			.post_batch = RING_MAX,
			.rq_ahead = MSGS_MAX,
			.holds = holds ? 1000 : 0,
		};
	}
	make_alike(s, op, len, count);
}

void program_make_distance(struct sim *s, u8 op, u32 len, u32 count,
			   u32 rtt_us, u32 ps_byte)
{
	u32 id;

	memset(&s->p, 0, sizeof(s->p));
	s->rng.s = 1;
	s->p.seed = 1;
	s->p.mtu = 1024;
	s->p.net = (struct net_params){
		.delay_ns = rtt_us * 500,
		.ps_byte = ps_byte,
	};
	for (id = 0; id < 2; id++) {
		s->p.node[id] = (struct node_params){
			.ring = RING_MAX,
			.attr = {
				.mtu = s->p.mtu,
				.max_inflight = 64 << 20,
				.near_inflight = 2 << 20,
				.start_inflight = 256 << 10,
				.first_inflight = 64 << 10,
				.max_rd_atomic = 16,
				.retry_cnt = 7,
				.rnr_retry = 7,
				.timeout = 18,
			},
			.nres = 16,
			.limit = { .packets = 60, .bytes = 65000 },
			.post_batch = RING_MAX,
			.rq_ahead = MSGS_MAX,
		};
	}
	make_alike(s, op, len, count);
}

/* The driver holds skbs of 4 MB. */
#define HOLDS_MOST	3800u

static void hold_back(struct sim *s, u64 seed)
{
	s->rng.s = seed;
	s->p.seed = seed;
	s->p.node[0].holds = HOLDS_MOST;
	s->p.node[1].holds = HOLDS_MOST;
}

void program_make_far_loss(struct sim *s, u64 seed, u8 op, u32 len, u32 count,
			   u32 rtt_us, u32 ps_byte)
{
	program_make_distance(s, op, len, count, rtt_us, ps_byte);
	hold_back(s, seed);
	s->p.net.train_loss = 10;
}

void program_make_shuffle(struct sim *s, u64 seed, u8 op, u32 len, u32 count)
{
	program_make_distance(s, op, len, count, 1000, 800);
	hold_back(s, seed);
	s->p.net.shuffle_ns = 1000000;
}

void program_make_queue(struct sim *s, u8 op, u32 len, u32 count, u32 queue_us,
			u32 ps_byte)
{
	program_make_distance(s, op, len, count, 100, ps_byte);
	hold_back(s, 1);
	s->p.net.queue_ns = queue_us * 1000;
}

static void describe_node(const struct sim *s, u32 id)
{
	const struct node_params *p = &s->p.node[id];

	printf("  %c: %u WRs, ring %u, psn %06x, msn %06x, rd_atomic %u, "
	       "retry %u, rnr_retry %u, timeout %u, inflight %u, burst %u/%u%s%s"
	       "\n     rnr timer %u, receives ahead %u, holds %u, no memory %u%s%s%s%s\n", 'A' + id,
	       s->node[id].nprog, p->ring, p->psn, p->msn,
	       p->attr.max_rd_atomic, p->attr.retry_cnt, p->attr.rnr_retry,
	       p->attr.timeout, p->attr.max_inflight, p->limit.packets,
	       p->limit.bytes, p->one_host ? " one host" : "",
	       p->busy ? ", busy" : "", p->min_rnr_timer,
	       p->rq_ahead, p->holds, p->refusals, p->credits ? ", credits" : "",
	       p->sqd_ns ? ", SQD" : "", p->err_ns ? ", ERR" : "",
	       p->die_ns ? ", falls silent" : "");
}

void program_describe(const struct sim *s)
{
	const struct net_params *n = &s->p.net;

	printf("seed %llu: %s, MTU %u, of 10000: loss %u, train loss %u, "
	       "dup %u, late %u, spoil %u, mark %u, join %u; delay %u + %u ns, "
	       "shuffle %u ns\n",
	       (unsigned long long)s->p.seed, s->p.uc ? "UC" : "RC",
	       s->p.mtu, n->loss, n->train_loss, n->dup, n->late, n->spoil, n->mark,
	       n->join, n->delay_ns, n->jitter_ns, n->shuffle_ns);
	describe_node(s, 0);
	describe_node(s, 1);
}
