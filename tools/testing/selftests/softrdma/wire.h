/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A peer made of frames: the link is on a tap device, and what the test writes
 * into it the kernel has received when the write returns.
 */
#ifndef SRT_WIRE_H
#define SRT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct virtio_net_hdr;

#define WIRE_NETDEV	"srtw0"
#define WIRE_OURS4	0x0a4d0001	/* TOPO_IPV4 */
#define WIRE_PEER4	0x0a4d0002	/* 10.77.0.2 */
#define WIRE_PEER	"10.77.0.2"
#define WIRE_PEER6	"fd77::2"

/* Offsets in an IPv4 frame without options. */
#define WIRE_IP		14
#define WIRE_UDP	34
#define WIRE_BTH	42

/* Opcodes of the InfiniBand specification, section 9.2.1. */
enum wire_opcode {
	RC_SEND_FIRST = 0x00,
	RC_SEND_MIDDLE = 0x01,
	RC_SEND_LAST = 0x02,
	RC_SEND_LAST_IMM = 0x03,
	RC_SEND_ONLY = 0x04,
	RC_WRITE_FIRST = 0x06,
	RC_WRITE_MIDDLE = 0x07,
	RC_WRITE_LAST = 0x08,
	RC_WRITE_LAST_IMM = 0x09,
	RC_WRITE_ONLY = 0x0a,
	RC_READ = 0x0c,
	RC_READ_RESP_FIRST = 0x0d,
	RC_READ_RESP_MIDDLE = 0x0e,
	RC_READ_RESP_LAST = 0x0f,
	RC_READ_RESP_ONLY = 0x10,
	RC_ACK = 0x11,
	RC_ATOMIC_ACK = 0x12,
	RC_CMP_SWAP = 0x13,
	RC_FETCH_ADD = 0x14,
	RC_ATOMIC_WRITE = 0x1d,
	UC_SEND_ONLY = 0x24,
	UD_SEND_ONLY = 0x64,
	CNP = 0x81,
};

/**
 * struct wire_frame - an Ethernet frame
 * @len: its length, bytes
 * @v6: IPv6: headers behind it are 20 bytes further on than in IPv4
 * @in_pages: the kernel has all of it but the Ethernet header in pages, as from
 *	some NICs; frames longer than a page only
 * @bytes: itself
 */
struct wire_frame {
	size_t len;
	bool v6;
	bool in_pages;
	uint8_t bytes[9216];
};

/**
 * struct wire_packet - what goes into a frame
 * @v6: IPv6
 * @opcode: of the BTH
 * @pad: pad count of the BTH, as written; no bytes follow from it
 * @ack_req: an acknowledge is asked for
 * @qpn: destination QP
 * @psn: PSN
 * @ip_id: IPv4 identification
 * @ext: extension headers
 * @ext_len: their length, bytes
 * @payload: payload and padding
 * @payload_len: their length, bytes
 */
struct wire_packet {
	bool v6;
	uint8_t opcode;
	uint8_t pad;
	bool ack_req;
	uint32_t qpn;
	uint32_t psn;
	uint16_t ip_id;
	const void *ext;
	size_t ext_len;
	const void *payload;
	size_t payload_len;
};

/* A namespace of our own, the tap with both addresses, TOPO_LINK on it. */
int wire_setup(void);

/*
 * The same, but the tap merges packets that arrive within one tick, as an
 * interface with GRO does; what it holds back arrives milliseconds later.
 */
int wire_setup_merging(void);
void wire_teardown(void);

/* A good frame from the peer to us. */
void wire_build(struct wire_frame *frame, const struct wire_packet *packet);

/* Where its BTH is. */
uint8_t *wire_bth(struct wire_frame *frame);

/* The ECN bits of its IP header. */
enum wire_ecn {
	NOT_ECT = 0,
	ECT_1 = 1,
	ECT_0 = 2,
	CE = 3,
};

enum wire_ecn wire_ecn(const struct wire_frame *frame);

/* A router marks it; wire_seal() is to follow. */
void wire_meet_congestion(struct wire_frame *frame);

/* Make lengths, IP checksum and ICRC right again after a change. */
void wire_seal(struct wire_frame *frame);

/* The same, but the lengths in IP and UDP headers are left as they are. */
void wire_seal_sums(struct wire_frame *frame);

/* Fill in the UDP checksum, which is zero otherwise. */
void wire_put_udp_sum(struct wire_frame *frame);

/* Are lengths and all checksums right, that of UDP not being zero? */
bool wire_is_sealed(const struct wire_frame *frame);

/*
 * UDP to the RoCE port, by either family, without options? Fills @v6, from what
 * is at WIRE_IP.
 */
bool wire_is_roce(struct wire_frame *frame);

/*
 * The next RoCE frame that the kernel sends, skipping all others. 0, or
 * -ETIMEDOUT. Without a time: one that it has sent already.
 */
int wire_capture(struct wire_frame *frame, int timeout_ms);

/*
 * The kernel receives it; @partial: as from a virtio peer that left the UDP
 * checksum to others. 0 or -errno.
 */
int wire_inject(const struct wire_frame *frame, bool partial);

/* The same, whatever the virtio peer says of it. */
int wire_inject_as(const struct wire_frame *frame,
		   const struct virtio_net_hdr *hdr);

#endif
