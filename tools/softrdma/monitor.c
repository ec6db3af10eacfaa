// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* softrdma monitor: asks for events as long as there are any, then waits. */
#define _GNU_SOURCE
#include "monitor.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>

#include "event.h"
#include "family.h"
#include "out.h"

/* The driver tells when there is something; should that have got lost, we ask. */
#define ASK_AFTER_MS	1000

/*
 * Of output: what one answer becomes is written at once, so that a reader has whole
 * lines and one who ends us leaves no half of one.
 */
#define ANSWER_MOST	(1 << 18)

/* Names of devices that were ever heard of. */
#define DEVICES_MOST	1024

void monitor_help(void)
{
	puts("Usage: softrdma monitor [LINK] [qp N] [only KIND[,KIND]...] [room N]\n"
	     "\n"
	     "  LINK                  of this link only; ends when that has gone\n"
	     "  qp N                  of this QP of it, and of its port\n"
	     "  only KIND             of these kinds:\n"
	     "                          packet drop nak retry timeout window state\n"
	     "                          async completion rule port link\n"
	     "  room N                events that may wait for a reader that is slow\n"
	     "\n"
	     "A line an event, with -j an object. What was lost is told where it is missing.\n"
	     "softrdma(8) explains each kind.");
}

/**
 * struct watch - what was asked for, and what was learned
 * @link: name of a link, or NULL
 * @kinds: bits of enum srdma_nl_event, to be shown
 * @qpn: QP, or 0
 * @room: of the ring, or 0
 * @names: of devices, by index; those that are beyond have none
 * @heard: events in the last answer
 * @ended: the link that was asked for has gone
 */
struct watch {
	const char *link;
	uint32_t kinds;
	uint32_t qpn;
	uint32_t room;
	char *names[DEVICES_MOST];
	unsigned int heard;
	bool ended;
};

/* ---- the command line ---- */

static int usage(void)
{
	fprintf(stderr, "softrdma: \"softrdma monitor help\" says what may stand there\n");
	return 2;
}

static bool read_u32(const char *word, uint32_t *number)
{
	uint64_t n;

	if (!read_number(word, &n) || !n || n > UINT32_MAX)
		return false;
	*number = n;
	return true;
}

static bool read_kinds(const char *words, uint32_t *kinds)
{
	char *copy = strdup(words), *rest = copy, *word;
	unsigned int number;
	bool good = copy;

	*kinds = 0;
	while (good && (word = strsep(&rest, ","))) {
		good = find_number(event_kinds, word, &number) &&
		       number < SRDMA_NL_EV_NR;
		if (good)
			*kinds |= 1u << number;
	}
	free(copy);
	if (!good)
		say_words(event_kinds, "kinds");
	return good;
}

static bool read_words(struct watch *watch, int argc, char **argv)
{
	static const char * const keys[] = { "qp", "only", "room" };
	bool is_key = false;
	int i;

	for (i = 0; argc && i < 3; i++)
		is_key |= !strcmp(argv[0], keys[i]);
	if (argc && !is_key) {
		watch->link = argv[0];
		argc--;
		argv++;
	}
	for (; argc >= 2; argc -= 2, argv += 2) {
		if (!strcmp(argv[0], "qp") && read_u32(argv[1], &watch->qpn))
			continue;
		if (!strcmp(argv[0], "room") &&
		    read_u32(argv[1], &watch->room))
			continue;
		if (!strcmp(argv[0], "only") &&
		    read_kinds(argv[1], &watch->kinds))
			continue;
		return false;
	}
	return !argc;
}

/* ---- what is heard ---- */

static const char *name_of(const struct watch *watch, uint64_t dev)
{
	return dev < DEVICES_MOST ? watch->names[dev] : NULL;
}

/* By what links are called events of theirs are shown. */
static void learn_name(struct watch *watch, struct nlattr **event, uint64_t dev)
{
	if (!event[SRDMA_NL_E_LINK] || dev >= DEVICES_MOST)
		return;
	free(watch->names[dev]);
	watch->names[dev] = strdup(mnl_attr_get_str(event[SRDMA_NL_E_LINK]));
}

static void hear(struct watch *watch, const struct nlattr *nest)
{
	struct nlattr *event[SRDMA_NL_E_MAX + 1] = {};
	uint64_t kind, dev;

	event_read(nest, event);
	kind = event_number(event, SRDMA_NL_E_KIND);
	dev = event_number(event, SRDMA_NL_E_DEV);
	learn_name(watch, event, dev);
	if (kind == SRDMA_NL_EV_LOST || (watch->kinds & (1u << kind)))
		event_show(event, event[SRDMA_NL_E_DEV] ? name_of(watch, dev) :
							  NULL);
	if (kind == SRDMA_NL_EV_LINK && watch->link &&
	    event_number(event, SRDMA_NL_E_LINK_IS) == SRDMA_NL_LINK_GONE)
		watch->ended = true;
	watch->heard++;
}

static int heard_events(const struct nlmsghdr *nlh, void *data)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;

	if (genl->cmd == SRDMA_NL_CMD_MONITOR_GET)
		mnl_attr_for_each(attr, nlh, sizeof(*genl))
			if (mnl_attr_get_type(attr) == SRDMA_NL_A_EVENT)
				hear(data, attr);
	return MNL_CB_OK;
}

/* ---- the command ---- */

static int start(const struct watch *watch)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *nlh;
	struct nlattr *nest;

	nlh = family_request(buf, SRDMA_NL_CMD_MONITOR_START, NLM_F_ACK);
	if (watch->link && family_put_link(nlh, watch->link))
		return -1;
	nest = mnl_attr_nest_start(nlh, SRDMA_NL_A_MONITOR);
	/* The names of links are needed, whatever is to be shown. */
	mnl_attr_put_u32(nlh, SRDMA_NL_M_KINDS,
			 watch->kinds | 1u << SRDMA_NL_EV_LINK);
	if (watch->qpn)
		mnl_attr_put_u32(nlh, SRDMA_NL_M_QPN, watch->qpn);
	if (watch->room)
		mnl_attr_put_u32(nlh, SRDMA_NL_M_ROOM, watch->room);
	mnl_attr_nest_end(nlh, nest);
	return family_talk(nlh, NULL, NULL);
}

static int follow(struct watch *watch)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *nlh;

	while (!watch->ended) {
		watch->heard = 0;
		nlh = family_request(buf, SRDMA_NL_CMD_MONITOR_GET, NLM_F_ACK);
		if (family_talk(nlh, heard_events, watch))
			return -1;
		if (out_flush())
			return -1;
		if (!watch->heard && family_wait(ASK_AFTER_MS))
			return -1;
	}
	return 0;
}

int monitor_command(int argc, char **argv)
{
	static struct watch watch = { .kinds = (1u << SRDMA_NL_EV_NR) - 1 };

	if (!read_words(&watch, argc, argv))
		return usage();
	out_stream = true;
	setvbuf(stdout, NULL, _IOFBF, ANSWER_MOST);
	return start(&watch) || follow(&watch) ? 1 : 0;
}
