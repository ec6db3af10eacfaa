// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What waits for what in a requester: fences, READs and atomics beyond those
 * agreed on, operations that are executed here, and a send queue that is drained.
 */
#include "req_fixture.h"

TEST(req_next__longest_read_waits_to_be_alone)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 1, 0);
	push(SRDMA_WR_READ, 0x80000000u, 0);
	push(SRDMA_WR_WRITE, 1, 0);
	send_one();
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	ack(0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.len, 0x80000000u);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	EXPECT_EQ(read_resp(1, MTU), SRDMA_REQ_PLACE);
	placed();
	EXPECT_EQ(read_resp(1u << 23, MTU), SRDMA_REQ_DROP_GAP);
}

TEST(req_next__no_more_than_max_rd_atomic)
{
	static const uint8_t ops[] = {
		SRDMA_WR_READ, SRDMA_WR_FETCH_ADD, SRDMA_WR_ATOMIC_WRITE,
		SRDMA_WR_FLUSH, SRDMA_WR_CMP_SWAP,
	};
	struct srdma_rc_req_attr a = usual;
	uint32_t i;

	a.max_rd_atomic = 4;
	begin(&a);
	for (i = 0; i < 5; i++)
		push(ops[i], 8, 0);
	for (i = 0; i < 4; i++)
		send_one();
	EXPECT_EQ(next(), SRDMA_NEXT_RD_ATOMIC);
	/* An answer to a later one does not make room: 9.7.3 keeps order. */
	EXPECT_EQ(read_resp(2, 0), SRDMA_REQ_PLACE);
	placed();
	EXPECT_EQ(req.rd_out, 4);
	EXPECT_EQ(read_resp(0, 8), SRDMA_REQ_PLACE);
	placed();
	/* The answer to 1 is lost, as that to 2 shows; then it is 4's turn. */
	send_one();
	EXPECT_EQ(burst.idx, 1);
	send_one();
	EXPECT_EQ(burst.idx, 4);
	EXPECT_EQ(burst.b.first, SRDMA_RC_CMP_SWAP);
}

TEST(req_next__none_agreed)
{
	struct srdma_rc_req_attr a = usual;

	a.max_rd_atomic = 0;
	begin(&a);
	push(SRDMA_WR_READ, 8, 0);
	EXPECT_EQ(next(), SRDMA_NEXT_RD_ATOMIC);
}

TEST(req_next__fence_waits_for_reads_only)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 1, 0);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_FENCE);
	push(SRDMA_WR_READ, 8, 0);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_FENCE);
	send_one();
	send_one();
	send_one();
	EXPECT_EQ(next(), SRDMA_NEXT_FENCE);
	EXPECT_EQ(read_resp(2, 8), SRDMA_REQ_PLACE);
	EXPECT_EQ(next(), SRDMA_NEXT_FENCE);
	placed();
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
}

TEST(req_next__fence_waits_for_the_read)
{
	begin(&few);
	push(SRDMA_WR_READ, 4, 0);
	push(SRDMA_WR_SEND, 4, 0);
	push(SRDMA_WR_SEND, 4, SRDMA_WR_FENCE);
	EXPECT_EQ(send_all(), 2);
	EXPECT_EQ(next(), SRDMA_NEXT_FENCE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_ONLY, 0, 4), SRDMA_REQ_PLACE);
	EXPECT_EQ(send_all(), 1);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_next__as_many_reads_as_agreed)
{
	struct srdma_rc_req_attr attr = few;

	attr.max_rd_atomic = 2;
	begin(&attr);
	push(SRDMA_WR_READ, 4, 0);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	push(SRDMA_WR_READ, 4, 0);
	EXPECT_EQ(send_all(), 2);
	EXPECT_EQ(next(), SRDMA_NEXT_RD_ATOMIC);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_ONLY, 0, 4), SRDMA_REQ_PLACE);
	send_all();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_next__local_invalidate_waits_for_all)
{
	begin(&few);
	push(SRDMA_WR_SEND, 4, 0);
	push(SRDMA_WR_LOCAL_INV, 0, SRDMA_MSG_DRAIN);
	send_all();
	EXPECT_EQ(next(), SRDMA_NEXT_ORDER);
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	REQUIRE(next() == SRDMA_NEXT_LOCAL);
	EXPECT_EQ(burst.idx, 1);
	srdma_rc_req_local_done(&req, &burst);
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
}

TEST(req_local__executed_in_its_turn)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 1, 0);
	push(SRDMA_WR_BIND_MW, 0, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_one();
	EXPECT(burst.b.ack_req);
	REQUIRE(next() == SRDMA_NEXT_LOCAL);
	EXPECT_EQ(burst.idx, 1);
	srdma_rc_req_local_done(&req, &burst);
	send_one();
	EXPECT_EQ(burst.b.psn, psn(1));
	EXPECT(!retired());
	ack(1);
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
	expect_retired(2, SRDMA_ST_OK);
	EXPECT(!retired());
}

TEST(req_local__alone_completes_at_once)
{
	begin(NULL);
	push(SRDMA_WR_REG_MR, 0, 0);
	REQUIRE(next() == SRDMA_NEXT_LOCAL);
	EXPECT(!retired());
	srdma_rc_req_local_done(&req, &burst);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_local__fence_and_order)
{
	begin(NULL);
	push(SRDMA_WR_READ, 8, 0);
	push(SRDMA_WR_BIND_MW, 0, SRDMA_WR_FENCE);
	push(SRDMA_WR_WRITE, 1, 0);
	push(SRDMA_WR_BIND_MW, 0, SRDMA_MSG_DRAIN);
	push(SRDMA_WR_WRITE, 1, 0);
	push(SRDMA_WR_LOCAL_INV, 0, 0);
	send_one();
	EXPECT_EQ(next(), SRDMA_NEXT_FENCE);
	read_resp(0, 8);
	placed();
	REQUIRE(next() == SRDMA_NEXT_LOCAL);
	srdma_rc_req_local_done(&req, &burst);
	send_one();
	EXPECT(burst.b.ack_req);
	EXPECT_EQ(next(), SRDMA_NEXT_ORDER);
	ack(1);
	REQUIRE(next() == SRDMA_NEXT_LOCAL);
	srdma_rc_req_local_done(&req, &burst);
	send_one();
	EXPECT_EQ(next(), SRDMA_NEXT_ORDER);
	ack(2);
	EXPECT_EQ(next(), SRDMA_NEXT_LOCAL);
}

TEST(req_local__not_executed_again_when_going_back)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 1, 0);
	push(SRDMA_WR_BIND_MW, 0, 0);
	push(SRDMA_WR_WRITE, 1, 0);
	push(SRDMA_WR_BIND_MW, 0, 0);
	send_one();
	next();
	srdma_rc_req_local_done(&req, &burst);
	send_one();
	next();
	srdma_rc_req_local_done(&req, &burst);
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_RETRY);
	send_one();
	EXPECT_EQ(burst.idx, 0);
	send_one();
	EXPECT_EQ(burst.idx, 2);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_sqd__finishes_what_is_begun)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 3 * MTU, 0);
	push(SRDMA_WR_SEND, 1, 0);
	limit.packets = 1;
	send_one();
	EXPECT(!srdma_rc_req_drained(&req));
	srdma_rc_req_drain(&req, true);
	EXPECT(!srdma_rc_req_drained(&req));
	send_one();
	send_one();
	EXPECT(burst.b.ack_req);
	EXPECT_EQ(next(), SRDMA_NEXT_SQD);
	EXPECT(!srdma_rc_req_drained(&req));
	ack(2);
	EXPECT(srdma_rc_req_drained(&req));
	expect_retired(0, SRDMA_ST_OK);
	srdma_rc_req_drain(&req, false);
	EXPECT(!srdma_rc_req_drained(&req));
	send_one();
	EXPECT_EQ(burst.idx, 1);
}

TEST(req_sqd__not_from_error)
{
	begin(NULL);
	srdma_rc_req_abort(&req);
	srdma_rc_req_drain(&req, true);
	EXPECT_EQ(req.mode, SRDMA_REQ_ERROR);
	EXPECT(!srdma_rc_req_drained(&req));
	EXPECT_EQ(next(), SRDMA_NEXT_ERROR);
}

TEST(req_drain__begins_nothing)
{
	begin(&few);
	push(SRDMA_WR_SEND, 4, 0);
	send_all();
	push(SRDMA_WR_SEND, 4, 0);
	srdma_rc_req_drain(&req, true);
	/* Only the end of what was begun, to hear of it. */
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(burst.probe);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_SQD);
	EXPECT(!srdma_rc_req_drained(&req));
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	EXPECT(srdma_rc_req_drained(&req));
	srdma_rc_req_drain(&req, false);
	EXPECT(!srdma_rc_req_drained(&req));
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
}

/* What has not begun does not fail before RTS either. */
TEST(req_sqd__what_is_wrong_fails_in_rts)
{
	begin(&few);
	push(SRDMA_WR_SEND, 4, SRDMA_WR_SIGNALED);
	send_all();
	srdma_rc_req_drain(&req, true);
	push(SRDMA_WR_SEND, 4, 0);
	srdma_rc_req_fail(&req, 1, SRDMA_ST_LOC_PROT);
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT(srdma_rc_req_drained(&req));
	EXPECT(!retired());
	push(SRDMA_WR_SEND, 4, 0);
	srdma_rc_req_fail(&req, 2, SRDMA_ST_LOC_PROT);
	EXPECT(srdma_rc_req_drained(&req));
	srdma_rc_req_drain(&req, false);
	expect_retired(1, SRDMA_ST_LOC_PROT);
	expect_retired(2, SRDMA_ST_FLUSH);
}
