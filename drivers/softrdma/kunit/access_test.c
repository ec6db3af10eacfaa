// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit tests of keys, maps, fast registration, and the access to memory.
 */
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "kunit/test_world.h"
#include "verbs/mr.h"

/**
 * struct map_case - runs of pages, and how they are to be cut
 * @runs: first page and number of pages, until a run of none
 * @shift: expected, beyond that of a page
 * @count: expected number of blocks
 */
struct map_case {
	struct { u32 page, pages; } runs[5];
	u32 shift;
	u32 count;
};

static const struct map_case map_cases[] = {
	{ { {5, 1} }, 0, 1 },
	/* contiguous: one block, wherever it begins */
	{ { {0, 32} }, 5, 1 },
	{ { {3, 9} }, 4, 1 },
	{ { {3, 4}, {7, 2} }, 4, 1 },
	/* aligned runs in any order */
	{ { {8, 4}, {0, 4}, {16, 4} }, 2, 3 },
	{ { {8, 4}, {0, 8}, {16, 4} }, 2, 4 },
	/* the first block is entered late, the last left early */
	{ { {1, 7}, {16, 8} }, 3, 2 },
	{ { {3, 1}, {8, 3} }, 2, 2 },
	/* breaks where no larger block can */
	{ { {9, 1}, {4, 1}, {2, 1} }, 0, 3 },
	{ { {4, 3}, {16, 4} }, 0, 7 },
	{ { {4, 4}, {9, 4} }, 0, 8 },
};

static void check_map(struct kunit *test, const struct map_case *c)
{
	struct srdma_test_world *w = test->priv;
	struct scatterlist sgl[5];
	struct sg_table sgt = { .sgl = sgl };
	struct srdma_page_map map = {};
	u64 pos, done = 0;
	u32 i, at;

	while (sgt.orig_nents < 5 && c->runs[sgt.orig_nents].pages)
		sgt.orig_nents++;
	sg_init_table(sgl, sgt.orig_nents);
	for (i = 0; i < sgt.orig_nents; i++)
		sg_set_page(&sgl[i], virt_to_page(w->base + c->runs[i].page *
						  PAGE_SIZE),
			    c->runs[i].pages * PAGE_SIZE, 0);
	KUNIT_ASSERT_EQ(test, srdma_page_map_build(&map, &sgt, 100, 200), 0);
	KUNIT_EXPECT_EQ(test, (u32)map.shift, PAGE_SHIFT + c->shift);
	KUNIT_EXPECT_EQ(test, map.count, c->count);
	KUNIT_EXPECT_EQ(test, map.length, 200ULL);
	for (i = 0; i < sgt.orig_nents; i++)
		for (at = 0; at < c->runs[i].pages; at++, done += PAGE_SIZE) {
			pos = map.offset - 100 + done;
			KUNIT_EXPECT_PTR_EQ(test, (u8 *)
				map.blocks[pos >> map.shift] +
				(pos & ((1ULL << map.shift) - 1)),
				w->base + (c->runs[i].page + at) * PAGE_SIZE);
		}
	kvfree(map.blocks);
}

static void map_build__cuts_pages_into_largest_blocks(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(map_cases); i++)
		check_map(test, &map_cases[i]);
}

static void range_ok__edges(struct kunit *test)
{
	const u64 top = U64_MAX;

	KUNIT_EXPECT_TRUE(test, srdma_range_ok(100, 50, 100, 50));
	KUNIT_EXPECT_TRUE(test, srdma_range_ok(100, 50, 149, 1));
	KUNIT_EXPECT_TRUE(test, srdma_range_ok(100, 50, 150, 0));
	KUNIT_EXPECT_FALSE(test, srdma_range_ok(100, 50, 99, 1));
	KUNIT_EXPECT_FALSE(test, srdma_range_ok(100, 50, 100, 51));
	KUNIT_EXPECT_FALSE(test, srdma_range_ok(100, 50, 150, 1));
	KUNIT_EXPECT_FALSE(test, srdma_range_ok(100, 50, 149, 2));
	KUNIT_EXPECT_FALSE(test, srdma_range_ok(100, 50, 100, top));
	KUNIT_EXPECT_FALSE(test, srdma_range_ok(100, 50, top, 2));
	KUNIT_EXPECT_FALSE(test, srdma_range_ok(100, 50, top - 9, 120));
	KUNIT_EXPECT_TRUE(test, srdma_range_ok(top - 9, 9, top - 1, 1));
	KUNIT_EXPECT_FALSE(test, srdma_range_ok(top - 9, 9, top - 1, 11));
}

static void access__key_pd_rights_and_range(struct kunit *test)
{
	const u32 r = IB_ACCESS_REMOTE_READ, wr = IB_ACCESS_REMOTE_WRITE;
	struct srdma_test_world *w = test->priv;
	struct srdma_mem_who alien = w->who;
	struct srdma_mr *mr;
	u32 key;

	mr = srdma_test_make_region(test, &w->pd, 0x10000, r);
	key = mr->key.key;
	alien.pd = &w->alien;
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key, 0x10000, BYTES, r),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key, 0x10000, 1, wr),
			SRDMA_MEM_ACCESS);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key, 0x10000, 1, r | wr),
			SRDMA_MEM_ACCESS);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key ^ 1, 0x10000, 1, r),
			SRDMA_MEM_KEY);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key + 256, 0x10000, 1, r),
			SRDMA_MEM_KEY);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&alien, key, 0x10000, 1, r),
			SRDMA_MEM_PD);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key, 0xffff, 2, r),
			SRDMA_MEM_RANGE);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key, 0x10001, BYTES, r),
			SRDMA_MEM_RANGE);
	/* C9-88: without bytes no key is looked at */
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&alien, key ^ 1, 5, 0, wr),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_local(&w->who, key, 0x10000, 1, 0),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_local(&w->who, key, 0x10000, 1,
				    IB_ACCESS_LOCAL_WRITE), SRDMA_MEM_ACCESS);
	KUNIT_EXPECT_EQ(test, srdma_test_local(&w->who, key ^ 1, 0x10000, 1, 0),
			SRDMA_MEM_KEY);
	KUNIT_EXPECT_EQ(test, srdma_test_local(&w->who, key ^ 1, 0, 0, 0), SRDMA_MEM_OK);
	srdma_test_end_region(test, mr);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key, 0x10000, 1, r),
			SRDMA_MEM_KEY);
}

static void access__kernel_memory_is_for_the_kernel(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_mem_who kernel = w->who;
	struct ib_mr *dma;

	kernel.pd = &w->kernel;
	KUNIT_EXPECT_EQ(test, srdma_test_local(&w->who, SRDMA_KEY_KERNEL,
				    (uintptr_t)w->base, 8, 0), SRDMA_MEM_KEY);
	KUNIT_EXPECT_EQ(test, srdma_test_local(&kernel, SRDMA_KEY_KERNEL,
				    (uintptr_t)w->base, 8,
				    IB_ACCESS_LOCAL_WRITE), SRDMA_MEM_OK);
	/* never by a peer */
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&kernel, SRDMA_KEY_KERNEL,
				     (uintptr_t)w->base, 8,
				     IB_ACCESS_REMOTE_READ), SRDMA_MEM_KEY);
	dma = srdma_mr_get_dma(&w->pd, ALL_REMOTE);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(dma), -EINVAL);

	dma = srdma_mr_get_dma(&w->kernel, ALL_REMOTE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dma);
	dma->device = &w->dev->ib;
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&kernel, dma->rkey, (uintptr_t)w->base, 8,
				     IB_ACCESS_REMOTE_WRITE), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&kernel, dma->rkey, 4096, 8,
				     IB_ACCESS_REMOTE_READ), SRDMA_MEM_RANGE);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&kernel, dma->rkey, U64_MAX - 3, 8,
				     IB_ACCESS_REMOTE_READ), SRDMA_MEM_RANGE);
	KUNIT_EXPECT_EQ(test, srdma_mr_dereg(dma, NULL), 0);
}

/* Reads [@offset, @offset + @len) of the message and compares each byte. */
static void check_gather(struct kunit *test, struct srdma_mem_iter *it,
			 const u8 *want, u32 offset, u32 len, u8 *buf)
{
	enum srdma_mem_why why;

	local_bh_disable();
	why = srdma_mem_seek(it, offset) ?: srdma_mem_read(it, buf, len);
	srdma_mem_end(it);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, why, SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, memcmp(buf, want + offset, len), 0);
	KUNIT_EXPECT_EQ(test, it->pos.offset, offset + len);
}

static void list__gathers_at_any_offset(struct kunit *test)
{
	static const u32 length[] = { 0, 10, 5000, 0, 1, 4096, 9000, 0 };
	struct srdma_test_world *w = test->priv;
	struct srdma_sge sge[ARRAY_SIZE(length)];
	struct srdma_mr *mr = srdma_test_make_region(test, &w->pd, 0x7000, 0);
	u32 total = 0, i, j, from = 33;
	u8 *want = kunit_kzalloc(test, BYTES, GFP_KERNEL);
	u8 *buf = kunit_kzalloc(test, BYTES, GFP_KERNEL);
	struct srdma_mem_iter it;
	enum srdma_mem_why why;

	srdma_test_fill(w);
	for (i = 0; i < ARRAY_SIZE(length); i++) {
		sge[i].addr = 0x7000 + from;
		sge[i].length = length[i];
		/* an empty piece may have any key */
		sge[i].lkey = length[i] ? mr->key.key : ~0U;
		for (j = 0; j < length[i]; j++)
			want[total + j] = *srdma_test_byte_of(w, from + j);
		total += length[i];
		from += length[i] + 777;
	}
	srdma_mem_begin_list(&it, &w->who, sge, ARRAY_SIZE(sge), 0, NULL);
	check_gather(test, &it, want, 0, total, buf);
	for (i = 0; i + 1400 <= total; i += 1024)
		check_gather(test, &it, want, i, 1400, buf);
	/* back, to and over the edges of pieces */
	check_gather(test, &it, want, 10, 1, buf);
	check_gather(test, &it, want, 5009, 3, buf);
	check_gather(test, &it, want, 0, 11, buf);
	check_gather(test, &it, want, total, 0, buf);
	check_gather(test, &it, want, total - 1, 1, buf);

	local_bh_disable();
	why = srdma_mem_seek(&it, total - 1) ?: srdma_mem_read(&it, buf, 2);
	srdma_mem_end(&it);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, why, SRDMA_MEM_LENGTH);
	local_bh_disable();
	why = srdma_mem_seek(&it, total + 1);
	srdma_mem_end(&it);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, why, SRDMA_MEM_LENGTH);
	srdma_test_end_region(test, mr);
}

/* What is before the offset of a piece is checked although nobody reads it. */
static void list__piece_is_checked_as_a_whole(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *mr = srdma_test_make_region(test, &w->pd, 0, 0);
	struct srdma_sge sge = { .addr = -10ULL, .length = 100,
				 .lkey = mr->key.key };
	struct srdma_mem_iter it;
	enum srdma_mem_why why;
	u8 byte;

	srdma_mem_begin_list(&it, &w->who, &sge, 1, 0, NULL);
	local_bh_disable();
	why = srdma_mem_seek(&it, 50) ?: srdma_mem_read(&it, &byte, 1);
	srdma_mem_end(&it);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, why, SRDMA_MEM_RANGE);
	srdma_test_end_region(test, mr);
}

static void copy__list_to_range(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *mr = srdma_test_make_region(test, &w->pd, 0, ALL_REMOTE);
	struct srdma_sge sge[] = {
		{ .addr = 100, .length = 6000, .lkey = mr->key.key },
		{ .addr = 10000, .length = 3000, .lkey = mr->key.key },
	};
	struct srdma_mem_iter from, to;
	enum srdma_mem_why why;
	u32 i, bad = 0;

	srdma_test_fill(w);
	local_bh_disable();
	srdma_mem_begin_list(&from, &w->who, sge, 2, 0, NULL);
	why = srdma_mem_begin_remote(&to, &w->who, mr->key.key, 50001, 9000,
				     IB_ACCESS_REMOTE_WRITE);
	if (!why) {
		why = srdma_mem_copy(&to, &from, 9000);
		srdma_mem_end(&to);
	}
	srdma_mem_end(&from);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, why, SRDMA_MEM_OK);
	for (i = 0; i < 9000; i++)
		bad += *srdma_test_byte_of(w, 50001 + i) !=
		       *srdma_test_byte_of(w, i < 6000 ? 100 + i : 4000 + i);
	KUNIT_EXPECT_EQ(test, bad, 0U);

	/* It is the source that is too short, or has no such key. */
	local_bh_disable();
	srdma_mem_begin_list(&from, &w->who, sge, 1, 0, NULL);
	why = srdma_mem_begin_remote(&to, &w->who, mr->key.key, 50001, 9000,
				     IB_ACCESS_REMOTE_WRITE);
	KUNIT_EXPECT_EQ(test, why, SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_mem_copy(&to, &from, 9000), SRDMA_MEM_GONE);
	srdma_mem_end(&from);
	sge[0].lkey ^= 1;
	srdma_mem_begin_list(&from, &w->who, sge, 2, 0, NULL);
	KUNIT_EXPECT_EQ(test, srdma_mem_copy(&to, &from, 1), SRDMA_MEM_GONE);
	srdma_mem_end(&from);
	srdma_mem_end(&to);
	local_bh_enable();
	srdma_test_end_region(test, mr);
}

static struct sk_buff *make_skb(struct kunit *test, u32 head, u32 frag,
				u32 frags)
{
	struct sk_buff *skb = alloc_skb(head, GFP_KERNEL);
	u32 i, j, n = 0;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	for (i = 0; i < head; i++)
		*(u8 *)skb_put(skb, 1) = n++ * 13;
	for (i = 0; i < frags; i++) {
		struct page *page = alloc_page(GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, page);
		for (j = 0; j < frag; j++)
			((u8 *)page_address(page))[40 + j] = n++ * 13;
		skb_add_rx_frag(skb, i, page, 40, frag, PAGE_SIZE);
	}
	return skb;
}

/* As for a train: payloads with gaps, across head and fragments. */
static void write_skb__skips_what_is_between(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *mr = srdma_test_make_region(test, &w->pd, 0, ALL_REMOTE);
	struct sk_buff *skb = make_skb(test, 200, 1000, 9);
	enum srdma_mem_why why;
	struct srdma_skb_walk walk;
	struct srdma_mem_iter it;
	u32 i, bad = 0;

	local_bh_disable();
	srdma_skb_walk_begin(&walk, skb);
	why = srdma_mem_begin_remote(&it, &w->who, mr->key.key, 3000, 6000,
				     IB_ACCESS_REMOTE_WRITE);
	for (i = 0; !why && i < 6; i++)
		why = srdma_mem_write_skb(&it, &walk, 60 + i * 1500, 1000);
	if (!why)
		KUNIT_EXPECT_EQ(test, srdma_mem_write_skb(&it, &walk, 9190, 20),
				SRDMA_MEM_LENGTH);
	srdma_mem_end(&it);
	/* and back, from a fragment into the head and into an earlier one */
	why = why ?: srdma_mem_begin_remote(&it, &w->who, mr->key.key, 20000,
					    2000, IB_ACCESS_REMOTE_WRITE);
	if (!why) {
		why = srdma_mem_write_skb(&it, &walk, 5000, 1000) ?:
		      srdma_mem_write_skb(&it, &walk, 150, 500) ?:
		      srdma_mem_write_skb(&it, &walk, 100, 500);
		srdma_mem_end(&it);
	}
	srdma_skb_walk_end(&walk);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, why, SRDMA_MEM_OK);
	for (i = 0; i < 1000; i++) {
		bad += *srdma_test_byte_of(w, 20000 + i) !=
		       (u8)((5000 + i) * 13);
		bad += *srdma_test_byte_of(w, 21000 + i) !=
		       (u8)((i < 500 ? 150 + i : i - 400) * 13);
	}
	for (i = 0; i < 6000; i++)
		bad += *srdma_test_byte_of(w, 3000 + i) !=
		       (u8)((60 + i / 1000 * 1500 + i % 1000) * 13);
	KUNIT_EXPECT_EQ(test, bad, 0U);
	kfree_skb(skb);
	srdma_test_end_region(test, mr);
}

/* Skipping finds the same faults as reading, and the same place behind. */
static void skip__checks_what_it_passes(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *mr = srdma_test_make_region(test, &w->pd, 0, ALL_REMOTE);
	struct srdma_sge sge[] = {
		{ .addr = 100, .length = 6000, .lkey = mr->key.key },
		{ .addr = 10000, .length = 3000, .lkey = mr->key.key },
		{ .addr = BYTES - 10, .length = 20, .lkey = mr->key.key },
	};
	struct srdma_mem_iter it;
	u8 byte;

	srdma_test_fill(w);
	local_bh_disable();
	srdma_mem_begin_list(&it, &w->who, sge, 3, 0, NULL);
	KUNIT_EXPECT_EQ(test, srdma_mem_seek(&it, 50), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_mem_skip(&it, 7000), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, it.pos.offset, 7050U);
	KUNIT_EXPECT_EQ(test, srdma_mem_read(&it, &byte, 1), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, byte, *srdma_test_byte_of(w, 10000 + 1050));
	KUNIT_EXPECT_EQ(test, srdma_mem_skip(&it, 1949), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_mem_skip(&it, 1), SRDMA_MEM_RANGE);
	srdma_mem_end(&it);

	srdma_mem_begin_list(&it, &w->who, sge, 2, 0, NULL);
	KUNIT_EXPECT_EQ(test, srdma_mem_skip(&it, 9001), SRDMA_MEM_LENGTH);
	srdma_mem_end(&it);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->key.gate), 0);
	srdma_test_end_region(test, mr);
}

static void atomic__words(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *mr = srdma_test_make_region(test, &w->pd, 0, ALL_REMOTE);
	u64 *word = (u64 *)srdma_test_byte_of(w, 4096 + 8), orig = 0, value = 77;
	struct srdma_mem_iter it;

	*word = 40;
	local_bh_disable();
	KUNIT_ASSERT_EQ(test, srdma_mem_begin_remote(&it, &w->who, mr->key.key,
						     4104, 8,
						     IB_ACCESS_REMOTE_ATOMIC),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_mem_fetch_add(&it, 2, &orig),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, orig, 40ULL);
	KUNIT_EXPECT_EQ(test, srdma_mem_cmp_swap(&it, 41, 9, &orig),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, orig, 42ULL);
	KUNIT_EXPECT_EQ(test, *word, 42ULL);
	KUNIT_EXPECT_EQ(test, srdma_mem_cmp_swap(&it, 42, -1ULL, &orig),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, *word, -1ULL);
	KUNIT_EXPECT_EQ(test, srdma_mem_fetch_add(&it, 1, &orig),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, *word, 0ULL);
	KUNIT_EXPECT_EQ(test, srdma_mem_store(&it, &value), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, *word, 77ULL);
	srdma_mem_end(&it);
	KUNIT_ASSERT_EQ(test, srdma_mem_begin_remote(&it, &w->who, mr->key.key,
						     4100, 8,
						     IB_ACCESS_REMOTE_ATOMIC),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_mem_fetch_add(&it, 2, &orig),
			SRDMA_MEM_ALIGN);
	srdma_mem_end(&it);
	local_bh_enable();
	srdma_test_end_region(test, mr);
}

static void fast_reg__states(struct kunit *test)
{
	const u32 r = IB_ACCESS_REMOTE_READ;
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *mr = srdma_test_alloc_region(test, &w->pd);
	struct srdma_mem_who alien = w->who;
	u32 key = mr->key.key;

	alien.pd = &w->alien;
	KUNIT_EXPECT_EQ(test, srdma_test_invalidate(&w->who, key, false), SRDMA_MEM_KEY);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key, 0, 1, r), SRDMA_MEM_KEY);
	KUNIT_EXPECT_EQ(test, srdma_test_reg(w, mr, 0, IB_ACCESS_REMOTE_WRITE),
			SRDMA_MEM_ACCESS);
	KUNIT_EXPECT_EQ(test, srdma_test_reg(w, mr, -(u64)BYTES + 1, r),
			SRDMA_MEM_RANGE);
	KUNIT_EXPECT_EQ(test, srdma_test_reg(w, mr, 0, r), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_reg(w, mr, 0, r), SRDMA_MEM_STATE);
	KUNIT_EXPECT_EQ(test, srdma_test_invalidate(&alien, key, false), SRDMA_MEM_PD);
	KUNIT_EXPECT_EQ(test, srdma_test_invalidate(&w->who, key ^ 1, false),
			SRDMA_MEM_KEY);
	KUNIT_EXPECT_EQ(test, srdma_test_invalidate(&w->who, key, true), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key, 0, 1, r), SRDMA_MEM_KEY);

	/* registered again, elsewhere, under another key, not mapped anew */
	ib_update_fast_reg_key(&mr->ib, (key ^ 0x55) & 0xff);
	KUNIT_EXPECT_EQ(test, srdma_test_reg(w, mr, 1ULL << 40, 0), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_local(&w->who, key ^ 0x55, 1ULL << 40, BYTES, 0),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_local(&w->who, key, 1ULL << 40, 1, 0),
			SRDMA_MEM_KEY);
	/* not a key that a peer could use */
	KUNIT_EXPECT_EQ(test, srdma_test_invalidate(&w->who, key ^ 0x55, true),
			SRDMA_MEM_ACCESS);
	KUNIT_EXPECT_EQ(test, srdma_test_invalidate(&w->who, key ^ 0x55, false),
			SRDMA_MEM_OK);
	srdma_test_end_region(test, mr);
}

static void invalidate__waits_for_access_under_way(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *mr = srdma_test_make_region(test, &w->pd, 0,
						     IB_ACCESS_REMOTE_READ);

	srdma_test_visit(test, &mr->key);
	KUNIT_EXPECT_EQ(test, srdma_test_invalidate(&w->who, mr->key.key, true),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_TRUE(test, srdma_test_visit_over(w));
	srdma_test_end_region(test, mr);
}

static void dereg__waits_for_access_under_way(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *mr = srdma_test_make_region(test, &w->pd, 0,
						     IB_ACCESS_REMOTE_READ);

	srdma_test_visit(test, &mr->key);
	srdma_test_end_region(test, mr);
	KUNIT_EXPECT_TRUE(test, srdma_test_visit_over(w));
}

static struct kunit_case mem_cases[] = {
	KUNIT_CASE(map_build__cuts_pages_into_largest_blocks),
	KUNIT_CASE(range_ok__edges),
	KUNIT_CASE(access__key_pd_rights_and_range),
	KUNIT_CASE(access__kernel_memory_is_for_the_kernel),
	KUNIT_CASE(list__gathers_at_any_offset),
	KUNIT_CASE(list__piece_is_checked_as_a_whole),
	KUNIT_CASE(copy__list_to_range),
	KUNIT_CASE(write_skb__skips_what_is_between),
	KUNIT_CASE(skip__checks_what_it_passes),
	KUNIT_CASE(atomic__words),
	KUNIT_CASE(fast_reg__states),
	KUNIT_CASE(invalidate__waits_for_access_under_way),
	KUNIT_CASE(dereg__waits_for_access_under_way),
	{}
};

static struct kunit_suite mem_suite = {
	.name = "softrdma_mem",
	.init = srdma_test_init,
	.exit = srdma_test_exit,
	.test_cases = mem_cases,
};

kunit_test_suite(mem_suite);
