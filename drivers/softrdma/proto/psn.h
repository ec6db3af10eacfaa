/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Arithmetic of 24-bit packet sequence numbers (and of the equally wide MSN
 * and SSN). A PSN is always kept masked; which of two is earlier is decided
 * on the circle: b is before a when it is reached going back from a by fewer
 * than 2^23 steps (section 9.7.1: valid, duplicate and invalid regions).
 */
#ifndef SRDMA_PROTO_PSN_H
#define SRDMA_PROTO_PSN_H

#include <linux/types.h>

#define SRDMA_PSN_MASK		0xffffffu
#define SRDMA_PSN_HALF		0x800000u	/* half of the circle */
#define SRDMA_PSN_WINDOW_MAX	0x7fffffu	/* most PSNs outstanding */

/* The PSN @n packets after @psn; @n may be any unsigned or negative value. */
static inline u32 srdma_psn_add(u32 psn, u32 n)
{
	return (psn + n) & SRDMA_PSN_MASK;
}

static inline u32 srdma_psn_sub(u32 psn, u32 n)
{
	return (psn - n) & SRDMA_PSN_MASK;
}

static inline u32 srdma_psn_next(u32 psn)
{
	return srdma_psn_add(psn, 1);
}

/* Steps forward from @from to @to, 0 .. 2^24 - 1. */
static inline u32 srdma_psn_dist(u32 from, u32 to)
{
	return (to - from) & SRDMA_PSN_MASK;
}

/* @a - @b on the circle, -2^23 .. 2^23 - 1. */
static inline s32 srdma_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

static inline bool srdma_psn_before(u32 a, u32 b)
{
	return srdma_psn_diff(a, b) < 0;
}

static inline bool srdma_psn_after(u32 a, u32 b)
{
	return srdma_psn_diff(a, b) > 0;
}

/* Is @psn one of the @count PSNs that begin with @first? */
static inline bool srdma_psn_in(u32 psn, u32 first, u32 count)
{
	return srdma_psn_dist(first, psn) < count;
}

#endif
