/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * CRC-32 (polynomial 0x04c11db7, reflected) without the inversions before
 * and after: the state goes in and comes out, so that calls chain.
 */
#ifndef SRDMA_PROTO_CRC32_H
#define SRDMA_PROTO_CRC32_H

#include <linux/types.h>

typedef u32 (*srdma_crc32_fn)(u32 crc, const void *p, size_t len);

/*
 * Make the tables of the portable code. srdma_icrc_init() calls it.
 */
void srdma_crc32_init(void);

/*
 * Use @fn, which must compute the same function, for runs long enough to
 * repay the call; NULL goes back to the portable code. Called while nothing
 * uses srdma_crc32().
 */
void srdma_crc32_set_bulk(srdma_crc32_fn fn);

/* Advance the state @crc over @len bytes at @p. */
u32 srdma_crc32(u32 crc, const void *p, size_t len);

/* The same over four bytes that are one word in memory. */
u32 srdma_crc32_word(u32 crc, __be32 word);

/* The same over eight bytes that are 0. */
u32 srdma_crc32_zeros8(u32 crc);

/* The portable code: eight bytes a step from eight tables. */
u32 srdma_crc32_portable(u32 crc, const void *p, size_t len);

#endif
