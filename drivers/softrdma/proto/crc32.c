// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CRC-32 in portable C, eight bytes a step. For long runs the environment may
 * provide a faster function.
 */
#include <linux/cache.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>

#include "crc32.h"

#define POLY_REFLECTED	0xedb88320u

/* Runs shorter than this do not repay an indirect call and its set-up. */
#define BULK_MIN	64

/* table[k][b]: what byte b does to the sum when k more bytes follow it. */
static u32 table[8][256] __ro_after_init;
static srdma_crc32_fn bulk __ro_after_init = srdma_crc32_portable;

void srdma_crc32_init(void)
{
	u32 b, k, crc;

	for (b = 0; b < 256; b++) {
		crc = b;
		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? POLY_REFLECTED : 0);
		table[0][b] = crc;
	}
	for (b = 0; b < 256; b++) {
		for (k = 1; k < 8; k++) {
			crc = table[k - 1][b];
			table[k][b] = crc >> 8 ^ table[0][crc & 0xff];
		}
	}
}

void srdma_crc32_set_bulk(srdma_crc32_fn fn)
{
	bulk = fn ? fn : srdma_crc32_portable;
}

static u32 step4(u32 word, const u32 (*t)[256])
{
	return t[3][word & 0xff] ^ t[2][word >> 8 & 0xff] ^
	       t[1][word >> 16 & 0xff] ^ t[0][word >> 24];
}

u32 srdma_crc32_word(u32 crc, __be32 word)
{
	return step4(crc ^ le32_to_cpu((__force __le32)word), &table[0]);
}

u32 srdma_crc32_zeros8(u32 crc)
{
	return step4(crc, &table[4]);
}

u32 srdma_crc32_portable(u32 crc, const void *p, size_t len)
{
	const u8 *b = p;
	__le32 w[2];

	while (len >= 8) {
		memcpy(w, b, 8);
		crc = step4(crc ^ le32_to_cpu(w[0]), &table[4]) ^
		      step4(le32_to_cpu(w[1]), &table[0]);
		b += 8;
		len -= 8;
	}
	if (len >= 4) {
		memcpy(w, b, 4);
		crc = step4(crc ^ le32_to_cpu(w[0]), &table[0]);
		b += 4;
		len -= 4;
	}
	while (len--)
		crc = crc >> 8 ^ table[0][(crc ^ *b++) & 0xff];
	return crc;
}

u32 srdma_crc32(u32 crc, const void *p, size_t len)
{
	__be32 word;

	/* As the one extension header of many packets is. */
	if (len == sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		return srdma_crc32_word(crc, word);
	}
	if (len < BULK_MIN)
		return srdma_crc32_portable(crc, p, len);
	return bulk(crc, p, len);
}
