// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs the registered tests: all, or those whose name contains the argument.
 * The last line says how many passed; the exit status is 0 if all did and
 * there was at least one.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/icrc.h"
#include "test.h"

static struct test *first;
static struct test **last = &first;
static const struct test *running;
static unsigned int failures;

void test_register(struct test *t)
{
	*last = t;
	last = &t->next;
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	failures++;
	fprintf(stderr, "%s:%d: %s: ", file, line, running->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

bool test_eq(const char *file, int line, const char *what, long long got,
	     long long want)
{
	if (got == want)
		return true;
	test_fail(file, line, "%s: got %lld (0x%llx), want %lld (0x%llx)",
		  what, got, got, want, want);
	return false;
}

bool test_mem(const char *file, int line, const char *what, const void *got,
	      const void *want, size_t len)
{
	const uint8_t *g = got, *w = want;
	size_t i;

	for (i = 0; i < len; i++) {
		if (g[i] == w[i])
			continue;
		test_fail(file, line, "%s: byte %zu is %02x, want %02x", what,
			  i, g[i], w[i]);
		return false;
	}
	return true;
}

/* splitmix64 */
uint64_t test_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

void test_random_bytes(uint64_t *state, void *p, size_t len)
{
	uint8_t *b = p;

	while (len--)
		*b++ = test_random(state);
}

int main(int argc, char **argv)
{
	const char *filter = argc > 1 ? argv[1] : "";
	unsigned int passed = 0, failed = 0;
	unsigned int before;
	struct test *t;

	srdma_icrc_init();
	for (t = first; t; t = t->next) {
		if (!strstr(t->name, filter))
			continue;
		running = t;
		before = failures;
		t->run();
		if (failures == before)
			passed++;
		else
			failed++;
	}
	printf("unit: %u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
