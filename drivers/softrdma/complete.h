/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The half of the send engine that hears: responses, timeouts, completions.
 */
#ifndef SRDMA_COMPLETE_H
#define SRDMA_COMPLETE_H

#include <linux/types.h>

struct srdma_qp;

int srdma_complete_responses(struct srdma_qp *qp, u64 now, int budget);
void srdma_complete_timeout(struct srdma_qp *qp, u64 now);
bool srdma_complete_requests(struct srdma_qp *qp);

#endif
