/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Events as netlink attributes.
 */
#ifndef SRDMA_EVENT_ATTRS_H
#define SRDMA_EVENT_ATTRS_H

struct sk_buff;
struct srdma_event;

int srdma_event_put(struct sk_buff *msg, const struct srdma_event *event);

#endif
