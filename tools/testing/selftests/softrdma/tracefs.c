// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracefs.h"

#define TRACEFS		"/sys/kernel/tracing"
#define BUFFER		TRACEFS "/instances/softrdma-selftest"

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (*text && write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int tracefs_open(void)
{
	struct stat st;
	int ret;

	if (stat(TRACEFS "/instances", &st) &&
	    mount("tracefs", TRACEFS, "tracefs", 0, NULL))
		return -errno;
	if (mkdir(BUFFER, 0700) && errno != EEXIST)
		return -errno;
	/*
	 * Without the names of tasks: for these the scheduler's code is changed
	 * while it runs, which emulators of several CPUs may get wrong.
	 */
	ret = write_file(BUFFER "/trace_options", "norecord-cmd");
	return ret ?: tracefs_clear();
}

void tracefs_close(void)
{
	write_file(BUFFER "/events/enable", "0");
	rmdir(BUFFER);
}

int tracefs_enable(const char *event, const char *filter)
{
	char path[256];
	int ret = 0;

	if (filter) {
		snprintf(path, sizeof(path), BUFFER "/events/%s/filter", event);
		ret = write_file(path, filter);
	}
	snprintf(path, sizeof(path), BUFFER "/events/%s/enable", event);
	return ret ?: write_file(path, "1");
}

int tracefs_clear(void)
{
	return write_file(BUFFER "/trace", "");
}

/* Calls @fn for each entry that holds both texts. 0 or -errno. */
static int for_each(const char *text, const char *other,
		    void (*fn)(const char *line, void *arg), void *arg)
{
	FILE *trace = fopen(BUFFER "/trace", "r");
	size_t size = 0;
	char *line = NULL;

	if (!trace)
		return -errno;
	while (getline(&line, &size, trace) > 0)
		if (*line != '#' && strstr(line, text) && strstr(line, other))
			fn(line, arg);
	free(line);
	fclose(trace);
	return 0;
}

static void count(const char *line, void *arg)
{
	++*(int *)arg;
}

int tracefs_count(const char *text, const char *other)
{
	int n = 0;

	return for_each(text, other, count, &n) ?: n;
}

struct sum {
	const char *field;
	long total;
};

static void add(const char *line, void *arg)
{
	struct sum *sum = arg;
	const char *at = strstr(line, sum->field);

	if (at)
		sum->total += strtol(at + strlen(sum->field), NULL, 0);
}

long tracefs_sum(const char *text, const char *other, const char *field)
{
	char with_sign[64];
	struct sum sum = { .field = with_sign };
	int ret;

	snprintf(with_sign, sizeof(with_sign), " %s=", field);
	ret = for_each(text, other, add, &sum);
	return ret ?: sum.total;
}

static void show(const char *line, void *arg)
{
	fprintf(stderr, "# %s", line);
}

void tracefs_show(const char *text)
{
	for_each(text, "", show, NULL);
}
