// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Routes: the look-ups in the stack, and what their results depend on.
 */
#include <net/fib_rules.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/route.h>
#include <net/xfrm.h>

#include "compat/compat.h"
#include "objects/ah.h"
#include "proto/wire.h"
#include "wire/route.h"

/* Addresses that mean something on one interface only. */
static bool needs_interface(const struct srdma_av *av)
{
	if (av->is_multicast)
		return true;
	if (!av->is_v6)
		return ipv4_is_linklocal_169(av->dst.s6_addr32[3]);
	return ipv6_addr_type(&av->dst) & IPV6_ADDR_LINKLOCAL;
}

/*
 * Naming the interface otherwise would keep packets from addresses of this
 * host and from better routes; but an interface in a VRF has tables of its own.
 */
static int pick_oif(struct net *net, const struct srdma_av *av)
{
	if (needs_interface(av))
		return av->ifindex;
	return l3mdev_master_ifindex_by_index(net, av->ifindex);
}

static struct dst_entry *route_v4(struct net *net, const struct srdma_av *av)
{
	struct flowi4 fl4 = {
		.flowi4_oif = pick_oif(net, av),
		.flowi4_proto = IPPROTO_UDP,
		.saddr = av->src.s6_addr32[3],
		.daddr = av->dst.s6_addr32[3],
		.fl4_sport = htons(av->udp_sport),
		.fl4_dport = htons(SRDMA_UDP_PORT),
	};
	struct rtable *rt;

	srdma_compat_flow_tos(&fl4, av->traffic_class);
	rt = ip_route_output_flow(net, &fl4, NULL);
	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

static struct dst_entry *route_v6(struct net *net, const struct srdma_av *av)
{
	struct flowi6 fl6 = {
		.flowi6_oif = pick_oif(net, av),
		.flowi6_proto = IPPROTO_UDP,
		.saddr = av->src,
		.daddr = av->dst,
		.fl6_sport = htons(av->udp_sport),
		.fl6_dport = htons(SRDMA_UDP_PORT),
	};

	/* The core makes link-local GIDs also where IPv6 is switched off. */
	if (!ipv6_mod_enabled())
		return ERR_PTR(-EAFNOSUPPORT);
	fl6.flowlabel = ip6_make_flowinfo(av->traffic_class,
					  htonl(av->flow_label));
	return ip6_dst_lookup_flow(net, NULL, &fl6, NULL);
}

/**
 * srdma_route_find - ask the stack for a route
 * @net: namespace
 * @av: where to
 *
 * Return: a route that the caller is to release, or an error.
 */
struct dst_entry *srdma_route_find(struct net *net, const struct srdma_av *av)
{
	return av->is_v6 ? route_v6(net, av) : route_v4(net, av);
}

/**
 * srdma_route_has_policy - is there a policy of IPsec?
 * @net: namespace
 * @dir: XFRM_POLICY_IN or XFRM_POLICY_OUT
 */
bool srdma_route_has_policy(const struct net *net, int dir)
{
#ifdef CONFIG_XFRM
	return READ_ONCE(net->xfrm.policy_count[dir]) ||
	       READ_ONCE(net->xfrm.policy_default[dir]) ==
	       XFRM_USERPOLICY_BLOCK;
#else
	return false;
#endif
}

/* Would one of several ways be chosen by more than addresses? */
static bool multipath_asks(const struct net *net)
{
#ifdef CONFIG_IP_ROUTE_MULTIPATH
	return READ_ONCE(net->ipv4.sysctl_fib_multipath_hash_policy);
#else
	return false;
#endif
}

/* Is there a rule for some ports? The caller is in an RCU section. */
static bool rules_ask(const struct net *net)
{
#ifdef CONFIG_IP_MULTIPLE_TABLES
	struct fib_rule *rule;

	if (!READ_ONCE(net->ipv4.fib_has_custom_rules))
		return false;
	list_for_each_entry_rcu(rule, &net->ipv4.rules_ops->rules_list, list)
		if (fib_rule_port_range_set(&rule->sport_range))
			return true;
#endif
	return false;
}

/**
 * srdma_route_asks_flow - may the route depend on the UDP source port?
 * @net: namespace
 * @av: where to
 *
 * The caller is in an RCU section.
 */
bool srdma_route_asks_flow(const struct net *net, const struct srdma_av *av)
{
	/* Of IPv6 the namespace does not tell; a policy may look at ports. */
	return av->is_v6 || srdma_route_has_policy(net, XFRM_POLICY_OUT) ||
	       multipath_asks(net) || rules_ask(net);
}

/**
 * srdma_route_leads_here - does the stack take packets of IPv6 like one now?
 * @net: namespace
 * @ndev: interface that it came in by
 * @skb: packet, its IPv6 header in front
 *
 * The caller is in an RCU section, and bottom halves are disabled.
 *
 * Return: whether it does; also false where there are rules, which may look at more
 * than this.
 */
bool srdma_route_leads_here(struct net *net, struct net_device *ndev,
			    const struct sk_buff *skb)
{
	const struct ipv6hdr *ip = ipv6_hdr(skb);
	struct flowi6 fl6 = {
		.flowi6_iif = ndev->ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.saddr = ip->saddr,
		.daddr = ip->daddr,
	};
	const struct rt6_info *rt;
	struct dst_entry *dst;

	if (fib6_has_custom_rules(net))
		return false;
	fl6.flowlabel = ip6_flowinfo(ip);
	dst = ip6_route_input_lookup(net, ndev, &fl6, NULL,
				     RT6_LOOKUP_F_HAS_SADDR |
				     RT6_LOOKUP_F_DST_NOREF);
	rt = container_of(dst, struct rt6_info, dst);
	return !dst->error && (rt->rt6i_flags & RTF_LOCAL);
}
