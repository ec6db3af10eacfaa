// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: taking requests from them, and the event for the
 * consumer when few are left.
 */
#include "posting/srq.h"

static void call_srq_handler(struct srdma_srq *srq, enum ib_event_type type)
{
	struct ib_event event = {
		.device = srq->ib.device,
		.element.srq = &srq->ib,
		.event = type,
	};

	if (srq->ib.event_handler)
		srq->ib.event_handler(&event, srq->ib.srq_context);
}

static void call_srq_handlers(struct srdma_upcall *upcall, unsigned long what)
{
	struct srdma_srq *srq = container_of(upcall, struct srdma_srq, upcall);
	unsigned int type;

	for_each_set_bit(type, &what, BITS_PER_LONG)
		call_srq_handler(srq, type);
}

void srdma_srq_events_init(struct srdma_srq *srq)
{
	srdma_upcall_init(&srq->upcall, call_srq_handlers);
}

/*
 * The handler of uverbs only queues the event; a kernel consumer's may take a
 * lock under which it called the verb that we are in.
 */
static void raise(struct srdma_srq *srq, enum ib_event_type type)
{
	if (srq->ib.uobject)
		call_srq_handler(srq, type);
	else
		srdma_upcall_leave(&srq->upcall, type);
}

/* Raises the event that the queue is broken. */
void srdma_srq_break(struct srdma_srq *srq)
{
	raise(srq, IB_EVENT_SRQ_ERR);
}

/**
 * srdma_srq_take - take the oldest request, and raise the limit event
 * @srq: queue
 * @out: filled
 * @need: bytes that it has to have room for
 */
enum srdma_rq_taken srdma_srq_take(struct srdma_srq *srq,
				   struct srdma_rwqe *out, u32 need)
{
	enum srdma_rq_taken taken;
	u32 left, limit;

	taken = srdma_rq_take(&srq->rq, out, need, &left);
	limit = READ_ONCE(srq->limit);
	/*
	 * The event disarms the limit (10.2.9.2): the CPU that disarms it raises it. It
	 * may have been armed when there was nothing any more.
	 */
	if (taken != SRDMA_RQ_SHORT && left < limit &&
	    cmpxchg(&srq->limit, limit, 0) == limit)
		raise(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	return taken;
}
