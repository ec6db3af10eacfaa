/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The part of the send engine that only datagrams need.
 */
#ifndef SRDMA_DATAGRAM_H
#define SRDMA_DATAGRAM_H

#include "objects/qp.h"

struct srdma_tx;

enum srdma_status srdma_datagram_prepare(struct srdma_qp *qp,
					 struct srdma_wqe *wqe,
					 struct srdma_pkt *hdr,
					 struct srdma_tx *tx);

/* A run of the engine begins: handles that were found before may be gone. */
static inline void srdma_datagram_begin(struct srdma_qp *qp)
{
	if (!srdma_qp_has_peer(qp))
		qp->req.ah = NULL;
}

#endif
