// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * softrdma errors: what has failed last, and why.
 *
 * A peer that has refused a request says so in a code; why, its own log says. Where
 * the reader may see both, the two are brought together here.
 */
#include "errors.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/genetlink.h>

#include <rdma/softrdma-netlink.h>

#include "cause.h"
#include "family.h"
#include "names.h"
#include "out.h"

#define NS	1000000000ull

/* What is refused is heard of at once; PSNs come again later. */
#define TOGETHER_NS	(10 * NS)

/**
 * struct record - a record as the kernel told it
 * @link: name of the link
 * @comm: name of the program; empty: a kernel consumer
 * @has: which attributes there are: bits of enum srdma_err_attr
 * @value: their values, those that are numbers
 * @peer: address of the peer
 * @facts: numbers of the cause
 * @told: which of them there are
 */
struct record {
	char link[64];
	char comm[16];
	uint32_t has;
	uint64_t value[SRDMA_ERR_A_MAX + 1];
	struct in6_addr peer;
	uint64_t facts[SRDMA_FACT_NR];
	uint32_t told;
};

/**
 * struct records - all that were told
 * @list: they
 * @count: how many
 * @qpn: of this QP only; 0: of all
 */
struct records {
	struct record *list;
	size_t count;
	uint32_t qpn;
};

void errors_help(void)
{
	puts("Usage: softrdma errors [LINK] [qp N]\n"
	     "       softrdma errors code [NUMBER | NAME]\n"
	     "\n"
	     "What has failed last, and why: of your own processes, or with CAP_NET_ADMIN of\n"
	     "all. The second form explains a vendor_err, or lists all there are.");
}

static bool has(const struct record *record, enum srdma_err_attr attr)
{
	return record->has & 1u << attr;
}

/* ---- hearing ---- */

static int take_fact(const struct nlattr *attr, void *data)
{
	struct record *record = data;
	unsigned int fact = mnl_attr_get_type(attr) - 1u;

	if (fact >= SRDMA_FACT_NR)
		return MNL_CB_OK;
	record->facts[fact] = mnl_attr_get_u64(attr);
	record->told |= 1u << fact;
	return MNL_CB_OK;
}

static uint64_t number_of(const struct nlattr *attr)
{
	switch (mnl_attr_get_payload_len(attr)) {
	case 1:
		return mnl_attr_get_u8(attr);
	case 4:
		return mnl_attr_get_u32(attr);
	case 8:
		return mnl_attr_get_u64(attr);
	}
	return 0;
}

/* Anybody names his own program, and the terminal is an administrator's. */
static void take_comm(char *to, size_t room, const char *comm)
{
	snprintf(to, room, "%s", comm);
	for (; *to; to++)
		if (*to < ' ' || *to > '~')
			*to = '?';
}

static int take_attr(const struct nlattr *attr, void *data)
{
	struct record *record = data;
	unsigned int type = mnl_attr_get_type(attr);

	if (type > SRDMA_ERR_A_MAX)
		return MNL_CB_OK;
	record->has |= 1u << type;
	switch (type) {
	case SRDMA_ERR_A_FACTS:
		return mnl_attr_parse_nested(attr, take_fact, record);
	case SRDMA_ERR_A_COMM:
		take_comm(record->comm, sizeof(record->comm),
			  mnl_attr_get_str(attr));
		break;
	case SRDMA_ERR_A_PEER:
		if (mnl_attr_get_payload_len(attr) == sizeof(record->peer))
			memcpy(&record->peer, mnl_attr_get_payload(attr),
			       sizeof(record->peer));
		break;
	default:
		record->value[type] = number_of(attr);
	}
	return MNL_CB_OK;
}

static int take_record(const struct nlattr *attr, void *data)
{
	struct record *record = data;

	switch (mnl_attr_get_type(attr)) {
	case SRDMA_NL_A_LINK:
		snprintf(record->link, sizeof(record->link), "%s",
			 mnl_attr_get_str(attr));
		break;
	case SRDMA_NL_A_ERROR:
		return mnl_attr_parse_nested(attr, take_attr, record);
	}
	return MNL_CB_OK;
}

static int heard_record(const struct nlmsghdr *nlh, void *data)
{
	struct records *records = data;
	struct record *list;

	list = realloc(records->list, (records->count + 1) * sizeof(*list));
	if (!list)
		return MNL_CB_ERROR;
	records->list = list;
	memset(&list[records->count], 0, sizeof(*list));
	mnl_attr_parse(nlh, sizeof(struct genlmsghdr), take_record,
		       &list[records->count]);
	records->count++;
	return MNL_CB_OK;
}

/* ---- who, when, what ---- */

static void say_when(char *to, size_t room, uint64_t ns)
{
	time_t seconds = ns / NS;
	struct tm tm;
	size_t len;

	localtime_r(&seconds, &tm);
	len = strftime(to, room, "%F %T", &tm);
	snprintf(to + len, room - len, ".%03u",
		 (unsigned int)(ns % NS / 1000000));
}

static void say_peer(char *to, size_t room, const struct record *record)
{
	char address[INET6_ADDRSTRLEN] = "";

	*to = 0;
	if (!has(record, SRDMA_ERR_A_PEER_QPN))
		return;
	if (has(record, SRDMA_ERR_A_PEER)) {
		if (IN6_IS_ADDR_V4MAPPED(&record->peer))
			inet_ntop(AF_INET, &record->peer.s6_addr[12], address,
				  sizeof(address));
		else
			inet_ntop(AF_INET6, &record->peer, address,
				  sizeof(address));
	}
	snprintf(to, room, "QP %u%s%s",
		 (uint32_t)record->value[SRDMA_ERR_A_PEER_QPN],
		 *address ? " at " : "", address);
}

static const char *op_of(const struct record *record)
{
	bool request = record->value[SRDMA_ERR_A_PART] == SRDMA_PART_SEND;
	const char *word = find_word(request ? request_ops : packet_ops,
				     record->value[SRDMA_ERR_A_OP]);

	return word ?: "request";
}

static void say_target(char *to, size_t room, const struct record *record)
{
	*to = 0;
	if (has(record, SRDMA_ERR_A_RKEY))
		snprintf(to, room, " %s 0x%" PRIx64 " by rkey 0x%x",
			 strstr(op_of(record), "READ") ? "from" : "to",
			 record->value[SRDMA_ERR_A_REMOTE_ADDR],
			 (uint32_t)record->value[SRDMA_ERR_A_RKEY]);
}

static const char *errno_of(const struct record *record)
{
	return find_word(errnos, record->value[SRDMA_ERR_A_ERRNO]) ?:
	       strerror(record->value[SRDMA_ERR_A_ERRNO]);
}

/* The request, as a noun. */
static void say_what(char *to, size_t room, const struct record *record)
{
	const char *status = find_word(statuses,
				       record->value[SRDMA_ERR_A_STATUS]);
	const struct cause *cause = cause_find(record->value[SRDMA_ERR_A_CODE]);
	uint32_t bytes = record->value[SRDMA_ERR_A_BYTES];
	char peer[128], target[64];

	say_peer(peer, sizeof(peer), record);
	say_target(target, sizeof(target), record);
	switch (record->value[SRDMA_ERR_A_PART]) {
	case SRDMA_PART_SEND:
		snprintf(to, room, "%s of %u bytes%s%s%s (wr_id %" PRIu64
			 ") failed with %s", op_of(record), bytes, target,
			 *target ? " of " : " to ", peer,
			 record->value[SRDMA_ERR_A_WR_ID], status ?: "an error");
		break;
	case SRDMA_PART_RECEIVE:
		snprintf(to, room, "receive (wr_id %" PRIu64
			 ") failed with %s, when %s of %u bytes came from %s",
			 record->value[SRDMA_ERR_A_WR_ID], status ?: "an error",
			 op_of(record), bytes, peer);
		break;
	case SRDMA_PART_PEER:
		snprintf(to, room, "%s of %u bytes%s from %s was refused",
			 op_of(record), bytes, target, peer);
		break;
	case SRDMA_PART_QUEUE:
		snprintf(to, room, "completion queue overran");
		break;
	default:
		snprintf(to, room, "%s failed with %s",
			 cause && cause->verb ? cause->verb : "a verb",
			 errno_of(record));
	}
}

/* ---- why ---- */

static bool is_answer(const struct record *record)
{
	uint64_t code = record->value[SRDMA_ERR_A_CODE];

	return record->value[SRDMA_ERR_A_PART] == SRDMA_PART_SEND &&
	       (code == SRDMA_ERR_NAK_INVALID || code == SRDMA_ERR_NAK_ACCESS ||
		code == SRDMA_ERR_NAK_OPERATION);
}

static bool belongs_to(const struct record *refusal,
		       const struct record *request)
{
	const uint64_t *a = refusal->value, *b = request->value;
	uint64_t part = a[SRDMA_ERR_A_PART];

	if (part != SRDMA_PART_PEER && part != SRDMA_PART_RECEIVE)
		return false;
	return a[SRDMA_ERR_A_QPN] == b[SRDMA_ERR_A_PEER_QPN] &&
	       a[SRDMA_ERR_A_PEER_QPN] == b[SRDMA_ERR_A_QPN] &&
	       a[SRDMA_ERR_A_PSN] == b[SRDMA_ERR_A_PSN] &&
	       b[SRDMA_ERR_A_LAST] + NS - a[SRDMA_ERR_A_LAST] < TOGETHER_NS;
}

/* What the peer's own log says of it, where it can be seen; or NULL. */
static const struct record *find_refusal(const struct records *records,
					 const struct record *request)
{
	size_t i;

	if (!is_answer(request))
		return NULL;
	for (i = records->count; i--;)
		if (belongs_to(&records->list[i], request))
			return &records->list[i];
	return NULL;
}

static void say_why(char *to, size_t room, const struct records *records,
		    const struct record *record)
{
	const struct cause *cause = cause_find(record->value[SRDMA_ERR_A_CODE]);
	const struct record *refusal = find_refusal(records, record);
	size_t len;

	if (!cause) {
		snprintf(to, room, "for a reason that this tool does not know");
		return;
	}
	cause_say(to, room, cause, record->facts, record->told);
	if (!refusal)
		return;
	len = strlen(to);
	len += snprintf(to + len, room - len, "; its log says: ");
	if (len >= room)
		return;
	cause = cause_find(refusal->value[SRDMA_ERR_A_CODE]);
	if (cause)
		cause_say(to + len, room - len, cause, refusal->facts,
			  refusal->told);
}

static const char *help_of(const struct records *records,
			   const struct record *record)
{
	const struct record *refusal = find_refusal(records, record);
	const struct cause *cause;

	cause = cause_find((refusal ?: record)->value[SRDMA_ERR_A_CODE]);
	return cause ? cause->help : "";
}

/* ---- showing ---- */

static void show_text(const struct records *records,
		      const struct record *record)
{
	const struct cause *cause = cause_find(record->value[SRDMA_ERR_A_CODE]);
	char when[64], text[1024];

	say_when(when, sizeof(when), record->value[SRDMA_ERR_A_LAST]);
	printf("%s %s", when, record->link);
	if (has(record, SRDMA_ERR_A_QPN))
		printf(" qp %u", (uint32_t)record->value[SRDMA_ERR_A_QPN]);
	if (has(record, SRDMA_ERR_A_PID))
		printf(" pid %u", (uint32_t)record->value[SRDMA_ERR_A_PID]);
	printf(" (%s)", *record->comm ? record->comm : "kernel");
	say_what(text, sizeof(text), record);
	printf(": %s", text);
	if (record->value[SRDMA_ERR_A_TIMES] > 1)
		printf(", for the %uth time in a row",
		       (uint32_t)record->value[SRDMA_ERR_A_TIMES]);
	say_why(text, sizeof(text), records, record);
	printf("\n\twhy: %s (%u, %s)\n\thelps: %s\n", text,
	       (uint32_t)record->value[SRDMA_ERR_A_CODE],
	       cause ? cause->name : "unknown", help_of(records, record));
}

static void show_number(const struct record *record, enum srdma_err_attr attr,
			const char *key)
{
	if (has(record, attr))
		out_number(key, record->value[attr]);
}

static void show_facts(const struct record *record)
{
	static const char * const keys[SRDMA_FACT_NR] = {
		"key", "addr", "length_wanted", "region_start",
		"region_length", "access", "access_needed", "ago_ns", "by",
		"times_tried", "wait_ns", "qp_state", "index", "value",
		"limit",
	};
	int i;

	for (i = 0; i < SRDMA_FACT_NR; i++)
		if (record->told & 1u << i)
			out_number(keys[i], record->facts[i]);
}

static void show_json(const struct records *records,
		      const struct record *record)
{
	static const char * const parts[] = {
		"send", "receive", "peer", "queue", "verb",
	};
	const struct cause *cause = cause_find(record->value[SRDMA_ERR_A_CODE]);
	uint64_t part = record->value[SRDMA_ERR_A_PART];
	char text[1024];

	out_item();
	out_word("link", record->link);
	show_number(record, SRDMA_ERR_A_NUMBER, "number");
	show_number(record, SRDMA_ERR_A_FIRST, "first_ns");
	show_number(record, SRDMA_ERR_A_LAST, "last_ns");
	show_number(record, SRDMA_ERR_A_TIMES, "times");
	show_number(record, SRDMA_ERR_A_UID, "uid");
	show_number(record, SRDMA_ERR_A_PID, "pid");
	out_word("program", record->comm);
	out_word("part", part < 5 ? parts[part] : "unknown");
	show_number(record, SRDMA_ERR_A_CODE, "vendor_err");
	out_word("cause", cause ? cause->name : "unknown");
	show_number(record, SRDMA_ERR_A_STATUS, "status");
	show_number(record, SRDMA_ERR_A_QPN, "qpn");
	show_number(record, SRDMA_ERR_A_PEER_QPN, "peer_qpn");
	if (has(record, SRDMA_ERR_A_OP))
		out_word("op", op_of(record));
	show_number(record, SRDMA_ERR_A_WR_ID, "wr_id");
	show_number(record, SRDMA_ERR_A_PSN, "psn");
	show_number(record, SRDMA_ERR_A_BYTES, "bytes");
	show_number(record, SRDMA_ERR_A_REMOTE_ADDR, "remote_addr");
	show_number(record, SRDMA_ERR_A_RKEY, "rkey");
	show_number(record, SRDMA_ERR_A_ERRNO, "errno");
	show_facts(record);
	say_what(text, sizeof(text), record);
	out_word("what", text);
	say_why(text, sizeof(text), records, record);
	out_word("why", text);
	out_word("helps", help_of(records, record));
	out_item_end();
}

static void show(const struct records *records)
{
	size_t i;

	out_begin();
	for (i = 0; i < records->count; i++) {
		const struct record *record = &records->list[i];

		if (records->qpn &&
		    record->value[SRDMA_ERR_A_QPN] != records->qpn)
			continue;
		if (out_json)
			show_json(records, record);
		else
			show_text(records, record);
	}
	out_end();
}

/* ---- commands ---- */

static int usage(void)
{
	fprintf(stderr, "softrdma: \"softrdma errors help\" says what may stand there\n");
	return 2;
}

static void show_cause(const struct cause *cause)
{
	char text[512];

	if (!out_json) {
		cause_say(text, sizeof(text), cause, NULL, 0);
		printf("%u %s: %s\n\thelps: %s\n", cause->code, cause->name,
		       text, cause->help);
		return;
	}
	out_item();
	out_number("vendor_err", cause->code);
	out_word("cause", cause->name);
	out_word("why", cause->sentence);
	out_word("helps", cause->help);
	out_item_end();
}

/* Explains one code, or all; the driver is not asked. */
int errors_codes(int argc, char **argv)
{
	const struct cause *cause;

	if (argc > 1)
		return usage();
	if (argc && !cause_named(argv[0])) {
		fprintf(stderr, "softrdma: no cause has the number or the name %s\n",
			argv[0]);
		return 1;
	}
	out_begin();
	if (argc)
		show_cause(cause_named(argv[0]));
	else
		for (cause = causes; cause->name; cause++)
			show_cause(cause);
	out_end();
	return 0;
}

static bool read_qpn(struct records *records, const char *word)
{
	uint64_t qpn;

	if (!read_number(word, &qpn) || !qpn || qpn > 0xffffff)
		return false;
	records->qpn = qpn;
	return true;
}

int errors_command(int argc, char **argv)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct records records = {};
	const char *link = NULL;
	struct nlmsghdr *nlh;
	int ret;

	if (argc && strcmp(argv[0], "qp")) {
		link = argv[0];
		argc--;
		argv++;
	}
	if (argc && (argc != 2 || strcmp(argv[0], "qp") ||
		     !read_qpn(&records, argv[1])))
		return usage();
	nlh = family_request(buf, SRDMA_NL_CMD_ERROR_GET, NLM_F_DUMP);
	if (link && family_put_link(nlh, link))
		return 1;
	ret = family_talk(nlh, heard_record, &records);
	if (!ret)
		show(&records);
	free(records.list);
	return ret ? 1 : 0;
}
