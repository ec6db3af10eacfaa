/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The fastest CRC-32 that this kernel has on this CPU.
 */
#ifndef SRDMA_CRC_H
#define SRDMA_CRC_H

void srdma_crc_init(void);
void srdma_crc_exit(void);

#endif
