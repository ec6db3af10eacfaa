// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester where a queue does not mark: what losses and round trips say of it.
 */
#include "proto/rc_req_priv.h"
#include "req_fixture.h"

#define PACKET	SRDMA_SLOW_PACKET

/* 32 packets are in flight; trips of @trip are known, the shortest of @least. */
static void begin_at(uint8_t op, uint64_t least, uint64_t trip)
{
	struct srdma_rc_req_attr a = usual;

	a.max_inflight = 32 * MTU;
	begin(&a);
	push(op, 20000 * MTU, 0);
	REQUIRE(send_all() == (op == SRDMA_WR_READ ? 1 : 32));
	req.heard = true;
	req.srtt_ns = trip;
	req.rtt_min_ns = least;
	req.delay.top_ns = trip;
	req.rtt_timed = false;
}

static void begin_slow_line(void)
{
	begin_at(SRDMA_WR_WRITE, 1 * MS, 20 * MS);
	req.cwnd_floor = 1;
}

static void lose_one(void)
{
	nak(0, SRDMA_NAK_PSN_SEQ);
}

/* The answer to the packet at una takes @trip, as the ones before did. */
static void trip(uint64_t took)
{
	req.slow.next_at = 0;
	send_all();
	req.srtt_ns = took;
	srdma_req_time_trip(&req, req.una_psn, false, now);
	now += took;
	ack((req.una_psn - FIRST) & 0xffffff);
}

TEST(req_delay__a_loss_on_a_slow_line_is_congestion)
{
	begin_slow_line();
	lose_one();
	EXPECT_EQ(req.slow.win, 16 * PACKET);
	EXPECT_EQ(req.delay.full_ns, 20 * MS);
	EXPECT_EQ(req.delay.top_ns, 0);
}

TEST(req_delay__a_loss_behind_a_long_queue_is_congestion)
{
	begin_at(SRDMA_WR_WRITE, 10 * MS, 25 * MS + 1);
	lose_one();
	EXPECT(req.slow.win);
	begin_at(SRDMA_WR_WRITE, 10 * MS, 25 * MS);
	lose_one();
	EXPECT_EQ(req.slow.win, 0);
	EXPECT_EQ(req.delay.full_ns, 0);
	/* The one before the last was long already, on a path that is not. */
	begin_at(SRDMA_WR_WRITE, 2 * MS, 2500 * US);
	req.delay.top_ns = 2500 * US + 1;
	lose_one();
	EXPECT(req.slow.win);
	begin_at(SRDMA_WR_WRITE, 2 * MS, 2500 * US);
	req.delay.top_ns = 2500 * US;
	lose_one();
	EXPECT_EQ(req.slow.win, 0);
	begin_at(SRDMA_WR_WRITE, 2 * MS, 2500 * US - 1);
	req.delay.top_ns = 2500 * US + 1;
	lose_one();
	EXPECT_EQ(req.slow.win, 0);
	begin_at(SRDMA_WR_WRITE, 5 * MS, 6 * MS);
	req.delay.top_ns = 20 * MS;
	lose_one();
	EXPECT_EQ(req.slow.win, 0);
	/* As long as no trip is known that may be short, this one may be. */
	begin_at(SRDMA_WR_WRITE, 0, 20 * MS);
	lose_one();
	EXPECT_EQ(req.slow.win, 0);
	/* It takes some time to fill a queue, and a CPU may be busy for as long as others. */
	begin_at(SRDMA_WR_WRITE, 1 * US, 2500 * US - 1);
	lose_one();
	EXPECT_EQ(req.slow.win, 0);
	begin_at(SRDMA_WR_WRITE, 1 * US, 2500 * US);
	lose_one();
	EXPECT(req.slow.win);
}

TEST(req_delay__few_packets_in_short_trips_are_no_congestion)
{
	begin_slow_line();
	req.srtt_ns = 2500 * US - 1;
	lose_one();
	EXPECT_EQ(req.slow.win, 0);
	begin_slow_line();
	req.srtt_ns = 2500 * US;
	req.rtt_min_ns = 2 * MS;
	req.delay.top_ns = 2500 * US;
	req.cwnd_floor = 9;
	lose_one();
	EXPECT_EQ(req.slow.win, 0);
	begin_slow_line();
	req.srtt_ns = 2500 * US;
	req.rtt_min_ns = 2 * MS;
	req.cwnd_floor = 8;
	lose_one();
	EXPECT(req.slow.win);
}

TEST(req_delay__answers_to_reads_say_as_much)
{
	begin_at(SRDMA_WR_READ, 1 * MS, 20 * MS);
	req.cwnd_floor = 1;
	srdma_req_note_loss(&req);
	EXPECT(req.slow.win);
	EXPECT_EQ(req.delay.full_ns, 20 * MS);
}

/* Where packets overtake each other, trips differ, and what is missed may be late. */
TEST(req_delay__says_little_where_the_order_changes)
{
	begin_at(SRDMA_WR_WRITE, 1 * MS, 20 * MS);
	req.reorders = 8;
	lose_one();
	EXPECT_EQ(req.slow.win, 0);
	EXPECT_EQ(req.delay.full_ns, 0);
}

/* But once may be a mistake. */
TEST(req_delay__says_as_much_though_the_order_seemed_to_change)
{
	begin_slow_line();
	req.srtt_ns = 2500 * US;
	req.rtt_min_ns = 2 * MS;
	req.delay.top_ns = 2500 * US;
	req.reorders = 4;
	/* The loss shows that it did not. */
	lose_one();
	EXPECT(req.slow.win);
	EXPECT_EQ(req.delay.full_ns, 2500 * US);
}

/* On a long path, too, whoever has had much repeated fills a queue. */
TEST(req_delay__who_overfills_a_queue_loses_nothing_by_chance)
{
	begin_at(SRDMA_WR_WRITE, 10 * MS, 12 * MS);
	req.stamp = 1;
	EXPECT(srdma_req_delay_by_chance(&req));
	req.overfills = true;
	EXPECT(!srdma_req_delay_by_chance(&req));
	lose_one();
	EXPECT(req.slow.win);
	/* But a short path has none that matters. */
	begin_at(SRDMA_WR_WRITE, 10 * US, 1 * MS - 1);
	req.overfills = true;
	lose_one();
	EXPECT_EQ(req.slow.win, 0);
}

TEST(req_delay__three_quarters_are_too_long)
{
	uint32_t win;

	begin_at(SRDMA_WR_WRITE, 5 * MS, 20 * MS);
	lose_one();
	win = req.slow.win;
	req.slow.is_cut = false;
	trip(16250 * US);
	EXPECT_EQ(req.slow.win, win);
	EXPECT_EQ(req.delay.full_ns, 20 * MS);
	req.slow.is_cut = false;
	trip(16250 * US + 1);
	EXPECT_EQ(req.slow.win, win - win / 4);
	EXPECT_EQ(req.delay.full_ns, 20 * MS + 20 * MS / 128);
	/* Once for what is in flight. */
	req.slow.is_cut = true;
	req.slow.end_psn = psn(1000);
	trip(18 * MS);
	EXPECT_EQ(req.slow.win, win - win / 4);
	EXPECT_EQ(req.delay.full_ns, 20 * MS + 20 * MS / 128);
}

/* Of a queue that trips of 20 ms fill, and 4 ms do not: with @packets, is @took too long? */
static bool gives_way(uint32_t packets, uint64_t took)
{
	begin_at(SRDMA_WR_WRITE, 4 * MS, 20 * MS);
	lose_one();
	req.slow.win = packets * PACKET;
	req.slow.is_cut = false;
	trip(took);
	return req.slow.win < packets * PACKET;
}

TEST(req_delay__who_has_much_in_flight_gives_way_sooner)
{
	EXPECT(!gives_way(1, 16 * MS));
	EXPECT(gives_way(1, 16 * MS + 1));
	EXPECT(!gives_way(24, 16 * MS));
	EXPECT(gives_way(24, 16 * MS + 1));
	EXPECT(!gives_way(56, 14 * MS));
	EXPECT(gives_way(56, 14 * MS + 1));
	EXPECT(!gives_way(152, 8 * MS));
	EXPECT(gives_way(152, 8 * MS + 1));
	EXPECT(!gives_way(1000, 8 * MS));
	EXPECT(gives_way(1000, 8 * MS + 1));
}

/* Trips of @took, each of which is too long: how much longer may they be after @n? */
static uint64_t longer_after(uint32_t n, uint64_t took)
{
	uint64_t full = req.delay.full_ns;
	uint32_t i;

	for (i = 0; i < n; i++) {
		full = req.delay.full_ns;
		req.slow.is_cut = false;
		trip(took);
	}
	return full / (req.delay.full_ns - full);
}

TEST(req_delay__who_is_not_heeded_gives_way_less_and_less)
{
	begin_slow_line();
	lose_one();
	req.slow.win = 20 * PACKET;
	EXPECT_EQ(longer_after(1, 19 * MS), 128);
	EXPECT_EQ(longer_after(1, 19 * MS), 64);
	EXPECT_EQ(longer_after(1, 19 * MS), 32);
	EXPECT_EQ(longer_after(1, 20 * MS), 16);
	EXPECT_EQ(longer_after(1, 20 * MS), 8);
	EXPECT_EQ(longer_after(1, 22 * MS), 8);
	/* A trip that was not too long, and all in flight has come. */
	req.slow.is_cut = false;
	req.slow.end_psn = req.una_psn;
	trip(2 * MS);
	EXPECT_EQ(longer_after(1, 25 * MS), 128);
}

/* The queue is not too long for a period, with @win in the window: what is forgotten. */
static uint64_t forgotten(uint32_t win)
{
	uint64_t full = req.delay.full_ns;

	req.slow.win = win;
	srdma_req_delay_calm(&req);
	return full - req.delay.full_ns;
}

TEST(req_delay__one_of_many_forgets_what_it_has_not_seen)
{
	const uint64_t ms = MS;

	begin_slow_line();
	lose_one();
	EXPECT_EQ(forgotten(PACKET / 2), 0);
	req.slow.win = 20 * PACKET;
	EXPECT_EQ(longer_after(1, 19 * ms), 128);
	EXPECT_EQ(longer_after(1, 19 * ms), 64);
	EXPECT_EQ(req.delay.more_ns, req.delay.full_ns - 20 * ms);
	EXPECT_EQ(forgotten(4 * PACKET + 1), 0);
	req.delay.full_ns = 20480000;
	EXPECT_EQ(forgotten(4 * PACKET), 20480000 >> 13);
	req.delay.full_ns = 20480000;
	req.delay.more_ns = 480000;
	EXPECT_EQ(forgotten(2 * PACKET), 20000);
	EXPECT_EQ(forgotten(PACKET), 20460000 >> 8);
	EXPECT_EQ(req.delay.more_ns, 460000 - (20460000 >> 8));
	EXPECT_EQ(forgotten(PACKET - 1), (20460000 - (20460000 >> 8)) >> 7);
	/* And no more than that. */
	while (forgotten(PACKET / 2))
		;
	EXPECT_EQ(req.delay.full_ns, 20 * ms);
	EXPECT_EQ(req.delay.more_ns, 0);
}

TEST(req_delay__what_was_seen_is_not_forgotten)
{
	begin_slow_line();
	lose_one();
	req.delay.full_ns = 24 * MS;
	req.delay.more_ns = 4 * MS;
	req.slow.is_cut = true;
	/* Of 20 ms to 22.4, and of 24 ms nothing. */
	trip(22400 * US);
	EXPECT_EQ(req.delay.full_ns, 24 * MS);
	EXPECT_EQ(req.delay.more_ns, 3700 * US);
	trip(28 * MS);
	EXPECT_EQ(req.delay.full_ns, 24500 * US);
	EXPECT_EQ(req.delay.more_ns, 24500 * US - (20300 + 7700 / 8) * US - US / 2);
	/* A loss says what it is: nothing of that is a guess. */
	req.recovering = false;
	srdma_req_note_loss(&req);
	EXPECT_EQ(req.delay.more_ns, 0);
}

/* A calm period is one in which it grows. */
TEST(req_delay__forgets_in_each_calm_period)
{
	begin_slow_line();
	lose_one();
	req.delay.full_ns = 24 * MS;
	req.delay.more_ns = 4 * MS;
	req.slow.win = PACKET;
	req.slow.is_cut = false;
	req.slow.end_psn = req.una_psn;
	trip(2 * MS);
	EXPECT_EQ(req.delay.full_ns, 24 * MS - (24 * MS >> 8));
	req.slow.is_cut = true;
	req.slow.win = PACKET;
	req.slow.end_psn = req.una_psn;
	trip(2 * MS);
	EXPECT_EQ(req.delay.full_ns, 24 * MS - (24 * MS >> 8));
}

TEST(req_delay__who_has_measured_nothing_goes_by_what_is_known)
{
	begin_slow_line();
	req.delay.top_ns = 0;
	lose_one();
	EXPECT_EQ(req.delay.full_ns, 20 * MS);
	req.recovering = false;
	req.delay.full_ns = 24 * MS;
	srdma_req_note_loss(&req);
	EXPECT_EQ(req.delay.full_ns, 24 * MS);
}

/* One that is longer than when it was full: so there is more room. */
TEST(req_delay__a_longer_trip_shows_a_longer_queue)
{
	begin_slow_line();
	lose_one();
	req.slow.is_cut = true;
	trip(28 * MS);
	EXPECT_EQ(req.delay.full_ns, 21 * MS);
	trip(29 * MS);
	EXPECT_EQ(req.delay.full_ns, 22 * MS);
}

/* One that waited for a CPU says little. */
TEST(req_delay__a_trip_that_was_stalled_shows_no_queue)
{
	begin_slow_line();
	req.delay.top_ns = 0;
	srdma_req_delay_measured(&req, 100 * MS);
	EXPECT_EQ(req.delay.top_ns, 40 * MS);
	req.delay.full_ns = 24 * MS;
	req.slow.win = 4 * PACKET;
	req.slow.is_cut = true;
	srdma_req_delay_measured(&req, 100 * MS);
	EXPECT_EQ(req.delay.full_ns, 26 * MS);
	/* The first of all is all that is known. */
	req.srtt_ns = 0;
	req.rtt_min_ns = 0;
	req.delay.full_ns = 0;
	srdma_req_delay_measured(&req, 100 * MS);
	EXPECT_EQ(req.delay.top_ns, 100 * MS);
}

TEST(req_delay__a_loss_says_how_long_it_really_is)
{
	begin_slow_line();
	lose_one();
	EXPECT_EQ(req.delay.full_ns, 20 * MS);
	req.recovering = false;
	req.delay.top_ns = 10 * MS;
	srdma_req_note_loss(&req);
	EXPECT_EQ(req.delay.full_ns, 15 * MS);
	req.recovering = false;
	req.delay.top_ns = 40 * MS;
	srdma_req_note_loss(&req);
	EXPECT_EQ(req.delay.full_ns, 40 * MS);
	/* None was measured since. */
	req.recovering = false;
	srdma_req_note_loss(&req);
	EXPECT_EQ(req.delay.full_ns, 40 * MS);
}

/*
 * A queue of 20 ms has overflowed behind a path of 10 ms that holds 30 packets. Since
 * then the longest trip took 16 ms, and 32 packets are in flight again.
 */
static void begin_long_path(void)
{
	begin_at(SRDMA_WR_WRITE, 10 * MS, 30 * MS);
	srdma_req_note_loss(&req);
	REQUIRE(req.delay.full_ns == 30 * MS);
	req.recovering = false;
	req.stamp = 1;
	req.delay.holds = 30;
	req.delay.top_ns = 16 * MS;
	req.srtt_ns = 11 * MS;
	req.cwnd_floor = 9;
	req.cwnd = 32;
	req.ssthresh = 32;
	req.slow.win = 30 * PACKET;
}

/* More than half of the queue was empty: whatever lost it, that did not. */
TEST(req_delay__losses_by_chance_leave_a_long_path_full)
{
	begin_long_path();
	srdma_req_note_loss(&req);
	EXPECT_EQ(req.cwnd, 20);
	EXPECT_EQ(req.ssthresh, 20);
	EXPECT_EQ(req.slow.win, 30 * PACKET);
	EXPECT_EQ(req.delay.full_ns, 30 * MS);
	EXPECT_EQ(req.delay.top_ns, 0);
	/* Since the next one no trip was measured. */
	req.recovering = false;
	req.cwnd = 32;
	srdma_req_note_loss(&req);
	EXPECT_EQ(req.cwnd, 29);
	/* What is sent is not what gets through. */
	begin_long_path();
	req.delay.holds = 18;
	srdma_req_note_loss(&req);
	EXPECT_EQ(req.cwnd, 18);
	/* Nor is less left than ever. */
	begin_long_path();
	req.delay.holds = 3;
	srdma_req_note_loss(&req);
	EXPECT_EQ(req.cwnd, 16);
}

TEST(req_delay__losses_by_chance_before_any_congestion)
{
	static const uint8_t ops[] = { SRDMA_WR_WRITE, SRDMA_WR_READ };
	uint32_t i;

	for (i = 0; i < 2; i++) {
		begin_at(ops[i], 10 * MS, 12 * MS + 500 * US);
		req.stamp = ops[i] == SRDMA_WR_WRITE;
		req.delay.holds = 30;
		req.cwnd_floor = 9;
		req.cwnd = 30;
		srdma_req_note_loss(&req);
		EXPECT_EQ(req.cwnd, 24);
		EXPECT_EQ(req.delay.full_ns, 0);
		EXPECT(!req.slow.win);
	}
	/* The queue is as short as ever: all that is on the way may stay. */
	begin_at(SRDMA_WR_WRITE, 10 * MS, 9 * MS);
	req.stamp = 1;
	req.delay.holds = 40;
	req.cwnd_floor = 9;
	req.cwnd = 30;
	srdma_req_note_loss(&req);
	EXPECT_EQ(req.cwnd, 30);
	EXPECT_EQ(req.ssthresh, 30);
}

TEST(req_delay__what_is_no_chance)
{
	/* The queue was more than half full since the last loss, or before that. */
	begin_long_path();
	req.delay.top_ns = 20 * MS;
	EXPECT(!srdma_req_delay_by_chance(&req));
	req.delay.top_ns = 20 * MS - 1;
	EXPECT(srdma_req_delay_by_chance(&req));
	req.delay.top_ns = 0;
	EXPECT(srdma_req_delay_by_chance(&req));
	req.srtt_ns = 20 * MS;
	EXPECT(!srdma_req_delay_by_chance(&req));
	req.srtt_ns = 20 * MS - 1;
	EXPECT(srdma_req_delay_by_chance(&req));
	/* Few get through: others may have filled it. */
	req.cwnd_floor = 8;
	EXPECT(!srdma_req_delay_by_chance(&req));
	req.cwnd_floor = 9;
	EXPECT(srdma_req_delay_by_chance(&req));
	/* Who is told by marks knows of no queue. */
	req.delay.full_ns = 0;
	req.srtt_ns = 10 * MS;
	EXPECT(!srdma_req_delay_by_chance(&req));
	req.slow.win = 0;
	EXPECT(srdma_req_delay_by_chance(&req));
	/* A queue that may have overflowed for the first time. */
	req.srtt_ns = 30 * MS;
	EXPECT(!srdma_req_delay_by_chance(&req));
	/* To a peer that holds nothing back. */
	req.srtt_ns = 10 * MS;
	EXPECT(srdma_req_delay_by_chance(&req));
	req.stamp = 0;
	EXPECT(!srdma_req_delay_by_chance(&req));
	req.stamp = 1;
	/* Short paths have other rules. */
	req.srtt_ns = 2 * MS;
	req.rtt_min_ns = 1 * MS;
	EXPECT(srdma_req_delay_by_chance(&req));
	req.rtt_min_ns--;
	EXPECT(!srdma_req_delay_by_chance(&req));
	/* READs have the same, of any peer. */
	begin_at(SRDMA_WR_READ, 10 * MS, 25 * MS);
	EXPECT(srdma_req_delay_by_chance(&req));
	req.srtt_ns++;
	EXPECT(!srdma_req_delay_by_chance(&req));
}

/* @packets get through in a trip of @took. */
static void pass(uint32_t packets, uint64_t took)
{
	uint32_t last = srdma_psn_add(req.una_psn, packets - 1);

	srdma_req_time_trip(&req, last, false, now);
	now += took;
	ack((last - FIRST) & 0xffffff);
}

/* In a trip that took three times the shortest a third of what passed is the path's. */
TEST(req_delay__what_a_long_path_holds)
{
	begin_at(SRDMA_WR_WRITE, 10 * MS, 20 * MS);
	pass(30, 30 * MS);
	EXPECT_EQ(req.delay.holds, 5);
	req.cwnd = 32;
	send_paced();
	pass(18, 20 * MS);
	EXPECT_EQ(req.delay.holds, 7);
	/* A trip that began when little was on the way says nothing, */
	send_paced();
	pass(3, 10 * MS + 10 * MS / 32);
	EXPECT_EQ(req.delay.holds, 7);
	/* if no queue made it longer. */
	send_paced();
	pass(3, 10 * MS + 10 * MS / 32 + 1);
	EXPECT_EQ(req.delay.holds, 6);
	begin_at(SRDMA_WR_WRITE, 10 * US, 20 * US);
	pass(30, 30 * US);
	EXPECT_EQ(req.delay.holds, 0);
}

/* A trip that is a quarter longer says no more of how much passes than the ones before. */
TEST(req_delay__what_passes_of_a_long_path_is_known)
{
	begin_at(SRDMA_WR_WRITE, 10 * MS, 12 * MS);
	req.stamp = 1;
	req.delay.holds = 200;
	pass(4, 13 * MS);
	EXPECT_EQ(req.delay.holds, 151);
	EXPECT_EQ(req.cwnd_floor, 15);
	begin_at(SRDMA_WR_WRITE, 10 * MS, 12 * MS);
	req.delay.holds = 200;
	pass(26, 13 * MS);
	EXPECT_EQ(req.cwnd_floor, 2);
	/* In a trip as short as any there is no queue, unless much is lost. */
	begin_at(SRDMA_WR_WRITE, 10 * MS, 12 * MS);
	pass(26, 12 * MS);
	EXPECT_EQ(req.cwnd_floor, 32);
	begin_at(SRDMA_WR_WRITE, 10 * MS, 12 * MS);
	req.overfills = true;
	pass(26, 12 * MS);
	EXPECT_EQ(req.cwnd_floor, 2);
}

/* What is sent again would make it longer. */
TEST(req_delay__a_loss_ends_a_long_trip_that_is_measured)
{
	begin_at(SRDMA_WR_WRITE, 1 * MS, 1 * MS);
	req.stamp = 1;
	srdma_req_time_trip(&req, psn(20), false, now);
	srdma_req_note_loss(&req);
	EXPECT(!req.rtt_timed);
	begin_at(SRDMA_WR_WRITE, 1 * MS - 1, 1 * MS);
	req.stamp = 1;
	srdma_req_time_trip(&req, psn(20), false, now);
	srdma_req_note_loss(&req);
	EXPECT(req.rtt_timed);
}

/* Once it is known, it may be told again that it fills; but not by a single trip. */
TEST(req_delay__begins_again_when_trips_are_long)
{
	begin_slow_line();
	lose_one();
	req.slow.win = 0;
	send_all();
	req.srtt_ns = 2 * MS;
	srdma_req_time_trip(&req, req.una_psn, false, now);
	now += 19 * MS;
	ack((req.una_psn - FIRST) & 0xffffff);
	EXPECT_EQ(req.slow.win, 0);
	trip(19 * MS);
	EXPECT(req.slow.win);
}

/* In which nobody complains, and all in flight comes. */
static void calm_trip(uint64_t took)
{
	req.slow.is_cut = false;
	req.slow.end_psn = req.una_psn;
	trip(took);
}

/* Who no longer gave way would have the queue for itself. */
TEST(req_delay__lasts_as_long_as_there_is_a_queue)
{
	begin_slow_line();
	lose_one();
	req.rtt_min_ns = 4 * MS;
	req.srtt_ns = 8 * MS + 1;
	EXPECT(srdma_req_delay_matters(&req));
	req.srtt_ns = 8 * MS;
	EXPECT(!srdma_req_delay_matters(&req));
	req.slow.win = 20 * PACKET;
	req.slow.calm = 100;
	calm_trip(9 * MS);
	EXPECT(req.slow.win);
	calm_trip(5 * MS);
	EXPECT_EQ(req.slow.win, 0);
}

/* It grew by @packets in a calm trip of @took, with a window of @win. */
static uint32_t grown_in(uint64_t took, uint32_t win)
{
	begin_slow_line();
	req.win_near = 10000;
	req.win_top = 10000;
	lose_one();
	req.cwnd = 1000;
	req.slow.win = win * PACKET;
	calm_trip(took);
	return req.slow.win - win * PACKET;
}

/* The shorter the queue, the longer the steps: for all the same. */
TEST(req_delay__steps_are_long_where_trips_are_short)
{
	EXPECT_EQ(grown_in(5 * MS, 100), PACKET);
	EXPECT_EQ(grown_in(2500 * US, 100), 4 * PACKET);
	EXPECT_EQ(grown_in(10 * MS, 24), PACKET / 4);
	/* But nobody grows by more than an eighth. */
	EXPECT_EQ(grown_in(2500 * US, 16), 2 * PACKET);
}

/* Where the queue marks, marks say it. */
TEST(req_delay__who_is_told_does_not_guess)
{
	begin_slow_line();
	lose_one();
	srdma_rc_req_congested(&req);
	EXPECT_EQ(req.delay.full_ns, 0);
}
