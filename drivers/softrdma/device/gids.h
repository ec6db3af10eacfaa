/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * GIDs of interfaces whose addresses the core does not follow.
 */
#ifndef SRDMA_GIDS_H
#define SRDMA_GIDS_H

struct srdma_dev;

int srdma_gids_init(void);
void srdma_gids_exit(void);
void srdma_gids_begin(struct srdma_dev *dev);
void srdma_gids_end(struct srdma_dev *dev);

#endif
