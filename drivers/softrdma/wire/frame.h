/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Frames: single packets, each in a linear skb of its own that may be written
 * to, from the IP header on. They are made only to change or show single
 * packets. All other code uses trains and looped bursts.
 */
#ifndef SRDMA_FRAME_H
#define SRDMA_FRAME_H

#include <linux/skbuff.h>

#include "proto/wire.h"

struct srdma_order;

/**
 * struct srdma_frame - in skb->cb of a frame
 * @begin: offset of the BTH
 * @is_v6: IPv6
 * @is_looped: from a QP of the same device
 * @icrc_is_right: its ICRC was right when it was made
 * @order: what the engine that gets it is to do, enum srdma_nl_action; or 0
 * @value: see there
 */
struct srdma_frame {
	u16 begin;
	bool is_v6;
	bool is_looped;
	bool icrc_is_right;
	u8 order;
	u8 value;
};

static inline struct srdma_frame *srdma_frame(const struct sk_buff *skb)
{
	return (struct srdma_frame *)skb->cb;
}

static inline struct srdma_wire_bth *srdma_frame_bth(const struct sk_buff *skb)
{
	return (struct srdma_wire_bth *)(skb->data + srdma_frame(skb)->begin);
}

/* Bytes behind the UDP header. */
static inline u32 srdma_frame_len(const struct sk_buff *skb)
{
	return skb->len - srdma_frame(skb)->begin;
}

int srdma_frames_cut(struct sk_buff *skb, bool is_v6, bool vouched,
		     struct sk_buff_head *list);
int srdma_frames_write(const struct sk_buff *skb, u16 id, struct sk_buff_head *list);

void srdma_frame_seal(struct sk_buff *frame);
void srdma_frame_unseal(struct sk_buff *frame);
void srdma_frame_shorten(struct sk_buff *frame, u32 bytes);
void srdma_frame_mark_ce(struct sk_buff *frame);
bool srdma_frame_set_field(struct sk_buff *frame,
			   const struct srdma_order *order);
bool srdma_frame_spoil_payload(struct sk_buff *frame, u32 at);
void srdma_frame_addresses(const struct sk_buff *frame, struct in6_addr *src,
			   struct in6_addr *dst);

#endif
