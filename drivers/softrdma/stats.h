/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Event counters of a device, shown by `rdma statistic`.
 */
#ifndef SRDMA_STATS_H
#define SRDMA_STATS_H

#include <linux/percpu.h>
#include <rdma/ib_verbs.h>

#include "proto/rc_req.h"
#include "proto/rc_resp.h"
#include "proto/ud.h"
#include "proto/uc.h"

/**
 * enum srdma_stat - what is counted; the names user space sees are in stats.c
 * @SRDMA_STAT_LINK_DOWN: the port went down
 * @SRDMA_STAT_CQ_OVERRUN: a completion found its queue full
 * @SRDMA_STAT_UD_NO_RWQE: a datagram found no receive request
 * @SRDMA_STAT_RESP: + enum srdma_req_resp: what responses were
 * @SRDMA_STAT_TIMER: + enum srdma_req_timer: what timeouts were
 * @SRDMA_STAT_REQ: + enum srdma_resp_verdict: what requests on RC were
 * @SRDMA_STAT_UC: + enum srdma_uc_verdict: what requests on UC were
 * @SRDMA_STAT_UD: + enum srdma_ud_recv: what datagrams were
 * @SRDMA_STAT_COUNT: number of counters
 */
enum srdma_stat {
	SRDMA_STAT_LINK_DOWN,
	SRDMA_STAT_CQ_OVERRUN,
	SRDMA_STAT_UD_NO_RWQE,
	SRDMA_STAT_RESP,
	SRDMA_STAT_TIMER = SRDMA_STAT_RESP + SRDMA_REQ_RESP_NR,
	SRDMA_STAT_REQ = SRDMA_STAT_TIMER + SRDMA_TIMER_NR,
	SRDMA_STAT_UC = SRDMA_STAT_REQ + SRDMA_RESP_NR,
	SRDMA_STAT_UD = SRDMA_STAT_UC + SRDMA_UC_NR,
	SRDMA_STAT_COUNT = SRDMA_STAT_UD + SRDMA_UD_RECV_NR,
};

/**
 * struct srdma_stats - the counters of one CPU
 * @value: since the device was made
 */
struct srdma_stats {
	u64 value[SRDMA_STAT_COUNT];
};

#define srdma_stat_add(dev, stat, n)	\
	this_cpu_add((dev)->stats->value[stat], n)
#define srdma_stat_inc(dev, stat)	srdma_stat_add(dev, stat, 1)

struct rdma_hw_stats *srdma_stats_alloc(struct ib_device *ib, u32 port);
int srdma_stats_get(struct ib_device *ib, struct rdma_hw_stats *stats,
		    u32 port, int index);

#endif
