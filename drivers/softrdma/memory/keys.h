/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Keys: how a number from a work request or the wire names registered memory,
 * and how that memory is taken away from its users.
 *
 * Every key has a gate. An access enters the gate, checks the key, accesses the
 * memory and leaves, all with bottom halves disabled. Code that changes what a
 * key names closes the gate, and waits until the last access has left. While
 * the gate is open, nothing behind it changes. Once it is closed and drained,
 * nobody reads it.
 *
 * Many QPs, on as many CPUs, may use one region. So an access to a region of
 * verbs writes nothing that belongs to the region: it takes a seat of its CPU,
 * and code that waits looks at all seats. Regions of work requests and windows
 * come and go with each request, mostly belong to one QP, and are waited for
 * where nobody may sleep. Their gate counts.
 */
#ifndef SRDMA_KEYS_H
#define SRDMA_KEYS_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "base/table.h"

#include <rdma/softrdma-errors.h>

struct srdma_page_map;
struct srdma_mw_set;

/*
 * IB_ACCESS_FLUSH_GLOBAL, which older kernels have no name for. That memory
 * outlasts a power failure is promised of none.
 */
#define SRDMA_ACCESS_FLUSH	BIT(8)

/* What makes a key a remote key. */
#define SRDMA_ACCESS_REMOTE	(IB_ACCESS_REMOTE_READ | \
				 IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_ATOMIC | \
				 SRDMA_ACCESS_FLUSH)

/* The number of the key that names kernel memory for kernel consumers. */
#define SRDMA_KEY_KERNEL	0

/**
 * enum srdma_mem_why - why memory cannot be had
 * @SRDMA_MEM_OK: it can
 * @SRDMA_MEM_KEY: nothing has this key at present
 * @SRDMA_MEM_PD: it belongs to another protection domain
 * @SRDMA_MEM_QP: the window is bound to another queue pair
 * @SRDMA_MEM_RANGE: not within the bounds of the key
 * @SRDMA_MEM_ACCESS: the key does not allow it
 * @SRDMA_MEM_ALIGN: an atomic on a word that is not aligned
 * @SRDMA_MEM_LENGTH: the pieces, or the packet, end too early
 * @SRDMA_MEM_STATE: not in this state or not for this kind of object
 * @SRDMA_MEM_BUSY: windows are bound to the region
 * @SRDMA_MEM_GONE: it was lent (memory/loan.h), and is not any more
 */
enum srdma_mem_why {
	SRDMA_MEM_OK,
	SRDMA_MEM_KEY,
	SRDMA_MEM_PD,
	SRDMA_MEM_QP,
	SRDMA_MEM_RANGE,
	SRDMA_MEM_ACCESS,
	SRDMA_MEM_ALIGN,
	SRDMA_MEM_LENGTH,
	SRDMA_MEM_STATE,
	SRDMA_MEM_BUSY,
	SRDMA_MEM_GONE,
};

/**
 * enum srdma_key_kind - what a key names
 * @SRDMA_KEY_MR: a memory region, struct srdma_mr
 * @SRDMA_KEY_MW: a memory window, struct srdma_mw
 */
enum srdma_key_kind {
	SRDMA_KEY_MR,
	SRDMA_KEY_MW,
};

/**
 * enum srdma_key_state - whether a key may be used
 * @SRDMA_KEY_FREE: names nothing: not yet registered or bound, or invalidated
 * @SRDMA_KEY_VALID: names memory; only now is the gate open
 * @SRDMA_KEY_DEAD: the object is being destroyed
 *
 * FREE and VALID follow each other; DEAD comes last, from either.
 */
enum srdma_key_state {
	SRDMA_KEY_FREE,
	SRDMA_KEY_VALID,
	SRDMA_KEY_DEAD,
};

/**
 * struct srdma_key - what look-ups find; first in every object that has a key
 * @gate: negative once closed; else the number of accesses under way that have
 *	no seat. Only the control path writes it where accesses have seats
 * @kind: what it is, enum srdma_key_kind; constant
 * @has_seats: accesses take a seat of their CPU; constant
 * @key: the number, upper 24 bits the index in struct srdma_keys. This and the
 *	rest of the line change only while the gate is closed and drained
 * @access: IB_ACCESS_* flags
 * @pd: protection domain; compared, not followed
 * @set: windows of the QP that this window is bound to; NULL when any QP of
 *	the protection domain may use it; compared, not followed
 * @start: first address
 * @length: bytes from there on; together they never exceed 64 bits
 * @map: where the bytes are
 * @offset: position of @start in @map
 * @lock: serialises changes of @state and of everything that the gate guards
 * @state: whether it may be used; under @lock
 * @ended_at: when it was last taken from its users, ns; 0: never. Under @lock
 * @ended_by: and by what, enum srdma_err_by; likewise
 * @uid: user who created it; INVALID_UID: a kernel consumer. Constant
 * @rcu: look-ups may still see the object when it is destroyed
 *
 * An access reads the first line and nothing else of it.
 */
struct srdma_key {
	atomic_t gate;
	u8 kind;
	bool has_seats;
	u32 key;
	u32 access;
	struct ib_pd *pd;
	const struct srdma_mw_set *set;
	u64 start;
	u64 length;
	const struct srdma_page_map *map;
	u64 offset;

	spinlock_t lock ____cacheline_aligned;
	enum srdma_key_state state;
	u64 ended_at;
	u8 ended_by;
	kuid_t uid;
	struct rcu_head rcu;
};

/* What accesses read, and what the control path writes. */
static_assert(offsetofend(struct srdma_key, offset) <= 64);
static_assert(IS_ALIGNED(offsetof(struct srdma_key, lock), SMP_CACHE_BYTES));

/*
 * Seats of a CPU. An access has bottom halves disabled, and has two iterators at
 * most, one of which looks at a key twice, beside one that rests: four. More are taken
 * only where accesses preempt each other, on real-time kernels; those without one count.
 */
#define SRDMA_KEY_SEATS	8

/**
 * struct srdma_key_seat - where an access that is under way is written down
 * @key: what it accesses; NULL: the seat is free. The one that took it frees it
 */
struct srdma_key_seat {
	struct srdma_key *key;
};

/**
 * struct srdma_key_seats - the seats of a CPU, on a line that others seldom read
 * @seat: they
 */
struct srdma_key_seats {
	struct srdma_key_seat seat[SRDMA_KEY_SEATS];
} ____cacheline_aligned;

DECLARE_PER_CPU(struct srdma_key_seats, srdma_key_seats);

/* Keys that are gone and remembered. */
#define SRDMA_KEYS_GONE	256

/**
 * struct srdma_key_gone - a key whose object was destroyed
 * @key: the number
 * @uid: user who created it
 * @at: when, ns; 0: there is none here
 */
struct srdma_key_gone {
	u32 key;
	kuid_t uid;
	u64 at;
};

/**
 * struct srdma_keys - the keys of a device
 * @numbers: upper 24 bits of those that are in use
 * @table: regions and windows by the same; looked up under RCU
 * @next: where the search for a free number starts
 * @gone_lock: guards @gone
 * @gone: those that have gone last, so that an error can tell: each at its
 *	index, where the one that was there before is forgotten
 */
struct srdma_keys {
	struct xarray numbers;
	struct srdma_table table;
	u32 next;
	spinlock_t gone_lock;
	struct srdma_key_gone gone[SRDMA_KEYS_GONE];
};

/**
 * struct srdma_mem_who - on whose behalf memory is accessed; constant while in
 *	use
 * @keys: of the device
 * @pd: protection domain of the queue that the work request or packet is for:
 *	of the SRQ, where the buffer is that of an SRQ
 * @set: windows of the QP; NULL where no remote key can occur
 * @uid: user who created the QP, or INVALID_UID; errors explain only keys of
 *	this user
 */
struct srdma_mem_who {
	struct srdma_keys *keys;
	struct ib_pd *pd;
	struct srdma_mw_set *set;
	kuid_t uid;
};

/*
 * The one range check. Adding @at and @len first could wrap; so can @at -
 * @start, but then it is larger than any length.
 */
static inline bool srdma_range_ok(u64 start, u64 length, u64 at, u64 len)
{
	return at >= start && len <= length && at - start <= length - len;
}

static inline u32 srdma_key_index(u32 key)
{
	return key >> 8;
}

/**
 * srdma_key_find - the object at the index of a key
 * @keys: of the device
 * @key: number; whether it matches is to be checked behind the gate or under
 *	the lock
 *
 * Called with bottom halves disabled, which keeps the object's memory.
 */
static inline struct srdma_key *srdma_key_find(struct srdma_keys *keys, u32 key)
{
	RCU_LOCKDEP_WARN(!rcu_read_lock_bh_held(), "key used from a task");
	return srdma_table_find(&keys->table, srdma_key_index(key));
}

/* @key with the 8 bits that are the consumer's to choose from @variant. */
static inline u32 srdma_key_vary(u32 key, u32 variant)
{
	return (key & ~0xffU) | (variant & 0xff);
}

void srdma_keys_init(struct srdma_keys *keys);
void srdma_keys_uninit(struct srdma_keys *keys);
int srdma_key_publish(struct srdma_keys *keys, struct srdma_key *key,
		      enum srdma_key_kind kind, struct ib_pd *pd);
void srdma_key_erase(struct srdma_keys *keys, struct srdma_key *key);

void srdma_key_open(struct srdma_key *key);
void srdma_key_close(struct srdma_key *key, enum srdma_key_state state,
		     enum srdma_err_by by);
bool srdma_key_was(struct srdma_keys *keys, u32 key, kuid_t uid, u64 *at);
void srdma_key_drain(struct srdma_key *key);
void srdma_key_drain_spin(struct srdma_key *key);
void srdma_key_drained(struct srdma_key *key);

struct srdma_key_seat *srdma_key_sit_behind(struct srdma_key_seat *seat,
					    struct srdma_key *key);

/*
 * A seat, or NULL when there is none. On real-time kernels another access may
 * preempt this one, and this one may have left its CPU: so it is taken by compare
 * and exchange, from whatever CPU it is.
 */
static inline struct srdma_key_seat *srdma_key_sit(struct srdma_key *key)
{
	struct srdma_key_seat *seat = raw_cpu_ptr(&srdma_key_seats)->seat;

	return likely(!cmpxchg(&seat->key, NULL, key)) ? seat :
		srdma_key_sit_behind(seat, key);
}

/**
 * srdma_key_enter - begin an access
 * @key: from srdma_key_find(), in the same section with bottom halves disabled
 * @seat: filled with its seat or NULL, for srdma_key_leave()
 *
 * The caller must leave before it enables bottom halves again, and must not
 * bind, invalidate or run another engine in between: they may wait for it.
 *
 * Return: whether the gate is open; then, and until srdma_key_leave(), nothing
 * that the key says changes. Pairs with the release in srdma_key_open().
 */
static inline bool __must_check srdma_key_enter(struct srdma_key *key,
						struct srdma_key_seat **seat)
{
	if (unlikely(!key->has_seats)) {
		*seat = NULL;
		return atomic_inc_unless_negative(&key->gate);
	}
	/* So nobody who knows it to be closed delays the one who waits. */
	if (atomic_read(&key->gate) < 0)
		return false;
	*seat = srdma_key_sit(key);
	if (unlikely(!*seat))
		return atomic_inc_unless_negative(&key->gate);
	/*
	 * Taking it was fully ordered: pairs with srdma_key_drain(). Either the
	 * one who waits sees the seat, or this sees that the gate is closed.
	 */
	if (likely(atomic_read_acquire(&key->gate) >= 0))
		return true;
	/* Pairs with srdma_key_drain(), though nothing was done. */
	smp_store_release(&(*seat)->key, NULL);
	return false;
}

/* Everything done inside happens before the code that closed the gate goes on. */
static inline void srdma_key_leave(struct srdma_key *key,
				   struct srdma_key_seat *seat)
{
	if (seat)
		/* Pairs with srdma_key_drain(). */
		smp_store_release(&seat->key, NULL);
	else if (unlikely(atomic_dec_return(&key->gate) == INT_MIN))
		srdma_key_drained(key);
}

#endif
