/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Engines that stall, for tests of what may happen meanwhile, where the kernel can
 * inject faults (CONFIG_FAULT_INJECTION); elsewhere the questions are constants,
 * and nothing is left of them. What users want to go wrong is in observe/rule.h.
 * Documentation/softrdma/internals/debug-kernel.rst says more.
 */
#ifndef SRDMA_STALL_H
#define SRDMA_STALL_H

#include <linux/types.h>

/* How an engine may stall. */
enum srdma_stall {
	SRDMA_STALL_DEFER,	/* an engine is left to softirq */
	SRDMA_STALL_HOLD,	/* an engine is left alone with its packets */
	SRDMA_STALL_NR,
};

#ifdef CONFIG_FAULT_INJECTION
bool srdma_stall(enum srdma_stall stall);
void srdma_stall_init(void);
void srdma_stall_exit(void);
#else
static inline bool srdma_stall(enum srdma_stall stall)
{
	return false;
}

static inline void srdma_stall_init(void) {}
static inline void srdma_stall_exit(void) {}
#endif

#endif
