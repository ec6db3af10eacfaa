// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a requester makes of a NAK: going back, and how often; what is fatal; what
 * comes too late. Those of a receiver that is not ready are in test_rc_req_rnr.c.
 */
#include "req_fixture.h"

TEST(req_nak__goes_back_into_the_message)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 6 * MTU, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(nak(2, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	EXPECT(!retired());
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(2, 4, 2 * MTU, 4 * MTU, SRDMA_RC_WRITE_MIDDLE);
	EXPECT_EQ(srdma_burst_opcode(&burst.b, 3), SRDMA_RC_WRITE_LAST);
	EXPECT(burst.b.resend);
	sent();
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(6, 1, 0, 1, SRDMA_RC_SEND_ONLY);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	ack(6);
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
}

TEST(req_nak__acknowledges_what_is_in_front)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(nak(1, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT(!retired());
}

TEST(req_nak__goes_on_with_what_was_not_sent)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 6 * MTU, 0);
	limit.packets = 3;
	send_one();
	nak(1, SRDMA_NAK_PSN_SEQ);
	limit.packets = 64;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(1, 2, MTU, 2 * MTU, SRDMA_RC_SEND_MIDDLE);
	EXPECT(burst.b.resend);
	sent();
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(3, 3, 3 * MTU, 3 * MTU, SRDMA_RC_SEND_MIDDLE);
	EXPECT(!burst.b.resend);
}

TEST(req_nak__ack_while_going_back)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 6 * MTU, 0);
	push(SRDMA_WR_SEND, 6 * MTU, 0);
	send_all();
	nak(1, SRDMA_NAK_PSN_SEQ);
	limit.packets = 1;
	send_one();
	/* Reordered: the peer has more than it said. */
	EXPECT_EQ(ack(8), SRDMA_REQ_ACK);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(9, 1, 3 * MTU, MTU, SRDMA_RC_SEND_MIDDLE);
	/* And a NAK that was overtaken means nothing. */
	EXPECT_EQ(nak(9, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_DROP_DUP);
	ack(11);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_nak__overtaken_by_the_ack)
{
	begin(NULL);
	push(SRDMA_WR_READ, 8, 0);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	ack(2);
	EXPECT_EQ(nak(1, SRDMA_NAK_REM_ACCESS), SRDMA_REQ_DROP_DUP);
	EXPECT_EQ(nak(1, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_DROP_DUP);
	EXPECT_EQ(rnr(1, 1), SRDMA_REQ_DROP_DUP);
	EXPECT(!retired());
}

/* Even one behind a hole. */
TEST(req_nak__overtaken_by_a_response)
{
	begin(NULL);
	push(SRDMA_WR_READ, 3 * MTU, 0);
	send_all();
	EXPECT_EQ(place_resp(1, MTU), SRDMA_REQ_PLACE);
	send_one();
	now += 10 * MS;
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_DROP_DUP);
}

TEST(req_nak__copies_cost_no_retry)
{
	uint32_t i;

	begin(NULL);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_one();
	now += 60 * US;
	ack(0);
	send_one();
	EXPECT_EQ(nak(1, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	/* Before it has gone back, and within a round trip and its spread. */
	for (i = 0; i < 20; i++)
		EXPECT_EQ(nak(1, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_DROP_DUP);
	send_one();
	now += 119 * US;
	EXPECT_EQ(nak(1, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_DROP_DUP);
	EXPECT_EQ(req.retry_left, 6);
	now += 2 * US;
	EXPECT_EQ(nak(1, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	EXPECT_EQ(req.retry_left, 5);
}

/* What is sent again and again makes the round trip longer. */
TEST(req_nak__copies_are_for_longer_each_time)
{
	uint32_t i;

	begin(NULL);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_one();
	now += 60 * US;
	ack(0);
	send_one();
	for (i = 0; i < 7; i++) {
		EXPECT_EQ(nak(1, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
		EXPECT_EQ(req.retry_left, 6 - i);
		send_one();
		now += (120 * US << i) - 1;
		EXPECT_EQ(nak(1, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_DROP_DUP);
		now += 1;
	}
	EXPECT_EQ(nak(1, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_FAILED);
}

/* Sends what is to be sent; the peer answers each time with the same NAK. */
static enum srdma_req_timer want_again(uint32_t psn)
{
	while (next() == SRDMA_NEXT_SEND) {
		sent();
		nak(psn, SRDMA_NAK_PSN_SEQ);
	}
	return expire();
}

/* The timer ends it, and it is known that the peer was not silent. */
TEST(req_nak__of_what_comes_again_and_again)
{
	enum srdma_req_timer timer;

	begin(NULL);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_one();
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	EXPECT(!req.nak_again);
	do
		timer = want_again(0);
	while (timer != SRDMA_TIMER_FAILED);
	EXPECT(req.nak_again);
	expect_retired(0, SRDMA_ST_RETRY_EXC);
}

TEST(req_nak__and_then_silence)
{
	enum srdma_req_timer timer;

	begin(NULL);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_one();
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	send_one();
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_DROP_DUP);
	EXPECT(req.nak_again);
	do {
		while (next() == SRDMA_NEXT_SEND)
			sent();
		timer = expire();
	} while (timer != SRDMA_TIMER_FAILED);
	EXPECT(!req.nak_again);
	expect_retired(0, SRDMA_ST_RETRY_EXC);
}

TEST(req_nak__progress_ends_it)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	send_all();
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_DROP_DUP);
	ack(0);
	EXPECT(!req.nak_again);
}

TEST(req_nak__seven_is_seven)
{
	uint32_t i;

	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	for (i = 0; i < 7; i++) {
		EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
		EXPECT_EQ(send_all(), 2);
		now += 1000 * US << i;
	}
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_FAILED);
	expect_retired(0, SRDMA_ST_RETRY_EXC);
	expect_retired(1, SRDMA_ST_FLUSH);
	EXPECT(!retired());
}

TEST(req_nak__progress_gives_new_retries)
{
	uint32_t i;

	begin(NULL);
	push(SRDMA_WR_SEND, 15 * MTU, 0);
	send_all();
	for (i = 0; i < 15; i++) {
		EXPECT_EQ(nak(i, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
		EXPECT_EQ(req.retry_left, 6);
		EXPECT_EQ(send_all(), 15 - i);
		now += 1 * US;
	}
}

/* The answer to the READ does not get through; the peer itself gets on. */
TEST(req_nak__each_further_on_gives_new_retries)
{
	uint32_t i;

	begin(NULL);
	push(SRDMA_WR_READ, 8, 0);
	push(SRDMA_WR_SEND, 15 * MTU, 0);
	send_all();
	for (i = 1; i < 15; i++) {
		EXPECT_EQ(nak(i, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
		EXPECT_EQ(req.retry_left, 6);
		send_all();
		now += 1 * US;
	}
	for (i = 0; i < 6; i++) {
		now += 1000 * US << i;
		EXPECT_EQ(nak(14, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
		send_all();
	}
	now += 1000 * US << i;
	EXPECT_EQ(nak(14, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_FAILED);
	expect_retired(0, SRDMA_ST_RETRY_EXC);
}

TEST(req_nak__no_retries_at_all)
{
	struct srdma_rc_req_attr a = usual;

	a.retry_cnt = 0;
	begin(&a);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_FAILED);
	expect_retired(0, SRDMA_ST_RETRY_EXC);
}

TEST(req_nak__fatal_codes)
{
	static const struct {
		uint8_t code;
		uint8_t status;
	} rows[] = {
		{ 1, SRDMA_ST_REM_INV_REQ },
		{ 2, SRDMA_ST_REM_ACCESS },
		{ 3, SRDMA_ST_REM_OP },
	};
	uint32_t i;

	for (i = 0; i < 3; i++) {
		begin(NULL);
		push(SRDMA_WR_SEND, 1, 0);
		push(SRDMA_WR_WRITE, 3 * MTU, 0);
		push(SRDMA_WR_SEND, 1, 0);
		send_all();
		EXPECT_EQ(nak(2, rows[i].code), SRDMA_REQ_FAILED);
		EXPECT_EQ(next(), SRDMA_NEXT_ERROR);
		EXPECT_EQ(ack(4), SRDMA_REQ_DROP_ERROR);
		EXPECT_EQ(req.deadline, 0);
		expect_retired(0, SRDMA_ST_OK);
		expect_retired(1, rows[i].status);
		expect_retired(2, SRDMA_ST_FLUSH);
		EXPECT(!retired());
	}
}

/* The answer to the READ is lost and will not come: nothing may succeed. */
TEST(req_nak__behind_an_unanswered_read)
{
	begin(NULL);
	push(SRDMA_WR_READ, 8, 0);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_WRITE, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(nak(2, SRDMA_NAK_REM_ACCESS), SRDMA_REQ_FAILED);
	expect_retired(0, SRDMA_ST_FLUSH);
	expect_retired(1, SRDMA_ST_FLUSH);
	expect_retired(2, SRDMA_ST_REM_ACCESS);
	expect_retired(3, SRDMA_ST_FLUSH);
	EXPECT(!retired());
}

TEST(req_nak__reserved_codes)
{
	uint8_t code;

	begin(&few);
	push(SRDMA_WR_SEND, 4, 0);
	send_all();
	for (code = 4; code < 32; code++)
		EXPECT_EQ(aeth(0, 0x60 | code), SRDMA_REQ_DROP_KIND);
	EXPECT(!retired());
}

TEST(req_nak__each_code_has_its_status)
{
	static const struct {
		uint8_t syndrome;
		int status;
	} rows[] = {
		{ 0x61, 9 },	/* invalid request: IB_WC_REM_INV_REQ_ERR */
		{ 0x62, 10 },	/* IB_WC_REM_ACCESS_ERR */
		{ 0x63, 11 },	/* IB_WC_REM_OP_ERR */
	};
	int i;

	for (i = 0; i < 3; i++) {
		begin(&few);
		push(SRDMA_WR_SEND, 4, 0);
		push(SRDMA_WR_WRITE, 4, 0);
		push(SRDMA_WR_WRITE, 4, 0);
		send_all();
		/* It acknowledges what is in front of it. */
		EXPECT_EQ(aeth(1, rows[i].syndrome), SRDMA_REQ_FAILED);
		expect_retired(0, SRDMA_ST_OK);
		expect_retired(1, rows[i].status);
		expect_retired(2, 5);
		EXPECT_EQ(next(), SRDMA_NEXT_ERROR);
		EXPECT_EQ(req.deadline, 0);
		/* Nothing succeeds from now on. */
		push(SRDMA_WR_SEND, 4, 0);
		EXPECT_EQ(ack(2), SRDMA_REQ_DROP_ERROR);
		expect_retired(3, 5);
		EXPECT(!retired());
	}
}

TEST(req_nak__overtaken_behind_a_read)
{
	begin(&few);
	push(SRDMA_WR_READ, 4, 0);
	push(SRDMA_WR_SEND, 4, 0);
	push(SRDMA_WR_SEND, 4, 0);
	send_all();
	ack(1);
	EXPECT_EQ(aeth(1, 0x62), SRDMA_REQ_DROP_DUP);
	EXPECT_EQ(aeth(1, 0x60), SRDMA_REQ_DROP_DUP);
}

TEST(req_seq_nak__goes_back)
{
	begin(&few);
	push(SRDMA_WR_SEND, 3 * MTU, 0);
	send_all();
	EXPECT_EQ(aeth(1, 0x60), SRDMA_REQ_RETRY);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, psn(1));
	EXPECT_EQ(burst.b.offset, MTU);
	EXPECT_EQ(burst.b.count, 2);
	EXPECT_EQ(burst.b.first, SRDMA_RC_SEND_MIDDLE);
	EXPECT(burst.b.resend);
	EXPECT(burst.b.ack_req);
	sent();
	EXPECT_EQ(ack(2), SRDMA_REQ_ACK);
	expect_retired(0, SRDMA_ST_OK);
}

/* One of two retries each, being too far apart for copies; then no more. */
TEST(req_seq_nak__is_a_retry)
{
	int i;

	begin(&few);
	push(SRDMA_WR_SEND, 1, 0);
	for (i = 0; i < 2; i++) {
		send_all();
		now += MS << i;
		EXPECT_EQ(aeth(0, 0x60), SRDMA_REQ_RETRY);
	}
	send_all();
	now += 4 * MS;
	EXPECT_EQ(aeth(0, 0x60), SRDMA_REQ_FAILED);
	expect_retired(0, 12);	/* IB_WC_RETRY_EXC_ERR */
}
