/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Congestion notifications: a peer is told that its packets meet congestion.
 */
#ifndef SRDMA_NOTIFY_H
#define SRDMA_NOTIFY_H

#include <linux/types.h>

struct sk_buff;
struct srdma_engine;
struct srdma_path;
struct srdma_pkt;
struct srdma_qp;

bool srdma_notify_of(struct srdma_qp *qp, bool is_response,
		     const struct sk_buff *skb, const struct srdma_pkt *pkt);
void srdma_notify_peer(struct srdma_qp *qp, struct srdma_engine *engine,
		       struct srdma_path *path);

#endif
