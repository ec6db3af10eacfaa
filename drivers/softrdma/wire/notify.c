// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Congestion notifications (annex A17.9.3). A router that is congested marks a packet
 * instead of dropping it. The receiver tells the sender: that is the notification
 * point. What the sender does then is in proto/.
 *
 * A QP sends at most one in a while, however many packets are marked, and none for
 * a packet that it does not take. So whoever marks packets, or sends marked ones under
 * somebody else's address, cannot make it send more than it is sent.
 */
#include <linux/in6.h>
#include <linux/ktime.h>
#include <rdma/ib_verbs.h>

#include "objects/device.h"
#include "objects/qp.h"
#include "observe/counters.h"
#include "proto/burst.h"
#include "wire/addresses.h"
#include "wire/notify.h"
#include "wire/packet_in.h"
#include "wire/tx.h"

/* Is it time for one? The other engine may ask at the same time. */
static bool is_due(struct srdma_qp *qp)
{
	s64 last = atomic64_read(&qp->notified_at);
	s64 now = ktime_get_ns();

	return (!last || now - last >= SRDMA_CNP_APART_NS) &&
	       atomic64_try_cmpxchg(&qp->notified_at, &last, now);
}

static void send_notification(struct srdma_qp *qp, struct srdma_engine *engine,
			      struct srdma_path *path,
			      const struct srdma_av *av, u32 dest_qpn)
{
	const struct srdma_pkt hdr = {
		.pkey = SRDMA_PKEY_DEFAULT,
		.becn = true,
		.dest_qpn = dest_qpn,
	};
	const struct srdma_burst burst = {
		.count = 1,
		.first = SRDMA_CNP,
		.middle = SRDMA_CNP,
		.last = SRDMA_CNP,
	};
	struct srdma_tx tx = {
		.qp = qp,
		.engine = engine,
		.av = av,
		.path = path,
		.hdr = &hdr,
		.burst = &burst,
	};
	u32 count;

	if (srdma_tx_send(&tx, &count) == SRDMA_TX_SENT)
		srdma_stat_inc(qp->dev, SRDMA_STAT_CNP_SENT);
}

/**
 * srdma_notify_peer - send a notification to the peer of a QP, whether one is due or
 *	not
 * @qp: connected QP
 * @engine: the caller's
 * @path: that of the engine
 */
void srdma_notify_peer(struct srdma_qp *qp, struct srdma_engine *engine,
		       struct srdma_path *path)
{
	send_notification(qp, engine, path, &qp->av, qp->attr.dest_qp_num);
}

/*
 * The way back of a datagram. By which interface a link-local address of a VLAN is
 * reached, the packet does not say any more.
 */
static bool way_back(const struct srdma_qp *qp, const struct sk_buff *skb,
		     const struct srdma_pkt *pkt, struct srdma_av *av)
{
	*av = (struct srdma_av) {
		.ifindex = READ_ONCE(qp->dev->ndev->ifindex),
		.udp_sport = rdma_get_udp_sport(0, qp->qpn, pkt->deth.src_qpn),
	};
	srdma_packet_in_addresses(skb, &av->dst, &av->src);
	av->is_v6 = !ipv6_addr_v4mapped(&av->src);
	return !av->is_v6 || !(ipv6_addr_type(&av->src) & IPV6_ADDR_LINKLOCAL) ||
	       srdma_addresses_vlan(qp->dev, (const union ib_gid *)&av->src) ==
	       SRDMA_NO_VLAN;
}

static void notify_sender(struct srdma_qp *qp, const struct sk_buff *skb,
			  const struct srdma_pkt *pkt)
{
	struct srdma_av av;

	if (way_back(qp, skb, pkt, &av))
		send_notification(qp, &qp->recv, &qp->resp.path, &av,
				  pkt->deth.src_qpn);
}

/*
 * What has no payload and answers something is not answered: to slow down who sends
 * acknowledges would help nobody, and two QPs could notify each other for ever.
 * Management datagrams are few, and everybody knows their Q_Key: with a forged source
 * they would have us notify whom somebody likes.
 */
static bool calls_for_one(const struct srdma_qp *qp, const struct sk_buff *skb,
			  const struct srdma_pkt *pkt)
{
	return qp->qpt != SRDMA_QPT_GSI && !srdma_packet_in(skb)->to_group &&
	       !(srdma_opcode_is_response(pkt->op) &&
		 pkt->op->payload == SRDMA_PAY_NONE);
}

/**
 * srdma_notify_of - a QP has taken a packet that had met congestion
 * @qp: queue pair; the engine is the caller's
 * @is_response: it is the send engine, which takes responses
 * @skb: what the packet came in
 * @pkt: the packet, or the run
 *
 * Not inlined: it is rare.
 *
 * Return: whether it was time to tell its sender.
 */
noinline bool srdma_notify_of(struct srdma_qp *qp, bool is_response,
			      const struct sk_buff *skb,
			      const struct srdma_pkt *pkt)
{
	srdma_stat_add(qp->dev, SRDMA_STAT_CE, pkt->more + 1);
	if (!calls_for_one(qp, skb, pkt) || !is_due(qp))
		return false;
	if (!srdma_qp_has_peer(qp))
		notify_sender(qp, skb, pkt);
	else if (is_response)
		srdma_notify_peer(qp, &qp->send, &qp->req.path);
	else
		srdma_notify_peer(qp, &qp->recv, &qp->resp.path);
	return true;
}
