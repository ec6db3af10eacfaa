/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The memory that softrdma shares with user space, and the bytes that its
 * verbs commands carry.
 *
 * The layout is the one that the stock rxe provider of rdma-core drives, so
 * that no library of our own is needed. drivers/softrdma/verbs/ucontext.c asserts
 * that every offset here equals the one in <rdma/rdma_user_rxe.h>.
 *
 * Everything in a ring except the index that the kernel itself writes may be
 * changed by user space at any time.
 */
#ifndef SOFTRDMA_ABI_H
#define SOFTRDMA_ABI_H

#include <linux/types.h>

#define SRDMA_ABI_VERSION	2

/**
 * struct srdma_abi_ring - head of a mapped ring; elements follow at 384
 * @log2_elem_size: log2 of the bytes of one element; kernel writes once
 * @index_mask: number of slots - 1, a power of two; kernel writes once
 * @pad_1: keeps the producer index in a cache line of its own
 * @producer_index: next slot to be filled, masked; written by the side that
 *	adds elements (user space for work queues, the kernel for CQs)
 * @pad_2: keeps the consumer index in a cache line of its own
 * @consumer_index: next slot to be taken, masked; written by the other side
 * @pad_3: keeps elements out of the consumer's cache line
 */
struct srdma_abi_ring {
	__u32 log2_elem_size;
	__u32 index_mask;
	__u32 pad_1[30];
	__u32 producer_index;
	__u32 pad_2[31];
	__u32 consumer_index;
	__u32 pad_3[31];
};

/* Where the first element of a ring starts. */
#define SRDMA_ABI_RING_DATA	384

/**
 * struct srdma_abi_sge - one piece of registered memory
 * @addr: address within the region named by @lkey
 * @length: bytes
 * @lkey: key of the region
 */
struct srdma_abi_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/**
 * struct srdma_abi_dma - length and piece list of a work request
 * @length: total bytes; some providers fill it wrongly, so it is recomputed
 * @resid: not used
 * @cur_sge: not used
 * @num_sge: entries that follow, or 0 when inline data follow
 * @sge_offset: not used
 * @reserved: not used
 */
struct srdma_abi_dma {
	__u32 length;
	__u32 resid;
	__u32 cur_sge;
	__u32 num_sge;
	__u32 sge_offset;
	__u32 reserved;
};

/* Work request opcodes as user space writes them. */
enum srdma_abi_wr_opcode {
	SRDMA_ABI_WR_RDMA_WRITE = 0,
	SRDMA_ABI_WR_RDMA_WRITE_WITH_IMM = 1,
	SRDMA_ABI_WR_SEND = 2,
	SRDMA_ABI_WR_SEND_WITH_IMM = 3,
	SRDMA_ABI_WR_RDMA_READ = 4,
	SRDMA_ABI_WR_ATOMIC_CMP_AND_SWP = 5,
	SRDMA_ABI_WR_ATOMIC_FETCH_AND_ADD = 6,
	SRDMA_ABI_WR_LOCAL_INV = 7,
	SRDMA_ABI_WR_BIND_MW = 8,
	SRDMA_ABI_WR_SEND_WITH_INV = 9,
	SRDMA_ABI_WR_FLUSH = 14,
	SRDMA_ABI_WR_ATOMIC_WRITE = 15,
};

/* Send flags as user space writes them. */
enum srdma_abi_send_flags {
	SRDMA_ABI_SEND_FENCE = 1 << 0,
	SRDMA_ABI_SEND_SIGNALED = 1 << 1,
	SRDMA_ABI_SEND_SOLICITED = 1 << 2,
	SRDMA_ABI_SEND_INLINE = 1 << 3,
};

/**
 * struct srdma_abi_send_wqe - a send work request; pieces, inline data or the
 *	eight bytes of an atomic write follow at 208
 * @wr_id: returned in the completion
 * @reserved: not used
 * @opcode: one of enum srdma_abi_wr_opcode
 * @send_flags: enum srdma_abi_send_flags
 * @imm_data: immediate data, big endian, for the *_WITH_IMM opcodes
 * @invalidate_rkey: key to invalidate, for SEND_WITH_INV and LOCAL_INV
 * @rdma: target of a WRITE, READ or ATOMIC_WRITE
 * @atomic: target and operands of an atomic
 * @flush: target of a FLUSH; its length is in @dma
 * @ud: destination of a datagram; the rest of the AV is not used
 * @mw: what BIND_MW binds
 * @wr_bytes: size of the union
 * @unused: state of other kernels' drivers; never read, never written
 * @dma: length and piece count
 */
struct srdma_abi_send_wqe {
	__aligned_u64 wr_id;
	__u32 reserved;
	__u32 opcode;
	__u32 send_flags;
	union {
		__be32 imm_data;
		__u32 invalidate_rkey;
	};
	union {
		struct {
			__aligned_u64 remote_addr;
			__u32 rkey;
			__u32 reserved;
		} rdma;
		struct {
			__aligned_u64 remote_addr;
			__aligned_u64 compare_add;
			__aligned_u64 swap;
			__u32 rkey;
			__u32 reserved;
		} atomic;
		struct {
			__aligned_u64 remote_addr;
			__u32 reserved;
			__u32 rkey;
			__u8 type;
			__u8 level;
		} flush;
		struct {
			__u32 remote_qpn;
			__u32 remote_qkey;
			__u16 pkey_index;
			__u16 reserved;
			__u32 ah_num;
		} ud;
		struct {
			__aligned_u64 addr;
			__aligned_u64 length;
			__u32 mr_lkey;
			__u32 mw_rkey;
			__u32 rkey;
			__u32 access;
		} mw;
		__u8 wr_bytes[120];
	};
	__u8 unused[40];
	struct srdma_abi_dma dma;
};

/**
 * struct srdma_abi_recv_wqe - a receive work request; pieces follow at 40
 * @wr_id: returned in the completion
 * @reserved: not used
 * @padding: not used
 * @dma: length and piece count
 */
struct srdma_abi_recv_wqe {
	__aligned_u64 wr_id;
	__u32 reserved;
	__u32 padding;
	struct srdma_abi_dma dma;
};

/* Bits of ib_uverbs_wc.wc_flags in a CQ that user space polls. */
enum srdma_abi_wc_flags {
	SRDMA_ABI_WC_GRH = 1 << 0,
	SRDMA_ABI_WC_WITH_IMM = 1 << 1,
	SRDMA_ABI_WC_WITH_INV = 1 << 3,
};

/**
 * struct srdma_abi_map - where a ring is to be mapped
 * @offset: offset to give to mmap() on the command file descriptor
 * @size: bytes to map
 * @pad: zero
 */
struct srdma_abi_map {
	__aligned_u64 offset;
	__u32 size;
	__u32 pad;
};

/**
 * struct srdma_abi_create_cq_resp - answer to create_cq and resize_cq
 * @ring: the completion ring
 */
struct srdma_abi_create_cq_resp {
	struct srdma_abi_map ring;
};

/**
 * struct srdma_abi_create_qp_resp - answer to create_qp
 * @rq: the receive ring; zero when the QP uses an SRQ
 * @sq: the send ring
 */
struct srdma_abi_create_qp_resp {
	struct srdma_abi_map rq;
	struct srdma_abi_map sq;
};

/**
 * struct srdma_abi_create_srq_resp - answer to create_srq
 * @ring: the receive ring
 * @srq_num: number of the SRQ
 * @reserved: zero
 */
struct srdma_abi_create_srq_resp {
	struct srdma_abi_map ring;
	__u32 srq_num;
	__u32 reserved;
};

/**
 * struct srdma_abi_modify_srq_cmd - driver part of modify_srq
 * @map_addr: user address of a struct srdma_abi_map, filled when the SRQ is
 *	resized
 */
struct srdma_abi_modify_srq_cmd {
	__aligned_u64 map_addr;
};

/**
 * struct srdma_abi_create_ah_resp - answer to create_ah
 * @ah_num: number that UD work requests give in place of the address; never 0
 * @reserved: zero
 */
struct srdma_abi_create_ah_resp {
	__u32 ah_num;
	__u32 reserved;
};

#endif /* SOFTRDMA_ABI_H */
