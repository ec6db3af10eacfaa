/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The short way in: past the IP stack, if it would do nothing.
 */
#ifndef SRDMA_SHORTCUT_H
#define SRDMA_SHORTCUT_H

#include <linux/types.h>

struct sk_buff;
struct srdma_dev;
struct srdma_qp;

void srdma_shortcut_begin(struct srdma_dev *dev);
void srdma_shortcut_end(struct srdma_dev *dev);

u64 srdma_shortcut_pass_v4(const struct srdma_dev *dev,
			   const struct sk_buff *skb, u32 generation);
u64 srdma_shortcut_pass_v6(const struct srdma_dev *dev,
			   const struct sk_buff *skb, u32 generation);
void srdma_shortcut_note(struct srdma_qp *qp, const struct sk_buff *skb,
			 u64 pass);
void srdma_shortcut_forget(struct srdma_qp *qp);

#endif
