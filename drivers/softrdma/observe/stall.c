// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Engines that stall. The fault attributes are in debugfs, under softrdma/.
 */
#include <linux/debugfs.h>
#include <linux/fault-inject.h>
#include <linux/init.h>

#include "observe/stall.h"

static const char * const names[SRDMA_STALL_NR] = {
	[SRDMA_STALL_DEFER] = "defer",
	[SRDMA_STALL_HOLD] = "hold",
	[SRDMA_STALL_REPLY] = "reply",
	[SRDMA_STALL_LINGER] = "linger",
};

/* All off: their probability is 0. */
static struct fault_attr attrs[SRDMA_STALL_NR] = {
	[0 ... SRDMA_STALL_NR - 1] = FAULT_ATTR_INITIALIZER,
};

static struct dentry *folder;

/* Does it stall this time? From any context. */
bool srdma_stall(enum srdma_stall stall)
{
	/* Asked for each packet: nothing else is looked at while it is off. */
	return READ_ONCE(attrs[stall].probability) &&
	       should_fail(&attrs[stall], 1);
}

/* Without debugfs there is no knob, and that is all. */
void __init srdma_stall_init(void)
{
	int i;

	folder = debugfs_create_dir("softrdma", NULL);
	for (i = 0; i < SRDMA_STALL_NR; i++)
		fault_create_debugfs_attr(names[i], folder, &attrs[i]);
}

void srdma_stall_exit(void)
{
	debugfs_remove_recursive(folder);
}
