/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Building skbs for the wire, with many packets in one.
 */
#ifndef SRDMA_TRAIN_H
#define SRDMA_TRAIN_H

#include <linux/types.h>

struct sk_buff;
struct srdma_path;
struct srdma_tx;

/**
 * struct srdma_train - packets for the wire that others may join
 * @skb: they, without the headers before the first BTH; NULL: there are none,
 *	and the other members mean nothing
 * @count: how many
 * @each: bytes of each but the last
 * @full: nothing may follow: the last is shorter
 */
struct srdma_train {
	struct sk_buff *skb;
	u32 count;
	u32 each;
	bool full;
};

struct sk_buff *srdma_train_build(const struct srdma_tx *tx, u32 first,
				  u32 *count);
bool srdma_train_takes(const struct srdma_train *train,
		       const struct srdma_tx *tx, u32 first, u32 count);
int srdma_train_add(struct srdma_train *train, const struct srdma_tx *tx,
		    u32 first, u32 *count);
struct sk_buff *srdma_train_close(struct srdma_train *train,
				  struct srdma_path *path);

#endif
