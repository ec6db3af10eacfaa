/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Neighbours that become known, for those who wait for one in the core.
 */
#ifndef SRDMA_NEIGHBOURS_H
#define SRDMA_NEIGHBOURS_H

int srdma_neighbours_init(void);
void srdma_neighbours_exit(void);

#endif
