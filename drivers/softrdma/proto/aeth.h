/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The AETH syndrome, end-to-end credits, RNR timers and the local ACK
 * timeout: the encodings of section 9.7, both ways.
 */
#ifndef SRDMA_PROTO_AETH_H
#define SRDMA_PROTO_AETH_H

#include <linux/types.h>

/* Bits 6-5 of a syndrome; bit 7 is reserved. */
#define SRDMA_AETH_TYPE_MASK	0x60
#define SRDMA_AETH_ACK		0x00
#define SRDMA_AETH_RNR		0x20
#define SRDMA_AETH_RESERVED	0x40
#define SRDMA_AETH_NAK		0x60
#define SRDMA_AETH_VALUE_MASK	0x1f	/* credit count, RNR timer, NAK code */

/* NAK codes (section 9.7.5.2). */
enum srdma_nak {
	SRDMA_NAK_PSN_SEQ	= 0,	/* PSN sequence error: go back */
	SRDMA_NAK_INV_REQ	= 1,	/* invalid request */
	SRDMA_NAK_REM_ACCESS	= 2,	/* remote access error */
	SRDMA_NAK_REM_OP	= 3,	/* remote operational error */
	SRDMA_NAK_INV_RD_REQ	= 4,	/* invalid RD request */
};

#define SRDMA_CREDIT_UNLIMITED	31	/* no end-to-end flow control */
#define SRDMA_RNR_TIMERS	32

/* What a syndrome says. */
enum srdma_aeth_kind {
	SRDMA_AETH_KIND_ACK,
	SRDMA_AETH_KIND_RNR,
	SRDMA_AETH_KIND_NAK,
	SRDMA_AETH_KIND_BAD,	/* reserved type or reserved NAK code */
};

static inline u8 srdma_aeth_ack(u8 credit)
{
	return SRDMA_AETH_ACK | (credit & SRDMA_AETH_VALUE_MASK);
}

static inline u8 srdma_aeth_rnr(u8 timer)
{
	return SRDMA_AETH_RNR | (timer & SRDMA_AETH_VALUE_MASK);
}

static inline u8 srdma_aeth_nak(enum srdma_nak code)
{
	return SRDMA_AETH_NAK | code;
}

static inline u8 srdma_aeth_value(u8 syndrome)
{
	return syndrome & SRDMA_AETH_VALUE_MASK;
}

enum srdma_aeth_kind srdma_aeth_kind(u8 syndrome);

/* The 5-bit code of the largest credit count that is not above @credits. */
u8 srdma_credit_encode(u32 credits);

/* Credits of a 5-bit code; U32_MAX for SRDMA_CREDIT_UNLIMITED. */
u32 srdma_credit_decode(u8 code);

/* How long a requester waits after an RNR NAK with this 5-bit timer, ns. */
u64 srdma_rnr_timer_ns(u8 timer);

/* Local ACK timeout 4.096 us * 2^@timeout in ns, 0 for 0: no timeout. */
u64 srdma_ack_timeout_ns(u8 timeout);

#endif
