// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Parts of a READ that are asked for again while its answer goes on, or before other
 * parts were sent.
 */
#include "resp_fixture.h"

#define VA	0x2000

/* A READ of @packets; @sent of them are sent. */
static void begin_read(uint32_t packets, uint32_t sent)
{
	begin(2);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, VA, packets * MTU),
		  SRDMA_RESP_READ);
	commit();
	if (sent)
		EXPECT_EQ(respond_some(sent), SRDMA_OUT_READ);
}

static void ask(uint32_t first, uint32_t end)
{
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, first, 0, VA + first * MTU,
		       (end - first) * MTU), SRDMA_RESP_DUP_READ);
	commit();
}

static void expect_read(uint32_t first, uint32_t end, uint8_t opcode)
{
	REQUIRE(EXPECT_EQ(respond(), SRDMA_OUT_READ));
	EXPECT_EQ(out.b.psn, (FIRST + first) & 0xffffff);
	EXPECT_EQ(out.b.count, end - first);
	EXPECT_EQ(out.b.len, (end - first) * MTU);
	EXPECT_EQ(out.va, VA + first * MTU);
	EXPECT_EQ(out.b.first, opcode);
}

TEST(resp_part__goes_before_the_rest_and_leaves_it)
{
	begin_read(10, 5);
	ask(1, 2);
	ask(3, 5);
	expect_read(1, 2, SRDMA_RC_READ_RESP_ONLY);
	expect_read(3, 5, SRDMA_RC_READ_RESP_FIRST);
	EXPECT_EQ(out.b.last, SRDMA_RC_READ_RESP_LAST);
	expect_read(5, 10, SRDMA_RC_READ_RESP_MIDDLE);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_part__in_pieces)
{
	begin_read(10, 6);
	ask(1, 4);
	EXPECT_EQ(respond_some(2), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_FIRST);
	EXPECT_EQ(out.b.count, 2);
	expect_read(3, 4, SRDMA_RC_READ_RESP_LAST);
	expect_read(6, 10, SRDMA_RC_READ_RESP_MIDDLE);
}

/* The first one is an answer like any, and the others wait behind it. */
TEST(resp_part__several_after_the_answer)
{
	begin_read(10, 10);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	ask(1, 2);
	ask(4, 6);
	ask(8, 9);
	EXPECT(srdma_rc_resp_due(&resp));
	expect_read(1, 2, SRDMA_RC_READ_RESP_ONLY);
	EXPECT(srdma_rc_resp_due(&resp));
	expect_read(4, 6, SRDMA_RC_READ_RESP_FIRST);
	expect_read(8, 9, SRDMA_RC_READ_RESP_ONLY);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT(!srdma_rc_resp_due(&resp));
}

/* The rest, from some packet on: that is sent instead of what goes on. */
TEST(resp_part__that_is_the_rest_begins_again)
{
	begin_read(10, 5);
	ask(2, 10);
	expect_read(2, 10, SRDMA_RC_READ_RESP_FIRST);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_part__more_than_are_kept_are_not_heard)
{
	uint32_t i;

	begin_read(100, 60);
	for (i = 0; i < SRDMA_RESP_PARTS + 5; i++)
		ask(2 * i, 2 * i + 1);
	for (i = 0; i < SRDMA_RESP_PARTS; i++)
		expect_read(2 * i, 2 * i + 1, SRDMA_RC_READ_RESP_ONLY);
	expect_read(60, 100, SRDMA_RC_READ_RESP_MIDDLE);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

/* Without memory for parts one is sent at a time; the requester asks again. */
TEST(resp_part__without_memory_one_at_a_time)
{
	begin_read(10, 5);
	resp.mend = NULL;
	ask(1, 2);
	expect_read(5, 10, SRDMA_RC_READ_RESP_MIDDLE);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	ask(1, 2);
	ask(3, 4);
	expect_read(1, 2, SRDMA_RC_READ_RESP_ONLY);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

/* 9.7.5.1: a part may end inside a packet; what goes on behind it does not. */
TEST(resp_part__ends_inside_a_packet)
{
	begin_read(10, 5);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, VA + MTU, MTU + 4),
		  SRDMA_RESP_DUP_READ);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT(out.is_part);
	EXPECT_EQ(out.b.count, 2);
	EXPECT_EQ(out.b.len, MTU + 4);
	expect_read(5, 10, SRDMA_RC_READ_RESP_MIDDLE);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

/* Its place is taken by a later READ: the requester has had it all. */
TEST(resp_part__of_a_read_that_is_over)
{
	begin_read(4, 4);
	ask(0, 1);
	ask(2, 3);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 4, 0, VA + 4 * MTU, MTU),
		  SRDMA_RESP_READ);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 5, 0, VA + 5 * MTU, MTU),
		  SRDMA_RESP_READ);
	commit();
	expect_read(4, 5, SRDMA_RC_READ_RESP_ONLY);
	expect_read(5, 6, SRDMA_RC_READ_RESP_ONLY);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_part__of_memory_that_is_gone_is_not_sent)
{
	const struct srdma_burst_limit limit = { .packets = 64, .bytes = 65000 };

	begin_read(10, 5);
	ask(1, 2);
	ask(3, 4);
	EXPECT_EQ(srdma_rc_resp_next(&resp, &limit, 0, &out), SRDMA_OUT_READ);
	srdma_rc_resp_read_fail(&resp, &out, SRDMA_WHY_ACCESS);
	EXPECT(!resp.dead);
	expect_read(3, 4, SRDMA_RC_READ_RESP_ONLY);
	expect_read(5, 10, SRDMA_RC_READ_RESP_MIDDLE);
}

/* Trains: does another answer follow this one? */
TEST(resp_part__is_followed_by_more)
{
	begin_read(10, 5);
	ask(1, 2);
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.count, 1);
	EXPECT(out.is_part);
	begin_read(10, 5);
	ask(1, 2);
	EXPECT_EQ(srdma_rc_resp_next(&resp, &(struct srdma_burst_limit){
			.packets = 64, .bytes = 65000 }, 0, &out),
		  SRDMA_OUT_READ);
	EXPECT(srdma_rc_resp_more(&resp, &out));
}
