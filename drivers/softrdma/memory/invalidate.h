/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Invalidation of a region or window.
 */
#ifndef SRDMA_INVALIDATE_H
#define SRDMA_INVALIDATE_H

#include "memory/keys.h"

enum srdma_mem_why __must_check
srdma_mem_invalidate(const struct srdma_mem_who *who, u32 key, bool remote);

#endif
