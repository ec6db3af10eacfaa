/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory for skbs that the driver builds.
 */
#ifndef SRDMA_SKB_POOL_H
#define SRDMA_SKB_POOL_H

#include <linux/types.h>

struct sk_buff;

struct sk_buff *srdma_skb_pool_alloc(u32 len);
u32 srdma_skb_pool_open(struct sk_buff *skb, u32 min, u8 **at);
void srdma_skb_pool_take(struct sk_buff *skb, u32 len);
void srdma_skb_pool_exit(void);

#endif
