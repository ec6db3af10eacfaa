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

#include "mem.h"
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
enum srdma_arrival_kind {
	SRDMA_ARRIVAL_WIRE,	/* its ICRCs are to be checked */
	SRDMA_ARRIVAL_TRUSTED,	/* built by a stack on this host: they are not */
	SRDMA_ARRIVAL_LOOP,	/* struct srdma_loop, then only payload */
};

/**
 * struct srdma_arrival - in skb->cb, from the receive hook to the engine
 * @dev: device it is for
 * @payload: offset in the skb of the payload of the current packet
 * @next: wire: offset in the skb of the next packet's BTH
 * @left: packets that have not been looked at
 * @seg: wire: bytes behind the UDP header of every packet but the last
 * @index: packets that have been looked at, so the number of the next one; the
 *	IPv4 identification counts up with it
 * @kind: enum srdma_arrival_kind
 * @is_v6: IPv6 header at skb->data (wire)
 * @to_group: each member of a multicast group has a copy
 * @icrc_len: wire: bytes behind the UDP header of the packets that @icrc_base
 *	is for; 0 before there was one: then @icrc is not known either
 * @icrc: what the ICRCs of all packets have in common
 * @icrc_base: what those have in common that are like the last one
 * @bth: the first 8 bytes of their BTHs
 *
 * Whoever makes the skb writes it: for a looped one @dev, @left and @kind, the
 * rest zero. From then on arrival.c does.
 */
struct srdma_arrival {
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

static inline struct srdma_arrival *srdma_arrival(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct srdma_arrival) > sizeof(skb->cb));
	return (struct srdma_arrival *)skb->cb;
}

/* What srdma_arrival_next() found. */
enum srdma_arrived {
	SRDMA_ARRIVED_PACKET,	/* a packet for this engine, ICRC right */
	SRDMA_ARRIVED_BAD,	/* dropped and counted; ask again */
	SRDMA_ARRIVED_FOREIGN,	/* the rest was handed on to its own engine */
};

/* Look past the next packet, unseen. */
static inline void srdma_arrival_skip(struct srdma_arrival *arrival)
{
	arrival->left--;
	arrival->index++;
	arrival->next += arrival->seg;
}

void srdma_arrival_free(struct sk_buff *skb);
bool srdma_arrival_peek(const struct sk_buff *skb, u32 *qpn, bool *response);
bool srdma_arrival_is_multicast(const struct sk_buff *skb);
void srdma_arrival_addresses(const struct sk_buff *skb, struct in6_addr *src,
			     struct in6_addr *dst);

enum srdma_arrived srdma_arrival_next(struct sk_buff *skb,
				      struct srdma_skb_walk *walk,
				      struct srdma_qp *qp, bool responses,
				      struct srdma_pkt *pkt);
void srdma_arrival_join_more(struct sk_buff *skb, struct srdma_skb_walk *walk,
			     struct srdma_pkt *pkt, u32 mtu);
enum srdma_mem_why srdma_arrival_place(struct sk_buff *skb,
				       struct srdma_skb_walk *walk,
				       const struct srdma_pkt *pkt,
				       struct srdma_mem_iter *it);

/**
 * srdma_arrival_join - make a run of the packet last returned
 * @skb: what arrived
 * @walk: walk over it
 * @pkt: that packet, nothing of which has been taken yet; those that continue
 *	it are added. A packet that does not is left to srdma_arrival_next()
 * @mtu: path MTU of the QP, bytes
 */
static inline void srdma_arrival_join(struct sk_buff *skb,
				      struct srdma_skb_walk *walk,
				      struct srdma_pkt *pkt, u32 mtu)
{
	if (srdma_arrival(skb)->left && srdma_run_is_open(pkt, mtu))
		srdma_arrival_join_more(skb, walk, pkt, mtu);
}

void srdma_arrival_grh(const struct sk_buff *skb, u8 grh[SRDMA_GRH_LEN]);
void srdma_arrival_fill_wc(const struct sk_buff *skb, struct ib_wc *wc);

#endif
