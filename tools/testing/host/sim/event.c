// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The event queue, a binary heap, and the free frames. One simulation runs
 * at a time in a process, so both are the process's.
 */
#include <stdio.h>
#include <stdlib.h>

#include "event.h"

static struct event *heap;
static size_t heap_len, heap_room;
static u64 heap_order;
static struct frame *frames;

static bool before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void swap_events(size_t a, size_t b)
{
	struct event e = heap[a];

	heap[a] = heap[b];
	heap[b] = e;
}

void event_add(struct sim *s, u64 at, enum event_kind kind, struct node *node,
	       struct frame *frame)
{
	size_t i = heap_len;

	if (heap_len == heap_room) {
		heap_room = heap_room ? 2 * heap_room : 256;
		heap = realloc(heap, heap_room * sizeof(*heap));
		if (!heap)
			abort();
	}
	heap[heap_len++] = (struct event){
		.at = at > s->now ? at : s->now,
		.order = heap_order++,
		.kind = kind,
		.node = node,
		.frame = frame,
	};
	while (i && before(&heap[i], &heap[(i - 1) / 2])) {
		swap_events(i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
}

bool event_take(struct sim *s, struct event *out)
{
	size_t i = 0;

	if (!heap_len)
		return false;
	*out = heap[0];
	heap[0] = heap[--heap_len];
	for (;;) {
		size_t least = i, child = 2 * i + 1;

		if (child < heap_len && before(&heap[child], &heap[least]))
			least = child;
		if (child + 1 < heap_len &&
		    before(&heap[child + 1], &heap[least]))
			least = child + 1;
		if (least == i)
			break;
		swap_events(i, least);
		i = least;
	}
	s->now = out->at;
	return true;
}

void event_clear(struct sim *s)
{
	while (heap_len) {
		heap_len--;
		if (heap[heap_len].frame)
			frame_put(heap[heap_len].frame);
	}
	heap_order = 0;
}

struct frame *frame_get(void)
{
	struct frame *f = frames;

	if (f)
		frames = f->next;
	else
		f = malloc(sizeof(*f));
	if (!f)
		abort();
	f->next = NULL;
	f->spoiled = false;
	return f;
}

void frame_put(struct frame *f)
{
	f->next = frames;
	frames = f;
}
