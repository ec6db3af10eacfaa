// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Holes in the answers to READs: what follows a hole is kept, and the holes alone are
 * asked for again.
 */
#include "proto/rc_req_priv.h"
#include "req_fixture.h"

/* A READ of @packets that is sent, and a SEND behind it. */
static void begin_read(uint32_t packets)
{
	begin(NULL);
	push(SRDMA_WR_READ, packets * MTU, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
}

static void expect_placed(uint32_t first, uint32_t end)
{
	for (; first < end; first++) {
		EXPECT_EQ(place_resp(first, MTU), SRDMA_REQ_PLACE);
		EXPECT_EQ(act.offset, first * MTU);
	}
}

/* It asks for these packets of the READ, and for nothing else. */
static void expect_asks(uint32_t first, uint32_t end)
{
	REQUIRE(EXPECT_EQ(next(), SRDMA_NEXT_SEND));
	expect_burst(first, 1, first * MTU, (end - first) * MTU,
		     SRDMA_RC_READ_REQ);
	EXPECT(burst.b.resend);
	sent();
}

/* A part of the READ, as it is answered by who begins it anew, or does not. */
static enum srdma_req_resp part(uint32_t step, bool anew)
{
	return take_read(anew ? SRDMA_RC_READ_RESP_ONLY : SRDMA_RC_READ_RESP_LAST,
			 step, MTU);
}

static void expect_read_retired(void)
{
	expect_retired(0, SRDMA_ST_OK);
	EXPECT(!retired());
}

TEST(req_hole__is_asked_for_at_once_and_alone)
{
	begin_read(6);
	expect_placed(0, 1);
	expect_placed(2, 3);
	EXPECT_EQ(req.retry_left, 6);
	expect_asks(1, 2);
	/* Neither the SEND, nor what follows of the same answer, says any more. */
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	expect_placed(3, 6);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(req.retry_left, 6);
	EXPECT(!retired());
	EXPECT_EQ(part(1, true), SRDMA_REQ_PLACE);
	expect_read_retired();
}

TEST(req_hole__at_the_beginning)
{
	begin_read(3);
	expect_placed(1, 3);
	expect_asks(0, 1);
	EXPECT_EQ(part(0, true), SRDMA_REQ_PLACE);
	expect_read_retired();
}

TEST(req_hole__ends_with_a_short_packet)
{
	begin(NULL);
	push(SRDMA_WR_READ, 2 * MTU + 3, 0);
	send_all();
	EXPECT_EQ(place_resp(0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(place_resp(2, 3), SRDMA_REQ_PLACE);
	expect_asks(1, 2);
	EXPECT_EQ(part(1, true), SRDMA_REQ_PLACE);
	expect_retired(0, SRDMA_ST_OK);
}

TEST(req_hole__what_is_kept_is_a_duplicate)
{
	begin_read(5);
	expect_placed(0, 1);
	expect_placed(2, 4);
	EXPECT_EQ(place_resp(3, MTU), SRDMA_REQ_DROP_DUP);
	EXPECT_EQ(place_resp(2, MTU), SRDMA_REQ_DROP_DUP);
	EXPECT_EQ(place_resp(0, MTU), SRDMA_REQ_DROP_GHOST);
	expect_placed(1, 2);
	EXPECT_EQ(place_resp(2, MTU), SRDMA_REQ_DROP_GHOST);
	expect_placed(4, 5);
	expect_read_retired();
}

/* The network had changed the order: what is asked for is not needed any more. */
TEST(req_hole__is_filled_before_it_is_asked_for)
{
	begin_read(4);
	expect_placed(0, 1);
	expect_placed(2, 3);
	expect_placed(1, 2);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	expect_placed(3, 4);
	expect_read_retired();
}

TEST(req_hole__of_several_packets_loses_one_again)
{
	begin_read(8);
	expect_placed(0, 1);
	expect_placed(5, 6);
	expect_asks(1, 5);
	expect_placed(6, 8);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 1, MTU), SRDMA_REQ_PLACE);
	/* 2 is lost, and found to be when the last of the part is there. */
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 3, MTU),
		  SRDMA_REQ_PLACE);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(part(4, false), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.retry_left, 6);
	expect_asks(2, 3);
	EXPECT_EQ(part(2, true), SRDMA_REQ_PLACE);
	expect_read_retired();
}

/* Of who may forget what is in front of the last part. */
TEST(req_hole__second_one_waits_for_the_first)
{
	int i;

	begin_read(9);
	expect_placed(0, 1);
	expect_placed(2, 3);
	expect_asks(1, 2);
	expect_placed(4, 5);
	expect_placed(6, 8);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	for (i = 1; i < 5; i += 2) {
		EXPECT_EQ(part(i, false), SRDMA_REQ_PLACE);
		EXPECT(!req.anew);
		expect_asks(i + 2, i + 3);
		EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	}
	expect_placed(8, 9);
	EXPECT_EQ(part(5, false), SRDMA_REQ_PLACE);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	expect_read_retired();
}

/* Lets the peer show that it begins parts anew. */
static void begin_anew(uint32_t packets)
{
	begin_read(packets);
	expect_placed(0, 1);
	expect_placed(2, 3);
	expect_asks(1, 2);
	EXPECT_EQ(part(1, true), SRDMA_REQ_PLACE);
	EXPECT(req.anew);
}

TEST(req_hole__each_at_once_of_who_begins_anew)
{
	begin_anew(12);
	expect_placed(4, 5);
	expect_asks(3, 4);
	expect_placed(7, 8);
	expect_asks(5, 7);
	expect_placed(9, 12);
	expect_asks(8, 9);
	EXPECT_EQ(req.retry_left, 6);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(part(3, true), SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 5, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(part(6, false), SRDMA_REQ_PLACE);
	EXPECT_EQ(part(8, true), SRDMA_REQ_PLACE);
	expect_read_retired();
}

TEST(req_hole__next_round_asks_for_what_was_lost_again)
{
	begin_anew(12);
	expect_placed(4, 5);
	expect_asks(3, 4);
	expect_placed(6, 7);
	expect_asks(5, 6);
	expect_placed(8, 12);
	expect_asks(7, 8);
	/* Of three answers only the last comes: of these, none is to come any more. */
	EXPECT_EQ(part(7, true), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.retry_left, 5);
	expect_asks(3, 4);
	expect_asks(5, 6);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(part(3, true), SRDMA_REQ_PLACE);
	EXPECT_EQ(part(5, true), SRDMA_REQ_PLACE);
	expect_read_retired();
}

/* The last answer is lost, so a probe has to find out. */
TEST(req_hole__probe_asks_for_the_first_one)
{
	begin_anew(8);
	expect_placed(4, 5);
	expect_asks(3, 4);
	expect_placed(6, 8);
	expect_asks(5, 6);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	expect_asks(3, 4);
	EXPECT_EQ(part(3, true), SRDMA_REQ_PLACE);
	expect_asks(5, 6);
	EXPECT_EQ(part(5, true), SRDMA_REQ_PLACE);
	expect_read_retired();
}

/* What would follow the last one that came is not known to be lost before. */
TEST(req_hole__end_is_asked_for_after_a_probe)
{
	begin_read(6);
	expect_placed(0, 1);
	expect_placed(2, 3);
	expect_asks(1, 2);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	expect_asks(1, 2);
	EXPECT_EQ(part(1, true), SRDMA_REQ_PLACE);
	expect_asks(3, 6);
	expect_placed(3, 6);
	expect_read_retired();
}

TEST(req_hole__end_that_comes_after_a_probe_is_not_asked_for)
{
	begin_read(6);
	expect_placed(0, 1);
	expect_placed(2, 3);
	expect_asks(1, 2);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	expect_asks(1, 2);
	expect_placed(3, 4);
	EXPECT_EQ(part(1, true), SRDMA_REQ_PLACE);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	expect_placed(4, 6);
	expect_read_retired();
}

/* The answer to a later request says that no more of this one is to come. */
TEST(req_hole__end_is_asked_for_after_a_later_answer)
{
	begin_read(6);
	expect_placed(0, 1);
	expect_placed(2, 3);
	expect_asks(1, 2);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_one();
	ack(7);
	expect_asks(1, 2);
	EXPECT_EQ(part(1, true), SRDMA_REQ_PLACE);
	expect_asks(3, 6);
}

TEST(req_hole__timeout_asks_for_all_that_is_missing)
{
	begin_anew(8);
	expect_placed(4, 5);
	expect_asks(3, 4);
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	expect_asks(3, 4);
	/* As much as the window allows: what has come does not count. */
	EXPECT_EQ(req.cwnd, 2);
	expect_asks(5, 6);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	EXPECT_EQ(part(3, true), SRDMA_REQ_PLACE);
	EXPECT_EQ(part(5, true), SRDMA_REQ_PLACE);
	expect_asks(6, 8);
}

/* A second answer that loses a packet the first one had not come to. */
TEST(req_hole__new_one_in_what_was_asked_for)
{
	begin_read(8);
	expect_placed(0, 1);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	expect_asks(1, 8);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 1, MTU), SRDMA_REQ_PLACE);
	expect_placed(2, 3);
	expect_placed(4, 5);
	expect_asks(3, 4);
}

TEST(req_hole__part_of_wrong_length_or_opcode)
{
	static const struct {
		uint8_t opcode;
		uint32_t step, len;
	} bad[] = {
		{ SRDMA_RC_READ_RESP_ONLY, 1, MTU - 4 },
		{ SRDMA_RC_READ_RESP_MIDDLE, 3, 7 },
		{ SRDMA_RC_READ_RESP_FIRST, 4, MTU },
		{ SRDMA_RC_READ_RESP_MIDDLE, 4, MTU },
	};
	uint32_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin_read(5);
		expect_placed(0, 1);
		expect_placed(2, 3);
		expect_asks(1, 2);
		EXPECT_EQ(take_read(bad[i].opcode, bad[i].step, bad[i].len),
			  SRDMA_REQ_FAILED);
		expect_retired(0, SRDMA_ST_BAD_RESP);
	}
	/* One that was not asked for in parts does not end inside. */
	begin_read(5);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 2, MTU), SRDMA_REQ_FAILED);
}

/* There are bits for so many packets; what lies farther is asked for again. */
TEST(req_hole__too_far_behind)
{
	begin_read(SRDMA_REQ_KEPT + 8);
	expect_placed(0, 1);
	expect_placed(2, SRDMA_REQ_KEPT + 1);
	expect_asks(1, 2);
	EXPECT_EQ(place_resp(SRDMA_REQ_KEPT + 1, MTU), SRDMA_REQ_DROP_GAP);
	EXPECT_EQ(place_resp(SRDMA_REQ_KEPT + 7, MTU), SRDMA_REQ_DROP_GAP);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(part(1, true), SRDMA_REQ_PLACE);
	expect_asks(SRDMA_REQ_KEPT + 1, SRDMA_REQ_KEPT + 8);
	expect_placed(SRDMA_REQ_KEPT + 1, SRDMA_REQ_KEPT + 8);
	expect_read_retired();
}

TEST(req_hole__nothing_of_it_can_be_kept)
{
	begin_read(SRDMA_REQ_KEPT + 8);
	now += 10 * MS;
	EXPECT_EQ(place_resp(SRDMA_REQ_KEPT, MTU), SRDMA_REQ_DROP_GAP);
	EXPECT_EQ(req.retry_left, 6);
	expect_asks(0, SRDMA_REQ_KEPT + 8);
	/* More of the same answer. */
	EXPECT_EQ(place_resp(SRDMA_REQ_KEPT + 1, MTU), SRDMA_REQ_DROP_GAP);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* Without memory for it, what follows a hole is as good as lost. */
TEST(req_hole__nothing_is_kept_without_memory)
{
	begin_read(8);
	req.mend = NULL;
	EXPECT_EQ(place_resp(0, MTU), SRDMA_REQ_PLACE);
	now += 10 * MS;
	EXPECT_EQ(place_resp(2, MTU), SRDMA_REQ_DROP_GAP);
	expect_asks(1, 8);
	/* What comes from now on is noted. */
	EXPECT(srdma_rc_req_lacks_mend(&req, &pkt));
	req.mend = &mend;
	EXPECT(!srdma_rc_req_lacks_mend(&req, &pkt));
	EXPECT_EQ(place_resp(3, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.kept_count, 1);
}

/* The bits are used again and again; none is left behind. */
TEST(req_hole__bits_are_used_again)
{
	uint32_t round, i;

	begin(NULL);
	for (round = 0; round < 5; round++) {
		uint32_t base = round * 300;

		/* As if nothing had been lost, it is asked for as a whole. */
		req.ssthresh = req.win_max;
		push(SRDMA_WR_READ, 300 * MTU, 0);
		send_all();
		for (i = 1; i < 300; i += 2)
			EXPECT_EQ(place_resp(base + i, MTU), SRDMA_REQ_PLACE);
		for (i = 0; i < 300; i += 2)
			EXPECT_EQ(place_resp(base + i, MTU), SRDMA_REQ_PLACE);
		expect_retired(round, SRDMA_ST_OK);
		for (i = 0; i < SRDMA_REQ_KEPT / 32; i++)
			EXPECT_EQ(mend.kept[i], 0);
		EXPECT_EQ(req.kept_count, 0);
	}
}

/* A hole longer than the window is asked for in pieces. */
TEST(req_hole__in_pieces_of_the_window)
{
	struct srdma_rc_req_attr a = usual;

	a.max_inflight = 4 * MTU;
	begin(&a);
	push(SRDMA_WR_READ, 12 * MTU, 0);
	send_all();
	expect_placed(0, 1);
	expect_placed(8, 12);
	expect_asks(1, 5);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 1, MTU), SRDMA_REQ_PLACE);
	expect_placed(2, 4);
	EXPECT_EQ(part(4, false), SRDMA_REQ_PLACE);
	expect_asks(5, 8);
	expect_placed(5, 7);
	EXPECT_EQ(part(7, false), SRDMA_REQ_PLACE);
	expect_retired(0, SRDMA_ST_OK);
}

/* What cannot be kept is better not asked for now. */
TEST(req_hole__no_read_is_begun_that_could_not_be_kept)
{
	begin_read(SRDMA_REQ_KEPT);
	expect_placed(0, 1);
	push(SRDMA_WR_READ, 8 * MTU, 0);
	expect_placed(2, SRDMA_REQ_KEPT);
	expect_asks(1, 2);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	EXPECT_EQ(part(1, true), SRDMA_REQ_PLACE);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.first, SRDMA_RC_READ_REQ);
	EXPECT_EQ(burst.idx, 2);
}

/* In a READ that is not the oldest. */
TEST(req_hole__in_a_later_read)
{
	begin(NULL);
	push(SRDMA_WR_READ, 3 * MTU, 0);
	push(SRDMA_WR_READ, 4 * MTU, 0);
	send_all();
	EXPECT_EQ(place_resp(3, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(place_resp(5, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(act.idx, 1);
	EXPECT_EQ(place_resp(5, MTU), SRDMA_REQ_DROP_DUP);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(0, 1, 0, 3 * MTU, SRDMA_RC_READ_REQ);
	sent();
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(4, 1, MTU, MTU, SRDMA_RC_READ_REQ);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(place_resp(6, MTU), SRDMA_REQ_PLACE);
	expect_placed(0, 3);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT_EQ(part(4, true), SRDMA_REQ_PLACE);
	expect_retired(1, SRDMA_ST_OK);
}

/* A run of packets that begins in a hole, or is partly there. */
TEST(req_hole__run_over_what_is_kept)
{
	begin_read(8);
	expect_placed(0, 1);
	expect_placed(3, 4);
	pkt.more = 4;
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 2, 5 * MTU),
		  SRDMA_REQ_PLACE);
	EXPECT_EQ(act.psn, psn(6));
	pkt.more = 1;
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 3, 2 * MTU),
		  SRDMA_REQ_DROP_DUP);
	pkt.more = 0;
	expect_asks(1, 2);
	expect_placed(7, 8);
	EXPECT_EQ(part(1, true), SRDMA_REQ_PLACE);
	expect_read_retired();
}

TEST(req_hole__run_from_the_first_hole_on)
{
	begin_read(8);
	expect_placed(2, 3);
	expect_placed(5, 6);
	pkt.more = 3;
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, 4 * MTU),
		  SRDMA_REQ_PLACE);
	pkt.more = 0;
	EXPECT_EQ(req.kept_count, 1);
	expect_placed(4, 5);
	EXPECT_EQ(req.kept_count, 0);
	expect_placed(6, 8);
	expect_read_retired();
}

/* The second packets of @reads READs of four are missing, and were asked for again. */
static void begin_holes(uint32_t reads)
{
	uint32_t i;

	begin(NULL);
	for (i = 0; i < reads; i++)
		push(SRDMA_WR_READ, 4 * MTU, 0);
	send_all();
	req.anew = true;
	for (i = 0; i < 4 * reads; i += 4) {
		EXPECT_EQ(place_resp(i, MTU), SRDMA_REQ_PLACE);
		EXPECT_EQ(place_resp(i + 2, MTU), SRDMA_REQ_PLACE);
		send_one();
		expect_burst(i + 1, 1, MTU, MTU, SRDMA_RC_READ_REQ);
		EXPECT_EQ(place_resp(i + 3, MTU), SRDMA_REQ_PLACE);
	}
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* What was asked for after it has come: then it will not. */
TEST(req_hole__of_an_older_read_is_lost_again)
{
	begin_holes(3);
	EXPECT_EQ(req.retry_left, 6);
	/* That may be the answer to what was asked for before. */
	EXPECT_EQ(part(5, true), SRDMA_REQ_PLACE);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(part(9, true), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.retry_left, 5);
	expect_asks(1, 2);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* Nor of a peer that may forget what is in front. */
TEST(req_hole__of_an_older_read_that_may_be_forgotten)
{
	begin_holes(2);
	req.anew = false;
	EXPECT_EQ(part(5, false), SRDMA_REQ_PLACE);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* Where the order changes, it is given some time. */
TEST(req_hole__of_an_older_read_may_be_late)
{
	begin_holes(2);
	req.late = 2;
	req.srtt_ns = 80 * US;
	EXPECT_EQ(part(5, true), SRDMA_REQ_PLACE);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(req.deadline, now + 40 * US);
	EXPECT_EQ(expire(), SRDMA_TIMER_LATE);
	expect_asks(1, 2);
}

/* What comes behind the hole is news of the peer: a timeout costs no retry then. */
TEST(req_hole__lost_again_and_again_is_no_failure)
{
	begin_anew(12);
	req.retry_left = 0;
	now += 90 * US;
	expect_placed(4, 5);
	EXPECT_EQ(req.heard_at, now);
	now += req.timeout_ns;
	req.deadline = now;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_RETRY);
	send_one();
	/* But once. */
	now += req.timeout_ns;
	req.deadline = now;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_FAILED);
}

/* So is what comes of later READs. */
TEST(req_hole__of_a_later_read_is_news_as_well)
{
	begin(NULL);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	send_all();
	now += 10 * US;
	req.retry_left = 3;
	EXPECT_EQ(place_resp(2, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.heard_at, now);
	now += req.timeout_ns;
	req.retry_left = 3;
	req.deadline = now;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_RETRY);
	EXPECT_EQ(req.retry_left, 3);
}

/* All is sent again, but that is past the hole: it would not be asked for. */
TEST(req_hole__that_was_passed_is_not_to_come)
{
	begin_anew(12);
	expect_placed(4, 5);
	expect_asks(3, 4);
	srdma_req_go_back(&req, now);
	EXPECT(!srdma_req_lost(&req, req.una, now));
	req.cur_psn = psn(6);
	EXPECT(srdma_req_lost(&req, req.una, now));
	EXPECT_EQ(req.cur_psn, psn(3));
}

/* The answer begins where one probe has asked: what it asked for was lost, not late. */
TEST(req_hole__what_a_probe_is_answered_was_lost)
{
	begin_read(6);
	expect_placed(0, 2);
	req.backoff = 3;
	req.probed = true;
	req.probe_due = true;
	send_one();
	EXPECT_EQ(req.probe_psn, psn(2));
	EXPECT_EQ(req.probes, 1);
	srdma_rc_req_msg(&req, req.una)->parts = true;
	EXPECT_EQ(part(2, true), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.backoff, 0);
}

/* What is reported behind it finds no room before it is filled: so it comes first. */
TEST(req_hole__is_asked_for_where_reports_find_no_room)
{
	uint32_t i;

	begin(NULL);
	push(SRDMA_WR_READ, 4 * MTU, 0);
	push(SRDMA_WR_SEND, 12 * MTU, 0);
	send_all();
	/* All that opens the window again is lost. */
	req.deadline = now += req.timeout_ns;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_RETRY);
	send_all();
	EXPECT_EQ(req.cwnd, 2);
	now += 1 * MS;
	for (i = 1; i < 4; i++)
		EXPECT_EQ(place_resp(i, MTU), SRDMA_REQ_PLACE);
	no_holes();
	hole(0, 13, 1);
	EXPECT_EQ(sack(12, 1, 2), SRDMA_REQ_SACK);
	EXPECT_EQ(req.again_count, 1);
	send_one();
	EXPECT_EQ(burst.idx, 0);
	EXPECT_EQ(burst.b.psn, psn(0));
}
