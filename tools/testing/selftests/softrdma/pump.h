/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Reliable traffic, both ways over several connections at once: every opcode,
 * sizes around multiples of the path MTU, pieces, inline data, fences, receives
 * that are posted late. Each byte that arrives is checked, and each that must
 * not be touched; each atomic is done once; completions come in order.
 */
#ifndef SRT_PUMP_H
#define SRT_PUMP_H

#include "twin.h"

/* Messages outstanding per flow, receives, longest message. */
#define PUMP_SLOTS	6
#define PUMP_RECVS	8
#define PUMP_MAX_LEN	20000
#define PUMP_STRIDE	20096
#define PUMP_EXPECTS	32
#define PUMP_FLOWS	16

/**
 * struct pump_op - a request on its way
 * @opcode: what it is
 * @seed: of its bytes
 * @len: bytes
 * @is_signaled: it will complete by itself
 * @orig: atomics: the word before
 * @after: atomics: the word afterwards
 */
struct pump_op {
	enum ibv_wr_opcode opcode;
	uint32_t seed;
	uint32_t len;
	bool is_signaled;
	uint64_t orig;
	uint64_t after;
};

/**
 * struct pump_expect - a receive completion to come
 * @seed: of its bytes
 * @len: bytes
 * @has_imm: with immediate data, which are @seed
 * @is_write: the bytes go elsewhere
 */
struct pump_expect {
	uint32_t seed;
	uint32_t len;
	bool has_imm;
	bool is_write;
};

/**
 * struct pump_flow - one way of one connection
 * @qp: who asks
 * @peer: who is asked
 * @near: PUMP_SLOTS strides of memory of @qp's
 * @far: as many of @peer's
 * @in: PUMP_RECVS strides of @peer's
 * @near_key: key of @near
 * @far_key: key of @far and @in
 * @ops: requests, by number modulo PUMP_SLOTS
 * @head: number of the next request
 * @tail: number of the oldest request
 * @expects: receives that are due, by number modulo PUMP_EXPECTS
 * @expect_head: number of the next receive to expect
 * @expect_tail: number of the next receive to come
 * @recv_head: number of the next receive to post
 */
struct pump_flow {
	struct ibv_qp *qp;
	struct ibv_qp *peer;
	uint8_t *near;
	uint8_t *far;
	uint8_t *in;
	uint32_t near_key;
	uint32_t far_key;
	struct pump_op ops[PUMP_SLOTS];
	uint32_t head;
	uint32_t tail;
	struct pump_expect expects[PUMP_EXPECTS];
	uint32_t expect_head;
	uint32_t expect_tail;
	uint32_t recv_head;
};

/**
 * struct pump - some connections and their memory
 * @sets: contexts, PDs and CQs of both sides
 * @mtu: path MTU, bytes
 * @random: state of the generator
 * @mem: memory of each side
 * @mr: and its region
 * @flow: two for each connection, one after the other
 * @flows: how many of them
 * @done: requests completed and checked
 * @bytes: of these
 * @failed: what went wrong first, or ""
 */
struct pump {
	struct verbs_set *sets;
	uint32_t mtu;
	uint32_t random;
	uint8_t *mem[2];
	struct ibv_mr *mr[2];
	struct pump_flow flow[PUMP_FLOWS];
	int flows;
	uint32_t done;
	uint64_t bytes;
	char failed[200];
};

/* Connect and post receives. 0 or errno. */
int pump_init(struct pump *pump, struct verbs_set sets[2], int connections,
	      const struct twin_attr *attr, uint32_t seed);

/*
 * Run for so long, then until all is complete. Whether all went well; if not,
 * @failed says why. Nothing for 20 s is a failure.
 */
bool pump_run(struct pump *pump, int run_ms);

void pump_destroy(struct pump *pump);

#endif
