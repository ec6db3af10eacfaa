// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester when something goes wrong on the way: loss, time, the peer's
 * refusals. Its own failures are in test_rc_req_fail.c.
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

/* Even one that cannot be placed, since the packet before it is missing. */
TEST(req_nak__overtaken_by_a_response)
{
	begin(NULL);
	push(SRDMA_WR_READ, 3 * MTU, 0);
	send_all();
	EXPECT_EQ(read_resp(1, MTU), SRDMA_REQ_DROP_GAP);
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

TEST(req_timeout__nothing_outstanding)
{
	begin(NULL);
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_EARLY);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT(req.deadline);
	ack(0);
	EXPECT_EQ(req.deadline, 0);
	EXPECT_EQ(srdma_rc_req_timeout(&req, now + 1000 * MS),
		  SRDMA_TIMER_EARLY);
}

TEST(req_probe__oldest_packet_with_ack_req)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 4 * MTU, 0);
	send_all();
	ack(0);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(burst.probe);
	expect_burst(1, 1, MTU, MTU, SRDMA_RC_WRITE_MIDDLE);
	EXPECT(burst.b.ack_req);
	EXPECT(burst.b.resend);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(req.retry_left, 7);
	/* It was only the ACK that was lost. */
	ack(3);
	expect_retired(0, SRDMA_ST_OK);
}

TEST(req_probe__shows_that_the_rest_is_lost)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 4 * MTU, 0);
	send_all();
	expire();
	send_one();
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(!burst.probe);
	expect_burst(1, 3, MTU, 3 * MTU, SRDMA_RC_WRITE_MIDDLE);
	/* A later ACK of the same packet is not the probe's answer. */
	sent();
	ack(0);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_probe__asks_a_read_for_its_rest)
{
	begin(NULL);
	push(SRDMA_WR_READ, 4 * MTU, 0);
	send_all();
	read_resp(0, MTU);
	placed();
	expire();
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(1, 1, MTU, 3 * MTU, SRDMA_RC_READ_REQ);
	EXPECT(burst.probe);
}

TEST(req_probe__waits_twice_as_long_each_time)
{
	struct srdma_rc_req_attr a = usual;
	uint64_t wait = 0, last;
	uint32_t i;

	a.timeout = 0;
	begin(&a);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	for (i = 0; i < 10; i++) {
		last = now;
		EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
		if (i)
			EXPECT_EQ(now - last, i == 1 ? wait : 2 * wait);
		wait = now - last;
		send_one();
		EXPECT(burst.probe);
	}
	/* Without an ACK timeout that is all. */
	EXPECT_EQ(req.deadline, 0);
	EXPECT_EQ(srdma_rc_req_timeout(&req, now + 10000 * MS),
		  SRDMA_TIMER_EARLY);
}

TEST(req_probe__sooner_once_the_round_trip_is_known)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_one();
	EXPECT_EQ(req.deadline, now + 2 * MS);
	now += 80 * US;
	ack(0);
	EXPECT_EQ(req.srtt_ns, 80 * US);
	/* Twice the round trip and four times its deviation. */
	send_one();
	EXPECT_EQ(req.deadline, now + 320 * US);
	now += 40 * US;
	ack(1);
	EXPECT_EQ(req.srtt_ns, 75 * US);
	EXPECT_EQ(req.rttvar_ns, 37500);
	send_one();
	EXPECT_EQ(req.deadline, now + 300 * US);
}

TEST(req_probe__not_sooner_than_its_floor)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_one();
	ack(0);
	EXPECT_EQ(req.srtt_ns, 1);
	send_one();
	EXPECT_EQ(req.deadline, now + 100 * US);
}

TEST(req_rtt__not_of_what_was_sent_twice)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	expire();
	send_one();
	now += 50 * US;
	ack(0);
	EXPECT_EQ(req.srtt_ns, 0);
	/* But the first copy of what a sequence NAK asks for was dropped. */
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	nak(1, SRDMA_NAK_PSN_SEQ);
	send_all();
	now += 50 * US;
	ack(2);
	EXPECT_EQ(req.srtt_ns, 50 * US);
}

TEST(req_timeout__sends_all_again)
{
	uint64_t start;
	uint32_t probes = 0;

	begin(NULL);
	push(SRDMA_WR_SEND, 2 * MTU, 0);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	send_all();
	start = now;
	while (expire() == SRDMA_TIMER_PROBE) {
		send_one();
		probes++;
	}
	EXPECT(probes > 2 && probes < 10);
	EXPECT_EQ(now, start + 4096ull * (1 << 14));
	EXPECT_EQ(req.retry_left, 6);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(0, 2, 0, 2 * MTU, SRDMA_RC_SEND_FIRST);
	sent();
	/* The window is that of a beginner. */
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	ack(1);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(2, 1, 0, 2 * MTU, SRDMA_RC_READ_REQ);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* Deadlines move away with every packet: the timer may be left alone. */
TEST(req_timeout__early_is_harmless)
{
	uint64_t armed;

	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_one();
	armed = req.deadline;
	now += 1 * MS;
	send_one();
	EXPECT(req.deadline > armed);
	EXPECT_EQ(srdma_rc_req_timeout(&req, armed), SRDMA_TIMER_EARLY);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_read__asks_for_the_missing_part_at_once)
{
	begin(NULL);
	push(SRDMA_WR_READ, 6 * MTU, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	read_resp(0, MTU);
	placed();
	EXPECT_EQ(read_resp(2, MTU), SRDMA_REQ_DROP_GAP);
	EXPECT_EQ(req.retry_left, 6);
	/* What follows of the same stream says nothing new. */
	EXPECT_EQ(read_resp(3, MTU), SRDMA_REQ_DROP_GAP);
	EXPECT_EQ(read_resp(4, MTU), SRDMA_REQ_DROP_GAP);
	EXPECT_EQ(req.retry_left, 6);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(1, 1, MTU, 5 * MTU, SRDMA_RC_READ_REQ);
	EXPECT(burst.b.resend);
	sent();
	/* The SEND is not repeated: only the answer was lost. */
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(read_resp(5, MTU), SRDMA_REQ_DROP_GAP);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	/* The second stream loses the same packet. */
	EXPECT_EQ(read_resp(2, MTU), SRDMA_REQ_DROP_GAP);
	EXPECT_EQ(req.retry_left, 5);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(1, 1, MTU, 5 * MTU, SRDMA_RC_READ_REQ);
}

TEST(req_read__later_one_is_taken_and_kept)
{
	begin(NULL);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(read_resp(2, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(act.idx, 1);
	placed();
	EXPECT_EQ(read_resp(2, MTU), SRDMA_REQ_DROP_DUP);
	/* The first has lost its answer: it alone is asked for again. */
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(0, 1, 0, 2 * MTU, SRDMA_RC_READ_REQ);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(read_resp(3, MTU), SRDMA_REQ_PLACE);
	placed();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT(!retired());
	read_resp(0, MTU);
	placed();
	read_resp(1, MTU);
	placed();
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
	EXPECT(!retired());
}

TEST(req_read__second_answer_lost_as_well)
{
	begin(NULL);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	ack(1);
	send_one();
	EXPECT_EQ(burst.idx, 0);
	/* What was sent before the repetition proves nothing about it. */
	ack(1);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	push(SRDMA_WR_SEND, 1, 0);
	send_one();
	ack(2);
	send_one();
	EXPECT_EQ(burst.idx, 0);
	EXPECT_EQ(req.retry_left, 5);
}

TEST(req_read__no_retry_left_leaves_it_to_the_timer)
{
	struct srdma_rc_req_attr a = usual;

	a.retry_cnt = 0;
	begin(&a);
	push(SRDMA_WR_READ, 3 * MTU, 0);
	send_all();
	EXPECT_EQ(read_resp(1, MTU), SRDMA_REQ_DROP_GAP);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	/* The network had only changed the order. */
	EXPECT_EQ(read_resp(0, MTU), SRDMA_REQ_PLACE);
	placed();
	EXPECT_EQ(read_resp(1, MTU), SRDMA_REQ_PLACE);
}

TEST(req_read__about_to_be_asked_costs_nothing)
{
	begin(NULL);
	push(SRDMA_WR_READ, 3 * MTU, 0);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	nak(4, SRDMA_NAK_PSN_SEQ);
	EXPECT_EQ(req.retry_left, 6);
	EXPECT_EQ(read_resp(1, MTU), SRDMA_REQ_DROP_GAP);
	EXPECT_EQ(req.retry_left, 6);
	send_one();
	EXPECT_EQ(burst.idx, 0);
	send_one();
	EXPECT_EQ(burst.idx, 2);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_read__two_holes_while_going_through)
{
	begin(NULL);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	push(SRDMA_WR_READ, 3 * MTU, 0);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	send_all();
	EXPECT_EQ(read_resp(5, MTU), SRDMA_REQ_PLACE);
	placed();
	send_one();
	EXPECT_EQ(burst.idx, 0);
	/* 1 is next, but first the hole in 0 comes back. */
	EXPECT_EQ(read_resp(1, MTU), SRDMA_REQ_DROP_GAP);
	send_one();
	EXPECT_EQ(burst.idx, 0);
	send_one();
	EXPECT_EQ(burst.idx, 1);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}
