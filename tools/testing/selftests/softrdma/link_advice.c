// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Links that cannot be made, or that disappoint: the error, and the line in the
 * kernel's log with link, interface and remedy (troubleshooting.rst has them all;
 * failslab provokes the one about memory; the one about other errors is for such as are
 * not known).
 */
#include "../kselftest_harness.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "kmsg.h"
#include "nldev.h"
#include "topo.h"

#undef TEST_F
#define TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 120)

#define LINK	"srl0"
#define OTHER	"srl1"
#define NETDEV	"srln0"
#define LOWER	"srlp"
#define SAYS	"softrdma: " LINK ": "
#define PORT	4791
/* Lines are limited, and there are others'. */
#define SAID_MS	15000
/* In a row, 10 ms apart. */
#define BLOCKED_LOOKS	20

/* linux/if_arp.h does not go with net/if_arp.h, which lacks these. */
#define KIND_IP6GRE	823
#define KIND_NETLINK	824
#define KIND_RAWIP	519
#define KIND_VSOCKMON	826

FIXTURE(advice)
{
	int unused;
};

FIXTURE_SETUP(advice)
{
	nldev_link_del(LINK);
	nldev_link_del(OTHER);
	ASSERT_EQ(0, topo_enter_netns());
}

FIXTURE_TEARDOWN(advice)
{
	nldev_link_del(LINK);
	nldev_link_del(OTHER);
}

static int add(const char *name, const char *netdev)
{
	return nldev_link_add(name, topo_type(), netdev, NULL, 0);
}

/* Does adding a link return this, and the log say that? NULL: nothing. */
static bool is_said(const char *name, const char *netdev, int error,
		    const char *line)
{
	long end = topo_now_ms() + SAID_MS;
	bool found;
	int log, ret;

	do {
		log = kmsg_mark();
		ret = error ? add(name, netdev) : topo_link_add(name, netdev);
		found = kmsg_has(log, line ?: "softrdma: ", NULL);
		close(log);
		if (!ret)
			nldev_link_del(name);
		if (ret != error || !line || found)
			break;
		usleep(100000);
	} while (topo_now_ms() < end);
	if (ret == error && found == !!line)
		return true;
	printf("# %s on %s: %d, and the log has %s: %s\n", name, netdev, ret,
	       found ? "a line" : "no line", line ?: "any");
	return false;
}

/* By whom is not asked. */
static bool comes_to_be_said(int log, const char *line)
{
	long end = topo_now_ms() + SAID_MS;

	while (!kmsg_has(log, line, NULL)) {
		if (topo_now_ms() > end)
			return false;
		usleep(10000);
	}
	return true;
}

/* A netdev of an ARPHRD type: it is there as long as the descriptor is. */
static int add_kind(int type)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int fd;

	if (access("/dev/net/tun", F_OK))
		topo_run("modprobe tun");
	fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	strcpy(ifr.ifr_name, NETDEV);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr) || ioctl(fd, TUNSETLINK, type))
		return -1;
	return fd;
}

#define TUNNEL	"take an interface with Ethernet frames: gretap, vxlan or geneve"
#define NO_IP	"take an interface with Ethernet frames that has an IP address"

static const struct kind {
	int type;
	const char *what, *instead;
} kinds[] = {
	{ ARPHRD_INFINIBAND, "IP over InfiniBand",
	  "use the RDMA device that its adapter has" },
	{ ARPHRD_IPGRE, "a GRE tunnel", TUNNEL },
	{ KIND_IP6GRE, "a GRE tunnel over IPv6", TUNNEL },
	{ ARPHRD_TUNNEL, "an IP tunnel", TUNNEL },
	{ ARPHRD_TUNNEL6, "an IP tunnel over IPv6", TUNNEL },
	{ ARPHRD_SIT, "an IPv6 tunnel over IPv4", TUNNEL },
	{ ARPHRD_PPP, "a PPP connection", TUNNEL },
	{ KIND_RAWIP, "a modem that has no Ethernet frames", TUNNEL },
	{ ARPHRD_IEEE80211_RADIOTAP, "Wi-Fi in monitor mode",
	  "set its type to managed with iw" },
	{ ARPHRD_IEEE802154, "a network of IEEE 802.15.4", NO_IP },
	{ 280, "a CAN bus", NO_IP },
	{ KIND_NETLINK, "a monitor of netlink", NO_IP },
	{ KIND_VSOCKMON, "a monitor of vsock", NO_IP },
	{ ARPHRD_SLIP, "not Ethernet", NO_IP },
};

TEST_F(advice, kinds_that_cannot_carry_one)
{
	const struct kind *kind;
	char line[200];
	int fd;

	for (kind = kinds; kind < kinds + ARRAY_SIZE(kinds); kind++) {
		snprintf(line, sizeof(line), SAYS NETDEV " is %s (type %d): %s",
			 kind->what, kind->type, kind->instead);
		fd = add_kind(kind->type);
		ASSERT_LE(0, fd) {
			TH_LOG("no netdev of type %d", kind->type);
		}
		EXPECT_TRUE(is_said(LINK, NETDEV, -EOPNOTSUPP, line));
		close(fd);
	}
}

TEST_F(advice, second_link_on_the_netdev)
{
	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy"));
	ASSERT_EQ(0, topo_link_add(OTHER, NETDEV));
	EXPECT_TRUE(is_said(LINK, NETDEV, -EEXIST,
			    SAYS NETDEV " has the link " OTHER " already: "
			    "use that, or rdma link delete " OTHER));
}

TEST_F(advice, name_that_is_taken)
{
	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy\n"
			     "link add " LOWER " type dummy"));
	ASSERT_EQ(0, topo_link_add(LINK, LOWER));
	EXPECT_TRUE(is_said(LINK, NETDEV, -ENFILE,
			    SAYS "an RDMA device of this name exists, maybe in "
			    "another namespace: take another name for "
			    NETDEV));
}

TEST_F(advice, name_that_is_none)
{
	static const char * const names[] = {
		"/", "a/b", ".", "..", "a b", "a\tb", "\033[2J", "a\177",
	};
	int i;

	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy"));
	for (i = 0; i < ARRAY_SIZE(names); i++)
		EXPECT_TRUE(is_said(names[i], NETDEV, -EINVAL,
				    ": no name for a link on " NETDEV
				    ": use letters, digits, - and _"));
	/* What is unusual is no mistake. */
	EXPECT_EQ(0, topo_link_add("a.b:c-d_e", NETDEV));
	EXPECT_EQ(0, nldev_link_del("a.b:c-d_e"));
}

TEST_F(advice, mtu_below_the_least)
{
	ASSERT_EQ(0, topo_ip("link add " NETDEV " mtu 351 type dummy"));
	EXPECT_TRUE(is_said(LINK, NETDEV, -ERANGE,
			    SAYS NETDEV " has an MTU of 351, 352 is the least: "
			    "ip link set " NETDEV " mtu 1500"));
	EXPECT_EQ(0, topo_set_mtu(NETDEV, 352));
	EXPECT_EQ(0, topo_link_add(LINK, NETDEV));
}

static int take_port(int family)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
				    .sin6_port = htons(PORT) };
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons(PORT) };
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1;

	if (family == AF_INET)
		return bind(fd, (void *)&in, sizeof(in)) ? -1 : fd;
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	return bind(fd, (void *)&in6, sizeof(in6)) ? -1 : fd;
}

TEST_F(advice, port_that_is_taken)
{
	static const int families[] = { AF_INET, AF_INET6 };
	int i, fd;

	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy"));
	for (i = 0; i < ARRAY_SIZE(families); i++) {
		fd = take_port(families[i]);
		ASSERT_LE(0, fd);
		EXPECT_TRUE(is_said(LINK, NETDEV, -EADDRINUSE,
				    SAYS NETDEV " needs UDP port 4791 of its "
				    "namespace, which is taken: look with ss "
				    "-uanp, or rmmod rdma_rxe"));
		close(fd);
	}
}

static bool tell_consumer(const char *words)
{
	int fd = open(TOPO_CONSUMER, O_RDWR);
	bool told = write(fd, words, strlen(words)) == (ssize_t)strlen(words);

	close(fd);
	return told;
}

/* A process that has NETDEV, says so, and lets it go when it is told to. */
static pid_t keep_netdev(int ready, int told)
{
	pid_t child = fork();
	char byte;
	int fd;

	if (child)
		return child;
	fd = add_kind(ARPHRD_ETHER);
	if (fd < 0 || write(ready, "", 1) != 1 || read(told, &byte, 1) != 1)
		_exit(1);
	_exit(close(fd));
}

/* The state of a process, as ps shows it; or 0. */
static char state_of(pid_t pid)
{
	char path[40], line[200];
	const char *state;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY);
	got = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[got < 0 ? 0 : got] = '\0';
	state = strrchr(line, ')');
	return state ? state[2] : '\0';
}

/* A process waits for a lock in the kernel: not only when one happens to look. */
static bool is_blocked(pid_t pid)
{
	long end = topo_now_ms() + SAID_MS;
	int times = 0;

	do {
		times = state_of(pid) == 'D' ? times + 1 : 0;
		if (times == BLOCKED_LOOKS)
			return true;
		usleep(10000);
	} while (topo_now_ms() < end);
	return false;
}

static bool ended_well(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && !status;
}

/* A process that makes the link, which is to find that NETDEV is going. */
static pid_t make_late(void)
{
	pid_t child = fork();

	if (!child)
		_exit(add(LINK, NETDEV) != -ENODEV);
	return child;
}

/* It is found while it is there, but its end is first in the queue for the RTNL. */
TEST_F(advice, netdev_that_is_going)
{
	int ready[2], told[2], log;
	pid_t netdev, link;
	char byte;

	ASSERT_EQ(0, topo_load_consumer());
	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(told));
	netdev = keep_netdev(ready[1], told[0]);
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	ASSERT_TRUE(tell_consumer("keep_rtnl 30000 -"));
	ASSERT_EQ(1, write(told[1], "", 1));
	ASSERT_TRUE(is_blocked(netdev));
	log = kmsg_mark();
	link = make_late();
	EXPECT_TRUE(is_blocked(link));
	EXPECT_TRUE(tell_consumer("keep_rtnl 0 -"));
	EXPECT_TRUE(ended_well(link));
	EXPECT_TRUE(kmsg_has(log, SAYS NETDEV " is going, or was moved to another "
			     "namespace: make the link there", NULL));
	close(log);
	EXPECT_TRUE(ended_well(netdev));
	EXPECT_EQ(0, topo_run("rmmod srt_consumer"));
}

/* A process that makes the link OTHER on NETDEV. */
static pid_t make_other(void)
{
	pid_t child = fork();

	if (!child)
		_exit(!!add(OTHER, NETDEV));
	return child;
}

/* A device is there before the consumer has let it in. */
static bool other_is_coming(void)
{
	long end = topo_now_ms() + SAID_MS;

	while (nldev_index(OTHER) < 0) {
		if (topo_now_ms() > end)
			return false;
		usleep(10000);
	}
	return true;
}

#define COMING	SAYS NETDEV " is just getting or losing a link: try again"

/*
 * A process that makes the second link, in vain. The core lets go of its device only
 * when the first link is there.
 */
static pid_t make_second(void)
{
	pid_t child = fork();

	if (!child)
		_exit(!is_said(LINK, NETDEV, -EEXIST, COMING));
	return child;
}

/* The consumer keeps the first link at work; who comes second is told so. */
TEST_F(advice, netdev_that_is_getting_a_link)
{
	pid_t other, second;
	int log;

	ASSERT_EQ(0, topo_load_consumer());
	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy"));
	ASSERT_TRUE(tell_consumer("keep_coming 30000 -"));
	other = make_other();
	EXPECT_TRUE(other_is_coming());
	log = kmsg_mark();
	second = make_second();
	EXPECT_TRUE(comes_to_be_said(log, COMING));
	close(log);
	EXPECT_TRUE(tell_consumer("keep_coming 0 -"));
	EXPECT_TRUE(ended_well(second));
	EXPECT_TRUE(ended_well(other));
	EXPECT_TRUE(is_said(LINK, NETDEV, -EEXIST, SAYS NETDEV " has the link " OTHER
			    " already: use that, or rdma link delete " OTHER));
	EXPECT_EQ(0, nldev_link_del(OTHER));
	EXPECT_EQ(0, topo_run("rmmod srt_consumer"));
}

TEST_F(advice, link_on_a_netdev_without_use)
{
	ASSERT_EQ(0, topo_ip("link add " NETDEV " type veth peer name " LOWER));
	EXPECT_TRUE(is_said(LINK, NETDEV, 0, SAYS NETDEV " is down: "
			    "ip link set " NETDEV " up"));
	EXPECT_EQ(0, topo_set_up(NETDEV, true));
	EXPECT_TRUE(is_said(LINK, NETDEV, 0, SAYS NETDEV " has no carrier: "
			    "look after its cable, or its other end"));
	EXPECT_EQ(0, topo_set_up(LOWER, true));
	EXPECT_TRUE(is_said(LINK, NETDEV, 0, NULL));
}

/* It follows from the MAC; default_gid.c has what comes of it. */
#define MAC	"02:00:00:00:77:07"
#define GID_0	"fe80::ff:fe00:7707"

TEST_F(advice, link_whose_first_gid_is_no_address)
{
	ASSERT_EQ(0, topo_ip("link add " NETDEV " address " MAC
			     " type veth peer name " LOWER "\n"
			     "link set " NETDEV " addrgenmode none\n"
			     "link set " LOWER " up\nlink set " NETDEV " up"));
	EXPECT_TRUE(is_said(LINK, NETDEV, 0,
			    SAYS "nobody reaches GID 0, as " NETDEV
			    " lacks its address: take another GID index, or "
			    "ip addr add " GID_0 "/64 dev " NETDEV));
	/* As soon as it is there, be it looked for at others. */
	ASSERT_EQ(0, topo_ip("addr add " GID_0 "/64 dev " NETDEV));
	EXPECT_TRUE(is_said(LINK, NETDEV, 0, NULL));
	ASSERT_EQ(0, topo_put("/proc/sys/net/ipv6/conf/" NETDEV "/disable_ipv6", "1"));
	EXPECT_TRUE(is_said(LINK, NETDEV, 0,
			    SAYS "nobody reaches GID 0, as IPv6 is "
			    "disabled on " NETDEV ": take another GID index"));
}

/* It comes by itself, if not at once. */
TEST_F(advice, link_whose_first_gid_will_be_an_address)
{
	ASSERT_EQ(0, topo_ip("link add " NETDEV " address " MAC " type dummy\n"
			     "link set " NETDEV " up\n"
			     "addr del " GID_0 "/64 dev " NETDEV));
	EXPECT_TRUE(is_said(LINK, NETDEV, 0, NULL));
}

TEST_F(advice, links_with_the_same_addresses)
{
	ASSERT_EQ(0, topo_ip("link add " LOWER " type dummy\n"
			     "link set " LOWER " up\n"
			     "link add link " LOWER " name " NETDEV
			     " type vlan id 7\nlink set " NETDEV " up"));
	EXPECT_TRUE(is_said(LINK, NETDEV, 0, NULL));
	ASSERT_EQ(0, topo_link_add(OTHER, LOWER));
	EXPECT_TRUE(is_said(LINK, NETDEV, 0,
			    SAYS NETDEV " has addresses in common with " LOWER
			    ", by way of a VLAN: delete one of the links "
			    OTHER " and " LINK));
}

/* Nothing of this reaches the driver, which could say something of it. */
TEST_F(advice, what_the_core_refuses)
{
	char message[256], name[80] = "";

	EXPECT_TRUE(is_said(LINK, "srlnone", -ENODEV, NULL));
	EXPECT_TRUE(is_said("", "lo", -EINVAL, NULL));
	EXPECT_TRUE(is_said("srl%d", "lo", -EINVAL, NULL));
	memset(name, 'a', sizeof(name) - 1);
	EXPECT_TRUE(is_said(name, "lo", -EINVAL, NULL));
	EXPECT_EQ(-EINVAL, nldev_link_add(LINK, "nosuchtype", "lo", NULL, 0));
	/* Its policy says which attribute it is, and why. */
	EXPECT_EQ(-EINVAL, nldev_link_add(LINK, topo_type(),
					  "srln01234567890123456789", message,
					  sizeof(message)));
	EXPECT_NE('\0', message[0]);
}

/* What a child without a right gets, and that the log has nothing of it. */
static bool child_is_refused(int (*give_up)(void))
{
	int status;
	pid_t pid;

	pid = fork();
	if (!pid)
		_exit(give_up() || !is_said(LINK, "lo", -EPERM, NULL));
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static int become_nobody(void)
{
	return setresuid(65534, 65534, 65534);
}

static int enter_user_namespace(void)
{
	return unshare(CLONE_NEWUSER | CLONE_NEWNET);
}

TEST_F(advice, who_may_not)
{
	EXPECT_TRUE(child_is_refused(become_nobody));
	EXPECT_TRUE(child_is_refused(enter_user_namespace));
}

TEST_F(advice, lines_are_limited)
{
	int log = kmsg_mark(), lines = 0, i;
	long start;

	ASSERT_EQ(0, topo_ip("link add " NETDEV " type dummy"));
	start = topo_now_ms();
	for (i = 0; i < 400; i++)
		EXPECT_EQ(-EINVAL, add(".", NETDEV));
	while (kmsg_has(log, "no name for a link", NULL))
		lines++;
	/* 40 in five seconds; here begins one, and there another. */
	EXPECT_GE(40 * (2 + (topo_now_ms() - start) / 5000), lines);
	EXPECT_LE(lines, 399);
	close(log);
}

TEST_HARNESS_MAIN
