// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of keys, and their gates.
 */
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/ktime.h>
#include <linux/wait_bit.h>

#include "base/bounds.h"
#include "memory/keys.h"

/* Index 0 is the key of kernel memory. */
#define KEY_INDEXES	XA_LIMIT(1, (1U << 24) - 1)

/* An access lasts as long as a burst of 64 KB is copied. */
#define SEAT_POLL_US	10

DEFINE_PER_CPU(struct srdma_key_seats, srdma_key_seats);

void srdma_keys_init(struct srdma_keys *keys)
{
	xa_init_flags(&keys->numbers, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	spin_lock_init(&keys->gone_lock);
}

/* Nothing has a key any more. */
void srdma_keys_uninit(struct srdma_keys *keys)
{
	WARN_ON_ONCE(!xa_empty(&keys->numbers));
	srdma_table_free(&keys->table);
	xa_destroy(&keys->numbers);
}

/**
 * srdma_key_publish - give a new object its key
 * @keys: of the device
 * @key: zeroed but for its lock, which the caller has initialised, so that
 *	regions and windows are different classes of lock; and for whether its
 *	accesses have seats
 * @kind: of object
 * @pd: protection domain
 *
 * Look-ups find it from now on, behind a closed gate. The index goes round, so
 * that a key comes back late, with the variant at random, so that a stale one
 * is unlikely to match even then.
 *
 * Return: 0, or the error of the table.
 */
int srdma_key_publish(struct srdma_keys *keys, struct srdma_key *key,
		      enum srdma_key_kind kind, struct ib_pd *pd)
{
	u32 index;
	int err;

	err = xa_alloc_cyclic(&keys->numbers, &index, NULL, KEY_INDEXES,
			      &keys->next, SRDMA_GFP);
	if (err < 0)
		return err;
	err = srdma_table_reserve(&keys->table, index);
	if (err) {
		xa_erase(&keys->numbers, index);
		return err;
	}
	key->kind = kind;
	key->state = SRDMA_KEY_FREE;
	key->pd = pd;
	key->uid = pd->uobject ? current_uid() : INVALID_UID;
	key->key = index << 8 | get_random_u8();
	atomic_set(&key->gate, INT_MIN);
	srdma_table_set(&keys->table, index, key);
	return 0;
}

static void remember(struct srdma_keys *keys, const struct srdma_key *key)
{
	u32 at = srdma_key_index(key->key) % SRDMA_KEYS_GONE;

	spin_lock_bh(&keys->gone_lock);
	keys->gone[at] = (struct srdma_key_gone) {
		.key = key->key,
		.uid = key->uid,
		.at = ktime_get_ns(),
	};
	spin_unlock_bh(&keys->gone_lock);
}

/**
 * srdma_key_was - did such a key exist until lately?
 * @keys: of the device
 * @key: number
 * @uid: user on whose behalf this is asked: only that user's keys are found
 * @at: filled with when it went, ns
 *
 * Only the last keys that were destroyed are kept.
 */
bool srdma_key_was(struct srdma_keys *keys, u32 key, kuid_t uid, u64 *at)
{
	const struct srdma_key_gone *gone;

	gone = &keys->gone[srdma_key_index(key) % SRDMA_KEYS_GONE];
	spin_lock_bh(&keys->gone_lock);
	*at = gone->key == key && uid_eq(gone->uid, uid) ?
	      gone->at : 0;
	spin_unlock_bh(&keys->gone_lock);
	return *at;
}

/* The object is freed by kfree_rcu() at the earliest. */
void srdma_key_erase(struct srdma_keys *keys, struct srdma_key *key)
{
	u32 index = srdma_key_index(key->key);

	remember(keys, key);
	srdma_table_set(&keys->table, index, NULL);
	xa_erase(&keys->numbers, index);
}

/* What the key names is complete. Pairs with srdma_key_enter(). */
void srdma_key_open(struct srdma_key *key)
{
	lockdep_assert_held(&key->lock);
	key->state = SRDMA_KEY_VALID;
	atomic_set_release(&key->gate, 0);
}

/**
 * srdma_key_close - let no access begin any more
 * @key: key
 * @state: its state from now on
 * @by: what takes it from its users
 *
 * One of the two waits must follow before anything that the key names changes.
 */
void srdma_key_close(struct srdma_key *key, enum srdma_key_state state,
		     enum srdma_err_by by)
{
	lockdep_assert_held(&key->lock);
	if (key->state == SRDMA_KEY_VALID)
		atomic_add(INT_MIN, &key->gate);
	key->ended_at = ktime_get_ns();
	key->ended_by = by;
	key->state = state;
}

static bool is_drained(const struct srdma_key *key)
{
	/* Pairs with the full barrier of srdma_key_leave(). */
	return atomic_read_acquire(&key->gate) == INT_MIN;
}

/* The first seat of a CPU is taken: one of the others, or NULL. */
noinline struct srdma_key_seat *
srdma_key_sit_behind(struct srdma_key_seat *seat, struct srdma_key *key)
{
	struct srdma_key_seat *end = seat + SRDMA_KEY_SEATS;

	while (++seat < end)
		if (!READ_ONCE(seat->key) && !cmpxchg(&seat->key, NULL, key))
			return seat;
	return NULL;
}

/* Nobody sits down any more who does not get up at once. */
static void wait_for_seat(const struct srdma_key_seat *seat,
			  const struct srdma_key *key)
{
	/* Pairs with the release in srdma_key_leave(). */
	while (smp_load_acquire(&seat->key) == key)
		usleep_range(SEAT_POLL_US, 2 * SEAT_POLL_US);
}

static void wait_for_seats(const struct srdma_key *key)
{
	const struct srdma_key_seats *seats;
	int cpu, i;

	/* The gate is closed before seats are read: pairs with srdma_key_enter(). */
	smp_mb();
	for_each_possible_cpu(cpu) {
		seats = per_cpu_ptr(&srdma_key_seats, cpu);
		for (i = 0; i < SRDMA_KEY_SEATS; i++)
			wait_for_seat(&seats->seat[i], key);
	}
}

/*
 * Waits for accesses under way; each takes as long as copying a burst. A seat
 * that was seen without the key is not looked at again: no access begins.
 */
void srdma_key_drain(struct srdma_key *key)
{
	if (key->has_seats)
		wait_for_seats(key);
	wait_var_event(&key->gate, is_drained(key));
}

/*
 * The same where sleeping is not possible: for keys whose accesses have no seats.
 * Those inside have bottom halves disabled as the caller has, hence are on other
 * CPUs and not interrupted but by hard interrupts: the wait is short.
 */
void srdma_key_drain_spin(struct srdma_key *key)
{
	while (!is_drained(key))
		cpu_relax();
}

/* The last one has left a closed gate. */
void srdma_key_drained(struct srdma_key *key)
{
	/* The object is kept by the caller's section even if its owner goes. */
	wake_up_var(&key->gate);
}
