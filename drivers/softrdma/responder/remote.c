// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the peer does to our memory by a READ, an atomic or a FLUSH. Before a WRITE there
 * may be a receive request to be taken: it is in responder/execute.c.
 */
#include "memory/check.h"
#include "objects/qp.h"
#include "responder/remote.h"
#include "wire/packet_in.h"

/* The data are fetched when the answer is sent. */
enum srdma_outcome srdma_remote_read(struct srdma_request *r)
{
	struct srdma_qp *qp = r->qp;

	if (!srdma_qp_allows(qp, IB_ACCESS_REMOTE_READ))
		return OUTCOME_INVALID;
	if (r->act.len &&
	    srdma_mem_check_remote(&qp->who, r->act.rkey, r->act.va,
				   r->act.len, IB_ACCESS_REMOTE_READ))
		return OUTCOME_ACCESS;
	return OUTCOME_OK;
}

static enum srdma_outcome of_memory(enum srdma_mem_why why)
{
	if (why == SRDMA_MEM_ALIGN)
		return OUTCOME_INVALID;
	return why ? OUTCOME_ACCESS : OUTCOME_OK;
}

enum srdma_outcome srdma_remote_atomic(struct srdma_request *r)
{
	struct srdma_rc_resp_act *act = &r->act;
	struct srdma_qp *qp = r->qp;
	enum srdma_mem_why why;

	if (!srdma_qp_allows(qp, IB_ACCESS_REMOTE_ATOMIC))
		return OUTCOME_INVALID;
	why = srdma_mem_next_remote(&r->place, &qp->who, act->rkey, act->va,
				    sizeof(u64), IB_ACCESS_REMOTE_ATOMIC);
	if (why)
		return of_memory(why);
	if (r->pkt.opcode == SRDMA_RC_CMP_SWAP)
		why = srdma_mem_cmp_swap(&r->place, r->pkt.atomic.compare,
					 r->pkt.atomic.swap_add, &act->orig);
	else
		why = srdma_mem_fetch_add(&r->place, r->pkt.atomic.swap_add,
					  &act->orig);
	srdma_packet_in_rest(r->skb, &r->place);
	return of_memory(why);
}

enum srdma_outcome srdma_remote_atomic_write(struct srdma_request *r)
{
	struct srdma_qp *qp = r->qp;
	struct srdma_mem_iter it;
	enum srdma_mem_why why;
	__le64 value;

	if (!srdma_qp_allows(qp, IB_ACCESS_REMOTE_WRITE))
		return OUTCOME_INVALID;
	if (skb_copy_bits(r->skb, srdma_packet_in(r->skb)->payload, &value,
			  sizeof(value)))
		return OUTCOME_INVALID;
	why = srdma_mem_begin_remote(&it, &qp->who, r->act.rkey,
				     r->act.va, sizeof(value),
				     IB_ACCESS_REMOTE_WRITE);
	if (!why) {
		why = srdma_mem_store(&it, &value);
		srdma_mem_end(&it);
	}
	return of_memory(why);
}

enum srdma_outcome srdma_remote_flush(struct srdma_request *r)
{
	const struct srdma_rc_resp_act *act = &r->act;
	u8 plt = r->pkt.feth.plt;
	struct srdma_qp *qp = r->qp;
	struct srdma_mem_iter it;
	enum srdma_mem_why why;

	if (!(plt & (SRDMA_FLUSH_GLOBAL | SRDMA_FLUSH_PERSISTENT)))
		return OUTCOME_INVALID;
	if (!srdma_qp_allows(qp, SRDMA_ACCESS_FLUSH))
		return OUTCOME_INVALID;
	/* The QP does not grant this right. */
	if (plt & SRDMA_FLUSH_PERSISTENT)
		return OUTCOME_ACCESS;
	if (r->pkt.feth.sel == SRDMA_FLUSH_MR)
		why = srdma_mem_begin_region(&it, &qp->who, act->rkey,
					     SRDMA_ACCESS_FLUSH);
	else
		why = srdma_mem_begin_remote(&it, &qp->who, act->rkey,
					     act->va, act->len,
					     SRDMA_ACCESS_FLUSH);
	if (why)
		return of_memory(why);
	/* What is read after the answer has come is not older than this. */
	smp_mb();
	srdma_mem_end(&it);
	return OUTCOME_OK;
}
