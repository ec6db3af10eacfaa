// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receive work queues: user space or a kernel consumer adds requests, and a
 * receive engine takes them. Each request is copied once, while it is decoded.
 */
#include <linux/slab.h>

#include "base/bounds.h"
#include "queues/receive_queue.h"

/* Requests that are copied with interrupts disabled, and how often we try. */
#define RESIZE_FEW	64
#define RESIZE_ROUNDS	16

static size_t slot_bytes(u32 max_sge)
{
	return sizeof(struct srdma_abi_recv_wqe) +
	       max_sge * sizeof(struct srdma_abi_sge);
}

/**
 * srdma_rq_create - make a receive queue
 * @rq: filled
 * @entries: requests that must fit at once
 * @max_sge: most pieces of one; one at least will fit
 * @ucontext: context that may map it, NULL for a kernel consumer
 * @map: filled with where to map it
 */
int srdma_rq_create(struct srdma_rq *rq, u32 entries, u32 max_sge,
		    struct ib_ucontext *ucontext, struct srdma_abi_map *map)
{
	struct srdma_ring_spec spec = {
		.entries = max(entries, 1U),
		.elem_size = slot_bytes(max(max_sge, 1U)),
	};

	spin_lock_init(&rq->lock);
	rq->max_sge = max(max_sge, 1U);
	return srdma_ring_create(&rq->ring, &spec, ucontext, map);
}

void srdma_rq_destroy(struct srdma_rq *rq)
{
	srdma_ring_destroy(&rq->ring);
}

/* The QP is reset: what was posted is forgotten (10.3.1). */
void srdma_rq_reset(struct srdma_rq *rq)
{
	spin_lock_irq(&rq->lock);
	srdma_ring_reset(&rq->ring);
	spin_unlock_irq(&rq->lock);
}

/* A ring of another size for the same requests, not yet in use. */
int srdma_rq_prepare_resize(struct srdma_rq *rq, struct srdma_ring *ring,
			    u32 entries, struct ib_ucontext *ucontext,
			    struct srdma_abi_map *map)
{
	struct srdma_ring_spec spec = {
		.entries = entries,
		.elem_size = slot_bytes(rq->max_sge),
	};

	return srdma_ring_create(ring, &spec, ucontext, map);
}

/* What is posted has been copied, up to @moved: the other ring takes over. */
static int use_ring(struct srdma_rq *rq, struct srdma_ring *ring, u32 moved)
{
	u32 filled = srdma_ring_filled(&rq->ring);

	lockdep_assert_held(&rq->lock);
	if (filled > srdma_ring_entries(ring))
		return -EINVAL;
	ring->index = (moved - filled) & ring->mask;
	srdma_ring_store(ring->consumer, ring->index);
	srdma_ring_store(ring->producer, moved & ring->mask);
	swap(rq->ring, *ring);
	return 0;
}

/**
 * srdma_rq_resize - move what is posted to another ring, and use that
 * @rq: queue; the caller sees to it that there is one resize at a time
 * @ring: from srdma_rq_prepare_resize(); the old ring comes back in it
 *
 * Meanwhile requests are taken from the old one, and kernel consumers post to
 * it. With interrupts disabled only a few are copied, those posted last.
 *
 * Return: 0, -EINVAL when what is posted does not fit, -EBUSY when so much was
 * posted all the time that there was no end to it.
 */
int srdma_rq_resize(struct srdma_rq *rq, struct srdma_ring *ring)
{
	struct srdma_ring *from = &rq->ring;
	u32 first, begun, gone, filled, moved = 0, left, round;
	int err = -EBUSY;

	spin_lock_irq(&rq->lock);
	first = from->index;
	begun = rq->taken;
	left = srdma_ring_filled(from);
	spin_unlock_irq(&rq->lock);
	if (left > srdma_ring_entries(ring))
		return -EINVAL;

	for (round = 0; err == -EBUSY && round < RESIZE_ROUNDS; round++) {
		srdma_ring_copy_slowly(ring, moved, from, first + moved, left);
		moved += left;
		spin_lock_irq(&rq->lock);
		/* What was taken needs no copy; its slots may hold others by now. */
		gone = rq->taken - begun;
		moved = max(moved, gone);
		/* Fewer, if user space has moved its index back. */
		filled = srdma_ring_filled(from);
		left = filled - min(filled, moved - gone);
		if (left <= RESIZE_FEW) {
			srdma_ring_copy(ring, moved, from, first + moved, left);
			err = use_ring(rq, ring, moved + left);
		}
		spin_unlock_irq(&rq->lock);
	}
	return err;
}

static int check_post(const struct srdma_rq *rq, const struct ib_recv_wr *wr,
		      u32 producer)
{
	if (wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;
	if (((producer + 1) & rq->ring.mask) == rq->ring.index)
		return -ENOMEM;
	return 0;
}

static void fill_slot(struct srdma_abi_recv_wqe *slot,
		      const struct ib_recv_wr *wr)
{
	struct srdma_abi_sge *sge = (void *)(slot + 1);
	u32 length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		sge[i] = (struct srdma_abi_sge) {
			.addr = wr->sg_list[i].addr,
			.length = wr->sg_list[i].length,
			.lkey = wr->sg_list[i].lkey,
		};
		length += wr->sg_list[i].length;
	}
	*slot = (struct srdma_abi_recv_wqe) {
		.wr_id = wr->wr_id,
		.dma.length = length,
		.dma.num_sge = wr->num_sge,
	};
}

/* Kernel consumers only; user space fills its ring itself. */
int srdma_rq_post(struct srdma_rq *rq, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr)
{
	struct srdma_ring *ring = &rq->ring;
	unsigned long flags;
	u32 producer;
	int err = 0;

	spin_lock_irqsave(&rq->lock, flags);
	producer = srdma_ring_load(ring, ring->producer);
	for (; wr; wr = wr->next) {
		err = check_post(rq, wr, producer);
		if (err) {
			if (bad_wr)
				*bad_wr = wr;
			break;
		}
		fill_slot(srdma_ring_slot(ring, producer), wr);
		producer = (producer + 1) & ring->mask;
		srdma_ring_store(ring->producer, producer);
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return err;
}

/* The queue is locked. What makes no sense is not too short, but bad. */
static enum srdma_rq_taken look_at_slot(struct srdma_rq *rq,
					struct srdma_rwqe *out, u32 need)
{
	struct srdma_ring *ring = &rq->ring;

	if (srdma_rwqe_decode(out, srdma_ring_slot(ring, ring->index),
			      slot_bytes(rq->max_sge), rq->max_sge))
		return SRDMA_RQ_BAD;
	return out->length < need ? SRDMA_RQ_SHORT : SRDMA_RQ_TAKEN;
}

/**
 * srdma_rq_take - take the oldest posted request
 * @rq: queue
 * @out: srdma_rwqe_size(@rq->max_sge) bytes, filled; wr_id also of a bad one
 * @need: bytes that it has to have room for; a shorter one stays where it is
 * @left: filled with the number of requests still posted
 */
enum srdma_rq_taken srdma_rq_take(struct srdma_rq *rq, struct srdma_rwqe *out,
				  u32 need, u32 *left)
{
	enum srdma_rq_taken taken = SRDMA_RQ_EMPTY;
	struct srdma_ring *ring = &rq->ring;
	unsigned long flags;
	u32 filled;

	spin_lock_irqsave(&rq->lock, flags);
	filled = srdma_ring_filled(ring);
	if (filled)
		taken = look_at_slot(rq, out, need);
	if (taken == SRDMA_RQ_TAKEN || taken == SRDMA_RQ_BAD) {
		srdma_ring_consume(ring, 1);
		rq->taken++;
		filled--;
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	*left = filled;
	return taken;
}
