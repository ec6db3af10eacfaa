/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory regions: the verbs.
 */
#ifndef SRDMA_MR_H
#define SRDMA_MR_H

#include <rdma/ib_verbs.h>

#include "memory/region.h"

struct ib_dmah;

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

#endif
