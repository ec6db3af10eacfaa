/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The reason why an access to memory was refused, for error records.
 */
#ifndef SRDMA_EXPLAIN_H
#define SRDMA_EXPLAIN_H

#include "memory/access.h"
#include "observe/cause.h"

/**
 * struct srdma_claim - an access that was refused
 * @key: key that was used
 * @at: first address
 * @bytes: so many from there
 * @access: what the key has to allow
 */
struct srdma_claim {
	u32 key;
	u64 at;
	u64 bytes;
	u32 access;
};

void srdma_explain_remote(struct srdma_cause *cause,
			  const struct srdma_mem_who *who,
			  const struct srdma_claim *claim);
void srdma_explain_pieces(struct srdma_cause *cause,
			  const struct srdma_mem_who *who,
			  const struct srdma_sge *sge, u32 num_sge,
			  u32 access);
void srdma_explain_key(struct srdma_cause *cause,
		       const struct srdma_mem_who *who, u32 number);
bool srdma_explain_may_tell(const struct srdma_mem_who *who, u32 number);

#endif
