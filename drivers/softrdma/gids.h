/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * GIDs of interfaces whose addresses the core does not follow.
 */
#ifndef SRDMA_GIDS_H
#define SRDMA_GIDS_H

#include <linux/workqueue.h>

struct srdma_dev;

/**
 * struct srdma_gids - the look for changed addresses
 * @work: looks, in process context
 * @removed: an address was removed since the last look
 */
struct srdma_gids {
	struct work_struct work;
	unsigned long removed;
};

int srdma_gids_init(void);
void srdma_gids_exit(void);
void srdma_gids_begin(struct srdma_dev *dev);
void srdma_gids_end(struct srdma_dev *dev);

#endif
