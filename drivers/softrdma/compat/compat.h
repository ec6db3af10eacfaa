/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The only place that knows about differences between kernels. The driver is
 * written for the newest kernel. This file adds what older kernels lack. It
 * checks types and macros and not version numbers, since stable kernels
 * backport names. compat/probe.mk looks for differences that neither shows.
 */
#ifndef SRDMA_COMPAT_H
#define SRDMA_COMPAT_H

#include <linux/cpufeature.h>
#include <linux/crc32.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/local_lock.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <net/flow.h>
#ifdef SRDMA_HAVE_GSO_H
#include <net/gso.h>
#endif
#include <net/inet_dscp.h>
#include <net/udp_tunnel.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

struct ib_dmah;

/* The type of a member of struct ib_device_ops, for _Generic. */
#define SRDMA_OP(op)	(((struct ib_device_ops *)NULL)->op)

/* Tunnel sockets: named by struct socket, later by struct sock. */
#define srdma_compat_setup_tunnel(net, socket, cfg)			\
	setup_udp_tunnel_sock(net, _Generic(&setup_udp_tunnel_sock,	\
		void (*)(struct net *, struct sock *,			\
			 struct udp_tunnel_sock_cfg *): (socket)->sk,	\
		default: (socket)), cfg)
#define srdma_compat_release_tunnel(socket)				\
	udp_tunnel_sock_release(_Generic(&udp_tunnel_sock_release,	\
		void (*)(struct sock *): (socket)->sk,			\
		default: (socket)))

/* Devices that know from the start in which namespace they are. */
#ifdef SRDMA_HAVE_ALLOC_DEVICE_WITH_NET
#define srdma_compat_alloc_device(type, member, net)			\
	ib_alloc_device_with_net(type, member, net)
#else
static inline struct ib_device *
srdma_compat_set_net(struct ib_device *ib, struct net *net)
{
	if (ib)
		write_pnet(&ib->coredev.rdma_net, net);
	return ib;
}

#define srdma_compat_alloc_device(type, member, net)			\
	container_of(srdma_compat_set_net(				\
		_ib_alloc_device(sizeof(struct type) + BUILD_BUG_ON_ZERO( \
			offsetof(struct type, member))), net),		\
		struct type, member)
#endif

/* Older kernels have no way to take single GIDs back: they stay. */
static inline void srdma_compat_drop_gids(struct ib_device *ib, u32 port,
					  struct net_device *ndev)
{
#ifdef SRDMA_HAVE_DEL_NETDEV_GIDS
	roce_del_all_netdev_gids(ib, port, ndev);
#endif
}

/* A name that a person gave is not changed by udev's naming rules. */
static inline void srdma_compat_name_by_user(struct ib_device *ib)
{
#ifdef SRDMA_HAVE_MARK_NAME_USER
	ib_mark_name_assigned_by_user(ib);
#endif
}

static inline struct ib_umem *
srdma_compat_umem_get(struct ib_device *ib, u64 start, size_t length,
		      int access)
{
#ifdef SRDMA_HAVE_UMEM_GET_VA
	return ib_umem_get_va(ib, start, length, access);
#else
	return ib_umem_get(ib, start, length, access);
#endif
}

static inline void
srdma_compat_hrtimer_setup(struct hrtimer *timer,
			   enum hrtimer_restart (*fn)(struct hrtimer *),
			   enum hrtimer_mode mode)
{
#ifdef SRDMA_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = fn;
#endif
}

/*
 * Does an interrupt come for irq_work, rather than the next tick? The answer of
 * 32-bit ARM is in a variable that modules do not see.
 */
static inline bool srdma_compat_irq_work_is_prompt(void)
{
#ifdef CONFIG_ARM
	return false;
#else
	return arch_irq_work_has_interrupt();
#endif
}

/*
 * A lock of what belongs to a CPU and is used with bottom halves disabled. On
 * real-time kernels these were such a lock themselves, once.
 */
#ifdef local_lock_nested_bh
#define srdma_compat_lock_nested_bh(lock)	local_lock_nested_bh(lock)
#define srdma_compat_unlock_nested_bh(lock)	local_unlock_nested_bh(lock)
#else
#define srdma_compat_lock_nested_bh(lock)	((void)(lock))
#define srdma_compat_unlock_nested_bh(lock)	((void)(lock))
#endif

/* Flags of a mapping: a plain member once. */
static inline void srdma_compat_vm_flags_set(struct vm_area_struct *vma,
					     vm_flags_t flags)
{
#ifdef SRDMA_HAVE_VM_FLAGS_SET
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

/* The traffic class of a route look-up: a byte, later a type of its own. */
static inline void srdma_compat_flow_tos(struct flowi4 *fl4, u8 tclass)
{
#ifdef flowi4_dscp
	fl4->flowi4_dscp = inet_dsfield_to_dscp(tclass);
#else
	fl4->flowi4_tos = tclass & INET_DSCP_MASK;
#endif
}

/* Once the default, now to be asked for. */
#ifdef SRDMA_HAVE_WQ_PERCPU
#define SRDMA_COMPAT_WQ_PERCPU	WQ_PERCPU
#else
#define SRDMA_COMPAT_WQ_PERCPU	0
#endif

/*
 * What the newest operations are advertised by. Older cores have no name for
 * them and refuse regions that may be flushed; an ATOMIC WRITE needs nothing
 * of the core.
 */
#define SRDMA_COMPAT_CAP_ATOMIC_WRITE	BIT_ULL(40)
#ifdef SRDMA_HAVE_FLUSH
#define SRDMA_COMPAT_CAP_FLUSH		IB_DEVICE_FLUSH_GLOBAL
static_assert(SRDMA_COMPAT_CAP_ATOMIC_WRITE == IB_DEVICE_ATOMIC_WRITE);
#else
#define SRDMA_COMPAT_CAP_FLUSH		0
#endif

/*
 * Does crc32_le() use what the CPU offers? Before it said so, it did on arm64 alone, if
 * the CPU has CRC instructions.
 */
static inline bool srdma_compat_crc32_le_is_fast(void)
{
#ifdef CRC32_LE_OPTIMIZATION
	return crc32_optimizations() & CRC32_LE_OPTIMIZATION;
#elif defined(CONFIG_ARM64)
	return cpu_have_named_feature(CRC32);
#else
	return false;
#endif
}

#endif
