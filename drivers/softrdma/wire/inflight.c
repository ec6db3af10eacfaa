// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bytes in flight: each skb for the wire keeps its QP and the number of bytes that
 * it was charged for. It gives them back when it is freed, or when it crosses to
 * another namespace or host. The number of bytes in flight is the reference that
 * all of them have together.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>

#include "engine/engine.h"
#include "objects/qp.h"
#include "wire/inflight.h"

/*
 * Enough to keep a 10 Gbit/s interface busy for 0.4 ms, in which softirq runs
 * again; little enough that two QPs that send single packets of 1 KB fit into
 * the default queue of an interface, 1000 packets.
 */
#define INFLIGHT_MAX	SZ_512K

/* A train. */
#define INFLIGHT_TRAIN	SZ_64K

/*
 * Of who shares a slow queue less than that would be cut into trains that are not worth
 * while, and others would take its share of the queue.
 */
#define INFLIGHT_MIN	(INFLIGHT_TRAIN / 2)

/* Not known yet how fast it leaves. */
#define INFLIGHT_START	SZ_128K

/*
 * No more than leaves in this time. What waits longer than 5 ms, for some time,
 * is thrown away by fq_codel, which is the default queue of many interfaces:
 * for RC that is a loss of many packets, and UC does not send again.
 */
#define INFLIGHT_NS	(2 * NSEC_PER_MSEC)

/*
 * And so much. All that share a queue see the same time: the part that it takes from each
 * is the same, and so is this, so that their shares become equal.
 */
#define INFLIGHT_STEP	(INFLIGHT_TRAIN / 4)

/*
 * A queue that refused a packet has so much room, for so long: others that fill it
 * come and go.
 */
#define INFLIGHT_REFUSED_JIFFIES	HZ

/* struct srdma_inflight.waiting */
enum {
	INFLIGHT_SEND,
	INFLIGHT_RECV,
};

/*
 * What was charged is kept as a power of two in the low bits of the pointer to
 * the QP: an skb's own lengths may change on the way.
 */
#define CHARGE_UNIT	SZ_1K
#define CHARGE_MASK	7UL
static_assert(__alignof__(struct srdma_qp) > CHARGE_MASK);
static_assert(CHARGE_UNIT << CHARGE_MASK > 0xffff);

/* What the verbs object adds to the bytes: less than any charge. */
#define CHARGE_VERBS	1
static_assert(CHARGE_VERBS < CHARGE_UNIT);

/* How often unloading looks again, and how often it logs what it waits for. */
#define UNLOAD_POLL_MS	10
#define UNLOAD_PATIENCE	(10 * HZ)

/*
 * How many skbs have been sent on this CPU less how many have landed here. Each
 * in flight returns through the code of this module.
 */
static DEFINE_PER_CPU(long, in_flight);

static unsigned long charge_class(const struct sk_buff *skb)
{
	return order_base_2(max_t(u32, skb->len / CHARGE_UNIT, 1));
}

static int charge_bytes(unsigned long class)
{
	return CHARGE_UNIT << class;
}

static int limit_of(const struct srdma_inflight *inflight)
{
	return READ_ONCE(inflight->limit) ?: INFLIGHT_START;
}

static bool refused_lately(const struct srdma_inflight *inflight)
{
	return time_before(jiffies, READ_ONCE(inflight->refused_at) +
				    INFLIGHT_REFUSED_JIFFIES);
}

static int most_of(struct srdma_inflight *inflight)
{
	int most = READ_ONCE(inflight->most);

	if (!most)
		return INFLIGHT_MAX;
	if (refused_lately(inflight))
		return most;
	WRITE_ONCE(inflight->most, 0);
	return INFLIGHT_MAX;
}

/* struct srdma_inflight.timed: the next skb is to be timed. */
#define TIME_NEXT	((const struct sk_buff *)1)

/* By this part of what it might: one time in the queue is shorter than others by chance. */
#define INFLIGHT_GAIN	4

static void time_next(struct srdma_inflight *inflight)
{
	if (!READ_ONCE(inflight->timed))
		WRITE_ONCE(inflight->timed, TIME_NEXT);
}

/*
 * How far it may grow. Who never meets it may have waited for something that is over: then
 * up to where it began. But what a queue refuses leaves at once.
 */
static int grows_to(const struct srdma_inflight *inflight, int limit, bool met)
{
	if (met)
		return 2 * limit;
	return refused_lately(inflight) ? limit : max(limit, INFLIGHT_START);
}

/* What @limit bytes at most took so long to leave. */
static int next_limit(int limit, u64 took, int most)
{
	u64 fits = div64_u64((u64)limit * INFLIGHT_NS, took) + INFLIGHT_STEP;

	if (fits < limit)
		return max_t(u64, fits, limit / 2);
	return limit + (min_t(u64, fits, most) - limit) / INFLIGHT_GAIN;
}

/* What was handed over has left now. */
static void adapt_limit(struct srdma_inflight *inflight)
{
	bool met = READ_ONCE(inflight->met);
	int limit = limit_of(inflight);
	s64 took;

	/* Pairs with begin_timing(). */
	smp_rmb();
	/* Another engine may just have begun to time another one. */
	took = max_t(s64, ktime_get_ns() - READ_ONCE(inflight->timed_at), 1);
	WRITE_ONCE(inflight->timed, met ? TIME_NEXT : NULL);
	limit = next_limit(limit, took, grows_to(inflight, limit, met));
	WRITE_ONCE(inflight->limit,
		   clamp(limit, INFLIGHT_MIN, most_of(inflight)));
}

static void wake(struct srdma_qp *qp)
{
	unsigned long waiting = xchg(&qp->inflight.waiting, 0);

	if (!waiting)
		return;
	if (waiting & BIT(INFLIGHT_SEND))
		srdma_engine_kick_later(&qp->send, SRDMA_EVENT_TX_FREED);
	if (waiting & BIT(INFLIGHT_RECV))
		srdma_engine_kick_later(&qp->recv, SRDMA_EVENT_TX_FREED);
}

/* The skb's destructor: in any context. */
static void land(struct sk_buff *skb)
{
	unsigned long arg = (unsigned long)skb_shinfo(skb)->destructor_arg;
	struct srdma_qp *qp = (struct srdma_qp *)(arg & ~CHARGE_MASK);
	int left;

	/* Once its bytes are off, others may put the QP: RCU keeps it for us. */
	rcu_read_lock();
	if (unlikely(skb == READ_ONCE(qp->inflight.timed)))
		adapt_limit(&qp->inflight);
	/* Pairs with the barrier in srdma_inflight_has_room(). */
	left = atomic_sub_return(charge_bytes(arg & CHARGE_MASK),
				 &qp->inflight.bytes);
	/* Waiting engines are not kicked for each packet. */
	if (left <= limit_of(&qp->inflight) / 2 + CHARGE_VERBS &&
	    READ_ONCE(qp->inflight.waiting))
		wake(qp);
	if (!left)
		srdma_qp_put(qp);
	rcu_read_unlock();
	this_cpu_dec(in_flight);
}

/* The QP is new: its reference is the verbs object's, and that of all it sends. */
void srdma_inflight_begin(struct srdma_qp *qp)
{
	atomic_set(&qp->inflight.bytes, CHARGE_VERBS);
	qp->inflight.refused_at = jiffies - INFLIGHT_REFUSED_JIFFIES;
}

/* The verbs object goes. What was sent and has not landed keeps the QP. */
void srdma_inflight_end(struct srdma_qp *qp)
{
	if (!atomic_sub_return(CHARGE_VERBS, &qp->inflight.bytes))
		srdma_qp_put(qp);
}

/**
 * srdma_inflight_has_room - may the QP hand more to the network now
 * @qp: queue pair
 * @engine: which of its two engines asks; if there is no room, it gets
 *	SRDMA_EVENT_TX_FREED later
 */
bool srdma_inflight_has_room(struct srdma_qp *qp, struct srdma_engine *engine)
{
	int bit = engine == &qp->send ? INFLIGHT_SEND : INFLIGHT_RECV;
	struct srdma_inflight *inflight = &qp->inflight;
	int limit = limit_of(inflight);
	int bytes = atomic_read(&inflight->bytes);

	if (bytes < limit) {
		/* Its window leaves it less: it keeps others waiting all the same. */
		if (bytes >= INFLIGHT_MIN)
			time_next(inflight);
		/* It asked for another reason. */
		if (READ_ONCE(inflight->waiting) & BIT(bit))
			clear_bit(bit, &inflight->waiting);
		return true;
	}
	time_next(inflight);
	WRITE_ONCE(inflight->met, true);
	set_bit(bit, &inflight->waiting);
	/*
	 * Pairs with land(): it sees the bit, or we see what it took off. As
	 * long as we see any bytes, they are to land yet, and the last ones of
	 * them wake us, whatever the limit is then.
	 */
	smp_mb__after_atomic();
	if (atomic_read(&inflight->bytes) >= limit)
		return false;
	clear_bit(bit, &inflight->waiting);
	return true;
}

/**
 * srdma_inflight_train - bytes of the longest train that the QP should send now
 * @qp: queue pair
 *
 * Half of what may be in flight: then one is on its way while the next one is built.
 */
u32 srdma_inflight_train(const struct srdma_qp *qp)
{
	return limit_of(&qp->inflight) / 2;
}

/* Of two engines that both do it the last one's skb is timed. */
static noinline void begin_timing(struct srdma_inflight *inflight,
				  const struct sk_buff *skb)
{
	WRITE_ONCE(inflight->timed_at, ktime_get_ns());
	WRITE_ONCE(inflight->met, false);
	/* Pairs with adapt_limit(). */
	smp_store_release(&inflight->timed, skb);
}

/* Charges an skb that is about to be handed to the network. */
void srdma_inflight_add(struct srdma_qp *qp, struct sk_buff *skb)
{
	unsigned long class = charge_class(skb);

	this_cpu_inc(in_flight);
	if (unlikely(READ_ONCE(qp->inflight.timed) == TIME_NEXT))
		begin_timing(&qp->inflight, skb);
	atomic_add(charge_bytes(class), &qp->inflight.bytes);
	skb_shinfo(skb)->destructor_arg = (void *)((unsigned long)qp | class);
	skb->destructor = land;
}

/**
 * srdma_inflight_refused - a queue of this host was full: fewer are to wait there
 * @qp: queue pair, whose packet was dropped
 *
 * An interface that has no queue of its own drops what its peer or its ring cannot
 * hold: a veth that merges what it receives holds 256 packets.
 */
void srdma_inflight_refused(struct srdma_qp *qp)
{
	struct srdma_inflight *inflight = &qp->inflight;
	int bytes = atomic_read(&inflight->bytes);
	int fits = clamp(bytes / 8 * 7, INFLIGHT_TRAIN, INFLIGHT_MAX);

	WRITE_ONCE(inflight->refused_at, jiffies);
	/* It is full of others', or a filter has dropped the packet. */
	if (bytes < limit_of(inflight) / 2)
		return;
	WRITE_ONCE(inflight->most, fits);
	if (limit_of(inflight) > fits)
		WRITE_ONCE(inflight->limit, fits);
}

/* Nothing is sent any more: what is not seen here has landed meanwhile. */
static bool all_have_landed(void)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(&in_flight, cpu));
	return !sum;
}

/*
 * There are no QPs any more. What they sent may still wait in the queue of an
 * interface, which is purged when that goes down; or with a process that judges
 * packets (NFQUEUE), until it does or ends. The log says what
 * unloading waits for.
 */
void srdma_inflight_exit(void)
{
	unsigned long told = jiffies;

	while (!all_have_landed()) {
		if (time_after(jiffies, told + UNLOAD_PATIENCE)) {
			pr_warn("softrdma: packets wait in queues of this host: unloading waits for them\n");
			told = jiffies;
		}
		msleep(UNLOAD_POLL_MS);
	}
	/* The last of them may be on the way out of land(), even preempted. */
	synchronize_rcu_tasks();
}
