// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_post_send(3), sentence by sentence: lists of requests, the first failing
 * one, what the fields of a request mean, return values, and when what a
 * request used may be used again. The table of opcodes and the flags have
 * programs of their own.
 */
#include "pair_fixture.h"

#include <endian.h>
#include <errno.h>

#define LENGTH	256

static const struct pair_options rc = { .type = IBV_QPT_RC };
static const struct pair_options uc = { .type = IBV_QPT_UC };
static const struct pair_options ud = { .type = IBV_QPT_UD };

static const struct pair_options *const all_types[] = { &rc, &uc, &ud };

/* SENDs of slot 0, 1, ... of A's buffer, as one list. */
static void make_list(struct pair *pair, struct pair_wr *list, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		pair_wr_init(&list[i], &pair->a, &pair->b, IBV_WR_SEND,
			     i * LENGTH, LENGTH);
		list[i].wr.next = i + 1 < count ? &list[i + 1].wr : NULL;
		pair_fill(pair->a.buffer + i * LENGTH, LENGTH, i);
	}
}

static int post_receives(struct pair *pair, int count)
{
	int i, ret = 0;

	for (i = 0; i < count && !ret; i++)
		ret = pair_post_recv(&pair->b, i * (LENGTH + PAIR_GRH),
				     LENGTH + PAIR_GRH);
	return ret;
}

/* The next receive holds this slot of A's. */
static bool received(struct pair *pair, unsigned int slot)
{
	uint32_t head = pair->a.qp->qp_type == IBV_QPT_UD ? PAIR_GRH : 0;
	struct ibv_wc wc;

	return !pair_wait(pair->b.recv_cq, &wc) && !wc.status &&
	       wc.byte_len == LENGTH + head &&
	       pair_filled(pair->b.buffer + wc.wr_id + head, LENGTH, slot);
}

/* "posts the linked list of work requests (WRs) starting with wr" */
TEST_F(pair, list_is_posted_in_its_order)
{
	static struct pair_wr list[32];
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int i, t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, post_receives(&self->pair, 32));
		make_list(&self->pair, list, 32);
		ASSERT_EQ(0, ibv_post_send(self->a->qp, &list[0].wr, &bad));
		for (i = 0; i < 32; i++) {
			ASSERT_EQ(0, pair_wait(self->a->set.cq, &wc));
			EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
			EXPECT_EQ(i * LENGTH, wc.wr_id);
			EXPECT_TRUE(received(&self->pair, i));
		}
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

TEST_F(pair, list_starts_with_wr_and_ends_with_next_null)
{
	struct pair_wr list[3];
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, post_receives(&self->pair, 3));
	make_list(&self->pair, list, 3);
	list[1].wr.next = NULL;
	ASSERT_EQ(0, ibv_post_send(self->a->qp, &list[1].wr, &bad));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	EXPECT_TRUE(received(&self->pair, 1));
	EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
	EXPECT_EQ(0, ibv_poll_cq(self->b->recv_cq, 1, &wc));
}

/*
 * "It stops processing WRs from this list at the first failure ... and returns
 * this failing WR through bad_wr."
 */
TEST_F(pair, list_stops_at_first_failure)
{
	struct ibv_send_wr *bad = NULL;
	struct pair_wr list[4];
	struct ibv_wc wc;
	int t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, post_receives(&self->pair, 4));
		make_list(&self->pair, list, 4);
		/* Both are wrong; the first of them counts. */
		list[2].wr.num_sge = 32;
		list[3].wr.num_sge = 32;
		EXPECT_EQ(EINVAL, ibv_post_send(self->a->qp, &list[0].wr,
						&bad));
		EXPECT_EQ(&list[2].wr, bad);
		/* Those before it were posted, those behind it were not. */
		EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
		EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
		EXPECT_TRUE(received(&self->pair, 0));
		EXPECT_TRUE(received(&self->pair, 1));
		EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
		EXPECT_EQ(0, ibv_poll_cq(self->b->recv_cq, 1, &wc));
		/* The rest can be posted when it has been put right. */
		list[2].wr.num_sge = 1;
		list[3].wr.num_sge = 1;
		EXPECT_EQ(0, ibv_post_send(self->a->qp, bad, &bad));
		EXPECT_TRUE(received(&self->pair, 2));
		EXPECT_TRUE(received(&self->pair, 3));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* Failures that can be detected while posting, each at the head of a list. */
TEST_F(pair, bad_wr_is_the_failing_one)
{
	struct ibv_send_wr *bad = NULL;
	struct pair_wr wr;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	/* Too many pieces. */
	pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, LENGTH);
	wr.wr.num_sge = 5;
	EXPECT_EQ(EINVAL, ibv_post_send(self->a->qp, &wr.wr, &bad));
	EXPECT_EQ(&wr.wr, bad);
	/* More inline data than was asked for. */
	bad = NULL;
	pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, 4096);
	wr.wr.send_flags |= IBV_SEND_INLINE;
	EXPECT_EQ(EINVAL, ibv_post_send(self->a->qp, &wr.wr, &bad));
	EXPECT_EQ(&wr.wr, bad);
	/* An atomic with no room for what was there. */
	bad = NULL;
	pair_wr_init(&wr, self->a, self->b, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 4);
	EXPECT_EQ(EINVAL, ibv_post_send(self->a->qp, &wr.wr, &bad));
	EXPECT_EQ(&wr.wr, bad);
	/* An atomic that is not aligned. */
	bad = NULL;
	pair_wr_init(&wr, self->a, self->b, IBV_WR_ATOMIC_CMP_AND_SWP, 4, 8);
	EXPECT_EQ(EINVAL, ibv_post_send(self->a->qp, &wr.wr, &bad));
	EXPECT_EQ(&wr.wr, bad);
}

/*
 * "... or the value of errno on failure (which indicates the failure reason)":
 * a full queue is ENOMEM, at exactly what create_qp promised.
 */
TEST_F(pair, full_queue_returns_enomem)
{
	struct pair_options options = {
		.type = IBV_QPT_RC, .send_wr = 40, .rnr_retry = 7,
	};
	struct ibv_qp_init_attr init;
	struct ibv_send_wr *bad;
	struct ibv_qp_attr attr;
	static struct pair_wr list[100];
	int i, taken, depth;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	ASSERT_EQ(0, ibv_query_qp(self->a->qp, &attr, IBV_QP_CAP, &init));
	depth = init.cap.max_send_wr;
	ASSERT_LE(40, depth);
	ASSERT_GT(99, depth);
	/* Nothing leaves the queue: the peer has no receive. */
	make_list(&self->pair, list, 100);
	EXPECT_EQ(ENOMEM, ibv_post_send(self->a->qp, &list[0].wr, &bad));
	taken = (struct pair_wr *)bad - list;
	EXPECT_EQ(depth, taken);
	bad = NULL;
	EXPECT_EQ(ENOMEM, ibv_post_send(self->a->qp, &list[99].wr, &bad));
	EXPECT_EQ(&list[99].wr, bad);
	/* What was taken goes on when it can. */
	ASSERT_EQ(0, post_receives(&self->pair, taken));
	for (i = 0; i < taken; i++) {
		EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
		ASSERT_TRUE(received(&self->pair, i));
	}
	/* A completion that was seen makes room. */
	ASSERT_EQ(0, post_receives(&self->pair, 1));
	EXPECT_EQ(0, ibv_post_send(self->a->qp, &list[99].wr, &bad));
	EXPECT_TRUE(received(&self->pair, 99));
}

/* "wr_id: User defined WR ID": all 64 bits come back. */
TEST_F(pair, wr_id_comes_back)
{
	static const uint64_t ids[] = {
		0, ~0ull, 0x8000000000000000, 0x123456789abcdef0,
	};
	struct pair_wr wr;
	struct ibv_wc wc;
	int i, t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, post_receives(&self->pair, 4));
		for (i = 0; i < 4; i++) {
			pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, 1);
			wr.wr.wr_id = ids[i];
			ASSERT_EQ(0, pair_post(self->a, &wr));
			ASSERT_EQ(0, pair_wait(self->a->set.cq, &wc));
			EXPECT_EQ(ids[i], wc.wr_id);
		}
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* "sg_list, num_sge": the pieces in their order make the message. */
TEST_F(pair, pieces_are_gathered_in_order)
{
	static const uint32_t at[] = { 9001, 3, 5000, 2048 };
	static const uint32_t length[] = { 7, 100, 1, 92 };
	uint8_t expected[200];
	struct pair_wr wr;
	struct ibv_wc wc;
	int i, t, sum;

	for (t = 0; t < 3; t++) {
		uint32_t head = t == 2 ? PAIR_GRH : 0;

		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, post_receives(&self->pair, 1));
		pair_fill(self->a->buffer, self->a->size, 5);
		pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, 0);
		wr.wr.num_sge = 4;
		for (i = 0, sum = 0; i < 4; i++) {
			wr.sge[i] = wr.sge[0];
			wr.sge[i].addr = (uintptr_t)self->a->buffer + at[i];
			wr.sge[i].length = length[i];
			memcpy(expected + sum, self->a->buffer + at[i],
			       length[i]);
			sum += length[i];
		}
		ASSERT_EQ(0, pair_post(self->a, &wr));
		EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
		ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
		EXPECT_EQ(200 + head, wc.byte_len);
		EXPECT_EQ(0, memcmp(self->b->buffer + head, expected, 200));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* "imm_data: Immediate data (in network byte order)" */
TEST_F(pair, imm_data_is_in_network_order)
{
	struct pair_wr wr;
	struct ibv_wc wc;
	int t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, post_receives(&self->pair, 1));
		pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND_WITH_IMM, 0, 1);
		wr.wr.imm_data = htobe32(0x80a0c0e1);
		ASSERT_EQ(0, pair_post(self->a, &wr));
		EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
		ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
		EXPECT_EQ(0x80a0c0e1, be32toh(wc.imm_data));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* A request that the peer must refuse, and what is said about it. */
static enum ibv_wc_status refused(struct pair *pair, struct pair_wr *wr)
{
	int status = -1;

	memset(pair->b.buffer, 0, pair->b.size);
	if (!pair_post(&pair->a, wr))
		status = pair_wait_sent(&pair->a);
	if (verbs_qp_state(pair->a.qp) != IBV_QPS_ERR)
		status = -1;
	if (pair_disconnect(pair) || pair_connect(pair, &rc))
		status = -1;
	return status;
}

/* "rdma.remote_addr: Start address of remote memory buffer" */
TEST_F(pair, remote_addr_is_the_start)
{
	static const uint64_t outside[] = { -1, -LENGTH, 1, LENGTH };
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
	};
	struct pair_wr wr;
	int i, j;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	for (i = 0; i < 3; i++) {
		for (j = 0; j < 4; j++) {
			pair_wr_init(&wr, self->a, self->b, opcodes[i], 0,
				     LENGTH);
			if (outside[j] <= LENGTH)
				wr.wr.wr.rdma.remote_addr +=
					self->b->size - LENGTH;
			wr.wr.wr.rdma.remote_addr += outside[j];
			EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
				  refused(&self->pair, &wr));
		}
		/* The last bytes are within it. */
		pair_wr_init(&wr, self->a, self->b, opcodes[i], 0, LENGTH);
		wr.wr.wr.rdma.remote_addr += self->b->size - LENGTH;
		ASSERT_EQ(0, post_receives(&self->pair, 1));
		ASSERT_EQ(0, pair_post(self->a, &wr));
		EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
		ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	}
}

/* "rdma.rkey: Key of the remote Memory Region", and atomic.rkey */
TEST_F(pair, rkey_names_the_remote_region)
{
	struct ibv_mr *mr;
	struct pair_wr wr;
	uint32_t key;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_RDMA_WRITE, 0, LENGTH);
	wr.wr.wr.rdma.rkey ^= 1;
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, refused(&self->pair, &wr));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_RDMA_READ, 0, LENGTH);
	wr.wr.wr.rdma.rkey ^= 0x100;
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, refused(&self->pair, &wr));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8);
	wr.wr.wr.atomic.rkey = 0;
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, refused(&self->pair, &wr));

	/* A region that the peer may not write, or that is gone. */
	mr = ibv_reg_mr(self->b->set.pd, self->b->buffer, LENGTH,
			IBV_ACCESS_REMOTE_READ);
	ASSERT_NE(NULL, mr);
	key = mr->rkey;
	pair_wr_init(&wr, self->a, self->b, IBV_WR_RDMA_READ, 0, LENGTH);
	wr.wr.wr.rdma.rkey = key;
	ASSERT_EQ(0, pair_post(self->a, &wr));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_RDMA_WRITE, 0, LENGTH);
	wr.wr.wr.rdma.rkey = key;
	ASSERT_EQ(0, pair_post(self->a, &wr));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, pair_wait_sent(self->a));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, pair_disconnect(&self->pair));
	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_RDMA_READ, 0, LENGTH);
	wr.wr.wr.rdma.rkey = key;
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, refused(&self->pair, &wr));
}

/* "sge.addr, length, lkey": what is not ours is not read and not written. */
TEST_F(pair, lkey_must_hold_the_piece)
{
	struct pair_wr wr;
	int t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, post_receives(&self->pair, 1));
		pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, LENGTH);
		wr.sge[0].lkey ^= 1;
		ASSERT_EQ(0, pair_post(self->a, &wr));
		EXPECT_EQ(IBV_WC_LOC_PROT_ERR, pair_wait_sent(self->a));
		EXPECT_EQ(0, pair_disconnect(&self->pair));

		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, post_receives(&self->pair, 1));
		pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, LENGTH);
		wr.sge[0].addr += self->a->size - LENGTH + 1;
		ASSERT_EQ(0, pair_post(self->a, &wr));
		EXPECT_EQ(IBV_WC_LOC_PROT_ERR, pair_wait_sent(self->a));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_RDMA_READ, 0, LENGTH);
	wr.sge[0].lkey ^= 1;
	EXPECT_EQ(IBV_WC_LOC_PROT_ERR, refused(&self->pair, &wr));
}

/* "ud.ah: Address handle (AH) for the remote node address" */
TEST_F(pair, ud_goes_where_the_ah_points)
{
	struct ibv_qp_attr attr;
	struct pair_wr wr;
	struct ibv_wc wc;
	struct ibv_ah *ah;

	ASSERT_EQ(0, pair_connect(&self->pair, &ud));
	ASSERT_EQ(0, post_receives(&self->pair, 2));
	make_list(&self->pair, &wr, 1);
	/* To ourselves: the QP there has no such number, or no receive. */
	verbs_attr(&self->a->set, &attr, IBV_QPS_RTR, 0);
	ah = ibv_create_ah(self->a->set.pd, &attr.ah_attr);
	ASSERT_NE(NULL, ah);
	wr.wr.wr.ud.ah = ah;
	if (variant->wire != PAIR_LOOPBACK) {
		wr.wr.wr.ud.remote_qpn = 0x7ffff0;
		ASSERT_EQ(0, pair_post(self->a, &wr));
		EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	}
	wr.wr.wr.ud.ah = self->a->ah;
	wr.wr.wr.ud.remote_qpn = self->b->qp->qp_num;
	ASSERT_EQ(0, pair_post(self->a, &wr));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(self->a->qp->qp_num, wc.src_qp);
	EXPECT_TRUE(wc.wc_flags & IBV_WC_GRH);
	EXPECT_EQ(0, ibv_poll_cq(self->b->recv_cq, 1, &wc));
	EXPECT_EQ(0, ibv_destroy_ah(ah));
}

/* "ud.remote_qpn: QP number of the destination QP", "ud.remote_qkey" */
TEST_F(pair, ud_needs_qpn_and_qkey_of_the_destination)
{
	struct pair_wr wr;
	struct ibv_wc wc;

	ASSERT_EQ(0, pair_connect(&self->pair, &ud));
	ASSERT_EQ(0, post_receives(&self->pair, 1));
	make_list(&self->pair, &wr, 1);
	/* Nobody hears of what went elsewhere; the sender is done with it. */
	wr.wr.wr.ud.remote_qkey = VERBS_QKEY + 1;
	ASSERT_EQ(0, pair_post(self->a, &wr));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	wr.wr.wr.ud.remote_qkey = VERBS_QKEY;
	wr.wr.wr.ud.remote_qpn = 0x7ffff0;
	ASSERT_EQ(0, pair_post(self->a, &wr));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	/* The first that arrives is the one that was meant. */
	pair_fill(self->a->buffer, LENGTH, 9);
	wr.wr.wr.ud.remote_qpn = self->b->qp->qp_num;
	ASSERT_EQ(0, pair_post(self->a, &wr));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	EXPECT_TRUE(received(&self->pair, 9));
	EXPECT_EQ(0, ibv_poll_cq(self->b->recv_cq, 1, &wc));
}

/*
 * "The buffers used by a WR can only be safely reused after ... a work
 * completion has been retrieved": then they can, also if the peer looks late.
 */
TEST_F(pair, buffer_may_be_reused_after_completion)
{
	struct pair_wr wr;
	int i, t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, post_receives(&self->pair, 20));
		for (i = 0; i < 20; i++) {
			pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0,
				     LENGTH);
			pair_fill(self->a->buffer, LENGTH, i);
			ASSERT_EQ(0, pair_post(self->a, &wr));
			ASSERT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
		}
		memset(self->a->buffer, 0xff, self->a->size);
		for (i = 0; i < 20; i++)
			EXPECT_TRUE(received(&self->pair, i));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/*
 * "The user should not alter or destroy AHs associated with WRs until ... a
 * work completion has been retrieved": after it they can go; before it, the
 * request may fail, but it completes.
 */
TEST_F(pair, ah_may_go_after_completion)
{
	struct ibv_qp_attr attr;
	struct pair_wr wr;
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &ud));
	ASSERT_EQ(0, post_receives(&self->pair, 20));
	verbs_attr(&self->a->set, &attr, IBV_QPS_RTR, 0);
	attr.ah_attr.grh.dgid = self->a->peer;
	for (i = 0; i < 20; i++) {
		struct ibv_ah *ah = ibv_create_ah(self->a->set.pd,
						  &attr.ah_attr);

		ASSERT_NE(NULL, ah);
		pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, LENGTH);
		wr.wr.wr.ud.ah = ah;
		pair_fill(self->a->buffer, LENGTH, i);
		ASSERT_EQ(0, pair_post(self->a, &wr));
		ASSERT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
		EXPECT_EQ(0, ibv_destroy_ah(ah));
		EXPECT_TRUE(received(&self->pair, i));
	}
}

TEST_F(pair, ah_that_went_early_harms_only_its_request)
{
	static struct pair_wr list[32];
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &ud));
	ASSERT_EQ(0, post_receives(&self->pair, 32));
	make_list(&self->pair, list, 32);
	ASSERT_EQ(0, ibv_post_send(self->a->qp, &list[0].wr, &bad));
	EXPECT_EQ(0, ibv_destroy_ah(self->a->ah));
	self->a->ah = NULL;
	for (i = 0; i < 32; i++) {
		ASSERT_EQ(0, pair_wait(self->a->set.cq, &wc));
		EXPECT_EQ(i * LENGTH, wc.wr_id);
		EXPECT_TRUE(wc.status == IBV_WC_SUCCESS ||
			    wc.status == IBV_WC_LOC_QP_OP_ERR ||
			    wc.status == IBV_WC_WR_FLUSH_ERR);
	}
}

TEST_HARNESS_MAIN
