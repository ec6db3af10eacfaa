/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The receiving part of the send engine: responses, timeouts, completions.
 */
#ifndef SRDMA_RESPONSE_H
#define SRDMA_RESPONSE_H

#include <linux/types.h>

#include "objects/qp.h"

int srdma_response_hear(struct srdma_qp *qp, u64 now, int budget);
void srdma_response_timeout(struct srdma_qp *qp, u64 now);
bool srdma_response_retire_done(struct srdma_qp *qp);

/* The same; most of the time nothing is. */
static inline bool srdma_response_retire(struct srdma_qp *qp)
{
	if (qp->qpt == SRDMA_QPT_RC && !srdma_rc_req_may_retire(&qp->req.rc))
		return false;
	return srdma_response_retire_done(qp);
}

#endif
