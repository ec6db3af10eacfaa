// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The opcode and work request tables. They are const and complete: the driver
 * knows no others.
 */
#include <linux/types.h>

#include "opcode.h"
#include "wire.h"

#define BTH	12
#define RETH	16
#define ATOMIC	28
#define AETH	4
#define ORIG	8
#define DETH	8
#define IMM	4
#define IETH	4
#define FETH	4
#define SACK	20

#define REQ_FIRST	(SRDMA_OP_REQ | SRDMA_OP_START)
#define REQ_MIDDLE	(SRDMA_OP_REQ)
#define REQ_LAST	(SRDMA_OP_REQ | SRDMA_OP_END)
#define REQ_ONLY	(SRDMA_OP_REQ | SRDMA_OP_ONLY)
#define RESP_ONLY	(SRDMA_OP_RESP | SRDMA_OP_ONLY)

#define OP(_op, _tp, _hdr, _pay, _flags)				\
	[SRDMA_##_op] = {						\
		.name = #_op,						\
		.transport = SRDMA_TP_##_tp,				\
		.hdr_len = (_hdr),					\
		.payload = SRDMA_PAY_##_pay,				\
		.flags = (_flags),					\
	}

/*
 * SEND and RDMA WRITE, which RC and UC share. A SEND needs its receive WQE
 * from the first packet on, a WRITE with immediate only at its last.
 */
#define SEND_AND_WRITE(tp)						\
	OP(tp##_SEND_FIRST, tp, BTH, MTU,				\
	   REQ_FIRST | SRDMA_OP_SEND | SRDMA_OP_RWQE),			\
	OP(tp##_SEND_MIDDLE, tp, BTH, MTU, REQ_MIDDLE | SRDMA_OP_SEND),	\
	OP(tp##_SEND_LAST, tp, BTH, LAST,				\
	   REQ_LAST | SRDMA_OP_SEND | SRDMA_OP_COMP),			\
	OP(tp##_SEND_LAST_IMM, tp, BTH + IMM, LAST,			\
	   REQ_LAST | SRDMA_OP_SEND | SRDMA_OP_COMP | SRDMA_OP_IMM),	\
	OP(tp##_SEND_ONLY, tp, BTH, ONLY, REQ_ONLY | SRDMA_OP_SEND |	\
	   SRDMA_OP_RWQE | SRDMA_OP_COMP),				\
	OP(tp##_SEND_ONLY_IMM, tp, BTH + IMM, ONLY,			\
	   REQ_ONLY | SRDMA_OP_SEND | SRDMA_OP_RWQE | SRDMA_OP_COMP |	\
	   SRDMA_OP_IMM),						\
	OP(tp##_WRITE_FIRST, tp, BTH + RETH, MTU,			\
	   REQ_FIRST | SRDMA_OP_WRITE | SRDMA_OP_RETH),			\
	OP(tp##_WRITE_MIDDLE, tp, BTH, MTU, REQ_MIDDLE | SRDMA_OP_WRITE), \
	OP(tp##_WRITE_LAST, tp, BTH, LAST, REQ_LAST | SRDMA_OP_WRITE),	\
	OP(tp##_WRITE_LAST_IMM, tp, BTH + IMM, LAST,			\
	   REQ_LAST | SRDMA_OP_WRITE | SRDMA_OP_RWQE | SRDMA_OP_COMP |	\
	   SRDMA_OP_IMM),						\
	OP(tp##_WRITE_ONLY, tp, BTH + RETH, ONLY,			\
	   REQ_ONLY | SRDMA_OP_WRITE | SRDMA_OP_RETH),			\
	OP(tp##_WRITE_ONLY_IMM, tp, BTH + RETH + IMM, ONLY,		\
	   REQ_ONLY | SRDMA_OP_WRITE | SRDMA_OP_RETH | SRDMA_OP_RWQE |	\
	   SRDMA_OP_COMP | SRDMA_OP_IMM)

const struct srdma_opcode_info srdma_opcodes[256] = {
	SEND_AND_WRITE(RC),
	OP(RC_READ_REQ, RC, BTH + RETH, NONE,
	   REQ_ONLY | SRDMA_OP_READ | SRDMA_OP_RETH),
	OP(RC_READ_RESP_FIRST, RC, BTH + AETH, MTU,
	   SRDMA_OP_RESP | SRDMA_OP_START | SRDMA_OP_READ_RESP |
	   SRDMA_OP_AETH),
	OP(RC_READ_RESP_MIDDLE, RC, BTH, MTU,
	   SRDMA_OP_RESP | SRDMA_OP_READ_RESP),
	OP(RC_READ_RESP_LAST, RC, BTH + AETH, LAST,
	   SRDMA_OP_RESP | SRDMA_OP_END | SRDMA_OP_READ_RESP |
	   SRDMA_OP_AETH),
	OP(RC_READ_RESP_ONLY, RC, BTH + AETH, ONLY,
	   RESP_ONLY | SRDMA_OP_READ_RESP | SRDMA_OP_AETH),
	OP(RC_ACK, RC, BTH + AETH, NONE, RESP_ONLY | SRDMA_OP_AETH),
	OP(RC_ATOMIC_ACK, RC, BTH + AETH + ORIG, NONE,
	   RESP_ONLY | SRDMA_OP_AETH | SRDMA_OP_ATOMIC_ACK),
	OP(RC_SACK, RC, BTH + AETH + SACK, NONE,
	   RESP_ONLY | SRDMA_OP_AETH | SRDMA_OP_SACK),
	OP(RC_CMP_SWAP, RC, BTH + ATOMIC, NONE,
	   REQ_ONLY | SRDMA_OP_ATOMIC | SRDMA_OP_ATOMIC_ETH),
	OP(RC_FETCH_ADD, RC, BTH + ATOMIC, NONE,
	   REQ_ONLY | SRDMA_OP_ATOMIC | SRDMA_OP_ATOMIC_ETH),
	OP(RC_SEND_LAST_INV, RC, BTH + IETH, LAST,
	   REQ_LAST | SRDMA_OP_SEND | SRDMA_OP_COMP | SRDMA_OP_IETH),
	OP(RC_SEND_ONLY_INV, RC, BTH + IETH, ONLY,
	   REQ_ONLY | SRDMA_OP_SEND | SRDMA_OP_RWQE | SRDMA_OP_COMP |
	   SRDMA_OP_IETH),
	OP(RC_FLUSH, RC, BTH + FETH + RETH, NONE,
	   REQ_ONLY | SRDMA_OP_FLUSH | SRDMA_OP_FETH | SRDMA_OP_RETH),
	OP(RC_ATOMIC_WRITE, RC, BTH + RETH, EIGHT,
	   REQ_ONLY | SRDMA_OP_ATOMIC_WRITE | SRDMA_OP_RETH),

	SEND_AND_WRITE(UC),

	OP(UD_SEND_ONLY, UD, BTH + DETH, ONLY,
	   REQ_ONLY | SRDMA_OP_SEND | SRDMA_OP_RWQE | SRDMA_OP_COMP |
	   SRDMA_OP_DETH),
	OP(UD_SEND_ONLY_IMM, UD, BTH + DETH + IMM, ONLY,
	   REQ_ONLY | SRDMA_OP_SEND | SRDMA_OP_RWQE | SRDMA_OP_COMP |
	   SRDMA_OP_DETH | SRDMA_OP_IMM),

	/* Neither request nor response; 16 reserved bytes follow the BTH. */
	OP(CNP, CNP, BTH + SRDMA_CNP_RESV_LEN, NONE, SRDMA_OP_ONLY),
};

#define RC	BIT(SRDMA_QPT_RC)
#define UC	BIT(SRDMA_QPT_UC)
#define UD	(BIT(SRDMA_QPT_UD) | BIT(SRDMA_QPT_GSI))

#define BASE	(SRDMA_WR_FENCE | SRDMA_WR_SIGNALED)

#define PIECES(_first, _middle, _last, _only)				\
	.op = {								\
		[SRDMA_POS_FIRST] = SRDMA_RC_##_first,			\
		[SRDMA_POS_MIDDLE] = SRDMA_RC_##_middle,		\
		[SRDMA_POS_LAST] = SRDMA_RC_##_last,			\
		[SRDMA_POS_ONLY] = SRDMA_RC_##_only,			\
	}
#define SINGLE(_op)	PIECES(_op, _op, _op, _op)

#define WR(_wr, _qpt, _wr_flags, _flags, ...)				\
	[SRDMA_WR_##_wr] = {						\
		.name = #_wr,						\
		.qpt = (_qpt),						\
		.wr_flags = BASE | (_wr_flags),				\
		.flags = (_flags),					\
		__VA_ARGS__						\
	}

/*
 * Opcodes per QP type: ibv_post_send(3), and section 10.8 for those that the
 * manual page leaves out. SOLICITED means something where a receive completes,
 * INLINE where local data goes out; FENCE is looked at on RC only.
 */
const struct srdma_wr_info srdma_wr_infos[SRDMA_WR_NR] = {
	WR(WRITE, RC | UC, SRDMA_WR_INLINE,
	   SRDMA_WRI_PAYLOAD | SRDMA_WRI_RDMA,
	   PIECES(WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY)),
	WR(WRITE_IMM, RC | UC, SRDMA_WR_INLINE | SRDMA_WR_SOLICITED,
	   SRDMA_WRI_PAYLOAD | SRDMA_WRI_RDMA | SRDMA_WRI_IMM |
	   SRDMA_WRI_RWQE,
	   PIECES(WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_IMM,
		  WRITE_ONLY_IMM)),
	WR(SEND, RC | UC | UD, SRDMA_WR_INLINE | SRDMA_WR_SOLICITED,
	   SRDMA_WRI_PAYLOAD | SRDMA_WRI_RWQE,
	   PIECES(SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY)),
	WR(SEND_IMM, RC | UC | UD, SRDMA_WR_INLINE | SRDMA_WR_SOLICITED,
	   SRDMA_WRI_PAYLOAD | SRDMA_WRI_IMM | SRDMA_WRI_RWQE,
	   PIECES(SEND_FIRST, SEND_MIDDLE, SEND_LAST_IMM, SEND_ONLY_IMM)),
	WR(READ, RC, 0,
	   SRDMA_WRI_FILL | SRDMA_WRI_RDMA | SRDMA_WRI_RD_ATOMIC,
	   SINGLE(READ_REQ)),
	WR(CMP_SWAP, RC, 0,
	   SRDMA_WRI_FILL | SRDMA_WRI_ATOMIC | SRDMA_WRI_RD_ATOMIC,
	   SINGLE(CMP_SWAP)),
	WR(FETCH_ADD, RC, 0,
	   SRDMA_WRI_FILL | SRDMA_WRI_ATOMIC | SRDMA_WRI_RD_ATOMIC,
	   SINGLE(FETCH_ADD)),
	WR(LOCAL_INV, RC | UC, 0, SRDMA_WRI_LOCAL | SRDMA_WRI_INV),
	WR(BIND_MW, RC | UC, 0, SRDMA_WRI_LOCAL),
	WR(SEND_INV, RC, SRDMA_WR_INLINE | SRDMA_WR_SOLICITED,
	   SRDMA_WRI_PAYLOAD | SRDMA_WRI_INV | SRDMA_WRI_RWQE,
	   PIECES(SEND_FIRST, SEND_MIDDLE, SEND_LAST_INV, SEND_ONLY_INV)),
	WR(FLUSH, RC, 0, SRDMA_WRI_RDMA | SRDMA_WRI_RD_ATOMIC, SINGLE(FLUSH)),
	WR(ATOMIC_WRITE, RC, SRDMA_WR_INLINE,
	   SRDMA_WRI_PAYLOAD | SRDMA_WRI_RDMA | SRDMA_WRI_RD_ATOMIC,
	   SINGLE(ATOMIC_WRITE)),
	WR(REG_MR, RC, 0, SRDMA_WRI_LOCAL),
};

/* From the RC opcode of a packet to that of another transport. */
static const u8 transport_base[SRDMA_QPT_NR] = {
	[SRDMA_QPT_RC] = 0x00,
	[SRDMA_QPT_UC] = 0x20,
	[SRDMA_QPT_UD] = 0x60,
	[SRDMA_QPT_GSI] = 0x60,
};

u8 srdma_opcode_select(enum srdma_qpt qpt, u32 wr_op, bool start, bool end)
{
	const struct srdma_wr_info *info = srdma_wr_info_get(wr_op);
	u8 pos = (start ? SRDMA_POS_FIRST : 0) | (end ? SRDMA_POS_LAST : 0);

	if (!info || !(info->qpt & BIT(qpt)) || info->flags & SRDMA_WRI_LOCAL)
		return SRDMA_OPCODE_NONE;
	if (BIT(qpt) & UD && pos != SRDMA_POS_ONLY)
		return SRDMA_OPCODE_NONE;
	return transport_base[qpt] + info->op[pos];
}
