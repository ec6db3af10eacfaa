/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rules in words, and in attributes of netlink.
 */
#ifndef RULE_H
#define RULE_H

#include <libmnl/libmnl.h>

int rule_from_words(struct nlmsghdr *nlh, int argc, char **argv);
void rule_show(struct nlattr **attrs);

#endif
