// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Upcalls: each CPU has a list of pending upcalls, and one tasklet that makes
 * them. With a tasklet for each object, one that is scheduled while softirq is
 * about to run tasklets would need another round of softirq. Once a handler has
 * woken a task, ksoftirqd would run that round.
 */
#include <linux/bits.h>
#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/wait_bit.h>

#include "engine/upcall.h"

/* Of struct srdma_upcall.state: in a list, or being called. */
#define UPCALL_WAITS	BIT(30)

/**
 * struct teller - makes the upcalls that are pending on one CPU
 * @tasklet: makes them
 * @upcalls: those that wait, the last one first
 */
struct teller {
	struct tasklet_struct tasklet;
	struct llist_head upcalls;
};

static DEFINE_PER_CPU(struct teller, tellers);

static void put_into_list(struct srdma_upcall *upcall)
{
	struct teller *teller = get_cpu_ptr(&tellers);

	if (llist_add(&upcall->node, &teller->upcalls))
		tasklet_schedule(&teller->tasklet);
	put_cpu_ptr(&tellers);
}

/*
 * UPCALL_WAITS stays set while handlers are called: what is left meanwhile puts
 * the upcall into no list, so no other CPU calls them at the same time.
 */
static void tell(struct srdma_upcall *upcall)
{
	int what = atomic_xchg(&upcall->state, UPCALL_WAITS) & ~UPCALL_WAITS;

	upcall->call(upcall, what);
	if (atomic_cmpxchg(&upcall->state, UPCALL_WAITS, 0) == UPCALL_WAITS)
		/* The object may be gone: only its address is used. */
		wake_up_var(&upcall->state);
	else
		put_into_list(upcall);
}

static void tell_all(struct tasklet_struct *tasklet)
{
	struct teller *teller = from_tasklet(teller, tasklet, tasklet);
	struct srdma_upcall *upcall, *next;
	struct llist_node *first;

	first = llist_reverse_order(llist_del_all(&teller->upcalls));
	llist_for_each_entry_safe(upcall, next, first, node)
		tell(upcall);
}

/**
 * srdma_upcall_init - an upcall with nothing pending
 * @upcall: upcall
 * @call: function that makes the call
 */
void srdma_upcall_init(struct srdma_upcall *upcall, srdma_upcall_call_t call)
{
	atomic_set(&upcall->state, 0);
	upcall->call = call;
}

/**
 * srdma_upcall_leave - have an upcall made soon
 * @upcall: upcall
 * @what: number of a bit, less than 30
 *
 * From any context.
 */
void srdma_upcall_leave(struct srdma_upcall *upcall, unsigned int what)
{
	/* Fully ordered: the handler sees what was written before. */
	if (!(atomic_fetch_or(BIT(what) | UPCALL_WAITS, &upcall->state) &
	      UPCALL_WAITS))
		put_into_list(upcall);
}

/* Nothing is left any more. Waits until all pending calls were made. */
void srdma_upcall_stop(struct srdma_upcall *upcall)
{
	wait_var_event(&upcall->state,
		       !atomic_read_acquire(&upcall->state));
}

/* Before there is any. */
void srdma_upcalls_init(void)
{
	struct teller *teller;
	int cpu;

	for_each_possible_cpu(cpu) {
		teller = per_cpu_ptr(&tellers, cpu);
		tasklet_setup(&teller->tasklet, tell_all);
		init_llist_head(&teller->upcalls);
	}
}

/* None is pending; the tasklet that made the last one may still run. */
void srdma_upcalls_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		tasklet_kill(&per_cpu_ptr(&tellers, cpu)->tasklet);
}
