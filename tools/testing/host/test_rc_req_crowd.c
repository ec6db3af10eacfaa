// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many requesters that share a link, which may mark packets when its queue is long: they
 * fill it, fairly, and lose nothing, or little, once they have found their rates.
 *
 *	requester 0 --.
 *	requester 1 ---+--> queue, marks --> link --> receivers
 *	...         --'                                  |
 *	     ^---- acknowledges, notifications, later ---'
 */
#include <stdlib.h>
#include <string.h>

#include "proto/aeth.h"
#include "proto/psn.h"
#include "proto/rc_req.h"
#include "test.h"

#define FLOWS		16
#define RING		16
#define MTU		1024u
#define LEN		65536u
#define QUEUE		4096u		/* packets; a power of two */
#define ANSWERS		65536u
#define OVERHEAD	82u		/* of a packet: Ethernet to ICRC, and the gap */

enum kind { ACK, NAK, NOTIFY };

struct packet {
	u8 flow;
	bool ask;
	bool marked;
	u32 psn;
	u32 len;
};

struct answer {
	u64 at;
	u8 flow;
	u8 kind;
	u32 psn;
	u32 msn;
};

struct flow {
	struct srdma_rc_req req;
	struct srdma_rc_msg ring[RING];
	u32 epsn;
	bool gap;
	u64 notified_at;
	u64 got;		/* packets received in order */
	u64 sent;
	u64 begun_got;		/* both when the run was warm */
	u64 begun_sent;
	u64 last_at;
	u64 starved;
};

/**
 * struct crowd - flows, and what they share
 * @ns_byte: of the link, in 1/1024
 * @room: bytes of the queue
 * @mark: bytes in it from which on packets are marked
 * @back: ns to get an answer back
 */
struct crowd {
	u32 flows;
	u64 ns_byte;
	u32 room;
	u32 mark;
	u64 back;
	u64 now;
	u64 free_at;
	u32 bytes;
	u32 in, out;
	u32 first, last;
	u64 drops;
	struct packet queue[QUEUE];
	struct answer answers[ANSWERS];
	struct flow flow[FLOWS];
};

static struct crowd crowd;

static u32 wire_len(u32 len)
{
	return len + OVERHEAD;
}

static void enqueue(struct crowd *c, const struct packet *p)
{
	if (c->bytes + wire_len(p->len) > c->room || c->in - c->out == QUEUE) {
		c->drops++;
		return;
	}
	c->queue[c->in % QUEUE] = *p;
	c->queue[c->in % QUEUE].marked = c->bytes >= c->mark;
	if (c->in == c->out)
		c->free_at = c->now + (wire_len(p->len) * c->ns_byte >> 10);
	c->in++;
	c->bytes += wire_len(p->len);
}

static void post(struct flow *f)
{
	while (!srdma_rc_req_full(&f->req)) {
		*srdma_rc_req_msg(&f->req, f->req.head) = (struct srdma_rc_msg){
			.op = SRDMA_WR_WRITE, .len = LEN,
			.flags = SRDMA_WR_SIGNALED,
		};
		srdma_rc_req_push(&f->req);
	}
}

static void run_flow(struct crowd *c, struct flow *f)
{
	static const struct srdma_burst_limit limit = {
		.packets = 58, .bytes = 60 * MTU,
	};
	struct srdma_rc_burst burst;
	struct srdma_rc_done done;
	u32 i;

	while (srdma_rc_req_retire(&f->req, &done))
		REQUIRE(!done.status);
	post(f);
	while (srdma_rc_req_next(&f->req, c->now, &limit, &burst) ==
	       SRDMA_NEXT_SEND) {
		for (i = 0; i < burst.b.count; i++) {
			struct packet p = {
				.flow = f - c->flow,
				.psn = srdma_burst_psn(&burst.b, i),
				.len = srdma_burst_payload(&burst.b, i),
				.ask = burst.b.ack_req &&
				       i + 1 == burst.b.count,
			};

			enqueue(c, &p);
			f->sent++;
		}
		srdma_rc_req_sent(&f->req, &burst, c->now);
	}
}

static void answer(struct crowd *c, u8 flow, enum kind kind, u32 psn)
{
	REQUIRE(c->last - c->first < ANSWERS);
	c->answers[c->last++ % ANSWERS] = (struct answer){
		.at = c->now + c->back, .flow = flow, .kind = kind, .psn = psn,
		.msn = (c->flow[flow].got / (LEN / MTU)) & 0xffffff,
	};
}

static void receive(struct crowd *c)
{
	struct packet *p = &c->queue[c->out++ % QUEUE];
	struct flow *f = &c->flow[p->flow];

	c->bytes -= wire_len(p->len);
	if (c->in != c->out)
		c->free_at += wire_len(c->queue[c->out % QUEUE].len) *
			      c->ns_byte >> 10;
	if (p->marked && (!f->notified_at ||
			  c->now - f->notified_at >= SRDMA_CNP_APART_NS)) {
		f->notified_at = c->now;
		answer(c, p->flow, NOTIFY, 0);
	}
	if (srdma_psn_after(p->psn, f->epsn)) {
		if (!f->gap)
			answer(c, p->flow, NAK, f->epsn);
		f->gap = true;
		return;
	}
	if (p->psn == f->epsn) {
		if (c->now - f->last_at > f->starved)
			f->starved = c->now - f->last_at;
		f->last_at = c->now;
		f->gap = false;
		f->epsn = srdma_psn_next(f->epsn);
		f->got++;
	}
	if (p->ask)
		answer(c, p->flow, ACK, srdma_psn_sub(f->epsn, 1));
}

static void hear(struct crowd *c)
{
	struct answer *a = &c->answers[c->first++ % ANSWERS];
	struct flow *f = &c->flow[a->flow];
	struct srdma_rc_req_act act;
	struct srdma_pkt pkt = {
		.op = srdma_opcode_get(SRDMA_RC_ACK), .opcode = SRDMA_RC_ACK,
		.psn = a->psn, .aeth.msn = a->msn,
		.aeth.syndrome = a->kind == NAK ?
				 srdma_aeth_nak(SRDMA_NAK_PSN_SEQ) :
				 srdma_aeth_ack(SRDMA_CREDIT_UNLIMITED),
	};

	if (a->kind == NOTIFY)
		srdma_rc_req_congested(&f->req);
	else
		srdma_rc_req_response(&f->req, &pkt, c->now, &act);
	run_flow(c, f);
}

/* The timer that fires first, or -1. */
static int next_timer(const struct crowd *c, u64 *at)
{
	int found = -1;
	u32 i;

	for (i = 0; i < c->flows; i++)
		if (c->flow[i].req.deadline && c->flow[i].req.deadline < *at) {
			*at = c->flow[i].req.deadline;
			found = i;
		}
	return found;
}

static void run_until(struct crowd *c, u64 end)
{
	u64 at;
	int timer;

	for (;;) {
		bool answers;

		at = c->in != c->out ? c->free_at : end;
		answers = c->first != c->last &&
			  c->answers[c->first % ANSWERS].at <= at;
		if (answers)
			at = c->answers[c->first % ANSWERS].at;
		timer = next_timer(c, &at);
		if (at >= end)
			break;
		if (at > c->now)
			c->now = at;
		if (timer >= 0) {
			srdma_rc_req_timeout(&c->flow[timer].req, c->now);
			run_flow(c, &c->flow[timer]);
		} else if (answers) {
			hear(c);
		} else {
			receive(c);
		}
	}
	c->now = end;
}

static void open_flow(struct crowd *c, u32 i, u32 psn, u32 start)
{
	struct srdma_rc_req_attr attr = {
		.psn = psn, .mtu = MTU, .max_inflight = 64 << 20,
		.near_inflight = 2 << 20, .start_inflight = start,
		.first_inflight = start / 4, .max_rd_atomic = 1,
		.retry_cnt = 7, .rnr_retry = 7, .timeout = 14,
	};
	struct flow *f = &c->flow[i];

	srdma_rc_req_init(&f->req, &attr, f->ring, sizeof(f->ring[0]),
			  RING - 1);
	f->epsn = psn;
	f->last_at = c->now;
	run_flow(c, f);
}

/**
 * struct result - of a crowd, once it was warm
 * @goodput: part of the link that carried what was new
 * @jain: fairness, 1 is equal
 * @extra: packets sent for one that was needed
 * @starved_ms: longest time in which a flow got nothing
 * @drops: packets lost
 */
struct result {
	double goodput;
	double jain;
	double extra;
	double starved_ms;
	u64 drops;
};

static struct result measure(struct crowd *c, u64 warm, u64 end)
{
	double sum = 0, squares = 0, sent = 0;
	struct result r = {};
	u64 drops;
	u32 i;

	run_until(c, warm);
	drops = c->drops;
	for (i = 0; i < c->flows; i++) {
		c->flow[i].begun_got = c->flow[i].got;
		c->flow[i].begun_sent = c->flow[i].sent;
		c->flow[i].starved = 0;
	}
	run_until(c, end);
	for (i = 0; i < c->flows; i++) {
		struct flow *f = &c->flow[i];
		double got = f->got - f->begun_got;

		if (c->now - f->last_at > f->starved)
			f->starved = c->now - f->last_at;
		if (f->starved / 1e6 > r.starved_ms)
			r.starved_ms = f->starved / 1e6;
		sum += got;
		squares += got * got;
		sent += f->sent - f->begun_sent;
	}
	r.goodput = sum * (wire_len(MTU) * c->ns_byte >> 10) / (end - warm);
	r.jain = sum * sum / (c->flows * squares);
	r.extra = sent / sum;
	r.drops = c->drops - drops;
	return r;
}

static u32 mix(u32 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/**
 * struct link - what the flows share
 * @mbit: of it
 * @room: bytes of its queue
 * @back_us: for an answer to come back
 * @flows: their number
 * @start: bytes that one may have in flight when it begins; a quarter before an
 *	answer
 */
struct link {
	u32 mbit;
	u32 room;
	u32 back_us;
	u32 flows;
	u32 start;
};

/* As @mark, that nothing is marked. */
#define NOWHERE	UINT32_MAX

/*
 * They begin within milliseconds, and are warm after a thousand packets each and a
 * hundred round trips. The queue marks from @mark bytes on.
 */
static struct result run_queue(const struct link *l, u32 mark, u32 seed)
{
	u64 warm = (u64)l->flows * 1000 * wire_len(MTU) * 8000 / l->mbit +
		   l->back_us * 100000ull;
	struct crowd *c = &crowd;
	u32 i;

	/* What is lost of the first windows takes a while to be found. */
	if (mark == NOWHERE)
		warm += 3000000000ull;
	memset(c, 0, sizeof(*c));
	c->flows = l->flows;
	c->ns_byte = (8000ull << 10) / l->mbit;
	c->room = l->room;
	c->mark = mark;
	c->back = l->back_us * 1000ull;
	for (i = 0; i < l->flows; i++) {
		run_until(c, 1000 + i * 1000ull + mix(&seed) % 60000);
		open_flow(c, i, mix(&seed) & 0xffffff, l->start);
	}
	return measure(c, warm, 3 * warm);
}

static struct result run_crowd(const struct link *l, u32 seed)
{
	return run_queue(l, l->room / 4, seed);
}

/* Few and many, near and far, through queues that hold about a round trip. */
TEST(req_crowd__fills_the_link_fairly_and_loses_nothing)
{
	static const struct link links[] = {
		{ 10, 30000, 20, 1, 16384 },
		{ 10, 30000, 1000, 4, 16384 },
		{ 100, 100000, 20, 4, 16384 },
		{ 100, 100000, 1000, 16, 16384 },
		{ 1000, 500000, 20, 1, 16384 },
		{ 1000, 500000, 1000, 4, 16384 },
		{ 1000, 500000, 20, 16, 16384 },
	};
	u32 seeds = getenv("CROWD_SEEDS") ? atoi(getenv("CROWD_SEEDS")) : 1;
	struct result r;
	u32 i, seed;

	for (seed = 1; seed <= seeds; seed++)
		for (i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
			r = run_crowd(&links[i], seed * 2654435761u);
			EXPECT(r.goodput > 0.95);
			EXPECT(r.jain > 0.85);
			EXPECT(r.extra < 1.02);
			EXPECT(r.starved_ms < 100);
			EXPECT_EQ(r.drops, 0);
		}
}

/*
 * A queue that is short for a long path: with steps of a packet in a round trip one had
 * a fifth of it at 10 ms, and a 25th at 50. The first window of the last one of four
 * loses its end, which is not to be missed for seconds.
 */
TEST(req_crowd__fills_a_long_path)
{
	static const struct link far[] = {
		{ 200, 250000, 10000, 1, 262144 },
		{ 200, 250000, 10000, 4, 262144 },
		{ 200, 250000, 50000, 1, 262144 },
	};
	static const double least[] = { 0.9, 0.9, 0.8 };
	struct result r;
	u32 i;

	for (i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		r = run_crowd(&far[i], 2654435761u);
		EXPECT(r.goodput > least[i]);
		EXPECT(r.jain > 0.95);
		EXPECT(r.extra < 1.02);
		EXPECT(r.starved_ms < 100);
		EXPECT_EQ(r.drops, 0);
	}
}

/*
 * Where the queue has no room for a packet of each above the threshold, some are lost;
 * but nothing to speak of.
 */
TEST(req_crowd__sends_less_than_a_packet_in_a_round_trip)
{
	static const struct link narrow = { 10, 30000, 20, 16, 16384 };
	struct result r = run_crowd(&narrow, 12345);

	EXPECT(r.goodput > 0.95);
	EXPECT(r.jain > 0.85);
	EXPECT(r.extra < 1.02);
	EXPECT(r.starved_ms < 110);
}

/*
 * Where nobody marks, a connection that loses what it sent last has to find out. Without
 * a look at the round trips, of 16 at 10 Mbit/s some had nothing for 20 seconds, one alone
 * had a third of 10 Mbit/s and 0.6 of 1 Gbit/s, and half of 200 with 10 ms.
 */
TEST(req_crowd__of_a_queue_that_does_not_mark_loses_little)
{
	static const struct link links[] = {
		{ 10, 30000, 20, 1, 262144 },
		{ 10, 30000, 20, 4, 262144 },
		{ 100, 100000, 20, 1, 262144 },
		{ 100, 100000, 20, 4, 262144 },
		{ 100, 100000, 20, 16, 262144 },
		{ 1000, 500000, 20, 1, 262144 },
		{ 1000, 500000, 20, 4, 262144 },
		{ 1000, 500000, 20, 16, 262144 },
		{ 200, 250000, 10000, 1, 262144 },
		{ 200, 250000, 10000, 4, 262144 },
	};
	struct result r;
	u32 i;

	for (i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		r = run_queue(&links[i], NOWHERE, 2654435761u);
		EXPECT(r.goodput > 0.95);
		EXPECT(r.jain > 0.9);
		EXPECT(r.extra < 1.06);
		EXPECT(r.starved_ms < 100);
	}
}

/* A packet or two of each fill that queue. */
TEST(req_crowd__of_a_short_queue_that_does_not_mark)
{
	static const struct link narrow = { 10, 30000, 20, 16, 262144 };
	struct result r = run_queue(&narrow, NOWHERE, 2654435761u);

	EXPECT(r.goodput > 0.9);
	EXPECT(r.jain > 0.9);
	EXPECT(r.extra < 1.2);
	EXPECT(r.starved_ms < 2000);
}
