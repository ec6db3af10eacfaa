/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the parts of exchange share: its options, its QP, and what it does next. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#define AREA		(1 << 20)
#define POSTED		32
#define WORD		0x0123456789abcdefULL

enum what {
	SEND, SEND_IMM, SEND_LATE, SEND_INV, WRITE, WRITE_IMM, READ,
	SWAP, SWAP_NOT, ADD, PUT, MANY, REVOKED, TURN
};

/* What the requester is about to do. */
struct plan {
	uint32_t what;
	uint32_t size;
	uint32_t seed;
};

/* What an end must know of the other one; the rkey may be a window's. */
struct about {
	uint64_t addr;
	union ibv_gid gid;
	uint32_t rkey;
	uint32_t qpn;
	uint32_t psn;
};

/**
 * struct options - the command line
 * @device: RDMA device
 * @peer: host of the server, or NULL: this is it
 * @type: RC, UC or UD
 * @gid: index of the GID
 * @mtu: path MTU
 * @depth: READs and atomics outstanding
 * @lossy: packets get lost
 * @weak: flags of receives that invalidated are not looked at
 * @put: the device has ATOMIC WRITE
 */
struct options {
	const char *device;
	const char *peer;
	enum ibv_qp_type type;
	int gid;
	int mtu;
	int depth;
	bool lossy;
	bool weak;
	bool put;
};

extern struct options opt;
extern const char * const names[];

void __attribute__((noreturn, format(printf, 1, 2)))
fail(const char *format, ...);

#define need(ok, ...)				\
	do {					\
		if (!(ok))			\
			fail(__VA_ARGS__);	\
	} while (0)

/* ---- connect.c: the QP, and the TCP connection that says what comes next ---- */

extern struct ibv_pd *pd;
extern struct ibv_cq *send_cq, *recv_cq;
extern struct ibv_qp *qp;
extern struct ibv_mr *mr;
extern struct ibv_mw *mw;
extern struct ibv_ah *ah;
extern struct about there;
/* The peer may reach the first half, what is sent is in the second. */
extern uint8_t *area, *own;

void make_qp(void);
void dial(void);
/* Each end tells the other of its QP, and connects. */
void introduce(void);

void say(const void *data, size_t size);
void hear(void *data, size_t size);
void say_go(void);
void hear_go(void);

/* ---- work.c: bytes, work requests, completions ---- */

/* The data of a seed. */
void fill(uint8_t *at, uint32_t size, uint32_t seed);
/* An unreliable write says to nobody when it has arrived. */
void wait_for(const volatile uint8_t *at, uint32_t size, uint32_t seed);
/* The bytes, and that what is behind them was left alone. */
void check(const struct plan *p, const uint8_t *at, uint32_t size,
	   uint32_t seed);
void clear(uint8_t *at, uint32_t size);
uint64_t word_at(const uint8_t *at);
void put_word(uint8_t *at, uint64_t word);

/* The immediate that goes with a seed. */
uint32_t imm_of(uint32_t seed);
void post_recv(uint8_t *at, uint32_t size);
/*
 * Post what the plan says with these bytes of ours, which are at the same place
 * of the peer's half when the peer is read or written.
 */
void post(enum ibv_wr_opcode opcode, uint8_t *at, uint32_t size, uint32_t seed,
	  uint32_t rkey);
/* The same for an ATOMIC WRITE, which no work request says. */
void post_put(const uint8_t *at, uint32_t seed, uint32_t rkey);

/* The next completion; and one that has to be a success. */
struct ibv_wc poll_one(struct ibv_cq *cq, const struct plan *p);
struct ibv_wc poll_well(struct ibv_cq *cq, const struct plan *p);

#endif
