// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How fast the driver sums up, and sums up and copies, on the CPU that this runs on,
 * in registers of each width that it has; memcpy() of the C library beside it, and
 * `rep movsb`, which is what the kernel copies by on most CPUs. `make bench-crc`.
 *
 * Prints the median of RUNS runs in GB/s (10^9). The functions take turns, so that
 * what else the machine does meets all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "proto/crc32.h"

/* Runs are short, so that few of them are interrupted on a busy machine. */
#define RUNS		101
#define RUN_BYTES	(1 << 20)	/* of a run, at most */
#define RUN_CALLS	2048		/* of a run, at most */
#define LARGEST		(1 << 20)
#define HEADERS		12		/* in front of what is copied */

#ifdef __x86_64__

typedef u32 (*copy_fn)(u32 crc, const void *from, size_t len, void *to);

#define DECLARE_FOLD(bits)						\
u32 srdma_crc_fold_##bits(u32 crc, const void *p, size_t len);		\
u32 srdma_crc_fold_copy_##bits(u32 crc, const void *from, size_t len,	\
			       void *to);				\
static u32 sum_##bits(u32 crc, const void *from, size_t len, void *to)	\
{									\
	return srdma_crc_fold_##bits(crc, from, len);			\
}

DECLARE_FOLD(128)
DECLARE_FOLD(256)
DECLARE_FOLD(512)

static u32 sum_portable(u32 crc, const void *from, size_t len, void *to)
{
	return srdma_crc32_portable(crc, from, len);
}

static u32 copy_libc(u32 crc, const void *from, size_t len, void *to)
{
	memcpy(to, from, len);
	asm volatile("" : : "r" (to) : "memory");
	return crc;
}

static u32 copy_rep(u32 crc, const void *from, size_t len, void *to)
{
	asm volatile("rep movsb" : "+S" (from), "+D" (to), "+c" (len)
		     : : "memory");
	return crc;
}

/**
 * struct subject - what is measured
 * @name: heading
 * @bits: width of its registers, 0 if that of any CPU
 * @run: the function
 */
static const struct subject {
	const char *name;
	int bits;
	copy_fn run;
} subjects[] = {
	{ "plain", 0, sum_portable },
	{ "sum128", 128, sum_128 },
	{ "sum256", 256, sum_256 },
	{ "sum512", 512, sum_512 },
	{ "copy128", 128, srdma_crc_fold_copy_128 },
	{ "copy256", 256, srdma_crc_fold_copy_256 },
	{ "copy512", 512, srdma_crc_fold_copy_512 },
	{ "memcpy", 0, copy_libc },
	{ "movsb", 0, copy_rep },
};

#define SUBJECTS	((int)(sizeof(subjects) / sizeof(subjects[0])))
#define MEMCPY		7

static bool can_run(int bits)
{
	if (bits && (!__builtin_cpu_supports("avx") ||
		     !__builtin_cpu_supports("pclmul")))
		return false;
	if (bits > 128 && (!__builtin_cpu_supports("avx2") ||
			   !__builtin_cpu_supports("vpclmulqdq")))
		return false;
	return bits <= 256 || __builtin_cpu_supports("avx512f");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* GB/s of one run. */
static double run(const struct subject *subject, const void *from, void *to,
		  size_t len)
{
	int calls = RUN_BYTES / len < RUN_CALLS ? RUN_BYTES / len : RUN_CALLS;
	volatile u32 sink;
	double start;
	u32 sum;
	int i;

	/* What the last one left in the caches is not this one's. */
	sum = subject->run(0, from, len, to);
	start = now();
	/* One sum does not wait for another, as those of packets do not. */
	for (i = 0; i < calls; i++)
		sum ^= subject->run(i, from, len, to);
	start = now() - start;
	sink = sum;
	(void)sink;
	return calls * (double)len / start / 1e9;
}

static void *room(void)
{
	void *p = mmap(NULL, 2 * LARGEST, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	memset(p, 0x5a, 2 * LARGEST);
	return p;
}

static void measure(const void *from, void *to, size_t len)
{
	static double figures[SUBJECTS][RUNS];
	double widest = 0, all;
	int i, n;

	for (n = 0; n < RUNS; n++)
		for (i = 0; i < SUBJECTS; i++)
			if (can_run(subjects[i].bits))
				figures[i][n] = run(&subjects[i], from, to, len);
	printf("%7zu", len);
	for (i = 0; i < SUBJECTS; i++) {
		if (!can_run(subjects[i].bits)) {
			printf("  %7s", "-");
			continue;
		}
		qsort(figures[i], RUNS, sizeof(double), compare);
		all = figures[i][RUNS / 2];
		if (subjects[i].bits && i < MEMCPY)
			widest = all;
		printf("  %7.1f", all);
	}
	printf("  %4.2f\n", widest / figures[MEMCPY][RUNS / 2]);
}

int main(void)
{
	static const size_t lens[] = { 64, 1 << 10, 4 << 10, 64 << 10, LARGEST };
	void *from = room(), *to = room();
	unsigned int i;

	srdma_crc32_init();
	printf("%7s", "bytes");
	for (i = 0; i < SUBJECTS; i++)
		printf("  %7s", subjects[i].name);
	printf("  widest copy / memcpy\n");
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		measure(from, to + HEADERS, lens[i]);
	return 0;
}

#else

int main(void)
{
	printf("NOT RUN: the driver has code of its own for x86-64 only\n");
	return 0;
}

#endif
