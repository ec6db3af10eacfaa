/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Multicast groups and the queue pairs attached to them.
 */
#ifndef SRDMA_MCAST_H
#define SRDMA_MCAST_H

#include <rdma/ib_verbs.h>

struct srdma_dev;
struct srdma_qp;

/**
 * struct srdma_mcast_member - a QP attached to a group
 * @entry: in the group's list, under RCU
 * @rcu: readers may still look at it
 * @qp: the QP; a reference is held
 */
struct srdma_mcast_member {
	struct list_head entry;
	struct rcu_head rcu;
	struct srdma_qp *qp;
};

/**
 * struct srdma_mcast_group - a group that has a member
 * @entry: in srdma_dev.mcast, under RCU; by @gid
 * @rcu: readers may still look at it
 * @gid: the group's address; IPv4 mapped into IPv6
 * @owner: who attached the first member, as srdma_bounds_owner() says
 * @members: struct srdma_mcast_member
 * @count: how many; under srdma_dev.mcast_lock
 * @joined: the interface is a member; under the RTNL
 */
struct srdma_mcast_group {
	struct hlist_node entry;
	struct rcu_head rcu;
	union ib_gid gid;
	kuid_t owner;
	struct list_head members;
	unsigned int count;
	bool joined;
};

int srdma_mcast_attach(struct ib_qp *ib, union ib_gid *gid, u16 lid);
int srdma_mcast_detach(struct ib_qp *ib, union ib_gid *gid, u16 lid);
void srdma_mcast_follow(struct srdma_dev *dev);
struct srdma_mcast_group *srdma_mcast_find(struct srdma_dev *dev,
					   const union ib_gid *gid);

#endif
