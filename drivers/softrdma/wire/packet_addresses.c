// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Where a received packet came from and where it went to, as its network header says,
 * or that of a looped one would; and what the receiver of a datagram is told of it.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "objects/device.h"
#include "proto/ud.h"
#include "wire/addresses.h"
#include "wire/loop.h"
#include "wire/packet_in.h"

static bool is_v6(const struct sk_buff *skb)
{
	return srdma_packet_in_is_loop(skb) ? srdma_loop_of(skb)->av.is_v6 :
					      srdma_packet_in(skb)->is_v6;
}

bool srdma_packet_in_is_multicast(const struct sk_buff *skb)
{
	if (srdma_packet_in_is_loop(skb))
		return false;
	if (is_v6(skb))
		return ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr);
	return ipv4_is_multicast(ip_hdr(skb)->daddr);
}

/**
 * srdma_packet_in_addresses - where it came from and where it went to
 * @skb: what arrived
 * @src: the peer; IPv4 mapped into IPv6
 * @dst: our address or a group, likewise
 */
void srdma_packet_in_addresses(const struct sk_buff *skb, struct in6_addr *src,
			       struct in6_addr *dst)
{
	if (srdma_packet_in_is_loop(skb)) {
		*src = srdma_loop_of(skb)->av.src;
		*dst = srdma_loop_of(skb)->av.dst;
	} else if (is_v6(skb)) {
		*src = ipv6_hdr(skb)->saddr;
		*dst = ipv6_hdr(skb)->daddr;
	} else {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, src);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, dst);
	}
}

/**
 * srdma_packet_in_len - how long a packet is, or would be on the wire
 * @skb: what arrived; the packet last returned is meant
 *
 * Return: bytes behind its UDP header.
 */
u32 srdma_packet_in_len(const struct sk_buff *skb)
{
	const struct srdma_packet_in *in = srdma_packet_in(skb);
	const struct srdma_burst *burst;
	u32 i = in->index - 1;
	u8 hdr_len;

	if (!srdma_packet_in_is_loop(skb))
		return srdma_packet_in_wire_len(skb, in->next - in->seg);
	burst = &srdma_loop_of(skb)->burst;
	hdr_len = srdma_opcode_get(srdma_burst_opcode(burst, i))->hdr_len;
	return srdma_pkt_wire_len(hdr_len, srdma_burst_payload(burst, i));
}

static void header_v4(const struct sk_buff *skb, struct iphdr *ip)
{
	const struct srdma_loop *loop = srdma_loop_of(skb);

	if (srdma_packet_in_is_loop(skb))
		*ip = (struct iphdr) {
			.version = 4,
			.ihl = 5,
			.tos = loop->av.traffic_class,
			.frag_off = htons(IP_DF),
			.ttl = srdma_loop_hop_limit(loop),
			.protocol = IPPROTO_UDP,
			.saddr = loop->av.src.s6_addr32[3],
			.daddr = loop->av.dst.s6_addr32[3],
		};
	else
		*ip = *ip_hdr(skb);
	/* Of a train there is one header, which speaks of the whole. */
	ip->tot_len = htons(sizeof(*ip) + sizeof(struct udphdr) +
			    srdma_packet_in_len(skb));
	if (!srdma_packet_in(skb)->same_id)
		ip->id = htons(ntohs(ip->id) + srdma_packet_in(skb)->index - 1);
	/* The core tells the families apart by the checksum being right. */
	ip->check = 0;
	ip->check = ip_fast_csum(ip, sizeof(*ip) / 4);
}

static void header_v6(const struct sk_buff *skb, struct ipv6hdr *ip)
{
	const struct srdma_loop *loop = srdma_loop_of(skb);

	if (srdma_packet_in_is_loop(skb)) {
		ip6_flow_hdr(ip, loop->av.traffic_class, htonl(loop->av.flow_label));
		ip->nexthdr = IPPROTO_UDP;
		ip->hop_limit = srdma_loop_hop_limit(loop);
		ip->saddr = loop->av.src;
		ip->daddr = loop->av.dst;
	} else {
		*ip = *ipv6_hdr(skb);
	}
	ip->payload_len = htons(sizeof(struct udphdr) + srdma_packet_in_len(skb));
}

/**
 * srdma_packet_in_grh - what a datagram's receiver finds before the message
 * @skb: what arrived; the packet last returned is meant
 * @grh: filled
 */
void srdma_packet_in_grh(const struct sk_buff *skb, u8 grh[SRDMA_GRH_LEN])
{
	struct ipv6hdr ip6;
	struct iphdr ip;

	if (is_v6(skb)) {
		header_v6(skb, &ip6);
		srdma_ud_grh_v6(grh, &ip6);
	} else {
		header_v4(skb, &ip);
		srdma_ud_grh_v4(grh, &ip);
	}
}

/* Not inlined: it is for kernel consumers, few of which take many datagrams. */
static noinline void fill_vlan(const struct sk_buff *skb, struct ib_wc *wc)
{
	struct srdma_dev *dev = srdma_packet_in(skb)->dev;
	struct in6_addr src, dst;
	u16 vlan;

	srdma_packet_in_addresses(skb, &src, &dst);
	vlan = srdma_addresses_vlan(dev, (const union ib_gid *)&dst);
	if (vlan != SRDMA_NO_VLAN) {
		wc->wc_flags |= IB_WC_WITH_VLAN;
		wc->vlan_id = vlan;
	}
}

/**
 * srdma_packet_in_fill_wc - what a datagram's completion says of its addresses
 * @skb: what arrived
 * @wc: flags are added, and the kind of header
 * @wants_vlan: and the VLAN, for which completions of user space have no place
 *
 * The connection manager finds our GID by these when it answers.
 */
void srdma_packet_in_fill_wc(const struct sk_buff *skb, struct ib_wc *wc,
			     bool wants_vlan)
{
	wc->wc_flags |= IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
	wc->network_hdr_type = is_v6(skb) ? RDMA_NETWORK_IPV6 :
					    RDMA_NETWORK_IPV4;
	if (wants_vlan)
		fill_vlan(skb, wc);
}
