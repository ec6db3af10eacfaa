// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many connections that share a slow line, whose queue drops what it has no room for.
 * Here is only what decides: packets have no bytes.
 *
 *	requester 0 --.                          .-- responder 0
 *	requester 1 ---+--> queue --> line --+--- responder 1
 *	...         --'                          '-- ...
 *	     ^---------- acknowledges, later ---------'
 *
 * Of READs it is the responders that send through the queue, and the requests come back.
 * A train that is longer than the line takes at once is cut, and what of it has no room
 * is lost alone, as with tc-tbf(8) (scripts/bench-crowd).
 *
 * And one alone, on a path without a queue, where each packet takes a time of its own, so
 * that they overtake each other all the time, and some are lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crowd.h"
#include "proto/burst.h"
#include "proto/packet.h"
#include "proto/psn.h"
#include "proto/rc_req.h"
#include "proto/rc_resp.h"
#include "rng.h"

#define FLOWS		16u
#define SEEDS		8u
#define RING		64u
#define READS		16u
#define MTU		1024u
#define AROUND		58u		/* bytes around the payload of a packet */
#define HELD		2048u
#define TRAIN		64u		/* most packets */
#define WAY		32768u		/* packets on a way; a power of two */
#define DELAY_NS	30000u		/* to the other end, beside the queue, */
#define FAR_NS		25000000u	/* or where that is far, at 200 Mbit/s */
#define START_NS	2000000u	/* within that all begin, or of every other seed */
#define AT_ONCE_NS	1000u		/* as good as at once */

struct packet {
	struct srdma_pkt pkt;
	u32 len;
	u32 flow;
	u32 left;		/* packets that follow in the same train */
	u64 at;			/* when it arrives */
};

struct way {
	struct packet p[WAY];
	u32 in, out;
};

struct flow {
	struct srdma_rc_req req;
	struct srdma_rc_msg ring[RING];
	struct srdma_rc_req_mend req_mend;
	struct srdma_rc_resp resp;
	struct srdma_rc_res res[READS];
	struct srdma_rc_resp_mend resp_mend;
	struct srdma_pkt held[HELD];
	u32 nheld;
	u64 hold_at;
	u64 start_at;
	u64 got, sent;		/* packets */
	u32 front_psn;		/* the oldest that a READ lacks */
	u64 begun_got, begun_sent;
	u64 last_at;
	u64 starved;		/* longest time without any in order, ns */
};

/**
 * struct row - what is tried
 * @name: as printed
 * @op: enum srdma_wr_opcode
 * @len: bytes of a message
 * @flows: connections
 * @mbit: of the line
 * @jain: how evenly they have to share it, on average of all seeds, and
 * @starved_ms: how long one of them may have nothing, and
 * @sent: how many packets be sent for each that is needed
 * @way_us: there is no queue: a packet takes as long to the other end, and
 * @jitter_us: so much more or less, and
 * @lost: of a thousand so many are lost; and
 * @line: so much has to get through, of what the line would take
 */
struct row {
	const char *name;
	u8 op;
	u32 len;
	u32 flows;
	u32 mbit;
	double jain;
	double starved_ms;
	double sent;
	u32 way_us;
	u32 jitter_us;
	u32 lost;
	double line;
};

/**
 * struct crowd - connections, and what they share
 * @row: what they do
 * @rng: when they begin
 * @now: virtual time, ns
 * @warm_at: when measuring begins
 * @end_at: and ends
 * @room: bytes of the queue
 * @most: bytes that the line takes at once
 * @delay_ns: to the other end, beside the queue
 * @bytes: in the queue
 * @free_at: when the line has taken the first train of it
 * @queue: what waits for the line
 * @there: what has left the line
 * @back: what goes the other way
 * @failed: a connection was given up
 */
struct crowd {
	const struct row *row;
	struct rng rng;
	u64 now;
	u64 warm_at;
	u64 end_at;
	u32 room;
	u32 most;
	u32 delay_ns;
	u32 bytes;
	u64 free_at;
	struct way queue;
	struct way there;
	struct way back;
	struct flow flow[FLOWS];
	bool failed;
};

static struct crowd crowd;

static const struct srdma_burst_limit limit = { .packets = 58, .bytes = 60 * MTU };

static bool reads(const struct crowd *c)
{
	return c->row->op == SRDMA_WR_READ;
}

/* Behind those that arrive before. */
static void put(struct way *w, const struct packet *p, u64 at)
{
	u32 i = w->in++;

	if (i - w->out == WAY)
		abort();
	for (; i != w->out && w->p[(i - 1) % WAY].at > at; i--)
		w->p[i % WAY] = w->p[(i - 1) % WAY];
	w->p[i % WAY] = *p;
	w->p[i % WAY].at = at;
}

/* ---- the line ---- */

static u64 line_ns(const struct crowd *c, u32 bytes)
{
	return bytes * 8000ull / c->row->mbit;
}

/* Bytes of the first train in the queue. */
static u32 first_train(const struct crowd *c)
{
	u32 i = c->queue.out, bytes = 0;
	u32 left;

	do {
		left = c->queue.p[i % WAY].left;
		bytes += c->queue.p[i++ % WAY].len + AROUND;
	} while (left);
	return bytes;
}

static void enqueue(struct crowd *c, struct packet *train, u32 count)
{
	bool idle = c->queue.in == c->queue.out;
	u32 i, bytes = 0;

	for (i = 0; i < count; i++)
		bytes += train[i].len + AROUND;
	if (c->bytes + bytes > c->room)
		return;
	for (i = 0; i < count; i++) {
		train[i].left = count - 1 - i;
		put(&c->queue, &train[i], 0);
	}
	c->bytes += bytes;
	if (idle)
		c->free_at = c->now + line_ns(c, bytes);
}

static void send_train(struct crowd *c, struct packet *train, u32 count)
{
	u32 i, bytes = 0;

	for (i = 0; i < count; i++)
		bytes += train[i].len + AROUND;
	c->flow[train->flow].sent += count;
	if (bytes <= c->most) {
		enqueue(c, train, count);
		return;
	}
	for (i = 0; i < count; i++)
		enqueue(c, &train[i], 1);
}

static void line_is_free(struct crowd *c)
{
	struct packet *p;

	c->bytes -= first_train(c);
	do {
		p = &c->queue.p[c->queue.out++ % WAY];
		put(&c->there, p, c->now + c->delay_ns);
	} while (p->left);
	if (c->queue.in != c->queue.out)
		c->free_at = c->now + line_ns(c, first_train(c));
}

/* Each packet alone. */
static void send_packets(struct crowd *c, struct packet *train, u32 count, struct way *w)
{
	u32 i, us;

	for (i = 0; i < count; i++) {
		us = c->row->way_us - c->row->jitter_us +
		     rnd_below(&c->rng, 2 * c->row->jitter_us + 1);
		if (rnd_below(&c->rng, 1000) >= c->row->lost)
			put(w, &train[i], c->now + us * 1000ull);
	}
}

/* With data through the queue, else back. */
static void transmit(struct crowd *c, struct packet *train, u32 count, bool data)
{
	u32 i;

	if (c->row->way_us) {
		c->flow[train->flow].sent += data ? count : 0;
		send_packets(c, train, count, data ? &c->there : &c->back);
	} else if (data) {
		send_train(c, train, count);
	} else {
		for (i = 0; i < count; i++)
			put(&c->back, &train[i], c->now + c->delay_ns);
	}
}

/* ---- both ends ---- */

/* What comes behind a hole is of no use yet. */
static void note_in_order(struct crowd *c, struct flow *f)
{
	u64 since = f->last_at > c->warm_at ? f->last_at : c->warm_at;

	if (c->now > since && c->now - since > f->starved)
		f->starved = c->now - since;
	f->last_at = c->now;
}

static void post(struct crowd *c, struct flow *f)
{
	u32 depth = c->row->len < 1 << 19 ? (2 << 20) / c->row->len : 4;

	while (f->req.head - f->req.tail < depth) {
		*srdma_rc_req_msg(&f->req, f->req.head) = (struct srdma_rc_msg){
			.op = c->row->op, .len = c->row->len,
			.flags = SRDMA_WR_SIGNALED,
		};
		srdma_rc_req_push(&f->req);
	}
}

static void fill_request(const struct crowd *c, const struct srdma_rc_burst *b, u32 i,
			 struct packet *p)
{
	struct srdma_pkt *pkt = &p->pkt;

	memset(p, 0, sizeof(*p));
	pkt->opcode = srdma_burst_opcode(&b->b, i);
	pkt->op = srdma_opcode_get(pkt->opcode);
	pkt->psn = srdma_burst_psn(&b->b, i);
	pkt->ack_req = b->b.ack_req && i + 1 == b->b.count;
	pkt->stamp = b->b.stamp;
	pkt->reth.va = ((u64)b->idx << 32) + b->b.offset;
	pkt->reth.len = reads(c) ? b->b.len : c->row->len;
	if (!reads(c))
		pkt->payload_len = srdma_burst_payload(&b->b, i);
	p->len = pkt->payload_len;
}

static void requester_run(struct crowd *c, u32 flow)
{
	struct flow *f = &c->flow[flow];
	struct packet train[TRAIN];
	struct srdma_rc_burst b;
	struct srdma_rc_done done;
	u32 i;

	srdma_rc_req_settle(&f->req, c->now);
	while (srdma_rc_req_retire(&f->req, &done))
		c->failed |= done.status;
	if (c->failed)
		return;
	post(c, f);
	while (srdma_rc_req_next(&f->req, c->now, &limit, &b) == SRDMA_NEXT_SEND) {
		for (i = 0; i < b.b.count; i++) {
			fill_request(c, &b, i, &train[i]);
			train[i].flow = flow;
		}
		transmit(c, train, b.b.count, !reads(c));
		srdma_rc_req_sent(&f->req, &b, c->now);
	}
	srdma_rc_req_settle(&f->req, c->now);
}

static void responder_run(struct crowd *c, u32 flow)
{
	struct flow *f = &c->flow[flow];
	struct srdma_rc_resp_burst out;
	struct packet train[TRAIN];
	enum srdma_resp_out kind;
	u32 i;

	for (;;) {
		struct srdma_pkt pkt = {};
		struct srdma_burst b;

		kind = srdma_rc_resp_next(&f->resp, &limit, SRDMA_RESP_NO_CREDITS, &out);
		if (kind == SRDMA_OUT_NONE)
			return;
		b = out.b;
		pkt.stamp = b.stamp;
		pkt.aeth.syndrome = out.syndrome;
		pkt.aeth.msn = out.msn;
		if (kind == SRDMA_OUT_SACK)
			srdma_rc_resp_fill_sack(&f->resp, &pkt, &b);
		for (i = 0; i < b.count; i++) {
			train[i] = (struct packet){ .pkt = pkt, .flow = flow };
			train[i].pkt.opcode = srdma_burst_opcode(&b, i);
			train[i].pkt.op = srdma_opcode_get(train[i].pkt.opcode);
			train[i].pkt.psn = srdma_burst_psn(&b, i);
			if (kind == SRDMA_OUT_READ)
				train[i].len = srdma_burst_payload(&b, i);
			train[i].pkt.payload_len = train[i].len;
		}
		transmit(c, train, b.count, reads(c));
		srdma_rc_resp_sent(&f->resp, &out);
	}
}

static void execute(struct crowd *c, struct flow *f, const struct srdma_pkt *pkt)
{
	struct srdma_rc_resp_act act;

	switch (srdma_rc_resp_request(&f->resp, pkt, &act)) {
	case SRDMA_RESP_WRITE:
		f->got++;
		note_in_order(c, f);
		fallthrough;
	case SRDMA_RESP_READ:
	case SRDMA_RESP_DUP_READ:
		srdma_rc_resp_commit(&f->resp, pkt, &act);
		break;
	case SRDMA_RESP_NAK_INV_REQ:
	case SRDMA_RESP_DROP_RANGE:
		c->failed = true;
		break;
	default:
		break;
	}
}

static void hold_back(struct flow *f, const struct srdma_pkt *pkt)
{
	u32 i = f->nheld++;

	for (; i && srdma_psn_before(pkt->psn, f->held[i - 1].psn); i--)
		f->held[i] = f->held[i - 1];
	f->held[i] = *pkt;
	srdma_rc_resp_hold(&f->resp, pkt);
}

static void take_request(struct crowd *c, struct flow *f, const struct srdma_pkt *pkt)
{
	u32 n = 0;

	if (f->nheld < HELD && srdma_rc_resp_wants(&f->resp, pkt))
		hold_back(f, pkt);
	else
		execute(c, f, pkt);
	while (n < f->nheld && !srdma_psn_after(f->held[n].psn, f->resp.epsn))
		execute(c, f, &f->held[n++]);
	f->nheld -= n;
	memmove(f->held, &f->held[n], f->nheld * sizeof(f->held[0]));
}

static void take_response(struct crowd *c, struct flow *f, const struct srdma_pkt *pkt)
{
	struct srdma_rc_req_act act;

	if (srdma_rc_req_lacks_mend(&f->req, pkt))
		f->req.mend = &f->req_mend;
	if (srdma_rc_req_response(&f->req, pkt, c->now, &act) != SRDMA_REQ_PLACE)
		return;
	f->got++;
	srdma_rc_req_placed(&f->req, &act, c->now);
	if (f->req.una_psn != f->front_psn)
		note_in_order(c, f);
	f->front_psn = f->req.una_psn;
}

static void look_at_holes(struct crowd *c, u32 flow)
{
	struct flow *f = &c->flow[flow];

	if (srdma_rc_resp_waits(&f->resp) || (f->hold_at && f->hold_at <= c->now))
		f->hold_at = srdma_rc_resp_report(&f->resp, c->now);
	responder_run(c, flow);
}

/* All that arrives now, or what of a train does. */
static void arrive(struct crowd *c, struct way *w, bool at_responder)
{
	u32 flow = w->p[w->out % WAY].flow;
	u32 left;

	do {
		struct packet *p = &w->p[w->out++ % WAY];

		left = p->left;
		if (at_responder)
			take_request(c, &c->flow[flow], &p->pkt);
		else
			take_response(c, &c->flow[flow], &p->pkt);
	} while (left);
	if (at_responder)
		look_at_holes(c, flow);
	else
		requester_run(c, flow);
}

/* ---- time ---- */

enum event { LINE, THERE, BACK, START, TIMER, HOLES, END };

static void sooner(u64 t, enum event e, u32 flow, u64 *at, enum event *event, u32 *of)
{
	if (t >= *at)
		return;
	*at = t;
	*event = e;
	*of = flow;
}

static enum event next_event(const struct crowd *c, u64 end, u64 *at, u32 *of)
{
	enum event event = END;
	u32 i;

	*at = end;
	if (c->queue.in != c->queue.out)
		sooner(c->free_at, LINE, 0, at, &event, of);
	if (c->there.in != c->there.out)
		sooner(c->there.p[c->there.out % WAY].at, THERE, 0, at, &event, of);
	if (c->back.in != c->back.out)
		sooner(c->back.p[c->back.out % WAY].at, BACK, 0, at, &event, of);
	for (i = 0; i < c->row->flows; i++) {
		const struct flow *f = &c->flow[i];

		if (f->start_at)
			sooner(f->start_at, START, i, at, &event, of);
		if (f->req.deadline)
			sooner(f->req.deadline, TIMER, i, at, &event, of);
		if (f->hold_at)
			sooner(f->hold_at, HOLES, i, at, &event, of);
	}
	return event;
}

static void run_until(struct crowd *c, u64 end)
{
	enum event event;
	u32 of = 0;
	u64 at;

	while (!c->failed) {
		event = next_event(c, end, &at, &of);
		if (at > c->now)
			c->now = at;
		switch (event) {
		case LINE:
			line_is_free(c);
			break;
		case THERE:
			arrive(c, &c->there, !reads(c));
			break;
		case BACK:
			arrive(c, &c->back, reads(c));
			break;
		case START:
			c->flow[of].start_at = 0;
			requester_run(c, of);
			break;
		case TIMER:
			srdma_rc_req_timeout(&c->flow[of].req, c->now);
			requester_run(c, of);
			break;
		case HOLES:
			look_at_holes(c, of);
			break;
		case END:
			return;
		}
	}
}

static void open_flow(struct crowd *c, struct flow *f, u32 within)
{
	u32 psn = rnd(&c->rng) & 0xffffff;
	struct srdma_rc_req_attr attr = {
		.psn = psn, .mtu = MTU, .max_inflight = 64 << 20,
		.near_inflight = 2 << 20, .start_inflight = 256 << 10,
		.first_inflight = 64 << 10, .max_rd_atomic = READS,
		.retry_cnt = 7, .rnr_retry = 7, .timeout = 14,
	};
	struct srdma_rc_resp_attr resp = { .psn = psn, .mtu = MTU };

	srdma_rc_req_init(&f->req, &attr, f->ring, sizeof(f->ring[0]), RING - 1);
	srdma_rc_resp_init(&f->resp, &resp, f->res, READS);
	f->resp.mend = &f->resp_mend;
	f->front_psn = psn;
	f->start_at = c->now + rnd_below(&c->rng, within);
}

/* What scripts/bench-crowd has. */
static void set_line(struct crowd *c)
{
	static const struct {
		u32 mbit, most, room, warm_ms, ms;
	} lines[] = {
		{ 10, 5000, 30000, 4000, 8000 },
		{ 100, 15000, 100000, 1000, 3000 },
		{ 200, 15000, 250000, 4000, 4000 },
		{ 1000, 125000, 500000, 250, 500 },
	};
	u32 i = 0;

	while (lines[i].mbit != c->row->mbit)
		i++;
	c->most = lines[i].most;
	c->room = lines[i].room;
	c->delay_ns = lines[i].mbit == 200 ? FAR_NS : DELAY_NS;
	c->warm_at = lines[i].warm_ms * 1000000ull;
	c->end_at = c->warm_at + lines[i].ms * 1000000ull;
}

/**
 * struct figures - of a row
 * @line: how much of the line was used
 * @jain: Jain's index
 * @starved_ms: longest time in which one of them got nothing, or nothing of use
 * @sent: packets sent for each that was needed
 */
struct figures {
	double line;
	double jain;
	double starved_ms;
	double sent;
};

static void add_figures(const struct crowd *c, struct figures *sum)
{
	double got = 0, squares = 0, sent = 0;
	u64 starved = 0;
	u32 i;

	for (i = 0; i < c->row->flows; i++) {
		const struct flow *f = &c->flow[i];
		double mine = f->got - f->begun_got;

		got += mine;
		squares += mine * mine;
		sent += f->sent - f->begun_sent;
		if (f->starved > starved)
			starved = f->starved;
		if (c->now - f->last_at > starved)
			starved = c->now - f->last_at;
	}
	sum->line += got * line_ns(c, MTU + AROUND) / (c->end_at - c->warm_at) / SEEDS;
	sum->jain += got * got / squares / c->row->flows / SEEDS;
	sum->starved_ms += starved / 1e6 / SEEDS;
	sum->sent += sent / got / SEEDS;
}

static bool run_crowd(struct crowd *c, const struct row *row, u32 seed,
		      struct figures *sum)
{
	u32 i;

	memset(c, 0, sizeof(*c));
	c->row = row;
	c->rng.s = seed;
	c->now = 1;
	set_line(c);
	for (i = 0; i < row->flows; i++)
		open_flow(c, &c->flow[i], seed % 2 ? AT_ONCE_NS : START_NS);
	run_until(c, c->warm_at);
	for (i = 0; i < row->flows; i++) {
		c->flow[i].begun_got = c->flow[i].got;
		c->flow[i].begun_sent = c->flow[i].sent;
	}
	run_until(c, c->end_at);
	if (!c->failed)
		add_figures(c, sum);
	return !c->failed;
}

static bool print_crowd(const struct row *row)
{
	struct figures sum = {};
	u32 seed;

	for (seed = 1; seed <= SEEDS; seed++)
		if (!run_crowd(&crowd, row, seed, &sum)) {
			printf("  %s: seed %u fails\n", row->name, seed);
			return false;
		}
	printf("  %2u %-13s %4u Mbit/s  ", row->flows, row->name, row->mbit);
	if (row->way_us)
		printf("%4u us, %4u more or less, %u of 1000 lost  ", row->way_us,
		       row->jitter_us, row->lost);
	printf("%.2f of it, Jain %.2f, starved %3.0f ms, %.3f sent for each needed\n",
	       sum.line, sum.jain, sum.starved_ms, sum.sent);
	return sum.line > row->line && sum.jain >= row->jain &&
	       sum.starved_ms <= row->starved_ms && sum.sent <= row->sent;
}

/* All of the line is to be used. */
#define A_QUEUE	0, 0, 0, 0.95

bool run_crowds(void)
{
	static const struct row rows[] = {
		{ "WRITE 64 KB", SRDMA_WR_WRITE, 64 << 10, 4, 10, 0.95, 120, 1.02, A_QUEUE },
		{ "WRITE 1000 KB", SRDMA_WR_WRITE, 1000 << 10, 4, 10, 0.95, 120, 1.02, A_QUEUE },
		{ "WRITE 64 KB", SRDMA_WR_WRITE, 64 << 10, 16, 10, 0.95, 140, 1.02, A_QUEUE },
		{ "WRITE 64 KB", SRDMA_WR_WRITE, 64 << 10, 4, 100, 0.93, 60, 1.01, A_QUEUE },
		{ "WRITE 64 KB", SRDMA_WR_WRITE, 64 << 10, 16, 100, 0.93, 80, 1.02, A_QUEUE },
		{ "WRITE 1000 KB", SRDMA_WR_WRITE, 1000 << 10, 4, 200, 0.7, 90, 1.02, A_QUEUE },
		{ "WRITE 64 KB", SRDMA_WR_WRITE, 64 << 10, 4, 1000, 0.92, 20, 1.01, A_QUEUE },
		{ "WRITE 64 KB", SRDMA_WR_WRITE, 64 << 10, 16, 1000, 0.9, 20, 1.01, A_QUEUE },
		{ "READ 64 KB", SRDMA_WR_READ, 64 << 10, 4, 10, 0.94, 120, 1.02, A_QUEUE },
		{ "READ 1000 KB", SRDMA_WR_READ, 1000 << 10, 4, 10, 0.92, 100, 1.02, A_QUEUE },
		{ "READ 64 KB", SRDMA_WR_READ, 64 << 10, 16, 10, 0.95, 150, 1.02, A_QUEUE },
		{ "READ 1000 KB", SRDMA_WR_READ, 1000 << 10, 16, 10, 0.94, 220, 1.03, A_QUEUE },
		{ "READ 64 KB", SRDMA_WR_READ, 64 << 10, 4, 100, 0.93, 60, 1.01, A_QUEUE },
		{ "READ 1000 KB", SRDMA_WR_READ, 1000 << 10, 4, 100, 0.92, 60, 1.02, A_QUEUE },
		{ "READ 64 KB", SRDMA_WR_READ, 64 << 10, 16, 100, 0.9, 100, 1.03, A_QUEUE },
		{ "READ 1000 KB", SRDMA_WR_READ, 1000 << 10, 16, 100, 0.92, 150, 1.03, A_QUEUE },
		{ "READ 64 KB", SRDMA_WR_READ, 64 << 10, 4, 1000, 0.92, 20, 1.02, A_QUEUE },
		{ "READ 64 KB", SRDMA_WR_READ, 64 << 10, 16, 1000, 0.9, 150, 1.03, A_QUEUE },
		{ "READ 1000 KB", SRDMA_WR_READ, 1000 << 10, 16, 1000, 0.87, 150, 1.04, A_QUEUE },
		{ "WRITE 64 KB", SRDMA_WR_WRITE, 64 << 10, 1, 1000, 1, 50, 1.1, 1000, 500, 0, 0.7 },
		{ "WRITE 64 KB", SRDMA_WR_WRITE, 64 << 10, 1, 1000, 1, 100, 1.2, 5000, 2000, 0, 0.15 },
		{ "WRITE 64 KB", SRDMA_WR_WRITE, 64 << 10, 1, 1000, 1, 60, 1.1, 5000, 2000, 5, 0.05 },
		{ "READ 64 KB", SRDMA_WR_READ, 64 << 10, 1, 1000, 1, 10, 1.05, 1000, 500, 0, 2 },
		{ "READ 64 KB", SRDMA_WR_READ, 64 << 10, 1, 1000, 1, 30, 1.1, 5000, 2000, 0, 0.4 },
		{ "READ 64 KB", SRDMA_WR_READ, 64 << 10, 1, 1000, 1, 60, 1.2, 5000, 2000, 5, 0.1 },
	};
	bool good = true;
	u32 i;

	printf("crowds, that share a line whose queue drops, and one that is overtaken:\n");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		good &= print_crowd(&rows[i]);
	if (!good)
		printf("sim: some of many get little, or much goes twice\n");
	return good;
}
