/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One of the two users that fuzz_users sets at each other: a process of its own
 * uid, with everything that verbs can make, and what it tells the others in
 * memory that all processes see.
 *
 * fuzz_user.c is its life, memory and judgement; fuzz_verbs.c what it does at
 * random; fuzz_flow.c the transfers after which it is owed secrecy; fuzz_imp.c
 * the threads that do harm beside it.
 */
#ifndef SRT_FUZZ_USER_H
#define SRT_FUZZ_USER_H

#include <pthread.h>

#include "fuzz_paint.h"
#include "twin.h"

#define FUZZ_USERS	2
#define FUZZ_THIRD	2	/* the innocent one, as an owner of secrets */
#define FUZZ_QPS	6
#define FUZZ_KEYS	16
#define FUZZ_LOG	256
#define FUZZ_RINGS	32
#define FUZZ_SPARED	8
#define FUZZ_SLOT	65536
#define FUZZ_GUARD	4096
#define FUZZ_SLOTS	20
#define FUZZ_ANY_SLOT	2	/* before it: open for good, for the peer's flows */
#define FUZZ_FLOW_SLOT	8	/* from it on: only for own flows */
#define FUZZ_RECVS	16

/* How a process of the fuzzer ends, unless a signal ends it. */
enum fuzz_exit {
	FUZZ_DONE = 0,
	FUZZ_FAILED = 3,	/* the reason is in told->failed */
	FUZZ_NO_DEVICE = 4,
};

/**
 * struct fuzz_key - memory that somebody was let in to
 * @va: its address
 * @rkey: its key
 */
struct fuzz_key {
	volatile uint64_t va;
	volatile uint32_t rkey;
};

/**
 * struct fuzz_logged - one operation
 * @ms: when it began
 * @what: its name; the processes are forks of one, so a pointer will do
 * @arg: the number of the last thing painted then, or what else is of interest
 * @ret: what came of it
 */
struct fuzz_logged {
	long ms;
	const char *what;
	uint32_t arg;
	int ret;
};

/**
 * struct fuzz_told - what a user tells its peer, and the harness
 * @qpn: of its QPs, 0 for none
 * @key: keys it gave out, the older ones overwritten at last
 * @keys: how many it gave out
 * @flow_gen: counts the flows it began
 * @flow_type: QP type of the flow
 * @flow_qpn: QP of the flow
 * @flow_key: memory the peer may access, or rkey 0
 * @ack_gen: the peer's flow that it joined
 * @ack_qpn: with this QP
 * @ack_key: memory of its that the flow may access, or rkey 0
 * @attack: its imps keep the engine of @ack_qpn waiting
 * @busy_ms: since when it has been in the operation it is in; 0 for in none
 * @busy: that operation
 * @ops: operations done
 * @flows: flows that ended
 * @broken: of these with a request that failed
 * @posts: requests posted
 * @scribbles: words written into rings
 * @log: the last operations
 * @logged: how many were logged in all
 * @failed: why the oracle says no
 * @stop: it shall come to an end
 */
struct fuzz_told {
	volatile uint32_t qpn[FUZZ_QPS];
	struct fuzz_key key[FUZZ_KEYS];
	volatile uint32_t keys;
	volatile uint32_t flow_gen;
	volatile uint32_t flow_type;
	volatile uint32_t flow_qpn;
	struct fuzz_key flow_key;
	volatile uint32_t ack_gen;
	volatile uint32_t ack_qpn;
	struct fuzz_key ack_key;
	volatile bool attack;
	volatile long busy_ms;
	const char * volatile busy;
	volatile uint64_t ops;
	volatile uint64_t flows;
	volatile uint64_t broken;
	volatile uint64_t posts;
	volatile uint64_t scribbles;
	struct fuzz_logged log[FUZZ_LOG];
	volatile uint32_t logged;
	char failed[256];
	volatile bool stop;
};

/**
 * struct fuzz_shared - memory that all processes see
 * @told: by each user
 * @third_key: a region of the third that nobody was let in to
 * @third_done: requests of the third that completed and were checked
 * @third_failed: what it found wrong
 * @third_stop: it shall come to an end
 */
struct fuzz_shared {
	struct fuzz_told told[FUZZ_USERS];
	struct fuzz_key third_key;
	volatile uint64_t third_done;
	char third_failed[256];
	volatile bool third_stop;
};

/**
 * struct fuzz_slot - a piece of memory, with a guard behind it
 * @at: FUZZ_SLOT bytes
 * @is_open: it holds open content, and may change; else a secret, and may not
 * @epoch: of what it was painted with
 * @mr: its region
 */
struct fuzz_slot {
	uint8_t *at;
	bool is_open;
	uint32_t epoch;
	struct ibv_mr *mr;
};

/**
 * struct fuzz_ring - a ring as it is mapped
 * @words: its memory
 * @count: 4-byte words of it
 */
struct fuzz_ring {
	volatile uint32_t *words;
	size_t count;
};

/**
 * struct fuzz_user - the process
 * @id: 0 or 1
 * @shared: what all see
 * @told: its part of that
 * @peer: the other's
 * @random: state of the generator
 * @epoch: counts what was painted
 * @set: context, PD, CQ and GID
 * @peer_gid: the other's address
 * @flow_pd: where only the own flow's QP and regions are
 * @flow_cq: of it
 * @cq: more CQs; the last one has @channel
 * @channel: of completions
 * @srq: shared receive queue
 * @qp: queue pairs
 * @mw: windows
 * @ah: address handles
 * @joined: the QP is attached to the multicast group
 * @slot: memory
 * @ack_qp: the QP by which it takes part in the peer's flow
 * @seen_gen: the peer's flow that it last saw
 * @lock: of the rings
 * @ring: the rings that imps may rewrite
 * @rings: how many
 * @spared: the rings of flows, by which we know that something completed
 * @spareds: how many
 * @handle: of what the imp may modify; ~0 for none
 * @cpus: of the machine
 * @phase_ms: when to think of something else
 * @pause_ms: when the next flow may begin
 */
struct fuzz_user {
	int id;
	struct fuzz_shared *shared;
	struct fuzz_told *told;
	struct fuzz_told *peer;
	uint32_t random;
	uint32_t epoch;
	struct verbs_set set;
	union ibv_gid peer_gid;
	struct ibv_pd *flow_pd;
	struct ibv_cq *flow_cq;
	struct ibv_cq *cq[2];
	struct ibv_comp_channel *channel;
	struct ibv_srq *srq;
	struct ibv_qp *qp[FUZZ_QPS];
	struct ibv_mw *mw[3];
	struct ibv_ah *ah[2];
	bool joined[FUZZ_QPS];
	struct fuzz_slot slot[FUZZ_SLOTS];
	struct ibv_qp *ack_qp;
	uint32_t seen_gen;
	pthread_mutex_t lock;
	struct fuzz_ring ring[FUZZ_RINGS];
	int rings;
	volatile uint32_t *spared[FUZZ_SPARED];
	int spareds;
	volatile uint32_t handle[FUZZ_QPS + 1];
	int cpus;
	long phase_ms;
	long pause_ms;
};

static inline uint32_t fuzz_random(struct fuzz_user *u, uint32_t below)
{
	return (twin_random(&u->random) >> 7) % below;
}

/* One in so many. */
static inline bool fuzz_chance(struct fuzz_user *u, uint32_t in)
{
	return !fuzz_random(u, in);
}

/* The life of a user; does not return. */
void fuzz_user_run(struct fuzz_shared *shared, int id, enum twin_kind wire,
		   uint32_t seed) __attribute__((noreturn));

/* The oracle says no: leave the reason and end. */
void fuzz_fail(struct fuzz_user *u, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* Was the link taken away from under us? */
bool fuzz_lost_device(struct fuzz_user *u);

/* Say what is done now, and what came of it. */
void fuzz_begin(struct fuzz_user *u, const char *what);
void fuzz_end(struct fuzz_user *u, uint32_t arg, int ret);

/* Look at the content of a slot, and of everything. */
void fuzz_check_slot(struct fuzz_user *u, int slot);
void fuzz_check(struct fuzz_user *u);

/* Give it new content, after a look at the old one. */
void fuzz_open_slot(struct fuzz_user *u, int slot);
void fuzz_hide_slot(struct fuzz_user *u, int slot);

/*
 * Around all that maps or unmaps rings: what imps know of them is void between.
 * Rings that came since the former are spared if asked for, until it is said that
 * only the first @count are.
 */
void fuzz_rings_lock(struct fuzz_user *u);
void fuzz_rings_spare(struct fuzz_user *u);
void fuzz_rings_spare_only(struct fuzz_user *u, int count);
void fuzz_rings_unlock(struct fuzz_user *u);

/* Make a QP of the imps' too, or destroy it. */
struct ibv_qp *fuzz_make_qp(struct fuzz_user *u, int at,
			    struct ibv_qp_init_attr *init);
int fuzz_drop_qp(struct fuzz_user *u, int at, struct ibv_qp *qp);

/* Take it to RTS from wherever it is, to that QP of the peer. 0 or errno. */
int fuzz_connect(struct fuzz_user *u, struct ibv_qp *qp, uint32_t qpn,
		 enum ibv_mtu mtu);

/* fuzz_verbs.c: anything. fuzz_verbs_init() makes what is there for good. */
int fuzz_verbs_init(struct fuzz_user *u);
void fuzz_verbs_any(struct fuzz_user *u);
void fuzz_verbs_close(struct fuzz_user *u);

/* fuzz_flow.c: a flow of our own; and our part in the peer's, if it has one. */
void fuzz_flow(struct fuzz_user *u);
void fuzz_flow_serve(struct fuzz_user *u);

/* fuzz_imp.c */
int fuzz_imps_start(struct fuzz_user *u);

#endif
