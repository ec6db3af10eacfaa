// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A QP in the error state: every request completes, once, in order, with the
 * number it was posted with; nothing succeeds any more.
 */
#include "fixture.h"

#include "duo.h"

#define COUNT	40

FIXTURE(flush)
{
	struct verbs_set set;
	struct duo duo;
};

FIXTURE_SETUP(flush)
{
	memset(&self->duo, 0, sizeof(self->duo));
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
}

FIXTURE_TEARDOWN(flush)
{
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

#define EXPECT_FLUSHED(cq, first, count)				\
	do {								\
		struct ibv_wc wc_[COUNT + 1];				\
		int i_, n_ = duo_poll(cq, wc_, count);			\
									\
		EXPECT_EQ(count, n_);					\
		for (i_ = 0; i_ < n_; i_++) {				\
			EXPECT_EQ((first) + i_, wc_[i_].wr_id);		\
			EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc_[i_].status);	\
		}							\
		EXPECT_EQ(0, ibv_poll_cq(cq, 1, wc_));			\
	} while (0)

/* The first one is on its way, the others wait: none had succeeded. */
TEST_F(flush, modify_to_error_completes_both_queues_in_order)
{
	struct duo_end *end = self->duo.end;
	int i;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	for (i = 0; i < COUNT; i++) {
		ASSERT_EQ(0, duo_recv(&end[0], 500 + i, 0, 64));
		ASSERT_EQ(0, duo_send(&end[0], 100 + i, 0, 64, 0));
	}
	ASSERT_EQ(0, duo_state(&end[0], IBV_QPS_ERR));
	EXPECT_FLUSHED(end[0].send_cq, 100, COUNT);
	EXPECT_FLUSHED(end[0].recv_cq, 500, COUNT);
}

/* Errors are always reported, whoever asked for it or not (10.8.3.2). */
TEST_F(flush, requests_that_are_not_signaled_are_flushed_with_a_completion)
{
	struct duo_end *end = self->duo.end;
	int i;

	self->duo.no_sig_all = true;
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	for (i = 0; i < COUNT; i++)
		ASSERT_EQ(0, duo_send(&end[0], 100 + i, 0, 64, 0));
	ASSERT_EQ(0, duo_state(&end[0], IBV_QPS_ERR));
	EXPECT_FLUSHED(end[0].send_cq, 100, COUNT);
}

TEST_F(flush, what_is_posted_in_error_is_flushed_at_once)
{
	struct duo_end *end = self->duo.end;
	int i, round;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_state(&end[0], IBV_QPS_ERR));
	for (round = 0; round < 3; round++) {
		/* The doorbell of the sends is heard for the receives too. */
		for (i = 0; i < COUNT; i++)
			ASSERT_EQ(0, duo_recv(&end[0], 500 + i, 0, 64));
		for (i = 0; i < COUNT; i++)
			ASSERT_EQ(0, duo_send(&end[0], i, 0, 64, 0));
		EXPECT_FLUSHED(end[0].send_cq, 0, COUNT);
		EXPECT_FLUSHED(end[0].recv_cq, 500, COUNT);
	}
}

/* Those before the bad one succeed, it fails by itself, the rest is flushed. */
TEST_F(flush, a_failing_request_flushes_those_behind_it)
{
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc[COUNT + 1];
	int i;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	for (i = 0; i < COUNT; i++)
		ASSERT_EQ(0, duo_recv(&end[1], i, 0, i == 10 ? 16 : 64));
	for (i = 0; i < COUNT; i++)
		ASSERT_EQ(0, duo_send(&end[0], i, 0, 64, 0));
	ASSERT_EQ(COUNT, duo_poll(end[0].send_cq, wc, COUNT));
	for (i = 0; i < COUNT; i++) {
		EXPECT_EQ(i, wc[i].wr_id);
		EXPECT_EQ(i < 10 ? IBV_WC_SUCCESS :
			  i == 10 ? IBV_WC_REM_INV_REQ_ERR :
				    IBV_WC_WR_FLUSH_ERR, wc[i].status);
	}
	ASSERT_EQ(COUNT, duo_poll(end[1].recv_cq, wc, COUNT));
	for (i = 0; i < COUNT; i++) {
		EXPECT_EQ(i, wc[i].wr_id);
		EXPECT_EQ(i < 10 ? IBV_WC_SUCCESS :
			  i == 10 ? IBV_WC_LOC_LEN_ERR :
				    IBV_WC_WR_FLUSH_ERR, wc[i].status);
	}
	EXPECT_EQ(0, ibv_poll_cq(end[0].send_cq, 1, wc));
	EXPECT_EQ(0, ibv_poll_cq(end[1].recv_cq, 1, wc));
}

/* 10.3.1: what was posted before is never heard of again. */
TEST_F(flush, reset_forgets_the_receives)
{
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc;
	int i;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, duo_recv(&end[1], i, 0, 64));
	ASSERT_EQ(0, duo_state(&end[1], IBV_QPS_RESET));
	ASSERT_EQ(0, duo_step(&self->duo, 1, IBV_QPS_INIT));
	ASSERT_EQ(0, duo_recv(&end[1], 9, 0, 64));
	ASSERT_EQ(0, duo_state(&end[1], IBV_QPS_ERR));
	ASSERT_EQ(1, duo_poll(end[1].recv_cq, &wc, 1));
	EXPECT_EQ(9, wc.wr_id);
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc.status);
	EXPECT_EQ(0, ibv_poll_cq(end[1].recv_cq, 1, &wc));
}

/*
 * The error comes from another thread's view at any moment of the traffic: for
 * each queue a run of successes, then only flushes, all of them once.
 */
TEST_F(flush, error_in_the_middle_of_traffic_loses_and_repeats_nothing)
{
	struct duo_end *end = self->duo.end;
	int round, i, n, posted;

	for (round = 0; round < 30; round++) {
		struct ibv_wc wc[256];
		bool flushed = false;

		self->duo = (struct duo){ .depth = 64 };
		ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
		for (i = 0; i < 20; i++)
			ASSERT_EQ(0, duo_recv(&end[1], i, 0, 8192));
		for (posted = 0; posted < 20 + round; posted++) {
			ASSERT_EQ(0, duo_send(&end[0], posted, 0,
					      posted * 300 % 8192, 0));
			if (posted == round)
				ASSERT_EQ(0, duo_state(&end[round % 2],
						       IBV_QPS_ERR));
		}
		/* The peer of a QP in error would try for long. */
		ASSERT_EQ(0, duo_state(&end[0], IBV_QPS_ERR));
		n = duo_poll(end[0].send_cq, wc, posted);
		ASSERT_EQ(posted, n);
		for (i = 0; i < n; i++) {
			ASSERT_EQ(i, wc[i].wr_id);
			if (wc[i].status)
				flushed = true;
			else
				ASSERT_FALSE(flushed);
		}
		EXPECT_EQ(0, ibv_poll_cq(end[0].send_cq, 1, wc));
		ASSERT_EQ(0, duo_state(&end[1], IBV_QPS_ERR));
		ASSERT_EQ(20, duo_poll(end[1].recv_cq, wc, 20));
		for (i = 0; i < 20; i++)
			ASSERT_EQ(i, wc[i].wr_id);
		ASSERT_EQ(0, duo_close(&self->duo));
	}
}

/* A QP that was in error works again after RESET, and remembers nothing. */
TEST_F(flush, reset_after_error_starts_anew)
{
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc;
	int i;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, duo_send(&end[0], i, 0, 64, 0));
	ASSERT_EQ(0, duo_state(&end[0], IBV_QPS_ERR));
	EXPECT_FLUSHED(end[0].send_cq, 0, 5);
	ASSERT_EQ(0, duo_state(&end[0], IBV_QPS_RESET));
	ASSERT_EQ(0, duo_state(&end[1], IBV_QPS_RESET));
	ASSERT_EQ(0, duo_connect(&self->duo));
	ASSERT_EQ(0, duo_recv(&end[1], 3, 0, 64));
	ASSERT_EQ(0, duo_send(&end[0], 4, 0, 64, 0));
	ASSERT_EQ(1, duo_poll(end[0].send_cq, &wc, 1));
	EXPECT_EQ(4, wc.wr_id);
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
}

TEST_HARNESS_MAIN
