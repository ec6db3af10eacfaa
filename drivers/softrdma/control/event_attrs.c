// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Events as netlink attributes.
 */
#include <net/netlink.h>

#include "control/event_attrs.h"
#include "control/monitor.h"
#include "device/counters.h"
#include "proto/opcode.h"

static int put_u64(struct sk_buff *msg, int attr, u64 value)
{
	return nla_put_u64_64bit(msg, attr, value, SRDMA_NL_E_PAD);
}

static int put_flags(struct sk_buff *msg, u32 flags)
{
	return flags ? nla_put_u32(msg, SRDMA_NL_E_FLAGS, flags) : 0;
}

static int put_aeth(struct sk_buff *msg, const struct srdma_event *event)
{
	if (!(srdma_opcode_get(event->packet.opcode)->flags & SRDMA_OP_AETH))
		return 0;
	return nla_put_u8(msg, SRDMA_NL_E_SYNDROME, event->packet.syndrome) ?:
	       nla_put_u32(msg, SRDMA_NL_E_MSN, event->packet.msn);
}

static int put_counter(struct sk_buff *msg, enum srdma_stat stat)
{
	return nla_put_string(msg, SRDMA_NL_E_COUNTER, srdma_stat_name(stat));
}

static int put_packet(struct sk_buff *msg, const struct srdma_event *event)
{
	return nla_put_u8(msg, SRDMA_NL_E_OPCODE, event->packet.opcode) ?:
	       nla_put_u32(msg, SRDMA_NL_E_PSN, event->packet.psn) ?:
	       nla_put_u32(msg, SRDMA_NL_E_LENGTH, event->packet.len) ?:
	       nla_put_u32(msg, SRDMA_NL_E_PAYLOAD, event->packet.payload) ?:
	       nla_put_u32(msg, SRDMA_NL_E_PEER_QPN, event->packet.peer_qpn) ?:
	       put_aeth(msg, event) ?:
	       (event->packet.stat ? put_counter(msg, event->packet.stat) : 0);
}

static int put_nak(struct sk_buff *msg, const struct srdma_event *event)
{
	return nla_put_u32(msg, SRDMA_NL_E_PSN, event->packet.psn) ?:
	       nla_put_u32(msg, SRDMA_NL_E_PEER_QPN, event->packet.peer_qpn) ?:
	       put_aeth(msg, event);
}

static int put_retry(struct sk_buff *msg, const struct srdma_event *event)
{
	return nla_put_u32(msg, SRDMA_NL_E_PSN, event->retry.psn) ?:
	       nla_put_u8(msg, SRDMA_NL_E_CAUSE, event->retry.cause) ?:
	       nla_put_u8(msg, SRDMA_NL_E_LEFT, event->retry.left);
}

static int put_completion(struct sk_buff *msg, const struct srdma_event *event)
{
	if (!(event->flags & SRDMA_NL_EF_RX) &&
	    nla_put_u8(msg, SRDMA_NL_E_WR_OP, event->done.op))
		return -EMSGSIZE;
	return put_u64(msg, SRDMA_NL_E_WR_ID, event->done.wr_id) ?:
	       nla_put_u8(msg, SRDMA_NL_E_STATUS, event->done.status) ?:
	       nla_put_u32(msg, SRDMA_NL_E_VENDOR_ERR, event->done.vendor_err);
}

/* What it has hit: a packet, a work request, or the call of a verb. */
static int put_rule(struct sk_buff *msg, const struct srdma_event *event)
{
	int err;

	err = nla_put_u32(msg, SRDMA_NL_E_RULE, event->rule.id) ?:
	      nla_put_u8(msg, SRDMA_NL_E_POINT, event->rule.point) ?:
	      nla_put_u8(msg, SRDMA_NL_E_ACTION, event->rule.action);
	if (err)
		return err;
	switch (event->rule.point) {
	case SRDMA_NL_POINT_VERB:
		return nla_put_u8(msg, SRDMA_NL_E_VERB, event->rule.verb);
	case SRDMA_NL_POINT_WR:
		return nla_put_u8(msg, SRDMA_NL_E_WR_OP, event->rule.op);
	}
	return nla_put_u8(msg, SRDMA_NL_E_OPCODE, event->rule.op) ?:
	       nla_put_u32(msg, SRDMA_NL_E_PSN, event->rule.psn);
}

/* What an event of its kind has. */
static int put_rest(struct sk_buff *msg, const struct srdma_event *event)
{
	switch ((enum srdma_nl_event)event->kind) {
	case SRDMA_NL_EV_PACKET:
		return put_packet(msg, event);
	case SRDMA_NL_EV_DROP:
		return put_u64(msg, SRDMA_NL_E_COUNT, event->drop.count) ?:
		       put_counter(msg, event->drop.stat);
	case SRDMA_NL_EV_NAK:
		return put_nak(msg, event);
	case SRDMA_NL_EV_RETRY:
	case SRDMA_NL_EV_TIMEOUT:
		return put_retry(msg, event);
	case SRDMA_NL_EV_WINDOW:
		return nla_put_u32(msg, SRDMA_NL_E_WINDOW, event->window);
	case SRDMA_NL_EV_STATE:
		return nla_put_u8(msg, SRDMA_NL_E_FROM, event->state.from) ?:
		       nla_put_u8(msg, SRDMA_NL_E_TO, event->state.to);
	case SRDMA_NL_EV_ASYNC:
		return nla_put_u32(msg, SRDMA_NL_E_ASYNC, event->async);
	case SRDMA_NL_EV_COMPLETION:
		return put_completion(msg, event);
	case SRDMA_NL_EV_RULE:
		return put_rule(msg, event);
	case SRDMA_NL_EV_LINK:
		return nla_put_u8(msg, SRDMA_NL_E_LINK_IS, event->link.is) ?:
		       nla_put_string(msg, SRDMA_NL_E_LINK, event->link.name);
	case SRDMA_NL_EV_PORT:
	case SRDMA_NL_EV_LOST:
	case SRDMA_NL_EV_NR:
		break;
	}
	return 0;
}

static int put_head(struct sk_buff *msg, u8 kind, u64 seq, u64 time)
{
	return nla_put_u8(msg, SRDMA_NL_E_KIND, kind) ?:
	       put_u64(msg, SRDMA_NL_E_SEQ, seq) ?:
	       put_u64(msg, SRDMA_NL_E_TIME, time);
}

/* The number is that of the first event that was lost. */
static int put_lost(struct sk_buff *msg, const struct srdma_event *event)
{
	struct nlattr *nest = nla_nest_start(msg, SRDMA_NL_A_EVENT);

	if (!nest ||
	    put_head(msg, SRDMA_NL_EV_LOST, event->seq - event->lost,
		     event->time) ||
	    put_u64(msg, SRDMA_NL_E_COUNT, event->lost))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int put_event(struct sk_buff *msg, const struct srdma_event *event)
{
	struct nlattr *nest = nla_nest_start(msg, SRDMA_NL_A_EVENT);

	if (!nest || put_head(msg, event->kind, event->seq, event->time) ||
	    nla_put_u32(msg, SRDMA_NL_E_DEV, event->dev) ||
	    (event->qpn && nla_put_u32(msg, SRDMA_NL_E_QPN, event->qpn)) ||
	    put_flags(msg, event->flags) || put_rest(msg, event))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

/**
 * srdma_event_put - tell of an event, and of those that were lost before it
 * @msg: message
 * @event: event; or SRDMA_NL_EV_LOST, for these alone
 *
 * Return: 0, or -EMSGSIZE: there is no room, and nothing was added.
 */
int srdma_event_put(struct sk_buff *msg, const struct srdma_event *event)
{
	unsigned char *end = skb_tail_pointer(msg);
	int err = 0;

	if (event->lost)
		err = put_lost(msg, event);
	if (!err && event->kind != SRDMA_NL_EV_LOST)
		err = put_event(msg, event);
	if (err)
		nlmsg_trim(msg, end);
	return err;
}
