/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What memory/keys.c, base/table.c, wire/inflight.c, receive queues and QPs use of
 * the kernel, in user space. What is measured is as in the kernel: atomics, cache
 * lines, and variables of each CPU. The rest has the right size, or is never called.
 */
#ifndef SRDMA_CPUS_KERNEL_H
#define SRDMA_CPUS_KERNEL_H

#include <asm/byteorder.h>
#include <errno.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- cache lines and compilers ---- */

#define SMP_CACHE_BYTES		64
#define ____cacheline_aligned	__aligned(SMP_CACHE_BYTES)
#define __rcu
#define __user
#define IS_ALIGNED(x, a)	(((x) & ((a) - 1)) == 0)
#define container_of(p, t, m)	((t *)((char *)(p) - offsetof(t, m)))
#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile typeof(x) *)&(x) = (v))
#define WARN_ON_ONCE(x)		((void)(x))
#define SZ_1K			(1 << 10)
#define SZ_2K			(2 << 10)
#define SZ_64K			(64 << 10)
#define SZ_128K			(128 << 10)
#define SZ_512K			(512 << 10)
#define SZ_2M			(2 << 20)
#define NSEC_PER_MSEC		1000000UL
#define BITS_PER_LONG		64
#define TASK_COMM_LEN		16
#define ETH_ALEN		6
#define INT_MIN			(-2147483647 - 1)

static inline int order_base_2(u32 n)
{
	return n > 1 ? ilog2(n - 1) + 1 : 0;
}

/* ---- atomics: orders as the kernel has them, or stronger ---- */

typedef struct { int counter; } atomic_t;
typedef struct { s64 counter; } atomic64_t;
typedef atomic_t refcount_t;

/* For the tests themselves. */
#define peek(p)			__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define publish(p, v)		__atomic_store_n(p, v, __ATOMIC_RELEASE)

#define full_fence()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_mb()		full_fence() /* as there */
#define smp_rmb()		full_fence()
#define smp_mb__after_atomic()	do { } while (0) /* every atomic is one */
#define smp_load_acquire(p)	peek(p) /* as there */
#define smp_store_release(p, v)	publish(p, v) /* as there */
#define swap(a, b)		({ typeof(a) swapped = (a); (a) = (b); (b) = swapped; })
#define cpu_relax()		__builtin_ia32_pause()
#define preempt_disable()	do { } while (0)
#define preempt_enable()	do { } while (0)
#define xchg(p, v)		__atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define cmpxchg(p, from, to) ({						\
	typeof(*(p)) from_ = (from);					\
	__atomic_compare_exchange_n(p, &from_, to, false,		\
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);	\
	from_; })

#define atomic_read(a)		READ_ONCE((a)->counter)
#define atomic_set(a, v)	WRITE_ONCE((a)->counter, v)
#define atomic64_read		atomic_read
#define atomic64_set		atomic_set
#define atomic_read_acquire(a)	peek(&(a)->counter)
#define atomic_set_release(a, v)	publish(&(a)->counter, v)
#define atomic_add_return(v, a)	\
	__atomic_add_fetch(&(a)->counter, v, __ATOMIC_SEQ_CST)
#define atomic_sub_return(v, a)	atomic_add_return(-(v), a)
#define atomic_dec_return(a)	atomic_add_return(-1, a)
#define atomic64_dec_return_release(a)	atomic_add_return(-1, a)
#define atomic_add(v, a)	((void)atomic_add_return(v, a))
#define refcount_inc(a)		atomic_add(1, a)
#define refcount_set		atomic_set

static inline bool atomic64_try_cmpxchg_acquire(atomic64_t *a, s64 *old, s64 v)
{
	return __atomic_compare_exchange_n(&a->counter, old, v, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
}

static inline bool atomic_inc_unless_negative(atomic_t *a)
{
	int old = atomic_read(a);

	do {
		if (old < 0)
			return false;
	} while (!__atomic_compare_exchange_n(&a->counter, &old, old + 1, false,
					      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	return true;
}

static inline bool refcount_inc_not_zero(refcount_t *r)
{
	int old = atomic_read(r);

	do {
		if (!old)
			return false;
	} while (!__atomic_compare_exchange_n(&r->counter, &old, old + 1, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}

static inline void set_bit(int bit, unsigned long *word)
{
	__atomic_or_fetch(word, BIT(bit), __ATOMIC_SEQ_CST);
}

static inline void clear_bit(int bit, unsigned long *word)
{
	__atomic_and_fetch(word, ~BIT(bit), __ATOMIC_SEQ_CST);
}

/* ---- variables of each CPU: a thread is one, as the threads are pinned ---- */

#define CPUS	2
extern __thread int this_cpu;

#define APART	64	/* so many elements lie between those of two CPUs */

#define DECLARE_PER_CPU(type, name)	extern type name[CPUS * APART]
#define DEFINE_PER_CPU(type, name)	typeof(type) name[CPUS * APART]
#define per_cpu_ptr(p, cpu)	(&(*(p))[(cpu) * APART])
#define raw_cpu_ptr(p)		per_cpu_ptr(p, this_cpu)
#define this_cpu_inc(name)	((name)[this_cpu * APART]++)
#define this_cpu_dec(name)	((name)[this_cpu * APART]--)
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < CPUS; (cpu)++)

/* ---- RCU: sections cost nothing; nothing is freed ---- */

struct rcu_head { void *next, *func; };

#define rcu_read_lock()		do { } while (0)
#define rcu_read_unlock()	do { } while (0)
#define rcu_read_lock_bh_held()	true
#define rcu_dereference_check(p, c)	READ_ONCE(p)
#define rcu_dereference_raw(p)	READ_ONCE(p)
#define rcu_dereference_protected(p, c)	(p)
#define rcu_assign_pointer(p, v)	publish(&(p), v)
#define RCU_INITIALIZER(p)	(p)
#define RCU_LOCKDEP_WARN(c, text)	do { } while (0)
#define unrcu_pointer(p)	(p)
#define synchronize_rcu_tasks()	do { } while (0)

/* ---- what is there, but not used by what is measured ---- */

typedef struct { int locked; } spinlock_t;
typedef struct { u32 val; } kuid_t;
typedef unsigned int gfp_t;
typedef u32 __wsum;
struct list_head { struct list_head *next, *prev; };
struct llist_node { struct llist_node *next; };
struct mutex { u64 words[4]; };
struct hrtimer { u64 words[8]; };
struct tasklet_struct { u64 words[5]; };
struct xarray { u64 words[2]; };
struct in6_addr { u64 words[2]; };
struct iphdr { u8 bytes[20]; };
struct ipv6hdr { u8 bytes[40]; };
struct udphdr { u8 bytes[8]; };
struct completion;
struct dst_entry;
struct mem_cgroup;
struct vm_area_struct;
struct rdma_user_mmap_entry;
struct ib_ucontext;

#define INVALID_UID		((kuid_t) { ~0U })
#define GFP_KERNEL_ACCOUNT	0
#define __GFP_RETRY_MAYFAIL	0
#define __GFP_NOWARN		0
#define HZ			100
#define jiffies			0UL
#define time_before(a, b)	((long)((a) - (b)) < 0)
#define XA_FLAGS_ALLOC1		0
#define XA_FLAGS_ACCOUNT	0
#define XA_LIMIT(a, b)		(b)
#define spin_lock_init(l)	((l)->locked = 0)
#define spin_lock_bh(l)		((l)->locked = 1)
#define spin_unlock_bh(l)	((l)->locked = 0)
#define spin_lock_irq		spin_lock_bh
#define spin_unlock_irq		spin_unlock_bh
#define spin_lock_irqsave(l, flags)	((flags) = ((l)->locked = 1))
#define spin_unlock_irqrestore(l, flags)	((l)->locked = (flags) & 0)
#define lockdep_assert_held(l)	do { } while (0)
#define xa_init_flags(xa, flags)	do { } while (0)
#define xa_alloc_cyclic(xa, index, entry, limit, next, gfp)	\
	(*(index) = ++*(next), 0)
#define xa_erase(xa, index)	do { } while (0)
#define xa_empty(xa)		true
#define xa_destroy(xa)		do { } while (0)
#define kzalloc(size, gfp)	calloc(1, size)
#define kfree(p)		free(p)
#define current_uid()		((kuid_t) { 0 })
#define uid_eq(a, b)		((a).val == (b).val)
#define get_random_u8()		7
#define ktime_get_ns()		0ULL
#define usleep_range(a, b)	usleep(a)
#define msleep(ms)		usleep((ms) * 1000)
#define time_after(a, b)	((long)((b) - (a)) < 0)
#define wait_var_event(v, c)	do { } while (!(c))
#define wake_up_var(v)		do { } while (0)
#define pr_warn(text)		fputs(text, stderr)

struct sk_buff {
	u32 len;
	void (*destructor)(struct sk_buff *skb);
	void *destructor_arg;
};

struct sk_buff_head {
	struct sk_buff *next, *prev;
	u32 qlen;
	spinlock_t lock;
};

#define skb_shinfo(skb)	(skb)

/* ---- <rdma/ib_verbs.h> ---- */

enum ib_mtu { IB_MTU_256 = 1 };
enum ib_mw_type { IB_MW_TYPE_1 = 1 };
enum ib_event_type { IB_EVENT_QP_FATAL = 1 };
enum ib_qp_state {
	IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD,
	IB_QPS_SQE, IB_QPS_ERR,
};

#define IB_ACCESS_LOCAL_WRITE	1
#define IB_ACCESS_REMOTE_WRITE	2
#define IB_ACCESS_REMOTE_READ	4
#define IB_ACCESS_REMOTE_ATOMIC	8

struct rdma_ah_attr { u64 words[7]; };
struct ib_qp_cap { u32 words[6]; };
struct ib_pd { void *uobject; };
struct ib_qp { void *device; };
struct ib_ah { void *device; };
struct ib_cq;
struct ib_sge { u64 addr; u32 length; u32 lkey; };
struct ib_recv_wr {
	struct ib_recv_wr *next;
	u64 wr_id;
	struct ib_sge *sg_list;
	int num_sge;
};
struct ib_wc;
struct skb_seq_state { u64 words[10]; };
struct ib_mr { void *device; };

#endif
