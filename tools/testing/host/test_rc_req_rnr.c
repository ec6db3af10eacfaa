// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A requester and a receiver that is not ready: how long it waits, how often, and
 * how much it sends afterwards.
 */
#include "req_fixture.h"

TEST(req_rnr__waits_as_told)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 2 * MTU, 0);
	send_all();
	EXPECT_EQ(rnr(1, 14), SRDMA_REQ_RNR_WAIT);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT_EQ(next(), SRDMA_NEXT_RNR);
	EXPECT_EQ(req.deadline, now + 1280 * US);
	now = req.deadline - 1;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_EARLY);
	EXPECT_EQ(next(), SRDMA_NEXT_RNR);
	now++;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_RNR);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(1, 2, 0, 2 * MTU, SRDMA_RC_SEND_FIRST);
	sent();
	EXPECT(req.deadline > now);
}

/* The engine may run for another reason when it is over, and before the timer does. */
TEST(req_rnr__wait_that_ends_without_the_timer_is_no_silence)
{
	struct srdma_rc_req_attr a = usual;

	a.timeout = 10;
	begin(&a);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(rnr(0, 0), SRDMA_REQ_RNR_WAIT);
	now = req.deadline;
	send_one();
	EXPECT(req.deadline > now);
	EXPECT_EQ(srdma_rc_req_timeout(&req, req.deadline), SRDMA_TIMER_PROBE);
	EXPECT_EQ(req.retry_left, a.retry_cnt);
}

TEST(req_rnr__longest_wait)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	rnr(0, 0);
	EXPECT_EQ(req.deadline, now + 655360 * US);
}

TEST(req_rnr__retries_counted)
{
	uint32_t i;

	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	for (i = 0; i < 6; i++) {
		EXPECT_EQ(rnr(0, 1), SRDMA_REQ_RNR_WAIT);
		EXPECT_EQ(rnr(0, 1), SRDMA_REQ_DROP_DUP);
		EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_DROP_DUP);
		EXPECT_EQ(expire(), SRDMA_TIMER_RNR);
		EXPECT_EQ(send_all(), 1);
	}
	EXPECT_EQ(req.retry_left, 7);
	EXPECT_EQ(rnr(0, 1), SRDMA_REQ_FAILED);
	expect_retired(0, SRDMA_ST_RNR_RETRY_EXC);
	expect_retired(1, SRDMA_ST_FLUSH);
}

TEST(req_rnr__seven_is_without_end)
{
	struct srdma_rc_req_attr a = usual;
	uint32_t i;

	a.rnr_retry = 7;
	begin(&a);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	for (i = 0; i < 1000; i++) {
		EXPECT_EQ(rnr(0, 1), SRDMA_REQ_RNR_WAIT);
		EXPECT_EQ(expire(), SRDMA_TIMER_RNR);
		EXPECT_EQ(send_all(), 1);
	}
	ack(0);
	expect_retired(0, SRDMA_ST_OK);
}

/* A peer without receives is asked less and less often. */
TEST(req_rnr__in_a_row_wait_longer)
{
	struct srdma_rc_req_attr a = usual;
	uint64_t most = 10 * US, sum = 0;
	uint32_t i;

	a.rnr_retry = 7;
	begin(&a);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	for (i = 0; i < 100; i++) {
		EXPECT_EQ(rnr(0, 1), SRDMA_REQ_RNR_WAIT);
		EXPECT(req.deadline - now >= 10 * US);
		EXPECT(req.deadline - now <= most);
		most = most < 4000 * US ? 2 * most : 8000 * US;
		/* Half of the longest, in the middle. */
		sum += i < 20 ? 0 : req.deadline - now;
		expire();
		send_all();
	}
	EXPECT(sum > 80 * 3000 * US);
	EXPECT(sum < 80 * 5000 * US);
	/* Longer if it asks for longer; and from the start after progress. */
	rnr(0, 20);
	EXPECT_EQ(req.deadline, now + 10240 * US);
	expire();
	send_all();
	rnr(1, 1);
	EXPECT_EQ(req.deadline, now + 10 * US);
}

/* When the one with this PSN comes back that is refused for the @row-th time, at 1 s. */
static uint64_t back_at(uint32_t first, uint32_t row, uint64_t later)
{
	struct srdma_rc_req_attr a = usual;

	a.rnr_retry = 7;
	a.psn = first;
	begin(&a);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	while (row--) {
		aeth_psn(first, 0x21);
		expire();
		send_all();
	}
	now = 1000 * MS + later;
	aeth_psn(first, 0x21);
	return req.deadline - 1000 * MS;
}

/* Those that were refused together, at once or one by one, do not come together. */
TEST(req_rnr__many_spread)
{
	uint32_t eighths[8] = {}, late[8] = {};
	uint32_t i;

	for (i = 0; i < 64; i++) {
		eighths[back_at(0x1000 + i * 0x101, 12, 0) / MS & 7]++;
		late[back_at(FIRST, 12, 2 * US * i) / MS & 7]++;
	}
	for (i = 0; i < 8; i++) {
		EXPECT(eighths[i] >= 3);
		EXPECT(late[i] >= 3);
	}
}

TEST(req_rnr__progress_gives_new_retries)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	rnr(0, 1);
	EXPECT_EQ(req.rnr_left, 5);
	expire();
	send_all();
	EXPECT_EQ(rnr(1, 1), SRDMA_REQ_RNR_WAIT);
	EXPECT_EQ(req.rnr_left, 5);
}

/* The ACK was late: there is nothing to wait for any more. */
TEST(req_rnr__ended_by_progress)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	rnr(0, 0);
	ack(1);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(req.deadline, 0);
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
}

/* One receive WQE is sure to be there at most: what goes beside it is for nothing. */
TEST(req_rnr__refused_message_alone_afterwards)
{
	uint32_t i;

	begin(NULL);
	for (i = 0; i < 10; i++)
		push(SRDMA_WR_SEND, 2 * MTU, 0);
	EXPECT_EQ(send_all(), 20);
	EXPECT_EQ(rnr(4, 1), SRDMA_REQ_RNR_WAIT);
	EXPECT_EQ(next(), SRDMA_NEXT_RNR);
	EXPECT_EQ(expire(), SRDMA_TIMER_RNR);
	EXPECT_EQ(send_all(), 2);
	EXPECT_EQ(burst.b.psn, psn(4));
	/* And it asks, or nobody would say that the next may go. */
	EXPECT(burst.b.ack_req);
	EXPECT_EQ(next(), SRDMA_NEXT_RNR);
	/* Half a message is none. */
	ack(4);
	EXPECT_EQ(next(), SRDMA_NEXT_RNR);
}

TEST(req_rnr__opens_by_what_is_taken)
{
	uint32_t i;

	begin(NULL);
	for (i = 0; i < RING; i++)
		push(SRDMA_WR_SEND, MTU, 0);
	EXPECT_EQ(send_all(), RING);
	rnr(0, 1);
	expire();
	EXPECT_EQ(send_all(), 1);
	ack(0);
	EXPECT_EQ(send_all(), 2);
	EXPECT(burst.b.ack_req);
	ack(2);
	EXPECT_EQ(send_all(), 4);
	/* Refused again: alone again. */
	rnr(3, 1);
	expire();
	EXPECT_EQ(send_all(), 1);
	for (i = 3; i < RING; i++) {
		ack(i);
		send_all();
	}
	/* As many were taken as the queue holds: it is as it was. */
	EXPECT_EQ(req.una, req.head);
	while (retired())
		;
	for (i = 0; i < 3; i++) {
		push(SRDMA_WR_SEND, MTU, SRDMA_WR_SIGNALED);
		send_all();
		ack(RING + i);
	}
	EXPECT_EQ(req.rnr_open, 0);
}

/* The last one that may go asks, though more is behind it. */
TEST(req_rnr__asks_for_leave_to_go_on)
{
	uint32_t i;

	begin(NULL);
	push(SRDMA_WR_SEND, MTU, 0);
	send_all();
	rnr(0, 1);
	for (i = 0; i < 9; i++)
		push(SRDMA_WR_SEND, MTU, 0);
	expire();
	EXPECT_EQ(send_all(), 1);
	ack(0);
	EXPECT_EQ(send_all(), 2);
	EXPECT(burst.b.ack_req);
}

TEST(req_rnr__a_probe_passes)
{
	begin(NULL);
	push(SRDMA_WR_SEND, MTU, 0);
	push(SRDMA_WR_SEND, MTU, 0);
	send_all();
	rnr(0, 1);
	expire();
	EXPECT_EQ(send_all(), 1);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	send_one();
	EXPECT(burst.probe);
	EXPECT_EQ(next(), SRDMA_NEXT_RNR);
}

TEST(req_rnr__waits_as_long_as_told)
{
	uint64_t at;

	begin(&few);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(aeth(0, 0x2c), SRDMA_REQ_RNR_WAIT);	/* 0.64 ms */
	at = now + 640000;
	EXPECT_EQ(next(), SRDMA_NEXT_RNR);
	EXPECT_EQ(req.deadline, at);
	now = at - 1;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_EARLY);
	EXPECT_EQ(next(), SRDMA_NEXT_RNR);
	now = at;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_RNR);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, FIRST);
	EXPECT(burst.b.resend);
}

/* One RNR NAK and its wait; false when it was one too many. */
static bool rnr_round(void)
{
	if (aeth(0, 0x21) != SRDMA_REQ_RNR_WAIT)
		return false;
	now = req.deadline;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_RNR);
	send_all();
	return true;
}

TEST(req_rnr__retries_are_counted)
{
	begin(&few);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT(rnr_round());
	EXPECT(rnr_round());
	EXPECT(!rnr_round());
	expect_retired(0, 13);	/* IB_WC_RNR_RETRY_EXC_ERR */
	expect_retired(1, 5);
}

TEST(req_rnr__progress_gives_retries_back)
{
	begin(&few);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT(rnr_round());
	EXPECT(rnr_round());
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	EXPECT_EQ(aeth(1, 0x21), SRDMA_REQ_RNR_WAIT);
}

TEST(req_rnr__six_is_six)
{
	struct srdma_rc_req_attr attr = few;
	int i;

	attr.rnr_retry = 6;
	begin(&attr);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	for (i = 0; i < 6; i++)
		REQUIRE(rnr_round());
	EXPECT(!rnr_round());
	expect_retired(0, 13);	/* IB_WC_RNR_RETRY_EXC_ERR */
}
