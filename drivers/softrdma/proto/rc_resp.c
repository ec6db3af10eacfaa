// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a request does to the responder. A request changes the state only when
 * it has been executed. Until then a RNR NAK or a second attempt finds the
 * state unchanged.
 */
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#include "aeth.h"
#include "opcode.h"
#include "packet.h"
#include "psn.h"
#include "rc_resp.h"
#include "rc_resp_priv.h"
#include "wire.h"

void srdma_rc_resp_init(struct srdma_rc_resp *resp,
			const struct srdma_rc_resp_attr *attr,
			struct srdma_rc_res *res, u32 nres)
{
	memset(resp, 0, sizeof(*resp));
	if (nres)
		memset(res, 0, nres * sizeof(*res));
	resp->res = res;
	resp->nres = nres;
	resp->epsn = attr->psn;
	resp->ack_psn = srdma_psn_sub(attr->psn, 1);
	resp->mtu = attr->mtu;
	resp->mtu_shift = ilog2(attr->mtu);
	resp->min_rnr_timer = attr->min_rnr_timer;
	srdma_resp_hold_init(resp);
}

void srdma_rc_resp_update(struct srdma_rc_resp *resp, u8 min_rnr_timer)
{
	resp->min_rnr_timer = min_rnr_timer;
}

void srdma_resp_nak(struct srdma_rc_resp *resp, u8 syndrome, u32 psn)
{
	resp->nak_due = true;
	resp->nak_syndrome = syndrome;
	resp->nak_psn = psn;
}

static void nak_fatal(struct srdma_rc_resp *resp, enum srdma_nak code, u32 psn)
{
	srdma_resp_nak(resp, srdma_aeth_nak(code), psn);
	resp->dead = true;
}

void srdma_resp_nak_why(struct srdma_rc_resp *resp, enum srdma_resp_why why,
			u32 psn)
{
	switch (why) {
	case SRDMA_WHY_NO_RWQE:
		srdma_resp_nak(resp, srdma_aeth_rnr(resp->min_rnr_timer), psn);
		break;
	case SRDMA_WHY_INV_REQ:
		nak_fatal(resp, SRDMA_NAK_INV_REQ, psn);
		break;
	case SRDMA_WHY_ACCESS:
		nak_fatal(resp, SRDMA_NAK_REM_ACCESS, psn);
		break;
	case SRDMA_WHY_OP:
		nak_fatal(resp, SRDMA_NAK_REM_OP, psn);
		break;
	}
}

/*
 * Out of sequence: the gap gets one NAK (9.7.5.2). Packets that follow in order
 * are silently dropped. One that does not follow in order shows that the
 * requester went back and the expected packet was lost again: it gets a new NAK.
 *
 * After a RNR NAK there is no NAK, because the requester comes back by itself.
 * If the network changed the order of its packets, each NAK would cost it a
 * retry, or replace a RNR NAK that was not sent yet.
 */
static enum srdma_resp_verdict gap(struct srdma_rc_resp *resp,
				   const struct srdma_pkt *pkt)
{
	u32 psn = pkt->psn;

	if (resp->hole_count) {
		srdma_resp_passes_hole(resp, pkt);
		return SRDMA_RESP_DROP_GAP;
	}
	if (!resp->gap || (!resp->told_rnr &&
			   !srdma_psn_after(psn, resp->gap_psn)))
		srdma_resp_nak(resp, srdma_aeth_nak(SRDMA_NAK_PSN_SEQ),
			       resp->epsn);
	resp->gap = true;
	resp->gap_psn = psn;
	return SRDMA_RESP_DROP_GAP;
}

/*
 * The kept response that covers @psn, or nres. If several do, the newest: an older
 * one may be from the last time that the PSNs wrapped around.
 */
static u32 find_res(const struct srdma_rc_resp *resp, u32 psn)
{
	u32 at = resp->res_head;
	u32 i;

	for (i = 0; i < resp->nres; i++) {
		at = at ? at - 1 : resp->nres - 1;
		if (srdma_psn_in(psn, resp->res[at].psn, resp->res[at].npsn))
			return at;
	}
	return resp->nres;
}

static void fill_rc_act(struct srdma_rc_resp_act *act,
			const struct srdma_pkt *pkt)
{
	u32 op = pkt->op->flags;

	memset(act, 0, sizeof(*act));
	act->psn = pkt->psn;
	act->len = pkt->payload_len;
	act->total = act->len;
	if (op & SRDMA_OP_START)
		act->flags |= SRDMA_ACT_START;
	if (op & SRDMA_OP_END)
		act->flags |= SRDMA_ACT_END;
	if (op & SRDMA_OP_RWQE)
		act->flags |= SRDMA_ACT_RWQE;
	if (op & SRDMA_OP_COMP)
		act->flags |= SRDMA_ACT_COMP | (pkt->se ? SRDMA_ACT_SE : 0);
	if (op & SRDMA_OP_RETH) {
		act->va = pkt->reth.va;
		act->rkey = pkt->reth.rkey;
	}
}

/*
 * A duplicate READ may begin at any packet of the first one and must stay
 * inside it: anything else is not a repetition.
 */
static enum srdma_resp_verdict dup_read(struct srdma_rc_resp *resp,
					const struct srdma_pkt *pkt, u32 slot,
					struct srdma_rc_resp_act *act)
{
	const struct srdma_rc_res *res = &resp->res[slot];
	u32 offset = srdma_psn_dist(res->psn, pkt->psn) << resp->mtu_shift;

	if (pkt->reth.va != res->va + offset ||
	    pkt->reth.len > res->len - offset)
		return SRDMA_RESP_DROP_RANGE;
	fill_rc_act(act, pkt);
	act->flags |= SRDMA_ACT_DUP;
	act->len = pkt->reth.len;
	act->total = act->len;
	act->res = slot;
	return SRDMA_RESP_DUP_READ;
}

/* Duplicates (9.7.5.1, 9.7.1): answered again, never executed again. */
static enum srdma_resp_verdict duplicate(struct srdma_rc_resp *resp,
					 const struct srdma_pkt *pkt,
					 struct srdma_rc_resp_act *act)
{
	struct srdma_rc_res *res;
	u32 slot;

	if (resp->asked && pkt->psn == resp->asked_psn)
		srdma_resp_came_twice(resp, pkt);
	if (resp->hole_count)
		srdma_resp_passes_hole(resp, pkt);
	else if (pkt->stamp)
		srdma_resp_stamped(resp, pkt);
	if (!(pkt->op->flags & SRDMA_OP_RD_ATOMIC)) {
		resp->ack_due = true;
		return SRDMA_RESP_DUP;
	}
	slot = find_res(resp, pkt->psn);
	if (slot == resp->nres)
		return SRDMA_RESP_DROP_OLD;
	res = &resp->res[slot];
	if (res->opcode != pkt->opcode)
		return SRDMA_RESP_DROP_RANGE;
	if (pkt->op->flags & SRDMA_OP_READ)
		return dup_read(resp, pkt, slot, act);
	srdma_resp_answer(resp, slot, res->psn, srdma_psn_next(res->psn));
	return SRDMA_RESP_DUP;
}

static bool aligned(u64 va)
{
	return !(va & (SRDMA_ATOMIC_LEN - 1));
}

/* Does the packet continue what went before (9.7.4.1.4, table of opcodes)? */
static bool in_sequence(const struct srdma_rc_resp *resp, u32 op)
{
	if (op & SRDMA_OP_START)
		return !resp->in;
	return resp->in && op & resp->in;
}

/*
 * SEND and WRITE: the bytes of the packets must add up to the length that
 * the first one announced; a SEND announces none.
 */
static bool fill_payload(const struct srdma_rc_resp *resp,
			 const struct srdma_pkt *pkt,
			 struct srdma_rc_resp_act *act)
{
	u32 op = pkt->op->flags;
	u32 left = resp->left;

	if (!(op & SRDMA_OP_START)) {
		if (act->len > SRDMA_MSG_MAX - resp->offset)
			return false;
		act->offset = resp->offset;
		act->va = resp->va;
		act->rkey = resp->rkey;
		act->total = resp->offset + act->len;
	}
	if (op & SRDMA_OP_SEND)
		return true;
	if (op & SRDMA_OP_START) {
		left = pkt->reth.len;
		act->total = left;
		if (left > SRDMA_MSG_MAX)
			return false;
	}
	return op & SRDMA_OP_END ? act->len == left : act->len < left;
}

/* Is all that is pending a repetition? */
static bool answered_once(const struct srdma_rc_res *res)
{
	return res->sent_psn == srdma_psn_add(res->psn, res->npsn);
}

static bool fill_rd_atomic(const struct srdma_rc_resp *resp,
			   const struct srdma_pkt *pkt,
			   struct srdma_rc_resp_act *act)
{
	const struct srdma_rc_res *res = &resp->res[resp->res_head];
	u32 op = pkt->op->flags;

	/* More outstanding than agreed upon. */
	if (!resp->nres || (res->pending && !answered_once(res)))
		return false;
	act->res = resp->res_head;
	if (op & SRDMA_OP_ATOMIC) {
		act->va = pkt->atomic.va;
		act->rkey = pkt->atomic.rkey;
		act->len = SRDMA_ATOMIC_LEN;
		act->total = act->len;
		return aligned(act->va);
	}
	if (op & SRDMA_OP_ATOMIC_WRITE)
		return aligned(act->va) && pkt->reth.len == SRDMA_ATOMIC_LEN;
	/* Of the range, or of the region: other values are reserved (A19). */
	if (op & SRDMA_OP_FLUSH && pkt->feth.sel > SRDMA_FLUSH_MR)
		return false;
	/* With the whole region, address and length need not have been set. */
	if (op & SRDMA_OP_FLUSH && pkt->feth.sel == SRDMA_FLUSH_MR)
		return true;
	act->len = pkt->reth.len;
	act->total = act->len;
	return act->len <= SRDMA_MSG_MAX;
}

static enum srdma_resp_verdict verdict_of(u32 op)
{
	if (op & SRDMA_OP_SEND)
		return SRDMA_RESP_SEND;
	if (op & SRDMA_OP_WRITE)
		return SRDMA_RESP_WRITE;
	if (op & SRDMA_OP_READ)
		return SRDMA_RESP_READ;
	if (op & SRDMA_OP_ATOMIC)
		return SRDMA_RESP_ATOMIC;
	if (op & SRDMA_OP_ATOMIC_WRITE)
		return SRDMA_RESP_ATOMIC_WRITE;
	return SRDMA_RESP_FLUSH;
}

static enum srdma_resp_verdict expected(struct srdma_rc_resp *resp,
					const struct srdma_pkt *pkt,
					struct srdma_rc_resp_act *act)
{
	u32 op = pkt->op->flags;
	bool valid;

	fill_rc_act(act, pkt);
	valid = in_sequence(resp, op) && srdma_pkt_fits_mtu(pkt, resp->mtu);
	if (valid && op & SRDMA_OP_RD_ATOMIC)
		valid = fill_rd_atomic(resp, pkt, act);
	else if (valid)
		valid = fill_payload(resp, pkt, act);
	if (!valid) {
		nak_fatal(resp, SRDMA_NAK_INV_REQ, pkt->psn);
		return SRDMA_RESP_NAK_INV_REQ;
	}
	return verdict_of(op);
}

enum srdma_resp_verdict srdma_rc_resp_request(struct srdma_rc_resp *resp,
					      const struct srdma_pkt *pkt,
					      struct srdma_rc_resp_act *act)
{
	s32 ahead = srdma_psn_diff(pkt->psn, resp->epsn);

	if (resp->dead)
		return SRDMA_RESP_DROP_ERROR;
	if (ahead > 0)
		return gap(resp, pkt);
	if (ahead < 0)
		return duplicate(resp, pkt, act);
	return expected(resp, pkt, act);
}

/* Remembers a READ or atomic, and that its answer is due. */
static void keep(struct srdma_rc_resp *resp, const struct srdma_pkt *pkt,
		 const struct srdma_rc_resp_act *act)
{
	struct srdma_rc_res *res = &resp->res[act->res];

	/* The requester has the answer that was to be repeated. */
	if (res->pending)
		srdma_resp_answered(resp, act->res);
	if (resp->part_count)
		srdma_resp_forget_parts(resp, act->res);
	memset(res, 0, sizeof(*res));
	res->psn = pkt->psn;
	res->npsn = 1;
	res->sent_psn = pkt->psn;
	res->opcode = pkt->opcode;
	res->orig = act->orig;
	if (pkt->op->flags & SRDMA_OP_READ) {
		res->npsn = srdma_burst_packets(act->len, resp->mtu_shift);
		res->va = act->va;
		res->rkey = act->rkey;
		res->len = act->len;
	}
	resp->epsn = srdma_psn_add(res->psn, res->npsn);
	resp->res_head = act->res + 1 == resp->nres ? 0 : act->res + 1;
	/* As srdma_resp_answer(): but none is newer. */
	if (!resp->res_pending)
		resp->res_out = act->res;
	resp->res_pending++;
	res->pending = true;
	res->start_psn = res->psn;
	res->cur_psn = res->psn;
	res->end_psn = resp->epsn;
}

static void commit_payload(struct srdma_rc_resp *resp,
			   const struct srdma_pkt *pkt,
			   const struct srdma_rc_resp_act *act)
{
	u32 op = pkt->op->flags;

	resp->ack_psn = srdma_psn_add(resp->epsn, pkt->more);
	resp->epsn = srdma_psn_next(resp->ack_psn);
	resp->ack_due |= pkt->ack_req;
	resp->in = op & SRDMA_OP_END ? 0 : op & (SRDMA_OP_SEND | SRDMA_OP_WRITE);
	resp->offset = act->offset + act->len;
	if (op & SRDMA_OP_SEND)
		return;
	if (op & SRDMA_OP_START)
		resp->left = act->total;
	resp->left -= act->len;
	resp->va = act->va + act->len;
	resp->rkey = act->rkey;
}

void srdma_rc_resp_commit(struct srdma_rc_resp *resp,
			  const struct srdma_pkt *pkt,
			  const struct srdma_rc_resp_act *act)
{
	if (act->flags & SRDMA_ACT_DUP) {
		/* The key of this request was checked, so it is the one to use. */
		if (act->len)
			resp->res[act->res].rkey = act->rkey;
		srdma_resp_repeat(resp, act->res, act->psn, act->len);
		return;
	}
	resp->told_rnr = false;
	if (pkt->op->flags & SRDMA_OP_RD_ATOMIC)
		keep(resp, pkt, act);
	else
		commit_payload(resp, pkt, act);
	if (unlikely(resp->hole_count))
		srdma_resp_moved(resp, pkt);
	else
		resp->gap = false;
	/* A NAK that was not sent yet is about this packet, which has come. */
	resp->nak_due = false;
	if (act->flags & SRDMA_ACT_END)
		resp->msn = srdma_psn_next(resp->msn);
}

/* @pkt, which was expected, is not executed; nor is what is behind it, until it comes again. */
static void stop_at(struct srdma_rc_resp *resp, const struct srdma_pkt *pkt, bool is_rnr)
{
	/* The requester comes back with all that follows. */
	resp->hole_count = 0;
	/* What follows a RNR NAK is dropped without another NAK (9.7.5.2). */
	resp->gap = true;
	resp->told_rnr = is_rnr;
	resp->gap_psn = srdma_psn_add(pkt->psn, pkt->more);
}

void srdma_rc_resp_fail(struct srdma_rc_resp *resp,
			const struct srdma_pkt *pkt,
			const struct srdma_rc_resp_act *act,
			enum srdma_resp_why why)
{
	/*
	 * The first copy was executed. The key may have been invalidated since.
	 * A NAK for a late copy would break the connection for no reason.
	 */
	if (act->flags & SRDMA_ACT_DUP)
		return;
	srdma_resp_nak_why(resp, why, pkt->psn);
	stop_at(resp, pkt, why == SRDMA_WHY_NO_RWQE);
}

void srdma_rc_resp_refuse(struct srdma_rc_resp *resp,
			  const struct srdma_pkt *pkt, u8 syndrome)
{
	srdma_resp_nak(resp, syndrome, pkt->psn);
	stop_at(resp, pkt, srdma_aeth_kind(syndrome) == SRDMA_AETH_KIND_RNR);
}
