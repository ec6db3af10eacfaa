// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The SQD state: what was begun is finished, nothing is begun, the consumer is
 * told when it is quiet, and RTS goes on where it was (10.3.1.5).
 *
 * A peer without a receive request keeps a message going for as long as a test
 * likes.
 */
#include "fixture.h"

#include "duo.h"

FIXTURE(sqd)
{
	struct verbs_set set;
	struct duo duo;
};

FIXTURE_SETUP(sqd)
{
	memset(&self->duo, 0, sizeof(self->duo));
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
}

FIXTURE_TEARDOWN(sqd)
{
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

static int drain(struct duo_end *end, bool notify)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD,
		.en_sqd_async_notify = notify,
	};

	return ibv_modify_qp(end->qp, &attr, IBV_QP_STATE |
			     (notify ? IBV_QP_EN_SQD_ASYNC_NOTIFY : 0));
}

/* What ibv_query_qp() says of it, or -errno. */
static int is_draining(struct duo_end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int ret;

	ret = ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init);
	return ret ? -ret : attr.sq_draining;
}

static int wait_drained(struct duo_end *end)
{
	struct ibv_async_event ev;
	int ret;

	ret = duo_event(end->set->ctx, &ev, DUO_WAIT_MS);
	if (ret)
		return ret;
	if (ev.event_type != IBV_EVENT_SQ_DRAINED || ev.element.qp != end->qp)
		ret = -EPROTO;
	ibv_ack_async_event(&ev);
	return ret;
}

/* No event comes. One that does is taken, since destroying waits for that. */
static bool is_quiet(struct ibv_context *ctx)
{
	struct ibv_async_event ev;

	if (duo_event(ctx, &ev, 100))
		return true;
	ibv_ack_async_event(&ev);
	return false;
}

TEST_F(sqd, idle_queue_is_drained_at_once_and_says_so_once)
{
	struct duo_end *end = self->duo.end;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, drain(end, true));
	EXPECT_EQ(0, wait_drained(end));
	EXPECT_TRUE(is_quiet(self->set.ctx));
	/* What is posted now is not begun. */
	ASSERT_EQ(0, duo_send(end, 1, 0, 64, 0));
	EXPECT_TRUE(is_quiet(self->set.ctx));
	EXPECT_EQ(IBV_QPS_SQD, verbs_qp_state(end->qp));
}

/* Who asked once has not asked for the next time. */
TEST_F(sqd, each_time_is_asked_for)
{
	struct duo_end *end = self->duo.end;
	struct ibv_async_event ev;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, drain(end, true));
	EXPECT_EQ(0, wait_drained(end));
	ASSERT_EQ(0, duo_state(end, IBV_QPS_RTS));
	ASSERT_EQ(0, drain(end, false));
	EXPECT_EQ(-ETIMEDOUT, duo_event(self->set.ctx, &ev, 100));
	ASSERT_EQ(0, duo_state(end, IBV_QPS_RTS));
	ASSERT_EQ(0, drain(end, true));
	EXPECT_EQ(0, wait_drained(end));
}

TEST_F(sqd, nothing_is_said_to_who_did_not_ask)
{
	struct duo_end *end = self->duo.end;
	struct ibv_async_event ev;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, drain(end, false));
	EXPECT_EQ(-ETIMEDOUT, duo_event(self->set.ctx, &ev, 100));
}

TEST_F(sqd, event_comes_when_what_was_begun_is_done)
{
	struct duo_end *end = self->duo.end;
	struct ibv_async_event ev;
	struct ibv_wc wc[8];
	int i;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	/* It waits for a receive of the peer. */
	ASSERT_EQ(0, duo_send(&end[0], 0, 0, 64, 0));
	ASSERT_EQ(0, drain(&end[0], true));
	/* Posted in SQD: not begun. */
	for (i = 1; i < 4; i++)
		ASSERT_EQ(0, duo_send(&end[0], i, 64 * i, 64, 0));
	EXPECT_EQ(-ETIMEDOUT, duo_event(self->set.ctx, &ev, 100));
	EXPECT_EQ(0, ibv_poll_cq(end[0].send_cq, 8, wc));
	EXPECT_EQ(1, is_draining(&end[0]));

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, duo_recv(&end[1], i, 64 * i, 64));
	EXPECT_EQ(0, wait_drained(&end[0]));
	EXPECT_EQ(0, is_draining(&end[0]));
	ASSERT_EQ(1, ibv_poll_cq(end[0].send_cq, 8, wc));
	EXPECT_EQ(0, wc[0].wr_id);
	EXPECT_EQ(IBV_WC_SUCCESS, wc[0].status);
	usleep(20000);
	EXPECT_EQ(0, ibv_poll_cq(end[0].send_cq, 8, wc));
	EXPECT_EQ(-ETIMEDOUT, duo_event(self->set.ctx, &ev, 0));

	/* RTS goes on, without a doorbell. */
	ASSERT_EQ(0, duo_state(&end[0], IBV_QPS_RTS));
	ASSERT_EQ(3, duo_poll(end[0].send_cq, wc, 3));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(1 + i, wc[i].wr_id);
		EXPECT_EQ(IBV_WC_SUCCESS, wc[i].status);
	}
	ASSERT_EQ(4, duo_poll(end[1].recv_cq, wc, 4));
	EXPECT_EQ(-ETIMEDOUT, duo_event(self->set.ctx, &ev, 0));
}

/* The receiving side of a QP in SQD is not concerned. */
TEST_F(sqd, requests_of_the_peer_are_executed)
{
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, drain(&end[0], false));
	ASSERT_EQ(0, duo_recv(&end[0], 1, 0, 64));
	ASSERT_EQ(0, duo_send(&end[1], 2, 0, 64, 0));
	ASSERT_EQ(1, duo_poll(end[0].recv_cq, &wc, 1));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	ASSERT_EQ(1, duo_poll(end[1].send_cq, &wc, 1));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
}

TEST_F(sqd, error_from_sqd_flushes_what_was_not_begun)
{
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc[4];
	int i;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, drain(&end[0], true));
	ASSERT_EQ(0, wait_drained(&end[0]));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, duo_send(&end[0], i, 0, 64, 0));
	ASSERT_EQ(0, duo_state(&end[0], IBV_QPS_ERR));
	ASSERT_EQ(4, duo_poll(end[0].send_cq, wc, 4));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(i, wc[i].wr_id);
		EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc[i].status);
	}
}

/* In and out of SQD in the middle of traffic, READs among it. */
TEST_F(sqd, traffic_survives_draining_again_and_again)
{
	struct duo_end *end = self->duo.end;
	int i, got, done = 0, received = 0, posted = 0;
	const int total = 400;
	struct ibv_wc wc[64];

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	for (i = 0; i < 32; i++)
		ASSERT_EQ(0, duo_recv(&end[1], i, 4096 * i, 4096));
	while (done < total) {
		bool in_sqd = posted % 3 == 1;

		if (in_sqd)
			ASSERT_EQ(0, drain(&end[0], true));
		for (i = 0; i < 16 && posted < total && posted - done < 32;
		     i++, posted++)
			ASSERT_EQ(0, duo_send(&end[0], posted, 0,
					      posted % 4096, 0));
		if (in_sqd) {
			ASSERT_EQ(0, wait_drained(&end[0]));
			ASSERT_EQ(0, duo_state(&end[0], IBV_QPS_RTS));
		}
		got = duo_poll(end[0].send_cq, wc, 1);
		ASSERT_EQ(1, got);
		got += ibv_poll_cq(end[0].send_cq, 63, wc + 1);
		for (i = 0; i < got; i++, done++) {
			ASSERT_EQ(IBV_WC_SUCCESS, wc[i].status);
			ASSERT_EQ(done, wc[i].wr_id);
		}
		got = ibv_poll_cq(end[1].recv_cq, 64, wc);
		for (i = 0; i < got; i++, received++) {
			ASSERT_EQ(received % 4096, wc[i].byte_len);
			ASSERT_EQ(0, duo_recv(&end[1], wc[i].wr_id,
					      4096 * wc[i].wr_id, 4096));
		}
	}
	EXPECT_EQ(0, duo_count_events(self->set.ctx, IBV_EVENT_SQ_DRAINED));
}

TEST_HARNESS_MAIN
