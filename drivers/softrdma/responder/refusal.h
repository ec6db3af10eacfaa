/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests of a peer that are refused, and receive requests that fail: the
 * reason.
 */
#ifndef SRDMA_REFUSAL_H
#define SRDMA_REFUSAL_H

#include <rdma/ib_verbs.h>

#include "proto/packet.h"
#include "proto/rc_resp.h"

struct srdma_qp;

void srdma_refusal_of_access(struct srdma_qp *qp, const struct srdma_pkt *pkt,
			     const struct srdma_rc_resp_act *act);
void srdma_refusal_of_request(struct srdma_qp *qp, const struct srdma_pkt *pkt,
			      const struct srdma_rc_resp_act *act);
void srdma_refusal_of_read(struct srdma_qp *qp,
			   const struct srdma_rc_resp_burst *burst);
u16 srdma_refusal_of_receive(struct srdma_qp *qp, const struct srdma_pkt *pkt,
			     const struct srdma_rc_resp_act *act,
			     enum ib_wc_status status);

#endif
