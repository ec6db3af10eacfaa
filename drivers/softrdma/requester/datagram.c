// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams that are to be sent: where each goes, and which go together.
 */
#include "objects/ah.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "proto/ud.h"
#include "requester/datagram.h"
#include "wire/path.h"
#include "wire/tx.h"

/* Not inlined: most datagrams go where the one before went. */
static noinline const struct srdma_ah_entry *look_up_handle(struct srdma_qp *qp,
							    u32 num)
{
	struct srdma_requester *req = &qp->req;
	const struct srdma_ah_entry *ah;

	/* Before the look-up: pairs with withdraw() in verbs/ah.c. */
	req->ahs_gone = smp_load_acquire(&qp->dev->ahs_gone);
	ah = xa_load(&qp->dev->ahs, num);
	if (ah && ah->pd != qp->pd)
		ah = NULL;
	req->ah = ah;
	req->ah_num = num;
	return ah;
}

/*
 * User space's address handle may be gone, or be another's, whatever the request says.
 * The one that was found last is the same as long as none has gone since, and is there
 * until the run ends: bottom halves are disabled, which is a section of RCU.
 */
static const struct srdma_ah_entry *find_handle(struct srdma_qp *qp, u32 num)
{
	const struct srdma_requester *req = &qp->req;

	if (req->ah && req->ah_num == num &&
	    req->ahs_gone == READ_ONCE(qp->dev->ahs_gone))
		return req->ah;
	return look_up_handle(qp, num);
}

/* Where a datagram goes. */
static const struct srdma_av *datagram_av(struct srdma_qp *qp,
					  struct srdma_wqe *wqe)
{
	const struct srdma_ah_entry *ah;

	if (!qp->is_user)
		return srdma_qp_wqe_av(qp, wqe);
	ah = find_handle(qp, wqe->ud.ah_num);
	return ah ? &ah->av : NULL;
}

static enum srdma_status check_datagram(const struct srdma_qp *qp,
					const struct srdma_wqe *wqe)
{
	switch (srdma_ud_send_check(wqe->msg.len, qp->req.mtu)) {
	case SRDMA_UD_SEND_OK:
		return SRDMA_ST_OK;
	case SRDMA_UD_SEND_LENGTH:
		return SRDMA_ST_LOC_LEN;
	}
	return SRDMA_ST_LOC_QP_OP;
}

/* Do they go where those before went? What a handle says never changes. */
static bool goes_there(const struct srdma_requester *req,
		       const struct srdma_tx *tx)
{
	if (!tx->outbox->knows_way || tx->hdr->dest_qpn != req->last_qpn)
		return false;
	return (req->ah && req->ah == req->ah_sent) ||
	       srdma_path_is_to(&req->path, tx->av);
}

/*
 * Datagrams to one QP share a train. What goes elsewhere goes behind what was built
 * before; and what goes to a group, or is for management, by itself.
 */
static void join_or_part(struct srdma_qp *qp, struct srdma_tx *tx)
{
	struct srdma_requester *req = &qp->req;
	struct srdma_outbox *outbox = tx->outbox;

	if (goes_there(req, tx))
		return;
	srdma_tx_flush(qp, &req->path, outbox);
	outbox->knows_way = false;
	req->last_qpn = tx->hdr->dest_qpn;
	req->ah_sent = req->ah;
	if (req->last_qpn == SRDMA_QPN_MULTICAST || qp->qpt == SRDMA_QPT_GSI)
		tx->outbox = NULL;
}

/**
 * srdma_datagram_prepare - what is special about a datagram
 * @qp: queue pair
 * @wqe: request
 * @hdr: filled with where it goes
 * @tx: likewise; it goes alone where the outbox is taken off
 *
 * Not inlined: connected QPs would pay for its registers.
 *
 * Return: why it cannot be sent.
 */
noinline enum srdma_status srdma_datagram_prepare(struct srdma_qp *qp,
						  struct srdma_wqe *wqe,
						  struct srdma_pkt *hdr,
						  struct srdma_tx *tx)
{
	enum srdma_status status;

	/* Only 24 bits go onto the wire; programs keep others above them. */
	hdr->dest_qpn = wqe->ud.remote_qpn & SRDMA_QPN_MASK;
	hdr->deth.src_qpn = qp->qpn;
	hdr->deth.qkey = srdma_ud_send_qkey(wqe->ud.qkey, qp->attr.qkey);
	tx->av = datagram_av(qp, wqe);
	status = tx->av ? check_datagram(qp, wqe) : SRDMA_ST_LOC_QP_OP;
	if (!status)
		join_or_part(qp, tx);
	return status;
}
