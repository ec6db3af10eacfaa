/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The responder of a reliable connection: whether a request is expected, a
 * duplicate, out of sequence or invalid, what is to be done for it, and
 * which response goes out next. It decides only: memory, keys and receive
 * WQEs are the caller's, who calls from one context at a time.
 *
 * The order of calls, for all packets that are there:
 *
 *   srdma_rc_resp_request()	what a request packet asks for
 *   srdma_rc_resp_commit()	it was done: its effects count from now on, or
 *   srdma_rc_resp_fail()	it could not be done: nothing counts, NAK
 *
 * and then, until it returns SRDMA_OUT_NONE:
 *
 *   srdma_rc_resp_next()	the next response to send, in PSN order
 *   srdma_rc_resp_sent()	it is on its way
 *
 * so that one acknowledge answers all packets of one run.
 *
 * A caller that can hold requests back asks srdma_rc_resp_wants() of one that is not
 * expected, and calls srdma_rc_resp_hold() when it has put it aside. For that, and for
 * parts of a READ, there is to be memory (srdma_rc_resp.mend). It gives those
 * that have become expected before any other, and when a run ends while
 * srdma_rc_resp_waits(), calls srdma_rc_resp_report().
 */
#ifndef SRDMA_PROTO_RC_RESP_H
#define SRDMA_PROTO_RC_RESP_H

#include <linux/limits.h>
#include <linux/types.h>

#include "aeth.h"
#include "burst.h"
#include "opcode.h"
#include "packet.h"
#include "psn.h"

/* Credit argument: no end-to-end flow control (SRQ, or not wanted). */
#define SRDMA_RESP_NO_CREDITS	U32_MAX

/* What a request packet asks for. */
enum srdma_resp_verdict {
	/* To be executed, then srdma_rc_resp_commit() or _fail(). */
	SRDMA_RESP_SEND,	/* payload into the receive WQE */
	SRDMA_RESP_WRITE,	/* payload to act->va */
	SRDMA_RESP_READ,	/* check the range; next() sends the data */
	SRDMA_RESP_ATOMIC,	/* CmpSwap or FetchAdd, result to act->orig */
	SRDMA_RESP_ATOMIC_WRITE, /* the 8 payload bytes to act->va */
	SRDMA_RESP_FLUSH,	/* make the range visible or persistent */
	SRDMA_RESP_DUP_READ,	/* as READ; a failed check only drops it */
	/* Done with. */
	SRDMA_RESP_DUP,		/* duplicate: next() answers it again */
	SRDMA_RESP_NAK_INV_REQ,	/* invalid: NAK is due, QP must go to error */
	SRDMA_RESP_DROP_GAP,	/* out of sequence; NAK if the first of a gap */
	SRDMA_RESP_DROP_OLD,	/* duplicate whose answer is not kept */
	SRDMA_RESP_DROP_RANGE,	/* duplicate that asks for other data */
	SRDMA_RESP_DROP_ERROR,	/* a fatal NAK was sent or is due */
	SRDMA_RESP_NR,
};

/* Why a request could not be executed. */
enum srdma_resp_why {
	SRDMA_WHY_NO_RWQE,	/* no receive WQE: RNR NAK, comes again */
	SRDMA_WHY_INV_REQ,	/* fatal: NAK invalid request */
	SRDMA_WHY_ACCESS,	/* fatal: NAK remote access error */
	SRDMA_WHY_OP,		/* fatal: NAK remote operational error */
};

/* srdma_rc_resp_act.flags */
#define SRDMA_ACT_START		BIT(0)	/* first packet of its message */
#define SRDMA_ACT_END		BIT(1)	/* last packet of its message */
#define SRDMA_ACT_RWQE		BIT(2)	/* take a receive WQE before executing */
#define SRDMA_ACT_COMP		BIT(3)	/* complete the receive WQE afterwards */
#define SRDMA_ACT_SE		BIT(4)	/* that completion is solicited */
#define SRDMA_ACT_DUP		BIT(5)	/* repeated, for the core */

/**
 * struct srdma_rc_resp_act - what to execute for one request packet
 * @flags: SRDMA_ACT_*
 * @psn: of the packet
 * @offset: where in the message the payload begins, bytes
 * @len: payload bytes; READ, FLUSH: bytes asked for
 * @total: START of a WRITE: bytes of the whole message; else as @len. END:
 *	bytes of the whole message (byte_len of the completion)
 * @rkey: key of @va
 * @va: remote address of this packet's first byte
 * @orig: ATOMIC: the caller writes what the word held
 * @res: slot of the response, for the core
 *
 * At START of a WRITE the caller checks @va .. @va + @total against @rkey
 * once for the whole message. Immediate data, the key to invalidate, atomic
 * operands and flush type are in the packet.
 */
struct srdma_rc_resp_act {
	u32 flags;
	u32 psn;
	u32 offset;
	u32 len;
	u32 total;
	u32 rkey;
	u64 va;
	u64 orig;
	u32 res;
};

/**
 * struct srdma_rc_res - response kept for one READ, atomic or FLUSH
 * @psn: first PSN of the request
 * @npsn: PSNs it occupies; 0: the slot was never used
 * @va: READ: address of the first byte
 * @orig: atomic: what the word held
 * @rkey: READ: its key
 * @len: READ: bytes; 0 for others
 * @start_psn: first PSN of the answer being given
 * @cur_psn: next PSN of it
 * @end_psn: behind its last PSN
 * @end_cut: bytes that its last packet is to lack: a part may end inside a packet
 * @opcode: of the request
 * @sent_psn: behind the last PSN that was ever sent of it: what is pending in
 *	front of that is a repetition
 * @pending: the answer is not sent completely
 *
 * Memory of the caller; the core writes it.
 */
struct srdma_rc_res {
	u32 psn;
	u32 npsn;
	u64 va;
	u64 orig;
	u32 rkey;
	u32 len;
	u32 start_psn;
	u32 cur_psn;
	u32 end_psn;
	u32 sent_psn;
	u16 end_cut;
	u8 opcode;
	bool pending;
};

/* Parts of READs that may wait for being sent again; more are not heard. */
#define SRDMA_RESP_PARTS	16u

/**
 * struct srdma_rc_part - a part of a READ response to be sent once more
 * @slot: of the response
 * @end_cut: bytes that its last packet is to lack
 * @start_psn: first PSN of the part
 * @cur_psn: next PSN of it
 * @end_psn: behind its last PSN
 */
struct srdma_rc_part {
	u16 slot;
	u16 end_cut;
	u32 start_psn;
	u32 cur_psn;
	u32 end_psn;
};

/* Holes in what has come; a packet that would make one more is not held. */
#define SRDMA_RESP_HOLES	128u

/**
 * struct srdma_rc_hole - PSNs that have not come, in front of some that have
 * @psn: the first
 * @end: behind the last
 * @since: when it was seen, ns; 0: just now
 * @due: since then, time enough has passed to report it
 * @number: of the report about it; 0 if there was none, or in vain
 */
struct srdma_rc_hole {
	u32 psn;
	u32 end;
	u64 since;
	bool due;
	u8 number;
};

/**
 * struct srdma_rc_resp_mend - what a responder notes about losses
 * @parts: ring of parts to be sent, too; mostly in front of those that are due
 * @holes: what is missing, in order, if anything behind it is held
 */
struct srdma_rc_resp_mend {
	struct srdma_rc_part parts[SRDMA_RESP_PARTS];
	struct srdma_rc_hole holes[SRDMA_RESP_HOLES];
};

/* Which response is to be sent next. */
enum srdma_resp_out {
	SRDMA_OUT_NONE,		/* nothing */
	SRDMA_OUT_ACK,		/* ACK, NAK or RNR NAK: @syndrome says it */
	SRDMA_OUT_READ,		/* READ responses; none carry data if b.len is 0 */
	SRDMA_OUT_ATOMIC,	/* ATOMIC ACK with @orig */
	SRDMA_OUT_SACK,		/* the same, but srdma_rc_resp_fill_sack() says all */
};

/**
 * struct srdma_rc_resp_burst - a response to send
 * @b: PSNs, opcodes and lengths; count is 1 but for READ responses
 * @va: READ: address of the first payload byte of the burst
 * @orig: ATOMIC ACK: result
 * @rkey: READ: key of @va
 * @msn: for the AETH
 * @syndrome: for the AETH
 * @fatal: a fatal NAK: the QP goes to the error state when it is sent
 * @is_part: of the oldest part that waits, for the core
 * @res: slot of the response, for the core
 */
struct srdma_rc_resp_burst {
	struct srdma_burst b;
	u64 va;
	u64 orig;
	u32 rkey;
	u32 msn;
	u8 syndrome;
	bool fatal;
	bool is_part;
	u32 res;
};

/**
 * struct srdma_rc_resp_attr - what modify_qp decides
 * @psn: first PSN to be expected (srdma_rc_resp_init() only)
 * @mtu: path MTU, bytes, a power of two 256 .. 4096 (init only)
 * @min_rnr_timer: 5-bit code of the wait asked for in an RNR NAK
 */
struct srdma_rc_resp_attr {
	u32 psn;
	u32 mtu;
	u8 min_rnr_timer;
};

/**
 * struct srdma_rc_resp - responder state of one RC QP
 * @res: ring of kept responses; the caller's memory
 * @nres: slots, the agreed max_dest_rd_atomic; 0: READs and atomics refused
 * @res_head: slot of the next READ or atomic
 * @res_out: slot of the oldest one that has an answer pending
 * @res_pending: slots with an answer pending
 * @mend: memory for what is noted about losses, which the caller gives at the first
 *	one; without it nothing is held, and one part at a time is sent again
 * @part_out: the oldest part to be sent again
 * @part_count: their number
 * @epsn: expected PSN
 * @ack_psn: PSN of the last SEND or WRITE packet executed
 * @msn: messages completed, 24 bits (9.7.7.1)
 * @gap_psn: with @gap: highest PSN seen behind the gap
 * @gap: a NAK was given for @epsn; no other until it comes, or until the
 *	requester is seen to have gone back without it coming
 * @told_rnr: that NAK was RNR: no other at all until @epsn comes
 * @hole_count: what is missing, if anything behind @epsn is held: number of holes
 * @held_end: behind the last PSN that is held
 * @waits: srdma_rc_resp_report() is to be called
 * @hold_ns: how long a hole is left alone
 * @asked: @asked_psn was, and has not come twice since
 * @asked_psn: PSN of the last NAK for a hole
 * @back_end: @held_end at that time: up to there, all is sent again
 * @asked_since: when that hole was seen, ns
 * @late_ns: how much later the packet came; 0 before it has
 * @sacks: the requester knows selective acknowledges
 * @number: of the last report
 * @late_due: @late_psn is to be told of in the next selective acknowledge
 * @late_psn: a packet that was reported, and had only been late
 * @late_since: when a hole was seen whose report was not needed, ns; 0 for none
 * @in: SRDMA_OP_SEND or SRDMA_OP_WRITE inside such a message, else 0
 * @offset: bytes of the message received
 * @left: WRITE: bytes still to come
 * @va: WRITE: where the next byte goes
 * @rkey: WRITE: key of @va
 * @mtu: path MTU, bytes
 * @mtu_shift: log2 of it
 * @min_rnr_timer: see struct srdma_rc_resp_attr
 * @ack_due: an acknowledge up to @ack_psn is to be sent
 * @nak_due: a NAK with @nak_syndrome is to be sent
 * @nak_syndrome: ACK syndrome of that NAK
 * @nak_psn: PSN of that NAK
 * @dead: fatal NAK due or sent: no request is executed any more
 */
struct srdma_rc_resp {
	struct srdma_rc_res *res;
	u32 nres;
	u32 res_head;
	u32 res_out;
	u32 res_pending;
	struct srdma_rc_resp_mend *mend;
	u32 part_out;
	u32 part_count;

	u32 epsn;
	u32 ack_psn;
	u32 msn;
	u32 gap_psn;
	bool gap;
	bool told_rnr;

	bool waits;
	bool asked;
	u32 asked_psn;
	u32 back_end;
	u32 late_psn;
	u64 asked_since;
	u32 late_ns;
	bool sacks;
	u8 number;
	bool late_due;
	u64 late_since;
	u32 hold_ns;
	u32 held_end;
	u32 hole_count;

	u32 in;
	u32 offset;
	u32 left;
	u32 rkey;
	u64 va;

	u32 mtu;
	u8 mtu_shift;
	u8 min_rnr_timer;

	bool ack_due;
	bool nak_due;
	u8 nak_syndrome;
	bool dead;
	u32 nak_psn;
};

/**
 * srdma_rc_resp_init() - a responder that expects @attr->psn
 * @resp: all of it is overwritten
 * @attr: connection parameters
 * @res: memory for @nres kept responses; zeroed here
 * @nres: max_dest_rd_atomic
 */
void srdma_rc_resp_init(struct srdma_rc_resp *resp,
			const struct srdma_rc_resp_attr *attr,
			struct srdma_rc_res *res, u32 nres);

/* Another RNR timer code. */
void srdma_rc_resp_update(struct srdma_rc_resp *resp, u8 min_rnr_timer);

/**
 * srdma_rc_resp_request() - judge a request packet
 * @resp: responder
 * @pkt: any RC request opcode, and nothing else; a packet or a run
 * @act: filled in for the verdicts that are to be executed
 */
enum srdma_resp_verdict srdma_rc_resp_request(struct srdma_rc_resp *resp,
					      const struct srdma_pkt *pkt,
					      struct srdma_rc_resp_act *act);

/* What srdma_rc_resp_request() asked for was done. */
void srdma_rc_resp_commit(struct srdma_rc_resp *resp,
			  const struct srdma_pkt *pkt,
			  const struct srdma_rc_resp_act *act);

/*
 * It could not be done. Unless @why is SRDMA_WHY_NO_RWQE or the packet a
 * duplicate, which is dropped, no request is executed from now on, and the
 * QP must go to the error state once the NAK is out.
 */
void srdma_rc_resp_fail(struct srdma_rc_resp *resp,
			const struct srdma_pkt *pkt,
			const struct srdma_rc_resp_act *act,
			enum srdma_resp_why why);

/*
 * Instead of srdma_rc_resp_request(): @pkt, which is expected, is answered with a NAK
 * of this syndrome, in its turn. Whatever it says, the QP goes on.
 */
void srdma_rc_resp_refuse(struct srdma_rc_resp *resp,
			  const struct srdma_pkt *pkt, u8 syndrome);

/*
 * Is @pkt the packet that is expected? Then, and only then, packets that
 * continue it may be added (run.h) before srdma_rc_resp_request().
 */
static inline bool srdma_rc_resp_expects(const struct srdma_rc_resp *resp,
					 const struct srdma_pkt *pkt)
{
	return pkt->psn == resp->epsn;
}

/*
 * Is @pkt, which is not expected, one to be held back until it is? Not if it is held
 * already. Otherwise give it to srdma_rc_resp_request(), which drops it.
 */
bool srdma_rc_resp_wants(const struct srdma_rc_resp *resp,
			 const struct srdma_pkt *pkt);

/* @pkt, of which the core wants that, is held back. Not without srdma_rc_resp.mend. */
void srdma_rc_resp_hold(struct srdma_rc_resp *resp,
			const struct srdma_pkt *pkt);

/* Is anything missing in front of what is held? If not, nothing is to be held. */
static inline bool srdma_rc_resp_holds(const struct srdma_rc_resp *resp)
{
	return resp->hole_count;
}

/* What was held is not any more: it was given up. */
void srdma_rc_resp_forget(struct srdma_rc_resp *resp);

/* Is srdma_rc_resp_report() to be called? */
static inline bool srdma_rc_resp_waits(const struct srdma_rc_resp *resp)
{
	return resp->waits;
}

/**
 * srdma_rc_resp_report() - something is missing, or has come
 * @resp: responder
 * @now: the time, ns
 *
 * Return: when to call again, unless it is called before; 0 for never.
 */
u64 srdma_rc_resp_report(struct srdma_rc_resp *resp, u64 now);

/* Is any response to be sent? */
static inline bool srdma_rc_resp_due(const struct srdma_rc_resp *resp)
{
	return resp->ack_due || resp->nak_due || resp->res_pending ||
	       resp->part_count;
}

/*
 * Is it an acknowledge, behind whole messages, that says nothing else? Only then may the
 * caller send it later than srdma_rc_resp_sent().
 */
static inline bool srdma_rc_resp_only_acks(const struct srdma_rc_resp *resp)
{
	return resp->ack_due && !resp->nak_due && !resp->late_due &&
	       !resp->res_pending && !resp->part_count && !resp->hole_count &&
	       !resp->in;
}

/**
 * srdma_rc_resp_next() - the next response to send
 * @resp: responder
 * @limit: most packets and bytes in the burst
 * @credits: receive WQEs posted and free, or SRDMA_RESP_NO_CREDITS
 * @out: filled in unless the result is SRDMA_OUT_NONE
 *
 * Nothing counts as sent before srdma_rc_resp_sent(): ask again later when
 * there is no room. If the memory of a READ has become unreadable, call
 * srdma_rc_resp_read_fail() instead.
 */
enum srdma_resp_out srdma_rc_resp_next(struct srdma_rc_resp *resp,
				       const struct srdma_burst_limit *limit,
				       u32 credits,
				       struct srdma_rc_resp_burst *out);

/* Does @out end its answer, while another answer waits? */
static inline bool srdma_rc_resp_more(const struct srdma_rc_resp *resp,
				      const struct srdma_rc_resp_burst *out)
{
	u32 end = srdma_psn_add(out->b.psn, out->b.count);

	if (resp->part_count + resp->res_pending < 2)
		return false;
	return end == (out->is_part ? resp->mend->parts[resp->part_out].end_psn :
				      resp->res[out->res].end_psn);
}

/* SRDMA_OUT_SACK: what is missing, to @pkt; @b, which is an ACK, becomes that. */
void srdma_rc_resp_fill_sack(const struct srdma_rc_resp *resp,
			     struct srdma_pkt *pkt, struct srdma_burst *b);

/* The response of the last srdma_rc_resp_next() is on its way. */
void srdma_rc_resp_sent(struct srdma_rc_resp *resp,
			const struct srdma_rc_resp_burst *out);

/*
 * The data of the last SRDMA_OUT_READ cannot be read: NAK with @why. If it was
 * only a repetition, it is not sent, and nothing else happens.
 */
void srdma_rc_resp_read_fail(struct srdma_rc_resp *resp,
			     const struct srdma_rc_resp_burst *out,
			     enum srdma_resp_why why);

/*
 * Receive WQEs were posted to a queue that was nearly empty: an unsolicited
 * ACK tells the requester of the new credits (9.7.7.2).
 */
static inline void srdma_rc_resp_credit(struct srdma_rc_resp *resp)
{
	resp->ack_due = true;
}

#endif
