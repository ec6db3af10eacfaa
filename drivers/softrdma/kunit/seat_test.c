// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit tests of seats: where accesses to regions of verbs are written down.
 */
#include <kunit/test.h>

#include "kunit/test_world.h"
#include "memory/access.h"
#include "verbs/mr.h"

static struct srdma_mr *make_dma(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct ib_mr *ib = srdma_mr_get_dma(&w->kernel, IB_ACCESS_REMOTE_READ);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ib);
	ib->device = &w->dev->ib;
	return to_smr(ib);
}

static u32 seats_taken(const struct srdma_key *key)
{
	u32 taken = 0;
	int cpu, i;

	for_each_possible_cpu(cpu)
		for (i = 0; i < SRDMA_KEY_SEATS; i++)
			taken += per_cpu(srdma_key_seats, cpu).seat[i].key == key;
	return taken;
}

/* An access writes nothing that belongs to the region. */
static void seat__leaves_the_region_alone(struct kunit *test)
{
	struct srdma_mr *mr = make_dma(test);
	struct srdma_key_seat *one, *two;

	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srdma_key_enter(&mr->key, &one));
	KUNIT_ASSERT_TRUE(test, srdma_key_enter(&mr->key, &two));
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->key.gate), 0);
	KUNIT_EXPECT_EQ(test, seats_taken(&mr->key), 2);
	KUNIT_EXPECT_TRUE(test, one && two && one != two);
	/* Not in the order of stacks. */
	srdma_key_leave(&mr->key, one);
	KUNIT_EXPECT_EQ(test, seats_taken(&mr->key), 1);
	srdma_key_leave(&mr->key, two);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, seats_taken(&mr->key), 0);
	srdma_test_end_region(test, mr);
}

static void seat__dereg_waits(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *mr = make_dma(test);

	srdma_test_visit(test, &mr->key);
	KUNIT_EXPECT_NOT_NULL(test, w->seat);
	srdma_test_end_region(test, mr);
	KUNIT_EXPECT_TRUE(test, srdma_test_visit_over(w));
}

/* Those of other keys are not waited for. */
static void seat__dereg_waits_for_its_own(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *visited = make_dma(test), *mr = make_dma(test);
	struct srdma_key_seat *seat;

	local_bh_disable();
	KUNIT_ASSERT_TRUE(test, srdma_key_enter(&visited->key, &seat));
	local_bh_enable();
	srdma_test_end_region(test, mr);
	srdma_key_leave(&visited->key, seat);
	srdma_test_end_region(test, visited);
	KUNIT_EXPECT_TRUE(test, srdma_test_visit_over(w));
}

/* As on a real-time kernel, where accesses preempt each other. */
static void seat__none_is_left(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_key_seat *seat[SRDMA_KEY_SEATS];
	struct srdma_mr *others = make_dma(test), *mr = make_dma(test);
	int i;

	preempt_disable();
	for (i = 0; i < SRDMA_KEY_SEATS; i++) {
		KUNIT_EXPECT_TRUE(test, srdma_key_enter(&others->key, &seat[i]));
		KUNIT_EXPECT_NOT_NULL(test, seat[i]);
	}
	srdma_test_visit(test, &mr->key);
	preempt_enable();
	KUNIT_EXPECT_NULL(test, w->seat);
	KUNIT_EXPECT_EQ(test, seats_taken(&mr->key), 0);
	srdma_test_end_region(test, mr);
	KUNIT_EXPECT_TRUE(test, srdma_test_visit_over(w));
	for (i = 0; i < SRDMA_KEY_SEATS; i++)
		srdma_key_leave(&others->key, seat[i]);
	srdma_test_end_region(test, others);
}

/* Who is refused leaves no seat behind. */
static void seat__closed_gate(struct kunit *test)
{
	struct srdma_mr *mr = make_dma(test);
	struct srdma_key_seat *seat;

	spin_lock_bh(&mr->key.lock);
	srdma_key_close(&mr->key, SRDMA_KEY_FREE, SRDMA_BY_REREG);
	spin_unlock_bh(&mr->key.lock);
	KUNIT_EXPECT_FALSE(test, srdma_key_enter(&mr->key, &seat));
	KUNIT_EXPECT_EQ(test, seats_taken(&mr->key), 0);
	srdma_key_drain(&mr->key);
	srdma_test_end_region(test, mr);
}

/* What work requests register and invalidate is waited for without sleep. */
static void seat__none_for_fast_regions(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *mr = srdma_test_make_region(test, &w->pd, 0,
						     IB_ACCESS_REMOTE_READ);
	struct srdma_key_seat *seat;

	KUNIT_ASSERT_TRUE(test, srdma_key_enter(&mr->key, &seat));
	KUNIT_EXPECT_NULL(test, seat);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->key.gate), 1);
	srdma_key_leave(&mr->key, seat);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->key.gate), 0);
	srdma_test_end_region(test, mr);
}

/* A word of kernel memory, read as a peer would. */
static enum srdma_mem_why next_read(struct kunit *test, struct srdma_mem_iter *it,
				    u32 key, u32 access)
{
	struct srdma_test_world *w = test->priv;
	static struct srdma_mem_who who;
	u8 *word = srdma_test_byte_of(w, 0);

	who = w->who;
	who.pd = &w->kernel;
	return srdma_mem_next_remote(it, &who, key, (uintptr_t)word,
				     sizeof(u64), access);
}

/* It is entered once, and left at the end. */
static void rest__keeps_the_seat(struct kunit *test)
{
	struct srdma_mr *mr = make_dma(test);
	struct srdma_mem_iter it;
	int i;

	srdma_mem_init(&it);
	local_bh_disable();
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, next_read(test, &it, mr->key.key,
						IB_ACCESS_REMOTE_READ),
				SRDMA_MEM_OK);
		srdma_mem_rest(&it);
		KUNIT_EXPECT_EQ(test, seats_taken(&mr->key), 1);
		KUNIT_EXPECT_EQ(test, it.span.left, 0);
	}
	srdma_mem_end(&it);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, seats_taken(&mr->key), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->key.gate), 0);
	srdma_test_end_region(test, mr);
}

/* Rights are asked for each time, and another key is looked up. */
static void rest__is_asked_each_time(struct kunit *test)
{
	struct srdma_mr *mr = make_dma(test), *other = make_dma(test);
	struct srdma_mem_iter it;

	srdma_mem_init(&it);
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, next_read(test, &it, mr->key.key,
					IB_ACCESS_REMOTE_READ), SRDMA_MEM_OK);
	srdma_mem_rest(&it);
	KUNIT_EXPECT_EQ(test, next_read(test, &it, mr->key.key,
					IB_ACCESS_REMOTE_WRITE),
			SRDMA_MEM_ACCESS);
	KUNIT_EXPECT_EQ(test, seats_taken(&mr->key), 0);
	KUNIT_EXPECT_EQ(test, next_read(test, &it, mr->key.key,
					IB_ACCESS_REMOTE_READ), SRDMA_MEM_OK);
	srdma_mem_rest(&it);
	KUNIT_EXPECT_EQ(test, next_read(test, &it, other->key.key,
					IB_ACCESS_REMOTE_READ), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, seats_taken(&mr->key), 0);
	KUNIT_EXPECT_EQ(test, seats_taken(&other->key), 1);
	srdma_mem_rest(&it);
	KUNIT_EXPECT_EQ(test, next_read(test, &it, mr->key.key ^ 1,
					IB_ACCESS_REMOTE_READ), SRDMA_MEM_KEY);
	KUNIT_EXPECT_EQ(test, seats_taken(&other->key), 0);
	srdma_mem_end(&it);
	local_bh_enable();
	srdma_test_end_region(test, other);
	srdma_test_end_region(test, mr);
}

/* Who has entered is waited for, and comes in no more when it has left. */
static void rest__behind_a_closed_gate(struct kunit *test)
{
	struct srdma_mr *mr = make_dma(test);
	struct srdma_mem_iter it;

	srdma_mem_init(&it);
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, next_read(test, &it, mr->key.key,
					IB_ACCESS_REMOTE_READ), SRDMA_MEM_OK);
	srdma_mem_rest(&it);
	spin_lock(&mr->key.lock);
	srdma_key_close(&mr->key, SRDMA_KEY_FREE, SRDMA_BY_REREG);
	spin_unlock(&mr->key.lock);
	KUNIT_EXPECT_EQ(test, next_read(test, &it, mr->key.key,
					IB_ACCESS_REMOTE_READ), SRDMA_MEM_OK);
	srdma_mem_end(&it);
	KUNIT_EXPECT_EQ(test, next_read(test, &it, mr->key.key,
					IB_ACCESS_REMOTE_READ), SRDMA_MEM_KEY);
	srdma_mem_end(&it);
	local_bh_enable();
	srdma_key_drain(&mr->key);
	srdma_test_end_region(test, mr);
}

/* Whoever waits for these does not sleep. */
static void rest__none_in_fast_regions(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *mr = srdma_test_make_region(test, &w->pd, 0,
						     IB_ACCESS_REMOTE_READ);
	struct srdma_sge sge = { .length = 8, .lkey = mr->key.key };
	struct srdma_mem_span span = {};
	struct srdma_mem_iter it;

	srdma_mem_init(&it);
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, srdma_mem_next_remote(&it, &w->who, mr->key.key,
						    0, 8, IB_ACCESS_REMOTE_READ),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->key.gate), 1);
	srdma_mem_rest(&it);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->key.gate), 0);
	srdma_mem_end(&it);
	KUNIT_EXPECT_EQ(test, srdma_mem_check_next(&span, &w->who, &sge, 1, 0),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->key.gate), 0);
	local_bh_enable();
	srdma_test_end_region(test, mr);
}

static struct kunit_case seat_cases[] = {
	KUNIT_CASE(seat__leaves_the_region_alone),
	KUNIT_CASE(seat__dereg_waits),
	KUNIT_CASE(seat__dereg_waits_for_its_own),
	KUNIT_CASE(seat__none_is_left),
	KUNIT_CASE(seat__closed_gate),
	KUNIT_CASE(seat__none_for_fast_regions),
	KUNIT_CASE(rest__keeps_the_seat),
	KUNIT_CASE(rest__is_asked_each_time),
	KUNIT_CASE(rest__behind_a_closed_gate),
	KUNIT_CASE(rest__none_in_fast_regions),
	{}
};

static struct kunit_suite seat_suite = {
	.name = "softrdma_seat",
	.init = srdma_test_init,
	.exit = srdma_test_exit,
	.test_cases = seat_cases,
};

kunit_test_suite(seat_suite);
