/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Completion queues: how completions get to their consumers.
 */
#ifndef SRDMA_COMPLETION_H
#define SRDMA_COMPLETION_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "engine/upcall.h"
#include "queues/ring.h"

/* Which completions raise the event that a consumer asked for. */
enum srdma_cq_arm {
	SRDMA_CQ_UNARMED,
	SRDMA_CQ_ARMED_SOLICITED,
	SRDMA_CQ_ARMED_ANY,
};

/* Reasons to call a kernel consumer's handlers. */
enum srdma_cq_upcall {
	SRDMA_CQ_UPCALL_COMP,
	SRDMA_CQ_UPCALL_ERR,
};

/* May an entry be added? */
enum srdma_cq_health {
	SRDMA_CQ_WELL,		/* where there is room */
	SRDMA_CQ_FULL,		/* a rule says that there is none */
	SRDMA_CQ_OVERRUN,	/* one was lost: nothing is added any more */
};

/**
 * struct srdma_cq - a completion queue
 * @ib: the core's part
 * @lock: guards @ring, @arm and @health; taken from any context
 * @ring: struct ib_uverbs_wc for user space, struct ib_wc for the kernel
 * @most: upper bound on entries not yet consumed, from the index last read; written
 *	under @lock, read by doorbells without it
 * @arm: enum srdma_cq_arm
 * @health: enum srdma_cq_health
 * @resizing: one at a time; taken before @lock
 * @upcall: calls a kernel consumer's handlers; enum srdma_cq_upcall
 */
struct srdma_cq {
	struct ib_cq ib;
	spinlock_t lock;
	struct srdma_ring ring;
	u32 most;
	u8 arm;
	u8 health;
	struct mutex resizing;
	struct srdma_upcall upcall;
};

/* The ring is user space's. */
static inline bool srdma_cq_is_user(const struct srdma_cq *cq)
{
	return cq->ib.uobject;
}

static inline struct srdma_cq *to_scq(struct ib_cq *ib)
{
	return container_of(ib, struct srdma_cq, ib);
}

void srdma_cq_events_init(struct srdma_cq *cq);
u32 srdma_cq_entries(struct srdma_cq *cq);

int srdma_cq_poll(struct ib_cq *ib, int max, struct ib_wc *wc);
int srdma_cq_peek(struct ib_cq *ib, int max);
int srdma_cq_arm(struct ib_cq *ib, enum ib_cq_notify_flags flags);

void srdma_cq_fill(struct srdma_cq *cq);
void srdma_cq_break(struct srdma_cq *cq);
bool srdma_cq_add(struct srdma_cq *cq, const struct ib_wc *wc, bool solicited);

#endif
