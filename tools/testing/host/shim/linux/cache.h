/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the core uses of <linux/cache.h>, in user space. */
#ifndef SRDMA_SHIM_CACHE_H
#define SRDMA_SHIM_CACHE_H

#define __ro_after_init

#endif
