/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A peer made of frames (wire.h) that a QP of ours is connected to, reliably:
 * it says what a test has it say, and hears what the QP says, packet by packet.
 * What it says has been heard, and a request answered, when the call returns.
 */
#ifndef SRT_PEER_H
#define SRT_PEER_H

#include "verbs.h"
#include "wire.h"

#define PEER_MTU	1024
#define PEER_BUF	65536
#define PEER_PSN	0x123456

/* Memory of the peer, of which there is nothing but its address. */
#define PEER_FAR	0x1122334455000000ull
#define PEER_FAR_KEY	0x778899

/* How long anything may take on a busy emulated machine. */
#define PEER_WAIT_MS	20000

/* Syndromes of an AETH (section 9.7.5.2); an RNR NAK has a timer code added. */
enum peer_syndrome {
	ACK_UNLIMITED = 0x1f,
	RNR_NAK = 0x20,
	NAK_SEQUENCE = 0x60,
	NAK_INVALID = 0x61,
	NAK_ACCESS = 0x62,
	NAK_OPERATION = 0x63,
	NAK_RESERVED = 0x7e,
};

/**
 * struct peer_attr - how our QP is connected
 * @psn: first PSN of both ways
 * @timeout: of acknowledges, as in struct ibv_qp_attr; 0 is without end
 * @retry_cnt: likewise
 * @rnr_retry: likewise
 * @min_rnr_timer: likewise
 * @rd_atomic: READs and atomics that may be outstanding, either way
 * @traffic_class: of its packets
 */
struct peer_attr {
	uint32_t psn;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t min_rnr_timer;
	uint8_t rd_atomic;
	uint8_t traffic_class;
};

#define PEER_ATTR_DEFAULT ((struct peer_attr) {		\
	.psn = PEER_PSN, .retry_cnt = 7,		\
	.rnr_retry = 7, .min_rnr_timer = 12,		\
	.rd_atomic = 4,					\
})

/**
 * struct peer - our QP, in RTS, and what it needs
 * @set: its device; @set.cq is that of its sends
 * @channel: of @recv_cq; non-blocking
 * @recv_cq: where its receives complete
 * @qp: itself
 * @buf: PEER_BUF bytes
 * @mr: their region, with all access
 * @sent: packets that the device had sent before
 */
struct peer {
	struct verbs_set set;
	struct ibv_comp_channel *channel;
	struct ibv_cq *recv_cq;
	struct ibv_qp *qp;
	uint8_t *buf;
	struct ibv_mr *mr;
	int64_t sent;
};

/* 0 or errno. Between them, wire_setup() is in place. */
int peer_open(struct peer *peer, const struct peer_attr *attr);
int peer_close(struct peer *peer);

/* The QP to RTS again, as if new. 0 or errno. */
int peer_reconnect(struct peer *peer, const struct peer_attr *attr);

/* The same by IPv6, with default attributes: it hears what comes from WIRE_PEER6. */
int peer_reconnect_v6(struct peer *peer);

/* Post a receive into the QP's memory. 0 or errno. */
int peer_post_recv(struct peer *peer, uint64_t wr_id, uint32_t offset,
		   uint32_t len);

/*
 * Post a request for the peer's memory, of or into the QP's own at offset 0; or
 * so many SENDs, whose numbers begin with 0. 0 or errno.
 */
int peer_post(struct peer *peer, enum ibv_wr_opcode opcode, uint64_t wr_id,
	      uint32_t len);
bool peer_post_sends(struct peer *peer, int count);

/**
 * struct peer_packet - what the peer says
 * @opcode: of the BTH
 * @psn: PSN
 * @qpn: destination; 0 is our QP
 * @ask: an acknowledge is asked for
 * @solicited: SE bit
 * @not_migrated: MigReq bit clear
 * @is_stranger: it comes from another address than the peer's
 * @has_met_congestion: IP says so
 * @ext: extension headers
 * @ext_len: their length, bytes
 * @payload: payload, to which padding is added
 * @len: its length, bytes
 */
struct peer_packet {
	uint8_t opcode;
	uint32_t psn;
	uint32_t qpn;
	bool ask;
	bool solicited;
	bool not_migrated;
	bool is_stranger;
	bool has_met_congestion;
	const void *ext;
	size_t ext_len;
	const void *payload;
	size_t len;
};

/* 0 or -errno, as all that follow. */
int peer_say(const struct peer *peer, const struct peer_packet *packet);

/* A packet of a SEND, of bytes that cm_fill() makes of the PSN; asks. */
int peer_send(const struct peer *peer, uint8_t opcode, uint32_t psn,
	      size_t len);

/* A request with a RETH for an offset of the QP's memory; likewise. */
int peer_rdma(const struct peer *peer, uint8_t opcode, uint32_t psn,
	      int64_t offset, uint32_t dma_len, size_t len);

int peer_atomic(const struct peer *peer, uint8_t opcode, uint32_t psn,
		int64_t offset, uint64_t swap_add, uint64_t compare);

/* An acknowledge of any kind. */
int peer_ack(const struct peer *peer, uint32_t psn, uint8_t syndrome,
	     uint32_t msn);

/* The parts of responses. */
int peer_read_response(const struct peer *peer, uint8_t opcode, uint32_t psn,
		       const void *data, size_t len);
int peer_atomic_ack(const struct peer *peer, uint32_t psn, uint64_t orig);

/**
 * struct peer_heard - a packet of the QP
 * @opcode: of its BTH
 * @psn: PSN
 * @ask: it asks for an acknowledge
 * @migrated: MigReq bit
 * @syndrome: of its AETH, if it has one
 * @msn: likewise
 * @orig: ATOMIC ACK: the result
 * @va: of its RETH or AtomicETH, if it has one
 * @dma_len: of its RETH
 * @payload: payload
 * @len: bytes of it, without padding
 */
struct peer_heard {
	uint8_t opcode;
	uint32_t psn;
	bool ask;
	bool migrated;
	uint8_t syndrome;
	uint32_t msn;
	uint64_t orig;
	uint64_t va;
	uint32_t dma_len;
	uint8_t payload[PEER_MTU];
	size_t len;
};

/* The next packet: 0, -ETIMEDOUT, or -EBADMSG if it is not well formed. */
int peer_hear(struct peer_heard *heard, int timeout_ms);

/* Is the next packet this one? */
bool peer_hears(struct peer_heard *heard, uint8_t opcode, uint32_t psn);

/* Is the next packet an acknowledge with this syndrome? */
bool peer_hears_ack(uint32_t psn, uint8_t syndrome);

/* Is it an ACK, with any credits, that counts so many messages? */
bool peer_hears_count(uint32_t psn, uint32_t msn);

/* Is it a NAK, upon which the QP is in error? */
bool peer_refuses(const struct peer *peer, uint32_t psn, uint8_t syndrome);

/* Packets that the QP has sent since peer_open(). */
int64_t peer_said(const struct peer *peer);

/*
 * Waits for a packet, passing over others: a requester that hears nothing
 * repeats what it has said.
 */
bool peer_awaits(struct peer_heard *heard, uint8_t opcode, uint32_t psn);

/* Forget what has been heard up to now. */
void peer_drain(void);

/*
 * Does the QP send up to this packet, counted from PEER_PSN, and nothing behind
 * it?
 */
bool peer_sends_up_to(uint32_t last);

/* The next completion; false if none comes. */
bool peer_completes(struct ibv_cq *cq, struct ibv_wc *wc);

/* Is the next request to complete this one, so? Has none completed? */
bool peer_completed(struct peer *peer, uint64_t wr_id,
		    enum ibv_wc_status status);
bool peer_completed_nothing(struct peer *peer);

#endif
