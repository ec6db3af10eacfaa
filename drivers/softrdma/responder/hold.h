/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests that came behind a hole, until it is filled.
 */
#ifndef SRDMA_HOLD_H
#define SRDMA_HOLD_H

#include <linux/skbuff.h>

#include "objects/qp.h"

void srdma_hold_init(struct srdma_qp *qp);
void srdma_hold_clear(struct srdma_qp *qp);

/* All others are called by the receive engine. */
bool srdma_hold_provide(struct srdma_qp *qp);
bool srdma_hold_back(struct srdma_qp *qp, struct sk_buff *skb,
		     const struct srdma_pkt *pkt);
struct sk_buff *srdma_hold_take(struct srdma_qp *qp);
void srdma_hold_taken(struct srdma_qp *qp, u32 psn);
void srdma_hold_end_of(struct srdma_qp *qp);
void srdma_hold_settle(struct srdma_qp *qp);
void srdma_hold_drop(struct srdma_qp *qp);
void srdma_hold_time(struct srdma_qp *qp);
void srdma_hold_wake_at(struct srdma_qp *qp, u64 at);

/* Is anything held? */
static inline bool srdma_hold_any(const struct srdma_qp *qp)
{
	return skb_queue_len(&qp->resp.held);
}

#endif
