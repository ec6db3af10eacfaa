// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who may do what: rights of QPs and of regions one by one, what a key is no key
 * for, what ends with its owner, and credits, which are a promise.
 */
#include "peer_fixture.h"

#include <errno.h>

#include "duo.h"

#define ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* Requests, and the one right that each needs. */
static const struct {
	uint8_t opcode;
	int right;
} requests[] = {
	{ RC_WRITE_ONLY, IBV_ACCESS_REMOTE_WRITE },
	{ RC_ATOMIC_WRITE, IBV_ACCESS_REMOTE_WRITE },
	{ RC_READ, IBV_ACCESS_REMOTE_READ },
	{ RC_CMP_SWAP, IBV_ACCESS_REMOTE_ATOMIC },
	{ RC_FETCH_ADD, IBV_ACCESS_REMOTE_ATOMIC },
};

#define REQUESTS (sizeof(requests) / sizeof(requests[0]))

/* Eight bytes at the start of the memory, which is all ones. */
static int ask(struct peer *peer, uint8_t opcode)
{
	memset(peer->buf, 0xff, 64);
	switch (opcode) {
	case RC_READ:
		return peer_rdma(peer, opcode, PSN, 0, 8, 0);
	case RC_CMP_SWAP:
	case RC_FETCH_ADD:
		return peer_atomic(peer, opcode, PSN, 0, 7, ~0ull);
	default:
		return peer_rdma(peer, opcode, PSN, 0, 8, 8);
	}
}

/* It is executed: a READ answered, by all else the memory changed. */
static bool is_done(struct peer *peer, uint8_t opcode)
{
	struct peer_heard heard;

	if (ask(peer, opcode) || verbs_qp_state(peer->qp) != IBV_QPS_RTS)
		return false;
	return opcode == RC_READ ?
		peer_hears(&heard, RC_READ_RESP_ONLY, PSN) && heard.len == 8 :
		!cm_is_all(peer->buf, 64, 0xff);
}

/* It is refused with this NAK, and nothing of it was done. */
static bool is_refused(struct peer *peer, uint8_t opcode, uint8_t nak)
{
	return !ask(peer, opcode) && peer_refuses(peer, PSN, nak) &&
	       cm_is_all(peer->buf, 64, 0xff);
}

static int reconnect_with(struct peer *peer, const struct peer_attr *a,
			  int rights)
{
	struct ibv_qp_attr attr = { .qp_access_flags = rights };

	return peer_reconnect(peer, a) ?:
	       ibv_modify_qp(peer->qp, &attr, IBV_QP_ACCESS_FLAGS);
}

/* 9.7.5.2.8: what a QP is not set up for is an invalid request. */
TEST_F(peer, qp_gives_no_more_than_it_says)
{
	struct peer *peer = &self->peer;
	size_t i;

	for (i = 0; i < REQUESTS; i++) {
		uint8_t opcode = requests[i].opcode;
		int right = requests[i].right;

		ASSERT_EQ(0, reconnect_with(peer, &self->attr, right));
		EXPECT_TRUE(is_done(peer, opcode)) {
			TH_LOG("opcode 0x%02x", opcode);
		}
		ASSERT_EQ(0, reconnect_with(peer, &self->attr, ALL & ~right));
		EXPECT_TRUE(is_refused(peer, opcode, NAK_INVALID)) {
			TH_LOG("opcode 0x%02x", opcode);
		}
	}
}

/* What comes after the right was taken is not written, though its message was begun. */
TEST_F(peer, right_that_is_taken_stops_a_write_under_way)
{
	struct ibv_qp_attr attr = {
		.qp_access_flags = ALL & ~IBV_ACCESS_REMOTE_WRITE,
	};
	struct peer *peer = &self->peer;

	memset(peer->buf, 0xff, 2 * MTU);
	ASSERT_EQ(0, peer_rdma(peer, RC_WRITE_FIRST, PSN, 0, MTU + 8, MTU));
	ASSERT_TRUE(peer_hears_count(PSN, 0));
	EXPECT_TRUE(cm_holds(peer->buf, MTU, PSN));
	ASSERT_EQ(0, ibv_modify_qp(peer->qp, &attr, IBV_QP_ACCESS_FLAGS));
	ASSERT_EQ(0, peer_send(peer, RC_WRITE_LAST, PSN + 1, 8));
	EXPECT_TRUE(peer_refuses(peer, PSN + 1, NAK_INVALID));
	EXPECT_TRUE(cm_is_all(peer->buf + MTU, MTU, 0xff));
}

TEST_F(peer, region_gives_no_more_than_it_says)
{
	struct peer *peer = &self->peer;
	struct ibv_mr *mr = peer->mr;
	size_t i;
	int with;

	for (i = 0; i < 2 * REQUESTS; i++) {
		uint8_t opcode = requests[i / 2].opcode;
		int right = requests[i / 2].right;

		with = i % 2;
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		peer->mr = ibv_reg_mr(peer->set.pd, peer->buf, PEER_BUF,
				      with ? right | IBV_ACCESS_LOCAL_WRITE :
					     ALL & ~right);
		ASSERT_NE(NULL, peer->mr);
		EXPECT_TRUE(with ? is_done(peer, opcode) :
				   is_refused(peer, opcode, NAK_ACCESS)) {
			TH_LOG("opcode 0x%02x, with its right: %d", opcode,
			       with);
		}
		EXPECT_EQ(0, ibv_dereg_mr(peer->mr));
		peer->mr = mr;
	}
}

/* Nor does it give anything to the QPs of another domain. */
TEST_F(peer, region_of_another_pd_gives_nothing)
{
	struct peer *peer = &self->peer;
	struct ibv_pd *pd = ibv_alloc_pd(peer->set.ctx);
	struct ibv_mr *mr = peer->mr;
	size_t i;

	ASSERT_NE(NULL, pd);
	peer->mr = ibv_reg_mr(pd, peer->buf, PEER_BUF, ALL);
	ASSERT_NE(NULL, peer->mr);
	for (i = 0; i < REQUESTS; i++) {
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		EXPECT_TRUE(is_refused(peer, requests[i].opcode, NAK_ACCESS)) {
			TH_LOG("opcode 0x%02x", requests[i].opcode);
		}
	}
	EXPECT_EQ(0, ibv_dereg_mr(peer->mr));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
	peer->mr = mr;
}

/* The pages that it is pinned by are none of it. */
TEST_F(peer, region_begins_in_the_middle_of_a_page)
{
	struct peer *peer = &self->peer;
	struct ibv_mr *mr = peer->mr;

	memset(peer->buf, 0x33, 8192);
	peer->mr = ibv_reg_mr(peer->set.pd, peer->buf + 100, 4096, ALL);
	ASSERT_NE(NULL, peer->mr);
	ASSERT_EQ(0, peer_rdma(peer, RC_WRITE_ONLY, PSN, 100, 64, 64));
	EXPECT_TRUE(peer_hears_count(PSN, 1));
	EXPECT_TRUE(cm_is_all(peer->buf, 100, 0x33));
	EXPECT_TRUE(cm_holds(peer->buf + 100, 64, PSN));
	EXPECT_TRUE(cm_is_all(peer->buf + 164, 4096, 0x33));
	EXPECT_EQ(0, ibv_dereg_mr(peer->mr));
	peer->mr = mr;
}

/* 9.7.7.2: so many the peer may count on, and not one more. */
TEST_F(peer, credits_are_the_receives_that_are_posted)
{
	struct peer *peer = &self->peer;
	struct peer_heard heard;
	int i;

	/* Codes up to 4 are the number itself. */
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, peer_post_recv(peer, i, 0, MTU));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN + i, 8));
		ASSERT_TRUE(peer_hears(&heard, RC_ACK, PSN + i));
		EXPECT_EQ(4 - i, heard.syndrome);
	}
	ASSERT_EQ(0, peer_post_recv(peer, i, 0, MTU));
	ASSERT_EQ(0, peer_post_recv(peer, i, 0, MTU));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN + i, 8));
	ASSERT_TRUE(peer_hears(&heard, RC_ACK, PSN + i));
	EXPECT_EQ(1, heard.syndrome);
}

/* They count from the last message that is complete: what goes on has its own. */
TEST_F(peer, credits_count_the_receive_in_use)
{
	struct peer *peer = &self->peer;
	struct peer_heard heard;
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, peer_post_recv(peer, i, 0, 2 * MTU));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_FIRST, PSN, MTU));
	ASSERT_TRUE(peer_hears(&heard, RC_ACK, PSN));
	EXPECT_EQ(0, heard.msn);
	EXPECT_EQ(3, heard.syndrome);
	ASSERT_EQ(0, peer_send(peer, RC_SEND_LAST, PSN + 1, 8));
	ASSERT_TRUE(peer_hears(&heard, RC_ACK, PSN + 1));
	EXPECT_EQ(1, heard.msn);
	EXPECT_EQ(2, heard.syndrome);
}

/* ---- keys, and what they are no keys for ---- */

static int post(struct peer *peer, enum ibv_wr_opcode opcode, uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)peer->buf, 8, lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = opcode, .sg_list = &sge, .num_sge = 1,
	};

	/* A READ has the same members at the same places. */
	wr.wr.atomic.remote_addr = 0x1000;
	return ibv_post_send(peer->qp, &wr, &bad);
}

/* It fails for its own memory, before a byte has left. */
static bool fails_here(struct peer *peer, enum ibv_wr_opcode opcode,
		       uint32_t lkey)
{
	int64_t said = peer_said(peer);
	struct ibv_wc wc;

	return !post(peer, opcode, lkey) && peer_said(peer) == said &&
	       peer_completes(peer->set.cq, &wc) &&
	       wc.status == IBV_WC_LOC_PROT_ERR;
}

/* What was executed at the peer, with its result nowhere, is done for good. */
TEST_F(peer, result_needs_a_place)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_ATOMIC_CMP_AND_SWP,
	};
	struct peer *peer = &self->peer;
	struct ibv_mr *mr;
	size_t i;

	mr = ibv_reg_mr(peer->set.pd, peer->buf, PEER_BUF,
			IBV_ACCESS_REMOTE_READ);
	ASSERT_NE(NULL, mr);
	for (i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		EXPECT_TRUE(fails_here(peer, opcodes[i], mr->lkey)) {
			TH_LOG("opcode %d", opcodes[i]);
		}
	}
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

/* 0 is all memory, to kernel consumers. */
TEST_F(peer, key_of_the_kernel_is_not_for_users)
{
	EXPECT_TRUE(fails_here(&self->peer, IBV_WR_SEND, 0));
}

/* Nobody posts or polls in the kernel any more: they come by themselves. */
TEST_F(peer, receives_end_with_a_refused_request)
{
	struct peer *peer = &self->peer;
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, peer_post_recv(peer, i, 0, MTU));
	ASSERT_EQ(0, post(peer, IBV_WR_SEND, peer->mr->lkey));
	ASSERT_EQ(0, peer_ack(peer, PSN, NAK_ACCESS, 0));
	ASSERT_TRUE(peer_completes(peer->set.cq, &self->wc));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, self->wc.status);
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(peer_completes(peer->recv_cq, &self->wc));
		EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, self->wc.status);
		EXPECT_EQ(i, self->wc.wr_id);
	}
}

/* ---- windows ---- */

/* Of type 2, for peers of a QP. The status of the completion, or -errno. */
static int bind_range(struct ibv_qp *qp, struct ibv_mw *mw,
		      const struct ibv_mw_bind_info *info)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = *info,
		},
	};
	struct ibv_wc wc;
	int ret = ibv_post_send(qp, &wr, &bad);

	if (ret || duo_poll(qp->send_cq, &wc, 1) != 1)
		return -EIO;
	if (!wc.status)
		mw->rkey = wr.bind_mw.rkey;
	return wc.status;
}

/* To all of a region. */
static int bind_window(struct duo_end *end, struct ibv_mw *mw, struct ibv_mr *mr)
{
	struct ibv_mw_bind_info info = {
		mr, (uintptr_t)mr->addr, mr->length, IBV_ACCESS_REMOTE_WRITE
	};

	return bind_range(end->qp, mw, &info);
}

/* Aligned as the peer sees it, and in memory not: a window from zero. */
TEST_F(peer, word_at_an_odd_place_is_none)
{
	static const uint8_t opcodes[] = {
		RC_FETCH_ADD, RC_CMP_SWAP, RC_ATOMIC_WRITE,
	};
	struct peer *peer = &self->peer;
	int64_t zero = -(int64_t)(uintptr_t)peer->buf;
	struct ibv_mr *whole = peer->mr, *mr, window;
	struct ibv_mw_bind_info info;
	struct ibv_mw *mw;
	size_t i;

	mr = ibv_reg_mr(peer->set.pd, peer->buf, 4096,
			ALL | IBV_ACCESS_MW_BIND);
	ASSERT_NE(NULL, mr);
	info = (struct ibv_mw_bind_info) {
		mr, (uintptr_t)peer->buf + 1, 64, IBV_ACCESS_REMOTE_ATOMIC |
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED
	};
	memset(peer->buf, 0xff, 64);
	for (i = 0; i < sizeof(opcodes); i++) {
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		mw = ibv_alloc_mw(peer->set.pd, IBV_MW_TYPE_2);
		ASSERT_NE(NULL, mw);
		ASSERT_EQ(IBV_WC_SUCCESS, bind_range(peer->qp, mw, &info));
		window = *mr;
		window.rkey = mw->rkey;
		peer->mr = &window;
		ASSERT_EQ(0, opcodes[i] == RC_ATOMIC_WRITE ?
			  peer_rdma(peer, opcodes[i], PSN, zero, 8, 8) :
			  peer_atomic(peer, opcodes[i], PSN, zero, 7, ~0ull));
		EXPECT_TRUE(peer_refuses(peer, PSN, NAK_INVALID)) {
			TH_LOG("opcode 0x%02x", opcodes[i]);
		}
		EXPECT_TRUE(cm_is_all(peer->buf, 64, 0xff));
		peer->mr = whole;
		EXPECT_EQ(0, ibv_dealloc_mw(mw));
	}
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

/* ---- two QPs of one device ---- */

static struct ibv_mr *bindable(struct ibv_pd *pd, struct duo_end *end)
{
	return ibv_reg_mr(pd, end->buf, 4096, ALL | IBV_ACCESS_MW_BIND);
}

TEST_F(peer, window_is_no_local_key)
{
	struct verbs_set *set = &self->peer.set;
	struct ibv_sge sge;
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1,
	};
	struct duo duo = {};
	struct ibv_mr *mr;
	struct ibv_mw *mw;

	ASSERT_EQ(0, duo_up(&duo, set, set));
	mr = bindable(set->pd, &duo.end[0]);
	mw = ibv_alloc_mw(set->pd, IBV_MW_TYPE_2);
	ASSERT_NE(NULL, mr);
	ASSERT_NE(NULL, mw);
	ASSERT_EQ(IBV_WC_SUCCESS, bind_window(&duo.end[0], mw, mr));
	/* Not even for the QP that it is bound to. */
	sge = (struct ibv_sge) { (uintptr_t)mr->addr, 64, mw->rkey };
	ASSERT_EQ(0, duo_recv(&duo.end[1], 1, 0, 64));
	ASSERT_EQ(0, ibv_post_send(duo.end[0].qp, &wr, &bad));
	ASSERT_EQ(1, duo_poll(duo.end[0].send_cq, &self->wc, 1));
	EXPECT_EQ(IBV_WC_LOC_PROT_ERR, self->wc.status);
	EXPECT_EQ(0, ibv_dealloc_mw(mw));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, duo_close(&duo));
}

/* C10-72: the window's domain is the QP's, whatever the region's is. */
TEST_F(peer, window_of_another_pd_is_not_bound)
{
	struct verbs_set *set = &self->peer.set;
	struct ibv_pd *pd = ibv_alloc_pd(set->ctx);
	struct duo duo = {};
	struct ibv_mr *mr;
	struct ibv_mw *mw;

	ASSERT_EQ(0, duo_up(&duo, set, set));
	mr = bindable(pd, &duo.end[0]);
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	ASSERT_NE(NULL, mr);
	ASSERT_NE(NULL, mw);
	EXPECT_EQ(IBV_WC_MW_BIND_ERR, bind_window(&duo.end[0], mw, mr));
	EXPECT_EQ(0, ibv_dealloc_mw(mw));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, duo_close(&duo));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
}

/* A region with a window is busy; a reset QP, or one that is gone, has none. */
TEST_F(peer, window_goes_with_its_qp)
{
	struct verbs_set *set = &self->peer.set;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct duo duo;
	int round;

	for (round = 0; round < 2; round++) {
		memset(&duo, 0, sizeof(duo));
		ASSERT_EQ(0, duo_up(&duo, set, set));
		mr = bindable(set->pd, &duo.end[1]);
		mw = ibv_alloc_mw(set->pd, IBV_MW_TYPE_2);
		ASSERT_NE(NULL, mr);
		ASSERT_NE(NULL, mw);
		ASSERT_EQ(IBV_WC_SUCCESS, bind_window(&duo.end[1], mw, mr));
		EXPECT_EQ(EBUSY, ibv_dereg_mr(mr));
		ASSERT_EQ(0, duo_write(&duo.end[0], &duo.end[1], 0, 64,
				       mw->rkey));
		ASSERT_EQ(1, duo_poll(duo.end[0].send_cq, &self->wc, 1));
		EXPECT_EQ(IBV_WC_SUCCESS, self->wc.status);
		if (round) {
			ASSERT_EQ(0, ibv_destroy_qp(duo.end[1].qp));
			duo.end[1].qp = NULL;
		} else {
			ASSERT_EQ(0, duo_state(&duo.end[1], IBV_QPS_RESET));
		}
		EXPECT_EQ(0, ibv_dereg_mr(mr));
		EXPECT_EQ(0, ibv_dealloc_mw(mw));
		EXPECT_EQ(0, duo_close(&duo));
	}
}

/* It stays in the shared queue, for somebody whose peer may write. */
TEST_F(peer, refused_write_uses_no_receive)
{
	struct verbs_set *set = &self->peer.set;
	struct ibv_srq_init_attr init = { .attr = { 16, 1, 0 } };
	struct ibv_sge sge = {};
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.sg_list = &sge, .num_sge = 1,
	};
	struct duo duo = { .srq = ibv_create_srq(set->pd, &init) };

	ASSERT_NE(NULL, duo.srq);
	ASSERT_EQ(0, duo_up(&duo, set, set));
	ASSERT_EQ(0, duo_srq_recv(duo.srq, duo.end[1].mr, 1, duo.end[1].buf,
				  64));
	sge = (struct ibv_sge) {
		(uintptr_t)duo.end[0].buf, 64, duo.end[0].mr->lkey
	};
	wr.wr.rdma.remote_addr = (uintptr_t)duo.end[1].buf;
	wr.wr.rdma.rkey = duo.end[1].mr->rkey ^ 0x55;
	ASSERT_EQ(0, ibv_post_send(duo.end[0].qp, &wr, &bad));
	ASSERT_EQ(1, duo_poll(duo.end[0].send_cq, &self->wc, 1));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, self->wc.status);
	EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(duo.end[1].qp));
	EXPECT_EQ(0, ibv_poll_cq(duo.end[1].recv_cq, 1, &self->wc));
	EXPECT_EQ(0, duo_close(&duo));
	EXPECT_EQ(0, ibv_destroy_srq(duo.srq));
}

TEST_HARNESS_MAIN
