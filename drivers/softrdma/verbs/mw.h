/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory windows: the verbs.
 */
#ifndef SRDMA_MW_H
#define SRDMA_MW_H

#include <rdma/ib_verbs.h>

#include "memory/window.h"

/**
 * struct srdma_mw_handle - what the core allocates, and frees at once
 * @ib: the core's part
 * @mw: the window, which look-ups may see for longer
 */
struct srdma_mw_handle {
	struct ib_mw ib;
	struct srdma_mw *mw;
};

int srdma_mw_alloc(struct ib_mw *ib, struct ib_udata *udata);
int srdma_mw_dealloc(struct ib_mw *ib);

#endif
