/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory regions.
 */
#ifndef SRDMA_MR_H
#define SRDMA_MR_H

#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

#include "keys.h"
#include "map.h"

struct ib_dmah;

/**
 * enum srdma_mr_kind - where the memory of a region comes from
 * @SRDMA_MR_USER: pinned pages of a process
 * @SRDMA_MR_DMA: all kernel memory, by its kernel addresses
 * @SRDMA_MR_FAST: pages of a kernel consumer, registered by work requests
 */
enum srdma_mr_kind {
	SRDMA_MR_USER,
	SRDMA_MR_DMA,
	SRDMA_MR_FAST,
};

/**
 * struct srdma_mr - a memory region
 * @key: what look-ups find
 * @ib: the core's part
 * @kind: where the memory comes from; constant
 * @windows: memory windows bound to it; under the key's lock
 * @map: where the bytes are; changes only behind a closed gate
 * @umem: USER: the pinned pages; NULL of a region of no length
 * @capacity: FAST: blocks that each of @map and @staged has room for
 * @staged: FAST: what the consumer has mapped and not yet registered; its own
 *	until it posts the registration
 * @is_staged: FAST: @staged has not been registered
 */
struct srdma_mr {
	struct srdma_key key;
	struct ib_mr ib;
	enum srdma_mr_kind kind;

	u32 windows;
	struct srdma_map map;

	struct ib_umem *umem;

	u32 capacity;
	struct srdma_map staged;
	bool is_staged;
};

static inline struct srdma_mr *to_smr(struct ib_mr *ib)
{
	return container_of(ib, struct srdma_mr, ib);
}

/* The operation as kernels without DMA handles declare it. */
typedef struct ib_mr *(*srdma_reg_user_mr_t)(struct ib_pd *pd, u64 start,
					     u64 length, u64 iova, int access,
					     struct ib_udata *udata);

struct ib_mr *srdma_mr_get_dma(struct ib_pd *pd, int access);
struct ib_mr *srdma_mr_reg_user(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access, struct ib_udata *udata);
struct ib_mr *srdma_mr_reg_user_dmah(struct ib_pd *pd, u64 start, u64 length,
				     u64 iova, int access,
				     struct ib_dmah *dmah,
				     struct ib_udata *udata);
struct ib_mr *srdma_mr_rereg_user(struct ib_mr *ib, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *pd, struct ib_udata *udata);
struct ib_mr *srdma_mr_alloc(struct ib_pd *pd, enum ib_mr_type type,
			     u32 max_sg);
int srdma_mr_map_sg(struct ib_mr *ib, struct scatterlist *sg, int nents,
		    unsigned int *offset);
int srdma_mr_dereg(struct ib_mr *ib, struct ib_udata *udata);

enum srdma_mem_why __must_check
srdma_mr_fast_reg(const struct srdma_mem_who *who, struct ib_mr *ib, u32 key,
		  u32 access);
enum srdma_mem_why __must_check
srdma_mr_invalidate(const struct srdma_mem_who *who, struct srdma_mr *mr,
		    u32 key, bool remote);

#endif
