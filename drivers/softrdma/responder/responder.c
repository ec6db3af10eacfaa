// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder of a QP: creation, destruction, and changes by verbs.
 */
#include "base/bounds.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "posting/srq.h"
#include "responder/drain.h"
#include "responder/execute.h"
#include "responder/hold.h"
#include "responder/linger.h"
#include "responder/responder.h"
#include "responder/wait.h"
#include "wire/path.h"

static u32 max_rq_sge(const struct srdma_qp *qp)
{
	return qp->srq ? qp->srq->rq.max_sge : qp->rq.max_sge;
}

int srdma_responder_init(struct srdma_qp *qp)
{
	struct srdma_responder *resp = &qp->resp;

	resp->rwqe = kzalloc(srdma_rwqe_size(max_rq_sge(qp)), SRDMA_GFP);
	if (!resp->rwqe)
		return -ENOMEM;
	srdma_path_init(&resp->path);
	srdma_hold_init(qp);
	srdma_engine_init(&qp->recv, srdma_execute_run, qp->backlog);
	return 0;
}

/* What the protocol state of a RC QP points to. */
static void free_state(struct srdma_qp *qp)
{
	if (qp->qpt != SRDMA_QPT_RC)
		return;
	kfree(qp->resp.rc.mend);
	kfree(qp->resp.rc.res);
}

/* The engine is stopped. */
void srdma_responder_uninit(struct srdma_qp *qp)
{
	struct srdma_responder *resp = &qp->resp;

	srdma_drain_del(qp);
	srdma_hold_clear(qp);
	srdma_wait_clear(qp);
	srdma_engine_uninit(&qp->recv);
	srdma_path_drop(&resp->path);
	free_state(qp);
	kfree(resp->rwqe);
}

/* RTR is entered; @res holds max_dest_rd_atomic slots and becomes ours. */
void srdma_responder_ready(struct srdma_qp *qp, struct srdma_rc_res *res)
{
	struct srdma_responder *resp = &qp->resp;
	struct srdma_rc_resp_attr attr = {
		.psn = qp->attr.rq_psn,
		.mtu = srdma_qp_mtu(qp),
		.min_rnr_timer = qp->attr.min_rnr_timer,
	};

	resp->mtu = attr.mtu;
	resp->established = false;
	srdma_linger_init(qp);
	free_state(qp);
	if (qp->qpt == SRDMA_QPT_RC)
		srdma_rc_resp_init(&resp->rc, &attr, res,
				   qp->attr.max_dest_rd_atomic);
	else
		srdma_uc_resp_init(&resp->uc, attr.psn, attr.mtu);
}

void srdma_responder_update(struct srdma_qp *qp)
{
	if (qp->qpt == SRDMA_QPT_RC)
		srdma_rc_resp_update(&qp->resp.rc, qp->attr.min_rnr_timer);
}

/* What only the engine knows; the state is filled in. */
void srdma_responder_query(const struct srdma_qp *qp, struct ib_qp_attr *attr)
{
	const struct srdma_responder *resp = &qp->resp;

	if (attr->qp_state >= IB_QPS_RTR)
		attr->rq_psn = qp->qpt == SRDMA_QPT_RC ?
			       READ_ONCE(resp->rc.epsn) :
			       READ_ONCE(resp->uc.epsn);
}

void srdma_responder_reset(struct srdma_qp *qp)
{
	srdma_drain_del(qp);
	srdma_hold_clear(qp);
	srdma_wait_clear(qp);
	srdma_engine_clear(&qp->recv);
	srdma_path_drop(&qp->resp.path);
	qp->resp.has_rwqe = false;
	qp->resp.last_wqe = false;
}
