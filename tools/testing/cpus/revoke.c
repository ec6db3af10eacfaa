// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A region is taken away and given back, again and again, while two CPUs access it:
 * no access may see that it is away. Both take their seats from one CPU, as accesses
 * do that preempt each other on real-time kernels, or that have left their CPU.
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "memory/keys.h"

#define SECONDS		2
#define LOOKS		200

__thread int this_cpu;
static struct srdma_keys keys;
static struct srdma_key *key;

/**
 * struct visitor - a thread that accesses the region
 * @inside: it does so now, and may have been preempted
 */
struct visitor {
	bool inside;
} __aligned(128);

/* What the key names is away. */
static int away __aligned(128);
static bool over __aligned(128);
static struct visitor visitors[2];
static unsigned long seen;

static unsigned long visit(struct visitor *visitor)
{
	struct srdma_key_seat *seat;
	unsigned long wrong = 0;
	int i;

	if (!srdma_key_enter(key, &seat))
		return 0;
	WRITE_ONCE(visitor->inside, true);
	for (i = 0; i < LOOKS; i++)
		wrong += READ_ONCE(away);
	publish(&visitor->inside, false);
	srdma_key_leave(key, seat);
	return wrong;
}

static void *visit_thread(void *arg)
{
	unsigned long wrong = 0, cpu = (unsigned long)arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	while (!peek(&over))
		wrong += visit(&visitors[cpu]);
	__atomic_add_fetch(&seen, wrong, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Returns whether somebody was inside all the same. */
static bool revoke_for_a_moment(void)
{
	bool inside = false;
	int i;

	srdma_key_close(key, SRDMA_KEY_FREE, 0);
	srdma_key_drain(key);
	WRITE_ONCE(away, 1);
	for (i = 0; i < 2; i++)
		inside |= peek(&visitors[i].inside);
	for (i = 0; i < LOOKS; i++)
		cpu_relax();
	WRITE_ONCE(away, 0);
	srdma_key_open(key);
	/* They are to be inside, perhaps preempted, when it is taken again. */
	usleep(20);
	return inside;
}

static bool try_kind(bool has_seats)
{
	time_t end = time(NULL) + SECONDS + 1;
	struct ib_pd pd = {};
	unsigned long n = 0, met = 0;
	pthread_t thread[2];
	unsigned long i;

	key = aligned_alloc(512, 512);
	memset(key, 0, sizeof(*key));
	key->has_seats = has_seats;
	srdma_keys_init(&keys);
	if (srdma_key_publish(&keys, key, SRDMA_KEY_MR, &pd))
		abort();
	srdma_key_open(key);
	over = false;
	seen = 0;
	for (i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, visit_thread, (void *)i))
			abort();
	while (time(NULL) < end) {
		met += revoke_for_a_moment();
		n++;
	}
	publish(&over, true);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("%s %s: away %lu times, somebody inside %lu times, seen %lu times\n",
	       seen || met ? "not ok" : "ok",
	       has_seats ? "a region of verbs" : "a region of work requests", n, met, seen);
	return !seen && !met;
}

int main(void)
{
	bool good = try_kind(true);

	return !(try_kind(false) && good);
}
