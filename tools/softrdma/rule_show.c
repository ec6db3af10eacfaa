// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rules as the driver tells them, in the words that make them. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "names.h"
#include "out.h"
#include "rule.h"

static void show_number(struct nlattr **attrs, int attr, const char *key)
{
	if (attrs[attr])
		out_number(key, mnl_attr_get_u64(attrs[attr]));
}

static void show_u32(struct nlattr **attrs, int attr, const char *key)
{
	if (attrs[attr])
		out_number(key, mnl_attr_get_u32(attrs[attr]));
}

static void show_peer(const struct nlattr *attr)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const uint8_t *addr = mnl_attr_get_payload(attr);
	char text[INET6_ADDRSTRLEN];

	if (!memcmp(addr, mapped, sizeof(mapped)))
		inet_ntop(AF_INET, addr + sizeof(mapped), text, sizeof(text));
	else
		inet_ntop(AF_INET6, addr, text, sizeof(text));
	out_word("peer", text);
}

/* Names once each, with commas between them. */
static void show_ops(const struct nlattr *attr, const struct name *table)
{
	const uint8_t *ops = mnl_attr_get_payload(attr);
	const char *last = "";
	char text[1024] = "";
	size_t len = 0;

	for (; table->word; table++) {
		if (!(ops[table->number / 8] & 1 << table->number % 8) ||
		    !strcmp(last, table->word))
			continue;
		last = table->word;
		if (len + strlen(last) + 2 > sizeof(text))
			break;
		len += sprintf(text + len, "%s%s", len ? "," : "", last);
	}
	out_word("op", text);
}

static void show_prob(const struct nlattr *attr)
{
	char text[32];

	snprintf(text, sizeof(text), "%.9g",
		 mnl_attr_get_u32(attr) / (double)SRDMA_NL_PROB_ONE);
	out_word("prob", text);
}

static void show_psn(struct nlattr **attrs)
{
	char text[32];

	show_u32(attrs, SRDMA_NL_R_PSN, "psn");
	if (!attrs[SRDMA_NL_R_PSN_OFFSET])
		return;
	snprintf(text, sizeof(text), "+%u",
		 mnl_attr_get_u32(attrs[SRDMA_NL_R_PSN_OFFSET]));
	out_word("psn", text);
}

static void show_time(const struct nlattr *attr)
{
	uint64_t ns = mnl_attr_get_u64(attr);
	char text[32];

	if (out_json)
		out_number("time_ns", ns);
	else {
		snprintf(text, sizeof(text), "%gms", ns / 1e6);
		out_plain("%s", text);
	}
}

static void show_value(unsigned int action, uint64_t value)
{
	const struct name *table = NULL;

	switch (action) {
	case SRDMA_NL_ACT_NAK:
		table = nak_codes;
		break;
	case SRDMA_NL_ACT_STATUS:
		table = statuses;
		break;
	case SRDMA_NL_ACT_ERRNO:
		table = errnos;
		break;
	}
	if (table && find_word(table, value)) {
		if (out_json)
			out_word("value", find_word(table, value));
		else
			out_plain("%s", find_word(table, value));
	} else if (out_json) {
		out_number("value", value);
	} else {
		out_plain("%" PRIu64, value);
	}
}

static void show_action(struct nlattr **attrs)
{
	unsigned int action = mnl_attr_get_u8(attrs[SRDMA_NL_R_ACTION]);
	const char *word = find_word(actions, action) ?: "?";

	if (out_json)
		out_word("action", word);
	else
		out_plain("%s", word);
	if (attrs[SRDMA_NL_R_FIELD]) {
		word = find_word(fields,
				 mnl_attr_get_u8(attrs[SRDMA_NL_R_FIELD]));
		if (out_json)
			out_word("field", word ?: "?");
		else
			out_plain("%s", word ?: "?");
	}
	if (attrs[SRDMA_NL_R_VALUE])
		show_value(action, mnl_attr_get_u64(attrs[SRDMA_NL_R_VALUE]));
	if (attrs[SRDMA_NL_R_TIME])
		show_time(attrs[SRDMA_NL_R_TIME]);
}

/**
 * rule_show - tell of a rule, in the words that it could be made with
 * @attrs: enum srdma_nl_rule_attr
 */
void rule_show(struct nlattr **attrs)
{
	unsigned int point = mnl_attr_get_u8(attrs[SRDMA_NL_R_POINT]);
	const char *word = find_word(points, point) ?: "?";

	show_u32(attrs, SRDMA_NL_R_ID, "id");
	if (out_json)
		out_word("point", word);
	else
		out_plain("%s", word);
	if (attrs[SRDMA_NL_R_VERB]) {
		word = find_word(verbs,
				 mnl_attr_get_u8(attrs[SRDMA_NL_R_VERB]));
		if (out_json)
			out_word("verb", word ?: "?");
		else
			out_plain("%s", word ?: "?");
	}
	show_u32(attrs, SRDMA_NL_R_QPN, "qp");
	if (attrs[SRDMA_NL_R_PEER])
		show_peer(attrs[SRDMA_NL_R_PEER]);
	show_u32(attrs, SRDMA_NL_R_PID, "pid");
	if (attrs[SRDMA_NL_R_OPS])
		show_ops(attrs[SRDMA_NL_R_OPS], point == SRDMA_NL_POINT_WR ?
						request_ops : packet_ops);
	show_psn(attrs);
	show_number(attrs, SRDMA_NL_R_AFTER, "after");
	show_number(attrs, SRDMA_NL_R_NTH, "nth");
	show_number(attrs, SRDMA_NL_R_EVERY, "every");
	show_number(attrs, SRDMA_NL_R_TIMES, "times");
	if (attrs[SRDMA_NL_R_PROB])
		show_prob(attrs[SRDMA_NL_R_PROB]);
	show_number(attrs, SRDMA_NL_R_SEED, "seed");
	show_action(attrs);
	show_number(attrs, SRDMA_NL_R_SEEN, "seen");
	show_number(attrs, SRDMA_NL_R_HITS, "hits");
}
