/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What `softrdma errors` says of what has failed. */
#ifndef SRT_ERRLOG_H
#define SRT_ERRLOG_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Does it say @words of a QP, or of anything on the link where @qpn is 0, and
 * why by this enum srdma_err, or any where @code is 0?
 */
bool errlog_says(const char *link, uint32_t qpn, uint32_t code,
		 const char *words);

/* Does a CQ's next completion have this status and vendor_err? */
bool errlog_completes(struct ibv_cq *cq, enum ibv_wc_status status,
		      uint32_t code);

#endif
