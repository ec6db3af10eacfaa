// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rtnl.h"

/* One request; every name in it is short. */
struct request {
	struct nlmsghdr head;
	char body[512];
};

/* Behind what is there already. */
static void *put_raw(struct request *req, const void *data, size_t len)
{
	void *at = (char *)req + NLMSG_ALIGN(req->head.nlmsg_len);

	memcpy(at, data, len);
	req->head.nlmsg_len = NLMSG_ALIGN(req->head.nlmsg_len) + len;
	return at;
}

static void begin(struct request *req, int type, int flags, const void *what,
		  size_t len)
{
	memset(req, 0, sizeof(*req));
	req->head.nlmsg_len = NLMSG_LENGTH(0);
	req->head.nlmsg_type = type;
	req->head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	put_raw(req, what, len);
}

static struct nlattr *put(struct request *req, int type, const void *data,
			  size_t len)
{
	struct nlattr head = { .nla_len = NLA_HDRLEN + len, .nla_type = type };
	struct nlattr *attr = put_raw(req, &head, sizeof(head));

	put_raw(req, data, len);
	return attr;
}

static void put_text(struct request *req, int type, const char *text)
{
	put(req, type, text, strlen(text) + 1);
}

static struct nlattr *nest(struct request *req, int type)
{
	return put(req, type | NLA_F_NESTED, "", 0);
}

static void end_nest(struct request *req, struct nlattr *attr)
{
	attr->nla_len = (char *)req + req->head.nlmsg_len - (char *)attr;
}

/* Sends it, and hears what the kernel says of it. */
static int transact(struct request *req)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		char rest[4096];
	} answer;
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (send(fd, req, req->head.nlmsg_len, 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), 0) < 0)
		ret = -errno;
	else if (answer.head.nlmsg_type != NLMSG_ERROR)
		ret = -EPROTO;
	else
		ret = answer.err.error;
	close(fd);
	return ret;
}

static int begin_link(struct request *req, int type, const char *netdev)
{
	struct ifinfomsg link = { .ifi_index = if_nametoindex(netdev) };

	if (!link.ifi_index)
		return -ENODEV;
	begin(req, type, 0, &link, sizeof(link));
	return 0;
}

static void begin_new(struct request *req, const char *netdev)
{
	struct ifinfomsg link = {};

	begin(req, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &link, sizeof(link));
	put_text(req, IFLA_IFNAME, netdev);
}

int rtnl_add_dummy(const char *netdev)
{
	struct request req;
	struct nlattr *info;

	begin_new(&req, netdev);
	info = nest(&req, IFLA_LINKINFO);
	put_text(&req, IFLA_INFO_KIND, "dummy");
	end_nest(&req, info);
	return transact(&req);
}

int rtnl_add_veth(const char *netdev, const char *peer, int netns)
{
	struct nlattr *info, *data, *peer_info;
	struct ifinfomsg link = {};
	struct request req;

	begin_new(&req, netdev);
	info = nest(&req, IFLA_LINKINFO);
	put_text(&req, IFLA_INFO_KIND, "veth");
	data = nest(&req, IFLA_INFO_DATA);
	peer_info = nest(&req, VETH_INFO_PEER);
	put_raw(&req, &link, sizeof(link));
	put_text(&req, IFLA_IFNAME, peer);
	if (netns >= 0)
		put(&req, IFLA_NET_NS_FD, &netns, sizeof(netns));
	end_nest(&req, peer_info);
	end_nest(&req, data);
	end_nest(&req, info);
	return transact(&req);
}

int rtnl_del(const char *netdev)
{
	struct request req;

	return begin_link(&req, RTM_DELLINK, netdev) ?: transact(&req);
}

int rtnl_move(const char *netdev, int pid)
{
	struct request req;
	int ret = begin_link(&req, RTM_NEWLINK, netdev);

	if (ret)
		return ret;
	put(&req, IFLA_NET_NS_PID, &pid, sizeof(pid));
	return transact(&req);
}

int rtnl_set_mac(const char *netdev, const char *mac)
{
	struct ether_addr *address = ether_aton(mac);
	struct request req;
	int ret = begin_link(&req, RTM_NEWLINK, netdev);

	if (ret || !address)
		return ret ?: -EINVAL;
	put(&req, IFLA_ADDRESS, address, sizeof(*address));
	return transact(&req);
}

/* Its length, or 0. */
static int parse(const char *address, int *family, uint8_t bytes[16])
{
	*family = strchr(address, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(*family, address, bytes) != 1)
		return 0;
	return *family == AF_INET6 ? 16 : 4;
}

int rtnl_add_address(const char *netdev, const char *address, int prefix_len)
{
	struct ifaddrmsg msg = {
		.ifa_prefixlen = prefix_len,
		.ifa_flags = IFA_F_NODAD,
		.ifa_index = if_nametoindex(netdev),
	};
	uint8_t bytes[16];
	struct request req;
	int family, len;

	len = parse(address, &family, bytes);
	if (!len || !msg.ifa_index)
		return len ? -ENODEV : -EINVAL;
	msg.ifa_family = family;
	begin(&req, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &msg, sizeof(msg));
	put(&req, IFA_LOCAL, bytes, len);
	put(&req, IFA_ADDRESS, bytes, len);
	return transact(&req);
}

int rtnl_add_neighbour(const char *netdev, const char *address, const char *mac)
{
	struct ether_addr *lladdr = ether_aton(mac);
	struct ndmsg msg = {
		.ndm_ifindex = if_nametoindex(netdev),
		.ndm_state = NUD_PERMANENT,
	};
	uint8_t bytes[16];
	struct request req;
	int family, len;

	len = parse(address, &family, bytes);
	if (!len || !lladdr || !msg.ndm_ifindex)
		return len && lladdr ? -ENODEV : -EINVAL;
	msg.ndm_family = family;
	begin(&req, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_EXCL, &msg, sizeof(msg));
	put(&req, NDA_DST, bytes, len);
	put(&req, NDA_LLADDR, lladdr, sizeof(*lladdr));
	return transact(&req);
}
