/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The fastest CRC-32 that this kernel has on this CPU, and copying payload
 * while it is summed up.
 *
 *	vector = srdma_crc_begin();
 *	crc = srdma_crc_copy(crc, to, from, len, vector);	as often as needed
 *	srdma_crc_end(vector);
 *
 * with bottom halves disabled, and without sleeping.
 */
#ifndef SRDMA_CRC_H
#define SRDMA_CRC_H

#include <linux/types.h>

#include "base/x86/crc_fold.h"

void srdma_crc_init(void);
void srdma_crc_exit(void);

bool srdma_crc_begin(void);
void srdma_crc_end(bool vector);
u32 srdma_crc_copy_plain(u32 crc, void *to, const void *from, size_t len);

/**
 * srdma_crc_copy - copy bytes, and advance a sum over the copy
 * @crc: the sum
 * @to: where to
 * @from: where from; may change meanwhile
 * @len: bytes
 * @vector: what srdma_crc_begin() said
 *
 * Return: the sum.
 */
static inline u32 srdma_crc_copy(u32 crc, void *to, const void *from,
				 size_t len, bool vector)
{
	if (vector && len >= SRDMA_FOLD_MIN)
		return srdma_fold_copy(crc, from, len, to);
	return srdma_crc_copy_plain(crc, to, from, len);
}

#endif
