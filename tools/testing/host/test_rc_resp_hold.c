// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests behind a hole: what is held, when the hole is reported and how, and what
 * follows when it is filled.
 */
#include "resp_fixture.h"

#define US		1000ull
#define WAIT		(20 * US)

static u64 now = 1;

/* A SEND of one packet with the number @stamp, held if that is wanted. */
static bool held_with(uint32_t step, uint8_t stamp)
{
	fresh();
	pkt.opcode = SRDMA_RC_SEND_ONLY;
	pkt.op = srdma_opcode_get(pkt.opcode);
	pkt.psn = (FIRST + step) & 0xffffff;
	pkt.payload_len = 4;
	pkt.stamp = stamp;
	if (!srdma_rc_resp_wants(&resp, &pkt))
		return false;
	srdma_rc_resp_hold(&resp, &pkt);
	return true;
}

static bool held(uint32_t step)
{
	return held_with(step, 0);
}

/* It is expected, and executed. */
static void comes_with(uint32_t step, uint8_t stamp)
{
	fresh();
	pkt.stamp = stamp;
	EXPECT_EQ(request(SRDMA_RC_SEND_ONLY, step, 4), SRDMA_RESP_SEND);
	commit();
}

static void comes(uint32_t step)
{
	comes_with(step, 0);
}

static u64 report(void)
{
	return srdma_rc_resp_report(&resp, now);
}

/* After @wait the next answer is a NAK for @step, with a number. */
static void expect_nak_after(u64 wait, uint32_t step)
{
	report();
	now += wait - 1;
	report();
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	now++;
	EXPECT_EQ(report(), 0);
	EXPECT_ACK(0x60, step);
	EXPECT(out.b.stamp);
}

/* The next answer is a selective acknowledge up to @step. */
static void expect_sack(uint32_t step, uint32_t held)
{
	const struct srdma_burst_limit limit = { .packets = 64, .bytes = 65000 };

	struct srdma_burst b;

	memset(&pkt, 0xff, sizeof(pkt));
	REQUIRE(srdma_rc_resp_next(&resp, &limit, SRDMA_RESP_NO_CREDITS,
				   &out) == SRDMA_OUT_SACK);
	EXPECT_EQ(out.b.psn, (FIRST + step) & 0xffffff);
	srdma_rc_resp_fill_sack(&resp, &pkt, &b);
	EXPECT_EQ(b.first, SRDMA_RC_SACK);
	EXPECT_EQ(pkt.aeth.held, held);
	srdma_rc_resp_sent(&resp, &out);
}

static void expect_hole(uint32_t i, uint32_t step, uint32_t count)
{
	EXPECT_EQ(pkt.sack.holes[i].count, count);
	if (count)
		EXPECT_EQ(pkt.sack.holes[i].psn, (FIRST + step) & 0xffffff);
}

/* Steps 0, 1, 2 and 5 are missing, and the requester knows what to do about it. */
static void begin_with_sacks(void)
{
	begin(0);
	EXPECT(held(3));
	EXPECT(held(4));
	EXPECT(held(6));
	expect_nak_after(WAIT, 0);
	comes_with(0, out.b.stamp);
	report();
}

/* Holes that were passed are reported, but not at once. */
static void have_their_time_but(u64 left)
{
	report();
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	now += WAIT - left;
}

static void have_their_time(void)
{
	have_their_time_but(0);
	report();
}

TEST(resp_hold__what_is_held_does_not_come_again)
{
	begin(0);
	EXPECT(held(2));
	EXPECT(!held(2));
	EXPECT(held(1));
	EXPECT(!held(1));
	EXPECT(held(4));
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 4, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	comes(0);
	comes(1);
	comes(2);
	EXPECT(srdma_rc_resp_holds(&resp));
	comes(3);
	EXPECT(!srdma_rc_resp_holds(&resp));
}

/* What has only been overtaken needs no NAK, and one acknowledge for all. */
TEST(resp_hold__a_change_of_order_is_no_loss)
{
	begin(0);
	EXPECT(held(1));
	EXPECT(held(2));
	EXPECT(srdma_rc_resp_waits(&resp));
	EXPECT_EQ(report(), now + WAIT);
	EXPECT(!srdma_rc_resp_waits(&resp));
	now += WAIT - 1;
	comes(0);
	comes(1);
	comes(2);
	EXPECT_EQ(report(), 0);
	EXPECT_ACK(0x1f, 2);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_hold__a_hole_gets_one_nak_after_a_while)
{
	begin(0);
	EXPECT(held(1));
	expect_nak_after(WAIT, 0);
	EXPECT(held(2));
	now += 1000 * US;
	EXPECT_EQ(report(), 0);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

/* A packet that does not follow shows that the requester went back: lost again. */
TEST(resp_hold__lost_again_gets_another_nak)
{
	begin(0);
	EXPECT(held(1));
	EXPECT(held(2));
	expect_nak_after(WAIT, 0);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 4), SRDMA_RESP_DROP_GAP);
	expect_nak_after(WAIT, 0);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 2, 4), SRDMA_RESP_DROP_GAP);
	now += 1000 * US;
	report();
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

/* It sends all again: the next hole is on its way, unless that is passed. */
TEST(resp_hold__the_next_hole_is_sent_again_as_well)
{
	begin(0);
	EXPECT(held(1));
	EXPECT(held(3));
	EXPECT(held(4));
	expect_nak_after(WAIT, 0);
	comes(0);
	comes(1);
	EXPECT_ACK(0x1f, 1);
	now += 1000 * US;
	report();
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 4), SRDMA_RESP_DUP);
	EXPECT_ACK(0x1f, 1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 3, 4), SRDMA_RESP_DROP_GAP);
	expect_nak_after(WAIT, 2);
}

/* One that was due, and was not sent when the packet came: nothing is sent again. */
TEST(resp_hold__a_nak_that_was_not_sent_reports_no_hole)
{
	begin(0);
	EXPECT(held(1));
	EXPECT(held(3));
	report();
	now += WAIT;
	report();
	EXPECT(resp.nak_due);
	comes(0);
	comes(1);
	EXPECT_ACK(0x1f, 1);
	EXPECT(!resp.asked);
	/* It was seen as early as the first one, and has its own NAK. */
	report();
	EXPECT_ACK(0x60, 2);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

/* No more is a second copy of what was not asked for a sign that it was late. */
TEST(resp_hold__a_nak_that_was_not_sent_makes_nothing_wait)
{
	uint32_t wait;

	begin(0);
	EXPECT(held(1));
	report();
	now += WAIT;
	report();
	now += 3 * WAIT;
	comes(0);
	comes(1);
	report();
	EXPECT_ACK(0x1f, 1);
	wait = resp.hold_ns;
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_DUP);
	EXPECT_EQ(resp.hold_ns, wait);
}

/* What was lost behind all that was NAKed is not among what is sent again. */
TEST(resp_hold__a_hole_seen_later_has_its_own_nak)
{
	begin(0);
	EXPECT(held(1));
	expect_nak_after(WAIT, 0);
	EXPECT(held(3));
	comes(0);
	comes(1);
	EXPECT_ACK(0x1f, 1);
	expect_nak_after(WAIT, 2);
}

/* The packet came without the NAK, and then because of it: wait longer next time. */
TEST(resp_hold__a_needless_nak_makes_it_wait)
{
	begin(0);
	EXPECT(held(1));
	expect_nak_after(WAIT, 0);
	now += 3 * WAIT;
	comes(0);
	comes(1);
	report();
	EXPECT_ACK(0x1f, 1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_DUP);
	EXPECT_ACK(0x1f, 1);
	EXPECT(held(3));
	expect_nak_after(2 * WAIT, 2);
	/* Each that is needed makes the next one sooner. */
	comes(2);
	comes(3);
	EXPECT_ACK(0x1f, 3);
	EXPECT(held(5));
	expect_nak_after(2 * WAIT - 2 * WAIT / 8, 4);
}

/* What comes twice may have been sent twice: it is not believed to be so late. */
TEST(resp_hold__what_comes_twice_is_not_that_late)
{
	uint8_t number;

	begin(0);
	EXPECT(held(1));
	expect_nak_after(WAIT, 0);
	number = out.b.stamp;
	now += 1000 * WAIT;
	comes(0);
	comes(1);
	report();
	EXPECT_EQ(resp.hold_ns, WAIT);
	fresh();
	pkt.stamp = number;
	EXPECT_EQ(request(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_DUP);
	EXPECT_EQ(resp.hold_ns, 400 * WAIT);
}

TEST(resp_hold__a_read_takes_its_place)
{
	begin(1);
	fresh();
	pkt.opcode = SRDMA_RC_READ_REQ;
	pkt.op = srdma_opcode_get(pkt.opcode);
	pkt.psn = (FIRST + 1) & 0xffffff;
	pkt.reth.len = 2 * MTU + 1;
	EXPECT(srdma_rc_resp_wants(&resp, &pkt));
	srdma_rc_resp_hold(&resp, &pkt);
	EXPECT(held(4));
	EXPECT_EQ(resp.hole_count, 1);
	EXPECT(held(6));
	EXPECT_EQ(resp.hole_count, 2);
	pkt.opcode = SRDMA_RC_READ_REQ;
	pkt.op = srdma_opcode_get(pkt.opcode);
	pkt.psn = (FIRST + 8) & 0xffffff;
	pkt.reth.len = SRDMA_MSG_MAX + 1;
	EXPECT(!srdma_rc_resp_wants(&resp, &pkt));
}

TEST(resp_hold__there_is_an_end_of_holes)
{
	uint32_t i;

	begin(0);
	for (i = 0; i < SRDMA_RESP_HOLES; i++)
		EXPECT(held(4 * i + 3));
	EXPECT(!held(4 * i + 3));
	/* Not in the middle of one either, but at its ends, and behind the last. */
	EXPECT(!held(5));
	EXPECT(held(4));
	EXPECT(held(6));
	EXPECT(held(4 * i));
	EXPECT_EQ(resp.hole_count, SRDMA_RESP_HOLES);
	EXPECT(held(5));
	EXPECT(held(9));
}

/* It comes back with all of it. */
TEST(resp_hold__nothing_behind_a_rnr_nak)
{
	begin(0);
	EXPECT(held(1));
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_SEND);
	srdma_rc_resp_fail(&resp, &pkt, &act, SRDMA_WHY_NO_RWQE);
	EXPECT(!srdma_rc_resp_holds(&resp));
	EXPECT(!held(1));
	EXPECT_ACK(0x2c, 0);
	EXPECT_EQ(out.b.stamp, 0);
	comes(0);
	EXPECT(held(2));
}

TEST(resp_hold__a_requester_that_knows_is_told_all)
{
	begin_with_sacks();
	expect_sack(0, 3);
	expect_hole(0, 1, 2);
	expect_hole(1, 5, 1);
	expect_hole(2, 0, 0);
	/* Once. */
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT_EQ(report(), 0);
}

/* One that was not asked for anything may say what it likes. */
TEST(resp_hold__a_number_of_no_report_means_nothing)
{
	begin(0);
	EXPECT(held_with(1, 5));
	EXPECT(held_with(3, SRDMA_STAMP_ALL));
	expect_nak_after(WAIT, 0);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_hold__who_asks_behind_a_hole_is_answered)
{
	begin_with_sacks();
	expect_sack(0, 3);
	fresh();
	pkt.opcode = SRDMA_RC_SEND_ONLY;
	pkt.op = srdma_opcode_get(pkt.opcode);
	pkt.psn = (FIRST + 7) & 0xffffff;
	pkt.ack_req = true;
	EXPECT(srdma_rc_resp_wants(&resp, &pkt));
	srdma_rc_resp_hold(&resp, &pkt);
	expect_sack(0, 4);
	expect_hole(0, 0, 0);
}

/* A repetition that has come proves the loss of those in front of it. */
TEST(resp_hold__what_a_repetition_has_passed_is_reported_again)
{
	uint8_t number;

	begin_with_sacks();
	expect_sack(0, 3);
	number = out.b.stamp;
	comes_with(1, number);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT(held_with(5, number));
	have_their_time();
	expect_sack(1, 4);
	expect_hole(0, 2, 1);
	EXPECT_EQ(out.b.stamp, number + 1);
	/* So does what is sent after them. */
	EXPECT(held_with(7, number | SRDMA_STAMP_FRESH));
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT(held_with(8, (number + 1) | SRDMA_STAMP_FRESH));
	have_their_time_but(WAIT / 2);
	/* That it is missing is known already. */
	EXPECT(held_with(9, (number + 2) | SRDMA_STAMP_FRESH));
	have_their_time_but(WAIT / 2);
	report();
	expect_sack(1, 7);
	expect_hole(0, 2, 1);
}

/* Wherever they are: reports are followed in their order. */
TEST(resp_hold__what_a_later_repetition_has_passed_as_well)
{
	uint8_t number;

	begin_with_sacks();
	expect_sack(0, 3);
	number = out.b.stamp;
	comes_with(1, number);
	fresh();
	pkt.stamp = number;
	EXPECT_EQ(request(SRDMA_RC_SEND_ONLY, 4, 4), SRDMA_RESP_DROP_GAP);
	have_their_time();
	expect_sack(1, 3);
	expect_hole(0, 2, 1);
	expect_hole(1, 0, 0);
	comes_with(2, out.b.stamp);
	expect_sack(2, 3);
	expect_hole(0, 0, 0);
	have_their_time();
	expect_sack(2, 3);
	expect_hole(0, 5, 1);
}

TEST(resp_hold__who_has_waited_hears_all_again)
{
	begin_with_sacks();
	expect_sack(0, 3);
	comes_with(1, SRDMA_STAMP_ALL);
	expect_sack(1, 3);
	expect_hole(0, 2, 1);
	expect_hole(1, 5, 1);
}

/* A first copy that fills a reported hole was late: such holes are given more time. */
TEST(resp_hold__a_needless_report_makes_it_wait)
{
	uint32_t i;

	begin_with_sacks();
	expect_sack(0, 3);
	now += 10 * WAIT;
	EXPECT(held(5));
	report();
	comes_with(1, out.b.stamp);
	for (i = 2; i < 7; i++)
		comes(i);
	EXPECT(held(8));
	report();
	now += 15 * WAIT;
	report();
	expect_sack(6, 1);
	expect_hole(0, 0, 0);
	now += 10 * WAIT;
	report();
	expect_sack(6, 1);
	expect_hole(0, 7, 1);
}

/* And those that were needed less, by a part of it for each packet. */
TEST(resp_hold__a_needed_report_makes_it_wait_less)
{
	begin_with_sacks();
	resp.hold_ns = 64 * WAIT;
	expect_sack(0, 3);
	EXPECT_EQ(resp.hold_ns, 64 * WAIT);
	comes_with(1, out.b.stamp);
	EXPECT_EQ(resp.hold_ns, 60 * WAIT);
	/* Nobody had asked for that. */
	EXPECT(held_with(7, out.b.stamp));
	EXPECT_EQ(resp.hold_ns, 60 * WAIT);
	resp.hold_ns = WAIT;
	comes_with(2, out.b.stamp);
	EXPECT_EQ(resp.hold_ns, WAIT);
}

TEST(resp_hold__reports_are_as_many_as_it_takes)
{
	uint32_t i;

	begin(0);
	for (i = 0; i < 7; i++)
		EXPECT(held(2 * i + 2));
	expect_nak_after(WAIT, 0);
	comes_with(0, out.b.stamp);
	report();
	expect_sack(0, 7);
	expect_hole(0, 1, 1);
	expect_hole(3, 7, 1);
	expect_sack(0, 7);
	expect_hole(0, 9, 1);
	expect_hole(2, 13, 1);
	expect_hole(3, 0, 0);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_hold__a_long_hole_says_so)
{
	begin(0);
	EXPECT(held(1));
	EXPECT(held(1000));
	expect_nak_after(WAIT, 0);
	comes_with(0, out.b.stamp);
	report();
	expect_sack(0, 2);
	expect_hole(0, 2, 255);
}

TEST(resp_hold__what_is_given_up_is_missed_again)
{
	begin(0);
	EXPECT(held(1));
	srdma_rc_resp_forget(&resp);
	EXPECT(!srdma_rc_resp_holds(&resp));
	EXPECT(held(1));
}

/* Data that a READ is answered with says nothing of holes. */
TEST(resp_hold__read_data_report_no_hole)
{
	begin(1);
	EXPECT(held(3));
	expect_nak_after(WAIT, 0);
	comes_with(0, out.b.stamp);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, 0x2000, MTU), SRDMA_RESP_READ);
	commit();
	report();
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	expect_sack(0, 1);
	expect_hole(0, 2, 1);
}

/* That it only had been late is said with the next report, or if there is none, alone. */
static void expect_late(uint32_t i, uint32_t step)
{
	EXPECT_EQ(pkt.sack.holes[i].count, 0);
	EXPECT_EQ(pkt.sack.holes[i].psn, (FIRST + step) & 0xffffff);
}

TEST(resp_hold__what_was_late_is_told)
{
	uint8_t number;

	begin_with_sacks();
	expect_sack(0, 3);
	number = out.b.stamp;
	EXPECT(held(5));
	report();
	expect_sack(0, 4);
	expect_late(0, 5);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	comes(1);
	comes_with(2, number);
	comes(3);
	comes(4);
	comes(5);
	comes(6);
	report();
	expect_sack(6, 0);
	expect_late(0, 1);
	/* From then on it is an ACK again. */
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 6, 4), SRDMA_RESP_DUP);
	EXPECT_ACK(0x1f, 6);
}

/* A report of four holes has no room for it, and the next one does. */
TEST(resp_hold__what_was_late_is_told_when_there_is_room)
{
	uint32_t i;

	begin_with_sacks();
	expect_sack(0, 3);
	for (i = 8; i < 18; i += 2)
		EXPECT(held(i));
	report();
	EXPECT(held(5));
	report();
	now += 8 * WAIT;
	report();
	expect_sack(0, 9);
	expect_hole(3, 13, 1);
	expect_sack(0, 9);
	expect_hole(0, 15, 1);
	expect_late(1, 5);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

/* What the NAK has asked for comes first as it was sent, and then again. */
TEST(resp_hold__what_was_late_and_comes_again)
{
	uint8_t number;

	begin(0);
	EXPECT(held(1));
	expect_nak_after(WAIT, 0);
	number = out.b.stamp;
	now += 10 * WAIT;
	comes(0);
	comes(1);
	report();
	EXPECT_ACK(0x1f, 1);
	fresh();
	pkt.stamp = number;
	EXPECT_EQ(request(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_DUP);
	/* An acknowledge that waits for a reply would not say so. */
	EXPECT(!srdma_rc_resp_only_acks(&resp));
	expect_sack(1, 0);
	expect_late(0, 0);
	EXPECT_EQ(resp.hold_ns, 22 * WAIT);
	/* It is known now that this requester knows numbers. */
	EXPECT(held(3));
	report();
	now += 22 * WAIT;
	report();
	expect_sack(1, 1);
	expect_hole(0, 2, 1);
}

/* Who repeats without the number would not know what to do with that; a probe is none. */
TEST(resp_hold__nobody_else_is_told)
{
	static const uint8_t stamps[] = { 0, SRDMA_STAMP_ALL };
	uint32_t i;

	for (i = 0; i < 2; i++) {
		begin(0);
		EXPECT(held(1));
		expect_nak_after(WAIT, 0);
		comes(0);
		comes(1);
		report();
		EXPECT_ACK(0x1f, 1);
		fresh();
		pkt.stamp = stamps[i];
		EXPECT_EQ(request(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_DUP);
		EXPECT_ACK(0x1f, 1);
	}
}
