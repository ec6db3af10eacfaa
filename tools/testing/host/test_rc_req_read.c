// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * READs and atomics of a requester: which responses are placed, and where; which
 * are refused; what is missing and asked for again.
 */
#include "req_fixture.h"

TEST(req_read__response_in_packets)
{
	begin(NULL);
	push(SRDMA_WR_READ, 2 * MTU + 5, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(burst.b.psn, psn(3));
	EXPECT_EQ(read_resp(0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(act.offset, 0);
	placed();
	EXPECT_EQ(read_resp(0, MTU), SRDMA_REQ_DROP_GHOST);
	EXPECT_EQ(read_resp(1, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(act.offset, MTU);
	placed();
	EXPECT(!retired());
	EXPECT_EQ(read_resp(2, 5), SRDMA_REQ_PLACE);
	EXPECT_EQ(act.offset, 2 * MTU);
	EXPECT_EQ(act.len, 5);
	placed();
	expect_retired(0, SRDMA_ST_OK);
	EXPECT(!retired());
}

TEST(req_read__not_placed_does_not_count)
{
	begin(NULL);
	push(SRDMA_WR_READ, 8, 0);
	send_all();
	EXPECT_EQ(read_resp(0, 8), SRDMA_REQ_PLACE);
	EXPECT(!retired());
	EXPECT_EQ(read_resp(0, 8), SRDMA_REQ_PLACE);
	placed();
	expect_retired(0, SRDMA_ST_OK);
}

TEST(req_read__later_one_is_taken_and_kept)
{
	begin(NULL);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(read_resp(2, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(act.idx, 1);
	placed();
	EXPECT_EQ(read_resp(2, MTU), SRDMA_REQ_DROP_DUP);
	/* The first has lost its answer: it alone is asked for again. */
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(0, 1, 0, 2 * MTU, SRDMA_RC_READ_REQ);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(read_resp(3, MTU), SRDMA_REQ_PLACE);
	placed();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT(!retired());
	read_resp(0, MTU);
	placed();
	read_resp(1, MTU);
	placed();
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
	EXPECT(!retired());
}

TEST(req_read__second_answer_lost_as_well)
{
	begin(NULL);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	ack(1);
	send_one();
	EXPECT_EQ(burst.idx, 0);
	/* What was sent before the repetition proves nothing about it. */
	ack(1);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	push(SRDMA_WR_SEND, 1, 0);
	send_one();
	ack(2);
	send_one();
	EXPECT_EQ(burst.idx, 0);
	EXPECT_EQ(req.retry_left, 5);
}

TEST(req_read__no_retry_left_leaves_it_to_the_timer)
{
	struct srdma_rc_req_attr a = usual;

	a.retry_cnt = 0;
	begin(&a);
	push(SRDMA_WR_READ, 3 * MTU, 0);
	send_all();
	EXPECT_EQ(place_resp(1, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	/* The network had only changed the order. */
	EXPECT_EQ(place_resp(0, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(place_resp(2, MTU), SRDMA_REQ_PLACE);
	expect_retired(0, SRDMA_ST_OK);
}

TEST(req_read__about_to_be_asked_costs_nothing)
{
	begin(NULL);
	push(SRDMA_WR_READ, 3 * MTU, 0);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	nak(4, SRDMA_NAK_PSN_SEQ);
	EXPECT_EQ(req.retry_left, 6);
	EXPECT_EQ(place_resp(1, MTU), SRDMA_REQ_PLACE);
	EXPECT_EQ(req.retry_left, 6);
	send_one();
	EXPECT_EQ(burst.idx, 0);
	send_one();
	EXPECT_EQ(burst.idx, 2);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_read__two_holes_while_going_through)
{
	begin(NULL);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	push(SRDMA_WR_READ, 3 * MTU, 0);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	send_all();
	EXPECT_EQ(read_resp(5, MTU), SRDMA_REQ_PLACE);
	placed();
	send_one();
	EXPECT_EQ(burst.idx, 0);
	/* 1 is next, but first the hole in 0 comes back. */
	EXPECT_EQ(place_resp(1, MTU), SRDMA_REQ_PLACE);
	send_one();
	EXPECT_EQ(burst.idx, 0);
	send_one();
	EXPECT_EQ(burst.idx, 1);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_read__places_each_packet_once)
{
	begin(&few);
	push(SRDMA_WR_READ, 2 * MTU + 3, 0);
	send_all();
	EXPECT_EQ(burst.b.len, 2 * MTU + 3);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU),
		  SRDMA_REQ_PLACE);
	EXPECT_EQ(act.offset, 0);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU),
		  SRDMA_REQ_DROP_GHOST);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 2, 3), SRDMA_REQ_PLACE);
	EXPECT_EQ(act.offset, 2 * MTU);
	EXPECT_EQ(act.len, 3);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 2, 3),
		  SRDMA_REQ_DROP_DUP);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_MIDDLE, 1, MTU),
		  SRDMA_REQ_PLACE);
	EXPECT_EQ(act.offset, MTU);
	expect_retired(0, SRDMA_ST_OK);
}

/* Behind another READ what is in place is still known to be so. */
TEST(req_read__second_of_two)
{
	begin(&few);
	push(SRDMA_WR_READ, 4, 0);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	send_all();
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 1, MTU),
		  SRDMA_REQ_PLACE);
	EXPECT_EQ(act.idx, 1);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 1, MTU),
		  SRDMA_REQ_DROP_DUP);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 2, MTU),
		  SRDMA_REQ_PLACE);
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 2, MTU),
		  SRDMA_REQ_DROP_DUP);
	EXPECT(!retired());
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_ONLY, 0, 4), SRDMA_REQ_PLACE);
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
}

TEST(req_read__asks_for_the_rest_only)
{
	begin(&few);
	push(SRDMA_WR_READ, 2 * MTU + 3, 0);
	send_all();
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU),
		  SRDMA_REQ_PLACE);
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.first, SRDMA_RC_READ_REQ);
	EXPECT_EQ(burst.b.psn, psn(1));
	EXPECT_EQ(burst.b.offset, MTU);
	EXPECT_EQ(burst.b.len, MTU + 3);
}

TEST(req_read__response_of_wrong_length)
{
	begin(&few);
	push(SRDMA_WR_READ, MTU + 3, 0);
	send_all();
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_ONLY, 0, 3), SRDMA_REQ_FAILED);
	expect_retired(0, 7);	/* IB_WC_BAD_RESP_ERR */
	begin(&few);
	push(SRDMA_WR_READ, 3, 0);
	send_all();
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_ONLY, 0, 4), SRDMA_REQ_FAILED);
}

/* 9.7.5.1: what neither a first answer nor a repetition would look like. */
TEST(req_read__response_of_wrong_opcode)
{
	static const struct {
		u8 opcode;
		u32 offset;
	} bad[] = {
		{ SRDMA_RC_READ_RESP_MIDDLE, 0 }, { SRDMA_RC_READ_RESP_LAST, 0 },
		{ SRDMA_RC_READ_RESP_ONLY, 0 }, { SRDMA_RC_READ_RESP_LAST, 1 },
		{ SRDMA_RC_READ_RESP_ONLY, 1 }, { SRDMA_RC_READ_RESP_MIDDLE, 2 },
		{ SRDMA_RC_READ_RESP_FIRST, 2 },
	};
	u32 i, at;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin(&few);
		push(SRDMA_WR_READ, 3 * MTU, 0);
		send_all();
		for (at = 0; at < bad[i].offset; at++)
			EXPECT_EQ(take_read(at ? SRDMA_RC_READ_RESP_MIDDLE :
					    SRDMA_RC_READ_RESP_FIRST, at, MTU),
				  SRDMA_REQ_PLACE);
		EXPECT_EQ(take_read(bad[i].opcode, at, MTU), SRDMA_REQ_FAILED);
		expect_retired(0, 7);	/* IB_WC_BAD_RESP_ERR */
	}
}

/* Some begin a repetition with FIRST, others go on as if it were none. */
TEST(req_read__repetition_of_either_opcode)
{
	static const u8 opcodes[] = {
		SRDMA_RC_READ_RESP_FIRST, SRDMA_RC_READ_RESP_MIDDLE,
	};
	int i;

	for (i = 0; i < 2; i++) {
		begin(&few);
		push(SRDMA_WR_READ, 3 * MTU, 0);
		send_all();
		EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_FIRST, 0, MTU),
			  SRDMA_REQ_PLACE);
		EXPECT_EQ(take_read(opcodes[i], 1, MTU), SRDMA_REQ_PLACE);
		EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_LAST, 2, MTU),
			  SRDMA_REQ_PLACE);
		expect_retired(0, 0);
	}
}

TEST(req_read__response_to_something_else)
{
	begin(&few);
	push(SRDMA_WR_SEND, 3, 0);
	send_all();
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_ONLY, 0, 3), SRDMA_REQ_FAILED);
	expect_retired(0, 7);
}

TEST(req_response__wrong_length_or_kind_is_bad)
{
	static const struct {
		uint8_t op;
		uint8_t opcode;
		uint32_t len;
	} bad[] = {
		{ SRDMA_WR_READ, SRDMA_RC_READ_RESP_ONLY, 9 },
		{ SRDMA_WR_READ, SRDMA_RC_READ_RESP_ONLY, 7 },
		{ SRDMA_WR_READ, SRDMA_RC_ATOMIC_ACK, 0 },
		{ SRDMA_WR_FETCH_ADD, SRDMA_RC_READ_RESP_ONLY, 0 },
		{ SRDMA_WR_ATOMIC_WRITE, SRDMA_RC_READ_RESP_ONLY, 8 },
		{ SRDMA_WR_ATOMIC_WRITE, SRDMA_RC_ATOMIC_ACK, 0 },
		{ SRDMA_WR_FLUSH, SRDMA_RC_READ_RESP_ONLY, 1 },
		{ SRDMA_WR_SEND, SRDMA_RC_READ_RESP_ONLY, 8 },
		{ SRDMA_WR_WRITE, SRDMA_RC_ATOMIC_ACK, 0 },
	};
	uint32_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin(NULL);
		push(bad[i].op, 8, 0);
		push(SRDMA_WR_SEND, 1, 0);
		send_all();
		pkt.payload_len = bad[i].len;
		EXPECT_EQ(response(bad[i].opcode, 0), SRDMA_REQ_FAILED);
		expect_retired(0, SRDMA_ST_BAD_RESP);
		expect_retired(1, SRDMA_ST_FLUSH);
		pkt.payload_len = 0;
	}
}

TEST(req_atomic__answered_once)
{
	begin(NULL);
	push(SRDMA_WR_READ, 8, 0);
	push(SRDMA_WR_CMP_SWAP, 8, 0);
	send_all();
	EXPECT_EQ(atomic_ack(1, 5), SRDMA_REQ_ATOMIC);
	placed();
	EXPECT_EQ(atomic_ack(1, 5), SRDMA_REQ_DROP_DUP);
	EXPECT(!retired());
	EXPECT_EQ(read_resp(0, 8), SRDMA_REQ_PLACE);
	placed();
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
}

TEST(req_atomic__result_once)
{
	begin(&few);
	push(SRDMA_WR_READ, 4, 0);
	push(SRDMA_WR_CMP_SWAP, 8, 0);
	send_all();
	EXPECT_EQ(atomic_ack(1, 0x55), SRDMA_REQ_ATOMIC);
	EXPECT_EQ(act.orig, 0x55);
	EXPECT_EQ(act.idx, 1);
	placed();
	EXPECT_EQ(atomic_ack(1, 0x55), SRDMA_REQ_DROP_DUP);
	EXPECT_EQ(atomic_ack(0, 0x55), SRDMA_REQ_FAILED);
}
