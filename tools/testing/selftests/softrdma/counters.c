// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "counters.h"
#include "nldev.h"
#include "topo.h"
#include "verbs.h"

/* How long anything may take on a busy emulated machine. */
#define REACH_MS	20000

static const char *link_used = TOPO_LINK;

struct u32_attr {
	struct nlattr head;
	uint32_t value;
};

struct request {
	struct nlmsghdr head;
	struct u32_attr device;
	struct u32_attr port;
};

static void put_u32(struct u32_attr *attr, int type, uint32_t value)
{
	attr->head.nla_len = sizeof(*attr);
	attr->head.nla_type = type;
	attr->value = value;
}

/* The next attribute of those that end at @end, or NULL behind the last. */
static const struct nlattr *attr_at(const char *p, const char *end)
{
	const struct nlattr *attr = (const void *)p;

	if (end - p < NLA_HDRLEN || attr->nla_len < NLA_HDRLEN ||
	    attr->nla_len > end - p)
		return NULL;
	return attr;
}

#define for_each_attr(attr, start, stop)				\
	for (attr = attr_at(start, stop); attr;				\
	     attr = attr_at((const char *)attr +			\
			    NLA_ALIGN(attr->nla_len), stop))

static const char *attr_data(const struct nlattr *attr)
{
	return (const char *)attr + NLA_HDRLEN;
}

static const char *attr_end(const struct nlattr *attr)
{
	return (const char *)attr + attr->nla_len;
}

static int attr_type(const struct nlattr *attr)
{
	return attr->nla_type & NLA_TYPE_MASK;
}

static void take_entry(struct counters *counters, const struct nlattr *entry)
{
	const struct nlattr *attr;
	int i = counters->count;

	if (i == COUNTERS_MAX)
		return;
	for_each_attr(attr, attr_data(entry), attr_end(entry)) {
		switch (attr_type(attr)) {
		case RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME:
			snprintf(counters->name[i], sizeof(counters->name[i]),
				 "%s", attr_data(attr));
			break;
		case RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE:
			memcpy(&counters->value[i], attr_data(attr),
			       sizeof(counters->value[i]));
			break;
		}
	}
	counters->count++;
}

static int take_reply(struct counters *counters, const char *reply, ssize_t len)
{
	const struct nlmsghdr *head = (const void *)reply;
	const struct nlattr *table, *entry;
	const char *start, *end;

	counters->count = 0;
	if (!NLMSG_OK(head, len))
		return -EPROTO;
	if (head->nlmsg_type == NLMSG_ERROR)
		return ((const struct nlmsgerr *)NLMSG_DATA(head))->error ?:
		       -EPROTO;
	start = NLMSG_DATA(head);
	end = reply + head->nlmsg_len;
	for_each_attr(table, start, end) {
		if (attr_type(table) != RDMA_NLDEV_ATTR_STAT_HWCOUNTERS)
			continue;
		for_each_attr(entry, attr_data(table), attr_end(table))
			take_entry(counters, entry);
	}
	return counters->count ? 0 : -ENOENT;
}

void counters_use(const char *link)
{
	link_used = link;
}

int counters_read(struct counters *counters)
{
	static char reply[32768];
	struct request req = {
		.head.nlmsg_len = sizeof(req),
		.head.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
						    RDMA_NLDEV_CMD_STAT_GET),
		.head.nlmsg_flags = NLM_F_REQUEST,
	};
	int index = nldev_index(link_used);
	ssize_t got;
	int fd, ret;

	if (index < 0)
		return index;
	put_u32(&req.device, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	put_u32(&req.port, RDMA_NLDEV_ATTR_PORT_INDEX, VERBS_PORT);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	if (fd < 0)
		return -errno;
	if (send(fd, &req, sizeof(req), 0) < 0)
		ret = -errno;
	else if ((got = recv(fd, reply, sizeof(reply), 0)) < 0)
		ret = -errno;
	else
		ret = take_reply(counters, reply, got);
	close(fd);
	return ret;
}

int64_t counters_get(const char *name)
{
	static struct counters now;
	int ret = counters_read(&now);
	int i;

	if (ret)
		return ret;
	for (i = 0; i < now.count; i++)
		if (!strcmp(now.name[i], name))
			return now.value[i];
	return -ENOENT;
}

/* As the caller's namespace shows it: sysfs shows the one in which it is mounted. */
static int open_folder_here(const char *link)
{
	char at[] = "/tmp/srt-sysfs-XXXXXX", path[128];
	int folder = -ENOENT;

	if (!mkdtemp(at))
		return -errno;
	if (!mount("sysfs", at, "sysfs", 0, NULL)) {
		snprintf(path, sizeof(path),
			 "%s/class/infiniband/%s/ports/1/counters", at, link);
		folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (folder < 0)
			folder = -errno;
		umount2(at, MNT_DETACH);
	}
	rmdir(at);
	return folder;
}

int counters_open_folder(const char *link)
{
	int folder = open_folder_here(link), here, first;

	if (folder != -ENOENT)
		return folder;
	/* Newer kernels have shared devices in the first namespace. */
	here = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	first = open("/proc/1/ns/net", O_RDONLY | O_CLOEXEC);
	if (here >= 0 && first >= 0 && !setns(first, CLONE_NEWNET)) {
		folder = open_folder_here(link);
		if (setns(here, CLONE_NEWNET))
			folder = -errno;
	}
	close(here);
	close(first);
	return folder;
}

int64_t counters_get_file(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	char text[64] = "", *end;
	long long value;
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return -EIO;
	value = strtoll(text, &end, 10);
	return *end == '\n' && end > text ? value : -EPROTO;
}

bool counters_reach(const char *name, int64_t value)
{
	long end = topo_now_ms() + REACH_MS;

	while (counters_get(name) < value && topo_now_ms() < end)
		;
	return counters_get(name) == value;
}
