// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Syndromes, credits and timers: the tables of section 9.7.
 */
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "aeth.h"

/* Section 9.7.7.2: end-to-end credit codes 0 .. 30; 31 says "no limit". */
static const u16 credits_of_code[SRDMA_CREDIT_UNLIMITED] = {
	0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
	512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384,
	24576, 32768,
};

/* Section 9.7.5.2.8: RNR NAK timers, microseconds. */
static const u32 rnr_timer_us[SRDMA_RNR_TIMERS] = {
	655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960,
	1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960,
	61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

/* Of the last code. */
#define MOST_CREDITS	32768u

enum srdma_aeth_kind srdma_aeth_kind(u8 syndrome)
{
	switch (syndrome & SRDMA_AETH_TYPE_MASK) {
	case SRDMA_AETH_ACK:
		return SRDMA_AETH_KIND_ACK;
	case SRDMA_AETH_RNR:
		return SRDMA_AETH_KIND_RNR;
	case SRDMA_AETH_NAK:
		if (srdma_aeth_value(syndrome) > SRDMA_NAK_INV_RD_REQ)
			return SRDMA_AETH_KIND_BAD;
		return SRDMA_AETH_KIND_NAK;
	default:
		return SRDMA_AETH_KIND_BAD;
	}
}

u8 srdma_credit_encode(u32 credits)
{
	u32 log;

	if (credits < 2)
		return credits;
	/* Two codes for each power of two: itself, and half as much again. */
	credits = min(credits, MOST_CREDITS);
	log = ilog2(credits);
	return 2 * log + (credits >> (log - 1) & 1);
}

u32 srdma_credit_decode(u8 code)
{
	code &= SRDMA_AETH_VALUE_MASK;
	return code == SRDMA_CREDIT_UNLIMITED ? U32_MAX : credits_of_code[code];
}

u64 srdma_rnr_timer_ns(u8 timer)
{
	return 1000ull * rnr_timer_us[timer & SRDMA_AETH_VALUE_MASK];
}

u64 srdma_ack_timeout_ns(u8 timeout)
{
	timeout &= 0x1f;
	return timeout ? 4096ull << timeout : 0;
}
