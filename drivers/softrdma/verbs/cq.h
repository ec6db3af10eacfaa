/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Completion queues: the verbs.
 */
#ifndef SRDMA_VERBS_CQ_H
#define SRDMA_VERBS_CQ_H

#include <rdma/ib_verbs.h>

typedef int (*srdma_create_cq_udata_t)(struct ib_cq *ib,
				       const struct ib_cq_init_attr *attr,
				       struct ib_udata *udata);
struct uverbs_attr_bundle;

int srdma_cq_create(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		    struct ib_udata *udata);
int srdma_cq_create_attrs(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs);
#ifdef SRDMA_HAVE_RESIZE_USER_CQ
int srdma_cq_resize(struct ib_cq *ib, unsigned int cqe, struct ib_udata *udata);
#else
int srdma_cq_resize(struct ib_cq *ib, int cqe, struct ib_udata *udata);
#endif
int srdma_cq_destroy(struct ib_cq *ib, struct ib_udata *udata);

#endif
