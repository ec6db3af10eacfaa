/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets that are dropped: counted, and shown to tracing.
 */
#ifndef SRDMA_DROP_H
#define SRDMA_DROP_H

#include "observe/trace.h"

/**
 * srdma_drop - packets end here
 * @dev: device
 * @why: counter of the reason
 * @count: how many
 */
static inline void srdma_drop(struct srdma_dev *dev, enum srdma_stat why,
			      u32 count)
{
	srdma_stat_add(dev, why, count);
	trace_srdma_drop(dev, why, count);
}

#endif
