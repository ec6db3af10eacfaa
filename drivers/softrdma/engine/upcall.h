/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Upcalls: calls of the handlers of kernel consumers, with no lock held and
 * never from inside a verb that the consumer called.
 */
#ifndef SRDMA_UPCALL_H
#define SRDMA_UPCALL_H

#include <linux/atomic.h>
#include <linux/llist.h>

struct srdma_upcall;

/* Calls handlers; @what: bits of all that was left since the last call. */
typedef void (*srdma_upcall_call_t)(struct srdma_upcall *upcall,
				    unsigned long what);

/**
 * struct srdma_upcall - pending calls of one object's handlers
 * @node: in the list of the CPU that is to make them
 * @state: bits of what is pending; and whether it is listed or being called
 * @call: makes the call; constant
 */
struct srdma_upcall {
	struct llist_node node;
	atomic_t state;
	srdma_upcall_call_t call;
};

void srdma_upcall_init(struct srdma_upcall *upcall, srdma_upcall_call_t call);
void srdma_upcall_leave(struct srdma_upcall *upcall, unsigned int what);
void srdma_upcall_stop(struct srdma_upcall *upcall);

void srdma_upcalls_init(void);
void srdma_upcalls_exit(void);

#endif
