/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The state of a queue pair, and what a state allows.
 */
#ifndef SRDMA_QP_STATE_H
#define SRDMA_QP_STATE_H

#include <linux/bits.h>
#include <rdma/ib_verbs.h>

#include "qp.h"

/* What may be done in a state (10.3.1). */
enum srdma_qp_may {
	SRDMA_MAY_POST_RECV = BIT(0),	/* the consumer may post receives */
	SRDMA_MAY_POST_SEND = BIT(1),	/* the consumer may post sends */
	SRDMA_MAY_RECEIVE = BIT(2),	/* requests are executed */
	SRDMA_MAY_SEND = BIT(3),	/* requests are sent */
	SRDMA_MAY_FLUSH_SQ = BIT(4),	/* sends complete as flushed */
	SRDMA_MAY_FLUSH_RQ = BIT(5),	/* receives complete as flushed */
};

/* Bits of enum srdma_qp_may, by state. */
extern const u8 srdma_qp_state_allows[IB_QPS_ERR + 1];

/* Any thread may ask; the state may change right after. */
static inline bool srdma_qp_may(const struct srdma_qp *qp,
				enum srdma_qp_may what)
{
	return srdma_qp_state_allows[READ_ONCE(qp->state)] & what;
}

u32 srdma_qp_mtu(const struct srdma_qp *qp);
void srdma_qp_set_error(struct srdma_qp *qp);
void srdma_qp_set_send_error(struct srdma_qp *qp);
void srdma_qp_fail(struct srdma_qp *qp, enum ib_event_type event);
void srdma_qp_begin(struct srdma_qp *qp);
void srdma_qp_silence(struct srdma_qp *qp);

#endif
