// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast: the groups of a device and their members. To receive packets from
 * other hosts, the interface joins each group by IGMP or MLD as long as the
 * group has a member.
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>

#include "base/bounds.h"
#include "objects/device.h"
#include "objects/mcast.h"
#include "objects/qp.h"
#include "verbs/mcast.h"
#include "verbs/refuse.h"

/* A user other than root may have this part of all groups, or so many. */
#define USERS_PART	16
#define USERS_LEAST	64U

static __be32 ipv4_of(const union ib_gid *gid)
{
	return *(const __be32 *)&gid->raw[12];
}

static bool is_v4(const union ib_gid *gid)
{
	return ipv6_addr_v4mapped((const struct in6_addr *)gid->raw);
}

static bool is_group(const union ib_gid *gid)
{
	return rdma_is_multicast_addr((struct in6_addr *)gid->raw);
}

/*
 * Memberships of an interface go with its IP configuration, if that goes. One
 * that was moved to another namespace may have a new one: that is not ours.
 */
static bool is_configured(const struct srdma_dev *dev, const union ib_gid *gid)
{
	struct net_device *ndev = dev->ndev;

	ASSERT_RTNL();
	if (dev->gone)
		return false;
	return is_v4(gid) ? !!__in_dev_get_rtnl(ndev) : !!__in6_dev_get(ndev);
}

static int join(const struct srdma_dev *dev, struct srdma_mcast_group *group)
{
	struct net_device *ndev = dev->ndev;
	const union ib_gid *gid = &group->gid;
	int err = 0;

	if (!is_configured(dev, gid))
		return -ENODEV;
	if (is_v4(gid))
		ip_mc_inc_group(__in_dev_get_rtnl(ndev), ipv4_of(gid));
	else
		err = ipv6_dev_mc_inc(ndev, (const struct in6_addr *)gid->raw);
	group->joined = !err;
	return err;
}

static void leave(const struct srdma_dev *dev, struct srdma_mcast_group *group)
{
	struct net_device *ndev = dev->ndev;
	const union ib_gid *gid = &group->gid;

	if (!group->joined || !is_configured(dev, gid))
		return;
	if (is_v4(gid))
		ip_mc_dec_group(__in_dev_get_rtnl(ndev), ipv4_of(gid));
	else
		ipv6_dev_mc_dec(ndev, (const struct in6_addr *)gid->raw);
}

/**
 * srdma_mcast_follow - adapt to a changed IP configuration of the interface
 * @dev: device
 *
 * With the RTNL held, after IPv4 and IPv6 have handled the change.
 */
void srdma_mcast_follow(struct srdma_dev *dev)
{
	struct srdma_mcast_group *group;
	int bucket;

	mutex_lock(&dev->mcast_lock);
	hash_for_each(dev->mcast, bucket, group, entry) {
		if (!is_configured(dev, &group->gid))
			group->joined = false;
		else if (!group->joined && join(dev, group))
			netdev_warn(dev->ndev, "softrdma: multicast group not joined again\n");
	}
	mutex_unlock(&dev->mcast_lock);
}

/*
 * The interface is a member of each group, and all look for theirs among those:
 * a user other than root has a part of them.
 */
static int check_share(const struct srdma_dev *dev, kuid_t owner)
{
	u32 most = max(dev->bounds.objects[SRDMA_OBJ_MCAST] / USERS_PART,
		       USERS_LEAST);
	const struct srdma_mcast_group *group;
	u32 count = 0;
	int bucket;

	lockdep_assert_held(&dev->mcast_lock);
	if (uid_eq(owner, GLOBAL_ROOT_UID))
		return 0;
	hash_for_each(dev->mcast, bucket, group, entry)
		count += uid_eq(group->owner, owner);
	return count < most ? 0 : -ENOMEM;
}

static struct srdma_mcast_group *group_create(struct srdma_dev *dev,
					      const union ib_gid *gid)
{
	kuid_t owner = srdma_bounds_owner();
	struct srdma_mcast_group *group;
	int err;

	lockdep_assert_held(&dev->mcast_lock);
	err = check_share(dev, owner) ?: srdma_dev_count(dev, SRDMA_OBJ_MCAST);
	if (err)
		return ERR_PTR(err);
	group = kzalloc(sizeof(*group), SRDMA_GFP);
	if (!group) {
		err = -ENOMEM;
		goto err_count;
	}
	group->gid = *gid;
	group->owner = owner;
	INIT_LIST_HEAD(&group->members);
	err = join(dev, group);
	if (err)
		goto err_free;
	hash_add_rcu(dev->mcast, &group->entry, srdma_mcast_key(dev, gid));
	return group;

err_free:
	kfree(group);
err_count:
	srdma_dev_uncount(dev, SRDMA_OBJ_MCAST);
	return ERR_PTR(err);
}

static void group_destroy(struct srdma_dev *dev,
			  struct srdma_mcast_group *group)
{
	lockdep_assert_held(&dev->mcast_lock);
	hash_del_rcu(&group->entry);
	leave(dev, group);
	kfree_rcu(group, rcu);
	srdma_dev_uncount(dev, SRDMA_OBJ_MCAST);
}

static struct srdma_mcast_member *find_member(struct srdma_mcast_group *group,
					      const struct srdma_qp *qp)
{
	struct srdma_mcast_member *member;

	lockdep_assert_held(&qp->dev->mcast_lock);
	list_for_each_entry(member, &group->members, entry)
		if (member->qp == qp)
			return member;
	return NULL;
}

static int add_member(struct srdma_mcast_group *group, struct srdma_qp *qp)
{
	struct srdma_mcast_member *member;

	/* Attaching twice is attaching once (11.3.1). */
	if (find_member(group, qp))
		return 0;
	if (group->count >= SRDMA_MAX_MCAST_QP_ATTACH)
		return -ENOMEM;
	member = kzalloc(sizeof(*member), SRDMA_GFP);
	if (!member)
		return -ENOMEM;
	refcount_inc(&qp->refs);
	member->qp = qp;
	list_add_tail_rcu(&member->entry, &group->members);
	group->count++;
	return 0;
}

/* The core has checked that the QP is a datagram one. */
int srdma_mcast_attach(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct srdma_dev *dev = to_sdev(ib->device);
	struct srdma_mcast_group *group;
	int err;

	err = srdma_refuse_by_rule(ib->device, ib->uobject,
				   SRDMA_NL_VERB_ATTACH_MCAST, ib->qp_num);
	if (err)
		return err;
	if (!is_group(gid))
		return -EINVAL;
	rtnl_lock();
	mutex_lock(&dev->mcast_lock);
	group = srdma_mcast_find(dev, gid);
	if (!group)
		group = group_create(dev, gid);
	if (IS_ERR(group)) {
		err = PTR_ERR(group);
	} else {
		err = add_member(group, to_sqp(ib));
		if (!group->count)
			group_destroy(dev, group);
	}
	mutex_unlock(&dev->mcast_lock);
	rtnl_unlock();
	if (err == -ENOMEM)
		srdma_refuse(&dev->ib, ib->uobject,
			     SRDMA_REFUSED(MCAST_FULL, ENOMEM, 0, 0));
	return err;
}

int srdma_mcast_detach(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct srdma_dev *dev = to_sdev(ib->device);
	struct srdma_mcast_member *member = NULL;
	struct srdma_mcast_group *group;

	rtnl_lock();
	mutex_lock(&dev->mcast_lock);
	group = srdma_mcast_find(dev, gid);
	if (group)
		member = find_member(group, to_sqp(ib));
	if (member) {
		list_del_rcu(&member->entry);
		srdma_qp_put(member->qp);
		kfree_rcu(member, rcu);
		if (!--group->count)
			group_destroy(dev, group);
	}
	mutex_unlock(&dev->mcast_lock);
	rtnl_unlock();
	return member ? 0 : -EINVAL;
}
