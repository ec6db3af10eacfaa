// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A region is taken away and given back, again and again, while two CPUs access it:
 * no access may see that it is away, and both must get in. Both take their seats from
 * one CPU, as accesses do that preempt each other on real-time kernels, or that have
 * left their CPU.
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "memory/keys.h"

#define SECONDS		2
/* Where others keep a CPU busy, until both have been inside. */
#define SECONDS_MOST	12
#define LOOKS		200

__thread int this_cpu;
static struct srdma_keys keys;
static struct srdma_key *key;

/**
 * struct visitor - a thread that accesses the region
 * @cpu: which one it is pinned to
 * @inside: it does so now, and may have been preempted
 * @visits: how often it was let in
 */
struct visitor {
	int cpu;
	bool inside;
	unsigned long visits;
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
	publish(&visitor->visits, visitor->visits + 1);
	return wrong;
}

static void *visit_thread(void *arg)
{
	struct visitor *visitor = arg;
	unsigned long wrong = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(visitor->cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set)) {
		fprintf(stderr, "cpus: there is no CPU %d\n", visitor->cpu);
		exit(2);
	}
	while (!peek(&over))
		wrong += visit(visitor);
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

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static bool both_got_in(void)
{
	return peek(&visitors[0].visits) && peek(&visitors[1].visits);
}

static bool try_kind(bool has_seats)
{
	time_t begin = now();
	struct ib_pd pd = {};
	unsigned long n = 0, met = 0;
	pthread_t thread[2];
	bool good;
	int i;

	key = aligned_alloc(512, 512);
	memset(key, 0, sizeof(*key));
	key->has_seats = has_seats;
	srdma_keys_init(&keys);
	if (srdma_key_publish(&keys, key, SRDMA_KEY_MR, &pd))
		abort();
	srdma_key_open(key);
	over = false;
	seen = 0;
	for (i = 0; i < 2; i++) {
		visitors[i] = (struct visitor) { .cpu = i };
		if (pthread_create(&thread[i], NULL, visit_thread, &visitors[i]))
			abort();
	}
	while (now() <= begin + SECONDS ||
	       (!both_got_in() && now() <= begin + SECONDS_MOST)) {
		met += revoke_for_a_moment();
		n++;
	}
	publish(&over, true);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	good = !seen && !met && both_got_in();
	printf("%s %s: visited %lu and %lu times, away %lu times, somebody inside %lu times, seen %lu times\n",
	       good ? "ok" : "not ok",
	       has_seats ? "a region of verbs" : "a region of work requests",
	       visitors[0].visits, visitors[1].visits, n, met, seen);
	return good;
}

int main(void)
{
	bool good = try_kind(true);

	return !(try_kind(false) && good);
}
