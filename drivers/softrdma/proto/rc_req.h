/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The requester of a reliable connection: which packets to send next, what a
 * response means, when to try again and when to give up. It decides only:
 * the caller owns memory, skbs, rings and the timer, and calls from one
 * context at a time. Times are nanoseconds of any clock that never steps
 * back and is never 0.
 *
 * The order of calls:
 *
 *   srdma_rc_req_push()	a validated message was put at req->head
 *   srdma_rc_req_next()	what to send, or why not; changes nothing that
 *				a second call would not change again
 *   srdma_rc_req_sent()	the burst is on its way
 *   srdma_rc_req_response()	a response packet came; for SRDMA_REQ_PLACE
 *				and SRDMA_REQ_ATOMIC then srdma_rc_req_placed()
 *   srdma_rc_req_timeout()	req->deadline has passed
 *   srdma_rc_req_retire()	until it returns false: what is complete now
 *
 * A caller that has several responses, or bursts, at the same time may say so
 * (attr.settles): then it calls srdma_rc_req_settle() after the responses and after the
 * bursts.
 *
 * After any of them req->deadline says when srdma_rc_req_timeout() wants to
 * be called (0: never). It only has to be called at or after that time: a
 * timer that fires early for an old deadline is harmless, so a caller leaves
 * an armed timer alone while the deadline moves away.
 */
#ifndef SRDMA_PROTO_RC_REQ_H
#define SRDMA_PROTO_RC_REQ_H

#include <linux/types.h>

#include "burst.h"
#include "opcode.h"
#include "packet.h"
#include "rc_req_mend.h"
#include "status.h"

/*
 * srdma_rc_msg.flags beside SRDMA_WR_FENCE, _SIGNALED and _SOLICITED: do not
 * start before all messages in front are complete. For local invalidation:
 * what is in flight may have to be read again to be sent again.
 */
#define SRDMA_MSG_DRAIN		BIT(7)

/* srdma_rc_msg.part: no READ has so many packets. */
#define SRDMA_MSG_WHOLE		31

/**
 * struct srdma_rc_msg - the requester's part of a send WQE
 * @len: message bytes (READ: bytes asked for); the poster writes it
 * @psn: first PSN; written when the message is started
 * @npsn: PSNs it occupies, 0 for a local operation; written when started
 * @ssn: send sequence number, 24 bits (9.7.7.2); written when started
 * @done: READ, atomic, FLUSH: response bytes in place, up to the first hole;
 *	others: not used
 * @high: READ: behind the last packet that is in place behind a hole, counted
 *	from the first; 0 when there is no hole
 * @asked: READ: all missing in front of this packet has been asked for, in the
 *	present round
 * @far: READ: what lies behind this packet has not been asked for since its answer
 *	was lost
 * @guard: PSN from which on a response proves that the answer to the last
 *	request for this message is lost
 * @op: enum srdma_wr_opcode; the poster writes it
 * @flags: SRDMA_WR_FENCE, _SIGNALED, _SOLICITED, SRDMA_MSG_DRAIN; the poster
 *	writes them
 * @lost: READ, atomic, FLUSH: the response, or a part of it, is lost and to be
 *	asked for again
 * @cut: READ: what follows @high is lost as well
 * @part: READ: each of its requests asks for so many packets, an exponent of 2;
 *	SRDMA_MSG_WHOLE if one asks for all
 * @from: READ: those do so from this packet on; what is in front has come
 * @parts: READ: parts of it were asked for, so an answer may end inside it
 * @passed: READ, atomic, FLUSH: a response came that proves its own to be lost,
 *	unless the network changes the order
 * @answered: READ, atomic, FLUSH: the whole response is in place; local
 *	operation: it was executed
 *
 * Memory of the caller, at base + (index & mask) * stride of the requester.
 * The poster zeroes it and fills its members in before
 * srdma_rc_req_push(); from then on the core writes it until retired.
 */
struct srdma_rc_msg {
	u32 len;
	u32 psn;
	u32 npsn;
	u32 ssn;
	u32 done;
	u32 high;
	u32 asked;
	u32 far;
	u32 guard;
	u32 from;
	u8 op;
	u8 flags;
	bool lost;
	bool cut;
	u8 part;
	bool parts;
	bool passed;
	bool answered;
};

/* What the requester is allowed to do; set by the caller. */
enum srdma_req_mode {
	SRDMA_REQ_RUN,		/* RTS */
	SRDMA_REQ_DRAIN,	/* SQD: finish what is begun, begin nothing */
	SRDMA_REQ_ERROR,	/* everything not complete is flushed */
};

/* What to do next, or why nothing can be done. */
enum srdma_req_next {
	SRDMA_NEXT_SEND,	/* send the burst */
	SRDMA_NEXT_LOCAL,	/* execute the local operation of the burst */
	SRDMA_NEXT_EMPTY,	/* nothing posted that is not sent */
	SRDMA_NEXT_WINDOW,	/* enough PSNs in flight */
	SRDMA_NEXT_CREDIT,	/* the receiver has no receive WQE for it */
	SRDMA_NEXT_RD_ATOMIC,	/* as many READs and atomics as agreed */
	SRDMA_NEXT_FENCE,	/* fenced behind a READ or atomic */
	SRDMA_NEXT_ORDER,	/* SRDMA_MSG_DRAIN: something is incomplete */
	SRDMA_NEXT_RNR,		/* receiver not ready: waiting as told, or for
				 * the message that it refused
				 */
	SRDMA_NEXT_PACE,	/* congestion: until the deadline */
	SRDMA_NEXT_SQD,		/* drained: no new message may be begun */
	SRDMA_NEXT_FAILING,	/* a failed message waits for earlier ones */
	SRDMA_NEXT_ERROR,	/* in error: only srdma_rc_req_retire() */
	SRDMA_NEXT_NR,
};

/* What a response packet was. Each of the drops has a counter. */
enum srdma_req_resp {
	SRDMA_REQ_ACK,		/* acknowledge; some may be complete now */
	SRDMA_REQ_SACK,		/* the same, and some are to be repeated */
	SRDMA_REQ_PLACE,	/* place the payload as the act says */
	SRDMA_REQ_ATOMIC,	/* place the 8 bytes of act->orig */
	SRDMA_REQ_RETRY,	/* sequence NAK: going back, next() knows */
	SRDMA_REQ_RNR_WAIT,	/* RNR NAK: waiting as told */
	SRDMA_REQ_FAILED,	/* now in error: retire() tells which and why */
	SRDMA_REQ_DROP_GHOST,	/* PSN is not outstanding */
	SRDMA_REQ_DROP_DUP,	/* answered before */
	SRDMA_REQ_DROP_GAP,	/* READ response too far behind a hole */
	SRDMA_REQ_DROP_KIND,	/* does not fit the request of that PSN */
	SRDMA_REQ_DROP_ERROR,	/* in error already */
	SRDMA_REQ_RESP_NR,
};

/* What srdma_rc_req_timeout() found. */
enum srdma_req_timer {
	SRDMA_TIMER_EARLY,	/* not yet: arm for req->deadline */
	SRDMA_TIMER_RNR,	/* the RNR wait is over: call next() */
	SRDMA_TIMER_PACE,	/* the next packets may go: call next() */
	SRDMA_TIMER_LATE,	/* what was late is lost: next() asks again */
	SRDMA_TIMER_PROBE,	/* nothing heard: next() gives a probe */
	SRDMA_TIMER_RETRY,	/* ACK timeout: next() sends again */
	SRDMA_TIMER_FAILED,	/* retries used up: now in error */
	SRDMA_TIMER_NR,
};

/**
 * struct srdma_rc_slow - how a requester sends while there is congestion
 * @win: packets in flight, of SRDMA_SLOW_PACKET each, maybe less than one; 0: it is
 *	not
 * @acked: packets that became complete in the present period
 * @calm: periods without a notification, in a row
 * @end_psn: the period ends when all before this is complete
 * @is_cut: @win was cut for what was sent before @end_psn
 * @row: round trips in a row that were too long, up to a few
 * @next_at: when the next packet may go, ns
 * @pace_at: what is next waits until then; 0: nothing does
 */
struct srdma_rc_slow {
	u32 win;
	u32 acked;
	u32 calm;
	u32 end_psn;
	bool is_cut;
	u8 row;
	u64 next_at;
	u64 pace_at;
};

#define SRDMA_SLOW_PACKET	256u

/**
 * struct srdma_rc_delay - what a requester knows of a queue that does not mark
 * @top_ns: the longest round trip since the last loss; 0: none was measured
 * @full_ns: how long one is when the queue is full, or may be; 0: none has overflowed
 * @holds: packets that a long path has room for, beside its queue, as the last round trips
 *	say, smoothed; 0 of a short one
 * @more_ns: how much of @full_ns no round trip has shown
 */
struct srdma_rc_delay {
	u64 top_ns;
	u64 full_ns;
	u32 holds;
	u32 more_ns;
};

/**
 * struct srdma_rc_burst - what srdma_rc_req_next() wants done
 * @b: the packets; not for SRDMA_NEXT_LOCAL
 * @idx: index of the message (not masked)
 * @msg: the message
 * @probe: an old packet sent to make the peer speak
 * @again: the peer has reported that it lacks this
 */
struct srdma_rc_burst {
	struct srdma_burst b;
	u32 idx;
	struct srdma_rc_msg *msg;
	bool probe;
	bool again;
};

/**
 * struct srdma_rc_req_act - what a response asks of the caller
 * @idx: index of the message (not masked)
 * @offset: SRDMA_REQ_PLACE: where in the message the payload goes, bytes
 * @len: SRDMA_REQ_PLACE: payload bytes
 * @orig: SRDMA_REQ_ATOMIC: what the remote word held
 * @psn: of the response
 */
struct srdma_rc_req_act {
	u32 idx;
	u32 offset;
	u32 len;
	u32 psn;
	u64 orig;
};

/**
 * struct srdma_rc_done - a message that left the queue
 * @idx: its index (not masked)
 * @status: how it ended
 */
struct srdma_rc_done {
	u32 idx;
	enum srdma_status status;
};

/**
 * struct srdma_rc_req_attr - what modify_qp decides
 * @psn: first PSN to send (srdma_rc_req_init() only)
 * @mtu: path MTU, bytes, a power of two 256 .. 4096 (init only)
 * @max_inflight: most bytes outstanding, 0 for no limit
 * @near_inflight: the same while no round trip has been long, 0 for
 *	@max_inflight (init only)
 * @start_inflight: the same for the first round trip, doubled by each that
 *	loses nothing; 0 for @max_inflight (init only)
 * @first_inflight: most bytes outstanding until the peer has answered anything,
 *	0 for no limit of its own (init only)
 * @max_rd_atomic: READs and atomics outstanding, at least 1 to send any
 * @retry_cnt: transport retries, 0 .. 7; 7 is seven
 * @rnr_retry: RNR retries, 0 .. 7; 7 is without end
 * @timeout: local ACK timeout, 4.096 us * 2^timeout, 0 for none
 * @settles: the caller calls srdma_rc_req_settle() (init only)
 */
struct srdma_rc_req_attr {
	u32 psn;
	u32 mtu;
	u32 max_inflight;
	u32 near_inflight;
	u32 start_inflight;
	u32 first_inflight;
	u8 max_rd_atomic;
	u8 retry_cnt;
	u8 rnr_retry;
	u8 timeout;
	bool settles;
};

/**
 * struct srdma_rc_req - requester state of one RC QP
 * @base: struct srdma_rc_msg of index 0; the caller's memory
 * @stride: bytes from one message to the next
 * @mask: ring size - 1, a power of two less one
 * @head: index behind the last posted message
 * @tail: oldest message that was not retired
 * @una: oldest message that is not complete; tail <= una <= cur <= fresh
 * @cur: message to be sent next, going back when something is lost
 * @fresh: oldest message of which no packet has been sent yet
 * @cur_psn: PSN to be sent next
 * @una_psn: oldest PSN that is not complete
 * @max_psn: behind the newest PSN ever sent
 * @ack_psn: behind the newest PSN that the peer has executed
 * @resend_psn: while cur_psn is before this, messages the peer has done are
 *	passed over and others sent again; beyond, it jumps to max_psn
 * @resend_all: meanwhile READs that may still be answered are asked for again
 *	as well, not only those known to be lost
 * @asks: READs and atomics, or parts, that were asked for again, modulo 256
 * @ssn: send sequence number of the last started message
 * @lsn: with @limited: newest SSN that has a credit (9.7.7.2)
 * @rd_out: requests for READs, atomics and FLUSHes in [una, fresh)
 * @unasked: packets sent since the last one that asked for an acknowledge
 * @mode: enum srdma_req_mode
 * @limited: the peer sends credits
 * @failing: @fail_idx is to fail when everything before it is complete
 * @failed: @fail_idx failed with @fail_status, the rest is flushed
 * @fail_idx: message that failed
 * @fail_status: enum srdma_status of it
 * @mtu_shift: log2 of the path MTU
 * @max_rd_atomic: see struct srdma_rc_req_attr
 * @retry_cnt: see struct srdma_rc_req_attr
 * @rnr_retry: see struct srdma_rc_req_attr
 * @retry_left: transport retries left before the next progress
 * @rnr_left: RNR retries left before the next progress
 * @rnr_row: RNR NAKs since the last progress, as far as they are counted
 * @rnr_open: messages, complete ones aside, that may be sent since the last RNR
 *	NAK; 0 for any
 * @probes: probes sent since the last progress
 * @backoff: probes beyond the first that it took to make progress, and firsts
 *	in a row, since a round trip was measured
 * @probed: it took a probe to make progress, since a round trip was measured
 * @probe_due: next() is to send the oldest incomplete packet once
 * @probe_out: @probe_psn has been sent and not been answered
 * @probe_psn: PSN of the last probe
 * @nak_psn: PSN of the last sequence NAK acted upon
 * @nak_again: that came once more after all was sent again: a copy, or the peer
 *	still wants it
 * @news: new data came since the last timeout, if not of the oldest packet
 * @rtt_probe: what is timed (@rtt_timed) is a probe
 * @win_max: most packets in flight, ever
 * @win_near: and on a path whose round trips are short
 * @win_top: and on this one, as far as it is known: win_near .. win_max
 * @cwnd: packets in flight allowed at present, 1 .. win_top
 * @win_first: most packets in flight as long as not @heard
 * @ssthresh: window below which @cwnd grows fast, packets
 * @acked_frac: packets acknowledged since @cwnd last grew by one
 * @recover_psn: what was in flight at the last loss: others in front of it
 *	have been paid for in @cwnd, unless all of it is sent again
 * @recovering: @recover_psn is valid
 * @cwnd_floor: losses leave a window of so many packets, 1 .. CWND_FLOOR_MOST
 * @rtt_resend: what is sent again may be measured: the peer dropped the
 *	first copies
 * @rtt_guessed: @srtt_ns is not measured, but was no less than the first one
 * @rtt_alone: @srtt_ns is of a packet that went alone, until the next one is measured
 * @rtt_timed: a round trip is being measured
 * @rtt_again: by what was sent again: should the first copy only have been late, it
 *	is longer than it seems
 * @reorders: how much shows that packets overtake each other here; losses that are some
 *	show the opposite
 * @rtt_psn: its PSN
 * @rtt_through: what had got through when that was sent
 * @rtt_at: when that was sent, ns
 * @srtt_ns: smoothed round trip, 0 before the first measurement
 * @rttvar_ns: its mean deviation
 * @rtt_min_ns: the shortest one measured, 0 before the first
 * @timeout_ns: when a retry is spent after nothing was heard, 0 for never
 * @timeout: see struct srdma_rc_req_attr
 * @heard: the peer has answered something of this connection
 * @anew: its answer to a part of a READ began anew
 * @mend: memory for what is noted about losses, zeroed, which the caller gives at the
 *	first one (srdma_rc_req_lacks_mend()); without it no data is kept behind a hole,
 *	and the peer is not told that this end knows selective acknowledges
 * @kept_count: READ responses in place behind a hole
 * @ahead: responses of READs and atomics in place, up to the first hole of each, of
 *	messages behind the oldest
 * @cwnd_before: the window before the last loss, until it turns out to be none; or 0
 * @late: quarters of a round trip that a response may come late by; 0 as long as
 *	none has
 * @late_at: when what is late is taken for lost, ns; 0 for nothing
 * @late_psn: that is in front of this
 * @asked_psn: first PSN of the READ or atomic that was last asked for again
 * @asked_end: behind its last one; @asked_psn if that was needed
 * @asked_to: behind the last packet that was asked for of it
 * @asked_first: packets of answers asked for, of late
 * @asked_again: and those asked for again
 * @overfills: most of an answer was lost, and some of those since
 * @settles: see struct srdma_rc_req_attr
 * @unlooked: something was sent that @deadline does not know of
 * @trails: more has come of the READ @una than @una_psn says: only with @settles
 * @lag: so many messages from @una on are complete, and @una has not moved over them:
 *	only with @settles
 * @again_out: the oldest of what the peer has reported to be missing
 * @again_count: number of these
 * @stamp: number of the last report; 0 as long as the peer is not known to hold
 *	anything back
 * @held: packets that it holds behind a hole, by its last acknowledge, as far as
 *	they open the window again
 * @held_all: all of these
 * @heard_at: last progress, or when the first of now outstanding went, ns
 * @back_at: when it last went back, ns
 * @rnr_until: end of the RNR wait, 0 when there is none
 * @probe_at: when the next probe is due, 0 for none
 * @slow: how to send while there is congestion
 * @delay: what round trips say of it
 * @deadline: when srdma_rc_req_timeout() is to be called, 0 for never
 */
struct srdma_rc_req {
	void *base;
	u32 stride;
	u32 mask;

	u32 head;
	u32 tail;
	u32 una;
	u32 cur;
	u32 fresh;

	u32 cur_psn;
	u32 una_psn;
	u32 max_psn;
	u32 ack_psn;
	u32 resend_psn;
	bool resend_all;
	u8 asks;

	u32 ssn;
	u32 lsn;
	u32 rd_out;
	u32 unasked;

	u8 mode;
	bool limited;
	bool failing;
	bool failed;
	u32 fail_idx;
	u8 fail_status;

	u8 mtu_shift;
	u8 max_rd_atomic;
	u8 retry_cnt;
	u8 rnr_retry;
	u8 retry_left;
	u8 rnr_left;
	u8 rnr_row;
	u32 rnr_open;

	u8 probes;
	u8 backoff;
	bool probed;
	bool probe_due;
	bool probe_out;
	bool nak_again;
	bool news;
	bool rtt_probe;
	u32 probe_psn;
	u32 nak_psn;

	u32 win_max;
	u32 win_near;
	u32 win_top;
	u32 cwnd;
	u32 win_first;
	u32 ssthresh;
	u32 acked_frac;
	u32 recover_psn;
	bool recovering;
	u8 cwnd_floor;

	bool rtt_resend;
	bool rtt_guessed;
	bool rtt_alone;
	bool rtt_timed;
	bool rtt_again;
	u8 reorders;
	u32 rtt_psn;
	u32 rtt_through;
	u64 rtt_at;
	u64 srtt_ns;
	u64 rttvar_ns;
	u64 rtt_min_ns;

	u8 timeout;
	bool heard;
	bool anew;
	u8 late;
	u32 kept_count;
	u32 ahead;
	u32 cwnd_before;
	struct srdma_rc_req_mend *mend;
	u64 late_at;
	u32 late_psn;
	u32 asked_psn;
	u32 asked_end;
	u32 asked_to;
	u32 asked_first;
	u32 asked_again;
	u32 again_out;
	u32 again_count;
	u32 held;
	u32 held_all;
	bool overfills;
	u8 stamp;
	bool settles;
	bool unlooked;
	bool trails;
	u32 lag;
	u64 timeout_ns;
	u64 heard_at;
	u64 back_at;
	u64 rnr_until;
	u64 probe_at;
	struct srdma_rc_slow slow;
	struct srdma_rc_delay delay;
	u64 deadline;
};

/* Message at @idx; any u32 is a legal index. */
static inline struct srdma_rc_msg *
srdma_rc_req_msg(const struct srdma_rc_req *req, u32 idx)
{
	return req->base + (size_t)(idx & req->mask) * req->stride;
}

/**
 * srdma_rc_req_init() - an empty requester in mode SRDMA_REQ_RUN
 * @req: all of it is overwritten
 * @attr: connection parameters
 * @base: the messages' memory
 * @stride: bytes from one message to the next
 * @mask: messages - 1; their number is a power of two
 */
void srdma_rc_req_init(struct srdma_rc_req *req,
		       const struct srdma_rc_req_attr *attr,
		       void *base, u32 stride, u32 mask);

/* Take over the limits of @attr that may change while connected. */
void srdma_rc_req_update(struct srdma_rc_req *req,
			 const struct srdma_rc_req_attr *attr);

/* The messages were copied to @base, where there is room for @mask + 1. */
static inline void srdma_rc_req_move(struct srdma_rc_req *req, void *base,
				     u32 mask)
{
	req->base = base;
	req->mask = mask;
}

/* Has the ring no free message? */
static inline bool srdma_rc_req_full(const struct srdma_rc_req *req)
{
	return req->head - req->tail > req->mask;
}

/*
 * The message at req->head is filled in. In error mode it is flushed by
 * srdma_rc_req_retire().
 */
static inline void srdma_rc_req_push(struct srdma_rc_req *req)
{
	req->head++;
}

/* Has all that was posted been sent? Then next() would say EMPTY. */
static inline bool srdma_rc_req_all_sent(const struct srdma_rc_req *req)
{
	return req->cur == req->head && req->cur_psn == req->max_psn &&
	       !req->probe_due && !req->again_count && !req->failing &&
	       req->mode != SRDMA_REQ_ERROR;
}

/* Packets of which nobody has said yet that they, or what they asked for, have come. */
static inline u32 srdma_rc_req_unanswered(const struct srdma_rc_req *req)
{
	return srdma_psn_dist(req->una_psn, req->max_psn);
}

/**
 * srdma_rc_req_next() - what to send now
 * @req: requester
 * @now: time, ns
 * @limit: most packets and bytes in the burst
 * @out: filled in for SRDMA_NEXT_SEND and SRDMA_NEXT_LOCAL
 *
 * Nothing counts as sent before srdma_rc_req_sent(). A caller that cannot
 * send (no room, no memory) simply asks again later; one that may not (a
 * local key or range is wrong) calls srdma_rc_req_fail().
 */
enum srdma_req_next srdma_rc_req_next(struct srdma_rc_req *req, u64 now,
				      const struct srdma_burst_limit *limit,
				      struct srdma_rc_burst *out);

/* The burst of the last srdma_rc_req_next() is on its way. */
void srdma_rc_req_sent(struct srdma_rc_req *req,
		       const struct srdma_rc_burst *burst, u64 now);

/* The local operation of the last SRDMA_NEXT_LOCAL was executed. */
void srdma_rc_req_local_done(struct srdma_rc_req *req,
			     const struct srdma_rc_burst *burst);

/**
 * srdma_rc_req_fail() - a message cannot be sent, or its response not placed
 * @req: requester
 * @idx: index of the message (not masked)
 * @status: what its completion shall say
 *
 * No packet of it or of any later message is sent from now on. Earlier
 * messages still get the chance to complete; then @idx fails with @status
 * and the later ones are flushed.
 */
void srdma_rc_req_fail(struct srdma_rc_req *req, u32 idx,
		       enum srdma_status status);

/* The QP goes to the error state: flush all that is not complete. */
void srdma_rc_req_abort(struct srdma_rc_req *req);

/* SQD is requested, or left again for RTS. Not from error mode. */
void srdma_rc_req_drain(struct srdma_rc_req *req, bool drain);

/* In SQD: is every begun message complete? (Event SQ_DRAINED.) */
bool srdma_rc_req_drained(const struct srdma_rc_req *req);

/*
 * Is @pkt the next part of the response to a READ? Then, and only then,
 * packets that continue it may be added (run.h) before srdma_rc_req_response().
 */
bool srdma_rc_req_expects(const struct srdma_rc_req *req,
			  const struct srdma_pkt *pkt);

/* Is @pkt, which is not expected, a sign of a loss, and no memory there for that? */
static inline bool srdma_rc_req_lacks_mend(const struct srdma_rc_req *req,
					   const struct srdma_pkt *pkt)
{
	return !req->mend &&
	       (pkt->stamp || pkt->op->flags & SRDMA_OP_READ_RESP);
}

/**
 * srdma_rc_req_response() - a response packet came
 * @req: requester
 * @pkt: ACK, ATOMIC ACK or READ response, any form; a packet or a run
 * @now: time, ns
 * @act: filled in for SRDMA_REQ_PLACE and SRDMA_REQ_ATOMIC
 *
 * For these two the response counts only when srdma_rc_req_placed() is
 * called, or the message fails with srdma_rc_req_fail().
 */
enum srdma_req_resp srdma_rc_req_response(struct srdma_rc_req *req,
					  const struct srdma_pkt *pkt, u64 now,
					  struct srdma_rc_req_act *act);

/* What srdma_rc_req_response() asked for is in memory. */
void srdma_rc_req_placed(struct srdma_rc_req *req,
			 const struct srdma_rc_req_act *act, u64 now);

/* For srdma_rc_req_settle(): there is something to be done. */
void srdma_rc_req_settle_now(struct srdma_rc_req *req, u64 now);

/**
 * srdma_rc_req_settle() - do once what many responses, or bursts, ask for
 * @req: requester with attr.settles
 * @now: time, ns
 *
 * To be called behind srdma_rc_req_placed() before anything but srdma_rc_req_response()
 * is, and behind srdma_rc_req_sent() before req->deadline is looked at.
 */
static inline void srdma_rc_req_settle(struct srdma_rc_req *req, u64 now)
{
	if (req->lag || req->trails || req->unlooked)
		srdma_rc_req_settle_now(req, now);
}

/*
 * A notification came that packets of this requester, or READ data for it, meet
 * congestion: send more slowly. There are no more than one in SRDMA_CNP_APART_NS.
 */
void srdma_rc_req_congested(struct srdma_rc_req *req);

/* req->deadline may have passed; returns what to do about it. */
enum srdma_req_timer srdma_rc_req_timeout(struct srdma_rc_req *req, u64 now);

/* May srdma_rc_req_retire() return true? */
static inline bool srdma_rc_req_may_retire(const struct srdma_rc_req *req)
{
	return req->tail != req->una || req->mode == SRDMA_REQ_ERROR;
}

/*
 * Takes the oldest message off the queue if it is complete, failed or to be
 * flushed. False: there is none. When a status other than OK comes out, the
 * requester is in error, and so must be the QP.
 */
bool srdma_rc_req_retire(struct srdma_rc_req *req, struct srdma_rc_done *done);

#endif
