/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The half of the send engine that hears: responses, timeouts, completions.
 */
#ifndef SRDMA_COMPLETE_H
#define SRDMA_COMPLETE_H

#include <linux/types.h>

#include "qp.h"

int srdma_complete_responses(struct srdma_qp *qp, u64 now, int budget);
void srdma_complete_timeout(struct srdma_qp *qp, u64 now);
bool srdma_complete_done(struct srdma_qp *qp);

/* The same; most of the time nothing is. */
static inline bool srdma_complete_requests(struct srdma_qp *qp)
{
	if (qp->qpt == SRDMA_QPT_RC && !srdma_rc_req_may_retire(&qp->req.rc))
		return false;
	return srdma_complete_done(qp);
}

#endif
