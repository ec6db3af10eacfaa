// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester of a QP: creation, destruction, and changes by verbs.
 */
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "posting/doorbell.h"
#include "requester/requester.h"
#include "requester/send.h"
#include "requester/store.h"
#include "wire/path.h"

/* Most bytes in flight on a path of short round trips; the window adapts below. */
#define NEAR_INFLIGHT	SZ_2M

/*
 * On a long path as much as it holds. This takes no memory of the QP: a retry reads
 * the payload again from the program's buffers. But a queue in which an skb belongs
 * to nobody (netem, fq) may hold all of it. So the bound is a part of the memory of
 * this host, as it is for what waits to be received (backlog.c).
 */
#define FAR_PART	64
#define FAR_MIN		SZ_64M
#define FAR_MAX		SZ_1G

/*
 * And to begin with: so that many connections that begin at once do not fill
 * the queue of an interface with whole windows. A quarter of it makes a full
 * train.
 */
#define START_INFLIGHT	SZ_256K

/*
 * And until the peer has answered for the first time: of many connections that
 * start together, the last one must get its first answer before its retries are
 * used up. Until that answer they take the least time that they may. A READ that is
 * longer begins with so much.
 */
#define FIRST_INFLIGHT	SZ_64K

static enum hrtimer_restart timer_fired(struct hrtimer *timer)
{
	struct srdma_qp *qp = container_of(timer, struct srdma_qp, req.timer);

	srdma_engine_kick(&qp->send, SRDMA_EVENT_TIMER);
	return HRTIMER_NORESTART;
}

int srdma_requester_init(struct srdma_qp *qp)
{
	struct srdma_requester *req = &qp->req;
	int err;

	err = srdma_store_init(qp);
	if (err)
		return err;
	srdma_loans_init(&req->loans, req->mask + 1);
	srdma_path_init(&req->path);
	srdma_compat_hrtimer_setup(&req->timer, timer_fired,
				   HRTIMER_MODE_ABS_SOFT);
	srdma_engine_init(&qp->send, srdma_send_run, qp->backlog);
	srdma_doorbell_init(qp);
	return 0;
}

/* The engine is stopped, and has lent nothing. */
void srdma_requester_uninit(struct srdma_qp *qp)
{
	struct srdma_requester *req = &qp->req;

	hrtimer_cancel(&req->timer);
	srdma_doorbell_uninit(qp);
	srdma_engine_uninit(&qp->send);
	srdma_path_drop(&req->path);
	if (qp->qpt == SRDMA_QPT_RC)
		kfree(req->rc.mend);
	srdma_store_uninit(qp);
}

static u32 far_inflight(void)
{
	u64 bytes = ((u64)totalram_pages() << PAGE_SHIFT) / FAR_PART;

	return clamp_t(u64, bytes, FAR_MIN, FAR_MAX);
}

static void rc_attrs(const struct srdma_qp *qp, struct srdma_rc_req_attr *attr)
{
	*attr = (struct srdma_rc_req_attr) {
		.psn = qp->attr.sq_psn,
		.mtu = qp->req.mtu,
		.max_inflight = far_inflight(),
		.near_inflight = NEAR_INFLIGHT,
		.start_inflight = START_INFLIGHT,
		.first_inflight = FIRST_INFLIGHT,
		/* With none a READ would wait for ever; one the peer refuses. */
		.max_rd_atomic = max_t(u8, qp->attr.max_rd_atomic, 1),
		.retry_cnt = qp->attr.retry_cnt,
		.rnr_retry = qp->attr.rnr_retry,
		.timeout = qp->attr.timeout,
		.settles = true,
	};
}

/*
 * Posting was refused, but user space had put the requests into the ring: they
 * were never posted. The engine, which is stopped, has taken none of them.
 */
void srdma_requester_forget(struct srdma_qp *qp)
{
	struct srdma_ring *ring = &qp->sq.ring;

	srdma_ring_consume(ring, srdma_ring_filled(ring));
}

/*
 * The same, where the QP has left RTR by itself and what was posted since is no part of
 * them. By the engine.
 */
void srdma_requester_pass_over(struct srdma_qp *qp)
{
	struct srdma_ring *ring = &qp->sq.ring;
	u32 refused;

	/* Pairs with note_refused(): the state was seen. */
	smp_rmb();
	refused = READ_ONCE(qp->req.refused);
	if (likely(!refused))
		return;
	qp->req.refused = 0;
	srdma_ring_consume(ring, min(refused, srdma_ring_filled(ring)));
}

/*
 * Stops the requests that are under way. When this returns, neither they nor
 * receivers with a loan from them touch their memory.
 */
void srdma_requester_halt(struct srdma_qp *qp)
{
	struct srdma_requester *req = &qp->req;

	srdma_loans_call_back(&req->loans);
	if (qp->qpt == SRDMA_QPT_RC)
		return;
	/* They are over now, and what comes back later is of no request. */
	req->lost_sight = req->lent - req->taken_back;
	srdma_uc_req_release_all(&req->uc);
}

/* RTS is entered from RTR. */
void srdma_requester_ready(struct srdma_qp *qp)
{
	struct srdma_requester *req = &qp->req;
	struct srdma_rc_req_attr attr;

	req->mtu = srdma_qp_mtu(qp);
	req->drained = false;
	req->failure.status = SRDMA_ST_OK;
	req->shown_window = 0;
	req->gather.idx = U32_MAX;
	req->place.idx = U32_MAX;
	if (qp->qpt == SRDMA_QPT_RC) {
		kfree(req->rc.mend);
		rc_attrs(qp, &attr);
		srdma_rc_req_init(&req->rc, &attr, req->store, req->stride,
				  req->store_mask);
	} else {
		srdma_uc_req_init(&req->uc, qp->qpt, qp->attr.sq_psn,
				  req->mtu, req->store, req->stride,
				  req->store_mask);
	}
}

/* Attributes changed in a state that has a requester. */
void srdma_requester_update(struct srdma_qp *qp)
{
	struct srdma_rc_req_attr attr;

	if (qp->qpt != SRDMA_QPT_RC)
		return;
	rc_attrs(qp, &attr);
	srdma_rc_req_update(&qp->req.rc, &attr);
}

/* What only the engine knows; the state is filled in. */
void srdma_requester_query(const struct srdma_qp *qp, struct ib_qp_attr *attr)
{
	const struct srdma_requester *req = &qp->req;

	attr->sq_draining = attr->qp_state == IB_QPS_SQD &&
			    !READ_ONCE(req->drained);
	if (attr->qp_state >= IB_QPS_RTS)
		attr->sq_psn = qp->qpt == SRDMA_QPT_RC ?
			       READ_ONCE(req->rc.max_psn) :
			       READ_ONCE(req->uc.psn);
}

/* SQD is entered or left for RTS. */
void srdma_requester_drain(struct srdma_qp *qp, bool drain)
{
	WRITE_ONCE(qp->req.drained, false);
	if (qp->qpt == SRDMA_QPT_RC)
		srdma_rc_req_drain(&qp->req.rc, drain);
	else
		srdma_uc_req_drain(&qp->req.uc, drain);
}

void srdma_requester_reset(struct srdma_qp *qp)
{
	struct srdma_requester *req = &qp->req;

	hrtimer_cancel(&req->timer);
	req->timer_at = 0;
	req->refused = 0;
	req->fetched = 0;
	srdma_path_drop(&req->path);
	srdma_engine_clear(&qp->send);
	srdma_ring_reset(&qp->sq.ring);
}
