/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Verbs that are refused. An errno says little, so the log has the reason.
 */
#ifndef SRDMA_REFUSE_H
#define SRDMA_REFUSE_H

#include <linux/types.h>

#include <rdma/softrdma-errors.h>
#include <rdma/softrdma-netlink.h>

#include "base/bounds.h"

struct ib_device;
struct srdma_dev;
struct srdma_qp;

/**
 * struct srdma_refused - a verb that is refused
 * @code: enum srdma_err
 * @err: errno to fail with, negative
 * @value: what was asked for
 * @limit: the most that there can be; 0: unknown
 */
struct srdma_refused {
	u16 code;
	int err;
	u64 value;
	u64 limit;
};

int srdma_refuse(struct ib_device *ib, bool is_user,
		 const struct srdma_refused *refused);
int srdma_refuse_by_rule(struct ib_device *ib, bool is_user,
			 enum srdma_nl_verb verb, u32 qpn);
int srdma_refuse_beyond(struct srdma_dev *dev, bool is_user,
			enum srdma_object kind);
int srdma_refuse_modify(const struct srdma_qp *qp, u32 index,
			const struct srdma_refused *refused);

/* As an expression: why, with which errno, what was asked for, what there is. */
#define SRDMA_REFUSED(name, error, asked, most)				\
	(&(const struct srdma_refused) {				\
		.code = SRDMA_ERR_##name,				\
		.err = -(error),					\
		.value = (asked),					\
		.limit = (most),					\
	})

#endif
