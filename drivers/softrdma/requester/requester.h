/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The requester of a QP, for the verbs.
 */
#ifndef SRDMA_REQUESTER_LIFE_H
#define SRDMA_REQUESTER_LIFE_H

#include <rdma/ib_verbs.h>

struct srdma_qp;

int srdma_requester_init(struct srdma_qp *qp);
void srdma_requester_uninit(struct srdma_qp *qp);

/* By the engine. */
void srdma_requester_pass_over(struct srdma_qp *qp);

/* The following only while the engine is stopped. */
void srdma_requester_forget(struct srdma_qp *qp);
void srdma_requester_halt(struct srdma_qp *qp);
void srdma_requester_ready(struct srdma_qp *qp);
void srdma_requester_update(struct srdma_qp *qp);
void srdma_requester_query(const struct srdma_qp *qp, struct ib_qp_attr *attr);
void srdma_requester_drain(struct srdma_qp *qp, bool drain);
void srdma_requester_reset(struct srdma_qp *qp);

#endif
