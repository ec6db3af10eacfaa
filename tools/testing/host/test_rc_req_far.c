// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A requester whose peer is far away: round trips that are longer than the first
 * guess are found out, and the window fills the path.
 */
#include "proto/rc_req_priv.h"
#include "req_fixture.h"

/* How many probes there are until, after @rtt, @step is acknowledged. */
static uint32_t probes_until(uint32_t step, uint64_t rtt)
{
	uint64_t at = now + rtt;
	uint32_t probes = 0;

	while (req.deadline && req.deadline < at) {
		if (expire() == SRDMA_TIMER_PROBE) {
			send_one();
			probes += burst.probe;
		}
	}
	now = at;
	ack(step);
	return probes;
}

/* A far peer, and time for it to answer: 4.3 s for the first time. */
static void begin_far(void)
{
	struct srdma_rc_req_attr a = usual;

	a.timeout = 20;
	begin(&a);
}

/* However long the way is, on Earth, nothing is sent twice. */
TEST(req_far__nothing_twice_before_a_trip_is_known)
{
	static const uint64_t trips[] = { 3 * MS, 10 * MS, 50 * MS, 300 * MS };
	uint32_t t, i;

	for (t = 0; t < sizeof(trips) / sizeof(trips[0]); t++) {
		begin_far();
		for (i = 0; i < 4; i++) {
			push(SRDMA_WR_SEND, MTU, SRDMA_WR_SIGNALED);
			send_all();
			EXPECT_EQ(probes_until(i, trips[t]), 0);
			while (retired())
				;
		}
		EXPECT(req.srtt_ns > trips[t] * 9 / 10 &&
		       req.srtt_ns <= trips[t]);
	}
}

/* Nor a READ, the first of which may take long to come in. */
TEST(req_far__a_read_is_not_asked_for_twice)
{
	begin_far();
	push(SRDMA_WR_READ, 2 * MTU, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(req.deadline, now + 1000 * MS);
	now += 300 * MS;
	EXPECT_EQ(read_resp(0, MTU), SRDMA_REQ_PLACE);
	placed();
	EXPECT_EQ(req.srtt_ns, 300 * MS);
	EXPECT_EQ(req.deadline, now + 900 * MS);
}

/* Trips of @trip each; leaves a message that is on its way. */
static void take_trips(uint64_t trip)
{
	uint32_t i;

	begin_far();
	for (i = 0; i < 30; i++) {
		push(SRDMA_WR_SEND, MTU, SRDMA_WR_SIGNALED);
		send_all();
		if (i == 29)
			break;
		now += trip;
		ack(i);
		while (retired())
			;
	}
	EXPECT_EQ(req.srtt_ns, trip);
	EXPECT(req.rttvar_ns < trip / 8);
}

/* How long until it is asked again. */
static uint64_t until_probe(void)
{
	uint64_t from = now;

	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	send_one();
	EXPECT(burst.probe);
	return now - from;
}

/* One of many on a slow line: after half a trip more, and as soon twice again. */
TEST(req_far__is_asked_again_soon)
{
	take_trips(24 * MS);
	EXPECT_EQ(until_probe(), 36 * MS);
	EXPECT_EQ(until_probe(), 36 * MS);
	EXPECT_EQ(until_probe(), 36 * MS);
	EXPECT_EQ(until_probe(), 72 * MS);
}

/* What so many probes have shown is not taken back by another one. */
TEST(req_far__what_was_doubled_stays_so)
{
	take_trips(24 * MS);
	req.backoff = 1;
	ack(28);
	req.probe_at = srdma_req_next_probe(&req, now);
	EXPECT_EQ(req.probe_at, now + 72 * MS);
}

/* The peer may have to wait for a CPU, which a trip of 6 ms says nothing of. */
TEST(req_far__is_not_asked_again_while_a_peer_waits_for_a_cpu)
{
	take_trips(6 * MS);
	EXPECT_EQ(until_probe(), 10 * MS);
}

/* A shorter trip may have waited for a CPU, and the next one may again. */
TEST(req_far__a_short_trip_may_have_waited_for_a_cpu)
{
	uint64_t first;

	take_trips(4 * MS);
	first = until_probe();
	EXPECT(first >= 8 * MS && first < 9 * MS);
	EXPECT_EQ(until_probe(), first);
	EXPECT_EQ(until_probe(), 2 * first);
}

/* But what has not asked is going to: nobody answers it. */
TEST(req_far__quiet_packets_are_asked_about)
{
	begin_far();
	push(SRDMA_WR_SEND, MTU, 0);
	send_all();
	EXPECT_EQ(req.unasked, 1);
	EXPECT_EQ(req.deadline, now + 2 * MS);
	/* With more behind it, that will do. */
	push(SRDMA_WR_SEND, MTU, 0);
	push(SRDMA_WR_SEND, MTU, SRDMA_WR_SIGNALED);
	send_one();
	EXPECT_EQ(req.unasked, 2);
	EXPECT_EQ(req.deadline, now + 1000 * MS);
	send_one();
	EXPECT_EQ(req.unasked, 0);
	EXPECT_EQ(req.deadline, now + 1000 * MS);
}

/* Else each trip would have its probe, and none would be measured. */
TEST(req_far__probes_end_when_trips_are_long)
{
	static const uint64_t trips[] = { 1100 * MS, 1500 * MS, 3000 * MS };
	uint32_t t, i, last;

	for (t = 0; t < sizeof(trips) / sizeof(trips[0]); t++) {
		begin_far();
		for (i = 0; i < 8; i++) {
			push(SRDMA_WR_SEND, MTU, SRDMA_WR_SIGNALED);
			send_all();
			last = probes_until(i, trips[t]);
			while (retired())
				;
		}
		EXPECT_EQ(last, 0);
		EXPECT(req.srtt_ns > trips[t] * 9 / 10 &&
		       req.srtt_ns <= trips[t]);
	}
}

/* One probe, once: that was a loss, and the next one is not to wait longer. */
TEST(req_far__one_probe_is_a_loss)
{
	begin_far();
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(probes_until(0, 1500 * MS), 1);
	EXPECT_EQ(req.backoff, 0);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(req.deadline, now + 1000 * MS);
	EXPECT_EQ(probes_until(1, 1500 * MS), 1);
	EXPECT_EQ(req.backoff, 1);
}

/* Nor is it with the one before, if a trip was measured meanwhile. */
TEST(req_far__probes_between_measured_trips_are_losses)
{
	begin_far();
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(probes_until(0, 1500 * MS), 1);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(probes_until(1, 10 * MS), 0);
	EXPECT_EQ(req.srtt_ns, 10 * MS);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(probes_until(2, 45 * MS), 1);
	EXPECT_EQ(req.backoff, 0);
}

/* Who has to be asked by a probe each time is not slow. */
TEST(req_far__a_probe_for_quiet_packets_is_no_row)
{
	uint32_t i;

	begin_far();
	for (i = 0; i < 4; i++) {
		push(SRDMA_WR_SEND, MTU, 0);
		send_all();
		EXPECT_EQ(req.unasked, 1);
		EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
		send_one();
		EXPECT_EQ(req.probes, 0);
		now += 10 * US;
		EXPECT_EQ(ack(i), SRDMA_REQ_ACK);
		EXPECT_EQ(req.backoff, 0);
		expect_retired(i, SRDMA_ST_OK);
	}
	/* But to be asked, and to say nothing, is. */
	push(SRDMA_WR_SEND, MTU, 0);
	send_all();
	expire();
	send_one();
	expire();
	send_one();
	EXPECT_EQ(req.probes, 1);
}

/* Two of which one trip lies that was measured are two losses. */
TEST(req_far__a_trip_that_is_measured_ends_the_row)
{
	static const uint64_t trips[] = { 1500 * MS, 1 * MS, 5 * MS };
	uint32_t i;

	begin_far();
	for (i = 0; i < 3; i++) {
		push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
		send_all();
		EXPECT_EQ(probes_until(i, trips[i]), i != 1);
	}
	EXPECT_EQ(req.backoff, 0);
}

/* So is what a NAK tells of, however many times in a row. */
TEST(req_far__a_nak_says_that_it_was_lost)
{
	begin_far();
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	probes_until(0, 1500 * MS);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	nak(1, SRDMA_NAK_PSN_SEQ);
	send_all();
	probes_until(1, 1500 * MS);
	EXPECT_EQ(req.backoff, 0);
}

TEST(req_far__so_does_a_hole_in_a_read)
{
	begin_far();
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	probes_until(0, 1500 * MS);
	EXPECT(req.probed);
	push(SRDMA_WR_READ, 3 * MTU, 0);
	send_all();
	EXPECT_EQ(place_resp(2, MTU), SRDMA_REQ_PLACE);
	EXPECT(!req.probed);
}

/* A NAK in answer to what was sent before it went back says nothing new. */
TEST(req_far__naks_of_an_unknown_trip_are_copies)
{
	struct srdma_rc_req_attr a = usual;
	uint32_t i;

	a.timeout = 0;
	begin(&a);
	push(SRDMA_WR_SEND, 4 * MTU, 0);
	send_all();
	for (i = 0; i < 6; i++) {
		EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
		send_one();
	}
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	send_all();
	now += 20 * MS;
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_DROP_DUP);
	now += 100 * MS;
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
}

/* A NAK, too, comes no sooner than the first packet needs for its way. */
TEST(req_far__a_first_nak_says_how_far)
{
	begin_far();
	push(SRDMA_WR_SEND, 4 * MTU, SRDMA_WR_SIGNALED);
	send_all();
	now += 10 * MS;
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	send_all();
	EXPECT_EQ(req.deadline, now + 40 * MS);
	now += 20 * MS - 1;
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_DROP_DUP);
	/* Not a trip to reckon with: the first that is measured is. */
	now += 1;
	ack(3);
	EXPECT_EQ(req.srtt_ns, 20 * MS);
	EXPECT_EQ(req.rttvar_ns, 10 * MS);
}

/* Unless it may be to a second copy. */
TEST(req_far__a_first_nak_to_a_probe_says_nothing)
{
	begin_far();
	push(SRDMA_WR_SEND, 4 * MTU, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	send_one();
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	EXPECT_EQ(req.srtt_ns, 0);
	begin(NULL);
	push(SRDMA_WR_SEND, 4 * MTU, SRDMA_WR_SIGNALED);
	send_all();
	/* A probe is due, but there was no room for it. */
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	EXPECT_EQ(expire(), SRDMA_TIMER_RETRY);
	send_all();
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	EXPECT_EQ(req.srtt_ns, 0);
}

/* Where nothing is known, a NAK is a copy only if it comes at once. */
TEST(req_far__a_nak_is_no_copy_for_a_second)
{
	begin_far();
	push(SRDMA_WR_SEND, 4 * MTU, 0);
	send_all();
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	send_one();
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	send_all();
	now += 4 * MS;
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
}

/* The peer has refused the first copy: what answers the second is its own. */
TEST(req_far__what_was_refused_is_measured)
{
	begin_far();
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	now += 12 * MS;
	EXPECT_EQ(rnr(0, 1), SRDMA_REQ_RNR_WAIT);
	EXPECT_EQ(expire(), SRDMA_TIMER_RNR);
	send_all();
	EXPECT_EQ(probes_until(0, 10 * MS), 0);
	EXPECT_EQ(req.srtt_ns, 10 * MS);
	/* But that none is shorter is not known. */
	EXPECT_EQ(req.rtt_min_ns, 0);
}

static void send_and_wait(uint32_t len, uint64_t wait)
{
	push(SRDMA_WR_SEND, len, SRDMA_WR_SIGNALED);
	send_paced();
	now += wait;
}

/* All from @step on goes again. */
static void go_back_and_wait(uint32_t step, uint64_t wait)
{
	EXPECT_EQ(nak(step, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	send_paced();
	now += wait;
}

/* Unless that comes sooner than any answer can: then the first copy was only late. */
TEST(req_far__an_answer_to_a_late_first_copy_is_not_measured)
{
	begin_far();
	send_and_wait(1, 12 * MS);
	ack(0);
	EXPECT_EQ(req.rtt_min_ns, 12 * MS);
	EXPECT_EQ(req.srtt_ns, 12 * MS);
	send_and_wait(2 * MTU, 13 * MS);
	go_back_and_wait(1, MS);
	ack(2);
	EXPECT_EQ(req.rtt_min_ns, 12 * MS);
	EXPECT_EQ(req.srtt_ns, 12 * MS);
	/* One that may be its own is, but does not show how short the path is. */
	send_and_wait(2 * MTU, 12 * MS);
	go_back_and_wait(3, 20 * MS);
	ack(4);
	EXPECT_EQ(req.rtt_min_ns, 12 * MS);
	EXPECT_EQ(req.srtt_ns, 13 * MS);
}

TEST(req_far__a_second_copy_is_no_shortest_trip)
{
	begin_far();
	send_and_wait(1, 12 * MS);
	go_back_and_wait(0, MS);
	ack(0);
	EXPECT_EQ(req.rtt_min_ns, 0);
}

/* ---- the window ---- */

static void begin_wide(void)
{
	struct srdma_rc_req_attr a = usual;

	a.max_inflight = 400 * MTU;
	a.near_inflight = 40 * MTU;
	begin(&a);
	/* Bursts are not cut short by the window. */
	limit.packets = 1;
}

/* Sends what the window allows, and has all acknowledged after @rtt. */
static uint32_t trip(uint32_t *step, uint64_t rtt)
{
	uint32_t count = send_paced();

	now += rtt;
	*step += count;
	ack(*step - 1);
	return count;
}

TEST(req_far__window_follows_the_distance)
{
	uint32_t step = 0;

	begin_wide();
	push(SRDMA_WR_WRITE, 4000 * MTU, 0);
	EXPECT_EQ(req.cwnd, 40);
	EXPECT_EQ(trip(&step, 10 * MS), 40);
	EXPECT_EQ(trip(&step, 10 * MS), 80);
	EXPECT_EQ(trip(&step, 10 * MS), 160);
	EXPECT_EQ(trip(&step, 10 * MS), 320);
	/* No further than it is allowed. */
	EXPECT_EQ(trip(&step, 10 * MS), 400);
	EXPECT_EQ(trip(&step, 10 * MS), 400);
}

TEST(req_far__not_when_a_queue_makes_it_long)
{
	uint32_t step = 0;

	begin_wide();
	push(SRDMA_WR_WRITE, 4000 * MTU, 0);
	EXPECT_EQ(trip(&step, 10 * MS), 40);
	EXPECT_EQ(req.win_top, 160);
	/* More is in it than on the path: too much. Twice what the path holds remains. */
	EXPECT_EQ(trip(&step, 21 * MS), 80);
	EXPECT_EQ(req.win_top, 76);
	EXPECT_EQ(trip(&step, 21 * MS), 76);
	EXPECT_EQ(req.win_top, 72);
	EXPECT_EQ(trip(&step, 20 * MS), 72);
	EXPECT_EQ(req.win_top, 72);
	/* Never less than on a short path. */
	EXPECT_EQ(trip(&step, 100 * MS), 72);
	EXPECT_EQ(req.win_top, 40);
	EXPECT_EQ(trip(&step, 100 * MS), 40);
}

/* It is to double in the next trip as well, but not into a queue. */
TEST(req_far__further_as_long_as_nothing_waits)
{
	uint32_t step = 0;

	begin_wide();
	push(SRDMA_WR_WRITE, 4000 * MTU, 0);
	trip(&step, 10 * MS);
	EXPECT_EQ(trip(&step, 13 * MS), 80);
	EXPECT_EQ(req.win_top, 160);
	EXPECT_EQ(trip(&step, 12 * MS), 160);
	EXPECT_EQ(req.win_top, 400);
}

TEST(req_far__not_when_it_is_near)
{
	uint32_t step = 0;

	begin_wide();
	push(SRDMA_WR_WRITE, 4000 * MTU, 0);
	trip(&step, 100 * US);
	EXPECT_EQ(trip(&step, 100 * US), 40);
	/* It was near once: so it is a queue. */
	EXPECT_EQ(trip(&step, 10 * MS), 40);
	EXPECT_EQ(trip(&step, 10 * MS), 40);
}

TEST(req_far__asks_as_often_as_on_a_short_path)
{
	uint32_t step = 0, asked = 0;

	begin_wide();
	limit.packets = 2;
	push(SRDMA_WR_WRITE, 4000 * MTU, 0);
	while (trip(&step, 10 * MS) < 400)
		;
	while (next() == SRDMA_NEXT_SEND) {
		asked += burst.b.ack_req;
		sent();
		req.slow.next_at = 0;
	}
	EXPECT_EQ(asked, 40);
}

/* A path of 10 ms, the peer of which has reported a loss; 40 packets are in flight. */
static void begin_long(void)
{
	uint32_t step = 0;

	begin_wide();
	push(SRDMA_WR_WRITE, 4000 * MTU, 0);
	trip(&step, 10 * MS);
	trip(&step, 10 * MS);
	EXPECT_EQ(req.cwnd, 160);
	limit.packets = 40;
	send_one();
	req.stamp = 1;
	req.cwnd_floor = 1;
}

/* What goes at once may overflow a queue that is not full. */
TEST(req_far__packets_are_spread_over_a_long_path)
{
	begin_long();
	req.stamp = 0;
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 40);
	/* But of who may have to send all that again, nothing is held up. */
	req.stamp = 1;
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 20);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_PACE);
	/* A little sooner, for a timer comes late. */
	EXPECT_EQ(req.deadline, now + 10 * MS / 8 * 3 / 4 - 250 * US);
	now = req.deadline;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_PACE);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 20);
	req.rtt_min_ns = 8 * MS - 1;
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 40);
}

/* How many of @packets are left when congestion, which made trips longer by a quarter, is told? */
static uint32_t left_of(uint32_t packets)
{
	req.slow.win = packets * SRDMA_SLOW_PACKET;
	req.slow.is_cut = false;
	req.delay.top_ns = req.rtt_min_ns / 4 * 5;
	req.srtt_ns = req.rtt_min_ns;
	srdma_rc_req_congested(&req);
	return req.slow.win / SRDMA_SLOW_PACKET;
}

/* What is on the path, and not in its queue, stays there. */
TEST(req_far__a_long_path_is_left_full)
{
	begin_long();
	req.delay.holds = 90;
	EXPECT_EQ(left_of(100), 80);
	req.delay.holds = 77;
	EXPECT_EQ(left_of(100), 77);
	/* If more than a quarter was in the queue, a quarter is enough. */
	req.delay.holds = 60;
	EXPECT_EQ(left_of(100), 75);
	/* Who has little may be one of many, and the queue be what is long. */
	req.delay.holds = 32;
	EXPECT_EQ(left_of(40), 32);
	EXPECT_EQ(left_of(31), 23);
	req.rtt_min_ns = 8 * MS - 1;
	req.delay.holds = 90;
	EXPECT_EQ(left_of(100), 75);
}

/* A queue that marks does so for some time after it is empty. */
TEST(req_far__what_was_in_the_queue_leaves_it_once)
{
	begin_long();
	req.delay.holds = 90;
	EXPECT_EQ(left_of(100), 80);
	req.slow.is_cut = false;
	srdma_rc_req_congested(&req);
	EXPECT_EQ(req.slow.win / SRDMA_SLOW_PACKET, 80);
	/* What overflows is known of a loss. */
	begin_long();
	req.delay.full_ns = 20 * MS;
	req.delay.top_ns = 15 * MS;
	req.slow.win = 100 * SRDMA_SLOW_PACKET;
	srdma_req_slow_told(&req);
	EXPECT_EQ(req.delay.top_ns, 15 * MS);
}

/* That took so long because something had to come again: no queue is as long. */
TEST(req_far__what_is_repeated_makes_no_longer_queue)
{
	begin_long();
	req.delay.full_ns = 20 * MS;
	req.recovering = true;
	srdma_req_delay_measured(&req, 24 * MS);
	EXPECT_EQ(req.delay.full_ns, 20 * MS);
	EXPECT_EQ(req.delay.top_ns, 10 * MS);
	req.rtt_min_ns = 8 * MS - 1;
	srdma_req_delay_measured(&req, 16 * MS);
	EXPECT_EQ(req.delay.top_ns, 16 * MS);
	begin_long();
	srdma_req_delay_measured(&req, 16 * MS);
	EXPECT_EQ(req.delay.top_ns, 16 * MS);
	/* Who holds nothing back has all that follows sent again. */
	begin_long();
	req.recovering = true;
	req.stamp = 0;
	srdma_req_delay_measured(&req, 16 * MS);
	EXPECT_EQ(req.delay.top_ns, 16 * MS);
}

/* So much does the window grow when all of it is acknowledged. */
static uint32_t grown_above(uint64_t min, uint64_t rtt)
{
	uint32_t step = 0;

	begin_wide();
	push(SRDMA_WR_WRITE, 4000 * MTU, 0);
	req.cwnd = 40;
	req.ssthresh = 40;
	trip(&step, min);
	req.cwnd = 40;
	trip(&step, min);
	req.srtt_ns = rtt;
	req.cwnd = 40;
	req.acked_frac = 0;
	srdma_req_note_progress(&req, 40, now);
	return req.cwnd - 40;
}

/* Without a queue there is more room than that of a loss at the start, where all goes at once. */
TEST(req_far__a_long_path_is_filled_sooner)
{
	EXPECT_EQ(grown_above(8 * MS, 10 * MS), 10);
	EXPECT_EQ(grown_above(8 * MS, 10 * MS + 1), 5);
	EXPECT_EQ(grown_above(8 * MS - 1, 8 * MS), 5);
	grown_above(8 * MS, 8 * MS);
	/* What overtakes other packets is neither. */
	req.reorders = 2 * SRDMA_REQ_REORDERS;
	req.cwnd = 40;
	req.acked_frac = 0;
	srdma_req_note_progress(&req, 40, now);
	EXPECT_EQ(req.cwnd, 45);
}

TEST(req_far__a_loss_leaves_a_long_path_full)
{
	begin_long();
	left_of(100);
	req.delay.holds = 30;
	req.cwnd = 40;
	srdma_req_note_loss(&req);
	EXPECT_EQ(req.cwnd, 30);
	begin_long();
	left_of(100);
	req.delay.holds = 90;
	req.slow.win = 100 * SRDMA_SLOW_PACKET;
	req.delay.top_ns = req.rtt_min_ns / 4 * 5;
	srdma_req_slow_loss(&req);
	EXPECT_EQ(req.slow.win, 80 * SRDMA_SLOW_PACKET);
	/* Not if all that follows has to be sent again. */
	begin_long();
	left_of(100);
	req.stamp = 0;
	req.delay.holds = 30;
	req.cwnd = 40;
	srdma_req_note_loss(&req);
	EXPECT_EQ(req.cwnd, 20);
}
