// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two threads on two CPUs do what two engines do for each burst, with the very
 * files of the module: find the QP and the key, enter the gate, check the key, copy
 * a few bytes, leave, charge an skb and free it. Each is timed alone and beside the
 * other. The sum of what is left of their speeds would be 2 if they did not meet.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include "engine/engine.h"
#include "memory/keys.h"
#include "objects/qp.h"
#include "wire/inflight.h"

#define ROUNDS		2000	/* a fifth of a millisecond: seldom interrupted */
#define SLICES		101
#define TRIES		20000
#define BYTES		64
#define MUST		1.7

struct worker;

typedef void (*work_t)(struct worker *worker);

/**
 * struct worker - a thread
 * @cpu: which one it is pinned to
 * @qp: its QP
 * @rkey: region that it reads
 * @pd: protection domain
 * @skb: what it sends
 * @work: does ROUNDS times what is to be done
 * @ns: how long that took
 * @done: it has been timed; it goes on until all are
 * @whole: and was not interrupted meanwhile
 */
struct worker {
	int cpu;
	struct srdma_qp *qp;
	u32 rkey;
	struct ib_pd *pd;
	struct sk_buff skb;
	work_t work;
	u64 ns;
	bool done;
	bool whole;
} __aligned(128);

/**
 * struct scene - what the two do
 * @name: in words
 * @share_qp: both work on the first QP
 * @share_region: and on the first region
 * @work: of each
 */
struct scene {
	const char *name;
	bool share_qp;
	bool share_region;
	work_t work[2];
};

__thread int this_cpu;
static struct srdma_table qps;
static struct srdma_keys keys;
static u8 memory[1 << 16] __aligned(4096);
static struct worker workers[2];

/* The scene's turn: how many take part, and a number that tells one from another. */
static int playing;
static int turn __aligned(128);
static int ready __aligned(128);
static int finished __aligned(128);

/* No engine waits for room here. */
void srdma_engine_kick_later(struct srdma_engine *engine,
			     enum srdma_engine_event event)
{
	abort();
}

/* Nor does the last reference go. */
void srdma_qp_put(struct srdma_qp *qp)
{
	abort();
}

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* As memory/access.c does for a peer's READ. */
static void read_region(struct worker *w, void *to)
{
	struct srdma_key *key = srdma_key_find(&keys, w->rkey);
	struct srdma_key_seat *seat;
	u64 va = w->cpu * 4096;

	must(key && srdma_key_enter(key, &seat));
	must(key->key == w->rkey && key->pd == w->pd && !key->set &&
	     key->access & IB_ACCESS_REMOTE_READ &&
	     srdma_range_ok(key->start, key->length, va, BYTES));
	memcpy(to, (u8 *)key->map + key->offset + va, BYTES);
	srdma_key_leave(key, seat);
}

static void send_skb(struct srdma_qp *qp, struct sk_buff *skb)
{
	must(srdma_inflight_has_room(qp, &qp->send));
	srdma_inflight_add(qp, skb);
	skb->destructor(skb);
}

/* A packet comes for the QP: its receive engine changes what it owns. */
static void take_packet(struct srdma_qp *qp)
{
	must(READ_ONCE(qp->state) == IB_QPS_RTS && READ_ONCE(qp->dev));
	WRITE_ONCE(qp->resp.timer_at, qp->resp.timer_at + 1);
}

/* A request comes, and is answered. */
static void answer(struct worker *w)
{
	u8 copy[BYTES];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		struct srdma_qp *qp = srdma_table_find(&qps, w->qp->qpn);

		take_packet(qp);
		read_region(w, copy);
		send_skb(qp, &w->skb);
	}
}

/* Only packets in, or only out. */
static void receive(struct worker *w)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		take_packet(srdma_table_find(&qps, w->qp->qpn));
}

static void transmit(struct worker *w)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		send_skb(w->qp, &w->skb);
}

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw + usage.ru_nvcsw;
}

/* All that take part begin at once, and work until the last one was timed. */
static void play(struct worker *w, int count)
{
	long before;
	u64 from;

	__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	while (peek(&ready) < count)
		cpu_relax();
	before = switches();
	w->work(w);
	from = now_ns();
	w->work(w);
	w->ns = now_ns() - from;
	__atomic_add_fetch(&finished, 1, __ATOMIC_SEQ_CST);
	while (peek(&finished) < count)
		w->work(w);
	w->whole = switches() == before;
	publish(&w->done, true);
}

static void *work_thread(void *arg)
{
	struct worker *w = arg;
	cpu_set_t set;
	int last = 0;

	CPU_ZERO(&set);
	CPU_SET(w->cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set)) {
		fprintf(stderr, "cpus: there is no CPU %d\n", w->cpu);
		exit(2);
	}
	this_cpu = w->cpu;
	/* Others may use the machine. If it may not be had, it takes longer. */
	setpriority(PRIO_PROCESS, 0, -20);
	for (;;) {
		while (peek(&turn) == last)
			sched_yield();
		last = turn;
		if (playing & 1 << w->cpu)
			play(w, __builtin_popcount(playing));
	}
	return NULL;
}

/* Returns whether nobody was interrupted. */
static bool play_turn(int who)
{
	bool whole = true;
	int i;

	ready = 0;
	finished = 0;
	playing = who;
	for (i = 0; i < 2; i++)
		workers[i].done = !(who & 1 << i);
	publish(&turn, turn + 1);
	for (i = 0; i < 2; i++) {
		while (!peek(&workers[i].done))
			usleep(100);
		if (who & 1 << i)
			whole &= workers[i].whole;
	}
	return whole;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static double median(u64 *ns)
{
	qsort(ns, SLICES, sizeof(*ns), compare);
	return ns[SLICES / 2];
}

/* Fills the times of @who, in nanoseconds for ROUNDS. */
static void time_turns(int who, double *ns)
{
	static u64 took[2][SLICES];
	int i, n = 0, tries = 0;

	while (n < SLICES) {
		if (++tries > TRIES) {
			fprintf(stderr, "cpus: always interrupted: nothing measured\n");
			exit(2);
		}
		if (!play_turn(who))
			continue;
		for (i = 0; i < 2; i++)
			took[i][n] = workers[i].ns;
		n++;
	}
	for (i = 0; i < 2; i++)
		if (who & 1 << i)
			ns[i] = median(took[i]);
}

static bool play_scene(const struct scene *scene, struct srdma_qp **qp, u32 *rkey)
{
	double alone[2], beside[2], sum;
	int i;

	for (i = 0; i < 2; i++) {
		workers[i].work = scene->work[i];
		workers[i].qp = qp[scene->share_qp ? 0 : i];
		workers[i].rkey = rkey[scene->share_region ? 0 : i];
	}
	time_turns(1, alone);
	time_turns(2, alone);
	time_turns(3, beside);
	sum = alone[0] / beside[0] + alone[1] / beside[1];
	printf("%s %s: %.2f of one; %.0f and %.0f ns alone, %.0f and %.0f beside each other\n",
	       sum >= MUST ? "ok" : "not ok", scene->name, sum,
	       alone[0] / ROUNDS, alone[1] / ROUNDS, beside[0] / ROUNDS,
	       beside[1] / ROUNDS);
	return sum >= MUST;
}

/* As a region of verbs that is open; its memory lies where its map would. */
static u32 make_region(struct ib_pd *pd)
{
	struct srdma_key *key = aligned_alloc(512, 512);

	memset(key, 0, sizeof(*key));
	key->has_seats = true;
	must(!srdma_key_publish(&keys, key, SRDMA_KEY_MR, pd));
	key->access = IB_ACCESS_REMOTE_READ;
	key->length = sizeof(memory);
	key->map = (void *)memory;
	srdma_key_open(key);
	return key->key;
}

static struct srdma_qp *make_qp(u32 qpn)
{
	struct srdma_qp *qp = aligned_alloc(SMP_CACHE_BYTES, sizeof(*qp));

	memset(qp, 0, sizeof(*qp));
	qp->qpn = qpn;
	qp->dev = (void *)memory;
	qp->state = IB_QPS_RTS;
	refcount_set(&qp->refs, 1);
	srdma_inflight_begin(qp);
	must(!srdma_table_reserve(&qps, qpn));
	srdma_table_set(&qps, qpn, qp);
	return qp;
}

static const struct scene scenes[] = {
	{ "two QPs, a region each", false, false, { answer, answer } },
	{ "two QPs, one region", false, true, { answer, answer } },
	{ "one QP receives and sends", true, false, { receive, transmit } },
};

int main(void)
{
	struct ib_pd pd = {};
	struct srdma_qp *qp[2] = { make_qp(0x111), make_qp(0x112) };
	u32 rkey[2];
	bool good = true;
	pthread_t thread;
	int i;

	srdma_keys_init(&keys);
	for (i = 0; i < 2; i++) {
		rkey[i] = make_region(&pd);
		workers[i] = (struct worker) {
			.cpu = i, .pd = &pd, .skb.len = 1000,
		};
		must(!pthread_create(&thread, NULL, work_thread, &workers[i]));
	}
	for (i = 0; i < ARRAY_SIZE(scenes); i++)
		good &= play_scene(&scenes[i], qp, rkey);
	return !good;
}
