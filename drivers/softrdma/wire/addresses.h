/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The addresses of a network namespace, and which device each belongs to.
 */
#ifndef SRDMA_ADDRESSES_H
#define SRDMA_ADDRESSES_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct in6_addr;
struct srdma_dev;
struct srdma_netns;

#define SRDMA_NO_VLAN	0xffff

void srdma_addresses_changed(struct srdma_netns *net);
int srdma_addresses_add(const struct ib_gid_attr *attr, void **context);
int srdma_addresses_del(const struct ib_gid_attr *attr, void **context);
struct srdma_dev *srdma_addresses_find(struct srdma_netns *net,
				       const union ib_gid *gid, int ifindex);
struct srdma_dev *srdma_addresses_find_on(struct srdma_netns *net, int ifindex);
u16 srdma_addresses_vlan(struct srdma_dev *dev, const union ib_gid *gid);
bool srdma_addresses_host_has(const struct srdma_dev *dev,
			      const struct in6_addr *addr, u32 but);

#endif
