// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit tests of bytes in flight: the limit, and the engine that is woken.
 */
#include <kunit/test.h>
#include <linux/skbuff.h>

#include "engine/engine.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "wire/inflight.h"

static bool nothing_to_do(struct srdma_engine *engine, unsigned long events,
			  int budget)
{
	return false;
}

static int init_sender(struct kunit *test)
{
	struct srdma_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	qp->dev = kunit_kzalloc(test, sizeof(*qp->dev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp->dev);
	/* One of them is the test's. */
	refcount_set(&qp->refs, 2);
	srdma_inflight_begin(qp);
	srdma_engine_init(&qp->send, nothing_to_do, NULL);
	srdma_engine_init(&qp->recv, nothing_to_do, NULL);
	test->priv = qp;
	return 0;
}

/* Hands over until there is no room; returns how many. */
static u32 fill_flight(struct kunit *test, struct sk_buff **skbs, u32 max)
{
	struct srdma_qp *qp = test->priv;
	u32 n;

	for (n = 0; n < max; n++) {
		if (!srdma_inflight_has_room(qp, &qp->recv))
			break;
		skbs[n] = alloc_skb(SZ_32K, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, skbs[n]);
		skb_put(skbs[n], 31000);
		srdma_inflight_add(qp, skbs[n]);
		/* The stack may change its length; the charge stays. */
		skb_trim(skbs[n], 100);
	}
	return n;
}

/* What is timed has been under way for @ns; of 0, for no time, however slow this machine is. */
static void set_under_way(struct srdma_qp *qp, u64 ns)
{
	qp->inflight.timed_at = ktime_get_ns() + (ns ? -ns : NSEC_PER_SEC);
}

static void flight__waits_and_wakes(struct kunit *test)
{
	struct srdma_qp *qp = test->priv;
	struct sk_buff *skbs[64];
	u32 n, i;

	qp->inflight.limit = SZ_512K;
	n = fill_flight(test, skbs, ARRAY_SIZE(skbs));
	KUNIT_EXPECT_EQ(test, n, 16);
	set_under_way(qp, 0);
	for (i = 0; i < n; i++) {
		unsigned long events = qp->recv.events;

		KUNIT_EXPECT_EQ(test, !!(events & BIT(SRDMA_EVENT_TX_FREED)),
				i >= n / 2);
		KUNIT_EXPECT_EQ(test, qp->send.events, 0);
		consume_skb(skbs[i]);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->inflight.bytes), 1);
	KUNIT_EXPECT_TRUE(test, srdma_inflight_has_room(qp, &qp->send));
}

static void land_all(struct sk_buff **skbs, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		consume_skb(skbs[i]);
}

/* Fills it, and lets all of it leave, @ns after it came; returns how many. */
static u32 land_after(struct kunit *test, u64 ns)
{
	struct srdma_qp *qp = test->priv;
	struct sk_buff *skbs[64];
	u32 n;

	n = fill_flight(test, skbs, ARRAY_SIZE(skbs));
	set_under_way(qp, ns);
	land_all(skbs, n);
	return n;
}

static void flight__follows_the_queue(struct kunit *test)
{
	struct srdma_qp *qp = test->priv;
	int i;

	KUNIT_EXPECT_EQ(test, land_after(test, NSEC_PER_SEC), 4);

	/* In a queue that drains slowly half as many each time, but half a train. */
	qp->inflight.limit = SZ_512K;
	KUNIT_EXPECT_EQ(test, land_after(test, NSEC_PER_SEC), 16);
	KUNIT_EXPECT_EQ(test, srdma_inflight_train(qp), SZ_128K);
	KUNIT_EXPECT_EQ(test, land_after(test, NSEC_PER_SEC), 8);
	KUNIT_EXPECT_EQ(test, land_after(test, NSEC_PER_SEC), 4);
	KUNIT_EXPECT_EQ(test, land_after(test, NSEC_PER_SEC), 2);
	KUNIT_EXPECT_EQ(test, land_after(test, NSEC_PER_SEC), 1);
	KUNIT_EXPECT_EQ(test, land_after(test, NSEC_PER_SEC), 1);
	KUNIT_EXPECT_EQ(test, srdma_inflight_train(qp), SZ_16K);

	/* In one that drains at once all there may be. */
	for (i = 0; i < 1000 && qp->inflight.limit < SZ_512K; i++)
		land_after(test, 0);
	KUNIT_EXPECT_EQ(test, qp->inflight.limit, SZ_512K);
}

/* The limit, of @limit, when @count at a time took @ns, again and again. */
static u32 limit_after_few(struct kunit *test, u32 limit, u32 count, u64 ns)
{
	struct srdma_qp *qp = test->priv;
	struct sk_buff *skbs[2];
	u32 n, i;

	qp->inflight.limit = limit;
	for (i = 0; i < 100; i++) {
		n = fill_flight(test, skbs, count);
		set_under_way(qp, ns);
		land_all(skbs, n);
	}
	return qp->inflight.limit;
}

/* Of a short message nothing is timed, and what is known stays. */
static void flight__does_not_time_little(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, limit_after_few(test, SZ_128K, 1, NSEC_PER_SEC), SZ_128K);
}

/* Who never meets the limit may still keep others waiting. It needs no more than at first. */
static void flight__shrinks_for_who_does_not_wait(struct kunit *test)
{
	struct srdma_qp *qp = test->priv;
	u32 limit;

	KUNIT_EXPECT_EQ(test, limit_after_few(test, SZ_128K, 2, NSEC_PER_SEC), SZ_32K);
	KUNIT_EXPECT_EQ(test, limit_after_few(test, SZ_512K, 2, 0), SZ_512K);
	limit = limit_after_few(test, SZ_64K + 1, 2, 0);
	KUNIT_EXPECT_LE(test, limit, SZ_128K);
	KUNIT_EXPECT_GT(test, limit, SZ_128K - 8);

	/* What a queue refuses leaves at once. */
	qp->inflight.limit = SZ_64K + 1;
	srdma_inflight_refused(qp);
	KUNIT_EXPECT_EQ(test, limit_after_few(test, SZ_64K + 1, 2, 0), SZ_64K + 1);
}

static struct sk_buff *hand_over(struct kunit *test, u32 len)
{
	struct sk_buff *skb = alloc_skb(SZ_64K, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put(skb, len);
	srdma_inflight_add(test->priv, skb);
	return skb;
}

/* All that is in flight may land together, as where a NIC tells of many at a time. */
static void flight__grows_where_all_land_together(struct kunit *test)
{
	struct srdma_qp *qp = test->priv;
	struct sk_buff *skbs[2];
	u32 i, k;

	qp->inflight.limit = SZ_128K;
	for (i = 0; i < 100 && qp->inflight.limit == SZ_128K; i++) {
		for (k = 0; k < 2; k++) {
			KUNIT_ASSERT_TRUE(test, srdma_inflight_has_room(qp, &qp->recv));
			skbs[k] = hand_over(test, 64000);
		}
		KUNIT_ASSERT_FALSE(test, srdma_inflight_has_room(qp, &qp->recv));
		set_under_way(qp, 0);
		land_all(skbs, 2);
	}
	KUNIT_EXPECT_GT(test, qp->inflight.limit, SZ_128K);
}

/* One that was fast says little. */
static void flight__grows_by_a_part(struct kunit *test)
{
	struct srdma_qp *qp = test->priv;

	qp->inflight.limit = SZ_128K;
	land_after(test, 0);
	KUNIT_EXPECT_EQ(test, qp->inflight.limit, SZ_128K + SZ_32K);
	qp->inflight.limit = SZ_128K;
	land_after(test, 2 * NSEC_PER_MSEC);
	KUNIT_EXPECT_LE(test, qp->inflight.limit, SZ_128K + SZ_4K);
}

/* One that a queue refuses leaves at once. That is no reason to send more. */
static void flight__grows_only_for_who_waits(struct kunit *test)
{
	struct srdma_qp *qp = test->priv;
	struct sk_buff *skbs[64];
	u32 n;

	n = fill_flight(test, skbs, ARRAY_SIZE(skbs));
	land_all(skbs, n);
	qp->inflight.limit = SZ_128K;
	KUNIT_ASSERT_EQ(test, fill_flight(test, skbs, 1), 1);
	set_under_way(qp, 0);
	consume_skb(skbs[0]);
	KUNIT_EXPECT_EQ(test, qp->inflight.limit, SZ_128K);
	KUNIT_EXPECT_PTR_EQ(test, qp->inflight.timed, NULL);
}

/* What many see of one queue makes their shares equal, whatever they were. */
static void flight__shares_a_queue(struct kunit *test)
{
	const int from[] = { SZ_512K, SZ_32K };
	struct srdma_qp *qp = test->priv;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		qp->inflight.limit = from[i];
		for (k = 0; k < 100; k++)
			land_after(test, 5 * NSEC_PER_MSEC / 2);
		KUNIT_EXPECT_GT(test, qp->inflight.limit, SZ_32K);
		KUNIT_EXPECT_LT(test, qp->inflight.limit, SZ_128K);
	}
}

/* What a queue refused says what it holds, for a while. */
static void flight__fits_a_queue_that_was_full(struct kunit *test)
{
	struct srdma_qp *qp = test->priv;
	struct sk_buff *skbs[64];
	u32 n, i;

	qp->inflight.limit = SZ_512K;
	n = fill_flight(test, skbs, 8);
	srdma_inflight_refused(qp);
	land_all(skbs, n);
	for (i = 0; i < 100; i++)
		KUNIT_EXPECT_LE(test, land_after(test, 0), 7);

	qp->inflight.refused_at = jiffies - 2 * HZ;
	for (i = 0; i < 1000 && qp->inflight.limit < SZ_512K; i++)
		land_after(test, 0);
	KUNIT_EXPECT_EQ(test, qp->inflight.limit, SZ_512K);
}

/* Whoever is last, the verbs object or an skb, gives the one reference back. */
static void flight__keeps_the_qp(struct kunit *test)
{
	struct srdma_qp *qp = test->priv;
	struct sk_buff *skbs[64];
	u32 n, i;

	n = fill_flight(test, skbs, ARRAY_SIZE(skbs));
	KUNIT_ASSERT_GT(test, n, 1);
	srdma_inflight_end(qp);
	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ(test, refcount_read(&qp->refs), 2);
		consume_skb(skbs[i]);
	}
	KUNIT_EXPECT_EQ(test, refcount_read(&qp->refs), 1);

	refcount_set(&qp->refs, 2);
	srdma_inflight_begin(qp);
	n = fill_flight(test, skbs, 2);
	land_all(skbs, n);
	KUNIT_EXPECT_EQ(test, refcount_read(&qp->refs), 2);
	srdma_inflight_end(qp);
	KUNIT_EXPECT_EQ(test, refcount_read(&qp->refs), 1);
}

static struct kunit_case flight_cases[] = {
	KUNIT_CASE(flight__waits_and_wakes),
	KUNIT_CASE(flight__follows_the_queue),
	KUNIT_CASE(flight__does_not_time_little),
	KUNIT_CASE(flight__shrinks_for_who_does_not_wait),
	KUNIT_CASE(flight__grows_where_all_land_together),
	KUNIT_CASE(flight__grows_by_a_part),
	KUNIT_CASE(flight__grows_only_for_who_waits),
	KUNIT_CASE(flight__shares_a_queue),
	KUNIT_CASE(flight__fits_a_queue_that_was_full),
	KUNIT_CASE(flight__keeps_the_qp),
	{}
};

static struct kunit_suite flight_suite = {
	.name = "srdma_inflight",
	.init = init_sender,
	.test_cases = flight_cases,
};

kunit_test_suite(flight_suite);
