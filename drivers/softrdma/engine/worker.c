// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Workers: each CPU has one, which runs engines that have been busy for long. It is
 * scheduled like any process, and reschedules between two of them.
 */
#include <linux/ktime.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "compat/compat.h"
#include "engine/own.h"

/**
 * struct worker - engines that are busy for long
 * @work: runs each of them once
 * @engines: those that it is to run, which it owns
 */
struct worker {
	struct work_struct work;
	struct llist_head engines;
};

static DEFINE_PER_CPU(struct worker, workers);
static struct workqueue_struct *workqueue;

/* The caller's engine. Bottom halves are disabled: it is the worker's of this CPU. */
void srdma_engine_leave_to_worker(struct srdma_engine *engine)
{
	struct worker *worker = this_cpu_ptr(&workers);

	llist_add(&engine->handed, &worker->engines);
	queue_work_on(smp_processor_id(), workqueue, &worker->work);
}

static void run_in_worker(struct work_struct *work)
{
	struct worker *worker = container_of(work, struct worker, work);

	srdma_engines_run_handed(llist_del_all(&worker->engines));
}

/* Has the worker of this CPU something to run? */
bool srdma_worker_waits(void)
{
	return !llist_empty(this_cpu_ptr(&workers.engines));
}

static void put_back(struct llist_node *engines)
{
	struct srdma_engine *engine, *next;

	llist_for_each_entry_safe(engine, next, engines, handed)
		srdma_engine_leave_to_worker(engine);
}

/* Runs each once, until time is up. Returns those that are left. */
static struct llist_node *run_some(struct llist_node *engines, u64 until)
{
	struct srdma_engine *engine;

	while (engines) {
		engine = llist_entry(engines, struct srdma_engine, handed);
		engines = engines->next;
		if (!srdma_engine_leave_if_stopped(engine))
			srdma_engine_run_owned(engine);
		if (ktime_get_ns() >= until)
			break;
	}
	return engines;
}

/**
 * srdma_worker_stand_in - run some of the engines that the worker of this CPU has
 * @until: when no further one is to run, ns
 *
 * In softirq. One that stays busy goes back to the worker, behind all others.
 */
void srdma_worker_stand_in(u64 until)
{
	struct worker *worker = this_cpu_ptr(&workers);
	struct llist_node *left, *again;

	do {
		left = llist_reverse_order(llist_del_all(&worker->engines));
		left = run_some(left, until);
	} while (srdma_worker_waits() && ktime_get_ns() < until);
	if (left) {
		again = llist_reverse_order(llist_del_all(&worker->engines));
		put_back(left);
		put_back(again);
	}
}

int srdma_workers_init(void)
{
	struct worker *worker;
	int cpu;

	for_each_possible_cpu(cpu) {
		worker = per_cpu_ptr(&workers, cpu);
		INIT_WORK(&worker->work, run_in_worker);
		init_llist_head(&worker->engines);
	}
	/* Memory may be waiting for storage behind a QP; others, for the CPU. */
	workqueue = alloc_workqueue("softrdma",
				    WQ_MEM_RECLAIM | WQ_CPU_INTENSIVE |
				    SRDMA_COMPAT_WQ_PERCPU, 0);
	return workqueue ? 0 : -ENOMEM;
}

/* No engine is left. */
void srdma_workers_exit(void)
{
	destroy_workqueue(workqueue);
}
