// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory for the requests of a send queue that are begun: for a few at first,
 * for more when more are posted at once.
 */
#include <linux/slab.h>

#include "base/bounds.h"
#include "objects/qp.h"
#include "requester/store.h"

/* Requests that can be begun at once; the rest waits in the ring. */
#define MAX_BEGUN	256

/* For how many there is room before more are posted at once. */
#define FIRST_BEGUN	2

/* Moves requests from @tail up to @head to the slots that the core knows. */
static void move_requests(struct srdma_qp *qp, void *store, u32 mask,
			  u32 tail, u32 head)
{
	const struct srdma_requester *req = &qp->req;

	for (; tail != head; tail++)
		memcpy(store + (size_t)(tail & mask) * req->stride,
		       srdma_send_wqe(req, tail), req->stride);
}

/**
 * srdma_store_grow - make room for twice as many requests
 * @qp: queue pair whose send engine the caller owns
 *
 * Not inlined: it is seldom asked for.
 *
 * Return: false where that is not allowed, or there is no memory: without, the
 * rest waits in the ring until some are complete.
 */
noinline bool srdma_store_grow(struct srdma_qp *qp)
{
	struct srdma_requester *req = &qp->req;
	u32 mask = 2 * req->store_mask + 1;
	void *store;

	if (req->store_mask == req->mask)
		return false;
	store = srdma_qp_calloc(qp, mask + 1, req->stride, GFP_NOWAIT | __GFP_NOWARN);
	if (!store)
		return false;
	if (qp->qpt == SRDMA_QPT_RC) {
		move_requests(qp, store, mask, req->rc.tail, req->rc.head);
		srdma_rc_req_move(&req->rc, store, mask);
	} else {
		move_requests(qp, store, mask, req->uc.tail, req->uc.head);
		srdma_uc_req_move(&req->uc, store, mask);
	}
	kfree(req->store);
	req->store = store;
	req->store_mask = mask;
	return true;
}

/**
 * srdma_store_init - room for the first requests
 * @qp: queue pair; its ring is in place
 */
int srdma_store_init(struct srdma_qp *qp)
{
	u32 slots = srdma_ring_entries(&qp->sq.ring) + 1;
	struct srdma_requester *req = &qp->req;

	req->mask = min_t(u32, slots, MAX_BEGUN) - 1;
	req->store_mask = min_t(u32, slots, FIRST_BEGUN) - 1;
	req->stride = qp->is_user ? ALIGN(srdma_wqe_size(&qp->sq.limits), 8) :
				    qp->sq.slot_bytes;
	if (qp->is_user) {
		req->slot = kmalloc(qp->sq.slot_bytes, SRDMA_GFP);
		if (!req->slot)
			return -ENOMEM;
	}
	req->store = srdma_qp_calloc(qp, req->store_mask + 1, req->stride,
				     GFP_KERNEL | __GFP_RETRY_MAYFAIL |
				     __GFP_NOWARN);
	if (req->store)
		return 0;
	kfree(req->slot);
	return -ENOMEM;
}

/* The engine is stopped. */
void srdma_store_uninit(struct srdma_qp *qp)
{
	kfree(qp->req.store);
	kfree(qp->req.slot);
}
