// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The addresses of a network namespace: the tables from an address or an
 * interface to its device.
 */
#include <linux/if_vlan.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <net/addrconf.h>
#include <rdma/ib_cache.h>

#include "objects/device.h"
#include "wire/addresses.h"
#include "wire/netns.h"

/**
 * struct gid_entry - an address of a device
 * @node: in srdma_netns.gids
 * @iface_node: in srdma_netns.ifaces, where @ifindex is @dev's own
 * @rcu: readers may still look at it after its removal
 * @gid: the address; IPv4 ones are mapped into IPv6
 * @dev: the device that has it
 * @ifindex: the interface that has it
 * @vlan: VLAN of that interface, or SRDMA_NO_VLAN
 * @net: where it is listed
 */
struct gid_entry {
	struct hlist_node node;
	struct hlist_node iface_node;
	struct rcu_head rcu;
	union ib_gid gid;
	struct srdma_dev *dev;
	int ifindex;
	u16 vlan;
	struct srdma_netns *net;
};

static u32 gid_hash(const union ib_gid *gid)
{
	return jhash2((const u32 *)gid->raw, sizeof(gid->raw) / sizeof(u32), 0);
}

/**
 * srdma_addresses_changed - count a change
 * @net: namespace, whose gid_lock is held
 *
 * Code that reads the new number sees the change.
 */
void srdma_addresses_changed(struct srdma_netns *net)
{
	lockdep_assert_held(&net->gid_lock);
	/* Pairs with srdma_netns_generation(). */
	smp_store_release(&net->generation, net->generation + 1);
}

/*
 * A VLAN interface gets its addresses by way of the interface under it, and
 * with them those of its neighbours: only its own are wanted. Nor can a device
 * serve the address of an upper interface that was moved to another namespace.
 */
static bool gid_is_ours(const struct srdma_dev *dev,
			const struct net_device *ndev)
{
	if (!net_eq(dev_net(ndev), dev->net->net))
		return false;
	return dev->ndev == dev->gid_ndev || dev->ndev == ndev;
}

static u16 vlan_of(const struct net_device *ndev)
{
	return is_vlan_dev(ndev) ? vlan_dev_vlan_id(ndev) : SRDMA_NO_VLAN;
}

static void list_entry_in_net(struct gid_entry *entry)
{
	struct srdma_netns *net = entry->net;

	spin_lock_bh(&net->gid_lock);
	hash_add_rcu(net->gids, &entry->node, gid_hash(&entry->gid));
	if (entry->ifindex == entry->dev->ndev->ifindex)
		hash_add_rcu(net->ifaces, &entry->iface_node, entry->ifindex);
	srdma_addresses_changed(net);
	spin_unlock_bh(&net->gid_lock);
}

/**
 * srdma_addresses_add - the core has given a device a GID
 * @attr: the GID
 * @context: filled with our entry
 */
int srdma_addresses_add(const struct ib_gid_attr *attr, void **context)
{
	struct srdma_dev *dev = to_sdev(attr->device);
	struct net_device *ndev;
	struct gid_entry *entry;
	int err = 0;

	entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return -ENOMEM;
	entry->gid = attr->gid;
	entry->dev = dev;

	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	if (ndev && gid_is_ours(dev, ndev)) {
		entry->ifindex = ndev->ifindex;
		entry->vlan = vlan_of(ndev);
		entry->net = dev->net;
	} else {
		err = -EADDRNOTAVAIL;
	}
	rcu_read_unlock();
	if (err) {
		kfree(entry);
		return err;
	}

	list_entry_in_net(entry);
	*context = entry;
	return 0;
}

int srdma_addresses_del(const struct ib_gid_attr *attr, void **context)
{
	struct gid_entry *entry = *context;

	if (!entry)
		return 0;
	spin_lock_bh(&entry->net->gid_lock);
	hash_del_rcu(&entry->node);
	hash_del_rcu(&entry->iface_node);
	srdma_addresses_changed(entry->net);
	spin_unlock_bh(&entry->net->gid_lock);
	kfree_rcu(entry, rcu);
	return 0;
}

/**
 * srdma_addresses_find - the device that has an address
 * @net: namespace
 * @gid: the address
 * @ifindex: interface the packet came in on; where several devices have the
 *	address (link-local ones; those of a VLAN, which the device under it
 *	has too) the one on this interface is meant
 *
 * Return: the device, valid until the caller leaves its RCU section, or NULL.
 */
struct srdma_dev *srdma_addresses_find(struct srdma_netns *net,
				       const union ib_gid *gid, int ifindex)
{
	struct srdma_dev *found = NULL;
	struct gid_entry *entry;

	hash_for_each_possible_rcu(net->gids, entry, node, gid_hash(gid)) {
		if (memcmp(&entry->gid, gid, sizeof(*gid)))
			continue;
		if (entry->ifindex == ifindex &&
		    !hlist_unhashed_lockless(&entry->iface_node))
			return entry->dev;
		if (!found || entry->ifindex == ifindex)
			found = entry->dev;
	}
	return found;
}

/**
 * srdma_addresses_find_on - the device on an interface
 * @net: namespace
 * @ifindex: interface
 *
 * Return: the device, valid until the caller leaves its RCU section, or NULL,
 * also for one that has no address yet.
 */
struct srdma_dev *srdma_addresses_find_on(struct srdma_netns *net, int ifindex)
{
	struct gid_entry *entry;

	hash_for_each_possible_rcu(net->ifaces, entry, iface_node, ifindex)
		if (entry->ifindex == ifindex)
			return entry->dev;
	return NULL;
}

/**
 * srdma_addresses_vlan - the VLAN that an address of a device is in
 * @dev: device
 * @gid: address, or a multicast group
 *
 * Return: the VLAN of the interface that has the address, or that the device
 * is on; SRDMA_NO_VLAN if it is none.
 */
u16 srdma_addresses_vlan(struct srdma_dev *dev, const union ib_gid *gid)
{
	u16 vlan = vlan_of(dev->ndev);
	struct gid_entry *entry;

	rcu_read_lock();
	hash_for_each_possible_rcu(dev->net->gids, entry, node, gid_hash(gid)) {
		if (entry->dev == dev &&
		    !memcmp(&entry->gid, gid, sizeof(*gid))) {
			vlan = entry->vlan;
			break;
		}
	}
	rcu_read_unlock();
	return vlan;
}

/**
 * srdma_addresses_host_has - does the host have an address of IPv6, where a link is?
 * @dev: device
 * @addr: address; one of another interface counts, unless it is a link-local one
 * @but: IFA_F_* of addresses that do not count
 *
 * The core makes a GID of the MAC, whatever addresses the interface has.
 */
bool srdma_addresses_host_has(const struct srdma_dev *dev,
			      const struct in6_addr *addr, u32 but)
{
	/* Where IPv6 is switched off for good it has no table. */
	return ipv6_mod_enabled() &&
	       ipv6_chk_addr_and_flags(dev->net->net, addr, dev->ndev, false, 0,
				       but);
}
