/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Event counters of a device, shown by `rdma statistic`.
 */
#ifndef SRDMA_COUNTERS_H
#define SRDMA_COUNTERS_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "proto/packet.h"
#include "proto/rc_req.h"
#include "proto/rc_resp.h"
#include "proto/uc.h"
#include "proto/ud.h"

/**
 * enum srdma_stat - what is counted; the names user space sees are below
 * @SRDMA_STAT_LINK_DOWN: the port went down
 * @SRDMA_STAT_CQ_OVERRUN: a completion found its queue full
 * @SRDMA_STAT_CQ_BEYOND: a consumer had taken more than was ever added
 * @SRDMA_STAT_UD_NO_RWQE: a datagram found no receive request
 * @SRDMA_STAT_UD_SHORT_RWQE: a datagram found one without room for it
 * @SRDMA_STAT_BELL_WAITED: doorbells that waited, and those that they waited for
 * @SRDMA_STAT_BELL_LATE: waits that were long, and too few joined
 * @SRDMA_STAT_BELL_ATTENDED: doorbells whose tasks stayed with their engine
 * @SRDMA_STAT_URGED: how often softirq was run in the time of a program that polled
 * @SRDMA_STAT_TX_PACKETS: packets handed to the stack
 * @SRDMA_STAT_TX_BYTES: bytes behind their UDP headers
 * @SRDMA_STAT_TX_MULTICAST: packets among them to a multicast group
 * @SRDMA_STAT_TX_TRAINS: skbs among them that carried more than one
 * @SRDMA_STAT_TX_DROPPED: packets that the stack refused, or for which there
 *	was no memory any more
 * @SRDMA_STAT_TX_FAULT: packets that were lost because a rule says so
 * @SRDMA_STAT_TX_NO_ROUTE: packets that had nowhere to go
 * @SRDMA_STAT_TX_BUSY: bursts that had to wait for earlier ones to leave
 * @SRDMA_STAT_TX_LOOPED: packets to a QP of the same device
 * @SRDMA_STAT_TX_LOOPED_BYTES: of those, from BTH to ICRC
 * @SRDMA_STAT_TAP_LOST: looped packets that a capture lacks: no memory
 * @SRDMA_STAT_RX_PACKETS: packets that reached the engine they are for
 * @SRDMA_STAT_RX_BYTES: of those, from BTH to ICRC
 * @SRDMA_STAT_RX_MULTICAST: packets among them to a multicast group
 * @SRDMA_STAT_RX_TRAINS: skbs from the wire with more than one packet
 * @SRDMA_STAT_RX_DIRECT: skbs from the wire that took the short way
 *	(wire/shortcut.c)
 * @SRDMA_STAT_RX_MALFORMED: IP or UDP header does not agree with the packet
 * @SRDMA_STAT_RX_UNKNOWN_QP: no such QP, or no QP in the multicast group
 * @SRDMA_STAT_RX_WRONG_STATE: the QP is in no state to receive it
 * @SRDMA_STAT_RX_WRONG_SOURCE: not from the peer of the QP, or not to its
 *	address
 * @SRDMA_STAT_RX_WRONG_TRANSPORT: opcode of another transport than the QP's
 * @SRDMA_STAT_RX_WRONG_PKEY: P_Key that does not match
 * @SRDMA_STAT_RX_ICRC: wrong ICRC
 * @SRDMA_STAT_RX_INBOX_FULL: the QP, or its user, had too much waiting
 * @SRDMA_STAT_RX_GONE: looped, and the sender has ended its request since
 * @SRDMA_STAT_RX_FAULT: lost because a rule says so (observe/rule.h)
 * @SRDMA_STAT_RX_NO_MEMORY: no memory to hand it on, or only reserves
 * @SRDMA_STAT_RX_POLICY: IPsec or connection tracking did not let it in
 * @SRDMA_STAT_REQ_HELD: requests that were held back behind a hole
 * @SRDMA_STAT_REQ_WAITED: requests that waited here for a receive request
 * @SRDMA_STAT_ACK_CARRIED: acknowledges that waited, and left with a request
 * @SRDMA_STAT_CE: packets that had met congestion on their way
 * @SRDMA_STAT_CNP_SENT: congestion notifications sent
 * @SRDMA_STAT_CNP_HANDLED: those received, and followed
 * @SRDMA_STAT_CNP_IGNORED: those received of a datagram QP, which has no way to follow them
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
	SRDMA_STAT_CQ_BEYOND,
	SRDMA_STAT_UD_NO_RWQE,
	SRDMA_STAT_UD_SHORT_RWQE,
	SRDMA_STAT_BELL_WAITED,
	SRDMA_STAT_BELL_LATE,
	SRDMA_STAT_BELL_ATTENDED,
	SRDMA_STAT_URGED,
	SRDMA_STAT_TX_PACKETS,
	SRDMA_STAT_TX_BYTES,
	SRDMA_STAT_TX_MULTICAST,
	SRDMA_STAT_TX_TRAINS,
	SRDMA_STAT_TX_DROPPED,
	SRDMA_STAT_TX_FAULT,
	SRDMA_STAT_TX_NO_ROUTE,
	SRDMA_STAT_TX_BUSY,
	SRDMA_STAT_TX_LOOPED,
	SRDMA_STAT_TX_LOOPED_BYTES,
	SRDMA_STAT_TAP_LOST,
	SRDMA_STAT_RX_PACKETS,
	SRDMA_STAT_RX_BYTES,
	SRDMA_STAT_RX_MULTICAST,
	SRDMA_STAT_RX_TRAINS,
	SRDMA_STAT_RX_DIRECT,
	SRDMA_STAT_RX_MALFORMED,
	SRDMA_STAT_RX_UNKNOWN_QP,
	SRDMA_STAT_RX_WRONG_STATE,
	SRDMA_STAT_RX_WRONG_SOURCE,
	SRDMA_STAT_RX_WRONG_TRANSPORT,
	SRDMA_STAT_RX_WRONG_PKEY,
	SRDMA_STAT_RX_ICRC,
	SRDMA_STAT_RX_INBOX_FULL,
	SRDMA_STAT_RX_GONE,
	SRDMA_STAT_RX_FAULT,
	SRDMA_STAT_RX_NO_MEMORY,
	SRDMA_STAT_REQ_HELD,
	SRDMA_STAT_REQ_WAITED,
	SRDMA_STAT_ACK_CARRIED,
	SRDMA_STAT_CE,
	SRDMA_STAT_CNP_SENT,
	SRDMA_STAT_CNP_HANDLED,
	SRDMA_STAT_CNP_IGNORED,
	SRDMA_STAT_RX_POLICY,
	/* SRDMA_PARSE_OK is no drop: RX_POLICY has its place. */
	SRDMA_STAT_RX_BAD = SRDMA_STAT_RX_POLICY,
	SRDMA_STAT_RESP = SRDMA_STAT_RX_BAD + SRDMA_PARSE_NR,
	SRDMA_STAT_TIMER = SRDMA_STAT_RESP + SRDMA_REQ_RESP_NR,
	SRDMA_STAT_REQ = SRDMA_STAT_TIMER + SRDMA_TIMER_NR,
	SRDMA_STAT_UC = SRDMA_STAT_REQ + SRDMA_RESP_NR,
	SRDMA_STAT_UD = SRDMA_STAT_UC + SRDMA_UC_NR,
	SRDMA_STAT_COUNT = SRDMA_STAT_UD + SRDMA_UD_RECV_NR,
};

/*
 * The names that user space sees, of counters and in traces: S(counter, name),
 * and V(first of some counters, verdict, name) where verdicts are counted.
 * Documentation/softrdma/guide/counters.rst explains each.
 */
#define SRDMA_STATS(S, V)						\
	S(SRDMA_STAT_LINK_DOWN, "link_downed")				\
	S(SRDMA_STAT_CQ_OVERRUN, "cq_overrun")				\
	S(SRDMA_STAT_CQ_BEYOND, "cq_consumer_beyond")			\
	S(SRDMA_STAT_UD_NO_RWQE, "ud_no_receive_wqe")			\
	S(SRDMA_STAT_UD_SHORT_RWQE, "ud_short_receive_wqe")		\
	S(SRDMA_STAT_BELL_WAITED, "doorbell_waited")			\
	S(SRDMA_STAT_BELL_LATE, "doorbell_late")			\
	S(SRDMA_STAT_BELL_ATTENDED, "doorbell_attended")		\
	S(SRDMA_STAT_URGED, "softirq_urged")				\
	S(SRDMA_STAT_TX_PACKETS, "tx_packets")				\
	S(SRDMA_STAT_TX_BYTES, "tx_bytes")				\
	S(SRDMA_STAT_TX_MULTICAST, "tx_multicast")			\
	S(SRDMA_STAT_TX_TRAINS, "tx_trains")				\
	S(SRDMA_STAT_TX_DROPPED, "tx_dropped")				\
	S(SRDMA_STAT_TX_FAULT, "tx_drop_injected")			\
	S(SRDMA_STAT_TX_NO_ROUTE, "tx_no_route")			\
	S(SRDMA_STAT_TX_BUSY, "tx_busy")				\
	S(SRDMA_STAT_TX_LOOPED, "loop_packets")				\
	S(SRDMA_STAT_TX_LOOPED_BYTES, "loop_bytes")			\
	S(SRDMA_STAT_TAP_LOST, "loop_not_captured")			\
	S(SRDMA_STAT_RX_PACKETS, "rx_packets")				\
	S(SRDMA_STAT_RX_BYTES, "rx_bytes")				\
	S(SRDMA_STAT_RX_MULTICAST, "rx_multicast")			\
	S(SRDMA_STAT_RX_TRAINS, "rx_trains")				\
	S(SRDMA_STAT_RX_DIRECT, "rx_direct")				\
	S(SRDMA_STAT_RX_MALFORMED, "rx_drop_malformed")			\
	S(SRDMA_STAT_RX_UNKNOWN_QP, "rx_drop_unknown_qp")		\
	S(SRDMA_STAT_RX_WRONG_STATE, "rx_drop_state")			\
	S(SRDMA_STAT_RX_WRONG_SOURCE, "rx_drop_source")			\
	S(SRDMA_STAT_RX_WRONG_TRANSPORT, "rx_drop_transport")		\
	S(SRDMA_STAT_RX_WRONG_PKEY, "rx_drop_pkey")			\
	S(SRDMA_STAT_RX_ICRC, "rx_drop_icrc")				\
	S(SRDMA_STAT_RX_INBOX_FULL, "rx_drop_inbox_full")		\
	S(SRDMA_STAT_RX_GONE, "rx_drop_gone")				\
	S(SRDMA_STAT_RX_FAULT, "rx_drop_injected")			\
	S(SRDMA_STAT_RX_NO_MEMORY, "rx_drop_no_memory")			\
	S(SRDMA_STAT_RX_POLICY, "rx_drop_policy")			\
	V(SRDMA_STAT_RX_BAD, SRDMA_PARSE_SHORT, "rx_drop_short")	\
	V(SRDMA_STAT_RX_BAD, SRDMA_PARSE_UNALIGNED, "rx_drop_unaligned") \
	V(SRDMA_STAT_RX_BAD, SRDMA_PARSE_TVER, "rx_drop_version")	\
	V(SRDMA_STAT_RX_BAD, SRDMA_PARSE_OPCODE, "rx_drop_opcode")	\
	V(SRDMA_STAT_RX_BAD, SRDMA_PARSE_PAD, "rx_drop_pad")		\
	V(SRDMA_STAT_RX_BAD, SRDMA_PARSE_LENGTH, "rx_drop_length")	\
	V(SRDMA_STAT_RESP, SRDMA_REQ_ACK, "resp_acks")			\
	V(SRDMA_STAT_RESP, SRDMA_REQ_SACK, "resp_selective_acks")	\
	V(SRDMA_STAT_RESP, SRDMA_REQ_PLACE, "resp_read_data")		\
	V(SRDMA_STAT_RESP, SRDMA_REQ_ATOMIC, "resp_atomics")		\
	V(SRDMA_STAT_RESP, SRDMA_REQ_RETRY, "resp_nak_sequence")	\
	V(SRDMA_STAT_RESP, SRDMA_REQ_RNR_WAIT, "resp_nak_rnr")		\
	V(SRDMA_STAT_RESP, SRDMA_REQ_FAILED, "resp_nak_fatal")		\
	V(SRDMA_STAT_RESP, SRDMA_REQ_DROP_GHOST, "resp_drop_ghost")	\
	V(SRDMA_STAT_RESP, SRDMA_REQ_DROP_DUP, "resp_drop_duplicate")	\
	V(SRDMA_STAT_RESP, SRDMA_REQ_DROP_GAP, "resp_drop_gap")		\
	V(SRDMA_STAT_RESP, SRDMA_REQ_DROP_KIND, "resp_drop_kind")	\
	V(SRDMA_STAT_RESP, SRDMA_REQ_DROP_ERROR, "resp_drop_error")	\
	V(SRDMA_STAT_TIMER, SRDMA_TIMER_EARLY, "timer_early")		\
	V(SRDMA_STAT_TIMER, SRDMA_TIMER_RNR, "timer_rnr")		\
	V(SRDMA_STAT_TIMER, SRDMA_TIMER_PACE, "timer_pace")		\
	V(SRDMA_STAT_TIMER, SRDMA_TIMER_LATE, "timer_late")		\
	V(SRDMA_STAT_TIMER, SRDMA_TIMER_PROBE, "timer_probe")		\
	V(SRDMA_STAT_TIMER, SRDMA_TIMER_RETRY, "timer_retry")		\
	V(SRDMA_STAT_TIMER, SRDMA_TIMER_FAILED, "timer_retry_exceeded")	\
	V(SRDMA_STAT_REQ, SRDMA_RESP_SEND, "req_send")			\
	V(SRDMA_STAT_REQ, SRDMA_RESP_WRITE, "req_write")		\
	V(SRDMA_STAT_REQ, SRDMA_RESP_READ, "req_read")			\
	V(SRDMA_STAT_REQ, SRDMA_RESP_ATOMIC, "req_atomic")		\
	V(SRDMA_STAT_REQ, SRDMA_RESP_ATOMIC_WRITE, "req_atomic_write")	\
	V(SRDMA_STAT_REQ, SRDMA_RESP_FLUSH, "req_flush")		\
	V(SRDMA_STAT_REQ, SRDMA_RESP_DUP_READ, "req_duplicate_read")	\
	V(SRDMA_STAT_REQ, SRDMA_RESP_DUP, "req_duplicate")		\
	V(SRDMA_STAT_REQ, SRDMA_RESP_NAK_INV_REQ, "req_invalid")	\
	S(SRDMA_STAT_REQ_HELD, "req_held")				\
	S(SRDMA_STAT_REQ_WAITED, "req_waited")				\
	S(SRDMA_STAT_ACK_CARRIED, "ack_carried")			\
	V(SRDMA_STAT_REQ, SRDMA_RESP_DROP_GAP, "req_out_of_sequence")	\
	V(SRDMA_STAT_REQ, SRDMA_RESP_DROP_OLD, "req_drop_old")		\
	V(SRDMA_STAT_REQ, SRDMA_RESP_DROP_RANGE, "req_drop_range")	\
	V(SRDMA_STAT_REQ, SRDMA_RESP_DROP_ERROR, "req_drop_error")	\
	S(SRDMA_STAT_CE, "np_ecn_marked_roce_packets")			\
	S(SRDMA_STAT_CNP_SENT, "np_cnp_sent")				\
	S(SRDMA_STAT_CNP_HANDLED, "rp_cnp_handled")			\
	S(SRDMA_STAT_CNP_IGNORED, "rp_cnp_ignored")			\
	V(SRDMA_STAT_UC, SRDMA_UC_SEND, "uc_send")			\
	V(SRDMA_STAT_UC, SRDMA_UC_WRITE, "uc_write")			\
	V(SRDMA_STAT_UC, SRDMA_UC_DROP_LOST, "uc_drop_lost")		\
	V(SRDMA_STAT_UC, SRDMA_UC_DROP_SEQ, "uc_drop_sequence")		\
	V(SRDMA_STAT_UC, SRDMA_UC_DROP_LEN, "uc_drop_length")		\
	V(SRDMA_STAT_UD, SRDMA_UD_RECV_OK, "ud_received")		\
	V(SRDMA_STAT_UD, SRDMA_UD_RECV_OPCODE, "ud_drop_opcode")	\
	V(SRDMA_STAT_UD, SRDMA_UD_RECV_PKEY, "ud_drop_pkey")		\
	V(SRDMA_STAT_UD, SRDMA_UD_RECV_QKEY, "ud_drop_qkey")		\
	V(SRDMA_STAT_UD, SRDMA_UD_RECV_LENGTH, "ud_drop_length")

/**
 * struct srdma_stats - the counters of one CPU
 * @value: since the device was made
 */
struct srdma_stats {
	u64 value[SRDMA_STAT_COUNT];
};

#define srdma_stat_add(dev, stat, n)	\
	this_cpu_add((dev)->stats->value[stat], (u64)(n))
#define srdma_stat_inc(dev, stat)	srdma_stat_add(dev, stat, 1)

#endif
