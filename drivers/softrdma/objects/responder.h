/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The responder of a QP: what its receive engine owns.
 */
#ifndef SRDMA_RESPONDER_H
#define SRDMA_RESPONDER_H

#include <linux/hrtimer.h>
#include <linux/skbuff.h>

#include "memory/access.h"
#include "objects/path.h"
#include "proto/rc_resp.h"
#include "proto/uc.h"
#include "queues/wqe.h"

/**
 * struct srdma_responder - what the receive engine owns
 * @rc: protocol state of an RC QP
 * @uc: protocol state of a UC QP
 * @rwqe: the receive request in use
 * @has_rwqe: @rwqe is one
 * @established: COMM_EST was raised
 * @last_wqe: LAST_WQE_REACHED was raised
 * @posted: requests of the program before its last message came (responder/linger.c)
 * @pos: where in the pieces of @rwqe placing stands
 * @path: way to the peer
 * @mtu: path MTU, bytes
 * @turns: messages in a row that the program has answered by another
 * @turns_needed: as many before an acknowledge waits for the next one
 * @held: requests behind a hole, in order (responder/hold.c)
 * @held_from: the skb that is being looked at, if it has brought the last of them
 * @held_last: that
 * @held_psn: its PSN
 * @waiting: what has brought a request that waits for a receive request, with
 *	that as its next packet (responder/wait.c); NULL: none waits
 * @wait_psn: PSN of the last request that waited
 * @wait_until: how long it waits at most, ns; 0 when it has waited
 * @timer: wakes the engine when a hole is to be reported, or such a wait is over
 * @timer_at: when @timer fires, ns; 0 when it is not armed
 */
struct srdma_responder {
	union {
		struct srdma_rc_resp rc;
		struct srdma_uc_resp uc;
	};
	struct srdma_rwqe *rwqe;
	bool has_rwqe;
	bool established;
	bool last_wqe;
	u8 posted;
	struct srdma_mem_pos pos;
	struct srdma_path path;
	u32 mtu;
	u32 held_psn;
	u32 wait_psn;
	u16 turns;
	u16 turns_needed;
	struct sk_buff_head held;
	const struct sk_buff *held_from;
	struct sk_buff *held_last;
	struct sk_buff *waiting;
	u64 wait_until;
	struct hrtimer timer;
	u64 timer_at;
};

#endif
