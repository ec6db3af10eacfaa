/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Unreliable connections, both ends, and the sending of datagrams: packets
 * in sequence, no acknowledge. A message is complete for the sender when
 * its last packet has left; the receiver drops what belongs to a message of
 * which a packet is missing (section 9.8.2).
 */
#ifndef SRDMA_PROTO_UC_H
#define SRDMA_PROTO_UC_H

#include <linux/types.h>

#include "burst.h"
#include "rc_req.h"
#include "rc_resp.h"
#include "uc_rate.h"

/**
 * struct srdma_uc_req - sending side of a UC, UD or GSI QP
 * @base: struct srdma_rc_msg of index 0; the caller's memory. Used are len,
 *	op, flags, psn, npsn and, as the number of bursts that have been sent
 *	and not released, done
 * @stride: bytes from one message to the next
 * @mask: ring size - 1
 * @head: index behind the last posted message
 * @tail: oldest message that was not retired
 * @cur: message to be sent next
 * @offset: bytes of it that are sent
 * @psn: next PSN
 * @mtu: path MTU, bytes
 * @mtu_shift: log2 of it
 * @qpt: enum srdma_qpt: UC, UD or GSI
 * @mode: enum srdma_req_mode
 * @begun: a packet of @cur is sent
 * @failed: @fail_idx fails with @fail_status when @cur gets there; what follows
 *	is flushed
 * @fail_idx: message that failed
 * @fail_status: enum srdma_status of it
 * @rate: how fast it sends; that of a datagram QP never changes
 */
struct srdma_uc_req {
	void *base;
	u32 stride;
	u32 mask;

	u32 head;
	u32 tail;
	u32 cur;
	u32 offset;
	u32 psn;

	u32 mtu;
	u8 mtu_shift;
	u8 qpt;
	u8 mode;
	bool begun;
	bool failed;
	u32 fail_idx;
	u8 fail_status;
	struct srdma_uc_rate rate;
};

static inline struct srdma_rc_msg *
srdma_uc_req_msg(const struct srdma_uc_req *req, u32 idx)
{
	return req->base + (size_t)(idx & req->mask) * req->stride;
}

/* An empty sender in mode SRDMA_REQ_RUN; parameters as of the RC one. */
void srdma_uc_req_init(struct srdma_uc_req *req, enum srdma_qpt qpt, u32 psn,
		       u32 mtu, void *base, u32 stride, u32 mask);

/* Datagrams may be this long from now on; a UC QP keeps what it began with. */
void srdma_uc_req_set_mtu(struct srdma_uc_req *req, u32 mtu);

/* As srdma_rc_req_move(). */
static inline void srdma_uc_req_move(struct srdma_uc_req *req, void *base,
				     u32 mask)
{
	req->base = base;
	req->mask = mask;
}

static inline bool srdma_uc_req_full(const struct srdma_uc_req *req)
{
	return req->head - req->tail > req->mask;
}

/* The message at req->head is filled in. */
static inline void srdma_uc_req_push(struct srdma_uc_req *req)
{
	req->head++;
}

/*
 * What to send now: SRDMA_NEXT_SEND, _LOCAL, _EMPTY, _SQD, _ORDER, _PACE or _ERROR;
 * used like srdma_rc_req_next(). With _PACE, rate.wake_at says when to ask again.
 */
enum srdma_req_next srdma_uc_req_next(struct srdma_uc_req *req, u64 now,
				      const struct srdma_burst_limit *limit,
				      struct srdma_rc_burst *out);

/*
 * The burst is on its way; its memory is in use until
 * srdma_uc_req_released() is called for it, by the same caller.
 */
void srdma_uc_req_sent(struct srdma_uc_req *req,
		       const struct srdma_rc_burst *burst, u64 now);

/* As srdma_rc_req_congested(). */
static inline void srdma_uc_req_congested(struct srdma_uc_req *req, u64 now)
{
	srdma_uc_rate_told(&req->rate, now);
}

/* The timer has fired: SRDMA_TIMER_PACE, or _EARLY if nothing waited for it. */
static inline enum srdma_req_timer
srdma_uc_req_timeout(const struct srdma_uc_req *req, u64 now)
{
	u64 at = req->rate.wake_at;

	return at && now >= at ? SRDMA_TIMER_PACE : SRDMA_TIMER_EARLY;
}

/* The memory of one burst of message @idx is no longer in use. */
void srdma_uc_req_released(struct srdma_uc_req *req, u32 idx);

/* The same for a burst of the oldest message that has some; none may have any. */
void srdma_uc_req_release_oldest(struct srdma_uc_req *req);

/* The same for all that was sent. */
void srdma_uc_req_release_all(struct srdma_uc_req *req);

/* The local operation of the last SRDMA_NEXT_LOCAL was executed. */
void srdma_uc_req_local_done(struct srdma_uc_req *req,
			     const struct srdma_rc_burst *burst);

/*
 * Message @idx is not sent completely and cannot be. When those before it are
 * sent, it fails and the later ones are flushed (SQE), until
 * srdma_uc_req_resume(). If several messages fail, the oldest counts.
 */
void srdma_uc_req_fail(struct srdma_uc_req *req, u32 idx,
		       enum srdma_status status);

/* The QP goes to the error state: flush all that is not sent. */
void srdma_uc_req_abort(struct srdma_uc_req *req);

/*
 * SQE is left for RTS (10.3.1). What failed or was posted before must have
 * been retired.
 */
void srdma_uc_req_resume(struct srdma_uc_req *req);

/* SQD is requested, or left again for RTS. */
void srdma_uc_req_drain(struct srdma_uc_req *req, bool drain);

/* In SQD: is every begun message sent and its memory released? */
bool srdma_uc_req_drained(const struct srdma_uc_req *req);

/* As srdma_rc_req_retire(); waits for the memory to be released. */
bool srdma_uc_req_retire(struct srdma_uc_req *req, struct srdma_rc_done *done);

/* What a UC request packet asks for. */
enum srdma_uc_verdict {
	SRDMA_UC_SEND,		/* payload into the receive WQE */
	SRDMA_UC_WRITE,		/* payload to act->va */
	SRDMA_UC_DROP_LOST,	/* rest of a message of which a packet is lost */
	SRDMA_UC_DROP_SEQ,	/* FIRST/MIDDLE/LAST do not follow each other */
	SRDMA_UC_DROP_LEN,	/* payload is not what its place demands */
	SRDMA_UC_NR,
};

/**
 * struct srdma_uc_resp - receiving side of a UC QP
 * @epsn: expected PSN
 * @in: SRDMA_OP_SEND or SRDMA_OP_WRITE inside such a message, else 0
 * @offset: bytes of the message received
 * @left: WRITE: bytes still to come
 * @rkey: WRITE: key of @va
 * @va: WRITE: where the next byte goes
 * @mtu: path MTU, bytes
 */
struct srdma_uc_resp {
	u32 epsn;
	u32 in;
	u32 offset;
	u32 left;
	u32 rkey;
	u64 va;
	u32 mtu;
};

void srdma_uc_resp_init(struct srdma_uc_resp *resp, u32 psn, u32 mtu);

/* May @pkt, with what continues it, be judged as a run? If not it may be dropped. */
static inline bool srdma_uc_resp_expects(const struct srdma_uc_resp *resp,
					 const struct srdma_pkt *pkt)
{
	return pkt->psn == resp->epsn;
}

/**
 * srdma_uc_resp_request() - judge a UC request packet
 * @resp: receiver
 * @pkt: any UC opcode, or a run
 * @act: filled in for SRDMA_UC_SEND and SRDMA_UC_WRITE
 *
 * SRDMA_ACT_RWQE with START of a SEND: take a receive WQE, or use the one
 * that a broken message has left (9.8.2: no completion for it). The packet
 * counts at once; if it cannot be executed, call srdma_uc_resp_fail().
 */
enum srdma_uc_verdict srdma_uc_resp_request(struct srdma_uc_resp *resp,
					    const struct srdma_pkt *pkt,
					    struct srdma_rc_resp_act *act);

/*
 * The packet could not be executed (no receive WQE, wrong key): the rest of
 * its message is dropped.
 */
void srdma_uc_resp_fail(struct srdma_uc_resp *resp);

#endif
