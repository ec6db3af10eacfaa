/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Loans: memory of a request under way, lent to a receiver on the same device.
 * The receiver copies from it when it processes the request, which may be
 * never. The sender can take the loan back at any time. After that, it is not
 * copied from any more.
 */
#ifndef SRDMA_LOAN_H
#define SRDMA_LOAN_H

#include <linux/atomic.h>
#include <linux/preempt.h>
#include <linux/types.h>

#include "queues/wqe.h"

struct mem_cgroup;

/* To copy a shorter burst is cheaper than to lend it and to call it back. */
#define SRDMA_LOAN_MIN		2048

/* Low bits of a loan: how many copy from it right now. The rest: its serial. */
#define SRDMA_LOAN_BITS		16
#define SRDMA_LOAN_READERS	((1ULL << SRDMA_LOAN_BITS) - 1)

/**
 * struct srdma_loans - what the requests of a send queue have lent
 * @slot: of each request that is begun, by its index: serial and readers; 0
 *	when it lends nothing. NULL until one is to lend
 * @mask: number of slots - 1
 * @next: serial of the next loan, 48 bits; the send engine's. No two loans, of
 *	whatever QP, have the same
 */
struct srdma_loans {
	atomic64_t *slot;
	u32 mask;
	u64 next;
};

/**
 * struct srdma_loan_offer - what may be lent instead of copied
 * @idx: the request
 * @num_sge: number of its pieces
 * @sge: the pieces
 * @returns: no acknowledge will tell that it was copied: it is to be given back
 * @lent: it was lent
 */
struct srdma_loan_offer {
	u32 idx;
	u32 num_sge;
	const struct srdma_sge *sge;
	bool returns;
	bool lent;
};

void srdma_loans_init(struct srdma_loans *loans, u32 count);
bool srdma_loans_open(struct srdma_loans *loans, struct mem_cgroup *owner);
void srdma_loans_uninit(struct srdma_loans *loans);
u64 srdma_loan_give(struct srdma_loans *loans, u32 idx);
void srdma_loan_call_back(atomic64_t *slot);
void srdma_loans_call_back(struct srdma_loans *loans);

/**
 * srdma_loans_are_open - can loans be given?
 * @loans: of the send queue whose engine the caller owns
 * @owner: memory cgroup that is charged for what this allocates; NULL: none
 */
static inline bool srdma_loans_are_open(struct srdma_loans *loans,
					struct mem_cgroup *owner)
{
	return loans->slot || srdma_loans_open(loans, owner);
}

/* The request is over: what it has lent is not copied from here on. */
static inline void srdma_loan_end(struct srdma_loans *loans, u32 idx)
{
	atomic64_t *slot;

	if (!loans->slot)
		return;
	slot = &loans->slot[idx & loans->mask];
	if (atomic64_read(slot))
		srdma_loan_call_back(slot);
}

/**
 * srdma_loan_enter - begin to copy from what was lent
 * @loans: of the lender, which an RCU section keeps
 * @idx: the request, as passed to srdma_loan_give()
 * @serial: of the loan, as srdma_loan_give() returned it
 *
 * The caller has bottom halves and preemption disabled, and does nothing but
 * copy until it leaves: the lender may be waiting for it.
 *
 * Return: whether the loan stands; then it does until srdma_loan_leave().
 */
static inline bool __must_check srdma_loan_enter(const struct srdma_loans *loans,
						 u32 idx, u64 serial)
{
	/* Pairs with srdma_loans_open(). */
	atomic64_t *slot = smp_load_acquire(&loans->slot);
	s64 old;

	if (!slot)
		return false;
	slot += idx & loans->mask;
	preempt_disable();
	old = atomic64_read(slot);
	do {
		if ((u64)old >> SRDMA_LOAN_BITS != serial) {
			preempt_enable();
			return false;
		}
	} while (!atomic64_try_cmpxchg_acquire(slot, &old, old + 1));
	return true;
}

/* Pairs with the acquire in srdma_loan_call_back(). */
static inline void srdma_loan_leave(const struct srdma_loans *loans, u32 idx)
{
	atomic64_dec_return_release(&loans->slot[idx & loans->mask]);
	preempt_enable();
}

#endif
