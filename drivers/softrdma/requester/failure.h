/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests that fail: the cause, kept until they complete, and reported then.
 */
#ifndef SRDMA_FAILURE_H
#define SRDMA_FAILURE_H

#include <linux/types.h>

#include "memory/keys.h"
#include "observe/cause.h"
#include "proto/packet.h"
#include "proto/rc_req.h"

struct srdma_qp;

void srdma_failure_of_slot(struct srdma_qp *qp, u32 idx,
			   enum srdma_status status, u16 code);
void srdma_failure_to_send(struct srdma_qp *qp, u32 idx,
			   enum srdma_status status);
void srdma_failure_to_place(struct srdma_qp *qp, u32 idx);
void srdma_failure_of_key(struct srdma_qp *qp, u32 idx,
			  enum srdma_mem_why why);
void srdma_failure_heard(struct srdma_qp *qp, const struct srdma_pkt *pkt);
void srdma_failure_of_time(struct srdma_qp *qp);

u16 srdma_failure_tell(struct srdma_qp *qp, const struct srdma_rc_done *done);

#endif
