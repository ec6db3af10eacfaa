// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tap.h"

/* Nothing is to be lost here: some messages of 64 KB. */
#define ROOM	(32 << 20)

int tap_open(const char *netdev)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = netdev ? if_nametoindex(netdev) : 0,
	};
	int fd, room = ROOM, on = 1;

	if (netdev && !at.sll_ifindex)
		return -ENODEV;
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at))) {
		close(fd);
		return -errno;
	}
	return fd;
}

static unsigned int vlan_in(struct msghdr *msg)
{
	struct tpacket_auxdata aux;
	struct cmsghdr *cmsg;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(cmsg), sizeof(aux));
		if (aux.tp_status & TP_STATUS_VLAN_VALID)
			return aux.tp_vlan_tci & 0xfff;
	}
	return 0;
}

/* A tag among the bytes, as it is where the interface cannot insert it. */
static void take_tag_out(struct tap_seen *seen)
{
	uint8_t *tag = seen->frame.bytes + 12;

	if (seen->mac_len < WIRE_IP || tag[0] != 0x81 || tag[1] != 0x00)
		return;
	seen->vlan = (tag[2] << 8 | tag[3]) & 0xfff;
	memmove(tag, tag + 4, seen->frame.len - 16);
	seen->frame.len -= 4;
}

bool tap_next(int fd, bool has_mac, struct tap_seen *seen)
{
	size_t before = has_mac ? 0 : WIRE_IP;
	struct sockaddr_ll from;
	char control[256];
	struct iovec iov = {
		.iov_base = seen->frame.bytes + before,
		.iov_len = sizeof(seen->frame.bytes) - before,
	};
	struct msghdr msg;
	ssize_t len;

	for (;;) {
		memset(&msg, 0, sizeof(msg));
		memset(seen->frame.bytes, 0, WIRE_IP);
		msg.msg_name = &from;
		msg.msg_namelen = sizeof(from);
		msg.msg_iov = &iov;
		msg.msg_iovlen = 1;
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		len = recvmsg(fd, &msg, 0);
		if (len < 0)
			return false;
		seen->frame.len = len + before;
		seen->mac_len = WIRE_IP - before;
		seen->vlan = vlan_in(&msg);
		take_tag_out(seen);
		seen->outgoing = from.sll_pkttype == PACKET_OUTGOING;
		if (wire_is_roce(&seen->frame))
			return true;
	}
}
