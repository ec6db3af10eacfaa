/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Received skbs, with one packet or with many, from the wire or from a QP of
 * the same device. The engine that owns the QP takes one apart packet by
 * packet.
 */
#ifndef SRDMA_PACKET_IN_H
#define SRDMA_PACKET_IN_H

#include "memory/access.h"
#include "proto/run.h"
#include "wire/arrived.h"

struct ib_wc;
struct srdma_dev;
struct srdma_qp;

/* The shortest packet there can be. */
#define SRDMA_PKT_MIN	((int)(SRDMA_BTH_LEN + SRDMA_ICRC_LEN))

/* What srdma_packet_in_next() found. */
enum srdma_found {
	SRDMA_FOUND_PACKET,	/* a packet for this engine, ICRC right */
	SRDMA_FOUND_BAD,	/* dropped and counted; ask again */
	SRDMA_FOUND_FOREIGN,	/* the rest is for another one: free the skb */
};

/* Look past the next packet, unseen. */
static inline void srdma_packet_in_skip(struct srdma_packet_in *in)
{
	in->left--;
	in->index++;
	in->next += in->seg;
}

/* Bytes behind the UDP header of the packet at @offset, from the wire. */
static inline u32 srdma_packet_in_wire_len(const struct sk_buff *skb, u32 offset)
{
	return min_t(u32, srdma_packet_in(skb)->seg, skb->len - offset);
}

/*
 * A burst that has never been a frame: all of it is for the engine that has it, so that
 * looking at its packets starts no other engine.
 */
static inline bool srdma_packet_in_is_loop(const struct sk_buff *skb)
{
	return srdma_packet_in(skb)->kind == SRDMA_PACKET_IN_LOOP;
}

/* @it rests between packets of such, and ends behind each other one. */
static inline void srdma_packet_in_rest(const struct sk_buff *skb,
					struct srdma_mem_iter *it)
{
	if (srdma_packet_in_is_loop(skb))
		srdma_mem_rest(it);
	else
		srdma_mem_end(it);
}

void srdma_packet_in_free(struct sk_buff *skb);
bool srdma_packet_in_peek(const struct sk_buff *skb, u32 *qpn, bool *response);

void srdma_packet_in_hold(struct sk_buff *skb, u32 psn);
bool srdma_packet_in_hold_more(struct sk_buff *held, const struct sk_buff *skb,
			       u32 psn);

void srdma_packet_in_back(struct sk_buff *skb, const struct srdma_pkt *pkt);
void srdma_packet_in_let_pass(struct sk_buff *skb, const struct srdma_qp *qp);
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

/* packet_addresses.c */

u32 srdma_packet_in_len(const struct sk_buff *skb);
bool srdma_packet_in_is_multicast(const struct sk_buff *skb);
void srdma_packet_in_addresses(const struct sk_buff *skb, struct in6_addr *src,
			       struct in6_addr *dst);
void srdma_packet_in_grh(const struct sk_buff *skb, u8 grh[SRDMA_GRH_LEN]);
void srdma_packet_in_fill_wc(const struct sk_buff *skb, struct ib_wc *wc,
			     bool wants_vlan);

#endif
