// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "scene.h"
#include "topo.h"
#include "uverbs.h"

/* How long anything may take on a busy emulated machine. */
#define PATIENCE_MS	20000

#define UNITS		(SCENE_LENGTH / SCENE_UNIT)

#define ACCESS_ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define ACCESS_WINDOW	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
			 IBV_ACCESS_REMOTE_ATOMIC)

/* ---- the peer ---- */

static uint8_t *piece(const struct scene_peer *peer, uint64_t slot)
{
	return peer->mem + slot * SCENE_LENGTH;
}

static int post_access(struct scene_peer *peer, int slot)
{
	uint32_t units = twin_random(&peer->random) % 8 ?
			 1 + twin_random(&peer->random) % 3 : UNITS;
	bool is_atomic = peer->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	struct ibv_sge sge = {
		(uintptr_t)piece(peer, slot),
		is_atomic ? 8 : units * SCENE_UNIT, peer->lkey
	};
	uint64_t offset = twin_random(&peer->random) % (UNITS + 1 - units) *
			  SCENE_UNIT;
	struct ibv_send_wr *bad, wr = {
		.wr_id = slot,
		.opcode = peer->opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};

	if (is_atomic) {
		wr.wr.atomic.remote_addr = peer->addr + offset;
		wr.wr.atomic.rkey = peer->key;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = peer->addr + offset;
		wr.wr.rdma.rkey = peer->key;
	}
	return ibv_post_send(peer->qp, &wr, &bad);
}

static int post_invalidation(struct scene_peer *peer, uint32_t key)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND_WITH_INV,
		.invalidate_rkey = key,
	};

	return ibv_post_send(peer->qp, &wr, &bad);
}

static bool holds_secret(const struct scene_peer *peer, int slot)
{
	return peer->opcode == IBV_WR_RDMA_READ &&
	       memchr(piece(peer, slot), SCENE_SECRET, SCENE_LENGTH);
}

static void note(struct scene_peer *peer, const struct ibv_wc *wc)
{
	if (wc->status) {
		if (!peer->status)
			peer->status = wc->status;
		peer->stop = true;
		return;
	}
	if (holds_secret(peer, wc->wr_id))
		peer->saw_secret = true;
	peer->done++;
}

/* Slots are used in turn, and requests complete in order. */
static void *access_memory(void *arg)
{
	long deadline = topo_now_ms() + PATIENCE_MS;
	uint32_t head = 0, tail = 0, key;
	struct scene_peer *peer = arg;
	struct ibv_wc wc;
	int slot;

	while ((!peer->stop || tail != head) && topo_now_ms() < deadline) {
		key = atomic_exchange(&peer->inv_key, 0);
		if (key && post_invalidation(peer, key))
			peer->stop = peer->stuck = true;
		for (; !peer->stop && head - tail < SCENE_DEPTH; head++)
			if (post_access(peer, head % SCENE_DEPTH))
				peer->stop = peer->stuck = true;
		while (ibv_poll_cq(peer->set->cq, 1, &wc) > 0) {
			/* That of an invalidation tells only of failure. */
			if (wc.opcode != IBV_WC_SEND)
				tail++;
			note(peer, &wc);
		}
		sched_yield();
	}
	/* What failed may have come in part. */
	for (slot = 0; slot < SCENE_DEPTH; slot++)
		if (holds_secret(peer, slot))
			peer->saw_secret = true;
	peer->stuck |= tail != head;
	peer->ended = true;
	return NULL;
}

bool scene_wait_done(const struct scene_peer *peer, int count)
{
	long deadline = topo_now_ms() + PATIENCE_MS;

	while (peer->done < count && !peer->ended) {
		if (topo_now_ms() > deadline)
			return false;
		sched_yield();
	}
	return true;
}

/* ---- the owner ---- */

static struct ibv_qp *make_qp(struct verbs_set *set)
{
	struct ibv_qp_init_attr init = {
		.send_cq = set->cq,
		.recv_cq = set->cq,
		.cap = { .max_send_wr = 2 * SCENE_DEPTH,
			 .max_recv_wr = SCENE_DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(set->pd, &init);
}

/* The status of the owner's next completion, or -ETIMEDOUT. */
static int wait_owner(struct scene *s)
{
	long deadline = topo_now_ms() + PATIENCE_MS;
	struct ibv_wc wc;

	while (ibv_poll_cq(s->sets[1].cq, 1, &wc) != 1) {
		if (topo_now_ms() > deadline)
			return -ETIMEDOUT;
		sched_yield();
	}
	return wc.status;
}

static int post_owner(struct scene *s, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->send_flags = IBV_SEND_SIGNALED;
	return ibv_post_send(s->qp, wr, &bad) ?: wait_owner(s);
}

static struct ibv_mw_bind_info range(struct scene *s, size_t start,
				     size_t length)
{
	return (struct ibv_mw_bind_info) {
		.mr = s->mr,
		.addr = (uintptr_t)s->mem + start,
		.length = length,
		.mw_access_flags = ACCESS_WINDOW,
	};
}

static int bind_type_1(struct scene *s, size_t start, size_t length)
{
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = range(s, start, length),
	};

	return ibv_bind_mw(s->qp, s->mw, &bind) ?: wait_owner(s);
}

static int bind_type_2(struct scene *s)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {
			.mw = s->mw,
			.rkey = ibv_inc_rkey(s->mw->rkey),
			.bind_info = range(s, 0, SCENE_LENGTH),
		},
	};
	int ret = post_owner(s, &wr);

	if (!ret)
		s->mw->rkey = wr.bind_mw.rkey;
	return ret;
}

int scene_grant_region(struct scene *s)
{
	s->peer.key = s->mr->rkey;
	return 0;
}

int scene_grant_type_1(struct scene *s)
{
	int ret;

	s->mw = ibv_alloc_mw(s->sets[1].pd, IBV_MW_TYPE_1);
	ret = s->mw ? bind_type_1(s, 0, SCENE_LENGTH) : ENOMEM;
	if (!ret)
		s->peer.key = s->mw->rkey;
	return ret;
}

int scene_grant_type_2(struct scene *s)
{
	int ret;

	s->mw = ibv_alloc_mw(s->sets[1].pd, IBV_MW_TYPE_2);
	ret = s->mw ? bind_type_2(s) : ENOMEM;
	if (!ret)
		s->peer.key = s->mw->rkey;
	return ret;
}

int scene_grant_type_2_and_receive(struct scene *s)
{
	struct ibv_recv_wr wr = {}, *bad;

	return scene_grant_type_2(s) ?: ibv_post_recv(s->qp, &wr, &bad);
}

int scene_by_dereg(struct scene *s)
{
	int ret = ibv_dereg_mr(s->mr);

	s->mr = NULL;
	return ret;
}

/*
 * ibv_rereg_mr() ends in the library, which does not know that this driver can
 * do it.
 */
static int rereg(struct scene *s, uint32_t flags, void *start,
		 struct ibv_pd *pd, uint32_t access)
{
	struct ib_uverbs_rereg_mr cmd = {
		.mr_handle = s->mr->handle,
		.flags = flags,
		.start = (uintptr_t)start,
		.length = SCENE_LENGTH,
		.hca_va = (uintptr_t)s->mem,
		.pd_handle = pd->handle,
		.access_flags = access,
	};
	struct ib_uverbs_rereg_mr_resp resp;
	int ret = uverbs_write(s->sets[1].ctx->cmd_fd,
			       IB_USER_VERBS_CMD_REREG_MR, &cmd, sizeof(cmd),
			       &resp, sizeof(resp));

	return ret ?: resp.rkey != s->mr->rkey;
}

/* Other pages behind the same addresses. */
int scene_by_rereg_elsewhere(struct scene *s)
{
	return rereg(s, IBV_REREG_MR_CHANGE_TRANSLATION, s->elsewhere,
		     s->sets[1].pd, 0);
}

int scene_by_rereg_access(struct scene *s)
{
	return rereg(s, IBV_REREG_MR_CHANGE_ACCESS, s->mem, s->sets[1].pd,
		     IBV_ACCESS_LOCAL_WRITE);
}

int scene_by_rereg_pd(struct scene *s)
{
	return rereg(s, IBV_REREG_MR_CHANGE_PD, s->mem, s->other_pd, 0);
}

int scene_by_dealloc(struct scene *s)
{
	int ret = ibv_dealloc_mw(s->mw);

	s->mw = NULL;
	return ret;
}

int scene_by_unbind(struct scene *s)
{
	return bind_type_1(s, 0, 0);
}

int scene_by_rebind(struct scene *s)
{
	return bind_type_1(s, SCENE_LENGTH - SCENE_UNIT, SCENE_UNIT);
}

int scene_by_local_inv(struct scene *s)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_LOCAL_INV,
		.invalidate_rkey = s->mw->rkey,
	};

	return post_owner(s, &wr);
}

int scene_by_send_with_inv(struct scene *s)
{
	s->peer.inv_key = s->mw->rkey;
	return wait_owner(s);
}

/* ---- rounds ---- */

bool scene_all_are(const uint8_t *mem, uint8_t byte)
{
	return mem[0] == byte && !memcmp(mem, mem + 1, SCENE_LENGTH - 1);
}

bool scene_get_pages(struct scene_peer *peer)
{
	void *at = mmap(peer->mem, SCENE_PEERS_LENGTH, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS |
			(peer->mem ? MAP_FIXED : 0), -1, 0);

	if (at == MAP_FAILED)
		return false;
	peer->mem = at;
	return true;
}

bool scene_register_peer(struct scene_peer *peer)
{
	peer->mr = ibv_reg_mr(peer->set->pd, peer->mem, SCENE_PEERS_LENGTH,
			      IBV_ACCESS_LOCAL_WRITE);
	if (peer->mr)
		peer->lkey = peer->mr->lkey;
	return peer->mr;
}

static int connect_round(struct scene *s)
{
	struct twin_attr attr = TWIN_ATTR_DEFAULT;

	/* New ones, so that nothing of an earlier round is for them. */
	s->peer.qp = make_qp(&s->sets[0]);
	s->qp = make_qp(&s->sets[1]);
	if (!s->peer.qp || !s->qp)
		return ENOMEM;
	attr.mtu = IBV_MTU_4096;
	return twin_connect(s->sets, s->peer.qp, s->qp, &attr);
}

int scene_begin(struct scene *s, int (*grant)(struct scene *s))
{
	struct scene_peer *peer = &s->peer;
	int ret;

	memset(s->mem, SCENE_BEFORE, SCENE_LENGTH);
	memset(s->elsewhere, SCENE_BEFORE, SCENE_LENGTH);
	memset(peer->mem, SCENE_PEERS, SCENE_PEERS_LENGTH);
	peer->done = 0;
	peer->inv_key = 0;
	peer->stop = false;
	peer->ended = false;
	peer->stuck = false;
	peer->status = IBV_WC_SUCCESS;
	peer->saw_secret = false;
	s->mr = ibv_reg_mr(s->sets[1].pd, s->mem, SCENE_LENGTH,
			   ACCESS_ALL | IBV_ACCESS_MW_BIND);
	if (!s->mr)
		return ENOMEM;
	peer->addr = (uintptr_t)s->mem;
	ret = connect_round(s) ?: grant(s);
	return ret ?: pthread_create(&s->thread, NULL, access_memory, peer);
}

int scene_end(struct scene *s)
{
	struct ibv_wc wc;
	int ret;

	ret = ibv_destroy_qp(s->peer.qp) ?: ibv_destroy_qp(s->qp);
	if (!ret && s->mw)
		ret = ibv_dealloc_mw(s->mw);
	if (!ret && s->mr)
		ret = ibv_dereg_mr(s->mr);
	s->mw = NULL;
	s->mr = NULL;
	while (ibv_poll_cq(s->sets[0].cq, 1, &wc) > 0 ||
	       ibv_poll_cq(s->sets[1].cq, 1, &wc) > 0)
		;
	return ret;
}

void scene_dawdle(uint32_t *random)
{
	uint32_t turns = twin_random(random) % 2000;

	while (turns--)
		atomic_signal_fence(memory_order_seq_cst);
}
