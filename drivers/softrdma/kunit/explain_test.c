// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit tests of what is said of keys that do not serve, those answers too that
 * programs do not get at will.
 */
#include "kunit/test_world.h"
#include "memory/explain.h"

#define READ_4	4

/* What is said of so many bytes from @at on. */
static struct srdma_cause explain(struct srdma_test_world *w, bool remote,
				  u32 key, u64 at, u32 access)
{
	const struct srdma_claim claim = {
		.key = key, .at = at, .bytes = READ_4, .access = access,
	};
	const struct srdma_sge sge = {
		.addr = at, .length = READ_4, .lkey = key,
	};
	struct srdma_cause cause;

	local_bh_disable();
	if (remote)
		srdma_explain_remote(&cause, &w->who, &claim);
	else
		srdma_explain_pieces(&cause, &w->who, &sge, 1, access);
	local_bh_enable();
	return cause;
}

static u16 code_of(struct srdma_test_world *w, bool remote, u32 key, u64 at,
		   u32 access)
{
	return explain(w, remote, key, at, access).code;
}

/* It would be granted now: it was not, when it was asked for. */
static void explain__what_is_in_order_by_now(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_mr *mr;

	mr = srdma_test_make_region(test, &w->pd, 0, IB_ACCESS_REMOTE_READ);
	KUNIT_EXPECT_EQ(test, code_of(w, false, mr->key.key, 0, 0),
			(u16)SRDMA_ERR_LKEY_CHANGING);
	KUNIT_EXPECT_EQ(test, code_of(w, true, mr->key.key, 0,
				      IB_ACCESS_REMOTE_READ),
			(u16)SRDMA_ERR_RKEY_CHANGING);
	srdma_test_end_region(test, mr);
}

static void explain__what_was_invalidated(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_cause cause;
	struct srdma_mr *mr;

	mr = srdma_test_make_region(test, &w->pd, 0, IB_ACCESS_REMOTE_READ);
	KUNIT_EXPECT_EQ(test, srdma_test_invalidate(&w->who, mr->key.key, true),
			SRDMA_MEM_OK);
	cause = explain(w, false, mr->key.key, 0, 0);
	KUNIT_EXPECT_EQ(test, cause.code, (u16)SRDMA_ERR_LKEY_INVALIDATED);
	KUNIT_EXPECT_EQ(test, cause.fact[SRDMA_FACT_BY],
			(u64)SRDMA_BY_REMOTE_INV);
	cause = explain(w, true, mr->key.key, 0, 0);
	KUNIT_EXPECT_EQ(test, cause.code, (u16)SRDMA_ERR_RKEY_INVALIDATED);
	KUNIT_EXPECT_TRUE(test, cause.has & BIT(SRDMA_FACT_AGO));
	srdma_test_end_region(test, mr);
}

static void explain__what_is_wrong_first(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	u32 read = IB_ACCESS_REMOTE_READ, write = IB_ACCESS_REMOTE_WRITE;
	struct srdma_mr *mr, *alien;
	u32 key;

	mr = srdma_test_make_region(test, &w->pd, 0, read);
	alien = srdma_test_make_region(test, &w->alien, 0, read);
	key = mr->key.key;
	KUNIT_EXPECT_EQ(test, code_of(w, true, alien->key.key, BYTES, write),
			(u16)SRDMA_ERR_RKEY_PD);
	KUNIT_EXPECT_EQ(test, code_of(w, true, key, BYTES, write),
			(u16)SRDMA_ERR_RKEY_ACCESS);
	KUNIT_EXPECT_EQ(test, code_of(w, true, key, BYTES - READ_4 + 1, read),
			(u16)SRDMA_ERR_RKEY_RANGE);
	KUNIT_EXPECT_EQ(test, code_of(w, true, key ^ 1, 0, read),
			(u16)SRDMA_ERR_RKEY_NONE);
	srdma_test_end_region(test, mr);
	srdma_test_end_region(test, alien);
	KUNIT_EXPECT_EQ(test, code_of(w, true, key, 0, read),
			(u16)SRDMA_ERR_RKEY_GONE);
	KUNIT_EXPECT_EQ(test, code_of(w, false, key, 0, 0),
			(u16)SRDMA_ERR_LKEY_GONE);
}

/* Whether there is, or was, such a key is its user's to know. */
static void explain__keys_of_others_are_nobodys(struct kunit *test)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_cause cause;
	struct srdma_mr *mr;
	u32 key;

	mr = srdma_test_make_region(test, &w->pd, 0, IB_ACCESS_REMOTE_READ);
	key = mr->key.key;
	w->who.uid = KUIDT_INIT(4711);
	cause = explain(w, true, key, BYTES, IB_ACCESS_REMOTE_WRITE);
	KUNIT_EXPECT_EQ(test, cause.code, (u16)SRDMA_ERR_RKEY_NONE);
	KUNIT_EXPECT_FALSE(test, cause.has & BIT(SRDMA_FACT_LENGTH));
	srdma_test_end_region(test, mr);
	KUNIT_EXPECT_EQ(test, code_of(w, true, key, 0, 0),
			(u16)SRDMA_ERR_RKEY_NONE);
}

static struct kunit_case explain_cases[] = {
	KUNIT_CASE(explain__what_is_in_order_by_now),
	KUNIT_CASE(explain__what_was_invalidated),
	KUNIT_CASE(explain__what_is_wrong_first),
	KUNIT_CASE(explain__keys_of_others_are_nobodys),
	{}
};

static struct kunit_suite explain_suite = {
	.name = "softrdma_explain",
	.init = srdma_test_init,
	.exit = srdma_test_exit,
	.test_cases = explain_cases,
};

kunit_test_suite(explain_suite);
