/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The sources of events.
 */
#ifndef SRDMA_PROBES_H
#define SRDMA_PROBES_H

#include <linux/types.h>

int srdma_probes_begin(u32 kinds);
void srdma_probes_end(u32 kinds);

#endif
