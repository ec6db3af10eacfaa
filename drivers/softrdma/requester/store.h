/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory for the requests of a send queue that are begun:
 * srdma_requester.store, which the send engine owns.
 */
#ifndef SRDMA_STORE_H
#define SRDMA_STORE_H

#include <linux/types.h>

struct srdma_qp;

int srdma_store_init(struct srdma_qp *qp);
void srdma_store_uninit(struct srdma_qp *qp);
bool srdma_store_grow(struct srdma_qp *qp);

#endif
