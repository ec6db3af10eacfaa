/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The words of the command line, and the numbers that netlink has for them.
 */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <rdma/softrdma-netlink.h>

/* A word and its number; the last of a table has no word. */
struct name {
	const char *word;
	unsigned int number;
};

extern const struct name packet_ops[];
extern const struct name request_ops[];
extern const struct name actions[];
extern const struct name points[];
extern const struct name fields[];
extern const struct name verbs[];
extern const struct name nak_codes[];
extern const struct name statuses[];
extern const struct name errnos[];

bool read_number(const char *word, uint64_t *number);
bool find_number(const struct name *table, const char *word,
		 unsigned int *number);
const char *find_word(const struct name *table, unsigned int number);
bool match_ops(const struct name *table, const char *patterns,
	       uint8_t ops[SRDMA_NL_OPS_BYTES]);
void say_words(const struct name *table, const char *what);

#endif
