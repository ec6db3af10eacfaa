/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What memory is painted with, so that bytes tell whose they are. Two families:
 * open content, which others may come to see, and secrets, which may never be
 * seen in the memory of anybody else, nor be changed.
 */
#ifndef SRT_FUZZ_PAINT_H
#define SRT_FUZZ_PAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct paint_found - a secret where none may be
 * @user: whose it is
 * @epoch: which of the user's secrets
 * @offset: where it was found, bytes
 * @bytes: how many of them, at least
 */
struct paint_found {
	int user;
	uint32_t epoch;
	size_t offset;
	size_t bytes;
};

/* Sizes and addresses are multiples of eight. */
void paint_open(void *at, size_t len, int user, uint32_t epoch);
void paint_secret(void *at, size_t len, int user, uint32_t epoch);

/* The offset of the first byte that is not that secret, or -1. */
long paint_spoilt(const void *at, size_t len, int user, uint32_t epoch);

/*
 * Is there a secret of anybody in this memory, at whatever alignment? Eleven
 * bytes of one, or an aligned word, are always found.
 */
bool paint_find(const void *at, size_t len, struct paint_found *found);

#endif
