// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Setup for the KUnit tests of memory.
 */
#include <linux/slab.h>

#include "compat/compat.h"
#include "kunit/test_world.h"
#include "memory/check.h"
#include "memory/invalidate.h"
#include "verbs/mr.h"

static enum hrtimer_restart leave(struct hrtimer *timer)
{
	struct srdma_test_world *w = container_of(timer,
						  struct srdma_test_world,
						  visit);

	WRITE_ONCE(w->visiting, false);
	srdma_key_leave(w->visited, w->seat);
	return HRTIMER_NORESTART;
}

int srdma_test_init(struct kunit *test)
{
	struct srdma_test_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->dev = kunit_kzalloc(test, sizeof(*w->dev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w->dev);
	srdma_keys_init(&w->dev->keys);
	srdma_bounds_init(&w->dev->bounds);
	w->pd.device = &w->dev->ib;
	w->pd.uobject = &w->uobject;
	w->alien = w->pd;
	w->kernel.device = &w->dev->ib;
	srdma_compat_hrtimer_setup(&w->visit, leave, HRTIMER_MODE_REL_HARD);
	srdma_mw_set_init(&w->set);
	srdma_mw_set_init(&w->other_set);
	w->who = (struct srdma_mem_who) {
		.keys = &w->dev->keys, .pd = &w->pd, .set = &w->set,
		.uid = current_uid(),
	};
	w->base = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP,
					 PAGES_ORDER);
	KUNIT_ASSERT_NOT_NULL(test, w->base);
	test->priv = w;
	return 0;
}

void srdma_test_exit(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;

	if (!w)
		return;
	hrtimer_cancel(&w->visit);
	/* A test that left an object behind would hide that it did. */
	KUNIT_EXPECT_TRUE(test, xa_empty(&w->dev->keys.numbers));
	KUNIT_EXPECT_EQ(test, atomic_read(&w->dev->count[SRDMA_OBJ_MR]), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->dev->count[SRDMA_OBJ_MW]), 0);
	free_pages((unsigned long)w->base, PAGES_ORDER);
	/* Freed objects refer to the world's memory until then. */
	rcu_barrier();
	srdma_keys_uninit(&w->dev->keys);
}

/*
 * A region of the last pages first: the address that is page P of the region is
 * page PAGES - 1 - P of the memory, so nothing is contiguous by luck.
 */
struct srdma_mr *srdma_test_alloc_region(struct kunit *test, struct ib_pd *pd)
{
	struct scatterlist *sg;
	struct srdma_test_world *w = test->priv;
	struct ib_mr *ib;
	unsigned int i;

	ib = srdma_mr_alloc(pd, IB_MR_TYPE_MEM_REG, PAGES);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ib);
	ib->device = &w->dev->ib;
	ib->page_size = PAGE_SIZE;
	sg = kunit_kcalloc(test, PAGES, sizeof(*sg), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sg);
	sg_init_table(sg, PAGES);
	for (i = 0; i < PAGES; i++) {
		void *page = w->base + (PAGES - 1 - i) * PAGE_SIZE;

		sg_set_page(&sg[i], virt_to_page(page), PAGE_SIZE, 0);
		sg_dma_address(&sg[i]) = (uintptr_t)page;
		sg_dma_len(&sg[i]) = PAGE_SIZE;
	}
	KUNIT_ASSERT_EQ(test, srdma_mr_map_sg(ib, sg, PAGES, NULL),
			(int)PAGES);
	return to_smr(ib);
}

u8 *srdma_test_byte_of(const struct srdma_test_world *w, u64 offset)
{
	return w->base + (PAGES - 1 - offset / PAGE_SIZE) * PAGE_SIZE +
	       offset % PAGE_SIZE;
}

enum srdma_mem_why srdma_test_reg(struct srdma_test_world *w, struct srdma_mr *mr, u64 iova,
			      u32 access)
{
	struct srdma_mem_who who = w->who;
	enum srdma_mem_why why;

	who.pd = mr->key.pd;
	mr->ib.iova = iova;
	local_bh_disable();
	why = srdma_mr_fast_reg(&who, &mr->ib, mr->ib.rkey, access);
	local_bh_enable();
	return why;
}

struct srdma_mr *srdma_test_make_region(struct kunit *test, struct ib_pd *pd,
				    u64 iova, u32 access)
{
	struct srdma_mr *mr = srdma_test_alloc_region(test, pd);

	KUNIT_ASSERT_EQ(test, srdma_test_reg(test->priv, mr, iova, access),
			SRDMA_MEM_OK);
	return mr;
}

void srdma_test_end_region(struct kunit *test, struct srdma_mr *mr)
{
	KUNIT_EXPECT_EQ(test, srdma_mr_dereg(&mr->ib, NULL), 0);
}

enum srdma_mem_why srdma_test_remote(const struct srdma_mem_who *who, u32 rkey,
				 u64 va, u64 len, u32 access)
{
	enum srdma_mem_why why;

	local_bh_disable();
	why = srdma_mem_check_remote(who, rkey, va, len, access);
	local_bh_enable();
	return why;
}

enum srdma_mem_why srdma_test_local(const struct srdma_mem_who *who, u32 lkey,
				u64 addr, u32 len, u32 access)
{
	struct srdma_sge sge = { .addr = addr, .length = len, .lkey = lkey };
	enum srdma_mem_why why;

	local_bh_disable();
	why = srdma_mem_check_list(who, &sge, 1, access);
	local_bh_enable();
	return why;
}

enum srdma_mem_why srdma_test_invalidate(const struct srdma_mem_who *who, u32 key,
				     bool by_peer)
{
	enum srdma_mem_why why;

	local_bh_disable();
	why = srdma_mem_invalidate(who, key, by_peer);
	local_bh_enable();
	return why;
}

void srdma_test_fill(struct srdma_test_world *w)
{
	u32 i;

	for (i = 0; i < BYTES; i++)
		*srdma_test_byte_of(w, i) = i * 7 + (i >> 8);
}


/*
 * An access as of another CPU, that a hard interrupt ends in a moment: so it
 * can be waited for on a machine that has one CPU only.
 */
void srdma_test_visit(struct kunit *test, struct srdma_key *key)
{
	struct srdma_test_world *w = test->priv;

	KUNIT_ASSERT_TRUE(test, srdma_key_enter(key, &w->seat));
	w->visited = key;
	w->visiting = true;
	hrtimer_start(&w->visit, ms_to_ktime(5), HRTIMER_MODE_REL_HARD);
}

bool srdma_test_visit_over(const struct srdma_test_world *w)
{
	return !READ_ONCE(w->visiting);
}
