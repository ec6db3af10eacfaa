// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * softrdma: the tool that makes what a softrdma device does go wrong on demand,
 * in the manner of rdma(8).
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "family.h"
#include "fault.h"
#include "out.h"

static void help(FILE *to)
{
	fputs("Usage: softrdma [OPTION]... OBJECT [COMMAND]\n"
	      "\n"
	      "OBJECT:\n"
	      "  fault                 what goes wrong, by rule\n"
	      "  errors                what has failed, and why\n"
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

static int run_fault(int argc, char **argv)
{
	int ret;

	if (argc && !strcmp(argv[0], "help")) {
		fault_help();
		return 0;
	}
	if (family_open())
		return 1;
	ret = fault_command(argc, argv);
	family_close();
	return ret;
}

static int run_errors(int argc, char **argv)
{
	int ret;

	if (argc && !strcmp(argv[0], "help")) {
		errors_help();
		return 0;
	}
	if (argc && !strcmp(argv[0], "code"))
		return errors_codes(argc - 1, argv + 1);
	if (family_open())
		return 1;
	ret = errors_command(argc, argv);
	family_close();
	return ret;
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
	if (!strcmp(argv[0], "fault"))
		return run_fault(argc - 1, argv + 1);
	if (!strcmp(argv[0], "errors"))
		return run_errors(argc - 1, argv + 1);
	help(strcmp(argv[0], "help") ? stderr : stdout);
	return strcmp(argv[0], "help") ? 2 : 0;
}
