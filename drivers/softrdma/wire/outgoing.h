/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What an engine wants to have sent.
 */
#ifndef SRDMA_OUTGOING_H
#define SRDMA_OUTGOING_H

#include <linux/types.h>

#include "memory/loan.h"
#include "objects/path.h"
#include "proto/burst.h"
#include "proto/opcode.h"
#include "proto/packet.h"
#include "wire/payload.h"

struct srdma_engine;
struct srdma_outbox;
struct srdma_qp;

/**
 * struct srdma_tx - packets to be sent
 * @qp: sender
 * @engine: gets SRDMA_EVENT_TX_FREED after SRDMA_TX_BUSY; NULL: they go however much is
 *	in flight
 * @av: where they go
 * @path: the engine's
 * @hdr: destination, P_Key and the extension headers of the packets; opcode,
 *	PSN, AckReq, SE and payload length are those of @burst
 * @burst: the packets; len is 0 where they carry no payload on the wire
 * @payload: where the payload comes from; NULL when there is none
 * @outbox: the engine's, which it flushes; NULL: the packets go at once
 * @more: so many requests, or answers, are likely to go into @outbox behind it
 * @offer: the payload, if there is any, is that of a request that is under way
 *	until the peer has acknowledged it, or has given it back: it is lent
 *	(memory/loan.h) where it is looped, and not copied; or NULL
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
	u32 more;
	struct srdma_loan_offer *offer;
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

#endif
