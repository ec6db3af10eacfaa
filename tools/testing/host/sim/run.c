// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The event loop, and what must hold at the end: every work request has
 * completed, whatever happened, and both ends are at rest.
 */
#include "event.h"
#include "net.h"
#include "node.h"
#include "run.h"

/* No run of a correct core comes near these. */
#define EVENTS_MAX	4000000ull
#define TIME_MAX_NS	80000000000000ull

/* The next receive WQE is posted a while after there is room for it. */
static void arm_receive(struct sim *s, struct node *n)
{
	u32 most = n->p->rq_ahead ? n->p->rq_ahead : 1;

	if (n->rq_armed || n->rq_posted == n->nrq ||
	    n->rq_posted - n->rq_taken >= most)
		return;
	n->rq_armed = true;
	event_add(s, s->now + 1 + rnd_below(&s->rng, n->p->rq_ns), EV_RQ, n,
		  NULL);
}

static void request(struct sim *s, struct node *n, struct frame *f)
{
	if (rnd_chance(&s->rng, s->p.net.mark))
		srdma_rc_req_congested(&n->peer->req);
	responder_request(s, n, f);
}

/* The engines of a node look at what came and do what they can. */
static void engines(struct sim *s, struct node *n)
{
	struct frame *f;

	n->run_at = 0;
	while ((f = hold_take(s, n)) || (f = net_inbox_take(n))) {
		if (n->in_error)
			;
		else if (s->p.uc)
			uc_request(s, n, f);
		else if (f->pkt.op->flags & SRDMA_OP_REQ)
			request(s, n, f);
		else
			requester_response(s, n, f);
		frame_put(f);
	}
	arm_receive(s, n);
	if (s->p.uc) {
		uc_run(s, n);
		return;
	}
	hold_time(s, n);
	responder_run(s, n);
	requester_run(s, n);
}

void node_error(struct sim *s, struct node *n)
{
	if (n->in_error)
		return;
	SIM_LOG(s, "%c   is in error now", 'A' + n->id);
	n->in_error = true;
	if (s->p.uc)
		srdma_uc_req_abort(&n->ureq);
	else
		srdma_rc_req_abort(&n->req);
	event_add(s, s->now, EV_RUN, n, NULL);
}

static void arrive(struct sim *s, struct node *n, struct frame *f)
{
	bool dead = n->dead || n->in_error;

	if (dead || !net_receive(s, n, f)) {
		frame_put(f);
		return;
	}
	f->next = NULL;
	*n->inbox_tail = f;
	n->inbox_tail = &f->next;
	if (n->run_at)
		return;
	n->run_at = s->now + 1 + rnd_below(&s->rng, n->p->run_delay_ns + 1);
	event_add(s, n->run_at, EV_RUN, n, NULL);
}

static void post_receive(struct sim *s, struct node *n)
{
	n->rq_armed = false;
	n->rq_posted++;
	if (n->p->credits && !s->p.uc)
		srdma_rc_resp_credit(&n->resp);
	arm_receive(s, n);
}

static void set_drain(struct sim *s, struct node *n, bool drain)
{
	SIM_LOG(s, "%c   SQD %s", 'A' + n->id, drain ? "on" : "off");
	n->sqd = drain;
	n->sqd_fresh = n->req.fresh;
	if (s->p.uc)
		srdma_uc_req_drain(&n->ureq, drain);
	else
		srdma_rc_req_drain(&n->req, drain);
}

static void handle(struct sim *s, const struct event *e)
{
	struct node *n = e->node;

	switch (e->kind) {
	case EV_FRAME:
		arrive(s, n, e->frame);
		return;
	case EV_TIMER:
		if (e->at != n->timer_at)
			return;
		n->timer_at = 0;
		if (!n->dead)
			requester_timer(s, n);
		return;
	case EV_HOLD:
		if (e->at == n->hold_at)
			n->hold_at = 0;
		break;
	case EV_POST:
		if (!n->dead)
			requester_post(s, n);
		break;
	case EV_RQ:
		post_receive(s, n);
		break;
	case EV_SQD:
		set_drain(s, n, true);
		break;
	case EV_RTS:
		set_drain(s, n, false);
		break;
	case EV_ERR:
		node_error(s, n);
		break;
	case EV_DIE:
		SIM_LOG(s, "%c   falls silent", 'A' + n->id);
		n->dead = true;
		return;
	case EV_RUN:
		break;
	}
	if (!n->dead)
		engines(s, n);
}

static void start(struct sim *s, struct node *n)
{
	const struct node_params *p = n->p;

	if (s->p.uc) {
		uc_start(n);
	} else {
		requester_start(n);
		responder_start(n);
	}
	n->rq_posted = p->rq_ahead < n->nrq ? p->rq_ahead : n->nrq;
	arm_receive(s, n);
	event_add(s, 1, EV_POST, n, NULL);
	if (p->sqd_ns)
		event_add(s, p->sqd_ns, EV_SQD, n, NULL);
	if (p->err_ns)
		event_add(s, p->err_ns, EV_ERR, n, NULL);
	if (p->die_ns)
		event_add(s, p->die_ns, EV_DIE, n, NULL);
}

static void loop(struct sim *s)
{
	struct event e;

	while (!s->failed && event_take(s, &e)) {
		s->events++;
		SIM_CHECK(s, s->events < EVENTS_MAX && s->now < TIME_MAX_NS,
			  "does not come to an end");
		handle(s, &e);
	}
}

/*
 * With no ACK timeout a requester waits for ever when its probes are used up:
 * that is what was asked for, and only modify QP ends it.
 */
static bool may_wait(const struct node *n)
{
	return !n->p->attr.timeout && n->req.probes == 10;
}

static void check_end(struct sim *s, struct node *n)
{
	if (n->dead)
		return;
	SIM_CHECK(s, n->completed == n->nprog, "%c is stuck at WR %u of %u",
		  'A' + n->id, n->completed, n->nprog);
	SIM_CHECK(s, s->p.uc || n->in_error || !n->req.deadline,
		  "%c has a timer running", 'A' + n->id);
}

/* Words that only atomics change are what the program makes of them. */
static void check_words(struct sim *s, struct node *n)
{
	struct node *peer = n->peer;
	u64 slot[WORDS_MAX];
	bool set[WORDS_MAX] = {};
	u32 i;

	for (i = 0; i < n->exec; i++) {
		const struct entry *e = &peer->prog[peer->wire[i]];

		if (e->op == SRDMA_WR_ATOMIC_WRITE) {
			slot[e->remote] = e->swap_add;
			set[e->remote] = true;
		}
	}
	for (i = 0; i < WORDS_MAX; i++)
		SIM_CHECK(s, !set[i] || n->slots[i] == slot[i],
			  "%c: an ATOMIC WRITE was repeated", 'A' + n->id);
	for (i = 0; i < n->peer->nprog; i++)
		SIM_CHECK(s, peer->prog[i].executed < 2,
			  "%c: WR %u executed twice", 'A' + n->id, i);
}

void run_all(struct sim *s)
{
	struct frame *f;
	u32 i;

	s->now = 0;
	s->events = 0;
	s->failed = false;
	for (i = 0; i < 2; i++)
		start(s, &s->node[i]);
	loop(s);
	for (i = 0; i < 2 && !s->failed; i++)
		if (s->node[i].completed < s->node[i].nprog &&
		    may_wait(&s->node[i]))
			node_error(s, &s->node[i]);
	loop(s);
	for (i = 0; i < 2 && !s->failed; i++) {
		check_end(s, &s->node[i]);
		check_words(s, &s->node[i]);
	}
	for (i = 0; i < 2; i++) {
		hold_drop(&s->node[i]);
		while ((f = net_inbox_take(&s->node[i])))
			frame_put(f);
	}
	event_clear(s);
}
