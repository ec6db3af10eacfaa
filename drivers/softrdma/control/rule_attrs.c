// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rules as netlink attributes: parsing, validating and dumping them.
 */
#include <linux/pid.h>

#include "control/rule_attrs.h"
#include "observe/rule.h"
#include "proto/aeth.h"
#include "proto/status.h"
#include "proto/wire.h"

/* A delay keeps memory; a port that is down does not. */
#define DELAY_MOST	(10ULL * NSEC_PER_SEC)
#define DOWN_MOST	(24 * 3600ULL * NSEC_PER_SEC)

static struct netlink_range_validation prob_range = {
	.min = 1,
	.max = SRDMA_NL_PROB_ONE,
};

const struct nla_policy srdma_rule_policy[SRDMA_NL_R_MAX + 1] = {
	[SRDMA_NL_R_ID] = { .type = NLA_U32 },
	[SRDMA_NL_R_POINT] = NLA_POLICY_MAX(NLA_U8, SRDMA_NL_POINT_NR - 1),
	[SRDMA_NL_R_ACTION] = NLA_POLICY_MAX(NLA_U8, SRDMA_NL_ACT_NR - 1),
	[SRDMA_NL_R_QPN] = NLA_POLICY_MASK(NLA_U32, SRDMA_QPN_MASK),
	[SRDMA_NL_R_PEER] = NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[SRDMA_NL_R_PID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SRDMA_NL_R_OPS] = NLA_POLICY_EXACT_LEN(SRDMA_NL_OPS_BYTES),
	[SRDMA_NL_R_PSN] = NLA_POLICY_MASK(NLA_U32, SRDMA_QPN_MASK),
	[SRDMA_NL_R_PSN_OFFSET] = NLA_POLICY_MASK(NLA_U32, SRDMA_QPN_MASK),
	[SRDMA_NL_R_AFTER] = { .type = NLA_U64 },
	[SRDMA_NL_R_NTH] = NLA_POLICY_MIN(NLA_U64, 1),
	[SRDMA_NL_R_EVERY] = NLA_POLICY_MIN(NLA_U64, 1),
	[SRDMA_NL_R_TIMES] = NLA_POLICY_MIN(NLA_U64, 1),
	[SRDMA_NL_R_PROB] = NLA_POLICY_FULL_RANGE(NLA_U32, &prob_range),
	[SRDMA_NL_R_SEED] = { .type = NLA_U64 },
	[SRDMA_NL_R_FIELD] = NLA_POLICY_MAX(NLA_U8, SRDMA_NL_FIELD_NR - 1),
	[SRDMA_NL_R_VALUE] = { .type = NLA_U64 },
	[SRDMA_NL_R_TIME] = { .type = NLA_U64 },
	[SRDMA_NL_R_VERB] = NLA_POLICY_MAX(NLA_U8, SRDMA_NL_VERB_NR - 1),
};

/* ---- which action goes where, and with what ---- */

enum {
	AT_TX = BIT(SRDMA_NL_POINT_TX),
	AT_RX = BIT(SRDMA_NL_POINT_RX),
	AT_WR = BIT(SRDMA_NL_POINT_WR),
	AT_VERB = BIT(SRDMA_NL_POINT_VERB),
	AT_NOW = BIT(SRDMA_NL_POINT_NOW),
	AT_PACKETS = AT_TX | AT_RX,
	AT_EVENTS = AT_PACKETS | AT_WR | AT_NOW,
};

enum needs {
	NEEDS_VALUE = BIT(0),
	TAKES_VALUE = BIT(1),
	NEEDS_TIME = BIT(2),
	TAKES_TIME = BIT(3),
	NEEDS_FIELD = BIT(4),
	NEEDS_QP = BIT(5),	/* at SRDMA_NL_POINT_NOW */
};

/**
 * struct action - what an action asks for
 * @points: where it may be
 * @needs: enum needs
 * @min: least value
 * @max: largest value
 */
struct action {
	u8 points;
	u8 needs;
	u64 min;
	u64 max;
};

static const struct action actions[SRDMA_NL_ACT_NR] = {
	[SRDMA_NL_ACT_DROP] = { AT_PACKETS },
	[SRDMA_NL_ACT_DUPLICATE] = { AT_PACKETS },
	[SRDMA_NL_ACT_DELAY] = { AT_PACKETS, NEEDS_TIME },
	[SRDMA_NL_ACT_REORDER] = { AT_PACKETS, NEEDS_VALUE, 1, 1024 },
	[SRDMA_NL_ACT_ICRC] = { AT_PACKETS },
	[SRDMA_NL_ACT_FIELD] = { AT_PACKETS, NEEDS_FIELD | TAKES_VALUE, 0,
				 U64_MAX },
	[SRDMA_NL_ACT_PAYLOAD] = { AT_PACKETS, NEEDS_VALUE, 0,
				   SRDMA_MTU_MAX - 1 },
	[SRDMA_NL_ACT_TRUNCATE] = { AT_PACKETS, NEEDS_VALUE, 1,
				    SRDMA_MTU_MAX },
	[SRDMA_NL_ACT_CE] = { AT_PACKETS },
	[SRDMA_NL_ACT_NAK] = { AT_RX, NEEDS_VALUE, SRDMA_NAK_PSN_SEQ,
			       SRDMA_NAK_INV_RD_REQ },
	[SRDMA_NL_ACT_RNR] = { AT_RX, NEEDS_VALUE, 0, SRDMA_RNR_TIMERS - 1 },
	[SRDMA_NL_ACT_SILENT] = { AT_RX },
	[SRDMA_NL_ACT_CNP] = { AT_RX },
	[SRDMA_NL_ACT_NO_MEMORY] = { AT_TX },
	[SRDMA_NL_ACT_NO_ROUTE] = { AT_TX },
	[SRDMA_NL_ACT_STATUS] = { AT_WR, NEEDS_VALUE, SRDMA_ST_LOC_LEN,
				  SRDMA_ST_FATAL },
	[SRDMA_NL_ACT_ERRNO] = { AT_VERB, NEEDS_VALUE, 1, 133 },
	[SRDMA_NL_ACT_QP_ERROR] = { AT_EVENTS, NEEDS_QP },
	[SRDMA_NL_ACT_QP_FATAL] = { AT_EVENTS, NEEDS_QP },
	[SRDMA_NL_ACT_LAST_WQE] = { AT_EVENTS, NEEDS_QP },
	[SRDMA_NL_ACT_CQ_OVERRUN] = { AT_EVENTS, NEEDS_QP },
	[SRDMA_NL_ACT_CQ_ERROR] = { AT_EVENTS, NEEDS_QP },
	[SRDMA_NL_ACT_SRQ_ERROR] = { AT_EVENTS, NEEDS_QP },
	[SRDMA_NL_ACT_PORT_DOWN] = { AT_EVENTS, TAKES_TIME },
	[SRDMA_NL_ACT_PORT_UP] = { AT_EVENTS },
	[SRDMA_NL_ACT_GID_CHANGE] = { AT_EVENTS },
	[SRDMA_NL_ACT_DEVICE_FATAL] = { AT_EVENTS },
	[SRDMA_NL_ACT_REMOVE] = { AT_EVENTS },
};

static int refuse(struct netlink_ext_ack *extack, struct nlattr *attr,
		  const char *why)
{
	NL_SET_BAD_ATTR(extack, attr);
	extack->_msg = why;
	return -EINVAL;
}

static int check_value(const struct action *action, struct nlattr **attrs,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *value = attrs[SRDMA_NL_R_VALUE];

	if (!value)
		return action->needs & NEEDS_VALUE ?
			refuse(extack, NULL, "the action needs a value") : 0;
	if (!(action->needs & (NEEDS_VALUE | TAKES_VALUE)))
		return refuse(extack, value, "the action takes no value");
	if (nla_get_u64(value) < action->min || nla_get_u64(value) > action->max)
		return refuse(extack, value,
			      "the value of the action is out of range");
	return 0;
}

static int check_time(const struct action *action, struct nlattr **attrs,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *time = attrs[SRDMA_NL_R_TIME];

	if (!time)
		return action->needs & NEEDS_TIME ?
			refuse(extack, NULL, "the action needs a time") : 0;
	if (!(action->needs & (NEEDS_TIME | TAKES_TIME)))
		return refuse(extack, time, "the action takes no time");
	if ((action->needs & NEEDS_TIME) && nla_get_u64(time) > DELAY_MOST)
		return refuse(extack, time, "no packet waits for more than 10 s");
	if ((action->needs & TAKES_TIME) && !nla_get_u64(time))
		return refuse(extack, time, "no time is no end: leave it out");
	if ((action->needs & TAKES_TIME) && nla_get_u64(time) > DOWN_MOST)
		return refuse(extack, time, "a port comes up within a day, or on demand");
	return 0;
}

static int check_action(const struct srdma_rule *rule, struct nlattr **attrs,
			struct netlink_ext_ack *extack)
{
	const struct action *action = &actions[rule->order.action];

	if (!(action->points & BIT(rule->point)))
		return refuse(extack, attrs[SRDMA_NL_R_ACTION],
			      "the action cannot be done there");
	if (!attrs[SRDMA_NL_R_FIELD] != !(action->needs & NEEDS_FIELD))
		return refuse(extack, attrs[SRDMA_NL_R_FIELD],
			      "a field goes with the corruption of one, and only there");
	if (rule->point == SRDMA_NL_POINT_NOW && (action->needs & NEEDS_QP) &&
	    !attrs[SRDMA_NL_R_QPN])
		return refuse(extack, NULL, "which QP?");
	return check_value(action, attrs, extack) ?:
	       check_time(action, attrs, extack);
}

/* Selectors that mean nothing at a point are a mistake. */
static int check_selectors(const struct srdma_rule *rule, struct nlattr **attrs,
			   struct netlink_ext_ack *extack)
{
	static const u32 of_packets[] = {
		SRDMA_NL_R_PSN, SRDMA_NL_R_PSN_OFFSET,
	};
	static const u32 of_traffic[] = {
		SRDMA_NL_R_PEER, SRDMA_NL_R_OPS,
	};
	static const u32 of_rules[] = {
		SRDMA_NL_R_PID, SRDMA_NL_R_NTH, SRDMA_NL_R_EVERY,
		SRDMA_NL_R_PROB, SRDMA_NL_R_SEED, SRDMA_NL_R_TIMES,
		SRDMA_NL_R_AFTER,
	};
	bool packets = BIT(rule->point) & AT_PACKETS;
	bool traffic = packets || rule->point == SRDMA_NL_POINT_WR;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(of_packets); i++)
		if (!packets && attrs[of_packets[i]])
			return refuse(extack, attrs[of_packets[i]],
				      "only packets have a PSN");
	for (i = 0; i < ARRAY_SIZE(of_traffic); i++)
		if (!traffic && attrs[of_traffic[i]])
			return refuse(extack, attrs[of_traffic[i]],
				      "only packets and work requests have a peer and an opcode");
	for (i = 0; i < ARRAY_SIZE(of_rules); i++)
		if (rule->point == SRDMA_NL_POINT_NOW && attrs[of_rules[i]])
			return refuse(extack, attrs[of_rules[i]],
				      "what is done at once neither waits nor chooses");
	if (attrs[SRDMA_NL_R_PSN] && attrs[SRDMA_NL_R_PSN_OFFSET])
		return refuse(extack, attrs[SRDMA_NL_R_PSN_OFFSET],
			      "one PSN is enough");
	if (!attrs[SRDMA_NL_R_VERB] != (rule->point != SRDMA_NL_POINT_VERB))
		return refuse(extack, attrs[SRDMA_NL_R_VERB],
			      "a verb goes with a rule for verbs, and only there");
	return 0;
}

/* As processes are numbered where the caller is. */
static int find_pid(struct srdma_rule *rule, struct nlattr *attr,
		    struct netlink_ext_ack *extack)
{
	struct pid *pid;

	rule->told_pid = nla_get_u32(attr);
	rcu_read_lock();
	pid = find_vpid(rule->told_pid);
	rule->pid = pid ? pid_nr(pid) : 0;
	rcu_read_unlock();
	return rule->pid ? 0 : refuse(extack, attr, "no such process");
}

static u64 number(struct nlattr *attr)
{
	return attr ? nla_get_u64(attr) : 0;
}

static void fill_selectors(struct srdma_rule *rule, struct nlattr **attrs)
{
	if (attrs[SRDMA_NL_R_QPN]) {
		rule->has |= SRDMA_RULE_QPN;
		rule->qpn = nla_get_u32(attrs[SRDMA_NL_R_QPN]);
	}
	if (attrs[SRDMA_NL_R_PEER]) {
		rule->has |= SRDMA_RULE_PEER;
		rule->peer = nla_get_in6_addr(attrs[SRDMA_NL_R_PEER]);
	}
	if (attrs[SRDMA_NL_R_OPS]) {
		const u8 *bytes = nla_data(attrs[SRDMA_NL_R_OPS]);
		u32 i;

		rule->has |= SRDMA_RULE_OPS;
		for (i = 0; i < SRDMA_NL_OPS_BYTES * 8; i++)
			if (bytes[i / 8] & BIT(i % 8))
				__set_bit(i, rule->ops);
	}
	if (attrs[SRDMA_NL_R_PSN]) {
		rule->has |= SRDMA_RULE_PSN;
		rule->psn = nla_get_u32(attrs[SRDMA_NL_R_PSN]);
	}
	if (attrs[SRDMA_NL_R_PSN_OFFSET]) {
		rule->has |= SRDMA_RULE_PSN_OFFSET;
		rule->psn = nla_get_u32(attrs[SRDMA_NL_R_PSN_OFFSET]);
	}
	if (attrs[SRDMA_NL_R_PROB]) {
		rule->has |= SRDMA_RULE_PROB;
		rule->prob = nla_get_u32(attrs[SRDMA_NL_R_PROB]);
	}
	rule->seed = number(attrs[SRDMA_NL_R_SEED]);
	rule->after = number(attrs[SRDMA_NL_R_AFTER]);
	rule->nth = number(attrs[SRDMA_NL_R_NTH]);
	rule->every = number(attrs[SRDMA_NL_R_EVERY]);
	rule->times = number(attrs[SRDMA_NL_R_TIMES]);
}

static void fill_order(struct srdma_order *order, struct nlattr **attrs)
{
	if (attrs[SRDMA_NL_R_FIELD])
		order->field = nla_get_u8(attrs[SRDMA_NL_R_FIELD]);
	order->has_value = attrs[SRDMA_NL_R_VALUE];
	order->value = number(attrs[SRDMA_NL_R_VALUE]);
	order->time = number(attrs[SRDMA_NL_R_TIME]);
}

/**
 * srdma_rule_parse - read a rule
 * @rule: zeroed; filled
 * @attrs: enum srdma_nl_rule_attr, each of the right form
 * @extack: filled with the reason of a refusal
 */
int srdma_rule_parse(struct srdma_rule *rule, struct nlattr **attrs,
		     struct netlink_ext_ack *extack)
{
	int err;

	if (!attrs[SRDMA_NL_R_POINT])
		return refuse(extack, NULL, "where is the rule to look?");
	if (!attrs[SRDMA_NL_R_ACTION])
		return refuse(extack, NULL, "what is the rule to do?");
	rule->point = nla_get_u8(attrs[SRDMA_NL_R_POINT]);
	rule->order.action = nla_get_u8(attrs[SRDMA_NL_R_ACTION]);
	err = check_action(rule, attrs, extack) ?:
	      check_selectors(rule, attrs, extack);
	if (err)
		return err;
	if (attrs[SRDMA_NL_R_VERB])
		rule->verb = nla_get_u8(attrs[SRDMA_NL_R_VERB]);
	if (attrs[SRDMA_NL_R_PID]) {
		rule->has |= SRDMA_RULE_PID;
		err = find_pid(rule, attrs[SRDMA_NL_R_PID], extack);
		if (err)
			return err;
	}
	fill_selectors(rule, attrs);
	fill_order(&rule->order, attrs);
	return 0;
}

/* ---- telling ---- */

static int put_number(struct sk_buff *msg, int attr, u64 value)
{
	return value ? nla_put_u64_64bit(msg, attr, value, SRDMA_NL_R_PAD) : 0;
}

static int put_ops(struct sk_buff *msg, const struct srdma_rule *rule)
{
	u8 bytes[SRDMA_NL_OPS_BYTES] = {};
	u32 i;

	for_each_set_bit(i, rule->ops, SRDMA_NL_OPS_BYTES * 8)
		bytes[i / 8] |= BIT(i % 8);
	return nla_put(msg, SRDMA_NL_R_OPS, sizeof(bytes), bytes);
}

static int put_selectors(struct sk_buff *msg, const struct srdma_rule *rule)
{
	u8 has = rule->has;

	if ((has & SRDMA_RULE_QPN) &&
	    nla_put_u32(msg, SRDMA_NL_R_QPN, rule->qpn))
		return -EMSGSIZE;
	if ((has & SRDMA_RULE_PEER) &&
	    nla_put_in6_addr(msg, SRDMA_NL_R_PEER, &rule->peer))
		return -EMSGSIZE;
	if ((has & SRDMA_RULE_PID) &&
	    nla_put_u32(msg, SRDMA_NL_R_PID, rule->told_pid))
		return -EMSGSIZE;
	if ((has & SRDMA_RULE_OPS) && put_ops(msg, rule))
		return -EMSGSIZE;
	if ((has & SRDMA_RULE_PSN) &&
	    nla_put_u32(msg, SRDMA_NL_R_PSN, rule->psn))
		return -EMSGSIZE;
	if ((has & SRDMA_RULE_PSN_OFFSET) &&
	    nla_put_u32(msg, SRDMA_NL_R_PSN_OFFSET, rule->psn))
		return -EMSGSIZE;
	if ((has & SRDMA_RULE_PROB) &&
	    nla_put_u32(msg, SRDMA_NL_R_PROB, rule->prob))
		return -EMSGSIZE;
	if (rule->point == SRDMA_NL_POINT_VERB &&
	    nla_put_u8(msg, SRDMA_NL_R_VERB, rule->verb))
		return -EMSGSIZE;
	return put_number(msg, SRDMA_NL_R_AFTER, rule->after) ?:
	       put_number(msg, SRDMA_NL_R_NTH, rule->nth) ?:
	       put_number(msg, SRDMA_NL_R_EVERY, rule->every) ?:
	       put_number(msg, SRDMA_NL_R_TIMES, rule->times) ?:
	       put_number(msg, SRDMA_NL_R_SEED, rule->seed);
}

static int put_order(struct sk_buff *msg, const struct srdma_order *order)
{
	if (nla_put_u8(msg, SRDMA_NL_R_ACTION, order->action))
		return -EMSGSIZE;
	if (order->action == SRDMA_NL_ACT_FIELD &&
	    nla_put_u8(msg, SRDMA_NL_R_FIELD, order->field))
		return -EMSGSIZE;
	if (order->has_value &&
	    nla_put_u64_64bit(msg, SRDMA_NL_R_VALUE, order->value,
			      SRDMA_NL_R_PAD))
		return -EMSGSIZE;
	return put_number(msg, SRDMA_NL_R_TIME, order->time);
}

static int put_counts(struct sk_buff *msg, struct srdma_rule *rule)
{
	u64 seen, hits;

	spin_lock_irq(&rule->lock);
	seen = rule->seen;
	hits = rule->hits;
	spin_unlock_irq(&rule->lock);
	return nla_put_u64_64bit(msg, SRDMA_NL_R_SEEN, seen, SRDMA_NL_R_PAD) ?:
	       nla_put_u64_64bit(msg, SRDMA_NL_R_HITS, hits, SRDMA_NL_R_PAD);
}

/**
 * srdma_rule_put - tell of a rule
 * @msg: message
 * @attr: of the nest that it goes into
 * @rule: a rule of a device, whose lock is held
 *
 * Return: 0, or -EMSGSIZE: there is no room, and nothing was added.
 */
int srdma_rule_put(struct sk_buff *msg, int attr, struct srdma_rule *rule)
{
	struct nlattr *nest = nla_nest_start(msg, attr);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(msg, SRDMA_NL_R_ID, rule->id) ||
	    nla_put_u8(msg, SRDMA_NL_R_POINT, rule->point) ||
	    put_selectors(msg, rule) || put_order(msg, &rule->order) ||
	    put_counts(msg, rule)) {
		nla_nest_cancel(msg, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	return 0;
}
