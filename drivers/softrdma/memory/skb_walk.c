// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A walk over the bytes of an skb, wherever they are.
 */
#include "memory/skb_walk.h"

/**
 * srdma_skb_walk_begin - begin to walk over an skb
 * @walk: walk; to be ended before bottom halves are enabled
 * @skb: skb, not changed while the walk is on
 */
void srdma_skb_walk_begin(struct srdma_skb_walk *walk, struct sk_buff *skb)
{
	walk->skb = skb;
	walk->data = skb->data;
	walk->at = 0;
	walk->len = skb_headlen(skb);
	walk->beyond = false;
}

void srdma_skb_walk_end(struct srdma_skb_walk *walk)
{
	if (walk->beyond)
		skb_abort_seq_read(&walk->st);
}

/* Finds the bytes from @off on, which are not among those found last. */
void srdma_skb_walk_find(struct srdma_skb_walk *walk, u32 off)
{
	struct sk_buff *skb = walk->skb;

	/* The core's walker would not notice. */
	if (off < walk->at) {
		srdma_skb_walk_end(walk);
		srdma_skb_walk_begin(walk, skb);
	}
	if (off - walk->at < walk->len)
		return;
	if (!walk->beyond)
		skb_prepare_seq_read(skb, 0, skb->len, &walk->st);
	walk->beyond = true;
	walk->at = off;
	walk->len = skb_seq_read(off, &walk->data, &walk->st);
}
