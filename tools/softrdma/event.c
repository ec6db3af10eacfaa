// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Events in words. */
#include "event.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <infiniband/verbs.h>

#include "cause.h"
#include "out.h"

#define NS_PER_S	1000000000ULL

const struct name event_kinds[] = {
	{ "lost", SRDMA_NL_EV_LOST },
	{ "packet", SRDMA_NL_EV_PACKET },
	{ "drop", SRDMA_NL_EV_DROP },
	{ "nak", SRDMA_NL_EV_NAK },
	{ "retry", SRDMA_NL_EV_RETRY },
	{ "timeout", SRDMA_NL_EV_TIMEOUT },
	{ "window", SRDMA_NL_EV_WINDOW },
	{ "state", SRDMA_NL_EV_STATE },
	{ "async", SRDMA_NL_EV_ASYNC },
	{ "completion", SRDMA_NL_EV_COMPLETION },
	{ "rule", SRDMA_NL_EV_RULE },
	{ "port", SRDMA_NL_EV_PORT },
	{ "link", SRDMA_NL_EV_LINK },
	{ NULL, 0 }
};

static const struct name retry_causes[] = {
	{ "nak", SRDMA_NL_CAUSE_NAK },
	{ "rnr", SRDMA_NL_CAUSE_RNR },
	{ "timeout", SRDMA_NL_CAUSE_TIMEOUT },
	{ "probe", SRDMA_NL_CAUSE_PROBE },
	{ "exceeded", SRDMA_NL_CAUSE_EXCEEDED },
	{ NULL, 0 }
};

static const struct name states[] = {
	{ "RESET", IBV_QPS_RESET }, { "INIT", IBV_QPS_INIT },
	{ "RTR", IBV_QPS_RTR }, { "RTS", IBV_QPS_RTS },
	{ "SQD", IBV_QPS_SQD }, { "SQE", IBV_QPS_SQE },
	{ "ERR", IBV_QPS_ERR }, { NULL, 0 }
};

static const struct name async_types[] = {
	{ "CQ_ERR", IBV_EVENT_CQ_ERR },
	{ "QP_FATAL", IBV_EVENT_QP_FATAL },
	{ "QP_REQ_ERR", IBV_EVENT_QP_REQ_ERR },
	{ "QP_ACCESS_ERR", IBV_EVENT_QP_ACCESS_ERR },
	{ "COMM_EST", IBV_EVENT_COMM_EST },
	{ "SQ_DRAINED", IBV_EVENT_SQ_DRAINED },
	{ "QP_LAST_WQE_REACHED", IBV_EVENT_QP_LAST_WQE_REACHED },
	{ NULL, 0 }
};

static const struct name links_are[] = {
	{ "here", SRDMA_NL_LINK_HERE },
	{ "new", SRDMA_NL_LINK_NEW },
	{ "gone", SRDMA_NL_LINK_GONE },
	{ NULL, 0 }
};

/* How long an RNR NAK says to wait, in units of 10 us (table 45). */
static const uint32_t rnr_times[] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256,
	384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384,
	24576, 32768, 49152,
};

static int to_table(const struct nlattr *attr, void *data)
{
	const struct nlattr **table = data;

	if (mnl_attr_get_type(attr) <= SRDMA_NL_E_MAX)
		table[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

/* Fills the table, SRDMA_NL_E_MAX + 1 entries, with the attributes of an event. */
void event_read(const struct nlattr *nest, struct nlattr **event)
{
	mnl_attr_parse_nested(nest, to_table, event);
}

uint64_t event_number(struct nlattr **event, int attr)
{
	if (!event[attr])
		return 0;
	switch (mnl_attr_get_payload_len(event[attr])) {
	case 1:
		return mnl_attr_get_u8(event[attr]);
	case 4:
		return mnl_attr_get_u32(event[attr]);
	case 8:
		return mnl_attr_get_u64(event[attr]);
	}
	return 0;
}

/* ---- parts of a line ---- */

static void show_time(uint64_t ns)
{
	time_t seconds = ns / NS_PER_S;
	struct tm local;
	char text[16];

	if (out_json) {
		out_number("time", ns);
		return;
	}
	localtime_r(&seconds, &local);
	strftime(text, sizeof(text), "%H:%M:%S", &local);
	out_plain("%s.%09" PRIu64, text, (uint64_t)(ns % NS_PER_S));
}

/* An attribute that is there has its name before it. */
static void show_number(struct nlattr **event, int attr, const char *key)
{
	if (event[attr])
		out_number(key, event_number(event, attr));
}

static void show_named(struct nlattr **event, int attr, const char *key,
		       const struct name *table)
{
	uint64_t number = event_number(event, attr);
	const char *word = find_word(table, number);

	if (!event[attr])
		return;
	if (word)
		out_word(key, word);
	else
		out_number(key, number);
}

static void show_string(struct nlattr **event, int attr, const char *key)
{
	if (event[attr])
		out_word(key, mnl_attr_get_str(event[attr]));
}

/* What an AETH says. Of an acknowledge it is how many receives there are. */
static void show_syndrome(struct nlattr **event)
{
	uint8_t syndrome = event_number(event, SRDMA_NL_E_SYNDROME);
	uint8_t value = syndrome & 0x1f;
	const char *code;

	if (!event[SRDMA_NL_E_SYNDROME])
		return;
	switch (syndrome & 0x60) {
	case 0x20:
		if (out_json)
			out_number("rnr_us", rnr_times[value] * 10ULL);
		else
			out_plain("rnr %g ms", rnr_times[value] / 100.0);
		break;
	case 0x60:
		code = find_word(nak_codes, value);
		if (code)
			out_word("nak", code);
		else
			out_number("nak", value);
		break;
	case 0:
		if (value != 0x1f)
			out_number("credits", value);
		break;
	}
	show_number(event, SRDMA_NL_E_MSN, "msn");
}

static void show_flags(uint32_t flags)
{
	static const struct name words[] = {
		{ "looped", SRDMA_NL_EF_LOOPED },
		{ "again", SRDMA_NL_EF_AGAIN },
		{ "ackreq", SRDMA_NL_EF_ACKREQ },
		{ "solicited", SRDMA_NL_EF_SOLICITED },
		{ NULL, 0 }
	};
	const struct name *flag;

	for (flag = words; flag->word; flag++)
		if (flags & flag->number)
			out_flag(flag->word);
}

static void show_direction(struct nlattr **event)
{
	uint32_t flags = event_number(event, SRDMA_NL_E_FLAGS);

	out_tag("dir", flags & SRDMA_NL_EF_RX ? "rx" : "tx");
}

static void show_port(struct nlattr **event)
{
	uint32_t flags = event_number(event, SRDMA_NL_E_FLAGS);

	out_word("port", flags & SRDMA_NL_EF_UP ? "up" : "down");
}

/* ---- lines ---- */

static void show_packet(struct nlattr **event)
{
	show_direction(event);
	show_number(event, SRDMA_NL_E_QPN, "qp");
	show_number(event, SRDMA_NL_E_PEER_QPN, "peer");
	show_named(event, SRDMA_NL_E_OPCODE, "op", packet_ops);
	show_number(event, SRDMA_NL_E_PSN, "psn");
	show_number(event, SRDMA_NL_E_LENGTH, "length");
	show_number(event, SRDMA_NL_E_PAYLOAD, "payload");
	show_syndrome(event);
	show_flags(event_number(event, SRDMA_NL_E_FLAGS));
	show_string(event, SRDMA_NL_E_COUNTER, "verdict");
}

static void show_nak(struct nlattr **event)
{
	show_direction(event);
	show_number(event, SRDMA_NL_E_QPN, "qp");
	show_number(event, SRDMA_NL_E_PEER_QPN, "peer");
	show_number(event, SRDMA_NL_E_PSN, "psn");
	show_syndrome(event);
	show_flags(event_number(event, SRDMA_NL_E_FLAGS));
}

/* As in what "softrdma errors" shows, which says it in a sentence. */
static void show_vendor_err(struct nlattr **event)
{
	uint64_t code = event_number(event, SRDMA_NL_E_VENDOR_ERR);
	const struct cause *cause = cause_find(code);

	out_number("vendor_err", code);
	if (cause)
		out_word("cause", cause->name);
}

static void show_completion(struct nlattr **event)
{
	bool is_receive = event_number(event, SRDMA_NL_E_FLAGS) &
			  SRDMA_NL_EF_RX;

	out_tag("queue", is_receive ? "receive" : "send");
	show_number(event, SRDMA_NL_E_QPN, "qp");
	show_named(event, SRDMA_NL_E_WR_OP, "op", request_ops);
	show_number(event, SRDMA_NL_E_WR_ID, "wr_id");
	show_named(event, SRDMA_NL_E_STATUS, "status", statuses);
	show_vendor_err(event);
}

static void show_rule(struct nlattr **event)
{
	show_number(event, SRDMA_NL_E_RULE, "id");
	show_named(event, SRDMA_NL_E_ACTION, "action", actions);
	show_named(event, SRDMA_NL_E_POINT, "at", points);
	show_number(event, SRDMA_NL_E_QPN, "qp");
	show_named(event, SRDMA_NL_E_VERB, "verb", verbs);
	show_named(event, SRDMA_NL_E_WR_OP, "op", request_ops);
	show_named(event, SRDMA_NL_E_OPCODE, "op", packet_ops);
	show_number(event, SRDMA_NL_E_PSN, "psn");
}

/* What is left: these have few attributes, in this order. */
static void show_rest(struct nlattr **event)
{
	show_number(event, SRDMA_NL_E_QPN, "qp");
	show_named(event, SRDMA_NL_E_ASYNC, "type", async_types);
	show_named(event, SRDMA_NL_E_FROM, "from", states);
	show_named(event, SRDMA_NL_E_TO, "to", states);
	show_number(event, SRDMA_NL_E_WINDOW, "packets");
	show_named(event, SRDMA_NL_E_CAUSE, "cause", retry_causes);
	show_number(event, SRDMA_NL_E_PSN, "psn");
	show_number(event, SRDMA_NL_E_LEFT, "left");
	show_number(event, SRDMA_NL_E_COUNT, "count");
	show_string(event, SRDMA_NL_E_COUNTER, "reason");
}

static void show_what(struct nlattr **event)
{
	switch (event_number(event, SRDMA_NL_E_KIND)) {
	case SRDMA_NL_EV_PACKET:
		show_packet(event);
		return;
	case SRDMA_NL_EV_NAK:
		show_nak(event);
		return;
	case SRDMA_NL_EV_COMPLETION:
		show_completion(event);
		return;
	case SRDMA_NL_EV_RULE:
		show_rule(event);
		return;
	case SRDMA_NL_EV_LINK:
		show_named(event, SRDMA_NL_E_LINK_IS, "is", links_are);
		show_port(event);
		return;
	case SRDMA_NL_EV_PORT:
		show_port(event);
		return;
	}
	show_rest(event);
}

/**
 * event_show - show an event
 * @event: its attributes, as event_read() has filled them in
 * @link: name of its link, or NULL
 */
void event_show(struct nlattr **event, const char *link)
{
	uint64_t kind = event_number(event, SRDMA_NL_E_KIND);

	out_item();
	show_time(event_number(event, SRDMA_NL_E_TIME));
	if (out_json)
		out_number("seq", event_number(event, SRDMA_NL_E_SEQ));
	if (link)
		out_tag("link", link);
	out_tag("event", find_word(event_kinds, kind) ?: "?");
	show_what(event);
	out_item_end();
}
