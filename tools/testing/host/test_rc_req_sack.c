// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a selective acknowledge may say, and what of that is believed.
 */
#include "req_fixture.h"

/* Twelve packets of three WRITEs are out. */
static void begin_writes(void)
{
	int i;

	begin(NULL);
	for (i = 0; i < 3; i++)
		push(SRDMA_WR_WRITE, 4 * MTU, 0);
	EXPECT_EQ(send_all(), 12);
}

static void expect_again(uint32_t step, uint32_t count)
{
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, psn(step));
	EXPECT_EQ(burst.b.count, count);
	EXPECT(burst.b.resend);
	sent();
}

/* Half of the circle away, whichever end of it is reported. */
TEST(req_sack__holes_that_are_nowhere_near_are_none)
{
	static const uint32_t steps[] = {
		12, 13, 0x7ffff0, 0x7fffff, 0x800000, 0x800001, 0xfffff0,
	};
	uint8_t number = 1;
	size_t i;

	begin_writes();
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		no_holes();
		hole(0, steps[i], 16);
		EXPECT_EQ(sack(0, number++, 0), SRDMA_REQ_SACK);
		EXPECT_EQ(req.again_count, 0);
		EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	}
}

/* One that begins before what is outstanding, and ends in it, or behind. */
TEST(req_sack__holes_are_what_is_outstanding_of_them)
{
	begin_writes();
	no_holes();
	hole(0, 0xffffff, 4);
	EXPECT_EQ(sack(0, 1, 0), SRDMA_REQ_SACK);
	EXPECT_EQ(req.mend->again[0].psn, psn(1));
	expect_again(1, 2);
	no_holes();
	hole(0, 10, 255);
	EXPECT_EQ(sack(0, 2, 0), SRDMA_REQ_SACK);
	expect_again(10, 2);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* All is acknowledged: nothing is sent of what was only posted. */
TEST(req_sack__holes_of_nothing_are_none)
{
	begin_writes();
	EXPECT_EQ(ack(11), SRDMA_REQ_ACK);
	no_holes();
	hole(0, 0x7fffff + 12, 2);
	EXPECT_EQ(sack(11, 1, 0), SRDMA_REQ_SACK);
	push(SRDMA_WR_WRITE, 4 * MTU, 0);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, psn(12));
	EXPECT(!burst.b.resend);
}
