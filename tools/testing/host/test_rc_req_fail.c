// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How a requester ends: in order, each message once, and after the first
 * error none succeeds.
 */
#include "req_fixture.h"

TEST(req_fail__earlier_ones_may_complete)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_one();
	REQUIRE(next() == SRDMA_NEXT_SEND);
	srdma_rc_req_fail(&req, 1, SRDMA_ST_LOC_PROT);
	EXPECT_EQ(next(), SRDMA_NEXT_FAILING);
	EXPECT(!retired());
	/* A later failure is none any more. */
	srdma_rc_req_fail(&req, 2, SRDMA_ST_LOC_LEN);
	EXPECT_EQ(ack(0), SRDMA_REQ_FAILED);
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_LOC_PROT);
	expect_retired(2, SRDMA_ST_FLUSH);
	EXPECT(!retired());
}

TEST(req_fail__at_once_if_it_is_the_oldest)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	next();
	srdma_rc_req_fail(&req, 0, SRDMA_ST_LOC_LEN);
	expect_retired(0, SRDMA_ST_LOC_LEN);
	srdma_rc_req_fail(&req, 0, SRDMA_ST_LOC_PROT);
	EXPECT_EQ(next(), SRDMA_NEXT_ERROR);
}

TEST(req_fail__an_earlier_one_still_recovers)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_one();
	srdma_rc_req_fail(&req, 1, SRDMA_ST_LOC_PROT);
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	send_one();
	EXPECT_EQ(burst.idx, 0);
	EXPECT_EQ(next(), SRDMA_NEXT_FAILING);
	/* And an earlier one may fail in its place. */
	srdma_rc_req_fail(&req, 0, SRDMA_ST_LOC_QP_OP);
	expect_retired(0, SRDMA_ST_LOC_QP_OP);
	expect_retired(1, SRDMA_ST_FLUSH);
}

/* Executed over there, but what came back cannot be put anywhere. */
TEST(req_fail__response_of_the_failed_is_dropped)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_READ, 8, 0);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	push(SRDMA_WR_READ, 8, 0);
	push(SRDMA_WR_READ, 8, 0);
	send_all();
	read_resp(3, 8);
	srdma_rc_req_fail(&req, 3, SRDMA_ST_LOC_PROT);
	EXPECT_EQ(read_resp(4, 8), SRDMA_REQ_DROP_ERROR);
	srdma_rc_req_fail(&req, 2, SRDMA_ST_LOC_PROT);
	EXPECT_EQ(atomic_ack(2, 1), SRDMA_REQ_DROP_ERROR);
	EXPECT_EQ(read_resp(1, 8), SRDMA_REQ_PLACE);
	placed();
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
	expect_retired(2, SRDMA_ST_LOC_PROT);
	expect_retired(3, SRDMA_ST_FLUSH);
	expect_retired(4, SRDMA_ST_FLUSH);
	EXPECT(!retired());
}

TEST(req_fail__reached_by_any_response)
{
	uint32_t kind;

	for (kind = 0; kind < 5; kind++) {
		begin(NULL);
		push(SRDMA_WR_SEND, 1, 0);
		push(SRDMA_WR_SEND, 1, 0);
		push(kind == 4 ? SRDMA_WR_FETCH_ADD : SRDMA_WR_READ, 8, 0);
		send_all();
		srdma_rc_req_fail(&req, 1, SRDMA_ST_LOC_PROT);
		if (kind == 0)
			EXPECT_EQ(nak(1, 0), SRDMA_REQ_FAILED);
		else if (kind == 1)
			EXPECT_EQ(rnr(1, 1), SRDMA_REQ_FAILED);
		else if (kind == 2)
			EXPECT_EQ(nak(2, 2), SRDMA_REQ_FAILED);
		else if (kind == 3)
			EXPECT_EQ(read_resp(2, 8), SRDMA_REQ_DROP_ERROR);
		else
			EXPECT_EQ(atomic_ack(2, 8), SRDMA_REQ_DROP_ERROR);
		if (kind < 3) {
			expect_retired(0, SRDMA_ST_OK);
			expect_retired(1, SRDMA_ST_LOC_PROT);
			expect_retired(2, SRDMA_ST_FLUSH);
		}
	}
}

TEST(req_abort__flushes_exactly_once)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_BIND_MW, 0, 0);
	send_one();
	ack(0);
	push(SRDMA_WR_READ, 8, 0);
	srdma_rc_req_abort(&req);
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_FLUSH);
	expect_retired(2, SRDMA_ST_FLUSH);
	expect_retired(3, SRDMA_ST_FLUSH);
	EXPECT(!retired());
	/* What is posted in the error state is flushed as well. */
	push(SRDMA_WR_SEND, 1, 0);
	expect_retired(4, SRDMA_ST_FLUSH);
	EXPECT(!retired());
	EXPECT_EQ(req.deadline, 0);
}

/* A key that is void must not be reported as one that may still be used. */
TEST(req_abort__what_was_executed_has_succeeded)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_LOCAL_INV, 0, 0);
	push(SRDMA_WR_LOCAL_INV, 0, 0);
	send_one();
	ack(0);
	REQUIRE(next() == SRDMA_NEXT_LOCAL);
	srdma_rc_req_local_done(&req, &burst);
	srdma_rc_req_abort(&req);
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
	expect_retired(2, SRDMA_ST_FLUSH);
	EXPECT(!retired());
}

TEST(req_abort__a_failure_that_waited_keeps_its_status)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_one();
	srdma_rc_req_fail(&req, 1, SRDMA_ST_LOC_PROT);
	srdma_rc_req_abort(&req);
	expect_retired(0, SRDMA_ST_FLUSH);
	expect_retired(1, SRDMA_ST_LOC_PROT);
	EXPECT(!retired());
}

TEST(req_placed__too_late)
{
	begin(NULL);
	push(SRDMA_WR_READ, 8, 0);
	send_all();
	read_resp(0, 8);
	srdma_rc_req_abort(&req);
	placed();
	expect_retired(0, SRDMA_ST_FLUSH);
}

/* What was used up of the old ones stays used up. */
TEST(req_update__larger_limits)
{
	struct srdma_rc_req_attr a = usual;

	a.retry_cnt = 0;
	a.rnr_retry = 1;
	begin(&a);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(rnr(0, 1), SRDMA_REQ_RNR_WAIT);
	EXPECT_EQ(req.rnr_left, 0);
	a.retry_cnt = 7;
	a.rnr_retry = 3;
	srdma_rc_req_update(&req, &a);
	EXPECT_EQ(req.retry_left, 7);
	EXPECT_EQ(req.rnr_left, 2);
}

/* How long until message @first, the oldest of two, has no retries left? */
static uint64_t give_up(uint32_t first)
{
	uint32_t copies = 0, probes = 0;
	enum srdma_req_timer v;
	uint64_t start = now;

	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	do {
		while (next() == SRDMA_NEXT_SEND) {
			if (burst.probe)
				probes++;
			else if (burst.idx == first)
				copies++;
			sent();
		}
		v = expire();
	} while (v != SRDMA_TIMER_FAILED);
	EXPECT_EQ(copies, 4);
	EXPECT(probes >= 4 && probes <= 40);
	expect_retired(first, SRDMA_ST_RETRY_EXC);
	expect_retired(first + 1, SRDMA_ST_FLUSH);
	EXPECT_EQ(req.deadline, 0);
	return now - start;
}

/* Nobody may be there: the timeout, and as often as was asked for. */
TEST(req_timeout__retries_used_up)
{
	struct srdma_rc_req_attr a = usual;

	a.retry_cnt = 3;
	begin(&a);
	EXPECT_EQ(give_up(0), 4 * 4096ull * (1 << 14));
}

/* Whatever the peer has said, it is there: four times that (9.7.6.1.3). */
TEST(req_timeout__retries_used_up_with_who_answered)
{
	struct srdma_rc_req_attr a = usual;
	uint32_t kind;

	a.retry_cnt = 3;
	for (kind = 0; kind < 3; kind++) {
		begin(&a);
		push(kind == 2 ? SRDMA_WR_READ : SRDMA_WR_SEND, 8, 0);
		send_all();
		if (kind == 1) {
			EXPECT_EQ(rnr(0, 1), SRDMA_REQ_RNR_WAIT);
			EXPECT_EQ(expire(), SRDMA_TIMER_RNR);
			send_all();
		}
		if (kind == 2) {
			EXPECT_EQ(read_resp(0, 8), SRDMA_REQ_PLACE);
			placed();
		} else {
			EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
		}
		expect_retired(0, SRDMA_ST_OK);
		EXPECT_EQ(give_up(1), 4 * 4 * 4096ull * (1 << 14));
	}
}

/* What is no answer to anything says nothing: an old connection's, say. */
TEST(req_timeout__ghosts_are_not_the_peer)
{
	struct srdma_rc_req_attr a = usual;

	a.retry_cnt = 3;
	begin(&a);
	EXPECT_EQ(ack(100), SRDMA_REQ_DROP_GHOST);
	EXPECT_EQ(give_up(0), 4 * 4096ull * (1 << 14));
}

/* The first answer moves the deadline that was computed before it. */
TEST(req_timeout__first_answer_gives_time)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	send_all();
	now += 4096ull * (1 << 14) - 1;
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	now += 4096ull * (1 << 14);
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_PROBE);
	EXPECT_EQ(req.retry_left, 7);
}
