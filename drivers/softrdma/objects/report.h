/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Error records: the part that a QP fills in.
 */
#ifndef SRDMA_REPORT_H
#define SRDMA_REPORT_H

#include "objects/device.h"
#include "objects/qp.h"
#include "observe/errors.h"

/**
 * srdma_report_begin - a record about a QP
 * @error: filled: who, and which QP; the rest is zero
 * @qp: queue pair; the caller has one of its engines
 * @part: enum srdma_err_part
 */
static inline void srdma_report_begin(struct srdma_error *error,
				      const struct srdma_qp *qp, u8 part)
{
	*error = (struct srdma_error) {
		.maker = qp->maker,
		.part = part,
		.qpn = qp->qpn,
	};
	if (srdma_qp_has_peer(qp)) {
		error->peer_qpn = qp->attr.dest_qp_num;
		error->peer = qp->av.dst;
	}
}

static inline void srdma_report(const struct srdma_qp *qp,
				struct srdma_error *error)
{
	srdma_errors_add(&qp->dev->errors, qp->errors, error);
}

#endif
