// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Loans: how the sender lends memory, and how it takes the memory back.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "memory/loan.h"

/* A send queue takes this many serials at a time from those of all. */
#define SERIALS_TAKEN	(1U << 16)

/*
 * 2^48 of them: a million loans in each second of eight years. The first of
 * those taken is not given, so that 0 is that of no loan.
 */
static atomic64_t serials;

static u64 next_serial(struct srdma_loans *loans)
{
	if (!(++loans->next % SERIALS_TAKEN))
		loans->next = (atomic64_add_return(SERIALS_TAKEN, &serials) &
			       (~0ULL >> SRDMA_LOAN_BITS)) + 1;
	return loans->next;
}

/**
 * srdma_loan_give - lend the memory of a request
 * @loans: of the send queue whose engine the caller owns
 * @idx: a request that is under way
 *
 * Return: the serial that a copier must present. All that one request lends is
 * one loan.
 */
u64 srdma_loan_give(struct srdma_loans *loans, u32 idx)
{
	atomic64_t *slot = &loans->slot[idx & loans->mask];
	u64 loan = atomic64_read(slot), serial;

	if (loan)
		return loan >> SRDMA_LOAN_BITS;
	serial = next_serial(loans);
	/* The skb that names it is handed over later, by way of a lock. */
	atomic64_set(slot, serial << SRDMA_LOAN_BITS);
	return serial;
}

/**
 * srdma_loan_call_back - end a loan
 * @slot: the loan's slot
 *
 * When this returns, no CPU copies from the loan any more. A copy under way runs
 * on another CPU, with bottom halves disabled and not preempted, and ends after
 * one burst. So the wait is short, and there is none without such a copy.
 */
void srdma_loan_call_back(atomic64_t *slot)
{
	/* Fully ordered: a later srdma_loan_enter() finds no serial. */
	if (!(atomic64_fetch_and(SRDMA_LOAN_READERS, slot) &
	      SRDMA_LOAN_READERS))
		return;
	/* Pairs with srdma_loan_leave(). */
	while (atomic64_read_acquire(slot))
		cpu_relax();
}

/* All of them; the engine is stopped, or the caller's. */
void srdma_loans_call_back(struct srdma_loans *loans)
{
	u32 i;

	if (!loans->slot)
		return;
	for (i = 0; i <= loans->mask; i++)
		srdma_loan_end(loans, i);
}

/**
 * srdma_loans_init - a send queue that may lend
 * @loans: zeroed
 * @count: requests that can be begun, a power of two
 */
void srdma_loans_init(struct srdma_loans *loans, u32 count)
{
	loans->mask = count - 1;
	loans->next = ~0ULL;
}

/*
 * Before the first loan: most QPs never give one. Not inlined: it is done once.
 * The engine is the caller's.
 */
noinline bool srdma_loans_open(struct srdma_loans *loans,
			       struct mem_cgroup *owner)
{
	gfp_t gfp = GFP_NOWAIT | __GFP_NOWARN | (owner ? __GFP_ACCOUNT : 0);
	struct mem_cgroup *before = set_active_memcg(owner);
	atomic64_t *slot;

	slot = kcalloc(loans->mask + 1, sizeof(*slot), gfp);
	set_active_memcg(before);
	/* Pairs with srdma_loan_enter(), which finds it empty. */
	smp_store_release(&loans->slot, slot);
	return slot;
}

/* No RCU section finds the QP any more. */
void srdma_loans_uninit(struct srdma_loans *loans)
{
	kfree(loans->slot);
}
