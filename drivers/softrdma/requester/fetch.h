/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Work requests from the ring of a send queue.
 */
#ifndef SRDMA_FETCH_H
#define SRDMA_FETCH_H

#include "objects/qp.h"

/* The index of the request that is taken next. */
static inline u32 srdma_fetch_head(const struct srdma_qp *qp)
{
	return srdma_qp_is_rc(qp) ? qp->req.rc.head : qp->req.uc.head;
}

int srdma_fetch_requests(struct srdma_qp *qp, int max);

#endif
