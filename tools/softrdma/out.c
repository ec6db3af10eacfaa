// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Output: lines for people, an array of objects for programs. */
#include "out.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

bool out_json;
bool out_pretty;
bool out_stream;

static int items;
static int keys;

void out_begin(void)
{
	items = 0;
	if (out_json)
		printf("[");
}

void out_end(void)
{
	if (out_json)
		printf(out_pretty && items ? "\n]\n" : "]\n");
}

/* A line, or an object. */
void out_item(void)
{
	keys = 0;
	if (out_json && out_stream)
		printf("{");
	else if (out_json)
		printf("%s%s{", items ? "," : "", out_pretty ? "\n    " : "");
	items++;
}

void out_item_end(void)
{
	if (out_json)
		printf(out_pretty ? "\n    }" : "}");
	if (!out_json || out_stream)
		printf("\n");
}

static void json_key(const char *key)
{
	printf("%s%s\"%s\":%s", keys++ ? "," : "",
	       out_pretty ? "\n        " : "", key, out_pretty ? " " : "");
}

static void json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putchar('\\');
		if ((unsigned char)*s < ' ')
			printf("\\u%04x", *s);
		else
			putchar(*s);
	}
	putchar('"');
}

static void space(void)
{
	if (keys++)
		putchar(' ');
}

/* In text the key stands before the word, unless the word says enough. */
void out_word(const char *key, const char *word)
{
	if (out_json) {
		json_key(key);
		json_string(word);
		return;
	}
	space();
	printf("%s %s", key, word);
}

/* In text the word says enough. */
void out_tag(const char *key, const char *word)
{
	if (out_json)
		out_word(key, word);
	else
		out_plain("%s", word);
}

/* It is so. */
void out_flag(const char *key)
{
	if (!out_json) {
		out_plain("%s", key);
		return;
	}
	json_key(key);
	printf("true");
}

void out_number(const char *key, uint64_t number)
{
	if (out_json) {
		json_key(key);
		printf("%" PRIu64, number);
		return;
	}
	space();
	printf("%s %" PRIu64, key, number);
}

void out_hex(const char *key, uint64_t number)
{
	if (out_json) {
		out_number(key, number);
		return;
	}
	space();
	printf("%s 0x%" PRIx64, key, number);
}

/* For people only. */
void out_plain(const char *format, ...)
{
	va_list args;

	if (out_json)
		return;
	space();
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

/* Has all that was said been written? 0, or an exit status. */
int out_flush(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	perror("softrdma: output");
	return 1;
}
