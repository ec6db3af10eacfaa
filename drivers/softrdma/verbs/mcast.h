/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Multicast: the verbs, and what the interface joins.
 */
#ifndef SRDMA_VERBS_MCAST_H
#define SRDMA_VERBS_MCAST_H

#include <rdma/ib_verbs.h>

struct srdma_dev;

int srdma_mcast_attach(struct ib_qp *ib, union ib_gid *gid, u16 lid);
int srdma_mcast_detach(struct ib_qp *ib, union ib_gid *gid, u16 lid);
void srdma_mcast_follow(struct srdma_dev *dev);

#endif
