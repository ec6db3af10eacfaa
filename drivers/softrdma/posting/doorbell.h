/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Doorbells: whether a posted request is sent at once, or waits for the next
 * ones.
 */
#ifndef SRDMA_DOORBELL_H
#define SRDMA_DOORBELL_H

#include "objects/qp.h"

void srdma_doorbell_init(struct srdma_qp *qp);
void srdma_doorbell_uninit(struct srdma_qp *qp);
void srdma_doorbell_kick(struct srdma_qp *qp, struct srdma_engine *engine);
void srdma_doorbell_ring(struct srdma_qp *qp);
void srdma_doorbell_flush(struct srdma_qp *qp);
void srdma_doorbell_watch_rider(struct srdma_qp *qp, u64 ns);
void srdma_doorbell_take(struct srdma_qp *qp, u64 now);

/* A response must not wait for further requests. */
static inline void srdma_doorbell_peer_asks(struct srdma_doorbell *bell)
{
	if (READ_ONCE(bell->row))
		WRITE_ONCE(bell->row, 0);
}

#endif
