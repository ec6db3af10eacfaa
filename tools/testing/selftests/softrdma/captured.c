// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Looped traffic, as packet sockets see it
 * (Documentation/softrdma/guide/captures.rst)::
 *
 *	srtd0 (dummy)   10.77.0.1  fd77::1  <-- srt0
 *	  `- srtv0 (VLAN 7)  10.77.7.1      <-- srtv; also an address of srt0
 *	srtu0 (tun)     10.77.8.1           <-- srtu
 */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "counters.h"
#include "duo.h"
#include "peer.h"
#include "rules.h"
#include "tap.h"

#define MTU		1024
#define VLAN		7
#define UD_SEND_ONLY	0x64
#define UC_SEND_ONLY	0x24
#define MULTICAST_QPN	0xffffff

FIXTURE(captured)
{
	struct verbs_set set;
	struct duo duo;
	int fd;
	int tun;
	bool has_mac;
	int64_t looped;
	int64_t received;
};

FIXTURE_VARIANT(captured)
{
	const char *link;
	const char *netdev;
	const char *listen;
	const char *address;
	bool is_v6;
	bool is_vlan;
	bool is_tun;
	unsigned int tag;
};

FIXTURE_VARIANT_ADD(captured, ipv4) {
	.link = TOPO_LINK, .listen = TOPO_NETDEV, .address = TOPO_IPV4,
};

FIXTURE_VARIANT_ADD(captured, ipv6) {
	.link = TOPO_LINK, .listen = TOPO_NETDEV, .address = TOPO_IPV6,
	.is_v6 = true,
};

FIXTURE_VARIANT_ADD(captured, by_all_interfaces) {
	.link = TOPO_LINK, .address = TOPO_IPV4,
};

FIXTURE_VARIANT_ADD(captured, on_vlan) {
	.link = "srtv", .netdev = "srtv0", .listen = "srtv0",
	.address = "10.77.7.1", .is_vlan = true,
};

FIXTURE_VARIANT_ADD(captured, below_vlan) {
	.link = TOPO_LINK, .listen = TOPO_NETDEV, .address = "10.77.7.1",
	.is_vlan = true, .tag = VLAN,
};

FIXTURE_VARIANT_ADD(captured, tun) {
	.link = "srtu", .netdev = "srtu0", .listen = "srtu0",
	.address = "10.77.8.1", .is_tun = true,
};

static int add_tun(const char *name)
{
	struct ifreq ifr = { .ifr_flags = IFF_TUN | IFF_NO_PI };
	int fd;

	if (access("/dev/net/tun", F_OK))
		topo_run("modprobe tun");
	fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	strcpy(ifr.ifr_name, name);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr))
		return -1;
	return fd;
}

/* As verbs_open_set(), with an address that is another one. */
static int open_set(struct verbs_set *set, const char *link,
		    const char *address)
{
	memset(set, 0, sizeof(*set));
	set->ctx = verbs_open(link);
	if (!set->ctx || verbs_wait_gid(set->ctx, address, true, DUO_WAIT_MS))
		return -1;
	set->gid_index = verbs_gid_index(set->ctx, address, &set->gid);
	set->pd = ibv_alloc_pd(set->ctx);
	set->cq = ibv_create_cq(set->ctx, 64, NULL, NULL, 0);
	return set->pd && set->cq ? 0 : -1;
}

FIXTURE_SETUP(captured)
{
	memset(&self->duo, 0, sizeof(self->duo));
	self->tun = -1;
	self->has_mac = !variant->is_tun;
	if (variant->is_vlan)
		ASSERT_EQ(0, topo_ip("link add link %s name srtv0 type vlan id 7\n"
				     "addr add 10.77.7.1/24 dev srtv0\n"
				     "link set srtv0 up", TOPO_NETDEV));
	if (variant->is_tun) {
		self->tun = add_tun(variant->netdev);
		ASSERT_LE(0, self->tun);
		ASSERT_EQ(0, topo_ip("addr add %s/24 dev %s\nlink set %s up",
				     variant->address, variant->netdev,
				     variant->netdev));
	}
	if (variant->netdev)
		ASSERT_EQ(0, topo_link_add(variant->link, variant->netdev));
	counters_use(variant->link);
	ASSERT_EQ(0, open_set(&self->set, variant->link, variant->address));
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	/* They have found their way before anybody listens. */
	ASSERT_EQ(0, duo_write(&self->duo.end[0], &self->duo.end[1], 1, 8,
			       self->duo.end[1].mr->rkey));
	ASSERT_EQ(1, duo_poll(self->duo.end[0].send_cq, &(struct ibv_wc) {},
			      1));
	self->fd = tap_open(variant->listen);
	ASSERT_LE(0, self->fd);
	self->looped = counters_get("loop_packets");
	self->received = counters_get("rx_packets");
}

FIXTURE_TEARDOWN(captured)
{
	close(self->fd);
	EXPECT_EQ(0, rules_flush(variant->link));
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, verbs_close_set(&self->set));
	counters_use(TOPO_LINK);
	if (variant->is_tun) {
		close(self->tun);
		topo_wait_link(variant->link, false, DUO_WAIT_MS);
	}
	if (variant->is_vlan)
		topo_ip("link del srtv0");
	if (variant->netdev && variant->is_vlan)
		topo_wait_link(variant->link, false, DUO_WAIT_MS);
}

static uint8_t opcode_of(struct tap_seen *seen)
{
	return wire_bth(&seen->frame)[0];
}

static uint32_t psn_of(struct tap_seen *seen)
{
	const uint8_t *bth = wire_bth(&seen->frame);

	return bth[9] << 16 | bth[10] << 8 | bth[11];
}

/* Of what else captures lack. */
static bool is_as_on_wire(struct tap_seen *seen, bool is_v6, size_t mac_len,
			  unsigned int tag)
{
	const uint8_t *mac = seen->frame.bytes;

	return seen->outgoing && seen->mac_len == mac_len &&
	       seen->frame.v6 == is_v6 && seen->vlan == tag &&
	       (!mac_len || (!memcmp(mac, mac + 6, 6) &&
			     mac[12] == (is_v6 ? 0x86 : 0x08) &&
			     mac[13] == (is_v6 ? 0xdd : 0x00)));
}

/* The next frame; all that it says beside its BTH is right. */
#define EXPECT_SEEN(opcode)						\
	do {								\
		ASSERT_TRUE(tap_next(self->fd, self->has_mac, &seen));	\
		EXPECT_TRUE(is_as_on_wire(&seen, variant->is_v6,	\
					  self->has_mac ? WIRE_IP : 0,	\
					  variant->tag));		\
		EXPECT_TRUE(wire_is_sealed(&seen.frame));		\
		EXPECT_EQ(opcode, opcode_of(&seen));			\
		count++;						\
	} while (0)

/* Nothing else was seen, and all that was looped has arrived. */
#define EXPECT_ALL_SEEN()						\
	do {								\
		EXPECT_FALSE(tap_next(self->fd, self->has_mac, &seen));	\
		EXPECT_EQ(self->looped + count,				\
			  counters_get("loop_packets"));		\
		EXPECT_EQ(self->received + count,			\
			  counters_get("rx_packets"));			\
	} while (0)

static int complete(struct duo_end *end)
{
	struct ibv_wc wc;

	return duo_poll(end->send_cq, &wc, 1) == 1 ? (int)wc.status : -1;
}

static int read_back(struct duo *duo, uint32_t len)
{
	struct duo_end *from = &duo->end[0], *to = &duo->end[1];
	struct ibv_sge sge = { (uintptr_t)from->buf, len, from->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma.remote_addr = (uintptr_t)to->buf,
		.wr.rdma.rkey = to->mr->rkey,
	};

	return ibv_post_send(from->qp, &wr, &bad) ?: complete(from);
}

/* Long enough to be lent: what is seen is what the peer has got. */
TEST_F(captured, write_packet_by_packet)
{
	struct duo_end *tx = &self->duo.end[0], *rx = &self->duo.end[1];
	uint32_t i, first = 0, packets = 60;
	struct tap_seen seen;
	int64_t count = 0;

	for (i = 0; i < packets * MTU; i++)
		tx->buf[i] = i * 13 + (i >> 10);
	ASSERT_EQ(0, duo_write(tx, rx, 1, packets * MTU, rx->mr->rkey));
	ASSERT_EQ(0, complete(tx));
	for (i = 0; i < packets; i++) {
		EXPECT_SEEN(!i ? RC_WRITE_FIRST : i + 1 < packets ?
			    RC_WRITE_MIDDLE : RC_WRITE_LAST);
		if (!i)
			first = psn_of(&seen);
		EXPECT_EQ((first + i) & 0xffffff, psn_of(&seen));
		EXPECT_EQ(0, memcmp(seen.frame.bytes + seen.frame.len - 4 - MTU,
				    rx->buf + i * MTU, MTU));
	}
	EXPECT_SEEN(RC_ACK);
	EXPECT_EQ((first + packets - 1) & 0xffffff, psn_of(&seen));
	EXPECT_ALL_SEEN();
}

/* Identifications count up, as each datagram's do that has one. */
TEST_F(captured, short_ones_in_order)
{
	struct duo_end *tx = &self->duo.end[0], *rx = &self->duo.end[1];
	uint32_t i, id = 0, psn = 0;
	struct tap_seen seen;
	int64_t count = 0;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, duo_write(tx, rx, 1, 3 + i, rx->mr->rkey));
		ASSERT_EQ(0, complete(tx));
	}
	for (i = 0; i < 5; i++) {
		EXPECT_SEEN(RC_WRITE_ONLY);
		if (i) {
			EXPECT_EQ((psn + 1) & 0xffffff, psn_of(&seen));
			if (!variant->is_v6)
				EXPECT_EQ((id + 1) & 0xffff,
					  seen.frame.bytes[WIRE_IP + 4] << 8 |
					  seen.frame.bytes[WIRE_IP + 5]);
		}
		psn = psn_of(&seen);
		id = seen.frame.bytes[WIRE_IP + 4] << 8 |
		     seen.frame.bytes[WIRE_IP + 5];
		EXPECT_SEEN(RC_ACK);
		EXPECT_EQ(psn, psn_of(&seen));
	}
	EXPECT_ALL_SEEN();
}

TEST_F(captured, read_and_its_responses)
{
	struct tap_seen seen;
	int64_t count = 0;
	uint32_t psn;

	ASSERT_EQ(0, read_back(&self->duo, 3 * MTU));
	EXPECT_SEEN(RC_READ);
	psn = psn_of(&seen);
	EXPECT_SEEN(RC_READ_RESP_FIRST);
	EXPECT_EQ(psn, psn_of(&seen));
	EXPECT_SEEN(RC_READ_RESP_MIDDLE);
	EXPECT_SEEN(RC_READ_RESP_LAST);
	EXPECT_EQ((psn + 2) & 0xffffff, psn_of(&seen));
	EXPECT_ALL_SEEN();
}

static uint8_t syndrome_of(struct tap_seen *seen)
{
	return wire_bth(&seen->frame)[12];
}

TEST_F(captured, what_is_refused)
{
	struct duo_end *tx = &self->duo.end[0], *rx = &self->duo.end[1];
	struct tap_seen seen;
	int64_t count = 0;

	ASSERT_EQ(0, duo_write(tx, rx, 1, 100, rx->mr->rkey ^ 0x100));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, complete(tx));
	EXPECT_SEEN(RC_WRITE_ONLY);
	EXPECT_SEEN(RC_ACK);
	EXPECT_EQ(NAK_ACCESS, syndrome_of(&seen));
	EXPECT_ALL_SEEN();
}

/* A datagram of 100 bytes from one end to a QP, or a group. 0 or errno. */
static int send_datagram(struct duo_end *from, const union ibv_gid *to,
			 uint32_t qpn)
{
	struct ibv_sge sge = { (uintptr_t)from->buf, 100, from->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.ud.remote_qpn = qpn,
		.wr.ud.remote_qkey = VERBS_QKEY,
	};
	struct ibv_qp_attr attr;
	int err;

	verbs_attr(from->set, &attr, IBV_QPS_RTR, 1);
	attr.ah_attr.grh.dgid = *to;
	wr.wr.ud.ah = ibv_create_ah(from->set->pd, &attr.ah_attr);
	if (!wr.wr.ud.ah)
		return errno;
	err = ibv_post_send(from->qp, &wr, &bad) ?: complete(from);
	return ibv_destroy_ah(wr.wr.ud.ah) ?: err;
}

TEST_F(captured, connected_and_unreliable)
{
	struct duo duo = { .type = IBV_QPT_UC };
	struct tap_seen seen;
	int64_t count = 0;
	struct ibv_wc wc;

	ASSERT_EQ(0, duo_up(&duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_recv(&duo.end[1], 1, 0, 200));
	ASSERT_EQ(0, duo_send(&duo.end[0], 1, 0, 100, 0));
	ASSERT_EQ(1, duo_poll(duo.end[1].recv_cq, &wc, 1));
	EXPECT_SEEN(UC_SEND_ONLY);
	EXPECT_ALL_SEEN();
	EXPECT_EQ(0, duo_close(&duo));
}

TEST_F(captured, datagram)
{
	struct duo duo = { .type = IBV_QPT_UD };
	struct tap_seen seen;
	int64_t count = 0;
	struct ibv_wc wc;

	ASSERT_EQ(0, duo_up(&duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_recv(&duo.end[1], 1, 0, 200));
	ASSERT_EQ(0, send_datagram(&duo.end[0], &self->set.gid,
				   duo.end[1].qp->qp_num));
	ASSERT_EQ(1, duo_poll(duo.end[1].recv_cq, &wc, 1));
	EXPECT_SEEN(UD_SEND_ONLY);
	EXPECT_ALL_SEEN();
	EXPECT_EQ(0, duo_close(&duo));
}

/*
 * One frame leaves by the interface, whoever is in the group; what the stack
 * returns of it to this host is not a second one.
 */
TEST_F(captured, multicast_once)
{
	const union ibv_gid group = variant->is_v6 ?
		(union ibv_gid){ .raw = { 0xff, 0x0e, [12] = 0x77, 1, 2, 4 } } :
		(union ibv_gid){ .raw = { [10] = 0xff, 0xff, 239, 77, 1, 4 } };
	struct duo duo = { .type = IBV_QPT_UD };
	struct tap_seen seen;
	struct ibv_wc wc;
	int i;

	ASSERT_EQ(0, duo_up(&duo, &self->set, &self->set));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, duo_recv(&duo.end[i], 1, 0, 200));
		ASSERT_EQ(0, ibv_attach_mcast(duo.end[i].qp, &group, 0));
	}
	ASSERT_EQ(0, send_datagram(&duo.end[0], &group, MULTICAST_QPN));
	/* Groups are joined on the link's own interface, not on one above it. */
	for (i = 0; i < 2 && !variant->tag; i++)
		ASSERT_EQ(1, duo_poll(duo.end[i].recv_cq, &wc, 1));
	ASSERT_TRUE(tap_next(self->fd, self->has_mac, &seen));
	EXPECT_TRUE(seen.outgoing);
	EXPECT_EQ(variant->tag, seen.vlan);
	EXPECT_EQ(UD_SEND_ONLY, opcode_of(&seen));
	EXPECT_FALSE(tap_next(self->fd, self->has_mac, &seen));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, ibv_detach_mcast(duo.end[i].qp, &group, 0));
	EXPECT_EQ(0, duo_close(&duo));
}

/* As between two machines: what was lost before it left was not on the wire. */
TEST_F(captured, what_rules_let_go)
{
	struct duo_end *tx = &self->duo.end[0], *rx = &self->duo.end[1];
	uint8_t last = RC_WRITE_LAST;
	struct tap_seen seen;
	int wrong = 0, lasts = 0;

	ASSERT_LT(0, rules_add(variant->link, "tx op WRITE_LAST nth 1 drop"));
	ASSERT_EQ(0, duo_write(tx, rx, 1, 4 * MTU, rx->mr->rkey));
	ASSERT_EQ(0, complete(tx));
	while (tap_next(self->fd, self->has_mac, &seen))
		lasts += opcode_of(&seen) == last;
	EXPECT_EQ(1, lasts);
	ASSERT_EQ(0, rules_flush(variant->link));

	ASSERT_LT(0, rules_add(variant->link, "rx op WRITE_LAST nth 1 drop"));
	ASSERT_LT(0, rules_add(variant->link,
			       "tx op WRITE_FIRST nth 1 corrupt icrc"));
	ASSERT_EQ(0, duo_write(tx, rx, 1, 4 * MTU, rx->mr->rkey));
	ASSERT_EQ(0, complete(tx));
	for (lasts = 0; tap_next(self->fd, self->has_mac, &seen);) {
		lasts += opcode_of(&seen) == last;
		wrong += !wire_is_sealed(&seen.frame);
	}
	EXPECT_LE(2, lasts);
	EXPECT_EQ(1, wrong);
}

/* What a rule changes on its way in was on the wire as it was. */
TEST_F(captured, what_rules_change_later_is_not_changed)
{
	struct duo_end *tx = &self->duo.end[0], *rx = &self->duo.end[1];
	struct tap_seen seen;
	int wrong = 0, packets = 0;

	ASSERT_LT(0, rules_add(variant->link,
			       "rx op WRITE_FIRST nth 1 corrupt icrc"));
	ASSERT_EQ(0, duo_write(tx, rx, 1, 4 * MTU, rx->mr->rkey));
	ASSERT_EQ(0, complete(tx));
	while (tap_next(self->fd, self->has_mac, &seen)) {
		packets++;
		wrong += !wire_is_sealed(&seen.frame);
	}
	EXPECT_EQ(0, wrong);
	/* All of it, some of it again, and what answered. */
	EXPECT_LT(4, packets);
}

/* Who is in another namespace sees none of it. */
TEST_F(captured, nothing_by_others)
{
	struct duo_end *tx = &self->duo.end[0], *rx = &self->duo.end[1];
	int fd, ours = open("/proc/self/ns/net", O_RDONLY);
	struct tap_seen seen;

	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	fd = tap_open(NULL);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, setns(ours, CLONE_NEWNET));
	close(ours);
	ASSERT_EQ(0, duo_write(tx, rx, 1, 4 * MTU, rx->mr->rkey));
	ASSERT_EQ(0, complete(tx));
	EXPECT_FALSE(tap_next(fd, true, &seen));
	EXPECT_TRUE(tap_next(self->fd, self->has_mac, &seen));
	close(fd);
}

TEST_HARNESS_MAIN
