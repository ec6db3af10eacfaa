// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Shared receive queues: creation, modification, limits. */
#include "fixture.h"

static struct ibv_srq *srq_of(struct verbs_set *set, uint32_t max_wr,
			      uint32_t max_sge)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = max_wr, .max_sge = max_sge },
	};

	return ibv_create_srq(set->pd, &init);
}

static int post(struct ibv_srq *srq, int count)
{
	struct ibv_recv_wr wr = {}, *bad;
	int ret = 0;

	while (count-- && !ret)
		ret = ibv_post_srq_recv(srq, &wr, &bad);
	return ret;
}

TEST_F(dev, srq_holds_at_least_what_was_asked)
{
	struct ibv_srq_attr attr;
	struct ibv_srq *srq;

	srq = srq_of(&self->set, 100, 3);
	ASSERT_NE(NULL, srq);
	ASSERT_EQ(0, ibv_query_srq(srq, &attr));
	EXPECT_LE(100, attr.max_wr);
	EXPECT_LE(3, attr.max_sge);
	EXPECT_EQ(0, attr.srq_limit);
	EXPECT_EQ(0, post(srq, 100));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

TEST_F(dev, create_returns_the_actual_size)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 33, .max_sge = 2 },
	};
	struct ibv_srq_attr attr;
	struct ibv_srq *srq;

	srq = ibv_create_srq(self->set.pd, &init);
	ASSERT_NE(NULL, srq);
	ASSERT_EQ(0, ibv_query_srq(srq, &attr));
	EXPECT_EQ(attr.max_wr, init.attr.max_wr);
	EXPECT_EQ(attr.max_sge, init.attr.max_sge);
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

/* Whatever a program has left in it (ibv_create_srq(3)). */
TEST_F(dev, limit_is_irrelevant_when_it_is_made)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 64, .max_sge = 1 },
	};
	static const uint32_t limits[] = { 20, 0xdeadbeef };
	struct ibv_srq_attr attr;
	struct ibv_srq *srq;
	int i;

	for (i = 0; i < 2; i++) {
		init.attr.srq_limit = limits[i];
		srq = ibv_create_srq(self->set.pd, &init);
		ASSERT_NE(NULL, srq);
		ASSERT_EQ(0, ibv_query_srq(srq, &attr));
		EXPECT_EQ(0, attr.srq_limit);
		EXPECT_EQ(0, ibv_destroy_srq(srq));
	}
}

/* Adapters round up, and programs that leave it 0 go by that. */
TEST_F(dev, a_receive_has_room_for_a_piece)
{
	struct ibv_sge sge = { .length = 1, .lkey = 1 };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_qp_init_attr init = {
		.send_cq = self->set.cq,
		.recv_cq = self->set.cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 4 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_srq_attr attr;
	struct ibv_srq *srq;
	struct ibv_qp *qp;

	srq = srq_of(&self->set, 4, 0);
	ASSERT_NE(NULL, srq);
	ASSERT_EQ(0, ibv_query_srq(srq, &attr));
	EXPECT_EQ(1, attr.max_sge);
	EXPECT_EQ(0, ibv_post_srq_recv(srq, &wr, &bad));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
	qp = ibv_create_qp(self->set.pd, &init);
	ASSERT_NE(NULL, qp);
	EXPECT_EQ(1, init.cap.max_recv_sge);
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_INIT, 0));
	EXPECT_EQ(0, ibv_post_recv(qp, &wr, &bad));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, srq_of_no_wr_is_refused)
{
	EXPECT_EQ(NULL, srq_of(&self->set, 0, 1));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(dev, limit_is_set_and_queried)
{
	struct ibv_srq_attr attr = { .srq_limit = 20 };
	struct ibv_srq *srq;

	srq = srq_of(&self->set, 64, 1);
	ASSERT_NE(NULL, srq);
	ASSERT_EQ(0, post(srq, 40));
	ASSERT_EQ(0, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	memset(&attr, 0, sizeof(attr));
	ASSERT_EQ(0, ibv_query_srq(srq, &attr));
	EXPECT_EQ(20, attr.srq_limit);
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

TEST_F(dev, limit_above_the_queue_is_refused)
{
	struct ibv_srq_attr attr;
	struct ibv_srq *srq;
	uint32_t size;

	srq = srq_of(&self->set, 64, 1);
	ASSERT_NE(NULL, srq);
	ASSERT_EQ(0, ibv_query_srq(srq, &attr));
	size = attr.max_wr;
	attr.srq_limit = size + 1;
	EXPECT_EQ(EINVAL, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	ASSERT_EQ(0, ibv_query_srq(srq, &attr));
	EXPECT_EQ(0, attr.srq_limit);
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

/* Nor can the queue become shorter than its limit, which stays. */
TEST_F(dev, queue_below_its_limit_is_refused)
{
	struct ibv_srq_attr attr = { .srq_limit = 40 };
	struct ibv_srq *srq;

	srq = srq_of(&self->set, 64, 1);
	ASSERT_NE(NULL, srq);
	ASSERT_EQ(0, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	attr.max_wr = 30;
	EXPECT_EQ(EINVAL, ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	ASSERT_EQ(0, ibv_query_srq(srq, &attr));
	EXPECT_LE(64, attr.max_wr);
	EXPECT_EQ(40, attr.srq_limit);
	/* Both at once may. */
	attr.max_wr = 30;
	attr.srq_limit = 20;
	EXPECT_EQ(0, ibv_modify_srq(srq, &attr,
				    IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

/* A QP that sends to itself, and receives from the SRQ. */
static struct ibv_qp *qp_on(struct verbs_set *set, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = set->cq,
		.recv_cq = set->cq,
		.srq = srq,
		.cap = { .max_send_wr = 8, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(set->pd, &init);

	if (qp && verbs_qp_connect_self(set, qp)) {
		ibv_destroy_qp(qp);
		return NULL;
	}
	return qp;
}

/* Send one message without data and wait for both its completions. */
static int send_one(struct verbs_set *set, struct ibv_qp *qp)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	long end = topo_now_ms() + 10000;
	struct ibv_wc wc;
	int got = 0;

	if (ibv_post_send(qp, &wr, &bad))
		return -EIO;
	while (got < 2) {
		if (topo_now_ms() > end)
			return -ETIMEDOUT;
		if (ibv_poll_cq(set->cq, 1, &wc) != 1)
			continue;
		if (wc.status != IBV_WC_SUCCESS)
			return -EPROTO;
		got++;
	}
	return 0;
}

TEST_F(dev, limit_raises_one_event_and_is_disarmed_by_it)
{
	struct ibv_srq_attr attr = { .srq_limit = 6 };
	struct ibv_context *ctx = self->set.ctx;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	int i;

	srq = srq_of(&self->set, 16, 1);
	ASSERT_NE(NULL, srq);
	qp = qp_on(&self->set, srq);
	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, post(srq, 8));
	ASSERT_EQ(0, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	/* Eight become six, which is not yet below the limit. */
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, send_one(&self->set, qp));
	EXPECT_EQ(-ETIMEDOUT, verbs_wait_event(ctx,
					       IBV_EVENT_SRQ_LIMIT_REACHED,
					       200));
	ASSERT_EQ(0, send_one(&self->set, qp));
	EXPECT_EQ(0, verbs_wait_event(ctx, IBV_EVENT_SRQ_LIMIT_REACHED,
				      10000));
	ASSERT_EQ(0, ibv_query_srq(srq, &attr));
	EXPECT_EQ(0, attr.srq_limit);
	ASSERT_EQ(0, send_one(&self->set, qp));
	EXPECT_EQ(-ETIMEDOUT, verbs_wait_event(ctx,
					       IBV_EVENT_SRQ_LIMIT_REACHED,
					       200));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

/* What was posted before a resize is used after it, in order. */
TEST_F(dev, resized_queue_is_taken_from_in_order)
{
	struct ibv_srq_attr attr = { .max_wr = 200 };
	struct ibv_recv_wr wr = {}, *bad_recv;
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND }, *bad;
	long end = topo_now_ms() + 10000;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_wc wc;
	int i, got = 0;

	srq = srq_of(&self->set, 8, 1);
	ASSERT_NE(NULL, srq);
	qp = qp_on(&self->set, srq);
	ASSERT_NE(NULL, qp);
	for (i = 0; i < 6; i++) {
		if (i == 3)
			ASSERT_EQ(0, ibv_modify_srq(srq, &attr,
						    IBV_SRQ_MAX_WR));
		wr.wr_id = 500 + i;
		ASSERT_EQ(0, ibv_post_srq_recv(srq, &wr, &bad_recv));
	}
	for (i = 0; i < 6; i++)
		ASSERT_EQ(0, ibv_post_send(qp, &send, &bad));
	while (got < 6 && topo_now_ms() < end) {
		if (ibv_poll_cq(self->set.cq, 1, &wc) != 1)
			continue;
		EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
		EXPECT_EQ(500 + got, wc.wr_id);
		got++;
	}
	EXPECT_EQ(6, got);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

TEST_F(dev, resize_keeps_posted_receives)
{
	struct ibv_srq_attr attr = { .max_wr = 500 };
	struct ibv_srq *srq;

	srq = srq_of(&self->set, 20, 2);
	ASSERT_NE(NULL, srq);
	ASSERT_EQ(0, post(srq, 20));
	ASSERT_EQ(0, ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	ASSERT_EQ(0, ibv_query_srq(srq, &attr));
	EXPECT_LE(500, attr.max_wr);
	EXPECT_EQ(0, post(srq, 480));
	/* 500 are in it: it cannot become smaller than that. */
	attr.max_wr = 100;
	EXPECT_EQ(EINVAL, ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

TEST_F(dev, resize_beyond_the_device_limit_is_refused)
{
	struct ibv_device_attr device;
	struct ibv_srq_attr attr;
	struct ibv_srq *srq;

	ASSERT_EQ(0, ibv_query_device(self->set.ctx, &device));
	srq = srq_of(&self->set, 20, 1);
	ASSERT_NE(NULL, srq);
	attr.max_wr = device.max_srq_wr + 1;
	EXPECT_EQ(EINVAL, ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	EXPECT_EQ(0, post(srq, 20));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

TEST_F(dev, qp_on_an_srq_has_no_receive_queue)
{
	struct ibv_qp_init_attr init = {
		.send_cq = self->set.cq,
		.recv_cq = self->set.cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1,
			 .max_recv_wr = 4, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_srq *srq = srq_of(&self->set, 20, 1);
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;

	ASSERT_NE(NULL, srq);
	init.srq = srq;
	qp = ibv_create_qp(self->set.pd, &init);
	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, ibv_query_qp(qp, &attr, IBV_QP_CAP, &init));
	EXPECT_EQ(0, attr.cap.max_recv_wr);
	EXPECT_EQ(0, attr.cap.max_recv_sge);
	EXPECT_EQ(srq, init.srq);
	EXPECT_EQ(EBUSY, ibv_destroy_srq(srq));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

TEST_HARNESS_MAIN
