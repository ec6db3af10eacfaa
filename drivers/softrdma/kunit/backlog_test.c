// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit tests of the backlog: how much of it each user has, and the memory that
 * it pins.
 */
#include <kunit/test.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/skbuff.h>

#include "engine/backlog.h"
#include "engine/engine.h"

/* More chunks than any pool has. */
#define MANY		100000

/**
 * struct two_users - what a test draws for
 * @one: the first
 * @other: the second
 * @drawn: how many chunks each has
 */
struct two_users {
	struct srdma_backlog *one;
	struct srdma_backlog *other;
	u32 drawn[2];
};

static struct srdma_backlog *backlog_of(struct kunit *test, kuid_t uid)
{
	struct srdma_backlog *backlog;
	const struct cred *old;
	struct cred *cred;

	cred = prepare_creds();
	KUNIT_ASSERT_NOT_NULL(test, cred);
	cred->uid = uid;
	old = override_creds(cred);
	backlog = srdma_backlog_get();
	revert_creds(old);
	put_cred(cred);
	KUNIT_ASSERT_NOT_NULL(test, backlog);
	return backlog;
}

static int init_users(struct kunit *test)
{
	struct two_users *users = kunit_kzalloc(test, sizeof(*users),
						GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, users);
	users->one = backlog_of(test, KUIDT_INIT(61001));
	users->other = backlog_of(test, KUIDT_INIT(61002));
	test->priv = users;
	return 0;
}

static void exit_users(struct kunit *test)
{
	struct two_users *users = test->priv;

	if (!users)
		return;
	srdma_backlog_return(users->one, users->drawn[0]);
	srdma_backlog_return(users->other, users->drawn[1]);
	srdma_backlog_put(users->one);
	srdma_backlog_put(users->other);
}

static u32 draw_all(struct srdma_backlog *backlog)
{
	u32 n = 0;

	while (n < MANY && srdma_backlog_draw(backlog))
		n++;
	return n;
}

/* How many chunks one can have where nobody else has any. */
static u32 half_of_pool(struct kunit *test)
{
	struct two_users *users = test->priv;
	u32 half = draw_all(users->other);

	srdma_backlog_return(users->other, half);
	return half;
}

static void backlog__is_shared(struct kunit *test)
{
	struct two_users *users = test->priv;
	u32 half = half_of_pool(test);

	KUNIT_ASSERT_GE(test, half, 8);
	KUNIT_ASSERT_LT(test, half, MANY);
	users->drawn[0] = draw_all(users->one);
	KUNIT_EXPECT_EQ(test, users->drawn[0], half);
	/* The second one takes of what the first one had to leave. */
	users->drawn[1] = draw_all(users->other);
	KUNIT_EXPECT_GE(test, users->drawn[1], half / 2);
	KUNIT_EXPECT_LT(test, users->drawn[1], half);
	KUNIT_EXPECT_FALSE(test, srdma_backlog_draw(users->one));
	/* What is given back can be drawn again, by either. */
	srdma_backlog_return(users->one, users->drawn[0]);
	users->drawn[0] = 0;
	KUNIT_EXPECT_TRUE(test, srdma_backlog_draw(users->other));
	users->drawn[1]++;
}

static void backlog__belongs_to_a_user(struct kunit *test)
{
	struct two_users *users = test->priv;
	struct srdma_backlog *again = backlog_of(test, KUIDT_INIT(61001));

	KUNIT_EXPECT_PTR_EQ(test, again, users->one);
	KUNIT_EXPECT_PTR_NE(test, again, users->other);
	srdma_backlog_put(again);
}

static bool take_nothing(struct srdma_engine *engine, unsigned long events,
			 int budget)
{
	return false;
}

static struct srdma_engine *stopped_engine(struct kunit *test,
					   struct srdma_backlog *backlog)
{
	struct srdma_engine *engine = kunit_kzalloc(test, sizeof(*engine),
						    GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, engine);
	srdma_engine_init(engine, take_nothing, backlog);
	return engine;
}

/* Puts packets into its inbox until there is no room; returns their bytes. */
static u64 fill_inbox(struct kunit *test, struct srdma_engine *engine)
{
	struct sk_buff *skb;
	u64 bytes = 0;
	bool room;

	do {
		skb = alloc_skb(SZ_16K, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		local_bh_disable();
		room = srdma_engine_deliver(engine, skb);
		local_bh_enable();
		if (room)
			bytes += skb->truesize;
	} while (room);
	kfree_skb(skb);
	return bytes;
}

#define ENGINES		32

/* What the least of all pools is asked for, and each engine its own. */
static void backlog__bounds_all_inboxes(struct kunit *test)
{
	struct two_users *users = test->priv;
	u64 half = (u64)half_of_pool(test) * SRDMA_BACKLOG_CHUNK;
	struct srdma_engine *engine[ENGINES], *other;
	u64 bytes = 0, each;
	int i;

	for (i = 0; i < ENGINES; i++) {
		engine[i] = stopped_engine(test, users->one);
		each = fill_inbox(test, engine[i]);
		KUNIT_EXPECT_GE(test, each, SRDMA_BACKLOG_OWN);
		KUNIT_EXPECT_LE(test, each, SZ_8M + SZ_64K);
		bytes += each;
	}
	KUNIT_EXPECT_GE(test, bytes, half);
	KUNIT_EXPECT_LE(test, bytes,
			half + ENGINES * (SRDMA_BACKLOG_OWN + SZ_64K));

	/* Somebody else finds more than his own. */
	other = stopped_engine(test, users->other);
	KUNIT_EXPECT_GE(test, fill_inbox(test, other),
			min_t(u64, half / 2, SZ_8M - SZ_64K));
	srdma_engine_uninit(other);

	/* All is given back: by who looks at it all, and by who goes. */
	srdma_engine_clear(engine[0]);
	KUNIT_EXPECT_EQ(test, engine[0]->room, SRDMA_BACKLOG_OWN);
	for (i = 0; i < ENGINES; i++)
		srdma_engine_uninit(engine[i]);
	KUNIT_EXPECT_EQ(test, (u64)half_of_pool(test) * SRDMA_BACKLOG_CHUNK,
			half);
}

/* What is put aside counts, and leaves as much for what it waits for. */
static void backlog__what_is_held_leaves_room(struct kunit *test)
{
	struct two_users *users = test->priv;
	u64 half = (u64)half_of_pool(test) * SRDMA_BACKLOG_CHUNK;
	struct srdma_engine *engine = stopped_engine(test, users->one);
	u32 held = 0;

	local_bh_disable();
	while (srdma_engine_hold(engine, SZ_16K))
		held += SZ_16K;
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, engine->held, held);
	KUNIT_EXPECT_GE(test, held, SRDMA_BACKLOG_OWN / 2 - SZ_16K);
	KUNIT_EXPECT_LE(test, 2 * held, SZ_8M + SZ_64K);
	KUNIT_EXPECT_LE(test, 2 * held, engine->room);
	/* It was looked at: what comes now is, too, at once. */
	KUNIT_EXPECT_FALSE(test, srdma_engine_lags(engine));
	KUNIT_EXPECT_GE(test, fill_inbox(test, engine),
			min_t(u64, held, SZ_4M - SZ_64K));
	KUNIT_EXPECT_TRUE(test, srdma_engine_lags(engine));

	/* As long as anything is held, nothing is given back. */
	srdma_engine_clear(engine);
	KUNIT_EXPECT_GE(test, engine->room, 2 * held);
	srdma_engine_release(engine, held);
	srdma_engine_clear(engine);
	KUNIT_EXPECT_EQ(test, engine->room, SRDMA_BACKLOG_OWN);
	srdma_engine_uninit(engine);
	KUNIT_EXPECT_EQ(test, (u64)half_of_pool(test) * SRDMA_BACKLOG_CHUNK,
			half);
}

/* A packet of @len bytes in a page of 32 KB, as of many drivers. */
static struct sk_buff *skb_in_page(struct kunit *test, u32 len)
{
	u32 size = SKB_DATA_ALIGN(len) +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_COMP,
					get_order(SZ_32K));
	struct sk_buff *skb;

	KUNIT_ASSERT_NOT_NULL(test, page);
	skb = build_skb(page_address(page), size);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	memset(skb_put(skb, len), 0x5a, len);
	memset(skb->cb, 0x77, sizeof(skb->cb));
	return skb;
}

static void backlog__waits_in_memory_of_its_own(struct kunit *test)
{
	struct sk_buff *skb = skb_in_page(test, 100), *waits;

	KUNIT_EXPECT_TRUE(test, skb->head_frag);
	/* As it is, it counts for the page: a quarter, as that may be four times it. */
	KUNIT_EXPECT_EQ(test, srdma_backlog_charge(skb), SZ_8K);
	waits = srdma_backlog_compact(skb);
	KUNIT_ASSERT_NOT_NULL(test, waits);
	KUNIT_EXPECT_FALSE(test, waits->head_frag);
	KUNIT_EXPECT_LE(test, waits->truesize, SZ_2K);
	KUNIT_EXPECT_EQ(test, srdma_backlog_charge(waits), waits->truesize);
	KUNIT_EXPECT_EQ(test, waits->len, 100);
	KUNIT_EXPECT_NULL(test, memchr_inv(waits->data, 0x5a, 100));
	KUNIT_EXPECT_NULL(test, memchr_inv(waits->cb, 0x77, sizeof(waits->cb)));
	kfree_skb(waits);

	/* One that fills its page stays where it is. */
	skb = skb_in_page(test, SZ_16K);
	KUNIT_EXPECT_PTR_EQ(test, srdma_backlog_compact(skb), skb);
	kfree_skb(skb);
}

#define MERGED		3
#define MERGED_LEN	200
#define MERGED_HEAD	28

/* As wire/merge.c makes them: all but the first in a list, without their headers. */
static struct sk_buff *merged_skb(struct kunit *test)
{
	struct sk_buff *skb = skb_in_page(test, MERGED_HEAD + MERGED_LEN), *one;
	struct sk_buff **last = &skb_shinfo(skb)->frag_list;
	int i;

	for (i = 1; i < MERGED; i++) {
		one = skb_in_page(test, MERGED_HEAD + MERGED_LEN);
		memset(one->data + MERGED_HEAD, i, MERGED_LEN);
		skb_pull(one, MERGED_HEAD);
		*last = one;
		last = &one->next;
		skb->len += one->len;
		skb->data_len += one->len;
		skb->truesize += one->truesize;
	}
	skb_reset_network_header(skb);
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
	skb_shinfo(skb)->gso_size = MERGED_LEN;
	skb_shinfo(skb)->gso_segs = MERGED;
	return skb;
}

static void backlog__merged_packets_wait_in_one_head(struct kunit *test)
{
	struct sk_buff *waits = srdma_backlog_compact(merged_skb(test));
	u8 *data;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, waits);
	KUNIT_EXPECT_FALSE(test, skb_is_nonlinear(waits));
	KUNIT_EXPECT_FALSE(test, skb_shinfo(waits)->gso_type & SKB_GSO_FRAGLIST);
	KUNIT_EXPECT_EQ(test, skb_shinfo(waits)->gso_size, MERGED_LEN);
	KUNIT_EXPECT_EQ(test, skb_shinfo(waits)->gso_segs, MERGED);
	KUNIT_EXPECT_EQ(test, waits->len, MERGED_HEAD + MERGED * MERGED_LEN);
	KUNIT_EXPECT_PTR_EQ(test, skb_network_header(waits), waits->data);
	KUNIT_EXPECT_NULL(test, memchr_inv(waits->cb, 0x77, sizeof(waits->cb)));
	data = waits->data + MERGED_HEAD + MERGED_LEN;
	KUNIT_EXPECT_NULL(test, memchr_inv(waits->data, 0x5a, MERGED_HEAD +
					   MERGED_LEN));
	for (i = 1; i < MERGED; i++, data += MERGED_LEN)
		KUNIT_EXPECT_NULL(test, memchr_inv(data, i, MERGED_LEN));
	kfree_skb(waits);
}

static struct kunit_case backlog_cases[] = {
	KUNIT_CASE(backlog__is_shared),
	KUNIT_CASE(backlog__belongs_to_a_user),
	KUNIT_CASE(backlog__bounds_all_inboxes),
	KUNIT_CASE(backlog__what_is_held_leaves_room),
	KUNIT_CASE(backlog__waits_in_memory_of_its_own),
	KUNIT_CASE(backlog__merged_packets_wait_in_one_head),
	{}
};

static struct kunit_suite backlog_suite = {
	.name = "srdma_backlog",
	.init = init_users,
	.exit = exit_users,
	.test_cases = backlog_cases,
};

kunit_test_suite(backlog_suite);
