// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * sim --seeds N [--from S] [--jobs J]	many seeds, and the goodput figures
 * sim --rough --seeds N ...		many seeds, all with bad networks
 * sim --seed S [-v]			one seed, with a trace
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crowd.h"
#include "net.h"
#include "program.h"
#include "run.h"

/* A failing core fails often: the first few seeds tell all. */
#define REPORTS_MAX	10u
#define JOBS_MAX	64u

/*
 * So few bits for what is kept behind holes that they run out, which else never comes
 * up. READs are slower then.
 */
#define FEW_BITS	(SRDMA_REQ_KEPT < 2048)

/* With this many seeds every verdict must have come up. */
#define SEEDS_ENOUGH	5000u

/**
 * struct tally - what one job did, in memory shared with the parent
 * @passed: seeds
 * @failed: seeds
 * @packets: put on the wire
 * @seen: verdicts
 * @finished: the job came to its end
 */
struct tally {
	u64 passed;
	u64 failed;
	u64 packets;
	struct seen seen;
	bool finished;
};

/**
 * struct options - the command line
 * @seeds: how many
 * @from: the first
 * @jobs: processes
 * @one: a single seed
 * @verbose: trace it
 */
struct options {
	u64 seeds;
	u64 from;
	u32 jobs;
	bool one;
	bool verbose;
};

static struct sim sim;

void sim_log(struct sim *s, const char *fmt, ...)
{
	va_list ap;

	printf("%12.3f us  ", s->now / 1000.0);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

void sim_fail(struct sim *s, const char *fmt, ...)
{
	va_list ap;

	if (s->failed)
		return;
	s->failed = true;
	printf("seed %llu at %.3f us: ", (unsigned long long)s->p.seed,
	       s->now / 1000.0);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static void run_job(const struct options *o, u32 job, struct tally *t)
{
	u64 seed;

	memset(&sim.seen, 0, sizeof(sim.seen));
	sim.packets = 0;
	for (seed = o->from + job; seed < o->from + o->seeds;
	     seed += o->jobs) {
		program_make(&sim, seed);
		run_all(&sim);
		if (!sim.failed) {
			t->passed++;
			continue;
		}
		program_describe(&sim);
		printf("  replay: sim%s --seed %llu -v\n",
		       sim.rough ? " --rough" : "", (unsigned long long)seed);
		fflush(stdout);
		if (++t->failed == REPORTS_MAX)
			break;
	}
	t->packets = sim.packets;
	t->seen = sim.seen;
	t->finished = true;
}

static int run_seeds(const struct options *o)
{
	struct tally *t, sum = {};
	double begin = seconds();
	u32 job, missing, lost = 0;

	t = mmap(NULL, o->jobs * sizeof(*t), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	fflush(stdout);
	for (job = 0; job < o->jobs; job++)
		if (!fork()) {
			run_job(o, job, &t[job]);
			exit(0);
		}
	while (wait(NULL) > 0)
		;
	for (job = 0; job < o->jobs; job++) {
		sum.passed += t[job].passed;
		sum.failed += t[job].failed;
		sum.packets += t[job].packets;
		seen_add(&sum.seen, &t[job].seen);
		lost += !t[job].finished;
	}
	begin = seconds() - begin;
	printf("sim: %.0f seeds/s, %.0f packets/s\n",
	       (sum.passed + sum.failed) / begin, sum.packets / begin);
	missing = seen_print(&sum.seen);
	if (o->seeds < SEEDS_ENOUGH || sim.rough || !FEW_BITS)
		missing = 0;
	if (missing)
		printf("sim: %u verdicts never came up\n", missing);
	if (lost)
		printf("sim: %u jobs crashed\n", lost);
	printf("sim: %llu passed, %llu failed\n",
	       (unsigned long long)sum.passed,
	       (unsigned long long)sum.failed + lost);
	return sum.failed || lost || missing || !sum.passed;
}

static int run_one(const struct options *o)
{
	sim.verbose = o->verbose;
	program_make(&sim, o->from);
	if (o->verbose)
		program_describe(&sim);
	run_all(&sim);
	printf("seed %llu: %s, %.3f us, %llu events, %llu packets\n",
	       (unsigned long long)o->from, sim.failed ? "FAILED" : "passed",
	       sim.now / 1000.0, (unsigned long long)sim.events,
	       (unsigned long long)sim.packets);
	return sim.failed;
}

/**
 * struct scenario - what the goodput is measured of
 * @name: as printed
 * @op: enum srdma_wr_opcode
 * @len: bytes of a message
 * @count: messages
 */
struct scenario {
	const char *name;
	u8 op;
	u32 len;
	u32 count;
};

#define GOODPUT_SEEDS	20u

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * MB/s of virtual time, the median of some connections; or 0 if the oracle objects.
 * One whose first answer of all is lost waits for long, as one of TCP does.
 */
static double goodput(const struct scenario *sc, u32 loss, bool trains,
		      bool holds)
{
	double each[GOODPUT_SEEDS];
	u32 seed;

	for (seed = 1; seed <= GOODPUT_SEEDS; seed++) {
		program_make_goodput(&sim, seed, sc->op, sc->len, sc->count,
				     loss, trains, holds);
		sim.payload = 0;
		run_all(&sim);
		if (sim.failed)
			return 0;
		each[seed - 1] = 1000.0 * sim.payload / sim.done_at;
	}
	qsort(each, GOODPUT_SEEDS, sizeof(each[0]), by_size);
	return each[GOODPUT_SEEDS / 2];
}

/* A network card loses packets, a queue of the stack loses whole trains. */
static bool print_goodput(const struct scenario *sc, bool holds)
{
	double none = goodput(sc, 0, false, holds);
	double one = goodput(sc, 100, false, holds) / none;
	double five = goodput(sc, 500, false, holds) / none;
	double one_train = goodput(sc, 100, true, holds) / none;
	double five_train = goodput(sc, 500, true, holds) / none;

	printf("  %-12s %5.0f MB/s%s    packets %3.0f %% %3.0f %%"
	       "    trains %3.0f %% %3.0f %%\n", sc->name, none,
	       holds ? ", holding" : "         ", 100 * one, 100 * five, 100 * one_train, 100 * five_train);
	/* Below this, something waits for a timer at each loss. */
	return none > 1000 && one > 0.40 && five > 0.20 && one_train > 0.45 &&
	       five_train > 0.30;
}

static int run_goodput(void)
{
	static const struct scenario scenarios[] = {
		{ "SEND 4 KB", SRDMA_WR_SEND, 4096, 256 },
		{ "WRITE 4 KB", SRDMA_WR_WRITE, 4096, 256 },
		{ "WRITE 64 KB", SRDMA_WR_WRITE, 65536, 64 },
		{ "READ 4 KB", SRDMA_WR_READ, 4096, 256 },
		{ "READ 64 KB", SRDMA_WR_READ, 65536, 64 },
		{ "READ 1000 KB", SRDMA_WR_READ, 1000 << 10, 16 },
	};
	bool good = true;
	u32 i;

	printf("goodput, 10 Gbit/s, 10 us, MTU 1024; with 1 %% and 5 %% lost:\n");
	for (i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		good &= print_goodput(&scenarios[i], false);
		good &= print_goodput(&scenarios[i], true);
	}
	if (!good)
		printf("sim: goodput under loss has collapsed\n");
	return !good;
}

/**
 * struct line - a path as there are between machine rooms
 * @name: as printed
 * @ps_byte: picoseconds a byte takes
 * @count: messages to be sent
 * @far_us: longest round trip; over a longer one 16 READs would not fill it
 */
struct line {
	const char *name;
	u32 ps_byte;
	u32 count;
	u32 far_us;
};

/* Round trips until a window that begins with 64 KB, and doubles, fills it. */
static u32 trips_to_fill(const struct line *line, u32 rtt_us)
{
	double holds = rtt_us * 1e6 / line->ps_byte;
	u32 trips = 2;

	for (; holds > 256 << 10; holds /= 2)
		trips++;
	return trips;
}

/*
 * A deep queue of messages of a megabyte fills a line that loses nothing, once the
 * window has grown, and nothing goes over it twice, neither requests nor responses.
 */
static bool print_distance(const struct line *line, const char *name, u8 op,
			   u32 rtt_us)
{
	double least, growing, took;
	bool twice;

	program_make_distance(&sim, op, 1000 << 10, line->count, rtt_us,
			      line->ps_byte);
	sim.payload = 0;
	sim.on_wire = 0;
	sim.again = 0;
	run_all(&sim);
	least = (double)sim.payload * line->ps_byte / 1000;
	growing = trips_to_fill(line, rtt_us) * 1000.0 * rtt_us;
	took = sim.done_at;
	twice = sim.again || sim.on_wire != sim.payload;
	printf("  %-10s %-5s %6.1f ms  %3.0f %% of the line, then %3.0f %%%s\n",
	       line->name, name, rtt_us / 1e3, 100 * least / took,
	       100 * least / (took - growing), twice ? ", packets twice" : "");
	return !sim.failed && !twice && least / 0.9 + growing >= took;
}

static int run_distance(void)
{
	static const u32 rtt_us[] = { 0, 1000, 10000, 50000, 300000 };
	static const struct line lines[] = {
		{ "1 Gbit/s", 8000, 150, 50000 },
		{ "200 Mbit/s", 40000, 120, 300000 },
		{ "10 Mbit/s", 800000, 24, 300000 },
	};
	bool good = true;
	u32 l, i;

	printf("distance, deep queues of 1 MB, nothing lost:\n");
	for (l = 0; l < sizeof(lines) / sizeof(lines[0]); l++)
		for (i = 0; i < sizeof(rtt_us) / sizeof(rtt_us[0]) &&
		     rtt_us[i] <= lines[l].far_us; i++) {
			good &= print_distance(&lines[l], "SEND",
					       SRDMA_WR_SEND, rtt_us[i]);
			good &= print_distance(&lines[l], "WRITE",
					       SRDMA_WR_WRITE, rtt_us[i]);
			good &= print_distance(&lines[l], "READ",
					       SRDMA_WR_READ, rtt_us[i]);
		}
	if (!good)
		printf("sim: a path is not filled, or something went twice\n");
	return !good;
}

#define FAR_SEEDS	5u

/* Between two that hold back, a train that is lost costs what it takes to send it. */
static bool print_far_loss(const struct line *line, const char *name, u8 op,
			   u32 rtt_us)
{
	double part[FAR_SEEDS], sent[FAR_SEEDS];
	u32 seed;

	for (seed = 1; seed <= FAR_SEEDS; seed++) {
		program_make_far_loss(&sim, seed, op, 1000 << 10, line->count, rtt_us,
				      line->ps_byte);
		sim.payload = 0;
		sim.on_wire = 0;
		run_all(&sim);
		if (sim.failed)
			return false;
		part[seed - 1] = (double)sim.payload * line->ps_byte / 1000 /
				 sim.done_at;
		sent[seed - 1] = (double)sim.on_wire / sim.payload;
	}
	qsort(part, FAR_SEEDS, sizeof(part[0]), by_size);
	qsort(sent, FAR_SEEDS, sizeof(sent[0]), by_size);
	printf("  %-10s %-5s %6.1f ms  %3.0f %% of the line, %.3f sent for each needed\n",
	       line->name, name, rtt_us / 1e3, 100 * part[FAR_SEEDS / 2],
	       sent[FAR_SEEDS - 1]);
	return part[FAR_SEEDS / 2] > 0.8 && sent[FAR_SEEDS - 1] < 1.02;
}

static int run_far_loss(void)
{
	static const struct line line = { "200 Mbit/s", 40000, 50, 50000 };
	static const u32 rtt_us[] = { 10000, 50000 };
	bool good = true;
	u32 i;

	printf("distance, with 0.1 %% of the trains lost:\n");
	for (i = 0; i < sizeof(rtt_us) / sizeof(rtt_us[0]); i++) {
		good &= print_far_loss(&line, "SEND", SRDMA_WR_SEND, rtt_us[i]);
		good &= print_far_loss(&line, "WRITE", SRDMA_WR_WRITE, rtt_us[i]);
		good &= print_far_loss(&line, "READ", SRDMA_WR_READ, rtt_us[i]);
	}
	if (!good)
		printf("sim: a train that is lost costs too much\n");
	return !good;
}

/* Trains overtake each other, and nothing is lost. */
static bool print_shuffle(const char *name, u8 op, u32 len, u32 count, double most)
{
	u64 payload = 0, on_wire = 0, took = 0;
	u32 seed;

	for (seed = 1; seed <= GOODPUT_SEEDS; seed++) {
		program_make_shuffle(&sim, seed, op, len, count);
		sim.payload = 0;
		sim.on_wire = 0;
		run_all(&sim);
		if (sim.failed)
			return false;
		payload += sim.payload;
		on_wire += sim.on_wire;
		took += sim.done_at;
	}
	printf("  %-5s %4u KB  %4.0f MB/s, %.3f sent for each needed\n", name, len >> 10,
	       1000.0 * payload / took, (double)on_wire / payload);
	return 1000.0 * payload / took > 45 && on_wire < most * payload;
}

static int run_shuffle(void)
{
	bool good = true;

	printf("trains take 0.5 to 1.5 ms, and overtake each other:\n");
	good &= print_shuffle("WRITE", SRDMA_WR_WRITE, 64 << 10, 100, 1.01);
	good &= print_shuffle("SEND", SRDMA_WR_SEND, 64 << 10, 100, 1.01);
	good &= print_shuffle("READ", SRDMA_WR_READ, 64 << 10, 100, 1.25);
	good &= print_shuffle("READ", SRDMA_WR_READ, 1000 << 10, 20, 4);
	if (!good)
		printf("sim: what was overtaken is taken for lost\n");
	return !good;
}

/**
 * struct slow - a line with a queue that is shorter than a window
 * @name: as printed
 * @ps_byte: picoseconds a byte takes
 * @queue_us: what waits longer is lost
 */
struct slow {
	const char *name;
	u32 ps_byte;
	u32 queue_us;
};

/*
 * It must not collapse. But the first READs are asked for as a whole; and where their
 * answers take seconds, that is most of what there is here.
 */
static bool print_queue(const struct slow *slow, const char *name, u8 op, u32 len,
			u32 count)
{
	double part, sent;

	program_make_queue(&sim, op, len, count, slow->queue_us, slow->ps_byte);
	sim.payload = 0;
	sim.on_wire = 0;
	run_all(&sim);
	part = (double)sim.payload * slow->ps_byte / 1000 / sim.done_at;
	sent = (double)sim.on_wire / sim.payload;
	printf("  %-10s %-5s %4u KB  %3.0f %% of the line, %.2f sent for each needed\n",
	       slow->name, name, len >> 10, 100 * part, sent);
	if (op == SRDMA_WR_READ && (len > 64 << 10 || slow->ps_byte > 100000))
		return !sim.failed && part > 0.6 && sent < 2.2;
	return !sim.failed && part > 0.6 && sent < 1.13;
}

static int run_queue(void)
{
	static const struct slow lines[] = {
		{ "1 Gbit/s", 8000, 4000 },
		{ "100 Mbit/s", 80000, 8000 },
		{ "10 Mbit/s", 800000, 24000 },
	};
	bool good = true;
	u32 i;

	printf("short queues, one connection:\n");
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		good &= print_queue(&lines[i], "SEND", SRDMA_WR_SEND, 64 << 10, 200);
		good &= print_queue(&lines[i], "WRITE", SRDMA_WR_WRITE, 64 << 10, 200);
		good &= print_queue(&lines[i], "WRITE", SRDMA_WR_WRITE, 1000 << 10, 20);
		good &= print_queue(&lines[i], "READ", SRDMA_WR_READ, 64 << 10, 200);
		good &= print_queue(&lines[i], "READ", SRDMA_WR_READ, 1000 << 10, 20);
	}
	if (!good)
		printf("sim: a short queue is overrun, or not used\n");
	return !good;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
	int i;

	for (i = 1; i < argc; i++) {
		u64 *number = NULL;

		if (!strcmp(argv[i], "-v")) {
			o->verbose = true;
			continue;
		}
		if (!strcmp(argv[i], "--rough")) {
			sim.rough = true;
			continue;
		}
		if (i + 1 == argc)
			return false;
		if (!strcmp(argv[i], "--seeds"))
			number = &o->seeds;
		else if (!strcmp(argv[i], "--from"))
			number = &o->from;
		else if (!strcmp(argv[i], "--seed"))
			number = &o->from;
		else if (!strcmp(argv[i], "--jobs"))
			o->jobs = atoi(argv[i + 1]);
		else
			return false;
		o->one |= !strcmp(argv[i], "--seed");
		if (number)
			*number = strtoull(argv[i + 1], NULL, 0);
		i++;
	}
	return o->jobs && o->jobs <= JOBS_MAX;
}

/* Sanitizers make them slow, and see nothing new in the longest ones. */
static int print_figures(bool all)
{
	int ret;

	if (sim.rough || FEW_BITS)
		return 0;
	ret = run_goodput() | run_distance() | run_queue();
	return all ? ret | run_far_loss() | run_shuffle() | !run_crowds() |
		     !run_unreliable_crowds() : ret;
}

int main(int argc, char **argv)
{
	struct options o = {
		.seeds = 1000,
		.from = 1,
		.jobs = sysconf(_SC_NPROCESSORS_ONLN),
	};
	struct rng r = { .s = 42 };
	u32 i;
	int ret;

	if (!parse_options(argc, argv, &o)) {
		fprintf(stderr, "usage: sim --seeds N [--from S] [--jobs J]\n"
			"       sim --rough --seeds N [--from S] [--jobs J]\n"
			"       sim [--rough] --seed S [-v]\n");
		return 2;
	}
	for (i = 0; i < PATTERN_SIZE; i++)
		sim_pattern[i] = rnd(&r);
	net_init();
	if (o.one)
		return run_one(&o);
	ret = print_figures(o.seeds >= SEEDS_ENOUGH);
	return run_seeds(&o) | ret;
}
