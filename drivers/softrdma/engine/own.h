/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What owners of engines do, and who takes engines over: for the files of this room
 * alone.
 */
#ifndef SRDMA_ENGINE_OWN_H
#define SRDMA_ENGINE_OWN_H

#include <linux/bits.h>
#include <linux/llist.h>

#include "engine/engine.h"

/* struct srdma_engine.state */
enum {
	ENGINE_OWNED = BIT(0),		/* it is running */
	ENGINE_KICKED = BIT(1),		/* there may be something to do */
	ENGINE_STOPPED = BIT(2),	/* it must not begin to run */
	ENGINE_HANDING = BIT(3),	/* its owner is leaving it to softirq */
};

/* engine.c */
bool srdma_engine_leave_word(struct srdma_engine *engine,
			     enum srdma_engine_event event);
bool srdma_engine_try_own(struct srdma_engine *engine);

bool srdma_engine_run_once(struct srdma_engine *engine, int budget);
void srdma_engine_run_owned(struct srdma_engine *engine);
void srdma_engines_run_handed(struct llist_node *engines);

bool srdma_engine_try_leave(struct srdma_engine *engine);
bool srdma_engine_leave_if_stopped(struct srdma_engine *engine);
void srdma_engine_leave_to_softirq(struct srdma_engine *engine);

/* worker.c */
void srdma_engine_leave_to_worker(struct srdma_engine *engine);
bool srdma_worker_waits(void);
void srdma_worker_stand_in(u64 until);
int srdma_workers_init(void);
void srdma_workers_exit(void);

#endif
