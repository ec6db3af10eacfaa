/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Netdevs and their addresses, by rtnetlink without exec: on an emulated machine it
 * takes longer to start ip than the kernel does for what it is told. All of them: 0 or
 * -errno.
 */
#ifndef SRT_RTNL_H
#define SRT_RTNL_H

int rtnl_add_dummy(const char *netdev);

/* @netns: a descriptor of the namespace that the peer is in; -1: the same. */
int rtnl_add_veth(const char *netdev, const char *peer, int netns);

int rtnl_del(const char *netdev);

/* To the namespace of a process. */
int rtnl_move(const char *netdev, int pid);

/* The netdev is down. */
int rtnl_set_mac(const char *netdev, const char *mac);

/* An IPv4 or IPv6 one, of which nobody asks whether it is a duplicate. */
int rtnl_add_address(const char *netdev, const char *address, int prefix_len);

/* A neighbour that need not be asked for, for ever. */
int rtnl_add_neighbour(const char *netdev, const char *address, const char *mac);

#endif
