// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A flow: memory is opened for one connection with the peer, requests are made,
 * by us or by the peer, and then there is an end to it, in one of the ways by
 * which the device says that it is done with the memory. What is in that memory
 * from then on is a secret, and stays what it is.
 *
 * All of it is in a protection domain of its own, so that no request that is
 * made elsewhere at random is let in there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <sched.h>
#include <unistd.h>

#include "fuzz_user.h"
#include "topo.h"
#include "uverbs.h"

#define ACK_MS		300
#define COMPLETE_MS	3000
#define PAUSE_MS	1500
#define ASK_MS		1500
#define MOST_POSTS	15
#define ALL_REMOTE	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* Who makes the requests, and what opens the memory to them. */
enum flow_kind {
	FLOW_ASK,	/* we do; the region has no remote rights */
	FLOW_REGION,	/* the peer does, by the region's key */
	FLOW_WINDOW,	/* the peer does, by a window's */
	FLOW_KINDS,
};

/**
 * struct flow - the one there is
 * @kind: what it is
 * @at: its slot
 * @type: of the QP
 * @opcode: FLOW_ASK: what is asked
 * @mr: region of the slot
 * @mw: FLOW_WINDOW: window, of type 2
 * @qp: queue pair
 * @posted: requests made
 * @completed: of these
 * @failed: one of them, at least
 */
struct flow {
	enum flow_kind kind;
	int at;
	enum ibv_qp_type type;
	enum ibv_wr_opcode opcode;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_qp *qp;
	int posted;
	int completed;
	bool failed;
};

/* Both have to take the same. */
static enum ibv_mtu mtu_of(uint32_t gen)
{
	return IBV_MTU_256 + gen % 5;
}

/* ---- the peer's flow ---- */

static void post_receives(struct fuzz_user *u, int count)
{
	struct ibv_recv_wr *bad;
	int i;

	for (i = 0; i < count; i++) {
		struct fuzz_slot *slot = &u->slot[i % FUZZ_ANY_SLOT];
		struct ibv_sge sge = {
			(uintptr_t)slot->at, FUZZ_SLOT, slot->mr->lkey
		};
		struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

		ibv_post_recv(u->ack_qp, &wr, &bad);
	}
}

/* Where the peer may write. */
static void tell_target(struct fuzz_user *u)
{
	struct fuzz_slot *slot = &u->slot[fuzz_random(u, FUZZ_ANY_SLOT)];

	u->told->ack_key.va = (uintptr_t)slot->at;
	u->told->ack_key.rkey = slot->mr->rkey;
}

/* What the peer opened to us, as long as it does and longer. */
static void access_target(struct fuzz_user *u)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_READ, IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct fuzz_slot *slot = &u->slot[fuzz_random(u, FUZZ_ANY_SLOT)];
	uint32_t length = 8 + fuzz_random(u, FUZZ_SLOT - 8) / 8 * 8;
	struct ibv_sge sge = { (uintptr_t)slot->at, length, slot->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = opcodes[fuzz_random(u, 4)],
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};

	wr.wr.rdma.remote_addr = u->peer->flow_key.va;
	wr.wr.rdma.rkey = u->peer->flow_key.rkey;
	if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		sge.length = 8;
		wr.wr.atomic.remote_addr = u->peer->flow_key.va;
		wr.wr.atomic.rkey = u->peer->flow_key.rkey;
		wr.wr.atomic.compare_add = 1;
	}
	if (!ibv_post_send(u->ack_qp, &wr, &bad))
		u->told->posts++;
}

static int make_ack_qp(struct fuzz_user *u, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = u->set.cq, .recv_cq = u->set.cq,
		.cap = { FUZZ_RECVS, FUZZ_RECVS, 1, 1, 0 },
		.qp_type = type,
	};

	if (u->ack_qp && u->ack_qp->qp_type == type)
		return 0;
	if (u->ack_qp && fuzz_drop_qp(u, FUZZ_QPS, u->ack_qp))
		return EBUSY;
	u->ack_qp = fuzz_make_qp(u, FUZZ_QPS, &init);
	return u->ack_qp ? 0 : ENOMEM;
}

static int join(struct fuzz_user *u)
{
	enum ibv_qp_type type = u->peer->flow_type;
	int i, ret;

	if (type != IBV_QPT_RC && type != IBV_QPT_UC)
		return EINVAL;
	/* What came in before is soon written over. */
	for (i = 0; i < FUZZ_ANY_SLOT; i++)
		fuzz_check_slot(u, i);
	ret = make_ack_qp(u, type) ?:
	      fuzz_connect(u, u->ack_qp, u->peer->flow_qpn,
			   mtu_of(u->seen_gen));
	if (ret)
		return ret;
	post_receives(u, FUZZ_RECVS);
	tell_target(u);
	u->told->ack_qpn = u->ack_qp->qp_num;
	u->told->ack_gen = u->seen_gen;
	return 0;
}

void fuzz_flow_serve(struct fuzz_user *u)
{
	const char *busy = u->told->busy;
	struct ibv_wc wc[FUZZ_RECVS];
	long busy_ms = u->told->busy_ms;
	uint32_t gen = u->peer->flow_gen;

	if (gen != u->seen_gen) {
		u->seen_gen = gen;
		fuzz_begin(u, "join the peer's flow");
		fuzz_end(u, u->peer->flow_qpn, join(u));
		/* Of ours we may be in the middle. */
		u->told->busy = busy;
		u->told->busy_ms = busy_ms;
	} else if (u->ack_qp) {
		/* What completed is taken for a receive; too many are refused. */
		post_receives(u, ibv_poll_cq(u->set.cq, FUZZ_RECVS, wc));
		if (u->peer->flow_key.rkey && fuzz_chance(u, 4))
			access_target(u);
	}
}

/* ---- ours: beginning ---- */

static int make_qp(struct fuzz_user *u, struct flow *f)
{
	struct ibv_qp_init_attr init = {
		.send_cq = u->flow_cq, .recv_cq = u->flow_cq,
		.cap = { MOST_POSTS + 1, 1, 1, 1, 0 },
		.qp_type = f->type,
	};

	fuzz_rings_lock(u);
	f->qp = ibv_create_qp(u->flow_pd, &init);
	fuzz_rings_spare(u);
	fuzz_rings_unlock(u);
	return f->qp ? 0 : ENOMEM;
}

/* Of the spared rings, that of the CQ remains. */
static int drop_qp(struct fuzz_user *u, struct flow *f)
{
	int ret;

	fuzz_rings_lock(u);
	ret = ibv_destroy_qp(f->qp);
	if (!ret) {
		f->qp = NULL;
		fuzz_rings_spare_only(u, 1);
	}
	fuzz_rings_unlock(u);
	return ret;
}

static int make_region(struct fuzz_user *u, struct flow *f)
{
	static const int access[FLOW_KINDS] = {
		[FLOW_ASK] = IBV_ACCESS_LOCAL_WRITE,
		[FLOW_REGION] = ALL_REMOTE,
		[FLOW_WINDOW] = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
	};
	struct fuzz_slot *slot = &u->slot[f->at];

	f->mr = ibv_reg_mr(u->flow_pd, slot->at, FUZZ_SLOT, access[f->kind]);
	if (f->mr && f->kind == FLOW_WINDOW)
		f->mw = ibv_alloc_mw(u->flow_pd, IBV_MW_TYPE_2);
	return f->mr && (f->mw || f->kind != FLOW_WINDOW) ? 0 : ENOMEM;
}

/* The peer knows what to connect to, and we learn to whom. */
static int meet(struct fuzz_user *u, struct flow *f)
{
	long end = topo_now_ms() + ACK_MS;
	uint32_t gen = u->told->flow_gen + 1;

	u->told->flow_qpn = f->qp->qp_num;
	u->told->flow_type = f->type;
	u->told->flow_key.rkey = 0;
	u->told->flow_gen = gen;
	while (u->peer->ack_gen != gen) {
		if (topo_now_ms() > end || u->told->stop)
			return ETIMEDOUT;
		fuzz_flow_serve(u);
		sched_yield();
	}
	return fuzz_connect(u, f->qp, u->peer->ack_qpn, mtu_of(gen));
}

/* ---- ours: requests ---- */

static void poll_cq(struct fuzz_user *u, struct flow *f)
{
	struct ibv_wc wc[16];
	int i, count = ibv_poll_cq(u->flow_cq, 16, wc);

	for (i = 0; i < count; i++) {
		f->completed++;
		f->failed |= wc[i].status != IBV_WC_SUCCESS;
	}
}

static bool all_completed(struct fuzz_user *u, struct flow *f)
{
	long end = topo_now_ms() + COMPLETE_MS;

	while (f->completed < f->posted && topo_now_ms() < end) {
		poll_cq(u, f);
		fuzz_flow_serve(u);
		sched_yield();
	}
	return f->completed == f->posted;
}

static int post(struct fuzz_user *u, struct flow *f, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int ret;

	wr->send_flags |= IBV_SEND_SIGNALED;
	ret = ibv_post_send(f->qp, wr, &bad);
	if (ret)
		return ret;
	f->posted++;
	u->told->posts++;
	return 0;
}

static int ask(struct fuzz_user *u, struct flow *f)
{
	uint32_t length = fuzz_chance(u, 3) ? FUZZ_SLOT :
			  1 + fuzz_random(u, FUZZ_SLOT);
	struct ibv_sge sge = {
		(uintptr_t)u->slot[f->at].at, length, f->mr->lkey
	};
	struct ibv_send_wr wr = {
		.opcode = f->opcode, .sg_list = &sge, .num_sge = 1,
		.wr.rdma = { u->peer->ack_key.va, u->peer->ack_key.rkey },
	};

	return post(u, f, &wr);
}

/* Until one fails, or time is up. */
static void ask_on(struct fuzz_user *u, struct flow *f)
{
	long end = topo_now_ms() + fuzz_random(u, u->peer->attack ? ASK_MS :
							    ASK_MS / 20);
	int i, burst = fuzz_chance(u, 2) ? 1 : 1 + fuzz_random(u, MOST_POSTS);

	do {
		for (i = 0; i < burst && !ask(u, f); i++)
			;
	} while (all_completed(u, f) && !f->failed && !u->told->stop &&
		 topo_now_ms() < end);
	/* The end may come in the midst of it, too. */
	if (!f->failed && fuzz_chance(u, 2))
		ask(u, f);
}

static int bind_window(struct fuzz_user *u, struct flow *f)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {
			.mw = f->mw,
			.rkey = ibv_inc_rkey(f->mw->rkey),
			.bind_info = {
				f->mr, (uintptr_t)u->slot[f->at].at, FUZZ_SLOT,
				ALL_REMOTE & ~IBV_ACCESS_LOCAL_WRITE
			},
		},
	};
	int ret = post(u, f, &wr);

	if (ret || !all_completed(u, f) || f->failed)
		return ret ?: EIO;
	f->mw->rkey = wr.bind_mw.rkey;
	return 0;
}

static void be_asked(struct fuzz_user *u, struct flow *f)
{
	long end = topo_now_ms() + 1 + fuzz_random(u, 60);

	if (f->kind == FLOW_WINDOW && bind_window(u, f))
		return;
	u->told->flow_key.va = (uintptr_t)u->slot[f->at].at;
	u->told->flow_key.rkey = f->mw ? f->mw->rkey : f->mr->rkey;
	while (topo_now_ms() < end) {
		fuzz_flow_serve(u);
		sched_yield();
	}
}

/* ---- ours: endings; each returns 0 when the device said that it is over ---- */

static int by_destroy_qp(struct fuzz_user *u, struct flow *f)
{
	return drop_qp(u, f);
}

static int by_dereg(struct fuzz_user *u, struct flow *f)
{
	int ret;

	/* A window that is bound keeps its region. */
	if (f->mw) {
		ret = ibv_dealloc_mw(f->mw);
		if (ret)
			return ret;
		f->mw = NULL;
	}
	ret = ibv_dereg_mr(f->mr);
	if (!ret)
		f->mr = NULL;
	return ret;
}

static int by_state(struct flow *f, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(f->qp, &attr, IBV_QP_STATE);
}

static int by_reset(struct fuzz_user *u, struct flow *f)
{
	return by_state(f, IBV_QPS_RESET);
}

static int by_error(struct fuzz_user *u, struct flow *f)
{
	int ret = by_state(f, IBV_QPS_ERR);

	return ret ?: all_completed(u, f) ? 0 : ETIMEDOUT;
}

static int by_completion(struct fuzz_user *u, struct flow *f)
{
	/* What the peer asks for does not end with what we asked for. */
	if (f->kind != FLOW_ASK)
		return by_destroy_qp(u, f);
	return all_completed(u, f) ? 0 : ETIMEDOUT;
}

/* The region goes to another slot, and comes to its end there, too. */
static int by_rereg(struct fuzz_user *u, struct flow *f)
{
	struct ib_uverbs_rereg_mr_resp resp;
	int ret, next = f->at + 1 < FUZZ_SLOTS ? f->at + 1 : FUZZ_FLOW_SLOT;
	struct ib_uverbs_rereg_mr cmd = {
		.mr_handle = f->mr->handle,
		.flags = IBV_REREG_MR_CHANGE_TRANSLATION,
		.start = (uintptr_t)u->slot[next].at,
		.hca_va = (uintptr_t)u->slot[next].at,
		.length = FUZZ_SLOT,
	};

	if (f->mw)
		return by_dereg(u, f);
	fuzz_open_slot(u, next);
	ret = uverbs_write(u->set.ctx->cmd_fd, IB_USER_VERBS_CMD_REREG_MR,
			   &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (!ret)
		fuzz_hide_slot(u, f->at);
	by_dereg(u, f);
	if (f->mr)
		return EBUSY;
	fuzz_hide_slot(u, next);
	return 0;
}

static int by_invalidation(struct fuzz_user *u, struct flow *f)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV };

	if (!f->mw || f->failed)
		return by_dereg(u, f);
	wr.invalidate_rkey = f->mw->rkey;
	/* Flushed, it did nothing. */
	if (post(u, f, &wr) || !all_completed(u, f) || f->failed)
		return by_dereg(u, f);
	return 0;
}

static const struct {
	const char *name;
	int (*end)(struct fuzz_user *u, struct flow *f);
} endings[] = {
	{ "flow ended by destroying the QP", by_destroy_qp },
	{ "flow ended by deregistering", by_dereg },
	{ "flow ended by RESET", by_reset },
	{ "flow ended by ERR and flush", by_error },
	{ "flow ended by completions", by_completion },
	{ "flow ended by re-registering", by_rereg },
	{ "flow ended by invalidation", by_invalidation },
};

/* The rest of it. What does not go is a finding. */
static void clear_up(struct fuzz_user *u, struct flow *f)
{
	struct ibv_wc wc[16];
	int ret = 0;

	u->told->flow_key.rkey = 0;
	if (f->qp)
		ret = drop_qp(u, f);
	if (!ret && f->mw)
		ret = ibv_dealloc_mw(f->mw);
	if (!ret && f->mr)
		ret = ibv_dereg_mr(f->mr);
	if (ret && fuzz_lost_device(u))
		_exit(FUZZ_DONE);
	if (ret)
		fuzz_fail(u, "user %d: what a flow made does not go: %d",
			  u->id, ret);
	if (u->slot[f->at].is_open)
		fuzz_hide_slot(u, f->at);
	while (ibv_poll_cq(u->flow_cq, 16, wc) > 0)
		;
}

void fuzz_flow(struct fuzz_user *u)
{
	static const enum ibv_wr_opcode asked[] = {
		IBV_WR_SEND, IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	static uint32_t number;
	uint32_t ending = fuzz_random(u, sizeof(endings) / sizeof(*endings));
	struct flow f = {
		.kind = fuzz_chance(u, 3) ? fuzz_random(u, FLOW_KINDS) :
			FLOW_ASK,
		.at = FUZZ_FLOW_SLOT +
		      number++ % (FUZZ_SLOTS - FUZZ_FLOW_SLOT),
		.type = fuzz_chance(u, 5) ? IBV_QPT_UC : IBV_QPT_RC,
		.opcode = asked[fuzz_random(u, 4)],
	};
	int ret;

	if (f.type == IBV_QPT_UC && f.opcode == IBV_WR_RDMA_READ)
		f.opcode = IBV_WR_SEND;
	fuzz_begin(u, "flow begun");
	fuzz_open_slot(u, f.at);
	ret = make_region(u, &f) ?: make_qp(u, &f);
	ret = ret ?: meet(u, &f);
	fuzz_end(u, f.kind, ret);
	if (!ret) {
		fuzz_begin(u, "flow");
		if (f.kind == FLOW_ASK)
			ask_on(u, &f);
		else
			be_asked(u, &f);
		fuzz_end(u, f.opcode, f.failed);
		fuzz_begin(u, endings[ending].name);
		ret = endings[ending].end(u, &f);
		/* From here on: nobody's business. */
		if (!ret && u->slot[f.at].is_open)
			fuzz_hide_slot(u, f.at);
		fuzz_end(u, u->slot[f.at].epoch, ret);
		u->told->flows++;
		u->told->broken += f.failed;
	}
	fuzz_begin(u, "flow cleared up");
	clear_up(u, &f);
	fuzz_end(u, f.at, 0);
	/* What is on its way yet may take its time, and the next one ends it. */
	if (f.failed && u->peer->attack)
		u->pause_ms = topo_now_ms() + fuzz_random(u, PAUSE_MS);
}
