// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * From the network to an engine. A netfilter hook takes packets that the
 * filters let in, as whole skbs, before a socket would get single packets. Then
 * the QP is found, and the packets are put into an inbox.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/xfrm.h>

#include "engine/backlog.h"
#include "engine/engine.h"
#include "objects/device.h"
#include "objects/mcast.h"
#include "objects/qp.h"
#include "wire/addresses.h"
#include "wire/drop.h"
#include "wire/frame.h"
#include "wire/hook.h"
#include "wire/netns.h"
#include "wire/packet_in.h"
#include "wire/shortcut.h"
#include "wire/tamper.h"
#include "wire/tap.h"

/*
 * No kernel makes longer trains (UDP_MAX_SEGMENTS of the newest), but a
 * neighbour's may say that each packet is of a few bytes. An engine takes an
 * skb as a whole.
 */
#define TRAIN_MOST	128

/* Is this UDP to the RoCE port? */
static bool skb_is_roce(const struct sk_buff *skb, int udp_at)
{
	const struct udphdr *udp;
	struct udphdr buf;

	udp = skb_header_pointer(skb, udp_at, sizeof(buf), &buf);
	return udp && udp->dest == htons(ROCE_V2_UDP_DPORT);
}

/*
 * One datagram says how long it is. The headers of a train may carry the
 * length of the whole or of one packet: it is measured by its segments.
 */
static bool udp_length_is_right(const struct sk_buff *skb, int udp_at)
{
	const struct udphdr *udp;
	struct udphdr buf;

	if (skb_is_gso(skb))
		return skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4;
	udp = skb_header_pointer(skb, udp_at, sizeof(buf), &buf);
	return udp && ntohs(udp->len) == skb->len - udp_at;
}

/*
 * Is the partial checksum that of our UDP header? A neighbour that we cannot trust
 * may ask for a checksum over any bytes: then it has not vouched for these.
 */
static bool is_from_stack(const struct sk_buff *skb, int udp_at)
{
	return skb->ip_summed == CHECKSUM_PARTIAL &&
	       skb_checksum_start_offset(skb) == udp_at &&
	       skb->csum_offset == offsetof(struct udphdr, check);
}

/* The segments of a train share its headers, and what is merged has the same ones. */
static bool has_met_congestion(const struct sk_buff *skb, bool is_v6)
{
	u8 class = is_v6 ? ipv6_get_dsfield(ipv6_hdr(skb)) : ip_hdr(skb)->tos;

	return INET_ECN_is_ce(class);
}

/* Lets go of all that the stack has attached; the inbox may keep it long. */
static void detach(struct sk_buff *skb)
{
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	skb_ext_reset(skb);
	skb_orphan(skb);
	/* No reference is held on the interface, so it may not be followed. */
	skb->dev = NULL;
}

/**
 * srdma_hook_open - see what an skb of the network holds
 * @dev: device it is for
 * @skb: UDP to the RoCE port; a plain IP header is at skb->data and agrees with
 *	the length. Nothing but its struct srdma_packet_in is written.
 * @is_v6: IPv6
 * @why: filled with the reason to drop it when there are no packets in it
 */
bool srdma_hook_open(struct srdma_dev *dev, struct sk_buff *skb, bool is_v6,
		     enum srdma_stat *why)
{
	int udp_at = is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	int begin = udp_at + sizeof(struct udphdr);
	int len = skb->len - begin;
	int seg, count;

	/* From reserves that are there for swapping, to be sent again. */
	if (skb_pfmemalloc(skb)) {
		*why = SRDMA_STAT_RX_NO_MEMORY;
		return false;
	}
	if (!udp_length_is_right(skb, udp_at)) {
		*why = SRDMA_STAT_RX_MALFORMED;
		return false;
	}
	seg = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : len;
	if (len < SRDMA_PKT_MIN || seg < SRDMA_PKT_MIN) {
		*why = SRDMA_STAT_RX_BAD + SRDMA_PARSE_SHORT;
		return false;
	}
	/* gso_segs may come from a neighbour that we cannot trust. */
	count = DIV_ROUND_UP(len, seg);
	if (count > TRAIN_MOST) {
		*why = SRDMA_STAT_RX_MALFORMED;
		return false;
	}
	*srdma_packet_in(skb) = (struct srdma_packet_in) {
		.dev = dev,
		.next = begin,
		.seg = min(seg, len),
		.left = count,
		.kind = is_from_stack(skb, udp_at) ? SRDMA_PACKET_IN_TRUSTED :
						     SRDMA_PACKET_IN_WIRE,
		.is_v6 = is_v6,
		.is_ce = has_met_congestion(skb, is_v6),
	};
	return true;
}

static void take_skb(struct sk_buff *skb)
{
	const struct srdma_packet_in *in = srdma_packet_in(skb);

	detach(skb);
	if (in->left > 1)
		srdma_stat_inc(in->dev, SRDMA_STAT_RX_TRAINS);
}

/* @ifindex: where it came in by, which a VRF hides */
static struct srdma_dev *find_dev(struct net *net, int ifindex,
				  const struct in6_addr *daddr,
				  bool is_multicast)
{
	struct srdma_netns *snet = srdma_netns_of(net);

	if (is_multicast)
		return srdma_addresses_find_on(snet, ifindex);
	return srdma_addresses_find(snet, (const union ib_gid *)daddr, ifindex);
}

/**
 * srdma_hook_is_from_peer - do packets come from the peer of a connected QP, and
 *	go to its address (9.6.1)
 * @skb: packets
 * @qp: QP; one without a peer takes what comes
 */
bool srdma_hook_is_from_peer(const struct sk_buff *skb,
			     const struct srdma_qp *qp)
{
	struct in6_addr src, dst;

	if (!srdma_qp_has_peer(qp))
		return true;
	srdma_packet_in_addresses(skb, &src, &dst);
	return ipv6_addr_equal(&src, &qp->av.dst) &&
	       ipv6_addr_equal(&dst, &qp->av.src);
}

static bool may_hear(const struct srdma_qp *qp, bool response)
{
	return srdma_qp_may(qp, response ? SRDMA_MAY_SEND : SRDMA_MAY_RECEIVE);
}

/**
 * srdma_hook_taker - the QP that the next packet is for
 * @skb: packets
 * @response: filled with whether it is for the send engine
 * @why: filled with the reason to drop it when it has no taker
 *
 * Return: the QP, which is there as long as bottom halves are disabled, or NULL.
 */
struct srdma_qp *srdma_hook_taker(const struct sk_buff *skb, bool *response,
				  enum srdma_stat *why)
{
	struct srdma_qp *qp;
	u32 qpn;

	if (!srdma_packet_in_peek(skb, &qpn, response)) {
		*why = SRDMA_STAT_RX_BAD + SRDMA_PARSE_SHORT;
		return NULL;
	}
	qp = srdma_qp_find(srdma_packet_in(skb)->dev, qpn);
	if (!qp) {
		*why = SRDMA_STAT_RX_UNKNOWN_QP;
		return NULL;
	}
	if (!may_hear(qp, *response))
		*why = SRDMA_STAT_RX_WRONG_STATE;
	else if (!srdma_hook_is_from_peer(skb, qp))
		*why = SRDMA_STAT_RX_WRONG_SOURCE;
	else
		return qp;
	return NULL;
}

/* Drops an skb with all that is in it. */
static void drop_all(struct sk_buff *skb, enum srdma_stat why)
{
	srdma_drop(srdma_packet_in(skb)->dev, why, srdma_packet_in(skb)->left);
	kfree_skb(skb);
}

static struct srdma_engine *engine_of(struct srdma_qp *qp, bool response)
{
	return response ? &qp->send : &qp->recv;
}

/*
 * Behind many others it may wait for long, and is not to pin much more than it
 * is charged. What is looped does not: it has a head of its own, of 4 KB.
 */
static struct sk_buff *to_wait(struct srdma_engine *engine, struct sk_buff *skb)
{
	struct srdma_packet_in *in = srdma_packet_in(skb);

	if (!srdma_engine_lags(engine) || in->kind == SRDMA_PACKET_IN_LOOP)
		return skb;
	return srdma_backlog_compact(skb);
}

static void deliver(struct srdma_qp *qp, bool response, struct sk_buff *skb)
{
	struct srdma_engine *engine = engine_of(qp, response);
	struct sk_buff *waits;

	trace_srdma_rx(qp, skb, response);
	waits = to_wait(engine, skb);
	if (!waits)
		drop_all(skb, SRDMA_STAT_RX_NO_MEMORY);
	else if (!srdma_engine_deliver(engine, waits))
		drop_all(waits, SRDMA_STAT_RX_INBOX_FULL);
}

static void deliver_copy(struct srdma_qp *qp, struct sk_buff *skb)
{
	struct srdma_dev *dev = qp->dev;
	struct sk_buff *clone;

	if (!may_hear(qp, false)) {
		srdma_drop(dev, SRDMA_STAT_RX_WRONG_STATE, 1);
		return;
	}
	clone = skb_clone(skb, GFP_ATOMIC);
	if (clone)
		deliver(qp, false, clone);
	else
		srdma_drop(dev, SRDMA_STAT_RX_NO_MEMORY, 1);
}

/* Every member of the group gets the packets; the skb is not consumed. */
static void deliver_to_group(struct sk_buff *skb)
{
	struct srdma_dev *dev = srdma_packet_in(skb)->dev;
	const struct srdma_mcast_member *member;
	struct srdma_mcast_group *group;
	struct in6_addr src, dst;

	srdma_packet_in_addresses(skb, &src, &dst);
	srdma_packet_in(skb)->to_group = true;

	rcu_read_lock();
	group = srdma_mcast_find(dev, (const union ib_gid *)&dst);
	if (group)
		list_for_each_entry_rcu(member, &group->members, entry)
			deliver_copy(member->qp, skb);
	else
		srdma_drop(dev, SRDMA_STAT_RX_UNKNOWN_QP, 1);
	rcu_read_unlock();
}

/* @pass: what the stack let them in by; NULL: it was not asked */
static void dispatch(struct sk_buff *skb, const u64 *pass)
{
	struct srdma_dev *dev = srdma_packet_in(skb)->dev;
	struct srdma_qp *qp = NULL;
	enum srdma_stat why;
	bool response;

	if (srdma_packet_in_is_multicast(skb)) {
		deliver_to_group(skb);
		consume_skb(skb);
		return;
	}
	/* A packet without a taker does not take the next ones with it. */
	while (srdma_packet_in(skb)->left) {
		qp = srdma_hook_taker(skb, &response, &why);
		if (qp)
			break;
		srdma_drop(dev, why, 1);
		srdma_packet_in_skip(srdma_packet_in(skb));
	}
	if (!qp) {
		kfree_skb(skb);
		return;
	}
	if (pass)
		srdma_shortcut_note(qp, skb, *pass);
	deliver(qp, response, skb);
}

/**
 * srdma_hook_dispatch - give packets to the QP they are for
 * @skb: packets that have not been looked at, struct srdma_packet_in in place;
 *	consumed
 *
 * Bottom halves are disabled. The next packet decides for all; if a later one
 * is for another engine, srdma_packet_in_free() brings the rest here.
 */
void srdma_hook_dispatch(struct sk_buff *skb)
{
	dispatch(skb, NULL);
}

/**
 * srdma_hook_dispatch_looped - give looped packets to the QP they are for
 * @list: skbs as for srdma_hook_dispatch(), which one engine of a connected QP
 *	has sent, one at least; emptied
 * @bytes: their memory
 *
 * Bottom halves are disabled.
 */
void srdma_hook_dispatch_looped(struct sk_buff_head *list, u32 bytes)
{
	enum srdma_stat why;
	struct srdma_qp *qp;
	struct sk_buff *skb;
	bool response;

	qp = srdma_hook_taker(skb_peek(list), &response, &why);
	if (qp) {
		if (trace_srdma_rx_enabled())
			skb_queue_walk(list, skb)
				trace_srdma_rx(qp, skb, response);
		srdma_engine_deliver_all(engine_of(qp, response), list, bytes);
		why = SRDMA_STAT_RX_INBOX_FULL;
	}
	while ((skb = __skb_dequeue(list)))
		drop_all(skb, why);
}

/* A frame that has come, and has passed the rules. */
static void take_frame(struct srdma_dev *dev, struct sk_buff *frame)
{
	const struct srdma_frame how = *srdma_frame(frame);
	enum srdma_stat why;

	if (!srdma_hook_open(dev, frame, how.is_v6, &why)) {
		srdma_drop(dev, why, 1);
		kfree_skb(frame);
		return;
	}
	srdma_packet_in(frame)->is_looped = how.is_looped;
	srdma_packet_in(frame)->order = how.order;
	srdma_packet_in(frame)->value = how.value;
	dispatch(frame, NULL);
}

/* Not inlined: as in wire/tx.c. */
static noinline void show_to_rules(struct sk_buff *skb)
{
	const struct srdma_packet_in *in = srdma_packet_in(skb);
	struct srdma_dev *dev = in->dev;
	struct sk_buff_head frames;
	int lost;

	__skb_queue_head_init(&frames);
	lost = srdma_frames_cut(skb, in->is_v6,
				in->kind == SRDMA_PACKET_IN_TRUSTED, &frames);
	consume_skb(skb);
	if (lost)
		srdma_drop(dev, SRDMA_STAT_RX_NO_MEMORY, lost);
	srdma_tamper(dev, SRDMA_NL_POINT_RX, NULL, &frames, take_frame);
}

/**
 * srdma_hook_take_sent - take a frame that a QP of the same device has sent
 * @dev: device
 * @frame: consumed
 *
 * Bottom halves are disabled.
 */
void srdma_hook_take_sent(struct srdma_dev *dev, struct sk_buff *frame)
{
	struct sk_buff_head frames;

	srdma_tap_show_frame(dev, frame);
	if (!srdma_rules_look(&dev->rules, SRDMA_NL_POINT_RX)) {
		take_frame(dev, frame);
		return;
	}
	__skb_queue_head_init(&frames);
	__skb_queue_tail(&frames, frame);
	srdma_tamper(dev, SRDMA_NL_POINT_RX, NULL, &frames, take_frame);
}

/**
 * srdma_hook_give - give packets of the network to a QP
 * @qp: the one that srdma_hook_taker() has found; bottom halves have been disabled
 *	since
 * @response: likewise
 * @skb: packets that srdma_hook_open() has seen; consumed
 */
void srdma_hook_give(struct srdma_qp *qp, bool response, struct sk_buff *skb)
{
	take_skb(skb);
	if (srdma_rules_look(&qp->dev->rules, SRDMA_NL_POINT_RX))
		show_to_rules(skb);
	else
		deliver(qp, response, skb);
}

/* What IPsec is to protect comes by it, as sockets ask for theirs. */
static bool policy_lets_in(struct sk_buff *skb, bool is_v6)
{
	return is_v6 ? xfrm6_policy_check(NULL, XFRM_POLICY_IN, skb) :
		       xfrm4_policy_check(NULL, XFRM_POLICY_IN, skb);
}

#ifdef SRDMA_HAVE_CT_CONFIRM
/*
 * Hooks of the same, last priority that were registered first are called behind
 * this one. Connection tracking is such a hook: it has to confirm this packet to
 * recognise the next one of the flow, and is called from here.
 */
static bool tracking_lets_in(struct sk_buff *skb)
{
	enum ip_conntrack_info info;
	const struct nf_ct_hook *hook;
	const struct nf_conn *ct;

	ct = nf_ct_get(skb, &info);
	if (!ct || nf_ct_is_confirmed(ct))
		return true;
	hook = rcu_dereference(nf_ct_hook);
	return !hook || hook->confirm(skb) == NF_ACCEPT;
}
#else
static bool tracking_lets_in(struct sk_buff *skb)
{
	return true;
}
#endif

/* @pass: what the stack has let it in by, or 0. Bottom halves are disabled. */
static unsigned int receive_here(struct srdma_dev *dev, struct sk_buff *skb,
				 bool is_v6, u64 pass)
{
	enum srdma_stat why;

	if (!policy_lets_in(skb, is_v6) || !tracking_lets_in(skb)) {
		srdma_drop(dev, SRDMA_STAT_RX_POLICY, 1);
		return NF_DROP;
	}
	if (!srdma_hook_open(dev, skb, is_v6, &why)) {
		srdma_drop(dev, why, 1);
		return NF_DROP;
	}
	take_skb(skb);
	if (srdma_rules_look(&dev->rules, SRDMA_NL_POINT_RX))
		show_to_rules(skb);
	else
		dispatch(skb, &pass);
	return NF_STOLEN;
}

static unsigned int receive_at(struct srdma_dev *dev, struct sk_buff *skb,
			       bool is_v6, u64 pass)
{
	unsigned int verdict;

	/* A packet that a process has judged (NFQUEUE) comes from its context. */
	local_bh_disable();
	verdict = receive_here(dev, skb, is_v6, pass);
	local_bh_enable();
	return verdict;
}

/*
 * RCU read side. The stack has checked the IP header, has cut off what lies
 * behind the packet, and has put fragments together again.
 */
static unsigned int receive_v4(void *priv, struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	u32 generation = srdma_netns_generation(srdma_netns_of(state->net));
	const struct iphdr *ip = ip_hdr(skb);
	struct srdma_dev *dev;
	struct in6_addr daddr;

	if (ip->protocol != IPPROTO_UDP || !skb_is_roce(skb, ip->ihl * 4))
		return NF_ACCEPT;
	ipv6_addr_set_v4mapped(ip->daddr, &daddr);
	dev = find_dev(state->net, inet_sdif(skb) ?: skb->dev->ifindex, &daddr,
		       ipv4_is_multicast(ip->daddr));
	if (!dev)
		return NF_ACCEPT;
	/* RoCE knows no options (annex A17). */
	if (ip->ihl != 5 || ntohs(ip->tot_len) != skb->len) {
		srdma_drop(dev, SRDMA_STAT_RX_MALFORMED, 1);
		return NF_DROP;
	}
	return receive_at(dev, skb, false,
			  srdma_shortcut_pass_v4(dev, skb, generation));
}

/*
 * A fragment, or a packet with other extension headers, is none of ours: it
 * ends at the socket that owns the port.
 */
static unsigned int receive_v6(void *priv, struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	u32 generation = srdma_netns_generation(srdma_netns_of(state->net));
	const struct ipv6hdr *ip = ipv6_hdr(skb);
	struct srdma_dev *dev;

	if (ip->nexthdr != IPPROTO_UDP || !skb_is_roce(skb, sizeof(*ip)))
		return NF_ACCEPT;
	dev = find_dev(state->net, inet6_sdif(skb) ?: skb->dev->ifindex,
		       &ip->daddr, ipv6_addr_is_multicast(&ip->daddr));
	if (!dev)
		return NF_ACCEPT;
	if (ntohs(ip->payload_len) + sizeof(*ip) != skb->len) {
		srdma_drop(dev, SRDMA_STAT_RX_MALFORMED, 1);
		return NF_DROP;
	}
	return receive_at(dev, skb, true,
			  srdma_shortcut_pass_v6(dev, skb, generation));
}

/* Behind every filter: what a firewall drops never gets here. */
static const struct nf_hook_ops hooks[] = {
	{
		.hook = receive_v4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	},
	{
		.hook = receive_v6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP6_PRI_LAST,
	},
};

/**
 * srdma_hook_register - begin to receive in a namespace
 * @net: namespace
 */
int srdma_hook_register(struct net *net)
{
	return nf_register_net_hooks(net, hooks, ARRAY_SIZE(hooks));
}

/* When this returns, nothing of the namespace is in the hooks any more. */
void srdma_hook_unregister(struct net *net)
{
	nf_unregister_net_hooks(net, hooks, ARRAY_SIZE(hooks));
	synchronize_net();
}
