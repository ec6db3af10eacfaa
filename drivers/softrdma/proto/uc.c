// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Unreliable connections and the sending of datagrams. There is one
 * difference between a UC and a datagram sender: a datagram is one packet.
 */
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#include "burst.h"
#include "opcode.h"
#include "packet.h"
#include "psn.h"
#include "uc.h"

void srdma_uc_req_init(struct srdma_uc_req *req, enum srdma_qpt qpt, u32 psn,
		       u32 mtu, void *base, u32 stride, u32 mask)
{
	memset(req, 0, sizeof(*req));
	req->base = base;
	req->stride = stride;
	req->mask = mask;
	req->psn = psn;
	srdma_uc_req_set_mtu(req, mtu);
	req->qpt = qpt;
	req->mode = SRDMA_REQ_RUN;
}

void srdma_uc_req_set_mtu(struct srdma_uc_req *req, u32 mtu)
{
	req->mtu = mtu;
	req->mtu_shift = ilog2(mtu);
	srdma_uc_rate_set_mtu(&req->rate, mtu);
}

static bool is_local(const struct srdma_rc_msg *msg)
{
	return srdma_wr_infos[msg->op].flags & SRDMA_WRI_LOCAL;
}

static void fill_uc_burst(const struct srdma_uc_req *req,
			  const struct srdma_burst_limit *limit,
			  struct srdma_rc_burst *out)
{
	u32 pos = req->offset >> req->mtu_shift;
	struct srdma_rc_msg *msg = out->msg;
	struct srdma_burst *b = &out->b;
	u32 most = 1;

	/* One packet needs no limit, as all datagrams are. */
	if (msg->len > req->mtu)
		most = srdma_burst_most(limit, msg->op, pos, req->mtu_shift);
	if (req->rate.rate)
		most = min(most, srdma_uc_rate_burst(&req->rate));
	srdma_burst_cut(b, req->qpt, msg->op, msg->len, pos, most,
			req->mtu_shift);
	b->psn = req->psn;
	b->ack_req = false;
	b->resend = false;
	b->stamp = 0;
	b->solicited = b->offset + b->len == msg->len &&
		       msg->flags & SRDMA_WR_SOLICITED;
}

static void stop(struct srdma_uc_req *req)
{
	req->mode = SRDMA_REQ_ERROR;
	req->begun = false;
	req->offset = 0;
}

enum srdma_req_next srdma_uc_req_next(struct srdma_uc_req *req, u64 now,
				      const struct srdma_burst_limit *limit,
				      struct srdma_rc_burst *out)
{
	struct srdma_rc_msg *msg;

	req->rate.wake_at = 0;
	if (req->mode == SRDMA_REQ_ERROR)
		return SRDMA_NEXT_ERROR;
	if (req->cur == req->head)
		return SRDMA_NEXT_EMPTY;
	if (!req->begun && req->mode == SRDMA_REQ_DRAIN)
		return SRDMA_NEXT_SQD;
	if (req->failed && req->cur == req->fail_idx) {
		stop(req);
		return SRDMA_NEXT_ERROR;
	}
	msg = srdma_uc_req_msg(req, req->cur);
	out->idx = req->cur;
	out->msg = msg;
	out->probe = false;
	if (is_local(msg)) {
		if (msg->flags & SRDMA_MSG_DRAIN && req->tail != req->cur)
			return SRDMA_NEXT_ORDER;
		return SRDMA_NEXT_LOCAL;
	}
	if (srdma_uc_rate_waits(&req->rate, now))
		return SRDMA_NEXT_PACE;
	fill_uc_burst(req, limit, out);
	return SRDMA_NEXT_SEND;
}

void srdma_uc_req_sent(struct srdma_uc_req *req,
		       const struct srdma_rc_burst *burst, u64 now)
{
	struct srdma_rc_msg *msg = burst->msg;
	const struct srdma_burst *b = &burst->b;

	if (!req->begun) {
		msg->psn = b->psn;
		msg->npsn = 0;
		msg->done = 0;
	}
	msg->npsn += b->count;
	msg->done++;
	srdma_uc_rate_sent(&req->rate, b->count, b->len, now);
	req->psn = srdma_psn_add(b->psn, b->count);
	req->offset = b->offset + b->len;
	req->begun = req->offset < msg->len;
	if (!req->begun) {
		req->offset = 0;
		req->cur++;
	}
}

void srdma_uc_req_released(struct srdma_uc_req *req, u32 idx)
{
	srdma_uc_req_msg(req, idx)->done--;
}

void srdma_uc_req_release_oldest(struct srdma_uc_req *req)
{
	u32 idx = req->tail;

	while (idx != req->head && !srdma_uc_req_msg(req, idx)->done)
		idx++;
	if (idx != req->head)
		srdma_uc_req_released(req, idx);
}

void srdma_uc_req_release_all(struct srdma_uc_req *req)
{
	u32 idx;

	for (idx = req->tail; idx != req->head; idx++)
		srdma_uc_req_msg(req, idx)->done = 0;
}

void srdma_uc_req_local_done(struct srdma_uc_req *req,
			     const struct srdma_rc_burst *burst)
{
	burst->msg->answered = true;
	req->cur++;
}

void srdma_uc_req_fail(struct srdma_uc_req *req, u32 idx,
		       enum srdma_status status)
{
	if (req->mode == SRDMA_REQ_ERROR)
		return;
	if (req->failed && req->fail_idx - req->tail <= idx - req->tail)
		return;
	req->failed = true;
	req->fail_idx = idx;
	req->fail_status = status;
	/* A message that has not begun neither begins nor fails before RTS. */
	if (idx == req->cur && (req->begun || req->mode != SRDMA_REQ_DRAIN))
		stop(req);
}

/* A message that was marked to fail is flushed like the others. */
void srdma_uc_req_abort(struct srdma_uc_req *req)
{
	if (req->mode != SRDMA_REQ_ERROR)
		req->failed = false;
	stop(req);
}

void srdma_uc_req_resume(struct srdma_uc_req *req)
{
	req->mode = SRDMA_REQ_RUN;
	req->failed = false;
	req->cur = req->tail;
}

void srdma_uc_req_drain(struct srdma_uc_req *req, bool drain)
{
	if (req->mode != SRDMA_REQ_ERROR)
		req->mode = drain ? SRDMA_REQ_DRAIN : SRDMA_REQ_RUN;
}

bool srdma_uc_req_drained(const struct srdma_uc_req *req)
{
	return req->mode == SRDMA_REQ_DRAIN && !req->begun &&
	       req->tail == req->cur;
}

/*
 * A message that was sent completely has succeeded, in the error state as well.
 * Memory that an skb still refers to is not released, not even that of the
 * message that failed.
 */
bool srdma_uc_req_retire(struct srdma_uc_req *req, struct srdma_rc_done *done)
{
	bool sent = req->cur != req->tail;

	if (req->tail == req->head)
		return false;
	if (!sent && req->mode != SRDMA_REQ_ERROR)
		return false;
	if (srdma_uc_req_msg(req, req->tail)->done)
		return false;
	if (sent)
		done->status = SRDMA_ST_OK;
	else if (req->failed && req->tail == req->fail_idx)
		done->status = req->fail_status;
	else
		done->status = SRDMA_ST_FLUSH;
	done->idx = req->tail++;
	if (!sent)
		req->cur = req->tail;
	return true;
}

void srdma_uc_resp_init(struct srdma_uc_resp *resp, u32 psn, u32 mtu)
{
	memset(resp, 0, sizeof(*resp));
	resp->epsn = psn;
	resp->mtu = mtu;
}

static void fill_uc_act(const struct srdma_uc_resp *resp,
			const struct srdma_pkt *pkt, struct srdma_rc_resp_act *act)
{
	u32 op = pkt->op->flags;

	memset(act, 0, sizeof(*act));
	act->psn = pkt->psn;
	act->len = pkt->payload_len;
	if (op & SRDMA_OP_RWQE)
		act->flags |= SRDMA_ACT_RWQE;
	if (op & SRDMA_OP_COMP)
		act->flags |= SRDMA_ACT_COMP | (pkt->se ? SRDMA_ACT_SE : 0);
	if (op & SRDMA_OP_END)
		act->flags |= SRDMA_ACT_END;
	if (!(op & SRDMA_OP_START)) {
		act->offset = resp->offset;
		act->va = resp->va;
		act->rkey = resp->rkey;
		act->total = resp->offset + act->len;
		return;
	}
	act->flags |= SRDMA_ACT_START;
	act->total = act->len;
	if (op & SRDMA_OP_RETH) {
		act->va = pkt->reth.va;
		act->rkey = pkt->reth.rkey;
		act->total = pkt->reth.len;
	}
}

/* Do the bytes of the message still add up with this packet? */
static bool length_fits(const struct srdma_uc_resp *resp,
			const struct srdma_pkt *pkt,
			const struct srdma_rc_resp_act *act)
{
	u32 op = pkt->op->flags;
	u32 left = op & SRDMA_OP_START ? act->total : resp->left;

	if (!srdma_pkt_fits_mtu(pkt, resp->mtu) ||
	    act->len > SRDMA_MSG_MAX - act->offset)
		return false;
	if (op & SRDMA_OP_SEND)
		return true;
	if (left > SRDMA_MSG_MAX)
		return false;
	return op & SRDMA_OP_END ? act->len == left : act->len < left;
}

static void take_packet(struct srdma_uc_resp *resp, const struct srdma_pkt *pkt,
			const struct srdma_rc_resp_act *act)
{
	u32 op = pkt->op->flags;

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

/*
 * 9.8.2: the next expected PSN is the one behind the packet that came, whatever
 * that was. If a packet is missing, the message is dropped, up to the next FIRST
 * or ONLY packet.
 */
enum srdma_uc_verdict srdma_uc_resp_request(struct srdma_uc_resp *resp,
					    const struct srdma_pkt *pkt,
					    struct srdma_rc_resp_act *act)
{
	bool lost = pkt->psn != resp->epsn;
	u32 op = pkt->op->flags;
	u32 in = resp->in;

	resp->epsn = srdma_psn_add(pkt->psn, pkt->more + 1);
	resp->in = 0;
	if (!(op & SRDMA_OP_START)) {
		if (lost || !in)
			return SRDMA_UC_DROP_LOST;
		if (!(op & in))
			return SRDMA_UC_DROP_SEQ;
	}
	fill_uc_act(resp, pkt, act);
	if (!length_fits(resp, pkt, act))
		return SRDMA_UC_DROP_LEN;
	take_packet(resp, pkt, act);
	return op & SRDMA_OP_SEND ? SRDMA_UC_SEND : SRDMA_UC_WRITE;
}

void srdma_uc_resp_fail(struct srdma_uc_resp *resp)
{
	resp->in = 0;
}
