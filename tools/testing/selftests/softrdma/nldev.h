/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The rdma netlink commands that "rdma link add" and "rdma link del" send. */
#ifndef SRT_NLDEV_H
#define SRT_NLDEV_H

#include <stddef.h>

/* 0 or -errno; a message the kernel attached to its answer goes to @msg. */
int nldev_link_add(const char *name, const char *type, const char *netdev,
		   char *msg, size_t size);
int nldev_link_del(const char *name);

/* The index of a device by name, or -errno. */
int nldev_index(const char *name);

#endif
