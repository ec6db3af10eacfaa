/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Event counters of a device, shown by `rdma statistic`.
 */
#ifndef SRDMA_STATS_H
#define SRDMA_STATS_H

#include <linux/percpu.h>
#include <rdma/ib_verbs.h>

#include "proto/packet.h"
#include "proto/rc_req.h"
#include "proto/rc_resp.h"
#include "proto/ud.h"
#include "proto/uc.h"

/**
 * enum srdma_stat - what is counted; the names user space sees are in stats.c
 * @SRDMA_STAT_LINK_DOWN: the port went down
 * @SRDMA_STAT_CQ_OVERRUN: a completion found its queue full
 * @SRDMA_STAT_UD_NO_RWQE: a datagram found no receive request
 * @SRDMA_STAT_TX_PACKETS: packets handed to the stack
 * @SRDMA_STAT_TX_BYTES: bytes behind their UDP headers
 * @SRDMA_STAT_TX_TRAINS: skbs among them that carried more than one
 * @SRDMA_STAT_TX_DROPPED: packets that the stack refused, or for which there
 *	was no memory any more
 * @SRDMA_STAT_TX_NO_ROUTE: bursts that had nowhere to go
 * @SRDMA_STAT_TX_BUSY: bursts that had to wait for earlier ones to leave
 * @SRDMA_STAT_TX_LOOPED: packets to a QP of the same device
 * @SRDMA_STAT_TX_LOOPED_BYTES: payload of these
 * @SRDMA_STAT_RX_PACKETS: packets that reached the engine they are for
 * @SRDMA_STAT_RX_BYTES: of those, from BTH to ICRC
 * @SRDMA_STAT_RX_TRAINS: skbs from the wire with more than one packet
 * @SRDMA_STAT_RX_MALFORMED: IP or UDP header does not agree with the packet
 * @SRDMA_STAT_RX_UNKNOWN_QP: no such QP, or nobody in the multicast group
 * @SRDMA_STAT_RX_WRONG_STATE: the QP is in no state to receive it
 * @SRDMA_STAT_RX_WRONG_SOURCE: not from the peer of the QP, or not to its
 *	address
 * @SRDMA_STAT_RX_WRONG_TRANSPORT: opcode of another transport than the QP's
 * @SRDMA_STAT_RX_WRONG_PKEY: P_Key that does not match
 * @SRDMA_STAT_RX_ICRC: wrong ICRC
 * @SRDMA_STAT_RX_INBOX_FULL: the QP had too much waiting
 * @SRDMA_STAT_RX_NO_MEMORY: no memory to hand it on
 * @SRDMA_STAT_RX_BAD: + enum srdma_parse: packets that are none
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
	SRDMA_STAT_TX_PACKETS,
	SRDMA_STAT_TX_BYTES,
	SRDMA_STAT_TX_TRAINS,
	SRDMA_STAT_TX_DROPPED,
	SRDMA_STAT_TX_NO_ROUTE,
	SRDMA_STAT_TX_BUSY,
	SRDMA_STAT_TX_LOOPED,
	SRDMA_STAT_TX_LOOPED_BYTES,
	SRDMA_STAT_RX_PACKETS,
	SRDMA_STAT_RX_BYTES,
	SRDMA_STAT_RX_TRAINS,
	SRDMA_STAT_RX_MALFORMED,
	SRDMA_STAT_RX_UNKNOWN_QP,
	SRDMA_STAT_RX_WRONG_STATE,
	SRDMA_STAT_RX_WRONG_SOURCE,
	SRDMA_STAT_RX_WRONG_TRANSPORT,
	SRDMA_STAT_RX_WRONG_PKEY,
	SRDMA_STAT_RX_ICRC,
	SRDMA_STAT_RX_INBOX_FULL,
	SRDMA_STAT_RX_NO_MEMORY,
	/* SRDMA_PARSE_OK is no drop: RX_NO_MEMORY has its place. */
	SRDMA_STAT_RX_BAD = SRDMA_STAT_RX_NO_MEMORY,
	SRDMA_STAT_RESP = SRDMA_STAT_RX_BAD + SRDMA_PARSE_NR,
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
