/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The generic netlink family "softrdma" (include/uapi/rdma/softrdma-netlink.h).
 */
#ifndef SRDMA_FAMILY_H
#define SRDMA_FAMILY_H

int srdma_family_init(void);
void srdma_family_exit(void);

#endif
