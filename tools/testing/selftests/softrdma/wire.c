// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "topo.h"
#include "wire.h"

#define ROCE_PORT	4791
#define SOURCE_PORT	0xc123

static const uint8_t peer_mac[6] = { 0x02, 0, 0, 0, 0x77, 2 };
static uint8_t our_mac[6];
static int tap = -1;
static short flags;

static int open_tap(void)
{
	struct ifreq ifr = {
		.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | flags,
	};
	int size = sizeof(struct virtio_net_hdr);

	tap = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (tap < 0)
		return -errno;
	strcpy(ifr.ifr_name, WIRE_NETDEV);
	if (ioctl(tap, TUNSETIFF, &ifr) || ioctl(tap, TUNSETVNETHDRSZ, &size) ||
	    ioctl(tap, SIOCGIFHWADDR, &ifr))
		return -errno;
	memcpy(our_mac, ifr.ifr_hwaddr.sa_data, 6);
	return 0;
}

int wire_setup(void)
{
	int ret = topo_enter_netns();

	/* A node of /dev does not load the module that it belongs to. */
	if (!ret && access("/dev/net/tun", F_OK))
		topo_run("modprobe tun");
	if (!ret)
		ret = open_tap();
	if (!ret && topo_ip("link set %s mtu 5000 up\n"
			    "addr add %s/24 dev %s\n"
			    "addr add %s/64 dev %s nodad\n"
			    "neigh add %s lladdr 02:00:00:00:77:02 dev %s\n"
			    "neigh add %s lladdr 02:00:00:00:77:02 dev %s",
			    WIRE_NETDEV, TOPO_IPV4, WIRE_NETDEV, TOPO_IPV6,
			    WIRE_NETDEV, WIRE_PEER, WIRE_NETDEV, WIRE_PEER6,
			    WIRE_NETDEV))
		ret = -EIO;
	if (!ret)
		ret = topo_link_add(TOPO_LINK, WIRE_NETDEV);
	return ret;
}

int wire_setup_merging(void)
{
	int ret;

	flags = IFF_NAPI;
	ret = wire_setup();
	if (!ret && topo_run("ethtool -K %s gro on && "
			     "echo 2000000 >/sys/class/net/%s/gro_flush_timeout",
			     WIRE_NETDEV, WIRE_NETDEV))
		ret = -EOPNOTSUPP;
	return ret;
}

/* The interface goes with its last descriptor, and the link with it. */
void wire_teardown(void)
{
	close(tap);
	topo_wait_link(TOPO_LINK, false, 10000);
}

/* ---- sums ---- */

static uint32_t crc_of_byte[256];

static void __attribute__((constructor)) fill_crc_table(void)
{
	uint32_t byte, crc;
	int bit;

	for (byte = 0; byte < 256; byte++) {
		crc = byte;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
		crc_of_byte[byte] = crc;
	}
}

static uint32_t crc32_of(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len--)
		crc = crc >> 8 ^ crc_of_byte[(crc ^ *p++) & 0xff];
	return crc;
}

/* An even number of bytes: RoCE is padded. */
static uint16_t ip_checksum(const uint8_t *ip, size_t len, uint32_t sum)
{
	size_t i;

	for (i = 0; i < len; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static void put16(uint8_t *p, unsigned int v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v);
}

/* As annex A17 has it: what a router may change reads as ones. */
static void put_icrc(struct wire_frame *frame)
{
	size_t ip_len = wire_bth(frame) - frame->bytes - WIRE_IP - 8;
	size_t end = frame->len - 4;
	uint8_t *icrc = frame->bytes + end;
	uint8_t masked[8 + 40 + 8 + 12];
	uint8_t *ip = masked + 8;
	uint8_t *udp = ip + ip_len;
	uint32_t crc;

	memset(masked, 0xff, 8);
	memcpy(ip, frame->bytes + WIRE_IP, ip_len + 8 + 12);
	if (frame->v6) {
		ip[0] |= 0x0f;
		memset(ip + 1, 0xff, 3);
		ip[7] = 0xff;
	} else {
		ip[1] = 0xff;
		ip[8] = 0xff;
		put16(ip + 10, 0xffff);
	}
	put16(udp + 6, 0xffff);
	udp[8 + 4] = 0xff;
	crc = crc32_of(~0u, masked, udp + 8 + 12 - masked);
	crc = ~crc32_of(crc, wire_bth(frame) + 12,
			icrc - wire_bth(frame) - 12);
	icrc[0] = crc;
	icrc[1] = crc >> 8;
	icrc[2] = crc >> 16;
	icrc[3] = crc >> 24;
}

/* ---- frames ---- */

uint8_t *wire_bth(struct wire_frame *frame)
{
	size_t ip_len = (frame->bytes[WIRE_IP] & 0xf) * 4;

	return frame->bytes + WIRE_IP + (frame->v6 ? 40 : ip_len) + 8;
}

enum wire_ecn wire_ecn(const struct wire_frame *frame)
{
	const uint8_t *ip = frame->bytes + WIRE_IP;

	return (frame->v6 ? ip[1] >> 4 : ip[1]) & CE;
}

void wire_meet_congestion(struct wire_frame *frame)
{
	frame->bytes[WIRE_IP + 1] |= frame->v6 ? CE << 4 : CE;
}

void wire_seal_sums(struct wire_frame *frame)
{
	uint8_t *ip = frame->bytes + WIRE_IP;

	if (!frame->v6) {
		put16(ip + 10, 0);
		put16(ip + 10, ip_checksum(ip, (ip[0] & 0xf) * 4, 0));
	}
	/* Too short for an ICRC is one of the things to try. */
	if (wire_bth(frame) + 16 <= frame->bytes + frame->len)
		put_icrc(frame);
}

void wire_seal(struct wire_frame *frame)
{
	uint8_t *ip = frame->bytes + WIRE_IP;
	uint8_t *udp = wire_bth(frame) - 8;

	if (frame->v6)
		put16(ip + 4, frame->bytes + frame->len - udp);
	else
		put16(ip + 2, frame->len - WIRE_IP);
	put16(udp + 4, frame->bytes + frame->len - udp);
	wire_seal_sums(frame);
}

static uint8_t *put_ip(struct wire_frame *frame, uint16_t id)
{
	uint8_t *ip = frame->bytes + WIRE_IP;

	if (frame->v6) {
		ip[0] = 0x60;
		ip[6] = IPPROTO_UDP;
		ip[7] = 64;
		inet_pton(AF_INET6, WIRE_PEER6, ip + 8);
		inet_pton(AF_INET6, TOPO_IPV6, ip + 24);
		return ip + 40;
	}
	ip[0] = 0x45;
	put16(ip + 4, id);
	ip[6] = 0x40;
	ip[8] = 64;
	ip[9] = IPPROTO_UDP;
	put32(ip + 12, WIRE_PEER4);
	put32(ip + 16, WIRE_OURS4);
	return ip + 20;
}

void wire_build(struct wire_frame *frame, const struct wire_packet *packet)
{
	uint8_t *p;

	memset(frame, 0, sizeof(*frame));
	frame->v6 = packet->v6;
	memcpy(frame->bytes, our_mac, 6);
	memcpy(frame->bytes + 6, peer_mac, 6);
	put16(frame->bytes + 12, packet->v6 ? 0x86dd : 0x0800);
	p = put_ip(frame, packet->ip_id);
	put16(p, SOURCE_PORT);
	put16(p + 2, ROCE_PORT);
	p += 8;
	p[0] = packet->opcode;
	p[1] = 0x40 | packet->pad << 4;
	put16(p + 2, 0xffff);
	put32(p + 4, packet->qpn);
	put32(p + 8, packet->psn | (packet->ack_req ? 0x80000000u : 0));
	p += 12;
	if (packet->ext_len)
		memcpy(p, packet->ext, packet->ext_len);
	p += packet->ext_len;
	if (packet->payload_len)
		memcpy(p, packet->payload, packet->payload_len);
	p += packet->payload_len + 4;
	frame->len = p - frame->bytes;
	wire_seal(frame);
}

void wire_put_udp_sum(struct wire_frame *frame)
{
	uint8_t *udp = wire_bth(frame) - 8;
	size_t len = frame->bytes + frame->len - udp;
	uint32_t sum = IPPROTO_UDP + len;
	int i, end = frame->v6 ? 40 : 20;

	/* Both addresses are in the pseudo header. */
	for (i = frame->v6 ? 8 : 12; i < end; i += 2)
		sum += frame->bytes[WIRE_IP + i] << 8 |
		       frame->bytes[WIRE_IP + i + 1];
	put16(udp + 6, 0);
	put16(udp + 6, ip_checksum(udp, len, sum) ?: 0xffff);
}

bool wire_is_sealed(const struct wire_frame *frame)
{
	struct wire_frame again = *frame;

	wire_seal(&again);
	wire_put_udp_sum(&again);
	return !memcmp(again.bytes, frame->bytes, frame->len);
}

bool wire_is_roce(struct wire_frame *frame)
{
	uint8_t *ip = frame->bytes + WIRE_IP;
	uint8_t *udp;

	frame->v6 = ip[0] >> 4 == 6;
	/* BTH and ICRC are the least there is. */
	if (frame->len < WIRE_IP + (frame->v6 ? 40 : 20) + 8 + 16 ||
	    ip[frame->v6 ? 6 : 9] != IPPROTO_UDP)
		return false;
	udp = wire_bth(frame) - 8;
	return udp[2] == ROCE_PORT >> 8 && udp[3] == (ROCE_PORT & 0xff);
}

int wire_capture(struct wire_frame *frame, int timeout_ms)
{
	struct pollfd fd = { .fd = tap, .events = POLLIN };
	long end = topo_now_ms() + timeout_ms;
	struct virtio_net_hdr hdr;
	struct iovec iov[2] = {
		{ .iov_base = &hdr, .iov_len = sizeof(hdr) },
		{ .iov_base = frame->bytes, .iov_len = sizeof(frame->bytes) },
	};
	ssize_t len;
	long left;

	for (;;) {
		left = end - topo_now_ms();
		if (poll(&fd, 1, left > 0 ? left : 0) != 1)
			break;
		len = readv(tap, iov, 2);
		if (len <= (ssize_t)sizeof(hdr))
			continue;
		frame->len = len - sizeof(hdr);
		if (wire_is_roce(frame))
			return 0;
	}
	return -ETIMEDOUT;
}

int wire_inject_as(const struct wire_frame *frame,
		   const struct virtio_net_hdr *hdr)
{
	struct iovec iov[2] = {
		{ .iov_base = (void *)hdr, .iov_len = sizeof(*hdr) },
		{ .iov_base = (void *)frame->bytes, .iov_len = frame->len },
	};

	return writev(tap, iov, 2) < 0 ? -errno : 0;
}

int wire_inject(const struct wire_frame *frame, bool partial)
{
	struct virtio_net_hdr hdr = {};

	if (partial) {
		hdr.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
		hdr.csum_start = wire_bth((struct wire_frame *)frame) - 8 -
				 frame->bytes;
		hdr.csum_offset = 6;
	}
	if (frame->in_pages)
		hdr.hdr_len = WIRE_IP;
	return wire_inject_as(frame, &hdr);
}
