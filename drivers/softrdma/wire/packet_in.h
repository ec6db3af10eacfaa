/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What arrived: an skb with one packet or with many, from the wire or from a
 * QP of the same device, taken apart one packet at a time by the engine that
 * owns the QP.
 */
#ifndef SRDMA_PACKET_IN_H
#define SRDMA_PACKET_IN_H

#include <linux/in6.h>
#include <linux/skbuff.h>

#include "memory/access.h"
#include "proto/burst.h"
#include "proto/icrc.h"
#include "proto/packet.h"
#include "proto/run.h"

struct ib_wc;
struct srdma_dev;
struct srdma_qp;

/* The shortest packet there can be. */
#define SRDMA_PKT_MIN	((int)(SRDMA_BTH_LEN + SRDMA_ICRC_LEN))

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
 * @next: wire: offset in the skb of the next packet's BTH
 * @left: packets that have not been looked at
 * @seg: wire: bytes behind the UDP header of every packet but the last
 * @index: packets that have been looked at, so the number of the next one; the
 *	IPv4 identification counts up with it
 * @kind: enum srdma_packet_in_kind
 * @is_v6: IPv6 header at skb->data (wire)
 * @to_group: each member of a multicast group has a copy
 * @icrc_len: wire: bytes behind the UDP header of the packets that @icrc_base
 *	is for; 0 before there was one: then @icrc is not known either
 * @icrc: what the ICRCs of all packets have in common
 * @icrc_base: what those have in common that are like the last one
 * @bth: the first 8 bytes of their BTHs
 *
 * Whoever makes the skb writes it: for a looped one @dev, @left and @kind, the
 * rest zero. From then on wire/packet_in.c does.
 */
struct srdma_packet_in {
	struct srdma_dev *dev;
	u32 payload;
	u32 next;
	u16 left;
	u16 seg;
	u16 index;
	u8 kind;
	bool is_v6 : 1;
	bool to_group : 1;
	u16 icrc_len;
	struct srdma_icrc_flow icrc;
	u32 icrc_base;
	u8 bth[8];
};

static inline struct srdma_packet_in *srdma_packet_in(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct srdma_packet_in) > sizeof(skb->cb));
	return (struct srdma_packet_in *)skb->cb;
}

/* What srdma_packet_in_next() found. */
enum srdma_found {
	SRDMA_FOUND_PACKET,	/* a packet for this engine, ICRC right */
	SRDMA_FOUND_BAD,	/* dropped and counted; ask again */
	SRDMA_FOUND_FOREIGN,	/* the rest was handed on to its own engine */
};

/* Look past the next packet, unseen. */
static inline void srdma_packet_in_skip(struct srdma_packet_in *in)
{
	in->left--;
	in->index++;
	in->next += in->seg;
}

void srdma_packet_in_free(struct sk_buff *skb);
bool srdma_packet_in_peek(const struct sk_buff *skb, u32 *qpn, bool *response);
bool srdma_packet_in_is_multicast(const struct sk_buff *skb);
void srdma_packet_in_addresses(const struct sk_buff *skb, struct in6_addr *src,
			       struct in6_addr *dst);

enum srdma_found srdma_packet_in_next(struct sk_buff *skb,
				      struct srdma_skb_walk *walk,
				      struct srdma_qp *qp, bool responses,
				      struct srdma_pkt *pkt);
void srdma_packet_in_join_more(struct sk_buff *skb, struct srdma_skb_walk *walk,
			       struct srdma_pkt *pkt, u32 mtu);
enum srdma_mem_why srdma_packet_in_place(struct sk_buff *skb,
					 struct srdma_skb_walk *walk,
					 const struct srdma_pkt *pkt,
					 struct srdma_mem_iter *it);

/**
 * srdma_packet_in_join - make a run of the packet last returned
 * @skb: what arrived
 * @walk: walk over it
 * @pkt: that packet, nothing of which has been taken yet; those that continue
 *	it are added. A packet that does not is left to srdma_packet_in_next()
 * @mtu: path MTU of the QP, bytes
 */
static inline void srdma_packet_in_join(struct sk_buff *skb,
					struct srdma_skb_walk *walk,
					struct srdma_pkt *pkt, u32 mtu)
{
	if (srdma_packet_in(skb)->left && srdma_run_is_open(pkt, mtu))
		srdma_packet_in_join_more(skb, walk, pkt, mtu);
}

void srdma_packet_in_grh(const struct sk_buff *skb, u8 grh[SRDMA_GRH_LEN]);
void srdma_packet_in_fill_wc(const struct sk_buff *skb, struct ib_wc *wc);

#endif
