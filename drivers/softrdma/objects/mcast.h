/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Multicast groups and the queue pairs in them.
 */
#ifndef SRDMA_MCAST_H
#define SRDMA_MCAST_H

#include <linux/jhash.h>
#include <rdma/ib_verbs.h>

#include "objects/device.h"

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

static inline u32 srdma_mcast_key(const struct srdma_dev *dev,
				  const union ib_gid *gid)
{
	return jhash2((const u32 *)gid->raw, sizeof(gid->raw) / sizeof(u32),
		      dev->mcast_seed);
}

/**
 * srdma_mcast_find - the group with an address
 * @dev: device
 * @gid: address
 *
 * Return: the group, valid in the caller's RCU section or under
 * srdma_dev.mcast_lock, or NULL.
 */
static inline struct srdma_mcast_group *
srdma_mcast_find(struct srdma_dev *dev, const union ib_gid *gid)
{
	struct srdma_mcast_group *group;

	hash_for_each_possible_rcu(dev->mcast, group, entry,
				   srdma_mcast_key(dev, gid),
				   lockdep_is_held(&dev->mcast_lock))
		if (!memcmp(&group->gid, gid, sizeof(*gid)))
			return group;
	return NULL;
}

#endif
