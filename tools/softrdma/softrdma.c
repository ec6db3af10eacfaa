// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * softrdma: the tool that makes a softrdma device go wrong on demand, and shows what
 * it does, in the manner of rdma(8).
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "family.h"
#include "fault.h"
#include "monitor.h"
#include "out.h"

static void help(FILE *to)
{
	fputs("Usage: softrdma [OPTION]... OBJECT [COMMAND]\n"
	      "\n"
	      "OBJECT:\n"
	      "  fault                 what goes wrong, by rule\n"
	      "  errors                what has failed, and why\n"
	      "  monitor               what happens, as it happens\n"
	      "  help                  this text; \"OBJECT help\" for more\n"
	      "OPTION:\n"
	      "  -j, --json            output for programs\n"
	      "  -p, --pretty          ... with line breaks\n"
	      "  -V, --version         the version, and no more\n", to);
}

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "pretty", no_argument, NULL, 'p' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{}
};

/* Returns the exit status, or -1: go on. */
static int read_options(int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "+jpVh", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			out_json = true;
			break;
		case 'p':
			out_pretty = true;
			break;
		case 'V':
			puts("softrdma " VERSION);
			return 0;
		case 'h':
			help(stdout);
			return 0;
		default:
			help(stderr);
			return 2;
		}
	}
	return -1;
}

/**
 * struct object - what may stand first
 * @name: of it
 * @help: says what may stand behind it
 * @command: does what stands there; returns the exit status
 */
struct object {
	const char *name;
	void (*help)(void);
	int (*command)(int argc, char **argv);
};

static const struct object objects[] = {
	{ "fault", fault_help, fault_command },
	{ "errors", errors_help, errors_command },
	{ "monitor", monitor_help, monitor_command },
	{}
};

static int run(const struct object *object, int argc, char **argv)
{
	int ret;

	if (argc && !strcmp(argv[0], "help")) {
		object->help();
		return 0;
	}
	if (family_open())
		return 1;
	ret = object->command(argc, argv);
	family_close();
	return ret;
}

static int run_named(int argc, char **argv)
{
	const struct object *object;

	/* What a code means is known without a driver. */
	if (argc > 1 && !strcmp(argv[0], "errors") && !strcmp(argv[1], "code"))
		return errors_codes(argc - 2, argv + 2);
	for (object = objects; object->name; object++)
		if (!strcmp(argv[0], object->name))
			return run(object, argc - 1, argv + 1);
	help(strcmp(argv[0], "help") ? stderr : stdout);
	return strcmp(argv[0], "help") ? 2 : 0;
}

int main(int argc, char **argv)
{
	int ret = read_options(argc, argv);

	if (ret >= 0)
		return ret;
	argc -= optind;
	argv += optind;
	if (!argc) {
		help(stderr);
		return 2;
	}
	ret = run_named(argc, argv);
	return out_flush() ?: ret;
}
