/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Receives that user space posts to a queue pair in the error state.
 */
#ifndef SRDMA_DRAIN_H
#define SRDMA_DRAIN_H

struct srdma_drain;
struct srdma_qp;

void srdma_drain_init(struct srdma_drain *drain);
void srdma_drain_uninit(struct srdma_drain *drain);

void srdma_drain_add(struct srdma_qp *qp);
void srdma_drain_del(struct srdma_qp *qp);

#endif
