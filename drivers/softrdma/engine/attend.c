// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Attending: the task that posted a long message stays with the engine while that
 * goes on. It sends a part, lets softirq of its CPU receive and answer that, hears
 * the answers, and sends the next part.
 *
 * Where both ends are on one CPU, and packets are many, softirq would do all of it
 * otherwise: each answer lets the next part go. It has 2 ms for that, or until the
 * next tick. What is left then is ksoftirqd's, a process like others; and the program
 * that polls for its completion takes as much of the CPU as that.
 *
 * A task does not attend for longer than ATTEND_NS. Where the scheduler wants the CPU
 * it steps aside, and keeps the engine: so ksoftirqd finds little to do. If it does
 * not come back soon, a worker takes the engine, or whoever posts to the QP there; or
 * softirq, if another program polls meanwhile (engine/urge.c).
 */
#include <linux/bottom_half.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "engine/attend.h"
#include "engine/own.h"
#include "engine/urge.h"
#include "observe/stall.h"

/* A task that computes has the CPU for as long before others get it. */
#define ATTEND_NS	(10 * NSEC_PER_MSEC)

/* When a worker looks whether tasks have been kept from coming back. */
#define ASIDE_MS	10

/*
 * What goes before it is answered, in packets: softirq is done soon. More than 64 KB has
 * at the usual path MTU of 1024.
 */
#define ATTEND_BUDGET	65

/* Runs that hear what has come in one turn of softirq: that is all of it. */
#define HEAR_RUNS	32

DEFINE_PER_CPU(bool, srdma_attending);

/**
 * struct attendance - engines that tasks of a CPU own
 * @later: those that have left something over while a task attends here: it runs
 *	them in turn
 * @aside: those whose tasks have stepped aside
 * @late: runs them, if nobody comes back
 */
struct attendance {
	struct llist_head later;
	struct llist_head aside;
	struct delayed_work late;
};

static DEFINE_PER_CPU(struct attendance, attendances);

/* Of any CPU: the task's own may be what it waits for. */
static struct workqueue_struct *late_workers;

/* A task attends here: it is to run the engine, which is the caller's, again. */
void srdma_attend_later(struct srdma_engine *engine)
{
	llist_add(&engine->handed, this_cpu_ptr(&attendances.later));
}

/* Others may have left over what these engines wait for. */
static void leave_all(struct llist_node *engines)
{
	struct srdma_engine *engine, *next;

	llist_for_each_entry_safe(engine, next, engines, handed)
		srdma_engine_leave_to_softirq(engine);
}

static void begin_attending(void)
{
	this_cpu_write(srdma_attending, true);
}

static void end_attending(void)
{
	this_cpu_write(srdma_attending, false);
	leave_all(llist_del_all(this_cpu_ptr(&attendances.later)));
}

/* On this CPU. */
static void let_softirq_in(void)
{
	preempt_disable();
	local_bh_enable();
	local_bh_disable();
	preempt_enable();
}

/* Has the task done enough, or does the scheduler want the CPU? */
static bool is_over(u64 until)
{
	return need_resched() || (s64)(ktime_get_ns() - until) > 0;
}

/* Those that have left something over here, each once. */
static void run_others(u64 until)
{
	struct srdma_engine *engine, *next;
	struct llist_node *engines;

	engines = llist_del_all(this_cpu_ptr(&attendances.later));
	engines = llist_reverse_order(engines);
	llist_for_each_entry_safe(engine, next, engines, handed) {
		if (srdma_engine_leave_if_stopped(engine))
			continue;
		if (is_over(until)) {
			srdma_engine_leave_to_softirq(engine);
			continue;
		}
		srdma_engine_run_owned(engine);
		let_softirq_in();
	}
}

/* A worker looks, after a while, at all that is aside. */
static void watch_aside(struct attendance *attendance)
{
	queue_delayed_work(late_workers, &attendance->late,
			   msecs_to_jiffies(ASIDE_MS));
}

/*
 * Is the engine still aside, and not the worker's? Then it is the caller's again. Two
 * tasks that come back at once may not find theirs: these are left to the worker.
 */
static bool take_aside_back(struct attendance *attendance,
			    struct srdma_engine *engine)
{
	struct srdma_engine *other, *next;
	struct llist_node *engines;
	bool found = false;

	engines = llist_del_all(&attendance->aside);
	llist_for_each_entry_safe(other, next, engines, handed) {
		if (other == engine) {
			found = true;
		} else {
			llist_add(&other->handed, &attendance->aside);
			watch_aside(attendance);
		}
	}
	return found;
}

/*
 * Its task has stepped aside for this one, which has posted to the same QP: then it is
 * the caller's.
 */
static bool is_aside_here(struct srdma_engine *engine)
{
	struct attendance *attendance = this_cpu_ptr(&attendances);

	return !llist_empty(&attendance->aside) &&
	       take_aside_back(attendance, engine);
}

/* Is an engine of this CPU aside? */
bool srdma_attend_any_aside(void)
{
	return !llist_empty(this_cpu_ptr(&attendances.aside));
}

/* Softirq of this CPU is to run all that are aside. From an interrupt. */
void srdma_attend_hand_over(void)
{
	leave_all(llist_del_all(this_cpu_ptr(&attendances.aside)));
}

/* Others get the CPU. Returns whether the engine is the caller's again. */
static bool step_aside(struct srdma_engine *engine)
{
	struct attendance *attendance = this_cpu_ptr(&attendances);
	bool back;

	end_attending();
	llist_add(&engine->handed, &attendance->aside);
	watch_aside(attendance);
	srdma_urge_soon();
	local_bh_enable();
	cond_resched();
	local_bh_disable();
	back = take_aside_back(attendance, engine);
	begin_attending();
	return back;
}

static void run_late(struct work_struct *work)
{
	struct attendance *attendance =
		container_of(to_delayed_work(work), struct attendance, late);

	srdma_engines_run_handed(llist_del_all(&attendance->aside));
}

/*
 * Softirq has its turn, and what others have left over. What comes for the engine
 * then is not copied (srdma_engine_lags()): so it is not to wait, whatever is next.
 * Returns whether there is more to do.
 */
static bool hear_answers(struct srdma_engine *engine, bool more, u64 until)
{
	int i;

	WRITE_ONCE(engine->attended, true);
	/*
	 * Before 6.4, where ksoftirqd was woken, softirq waits for that, unless a
	 * tasklet is to be run. This one finds its engine owned.
	 */
	tasklet_schedule(&engine->tasklet);
	let_softirq_in();
	run_others(until);
	WRITE_ONCE(engine->attended, false);

	more |= srdma_engine_kicked(engine);
	for (i = 0; i < HEAR_RUNS && srdma_engine_lags(engine); i++)
		more |= srdma_engine_run_once(engine, ATTEND_BUDGET);
	return more;
}

/*
 * After a turn of others. Returns whether the engine is to have another run; or it is
 * not the caller's any more.
 */
static bool stay_on(struct srdma_engine *engine, u64 *until)
{
	u64 now = ktime_get_ns();

	if (srdma_engine_leave_if_stopped(engine))
		return false;
	if ((s64)(now - *until) > 0) {
		srdma_engine_leave_to_softirq(engine);
		return false;
	}
	if (!need_resched())
		return true;
	if (!step_aside(engine))
		return false;
	/* What it does counts, not what others did. */
	*until += ktime_get_ns() - now;
	return !srdma_engine_leave_if_stopped(engine);
}

/* The engine is the caller's, and has had a run. */
static void attend_owned(struct srdma_engine *engine, bool more,
			 srdma_attend_t worth)
{
	u64 until = ktime_get_ns() + ATTEND_NS;

	begin_attending();
	engine->rounds = 0;
	for (;;) {
		more = hear_answers(engine, more, until);
		if (!more && srdma_engine_try_leave(engine))
			break;
		if (!stay_on(engine, &until))
			break;
		more = srdma_engine_run_once(engine, ATTEND_BUDGET);
		if (!more && !worth(engine) && srdma_engine_try_leave(engine))
			break;
	}
	end_attending();
}

/*
 * Bottom halves are disabled, and the engine is the caller's. Returns whether the task
 * has stayed with it.
 */
static bool run_and_attend(struct srdma_engine *engine, srdma_attend_t worth)
{
	bool more = srdma_engine_run_once(engine, ATTEND_BUDGET);

	if (more || worth(engine)) {
		attend_owned(engine, more, worth);
		return true;
	}
	engine->rounds = 0;
	if (!srdma_engine_try_leave(engine))
		srdma_engine_run_owned(engine);
	return false;
}

/**
 * srdma_attend - as srdma_engine_kick(), and stay with the engine if that is worth it
 * @engine: engine
 * @event: what happened
 * @worth: says whether it is
 *
 * From a task that may be preempted, with no lock held. Not on real-time kernels, where
 * it could not keep softirq to this CPU.
 *
 * Return: whether the caller has stayed with it.
 */
bool srdma_attend(struct srdma_engine *engine, enum srdma_engine_event event,
		  srdma_attend_t worth)
{
	bool stayed = false;

	local_bh_disable();
	if (srdma_engine_leave_word(engine, event) ?
	    srdma_engine_try_own(engine) : is_aside_here(engine)) {
		if (srdma_stall(SRDMA_STALL_DEFER))
			srdma_engine_leave_to_softirq(engine);
		else
			stayed = run_and_attend(engine, worth);
	}
	local_bh_enable();
	return stayed;
}

int srdma_attend_init(void)
{
	int cpu;

	late_workers = alloc_workqueue("softrdma-late",
				       WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!late_workers)
		return -ENOMEM;

	for_each_possible_cpu(cpu) {
		struct attendance *attendance = per_cpu_ptr(&attendances, cpu);

		init_llist_head(&attendance->later);
		init_llist_head(&attendance->aside);
		INIT_DELAYED_WORK(&attendance->late, run_late);
	}
	return 0;
}

/* No engine is left. */
void srdma_attend_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		cancel_delayed_work_sync(&per_cpu_ptr(&attendances, cpu)->late);
	destroy_workqueue(late_workers);
}
