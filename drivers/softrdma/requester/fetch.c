// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work requests are taken from the ring of a send queue, decoded, and handed to the
 * protocol core. A rule may decide that one fails.
 */
#include "objects/device.h"
#include "objects/effects.h"
#include "objects/qp.h"
#include "observe/trace.h"
#include "requester/failure.h"
#include "requester/fetch.h"
#include "requester/response.h"
#include "requester/store.h"

static bool store_is_full(const struct srdma_qp *qp)
{
	return srdma_qp_is_rc(qp) ? srdma_rc_req_full(&qp->req.rc) :
				    srdma_uc_req_full(&qp->req.uc);
}

static void push(struct srdma_qp *qp)
{
	if (srdma_qp_is_rc(qp))
		srdma_rc_req_push(&qp->req.rc);
	else
		srdma_uc_req_push(&qp->req.uc);
}

/*
 * User space may change the slot at any time: it is copied once and what is
 * decoded is the copy. A kernel consumer's slot was checked when posted.
 */
static enum srdma_wqe_why decode(struct srdma_qp *qp, const void *slot,
				 struct srdma_wqe *wqe)
{
	struct srdma_requester *req = &qp->req;
	enum srdma_wqe_why why = SRDMA_WQE_OK;

	if (qp->is_user) {
		memcpy(req->slot, slot, qp->sq.slot_bytes);
		why = srdma_wqe_decode(wqe, req->slot, qp->sq.slot_bytes,
				       &qp->sq.limits);
	} else {
		memcpy(wqe, slot, req->stride);
	}
	if (qp->sig_all)
		wqe->msg.flags |= SRDMA_WR_SIGNALED;
	return why;
}

/*
 * Applies a rule to a request that was just taken. Not inlined: with a rule set,
 * speed does not matter.
 */
static noinline enum srdma_status ask_rules_for_request(struct srdma_qp *qp,
					    const struct srdma_wqe *wqe)
{
	struct srdma_subject what = {
		.qpn = qp->qpn,
		.pid = qp->owner_pid,
		.peer = srdma_qp_has_peer(qp) ? &qp->av.dst : NULL,
		.op = wqe->msg.op,
	};
	struct srdma_order order;

	if (!srdma_rules_ask(&qp->dev->rules, SRDMA_NL_POINT_WR, &what, &order))
		return SRDMA_ST_OK;
	if (order.action == SRDMA_NL_ACT_STATUS)
		return order.value;
	srdma_effects_cause(qp->dev, qp, false, &order);
	return SRDMA_ST_OK;
}

/* Why a request that was just taken is not to be executed. */
static enum srdma_status why_not(struct srdma_qp *qp, u32 idx,
				 enum srdma_wqe_why why)
{
	if (why)
		return srdma_wqe_status(why);
	if (srdma_rules_look(&qp->dev->rules, SRDMA_NL_POINT_WR))
		return ask_rules_for_request(qp, srdma_send_wqe(&qp->req, idx));
	return SRDMA_ST_OK;
}

/* Where there is no memory, what is done leaves its slots: nothing else may look again. */
static noinline bool make_store_room(struct srdma_qp *qp)
{
	return srdma_store_grow(qp) || srdma_response_retire(qp);
}

/**
 * srdma_fetch_requests - take requests from the ring of the send queue
 * @qp: queue pair, whose send engine calls
 * @max: slots to take at most
 *
 * Return: how many were taken.
 */
int srdma_fetch_requests(struct srdma_qp *qp, int max)
{
	struct srdma_ring *ring = &qp->sq.ring;
	struct srdma_requester *req = &qp->req;
	u32 filled = srdma_ring_filled(ring);
	enum srdma_status status;
	enum srdma_wqe_why why;
	u32 idx;
	int n;

	for (n = 0; n < max && req->fetched < filled; n++) {
		if (store_is_full(qp)) {
			if (!make_store_room(qp))
				break;
			/* Slots may have been given back, in front of these. */
			filled = srdma_ring_filled(ring);
		}
		idx = srdma_fetch_head(qp);
		why = decode(qp, srdma_ring_slot(ring, ring->index +
						 req->fetched),
			     srdma_send_wqe(req, idx));
		req->fetched++;
		trace_srdma_wqe_fetch(qp, srdma_send_wqe(req, idx));
		push(qp);
		status = why_not(qp, idx, why);
		if (status)
			srdma_failure_of_slot(qp, idx, status,
					      why ?: SRDMA_ERR_RULE);
	}
	return n;
}
