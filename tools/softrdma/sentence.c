// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sentences made of numbers: what stands in braces and brackets in cause.c.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cause.h"
#include "names.h"

/**
 * struct text - text that is being made
 * @to: where it goes
 * @room: bytes there
 * @len: of them used, without the end
 */
struct text {
	char *to;
	size_t room;
	size_t len;
};

static void __attribute__((format(printf, 2, 3)))
add(struct text *text, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->to + text->len, text->room - text->len, format,
		      args);
	va_end(args);
	if (n > 0)
		text->len += n;
	if (text->len >= text->room)
		text->len = text->room - 1;
}

/**
 * struct numbers - what the kernel has told
 * @facts: by enum srdma_err_fact
 * @has: which of them there are
 */
struct numbers {
	const uint64_t *facts;
	uint32_t has;
};

static bool has(const struct numbers *n, enum srdma_err_fact fact)
{
	return n->has & 1 << fact;
}

/* As 640 us, 3.2 ms, 2 s, 1.5 h. */
static void add_time(struct text *text, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {
		{ 3600000000000, "h" }, { 60000000000, "min" },
		{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" },
		{ 1, "ns" },
	};
	int i = 0;

	while (i < 5 && ns < units[i].ns)
		i++;
	add(text, "%.3g %s", (double)ns / units[i].ns, units[i].unit);
}

static void add_access(struct text *text, uint64_t access)
{
	static const struct {
		unsigned int bit;
		const char *word;
	} words[] = {
		{ 1 << 0, "LOCAL_WRITE" }, { 1 << 1, "REMOTE_WRITE" },
		{ 1 << 2, "REMOTE_READ" }, { 1 << 3, "REMOTE_ATOMIC" },
		{ 1 << 4, "MW_BIND" }, { 1 << 5, "ZERO_BASED" },
		{ 1 << 8, "FLUSH_GLOBAL" },
	};
	const char *between = "";
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!(access & words[i].bit))
			continue;
		add(text, "%s%s", between, words[i].word);
		between = "|";
	}
	if (!*between)
		add(text, "no access");
}

static void add_state(struct text *text, uint64_t state)
{
	static const char * const words[] = {
		"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR",
	};

	if (state < sizeof(words) / sizeof(*words))
		add(text, "%s", words[state]);
	else
		add(text, "state %" PRIu64, state);
}

static void add_by(struct text *text, uint64_t by)
{
	static const char * const words[] = {
		[SRDMA_BY_DEREG] = "its deregistration",
		[SRDMA_BY_REREG] = "its re-registration",
		[SRDMA_BY_LOCAL_INV] = "LOCAL_INV",
		[SRDMA_BY_REMOTE_INV] = "a SEND with invalidation",
		[SRDMA_BY_BIND] = "another bind",
		[SRDMA_BY_QP] = "the end of its QP",
	};

	add(text, "%s", by < sizeof(words) / sizeof(*words) ? words[by] :
		  "something");
}

/* By how much a range leaves another one. */
static void add_past(struct text *text, const struct numbers *n)
{
	uint64_t at = n->facts[SRDMA_FACT_ADDR];
	uint64_t bytes = n->facts[SRDMA_FACT_BYTES];
	uint64_t start = n->facts[SRDMA_FACT_START];
	uint64_t length = n->facts[SRDMA_FACT_LENGTH];

	if (at < start)
		add(text, "it begins %" PRIu64 " bytes before that",
		    start - at);
	else if (at - start >= length)
		add(text, "it begins %" PRIu64 " bytes behind its end",
		    at - start - length);
	else
		add(text, "the region ends %" PRIu64 " bytes before that",
		    bytes - (length - (at - start)));
}

static void add_lacks(struct text *text, const struct numbers *n)
{
	add_access(text, n->facts[SRDMA_FACT_NEEDS] &
			 ~n->facts[SRDMA_FACT_HAS]);
}

static void add_needs(struct text *text, const struct numbers *n)
{
	add_access(text, n->facts[SRDMA_FACT_NEEDS]);
}

static void add_has(struct text *text, const struct numbers *n)
{
	add_access(text, n->facts[SRDMA_FACT_HAS]);
}

static void add_ago(struct text *text, const struct numbers *n)
{
	add_time(text, n->facts[SRDMA_FACT_AGO]);
}

static void add_wait(struct text *text, const struct numbers *n)
{
	add_time(text, n->facts[SRDMA_FACT_WAIT]);
}

static void add_the_state(struct text *text, const struct numbers *n)
{
	add_state(text, n->facts[SRDMA_FACT_STATE]);
}

static void add_who(struct text *text, const struct numbers *n)
{
	add_by(text, n->facts[SRDMA_FACT_BY]);
}

static void add_verb(struct text *text, const struct numbers *n)
{
	const char *verb = find_word(verbs, n->facts[SRDMA_FACT_VALUE]);

	add(text, "%s", verb ?: "a verb");
}

/**
 * struct word - a word in braces
 * @word: itself; with ":x" behind it a number is a hexadecimal one
 * @fact: what it is about, without which it is not said
 * @add: says it; NULL: a number
 */
static const struct word {
	const char *word;
	enum srdma_err_fact fact;
	void (*add)(struct text *text, const struct numbers *n);
} words[] = {
	{ "key", SRDMA_FACT_KEY },
	{ "addr", SRDMA_FACT_ADDR },
	{ "bytes", SRDMA_FACT_BYTES },
	{ "start", SRDMA_FACT_START },
	{ "length", SRDMA_FACT_LENGTH },
	{ "past", SRDMA_FACT_START, add_past },
	{ "has", SRDMA_FACT_HAS, add_has },
	{ "needs", SRDMA_FACT_NEEDS, add_needs },
	{ "lacks", SRDMA_FACT_HAS, add_lacks },
	{ "ago", SRDMA_FACT_AGO, add_ago },
	{ "by", SRDMA_FACT_BY, add_who },
	{ "times", SRDMA_FACT_TIMES },
	{ "wait", SRDMA_FACT_WAIT, add_wait },
	{ "state", SRDMA_FACT_STATE, add_the_state },
	{ "index", SRDMA_FACT_INDEX },
	{ "value", SRDMA_FACT_VALUE },
	{ "verb", SRDMA_FACT_VALUE, add_verb },
	{ "limit", SRDMA_FACT_LIMIT },
};

static const struct word *find_braced(const char *at, bool *hex)
{
	size_t len = strcspn(at, ":}");
	unsigned int i;

	*hex = at[len] == ':';
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].word) == len &&
		    !strncmp(words[i].word, at, len))
			return &words[i];
	return NULL;
}

static void add_word(struct text *text, const struct word *word, bool hex,
		     const struct numbers *n)
{
	if (!has(n, word->fact))
		add(text, "<%s>", word->word);
	else if (word->add)
		word->add(text, n);
	else
		add(text, hex ? "0x%" PRIx64 : "%" PRIu64,
		    n->facts[word->fact]);
}

/* Is all told that a part in brackets, which begins at @at, is about? */
static bool is_told(const char *at, const struct numbers *n)
{
	const struct word *word;
	bool hex;

	for (; *at && *at != ']'; at++) {
		if (*at != '{')
			continue;
		word = find_braced(at + 1, &hex);
		if (!word || !has(n, word->fact))
			return false;
	}
	return true;
}

/**
 * cause_say - say why
 * @to: filled
 * @room: bytes of it
 * @cause: what it is
 * @facts: numbers, by enum srdma_err_fact
 * @told: a bit for each that was told
 */
void cause_say(char *to, size_t room, const struct cause *cause,
	       const uint64_t *facts, uint32_t told)
{
	const struct numbers n = { facts, told };
	struct text text = { to, room, 0 };
	const char *at = cause->sentence;
	const struct word *word;
	bool hex;

	*to = 0;
	while (*at) {
		if (*at == '[' && !is_told(at, &n)) {
			at += strcspn(at, "]");
		} else if (*at == '{') {
			word = find_braced(at + 1, &hex);
			if (word)
				add_word(&text, word, hex, &n);
			at += strcspn(at, "}");
		} else if (*at != '[' && *at != ']') {
			add(&text, "%c", *at);
		}
		if (*at)
			at++;
	}
}
