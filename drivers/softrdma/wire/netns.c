// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Network namespaces: while a namespace has links, sockets that reserve the
 * RoCE port, and the receive hooks; also the tables from an address or an
 * interface to its device.
 */
#include <linux/if_vlan.h>
#include <linux/jhash.h>
#include <net/fib_notifier.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <net/udp_tunnel.h>
#include <rdma/ib_cache.h>

#include "compat/compat.h"
#include "objects/device.h"
#include "wire/hook.h"
#include "wire/netns.h"

static unsigned int srdma_netns_id __read_mostly;

/**
 * struct gid_entry - an address of a device
 * @node: in srdma_netns.gids
 * @iface_node: in srdma_netns.ifaces, where @ifindex is @dev's own
 * @rcu: readers may still look at it after its removal
 * @gid: the address; IPv4 ones are mapped into IPv6
 * @dev: the device that has it
 * @ifindex: the interface that has it
 * @vlan: VLAN of that interface, or SRDMA_NO_VLAN
 * @net: where it is listed
 */
struct gid_entry {
	struct hlist_node node;
	struct hlist_node iface_node;
	struct rcu_head rcu;
	union ib_gid gid;
	struct srdma_dev *dev;
	int ifindex;
	u16 vlan;
	struct srdma_netns *net;
};

static u32 gid_hash(const union ib_gid *gid)
{
	return jhash2((const u32 *)gid->raw, sizeof(gid->raw) / sizeof(u32), 0);
}

/*
 * Nothing is meant to reach the sockets: the receive hook takes what is for
 * us, whole, before a socket would see it in pieces.
 */
static int drop_stray(struct sock *sk, struct sk_buff *skb)
{
	kfree_skb(skb);
	return 0;
}

static struct socket *open_port(struct net *net, sa_family_t family)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.encap_type = 1,
		.encap_rcv = drop_stray,
	};
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(ROCE_V2_UDP_DPORT),
		.ipv6_v6only = family == AF_INET6,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(net, &port, &sock);
	if (err)
		return ERR_PTR(err);
	srdma_compat_setup_tunnel(net, sock, &tunnel);
	return sock;
}

static void close_port(struct socket *sock)
{
	if (sock)
		srdma_compat_release_tunnel(sock);
}

/* Who finds the new number finds what has changed. */
static void count_change(struct srdma_netns *net)
{
	lockdep_assert_held(&net->gid_lock);
	/* Pairs with srdma_netns_generation(). */
	smp_store_release(&net->generation, net->generation + 1);
}

/* Is a local address of IPv6 not one any more, or may it not be? */
static bool takes_address(unsigned long event, const void *what)
{
	const struct fib6_entry_notifier_info *entry = what;

	if (entry->info.family != AF_INET6)
		return false;
	if (event == FIB_EVENT_ENTRY_DEL)
		return entry->rt->fib6_type == RTN_LOCAL;
	/* One that was behind another one is in its place. */
	return event == FIB_EVENT_ENTRY_REPLACE;
}

/*
 * The count of the namespace's routes of IPv6 does not change with one that is
 * deleted, which an address is not to outlive here (wire/shortcut.c). In any
 * context.
 */
static int note_route(struct notifier_block *block, unsigned long event,
		      void *what)
{
	struct srdma_netns *net = container_of(block, struct srdma_netns, routes);

	if (takes_address(event, what)) {
		spin_lock_bh(&net->gid_lock);
		count_change(net);
		spin_unlock_bh(&net->gid_lock);
	}
	return NOTIFY_DONE;
}

static int begin_to_receive(struct srdma_netns *net)
{
	int err;

	net->routes.notifier_call = note_route;
	err = register_fib_notifier(net->net, &net->routes, NULL, NULL);
	if (err)
		return err;
	err = srdma_hook_register(net->net);
	if (err)
		unregister_fib_notifier(net->net, &net->routes);
	return err;
}

static void end_receiving(struct srdma_netns *net)
{
	srdma_hook_unregister(net->net);
	unregister_fib_notifier(net->net, &net->routes);
}

static int open_ports(struct srdma_netns *net)
{
	struct socket *sk4, *sk6;
	int err;

	sk4 = open_port(net->net, AF_INET);
	if (IS_ERR(sk4))
		return PTR_ERR(sk4);
	sk6 = open_port(net->net, AF_INET6);
	if (IS_ERR(sk6)) {
		/* IPv6 built out or disabled is fine; a taken port is not. */
		if (PTR_ERR(sk6) == -EADDRINUSE) {
			close_port(sk4);
			return -EADDRINUSE;
		}
		sk6 = NULL;
	}
	err = begin_to_receive(net);
	if (err) {
		close_port(sk6);
		close_port(sk4);
		return err;
	}
	net->sk4 = sk4;
	net->sk6 = sk6;
	return 0;
}

static void close_ports(struct srdma_netns *net)
{
	end_receiving(net);
	close_port(net->sk6);
	close_port(net->sk4);
	net->sk6 = NULL;
	net->sk4 = NULL;
}

/* The driver's part of a namespace, whether it has links or not. */
struct srdma_netns *srdma_netns_of(struct net *net)
{
	return net_generic(net, srdma_netns_id);
}

/**
 * srdma_netns_get - count a link in a namespace and see that the port is ours
 * @net: namespace
 *
 * Return: the namespace's part, or an error: -EADDRINUSE when another driver
 * or program has the RoCE port.
 */
struct srdma_netns *srdma_netns_get(struct net *net)
{
	struct srdma_netns *snet = net_generic(net, srdma_netns_id);
	int err = 0;

	mutex_lock(&snet->lock);
	if (!snet->links)
		err = open_ports(snet);
	if (!err)
		snet->links++;
	mutex_unlock(&snet->lock);
	return err ? ERR_PTR(err) : snet;
}

void srdma_netns_put(struct srdma_netns *net)
{
	mutex_lock(&net->lock);
	if (!--net->links) {
		close_ports(net);
		wake_up_var(&net->links);
	}
	mutex_unlock(&net->lock);
}

/*
 * A VLAN interface gets its addresses by way of the interface under it, and
 * with them those of its neighbours: only its own are wanted. Nor can a device
 * serve the address of an upper interface that was moved to another namespace.
 */
static bool gid_is_ours(const struct srdma_dev *dev,
			const struct net_device *ndev)
{
	if (!net_eq(dev_net(ndev), dev->net->net))
		return false;
	return dev->ndev == dev->gid_ndev || dev->ndev == ndev;
}

static u16 vlan_of(const struct net_device *ndev)
{
	return is_vlan_dev(ndev) ? vlan_dev_vlan_id(ndev) : SRDMA_NO_VLAN;
}

static void list_entry_in_net(struct gid_entry *entry)
{
	struct srdma_netns *net = entry->net;

	spin_lock_bh(&net->gid_lock);
	hash_add_rcu(net->gids, &entry->node, gid_hash(&entry->gid));
	if (entry->ifindex == entry->dev->ndev->ifindex)
		hash_add_rcu(net->ifaces, &entry->iface_node, entry->ifindex);
	count_change(net);
	spin_unlock_bh(&net->gid_lock);
}

/**
 * srdma_netns_add_gid - the core has given a device a GID
 * @attr: the GID
 * @context: filled with our entry
 */
int srdma_netns_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct srdma_dev *dev = to_sdev(attr->device);
	struct net_device *ndev;
	struct gid_entry *entry;
	int err = 0;

	entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return -ENOMEM;
	entry->gid = attr->gid;
	entry->dev = dev;

	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	if (ndev && gid_is_ours(dev, ndev)) {
		entry->ifindex = ndev->ifindex;
		entry->vlan = vlan_of(ndev);
		entry->net = dev->net;
	} else {
		err = -EADDRNOTAVAIL;
	}
	rcu_read_unlock();
	if (err) {
		kfree(entry);
		return err;
	}

	list_entry_in_net(entry);
	*context = entry;
	return 0;
}

int srdma_netns_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct gid_entry *entry = *context;

	if (!entry)
		return 0;
	spin_lock_bh(&entry->net->gid_lock);
	hash_del_rcu(&entry->node);
	hash_del_rcu(&entry->iface_node);
	count_change(entry->net);
	spin_unlock_bh(&entry->net->gid_lock);
	kfree_rcu(entry, rcu);
	return 0;
}

/**
 * srdma_netns_find_dev - the device that has an address
 * @net: namespace
 * @gid: the address
 * @ifindex: interface the packet came in on; where several devices have the
 *	address (link-local ones; those of a VLAN, which the device under it
 *	has too) the one on this interface is meant
 *
 * Return: the device, valid until the caller leaves its RCU section, or NULL.
 */
struct srdma_dev *srdma_netns_find_dev(struct srdma_netns *net,
				       const union ib_gid *gid, int ifindex)
{
	struct srdma_dev *found = NULL;
	struct gid_entry *entry;

	hash_for_each_possible_rcu(net->gids, entry, node, gid_hash(gid)) {
		if (memcmp(&entry->gid, gid, sizeof(*gid)))
			continue;
		if (entry->ifindex == ifindex &&
		    !hlist_unhashed_lockless(&entry->iface_node))
			return entry->dev;
		if (!found || entry->ifindex == ifindex)
			found = entry->dev;
	}
	return found;
}

/**
 * srdma_netns_find_dev_on - the device on an interface
 * @net: namespace
 * @ifindex: interface
 *
 * Return: the device, valid until the caller leaves its RCU section, or NULL,
 * also for one that has no address yet.
 */
struct srdma_dev *srdma_netns_find_dev_on(struct srdma_netns *net, int ifindex)
{
	struct gid_entry *entry;

	hash_for_each_possible_rcu(net->ifaces, entry, iface_node, ifindex)
		if (entry->ifindex == ifindex)
			return entry->dev;
	return NULL;
}

/**
 * srdma_netns_find_vlan - the VLAN that an address of a device is in
 * @dev: device
 * @gid: address, or a multicast group
 *
 * Return: the VLAN of the interface that has the address, or that the device
 * is on; SRDMA_NO_VLAN if it is none.
 */
u16 srdma_netns_find_vlan(struct srdma_dev *dev, const union ib_gid *gid)
{
	u16 vlan = vlan_of(dev->ndev);
	struct gid_entry *entry;

	rcu_read_lock();
	hash_for_each_possible_rcu(dev->net->gids, entry, node, gid_hash(gid)) {
		if (entry->dev == dev &&
		    !memcmp(&entry->gid, gid, sizeof(*gid))) {
			vlan = entry->vlan;
			break;
		}
	}
	rcu_read_unlock();
	return vlan;
}

static int __net_init init_namespace(struct net *net)
{
	struct srdma_netns *snet = net_generic(net, srdma_netns_id);

	snet->net = net;
	mutex_init(&snet->lock);
	spin_lock_init(&snet->gid_lock);
	hash_init(snet->gids);
	hash_init(snet->ifaces);
	INIT_LIST_HEAD(&snet->listeners);
	return 0;
}

static bool is_unused(struct srdma_netns *snet)
{
	bool unused;

	mutex_lock(&snet->lock);
	unused = !snet->links;
	mutex_unlock(&snet->lock);
	return unused;
}

/*
 * The links were asked to go when their interfaces went. An interface that
 * was moved elsewhere does not wait for its link, so the namespace does.
 */
static void __net_exit exit_namespace(struct net *net)
{
	struct srdma_netns *snet = net_generic(net, srdma_netns_id);

	wait_var_event(&snet->links, is_unused(snet));
}

static struct pernet_operations net_ops = {
	.init = init_namespace,
	.exit = exit_namespace,
	.id = &srdma_netns_id,
	.size = sizeof(struct srdma_netns),
};

int srdma_netns_init(void)
{
	return register_pernet_subsys(&net_ops);
}

void srdma_netns_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
