// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A requester whose peer is far away: round trips that are longer than the first
 * guess are found out, and the window fills the path.
 */
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

/* Else each trip would have its probe, and none would be measured. */
TEST(req_far__probes_end_when_trips_are_long)
{
	static const uint64_t trips[] = { 3 * MS, 10 * MS, 50 * MS, 300 * MS };
	struct srdma_rc_req_attr a = usual;
	uint32_t t, i, last;

	a.timeout = 20;
	for (t = 0; t < sizeof(trips) / sizeof(trips[0]); t++) {
		begin(&a);
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
	begin(NULL);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(probes_until(0, 3 * MS), 1);
	EXPECT_EQ(req.backoff, 0);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(req.deadline, now + 2 * MS);
	EXPECT_EQ(probes_until(1, 3 * MS), 1);
	EXPECT_EQ(req.backoff, 1);
}

/* Two of which one trip lies that was measured are two losses. */
TEST(req_far__a_trip_that_is_measured_ends_the_row)
{
	static const uint64_t trips[] = { 3 * MS, 1 * MS, 5 * MS };
	uint32_t i;

	begin(NULL);
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
	begin(NULL);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	probes_until(0, 3 * MS);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	nak(1, SRDMA_NAK_PSN_SEQ);
	send_all();
	probes_until(1, 3 * MS);
	EXPECT_EQ(req.backoff, 0);
}

TEST(req_far__so_does_a_hole_in_a_read)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	probes_until(0, 3 * MS);
	push(SRDMA_WR_READ, 3 * MTU, 0);
	send_all();
	EXPECT_EQ(read_resp(2, MTU), SRDMA_REQ_DROP_GAP);
	EXPECT(!req.probed);
}

/* A NAK in answer to what was sent before it went back says nothing new. */
TEST(req_far__naks_of_an_unknown_trip_are_copies)
{
	struct srdma_rc_req_attr a = usual;
	uint32_t i;

	a.timeout = 20;
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
	uint32_t count = send_all();

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
	trip(&step, 10 * MS);
	trip(&step, 10 * MS);
	EXPECT_EQ(trip(&step, 21 * MS), 160);
	EXPECT_EQ(trip(&step, 21 * MS), 160);
	EXPECT_EQ(trip(&step, 20 * MS), 160);
	EXPECT_EQ(trip(&step, 20 * MS), 320);
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
	}
	EXPECT_EQ(asked, 40);
}
