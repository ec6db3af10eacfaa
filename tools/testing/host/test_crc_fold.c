// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CRC-32 by carry-less multiplication (x86/crc_fold.S), in registers of each width,
 * against the portable code. What it reads and writes ends where the next page may
 * not be touched. And which width is chosen (x86/fold_choice.h).
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/x86/fold_choice.h"
#include "proto/crc32.h"
#include "test.h"

#define SHORTEST	16		/* that the functions take, bytes */
#define ROOM		81920		/* pages that may be touched, bytes */
#define GUARD		4096
#define CANARY		0xa5

/**
 * struct fold - functions of one width
 * @bits: width
 * @sum: sums up
 * @copy: the same, and copies
 */
struct fold {
	int bits;
	uint32_t (*sum)(uint32_t crc, const void *p, size_t len);
	uint32_t (*copy)(uint32_t crc, const void *from, size_t len, void *to);
};

#ifdef __x86_64__

#define DECLARE_FOLD(bits)						\
uint32_t srdma_crc_fold_##bits(uint32_t crc, const void *p, size_t len); \
uint32_t srdma_crc_fold_copy_##bits(uint32_t crc, const void *from,	\
				    size_t len, void *to)
#define FOLD(bits)	{ bits, srdma_crc_fold_##bits, srdma_crc_fold_copy_##bits }

DECLARE_FOLD(128);
DECLARE_FOLD(256);
DECLARE_FOLD(512);

static const struct fold folds[] = { FOLD(128), FOLD(256), FOLD(512) };

static bool can_run(int bits)
{
	if (!__builtin_cpu_supports("avx") || !__builtin_cpu_supports("pclmul"))
		return false;
	if (bits > 128 && (!__builtin_cpu_supports("avx2") ||
			   !__builtin_cpu_supports("vpclmulqdq")))
		return false;
	return bits <= 256 || __builtin_cpu_supports("avx512f");
}

#else

static const struct fold folds[] = { { 128 }, { 256 }, { 512 } };

static bool can_run(int bits)
{
	return false;
}

#endif

#define N_FOLDS		((int)(sizeof(folds) / sizeof(folds[0])))

/* The @i'th, or NULL, which is said. */
static const struct fold *get_fold(int i, const char *test)
{
	if (can_run(folds[i].bits))
		return &folds[i];
	printf("NOT RUN: %s of %d bits: the CPU has no such instructions\n",
	       test, folds[i].bits);
	return NULL;
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

/* In front of this page nothing may be touched. */
static bool guard_front(uint8_t *room)
{
	return !mprotect(room, GUARD, PROT_NONE);
}

static bool all_canary(const uint8_t *p, size_t len)
{
	while (len--)
		if (*p++ != CANARY)
			return false;
	return true;
}

/*
 * One copy of @len bytes that ends @gap bytes in front of the guard, and of a source
 * that ends @skew bytes in front of its own.
 */
static void check_copy(const struct fold *fold, uint8_t *to, const uint8_t *from,
		       uint32_t len, uint32_t gap, uint32_t skew, uint32_t seed)
{
	uint8_t *at = to + ROOM - gap - len;
	const uint8_t *src = from + ROOM - skew - len;
	uint32_t before = len + gap + 128 < ROOM ? 128 : 0;

	memset(at - before, CANARY, before + len + gap);
	EXPECT_EQ(fold->copy(seed, src, len, at),
		  srdma_crc32_portable(seed, src, len));
	EXPECT_MEM(at, src, len);
	EXPECT(all_canary(at - before, before));
	EXPECT(all_canary(at + len, gap));
}

TEST(crc_fold__as_the_portable_code)
{
	const struct fold *fold;
	uint64_t state = 1;
	uint32_t len, seed;
	uint8_t *room;
	int i, n;

	room = guarded();
	REQUIRE(room);
	test_random_bytes(&state, room, ROOM);
	for (i = 0; i < N_FOLDS; i++) {
		fold = get_fold(i, "crc_fold__as_the_portable_code");
		if (!fold)
			continue;
		for (len = SHORTEST; len <= 600; len++)
			for (n = 0; n < 65; n += n < 16 ? 1 : 7) {
				const uint8_t *p = room + ROOM - len - n;

				seed = test_random(&state);
				EXPECT_EQ(fold->sum(seed, p, len),
					  srdma_crc32_portable(seed, p, len));
			}
		for (n = 0; n < 100; n++) {
			const uint8_t *p;

			len = SHORTEST + test_random(&state) % (70001 - SHORTEST);
			p = room + ROOM - len - test_random(&state) % 65;
			seed = test_random(&state);
			EXPECT_EQ(fold->sum(seed, p, len),
				  srdma_crc32_portable(seed, p, len));
		}
	}
	munmap(room, ROOM + GUARD);
}

TEST(crc_fold_copy__as_the_portable_code)
{
	const struct fold *fold;
	uint8_t *from, *to;
	uint64_t state = 2;
	uint32_t len;
	int i, n;

	from = guarded();
	to = guarded();
	REQUIRE(from && to);
	test_random_bytes(&state, from, ROOM);
	for (i = 0; i < N_FOLDS; i++) {
		fold = get_fold(i, "crc_fold_copy__as_the_portable_code");
		if (!fold)
			continue;
		for (len = SHORTEST; len <= 600; len++)
			for (n = 0; n < 8; n++)
				check_copy(fold, to, from, len,
					   n ? test_random(&state) % 65 : 0,
					   n ? test_random(&state) % 65 : 0,
					   test_random(&state));
		for (n = 0; n < 100; n++) {
			len = SHORTEST + test_random(&state) % (70001 - SHORTEST);
			check_copy(fold, to, from, len, test_random(&state) % 65,
				   test_random(&state) % 65, test_random(&state));
		}
	}
	munmap(from, ROOM + GUARD);
	munmap(to, ROOM + GUARD);
}

/* Nor in front of what is summed up is anything read. */
TEST(crc_fold__nothing_in_front_is_read)
{
	const struct fold *fold;
	uint8_t *from, *to;
	uint64_t state = 3;
	uint32_t len;
	int i;

	from = guarded();
	to = guarded();
	REQUIRE(from && to);
	test_random_bytes(&state, from, ROOM);
	REQUIRE(guard_front(from) && guard_front(to));
	for (i = 0; i < N_FOLDS; i++) {
		fold = get_fold(i, "crc_fold__nothing_in_front_is_read");
		if (!fold)
			continue;
		for (len = SHORTEST; len <= 600; len++) {
			const uint8_t *p = from + GUARD;
			uint32_t want = srdma_crc32_portable(len, p, len);

			EXPECT_EQ(fold->sum(len, p, len), want);
			EXPECT_EQ(fold->copy(len, p, len, to + GUARD), want);
		}
	}
	munmap(from, ROOM + GUARD);
	munmap(to, ROOM + GUARD);
}

/* Sums of pieces chain, whoever makes them. */
TEST(crc_fold__chains_with_the_portable_code)
{
	const struct fold *fold;
	uint8_t data[1333];
	uint64_t state = 4;
	uint32_t crc;
	int i;

	test_random_bytes(&state, data, sizeof(data));
	for (i = 0; i < N_FOLDS; i++) {
		fold = get_fold(i, "crc_fold__chains_with_the_portable_code");
		if (!fold)
			continue;
		crc = srdma_crc32_portable(~0u, data, 5);
		crc = fold->sum(crc, data + 5, 128);
		crc = fold->sum(crc, data + 133, 1187);
		crc = srdma_crc32_portable(crc, data + 1320, 13);
		EXPECT_EQ(crc, srdma_crc32_portable(~0u, data, sizeof(data)));
	}
}

/* What the CPU has, and what is taken; named after CPUs that are like that. */
TEST(crc_fold__the_widest_that_gains)
{
	static const struct {
		struct srdma_fold_cpu cpu;
		enum srdma_fold_width want;
	} cases[] = {
		/* Nehalem; Westmere, twice; one that no maker has made */
		{ { }, SRDMA_FOLD_NONE },
		{ { .pclmulqdq = true }, SRDMA_FOLD_NONE },
		{ { .pclmulqdq = true, .saves_ymm = true }, SRDMA_FOLD_NONE },
		{ { .avx = true, .saves_ymm = true }, SRDMA_FOLD_NONE },
		/* A hypervisor, or the kernel, does without larger registers. */
		{ { .pclmulqdq = true, .avx = true, .avx2 = true,
		    .avx512f = true, .vpclmulqdq = true }, SRDMA_FOLD_NONE },
		/* Sandy Bridge; Haswell; Skylake-X */
		{ { .pclmulqdq = true, .avx = true, .saves_ymm = true },
		  SRDMA_FOLD_128 },
		{ { .pclmulqdq = true, .avx = true, .avx2 = true,
		    .saves_ymm = true }, SRDMA_FOLD_128 },
		{ { .pclmulqdq = true, .avx = true, .avx2 = true,
		    .avx512f = true, .saves_ymm = true, .saves_zmm = true,
		    .slow_zmm = true }, SRDMA_FOLD_128 },
		/* An emulator that leaves out what is in between */
		{ { .pclmulqdq = true, .avx = true, .vpclmulqdq = true,
		    .saves_ymm = true }, SRDMA_FOLD_128 },
		{ { .pclmulqdq = true, .avx = true, .avx512f = true,
		    .vpclmulqdq = true, .saves_ymm = true, .saves_zmm = true },
		  SRDMA_FOLD_128 },
		/* Zen 3, Alder Lake; Ice Lake; with 512 bits switched off */
		{ { .pclmulqdq = true, .avx = true, .avx2 = true,
		    .vpclmulqdq = true, .saves_ymm = true }, SRDMA_FOLD_256 },
		{ { .pclmulqdq = true, .avx = true, .avx2 = true,
		    .avx512f = true, .vpclmulqdq = true, .saves_ymm = true,
		    .saves_zmm = true, .slow_zmm = true }, SRDMA_FOLD_256 },
		{ { .pclmulqdq = true, .avx = true, .avx2 = true,
		    .avx512f = true, .vpclmulqdq = true, .saves_ymm = true },
		  SRDMA_FOLD_256 },
		{ { .pclmulqdq = true, .avx = true, .avx2 = true,
		    .vpclmulqdq = true, .saves_ymm = true, .saves_zmm = true },
		  SRDMA_FOLD_256 },
		/* Sapphire Rapids, Zen 4 */
		{ { .pclmulqdq = true, .avx = true, .avx2 = true,
		    .avx512f = true, .vpclmulqdq = true, .saves_ymm = true,
		    .saves_zmm = true }, SRDMA_FOLD_512 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		EXPECT_EQ(srdma_fold_choose(&cases[i].cpu), cases[i].want);
}
