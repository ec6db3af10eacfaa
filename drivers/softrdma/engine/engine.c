// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Engines: ownership, running, stopping.
 */
#include <linux/bottom_half.h>
#include <linux/completion.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "compat/compat.h"
#include "engine/attend.h"
#include "engine/backlog.h"
#include "engine/engine.h"
#include "engine/own.h"
#include "engine/urge.h"
#include "observe/stall.h"

/* What one run may do before it goes on in softirq, in packets. */
#define ENGINE_BUDGET		256

/*
 * What one run inside another may do: that one runs again for what it left, and
 * what both do together keeps all others from the CPU. As ATTEND_BUDGET, more than 64 KB
 * has.
 */
#define ENGINE_INNER_BUDGET	65

/* Runs inside runs: our doorbell, the peer's receive side, and no more. */
#define ENGINE_MAX_DEPTH	2

/*
 * Packets beyond this are dropped and come again, as with a full NIC; before
 * that where there is no memory for so much (engine/backlog.c).
 */
#define ENGINE_INBOX_BYTES	SZ_8M

/*
 * An engine that has had so many runs in a row, and still has something to do,
 * goes on in a worker. Softirq comes before every process, and from 6.4 on begins
 * anew wherever one enables bottom halves or is interrupted: an engine that never
 * has nothing to do would take the CPU from all that run there.
 */
#define ENGINE_SOFTIRQ_ROUNDS	4

static DEFINE_PER_CPU(int, engine_depth);

/**
 * struct handover - engines that were kicked by a task with interrupts disabled
 * @work: the interrupt that comes when they are enabled
 * @engines: those that it is to leave to softirq, which it owns
 */
struct handover {
	struct irq_work work;
	struct llist_head engines;
};

static DEFINE_PER_CPU(struct handover, handovers);

/* Becomes the owner of an idle engine that was kicked. */
bool srdma_engine_try_own(struct srdma_engine *engine)
{
	int old = atomic_read(&engine->state);

	do {
		if (old != ENGINE_KICKED)
			return false;
	} while (!atomic_try_cmpxchg_acquire(&engine->state, &old,
					     ENGINE_OWNED));
	return true;
}

/* The engine was seen stopped, and is not owned any more: it may be gone next. */
static void tell_who_stops(struct srdma_engine *engine)
{
	/* Pairs with srdma_engine_stop(): this is the one that it set. */
	smp_acquire__after_ctrl_dep();
	complete(engine->idle);
}

/*
 * Gives the engine up, unless it was kicked meanwhile. Pairs with the acquire
 * in srdma_engine_try_own(): the next owner sees what this one wrote.
 */
bool srdma_engine_try_leave(struct srdma_engine *engine)
{
	int old = atomic_read(&engine->state);

	do {
		if ((old & ENGINE_KICKED) && !(old & ENGINE_STOPPED))
			return false;
	} while (!atomic_try_cmpxchg_release(&engine->state, &old,
					     old & ~ENGINE_OWNED));
	if (old & ENGINE_STOPPED)
		tell_who_stops(engine);
	return true;
}

/*
 * The tasklet is to own the engine next. Only an owner schedules it: so after
 * srdma_engine_stop() it is not scheduled any more. A run of it that was due
 * already may come too early and find the engine owned. If it sees
 * ENGINE_HANDING it tries again, and would wait for this CPU.
 */
void srdma_engine_leave_to_softirq(struct srdma_engine *engine)
{
	int old;

	preempt_disable();
	atomic_or(ENGINE_KICKED | ENGINE_HANDING, &engine->state);
	tasklet_schedule(&engine->tasklet);
	old = atomic_fetch_andnot_release(ENGINE_OWNED | ENGINE_HANDING,
					  &engine->state);
	preempt_enable();
	if (old & ENGINE_STOPPED)
		tell_who_stops(engine);
}

static void take_over(struct irq_work *work)
{
	struct handover *handover = container_of(work, struct handover, work);
	struct srdma_engine *engine, *next;

	llist_for_each_entry_safe(engine, next,
				  llist_del_all(&handover->engines), handed)
		srdma_engine_leave_to_softirq(engine);
}

/*
 * Softirq that a task asks for is ksoftirqd's, once the scheduler has come to
 * it. That which an interrupt asks for follows it at once.
 */
static void leave_to_interrupt(struct srdma_engine *engine)
{
	struct handover *handover = this_cpu_ptr(&handovers);

	llist_add(&engine->handed, &handover->engines);
	irq_work_queue(&handover->work);
}

/* The owner has done what it may, and there is more to do. */
static void leave_over(struct srdma_engine *engine)
{
	if (srdma_attends_here())
		srdma_attend_later(engine);
	else if (++engine->rounds < ENGINE_SOFTIRQ_ROUNDS)
		srdma_engine_leave_to_softirq(engine);
	else
		srdma_engine_leave_to_worker(engine);
}

static unsigned long take_events(struct srdma_engine *engine)
{
	return READ_ONCE(engine->events) ? xchg(&engine->events, 0) : 0;
}

/* The owner asks: is there word, so that it is going to run again at once? */
bool srdma_engine_kicked(const struct srdma_engine *engine)
{
	return atomic_read(&engine->state) & ENGINE_KICKED;
}

/*
 * One run, whose caller owns the engine and has disabled bottom halves. Returns
 * whether there is more to do.
 */
bool srdma_engine_run_once(struct srdma_engine *engine, int budget)
{
	bool more;

	atomic_andnot(ENGINE_KICKED, &engine->state);
	/* Pairs with the order in srdma_engine_leave_word(). */
	smp_mb__after_atomic();
	this_cpu_inc(engine_depth);
	more = engine->run(engine, take_events(engine), budget);
	this_cpu_dec(engine_depth);
	return more;
}

/* Bottom halves are disabled, and the engine is the caller's. */
void srdma_engine_run_owned(struct srdma_engine *engine)
{
	int budget = ENGINE_BUDGET;

	if (this_cpu_read(engine_depth) || srdma_attends_here())
		budget = ENGINE_INNER_BUDGET;
	for (;;) {
		if (srdma_engine_run_once(engine, budget)) {
			leave_over(engine);
			break;
		}
		engine->rounds = 0;
		if (srdma_engine_try_leave(engine))
			break;
		/*
		 * The engine was kicked. Two engines must not keep each other
		 * running: all of these runs together have twice the budget.
		 */
		budget /= 2;
		if (!budget) {
			srdma_engine_leave_to_softirq(engine);
			break;
		}
	}
}

/* srdma_engine_stop() waits for this. */
bool srdma_engine_leave_if_stopped(struct srdma_engine *engine)
{
	if (!(atomic_read(&engine->state) & ENGINE_STOPPED))
		return false;
	atomic_or(ENGINE_KICKED, &engine->state);
	srdma_engine_try_leave(engine);
	return true;
}

/**
 * srdma_engines_run_handed - run each engine of a list once, in a task
 * @engines: the oldest is the last; they are the caller's
 */
void srdma_engines_run_handed(struct llist_node *engines)
{
	struct srdma_engine *engine, *next;

	engines = llist_reverse_order(engines);
	llist_for_each_entry_safe(engine, next, engines, handed) {
		local_bh_disable();
		if (!srdma_engine_leave_if_stopped(engine))
			srdma_engine_run_owned(engine);
		local_bh_enable();
		cond_resched();
	}
}

static void run_in_softirq(struct tasklet_struct *tasklet)
{
	struct srdma_engine *engine = from_tasklet(engine, tasklet, tasklet);

	if (atomic_read(&engine->state) & ENGINE_HANDING)
		tasklet_schedule(tasklet);
	else if (srdma_engine_try_own(engine))
		srdma_engine_run_owned(engine);
}

/* Returns whether the caller should see to it that the engine runs. */
bool srdma_engine_leave_word(struct srdma_engine *engine,
			     enum srdma_engine_event event)
{
	set_bit(event, &engine->events);
	/* Pairs with srdma_engine_run_once(): an owner that sees the kick sees the event. */
	smp_mb__after_atomic();
	return !(atomic_fetch_or(ENGINE_KICKED, &engine->state) &
		 (ENGINE_OWNED | ENGINE_STOPPED));
}

/* Bottom halves are disabled, interrupts are not. */
static void run_here(struct srdma_engine *engine)
{
	if (!srdma_engine_try_own(engine))
		return;
	if (this_cpu_read(engine_depth) < ENGINE_MAX_DEPTH &&
	    !srdma_stall(SRDMA_STALL_DEFER))
		srdma_engine_run_owned(engine);
	else
		srdma_engine_leave_to_softirq(engine);
}

/*
 * A consumer may post with interrupts disabled, under a lock that its completion
 * handlers take. Enabling bottom halves would then run these, and enable
 * interrupts: no run here, and no local_bh_enable() either. Not inlined: others
 * would pay for its registers.
 */
static noinline void run_when_enabled(struct srdma_engine *engine)
{
	if (!srdma_engine_try_own(engine))
		return;
	if (in_interrupt() || !srdma_compat_irq_work_is_prompt())
		srdma_engine_leave_to_softirq(engine);
	else
		leave_to_interrupt(engine);
}

static void run_or_defer(struct srdma_engine *engine)
{
	if (irqs_disabled()) {
		run_when_enabled(engine);
		return;
	}
	local_bh_disable();
	run_here(engine);
	local_bh_enable();
}

/**
 * srdma_engine_kick - record an event, and run the engine unless it runs
 * @engine: engine
 * @event: what happened
 *
 * From any context, but with no lock held that a run could need. The run is
 * left to softirq where interrupts are disabled.
 */
void srdma_engine_kick(struct srdma_engine *engine,
		       enum srdma_engine_event event)
{
	if (srdma_engine_leave_word(engine, event))
		run_or_defer(engine);
}

/**
 * srdma_engine_kick_later - leave word, and have the engine run in softirq
 * @engine: engine
 * @event: what happened
 *
 * From any context, also with locks held that a run could need.
 */
void srdma_engine_kick_later(struct srdma_engine *engine,
			     enum srdma_engine_event event)
{
	if (srdma_engine_leave_word(engine, event) && srdma_engine_try_own(engine))
		srdma_engine_leave_to_softirq(engine);
}

/*
 * The inbox is locked, and so much waits that it is to have more room. Not
 * inlined: those that have some would pay for its registers.
 */
static noinline bool make_room(struct srdma_engine *engine, u32 waiting)
{
	if (waiting >= ENGINE_INBOX_BYTES)
		return false;
	while (engine->room <= waiting) {
		if (!srdma_backlog_draw(engine->backlog))
			return false;
		WRITE_ONCE(engine->room, engine->room + SRDMA_BACKLOG_CHUNK);
	}
	return true;
}

/* The inbox is locked. Returns false when there is no room. */
static bool put_into_inbox(struct srdma_engine *engine, struct sk_buff *skb)
{
	u32 waiting = engine->bytes_in - READ_ONCE(engine->bytes_out);

	if (waiting >= engine->room && !make_room(engine, waiting))
		return false;
	WRITE_ONCE(engine->bytes_in, engine->bytes_in + skb->truesize);
	__skb_queue_tail(&engine->inbox, skb);
	return true;
}

/* There may be something in the inbox. */
static void run_for_inbox(struct srdma_engine *engine)
{
	if (!(atomic_fetch_or(ENGINE_KICKED, &engine->state) &
	      (ENGINE_OWNED | ENGINE_STOPPED)) &&
	    !srdma_stall(SRDMA_STALL_HOLD))
		run_here(engine);
}

/**
 * srdma_engine_deliver - put a packet into the inbox and kick
 * @engine: engine
 * @skb: packet
 *
 * Bottom halves are disabled.
 *
 * Return: false when there is no room: the packet is still the caller's.
 */
bool srdma_engine_deliver(struct srdma_engine *engine, struct sk_buff *skb)
{
	bool room;

	spin_lock(&engine->inbox.lock);
	room = put_into_inbox(engine, skb);
	spin_unlock(&engine->inbox.lock);
	if (room)
		run_for_inbox(engine);
	return room;
}

/* The inbox is locked. Returns false when there may be no room for some of them. */
static bool put_all_into_inbox(struct srdma_engine *engine,
			       struct sk_buff_head *list, u32 bytes)
{
	u32 waiting = engine->bytes_in - READ_ONCE(engine->bytes_out);

	/* As if one by one: the last may be longer than the room that is left. */
	if (waiting + bytes - skb_peek_tail(list)->truesize >= engine->room)
		return false;
	WRITE_ONCE(engine->bytes_in, engine->bytes_in + bytes);
	skb_queue_splice_tail_init(list, &engine->inbox);
	return true;
}

/**
 * srdma_engine_deliver_all - put packets into the inbox and kick
 * @engine: engine
 * @list: packets, one at least; those for which there is no room are left in it
 * @bytes: their memory
 *
 * Bottom halves are disabled.
 */
void srdma_engine_deliver_all(struct srdma_engine *engine,
			      struct sk_buff_head *list, u32 bytes)
{
	struct sk_buff *skb;

	spin_lock(&engine->inbox.lock);
	if (!put_all_into_inbox(engine, list, bytes))
		while ((skb = __skb_dequeue(list))) {
			if (put_into_inbox(engine, skb))
				continue;
			__skb_queue_head(list, skb);
			break;
		}
	spin_unlock(&engine->inbox.lock);
	run_for_inbox(engine);
}

/* The inbox is locked, and has something. */
static struct sk_buff *take_inbox(struct srdma_engine *engine)
{
	struct sk_buff *first = skb_peek(&engine->inbox);

	skb_peek_tail(&engine->inbox)->next = NULL;
	__skb_queue_head_init(&engine->inbox);
	return first;
}

/* The inbox is locked. */
static void give_room_back(struct srdma_engine *engine)
{
	u32 drawn = engine->room - SRDMA_BACKLOG_OWN;

	WRITE_ONCE(engine->room, SRDMA_BACKLOG_OWN);
	srdma_backlog_return(engine->backlog, drawn / SRDMA_BACKLOG_CHUNK);
}

/* The owner has found nothing. Not inlined: there is seldom anything drawn. */
static noinline void give_back_if_empty(struct srdma_engine *engine)
{
	spin_lock(&engine->inbox.lock);
	if (skb_queue_empty(&engine->inbox) && !engine->held)
		give_room_back(engine);
	spin_unlock(&engine->inbox.lock);
}

/*
 * The owner takes the oldest packet; it is the owner's to free. Bottom halves
 * are disabled.
 */
struct sk_buff *srdma_engine_receive(struct srdma_engine *engine)
{
	struct sk_buff *skb;

	if (!engine->taken) {
		if (skb_queue_empty_lockless(&engine->inbox)) {
			if (READ_ONCE(engine->room) != SRDMA_BACKLOG_OWN)
				give_back_if_empty(engine);
			return NULL;
		}
		spin_lock(&engine->inbox.lock);
		engine->taken = take_inbox(engine);
		spin_unlock(&engine->inbox.lock);
	}
	skb = engine->taken;
	engine->taken = skb->next;
	skb_mark_not_on_list(skb);
	WRITE_ONCE(engine->bytes_out, engine->bytes_out + skb->truesize);
	return skb;
}

/**
 * srdma_engine_hold - may the owner put a packet aside, to look at it later?
 * @engine: engine that the caller owns
 * @bytes: its memory
 *
 * What is put aside takes half of the room at most: what it waits for is to find some.
 * Bottom halves are disabled.
 *
 * Return: whether it may; then srdma_engine_release() is to follow.
 */
bool srdma_engine_hold(struct srdma_engine *engine, u32 bytes)
{
	u32 held = engine->held + bytes;
	bool room = true;

	if (READ_ONCE(engine->room) < 2 * held) {
		spin_lock(&engine->inbox.lock);
		room = make_room(engine, 2 * held);
		spin_unlock(&engine->inbox.lock);
	}
	if (!room)
		return false;
	WRITE_ONCE(engine->held, held);
	WRITE_ONCE(engine->bytes_out, engine->bytes_out - bytes);
	return true;
}

/* A packet of @bytes is not held any more. */
void srdma_engine_release(struct srdma_engine *engine, u32 bytes)
{
	WRITE_ONCE(engine->held, engine->held - bytes);
	WRITE_ONCE(engine->bytes_out, engine->bytes_out + bytes);
}

/**
 * srdma_engine_drop - drop what waits in the inbox
 * @engine: engine that the caller owns
 * @budget: how many skbs at most
 *
 * Bottom halves are disabled.
 *
 * Return: what is left of @budget; 0: there may be more.
 */
int srdma_engine_drop(struct srdma_engine *engine, int budget)
{
	struct sk_buff *skb;

	while (budget > 0 && (skb = srdma_engine_receive(engine))) {
		kfree_skb(skb);
		budget--;
	}
	return budget;
}

/* Drops all that waits, some at a time: of small skbs it may be thousands. */
void srdma_engine_clear(struct srdma_engine *engine)
{
	int left;

	do {
		local_bh_disable();
		left = srdma_engine_drop(engine, ENGINE_INNER_BUDGET);
		local_bh_enable();
	} while (!left);
}

/**
 * srdma_engine_init - an engine that is stopped
 * @engine: engine
 * @run: its run function
 * @backlog: account that its inbox draws from
 */
void srdma_engine_init(struct srdma_engine *engine, srdma_engine_run_t run,
		       struct srdma_backlog *backlog)
{
	atomic_set(&engine->state, ENGINE_STOPPED);
	skb_queue_head_init(&engine->inbox);
	engine->taken = NULL;
	engine->room = SRDMA_BACKLOG_OWN;
	engine->held = 0;
	engine->rounds = 0;
	engine->attended = false;
	engine->backlog = backlog;
	engine->run = run;
	tasklet_setup(&engine->tasklet, run_in_softirq);
}

/**
 * srdma_engine_stop - no run is under way when this returns, none will begin
 * @engine: engine that is not stopped
 *
 * Waits for one run, which is bounded by its budget. Word can still be left.
 */
void srdma_engine_stop(struct srdma_engine *engine)
{
	DECLARE_COMPLETION_ONSTACK(idle);
	int old;

	engine->idle = &idle;
	/* Fully ordered: pairs with tell_who_stops(). */
	old = atomic_fetch_or(ENGINE_STOPPED, &engine->state);
	if (old & ENGINE_OWNED)
		wait_for_completion(&idle);
}

/* Undoes srdma_engine_stop(), and runs it if word was left meanwhile. */
void srdma_engine_start(struct srdma_engine *engine)
{
	int old;

	/*
	 * Fully ordered: pairs with srdma_engine_try_own(). An owner that finds the engine
	 * started sees the state that was prepared for it.
	 */
	old = atomic_fetch_andnot(ENGINE_STOPPED, &engine->state);
	if (old & ENGINE_KICKED)
		run_or_defer(engine);
}

/* The engine is stopped, and cannot be kicked any more. */
void srdma_engine_uninit(struct srdma_engine *engine)
{
	tasklet_kill(&engine->tasklet);
	/* A look-up that found the QP earlier finds no room for its packet. */
	spin_lock_bh(&engine->inbox.lock);
	WRITE_ONCE(engine->bytes_in, engine->bytes_out + ENGINE_INBOX_BYTES);
	spin_unlock_bh(&engine->inbox.lock);
	skb_queue_purge(&engine->inbox);
	kfree_skb_list(engine->taken);
	/* Not before: what is drawn is there for what waits. */
	spin_lock_bh(&engine->inbox.lock);
	give_room_back(engine);
	spin_unlock_bh(&engine->inbox.lock);
}

static void init_cpu(int cpu)
{
	struct handover *handover = per_cpu_ptr(&handovers, cpu);

	/* Not in a thread on real-time kernels: it is to be prompt. */
	handover->work = IRQ_WORK_INIT_HARD(take_over);
	init_llist_head(&handover->engines);
}

/* Before there is any. */
int srdma_engines_init(void)
{
	int cpu, err;

	for_each_possible_cpu(cpu)
		init_cpu(cpu);
	err = srdma_workers_init();
	if (err)
		return err;
	err = srdma_attend_init();
	if (err) {
		srdma_workers_exit();
		return err;
	}
	srdma_urge_init();
	return 0;
}

/* No engine is left: nor is an interrupt that was to come for one. */
void srdma_engines_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(&handovers, cpu)->work);
	srdma_urge_exit();
	srdma_attend_exit();
	srdma_workers_exit();
}
