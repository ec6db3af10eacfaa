// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Whether a response that is missing may only have been overtaken. On a network that
 * has changed the order of responses before, it is given a part of a round trip. On
 * others it is asked for at once.
 *
 * An answer that comes twice tells: what was asked for again had been on its way.
 *
 * All of this is rare, and nothing is inlined.
 */
#include <linux/minmax.h>
#include <linux/types.h>

#include "burst.h"
#include "psn.h"
#include "rc_req.h"
#include "rc_req_priv.h"

/* Quarters of a round trip, at most. */
#define LATE_MOST	8

/* So many times asked again make it one quarter less. */
#define SHORTER_IN	16


noinline void srdma_req_note_asked_again(struct srdma_rc_req *req,
					 const struct srdma_burst *b,
					 const struct srdma_rc_msg *msg)
{
	if (++req->asks % SHORTER_IN == 0 && req->late)
		req->late--;
	req->asked_psn = b->psn;
	req->asked_end = srdma_msg_end(msg);
}

noinline void srdma_req_came_twice(struct srdma_rc_req *req, u32 psn)
{
	if (srdma_psn_before(psn, req->asked_psn) ||
	    !srdma_psn_before(psn, req->asked_end))
		return;
	req->asked_end = req->asked_psn;
	req->late = min(2 * req->late + 1, LATE_MOST);
}

noinline bool srdma_req_may_be_late(struct srdma_rc_req *req, u64 now)
{
	u64 wait = req->srtt_ns * req->late / 4;

	if (!wait)
		return false;
	if (!req->late_at)
		req->late_at = now + wait;
	srdma_req_rearm(req);
	return true;
}
