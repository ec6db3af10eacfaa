// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Devices that go while processes use them: nobody waits for the processes, and
 * these hear of it, get errors, and exit clean.
 */
#include "fixture.h"

#include <signal.h>

#include "load.h"
#include "nldev.h"
#include "rtnl.h"

/* The promise is a second; an emulated machine under load is given three. */
#define PROMPT_MS	3000
#define CHILD_MS	60000
#define NETDEV		"srlc0"
#define LINK		"srlc"
#define ROUNDS		200

FIXTURE(link)
{
	int unused;
};

/* The address of TOPO_NETDEV, for verbs_open_set() finds the GID by it. */
FIXTURE_SETUP(link)
{
	nldev_link_del(LINK);
	ASSERT_EQ(0, topo_enter_netns());
	ASSERT_EQ(0, rtnl_add_dummy(NETDEV));
	ASSERT_EQ(0, rtnl_add_address(NETDEV, TOPO_IPV4, 24));
	ASSERT_EQ(0, topo_set_up(NETDEV, true));
	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
}

FIXTURE_TEARDOWN(link)
{
	nldev_link_del(LINK);
}

TEST_F(link, del_under_an_open_context)
{
	struct load load;
	long start, took;

	ASSERT_EQ(0, load_start(&load, LINK, LOAD_AWAIT_FATAL));
	start = topo_now_ms();
	EXPECT_EQ(0, nldev_link_del(LINK));
	took = topo_now_ms() - start;
	EXPECT_GT(PROMPT_MS, took);
	TH_LOG("rdma link del took %ld ms", took);
	EXPECT_FALSE(topo_link_exists(LINK));
	EXPECT_EQ(0, load_finish(&load, CHILD_MS));
}

TEST_F(link, del_under_a_process_that_only_exits)
{
	struct load load;

	ASSERT_EQ(0, load_start(&load, LINK, LOAD_AWAIT_FATAL_AND_EXIT));
	EXPECT_EQ(0, nldev_link_del(LINK));
	EXPECT_EQ(0, load_finish(&load, CHILD_MS));
}

TEST_F(link, netdev_deletion_under_an_open_context)
{
	struct load load;
	long start, took;

	ASSERT_EQ(0, load_start(&load, LINK, LOAD_AWAIT_FATAL));
	start = topo_now_ms();
	EXPECT_EQ(0, rtnl_del(NETDEV));
	took = topo_now_ms() - start;
	EXPECT_GT(PROMPT_MS, took);
	TH_LOG("the deletion took %ld ms", took);
	EXPECT_EQ(0, topo_wait_link(LINK, false, PROMPT_MS));
	EXPECT_EQ(0, load_finish(&load, CHILD_MS));
}

/* The process lives outside of the namespace that goes, as a container's
 * runtime does; it is the link's network that ends.
 */
TEST_F(dev, namespace_exit_under_an_open_context)
{
	struct load load;
	int made[2], end[2];
	long start, took;
	pid_t holder;
	int status;
	char c;

	nldev_link_del(LINK);
	ASSERT_EQ(0, pipe(made));
	ASSERT_EQ(0, pipe(end));
	holder = fork();
	ASSERT_LE(0, holder);
	if (!holder) {
		status = topo_enter_netns() ||
			 rtnl_add_dummy(NETDEV) ||
			 rtnl_add_address(NETDEV, TOPO_IPV4, 24) ||
			 topo_set_up(NETDEV, true) ||
			 topo_link_add(LINK, NETDEV);
		if (write(made[1], status ? "n" : "y", 1) != 1)
			_exit(2);
		_exit(read(end[0], &c, 1) != 1);
	}
	ASSERT_EQ(1, read(made[0], &c, 1));
	ASSERT_EQ('y', c);
	ASSERT_EQ(0, load_start(&load, LINK, LOAD_AWAIT_FATAL));
	ASSERT_EQ(1, write(end[1], "", 1));
	ASSERT_EQ(holder, waitpid(holder, &status, 0));
	start = topo_now_ms();
	EXPECT_EQ(0, topo_wait_link(LINK, false, PROMPT_MS));
	took = topo_now_ms() - start;
	TH_LOG("the device went %ld ms after its namespace", took);
	EXPECT_EQ(0, load_finish(&load, CHILD_MS));
}

TEST_F(link, name_and_netdev_are_free_at_once)
{
	struct load load;
	int i;

	/* The old device is still held open all the while. */
	ASSERT_EQ(0, load_start(&load, LINK, LOAD_HOLD));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, nldev_link_del(LINK));
		ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	}
	EXPECT_EQ(0, load_finish(&load, CHILD_MS));
}

TEST_F(link, killed_process_leaves_nothing)
{
	struct load load;
	int i;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, load_start(&load, LINK, LOAD_HOLD));
		ASSERT_EQ(0, kill(load.pid, SIGKILL));
		EXPECT_EQ(128 + SIGKILL, load_finish(&load, CHILD_MS));
	}
	EXPECT_EQ(1, topo_run("rdma res show qp link %s/1 | grep -q lqpn.*RC",
			      LINK));
}

/* Blocked in the kernel, waiting for what will never come. */
TEST_F(link, blocked_reader_of_completion_events_returns)
{
	int status, ready[2];
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct ibv_comp_channel *channel;
		struct verbs_set set;
		struct ibv_cq *cq;
		void *context;

		if (verbs_open_set(&set, LINK))
			_exit(1);
		channel = ibv_create_comp_channel(set.ctx);
		cq = ibv_create_cq(set.ctx, 8, NULL, channel, 0);
		if (!cq || ibv_req_notify_cq(cq, 0) ||
		    write(ready[1], "", 1) != 1)
			_exit(2);
		_exit(!ibv_get_cq_event(channel, &cq, &context));
	}
	ASSERT_EQ(1, read(ready[0], &c, 1));
	EXPECT_EQ(0, nldev_link_del(LINK));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* Each round leaves one more context open on a device that is gone. */
TEST_F_TIMEOUT(link, add_del_200_times_with_open_contexts, 600)
{
	static struct ibv_context *ctx[ROUNDS];
	long start, took, all = 0, worst = 0;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		struct ibv_pd *pd;

		ctx[i] = verbs_open(LINK);
		ASSERT_NE(NULL, ctx[i]) {
			TH_LOG("round %d: %s", i, strerror(errno));
		}
		pd = ibv_alloc_pd(ctx[i]);
		ASSERT_NE(NULL, pd);
		ASSERT_NE(NULL, ibv_create_cq(ctx[i], 16, NULL, NULL, 0));
		start = topo_now_ms();
		ASSERT_EQ(0, nldev_link_del(LINK));
		took = topo_now_ms() - start;
		all += took;
		worst = took > worst ? took : worst;
		ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	}
	/*
	 * Waiting for a context would hang, or take long each time; a machine
	 * that others use may stop for seconds in any one of so many rounds.
	 */
	TH_LOG("rdma link del: %ld ms on average, %ld at worst", all / ROUNDS,
	       worst);
	EXPECT_GT(PROMPT_MS / 2, all / ROUNDS);
	EXPECT_GT(CHILD_MS, worst);
	for (i = 0; i < ROUNDS; i++) {
		EXPECT_EQ(0, verbs_wait_event(ctx[i], IBV_EVENT_DEVICE_FATAL,
					      CHILD_MS));
		ibv_close_device(ctx[i]);
	}
}

TEST_HARNESS_MAIN
