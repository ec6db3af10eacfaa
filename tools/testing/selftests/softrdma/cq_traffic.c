// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues and shared receive queues while messages arrive: events of
 * the completion channel, resizing, many QPs on one queue.
 */
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#include "duo.h"

FIXTURE(traffic)
{
	struct verbs_set set;
	struct duo duo;
};

FIXTURE_SETUP(traffic)
{
	memset(&self->duo, 0, sizeof(self->duo));
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
}

FIXTURE_TEARDOWN(traffic)
{
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

/* One message, complete at its sender. */
static int deliver(struct duo *duo, int flags)
{
	struct ibv_wc wc = { .status = -1 };
	int ret;

	ret = duo_recv(&duo->end[1], 1, 0, 64) ?:
	      duo_send(&duo->end[0], 1, 0, 64, flags);
	if (ret)
		return ret;
	return duo_poll(duo->end[0].send_cq, &wc, 1) == 1 ? wc.status : -1;
}

TEST_F(traffic, armed_cq_gives_one_event_for_many_completions)
{
	struct duo_end *end = self->duo.end;
	int i;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, deliver(&self->duo, 0));
	EXPECT_FALSE(duo_notified(&end[1], 0));
	ASSERT_EQ(0, ibv_req_notify_cq(end[1].recv_cq, 0));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, deliver(&self->duo, 0));
	EXPECT_TRUE(duo_notified(&end[1], DUO_WAIT_MS));
	EXPECT_FALSE(duo_notified(&end[1], 50));
}

/* ibv_req_notify_cq(3): only a completion that comes after it is told of. */
TEST_F(traffic, arming_does_not_tell_of_what_is_there)
{
	struct duo_end *end = self->duo.end;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, deliver(&self->duo, 0));
	ASSERT_EQ(0, ibv_req_notify_cq(end[1].recv_cq, 0));
	EXPECT_FALSE(duo_notified(&end[1], 50));
	ASSERT_EQ(0, deliver(&self->duo, 0));
	EXPECT_TRUE(duo_notified(&end[1], DUO_WAIT_MS));
}

TEST_F(traffic, solicited_arm_waits_for_a_solicited_message)
{
	struct duo_end *end = self->duo.end;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, ibv_req_notify_cq(end[1].recv_cq, 1));
	ASSERT_EQ(0, deliver(&self->duo, 0));
	ASSERT_EQ(0, deliver(&self->duo, 0));
	EXPECT_FALSE(duo_notified(&end[1], 50));
	ASSERT_EQ(0, deliver(&self->duo, IBV_SEND_SOLICITED));
	EXPECT_TRUE(duo_notified(&end[1], DUO_WAIT_MS));
	/* The event has disarmed it. */
	ASSERT_EQ(0, deliver(&self->duo, IBV_SEND_SOLICITED));
	EXPECT_FALSE(duo_notified(&end[1], 50));
}

/* 11.4.2.2: a request for all is not taken back by one for solicited only. */
TEST_F(traffic, arm_for_all_outlasts_an_arm_for_solicited)
{
	struct duo_end *end = self->duo.end;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, ibv_req_notify_cq(end[1].recv_cq, 0));
	ASSERT_EQ(0, ibv_req_notify_cq(end[1].recv_cq, 1));
	ASSERT_EQ(0, deliver(&self->duo, 0));
	EXPECT_TRUE(duo_notified(&end[1], DUO_WAIT_MS));
}

/**
 * struct feeder - a thread that sends
 * @duo: the QPs; @duo->end[0] is the thread's
 * @total: messages to send
 * @taken: messages that the receiver has seen, and has a receive for again
 * @window: how many may be ahead of @taken
 * @failed: it gave up
 */
struct feeder {
	struct duo *duo;
	int total;
	atomic_int taken;
	int window;
	atomic_bool failed;
};

static void *feed(void *arg)
{
	struct feeder *feeder = arg;
	struct duo_end *end = &feeder->duo->end[0];
	long deadline = topo_now_ms() + 3 * DUO_WAIT_MS;
	int posted = 0, done = 0, got;
	struct ibv_wc wc[16];

	while (done < feeder->total && topo_now_ms() < deadline) {
		if (posted < feeder->total &&
		    posted - feeder->taken < feeder->window &&
		    posted - done < 32) {
			if (duo_send(end, posted, 0, posted % 2000, 0))
				break;
			posted++;
		}
		got = ibv_poll_cq(end->send_cq, 16, wc);
		while (got-- > 0) {
			if (wc[got].status)
				goto out;
			done++;
		}
	}
out:
	feeder->failed = done != feeder->total;
	return NULL;
}

/* Take what came, in order, and post receives again. How many, or -1. */
static int take(struct feeder *feeder)
{
	struct duo_end *end = &feeder->duo->end[1];
	struct ibv_wc wc[16];
	int i, got;

	got = ibv_poll_cq(end->recv_cq, 16, wc);
	for (i = 0; i < got; i++) {
		int n = feeder->taken;

		if (wc[i].status || wc[i].byte_len != n % 2000 ||
		    wc[i].wr_id != n % 32 ||
		    duo_recv(end, wc[i].wr_id, 2048 * wc[i].wr_id, 2048))
			return -1;
		feeder->taken = n + 1;
	}
	return got;
}

static int post_all(struct duo_end *end)
{
	int i, ret = 0;

	for (i = 0; i < 32 && !ret; i++)
		ret = duo_recv(end, i, 2048 * i, 2048);
	return ret;
}

/*
 * The canonical loop: arm, take what there is, sleep. If arming and a
 * completion could miss each other, it would sleep for ever.
 */
TEST_F(traffic, arming_and_completing_never_miss_each_other)
{
	struct feeder feeder = {
		.duo = &self->duo, .total = 3000, .window = 1,
	};
	struct duo_end *end = self->duo.end;
	pthread_t thread;
	int sleeps = 0, got;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, post_all(&end[1]));
	ASSERT_EQ(0, pthread_create(&thread, NULL, feed, &feeder));
	while (feeder.taken < feeder.total) {
		EXPECT_EQ(0, ibv_req_notify_cq(end[1].recv_cq, 0));
		do {
			got = take(&feeder);
		} while (got > 0);
		EXPECT_EQ(0, got);
		if (got || feeder.taken == feeder.total)
			break;
		sleeps++;
		EXPECT_TRUE(duo_notified(&end[1], DUO_WAIT_MS)) {
			TH_LOG("asleep after %d messages", feeder.taken);
			break;
		}
	}
	EXPECT_EQ(feeder.total, feeder.taken);
	EXPECT_LT(10, sleeps);
	EXPECT_EQ(0, pthread_join(thread, NULL));
	EXPECT_FALSE(feeder.failed);
}

TEST_F(traffic, resizing_a_cq_loses_and_repeats_nothing)
{
	struct feeder feeder = {
		.duo = &self->duo, .total = 3000, .window = 30,
	};
	static const int sizes[] = { 40, 1000, 33, 4000, 100 };
	struct duo_end *end = self->duo.end;
	int resized = 0, got = 0;
	pthread_t thread;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, post_all(&end[1]));
	ASSERT_EQ(0, pthread_create(&thread, NULL, feed, &feeder));
	while (feeder.taken < feeder.total && !feeder.failed && got >= 0) {
		EXPECT_EQ(0, ibv_resize_cq(end[1].recv_cq,
					   sizes[resized % 5]));
		EXPECT_LE(sizes[resized % 5], end[1].recv_cq->cqe);
		resized++;
		got = take(&feeder);
	}
	EXPECT_LE(0, got);
	EXPECT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(feeder.total, feeder.taken);
	EXPECT_LT(20, resized);
	EXPECT_FALSE(feeder.failed);
	EXPECT_EQ(0, duo_count_events(self->set.ctx, IBV_EVENT_CQ_ERR));
}

#define PAIRS	8
#define SLOTS	64

/**
 * struct shared - several pairs that receive from one SRQ
 * @duo: the pairs
 * @srq: the SRQ
 * @mr: memory of its receives, SLOTS of 2048 bytes
 * @buf: the same
 * @sent: messages sent by each pair
 * @got: messages received by each pair
 * @busy: which receives are posted
 */
struct shared {
	struct duo duo[PAIRS];
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	uint8_t *buf;
	int sent[PAIRS];
	int got[PAIRS];
	bool busy[SLOTS];
};

static int shared_post(struct shared *shared, int slot)
{
	if (shared->busy[slot])
		return EEXIST;
	shared->busy[slot] = true;
	return duo_srq_recv(shared->srq, shared->mr, slot,
			    shared->buf + slot * 2048, 2048);
}

/* Takes one pair's completions; each slot is taken once. 0 or what failed. */
static int shared_take(struct shared *shared, int pair)
{
	struct duo *duo = &shared->duo[pair];
	struct ibv_wc wc[16];
	int i, n;

	n = ibv_poll_cq(duo->end[1].recv_cq, 16, wc);
	for (i = 0; i < n; i++) {
		int slot = wc[i].wr_id;

		if (wc[i].status || slot >= SLOTS || !shared->busy[slot])
			return -1;
		shared->busy[slot] = false;
		if (wc[i].byte_len != 100 + pair ||
		    shared->buf[slot * 2048] != shared->got[pair] % 256)
			return -2;
		shared->got[pair]++;
		if (shared_post(shared, slot))
			return -3;
	}
	n = ibv_poll_cq(duo->end[0].send_cq, 16, wc);
	for (i = 0; i < n; i++)
		if (wc[i].status)
			return -4;
	return 0;
}

/*
 * Eight QPs take from one SRQ, which is resized meanwhile and whose limit is
 * armed again after each event. Every receive is used once at a time, every
 * message arrives at its own QP, in its order.
 */
TEST_F(traffic, srq_of_many_qps_is_resized_under_traffic)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = SLOTS, .max_sge = 1 },
	};
	static struct shared shared;
	int i, pair, resized = 0, limits = 0;
	const int each = 200;
	long deadline;
	bool done;

	memset(&shared, 0, sizeof(shared));
	shared.srq = ibv_create_srq(self->set.pd, &init);
	ASSERT_NE(NULL, shared.srq);
	shared.buf = calloc(SLOTS, 2048);
	shared.mr = ibv_reg_mr(self->set.pd, shared.buf, SLOTS * 2048,
			       IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, shared.mr);
	for (i = 0; i < PAIRS; i++) {
		shared.duo[i].srq = shared.srq;
		ASSERT_EQ(0, duo_up(&shared.duo[i], &self->set, &self->set));
	}
	for (i = 0; i < SLOTS; i++)
		ASSERT_EQ(0, shared_post(&shared, i));

	deadline = topo_now_ms() + 3 * DUO_WAIT_MS;
	do {
		struct ibv_srq_attr attr = {
			.max_wr = resized % 2 ? SLOTS : 4 * SLOTS,
			.srq_limit = SLOTS,
		};
		int mask = IBV_SRQ_LIMIT;

		done = true;
		/* Receives of the whole queue may be posted at any time. */
		if (resized < 40) {
			mask |= IBV_SRQ_MAX_WR;
			resized++;
		}
		ASSERT_EQ(0, ibv_modify_srq(shared.srq, &attr, mask));
		for (pair = 0; pair < PAIRS; pair++) {
			struct duo *duo = &shared.duo[pair];

			for (i = 0; i < 4 && shared.sent[pair] < each &&
			     shared.sent[pair] - shared.got[pair] < 6; i++) {
				int n = shared.sent[pair]++;

				duo->end[0].buf[n * 128] = n;
				ASSERT_EQ(0, duo_send(&duo->end[0], n, n * 128,
						      100 + pair, 0));
			}
			ASSERT_EQ(0, shared_take(&shared, pair));
			done &= shared.got[pair] == each;
		}
		limits += duo_count_events(self->set.ctx,
					   IBV_EVENT_SRQ_LIMIT_REACHED);
	} while (!done && topo_now_ms() < deadline);
	EXPECT_TRUE(done);
	EXPECT_LT(5, limits);
	for (i = 0; i < PAIRS; i++)
		EXPECT_EQ(0, duo_close(&shared.duo[i]));
	EXPECT_EQ(0, ibv_destroy_srq(shared.srq));
	EXPECT_EQ(0, ibv_dereg_mr(shared.mr));
	free(shared.buf);
}

TEST_HARNESS_MAIN
