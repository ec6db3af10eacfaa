/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * From an engine to the network, or to a QP of the same device.
 */
#ifndef SRDMA_TX_H
#define SRDMA_TX_H

#include <linux/in6.h>
#include <linux/skbuff.h>
#include <linux/types.h>

#include "memory/loan.h"
#include "objects/ah.h"
#include "proto/burst.h"
#include "proto/opcode.h"
#include "proto/packet.h"
#include "wire/path.h"
#include "wire/payload.h"
#include "wire/train.h"

struct srdma_engine;
struct srdma_qp;

/**
 * struct srdma_outbox - what one run of an engine has built and not sent yet,
 *	so that more goes with it; of a connected QP
 * @knows_way: the way to the peer was found in this run
 * @train: for the wire
 * @looped: for a QP of the same device
 */
struct srdma_outbox {
	bool knows_way;
	struct srdma_train train;
	struct sk_buff_head looped;
};

/**
 * struct srdma_tx - packets to be sent
 * @qp: sender
 * @engine: told of SRDMA_EVENT_TX_FREED after SRDMA_TX_BUSY
 * @av: where they go
 * @path: the engine's
 * @hdr: destination, P_Key and the extension headers of the packets; opcode,
 *	PSN, AckReq, SE and payload length are those of @burst
 * @burst: the packets; len is 0 where they carry no payload on the wire
 * @payload: where the payload comes from; NULL when there is none
 * @outbox: the engine's, which it flushes; NULL: the packets go at once
 * @more: more is likely to go into @outbox
 * @offer: the payload, if there is any, is that of a request that is under way
 *	until the peer has acknowledged it: it is lent (memory/loan.h) where it is
 *	looped, and not copied; or NULL
 */
struct srdma_tx {
	struct srdma_qp *qp;
	struct srdma_engine *engine;
	const struct srdma_av *av;
	struct srdma_path *path;
	const struct srdma_pkt *hdr;
	const struct srdma_burst *burst;
	struct srdma_payload *payload;
	struct srdma_outbox *outbox;
	bool more;
	const struct srdma_loan_offer *offer;
};

/* READ requests, atomics and FLUSH ask for bytes and carry none. */
static inline bool srdma_tx_has_payload(const struct srdma_tx *tx)
{
	return srdma_opcode_get(tx->burst->first)->payload != SRDMA_PAY_NONE;
}

/* Payload is walked over from packet @first of the burst on, until closed. */
static inline int srdma_tx_open_payload(const struct srdma_tx *tx, u32 first)
{
	const struct srdma_burst *burst = tx->burst;

	if (!tx->payload || !burst->len || !srdma_tx_has_payload(tx))
		return 0;
	return srdma_payload_open(tx->payload,
				  burst->offset + first * burst->seg);
}

static inline void srdma_tx_close_payload(const struct srdma_tx *tx)
{
	if (tx->payload)
		srdma_payload_close(tx->payload);
}

static inline void srdma_outbox_init(struct srdma_outbox *outbox)
{
	outbox->knows_way = false;
	outbox->train.skb = NULL;
	__skb_queue_head_init(&outbox->looped);
}

/* What became of packets. */
enum srdma_tx_result {
	SRDMA_TX_SENT,		/* on their way, or lost as packets may be */
	SRDMA_TX_BUSY,		/* too much in inflight: wait to be told */
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
