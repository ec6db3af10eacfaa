/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queue pairs: the verbs.
 */
#ifndef SRDMA_VERBS_QP_H
#define SRDMA_VERBS_QP_H

#include <rdma/ib_verbs.h>

int srdma_qp_create(struct ib_qp *ib, struct ib_qp_init_attr *init,
		    struct ib_udata *udata);
int srdma_qp_query(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);
int srdma_qp_destroy(struct ib_qp *ib, struct ib_udata *udata);
int srdma_qp_modify(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);

#endif
