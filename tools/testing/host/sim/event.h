/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What is going to happen, by time.
 */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include "sim.h"

enum event_kind {
	EV_FRAME,	/* a packet arrives */
	EV_RUN,		/* the engines run */
	EV_TIMER,	/* the requester's timer fires */
	EV_HOLD,	/* the responder's timer fires */
	EV_POST,	/* work requests are posted */
	EV_RQ,		/* a receive work request is posted */
	EV_SQD,		/* modify QP to SQD */
	EV_RTS,		/* modify QP back to RTS */
	EV_ERR,		/* modify QP to error */
	EV_DIE,		/* the node falls silent */
};

/**
 * struct event - something that is going to happen
 * @at: when, ns
 * @order: of those at the same time the lowest comes first
 * @kind: what
 * @node: to whom
 * @frame: EV_FRAME: the packet
 */
struct event {
	u64 at;
	u64 order;
	enum event_kind kind;
	struct node *node;
	struct frame *frame;
};

void event_add(struct sim *s, u64 at, enum event_kind kind, struct node *node,
	       struct frame *frame);
bool event_take(struct sim *s, struct event *out);
void event_clear(struct sim *s);

struct frame *frame_get(void);
void frame_put(struct frame *f);

#endif
