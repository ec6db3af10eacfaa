/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An acknowledge that waits for a request to travel with.
 */
#ifndef SRDMA_RIDER_H
#define SRDMA_RIDER_H

#include "objects/qp.h"

struct srdma_outbox;
struct srdma_rc_resp_burst;

/* The receive engine calls these. */
void srdma_rider_put(struct srdma_qp *qp,
		     const struct srdma_rc_resp_burst *ack);
bool srdma_rider_withdraw(struct srdma_qp *qp);

/* The send engine calls these. */
void srdma_rider_send(struct srdma_qp *qp, struct srdma_outbox *outbox);

/* The acknowledge that waits, which is the caller's then; or 0. */
static inline u64 srdma_rider_take(struct srdma_qp *qp)
{
	return unlikely(atomic64_read(&qp->rider.ack)) ?
		atomic64_xchg(&qp->rider.ack, 0) : 0;
}

#endif
