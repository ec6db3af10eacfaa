/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A request of the peer, and what may become of it.
 */
#ifndef SRDMA_REQUEST_H
#define SRDMA_REQUEST_H

#include "memory/access.h"
#include "objects/qp.h"
#include "proto/packet.h"
#include "proto/rc_resp.h"

/**
 * struct srdma_request - a request packet being executed; there is one for all of a run
 * @qp: queue pair
 * @skb: what it came in; NULL: there is no packet, only a receive to be flushed
 * @walk: over the bytes of @skb
 * @pkt: its headers
 * @act: what the core wants done
 * @place: what the last atomic worked on, or where the last datagram went; rests in
 *	between (memory/access.h)
 * @may_wait: it may wait for a receive request: it is not one that was held
 */
struct srdma_request {
	struct srdma_qp *qp;
	struct sk_buff *skb;
	struct srdma_skb_walk walk;
	struct srdma_pkt pkt;
	struct srdma_rc_resp_act act;
	struct srdma_mem_iter place;
	bool may_wait;
};

/* Why a request was not executed; the first is that it was. */
enum srdma_outcome {
	OUTCOME_OK,
	OUTCOME_NO_RWQE,	/* nothing posted */
	OUTCOME_BAD_RWQE,	/* what was posted is no receive request */
	OUTCOME_TOO_LONG,	/* the receive request is too small */
	OUTCOME_LOCAL,		/* its memory cannot be written */
	OUTCOME_INVALID,	/* the request makes no sense */
	OUTCOME_ACCESS,		/* the peer may not do that */
	OUTCOME_GONE,		/* the peer has taken its payload back */
};

/* What a QP is not set up for is no question of a key: invalid (9.7.5.2.8). */
static inline bool srdma_qp_allows(const struct srdma_qp *qp, u32 access)
{
	return (qp->attr.qp_access_flags & access) == access;
}

#endif
