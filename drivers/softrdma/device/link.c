// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Links: `rdma link add` and `del`, and events of the interface: up, down, MTU,
 * address changes, unregistration.
 *
 * A link can end in five ways: by rdma link del, with its interface, with its
 * namespace, when this module is unloaded, and when the in-tree driver is
 * unloaded, which unregisters every device with its driver id. All of them meet
 * in srdma_link_dealloc(). The core calls that exactly once, when the
 * device has no users any more.
 */
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/spinlock.h>
#include <net/addrconf.h>
#include <rdma/rdma_netlink.h>

#include "device/advice.h"
#include "device/effects.h"
#include "device/gids.h"
#include "device/ibdev.h"
#include "device/link.h"
#include "objects/device.h"
#include "observe/counters.h"
#include "observe/trace.h"
#include "verbs/mcast.h"
#include "wire/netns.h"
#include "wire/shortcut.h"

/* Guards the list and the flags of a link; address events are atomic. */
static DEFINE_SPINLOCK(links_lock);
static LIST_HEAD(links);

static struct rdma_link_ops link_ops;

static struct srdma_dev *find_link(const struct net_device *ndev)
{
	struct srdma_dev *dev;

	lockdep_assert_held(&links_lock);
	list_for_each_entry(dev, &links, link_entry)
		if (dev->ndev == ndev)
			return dev;
	return NULL;
}

/* Takes the place of @dev->ndev in the list, unless it is taken or going. */
static int claim_netdev(struct srdma_dev *dev, const char *name)
{
	struct net_device *ndev = dev->ndev;
	struct srdma_dev *other;
	int err = 0;

	ASSERT_RTNL();
	spin_lock_bh(&links_lock);
	other = find_link(ndev);
	if (other) {
		srdma_advice_taken(name, ndev, other);
		err = -EEXIST;
	} else if (ndev->reg_state != NETREG_REGISTERED ||
		   !net_eq(dev_net(ndev), dev->net->net)) {
		srdma_advice_failed(name, ndev, -ENODEV);
		err = -ENODEV;
	} else {
		list_add_tail(&dev->link_entry, &links);
	}
	spin_unlock_bh(&links_lock);
	return err;
}

static void unclaim_netdev(struct srdma_dev *dev)
{
	spin_lock_bh(&links_lock);
	list_del_init(&dev->link_entry);
	spin_unlock_bh(&links_lock);
}

/* Dispatched events are worked off before a device that we hold can go. */
void srdma_link_announce(struct srdma_dev *dev, enum ib_event_type event)
{
	if (!dev->registered || !ib_device_try_get(&dev->ib))
		return;
	srdma_dev_event(dev, event);
	ib_device_put(&dev->ib);
}

/* Of a device that is still being registered publish_link() will tell. */
static void announce_port(struct srdma_dev *dev)
{
	bool active = srdma_dev_port_is_up(dev);

	ASSERT_RTNL();
	if (!dev->registered || dev->port_active == active)
		return;
	dev->port_active = active;
	trace_srdma_port(dev, active);
	if (!active)
		srdma_stat_inc(dev, SRDMA_STAT_LINK_DOWN);
	srdma_link_announce(dev, active ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
}

/* The other link whose device has the same GIDs: see troubleshooting.rst. */
static struct srdma_dev *find_relative(const struct srdma_dev *dev)
{
	struct srdma_dev *other;

	lockdep_assert_held(&links_lock);
	list_for_each_entry(other, &links, link_entry)
		if (other != dev && other->registered && !other->gone &&
		    other->gid_ndev == dev->gid_ndev)
			return other;
	return NULL;
}

/*
 * The link may be deleted at any time, also before this has the locks: then there
 * is nothing to tell, and what counts events is freed. If the interface went away
 * during registration, its notifier left that to us.
 */
static int publish_link(struct srdma_dev *dev)
{
	bool gone = false;

	rtnl_lock();
	spin_lock_bh(&links_lock);
	if (list_empty(&dev->link_entry))
		goto out;
	dev->registered = true;
	gone = dev->gone;
	trace_srdma_link(dev, true);
	if (!gone) {
		announce_port(dev);
		srdma_advice_made(dev, find_relative(dev));
	}
out:
	spin_unlock_bh(&links_lock);
	rtnl_unlock();
	return gone ? -ENODEV : 0;
}

static int add_link(const char *name, struct net_device *ndev)
{
	struct srdma_dev *dev;
	int err;

	err = srdma_advice_check(name, ndev);
	if (err)
		return err;
	dev = srdma_dev_create(ndev);
	if (IS_ERR(dev)) {
		srdma_advice_failed(name, ndev, PTR_ERR(dev));
		return PTR_ERR(dev);
	}
	/* In one section: from here on the notifier knows of the link. */
	rtnl_lock();
	err = claim_netdev(dev, name);
	if (!err) {
		dev->active_mtu = srdma_dev_path_mtu(ndev);
		dev->port_active = srdma_dev_port_is_up(dev);
		srdma_shortcut_begin(dev);
	}
	rtnl_unlock();
	if (err)
		goto err_destroy;

	dev->ib.link_ops = &link_ops;
	/*
	 * Keeps the memory for publish_link(): once registered, the device can be
	 * deleted at any time.
	 */
	get_device(&dev->ib.dev);
	err = srdma_dev_register(dev, name);
	if (err) {
		srdma_advice_failed(name, ndev, err);
		put_device(&dev->ib.dev);
		goto err_destroy;
	}
	err = publish_link(dev);
	if (err) {
		srdma_advice_failed(name, ndev, err);
		ib_unregister_device(&dev->ib);
	}
	put_device(&dev->ib.dev);
	return err;

err_destroy:
	/* The core calls srdma_link_dealloc(). */
	ib_dealloc_device(&dev->ib);
	return err;
}

/**
 * srdma_link_dealloc - the core has let go of a device
 * @ib: device; also one whose creation or registration failed
 */
void srdma_link_dealloc(struct ib_device *ib)
{
	struct srdma_dev *dev = to_sdev(ib);

	srdma_dev_effects_end(dev);
	/*
	 * In one section: were the hook to stay while the notifier finds us no
	 * more, the interface could take it to another namespace. publish_link()
	 * comes before all of this, or does nothing.
	 */
	rtnl_lock();
	if (dev->registered)
		trace_srdma_link(dev, false);
	srdma_shortcut_end(dev);
	unclaim_netdev(dev);
	rtnl_unlock();
	srdma_gids_end(dev);
	srdma_dev_destroy(dev);
}

/**
 * srdma_link_with - do something with the link on an interface, if it has one
 * @ndev: interface
 * @what: called with the link under the list's lock
 * @event: handed to @what
 */
void srdma_link_with(const struct net_device *ndev,
		     void (*what)(struct srdma_dev *dev, unsigned long event),
		     unsigned long event)
{
	struct srdma_dev *dev;

	spin_lock_bh(&links_lock);
	dev = find_link(ndev);
	if (dev && dev->registered)
		what(dev, event);
	spin_unlock_bh(&links_lock);
}

/**
 * srdma_link_is_below - has an interface a link, or one that it is on top of?
 * @ndev: interface; under RCU
 */
bool srdma_link_is_below(struct net_device *ndev)
{
	struct srdma_dev *dev;
	bool found = false;

	spin_lock_bh(&links_lock);
	list_for_each_entry(dev, &links, link_entry) {
		found = dev->ndev == ndev ||
			netdev_has_upper_dev_all_rcu(dev->ndev, ndev);
		if (found)
			break;
	}
	spin_unlock_bh(&links_lock);
	return found;
}

static void change_mtu(struct srdma_dev *dev)
{
	enum ib_mtu mtu = srdma_dev_path_mtu(dev->ndev);

	if (dev->active_mtu == mtu)
		return;
	WRITE_ONCE(dev->active_mtu, mtu);
	srdma_link_announce(dev, IB_EVENT_CLIENT_REREGISTER);
}

/*
 * A link that is still being registered ends itself: see publish_link(). Only its
 * interface may ask for that, since rules find no link before (srdma_link_get()). One
 * that is queued already, or ends otherwise, may be queued again.
 */
static void end_link(struct srdma_dev *dev)
{
	if (dev->registered && ib_device_try_get(&dev->ib)) {
		ib_unregister_device_queued(&dev->ib);
		ib_device_put(&dev->ib);
	}
}

/* ---- what rules want done (device/effects.c) ---- */

/* The port may be up or down for another reason than its interface. */
void srdma_link_follow_port(struct srdma_dev *dev)
{
	rtnl_lock();
	spin_lock_bh(&links_lock);
	if (!dev->gone)
		announce_port(dev);
	spin_unlock_bh(&links_lock);
	rtnl_unlock();
}

/* Removes a link, soon. Its interface stays, so @gone is not for this. */
void srdma_link_end(struct srdma_dev *dev)
{
	spin_lock_bh(&links_lock);
	end_link(dev);
	spin_unlock_bh(&links_lock);
}

/* Under the list's lock. */
static struct srdma_dev *first_link(struct net *net, const char *name, u32 from)
{
	struct srdma_dev *dev, *first = NULL;

	list_for_each_entry(dev, &links, link_entry) {
		if (!dev->registered || !net_eq(dev->net->net, net))
			continue;
		/* Not dev_name(): that is freed when a link is renamed. */
		if (name ? strcmp(dev->ib.name, name) :
			   dev->ib.index < from)
			continue;
		if (!first || dev->ib.index < first->ib.index)
			first = dev;
	}
	return first;
}

/**
 * srdma_link_get - find a link
 * @net: namespace of its interface
 * @name: its name; NULL: the first from @from on
 * @from: index of a device
 *
 * Return: the link, which does not go away before ib_device_put(); or NULL.
 */
struct srdma_dev *srdma_link_get(struct net *net, const char *name, u32 from)
{
	struct srdma_dev *dev;

	spin_lock_bh(&links_lock);
	dev = first_link(net, name, from);
	/* One that is going is in the list for a while, and others behind it. */
	while (dev && !ib_device_try_get(&dev->ib))
		dev = name ? NULL : first_link(net, NULL, dev->ib.index + 1);
	spin_unlock_bh(&links_lock);
	return dev;
}

/**
 * srdma_link_name - the name of a link, as it is now
 * @dev: device, with a reference
 * @name: filled
 *
 * Renaming frees dev_name(), but writes over the name that this copies.
 */
void srdma_link_name(const struct srdma_dev *dev,
		     char name[IB_DEVICE_NAME_MAX])
{
	strscpy(name, dev->ib.name, IB_DEVICE_NAME_MAX);
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	bool may_have_ip = false;
	struct srdma_dev *dev;

	spin_lock_bh(&links_lock);
	dev = find_link(ndev);
	if (dev) {
		/* Elsewhere it is not ours any more. */
		may_have_ip = !dev->gone;
		switch (event) {
		case NETDEV_UNREGISTER:
			/* wire/tap.c reads it without a lock. */
			WRITE_ONCE(dev->gone, true);
			end_link(dev);
			break;
		case NETDEV_UP:
		case NETDEV_DOWN:
		case NETDEV_CHANGE:
			announce_port(dev);
			break;
		case NETDEV_CHANGEMTU:
			change_mtu(dev);
			break;
		}
	}
	spin_unlock_bh(&links_lock);
	if (!dev)
		return NOTIFY_DONE;
	/* srdma_link_dealloc() waits for the RTNL, which we hold. */
	if (event == NETDEV_UNREGISTER)
		srdma_shortcut_end(dev);
	if (may_have_ip)
		srdma_mcast_follow(dev);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

static struct rdma_link_ops link_ops = {
	.type = "softrdma",
	.newlink = add_link,
};

/* The module unloads: every link that is left goes with it. */
static void end_all_links(void)
{
	struct srdma_dev *dev;

	for (;;) {
		spin_lock_bh(&links_lock);
		dev = list_first_entry_or_null(&links, struct srdma_dev,
					       link_entry);
		if (dev)
			get_device(&dev->ib.dev);
		spin_unlock_bh(&links_lock);
		if (!dev)
			return;
		/* Returns when the device is gone, no matter how its end began. */
		ib_unregister_device(&dev->ib);
		put_device(&dev->ib.dev);
	}
}

int srdma_link_init(void)
{
	int err;

	err = register_netdevice_notifier(&netdev_notifier);
	if (err)
		return err;
	err = srdma_gids_init();
	if (err) {
		unregister_netdevice_notifier(&netdev_notifier);
		return err;
	}
	rdma_link_register(&link_ops);
	return 0;
}

void srdma_link_exit(void)
{
	/* Act 1: no new links; waits for those being made. */
	rdma_link_unregister(&link_ops);
	/* Act 2: no links. */
	end_all_links();
	/* Act 3: nothing is left for the notifiers to find. */
	srdma_gids_exit();
	unregister_netdevice_notifier(&netdev_notifier);
}

MODULE_ALIAS_RDMA_LINK("softrdma");
