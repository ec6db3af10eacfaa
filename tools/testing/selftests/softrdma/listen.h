/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What "softrdma monitor" shows, as lines of JSON. */
#ifndef SRT_LISTEN_H
#define SRT_LISTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct listen - one that runs
 * @pid: of the tool
 * @fd: what it says
 * @text: what it has said
 * @len: bytes of that
 */
struct listen {
	pid_t pid;
	int fd;
	char *text;
	size_t len;
};

/*
 * Run it with these words, and wait until it listens: it has to be asked for links
 * for that. 0 or -errno.
 */
int listen_begin(struct listen *listen, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* End it. */
void listen_end(struct listen *listen);

/* Wait for a line that has both; 0, or -ETIMEDOUT. @b may be NULL, as below. */
int listen_until(struct listen *listen, const char *a, const char *b);

/* How many lines have all of them. */
int listen_count(const struct listen *listen, const char *a, const char *b,
		 const char *c);

/* The sum of a number in the lines that have both. */
int64_t listen_sum(const struct listen *listen, const char *key, const char *a,
		   const char *b);

/* A number in the line with an index, from 0, of those that have both; or -1. */
int64_t listen_number(const struct listen *listen, const char *key, int index,
		      const char *a, const char *b);

/* Is each line that came an object of JSON, of numbers, words and truths? */
bool listen_is_json(const struct listen *listen);

/* Wait for it to end by itself; its exit status, or -1. */
int listen_wait(struct listen *listen);

#endif
