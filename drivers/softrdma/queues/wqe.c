// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Decodes slots of user rings into private work requests. An untrusted process wrote
 * all of a slot. That of a send queue is a copy and does not change.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>
#include <rdma/softrdma-abi.h>

#include "proto/wire.h"
#include "queues/wqe.h"

static_assert(sizeof(struct srdma_abi_send_wqe) == SRDMA_SEND_SLOT_HEAD);
static_assert(sizeof(struct srdma_abi_recv_wqe) == SRDMA_RECV_SLOT_HEAD);
static_assert(sizeof(struct srdma_abi_sge) == sizeof(struct srdma_sge));

/* The numbers of the ABI are the numbers of the protocol tables. */
static_assert((int)SRDMA_ABI_WR_RDMA_WRITE == SRDMA_WR_WRITE);
static_assert((int)SRDMA_ABI_WR_RDMA_WRITE_WITH_IMM == SRDMA_WR_WRITE_IMM);
static_assert((int)SRDMA_ABI_WR_SEND == SRDMA_WR_SEND);
static_assert((int)SRDMA_ABI_WR_SEND_WITH_IMM == SRDMA_WR_SEND_IMM);
static_assert((int)SRDMA_ABI_WR_RDMA_READ == SRDMA_WR_READ);
static_assert((int)SRDMA_ABI_WR_ATOMIC_CMP_AND_SWP == SRDMA_WR_CMP_SWAP);
static_assert((int)SRDMA_ABI_WR_ATOMIC_FETCH_AND_ADD == SRDMA_WR_FETCH_ADD);
static_assert((int)SRDMA_ABI_WR_LOCAL_INV == SRDMA_WR_LOCAL_INV);
static_assert((int)SRDMA_ABI_WR_BIND_MW == SRDMA_WR_BIND_MW);
static_assert((int)SRDMA_ABI_WR_SEND_WITH_INV == SRDMA_WR_SEND_INV);
static_assert((int)SRDMA_ABI_WR_FLUSH == SRDMA_WR_FLUSH);
static_assert((int)SRDMA_ABI_WR_ATOMIC_WRITE == SRDMA_WR_ATOMIC_WRITE);
static_assert((int)SRDMA_ABI_SEND_FENCE == SRDMA_WR_FENCE);
static_assert((int)SRDMA_ABI_SEND_SIGNALED == SRDMA_WR_SIGNALED);
static_assert((int)SRDMA_ABI_SEND_SOLICITED == SRDMA_WR_SOLICITED);
static_assert((int)SRDMA_ABI_SEND_INLINE == SRDMA_WR_INLINE);

#define KNOWN_FLAGS	(SRDMA_WR_FENCE | SRDMA_WR_SIGNALED |		\
			 SRDMA_WR_SOLICITED | SRDMA_WR_INLINE)

size_t srdma_wqe_size(const struct srdma_wqe_limits *lim)
{
	size_t sge = lim->max_sge * sizeof(struct srdma_sge);
	size_t data = max_t(size_t, lim->max_inline, SRDMA_ATOMIC_LEN);

	return sizeof(struct srdma_wqe) + max_t(size_t, sge, data);
}

enum srdma_status srdma_wqe_status(enum srdma_wqe_why why)
{
	switch (why) {
	case SRDMA_WQE_OK:
		return SRDMA_ST_OK;
	case SRDMA_WQE_OPCODE:
	case SRDMA_WQE_FLAGS:
	case SRDMA_WQE_NUM_SGE:
	case SRDMA_WQE_INLINE:
	case SRDMA_WQE_AH:
	case SRDMA_WQE_FLUSH_TYPE:
		return SRDMA_ST_LOC_QP_OP;
	case SRDMA_WQE_LENGTH:
	case SRDMA_WQE_ATOMIC_LEN:
		return SRDMA_ST_LOC_LEN;
	case SRDMA_WQE_NR:
		break;
	}
	return SRDMA_ST_FATAL;
}

static u64 sge_total(const struct srdma_sge *sge, u32 n)
{
	u64 sum = 0;

	while (n--)
		sum += sge[n].length;
	return sum;
}

static bool is_datagram(enum srdma_qpt qpt)
{
	return qpt == SRDMA_QPT_UD || qpt == SRDMA_QPT_GSI;
}

static enum srdma_wqe_why check_length(struct srdma_wqe *wqe,
				       const struct srdma_wqe_limits *lim)
{
	u64 total;

	if (wqe->is_inline)
		return wqe->msg.len > lim->max_inline ? SRDMA_WQE_INLINE :
							SRDMA_WQE_OK;
	if (wqe->num_sge > lim->max_sge)
		return SRDMA_WQE_NUM_SGE;
	total = sge_total(wqe->sge, wqe->num_sge);
	if (total > SRDMA_MSG_MAX)
		return SRDMA_WQE_LENGTH;
	wqe->msg.len = total;
	return SRDMA_WQE_OK;
}

static enum srdma_wqe_why check_atomic(struct srdma_wqe *wqe,
				       const struct srdma_wqe_limits *lim)
{
	enum srdma_wqe_why why = check_length(wqe, lim);

	if (why)
		return why;
	return wqe->msg.len == SRDMA_ATOMIC_LEN ? SRDMA_WQE_OK :
						  SRDMA_WQE_ATOMIC_LEN;
}

static enum srdma_wqe_why check_flush(struct srdma_wqe *wqe)
{
	u8 plt = wqe->rdma.plt;

	if (!plt || plt & ~(SRDMA_FLUSH_GLOBAL | SRDMA_FLUSH_PERSISTENT))
		return SRDMA_WQE_FLUSH_TYPE;
	if (wqe->rdma.sel > SRDMA_FLUSH_MR)
		return SRDMA_WQE_FLUSH_TYPE;
	/* A whole region is flushed whatever the length says, if it was set at all. */
	if (wqe->rdma.sel == SRDMA_FLUSH_MR)
		wqe->msg.len = 0;
	return wqe->msg.len > SRDMA_MSG_MAX ? SRDMA_WQE_LENGTH : SRDMA_WQE_OK;
}

static enum srdma_wqe_why check_flags(struct srdma_wqe *wqe,
				      const struct srdma_wr_info *info,
				      enum srdma_qpt qpt)
{
	u8 flags = wqe->msg.flags;

	if (flags & ~KNOWN_FLAGS)
		return SRDMA_WQE_FLAGS;
	/* A READ with inline data has no keys to write to. */
	if (wqe->is_inline && !(info->wr_flags & SRDMA_WR_INLINE))
		return SRDMA_WQE_FLAGS;
	/*
	 * SOLICITED and FENCE where they say nothing are common in programs
	 * that set them once for all, and adapters ignore them.
	 */
	flags &= info->wr_flags;
	if (qpt != SRDMA_QPT_RC)
		flags &= ~SRDMA_WR_FENCE;
	/* What is in flight may have to be read again to be sent again. */
	if (wqe->msg.op == SRDMA_WR_LOCAL_INV)
		flags |= SRDMA_MSG_DRAIN;
	wqe->msg.flags = flags;
	return SRDMA_WQE_OK;
}

static enum srdma_wqe_why check_operands(struct srdma_wqe *wqe,
					 const struct srdma_wqe_limits *lim)
{
	switch (wqe->msg.op) {
	case SRDMA_WR_CMP_SWAP:
	case SRDMA_WR_FETCH_ADD:
		return check_atomic(wqe, lim);
	case SRDMA_WR_FLUSH:
		return check_flush(wqe);
	case SRDMA_WR_ATOMIC_WRITE:
		return wqe->is_inline && wqe->msg.len == SRDMA_ATOMIC_LEN ?
			SRDMA_WQE_OK : SRDMA_WQE_ATOMIC_LEN;
	case SRDMA_WR_LOCAL_INV:
	case SRDMA_WR_BIND_MW:
	case SRDMA_WR_REG_MR:
		wqe->msg.len = 0;
		wqe->num_sge = 0;
		return SRDMA_WQE_OK;
	default:
		return check_length(wqe, lim);
	}
}

enum srdma_wqe_why srdma_wqe_check(struct srdma_wqe *wqe,
				   const struct srdma_wqe_limits *lim)
{
	const struct srdma_wr_info *info = srdma_wr_info_get(wqe->msg.op);
	enum srdma_wqe_why why;

	if (!info || !srdma_wr_may_post(lim->qpt, wqe->msg.op))
		return SRDMA_WQE_OPCODE;
	why = check_flags(wqe, info, lim->qpt);
	if (why)
		return why;
	return check_operands(wqe, lim);
}

/*
 * Does the slot carry its data inside? The flag says so; so does, from
 * ibv_wr_set_inline_data() of older libraries, a length without pieces.
 */
static bool slot_is_inline(const struct srdma_abi_send_wqe *raw,
			   const struct srdma_wr_info *info)
{
	if (raw->opcode == SRDMA_WR_ATOMIC_WRITE ||
	    raw->send_flags & SRDMA_WR_INLINE)
		return true;
	return info->flags & SRDMA_WRI_PAYLOAD && !raw->dma.num_sge &&
	       raw->dma.length;
}

static enum srdma_wqe_why take_inline(struct srdma_wqe *out,
				      const struct srdma_abi_send_wqe *raw,
				      u32 room,
				      const struct srdma_wqe_limits *lim)
{
	u32 len = raw->dma.length;
	u32 most = lim->max_inline;

	if (raw->opcode == SRDMA_WR_ATOMIC_WRITE) {
		len = SRDMA_ATOMIC_LEN;
		most = SRDMA_ATOMIC_LEN;
	}
	if (len > most || len > room)
		return SRDMA_WQE_INLINE;
	memcpy(srdma_wqe_inline(out), raw + 1, len);
	out->msg.len = len;
	out->is_inline = true;
	return SRDMA_WQE_OK;
}

static enum srdma_wqe_why take_sges(struct srdma_wqe *out,
				    const struct srdma_abi_send_wqe *raw,
				    u32 room,
				    const struct srdma_wqe_limits *lim)
{
	const struct srdma_sge *sge = (const struct srdma_sge *)(raw + 1);
	u32 n = raw->dma.num_sge;

	if (n > lim->max_sge || n > room / sizeof(*sge))
		return SRDMA_WQE_NUM_SGE;
	if (likely(n == 1))
		out->sge[0] = *sge;
	else
		memcpy(out->sge, sge, n * sizeof(*sge));
	out->num_sge = n;
	return SRDMA_WQE_OK;
}

/* The part of the slot that its opcode gives a meaning. */
static void take_operands(struct srdma_wqe *out,
			  const struct srdma_abi_send_wqe *raw,
			  enum srdma_qpt qpt)
{
	switch (raw->opcode) {
	case SRDMA_WR_CMP_SWAP:
		out->atomic.remote_addr = raw->atomic.remote_addr;
		out->atomic.rkey = raw->atomic.rkey;
		out->atomic.compare = raw->atomic.compare_add;
		out->atomic.swap_add = raw->atomic.swap;
		return;
	case SRDMA_WR_FETCH_ADD:
		out->atomic.remote_addr = raw->atomic.remote_addr;
		out->atomic.rkey = raw->atomic.rkey;
		out->atomic.swap_add = raw->atomic.compare_add;
		return;
	case SRDMA_WR_FLUSH:
		out->rdma.remote_addr = raw->flush.remote_addr;
		out->rdma.rkey = raw->flush.rkey;
		out->rdma.plt = raw->flush.type;
		out->rdma.sel = raw->flush.level;
		out->msg.len = raw->dma.length;
		return;
	case SRDMA_WR_BIND_MW:
		out->mw.addr = raw->mw.addr;
		out->mw.length = raw->mw.length;
		out->mw.mr_lkey = raw->mw.mr_lkey;
		out->mw.mw_rkey = raw->mw.mw_rkey;
		out->mw.rkey = raw->mw.rkey;
		out->mw.access = raw->mw.access;
		return;
	}
	if (is_datagram(qpt)) {
		out->ud.remote_qpn = raw->ud.remote_qpn;
		out->ud.qkey = raw->ud.remote_qkey;
		out->ud.ah_num = raw->ud.ah_num;
		out->ud.pkey_index = raw->ud.pkey_index;
	} else {
		out->rdma.remote_addr = raw->rdma.remote_addr;
		out->rdma.rkey = raw->rdma.rkey;
	}
}

static enum srdma_wqe_why take_data(struct srdma_wqe *out,
				    const struct srdma_abi_send_wqe *raw,
				    u32 room,
				    const struct srdma_wqe_limits *lim)
{
	const struct srdma_wr_info *info = srdma_wr_info_get(raw->opcode);

	if (slot_is_inline(raw, info))
		return take_inline(out, raw, room, lim);
	if (info->flags & (SRDMA_WRI_PAYLOAD | SRDMA_WRI_FILL))
		return take_sges(out, raw, room, lim);
	return SRDMA_WQE_OK;
}

/* Tables are looked up by the opcode of a request that failed, too. */
static u8 refused_op(u32 opcode)
{
	if (opcode >= SRDMA_WR_USER_NR || !srdma_wr_info_get(opcode))
		return SRDMA_WR_SEND;
	return opcode;
}

enum srdma_wqe_why srdma_wqe_decode(struct srdma_wqe *out, const void *slot,
				    u32 slot_size,
				    const struct srdma_wqe_limits *lim)
{
	const struct srdma_abi_send_wqe *raw = slot;
	u32 room = slot_size - SRDMA_SEND_SLOT_HEAD;
	enum srdma_wqe_why why;

	memset(out, 0, sizeof(*out));
	out->wr_id = raw->wr_id;
	out->msg.flags = raw->send_flags & KNOWN_FLAGS;
	/* Before it is cut to eight bits; REG_MR is not for user space. */
	if (raw->opcode >= SRDMA_WR_USER_NR ||
	    !srdma_wr_may_post(lim->qpt, raw->opcode)) {
		out->msg.op = refused_op(raw->opcode);
		return SRDMA_WQE_OPCODE;
	}
	out->msg.op = raw->opcode;
	if (raw->send_flags & ~KNOWN_FLAGS)
		return SRDMA_WQE_FLAGS;

	out->imm = raw->imm_data;
	take_operands(out, raw, lim->qpt);
	if (is_datagram(lim->qpt) && !out->ud.ah_num)
		return SRDMA_WQE_AH;
	why = take_data(out, raw, room, lim);
	if (why)
		return why;
	return srdma_wqe_check(out, lim);
}

/* Copies pieces that may change meanwhile; returns the sum of their lengths. */
static u64 copy_pieces(struct srdma_sge *to, const struct srdma_sge *from,
		       u32 count)
{
	u64 sum = 0;
	u32 i, len;

	for (i = 0; i < count; i++) {
		len = READ_ONCE(from[i].length);
		to[i].addr = READ_ONCE(from[i].addr);
		to[i].length = len;
		to[i].lkey = READ_ONCE(from[i].lkey);
		sum += len;
	}
	return sum;
}

enum srdma_wqe_why srdma_rwqe_decode(struct srdma_rwqe *out, const void *slot,
				     u32 slot_size, u32 max_sge)
{
	const struct srdma_abi_recv_wqe *raw = slot;
	u32 room = slot_size - SRDMA_RECV_SLOT_HEAD;
	u32 n = READ_ONCE(raw->dma.num_sge);

	out->wr_id = READ_ONCE(raw->wr_id);
	out->length = 0;
	out->num_sge = 0;
	if (n > max_sge || n > room / sizeof(struct srdma_sge))
		return SRDMA_WQE_NUM_SGE;
	out->num_sge = n;
	out->length = copy_pieces(out->sge, (const void *)(raw + 1), n);
	return SRDMA_WQE_OK;
}
