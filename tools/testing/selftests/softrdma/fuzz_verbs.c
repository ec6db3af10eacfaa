// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Every verb, at random, with right and wrong arguments. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz_user.h"
#include "topo.h"

#define DEPTH	16
#define PIECES	4

/* What an operation returns that had nothing to work on. */
#define NOTHING		-1

#define SOME_QP(u)	((u)->qp[fuzz_random(u, FUZZ_QPS)])

/* ---- arguments ---- */

static struct fuzz_slot *any_slot(struct fuzz_user *u)
{
	return &u->slot[FUZZ_ANY_SLOT +
			fuzz_random(u, FUZZ_FLOW_SLOT - FUZZ_ANY_SLOT)];
}

static const struct fuzz_key *any_told(struct fuzz_user *u)
{
	switch (fuzz_random(u, 8)) {
	case 0:
		return &u->shared->third_key;
	case 1:
		return &u->peer->flow_key;
	case 2:
		return &u->told->key[fuzz_random(u, FUZZ_KEYS)];
	default:
		return &u->peer->key[fuzz_random(u, FUZZ_KEYS)];
	}
}

/* What both have is of use to them. */
static enum ibv_mtu any_mtu(struct fuzz_user *u)
{
	return fuzz_chance(u, 8) ? IBV_MTU_256 + fuzz_random(u, 5) :
	       IBV_MTU_1024;
}

static uint32_t any_length(struct fuzz_user *u)
{
	switch (fuzz_random(u, 16)) {
	case 0:
		return twin_random(&u->random);
	case 1:
		return 0x7fffffffu + fuzz_random(u, 3);
	case 2:
		return FUZZ_SLOT + fuzz_random(u, 64);
	case 3:
		return 0;
	case 4:
		return FUZZ_SLOT;
	default:
		return 1 + fuzz_random(u, 8192);
	}
}

/* Addresses at which nothing of ours may be read or written by anybody. */
static uint64_t wrong_address(struct fuzz_user *u)
{
	switch (fuzz_random(u, 5)) {
	case 0:
		return ~0ull - fuzz_random(u, 4096);
	case 1:
		return 0xffff888000000000ull + twin_random(&u->random);
	case 2:
		return (uintptr_t)u->slot[fuzz_random(u, FUZZ_SLOTS)].at +
		       FUZZ_SLOT;
	case 3:
		return u->peer->flow_key.va;
	default:
		return u->shared->third_key.va;
	}
}

static void any_sge(struct fuzz_user *u, struct ibv_sge *sge)
{
	struct fuzz_slot *slot = any_slot(u);

	sge->length = any_length(u);
	sge->lkey = slot->mr ? slot->mr->lkey : twin_random(&u->random);
	sge->addr = (uintptr_t)slot->at + fuzz_random(u, FUZZ_SLOT / 2);
	if (fuzz_chance(u, 12))
		sge->lkey = any_told(u)->rkey;
	if (fuzz_chance(u, 12))
		sge->lkey ^= 1u << fuzz_random(u, 32);
	if (fuzz_chance(u, 12))
		sge->addr = wrong_address(u);
}

static void any_remote(struct fuzz_user *u, uint64_t *va, uint32_t *rkey)
{
	const struct fuzz_key *key = any_told(u);

	*va = key->va + fuzz_random(u, FUZZ_SLOT / 2) / 8 * 8;
	*rkey = key->rkey;
	if (fuzz_chance(u, 12))
		*rkey ^= 1u << fuzz_random(u, 32);
	if (fuzz_chance(u, 12))
		*va = wrong_address(u);
}

static void tell_key(struct fuzz_user *u, const void *va, uint32_t rkey)
{
	struct fuzz_key *key = &u->told->key[u->told->keys++ % FUZZ_KEYS];

	key->va = (uintptr_t)va;
	key->rkey = rkey;
}

/* ---- memory ---- */

static int do_reg(struct fuzz_user *u)
{
	struct fuzz_slot *slot = any_slot(u);
	int access = IBV_ACCESS_MW_BIND | fuzz_random(u, 16);

	if (slot->mr)
		return NOTHING;
	fuzz_open_slot(u, slot - u->slot);
	slot->mr = ibv_reg_mr(u->set.pd, slot->at, FUZZ_SLOT, access);
	if (!slot->mr) {
		fuzz_hide_slot(u, slot - u->slot);
		return errno;
	}
	tell_key(u, slot->at, slot->mr->rkey);
	return 0;
}

/* Told that it is over, we use the memory for something else. */
static int do_dereg(struct fuzz_user *u)
{
	struct fuzz_slot *slot = any_slot(u);
	int ret;

	if (!slot->mr)
		return NOTHING;
	ret = ibv_dereg_mr(slot->mr);
	if (ret)
		return ret;
	slot->mr = NULL;
	fuzz_hide_slot(u, slot - u->slot);
	return 0;
}

static int do_reg_nonsense(struct fuzz_user *u)
{
	size_t length = (size_t)any_length(u) << fuzz_random(u, 33);
	uint64_t va = fuzz_chance(u, 2) ? 0xffff888000000000ull : 0;
	struct ibv_mr *mr;

	/* Of ours there is nothing that anybody would be let in to. */
	va -= fuzz_random(u, 3) * 4096 + fuzz_random(u, 2);
	mr = ibv_reg_mr(u->set.pd, (void *)va, length, fuzz_random(u, 1 << 20));
	return mr ? ibv_dereg_mr(mr) : errno;
}

static int do_mw(struct fuzz_user *u)
{
	struct ibv_mw **mw = &u->mw[fuzz_random(u, 3)];
	int ret;

	if (!*mw) {
		*mw = ibv_alloc_mw(u->set.pd, fuzz_chance(u, 2) ?
				   IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
		return *mw ? 0 : errno;
	}
	ret = ibv_dealloc_mw(*mw);
	if (!ret)
		*mw = NULL;
	return ret;
}

static void any_bind(struct fuzz_user *u, struct ibv_mw_bind_info *info)
{
	struct fuzz_slot *slot = any_slot(u);

	info->mr = slot->mr;
	info->addr = (uintptr_t)slot->at + fuzz_random(u, FUZZ_SLOT / 2);
	info->length = fuzz_chance(u, 8) ? any_length(u) :
		       fuzz_random(u, FUZZ_SLOT / 2);
	info->mw_access_flags = fuzz_chance(u, 8) ?
				fuzz_random(u, 256) :
				fuzz_random(u, 8) << 1;
}

static int do_bind_type_1(struct fuzz_user *u)
{
	struct ibv_mw *mw = u->mw[fuzz_random(u, 3)];
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED };
	struct ibv_qp *qp = SOME_QP(u);
	int ret;

	any_bind(u, &bind.bind_info);
	if (!mw || !qp || mw->type != IBV_MW_TYPE_1 || !bind.bind_info.mr)
		return NOTHING;
	ret = ibv_bind_mw(qp, mw, &bind);
	if (!ret)
		tell_key(u, (void *)(uintptr_t)bind.bind_info.addr, mw->rkey);
	return ret;
}

/* ---- queues ---- */

static int do_qp_make(struct fuzz_user *u)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
	};
	int at = fuzz_random(u, FUZZ_QPS);
	struct ibv_qp_init_attr init = {
		.send_cq = fuzz_chance(u, 2) ? u->cq[0] : u->cq[1],
		.recv_cq = fuzz_chance(u, 2) ? u->cq[0] : u->cq[1],
		.srq = fuzz_chance(u, 3) ? u->srq : NULL,
		.cap = { DEPTH, DEPTH, PIECES, PIECES, fuzz_random(u, 256) },
		.qp_type = types[fuzz_random(u, 4)],
		.sq_sig_all = fuzz_random(u, 2),
	};

	if (u->qp[at] || !init.send_cq || !init.recv_cq)
		return NOTHING;
	if (fuzz_chance(u, 16))
		init.cap.max_send_wr = any_length(u);
	u->qp[at] = fuzz_make_qp(u, at, &init);
	if (!u->qp[at])
		return errno;
	u->told->qpn[at] = u->qp[at]->qp_num;
	u->joined[at] = false;
	return fuzz_connect(u, u->qp[at], u->peer->qpn[at], any_mtu(u));
}

static int do_qp_drop(struct fuzz_user *u)
{
	int ret, at = fuzz_random(u, FUZZ_QPS);

	if (!u->qp[at])
		return NOTHING;
	ret = fuzz_drop_qp(u, at, u->qp[at]);
	if (ret)
		return ret;
	u->qp[at] = NULL;
	u->told->qpn[at] = 0;
	return 0;
}

static int do_qp_connect(struct fuzz_user *u)
{
	int at = fuzz_random(u, FUZZ_QPS);

	if (!u->qp[at])
		return NOTHING;
	return fuzz_connect(u, u->qp[at], u->peer->qpn[at], any_mtu(u));
}

static int do_qp_modify(struct fuzz_user *u)
{
	struct ibv_qp *qp = SOME_QP(u);
	struct ibv_qp_attr attr;
	int mask;

	if (!qp)
		return NOTHING;
	verbs_attr(&u->set, &attr, fuzz_random(u, 8), u->peer->qpn[0]);
	attr.ah_attr.grh.dgid = u->peer_gid;
	attr.cur_qp_state = fuzz_random(u, 7);
	attr.timeout = 8 + fuzz_random(u, 4);
	attr.path_mtu = fuzz_random(u, 8);
	attr.en_sqd_async_notify = fuzz_random(u, 2);
	mask = fuzz_chance(u, 2) ? IBV_QP_STATE :
	       verbs_mask(qp->qp_type, fuzz_random(u, 7), attr.qp_state);
	if (fuzz_chance(u, 4))
		mask |= 1 << fuzz_random(u, 26);
	return ibv_modify_qp(qp, &attr, mask);
}

static int do_qp_query(struct fuzz_user *u)
{
	struct ibv_qp *qp = SOME_QP(u);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (!qp)
		return NOTHING;
	return ibv_query_qp(qp, &attr, fuzz_random(u, 1 << 21), &init);
}

static int join_or_leave(struct fuzz_user *u, int at)
{
	union ibv_gid group = { .raw = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 77, 0, 1,
	} };
	int ret;

	ret = u->joined[at] ? ibv_detach_mcast(u->qp[at], &group, 0) :
			      ibv_attach_mcast(u->qp[at], &group, 0);
	if (!ret)
		u->joined[at] = !u->joined[at];
	return ret;
}

static int do_mcast(struct fuzz_user *u)
{
	int at = fuzz_random(u, FUZZ_QPS);

	return u->qp[at] ? join_or_leave(u, at) : NOTHING;
}

static int do_cq(struct fuzz_user *u)
{
	int ret = 0, at = fuzz_random(u, 2);

	fuzz_rings_lock(u);
	if (!u->cq[at]) {
		u->cq[at] = ibv_create_cq(u->set.ctx, 1 + fuzz_random(u, 200),
					  NULL, at ? u->channel : NULL, 0);
		ret = u->cq[at] ? 0 : errno;
	} else if (fuzz_chance(u, 2)) {
		ret = ibv_resize_cq(u->cq[at], fuzz_chance(u, 8) ?
				    any_length(u) : 1 + fuzz_random(u, 400));
	} else {
		/* Busy, mostly. */
		ret = ibv_destroy_cq(u->cq[at]);
		if (!ret)
			u->cq[at] = NULL;
	}
	fuzz_rings_unlock(u);
	return ret;
}

static int do_poll(struct fuzz_user *u)
{
	struct ibv_cq *cq = u->cq[fuzz_random(u, 2)];
	struct ibv_async_event event;
	struct ibv_wc wc[16];
	void *context;
	int i;

	/* An index that an imp wrote may promise more, again and again. */
	for (i = 0; cq && i < 8 && ibv_poll_cq(cq, 16, wc) > 0; i++)
		;
	for (i = 0; i < 8 && ibv_poll_cq(u->set.cq, 16, wc) > 0; i++)
		;
	if (cq)
		ibv_req_notify_cq(cq, fuzz_random(u, 2));
	while (u->channel && !ibv_get_cq_event(u->channel, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	while (!ibv_get_async_event(u->set.ctx, &event))
		ibv_ack_async_event(&event);
	return 0;
}

static int do_srq(struct fuzz_user *u)
{
	struct ibv_srq_init_attr init = { .attr = { DEPTH, PIECES, 0 } };
	struct ibv_srq_attr attr = {
		.max_wr = 1 + fuzz_random(u, 64),
		.srq_limit = fuzz_random(u, 20),
	};
	int ret;

	fuzz_rings_lock(u);
	if (!u->srq) {
		u->srq = ibv_create_srq(u->set.pd, &init);
		ret = u->srq ? 0 : errno;
	} else if (fuzz_chance(u, 2)) {
		ret = ibv_modify_srq(u->srq, &attr, 1 << fuzz_random(u, 2));
	} else if (fuzz_chance(u, 2)) {
		ret = ibv_query_srq(u->srq, &attr);
	} else {
		ret = ibv_destroy_srq(u->srq);
		if (!ret)
			u->srq = NULL;
	}
	fuzz_rings_unlock(u);
	return ret;
}

static int do_ah(struct fuzz_user *u)
{
	struct ibv_ah **ah = &u->ah[fuzz_random(u, 2)];
	struct ibv_qp_attr attr;
	int ret;

	if (*ah) {
		ret = ibv_destroy_ah(*ah);
		if (!ret)
			*ah = NULL;
		return ret;
	}
	verbs_attr(&u->set, &attr, IBV_QPS_RTR, 0);
	attr.ah_attr.grh.dgid = u->peer_gid;
	if (fuzz_chance(u, 8))
		attr.ah_attr.grh.sgid_index = fuzz_random(u, 256);
	*ah = ibv_create_ah(u->set.pd, &attr.ah_attr);
	return *ah ? 0 : errno;
}

static int do_query(struct fuzz_user *u)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	union ibv_gid gid;
	uint16_t pkey;
	struct ibv_pd *pd = ibv_alloc_pd(u->set.ctx);

	ibv_query_device(u->set.ctx, &device);
	ibv_query_port(u->set.ctx, fuzz_random(u, 3), &port);
	ibv_query_gid(u->set.ctx, VERBS_PORT, fuzz_random(u, 20), &gid);
	ibv_query_pkey(u->set.ctx, VERBS_PORT, fuzz_random(u, 3), &pkey);
	return pd ? ibv_dealloc_pd(pd) : errno;
}

/* ---- requests ---- */

static int do_recv(struct fuzz_user *u)
{
	struct ibv_sge sge[PIECES];
	struct ibv_recv_wr *bad, wr = {
		.sg_list = sge, .num_sge = fuzz_random(u, PIECES + 1),
	};
	struct ibv_qp *qp = SOME_QP(u);
	int i;

	for (i = 0; i < wr.num_sge; i++)
		any_sge(u, &sge[i]);
	if (qp && !qp->srq)
		return ibv_post_recv(qp, &wr, &bad);
	return u->srq ? ibv_post_srq_recv(u->srq, &wr, &bad) : NOTHING;
}

static void fill_ud(struct fuzz_user *u, struct ibv_send_wr *wr)
{
	wr->wr.ud.ah = u->ah[0] ? u->ah[0] : u->ah[1];
	wr->wr.ud.remote_qkey = VERBS_QKEY + !fuzz_random(u, 16);
	wr->wr.ud.remote_qpn = fuzz_chance(u, 8) ? 0xffffff :
			       u->peer->qpn[fuzz_random(u, FUZZ_QPS)];
}

static bool fill_mw(struct fuzz_user *u, struct ibv_send_wr *wr)
{
	struct ibv_mw *mw = u->mw[fuzz_random(u, 3)];

	any_bind(u, &wr->bind_mw.bind_info);
	if (!mw || !wr->bind_mw.bind_info.mr)
		return false;
	wr->bind_mw.mw = mw;
	wr->bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	return true;
}

static bool fill_send(struct fuzz_user *u, struct ibv_qp *qp,
		      struct ibv_send_wr *wr)
{
	struct ibv_mw *mw = u->mw[fuzz_random(u, 3)];
	uint64_t va;
	uint32_t rkey;

	any_remote(u, &va, &rkey);
	switch ((int)wr->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
		wr->wr.rdma.remote_addr = va;
		wr->wr.rdma.rkey = rkey;
		return true;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr->wr.atomic.remote_addr = va;
		wr->wr.atomic.rkey = rkey;
		wr->wr.atomic.compare_add = 1;
		wr->sg_list->length = 8;
		wr->num_sge = 1;
		return true;
	case IBV_WR_BIND_MW:
		return fill_mw(u, wr);
	case IBV_WR_LOCAL_INV:
		wr->invalidate_rkey = mw && fuzz_chance(u, 2) ? mw->rkey : rkey;
		return true;
	case IBV_WR_SEND_WITH_INV:
		wr->invalidate_rkey = rkey;
		return true;
	default:
		if (qp->qp_type == IBV_QPT_UD)
			fill_ud(u, wr);
		return qp->qp_type != IBV_QPT_UD || wr->wr.ud.ah;
	}
}

static int do_send(struct fuzz_user *u)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND, IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_BIND_MW, IBV_WR_LOCAL_INV, IBV_WR_SEND_WITH_INV,
	};
	struct ibv_qp *qp = SOME_QP(u);
	struct ibv_sge sge[PIECES];
	struct ibv_send_wr *bad, wr = {
		.sg_list = sge,
		.num_sge = 1 + fuzz_random(u, PIECES),
		.send_flags = fuzz_random(u, 8),
	};
	int i;

	if (!qp)
		return NOTHING;
	wr.opcode = opcodes[qp->qp_type == IBV_QPT_UD ? fuzz_random(u, 3) :
			    fuzz_random(u, sizeof(opcodes) / 4)];
	for (i = 0; i < wr.num_sge; i++)
		any_sge(u, &sge[i]);
	if (!fill_send(u, qp, &wr))
		return NOTHING;
	u->told->posts++;
	return ibv_post_send(qp, &wr, &bad);
}

/* ---- all of it ---- */

static const struct {
	const char *name;
	int weight;
	int (*run)(struct fuzz_user *u);
} verbs[] = {
	{ "post send", 40, do_send },
	{ "post receive", 24, do_recv },
	{ "poll and arm", 10, do_poll },
	{ "register", 6, do_reg },
	{ "deregister", 3, do_dereg },
	{ "register nonsense", 1, do_reg_nonsense },
	{ "window", 3, do_mw },
	{ "bind type 1", 3, do_bind_type_1 },
	{ "make QP", 4, do_qp_make },
	{ "destroy QP", 2, do_qp_drop },
	{ "connect QP", 8, do_qp_connect },
	{ "modify QP", 4, do_qp_modify },
	{ "query QP", 2, do_qp_query },
	{ "multicast", 2, do_mcast },
	{ "CQ", 3, do_cq },
	{ "SRQ", 3, do_srq },
	{ "address handle", 2, do_ah },
	{ "query", 1, do_query },
};

#define VERBS (sizeof(verbs) / sizeof(*verbs))

static int any_verb(struct fuzz_user *u)
{
	int total = 0, pick, i;

	for (i = 0; i < VERBS; i++)
		total += verbs[i].weight;
	pick = fuzz_random(u, total);
	for (i = 0; pick >= verbs[i].weight; i++)
		pick -= verbs[i].weight;
	return i;
}

void fuzz_verbs_any(struct fuzz_user *u)
{
	int i, ret;

	do {
		i = any_verb(u);
		fuzz_begin(u, verbs[i].name);
		ret = verbs[i].run(u);
	} while (ret == NOTHING);
	fuzz_end(u, u->epoch, ret);
}

int fuzz_verbs_init(struct fuzz_user *u)
{
	int i;

	for (i = 0; i <= FUZZ_QPS; i++)
		u->handle[i] = ~0u;
	for (i = 0; i < FUZZ_QPS; i++)
		u->told->qpn[i] = 0;
	u->set.pd = ibv_alloc_pd(u->set.ctx);
	u->flow_pd = ibv_alloc_pd(u->set.ctx);
	fuzz_rings_lock(u);
	u->flow_cq = ibv_create_cq(u->set.ctx, 64, NULL, NULL, 0);
	fuzz_rings_spare(u);
	u->set.cq = ibv_create_cq(u->set.ctx, 256, NULL, NULL, 0);
	fuzz_rings_unlock(u);
	u->channel = ibv_create_comp_channel(u->set.ctx);
	if (!u->set.pd || !u->flow_pd || !u->set.cq || !u->flow_cq ||
	    !u->channel)
		return ENOMEM;
	fcntl(u->channel->fd, F_SETFL, O_NONBLOCK);
	for (i = 0; i < FUZZ_ANY_SLOT; i++) {
		fuzz_open_slot(u, i);
		u->slot[i].mr = ibv_reg_mr(u->set.pd, u->slot[i].at, FUZZ_SLOT,
					   IBV_ACCESS_LOCAL_WRITE |
					   IBV_ACCESS_REMOTE_READ |
					   IBV_ACCESS_REMOTE_WRITE);
		if (!u->slot[i].mr)
			return ENOMEM;
	}
	for (i = 0; i < FUZZ_FLOW_SLOT; i++) {
		do_reg(u);
		do_cq(u);
		do_qp_make(u);
	}
	return 0;
}

/* With the device gone, the kernel has let go of everything. */
static void must_go(struct fuzz_user *u, const char *what, int number, int ret)
{
	if (ret && fuzz_lost_device(u))
		_exit(FUZZ_DONE);
	if (ret)
		fuzz_fail(u, "user %d: %s %d does not go: %d", u->id, what,
			  number, ret);
}

static void close_qp(struct fuzz_user *u, int i)
{
	if (u->joined[i])
		must_go(u, "the membership of QP", i, join_or_leave(u, i));
	must_go(u, "QP", i, fuzz_drop_qp(u, i, u->qp[i]));
}

/* In an order in which nothing is in use. */
void fuzz_verbs_close(struct fuzz_user *u)
{
	int i;

	fuzz_begin(u, "close");
	if (u->ack_qp)
		must_go(u, "QP", FUZZ_QPS, fuzz_drop_qp(u, FUZZ_QPS, u->ack_qp));
	for (i = 0; i < FUZZ_QPS; i++)
		if (u->qp[i])
			close_qp(u, i);
	for (i = 0; i < 3; i++)
		if (u->mw[i])
			must_go(u, "window", i, ibv_dealloc_mw(u->mw[i]));
	for (i = 0; i < FUZZ_FLOW_SLOT; i++) {
		if (!u->slot[i].mr)
			continue;
		must_go(u, "region", i, ibv_dereg_mr(u->slot[i].mr));
		u->slot[i].mr = NULL;
		fuzz_hide_slot(u, i);
	}
	fuzz_end(u, 0, 0);
}
