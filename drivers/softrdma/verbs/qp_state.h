/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How the verbs change the state of a queue pair.
 */
#ifndef SRDMA_QP_STATE_H
#define SRDMA_QP_STATE_H

struct srdma_qp;

void srdma_qp_begin(struct srdma_qp *qp);
void srdma_qp_silence(struct srdma_qp *qp);

#endif
