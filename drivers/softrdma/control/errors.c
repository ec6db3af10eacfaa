// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The log of errors over netlink, and which user may read which records.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/net.h>
#include <linux/pid_namespace.h>
#include <net/genetlink.h>
#include <rdma/ib_verbs.h>

#include <rdma/softrdma-netlink.h>

#include "compat/genl.h"
#include "control/errors.h"
#include "device/link.h"
#include "objects/device.h"
#include "observe/errors.h"

/* Whose errors a dump shows. */
enum sight {
	SIGHT_NOTHING,
	SIGHT_OWN,
	SIGHT_ALL,
};

/**
 * struct error_place - where a dump of errors continues
 * @after: number of the last record of the link that was dumped
 * @from_dev: index of the first device that was not dumped whole
 * @of_dev: index of the device that @after and @told are of
 * @sight: enum sight
 * @uid: SIGHT_OWN: the user
 * @told: records of the link that were dumped
 */
struct error_place {
	u64 after;
	u32 from_dev;
	u32 of_dev;
	u32 sight;
	kuid_t uid;
	u32 told;
};

/* A link keeps no more. Errors that occur meanwhile must not prolong a dump. */
#define TOLD_MOST	(SRDMA_ERRORS_EACH * (SRDMA_ERRORS_USERS + 1))

/*
 * A process may be given a socket, and be made to write to it without knowing what
 * it is. So the process that opened the socket and the one that asks must be of the
 * same user. For the same reason both need the capability.
 */
static bool opened_by(struct sk_buff *skb, kuid_t uid)
{
	const struct socket *socket = NETLINK_CB(skb).sk->sk_socket;

	return socket && socket->file &&
	       uid_eq(socket->file->f_cred->uid, uid);
}

int srdma_errors_dump_start(struct netlink_callback *cb)
{
	struct error_place *place = (struct error_place *)cb->ctx;
	struct net *net = sock_net(cb->skb->sk);

	BUILD_BUG_ON(sizeof(*place) > sizeof(cb->ctx));
	place->uid = current_uid();
	if (netlink_ns_capable(cb->skb, net->user_ns, CAP_NET_ADMIN))
		place->sight = SIGHT_ALL;
	else if (opened_by(cb->skb, place->uid))
		place->sight = SIGHT_OWN;
	return 0;
}

/* As processes are numbered where the reader is; 0: not there. */
static u32 pid_for_reader(const struct srdma_maker *maker)
{
	struct pid_namespace *ns = task_active_pid_ns(current);

	if (ns == &init_pid_ns)
		return maker->pid;
	return ns->ns.inum == maker->pid_ns ? maker->own_pid : 0;
}

static int put_maker(struct sk_buff *msg, const struct srdma_maker *maker)
{
	u32 pid = pid_for_reader(maker);

	if (!uid_valid(maker->uid))
		return 0;
	if (pid && nla_put_u32(msg, SRDMA_ERR_A_PID, pid))
		return -EMSGSIZE;
	return nla_put_u32(msg, SRDMA_ERR_A_UID,
			   from_kuid_munged(current_user_ns(), maker->uid)) ?:
	       nla_put_string(msg, SRDMA_ERR_A_COMM, maker->comm);
}

static int put_u64(struct sk_buff *msg, int attr, u64 value)
{
	return nla_put_u64_64bit(msg, attr, value, SRDMA_ERR_A_PAD);
}

static int put_facts(struct sk_buff *msg, const struct srdma_cause *cause)
{
	unsigned long has = cause->has;
	struct nlattr *nest;
	unsigned int i;

	nest = nla_nest_start(msg, SRDMA_ERR_A_FACTS);
	if (!nest)
		return -EMSGSIZE;
	/* Not aligned, as a pad would be the first of them. */
	for_each_set_bit(i, &has, SRDMA_FACT_NR)
		if (nla_put(msg, i + 1, sizeof(cause->fact[i]),
			    &cause->fact[i]))
			return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int put_peer(struct sk_buff *msg, const struct srdma_error *error)
{
	if (nla_put_u32(msg, SRDMA_ERR_A_PEER_QPN, error->peer_qpn))
		return -EMSGSIZE;
	if (ipv6_addr_any(&error->peer))
		return 0;
	return nla_put_in6_addr(msg, SRDMA_ERR_A_PEER, &error->peer);
}

static int put_request(struct sk_buff *msg, const struct srdma_error *error)
{
	if (error->status &&
	    (nla_put_u8(msg, SRDMA_ERR_A_STATUS, error->status) ||
	     put_u64(msg, SRDMA_ERR_A_WR_ID, error->wr_id)))
		return -EMSGSIZE;
	if (error->part == SRDMA_PART_QUEUE)
		return 0;
	if (error->remote_addr || error->rkey)
		if (put_u64(msg, SRDMA_ERR_A_REMOTE_ADDR, error->remote_addr) ||
		    nla_put_u32(msg, SRDMA_ERR_A_RKEY, error->rkey))
			return -EMSGSIZE;
	return nla_put_u8(msg, SRDMA_ERR_A_OP, error->op) ?:
	       nla_put_u32(msg, SRDMA_ERR_A_PSN, error->psn) ?:
	       nla_put_u32(msg, SRDMA_ERR_A_BYTES, error->bytes) ?:
	       put_peer(msg, error);
}

static int put_what(struct sk_buff *msg, const struct srdma_error *error)
{
	if (error->qpn && nla_put_u32(msg, SRDMA_ERR_A_QPN, error->qpn))
		return -EMSGSIZE;
	if (error->part == SRDMA_PART_VERB)
		return nla_put_u32(msg, SRDMA_ERR_A_ERRNO, error->err);
	return put_request(msg, error);
}

static int put_error(struct sk_buff *msg, const struct srdma_error *error)
{
	return put_u64(msg, SRDMA_ERR_A_NUMBER, error->number) ?:
	       put_u64(msg, SRDMA_ERR_A_FIRST, error->first_at) ?:
	       put_u64(msg, SRDMA_ERR_A_LAST, error->last_at) ?:
	       nla_put_u32(msg, SRDMA_ERR_A_TIMES, error->times) ?:
	       nla_put_u8(msg, SRDMA_ERR_A_PART, error->part) ?:
	       nla_put_u32(msg, SRDMA_ERR_A_CODE, error->cause.code) ?:
	       put_maker(msg, &error->maker) ?:
	       put_what(msg, error) ?:
	       put_facts(msg, &error->cause);
}

/* A message of its own for each; 0, or -EMSGSIZE: there is no room. */
static int put_message(struct sk_buff *skb, struct netlink_callback *cb,
		       struct srdma_dev *dev, const struct srdma_error *error)
{
	char name[IB_DEVICE_NAME_MAX];
	struct nlattr *nest;
	void *hdr;

	srdma_link_name(dev, name);
	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  srdma_compat_dump_family(cb), NLM_F_MULTI,
			  SRDMA_NL_CMD_ERROR_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, SRDMA_NL_A_LINK, name))
		goto err_cancel;
	nest = nla_nest_start(skb, SRDMA_NL_A_ERROR);
	if (!nest || put_error(skb, error))
		goto err_cancel;
	nla_nest_end(skb, nest);
	genlmsg_end(skb, hdr);
	return 0;

err_cancel:
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

/* Dumps as much as there is room for; returns 0 at the end. */
static int put_link(struct sk_buff *skb, struct netlink_callback *cb,
		    struct srdma_dev *dev, struct error_place *place)
{
	const kuid_t *uid = place->sight == SIGHT_ALL ? NULL : &place->uid;
	struct srdma_error error;
	int err;

	while (place->told < TOLD_MOST &&
	       srdma_errors_next(&dev->errors, place->after, uid, &error)) {
		err = put_message(skb, cb, dev, &error);
		if (err)
			return err;
		place->after = error.number;
		place->told++;
	}
	return 0;
}

/* Includes what happens meanwhile. */
int srdma_errors_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *attr = srdma_compat_dump_attrs(cb)[SRDMA_NL_A_LINK];
	struct error_place *place = (struct error_place *)cb->ctx;
	const char *name = attr ? nla_data(attr) : NULL;
	struct net *net = sock_net(cb->skb->sk);
	struct srdma_dev *dev;
	int err = 0;

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
			place->after = 0;
			place->told = 0;
		}
		if (place->sight != SIGHT_NOTHING)
			err = put_link(skb, cb, dev, place);
		if (!err)
			place->from_dev = dev->ib.index + 1;
		ib_device_put(&dev->ib);
		if (err || name)
			break;
		dev = srdma_link_get(net, NULL, place->from_dev);
	}
	return skb->len;
}
