/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Bytes that a QP has handed to the network and that have not left the host: a
 * limit on them, and an event for an engine that met the limit.
 */
#ifndef SRDMA_INFLIGHT_H
#define SRDMA_INFLIGHT_H

#include <linux/types.h>

struct sk_buff;
struct srdma_engine;
struct srdma_qp;

void srdma_inflight_begin(struct srdma_qp *qp);
void srdma_inflight_end(struct srdma_qp *qp);

bool srdma_inflight_has_room(struct srdma_qp *qp, struct srdma_engine *engine);
u32 srdma_inflight_train(const struct srdma_qp *qp);
void srdma_inflight_add(struct srdma_qp *qp, struct sk_buff *skb);

void srdma_inflight_refused(struct srdma_qp *qp);

void srdma_inflight_exit(void);

#endif
