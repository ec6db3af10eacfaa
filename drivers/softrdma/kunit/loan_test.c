// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit tests of loans: one queue pair of a device copies what another one has
 * lent, or no longer does.
 */
#include "compat/compat.h"
#include "kunit/test_world.h"
#include "memory/loan.h"
#include "objects/qp.h"
#include "wire/loop.h"
#include "wire/packet_in.h"

#define QPN	0x1234
#define LEN	9000

/**
 * struct lending - what is lent, and where it goes
 * @w: memory, its first half lent, its second copied to
 * @mr: region of all of it
 * @qp: the lender
 * @sge: pieces lent
 * @skb: what the borrower has; its loop is filled in
 */
struct lending {
	struct srdma_test_world *w;
	struct srdma_mr *mr;
	struct srdma_qp *qp;
	struct srdma_sge sge;
	struct sk_buff *skb;
};

static void begin(struct kunit *test, struct lending *l)
{
	struct srdma_test_world *w = test->priv;
	struct srdma_loop *loop;

	l->w = w;
	l->mr = srdma_test_make_region(test, &w->pd, 0, ALL_REMOTE);
	l->qp = kunit_kzalloc(test, sizeof(*l->qp), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, l->qp);
	l->qp->state = IB_QPS_RTS;
	l->qp->qpn = QPN;
	l->qp->who = w->who;
	srdma_loans_init(&l->qp->req.loans, 4);
	KUNIT_ASSERT_TRUE(test, srdma_loans_are_open(&l->qp->req.loans, NULL));
	KUNIT_ASSERT_EQ(test, srdma_table_reserve(&w->dev->qps, QPN), 0);
	srdma_table_set(&w->dev->qps, QPN, l->qp);
	l->sge = (struct srdma_sge) {
		.addr = 100, .length = LEN, .lkey = l->mr->key.key,
	};
	l->skb = alloc_skb(SZ_4K, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, l->skb);
	loop = skb_put_zero(l->skb, sizeof(*loop));
	loop->lender = QPN;
	loop->idx = 5;
	loop->num_sge = 1;
	skb_put_data(l->skb, &l->sge, sizeof(l->sge));
	loop->loan = srdma_loan_give(&l->qp->req.loans, 5);
	srdma_test_fill(w);
}

static void end(struct kunit *test, struct lending *l)
{
	srdma_table_set(&l->w->dev->qps, QPN, NULL);
	srdma_table_free(&l->w->dev->qps);
	srdma_loans_uninit(&l->qp->req.loans);
	kfree_skb(l->skb);
	KUNIT_EXPECT_EQ(test, atomic_read(&l->mr->key.gate), 0);
	srdma_test_end_region(test, l->mr);
}

/* Copies @len bytes from @offset on into the second half of the memory. */
static enum srdma_mem_why borrow(struct lending *l, u32 offset, u32 len)
{
	struct srdma_mem_iter to;
	enum srdma_mem_why why;

	local_bh_disable();
	why = srdma_mem_begin_remote(&to, &l->w->who, l->mr->key.key,
				     BYTES / 2, len, IB_ACCESS_REMOTE_WRITE);
	if (!why) {
		why = srdma_loop_place(l->skb, l->w->dev, offset, len, &to);
		srdma_mem_end(&to);
	}
	local_bh_enable();
	return why;
}

static void loan__is_copied_from(struct kunit *test)
{
	u32 i, bad = 0;
	struct lending l;

	begin(test, &l);
	KUNIT_EXPECT_EQ(test, borrow(&l, 1000, LEN - 1000), SRDMA_MEM_OK);
	for (i = 0; i < LEN - 1000; i++)
		bad += *srdma_test_byte_of(l.w, BYTES / 2 + i) !=
		       *srdma_test_byte_of(l.w, 1100 + i);
	KUNIT_EXPECT_EQ(test, bad, 0U);
	KUNIT_EXPECT_EQ(test, borrow(&l, LEN, 1), SRDMA_MEM_GONE);
	/* Of one request there is one loan, however many bursts it is cut to. */
	KUNIT_EXPECT_EQ(test, srdma_loan_give(&l.qp->req.loans, 5),
			srdma_loop_of(l.skb)->loan);
	KUNIT_EXPECT_EQ(test, atomic64_read(&l.qp->req.loans.slot[1]) &
			SRDMA_LOAN_READERS, 0);
	end(test, &l);
}

static void loan__ends(struct kunit *test)
{
	struct srdma_loans *loans;
	struct lending l;
	u64 first;

	begin(test, &l);
	loans = &l.qp->req.loans;
	first = srdma_loop_of(l.skb)->loan;
	srdma_loan_end(loans, 4);
	KUNIT_EXPECT_EQ(test, borrow(&l, 0, 1), SRDMA_MEM_OK);
	srdma_loan_end(loans, 5);
	KUNIT_EXPECT_EQ(test, borrow(&l, 0, 1), SRDMA_MEM_GONE);
	/* The next request in its place lends something else. */
	KUNIT_EXPECT_NE(test, srdma_loan_give(loans, 9), first);
	KUNIT_EXPECT_EQ(test, borrow(&l, 0, 1), SRDMA_MEM_GONE);
	((struct srdma_loop *)l.skb->data)->loan = srdma_loan_give(loans, 9);
	KUNIT_EXPECT_EQ(test, borrow(&l, 0, 1), SRDMA_MEM_OK);
	srdma_loans_call_back(loans);
	KUNIT_EXPECT_EQ(test, borrow(&l, 0, 1), SRDMA_MEM_GONE);
	end(test, &l);
}

/* The first and the last of a queue as well as those between. */
static void loan__ends_whichever_it_is(struct kunit *test)
{
	struct srdma_loans *loans;
	struct lending l;
	u32 i;

	begin(test, &l);
	loans = &l.qp->req.loans;
	for (i = 0; i < 4; i++)
		srdma_loan_give(loans, i);
	srdma_loans_call_back(loans);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, atomic64_read(&loans->slot[i]), 0);
	end(test, &l);
}

static void loan__ends_with_its_lender(struct kunit *test)
{
	struct lending l;

	begin(test, &l);
	l.qp->state = IB_QPS_ERR;
	KUNIT_EXPECT_EQ(test, borrow(&l, 0, 1), SRDMA_MEM_GONE);
	l.qp->state = IB_QPS_SQD;
	KUNIT_EXPECT_EQ(test, borrow(&l, 0, 1), SRDMA_MEM_OK);
	srdma_table_set(&l.w->dev->qps, QPN, NULL);
	KUNIT_EXPECT_EQ(test, borrow(&l, 0, 1), SRDMA_MEM_GONE);
	srdma_table_set(&l.w->dev->qps, QPN, l.qp);
	KUNIT_EXPECT_EQ(test, borrow(&l, 0, 1), SRDMA_MEM_OK);
	end(test, &l);
}

/* The key is looked up when the bytes are wanted. */
static void loan__ends_with_its_region(struct kunit *test)
{
	struct srdma_mr *other;
	struct lending l;

	begin(test, &l);
	other = srdma_test_make_region(test, &l.w->pd, 0, ALL_REMOTE);
	((struct srdma_sge *)(srdma_loop_of(l.skb) + 1))->lkey = other->key.key;
	KUNIT_EXPECT_EQ(test, borrow(&l, 0, 1), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, srdma_test_invalidate(&l.w->who, other->key.key,
						    false), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, borrow(&l, 0, 1), SRDMA_MEM_GONE);
	KUNIT_EXPECT_EQ(test, srdma_test_reg(l.w, other, 0, 0), SRDMA_MEM_OK);
	KUNIT_EXPECT_EQ(test, borrow(&l, 0, 1), SRDMA_MEM_OK);
	srdma_test_end_region(test, other);
	KUNIT_EXPECT_EQ(test, borrow(&l, 0, 1), SRDMA_MEM_GONE);
	end(test, &l);
}

/**
 * struct visit - a copy as of another CPU, that a hard interrupt ends
 * @timer: the interrupt
 * @loans: what is copied from
 * @over: it has ended
 */
struct visit {
	struct hrtimer timer;
	struct srdma_loans *loans;
	bool over;
};

static enum hrtimer_restart leave(struct hrtimer *timer)
{
	struct visit *visit = container_of(timer, struct visit, timer);

	WRITE_ONCE(visit->over, true);
	/* Paired by the enable that it does: entered in the test. */
	preempt_disable();
	srdma_loan_leave(visit->loans, 5);
	return HRTIMER_NORESTART;
}

static void loan__is_waited_for(struct kunit *test)
{
	struct visit *visit = kunit_kzalloc(test, sizeof(*visit), GFP_KERNEL);
	struct lending l;

	KUNIT_ASSERT_NOT_NULL(test, visit);
	begin(test, &l);
	visit->loans = &l.qp->req.loans;
	srdma_compat_hrtimer_setup(&visit->timer, leave, HRTIMER_MODE_REL_HARD);
	KUNIT_ASSERT_TRUE(test, srdma_loan_enter(visit->loans, 5,
						 srdma_loop_of(l.skb)->loan));
	/* The visitor is on another CPU. */
	preempt_enable();
	hrtimer_start(&visit->timer, ms_to_ktime(5), HRTIMER_MODE_REL_HARD);
	srdma_loan_end(visit->loans, 5);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(visit->over));
	KUNIT_EXPECT_EQ(test, atomic64_read(&visit->loans->slot[1]), 0);
	hrtimer_cancel(&visit->timer);
	end(test, &l);
}

static struct kunit_case loan_cases[] = {
	KUNIT_CASE(loan__is_copied_from),
	KUNIT_CASE(loan__ends),
	KUNIT_CASE(loan__ends_whichever_it_is),
	KUNIT_CASE(loan__ends_with_its_lender),
	KUNIT_CASE(loan__ends_with_its_region),
	KUNIT_CASE(loan__is_waited_for),
	{}
};

static struct kunit_suite loan_suite = {
	.name = "softrdma_loan",
	.init = srdma_test_init,
	.exit = srdma_test_exit,
	.test_cases = loan_cases,
};

kunit_test_suite(loan_suite);
