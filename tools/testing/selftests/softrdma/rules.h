/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Rules by which things go wrong, made with the tool softrdma(8). */
#ifndef SRT_RULES_H
#define SRT_RULES_H

/*
 * Add one to a link: the words behind "softrdma fault add LINK". Returns its
 * number, 0 for one that is done at once; or -1.
 */
int rules_add(const char *link, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The same, where it is to be refused: is one of the tool's words @why? */
int rules_refused(const char *link, const char *why, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, where the tool does not understand the words, and does not ask. */
int rules_not_understood(const char *link, const char *why,
			 const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* How often a rule has hit, or how many it has seen; -1: there is none. */
long rules_hits(const char *link, int id);
long rules_seen(const char *link, int id);

/* Forget all of them. 0, or not. */
int rules_flush(const char *link);

/* Where the tool is. */
const char *rules_find_tool(void);

/* Any other command of the tool: its exit status, and what it said. */
int rules_tool(char *said, int room, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
