/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A task that kicks an engine may stay with it, instead of leaving to softirq
 * what follows.
 */
#ifndef SRDMA_ENGINE_ATTEND_H
#define SRDMA_ENGINE_ATTEND_H

#include <linux/percpu.h>

#include "engine/engine.h"

/**
 * typedef srdma_attend_t - is it worth staying with an engine?
 * @engine: the engine, which has had a run
 */
typedef bool (*srdma_attend_t)(const struct srdma_engine *engine);

bool srdma_attend(struct srdma_engine *engine, enum srdma_engine_event event,
		  srdma_attend_t worth);

DECLARE_PER_CPU(bool, srdma_attending);

/* Does a task of this CPU stay with an engine? Bottom halves are disabled. */
static inline bool srdma_attends_here(void)
{
	return this_cpu_read(srdma_attending);
}

void srdma_attend_later(struct srdma_engine *engine);

bool srdma_attend_any_aside(void);
void srdma_attend_hand_over(void);

int srdma_attend_init(void);
void srdma_attend_exit(void);

#endif
