// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester, decision by decision: what it sends, packet by packet, and its
 * ring of messages. What waits for what is in test_rc_req_order.c, responses in
 * test_rc_req_ack.c and test_rc_req_read.c, what goes wrong in the other
 * test_rc_req_*.c. The responses are made up, also those no correct peer would
 * give; that the decisions work together is what the simulator shows.
 */
#include "req_fixture.h"

TEST(req_next__nothing_posted)
{
	begin(NULL);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(req.deadline, 0);
	EXPECT(!retired());
}

TEST(req_next__write_in_two_bursts)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 5 * MTU + 1, SRDMA_WR_SIGNALED);
	limit.bytes = MTU;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(0, 1, 0, MTU, SRDMA_RC_WRITE_FIRST);
	EXPECT(!burst.b.ack_req);
	sent();
	limit.bytes = 65000;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(1, 5, MTU, 4 * MTU + 1, SRDMA_RC_WRITE_MIDDLE);
	EXPECT_EQ(srdma_burst_opcode(&burst.b, 4), SRDMA_RC_WRITE_LAST);
	EXPECT_EQ(srdma_burst_payload(&burst.b, 3), MTU);
	EXPECT_EQ(srdma_burst_payload(&burst.b, 4), 1);
	EXPECT(burst.b.ack_req);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_next__write_in_one_burst)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 5 * MTU + 1, SRDMA_WR_SIGNALED);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(0, 6, 0, 5 * MTU + 1, SRDMA_RC_WRITE_FIRST);
	EXPECT(burst.b.mixed);
	EXPECT(burst.b.ack_req);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_next__send_in_one_burst)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 3 * MTU, SRDMA_WR_SOLICITED);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(0, 3, 0, 3 * MTU, SRDMA_RC_SEND_FIRST);
	EXPECT_EQ(srdma_burst_opcode(&burst.b, 1), SRDMA_RC_SEND_MIDDLE);
	EXPECT_EQ(srdma_burst_opcode(&burst.b, 2), SRDMA_RC_SEND_LAST);
	EXPECT(burst.b.solicited);
}

TEST(req_next__last_write_with_immediate_goes_alone)
{
	begin(NULL);
	push(SRDMA_WR_WRITE_IMM, 3 * MTU, SRDMA_WR_SOLICITED);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(0, 2, 0, 2 * MTU, SRDMA_RC_WRITE_FIRST);
	EXPECT_EQ(srdma_burst_opcode(&burst.b, 1), SRDMA_RC_WRITE_MIDDLE);
	EXPECT(!burst.b.solicited);
	sent();
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(2, 1, 2 * MTU, MTU, SRDMA_RC_WRITE_LAST_IMM);
	EXPECT(burst.b.solicited);
}

TEST(req_next__empty_message_has_one_packet)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 0, 0);
	push(SRDMA_WR_READ, 0, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(0, 1, 0, 0, SRDMA_RC_WRITE_ONLY);
	sent();
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(1, 1, 0, 0, SRDMA_RC_READ_REQ);
	sent();
	EXPECT_EQ(read_resp(1, 0), SRDMA_REQ_PLACE);
	EXPECT_EQ(act.len, 0);
	placed();
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
}

TEST(req_next__limits_of_the_caller)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 20 * MTU, 0);
	limit.packets = 7;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 7);
	limit.bytes = 3 * MTU + MTU - 1;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 3);
	limit.bytes = 0;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 1);
	limit.packets = 0;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 1);
}

TEST(req_next__changes_nothing)
{
	struct srdma_rc_burst first;

	begin(NULL);
	push(SRDMA_WR_SEND, 5 * MTU, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	first = burst;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_MEM(&first.b, &burst.b, sizeof(first.b));
	EXPECT_EQ(req.deadline, 0);
}

TEST(req_next__nothing_left)
{
	begin(&few);
	push(SRDMA_WR_SEND, 1, 0);
	send_one();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT(req.deadline);
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(req.deadline, 0);
	EXPECT(!retired());
}

TEST(req_next__message_of_three_packets)
{
	begin(&few);
	push(SRDMA_WR_SEND, 2 * MTU + 1, SRDMA_WR_SIGNALED |
	     SRDMA_WR_SOLICITED);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, FIRST);
	EXPECT_EQ(burst.b.count, 3);
	EXPECT_EQ(burst.b.first, SRDMA_RC_SEND_FIRST);
	EXPECT_EQ(burst.b.middle, SRDMA_RC_SEND_MIDDLE);
	EXPECT_EQ(burst.b.last, SRDMA_RC_SEND_LAST);
	EXPECT_EQ(burst.b.seg, MTU);
	EXPECT_EQ(burst.b.len, 2 * MTU + 1);
	EXPECT(burst.b.ack_req);
	EXPECT(burst.b.solicited);
	EXPECT(!burst.b.resend);
}

TEST(req_next__asking_changes_nothing)
{
	begin(&few);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, FIRST);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* Of the rest the payload could not be had: it is next. */
TEST(req_sent__a_part_of_a_burst)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 5 * MTU + 1, SRDMA_WR_SOLICITED);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(burst.b.ack_req);
	srdma_burst_trim(&burst.b, 1);
	sent();
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(1, 5, MTU, 4 * MTU + 1, SRDMA_RC_WRITE_MIDDLE);
	EXPECT(burst.b.ack_req);
	EXPECT(burst.b.solicited);
	EXPECT(!burst.b.resend);
}

TEST(req_ring__indexes_go_on_for_ever)
{
	uint32_t i;

	begin(NULL);
	req.head = req.tail = req.una = req.cur = req.fresh = -5u;
	for (i = 0; i < 40; i++) {
		push(i % 3 ? SRDMA_WR_WRITE : SRDMA_WR_BIND_MW, i % 3, 0);
		if (next() == SRDMA_NEXT_LOCAL)
			srdma_rc_req_local_done(&req, &burst);
		else
			sent();
		if (i % 3)
			aeth_psn(srdma_psn_sub(req.max_psn, 1), 0x1f);
		expect_retired(-5u + i, SRDMA_ST_OK);
	}
}

TEST(req_ring__full)
{
	uint32_t i;

	begin(NULL);
	for (i = 0; i < RING; i++) {
		EXPECT(!srdma_rc_req_full(&req));
		push(SRDMA_WR_WRITE, 1, 0);
	}
	EXPECT(srdma_rc_req_full(&req));
	send_all();
	ack(0);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT(!srdma_rc_req_full(&req));
}

TEST(req_update__smaller_limits)
{
	struct srdma_rc_req_attr a = usual;

	begin(NULL);
	a.retry_cnt = 1;
	a.rnr_retry = 2;
	a.max_inflight = 3 * MTU;
	a.timeout = 1;
	srdma_rc_req_update(&req, &a);
	EXPECT_EQ(req.retry_left, 1);
	EXPECT_EQ(req.rnr_left, 2);
	EXPECT_EQ(req.cwnd, 3);
	EXPECT_EQ(req.timeout_ns, 8192);
	push(SRDMA_WR_SEND, 8 * MTU, 0);
	EXPECT_EQ(send_all(), 3);
}

/* What was used up of the old ones stays used up. */
TEST(req_update__larger_limits)
{
	struct srdma_rc_req_attr a = usual;

	a.retry_cnt = 0;
	a.rnr_retry = 1;
	begin(&a);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(rnr(0, 1), SRDMA_REQ_RNR_WAIT);
	EXPECT_EQ(req.rnr_left, 0);
	a.retry_cnt = 7;
	a.rnr_retry = 3;
	srdma_rc_req_update(&req, &a);
	EXPECT_EQ(req.retry_left, 7);
	EXPECT_EQ(req.rnr_left, 2);
}
