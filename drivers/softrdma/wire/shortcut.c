// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The short way in. A packet for a connected QP is taken as it leaves the
 * interface's own layer, if the IP stack would only bring it to wire/hook.c.
 * That is so if no filter and no packet socket would see it, and if the stack
 * has let in an earlier packet with the same addresses, by routes that have not
 * changed. Everything else goes to the stack.
 *
 * The result of routing depends on more than the addresses. A *pass* is a
 * number that changes with these things. The QP knows the addresses, and keeps
 * the pass of the last packet that the stack has let in. Sockets keep their
 * routes in the same way (early demultiplexing).
 */
#include <linux/inetdevice.h>
#include <linux/netfilter_netdev.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/inet_ecn.h>
#include <net/ip_fib.h>
#include <net/ip6_fib.h>
#include <net/route.h>
#include <net/xfrm.h>

#include "objects/device.h"
#include "objects/qp.h"
#include "wire/arrived.h"
#include "wire/hook.h"
#include "wire/netns.h"
#include "wire/route.h"
#include "wire/shortcut.h"

/* In each pass: so none is 0. */
#define PASS_VALID	BIT(7)

/* How long all packets of a QP go by the stack after one that had to. */
#define DETOUR		(HZ / 10)

/* Both generations only grow: while their sum is the same, both are. */
static u64 make_pass(u32 routes, u32 addresses)
{
	return (u64)(routes + addresses) << 32 | PASS_VALID;
}

/*
 * IPv4 validates sources as the sysctl rp_filter has it, of which all but 0
 * and 1 are the same; rules may look at the type of service and at ports.
 */
static u64 make_pass_v4(const struct net_device *ndev, u32 routes,
			u32 addresses, const struct iphdr *ip)
{
	const struct udphdr *udp = (const struct udphdr *)(ip + 1);
	struct in_device *in_dev = __in_dev_get_rcu(ndev);

	if (!in_dev)
		return 0;
	return make_pass(routes, addresses) | (u32)ntohs(udp->source) << 16 |
	       (ip->tos & ~INET_ECN_MASK) << 8 |
	       min_t(u32, IN_DEV_RPFILTER(in_dev), 2);
}

/* Would a packet meet no hook but that of wire/hook.c? */
static bool meets_only_us(struct nf_hook_entries __rcu * const *hooks)
{
	const struct nf_hook_entries *in;

	in = rcu_dereference(hooks[NF_INET_LOCAL_IN]);
	return in && in->num_hook_entries == 1 &&
	       !rcu_access_pointer(hooks[NF_INET_PRE_ROUTING]);
}

/*
 * What the stack has let in as it was, and by our interface, not by way of
 * another one (a VLAN, a VRF). Of what IPsec brings no source is validated.
 * Packet sockets have the others go by the stack, too.
 */
static bool is_common(const struct srdma_dev *dev, const struct sk_buff *skb)
{
	return skb->skb_iif == dev->ndev->ifindex && !skb->mark &&
	       !secpath_exists(skb) &&
	       !srdma_netns_has_packet_sockets(dev->net);
}

/**
 * srdma_shortcut_pass_v4 - what the stack has let a packet in by
 * @dev: device that it is for
 * @skb: packet in the last hook of the stack, headers in one piece
 * @generation: of the addresses that @dev was found by
 *
 * Return: the pass; 0 if other packets with its addresses may fare otherwise.
 */
u64 srdma_shortcut_pass_v4(const struct srdma_dev *dev,
			   const struct sk_buff *skb, u32 generation)
{
	struct net *net = dev->net->net;

	/* Realms are accounted for. The rest of fragments is short and quick. */
	if (!is_common(dev, skb) || !meets_only_us(net->nf.hooks_ipv4) ||
	    IPCB(skb)->frag_max_size ||
	    fib_num_tclassid_users(net) || !skb_dst(skb) ||
	    skb_headlen(skb) < sizeof(struct iphdr) + sizeof(struct udphdr))
		return 0;
	return make_pass_v4(dev->ndev, skb_rtable(skb)->rt_genid, generation,
			    ip_hdr(skb));
}

/*
 * The same for IPv6, where rules may look at more than a pass has room for. A route
 * does not say of which generation it is, so this one may be newer: see
 * holds_still().
 */
u64 srdma_shortcut_pass_v6(const struct srdma_dev *dev,
			   const struct sk_buff *skb, u32 generation)
{
	struct net *net = dev->net->net;

	if (!is_common(dev, skb) || !meets_only_us(net->nf.hooks_ipv6) ||
	    fib6_has_custom_rules(net))
		return 0;
	return make_pass(rt_genid_ipv6(net), generation);
}

/* QPs that never have one share no line that is written. */
static void take_away(struct srdma_qp *qp)
{
	if (READ_ONCE(qp->pass))
		WRITE_ONCE(qp->pass, 0);
}

/*
 * Does a packet that the stack has let in have a pass that is right? IPv4 takes the
 * generation of its route. For IPv6 it is as of now, and routes may have changed since
 * the stack asked for one: they are asked again.
 */
static bool holds_still(const struct srdma_qp *qp, const struct sk_buff *skb)
{
	const struct srdma_dev *dev = qp->dev;

	if (!srdma_packet_in(skb)->is_v6)
		return true;
	/* The generation, which is counted up behind a change, before the routes. */
	smp_rmb();
	return srdma_route_leads_here(dev->net->net, dev->ndev, skb);
}

/**
 * srdma_shortcut_note - the stack has let in a packet for a QP
 * @qp: QP
 * @skb: the packet
 * @pass: by what; 0 if by what others may not share
 *
 * A packet with another pass than the last one takes the pass away for a while,
 * since there may be more like either of them, and none must overtake another.
 */
void srdma_shortcut_note(struct srdma_qp *qp, const struct sk_buff *skb,
			 u64 pass)
{
	u64 old = READ_ONCE(qp->pass);

	if (!srdma_qp_has_peer(qp) || (pass && old == pass))
		return;
	if (!pass || old) {
		take_away(qp);
		WRITE_ONCE(qp->stack_until, jiffies + DETOUR);
		return;
	}
	if (time_before(jiffies, READ_ONCE(qp->stack_until)) ||
	    !holds_still(qp, skb))
		return;
	WRITE_ONCE(qp->pass, pass);
	/* Pairs with srdma_shortcut_forget(): the peer is another one by now. */
	smp_mb();
	if (!srdma_hook_is_from_peer(skb, qp))
		WRITE_ONCE(qp->pass, 0);
}

/* The QP has another peer. */
void srdma_shortcut_forget(struct srdma_qp *qp)
{
	WRITE_ONCE(qp->stack_until, jiffies);
	/* Pairs with srdma_shortcut_note(): it sees the peer, or is undone. */
	smp_mb();
	WRITE_ONCE(qp->pass, 0);
}

/*
 * Would a packet go to IP from here, and nowhere else? One of a VLAN, or from
 * the port of a bridge or the like, goes to another interface first. A packet
 * socket that is bound to IP would see it after this hook. Marks and what a
 * tunnel has hung on it are for the rules of routing.
 */
static bool goes_to_ip(const struct net *net, const struct sk_buff *skb)
{
	return skb->pkt_type == PACKET_HOST && !skb_vlan_tag_present(skb) &&
	       !rcu_access_pointer(skb->dev->rx_handler) && !skb_shared(skb) &&
	       hlist_empty(&net->packet.sklist) && !skb->mark && !skb_dst(skb) &&
	       !srdma_route_has_policy(net, XFRM_POLICY_IN);
}

/*
 * What lies behind the packet fills up a frame that was too short. It is cut
 * off, and headers are put in one piece, as the stack would do: that a frame
 * came in another shape must not let the next one overtake it.
 */
static bool cut_off_filling(struct sk_buff *skb, unsigned int len)
{
	return len <= skb->len && !pskb_trim_rcsum(skb, len);
}

static bool udp_is_roce(const void *udp)
{
	return ((const struct udphdr *)udp)->dest == htons(ROCE_V2_UDP_DPORT);
}

/* A header in which the stack would find nothing wrong. */
static bool is_plain_v4(struct sk_buff *skb)
{
	const unsigned int headers =
		sizeof(struct iphdr) + sizeof(struct udphdr);
	const struct iphdr *ip;

	if (!pskb_may_pull(skb, headers))
		return false;
	ip = ip_hdr(skb);
	return ip->version == 4 && ip->ihl == 5 &&
	       ip->protocol == IPPROTO_UDP && udp_is_roce(ip + 1) &&
	       !ip_is_fragment(ip) && !ip_fast_csum(ip, 5) &&
	       ntohs(ip->tot_len) >= headers &&
	       cut_off_filling(skb, ntohs(ip->tot_len));
}

static bool is_plain_v6(struct sk_buff *skb)
{
	const struct ipv6hdr *ip;

	if (!pskb_may_pull(skb, sizeof(*ip) + sizeof(struct udphdr)))
		return false;
	ip = ipv6_hdr(skb);
	return ip->version == 6 && ip->nexthdr == IPPROTO_UDP &&
	       udp_is_roce(ip + 1) &&
	       ntohs(ip->payload_len) >= sizeof(struct udphdr) &&
	       cut_off_filling(skb, ntohs(ip->payload_len) + sizeof(*ip));
}

/* As the stack counts what comes in. */
static void count_v4(struct net *net, const struct sk_buff *skb)
{
	__IP_UPD_PO_STATS(net, IPSTATS_MIB_IN, skb->len);
	__IP_ADD_STATS(net, IPSTATS_MIB_NOECTPKTS +
			    (ip_hdr(skb)->tos & INET_ECN_MASK),
		       max_t(u16, 1, skb_shinfo(skb)->gso_segs));
}

static void count_v6(struct net *net, const struct sk_buff *skb)
{
	struct inet6_dev *idev = __in6_dev_get(skb->dev);

	__IP6_UPD_PO_STATS(net, idev, IPSTATS_MIB_IN, skb->len);
	__IP6_ADD_STATS(net, idev, IPSTATS_MIB_NOECTPKTS +
			(ipv6_get_dsfield(ipv6_hdr(skb)) & INET_ECN_MASK),
			max_t(u16, 1, skb_shinfo(skb)->gso_segs));
}

/*
 * Between two layers the control block is free for use. Wrong packets are found
 * and counted where the stack has let them in.
 */
static unsigned int take_early(struct srdma_dev *dev, struct sk_buff *skb,
			       bool is_v6, u64 pass)
{
	struct net *net = dev->net->net;
	enum srdma_stat why;
	struct srdma_qp *qp;
	bool response;

	if (!srdma_hook_open(dev, skb, is_v6, &why))
		return NF_ACCEPT;
	qp = srdma_hook_taker(skb, &response, &why);
	if (!qp)
		return NF_ACCEPT;
	if (READ_ONCE(qp->pass) != pass) {
		/* The next ones must not overtake it. */
		take_away(qp);
		return NF_ACCEPT;
	}
	if (is_v6)
		count_v6(net, skb);
	else
		count_v4(net, skb);
	srdma_stat_inc(dev, SRDMA_STAT_RX_DIRECT);
	srdma_hook_give(qp, response, skb);
	return NF_STOLEN;
}

/* Softirq, RCU read side. */
static unsigned int receive_early(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	struct srdma_dev *dev = priv;
	struct net *net = state->net;
	u32 generation;
	u64 pass;

	if (!goes_to_ip(net, skb))
		return NF_ACCEPT;
	generation = srdma_netns_generation(dev->net);
	if (skb->protocol == htons(ETH_P_IP)) {
		if (!meets_only_us(net->nf.hooks_ipv4) || !is_plain_v4(skb))
			return NF_ACCEPT;
		pass = make_pass_v4(skb->dev, rt_genid_ipv4(net), generation,
				    ip_hdr(skb));
		return pass ? take_early(dev, skb, false, pass) : NF_ACCEPT;
	}
	if (skb->protocol == htons(ETH_P_IPV6)) {
		if (!meets_only_us(net->nf.hooks_ipv6) || !is_plain_v6(skb))
			return NF_ACCEPT;
		pass = make_pass(rt_genid_ipv6(net), generation);
		return take_early(dev, skb, true, pass);
	}
	return NF_ACCEPT;
}

/**
 * srdma_shortcut_begin - open the short way of a link
 * @dev: device, in the list of links
 *
 * There is none where the kernel has no such hooks.
 */
void srdma_shortcut_begin(struct srdma_dev *dev)
{
	ASSERT_RTNL();
	dev->shortcut = (struct nf_hook_ops) {
		.hook = receive_early,
		.dev = dev->ndev,
		.priv = dev,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		/* Behind every filter. */
		.priority = INT_MAX,
	};
	dev->has_shortcut = !nf_register_net_hook(dev->net->net, &dev->shortcut);
}

/*
 * Before the interface leaves the namespace, or the device goes. Packets may
 * be in the hook until the next grace period ends.
 */
void srdma_shortcut_end(struct srdma_dev *dev)
{
	ASSERT_RTNL();
	if (dev->has_shortcut)
		nf_unregister_net_hook(dev->net->net, &dev->shortcut);
	dev->has_shortcut = false;
}
