/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The responder of a QP, for the verbs.
 */
#ifndef SRDMA_RESPONDER_LIFE_H
#define SRDMA_RESPONDER_LIFE_H

struct ib_qp_attr;
struct srdma_qp;
struct srdma_rc_res;

int srdma_responder_init(struct srdma_qp *qp);
void srdma_responder_uninit(struct srdma_qp *qp);

/* The following only while the engine is stopped. */
void srdma_responder_ready(struct srdma_qp *qp, struct srdma_rc_res *res);
void srdma_responder_update(struct srdma_qp *qp);
void srdma_responder_query(const struct srdma_qp *qp, struct ib_qp_attr *attr);
void srdma_responder_reset(struct srdma_qp *qp);

#endif
