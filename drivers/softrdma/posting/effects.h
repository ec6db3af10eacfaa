/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What rules want done to a QP and its queues, done.
 */
#ifndef SRDMA_POSTING_EFFECTS_H
#define SRDMA_POSTING_EFFECTS_H

struct srdma_qp;

void srdma_effects_run(struct srdma_qp *qp);

#endif
