// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The core follows the addresses of Ethernet interfaces only. For other
 * interfaces (lo, tun) the driver watches addresses itself, and makes the core
 * read them again.
 */
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <net/addrconf.h>

#include "compat/compat.h"
#include "device/gids.h"
#include "device/ibdev.h"
#include "device/link.h"
#include "objects/device.h"

static void look_again(struct work_struct *work)
{
	struct srdma_dev *dev = container_of(work, struct srdma_dev, gids.work);

	/* A device that is being taken down has no use for new GIDs. */
	if (!ib_device_try_get(&dev->ib))
		return;
	if (test_and_clear_bit(0, &dev->gids.removed))
		srdma_compat_drop_gids(&dev->ib, SRDMA_PORT, dev->gid_ndev);
	rdma_roce_rescan_device(&dev->ib);
	srdma_dev_event(dev, IB_EVENT_GID_CHANGE);
	ib_device_put(&dev->ib);
}

/* Called under the link list's lock, for the link on the interface. */
static void address_changed(struct srdma_dev *dev, unsigned long event)
{
	if (event == NETDEV_DOWN)
		set_bit(0, &dev->gids.removed);
	schedule_work(&dev->gids.work);
}

static int address_event(struct net_device *ndev, unsigned long event)
{
	if (ndev->type != ARPHRD_ETHER &&
	    (event == NETDEV_UP || event == NETDEV_DOWN))
		srdma_link_with(ndev, address_changed, event);
	return NOTIFY_DONE;
}

static int ipv4_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct in_ifaddr *ifa = ptr;

	return address_event(ifa->ifa_dev->dev, event);
}

/* In atomic context, unlike its sibling. */
static int ipv6_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct inet6_ifaddr *ifa = ptr;

	return address_event(ifa->idev->dev, event);
}

static struct notifier_block ipv4_notifier = {
	.notifier_call = ipv4_event,
};

static struct notifier_block ipv6_notifier = {
	.notifier_call = ipv6_event,
};

/* The device is not in the link list yet. */
void srdma_gids_begin(struct srdma_dev *dev)
{
	INIT_WORK(&dev->gids.work, look_again);
}

/* No event finds the device any more. */
void srdma_gids_end(struct srdma_dev *dev)
{
	cancel_work_sync(&dev->gids.work);
}

int srdma_gids_init(void)
{
	int err;

	err = register_inetaddr_notifier(&ipv4_notifier);
	if (err)
		return err;
	err = register_inet6addr_notifier(&ipv6_notifier);
	if (err)
		unregister_inetaddr_notifier(&ipv4_notifier);
	return err;
}

void srdma_gids_exit(void)
{
	unregister_inet6addr_notifier(&ipv6_notifier);
	unregister_inetaddr_notifier(&ipv4_notifier);
}
