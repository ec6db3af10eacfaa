// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The send side of the modelled driver: posts, builds packets, places
 * responses, keeps the timer; and what the oracle demands of it.
 */
#include <string.h>

#include "event.h"
#include "net.h"
#include "node.h"
#include "proto/burst.h"

void requester_start(struct node *n)
{
	srdma_rc_req_init(&n->req, &n->p->attr, n->ring, sizeof(n->ring[0]),
			  n->p->ring - 1);
	n->req.ssn = n->peer->p->msn;
	n->una_psn = n->req.una_psn;
}

void requester_post(struct sim *s, struct node *n)
{
	u32 batch = rnd_range(&s->rng, 1, n->p->post_batch);

	while (batch-- && n->posted < n->nprog) {
		struct entry *e = &n->prog[n->posted];
		struct wqe *w;

		if (s->p.uc ? srdma_uc_req_full(&n->ureq) :
		    srdma_rc_req_full(&n->req)) {
			n->post_waits = true;
			return;
		}
		w = &n->ring[n->posted & (n->p->ring - 1)];
		memset(w, 0, sizeof(*w));
		w->msg.op = e->op;
		w->msg.flags = e->flags;
		w->msg.len = e->len;
		w->entry = n->posted++;
		if (s->p.uc)
			srdma_uc_req_push(&n->ureq);
		else
			srdma_rc_req_push(&n->req);
	}
	if (n->posted < n->nprog)
		event_add(s, s->now + 1 + rnd_below(&s->rng, n->p->post_ns + 1),
			  EV_POST, n, NULL);
}

/* What the packets of @e say of its target. */
static u64 remote_va(const struct entry *e)
{
	switch (e->op) {
	case SRDMA_WR_READ:
		return VA_PATTERN + e->remote;
	case SRDMA_WR_CMP_SWAP:
	case SRDMA_WR_FETCH_ADD:
		return VA_WORDS + e->remote * 8;
	case SRDMA_WR_ATOMIC_WRITE:
		return VA_SLOTS + e->remote * 8;
	default:
		return VA_ARENA + e->remote;
	}
}

void request_headers(const struct entry *e, u32 idx,
		     const struct srdma_burst *b, u32 i, struct srdma_pkt *pkt)
{
	u32 rkey = e->fault == FAULT_ACCESS ? RKEY_BAD : RKEY_BASE + idx;
	u32 op;

	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = srdma_burst_opcode(b, i);
	pkt->psn = srdma_burst_psn(b, i);
	pkt->ack_req = b->ack_req && i + 1 == b->count;
	pkt->se = b->solicited && i + 1 == b->count;
	pkt->stamp = b->stamp;
	op = srdma_opcode_get(pkt->opcode)->flags;
	if (op & (SRDMA_OP_SEND | SRDMA_OP_WRITE | SRDMA_OP_ATOMIC_WRITE))
		pkt->payload_len = srdma_burst_payload(b, i);
	if (op & SRDMA_OP_RETH) {
		pkt->reth.va = remote_va(e) + b->offset;
		pkt->reth.rkey = rkey;
		pkt->reth.len = op & SRDMA_OP_READ ? b->len : e->len;
		pkt->feth.plt = SRDMA_FLUSH_GLOBAL;
	}
	if (op & SRDMA_OP_ATOMIC_ETH) {
		pkt->atomic.va = remote_va(e);
		pkt->atomic.rkey = rkey;
		pkt->atomic.swap_add = e->swap_add;
		pkt->atomic.compare = e->compare;
	}
	/* Or immediate data. */
	pkt->inv_rkey = e->imm;
}

/* READs and atomics in front of message @idx that are not complete. */
static u32 rd_before(const struct node *n, u32 idx)
{
	u32 count = 0;
	u32 i;

	for (i = n->req.una; i < idx; i++)
		if (srdma_wr_infos[n->prog[i].op].flags & SRDMA_WRI_RD_ATOMIC)
			count++;
	return count;
}

/* Rules for the first packet of a message. */
static void check_begin(struct sim *s, struct node *n, u32 idx)
{
	const struct entry *e = &n->prog[idx];
	u32 rd = rd_before(n, idx);

	SIM_CHECK(s, !(n->sqd && idx >= n->sqd_fresh),
		  "%c begins WR %u in SQD", 'A' + n->id, idx);
	SIM_CHECK(s, !(e->flags & SRDMA_WR_FENCE && rd),
		  "%c WR %u passes its fence", 'A' + n->id, idx);
	if (srdma_wr_infos[e->op].flags & SRDMA_WRI_RD_ATOMIC)
		SIM_CHECK(s, rd < n->p->attr.max_rd_atomic,
			  "%c WR %u is READ or atomic number %u of %u",
			  'A' + n->id, idx, rd + 1, n->p->attr.max_rd_atomic);
	SIM_CHECK(s, !(e->op == SRDMA_WR_LOCAL_INV && n->req.una != idx),
		  "%c WR %u invalidates what is in flight", 'A' + n->id, idx);
}

/* How often the oldest incomplete packet is sent without progress is bounded. */
static void check_retries(struct sim *s, struct node *n,
			  const struct srdma_rc_burst *b)
{
	u32 most = n->p->attr.retry_cnt + n->una_rnr + n->una_news + 1;

	if (!srdma_psn_in(n->req.una_psn, b->b.psn, b->b.count) &&
	    !(b->again && srdma_psn_in(n->nak_psn, b->b.psn, b->b.count)))
		return;
	if (b->probe) {
		n->una_probes++;
		SIM_CHECK(s, n->una_probes <= 10u * (n->p->attr.retry_cnt + 1) + 1,
			  "%c probes without end", 'A' + n->id);
		return;
	}
	n->una_tx++;
	SIM_CHECK(s, n->una_tx <= most + n->una_missing + n->una_naks, "%c sends psn %06x %u times", 'A' +
		  n->id, n->req.una_psn, n->una_tx);
}

static void send_burst(struct sim *s, struct node *n,
		       const struct srdma_rc_burst *b)
{
	const struct entry *e = &n->prog[b->idx];
	bool lost = net_begin_train(s);
	u32 i, part;

	for (i = 0; i < b->b.count; i += part) {
		part = srdma_burst_alike(&b->b, i);
		SIM_CHECK(s, part <= n->p->limit.packets,
			  "%u packets of a burst of %u", part, b->b.count);
	}
	for (i = 0; i < b->b.count; i++) {
		struct srdma_pkt pkt;
		struct frame *f;
		u8 *payload;

		request_headers(e, b->idx, &b->b, i, &pkt);
		f = net_frame(s, n, &pkt, &payload);
		if (e->op == SRDMA_WR_ATOMIC_WRITE)
			memcpy(payload, &e->swap_add, SRDMA_ATOMIC_LEN);
		else if (pkt.payload_len)
			list_gather(&e->local, b->b.offset + i * b->b.seg,
				    payload, pkt.payload_len);
		s->again += b->b.resend;
		SIM_LOG(s, "%c   WR %u%s%s", 'A' + n->id, b->idx,
			b->probe ? " probe" : "", b->again ? " missing" :
			b->b.resend ? " again" : "");
		net_send(s, n, f, lost);
	}
}

/* The oracle's notes about the oldest incomplete PSN. */
static void watch(struct node *n)
{
	if (n->una_psn == n->req.una_psn)
		return;
	n->una_psn = n->req.una_psn;
	n->una_tx = 0;
	n->una_missing = 0;
	n->una_naks = 0;
	n->una_probes = 0;
	n->una_rnr = 0;
	n->una_news = 0;
}

/* The peer has got on since the last NAK: that counts as progress, too. */
static void watch_nak(struct node *n, u32 psn)
{
	watch(n);
	if (n->nak_psn == psn)
		return;
	n->nak_psn = psn;
	n->una_tx = 0;
	n->una_missing = 0;
	n->una_naks = 0;
	n->una_probes = 0;
}

static bool memory_right(const struct node *n, const struct entry *e)
{
	u8 want[8];

	switch (e->op) {
	case SRDMA_WR_READ:
		return list_equal(n->arena, &e->local, 0,
				  sim_pattern + e->remote, e->len) &&
		       guards_intact(n, &e->local);
	case SRDMA_WR_CMP_SWAP:
	case SRDMA_WR_FETCH_ADD:
		memcpy(want, &e->want, sizeof(want));
		return list_equal(n->arena, &e->local, 0, want, 8) &&
		       guards_intact(n, &e->local);
	case SRDMA_WR_WRITE:
	case SRDMA_WR_WRITE_IMM:
		return payload_equal(e, 0, n->peer->arena + e->remote, e->len);
	}
	return true;
}

static void check_success(struct sim *s, struct node *n, u32 idx)
{
	const struct entry *e = &n->prog[idx];

	SIM_CHECK(s, !n->failed, "%c WR %u succeeds after an error",
		  'A' + n->id, idx);
	SIM_CHECK(s, e->fault == FAULT_NONE || (s->p.uc && e->fault !=
		  FAULT_SEND), "%c WR %u succeeds with fault %u",
		  'A' + n->id, idx, e->fault);
	if (s->p.uc || srdma_wr_infos[e->op].flags & SRDMA_WRI_LOCAL)
		return;
	SIM_CHECK(s, e->executed == 1, "%c WR %u was executed %u times",
		  'A' + n->id, idx, e->executed);
	SIM_CHECK(s, memory_right(n, e), "%c WR %u: wrong bytes", 'A' + n->id,
		  idx);
	s->payload += e->len;
	s->done_at = s->now;
}

/* Was there a reason for this error? */
static bool has_reason(const struct sim *s, const struct node *n,
		       const struct entry *e, u8 status)
{
	const struct srdma_rc_req_attr *a = &n->p->attr;

	if (s->rough)
		return false;
	switch (status) {
	case SRDMA_ST_LOC_PROT:
		return e->fault == FAULT_SEND || e->fault == FAULT_PLACE;
	case SRDMA_ST_REM_ACCESS:
		return e->fault == FAULT_ACCESS || e->fault == FAULT_READ;
	case SRDMA_ST_REM_OP:
		return e->fault == FAULT_OP;
	case SRDMA_ST_REM_INV_REQ:
		return e->fault == FAULT_SHORT;
	case SRDMA_ST_RETRY_EXC:
		return n->una_tx + n->una_naks >= a->retry_cnt;
	case SRDMA_ST_RNR_RETRY_EXC:
		return a->rnr_retry != 7 && n->una_rnr >= a->rnr_retry;
	case SRDMA_ST_FLUSH:
		/* Or the one that failed comes later, being unanswered READs. */
		return n->failed || n->in_error || n->req.failed;
	}
	return false;
}

void check_done(struct sim *s, struct node *n, u32 idx, u8 status)
{
	struct entry *e = &n->prog[idx];

	SIM_LOG(s, "%c   WR %u %s done, status %u", 'A' + n->id, idx,
		srdma_wr_infos[e->op].name, status);
	SIM_CHECK(s, idx == n->completed && !e->done,
		  "%c WR %u completes, but %u is the next", 'A' + n->id, idx,
		  n->completed);
	n->completed = idx + 1;
	if (n->post_waits) {
		n->post_waits = false;
		event_add(s, s->now + 1 + rnd_below(&s->rng, 1000), EV_POST, n,
			  NULL);
	}
	e->done = true;
	s->seen.status[status]++;
	if (status == SRDMA_ST_OK) {
		check_success(s, n, idx);
		return;
	}
	SIM_CHECK(s, has_reason(s, n, e, status),
		  "%c WR %u fails with %u for no reason", 'A' + n->id, idx,
		  status);
	SIM_CHECK(s, status != SRDMA_ST_FLUSH || !n->req.failed ||
		  idx != n->req.fail_idx, "%c WR %u failed, but is flushed",
		  'A' + n->id, idx);
	SIM_CHECK(s, status == SRDMA_ST_FLUSH || !n->failed ||
		  idx == n->req.fail_idx, "%c WR %u is the second to fail",
		  'A' + n->id, idx);
	n->failed = true;
	node_error(s, n);
}

static void retire(struct sim *s, struct node *n)
{
	struct srdma_rc_done done;

	while (srdma_rc_req_retire(&n->req, &done))
		check_done(s, n, done.idx, done.status);
}

static void set_timer(struct sim *s, struct node *n)
{
	u64 at = n->req.deadline;

	/* One that is over fires at once. */
	if (at && at < s->now)
		at = s->now;
	if (!at || (n->timer_at && n->timer_at <= at))
		return;
	n->timer_at = at;
	event_add(s, at, EV_TIMER, n, NULL);
}

void requester_timer(struct sim *s, struct node *n)
{
	enum srdma_req_timer v = srdma_rc_req_timeout(&n->req, s->now);

	static const char *const name[] = {
		"early", "RNR wait over", "paced", "late", "probe", "ACK timeout",
		"retries exhausted",
	};

	s->seen.timer[v]++;
	SIM_LOG(s, "%c   timer: %s", 'A' + n->id, name[v]);
	requester_run(s, n);
}

/* What has come of READs and atomics behind the oldest message. */
static void check_ahead(struct sim *s, const struct node *n)
{
	u32 i, ahead = 0;

	if (n->req.una == n->req.fresh || n->req.failing ||
	    n->req.mode == SRDMA_REQ_ERROR)
		return;
	for (i = n->req.una + 1; i != n->req.fresh; i++) {
		const struct srdma_rc_msg *msg = srdma_rc_req_msg(&n->req, i);

		if (srdma_wr_infos[msg->op].flags & SRDMA_WRI_RD_ATOMIC)
			ahead += msg->answered ? msg->npsn :
						 msg->done / s->p.mtu;
	}
	SIM_CHECK(s, n->req.ahead == ahead, "%c counts %u packets ahead, not %u",
		  'A' + n->id, n->req.ahead, ahead);
}

static void drained(struct sim *s, struct node *n)
{
	u32 i;

	for (i = n->req.una; i < n->sqd_fresh; i++)
		SIM_CHECK(s, 0, "%c is drained with WR %u begun", 'A' + n->id,
			  i);
	event_add(s, s->now + 1 + rnd_below(&s->rng, 50000), EV_RTS, n, NULL);
}

static bool execute_local(struct sim *s, struct node *n,
			  const struct srdma_rc_burst *b)
{
	SIM_LOG(s, "%c   WR %u executed here", 'A' + n->id, b->idx);
	check_begin(s, n, b->idx);
	SIM_CHECK(s, !n->prog[b->idx].executed++, "%c WR %u executed again",
		  'A' + n->id, b->idx);
	srdma_rc_req_local_done(&n->req, b);
	return true;
}

static bool try_send(struct sim *s, struct node *n,
		     const struct srdma_rc_burst *b)
{
	if (rnd_chance(&s->rng, n->p->busy)) {
		event_add(s, s->now + 1 + rnd_below(&s->rng, 5000), EV_RUN, n,
			  NULL);
		return false;
	}
	SIM_CHECK(s, b->idx - n->req.una < n->req.head - n->req.una &&
		     srdma_psn_dist(b->msg->psn, b->b.psn) < b->msg->npsn,
		  "%c sends PSN %u, which is not of WR %u", 'A' + n->id,
		  b->b.psn, b->idx);
	if (n->req.una >= n->refused)
		n->refused = 0;
	SIM_CHECK(s, !n->refused || b->idx < n->refused,
		  "%c sends WR %u behind one that was refused", 'A' + n->id,
		  b->idx);
	if (b->idx == n->req.fresh)
		check_begin(s, n, b->idx);
	if (n->prog[b->idx].fault == FAULT_SEND &&
	    (b->b.offset + b->b.len == b->msg->len ||
	     rnd_chance(&s->rng, 3000))) {
		srdma_rc_req_fail(&n->req, b->idx, SRDMA_ST_LOC_PROT);
		return true;
	}
	send_burst(s, n, b);
	check_retries(s, n, b);
	srdma_rc_req_sent(&n->req, b, s->now);
	return true;
}

void requester_run(struct sim *s, struct node *n)
{
	struct srdma_rc_burst b;
	enum srdma_req_next v;
	bool more = true;

	/* Behind all responses that were there, as the module does it, */
	srdma_rc_req_settle(&n->req, s->now);
	watch(n);
	while (more) {
		bool all_sent = srdma_rc_req_all_sent(&n->req);

		v = srdma_rc_req_next(&n->req, s->now, &n->p->limit, &b);
		s->seen.next[v]++;
		/* The module does not ask then. */
		SIM_CHECK(s, !all_sent || (v != SRDMA_NEXT_SEND &&
					   v != SRDMA_NEXT_LOCAL),
			  "%c has something to send", 'A' + n->id);
		switch (v) {
		case SRDMA_NEXT_SEND:
			more = try_send(s, n, &b);
			break;
		case SRDMA_NEXT_LOCAL:
			more = execute_local(s, n, &b);
			break;
		default:
			more = false;
		}
		watch(n);
	}
	check_ahead(s, n);
	retire(s, n);
	watch(n);
	/* and behind all bursts. */
	srdma_rc_req_settle(&n->req, s->now);
	SIM_CHECK(s, !n->req.deadline || n->req.rnr_until || n->req.slow.pace_at ||
		     srdma_rc_req_unanswered(&n->req),
		  "%c waits for nothing", 'A' + n->id);
	set_timer(s, n);
	if (n->sqd && srdma_rc_req_drained(&n->req))
		drained(s, n);
}

static void place(struct sim *s, struct node *n, const struct frame *f,
		  const struct srdma_rc_req_act *act)
{
	struct entry *e = &n->prog[act->idx];
	const u8 *payload = f->payload;

	if (e->fault == FAULT_PLACE && act->len) {
		srdma_rc_req_settle(&n->req, s->now);
		srdma_rc_req_fail(&n->req, act->idx, SRDMA_ST_LOC_PROT);
		return;
	}
	if (act->len) {
		SIM_CHECK(s, e->op == SRDMA_WR_READ && act->len <= e->len &&
			  act->offset <= e->len - act->len,
			  "%c WR %u: response of %u at %u", 'A' + n->id,
			  act->idx, act->len, act->offset);
		SIM_CHECK(s, !memcmp(payload, sim_pattern + e->remote +
				     act->offset, act->len),
			  "%c WR %u: wrong READ data at %u", 'A' + n->id,
			  act->idx, act->offset);
		SIM_CHECK(s, act->offset + act->len >
			  srdma_rc_req_msg(&n->req, act->idx)->done,
			  "%c WR %u: READ data at %u once more", 'A' + n->id,
			  act->idx, act->offset);
		list_scatter(n, &e->local, act->offset, payload, act->len);
	}
	srdma_rc_req_placed(&n->req, act, s->now);
	watch(n);
	n->una_news++;
}

static void place_atomic(struct sim *s, struct node *n,
			 const struct srdma_rc_req_act *act)
{
	struct entry *e = &n->prog[act->idx];

	if (e->fault == FAULT_PLACE) {
		srdma_rc_req_settle(&n->req, s->now);
		srdma_rc_req_fail(&n->req, act->idx, SRDMA_ST_LOC_PROT);
		return;
	}
	SIM_CHECK(s, act->orig == e->want, "%c WR %u: atomic returns %llx",
		  'A' + n->id, act->idx, (unsigned long long)act->orig);
	list_scatter(n, &e->local, 0, (const u8 *)&act->orig, act->len);
	srdma_rc_req_placed(&n->req, act, s->now);
	watch(n);
	n->una_news++;
}

/* Does a selective acknowledge say that @psn is missing? */
static bool reports(const struct srdma_pkt *pkt, u32 psn)
{
	u32 i;

	for (i = 0; i < SRDMA_SACK_HOLES; i++)
		if (srdma_psn_in(psn, pkt->sack.holes[i].psn,
				 pkt->sack.holes[i].count))
			return true;
	return false;
}

void requester_response(struct sim *s, struct node *n, struct frame *f)
{
	struct srdma_rc_req_act act;
	enum srdma_req_resp v;

	if (srdma_rc_req_expects(&n->req, &f->pkt) &&
	    rnd_chance(&s->rng, s->p.net.join))
		net_join(s, n, f);
	else if (srdma_rc_req_lacks_mend(&n->req, &f->pkt) &&
		 n->denied++ >= n->p->refusals)
		n->req.mend = &n->req_mend;
	v = srdma_rc_req_response(&n->req, &f->pkt, s->now, &act);
	s->seen.resp[v]++;
	switch (v) {
	case SRDMA_REQ_PLACE:
		place(s, n, f, &act);
		break;
	case SRDMA_REQ_ATOMIC:
		place_atomic(s, n, &act);
		break;
	case SRDMA_REQ_SACK:
		watch(n);
		n->una_missing += reports(&f->pkt, n->una_psn);
		break;
	case SRDMA_REQ_RNR_WAIT:
		watch(n);
		n->una_rnr++;
		n->refused = n->req.una + 1;
		break;
	case SRDMA_REQ_RETRY:
		watch_nak(n, f->pkt.psn);
		n->una_naks += !!f->pkt.stamp;
		SIM_LOG(s, "%c   goes back to psn %06x", 'A' + n->id,
			n->req.una_psn);
		break;
	case SRDMA_REQ_DROP_KIND:
		sim_fail(s, "%c does not understand %s", 'A' + n->id,
			 net_describe(&f->pkt));
		break;
	case SRDMA_REQ_ACK:
	case SRDMA_REQ_FAILED:
	case SRDMA_REQ_DROP_GHOST:
	case SRDMA_REQ_DROP_DUP:
	case SRDMA_REQ_DROP_GAP:
	case SRDMA_REQ_DROP_ERROR:
	case SRDMA_REQ_RESP_NR:
		break;
	}
	watch(n);
}
