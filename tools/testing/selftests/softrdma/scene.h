/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An owner of memory, and a peer that accesses it all the time, in a thread, with
 * the key that the owner has given to it; and the ways to give one and to take it
 * back. What the tests of revoke are made of.
 */
#ifndef SRT_SCENE_H
#define SRT_SCENE_H

#include <pthread.h>
#include <stdatomic.h>

#include "twin.h"

#define SCENE_DEPTH		4
#define SCENE_LENGTH		(1 << 20)
#define SCENE_UNIT		(64 << 10)
#define SCENE_PEERS_LENGTH	(SCENE_DEPTH * SCENE_LENGTH)

/* What the owner's memory holds before, what the peer writes there. */
#define SCENE_BEFORE		0x11
#define SCENE_PEERS		0x77
/* What it holds afterwards, which the peer must neither change nor see. */
#define SCENE_SECRET		0xee

/**
 * struct scene_peer - who accesses the owner's memory, in a thread
 * @set: its device
 * @qp: its QP
 * @mem: its memory, a piece of SCENE_LENGTH for each request outstanding
 * @mr: region of it
 * @lkey: key of that, also when it is gone
 * @opcode: what it does
 * @random: state of its generator
 * @addr: where the owner's memory begins
 * @key: key of that
 * @inv_key: not 0: a SEND shall invalidate this key, once
 * @done: accesses complete; written by the thread
 * @stop: begin no more accesses
 * @ended: it has begun no more, and all are complete unless it is @stuck
 * @stuck: some request has never completed, or could not be posted
 * @status: of the first request that failed
 * @saw_secret: one that succeeded read what it must not; or, once @ended,
 *	one that failed
 */
struct scene_peer {
	struct verbs_set *set;
	struct ibv_qp *qp;
	uint8_t *mem;
	struct ibv_mr *mr;
	uint32_t lkey;
	enum ibv_wr_opcode opcode;
	uint32_t random;
	uint64_t addr;
	uint32_t key;
	atomic_uint inv_key;
	atomic_int done;
	atomic_bool stop;
	atomic_bool ended;
	bool stuck;
	enum ibv_wc_status status;
	bool saw_secret;
};

/**
 * struct scene - the owner and its peer
 * @sets: of the peer, and of the owner
 * @peer: the peer
 * @thread: its thread
 * @qp: the owner's QP
 * @mem: the owner's memory
 * @elsewhere: as much, where accesses do no harm
 * @mr: region of @mem, or NULL
 * @mw: window on it, or NULL
 * @other_pd: another protection domain of the owner
 */
struct scene {
	struct verbs_set sets[2];
	struct scene_peer peer;
	pthread_t thread;
	struct ibv_qp *qp;
	uint8_t *mem;
	uint8_t *elsewhere;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_pd *other_pd;
};

/*
 * A round: memory filled, a connection, a key for the peer, and the peer's thread.
 * 0 or errno. The thread has been joined when it ends.
 */
int scene_begin(struct scene *s, int (*grant)(struct scene *s));
int scene_end(struct scene *s);

/* Until the peer has done so many accesses, or is at its end. */
bool scene_wait_done(const struct scene_peer *peer, int count);

/* Some microseconds, in which the peer goes on. */
void scene_dawdle(uint32_t *random);

/* Is all of this memory, SCENE_LENGTH bytes, the same? */
bool scene_all_are(const uint8_t *mem, uint8_t byte);

/* New pages for the peer, which may be any that were given back by then. */
bool scene_get_pages(struct scene_peer *peer);
bool scene_register_peer(struct scene_peer *peer);

/* What gives the peer a key, the last with a receive for its invalidation. */
int scene_grant_region(struct scene *s);
int scene_grant_type_1(struct scene *s);
int scene_grant_type_2(struct scene *s);
int scene_grant_type_2_and_receive(struct scene *s);

/* What takes it back, or has other pages behind it. 0 or an error. */
int scene_by_dereg(struct scene *s);
int scene_by_rereg_elsewhere(struct scene *s);
int scene_by_rereg_access(struct scene *s);
int scene_by_rereg_pd(struct scene *s);
int scene_by_dealloc(struct scene *s);
int scene_by_unbind(struct scene *s);
int scene_by_rebind(struct scene *s);
int scene_by_local_inv(struct scene *s);
int scene_by_send_with_inv(struct scene *s);

#endif
