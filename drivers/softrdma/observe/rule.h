/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Faults by rule: which packet, work request or verb goes wrong, and how. Code
 * at a fault point asks here, and does what the rule says.
 * Documentation/softrdma/guide/faults.rst explains how to use rules.
 *
 * While no device has a rule for a point, the point costs a no-op.
 */
#ifndef SRDMA_RULE_H
#define SRDMA_RULE_H

#include <linux/bitmap.h>
#include <linux/errno.h>
#include <linux/in6.h>
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <rdma/softrdma-netlink.h>

/* Rules that a link may have. */
#define SRDMA_RULES_MOST	256

/**
 * struct srdma_order - what is to be done
 * @action: enum srdma_nl_action
 * @field: enum srdma_nl_field
 * @has_value: @value was given
 * @value: see enum srdma_nl_action
 * @time: ns, likewise
 */
struct srdma_order {
	u8 action;
	u8 field;
	bool has_value;
	u64 value;
	u64 time;
};

/* Which selectors a rule has, beside its point. */
enum srdma_rule_has {
	SRDMA_RULE_QPN = BIT(0),
	SRDMA_RULE_PEER = BIT(1),
	SRDMA_RULE_PID = BIT(2),
	SRDMA_RULE_OPS = BIT(3),
	SRDMA_RULE_PSN = BIT(4),
	SRDMA_RULE_PSN_OFFSET = BIT(5),
	SRDMA_RULE_PROB = BIT(6),
};

/**
 * struct srdma_rule - a rule
 * @entry: in the list of its device
 * @rcu: who asks may still see it when it is deleted
 * @id: number
 * @point: enum srdma_nl_point
 * @verb: enum srdma_nl_verb, at that point
 * @has: bits of enum srdma_rule_has
 * @qpn: of this QP only
 * @peer: of this peer only
 * @pid: of QPs of this process only, as the first PID namespace numbers it
 * @told_pid: the number that the rule was made with
 * @ops: opcodes
 * @psn: packets with this PSN, or so far behind the first
 * @after: see enum srdma_nl_rule_attr, as the rest of the numbers; 0: not given
 * @nth: likewise
 * @every: likewise
 * @times: likewise
 * @prob: likewise
 * @seed: likewise
 * @order: what it does
 * @lock: guards what follows
 * @seen: how many have matched
 * @hits: to how many it was done
 */
struct srdma_rule {
	struct list_head entry;
	struct rcu_head rcu;
	u32 id;
	u8 point;
	u8 verb;
	u8 has;
	u32 qpn;
	struct in6_addr peer;
	u32 pid;
	u32 told_pid;
	DECLARE_BITMAP(ops, SRDMA_NL_OPS_BYTES * 8);
	u32 psn;
	u64 after;
	u64 nth;
	u64 every;
	u64 times;
	u32 prob;
	u64 seed;
	struct srdma_order order;
	spinlock_t lock;
	u64 seen;
	u64 hits;
};

/**
 * struct srdma_rules - the rules of a device
 * @lock: one changes them at a time
 * @list: they, the oldest first; looked at under RCU
 * @count: how many
 * @last_id: number last given to one
 * @looked_at: by point: how many look there, and one for a port that is down
 * @port_down: the port is down on demand: nothing is sent or received
 */
struct srdma_rules {
	struct mutex lock;
	struct list_head list;
	u32 count;
	u32 last_id;
	u32 looked_at[SRDMA_NL_POINT_NR];
	bool port_down;
};

/**
 * struct srdma_subject - what passes a point
 * @qpn: its QP
 * @pid: process that made the QP, or calls the verb; 0: the kernel
 * @peer: where a packet goes to or comes from; NULL: there is none
 * @op: opcode: of the BTH, or of the work request
 * @psn: of the packet
 * @first_psn: the first PSN of the QP in this direction
 * @verb: enum srdma_nl_verb
 * @is_burst: it is not yet a packet: there may be no memory, or no way
 */
struct srdma_subject {
	u32 qpn;
	u32 pid;
	const struct in6_addr *peer;
	u8 op;
	u32 psn;
	u32 first_psn;
	u8 verb;
	bool is_burst;
};

DECLARE_STATIC_KEY_FALSE(srdma_rules_exist);

/* Does any rule of a device look there? */
static inline bool srdma_rules_look(const struct srdma_rules *rules,
				    enum srdma_nl_point point)
{
	return static_branch_unlikely(&srdma_rules_exist) &&
	       READ_ONCE(rules->looked_at[point]);
}

/* Of packets, sent or received? Then each is to be by itself, with its bytes. */
static inline bool
srdma_rules_look_at_packets(const struct srdma_rules *rules)
{
	return static_branch_unlikely(&srdma_rules_exist) &&
	       (READ_ONCE(rules->looked_at[SRDMA_NL_POINT_TX]) ||
		READ_ONCE(rules->looked_at[SRDMA_NL_POINT_RX]));
}

void srdma_rules_init(struct srdma_rules *rules);
void srdma_rules_uninit(struct srdma_rules *rules);

int srdma_rules_add(struct srdma_rules *rules, struct srdma_rule *rule,
		    u32 *id);
int srdma_rules_del(struct srdma_rules *rules, u32 id);
void srdma_rules_flush(struct srdma_rules *rules);
void srdma_rules_set_port(struct srdma_rules *rules, bool down);

bool srdma_rules_ask(struct srdma_rules *rules, enum srdma_nl_point point,
		     const struct srdma_subject *what,
		     struct srdma_order *order);
int srdma_rules_ask_verb(struct srdma_rules *rules, enum srdma_nl_verb verb,
			 u32 qpn);

/**
 * srdma_rules_verb - is a verb to fail?
 * @rules: rules of its device
 * @verb: which
 * @qpn: QP that it is about, or 0
 *
 * Return: 0, or the error to fail with.
 */
static inline int srdma_rules_verb(struct srdma_rules *rules,
				   enum srdma_nl_verb verb, u32 qpn)
{
	if (!srdma_rules_look(rules, SRDMA_NL_POINT_VERB))
		return 0;
	return srdma_rules_ask_verb(rules, verb, qpn);
}

#endif
