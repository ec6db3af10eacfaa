/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The requester of a QP: what its send engine owns.
 */
#ifndef SRDMA_REQUESTER_H
#define SRDMA_REQUESTER_H

#include <linux/hrtimer.h>

#include "memory/access.h"
#include "memory/loan.h"
#include "objects/path.h"
#include "observe/cause.h"
#include "proto/rc_req.h"
#include "proto/uc.h"
#include "queues/wqe.h"

struct mem_cgroup;
struct srdma_ah_entry;

/**
 * struct srdma_cursor - where in the memory of a message something stands
 * @idx: index of the message
 * @pos: position in its pieces
 */
struct srdma_cursor {
	u32 idx;
	struct srdma_mem_pos pos;
};

/**
 * struct srdma_failure - why a request fails, from when that is known until it
 *	completes so
 * @idx: index of the request
 * @status: enum srdma_status that it is going to have; 0: none fails
 * @psn: packet that it is about, where there is one
 * @cause: why
 */
struct srdma_failure {
	u32 idx;
	u8 status;
	u32 psn;
	struct srdma_cause cause;
};

/**
 * struct srdma_requester - what the send engine owns
 * @rc: protocol state of an RC QP
 * @uc: protocol state of a UC, UD or GSI QP
 * @ah: datagrams: address handle of user space that was last found in this run; NULL:
 *	none
 * @ah_sent: the one that the last datagram of this run went by; likewise
 * @ah_num: number of @ah
 * @ahs_gone: srdma_dev.ahs_gone from before
 * @last_qpn: QP that the last datagram went to
 * @store: struct srdma_wqe of the requests that are begun, @stride bytes each
 * @slot: copy of the ring slot being decoded; NULL: the rings are the kernel's
 * @loans: what they have lent; outlasts the engine (memory/loan.h)
 * @lent: UC: skbs with a loan that are to come back; of all times, as the next two
 * @returned: those that have; added where the skbs are freed
 * @taken_back: those of which the engine knows
 * @refused: requests that were refused, and are the next in the ring; counted when the
 *	QP leaves RTR by itself
 * @lost_sight: UC: lent before the QP was reset, and not yet back
 * @stride: bytes of one
 * @store_mask: how many @store has room for - 1, a power of two less one; grows
 *	up to @mask when more are posted at once
 * @mask: how many can be begun at once - 1; constant
 * @fetched: slots of the ring that were copied and not given back
 * @path: way to the peer, or of the last datagram
 * @gather: where sending stands
 * @place: where placing of responses stands
 * @mtu: path MTU, bytes
 * @drained: SQ_DRAINED was raised
 * @shown_window: packets that may be in flight, as last traced; 0: not yet
 * @timer: wakes the engine
 * @timer_at: when @timer fires, ns; 0 when it is not armed
 * @failure: the request that fails (requester/failure.c)
 */
struct srdma_requester {
	union {
		struct srdma_rc_req rc;
		struct {
			struct srdma_uc_req uc;
			const struct srdma_ah_entry *ah;
			const struct srdma_ah_entry *ah_sent;
			u32 ah_num;
			u32 ahs_gone;
			u32 last_qpn;
		};
	};
	void *store;
	void *slot;
	struct srdma_loans loans;
	u32 lent;
	atomic_t returned;
	u32 taken_back;
	u32 refused;
	u32 lost_sight;
	u32 stride;
	u32 store_mask;
	u32 mask;
	u32 fetched;
	struct srdma_path path;
	struct srdma_cursor gather;
	struct srdma_cursor place;
	u32 mtu;
	bool drained;
	u32 shown_window;
	struct hrtimer timer;
	u64 timer_at;
	struct srdma_failure failure;
};

/* Within the send engine. */
static inline struct srdma_wqe *
srdma_send_wqe(const struct srdma_requester *req, u32 idx)
{
	return req->store + (size_t)(idx & req->store_mask) * req->stride;
}

#endif
