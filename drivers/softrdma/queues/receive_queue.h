/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Receive work queues, of a QP or shared.
 */
#ifndef SRDMA_RECEIVE_QUEUE_H
#define SRDMA_RECEIVE_QUEUE_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "queues/ring.h"
#include "queues/wqe.h"

/**
 * struct srdma_rq - a receive queue
 * @lock: guards all of it; user space adds to @ring without it
 * @ring: struct srdma_abi_recv_wqe with pieces
 * @max_sge: most pieces of one request; constant
 * @taken: requests so far, modulo 2^32
 */
struct srdma_rq {
	spinlock_t lock;
	struct srdma_ring ring;
	u32 max_sge;
	u32 taken;
};

/* What srdma_rq_take() found. */
enum srdma_rq_taken {
	SRDMA_RQ_EMPTY,
	SRDMA_RQ_TAKEN,
	SRDMA_RQ_BAD,		/* taken, but it makes no sense */
	SRDMA_RQ_SHORT,		/* not taken: it has not enough room */
};

int srdma_rq_create(struct srdma_rq *rq, u32 entries, u32 max_sge,
		    struct ib_ucontext *ucontext, struct srdma_abi_map *map);
void srdma_rq_destroy(struct srdma_rq *rq);
void srdma_rq_reset(struct srdma_rq *rq);
int srdma_rq_prepare_resize(struct srdma_rq *rq, struct srdma_ring *ring,
			    u32 entries, struct ib_ucontext *ucontext,
			    struct srdma_abi_map *map);
int srdma_rq_resize(struct srdma_rq *rq, struct srdma_ring *ring);
int srdma_rq_post(struct srdma_rq *rq, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);
enum srdma_rq_taken srdma_rq_take(struct srdma_rq *rq, struct srdma_rwqe *out,
				  u32 need, u32 *left);

#endif
