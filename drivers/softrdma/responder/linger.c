// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Acknowledges that wait for the program's answer. Where two programs take turns, each
 * message is answered by another one, in a moment. Its acknowledge travels with that
 * (wire/rider.c), and the stack is crossed once instead of twice.
 *
 * Whether an answer follows is a guess: it did, after each of the last messages. A wrong
 * guess delays the acknowledge by LINGER_NS, and postpones the next guess, longer each
 * time.
 */
#include <linux/ktime.h>
#include <linux/minmax.h>

#include "objects/device.h"
#include "observe/stall.h"
#include "posting/doorbell.h"
#include "responder/linger.h"
#include "wire/rider.h"

/*
 * The longest wait. A program that sleeps takes less to answer, mostly; and a requester's
 * patience is not shorter: one of ours probes after 100 us at the earliest.
 */
#define LINGER_NS	(100 * NSEC_PER_USEC)

/*
 * Messages in a row that were answered before the next one came, which make one think
 * that this one will be: at first, and as many as it takes when that was wrong.
 */
#define TURNS_FIRST	16
#define TURNS_MAX	SZ_8K

/* A connection begins. */
void srdma_linger_init(struct srdma_qp *qp)
{
	qp->resp.posted = srdma_linger_posted(qp);
	qp->resp.turns = 0;
	qp->resp.turns_needed = TURNS_FIRST;
	qp->rider.until = 0;
	atomic64_set(&qp->rider.ack, 0);
}

/**
 * srdma_linger_is_worthwhile - an acknowledge is due, and nothing else
 * @qp: queue pair
 * @posted: srdma_linger_posted() when the engine began to run
 *
 * To be asked once for each. What is looped crosses no stack.
 *
 * Return: whether it is likely that the program's answer follows.
 */
bool srdma_linger_is_worthwhile(struct srdma_qp *qp, u8 posted)
{
	struct srdma_responder *resp = &qp->resp;

	if (resp->posted == posted) {
		resp->turns = 0;
		return false;
	}
	resp->posted = posted;
	if (resp->turns < resp->turns_needed) {
		resp->turns++;
		return false;
	}
	return resp->path.checked && !resp->path.is_local &&
	       srdma_qp_may(qp, SRDMA_MAY_SEND);
}

/**
 * srdma_linger_begin - an acknowledge waits
 * @qp: queue pair of which none waits
 * @ack: what it is to say
 *
 * A program that polls may have answered already. Either its doorbell finds the
 * acknowledge, or this finds the answer: then it does not wait.
 */
noinline void srdma_linger_begin(struct srdma_qp *qp,
				 const struct srdma_rc_resp_burst *ack)
{
	u64 wait = srdma_stall(SRDMA_STALL_LINGER) ? SRDMA_STALL_LINGER_NS : LINGER_NS;

	WRITE_ONCE(qp->rider.until, ktime_get_ns() + wait);
	srdma_rider_put(qp, ack);
	/* Pairs with the system call between posting and srdma_rider_take(); and fired(). */
	smp_mb();
	if (srdma_linger_posted(qp) == qp->resp.posted)
		srdma_doorbell_watch_rider(qp, wait);
	else
		srdma_linger_end(qp);
}

/* The acknowledge is due again, unless it has left. */
static bool end_wait(struct srdma_qp *qp)
{
	WRITE_ONCE(qp->rider.until, 0);
	if (!srdma_rider_withdraw(qp))
		return false;
	qp->resp.rc.ack_due = true;
	return true;
}

static void note_in_vain(struct srdma_responder *resp)
{
	resp->turns = 0;
	resp->turns_needed = min(resp->turns_needed * 2, TURNS_MAX);
}

/**
 * srdma_linger_look - the engine runs, and an acknowledge waits, or did
 * @qp: queue pair
 *
 * What comes now is acknowledged with what waits, so that need not wait any more. Nor does
 * it in the error state, where nothing follows.
 */
noinline void srdma_linger_look(struct srdma_qp *qp)
{
	struct srdma_responder *resp = &qp->resp;
	u64 now = ktime_get_ns(), until = qp->rider.until;

	if (now < until && skb_queue_empty_lockless(&qp->recv.inbox) &&
	    !qp->recv.taken && atomic64_read(&qp->rider.ack) &&
	    srdma_qp_may(qp, SRDMA_MAY_RECEIVE)) {
		srdma_doorbell_watch_rider(qp, until - now);
		return;
	}
	if (end_wait(qp))
		note_in_vain(resp);
	else
		resp->turns_needed = max(resp->turns_needed - 1, TURNS_FIRST);
}

/* No acknowledge is to wait any more. Returns whether one did, which is due now. */
bool srdma_linger_end(struct srdma_qp *qp)
{
	return srdma_linger_any(qp) && end_wait(qp);
}

/* What was due could not be sent: the engine is to look again when it runs. */
void srdma_linger_again(struct srdma_qp *qp)
{
	WRITE_ONCE(qp->rider.until, 1);
}
