// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "nldev.h"
#include "program.h"
#include "rtnl.h"
#include "topo.h"

/* Who hangs in the end has said how far it got. */
static void __attribute__((constructor)) say_at_once(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
}

const char *topo_type(void)
{
	const char *type = getenv("SRT_TYPE");

	return type ? type : "softrdma";
}

long topo_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

/* Lines to be read by a program: what it gets as its standard input, or -1. */
static int write_lines(const char *fmt, va_list args)
{
	int fd = memfd_create("lines", MFD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (vdprintf(fd, fmt, args) < 0 || write(fd, "\n", 1) != 1 ||
	    lseek(fd, 0, SEEK_SET)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int give_lines(const char *command, const char *fmt, va_list args)
{
	int fd = write_lines(fmt, args), ret;

	if (fd < 0)
		return -1;
	ret = program_wait(program_start(command, fd, -1));
	close(fd);
	return ret ? -1 : 0;
}

int topo_ip(const char *fmt, ...)
{
	va_list args;
	int ret;

	va_start(args, fmt);
	ret = give_lines("ip -batch -", fmt, args);
	va_end(args);
	return ret;
}

int topo_tc(const char *fmt, ...)
{
	va_list args;
	int ret;

	va_start(args, fmt);
	ret = give_lines("tc -batch -", fmt, args);
	va_end(args);
	return ret;
}

int topo_run(const char *fmt, ...)
{
	char command[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	return program_wait(program_start(command, -1, -1));
}

int topo_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

static int netdev_ioctl(const char *netdev, unsigned long request,
			struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret;

	if (fd < 0)
		return -errno;
	snprintf(ifr->ifr_name, IFNAMSIZ, "%s", netdev);
	ret = ioctl(fd, request, ifr) ? -errno : 0;
	close(fd);
	return ret;
}

int topo_set_up(const char *netdev, bool up)
{
	struct ifreq ifr = {};
	int ret = netdev_ioctl(netdev, SIOCGIFFLAGS, &ifr);

	if (ret)
		return ret;
	if (up)
		ifr.ifr_flags |= IFF_UP;
	else
		ifr.ifr_flags &= ~IFF_UP;
	return netdev_ioctl(netdev, SIOCSIFFLAGS, &ifr);
}

int topo_set_mtu(const char *netdev, int mtu)
{
	struct ifreq ifr = { .ifr_mtu = mtu };

	return netdev_ioctl(netdev, SIOCSIFMTU, &ifr);
}

int topo_set_name(const char *netdev, const char *name)
{
	struct ifreq ifr = {};

	snprintf(ifr.ifr_newname, IFNAMSIZ, "%s", name);
	return netdev_ioctl(netdev, SIOCSIFNAME, &ifr);
}

int topo_set_feature(const char *netdev, const char *name, bool on)
{
	static struct {
		struct ethtool_gstrings head;
		char name[256][ETH_GSTRING_LEN];
	} all = {
		.head = { .cmd = ETHTOOL_GSTRINGS,
			  .string_set = ETH_SS_FEATURES },
	};
	struct ifreq ifr = { .ifr_data = (void *)&all };
	struct {
		struct ethtool_sfeatures head;
		struct ethtool_set_features_block block[8];
	} set = { .head.cmd = ETHTOOL_SFEATURES };
	unsigned int i;
	int ret;

	ret = netdev_ioctl(netdev, SIOCETHTOOL, &ifr);
	if (ret)
		return ret;
	for (i = 0; i < all.head.len; i++)
		if (!strncmp(all.name[i], name, ETH_GSTRING_LEN))
			break;
	if (i == all.head.len)
		return -ENOENT;
	set.head.size = (all.head.len + 31) / 32;
	set.block[i / 32].valid = 1u << i % 32;
	set.block[i / 32].requested = on ? 1u << i % 32 : 0;
	ifr.ifr_data = (void *)&set;
	return netdev_ioctl(netdev, SIOCETHTOOL, &ifr);
}

int topo_enter_netns(void)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWNS))
		return -errno;
	/* sysfs shows the namespace it was mounted in, and libibverbs reads it. */
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("sysfs", "/sys", "sysfs", 0, NULL))
		return -errno;
	return topo_set_up("lo", true);
}

bool topo_link_exists(const char *name)
{
	return nldev_index(name) >= 0;
}

int topo_wait_link(const char *name, bool there, int timeout_ms)
{
	long end = topo_now_ms() + timeout_ms;

	while (topo_link_exists(name) != there) {
		if (topo_now_ms() > end)
			return -ETIMEDOUT;
		usleep(2000);
	}
	return 0;
}

/*
 * A link that goes with its interface is to be seen no more before the core has
 * done with it, and keeps its name until then.
 */
#define NAME_IS_FREE_MS	10000

int topo_link_add(const char *name, const char *netdev)
{
	long end = topo_now_ms() + NAME_IS_FREE_MS;
	char message[256];
	int ret;

	while ((ret = nldev_link_add(name, topo_type(), netdev, message,
				     sizeof(message))) == -ENFILE &&
	       topo_now_ms() < end)
		usleep(10000);
	if (ret)
		fprintf(stderr, "# link %s type %s on %s: %s %s\n", name,
			topo_type(), netdev, strerror(-ret), message);
	return ret;
}

int topo_setup(void)
{
	int ret;

	nldev_link_del(TOPO_LINK);
	ret = topo_enter_netns();
	if (ret)
		return ret;
	/* No DAD: an address that is not there yet makes no GID. */
	ret = rtnl_add_dummy(TOPO_NETDEV) ?:
	      rtnl_add_address(TOPO_NETDEV, TOPO_IPV4, 24) ?:
	      rtnl_add_address(TOPO_NETDEV, TOPO_IPV6, 64) ?:
	      topo_set_up(TOPO_NETDEV, true);
	return ret ?: topo_link_add(TOPO_LINK, TOPO_NETDEV);
}

void topo_teardown(void)
{
	nldev_link_del(TOPO_LINK);
}

int topo_load_consumer(void)
{
	const char *driver = getenv("SOFTRDMA_KO");
	char path[4096];

	if (!access(TOPO_CONSUMER, F_OK))
		return 0;
	if (!driver || !*driver)
		return topo_run("modprobe srt_consumer");
	snprintf(path, sizeof(path), "%s", driver);
	return topo_run("insmod %s/tools/testing/kernel/srt_consumer.ko",
			dirname(path));
}
