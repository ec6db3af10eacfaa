// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * News of neighbours are told again. Who makes a QP ready, or has rdma_cm resolve an
 * address, waits in the core (rdma_addr), which has the stack ask for the neighbour, and
 * then puts the request into a list; whatever neighbour becomes known, all of the list
 * look again. An answer that comes within the call that asks, as over a veth from another
 * namespace of this machine, is there before the request is in the list. It would be
 * found when the request's time is over: a second for a QP, and two, or more, for rdma_cm.
 * So what was told when it came is told again a moment later.
 */
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/neighbour.h>
#include <net/netevent.h>

#include "device/link.h"
#include "device/neighbours.h"

/* After so many ms, and after so many more: who asked may have had to wait for a CPU. */
static const unsigned int delays[] = { 4, 40 };

/* Guards the next two. */
static DEFINE_SPINLOCK(neighbours_lock);

/* The last that became known: telling of one makes all requests look again. */
static struct neighbour *latest;

/* How often it has been told again. */
static unsigned int told;

/* The one that is just told again, by us. */
static struct neighbour *telling;

static void tell_again(struct work_struct *work);
static DECLARE_DELAYED_WORK(again, tell_again);

/* Under the lock, so that what was said last holds. */
static void wait_to_tell(void)
{
	cancel_delayed_work(&again);
	schedule_delayed_work(&again, msecs_to_jiffies(delays[told]));
}

static struct neighbour *take_latest(void)
{
	struct neighbour *neigh;

	spin_lock_bh(&neighbours_lock);
	neigh = latest;
	if (neigh && ++told < ARRAY_SIZE(delays)) {
		neigh_hold(neigh);
		wait_to_tell();
	} else {
		latest = NULL;
	}
	spin_unlock_bh(&neighbours_lock);
	return neigh;
}

static void tell_again(struct work_struct *work)
{
	struct neighbour *neigh = take_latest();

	if (!neigh)
		return;
	/* Others who hear of it are not to begin anything with one that has gone. */
	if (!READ_ONCE(neigh->dead)) {
		WRITE_ONCE(telling, neigh);
		call_netevent_notifiers(NETEVENT_NEIGH_UPDATE, neigh);
		WRITE_ONCE(telling, NULL);
	}
	neigh_release(neigh);
}

static void remember(struct neighbour *neigh)
{
	struct neighbour *before;

	neigh_hold(neigh);
	spin_lock_bh(&neighbours_lock);
	before = latest;
	latest = neigh;
	told = 0;
	wait_to_tell();
	spin_unlock_bh(&neighbours_lock);
	if (before)
		neigh_release(before);
}

static int neighbour_event(struct notifier_block *nb, unsigned long event,
			   void *ptr)
{
	struct neighbour *neigh = ptr;

	if (event == NETEVENT_NEIGH_UPDATE && neigh != READ_ONCE(telling) &&
	    READ_ONCE(neigh->nud_state) & NUD_VALID &&
	    srdma_link_is_below(neigh->dev))
		remember(neigh);
	return NOTIFY_DONE;
}

static struct notifier_block neighbour_notifier = {
	.notifier_call = neighbour_event,
};

int srdma_neighbours_init(void)
{
	return register_netevent_notifier(&neighbour_notifier);
}

void srdma_neighbours_exit(void)
{
	unregister_netevent_notifier(&neighbour_notifier);
	cancel_delayed_work_sync(&again);
	if (latest)
		neigh_release(latest);
	latest = NULL;
}
