/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Receives that user space posts to a queue pair in the error state.
 */
#ifndef SRDMA_DRAIN_H
#define SRDMA_DRAIN_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>

struct srdma_qp;

/**
 * struct srdma_drain - the queue pairs of a device that are looked after
 * @lock: guards the others, and srdma_qp.drain_entry; taken from any context but
 *	interrupts
 * @qps: queue pairs in the error state; the one looked at longest ago is first
 * @timer: looks at them
 * @ticking: @timer is armed, or its callback is going to arm it
 */
struct srdma_drain {
	spinlock_t lock;
	struct list_head qps;
	struct hrtimer timer;
	bool ticking;
};

void srdma_drain_init(struct srdma_drain *drain);
void srdma_drain_uninit(struct srdma_drain *drain);

void srdma_drain_add(struct srdma_qp *qp);
void srdma_drain_del(struct srdma_qp *qp);

#endif
