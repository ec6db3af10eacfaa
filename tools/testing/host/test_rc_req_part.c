// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * READs within the window: asked for in parts once something was lost, and what is left
 * of an answer whose rest is lost.
 */
#include "read_fixture.h"

/* Of a READ of @packets, as many as have room are asked for, in two parts of four. */
static void begin_two_parts(uint32_t packets)
{
	begin_narrow(NULL, 8);
	push(SRDMA_WR_READ, packets * MTU, 0);
	expect_asks(0, 4, false);
	expect_asks(4, 8, false);
}

TEST(req_part__two_fill_the_window)
{
	uint32_t ssn;

	begin_narrow(NULL, 8);
	ssn = req.ssn;
	push(SRDMA_WR_READ, 18 * MTU, 0);
	push(SRDMA_WR_SEND, 1, 0);
	expect_asks(0, 4, false);
	expect_asks(4, 8, false);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	answer(0, 4);
	expect_asks(8, 12, false);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	answer(4, 8);
	expect_asks(12, 16, false);
	answer(8, 12);
	expect_asks(16, 18, false);
	/* The peer has counted five messages. */
	EXPECT_EQ(req.ssn, ssn + 5);
	send_one();
	expect_burst(18, 1, 0, 1, SRDMA_RC_SEND_ONLY);
	answer(12, 16);
	EXPECT(!retired());
	answer(16, 18);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT_EQ(req.rd_out, 0);
}

/* Nothing is known of the path, and up to @packets may be in flight then. */
static void begin_unknown(uint32_t packets)
{
	struct srdma_rc_req_attr a = usual;

	a.first_inflight = packets * MTU;
	begin(&a);
}

TEST(req_part__begins_with_the_first_window)
{
	begin_unknown(8);
	push(SRDMA_WR_READ, 40 * MTU, 0);
	push(SRDMA_WR_READ, 40 * MTU, 0);
	expect_asks(0, 8, false);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	/* The rest goes when that has come, in one request. */
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
	EXPECT(req.srtt_ns);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	pkt.more = 6;
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 1, 7 * MTU), SRDMA_REQ_PLACE);
	pkt.more = 0;
	expect_asks(8, 40, false);
	/* And then whatever there is. */
	send_one();
	expect_burst(40, 1, 0, 40 * MTU, SRDMA_RC_READ_REQ);
	answer(8, 40);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT_EQ(req.rd_out, 1);
}

TEST(req_part__no_longer_than_the_first_window_is_whole)
{
	begin_unknown(8);
	push(SRDMA_WR_READ, MTU, 0);
	push(SRDMA_WR_READ, 8 * MTU, 0);
	expect_asks(0, 1, false);
	send_one();
	expect_burst(1, 1, 0, 8 * MTU, SRDMA_RC_READ_REQ);
}

/* If the path shows to be narrow meanwhile, the rest goes in parts as well. */
TEST(req_part__begins_with_the_first_window_and_goes_on_in_parts)
{
	begin_unknown(8);
	push(SRDMA_WR_READ, 40 * MTU, 0);
	expect_asks(0, 8, false);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
	pkt.more = 5;
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 2, 6 * MTU), SRDMA_REQ_PLACE);
	pkt.more = 0;
	req.ssthresh = 6;
	req.cwnd = 6;
	expect_asks(1, 2, true);
	answer(1, 2);
	expect_asks(8, 10, false);
	expect_asks(10, 12, false);
	expect_asks(12, 14, false);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	answer(8, 10);
	EXPECT_EQ(req.rd_out - srdma_req_unanswered(&req), 1);
}

/* Packets that nobody asked for yet, joined to the last of those that were, are ghosts. */
TEST(req_part__run_ends_with_what_was_asked_for)
{
	begin_two_parts(16);
	pkt.more = 8;
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, 9 * MTU),
		  SRDMA_REQ_DROP_GHOST);
	pkt.more = 5;
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 3, 6 * MTU),
		  SRDMA_REQ_DROP_GHOST);
	pkt.more = 7;
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, 8 * MTU),
		  SRDMA_REQ_PLACE);
	pkt.more = 0;
	EXPECT_EQ(req.una_psn, req.max_psn);
	expect_asks(8, 12, false);
	expect_asks(12, 16, false);
	answer(8, 12);
	answer(12, 16);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT_EQ(req.rd_out, 0);
	EXPECT_EQ(req.deadline, 0);
}

/* Each is one of those that the peer answers at a time. */
TEST(req_part__waits_for_a_resource)
{
	struct srdma_rc_req_attr a = usual;

	a.max_rd_atomic = 1;
	begin_narrow(&a, 8);
	push(SRDMA_WR_READ, 20 * MTU, 0);
	expect_asks(0, 8, false);
	req.cwnd = 32;
	EXPECT_EQ(next(), SRDMA_NEXT_RD_ATOMIC);
	req.cwnd = 8;
	answer(0, 8);
	expect_asks(8, 16, false);
	req.cwnd = 32;
	EXPECT_EQ(next(), SRDMA_NEXT_RD_ATOMIC);
	answer(8, 16);
	expect_asks(16, 20, false);
	answer(16, 20);
	expect_retired(0, SRDMA_ST_OK);
}

TEST(req_part__of_two_reads_no_more_than_may_be)
{
	struct srdma_rc_req_attr a = usual;

	a.max_rd_atomic = 3;
	begin_narrow(&a, 8);
	push(SRDMA_WR_READ, 8 * MTU, 0);
	push(SRDMA_WR_READ, 8 * MTU, 0);
	expect_asks(0, 4, false);
	expect_asks(4, 8, false);
	req.cwnd = 32;
	/* It is begun now, with more room, as a whole. */
	send_one();
	expect_burst(8, 1, 0, 8 * MTU, SRDMA_RC_READ_REQ);
	push(SRDMA_WR_READ, MTU, 0);
	EXPECT_EQ(next(), SRDMA_NEXT_RD_ATOMIC);
	answer(0, 4);
	send_one();
	expect_burst(16, 1, 0, MTU, SRDMA_RC_READ_REQ);
}

/* What has room is not divided; the window has to have room for all of it. */
TEST(req_part__whole_read_waits_for_room)
{
	begin_narrow(NULL, 8);
	push(SRDMA_WR_SEND, 5 * MTU, 0);
	push(SRDMA_WR_READ, 4 * MTU, 0);
	EXPECT_EQ(send_all(), 5);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	EXPECT_EQ(ack(4), SRDMA_REQ_ACK);
	send_one();
	expect_burst(5, 1, 0, 4 * MTU, SRDMA_RC_READ_REQ);
}

TEST(req_part__none_without_a_loss_nor_far_away)
{
	begin(NULL);
	req.heard = true;
	req.cwnd = 8;
	push(SRDMA_WR_READ, 20 * MTU, 0);
	expect_asks(0, 20, false);

	begin_narrow(NULL, 8);
	req.rtt_min_ns = 2 * MS;
	push(SRDMA_WR_READ, 20 * MTU, 0);
	expect_asks(0, 20, false);
}

/* But if losses leave it 8 MB/s or less, it is a queue that many share. */
TEST(req_part__of_a_long_path_that_gives_little)
{
	begin_narrow(NULL, 8);
	req.rtt_min_ns = 2 * MS;
	req.srtt_ns = 128 * 8 * MTU;
	push(SRDMA_WR_READ, 8 * MTU, 0);
	expect_asks(0, 8, false);

	begin_narrow(NULL, 8);
	req.rtt_min_ns = 2 * MS;
	req.srtt_ns = 128 * 8 * MTU + 1;
	push(SRDMA_WR_READ, 8 * MTU, 0);
	expect_asks(0, 4, false);
	expect_asks(4, 8, false);
}

/* A READ of @packets from there on is begun as a whole. */
static bool is_whole(uint32_t packets)
{
	struct srdma_rc_msg msg = { .op = SRDMA_WR_READ, .npsn = packets };

	return srdma_req_part_of(&req, &msg, 8) == SRDMA_MSG_WHOLE;
}

TEST(req_part__counts_what_is_asked_for_again)
{
	begin(NULL);
	push(SRDMA_WR_READ, 100 * MTU, 0);
	send_one();
	EXPECT_EQ(req.asked_first, 100);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 99, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.asked_again, 0);
	send_one();
	EXPECT_EQ(req.asked_first, 100);
	EXPECT_EQ(req.asked_again, burst.b.len / MTU);
}

/* Of an answer of which nothing has come. Where its end has, its beginning counts. */
TEST(req_part__does_not_count_what_a_lost_request_asked_for)
{
	begin(NULL);
	push(SRDMA_WR_READ, 100 * MTU, 0);
	send_one();
	nak(0, SRDMA_NAK_PSN_SEQ);
	send_one();
	EXPECT(burst.b.resend);
	EXPECT_EQ(burst.b.len, 100 * MTU);
	EXPECT_EQ(req.asked_again, 0);

	begin(NULL);
	push(SRDMA_WR_READ, 100 * MTU, 0);
	send_one();
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 99, MTU), SRDMA_REQ_PLACE);
	send_one();
	EXPECT(burst.b.resend);
	EXPECT_EQ(burst.b.psn, req.una_psn);
	EXPECT_EQ(req.asked_again, burst.b.len / MTU);
}

/* And so it is if it is filled by what is asked for, as most of that is lost. */
TEST(req_part__of_a_long_path_that_is_overfilled)
{
	uint32_t i;

	begin(NULL);
	req.rtt_min_ns = 2 * MS;
	/* A few say nothing. */
	srdma_req_count_asked(&req, 1023, false);
	srdma_req_count_asked(&req, 129, true);
	EXPECT(is_whole(100));
	srdma_req_count_asked(&req, 9, false);
	EXPECT(is_whole(100));
	srdma_req_count_asked(&req, 1, true);
	EXPECT(!is_whole(100));
	/* As long as some of it is lost, of what is asked for now. */
	srdma_req_count_asked(&req, 3064, false);
	EXPECT(!is_whole(100));
	for (i = 0; i < 4; i++) {
		EXPECT(!is_whole(100));
		srdma_req_count_asked(&req, 2048, false);
	}
	EXPECT(is_whole(100));
	EXPECT(!req.overfills);
}

/* No request asks for what two have asked for; one that may be lost is the same again. */
TEST(req_part__is_asked_for_again_alone)
{
	begin_two_parts(12);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	expect_asks(1, 4, true);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	/* The answer to the probe says that the other part is lost, too. */
	answer(1, 4);
	req.cwnd = 2;
	expect_asks(4, 8, true);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	answer(4, 8);
	req.cwnd = 8;
	expect_asks(8, 12, false);
	answer(8, 12);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT_EQ(req.rd_out, 0);
}

/* What comes before its answer says nothing of a probe. */
TEST(req_part__late_answer_is_not_that_of_the_probe)
{
	begin_two_parts(8);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	expect_asks(0, 4, true);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 4, MTU), SRDMA_REQ_PLACE);
	answer(0, 4);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* Whether the peer has heard of it is not known by what it says of one in front. */
TEST(req_part__behind_a_hole_is_not_divided)
{
	begin_two_parts(8);
	req.anew = true;
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 2, MTU), SRDMA_REQ_PLACE);
	expect_asks(1, 2, true);
	now += 10 * MS;
	EXPECT_EQ(nak(4, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	expect_asks(1, 2, true);
	expect_asks(3, 4, true);
	req.cwnd = 4;
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	req.cwnd = 6;
	expect_asks(4, 8, true);
}

/* Each part is answered from its first packet on: that says nothing of the peer. */
TEST(req_part__begins_with_first)
{
	begin_two_parts(8);
	answer(0, 4);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 4, MTU), SRDMA_REQ_PLACE);
	EXPECT(!req.anew);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 5, MTU), SRDMA_REQ_PLACE);
	EXPECT(req.anew);
}

/* The rest of a long answer is asked for as the window allows. */
TEST(req_part__rest_of_an_answer)
{
	begin(NULL);
	req.heard = true;
	req.cwnd_floor = 2;
	push(SRDMA_WR_READ, 40 * MTU, 0);
	expect_asks(0, 40, false);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 1, MTU), SRDMA_REQ_PLACE);
	req.cwnd = 8;
	req.cwnd_floor = 2;
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	expect_asks(2, 10, true);
	/* It is a loss, and so is the next one. */
	EXPECT_EQ(req.cwnd, 4);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	expect_asks(2, 6, true);
	EXPECT_EQ(req.cwnd, 2);
	answer(2, 6);
	while (req.una == 0 && next() == SRDMA_NEXT_SEND) {
		uint32_t at = burst.b.offset / MTU;

		EXPECT(burst.b.len <= req.cwnd * MTU);
		sent();
		answer(at, at + burst.b.len / MTU);
	}
	expect_retired(0, SRDMA_ST_OK);
	/* And the trips of these are measured. */
	EXPECT(req.srtt_ns || req.rtt_min_ns);
}

/* Of @packets in parts of four nothing came before a probe, and then the first packet. */
static void begin_probed(uint32_t packets)
{
	begin_two_parts(packets);
	req.srtt_ns = MS;
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	expect_asks(0, 4, true);
	req.cwnd = 8;
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
}

/* Its first packet is enough to ask for what was asked for before. */
TEST(req_part__answer_to_a_probe_says_what_is_lost)
{
	begin_probed(8);
	expect_asks(4, 8, true);
}

/*
 * Or it was only late, and so is what is asked for again: whatever comes next came soon,
 * and trips would be taken to be as short as that for ever, and each part be asked for
 * again. (One READ beside a TCP sent 2.5 packets for each that it needed.)
 */
TEST(req_part__late_answer_measures_no_trip)
{
	begin_probed(12);
	EXPECT(!req.rtt_resend);
	expect_asks(4, 8, true);
	EXPECT(!req.rtt_timed || req.rtt_probe);
	/* But no part begins here. */
	begin_two_parts(12);
	req.srtt_ns = MS;
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	expect_asks(1, 4, true);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 1, MTU), SRDMA_REQ_PLACE);
	EXPECT(req.rtt_resend);
}

/* Three READs of four, of which the first lacks a packet, which is asked for again. */
static void begin_three_reads(void)
{
	begin_narrow(NULL, 8);
	push(SRDMA_WR_READ, 4 * MTU, 0);
	push(SRDMA_WR_READ, 4 * MTU, 0);
	push(SRDMA_WR_READ, 4 * MTU, 0);
	EXPECT_EQ(send_all(), 2);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 2, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 3, MTU), SRDMA_REQ_PLACE);
	expect_asks(1, 2, true);
	req.cwnd = 8;
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
}

/* The window is for what is on its way: that does not wait for what is lost again. */
TEST(req_part__behind_one_that_is_incomplete_is_not_in_flight)
{
	begin_three_reads();
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 4, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 5, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 6, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.ahead, 3);
	REQUIRE(EXPECT_EQ(next(), SRDMA_NEXT_SEND));
	expect_burst(8, 1, 0, 4 * MTU, SRDMA_RC_READ_REQ);
	/* When that has come, it is not counted twice. */
	answer(1, 2);
	EXPECT_EQ(req.una, 1);
	EXPECT_EQ(req.ahead, 0);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 7, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.una, 2);
	EXPECT_EQ(req.ahead, 0);
}

TEST(req_part__behind_one_that_is_incomplete_with_holes)
{
	begin_three_reads();
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 4, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 6, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.ahead, 1);
	EXPECT_EQ(req.kept_count, 3);
	send_one();
	expect_burst(5, 1, MTU, MTU, SRDMA_RC_READ_REQ);
	answer(5, 6);
	EXPECT_EQ(req.ahead, 3);
	EXPECT_EQ(req.kept_count, 2);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 7, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.ahead, 4);
	answer(1, 2);
	EXPECT_EQ(req.una, 2);
	EXPECT_EQ(req.ahead, 0);
}

/* Nothing more is begun than what could be kept if it lacked something, too. */
TEST(req_part__behind_one_that_is_incomplete_none_too_long)
{
	begin(NULL);
	push(SRDMA_WR_READ, MTU, 0);
	push(SRDMA_WR_READ, MTU, 0);
	EXPECT_EQ(send_all(), 2);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_ONLY, 1, MTU), SRDMA_REQ_PLACE);
	expect_asks(0, 1, true);
	EXPECT_EQ(req.kept_count, 0);
	push(SRDMA_WR_READ, (SRDMA_REQ_KEPT - 1) * MTU, 0);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	answer(0, 1);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
}

/* A probe filled the last hole: what is not asked for yet cannot be lost behind it. */
TEST(req_part__not_begun_is_not_lost_with_those_in_front)
{
	begin_two_parts(20);
	req.anew = true;
	answer(0, 4);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 4, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 6, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 7, MTU), SRDMA_REQ_PLACE);
	expect_asks(5, 6, true);
	req.cwnd = 4;
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	expect_asks(5, 6, true);
	answer(5, 6);
	EXPECT_EQ(req.retry_left, 7);
	req.cwnd = 8;
	expect_asks(8, 12, false);
	expect_asks(12, 16, false);
	/* The next hole is asked for at once, as ever. */
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 8, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 10, MTU), SRDMA_REQ_PLACE);
	expect_asks(9, 10, true);
}

/* A part that is asked for meanwhile belongs to no round of holes. */
TEST(req_part__lost_again_while_new_parts_are_asked_for)
{
	begin_two_parts(20);
	req.anew = true;
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 2, MTU), SRDMA_REQ_PLACE);
	/* Its answer is lost. */
	expect_asks(1, 2, true);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 3, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 4, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 6, MTU), SRDMA_REQ_PLACE);
	expect_asks(5, 6, true);
	req.cwnd = 8;
	expect_asks(8, 12, false);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 7, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_ONLY, 5, MTU), SRDMA_REQ_PLACE);
	expect_asks(1, 2, true);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_ONLY, 1, MTU), SRDMA_REQ_PLACE);
	req.cwnd = 8;
	expect_asks(12, 16, false);
}

/* A peer that does not begin its answers anew is asked when a part has come. */
TEST(req_part__rest_of_an_answer_by_who_goes_on)
{
	uint32_t at = 2, end, i;

	begin(NULL);
	push(SRDMA_WR_READ, 24 * MTU, 0);
	expect_asks(0, 24, false);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 1, MTU), SRDMA_REQ_PLACE);
	req.cwnd = 4;
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	while (next() == SRDMA_NEXT_SEND) {
		EXPECT_EQ(burst.b.offset, at * MTU);
		end = at + burst.b.len / MTU;
		sent();
		for (i = at; i < end; i++) {
			EXPECT_EQ(take_read(i + 1 < end ? SRDMA_RC_READ_RESP_MIDDLE :
							  SRDMA_RC_READ_RESP_LAST,
					    i, MTU), SRDMA_REQ_PLACE);
			if (i + 1 < end)
				EXPECT(next() != SRDMA_NEXT_SEND);
		}
		at = end;
	}
	EXPECT_EQ(at, 24);
	expect_retired(0, SRDMA_ST_OK);
}

/*
 * A peer that answers to a part of a request as to its rest remembers no more than where
 * it was asked last: what is asked for behind what has not come is the end of that.
 */
TEST(req_part__what_is_left_of_a_request_is_asked_for_in_turn)
{
	begin_narrow(NULL, 16);
	push(SRDMA_WR_READ, 16 * MTU, 0);
	expect_asks(0, 8, false);
	expect_asks(8, 16, false);
	take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU);
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	req.cwnd = 4;
	expect_asks(1, 5, true);
	take_read(SRDMA_RC_READ_RESP_MIDDLE, 1, MTU);
	take_read(SRDMA_RC_READ_RESP_MIDDLE, 2, MTU);
	req.cwnd = 8;
	EXPECT(next() != SRDMA_NEXT_SEND);
	take_read(SRDMA_RC_READ_RESP_MIDDLE, 3, MTU);
	take_read(SRDMA_RC_READ_RESP_LAST, 4, MTU);
	expect_asks(5, 8, true);
	take_read(SRDMA_RC_READ_RESP_MIDDLE, 5, MTU);
	take_read(SRDMA_RC_READ_RESP_MIDDLE, 6, MTU);
	take_read(SRDMA_RC_READ_RESP_LAST, 7, MTU);
	expect_asks(8, 16, true);
}

/* The peer lacks these requests, and holds others. */
static void expect_reports(uint32_t first, uint32_t end, uint8_t number)
{
	memset(&pkt, 0, sizeof(pkt));
	pkt.sack.holes[0].psn = psn(first);
	pkt.sack.holes[0].count = end - first;
	pkt.stamp = number;
	pkt.aeth.held = 4;
	pkt.aeth.syndrome = 0x1f;
	EXPECT_EQ(response(SRDMA_RC_SACK, -1), SRDMA_REQ_SACK);
	memset(&pkt, 0, sizeof(pkt));
}

/* Four parts of four are out. */
static void begin_four_parts(void)
{
	begin_narrow(NULL, 8);
	req.heard = true;
	push(SRDMA_WR_READ, 16 * MTU, 0);
	expect_asks(0, 4, false);
	expect_asks(4, 8, false);
	req.cwnd = 32;
	expect_asks(8, 12, false);
	expect_asks(12, 16, false);
}

/* Of the answers something is missing, too. */
TEST(req_part__one_that_the_peer_lacks_is_asked_for)
{
	begin_four_parts();
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 3, MTU), SRDMA_REQ_PLACE);
	expect_asks(1, 3, true);
	expect_reports(4, 8, 3);
	expect_asks(4, 8, true);
	EXPECT_EQ(burst.b.stamp, 3);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	/* The copy of the report says nothing new; another one does. */
	expect_reports(4, 8, 3);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	expect_reports(4, 8, 4);
	expect_asks(4, 8, true);
	answer(1, 3);
	answer(4, 8);
	answer(8, 12);
	answer(12, 16);
	expect_retired(0, SRDMA_ST_OK);
}

/* Each by itself, as they are to the peer; the first one as what is due next. */
TEST(req_part__several_that_the_peer_lacks_are_asked_for)
{
	begin_four_parts();
	expect_reports(0, 12, 3);
	expect_asks(4, 8, true);
	expect_asks(8, 12, true);
	expect_asks(0, 4, true);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	answer(0, 4);
	answer(4, 8);
	answer(8, 12);
	answer(12, 16);
	expect_retired(0, SRDMA_ST_OK);
}

/* What has been answered is not asked for, whatever the peer says. */
TEST(req_part__nothing_that_has_come)
{
	begin_four_parts();
	answer(0, 4);
	expect_reports(0, 4, 3);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	/* Of this something is missing, which is asked for by itself. */
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 7, MTU), SRDMA_REQ_PLACE);
	expect_asks(4, 7, true);
	expect_reports(4, 8, 4);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}
