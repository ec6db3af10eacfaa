// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Paths: whether the peer is on this device, and if not, the route and headers
 * to reach it, and how long a train may be.
 */
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/neighbour.h>

#include "objects/device.h"
#include "proto/burst.h"
#include "proto/psn.h"
#include "wire/addresses.h"
#include "wire/netns.h"
#include "wire/path.h"
#include "wire/route.h"
#include "wire/tap.h"

/* Where the length of an IP packet ends to fit its field. */
#define IP_MAX_LEN	0xffffU

/*
 * A NIC that would cut IPv4 trains itself: whether it counts the IPv4
 * identification up, which is under the ICRC, is known of none in particular.
 * What has no device under it is software, and the stack cuts for it; so it is
 * with virtio, whose other end is a stack again.
 */
static int cuts_in_hardware(struct net_device *ndev,
			    struct netdev_nested_priv *priv)
{
	const struct device *parent = ndev->dev.parent;

	if (!parent || !(ndev->features & NETIF_F_GSO_UDP_L4))
		return 0;
	return !parent->bus || strcmp(parent->bus->name, "virtio");
}

static u16 train_max(const struct srdma_path *path)
{
	struct net_device *ndev = path->dst->dev;
	struct netdev_nested_priv priv = {};

	/* Transformations see one packet at a time. */
	if (dst_xfrm(path->dst))
		return 1;
	if (!path->av.is_v6 &&
	    (cuts_in_hardware(ndev, &priv) ||
	     netdev_walk_all_lower_dev_rcu(ndev, cuts_in_hardware, &priv)))
		return 1;
	return clamp_t(u32, READ_ONCE(ndev->gso_max_segs), 1,
		       UDP_MAX_SEGMENTS);
}

/* The stack cuts an skb when it is as long as gso_max_size, or longer. */
static u16 train_bytes(const struct srdma_path *path)
{
	struct net_device *ndev = path->dst->dev;
	u32 most = READ_ONCE(ndev->gso_max_size);

	most -= min_t(u32, most, ndev->hard_header_len + 1);
	return min(most, IP_MAX_LEN) - min_t(u32, most, path->hdr_len);
}

static void fill_udp(struct udphdr *uh, const struct srdma_av *av)
{
	*uh = (struct udphdr){
		.source = htons(av->udp_sport),
		.dest = htons(SRDMA_UDP_PORT),
	};
}

/* A hop limit of 0 leaves it to the host. */
static void fill_v4(struct srdma_path *path)
{
	const struct srdma_av *av = &path->av;
	struct iphdr *iph = (struct iphdr *)path->hdr;
	struct udphdr *uh = (struct udphdr *)(iph + 1);

	*iph = (struct iphdr){
		.version = 4,
		.ihl = sizeof(*iph) / 4,
		.tos = av->traffic_class,
		.frag_off = htons(IP_DF),
		.ttl = av->hop_limit,
		.protocol = IPPROTO_UDP,
		.saddr = av->src.s6_addr32[3],
		.daddr = av->dst.s6_addr32[3],
	};
	if (!iph->ttl)
		iph->ttl = av->is_multicast ? 1 : ip4_dst_hoplimit(path->dst);
	fill_udp(uh, av);
	srdma_icrc_flow_v4(&path->icrc, iph, uh);
	path->pseudo = csum_unfold((__force __sum16)
				   ~csum_tcpudp_magic(iph->saddr, iph->daddr, 0,
						      IPPROTO_UDP, 0));
	path->hdr_len = SRDMA_PATH_HDR_V4;
}

static void fill_v6(struct srdma_path *path)
{
	const struct srdma_av *av = &path->av;
	struct ipv6hdr *ip6h = (struct ipv6hdr *)path->hdr;
	struct udphdr *uh = (struct udphdr *)(ip6h + 1);

	*ip6h = (struct ipv6hdr){
		.nexthdr = IPPROTO_UDP,
		.hop_limit = av->hop_limit,
		.saddr = av->src,
		.daddr = av->dst,
	};
	ip6_flow_hdr(ip6h, av->traffic_class, htonl(av->flow_label));
	if (!ip6h->hop_limit)
		ip6h->hop_limit = av->is_multicast ? IPV6_DEFAULT_MCASTHOPS :
						     ip6_dst_hoplimit(path->dst);
	fill_udp(uh, av);
	srdma_icrc_flow_v6(&path->icrc, ip6h, uh);
	path->pseudo = csum_unfold((__force __sum16)
				   ~csum_ipv6_magic(&av->src, &av->dst, 0,
						    IPPROTO_UDP, 0));
	path->hdr_len = SRDMA_PATH_HDR_MAX;
}

static u32 flow_hash(const struct srdma_av *av)
{
	u32 hash = jhash2((__force const u32 *)av->src.s6_addr32, 4,
			  av->udp_sport);

	return jhash2((__force const u32 *)av->dst.s6_addr32, 4, hash);
}

static void fill_flow(struct srdma_path *path)
{
	if (path->av.is_v6)
		fill_v6(path);
	else
		fill_v4(path);
	/* Their sums were of other headers. */
	memset(path->kinds, 0, sizeof(path->kinds));
	path->hash = flow_hash(&path->av);
}

/* What follows from the address and the route. */
void srdma_path_fill(struct srdma_path *path)
{
	const struct srdma_av *av = &path->av;

	fill_flow(path);
	path->priority = rt_tos2priority(av->traffic_class);
	path->train_bytes = train_bytes(path);
	path->train_max = train_max(path);
	path->train_now = path->train_max;
}

static int find_route(struct srdma_path *path, struct net *net)
{
	const struct srdma_av *av = &path->av;
	struct dst_entry *dst;

	dst = srdma_route_find(net, av);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	path->dst = dst;
	path->cookie = av->is_v6 ? rt6_get_cookie((struct rt6_info *)dst) : 0;
	srdma_path_fill(path);
	return 0;
}

static bool leads_here(struct srdma_dev *dev, const struct srdma_av *av)
{
	const union ib_gid *gid = (const union ib_gid *)&av->dst;

	return !av->is_multicast &&
	       srdma_addresses_find(dev->net, gid, av->ifindex) == dev;
}

/*
 * Addresses change seldom, and captures are rare: in both cases the path is looked
 * up again. An address that leaves the device removes no route.
 */
static noinline int look_again(struct srdma_path *path, struct srdma_dev *dev,
			       u32 generation)
{
	if (path->generation != generation) {
		if (!leads_here(dev, &path->av))
			return -ENOENT;
		path->generation = generation;
	}
	return srdma_tap_listens(dev);
}

/* One test for both, as this is asked in each run. */
static int still_leads_here(struct srdma_path *path, struct srdma_dev *dev)
{
	u32 generation = srdma_netns_generation(dev->net);
	unsigned long differs = path->generation ^ generation;

	differs |= srdma_netns_has_packet_sockets(dev->net);
	return unlikely(differs) ? look_again(path, dev, generation) : 0;
}

/* As srdma_path_find(); negative when it is not good any more. */
static int still_good(struct srdma_path *path, struct srdma_dev *dev)
{
	if (path->is_local)
		return still_leads_here(path, dev);
	return dst_check(path->dst, path->cookie) ? 0 : -ENOENT;
}

/* For each burst; without the call that memcmp() is for structures. */
static bool is_same_av(const struct srdma_av *a, const struct srdma_av *b)
{
	const u64 *x = (const u64 *)a, *y = (const u64 *)b;
	u64 differs = 0;
	int i;

	BUILD_BUG_ON(sizeof(*a) % sizeof(u64));
	for (i = 0; i < sizeof(*a) / sizeof(u64); i++)
		differs |= x[i] ^ y[i];
	return !differs;
}

/*
 * Does a path lead where @av does, too? Datagrams of one QP to one peer may be
 * of many flows: that is what each connection is to the connection manager.
 */
static bool serves_flow(const struct srdma_path *path, struct net *net,
			const struct srdma_av *av)
{
	struct srdma_av other = *av;

	other.udp_sport = path->av.udp_sport;
	other.flow_label = path->av.flow_label;
	if (!is_same_av(&path->av, &other))
		return false;
	return path->is_local || !srdma_route_asks_flow(net, av);
}

/* Is it the address that the path was last found for? */
bool srdma_path_is_to(const struct srdma_path *path, const struct srdma_av *av)
{
	return is_same_av(&path->av, av);
}

/**
 * srdma_path_init - a path that leads nowhere yet
 * @path: zeroed
 */
void srdma_path_init(struct srdma_path *path)
{
	path->id = get_random_u32();
}

static int find_anew(struct srdma_path *path, struct srdma_dev *dev,
		     const struct srdma_av *av)
{
	int err = 0;

	srdma_path_drop(path);
	path->av = *av;
	path->generation = srdma_netns_generation(dev->net);
	path->is_local = leads_here(dev, av);
	if (!path->is_local)
		err = find_route(path, dev->net->net);
	if (err)
		return err;
	path->checked = true;
	return path->is_local && srdma_tap_listens(dev);
}

/**
 * srdma_path_find - see that a path leads where it should
 * @path: path; filled anew when it was for another address, or has changed
 * @dev: device that sends
 * @av: the address
 *
 * The caller is in an RCU section.
 *
 * Return: 0; 1 when packets on it are looped and captured; or an error when there
 * is no way.
 */
int srdma_path_find(struct srdma_path *path, struct srdma_dev *dev,
		    const struct srdma_av *av)
{
	struct net *net = dev->net->net;
	int way;

	if (path->checked && is_same_av(&path->av, av)) {
		way = still_good(path, dev);
		if (way >= 0)
			return way;
	} else if (path->checked && serves_flow(path, net, av)) {
		way = still_good(path, dev);
		if (way >= 0) {
			path->av = *av;
			if (!path->is_local)
				fill_flow(path);
			return way;
		}
	}
	return find_anew(path, dev, av);
}

/**
 * srdma_path_to_peer - srdma_path_find() for a connected QP
 * @path: path that was for no other address: it is dropped when that changes
 * @dev: device that sends
 * @av: the address of the peer
 */
int srdma_path_to_peer(struct srdma_path *path, struct srdma_dev *dev,
		       const struct srdma_av *av)
{
	int way = path->checked ? still_good(path, dev) : -ENOENT;

	return way < 0 ? find_anew(path, dev, av) : way;
}

/* Releases the route, if there is one. */
void srdma_path_drop(struct srdma_path *path)
{
	dst_release(path->dst);
	path->dst = NULL;
	path->checked = false;
	path->is_heard = false;
	path->confirms = false;
}

/**
 * srdma_path_heard - say what the peer has heard of what went this way
 * @path: path with a route
 * @psn: it has heard more when this is another one
 * @after: and has it only that long after the last time, jiffies
 *
 * Then the next hop is there, and the host need not ask for its link address again:
 * where it is crowded, the question would get lost. TCP tells it the same.
 */
void srdma_path_heard(struct srdma_path *path, u32 psn, u32 after)
{
	u32 now = jiffies;

	if (path->is_heard &&
	    (psn == path->heard || now - path->heard_at < after))
		return;
	path->confirms = path->is_heard;
	path->is_heard = true;
	path->heard = psn;
	path->heard_at = now;
}

/*
 * Something on the way may drop trains and nothing else, each time: a policer
 * with a small burst, or a NIC that cuts wrongly far behind a bridge. That is
 * so when the sender goes back to where it went back before, or, having probed
 * with a single packet, behind that. Then trains get a quarter as long, down to
 * single packets, and what goes through lets them grow again. A loss by chance
 * does not: shorter trains are more of them, and more of those are lost.
 */
static void adapt_path(struct srdma_path *path, const struct srdma_burst *burst,
		       u32 most)
{
	u32 now = path->train_now;

	/* Their PSNs are the peer's. */
	if (burst->first == SRDMA_RC_ACK)
		return;
	if (!burst->resend) {
		path->train_sent += burst->count;
		if (path->train_sent >= now) {
			path->train_sent = 0;
			now = min_t(u32, now + now / 8 + 1, path->train_max);
		}
	} else if (burst->psn != path->next_psn) {
		if (srdma_psn_dist(path->back_psn, burst->psn) <= 1)
			now = max(min(now, most) / 4, 1U);
		path->back_psn = burst->psn;
	}
	path->train_now = now;
	path->next_psn = srdma_burst_psn(burst, burst->count);
}

/* Does the host know the link address of the next hop, or need none? */
static bool knows_neighbour(const struct srdma_path *path)
{
	const struct in6_addr *to = &path->av.dst;
	struct neighbour *neigh;
	bool knows;

	neigh = dst_neigh_lookup(path->dst, path->av.is_v6 ?
					    (const void *)to :
					    &to->s6_addr32[3]);
	if (!neigh)
		return false;
	knows = READ_ONCE(neigh->nud_state) & NUD_VALID;
	neigh_release(neigh);
	return knows;
}

/*
 * Would the stack cut a train up before the interface? That costs more than to
 * build its packets apart. And cutting frees the head of the train, whose destructor
 * tells when the packets have left (wire/inflight.c).
 *
 * What waits for a neighbour to answer waits in a queue that holds little
 * (unres_qlen_bytes, of truesize). Trains waste less of it.
 */
static bool is_cut_up(const struct srdma_path *path)
{
	return !(path->dst->dev->features & NETIF_F_GSO_UDP_L4) &&
	       knows_neighbour(path);
}

/**
 * srdma_path_train - how many packets of a burst go into one skb
 * @path: path with a route
 * @burst: the burst
 * @packet_len: bytes behind the UDP header of its first packet
 */
u32 srdma_path_train(struct srdma_path *path, const struct srdma_burst *burst,
		     u32 packet_len)
{
	u32 most = max(path->train_bytes / packet_len, 1U);

	/* The administrator may change that at any time. */
	if (is_cut_up(path))
		return 1;
	adapt_path(path, burst, most);
	return min_t(u32, most, path->train_now);
}
