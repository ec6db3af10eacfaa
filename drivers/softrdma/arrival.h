/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What arrived: an skb with one packet or with many, from the wire or from a
 * QP of the same device, taken apart one packet at a time by the engine that
 * owns the QP.
 */
#ifndef SRDMA_ARRIVAL_H
#define SRDMA_ARRIVAL_H

#include <linux/in6.h>
#include <linux/skbuff.h>

#include "proto/burst.h"
#include "proto/packet.h"

struct srdma_dev;
struct srdma_qp;

/* How an skb came. */
enum srdma_arrival_kind {
	SRDMA_ARRIVAL_WIRE,	/* its ICRCs are to be checked */
	SRDMA_ARRIVAL_TRUSTED,	/* built by a stack on this host: they are not */
	SRDMA_ARRIVAL_LOOP,	/* struct srdma_loop, then only payload */
};

/**
 * struct srdma_arrival - in skb->cb, from the receive hook to the engine
 * @dev: device it is for
 * @payload: offset in the skb of the payload of the current packet
 * @next: wire: offset in the skb of the next packet's BTH; loop: its index
 * @left: packets that have not been looked at
 * @seg: wire: bytes behind the UDP header of every packet but the last
 * @index: how many packets of the skb were before the current one; the IPv4
 *	identification counts up with it
 * @kind: enum srdma_arrival_kind
 * @is_v6: IPv6 header at skb->data (wire)
 */
struct srdma_arrival {
	struct srdma_dev *dev;
	u32 payload;
	u32 next;
	u16 left;
	u16 seg;
	u16 index;
	u8 kind;
	bool is_v6;
};

static inline struct srdma_arrival *srdma_arrival(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct srdma_arrival) > sizeof(skb->cb));
	return (struct srdma_arrival *)skb->cb;
}

/**
 * struct srdma_loop - at skb->data of a looped skb; payload follows, packet by
 *	packet without headers, pads or ICRCs
 * @hdr: what the packets' headers would say; opcode, PSN, AckReq, SE and
 *	payload length are those of @burst
 * @burst: the packets
 * @src: sender's address; IPv4 mapped into IPv6
 * @dst: our address, likewise
 * @traffic_class: of the IP header that there would be
 * @hop_limit: likewise
 * @is_v6: whether that would be an IPv6 header
 */
struct srdma_loop {
	struct srdma_pkt hdr;
	struct srdma_burst burst;
	struct in6_addr src;
	struct in6_addr dst;
	u8 traffic_class;
	u8 hop_limit;
	bool is_v6;
};

/* What srdma_arrival_next() found. */
enum srdma_arrived {
	SRDMA_ARRIVED_PACKET,	/* a packet for this engine, ICRC right */
	SRDMA_ARRIVED_BAD,		/* dropped and counted; ask again */
	SRDMA_ARRIVED_FOREIGN,	/* the rest was handed on to its own engine */
	SRDMA_ARRIVED_END,		/* no more */
};

enum srdma_arrived srdma_arrival_next(struct sk_buff *skb,
					   struct srdma_qp *qp, bool responses,
					   struct srdma_pkt *pkt);
void srdma_arrival_grh(struct sk_buff *skb, u8 grh[40]);

#endif
