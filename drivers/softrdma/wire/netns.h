/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the driver keeps in each network namespace: the sockets that own the
 * RoCE port, the tables of wire/addresses.c, and the listeners.
 */
#ifndef SRDMA_NETNS_H
#define SRDMA_NETNS_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/notifier.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>

/**
 * struct srdma_netns - the driver's part of a network namespace
 * @net: the namespace
 * @lock: guards @links and the sockets' coming and going
 * @links: devices in this namespace; the sockets are open while there are any
 * @users: those, and such as have left but are not gone yet: all this stays while
 *	there are any
 * @sk4: bound to the RoCE port, IPv4; owns the port, never reads
 * @sk6: likewise IPv6; NULL where the namespace has no IPv6
 * @routes: notifier of routes that go, while the sockets are open
 * @gid_lock: guards changes of @gids
 * @gids: the GIDs of all devices here, by address; looked up under RCU
 * @ifaces: those of them that are on their device's own interface, by its
 *	index; likewise
 * @listeners: sockets that receive events of this namespace (control/monitor.c); looked
 *	at under RCU
 * @generation: counts changes of @gids, and addresses of IPv6 that may not be
 *	local any more
 */
struct srdma_netns {
	struct net *net;
	struct mutex lock;
	unsigned int links;
	atomic_t users;
	struct socket *sk4;
	struct socket *sk6;
	struct notifier_block routes;
	spinlock_t gid_lock;
	DECLARE_HASHTABLE(gids, 8);
	DECLARE_HASHTABLE(ifaces, 6);
	struct list_head listeners;
	u32 generation;
};

int srdma_netns_init(void);
void srdma_netns_exit(void);

struct srdma_netns *srdma_netns_of(struct net *net);
struct srdma_netns *srdma_netns_get(struct net *net);
void srdma_netns_leave(struct srdma_netns *net);
void srdma_netns_put(struct srdma_netns *net);

/* What was found out about addresses after this holds while it is the same. */
static inline u32 srdma_netns_generation(const struct srdma_netns *net)
{
	/* Pairs with the release of a change. */
	return smp_load_acquire(&net->generation);
}

/* No packet socket sees what interfaces of the namespace send. */
static inline bool srdma_netns_has_packet_sockets(const struct srdma_netns *net)
{
	return !hlist_empty(&net->net->packet.sklist);
}

#endif
