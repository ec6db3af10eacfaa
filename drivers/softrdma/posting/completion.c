// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completions: a ring that the kernel fills and the consumer empties, and
 * events to a consumer that waits.
 */
#include "objects/device.h"
#include "observe/counters.h"
#include "posting/completion.h"

static void call_event_handler(struct srdma_cq *cq)
{
	struct ib_event event = {
		.device = cq->ib.device,
		.element.cq = &cq->ib,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);
}

static void call_cq_handlers(struct srdma_upcall *upcall, unsigned long what)
{
	struct srdma_cq *cq = container_of(upcall, struct srdma_cq, upcall);

	if (what & BIT(SRDMA_CQ_UPCALL_ERR))
		call_event_handler(cq);
	if (what & BIT(SRDMA_CQ_UPCALL_COMP) && cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

void srdma_cq_events_init(struct srdma_cq *cq)
{
	srdma_upcall_init(&cq->upcall, call_cq_handlers);
}

/*
 * The handlers of uverbs only queue an event; a kernel consumer's may call
 * verbs, or take a lock under which it called the verb that we are in.
 */
static void notify(struct srdma_cq *cq, enum srdma_cq_upcall upcall)
{
	if (!srdma_cq_is_user(cq))
		srdma_upcall_leave(&cq->upcall, upcall);
	else if (upcall == SRDMA_CQ_UPCALL_ERR)
		call_event_handler(cq);
	else if (cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

/*
 * The consumer's index is beyond the last entry produced. In rdma-core before 55,
 * ibv_end_poll() after an ibv_next_poll() that found nothing leaves it so. That
 * consumer will look for its next entry at that index, and before that in all
 * slots up to the producer's. So the producer continues at the consumer's index,
 * and the queue is empty. A consumer that writes a wrong index on purpose loses
 * entries of this queue only. Not inlined: a correct consumer never gets here.
 */
static noinline void follow_consumer(struct srdma_cq *cq, u32 at)
{
	struct srdma_ring *ring = &cq->ring;

	ring->index = at;
	srdma_ring_store(ring->producer, at);
	srdma_stat_inc(to_sdev(cq->ib.device), SRDMA_STAT_CQ_BEYOND);
	pr_notice_once("softrdma: a program takes completions that are not there yet: rdma-core before 55 does, in ibv_next_poll()\n");
}

/*
 * Entries that the consumer has not taken. It cannot have more of them than when
 * we last looked, but for what was added since.
 */
u32 srdma_cq_entries(struct srdma_cq *cq)
{
	struct srdma_ring *ring = &cq->ring;
	u32 at, count;

	lockdep_assert_held(&cq->lock);
	at = srdma_ring_load(ring, ring->consumer);
	count = (ring->index - at) & ring->mask;
	if (unlikely(count > cq->most)) {
		follow_consumer(cq, at);
		count = 0;
	}
	WRITE_ONCE(cq->most, count);
	return count;
}

static u32 user_wc_flags(int flags)
{
	u32 user = 0;

	if (flags & IB_WC_GRH)
		user |= SRDMA_ABI_WC_GRH;
	if (flags & IB_WC_WITH_IMM)
		user |= SRDMA_ABI_WC_WITH_IMM;
	if (flags & IB_WC_WITH_INVALIDATE)
		user |= SRDMA_ABI_WC_WITH_INV;
	return user;
}

/*
 * RoCE has no service level, and mlx5 says there which header the datagram had:
 * 1 is IPv6, 2 IPv4. UCX before 1.19 reads that of every device, to know where
 * the sender's address is.
 */
static u8 user_sl(const struct ib_wc *wc)
{
	if (!(wc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE))
		return wc->sl;
	return wc->network_hdr_type == RDMA_NETWORK_IPV6 ? 1 : 2;
}

/* Member by member, and all there are: once for each completion. */
static void fill_user(struct ib_uverbs_wc *to, const struct ib_wc *wc)
{
	to->wr_id = wc->wr_id;
	to->status = wc->status;
	to->opcode = wc->opcode;
	to->vendor_err = wc->vendor_err;
	to->byte_len = wc->byte_len;
	to->qp_num = wc->qp->qp_num;
	to->src_qp = wc->src_qp;
	to->wc_flags = user_wc_flags(wc->wc_flags);
	to->pkey_index = wc->pkey_index;
	to->slid = 0;
	to->sl = user_sl(wc);
	to->dlid_path_bits = 0;
	to->port_num = wc->port_num;
	to->reserved = 0;
	if (wc->wc_flags & IB_WC_WITH_IMM)
		to->ex.imm_data = wc->ex.imm_data;
	else
		to->ex.invalidate_rkey = wc->ex.invalidate_rkey;
}

/* Does an entry wake the consumer? Errors count as solicited (11.4.2.2). */
static bool takes_arm(struct srdma_cq *cq, const struct ib_wc *wc,
		      bool solicited)
{
	if (cq->arm == SRDMA_CQ_UNARMED)
		return false;
	if (cq->arm == SRDMA_CQ_ARMED_SOLICITED && !solicited &&
	    wc->status == IB_WC_SUCCESS)
		return false;
	cq->arm = SRDMA_CQ_UNARMED;
	return true;
}

/**
 * srdma_cq_add - add a completion
 * @cq: queue
 * @wc: completion, in the kernel's form also for user space's queues
 * @solicited: the peer asked for an event
 *
 * Return: false when the queue had overflowed: the entry is lost, the
 * consumer has been told, and the queue pair must go to the error state.
 */
bool srdma_cq_add(struct srdma_cq *cq, const struct ib_wc *wc, bool solicited)
{
	struct srdma_ring *ring = &cq->ring;
	bool added = false, wake = false, first_loss = false;
	unsigned long flags;
	void *slot;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->health == SRDMA_CQ_WELL && srdma_cq_entries(cq) < srdma_ring_entries(ring)) {
		slot = srdma_ring_slot(ring, ring->index);
		if (srdma_cq_is_user(cq))
			fill_user(slot, wc);
		else
			*(struct ib_wc *)slot = *wc;
		srdma_ring_produce(ring, 1);
		WRITE_ONCE(cq->most, cq->most + 1);
		wake = takes_arm(cq, wc, solicited);
		added = true;
	} else if (cq->health != SRDMA_CQ_OVERRUN) {
		cq->health = SRDMA_CQ_OVERRUN;
		first_loss = true;
	}
	spin_unlock_irqrestore(&cq->lock, flags);

	if (wake)
		notify(cq, SRDMA_CQ_UPCALL_COMP);
	if (first_loss) {
		srdma_stat_inc(to_sdev(cq->ib.device), SRDMA_STAT_CQ_OVERRUN);
		notify(cq, SRDMA_CQ_UPCALL_ERR);
	}
	return added;
}

/* Nothing fits into a queue any more. */
void srdma_cq_fill(struct srdma_cq *cq)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->health == SRDMA_CQ_WELL)
		cq->health = SRDMA_CQ_FULL;
	spin_unlock_irqrestore(&cq->lock, flags);
}

/* Raises the event that the queue is broken. */
void srdma_cq_break(struct srdma_cq *cq)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&cq->lock, flags);
	first = cq->health != SRDMA_CQ_OVERRUN;
	cq->health = SRDMA_CQ_OVERRUN;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (first)
		notify(cq, SRDMA_CQ_UPCALL_ERR);
}

/* Kernel consumers only; user space reads its ring itself. */
int srdma_cq_poll(struct ib_cq *ib, int max, struct ib_wc *wc)
{
	struct srdma_cq *cq = to_scq(ib);
	struct srdma_ring *ring = &cq->ring;
	unsigned long flags;
	u32 first, count, i;

	spin_lock_irqsave(&cq->lock, flags);
	first = srdma_ring_load(ring, ring->consumer);
	count = min_t(u32, (ring->index - first) & ring->mask, max);
	for (i = 0; i < count; i++)
		wc[i] = *(struct ib_wc *)srdma_ring_slot(ring, first + i);
	srdma_ring_store(ring->consumer, (first + count) & ring->mask);
	spin_unlock_irqrestore(&cq->lock, flags);
	return count;
}

int srdma_cq_peek(struct ib_cq *ib, int max)
{
	struct srdma_cq *cq = to_scq(ib);
	unsigned long flags;
	int count;

	spin_lock_irqsave(&cq->lock, flags);
	count = min_t(u32, srdma_cq_entries(cq), max);
	spin_unlock_irqrestore(&cq->lock, flags);
	return count;
}

int srdma_cq_arm(struct ib_cq *ib, enum ib_cq_notify_flags flags)
{
	struct srdma_cq *cq = to_scq(ib);
	unsigned long irq_flags;
	int missed;
	u8 arm;

	arm = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED ?
		SRDMA_CQ_ARMED_SOLICITED : SRDMA_CQ_ARMED_ANY;

	spin_lock_irqsave(&cq->lock, irq_flags);
	/* Asking for less does not take back a request for more. */
	cq->arm = max(cq->arm, arm);
	/* A consumer that is about to sleep must see the present queue. */
	missed = !!srdma_cq_entries(cq);
	spin_unlock_irqrestore(&cq->lock, irq_flags);
	return flags & IB_CQ_REPORT_MISSED_EVENTS ? missed : 0;
}
