// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that come again, because a response was lost or the network repeats
 * them: answered from what is kept, and not executed.
 */
#include "resp_fixture.h"

TEST(resp_duplicate__acknowledged_again)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_SEND);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);	/* not asked for */
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_DUP);
	EXPECT_ACK(0x1f, 0);
	EXPECT_EQ(out.msn, 1);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_duplicate__write_is_not_executed_again)
{
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_WRITE_ONLY, 0, 4, 0x1000, 4),
		  SRDMA_RESP_WRITE);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_WRITE_ONLY, 0, 4, 0x1000, 4), SRDMA_RESP_DUP);
	EXPECT_EQ(resp.msn, 1);
}

TEST(resp_duplicate_read__from_any_packet_on)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 2, 0, 0x2200, MTU + 1),
		  SRDMA_RESP_DUP_READ);
	EXPECT(act.flags & SRDMA_ACT_DUP);
	EXPECT_EQ(act.len, MTU + 1);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_FIRST);
	EXPECT_EQ(out.b.psn, 0);
	EXPECT_EQ(out.va, 0x2200);
	EXPECT_EQ(resp.epsn, 2);
	EXPECT_EQ(resp.msn, 1);
}

/* 9.7.5.1: a part may end inside a packet, and has no byte more. */
TEST(resp_duplicate_read__ends_where_it_is_asked_to)
{
	static const uint32_t lengths[] = {
		0, 1, 4, MTU - 1, MTU, MTU + 4, 2 * MTU, 3 * MTU, 3 * MTU + 1,
	};
	uint32_t i, count;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		answered_read();
		EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, lengths[i]),
			  SRDMA_RESP_DUP_READ);
		commit();
		EXPECT_EQ(respond(), SRDMA_OUT_READ);
		count = srdma_burst_packets(lengths[i], resp.mtu_shift);
		EXPECT_EQ(out.b.count, count);
		EXPECT_EQ(out.b.len, lengths[i]);
		EXPECT_EQ(srdma_burst_payload(&out.b, count - 1),
			  lengths[i] - (count - 1) * MTU);
		EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	}
}

/* In pieces as well: only the last one is short. */
TEST(resp_duplicate_read__ends_there_in_pieces)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 2 * MTU + 4),
		  SRDMA_RESP_DUP_READ);
	commit();
	EXPECT_EQ(respond_some(2), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.len, 2 * MTU);
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_LAST);
	EXPECT_EQ(out.b.len, 4);
	/* All of it, afterwards. */
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 3 * MTU + 1),
		  SRDMA_RESP_DUP_READ);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.len, 3 * MTU + 1);
}

/* What was asked for before is not cut short by a repetition of less. */
TEST(resp_duplicate_read__of_less_takes_nothing_away)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 2 * MTU),
		  SRDMA_RESP_DUP_READ);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, MTU + 4),
		  SRDMA_RESP_DUP_READ);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.len, 2 * MTU);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, MTU + 4),
		  SRDMA_RESP_DUP_READ);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 2 * MTU),
		  SRDMA_RESP_DUP_READ);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.len, 2 * MTU);
}

TEST(resp_duplicate_read__other_range_is_dropped)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2001, 4),
		  SRDMA_RESP_DROP_RANGE);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 3 * MTU + 2),
		  SRDMA_RESP_DROP_RANGE);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, 0x2100, 2 * MTU + 2),
		  SRDMA_RESP_DROP_RANGE);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, 0x2000, 1),
		  SRDMA_RESP_DROP_RANGE);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_duplicate_read__other_kind_is_dropped)
{
	answered_read();
	EXPECT_EQ(atomic(SRDMA_RC_CMP_SWAP, 0, 0x2000), SRDMA_RESP_DROP_RANGE);
	EXPECT_EQ(rdma(SRDMA_RC_FLUSH, 0, 0, 0x2000, 4),
		  SRDMA_RESP_DROP_RANGE);
}

TEST(resp_duplicate_read__bad_key_is_not_fatal)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 4),
		  SRDMA_RESP_DUP_READ);
	srdma_rc_resp_fail(&resp, &pkt, &act, SRDMA_WHY_ACCESS);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 4, 0), SRDMA_RESP_SEND);
}

/* Its key is nobody's: it is not looked at, nor for what is asked for next. */
TEST(resp_duplicate_read__of_nothing_keeps_the_key)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, 0x2100, 2 * MTU + 1),
		  SRDMA_RESP_DUP_READ);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 2, 0, 0x2200, 0),
		  SRDMA_RESP_DUP_READ);
	act.rkey = 8;
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(out.rkey, 7);
}

TEST(resp_duplicate_read__no_longer_kept)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 4, 0, 0x9000, 1), SRDMA_RESP_READ);
	commit();
	while (respond() != SRDMA_OUT_NONE)
		;
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 4),
		  SRDMA_RESP_DROP_OLD);
}

#define GIB	(1u << 30)

/* All PSNs are used up by four of these. */
static uint32_t read_gib(uint32_t step, uint64_t va, uint32_t len)
{
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, step, 0, va, len), SRDMA_RESP_READ);
	commit();
	while (respond_some(64) != SRDMA_OUT_NONE)
		;
	return step + len / MTU;
}

TEST(resp_dup__of_this_time_round_the_circle)
{
	uint32_t step = 0;
	int i;

	begin(8);
	for (i = 0; i < 5; i++)
		step = read_gib(step, (uint64_t)GIB * i, GIB);
	/* The last packet of the fifth is where that of the first was. */
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, step - 1, 0,
		       (uint64_t)GIB * 5 - MTU, MTU), SRDMA_RESP_DUP_READ);
}

TEST(resp_dup__atomic_of_this_time_round_the_circle)
{
	uint32_t step = 1;
	int i;

	begin(8);
	EXPECT_EQ(atomic(SRDMA_RC_FETCH_ADD, 0, 8), SRDMA_RESP_ATOMIC);
	act.orig = 111;
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_ATOMIC);
	for (i = 0; i < 4; i++)
		step = read_gib(step, 0, i ? GIB : GIB - MTU);
	EXPECT_EQ(atomic(SRDMA_RC_FETCH_ADD, step, 8), SRDMA_RESP_ATOMIC);
	act.orig = 222;
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_ATOMIC);
	EXPECT_EQ(atomic(SRDMA_RC_FETCH_ADD, step, 8), SRDMA_RESP_DUP);
	EXPECT_EQ(respond(), SRDMA_OUT_ATOMIC);
	EXPECT_EQ(out.orig, 222);
}
