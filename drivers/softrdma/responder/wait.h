/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A request for which no receive request is posted yet.
 */
#ifndef SRDMA_WAIT_H
#define SRDMA_WAIT_H

#include "objects/qp.h"

struct sk_buff;
struct srdma_pkt;

void srdma_wait_clear(struct srdma_qp *qp);

/* All others are called by the receive engine. */
bool srdma_wait_begin(struct srdma_qp *qp, struct sk_buff *skb,
		      const struct srdma_pkt *pkt);
struct sk_buff *srdma_wait_take(struct srdma_qp *qp);
void srdma_wait_wake(struct srdma_qp *qp);

/* Does a request wait, and all that comes behind it in the inbox? */
static inline bool srdma_wait_any(const struct srdma_qp *qp)
{
	return qp->resp.waiting;
}

#endif
