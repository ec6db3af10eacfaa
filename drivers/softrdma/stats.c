// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters: names, and the sum over CPUs.
 */
#include "device.h"
#include "stats.h"

static const struct rdma_stat_desc stat_descs[] = {
	[SRDMA_STAT_LINK_DOWN].name = "link_downed",
	[SRDMA_STAT_CQ_OVERRUN].name = "cq_overrun",
	[SRDMA_STAT_UD_NO_RWQE].name = "ud_no_receive_wqe",
	[SRDMA_STAT_TX_PACKETS].name = "tx_packets",
	[SRDMA_STAT_TX_BYTES].name = "tx_bytes",
	[SRDMA_STAT_TX_TRAINS].name = "tx_trains",
	[SRDMA_STAT_TX_DROPPED].name = "tx_dropped",
	[SRDMA_STAT_TX_NO_ROUTE].name = "tx_no_route",
	[SRDMA_STAT_TX_BUSY].name = "tx_busy",
	[SRDMA_STAT_TX_LOOPED].name = "loop_packets",
	[SRDMA_STAT_TX_LOOPED_BYTES].name = "loop_bytes",

	[SRDMA_STAT_RX_PACKETS].name = "rx_packets",
	[SRDMA_STAT_RX_BYTES].name = "rx_bytes",
	[SRDMA_STAT_RX_TRAINS].name = "rx_trains",
	[SRDMA_STAT_RX_MALFORMED].name = "rx_drop_malformed",
	[SRDMA_STAT_RX_UNKNOWN_QP].name = "rx_drop_unknown_qp",
	[SRDMA_STAT_RX_WRONG_STATE].name = "rx_drop_state",
	[SRDMA_STAT_RX_WRONG_SOURCE].name = "rx_drop_source",
	[SRDMA_STAT_RX_WRONG_TRANSPORT].name = "rx_drop_transport",
	[SRDMA_STAT_RX_WRONG_PKEY].name = "rx_drop_pkey",
	[SRDMA_STAT_RX_ICRC].name = "rx_drop_icrc",
	[SRDMA_STAT_RX_INBOX_FULL].name = "rx_drop_inbox_full",
	[SRDMA_STAT_RX_NO_MEMORY].name = "rx_drop_no_memory",
	[SRDMA_STAT_RX_BAD + SRDMA_PARSE_SHORT].name = "rx_drop_short",
	[SRDMA_STAT_RX_BAD + SRDMA_PARSE_UNALIGNED].name = "rx_drop_unaligned",
	[SRDMA_STAT_RX_BAD + SRDMA_PARSE_TVER].name = "rx_drop_version",
	[SRDMA_STAT_RX_BAD + SRDMA_PARSE_OPCODE].name = "rx_drop_opcode",
	[SRDMA_STAT_RX_BAD + SRDMA_PARSE_PAD].name = "rx_drop_pad",
	[SRDMA_STAT_RX_BAD + SRDMA_PARSE_LENGTH].name = "rx_drop_length",

	[SRDMA_STAT_RESP + SRDMA_REQ_ACK].name = "resp_acks",
	[SRDMA_STAT_RESP + SRDMA_REQ_PLACE].name = "resp_read_data",
	[SRDMA_STAT_RESP + SRDMA_REQ_ATOMIC].name = "resp_atomics",
	[SRDMA_STAT_RESP + SRDMA_REQ_RETRY].name = "resp_nak_sequence",
	[SRDMA_STAT_RESP + SRDMA_REQ_RNR_WAIT].name = "resp_nak_rnr",
	[SRDMA_STAT_RESP + SRDMA_REQ_FAILED].name = "resp_nak_fatal",
	[SRDMA_STAT_RESP + SRDMA_REQ_DROP_GHOST].name = "resp_drop_ghost",
	[SRDMA_STAT_RESP + SRDMA_REQ_DROP_DUP].name = "resp_drop_duplicate",
	[SRDMA_STAT_RESP + SRDMA_REQ_DROP_GAP].name = "resp_drop_gap",
	[SRDMA_STAT_RESP + SRDMA_REQ_DROP_KIND].name = "resp_drop_kind",
	[SRDMA_STAT_RESP + SRDMA_REQ_DROP_ERROR].name = "resp_drop_error",

	[SRDMA_STAT_TIMER + SRDMA_TIMER_EARLY].name = "timer_early",
	[SRDMA_STAT_TIMER + SRDMA_TIMER_RNR].name = "timer_rnr",
	[SRDMA_STAT_TIMER + SRDMA_TIMER_PROBE].name = "timer_probe",
	[SRDMA_STAT_TIMER + SRDMA_TIMER_RETRY].name = "timer_retry",
	[SRDMA_STAT_TIMER + SRDMA_TIMER_FAILED].name = "timer_retry_exceeded",

	[SRDMA_STAT_REQ + SRDMA_RESP_SEND].name = "req_send",
	[SRDMA_STAT_REQ + SRDMA_RESP_WRITE].name = "req_write",
	[SRDMA_STAT_REQ + SRDMA_RESP_READ].name = "req_read",
	[SRDMA_STAT_REQ + SRDMA_RESP_ATOMIC].name = "req_atomic",
	[SRDMA_STAT_REQ + SRDMA_RESP_ATOMIC_WRITE].name = "req_atomic_write",
	[SRDMA_STAT_REQ + SRDMA_RESP_FLUSH].name = "req_flush",
	[SRDMA_STAT_REQ + SRDMA_RESP_DUP_READ].name = "req_duplicate_read",
	[SRDMA_STAT_REQ + SRDMA_RESP_DUP].name = "req_duplicate",
	[SRDMA_STAT_REQ + SRDMA_RESP_NAK_INV_REQ].name = "req_invalid",
	[SRDMA_STAT_REQ + SRDMA_RESP_DROP_GAP].name = "req_out_of_sequence",
	[SRDMA_STAT_REQ + SRDMA_RESP_DROP_OLD].name = "req_drop_old",
	[SRDMA_STAT_REQ + SRDMA_RESP_DROP_RANGE].name = "req_drop_range",
	[SRDMA_STAT_REQ + SRDMA_RESP_DROP_ERROR].name = "req_drop_error",

	[SRDMA_STAT_UC + SRDMA_UC_SEND].name = "uc_send",
	[SRDMA_STAT_UC + SRDMA_UC_WRITE].name = "uc_write",
	[SRDMA_STAT_UC + SRDMA_UC_DROP_LOST].name = "uc_drop_lost",
	[SRDMA_STAT_UC + SRDMA_UC_DROP_SEQ].name = "uc_drop_sequence",
	[SRDMA_STAT_UC + SRDMA_UC_DROP_LEN].name = "uc_drop_length",

	[SRDMA_STAT_UD + SRDMA_UD_RECV_OK].name = "ud_received",
	[SRDMA_STAT_UD + SRDMA_UD_RECV_OPCODE].name = "ud_drop_opcode",
	[SRDMA_STAT_UD + SRDMA_UD_RECV_PKEY].name = "ud_drop_pkey",
	[SRDMA_STAT_UD + SRDMA_UD_RECV_QKEY].name = "ud_drop_qkey",
	[SRDMA_STAT_UD + SRDMA_UD_RECV_LENGTH].name = "ud_drop_length",
};

static_assert(ARRAY_SIZE(stat_descs) == SRDMA_STAT_COUNT);

struct rdma_hw_stats *srdma_stats_alloc(struct ib_device *ib, u32 port)
{
	return rdma_alloc_hw_stats_struct(stat_descs, SRDMA_STAT_COUNT,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int srdma_stats_get(struct ib_device *ib, struct rdma_hw_stats *stats,
		    u32 port, int index)
{
	struct srdma_dev *dev = to_sdev(ib);
	int cpu, i;

	if (!port)
		return -EINVAL;
	for (i = 0; i < SRDMA_STAT_COUNT; i++) {
		u64 sum = 0;

		for_each_possible_cpu(cpu)
			sum += per_cpu_ptr(dev->stats, cpu)->value[i];
		stats->value[i] = sum;
	}
	return SRDMA_STAT_COUNT;
}
