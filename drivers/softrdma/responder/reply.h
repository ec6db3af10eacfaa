/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The sending part of the receive engine.
 */
#ifndef SRDMA_REPLY_H
#define SRDMA_REPLY_H

#include <linux/types.h>

struct sk_buff;
struct srdma_pkt;
struct srdma_qp;

int srdma_reply(struct srdma_qp *qp, u8 posted, int budget);
int srdma_reply_that_lingered(struct srdma_qp *qp, int budget);
void srdma_reply_last(struct srdma_qp *qp);
bool srdma_reply_by_rule(struct srdma_qp *qp, const struct sk_buff *skb,
			 struct srdma_pkt *pkt);

#endif
