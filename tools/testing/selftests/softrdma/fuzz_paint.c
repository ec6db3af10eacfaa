// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>

#include "fuzz_paint.h"

/* The first bytes of each word of a secret; the user follows, and the epoch. */
static const uint8_t mark[] = { 0x9d, 0xe3, 0xc7 };

#define USER_BASE	0xb0
#define USERS		8

static uint64_t secret_word(int user, uint32_t epoch)
{
	return mark[0] | mark[1] << 8 | mark[2] << 16 |
	       (uint64_t)(USER_BASE + user) << 24 | (uint64_t)epoch << 32;
}

static void fill(void *at, size_t len, uint64_t word)
{
	uint64_t *words = at;
	size_t i;

	for (i = 0; i < len / 8; i++)
		words[i] = word;
}

void paint_open(void *at, size_t len, int user, uint32_t epoch)
{
	fill(at, len, 0x1010101010101000ull + user +
		      ((uint64_t)(epoch & 0x7f7f) << 32));
}

void paint_secret(void *at, size_t len, int user, uint32_t epoch)
{
	fill(at, len, secret_word(user, epoch));
}

long paint_spoilt(const void *at, size_t len, int user, uint32_t epoch)
{
	uint64_t word = secret_word(user, epoch);
	const uint64_t *words = at;
	size_t i;

	for (i = 0; i < len / 8; i++)
		if (words[i] != word)
			return i * 8;
	return -1;
}

static bool is_mark(const uint8_t *p)
{
	return !memcmp(p, mark, sizeof(mark)) && p[3] >= USER_BASE &&
	       p[3] < USER_BASE + USERS;
}

bool paint_find(const void *at, size_t len, struct paint_found *found)
{
	const uint8_t *start = at, *end = start + len, *p = start, *q;

	for (; p + 8 <= end; p++) {
		p = memchr(p, mark[0], end - p - 7);
		if (!p)
			return false;
		if (!is_mark(p))
			continue;
		for (q = p + 8; q + 8 <= end && !memcmp(q, p, 8); q += 8)
			;
		found->user = p[3] - USER_BASE;
		memcpy(&found->epoch, p + 4, sizeof(found->epoch));
		found->offset = p - start;
		found->bytes = q - p;
		return true;
	}
	return false;
}
