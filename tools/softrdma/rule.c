// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rules in words, and in attributes of netlink. */
#include "rule.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "out.h"

/**
 * struct parsing - a rule that is being read
 * @nlh: message that it goes into
 * @argc: words that are left
 * @argv: they
 * @point: enum srdma_nl_point, or -1: not said yet
 * @action: enum srdma_nl_action, or -1
 * @op: pattern of opcodes, or NULL
 * @selects: there is a selector
 * @said: attributes that are in the message: bits of enum srdma_nl_rule_attr
 */
struct parsing {
	struct nlmsghdr *nlh;
	int argc;
	char **argv;
	int point;
	int action;
	const char *op;
	bool selects;
	uint32_t said;
};

static int complain(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "softrdma: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n");
	return -1;
}

static const char *next(struct parsing *p)
{
	if (!p->argc)
		return NULL;
	p->argc--;
	return *p->argv++;
}

static bool next_is(struct parsing *p, const char *word)
{
	if (!p->argc || strcmp(*p->argv, word))
		return false;
	next(p);
	return true;
}

/* Each once, so that there is room for all in the message. */
static int put(struct parsing *p, const char *what, int attr, const void *data,
	       size_t len)
{
	if (p->said & 1u << attr)
		return complain("%s: once is enough", what);
	p->said |= 1u << attr;
	mnl_attr_put(p->nlh, attr, len, data);
	return 0;
}

static int put_u8(struct parsing *p, const char *what, int attr, uint8_t value)
{
	return put(p, what, attr, &value, sizeof(value));
}

static int put_u32(struct parsing *p, const char *what, int attr,
		   uint32_t value)
{
	return put(p, what, attr, &value, sizeof(value));
}

static int put_u64(struct parsing *p, const char *what, int attr,
		   uint64_t value)
{
	return put(p, what, attr, &value, sizeof(value));
}

/* ---- numbers and times ---- */

static int need_number(struct parsing *p, const char *what, uint64_t *number)
{
	const char *word = next(p);

	if (!read_number(word, number))
		return complain("%s: a number is expected%s%s", what,
				word ? ", not " : "", word ?: "");
	return 0;
}

static int need_u32(struct parsing *p, const char *what, uint64_t *number)
{
	if (need_number(p, what, number))
		return -1;
	return *number > UINT32_MAX ? complain("%s: too large", what) : 0;
}

static const struct {
	const char *unit;
	double ns;
} units[] = {
	{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "", 1e6 },
};

/* A number with a unit; milliseconds where there is none. */
static bool read_time(const char *word, uint64_t *ns)
{
	double value;
	char *end;
	size_t i;

	if (!word)
		return false;
	value = strtod(word, &end);
	if (end == word || !(value >= 0 && value < 1e18))
		return false;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit))
			continue;
		value *= units[i].ns;
		*ns = value < 1e18 ? value : 0;
		return value < 1e18;
	}
	return false;
}

/* ---- selectors ---- */

static int read_peer(struct parsing *p)
{
	const char *word = next(p);
	struct in6_addr addr = {};
	struct in_addr v4;

	if (!word)
		return complain("peer: an address is expected");
	if (inet_pton(AF_INET, word, &v4) == 1) {
		addr.s6_addr[10] = 0xff;
		addr.s6_addr[11] = 0xff;
		memcpy(&addr.s6_addr[12], &v4, sizeof(v4));
	} else if (inet_pton(AF_INET6, word, &addr) != 1) {
		return complain("peer: %s is no address", word);
	}
	return put(p, "peer", SRDMA_NL_R_PEER, &addr, sizeof(addr));
}

static int read_psn(struct parsing *p)
{
	const char *word = next(p);
	uint64_t psn;
	bool offset = word && *word == '+';

	if (!read_number(word ? word + offset : NULL, &psn) ||
	    psn > 0xffffff)
		return complain("psn: P or +N is expected, up to 0xffffff");
	return put_u32(p, "psn", offset ? SRDMA_NL_R_PSN_OFFSET :
					  SRDMA_NL_R_PSN, psn);
}

static int read_prob(struct parsing *p)
{
	const char *word = next(p);
	double value;
	char *end;

	value = word ? strtod(word, &end) : 0;
	if (word && end != word && !strcmp(end, "%"))
		value /= 100;
	else if (!word || end == word || *end)
		return complain("prob: a chance is expected, as 0.01 or 1%%");
	if (!(value > 0 && value <= 1))
		return complain("prob: %s is no chance", word);
	return put_u32(p, "prob", SRDMA_NL_R_PROB,
		       fmax(1, round(value * SRDMA_NL_PROB_ONE)));
}

/* Which opcodes these are depends on where the rule looks. */
static int read_op(struct parsing *p)
{
	if (p->op)
		return complain("op: once is enough; commas stand between names");
	p->op = next(p);
	return p->op ? 0 : complain("op: a name or a pattern is expected");
}

static const struct {
	const char *word;
	uint16_t attr;
	bool is_u32;
} numbers[] = {
	{ "qp", SRDMA_NL_R_QPN, true },
	{ "pid", SRDMA_NL_R_PID, true },
	{ "nth", SRDMA_NL_R_NTH, false },
	{ "every", SRDMA_NL_R_EVERY, false },
	{ "times", SRDMA_NL_R_TIMES, false },
	{ "after", SRDMA_NL_R_AFTER, false },
	{ "seed", SRDMA_NL_R_SEED, false },
};

/* 1: it is none of these. */
static int read_count(struct parsing *p)
{
	const char *what;
	uint64_t value;
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		what = numbers[i].word;
		if (!next_is(p, what))
			continue;
		/* That alone is no reason to wait for a packet. */
		p->selects |= strcmp(what, "qp");
		if (numbers[i].is_u32)
			return need_u32(p, what, &value) ?:
			       put_u32(p, what, numbers[i].attr, value);
		return need_number(p, what, &value) ?:
		       put_u64(p, what, numbers[i].attr, value);
	}
	return 1;
}

static int read_point(struct parsing *p, int point)
{
	if (p->point >= 0)
		return complain("a rule looks at one place");
	p->point = point;
	return 0;
}

static int read_verb(struct parsing *p)
{
	const char *word = next(p);
	unsigned int verb;

	if (!word || !find_number(verbs, word, &verb)) {
		say_words(verbs, "verbs");
		return complain("verb: %s is none", word ?: "nothing");
	}
	return read_point(p, SRDMA_NL_POINT_VERB) ?:
	       put_u8(p, "verb", SRDMA_NL_R_VERB, verb);
}

/* 1: it is none of these. */
static int read_about_packet(struct parsing *p)
{
	static const struct {
		const char *word;
		int (*read)(struct parsing *p);
	} all[] = {
		{ "peer", read_peer }, { "psn", read_psn },
		{ "prob", read_prob }, { "op", read_op },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!next_is(p, all[i].word))
			continue;
		p->selects = true;
		return all[i].read(p);
	}
	return 1;
}

/* 1: it is no selector. */
static int read_selector(struct parsing *p)
{
	int ret = read_count(p);
	size_t i;

	if (ret <= 0)
		return ret;
	if (next_is(p, "verb"))
		return read_verb(p);
	for (i = 0; points[i].word; i++)
		if (next_is(p, points[i].word))
			return read_point(p, points[i].number);
	return read_about_packet(p);
}

/* ---- actions ---- */

static int put_value(struct parsing *p, uint64_t value)
{
	return put_u64(p, "value", SRDMA_NL_R_VALUE, value);
}

static int read_named(struct parsing *p, const struct name *table,
		      const char *what)
{
	const char *word = next(p);
	unsigned int number;

	if (!word || !find_number(table, word, &number)) {
		say_words(table, what);
		return complain("%s: %s is none", what, word ?: "nothing");
	}
	return put_value(p, number);
}

static int read_value(struct parsing *p, const char *what)
{
	uint64_t value;

	return need_number(p, what, &value) ?: put_value(p, value);
}

static int read_value_or(struct parsing *p, uint64_t value)
{
	if (p->argc && read_number(*p->argv, &value))
		next(p);
	return put_value(p, value);
}

static int read_field(struct parsing *p)
{
	const char *word = next(p);
	unsigned int field;
	uint64_t value;

	if (!word || !find_number(fields, word, &field)) {
		say_words(fields, "fields");
		return complain("corrupt header: %s is no field",
				word ?: "nothing");
	}
	if (put_u8(p, "corrupt header", SRDMA_NL_R_FIELD, field))
		return -1;
	if (!p->argc || !read_number(*p->argv, &value))
		return 0;
	next(p);
	return put_value(p, value);
}

static int read_delay(struct parsing *p, bool needed)
{
	uint64_t ns;

	if (p->argc && read_time(*p->argv, &ns)) {
		next(p);
		return put_u64(p, "delay", SRDMA_NL_R_TIME, ns);
	}
	return needed ? complain("delay: a time is expected, as 10ms") : 0;
}

/* An action is one word or two. Returns -1 when there is none of that name. */
static int find_action(struct parsing *p)
{
	const char *word = p->argv[0];
	char both[64];
	int i;

	snprintf(both, sizeof(both), "%s %s", word,
		 p->argc > 1 ? p->argv[1] : "");
	for (i = 0; actions[i].word; i++) {
		if (!strcmp(word, actions[i].word)) {
			next(p);
			return actions[i].number;
		}
		if (!strcmp(both, actions[i].word)) {
			next(p);
			next(p);
			return actions[i].number;
		}
	}
	return -1;
}

static int read_arguments(struct parsing *p)
{
	switch (p->action) {
	case SRDMA_NL_ACT_DELAY:
		return read_delay(p, true);
	case SRDMA_NL_ACT_PORT_DOWN:
		return read_delay(p, false);
	case SRDMA_NL_ACT_REORDER:
		return read_value(p, "reorder");
	case SRDMA_NL_ACT_FIELD:
		return read_field(p);
	case SRDMA_NL_ACT_PAYLOAD:
		return read_value_or(p, 0);
	case SRDMA_NL_ACT_TRUNCATE:
		return read_value_or(p, 4);
	case SRDMA_NL_ACT_NAK:
		return read_named(p, nak_codes, "answer nak");
	case SRDMA_NL_ACT_RNR:
		return read_value(p, "answer rnr");
	case SRDMA_NL_ACT_STATUS:
		return read_named(p, statuses, "status");
	case SRDMA_NL_ACT_ERRNO:
		return read_named(p, errnos, "errno");
	}
	return 0;
}

static int read_action(struct parsing *p)
{
	int action = find_action(p);

	if (action < 0) {
		say_words(actions, "actions");
		return complain("%s is neither a selector nor an action",
				p->argv[0]);
	}
	if (p->action >= 0)
		return complain("one action is enough");
	p->action = action;
	return put_u8(p, "action", SRDMA_NL_R_ACTION, action) ?:
	       read_arguments(p);
}

/* Where an action looks that was not told. */
static int usual_point(const struct parsing *p)
{
	switch (p->action) {
	case SRDMA_NL_ACT_NO_MEMORY:
	case SRDMA_NL_ACT_NO_ROUTE:
		return SRDMA_NL_POINT_TX;
	case SRDMA_NL_ACT_STATUS:
		return SRDMA_NL_POINT_WR;
	case SRDMA_NL_ACT_ERRNO:
		return SRDMA_NL_POINT_VERB;
	}
	if (p->action >= SRDMA_NL_ACT_QP_ERROR && !p->selects)
		return SRDMA_NL_POINT_NOW;
	return SRDMA_NL_POINT_RX;
}

static int put_ops(struct parsing *p)
{
	const struct name *table = p->point == SRDMA_NL_POINT_WR ? request_ops :
								   packet_ops;
	uint8_t ops[SRDMA_NL_OPS_BYTES] = {};

	if (!p->op)
		return 0;
	if (!match_ops(table, p->op, ops)) {
		say_words(table, "opcodes");
		return complain("op: %s is none of them", p->op);
	}
	return put(p, "op", SRDMA_NL_R_OPS, ops, sizeof(ops));
}

/**
 * rule_from_words - read a rule
 * @nlh: message that its attributes are added to
 * @argc: number of words
 * @argv: they
 *
 * Return: 0; or -1, and why has been told.
 */
int rule_from_words(struct nlmsghdr *nlh, int argc, char **argv)
{
	struct parsing p = {
		.nlh = nlh,
		.argc = argc,
		.argv = argv,
		.point = -1,
		.action = -1,
	};
	struct nlattr *nest = mnl_attr_nest_start(nlh, SRDMA_NL_A_RULE);
	int ret;

	while (p.argc) {
		ret = read_selector(&p);
		if (ret > 0)
			ret = read_action(&p);
		if (ret)
			return ret;
	}
	if (p.action < 0) {
		say_words(actions, "actions");
		return complain("what is to go wrong?");
	}
	if (p.point < 0)
		p.point = usual_point(&p);
	if (put_u8(&p, "point", SRDMA_NL_R_POINT, p.point) || put_ops(&p))
		return -1;
	mnl_attr_nest_end(nlh, nest);
	return 0;
}
