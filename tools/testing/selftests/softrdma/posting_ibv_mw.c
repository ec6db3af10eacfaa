// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_post_send() with the opcodes that newer versions of its page have beside
 * the table: BIND_MW (and ibv_bind_mw()), LOCAL_INV, SEND_WITH_INV. Windows are
 * B's; A writes through them.
 */
#include "pair_fixture.h"

#include <endian.h>
#include <errno.h>

#define START	4096	/* where the window begins in B's buffer */
#define LENGTH	1024	/* of the window */

static const struct pair_options rc = { .type = IBV_QPT_RC };
static const struct pair_options uc = { .type = IBV_QPT_UC };
static const struct pair_options ud = { .type = IBV_QPT_UD };

#define WINDOW_ACCESS	(PAIR_ACCESS | IBV_ACCESS_MW_BIND)

/* pair.c's regions take no windows: one more over the same buffer. */
static struct ibv_mr *reg_bindable(struct pair_end *end, int access)
{
	return ibv_reg_mr(end->set.pd, end->buffer, end->size, access);
}

/* A window that is not bound yet, and the region that it can be bound to. */
struct window {
	struct ibv_mr *mr;
	struct ibv_mw *mw;
};

static int window_new(struct window *w, struct pair_end *end,
		      enum ibv_mw_type type)
{
	w->mr = reg_bindable(end, WINDOW_ACCESS);
	w->mw = ibv_alloc_mw(end->set.pd, type);
	return w->mr && w->mw ? 0 : -ENOMEM;
}

static struct ibv_mw_bind_info info_of(struct pair_end *end, struct ibv_mr *mr,
				       int access)
{
	return (struct ibv_mw_bind_info){
		.mr = mr,
		.addr = (uintptr_t)end->buffer + START,
		.length = LENGTH,
		.mw_access_flags = access,
	};
}

/* Bind a type 2 window by a work request; the completion's status. */
static int bind2(struct pair_end *end, struct ibv_mw *mw, struct ibv_mr *mr,
		 int access)
{
	uint32_t rkey = ibv_inc_rkey(mw->rkey);
	struct ibv_send_wr *bad, wr = {
		.wr_id = 5,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw, .rkey = rkey,
			     .bind_info = info_of(end, mr, access) },
	};
	struct ibv_wc wc;
	int ret;

	/* The library looks there, whatever the opcode. */
	if (end->ah)
		wr.wr.ud.ah = end->ah;
	ret = ibv_post_send(end->qp, &wr, &bad);
	if (ret)
		return -ret;
	ret = pair_wait(end->set.cq, &wc);
	if (ret)
		return ret;
	if (!wc.status) {
		mw->rkey = rkey;
		if (wc.opcode != IBV_WC_BIND_MW || wc.wr_id != 5)
			return -EPROTO;
	}
	return wc.status;
}

/* Bind a type 1 window by ibv_bind_mw(). */
static int bind1(struct pair_end *end, struct ibv_mw *mw, struct ibv_mr *mr,
		 int access, uint64_t length)
{
	struct ibv_mw_bind bind = {
		.wr_id = 6,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = info_of(end, mr, access),
	};
	struct ibv_wc wc;
	int ret;

	bind.bind_info.length = length;
	ret = ibv_bind_mw(end->qp, mw, &bind);
	if (ret)
		return -ret;
	ret = pair_wait(end->set.cq, &wc);
	if (ret)
		return ret;
	if (!wc.status && (wc.opcode != IBV_WC_BIND_MW || wc.wr_id != 6))
		return -EPROTO;
	return wc.status;
}

static int invalidate(struct pair_end *end, uint32_t key)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = 7,
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = key,
	};
	struct ibv_wc wc;
	int ret;

	/* The library looks there, whatever the opcode. */
	if (end->ah)
		wr.wr.ud.ah = end->ah;
	ret = ibv_post_send(end->qp, &wr, &bad);
	if (ret)
		return -ret;
	ret = pair_wait(end->set.cq, &wc);
	if (ret)
		return ret;
	if (!wc.status && (wc.opcode != IBV_WC_LOCAL_INV || wc.wr_id != 7))
		return -EPROTO;
	return wc.status;
}

/* One access of A's to B's memory by this key. */
static int access_by(struct pair *pair, uint32_t rkey,
		     enum ibv_wr_opcode opcode, size_t offset, uint32_t len)
{
	struct pair_wr wr;

	pair_wr_init(&wr, &pair->a, &pair->b, opcode, offset, len);
	wr.wr.wr.rdma.rkey = rkey;
	return pair_post(&pair->a, &wr) ?: pair_wait_sent(&pair->a);
}

static int write_by(struct pair *pair, uint32_t rkey)
{
	int ret;

	memset(pair->b.buffer, 0, pair->b.size);
	pair_fill(pair->a.buffer + START, LENGTH, 3);
	ret = access_by(pair, rkey, IBV_WR_RDMA_WRITE, START, LENGTH);
	if (ret)
		return ret;
	return pair_filled(pair->b.buffer + START, LENGTH, 3) ? 0 : -EPROTO;
}

static int reconnect(struct pair *pair)
{
	return pair_disconnect(pair) ?: pair_connect(pair, &rc);
}

TEST_F(pair, type_2_window_opens_its_range)
{
	struct window w;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, window_new(&w, self->b, IBV_MW_TYPE_2));
	EXPECT_EQ(IBV_WC_SUCCESS, bind2(self->b, w.mw, w.mr,
					IBV_ACCESS_REMOTE_WRITE |
					IBV_ACCESS_REMOTE_READ));
	EXPECT_EQ(IBV_WC_SUCCESS, write_by(&self->pair, w.mw->rkey));
	EXPECT_EQ(IBV_WC_SUCCESS, access_by(&self->pair, w.mw->rkey,
					    IBV_WR_RDMA_READ, START, LENGTH));
	/* The region under it is in use. */
	EXPECT_EQ(EBUSY, ibv_dereg_mr(w.mr));
	/* One byte beyond. */
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
		  access_by(&self->pair, w.mw->rkey, IBV_WR_RDMA_WRITE,
			    START + 1, LENGTH));
	EXPECT_EQ(0, ibv_dealloc_mw(w.mw));
	EXPECT_EQ(0, ibv_dereg_mr(w.mr));
}

/* Fresh QPs, region and window for each refusal. */
static int refused_by(struct pair *pair, enum ibv_mw_type type, int window,
		      enum ibv_wr_opcode opcode, long offset, uint32_t len)
{
	struct window w;
	int ret = window_new(&w, &pair->b, type);

	if (ret)
		return ret;
	ret = type == IBV_MW_TYPE_1 ?
		bind1(&pair->b, w.mw, w.mr, window, LENGTH) :
		bind2(&pair->b, w.mw, w.mr, window);
	if (!ret)
		ret = access_by(pair, w.mw->rkey, opcode, START + offset, len);
	if (ibv_dealloc_mw(w.mw) || ibv_dereg_mr(w.mr) || reconnect(pair))
		return -EBUSY;
	return ret;
}

TEST_F(pair, window_gives_no_more_than_it_says)
{
	static const enum ibv_mw_type types[] = {
		IBV_MW_TYPE_1, IBV_MW_TYPE_2,
	};
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
			  refused_by(&self->pair, types[i],
				     IBV_ACCESS_REMOTE_READ,
				     IBV_WR_RDMA_WRITE, 0, 8));
		EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
			  refused_by(&self->pair, types[i],
				     IBV_ACCESS_REMOTE_WRITE,
				     IBV_WR_RDMA_READ, 0, 8));
		EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
			  refused_by(&self->pair, types[i],
				     IBV_ACCESS_REMOTE_WRITE,
				     IBV_WR_RDMA_WRITE, -1, 8));
		EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
			  refused_by(&self->pair, types[i],
				     IBV_ACCESS_REMOTE_WRITE,
				     IBV_WR_RDMA_WRITE, 0, LENGTH + 1));
		EXPECT_EQ(IBV_WC_SUCCESS,
			  refused_by(&self->pair, types[i],
				     IBV_ACCESS_REMOTE_WRITE,
				     IBV_WR_RDMA_WRITE, LENGTH - 8, 8));
	}
}

TEST_F(pair, type_1_window_is_rebound_and_unbound)
{
	uint32_t first, second;
	struct window w;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, window_new(&w, self->b, IBV_MW_TYPE_1));
	ASSERT_EQ(IBV_WC_SUCCESS, bind1(self->b, w.mw, w.mr,
					IBV_ACCESS_REMOTE_WRITE, LENGTH));
	first = w.mw->rkey;
	EXPECT_EQ(IBV_WC_SUCCESS, write_by(&self->pair, first));
	/* Bound again, it has another key, and the first is void. */
	ASSERT_EQ(IBV_WC_SUCCESS, bind1(self->b, w.mw, w.mr,
					IBV_ACCESS_REMOTE_WRITE, LENGTH));
	second = w.mw->rkey;
	EXPECT_NE(first, second);
	EXPECT_EQ(IBV_WC_SUCCESS, write_by(&self->pair, second));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_by(&self->pair, first));
	ASSERT_EQ(0, ibv_dealloc_mw(w.mw));
	ASSERT_EQ(0, ibv_dereg_mr(w.mr));
}

TEST_F(pair, type_1_window_of_no_length_is_closed)
{
	struct window w;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, window_new(&w, self->b, IBV_MW_TYPE_1));
	ASSERT_EQ(IBV_WC_SUCCESS, bind1(self->b, w.mw, w.mr,
					IBV_ACCESS_REMOTE_WRITE, LENGTH));
	ASSERT_EQ(IBV_WC_SUCCESS, bind1(self->b, w.mw, w.mr,
					IBV_ACCESS_REMOTE_WRITE, 0));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_by(&self->pair, w.mw->rkey));
	/* Nothing is bound to the region any more. */
	EXPECT_EQ(0, ibv_dereg_mr(w.mr));
	EXPECT_EQ(0, ibv_dealloc_mw(w.mw));
}

TEST_F(pair, bind_needs_a_bindable_region)
{
	struct ibv_mr *plain, *readable;
	struct ibv_mw *mw;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	plain = reg_bindable(self->b, PAIR_ACCESS);
	readable = reg_bindable(self->b, IBV_ACCESS_MW_BIND |
					 IBV_ACCESS_REMOTE_READ);
	mw = ibv_alloc_mw(self->b->set.pd, IBV_MW_TYPE_2);
	ASSERT_NE(NULL, plain);
	ASSERT_NE(NULL, readable);
	ASSERT_NE(NULL, mw);
	EXPECT_NE(IBV_WC_SUCCESS, bind2(self->b, mw, plain,
					IBV_ACCESS_REMOTE_READ));
	EXPECT_EQ(0, ibv_dereg_mr(plain));
	ASSERT_EQ(0, reconnect(&self->pair));
	/* Memory that we may not write ourselves is not written by others. */
	EXPECT_NE(IBV_WC_SUCCESS, bind2(self->b, mw, readable,
					IBV_ACCESS_REMOTE_WRITE));
	EXPECT_EQ(0, ibv_dereg_mr(readable));
	EXPECT_EQ(0, ibv_dealloc_mw(mw));
}

/*
 * ibv_bind_mw() is for type 1. (The other way round, a request for a type 1
 * window, is the library's to refuse: in the ring it looks like the call.)
 */
TEST_F(pair, ibv_bind_mw_refuses_type_2)
{
	struct window w;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, window_new(&w, self->b, IBV_MW_TYPE_2));
	EXPECT_EQ(-EINVAL, bind1(self->b, w.mw, w.mr, IBV_ACCESS_REMOTE_READ,
				 LENGTH));
	EXPECT_EQ(0, ibv_dealloc_mw(w.mw));
	EXPECT_EQ(0, ibv_dereg_mr(w.mr));
}

TEST_F(pair, local_inv_closes_the_window)
{
	struct window w;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, window_new(&w, self->b, IBV_MW_TYPE_2));
	ASSERT_EQ(IBV_WC_SUCCESS, bind2(self->b, w.mw, w.mr,
					IBV_ACCESS_REMOTE_WRITE));
	EXPECT_EQ(IBV_WC_SUCCESS, write_by(&self->pair, w.mw->rkey));
	EXPECT_EQ(IBV_WC_SUCCESS, invalidate(self->b, w.mw->rkey));
	/* Once invalidated it can be bound again, under the next key. */
	EXPECT_EQ(IBV_WC_SUCCESS, bind2(self->b, w.mw, w.mr,
					IBV_ACCESS_REMOTE_WRITE));
	EXPECT_EQ(IBV_WC_SUCCESS, write_by(&self->pair, w.mw->rkey));
	EXPECT_EQ(IBV_WC_SUCCESS, invalidate(self->b, w.mw->rkey));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_by(&self->pair, w.mw->rkey));
	EXPECT_EQ(0, ibv_dereg_mr(w.mr));
	EXPECT_EQ(0, ibv_dealloc_mw(w.mw));
}

/* What is no window of this QP, or no longer one, cannot be invalidated. */
TEST_F(pair, local_inv_needs_an_open_window)
{
	struct window w;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	EXPECT_NE(IBV_WC_SUCCESS, invalidate(self->b, 0xdeadbeef));
	ASSERT_EQ(0, reconnect(&self->pair));
	/* A region of ibv_reg_mr() is not invalidated but deregistered. */
	EXPECT_NE(IBV_WC_SUCCESS, invalidate(self->b, self->b->mr->rkey));
	ASSERT_EQ(0, reconnect(&self->pair));
	ASSERT_EQ(0, window_new(&w, self->b, IBV_MW_TYPE_2));
	ASSERT_EQ(IBV_WC_SUCCESS, bind2(self->b, w.mw, w.mr,
					IBV_ACCESS_REMOTE_WRITE));
	EXPECT_EQ(IBV_WC_SUCCESS, invalidate(self->b, w.mw->rkey));
	EXPECT_NE(IBV_WC_SUCCESS, invalidate(self->b, w.mw->rkey));
	EXPECT_EQ(0, ibv_dealloc_mw(w.mw));
	EXPECT_EQ(0, ibv_dereg_mr(w.mr));
}

static int send_with_inv(struct pair *pair, uint32_t key, uint32_t len,
			 struct ibv_wc *wc)
{
	struct pair_wr wr;
	int ret;

	ret = pair_post_recv(&pair->b, 0, len);
	if (ret)
		return ret;
	pair_fill(pair->a.buffer + 32768, len, 6);
	pair_wr_init(&wr, &pair->a, &pair->b, IBV_WR_SEND_WITH_INV, 32768, len);
	wr.wr.invalidate_rkey = key;
	ret = pair_post(&pair->a, &wr) ?: pair_wait_sent(&pair->a);
	return ret ?: pair_wait(pair->b.recv_cq, wc);
}

TEST_F(pair, send_with_inv_closes_the_peers_window)
{
	static const uint32_t lengths[] = { 0, 100, 5000 };
	struct window w;
	struct ibv_wc wc;
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, window_new(&w, self->b, IBV_MW_TYPE_2));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(IBV_WC_SUCCESS, bind2(self->b, w.mw, w.mr,
						IBV_ACCESS_REMOTE_WRITE));
		EXPECT_EQ(IBV_WC_SUCCESS, write_by(&self->pair, w.mw->rkey));
		ASSERT_EQ(IBV_WC_SUCCESS, send_with_inv(&self->pair, w.mw->rkey,
							lengths[i], &wc));
		EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
		EXPECT_EQ(IBV_WC_RECV, wc.opcode);
		EXPECT_EQ(IBV_WC_WITH_INV, wc.wc_flags & IBV_WC_WITH_INV);
		EXPECT_EQ(0, wc.wc_flags & IBV_WC_WITH_IMM);
		EXPECT_EQ(w.mw->rkey, wc.invalidated_rkey);
		EXPECT_EQ(lengths[i], wc.byte_len);
		EXPECT_TRUE(pair_filled(self->b->buffer, lengths[i], 6));
	}
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_by(&self->pair, w.mw->rkey));
	EXPECT_EQ(0, ibv_dereg_mr(w.mr));
	EXPECT_EQ(0, ibv_dealloc_mw(w.mw));
}

TEST_F(pair, send_with_inv_of_a_wrong_key_is_refused)
{
	struct ibv_wc wc;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
		  send_with_inv(&self->pair, 0xdeadbeef, 8, &wc));
	ASSERT_EQ(0, reconnect(&self->pair));
	/* Not even a region of the peer's own. */
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
		  send_with_inv(&self->pair, self->b->mr->rkey, 8, &wc));
}

/* A type 2 window serves the QP that bound it, and no other. */
TEST_F(pair, type_2_window_belongs_to_its_qp)
{
	struct pair_end *a = self->a;
	struct window w;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, window_new(&w, a, IBV_MW_TYPE_2));
	/* Bound by a QP that goes: the window is closed and can be bound. */
	ASSERT_EQ(IBV_WC_SUCCESS, bind2(a, w.mw, w.mr, IBV_ACCESS_REMOTE_WRITE));
	EXPECT_EQ(EBUSY, ibv_dereg_mr(w.mr));
	ASSERT_EQ(0, ibv_destroy_qp(a->qp));
	a->qp = NULL;
	EXPECT_EQ(0, ibv_dereg_mr(w.mr));
	EXPECT_EQ(0, ibv_dealloc_mw(w.mw));
}

/* UC has windows too; an invalidation waits for what is before it. */
TEST_F(pair, bind_and_local_inv_work_on_uc)
{
	struct pair_wr write, inv;
	struct ibv_send_wr *bad;
	struct window w;
	struct ibv_wc wc;

	ASSERT_EQ(0, pair_connect(&self->pair, &uc));
	ASSERT_EQ(0, window_new(&w, self->b, IBV_MW_TYPE_2));
	ASSERT_EQ(IBV_WC_SUCCESS, bind2(self->b, w.mw, w.mr,
					IBV_ACCESS_REMOTE_WRITE));
	/* Written through by A, seen by an immediate. */
	ASSERT_EQ(0, pair_post_recv(self->b, 0, 8));
	pair_fill(self->a->buffer + START, LENGTH, 9);
	EXPECT_EQ(0, access_by(&self->pair, w.mw->rkey,
			       IBV_WR_RDMA_WRITE_WITH_IMM, START, LENGTH));
	ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_TRUE(pair_filled(self->b->buffer + START, LENGTH, 9));
	/* A SEND and the invalidation in one list. */
	pair_wr_init(&write, self->b, self->a, IBV_WR_SEND, 0, LENGTH);
	pair_wr_init(&inv, self->b, self->a, IBV_WR_LOCAL_INV, 0, 0);
	inv.wr.num_sge = 0;
	inv.wr.invalidate_rkey = w.mw->rkey;
	write.wr.next = &inv.wr;
	ASSERT_EQ(0, ibv_post_send(self->b->qp, &write.wr, &bad));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->b));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->b));
	/* Nothing arrives through it any more, and nobody tells A. */
	memset(self->b->buffer, 0, self->b->size);
	EXPECT_EQ(0, access_by(&self->pair, w.mw->rkey, IBV_WR_RDMA_WRITE, START,
			       LENGTH));
	ASSERT_EQ(0, pair_post_recv(self->b, 0, 8));
	EXPECT_EQ(0, access_by(&self->pair, self->b->mr->rkey,
			       IBV_WR_RDMA_WRITE_WITH_IMM, 0, 8));
	ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
	EXPECT_EQ(0, self->b->buffer[START]);
	EXPECT_EQ(0, ibv_dereg_mr(w.mr));
	EXPECT_EQ(0, ibv_dealloc_mw(w.mw));
}

/* On UD they fail, and change nothing. */
TEST_F(pair, bind_and_local_inv_are_refused_on_ud)
{
	struct window w;
	int ret;

	ASSERT_EQ(0, pair_connect(&self->pair, &ud));
	ASSERT_EQ(0, window_new(&w, self->b, IBV_MW_TYPE_2));
	ret = bind2(self->b, w.mw, w.mr, IBV_ACCESS_REMOTE_WRITE);
	EXPECT_TRUE(ret == -EINVAL || ret == IBV_WC_LOC_QP_OP_ERR);
	EXPECT_EQ(0, ibv_dereg_mr(w.mr));
	EXPECT_EQ(0, pair_disconnect(&self->pair));
	ASSERT_EQ(0, pair_connect(&self->pair, &ud));
	EXPECT_EQ(IBV_WC_LOC_QP_OP_ERR, invalidate(self->b, w.mw->rkey));
	EXPECT_EQ(0, ibv_dealloc_mw(w.mw));
}

TEST_HARNESS_MAIN
