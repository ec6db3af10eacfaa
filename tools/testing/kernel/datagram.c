// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* UD queue pairs, address handles, and receives that are shared. */
#include "consumer.h"

#define GRH	sizeof(struct ib_grh)

static void end_ah(void *arg)
{
	rdma_destroy_ah(arg, RDMA_DESTROY_AH_SLEEPABLE);
}

static int send_to(struct end *e, struct req *req, struct ib_sge *sge,
		   struct ib_ah *ah, u32 qpn)
{
	struct ib_ud_wr wr = {
		.wr.wr_cqe = req ? &req->cqe : NULL,
		.wr.sg_list = sge,
		.wr.num_sge = 1,
		.wr.opcode = IB_WR_SEND,
		.wr.send_flags = IB_SEND_SIGNALED,
		.ah = ah,
		.remote_qpn = qpn,
		.remote_qkey = 0x11111111,
	};

	CHECK(e->w, req);
	if (IS_ERR(ah))
		return FAIL(e->w, "no AH: %ld", PTR_ERR(ah));
	return post_list(e, &wr.wr);
}

/* There by an address handle, and back by one made of what came. */
static int ud_there_and_back(struct world *w)
{
	struct buf *from = buf_new(&w->a, 1024), *to = buf_new(&w->b, 1064);
	struct req *sent = req_new(w), *got = req_new(w);
	struct rdma_ah_attr attr;
	struct ib_sge out, in;
	struct buf *back;
	struct ib_ah *ah;

	CHECK(w, from && to && sent && got);
	buf_fill(from, 0, 1024, 2);
	out = buf_sge(from, 0, 1024);
	in = buf_sge(to, 0, 1064);
	end_ah_attr(&w->a, &w->b, &attr);
	ah = rdma_create_ah(w->a.pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	TRY(post_recv(&w->b, got, &in, 1));
	TRY(send_to(&w->a, sent, &out, ah, w->b.qp->qp_num));
	TRY(world_own(w, end_ah, ah));
	TRY(req_expect(w, sent, IB_WC_SUCCESS));
	TRY(req_expect(w, got, IB_WC_SUCCESS));
	CHECK_EQ(w, 1024 + GRH, got->wc.byte_len);
	CHECK_EQ(w, w->a.qp->qp_num, got->wc.src_qp);
	CHECK(w, got->wc.wc_flags & IB_WC_GRH);
	TRY(buf_expect(w, to, GRH, 1024, 2));

	/* The bytes at the front say whom to answer. */
	ah = ib_create_ah_from_wc(w->b.pd, &got->wc,
				  (struct ib_grh *)to->va, 1);
	out = buf_sge(to, GRH, 900);
	back = buf_new(&w->a, 1064);
	CHECK(w, back);
	in = buf_sge(back, 0, 1064);
	TRY(post_recv(&w->a, got, &in, 1));
	TRY(send_to(&w->b, sent, &out, ah, got->wc.src_qp));
	TRY(world_own(w, end_ah, ah));
	TRY(req_expect(w, sent, IB_WC_SUCCESS));
	TRY(req_expect(w, got, IB_WC_SUCCESS));
	CHECK_EQ(w, 900 + GRH, got->wc.byte_len);
	CHECK_EQ(w, w->b.qp->qp_num, got->wc.src_qp);
	return buf_expect(w, back, GRH, 900, 2);
}

/* Requests keep where they go to, when the handle goes before they do. */
static int ud_handle_gone(struct world *w)
{
	struct buf *from = buf_new(&w->a, 64), *to = buf_new(&w->b, 64 + GRH);
	struct req *sent = req_new(w), *got = req_new(w);
	struct rdma_ah_attr attr;
	struct ib_sge out, in;
	unsigned long flags;
	struct ib_ah *ah;
	int i, err;

	CHECK(w, from && to && sent && got);
	out = buf_sge(from, 0, 64);
	in = buf_sge(to, 0, 64 + GRH);
	end_ah_attr(&w->a, &w->b, &attr);
	for (i = 0; i < 50; i++) {
		buf_fill(from, 0, 64, i);
		TRY(post_recv(&w->b, got, &in, 1));
		ah = rdma_create_ah(w->a.pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
		CHECK(w, !IS_ERR(ah));
		/* Nothing is sent before they are enabled. */
		local_irq_save(flags);
		err = send_to(&w->a, sent, &out, ah, w->b.qp->qp_num);
		rdma_destroy_ah(ah, 0);
		local_irq_restore(flags);
		TRY(err);
		TRY(req_expect(w, sent, IB_WC_SUCCESS));
		TRY(req_expect(w, got, IB_WC_SUCCESS));
		TRY(buf_expect(w, to, GRH, 64, i));
	}
	return 0;
}

/* A handle of another protection domain is not taken. */
static int ud_foreign_handle(struct world *w)
{
	struct buf *from = buf_new(&w->a, 64);
	struct ib_ud_wr wr = {
		.wr.num_sge = 1,
		.wr.opcode = IB_WR_SEND,
		.remote_qpn = w->b.qp->qp_num,
		.remote_qkey = 0x11111111,
	};
	struct rdma_ah_attr attr;
	struct ib_sge out;
	struct ib_pd *pd;
	int err;

	CHECK(w, from);
	out = buf_sge(from, 0, 64);
	wr.wr.sg_list = &out;
	pd = ib_alloc_pd(w->a.dev, 0);
	CHECK(w, !IS_ERR(pd));
	end_ah_attr(&w->a, &w->b, &attr);
	wr.ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(wr.ah)) {
		err = PTR_ERR(wr.ah);
	} else {
		err = ib_post_send(w->a.qp, &wr.wr, NULL);
		rdma_destroy_ah(wr.ah, RDMA_DESTROY_AH_SLEEPABLE);
	}
	ib_dealloc_pd(pd);
	CHECK_EQ(w, -EINVAL, err);
	return 0;
}

/* What the wrong Q_Key, or more than the port carries, comes to. */
static int ud_refused(struct world *w)
{
	struct buf *from = buf_new(&w->a, SZ_8K), *to = buf_new(&w->b, SZ_8K);
	struct req *sent = req_new(w), *got = req_new(w);
	struct ib_ud_wr wr = {};
	struct rdma_ah_attr attr;
	struct ib_sge out, in;
	struct ib_ah *ah;

	CHECK(w, from && to && sent && got);
	in = buf_sge(to, 0, SZ_8K);
	end_ah_attr(&w->a, &w->b, &attr);
	ah = rdma_create_ah(w->a.pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	CHECK(w, !IS_ERR(ah));
	TRY(world_own(w, end_ah, ah));
	TRY(post_recv(&w->b, got, &in, 1));

	out = buf_sge(from, 0, 64);
	wr.wr.wr_cqe = &sent->cqe;
	wr.wr.sg_list = &out;
	wr.wr.num_sge = 1;
	wr.wr.opcode = IB_WR_SEND;
	wr.wr.send_flags = IB_SEND_SIGNALED;
	wr.remote_qpn = w->b.qp->qp_num;
	wr.remote_qkey = 0x22222222;
	/* Without an address handle it is not even taken. */
	CHECK_EQ(w, -EINVAL, ib_post_send(w->a.qp, &wr.wr, NULL));
	wr.ah = ah;
	TRY(post_list(&w->a, &wr.wr));
	TRY(req_expect(w, sent, IB_WC_SUCCESS));
	TRY(send_to(&w->a, sent, &out, ah, w->b.qp->qp_num));
	TRY(req_expect(w, sent, IB_WC_SUCCESS));
	TRY(req_expect(w, got, IB_WC_SUCCESS));
	CHECK_EQ(w, 64 + GRH, got->wc.byte_len);
	CHECK_EQ(w, 1, atomic_read(&got->times));

	out = buf_sge(from, 0, SZ_8K);
	TRY(send_to(&w->a, sent, &out, ah, w->b.qp->qp_num));
	return req_expect(w, sent, IB_WC_LOC_LEN_ERR);
}

/* Two connections draw from one queue, in the order of what arrives. */
static int srq_shared(struct world *w)
{
	struct buf *from = buf_new(&w->a, 4096), *to = buf_new(&w->b, 4096);
	struct ib_qp *a2, *b2, *first = w->a.qp;
	struct ib_sge out, in;
	int i;

	CHECK(w, from && to);
	TRY(end_qp_create(&w->a, &w->test->how, &a2));
	TRY(end_qp_create(&w->b, &w->test->how, &b2));
	TRY(end_qp_connect(&w->a, a2, &w->b, b2->qp_num, false));
	TRY(end_qp_connect(&w->b, b2, &w->a, a2->qp_num, false));
	for (i = 0; i < 100; i++) {
		struct req *sent = req_new(w), *got = req_new(w);
		struct ib_qp *mine = i % 3 ? first : a2;

		in = buf_sge(to, 0, 4096);
		out = buf_sge(from, 0, 2000 + i);
		buf_fill(from, 0, 2000 + i, i);
		TRY(post_recv(&w->b, got, &in, 1));
		w->a.qp = mine;
		TRY(post_send(&w->a, sent, &out, 1, 0));
		w->a.qp = first;
		TRY(req_expect(w, got, IB_WC_SUCCESS));
		TRY(req_expect(w, sent, IB_WC_SUCCESS));
		CHECK(w, got->wc.qp == (i % 3 ? w->b.qp : b2));
		CHECK_EQ(w, 2000 + i, got->wc.byte_len);
		TRY(buf_expect(w, to, 0, 2000 + i, i));
	}
	return 0;
}

const struct test datagram_tests[] = {
	{ "ud_there_and_back", ud_there_and_back,
	  .how = { .type = IB_QPT_UD, .poll = IB_POLL_SOFTIRQ } },
	{ "ud_refused", ud_refused,
	  .how = { .type = IB_QPT_UD, .poll = IB_POLL_SOFTIRQ } },
	{ "ud_handle_gone", ud_handle_gone,
	  .how = { .type = IB_QPT_UD, .poll = IB_POLL_SOFTIRQ } },
	{ "ud_foreign_handle", ud_foreign_handle,
	  .how = { .type = IB_QPT_UD, .poll = IB_POLL_SOFTIRQ } },
	{ "srq_shared", srq_shared,
	  .how = { .type = IB_QPT_RC, .poll = IB_POLL_SOFTIRQ,
		   .use_srq = true } },
	{}
};
