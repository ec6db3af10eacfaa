/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Address handles: the verbs.
 */
#ifndef SRDMA_VERBS_AH_H
#define SRDMA_VERBS_AH_H

#include "objects/ah.h"

struct srdma_dev;

int srdma_av_init(struct srdma_av *av, struct srdma_dev *dev, bool is_user,
		  const struct rdma_ah_attr *attr, u32 lqpn, u32 rqpn);
void srdma_av_keep(struct rdma_ah_attr *keep, const struct rdma_ah_attr *attr);

int srdma_ah_create(struct ib_ah *ib, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata);
int srdma_ah_modify(struct ib_ah *ib, struct rdma_ah_attr *attr);
int srdma_ah_query(struct ib_ah *ib, struct rdma_ah_attr *attr);
int srdma_ah_destroy(struct ib_ah *ib, u32 flags);

#endif
