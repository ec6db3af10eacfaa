// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Moving bytes, and what comes with them. */
#include <linux/slab.h>

#include "consumer.h"

static const u32 sizes[] = { 0, 1, 3, 1023, 1024, 1025, 4096, 5000, 65536 };

static int send_each_size(struct world *w)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		TRY(exchange(w, sizes[i], i));
	return 0;
}

/* Writes what @here has to @there, and reads it back. */
static int there_and_back(struct world *w, struct buf *here,
			  struct buf *there, u32 len, u32 seed)
{
	u32 rkey = w->b.pd->unsafe_global_rkey;
	struct ib_sge sge = buf_sge(here, 0, len);
	struct req *req = req_new(w);

	buf_fill(here, 0, len, seed);
	TRY(post_rdma(&w->a, req, IB_WR_RDMA_WRITE, &sge, 1, there->addr,
		      rkey));
	TRY(req_expect(w, req, IB_WC_SUCCESS));
	CHECK_EQ(w, IB_WC_RDMA_WRITE, req->wc.opcode);
	TRY(buf_expect(w, there, 0, len, seed));

	memset(here->va, 0, here->len);
	req = req_new(w);
	TRY(post_rdma(&w->a, req, IB_WR_RDMA_READ, &sge, 1, there->addr, rkey));
	TRY(req_expect(w, req, IB_WC_SUCCESS));
	CHECK_EQ(w, IB_WC_RDMA_READ, req->wc.opcode);
	return buf_expect(w, here, 0, len, seed);
}

static int write_read_each_size(struct world *w)
{
	struct buf *here = buf_new(&w->a, 65536);
	struct buf *there = buf_new(&w->b, 65536);
	int i;

	CHECK(w, here && there);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		TRY(there_and_back(w, here, there, sizes[i], i));
	return 0;
}

static int immediate(struct world *w)
{
	struct buf *from = buf_new(&w->a, 100), *to = buf_new(&w->b, 100);
	struct req *got = req_new(w), *sent = req_new(w);
	struct ib_sge from_sge, to_sge;
	struct ib_rdma_wr wr;

	CHECK(w, from && to && sent);
	from_sge = buf_sge(from, 0, 100);
	to_sge = buf_sge(to, 0, 100);
	wr = (struct ib_rdma_wr) {
		.wr.wr_cqe = &sent->cqe,
		.wr.sg_list = &from_sge,
		.wr.num_sge = 1,
		.wr.opcode = IB_WR_SEND_WITH_IMM,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.ex.imm_data = cpu_to_be32(0x12345678),
		.remote_addr = to->addr,
		.rkey = w->b.pd->unsafe_global_rkey,
	};
	TRY(post_recv(&w->b, got, &to_sge, 1));
	TRY(post_list(&w->a, &wr.wr));
	TRY(req_expect(w, got, IB_WC_SUCCESS));
	CHECK_EQ(w, IB_WC_RECV, got->wc.opcode);
	CHECK_EQ(w, IB_WC_WITH_IMM, got->wc.wc_flags);
	CHECK_EQ(w, 0x12345678, be32_to_cpu(got->wc.ex.imm_data));
	TRY(req_expect(w, sent, IB_WC_SUCCESS));

	wr.wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	TRY(post_recv(&w->b, got, &to_sge, 1));
	TRY(post_list(&w->a, &wr.wr));
	TRY(req_expect(w, got, IB_WC_SUCCESS));
	CHECK_EQ(w, IB_WC_RECV_RDMA_WITH_IMM, got->wc.opcode);
	CHECK_EQ(w, IB_WC_WITH_IMM, got->wc.wc_flags);
	CHECK_EQ(w, 100, got->wc.byte_len);
	CHECK(w, got->wc.qp == w->b.qp);
	return req_expect(w, sent, IB_WC_SUCCESS);
}

/* Inline bytes are the consumer's again when the post returns. */
static int inline_data(struct world *w)
{
	struct req *got = req_new(w), *sent = req_new(w);
	struct buf *to = buf_new(&w->b, 128);
	struct buf *from = buf_new(&w->a, 1024);
	const struct ib_send_wr *bad;
	struct ib_send_wr wr = {};
	struct ib_sge sge[2], to_sge;

	CHECK(w, from && to && sent);
	buf_fill(from, 0, 128, 1);
	sge[0] = buf_sge(from, 0, 60);
	sge[1] = buf_sge(from, 60, 68);
	/* There is no key in it, and an address of the CPU's. */
	sge[0].addr = (uintptr_t)from->va;
	sge[1].addr = (uintptr_t)from->va + 60;
	sge[0].lkey = 0xdead;
	sge[1].lkey = 0xbeef;
	to_sge = buf_sge(to, 0, 128);
	TRY(post_recv(&w->b, got, &to_sge, 1));
	TRY(post_send(&w->a, sent, sge, 2, IB_SEND_INLINE));
	memset(from->va, 0, 128);
	TRY(req_expect(w, got, IB_WC_SUCCESS));
	TRY(req_expect(w, sent, IB_WC_SUCCESS));
	TRY(buf_expect(w, to, 0, 128, 1));

	sge[0].length = 1024;
	wr.wr_cqe = &sent->cqe;
	wr.sg_list = sge;
	wr.num_sge = 1;
	wr.opcode = IB_WR_SEND;
	wr.send_flags = IB_SEND_INLINE | IB_SEND_SIGNALED;
	CHECK_EQ(w, -EINVAL, ib_post_send(w->a.qp, &wr, &bad));
	CHECK(w, bad == &wr);
	return 0;
}

static int all_pieces(struct world *w)
{
	struct buf *from = buf_new(&w->a, 32 * 300);
	struct buf *to = buf_new(&w->b, 32 * 300);
	struct req *got = req_new(w), *sent = req_new(w);
	struct ib_sge from_sge[33], to_sge[33];
	struct ib_send_wr wr = {};
	struct ib_recv_wr rwr = {};
	const struct ib_send_wr *bad;
	const struct ib_recv_wr *rbad;
	int i;

	CHECK(w, from && to && sent && got);
	buf_fill(from, 0, 32 * 300, 3);
	/* Pieces of other sizes here and there. */
	for (i = 0; i < 33; i++) {
		from_sge[i] = buf_sge(from, i * 300, 300);
		to_sge[i] = buf_sge(to, i * 200, i == 31 ? 3400 : 200);
	}
	TRY(post_recv(&w->b, got, to_sge, 32));
	TRY(post_send(&w->a, sent, from_sge, 32, 0));
	TRY(req_expect(w, got, IB_WC_SUCCESS));
	TRY(req_expect(w, sent, IB_WC_SUCCESS));
	TRY(buf_expect(w, to, 0, 32 * 300, 3));

	wr.sg_list = from_sge;
	wr.num_sge = 33;
	wr.opcode = IB_WR_SEND;
	CHECK_EQ(w, -EINVAL, ib_post_send(w->a.qp, &wr, &bad));
	CHECK(w, bad == &wr);
	rwr.sg_list = to_sge;
	rwr.num_sge = 33;
	CHECK_EQ(w, -EINVAL, ib_post_recv(w->b.qp, &rwr, &rbad));
	CHECK(w, rbad == &rwr);
	return 0;
}

/* What does not fit is refused, what came before it in the list is taken. */
static int full_queues(struct world *w)
{
	static const int n = DEPTH * 4;
	struct ib_recv_wr *recvs = kcalloc(n, sizeof(*recvs), GFP_KERNEL);
	struct req *got = req_new(w);
	const struct ib_recv_wr *bad = NULL;
	int i, err, taken;

	if (!recvs || !got) {
		kfree(recvs);
		return FAIL(w, "no memory");
	}
	for (i = 0; i < n; i++) {
		recvs[i].wr_cqe = &got->cqe;
		recvs[i].next = i < n - 1 ? &recvs[i + 1] : NULL;
	}
	err = ib_post_recv(w->b.qp, recvs, &bad);
	taken = bad - recvs;
	kfree(recvs);
	CHECK_EQ(w, -ENOMEM, err);
	CHECK(w, bad);
	CHECK(w, taken >= DEPTH && taken < n);
	/* All that were taken are there to be filled. */
	for (i = 0; i < taken; i++) {
		struct req *sent = req_new(w);

		TRY(post_send(&w->a, sent, NULL, 0, 0));
		TRY(req_expect(w, sent, IB_WC_SUCCESS));
		TRY(req_expect(w, got, IB_WC_SUCCESS));
	}
	CHECK_EQ(w, taken, atomic_read(&got->times));
	return 0;
}

/* Of a list that is too long for the queue, what fits is taken. */
static int full_send_queue(struct world *w)
{
	static const int n = DEPTH * 4;
	struct ib_rdma_wr *writes = kcalloc(n, sizeof(*writes), GFP_KERNEL);
	const struct ib_send_wr *bad = NULL;
	struct req *sent = req_new(w);
	int i, err, taken;

	if (!writes || !sent) {
		kfree(writes);
		return FAIL(w, "no memory");
	}
	for (i = 0; i < n; i++) {
		writes[i].wr.wr_cqe = &sent->cqe;
		writes[i].wr.opcode = IB_WR_RDMA_WRITE;
		writes[i].wr.next = i < n - 1 ? &writes[i + 1].wr : NULL;
	}
	err = ib_post_send(w->a.qp, &writes->wr, &bad);
	taken = bad ? rdma_wr(bad) - writes : n;
	kfree(writes);
	CHECK_EQ(w, -ENOMEM, err);
	CHECK(w, taken >= DEPTH && taken < n);
	return exchange(w, 100, 7);
}

/* A READ does not overtake what it must wait for, nor the answer the fence. */
static int unsignalled_and_fenced(struct world *w)
{
	struct buf *here = buf_new(&w->a, 8192);
	struct buf *there = buf_new(&w->b, 8192);
	struct buf *back = buf_new(&w->b, 8192);
	u32 rkey = w->b.pd->unsafe_global_rkey;
	struct req *quiet = req_new(w), *last = req_new(w);
	struct ib_rdma_wr wr[2] = {};
	struct ib_sge sge;
	int i;

	CHECK(w, here && there && back && quiet && last);
	buf_fill(there, 0, 8192, 9);
	sge = buf_sge(here, 0, 8192);
	for (i = 0; i < 2; i++) {
		wr[i].wr.sg_list = &sge;
		wr[i].wr.num_sge = 1;
		wr[i].rkey = rkey;
	}
	/* Read, then write what was read to another place. */
	wr[0].wr.opcode = IB_WR_RDMA_READ;
	wr[0].wr.wr_cqe = &quiet->cqe;
	wr[0].remote_addr = there->addr;
	wr[0].wr.next = &wr[1].wr;
	wr[1].wr.opcode = IB_WR_RDMA_WRITE;
	wr[1].wr.wr_cqe = &last->cqe;
	wr[1].wr.send_flags = IB_SEND_SIGNALED | IB_SEND_FENCE;
	wr[1].remote_addr = back->addr;
	for (i = 0; i < 50; i++) {
		memset(here->va, 0, 8192);
		memset(back->va, 0, 8192);
		TRY(post_list(&w->a, &wr[0].wr));
		TRY(req_expect(w, last, IB_WC_SUCCESS));
		TRY(buf_expect(w, back, 0, 8192, 9));
	}
	CHECK_EQ(w, 0, atomic_read(&quiet->times));
	return 0;
}

#define RC(context)	.how = { .type = IB_QPT_RC, .poll = context }
#define RC_GLOBAL(context)	.how = { .type = IB_QPT_RC, .poll = context, \
					 .global_rkey = true }

const struct test transfer_tests[] = {
	{ "send_each_size__softirq", send_each_size, RC(IB_POLL_SOFTIRQ) },
	{ "send_each_size__workqueue", send_each_size, RC(IB_POLL_WORKQUEUE) },
	{ "send_each_size__unbound_workqueue", send_each_size,
	  RC(IB_POLL_UNBOUND_WORKQUEUE) },
	{ "send_each_size__direct", send_each_size, RC(IB_POLL_DIRECT) },
	{ "write_read_each_size__softirq", write_read_each_size,
	  RC_GLOBAL(IB_POLL_SOFTIRQ) },
	{ "write_read_each_size__workqueue", write_read_each_size,
	  RC_GLOBAL(IB_POLL_WORKQUEUE) },
	{ "write_read_each_size__direct", write_read_each_size,
	  RC_GLOBAL(IB_POLL_DIRECT) },
	{ "immediate", immediate, RC_GLOBAL(IB_POLL_SOFTIRQ) },
	{ "unsignalled_and_fenced", unsignalled_and_fenced,
	  RC_GLOBAL(IB_POLL_SOFTIRQ) },
	{ "inline_data", inline_data,
	  .how = { .type = IB_QPT_RC, .max_inline = 128 } },
	{ "all_pieces", all_pieces, .how = { .type = IB_QPT_RC, .max_sge = 32 } },
	{ "full_queues", full_queues, RC(IB_POLL_WORKQUEUE) },
	{ "full_send_queue", full_send_queue, RC(IB_POLL_WORKQUEUE) },
	{}
};
