// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit tests of upcalls: each is made, once, and by one CPU at a time.
 */
#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>

#include "engine/upcall.h"

/**
 * struct listener - who is told
 * @upcall: what by
 * @again: bits to leave while being told
 * @heard: all bits so far
 * @calls: how often it was told
 * @inside: it is being told
 * @overlaps: how often it was told by two at once
 * @callers: tasks that have begun to leave something
 */
struct listener {
	struct srdma_upcall upcall;
	unsigned long again;
	unsigned long heard;
	atomic_t calls;
	atomic_t inside;
	atomic_t overlaps;
	atomic_t callers;
};

static void listen(struct srdma_upcall *upcall, unsigned long what)
{
	struct listener *l = container_of(upcall, struct listener, upcall);
	unsigned long again = xchg(&l->again, 0);
	unsigned int bit;

	if (atomic_inc_return(&l->inside) != 1)
		atomic_inc(&l->overlaps);
	l->heard |= what;
	atomic_inc(&l->calls);
	for_each_set_bit(bit, &again, BITS_PER_LONG)
		srdma_upcall_leave(upcall, bit);
	atomic_dec(&l->inside);
}

static void init_listener(struct listener *l)
{
	memset(l, 0, sizeof(*l));
	srdma_upcall_init(&l->upcall, listen);
}

static void upcall__is_told_once_for_all(struct kunit *test)
{
	struct listener l;

	init_listener(&l);
	/* The tasklet cannot run before they are enabled. */
	local_bh_disable();
	srdma_upcall_leave(&l.upcall, 3);
	srdma_upcall_leave(&l.upcall, 0);
	srdma_upcall_leave(&l.upcall, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&l.calls), 0);
	local_bh_enable();
	srdma_upcall_stop(&l.upcall);
	KUNIT_EXPECT_EQ(test, atomic_read(&l.calls), 1);
	KUNIT_EXPECT_EQ(test, l.heard, BIT(3) | BIT(0));
}

static void upcall__left_while_told_is_told(struct kunit *test)
{
	struct listener l;

	init_listener(&l);
	l.again = BIT(5) | BIT(29);
	srdma_upcall_leave(&l.upcall, 1);
	srdma_upcall_stop(&l.upcall);
	KUNIT_EXPECT_EQ(test, atomic_read(&l.calls), 2);
	KUNIT_EXPECT_EQ(test, l.heard, BIT(1) | BIT(5) | BIT(29));
}

#define CALLERS	4
#define ROUNDS	20000

/* One that is stopped before it begins leaves nothing: it says that it has. */
static int keep_leaving(void *arg)
{
	struct listener *l = arg;
	int i;

	atomic_inc(&l->callers);
	for (i = 0; i < ROUNDS; i++) {
		srdma_upcall_leave(&l->upcall, i % 30);
		if (i % 1000 == 0)
			cond_resched();
	}
	return 0;
}

static void upcall__by_many_is_told_by_one(struct kunit *test)
{
	struct task_struct *tasks[CALLERS];
	struct listener l;
	int n, i;

	init_listener(&l);
	for (n = 0; n < CALLERS; n++) {
		tasks[n] = kthread_create(keep_leaving, &l, "caller/%d", n);
		if (IS_ERR(tasks[n]))
			break;
		get_task_struct(tasks[n]);
		wake_up_process(tasks[n]);
	}
	KUNIT_EXPECT_EQ(test, n, CALLERS);
	while (atomic_read(&l.callers) < n)
		schedule_timeout_uninterruptible(1);
	for (i = 0; i < n; i++) {
		kthread_stop(tasks[i]);
		put_task_struct(tasks[i]);
	}
	srdma_upcall_stop(&l.upcall);
	KUNIT_EXPECT_GT(test, atomic_read(&l.calls), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&l.overlaps), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&l.upcall.state), 0);
}

static struct kunit_case upcall_cases[] = {
	KUNIT_CASE(upcall__is_told_once_for_all),
	KUNIT_CASE(upcall__left_while_told_is_told),
	KUNIT_CASE(upcall__by_many_is_told_by_one),
	{}
};

static struct kunit_suite upcall_suite = {
	.name = "srdma_upcall",
	.test_cases = upcall_cases,
};

kunit_test_suite(upcall_suite);
