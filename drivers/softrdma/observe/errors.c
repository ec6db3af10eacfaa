// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The log of a device's errors. A log has room for some records; a new record
 * replaces the oldest. The memory is allocated when a user makes the first
 * object, and not when something fails.
 */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include <linux/ktime.h>

#include "base/bounds.h"
#include "observe/errors.h"

/**
 * struct srdma_error_log - the records of a user
 * @entry: in srdma_errors.logs
 * @owner: that user, by srdma_bounds_owner(): one log for all users of a user's
 *	namespaces. INVALID_UID: kernel consumers
 * @users: objects that may add to it; guarded by the lock of the logs, as all
 *	above
 * @lock: guards what follows
 * @written_at: when it was last added to, ns since the start of the machine
 * @count: how many have been added in all; the last is before that in @records,
 *	which goes round
 * @records: they
 */
struct srdma_error_log {
	struct list_head entry;
	kuid_t owner;
	u32 users;
	spinlock_t lock;
	u64 written_at;
	u64 count;
	struct srdma_error records[SRDMA_ERRORS_EACH];
};

/**
 * srdma_maker_init - describe the maker of an object
 * @maker: filled
 * @is_user: it is the current process; else a kernel consumer
 */
void srdma_maker_init(struct srdma_maker *maker, bool is_user)
{
	*maker = (struct srdma_maker) { .uid = INVALID_UID };
	if (!is_user)
		return;
	maker->uid = current_uid();
	maker->pid = task_tgid_nr(current);
	maker->own_pid = task_tgid_vnr(current);
	maker->pid_ns = task_active_pid_ns(current)->ns.inum;
	get_task_comm(maker->comm, current->group_leader);
}

static struct srdma_error_log *alloc_log(kuid_t owner, gfp_t gfp)
{
	struct srdma_error_log *log = kvzalloc(sizeof(*log), gfp);

	if (!log)
		return NULL;
	spin_lock_init(&log->lock);
	log->owner = owner;
	log->users = 1;
	return log;
}

int srdma_errors_init(struct srdma_errors *errors)
{
	spin_lock_init(&errors->lock);
	INIT_LIST_HEAD(&errors->logs);
	atomic64_set(&errors->last, 0);
	errors->kernel = alloc_log(INVALID_UID, GFP_KERNEL);
	if (!errors->kernel)
		return -ENOMEM;
	list_add(&errors->kernel->entry, &errors->logs);
	return 0;
}

/* There are no more users that could add records. */
void srdma_errors_uninit(struct srdma_errors *errors)
{
	struct srdma_error_log *log, *next;

	list_for_each_entry_safe(log, next, &errors->logs, entry)
		kvfree(log);
}

static struct srdma_error_log *find_log(struct srdma_errors *errors,
					kuid_t owner)
{
	struct srdma_error_log *log;

	lockdep_assert_held(&errors->lock);
	list_for_each_entry(log, &errors->logs, entry)
		if (uid_eq(log->owner, owner)) {
			log->users++;
			return log;
		}
	return NULL;
}

/* The unused log that was added to longest ago. */
static struct srdma_error_log *find_oldest(struct srdma_errors *errors)
{
	struct srdma_error_log *log, *oldest = NULL;

	lockdep_assert_held(&errors->lock);
	list_for_each_entry(log, &errors->logs, entry)
		if (!log->users &&
		    (!oldest || log->written_at < oldest->written_at))
			oldest = log;
	return oldest;
}

/*
 * Takes @fresh in, unless there is one by now. What is not needed any more comes
 * back in it: @fresh itself, or a log that had to go; or NULL.
 */
static struct srdma_error_log *take_in(struct srdma_errors *errors,
				       struct srdma_error_log **fresh)
{
	struct srdma_error_log *log = find_log(errors, (*fresh)->owner);
	struct srdma_error_log *oldest = NULL;

	if (log)
		return log;
	if (errors->count == SRDMA_ERRORS_USERS) {
		oldest = find_oldest(errors);
		if (!oldest)
			return NULL;
		list_del(&oldest->entry);
		errors->count--;
	}
	log = *fresh;
	log->written_at = ktime_get_ns();
	list_add_tail(&log->entry, &errors->logs);
	errors->count++;
	*fresh = oldest;
	return log;
}

/**
 * srdma_errors_join - the log that errors of a new object go to
 * @errors: of the device
 * @is_user: of the current user; else of kernel consumers
 * @log: filled; NULL where as many users as can have one have one, and use it
 *
 * May sleep for a user. srdma_errors_leave() is to follow.
 *
 * Return: 0, or -ENOMEM.
 */
int srdma_errors_join(struct srdma_errors *errors, bool is_user,
		      struct srdma_error_log **log)
{
	kuid_t owner = is_user ? srdma_bounds_owner() : INVALID_UID;
	struct srdma_error_log *fresh;

	spin_lock_bh(&errors->lock);
	*log = find_log(errors, owner);
	spin_unlock_bh(&errors->lock);
	if (*log)
		return 0;
	fresh = alloc_log(owner, SRDMA_GFP);
	if (!fresh)
		return -ENOMEM;
	spin_lock_bh(&errors->lock);
	*log = take_in(errors, &fresh);
	spin_unlock_bh(&errors->lock);
	kvfree(fresh);
	return 0;
}

/* The object is going. */
void srdma_errors_leave(struct srdma_errors *errors,
			struct srdma_error_log *log)
{
	if (!log)
		return;
	spin_lock_bh(&errors->lock);
	log->users--;
	spin_unlock_bh(&errors->lock);
}

/* The same again, of the same QP or process? Then it is counted. */
static bool repeats(const struct srdma_error *last,
		    const struct srdma_error *error)
{
	return last->part == error->part && last->qpn == error->qpn &&
	       last->cause.code == error->cause.code &&
	       last->err == error->err &&
	       last->maker.pid == error->maker.pid;
}

/**
 * srdma_errors_add - add a record
 * @errors: of the device
 * @log: that of the object; NULL: there is none
 * @error: record; number and times are filled in
 *
 * From any context but interrupts. What happens again and again, as a peer may
 * see to, is one record.
 */
void srdma_errors_add(struct srdma_errors *errors, struct srdma_error_log *log,
		      struct srdma_error *error)
{
	struct srdma_error *at;

	if (!log)
		return;
	error->first_at = ktime_get_real_ns();
	error->last_at = error->first_at;
	error->times = 1;
	spin_lock_bh(&log->lock);
	log->written_at = ktime_get_ns();
	at = &log->records[(log->count - 1) % SRDMA_ERRORS_EACH];
	if (log->count && repeats(at, error)) {
		error->first_at = at->first_at;
		error->times = at->times + 1;
	} else {
		at = &log->records[log->count++ % SRDMA_ERRORS_EACH];
	}
	error->number = atomic64_inc_return(&errors->last);
	*at = *error;
	spin_unlock_bh(&log->lock);
}

/* The first of a log behind a number, if it is before that of @error. */
static bool look_for_next(struct srdma_error_log *log, u64 after,
			  const kuid_t *uid, struct srdma_error *error,
			  bool found)
{
	u64 i = log->count > SRDMA_ERRORS_EACH ?
		log->count - SRDMA_ERRORS_EACH : 0;
	const struct srdma_error *at;

	lockdep_assert_held(&log->lock);
	for (; i < log->count; i++) {
		at = &log->records[i % SRDMA_ERRORS_EACH];
		if (at->number <= after || (uid && !uid_eq(at->maker.uid, *uid)))
			continue;
		if (found && error->number < at->number)
			return true;
		*error = *at;
		return true;
	}
	return found;
}

/**
 * srdma_errors_next - the next record
 * @errors: of the device
 * @after: number of the last one, or 0
 * @uid: of this user; NULL: of all, kernel consumers as well
 * @error: filled
 *
 * Return: whether there is one.
 */
bool srdma_errors_next(struct srdma_errors *errors, u64 after,
		       const kuid_t *uid, struct srdma_error *error)
{
	struct srdma_error_log *log;
	bool found = false;

	spin_lock_bh(&errors->lock);
	list_for_each_entry(log, &errors->logs, entry) {
		spin_lock(&log->lock);
		found = look_for_next(log, after, uid, error, found);
		spin_unlock(&log->lock);
	}
	spin_unlock_bh(&errors->lock);
	return found;
}
