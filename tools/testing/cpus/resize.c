// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * resize: a receive queue is resized while another CPU takes requests and posts others.
 * What that does between two steps is done here where the driver copies without a lock.
 * Each request is to be taken once, in order, and none of that may be left out.
 */
#include "queues/receive_queue.h"

/**
 * struct game - a queue, its requests numbered from 0 in wr_id
 * @rq: queue
 * @posted: how many were posted
 * @taken: how many were taken
 * @wrong: how often it was another one, or none
 * @busy: requests that are taken and posted during the next copy
 */
static struct game {
	struct srdma_rq rq;
	u64 posted;
	u64 taken;
	unsigned int wrong;
	unsigned int busy;
} game;

static void post_one(void)
{
	struct ib_sge sge = {};
	const struct ib_recv_wr wr = {
		.wr_id = game.posted, .sg_list = &sge, .num_sge = 1,
	};
	const struct ib_recv_wr *bad;

	if (!srdma_rq_post(&game.rq, &wr, &bad))
		game.posted++;
}

static void take_one(void)
{
	union {
		struct srdma_rwqe wqe;
		u8 bytes[256];
	} out;
	u32 left;

	if (srdma_rq_take(&game.rq, &out.wqe, 0, &left) != SRDMA_RQ_TAKEN ||
	    out.wqe.wr_id != game.taken)
		game.wrong++;
	game.taken++;
}

/* ---- the ring: memory of its own, and a copy that takes its time ---- */

int srdma_ring_create(struct srdma_ring *ring, const struct srdma_ring_spec *spec,
		      struct ib_ucontext *ucontext, struct srdma_abi_map *map)
{
	u32 slots = 1U << order_base_2(spec->entries + 1);

	*ring = (struct srdma_ring) {
		.producer = calloc(1, sizeof(*ring->producer)),
		.consumer = calloc(1, sizeof(*ring->consumer)),
		.mask = slots - 1,
		.shift = order_base_2(spec->elem_size),
	};
	ring->data = calloc(slots, 1 << ring->shift);
	return ring->data && ring->producer && ring->consumer ? 0 : -ENOMEM;
}

void srdma_ring_destroy(struct srdma_ring *ring)
{
	free(ring->data);
	free(ring->producer);
	free(ring->consumer);
}

void srdma_ring_copy(const struct srdma_ring *to, u32 to_index,
		     const struct srdma_ring *from, u32 index, u32 count)
{
	for (; count; count--)
		memcpy(srdma_ring_slot(to, to_index++), srdma_ring_slot(from, index++),
		       1 << from->shift);
}

void srdma_ring_copy_slowly(const struct srdma_ring *to, u32 to_index,
			    const struct srdma_ring *from, u32 index, u32 count)
{
	srdma_ring_copy(to, to_index, from, index, count);
	for (; game.busy; game.busy--) {
		take_one();
		post_one();
	}
}

static bool play(u32 entries, u32 other, u32 begin, unsigned int busy)
{
	struct srdma_ring ring;
	bool good;
	u32 i;

	game = (struct game) { .busy = busy };
	if (srdma_rq_create(&game.rq, entries, 1, NULL, NULL) ||
	    srdma_rq_prepare_resize(&game.rq, &ring, other, NULL, NULL))
		abort();
	for (i = 0; i < begin; i++)
		post_one();
	if (srdma_rq_resize(&game.rq, &ring))
		game.wrong++;
	srdma_ring_destroy(&ring);
	/* And then it is a queue as any other. */
	for (i = 0; i < 8; i++)
		post_one();
	while (game.taken < game.posted)
		take_one();
	srdma_rq_destroy(&game.rq);
	good = !game.wrong && !game.busy && game.posted == begin + busy + 8;
	printf("%s %u entries become %u: %u posted, %u of %u others meanwhile, %llu in all: %u wrong\n",
	       good ? "ok" : "not ok", entries, other, begin, busy - game.busy, busy,
	       (unsigned long long)game.posted, game.wrong);
	return good;
}

int main(void)
{
	static const unsigned int busy[] = { 0, 1, 40, 63, 64, 65, 127, 128, 1500 };
	bool good = true;
	unsigned int i;

	for (i = 0; i < sizeof(busy) / sizeof(*busy); i++) {
		good &= play(63, 127, 60, busy[i]);
		good &= play(63, 31, 20, busy[i]);
		good &= play(1023, 2047, 1000, busy[i]);
	}
	return !good;
}
