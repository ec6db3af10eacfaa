/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two users on one device who wish each other no good (strangers.c): what they
 * share, and one of them, the thief.
 */
#ifndef SRT_STRANGER_H
#define SRT_STRANGER_H

#include <limits.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "topo.h"
#include "verbs.h"

#define OWNER_UID	1001
#define THIEF_UID	1002

#define LENGTH		(64 << 10)
#define DEPTH		8
#define PATIENCE_MS	20000

#define PLAIN		0x11
#define THIEFS		0x77
#define SECRET		0xee

#define ACCESS_ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND)

/* What goes on between them. */
enum deed {
	DEED_SEND,	/* the owner sends, RC */
	DEED_WRITE,	/* the owner writes, RC */
	DEED_UC_SEND,	/* the owner sends, UC */
	DEED_READ,	/* the thief reads */
	DEED_WRITTEN,	/* the thief writes */
};

/* How the owner takes its memory back. */
enum ending {
	END_ERROR,	/* modify to ERR, and the completions that follow */
	END_RESET,
	END_DESTROY,
	END_DEREG,
	END_REREG,
	END_LOCAL_INV,
	END_SEND_INV,	/* the thief invalidates, and tells */
	END_UNBIND,
	END_RETRIES,	/* waits for RETRY_EXC_ERR */
	END_KILL,	/* the owner is killed */
	END_LINK,	/* the administrator removes the link */
};

/* Where a round stands: one comes after the other. */
enum step {
	STEP_CONNECT = 1,	/* both have a QP, and connect */
	STEP_READY,	/* the thief has, and has posted its receives */
	STEP_GO,	/* the owner has, too: the deed begins */
	STEP_STALLED,	/* the owner waits to be killed, or to lose the link */
	STEP_TAKEN,	/* the memory is taken back, and holds secrets */
	STEP_JUDGED,	/* the thief has looked */
	STEPS
};

/* No more rounds. */
#define OVER	INT_MAX

/**
 * struct table - what all of them see
 * @at: the round times STEPS and where that stands, or OVER
 * @qpn: of the QPs of owner and thief
 * @addr: of the memory that the other one accesses, by its holder
 * @key: of it
 * @stalled: requests of the owner that did not complete at once
 * @leaked: bytes of secrets that the thief has got
 * @spoilt: bytes of the owner's that changed after it had taken them back
 * @stay: the thief is stopped, and the owner has not yet taken its memory back
 * @modified: how often the thief has modified its QP
 * @wrong: what failed that should not have: line number
 * @done: accesses of the thief that completed
 */
struct table {
	atomic_int at;
	atomic_uint qpn[2];
	uint64_t addr[2];
	uint32_t key[2];
	atomic_int stalled;
	atomic_long leaked;
	atomic_long spoilt;
	atomic_bool stay;
	atomic_long modified;
	atomic_int wrong;
	atomic_int done;
};

enum { OWNER, THIEF };

/**
 * struct user - one of the two
 * @table: what both see
 * @who: OWNER or THIEF
 * @set: device opened
 * @mem: memory, DEPTH pieces of LENGTH
 * @mr: region of it
 * @mw: window on it, or NULL
 * @qp: QP of this round
 * @failed: the owner: its request has run out of retries
 * @in_use: the thief: its thread is modifying @qp
 * @let_run: the thief: that thread is to get on
 */
struct user {
	struct table *table;
	int who;
	struct verbs_set set;
	uint8_t *mem;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_qp *_Atomic qp;
	bool failed;
	atomic_bool in_use;
	atomic_bool let_run;
};

static inline bool is_owners_deed(enum deed deed)
{
	return deed <= DEED_UC_SEND;
}

/* What went wrong first is told. */
#define MUST(table, cond)						\
	({								\
		bool ok = (cond);					\
		int none = 0;						\
									\
		if (!ok)						\
			atomic_compare_exchange_strong(&(table)->wrong,	\
						       &none, __LINE__);\
		ok;							\
	})

/* Waits for a step of a round, unless it is all over. */
bool stranger_await(struct table *table, int round, enum step step);
bool stranger_is_at(struct table *table, enum step step);
void stranger_reach(struct table *table, enum step step);

void stranger_pin(int cpu);
void stranger_become(uid_t uid);

bool stranger_open(struct user *u, struct table *table, int who, uint8_t *mem);
/* A QP of each, connected to the other. */
bool stranger_meet(struct user *u, enum deed deed, enum ending ending);
int stranger_post(struct user *u, struct ibv_send_wr *wr);
void stranger_drain_cq(struct user *u);
long stranger_count(const uint8_t *mem, uint8_t byte);

/* All that the thief does; with @by_hold somebody else stops its QP. */
void stranger_be_thief(struct table *table, enum deed deed,
		       enum ending ending, bool by_hold);

#endif
