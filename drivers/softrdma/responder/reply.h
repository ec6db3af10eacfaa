/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The half of the receive engine that answers.
 */
#ifndef SRDMA_REPLY_H
#define SRDMA_REPLY_H

struct srdma_qp;

int srdma_reply(struct srdma_qp *qp, int budget);

#endif
