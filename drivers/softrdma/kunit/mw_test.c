// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit tests of memory windows.
 */
#include "kunit/test_world.h"
#include "verbs/mr.h"
#include "verbs/mw.h"

/* A window as the core allocates it. */
static struct srdma_mw *make_window(struct kunit *test, enum ib_mw_type type)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_mw_handle *handle;

	handle = kunit_kzalloc(test, sizeof(*handle), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, handle);
	handle->ib.device = &w->dev->ib;
	handle->ib.pd = &w->pd;
	handle->ib.type = type;
	KUNIT_ASSERT_EQ(test, srdma_mw_alloc(&handle->ib, NULL), 0);
	KUNIT_EXPECT_EQ(test, handle->ib.rkey, handle->mw->key.key);
	return handle->mw;
}

static void end_window(struct kunit *test, struct srdma_mw *mw)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_mw_handle handle = {
		.ib.device = &w->dev->ib,
		.mw = mw,
	};

	KUNIT_EXPECT_EQ(test, srdma_mw_dealloc(&handle.ib), 0);
}

static enum srdma_mem_why bind(const struct srdma_mem_who *who,
			       struct srdma_mw *mw, struct srdma_mr *mr,
			       u64 addr, u64 length, u32 access)
{
	struct srdma_mw_bind b = {
		.mw_rkey = mw->key.key,
		.new_rkey = mw->key.key + 1,
		.mr_lkey = mr->key.key,
		.addr = addr,
		.length = length,
		.access = access,
	};
	enum srdma_mem_why why;

	local_bh_disable();
	why = srdma_mw_bind(who, &b);
	local_bh_enable();
	return why;
}

static void mw_bind__rules(struct kunit *test)
{
	const u32 r = IB_ACCESS_REMOTE_READ, wr = IB_ACCESS_REMOTE_WRITE;
	struct srdma_test_world *w = test->priv;
	struct srdma_mem_who alien = w->who;
	struct srdma_mr *ro, *rw, *none, *zero;
	struct srdma_mw *one, *two;

	alien.pd = &w->alien;
	none = srdma_test_make_region(test, &w->pd, 0x1000, ALL_REMOTE);
	ro = srdma_test_make_region(test, &w->pd, 0x1000, IB_ACCESS_MW_BIND);
	rw = srdma_test_make_region(test, &w->pd, 0x1000,
			 IB_ACCESS_MW_BIND | IB_ACCESS_LOCAL_WRITE);
	zero = srdma_test_make_region(test, &w->pd, 0x1000,
			   IB_ACCESS_MW_BIND | IB_ZERO_BASED);
	one = make_window(test, IB_MW_TYPE_1);
	two = make_window(test, IB_MW_TYPE_2);
#define REFUSED(why, ...) \
	KUNIT_EXPECT_EQ(test, bind(__VA_ARGS__), SRDMA_MEM_ ## why)

	REFUSED(PD, &alien, one, rw, 0x1000, 8, r);
	REFUSED(PD, &alien, two, rw, 0x1000, 8, r);
	REFUSED(ACCESS, &w->who, two, none, 0x1000, 8, r);
	REFUSED(ACCESS, &w->who, two, ro, 0x1000, 8, wr);
	REFUSED(ACCESS, &w->who, two, ro, 0x1000, 8, IB_ACCESS_REMOTE_ATOMIC);
	REFUSED(ACCESS, &w->who, two, rw, 0x1000, 8, IB_ACCESS_MW_BIND);
	REFUSED(ACCESS, &w->who, two, rw, 0x1000, 8, SRDMA_ACCESS_FLUSH);
	REFUSED(ACCESS, &w->who, one, rw, 0x1000, 8, r | IB_ZERO_BASED);
	REFUSED(ACCESS, &w->who, one, zero, 0, 8, r);
	REFUSED(RANGE, &w->who, two, rw, 0xfff, 8, r);
	REFUSED(RANGE, &w->who, two, rw, 0x1000, BYTES + 1, r);
	REFUSED(RANGE, &w->who, two, rw, 0x1000 + BYTES - 7, 8, r);
	REFUSED(RANGE, &w->who, two, rw, 0x1001, U64_MAX, r);
	REFUSED(RANGE, &w->who, two, rw, U64_MAX, 8, r);
	REFUSED(RANGE, &w->who, two, rw, 0xfff, 8, r | IB_ZERO_BASED);
	REFUSED(LENGTH, &w->who, two, rw, 0x1000, 0, r);
#undef REFUSED
	/* none of which has counted anything */
	srdma_test_end_region(test, rw);
	KUNIT_EXPECT_EQ(test, bind(&w->who, two, zero, 8, 16, r), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, bind(&w->who, two, ro, 0x1000, 8, r),
			SRDMA_MEM_STATE);
	end_window(test, one);
	end_window(test, two);
	srdma_test_end_region(test, none);
	srdma_test_end_region(test, ro);
	srdma_test_end_region(test, zero);
}

/* Taken, as hardware does, and good for nothing. */
static void mw_bind__local_write(struct kunit *test)
{
	const u32 local = IB_ACCESS_LOCAL_WRITE;
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *mr = srdma_test_make_region(test, &w->pd, 0x1000,
						     IB_ACCESS_MW_BIND);
	struct srdma_mw *mw = make_window(test, IB_MW_TYPE_2);

	KUNIT_EXPECT_EQ(test, bind(&w->who, mw, mr, 0x1000, 8, local),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, mw->key.access, 0);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, mw->key.key, 0x1000, 8,
						IB_ACCESS_REMOTE_WRITE),
			SRDMA_MEM_ACCESS);
	end_window(test, mw);
	srdma_test_end_region(test, mr);
}

static void mw__access_within_bounds(struct kunit *test)
{
	const u32 r = IB_ACCESS_REMOTE_READ;
	struct srdma_test_world *w = test->priv;
	struct srdma_mem_who other = w->who;
	struct srdma_mr *mr = srdma_test_make_region(test, &w->pd, 0x1000,
					  IB_ACCESS_MW_BIND);
	struct srdma_mw *mw = make_window(test, IB_MW_TYPE_2);
	struct srdma_mem_iter it;
	u8 byte = 0;
	u32 key;

	other.set = &w->other_set;
	srdma_test_fill(w);
	KUNIT_EXPECT_EQ(test, bind(&w->who, mw, mr, 0x3333, 5000, r),
			SRDMA_MEM_OK);
	key = mw->key.key;
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key, 0x3333, 5000, r),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key, 0x3332, 1, r),
			SRDMA_MEM_RANGE);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key, 0x3333, 5001, r),
			SRDMA_MEM_RANGE);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key, 0x3333, 1,
				     IB_ACCESS_REMOTE_WRITE),
			SRDMA_MEM_ACCESS);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key - 1, 0x3333, 1, r),
			SRDMA_MEM_KEY);
	/* 2B: of this QP only; and the key of a window is no local key */
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&other, key, 0x3333, 1, r),
			SRDMA_MEM_QP);
	KUNIT_EXPECT_EQ(test, srdma_test_invalidate(&other, key, true), SRDMA_MEM_QP);
	KUNIT_EXPECT_EQ(test, srdma_test_local(&w->who, key, 0x3333, 1, 0),
			SRDMA_MEM_KEY);
	local_bh_disable();
	KUNIT_ASSERT_EQ(test, srdma_mem_begin_remote(&it, &w->who, key, 0x4000,
						     1, r), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_mem_read(&it, &byte, 1), SRDMA_MEM_OK);
	srdma_mem_end(&it);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, byte, *srdma_test_byte_of(w, 0x3000));

	/* the region stays as long as the window is bound */
	KUNIT_EXPECT_EQ(test, srdma_mr_dereg(&mr->ib, NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, srdma_test_invalidate(&w->who, mr->key.key, false),
			SRDMA_MEM_BUSY);
	KUNIT_EXPECT_EQ(test, srdma_test_invalidate(&w->who, key, true), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_invalidate(&w->who, key, true), SRDMA_MEM_KEY);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key, 0x3333, 1, r),
			SRDMA_MEM_KEY);

	/* zero based */
	KUNIT_EXPECT_EQ(test, bind(&w->who, mw, mr, 0x3333, 5000,
				   r | IB_ZERO_BASED), SRDMA_MEM_OK);
	key = mw->key.key;
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key, 0, 5000, r), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, key, 0x3333, 1, r),
			SRDMA_MEM_RANGE);
	end_window(test, mw);
	srdma_test_end_region(test, mr);
}

static void mw__type_1_rebinds_and_unbinds(struct kunit *test)
{
	const u32 r = IB_ACCESS_REMOTE_READ;
	struct srdma_test_world *w = test->priv;
	struct srdma_mem_who other = w->who;
	struct srdma_mr *a, *b;
	struct srdma_mw *mw;

	a = srdma_test_make_region(test, &w->pd, 0x1000, IB_ACCESS_MW_BIND);
	b = srdma_test_make_region(test, &w->pd, 0x900000, IB_ACCESS_MW_BIND);
	mw = make_window(test, IB_MW_TYPE_1);
	other.set = &w->other_set;
	KUNIT_EXPECT_EQ(test, bind(&w->who, mw, a, 0x1000, 8, r), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&other, mw->key.key, 0x1000, 8, r),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_invalidate(&w->who, mw->key.key, false),
			SRDMA_MEM_STATE);
	KUNIT_EXPECT_EQ(test, bind(&other, mw, b, 0x900000, 8, r),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, mw->key.key, 0x1000, 8, r),
			SRDMA_MEM_RANGE);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, mw->key.key, 0x900000, 8, r),
			SRDMA_MEM_OK);
	srdma_test_end_region(test, a);
	/* a bind that fails changes nothing */
	KUNIT_EXPECT_EQ(test, bind(&w->who, mw, b, 0, 8, r), SRDMA_MEM_RANGE);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, mw->key.key, 0x900000, 8, r),
			SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, bind(&w->who, mw, b, 0, 0, 0), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, mw->key.key, 0x900000, 8, r),
			SRDMA_MEM_KEY);
	srdma_test_end_region(test, b);
	end_window(test, mw);
}

static void mw_set_drop__takes_all(struct kunit *test)
{
	const u32 r = IB_ACCESS_REMOTE_READ;
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *mr = srdma_test_make_region(test, &w->pd, 0, IB_ACCESS_MW_BIND);
	struct srdma_mem_who other = w->who;
	struct srdma_mw *mw[4];
	u32 i;

	other.set = &w->other_set;
	for (i = 0; i < 4; i++) {
		mw[i] = make_window(test, IB_MW_TYPE_2);
		KUNIT_EXPECT_EQ(test, bind(i == 3 ? &other : &w->who, mw[i],
					   mr, 0, 8, r), SRDMA_MEM_OK);
	}
	end_window(test, mw[1]);
	srdma_mw_set_drop(&w->set);
	KUNIT_EXPECT_TRUE(test, list_empty(&w->set.windows));
	KUNIT_EXPECT_EQ(test, mr->windows, 1U);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&w->who, mw[0]->key.key, 0, 8, r),
			SRDMA_MEM_KEY);
	KUNIT_EXPECT_EQ(test, srdma_test_remote(&other, mw[3]->key.key, 0, 8, r),
			SRDMA_MEM_OK);
	/* they can be bound again */
	KUNIT_EXPECT_EQ(test, bind(&w->who, mw[0], mr, 0, 8, r), SRDMA_MEM_OK);
	end_window(test, mw[0]);
	end_window(test, mw[2]);
	end_window(test, mw[3]);
	srdma_test_end_region(test, mr);
}

/* Each way to take a window from its users waits until they have left. */
static void mw__waits_for_access_under_way(struct kunit *test)
{
	const u32 r = IB_ACCESS_REMOTE_READ;
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *mr = srdma_test_make_region(test, &w->pd, 0,
						     IB_ACCESS_MW_BIND);
	struct srdma_mw *one = make_window(test, IB_MW_TYPE_1);
	struct srdma_mw *two = make_window(test, IB_MW_TYPE_2);

	KUNIT_EXPECT_EQ(test, bind(&w->who, one, mr, 0, 8, r), SRDMA_MEM_OK);
	srdma_test_visit(test, &one->key);
	KUNIT_EXPECT_EQ(test, bind(&w->who, one, mr, 8, 8, r), SRDMA_MEM_OK);
	KUNIT_EXPECT_TRUE(test, srdma_test_visit_over(w));
	srdma_test_visit(test, &one->key);
	end_window(test, one);
	KUNIT_EXPECT_TRUE(test, srdma_test_visit_over(w));

	KUNIT_EXPECT_EQ(test, bind(&w->who, two, mr, 0, 8, r), SRDMA_MEM_OK);
	srdma_test_visit(test, &two->key);
	KUNIT_EXPECT_EQ(test, srdma_test_invalidate(&w->who, two->key.key,
						    true), SRDMA_MEM_OK);
	KUNIT_EXPECT_TRUE(test, srdma_test_visit_over(w));
	KUNIT_EXPECT_EQ(test, bind(&w->who, two, mr, 0, 8, r), SRDMA_MEM_OK);
	srdma_test_visit(test, &two->key);
	srdma_mw_set_drop(&w->set);
	KUNIT_EXPECT_TRUE(test, srdma_test_visit_over(w));
	end_window(test, two);
	srdma_test_end_region(test, mr);
}

static struct kunit_case mw_cases[] = {
	KUNIT_CASE(mw_bind__rules),
	KUNIT_CASE(mw_bind__local_write),
	KUNIT_CASE(mw__access_within_bounds),
	KUNIT_CASE(mw__type_1_rebinds_and_unbinds),
	KUNIT_CASE(mw_set_drop__takes_all),
	KUNIT_CASE(mw__waits_for_access_under_way),
	{}
};

static struct kunit_suite mw_suite = {
	.name = "softrdma_mw",
	.init = srdma_test_init,
	.exit = srdma_test_exit,
	.test_cases = mw_cases,
};

kunit_test_suite(mw_suite);
