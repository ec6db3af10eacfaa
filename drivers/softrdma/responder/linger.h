/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Acknowledges that wait for the program's answer.
 */
#ifndef SRDMA_LINGER_H
#define SRDMA_LINGER_H

#include "objects/qp.h"

struct srdma_rc_resp_burst;

void srdma_linger_init(struct srdma_qp *qp);

/* All are called by the receive engine, or while it is stopped. */
bool srdma_linger_is_worthwhile(struct srdma_qp *qp, u8 posted);
void srdma_linger_begin(struct srdma_qp *qp,
			const struct srdma_rc_resp_burst *ack);
void srdma_linger_look(struct srdma_qp *qp);
bool srdma_linger_end(struct srdma_qp *qp);
void srdma_linger_again(struct srdma_qp *qp);

/* How many requests the program has posted: the lowest bits. */
static inline u8 srdma_linger_posted(const struct srdma_qp *qp)
{
	return srdma_ring_load(&qp->sq.ring, qp->sq.ring.producer);
}

/* Does one wait, or has one since the engine ran? */
static inline bool srdma_linger_any(const struct srdma_qp *qp)
{
	return qp->rider.until;
}

#endif
