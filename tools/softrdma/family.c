// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Requests to the driver, and its answers. */
#include "family.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <rdma/softrdma-netlink.h>

/* With its end; IB_DEVICE_NAME_MAX of the kernel. */
#define LINK_NAME_MAX	64

static struct mnl_socket *sock;
static uint16_t family_id;
static uint32_t seq;
static bool quiet;

/* What the kernel says beside the errno. */
static void say_error(const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);
	size_t begin = sizeof(*err);
	const struct nlattr *attr;

	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		begin += mnl_nlmsg_get_payload_len(&err->msg);
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_for_each(attr, nlh, MNL_ALIGN(begin))
			if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG) {
				fprintf(stderr, "softrdma: %s\n",
					mnl_attr_get_str(attr));
				return;
			}
	fprintf(stderr, "softrdma: %s%s\n", strerror(-err->error),
		err->error != -EPERM ? "" :
		"; it needs CAP_NET_ADMIN where the network namespace belongs");
}

static int heard_error(const struct nlmsghdr *nlh, void *data)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);

	if (!err->error)
		return MNL_CB_STOP;
	if (!quiet)
		say_error(nlh);
	errno = -err->error;
	return MNL_CB_ERROR;
}

/* A dump that fails says so where it ends. */
static int heard_done(const struct nlmsghdr *nlh, void *data)
{
	int err = *(int *)mnl_nlmsg_get_payload(nlh);

	if (err >= 0)
		return MNL_CB_STOP;
	if (!quiet)
		fprintf(stderr, "softrdma: %s\n",
			err == -ENODEV ? "no such link here" : strerror(-err));
	errno = -err;
	return MNL_CB_ERROR;
}

static mnl_cb_t control[NLMSG_MIN_TYPE] = {
	[NLMSG_ERROR] = heard_error,
	[NLMSG_DONE] = heard_done,
};

/**
 * family_talk - send a request and hear all of its answer
 * @request: request
 * @heard: called for each message of the answer; or NULL
 * @data: handed to @heard
 *
 * Return: 0; or -1, and why has been told.
 */
int family_talk(struct nlmsghdr *request, mnl_cb_t heard, void *data)
{
	char buf[32768];
	int n, ret;

	if (mnl_socket_sendto(sock, request, request->nlmsg_len) < 0) {
		perror("softrdma: netlink");
		return -1;
	}
	do {
		n = mnl_socket_recvfrom(sock, buf, sizeof(buf));
		if (n < 0) {
			perror("softrdma: netlink");
			return -1;
		}
		ret = mnl_cb_run2(buf, n, request->nlmsg_seq,
				  mnl_socket_get_portid(sock), heard, data,
				  control, NLMSG_MIN_TYPE);
	} while (ret > MNL_CB_STOP);
	return ret < 0 ? -1 : 0;
}

/**
 * family_request - begin a request
 * @buf: room for it, MNL_SOCKET_BUFFER_SIZE bytes
 * @cmd: enum srdma_nl_cmd
 * @flags: of the message, beside NLM_F_REQUEST
 */
struct nlmsghdr *family_request(void *buf, int cmd, int flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = family_id;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = ++seq;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = SRDMA_NL_VERSION;
	return nlh;
}

/**
 * family_wait - wait for word from the driver that nobody has asked for
 * @timeout_ms: for so long at most
 *
 * Return: 0, or -1.
 */
int family_wait(int timeout_ms)
{
	struct pollfd fd = { mnl_socket_get_fd(sock), POLLIN };
	char buf[MNL_SOCKET_BUFFER_SIZE];
	int n = poll(&fd, 1, timeout_ms);

	if (n > 0)
		n = mnl_socket_recvfrom(sock, buf, sizeof(buf));
	return n < 0 && errno != EINTR ? -1 : 0;
}

/* Returns 0; or -1, and why has been told. */
int family_put_link(struct nlmsghdr *nlh, const char *link)
{
	if (strlen(link) >= LINK_NAME_MAX) {
		fprintf(stderr, "softrdma: no link has a name of %zu bytes\n",
			strlen(link));
		return -1;
	}
	mnl_attr_put_strz(nlh, SRDMA_NL_A_LINK, link);
	return 0;
}

static int heard_family(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			*(uint16_t *)data = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int find_family(void)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *nlh = family_request(buf, CTRL_CMD_GETFAMILY,
					      NLM_F_ACK);

	nlh->nlmsg_type = GENL_ID_CTRL;
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, SRDMA_NL_FAMILY);
	return family_talk(nlh, heard_family, &family_id);
}

/* Finds the driver; what is wrong has been told when it is not there. */
int family_open(void)
{
	int one = 1;

	sock = mnl_socket_open(NETLINK_GENERIC);
	if (!sock || mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) < 0) {
		perror("softrdma: netlink");
		return -1;
	}
	mnl_socket_setsockopt(sock, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(sock, NETLINK_CAP_ACK, &one, sizeof(one));
	seq = time(NULL);
	quiet = true;
	if (find_family() || !family_id) {
		fprintf(stderr, "softrdma: the driver is not there; is the module softrdma loaded?\n");
		return -1;
	}
	quiet = false;
	return 0;
}

void family_close(void)
{
	if (sock)
		mnl_socket_close(sock);
}
