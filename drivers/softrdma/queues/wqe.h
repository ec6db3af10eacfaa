/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Work requests in private memory: the contents of a slot of a shared ring,
 * read once and checked. This code accesses no ring, and no other code
 * interprets a slot.
 */
#ifndef SRDMA_WQE_H
#define SRDMA_WQE_H

#include <linux/types.h>

#include "proto/opcode.h"
#include "proto/rc_req.h"
#include "proto/status.h"

/* Bytes of a send slot before the pieces, and of a receive slot. */
#define SRDMA_SEND_SLOT_HEAD	208
#define SRDMA_RECV_SLOT_HEAD	40

/**
 * struct srdma_sge - one piece of registered memory
 * @addr: address within the region
 * @length: bytes
 * @lkey: key of the region
 */
struct srdma_sge {
	u64 addr;
	u32 length;
	u32 lkey;
};

/**
 * struct srdma_wqe - a send work request that has passed every check
 * @msg: the requester's part: opcode, flags and length; for FLUSH the length
 *	is that of the range, for an atomic it is 8
 * @wr_id: returned in the completion
 * @imm: immediate data, as it goes onto the wire
 * @inv_rkey: key to invalidate: the peer's, or one's own for LOCAL_INV
 * @num_sge: entries of @sge; 0 when the data are inline
 * @is_inline: @msg.len bytes lie where @sge would be: srdma_wqe_inline()
 * @rdma: target of a WRITE, READ, ATOMIC_WRITE or FLUSH
 * @rdma.remote_addr: address at the peer
 * @rdma.rkey: its key
 * @rdma.plt: FLUSH: SRDMA_FLUSH_GLOBAL | SRDMA_FLUSH_PERSISTENT
 * @rdma.sel: FLUSH: SRDMA_FLUSH_RANGE or SRDMA_FLUSH_MR
 * @atomic: target and operands of CmpSwap and FetchAdd
 * @atomic.remote_addr: address at the peer
 * @atomic.swap_add: value to swap in, or to add
 * @atomic.compare: value to compare with
 * @atomic.rkey: key of @atomic.remote_addr
 * @ud: where a datagram goes
 * @ud.remote_qpn: destination QP
 * @ud.qkey: Q_Key as posted; see srdma_ud_send_qkey()
 * @ud.ah_num: number of the address handle, not 0; a kernel consumer's request
 *	has the address itself, behind all else: srdma_qp_wqe_av()
 * @ud.pkey_index: QP1: index of the P_Key
 * @mw: what BIND_MW binds
 * @mw.addr: first address of the window
 * @mw.length: bytes, 0 to unbind
 * @mw.mr_lkey: key of the region
 * @mw.mw_rkey: key of the window so far
 * @mw.rkey: key of the window from now on
 * @mw.access: IB_ACCESS_* bits, not checked here
 * @reg: what REG_MR of a kernel consumer registers
 * @reg.mr: the region, known to the poster only
 * @reg.key: its new key
 * @reg.access: IB_ACCESS_* bits
 * @sge: pieces, or the inline data
 *
 * Written by srdma_wqe_decode() or, from a kernel consumer's request, by the
 * poster; @msg also by the protocol core. The last member has room for the
 * limits of the QP: srdma_wqe_size().
 */
struct srdma_wqe {
	struct srdma_rc_msg msg;
	u64 wr_id;
	union {
		__be32 imm;
		u32 inv_rkey;
	};
	u16 num_sge;
	bool is_inline;
	union {
		struct {
			u64 remote_addr;
			u32 rkey;
			u8 plt;
			u8 sel;
		} rdma;
		struct {
			u64 remote_addr;
			u64 swap_add;
			u64 compare;
			u32 rkey;
		} atomic;
		struct {
			u32 remote_qpn;
			u32 qkey;
			u32 ah_num;
			u16 pkey_index;
		} ud;
		struct {
			u64 addr;
			u64 length;
			u32 mr_lkey;
			u32 mw_rkey;
			u32 rkey;
			u32 access;
		} mw;
		struct {
			void *mr;
			u32 key;
			u32 access;
		} reg;
	};
	struct srdma_sge sge[];
};

/**
 * struct srdma_rwqe - a receive work request that has passed every check
 * @wr_id: returned in the completion
 * @length: bytes of all pieces together
 * @num_sge: entries of @sge
 * @sge: pieces; room for the limit of the queue: srdma_rwqe_size()
 *
 * Written by srdma_rwqe_decode() or by a kernel consumer's post.
 */
struct srdma_rwqe {
	u64 wr_id;
	u64 length;
	u32 num_sge;
	struct srdma_sge sge[];
};

/**
 * struct srdma_wqe_limits - what a send queue was created with
 * @qpt: type of the QP
 * @max_sge: most pieces of a request
 * @max_inline: most inline bytes of a request; room for 8 there always is
 */
struct srdma_wqe_limits {
	enum srdma_qpt qpt;
	u32 max_sge;
	u32 max_inline;
};

/* What is wrong with a work request. */
enum srdma_wqe_why {
	SRDMA_WQE_OK,
	SRDMA_WQE_OPCODE,	/* no such opcode, or not for this QP type */
	SRDMA_WQE_FLAGS,	/* unknown flag, or inline where none can be */
	SRDMA_WQE_NUM_SGE,	/* more pieces than agreed */
	SRDMA_WQE_INLINE,	/* more inline bytes than agreed */
	SRDMA_WQE_LENGTH,	/* longer than 2^31 bytes */
	SRDMA_WQE_ATOMIC_LEN,	/* other room than for the 8 bytes that come back */
	SRDMA_WQE_AH,		/* a datagram without address handle */
	SRDMA_WQE_FLUSH_TYPE,	/* unknown placement or selectivity */
	SRDMA_WQE_NR,
};

/* Inline data of @wqe. */
static inline u8 *srdma_wqe_inline(struct srdma_wqe *wqe)
{
	return (u8 *)wqe->sge;
}

/* Bytes of a struct srdma_wqe that can hold whatever @lim allows. */
size_t srdma_wqe_size(const struct srdma_wqe_limits *lim);

static inline size_t srdma_rwqe_size(u32 max_sge)
{
	return sizeof(struct srdma_rwqe) + max_sge * sizeof(struct srdma_sge);
}

/**
 * srdma_wqe_decode() - interpret a send slot
 * @out: srdma_wqe_size() bytes; wr_id, msg.op and msg.flags are valid even when
 *	the request is refused, so that its completion can be written
 * @slot: a private copy of the slot, 8-byte aligned
 * @slot_size: bytes of it, more than SRDMA_SEND_SLOT_HEAD
 * @lim: what the queue allows
 *
 * The length that the slot states is not believed (some libraries write it
 * wrongly): it is the sum of the pieces.
 */
enum srdma_wqe_why srdma_wqe_decode(struct srdma_wqe *out, const void *slot,
				    u32 slot_size,
				    const struct srdma_wqe_limits *lim);

/*
 * The checks on a request whose msg.op, msg.flags (all that were posted),
 * num_sge, is_inline and operands are filled in, by srdma_wqe_decode() or from
 * a kernel consumer's request; inline data have their length in msg.len.
 * Otherwise sets msg.len. Leaves only those flags in msg.flags that mean
 * something.
 */
enum srdma_wqe_why srdma_wqe_check(struct srdma_wqe *wqe,
				   const struct srdma_wqe_limits *lim);

/* The completion status for a refused request. */
enum srdma_status srdma_wqe_status(enum srdma_wqe_why why);

/*
 * As srdma_wqe_decode() for a receive slot and @max_sge pieces, but the slot may change
 * meanwhile: each word of it is read once.
 */
enum srdma_wqe_why srdma_rwqe_decode(struct srdma_rwqe *out, const void *slot,
				     u32 slot_size, u32 max_sge);

#endif
