// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters of a device, as sums over CPUs.
 */
#include "device/counters.h"
#include "objects/device.h"
#include "observe/counters.h"

static const struct rdma_stat_desc stat_descs[] = {
#define STAT(stat, text)						\
	[stat].name = text,
#define VERDICT(base, verdict, text)					\
	[(base) + (verdict)].name = text,
	SRDMA_STATS(STAT, VERDICT)
#undef STAT
#undef VERDICT
};

static_assert(ARRAY_SIZE(stat_descs) == SRDMA_STAT_COUNT);

const char *srdma_stat_name(enum srdma_stat stat)
{
	return stat_descs[stat].name;
}

/* A counter of the device, over all CPUs. */
u64 srdma_stat_sum(const struct srdma_dev *dev, enum srdma_stat stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(dev->stats, cpu)->value[stat];
	return sum;
}

struct rdma_hw_stats *srdma_stats_alloc(struct ib_device *ib, u32 port)
{
	return rdma_alloc_hw_stats_struct(stat_descs, SRDMA_STAT_COUNT,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int srdma_stats_get(struct ib_device *ib, struct rdma_hw_stats *stats,
		    u32 port, int index)
{
	struct srdma_dev *dev = to_sdev(ib);
	int i;

	if (!port)
		return -EINVAL;
	for (i = 0; i < SRDMA_STAT_COUNT; i++)
		stats->value[i] = srdma_stat_sum(dev, i);
	return SRDMA_STAT_COUNT;
}
