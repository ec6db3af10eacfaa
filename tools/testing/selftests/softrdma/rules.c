// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rules by which things go wrong, made with the tool softrdma(8). */
#include "rules.h"

#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

#define SAYS	16384

/* The tool is installed beside the tests, or where tools are. */
const char *rules_find_tool(void)
{
	static char path[PATH_MAX + 16];
	char self[PATH_MAX];
	ssize_t n;

	if (*path)
		return path;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n > 0) {
		self[n] = 0;
		snprintf(path, sizeof(path), "%s/softrdma", dirname(self));
		if (!access(path, X_OK))
			return path;
	}
	strcpy(path, "softrdma");
	return path;
}

static int run(char *said, int room, const char *words)
{
	char command[PATH_MAX + 2048];

	snprintf(command, sizeof(command), "%s %s", rules_find_tool(), words);
	return program_says(said, room, command);
}

int rules_tool(char *said, int room, const char *fmt, ...)
{
	char words[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(words, sizeof(words), fmt, args);
	va_end(args);
	return run(said, room, words);
}

int rules_add(const char *link, const char *fmt, ...)
{
	char words[1024], said[SAYS], *id;
	va_list args;
	int n;

	n = snprintf(words, sizeof(words), "fault add %s ", link);
	va_start(args, fmt);
	vsnprintf(words + n, sizeof(words) - n, fmt, args);
	va_end(args);
	if (run(said, sizeof(said), words)) {
		fprintf(stderr, "# softrdma %s: %s", words, said);
		return -1;
	}
	id = strstr(said, " id ");
	return id ? atoi(id + 4) : 0;
}

static int add_ends_with(int status, const char *link, const char *why,
			 const char *fmt, va_list args)
{
	char words[1024], said[SAYS];
	int n;

	n = snprintf(words, sizeof(words), "fault add %s ", link);
	vsnprintf(words + n, sizeof(words) - n, fmt, args);
	n = run(said, sizeof(said), words);
	if (n == status && strstr(said, why))
		return 1;
	fprintf(stderr, "# softrdma %s: exit status %d: %s", words, n, said);
	return 0;
}

int rules_refused(const char *link, const char *why, const char *fmt, ...)
{
	va_list args;
	int so;

	va_start(args, fmt);
	so = add_ends_with(1, link, why, fmt, args);
	va_end(args);
	return so;
}

int rules_not_understood(const char *link, const char *why,
			 const char *fmt, ...)
{
	va_list args;
	int so;

	va_start(args, fmt);
	so = add_ends_with(2, link, why, fmt, args);
	va_end(args);
	return so;
}

/* A number behind a word, in the line of a rule. */
static long look_up(const char *link, int id, const char *word)
{
	char said[SAYS], begin[64], *line, *end, *at;

	if (rules_tool(said, sizeof(said), "fault list %s", link))
		return -1;
	snprintf(begin, sizeof(begin), "link %s id %d ", link, id);
	line = strstr(said, begin);
	if (!line)
		return -1;
	end = strchr(line, '\n');
	if (end)
		*end = 0;
	at = strstr(line, word);
	return at ? atol(at + strlen(word)) : -1;
}

long rules_hits(const char *link, int id)
{
	return look_up(link, id, " hits ");
}

long rules_seen(const char *link, int id)
{
	return look_up(link, id, " seen ");
}

int rules_flush(const char *link)
{
	char said[SAYS];

	return rules_tool(said, sizeof(said), "fault flush %s", link);
}
