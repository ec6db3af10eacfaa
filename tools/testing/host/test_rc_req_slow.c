// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester while it is notified of congestion.
 */
#include "proto/rc_req_priv.h"
#include "req_fixture.h"

#define TRIP	(1 * MS)

/* So many packets are in flight; the next trip is the first that was measured. */
static void fill_a_window(uint32_t packets)
{
	struct srdma_rc_req_attr a = usual;

	a.max_inflight = packets * MTU;
	begin(&a);
	push(SRDMA_WR_WRITE, 20000 * MTU, 0);
	REQUIRE(send_all() == packets);
	now += TRIP;
}

static void fill_the_window(void)
{
	fill_a_window(64);
}

/* The round trip that follows: @told is notified of, the rest is acknowledged. */
static void next_trip(bool told)
{
	if (told)
		srdma_rc_req_congested(&req);
	now += TRIP;
	aeth_psn(srdma_psn_sub(req.max_psn, 1), 0x1f);
	/* Virtual time goes on while packets are sent: that is no trip. */
	req.srtt_ns = TRIP;
}

/* Sends as time allows, until the window is full; how many packets? */
static uint32_t send_in_time(void)
{
	uint32_t count = 0;
	enum srdma_req_next v;

	for (;;) {
		v = next();
		if (v == SRDMA_NEXT_SEND) {
			count += burst.b.count;
			sent();
		} else if (v == SRDMA_NEXT_PACE) {
			EXPECT(req.deadline > now);
			now = req.deadline;
			srdma_rc_req_timeout(&req, now);
		} else {
			return count;
		}
	}
}

TEST(req_slow__halves_once_for_what_is_in_flight)
{
	fill_the_window();
	srdma_rc_req_congested(&req);
	EXPECT_EQ(req.slow.win, 32 * SRDMA_SLOW_PACKET);
	srdma_rc_req_congested(&req);
	EXPECT_EQ(req.slow.win, 32 * SRDMA_SLOW_PACKET);
	/* What is in flight is more than that. */
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	ack(40);
	EXPECT_EQ(req.slow.win, 32 * SRDMA_SLOW_PACKET);
	EXPECT_EQ(send_in_time(), 8);
	/* Packets that went since then are told of: a quarter less. */
	ack(63);
	srdma_rc_req_congested(&req);
	EXPECT_EQ(req.slow.win, 24 * SRDMA_SLOW_PACKET);
}

/* Of a window of less than a packet an eighth is cut, of others a quarter. */
TEST(req_slow__cuts_less_where_there_is_little)
{
	fill_the_window();
	next_trip(true);
	req.slow.win = SRDMA_SLOW_PACKET;
	req.slow.is_cut = false;
	srdma_rc_req_congested(&req);
	EXPECT_EQ(req.slow.win, SRDMA_SLOW_PACKET * 3 / 4);
	req.slow.is_cut = false;
	srdma_rc_req_congested(&req);
	EXPECT_EQ(req.slow.win, SRDMA_SLOW_PACKET * 3 / 4 * 7 / 8);
}

TEST(req_slow__nothing_in_flight_is_nothing_to_slow_down)
{
	begin(NULL);
	srdma_rc_req_congested(&req);
	EXPECT_EQ(req.slow.win, 0);
	push(SRDMA_WR_WRITE, MTU, 0);
	send_all();
	ack(0);
	srdma_rc_req_congested(&req);
	EXPECT_EQ(req.slow.win, 0);
	srdma_rc_req_abort(&req);
	srdma_rc_req_congested(&req);
	EXPECT_EQ(req.slow.win, 0);
}

TEST(req_slow__spreads_packets_over_the_round_trip)
{
	uint64_t begun;

	fill_the_window();
	next_trip(true);
	EXPECT_EQ(req.slow.win, 33 * SRDMA_SLOW_PACKET - SRDMA_SLOW_PACKET);
	begun = now;
	/* A quarter of the window at once, then as long as it takes. */
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 8);
	EXPECT(burst.b.ack_req);
	sent();
	/* Another one makes up for a late timer. */
	send_one();
	EXPECT_EQ(next(), SRDMA_NEXT_PACE);
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_EARLY);
	EXPECT_EQ(req.deadline, req.slow.next_at);
	now = req.deadline;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_PACE);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(send_in_time(), 16);
	EXPECT(now - begun >= TRIP / 3);
	EXPECT(now - begun <= TRIP);
}

TEST(req_slow__grows_by_a_packet_in_a_calm_round_trip)
{
	uint32_t win;

	fill_the_window();
	next_trip(true);
	send_in_time();
	win = req.slow.win;
	next_trip(false);
	EXPECT_EQ(req.slow.win, win + SRDMA_SLOW_PACKET);
	win = req.slow.win;
	send_in_time();
	next_trip(true);
	EXPECT_EQ(req.slow.win, win - win / 4);
}

/* As the square of the time, and at most by an eighth of what is more than 8 packets. */
TEST(req_slow__grows_faster_the_longer_it_is_calm)
{
	uint32_t i, win = 0;

	fill_a_window(512);
	next_trip(true);
	for (i = 0; i <= 120; i++) {
		win = req.slow.win = 100 * SRDMA_SLOW_PACKET;
		req.rtt_min_ns = TRIP;
		send_in_time();
		next_trip(false);
	}
	EXPECT_EQ(req.slow.win, win + 2 * SRDMA_SLOW_PACKET);
	req.slow.calm = 1000;
	send_in_time();
	next_trip(false);
	EXPECT(req.slow.win > 108 * SRDMA_SLOW_PACKET);
	EXPECT(req.slow.win < 116 * SRDMA_SLOW_PACKET);
	/* Few packets are a share of a slow line. */
	req.slow.win = 8 * SRDMA_SLOW_PACKET;
	send_in_time();
	next_trip(false);
	EXPECT_EQ(req.slow.win, 9 * SRDMA_SLOW_PACKET);
	/* And from a packet on after the next notification. */
	req.slow.win = 100 * SRDMA_SLOW_PACKET;
	send_in_time();
	next_trip(true);
	win = req.slow.win;
	send_in_time();
	next_trip(false);
	EXPECT_EQ(req.slow.win, win + SRDMA_SLOW_PACKET);
}

TEST(req_slow__grows_by_less_in_a_long_round_trip)
{
	uint32_t win;

	fill_the_window();
	next_trip(true);
	send_in_time();
	win = req.slow.win;
	req.srtt_ns = 6 * MS;
	aeth_psn(srdma_psn_sub(req.max_psn, 1), 0x1f);
	EXPECT(req.slow.win - win >= SRDMA_SLOW_PACKET / 4);
	EXPECT(req.slow.win - win < SRDMA_SLOW_PACKET / 2);
	/* But never by nothing. */
	send_in_time();
	win = req.slow.win;
	req.slow.calm = 0;
	req.srtt_ns = 200 * MS;
	aeth_psn(srdma_psn_sub(req.max_psn, 1), 0x1f);
	EXPECT_EQ(req.slow.win, win + SRDMA_SLOW_PACKET / 4);
}

/* By so much grows a window of so many packets in a trip that takes @srtt. */
static uint32_t growth(uint32_t packets, uint64_t srtt, uint64_t shortest)
{
	req.slow.win = packets * SRDMA_SLOW_PACKET;
	send_in_time();
	req.slow.calm = 0;
	req.rtt_timed = false;
	req.srtt_ns = srtt;
	req.rtt_min_ns = shortest;
	aeth_psn(srdma_psn_sub(req.max_psn, 1), 0x1f);
	return req.slow.win - packets * SRDMA_SLOW_PACKET;
}

TEST(req_slow__a_long_way_is_no_queue)
{
	fill_the_window();
	next_trip(true);
	EXPECT_EQ(growth(32, 22 * MS, 20 * MS), SRDMA_SLOW_PACKET);
	EXPECT_EQ(growth(32, 23 * MS, 20 * MS), SRDMA_SLOW_PACKET / 4);
	EXPECT_EQ(growth(32, 10 * MS, 8 * MS), SRDMA_SLOW_PACKET);
	EXPECT_EQ(growth(32, 4 * MS, 3 * MS), SRDMA_SLOW_PACKET / 2);
	EXPECT_EQ(growth(32, 9 * MS, 7999 * US), SRDMA_SLOW_PACKET / 4);
	/* One of many, for all that it knows. */
	EXPECT_EQ(growth(8, 22 * MS, 20 * MS), SRDMA_SLOW_PACKET / 4);
}

/* Where nobody marks, a step of many at once would be a packet for which there is no room. */
TEST(req_slow__steps_are_small_where_nobody_marks)
{
	fill_the_window();
	next_trip(true);
	EXPECT_EQ(growth(4, 23 * MS, 20 * MS), SRDMA_SLOW_PACKET / 4);
	EXPECT_EQ(growth(1, 90 * MS, 20 * MS), SRDMA_SLOW_PACKET / 4);
	req.delay.full_ns = 100 * MS;
	EXPECT_EQ(growth(1, 23 * MS, 20 * MS), 2 * SRDMA_SLOW_PACKET / 23);
	EXPECT_EQ(growth(1, 90 * MS, 20 * MS), SRDMA_SLOW_PACKET / 16);
	/* But who has four packets has a larger share. */
	EXPECT_EQ(growth(2, 90 * MS, 20 * MS), SRDMA_SLOW_PACKET / 8);
	EXPECT_EQ(growth(4, 90 * MS, 20 * MS), SRDMA_SLOW_PACKET / 4);
	EXPECT_EQ(growth(8, 90 * MS, 20 * MS), SRDMA_SLOW_PACKET / 4);
}

/* A queue that overflows has marked packets as well. */
TEST(req_slow__what_a_loss_has_halved_is_not_halved_again)
{
	fill_the_window();
	srdma_req_note_loss(&req);
	REQUIRE(req.cwnd == 32);
	srdma_rc_req_congested(&req);
	EXPECT_EQ(req.slow.win, 32 * SRDMA_SLOW_PACKET);
}

TEST(req_slow__grows_beyond_what_a_loss_has_left)
{
	uint32_t i;

	fill_the_window();
	next_trip(true);
	req.cwnd = 2;
	req.slow.win = 2 * SRDMA_SLOW_PACKET;
	for (i = 0; i < 8; i++) {
		send_in_time();
		next_trip(false);
	}
	EXPECT_EQ(req.slow.win, 10 * SRDMA_SLOW_PACKET);
	EXPECT_EQ(req.cwnd, 10);
	/* By parts of a packet, too. */
	EXPECT_EQ(growth(10, 10 * MS, 1 * MS), SRDMA_SLOW_PACKET / 4);
	EXPECT_EQ(req.cwnd, 11);
}

/* A train is marked as one packet is. */
TEST(req_slow__sends_at_once_what_passes_soon)
{
	fill_the_window();
	next_trip(true);
	req.srtt_ns = 4 * TRIP;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 4);
	req.srtt_ns = 20 * TRIP;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 1);
}

TEST(req_slow__sends_less_than_a_packet_in_a_round_trip)
{
	uint32_t i;

	fill_the_window();
	next_trip(true);
	for (i = 0; i < 60; i++) {
		REQUIRE(send_in_time());
		next_trip(true);
	}
	EXPECT_EQ(req.slow.win, SRDMA_SLOW_PACKET / 6);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 1);
	sent();
	next_trip(true);
	EXPECT_EQ(next(), SRDMA_NEXT_PACE);
	/* Nothing is outstanding, and yet there is a timer. */
	EXPECT_EQ(req.deadline, req.slow.next_at);
	EXPECT(req.deadline - now > 4 * req.srtt_ns);
	/* A single packet that met nothing is enough to try two. */
	send_in_time();
	next_trip(false);
	EXPECT_EQ(req.slow.win, 2 * SRDMA_SLOW_PACKET);
}

/* As the largest window has been reached, or as there is not that much to send. */
TEST(req_slow__ends_when_nobody_has_complained_for_long)
{
	uint32_t i;

	fill_a_window(128);
	next_trip(true);
	for (i = 0; i < 64; i++) {
		REQUIRE(req.slow.win);
		send_in_time();
		next_trip(false);
	}
	EXPECT_EQ(req.slow.win, 0);
	EXPECT_EQ(req.cwnd, 128);
	EXPECT(send_all() > 64);
}

/* On a short path the other window can do what is left. */
TEST(req_slow__ends_early_on_a_short_path)
{
	uint32_t i;

	fill_a_window(512);
	req.rtt_min_ns = TRIP / 2;
	srdma_rc_req_congested(&req);
	for (i = 0; req.slow.win && i < 100; i++) {
		next_trip(false);
		req.rtt_min_ns = TRIP / 2;
		send_in_time();
	}
	EXPECT_EQ(i, 65);
	EXPECT(req.cwnd > 256 + 64);
	EXPECT(req.cwnd < 512);
}

TEST(req_slow__ends_when_there_is_little_to_send)
{
	uint32_t i;

	fill_a_window(512);
	next_trip(true);
	for (i = 0; req.slow.win && i < 100; i++) {
		send_one();
		next_trip(false);
	}
	EXPECT_EQ(i, 64);
	/* The window goes on from there, not from where it was. */
	EXPECT(req.cwnd > 256);
	EXPECT(req.cwnd < 512);
}

TEST(req_slow__a_loss_halves_as_well)
{
	uint32_t win;

	fill_the_window();
	srdma_rc_req_congested(&req);
	win = req.slow.win;
	nak(0, SRDMA_NAK_PSN_SEQ);
	EXPECT_EQ(req.slow.win, win / 2);
}

/* Or the retries would be used up by waiting. */
TEST(req_slow__the_oldest_packet_is_repeated_at_once)
{
	fill_the_window();
	next_trip(true);
	send_one();
	send_one();
	REQUIRE(next() == SRDMA_NEXT_PACE);
	nak(64, SRDMA_NAK_PSN_SEQ);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, psn(64));
	EXPECT(burst.b.resend);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_PACE);
}

/* What was in flight is known to be no more than three windows. */
TEST(req_slow__a_period_is_not_longer_than_three_windows)
{
	fill_the_window();
	srdma_rc_req_congested(&req);
	req.slow.win = 4 * SRDMA_SLOW_PACKET;
	req.slow.is_cut = false;
	req.slow.acked = 0;
	req.slow.end_psn = psn(64);
	ack(10);
	EXPECT_EQ(req.slow.win, 4 * SRDMA_SLOW_PACKET);
	ack(11);
	EXPECT(req.slow.win > 4 * SRDMA_SLOW_PACKET);
	EXPECT_EQ(req.slow.acked, 0);
}

/* Many in a row had the next new one wait for seconds. */
TEST(req_slow__what_is_repeated_at_once_puts_nothing_off)
{
	uint32_t i;

	fill_the_window();
	srdma_rc_req_congested(&req);
	nak(0, SRDMA_NAK_PSN_SEQ);
	for (i = 0; i < 20; i++) {
		req.slow.win = SRDMA_SLOW_PACKET / 6;
		req.srtt_ns = TRIP;
		REQUIRE(next() == SRDMA_NEXT_SEND);
		EXPECT_EQ(burst.b.psn, psn(i));
		sent();
		ack(i);
	}
	EXPECT(req.slow.next_at > now);
	EXPECT(req.slow.next_at <= now + 7 * TRIP);
}

TEST(req_slow__waits_a_tenth_of_a_second_at_most)
{
	uint32_t i;

	fill_the_window();
	next_trip(true);
	for (i = 0; i < 60; i++) {
		send_in_time();
		next_trip(true);
	}
	req.srtt_ns = 50 * MS;
	now = req.slow.next_at;
	send_one();
	EXPECT(req.slow.next_at > now + 99 * MS);
	EXPECT(req.slow.next_at <= now + 100 * MS);
}

/* A READ that is far away counts with its answer. */
TEST(req_slow__a_read_takes_the_time_of_its_answer)
{
	uint64_t begun;

	begin(NULL);
	push(SRDMA_WR_READ, 16 * MTU, 0);
	push(SRDMA_WR_READ, 16 * MTU, 0);
	send_one();
	now += TRIP;
	srdma_rc_req_congested(&req);
	REQUIRE(req.slow.win);
	read_resp(0, MTU);
	placed();
	begun = now;
	req.srtt_ns = TRIP;
	req.slow.win = 32 * SRDMA_SLOW_PACKET;
	send_one();
	/* A quarter of the window is asked for. */
	EXPECT_EQ(req.slow.next_at - begun + 250 * US, TRIP / 4 * 3 / 4);
}
