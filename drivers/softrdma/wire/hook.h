/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * From the network, or from a QP of the same device, to an engine.
 */
#ifndef SRDMA_HOOK_H
#define SRDMA_HOOK_H

#include "observe/counters.h"

struct net;
struct sk_buff;
struct sk_buff_head;
struct srdma_dev;
struct srdma_qp;

int srdma_hook_register(struct net *net);
void srdma_hook_unregister(struct net *net);
void srdma_hook_dispatch(struct sk_buff *skb);
void srdma_hook_take_sent(struct srdma_dev *dev, struct sk_buff *frame);
void srdma_hook_dispatch_looped(struct sk_buff_head *list, u32 bytes);

bool srdma_hook_open(struct srdma_dev *dev, struct sk_buff *skb, bool is_v6,
		     enum srdma_stat *why);
struct srdma_qp *srdma_hook_taker(const struct sk_buff *skb, bool *response,
				  enum srdma_stat *why);
bool srdma_hook_is_from_peer(const struct sk_buff *skb,
			     const struct srdma_qp *qp);
void srdma_hook_give(struct srdma_qp *qp, bool response, struct sk_buff *skb);

#endif
