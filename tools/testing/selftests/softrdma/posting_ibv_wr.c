// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The opcodes and flags of ibv_post_send(3) by the calls that fill requests in
 * place: ibv_wr_start(), ibv_wr_send() and so on, ibv_wr_complete().
 */
#include "pair_fixture.h"

#include <endian.h>
#include <errno.h>

#define LENGTH	600
#define OFFSET	4096

#define OPS_UD	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define OPS_UC	(OPS_UD | IBV_QP_EX_WITH_RDMA_WRITE |			\
		 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
#define OPS_RC	(OPS_UC | IBV_QP_EX_WITH_RDMA_READ |			\
		 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |			\
		 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |			\
		 IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW |	\
		 IBV_QP_EX_WITH_SEND_WITH_INV |				\
		 IBV_QP_EX_WITH_ATOMIC_WRITE)

static const struct pair_options rc = {
	.type = IBV_QPT_RC, .send_ops = OPS_RC, .inline_data = 128,
};

static const struct pair_options uc = {
	.type = IBV_QPT_UC, .send_ops = OPS_UC, .inline_data = 128,
};

static const struct pair_options ud = {
	.type = IBV_QPT_UD, .send_ops = OPS_UD, .inline_data = 128,
};

static const struct pair_options *const all_types[] = { &rc, &uc, &ud };

static struct ibv_qp_ex *begin(struct pair_end *end, uint64_t wr_id)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(end->qp);

	ibv_wr_start(qp);
	qp->wr_id = wr_id;
	qp->wr_flags = IBV_SEND_SIGNALED;
	return qp;
}

static void set_piece(struct ibv_qp_ex *qp, struct pair_end *end, size_t offset,
		      uint32_t len)
{
	ibv_wr_set_sge(qp, end->mr->lkey, (uintptr_t)end->buffer + offset, len);
}

static void set_address(struct ibv_qp_ex *qp, struct pair *pair)
{
	if (pair->a.ah)
		ibv_wr_set_ud_addr(qp, pair->a.ah, pair->b.qp->qp_num,
				   VERBS_QKEY);
}

static bool sent(struct pair *pair, uint64_t wr_id, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	return !pair_wait(pair->a.set.cq, &wc) && !wc.status &&
	       wc.wr_id == wr_id && wc.opcode == opcode;
}

/* A receive of this many bytes of this seed. */
static bool received(struct pair *pair, uint32_t len, unsigned int seed,
		     struct ibv_wc *wc)
{
	uint32_t head = pair->a.ah ? PAIR_GRH : 0;

	return !pair_wait(pair->b.recv_cq, wc) && !wc->status &&
	       wc->byte_len == len + head &&
	       pair_filled(pair->b.buffer + wc->wr_id + head, len, seed);
}

static uint64_t remote(struct pair *pair)
{
	return (uintptr_t)pair->b.buffer + OFFSET;
}

TEST_F(pair, wr_send_is_for_ud_uc_rc)
{
	struct ibv_qp_ex *qp;
	struct ibv_wc wc;
	int t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, pair_post_recv(self->b, 0, LENGTH + PAIR_GRH));
		pair_fill(self->a->buffer, LENGTH, t);
		qp = begin(self->a, 10);
		ibv_wr_send(qp);
		set_address(qp, &self->pair);
		set_piece(qp, self->a, 0, LENGTH);
		ASSERT_EQ(0, ibv_wr_complete(qp));
		EXPECT_TRUE(sent(&self->pair, 10, IBV_WC_SEND));
		EXPECT_TRUE(received(&self->pair, LENGTH, t, &wc));
		EXPECT_EQ(0, wc.wc_flags & IBV_WC_WITH_IMM);
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

TEST_F(pair, wr_send_imm_is_for_ud_uc_rc)
{
	struct ibv_qp_ex *qp;
	struct ibv_wc wc;
	int t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, pair_post_recv(self->b, 0, LENGTH + PAIR_GRH));
		pair_fill(self->a->buffer, LENGTH, t);
		qp = begin(self->a, 11);
		ibv_wr_send_imm(qp, htobe32(0xfedcba98));
		set_address(qp, &self->pair);
		set_piece(qp, self->a, 0, LENGTH);
		ASSERT_EQ(0, ibv_wr_complete(qp));
		EXPECT_TRUE(sent(&self->pair, 11, IBV_WC_SEND));
		EXPECT_TRUE(received(&self->pair, LENGTH, t, &wc));
		EXPECT_TRUE(wc.wc_flags & IBV_WC_WITH_IMM);
		EXPECT_EQ(0xfedcba98, be32toh(wc.imm_data));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

TEST_F(pair, wr_rdma_write_is_for_uc_rc)
{
	struct ibv_qp_ex *qp;
	struct ibv_wc wc;
	int t;

	for (t = 0; t < 2; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, pair_post_recv(self->b, 0, 8));
		pair_fill(self->a->buffer, LENGTH, t);
		/* Two in one go; the second tells that the first is there. */
		qp = begin(self->a, 12);
		ibv_wr_rdma_write(qp, self->b->mr->rkey, remote(&self->pair));
		set_piece(qp, self->a, 0, LENGTH);
		qp->wr_id = 13;
		ibv_wr_rdma_write_imm(qp, self->b->mr->rkey,
				      remote(&self->pair) + LENGTH,
				      htobe32(0x01020304));
		set_piece(qp, self->a, 0, 100);
		ASSERT_EQ(0, ibv_wr_complete(qp));
		EXPECT_TRUE(sent(&self->pair, 12, IBV_WC_RDMA_WRITE));
		EXPECT_TRUE(sent(&self->pair, 13, IBV_WC_RDMA_WRITE));
		ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
		EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
		EXPECT_EQ(IBV_WC_RECV_RDMA_WITH_IMM, wc.opcode);
		EXPECT_EQ(100, wc.byte_len);
		EXPECT_EQ(0x01020304, be32toh(wc.imm_data));
		EXPECT_TRUE(pair_filled(self->b->buffer + OFFSET, LENGTH, t));
		EXPECT_TRUE(pair_filled(self->b->buffer + OFFSET + LENGTH, 100,
					t));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

TEST_F(pair, wr_rdma_read_is_for_rc)
{
	struct ibv_qp_ex *qp;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	pair_fill(self->b->buffer + OFFSET, LENGTH, 4);
	qp = begin(self->a, 14);
	ibv_wr_rdma_read(qp, self->b->mr->rkey, remote(&self->pair));
	set_piece(qp, self->a, 0, LENGTH);
	ASSERT_EQ(0, ibv_wr_complete(qp));
	EXPECT_TRUE(sent(&self->pair, 14, IBV_WC_RDMA_READ));
	EXPECT_TRUE(pair_filled(self->a->buffer, LENGTH, 4));
}

TEST_F(pair, wr_atomics_are_for_rc)
{
	uint64_t *word, *original;
	struct ibv_qp_ex *qp;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	word = (uint64_t *)(self->b->buffer + OFFSET);
	original = (uint64_t *)self->a->buffer;
	*word = 100;
	qp = begin(self->a, 15);
	ibv_wr_atomic_fetch_add(qp, self->b->mr->rkey, remote(&self->pair), 11);
	set_piece(qp, self->a, 0, 8);
	ASSERT_EQ(0, ibv_wr_complete(qp));
	EXPECT_TRUE(sent(&self->pair, 15, IBV_WC_FETCH_ADD));
	EXPECT_EQ(100, *original);
	EXPECT_EQ(111, *word);
	qp = begin(self->a, 16);
	ibv_wr_atomic_cmp_swp(qp, self->b->mr->rkey, remote(&self->pair), 111,
			      222);
	set_piece(qp, self->a, 0, 8);
	ASSERT_EQ(0, ibv_wr_complete(qp));
	EXPECT_TRUE(sent(&self->pair, 16, IBV_WC_COMP_SWAP));
	EXPECT_EQ(111, *original);
	EXPECT_EQ(222, *word);
}

/* The library does not look at the address here: the driver must. */
TEST_F(pair, wr_atomics_must_be_aligned)
{
	struct ibv_qp_ex *qp;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	memset(self->b->buffer, 0, self->b->size);
	qp = begin(self->a, 17);
	ibv_wr_atomic_fetch_add(qp, self->b->mr->rkey, remote(&self->pair) + 4,
				1);
	set_piece(qp, self->a, 0, 8);
	if (!ibv_wr_complete(qp))
		EXPECT_EQ(IBV_WC_REM_INV_REQ_ERR, pair_wait_sent(self->a));
	EXPECT_EQ(0, *(uint64_t *)(self->b->buffer + OFFSET + 4));
}

TEST_F(pair, wr_atomic_write_is_for_rc)
{
	uint64_t value = 0x0102030405060708;
	struct ibv_qp_ex *qp;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	memset(self->b->buffer, 0xff, self->b->size);
	qp = begin(self->a, 18);
	ibv_wr_atomic_write(qp, self->b->mr->rkey, remote(&self->pair), &value);
	ASSERT_EQ(0, ibv_wr_complete(qp));
	EXPECT_TRUE(sent(&self->pair, 18, IBV_WC_ATOMIC_WRITE));
	EXPECT_EQ(value, *(uint64_t *)(self->b->buffer + OFFSET));
	EXPECT_EQ(~0ull, *(uint64_t *)(self->b->buffer + OFFSET - 8));
	EXPECT_EQ(~0ull, *(uint64_t *)(self->b->buffer + OFFSET + 8));
}

TEST_F(pair, wr_atomic_write_must_be_aligned)
{
	uint64_t value = 1;
	struct ibv_qp_ex *qp;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	memset(self->b->buffer, 0, self->b->size);
	qp = begin(self->a, 19);
	ibv_wr_atomic_write(qp, self->b->mr->rkey, remote(&self->pair) + 4,
			    &value);
	if (!ibv_wr_complete(qp))
		EXPECT_EQ(IBV_WC_REM_INV_REQ_ERR, pair_wait_sent(self->a));
	EXPECT_EQ(0, *(uint64_t *)(self->b->buffer + OFFSET + 4));
}

TEST_F(pair, wr_atomic_write_needs_write_access)
{
	uint64_t value = 1;
	struct ibv_qp_ex *qp;
	struct ibv_mr *mr;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	memset(self->b->buffer, 0, self->b->size);
	mr = ibv_reg_mr(self->b->set.pd, self->b->buffer, self->b->size,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	ASSERT_NE(NULL, mr);
	qp = begin(self->a, 20);
	ibv_wr_atomic_write(qp, mr->rkey, remote(&self->pair), &value);
	ASSERT_EQ(0, ibv_wr_complete(qp));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, pair_wait_sent(self->a));
	EXPECT_EQ(0, *(uint64_t *)(self->b->buffer + OFFSET));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_F(pair, wr_bind_inv_and_send_inv_are_for_rc)
{
	struct ibv_mw_bind_info info = {};
	struct ibv_qp_ex *qp;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_wc wc;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	mr = ibv_reg_mr(self->b->set.pd, self->b->buffer, self->b->size,
			PAIR_ACCESS | IBV_ACCESS_MW_BIND);
	mw = ibv_alloc_mw(self->b->set.pd, IBV_MW_TYPE_2);
	ASSERT_NE(NULL, mr);
	ASSERT_NE(NULL, mw);
	info.mr = mr;
	info.addr = remote(&self->pair);
	info.length = LENGTH;
	info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE;

	/* Bind, invalidate, bind again: one list, in order. */
	qp = begin(self->b, 21);
	ibv_wr_bind_mw(qp, mw, ibv_inc_rkey(mw->rkey), &info);
	mw->rkey = ibv_inc_rkey(mw->rkey);
	ibv_wr_local_inv(qp, mw->rkey);
	ibv_wr_bind_mw(qp, mw, ibv_inc_rkey(mw->rkey), &info);
	mw->rkey = ibv_inc_rkey(mw->rkey);
	ASSERT_EQ(0, ibv_wr_complete(qp));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->b));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->b));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->b));

	/* Write through the window and close it, in one list. */
	pair_fill(self->a->buffer, LENGTH, 8);
	ASSERT_EQ(0, pair_post_recv(self->b, 0, LENGTH));
	qp = begin(self->a, 22);
	ibv_wr_rdma_write(qp, mw->rkey, remote(&self->pair));
	set_piece(qp, self->a, 0, LENGTH);
	qp->wr_id = 23;
	ibv_wr_send_inv(qp, mw->rkey);
	set_piece(qp, self->a, 0, LENGTH);
	ASSERT_EQ(0, ibv_wr_complete(qp));
	EXPECT_TRUE(sent(&self->pair, 22, IBV_WC_RDMA_WRITE));
	EXPECT_TRUE(sent(&self->pair, 23, IBV_WC_SEND));
	EXPECT_TRUE(received(&self->pair, LENGTH, 8, &wc));
	EXPECT_TRUE(wc.wc_flags & IBV_WC_WITH_INV);
	EXPECT_EQ(mw->rkey, wc.invalidated_rkey);
	EXPECT_TRUE(pair_filled(self->b->buffer + OFFSET, LENGTH, 8));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, ibv_dealloc_mw(mw));
}

/* A QP cannot be made with operations that its type does not have. */
TEST_F(pair, wr_operations_of_other_types_are_refused)
{
	static const uint64_t not_ud[] = {
		IBV_QP_EX_WITH_RDMA_WRITE, IBV_QP_EX_WITH_RDMA_READ,
		IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, IBV_QP_EX_WITH_ATOMIC_WRITE,
	};
	static const uint64_t not_uc[] = {
		IBV_QP_EX_WITH_RDMA_READ, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
		IBV_QP_EX_WITH_ATOMIC_WRITE,
	};
	struct pair_options options;
	int i;

	for (i = 0; i < 4; i++) {
		options = ud;
		options.send_ops = not_ud[i];
		EXPECT_NE(0, pair_create(&self->pair, &options));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
	for (i = 0; i < 3; i++) {
		options = uc;
		options.send_ops = not_uc[i];
		EXPECT_NE(0, pair_create(&self->pair, &options));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

TEST_F(pair, wr_set_sge_list_gathers)
{
	struct ibv_sge pieces[4];
	struct ibv_qp_ex *qp;
	struct ibv_wc wc;
	int i, t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, pair_post_recv(self->b, 0, LENGTH + PAIR_GRH));
		pair_fill(self->a->buffer, LENGTH, t);
		for (i = 0; i < 4; i++)
			pieces[i] = (struct ibv_sge){
				.addr = (uintptr_t)self->a->buffer +
					i * LENGTH / 4,
				.length = LENGTH / 4,
				.lkey = self->a->mr->lkey,
			};
		qp = begin(self->a, 24);
		ibv_wr_send(qp);
		set_address(qp, &self->pair);
		ibv_wr_set_sge_list(qp, 4, pieces);
		ASSERT_EQ(0, ibv_wr_complete(qp));
		EXPECT_TRUE(sent(&self->pair, 24, IBV_WC_SEND));
		EXPECT_TRUE(received(&self->pair, LENGTH, t, &wc));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

TEST_F(pair, wr_set_inline_data_is_taken_at_once)
{
	uint8_t data[128];
	struct ibv_qp_ex *qp;
	struct ibv_wc wc;
	int t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, pair_post_recv(self->b, 0, 128 + PAIR_GRH));
		pair_fill(data, 128, t);
		qp = begin(self->a, 25);
		ibv_wr_send(qp);
		set_address(qp, &self->pair);
		ibv_wr_set_inline_data(qp, data, 128);
		memset(data, 0xff, sizeof(data));
		ASSERT_EQ(0, ibv_wr_complete(qp));
		EXPECT_TRUE(sent(&self->pair, 25, IBV_WC_SEND));
		EXPECT_TRUE(received(&self->pair, 128, t, &wc));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

TEST_F(pair, wr_list_is_posted_in_its_order)
{
	struct ibv_qp_ex *qp;
	struct ibv_wc wc;
	int i, t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		qp = begin(self->a, 0);
		for (i = 0; i < 32; i++) {
			ASSERT_EQ(0, pair_post_recv(self->b, i * 128, 128));
			pair_fill(self->a->buffer + i * 64, 64, i);
			qp->wr_id = i;
			qp->wr_flags = i % 2 ? IBV_SEND_SIGNALED : 0;
			ibv_wr_send(qp);
			set_address(qp, &self->pair);
			set_piece(qp, self->a, i * 64, 64);
		}
		/* Nothing has begun before it is said to. */
		EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
		EXPECT_EQ(0, ibv_poll_cq(self->b->recv_cq, 1, &wc));
		ASSERT_EQ(0, ibv_wr_complete(qp));
		for (i = 0; i < 32; i++) {
			if (i % 2)
				EXPECT_TRUE(sent(&self->pair, i, IBV_WC_SEND));
			EXPECT_TRUE(received(&self->pair, 64, i, &wc));
		}
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

TEST_F(pair, wr_abort_posts_nothing)
{
	struct ibv_qp_ex *qp;
	struct ibv_wc wc;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, pair_post_recv(self->b, 0, LENGTH));
	qp = begin(self->a, 26);
	ibv_wr_send(qp);
	set_piece(qp, self->a, 0, 10);
	ibv_wr_abort(qp);
	/* What comes next is the first that arrives. */
	pair_fill(self->a->buffer, LENGTH, 3);
	qp = begin(self->a, 27);
	ibv_wr_send(qp);
	set_piece(qp, self->a, 0, LENGTH);
	ASSERT_EQ(0, ibv_wr_complete(qp));
	EXPECT_TRUE(sent(&self->pair, 27, IBV_WC_SEND));
	EXPECT_TRUE(received(&self->pair, LENGTH, 3, &wc));
	EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
}

/* Too many for the queue: an error, and none of them is posted. */
TEST_F(pair, wr_complete_of_too_many_fails)
{
	struct ibv_qp_ex *qp;
	struct ibv_wc wc;
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, pair_post_recv(self->b, 0, LENGTH));
	qp = begin(self->a, 28);
	for (i = 0; i < 1000; i++) {
		ibv_wr_send(qp);
		set_piece(qp, self->a, 0, 10);
	}
	EXPECT_NE(0, ibv_wr_complete(qp));
	EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
	EXPECT_EQ(0, ibv_poll_cq(self->b->recv_cq, 1, &wc));
}

/* SOLICITED and FENCE are in wr_flags here. */
TEST_F(pair, wr_flags_solicit_and_fence)
{
	struct ibv_qp_ex *qp;
	struct ibv_wc wc;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	pair_fill(self->b->buffer + OFFSET, LENGTH, 7);
	ASSERT_EQ(0, ibv_req_notify_cq(self->b->recv_cq, 1));
	ASSERT_EQ(0, pair_post_recv(self->b, 0, LENGTH));
	ASSERT_EQ(0, pair_post_recv(self->b, 1024, LENGTH));
	qp = begin(self->a, 29);
	ibv_wr_rdma_read(qp, self->b->mr->rkey, remote(&self->pair));
	set_piece(qp, self->a, 0, LENGTH);
	qp->wr_flags = IBV_SEND_FENCE;
	ibv_wr_send(qp);
	set_piece(qp, self->a, 0, LENGTH);
	ASSERT_EQ(0, ibv_wr_complete(qp));
	EXPECT_TRUE(received(&self->pair, LENGTH, 7, &wc));
	EXPECT_FALSE(pair_event(self->b, 50));
	qp = begin(self->a, 30);
	qp->wr_flags = IBV_SEND_SOLICITED;
	ibv_wr_send(qp);
	set_piece(qp, self->a, 0, LENGTH);
	ASSERT_EQ(0, ibv_wr_complete(qp));
	EXPECT_TRUE(pair_event(self->b, 5000));
}

TEST_HARNESS_MAIN
