// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Merging: packets of a flow that an interface receives together become one skb,
 * as a list, which one run of an engine takes. Each keeps its headers, and its
 * ICRC, which is still to be verified.
 *
 * The stack merges datagrams too, for sockets that ask for it. But it marks them
 * like what a stack on this host has built, whose ICRCs nobody verifies; and it
 * would merge what is on its way to somebody else.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/gro.h>
#include <net/sock.h>
#include <net/xfrm.h>

#include "objects/device.h"
#include "proto/opcode.h"
#include "proto/packet.h"
#include "wire/addresses.h"
#include "wire/merge.h"

/* Packets in one skb: as many as the stack merges. */
#define MERGE_MOST	64

/* Where the length of an IP packet ends to fit its field. */
#define MERGE_BYTES	0xffffU

#define V4_HEADERS	(sizeof(struct iphdr) + sizeof(struct udphdr))
#define V6_HEADERS	(sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/**
 * struct arrival - a packet that may be merged
 * @skb: packet; its IP header is the first there is
 * @ip: that header
 * @bth: behind IP and UDP
 * @is_v6: IPv6
 */
struct arrival {
	struct sk_buff *skb;
	const void *ip;
	const struct srdma_wire_bth *bth;
	bool is_v6;
};

/* The one that a packet would join: with the same addresses and ports. */
static struct sk_buff *find_held(struct list_head *head)
{
	struct sk_buff *held;

	list_for_each_entry(held, head, list)
		if (NAPI_GRO_CB(held)->same_flow)
			return held;
	return NULL;
}

/* Headers as of a packet that has no options and is not filled up. */
static bool look_at_v4(const struct arrival *a, union ib_gid *dst)
{
	const struct iphdr *ip = a->ip;

	ipv6_addr_set_v4mapped(ip->daddr, (struct in6_addr *)dst->raw);
	return ip->ihl == 5 && ip->protocol == IPPROTO_UDP &&
	       ntohs(ip->tot_len) == a->skb->len;
}

static bool look_at_v6(const struct arrival *a, union ib_gid *dst)
{
	const struct ipv6hdr *ip = a->ip;

	memcpy(dst->raw, &ip->daddr, sizeof(dst->raw));
	return ip->version == 6 && ip->nexthdr == IPPROTO_UDP &&
	       ntohs(ip->payload_len) + sizeof(*ip) == a->skb->len;
}

/* Does UDP say the same of its length? Alone it would be dropped otherwise. */
static bool udp_is_right(const struct arrival *a)
{
	const struct udphdr *udp = (void *)a->bth - sizeof(*udp);

	return udp->dest == htons(ROCE_V2_UDP_DPORT) &&
	       ntohs(udp->len) == skb_gro_len(a->skb) + sizeof(*udp);
}

/*
 * Is it whole, and for a device of this namespace? That is known of one for the
 * same address as @held. What is forwarded keeps its shape: whoever would cut it
 * up again knows nothing of ICRCs. Nothing but IP is around it, where it begins
 * with IP and UDP; and what IPsec has brought is let in by itself.
 */
static bool look_at(struct arrival *a, struct sock *sk,
		    const struct sk_buff *held)
{
	struct srdma_netns *net = rcu_dereference_sk_user_data(sk);
	unsigned int off = skb_gro_offset(a->skb);
	union ib_gid dst;

	a->is_v6 = sk->sk_family == AF_INET6;
	/* There is none any more when the port is being closed. */
	if (!net || NAPI_GRO_CB(a->skb)->flush || secpath_exists(a->skb) ||
	    skb_pfmemalloc(a->skb) ||
	    off != (a->is_v6 ? V6_HEADERS : V4_HEADERS))
		return false;
	a->ip = skb_gro_header(a->skb, off + SRDMA_BTH_LEN, 0);
	if (!a->ip)
		return false;
	a->bth = a->ip + off;
	return udp_is_right(a) &&
	       (a->is_v6 ? look_at_v6(a, &dst) : look_at_v4(a, &dst)) &&
	       (held ||
		srdma_addresses_find(net, &dst, a->skb->dev->ifindex));
}

/*
 * What the receiver takes from the first header only. Of identifications it knows
 * two kinds: those that count up, and those that do not.
 */
static bool is_alike_v4(const struct iphdr *first, const struct iphdr *ip,
			u16 index)
{
	u16 step = ntohs(ip->id) - ntohs(first->id);

	return first->tos == ip->tos && first->ttl == ip->ttl &&
	       first->frag_off == ip->frag_off && (step == index || !step);
}

static bool is_alike_v6(const struct ipv6hdr *first, const struct ipv6hdr *ip)
{
	return *(const __be32 *)first == *(const __be32 *)ip &&
	       first->hop_limit == ip->hop_limit;
}

static bool is_response(const struct srdma_wire_bth *bth)
{
	return srdma_opcode_is_response(srdma_opcode_get(bth->opcode));
}

/* What waits, or finds no room, does so with all that is in the same skb. */
static bool is_for_same_engine(const struct srdma_wire_bth *first,
			       const struct srdma_wire_bth *bth)
{
	return !((first->qpn ^ bth->qpn) & cpu_to_be32(SRDMA_QPN_MASK)) &&
	       is_response(first) == is_response(bth);
}

/* Has the same stack vouched for both, by leaving their checksums to others? */
static bool is_as_trusted(const struct sk_buff *held, const struct sk_buff *skb)
{
	if (held->ip_summed != CHECKSUM_PARTIAL)
		return skb->ip_summed != CHECKSUM_PARTIAL;
	return skb->ip_summed == CHECKSUM_PARTIAL &&
	       skb->csum_offset == held->csum_offset &&
	       skb_checksum_start_offset(skb) == skb_checksum_start_offset(held);
}

/* May a packet be put behind those that are held? */
static bool continues(const struct arrival *a, const struct sk_buff *held)
{
	unsigned int off = skb_gro_offset(a->skb);
	u32 len = skb_gro_len(a->skb);
	const struct srdma_wire_bth *bth;
	struct srdma_wire_bth buf;

	bth = skb_header_pointer(held, off, sizeof(buf), &buf);
	if (!bth || !is_for_same_engine(bth, a->bth))
		return false;
	/* All but the last are equally long; and nobody else has begun it. */
	if (!NAPI_GRO_CB(held)->is_flist || len > skb_shinfo(held)->gso_size ||
	    held->len + len > MERGE_BYTES || !is_as_trusted(held, a->skb))
		return false;
	return a->is_v6 ? is_alike_v6((void *)held->data, a->ip) :
			  is_alike_v4((void *)held->data, a->ip,
				      NAPI_GRO_CB(held)->count);
}

/* Puts a packet behind those that are held; false when there is no memory. */
static bool join(struct sk_buff *held, struct sk_buff *skb)
{
	if (!pskb_may_pull(skb, skb_gro_offset(skb)))
		return false;
	/*
	 * Who is to hear that they have arrived hears it now: they have. A socket
	 * gets back what an skb says that it takes, which is about to be more.
	 */
	skb_orphan(held);
	skb_orphan(skb);
	skb_reset_network_header(skb);
	skb_pull(skb, skb_gro_offset(skb));

	if (NAPI_GRO_CB(held)->last == held)
		skb_shinfo(held)->frag_list = skb;
	else
		NAPI_GRO_CB(held)->last->next = skb;
	NAPI_GRO_CB(held)->last = skb;
	NAPI_GRO_CB(held)->count++;
	held->data_len += skb->len;
	held->truesize += skb->truesize;
	held->len += skb->len;
	skb_shinfo(held)->flags |= skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG;
	/* UDP has verified what checksums they have; a sum of all there is not. */
	if (held->ip_summed == CHECKSUM_COMPLETE)
		held->ip_summed = CHECKSUM_NONE;
	NAPI_GRO_CB(skb)->same_flow = 1;
	return true;
}

/**
 * srdma_merge_receive - an interface has received a packet for the port
 * @sk: the socket that owns the port
 * @head: packets that are held
 * @skb: packet; UDP has looked at its header and its checksum
 *
 * UDP completes a list of datagrams that are in no tunnel, and leaves their
 * headers as they are.
 *
 * Return: the one of those held that is complete, or NULL.
 */
struct sk_buff *srdma_merge_receive(struct sock *sk, struct list_head *head,
				    struct sk_buff *skb)
{
	struct sk_buff *held = find_held(head);
	struct arrival a = { .skb = skb };
	u32 len;

	if (!look_at(&a, sk, held)) {
		NAPI_GRO_CB(skb)->flush = 1;
		return held;
	}
	NAPI_GRO_CB(skb)->encap_mark = 0;
	NAPI_GRO_CB(skb)->is_flist = 1;
	if (!held)
		return NULL;
	len = skb_gro_len(skb);
	if (!continues(&a, held) || !join(held, skb))
		return held;
	return len < skb_shinfo(held)->gso_size ||
	       NAPI_GRO_CB(held)->count >= MERGE_MOST ? held : NULL;
}
