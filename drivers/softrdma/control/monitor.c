// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sockets that receive events. Each socket has a ring of its own, of a size
 * that it asked for. The code that has an event copies it into the ring, and a
 * request of the socket empties the ring. Events that find the ring full are
 * lost and counted. So a slow socket costs others nothing but its memory.
 *
 * Events are only sent in answer to a request. So each request needs the right
 * to read them, and what cannot be sent stays in the ring. The message that
 * there are events (SRDMA_NL_CMD_MONITOR_READY) goes to a port number. After
 * the end of its socket that may be another socket's port, and the message says
 * nothing else.
 *
 * A listener is in the list of its network namespace. Devices of other
 * namespaces do not see it. The lock of a ring is held for one copy, and all
 * CPUs share the ring. So its events are in the order in which they happened.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <net/netlink.h>

#include "control/event_attrs.h"
#include "control/family.h"
#include "control/monitor.h"
#include "control/probes.h"
#include "device/ibdev.h"
#include "device/link.h"
#include "objects/device.h"
#include "proto/wire.h"
#include "wire/netns.h"

/* Of a network namespace: each is asked about each event there. */
#define LISTENERS_MOST	16

/* Events that may wait where the socket did not say. */
#define ROOM_DEFAULT	8192

/* Bytes of an answer; readers have had room for as much since dumps exist. */
#define ANSWER_BYTES	12288

/* What was asked for, but for ports and links, goes by QP where there is one. */
#define KINDS_OF_LINKS	(BIT(SRDMA_NL_EV_PORT) | BIT(SRDMA_NL_EV_LINK))
#define KINDS_ALL	(BIT(SRDMA_NL_EV_NR) - 1)

static struct netlink_range_validation room_range = {
	.min = SRDMA_NL_ROOM_MIN,
	.max = SRDMA_NL_ROOM_MAX,
};

static struct netlink_range_validation qpn_range = {
	.min = 1,
	.max = SRDMA_QPN_MASK,
};

const struct nla_policy srdma_monitor_policy[SRDMA_NL_M_MAX + 1] = {
	[SRDMA_NL_M_QPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &qpn_range),
	[SRDMA_NL_M_KINDS] = NLA_POLICY_MASK(NLA_U32, KINDS_ALL),
	[SRDMA_NL_M_ROOM] = NLA_POLICY_FULL_RANGE(NLA_U32, &room_range),
};

/**
 * struct wish - which events a listener wants
 * @kinds: bits of enum srdma_nl_event
 * @has_dev: those of one device only
 * @dev: its index
 * @qpn: those of this QP and of its link only; 0: of all
 * @room: events that may wait, a power of two
 */
struct wish {
	u32 kinds;
	bool has_dev;
	u32 dev;
	u32 qpn;
	u32 room;
};

/**
 * struct listener - a socket that receives events
 * @entry: in srdma_netns.listeners
 * @all: in the list of all
 * @net: that namespace; a socket holds its own
 * @sk: the socket; compared, not followed
 * @portid: its number
 * @wish: which events it wants; constant
 * @refs: of its socket, and of requests that are being answered, that which made it
 *	among them
 * @ready: sends the socket a message that there are events
 * @reading: one request is answered at a time; guards @tail
 * @lock: guards what follows, but for the events from @tail to @head, which are
 *	@reading's; taken in any context
 * @waits: the socket found no event, and waits for a message about the next
 * @seq: events so far, those that were lost among them
 * @lost: how many were lost since the last one that was kept
 * @head: index of the next event
 * @tail: index of the oldest event
 * @ended: the end of the link found the ring full
 * @end: index of the event that says so, which is behind the others
 * @ring: events, @wish.room of them and one more
 */
struct listener {
	struct list_head entry;
	struct list_head all;
	struct srdma_netns *net;
	const struct sock *sk;
	u32 portid;
	struct wish wish;
	refcount_t refs;
	struct work_struct ready;
	struct mutex reading;
	raw_spinlock_t lock;
	bool waits;
	u64 seq;
	u64 lost;
	u32 head;
	u32 tail;
	bool ended;
	u32 end;
	struct srdma_event ring[];
};

/* Listeners come and go one at a time, and their probes with them. */
static DEFINE_MUTEX(listeners_lock);
static LIST_HEAD(all_listeners);

static struct srdma_event *slot(struct listener *listener, u32 index)
{
	if (listener->ended && index == listener->end)
		return &listener->ring[listener->wish.room];
	return &listener->ring[index & (listener->wish.room - 1)];
}

/* ---- events come in ---- */

static bool wants(const struct listener *listener, u32 dev, u32 qpn, u8 kind)
{
	const struct wish *wish = &listener->wish;

	if (!(wish->kinds & BIT(kind)))
		return false;
	if (wish->has_dev && wish->dev != dev)
		return false;
	return !wish->qpn || wish->qpn == qpn || (BIT(kind) & KINDS_OF_LINKS);
}

/*
 * Who listens to one link is always told of its end, and stops listening then. That
 * has a place of its own where the ring is full.
 */
static bool find_place(struct listener *listener, const struct srdma_event *event)
{
	u32 waiting = listener->head - listener->tail;

	if (waiting < listener->wish.room)
		return true;
	if (waiting > listener->wish.room || !listener->wish.has_dev ||
	    event->kind != SRDMA_NL_EV_LINK ||
	    event->link.is != SRDMA_NL_LINK_GONE)
		return false;
	listener->ended = true;
	listener->end = listener->head;
	return true;
}

static void keep(struct listener *listener, const struct srdma_event *event)
{
	struct srdma_event *to;
	unsigned long flags;
	bool wake = false;

	raw_spin_lock_irqsave(&listener->lock, flags);
	listener->seq++;
	if (find_place(listener, event)) {
		to = slot(listener, listener->head);
		*to = *event;
		to->seq = listener->seq;
		to->time = ktime_get_real_ns();
		to->lost = listener->lost;
		listener->lost = 0;
		listener->head++;
		wake = listener->waits;
		listener->waits = false;
	} else {
		listener->lost++;
	}
	raw_spin_unlock_irqrestore(&listener->lock, flags);
	if (wake)
		schedule_work(&listener->ready);
}

/**
 * srdma_monitor_hears - does a listener want an event?
 * @dev: device
 * @qpn: QP that it is about, or 0
 * @kind: what it is
 */
bool srdma_monitor_hears(const struct srdma_dev *dev, u32 qpn,
			 enum srdma_nl_event kind)
{
	const struct listener *listener;
	bool any = false;

	rcu_read_lock();
	list_for_each_entry_rcu(listener, &dev->net->listeners, entry)
		any |= wants(listener, dev->ib.index, qpn, kind);
	rcu_read_unlock();
	return any;
}

/**
 * srdma_monitor_tell - give listeners an event
 * @dev: where
 * @event: the event; the index of @dev is filled in. When this returns, each
 *	listener that wants it has a copy, or has counted a loss
 *
 * In any context.
 */
void srdma_monitor_tell(const struct srdma_dev *dev, struct srdma_event *event)
{
	struct listener *listener;

	event->dev = dev->ib.index;
	rcu_read_lock();
	list_for_each_entry_rcu(listener, &dev->net->listeners, entry)
		if (wants(listener, event->dev, event->qpn, event->kind))
			keep(listener, event);
	rcu_read_unlock();
}

/* If there is no memory, the socket finds out when it asks by itself. */
static void tell_ready(struct work_struct *work)
{
	struct listener *listener = container_of(work, struct listener, ready);
	struct sk_buff *msg;
	void *hdr;

	msg = genlmsg_new(0, GFP_KERNEL);
	if (!msg)
		return;
	hdr = genlmsg_put(msg, 0, 0, &srdma_family, 0,
			  SRDMA_NL_CMD_MONITOR_READY);
	if (!hdr) {
		nlmsg_free(msg);
		return;
	}
	genlmsg_end(msg, hdr);
	genlmsg_unicast(listener->net->net, msg, listener->portid);
}

/* ---- listeners ---- */

static void put_listener(struct listener *listener)
{
	if (refcount_dec_and_test(&listener->refs))
		kvfree(listener);
}

static struct listener *find_listener(struct srdma_netns *net, u32 portid)
{
	struct listener *listener;

	lockdep_assert_held(&listeners_lock);
	list_for_each_entry(listener, &net->listeners, entry)
		if (listener->portid == portid)
			return listener;
	return NULL;
}

/* The listener that a socket is, held; or NULL. */
static struct listener *get_listener(struct srdma_netns *net,
				     const struct sk_buff *request)
{
	struct listener *listener;

	mutex_lock(&listeners_lock);
	listener = find_listener(net, NETLINK_CB(request).portid);
	if (listener && listener->sk == NETLINK_CB(request).sk)
		refcount_inc(&listener->refs);
	else
		listener = NULL;
	mutex_unlock(&listeners_lock);
	return listener;
}

static struct listener *alloc_listener(const struct wish *wish)
{
	struct listener *listener;

	/* A user namespace's administrator pays for it. */
	listener = kvzalloc(struct_size(listener, ring, wish->room + 1),
			    GFP_KERNEL_ACCOUNT);
	if (!listener)
		return NULL;
	listener->wish = *wish;
	refcount_set(&listener->refs, 2);
	INIT_WORK(&listener->ready, tell_ready);
	mutex_init(&listener->reading);
	raw_spin_lock_init(&listener->lock);
	return listener;
}

static int may_listen(const struct listener *listener,
		      struct netlink_ext_ack *extack)
{
	const struct list_head *pos;
	int others = 0;

	list_for_each(pos, &listener->net->listeners)
		others++;
	if (find_listener(listener->net, listener->portid)) {
		NL_SET_ERR_MSG(extack, "the socket listens already");
		return -EBUSY;
	}
	if (others >= LISTENERS_MOST) {
		NL_SET_ERR_MSG(extack,
			       "16 listen in this network namespace already");
		return -ENOSPC;
	}
	return 0;
}

static int add_listener(struct listener *listener,
			struct netlink_ext_ack *extack)
{
	int err;

	mutex_lock(&listeners_lock);
	err = may_listen(listener, extack);
	if (!err) {
		err = srdma_probes_begin(listener->wish.kinds);
		if (err)
			NL_SET_ERR_MSG(extack,
				       "this kernel has no tracepoints, or no memory for more");
	}
	if (!err) {
		list_add_tail(&listener->all, &all_listeners);
		list_add_tail_rcu(&listener->entry, &listener->net->listeners);
	}
	mutex_unlock(&listeners_lock);
	return err;
}

/* It is given no more events when this returns. */
static void remove_listener(struct listener *listener)
{
	lockdep_assert_held(&listeners_lock);
	list_del(&listener->all);
	list_del_rcu(&listener->entry);
	srdma_probes_end(listener->wish.kinds);
	synchronize_rcu();
	cancel_work_sync(&listener->ready);
	put_listener(listener);
}

/* Links that exist already are reported like new ones. */
static void tell_links(struct listener *listener)
{
	struct srdma_event event = { .kind = SRDMA_NL_EV_LINK };
	struct net *net = listener->net->net;
	struct srdma_dev *dev;
	u32 from = 0;

	while ((dev = srdma_link_get(net, NULL, from))) {
		event.dev = dev->ib.index;
		event.flags = srdma_dev_port_is_up(dev) ? SRDMA_NL_EF_UP : 0;
		event.link.is = SRDMA_NL_LINK_HERE;
		srdma_link_name(dev, event.link.name);
		from = event.dev + 1;
		if (wants(listener, event.dev, 0, event.kind))
			keep(listener, &event);
		/* Not before: word of its end is not to come first. */
		ib_device_put(&dev->ib);
	}
}

/* ---- requests ---- */

static int parse_wish(struct genl_info *info, struct wish *wish)
{
	struct nlattr *link = info->attrs[SRDMA_NL_A_LINK];
	struct nlattr *nest = info->attrs[SRDMA_NL_A_MONITOR];
	struct nlattr *attrs[SRDMA_NL_M_MAX + 1] = {};
	int err = 0;

	*wish = (struct wish) { .kinds = KINDS_ALL, .room = ROOM_DEFAULT };
	if (nest)
		err = nla_parse_nested(attrs, SRDMA_NL_M_MAX, nest,
				       srdma_monitor_policy, info->extack);
	if (err)
		return err;
	if (attrs[SRDMA_NL_M_QPN] && !link) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[SRDMA_NL_M_QPN],
				    "a QP is one of a link: of which?");
		return -EINVAL;
	}
	if (attrs[SRDMA_NL_M_QPN])
		wish->qpn = nla_get_u32(attrs[SRDMA_NL_M_QPN]);
	if (attrs[SRDMA_NL_M_KINDS])
		wish->kinds = nla_get_u32(attrs[SRDMA_NL_M_KINDS]);
	if (attrs[SRDMA_NL_M_ROOM])
		wish->room =
			roundup_pow_of_two(nla_get_u32(attrs[SRDMA_NL_M_ROOM]));
	return 0;
}

/* The link that is named, with a reference; NULL where none is. */
static struct srdma_dev *name_link(struct genl_info *info, struct wish *wish)
{
	struct srdma_dev *dev;

	if (!info->attrs[SRDMA_NL_A_LINK])
		return NULL;
	dev = srdma_family_get_link(info);
	if (IS_ERR(dev))
		return dev;
	wish->has_dev = true;
	wish->dev = dev->ib.index;
	/* It is always told of the end. */
	wish->kinds |= BIT(SRDMA_NL_EV_LINK);
	return dev;
}

static int start_listening(struct sk_buff *skb, struct genl_info *info,
			   const struct wish *wish)
{
	struct listener *listener = alloc_listener(wish);
	int err;

	if (!listener)
		return -ENOMEM;
	listener->net = srdma_netns_of(genl_info_net(info));
	listener->sk = NETLINK_CB(skb).sk;
	listener->portid = info->snd_portid;
	err = add_listener(listener, info->extack);
	if (!err)
		tell_links(listener);
	else
		put_listener(listener);
	/*
	 * Where the port number was another socket's, which is told of as closed
	 * only now, the listener may have been removed (socket_event()).
	 */
	put_listener(listener);
	return err;
}

int srdma_monitor_start(struct sk_buff *skb, struct genl_info *info)
{
	struct srdma_dev *dev;
	struct wish wish;
	int err;

	err = parse_wish(info, &wish);
	if (err)
		return err;
	dev = name_link(info, &wish);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	err = start_listening(skb, info, &wish);
	/* Not before: a link that goes before anybody listens is told of to nobody. */
	if (dev)
		ib_device_put(&dev->ib);
	return err;
}

/*
 * Fills @to with word of those that are lost and have no event behind them, and
 * takes them: an event that comes next does not tell of them again.
 */
static bool take_lost(struct listener *listener, u32 head,
		     struct srdma_event *to)
{
	unsigned long flags;
	bool any;

	raw_spin_lock_irqsave(&listener->lock, flags);
	any = listener->lost && listener->head == head;
	*to = (struct srdma_event) {
		.kind = SRDMA_NL_EV_LOST,
		.seq = listener->seq + 1,
		.time = ktime_get_real_ns(),
		.lost = listener->lost,
	};
	if (any)
		listener->lost = 0;
	raw_spin_unlock_irqrestore(&listener->lock, flags);
	return any;
}

/* No word of @lost was sent: the event that came meanwhile, at @head, has it. */
static void give_lost_back(struct listener *listener, u32 head, u64 lost)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&listener->lock, flags);
	if (listener->head == head)
		listener->lost += lost;
	else
		slot(listener, head)->lost += lost;
	raw_spin_unlock_irqrestore(&listener->lock, flags);
}

/* Those before @tail have been sent. */
static void consume(struct listener *listener, u32 tail)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&listener->lock, flags);
	listener->tail = tail;
	raw_spin_unlock_irqrestore(&listener->lock, flags);
}

/* The index behind the last event; there is none: the socket waits for one. */
static u32 look_for_events(struct listener *listener)
{
	unsigned long flags;
	u32 head;

	raw_spin_lock_irqsave(&listener->lock, flags);
	head = listener->head;
	listener->waits = head == listener->tail && !listener->lost;
	raw_spin_unlock_irqrestore(&listener->lock, flags);
	return head;
}

/* Answers with what there is; it is gone from the ring when it was sent. */
static int answer(struct listener *listener, struct sk_buff *msg, void *hdr,
		  struct genl_info *info)
{
	u32 head = look_for_events(listener), tail = listener->tail;
	bool took_lost, has_room = true;
	struct srdma_event end;
	int err;

	while (tail != head && !srdma_event_put(msg, slot(listener, tail)))
		tail++;
	took_lost = tail == head && take_lost(listener, head, &end);
	if (took_lost)
		has_room = !srdma_event_put(msg, &end);
	genlmsg_end(msg, hdr);
	err = genlmsg_reply(msg, info);
	if (took_lost && (err || !has_room))
		give_lost_back(listener, head, end.lost);
	if (!err)
		consume(listener, tail);
	return err;
}

static int answer_reader(struct listener *listener, struct genl_info *info)
{
	struct sk_buff *msg;
	void *hdr;
	int err;

	msg = genlmsg_new(ANSWER_BYTES, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &srdma_family, 0,
				SRDMA_NL_CMD_MONITOR_GET);
	if (!hdr) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	mutex_lock(&listener->reading);
	err = answer(listener, msg, hdr, info);
	mutex_unlock(&listener->reading);
	return err;
}

int srdma_monitor_get(struct sk_buff *skb, struct genl_info *info)
{
	struct srdma_netns *net = srdma_netns_of(genl_info_net(info));
	struct listener *listener = get_listener(net, skb);
	int err;

	if (!listener) {
		NL_SET_ERR_MSG(info->extack, "the socket does not listen");
		return -ENOTCONN;
	}
	err = answer_reader(listener, info);
	put_listener(listener);
	return err;
}

/* ---- their end ---- */

/* A netlink socket was closed, perhaps a listener's. */
static int socket_event(struct notifier_block *nb, unsigned long event,
			void *ptr)
{
	struct netlink_notify *closed = ptr;
	struct listener *listener;

	if (event != NETLINK_URELEASE || closed->protocol != NETLINK_GENERIC)
		return NOTIFY_DONE;
	mutex_lock(&listeners_lock);
	listener = find_listener(srdma_netns_of(closed->net), closed->portid);
	if (listener)
		remove_listener(listener);
	mutex_unlock(&listeners_lock);
	return NOTIFY_DONE;
}

static struct notifier_block socket_notifier = {
	.notifier_call = socket_event,
};

int srdma_monitor_init(void)
{
	return netlink_register_notifier(&socket_notifier);
}

/*
 * The family is gone, and there are no more requests. Sockets may still be open.
 * As long as there are listeners, the notifier must see which sockets are closed,
 * since their namespaces may end next.
 */
void srdma_monitor_exit(void)
{
	struct listener *listener, *next;

	mutex_lock(&listeners_lock);
	list_for_each_entry_safe(listener, next, &all_listeners, all)
		remove_listener(listener);
	mutex_unlock(&listeners_lock);
	netlink_unregister_notifier(&socket_notifier);
	tracepoint_synchronize_unregister();
}
