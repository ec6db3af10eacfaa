// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Asynchronous events: what raises each, and that it comes once. Those of a
 * port are in link_events.c, the limit of an idle SRQ in srq.c.
 */
#include "fixture.h"

#include <pthread.h>

#include "duo.h"
#include "nldev.h"

/* An event of this type for this QP comes, and no second one after it. */
#define EXPECT_ONE_QP_EVENT(ctx, which, wanted)				\
	do {								\
		struct ibv_async_event ev;				\
									\
		ASSERT_EQ(0, duo_event(ctx, &ev, DUO_WAIT_MS));		\
		EXPECT_EQ(wanted, ev.event_type);			\
		EXPECT_EQ(which, ev.element.qp);			\
		ibv_ack_async_event(&ev);				\
	} while (0)

FIXTURE(events)
{
	struct verbs_set set;
	struct duo duo;
};

FIXTURE_SETUP(events)
{
	memset(&self->duo, 0, sizeof(self->duo));
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
}

FIXTURE_TEARDOWN(events)
{
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

/* The peer's first packet comes while the consumer is still in RTR. */
TEST_F(events, first_packet_in_rtr_raises_comm_est_once)
{
	struct duo *duo = &self->duo;
	struct ibv_wc wc[3];
	int i;

	ASSERT_EQ(0, duo_open(duo, &self->set, &self->set));
	for (i = IBV_QPS_INIT; i <= IBV_QPS_RTS; i++)
		ASSERT_EQ(0, duo_step(duo, 0, i));
	for (i = IBV_QPS_INIT; i <= IBV_QPS_RTR; i++)
		ASSERT_EQ(0, duo_step(duo, 1, i));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, duo_recv(&duo->end[1], i, 0, 64));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, duo_send(&duo->end[0], i, 0, 64, 0));
	ASSERT_EQ(3, duo_poll(duo->end[0].send_cq, wc, 3));
	EXPECT_EQ(IBV_WC_SUCCESS, wc[2].status);
	EXPECT_ONE_QP_EVENT(self->set.ctx, duo->end[1].qp, IBV_EVENT_COMM_EST);
	ASSERT_EQ(0, duo_step(duo, 1, IBV_QPS_RTS));
	EXPECT_EQ(0, duo_count_events(self->set.ctx, IBV_EVENT_COMM_EST));
}

TEST_F(events, first_packet_in_rts_raises_nothing)
{
	struct duo *duo = &self->duo;
	struct ibv_wc wc;

	ASSERT_EQ(0, duo_up(duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_recv(&duo->end[1], 1, 0, 64));
	ASSERT_EQ(0, duo_send(&duo->end[0], 1, 0, 64, 0));
	ASSERT_EQ(1, duo_poll(duo->end[0].send_cq, &wc, 1));
	EXPECT_EQ(0, duo_count_events(self->set.ctx, IBV_EVENT_COMM_EST));
}

/* A SEND longer than the receive: an invalid request, and a completion. */
TEST_F(events, request_too_long_fails_by_completion_and_raises_req_err_once)
{
	struct duo *duo = &self->duo;
	struct ibv_wc wc[2];

	ASSERT_EQ(0, duo_up(duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_recv(&duo->end[1], 7, 0, 32));
	ASSERT_EQ(0, duo_send(&duo->end[0], 8, 0, 64, 0));
	ASSERT_EQ(1, duo_poll(duo->end[0].send_cq, wc, 1));
	EXPECT_EQ(IBV_WC_REM_INV_REQ_ERR, wc[0].status);
	EXPECT_EQ(8, wc[0].wr_id);
	ASSERT_EQ(1, duo_poll(duo->end[1].recv_cq, wc, 1));
	EXPECT_EQ(IBV_WC_LOC_LEN_ERR, wc[0].status);
	EXPECT_EQ(7, wc[0].wr_id);
	EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(duo->end[0].qp));
	EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(duo->end[1].qp));
	EXPECT_ONE_QP_EVENT(self->set.ctx, duo->end[1].qp,
			    IBV_EVENT_QP_REQ_ERR);
	EXPECT_EQ(0, duo_count_events(self->set.ctx, IBV_EVENT_QP_REQ_ERR));
}

TEST_F(events, wrong_rkey_raises_access_err_once_at_the_responder)
{
	struct duo *duo = &self->duo;
	struct ibv_wc wc[3];
	int i;

	ASSERT_EQ(0, duo_up(duo, &self->set, &self->set));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, duo_write(&duo->end[0], &duo->end[1], i, 64,
				       duo->end[1].mr->rkey ^ 0x55));
	ASSERT_EQ(3, duo_poll(duo->end[0].send_cq, wc, 3));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, wc[0].status);
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc[1].status);
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc[2].status);
	EXPECT_ONE_QP_EVENT(self->set.ctx, duo->end[1].qp,
			    IBV_EVENT_QP_ACCESS_ERR);
	EXPECT_EQ(0, duo_count_events(self->set.ctx, IBV_EVENT_QP_ACCESS_ERR));
}

/* Both ends of what overflows hear of it: the CQ, and the QP behind it. */
TEST_F(events, overflowing_cq_raises_cq_err_and_qp_fatal_once)
{
	struct duo *duo = &self->duo;
	struct ibv_async_event ev;
	int cq_err = 0, fatal = 0, i, n;

	duo->cqe = 3;
	ASSERT_EQ(0, duo_up(duo, &self->set, &self->set));
	n = duo->end[1].recv_cq->cqe + 4;
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, duo_recv(&duo->end[1], i, 0, 64));
	for (i = 0; i < n; i++) {
		struct ibv_wc wc;

		if (duo_send(&duo->end[0], i, 0, 64, 0))
			break;
		duo_poll(duo->end[0].send_cq, &wc, 1);
		if (wc.status)
			break;
	}
	while (!duo_event(self->set.ctx, &ev, 500)) {
		if (ev.event_type == IBV_EVENT_CQ_ERR &&
		    ev.element.cq == duo->end[1].recv_cq)
			cq_err++;
		else if (ev.event_type == IBV_EVENT_QP_FATAL &&
			 ev.element.qp == duo->end[1].qp)
			fatal++;
		else
			TH_LOG("event %d", ev.event_type);
		ibv_ack_async_event(&ev);
	}
	EXPECT_EQ(1, cq_err);
	EXPECT_EQ(1, fatal);
	EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(duo->end[1].qp));
}

/* What fitted before a CQ overflowed can still be read, and nothing more. */
TEST_F(events, overflowed_cq_keeps_what_it_has)
{
	struct duo *duo = &self->duo;
	struct ibv_wc wc[64];
	int i, cqe;

	duo->cqe = 3;
	ASSERT_EQ(0, duo_up(duo, &self->set, &self->set));
	cqe = duo->end[1].recv_cq->cqe;
	ASSERT_LT(cqe, 32);
	for (i = 0; i < cqe + 2; i++)
		ASSERT_EQ(0, duo_recv(&duo->end[1], 100 + i, 0, 64));
	for (i = 0; i < cqe + 2; i++) {
		if (duo_send(&duo->end[0], i, 0, 64, 0))
			break;
		duo_poll(duo->end[0].send_cq, wc, 1);
		if (wc[0].status)
			break;
	}
	EXPECT_EQ(1, duo_count_events(self->set.ctx, IBV_EVENT_CQ_ERR));
	ASSERT_EQ(cqe, ibv_poll_cq(duo->end[1].recv_cq, 64, wc));
	for (i = 0; i < cqe; i++) {
		EXPECT_EQ(100 + i, wc[i].wr_id);
		EXPECT_EQ(IBV_WC_SUCCESS, wc[i].status);
	}
	EXPECT_EQ(0, ibv_poll_cq(duo->end[1].recv_cq, 64, wc));
}

static struct ibv_srq *make_srq(struct verbs_set *set, int max_wr)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = max_wr, .max_sge = 1 },
	};

	return ibv_create_srq(set->pd, &init);
}

/* 10.2.9.2: exactly when fewer than the limit are left, then never again. */
TEST_F(events, srq_limit_is_raised_once_when_traffic_falls_below_it)
{
	struct duo *duo = &self->duo;
	struct ibv_srq_attr attr = { .srq_limit = 4 };
	struct ibv_async_event ev;
	struct ibv_srq *srq;
	struct ibv_wc wc;
	int i;

	srq = make_srq(&self->set, 16);
	ASSERT_NE(NULL, srq);
	duo->srq = srq;
	ASSERT_EQ(0, duo_up(duo, &self->set, &self->set));
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, duo_srq_recv(srq, duo->end[1].mr, i,
					  duo->end[1].buf, 64));
	ASSERT_EQ(0, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, duo_send(&duo->end[0], i, 0, 64, 0));
		ASSERT_EQ(1, duo_poll(duo->end[1].recv_cq, &wc, 1));
		ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
		if (i < 4) {
			/* 7, 6, 5 and 4 are left. */
			EXPECT_EQ(-ETIMEDOUT, duo_event(self->set.ctx, &ev, 0));
		} else if (i == 4) {
			ASSERT_EQ(0, duo_event(self->set.ctx, &ev,
					       DUO_WAIT_MS));
			EXPECT_EQ(IBV_EVENT_SRQ_LIMIT_REACHED, ev.event_type);
			EXPECT_EQ(srq, ev.element.srq);
			ibv_ack_async_event(&ev);
		}
	}
	EXPECT_EQ(-ETIMEDOUT, duo_event(self->set.ctx, &ev, 0));
	ASSERT_EQ(0, ibv_query_srq(srq, &attr));
	EXPECT_EQ(0, attr.srq_limit);
	EXPECT_EQ(0, duo_close(duo));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

/* Who arms it late, when peers have taken all, is to post more as well. */
TEST_F(events, srq_limit_armed_when_there_is_nothing_is_raised)
{
	struct duo *duo = &self->duo;
	struct ibv_srq_attr attr = { .srq_limit = 4 };
	struct ibv_async_event ev;
	struct ibv_srq *srq;
	struct ibv_wc wc;

	srq = make_srq(&self->set, 16);
	ASSERT_NE(NULL, srq);
	duo->srq = srq;
	ASSERT_EQ(0, duo_up(duo, &self->set, &self->set));
	ASSERT_EQ(0, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	EXPECT_EQ(-ETIMEDOUT, duo_event(self->set.ctx, &ev, 0));
	ASSERT_EQ(0, duo_send(&duo->end[0], 1, 0, 64, 0));
	ASSERT_EQ(0, duo_event(self->set.ctx, &ev, DUO_WAIT_MS));
	EXPECT_EQ(IBV_EVENT_SRQ_LIMIT_REACHED, ev.event_type);
	ibv_ack_async_event(&ev);
	ASSERT_EQ(0, duo_srq_recv(srq, duo->end[1].mr, 1, duo->end[1].buf, 64));
	ASSERT_EQ(1, duo_poll(duo->end[1].recv_cq, &wc, 1));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(-ETIMEDOUT, duo_event(self->set.ctx, &ev, 0));
	EXPECT_EQ(0, duo_close(duo));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

TEST_F(events, qp_of_an_srq_in_error_raises_last_wqe_reached_once)
{
	struct duo *duo = &self->duo;
	struct ibv_srq *srq = make_srq(&self->set, 16);
	struct ibv_async_event ev;
	struct ibv_wc wc;

	ASSERT_NE(NULL, srq);
	duo->srq = srq;
	ASSERT_EQ(0, duo_up(duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_srq_recv(srq, duo->end[1].mr, 1, duo->end[1].buf,
				  64));
	ASSERT_EQ(0, duo_send(&duo->end[0], 1, 0, 64, 0));
	ASSERT_EQ(1, duo_poll(duo->end[1].recv_cq, &wc, 1));
	ASSERT_EQ(0, duo_state(&duo->end[1], IBV_QPS_ERR));
	EXPECT_ONE_QP_EVENT(self->set.ctx, duo->end[1].qp,
			    IBV_EVENT_QP_LAST_WQE_REACHED);
	/* Said again, it is no news. */
	ASSERT_EQ(0, duo_state(&duo->end[1], IBV_QPS_ERR));
	EXPECT_EQ(-ETIMEDOUT, duo_event(self->set.ctx, &ev, 100));
	/* What was posted to the SRQ is the SRQ's: nothing is flushed. */
	EXPECT_EQ(0, ibv_poll_cq(duo->end[1].recv_cq, 1, &wc));
	/* After a reset it is, even if the QP was never to receive. */
	ASSERT_EQ(0, duo_state(&duo->end[1], IBV_QPS_RESET));
	ASSERT_EQ(0, verbs_qp_to(&self->set, duo->end[1].qp, IBV_QPS_INIT, 0));
	ASSERT_EQ(0, duo_state(&duo->end[1], IBV_QPS_ERR));
	EXPECT_ONE_QP_EVENT(self->set.ctx, duo->end[1].qp,
			    IBV_EVENT_QP_LAST_WQE_REACHED);
	EXPECT_EQ(0, duo_close(duo));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

TEST_F(events, qp_without_srq_raises_no_last_wqe_reached)
{
	struct duo *duo = &self->duo;
	struct ibv_async_event ev;

	ASSERT_EQ(0, duo_up(duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_state(&duo->end[1], IBV_QPS_ERR));
	EXPECT_EQ(-ETIMEDOUT, duo_event(self->set.ctx, &ev, 100));
}

static void *destroy_qp(void *arg)
{
	struct ibv_qp *qp = arg;

	return (void *)(intptr_t)ibv_destroy_qp(qp);
}

/* ibv_get_async_event(3): destroying waits until events are acknowledged. */
TEST_F(events, destroy_waits_for_events_that_are_not_acknowledged)
{
	struct duo *duo = &self->duo;
	struct ibv_async_event ev;
	struct timespec soon;
	pthread_t thread;
	struct ibv_wc wc;
	void *ret;

	ASSERT_EQ(0, duo_up(duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_write(&duo->end[0], &duo->end[1], 0, 64,
			       duo->end[1].mr->rkey ^ 0x55));
	ASSERT_EQ(1, duo_poll(duo->end[0].send_cq, &wc, 1));
	ASSERT_EQ(0, duo_event(self->set.ctx, &ev, DUO_WAIT_MS));
	ASSERT_EQ(0, pthread_create(&thread, NULL, destroy_qp,
				    duo->end[1].qp));
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec++;
	EXPECT_EQ(ETIMEDOUT, pthread_timedjoin_np(thread, &ret, &soon));
	ibv_ack_async_event(&ev);
	EXPECT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(NULL, ret);
	duo->end[1].qp = NULL;
}

/* Events of what is gone are not delivered any more. */
TEST_F(events, destroy_takes_events_that_nobody_fetched_with_it)
{
	struct duo *duo = &self->duo;
	struct ibv_async_event ev;
	struct ibv_wc wc;

	ASSERT_EQ(0, duo_up(duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_write(&duo->end[0], &duo->end[1], 0, 64,
			       duo->end[1].mr->rkey ^ 0x55));
	ASSERT_EQ(1, duo_poll(duo->end[0].send_cq, &wc, 1));
	ASSERT_EQ(0, ibv_destroy_qp(duo->end[1].qp));
	duo->end[1].qp = NULL;
	EXPECT_EQ(-ETIMEDOUT, duo_event(self->set.ctx, &ev, 0));
}

/* The link is taken away under the process: it is told, once. */
TEST_F(events, removal_of_the_device_raises_device_fatal_once)
{
	struct ibv_async_event ev;
	struct verbs_set set;
	int fatal = 0;

	ASSERT_EQ(0, verbs_open_set(&set, TOPO_LINK));
	ASSERT_EQ(0, nldev_link_del(TOPO_LINK));
	while (!duo_event(set.ctx, &ev, fatal ? 200 : DUO_WAIT_MS)) {
		fatal += ev.event_type == IBV_EVENT_DEVICE_FATAL;
		ibv_ack_async_event(&ev);
		if (fatal > 1)
			break;
	}
	EXPECT_EQ(1, fatal);
	EXPECT_EQ(0, topo_link_add(TOPO_LINK, TOPO_NETDEV));
}

TEST_HARNESS_MAIN
