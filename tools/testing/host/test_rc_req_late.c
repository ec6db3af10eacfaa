// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A network that changes the order of responses: what is missing is given time, once
 * an answer that came twice has shown that it may need some.
 */
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

/* The less is in vain, the sooner it asks. */
TEST(req_late__asks_sooner_again)
{
	unsigned int i;

	begin_measured();
	asks_in_vain(1);
	for (i = req.asks; i < 16; i++) {
		push(SRDMA_WR_READ, MTU, SRDMA_WR_SIGNALED);
		send_one();
		now = req.deadline;
		srdma_rc_req_timeout(&req, now);
		send_one();
		EXPECT_EQ(read_resp(4 + i, MTU), SRDMA_REQ_PLACE);
		placed();
	}
	EXPECT_EQ(req.late, 0);
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
