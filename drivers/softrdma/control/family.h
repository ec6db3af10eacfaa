/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The generic netlink family "softrdma" (include/uapi/rdma/softrdma-netlink.h).
 */
#ifndef SRDMA_FAMILY_H
#define SRDMA_FAMILY_H

struct genl_family;
struct genl_info;
struct srdma_dev;

extern struct genl_family srdma_family;

struct srdma_dev *srdma_family_get_link(struct genl_info *info);

int srdma_family_init(void);
void srdma_family_exit(void);

#endif
