// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How an RC responder answers READs, atomics, ATOMIC WRITE and FLUSH, and what it
 * does when memory cannot be read any more.
 */
#include "proto/wire.h"
#include "resp_fixture.h"

TEST(resp_read__none_agreed)
{
	begin(0);
	EXPECT_INV_REQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0, 4), 0);
	begin(0);
	EXPECT_INV_REQ(atomic(SRDMA_RC_FETCH_ADD, 0, 8), 0);
}

TEST(resp_read__more_than_agreed)
{
	begin(2);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0, 4), SRDMA_RESP_READ);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, 0, 4), SRDMA_RESP_READ);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 2, 0, 0, 4),
		  SRDMA_RESP_NAK_INV_REQ);
	/* What was accepted is answered before the NAK. */
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_ACK(0x61, 2);
}

TEST(resp_read__longer_than_a_message)
{
	begin(1);
	EXPECT_INV_REQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0, 0x80000001), 0);
}

TEST(resp_read__its_packets)
{
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 3 * MTU + 5),
		  SRDMA_RESP_READ);
	commit();
	EXPECT_EQ(resp.epsn, 2);
	EXPECT_EQ(respond_some(1), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_FIRST);
	EXPECT_EQ(out.b.psn, FIRST);
	EXPECT_EQ(out.va, 0x2000);
	EXPECT_EQ(out.rkey, 7);
	EXPECT_EQ(respond_some(2), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_MIDDLE);
	EXPECT_EQ(out.b.count, 2);
	EXPECT(!out.b.mixed);
	EXPECT_EQ(out.va, 0x2100);
	EXPECT_EQ(out.b.len, 2 * MTU);
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_LAST);
	EXPECT_EQ(out.b.psn, 1);
	EXPECT_EQ(out.va, 0x2300);
	EXPECT_EQ(out.b.len, 5);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_atomic__replayed_not_executed)
{
	begin(2);
	EXPECT_EQ(atomic(SRDMA_RC_FETCH_ADD, 0, 0x3000), SRDMA_RESP_ATOMIC);
	act.orig = 0x1122334455667788;
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_ATOMIC);
	EXPECT_EQ(out.orig, 0x1122334455667788);
	EXPECT_EQ(atomic(SRDMA_RC_FETCH_ADD, 0, 0x3000), SRDMA_RESP_DUP);
	EXPECT_EQ(respond(), SRDMA_OUT_ATOMIC);
	EXPECT_EQ(out.orig, 0x1122334455667788);
	EXPECT_EQ(out.b.psn, FIRST);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_atomic__unaligned)
{
	int off;

	for (off = 1; off < 8; off++) {
		begin(1);
		EXPECT_INV_REQ(atomic(SRDMA_RC_CMP_SWAP, 0, 0x3000 + off), 0);
		begin(1);
		EXPECT_INV_REQ(rdma(SRDMA_RC_ATOMIC_WRITE, 0, 8, 0x3000 + off,
				    8), 0);
	}
}

TEST(resp_atomic_write__length_in_the_header)
{
	begin(1);
	EXPECT_INV_REQ(rdma(SRDMA_RC_ATOMIC_WRITE, 0, 8, 0x3000, 4), 0);
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_ATOMIC_WRITE, 0, 8, 0x3000, 8),
		  SRDMA_RESP_ATOMIC_WRITE);
	EXPECT_EQ(act.va, 0x3000);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_ONLY);
	EXPECT_EQ(out.b.len, 0);
}

TEST(resp_flush__answered_like_a_read_of_nothing)
{
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_FLUSH, 0, 0, 0x3000, 64), SRDMA_RESP_FLUSH);
	EXPECT_EQ(act.len, 64);
	EXPECT_EQ(act.va, 0x3000);
	commit();
	EXPECT_EQ(resp.epsn, 0xffffff);
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_ONLY);
	EXPECT_EQ(out.b.len, 0);
	EXPECT_EQ(rdma(SRDMA_RC_FLUSH, 0, 0, 0x3000, 64), SRDMA_RESP_DUP);
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
}

TEST(resp_flush__of_a_reserved_selectivity_is_invalid)
{
	uint8_t sel;

	for (sel = 0; sel < 4; sel++) {
		begin(1);
		fresh();
		pkt.reth.va = 0x3000;
		pkt.reth.len = 64;
		pkt.feth.plt = SRDMA_FLUSH_GLOBAL;
		pkt.feth.sel = sel;
		if (sel <= SRDMA_FLUSH_MR)
			EXPECT_EQ(request(SRDMA_RC_FLUSH, 0, 0),
				  SRDMA_RESP_FLUSH);
		else
			EXPECT_INV_REQ(request(SRDMA_RC_FLUSH, 0, 0), 0);
	}
}

/* It has bounds of its own: those of the request need not have been set. */
TEST(resp_flush__of_a_region_whatever_the_length)
{
	uint8_t sel;

	for (sel = SRDMA_FLUSH_RANGE; sel <= SRDMA_FLUSH_MR; sel++) {
		begin(1);
		fresh();
		pkt.reth.va = 0x3000;
		pkt.reth.len = SRDMA_MSG_MAX + 1u;
		pkt.feth.plt = SRDMA_FLUSH_GLOBAL;
		pkt.feth.sel = sel;
		if (sel == SRDMA_FLUSH_MR)
			EXPECT_EQ(request(SRDMA_RC_FLUSH, 0, 0),
				  SRDMA_RESP_FLUSH);
		else
			EXPECT_INV_REQ(request(SRDMA_RC_FLUSH, 0, 0), 0);
	}
}

TEST(resp_nak__behind_the_read_data)
{
	begin(2);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 4), SRDMA_RESP_READ);
	commit();
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 2, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_ACK(0x60, 1);
}

/* The memory of what is to be sent next cannot be read. */
static void fail_read(void)
{
	static const struct srdma_burst_limit limit = {
		.packets = 64,
		.bytes = 64 * MTU,
	};

	REQUIRE(srdma_rc_resp_next(&resp, &limit, 1, &out) == SRDMA_OUT_READ);
	srdma_rc_resp_read_fail(&resp, &out, SRDMA_WHY_ACCESS);
}

TEST(resp_read_fail__nothing_behind_it_is_answered)
{
	begin(2);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 4), SRDMA_RESP_READ);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, 0x2000, 4), SRDMA_RESP_READ);
	commit();
	fail_read();
	EXPECT_ACK(0x62, 0);
	EXPECT(out.fatal);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

/* The memory is taken away when a part of the data has left. */
TEST(resp_read_fail__behind_a_part_of_a_burst)
{
	static const struct srdma_burst_limit limit = {
		.packets = 64,
		.bytes = 65536,
	};

	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 5 * MTU),
		  SRDMA_RESP_READ);
	commit();
	REQUIRE(srdma_rc_resp_next(&resp, &limit, 1, &out) == SRDMA_OUT_READ);
	EXPECT_EQ(out.b.count, 5);
	srdma_burst_trim(&out.b, 4);
	srdma_rc_resp_sent(&resp, &out);
	fail_read();
	EXPECT_EQ(out.b.count, 1);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_LAST);
	EXPECT_EQ(out.va, 0x2000 + 4 * MTU);
	EXPECT_ACK(0x62, 4);
	EXPECT(out.fatal);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_read_fail__of_a_repetition_is_not_fatal)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 3 * MTU + 1),
		  SRDMA_RESP_DUP_READ);
	commit();
	EXPECT_EQ(respond_some(1), SRDMA_OUT_READ);
	fail_read();
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 4, 0), SRDMA_RESP_SEND);
}

TEST(resp_read_fail__of_the_front_repeated_is_not_fatal)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, MTU),
		  SRDMA_RESP_DUP_READ);
	commit();
	fail_read();
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 4, 0), SRDMA_RESP_SEND);
}

TEST(resp_read_fail__behind_a_repetition_is_where_the_data_ends)
{
	begin(2);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, MTU),
		  SRDMA_RESP_READ);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, 0x3000, 4 * MTU),
		  SRDMA_RESP_READ);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(respond_some(1), SRDMA_OUT_READ);
	/* Both are asked for again, of the second one packet is out. */
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, MTU),
		  SRDMA_RESP_DUP_READ);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, 0x3000, 4 * MTU),
		  SRDMA_RESP_DUP_READ);
	commit();
	fail_read();
	EXPECT_EQ(out.b.psn, FIRST);
	fail_read();
	EXPECT_EQ(out.b.psn, FIRST + 1);
	fail_read();
	EXPECT_EQ(out.b.psn, (FIRST + 2) & 0xffffff);
	EXPECT_ACK(0x62, 2);
	EXPECT(out.fatal);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}
