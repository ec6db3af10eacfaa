// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Acknowledges, for the requester: where it asks for them, what they cover, and
 * the credits they bring.
 */
#include "req_fixture.h"

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

TEST(req_ack_req__not_for_the_last_in_the_queue)
{
	begin(&few);
	push(SRDMA_WR_SEND, 1, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(!burst.b.ack_req);
	EXPECT(!burst.b.solicited);
	push(SRDMA_WR_SEND, 1, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(!burst.b.ack_req);
}

TEST(req_ack_req__for_what_is_signaled)
{
	begin(&few);
	push(SRDMA_WR_WRITE, 1, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_WRITE, 1, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(burst.b.ack_req);
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

TEST(req_ack__what_it_covers_and_no_more)
{
	begin(&few);
	push(SRDMA_WR_SEND, MTU + 1, 0);
	push(SRDMA_WR_WRITE, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	EXPECT(!retired());
	EXPECT_EQ(ack(1), SRDMA_REQ_ACK);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT(!retired());
	EXPECT_EQ(ack(3), SRDMA_REQ_ACK);
	expect_retired(1, SRDMA_ST_OK);
	expect_retired(2, SRDMA_ST_OK);
	EXPECT_EQ(req.deadline, 0);
}

TEST(req_ack__of_what_was_not_sent)
{
	begin(&few);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(ack(1), SRDMA_REQ_DROP_GHOST);
	EXPECT_EQ(ack(0x100), SRDMA_REQ_DROP_GHOST);
	EXPECT(!retired());
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	/* The same again; it may bring credits, but no other message. */
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	EXPECT_EQ(aeth(0, 0x60), SRDMA_REQ_DROP_GHOST);
	expect_retired(0, SRDMA_ST_OK);
	EXPECT(!retired());
}

TEST(req_ack__does_not_answer_a_read)
{
	begin(&few);
	push(SRDMA_WR_READ, 4, 0);
	push(SRDMA_WR_SEND, 4, 0);
	send_all();
	ack(0);
	EXPECT(!retired());
	EXPECT_EQ(take_read(SRDMA_RC_READ_RESP_ONLY, 0, 4), SRDMA_REQ_PLACE);
	expect_retired(0, SRDMA_ST_OK);
}

TEST(req_response__a_request_is_none)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(response(SRDMA_RC_SEND_ONLY, 0), SRDMA_REQ_DROP_KIND);
}

TEST(req_response__nor_is_one_of_another_kind)
{
	static const uint8_t requests[] = {
		SRDMA_RC_SEND_FIRST, SRDMA_RC_WRITE_ONLY, SRDMA_RC_READ_REQ,
		SRDMA_RC_CMP_SWAP, SRDMA_RC_FLUSH, SRDMA_RC_ATOMIC_WRITE,
	};
	size_t i;

	begin(&few);
	push(SRDMA_WR_READ, 4, 0);
	send_all();
	for (i = 0; i < sizeof(requests); i++)
		EXPECT_EQ(response(requests[i], 0), SRDMA_REQ_DROP_KIND);
	EXPECT(!retired());
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

TEST(req_credit__none_means_one_at_a_time)
{
	begin(&few);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_one();
	/* MSN 0, no credit: not even this one had a receive WQE yet. */
	EXPECT_EQ(aeth(0, 0x00), SRDMA_REQ_ACK);
	EXPECT_EQ(send_all(), 1);
	EXPECT_EQ(next(), SRDMA_NEXT_CREDIT);
	EXPECT_EQ(ack(1), SRDMA_REQ_ACK);
	send_all();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}
