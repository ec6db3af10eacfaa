// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rdma_rw contexts: how targets move the data of a request. */
#include <rdma/rw.h>

#include "consumer.h"

#define PIECES	32

/*
 * Moves pieces of end a, from byte @skip of the first on, to or from memory
 * of end b, whose key is of all memory.
 */
static int move(struct world *w, struct pages *p, u32 nents, u32 skip,
		struct buf *there, enum dma_data_direction dir)
{
	struct req *req = req_new(w);
	struct rdma_rw_ctx ctx;
	int ret;

	CHECK(w, req);
	ret = rdma_rw_ctx_init(&ctx, w->a.qp, 1, p->sgt.sgl, nents, skip,
			       there->addr, w->b.pd->unsafe_global_rkey, dir);
	CHECK(w, ret > 0);
	ret = rdma_rw_ctx_post(&ctx, w->a.qp, 1, &req->cqe, NULL) ?:
	      req_expect(w, req, IB_WC_SUCCESS);
	rdma_rw_ctx_destroy(&ctx, w->a.qp, 1, p->sgt.sgl, nents, dir);
	CHECK_EQ(w, 0, ret);
	CHECK_EQ(w, 1, atomic_read(&req->times));
	return 0;
}

static int write_and_read(struct world *w)
{
	static const struct {
		u32 nents;
		u32 skip;
	} cases[] = { { 1, 0 }, { 1, 100 }, { 2, 0 }, { 5, 4095 },
		      { PIECES, 0 }, { PIECES, 77 } };
	struct buf *there = buf_new(&w->b, PIECES * PAGE_SIZE);
	struct pages *p = pages_new(&w->a, PIECES, 0);
	int i, round;

	CHECK(w, there && p);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u32 nents = cases[i].nents, skip = cases[i].skip;
		u32 len = nents * PAGE_SIZE - skip;

		/* Registrations are used again. */
		for (round = 0; round < 3; round++) {
			u32 seed = i * 3 + round;

			pages_fill(p, skip, len, seed);
			memset(there->va, 0, there->len);
			TRY(move(w, p, nents, skip, there, DMA_TO_DEVICE));
			TRY(buf_expect(w, there, 0, len, seed));

			buf_fill(there, 0, len, seed + 100);
			TRY(move(w, p, nents, skip, there, DMA_FROM_DEVICE));
			TRY(pages_expect(w, p, skip, len, seed + 100));
		}
	}
	return exchange(w, 5000, 1);
}

/* The answer goes behind the data, in the same list. */
static int chained_answer(struct world *w)
{
	struct buf *there = buf_new(&w->b, PIECES * PAGE_SIZE);
	struct pages *p = pages_new(&w->a, PIECES, 0);
	struct req *got = req_new(w), *sent = req_new(w);
	struct ib_send_wr answer = {
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct rdma_rw_ctx ctx;
	int i, ret;

	CHECK(w, there && p && got && sent);
	answer.wr_cqe = &sent->cqe;
	for (i = 0; i < 20; i++) {
		u32 len = PIECES * PAGE_SIZE;

		pages_fill(p, 0, len, i);
		TRY(post_recv(&w->b, got, NULL, 0));
		ret = rdma_rw_ctx_init(&ctx, w->a.qp, 1, p->sgt.sgl, PIECES, 0,
				       there->addr,
				       w->b.pd->unsafe_global_rkey,
				       DMA_TO_DEVICE);
		CHECK(w, ret > 0);
		ret = rdma_rw_ctx_post(&ctx, w->a.qp, 1, NULL, &answer) ?:
		      req_expect(w, got, IB_WC_SUCCESS) ?:
		      buf_expect(w, there, 0, len, i) ?:
		      req_expect(w, sent, IB_WC_SUCCESS);
		rdma_rw_ctx_destroy(&ctx, w->a.qp, 1, p->sgt.sgl, PIECES,
				    DMA_TO_DEVICE);
		CHECK_EQ(w, 0, ret);
	}
	return 0;
}

#define RW(context, mrs)						\
	.how = { .type = IB_QPT_RC, .poll = context, .global_rkey = true, \
		 .rw_ctxs = 8, .rw_mrs = mrs }

const struct test readwrite_tests[] = {
	{ "rw__write_and_read__softirq", write_and_read,
	  RW(IB_POLL_SOFTIRQ, false) },
	{ "rw__write_and_read__workqueue", write_and_read,
	  RW(IB_POLL_WORKQUEUE, false) },
	{ "rw__write_and_read__registered", write_and_read,
	  RW(IB_POLL_SOFTIRQ, true) },
	{ "rw__chained_answer", chained_answer, RW(IB_POLL_SOFTIRQ, false) },
	{}
};
