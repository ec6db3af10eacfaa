/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * From the network, or from a QP of the same device, to the engine it is for.
 */
#ifndef SRDMA_RX_H
#define SRDMA_RX_H

struct net;
struct sk_buff;

int srdma_rx_register(struct net *net);
void srdma_rx_unregister(struct net *net);
void srdma_rx_dispatch(struct sk_buff *skb);

#endif
