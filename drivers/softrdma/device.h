/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One RDMA device: what the verbs objects and the data path find it by.
 */
#ifndef SRDMA_DEVICE_H
#define SRDMA_DEVICE_H

#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "bounds.h"
#include "drain.h"
#include "gids.h"
#include "stats.h"
#include "table.h"

struct srdma_net;

/* The only port of a device. */
#define SRDMA_PORT		1

/*
 * What the device promises on every machine; what depends on the memory is in
 * struct srdma_bounds. Documentation/softrdma/limits.rst says why each is what
 * it is.
 */
enum srdma_limits {
	SRDMA_MAX_SGE = 32,
	SRDMA_MAX_INLINE = 512,
	SRDMA_MAX_RD_ATOMIC = 128,
	SRDMA_MAX_MCAST_QP_ATTACH = 56,
	SRDMA_MAX_FRMR_PAGES = 4096,
	SRDMA_GID_TABLE_LEN = 1024,
	SRDMA_PKEY_TABLE_LEN = 1,
};

#define SRDMA_MAX_MESSAGE	(1U << 31)
#define SRDMA_MAX_MR_BYTES	(1ULL << 46)

/**
 * struct srdma_dev - an RDMA device on a network interface
 * @ib: the core's part; first, since the core allocates the whole
 * @ndev: the interface; a reference is held until the core deallocates us
 * @gid_ndev: the interface whose addresses the core gives us as GIDs: @ndev, or
 *	the interface under it when @ndev is a VLAN
 * @net: namespace of @ndev and its sockets; counted in srdma_net.links
 * @link_entry: in the list of all links (link.c, its lock)
 * @gone: @ndev is being unregistered; set by link.c under its lock
 * @registered: ib_register_device() has succeeded; likewise
 * @port_active: state last announced; link.c under the RTNL
 * @ingress: the hook that ingress.c has on @ndev; the RTNL guards it
 * @has_ingress: it is there; likewise
 * @gids: follows addresses where the core does not
 * @active_mtu: path MTU, enum ib_mtu; link.c writes it under the RTNL
 * @qp_numbers: which are in use
 * @qps: queue pairs by number; looked up under RCU
 * @next_qpn: where the search for a free QP number starts
 * @ahs: address handles by number; looked up under RCU
 * @next_ah: where the search for a free AH number starts
 * @key_numbers: upper 24 bits of keys that are in use
 * @keys: regions and windows by the same; looked up under RCU
 * @next_key: where the search for a free key index starts
 * @drain: looks after queue pairs in the error state
 * @mcast_lock: guards @mcast; multicast look-ups are under RCU
 * @mcast: multicast groups that have a member
 * @mcast_seed: of the hash of their addresses, which anybody may choose
 * @bounds: how many there may be, and how large
 * @count: how many objects of each kind exist
 * @srq_num: last number given to an SRQ
 * @stats: per-CPU event counters
 */
struct srdma_dev {
	struct ib_device ib;

	struct net_device *ndev;
	struct net_device *gid_ndev;
	struct srdma_net *net;

	struct list_head link_entry;
	bool gone;
	bool registered;
	bool port_active;
	struct nf_hook_ops ingress;
	bool has_ingress;
	enum ib_mtu active_mtu;
	struct srdma_gids gids;

	struct xarray qp_numbers;
	struct srdma_table qps;
	u32 next_qpn;
	struct xarray ahs;
	u32 next_ah;
	struct xarray key_numbers;
	struct srdma_table keys;
	u32 next_key;

	struct srdma_drain drain;

	struct mutex mcast_lock;
	DECLARE_HASHTABLE(mcast, 8);
	u32 mcast_seed;

	struct srdma_bounds bounds;
	atomic_t count[SRDMA_OBJ_COUNT];
	atomic_t srq_num;
	struct srdma_stats __percpu *stats;
};

static inline struct srdma_dev *to_sdev(const struct ib_device *ib)
{
	return container_of(ib, struct srdma_dev, ib);
}

struct srdma_dev *srdma_dev_create(struct net_device *ndev);
void srdma_dev_destroy(struct srdma_dev *dev);
int srdma_dev_register(struct srdma_dev *dev, const char *name);

bool srdma_dev_port_is_up(const struct srdma_dev *dev);
enum ib_mtu srdma_dev_path_mtu(const struct net_device *ndev);
void srdma_dev_event(struct srdma_dev *dev, enum ib_event_type event);

int srdma_dev_count(struct srdma_dev *dev, enum srdma_object kind);
void srdma_dev_uncount(struct srdma_dev *dev, enum srdma_object kind);

#endif
