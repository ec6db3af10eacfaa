/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Posting by kernel consumers.
 */
#ifndef SRDMA_POST_H
#define SRDMA_POST_H

#include <rdma/ib_verbs.h>

struct srdma_qp;

int srdma_post_send(struct srdma_qp *qp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr);

#endif
