/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What is said of a link that cannot be made, or that may disappoint.
 */
#ifndef SRDMA_ADVICE_H
#define SRDMA_ADVICE_H

#include <linux/netdevice.h>

struct srdma_dev;

int srdma_advice_check(const char *name, const struct net_device *ndev);
void srdma_advice_taken(const char *name, const struct net_device *ndev,
			const struct srdma_dev *other);
void srdma_advice_failed(const char *name, const struct net_device *ndev,
			 int err);
void srdma_advice_made(struct srdma_dev *dev, const struct srdma_dev *relative);

#endif
