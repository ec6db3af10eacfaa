// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The short ways past the IP stack are taken, and not where somebody would see
 * the difference: filters, packet sockets, routes, VLANs, broken packets.
 *
 * The peer writes nothing into memory, packet after packet. What it says has
 * been heard, or dropped, when the call returns.
 */
#include "nldev.h"
#include "peer_fixture.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRIES	20

FIXTURE(direct)
{
	struct peer peer;
	uint32_t psn;
};

FIXTURE_VARIANT(direct)
{
	bool is_v6;
	const char *ip;
	const char *family;
	const char *ours;
	const char *theirs;
	int protocol;
};

/* First: a VRF makes rules of both families, which are not forgotten. */
FIXTURE_VARIANT_ADD(direct, ipv6) {
	.is_v6 = true, .ip = "ip -6", .family = "ip6", .ours = TOPO_IPV6,
	.theirs = WIRE_PEER6, .protocol = 0x86dd,
};

FIXTURE_VARIANT_ADD(direct, ipv4) {
	.ip = "ip", .family = "ip", .ours = TOPO_IPV4, .theirs = WIRE_PEER,
	.protocol = 0x0800,
};

FIXTURE_SETUP(direct)
{
	struct peer_attr attr = PEER_ATTR_DEFAULT;

	ASSERT_EQ(0, peer_open(&self->peer, &attr));
	if (variant->is_v6)
		ASSERT_EQ(0, peer_reconnect_v6(&self->peer));
	self->psn = PSN;
}

FIXTURE_TEARDOWN(direct)
{
	EXPECT_EQ(0, peer_close(&self->peer));
}

typedef FIXTURE_DATA(direct) data_t;
typedef FIXTURE_VARIANT(direct) variant_t;

/* A packet of the peer, right but for what @spoil does to it: is it heard? */
static bool arrives_spoiled(data_t *self, const variant_t *variant,
			    void (*spoil)(struct wire_frame *frame))
{
	static const uint8_t reth[16];
	struct wire_packet packet = {
		.v6 = variant->is_v6, .opcode = RC_WRITE_ONLY,
		.qpn = self->peer.qp->qp_num, .psn = self->psn,
		.ext = reth, .ext_len = sizeof(reth),
	};
	int64_t before = counters_get("req_write");
	struct wire_frame frame;
	bool heard;

	wire_build(&frame, &packet);
	if (spoil)
		spoil(&frame);
	if (before < 0 || wire_inject(&frame, false))
		return false;
	heard = counters_get("req_write") == before + 1;
	self->psn += heard;
	return heard;
}

static bool arrives(data_t *self, const variant_t *variant)
{
	return arrives_spoiled(self, variant, NULL);
}

/*
 * Packets arrive, and before long by the short way: after one that could not,
 * and when an address of IPv6 comes of itself, the stack is asked for a while.
 */
static bool goes_direct_as(data_t *self, const variant_t *variant,
			   void (*shape)(struct wire_frame *frame))
{
	int64_t before = counters_get("rx_direct");
	long end = topo_now_ms() + PEER_WAIT_MS;

	do {
		if (!arrives_spoiled(self, variant, shape))
			return false;
		if (counters_get("rx_direct") > before)
			return true;
		usleep(10000);
	} while (topo_now_ms() < end);
	return false;
}

/* Packets arrive, and all by the stack. */
static bool goes_by_stack(data_t *self, const variant_t *variant)
{
	int64_t before = counters_get("rx_direct");
	int i;

	for (i = 0; i < TRIES; i++)
		if (!arrives(self, variant))
			return false;
	return counters_get("rx_direct") == before;
}

/* Nothing arrives, however often it is tried. */
static bool is_stopped(data_t *self, const variant_t *variant)
{
	return !arrives(self, variant) && !arrives(self, variant);
}

#define goes_direct()	goes_direct_as(self, variant, NULL)
#define goes_by_stack()	goes_by_stack(self, variant)
#define is_stopped()	is_stopped(self, variant)

/* A chain of nftables at a hook, and what it does to our packets. */
static int add_filter(const char *family, const char *hook, const char *what)
{
	return topo_run("nft 'table %s srt { chain c { type filter hook %s "
			"priority 0; udp dport 4791 %s; }; }'",
			family, hook, what);
}

static int del_filter(const char *family)
{
	return topo_run("nft delete table %s srt", family);
}

TEST_F(direct, the_stack_is_asked_first)
{
	int64_t before = counters_get("rx_direct");

	ASSERT_LE(0, before);
	EXPECT_TRUE(arrives(self, variant));
	EXPECT_EQ(before, counters_get("rx_direct"));
	EXPECT_TRUE(goes_direct());
}

TEST_F(direct, a_new_connection_asks_again)
{
	struct peer_attr attr = PEER_ATTR_DEFAULT;
	int64_t before;

	ASSERT_TRUE(goes_direct());
	ASSERT_EQ(0, variant->is_v6 ? peer_reconnect_v6(&self->peer) :
				      peer_reconnect(&self->peer, &attr));
	self->psn = PSN;
	before = counters_get("rx_direct");
	EXPECT_TRUE(arrives(self, variant));
	EXPECT_EQ(before, counters_get("rx_direct"));
}

TEST_F(direct, filters_stop_packets)
{
	static const char * const hooks[] = { "prerouting", "input" };
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(goes_direct());
		ASSERT_EQ(0, add_filter(variant->family, hooks[i], "drop"));
		EXPECT_TRUE(is_stopped());
		ASSERT_EQ(0, del_filter(variant->family));
		EXPECT_TRUE(goes_direct());
	}
}

TEST_F(direct, filters_see_packets)
{
	ASSERT_TRUE(goes_direct());
	ASSERT_EQ(0, add_filter(variant->family, "input", "counter"));
	EXPECT_TRUE(goes_by_stack());
	EXPECT_EQ(0, topo_run("nft list table %s srt | "
			      "grep -q 'counter packets %d '",
			      variant->family, TRIES));
	ASSERT_EQ(0, del_filter(variant->family));
	EXPECT_TRUE(goes_direct());
}

/* One of the other family is not asked. */
TEST_F(direct, filters_of_others_do_not_matter)
{
	const char *other = variant->is_v6 ? "ip" : "ip6";

	ASSERT_EQ(0, add_filter(other, "input", "drop"));
	EXPECT_TRUE(goes_direct());
	ASSERT_EQ(0, del_filter(other));
}

TEST_F(direct, filters_of_the_interface_are_before_us)
{
	ASSERT_TRUE(goes_direct());
	ASSERT_EQ(0, add_filter("netdev", "ingress device " WIRE_NETDEV,
				"drop"));
	EXPECT_TRUE(is_stopped());
	ASSERT_EQ(0, del_filter("netdev"));
	EXPECT_TRUE(goes_direct());
}

/* Routing may look at what nft or tc have marked. */
TEST_F(direct, marked_packets_go_by_the_stack)
{
	ASSERT_TRUE(goes_direct());
	ASSERT_EQ(0, add_filter("netdev", "ingress device " WIRE_NETDEV,
				"meta mark set 7"));
	EXPECT_TRUE(goes_by_stack());
	ASSERT_EQ(0, del_filter("netdev"));
	EXPECT_TRUE(goes_direct());
}

TEST_F(direct, packet_sockets_see_packets)
{
	struct pollfd fd = { .events = POLLIN };

	ASSERT_TRUE(goes_direct());
	fd.fd = socket(AF_PACKET, SOCK_RAW, htons(variant->protocol));
	ASSERT_LE(0, fd.fd);
	EXPECT_TRUE(goes_by_stack());
	EXPECT_EQ(1, poll(&fd, 1, PEER_WAIT_MS));
	close(fd.fd);
	EXPECT_TRUE(goes_direct());
}

/* ---- packets that the stack drops ---- */

static void to_another_host(struct wire_frame *f)
{
	f->bytes[5] ^= 0x10;
}

static void into_vlan(struct wire_frame *f)
{
	static const uint8_t tag[] = { 0x81, 0x00, 0x00, 0x07 };

	memmove(f->bytes + 16, f->bytes + 12, f->len - 12);
	memcpy(f->bytes + 12, tag, sizeof(tag));
	f->len += sizeof(tag);
}

/* Of the IPv4 header, or the version that IPv6 has in its place. */
static void damage_header(struct wire_frame *f)
{
	f->bytes[WIRE_IP + (f->v6 ? 0 : 10)] ^= 0x20;
}

static void length_beyond_end(struct wire_frame *f)
{
	f->bytes[WIRE_IP + (f->v6 ? 5 : 3)] += 4;
	wire_seal_sums(f);
}

static void udp_length_differs(struct wire_frame *f)
{
	wire_bth(f)[-3] -= 4;
	wire_seal_sums(f);
}

TEST_F(direct, broken_packets_are_dropped)
{
	static void (* const spoil[])(struct wire_frame *frame) = {
		to_another_host, into_vlan, damage_header, length_beyond_end,
		udp_length_differs,
	};
	size_t i;

	for (i = 0; i < sizeof(spoil) / sizeof(spoil[0]); i++) {
		ASSERT_TRUE(goes_direct());
		EXPECT_FALSE(arrives_spoiled(self, variant, spoil[i])) {
			TH_LOG("case %zu", i);
		}
	}
	EXPECT_TRUE(goes_direct());
}

/* ---- frames of any shape: were some to go by the stack, others overtook them */

/* What a short frame was filled up with is no part of the packet. */
static void fill_up(struct wire_frame *f)
{
	f->len += 6;
}

static void fill_up_to_a_page(struct wire_frame *f)
{
	f->len += 4200;
}

static void put_into_pages(struct wire_frame *f)
{
	fill_up_to_a_page(f);
	f->in_pages = true;
}

TEST_F(direct, frames_of_any_shape_go_direct)
{
	static void (* const shape[])(struct wire_frame *frame) = {
		fill_up, fill_up_to_a_page, put_into_pages,
	};
	size_t i;

	for (i = 0; i < sizeof(shape) / sizeof(shape[0]); i++)
		EXPECT_TRUE(goes_direct_as(self, variant, shape[i])) {
			TH_LOG("shape %zu", i);
		}
}

/* Rules may look at it. */
static void change_type_of_service(struct wire_frame *f)
{
	f->bytes[WIRE_IP + 1] ^= 0x20;
	wire_seal_sums(f);
}

TEST_F(direct, another_type_of_service_asks_again)
{
	int64_t before;

	if (variant->is_v6)
		return;
	ASSERT_TRUE(goes_direct());
	before = counters_get("rx_direct");
	EXPECT_TRUE(arrives_spoiled(self, variant, change_type_of_service));
	EXPECT_TRUE(arrives(self, variant));
	EXPECT_EQ(before, counters_get("rx_direct"));
	EXPECT_TRUE(goes_direct());
}

/* ---- routes ---- */

static int set_rp_filter(int value)
{
	return topo_run("echo %d >/proc/sys/net/ipv4/conf/" WIRE_NETDEV
			"/rp_filter", value);
}

/* IPv6 does not look at where a packet comes from. */
TEST_F(direct, sources_are_validated)
{
	if (variant->is_v6)
		return;
	ASSERT_EQ(0, topo_run("echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter"));
	ASSERT_EQ(0, set_rp_filter(1));
	ASSERT_TRUE(goes_direct());
	ASSERT_EQ(0, topo_ip("route add " WIRE_PEER "/32 dev lo"));
	EXPECT_TRUE(is_stopped());
	ASSERT_EQ(0, set_rp_filter(0));
	EXPECT_TRUE(goes_direct());
	ASSERT_EQ(0, set_rp_filter(1));
	EXPECT_TRUE(is_stopped());
	ASSERT_EQ(0, topo_ip("route del " WIRE_PEER "/32 dev lo"));
	EXPECT_TRUE(goes_direct());
	ASSERT_EQ(0, set_rp_filter(0));
}

/* An address of IPv6 has its route a moment after it is there. */
static bool arrives_soon(data_t *self, const variant_t *variant)
{
	long end = topo_now_ms() + PEER_WAIT_MS;

	while (!arrives(self, variant)) {
		if (topo_now_ms() > end)
			return false;
		usleep(10000);
	}
	return true;
}

TEST_F(direct, an_address_that_goes_ends_it)
{
	const char *bits = variant->is_v6 ? "64 nodad" : "24";

	ASSERT_TRUE(goes_direct());
	ASSERT_EQ(0, topo_run("%s addr del %s/%.2s dev " WIRE_NETDEV,
			      variant->ip, variant->ours, bits));
	ASSERT_EQ(0, verbs_wait_gid(self->peer.set.ctx, variant->ours, false,
				    PEER_WAIT_MS));
	EXPECT_TRUE(is_stopped());
	ASSERT_EQ(0, topo_run("%s addr add %s/%s dev " WIRE_NETDEV,
			      variant->ip, variant->ours, bits));
	ASSERT_EQ(0, verbs_wait_gid(self->peer.set.ctx, variant->ours, true,
				    PEER_WAIT_MS));
	EXPECT_TRUE(arrives_soon(self, variant));
	EXPECT_TRUE(goes_direct());
	/* The neighbour was forgotten with its subnet. */
	topo_run("ip neigh replace %s lladdr 02:00:00:00:77:02 dev "
		 WIRE_NETDEV, variant->theirs);
}

/* ---- what comes later than a packet that went the short way ---- */

/**
 * struct obstacle - what an administrator does, and undoes
 * @name: what to call it
 * @on: command that does it
 * @off: command that undoes it
 * @by_stack: packets go on by the stack; else none arrives any more
 * @family: 4 or 6: only for that; 0: for both
 */
struct obstacle {
	const char *name;
	const char *on;
	const char *off;
	bool by_stack;
	int family;
};

#define CONF4	"/proc/sys/net/ipv4/conf/"
#define DEL6	"ip -6 route del local " TOPO_IPV6 " dev " WIRE_NETDEV \
		" table local"
#define ADD6	"ip -6 route add local " TOPO_IPV6 " dev " WIRE_NETDEV \
		" table local proto kernel"

static const struct obstacle obstacles[] = {
	{
		.name = "blackhole to the source, which is validated",
		.on = "echo 1 >" CONF4 WIRE_NETDEV "/rp_filter; "
		      "ip route add blackhole " WIRE_PEER,
		.off = "ip route del blackhole " WIRE_PEER
		       "; echo 0 >" CONF4 WIRE_NETDEV "/rp_filter",
		.family = 4,
	}, {
		.name = "unreachable source, validated for all interfaces",
		.on = "echo 1 >" CONF4 "all/rp_filter; "
		      "ip route add unreachable " WIRE_PEER,
		.off = "ip route del unreachable " WIRE_PEER
		       "; echo 0 >" CONF4 "all/rp_filter",
		.family = 4,
	}, {
		.name = "the source is an address of this host",
		.on = "ip addr add " WIRE_PEER "/32 dev lo",
		.off = "ip addr del " WIRE_PEER "/32 dev lo",
		.family = 4,
	}, {
		.name = "blackhole before the local route",
		.on = "ip route prepend blackhole " TOPO_IPV4 " table local",
		.off = "ip route del blackhole " TOPO_IPV4 " table local",
		.family = 4,
	}, {
		.name = "no local route any more",
		.on = "ip route del local " TOPO_IPV4 " dev " WIRE_NETDEV
		      " table local",
		.off = "ip route add local " TOPO_IPV4 " dev " WIRE_NETDEV
		       " table local proto kernel scope host src " TOPO_IPV4,
		.family = 4,
	}, {
		.name = "no local route any more",
		.on = DEL6,
		.off = ADD6,
		.family = 6,
	}, {
		.name = "blackhole instead of the local route",
		.on = DEL6 "; ip -6 route add blackhole " TOPO_IPV6
		      " table local",
		.off = "ip -6 route del blackhole " TOPO_IPV6
		       " table local; " ADD6,
		.family = 6,
	}, {
		.name = "blackhole behind the local route, which goes",
		.on = "ip -6 route add blackhole " TOPO_IPV6
		      " table local metric 2000; " DEL6,
		.off = "ip -6 route del blackhole " TOPO_IPV6
		       " table local metric 2000; " ADD6,
		.family = 6,
	}, {
		.name = "filter at ingress, of all families",
		.on = "nft 'table inet srt { chain c { type filter hook "
		      "ingress device " WIRE_NETDEV " priority 0; "
		      "udp dport 4791 drop; }; }'",
		.off = "nft delete table inet srt",
	}, {
		.name = "filter of two families",
		.on = "nft 'table inet srt { chain c { type filter hook "
		      "input priority 0; udp dport 4791 drop; }; }'",
		.off = "nft delete table inet srt",
	}, {
		.name = "filter as late as ours",
		.on = "nft 'table netdev srt { chain c { type filter hook "
		      "ingress device " WIRE_NETDEV " priority 2147483647; "
		      "udp dport 4791 drop; }; }'",
		.off = "nft delete table netdev srt",
	}, {
		.name = "tc",
		.on = "tc qdisc add dev " WIRE_NETDEV " clsact && "
		      "tc filter add dev " WIRE_NETDEV " ingress matchall "
		      "action drop",
		.off = "tc qdisc del dev " WIRE_NETDEV " clsact",
	}, {
		.name = "port of a bridge",
		.on = "ip link add srtbr type bridge && "
		      "ip link set " WIRE_NETDEV " master srtbr",
		.off = "ip link del srtbr",
	}, {
		.name = "an interface on it that sees all",
		.on = "ip link add link " WIRE_NETDEV
		      " name srtmv type macvlan && ip link set srtmv up",
		.off = "ip link del srtmv",
		.by_stack = true,
	}, {
		.name = "down",
		.on = "ip link set " WIRE_NETDEV " down",
		.off = "ip link set " WIRE_NETDEV " up",
	},
};

/* Those of IPv6 go when the interface goes down. */
static int keep_addresses(void)
{
	return topo_run("echo 1 >/proc/sys/net/ipv6/conf/" WIRE_NETDEV
			"/keep_addr_on_down");
}

static bool neighbours(void)
{
	return !topo_run("ip neigh replace " WIRE_PEER
			 " lladdr 02:00:00:00:77:02 dev " WIRE_NETDEV
			 " && ip neigh replace " WIRE_PEER6
			 " lladdr 02:00:00:00:77:02 dev " WIRE_NETDEV);
}

TEST_F(direct, what_comes_later_is_in_the_way)
{
	size_t i;

	ASSERT_EQ(0, topo_run("echo 0 >" CONF4 "all/rp_filter"));
	ASSERT_EQ(0, set_rp_filter(0));
	ASSERT_EQ(0, keep_addresses());
	for (i = 0; i < sizeof(obstacles) / sizeof(obstacles[0]); i++) {
		const struct obstacle *o = &obstacles[i];

		if (o->family && o->family != (variant->is_v6 ? 6 : 4))
			continue;
		ASSERT_TRUE(goes_direct()) {
			TH_LOG("before: %s", o->name);
		}
		ASSERT_EQ(0, topo_run("%s", o->on)) {
			TH_LOG("%s", o->on);
		}
		EXPECT_TRUE(o->by_stack ? goes_by_stack() : is_stopped()) {
			TH_LOG("%s", o->name);
		}
		ASSERT_EQ(0, topo_run("%s", o->off)) {
			TH_LOG("%s", o->off);
		}
		ASSERT_TRUE(neighbours());
		EXPECT_TRUE(arrives_soon(self, variant)) {
			TH_LOG("after: %s", o->name);
		}
	}
	EXPECT_TRUE(goes_direct());
}

/*
 * Its routes are in another table from then on, and its packets another's. Where
 * there is one, IPv6 has rules: those of another test.
 */
TEST_F(direct, a_vrf_is_asked)
{
	int64_t before;

	if (variant->is_v6)
		return;
	ASSERT_TRUE(goes_direct());
	ASSERT_EQ(0, keep_addresses());
	ASSERT_EQ(0, topo_run("ip link add srtvrf type vrf table 77 && "
			      "ip link set srtvrf up"));
	before = counters_get("rx_direct");
	ASSERT_EQ(0, topo_run("ip link set " WIRE_NETDEV " master srtvrf"));
	EXPECT_TRUE(arrives_soon(self, variant));
	EXPECT_TRUE(arrives(self, variant));
	EXPECT_EQ(before, counters_get("rx_direct"));
	ASSERT_EQ(0, topo_run("ip link del srtvrf"));
	ASSERT_TRUE(neighbours());
	EXPECT_TRUE(arrives_soon(self, variant));
	EXPECT_TRUE(goes_direct());
}

/* A socket would not hear either what a policy keeps out. */
TEST_F(direct, policies_of_ipsec_stop_packets)
{
	int64_t before = counters_get("rx_drop_policy");

	if (topo_ip("xfrm policy list"))
		SKIP(return, "no CONFIG_XFRM_USER");
	ASSERT_TRUE(goes_direct());
	ASSERT_EQ(0, topo_ip("xfrm policy add src %s dst %s dir in action block",
			     variant->theirs, variant->ours));
	EXPECT_TRUE(is_stopped());
	EXPECT_EQ(before + 2, counters_get("rx_drop_policy"));
	ASSERT_EQ(0, topo_ip("xfrm policy del src %s dst %s dir in",
			     variant->theirs, variant->ours));
	EXPECT_TRUE(goes_direct());
	ASSERT_EQ(0, topo_ip("xfrm policy setdefault in block"));
	EXPECT_TRUE(is_stopped());
	ASSERT_EQ(0, topo_ip("xfrm policy setdefault in accept"));
	EXPECT_TRUE(goes_direct());
}

static int tracked(void)
{
	FILE *file = fopen("/proc/sys/net/netfilter/nf_conntrack_count", "r");
	int count = -1;

	if (file && fscanf(file, "%d", &count) != 1)
		count = -1;
	if (file)
		fclose(file);
	return count;
}

/* Its hook has our priority, and is behind ours then. */
TEST_F(direct, tracking_that_was_there_first_knows_packets)
{
	struct peer_attr attr = PEER_ATTR_DEFAULT;
	int before;

	if (add_filter(variant->family, "input", "ct state new counter"))
		SKIP(return, "no CONFIG_NFT_CT");
	ASSERT_EQ(0, peer_close(&self->peer));
	ASSERT_EQ(0, nldev_link_del(TOPO_LINK));
	ASSERT_EQ(0, topo_link_add(TOPO_LINK, WIRE_NETDEV));
	ASSERT_EQ(0, peer_open(&self->peer, &attr));
	if (variant->is_v6)
		ASSERT_EQ(0, peer_reconnect_v6(&self->peer));
	before = tracked();
	ASSERT_LE(0, before);
	EXPECT_TRUE(goes_by_stack());
	EXPECT_LT(before, tracked());
	ASSERT_EQ(0, del_filter(variant->family));
}

/* Ours comes before that of the local addresses. */
static const char * const rules[] = {
	"add priority 7 lookup local",
	"del priority 0",
	"add priority 6 sport 49443 blackhole",	/* the peer's */
	"del priority 6",
	"add priority 0 lookup local",
	"del priority 7",
};

/* The last one: a namespace never forgets that it had rules. */
TEST_F(direct, rules_stop_packets)
{
	size_t i;

	ASSERT_TRUE(goes_direct());
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		ASSERT_EQ(0, topo_run("%s rule %s", variant->ip, rules[i]));
		EXPECT_TRUE(i == 2 ? is_stopped() :
			    variant->is_v6 ? goes_by_stack() : goes_direct());
	}
}

TEST_HARNESS_MAIN
