/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The log of a device's errors: the last failures of each user. Code that finds
 * a failure adds a record; softrdma(8) prints the records as sentences.
 *
 * Each user has a log of its own, so that no user loses records to another. The
 * log stays when the last object of the user is destroyed, because people read
 * it then.
 */
#ifndef SRDMA_ERRORS_H
#define SRDMA_ERRORS_H

#include <linux/atomic.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "observe/cause.h"

struct srdma_error_log;

/* Records kept for a user, and users with records, per device. */
#define SRDMA_ERRORS_EACH	64
#define SRDMA_ERRORS_USERS	64

/**
 * struct srdma_maker - the process that made an object
 * @uid: user; INVALID_UID: a kernel consumer
 * @pid: process, as the first PID namespace numbers it; 0: a kernel consumer
 * @own_pid: the same as it numbers itself
 * @pid_ns: number of the PID namespace of @own_pid
 * @comm: name of its program
 */
struct srdma_maker {
	kuid_t uid;
	u32 pid;
	u32 own_pid;
	u32 pid_ns;
	char comm[TASK_COMM_LEN];
};

/**
 * struct srdma_error - a record
 * @number: of the record; they count up for the device
 * @first_at: when it happened, ns since 1970
 * @last_at: when it happened for the last time, likewise
 * @times: how often in a row
 * @maker: process that made the QP, or called the verb
 * @part: enum srdma_err_part
 * @status: of the completion, enum ibv_wc_status; 0: there is none
 * @op: of the work request, or of the packet's BTH on the side that was asked
 * @qpn: QP; 0: there is none
 * @peer_qpn: the other one's
 * @peer: its address; unspecified when there is none
 * @wr_id: of the work request
 * @psn: first PSN of the message, or of the packet that was refused
 * @bytes: length of the message
 * @remote_addr: what it is about at the peer
 * @rkey: key of that; 0 with no @remote_addr where the opcode has none
 * @err: verb: the errno that it has failed with
 * @cause: why
 */
struct srdma_error {
	u64 number;
	u64 first_at;
	u64 last_at;
	u32 times;
	struct srdma_maker maker;
	u8 part;
	u8 status;
	u8 op;
	u32 qpn;
	u32 peer_qpn;
	struct in6_addr peer;
	u64 wr_id;
	u32 psn;
	u32 bytes;
	u64 remote_addr;
	u32 rkey;
	u32 err;
	struct srdma_cause cause;
};

/**
 * struct srdma_errors - the logs of a device
 * @lock: guards @logs, @count and what of a log is said to be guarded by it
 * @logs: struct srdma_error_log
 * @count: how many
 * @kernel: that of kernel consumers, which is always there
 * @last: number last given to a record
 */
struct srdma_errors {
	spinlock_t lock;
	struct list_head logs;
	u32 count;
	struct srdma_error_log *kernel;
	atomic64_t last;
};

void srdma_maker_init(struct srdma_maker *maker, bool is_user);

int srdma_errors_init(struct srdma_errors *errors);
void srdma_errors_uninit(struct srdma_errors *errors);

int srdma_errors_join(struct srdma_errors *errors, bool is_user,
		      struct srdma_error_log **log);
void srdma_errors_leave(struct srdma_errors *errors,
			struct srdma_error_log *log);

void srdma_errors_add(struct srdma_errors *errors, struct srdma_error_log *log,
		      struct srdma_error *error);
bool srdma_errors_next(struct srdma_errors *errors, u64 after,
		       const kuid_t *uid, struct srdma_error *error);

#endif
