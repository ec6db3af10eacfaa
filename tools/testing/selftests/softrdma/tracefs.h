/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the kernel's tracepoints say, in a trace buffer of our own. */
#ifndef SRT_TRACEFS_H
#define SRT_TRACEFS_H

/* Make the buffer, with no event enabled. 0 or -errno. */
int tracefs_open(void);
void tracefs_close(void);

/* Enable "group/event", if a filter is given only where it holds. 0, -errno. */
int tracefs_enable(const char *event, const char *filter);

/* Forget what was traced so far. 0 or -errno. */
int tracefs_clear(void);

/* How many entries hold both texts; the second may be "". Or -errno. */
int tracefs_count(const char *text, const char *other);

/* The sum of the numbers that follow "field=" in these entries. Or -errno. */
long tracefs_sum(const char *text, const char *other, const char *field);

/* Show these entries on stderr. */
void tracefs_show(const char *text);

#endif
