/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Work requests that are written into rings by hand, as no library does. */
#ifndef SRT_SLOTS_H
#define SRT_SLOTS_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include <rdma/softrdma-abi.h>

/* A send slot is as long, or longer; others are shorter. */
#define SLOTS_OF_SENDS	256

/*
 * The ring in whose first slot is a request with @wr_id, which has been posted and
 * has not been overwritten. Its slots have @least bytes or more: that is how send
 * rings are told from others. NULL: there is none.
 */
struct srdma_abi_ring *slots_find(uint64_t wr_id, size_t least);

/* The slot to be filled next, zeroed but for @wr_id. */
void *slots_next(struct srdma_abi_ring *ring, uint64_t wr_id);

/* Posts it. A send queue has to be told of it as well. */
void slots_post(struct srdma_abi_ring *ring);

/* Tell a send queue; 0, or -errno. */
int slots_tell(struct ibv_qp *qp);

#endif
