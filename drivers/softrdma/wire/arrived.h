/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a received skb says: its control block, and, if it comes from a QP of
 * the same device, the header of its data.
 */
#ifndef SRDMA_ARRIVED_H
#define SRDMA_ARRIVED_H

#include <linux/ip.h>
#include <linux/skbuff.h>

#include "objects/ah.h"
#include "proto/burst.h"
#include "proto/icrc.h"
#include "proto/packet.h"

struct srdma_dev;

/* How an skb came. */
enum srdma_packet_in_kind {
	SRDMA_PACKET_IN_WIRE,	/* its ICRCs are to be checked */
	SRDMA_PACKET_IN_TRUSTED,	/* built by a stack on this host: they are not */
	SRDMA_PACKET_IN_LOOP,	/* struct srdma_loop, then only payload */
};

/**
 * struct srdma_packet_in - in skb->cb, from the receive hook to the engine
 * @dev: device it is for
 * @payload: offset in the skb of the payload of the current packet
 * @psn: while it is held (responder/hold.c): PSN of the next packet
 * @rest: with @is_foreign: how many packets that is
 * @next: wire: offset in the skb of the next packet's BTH
 * @left: packets that have not been looked at
 * @seg: wire: bytes behind the UDP header of every packet but the last
 * @index: packets that have been looked at, so the number of the next one; the
 *	IPv4 identification counts up with it
 * @kind: enum srdma_packet_in_kind
 * @is_v6: IPv6 header at skb->data (wire)
 * @to_group: each member of a multicast group has a copy
 * @is_looped: from a QP of the same device, also one by one (wire/frame.h)
 * @same_id: wire: it does not; all have had that of the first
 * @is_held: wire: its packets were looked at, and found right, before
 * @is_foreign: wire: what is behind the last packet is for another engine
 * @is_ce: wire: they have met congestion, as IP says
 * @icrc_len: wire: bytes behind the UDP header of the packets that @icrc_base
 *	is for; 0 before there was one: then @icrc is not known either
 * @icrc: what the ICRCs of all packets have in common
 * @icrc_base: what those have in common that are like the last one
 * @bth: the first 8 bytes of their BTHs
 * @order: a rule has the engine do this with it, enum srdma_nl_action; or 0
 * @value: see there
 *
 * The code that makes the skb fills it in: for a looped one @dev, @left, @kind and
 * @is_looped, the rest in front of @icrc zero. From then on only wire/packet_in.c writes it.
 */
struct srdma_packet_in {
	struct srdma_dev *dev;
	union {
		u32 payload;
		u32 psn;
		u32 rest;
	};
	u32 next;
	u16 left;
	u16 seg;
	u16 index;
	u8 kind;
	bool is_v6 : 1;
	bool to_group : 1;
	bool is_looped : 1;
	bool same_id : 1;
	bool is_held : 1;
	bool is_ce : 1;
	bool is_foreign : 1;
	u16 icrc_len;
	u8 order;
	u8 value;
	struct srdma_icrc_flow icrc;
	u32 icrc_base;
	u8 bth[8];
};

static inline struct srdma_packet_in *srdma_packet_in(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct srdma_packet_in) > sizeof(skb->cb));
	return (struct srdma_packet_in *)skb->cb;
}

/**
 * struct srdma_loop - at skb->data of a looped skb. Behind it is the payload,
 *	packet by packet without headers, pads or ICRCs; or, where that is lent,
 *	the pieces (struct srdma_sge) of the message that it is part of
 * @hdr: what the packets' headers would say; opcode, PSN, AckReq, SE and payload
 *	length are those of @burst, and here only if it is one packet; the number of
 *	a report, which all packets of a burst share, is always here
 * @burst: the packets
 * @av: where they go, as the sender has it
 * @loan: serial of the loan, 0 when the payload follows
 * @lender: number of the QP that lends
 * @idx: of its request
 * @num_sge: number of pieces
 */
struct srdma_loop {
	struct srdma_pkt hdr;
	struct srdma_burst burst;
	struct srdma_av av;
	u64 loan;
	u32 lender;
	u32 idx;
	u32 num_sge;
};

static inline const struct srdma_loop *srdma_loop_of(const struct sk_buff *skb)
{
	return (const struct srdma_loop *)skb->data;
}

/* Of the IP header that there would be. */
static inline u8 srdma_loop_hop_limit(const struct srdma_loop *loop)
{
	return loop->av.hop_limit ?: IPDEFTTL;
}

#endif
