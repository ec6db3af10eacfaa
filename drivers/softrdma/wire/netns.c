// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Network namespaces: while a namespace has links, sockets that reserve the
 * RoCE port, and the receive hooks.
 */
#include <net/fib_notifier.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <net/udp_tunnel.h>

#include "compat/compat.h"
#include "wire/addresses.h"
#include "wire/hook.h"
#include "wire/merge.h"
#include "wire/netns.h"

static unsigned int srdma_netns_id __read_mostly;

/*
 * Nothing is meant to reach the sockets: the receive hook takes what is for
 * us, whole, before a socket would see it in pieces.
 */
static int drop_stray(struct sock *sk, struct sk_buff *skb)
{
	kfree_skb(skb);
	return 0;
}

static struct socket *open_port(struct srdma_netns *snet, sa_family_t family)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = snet,
		.encap_type = 1,
		.encap_rcv = drop_stray,
		.gro_receive = srdma_merge_receive,
	};
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(ROCE_V2_UDP_DPORT),
		.ipv6_v6only = family == AF_INET6,
	};
	struct net *net = snet->net;
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
		srdma_addresses_changed(net);
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

	sk4 = open_port(net, AF_INET);
	if (IS_ERR(sk4))
		return PTR_ERR(sk4);
	sk6 = open_port(net, AF_INET6);
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
	if (!err) {
		snet->links++;
		atomic_inc(&snet->users);
	}
	mutex_unlock(&snet->lock);
	return err ? ERR_PTR(err) : snet;
}

/**
 * srdma_netns_leave - a link receives no more; its place is still counted
 * @net: the namespace's part
 */
void srdma_netns_leave(struct srdma_netns *net)
{
	mutex_lock(&net->lock);
	net->links--;
	if (!net->links)
		close_ports(net);
	mutex_unlock(&net->lock);
}

/**
 * srdma_netns_put - a link is gone
 * @net: the namespace's part, which it has left
 *
 * The namespace may go as soon as this returns, and so may the module: its exit waits
 * for that, and then for tasks to leave its code, unless they sleep.
 */
void srdma_netns_put(struct srdma_netns *net)
{
	/* Waking up does not look at the count. */
	if (atomic_dec_and_test(&net->users))
		wake_up_var(&net->users);
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

/*
 * The links were asked to go when their interfaces went. An interface that
 * was moved elsewhere does not wait for its link, so the namespace does.
 */
static void __net_exit exit_namespace(struct net *net)
{
	struct srdma_netns *snet = net_generic(net, srdma_netns_id);

	/* Pairs with atomic_dec_and_test(): who gave up the last one has done so. */
	wait_var_event(&snet->users, !atomic_read_acquire(&snet->users));
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
