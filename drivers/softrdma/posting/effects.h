/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Effects of rules on a QP and its queues.
 */
#ifndef SRDMA_POSTING_EFFECTS_H
#define SRDMA_POSTING_EFFECTS_H

struct srdma_qp;

void srdma_effects_run(struct srdma_qp *qp);

#endif
