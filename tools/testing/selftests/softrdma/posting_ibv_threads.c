// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ibv_post_send(3) by several threads at once, and by threads with signals. */
#include "pair_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

/* All their completions have room in a CQ that is polled late (pair.c). */
#define THREADS	4
#define EACH	200

/* The receives that are posted at one time. */
#define RECEIVES 128

/**
 * struct poster - one posting thread
 * @pair: where
 * @opcode: what
 * @thread: itself
 * @number: of the thread
 * @wrong: an errno that should not have been
 */
struct poster {
	struct pair *pair;
	enum ibv_wr_opcode opcode;
	pthread_t thread;
	int number;
	int wrong;
};

/* Nobody waits for what is still to be posted. */
static bool stop;

/* Two words, inline: who sent it, and the how manieth it is. */
static void *post_many(void *arg)
{
	struct poster *poster = arg;
	uint32_t words[2] = { poster->number, 0 };
	struct pair_wr wr;
	int ret;

	pair_wr_init(&wr, &poster->pair->a, &poster->pair->b, poster->opcode, 0,
		     sizeof(words));
	wr.sge[0].addr = (uintptr_t)words;
	wr.wr.send_flags |= IBV_SEND_INLINE;
	while (words[1] < EACH && !__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		wr.wr.wr_id = (uint64_t)poster->number << 32 | words[1];
		ret = pair_post(&poster->pair->a, &wr);
		if (!ret) {
			words[1]++;
		} else if (ret == ENOMEM) {
			sched_yield();
		} else {
			poster->wrong = ret;
			break;
		}
	}
	return NULL;
}

static void start(struct pair *pair, struct poster *posters,
		  enum ibv_wr_opcode opcode)
{
	int i;

	for (i = 0; i < THREADS; i++) {
		posters[i] = (struct poster){ .pair = pair, .opcode = opcode,
					      .number = i };
		pthread_create(&posters[i].thread, NULL, post_many,
			       &posters[i]);
	}
}

static int finish(struct poster *posters)
{
	int i, wrong = 0;

	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < THREADS; i++) {
		pthread_join(posters[i].thread, NULL);
		wrong = posters[i].wrong ?: wrong;
	}
	return wrong;
}

/* All of it arrives once, and in the order in which each thread posted. */
static const char *collect(struct pair *pair)
{
	uint32_t received[THREADS] = {}, completed[THREADS] = {};
	int left = 2 * THREADS * EACH;
	long end = topo_now_ms() + PAIR_PATIENCE_MS;
	struct ibv_wc wc;
	uint32_t *words;

	while (left) {
		if (topo_now_ms() > end)
			return "it takes too long";
		if (ibv_poll_cq(pair->a.set.cq, 1, &wc) == 1) {
			if (wc.status)
				return ibv_wc_status_str(wc.status);
			if (completed[wc.wr_id >> 32]++ != (uint32_t)wc.wr_id)
				return "completions out of order";
			left--;
		}
		if (ibv_poll_cq(pair->b.recv_cq, 1, &wc) == 1) {
			words = (uint32_t *)(pair->b.buffer + wc.wr_id);
			if (wc.status || wc.byte_len != 8)
				return "a receive failed";
			if (words[0] >= THREADS ||
			    words[1] != received[words[0]]++)
				return "messages out of order";
			if (pair_post_recv(&pair->b, wc.wr_id, 8))
				return "posting a receive";
			left--;
		}
	}
	return NULL;
}

TEST_F(pair, threads_share_a_send_queue)
{
	struct pair_options options = { .type = IBV_QPT_RC, .rnr_retry = 7 };
	struct poster posters[THREADS];
	const char *wrong;
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	for (i = 0; i < RECEIVES; i++)
		ASSERT_EQ(0, pair_post_recv(self->b, i * 8, 8));
	start(&self->pair, posters, IBV_WR_SEND);
	wrong = collect(&self->pair);
	EXPECT_EQ(NULL, wrong)
		TH_LOG("%s", wrong);
	EXPECT_EQ(0, finish(posters));
}

static unsigned int alarms;

static void count_alarm(int signal)
{
	__atomic_add_fetch(&alarms, 1, __ATOMIC_RELAXED);
}

/* A signal that arrives while posting is no failure of the request. */
TEST_F(pair, signals_do_not_disturb_posting)
{
	struct pair_options options = { .type = IBV_QPT_RC, .rnr_retry = 7 };
	struct itimerspec often = { .it_interval = { .tv_nsec = 1000000 },
				    .it_value = { .tv_nsec = 1000000 } };
	/* Not SIGALRM: the harness has its time limit there. */
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGUSR1 };
	struct sigaction action = { .sa_handler = count_alarm };
	struct poster posters[THREADS];
	const char *wrong;
	timer_t timer;
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	for (i = 0; i < RECEIVES; i++)
		ASSERT_EQ(0, pair_post_recv(self->b, i * 8, 8));
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, timer_create(CLOCK_MONOTONIC, &event, &timer));
	ASSERT_EQ(0, timer_settime(timer, 0, &often, NULL));
	start(&self->pair, posters, IBV_WR_SEND);
	wrong = collect(&self->pair);
	EXPECT_EQ(NULL, wrong)
		TH_LOG("%s", wrong);
	EXPECT_EQ(0, finish(posters));
	EXPECT_EQ(0, timer_delete(timer));
	EXPECT_LT(0, alarms);
}

/* Two QPs that send to each other, each with a thread of its own. */
static void *echo(void *arg)
{
	struct poster *poster = arg;
	struct pair_end *to = poster->number ? &poster->pair->a :
					       &poster->pair->b;
	struct pair_end *from = poster->number ? &poster->pair->b :
						 &poster->pair->a;
	struct pair_wr wr;
	int i;

	for (i = 0; i < EACH && !poster->wrong; i++) {
		pair_wr_init(&wr, from, to, IBV_WR_RDMA_WRITE,
			     poster->number * 8192, 3000);
		poster->wrong = pair_post(from, &wr) ?: pair_wait_sent(from);
	}
	return NULL;
}

TEST_F(pair, both_ends_post_at_once)
{
	struct pair_options options = { .type = IBV_QPT_RC };
	struct poster posters[2];
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	pair_fill(self->a->buffer, 3000, 1);
	pair_fill(self->b->buffer + 8192, 3000, 2);
	for (i = 0; i < 2; i++) {
		posters[i] = (struct poster){ .pair = &self->pair,
					      .number = i };
		pthread_create(&posters[i].thread, NULL, echo, &posters[i]);
	}
	for (i = 0; i < 2; i++) {
		pthread_join(posters[i].thread, NULL);
		EXPECT_EQ(0, posters[i].wrong);
	}
	EXPECT_TRUE(pair_filled(self->b->buffer, 3000, 1));
	EXPECT_TRUE(pair_filled(self->a->buffer + 8192, 3000, 2));
}

TEST_HARNESS_MAIN
