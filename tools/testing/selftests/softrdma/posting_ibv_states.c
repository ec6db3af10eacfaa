// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_post_send(3) in each state of the QP: who may post, and what becomes of
 * what was posted when the state changes under it.
 */
#include "pair_fixture.h"

#include <errno.h>

#define LENGTH	128

static const struct pair_options rc = { .type = IBV_QPT_RC, .rnr_retry = 7 };
static const struct pair_options uc = { .type = IBV_QPT_UC };
static const struct pair_options ud = { .type = IBV_QPT_UD };

static const struct pair_options *const all_types[] = { &rc, &uc, &ud };

static int modify(struct pair_end *end, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(end->qp, &attr, IBV_QP_STATE);
}

static int post(struct pair *pair, uint64_t wr_id)
{
	struct pair_wr wr;

	pair_wr_init(&wr, &pair->a, &pair->b, IBV_WR_SEND, 0, LENGTH);
	wr.wr.wr_id = wr_id;
	return pair_post(&pair->a, &wr);
}

/* The next completion of A's send queue is of this. */
static bool completed(struct pair *pair, uint64_t wr_id,
		      enum ibv_wc_status status)
{
	struct ibv_wc wc;

	return !pair_wait(pair->a.set.cq, &wc) && wc.wr_id == wr_id &&
	       wc.status == status;
}

static int to_rts(struct pair *pair, struct pair_end *end,
		  struct pair_end *peer, const struct pair_options *options)
{
	return pair_modify(end, IBV_QPS_RESET, IBV_QPS_INIT, peer->qp->qp_num,
			   options) ?:
	       pair_modify(end, IBV_QPS_INIT, IBV_QPS_RTR, peer->qp->qp_num,
			   options) ?:
	       pair_modify(end, IBV_QPS_RTR, IBV_QPS_RTS, peer->qp->qp_num,
			   options);
}

/* RESET, INIT, RTR: posting fails, and nothing is ever sent. */
TEST_F(pair, post_fails_before_rts)
{
	static const enum ibv_qp_state ladder[] = {
		IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
	};
	struct pair_wr wr;
	struct ibv_wc wc;
	int s, t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, pair_post_recv(self->b, 0, LENGTH + PAIR_GRH));
		ASSERT_EQ(0, modify(self->a, IBV_QPS_RESET));
		pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, LENGTH);
		for (s = 0; s < 3; s++) {
			if (s)
				ASSERT_EQ(0, pair_modify(self->a, ladder[s - 1],
							 ladder[s],
							 self->b->qp->qp_num,
							 all_types[t]));
			EXPECT_EQ(ladder[s], verbs_qp_state(self->a->qp));
			EXPECT_EQ(EINVAL, pair_post(self->a, &wr));
			EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
			EXPECT_EQ(0, ibv_poll_cq(self->b->recv_cq, 1, &wc));
		}
		/* Nor later, when the QP may send. */
		ASSERT_EQ(0, pair_modify(self->a, IBV_QPS_RTR, IBV_QPS_RTS,
					 self->b->qp->qp_num, all_types[t]));
		EXPECT_EQ(0, post(&self->pair, 1));
		EXPECT_TRUE(completed(&self->pair, 1, IBV_WC_SUCCESS));
		EXPECT_EQ(0, pair_wait(self->b->recv_cq, &wc));
		EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* Nor when the QP is broken by its peer before it may send. */
TEST_F(pair, what_was_refused_in_rtr_is_not_flushed)
{
	struct pair_wr wr, wild;
	struct ibv_wc wc;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, modify(self->a, IBV_QPS_RESET));
	ASSERT_EQ(0, modify(self->b, IBV_QPS_RESET));
	ASSERT_EQ(0, to_rts(&self->pair, self->b, self->a, &rc));
	ASSERT_EQ(0, pair_modify(self->a, IBV_QPS_RESET, IBV_QPS_INIT,
				 self->b->qp->qp_num, &rc));
	ASSERT_EQ(0, pair_modify(self->a, IBV_QPS_INIT, IBV_QPS_RTR,
				 self->b->qp->qp_num, &rc));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, LENGTH);
	EXPECT_EQ(EINVAL, pair_post(self->a, &wr));
	EXPECT_EQ(EINVAL, pair_post(self->a, &wr));
	pair_wr_init(&wild, self->b, self->a, IBV_WR_RDMA_WRITE, 0, LENGTH);
	wild.wr.wr.rdma.rkey ^= 0x100;
	ASSERT_EQ(0, pair_post(self->b, &wild));
	ASSERT_EQ(0, pair_wait(self->b->set.cq, &wc));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, wc.status);
	EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(self->a->qp));
	/* What is posted then is. */
	EXPECT_EQ(0, post(&self->pair, 7));
	ASSERT_EQ(0, pair_wait(self->a->set.cq, &wc));
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc.status);
	EXPECT_EQ(7, wc.wr_id);
	EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
}

TEST_F(pair, post_works_in_rts)
{
	int t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, pair_post_recv(self->b, 0, LENGTH + PAIR_GRH));
		EXPECT_EQ(IBV_QPS_RTS, verbs_qp_state(self->a->qp));
		ASSERT_EQ(0, post(&self->pair, 1));
		EXPECT_TRUE(completed(&self->pair, 1, IBV_WC_SUCCESS));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

static int psns(struct pair_end *end, uint32_t *sq, uint32_t *rq)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int ret = ibv_query_qp(end->qp, &attr, IBV_QP_SQ_PSN | IBV_QP_RQ_PSN,
			       &init);

	*sq = attr.sq_psn;
	*rq = attr.rq_psn;
	return ret;
}

/* ibv_query_qp() says which PSN comes next, not with which one it began. */
TEST_F(pair, query_tells_where_it_is)
{
	uint32_t sq[2], rq[2], none;
	struct ibv_wc wc;
	int i, t;

	for (t = 0; t < 2; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, psns(self->a, &sq[0], &none));
		ASSERT_EQ(0, psns(self->b, &none, &rq[0]));
		for (i = 0; i < 3; i++) {
			ASSERT_EQ(0, pair_post_recv(self->b, 0, LENGTH));
			ASSERT_EQ(0, post(&self->pair, i));
			EXPECT_TRUE(completed(&self->pair, i, IBV_WC_SUCCESS));
			EXPECT_EQ(0, pair_wait(self->b->recv_cq, &wc));
		}
		ASSERT_EQ(0, psns(self->a, &sq[1], &none));
		ASSERT_EQ(0, psns(self->b, &none, &rq[1]));
		EXPECT_EQ((sq[0] + 3) & 0xffffff, sq[1]);
		EXPECT_EQ((rq[0] + 3) & 0xffffff, rq[1]);
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* SQD: what is posted waits, and goes on in RTS. */
TEST_F(pair, sqd_holds_what_is_posted)
{
	struct ibv_wc wc;
	int i, t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		for (i = 0; i < 4; i++)
			ASSERT_EQ(0, pair_post_recv(self->b, 0,
						    LENGTH + PAIR_GRH));
		ASSERT_EQ(0, modify(self->a, IBV_QPS_SQD));
		for (i = 0; i < 4; i++)
			EXPECT_EQ(0, post(&self->pair, i));
		EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
		EXPECT_EQ(0, ibv_poll_cq(self->b->recv_cq, 1, &wc));
		ASSERT_EQ(0, modify(self->a, IBV_QPS_RTS));
		for (i = 0; i < 4; i++) {
			EXPECT_TRUE(completed(&self->pair, i, IBV_WC_SUCCESS));
			EXPECT_EQ(0, pair_wait(self->b->recv_cq, &wc));
		}
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* ERR: posting works, and everything is flushed, in order, once. */
TEST_F(pair, err_flushes_what_is_posted)
{
	struct ibv_wc wc;
	int i, t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, pair_post_recv(self->b, 0, LENGTH + PAIR_GRH));
		ASSERT_EQ(0, modify(self->a, IBV_QPS_ERR));
		for (i = 0; i < 8; i++)
			EXPECT_EQ(0, post(&self->pair, i));
		for (i = 0; i < 8; i++)
			EXPECT_TRUE(completed(&self->pair, i,
					      IBV_WC_WR_FLUSH_ERR));
		EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
		EXPECT_EQ(0, ibv_poll_cq(self->b->recv_cq, 1, &wc));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* What waits for the peer (no receive there) is flushed with the QP. */
TEST_F(pair, err_flushes_what_is_under_way)
{
	struct ibv_wc wc;
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	for (i = 0; i < 40; i++)
		ASSERT_EQ(0, post(&self->pair, i));
	EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
	ASSERT_EQ(0, modify(self->a, IBV_QPS_ERR));
	for (i = 0; i < 40; i++)
		EXPECT_TRUE(completed(&self->pair, i, IBV_WC_WR_FLUSH_ERR));
	EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
}

/* A failing request takes those behind it along, and none before it. */
TEST_F(pair, rc_error_flushes_what_is_behind)
{
	struct pair_wr list[6];
	struct ibv_send_wr *bad;
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	for (i = 0; i < 6; i++) {
		pair_wr_init(&list[i], self->a, self->b, IBV_WR_RDMA_WRITE, 0,
			     LENGTH);
		list[i].wr.wr_id = i;
		list[i].wr.send_flags = i < 2 ? IBV_SEND_SIGNALED : 0;
		list[i].wr.next = i < 5 ? &list[i + 1].wr : NULL;
	}
	list[2].wr.wr.rdma.rkey ^= 1;
	ASSERT_EQ(0, ibv_post_send(self->a->qp, &list[0].wr, &bad));
	EXPECT_TRUE(completed(&self->pair, 0, IBV_WC_SUCCESS));
	EXPECT_TRUE(completed(&self->pair, 1, IBV_WC_SUCCESS));
	EXPECT_TRUE(completed(&self->pair, 2, IBV_WC_REM_ACCESS_ERR));
	for (i = 3; i < 6; i++)
		EXPECT_TRUE(completed(&self->pair, i, IBV_WC_WR_FLUSH_ERR));
	EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(self->a->qp));
}

/*
 * SQE: UC and UD lose only their send queue to a bad request. It is flushed,
 * the QP still receives, and RTS brings it back.
 */
TEST_F(pair, sqe_is_left_for_rts)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
				    .cur_qp_state = IBV_QPS_SQE };
	struct pair_wr wr, back;
	struct ibv_wc wc;
	int t;

	for (t = 1; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 7, LENGTH);
		wr.sge[0].lkey ^= 1;
		ASSERT_EQ(0, pair_post(self->a, &wr));
		EXPECT_TRUE(completed(&self->pair, 7, IBV_WC_LOC_PROT_ERR));
		EXPECT_EQ(IBV_QPS_SQE, verbs_qp_state(self->a->qp));
		EXPECT_EQ(0, post(&self->pair, 8));
		EXPECT_TRUE(completed(&self->pair, 8, IBV_WC_WR_FLUSH_ERR));
		/* It still receives. */
		ASSERT_EQ(0, pair_post_recv(self->a, 0, LENGTH + PAIR_GRH));
		pair_wr_init(&back, self->b, self->a, IBV_WR_SEND, 0, LENGTH);
		ASSERT_EQ(0, pair_post(self->b, &back));
		EXPECT_EQ(0, pair_wait(self->a->recv_cq, &wc));
		EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
		/* And sends again. */
		ASSERT_EQ(0, ibv_modify_qp(self->a->qp, &attr, IBV_QP_STATE |
					   IBV_QP_CUR_STATE));
		ASSERT_EQ(0, pair_post_recv(self->b, 0, LENGTH + PAIR_GRH));
		EXPECT_EQ(0, post(&self->pair, 9));
		EXPECT_TRUE(completed(&self->pair, 9, IBV_WC_SUCCESS));
		EXPECT_EQ(0, pair_wait(self->b->recv_cq, &wc));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/*
 * A request that makes no sense for the type, in the middle of a list: those in
 * front of it were sent, and only those behind are flushed.
 */
TEST_F(pair, what_is_in_front_of_a_bad_request_is_sent)
{
	static const enum ibv_wc_status want[] = {
		IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_WC_LOC_QP_OP_ERR,
		IBV_WC_WR_FLUSH_ERR,
	};
	struct ibv_send_wr *bad;
	struct pair_wr wr[4];
	struct ibv_wc wc;
	int i, t;

	for (t = 1; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		for (i = 0; i < 4; i++) {
			ASSERT_EQ(0, pair_post_recv(self->b, 0,
						    LENGTH + PAIR_GRH));
			pair_wr_init(&wr[i], self->a, self->b, IBV_WR_SEND, 0,
				     LENGTH);
			wr[i].wr.wr_id = i;
			wr[i].wr.next = i < 3 ? &wr[i + 1].wr : NULL;
		}
		wr[2].wr.opcode = IBV_WR_RDMA_READ;
		ASSERT_EQ(0, ibv_post_send(self->a->qp, &wr[0].wr, &bad));
		for (i = 0; i < 4; i++)
			EXPECT_TRUE(completed(&self->pair, i, want[i]))
				TH_LOG("type %d, request %d", t, i);
		for (i = 0; i < 2; i++)
			EXPECT_EQ(0, pair_wait(self->b->recv_cq, &wc));
		EXPECT_EQ(0, ibv_poll_cq(self->b->recv_cq, 1, &wc));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

#define MANY	30000

/*
 * SQE is left while the engine has not got to the end of a long queue: nothing
 * of what was posted before is sent.
 */
TEST_F_TIMEOUT(pair, sqe_is_flushed_to_its_end, 300)
{
	static const struct pair_options deep = {
		.type = IBV_QPT_UC, .send_wr = MANY,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
				    .cur_qp_state = IBV_QPS_SQE };
	struct ibv_send_wr *list, *bad;
	struct pair_wr wr;
	struct ibv_wc wc;
	int i;

	list = calloc(MANY, sizeof(*list));
	ASSERT_NE(NULL, list);
	ASSERT_EQ(0, pair_connect(&self->pair, &deep));
	ASSERT_EQ(0, ibv_resize_cq(self->a->set.cq, MANY + 1));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, LENGTH);
	for (i = 0; i < MANY; i++) {
		list[i] = wr.wr;
		list[i].wr_id = i;
		list[i].next = i + 1 < MANY ? &list[i + 1] : NULL;
	}
	list[0].opcode = IBV_WR_RDMA_READ;
	ASSERT_EQ(0, ibv_post_send(self->a->qp, list, &bad));
	EXPECT_TRUE(completed(&self->pair, 0, IBV_WC_LOC_QP_OP_ERR));
	ASSERT_EQ(0, ibv_modify_qp(self->a->qp, &attr,
				   IBV_QP_STATE | IBV_QP_CUR_STATE));
	for (i = 1; i < MANY; i++)
		ASSERT_TRUE(completed(&self->pair, i, IBV_WC_WR_FLUSH_ERR))
			TH_LOG("request %d", i);
	/* What is posted now is sent. */
	EXPECT_EQ(0, post(&self->pair, MANY));
	EXPECT_TRUE(completed(&self->pair, MANY, IBV_WC_SUCCESS));
	EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
	EXPECT_EQ(0, pair_disconnect(&self->pair));
	free(list);
}

/* RESET forgets what was posted, without a completion; the QP works anew. */
TEST_F(pair, reset_forgets_what_is_posted)
{
	struct ibv_wc wc;
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, post(&self->pair, i));
	ASSERT_EQ(0, modify(self->a, IBV_QPS_RESET));
	ASSERT_EQ(0, modify(self->b, IBV_QPS_RESET));
	EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
	ASSERT_EQ(0, to_rts(&self->pair, self->a, self->b, &rc));
	ASSERT_EQ(0, to_rts(&self->pair, self->b, self->a, &rc));
	ASSERT_EQ(0, pair_post_recv(self->b, 0, LENGTH));
	ASSERT_EQ(0, post(&self->pair, 100));
	EXPECT_TRUE(completed(&self->pair, 100, IBV_WC_SUCCESS));
	ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
	EXPECT_EQ(0, ibv_poll_cq(self->b->recv_cq, 1, &wc));
}

TEST_HARNESS_MAIN
