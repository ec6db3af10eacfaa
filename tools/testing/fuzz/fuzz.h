/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the fuzz targets share: reading choices from the input, and checks
 * that end the program. Reading past the end gives zeros.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/burst.h"

/**
 * struct input - the bytes that the fuzzer chose
 * @p: next byte
 * @left: bytes from there on
 */
struct input {
	const uint8_t *p;
	size_t left;
};

static inline uint8_t in_u8(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

static inline uint16_t in_u16(struct input *in)
{
	uint16_t lo = in_u8(in);

	return lo | in_u8(in) << 8;
}

static inline uint32_t in_u32(struct input *in)
{
	uint32_t lo = in_u16(in);

	return lo | (uint32_t)in_u16(in) << 16;
}

static inline uint64_t in_u64(struct input *in)
{
	uint64_t lo = in_u32(in);

	return lo | (uint64_t)in_u32(in) << 32;
}

/* A small step in either direction, mostly 0: keeps sequences plausible. */
static inline int32_t in_step(struct input *in)
{
	uint8_t b = in_u8(in);

	if (b < 0xc0)
		return 0;
	if (b == 0xff)
		return (int32_t)in_u32(in);
	return (int8_t)(b << 2) / 4;
}

#define CHECK(cond)							\
	do {								\
		if (!(cond)) {						\
			fprintf(stderr, "%s:%d: check failed: %s\n",	\
				__FILE__, __LINE__, #cond);		\
			abort();					\
		}							\
	} while (0)

/* What has headers of its own, at either end, is beside the limit. */
static inline void check_limit(const struct srdma_burst *b,
			       const struct srdma_burst_limit *limit)
{
	uint32_t i, alike;

	for (i = 0; i < b->count; i += alike) {
		alike = srdma_burst_alike(b, i);
		CHECK(alike == 1 || (alike && alike <= limit->packets));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
