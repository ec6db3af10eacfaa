// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Threads beside a user that do harm. In an attack one keeps the last CPU busy,
 * while the other one, which is served only when a CPU has nothing else to do,
 * modifies QPs there: it is woken late in the midst of it. Else the first one
 * rewrites rings, modifies QPs and rings doorbells, by handle, whatever the user
 * does to them at the time.
 */
#define _GNU_SOURCE
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <sched.h>
#include <unistd.h>

#include "fuzz_user.h"
#include "topo.h"
#include "uverbs.h"

#define BURST	64

/* Words of the head of a ring. */
enum {
	HEAD_PRODUCER = 128 / 4,
	HEAD_CONSUMER = 256 / 4,
};

static void to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void modify(struct fuzz_user *u, uint32_t handle, int state, int mask)
{
	struct ib_uverbs_modify_qp cmd = {
		.qp_handle = handle,
		.attr_mask = IBV_QP_STATE | mask,
		.qp_state = state,
		.min_rnr_timer = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ,
	};

	uverbs_write(u->set.ctx->cmd_fd, IB_USER_VERBS_CMD_MODIFY_QP, &cmd,
		     sizeof(cmd), NULL, 0);
}

static void *starve(void *arg)
{
	struct sched_param none = {};
	struct fuzz_user *u = arg;

	to_cpu(u->cpus - 1);
	sched_setscheduler(0, SCHED_IDLE, &none);
	while (!u->told->stop) {
		uint32_t handle = u->handle[FUZZ_QPS];

		if (u->told->attack && handle != ~0u)
			modify(u, handle, IBV_QPS_RTS, IBV_QP_MIN_RNR_TIMER |
						       IBV_QP_ACCESS_FLAGS);
		else
			usleep(10000);
	}
	return NULL;
}

/* ---- rings ---- */

/*
 * The two first words say how large the ring is, and the provider believes
 * them; without it, it would soon be its own victim.
 */
static void scribble(struct fuzz_user *u, uint32_t *random)
{
	struct fuzz_ring *ring = &u->ring[twin_random(random) % u->rings];
	uint32_t r = twin_random(random), slots = ring->words[1] + 1;
	size_t at = 2 + r % (ring->count - 2);

	/* It believes an index, too: nonsense there is for the kernel, rarely. */
	if ((at == HEAD_PRODUCER || at == HEAD_CONSUMER) && r >> 28)
		at = 2;
	switch (r >> 24 & 7) {
	case 0:
		ring->words[at] = twin_random(random);
		break;
	case 1:
		ring->words[at] ^= 1u << (r >> 19 & 31);
		break;
	case 2:
		ring->words[r & 1 ? HEAD_PRODUCER : HEAD_CONSUMER] =
			twin_random(random) % slots;
		break;
	case 3:
		ring->words[HEAD_PRODUCER] =
			(ring->words[HEAD_CONSUMER] + (r & 15)) % slots;
		break;
	case 4:
		/* As a key may look: one of the peer's, that it told. */
		ring->words[at] = u->peer->key[r % FUZZ_KEYS].rkey;
		break;
	case 5:
		/* A word of another slot: half of one request, half of one. */
		ring->words[at] = ring->words[2 + r / 7 % (ring->count - 2)];
		break;
	default:
		ring->words[at] = r % 256;
	}
	u->told->scribbles++;
}

static void scribble_some(struct fuzz_user *u, uint32_t *random)
{
	int i;

	/* Rings come and go with their lock held. */
	if (pthread_mutex_trylock(&u->lock))
		return;
	for (i = 0; u->rings && i < BURST; i++)
		scribble(u, random);
	pthread_mutex_unlock(&u->lock);
}

static void ring_doorbell(struct fuzz_user *u, uint32_t handle)
{
	struct ib_uverbs_post_send cmd = {
		.qp_handle = handle,
		.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};
	struct ib_uverbs_post_send_resp resp;

	uverbs_write(u->set.ctx->cmd_fd, IB_USER_VERBS_CMD_POST_SEND, &cmd,
		     sizeof(cmd), &resp, sizeof(resp));
}

static void *harm(void *arg)
{
	struct fuzz_user *u = arg;
	uint32_t random = u->random ^ 0x55555554;

	while (!u->told->stop) {
		uint32_t r = twin_random(&random);
		uint32_t handle = u->handle[r % FUZZ_QPS];
		long end;

		if (u->told->attack) {
			to_cpu(u->cpus - 1);
			end = topo_now_ms() + 50;
			while (topo_now_ms() < end)
				;
			/* Nobody would get on beside it. */
			if (u->cpus == 1)
				usleep(50000);
			continue;
		}
		switch (r >> 8 & 7) {
		case 0:
			modify(u, handle, r >> 16 & 7, 0);
			break;
		case 1:
		case 2:
			ring_doorbell(u, handle);
			break;
		case 3:
			to_cpu((r >> 20) % u->cpus);
			break;
		default:
			scribble_some(u, &random);
		}
		usleep(500 + (r >> 21));
	}
	return NULL;
}

int fuzz_imps_start(struct fuzz_user *u)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, starve, u) ?:
	       pthread_create(&thread, NULL, harm, u);
}
