// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit tests of engines: how long one runs before others get the CPU, and who runs it.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>

#include "engine/attend.h"
#include "engine/backlog.h"
#include "engine/engine.h"
#include "engine/urge.h"

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

/**
 * struct sender - an engine whose runs send parts of a message
 * @engine: the engine
 * @softirq: receives each part, has @peer run if there is one, and answers
 * @peer: the receiver's engine, or NULL
 * @parts: how many are left
 * @busy: it says that it could do more
 * @us: what a run takes
 * @runs: how often it has run
 * @elsewhere: and not in the task that posted
 * @other: a task that wants the CPU when half of the parts are left, or NULL
 * @left: how many were left when it had the CPU
 */
struct sender {
	struct srdma_engine engine;
	struct tasklet_struct softirq;
	struct sender *peer;
	int parts;
	bool busy;
	int us;
	int runs;
	int elsewhere;
	struct task_struct *other;
	int left;
};

static bool send_a_part(struct srdma_engine *engine, unsigned long events,
			int budget)
{
	struct sender *sender = container_of(engine, struct sender, engine);

	sender->runs++;
	sender->elsewhere += in_serving_softirq() ||
			     (current->flags & PF_WQ_WORKER);
	udelay(sender->us);
	if (!sender->parts)
		return false;
	sender->parts--;
	if (sender->other && sender->parts == sender->left) {
		wake_up_process(sender->other);
		set_tsk_need_resched(current);
		set_preempt_need_resched();
	}
	tasklet_schedule(&sender->softirq);
	return sender->busy && sender->parts;
}

static bool has_parts(const struct srdma_engine *engine)
{
	return container_of(engine, struct sender, engine)->parts;
}

static void answer(struct tasklet_struct *tasklet)
{
	struct sender *sender = from_tasklet(sender, tasklet, softirq);

	if (sender->peer && sender->peer->parts)
		srdma_engine_kick(&sender->peer->engine, SRDMA_EVENT_DOORBELL);
	else if (!sender->busy)
		srdma_engine_kick(&sender->engine, SRDMA_EVENT_DOORBELL);
}

static struct sender *new_sender(struct kunit *test, int parts)
{
	struct srdma_backlog *backlog;
	struct sender *sender;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "no task attends on real-time kernels");
	sender = kunit_kzalloc(test, sizeof(*sender), GFP_KERNEL);
	backlog = srdma_backlog_get();

	KUNIT_ASSERT_NOT_NULL(test, sender);
	KUNIT_ASSERT_NOT_NULL(test, backlog);
	sender->parts = parts;
	tasklet_setup(&sender->softirq, answer);
	srdma_engine_init(&sender->engine, send_a_part, backlog);
	srdma_engine_start(&sender->engine);
	return sender;
}

static void end_sender(struct sender *sender)
{
	srdma_engine_stop(&sender->engine);
	tasklet_kill(&sender->softirq);
	srdma_engine_uninit(&sender->engine);
	srdma_backlog_put(sender->engine.backlog);
}

/* Each answer comes before it would leave, and it does the next part itself. */
static void engine__task_stays_while_answers_come(struct kunit *test)
{
	struct sender *sender = new_sender(test, 20);
	bool stayed;

	stayed = srdma_attend(&sender->engine, SRDMA_EVENT_DOORBELL, has_parts);
	KUNIT_EXPECT_TRUE(test, stayed);
	KUNIT_EXPECT_EQ(test, sender->parts, 0);
	KUNIT_EXPECT_GE(test, sender->runs - sender->elsewhere, 15);
	end_sender(sender);

	sender = new_sender(test, 1);
	stayed = srdma_attend(&sender->engine, SRDMA_EVENT_DOORBELL, has_parts);
	KUNIT_EXPECT_FALSE(test, stayed);
	end_sender(sender);
}

/* The first run is softirq's; and some are, if the task stepped aside. */
static bool runs_the_other(struct kunit *test)
{
	struct sender *sender = new_sender(test, 40);
	struct sender *peer = new_sender(test, 20);
	bool is_done;

	/* Each run of the receiver answers. */
	sender->peer = peer;
	peer->peer = sender;
	peer->busy = true;
	srdma_attend(&sender->engine, SRDMA_EVENT_DOORBELL, has_parts);
	is_done = !peer->parts && peer->elsewhere <= 5;
	end_sender(sender);
	end_sender(peer);
	return is_done;
}

/*
 * What a receiver leaves over in softirq is done by the task that waits for it; unless
 * others want the CPU, as they may for a while on a busy host.
 */
static void engine__task_runs_others_that_are_busy(struct kunit *test)
{
	int tries = 0;

	while (!runs_the_other(test) && ++tries < 10)
		msleep(20);
	KUNIT_EXPECT_LT(test, tries, 10);
}

static void engine__task_does_not_stay_for_ever(struct kunit *test)
{
	struct sender *sender = new_sender(test, INT_MAX);
	u64 at = ktime_get_ns();

	sender->busy = true;
	sender->us = 100;
	KUNIT_EXPECT_TRUE(test, srdma_attend(&sender->engine,
					     SRDMA_EVENT_DOORBELL, has_parts));
	KUNIT_EXPECT_LT(test, ktime_get_ns() - at, NSEC_PER_SEC);
	KUNIT_EXPECT_GT(test, sender->parts, INT_MAX / 2);
	end_sender(sender);
}

/* Says how many parts were left when it could run. */
static int have_the_cpu(void *arg)
{
	struct sender *sender = arg;

	sender->left = sender->parts;
	/* Longer than the engine waits for its task. */
	mdelay(30);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* It comes back to its engine, or a worker has done the rest. */
static void engine__task_steps_aside(struct kunit *test)
{
	struct sender *sender = new_sender(test, 40);
	struct task_struct *other;
	int i;

	other = kthread_create(have_the_cpu, sender, "softrdma-other");
	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	kthread_bind(other, raw_smp_processor_id());
	sched_set_fifo(other);
	sender->us = 50;
	sender->left = 20;
	sender->other = other;
	srdma_attend(&sender->engine, SRDMA_EVENT_DOORBELL, has_parts);
	kthread_stop(other);
	KUNIT_EXPECT_GT(test, sender->left, 0);
	for (i = 0; i < 50 && READ_ONCE(sender->parts); i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, sender->parts, 0);
	end_sender(sender);
}

/* So many engines, and parts of each. */
#define CROWD		3
#define PARTS		40

/**
 * struct busy - engines that are always busy, so that a worker has them
 * @sender: they
 * @count: how many
 */
struct busy {
	struct sender *sender[CROWD];
	int count;
};

static int parts_left(const struct busy *busy)
{
	int i, parts = 0;

	for (i = 0; i < busy->count; i++)
		parts += READ_ONCE(busy->sender[i]->parts);
	return parts;
}

/*
 * The worker has them, and cannot run beside a task of this priority: how many parts are
 * left when nothing has been done for a while? None need not be waited for.
 */
static int parts_left_by_softirq(struct kunit *test, int count)
{
	struct busy busy = { .count = count };
	u64 until;
	int i, left;

	for (i = 0; i < count; i++) {
		busy.sender[i] = new_sender(test, PARTS);
		busy.sender[i]->busy = true;
	}
	migrate_disable();
	sched_set_fifo(current);
	for (i = 0; i < count; i++)
		srdma_engine_kick(&busy.sender[i]->engine, SRDMA_EVENT_DOORBELL);
	local_bh_disable();
	srdma_urge_soon();
	local_bh_enable();
	do {
		left = parts_left(&busy);
		until = ktime_get_ns() + 300 * NSEC_PER_MSEC;
		/* Softirq is not urged while others are to have the CPU. */
		while (left && parts_left(&busy) == left &&
		       ktime_get_ns() < until)
			cond_resched();
	} while (parts_left(&busy) != left);
	sched_set_normal(current, 0);
	migrate_enable();
	for (i = 0; i < count; i++)
		end_sender(busy.sender[i]);
	return left;
}

static struct mm_struct *memory_of_init(struct kunit *test)
{
	struct pid *pid = find_get_pid(1);
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);
	struct mm_struct *mm;

	KUNIT_ASSERT_NOT_NULL(test, task);
	mm = get_task_mm(task);
	KUNIT_ASSERT_NOT_NULL(test, mm);
	put_task_struct(task);
	put_pid(pid);
	return mm;
}

/* Where it is for a program with an open device that they wait, softirq has them. */
static void engine__urged_softirq_takes_from_a_worker(struct kunit *test)
{
	struct mm_struct *mm;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "softirq is not urged on real-time kernels");
	mm = memory_of_init(test);
	kthread_use_mm(mm);
	KUNIT_EXPECT_GT(test, parts_left_by_softirq(test, 1), 0);
	srdma_urge_for(mm);
	KUNIT_EXPECT_EQ(test, parts_left_by_softirq(test, 1), 0);
	KUNIT_EXPECT_EQ(test, parts_left_by_softirq(test, CROWD), 0);
	srdma_urge_no_more_for(mm);
	kthread_unuse_mm(mm);
	mmput(mm);
}

static struct kunit_case engine_cases[] = {
	KUNIT_CASE(engine__runs_are_bounded_together),
	KUNIT_CASE(engine__task_stays_while_answers_come),
	KUNIT_CASE(engine__task_runs_others_that_are_busy),
	KUNIT_CASE(engine__task_does_not_stay_for_ever),
	KUNIT_CASE(engine__task_steps_aside),
	KUNIT_CASE(engine__urged_softirq_takes_from_a_worker),
	{}
};

static struct kunit_suite engine_suite = {
	.name = "srdma_engine",
	.test_cases = engine_cases,
};

kunit_test_suite(engine_suite);
