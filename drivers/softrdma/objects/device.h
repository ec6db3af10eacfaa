/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One RDMA device, and the tables by which the verbs and the data path find
 * objects.
 */
#ifndef SRDMA_DEVICE_H
#define SRDMA_DEVICE_H

#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "base/bounds.h"
#include "base/table.h"
#include "memory/keys.h"
#include "observe/errors.h"
#include "observe/rule.h"

struct srdma_netns;
struct srdma_stats;

/* The only port of a device. */
#define SRDMA_PORT		1

/*
 * What the device promises on every machine; what depends on the memory is in
 * struct srdma_bounds. Documentation/softrdma/guide/limits.rst says why each is what
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

/**
 * struct srdma_gids - the look for changed addresses
 * @work: looks, in process context
 * @removed: an address was removed since the last look
 */
struct srdma_gids {
	struct work_struct work;
	unsigned long removed;
};

/**
 * struct srdma_drain - the queue pairs of a device that are looked after
 * @lock: guards the others, and srdma_qp.drain_entry; taken from any context but
 *	interrupts
 * @qps: queue pairs in the error state; the one looked at longest ago is first
 * @timer: looks at them
 * @ticking: @timer is armed, or its callback is going to arm it
 */
struct srdma_drain {
	spinlock_t lock;
	struct list_head qps;
	struct hrtimer timer;
	bool ticking;
};

/**
 * struct srdma_held - packets that a rule lets wait (wire/tamper.c)
 * @frames: they; its lock guards @bytes and @ended
 * @bytes: what they take, by truesize
 * @timer: fires when the first is due
 * @ended: no more may
 */
struct srdma_held {
	struct sk_buff_head frames;
	u32 bytes;
	struct hrtimer timer;
	bool ended;
};

/**
 * struct srdma_effects - what rules want done to the device
 * @lock: guards @due, @down_for and @ended
 * @due: bits of enum srdma_nl_action, from SRDMA_NL_ACT_PORT_DOWN on; what takes
 *	the port down clears SRDMA_EFFECT_UP, which so is always the last of them
 * @down_for: how long the port is to be down, ns; 0: until it is let up
 * @ended: the device is going
 * @work: does it, in process context (device/effects.c)
 * @up: lets the port up again
 */
struct srdma_effects {
	spinlock_t lock;
	unsigned long due;
	u64 down_for;
	bool ended;
	struct work_struct work;
	struct delayed_work up;
};

/**
 * struct srdma_dev - an RDMA device on a network interface
 * @ib: the core's part; first, since the core allocates the whole
 * @ndev: the interface; a reference is held until the core deallocates us
 * @gid_ndev: the interface whose addresses the core gives us as GIDs: @ndev, or
 *	the interface under it when @ndev is a VLAN
 * @net: namespace of @ndev and its sockets; counted in srdma_netns.links
 * @link_entry: in the list of all links (device/link.c, its lock)
 * @gone: @ndev is being unregistered; set by device/link.c under its lock, also
 *	read without
 * @registered: ib_register_device() has succeeded; likewise
 * @port_active: state last announced; device/link.c under the RTNL
 * @shortcut: the hook that wire/shortcut.c has on @ndev; the RTNL guards it
 * @has_shortcut: it is there; likewise
 * @gids: follows addresses where the core does not
 * @active_mtu: path MTU, enum ib_mtu; device/link.c writes it under the RTNL
 * @qp_numbers: which are in use
 * @qps: queue pairs by number; looked up under RCU
 * @next_qpn: where the search for a free QP number starts
 * @ahs: address handles by number; looked up under RCU
 * @next_ah: where the search for a free AH number starts
 * @ahs_gone: handles that have gone, of all times; the lock of @ahs guards it, and
 *	senders read it
 * @keys: of regions and windows
 * @drain: looks after queue pairs in the error state
 * @mcast_lock: guards @mcast; multicast look-ups are under RCU
 * @mcast: multicast groups that have a member
 * @mcast_seed: of the hash of their addresses, which users may choose
 * @bounds: how many there may be, and how large
 * @count: how many objects of each kind exist
 * @srq_num: last number given to an SRQ
 * @stats: per-CPU event counters
 * @errors: what has failed
 * @rules: what is to go wrong
 * @held: packets that wait because of that
 * @effects: what is to happen to the device because of that
 */
struct srdma_dev {
	struct ib_device ib;

	struct net_device *ndev;
	struct net_device *gid_ndev;
	struct srdma_netns *net;

	struct list_head link_entry;
	bool gone;
	bool registered;
	bool port_active;
	struct nf_hook_ops shortcut;
	bool has_shortcut;
	enum ib_mtu active_mtu;
	struct srdma_gids gids;

	struct xarray qp_numbers;
	struct srdma_table qps;
	u32 next_qpn;
	struct xarray ahs;
	u32 next_ah;
	u32 ahs_gone;
	struct srdma_keys keys;

	struct srdma_drain drain;

	struct mutex mcast_lock;
	DECLARE_HASHTABLE(mcast, 8);
	u32 mcast_seed;

	struct srdma_bounds bounds;
	atomic_t count[SRDMA_OBJ_COUNT];
	atomic_t srq_num;
	struct srdma_stats __percpu *stats;
	struct srdma_errors errors;

	struct srdma_rules rules;
	struct srdma_held held;
	struct srdma_effects effects;
};

static inline struct srdma_dev *to_sdev(const struct ib_device *ib)
{
	return container_of(ib, struct srdma_dev, ib);
}

static inline const struct srdma_dev *
srdma_dev_of_rules(const struct srdma_rules *rules)
{
	return container_of(rules, struct srdma_dev, rules);
}

/**
 * srdma_dev_count - count one more object
 * @dev: device
 * @kind: of what
 *
 * Return: 0, or -ENOMEM at the limit, as verbs have it.
 */
static inline int srdma_dev_count(struct srdma_dev *dev,
				  enum srdma_object kind)
{
	return atomic_add_unless(&dev->count[kind], 1,
				 dev->bounds.objects[kind]) ? 0 : -ENOMEM;
}

static inline void srdma_dev_uncount(struct srdma_dev *dev,
				     enum srdma_object kind)
{
	atomic_dec(&dev->count[kind]);
}

/**
 * srdma_qp_find - the QP with a number
 * @dev: device
 * @qpn: number, from the wire
 *
 * Bottom halves are disabled, which is a section of RCU: the QP is there until
 * the caller enables them, whatever becomes of it meanwhile. A verb that ends it
 * stops its engines first, and leaves no room in their inboxes.
 */
static inline struct srdma_qp *srdma_qp_find(struct srdma_dev *dev, u32 qpn)
{
	RCU_LOCKDEP_WARN(!rcu_read_lock_bh_held() && !rcu_read_lock_held(),
			 "QP used from a task");
	return srdma_table_find(&dev->qps, qpn);
}

#endif
