// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Notices: each CPU has a list of those that were left on it, and one tasklet
 * that tells them. With a tasklet for each object, one that is scheduled while
 * softirq is about to run tasklets anyway would ask for another round of
 * softirq, for nothing; and that is ksoftirqd's once a handler has woken anybody.
 */
#include <linux/bits.h>
#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/wait_bit.h>

#include "notice.h"

/* Of struct srdma_notice.state: in a list, or being told. */
#define NOTICE_WAITS	BIT(30)

/**
 * struct teller - tells the notices that were left on one CPU
 * @tasklet: does so
 * @notices: those that wait, the last one first
 */
struct teller {
	struct tasklet_struct tasklet;
	struct llist_head notices;
};

static DEFINE_PER_CPU(struct teller, tellers);

static void put_into_list(struct srdma_notice *notice)
{
	struct teller *teller = get_cpu_ptr(&tellers);

	if (llist_add(&notice->node, &teller->notices))
		tasklet_schedule(&teller->tasklet);
	put_cpu_ptr(&tellers);
}

/*
 * NOTICE_WAITS stays set while handlers are called: what is left meanwhile puts
 * the notice into no list, so no other CPU calls them at the same time.
 */
static void tell(struct srdma_notice *notice)
{
	int what = atomic_xchg(&notice->state, NOTICE_WAITS) & ~NOTICE_WAITS;

	notice->call(notice, what);
	if (atomic_cmpxchg(&notice->state, NOTICE_WAITS, 0) == NOTICE_WAITS)
		/* The object may be gone: only its address is used. */
		wake_up_var(&notice->state);
	else
		put_into_list(notice);
}

static void tell_all(struct tasklet_struct *tasklet)
{
	struct teller *teller = from_tasklet(teller, tasklet, tasklet);
	struct srdma_notice *notice, *next;
	struct llist_node *first;

	first = llist_reverse_order(llist_del_all(&teller->notices));
	llist_for_each_entry_safe(notice, next, first, node)
		tell(notice);
}

/**
 * srdma_notice_init - nothing to tell
 * @notice: notice
 * @call: how it is told
 */
void srdma_notice_init(struct srdma_notice *notice, srdma_notice_call_t call)
{
	atomic_set(&notice->state, 0);
	notice->call = call;
}

/**
 * srdma_notice_leave - have something told, soon
 * @notice: notice
 * @what: number of a bit, less than 30
 *
 * From any context.
 */
void srdma_notice_leave(struct srdma_notice *notice, unsigned int what)
{
	/* Fully ordered: the handler sees what was written before. */
	if (!(atomic_fetch_or(BIT(what) | NOTICE_WAITS, &notice->state) &
	      NOTICE_WAITS))
		put_into_list(notice);
}

/* Nothing is left any more. Waits until all that was is told. */
void srdma_notice_stop(struct srdma_notice *notice)
{
	wait_var_event(&notice->state,
		       !atomic_read_acquire(&notice->state));
}

/* Before there is any. */
void srdma_notices_init(void)
{
	struct teller *teller;
	int cpu;

	for_each_possible_cpu(cpu) {
		teller = per_cpu_ptr(&tellers, cpu);
		tasklet_setup(&teller->tasklet, tell_all);
		init_llist_head(&teller->notices);
	}
}

/* None is left; a tasklet that told the last one may not have returned. */
void srdma_notices_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		tasklet_kill(&per_cpu_ptr(&tellers, cpu)->tasklet);
}
