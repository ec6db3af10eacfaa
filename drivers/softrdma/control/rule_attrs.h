/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rules as netlink attributes.
 */
#ifndef SRDMA_RULE_ATTRS_H
#define SRDMA_RULE_ATTRS_H

#include <net/netlink.h>

struct srdma_rule;

extern const struct nla_policy srdma_rule_policy[];

int srdma_rule_parse(struct srdma_rule *rule, struct nlattr **attrs,
		     struct netlink_ext_ack *extack);
int srdma_rule_put(struct sk_buff *msg, int attr, struct srdma_rule *rule);

#endif
