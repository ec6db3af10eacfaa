// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Effects of rules on a QP and its queues (objects/effects.h). The owner of its
 * send engine executes them: meanwhile neither the QP nor its queues can go
 * away.
 */
#include "objects/effects.h"
#include "objects/qp.h"
#include "observe/rule.h"
#include "posting/completion.h"
#include "posting/effects.h"
#include "posting/srq.h"

static void break_qp(struct srdma_qp *qp, enum srdma_nl_action action,
		     struct srdma_cq *cq)
{
	switch (action) {
	case SRDMA_NL_ACT_QP_FATAL:
		srdma_qp_fail(qp, IB_EVENT_QP_FATAL, SRDMA_ERR_FLUSH_RULE);
		return;
	case SRDMA_NL_ACT_LAST_WQE:
		/* With an SRQ the receive engine raises it. */
		if (!qp->srq)
			srdma_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
		break;
	case SRDMA_NL_ACT_CQ_OVERRUN:
		srdma_cq_fill(cq);
		return;
	case SRDMA_NL_ACT_CQ_ERROR:
		srdma_cq_break(cq);
		break;
	case SRDMA_NL_ACT_SRQ_ERROR:
		if (qp->srq)
			srdma_srq_break(qp->srq);
		break;
	default:
		break;
	}
	srdma_qp_set_error(qp, SRDMA_ERR_FLUSH_RULE);
}

/* The send engine is the caller's. */
void srdma_effects_run(struct srdma_qp *qp)
{
	unsigned long due = xchg(&qp->effects, 0);
	unsigned int i;

	for_each_set_bit(i, &due, 2 * SRDMA_EFFECT_RECEIVES)
		break_qp(qp, SRDMA_NL_ACT_QP_ERROR + i % SRDMA_EFFECT_RECEIVES,
			 i < SRDMA_EFFECT_RECEIVES ? qp->send_cq :
						     qp->recv_cq);
}
