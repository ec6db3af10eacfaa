/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Faults on demand, where the kernel offers them (CONFIG_FAULT_INJECTION);
 * elsewhere the questions are constants, and nothing is left of them.
 * Documentation/softrdma/guide/faults.rst says how to use them.
 */
#ifndef SRDMA_FAULT_H
#define SRDMA_FAULT_H

#include <linux/types.h>

/* What can be made to go wrong. */
enum srdma_fault {
	SRDMA_FAULT_RX,		/* what arrived, or was looped, is lost */
	SRDMA_FAULT_MEMORY,	/* no memory for an skb */
	SRDMA_FAULT_ROUTE,	/* no way to the peer */
	SRDMA_FAULT_DEFER,	/* an engine is left to softirq */
	SRDMA_FAULT_HOLD,	/* an engine is left alone with its packets */
	SRDMA_FAULT_NR,
};

#ifdef CONFIG_FAULT_INJECTION
bool srdma_fault(enum srdma_fault fault);
void srdma_fault_init(void);
void srdma_fault_exit(void);
#else
static inline bool srdma_fault(enum srdma_fault fault)
{
	return false;
}

static inline void srdma_fault_init(void) {}
static inline void srdma_fault_exit(void) {}
#endif

#endif
