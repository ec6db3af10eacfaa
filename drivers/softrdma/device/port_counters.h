/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The counters of the port as InfiniBand has them.
 */
#ifndef SRDMA_PORT_COUNTERS_H
#define SRDMA_PORT_COUNTERS_H

#include <rdma/ib_verbs.h>

int srdma_port_counters_answer(struct ib_device *ib, int flags, u32 port,
			       const struct ib_wc *wc, const struct ib_grh *grh,
			       const struct ib_mad *in, struct ib_mad *out,
			       size_t *out_size, u16 *out_pkey_index);

#endif
