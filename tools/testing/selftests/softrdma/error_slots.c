// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that no library lets through, written into the rings by hand: the
 * vendor_err of each, and what softrdma(8) says of it (troubleshooting.rst).
 */
#include "errors_fixture.h"

#include "slots.h"

#define MARK			0x6d61726b6d61726b
#define WR_ID			77

#define FLUSH_GLOBAL		1
#define FLUSH_PERSISTENT	2
#define ACCESS_FLUSH_GLOBAL	(1 << 8)

/* The send ring is known by a request that does nothing. */
static struct srdma_abi_ring *begin(struct duo *duo, struct verbs_set *set)
{
	struct duo_end *tx = &duo->end[0];
	struct ibv_wc wc;

	if (duo_up(duo, set, set) ||
	    duo_write(tx, &duo->end[1], MARK, 0, duo->end[1].mr->rkey) ||
	    duo_poll(tx->send_cq, &wc, 1) != 1 || wc.status)
		return NULL;
	return slots_find(MARK, SLOTS_OF_SENDS);
}

static struct srdma_abi_send_wqe *next_send(struct srdma_abi_ring *ring,
					    uint32_t opcode)
{
	struct srdma_abi_send_wqe *wqe = slots_next(ring, WR_ID);

	wqe->opcode = opcode;
	wqe->send_flags = SRDMA_ABI_SEND_SIGNALED;
	return wqe;
}

#define POST()								\
	do {								\
		slots_post(ring);					\
		ASSERT_EQ(0, slots_tell(self->tx->qp));			\
	} while (0)

TEST_F(errors, opcode_that_there_is_not)
{
	struct srdma_abi_ring *ring = begin(&self->duo, &self->set);

	ASSERT_NE(NULL, ring);
	next_send(ring, 9999);
	POST();
	FAILS(LOC_QP_OP_ERR, WR_OPCODE, "no send request of opcode 9999");
}

TEST_F(errors, flags_that_there_are_not)
{
	struct srdma_abi_ring *ring = begin(&self->duo, &self->set);

	ASSERT_NE(NULL, ring);
	next_send(ring, SRDMA_ABI_WR_SEND)->send_flags = 0x80000000;
	POST();
	FAILS(LOC_QP_OP_ERR, WR_FLAGS, "its flags 0x80000000 are unknown");
}

TEST_F(errors, more_pieces_than_there_is_room_for)
{
	struct srdma_abi_ring *ring = begin(&self->duo, &self->set);

	ASSERT_NE(NULL, ring);
	next_send(ring, SRDMA_ABI_WR_SEND)->dma.num_sge = 999;
	POST();
	FAILS(LOC_QP_OP_ERR, WR_NUM_SGE, "it has more pieces, 999, than");
}

TEST_F(errors, more_inline_bytes_than_there_is_room_for)
{
	struct srdma_abi_ring *ring = begin(&self->duo, &self->set);
	struct srdma_abi_send_wqe *wqe;

	ASSERT_NE(NULL, ring);
	wqe = next_send(ring, SRDMA_ABI_WR_SEND);
	wqe->send_flags |= SRDMA_ABI_SEND_INLINE;
	wqe->dma.length = 100000;
	POST();
	FAILS(LOC_QP_OP_ERR, WR_INLINE, "more inline bytes, 100000, than");
}

TEST_F(errors, flush_of_no_type)
{
	struct srdma_abi_ring *ring = begin(&self->duo, &self->set);

	ASSERT_NE(NULL, ring);
	next_send(ring, SRDMA_ABI_WR_FLUSH)->flush.type = 0;
	POST();
	FAILS(LOC_QP_OP_ERR, WR_FLUSH_TYPE, "a level that there is not");
}

TEST_F(errors, flush_to_persistence)
{
	struct srdma_abi_ring *ring = begin(&self->duo, &self->set);
	struct ibv_qp_attr attr = {
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   ACCESS_FLUSH_GLOBAL,
	};
	struct srdma_abi_send_wqe *wqe;

	ASSERT_NE(NULL, ring);
	ASSERT_EQ(0, ibv_modify_qp(self->rx->qp, &attr, IBV_QP_ACCESS_FLAGS));
	wqe = next_send(ring, SRDMA_ABI_WR_FLUSH);
	wqe->flush.remote_addr = (uintptr_t)self->rx->buf;
	wqe->flush.rkey = self->rx->mr->rkey;
	wqe->flush.type = FLUSH_GLOBAL | FLUSH_PERSISTENT;
	wqe->dma.length = 64;
	POST();
	FAILS(REM_ACCESS_ERR, NAK_ACCESS, "remote access error");
	EXPECT_TRUE(errlog_says(TOPO_LINK, self->rx->qp->qp_num,
				SRDMA_ERR_REQ_PERSISTENT,
				"asks to flush to persistence"));
}

/* A datagram has no request that needs no handle: its ring is known by one. */
TEST_F(errors, datagram_to_nowhere)
{
	struct ibv_send_wr *bad, wr = { .wr_id = MARK, .opcode = IBV_WR_SEND };
	struct srdma_abi_ring *ring;
	struct ibv_qp_attr attr;
	struct ibv_wc wc;

	self->duo.type = IBV_QPT_UD;
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	verbs_attr(&self->set, &attr, IBV_QPS_RTR, 0);
	wr.wr.ud.ah = ibv_create_ah(self->set.pd, &attr.ah_attr);
	wr.wr.ud.remote_qpn = self->rx->qp->qp_num;
	ASSERT_NE(NULL, wr.wr.ud.ah);
	ASSERT_EQ(0, ibv_post_send(self->tx->qp, &wr, &bad));
	ASSERT_EQ(1, duo_poll(self->tx->send_cq, &wc, 1));
	ring = slots_find(MARK, SLOTS_OF_SENDS);
	ASSERT_NE(NULL, ring);
	next_send(ring, SRDMA_ABI_WR_SEND);
	POST();
	FAILS(LOC_QP_OP_ERR, WR_AH, "a datagram without an address handle");
	EXPECT_EQ(0, ibv_destroy_ah(wr.wr.ud.ah));
}

/* Of a receive ring the first request waits to be used. */
TEST_F(errors, receive_of_more_pieces_than_there_is_room_for)
{
	struct srdma_abi_ring *ring;
	struct srdma_abi_recv_wqe *wqe;
	struct ibv_wc wc;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_recv(self->rx, MARK, 0, 64));
	ring = slots_find(MARK, 0);
	ASSERT_NE(NULL, ring);
	wqe = slots_next(ring, WR_ID);
	wqe->dma.num_sge = 999;
	slots_post(ring);
	ASSERT_EQ(0, duo_send(self->tx, 1, 0, 64, 0));
	ASSERT_EQ(1, duo_poll(self->tx->send_cq, &wc, 1));
	EXPECT_TRUE(errlog_completes(self->rx->recv_cq, IBV_WC_SUCCESS, 0));
	ASSERT_EQ(0, duo_send(self->tx, 2, 0, 64, 0));
	FAILS(REM_OP_ERR, NAK_OPERATION, "remote operational error");
	EXPECT_TRUE(errlog_completes(self->rx->recv_cq, IBV_WC_LOC_QP_OP_ERR,
				     SRDMA_ERR_RECV_MALFORMED));
	EXPECT_TRUE(errlog_says(TOPO_LINK, self->rx->qp->qp_num,
				SRDMA_ERR_RECV_MALFORMED,
				"receive (wr_id 77) failed with LOC_QP_OP_ERR"));
}

/* The peer does not learn of it, but the QP is in error as well (9.9.3, class A). */
TEST_F(errors, receive_that_is_malformed_on_uc)
{
	struct srdma_abi_ring *ring;
	struct srdma_abi_recv_wqe *wqe;

	self->duo.type = IBV_QPT_UC;
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_recv(self->rx, MARK, 0, 64));
	ring = slots_find(MARK, 0);
	ASSERT_NE(NULL, ring);
	wqe = slots_next(ring, WR_ID);
	wqe->dma.num_sge = 999;
	slots_post(ring);
	ASSERT_EQ(0, duo_recv(self->rx, 3, 0, 64));
	ASSERT_EQ(0, duo_send(self->tx, 1, 0, 64, 0));
	EXPECT_TRUE(errlog_completes(self->rx->recv_cq, IBV_WC_SUCCESS, 0));
	ASSERT_EQ(0, duo_send(self->tx, 2, 0, 64, 0));
	EXPECT_TRUE(errlog_completes(self->rx->recv_cq, IBV_WC_LOC_QP_OP_ERR,
				     SRDMA_ERR_RECV_MALFORMED));
	EXPECT_TRUE(errlog_completes(self->rx->recv_cq, IBV_WC_WR_FLUSH_ERR,
				     SRDMA_ERR_FLUSH_RECEIVE));
	EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(self->rx->qp));
}

TEST_HARNESS_MAIN
