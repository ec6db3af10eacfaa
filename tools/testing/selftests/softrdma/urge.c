// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Softirq that waits for a program which polls is run in its time; one that has no
 * device open keeps its time (engine/urge.c of the driver). All is on one CPU, each
 * packet has an skb of its own and is checked, so that softirq takes longer than the
 * kernel lets it: then ksoftirqd has it, a process like others.
 */
#include "pair_fixture.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "counters.h"
#include "ends.h"
#include "rules.h"

#define MESSAGE		(1u << 20)

/* As many at a time: softirq is busy for some hundred milliseconds. */
#define MESSAGES	32

/* By so many times it is seen who gives its time, and who does not. */
#define OFTEN		12

static const struct pair_options rc = {
	.type = IBV_QPT_RC, .buffer = MESSAGE, .mtu = IBV_MTU_1024,
};

FIXTURE(urge)
{
	struct pair pair;
};

static int share_one_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* Are trains sent as they are, and made again, or cut? 0 or -errno. */
static int keep_trains_whole(bool whole)
{
	return topo_set_feature(ENDS_NETDEV_A, "tx-udp-segmentation", whole) ?:
	       topo_set_feature(ENDS_NETDEV_A, "tx-generic-segmentation", whole) ?:
	       topo_set_feature(ENDS_NETDEV_A, "rx-gro", whole);
}

FIXTURE_SETUP(urge)
{
	ASSERT_EQ(0, share_one_cpu());
	ASSERT_EQ(0, keep_trains_whole(false));
	ASSERT_LT(0, rules_add(ENDS_LINK_A, "rx op READ_RESPONSE* prob 0.02 drop"));
	counters_use(ENDS_LINK_A);
	ASSERT_EQ(0, pair_open(&self->pair, PAIR_VETH));
	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
}

FIXTURE_TEARDOWN(urge)
{
	EXPECT_EQ(0, pair_disconnect(&self->pair));
	EXPECT_EQ(0, pair_close(&self->pair));
	EXPECT_EQ(0, rules_flush(ENDS_LINK_A));
	EXPECT_EQ(0, keep_trains_whole(true));
}

/* By one doorbell: the program does not stay with them for long. 0 or errno. */
static int read_all(struct pair *pair)
{
	static struct pair_wr wrs[MESSAGES];
	struct ibv_send_wr *bad;
	int i;

	for (i = 0; i < MESSAGES; i++) {
		pair_wr_init(&wrs[i], &pair->a, &pair->b, IBV_WR_RDMA_READ, 0,
			     MESSAGE);
		wrs[i].wr.send_flags = 0;
		wrs[i].wr.next = &wrs[i + 1].wr;
	}
	wrs[MESSAGES - 1].wr.send_flags = IBV_SEND_SIGNALED;
	wrs[MESSAGES - 1].wr.next = NULL;
	return ibv_post_send(pair->a.qp, &wrs[0].wr, &bad);
}

/* All the time, or once in a while: then the process sleeps. 0 or -errno. */
static int read_and_look(struct pair *pair, long sleep_ns)
{
	struct timespec pause = { .tv_nsec = sleep_ns };
	struct ibv_wc wc;
	int ret;

	ret = read_all(pair);
	if (ret)
		return -ret;
	do {
		if (sleep_ns)
			nanosleep(&pause, NULL);
		ret = ibv_poll_cq(pair->a.set.cq, 1, &wc);
	} while (!ret);
	return ret == 1 && wc.status == IBV_WC_SUCCESS ? 0 : -EIO;
}

/**
 * struct seen - what a program has seen
 * @rounds: how often all messages were read
 * @urged: how often softirq had the time of a program meanwhile
 */
struct seen {
	int rounds;
	int64_t urged;
};

/* Polls until softirq has had its time often enough. 0, -errno or -ETIMEDOUT. */
static int poll_until_urged(struct pair *pair, int64_t enough, struct seen *seen)
{
	long end = topo_now_ms() + PAIR_PATIENCE_MS;
	int64_t before = counters_get("softirq_urged");
	int ret;

	for (seen->rounds = 1; ; seen->rounds++) {
		ret = read_and_look(pair, 0);
		seen->urged = counters_get("softirq_urged") - before;
		if (ret || seen->urged >= enough)
			return ret;
		if (topo_now_ms() > end)
			return -ETIMEDOUT;
	}
}

/* As many rounds, in which it sleeps. 0 or -errno. */
static int sleep_instead(struct pair *pair, struct seen *seen)
{
	int64_t before = counters_get("softirq_urged");
	int i, ret = 0;

	for (i = 0; i < seen->rounds && !ret; i++)
		ret = read_and_look(pair, 300000000);
	seen->urged = counters_get("softirq_urged") - before;
	return ret;
}

static bool is_realtime(void)
{
	return !access("/sys/kernel/realtime", F_OK);
}

/* A program that has had a device open, and computes. Its pid or -1. */
static pid_t start_computing(void)
{
	struct verbs_set set;
	pid_t pid = fork();
	int status;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (verbs_open_set(&set, TOPO_LINK) || verbs_close_set(&set))
			_exit(1);
		raise(SIGSTOP);
		for (;;)
			;
	}
	if (pid > 0 && (waitpid(pid, &status, WUNTRACED) != pid ||
			!WIFSTOPPED(status) || kill(pid, SIGCONT)))
		return -1;
	return pid;
}

static void stop_computing(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_F(urge, softirq_has_the_time_of_who_polls)
{
	struct seen seen;

	if (is_realtime()) {
		EXPECT_EQ(0, poll_until_urged(&self->pair, 0, &seen));
		EXPECT_EQ(0, seen.urged);
	} else {
		EXPECT_EQ(0, poll_until_urged(&self->pair, 1, &seen));
	}
}

/*
 * The one that sleeps may be met when it wakes up. Another one may be taken for it,
 * which then happens to one of two.
 */
TEST_F(urge, who_has_no_device_open_keeps_its_time)
{
	struct seen polled, slept;
	pid_t other = 0, last;
	int i;

	ASSERT_EQ(0, poll_until_urged(&self->pair, is_realtime() ? 0 : OFTEN,
				      &polled));
	slept.rounds = polled.rounds;
	for (i = 0; i < 2; i++) {
		last = other;
		other = start_computing();
		if (last)
			stop_computing(last);
		ASSERT_LT(0, other);
		EXPECT_EQ(0, sleep_instead(&self->pair, &slept));
		if (slept.urged <= polled.urged / 3)
			break;
	}
	EXPECT_EQ(0, waitpid(other, NULL, WNOHANG));
	stop_computing(other);
	EXPECT_LE(slept.urged, polled.urged / 3);
}

TEST_HARNESS_MAIN
