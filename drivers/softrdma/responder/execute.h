/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The receive engine of a QP: requests in, memory changed, responses out.
 */
#ifndef SRDMA_EXECUTE_H
#define SRDMA_EXECUTE_H

#include <linux/types.h>

struct srdma_engine;

bool srdma_execute_run(struct srdma_engine *engine, unsigned long events,
		       int budget);

#endif
