// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults by rule: which packet, request or verb a rule matches.
 */
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "observe/rule.h"
#include "observe/trace.h"
#include "proto/opcode.h"
#include "proto/psn.h"

DEFINE_STATIC_KEY_FALSE(srdma_rules_exist);

void srdma_rules_init(struct srdma_rules *rules)
{
	mutex_init(&rules->lock);
	INIT_LIST_HEAD(&rules->list);
}

/* The device has no users any more. */
void srdma_rules_uninit(struct srdma_rules *rules)
{
	srdma_rules_flush(rules);
	srdma_rules_set_port(rules, false);
}

/* @rules->lock is held. */
static void look(struct srdma_rules *rules, enum srdma_nl_point point, int more)
{
	WRITE_ONCE(rules->looked_at[point], rules->looked_at[point] + more);
	if (more > 0)
		static_branch_inc(&srdma_rules_exist);
	else
		static_branch_dec(&srdma_rules_exist);
}

/**
 * srdma_rules_add - begin to follow a rule
 * @rules: of the device
 * @rule: from kzalloc(), filled but for its number, @entry and @lock; freed with
 *	the rules when it could be added
 * @id: filled with its number
 *
 * Return: 0, or -ENOSPC: there are too many.
 */
int srdma_rules_add(struct srdma_rules *rules, struct srdma_rule *rule, u32 *id)
{
	int err = 0;

	spin_lock_init(&rule->lock);
	mutex_lock(&rules->lock);
	if (rules->count < SRDMA_RULES_MOST) {
		rules->count++;
		rule->id = ++rules->last_id;
		*id = rule->id;
		list_add_tail_rcu(&rule->entry, &rules->list);
		look(rules, rule->point, 1);
	} else {
		err = -ENOSPC;
	}
	mutex_unlock(&rules->lock);
	return err;
}

/* @rules->lock is held. */
static void remove_rule(struct srdma_rules *rules, struct srdma_rule *rule)
{
	rules->count--;
	list_del_rcu(&rule->entry);
	look(rules, rule->point, -1);
	kfree_rcu(rule, rcu);
}

/* Deletes the rule with a number; -ENOENT when there is none. */
int srdma_rules_del(struct srdma_rules *rules, u32 id)
{
	struct srdma_rule *rule;
	int err = -ENOENT;

	mutex_lock(&rules->lock);
	list_for_each_entry(rule, &rules->list, entry) {
		if (rule->id != id)
			continue;
		remove_rule(rules, rule);
		err = 0;
		break;
	}
	mutex_unlock(&rules->lock);
	return err;
}

/* Deletes all rules. */
void srdma_rules_flush(struct srdma_rules *rules)
{
	struct srdma_rule *rule, *next;

	mutex_lock(&rules->lock);
	list_for_each_entry_safe(rule, next, &rules->list, entry)
		remove_rule(rules, rule);
	mutex_unlock(&rules->lock);
}

/* The port is down on demand, or is not any more. */
void srdma_rules_set_port(struct srdma_rules *rules, bool down)
{
	mutex_lock(&rules->lock);
	if (rules->port_down != down) {
		WRITE_ONCE(rules->port_down, down);
		look(rules, SRDMA_NL_POINT_TX, down ? 1 : -1);
		look(rules, SRDMA_NL_POINT_RX, down ? 1 : -1);
	}
	mutex_unlock(&rules->lock);
}

/* Is an action one that can be done to this? */
static bool applies(const struct srdma_rule *rule,
		    const struct srdma_subject *what)
{
	const struct srdma_opcode_info *op = srdma_opcode_get(what->op);

	switch (rule->order.action) {
	case SRDMA_NL_ACT_NO_MEMORY:
	case SRDMA_NL_ACT_NO_ROUTE:
		return what->is_burst;
	case SRDMA_NL_ACT_NAK:
	case SRDMA_NL_ACT_RNR:
	case SRDMA_NL_ACT_SILENT:
		return !what->is_burst && op->transport == SRDMA_TP_RC &&
		       (op->flags & SRDMA_OP_REQ);
	case SRDMA_NL_ACT_CNP:
		return !what->is_burst && (op->flags & SRDMA_OP_REQ) &&
		       (op->transport == SRDMA_TP_RC ||
			op->transport == SRDMA_TP_UC);
	}
	return !what->is_burst;
}

static bool matches(const struct srdma_rule *rule,
		    const struct srdma_subject *what)
{
	if ((rule->has & SRDMA_RULE_QPN) && rule->qpn != what->qpn)
		return false;
	if ((rule->has & SRDMA_RULE_PID) && rule->pid != what->pid)
		return false;
	if (rule->point == SRDMA_NL_POINT_VERB)
		return rule->verb == what->verb;
	if ((rule->has & SRDMA_RULE_OPS) && !test_bit(what->op, rule->ops))
		return false;
	if ((rule->has & SRDMA_RULE_PEER) &&
	    (!what->peer || !ipv6_addr_equal(&rule->peer, what->peer)))
		return false;
	if ((rule->has & SRDMA_RULE_PSN) && rule->psn != what->psn)
		return false;
	if ((rule->has & SRDMA_RULE_PSN_OFFSET) &&
	    rule->psn != ((what->psn - what->first_psn) & SRDMA_PSN_MASK))
		return false;
	return rule->point == SRDMA_NL_POINT_WR || applies(rule, what);
}

/* The same numbers for the same seed, whatever else happens (splitmix64). */
static u32 draw(u64 seed, u64 n)
{
	u64 x = seed + n * 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	x ^= x >> 31;
	/* Its upper half as a share of 10^9. */
	return (x >> 32) * SRDMA_NL_PROB_ONE >> 32;
}

/* @n: the number of what matches, behind those that are left alone */
static bool is_meant(const struct srdma_rule *rule, u64 n)
{
	u64 rest = 0;

	if (rule->every)
		div64_u64_rem(n, rule->every, &rest);
	if (rest || (rule->nth && n != rule->nth))
		return false;
	if (rule->times && rule->hits >= rule->times)
		return false;
	return !(rule->has & SRDMA_RULE_PROB) ||
	       draw(rule->seed, n) < rule->prob;
}

/* Kernel consumers make address handles with interrupts disabled. */
static bool takes_turn(struct srdma_rule *rule)
{
	unsigned long flags;
	bool hit;

	spin_lock_irqsave(&rule->lock, flags);
	rule->seen++;
	hit = rule->seen > rule->after &&
	      is_meant(rule, rule->seen - rule->after);
	rule->hits += hit;
	spin_unlock_irqrestore(&rule->lock, flags);
	return hit;
}

/**
 * srdma_rules_ask - does something go wrong here, and how?
 * @rules: rules of the device
 * @point: where
 * @what: what it is
 * @order: filled with what is to be done
 *
 * The first rule that hits has it; those behind it do not see it. From any
 * context but interrupts.
 */
bool srdma_rules_ask(struct srdma_rules *rules, enum srdma_nl_point point,
		     const struct srdma_subject *what,
		     struct srdma_order *order)
{
	struct srdma_rule *rule;
	bool hit = false;

	rcu_read_lock();
	list_for_each_entry_rcu(rule, &rules->list, entry) {
		hit = rule->point == point && matches(rule, what) &&
		      takes_turn(rule);
		if (!hit)
			continue;
		trace_srdma_rule(rules, rule, what);
		*order = rule->order;
		break;
	}
	rcu_read_unlock();
	return hit;
}

/* srdma_rules_verb(), where a rule looks at verbs. */
int srdma_rules_ask_verb(struct srdma_rules *rules, enum srdma_nl_verb verb,
			 u32 qpn)
{
	struct srdma_subject what = {
		.qpn = qpn,
		.pid = task_tgid_nr(current),
		.verb = verb,
	};
	struct srdma_order order;

	if (!srdma_rules_ask(rules, SRDMA_NL_POINT_VERB, &what, &order))
		return 0;
	return -(int)order.value;
}
