/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The counters of a device, for `rdma statistic`.
 */
#ifndef SRDMA_DEVICE_COUNTERS_H
#define SRDMA_DEVICE_COUNTERS_H

#include <rdma/ib_verbs.h>

#include "observe/counters.h"

struct srdma_dev;

const char *srdma_stat_name(enum srdma_stat stat);
u64 srdma_stat_sum(const struct srdma_dev *dev, enum srdma_stat stat);

struct rdma_hw_stats *srdma_stats_alloc(struct ib_device *ib, u32 port);
int srdma_stats_get(struct ib_device *ib, struct rdma_hw_stats *stats,
		    u32 port, int index);

#endif
