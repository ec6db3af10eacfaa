/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The device as the core sees it: its operations, creation and removal.
 */
#ifndef SRDMA_IBDEV_H
#define SRDMA_IBDEV_H

#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

struct srdma_dev;

struct srdma_dev *srdma_dev_create(struct net_device *ndev);
void srdma_dev_destroy(struct srdma_dev *dev);
int srdma_dev_register(struct srdma_dev *dev, const char *name);

bool srdma_dev_port_is_up(const struct srdma_dev *dev);
enum ib_mtu srdma_dev_path_mtu(const struct net_device *ndev);
void srdma_dev_event(struct srdma_dev *dev, enum ib_event_type event);

#endif
