// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rdma link add and del: on which netdevs, and what is refused how. */
#include "../kselftest_harness.h"

#include <arpa/inet.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "kmsg.h"
#include "nldev.h"
#include "topo.h"
#include "verbs.h"

#undef TEST_F
#define TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 120)

#define LINK	"srl0"
#define NETDEV	"srln0"
#define ADDRESS	"10.78.0.1"
#define PORT	4791
#define GONE_MS	5000

static int add(const char *name, const char *netdev)
{
	return nldev_link_add(name, topo_type(), netdev, NULL, 0);
}

/* A namespace of its own for every test; a link it leaves goes with it. */
FIXTURE(netns)
{
	int unused;
};

FIXTURE_SETUP(netns)
{
	nldev_link_del(LINK);
	nldev_link_del("srl1");
	ASSERT_EQ(0, topo_enter_netns());
}

FIXTURE_TEARDOWN(netns)
{
	nldev_link_del(LINK);
	nldev_link_del("srl1");
}

FIXTURE(kind)
{
	int unused;
};

FIXTURE_VARIANT(kind)
{
	const char *make;
	const char *netdev;
	bool is_removable;
};

#define KIND(name, lines)						\
FIXTURE_VARIANT_ADD(kind, name) {					\
	.make = lines, .netdev = NETDEV, .is_removable = true,		\
}

KIND(dummy, "link add " NETDEV " type dummy");
KIND(veth, "link add " NETDEV " type veth peer name srlp\n"
	   "link set srlp up");
KIND(vlan, "link add srlp type dummy\nlink set srlp up\n"
	   "link add link srlp name " NETDEV " type vlan id 7");
KIND(bond, "link add " NETDEV " type bond\nlink add srlp type dummy\n"
	   "link set srlp master " NETDEV);
KIND(macvlan, "link add srlp type dummy\nlink set srlp up\n"
	      "link add link srlp name " NETDEV " type macvlan mode bridge");
KIND(bridge, "link add " NETDEV " type bridge\nlink add srlp type dummy\n"
	     "link set srlp master " NETDEV "\nlink set srlp up");
KIND(tap, "tuntap add dev " NETDEV " mode tap");
KIND(tun, "tuntap add dev " NETDEV " mode tun");
FIXTURE_VARIANT_ADD(kind, lo) { .make = "link show lo", .netdev = "lo" };

FIXTURE_SETUP(kind)
{
	nldev_link_del(LINK);
	/* Its device node comes with the module, which udev would load. */
	topo_run("modprobe -q tun");
	ASSERT_EQ(0, topo_enter_netns());
	ASSERT_EQ(0, topo_ip("%s\naddr add " ADDRESS "/24 dev %s\n"
			     "link set %s up", variant->make, variant->netdev,
			     variant->netdev));
}

FIXTURE_TEARDOWN(kind)
{
	nldev_link_del(LINK);
}

TEST_F(kind, carries_a_link)
{
	struct ibv_port_attr port;
	struct ibv_context *ctx;

	ASSERT_EQ(0, topo_link_add(LINK, variant->netdev));
	EXPECT_TRUE(topo_link_exists(LINK));
	ctx = verbs_open(LINK);
	ASSERT_NE(NULL, ctx);
	EXPECT_EQ(0, ibv_query_port(ctx, VERBS_PORT, &port));
	EXPECT_EQ(IBV_LINK_LAYER_ETHERNET, port.link_layer);
	EXPECT_EQ(0, verbs_wait_gid(ctx, ADDRESS, true, 5000));
	EXPECT_EQ(0, ibv_close_device(ctx));
	EXPECT_EQ(0, nldev_link_del(LINK));
	EXPECT_FALSE(topo_link_exists(LINK));
}

TEST_F(kind, link_goes_with_its_netdev)
{
	if (!variant->is_removable)
		return;
	ASSERT_EQ(0, topo_link_add(LINK, variant->netdev));
	ASSERT_EQ(0, topo_ip("link del %s", variant->netdev));
	EXPECT_EQ(0, topo_wait_link(LINK, false, GONE_MS));
	/* And the name is free for the next one. */
	ASSERT_EQ(0, topo_ip("link add srlq type dummy"));
	EXPECT_EQ(0, topo_link_add(LINK, "srlq"));
}

TEST_F(netns, unknown_netdev_is_refused)
{
	EXPECT_EQ(-ENODEV, add(LINK, "srlnone"));
	EXPECT_FALSE(topo_link_exists(LINK));
}

TEST_F(netns, netdev_of_another_namespace_is_unknown)
{
	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy"));
	ASSERT_EQ(0, topo_enter_netns());
	EXPECT_EQ(-ENODEV, add(LINK, NETDEV));
}

TEST_F(netns, second_link_on_a_netdev_is_refused_by_name)
{
	int log;

	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy"));
	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	log = kmsg_mark();
	EXPECT_EQ(-EEXIST, add("srl1", NETDEV));
	EXPECT_TRUE(kmsg_has(log, NETDEV, LINK));
	EXPECT_FALSE(topo_link_exists("srl1"));
	EXPECT_TRUE(topo_link_exists(LINK));
}

TEST_F(netns, second_link_of_a_name_is_refused)
{
	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy\n"
			     "link add srlq type dummy"));
	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	/* The core's answer, the same for every driver. */
	EXPECT_EQ(-ENFILE, add(LINK, "srlq"));
	/* Nothing of the attempt clings to the netdev. */
	EXPECT_EQ(0, add("srl1", "srlq"));
}

TEST_F(netns, links_on_two_netdevs_live_side_by_side)
{
	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy\n"
			     "link add srlq type dummy"));
	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	ASSERT_EQ(0, topo_link_add("srl1", "srlq"));
	EXPECT_EQ(0, nldev_link_del(LINK));
	EXPECT_TRUE(topo_link_exists("srl1"));
	EXPECT_EQ(0, topo_link_add(LINK, NETDEV));
}

/* A socket bound to the RoCE port; -errno if that fails. */
static int bind_port(int family, bool only)
{
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(PORT),
	};
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
	};
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int one = only, ret;

	if (fd < 0)
		return -errno;
	if (family == AF_INET6) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
		ret = bind(fd, (void *)&in6, sizeof(in6));
	} else {
		ret = bind(fd, (void *)&in, sizeof(in));
	}
	if (!ret)
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

static void port_taken(struct __test_metadata *_metadata, int family)
{
	int fd, log;

	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy"));
	fd = bind_port(family, true);
	ASSERT_LE(0, fd);
	log = kmsg_mark();
	EXPECT_EQ(-EADDRINUSE, add(LINK, NETDEV));
	EXPECT_TRUE(kmsg_has(log, NETDEV, "4791"));
	EXPECT_FALSE(topo_link_exists(LINK));
	close(fd);
	EXPECT_EQ(0, topo_link_add(LINK, NETDEV));
}

TEST_F(netns, taken_ipv4_port_is_refused_by_name)
{
	port_taken(_metadata, AF_INET);
}

TEST_F(netns, taken_ipv6_port_is_refused_by_name)
{
	port_taken(_metadata, AF_INET6);
}

TEST_F(netns, port_is_held_while_links_exist)
{
	int fd;

	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy\n"
			     "link add srlq type dummy"));
	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	ASSERT_EQ(0, topo_link_add("srl1", "srlq"));
	EXPECT_EQ(-EADDRINUSE, bind_port(AF_INET, true));
	EXPECT_EQ(-EADDRINUSE, bind_port(AF_INET6, true));
	EXPECT_EQ(0, nldev_link_del(LINK));
	EXPECT_EQ(-EADDRINUSE, bind_port(AF_INET, true));
	EXPECT_EQ(0, nldev_link_del("srl1"));
	fd = bind_port(AF_INET, true);
	EXPECT_LE(0, fd);
	close(fd);
	fd = bind_port(AF_INET6, true);
	EXPECT_LE(0, fd);
	close(fd);
}

TEST_F(netns, other_namespaces_keep_their_port)
{
	int fd;

	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy"));
	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	ASSERT_EQ(0, topo_enter_netns());
	fd = bind_port(AF_INET, true);
	EXPECT_LE(0, fd);
	close(fd);
	ASSERT_EQ(0, topo_ip("link add srlq type dummy"));
	EXPECT_EQ(0, topo_link_add("srl1", "srlq"));
}

TEST_F(netns, tunnel_netdev_is_refused_by_name)
{
	int log;

	/* ARPHRD_SIT or ARPHRD_TUNNEL, whichever this kernel has. */
	ASSERT_EQ(0, topo_ip("link add " NETDEV " type sit local 10.0.0.1") &&
		     topo_ip("link add " NETDEV " type ipip local 10.0.0.1"));
	log = kmsg_mark();
	EXPECT_EQ(-EOPNOTSUPP, add(LINK, NETDEV));
	EXPECT_TRUE(kmsg_has(log, NETDEV, LINK));
	EXPECT_FALSE(topo_link_exists(LINK));
}

TEST_F(netns, unknown_type_is_refused)
{
	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy"));
	EXPECT_GT(0, nldev_link_add(LINK, "nosuchtype", NETDEV, NULL, 0));
}

TEST_F(netns, deleting_a_link_twice_is_refused)
{
	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy"));
	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	EXPECT_EQ(0, nldev_link_del(LINK));
	EXPECT_EQ(-ENODEV, nldev_link_del(LINK));
}

static int drop_net_admin(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		return -errno;
	data[0].effective &= ~(1u << CAP_NET_ADMIN);
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

TEST_F(netns, needs_cap_net_admin)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy"));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(drop_net_admin() || add(LINK, NETDEV) != -EPERM);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_FALSE(topo_link_exists(LINK));
}

TEST_F(netns, link_on_a_netdev_that_is_down)
{
	struct ibv_context *ctx;

	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy"));
	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	ctx = verbs_open(LINK);
	ASSERT_NE(NULL, ctx);
	EXPECT_EQ(IBV_PORT_DOWN, verbs_port_state(ctx));
	EXPECT_EQ(0, topo_set_up(NETDEV, true));
	EXPECT_EQ(0, verbs_wait_port(ctx, IBV_PORT_ACTIVE, 5000));
	EXPECT_EQ(0, ibv_close_device(ctx));
}

TEST_F(netns, ipv6_only_link)
{
	struct ibv_context *ctx;

	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy\n"
			     "addr add fd78::1/64 nodad dev " NETDEV "\n"
			     "link set " NETDEV " up"));
	ASSERT_EQ(0, topo_link_add(LINK, NETDEV));
	ctx = verbs_open(LINK);
	ASSERT_NE(NULL, ctx);
	EXPECT_EQ(0, verbs_wait_gid(ctx, "fd78::1", true, 5000));
	EXPECT_EQ(0, ibv_close_device(ctx));
}

TEST_HARNESS_MAIN
