// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * READs on a line that many share: the window is a few packets, and changes while a READ
 * is answered; and what is asked for again is often lost once more.
 */
#include "read_fixture.h"

/* Congestion is notified, and the window has room for @packets. */
static void slow_down_to(uint32_t packets)
{
	req.cwnd = packets;
	req.slow.win = packets * SRDMA_SLOW_PACKET;
}

/* The window has become another one. */
static void narrow_to(uint32_t packets)
{
	req.cwnd = packets;
	req.ssthresh = packets;
}

/* A part that is longer than the window would find no room where the rest does. */
TEST(req_crowded__parts_are_as_short_as_the_window_has_become)
{
	begin_narrow(NULL, 8);
	push(SRDMA_WR_READ, 22 * MTU, 0);
	expect_asks(0, 4, false);
	expect_asks(4, 8, false);
	answer(0, 4);
	narrow_to(3);
	/* To what is in flight it does not apply. */
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	answer(4, 8);
	narrow_to(3);
	expect_asks(8, 9, false);
	expect_asks(9, 10, false);
	expect_asks(10, 11, false);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	answer(8, 9);
	answer(9, 10);
	answer(10, 11);
	/* And as long, wherever they begin. */
	narrow_to(8);
	expect_asks(11, 15, false);
	expect_asks(15, 19, false);
	answer(11, 15);
	expect_asks(19, 22, false);
	answer(15, 19);
	answer(19, 22);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT_EQ(req.rd_out, 0);
}

/* As many as the peer answers at a time are counted right, whatever they ask for. */
TEST(req_crowded__shorter_parts_wait_for_a_resource)
{
	struct srdma_rc_req_attr a = usual;

	a.max_rd_atomic = 2;
	begin_narrow(&a, 8);
	push(SRDMA_WR_READ, 20 * MTU, 0);
	expect_asks(0, 4, false);
	expect_asks(4, 8, false);
	answer(0, 4);
	answer(4, 8);
	narrow_to(3);
	expect_asks(8, 9, false);
	narrow_to(8);
	expect_asks(9, 10, false);
	EXPECT_EQ(next(), SRDMA_NEXT_RD_ATOMIC);
	answer(8, 9);
	expect_asks(10, 11, false);
	EXPECT_EQ(next(), SRDMA_NEXT_RD_ATOMIC);
}

/* Two parts of four, of which the first packet has come. */
static void begin_answer(void)
{
	begin_narrow(NULL, 8);
	push(SRDMA_WR_READ, 8 * MTU, 0);
	expect_asks(0, 4, false);
	expect_asks(4, 8, false);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
}

/* As long as no trip is known, a probe comes as late as a timeout does. */
TEST(req_crowded__answer_to_a_late_probe_opens_the_window_anew)
{
	begin_answer();
	req.srtt_ns = 0;
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	expect_asks(1, 3, true);
	narrow_to(8);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 1, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.cwnd, 3);

	begin_answer();
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	expect_asks(1, 4, true);
	narrow_to(8);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 1, MTU), SRDMA_REQ_PLACE);
	EXPECT(req.cwnd >= 8);
}

/*
 * A probe asks for as much of a hole as the window has room for. The rest of it comes next,
 * and then the other holes, not what was asked for behind them.
 */
TEST(req_crowded__rest_of_a_hole_follows_a_probe)
{
	begin_narrow(NULL, 64);
	push(SRDMA_WR_READ, 8 * MTU, 0);
	push(SRDMA_WR_READ, 8 * MTU, 0);
	send_all();
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 5, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 7, MTU), SRDMA_REQ_PLACE);
	req.anew = true;
	narrow_to(2);
	expect_asks(1, 3, true);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	narrow_to(2);
	expect_asks(1, 3, true);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 1, MTU), SRDMA_REQ_PLACE);
	narrow_to(16);
	expect_asks(3, 5, true);
	expect_asks(6, 7, true);
	/* Now what is behind them. */
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, psn(8));
}

/* All that is missing is on its way then: the probe told of no more. */
TEST(req_crowded__probe_for_all_of_it_is_no_loss)
{
	begin_narrow(NULL, 64);
	push(SRDMA_WR_READ, 8 * MTU, 0);
	send_all();
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 3, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 4, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 5, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 6, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 7, MTU), SRDMA_REQ_PLACE);
	req.anew = true;
	expect_asks(1, 3, true);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	expect_asks(1, 3, true);
	EXPECT(req.rtt_timed);
	req.recovering = false;
	narrow_to(8);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 1, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.ssthresh, 8);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 2, MTU), SRDMA_REQ_PLACE);
	expect_retired(0, SRDMA_ST_OK);
}

/* An answer that was begun is asked for again by a quarter of the window. */
TEST(req_crowded__asks_again_for_short_answers)
{
	bool anew;

	for (anew = false;; anew = true) {
		begin_narrow(NULL, 32);
		push(SRDMA_WR_READ, 16 * MTU, 0);
		expect_asks(0, 16, false);
		EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
		EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 15, MTU), SRDMA_REQ_PLACE);
		req.anew = anew;
		slow_down_to(16);
		if (anew)
			break;
		expect_asks(1, 15, true);
	}
	expect_asks(1, 5, true);
	expect_asks(5, 9, true);
}

/* A READ of 20, asked for as a whole, of which the first packet has come. */
static void begin_long(void)
{
	begin_narrow(NULL, 64);
	push(SRDMA_WR_READ, 20 * MTU, 0);
	expect_asks(0, 20, false);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
}

/* A READ of 20 is asked for again, up to its packet 8, of which none has come. */
static void begin_again(void)
{
	begin_long();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	req.anew = true;
	req.srtt_ns = 0;
	slow_down_to(8);
	expect_asks(1, 3, true);
	expect_asks(3, 5, true);
	expect_asks(5, 7, true);
	expect_asks(7, 9, true);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
}

/* This is the answer to what was asked for after them. */
static void come_behind(uint32_t at)
{
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, at, MTU), SRDMA_REQ_PLACE);
}

/* What is missing in front of 5 is lost once more; then it goes on where it was. */
static void lose_again(void)
{
	begin_again();
	come_behind(5);
	slow_down_to(12);
	expect_asks(1, 4, true);
	expect_asks(4, 5, true);
	expect_asks(9, 12, true);
}

/* It would be much later that the round is over. */
TEST(req_crowded__what_is_lost_again_is_asked_for_first)
{
	lose_again();
	/* What was asked for before says nothing of that. */
	come_behind(7);
	slow_down_to(12);
	expect_asks(12, 15, true);
	/* What was asked for after that does; and of what was on its way. */
	come_behind(9);
	slow_down_to(16);
	expect_asks(1, 5, true);
	expect_asks(6, 7, true);
	expect_asks(8, 9, true);
	expect_asks(15, 19, true);
}

/* When nothing comes any more, a probe begins anew: what was on its way is lost. */
TEST(req_crowded__probe_ends_what_is_asked_for_first)
{
	lose_again();
	req.probe_due = true;
	expect_asks(1, 3, true);
	EXPECT_EQ(req.probe_psn, psn(1));
	come_behind(1);
	slow_down_to(16);
	expect_asks(3, 5, true);
	expect_asks(6, 10, true);
}

/* Each time is another loss, as it takes another round trip. */
TEST(req_crowded__what_is_lost_again_is_another_loss)
{
	begin_again();
	come_behind(5);
	EXPECT_EQ(req.slow.win, 4 * SRDMA_SLOW_PACKET);
	lose_again();
	come_behind(9);
	EXPECT_EQ(req.slow.win, 6 * SRDMA_SLOW_PACKET);
}

/* What comes in order shows nothing, nor what comes of an earlier round. */
TEST(req_crowded__what_follows_is_still_to_come)
{
	begin_again();
	come_behind(1);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 2, MTU), SRDMA_REQ_PLACE);
	slow_down_to(12);
	expect_asks(9, 12, true);
	expect_asks(12, 15, true);

	begin_again();
	come_behind(10);
	slow_down_to(8);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(mend.lost_psn, mend.tail_psn);
}

/* Where the order changes, the end of the round tells. */
TEST(req_crowded__what_comes_early_shows_no_loss)
{
	begin_again();
	req.reorders = 8;
	come_behind(5);
	EXPECT_EQ(mend.lost_psn, mend.tail_psn);
}

/* Retries are used up by that, too: then the timeout decides. */
TEST(req_crowded__what_is_lost_for_ever_is_left_to_the_timeout)
{
	begin_again();
	req.retry_left = 0;
	come_behind(5);
	slow_down_to(12);
	expect_asks(9, 12, true);
}

/* Then all of it is lost: nothing is on its way any more. */
TEST(req_crowded__what_is_lost_again_is_lost_by_a_timeout_as_well)
{
	lose_again();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	req.srtt_ns = 0;
	slow_down_to(12);
	expect_asks(1, 4, true);
	expect_asks(4, 5, true);
	expect_asks(6, 9, true);
	expect_asks(9, 12, true);
}

/* As long as something of the same loss is missing, there is no room for more. */
TEST(req_crowded__window_does_not_grow_while_more_is_missed)
{
	begin_long();
	req.anew = true;
	slow_down_to(8);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 2, MTU), SRDMA_REQ_PLACE);
	EXPECT(req.recovering);
	expect_asks(1, 2, true);
	/* A period later another hole is found. */
	req.slow.is_cut = false;
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 4, MTU), SRDMA_REQ_PLACE);
	EXPECT(req.slow.is_cut);
}

/* When that has come, so does what was on its way, or is lost. */
TEST(req_crowded__what_was_on_its_way_is_lost_as_well)
{
	lose_again();
	answer(1, 4);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_ONLY, 4, MTU), SRDMA_REQ_PLACE);
	come_behind(8);
	slow_down_to(12);
	expect_asks(6, 8, true);
	expect_asks(12, 15, true);
}

/* What was on its way says nothing before all of that is asked for. */
TEST(req_crowded__what_was_on_its_way_ends_no_round)
{
	begin_again();
	come_behind(8);
	slow_down_to(12);
	expect_asks(1, 4, true);
	come_behind(6);
	EXPECT_EQ(req.slow.win, 12 * SRDMA_SLOW_PACKET);
	expect_asks(4, 6, true);
}

/* Of the middle of a READ that has lost it what comes in order is no loss. */
TEST(req_crowded__middle_is_asked_for_in_order)
{
	begin_long();
	req.anew = true;
	slow_down_to(8);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 19, MTU), SRDMA_REQ_PLACE);
	slow_down_to(8);
	expect_asks(1, 3, true);
	expect_asks(3, 5, true);
	come_behind(1);
	EXPECT(req.slow.win >= 8 * SRDMA_SLOW_PACKET);
	expect_asks(5, 7, true);
}

/* Nothing of this round has asked for one that begins there: so it is to this request. */
TEST(req_crowded__answer_that_begins_anew_measures_a_trip)
{
	begin_again();
	EXPECT(req.rtt_timed);
	EXPECT(!req.rtt_again);
	/* It is not that of a probe. */
	req.probe_out = false;
	now += 5 * MS;
	come_behind(1);
	EXPECT_EQ(req.srtt_ns, 5 * MS);
	EXPECT_EQ(req.rtt_min_ns, 5 * MS);

	/* Nor is that so of what is lost again. */
	begin_again();
	come_behind(5);
	slow_down_to(12);
	expect_asks(1, 4, true);
	EXPECT(req.rtt_again);

	/* Where nothing is congested, first copies will be measured. */
	begin_long();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	req.anew = true;
	req.srtt_ns = 0;
	expect_asks(1, 3, true);
	EXPECT(req.rtt_again);
}

/* An answer to the first request begins where a part does. */
TEST(req_crowded__answer_that_began_there_measures_no_trip)
{
	begin_narrow(NULL, 64);
	push(SRDMA_WR_READ, 20 * MTU, 0);
	expect_asks(0, 20, false);
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	req.anew = true;
	slow_down_to(64);
	expect_asks(0, 20, true);
	EXPECT(req.rtt_again);
}

/* A trip of @trip is known, and the window has room for @packets. */
static void know_trip(uint64_t trip, uint32_t packets)
{
	begin(NULL);
	push(SRDMA_WR_SEND, MTU, SRDMA_WR_SIGNALED);
	send_all();
	now += trip;
	ack(0);
	while (retired())
		;
	narrow_to(packets);
	push(SRDMA_WR_WRITE, 32 * MTU, SRDMA_WR_SIGNALED);
	REQUIRE(next() == SRDMA_NEXT_SEND);
}

/* Each of them may be the only one that a queue has room for: it says so. */
TEST(req_crowded__few_packets_go_alone_and_ask)
{
	uint32_t i;

	know_trip(24 * MS, 7);
	for (i = 1; i <= 7; i++) {
		EXPECT_EQ(burst.b.psn, psn(i));
		EXPECT_EQ(burst.b.count, 1);
		EXPECT(burst.b.ack_req);
		sent();
		EXPECT_EQ(next(), i < 7 ? SRDMA_NEXT_SEND : SRDMA_NEXT_WINDOW);
	}
	/* Of eight every second one. */
	know_trip(24 * MS, 8);
	EXPECT_EQ(burst.b.count, 1);
	EXPECT(!burst.b.ack_req);
	sent();
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(burst.b.ack_req);
}

/* More than that, or through a queue that is short, are worth a train. */
TEST(req_crowded__more_packets_go_together)
{
	know_trip(24 * MS, 9);
	EXPECT_EQ(burst.b.count, 8);
	know_trip(MS / 2, 8);
	EXPECT_EQ(burst.b.count, 8);
}
