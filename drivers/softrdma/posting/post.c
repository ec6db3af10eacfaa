// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting. User space puts its requests into the ring itself and rings a
 * doorbell; a kernel consumer's request is checked when it is posted and put into
 * the ring in the form that the send engine wants.
 */
#include "objects/ah.h"
#include "objects/qp.h"
#include "objects/report.h"
#include "posting/doorbell.h"
#include "posting/post.h"

/* The kernel's number for a request, or SRDMA_WR_NR for one we do not take. */
static u8 wr_op(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
		return SRDMA_WR_WRITE;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return SRDMA_WR_WRITE_IMM;
	case IB_WR_SEND:
		return SRDMA_WR_SEND;
	case IB_WR_SEND_WITH_IMM:
		return SRDMA_WR_SEND_IMM;
	case IB_WR_SEND_WITH_INV:
		return SRDMA_WR_SEND_INV;
	case IB_WR_RDMA_READ:
		return SRDMA_WR_READ;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return SRDMA_WR_CMP_SWAP;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return SRDMA_WR_FETCH_ADD;
	case IB_WR_LOCAL_INV:
		return SRDMA_WR_LOCAL_INV;
	case IB_WR_REG_MR:
		return SRDMA_WR_REG_MR;
	default:
		return SRDMA_WR_NR;
	}
}

static u8 wr_flags(int send_flags)
{
	u8 flags = 0;

	if (send_flags & IB_SEND_FENCE)
		flags |= SRDMA_WR_FENCE;
	if (send_flags & IB_SEND_SIGNALED)
		flags |= SRDMA_WR_SIGNALED;
	if (send_flags & IB_SEND_SOLICITED)
		flags |= SRDMA_WR_SOLICITED;
	if (send_flags & IB_SEND_INLINE)
		flags |= SRDMA_WR_INLINE;
	return flags;
}

static void fill_operands(struct srdma_wqe *wqe, const struct ib_send_wr *wr)
{
	switch (wqe->msg.op) {
	case SRDMA_WR_WRITE:
	case SRDMA_WR_WRITE_IMM:
	case SRDMA_WR_READ:
		wqe->rdma.remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rdma.rkey = rdma_wr(wr)->rkey;
		break;
	case SRDMA_WR_CMP_SWAP:
		wqe->atomic.remote_addr = atomic_wr(wr)->remote_addr;
		wqe->atomic.rkey = atomic_wr(wr)->rkey;
		wqe->atomic.compare = atomic_wr(wr)->compare_add;
		wqe->atomic.swap_add = atomic_wr(wr)->swap;
		break;
	case SRDMA_WR_FETCH_ADD:
		wqe->atomic.remote_addr = atomic_wr(wr)->remote_addr;
		wqe->atomic.rkey = atomic_wr(wr)->rkey;
		wqe->atomic.swap_add = atomic_wr(wr)->compare_add;
		break;
	case SRDMA_WR_REG_MR:
		wqe->reg.mr = reg_wr(wr)->mr;
		wqe->reg.key = reg_wr(wr)->key;
		wqe->reg.access = reg_wr(wr)->access;
		break;
	}
}

static int fill_datagram(const struct srdma_qp *qp, struct srdma_wqe *wqe,
			 const struct ib_send_wr *wr)
{
	struct ib_ah *ah = ud_wr(wr)->ah;

	if (!ah || ah->pd != qp->pd)
		return -EINVAL;
	*srdma_qp_wqe_av(qp, wqe) = to_sah(ah)->av;
	wqe->ud.remote_qpn = ud_wr(wr)->remote_qpn;
	wqe->ud.qkey = ud_wr(wr)->remote_qkey;
	wqe->ud.pkey_index = ud_wr(wr)->pkey_index;
	return 0;
}

/* The addresses of a kernel consumer's pieces are the kernel's own. */
static int fill_inline(struct srdma_wqe *wqe, const struct ib_send_wr *wr,
		       u32 max)
{
	u8 *to = srdma_wqe_inline(wqe);
	u32 len = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > max - len)
			return -EINVAL;
		memcpy(to + len, (void *)(uintptr_t)sge->addr, sge->length);
		len += sge->length;
	}
	wqe->is_inline = true;
	wqe->num_sge = 0;
	wqe->msg.len = len;
	return 0;
}

static void fill_pieces(struct srdma_wqe *wqe, const struct ib_send_wr *wr)
{
	int i;

	wqe->num_sge = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++)
		wqe->sge[i] = (struct srdma_sge) {
			.addr = wr->sg_list[i].addr,
			.length = wr->sg_list[i].length,
			.lkey = wr->sg_list[i].lkey,
		};
}

static int fill_wqe(const struct srdma_qp *qp, struct srdma_wqe *wqe,
		    const struct ib_send_wr *wr)
{
	const struct srdma_wqe_limits *limits = &qp->sq.limits;
	int err = 0;

	if (wr->num_sge < 0 || wr->num_sge > limits->max_sge)
		return -EINVAL;
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->msg.op = wr_op(wr->opcode);
	wqe->msg.flags = wr_flags(wr->send_flags);
	if (wqe->msg.op == SRDMA_WR_SEND_INV ||
	    wqe->msg.op == SRDMA_WR_LOCAL_INV)
		wqe->inv_rkey = wr->ex.invalidate_rkey;
	else
		wqe->imm = wr->ex.imm_data;
	if (srdma_qp_is_datagram(qp))
		err = fill_datagram(qp, wqe, wr);
	else
		fill_operands(wqe, wr);
	if (err)
		return err;
	if (wr->send_flags & IB_SEND_INLINE)
		err = fill_inline(wqe, wr, limits->max_inline);
	else
		fill_pieces(wqe, wr);
	if (err)
		return err;
	return srdma_wqe_check(wqe, limits) ? -EINVAL : 0;
}

static int post_one(struct srdma_qp *qp, const struct ib_send_wr *wr)
{
	struct srdma_ring *ring = &qp->sq.ring;
	u32 producer = srdma_ring_load(ring, ring->producer);
	u32 next = (producer + 1) & ring->mask;
	int err;

	if (next == srdma_ring_load(ring, ring->consumer))
		return -ENOMEM;
	err = fill_wqe(qp, srdma_ring_slot(ring, producer), wr);
	if (!err)
		srdma_ring_store(ring->producer, next);
	return err;
}

/**
 * post_requests - put a kernel consumer's requests into the ring
 * @qp: queue pair
 * @wr: list of requests
 * @bad_wr: filled with the first that was not taken
 */
static int post_requests(struct srdma_qp *qp, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad_wr)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&qp->sq.lock, flags);
	for (; wr; wr = wr->next) {
		err = post_one(qp, wr);
		if (err) {
			if (bad_wr)
				*bad_wr = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	return err;
}

/* Requests of user space, in a state that has none. */
static noinline void report_post(const struct srdma_qp *qp)
{
	struct srdma_error error = {
		.maker = qp->maker,
		.part = SRDMA_PART_VERB,
		.err = EINVAL,
		.qpn = qp->qpn,
		.cause.code = SRDMA_ERR_POST_STATE,
	};

	srdma_cause_add(&error.cause, SRDMA_FACT_STATE, READ_ONCE(qp->state));
	srdma_report(qp, &error);
}

/*
 * User space rings the doorbell without a request: its requests are in the ring.
 * A request that comes through uverbs is refused, since its addresses are not the
 * kernel's. The result becomes that of ibv_post_send(). Requests whose doorbell
 * was refused are dropped by the next change of state.
 */
int srdma_qp_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		       const struct ib_send_wr **bad_wr)
{
	struct srdma_qp *qp = to_sqp(ib);
	int err = 0;

	if (!srdma_qp_may(qp, SRDMA_MAY_POST_SEND) || (wr && qp->is_user)) {
		if (bad_wr)
			*bad_wr = wr;
		if (qp->is_user && !wr)
			report_post(qp);
		return -EINVAL;
	}
	if (wr)
		err = post_requests(qp, wr, bad_wr);
	srdma_doorbell_ring(qp);
	/* Receives that were posted since are to be flushed too. */
	if (srdma_qp_may(qp, SRDMA_MAY_FLUSH_RQ))
		srdma_doorbell_kick(qp, &qp->recv);
	return err;
}

int srdma_qp_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr)
{
	struct srdma_qp *qp = to_sqp(ib);
	int err;

	if (qp->srq || !srdma_qp_may(qp, SRDMA_MAY_POST_RECV)) {
		if (bad_wr)
			*bad_wr = wr;
		return -EINVAL;
	}
	err = srdma_rq_post(&qp->rq, wr, bad_wr);
	if (srdma_qp_may(qp, SRDMA_MAY_FLUSH_RQ))
		srdma_engine_kick_later(&qp->recv, SRDMA_EVENT_DOORBELL);
	return err;
}
