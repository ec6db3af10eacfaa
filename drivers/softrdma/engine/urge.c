// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Urging: softirq that waits for a program which polls is run in the program's time.
 *
 * After 2 ms, or ten turns, the kernel leaves softirq to ksoftirqd, a process like
 * others. A program that polls its CQ on that CPU has as much of it as ksoftirqd, and
 * spends it on looking for what softirq is to bring. So while much is to come, a timer
 * looks: where softirq is pending, and a program that has a device of ours open has the
 * CPU, the interrupt is followed by softirq. Other programs keep their time.
 *
 * Engines that processes have run in it as well: those whose tasks have stepped aside
 * (engine/attend.c), and, for a while, those that have been busy for so long that a
 * worker has them (engine/worker.c).
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/time64.h>

#include "compat/compat.h"
#include "engine/attend.h"
#include "engine/own.h"
#include "engine/urge.h"

/*
 * So often it looks. From 6.4 on, softirq that is pending follows this interrupt whoever
 * has the CPU: when it was 500 us, other processes of a slow kernel, one with checks, got
 * no time for half a minute.
 */
#define LOOK_NS		(1 * NSEC_PER_MSEC)

/*
 * Programs have as long, or nearly, after softirq was urged. With 250 us, READs between
 * two kernels lose a tenth of their bandwidth; with 1 ms, READs of 1 MB do where one
 * packet of a hundred is lost, as what is to be repeated waits.
 */
#define LOOK_AGAIN_NS	(500 * NSEC_PER_USEC)

/* How long the engines of a worker have each time, and then finish the run. */
#define TURN_NS		(1 * NSEC_PER_MSEC)

#define PROGRAM_BITS	10

/*
 * Open contexts by the memory of their programs. Where two share a number, one may be
 * taken for the other: then softirq has its time, as after any interrupt.
 */
static atomic_t programs[1 << PROGRAM_BITS] __read_mostly;

DEFINE_PER_CPU(struct srdma_urging, srdma_urgings);

/* The module is to go: nobody is urged any more. */
static bool is_at_end;

static atomic_t *program(const struct mm_struct *mm)
{
	return &programs[hash_ptr(mm, PROGRAM_BITS)];
}

/* A program opens a device. @mm: only its address is used. */
void srdma_urge_for(const struct mm_struct *mm)
{
	atomic_inc(program(mm));
}

/* It is closed. The program may have ended, and another one have its address. */
void srdma_urge_no_more_for(const struct mm_struct *mm)
{
	atomic_dec(program(mm));
}

/*
 * A kernel thread has no memory of its own, unless it borrows a program's. Where the
 * scheduler wants the CPU for another process, that is not to wait.
 */
static bool a_program_polls(void)
{
	return !need_resched() && current->mm && atomic_read(program(current->mm));
}

/* In an interrupt, which softirq is to follow. */
static void urge(struct srdma_urging *urging)
{
	srdma_attend_hand_over();
	/* Before 6.4 a ksoftirqd that was woken keeps out softirq, but not tasklets. */
	tasklet_schedule(&urging->turn);
	this_cpu_inc(srdma_urgings.urged);
}

/* Softirq runs, or is kept out for a moment: then it comes without this. */
static bool is_under_way(void)
{
	return in_softirq();
}

/* A timer of a CPU that has gone offline fires on another one. */
static bool is_of_this_cpu(const struct srdma_urging *urging)
{
	return urging == this_cpu_ptr(&srdma_urgings);
}

static bool something_waits(void)
{
	return local_softirq_pending() || srdma_attend_any_aside() ||
	       srdma_worker_waits();
}

static enum hrtimer_restart look(struct hrtimer *timer)
{
	struct srdma_urging *urging =
		container_of(timer, struct srdma_urging, timer);

	if (!is_of_this_cpu(urging) || (!is_under_way() && !something_waits()) ||
	    READ_ONCE(is_at_end)) {
		WRITE_ONCE(urging->watches, false);
		return HRTIMER_NORESTART;
	}
	if (!is_under_way() && a_program_polls()) {
		urge(urging);
		/* The tasklet starts it again. */
		return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(timer, ns_to_ktime(LOOK_NS));
	return HRTIMER_RESTART;
}

static void look_after(struct srdma_urging *urging, u64 ns)
{
	hrtimer_start(&urging->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_PINNED);
}

/* In softirq that was urged. The program has its time from when this is done. */
static void run_turn(struct tasklet_struct *tasklet)
{
	struct srdma_urging *urging = from_tasklet(urging, tasklet, turn);

	srdma_worker_stand_in(ktime_get_ns() + TURN_NS);
	look_after(urging, LOOK_AGAIN_NS);
}

/* Bottom halves are disabled. */
void srdma_urge_watch(void)
{
	struct srdma_urging *urging = this_cpu_ptr(&srdma_urgings);

	WRITE_ONCE(urging->watches, true);
	look_after(urging, LOOK_NS);
}

static void init_urging(struct srdma_urging *urging)
{
	srdma_compat_hrtimer_setup(&urging->timer, look, HRTIMER_MODE_REL_PINNED);
	tasklet_setup(&urging->turn, run_turn);
}

void srdma_urge_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		init_urging(per_cpu_ptr(&srdma_urgings, cpu));
}

/* No engine is left. */
void srdma_urge_exit(void)
{
	struct srdma_urging *urging;
	int cpu;

	WRITE_ONCE(is_at_end, true);
	for_each_possible_cpu(cpu) {
		urging = per_cpu_ptr(&srdma_urgings, cpu);
		hrtimer_cancel(&urging->timer);
		tasklet_kill(&urging->turn);
		hrtimer_cancel(&urging->timer);
	}
}
