// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The sources of events: probes on the driver's tracepoints, which exist while
 * a listener wants events of that kind. A tracepoint without a listener is a
 * no-op in the path, as it is without tracing.
 *
 * A probe runs where the event happens, with preemption disabled, perhaps with
 * a lock held and interrupts disabled. So it takes no lock that may sleep, on
 * real-time kernels either, and allocates nothing.
 */
#include "control/monitor.h"
#include "control/probes.h"
#include "device/link.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "observe/rule.h"
#include "observe/trace.h"
#include "proto/aeth.h"
#include "wire/packet_in.h"
#include "wire/tx.h"

/* ---- packets ---- */

/**
 * struct audience - what listeners want of the packets of a QP
 * @qp: queue pair
 * @packets: all of them
 * @naks: those that are a NAK
 */
struct audience {
	const struct srdma_qp *qp;
	bool packets;
	bool naks;
};

/* Most packets interest no listener, and are not parsed. */
static bool find_audience(struct audience *to, const struct srdma_qp *qp)
{
	to->qp = qp;
	to->packets = srdma_monitor_hears(qp->dev, qp->qpn,
					  SRDMA_NL_EV_PACKET);
	to->naks = srdma_monitor_hears(qp->dev, qp->qpn, SRDMA_NL_EV_NAK);
	return to->packets || to->naks;
}

static bool is_nak(const struct srdma_event *event)
{
	u8 type = event->packet.syndrome & SRDMA_AETH_TYPE_MASK;

	return event->packet.opcode == SRDMA_RC_ACK &&
	       (type == SRDMA_AETH_RNR || type == SRDMA_AETH_NAK);
}

/* The opcode, and what goes with it, are added here. */
static void tell_packet(const struct audience *to, struct srdma_event *event,
			const struct srdma_pkt *hdr, u8 opcode, u32 payload)
{
	const struct srdma_opcode_info *op = srdma_opcode_get(opcode);

	event->packet.opcode = opcode;
	event->packet.payload = payload;
	event->packet.len = srdma_pkt_wire_len(op->hdr_len, payload);
	event->packet.syndrome = 0;
	event->packet.msn = 0;
	if (op->flags & SRDMA_OP_AETH) {
		event->packet.syndrome = hdr->aeth.syndrome;
		event->packet.msn = hdr->aeth.msn;
	}
	event->kind = SRDMA_NL_EV_PACKET;
	if (to->packets)
		srdma_monitor_tell(to->qp->dev, event);
	event->kind = SRDMA_NL_EV_NAK;
	if (to->naks && is_nak(event))
		srdma_monitor_tell(to->qp->dev, event);
}

static u32 payload_of(const struct srdma_burst *burst, u32 i)
{
	const struct srdma_opcode_info *op =
		srdma_opcode_get(srdma_burst_opcode(burst, i));

	return op->payload == SRDMA_PAY_NONE ? 0 : srdma_burst_payload(burst, i);
}

/* Only the last of a burst asks for anything. */
static u8 tx_flags(const struct srdma_burst *burst, bool is_last, bool is_looped)
{
	u8 flags = is_looped ? SRDMA_NL_EF_LOOPED : 0;

	if (burst->resend)
		flags |= SRDMA_NL_EF_AGAIN;
	if (is_last && burst->ack_req)
		flags |= SRDMA_NL_EF_ACKREQ;
	if (is_last && burst->solicited)
		flags |= SRDMA_NL_EF_SOLICITED;
	return flags;
}

static void on_tx(void *unused, const struct srdma_tx *tx,
		  const struct sk_buff *skb, u32 first, u32 count)
{
	const struct srdma_burst *burst = tx->burst;
	struct srdma_event event = { .qpn = tx->qp->qpn };
	struct audience to;
	u32 i;

	if (!find_audience(&to, tx->qp))
		return;
	event.packet.peer_qpn = tx->hdr->dest_qpn;
	for (i = first; i < first + count; i++) {
		event.flags = tx_flags(burst, i + 1 == burst->count,
				       tx->path->is_local);
		event.packet.psn = srdma_burst_psn(burst, i);
		tell_packet(&to, &event, tx->hdr, srdma_burst_opcode(burst, i),
			    payload_of(burst, i));
	}
}

static u32 peer_qpn(const struct srdma_qp *qp, const struct srdma_pkt *pkt)
{
	return pkt->op->flags & SRDMA_OP_DETH ? pkt->deth.src_qpn :
						qp->attr.dest_qp_num;
}

static void tell_retry(const struct srdma_qp *qp, enum srdma_nl_event kind,
		       enum srdma_nl_cause cause, u8 left)
{
	struct srdma_event event = {
		.kind = kind,
		.qpn = qp->qpn,
		.retry.psn = qp->req.rc.una_psn,
		.retry.cause = cause,
		.retry.left = left,
	};

	srdma_monitor_tell(qp->dev, &event);
}

static void tell_received(const struct srdma_qp *qp, const struct sk_buff *skb,
			  const struct srdma_pkt *pkt, u32 stat)
{
	u32 mtu = pkt->op->flags & SRDMA_OP_RESP ? qp->req.mtu : qp->resp.mtu;
	u32 i, count = pkt->more + 1, left = pkt->payload_len;
	struct srdma_event event = { .qpn = qp->qpn };
	struct audience to;

	if (!find_audience(&to, qp))
		return;
	event.packet.peer_qpn = peer_qpn(qp, pkt);
	event.packet.stat = stat == SRDMA_STAT_RX_PACKETS ? 0 : stat;
	for (i = 0; i < count; i++) {
		bool is_last = i + 1 == count;
		u32 len = is_last ? left : min(mtu, left);

		event.flags = SRDMA_NL_EF_RX;
		if (srdma_packet_in(skb)->is_looped)
			event.flags |= SRDMA_NL_EF_LOOPED;
		if (is_last && pkt->ack_req)
			event.flags |= SRDMA_NL_EF_ACKREQ;
		if (is_last && pkt->se)
			event.flags |= SRDMA_NL_EF_SOLICITED;
		event.packet.psn = srdma_psn_add(pkt->psn, i);
		tell_packet(&to, &event, pkt,
			    srdma_run_part(pkt->opcode, i, count), len);
		left -= len;
	}
}

static void on_packet(void *unused, const struct srdma_qp *qp,
		      const struct sk_buff *skb, const struct srdma_pkt *pkt,
		      u32 stat)
{
	tell_received(qp, skb, pkt, stat);
	if (stat == SRDMA_STAT_RESP + SRDMA_REQ_RETRY)
		tell_retry(qp, SRDMA_NL_EV_RETRY, SRDMA_NL_CAUSE_NAK,
			   qp->req.rc.retry_left);
}

static void on_drop(void *unused, const struct srdma_dev *dev, u32 stat,
		    u32 count)
{
	struct srdma_event event = {
		.kind = SRDMA_NL_EV_DROP,
		.drop.count = count,
		.drop.stat = stat,
	};

	srdma_monitor_tell(dev, &event);
}

/* ---- time ---- */

static void on_timer_fire(void *unused, const struct srdma_qp *qp, u32 stat)
{
	const struct srdma_rc_req *rc = &qp->req.rc;

	switch ((enum srdma_req_timer)(stat - SRDMA_STAT_TIMER)) {
	case SRDMA_TIMER_RNR:
		tell_retry(qp, SRDMA_NL_EV_RETRY, SRDMA_NL_CAUSE_RNR,
			   rc->rnr_left);
		return;
	case SRDMA_TIMER_PROBE:
		tell_retry(qp, SRDMA_NL_EV_TIMEOUT, SRDMA_NL_CAUSE_PROBE,
			   rc->retry_left);
		return;
	case SRDMA_TIMER_RETRY:
		tell_retry(qp, SRDMA_NL_EV_TIMEOUT, SRDMA_NL_CAUSE_TIMEOUT,
			   rc->retry_left);
		tell_retry(qp, SRDMA_NL_EV_RETRY, SRDMA_NL_CAUSE_TIMEOUT,
			   rc->retry_left);
		return;
	case SRDMA_TIMER_FAILED:
		tell_retry(qp, SRDMA_NL_EV_TIMEOUT, SRDMA_NL_CAUSE_EXCEEDED, 0);
		return;
	case SRDMA_TIMER_EARLY:
	case SRDMA_TIMER_PACE:
	case SRDMA_TIMER_LATE:
	case SRDMA_TIMER_NR:
		return;
	}
}

static void on_window(void *unused, const struct srdma_qp *qp, u32 packets)
{
	struct srdma_event event = {
		.kind = SRDMA_NL_EV_WINDOW,
		.qpn = qp->qpn,
		.window = packets,
	};

	srdma_monitor_tell(qp->dev, &event);
}

/* ---- queue pairs ---- */

static void on_state(void *unused, const struct srdma_qp *qp,
		     enum ib_qp_state to)
{
	struct srdma_event event = {
		.kind = SRDMA_NL_EV_STATE,
		.qpn = qp->qpn,
		.state.from = qp->state,
		.state.to = to,
	};

	srdma_monitor_tell(qp->dev, &event);
}

static void on_event(void *unused, const struct srdma_qp *qp,
		     enum ib_event_type type)
{
	struct srdma_event event = {
		.kind = SRDMA_NL_EV_ASYNC,
		.qpn = qp->qpn,
		.async = type,
	};

	srdma_monitor_tell(qp->dev, &event);
}

static void on_wqe_done(void *unused, const struct srdma_qp *qp,
			const struct srdma_wqe *wqe, u32 status,
			u32 vendor_err)
{
	struct srdma_event event = {
		.kind = SRDMA_NL_EV_COMPLETION,
		.qpn = qp->qpn,
		.done.wr_id = wqe->wr_id,
		.done.vendor_err = vendor_err,
		.done.op = wqe->msg.op,
		.done.status = status,
	};

	if (status)
		srdma_monitor_tell(qp->dev, &event);
}

static void on_rwqe_done(void *unused, const struct srdma_qp *qp,
			 const struct ib_wc *wc)
{
	struct srdma_event event = {
		.kind = SRDMA_NL_EV_COMPLETION,
		.flags = SRDMA_NL_EF_RX,
		.qpn = qp->qpn,
		.done.wr_id = wc->wr_id,
		.done.vendor_err = wc->vendor_err,
		.done.status = wc->status,
	};

	if (wc->status)
		srdma_monitor_tell(qp->dev, &event);
}

/* ---- rules and links ---- */

static void on_rule(void *unused, const struct srdma_rules *rules,
		    const struct srdma_rule *rule,
		    const struct srdma_subject *what)
{
	struct srdma_event event = {
		.kind = SRDMA_NL_EV_RULE,
		.qpn = what->qpn,
		.rule.id = rule->id,
		.rule.psn = what->psn,
		.rule.point = rule->point,
		.rule.action = rule->order.action,
		.rule.op = what->op,
		.rule.verb = what->verb,
	};

	srdma_monitor_tell(srdma_dev_of_rules(rules), &event);
}

static void on_port(void *unused, const struct srdma_dev *dev, bool up)
{
	struct srdma_event event = {
		.kind = SRDMA_NL_EV_PORT,
		.flags = up ? SRDMA_NL_EF_UP : 0,
	};

	srdma_monitor_tell(dev, &event);
}

static void on_link(void *unused, const struct srdma_dev *dev, bool comes)
{
	struct srdma_event event = {
		.kind = SRDMA_NL_EV_LINK,
		.flags = dev->port_active ? SRDMA_NL_EF_UP : 0,
		.link.is = comes ? SRDMA_NL_LINK_NEW : SRDMA_NL_LINK_GONE,
	};

	srdma_link_name(dev, event.link.name);
	srdma_monitor_tell(dev, &event);
}

/* ---- which of them are needed ---- */

#define PROBE(name)							\
static int begin_##name(void)						\
{									\
	return register_trace_srdma_##name(on_##name, NULL);		\
}									\
									\
static void end_##name(void)						\
{									\
	unregister_trace_srdma_##name(on_##name, NULL);			\
}

PROBE(tx)
PROBE(packet)
PROBE(drop)
PROBE(timer_fire)
PROBE(window)
PROBE(state)
PROBE(event)
PROBE(wqe_done)
PROBE(rwqe_done)
PROBE(rule)
PROBE(port)
PROBE(link)

/**
 * struct probe - a tracepoint
 * @kinds: bits of enum srdma_nl_event: events that it gives
 * @begin: attaches to it
 * @end: detaches from it
 * @users: listeners who want any of @kinds
 */
struct probe {
	u32 kinds;
	int (*begin)(void);
	void (*end)(void);
	u32 users;
};

#define TELLS(name, what)	{ what, begin_##name, end_##name }

/* control/monitor.c calls one at a time. */
static struct probe probes[] = {
	TELLS(tx, BIT(SRDMA_NL_EV_PACKET) | BIT(SRDMA_NL_EV_NAK)),
	TELLS(packet, BIT(SRDMA_NL_EV_PACKET) | BIT(SRDMA_NL_EV_NAK) |
	      BIT(SRDMA_NL_EV_RETRY)),
	TELLS(drop, BIT(SRDMA_NL_EV_DROP)),
	TELLS(timer_fire, BIT(SRDMA_NL_EV_TIMEOUT) | BIT(SRDMA_NL_EV_RETRY)),
	TELLS(window, BIT(SRDMA_NL_EV_WINDOW)),
	TELLS(state, BIT(SRDMA_NL_EV_STATE)),
	TELLS(event, BIT(SRDMA_NL_EV_ASYNC)),
	TELLS(wqe_done, BIT(SRDMA_NL_EV_COMPLETION)),
	TELLS(rwqe_done, BIT(SRDMA_NL_EV_COMPLETION)),
	TELLS(rule, BIT(SRDMA_NL_EV_RULE)),
	TELLS(port, BIT(SRDMA_NL_EV_PORT)),
	TELLS(link, BIT(SRDMA_NL_EV_LINK)),
};

static void end_before(int end, u32 kinds)
{
	int i;

	for (i = 0; i < end; i++)
		if ((probes[i].kinds & kinds) && !--probes[i].users)
			probes[i].end();
}

/**
 * srdma_probes_begin - one more listener
 * @kinds: bits of enum srdma_nl_event that it wants
 *
 * Return: 0 or an error: -ENOSYS where the kernel has no tracepoints.
 */
int srdma_probes_begin(u32 kinds)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		if (!(probes[i].kinds & kinds) || probes[i].users++)
			continue;
		err = probes[i].begin();
		if (err) {
			probes[i].users--;
			end_before(i, kinds);
			return err;
		}
	}
	return 0;
}

/* A probe may still be running when this returns. */
void srdma_probes_end(u32 kinds)
{
	end_before(ARRAY_SIZE(probes), kinds);
}
