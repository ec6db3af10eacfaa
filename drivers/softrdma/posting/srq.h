/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared receive queues, as responders take from them.
 */
#ifndef SRDMA_SRQ_H
#define SRDMA_SRQ_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "engine/upcall.h"
#include "queues/receive_queue.h"

/**
 * struct srdma_srq - a shared receive queue
 * @ib: the core's part
 * @rq: the requests
 * @mutex: serialises modification
 * @max_wr: most requests; written under @mutex
 * @limit: fewer than this raise an event, once; 0 when disarmed. Written under
 *	@mutex to arm, by the engine that takes a request to disarm
 * @upcall: reports events to a kernel consumer; enum ib_event_type
 */
struct srdma_srq {
	struct ib_srq ib;
	struct srdma_rq rq;
	struct mutex mutex;
	u32 max_wr;
	u32 limit;
	struct srdma_upcall upcall;
};

static inline struct srdma_srq *to_ssrq(struct ib_srq *ib)
{
	return container_of(ib, struct srdma_srq, ib);
}

void srdma_srq_events_init(struct srdma_srq *srq);
void srdma_srq_break(struct srdma_srq *srq);
enum srdma_rq_taken srdma_srq_take(struct srdma_srq *srq,
				   struct srdma_rwqe *out, u32 need);

#endif
