// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs, for all their users: finding one, holding a reference, what its
 * state allows, the error state, and events to its consumer.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "base/bounds.h"
#include "memory/loan.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "objects/report.h"
#include "observe/trace.h"

const u8 srdma_qp_state_allows[] = {
	[IB_QPS_RESET] = 0,
	[IB_QPS_INIT] = SRDMA_MAY_POST_RECV,
	[IB_QPS_RTR] = SRDMA_MAY_POST_RECV | SRDMA_MAY_RECEIVE,
	[IB_QPS_RTS] = SRDMA_MAY_POST_RECV | SRDMA_MAY_RECEIVE |
		       SRDMA_MAY_POST_SEND | SRDMA_MAY_SEND,
	[IB_QPS_SQD] = SRDMA_MAY_POST_RECV | SRDMA_MAY_RECEIVE |
		       SRDMA_MAY_POST_SEND | SRDMA_MAY_SEND,
	[IB_QPS_SQE] = SRDMA_MAY_POST_RECV | SRDMA_MAY_RECEIVE |
		       SRDMA_MAY_POST_SEND | SRDMA_MAY_FLUSH_SQ,
	[IB_QPS_ERR] = SRDMA_MAY_POST_RECV | SRDMA_MAY_POST_SEND |
		       SRDMA_MAY_FLUSH_SQ | SRDMA_MAY_FLUSH_RQ,
};

/* Their own, since their parts are to begin on cache lines. */
static struct kmem_cache *qps;

int srdma_qps_init(void)
{
	qps = KMEM_CACHE(srdma_qp, SLAB_ACCOUNT);
	return qps ? 0 : -ENOMEM;
}

/* They are gone, and so are the RCU callbacks that freed them. */
void srdma_qps_exit(void)
{
	kmem_cache_destroy(qps);
}

/* One with a reference, zeroed but for that; NULL: no memory. */
struct srdma_qp *srdma_qp_alloc(void)
{
	struct srdma_qp *qp = kmem_cache_zalloc(qps, SRDMA_GFP);

	if (qp)
		refcount_set(&qp->refs, 1);
	return qp;
}

/**
 * srdma_qp_calloc - memory that an engine of a QP needs
 * @qp: queue pair
 * @count: how many
 * @bytes: of each
 * @gfp: how
 *
 * It is charged to the owner, on whose behalf the engine runs in whatever context.
 *
 * Return: zeroed memory, for kfree(), or NULL.
 */
void *srdma_qp_calloc(const struct srdma_qp *qp, u32 count, size_t bytes, gfp_t gfp)
{
	struct mem_cgroup *before;
	void *mem;

	if (!qp->owner)
		return kcalloc(count, bytes, gfp);
	before = set_active_memcg(qp->owner);
	mem = kcalloc(count, bytes, gfp | __GFP_ACCOUNT);
	set_active_memcg(before);
	return mem;
}

/* One, where an engine runs. */
void *srdma_qp_zalloc(const struct srdma_qp *qp, size_t bytes)
{
	return srdma_qp_calloc(qp, 1, bytes, GFP_NOWAIT | __GFP_NOWARN);
}

void srdma_qp_free(struct srdma_qp *qp)
{
	mem_cgroup_put(qp->owner);
	srdma_loans_uninit(&qp->req.loans);
	kmem_cache_free(qps, qp);
}

static void free_qp_rcu(struct rcu_head *rcu)
{
	srdma_qp_free(container_of(rcu, struct srdma_qp, rcu));
}

void srdma_qp_put(struct srdma_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs))
		call_rcu(&qp->rcu, free_qp_rcu);
}

/* Path MTU in bytes; of datagrams, what the port can carry. */
u32 srdma_qp_mtu(const struct srdma_qp *qp)
{
	enum ib_mtu mtu = qp->attr.path_mtu;

	if (srdma_qp_is_datagram(qp))
		mtu = READ_ONCE(qp->dev->active_mtu);
	return ib_mtu_enum_to_int(mtu ?: IB_MTU_256);
}

/* ---- telling the consumer ---- */

static void call_qp_handler(struct srdma_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &qp->dev->ib,
		.element.qp = qp->ib,
		.event = type,
	};

	if (qp->ib->event_handler)
		qp->ib->event_handler(&event, qp->ib->qp_context);
}

static void call_qp_handlers(struct srdma_upcall *upcall, unsigned long what)
{
	struct srdma_qp *qp = container_of(upcall, struct srdma_qp, upcall);
	unsigned int type;

	for_each_set_bit(type, &what, BITS_PER_LONG)
		call_qp_handler(qp, type);
}

void srdma_qp_events_init(struct srdma_qp *qp)
{
	srdma_upcall_init(&qp->upcall, call_qp_handlers);
}

/*
 * Only while the verbs object exists. The handler of uverbs only queues the
 * event; a kernel consumer's may take a lock under which it called the verb
 * that we are in.
 */
void srdma_qp_event(struct srdma_qp *qp, enum ib_event_type type)
{
	trace_srdma_event(qp, type);
	if (qp->is_user)
		call_qp_handler(qp, type);
	else
		srdma_upcall_leave(&qp->upcall, type);
}

/* ---- changing state ---- */

/* The only writer of the state, but for the first one. */
void srdma_qp_set_state(struct srdma_qp *qp, enum ib_qp_state state)
{
	lockdep_assert_held(&qp->state_lock);
	if (state != qp->state)
		trace_srdma_state(qp, state);
	WRITE_ONCE(qp->state, state);
}

/* Which states an engine may leave on its own, for which (10.3.1). */
static bool may_fall(enum ib_qp_state from, enum ib_qp_state to)
{
	switch (from) {
	case IB_QPS_RTR:
		return to == IB_QPS_ERR;
	case IB_QPS_RTS:
	case IB_QPS_SQD:
		return true;
	case IB_QPS_SQE:
		return to == IB_QPS_ERR;
	default:
		return false;
	}
}

/*
 * Sends that were refused, since the QP was in RTR, are in the ring of user space all the
 * same. They were never posted: the send engine passes them over.
 */
static void note_refused(struct srdma_qp *qp)
{
	if (qp->state != IB_QPS_RTR)
		return;
	WRITE_ONCE(qp->req.refused, srdma_ring_filled(&qp->sq.ring));
	/* Pairs with srdma_requester_pass_over(). */
	smp_wmb();
}

/* Returns whether the state changed; called by the engines of the QP. */
static bool fall(struct srdma_qp *qp, enum ib_qp_state to, enum srdma_err by)
{
	bool changed;

	spin_lock_bh(&qp->state_lock);
	changed = may_fall(qp->state, to);
	if (changed) {
		WRITE_ONCE(qp->flushed_by, by);
		note_refused(qp);
		srdma_qp_set_state(qp, to);
	}
	spin_unlock_bh(&qp->state_lock);
	if (changed) {
		srdma_engine_kick_later(&qp->send, SRDMA_EVENT_STATE);
		srdma_engine_kick_later(&qp->recv, SRDMA_EVENT_STATE);
	}
	return changed;
}

/* An engine has found that the QP is broken; a completion reports it. */
void srdma_qp_set_error(struct srdma_qp *qp, enum srdma_err by)
{
	fall(qp, IB_QPS_ERR, by);
}

/* A request failed that only the send queue has to suffer for. */
void srdma_qp_set_send_error(struct srdma_qp *qp)
{
	fall(qp, IB_QPS_SQE, SRDMA_ERR_FLUSH_SEND_QUEUE);
}

/* As srdma_qp_set_error(), where no completion reports it. */
void srdma_qp_fail(struct srdma_qp *qp, enum ib_event_type event,
		   enum srdma_err by)
{
	if (fall(qp, IB_QPS_ERR, by))
		srdma_qp_event(qp, event);
}

/* A completion has found no room. The caller has one of the QP's engines. */
void srdma_qp_lost_completion(struct srdma_qp *qp)
{
	struct srdma_error error;

	if (!fall(qp, IB_QPS_ERR, SRDMA_ERR_FLUSH_CQ))
		return;
	srdma_report_begin(&error, qp, SRDMA_PART_QUEUE);
	error.cause.code = SRDMA_ERR_CQ_OVERRUN;
	srdma_report(qp, &error);
	srdma_qp_event(qp, IB_EVENT_QP_FATAL);
}
