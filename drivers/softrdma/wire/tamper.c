// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Effects of rules on packets. Each frame is shown to the rules. Then it goes
 * on unchanged, changed, twice, later, or not at all.
 *
 * A rule about a QP or a device is left to the owner of that object, and the
 * frame goes on.
 */
#include <net/ipv6.h>

#include "compat/compat.h"
#include "objects/device.h"
#include "objects/effects.h"
#include "objects/qp.h"
#include "wire/drop.h"
#include "wire/frame.h"
#include "wire/packet_in.h"
#include "wire/tamper.h"

/*
 * Frames of a device that may wait for their time, and what they may take. What
 * comes need not be a packet of ours: it can be as long as a datagram of UDP.
 */
#define HELD_MOST	1024
#define HELD_BYTES	SZ_16M

/* A frame that is to be overtaken does not wait longer. */
#define OVERTAKEN_WITHIN	(100 * NSEC_PER_MSEC)

/**
 * struct held - in skb->cb of a frame that waits
 * @frame: what it is
 * @forward: where it goes
 * @due: when, ns
 * @qpn: QP of which frames overtake it
 * @point: at which point
 * @left: how many still have to; 0: it waits for its time alone
 */
struct held {
	struct srdma_frame frame;
	srdma_forward_t forward;
	u64 due;
	u32 qpn;
	u8 point;
	u32 left;
};

static struct held *held_of(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct held) > sizeof(skb->cb));
	return (struct held *)skb->cb;
}

/* ---- frames that wait ---- */

static void start_timer(struct srdma_held *held)
{
	struct sk_buff *skb;
	u64 due = U64_MAX;

	lockdep_assert_held(&held->frames.lock);
	skb_queue_walk(&held->frames, skb)
		due = min(due, held_of(skb)->due);
	if (due != U64_MAX)
		hrtimer_start(&held->timer, ns_to_ktime(due),
			      HRTIMER_MODE_ABS_SOFT);
}

/* Returns false when too many wait. */
static bool hold_back(struct srdma_dev *dev, struct sk_buff *frame,
		      const struct held *how)
{
	struct srdma_held *held = &dev->held;
	bool room;

	spin_lock_bh(&held->frames.lock);
	room = skb_queue_len(&held->frames) < HELD_MOST &&
	       held->bytes + frame->truesize <= HELD_BYTES && !held->ended;
	if (room) {
		*held_of(frame) = *how;
		held->bytes += frame->truesize;
		__skb_queue_tail(&held->frames, frame);
		start_timer(held);
	}
	spin_unlock_bh(&held->frames.lock);
	return room;
}

/* The frames that are due at @now; or that, one more having overtaken them, are. */
static void take_due(struct srdma_held *held, u64 now, struct sk_buff_head *due)
{
	struct sk_buff *skb, *next;

	skb_queue_walk_safe(&held->frames, skb, next) {
		if (held_of(skb)->due > now)
			continue;
		__skb_unlink(skb, &held->frames);
		held->bytes -= skb->truesize;
		__skb_queue_tail(due, skb);
	}
}

static void lose_at(struct srdma_dev *dev, enum srdma_nl_point point,
		    struct sk_buff *frame)
{
	srdma_drop(dev, point == SRDMA_NL_POINT_TX ? SRDMA_STAT_TX_FAULT :
						     SRDMA_STAT_RX_FAULT, 1);
	kfree_skb(frame);
}

/* The port may have gone down while they waited. */
static void forward_all(struct srdma_dev *dev, struct sk_buff_head *list)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(list))) {
		if (READ_ONCE(dev->rules.port_down))
			lose_at(dev, held_of(skb)->point, skb);
		else
			held_of(skb)->forward(dev, skb);
	}
}

static enum hrtimer_restart time_has_come(struct hrtimer *timer)
{
	struct srdma_held *held = container_of(timer, struct srdma_held, timer);
	struct srdma_dev *dev = container_of(held, struct srdma_dev, held);
	struct sk_buff_head due;

	__skb_queue_head_init(&due);
	spin_lock_bh(&held->frames.lock);
	take_due(held, ktime_get_ns(), &due);
	if (!held->ended)
		start_timer(held);
	spin_unlock_bh(&held->frames.lock);
	local_bh_disable();
	forward_all(dev, &due);
	local_bh_enable();
	return HRTIMER_NORESTART;
}

/* A frame has passed: those that waited to be overtaken may be due. */
static void overtake(struct srdma_dev *dev, enum srdma_nl_point point, u32 qpn)
{
	struct srdma_held *held = &dev->held;
	struct sk_buff_head due;
	struct sk_buff *skb;

	if (skb_queue_empty_lockless(&held->frames))
		return;
	__skb_queue_head_init(&due);
	spin_lock_bh(&held->frames.lock);
	skb_queue_walk(&held->frames, skb) {
		struct held *how = held_of(skb);

		if (how->left && how->point == point && how->qpn == qpn &&
		    !--how->left)
			how->due = 0;
	}
	take_due(held, 0, &due);
	spin_unlock_bh(&held->frames.lock);
	forward_all(dev, &due);
}

void srdma_tamper_init(struct srdma_dev *dev)
{
	skb_queue_head_init(&dev->held.frames);
	srdma_compat_hrtimer_setup(&dev->held.timer, time_has_come,
				   HRTIMER_MODE_ABS_SOFT);
}

/*
 * No QP sends any more, and no frame waits from here on: one that still comes goes
 * on at once. Those that wait need the namespace, so this comes before it may go.
 */
void srdma_tamper_uninit(struct srdma_dev *dev)
{
	spin_lock_bh(&dev->held.frames.lock);
	dev->held.ended = true;
	spin_unlock_bh(&dev->held.frames.lock);
	hrtimer_cancel(&dev->held.timer);
	skb_queue_purge(&dev->held.frames);
}

/* ---- what is done to a frame ---- */

/**
 * struct passing - a frame at a point
 * @dev: device
 * @point: where
 * @qp: the QP that sends it or is to have it, or NULL
 * @qpn: its number, whether there is one or not
 * @forward: where the frame goes
 */
struct passing {
	struct srdma_dev *dev;
	enum srdma_nl_point point;
	struct srdma_qp *qp;
	u32 qpn;
	srdma_forward_t forward;
};

static void pass_on(const struct passing *at, struct sk_buff *frame)
{
	at->forward(at->dev, frame);
	overtake(at->dev, at->point, at->qpn);
}

static void pass_twice(const struct passing *at, struct sk_buff *frame)
{
	struct sk_buff *twin = skb_copy(frame, GFP_ATOMIC | __GFP_NOWARN);

	if (twin)
		pass_on(at, twin);
	pass_on(at, frame);
}

static void pass_later(const struct passing *at, struct sk_buff *frame,
		       u64 time, u32 overtaken_by)
{
	struct held how = {
		.frame = *srdma_frame(frame),
		.forward = at->forward,
		.due = ktime_get_ns() + time,
		.qpn = at->qpn,
		.point = at->point,
		.left = overtaken_by,
	};

	if (!hold_back(at->dev, frame, &how))
		pass_on(at, frame);
}

/* Those that change a frame, and leave it on its way. */
static void change(struct sk_buff *frame, const struct srdma_order *order)
{
	switch (order->action) {
	case SRDMA_NL_ACT_ICRC:
		srdma_frame_unseal(frame);
		return;
	case SRDMA_NL_ACT_CE:
		srdma_frame_mark_ce(frame);
		return;
	case SRDMA_NL_ACT_FIELD:
		if (srdma_frame_set_field(frame, order))
			srdma_frame_seal(frame);
		return;
	case SRDMA_NL_ACT_PAYLOAD:
		if (srdma_frame_spoil_payload(frame, order->value))
			srdma_frame_seal(frame);
		return;
	case SRDMA_NL_ACT_TRUNCATE:
		srdma_frame_shorten(frame, order->value);
		srdma_frame_seal(frame);
		return;
	default:
		/* The engine that gets it is to do it. */
		srdma_frame(frame)->order = order->action;
		srdma_frame(frame)->value = order->value;
	}
}

static void follow(const struct passing *at, struct sk_buff *frame,
		   const struct srdma_order *order)
{
	switch (order->action) {
	case SRDMA_NL_ACT_DROP:
		lose_at(at->dev, at->point, frame);
		return;
	case SRDMA_NL_ACT_DUPLICATE:
		pass_twice(at, frame);
		return;
	case SRDMA_NL_ACT_DELAY:
		pass_later(at, frame, order->time, 0);
		return;
	case SRDMA_NL_ACT_REORDER:
		pass_later(at, frame, OVERTAKEN_WITHIN, order->value);
		return;
	}
	if (!srdma_effects_cause(at->dev, at->qp,
				 at->point == SRDMA_NL_POINT_RX, order))
		change(frame, order);
	pass_on(at, frame);
}

/* ---- whose it is ---- */

/* The first PSN of a QP, in the direction of a packet. */
static u32 first_psn(const struct srdma_qp *qp, enum srdma_nl_point point,
		     const struct srdma_opcode_info *op)
{
	bool is_response = op->flags & SRDMA_OP_RESP;

	if (!qp)
		return 0;
	return is_response == (point == SRDMA_NL_POINT_RX) ? qp->attr.sq_psn :
							     qp->attr.rq_psn;
}

static bool ask_about(const struct passing *at, const struct sk_buff *frame,
		struct srdma_order *order)
{
	const struct srdma_wire_bth *bth = srdma_frame_bth(frame);
	struct in6_addr src, dst;
	struct srdma_subject what = {
		.qpn = at->qpn,
		.pid = at->qp ? at->qp->owner_pid : 0,
		.peer = at->point == SRDMA_NL_POINT_TX ? &dst : &src,
		.op = bth->opcode,
		.psn = be32_to_cpu(bth->apsn) & SRDMA_PSN_MASK,
		.first_psn = first_psn(at->qp, at->point,
				       srdma_opcode_get(bth->opcode)),
	};

	srdma_frame_addresses(frame, &src, &dst);
	return srdma_rules_ask(&at->dev->rules, at->point, &what, order);
}

static void show(struct passing *at, struct sk_buff *frame)
{
	struct srdma_order order;

	/* What is no packet is found to be none behind this. */
	if (srdma_frame_len(frame) < SRDMA_PKT_MIN)
		pass_on(at, frame);
	else if (READ_ONCE(at->dev->rules.port_down))
		lose_at(at->dev, at->point, frame);
	else if (ask_about(at, frame, &order))
		follow(at, frame, &order);
	else
		pass_on(at, frame);
}

static void show_sent(struct passing *at, struct srdma_qp *sender,
		      struct sk_buff *frame)
{
	at->qp = sender;
	at->qpn = sender->qpn;
	show(at, frame);
}

static void show_received(struct passing *at, struct sk_buff *frame)
{
	at->qpn = 0;
	if (srdma_frame_len(frame) >= SRDMA_BTH_LEN)
		at->qpn = be32_to_cpu(srdma_frame_bth(frame)->qpn) &
			  SRDMA_QPN_MASK;
	at->qp = srdma_qp_find(at->dev, at->qpn);
	show(at, frame);
}

/**
 * srdma_tamper - show frames to the rules, and do what these say
 * @dev: device
 * @point: where they are
 * @sender: QP that sends them; NULL where they have come
 * @frames: they; emptied
 * @forward: called for each that goes on, now or later
 *
 * Bottom halves are disabled.
 */
void srdma_tamper(struct srdma_dev *dev, enum srdma_nl_point point,
		  struct srdma_qp *sender, struct sk_buff_head *frames,
		  srdma_forward_t forward)
{
	struct passing at = {
		.dev = dev,
		.point = point,
		.forward = forward,
	};
	struct sk_buff *frame;

	while ((frame = __skb_dequeue(frames))) {
		if (sender)
			show_sent(&at, sender, frame);
		else
			show_received(&at, frame);
	}
}

/**
 * srdma_tamper_burst - does something keep packets from being made at all?
 * @qp: QP that is to send them
 * @peer: to whom
 * @opcode: of the first
 * @psn: likewise
 * @action: filled with SRDMA_NL_ACT_NO_MEMORY or SRDMA_NL_ACT_NO_ROUTE
 */
bool srdma_tamper_burst(struct srdma_qp *qp, const struct in6_addr *peer,
			u8 opcode, u32 psn, u8 *action)
{
	struct srdma_subject what = {
		.qpn = qp->qpn,
		.pid = qp->owner_pid,
		.peer = peer,
		.op = opcode,
		.psn = psn,
		.first_psn = first_psn(qp, SRDMA_NL_POINT_TX,
				       srdma_opcode_get(opcode)),
		.is_burst = true,
	};
	struct srdma_order order;

	if (!srdma_rules_ask(&qp->dev->rules, SRDMA_NL_POINT_TX, &what, &order))
		return false;
	*action = order.action;
	return true;
}
