// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Scatter/gather lists over a node's memory.
 */
#include <string.h>

#include "node.h"

u8 sim_pattern[PATTERN_SIZE];

/* Calls @step for each part of the list that @len bytes at @off touch. */
#define FOR_EACH_PART(l, off, len, at, n)				\
	for (u32 i_ = 0, skip_ = (off), left_ = (len), at, n;		\
	     i_ < (l)->n && left_;					\
	     skip_ -= skip_ < (l)->p[i_].len ? skip_ : (l)->p[i_].len, i_++) \
		if (skip_ >= (l)->p[i_].len)				\
			continue;					\
		else if (at = (l)->p[i_].off + skip_,			\
			 n = (l)->p[i_].len - skip_,			\
			 n = n < left_ ? n : left_, left_ -= n, 0)	\
			continue;					\
		else

void list_gather(const struct list *l, u32 off, u8 *dst, u32 len)
{
	FOR_EACH_PART(l, off, len, at, n) {
		memcpy(dst, sim_pattern + at, n);
		dst += n;
	}
}

void list_scatter(struct node *node, const struct list *l, u32 off,
		  const u8 *src, u32 len)
{
	FOR_EACH_PART(l, off, len, at, n) {
		memcpy(node->arena + at, src, n);
		src += n;
	}
}

bool list_equal(const u8 *base, const struct list *l, u32 off,
		const u8 *want, u32 len)
{
	FOR_EACH_PART(l, off, len, at, n) {
		if (memcmp(base + at, want, n))
			return false;
		want += n;
	}
	return true;
}

bool payload_equal(const struct entry *e, u32 off, const u8 *got, u32 len)
{
	return list_equal(sim_pattern, &e->local, off, got, len);
}

static bool guard(const u8 *p)
{
	u32 i;

	for (i = 0; i < GUARD; i++)
		if (p[i] != GUARD_BYTE)
			return false;
	return true;
}

bool guards_intact(const struct node *n, const struct list *l)
{
	u32 i;

	for (i = 0; i < l->n; i++)
		if (!guard(n->arena + l->p[i].off - GUARD) ||
		    !guard(n->arena + l->p[i].off + l->p[i].len))
			return false;
	return true;
}
