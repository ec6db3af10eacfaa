/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The bytes of a RoCEv2 packet behind the UDP header: layouts and constants
 * of the InfiniBand Architecture Specification, volume 1: the BTH in section
 * 9.2, the extension headers in section 9.3 and in annexes A17 and A19.
 *
 * The structs are packed because a header may sit at any address: a frame is
 * parsed where the network left it.
 */
#ifndef SRDMA_PROTO_WIRE_H
#define SRDMA_PROTO_WIRE_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define SRDMA_UDP_PORT		4791	/* RoCEv2, annex A17 */

#define SRDMA_ICRC_LEN		4u	/* bytes behind the padded payload */
#define SRDMA_GRH_LEN		40	/* bytes before a UD message */
#define SRDMA_MTU_MIN		256	/* smallest path MTU, bytes */
#define SRDMA_MTU_MAX		4096	/* largest path MTU, bytes */
#define SRDMA_MSG_MAX		0x80000000u	/* longest message, bytes */

#define SRDMA_QPN_MASK		0xffffffu
#define SRDMA_QPN_MULTICAST	0xffffffu
#define SRDMA_QPN_GSI		1u
#define SRDMA_QKEY_GSI		0x80010000u	/* well-known Q_Key of QP1 */
#define SRDMA_QKEY_CONTROLLED	0x80000000u	/* high-order bit: controlled */
#define SRDMA_PKEY_DEFAULT	0xffffu
#define SRDMA_PKEY_FULL		0x8000u		/* full membership bit */
#define SRDMA_PKEY_BASE		0x7fffu		/* the partition itself */

/**
 * struct srdma_wire_bth - base transport header (section 9.2)
 * @opcode: what the packet is; SRDMA_OPCODE_*
 * @flags: solicited event, MigReq, pad count, transport version
 * @pkey: partition key
 * @qpn: FECN, BECN and 6 reserved bits, then the 24-bit destination QP
 * @apsn: AckReq and 7 reserved bits, which are ours (struct srdma_wire_sack), then
 *	the 24-bit PSN
 */
struct srdma_wire_bth {
	u8 opcode;
	u8 flags;
	__be16 pkey;
	__be32 qpn;
	__be32 apsn;
} __packed;
static_assert(sizeof(struct srdma_wire_bth) == 12);

#define SRDMA_BTH_LEN		12u
#define SRDMA_BTH_SE		0x80	/* flags: solicited event */
#define SRDMA_BTH_MIG		0x40	/* flags: MigReq */
#define SRDMA_BTH_PAD_SHIFT	4	/* flags: pad count, 2 bits */
#define SRDMA_BTH_PAD_MASK	0x30
#define SRDMA_BTH_TVER_MASK	0x0f	/* flags: transport version, zero */
#define SRDMA_BTH_FECN		0x80000000u	/* qpn word */
#define SRDMA_BTH_BECN		0x40000000u	/* qpn word */
#define SRDMA_BTH_ACKREQ	0x80000000u	/* apsn word */
#define SRDMA_BTH_STAMP_SHIFT	24	/* apsn word: the reserved bits */
#define SRDMA_BTH_STAMP_MASK	0x7fu
#define SRDMA_BTH_RESV8_OFF	4	/* the byte the ICRC reads as ff */

/**
 * struct srdma_wire_reth - RDMA extended transport header
 * @va: virtual address at the responder
 * @rkey: remote key
 * @len: DMA length of the whole message, bytes
 */
struct srdma_wire_reth {
	__be64 va;
	__be32 rkey;
	__be32 len;
} __packed;
static_assert(sizeof(struct srdma_wire_reth) == 16);

/**
 * struct srdma_wire_atomic_eth - atomic extended transport header
 * @va: virtual address at the responder
 * @rkey: remote key
 * @swap_add: value to swap in, or to add
 * @compare: value to compare with; not used by FetchAdd
 */
struct srdma_wire_atomic_eth {
	__be64 va;
	__be32 rkey;
	__be64 swap_add;
	__be64 compare;
} __packed;
static_assert(sizeof(struct srdma_wire_atomic_eth) == 28);

/**
 * struct srdma_wire_aeth - ACK extended transport header
 * @smsn: 8-bit syndrome, then the 24-bit message sequence number
 */
struct srdma_wire_aeth {
	__be32 smsn;
} __packed;
static_assert(sizeof(struct srdma_wire_aeth) == 4);

/**
 * struct srdma_wire_atomic_ack - atomic acknowledge header
 * @orig: what the word held before the operation
 */
struct srdma_wire_atomic_ack {
	__be64 orig;
} __packed;
static_assert(sizeof(struct srdma_wire_atomic_ack) == 8);

/* Holes that one selective acknowledge reports. */
#define SRDMA_SACK_HOLES	4

/**
 * struct srdma_wire_sack - what a selective acknowledge adds to the AETH
 * @held: packets that came behind a hole, and need not come again
 * @holes: packets that are missing, 8 bits, 255 for that or more; then the 24-bit PSN
 *	of the first. 0 packets: no hole, but if there is a PSN, that of a packet which
 *	was reported, and had only been late
 *
 * This is our own, under an opcode that the specification leaves to manufacturers.
 * Nobody gets one who has not shown that they know it: the NAK of a responder that
 * holds packets back has a number, 1 .. 63, in the reserved bits of its BTH, which
 * others ignore. A requester that knows it repeats the packet with the same number
 * there. Each selective acknowledge that reports holes has a new one. While there are
 * holes, packets that are no repetition have the last number, and SRDMA_STAMP_FRESH.
 * This alone has all holes reported again.
 */
struct srdma_wire_sack {
	__be32 held;
	__be32 holes[SRDMA_SACK_HOLES];
} __packed;
static_assert(sizeof(struct srdma_wire_sack) == 20);

#define SRDMA_STAMP_NUMBERS	63u
#define SRDMA_STAMP_FRESH	0x40u
#define SRDMA_STAMP_ALL		SRDMA_STAMP_FRESH

#define SRDMA_SACK_COUNT_SHIFT	24
#define SRDMA_SACK_COUNT_MAX	0xffu
#define SRDMA_SACK_HELD_MAX	0xffffu

/**
 * struct srdma_wire_deth - datagram extended transport header
 * @qkey: queue key
 * @src_qpn: 8 reserved bits, then the 24-bit source QP
 */
struct srdma_wire_deth {
	__be32 qkey;
	__be32 src_qpn;
} __packed;
static_assert(sizeof(struct srdma_wire_deth) == 8);

/**
 * struct srdma_wire_imm - immediate data header
 * @imm: carried from post to completion without looking at it
 */
struct srdma_wire_imm {
	__be32 imm;
} __packed;
static_assert(sizeof(struct srdma_wire_imm) == 4);

/**
 * struct srdma_wire_ieth - invalidate extended transport header
 * @rkey: the responder's key to invalidate
 */
struct srdma_wire_ieth {
	__be32 rkey;
} __packed;
static_assert(sizeof(struct srdma_wire_ieth) == 4);

/**
 * struct srdma_wire_feth - flush extended transport header (annex A19)
 * @bits: placement type in bits 0-3, selectivity level in bits 4-5
 */
struct srdma_wire_feth {
	__be32 bits;
} __packed;
static_assert(sizeof(struct srdma_wire_feth) == 4);

#define SRDMA_FETH_PLT_MASK	0x0fu
#define SRDMA_FETH_SEL_SHIFT	4
#define SRDMA_FETH_SEL_MASK	0x30u

#define SRDMA_FLUSH_GLOBAL	0x1u	/* placement: visible to everyone */
#define SRDMA_FLUSH_PERSISTENT	0x2u	/* placement: survives power loss */
#define SRDMA_FLUSH_RANGE	0u	/* selectivity: the address range */
#define SRDMA_FLUSH_MR		1u	/* selectivity: the whole region */

#define SRDMA_ATOMIC_LEN	8	/* operand of every atomic, bytes */
#define SRDMA_CNP_RESV_LEN	16	/* reserved bytes behind a CNP's BTH */

/* Between two congestion notifications of a QP, as adapters have it. */
#define SRDMA_CNP_APART_NS	50000u

/*
 * The most header bytes any opcode has (compare and swap: BTH and
 * AtomicETH). A receiver that can see this many, or the whole of a shorter
 * packet, can parse it.
 */
#define SRDMA_HDR_MAX		40

#endif
