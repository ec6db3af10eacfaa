/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Doorbells: whether what was posted is sent at once, or waits for what
 * follows.
 */
#ifndef SRDMA_DOORBELL_H
#define SRDMA_DOORBELL_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/hrtimer.h>
#include <linux/types.h>

struct srdma_engine;
struct srdma_qp;

/**
 * struct srdma_doorbell - what is known of how requests are posted
 * @most: doorbells that may wait for the next one; 0: none ever does
 * @row: doorbells in a row that could have waited
 * @needed: as many in a row before one does
 * @seen: producer's index at the last doorbell
 * @waiting: doorbells that wait; the engine takes them all
 * @armed: bit 0: @timer is going to look after them
 * @timer: ends the wait that nothing else ended
 * @since: when the first of @waiting began to wait, ns
 *
 * But for @waiting and @armed these are hints: threads that ring at once may
 * spoil them, which costs time and nothing else.
 */
struct srdma_doorbell {
	u16 most;
	u16 row;
	u16 needed;
	u32 seen;
	atomic_t waiting;
	unsigned long armed;
	struct hrtimer timer;
	u64 since;
};

void srdma_doorbell_init(struct srdma_qp *qp);
void srdma_doorbell_uninit(struct srdma_qp *qp);
void srdma_doorbell_kick(struct srdma_qp *qp, struct srdma_engine *engine);
void srdma_doorbell_ring(struct srdma_qp *qp);
void srdma_doorbell_flush(struct srdma_qp *qp);
void srdma_doorbell_take(struct srdma_qp *qp, u64 now);

/* Who answers a peer is not to keep it waiting. */
static inline void srdma_doorbell_peer_asks(struct srdma_doorbell *bell)
{
	if (READ_ONCE(bell->row))
		WRITE_ONCE(bell->row, 0);
}

#endif
