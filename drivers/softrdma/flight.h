/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a QP has handed to the network and the host has not let go of yet: a
 * bound on it, and word for an engine that met the bound.
 */
#ifndef SRDMA_FLIGHT_H
#define SRDMA_FLIGHT_H

#include <linux/atomic.h>
#include <linux/types.h>

struct sk_buff;
struct srdma_engine;
struct srdma_qp;

/**
 * struct srdma_flight - bytes of a QP in queues of this host; zero at first
 * @bytes: how many; added by the owners of the engines, taken off by whoever
 *	frees the skbs
 * @waiting: FLIGHT_* bits of flight.c: engines that wait for room
 * @limit: what they may be, by how fast they leave; 0: not known yet. Written
 *	by who wakes an engine
 * @full_bytes: how many there were when an engine began to wait; it writes it
 * @full_at: and when that was, ns
 */
struct srdma_flight {
	atomic_t bytes;
	unsigned long waiting;
	int limit;
	int full_bytes;
	u64 full_at;
};

bool srdma_flight_has_room(struct srdma_qp *qp, struct srdma_engine *engine);
void srdma_flight_add(struct srdma_qp *qp, struct sk_buff *skb);

void srdma_flight_exit(void);

#endif
