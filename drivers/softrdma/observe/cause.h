/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The cause of a failure: a code, and the numbers that belong to it.
 * softrdma(8) turns it into a sentence.
 */
#ifndef SRDMA_CAUSE_H
#define SRDMA_CAUSE_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>

#include <rdma/softrdma-errors.h>

/**
 * struct srdma_cause - why
 * @code: enum srdma_err
 * @has: which of @fact there are: a bit for each of enum srdma_err_fact
 * @fact: the numbers
 */
struct srdma_cause {
	u16 code;
	u16 has;
	u64 fact[SRDMA_FACT_NR];
};

static_assert(SRDMA_FACT_NR <= 16);

/* A cause with a code, and no number yet. */
static inline void srdma_cause_begin(struct srdma_cause *cause, u16 code)
{
	cause->code = code;
	cause->has = 0;
}

static inline void srdma_cause_add(struct srdma_cause *cause,
				   enum srdma_err_fact fact, u64 value)
{
	cause->has |= BIT(fact);
	cause->fact[fact] = value;
}

#endif
