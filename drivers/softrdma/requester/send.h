/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The send engine of a QP: work requests out, responses in, completions.
 */
#ifndef SRDMA_SEND_H
#define SRDMA_SEND_H

#include <linux/types.h>

struct srdma_engine;
struct srdma_qp;

bool srdma_send_run(struct srdma_engine *engine, unsigned long events,
		    int budget);

/* Only while the engine is stopped. */
void srdma_send_resume(struct srdma_qp *qp);

#endif
