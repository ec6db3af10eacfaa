/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Looped skbs: bursts for a QP of the same device.
 */
#ifndef SRDMA_LOOP_H
#define SRDMA_LOOP_H

#include "memory/access.h"
#include "wire/arrived.h"

struct srdma_dev;
struct srdma_tx;

struct sk_buff *srdma_loop_build(const struct srdma_tx *tx);
enum srdma_mem_why __must_check
srdma_loop_place(const struct sk_buff *skb, struct srdma_dev *dev, u32 offset,
		 u32 len, struct srdma_mem_iter *it);
void srdma_loop_free(struct sk_buff *skb);
void srdma_loop_exit(void);

#endif
