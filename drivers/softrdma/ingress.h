/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The short way in: past the IP stack, where it has nothing to say.
 */
#ifndef SRDMA_INGRESS_H
#define SRDMA_INGRESS_H

#include <linux/types.h>

struct sk_buff;
struct srdma_dev;
struct srdma_qp;

void srdma_ingress_begin(struct srdma_dev *dev);
void srdma_ingress_end(struct srdma_dev *dev);

u64 srdma_ingress_pass_v4(const struct srdma_dev *dev,
			  const struct sk_buff *skb, u32 generation);
u64 srdma_ingress_pass_v6(const struct srdma_dev *dev,
			  const struct sk_buff *skb, u32 generation);
void srdma_ingress_note(struct srdma_qp *qp, const struct sk_buff *skb,
			u64 pass);
void srdma_ingress_forget(struct srdma_qp *qp);

#endif
