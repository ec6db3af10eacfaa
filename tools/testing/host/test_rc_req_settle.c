// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Results of atomics, and bursts, that come together: what they ask for is done once,
 * when the caller says that it has no more.
 */
#include "req_fixture.h"

static void begin_settling(const struct srdma_rc_req_attr *a)
{
	struct srdma_rc_req_attr attr = a ? *a : usual;

	attr.settles = true;
	begin(&attr);
}

static void settle(void)
{
	srdma_rc_req_settle(&req, now);
}

/* So many FetchAdds, of which nothing waits for anything. */
static void send_atomics(uint32_t count)
{
	while (count--)
		push(SRDMA_WR_FETCH_ADD, 8, 0);
	send_all();
	settle();
}

static void take_result(uint32_t step)
{
	EXPECT_EQ(atomic_ack(step, 100 + step), SRDMA_REQ_ATOMIC);
	EXPECT_EQ(act.idx, step);
	EXPECT_EQ(act.orig, 100 + step);
	placed();
}

TEST(req_settle__results_complete_their_requests_together)
{
	uint32_t i;

	begin_settling(NULL);
	send_atomics(4);
	for (i = 0; i < 3; i++)
		take_result(i);
	EXPECT(!retired());
	EXPECT_EQ(req.una_psn, psn(0));
	settle();
	EXPECT_EQ(req.una_psn, psn(3));
	EXPECT_EQ(req.rd_out, 1);
	for (i = 0; i < 3; i++)
		expect_retired(i, SRDMA_ST_OK);
	EXPECT(!retired());
	take_result(3);
	settle();
	expect_retired(3, SRDMA_ST_OK);
	EXPECT_EQ(req.deadline, 0);
}

TEST(req_settle__without_it_each_result_completes_at_once)
{
	begin(NULL);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	send_all();
	take_result(0);
	expect_retired(0, SRDMA_ST_OK);
	take_result(1);
	expect_retired(1, SRDMA_ST_OK);
}

TEST(req_settle__a_result_behind_one_that_is_missing)
{
	begin_settling(NULL);
	send_atomics(4);
	take_result(0);
	/* The one in front is lost, and is asked for. */
	take_result(2);
	EXPECT_EQ(req.una_psn, psn(1));
	expect_retired(0, SRDMA_ST_OK);
	EXPECT(!retired());
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(1, 1, 0, 8, SRDMA_RC_FETCH_ADD);
	EXPECT(burst.b.resend);
	sent();
	take_result(1);
	/* It has come already. */
	EXPECT_EQ(atomic_ack(2, 102), SRDMA_REQ_DROP_GHOST);
	take_result(3);
	settle();
	expect_retired(1, SRDMA_ST_OK);
	expect_retired(2, SRDMA_ST_OK);
	expect_retired(3, SRDMA_ST_OK);
}

TEST(req_settle__a_result_that_comes_again)
{
	begin_settling(NULL);
	send_atomics(3);
	take_result(0);
	take_result(1);
	EXPECT_EQ(atomic_ack(1, 101), SRDMA_REQ_DROP_GHOST);
	EXPECT_EQ(atomic_ack(0, 100), SRDMA_REQ_DROP_GHOST);
	take_result(2);
	settle();
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
	expect_retired(2, SRDMA_ST_OK);
}

/* It had come before the one in front of it. */
TEST(req_settle__a_result_that_came_early_comes_again)
{
	begin_settling(NULL);
	send_atomics(2);
	take_result(1);
	EXPECT(!retired());
	take_result(0);
	EXPECT_EQ(atomic_ack(1, 101), SRDMA_REQ_DROP_GHOST);
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
}

TEST(req_settle__other_answers_find_all_done)
{
	begin_settling(NULL);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	push(SRDMA_WR_WRITE, 8, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_READ, 8, 0);
	send_all();
	take_result(0);
	take_result(1);
	EXPECT_EQ(ack(2), SRDMA_REQ_ACK);
	EXPECT_EQ(req.una_psn, psn(3));
	EXPECT_EQ(read_resp(3, 8), SRDMA_REQ_PLACE);
	placed();
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
	expect_retired(2, SRDMA_ST_OK);
	expect_retired(3, SRDMA_ST_OK);
}

TEST(req_settle__a_nak_leaves_what_has_its_result)
{
	begin_settling(NULL);
	send_atomics(3);
	take_result(0);
	take_result(1);
	EXPECT_EQ(nak(2, SRDMA_NAK_REM_ACCESS), SRDMA_REQ_FAILED);
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
	expect_retired(2, SRDMA_ST_REM_ACCESS);
}

/* What has come of a READ behind them is counted until una comes to it. */
TEST(req_settle__results_in_front_of_data)
{
	begin_settling(NULL);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	push(SRDMA_WR_READ, 3 * MTU, 0);
	send_all();
	settle();
	EXPECT_EQ(place_resp(2, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(place_resp(3, MTU), SRDMA_REQ_PLACE);
	settle();
	EXPECT_EQ(req.ahead, 2);
	take_result(0);
	take_result(1);
	settle();
	EXPECT_EQ(req.una_psn, psn(4));
	EXPECT_EQ(req.ahead, 0);

	begin_settling(NULL);
	send_atomics(4);
	take_result(0);
	take_result(1);
	EXPECT_EQ(req.ahead, 0);
	take_result(3);
	EXPECT_EQ(req.ahead, 1);
	settle();
	EXPECT_EQ(req.ahead, 1);
}

TEST(req_settle__data_of_a_read_moves_on_together)
{
	uint32_t i;

	begin_settling(NULL);
	push(SRDMA_WR_READ, 4 * MTU, 0);
	send_all();
	settle();
	for (i = 0; i < 3; i++)
		EXPECT_EQ(place_resp(i, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.una_psn, psn(0));
	settle();
	EXPECT_EQ(req.una_psn, psn(3));
	EXPECT(!req.trails);
	EXPECT(!retired());
	/* All of it has come. */
	EXPECT_EQ(place_resp(3, MTU), SRDMA_REQ_PLACE);
	expect_retired(0, SRDMA_ST_OK);

	begin(NULL);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	send_all();
	EXPECT_EQ(place_resp(0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.una_psn, psn(1));
}

TEST(req_settle__data_that_comes_again)
{
	begin_settling(NULL);
	push(SRDMA_WR_READ, 4 * MTU, 0);
	push(SRDMA_WR_SEND, 8, 0);
	send_all();
	settle();
	EXPECT_EQ(place_resp(0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(place_resp(1, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(place_resp(1, MTU), SRDMA_REQ_DROP_GHOST);
	EXPECT_EQ(req.una_psn, psn(2));
	EXPECT_EQ(place_resp(2, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(ack(4), SRDMA_REQ_ACK);
	EXPECT_EQ(req.una_psn, psn(3));
	EXPECT(!retired());
}

TEST(req_settle__a_result_for_what_is_no_atomic)
{
	begin_settling(NULL);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	push(SRDMA_WR_READ, 8, 0);
	send_all();
	take_result(0);
	EXPECT_EQ(atomic_ack(1, 5), SRDMA_REQ_FAILED);
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_BAD_RESP);
}

TEST(req_settle__a_result_without_a_place)
{
	begin_settling(NULL);
	send_atomics(4);
	take_result(0);
	take_result(1);
	EXPECT_EQ(atomic_ack(2, 102), SRDMA_REQ_ATOMIC);
	settle();
	srdma_rc_req_fail(&req, act.idx, SRDMA_ST_LOC_PROT);
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
	expect_retired(2, SRDMA_ST_LOC_PROT);
	expect_retired(3, SRDMA_ST_FLUSH);
}

/* One in front of it failed: it waits for those in front of that. */
TEST(req_settle__results_in_front_of_a_failure)
{
	begin_settling(NULL);
	send_atomics(3);
	take_result(0);
	settle();
	srdma_rc_req_fail(&req, 2, SRDMA_ST_LOC_PROT);
	take_result(1);
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
	expect_retired(2, SRDMA_ST_LOC_PROT);
}

TEST(req_settle__deadline_is_that_of_all_bursts)
{
	uint64_t eager;

	begin(NULL);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	send_all();
	eager = req.deadline;
	begin_settling(NULL);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	send_all();
	EXPECT_EQ(req.deadline, 0);
	settle();
	EXPECT(eager);
	EXPECT_EQ(req.deadline, eager);
}

TEST(req_settle__round_trip_and_retries_are_those_of_one_by_one)
{
	uint32_t step;
	int i;

	for (i = 0; i < 2; i++) {
		if (i)
			begin_settling(NULL);
		else
			begin(NULL);
		send_atomics(6);
		now += 30 * US;
		for (step = 0; step < 5; step++)
			take_result(step);
		settle();
		EXPECT_EQ(req.srtt_ns, 30 * US);
		EXPECT_EQ(req.heard_at, now);
		EXPECT_EQ(req.deadline, now + 120 * US);
		EXPECT_EQ(req.cur_psn, psn(6));
		EXPECT_EQ(req.una_psn, psn(5));
	}
}

TEST(req_settle__the_timer_settles)
{
	begin_settling(NULL);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	send_all();
	now += MS;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_EARLY);
	EXPECT(req.deadline > now);
}
