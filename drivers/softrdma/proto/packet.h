/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A packet in host order: parsed once from the wire, or written to it.
 */
#ifndef SRDMA_PROTO_PACKET_H
#define SRDMA_PROTO_PACKET_H

#include <linux/types.h>
#include <asm/byteorder.h>

#include "opcode.h"
#include "wire.h"

/**
 * struct srdma_pkt - one packet, host order
 * @op: the opcode's table entry, never NULL once parsed
 * @psn: packet sequence number, 24 bits
 * @dest_qpn: destination QP, 24 bits
 * @payload_len: payload bytes without pad and ICRC; of a run (run.h): of all
 *	its packets
 * @more: of a run: packets beside the first; 0 for a packet
 * @pkey: partition key
 * @opcode: enum srdma_opcode
 * @hdr_len: where the payload begins: BTH and extension headers, bytes
 * @pad: pad bytes between payload and ICRC, 0 .. 3
 * @se: solicited event
 * @mig: MigReq
 * @ack_req: an acknowledge is asked for
 * @fecn: forward congestion notification
 * @becn: backward congestion notification
 * @stamp: number of the report that this is, or repeats packets for, or of the last
 *	one, with SRDMA_STAMP_FRESH; 0 for none
 * @imm: immediate data, as it was on the wire
 * @inv_rkey: key to invalidate (IETH), where no @imm is
 * @reth: RDMA header; also of ATOMIC WRITE and FLUSH
 * @reth.va: address at the responder
 * @reth.rkey: its key
 * @reth.len: bytes of the whole message
 * @feth: flush header, beside @reth
 * @feth.plt: placement type, SRDMA_FLUSH_GLOBAL | SRDMA_FLUSH_PERSISTENT
 * @feth.sel: selectivity level, SRDMA_FLUSH_RANGE or SRDMA_FLUSH_MR
 * @atomic: header of CmpSwap and FetchAdd
 * @atomic.va: address at the responder
 * @atomic.swap_add: value to swap in, or to add
 * @atomic.compare: value to compare with
 * @atomic.rkey: key of @atomic.va
 * @aeth: acknowledge header
 * @aeth.syndrome: see aeth.h
 * @aeth.msn: message sequence number, 24 bits
 * @aeth.orig: what the atomic found (ATOMIC ACKNOWLEDGE only)
 * @aeth.held: selective acknowledge: packets that came behind a hole, 65535 for more
 * @sack: selective acknowledge, beside @aeth
 * @sack.holes: those that are missing
 * @sack.holes.psn: the first; of no hole, if not 0, a packet that had only been late
 * @sack.holes.count: their number, 255 for that or more; 0: no hole
 * @deth: datagram header
 * @deth.qkey: queue key
 * @deth.src_qpn: who sent it, 24 bits
 *
 * Written by srdma_pkt_parse(), or by whoever builds a packet; only the
 * members whose header bits are in @op->flags are meaningful.
 */
struct srdma_pkt {
	const struct srdma_opcode_info *op;
	u32 psn;
	u32 dest_qpn;
	u32 payload_len;
	u16 more;
	u16 pkey;
	u8 opcode;
	u8 hdr_len;
	u8 pad;
	bool se;
	bool mig;
	bool ack_req;
	bool fecn;
	bool becn;
	u8 stamp;
	union {
		__be32 imm;
		u32 inv_rkey;
	};
	union {
		struct {
			struct {
				u64 va;
				u32 rkey;
				u32 len;
			} reth;
			struct {
				u8 plt;
				u8 sel;
			} feth;
		};
		struct {
			u64 va;
			u64 swap_add;
			u64 compare;
			u32 rkey;
		} atomic;
		struct {
			struct {
				u64 orig;
				u32 msn;
				u16 held;
				u8 syndrome;
			} aeth;
			struct {
				struct {
					u32 psn : 24;
					u32 count : 8;
				} holes[SRDMA_SACK_HOLES];
			} sack;
		};
		struct {
			u32 qkey;
			u32 src_qpn;
		} deth;
	};
};

/* Why a packet is not one; each has a drop counter of its own. */
enum srdma_parse {
	SRDMA_PARSE_OK,
	SRDMA_PARSE_SHORT,	/* no room for the headers and the ICRC */
	SRDMA_PARSE_UNALIGNED,	/* length not a multiple of four */
	SRDMA_PARSE_TVER,	/* transport version is not zero */
	SRDMA_PARSE_OPCODE,	/* no such opcode */
	SRDMA_PARSE_PAD,	/* more pad than payload, or pad not allowed */
	SRDMA_PARSE_LENGTH,	/* payload length the opcode cannot have */
	SRDMA_PARSE_NR,
};

/**
 * srdma_pkt_parse() - check and unpack the headers of a packet
 * @pkt: filled in when the result is SRDMA_PARSE_OK
 * @hdr: the first byte behind the UDP header
 * @hdr_avail: bytes readable at @hdr; at least SRDMA_HDR_MAX, or the whole
 *	packet if that is shorter
 * @udp_payload_len: bytes behind the UDP header, ICRC included
 *
 * The one place where the lengths of a packet are checked, all but the
 * comparison with the path MTU of the QP: srdma_pkt_fits_mtu().
 */
enum srdma_parse srdma_pkt_parse(struct srdma_pkt *pkt, const void *hdr,
				 u32 hdr_avail, u32 udp_payload_len);

/*
 * Does the payload agree with the path MTU of the QP? FIRST and
 * MIDDLE must fill it, others may not exceed it. All of a run but the last do
 * fill it, or they would not have become one.
 */
static inline bool srdma_pkt_fits_mtu(const struct srdma_pkt *pkt, u32 mtu)
{
	u32 most = (pkt->more + 1u) * mtu;

	if (pkt->op->payload == SRDMA_PAY_MTU)
		return pkt->payload_len == most;
	return pkt->payload_len <= most;
}

/* Pad bytes that bring @payload_len to a multiple of four. */
static inline u8 srdma_pkt_pad(u32 payload_len)
{
	return -payload_len & 3;
}

/* Bytes behind the UDP header of a packet with this payload. */
static inline u32 srdma_pkt_wire_len(u32 hdr_len, u32 payload_len)
{
	return hdr_len + payload_len + srdma_pkt_pad(payload_len) +
	       SRDMA_ICRC_LEN;
}

/* Of two numbers of reports, which are 1 .. SRDMA_STAMP_NUMBERS on a circle. */
static inline bool srdma_stamp_before(u8 a, u8 b)
{
	u32 steps = (b + SRDMA_STAMP_NUMBERS - a) % SRDMA_STAMP_NUMBERS;

	return steps && steps <= SRDMA_STAMP_NUMBERS / 2;
}

/**
 * srdma_pkt_build_as() - write BTH and extension headers
 * @buf: room for SRDMA_HDR_MAX bytes
 * @pkt: what to write; @pkt->op, @pkt->hdr_len and @pkt->pad are not read: the
 *	pad count follows from @pkt->payload_len
 * @opcode: decides which headers; @pkt->opcode is not read
 *
 * Return: header bytes written, 0 if the opcode is not defined.
 */
u32 srdma_pkt_build_as(void *buf, const struct srdma_pkt *pkt, u8 opcode);

static inline u32 srdma_pkt_build(void *buf, const struct srdma_pkt *pkt)
{
	return srdma_pkt_build_as(buf, pkt, pkt->opcode);
}

/**
 * struct srdma_bth_tmpl - the part of a BTH that is the same for a QP
 * @bth: P_Key, destination and MigReq in place, the rest zero
 *
 * Made by srdma_bth_tmpl_init() when the destination is known.
 */
struct srdma_bth_tmpl {
	struct srdma_wire_bth bth;
};

void srdma_bth_tmpl_init(struct srdma_bth_tmpl *tmpl, u32 dest_qpn, u16 pkey);

/*
 * The writers below are the hot path's: each puts one header and returns the
 * byte behind it.
 */
static inline void *srdma_put_bth(void *buf, const struct srdma_bth_tmpl *tmpl,
				  u8 opcode, u8 pad, bool se, bool ack_req,
				  u32 psn)
{
	struct srdma_wire_bth *bth = buf;

	*bth = tmpl->bth;
	bth->opcode = opcode;
	bth->flags |= (pad << SRDMA_BTH_PAD_SHIFT) | (se ? SRDMA_BTH_SE : 0);
	bth->apsn = cpu_to_be32(psn | (ack_req ? SRDMA_BTH_ACKREQ : 0));
	return bth + 1;
}

static inline void *srdma_put_reth(void *buf, u64 va, u32 rkey, u32 len)
{
	struct srdma_wire_reth *reth = buf;

	reth->va = cpu_to_be64(va);
	reth->rkey = cpu_to_be32(rkey);
	reth->len = cpu_to_be32(len);
	return reth + 1;
}

static inline void *srdma_put_atomic_eth(void *buf, u64 va, u32 rkey,
					 u64 swap_add, u64 compare)
{
	struct srdma_wire_atomic_eth *eth = buf;

	eth->va = cpu_to_be64(va);
	eth->rkey = cpu_to_be32(rkey);
	eth->swap_add = cpu_to_be64(swap_add);
	eth->compare = cpu_to_be64(compare);
	return eth + 1;
}

static inline void *srdma_put_aeth(void *buf, u8 syndrome, u32 msn)
{
	struct srdma_wire_aeth *aeth = buf;

	aeth->smsn = cpu_to_be32((u32)syndrome << 24 | msn);
	return aeth + 1;
}

static inline void *srdma_put_atomic_ack(void *buf, u64 orig)
{
	struct srdma_wire_atomic_ack *ack = buf;

	ack->orig = cpu_to_be64(orig);
	return ack + 1;
}

static inline void *srdma_put_deth(void *buf, u32 qkey, u32 src_qpn)
{
	struct srdma_wire_deth *deth = buf;

	deth->qkey = cpu_to_be32(qkey);
	deth->src_qpn = cpu_to_be32(src_qpn);
	return deth + 1;
}

static inline void *srdma_put_imm(void *buf, __be32 imm)
{
	struct srdma_wire_imm *hdr = buf;

	hdr->imm = imm;
	return hdr + 1;
}

static inline void *srdma_put_ieth(void *buf, u32 rkey)
{
	struct srdma_wire_ieth *ieth = buf;

	ieth->rkey = cpu_to_be32(rkey);
	return ieth + 1;
}

static inline void *srdma_put_feth(void *buf, u8 plt, u8 sel)
{
	struct srdma_wire_feth *feth = buf;

	feth->bits = cpu_to_be32(plt | sel << SRDMA_FETH_SEL_SHIFT);
	return feth + 1;
}

#endif
