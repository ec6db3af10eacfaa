// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ends.h"
#include "nldev.h"
#include "rtnl.h"
#include "topo.h"

#define MAC_A	"02:00:00:00:78:01"
#define MAC_B	"02:00:00:00:78:02"

static int netns[2] = { -1, -1 };

int ends_enter(enum ends_side side)
{
	/* A program without the other end is in A for good. */
	if (side == ENDS_A && netns[ENDS_A] < 0)
		return 0;
	return setns(netns[side], CLONE_NEWNET) ? -errno : 0;
}

static int open_netns(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* A namespace begins with a process in it, which "ip" can name. */
static pid_t start_holder(int *hold)
{
	int ready[2], done[2];
	char byte = 0;
	pid_t pid;

	if (pipe(ready) || pipe(done))
		return -errno;
	pid = fork();
	if (!pid) {
		close(done[1]);
		if (!unshare(CLONE_NEWNET) && write(ready[1], &byte, 1) == 1)
			byte = read(done[0], &byte, 1);
		_exit(0);
	}
	close(ready[1]);
	close(done[0]);
	if (read(ready[0], &byte, 1) != 1)
		pid = -1;
	close(ready[0]);
	*hold = done[1];
	return pid;
}

static int make_wire(void)
{
	return rtnl_add_veth(ENDS_NETDEV_A, ENDS_NETDEV_B, netns[ENDS_B]) ?:
	       rtnl_set_mac(ENDS_NETDEV_A, MAC_A) ?:
	       rtnl_add_address(ENDS_NETDEV_A, ENDS_A4, 24) ?:
	       rtnl_add_address(ENDS_NETDEV_A, ENDS_A6, 64) ?:
	       topo_set_up(ENDS_NETDEV_A, true) ?:
	       topo_link_add(ENDS_LINK_A, ENDS_NETDEV_A);
}

static int make_other_end(void)
{
	return topo_set_up("lo", true) ?:
	       rtnl_set_mac(ENDS_NETDEV_B, MAC_B) ?:
	       rtnl_add_address(ENDS_NETDEV_B, ENDS_B4, 24) ?:
	       rtnl_add_address(ENDS_NETDEV_B, ENDS_B6, 64) ?:
	       topo_set_up(ENDS_NETDEV_B, true) ?:
	       topo_link_add(ENDS_LINK_B, ENDS_NETDEV_B);
}

int ends_setup(void)
{
	pid_t holder;
	int ret, hold = -1;

	nldev_link_del(ENDS_LINK_A);
	nldev_link_del(ENDS_LINK_B);
	holder = start_holder(&hold);
	if (holder < 0)
		return -EIO;
	netns[ENDS_A] = open_netns(getpid());
	netns[ENDS_B] = open_netns(holder);
	ret = make_wire();
	close(hold);
	waitpid(holder, NULL, 0);
	if (!ret)
		ret = ends_enter(ENDS_B);
	if (ret)
		return ret;
	ret = make_other_end();
	return ends_enter(ENDS_A) ?: ret;
}

/* In the namespace of one of them. */
static int introduce(const char *netdev, const char *ipv4, const char *ipv6,
		     const char *mac)
{
	return rtnl_add_neighbour(netdev, ipv4, mac) ?:
	       rtnl_add_neighbour(netdev, ipv6, mac);
}

int ends_introduce(void)
{
	int ret;

	ret = introduce(ENDS_NETDEV_A, ENDS_B4, ENDS_B6, MAC_B) ?:
	      ends_enter(ENDS_B) ?:
	      introduce(ENDS_NETDEV_B, ENDS_A4, ENDS_A6, MAC_A);
	return ends_enter(ENDS_A) ?: ret;
}

void ends_teardown(void)
{
	nldev_link_del(ENDS_LINK_A);
	nldev_link_del(ENDS_LINK_B);
}
