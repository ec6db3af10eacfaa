/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The log of errors over netlink.
 */
#ifndef SRDMA_CONTROL_ERRORS_H
#define SRDMA_CONTROL_ERRORS_H

struct netlink_callback;
struct sk_buff;

int srdma_errors_dump_start(struct netlink_callback *cb);
int srdma_errors_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif
