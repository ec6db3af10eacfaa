// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receives that user space posts to a queue pair in the error state have to be
 * flushed. But receives ring no doorbell, and no packet makes the engine look
 * any more. Programs wait for the flush, to know that the queue pair is
 * finished. Most of them poll, so they do not enter the kernel either.
 *
 * So while a device has such queue pairs, a timer reads their rings. There is
 * one timer for all of them, and it reads one word of each ring. It must not
 * depend on a CPU that is awake: the program may poll on another one. It must
 * not slow down when nothing comes: whenever the first receive comes, a program
 * waits for its flush. A queue pair left in error for hours wakes a CPU some
 * 150 times a second. A device without one has no timer.
 *
 * Receives of an SRQ stay there. A kernel consumer posts by a call, so it needs
 * no timer.
 */
#include "compat/compat.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "responder/drain.h"

/* From one look to the next: it is to take less than 10 ms in all. */
#define LOOK_NS		(6 * NSEC_PER_MSEC)

/* It may be so much later, to come together with other timers. */
#define SLACK_NS	(2 * NSEC_PER_MSEC)

/* Of more queue pairs each waits for more looks; the softirq stays short. */
#define LOOK_AT_MOST	1024

static void look_at(struct srdma_qp *qp)
{
	struct srdma_ring *ring = &qp->rq.ring;

	/* The engine may be taking from it: then it sees the rest, too. */
	if (srdma_ring_load(ring, ring->producer) != READ_ONCE(ring->index))
		srdma_engine_kick_later(&qp->recv, SRDMA_EVENT_DOORBELL);
}

static enum hrtimer_restart look(struct hrtimer *timer)
{
	struct srdma_drain *drain =
		container_of(timer, struct srdma_drain, timer);
	int left = LOOK_AT_MOST;
	struct srdma_qp *qp;
	bool more;

	spin_lock(&drain->lock);
	list_for_each_entry(qp, &drain->qps, drain_entry) {
		if (!left--) {
			list_rotate_to_front(&qp->drain_entry, &drain->qps);
			break;
		}
		look_at(qp);
	}
	more = !list_empty(&drain->qps);
	drain->ticking = more;
	spin_unlock(&drain->lock);
	if (!more)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(LOOK_NS));
	return HRTIMER_RESTART;
}

/**
 * srdma_drain_add - look after the receive queue of a QP
 * @qp: queue pair of user space in the error state, with a queue of its own; may
 *	be looked after already. Its receive engine calls.
 */
void srdma_drain_add(struct srdma_qp *qp)
{
	struct srdma_drain *drain = &qp->dev->drain;

	/* Changed only by the engine, or while it is stopped. */
	if (!list_empty(&qp->drain_entry))
		return;
	spin_lock_bh(&drain->lock);
	list_add_tail(&qp->drain_entry, &drain->qps);
	if (!drain->ticking) {
		drain->ticking = true;
		hrtimer_start_range_ns(&drain->timer, ns_to_ktime(LOOK_NS),
				       SLACK_NS, HRTIMER_MODE_REL_SOFT);
	}
	spin_unlock_bh(&drain->lock);
}

/**
 * srdma_drain_del - do not look after a QP any more
 * @qp: queue pair whose receive engine is stopped; may not be looked after
 *
 * The timer finds out by itself when the last one has gone.
 */
void srdma_drain_del(struct srdma_qp *qp)
{
	struct srdma_drain *drain = &qp->dev->drain;

	spin_lock_bh(&drain->lock);
	list_del_init(&qp->drain_entry);
	spin_unlock_bh(&drain->lock);
}

void srdma_drain_init(struct srdma_drain *drain)
{
	spin_lock_init(&drain->lock);
	INIT_LIST_HEAD(&drain->qps);
	srdma_compat_hrtimer_setup(&drain->timer, look, HRTIMER_MODE_REL_SOFT);
}

/* No queue pair is left. */
void srdma_drain_uninit(struct srdma_drain *drain)
{
	WARN_ON_ONCE(!list_empty(&drain->qps));
	hrtimer_cancel(&drain->timer);
}
