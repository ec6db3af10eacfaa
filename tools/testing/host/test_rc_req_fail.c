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

TEST(req_fail__earlier_messages_still_complete)
{
	begin(&few);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_one();
	REQUIRE(next() == SRDMA_NEXT_SEND);
	srdma_rc_req_fail(&req, burst.idx, SRDMA_ST_LOC_PROT);
	EXPECT_EQ(next(), SRDMA_NEXT_FAILING);
	EXPECT(!retired());
	EXPECT_EQ(ack(0), SRDMA_REQ_FAILED);
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, 4);
	expect_retired(2, 5);
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

/* The peer refuses a later one, while an older one is still waited for. */
TEST(req_fail__the_first_one_keeps_its_status)
{
	begin(NULL);
	push(SRDMA_WR_READ, MTU, 0);
	push(SRDMA_WR_READ, MTU, 0);
	push(SRDMA_WR_SEND, 8, 0);
	send_all();
	srdma_rc_req_fail(&req, 1, SRDMA_ST_LOC_PROT);
	EXPECT_EQ(nak(2, SRDMA_NAK_REM_ACCESS), SRDMA_REQ_FAILED);
	expect_retired(0, SRDMA_ST_FLUSH);
	expect_retired(1, SRDMA_ST_LOC_PROT);
	expect_retired(2, SRDMA_ST_FLUSH);
	EXPECT(!retired());
}

TEST(req_abort__everything_is_flushed_once)
{
	begin(&few);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_READ, 1, 0);
	send_all();
	push(SRDMA_WR_SEND, 1, 0);
	srdma_rc_req_abort(&req);
	expect_retired(0, 5);
	expect_retired(1, 5);
	expect_retired(2, 5);
	EXPECT(!retired());
	EXPECT_EQ(req.deadline, 0);
	EXPECT_EQ(ack(0), SRDMA_REQ_DROP_ERROR);
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
