// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two users that wish each other ill, and a third one who is to notice nothing:
 *
 *   user 0 (uid 7700)  <-- RC, UC, UD; keys; -->  user 1 (uid 7701)
 *     fuzz_user.h            over loopback,         the same
 *                            or over a veth
 *   the third (uid 7702): checked traffic, and a region that is nobody's business
 *
 * Root stops, continues and kills the users, and takes the links away. It says no
 * when a user saw a byte, or lost one, that was none of the other's business; when
 * the third got wrong data or no progress; when anything takes longer than it may.
 * Reports of the kernel, leaks and a module that stays are for who runs this:
 * scripts/fuzz-users.
 *
 * usage: fuzz_users [SECONDS [SEED]]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz_user.h"
#include "nldev.h"
#include "pump.h"
#include "topo.h"

#define FIRST_UID	7700
#define LOCKED_MAX	(64 << 20)

/* What anything may take, on a busy emulated machine. */
#define BOUND_MS	30000
#define LINKS_EVERY_MS	15000
#define BAD_STARTS	20

/**
 * struct child - a process of a user, or of the third
 * @pid: 0 for none
 * @stopped_until: 0: it is not stopped
 * @asked_ms: since when it is to end; 0 for not
 * @runs: how often it was started
 * @hurt: how often it ended by a signal of its own making
 * @away: starts in a row that found no device
 */
struct child {
	pid_t pid;
	long stopped_until;
	long asked_ms;
	int runs;
	int hurt;
	int away;
};

/**
 * struct fuzz - all of it
 * @shared: what all processes see
 * @child: users, then the third
 * @wire: between the users
 * @random: state of the generator
 * @links: how often links were taken away
 * @kills: and users killed
 * @third_ms: when the third last got on
 * @third_done: as far as it had got then
 */
struct fuzz {
	struct fuzz_shared *shared;
	struct child child[FUZZ_USERS + 1];
	enum twin_kind wire;
	uint32_t random;
	int links;
	int kills;
	long third_ms;
	uint64_t third_done;
};

static uint32_t below(struct fuzz *f, uint32_t bound)
{
	return (twin_random(&f->random) >> 7) % bound;
}

/* ---- the verdict ---- */

static void show_log(const struct fuzz_told *told, int id)
{
	uint32_t i = told->logged > FUZZ_LOG ? told->logged - FUZZ_LOG : 0;

	printf("# user %d, %u operations; the last ones:\n", id, told->logged);
	for (; i < told->logged; i++) {
		const struct fuzz_logged *log = &told->log[i % FUZZ_LOG];

		printf("#   %10ld %-32s %u: %d\n", log->ms, log->what,
		       log->arg, log->ret);
	}
	if (told->busy_ms)
		printf("#   %10ld %-32s\n", told->busy_ms, told->busy);
}

/* Something must have happened, or nothing was tested. */
static bool sum_up(const struct fuzz *f)
{
	uint64_t ops = 0, flows = 0, broken = 0, posts = 0, scribbles = 0;
	int i;

	for (i = 0; i < FUZZ_USERS; i++) {
		const struct fuzz_told *told = &f->shared->told[i];

		ops += told->ops;
		flows += told->flows;
		broken += told->broken;
		posts += told->posts;
		scribbles += told->scribbles;
	}
	printf("# %lu operations, %lu requests, %lu words in rings\n", ops,
	       posts, scribbles);
	printf("# %lu flows, %lu of them failed; the third: %lu requests\n",
	       flows, broken, f->shared->third_done);
	printf("# %d killed, %d links; %d and %d starts, %d and %d hurt\n",
	       f->kills, f->links, f->child[0].runs, f->child[1].runs,
	       f->child[0].hurt, f->child[1].hurt);
	return ops && posts && scribbles && flows && f->shared->third_done;
}

/* Whoever hangs is shown by the kernel. */
static void __attribute__((noreturn)) give_up(struct fuzz *f, const char *why)
{
	int i, sysrq = open("/proc/sysrq-trigger", O_WRONLY);

	alarm(0);
	printf("# %s\n", why);
	for (i = 0; i < FUZZ_USERS; i++)
		show_log(&f->shared->told[i], i);
	sum_up(f);
	if (sysrq >= 0 && strstr(why, "longer than") &&
	    write(sysrq, "w", 1) != 1)
		printf("# blocked tasks cannot be shown\n");
	for (i = 0; i <= FUZZ_USERS; i++)
		if (f->child[i].pid > 0)
			kill(f->child[i].pid, SIGKILL);
	printf("not ok 1 users\n");
	exit(1);
}

static struct fuzz *alarmed;
static const char *in_time;

static void too_late(int sig)
{
	give_up(alarmed, in_time);
}

/* Root hangs with what it does: not for longer than this. */
static void bound(struct fuzz *f, const char *late)
{
	alarmed = f;
	in_time = late;
	alarm(late ? 2 * BOUND_MS / 1000 : 0);
}

/* ---- processes ---- */

static void become(int id)
{
	struct rlimit locked = { LOCKED_MAX, LOCKED_MAX };
	int uid = FIRST_UID + id;

	signal(SIGALRM, SIG_DFL);
	if (setrlimit(RLIMIT_MEMLOCK, &locked) || setgroups(0, NULL) ||
	    setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		_exit(FUZZ_NO_DEVICE);
}

/* A region that nobody is let in to, though all know its key. */
static uint8_t *lay_out(struct fuzz_shared *shared, struct verbs_set *set)
{
	struct ibv_mr *mr;
	uint8_t *at;

	at = mmap(NULL, FUZZ_SLOT, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	paint_secret(at, FUZZ_SLOT, FUZZ_THIRD, 1);
	mr = ibv_reg_mr(set->pd, at, FUZZ_SLOT, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_ATOMIC);
	if (!mr)
		return NULL;
	shared->third_key.va = (uintptr_t)at;
	shared->third_key.rkey = mr->rkey;
	return at;
}

static void __attribute__((noreturn)) third_failed(struct fuzz_shared *shared,
						   const char *why)
{
	snprintf(shared->third_failed, sizeof(shared->third_failed),
		 "the third: %s", why);
	_exit(FUZZ_FAILED);
}

static void __attribute__((noreturn)) third_run(struct fuzz_shared *shared,
						uint32_t seed)
{
	struct twin_attr attr = TWIN_ATTR_DEFAULT;
	static struct verbs_set sets[2];
	static struct pump pump;
	struct verbs_set *keeper;
	uint64_t before;
	uint8_t *at;

	if (twin_open(sets, seed & 8 ? TWIN_VETH : TWIN_LOOPBACK))
		_exit(FUZZ_NO_DEVICE);
	/* In a PD of its own: who guesses a PSN is let in to the other. */
	keeper = calloc(1, sizeof(*keeper));
	keeper->pd = ibv_alloc_pd(sets[0].ctx);
	at = keeper->pd ? lay_out(shared, keeper) : NULL;
	if (!at || pump_init(&pump, sets, 1, &attr, seed | 1))
		third_failed(shared, "it cannot make what it needs");
	before = shared->third_done;
	while (!shared->third_stop) {
		if (!pump_run(&pump, 20))
			third_failed(shared, pump.failed);
		shared->third_done = before + pump.done;
		if (paint_spoilt(at, FUZZ_SLOT, FUZZ_THIRD, 1) >= 0)
			third_failed(shared, "its own region was changed");
		usleep(30000);
	}
	_exit(FUZZ_DONE);
}

static void start(struct fuzz *f, int id)
{
	struct child *child = &f->child[id];
	uint32_t seed = twin_random(&f->random);

	child->runs++;
	child->stopped_until = 0;
	child->asked_ms = 0;
	if (id == FUZZ_THIRD) {
		f->shared->third_stop = false;
		f->third_ms = topo_now_ms();
	} else {
		f->shared->told[id].stop = false;
		f->shared->told[id].busy_ms = 0;
	}
	child->pid = fork();
	if (child->pid < 0)
		give_up(f, "no process can be made");
	if (child->pid)
		return;
	become(id);
	if (id == FUZZ_THIRD)
		third_run(f->shared, seed);
	fuzz_user_run(f->shared, id, f->wire, seed);
}

static void judge(struct fuzz *f, int id, int status)
{
	struct child *child = &f->child[id];
	char why[64];

	child->pid = 0;
	if (WIFSIGNALED(status)) {
		/* Whose rings are rewritten, or gone, hurts itself. */
		if (id == FUZZ_THIRD)
			give_up(f, "the third was ended by a signal");
		child->hurt += WTERMSIG(status) != SIGKILL;
		return;
	}
	switch (WEXITSTATUS(status)) {
	case FUZZ_DONE:
		child->away = 0;
		return;
	case FUZZ_FAILED:
		give_up(f, id == FUZZ_THIRD ? f->shared->third_failed :
			f->shared->told[id].failed);
	case FUZZ_NO_DEVICE:
		/* A context may be taken away while it is opened. */
		if (++child->away < BAD_STARTS)
			return;
		give_up(f, "a process finds no device again and again");
	}
	snprintf(why, sizeof(why), "process %d ended with status %#x", id,
		 status);
	give_up(f, why);
}

static void reap(struct fuzz *f)
{
	int i, status;

	for (i = 0; i <= FUZZ_USERS; i++)
		if (f->child[i].pid > 0 &&
		    waitpid(f->child[i].pid, &status, WNOHANG) ==
		    f->child[i].pid)
			judge(f, i, status);
}

/* ---- who hangs ---- */

static void look_at_user(struct fuzz *f, int id)
{
	const struct fuzz_told *told = &f->shared->told[id];
	long now = topo_now_ms(), since = told->busy_ms;
	struct child *child = &f->child[id];
	char why[128];

	if (child->stopped_until || !child->pid)
		return;
	if (since && now - since > BOUND_MS) {
		snprintf(why, sizeof(why), "user %d: \"%s\" takes longer than %d ms",
			 id, told->busy, BOUND_MS);
		give_up(f, why);
	}
	if (child->asked_ms && now - child->asked_ms > BOUND_MS)
		give_up(f, "a user takes longer than it may to end");
}

static void look_at_third(struct fuzz *f)
{
	long now = topo_now_ms();

	if (f->shared->third_done != f->third_done) {
		f->third_done = f->shared->third_done;
		f->third_ms = now;
	}
	if (f->child[FUZZ_THIRD].pid && now - f->third_ms > BOUND_MS)
		give_up(f, "the third waits longer than it may");
}

static void look(struct fuzz *f)
{
	int i;

	reap(f);
	for (i = 0; i < FUZZ_USERS; i++)
		look_at_user(f, i);
	look_at_third(f);
}

/* ---- what root does ---- */

static void ask_to_end(struct fuzz *f, int id)
{
	if (!f->child[id].pid)
		return;
	if (id == FUZZ_THIRD)
		f->shared->third_stop = true;
	else
		f->shared->told[id].stop = true;
	if (f->child[id].stopped_until)
		kill(f->child[id].pid, SIGCONT);
	f->child[id].stopped_until = 0;
	f->child[id].asked_ms = topo_now_ms();
}

static void kill_user(struct fuzz *f, int id)
{
	struct child *child = &f->child[id];

	kill(child->pid, SIGKILL);
	child->stopped_until = 0;
	child->asked_ms = topo_now_ms();
	f->kills++;
}

static bool anybody(const struct fuzz *f, int first, int last)
{
	for (; first <= last; first++)
		if (f->child[first].pid)
			return true;
	return false;
}

static void wait_for_none(struct fuzz *f, int first, int last)
{
	while (anybody(f, first, last)) {
		look(f);
		usleep(5000);
	}
}

/* The third ends before that; the users are hit by it. */
static void take_links_away(struct fuzz *f)
{
	ask_to_end(f, FUZZ_THIRD);
	wait_for_none(f, FUZZ_THIRD, FUZZ_THIRD);
	bound(f, "deleting links takes longer than it may");
	if (nldev_link_del(TWIN_LINK_A) || nldev_link_del(TWIN_LINK_B))
		give_up(f, "a link cannot be deleted");
	bound(f, NULL);
	ask_to_end(f, 0);
	ask_to_end(f, 1);
	wait_for_none(f, 0, 1);
	bound(f, "making links takes longer than it may");
	if (topo_link_add(TWIN_LINK_A, TWIN_NETDEV_A) || twin_enter(TWIN_B) ||
	    topo_link_add(TWIN_LINK_B, TWIN_NETDEV_B) || twin_enter(TWIN_A))
		give_up(f, "a link cannot be made again");
	bound(f, NULL);
	f->wire = below(f, 3) ? TWIN_LOOPBACK : TWIN_VETH;
	f->links++;
}

static void meddle(struct fuzz *f)
{
	int id = below(f, FUZZ_USERS);
	struct child *child = &f->child[id];
	long now = topo_now_ms();

	if (!child->pid || child->stopped_until || child->asked_ms)
		return;
	switch (below(f, 16)) {
	case 0:
		kill_user(f, id);
		break;
	case 1:
		ask_to_end(f, id);
		break;
	default:
		kill(child->pid, SIGSTOP);
		child->stopped_until = now + 1 + below(f, below(f, 4) ? 60 :
						       1500);
	}
}

static void keep_going(struct fuzz *f)
{
	int i;

	for (i = 0; i <= FUZZ_USERS; i++) {
		struct child *child = &f->child[i];

		if (!child->pid)
			start(f, i);
		if (child->stopped_until &&
		    topo_now_ms() >= child->stopped_until) {
			child->stopped_until = 0;
			f->shared->told[i].busy_ms = 0;
			kill(child->pid, SIGCONT);
		}
	}
}

static void fuzz_for(struct fuzz *f, long ms)
{
	long now = topo_now_ms(), end = now + ms;
	long next = now, links = now + LINKS_EVERY_MS;

	while (now < end) {
		keep_going(f);
		look(f);
		if (now >= next) {
			meddle(f);
			next = now + 200 + below(f, 1500);
		}
		if (now >= links) {
			take_links_away(f);
			links = topo_now_ms() + LINKS_EVERY_MS / 2 +
				below(f, LINKS_EVERY_MS);
		}
		usleep(5000);
		now = topo_now_ms();
	}
}

/* Who finds no secret where one is, finds none anywhere. */
static bool finds_secrets(void)
{
	static uint64_t open[64], secret[8];
	struct paint_found found;
	uint8_t *at = (uint8_t *)open;
	int i;

	paint_secret(secret, sizeof(secret), 1, 12345);
	for (i = 0; i < 8; i++) {
		paint_open(open, sizeof(open), 0, i);
		if (paint_find(open, sizeof(open), &found))
			return false;
		memcpy(at + 100 + i, (uint8_t *)secret + i, 8 + 3 + 8);
		if (!paint_find(open, sizeof(open), &found) ||
		    found.user != 1 || found.epoch != 12345)
			return false;
	}
	return paint_spoilt(secret, sizeof(secret), 1, 12345) < 0 &&
	       paint_spoilt(secret, sizeof(secret), 1, 12346) == 0;
}

int main(int argc, char **argv)
{
	long seconds = argc > 1 ? atol(argv[1]) : 60;
	static struct fuzz f;
	uint32_t seed;
	int i;

	seed = (argc > 2 ? strtoul(argv[2], NULL, 0) : time(NULL)) | 1;
	printf("TAP version 13\n1..1\n# seed %u, %ld seconds\n", seed, seconds);
	f.random = seed;
	f.shared = mmap(NULL, sizeof(*f.shared), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	signal(SIGALRM, too_late);
	if (f.shared == MAP_FAILED || !finds_secrets() || twin_setup()) {
		printf("not ok 1 users # nothing can be tested\n");
		return 1;
	}
	fuzz_for(&f, seconds * 1000);
	for (i = 0; i <= FUZZ_USERS; i++)
		ask_to_end(&f, i);
	wait_for_none(&f, 0, FUZZ_USERS);
	bound(&f, "deleting links takes longer than it may");
	twin_teardown();
	bound(&f, NULL);
	if (!sum_up(&f)) {
		printf("not ok 1 users # nothing was tested\n");
		return 1;
	}
	printf("ok 1 users\n");
	return 0;
}
