// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How messages leave the queue: complete, failed or flushed; and what the states of a
 * QP other than RTS do to that.
 */
#include <linux/types.h>

#include "psn.h"
#include "rc_req.h"
#include "rc_req_priv.h"

void srdma_rc_req_fail(struct srdma_rc_req *req, u32 idx,
		       enum srdma_status status)
{
	if (srdma_req_dead(req) || srdma_req_behind_fail(req, idx))
		return;
	req->failing = true;
	req->fail_idx = idx;
	req->fail_status = status;
	if (srdma_req_fails_now(req))
		srdma_req_fail_now(req, idx, status);
}

void srdma_rc_req_abort(struct srdma_rc_req *req)
{
	req->mode = SRDMA_REQ_ERROR;
	if (req->failing) {
		req->failing = false;
		req->failed = true;
	}
	srdma_req_rearm(req);
}

void srdma_rc_req_drain(struct srdma_rc_req *req, bool drain)
{
	if (srdma_req_dead(req))
		return;
	req->mode = drain ? SRDMA_REQ_DRAIN : SRDMA_REQ_RUN;
	if (srdma_req_fails_now(req))
		srdma_req_fail_now(req, req->fail_idx, req->fail_status);
	/* Somebody now waits for an acknowledge that no packet has requested. */
	if (drain && req->unasked && srdma_req_outstanding(req) &&
	    req->cur == req->fresh)
		req->probe_due = true;
}

bool srdma_rc_req_drained(const struct srdma_rc_req *req)
{
	return req->mode == SRDMA_REQ_DRAIN && req->una == req->fresh;
}

bool srdma_rc_req_retire(struct srdma_rc_req *req, struct srdma_rc_done *done)
{
	if (req->tail == req->head)
		return false;
	if (req->tail != req->una)
		done->status = SRDMA_ST_OK;
	else if (!srdma_req_dead(req))
		return false;
	else if (req->failed && req->tail == req->fail_idx)
		done->status = req->fail_status;
	else
		done->status = SRDMA_ST_FLUSH;
	done->idx = req->tail++;
	if (done->status != SRDMA_ST_OK)
		req->una = req->tail;
	return true;
}
