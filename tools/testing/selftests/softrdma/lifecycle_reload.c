// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Unloading and loading the module, also under what still uses it. */
#include "../kselftest_harness.h"

#include "load.h"
#include "nldev.h"
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
	ASSERT_EQ(0, topo_ip("link add " NETDEV " mtu 1500 type dummy\n"
			     "addr add " TOPO_IPV4 "/24 dev " NETDEV "\n"
			     "link set " NETDEV " up"));
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

TEST_HARNESS_MAIN
