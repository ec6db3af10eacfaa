/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Effects of rules on a device.
 */
#ifndef SRDMA_DEVICE_EFFECTS_H
#define SRDMA_DEVICE_EFFECTS_H

struct srdma_dev;

void srdma_dev_effects_init(struct srdma_dev *dev);
void srdma_dev_effects_end(struct srdma_dev *dev);

#endif
