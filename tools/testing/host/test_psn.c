// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* 24-bit sequence numbers. */
#include "proto/psn.h"
#include "test.h"

TEST(psn_add__wraps_at_24_bits)
{
	EXPECT_EQ(srdma_psn_add(0, 0), 0);
	EXPECT_EQ(srdma_psn_add(0xfffffe, 1), 0xffffff);
	EXPECT_EQ(srdma_psn_add(0xffffff, 1), 0);
	EXPECT_EQ(srdma_psn_add(0xffffff, 0x1000001), 0);
	EXPECT_EQ(srdma_psn_add(5, -6), 0xffffff);
}

TEST(psn_sub__wraps_below_zero)
{
	EXPECT_EQ(srdma_psn_sub(0, 1), 0xffffff);
	EXPECT_EQ(srdma_psn_sub(0x800000, 0x800000), 0);
	EXPECT_EQ(srdma_psn_sub(3, 1), 2);
}

TEST(psn_next__wraps)
{
	EXPECT_EQ(srdma_psn_next(0x7fffff), 0x800000);
	EXPECT_EQ(srdma_psn_next(0xffffff), 0);
}

TEST(psn_dist__counts_forward_only)
{
	EXPECT_EQ(srdma_psn_dist(7, 7), 0);
	EXPECT_EQ(srdma_psn_dist(0xffffff, 1), 2);
	EXPECT_EQ(srdma_psn_dist(1, 0xffffff), 0xfffffe);
	EXPECT_EQ(srdma_psn_dist(1, 0), 0xffffff);
}

TEST(psn_diff__is_signed_on_the_circle)
{
	EXPECT_EQ(srdma_psn_diff(9, 9), 0);
	EXPECT_EQ(srdma_psn_diff(10, 9), 1);
	EXPECT_EQ(srdma_psn_diff(9, 10), -1);
	EXPECT_EQ(srdma_psn_diff(0, 0xffffff), 1);
	EXPECT_EQ(srdma_psn_diff(0xffffff, 0), -1);
	EXPECT_EQ(srdma_psn_diff(0x7fffff, 0), 0x7fffff);
	EXPECT_EQ(srdma_psn_diff(0x800000, 0), -0x800000);
	EXPECT_EQ(srdma_psn_diff(0x800001, 0), -0x7fffff);
}

TEST(psn_before__half_the_circle)
{
	EXPECT(srdma_psn_before(0, 1));
	EXPECT(!srdma_psn_before(1, 1));
	EXPECT(!srdma_psn_before(1, 0));
	EXPECT(srdma_psn_before(0xffffff, 0));
	EXPECT(srdma_psn_before(0, 0x7fffff));
	EXPECT(!srdma_psn_before(0, 0x800001));
}

TEST(psn_after__half_the_circle)
{
	EXPECT(srdma_psn_after(1, 0));
	EXPECT(!srdma_psn_after(1, 1));
	EXPECT(!srdma_psn_after(0, 1));
	EXPECT(srdma_psn_after(0, 0xffffff));
	EXPECT(srdma_psn_after(0x7fffff, 0));
	EXPECT(!srdma_psn_after(0x800001, 0));
}

TEST(psn_in__first_and_behind_last)
{
	EXPECT(srdma_psn_in(0xffffff, 0xffffff, 2));
	EXPECT(srdma_psn_in(0, 0xffffff, 2));
	EXPECT(!srdma_psn_in(1, 0xffffff, 2));
	EXPECT(!srdma_psn_in(0xfffffe, 0xffffff, 2));
	EXPECT(!srdma_psn_in(5, 5, 0));
}
