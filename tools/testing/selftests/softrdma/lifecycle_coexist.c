// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Beside rdma_rxe, which shares our driver id, the UDP port, and the habit of
 * looking devices up by both. On 6.1 it binds the port of the initial network
 * namespace when it is loaded; later with its first link, in the link's.
 */
#include "../kselftest_harness.h"

#include "load.h"
#include "nldev.h"
#include "topo.h"
#include "verbs.h"

#undef TEST_F
#define TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 240)

#define OURS	"srx0"
#define THEIRS	"srx1"
#define NETDEV	"srxn0"
#define OTHER	"srxn1"
#define WAIT_MS	5000

static int load_rxe(void)
{
	return topo_run("modprobe rdma_rxe");
}

static int unload_rxe(void)
{
	return topo_run("rmmod rdma_rxe");
}

static bool rxe_is_loaded(void)
{
	return !access("/sys/module/rdma_rxe", F_OK);
}

static int make_netdev(const char *name)
{
	return topo_ip("link add %s mtu 1500 type dummy\n"
		       "addr add " TOPO_IPV4 "/24 dev %s\n"
		       "link set %s up", name, name, name);
}

static int add_ours(void)
{
	return nldev_link_add(OURS, "softrdma", NETDEV, NULL, 0);
}

static int add_theirs(const char *netdev)
{
	return nldev_link_add(THEIRS, "rxe", netdev, NULL, 0);
}

/* Opened, and a QP in RTS: the device answers and is the one we think. */
static int use(const char *name)
{
	struct verbs_set set;
	struct ibv_qp *qp;
	int ret;

	ret = verbs_open_set(&set, name);
	if (ret)
		return ret;
	qp = verbs_qp(&set, IBV_QPT_RC);
	ret = qp ? verbs_qp_to(&set, qp, IBV_QPS_RTS, qp->qp_num) : ENOMEM;
	if (qp)
		ibv_destroy_qp(qp);
	return verbs_close_set(&set) ?: ret;
}

FIXTURE(rxe)
{
	int unused;
};

FIXTURE_SETUP(rxe)
{
	if (rxe_is_loaded())
		unload_rxe();
	ASSERT_FALSE(rxe_is_loaded());
	ASSERT_EQ(0, topo_enter_netns());
	ASSERT_EQ(0, make_netdev(NETDEV));
}

FIXTURE_TEARDOWN(rxe)
{
	nldev_link_del(OURS);
	nldev_link_del(THEIRS);
	if (rxe_is_loaded())
		EXPECT_EQ(0, unload_rxe());
}

TEST_F(rxe, loaded_first)
{
	ASSERT_EQ(0, load_rxe());
	ASSERT_EQ(0, add_ours());
	EXPECT_EQ(0, use(OURS));
	EXPECT_EQ(0, nldev_link_del(OURS));
}

TEST_F(rxe, loaded_second)
{
	ASSERT_EQ(0, add_ours());
	ASSERT_EQ(0, load_rxe());
	EXPECT_EQ(0, use(OURS));
	EXPECT_EQ(0, nldev_link_del(OURS));
}

/* It unregisters every device of its driver id, so ours too. */
TEST_F(rxe, unloaded_while_our_link_exists)
{
	ASSERT_EQ(0, load_rxe());
	ASSERT_EQ(0, add_ours());
	EXPECT_EQ(0, use(OURS));
	ASSERT_EQ(0, unload_rxe());
	/* Gone or not, there is nothing half-way about it. */
	if (!topo_link_exists(OURS))
		EXPECT_EQ(0, add_ours());
	EXPECT_EQ(0, use(OURS));
	EXPECT_EQ(0, nldev_link_del(OURS));
}

TEST_F(rxe, unloaded_while_our_link_is_in_use)
{
	struct load load;

	ASSERT_EQ(0, load_rxe());
	ASSERT_EQ(0, add_ours());
	ASSERT_EQ(0, load_start(&load, OURS, LOAD_HOLD));
	ASSERT_EQ(0, unload_rxe());
	EXPECT_EQ(0, load_finish(&load, 60000));
	if (!topo_link_exists(OURS))
		EXPECT_EQ(0, add_ours());
	EXPECT_EQ(0, use(OURS));
}

TEST_F(rxe, our_module_unloaded_while_their_link_exists)
{
	ASSERT_EQ(0, make_netdev(OTHER));
	ASSERT_EQ(0, load_rxe());
	ASSERT_EQ(0, add_ours());
	nldev_link_del(OURS);
	/* In one namespace with ours it may lack the port; not after ours. */
	ASSERT_EQ(0, add_theirs(OTHER));
	ASSERT_EQ(0, topo_run("rmmod softrdma"));
	EXPECT_TRUE(topo_link_exists(THEIRS));
	EXPECT_EQ(0, nldev_link_del(THEIRS));
}

/* Their look-up by netdev and driver id must not find our device. */
TEST_F(rxe, their_link_on_our_netdev_is_theirs)
{
	ASSERT_EQ(0, load_rxe());
	ASSERT_EQ(0, add_ours());
	if (!add_theirs(NETDEV)) {
		EXPECT_TRUE(topo_link_exists(THEIRS));
		EXPECT_EQ(0, nldev_link_del(THEIRS));
	}
	EXPECT_TRUE(topo_link_exists(OURS));
	EXPECT_EQ(0, use(OURS));
}

/* Their notifier and ours see the same netdev events. */
TEST_F(rxe, netdev_events_reach_both)
{
	struct ibv_context *ctx;

	ASSERT_EQ(0, make_netdev(OTHER));
	ASSERT_EQ(0, load_rxe());
	ASSERT_EQ(0, add_ours());
	add_theirs(OTHER);
	ctx = verbs_open(OURS);
	ASSERT_NE(NULL, ctx);
	ASSERT_EQ(0, verbs_wait_port(ctx, IBV_PORT_ACTIVE, WAIT_MS));
	ASSERT_EQ(0, topo_set_mtu(NETDEV, 9000));
	ASSERT_EQ(0, topo_set_up(NETDEV, false));
	EXPECT_EQ(0, verbs_wait_event(ctx, IBV_EVENT_PORT_ERR, WAIT_MS));
	EXPECT_EQ(0, ibv_close_device(ctx));
	EXPECT_EQ(0, topo_ip("link del " NETDEV));
	EXPECT_EQ(0, topo_wait_link(OURS, false, WAIT_MS));
}

/* In one namespace only one of the two can have the port; it says so. */
TEST_F(rxe, port_conflict_is_an_error_and_no_more)
{
	int theirs, ours;

	ASSERT_EQ(0, make_netdev(OTHER));
	ASSERT_EQ(0, load_rxe());
	theirs = add_theirs(OTHER);
	ours = add_ours();
	EXPECT_TRUE(ours == 0 || ours == -EADDRINUSE);
	if (!theirs)
		EXPECT_EQ(0, nldev_link_del(THEIRS));
	if (ours)
		EXPECT_EQ(0, add_ours());
	EXPECT_EQ(0, use(OURS));
}

TEST_HARNESS_MAIN
