/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The version. It is defined here only; scripts/version prints it.
 */
#ifndef SRDMA_VERSION_H
#define SRDMA_VERSION_H

#include <linux/stringify.h>

#define SRDMA_VERSION_MAJOR	0
#define SRDMA_VERSION_MINOR	2
#define SRDMA_VERSION_PATCH	0

#define SRDMA_VERSION	__stringify(SRDMA_VERSION_MAJOR) "." \
			__stringify(SRDMA_VERSION_MINOR) "." \
			__stringify(SRDMA_VERSION_PATCH)

/* As ibv_devinfo takes it apart. */
#define SRDMA_VERSION_WORDS	((u64)SRDMA_VERSION_MAJOR << 32 | \
				 SRDMA_VERSION_MINOR << 16 | \
				 SRDMA_VERSION_PATCH)

#endif
