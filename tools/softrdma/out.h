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
/* In JSON each object is by itself, for who reads them as they come. */
extern bool out_stream;

void out_begin(void);
void out_end(void);
void out_item(void);
void out_item_end(void);

void out_word(const char *key, const char *word);
void out_tag(const char *key, const char *word);
void out_flag(const char *key);
void out_number(const char *key, uint64_t number);
void out_hex(const char *key, uint64_t number);
void out_plain(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

int out_flush(void);

#endif
