// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CRC-32 by carry-less multiplication (x86/crc_fold.S) against the portable
 * code. What it reads and writes ends where the next page may not be touched.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "proto/crc32.h"
#include "test.h"

#define BLOCK		64
#define LONGEST		8192
#define ROOM		12288		/* pages that may be touched, bytes */
#define GUARD		4096
#define CANARY		0xa5

#ifdef __x86_64__

u32 srdma_crc_fold(u32 crc, const void *p, size_t len);
u32 srdma_crc_fold_copy(u32 crc, const void *from, size_t len, void *to);

static bool can_fold(void)
{
	return __builtin_cpu_supports("avx") &&
	       __builtin_cpu_supports("pclmul");
}

#else

/* Not called: can_fold() says no. */
static u32 srdma_crc_fold(u32 crc, const void *p, size_t len)
{
	return crc;
}

static u32 srdma_crc_fold_copy(u32 crc, const void *from, size_t len, void *to)
{
	return crc;
}

static bool can_fold(void)
{
	return false;
}

#endif

static bool cannot_run(const char *test)
{
	if (can_fold())
		return false;
	printf("NOT RUN: %s: needs x86-64 with AVX and PCLMULQDQ\n", test);
	return true;
}

/* ROOM bytes with a page behind them that may not be touched. */
static uint8_t *guarded(void)
{
	uint8_t *p = mmap(NULL, ROOM + GUARD, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + ROOM, GUARD, PROT_NONE))
		return NULL;
	return p;
}

static bool all_canary(const uint8_t *p, size_t len)
{
	while (len--)
		if (*p++ != CANARY)
			return false;
	return true;
}

TEST(crc_fold__as_the_portable_code)
{
	uint64_t state = 1;
	uint8_t *room;
	uint32_t len;
	int i;

	if (cannot_run("crc_fold__as_the_portable_code"))
		return;
	room = guarded();
	REQUIRE(room);
	test_random_bytes(&state, room, ROOM);
	for (len = BLOCK; len <= LONGEST; len += BLOCK)
		for (i = 0; i < BLOCK; i++) {
			const uint8_t *p = room + ROOM - len - i;
			uint32_t seed = test_random(&state);

			EXPECT_EQ(srdma_crc_fold(seed, p, len),
				  srdma_crc32_portable(seed, p, len));
		}
	munmap(room, ROOM + GUARD);
}

/* One copy of @len bytes that ends @gap bytes in front of the guard. */
static void check_copy(uint8_t *to, const uint8_t *from, uint32_t len,
		       uint32_t gap, uint32_t seed)
{
	uint8_t *at = to + ROOM - gap - len;

	memset(to, CANARY, ROOM);
	EXPECT_EQ(srdma_crc_fold_copy(seed, from, len, at),
		  srdma_crc32_portable(seed, from, len));
	EXPECT_MEM(at, from, len);
	EXPECT(all_canary(to, at - to));
	EXPECT(all_canary(at + len, gap));
}

TEST(crc_fold_copy__as_the_portable_code)
{
	uint64_t state = 2;
	uint8_t *from, *to;
	uint32_t len;
	int i;

	if (cannot_run("crc_fold_copy__as_the_portable_code"))
		return;
	from = guarded();
	to = guarded();
	REQUIRE(from && to);
	test_random_bytes(&state, from, ROOM);
	for (len = BLOCK; len <= LONGEST; len += BLOCK)
		for (i = 0; i < 8; i++) {
			uint32_t skew = i ? test_random(&state) % BLOCK : 0;
			uint32_t gap = i ? test_random(&state) % BLOCK : 0;

			check_copy(to, from + ROOM - len - skew, len, gap,
				   test_random(&state));
		}
	munmap(from, ROOM + GUARD);
	munmap(to, ROOM + GUARD);
}

/* Sums of pieces chain, whoever makes them. */
TEST(crc_fold__chains_with_the_portable_code)
{
	uint8_t data[5 * BLOCK + 13];
	uint64_t state = 3;
	uint32_t crc;

	if (cannot_run("crc_fold__chains_with_the_portable_code"))
		return;
	test_random_bytes(&state, data, sizeof(data));
	crc = srdma_crc32_portable(~0u, data, 5);
	crc = srdma_crc_fold(crc, data + 5, 2 * BLOCK);
	crc = srdma_crc_fold(crc, data + 5 + 2 * BLOCK, 3 * BLOCK);
	crc = srdma_crc32_portable(crc, data + 5 + 5 * BLOCK, 8);
	EXPECT_EQ(crc, srdma_crc32_portable(~0u, data, sizeof(data)));
}
