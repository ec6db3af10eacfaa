/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What each BTH opcode is, and which work request each QP type takes: two
 * const tables and the look-ups into them.
 */
#ifndef SRDMA_PROTO_OPCODE_H
#define SRDMA_PROTO_OPCODE_H

#include <linux/bits.h>
#include <linux/types.h>

/* BTH opcodes (section 9.2.1; annexes A17 and A19). */
enum srdma_opcode {
	SRDMA_RC_SEND_FIRST		= 0x00,
	SRDMA_RC_SEND_MIDDLE		= 0x01,
	SRDMA_RC_SEND_LAST		= 0x02,
	SRDMA_RC_SEND_LAST_IMM		= 0x03,
	SRDMA_RC_SEND_ONLY		= 0x04,
	SRDMA_RC_SEND_ONLY_IMM		= 0x05,
	SRDMA_RC_WRITE_FIRST		= 0x06,
	SRDMA_RC_WRITE_MIDDLE		= 0x07,
	SRDMA_RC_WRITE_LAST		= 0x08,
	SRDMA_RC_WRITE_LAST_IMM		= 0x09,
	SRDMA_RC_WRITE_ONLY		= 0x0a,
	SRDMA_RC_WRITE_ONLY_IMM		= 0x0b,
	SRDMA_RC_READ_REQ		= 0x0c,
	SRDMA_RC_READ_RESP_FIRST	= 0x0d,
	SRDMA_RC_READ_RESP_MIDDLE	= 0x0e,
	SRDMA_RC_READ_RESP_LAST		= 0x0f,
	SRDMA_RC_READ_RESP_ONLY		= 0x10,
	SRDMA_RC_ACK			= 0x11,
	SRDMA_RC_ATOMIC_ACK		= 0x12,
	SRDMA_RC_CMP_SWAP		= 0x13,
	SRDMA_RC_FETCH_ADD		= 0x14,
	SRDMA_RC_SEND_LAST_INV		= 0x16,
	SRDMA_RC_SEND_ONLY_INV		= 0x17,
	SRDMA_RC_FLUSH			= 0x1c,
	SRDMA_RC_ATOMIC_WRITE		= 0x1d,

	SRDMA_UC_SEND_FIRST		= 0x20,
	SRDMA_UC_SEND_MIDDLE		= 0x21,
	SRDMA_UC_SEND_LAST		= 0x22,
	SRDMA_UC_SEND_LAST_IMM		= 0x23,
	SRDMA_UC_SEND_ONLY		= 0x24,
	SRDMA_UC_SEND_ONLY_IMM		= 0x25,
	SRDMA_UC_WRITE_FIRST		= 0x26,
	SRDMA_UC_WRITE_MIDDLE		= 0x27,
	SRDMA_UC_WRITE_LAST		= 0x28,
	SRDMA_UC_WRITE_LAST_IMM		= 0x29,
	SRDMA_UC_WRITE_ONLY		= 0x2a,
	SRDMA_UC_WRITE_ONLY_IMM		= 0x2b,

	SRDMA_UD_SEND_ONLY		= 0x64,
	SRDMA_UD_SEND_ONLY_IMM		= 0x65,

	SRDMA_CNP			= 0x81,

	SRDMA_RC_SACK			= 0xd1,	/* ours: see struct srdma_wire_sack */

	SRDMA_OPCODE_NONE		= 0xff,	/* never on the wire */
};

/* Which transport service an opcode belongs to. */
enum srdma_transport {
	SRDMA_TP_NONE,		/* unknown opcode */
	SRDMA_TP_RC,
	SRDMA_TP_UC,
	SRDMA_TP_UD,
	SRDMA_TP_CNP,		/* congestion notification, any QP type */
};

/* How many payload bytes an opcode may carry (section 9.7: length checks). */
enum srdma_payload_rule {
	SRDMA_PAY_NONE,		/* none */
	SRDMA_PAY_MTU,		/* exactly the path MTU: first, middle */
	SRDMA_PAY_LAST,		/* 1 .. path MTU: last */
	SRDMA_PAY_ONLY,		/* 0 .. path MTU: only */
	SRDMA_PAY_EIGHT,	/* exactly 8: atomic write */
};

/* srdma_opcode_info.flags */
#define SRDMA_OP_REQ		BIT(0)	/* goes to the responder */
#define SRDMA_OP_RESP		BIT(1)	/* goes to the requester */
#define SRDMA_OP_START		BIT(2)	/* begins a message: FIRST, ONLY */
#define SRDMA_OP_END		BIT(3)	/* ends a message: LAST, ONLY */

#define SRDMA_OP_SEND		BIT(4)	/* SEND, any form */
#define SRDMA_OP_WRITE		BIT(5)	/* RDMA WRITE, any form */
#define SRDMA_OP_READ		BIT(6)	/* RDMA READ request */
#define SRDMA_OP_READ_RESP	BIT(7)	/* RDMA READ response, any form */
#define SRDMA_OP_ATOMIC		BIT(8)	/* CmpSwap, FetchAdd */
#define SRDMA_OP_ATOMIC_WRITE	BIT(9)	/* ATOMIC WRITE */
#define SRDMA_OP_FLUSH		BIT(10)	/* FLUSH */

#define SRDMA_OP_RWQE		BIT(11)	/* needs a receive WQE at this packet */
#define SRDMA_OP_COMP		BIT(12)	/* completes the receive WQE */

#define SRDMA_OP_RETH		BIT(16)	/* headers, in wire order */
#define SRDMA_OP_ATOMIC_ETH	BIT(17)
#define SRDMA_OP_AETH		BIT(18)
#define SRDMA_OP_ATOMIC_ACK	BIT(19)
#define SRDMA_OP_DETH		BIT(20)
#define SRDMA_OP_IMM		BIT(21)
#define SRDMA_OP_IETH		BIT(22)
#define SRDMA_OP_FETH		BIT(23)	/* before the RETH */
#define SRDMA_OP_SACK		BIT(24)	/* behind the AETH */

#define SRDMA_OP_ONLY		(SRDMA_OP_START | SRDMA_OP_END)
#define SRDMA_OP_HDRS		(0x1ffu << 16)

/* What occupies a slot of the responder's READ/atomic resources. */
#define SRDMA_OP_RD_ATOMIC	(SRDMA_OP_READ | SRDMA_OP_ATOMIC | \
				 SRDMA_OP_ATOMIC_WRITE | SRDMA_OP_FLUSH)

/**
 * struct srdma_opcode_info - what one BTH opcode means
 * @name: for traces, NULL for an opcode that is not defined
 * @flags: SRDMA_OP_*
 * @hdr_len: BTH and extension headers, bytes
 * @transport: enum srdma_transport
 * @payload: enum srdma_payload_rule
 */
struct srdma_opcode_info {
	const char *name;
	u32 flags;
	u8 hdr_len;
	u8 transport;
	u8 payload;
};

extern const struct srdma_opcode_info srdma_opcodes[256];

static inline const struct srdma_opcode_info *srdma_opcode_get(u8 opcode)
{
	return &srdma_opcodes[opcode];
}

/*
 * Is it for the requester? Congestion notifications are: they are about what it
 * sends.
 */
static inline bool
srdma_opcode_is_response(const struct srdma_opcode_info *op)
{
	return (op->flags & SRDMA_OP_RESP) || op->transport == SRDMA_TP_CNP;
}

/* QP types as the tables know them; the caller maps the verbs' numbers. */
enum srdma_qpt {
	SRDMA_QPT_RC,
	SRDMA_QPT_UC,
	SRDMA_QPT_UD,
	SRDMA_QPT_GSI,		/* QP1: UD with fixed Q_Key */
	SRDMA_QPT_NR,
};

/* Work request opcodes: the numbers of the user ABI, and the kernel's own. */
enum srdma_wr_opcode {
	SRDMA_WR_WRITE		= 0,
	SRDMA_WR_WRITE_IMM	= 1,
	SRDMA_WR_SEND		= 2,
	SRDMA_WR_SEND_IMM	= 3,
	SRDMA_WR_READ		= 4,
	SRDMA_WR_CMP_SWAP	= 5,
	SRDMA_WR_FETCH_ADD	= 6,
	SRDMA_WR_LOCAL_INV	= 7,
	SRDMA_WR_BIND_MW	= 8,
	SRDMA_WR_SEND_INV	= 9,
	SRDMA_WR_FLUSH		= 14,
	SRDMA_WR_ATOMIC_WRITE	= 15,
	SRDMA_WR_USER_NR	= 16,	/* what user space can post ends here */
	SRDMA_WR_REG_MR		= 16,	/* kernel consumers only */
	SRDMA_WR_NR		= 17,
};

/* Work request flags: the numbers of the user ABI. */
#define SRDMA_WR_FENCE		BIT(0)
#define SRDMA_WR_SIGNALED	BIT(1)
#define SRDMA_WR_SOLICITED	BIT(2)
#define SRDMA_WR_INLINE		BIT(3)

/* srdma_wr_info.flags */
#define SRDMA_WRI_PAYLOAD	BIT(0)	/* carries data from local memory */
#define SRDMA_WRI_FILL		BIT(1)	/* data comes back into local memory */
#define SRDMA_WRI_RDMA		BIT(2)	/* has remote address and rkey */
#define SRDMA_WRI_ATOMIC	BIT(3)	/* has compare/swap/add operands */
#define SRDMA_WRI_IMM		BIT(4)	/* has immediate data */
#define SRDMA_WRI_INV		BIT(5)	/* has a remote key to invalidate */
#define SRDMA_WRI_LOCAL		BIT(6)	/* no packet: done at this end */
#define SRDMA_WRI_RD_ATOMIC	BIT(7)	/* counts against max_rd_atomic */
#define SRDMA_WRI_RWQE		BIT(8)	/* spends a credit of the receiver */

/* Where a packet is in its message. */
#define SRDMA_POS_MIDDLE	0
#define SRDMA_POS_FIRST		BIT(0)
#define SRDMA_POS_LAST		BIT(1)
#define SRDMA_POS_ONLY		(SRDMA_POS_FIRST | SRDMA_POS_LAST)

/**
 * struct srdma_wr_info - what one work request opcode means
 * @name: for traces, NULL for a number that is no opcode
 * @flags: SRDMA_WRI_*
 * @qpt: which QP types take it, BIT(enum srdma_qpt)
 * @wr_flags: SRDMA_WR_* flags that mean something on it
 * @op: RC opcodes of its packets, indexed by SRDMA_POS_*; UC and UD ones are
 *	at a constant distance; unused when the request is local
 */
struct srdma_wr_info {
	const char *name;
	u16 flags;
	u8 qpt;
	u8 wr_flags;
	u8 op[4];
};

extern const struct srdma_wr_info srdma_wr_infos[SRDMA_WR_NR];

/* Entry of @wr_op, or NULL when there is no such work request. */
static inline const struct srdma_wr_info *srdma_wr_info_get(u32 wr_op)
{
	if (wr_op >= SRDMA_WR_NR || !srdma_wr_infos[wr_op].name)
		return NULL;
	return &srdma_wr_infos[wr_op];
}

/* May a QP of type @qpt post @wr_op? */
static inline bool srdma_wr_may_post(enum srdma_qpt qpt, u32 wr_op)
{
	const struct srdma_wr_info *info = srdma_wr_info_get(wr_op);

	return info && (info->qpt & BIT(qpt));
}

/*
 * The BTH opcode of a packet of message @wr_op: @start for its first packet,
 * @end for its last. READ, atomics, ATOMIC WRITE and FLUSH are single requests
 * whatever @start and @end say. SRDMA_OPCODE_NONE if @qpt has no such packet:
 * a request it may not post, one that is local, or a datagram in pieces.
 */
u8 srdma_opcode_select(enum srdma_qpt qpt, u32 wr_op, bool start, bool end);

/* The BTH opcode of a READ response packet. */
static inline u8 srdma_opcode_read_resp(bool start, bool end)
{
	if (start)
		return end ? SRDMA_RC_READ_RESP_ONLY : SRDMA_RC_READ_RESP_FIRST;
	return end ? SRDMA_RC_READ_RESP_LAST : SRDMA_RC_READ_RESP_MIDDLE;
}

#endif
