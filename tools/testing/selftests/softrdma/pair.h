/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two connected ends in one process, for tests that move data:
 *
 *	loopback	both ends on TOPO_LINK
 *
 *	veth		each end in a namespace of its own: ends.h
 *
 *	veth6		the same, by the IPv6 addresses
 */
#ifndef SRT_PAIR_H
#define SRT_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs.h"

enum pair_wire {
	PAIR_LOOPBACK,
	PAIR_VETH,
	PAIR_VETH6,
};

/* Bytes of each end's buffer, unless the options say otherwise. */
#define PAIR_BUFFER	(64 * 1024)

/* Bytes in front of the payload of a datagram that was received. */
#define PAIR_GRH	40

/* How long anything may take on a busy emulated machine. */
#define PAIR_PATIENCE_MS 30000

#define PAIR_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/**
 * struct pair_options - what a test wants otherwise; zeroes mean the default
 * @type: QP type; there is no default
 * @sq_sig_all: every request completes with a completion
 * @send_wr: max_send_wr; default 64
 * @sge: max_send_sge and max_recv_sge; default 4
 * @inline_data: max_inline_data; default 64
 * @mtu: path MTU; default 1024
 * @access: of the QPs; default all the remote ones
 * @buffer: bytes of each end's buffer; default PAIR_BUFFER
 * @send_ops: IBV_QP_EX_WITH_*, for the ibv_wr_* calls; default none
 * @rnr_retry: default 6 (7 is for ever)
 */
struct pair_options {
	enum ibv_qp_type type;
	bool sq_sig_all;
	uint32_t send_wr;
	uint32_t sge;
	uint32_t inline_data;
	enum ibv_mtu mtu;
	int access;
	size_t buffer;
	uint64_t send_ops;
	uint8_t rnr_retry;
};

/**
 * struct pair_end - one side
 * @set: device, protection domain, CQ of the send queue, own GID
 * @channel: of @recv_cq
 * @recv_cq: CQ of the receive queue
 * @qp: the QP
 * @ah: UD: handle of the other end
 * @peer: GID of the other end
 * @buffer: registered memory
 * @size: bytes of it
 * @mr: its region, with all access
 */
struct pair_end {
	struct verbs_set set;
	struct ibv_comp_channel *channel;
	struct ibv_cq *recv_cq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	union ibv_gid peer;
	uint8_t *buffer;
	size_t size;
	struct ibv_mr *mr;
};

/**
 * struct pair - two ends
 * @a: near end
 * @b: far end
 * @wire: what is between them
 */
struct pair {
	struct pair_end a;
	struct pair_end b;
	enum pair_wire wire;
};

/* The links of all wires, for the whole program: topo.h and ends.h. */
int pair_topology_setup(void);
void pair_topology_teardown(void);

/* Open both devices. 0 or -errno; pair_close() is fine with a part. */
int pair_open(struct pair *pair, enum pair_wire wire);

/* 0, or the errno of what was still in use. */
int pair_close(struct pair *pair);

/* Make buffers, CQs and QPs and take them to RTS. 0 or errno. */
int pair_connect(struct pair *pair, const struct pair_options *options);

/* The same in two steps: only make them, then only take them to RTS. */
int pair_create(struct pair *pair, const struct pair_options *options);
int pair_to_rts(struct pair *pair, const struct pair_options *options);

/* Free what pair_connect() made, to connect anew. 0 or errno. */
int pair_disconnect(struct pair *pair);

/* The attributes of one end, for tests that walk states by themselves. */
int pair_modify(struct pair_end *end, enum ibv_qp_state from,
		enum ibv_qp_state to, uint32_t peer_qpn,
		const struct pair_options *options);

/**
 * struct pair_wr - a send request with its pieces
 * @wr: the request; sg_list points to @sge
 * @sge: the pieces
 */
struct pair_wr {
	struct ibv_send_wr wr;
	struct ibv_sge sge[32];
};

/*
 * A signaled request of one piece at @offset of our buffer, to or from the same
 * offset of the peer's buffer where the opcode has one. UD: to the peer's QP.
 */
void pair_wr_init(struct pair_wr *wr, struct pair_end *from,
		  struct pair_end *to, enum ibv_wr_opcode opcode,
		  size_t offset, uint32_t len);

/* ibv_post_send() of one; errno. */
int pair_post(struct pair_end *end, struct pair_wr *wr);

/* Post a receive of one piece, wr_id its offset. For UD add PAIR_GRH. */
int pair_post_recv(struct pair_end *end, size_t offset, uint32_t len);

/* The next completion; 0, or -ETIMEDOUT. */
int pair_wait(struct ibv_cq *cq, struct ibv_wc *wc);

/* The status of the next completion on the send CQ, or -ETIMEDOUT. */
int pair_wait_sent(struct pair_end *end);

/* Is there an event on the channel within the time? Takes it off. */
bool pair_event(struct pair_end *end, int timeout_ms);

/* Bytes that depend on the seed and on where they are. */
void pair_fill(uint8_t *at, size_t len, unsigned int seed);
bool pair_filled(const uint8_t *at, size_t len, unsigned int seed);

#endif
