/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Merging what an interface receives (GRO), by the sockets that own the port.
 */
#ifndef SRDMA_MERGE_H
#define SRDMA_MERGE_H

struct list_head;
struct sk_buff;
struct sock;

struct sk_buff *srdma_merge_receive(struct sock *sk, struct list_head *head,
				    struct sk_buff *skb);

#endif
