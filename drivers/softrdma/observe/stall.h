/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Engines that stall, for tests of what happens meanwhile. This needs a kernel
 * that can inject faults (CONFIG_FAULT_INJECTION). Elsewhere the checks are
 * constants and compile to nothing. Faults for users are in observe/rule.h.
 * Documentation/softrdma/internals/debug-kernel.rst says more.
 */
#ifndef SRDMA_STALL_H
#define SRDMA_STALL_H

#include <linux/types.h>

/* How an engine may stall. */
enum srdma_stall {
	SRDMA_STALL_DEFER,	/* an engine is left to softirq */
	SRDMA_STALL_HOLD,	/* an engine is left alone with its packets */
	SRDMA_STALL_REPLY,	/* answers that are due are not sent */
	SRDMA_STALL_LINGER,	/* what waits for the program does so for a minute */
	SRDMA_STALL_NR,
};

/* How long that is, ns. */
#define SRDMA_STALL_LINGER_NS	60000000000ull

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
