// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester, decision by decision: what it sends and why it waits. The
 * responses are made up here, also those no correct peer would give. The
 * reactions to loss and time are in test_rc_req_loss.c, the ends in _fail.c.
 */
#include "req_fixture.h"

TEST(req_next__nothing_posted)
{
	begin(NULL);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(req.deadline, 0);
	EXPECT(!retired());
}

TEST(req_next__write_in_two_bursts)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 5 * MTU + 1, SRDMA_WR_SIGNALED);
	limit.bytes = MTU;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(0, 1, 0, MTU, SRDMA_RC_WRITE_FIRST);
	EXPECT(!burst.b.ack_req);
	sent();
	limit.bytes = 65000;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(1, 5, MTU, 4 * MTU + 1, SRDMA_RC_WRITE_MIDDLE);
	EXPECT_EQ(srdma_burst_opcode(&burst.b, 4), SRDMA_RC_WRITE_LAST);
	EXPECT_EQ(srdma_burst_payload(&burst.b, 3), MTU);
	EXPECT_EQ(srdma_burst_payload(&burst.b, 4), 1);
	EXPECT(burst.b.ack_req);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_next__write_in_one_burst)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 5 * MTU + 1, SRDMA_WR_SIGNALED);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(0, 6, 0, 5 * MTU + 1, SRDMA_RC_WRITE_FIRST);
	EXPECT(burst.b.mixed);
	EXPECT(burst.b.ack_req);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* Of the rest the payload could not be had: it is next. */
TEST(req_sent__a_part_of_a_burst)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 5 * MTU + 1, SRDMA_WR_SOLICITED);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(burst.b.ack_req);
	srdma_burst_trim(&burst.b, 1);
	sent();
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(1, 5, MTU, 4 * MTU + 1, SRDMA_RC_WRITE_MIDDLE);
	EXPECT(burst.b.ack_req);
	EXPECT(burst.b.solicited);
	EXPECT(!burst.b.resend);
}

TEST(req_next__send_in_one_burst)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 3 * MTU, SRDMA_WR_SOLICITED);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(0, 3, 0, 3 * MTU, SRDMA_RC_SEND_FIRST);
	EXPECT_EQ(srdma_burst_opcode(&burst.b, 1), SRDMA_RC_SEND_MIDDLE);
	EXPECT_EQ(srdma_burst_opcode(&burst.b, 2), SRDMA_RC_SEND_LAST);
	EXPECT(burst.b.solicited);
}

TEST(req_next__last_write_with_immediate_goes_alone)
{
	begin(NULL);
	push(SRDMA_WR_WRITE_IMM, 3 * MTU, SRDMA_WR_SOLICITED);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(0, 2, 0, 2 * MTU, SRDMA_RC_WRITE_FIRST);
	EXPECT_EQ(srdma_burst_opcode(&burst.b, 1), SRDMA_RC_WRITE_MIDDLE);
	EXPECT(!burst.b.solicited);
	sent();
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(2, 1, 2 * MTU, MTU, SRDMA_RC_WRITE_LAST_IMM);
	EXPECT(burst.b.solicited);
}

TEST(req_next__empty_message_has_one_packet)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 0, 0);
	push(SRDMA_WR_READ, 0, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(0, 1, 0, 0, SRDMA_RC_WRITE_ONLY);
	sent();
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(1, 1, 0, 0, SRDMA_RC_READ_REQ);
	sent();
	EXPECT_EQ(read_resp(1, 0), SRDMA_REQ_PLACE);
	EXPECT_EQ(act.len, 0);
	placed();
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
}

TEST(req_next__limits_of_the_caller)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 20 * MTU, 0);
	limit.packets = 7;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 7);
	limit.bytes = 3 * MTU + MTU - 1;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 3);
	limit.bytes = 0;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 1);
	limit.packets = 0;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 1);
}

TEST(req_next__changes_nothing)
{
	struct srdma_rc_burst first;

	begin(NULL);
	push(SRDMA_WR_SEND, 5 * MTU, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	first = burst;
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_MEM(&first.b, &burst.b, sizeof(first.b));
	EXPECT_EQ(req.deadline, 0);
}

TEST(req_next__window_in_bytes)
{
	struct srdma_rc_req_attr a = usual;

	a.max_inflight = 5 * MTU;
	begin(&a);
	push(SRDMA_WR_SEND, 8 * MTU, 0);
	EXPECT_EQ(send_all(), 5);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	EXPECT(burst.b.ack_req);
	ack(1);
	EXPECT_EQ(send_all(), 2);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
}

TEST(req_next__window_smaller_than_a_packet)
{
	struct srdma_rc_req_attr a = usual;

	a.max_inflight = 1;
	begin(&a);
	push(SRDMA_WR_SEND, 2 * MTU, 0);
	EXPECT_EQ(send_all(), 1);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
}

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

TEST(req_ack_req__where_it_is_asked_for)
{
	struct srdma_rc_req_attr a = usual;

	a.max_inflight = 16 * MTU;
	begin(&a);
	push(SRDMA_WR_WRITE, 1, 0);
	push(SRDMA_WR_WRITE, 1, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_WRITE, 1, 0);
	push(SRDMA_WR_WRITE, 1, 0);
	push(SRDMA_WR_WRITE, 1, 0);
	send_one();
	EXPECT(!burst.b.ack_req);
	send_one();
	EXPECT(burst.b.ack_req);	/* signaled */
	send_one();
	EXPECT(!burst.b.ack_req);
	send_one();
	EXPECT(!burst.b.ack_req);
	send_one();
	EXPECT(!burst.b.ack_req);	/* nobody waits for it */
	limit.packets = 2;
	push(SRDMA_WR_SEND, 6 * MTU, 0);
	send_one();
	EXPECT(burst.b.ack_req);	/* a quarter of the window */
	send_one();
	EXPECT(!burst.b.ack_req);
	send_one();
	EXPECT(burst.b.ack_req);
}

TEST(req_ack_req__of_a_short_queue_a_quarter_goes_without)
{
	u32 quiet, i;

	begin(NULL);
	quiet = min((req.mask + 1) / 4, 16u);
	REQUIRE(quiet > 1);
	for (i = 1; i < quiet; i++) {
		push(SRDMA_WR_WRITE, 1, 0);
		send_one();
		EXPECT(!burst.b.ack_req);
	}
	push(SRDMA_WR_WRITE, 1, 0);
	send_one();
	EXPECT(burst.b.ack_req);
}

TEST(req_ack_req__a_probe_asks_when_nothing_follows)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 1, 0);
	send_one();
	EXPECT(!burst.b.ack_req);
	REQUIRE(req.deadline);
	now = req.deadline;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_PROBE);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT(burst.probe);
	EXPECT(burst.b.ack_req);
}

TEST(req_ack_req__what_waits_for_order_has_it_asked_for)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 1, 0);
	send_one();
	EXPECT(!burst.b.ack_req);
	push(SRDMA_WR_LOCAL_INV, 0, SRDMA_MSG_DRAIN);
	send_one();
	EXPECT(burst.probe);
	EXPECT(burst.b.ack_req);
	EXPECT_EQ(next(), SRDMA_NEXT_ORDER);
}

TEST(req_ack_req__draining_has_it_asked_for)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 1, 0);
	send_one();
	srdma_rc_req_drain(&req, true);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT(burst.probe);
	EXPECT(burst.b.ack_req);
}

/* Acknowledged without having asked: there is nothing to send again. */
TEST(req_ack_req__draining_asks_for_nothing_when_all_is_known)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 1, 0);
	send_one();
	EXPECT(!burst.b.ack_req);
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	srdma_rc_req_drain(&req, true);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT(srdma_rc_req_drained(&req));
}

TEST(req_ack__one_for_many)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 3 * MTU, 0);
	push(SRDMA_WR_WRITE, 1, 0);
	push(SRDMA_WR_WRITE, 1, 0);
	send_all();
	EXPECT_EQ(ack(1), SRDMA_REQ_ACK);
	EXPECT(!retired());
	EXPECT_EQ(ack(3), SRDMA_REQ_ACK);
	expect_retired(0, SRDMA_ST_OK);
	expect_retired(1, SRDMA_ST_OK);
	EXPECT(!retired());
	/* An older one says nothing new. */
	EXPECT_EQ(ack(2), SRDMA_REQ_ACK);
	EXPECT(!retired());
}

TEST(req_ack__of_what_was_never_sent)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	EXPECT_EQ(ack(0), SRDMA_REQ_DROP_GHOST);
	send_all();
	EXPECT_EQ(ack(1), SRDMA_REQ_DROP_GHOST);
	EXPECT_EQ(nak(1, SRDMA_NAK_REM_ACCESS), SRDMA_REQ_DROP_GHOST);
	EXPECT_EQ(read_resp(1, 0), SRDMA_REQ_DROP_GHOST);
	EXPECT(!retired());
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT_EQ(nak(0, SRDMA_NAK_REM_ACCESS), SRDMA_REQ_DROP_GHOST);
}

TEST(req_ack__implied_by_a_response)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_READ, 8, 0);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	send_all();
	EXPECT_EQ(read_resp(1, 8), SRDMA_REQ_PLACE);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT(!retired());
	placed();
	expect_retired(1, SRDMA_ST_OK);
	EXPECT(!retired());
	EXPECT_EQ(atomic_ack(3, 77), SRDMA_REQ_ATOMIC);
	EXPECT_EQ(act.orig, 77);
	EXPECT_EQ(act.idx, 3);
	EXPECT_EQ(act.len, 8);
	expect_retired(2, SRDMA_ST_OK);
	EXPECT(!retired());
	placed();
	expect_retired(3, SRDMA_ST_OK);
}

TEST(req_ack__reserved_syndromes)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(aeth(0, SRDMA_AETH_RESERVED), SRDMA_REQ_DROP_KIND);
	EXPECT_EQ(nak(0, SRDMA_NAK_INV_RD_REQ), SRDMA_REQ_DROP_KIND);
	EXPECT_EQ(nak(0, 9), SRDMA_REQ_DROP_KIND);
	EXPECT(!retired());
}

TEST(req_response__a_request_is_none)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(response(SRDMA_RC_SEND_ONLY, 0), SRDMA_REQ_DROP_KIND);
}

TEST(req_credit__one_packet_without)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 3 * MTU, 0);
	push(SRDMA_WR_SEND, 1, 0);
	limit.packets = 1;
	send_one();
	/* MSN 1 and no credit: messages up to number 1. */
	EXPECT_EQ(credits(0, 0, 1), SRDMA_REQ_ACK);
	send_one();
	EXPECT_EQ(burst.b.first, SRDMA_RC_SEND_FIRST);
	EXPECT(burst.b.ack_req);
	EXPECT_EQ(next(), SRDMA_NEXT_CREDIT);
	/* It was taken: the rest of that message may go. */
	EXPECT_EQ(credits(1, 0, 1), SRDMA_REQ_ACK);
	send_one();
	send_one();
	EXPECT(burst.b.ack_req);
	EXPECT_EQ(next(), SRDMA_NEXT_CREDIT);
	/* MSN 2 and a credit for number 3. */
	EXPECT_EQ(credits(3, 1, 2), SRDMA_REQ_ACK);
	send_one();
	EXPECT_EQ(burst.idx, 2);
}

/* The peer, which counts the credits, never hears of them. */
TEST(req_credit__local_operations_use_none)
{
	int i;

	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	send_one();
	/* MSN 1 and credits for number 2 and 3. */
	EXPECT_EQ(credits(0, 2, 1), SRDMA_REQ_ACK);
	for (i = 0; i < 3; i++) {
		push(SRDMA_WR_REG_MR, 0, 0);
		EXPECT_EQ(next(), SRDMA_NEXT_LOCAL);
		srdma_rc_req_local_done(&req, &burst);
	}
	for (i = 0; i < 3; i++)
		push(SRDMA_WR_SEND, 1, 0);
	EXPECT_EQ(send_all(), 2);
	EXPECT_EQ(next(), SRDMA_NEXT_CREDIT);
}

TEST(req_credit__others_need_none)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_WRITE, 1, 0);
	push(SRDMA_WR_READ, 8, 0);
	push(SRDMA_WR_FETCH_ADD, 8, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_one();
	credits(0, 0, 1);
	EXPECT_EQ(send_all(), 3);
	EXPECT_EQ(next(), SRDMA_NEXT_CREDIT);
}

TEST(req_credit__write_with_immediate_at_its_last_packet)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_WRITE_IMM, 4 * MTU, 0);
	send_one();
	credits(0, 0, 1);
	send_one();
	EXPECT_EQ(burst.b.count, 3);
	EXPECT(burst.b.ack_req);
	EXPECT_EQ(next(), SRDMA_NEXT_CREDIT);
	credits(3, 0, 1);
	send_one();
	EXPECT_EQ(burst.b.first, SRDMA_RC_WRITE_LAST_IMM);
}

TEST(req_credit__the_last_one_asks_for_more)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	send_one();
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	credits(0, 2, 1);
	send_one();
	EXPECT(!burst.b.ack_req);
	send_one();
	EXPECT(burst.b.ack_req);
	EXPECT_EQ(next(), SRDMA_NEXT_CREDIT);
}

TEST(req_credit__news_by_an_ack_that_comes_again)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	send_one();
	credits(0, 0, 1);
	EXPECT_EQ(req.lsn, 1);
	EXPECT_EQ(credits(0, 4, 1), SRDMA_REQ_ACK);
	EXPECT_EQ(req.lsn, 5);
	/* An old one takes nothing away. */
	EXPECT_EQ(credits(0, 1, 1), SRDMA_REQ_ACK);
	EXPECT_EQ(req.lsn, 5);
	EXPECT_EQ(nak(0, SRDMA_NAK_PSN_SEQ), SRDMA_REQ_DROP_GHOST);
	EXPECT(req.limited);
	EXPECT_EQ(aeth(0, 0x1f), SRDMA_REQ_ACK);
	EXPECT(!req.limited);
}

TEST(req_credit__code_31_is_without_limit)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_one();
	credits(0, 0, 1);
	send_one();
	EXPECT_EQ(next(), SRDMA_NEXT_CREDIT);
	aeth(1, 0x1f);
	send_one();
	EXPECT(!req.limited);
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

TEST(req_ring__indexes_go_on_for_ever)
{
	uint32_t i;

	begin(NULL);
	req.head = req.tail = req.una = req.cur = req.fresh = -5u;
	for (i = 0; i < 40; i++) {
		push(i % 3 ? SRDMA_WR_WRITE : SRDMA_WR_BIND_MW, i % 3, 0);
		if (next() == SRDMA_NEXT_LOCAL)
			srdma_rc_req_local_done(&req, &burst);
		else
			sent();
		if (i % 3)
			aeth_psn(srdma_psn_sub(req.max_psn, 1), 0x1f);
		expect_retired(-5u + i, SRDMA_ST_OK);
	}
}

TEST(req_ring__full)
{
	uint32_t i;

	begin(NULL);
	for (i = 0; i < RING; i++) {
		EXPECT(!srdma_rc_req_full(&req));
		push(SRDMA_WR_WRITE, 1, 0);
	}
	EXPECT(srdma_rc_req_full(&req));
	send_all();
	ack(0);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT(!srdma_rc_req_full(&req));
}

TEST(req_update__smaller_limits)
{
	struct srdma_rc_req_attr a = usual;

	begin(NULL);
	a.retry_cnt = 1;
	a.rnr_retry = 2;
	a.max_inflight = 3 * MTU;
	a.timeout = 1;
	srdma_rc_req_update(&req, &a);
	EXPECT_EQ(req.retry_left, 1);
	EXPECT_EQ(req.rnr_left, 2);
	EXPECT_EQ(req.cwnd, 3);
	EXPECT_EQ(req.timeout_ns, 8192);
	push(SRDMA_WR_SEND, 8 * MTU, 0);
	EXPECT_EQ(send_all(), 3);
}
