/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * From an engine to the network, or to a QP of the same device.
 */
#ifndef SRDMA_TX_H
#define SRDMA_TX_H

#include <linux/skbuff.h>

#include "base/crc.h"
#include "wire/outgoing.h"
#include "wire/train.h"

struct srdma_burst_limit;
struct srdma_qp;

/**
 * struct srdma_outbox - what one run of an engine has built and not sent yet,
 *	so that more goes with it, to the same QP
 * @knows_way: the way there was found in this run
 * @vector: vector registers are held for what goes into it: not while anything is
 *	handed over, nor while the engine does anything but build (srdma_outbox_rest())
 * @rider: an acknowledge that leaves with it (wire/rider.c), or 0; of a send engine
 * @train: for the wire
 * @looped: for a QP of the same device
 * @looped_bytes: memory of these
 * @fill: where answers to what was built last will go: behind the gate of its key only
 *	while the engine builds
 */
struct srdma_outbox {
	bool knows_way;
	bool vector;
	u64 rider;
	struct srdma_train train;
	struct sk_buff_head looped;
	u32 looped_bytes;
	struct srdma_mem_span fill;
};

static inline void srdma_outbox_init(struct srdma_outbox *outbox)
{
	outbox->knows_way = false;
	outbox->vector = false;
	outbox->train.skb = NULL;
	__skb_queue_head_init(&outbox->looped);
	outbox->looped_bytes = 0;
	outbox->fill.key = NULL;
	outbox->fill.seat = NULL;
}

/* The engine has something else to do before it builds more. */
static inline void srdma_outbox_rest(struct srdma_outbox *outbox)
{
	srdma_crc_end(outbox->vector);
	outbox->vector = false;
	if (outbox->fill.key)
		srdma_mem_leave(&outbox->fill);
}

/* What became of packets. */
enum srdma_tx_result {
	SRDMA_TX_SENT,		/* on their way, or lost as packets may be */
	SRDMA_TX_BUSY,		/* too much in flight: wait for SRDMA_EVENT_TX_FREED */
	SRDMA_TX_NOMEM,		/* no memory now: try again a little later */
	SRDMA_TX_NOROUTE,	/* nowhere to send them; as good as lost */
	SRDMA_TX_FAULT,		/* the payload cannot be had */
};

enum srdma_tx_result srdma_tx_send(const struct srdma_tx *tx, u32 *count);
void srdma_tx_flush(struct srdma_qp *qp, struct srdma_path *path,
		    struct srdma_outbox *outbox);
void srdma_tx_limit(struct srdma_qp *qp, const struct srdma_path *path,
		    u32 mtu, struct srdma_burst_limit *limit);

#endif
