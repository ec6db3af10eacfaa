// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Unloading and loading the module, also under what still uses it. */
#include "../kselftest_harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kmsg.h"
#include "listen.h"
#include "load.h"
#include "nldev.h"
#include "rtnl.h"
#include "topo.h"
#include "verbs.h"

#undef TEST_F
#define TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 240)

#define LINK		"sru0"
#define NETDEV		"srun0"
#define PROMPT_MS	5000
#define CHILD_MS	60000
#define ROUNDS		20

static const char *module(void)
{
	return strcmp(topo_type(), "rxe") ? "softrdma" : "rdma_rxe";
}

static int unload(void)
{
	return topo_run("rmmod %s", module());
}

static bool is_loaded(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/module/%s", module());
	return !access(path, F_OK);
}

FIXTURE(module)
{
	int unused;
};

FIXTURE_SETUP(module)
{
	nldev_link_del(LINK);
	ASSERT_EQ(0, topo_enter_netns());
	ASSERT_EQ(0, rtnl_add_dummy(NETDEV));
	ASSERT_EQ(0, rtnl_add_address(NETDEV, TOPO_IPV4, 24));
	ASSERT_EQ(0, topo_set_up(NETDEV, true));
}

FIXTURE_TEARDOWN(module)
{
	nldev_link_del(LINK);
}

TEST_F(module, link_loads_it_by_alias)
{
	if (is_loaded())
		ASSERT_EQ(0, unload());
	EXPECT_FALSE(is_loaded());
	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	EXPECT_TRUE(is_loaded());
}

TEST_F(module, unload_and_load_20_times)
{
	struct ibv_context *ctx;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
		ctx = verbs_open(LINK);
		ASSERT_NE(NULL, ctx);
		ASSERT_NE(NULL, ibv_alloc_pd(ctx));
		/* Not even its objects were freed; closing does that. */
		ASSERT_EQ(0, close(ctx->cmd_fd));
		ASSERT_EQ(0, nldev_link_del(LINK));
		ASSERT_EQ(0, unload());
		ASSERT_FALSE(is_loaded());
	}
}

/* Of any CPU, by the words that arm64 and x86 have for it. */
static bool cpu_has(const char *feature)
{
	char line[4096], *word, *rest;
	FILE *f = fopen("/proc/cpuinfo", "r");
	bool has = false;

	while (f && !has && fgets(line, sizeof(line), f)) {
		for (word = strtok_r(line, " \t\n", &rest); word && !has;
		     word = strtok_r(NULL, " \t\n", &rest))
			has = !strcmp(word, feature);
	}
	if (f)
		fclose(f);
	return has;
}

/* A CPU that has instructions for it does not compute ICRCs by a table. */
TEST_F(module, icrc_by_what_the_cpu_has)
{
	const char *by = NULL;
	int log;

	/* User Mode Linux, which has this file, does not use registers of its host. */
	if (!access("/proc/exitcode", F_OK))
		by = "portable code";
	else if (cpu_has("crc32") && cpu_has("asimd"))
		by = "crc32_le";
	else if (cpu_has("pclmulqdq") && cpu_has("avx"))
		by = "vectors of";
	if (is_loaded())
		ASSERT_EQ(0, unload());
	log = kmsg_mark();
	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	EXPECT_TRUE(kmsg_has(log, "softrdma: ICRC by ", by));
}

/* After the link nothing holds the module, whoever holds a context. */
TEST_F(module, unloads_after_link_del_under_open_contexts)
{
	struct load load;
	long start, took;

	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	ASSERT_EQ(0, load_start(&load, LINK, LOAD_HOLD));
	ASSERT_EQ(0, nldev_link_del(LINK));
	start = topo_now_ms();
	EXPECT_EQ(0, unload());
	took = topo_now_ms() - start;
	EXPECT_GT(PROMPT_MS, took);
	TH_LOG("rmmod took %ld ms", took);
	EXPECT_FALSE(is_loaded());
	/* It touches the ring it had mapped, and exits. */
	EXPECT_EQ(0, load_finish(&load, CHILD_MS));
}

/* A socket that is told of events does not hold it, and is told no more. */
TEST_F(module, unloads_under_who_listens)
{
	struct listen listen, other;

	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	ASSERT_EQ(0, listen_begin(&listen, "only link,port"));
	ASSERT_EQ(0, listen_begin(&other, "%s", LINK));
	ASSERT_EQ(0, nldev_link_del(LINK));
	EXPECT_EQ(0, listen_until(&listen, "\"is\":\"gone\"", NULL));
	EXPECT_EQ(0, listen_wait(&other));
	EXPECT_EQ(0, unload());
	EXPECT_FALSE(is_loaded());
	/* Asked again, it learns that nobody is there. */
	EXPECT_EQ(1, listen_wait(&listen));
	listen_end(&listen);
	listen_end(&other);
}

TEST_F(module, process_ends_clean_after_unload)
{
	struct load load;

	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	ASSERT_EQ(0, load_start(&load, LINK, LOAD_AWAIT_FATAL));
	ASSERT_EQ(0, nldev_link_del(LINK));
	EXPECT_EQ(0, unload());
	EXPECT_EQ(0, load_finish(&load, CHILD_MS));
}

TEST_F(module, unload_takes_idle_links_along)
{
	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	ASSERT_EQ(0, unload());
	EXPECT_FALSE(topo_link_exists(LINK));
	EXPECT_FALSE(is_loaded());
	EXPECT_EQ(0, topo_link_add(LINK, NETDEV));
}

/* Refused, or done at once with all that it implies; never a hang. */
TEST_F(module, unload_under_a_link_in_use_is_answered)
{
	struct load load;
	long start;
	int status;

	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	ASSERT_EQ(0, load_start(&load, LINK, LOAD_HOLD));
	start = topo_now_ms();
	status = unload();
	EXPECT_GT(PROMPT_MS, topo_now_ms() - start);
	EXPECT_EQ(status != 0, is_loaded());
	EXPECT_EQ(status != 0, topo_link_exists(LINK));
	EXPECT_EQ(0, load_finish(&load, CHILD_MS));
	nldev_link_del(LINK);
	if (status)
		EXPECT_EQ(0, unload());
}

#define PEER		"10.77.0.9"
#define HELD_MS		1500

/* A message to nobody, of a QP that is gone when this returns. 0 or not. */
static int send_into_queue(void)
{
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	struct verbs_set set, to;
	struct ibv_qp_attr attr;
	enum ibv_qp_state state;
	struct ibv_qp *qp;
	int ret;

	ret = verbs_open_set(&set, LINK);
	qp = ret ? NULL : verbs_qp(&set, IBV_QPT_UC);
	to = set;
	inet_pton(AF_INET, PEER, to.gid.raw + 12);
	for (state = IBV_QPS_INIT; qp && !ret && state <= IBV_QPS_RTS; state++) {
		verbs_attr(&to, &attr, state, 0x77);
		ret = ibv_modify_qp(qp, &attr,
				    verbs_mask(IBV_QPT_UC, state - 1, state));
	}
	if (!qp || ret || ibv_post_send(qp, &wr, &bad))
		return -EIO;
	return ibv_destroy_qp(qp) ?: verbs_close_set(&set);
}

/* In a process of its own, and in a while. */
static pid_t release_queue(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	usleep(HELD_MS * 1000);
	_exit(topo_run("tc qdisc del dev " NETDEV " root"));
}

/* Each of them comes back to the code of the module when it is freed. */
TEST_F(module, unload_waits_for_packets_in_queues)
{
	int status = -1;
	long start;
	pid_t pid;

	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	ASSERT_EQ(0, topo_ip("neigh add " PEER " lladdr 02:00:00:00:77:09 dev "
			     NETDEV));
	/* One packet leaves; the next one would in a minute. */
	ASSERT_EQ(0, topo_run("tc qdisc add dev " NETDEV " root tbf rate 8bit "
			      "burst 100 limit 10000"));
	ASSERT_EQ(0, send_into_queue());
	ASSERT_EQ(0, send_into_queue());
	ASSERT_EQ(0, nldev_link_del(LINK));
	start = topo_now_ms();
	pid = release_queue();
	EXPECT_EQ(0, unload());
	EXPECT_LE(HELD_MS, topo_now_ms() - start);
	EXPECT_FALSE(is_loaded());
	/* Whoever comes back to what has gone does so before the next test. */
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
