/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the kernel logged since a mark. */
#ifndef SRT_KMSG_H
#define SRT_KMSG_H

#include <stdbool.h>

/* A descriptor that stands at the end of the log, or -errno. */
int kmsg_mark(void);

/* Was a line logged since the mark that holds every one of the words? */
bool kmsg_has(int mark, const char *word, const char *other);

#endif
