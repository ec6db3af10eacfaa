/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A test is a function that says what it expects; all of them are linked
 * into one program. TEST(function__case) registers it, in file order.
 */
#ifndef HOST_TEST_H
#define HOST_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct test - one registered test
 * @name: function__case
 * @run: its body
 * @next: the one registered after it
 */
struct test {
	const char *name;
	void (*run)(void);
	struct test *next;
};

void test_register(struct test *t);

/* Fail the running test, with a message; the test goes on. */
void test_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Helpers of the EXPECT macros: true if what was expected is so. */
bool test_eq(const char *file, int line, const char *what,
	     long long got, long long want);
bool test_mem(const char *file, int line, const char *what,
	      const void *got, const void *want, size_t len);

#define TEST(fn)							\
	static void fn(void);						\
	static struct test fn##_test = { .name = #fn, .run = fn };	\
	static void __attribute__((constructor)) fn##_register(void)	\
	{								\
		test_register(&fn##_test);				\
	}								\
	static void fn(void)

#define EXPECT(cond)							\
	((cond) ? true :						\
	 (test_fail(__FILE__, __LINE__, "%s", #cond), false))
#define EXPECT_EQ(got, want)						\
	test_eq(__FILE__, __LINE__, #got " == " #want,			\
		(long long)(got), (long long)(want))
#define EXPECT_MEM(got, want, len)					\
	test_mem(__FILE__, __LINE__, #got " == " #want, got, want, len)

/* Like EXPECT, but ends the test: for what later lines rely on. */
#define REQUIRE(cond)							\
	do {								\
		if (!EXPECT(cond))					\
			return;						\
	} while (0)

/* A reproducible stream of random words. */
uint64_t test_random(uint64_t *state);
void test_random_bytes(uint64_t *state, void *p, size_t len);

#endif
