// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What "softrdma monitor" shows, as lines of JSON. */
#define _GNU_SOURCE
#include "listen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules.h"
#include "topo.h"

#define WAIT_MS	20000
#define WORDS	24

static void run(int out, char *words)
{
	char *argv[WORDS + 1] = { "softrdma", "-j", "monitor" };
	int argc = 3;

	while (argc < WORDS && (argv[argc] = strsep(&words, " ")))
		argc++;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(out, STDOUT_FILENO);
	execvp(rules_find_tool(), argv);
	_exit(127);
}

/* Reads what there is, or comes within the time. 0: nothing any more. */
static int read_more(struct listen *listen, int timeout_ms)
{
	struct pollfd fd = { .fd = listen->fd, .events = POLLIN };
	char *text;
	ssize_t n;

	if (poll(&fd, 1, timeout_ms) <= 0)
		return -ETIMEDOUT;
	text = realloc(listen->text, listen->len + 65536);
	if (!text)
		return -ENOMEM;
	listen->text = text;
	n = read(listen->fd, text + listen->len, 65535);
	if (n < 0)
		return -errno;
	listen->len += n;
	text[listen->len] = 0;
	return n;
}

int listen_begin(struct listen *listen, const char *fmt, ...)
{
	char words[512];
	va_list args;
	int pipes[2];

	va_start(args, fmt);
	vsnprintf(words, sizeof(words), fmt, args);
	va_end(args);
	memset(listen, 0, sizeof(*listen));
	if (pipe(pipes))
		return -errno;
	listen->pid = fork();
	if (!listen->pid)
		run(pipes[1], words);
	close(pipes[1]);
	listen->fd = pipes[0];
	return listen_until(listen, "\"is\":\"here\"", NULL);
}

void listen_end(struct listen *listen)
{
	if (listen->pid > 0) {
		kill(listen->pid, SIGKILL);
		waitpid(listen->pid, NULL, 0);
	}
	if (listen->fd > 0)
		close(listen->fd);
	free(listen->text);
	memset(listen, 0, sizeof(*listen));
}

int listen_wait(struct listen *listen)
{
	int status, ret;

	while ((ret = read_more(listen, WAIT_MS)) > 0)
		;
	if (ret || waitpid(listen->pid, &status, 0) != listen->pid)
		return -1;
	listen->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Does a line, which ends at @end, have it? */
static bool has(const char *line, const char *end, const char *what)
{
	const char *at = what ? strstr(line, what) : line;

	return at && at < end;
}

/* The next line that has all of them, from @at on; and its end. */
static const char *next_line(const char *at, const char **end, const char *a,
			     const char *b, const char *c)
{
	for (; at && (*end = strchr(at, '\n')); at = *end + 1)
		if (has(at, *end, a) && has(at, *end, b) && has(at, *end, c))
			return at;
	return NULL;
}

int listen_count(const struct listen *listen, const char *a, const char *b,
		 const char *c)
{
	const char *at = listen->text, *end;
	int count = 0;

	for (; (at = next_line(at, &end, a, b, c)); at = end + 1)
		count++;
	return count;
}

int listen_until(struct listen *listen, const char *a, const char *b)
{
	long by = topo_now_ms() + WAIT_MS;

	while (!listen_count(listen, a, b, NULL)) {
		if (topo_now_ms() > by || !read_more(listen, 100))
			return -ETIMEDOUT;
	}
	return 0;
}

static int64_t number_in(const char *line, const char *end, const char *key)
{
	char name[64];
	const char *at;

	snprintf(name, sizeof(name), "\"%s\":", key);
	at = strstr(line, name);
	return at && at < end ? atoll(at + strlen(name)) : -1;
}

int64_t listen_sum(const struct listen *listen, const char *key, const char *a,
		   const char *b)
{
	const char *at = listen->text, *end;
	int64_t sum = 0;

	for (; (at = next_line(at, &end, a, b, NULL)); at = end + 1)
		sum += number_in(at, end, key);
	return sum;
}

int64_t listen_number(const struct listen *listen, const char *key, int index,
		      const char *a, const char *b)
{
	const char *at = listen->text, *end;

	for (; (at = next_line(at, &end, a, b, NULL)); at = end + 1)
		if (!index--)
			return number_in(at, end, key);
	return -1;
}

/* Behind a string that begins here, or NULL. No string of ours has escapes. */
static const char *skip_string(const char *at)
{
	if (*at++ != '"')
		return NULL;
	at += strcspn(at, "\"\\\n");
	return *at == '"' ? at + 1 : NULL;
}

static const char *skip_value(const char *at)
{
	size_t digits = strspn(at, "0123456789");

	if (digits)
		return at + digits;
	return strncmp(at, "true", 4) ? skip_string(at) : at + 4;
}

static bool is_object(const char *at, const char *end)
{
	char before = '{';

	while (*at == before) {
		at = skip_string(at + 1);
		if (!at || *at != ':')
			return false;
		at = skip_value(at + 1);
		if (!at)
			return false;
		before = ',';
	}
	return before == ',' && *at == '}' && at + 1 == end;
}

bool listen_is_json(const struct listen *listen)
{
	const char *at = listen->text, *end;

	for (; at && (end = strchr(at, '\n')); at = end + 1) {
		if (is_object(at, end))
			continue;
		fprintf(stderr, "# no object: %.*s\n", (int)(end - at), at);
		return false;
	}
	return !at || !*at;
}
