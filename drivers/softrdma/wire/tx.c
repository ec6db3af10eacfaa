// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sending: to a QP of this device, or through the stack, where netfilter, tc
 * and captures see the packets like any others.
 */
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "objects/device.h"
#include "objects/qp.h"
#include "wire/drop.h"
#include "wire/frame.h"
#include "wire/hook.h"
#include "wire/inflight.h"
#include "wire/loop.h"
#include "wire/netns.h"
#include "wire/packet_in.h"
#include "wire/path.h"
#include "wire/tamper.h"
#include "wire/tap.h"
#include "wire/train.h"
#include "wire/tx.h"

/* What one looped burst may hold: keys and loans are held while it is copied. */
#define LOOP_BYTES	SZ_64K

/* Looped messages of up to this, and so many, may wait for each other. */
#define LOOP_SHORT	SZ_4K
#define LOOP_MANY	16

/* What remains of 64 KB behind IPv6 and UDP headers. */
#define WIRE_BYTES	(0xffffU - SRDMA_PATH_HDR_MAX)

static enum srdma_tx_result why_not_built(const struct sk_buff *skb)
{
	return PTR_ERR(skb) == -ENOMEM ? SRDMA_TX_NOMEM : SRDMA_TX_FAULT;
}

/* Not inlined: it is for many, and each of them would pay for its registers. */
static noinline void hand_over_looped(struct srdma_outbox *outbox)
{
	srdma_hook_dispatch_looped(&outbox->looped, outbox->looped_bytes);
	outbox->looped_bytes = 0;
}

/* Hands over what is looped; the peer runs before this returns, or later. */
static void flush_looped(struct srdma_outbox *outbox)
{
	srdma_outbox_rest(outbox);
	if (!skb_queue_empty(&outbox->looped))
		hand_over_looped(outbox);
}

/* What its packets had on a wire, from BTH to ICRC. */
static u32 bytes_on_wire(const struct srdma_burst *burst)
{
	u32 bytes = srdma_opcode_get(burst->first)->hdr_len +
		    ALIGN(burst->len, 4) + SRDMA_ICRC_LEN;

	/* Only the first and the last may have headers behind their BTH. */
	if (burst->count > 1)
		bytes += srdma_opcode_get(burst->last)->hdr_len - SRDMA_BTH_LEN +
			 (burst->count - 1) * (SRDMA_BTH_LEN + SRDMA_ICRC_LEN);
	return bytes;
}

static void count_looped(const struct srdma_tx *tx, struct sk_buff *skb)
{
	struct srdma_dev *dev = tx->qp->dev;

	srdma_stat_add(dev, SRDMA_STAT_TX_LOOPED, tx->burst->count);
	srdma_stat_add(dev, SRDMA_STAT_TX_LOOPED_BYTES,
		       bytes_on_wire(&srdma_loop_of(skb)->burst));
	trace_srdma_tx(tx, skb, 0, tx->burst->count);
}

/*
 * Looped packets one by one, as they would be on the wire, and as they would come
 * from there. Not inlined: only rules and captures need it.
 */
static noinline enum srdma_tx_result send_frames(const struct srdma_tx *tx,
						 struct sk_buff *skb)
{
	struct sk_buff_head frames;
	u32 lost;

	/* What was built before goes before. */
	if (tx->outbox)
		flush_looped(tx->outbox);
	__skb_queue_head_init(&frames);
	lost = srdma_frames_write(skb, tx->path->id, &frames);
	tx->path->id += tx->burst->count;
	srdma_loop_free(skb);
	if (lost)
		srdma_drop(tx->qp->dev, SRDMA_STAT_TX_DROPPED, lost);
	srdma_tamper(tx->qp->dev, SRDMA_NL_POINT_TX, tx->qp, &frames,
		     srdma_hook_take_sent);
	return SRDMA_TX_SENT;
}

/* @skb: what is looped; it goes at once, or with others. */
static enum srdma_tx_result loop(const struct srdma_tx *tx, struct sk_buff *skb)
{
	u32 len = srdma_loop_of(skb)->burst.len;
	struct srdma_outbox *outbox = tx->outbox;

	if (!outbox || (!tx->more && skb_queue_empty(&outbox->looped))) {
		if (outbox)
			srdma_outbox_rest(outbox);
		srdma_hook_dispatch(skb);
		return SRDMA_TX_SENT;
	}
	__skb_queue_tail(&outbox->looped, skb);
	outbox->looped_bytes += skb->truesize;
	if (!tx->more || len > LOOP_SHORT ||
	    skb_queue_len(&outbox->looped) >= LOOP_MANY)
		flush_looped(outbox);
	return SRDMA_TX_SENT;
}

/*
 * @is_shown: somebody captures: nothing is lent then. Not inlined: what goes to the
 * network would save registers for it.
 */
static noinline enum srdma_tx_result send_local(const struct srdma_tx *tx,
						bool is_shown)
{
	struct sk_buff *skb;

	skb = srdma_loop_build(tx);
	if (IS_ERR(skb))
		return why_not_built(skb);
	count_looped(tx, skb);
	/* What was lent just before a rule was made passes it. */
	if (srdma_rules_look_at_packets(&tx->qp->dev->rules) &&
	    !srdma_loop_of(skb)->loan)
		return send_frames(tx, skb);
	if (unlikely(is_shown))
		srdma_tap_show_burst(tx, skb);
	return loop(tx, skb);
}

/* What is shown is what is delivered. Not inlined: see send_frames(). */
static noinline enum srdma_tx_result send_shown(const struct srdma_tx *tx)
{
	struct srdma_tx whole = *tx;

	whole.offer = NULL;
	return send_local(&whole, true);
}

static bool was_refused(int err)
{
	return err < 0 || err == NET_XMIT_DROP;
}

/* A frame that the rules let go. */
static void hand_over_frame(struct srdma_dev *dev, struct sk_buff *frame)
{
	bool is_v6 = srdma_frame(frame)->is_v6;
	struct net *net = dev->net->net;
	int err;

	srdma_stat_inc(dev, SRDMA_STAT_TX_PACKETS);
	srdma_stat_add(dev, SRDMA_STAT_TX_BYTES, srdma_frame_len(frame));
	if (is_v6 ? ipv6_addr_is_multicast(&ipv6_hdr(frame)->daddr) :
		    ipv4_is_multicast(ip_hdr(frame)->daddr))
		srdma_stat_inc(dev, SRDMA_STAT_TX_MULTICAST);
	memset(frame->cb, 0, sizeof(frame->cb));
	rcu_read_lock();
	/* It may have waited: only the interface of its route is still valid. */
	frame->dev = skb_dst(frame)->dev;
	err = is_v6 ? ip6_local_out(net, NULL, frame) :
		      ip_local_out(net, NULL, frame);
	rcu_read_unlock();
	if (was_refused(err))
		srdma_drop(dev, SRDMA_STAT_TX_DROPPED, 1);
}

/* The packets of an skb one by one. Not inlined: see send_frames(). */
static noinline void hand_over_frames(struct srdma_qp *qp, bool is_v6,
				      struct sk_buff *skb)
{
	struct sk_buff_head frames;
	int lost;

	__skb_queue_head_init(&frames);
	lost = srdma_frames_cut(skb, is_v6, true, &frames);
	kfree_skb(skb);
	if (lost)
		srdma_drop(qp->dev, SRDMA_STAT_TX_DROPPED, lost);
	srdma_tamper(qp->dev, SRDMA_NL_POINT_TX, qp, &frames, hand_over_frame);
}

/*
 * A refusal of the stack is a loss like any other: a full queue, a filter, an
 * interface that is down, a packet longer than the route's MTU.
 */
static void hand_over(struct srdma_qp *qp, const struct srdma_path *path,
		      struct sk_buff *skb)
{
	u32 count = skb_shinfo(skb)->gso_segs ?: 1;
	struct srdma_dev *dev = qp->dev;
	/* The route's interface may have gone, and cannot be asked. */
	struct net *net = dev->net->net;
	int err;

	if (srdma_rules_look(&dev->rules, SRDMA_NL_POINT_TX)) {
		hand_over_frames(qp, path->av.is_v6, skb);
		return;
	}
	srdma_stat_add(dev, SRDMA_STAT_TX_PACKETS, count);
	srdma_stat_add(dev, SRDMA_STAT_TX_BYTES, skb->len - path->hdr_len);
	if (unlikely(path->av.is_multicast))
		srdma_stat_add(dev, SRDMA_STAT_TX_MULTICAST, count);
	if (count > 1)
		srdma_stat_inc(dev, SRDMA_STAT_TX_TRAINS);

	srdma_inflight_add(qp, skb);
	err = path->av.is_v6 ? ip6_local_out(net, NULL, skb) :
			       ip_local_out(net, NULL, skb);
	if (was_refused(err))
		srdma_drop(dev, SRDMA_STAT_TX_DROPPED, count);
	if (err == NET_XMIT_DROP)
		srdma_inflight_refused(qp);
}

/**
 * struct built - skbs to be handed over, one by one, when a burst is built
 * @first: the first of them, which leads to the others
 * @end: where the next one goes
 */
struct built {
	struct sk_buff *first;
	struct sk_buff **end;
};

static void put_built(struct built *built, struct sk_buff *skb)
{
	*built->end = skb;
	built->end = &skb->next;
}

/*
 * No gate of a key is held: what the stack goes to may wait for it. Nor are vector
 * registers, which it may want.
 */
static void hand_over_all(const struct srdma_tx *tx, struct built *built)
{
	struct sk_buff *skb, *next;

	if (!built->first)
		return;
	if (tx->outbox)
		srdma_outbox_rest(tx->outbox);
	rcu_read_lock();
	skb_list_walk_safe(built->first, skb, next) {
		skb_mark_not_on_list(skb);
		hand_over(tx->qp, tx->path, skb);
	}
	rcu_read_unlock();
}

/* Builds up to @count packets by themselves, and says how many. */
static int build_alone(struct srdma_builder *b, u32 *count, struct built *built)
{
	struct sk_buff *skb;

	skb = srdma_train_build(b, count);
	if (IS_ERR(skb))
		return PTR_ERR(skb);
	trace_srdma_tx(b->tx, skb, b->first, *count);
	put_built(built, skb);
	return 0;
}

/* May they join the train that there is? */
static bool fits(const struct srdma_builder *b, u32 count, u32 most)
{
	const struct srdma_train *train = &b->tx->outbox->train;

	return train->count + count <= most &&
	       train->skb->len + count * b->each <= b->path->train_bytes &&
	       srdma_train_takes(train, b, count);
}

/* The train in the outbox is as long as it gets. */
static void end_train(const struct srdma_tx *tx, struct built *built)
{
	put_built(built, srdma_train_close(&tx->outbox->train, tx->path));
}

/*
 * The same with others: what was built before, or is going to be. @most packets
 * may be in one skb.
 */
static int build_with_others(struct srdma_builder *b, u32 *count, u32 most,
			     struct built *built)
{
	const struct srdma_tx *tx = b->tx;
	struct srdma_train *train = &tx->outbox->train;
	bool ends = b->first + *count == tx->burst->count;
	int err;

	if (train->skb && !fits(b, *count, most))
		end_train(tx, built);
	if (!train->skb && !(tx->more && ends && most > 1))
		return build_alone(b, count, built);
	err = srdma_train_add(train, b, count);
	if (!err)
		trace_srdma_tx(tx, train->skb, b->first, *count);
	if (err != -ENOMEM)
		return err;
	/* One of its own may find memory where the train has no room. */
	if (train->skb)
		end_train(tx, built);
	return build_alone(b, count, built);
}

/* Builds the burst; fills @done with how many packets could be. */
static int build_all(const struct srdma_tx *tx, struct built *built, u32 *done)
{
	const struct srdma_burst *burst = tx->burst;
	struct srdma_builder b;
	u32 most = 0, n, i;
	int err = 0;

	srdma_builder_begin(&b, tx, tx->outbox ? &tx->outbox->vector : NULL);
	for (i = 0; i < burst->count; i += n) {
		srdma_builder_go_to(&b, i);
		if (!most)
			most = srdma_path_train(tx->path, burst, b.each);
		n = min(most, srdma_burst_alike(burst, i));
		err = tx->outbox ? build_with_others(&b, &n, most, built) :
				   build_alone(&b, &n, built);
		if (err)
			break;
	}
	srdma_builder_end(&b);
	*done = i;
	return err;
}

/*
 * What it acknowledges, the peer has heard. Who hears no answer repeats what it has asked
 * instead of asking more, sooner or later: after so long.
 */
#define ASKS_NO_MORE	HZ

static void note_heard(const struct srdma_tx *tx)
{
	const struct srdma_qp *qp = tx->qp;

	if (qp->qpt != SRDMA_QPT_RC || !tx->engine)
		return;
	if (tx->engine == &qp->send)
		srdma_path_heard(tx->path, qp->req.rc.una_psn, 0);
	else
		srdma_path_heard(tx->path, qp->resp.rc.epsn, ASKS_NO_MORE);
}

/*
 * The burst is built as a whole, in one walk over its payload, and then handed
 * over. Fills @count as srdma_tx_send(), where some are not sent. Not inlined: what is
 * looped would save registers for it.
 */
static noinline enum srdma_tx_result send_wire(const struct srdma_tx *tx,
					       u32 *count)
{
	struct built built = { .end = &built.first };
	u32 done;
	int err;

	if (tx->engine && !srdma_inflight_has_room(tx->qp, tx->engine)) {
		srdma_stat_inc(tx->qp->dev, SRDMA_STAT_TX_BUSY);
		return SRDMA_TX_BUSY;
	}
	note_heard(tx);
	err = build_all(tx, &built, &done);
	hand_over_all(tx, &built);
	if (!err)
		return SRDMA_TX_SENT;
	if (!done)
		return err == -ENOMEM ? SRDMA_TX_NOMEM : SRDMA_TX_FAULT;
	/* Some have left. Of the others the next attempt is to tell, */
	if (err == -EFAULT) {
		*count = done;
		return SRDMA_TX_SENT;
	}
	/* or they are lost. */
	srdma_drop(tx->qp->dev, SRDMA_STAT_TX_DROPPED, *count - done);
	return SRDMA_TX_SENT;
}

/**
 * srdma_tx_flush - send what is in an outbox
 * @qp: sender
 * @path: the engine's, as it was when the outbox was filled
 * @outbox: the engine's; empty when this returns
 *
 * As srdma_tx_send(), with whatever that said of sending.
 */
void srdma_tx_flush(struct srdma_qp *qp, struct srdma_path *path,
		    struct srdma_outbox *outbox)
{
	flush_looped(outbox);
	if (!outbox->train.skb)
		return;
	rcu_read_lock();
	hand_over(qp, path, srdma_train_close(&outbox->train, path));
	rcu_read_unlock();
}

/* srdma_path_find(). Not inlined: once in a run is enough, mostly. */
static noinline int look_for_way(const struct srdma_tx *tx)
{
	struct srdma_outbox *outbox = tx->outbox;
	struct srdma_dev *dev = tx->qp->dev;
	int way;

	rcu_read_lock();
	way = srdma_qp_has_peer(tx->qp) ?
		srdma_path_to_peer(tx->path, dev, tx->av) :
		srdma_path_find(tx->path, dev, tx->av);
	rcu_read_unlock();
	if (outbox)
		outbox->knows_way = !way;
	return way;
}

/* As srdma_path_find(), asked once in a run where the peer is always the same. */
static int find_way(const struct srdma_tx *tx)
{
	if (tx->outbox && tx->outbox->knows_way)
		return 0;
	return look_for_way(tx);
}

static noinline enum srdma_tx_result no_way(const struct srdma_tx *tx)
{
	srdma_drop(tx->qp->dev, SRDMA_STAT_TX_NO_ROUTE, tx->burst->count);
	return SRDMA_TX_NOROUTE;
}

/* Does a rule keep the packets from being made? */
static noinline bool is_stopped(const struct srdma_tx *tx,
				enum srdma_tx_result *result)
{
	u8 action;

	if (!srdma_tamper_burst(tx->qp, &tx->av->dst, tx->burst->first,
				tx->burst->psn, &action))
		return false;
	*result = SRDMA_TX_NOMEM;
	if (action == SRDMA_NL_ACT_NO_ROUTE)
		*result = no_way(tx);
	return true;
}

/**
 * srdma_tx_send - send a burst
 * @tx: what, from whom, to whom
 * @count: filled with how many of its packets are dealt with: fewer than all
 *	where the payload of the next one cannot be had
 *
 * The caller owns the engine, and bottom halves are disabled, which is a section of RCU:
 * the interface of the route stays. A QP of the same device may have run, and answered,
 * when this returns.
 */
enum srdma_tx_result srdma_tx_send(const struct srdma_tx *tx, u32 *count)
{
	enum srdma_tx_result result;
	int way;

	*count = tx->burst->count;
	if (srdma_rules_look(&tx->qp->dev->rules, SRDMA_NL_POINT_TX) &&
	    is_stopped(tx, &result))
		return result;
	way = find_way(tx);
	if (way)
		return way < 0 ? no_way(tx) : send_shown(tx);
	return tx->path->is_local ? send_local(tx, false) :
				    send_wire(tx, count);
}

/**
 * srdma_tx_limit - how long a burst is worth while
 * @qp: sender
 * @path: its path; one that is not known yet is taken for a long one
 * @mtu: path MTU, bytes
 * @limit: filled
 *
 * srdma_tx_send() also takes more, and sends less on a narrow path.
 */
void srdma_tx_limit(struct srdma_qp *qp, const struct srdma_path *path,
		    u32 mtu, struct srdma_burst_limit *limit)
{
	u32 wire = srdma_pkt_wire_len(SRDMA_BTH_LEN, mtu);

	if (path->checked && path->is_local) {
		limit->packets = LOOP_BYTES / mtu;
		limit->bytes = limit->packets * mtu;
	} else {
		limit->packets = min3(srdma_inflight_train(qp) / wire,
				      (u32)(WIRE_BYTES / wire),
				      (u32)UDP_MAX_SEGMENTS);
		/* Beside those a first and a last one may go. */
		limit->bytes = (limit->packets + 2) * mtu;
	}
}
