/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A walk over the bytes of an skb.
 */
#ifndef SRDMA_SKB_WALK_H
#define SRDMA_SKB_WALK_H

#include <linux/skbuff.h>

/**
 * struct srdma_skb_walk - a walk over the bytes of an skb, made for going forward
 * @skb: skb
 * @data: bytes found last
 * @at: their offset in the skb
 * @len: their number
 * @beyond: behind the linear part, where the core's walker finds them
 * @st: of that one
 */
struct srdma_skb_walk {
	struct sk_buff *skb;
	const u8 *data;
	u32 at;
	u32 len;
	bool beyond;
	struct skb_seq_state st;
};

void srdma_skb_walk_begin(struct srdma_skb_walk *walk, struct sk_buff *skb);
void srdma_skb_walk_find(struct srdma_skb_walk *walk, u32 off);
void srdma_skb_walk_end(struct srdma_skb_walk *walk);

/* Bytes of the skb from @off on; lowers @len to what is contiguous there. */
static inline const void *srdma_skb_walk_to(struct srdma_skb_walk *walk,
					    u32 off, u32 *len)
{
	u32 within = off - walk->at;

	/* Also where @off lies before them. */
	if (within >= walk->len) {
		srdma_skb_walk_find(walk, off);
		within = off - walk->at;
	}
	*len = min(*len, walk->len - within);
	return walk->data + within;
}

#endif
