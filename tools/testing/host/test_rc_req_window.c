// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The window of a requester: how it shrinks and grows. Several requesters that
 * share a queue are in test_rc_req_queue.c.
 */
#include "req_fixture.h"

TEST(req_window__shrinks_once_for_a_loss_and_grows_again)
{
	struct srdma_rc_req_attr a = usual;
	uint32_t i, cwnd;

	a.max_inflight = 400 * MTU;
	begin(&a);
	push(SRDMA_WR_READ, 100 * MTU, 0);
	push(SRDMA_WR_READ, 100 * MTU, 0);
	push(SRDMA_WR_READ, 100 * MTU, 0);
	send_all();
	read_resp(1, MTU);
	/* Half of what was on the way. */
	EXPECT_EQ(req.cwnd, 150);
	send_one();
	/* Of the same flight: paid for. */
	read_resp(102, MTU);
	EXPECT_EQ(req.cwnd, 150);
	cwnd = req.cwnd;
	for (i = 0; i < 100; i++) {
		read_resp(i, MTU);
		placed();
	}
	/* An eighth for every packet acknowledged. */
	EXPECT_EQ(req.cwnd, cwnd + 100 / 8);
}

TEST(req_window__not_below_its_floor)
{
	uint32_t i;

	begin(NULL);
	push(SRDMA_WR_SEND, 15 * MTU, 0);
	send_all();
	for (i = 0; i < 15; i++) {
		nak(i, SRDMA_NAK_PSN_SEQ);
		send_all();
		now += 1 * US;
	}
	/* Half of fifteen packets would be less. */
	EXPECT(req.cwnd >= 32 && req.cwnd < 32 + 512);
}

TEST(req_window__timeout_begins_anew)
{
	enum srdma_req_timer what;

	begin(NULL);
	push(SRDMA_WR_SEND, 300 * MTU, 0);
	send_all();
	do {
		what = expire();
		if (what == SRDMA_TIMER_PROBE)
			send_one();
	} while (what == SRDMA_TIMER_PROBE);
	EXPECT_EQ(what, SRDMA_TIMER_RETRY);
	/* Many at once that repeat more would only lengthen a queue. */
	EXPECT_EQ(req.cwnd, 2);
	EXPECT_EQ(req.ssthresh, 150);
	EXPECT_EQ(send_all(), 2);
	ack(1);
	EXPECT_EQ(req.cwnd, 4);
	EXPECT_EQ(send_all(), 4);
}

TEST(req_window__congestion_notification)
{
	struct srdma_rc_req_attr a = usual;

	a.max_inflight = 400 * MTU;
	begin(&a);
	push(SRDMA_WR_SEND, 300 * MTU, 0);
	send_all();
	srdma_rc_req_congested(&req);
	EXPECT_EQ(req.cwnd, 150);
	srdma_rc_req_congested(&req);
	EXPECT_EQ(req.cwnd, 150);
	ack(299);
	srdma_rc_req_congested(&req);
	EXPECT(req.cwnd < 150);
}

TEST(req_window__starts_small_and_doubles)
{
	struct srdma_rc_req_attr a = usual;
	u32 sent;

	a.max_inflight = 64 * MTU;
	a.start_inflight = 8 * MTU;
	begin(&a);
	EXPECT_EQ(req.cwnd, 8);
	push(SRDMA_WR_WRITE, 64 * MTU, 0);
	sent = send_all();
	REQUIRE(sent);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	ack(7);
	EXPECT_EQ(req.cwnd, 16);
}
