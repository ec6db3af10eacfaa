/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Links: a device on an interface, from `rdma link add` to its end.
 */
#ifndef SRDMA_LINK_H
#define SRDMA_LINK_H

#include <rdma/ib_verbs.h>

int srdma_link_init(void);
void srdma_link_exit(void);
void srdma_link_dealloc(struct ib_device *ib);

#endif
