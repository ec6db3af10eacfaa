// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit tests of engines: how long one runs before others get the CPU.
 */
#include <kunit/test.h>

#include "engine/backlog.h"
#include "engine/engine.h"

/* What a run is given, and what all runs of one kick may do at most. */
#define RUN		256
#define KICK_MOST	(8 * RUN)

/**
 * struct chaser - an engine that has another one run
 * @engine: the engine
 * @other: whom it kicks
 * @again: it kicks itself as well
 * @stop: it is to leave it at that
 * @done: what both have done, in packets
 * @runs: how often
 */
struct chaser {
	struct srdma_engine engine;
	struct chaser *other;
	bool again;
	bool *stop;
	int *done;
	int *runs;
};

/* All but one of what it may: so it is not left to softirq for that. */
static bool chase(struct srdma_engine *engine, unsigned long events, int budget)
{
	struct chaser *chaser = container_of(engine, struct chaser, engine);

	if (*chaser->stop)
		return false;
	*chaser->done += budget - 1;
	++*chaser->runs;
	srdma_engine_kick(&chaser->other->engine, SRDMA_EVENT_DOORBELL);
	if (chaser->again)
		srdma_engine_kick(&chaser->engine, SRDMA_EVENT_DOORBELL);
	return false;
}

/* What two that chase each other do for one kick. */
static void chase_each_other(struct kunit *test, bool again, int *runs,
			     int *done)
{
	struct chaser *chaser = kunit_kcalloc(test, 2, sizeof(*chaser),
					      GFP_KERNEL);
	struct srdma_backlog *backlog = srdma_backlog_get();
	bool stop = false;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, chaser);
	KUNIT_ASSERT_NOT_NULL(test, backlog);
	*runs = 0;
	*done = 0;
	for (i = 0; i < 2; i++) {
		chaser[i].other = &chaser[!i];
		chaser[i].again = again;
		chaser[i].stop = &stop;
		chaser[i].done = done;
		chaser[i].runs = runs;
		srdma_engine_init(&chaser[i].engine, chase, backlog);
		srdma_engine_start(&chaser[i].engine);
	}
	local_bh_disable();
	srdma_engine_kick(&chaser[0].engine, SRDMA_EVENT_DOORBELL);
	stop = true;
	local_bh_enable();
	for (i = 0; i < 2; i++)
		srdma_engine_stop(&chaser[i].engine);
	for (i = 0; i < 2; i++)
		srdma_engine_uninit(&chaser[i].engine);
	srdma_backlog_put(backlog);
}

static void engine__runs_are_bounded_together(struct kunit *test)
{
	int runs, done;

	chase_each_other(test, false, &runs, &done);
	/* They go on for a while: an answer is to be heard at once. */
	KUNIT_EXPECT_GE(test, runs, 8);
	KUNIT_EXPECT_LE(test, done, KICK_MOST);

	chase_each_other(test, true, &runs, &done);
	KUNIT_EXPECT_GE(test, runs, 8);
	KUNIT_EXPECT_LE(test, done, KICK_MOST);
}

static struct kunit_case engine_cases[] = {
	KUNIT_CASE(engine__runs_are_bounded_together),
	{}
};

static struct kunit_suite engine_suite = {
	.name = "srdma_engine",
	.test_cases = engine_cases,
};

kunit_test_suite(engine_suite);
