// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many requesters behind one queue that drains slowly and loses nothing, as in
 * front of a slow interface: what they have in flight is what each of them has
 * to wait for, and whoever repeats too much of it makes all wait longer.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/aeth.h"
#include "proto/psn.h"
#include "proto/rc_req.h"
#include "test.h"

#define REQUESTERS	64
#define RING		128
#define QUEUE		(1 << 17)
#define MTU_BYTES	4096
#define INFLIGHT_MAX	(2 << 20)

/* As the driver begins, START_INFLIGHT. */
#define INFLIGHT_START	(256 << 10)

/* And until the first answer, FIRST_INFLIGHT. */
#define INFLIGHT_FIRST	(64 << 10)

struct sender {
	struct srdma_rc_req req;
	struct srdma_rc_msg ring[RING];
	uint32_t to_push;
	uint32_t expected;	/* the peer's next PSN */
	uint32_t done;
	uint32_t failed;
};

struct queued {
	struct sender *from;
	struct srdma_burst b;
};

static struct sender senders[REQUESTERS];
static struct queued *queue;
static uint32_t queue_in, queue_out;
static uint64_t now, drained_at, packet_ns;

static void retire(struct sender *s)
{
	struct srdma_rc_done done;

	while (srdma_rc_req_retire(&s->req, &done)) {
		if (done.status == SRDMA_ST_OK)
			s->done++;
		else
			s->failed++;
	}
}

/* Posts what there is room for, and sends what may be sent. */
static void pump(struct sender *s, uint32_t len)
{
	const struct srdma_burst_limit limit = {
		.packets = 15, .bytes = 15 * MTU_BYTES,
	};
	struct srdma_rc_burst burst;

	retire(s);
	while (s->to_push && !srdma_rc_req_full(&s->req)) {
		*srdma_rc_req_msg(&s->req, s->req.head) = (struct srdma_rc_msg){
			.op = SRDMA_WR_WRITE, .len = len,
			.flags = SRDMA_WR_SIGNALED,
		};
		srdma_rc_req_push(&s->req);
		s->to_push--;
	}
	while (srdma_rc_req_next(&s->req, now, &limit, &burst) ==
	       SRDMA_NEXT_SEND) {
		REQUIRE(queue_in - queue_out < QUEUE);
		if (queue_in == queue_out)
			drained_at = now;
		queue[queue_in++ % QUEUE] = (struct queued){ s, burst.b };
		srdma_rc_req_sent(&s->req, &burst, now);
	}
}

/* The oldest burst arrives; what it asks for is answered at once. */
static void arrive(uint32_t len)
{
	const struct queued *q = &queue[queue_out++ % QUEUE];
	struct sender *s = q->from;
	struct srdma_rc_req_act act;
	struct srdma_pkt pkt = {
		.op = srdma_opcode_get(SRDMA_RC_ACK), .opcode = SRDMA_RC_ACK,
		.aeth.syndrome = 0x1f,
	};

	if (srdma_psn_dist(q->b.psn, s->expected) < q->b.count)
		s->expected = srdma_psn_add(q->b.psn, q->b.count);
	if (!q->b.ack_req)
		return;
	pkt.psn = srdma_psn_sub(s->expected, 1);
	srdma_rc_req_response(&s->req, &pkt, now, &act);
	pump(s, len);
}

static void expire(uint32_t count, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		struct sender *s = &senders[i];

		if (!s->req.deadline || s->req.deadline > now)
			continue;
		srdma_rc_req_timeout(&s->req, now);
		pump(s, len);
	}
}

/* The next thing that happens: a burst arrives, or somebody's time is over. */
static bool step(uint32_t count, uint32_t len)
{
	uint64_t at = queue_in == queue_out ? 0 :
		drained_at + queue[queue_out % QUEUE].b.count * packet_ns;
	bool arrives = at;
	uint32_t i;

	for (i = 0; i < count; i++) {
		uint64_t deadline = senders[i].req.deadline;

		if (deadline && (!at || deadline < at)) {
			at = deadline;
			arrives = false;
		}
	}
	if (!at)
		return false;
	now = at > now ? at : now;
	if (!arrives) {
		expire(count, len);
		return true;
	}
	drained_at = now;
	arrive(len);
	return true;
}

/*
 * @count requesters send @messages of @len bytes each, with the timeout and the
 * retries of perftest, through a queue that drains @rate bytes a second.
 */
static void run(uint32_t count, uint32_t messages, uint32_t len, uint32_t rate)
{
	const struct srdma_rc_req_attr attr = {
		.mtu = MTU_BYTES, .max_inflight = INFLIGHT_MAX,
		.start_inflight = INFLIGHT_START,
		.first_inflight = INFLIGHT_FIRST, .max_rd_atomic = 1,
		.retry_cnt = 7, .rnr_retry = 7, .timeout = 14,
	};
	uint32_t i;

	queue = calloc(QUEUE, sizeof(*queue));
	REQUIRE(queue);
	queue_in = 0;
	queue_out = 0;
	now = 1000000;
	drained_at = now;
	packet_ns = MTU_BYTES * 1000000000ull / rate;
	memset(senders, 0, sizeof(senders));
	for (i = 0; i < count; i++) {
		srdma_rc_req_init(&senders[i].req, &attr, senders[i].ring,
				  sizeof(senders[i].ring[0]), RING - 1);
		senders[i].to_push = messages;
	}
	for (i = 0; i < count; i++)
		pump(&senders[i], len);
	while (step(count, len))
		;
	for (i = 0; i < count; i++) {
		EXPECT_EQ(senders[i].done, messages);
		EXPECT_EQ(senders[i].failed, 0);
	}
	free(queue);
}

TEST(req_queue__16_share_4_megabytes_a_second)
{
	run(16, 100, 64 << 10, 4 << 20);
}

TEST(req_queue__16_share_3_megabytes_a_second)
{
	run(16, 100, 64 << 10, 3 << 20);
}

TEST(req_queue__64_share_16_megabytes_a_second)
{
	run(64, 100, 4096, 16 << 20);
}

TEST(req_queue__64_share_12_megabytes_a_second)
{
	run(64, 20, 64 << 10, 12 << 20);
}

TEST(req_queue__one_has_it_alone)
{
	run(1, 100, 64 << 10, 1 << 20);
}
