/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Building skbs: for the wire, with many packets in one, or for a QP of the
 * same device.
 */
#ifndef SRDMA_TRAIN_H
#define SRDMA_TRAIN_H

#include <linux/types.h>

struct sk_buff;
struct srdma_tx;

struct sk_buff *srdma_train_build(const struct srdma_tx *tx, u32 first,
				  u32 *count);
struct sk_buff *srdma_train_build_loop(const struct srdma_tx *tx);
void srdma_train_free_loop(struct sk_buff *skb);
void srdma_train_exit(void);

#endif
