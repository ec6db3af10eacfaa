// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* softrdma fault: add, list, del, flush. */
#include "fault.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>

#include "family.h"
#include "names.h"
#include "out.h"
#include "rule.h"

#include <rdma/softrdma-netlink.h>

void fault_help(void)
{
	puts("Usage: softrdma fault add LINK [SELECTOR]... ACTION\n"
	     "       softrdma fault list [LINK]\n"
	     "       softrdma fault del LINK ID\n"
	     "       softrdma fault flush LINK\n"
	     "\n"
	     "Where a rule looks:\n"
	     "  tx | rx               packets that are sent, or that have come\n"
	     "  wr                    work requests, as they are taken from the queue\n"
	     "  verb NAME             calls of a verb\n"
	     "  now                   nowhere: it is done at once, and once\n"
	     "What of that it means:\n"
	     "  qp N | peer ADDR | pid N | op PATTERN | psn P | psn +N\n"
	     "Which of these:\n"
	     "  after N               not the first N\n"
	     "  nth N | every N       the Nth behind those; each Nth\n"
	     "  times N               N at most\n"
	     "  prob P [seed S]       by chance, the same for the same seed\n"
	     "ACTION:\n"
	     "  drop | duplicate | delay TIME | reorder N | truncate [BYTES] | ce\n"
	     "  corrupt icrc | corrupt header FIELD [VALUE] | corrupt payload [OFFSET]\n"
	     "  answer nak CODE | answer rnr TIMER | answer nothing | cnp\n"
	     "  no-memory | no-route\n"
	     "  status STATUS                                   (of work requests)\n"
	     "  errno ERRNO                                     (of verbs)\n"
	     "  qp-error | qp-fatal | last-wqe | cq-overrun | cq-error | srq-error\n"
	     "  port-down [TIME] | port-up | gid-change | device-fatal | remove\n"
	     "\n"
	     "softrdma(8) explains each.");
}

static int usage(void)
{
	fprintf(stderr, "softrdma: \"softrdma fault help\" says what may stand there\n");
	return 2;
}

static int to_table(const struct nlattr *attr, void *data)
{
	const struct nlattr **table = data;

	if (mnl_attr_get_type(attr) <= SRDMA_NL_R_MAX)
		table[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

/* Fills the tables of a message; false when there is no rule in it. */
static bool open_rule(const struct nlmsghdr *nlh, struct nlattr **rule,
		      const char **link)
{
	struct nlattr *attrs[SRDMA_NL_R_MAX + 1] = {};

	mnl_attr_parse(nlh, sizeof(struct genlmsghdr), to_table, attrs);
	if (!attrs[SRDMA_NL_A_LINK] || !attrs[SRDMA_NL_A_RULE])
		return false;
	*link = mnl_attr_get_str(attrs[SRDMA_NL_A_LINK]);
	mnl_attr_parse_nested(attrs[SRDMA_NL_A_RULE], to_table, rule);
	return rule[SRDMA_NL_R_ID];
}

static int heard_id(const struct nlmsghdr *nlh, void *data)
{
	struct nlattr *rule[SRDMA_NL_R_MAX + 1] = {};
	const char *link;

	if (!open_rule(nlh, rule, &link))
		return MNL_CB_OK;
	out_item();
	out_word("link", link);
	out_number("id", mnl_attr_get_u32(rule[SRDMA_NL_R_ID]));
	out_item_end();
	return MNL_CB_OK;
}

static int add(int argc, char **argv)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *nlh;
	int ret;

	if (argc < 2)
		return usage();
	nlh = family_request(buf, SRDMA_NL_CMD_FAULT_ADD, NLM_F_ACK);
	if (family_put_link(nlh, argv[0]))
		return 1;
	if (rule_from_words(nlh, argc - 1, argv + 1))
		return 2;
	out_begin();
	ret = family_talk(nlh, heard_id, NULL);
	out_end();
	return ret ? 1 : 0;
}

static int heard_rule(const struct nlmsghdr *nlh, void *data)
{
	struct nlattr *rule[SRDMA_NL_R_MAX + 1] = {};
	const char *link;

	if (!open_rule(nlh, rule, &link) || !rule[SRDMA_NL_R_POINT] ||
	    !rule[SRDMA_NL_R_ACTION])
		return MNL_CB_OK;
	out_item();
	out_word("link", link);
	rule_show(rule);
	out_item_end();
	return MNL_CB_OK;
}

static int list(int argc, char **argv)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *nlh;
	int ret;

	if (argc > 1)
		return usage();
	nlh = family_request(buf, SRDMA_NL_CMD_FAULT_GET, NLM_F_DUMP);
	if (argc && family_put_link(nlh, argv[0]))
		return 1;
	out_begin();
	ret = family_talk(nlh, heard_rule, NULL);
	out_end();
	return ret ? 1 : 0;
}

/* @id: NULL: all of them */
static int del(const char *link, const char *id)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *nlh;
	struct nlattr *nest;
	uint64_t number;

	nlh = family_request(buf, SRDMA_NL_CMD_FAULT_DEL, NLM_F_ACK);
	if (family_put_link(nlh, link))
		return 1;
	if (id) {
		if (!read_number(id, &number) || number > UINT32_MAX)
			return usage();
		nest = mnl_attr_nest_start(nlh, SRDMA_NL_A_RULE);
		mnl_attr_put_u32(nlh, SRDMA_NL_R_ID, number);
		mnl_attr_nest_end(nlh, nest);
	}
	return family_talk(nlh, NULL, NULL) ? 1 : 0;
}

int fault_command(int argc, char **argv)
{
	if (!argc || !strcmp(argv[0], "list") || !strcmp(argv[0], "show"))
		return list(argc ? argc - 1 : 0, argv + 1);
	if (!strcmp(argv[0], "add"))
		return add(argc - 1, argv + 1);
	if (!strcmp(argv[0], "del") && argc == 3)
		return del(argv[1], argv[2]);
	if (!strcmp(argv[0], "flush") && argc == 2)
		return del(argv[1], NULL);
	return usage();
}
