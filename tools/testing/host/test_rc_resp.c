// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What an RC responder says to requests that are lost, refused, out of order or
 * of a wrong length, and where it puts those that are right. The simulator has
 * only requesters that mean well, so this is not seen there. READs and atomics
 * are in test_rc_resp_read.c, what comes again in _dup.c.
 */
#include "resp_fixture.h"

TEST(resp_gap__one_nak)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_ACK(0x60, 0);
	EXPECT(!out.fatal);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 2, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 3, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_gap__another_when_the_requester_went_back)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 3, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_ACK(0x60, 0);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_ACK(0x60, 0);
}

TEST(resp_gap__another_for_the_next_gap)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_ACK(0x60, 0);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_SEND);
	commit();
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 2, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_ACK(0x60, 1);
}

TEST(resp_gap__nak_is_withdrawn_when_the_packet_comes)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_SEND);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_rnr__nothing_changes_and_it_comes_again)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_SEND);
	EXPECT(act.flags & SRDMA_ACT_RWQE);
	srdma_rc_resp_fail(&resp, &pkt, &act, SRDMA_WHY_NO_RWQE);
	EXPECT_ACK(0x2c, 0);
	EXPECT(!out.fatal);
	/* What was sent behind it is dropped without another word. */
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_SEND);
	EXPECT_EQ(resp.msn, 0);
	srdma_rc_resp_update(&resp, 1);
	srdma_rc_resp_fail(&resp, &pkt, &act, SRDMA_WHY_NO_RWQE);
	EXPECT_ACK(0x21, 0);
}

/* A network that duplicates and reorders: two packets come in every order. */
TEST(resp_rnr__what_is_behind_it_gets_no_nak_in_any_order)
{
	static const uint8_t steps[] = { 1, 2, 2, 1, 3, 1 };
	unsigned int i;

	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_SEND);
	srdma_rc_resp_fail(&resp, &pkt, &act, SRDMA_WHY_NO_RWQE);
	/* Not in place of the RNR NAK, and not after it. */
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 2, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_ACK(0x2c, 0);
	for (i = 0; i < sizeof(steps); i++)
		EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, steps[i], 4),
			  SRDMA_RESP_DROP_GAP);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_SEND);
	commit();
	/* From now on a gap is one again. */
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 3, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_ACK(0x60, 1);
}

TEST(resp_fail__each_reason_has_its_nak)
{
	static const struct {
		enum srdma_resp_why why;
		uint8_t syndrome;
	} rows[] = {
		{ SRDMA_WHY_INV_REQ, 0x61 },
		{ SRDMA_WHY_ACCESS, 0x62 },
		{ SRDMA_WHY_OP, 0x63 },
	};
	int i;

	for (i = 0; i < 3; i++) {
		begin(1);
		EXPECT_EQ(rdma(SRDMA_RC_WRITE_ONLY, 0, 4, 0x1000, 4),
			  SRDMA_RESP_WRITE);
		srdma_rc_resp_fail(&resp, &pkt, &act, rows[i].why);
		EXPECT_ACK(rows[i].syndrome, 0);
		EXPECT(out.fatal);
		EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4),
			  SRDMA_RESP_DROP_ERROR);
	}
}

TEST(resp_ack__only_when_asked_for)
{
	begin(1);
	fresh();
	pkt.ack_req = true;
	EXPECT_EQ(request(SRDMA_RC_SEND_FIRST, 0, MTU), SRDMA_RESP_SEND);
	commit();
	EXPECT_ACK(0x1f, 0);
	EXPECT_EQ(out.msn, 0);
	EXPECT_EQ(send(SRDMA_RC_SEND_LAST, 1, 1), SRDMA_RESP_SEND);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT_EQ(resp.msn, 1);
}

TEST(resp_credit__code_in_the_acknowledge)
{
	static const struct srdma_burst_limit limit = {
		.packets = 1,
		.bytes = 256,
	};

	begin(1);
	srdma_rc_resp_credit(&resp);
	REQUIRE(srdma_rc_resp_next(&resp, &limit, 7, &out) == SRDMA_OUT_ACK);
	EXPECT_EQ(out.syndrome, 0x05);	/* 6, the next code would be 8 */
}

TEST(resp_sequence__message_inside_a_message)
{
	static const uint8_t starts[] = {
		SRDMA_RC_SEND_FIRST, SRDMA_RC_SEND_ONLY, SRDMA_RC_WRITE_ONLY,
		SRDMA_RC_READ_REQ, SRDMA_RC_CMP_SWAP, SRDMA_RC_FLUSH,
		SRDMA_RC_ATOMIC_WRITE,
	};
	size_t i;

	for (i = 0; i < sizeof(starts); i++) {
		begin(4);
		EXPECT_EQ(send(SRDMA_RC_SEND_FIRST, 0, MTU), SRDMA_RESP_SEND);
		commit();
		fresh();
		if (starts[i] == SRDMA_RC_ATOMIC_WRITE)
			pkt.reth.len = 8;
		EXPECT_INV_REQ(request(starts[i], 1, starts[i] ==
				       SRDMA_RC_SEND_FIRST ? MTU :
				       pkt.reth.len), 1);
	}
}

TEST(resp_sequence__middle_or_last_of_nothing)
{
	begin(1);
	EXPECT_INV_REQ(send(SRDMA_RC_SEND_MIDDLE, 0, MTU), 0);
	begin(1);
	EXPECT_INV_REQ(send(SRDMA_RC_SEND_LAST, 0, 1), 0);
	begin(1);
	EXPECT_INV_REQ(send(SRDMA_RC_WRITE_LAST, 0, 1), 0);
}

TEST(resp_sequence__send_continued_as_write)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_FIRST, 0, MTU), SRDMA_RESP_SEND);
	commit();
	EXPECT_INV_REQ(send(SRDMA_RC_WRITE_LAST, 1, 1), 1);
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_WRITE_FIRST, 0, MTU, 0, MTU + 1),
		  SRDMA_RESP_WRITE);
	commit();
	EXPECT_INV_REQ(send(SRDMA_RC_SEND_LAST, 1, 1), 1);
}

/* A NAK acknowledges what is in front of it, so the answers to that come first. */
TEST(resp_refuse__in_its_turn_and_once)
{
	begin(4);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 2 * MTU),
		  SRDMA_RESP_READ);
	commit();
	fresh();
	pkt.psn = (FIRST + 2) & 0xffffff;
	REQUIRE(srdma_rc_resp_expects(&resp, &pkt));
	srdma_rc_resp_refuse(&resp, &pkt, srdma_aeth_nak(SRDMA_NAK_REM_ACCESS));
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_ACK(0x62, 2);
	EXPECT(!out.fatal);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	/* The requester, if it goes on, finds all as it was. */
	fresh();
	pkt.ack_req = true;
	EXPECT_EQ(request(SRDMA_RC_SEND_ONLY, 2, 3), SRDMA_RESP_SEND);
	commit();
	EXPECT_ACK(0x1f, 2);
}

/* What follows one that is to come again is no second reason to go back. */
TEST(resp_refuse__what_follows_is_dropped)
{
	uint8_t rnr;

	for (rnr = 0; rnr < 2; rnr++) {
		begin(4);
		fresh();
		pkt.psn = FIRST;
		srdma_rc_resp_refuse(&resp, &pkt, rnr ? srdma_aeth_rnr(3) :
				     srdma_aeth_nak(SRDMA_NAK_PSN_SEQ));
		EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 3), SRDMA_RESP_DROP_GAP);
		EXPECT_ACK(rnr ? 0x23 : 0x60, 0);
		EXPECT_EQ(respond(), SRDMA_OUT_NONE);
		/* It has gone back, and the refused one was lost this time. */
		EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 3), SRDMA_RESP_DROP_GAP);
		if (!rnr)
			EXPECT_ACK(0x60, 0);
		EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	}
}

TEST(resp_length__not_the_path_mtu)
{
	begin(1);
	EXPECT_INV_REQ(send(SRDMA_RC_SEND_FIRST, 0, 2 * MTU), 0);
	begin(1);
	EXPECT_INV_REQ(send(SRDMA_RC_SEND_ONLY, 0, MTU + 1), 0);
}

TEST(resp_length__write_must_add_up)
{
	begin(1);
	EXPECT_INV_REQ(rdma(SRDMA_RC_WRITE_ONLY, 0, 5, 0, 4), 0);
	begin(1);
	EXPECT_INV_REQ(rdma(SRDMA_RC_WRITE_ONLY, 0, 3, 0, 4), 0);
	/* FIRST leaves nothing for a LAST. */
	begin(1);
	EXPECT_INV_REQ(rdma(SRDMA_RC_WRITE_FIRST, 0, MTU, 0, MTU), 0);
	begin(1);
	EXPECT_INV_REQ(rdma(SRDMA_RC_WRITE_FIRST, 0, MTU, 0, 0x80000001), 0);
}

TEST(resp_length__write_goes_too_far)
{
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_WRITE_FIRST, 0, MTU, 0x1000, 2 * MTU),
		  SRDMA_RESP_WRITE);
	EXPECT_EQ(act.total, 2 * MTU);
	commit();
	EXPECT_INV_REQ(send(SRDMA_RC_WRITE_MIDDLE, 1, MTU), 1);
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_WRITE_FIRST, 0, MTU, 0x1000, MTU + 4),
		  SRDMA_RESP_WRITE);
	commit();
	EXPECT_INV_REQ(send(SRDMA_RC_WRITE_LAST, 1, 5), 1);
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_WRITE_FIRST, 0, MTU, 0x1000, MTU + 4),
		  SRDMA_RESP_WRITE);
	commit();
	EXPECT_INV_REQ(send(SRDMA_RC_WRITE_LAST, 1, 3), 1);
}

TEST(resp_length__longest_send)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_FIRST, 0, MTU), SRDMA_RESP_SEND);
	commit();
	resp.offset = 0x80000000u - MTU;	/* 2^23 packets later */
	EXPECT_EQ(send(SRDMA_RC_SEND_MIDDLE, 1, MTU), SRDMA_RESP_SEND);
	commit();
	EXPECT_INV_REQ(send(SRDMA_RC_SEND_LAST, 2, 1), 2);
}

TEST(resp_write__where_each_packet_goes)
{
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_WRITE_FIRST, 0, MTU, 0x1000, 2 * MTU + 3),
		  SRDMA_RESP_WRITE);
	EXPECT_EQ(act.va, 0x1000);
	EXPECT_EQ(act.flags, SRDMA_ACT_START);
	commit();
	EXPECT_EQ(send(SRDMA_RC_WRITE_MIDDLE, 1, MTU), SRDMA_RESP_WRITE);
	EXPECT_EQ(act.va, 0x1100);
	EXPECT_EQ(act.rkey, 7);
	EXPECT_EQ(act.offset, MTU);
	commit();
	fresh();
	pkt.se = true;
	EXPECT_EQ(request(SRDMA_RC_WRITE_LAST_IMM, 2, 3), SRDMA_RESP_WRITE);
	EXPECT_EQ(act.va, 0x1200);
	EXPECT_EQ(act.total, 2 * MTU + 3);
	EXPECT_EQ(act.flags, SRDMA_ACT_END | SRDMA_ACT_RWQE | SRDMA_ACT_COMP |
		  SRDMA_ACT_SE);
}

TEST(resp_send__solicited_only_if_it_says_so)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 3), SRDMA_RESP_SEND);
	EXPECT_EQ(act.flags, SRDMA_ACT_START | SRDMA_ACT_END | SRDMA_ACT_RWQE |
		  SRDMA_ACT_COMP);
}
