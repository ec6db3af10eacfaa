// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A network that changes the order of responses: what is missing is given time, once
 * an answer that came twice has shown that it may need some.
 */
#include "proto/rc_req_priv.h"
#include "req_fixture.h"

/* Round trips take 80 us, by a WRITE. */
static void begin_measured(void)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, MTU, SRDMA_WR_SIGNALED);
	send_one();
	now += 80 * US;
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	EXPECT_EQ(req.srtt_ns, 80 * US);
}

/* Packet @step of a READ, placed. */
static void comes(uint32_t step)
{
	EXPECT_EQ(read_resp(step, MTU), SRDMA_REQ_PLACE);
	placed();
}

/*
 * A READ of four packets, from @step on, of which the second is overtaken by the third
 * and asked for in vain: so the answer comes twice.
 */
static void asks_in_vain(uint32_t step)
{
	push(SRDMA_WR_READ, 4 * MTU, SRDMA_WR_SIGNALED);
	send_one();
	now += 80 * US;
	comes(step);
	comes(step + 2);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, psn(step + 1));
	sent();
	comes(step + 1);
	EXPECT_EQ(read_resp(step + 1, MTU), SRDMA_REQ_DROP_GHOST);
	comes(step + 3);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_late__asks_at_once_as_long_as_nothing_was_late)
{
	begin_measured();
	EXPECT_EQ(req.late, 0);
	asks_in_vain(1);
	EXPECT_EQ(req.late, 1);
}

/* A quarter of a round trip; and what comes until then is not asked for. */
TEST(req_late__then_it_waits)
{
	begin_measured();
	asks_in_vain(1);
	push(SRDMA_WR_READ, 4 * MTU, SRDMA_WR_SIGNALED);
	send_one();
	now += 80 * US;
	comes(5);
	comes(7);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(req.late_at, now + req.srtt_ns / 4);
	EXPECT_EQ(req.deadline, req.late_at);
	now = req.late_at - 1;
	comes(6);
	comes(8);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(req.deadline, 0);
	EXPECT_EQ(req.late_at, 0);
}

TEST(req_late__and_asks_when_that_is_over)
{
	begin_measured();
	asks_in_vain(1);
	push(SRDMA_WR_READ, 4 * MTU, SRDMA_WR_SIGNALED);
	send_one();
	now += 80 * US;
	comes(5);
	comes(7);
	now = req.late_at;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_LATE);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, psn(6));
	EXPECT_EQ(burst.b.len, MTU);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* Each answer in vain doubles it, up to two round trips. */
TEST(req_late__waits_longer_and_longer)
{
	static const uint8_t want[] = { 3, 7, 8, 8 };
	unsigned int i;

	begin_measured();
	asks_in_vain(1);
	for (i = 0; i < sizeof(want); i++) {
		req.asked_psn = psn(1);
		req.asked_end = psn(5);
		EXPECT_EQ(read_resp(1, MTU), SRDMA_REQ_DROP_GHOST);
		EXPECT_EQ(req.late, want[i]);
		/* Once for each that was asked for. */
		EXPECT_EQ(read_resp(1, MTU), SRDMA_REQ_DROP_GHOST);
		EXPECT_EQ(req.late, want[i]);
	}
}

/* A READ of which the second packet is missed, and asked for, with room for @window. */
static void asks_with_window(uint32_t window)
{
	begin_measured();
	req.cwnd = window;
	req.win_top = 200;
	req.probe_psn = psn(9);
	push(SRDMA_WR_READ, 4 * MTU, SRDMA_WR_SIGNALED);
	send_one();
	now += 80 * US;
	comes(1);
	comes(3);
	send_one();
	EXPECT_EQ(burst.b.psn, psn(2));
	EXPECT(req.cwnd < window);
}

/* It was late; and then comes what was asked for. So much passes in a millisecond. */
static void comes_twice(uint8_t floor)
{
	comes(2);
	req.cwnd_floor = floor;
	EXPECT_EQ(read_resp(2, MTU), SRDMA_REQ_DROP_GHOST);
}

/* What was late was not lost, and there is as much room as before. */
TEST(req_late__window_is_what_it_was)
{
	asks_with_window(100);
	comes_twice(16);
	/* And a packet has completed the READ. */
	EXPECT(req.cwnd == 100 || req.cwnd == 101);
	EXPECT(req.ssthresh >= 100);
	EXPECT(!req.recovering);
	EXPECT(req.reorders);
}

/* No more than there may be by now. */
TEST(req_late__window_is_not_above_its_top)
{
	asks_with_window(100);
	req.win_top = 50;
	comes_twice(16);
	EXPECT_EQ(req.cwnd, 50);
}

/* What was not asked for says nothing of what was. */
TEST(req_late__window_is_not_for_other_copies)
{
	uint32_t cwnd;

	asks_with_window(100);
	cwnd = req.cwnd;
	req.cwnd_floor = 16;
	EXPECT_EQ(read_resp(3, MTU), SRDMA_REQ_DROP_DUP);
	EXPECT_EQ(req.cwnd, cwnd);
}

/* On a line that is slow, or shared by many, other packets are lost. */
TEST(req_late__window_of_a_slow_line_stays_small)
{
	uint32_t cwnd;

	asks_with_window(100);
	cwnd = req.cwnd;
	comes_twice(8);
	EXPECT(req.cwnd < cwnd + 2);
}

/* Nor is what is known of its queue forgotten, unless the peer says that it was late. */
TEST(req_late__the_queue_of_a_slow_line_is_not_forgotten)
{
	asks_with_window(100);
	req.delay.full_ns = 20 * MS;
	comes_twice(8);
	EXPECT_EQ(req.delay.full_ns, 20 * MS);
	asks_with_window(100);
	req.delay.full_ns = 20 * MS;
	comes_twice(9);
	EXPECT_EQ(req.delay.full_ns, 0);
}

/* A probe asks for more than was missed. */
TEST(req_late__window_is_not_for_a_probe)
{
	uint32_t cwnd;

	asks_with_window(100);
	req.probe_psn = psn(2);
	cwnd = req.cwnd;
	comes_twice(16);
	EXPECT(req.cwnd < cwnd + 2);
}

/* What nobody has asked for again may come twice as often as it likes. */
TEST(req_late__a_copy_of_the_network_is_not_late)
{
	begin_measured();
	push(SRDMA_WR_READ, 4 * MTU, SRDMA_WR_SIGNALED);
	send_one();
	now += 80 * US;
	comes(1);
	comes(3);
	EXPECT_EQ(read_resp(3, MTU), SRDMA_REQ_DROP_DUP);
	EXPECT_EQ(read_resp(1, MTU), SRDMA_REQ_DROP_GHOST);
	EXPECT_EQ(req.late, 0);
}

/* A whole answer can be overtaken by the next one. */
TEST(req_late__of_a_whole_answer)
{
	begin_measured();
	asks_in_vain(1);
	push(SRDMA_WR_READ, 2 * MTU, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_READ, 2 * MTU, SRDMA_WR_SIGNALED);
	send_all();
	now += 80 * US;
	comes(7);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	now++;
	comes(5);
	now = req.late_at;
	/* It comes: what is not there yet is on its way. */
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_LATE);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	comes(6);
	comes(8);
	EXPECT_EQ(req.una, req.head);
}

TEST(req_late__of_a_whole_answer_that_is_lost)
{
	begin_measured();
	asks_in_vain(1);
	push(SRDMA_WR_READ, 2 * MTU, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_READ, 2 * MTU, SRDMA_WR_SIGNALED);
	send_all();
	now += 80 * US;
	comes(7);
	comes(8);
	now = req.late_at;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_LATE);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, psn(5));
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* Sixteen times, as if all that is asked for had been lost. */
static void ask_again_for_all(void)
{
	unsigned int i;

	for (i = req.asks; i < 16; i++) {
		push(SRDMA_WR_READ, MTU, SRDMA_WR_SIGNALED);
		send_one();
		now = req.deadline;
		srdma_rc_req_timeout(&req, now);
		send_one();
		EXPECT_EQ(read_resp(4 + i, MTU), SRDMA_REQ_PLACE);
		placed();
	}
	EXPECT_EQ(req.asks, 16);
}

/* The less is in vain, the sooner it asks. */
TEST(req_late__asks_sooner_again)
{
	begin_measured();
	asks_in_vain(1);
	req.reorders = true;
	ask_again_for_all();
	EXPECT_EQ(req.late, 0);
	EXPECT(!req.reorders);
}

/* All that is missing waits since the first of it was missed. */
TEST(req_late__does_not_begin_anew)
{
	uint64_t at;

	begin_measured();
	asks_in_vain(1);
	push(SRDMA_WR_READ, 5 * MTU, SRDMA_WR_SIGNALED);
	send_one();
	now += 80 * US;
	comes(5);
	comes(7);
	at = req.late_at;
	now += 5 * US;
	comes(9);
	EXPECT_EQ(req.late_at, at);
}

/* One that answers parts as if they were the rest is asked for one after the other. */
TEST(req_late__one_hole_at_a_time_of_a_peer_that_forgets)
{
	begin_measured();
	asks_in_vain(1);
	push(SRDMA_WR_READ, 6 * MTU, SRDMA_WR_SIGNALED);
	send_one();
	now += 80 * US;
	comes(5);
	comes(7);
	now = req.late_at;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_LATE);
	send_one();
	EXPECT_EQ(burst.b.psn, psn(6));
	comes(9);
	EXPECT(!req.anew);
	req.late_at = now;
	req.deadline = now;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_LATE);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* What shows once that packets overtake each other may be a mistake; twice it is none. */
TEST(req_late__order_changes_where_that_is_shown_twice)
{
	asks_with_window(100);
	req.delay.full_ns = 20 * MS;
	comes_twice(8);
	EXPECT_EQ(req.reorders, 2);
	EXPECT(!srdma_req_order_changes(&req));
	EXPECT_EQ(req.delay.full_ns, 20 * MS);
	req.asked_psn = psn(2);
	req.asked_to = psn(3);
	req.asked_end = psn(3);
	EXPECT_EQ(read_resp(2, MTU), SRDMA_REQ_DROP_GHOST);
	EXPECT(srdma_req_order_changes(&req));
	/* Then it is no queue that is slow, and what was missed was not lost. */
	EXPECT_EQ(req.delay.full_ns, 0);
	EXPECT(req.cwnd >= 100);
}

/* Copies of what was not asked for last are old ones. */
TEST(req_late__order_does_not_change_for_old_copies)
{
	begin_measured();
	asks_in_vain(1);
	req.reorders = 0;
	req.asked_psn = psn(1);
	req.asked_to = psn(2);
	req.asked_end = psn(4);
	EXPECT_EQ(read_resp(2, MTU), SRDMA_REQ_DROP_GHOST);
	EXPECT_EQ(req.reorders, 0);
}

/* All of three messages is complete, and the next burst would wait for a millisecond. */
static void begin_paced(void)
{
	uint32_t i;

	begin(NULL);
	for (i = 0; i < 3; i++)
		push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	EXPECT_EQ(send_all(), 3);
	ack(2);
	req.delay.full_ns = 3 * MS;
	req.slow.win = SRDMA_SLOW_PACKET;
	req.slow.pace_at = now + 1 * MS;
	srdma_req_rearm(&req);
	EXPECT_EQ(req.deadline, now + 1 * MS);
}

/* Nothing is sent that is of no message: the peer would take it for the next one. */
static void expect_silence_after(uint64_t ns)
{
	now += ns;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_EARLY);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT(!req.probe_due);
}

/* Where the order shows to change, pacing ends, and so does the timer for it. */
TEST(req_late__what_is_complete_is_not_asked_for)
{
	begin_paced();
	req.reorders = 2 * SRDMA_REQ_REORDERS - 1;
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	EXPECT_EQ(req.slow.win, 0);
	EXPECT_EQ(req.deadline, 0);
	expect_silence_after(1 * MS);
}

TEST(req_late__an_old_timer_asks_for_nothing)
{
	begin_paced();
	srdma_req_slow_ends(&req);
	expect_silence_after(1 * MS);
}

/* What fills a hole that was not asked for was overtaken by what came behind it. */
TEST(req_late__what_comes_unasked_was_overtaken)
{
	begin_measured();
	asks_in_vain(1);
	req.reorders = 0;
	push(SRDMA_WR_READ, 4 * MTU, SRDMA_WR_SIGNALED);
	send_one();
	now += 80 * US;
	comes(5);
	EXPECT_EQ(req.reorders, 0);
	comes(7);
	EXPECT_EQ(req.reorders, 0);
	comes(6);
	EXPECT_EQ(req.reorders, 2);
	comes(8);
	EXPECT_EQ(req.reorders, 2);
}

TEST(req_late__an_acknowledge_that_is_older_was_overtaken)
{
	begin_measured();
	push(SRDMA_WR_WRITE, 3 * MTU, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(ack(2), SRDMA_REQ_ACK);
	/* The same may be said twice. */
	EXPECT_EQ(ack(2), SRDMA_REQ_ACK);
	EXPECT_EQ(req.reorders, 0);
	req.delay.full_ns = 20 * MS;
	EXPECT_EQ(ack(1), SRDMA_REQ_ACK);
	EXPECT_EQ(req.reorders, 2);
	EXPECT_EQ(req.delay.full_ns, 20 * MS);
	EXPECT_EQ(ack(1), SRDMA_REQ_ACK);
	EXPECT_EQ(req.delay.full_ns, 0);
	EXPECT_EQ(ack(1), SRDMA_REQ_ACK);
	EXPECT_EQ(ack(1), SRDMA_REQ_ACK);
	EXPECT_EQ(ack(1), SRDMA_REQ_ACK);
	EXPECT_EQ(req.reorders, 8);
	/* A loss is none of that. */
	srdma_req_note_loss(&req);
	EXPECT_EQ(req.reorders, 7);
}

/* Where the order changes, what is needless now and then is no reason to hurry. */
TEST(req_late__waits_as_long_while_the_order_changes)
{
	begin_measured();
	asks_in_vain(1);
	req.reorders = 200;
	ask_again_for_all();
	EXPECT_EQ(req.late, 1);
}

/* Who always lacks something gives each of it the same time. */
TEST(req_late__what_is_missed_later_has_its_own_time)
{
	uint64_t at;

	begin_measured();
	asks_in_vain(1);
	push(SRDMA_WR_READ, 8 * MTU, SRDMA_WR_SIGNALED);
	send_one();
	now += 80 * US;
	comes(5);
	comes(7);
	at = req.late_at;
	comes(6);
	now += 5 * US;
	comes(9);
	EXPECT_EQ(req.late_at, at + 5 * US);
	/* All is here that was missed then: the rest is given its time, once. */
	comes(8);
	now = req.late_at;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_LATE);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(req.late_at, now + req.srtt_ns / 4);
	comes(11);
	now = req.late_at;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_LATE);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, psn(10));
}
