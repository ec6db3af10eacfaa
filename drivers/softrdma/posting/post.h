/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Posting: how work requests get to the engines.
 */
#ifndef SRDMA_POST_H
#define SRDMA_POST_H

#include <rdma/ib_verbs.h>

int srdma_qp_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		       const struct ib_send_wr **bad_wr);
int srdma_qp_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);

#endif
