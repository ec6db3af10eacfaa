/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Routes: the look-ups in the stack, and what their results depend on.
 */
#ifndef SRDMA_ROUTE_H
#define SRDMA_ROUTE_H

#include <linux/types.h>

struct dst_entry;
struct net;
struct net_device;
struct sk_buff;
struct srdma_av;

struct dst_entry *srdma_route_find(struct net *net, const struct srdma_av *av);
bool srdma_route_has_policy(const struct net *net, int dir);
bool srdma_route_asks_flow(const struct net *net, const struct srdma_av *av);
bool srdma_route_leads_here(struct net *net, struct net_device *ndev,
			    const struct sk_buff *skb);

#endif
