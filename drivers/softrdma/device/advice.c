// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Why a link cannot be made, and what to do about it: one line in the kernel's
 * log, which names the link and the interface. `rdma link add` itself prints
 * no more than an error number, because the core asks a driver for no more.
 *
 * scripts/check-errors compares these lines with troubleshooting.rst. Only who
 * has CAP_NET_ADMIN in the first user namespace can cause one, and they are
 * limited all the same.
 */
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/ratelimit.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "device/advice.h"
#include "device/ibdev.h"
#include "objects/device.h"
#include "wire/addresses.h"

/* With the headers that the core takes off for a path MTU of 256. */
#define LEAST_MTU	352

/*
 * A script may make many links at once, with many mistakes. Each kind of line has a
 * limit of its own: one that is said again and again hides no other.
 */
#define advise(print, fmt, ...)						\
do {									\
	static DEFINE_RATELIMIT_STATE(limit, 5 * HZ, 40);		\
									\
	if (__ratelimit(&limit))					\
		print("softrdma: " fmt "\n", ##__VA_ARGS__);		\
} while (0)

#define NO_TUNNEL \
	"take an interface with Ethernet frames: gretap, vxlan or geneve"
#define NO_IP \
	"take an interface with Ethernet frames that has an IP address"

/**
 * struct unfit - a kind of interface that cannot carry a link
 * @type: ARPHRD_*; of the last entry 0: all others
 * @what: what it is
 * @instead: what to do instead
 */
struct unfit {
	unsigned short type;
	const char *what;
	const char *instead;
};

static const struct unfit unfit[] = {
	{ ARPHRD_INFINIBAND, "IP over InfiniBand",
	  "use the RDMA device that its adapter has" },
	{ ARPHRD_IPGRE, "a GRE tunnel", NO_TUNNEL },
	{ ARPHRD_IP6GRE, "a GRE tunnel over IPv6", NO_TUNNEL },
	{ ARPHRD_TUNNEL, "an IP tunnel", NO_TUNNEL },
	{ ARPHRD_TUNNEL6, "an IP tunnel over IPv6", NO_TUNNEL },
	{ ARPHRD_SIT, "an IPv6 tunnel over IPv4", NO_TUNNEL },
	{ ARPHRD_PPP, "a PPP connection", NO_TUNNEL },
	{ ARPHRD_RAWIP, "a modem that has no Ethernet frames", NO_TUNNEL },
	{ ARPHRD_IEEE80211_RADIOTAP, "Wi-Fi in monitor mode",
	  "set its type to managed with iw" },
	{ ARPHRD_IEEE802154, "a network of IEEE 802.15.4", NO_IP },
	{ ARPHRD_CAN, "a CAN bus", NO_IP },
	{ ARPHRD_NETLINK, "a monitor of netlink", NO_IP },
	{ ARPHRD_VSOCKMON, "a monitor of vsock", NO_IP },
	{ 0, "not Ethernet", NO_IP },
};

/*
 * RoCE needs an interface that carries IP over an Ethernet-like link: real and
 * virtual Ethernet, loopback, and point-to-point ones without addresses (tun).
 */
static bool is_supported(const struct net_device *ndev)
{
	switch (ndev->type) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
	case ARPHRD_NONE:
		return true;
	default:
		return false;
	}
}

/* The core sees to its length and that it has no %. */
static bool is_name(const char *name)
{
	const unsigned char *c;

	for (c = name; *c; c++)
		if (*c <= ' ' || *c == 0x7f || *c == '/')
			return false;
	return strcmp(name, ".") && strcmp(name, "..");
}

/**
 * srdma_advice_check - may there be such a link? If not, say why
 * @name: its name
 * @ndev: its interface
 *
 * Return: 0 or an error
 */
int srdma_advice_check(const char *name, const struct net_device *ndev)
{
	const struct unfit *kind = unfit;

	if (!is_name(name)) {
		advise(pr_err, "%*pE: no name for a link on %s: use letters, digits, - and _",
		       (int)strlen(name), name, ndev->name);
		return -EINVAL;
	}
	if (!is_supported(ndev)) {
		while (kind->type && kind->type != ndev->type)
			kind++;
		advise(pr_err, "%s: %s is %s (type %u): %s", name, ndev->name,
		       kind->what, ndev->type, kind->instead);
		return -EOPNOTSUPP;
	}
	if (!iboe_get_mtu(READ_ONCE(ndev->mtu))) {
		advise(pr_err, "%s: %s has an MTU of %u, %u is the least: ip link set %s mtu 1500",
		       name, ndev->name, READ_ONCE(ndev->mtu), LEAST_MTU,
		       ndev->name);
		return -ERANGE;
	}
	return 0;
}

/**
 * srdma_advice_taken - an interface has a link already
 * @name: the link that was asked for
 * @ndev: interface
 * @other: its link; the list's lock keeps it
 */
void srdma_advice_taken(const char *name, const struct net_device *ndev,
			const struct srdma_dev *other)
{
	if (other->registered)
		/* Not dev_name(): that is freed when a link is renamed. */
		advise(pr_err, "%s: %s has the link %s already: use that, or rdma link delete %s",
		       name, ndev->name, other->ib.name, other->ib.name);
	else
		advise(pr_err, "%s: %s is just getting or losing a link: try again",
		       name, ndev->name);
}

/**
 * srdma_advice_failed - a link could not be made
 * @name: its name
 * @ndev: its interface
 * @err: what has failed
 */
void srdma_advice_failed(const char *name, const struct net_device *ndev,
			 int err)
{
	switch (err) {
	case -EADDRINUSE:
		advise(pr_err, "%s: %s needs UDP port 4791 of its namespace, which is taken: look with ss -uanp, or rmmod rdma_rxe",
		       name, ndev->name);
		break;
	case -ENFILE:
		advise(pr_err, "%s: an RDMA device of this name exists, maybe in another namespace: take another name for %s",
		       name, ndev->name);
		break;
	case -ENODEV:
		advise(pr_err, "%s: %s is going, or was moved to another namespace: make the link there",
		       name, ndev->name);
		break;
	case -ENOMEM:
		advise(pr_err, "%s: no memory for a link on %s: free some, and try again",
		       name, ndev->name);
		break;
	default:
		advise(pr_err, "%s: no link on %s, error %d: see the lines above",
		       name, ndev->name, err);
	}
}

/* Fills @gid with the GID that follows from the MAC, if it is that of our interface. */
static bool find_mac_gid(struct srdma_dev *dev, struct in6_addr *gid)
{
	const struct ib_gid_attr *attr;
	bool is_found;

	attr = rdma_get_gid_attr(&dev->ib, SRDMA_PORT, 0);
	if (IS_ERR(attr))
		return false;
	memcpy(gid, attr->gid.raw, sizeof(*gid));
	is_found = rcu_access_pointer(attr->ndev) == dev->ndev &&
		   ipv6_addr_type(gid) & IPV6_ADDR_LINKLOCAL;
	rdma_put_gid_attr(attr);
	return is_found;
}

/*
 * The core makes that GID whatever addresses the interface has, but finds peers, and the
 * host receives, by addresses. The address comes by itself, and later than the link maybe,
 * unless the interface is to have others.
 */
static void advise_mac_gid(struct srdma_dev *dev)
{
	const struct net_device *ndev = dev->ndev;
	struct inet6_dev *idev = NULL;
	struct in6_addr gid;

	if (ndev->type != ARPHRD_ETHER || !find_mac_gid(dev, &gid))
		return;
	if (ipv6_mod_enabled())
		idev = __in6_dev_get(ndev);
	if (!idev || READ_ONCE(idev->cnf.disable_ipv6))
		advise(pr_notice, "%s: nobody reaches GID 0, as IPv6 is disabled on %s: take another GID index",
		       dev->ib.name, ndev->name);
	else if (READ_ONCE(idev->cnf.addr_gen_mode) != IN6_ADDR_GEN_MODE_EUI64 &&
		 !srdma_addresses_host_has(dev, &gid, 0))
		advise(pr_notice, "%s: nobody reaches GID 0, as %s lacks its address: take another GID index, or ip addr add %pI6c/64 dev %s",
		       dev->ib.name, ndev->name, &gid, ndev->name);
}

/**
 * srdma_advice_made - there is a link; does something keep it from being used?
 * @dev: its device
 * @relative: another link with the same addresses, or NULL
 *
 * The list's lock keeps both. The RTNL is held.
 */
void srdma_advice_made(struct srdma_dev *dev, const struct srdma_dev *relative)
{
	const struct net_device *ndev = dev->ndev;

	if (relative)
		advise(pr_notice, "%s: %s has addresses in common with %s, by way of a VLAN: delete one of the links %s and %s",
		       dev->ib.name, ndev->name, relative->ndev->name,
		       relative->ib.name, dev->ib.name);
	if (!netif_running(ndev))
		advise(pr_notice, "%s: %s is down: ip link set %s up",
		       dev->ib.name, ndev->name, ndev->name);
	else if (!netif_carrier_ok(ndev))
		advise(pr_notice, "%s: %s has no carrier: look after its cable, or its other end",
		       dev->ib.name, ndev->name);
	else
		advise_mac_gid(dev);
}
