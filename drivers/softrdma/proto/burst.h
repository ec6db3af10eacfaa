/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A burst: a run of consecutive packets of one message, all with the same
 * payload length but for a shorter last one, and with the same headers but
 * for the first and the last one.
 */
#ifndef SRDMA_PROTO_BURST_H
#define SRDMA_PROTO_BURST_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "opcode.h"
#include "psn.h"

/**
 * struct srdma_burst - packets to be sent in one go
 * @psn: PSN of the first packet; the others follow without a hole
 * @count: packets, at least 1
 * @offset: where in the message the first payload byte lies, bytes
 * @len: payload bytes of all packets together; of a READ request, an ATOMIC
 *	or a FLUSH: bytes asked for (RETH length), the packet carries none
 * @seg: payload bytes of every packet but the last, which has the rest
 * @first: opcode of the first packet
 * @middle: opcode of the packets between first and last
 * @last: opcode of the last packet (@first counts when @count is 1)
 * @ack_req: the last packet asks for an acknowledge
 * @solicited: the last packet is the end of a solicited message
 * @stamp: see struct srdma_pkt
 * @resend: PSNs that were on the wire before
 * @mixed: the first or the last packet has a header that others lack
 *
 * Written by the core; the caller may trim it.
 */
struct srdma_burst {
	u32 psn;
	u32 count;
	u32 offset;
	u32 len;
	u32 seg;
	u8 first;
	u8 middle;
	u8 last;
	u8 stamp;
	bool ack_req;
	bool solicited;
	bool resend;
	bool mixed;
};

/**
 * struct srdma_burst_limit - how much the caller can take now
 * @packets: most packets with the same headers in one burst, at least 1
 * @bytes: most payload bytes in one burst; one packet is always allowed
 */
struct srdma_burst_limit {
	u32 packets;
	u32 bytes;
};

/**
 * srdma_burst_most() - most packets of the next burst of a SEND or RDMA WRITE
 * @limit: how much the caller can take
 * @wr_op: enum srdma_wr_opcode of the message
 * @pos: its first packet to be sent, counted from 0
 * @mtu_shift: log2 of the path MTU
 */
u32 srdma_burst_most(const struct srdma_burst_limit *limit, u8 wr_op, u32 pos,
		     u8 mtu_shift);

/**
 * srdma_burst_cut() - the next burst of a SEND or RDMA WRITE message
 * @b: @b->count and the members from @offset to @last are filled in
 * @qpt: whose opcodes
 * @wr_op: enum srdma_wr_opcode of the message
 * @len: bytes of the message
 * @pos: its first packet to be sent, counted from 0
 * @max: most packets, at least 1
 * @mtu_shift: log2 of the path MTU
 */
void srdma_burst_cut(struct srdma_burst *b, enum srdma_qpt qpt, u8 wr_op,
		     u32 len, u32 pos, u32 max, u8 mtu_shift);

/**
 * srdma_burst_alike() - packets that have the same headers
 * @b: burst
 * @first: the first of them
 *
 * Return: how many, from @first on; at least 1. One segmented skb can carry them.
 */
u32 srdma_burst_alike(const struct srdma_burst *b, u32 first);

/* Fewer packets than there are, 1 at least: the others are not sent. */
void srdma_burst_trim(struct srdma_burst *b, u32 count);

/* Packets of a message of @len bytes: one even for none. */
static inline u32 srdma_burst_packets(u32 len, u8 mtu_shift)
{
	u32 mtu = 1u << mtu_shift;

	return len ? (len >> mtu_shift) + !!(len & (mtu - 1)) : 1;
}

/* Opcode of packet @i of the burst. */
static inline u8 srdma_burst_opcode(const struct srdma_burst *b, u32 i)
{
	if (!i)
		return b->first;
	return i + 1 == b->count ? b->last : b->middle;
}

/* Payload bytes of packet @i; not for requests that carry none. */
static inline u32 srdma_burst_payload(const struct srdma_burst *b, u32 i)
{
	return i + 1 == b->count ? b->len - i * b->seg : b->seg;
}

static inline u32 srdma_burst_psn(const struct srdma_burst *b, u32 i)
{
	return srdma_psn_add(b->psn, i);
}

#endif
