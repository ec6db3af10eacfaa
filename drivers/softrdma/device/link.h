/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Links: a device on an interface, from `rdma link add` to its end.
 */
#ifndef SRDMA_LINK_H
#define SRDMA_LINK_H

#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

struct srdma_dev;

int srdma_link_init(void);
void srdma_link_exit(void);
void srdma_link_dealloc(struct ib_device *ib);
void srdma_link_with(const struct net_device *ndev,
		     void (*what)(struct srdma_dev *dev, unsigned long event),
		     unsigned long event);

#endif
