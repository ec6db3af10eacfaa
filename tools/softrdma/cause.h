/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The sentences about causes.
 */
#ifndef CAUSE_H
#define CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/softrdma-errors.h>

/**
 * struct cause - a cause and what is said of it
 * @code: enum srdma_err
 * @name: a word
 * @verb: that it is about; NULL: it is none of a verb
 * @sentence: with {facts}; see cause_say()
 * @help: what usually helps
 */
struct cause {
	uint16_t code;
	const char *name;
	const char *verb;
	const char *sentence;
	const char *help;
};

extern const struct cause causes[];

const struct cause *cause_find(uint32_t code);
const struct cause *cause_named(const char *name);
void cause_say(char *to, size_t room, const struct cause *cause,
	       const uint64_t *facts, uint32_t has);

#endif
