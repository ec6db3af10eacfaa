// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults on demand: the knobs, of the kernel's own kind, are in debugfs under
 * softrdma/.
 */
#include <linux/debugfs.h>
#include <linux/fault-inject.h>
#include <linux/init.h>

#include "observe/fault.h"

static const char * const names[SRDMA_FAULT_NR] = {
	[SRDMA_FAULT_RX] = "fail_rx",
	[SRDMA_FAULT_MEMORY] = "fail_memory",
	[SRDMA_FAULT_ROUTE] = "fail_route",
	[SRDMA_FAULT_DEFER] = "defer",
	[SRDMA_FAULT_HOLD] = "hold",
};

/* All off: their probability is 0. */
static struct fault_attr attrs[SRDMA_FAULT_NR] = {
	[0 ... SRDMA_FAULT_NR - 1] = FAULT_ATTR_INITIALIZER,
};

static struct dentry *folder;

/* Does it go wrong this time? From any context. */
bool srdma_fault(enum srdma_fault fault)
{
	/* Asked for each packet: nothing else is looked at while it is off. */
	return READ_ONCE(attrs[fault].probability) &&
	       should_fail(&attrs[fault], 1);
}

/* Without debugfs there is no knob, and that is all. */
void __init srdma_fault_init(void)
{
	int i;

	folder = debugfs_create_dir("softrdma", NULL);
	for (i = 0; i < SRDMA_FAULT_NR; i++)
		fault_create_debugfs_attr(names[i], folder, &attrs[i]);
}

void srdma_fault_exit(void)
{
	debugfs_remove_recursive(folder);
}
