// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that fail because of themselves, or of their own memory: the vendor_err of
 * each, and what softrdma(8) says of it (troubleshooting.rst).
 */
#include "errors_fixture.h"

#define UP(qp_type)							\
	do {								\
		self->duo.type = (qp_type);				\
		ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set)); \
	} while (0)

/* A request of one piece of the end's memory. */
static int post(struct duo_end *from, struct duo_end *to,
		enum ibv_wr_opcode opcode, uint64_t addr, uint32_t len,
		uint32_t lkey, int flags)
{
	struct ibv_sge sge = { addr, len, lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = 77,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = flags | IBV_SEND_SIGNALED,
	};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)to->buf;
		wr.wr.atomic.rkey = to->mr->rkey;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)to->buf;
		wr.wr.rdma.rkey = to->mr->rkey;
	}
	return ibv_post_send(from->qp, &wr, &bad);
}

/* ---- requests that are none ---- */

TEST_F(errors, opcode_that_the_type_has_not)
{
	UP(IBV_QPT_UC);
	EXPECT_EQ(0, post(self->tx, self->rx, IBV_WR_RDMA_READ,
			  (uintptr_t)self->tx->buf, 8, self->tx->mr->lkey, 0));
	FAILS(LOC_QP_OP_ERR, WR_OPCODE, "no send request of opcode 4");
}

TEST_F(errors, inline_where_nothing_is_sent)
{
	UP(IBV_QPT_RC);
	EXPECT_EQ(0, post(self->tx, self->rx, IBV_WR_RDMA_READ,
			  (uintptr_t)self->tx->buf, 8, self->tx->mr->lkey,
			  IBV_SEND_INLINE));
	FAILS(LOC_QP_OP_ERR, WR_FLAGS, "inline where no data are sent");
}

TEST_F(errors, longer_than_a_message_can_be)
{
	struct ibv_sge sge[2];
	struct ibv_send_wr *bad, wr = {
		.sg_list = sge,
		.num_sge = 2,
		.opcode = IBV_WR_SEND,
	};

	UP(IBV_QPT_RC);
	sge[0] = (struct ibv_sge){ (uintptr_t)self->tx->buf, 0x60000000,
				   self->tx->mr->lkey };
	sge[1] = sge[0];
	EXPECT_EQ(0, ibv_post_send(self->tx->qp, &wr, &bad));
	FAILS(LOC_LEN_ERR, WR_LENGTH, "longer than 2147483648 bytes");
}

TEST_F(errors, atomic_of_another_length)
{
	UP(IBV_QPT_RC);
	EXPECT_EQ(0, post(self->tx, self->rx, IBV_WR_ATOMIC_FETCH_AND_ADD,
			  (uintptr_t)self->tx->buf, 16, self->tx->mr->lkey, 0));
	FAILS(LOC_LEN_ERR, WR_ATOMIC_LEN, "not 8 bytes");
}

/* ---- datagrams ---- */

/* A datagram by a handle of this protection domain. */
static int send_datagram(struct duo *duo, struct ibv_pd *pd, uint32_t len)
{
	struct duo_end *tx = &duo->end[0];
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = duo->end[1].set->gid, .hop_limit = 64,
			 .sgid_index = tx->set->gid_index },
	};
	struct ibv_sge sge = { (uintptr_t)tx->buf, len, tx->mr->lkey };
	struct ibv_ah *ah = ibv_create_ah(pd, &attr);
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.wr.ud = { ah, duo->end[1].qp->qp_num, VERBS_QKEY },
	};
	int ret;

	if (!ah)
		return -1;
	ret = ibv_post_send(tx->qp, &wr, &bad);
	return ibv_destroy_ah(ah) ?: ret;
}

TEST_F(errors, address_handle_of_another_domain)
{
	struct ibv_pd *pd = ibv_alloc_pd(self->set.ctx);

	UP(IBV_QPT_UD);
	ASSERT_NE(NULL, pd);
	EXPECT_EQ(0, send_datagram(&self->duo, pd, 64));
	FAILS(LOC_QP_OP_ERR, AH_UNKNOWN, "of another protection domain");
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
}

TEST_F(errors, datagram_longer_than_a_packet)
{
	UP(IBV_QPT_UD);
	EXPECT_EQ(0, send_datagram(&self->duo, self->set.pd, 5000));
	FAILS(LOC_LEN_ERR, UD_LENGTH, "a datagram of 5000 bytes");
	/* The send queue is in error, and what follows is flushed. */
	EXPECT_EQ(0, send_datagram(&self->duo, self->set.pd, 64));
	EXPECT_TRUE(errlog_completes(self->tx->send_cq, IBV_WC_WR_FLUSH_ERR,
				     SRDMA_ERR_FLUSH_SEND_QUEUE));
}

/* ---- memory ---- */

#define SEND(addr, len, lkey)						\
	ASSERT_EQ(0, post(self->tx, self->rx, IBV_WR_SEND,		\
			  (uintptr_t)(addr), len, lkey, 0))

TEST_F(errors, lkey_that_nothing_has)
{
	UP(IBV_QPT_RC);
	SEND(self->tx->buf, 64, 0xfffff100);
	FAILS(LOC_PROT_ERR, LKEY_NONE, "nothing has the lkey 0xfffff100");
}

TEST_F(errors, lkey_that_was_deregistered)
{
	struct ibv_mr *mr;
	uint32_t lkey;

	UP(IBV_QPT_RC);
	mr = ibv_reg_mr(self->set.pd, self->tx->buf, 4096, 0);
	ASSERT_NE(NULL, mr);
	lkey = mr->lkey;
	ASSERT_EQ(0, ibv_dereg_mr(mr));
	SEND(self->tx->buf, 64, lkey);
	FAILS(LOC_PROT_ERR, LKEY_GONE, "was deregistered ");
}

TEST_F(errors, lkey_of_another_domain)
{
	struct ibv_pd *pd = ibv_alloc_pd(self->set.ctx);
	struct ibv_mr *mr;

	UP(IBV_QPT_RC);
	mr = ibv_reg_mr(pd, self->tx->buf, 4096, 0);
	ASSERT_NE(NULL, mr);
	SEND(self->tx->buf, 64, mr->lkey);
	FAILS(LOC_PROT_ERR, LKEY_PD, "belongs to another protection domain");
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
}

TEST_F(errors, lkey_of_a_window)
{
	struct ibv_mw *mw = ibv_alloc_mw(self->set.pd, IBV_MW_TYPE_2);

	UP(IBV_QPT_RC);
	ASSERT_NE(NULL, mw);
	SEND(self->tx->buf, 64, mw->rkey);
	FAILS(LOC_PROT_ERR, LKEY_WINDOW, "the key of a memory window");
	EXPECT_EQ(0, ibv_dealloc_mw(mw));
}

TEST_F(errors, lkey_that_may_not_be_written)
{
	struct ibv_mr *mr;

	UP(IBV_QPT_RC);
	mr = ibv_reg_mr(self->set.pd, self->tx->buf, 4096,
			IBV_ACCESS_REMOTE_READ);
	ASSERT_NE(NULL, mr);
	ASSERT_EQ(0, post(self->tx, self->rx, IBV_WR_RDMA_READ,
			  (uintptr_t)self->tx->buf, 64, mr->lkey, 0));
	FAILS(LOC_PROT_ERR, LKEY_ACCESS,
	      "has REMOTE_READ, and LOCAL_WRITE is needed");
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_F(errors, piece_that_leaves_its_region)
{
	char words[128];

	UP(IBV_QPT_RC);
	SEND(self->tx->buf + DUO_BUF - 96, 160, self->tx->mr->lkey);
	snprintf(words, sizeof(words),
		 "%u bytes at 0x%lx: the region ends 64 bytes before that",
		 DUO_BUF, (unsigned long)self->tx->buf);
	FAILS(LOC_PROT_ERR, LKEY_RANGE, words);
	/* What was posted behind it, and from now on, is flushed. */
	SEND(self->tx->buf, 64, self->tx->mr->lkey);
	EXPECT_TRUE(errlog_completes(self->tx->send_cq, IBV_WC_WR_FLUSH_ERR,
				     SRDMA_ERR_FLUSH_REQUEST));
}

/* Who it was: QP, process, program, request. */
TEST_F(errors, the_log_says_who_and_what)
{
	char words[128];

	UP(IBV_QPT_RC);
	SEND(self->tx->buf, 64, 0xfffff200);
	snprintf(words, sizeof(words), TOPO_LINK " qp %u pid %d (error_codes): "
		 "SEND of 64 bytes to QP %u at " TOPO_IPV4
		 " (wr_id 77) failed with LOC_PROT_ERR",
		 self->tx->qp->qp_num, getpid(), self->rx->qp->qp_num);
	FAILS(LOC_PROT_ERR, LKEY_NONE, words);
}

/* ---- keys ---- */

static int post_local_inv(struct duo_end *end, uint32_t key)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = key,
	};

	return ibv_post_send(end->qp, &wr, &bad);
}

static int post_bind(struct duo_end *end, struct ibv_mw *mw, uint32_t mw_rkey,
		     struct ibv_mr *mr, uint64_t addr, uint64_t length,
		     int access)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { mw, ibv_inc_rkey(mw_rkey),
			     { mr, addr, length, access } },
	};
	uint32_t rkey = mw->rkey;
	int ret;

	/* The library puts in what the window is said to have. */
	mw->rkey = mw_rkey;
	ret = ibv_post_send(end->qp, &wr, &bad);
	mw->rkey = rkey;
	return ret;
}

TEST_F(errors, invalidation_of_what_there_is_not)
{
	UP(IBV_QPT_RC);
	EXPECT_EQ(0, post_local_inv(self->tx, 0xfffff300));
	FAILS(MW_BIND_ERR, INV_KEY, "has the key 0xfffff300");
}

TEST_F(errors, invalidation_of_a_region)
{
	UP(IBV_QPT_RC);
	EXPECT_EQ(0, post_local_inv(self->tx, self->tx->mr->rkey));
	FAILS(MW_BIND_ERR, INV_KIND, "no key that a work request can");
}

FIXTURE(error_binds)
{
	struct verbs_set set;
	struct duo duo;
	struct duo_end *tx;
	struct duo_end *rx;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	uint64_t at;
};

FIXTURE_SETUP(error_binds)
{
	memset(&self->duo, 0, sizeof(self->duo));
	self->tx = &self->duo.end[0];
	self->rx = &self->duo.end[1];
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	self->mr = ibv_reg_mr(self->set.pd, self->tx->buf, 4096,
			      IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE);
	self->mw = ibv_alloc_mw(self->set.pd, IBV_MW_TYPE_2);
	ASSERT_NE(NULL, self->mr);
	ASSERT_NE(NULL, self->mw);
	self->at = (uintptr_t)self->tx->buf;
}

FIXTURE_TEARDOWN(error_binds)
{
	EXPECT_EQ(0, ibv_dealloc_mw(self->mw));
	EXPECT_EQ(0, ibv_dereg_mr(self->mr));
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

#define BIND(rkey, mr, at, length, access)				\
	ASSERT_EQ(0, post_bind(self->tx, self->mw, rkey, mr, at, length, \
			       access))

TEST_F(error_binds, key_that_nothing_has)
{
	BIND(0xfffff400, self->mr, self->at, 64, IBV_ACCESS_REMOTE_READ);
	FAILS(MW_BIND_ERR, BIND_KEY, "nothing has the key 0xfffff400");
}

TEST_F(error_binds, window_of_another_domain)
{
	struct ibv_pd *pd = ibv_alloc_pd(self->set.ctx);
	struct ibv_mr *mr = ibv_reg_mr(pd, self->tx->buf, 4096,
				       IBV_ACCESS_MW_BIND);

	ASSERT_NE(NULL, mr);
	/* The library compares the domains that it knows of. */
	mr->pd = self->set.pd;
	BIND(self->mw->rkey, mr, self->at, 64, IBV_ACCESS_REMOTE_READ);
	FAILS(MW_BIND_ERR, BIND_PD, "are not of one protection domain");
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
}

TEST_F(error_binds, region_without_the_right)
{
	struct ibv_mr *mr = ibv_reg_mr(self->set.pd, self->tx->buf, 4096, 0);

	ASSERT_NE(NULL, mr);
	BIND(self->mw->rkey, mr, self->at, 64, IBV_ACCESS_REMOTE_READ);
	FAILS(MW_BIND_ERR, BIND_ACCESS, "which has no access");
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_F(error_binds, range_that_leaves_the_region)
{
	BIND(self->mw->rkey, self->mr, self->at + 4000, 100,
	     IBV_ACCESS_REMOTE_READ);
	FAILS(MW_BIND_ERR, BIND_RANGE, "the region ends 4 bytes before that");
}

TEST_F(error_binds, bound_already)
{
	BIND(self->mw->rkey, self->mr, self->at, 64, IBV_ACCESS_REMOTE_READ);
	EXPECT_TRUE(errlog_completes(self->tx->send_cq, IBV_WC_SUCCESS, 0));
	BIND(ibv_inc_rkey(self->mw->rkey), self->mr, self->at, 64,
	     IBV_ACCESS_REMOTE_READ);
	FAILS(MW_BIND_ERR, BIND_STATE, "is bound already");
}

TEST_F(error_binds, window_of_another_queue_pair)
{
	BIND(self->mw->rkey, self->mr, self->at, 64, IBV_ACCESS_REMOTE_READ);
	EXPECT_TRUE(errlog_completes(self->tx->send_cq, IBV_WC_SUCCESS, 0));
	EXPECT_EQ(0, post_local_inv(self->rx, ibv_inc_rkey(self->mw->rkey)));
	EXPECT_TRUE(errlog_completes(self->rx->send_cq, IBV_WC_MW_BIND_ERR,
				     SRDMA_ERR_INV_QP));
	EXPECT_TRUE(errlog_says(TOPO_LINK, self->rx->qp->qp_num,
				SRDMA_ERR_INV_QP, "is bound to another QP"));
}

/* A peer that uses a window which was invalidated. */
TEST_F(error_binds, window_that_was_invalidated)
{
	uint32_t rkey = ibv_inc_rkey(self->mw->rkey);

	BIND(self->mw->rkey, self->mr, self->at, 64, IBV_ACCESS_REMOTE_WRITE);
	EXPECT_TRUE(errlog_completes(self->tx->send_cq, IBV_WC_SUCCESS, 0));
	EXPECT_EQ(0, post_local_inv(self->tx, rkey));
	EXPECT_TRUE(errlog_completes(self->tx->send_cq, IBV_WC_SUCCESS, 0));
	EXPECT_EQ(0, duo_write(self->rx, self->tx, 1, 64, rkey));
	EXPECT_TRUE(errlog_completes(self->rx->send_cq, IBV_WC_REM_ACCESS_ERR,
				     SRDMA_ERR_NAK_ACCESS));
	EXPECT_TRUE(errlog_says(TOPO_LINK, self->tx->qp->qp_num,
				SRDMA_ERR_RKEY_INVALIDATED,
				"s ago by LOCAL_INV"));
}

/* Neither its owner nor a peer uses it by other QPs. */
TEST_F(error_binds, window_that_serves_another_queue_pair)
{
	uint32_t rkey = ibv_inc_rkey(self->mw->rkey);
	struct duo second = {};

	BIND(self->mw->rkey, self->mr, self->at, 64, IBV_ACCESS_REMOTE_WRITE);
	EXPECT_TRUE(errlog_completes(self->tx->send_cq, IBV_WC_SUCCESS, 0));
	ASSERT_EQ(0, duo_up(&second, &self->set, &self->set));
	EXPECT_EQ(0, duo_write(&second.end[0], &second.end[1], 1, 64, rkey));
	EXPECT_TRUE(errlog_completes(second.end[0].send_cq,
				     IBV_WC_REM_ACCESS_ERR,
				     SRDMA_ERR_NAK_ACCESS));
	EXPECT_TRUE(errlog_says(TOPO_LINK, second.end[1].qp->qp_num,
				SRDMA_ERR_RKEY_WINDOW,
				"is bound to another QP"));
	EXPECT_EQ(0, duo_close(&second));
}

TEST_F(error_binds, bound_to_nothing)
{
	BIND(self->mw->rkey, self->mr, self->at, 0, IBV_ACCESS_REMOTE_READ);
	FAILS(MW_BIND_ERR, BIND_LENGTH, "cannot be bound to nothing");
}

TEST_F(error_binds, invalidation_from_another_domain)
{
	uint32_t rkey = ibv_inc_rkey(self->mw->rkey);
	struct duo second = {};
	struct verbs_set other;

	BIND(self->mw->rkey, self->mr, self->at, 64, IBV_ACCESS_REMOTE_READ);
	EXPECT_TRUE(errlog_completes(self->tx->send_cq, IBV_WC_SUCCESS, 0));
	ASSERT_EQ(0, verbs_open_set(&other, TOPO_LINK));
	ASSERT_EQ(0, duo_up(&second, &other, &other));
	EXPECT_EQ(0, post_local_inv(&second.end[0], rkey));
	EXPECT_TRUE(errlog_completes(second.end[0].send_cq, IBV_WC_MW_BIND_ERR,
				     SRDMA_ERR_INV_PD));
	EXPECT_TRUE(errlog_says(TOPO_LINK, second.end[0].qp->qp_num,
				SRDMA_ERR_INV_PD,
				"belongs to another protection domain"));
	EXPECT_EQ(0, duo_close(&second));
	EXPECT_EQ(0, verbs_close_set(&other));
}

TEST_HARNESS_MAIN
