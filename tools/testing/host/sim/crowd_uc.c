// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Unreliable connections that share a slow line, whose queue marks packets: with RED, as
 * tc-red(8) does it, from a quarter of its bytes on, and all from a half on. What it
 * has no room for is lost, and nobody is told of that. Packets have no bytes.
 *
 *	sender 0 --.                           .-- receiver 0
 *	sender 1 ---+--> queue --> line ---+--- receiver 1
 *	...      --'                           '-- ...
 *	     ^-------- notifications, later -----'
 */
#include <stdio.h>
#include <string.h>

#include "crowd.h"
#include "proto/uc.h"
#include "rng.h"

#define FLOWS		16u
#define SEEDS		4u
#define RING		4u
#define TRAIN		58u		/* most packets */
#define MTU		1024u
#define PACKET		(MTU + 58u)	/* with what is around its payload */
#define WAY		65536u		/* packets on a way; a power of two */
#define BUDGET		256u		/* packets that one sends before others, */
#define HOST_NS		1300u		/* each of which takes so long, */
#define START_NS	2000000u	/* after all have begun within that */
#define WARM_NS		4000000000ull
#define END_NS		10000000000ull
#define MARK_NONE	0u
#define MARK_ALL	1000000u
#define MARK_MOST	100000u		/* of a million, where not all are */
#define NEVER		(~0ull)

/**
 * struct item - what is on a way
 * @at: when it arrives
 * @flow: whose it is
 * @marked: has met congestion
 */
struct item {
	u64 at;
	u32 flow;
	bool marked;
};

struct way {
	struct item item[WAY];
	u32 in, out;
};

/**
 * struct flow - one connection
 * @req: its sender
 * @ring: of that
 * @ready_at: when it may send again
 * @notified_at: when its receiver last notified it
 * @got: packets that have arrived, since measuring began
 * @last_at: when the last one did
 * @starved: longest time without any, ns
 */
struct flow {
	struct srdma_uc_req req;
	struct srdma_rc_msg ring[RING];
	u64 ready_at;
	u64 notified_at;
	u64 got;
	u64 last_at;
	u64 starved;
};

/**
 * struct row - what is tried
 * @flows: connections
 * @mbit: of the line
 * @room: bytes of its queue
 * @way_us: to the other end, beside the queue
 * @line: so much of the line has to be used, on average of all seeds, and
 * @jain: so evenly, and
 * @starved_ms: one of them may have nothing for so long, and
 * @sent: so many packets be sent for each that arrives
 */
struct row {
	u32 flows;
	u32 mbit;
	u32 room;
	u32 way_us;
	double line;
	double jain;
	double starved_ms;
	double sent;
};

/**
 * struct crowd - connections, and what they share
 * @row: what they do
 * @rng: what is chance
 * @now: virtual time, ns
 * @host_at: when the host of the senders has time for the next packet
 * @bytes: in the queue, @average: of the last some hundred packets
 * @queue: what waits for the line; the first leaves it at its time
 * @back: notifications
 * @sent: packets, since measuring began
 * @flow: all of them
 */
struct crowd {
	const struct row *row;
	struct rng rng;
	u64 now;
	u64 host_at;
	u32 bytes;
	double average;
	struct way queue;
	struct way back;
	u64 sent;
	struct flow flow[FLOWS];
};

static struct crowd crowd;

static u64 line_ns(const struct crowd *c)
{
	return PACKET * 8000ull / c->row->mbit;
}

static struct item *first(struct way *w)
{
	return w->in == w->out ? NULL : &w->item[w->out % WAY];
}

static u64 due(struct way *w)
{
	return first(w) ? first(w)->at : NEVER;
}

/* How many of a million are marked. */
static u32 mark_part(const struct crowd *c)
{
	double least = c->row->room / 4., most = c->row->room / 2.;

	if (c->average < least)
		return MARK_NONE;
	if (c->average >= most)
		return MARK_ALL;
	return MARK_MOST * (c->average - least) / (most - least);
}

/* A train, or a packet. Where marks are few, they are of one, whatever it carries. */
static void enqueue(struct crowd *c, u32 flow, u32 count)
{
	bool idle = !first(&c->queue), marked;
	struct item *i;

	c->average += (c->bytes - c->average) / 64;
	if (c->bytes + count * PACKET > c->row->room)
		return;
	marked = rnd_below(&c->rng, 1000000) < mark_part(c);
	c->bytes += count * PACKET;
	for (; count; count--, idle = false) {
		i = &c->queue.item[c->queue.in++ % WAY];
		*i = (struct item){
			.flow = flow,
			.marked = marked,
			.at = idle ? c->now + line_ns(c) : 0,
		};
	}
}

static void leave_queue(struct crowd *c)
{
	struct item i = *first(&c->queue);
	struct flow *f = &c->flow[i.flow];

	c->queue.out++;
	c->bytes -= PACKET;
	if (first(&c->queue))
		first(&c->queue)->at = c->now + line_ns(c);
	if (c->now >= WARM_NS) {
		f->got++;
		if (c->now - f->last_at > f->starved)
			f->starved = c->now - f->last_at;
		f->last_at = c->now;
	}
	if (!i.marked || c->now - f->notified_at < SRDMA_CNP_APART_NS)
		return;
	f->notified_at = c->now;
	c->back.item[c->back.in++ % WAY] = (struct item){
		.at = c->now + 2000ull * c->row->way_us, .flow = i.flow,
	};
}

static void hear(struct crowd *c)
{
	struct flow *f = &c->flow[first(&c->back)->flow];

	c->back.out++;
	srdma_uc_req_congested(&f->req, c->now);
}

/* There is always another message. */
static void refill(struct srdma_uc_req *req)
{
	struct srdma_rc_done done;

	while (srdma_uc_req_retire(req, &done))
		;
	while (!srdma_uc_req_full(req)) {
		*srdma_uc_req_msg(req, req->head) = (struct srdma_rc_msg){
			.op = SRDMA_WR_WRITE, .len = 64 * MTU,
		};
		srdma_uc_req_push(req);
	}
}

/* Returns how many packets. */
static u32 send_train(struct crowd *c, u32 flow)
{
	static const struct srdma_burst_limit limit = { TRAIN, 60 * MTU };
	struct flow *f = &c->flow[flow];
	/* What is longer than the line takes at once is cut. */
	u32 most = c->row->mbit < 1000 ? 1 : TRAIN;
	struct srdma_rc_burst b;
	u32 i;

	refill(&f->req);
	if (srdma_uc_req_next(&f->req, c->now, &limit, &b) != SRDMA_NEXT_SEND) {
		f->ready_at = f->req.rate.wake_at;
		return 0;
	}
	for (i = 0; i < b.b.count; i += most)
		enqueue(c, flow, b.b.count - i < most ? b.b.count - i : most);
	if (c->now >= WARM_NS)
		c->sent += b.b.count;
	srdma_uc_req_sent(&f->req, &b, c->now);
	srdma_uc_req_released(&f->req, b.idx);
	return b.b.count;
}

static void send_some(struct crowd *c, u32 flow)
{
	u32 sent = 0, count;

	do {
		count = send_train(c, flow);
		sent += count;
	} while (count && sent < BUDGET);
	c->host_at = c->now + sent * HOST_NS;
	if (count)
		c->flow[flow].ready_at = c->host_at;
}

/* The one that has waited longest. */
static u32 who_sends(struct crowd *c)
{
	u32 i, who = 0;

	for (i = 1; i < c->row->flows; i++)
		if (c->flow[i].ready_at < c->flow[who].ready_at)
			who = i;
	return who;
}

static void run(struct crowd *c)
{
	u64 send_at;
	u32 who;

	while (c->now < END_NS) {
		who = who_sends(c);
		send_at = c->flow[who].ready_at;
		if (send_at < c->host_at)
			send_at = c->host_at;
		if (due(&c->back) <= send_at && due(&c->back) <= due(&c->queue)) {
			c->now = due(&c->back);
			hear(c);
		} else if (due(&c->queue) <= send_at) {
			c->now = due(&c->queue);
			leave_queue(c);
		} else {
			c->now = send_at;
			send_some(c, who);
		}
	}
}

static void begin(struct crowd *c, const struct row *row, u32 seed)
{
	u32 i;

	memset(c, 0, sizeof(*c));
	c->row = row;
	c->rng.s = seed;
	for (i = 0; i < row->flows; i++) {
		struct flow *f = &c->flow[i];

		srdma_uc_req_init(&f->req, SRDMA_QPT_UC, 0, MTU, f->ring,
				  sizeof(f->ring[0]), RING - 1);
		f->ready_at = 1 + rnd_below(&c->rng, START_NS);
		f->last_at = WARM_NS;
	}
}

static bool print_row(struct crowd *c, const struct row *row)
{
	double line = 0, jain = 0, starved_ms = 0, sent = 0;
	u32 seed, i;

	for (seed = 1; seed <= SEEDS; seed++) {
		double got = 0, squares = 0, longest = 0;

		begin(c, row, seed);
		run(c);
		for (i = 0; i < row->flows; i++) {
			const struct flow *f = &c->flow[i];

			got += f->got;
			squares += (double)f->got * f->got;
			if (f->starved > longest)
				longest = f->starved;
			if (c->now - f->last_at > longest)
				longest = c->now - f->last_at;
		}
		line += got * line_ns(c) / (END_NS - WARM_NS) / SEEDS;
		jain += got * got / squares / row->flows / SEEDS;
		starved_ms += longest / 1e6 / SEEDS;
		sent += c->sent / got / SEEDS;
	}
	printf("  %2u at %4u Mbit/s, %5u us away  %.2f of it, Jain %.2f, starved %3.0f ms, %.3f sent for each that arrives\n",
	       row->flows, row->mbit, row->way_us, line, jain, starved_ms,
	       sent);
	return line >= row->line && jain >= row->jain &&
	       starved_ms <= row->starved_ms && sent <= row->sent;
}

bool run_unreliable_crowds(void)
{
	static const struct row rows[] = {
		{ 1, 10, 30000, 30, 0.9, 1, 20, 1.02 },
		{ 4, 10, 30000, 30, 0.93, 0.94, 40, 1.02 },
		{ 16, 10, 30000, 30, 0.93, 0.95, 100, 1.07 },
		{ 1, 100, 100000, 30, 0.92, 1, 2, 1.01 },
		{ 4, 100, 100000, 30, 0.93, 0.94, 5, 1.01 },
		{ 16, 100, 100000, 30, 0.95, 0.92, 10, 1.01 },
		{ 1, 1000, 500000, 30, 0.9, 1, 2, 1.01 },
		{ 4, 1000, 500000, 30, 0.91, 0.85, 3, 1.01 },
		{ 16, 1000, 500000, 30, 0.93, 0.88, 5, 1.01 },
		{ 4, 100, 100000, 25000, 0.85, 0.94, 20, 1.02 },
		{ 16, 1000, 500000, 25000, 0.87, 0.92, 10, 1.01 },
	};
	bool good = true;
	u32 i;

	printf("unreliable connections, that share a line whose queue marks:\n");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		good &= print_row(&crowd, &rows[i]);
	if (!good)
		printf("sim: some of many get little, or much is lost\n");
	return good;
}
