/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Questions about access to memory.
 */
#ifndef SRDMA_CHECK_H
#define SRDMA_CHECK_H

#include "memory/access.h"

enum srdma_mem_why __must_check
srdma_mem_check_list(const struct srdma_mem_who *who,
		     const struct srdma_sge *sge, u32 num_sge, u32 access);
enum srdma_mem_why __must_check
srdma_mem_check_remote(const struct srdma_mem_who *who, u32 rkey, u64 va,
		       u64 len, u32 access);

#endif
