// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An acknowledge that waits for a request to travel with. The receive engine leaves it
 * here (responder/linger.c); the send engine takes it, and it goes behind the request, in
 * the same skb where that has room. To the peer it is a packet like any other.
 *
 * It is one word, so whichever engine takes it has it as a whole, and the other one finds
 * nothing.
 */
#include "objects/device.h"
#include "observe/counters.h"
#include "proto/psn.h"
#include "proto/rc_resp.h"
#include "wire/rider.h"
#include "wire/tx.h"

/* The word: PSN, MSN, syndrome, and a bit that tells it from none. */
#define RIDER_MSN_SHIFT		24
#define RIDER_MSN_MASK		0xffffffu
#define RIDER_SYNDROME_SHIFT	48
#define RIDER_WAITS		BIT_ULL(63)

/**
 * srdma_rider_put - an acknowledge is to travel with the next request
 * @qp: queue pair of which none waits
 * @ack: what it is to say
 */
void srdma_rider_put(struct srdma_qp *qp, const struct srdma_rc_resp_burst *ack)
{
	atomic64_set(&qp->rider.ack,
		     RIDER_WAITS | ack->b.psn |
		     (u64)ack->msn << RIDER_MSN_SHIFT |
		     (u64)ack->syndrome << RIDER_SYNDROME_SHIFT);
}

/**
 * srdma_rider_withdraw - it is to wait no longer
 * @qp: queue pair of which an acknowledge was put
 *
 * Return: whether it had not left.
 */
bool srdma_rider_withdraw(struct srdma_qp *qp)
{
	return srdma_rider_take(qp);
}

/**
 * srdma_rider_send - send what has waited
 * @qp: queue pair
 * @outbox: of its send engine, with srdma_outbox.rider, which is 0 then
 *
 * What is in flight does not keep it back: nobody would look after it again. Looped
 * requests are for another engine, so that it cannot join them.
 *
 * Not inlined: it is rare.
 */
noinline void srdma_rider_send(struct srdma_qp *qp, struct srdma_outbox *outbox)
{
	u64 ack = outbox->rider;
	const struct srdma_pkt hdr = {
		.pkey = SRDMA_PKEY_DEFAULT,
		.mig = true,
		.dest_qpn = qp->attr.dest_qp_num,
		.aeth.syndrome = ack >> RIDER_SYNDROME_SHIFT,
		.aeth.msn = ack >> RIDER_MSN_SHIFT & RIDER_MSN_MASK,
	};
	const struct srdma_burst burst = {
		.psn = ack & SRDMA_PSN_MASK,
		.count = 1,
		.first = SRDMA_RC_ACK,
		.middle = SRDMA_RC_ACK,
		.last = SRDMA_RC_ACK,
	};
	struct srdma_tx tx = {
		.qp = qp,
		.av = &qp->av,
		.path = &qp->req.path,
		.hdr = &hdr,
		.burst = &burst,
		.outbox = qp->req.path.is_local ? NULL : outbox,
	};
	u32 count;

	outbox->rider = 0;
	if (!tx.outbox)
		srdma_outbox_rest(outbox);
	if (srdma_tx_send(&tx, &count) == SRDMA_TX_SENT)
		srdma_stat_inc(qp->dev, SRDMA_STAT_ACK_CARRIED);
	/* Behind its back the way may have been looked for anew, and not be there. */
	if (!tx.outbox)
		outbox->knows_way = false;
}
