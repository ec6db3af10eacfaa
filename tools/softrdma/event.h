/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Events in words.
 */
#ifndef EVENT_H
#define EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include <libmnl/libmnl.h>

#include <rdma/softrdma-netlink.h>

#include "names.h"

extern const struct name event_kinds[];

void event_read(const struct nlattr *nest, struct nlattr **event);
void event_show(struct nlattr **event, const char *link);

/* The number that an event has of a kind of attribute; 0 where it has none. */
uint64_t event_number(struct nlattr **event, int attr);

#endif
