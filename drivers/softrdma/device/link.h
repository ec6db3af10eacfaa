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
bool srdma_link_is_below(struct net_device *ndev);

struct srdma_dev *srdma_link_get(struct net *net, const char *name, u32 from);
void srdma_link_name(const struct srdma_dev *dev,
		     char name[IB_DEVICE_NAME_MAX]);
void srdma_link_announce(struct srdma_dev *dev, enum ib_event_type event);
void srdma_link_follow_port(struct srdma_dev *dev);
void srdma_link_end(struct srdma_dev *dev);

#endif
