// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rdma netlink without exec: on an emulated machine starting the rdma tool
 * costs more than everything the kernel does for it.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nldev.h"

#define REPLY_BYTES 32768

/* One request with its attributes; every name in it is short. */
struct request {
	struct nlmsghdr head;
	char attrs[512];
};

static void request_init(struct request *req, int command, int flags)
{
	memset(req, 0, sizeof(*req));
	req->head.nlmsg_len = NLMSG_LENGTH(0);
	req->head.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	req->head.nlmsg_flags = NLM_F_REQUEST | flags;
	req->head.nlmsg_seq = 1;
}

static void request_put(struct request *req, int type, const void *data,
			size_t len)
{
	struct nlattr *attr;

	attr = (void *)((char *)req + NLMSG_ALIGN(req->head.nlmsg_len));
	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	memcpy((char *)attr + NLA_HDRLEN, data, len);
	req->head.nlmsg_len = NLMSG_ALIGN(req->head.nlmsg_len) +
			      NLA_ALIGN(attr->nla_len);
}

static const void *attr_find(const void *start, int len, int type)
{
	const struct nlattr *attr = start;

	while (len >= NLA_HDRLEN && attr->nla_len >= NLA_HDRLEN &&
	       attr->nla_len <= len) {
		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return (const char *)attr + NLA_HDRLEN;
		len -= NLA_ALIGN(attr->nla_len);
		attr = (const void *)((const char *)attr +
				      NLA_ALIGN(attr->nla_len));
	}
	return NULL;
}

static int nldev_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	int one = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	return fd;
}

static void ack_message(const struct nlmsghdr *head, char *msg, size_t size)
{
	const struct nlmsgerr *err = NLMSG_DATA(head);
	int skip = sizeof(*err);
	const char *text;

	if (!msg || !(head->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(head->nlmsg_flags & NLM_F_CAPPED))
		skip += err->msg.nlmsg_len - sizeof(err->msg);
	text = attr_find((const char *)err + NLMSG_ALIGN(skip),
			 head->nlmsg_len - NLMSG_HDRLEN - NLMSG_ALIGN(skip),
			 NLMSGERR_ATTR_MSG);
	if (text)
		strncat(msg, text, size - strlen(msg) - 1);
}

/* Send, and wait for the acknowledgement that every request asks for. */
static int transact(struct request *req, char *msg, size_t size)
{
	static char reply[REPLY_BYTES];
	const struct nlmsghdr *head = (const void *)reply;
	const struct nlmsgerr *err;
	int fd = nldev_open();
	ssize_t got;
	int ret;

	if (fd < 0)
		return fd;
	if (send(fd, req, req->head.nlmsg_len, 0) < 0) {
		ret = -errno;
		goto out;
	}
	got = recv(fd, reply, sizeof(reply), 0);
	if (got < 0) {
		ret = -errno;
		goto out;
	}
	err = NLMSG_DATA(head);
	ret = -EPROTO;
	if (NLMSG_OK(head, got) && head->nlmsg_type == NLMSG_ERROR) {
		ret = err->error;
		ack_message(head, msg, size);
	}
out:
	close(fd);
	return ret;
}

int nldev_link_add(const char *name, const char *type, const char *netdev,
		   char *msg, size_t size)
{
	struct request req;

	if (msg && size)
		msg[0] = '\0';
	request_init(&req, RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK);
	request_put(&req, RDMA_NLDEV_ATTR_DEV_NAME, name, strlen(name) + 1);
	request_put(&req, RDMA_NLDEV_ATTR_LINK_TYPE, type, strlen(type) + 1);
	request_put(&req, RDMA_NLDEV_ATTR_NDEV_NAME, netdev,
		    strlen(netdev) + 1);
	return transact(&req, msg, size);
}

int nldev_link_del(const char *name)
{
	struct request req;
	uint32_t index;
	int ret;

	ret = nldev_index(name);
	if (ret < 0)
		return ret;
	index = ret;
	request_init(&req, RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK);
	request_put(&req, RDMA_NLDEV_ATTR_DEV_INDEX, &index, sizeof(index));
	return transact(&req, NULL, 0);
}

/* The index in one datagram of a dump, -EAGAIN: not here, -ENODEV: the end. */
static int index_in(const char *reply, int len, const char *name)
{
	const struct nlmsghdr *head = (const void *)reply;

	for (; NLMSG_OK(head, len); head = NLMSG_NEXT(head, len)) {
		int attrs = head->nlmsg_len - NLMSG_HDRLEN;
		const uint32_t *index;
		const char *found;

		if (head->nlmsg_type == NLMSG_DONE ||
		    head->nlmsg_type == NLMSG_ERROR)
			return -ENODEV;
		found = attr_find(NLMSG_DATA(head), attrs,
				  RDMA_NLDEV_ATTR_DEV_NAME);
		index = attr_find(NLMSG_DATA(head), attrs,
				  RDMA_NLDEV_ATTR_DEV_INDEX);
		if (found && index && !strcmp(found, name))
			return *index;
	}
	return -EAGAIN;
}

int nldev_index(const char *name)
{
	static char reply[REPLY_BYTES];
	struct request req;
	int fd = nldev_open();
	int ret = -EAGAIN;

	if (fd < 0)
		return fd;
	request_init(&req, RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	if (send(fd, &req, req.head.nlmsg_len, 0) < 0)
		ret = -errno;
	while (ret == -EAGAIN) {
		ssize_t got = recv(fd, reply, sizeof(reply), 0);

		ret = got < 0 ? -errno : index_in(reply, got, name);
	}
	close(fd);
	return ret;
}
