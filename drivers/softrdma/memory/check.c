// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Whether memory could be accessed at present. Nothing is promised of a moment later.
 */
#include "memory/check.h"

/* Would a walk over all pieces of a work request succeed at present? */
enum srdma_mem_why srdma_mem_check_list(const struct srdma_mem_who *who,
					const struct srdma_sge *sge,
					u32 num_sge, u32 access)
{
	struct srdma_mem_span span = {};
	enum srdma_mem_why why;

	why = srdma_mem_check_next(&span, who, sge, num_sge, access);
	srdma_mem_leave(&span);
	return why;
}

/* Would srdma_mem_begin_remote() succeed at present? */
enum srdma_mem_why srdma_mem_check_remote(const struct srdma_mem_who *who,
					  u32 rkey, u64 va, u64 len,
					  u32 access)
{
	struct srdma_mem_iter it;
	enum srdma_mem_why why;

	why = srdma_mem_begin_remote(&it, who, rkey, va, len, access);
	if (!why)
		srdma_mem_end(&it);
	return why;
}
