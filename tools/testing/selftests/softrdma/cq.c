// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues: creation, resizing, arming, events, overflow. */
#include "fixture.h"

#include <fcntl.h>
#include <poll.h>

#define WAIT_MS 10000

/* Completions without a network: receives flushed by the error state. */
static int flush_receives(struct verbs_set *set, struct ibv_cq *cq, int count,
			  struct ibv_qp **qp_out)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = count,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(set->pd, &init);
	struct ibv_recv_wr wr = {}, *bad;
	struct ibv_qp_attr attr;
	int ret, i;

	*qp_out = qp;
	if (!qp)
		return errno;
	ret = verbs_qp_to(set, qp, IBV_QPS_INIT, 0);
	for (i = 0; i < count && !ret; i++) {
		wr.wr_id = 1000 + i;
		ret = ibv_post_recv(qp, &wr, &bad);
	}
	if (ret)
		return ret;
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_ERR;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

/* Poll until @count completions came or the deadline passed. */
static int poll_all(struct ibv_cq *cq, struct ibv_wc *wc, int count)
{
	long end = topo_now_ms() + WAIT_MS;
	int got = 0;

	while (got < count && topo_now_ms() < end) {
		int ret = ibv_poll_cq(cq, count - got, wc + got);

		if (ret < 0)
			return ret;
		got += ret;
	}
	return got;
}

TEST_F(dev, cqe_is_at_least_what_was_asked)
{
	static const int sizes[] = { 1, 2, 3, 7, 8, 63, 64, 100, 4095 };
	struct ibv_cq *cq;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		cq = ibv_create_cq(self->set.ctx, sizes[i], NULL, NULL, 0);
		ASSERT_NE(NULL, cq);
		EXPECT_LE(sizes[i], cq->cqe);
		EXPECT_EQ(0, ibv_destroy_cq(cq));
	}
}

TEST_F(dev, cq_of_zero_or_negative_size_is_refused)
{
	EXPECT_EQ(NULL, ibv_create_cq(self->set.ctx, 0, NULL, NULL, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(NULL, ibv_create_cq(self->set.ctx, -1, NULL, NULL, 0));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(dev, completion_vector_is_checked)
{
	struct ibv_context *ctx = self->set.ctx;
	struct ibv_cq *cq;
	int vectors = ctx->num_comp_vectors;

	ASSERT_LE(1, vectors);
	cq = ibv_create_cq(ctx, 8, NULL, NULL, vectors - 1);
	ASSERT_NE(NULL, cq);
	EXPECT_EQ(0, ibv_destroy_cq(cq));
	EXPECT_EQ(NULL, ibv_create_cq(ctx, 8, NULL, NULL, vectors));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(dev, flushed_receives_complete_in_order)
{
	struct verbs_set *set = &self->set;
	struct ibv_wc wc[32];
	struct ibv_qp *qp;
	int i;

	ASSERT_EQ(0, flush_receives(set, set->cq, 32, &qp));
	ASSERT_EQ(32, poll_all(set->cq, wc, 32));
	for (i = 0; i < 32; i++) {
		EXPECT_EQ(1000 + i, wc[i].wr_id);
		EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc[i].status);
		EXPECT_EQ(qp->qp_num, wc[i].qp_num);
	}
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, resize_keeps_unconsumed_completions)
{
	struct verbs_set *set = &self->set;
	struct ibv_wc wc[32];
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	int i;

	cq = ibv_create_cq(set->ctx, 40, NULL, NULL, 0);
	ASSERT_NE(NULL, cq);
	ASSERT_EQ(0, flush_receives(set, cq, 30, &qp));
	/* Some taken first, so that the ring does not start at slot zero. */
	ASSERT_EQ(5, poll_all(cq, wc, 5));
	ASSERT_EQ(0, ibv_resize_cq(cq, 1000));
	EXPECT_LE(1000, cq->cqe);
	ASSERT_EQ(0, ibv_resize_cq(cq, 26));
	ASSERT_EQ(25, poll_all(cq, wc + 5, 25));
	for (i = 0; i < 30; i++)
		EXPECT_EQ(1000 + i, wc[i].wr_id);
	EXPECT_EQ(0, ibv_poll_cq(cq, 1, wc));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
}

TEST_F(dev, resize_below_unconsumed_completions_is_refused)
{
	struct verbs_set *set = &self->set;
	struct ibv_wc wc[40];
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	cq = ibv_create_cq(set->ctx, 40, NULL, NULL, 0);
	ASSERT_NE(NULL, cq);
	ASSERT_EQ(0, flush_receives(set, cq, 30, &qp));
	EXPECT_EQ(EINVAL, ibv_resize_cq(cq, 4));
	/* And nothing was lost by trying. */
	EXPECT_EQ(30, poll_all(cq, wc, 30));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
}

TEST_F(dev, resize_limits_are_those_of_create)
{
	struct ibv_device_attr attr;

	ASSERT_EQ(0, ibv_query_device(self->set.ctx, &attr));
	EXPECT_EQ(EINVAL, ibv_resize_cq(self->set.cq, 0));
	EXPECT_EQ(EINVAL, ibv_resize_cq(self->set.cq, attr.max_cqe + 1));
	EXPECT_EQ(0, ibv_resize_cq(self->set.cq, 128));
}

static bool channel_readable(struct ibv_comp_channel *channel, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = channel->fd, .events = POLLIN };

	return poll(&poll_fd, 1, timeout_ms) == 1;
}

TEST_F(dev, armed_cq_raises_one_event)
{
	struct verbs_set *set = &self->set;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *event_cq;
	struct ibv_wc wc[16];
	void *context;
	struct ibv_qp *qp;

	channel = ibv_create_comp_channel(set->ctx);
	ASSERT_NE(NULL, channel);
	cq = ibv_create_cq(set->ctx, 32, &wc, channel, 0);
	ASSERT_NE(NULL, cq);
	ASSERT_EQ(0, ibv_req_notify_cq(cq, 0));
	EXPECT_FALSE(channel_readable(channel, 0));
	ASSERT_EQ(0, flush_receives(set, cq, 16, &qp));
	ASSERT_TRUE(channel_readable(channel, WAIT_MS));
	ASSERT_EQ(0, ibv_get_cq_event(channel, &event_cq, &context));
	EXPECT_EQ(cq, event_cq);
	EXPECT_EQ((void *)&wc, context);
	ibv_ack_cq_events(cq, 1);
	EXPECT_EQ(16, poll_all(cq, wc, 16));
	/* One arm, one event, though sixteen completions came. */
	EXPECT_FALSE(channel_readable(channel, 50));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
	EXPECT_EQ(0, ibv_destroy_comp_channel(channel));
}

TEST_F(dev, unarmed_cq_raises_no_event)
{
	struct verbs_set *set = &self->set;
	struct ibv_comp_channel *channel;
	struct ibv_wc wc[16];
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	channel = ibv_create_comp_channel(set->ctx);
	ASSERT_NE(NULL, channel);
	cq = ibv_create_cq(set->ctx, 32, NULL, channel, 0);
	ASSERT_NE(NULL, cq);
	ASSERT_EQ(0, flush_receives(set, cq, 16, &qp));
	EXPECT_EQ(16, poll_all(cq, wc, 16));
	EXPECT_FALSE(channel_readable(channel, 50));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
	EXPECT_EQ(0, ibv_destroy_comp_channel(channel));
}

/* A failed completion counts as solicited. */
TEST_F(dev, solicited_arm_hears_of_errors)
{
	struct verbs_set *set = &self->set;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *event_cq;
	struct ibv_wc wc[4];
	struct ibv_qp *qp;
	void *context;

	channel = ibv_create_comp_channel(set->ctx);
	ASSERT_NE(NULL, channel);
	cq = ibv_create_cq(set->ctx, 32, NULL, channel, 0);
	ASSERT_NE(NULL, cq);
	ASSERT_EQ(0, ibv_req_notify_cq(cq, 1));
	ASSERT_EQ(0, flush_receives(set, cq, 4, &qp));
	ASSERT_TRUE(channel_readable(channel, WAIT_MS));
	ASSERT_EQ(0, ibv_get_cq_event(channel, &event_cq, &context));
	ibv_ack_cq_events(cq, 1);
	EXPECT_EQ(4, poll_all(cq, wc, 4));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
	EXPECT_EQ(0, ibv_destroy_comp_channel(channel));
}

TEST_F(dev, overflow_raises_cq_err)
{
	struct verbs_set *set = &self->set;
	struct ibv_qp *qp;
	struct ibv_cq *cq;

	cq = ibv_create_cq(set->ctx, 1, NULL, NULL, 0);
	ASSERT_NE(NULL, cq);
	ASSERT_EQ(0, flush_receives(set, cq, cq->cqe + 8, &qp));
	EXPECT_EQ(0, verbs_wait_event(set->ctx, IBV_EVENT_CQ_ERR, WAIT_MS));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
}

TEST_F(dev, completions_of_a_reset_qp_are_gone)
{
	struct verbs_set *set = &self->set;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_wc wc[8];
	struct ibv_qp *qp;

	ASSERT_EQ(0, flush_receives(set, set->cq, 8, &qp));
	ASSERT_EQ(8, poll_all(set->cq, wc, 8));
	ASSERT_EQ(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	EXPECT_EQ(0, ibv_poll_cq(set->cq, 8, wc));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_HARNESS_MAIN
