/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Notices: what handlers of kernel consumers are told, with no lock held and
 * never from inside a verb that the consumer called.
 */
#ifndef SRDMA_NOTICE_H
#define SRDMA_NOTICE_H

#include <linux/atomic.h>
#include <linux/llist.h>

struct srdma_notice;

/* Calls handlers; @what: bits of all that was left since the last call. */
typedef void (*srdma_notice_call_t)(struct srdma_notice *notice,
				    unsigned long what);

/**
 * struct srdma_notice - what one object has to tell
 * @node: in the list of the CPU that is to tell it
 * @state: bits of what is to be told; and whether it waits or is being told
 * @call: tells it; constant
 */
struct srdma_notice {
	struct llist_node node;
	atomic_t state;
	srdma_notice_call_t call;
};

void srdma_notice_init(struct srdma_notice *notice, srdma_notice_call_t call);
void srdma_notice_leave(struct srdma_notice *notice, unsigned int what);
void srdma_notice_stop(struct srdma_notice *notice);

void srdma_notices_init(void);
void srdma_notices_exit(void);

#endif
