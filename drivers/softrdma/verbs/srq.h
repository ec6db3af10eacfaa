/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared receive queues: the verbs.
 */
#ifndef SRDMA_VERBS_SRQ_H
#define SRDMA_VERBS_SRQ_H

#include <rdma/ib_verbs.h>

int srdma_srq_create(struct ib_srq *ib, struct ib_srq_init_attr *init,
		     struct ib_udata *udata);
int srdma_srq_modify(struct ib_srq *ib, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int srdma_srq_query(struct ib_srq *ib, struct ib_srq_attr *attr);
int srdma_srq_destroy(struct ib_srq *ib, struct ib_udata *udata);
int srdma_srq_post(struct ib_srq *ib, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr);

#endif
