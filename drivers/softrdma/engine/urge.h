/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Softirq that waits while a program polls for what it is to bring is urged.
 */
#ifndef SRDMA_ENGINE_URGE_H
#define SRDMA_ENGINE_URGE_H

#include <linux/compiler.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kconfig.h>
#include <linux/percpu.h>

struct mm_struct;

/**
 * struct srdma_urging - what looks after softirq of a CPU
 * @timer: looks whether softirq waits for a program
 * @turn: runs engines that a worker has, and starts @timer again
 * @watches: the timer is started, or @turn is to start it; written with bottom halves
 *	disabled, there, and by the timer
 * @urged: how often softirq was urged that nobody has asked for; likewise
 */
struct srdma_urging {
	struct hrtimer timer;
	struct tasklet_struct turn;
	bool watches;
	unsigned int urged;
};

DECLARE_PER_CPU(struct srdma_urging, srdma_urgings);

void srdma_urge_watch(void);

/*
 * Softirq of this CPU is to bring much. Bottom halves are disabled. Real-time kernels
 * have threads for it, with priorities that are the administrator's to choose.
 */
static inline void srdma_urge_soon(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT) && !this_cpu_read(srdma_urgings.watches))
		srdma_urge_watch();
}

/* How often softirq of this CPU was urged since somebody asked. */
static inline unsigned int srdma_urge_count(void)
{
	return this_cpu_read(srdma_urgings.urged) ?
	       this_cpu_xchg(srdma_urgings.urged, 0) : 0;
}

void srdma_urge_for(const struct mm_struct *mm);
void srdma_urge_no_more_for(const struct mm_struct *mm);

void srdma_urge_init(void);
void srdma_urge_exit(void);

#endif
