// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Doorbells. A doorbell usually runs the send engine at once. But many short
 * messages that are posted one by one cost less if one run takes several of
 * them, and one skb carries them. So a request of user space may wait for the
 * next ones: if nobody waits for its completion, and if requests have followed
 * each other for a while with no request of the peer between them.
 *
 * Whether another request follows is a guess. A wrong guess delays the request
 * by WAIT_NS, and postpones the next guess, longer each time.
 */
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <rdma/softrdma-abi.h>

#include "compat/compat.h"
#include "engine/attend.h"
#include "engine/engine.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "observe/counters.h"
#include "posting/completion.h"
#include "posting/doorbell.h"

/* Requests that one run takes: as many as go without asking for an ACK, */
#define MOST_ACKED	16

/* or as many as are fetched from the ring at once, where there are no ACKs. */
#define MOST_UNACKED	32

/* A batch of these has been worth the wait. */
#define ENOUGH		16

/* Longer ones are worth a run each, bytes. */
#define SHORT_MESSAGE	SZ_4K

/* The longest wait. */
#define WAIT_NS		(100 * NSEC_PER_USEC)

/* A wait that took this long, and not for enough, was in vain. */
#define VAIN_NS		(WAIT_NS / 2)

/*
 * Doorbells in a row that make one think that more follow: at first, and as few or as
 * many as it takes when that was right for long, or wrong. A stream ends in vain
 * wherever its program is kept from running.
 */
#define ROW_FIRST	16
#define ROW_MIN		4
#define ROW_MAX		SZ_8K

/* The timer ends the wait of requests, and of an acknowledge (responder/linger.c). */
#define ARMED		0

static u32 enough(const struct srdma_doorbell *bell)
{
	return min_t(u32, bell->most, ENOUGH);
}

/*
 * A program that leaves a batch of completions in the queue, and posts the next
 * request, does not wait for the completion of that one. How many it leaves is
 * known from when the last one was added.
 */
static bool leaves_completions(const struct srdma_qp *qp)
{
	return READ_ONCE(qp->send_cq->most) >= enough(&qp->bell);
}

/*
 * The request last posted is short, and its completion is not waited for. User
 * space may change it at any time: that can only make this decision a bad one.
 */
static bool is_quiet(const struct srdma_qp *qp, u32 producer)
{
	const struct srdma_abi_send_wqe *raw =
		srdma_ring_slot(&qp->sq.ring, producer - 1);
	u32 flags = READ_ONCE(raw->send_flags) & ~(u32)SRDMA_WR_INLINE;

	if (flags & ~(u32)SRDMA_WR_SIGNALED)
		return false;
	if ((flags || qp->sig_all) && !leaves_completions(qp))
		return false;
	switch (READ_ONCE(raw->opcode)) {
	case SRDMA_WR_SEND:
	case SRDMA_WR_SEND_IMM:
	case SRDMA_WR_WRITE:
	case SRDMA_WR_WRITE_IMM:
	case SRDMA_WR_READ:
	case SRDMA_WR_CMP_SWAP:
	case SRDMA_WR_FETCH_ADD:
		return READ_ONCE(raw->dma.length) <= SHORT_MESSAGE;
	default:
		return false;
	}
}

/* Has exactly one request, a quiet one, been posted since the last doorbell? */
static bool may_wait(struct srdma_qp *qp)
{
	struct srdma_doorbell *bell = &qp->bell;
	const struct srdma_ring *ring = &qp->sq.ring;
	u32 producer = srdma_ring_load(ring, ring->producer);
	u32 posted = (producer - READ_ONCE(bell->seen)) & ring->mask;

	WRITE_ONCE(bell->seen, producer);
	return posted == 1 && is_quiet(qp, producer);
}

static bool is_one_of_many(struct srdma_doorbell *bell)
{
	u32 row = READ_ONCE(bell->row);

	if (row >= READ_ONCE(bell->needed))
		return true;
	WRITE_ONCE(bell->row, row + 1);
	return false;
}

/* Others rely on the timer from here on: start it without delay. */
static void arm(struct srdma_doorbell *bell, u64 ns)
{
	preempt_disable();
	if (!test_and_set_bit(ARMED, &bell->armed))
		hrtimer_start(&bell->timer, ns_to_ktime(ns), HRTIMER_MODE_REL);
	preempt_enable();
}

/* Returns whether the request waits: the timer or a run will see it. */
static bool wait_for_more(struct srdma_doorbell *bell)
{
	if (!atomic_read(&bell->waiting))
		WRITE_ONCE(bell->since, ktime_get_ns());
	/*
	 * Fully ordered, as what changes ARMED in fired() is: either the timer
	 * sees that we wait, or we see that it has gone.
	 */
	if (atomic_inc_return(&bell->waiting) >= bell->most)
		return false;
	if (!test_bit(ARMED, &bell->armed))
		arm(bell, WAIT_NS);
	return true;
}

/* May more go at once, or come, if the peer is near? The task stays to hear that. */
static bool is_worth_attending(const struct srdma_engine *engine)
{
	const struct srdma_qp *qp = container_of(engine, struct srdma_qp, send);

	return srdma_qp_awaits_much(qp);
}

/**
 * srdma_doorbell_kick - kick an engine after posting
 * @qp: queue pair
 * @engine: one of its engines
 *
 * A kernel consumer may hold a lock that its completion handlers take. Disabled
 * interrupts tell the engine so. On real-time kernels they stay enabled: there
 * neither an engine runs here, nor softirq after it.
 */
void srdma_doorbell_kick(struct srdma_qp *qp, struct srdma_engine *engine)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !qp->is_user)
		srdma_engine_kick_later(engine, SRDMA_EVENT_DOORBELL);
	else
		srdma_engine_kick(engine, SRDMA_EVENT_DOORBELL);
}

/**
 * srdma_doorbell_ring - requests may have been posted
 * @qp: queue pair
 */
void srdma_doorbell_ring(struct srdma_qp *qp)
{
	struct srdma_doorbell *bell = &qp->bell;

	if (bell->most && may_wait(qp) &&
	    READ_ONCE(qp->state) == IB_QPS_RTS && is_one_of_many(bell) &&
	    wait_for_more(bell))
		return;
	if (!qp->is_user || IS_ENABLED(CONFIG_PREEMPT_RT))
		srdma_doorbell_kick(qp, &qp->send);
	else if (srdma_attend(&qp->send, SRDMA_EVENT_DOORBELL,
			      is_worth_attending))
		srdma_stat_inc(qp->dev, SRDMA_STAT_BELL_ATTENDED);
}

/**
 * srdma_doorbell_flush - have waiting requests sent, unless that is under way
 * @qp: queue pair, in which something that concerns them is about to change
 */
void srdma_doorbell_flush(struct srdma_qp *qp)
{
	if (atomic_read(&qp->bell.waiting))
		srdma_engine_kick(&qp->send, SRDMA_EVENT_DOORBELL);
}

/* How much longer doorbells may wait, or an acknowledge, ns; none: not at all. */
static s64 time_left(struct srdma_qp *qp)
{
	const struct srdma_doorbell *bell = &qp->bell;
	bool rings = atomic_read(&bell->waiting);
	bool rides = atomic64_read(&qp->rider.ack);
	u64 now = ktime_get_ns();
	s64 left = S64_MAX;

	if (rings)
		left = WAIT_NS - (s64)(now - READ_ONCE(bell->since));
	if (rides)
		left = min_t(s64, left, READ_ONCE(qp->rider.until) - now);
	return rings || rides ? left : 0;
}

/* In a stream others wait by now than when it was started. */
static enum hrtimer_restart fired(struct hrtimer *timer)
{
	struct srdma_doorbell *bell =
		container_of(timer, struct srdma_doorbell, timer);
	struct srdma_qp *qp = container_of(bell, struct srdma_qp, bell);
	s64 left = time_left(qp);

	if (left > 0) {
		hrtimer_forward_now(timer, ns_to_ktime(left));
		return HRTIMER_RESTART;
	}
	clear_bit(ARMED, &bell->armed);
	/* Pairs with wait_for_more() and srdma_doorbell_watch_rider(). */
	smp_mb__after_atomic();
	if (atomic_read(&bell->waiting))
		srdma_engine_kick_later(&qp->send, SRDMA_EVENT_DOORBELL);
	if (atomic64_read(&qp->rider.ack))
		srdma_engine_kick_later(&qp->recv, SRDMA_EVENT_DOORBELL);
	return HRTIMER_NORESTART;
}

/**
 * srdma_doorbell_watch_rider - an acknowledge waits for a doorbell
 * @qp: queue pair; a full barrier has followed srdma_rider_put()
 * @ns: how long
 *
 * If none rings in time, the receive engine is kicked. Where the timer was to look after
 * doorbells it may come as late as for them.
 */
void srdma_doorbell_watch_rider(struct srdma_qp *qp, u64 ns)
{
	if (!test_bit(ARMED, &qp->bell.armed))
		arm(&qp->bell, ns);
}

/**
 * srdma_doorbell_take - the send engine is about to look at the ring
 * @qp: queue pair
 * @now: time, ns
 */
void srdma_doorbell_take(struct srdma_qp *qp, u64 now)
{
	struct srdma_doorbell *bell = &qp->bell;
	u32 needed = READ_ONCE(bell->needed);
	u32 waited;

	if (!atomic_read(&bell->waiting))
		return;
	/* Fully ordered: requests that waited are found in the ring. */
	waited = atomic_xchg(&bell->waiting, 0);
	srdma_stat_add(qp->dev, SRDMA_STAT_BELL_WAITED, waited);
	if (waited >= enough(bell)) {
		needed = max(needed - needed / 8 - 1, ROW_MIN);
	} else if ((s64)(now - READ_ONCE(bell->since)) > VAIN_NS) {
		srdma_stat_inc(qp->dev, SRDMA_STAT_BELL_LATE);
		needed = min(needed * 2, ROW_MAX);
		WRITE_ONCE(bell->row, 0);
	}
	WRITE_ONCE(bell->needed, needed);
}

/* The ring is in place. A quarter of it may wait; of a small one, nothing. */
void srdma_doorbell_init(struct srdma_qp *qp)
{
	struct srdma_doorbell *bell = &qp->bell;

	srdma_compat_hrtimer_setup(&bell->timer, fired, HRTIMER_MODE_REL);
	bell->needed = ROW_FIRST;
	if (qp->is_user)
		bell->most = min_t(u32, srdma_ring_entries(&qp->sq.ring) / 4,
				   qp->qpt == SRDMA_QPT_RC ? MOST_ACKED :
							     MOST_UNACKED);
}

/* The engine is stopped, and no doorbell can ring any more. */
void srdma_doorbell_uninit(struct srdma_qp *qp)
{
	hrtimer_cancel(&qp->bell.timer);
}
