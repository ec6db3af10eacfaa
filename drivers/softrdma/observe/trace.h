/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tracepoints: events/softrdma in tracefs. They are handed objects and pick
 * them apart themselves, so that one that is off costs a no-op in the path.
 * Documentation/softrdma/guide/counters.rst explains each.
 *
 * A device is shown by its index ("rdma link" lists them): its name would be
 * most of an entry.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM softrdma

#if !defined(SRDMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SRDMA_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>
#include <trace/misc/rdma.h>

#include "observe/counters.h"

struct srdma_dev;
struct srdma_pkt;
struct srdma_qp;
struct srdma_rule;
struct srdma_rules;
struct srdma_subject;
struct srdma_tx;
struct srdma_wqe;

/* Lists of symbols: NAME(value, text). */
#define SRDMA_TRACE_STATES(NAME)					\
	NAME(IB_QPS_RESET, "RESET")					\
	NAME(IB_QPS_INIT, "INIT")					\
	NAME(IB_QPS_RTR, "RTR")						\
	NAME(IB_QPS_RTS, "RTS")						\
	NAME(IB_QPS_SQD, "SQD")						\
	NAME(IB_QPS_SQE, "SQE")						\
	NAME(IB_QPS_ERR, "ERR")

#define SRDMA_TRACE_WRS(NAME)						\
	NAME(SRDMA_WR_WRITE, "WRITE")					\
	NAME(SRDMA_WR_WRITE_IMM, "WRITE_IMM")				\
	NAME(SRDMA_WR_SEND, "SEND")					\
	NAME(SRDMA_WR_SEND_IMM, "SEND_IMM")				\
	NAME(SRDMA_WR_READ, "READ")					\
	NAME(SRDMA_WR_CMP_SWAP, "CMP_SWAP")				\
	NAME(SRDMA_WR_FETCH_ADD, "FETCH_ADD")				\
	NAME(SRDMA_WR_LOCAL_INV, "LOCAL_INV")				\
	NAME(SRDMA_WR_BIND_MW, "BIND_MW")				\
	NAME(SRDMA_WR_SEND_INV, "SEND_INV")				\
	NAME(SRDMA_WR_FLUSH, "FLUSH")					\
	NAME(SRDMA_WR_ATOMIC_WRITE, "ATOMIC_WRITE")			\
	NAME(SRDMA_WR_REG_MR, "REG_MR")

#define SRDMA_TRACE_KINDS(NAME)						\
	NAME(SRDMA_PACKET_IN_WIRE, "wire")				\
	NAME(SRDMA_PACKET_IN_TRUSTED, "trusted")			\
	NAME(SRDMA_PACKET_IN_LOOP, "looped")

/* Tools that parse the formats learn the values by these. */
#define SRDMA_DEFINE(value, text)	TRACE_DEFINE_ENUM(value);
#define SRDMA_DEFINE_VERDICT(base, value, text)	TRACE_DEFINE_ENUM(value);
SRDMA_TRACE_STATES(SRDMA_DEFINE)
SRDMA_TRACE_WRS(SRDMA_DEFINE)
SRDMA_TRACE_KINDS(SRDMA_DEFINE)
SRDMA_STATS(SRDMA_DEFINE, SRDMA_DEFINE_VERDICT)
TRACE_DEFINE_ENUM(SRDMA_STAT_RX_BAD);
TRACE_DEFINE_ENUM(SRDMA_STAT_RESP);
TRACE_DEFINE_ENUM(SRDMA_STAT_TIMER);
TRACE_DEFINE_ENUM(SRDMA_STAT_REQ);
TRACE_DEFINE_ENUM(SRDMA_STAT_UC);
TRACE_DEFINE_ENUM(SRDMA_STAT_UD);

#ifndef SRDMA_SYMBOL
#define SRDMA_SYMBOL(value, text)		{ value, text },
#define SRDMA_VERDICT(base, value, text)	{ base + value, text },
#define srdma_show_state(x)						\
	__print_symbolic(x, SRDMA_TRACE_STATES(SRDMA_SYMBOL) { -1, "?" })
#define srdma_show_wr(x)						\
	__print_symbolic(x, SRDMA_TRACE_WRS(SRDMA_SYMBOL) { -1, "?" })
#define srdma_show_kind(x)						\
	__print_symbolic(x, SRDMA_TRACE_KINDS(SRDMA_SYMBOL) { -1, "?" })
#define srdma_show_stat(x)						\
	__print_symbolic(x, SRDMA_STATS(SRDMA_SYMBOL, SRDMA_VERDICT)	\
			 { -1, "?" })
#endif

TRACE_EVENT(srdma_state,
	TP_PROTO(const struct srdma_qp *qp, enum ib_qp_state to),
	TP_ARGS(qp, to),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, qpn)
		__field(u32, from)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->dev = qp->dev->ib.index;
		__entry->qpn = qp->qpn;
		__entry->from = qp->state;
		__entry->to = to;
	),
	TP_printk("dev=%u qpn=%u from=%s to=%s", __entry->dev, __entry->qpn,
		  srdma_show_state(__entry->from),
		  srdma_show_state(__entry->to))
);

TRACE_EVENT(srdma_event,
	TP_PROTO(const struct srdma_qp *qp, enum ib_event_type type),
	TP_ARGS(qp, type),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, qpn)
		__field(u32, type)
	),
	TP_fast_assign(
		__entry->dev = qp->dev->ib.index;
		__entry->qpn = qp->qpn;
		__entry->type = type;
	),
	TP_printk("dev=%u qpn=%u event=%s", __entry->dev, __entry->qpn,
		  rdma_show_ib_event(__entry->type))
);

TRACE_EVENT(srdma_wqe_fetch,
	TP_PROTO(const struct srdma_qp *qp, const struct srdma_wqe *wqe),
	TP_ARGS(qp, wqe),
	TP_STRUCT__entry(
		__field(u64, wr_id)
		__field(u32, dev)
		__field(u32, qpn)
		__field(u32, op)
		__field(u32, len)
		__field(u32, num_sge)
		__field(bool, is_inline)
	),
	TP_fast_assign(
		__entry->wr_id = wqe->wr_id;
		__entry->dev = qp->dev->ib.index;
		__entry->qpn = qp->qpn;
		__entry->op = wqe->msg.op;
		__entry->len = wqe->msg.len;
		__entry->num_sge = wqe->num_sge;
		__entry->is_inline = wqe->is_inline;
	),
	TP_printk("dev=%u qpn=%u wr_id=0x%llx op=%s bytes=%u sges=%u%s",
		  __entry->dev, __entry->qpn, __entry->wr_id,
		  srdma_show_wr(__entry->op), __entry->len, __entry->num_sge,
		  __entry->is_inline ? " inline" : "")
);

TRACE_EVENT(srdma_wqe_done,
	TP_PROTO(const struct srdma_qp *qp, const struct srdma_wqe *wqe,
		 u32 status, u32 vendor_err),
	TP_ARGS(qp, wqe, status, vendor_err),
	TP_STRUCT__entry(
		__field(u64, wr_id)
		__field(u32, dev)
		__field(u32, qpn)
		__field(u32, op)
		__field(u32, status)
		__field(u32, vendor_err)
	),
	TP_fast_assign(
		__entry->wr_id = wqe->wr_id;
		__entry->dev = qp->dev->ib.index;
		__entry->qpn = qp->qpn;
		__entry->op = wqe->msg.op;
		__entry->status = status;
		__entry->vendor_err = vendor_err;
	),
	TP_printk("dev=%u qpn=%u wr_id=0x%llx op=%s status=%s vendor_err=%u",
		  __entry->dev, __entry->qpn, __entry->wr_id,
		  srdma_show_wr(__entry->op),
		  rdma_show_wc_status(__entry->status), __entry->vendor_err)
);

TRACE_EVENT(srdma_rwqe_done,
	TP_PROTO(const struct srdma_qp *qp, const struct ib_wc *wc),
	TP_ARGS(qp, wc),
	TP_STRUCT__entry(
		__field(u64, wr_id)
		__field(u32, dev)
		__field(u32, qpn)
		__field(u32, len)
		__field(u32, status)
		__field(u32, vendor_err)
	),
	TP_fast_assign(
		__entry->wr_id = wc->wr_id;
		__entry->dev = qp->dev->ib.index;
		__entry->qpn = qp->qpn;
		__entry->len = wc->byte_len;
		__entry->status = wc->status;
		__entry->vendor_err = wc->vendor_err;
	),
	TP_printk("dev=%u qpn=%u wr_id=0x%llx bytes=%u status=%s vendor_err=%u",
		  __entry->dev, __entry->qpn, __entry->wr_id, __entry->len,
		  rdma_show_wc_status(__entry->status), __entry->vendor_err)
);

/*
 * Packets @first to @first + @count - 1 of a burst leave in one skb, which has
 * so many bytes with them.
 */
TRACE_EVENT(srdma_tx,
	TP_PROTO(const struct srdma_tx *tx, const struct sk_buff *skb,
		 u32 first, u32 count),
	TP_ARGS(tx, skb, first, count),
	TP_STRUCT__entry(
		__field(const void *, skb)
		__field(u32, dev)
		__field(u32, qpn)
		__field(u32, dest_qpn)
		__field(u32, psn)
		__field(u32, count)
		__field(u32, len)
		__field(u8, opcode)
		__field(bool, is_local)
	),
	TP_fast_assign(
		__entry->skb = skb;
		__entry->dev = tx->qp->dev->ib.index;
		__entry->qpn = tx->qp->qpn;
		__entry->dest_qpn = tx->hdr->dest_qpn;
		__entry->psn = srdma_burst_psn(tx->burst, first);
		__entry->count = count;
		__entry->len = skb->len;
		__entry->opcode = srdma_burst_opcode(tx->burst, first);
		__entry->is_local = tx->path->is_local;
	),
	TP_printk("dev=%u qpn=%u dest_qpn=%u opcode=0x%02x psn=0x%06x packets=%u bytes=%u skb=%p%s",
		  __entry->dev, __entry->qpn, __entry->dest_qpn,
		  __entry->opcode, __entry->psn, __entry->count, __entry->len,
		  __entry->skb, __entry->is_local ? " looped" : "")
);

/* What arrived goes into the inbox of an engine. */
TRACE_EVENT(srdma_rx,
	TP_PROTO(const struct srdma_qp *qp, const struct sk_buff *skb,
		 bool response),
	TP_ARGS(qp, skb, response),
	TP_STRUCT__entry(
		__field(const void *, skb)
		__field(u32, dev)
		__field(u32, qpn)
		__field(u32, count)
		__field(u32, len)
		__field(u32, kind)
		__field(bool, response)
	),
	TP_fast_assign(
		__entry->skb = skb;
		__entry->dev = qp->dev->ib.index;
		__entry->qpn = qp->qpn;
		__entry->count = srdma_packet_in(skb)->left;
		__entry->len = skb->len;
		__entry->kind = srdma_packet_in(skb)->kind;
		__entry->response = response;
	),
	TP_printk("dev=%u qpn=%u %s packets=%u bytes=%u skb=%p %s",
		  __entry->dev, __entry->qpn,
		  __entry->response ? "responses" : "requests",
		  __entry->count, __entry->len, __entry->skb,
		  srdma_show_kind(__entry->kind))
);

/*
 * An engine has judged a packet, or a run; @stat is the verdict's counter, or
 * SRDMA_STAT_RX_PACKETS where it had none. It came in @skb.
 */
TRACE_EVENT(srdma_packet,
	TP_PROTO(const struct srdma_qp *qp, const struct sk_buff *skb,
		 const struct srdma_pkt *pkt, u32 stat),
	TP_ARGS(qp, skb, pkt, stat),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, count)
		__field(u32, len)
		__field(u32, stat)
		__field(u8, opcode)
		__field(bool, is_looped)
	),
	TP_fast_assign(
		__entry->dev = qp->dev->ib.index;
		__entry->qpn = qp->qpn;
		__entry->psn = pkt->psn;
		__entry->count = pkt->more + 1;
		__entry->len = pkt->payload_len;
		__entry->stat = stat;
		__entry->opcode = pkt->opcode;
		__entry->is_looped = srdma_packet_in(skb)->is_looped;
	),
	TP_printk("dev=%u qpn=%u opcode=0x%02x psn=0x%06x packets=%u bytes=%u verdict=%s%s",
		  __entry->dev, __entry->qpn, __entry->opcode, __entry->psn,
		  __entry->count, __entry->len, srdma_show_stat(__entry->stat),
		  __entry->is_looped ? " looped" : "")
);

/* Packets end here; @stat is the counter of the reason. */
TRACE_EVENT(srdma_drop,
	TP_PROTO(const struct srdma_dev *dev, u32 stat, u32 count),
	TP_ARGS(dev, stat, count),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, stat)
		__field(u32, count)
	),
	TP_fast_assign(
		__entry->dev = dev->ib.index;
		__entry->stat = stat;
		__entry->count = count;
	),
	TP_printk("dev=%u packets=%u reason=%s", __entry->dev, __entry->count,
		  srdma_show_stat(__entry->stat))
);

TRACE_EVENT(srdma_timer_arm,
	TP_PROTO(const struct srdma_qp *qp, u64 at),
	TP_ARGS(qp, at),
	TP_STRUCT__entry(
		__field(u64, at)
		__field(u32, dev)
		__field(u32, qpn)
	),
	TP_fast_assign(
		__entry->at = at;
		__entry->dev = qp->dev->ib.index;
		__entry->qpn = qp->qpn;
	),
	TP_printk("dev=%u qpn=%u at=%llu", __entry->dev, __entry->qpn,
		  __entry->at)
);

/* The timer has fired; @stat is the counter of what that meant. */
TRACE_EVENT(srdma_timer_fire,
	TP_PROTO(const struct srdma_qp *qp, u32 stat),
	TP_ARGS(qp, stat),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, qpn)
		__field(u32, stat)
	),
	TP_fast_assign(
		__entry->dev = qp->dev->ib.index;
		__entry->qpn = qp->qpn;
		__entry->stat = stat;
	),
	TP_printk("dev=%u qpn=%u meaning=%s", __entry->dev, __entry->qpn,
		  srdma_show_stat(__entry->stat))
);

/* The requester may have another number of packets under way. */
TRACE_EVENT(srdma_window,
	TP_PROTO(const struct srdma_qp *qp, u32 packets),
	TP_ARGS(qp, packets),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, qpn)
		__field(u32, packets)
	),
	TP_fast_assign(
		__entry->dev = qp->dev->ib.index;
		__entry->qpn = qp->qpn;
		__entry->packets = packets;
	),
	TP_printk("dev=%u qpn=%u packets=%u", __entry->dev, __entry->qpn,
		  __entry->packets)
);

/* A rule of a device has hit @what. */
TRACE_EVENT(srdma_rule,
	TP_PROTO(const struct srdma_rules *rules, const struct srdma_rule *rule,
		 const struct srdma_subject *what),
	TP_ARGS(rules, rule, what),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, rule)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, point)
		__field(u8, action)
		__field(u8, op)
	),
	TP_fast_assign(
		__entry->dev = srdma_dev_of_rules(rules)->ib.index;
		__entry->rule = rule->id;
		__entry->qpn = what->qpn;
		__entry->psn = what->psn;
		__entry->point = rule->point;
		__entry->action = rule->order.action;
		__entry->op = what->op;
	),
	TP_printk("dev=%u rule=%u qpn=%u point=%u action=%u op=0x%02x psn=0x%06x",
		  __entry->dev, __entry->rule, __entry->qpn, __entry->point,
		  __entry->action, __entry->op, __entry->psn)
);

TRACE_EVENT(srdma_port,
	TP_PROTO(const struct srdma_dev *dev, bool up),
	TP_ARGS(dev, up),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(bool, up)
	),
	TP_fast_assign(
		__entry->dev = dev->ib.index;
		__entry->up = up;
	),
	TP_printk("dev=%u %s", __entry->dev, __entry->up ? "up" : "down")
);

/* A link can be used from now on, or not any more. */
TRACE_EVENT(srdma_link,
	TP_PROTO(const struct srdma_dev *dev, bool comes),
	TP_ARGS(dev, comes),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(bool, comes)
	),
	TP_fast_assign(
		__entry->dev = dev->ib.index;
		__entry->comes = comes;
	),
	TP_printk("dev=%u %s", __entry->dev, __entry->comes ? "new" : "gone")
);

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH observe
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
