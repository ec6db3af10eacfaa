// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What happens to the netdev is followed by the device, with events. */
#include "fixture.h"

#include "nldev.h"

#define WAIT_MS 5000

TEST_F(dev, down_and_up_raise_port_events)
{
	struct ibv_context *ctx = self->set.ctx;

	ASSERT_EQ(0, verbs_wait_port(ctx, IBV_PORT_ACTIVE, WAIT_MS));
	ASSERT_EQ(0, topo_set_up(TOPO_NETDEV, false));
	EXPECT_EQ(0, verbs_wait_event(ctx, IBV_EVENT_PORT_ERR, WAIT_MS));
	EXPECT_EQ(IBV_PORT_DOWN, verbs_port_state(ctx));
	ASSERT_EQ(0, topo_set_up(TOPO_NETDEV, true));
	EXPECT_EQ(0, verbs_wait_event(ctx, IBV_EVENT_PORT_ACTIVE, WAIT_MS));
	EXPECT_EQ(IBV_PORT_ACTIVE, verbs_port_state(ctx));
}

TEST_F(dev, each_change_raises_one_event)
{
	struct ibv_context *ctx = self->set.ctx;
	int i;

	ASSERT_EQ(0, verbs_wait_port(ctx, IBV_PORT_ACTIVE, WAIT_MS));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, topo_set_up(TOPO_NETDEV, false));
		ASSERT_EQ(0, verbs_wait_event(ctx, IBV_EVENT_PORT_ERR,
					      WAIT_MS));
		ASSERT_EQ(0, topo_set_up(TOPO_NETDEV, true));
		ASSERT_EQ(0, verbs_wait_event(ctx, IBV_EVENT_PORT_ACTIVE,
					      WAIT_MS));
	}
	EXPECT_EQ(-ETIMEDOUT, verbs_wait_event(ctx, IBV_EVENT_PORT_ERR, 100));
}

/* Of a netdev that stays up whatever else becomes of it is no event. */
TEST_F(dev, other_changes_raise_nothing)
{
	struct ibv_context *ctx = self->set.ctx;

	ASSERT_EQ(0, verbs_wait_port(ctx, IBV_PORT_ACTIVE, WAIT_MS));
	ASSERT_EQ(0, topo_ip("link set " TOPO_NETDEV " arp off\n"
			     "link set " TOPO_NETDEV " arp on"));
	EXPECT_EQ(-ETIMEDOUT, verbs_wait_event(ctx, IBV_EVENT_PORT_ACTIVE,
					       100));
}

TEST_F(dev, address_changes_reach_the_gid_table)
{
	struct ibv_context *ctx = self->set.ctx;

	ASSERT_EQ(0, topo_ip("addr add 10.77.9.9/24 dev " TOPO_NETDEV));
	EXPECT_EQ(0, verbs_wait_gid(ctx, "10.77.9.9", true, WAIT_MS));
	EXPECT_EQ(0, verbs_wait_event(ctx, IBV_EVENT_GID_CHANGE, WAIT_MS));
	ASSERT_EQ(0, topo_ip("addr del 10.77.9.9/24 dev " TOPO_NETDEV));
	EXPECT_EQ(0, verbs_wait_gid(ctx, "10.77.9.9", false, WAIT_MS));
	EXPECT_EQ(0, verbs_wait_event(ctx, IBV_EVENT_GID_CHANGE, WAIT_MS));
	/* The other addresses kept their places. */
	EXPECT_EQ(self->set.gid_index,
		  verbs_gid_index(ctx, TOPO_IPV4, NULL));
}

TEST_F(dev, ipv6_address_changes_reach_the_gid_table)
{
	struct ibv_context *ctx = self->set.ctx;

	ASSERT_EQ(0, topo_ip("addr add fd77::9/64 nodad dev " TOPO_NETDEV));
	EXPECT_EQ(0, verbs_wait_gid(ctx, "fd77::9", true, WAIT_MS));
	ASSERT_EQ(0, topo_ip("addr del fd77::9/64 dev " TOPO_NETDEV));
	EXPECT_EQ(0, verbs_wait_gid(ctx, "fd77::9", false, WAIT_MS));
}

/* The core follows addresses of Ethernet only. */
TEST_F(dev, new_address_of_lo_reaches_the_gid_table)
{
	struct ibv_context *ctx;

	ASSERT_EQ(0, topo_link_add("srtlo", "lo"));
	ctx = verbs_open("srtlo");
	ASSERT_NE(NULL, ctx);
	ASSERT_EQ(0, topo_ip("addr add 10.77.9.8/32 dev lo"));
	EXPECT_EQ(0, verbs_wait_gid(ctx, "10.77.9.8", true, WAIT_MS));
	EXPECT_EQ(0, ibv_close_device(ctx));
	EXPECT_EQ(0, nldev_link_del("srtlo"));
	EXPECT_EQ(0, topo_ip("addr del 10.77.9.8/32 dev lo"));
}

TEST_F(dev, many_addresses)
{
	char lines[4096], *at = lines;
	char address[32];
	int i;

	for (i = 1; i <= 60; i++)
		at += sprintf(at, "addr add 10.77.20.%d/24 dev %s\n", i,
			      TOPO_NETDEV);
	at[-1] = '\0';
	ASSERT_EQ(0, topo_ip("%s", lines));
	for (i = 1; i <= 60; i++) {
		sprintf(address, "10.77.20.%d", i);
		EXPECT_EQ(0, verbs_wait_gid(self->set.ctx, address, true,
					    WAIT_MS));
	}
	/* The first one takes its secondaries with it. */
	ASSERT_EQ(0, topo_ip("addr del 10.77.20.1/24 dev " TOPO_NETDEV));
	EXPECT_EQ(0, verbs_wait_gid(self->set.ctx, "10.77.20.60", false,
				    WAIT_MS));
}

TEST_F(dev, mtu_of_the_netdev_bounds_the_path_mtu)
{
	/* What a packet needs beside its payload fits into 100 bytes. */
	static const struct {
		int netdev;
		enum ibv_mtu path;
	} table[] = {
		{ 9000, IBV_MTU_4096 }, { 4196, IBV_MTU_4096 },
		{ 4095, IBV_MTU_2048 }, { 2148, IBV_MTU_2048 },
		{ 2047, IBV_MTU_1024 }, { 1500, IBV_MTU_1024 },
		{ 1124, IBV_MTU_1024 }, { 1023, IBV_MTU_512 },
		{ 612, IBV_MTU_512 }, { 511, IBV_MTU_256 },
		{ 356, IBV_MTU_256 }, { 1500, IBV_MTU_1024 },
	};
	struct ibv_port_attr port;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		ASSERT_EQ(0, topo_set_mtu(TOPO_NETDEV, table[i].netdev));
		ASSERT_EQ(0, ibv_query_port(self->set.ctx, VERBS_PORT, &port));
		EXPECT_EQ(table[i].path, port.active_mtu) {
			TH_LOG("netdev MTU %d", table[i].netdev);
		}
	}
	/* IPv6 left at 1279 and less; bring its address back. */
	EXPECT_EQ(0, topo_ip("addr replace " TOPO_IPV6 "/64 nodad dev "
			     TOPO_NETDEV));
}

TEST_F(dev, rename_of_the_netdev_changes_nothing_else)
{
	struct ibv_context *ctx = self->set.ctx;

	/* A netdev that is up is renamed only from 6.2 on. */
	ASSERT_EQ(0, topo_set_up(TOPO_NETDEV, false));
	ASSERT_EQ(0, topo_set_name(TOPO_NETDEV, "srtnew"));
	ASSERT_EQ(0, topo_set_up("srtnew", true));
	EXPECT_TRUE(topo_link_exists(TOPO_LINK));
	EXPECT_EQ(0, verbs_wait_port(ctx, IBV_PORT_ACTIVE, WAIT_MS));
	EXPECT_LE(0, verbs_gid_index(ctx, TOPO_IPV4, NULL));
	EXPECT_EQ(0, topo_run("rdma link show %s/1 | grep -qw srtnew",
			      TOPO_LINK));
	ASSERT_EQ(0, topo_set_up("srtnew", false));
	ASSERT_EQ(0, topo_set_name("srtnew", TOPO_NETDEV));
	ASSERT_EQ(0, topo_set_up(TOPO_NETDEV, true));
	EXPECT_EQ(0, topo_ip("addr replace " TOPO_IPV6 "/64 nodad dev "
			     TOPO_NETDEV));
}

/* The carrier, not only the flag: a veth whose peer goes down. */
TEST_F(dev, carrier_of_a_veth_is_followed)
{
	struct ibv_context *ctx;

	ASSERT_EQ(0, topo_ip("link add srtv0 type veth peer name srtv1\n"
			     "link set srtv0 up\nlink set srtv1 up"));
	ASSERT_EQ(0, topo_link_add("srtv", "srtv0"));
	ctx = verbs_open("srtv");
	ASSERT_NE(NULL, ctx);
	EXPECT_EQ(0, verbs_wait_port(ctx, IBV_PORT_ACTIVE, WAIT_MS));
	ASSERT_EQ(0, topo_set_up("srtv1", false));
	EXPECT_EQ(0, verbs_wait_event(ctx, IBV_EVENT_PORT_ERR, WAIT_MS));
	ASSERT_EQ(0, topo_set_up("srtv1", true));
	EXPECT_EQ(0, verbs_wait_event(ctx, IBV_EVENT_PORT_ACTIVE, WAIT_MS));
	EXPECT_EQ(0, ibv_close_device(ctx));
	EXPECT_EQ(0, topo_ip("link del srtv0"));
	EXPECT_EQ(0, topo_wait_link("srtv", false, WAIT_MS));
}

/* To the namespace it left, a netdev that moves is one that is gone. */
TEST_F(dev, netdev_that_moves_away_takes_its_link)
{
	int status, ready[2], done[2];
	pid_t pid;
	char c;

	ASSERT_EQ(0, topo_ip("link add srtm0 type dummy"));
	ASSERT_EQ(0, topo_link_add("srtm", "srtm0"));
	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(done));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		status = topo_enter_netns();
		if (write(ready[1], "", 1) != 1 || read(done[0], &c, 1) != 1)
			status = 1;
		_exit(status != 0);
	}
	ASSERT_EQ(1, read(ready[0], &c, 1));
	ASSERT_EQ(0, topo_ip("link set srtm0 netns %d", pid));
	EXPECT_EQ(0, topo_wait_link("srtm", false, WAIT_MS));
	ASSERT_EQ(1, write(done[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
