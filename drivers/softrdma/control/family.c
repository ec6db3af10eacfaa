// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The generic netlink family: finds the link that a request names, and runs the
 * request.
 */
#include <linux/slab.h>
#include <net/genetlink.h>
#include <rdma/ib_verbs.h>

#include "compat/genl.h"
#include "control/errors.h"
#include "control/family.h"
#include "control/monitor.h"
#include "control/rule_attrs.h"
#include "device/link.h"
#include "objects/device.h"
#include "objects/effects.h"
#include "objects/qp.h"

static const struct nla_policy policy[SRDMA_NL_A_MAX + 1] = {
	[SRDMA_NL_A_LINK] = { .type = NLA_NUL_STRING,
			      .len = IB_DEVICE_NAME_MAX - 1 },
	[SRDMA_NL_A_RULE] = { .type = NLA_NESTED },
	[SRDMA_NL_A_MONITOR] = { .type = NLA_NESTED },
};

/* The link that a request names, held; an error when there is none. */
struct srdma_dev *srdma_family_get_link(struct genl_info *info)
{
	struct nlattr *attr = info->attrs[SRDMA_NL_A_LINK];
	struct srdma_dev *dev;

	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "which link?");
		return ERR_PTR(-EINVAL);
	}
	dev = srdma_link_get(genl_info_net(info), nla_data(attr), 0);
	if (!dev) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "no softrdma link of that name has its interface in this network namespace");
		return ERR_PTR(-ENODEV);
	}
	return dev;
}

static int parse_rule(struct genl_info *info, struct nlattr **attrs)
{
	return nla_parse_nested(attrs, SRDMA_NL_R_MAX,
				info->attrs[SRDMA_NL_A_RULE],
				srdma_rule_policy, info->extack);
}

static int put_name(struct sk_buff *msg, const struct srdma_dev *dev)
{
	char name[IB_DEVICE_NAME_MAX];

	srdma_link_name(dev, name);
	return nla_put_string(msg, SRDMA_NL_A_LINK, name);
}

/* ---- adding ---- */

/* It is done at once, and not kept. */
static int do_now(struct srdma_dev *dev, const struct srdma_rule *rule,
		  struct netlink_ext_ack *extack)
{
	struct srdma_qp *qp = NULL;
	int err = 0;

	local_bh_disable();
	if (rule->has & SRDMA_RULE_QPN) {
		qp = srdma_qp_find(dev, rule->qpn);
		if (!qp)
			err = -ENOENT;
	}
	if (!err)
		srdma_effects_cause(dev, qp, false, &rule->order);
	local_bh_enable();
	if (err)
		NL_SET_ERR_MSG(extack, "the link has no QP of that number");
	return err;
}

static int answer_with_rule(struct genl_info *info, struct srdma_dev *dev,
			    u32 id)
{
	struct nlattr *nest;
	struct sk_buff *msg;
	void *hdr;

	msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &srdma_family, 0, SRDMA_NL_CMD_FAULT_ADD);
	if (!hdr || put_name(msg, dev))
		goto err_free;
	nest = nla_nest_start(msg, SRDMA_NL_A_RULE);
	if (!nest || nla_put_u32(msg, SRDMA_NL_R_ID, id))
		goto err_free;
	nla_nest_end(msg, nest);
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);

err_free:
	nlmsg_free(msg);
	return -EMSGSIZE;
}

/* @rule is consumed. */
static int keep(struct genl_info *info, struct srdma_dev *dev,
		struct srdma_rule *rule)
{
	u32 id;
	int err;

	err = srdma_rules_add(&dev->rules, rule, &id);
	if (err) {
		kfree(rule);
		NL_SET_ERR_MSG(info->extack, "the link has 256 rules already");
		return err;
	}
	err = answer_with_rule(info, dev, id);
	/* A caller that does not learn the rule's number must not have the rule. */
	if (err)
		srdma_rules_del(&dev->rules, id);
	return err;
}

static int add_rule(struct genl_info *info, struct srdma_dev *dev)
{
	struct nlattr *attrs[SRDMA_NL_R_MAX + 1];
	struct srdma_rule *rule;
	int err;

	if (!info->attrs[SRDMA_NL_A_RULE]) {
		NL_SET_ERR_MSG(info->extack, "which rule?");
		return -EINVAL;
	}
	err = parse_rule(info, attrs);
	if (err)
		return err;
	rule = kzalloc(sizeof(*rule), GFP_KERNEL);
	if (!rule)
		return -ENOMEM;
	err = srdma_rule_parse(rule, attrs, info->extack);
	if (!err && rule->point != SRDMA_NL_POINT_NOW)
		return keep(info, dev, rule);
	if (!err)
		err = do_now(dev, rule, info->extack);
	kfree(rule);
	return err;
}

static int do_fault_add(struct sk_buff *skb, struct genl_info *info)
{
	struct srdma_dev *dev = srdma_family_get_link(info);
	int err;

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	err = add_rule(info, dev);
	ib_device_put(&dev->ib);
	return err;
}

/* ---- deleting ---- */

static int del_rule(struct genl_info *info, struct srdma_dev *dev)
{
	struct nlattr *attrs[SRDMA_NL_R_MAX + 1];
	int err;

	if (!info->attrs[SRDMA_NL_A_RULE]) {
		srdma_rules_flush(&dev->rules);
		return 0;
	}
	err = parse_rule(info, attrs);
	if (err)
		return err;
	if (!attrs[SRDMA_NL_R_ID]) {
		NL_SET_ERR_MSG(info->extack, "which rule?");
		return -EINVAL;
	}
	err = srdma_rules_del(&dev->rules, nla_get_u32(attrs[SRDMA_NL_R_ID]));
	if (err)
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[SRDMA_NL_R_ID],
				    "the link has no rule of that number");
	return err;
}

static int do_fault_del(struct sk_buff *skb, struct genl_info *info)
{
	struct srdma_dev *dev = srdma_family_get_link(info);
	int err;

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	err = del_rule(info, dev);
	ib_device_put(&dev->ib);
	return err;
}

/* ---- listing ---- */

/**
 * struct place - where a dump continues
 * @from_dev: index of the first device that was not dumped whole
 * @of_dev: index of the device that @after_rule is of
 * @after_rule: number of its last rule that was dumped
 */
struct place {
	u32 from_dev;
	u32 of_dev;
	u32 after_rule;
};

static int put_rule(struct sk_buff *skb, struct netlink_callback *cb,
		    struct srdma_dev *dev, struct srdma_rule *rule)
{
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &srdma_family, NLM_F_MULTI, SRDMA_NL_CMD_FAULT_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (put_name(skb, dev) ||
	    srdma_rule_put(skb, SRDMA_NL_A_RULE, rule)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* Dumps as much as there is room for; returns 0 at the end. */
static int put_rules(struct sk_buff *skb, struct netlink_callback *cb,
		     struct srdma_dev *dev, struct place *place)
{
	struct srdma_rule *rule;
	int err = 0;

	mutex_lock(&dev->rules.lock);
	list_for_each_entry(rule, &dev->rules.list, entry) {
		if (rule->id <= place->after_rule)
			continue;
		err = put_rule(skb, cb, dev, rule);
		if (err)
			break;
		place->after_rule = rule->id;
	}
	mutex_unlock(&dev->rules.lock);
	return err;
}

static int dump_faults(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *attr = srdma_compat_dump_attrs(cb)[SRDMA_NL_A_LINK];
	const char *name = attr ? nla_data(attr) : NULL;
	struct place *place = (struct place *)cb->ctx;
	struct net *net = sock_net(cb->skb->sk);
	struct srdma_dev *dev;
	int err = 0;

	BUILD_BUG_ON(sizeof(*place) > sizeof(cb->ctx));
	/* Of a link that was named there is no next one. */
	if (name && place->from_dev)
		return 0;
	dev = srdma_link_get(net, name, place->from_dev);
	if (name && !dev)
		return -ENODEV;
	while (dev) {
		/* Another one, also where the last one is gone. */
		if (dev->ib.index != place->of_dev) {
			place->of_dev = dev->ib.index;
			place->after_rule = 0;
		}
		err = put_rules(skb, cb, dev, place);
		if (!err)
			place->from_dev = dev->ib.index + 1;
		ib_device_put(&dev->ib);
		if (err || name)
			break;
		dev = srdma_link_get(net, NULL, place->from_dev);
	}
	return skb->len;
}

/*
 * Rules and events show what programs do, and with whom: that is the
 * administrator's.
 */
static const struct genl_ops ops[] = {
	{
		.cmd = SRDMA_NL_CMD_FAULT_ADD,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = do_fault_add,
	},
	{
		.cmd = SRDMA_NL_CMD_FAULT_DEL,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = do_fault_del,
	},
	{
		.cmd = SRDMA_NL_CMD_FAULT_GET,
		.flags = GENL_UNS_ADMIN_PERM,
		.dumpit = dump_faults,
	},
	/* What it shows depends on who asks. */
	{
		.cmd = SRDMA_NL_CMD_ERROR_GET,
		.start = srdma_errors_dump_start,
		.dumpit = srdma_errors_dump,
	},
	{
		.cmd = SRDMA_NL_CMD_MONITOR_START,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = srdma_monitor_start,
	},
	{
		.cmd = SRDMA_NL_CMD_MONITOR_GET,
		.flags = GENL_UNS_ADMIN_PERM,
		.doit = srdma_monitor_get,
	},
};

struct genl_family srdma_family = {
	.name = SRDMA_NL_FAMILY,
	.version = SRDMA_NL_VERSION,
	.module = THIS_MODULE,
	.netnsok = true,
	.parallel_ops = true,
	.maxattr = SRDMA_NL_A_MAX,
	.policy = policy,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.resv_start_op = SRDMA_NL_CMD_ERROR_GET + 1,
};

int srdma_family_init(void)
{
	int err;

	err = srdma_monitor_init();
	if (err)
		return err;
	err = genl_register_family(&srdma_family);
	if (err)
		srdma_monitor_exit();
	return err;
}

/* Waits for requests that are being answered. */
void srdma_family_exit(void)
{
	genl_unregister_family(&srdma_family);
	srdma_monitor_exit();
}
