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
#include "topo.h"

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

static int make_wire(pid_t holder)
{
	if (topo_ip("link add " ENDS_NETDEV_A " type veth peer name "
		    ENDS_NETDEV_B " netns %d\n"
		    "addr add " ENDS_A4 "/24 dev " ENDS_NETDEV_A "\n"
		    "addr add " ENDS_A6 "/64 nodad dev " ENDS_NETDEV_A "\n"
		    "link set " ENDS_NETDEV_A " up", holder))
		return -EIO;
	return topo_link_add(ENDS_LINK_A, ENDS_NETDEV_A);
}

static int make_other_end(void)
{
	int ret = topo_set_up("lo", true);

	if (ret)
		return ret;
	if (topo_ip("addr add " ENDS_B4 "/24 dev " ENDS_NETDEV_B "\n"
		    "addr add " ENDS_B6 "/64 nodad dev " ENDS_NETDEV_B "\n"
		    "link set " ENDS_NETDEV_B " up"))
		return -EIO;
	return topo_link_add(ENDS_LINK_B, ENDS_NETDEV_B);
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
	ret = make_wire(holder);
	close(hold);
	waitpid(holder, NULL, 0);
	if (!ret)
		ret = ends_enter(ENDS_B);
	if (ret)
		return ret;
	ret = make_other_end();
	return ends_enter(ENDS_A) ?: ret;
}

void ends_teardown(void)
{
	nldev_link_del(ENDS_LINK_A);
	nldev_link_del(ENDS_LINK_B);
}
