/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Output: lines of words and numbers, or JSON.
 */
#ifndef OUT_H
#define OUT_H

#include <stdbool.h>
#include <stdint.h>

extern bool out_json;
extern bool out_pretty;

void out_begin(void);
void out_end(void);
void out_item(void);
void out_item_end(void);

void out_word(const char *key, const char *word);
void out_number(const char *key, uint64_t number);
void out_hex(const char *key, uint64_t number);
void out_plain(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

#endif
