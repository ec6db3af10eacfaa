/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An engine owns a part of a QP's state. A QP has two engines: one sends
 * requests and processes responses, the other executes requests and answers
 * them.
 *
 * Packets for an engine go into its inbox, other events set a bit. Then the
 * engine is kicked. The CPU that kicks an idle engine owns the engine and runs
 * it at once, with bottom halves disabled, until there is nothing left to do or
 * a budget is spent. The rest is done in softirq. A kick of a running engine
 * only leaves the event to its owner. So the state needs no lock.
 */
#ifndef SRDMA_ENGINE_H
#define SRDMA_ENGINE_H

#include <linux/cache.h>
#include <linux/interrupt.h>
#include <linux/llist.h>
#include <linux/sizes.h>
#include <linux/skbuff.h>

struct completion;
struct srdma_backlog;
struct srdma_engine;

/* Word left for an engine, beside packets. */
enum srdma_engine_event {
	SRDMA_EVENT_DOORBELL,	/* something was posted */
	SRDMA_EVENT_TIMER,	/* its timer fired */
	SRDMA_EVENT_TX_FREED,	/* packets of its QP have left the host */
	SRDMA_EVENT_STATE,	/* the state of the QP was changed */
	SRDMA_EVENT_EFFECT,	/* a rule wants something done to the QP */
	SRDMA_EVENT_RETURNED,	/* what its QP has lent was given back */
};

/**
 * typedef srdma_engine_run_t - do what there is to do
 * @engine: the engine; the caller owns it
 * @events: bits of enum srdma_engine_event left since the last run
 * @budget: how much to do, in packets
 *
 * Return: whether there is more to do than the budget allowed.
 */
typedef bool (*srdma_engine_run_t)(struct srdma_engine *engine,
				   unsigned long events, int budget);

/**
 * struct srdma_engine - an owner
 * @state: ENGINE_* bits of engine/engine.c: owned, kicked, stopped
 * @bytes_in: memory of all packets that were ever put into @inbox, bytes
 * @events: bits of enum srdma_engine_event that wait
 * @room: another packet may wait while less than this does, bytes
 * @inbox: packets that wait; its lock guards @bytes_in and changes of @room
 * @backlog: account that @room is drawn from; constant
 * @run: what the owner calls; constant
 * @taken: packets that the owner has taken out together, to look at in turn,
 *	linked by their next
 * @bytes_out: memory of packets that the owner has looked at; it alone writes it
 * @held: of those that it has put aside, which count as waiting; likewise
 * @rounds: consecutive runs that left work; written by the owner
 * @attended: a task stays with it, and looks soon; likewise
 * @handed: among those that an interrupt is to leave to softirq, or that a
 *	worker or a task is to run
 * @tasklet: continues in softirq
 * @idle: completed when the owner leaves a stopped engine;
 *	srdma_engine_stop() waits for it
 * @line: fills a cache line, if the engine begins at one
 *
 * Any CPU writes the first line, up to @run; the owner's CPU, the rest.
 */
struct srdma_engine {
	union {
		struct {
			atomic_t state;
			u32 bytes_in;
			unsigned long events;
			u32 room;
			struct sk_buff_head inbox;
			struct srdma_backlog *backlog;
			srdma_engine_run_t run;
		};
		u8 line[SMP_CACHE_BYTES];
	};

	struct sk_buff *taken;
	u32 bytes_out;
	u32 held;
	u32 rounds;
	bool attended;
	struct llist_node handed;
	struct tasklet_struct tasklet;
	struct completion *idle;
};

/* Not more than a line, unless locks are debugged. */
static_assert(offsetof(struct srdma_engine, taken) >= SMP_CACHE_BYTES);

/* What waits beyond this, in bytes, is looked at more closely. */
#define SRDMA_ENGINE_LAGS	SZ_2K

/*
 * Where a task is about to look (engine/attend.c): as much as one peer has in queues
 * (wire/inflight.c), with what skbs take besides.
 */
#define SRDMA_ENGINE_LAGS_ATTENDED	SZ_2M

/*
 * Does so much wait that a new skb may wait long? What the owner has put aside it has
 * looked at. From any context.
 */
static inline bool srdma_engine_lags(const struct srdma_engine *engine)
{
	s32 waiting = READ_ONCE(engine->bytes_in) -
		      READ_ONCE(engine->bytes_out) - READ_ONCE(engine->held);

	return waiting >= SRDMA_ENGINE_LAGS &&
	       (waiting >= SRDMA_ENGINE_LAGS_ATTENDED ||
		!READ_ONCE(engine->attended));
}

void srdma_engine_init(struct srdma_engine *engine, srdma_engine_run_t run,
		       struct srdma_backlog *backlog);
void srdma_engine_uninit(struct srdma_engine *engine);

void srdma_engine_kick(struct srdma_engine *engine,
		       enum srdma_engine_event event);
void srdma_engine_kick_later(struct srdma_engine *engine,
			     enum srdma_engine_event event);
bool srdma_engine_deliver(struct srdma_engine *engine, struct sk_buff *skb);
void srdma_engine_deliver_all(struct srdma_engine *engine,
			      struct sk_buff_head *list, u32 bytes);
struct sk_buff *srdma_engine_receive(struct srdma_engine *engine);

bool srdma_engine_hold(struct srdma_engine *engine, u32 bytes);
void srdma_engine_release(struct srdma_engine *engine, u32 bytes);

int srdma_engine_drop(struct srdma_engine *engine, int budget);
void srdma_engine_clear(struct srdma_engine *engine);
bool srdma_engine_kicked(const struct srdma_engine *engine);

void srdma_engine_stop(struct srdma_engine *engine);
void srdma_engine_start(struct srdma_engine *engine);

int srdma_engines_init(void);
void srdma_engines_exit(void);

#endif
