/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared receive queues.
 */
#ifndef SRDMA_SRQ_H
#define SRDMA_SRQ_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "notice.h"
#include "rq.h"

/**
 * struct srdma_srq - a shared receive queue
 * @ib: the core's part
 * @rq: the requests
 * @mutex: serialises modification
 * @max_wr: most requests; written under @mutex
 * @limit: fewer than this raise an event, once; 0 when disarmed. Written under
 *	@mutex to arm, by whoever takes a request to disarm
 * @notice: tells a kernel consumer that @limit was reached
 */
struct srdma_srq {
	struct ib_srq ib;
	struct srdma_rq rq;
	struct mutex mutex;
	u32 max_wr;
	u32 limit;
	struct srdma_notice notice;
};

static inline struct srdma_srq *to_ssrq(struct ib_srq *ib)
{
	return container_of(ib, struct srdma_srq, ib);
}

int srdma_srq_create(struct ib_srq *ib, struct ib_srq_init_attr *init,
		     struct ib_udata *udata);
int srdma_srq_modify(struct ib_srq *ib, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int srdma_srq_query(struct ib_srq *ib, struct ib_srq_attr *attr);
int srdma_srq_destroy(struct ib_srq *ib, struct ib_udata *udata);
int srdma_srq_post(struct ib_srq *ib, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr);
enum srdma_rq_taken srdma_srq_take(struct srdma_srq *srq,
				   struct srdma_rwqe *out, u32 need);

#endif
