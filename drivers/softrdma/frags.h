/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory for skbs that we build.
 */
#ifndef SRDMA_FRAGS_H
#define SRDMA_FRAGS_H

#include <linux/types.h>

struct sk_buff;

struct sk_buff *srdma_frags_skb(u32 len);
u32 srdma_frags_open(struct sk_buff *skb, u32 min, u8 **at);
void srdma_frags_take(struct sk_buff *skb, u32 len);
void srdma_frags_exit(void);

#endif
