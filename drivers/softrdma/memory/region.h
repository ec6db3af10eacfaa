/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory regions.
 */
#ifndef SRDMA_REGION_H
#define SRDMA_REGION_H

#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

#include "memory/keys.h"
#include "memory/page_map.h"

/* No region is longer. */
#define SRDMA_MAX_MR_BYTES	(1ULL << 46)

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
	struct srdma_page_map map;

	struct ib_umem *umem;

	u32 capacity;
	struct srdma_page_map staged;
	bool is_staged;
};

static inline struct srdma_mr *to_smr(struct ib_mr *ib)
{
	return container_of(ib, struct srdma_mr, ib);
}

int srdma_mr_check_access(u32 access);
int srdma_mr_check_range(u64 start, u64 length, u64 iova);
void srdma_mr_open(struct srdma_mr *mr, struct ib_pd *pd, u64 iova,
		   u32 access);
int srdma_mr_close(struct srdma_mr *mr, enum srdma_key_state state);

enum srdma_mem_why __must_check
srdma_mr_fast_reg(const struct srdma_mem_who *who, struct ib_mr *ib, u32 key,
		  u32 access);
enum srdma_mem_why __must_check
srdma_mr_invalidate(const struct srdma_mem_who *who, struct srdma_mr *mr,
		    u32 key, bool remote);

#endif
