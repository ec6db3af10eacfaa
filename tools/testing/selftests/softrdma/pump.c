// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pump.h"
#include "topo.h"

#define STUCK_MS	20000
#define CANARY		0xc5
#define INLINE_MAX	64
#define PIECES		3

/* Strides of one side's memory that a flow uses. */
#define FLOW_STRIDES	(2 * PUMP_SLOTS + PUMP_RECVS)

/* wr_id: flow, then whether it is a receive, then its number. */
#define ID_RECV		(1ull << 31)

static uint8_t pool[8192 + PUMP_STRIDE];
static uint8_t canary[PUMP_STRIDE];

static const uint8_t *pattern(uint32_t seed)
{
	return pool + (seed * 2654435761u >> 19);
}

static void fill_pools(void)
{
	uint32_t state = 0x2545f491, i;

	for (i = 0; i < sizeof(pool); i++)
		pool[i] = twin_random(&state);
	memset(canary, CANARY, sizeof(canary));
}

static bool __attribute__((format(printf, 2, 3)))
fail(struct pump *p, const char *fmt, ...)
{
	va_list args;

	if (!p->failed[0]) {
		va_start(args, fmt);
		vsnprintf(p->failed, sizeof(p->failed), fmt, args);
		va_end(args);
	}
	return false;
}

/* ---- receives ---- */

static bool post_recvs(struct pump *p, struct pump_flow *f)
{
	struct ibv_recv_wr *bad;

	while (f->recv_head - f->expect_tail < PUMP_RECVS) {
		uint8_t *in = f->in + f->recv_head % PUMP_RECVS * PUMP_STRIDE;
		struct ibv_sge sge = {
			(uintptr_t)in, PUMP_MAX_LEN, f->far_key
		};
		struct ibv_recv_wr wr = {
			.wr_id = (uint64_t)(f - p->flow) << 32 | ID_RECV |
				 (f->recv_head & (ID_RECV - 1)),
			.sg_list = &sge,
			.num_sge = 1,
		};

		memcpy(in, canary, PUMP_STRIDE);
		if (ibv_post_recv(f->peer, &wr, &bad))
			return fail(p, "ibv_post_recv");
		f->recv_head++;
	}
	return true;
}

static bool check_bytes(struct pump *p, const char *what, const uint8_t *at,
			uint32_t seed, uint32_t len)
{
	if (memcmp(at, pattern(seed), len))
		return fail(p, "%s of %u: wrong bytes", what, len);
	if (memcmp(at + len, canary, PUMP_STRIDE - len))
		return fail(p, "%s of %u: bytes behind it were changed", what,
			    len);
	return true;
}

static bool check_recv(struct pump *p, struct pump_flow *f,
		       const struct ibv_wc *wc)
{
	uint32_t number = f->expect_tail & (ID_RECV - 1);
	struct pump_expect *e = &f->expects[f->expect_tail % PUMP_EXPECTS];
	uint8_t *in = f->in + f->expect_tail % PUMP_RECVS * PUMP_STRIDE;

	if (f->expect_tail == f->expect_head)
		return fail(p, "a message that nobody has sent");
	if ((wc->wr_id & (ID_RECV - 1)) != number)
		return fail(p, "receive %u completed in place of %u",
			    (uint32_t)(wc->wr_id & (ID_RECV - 1)), number);
	if (wc->byte_len != e->len)
		return fail(p, "received %u bytes of %u", wc->byte_len, e->len);
	if (!!(wc->wc_flags & IBV_WC_WITH_IMM) != e->has_imm ||
	    (e->has_imm && ntohl(wc->imm_data) != e->seed))
		return fail(p, "immediate data");
	f->expect_tail++;
	return check_bytes(p, e->is_write ? "receive of a write" : "message",
			   in, e->seed, e->is_write ? 0 : e->len);
}

/* ---- requests ---- */

static uint32_t pick_len(struct pump *p)
{
	uint32_t mtus = PUMP_MAX_LEN / p->mtu;
	uint32_t len;

	switch (twin_random(&p->random) % 8) {
	case 0:
		return twin_random(&p->random) % 3;
	case 1:
	case 2:
		return twin_random(&p->random) % INLINE_MAX;
	case 3:
		return twin_random(&p->random) % PUMP_MAX_LEN;
	}
	mtus = mtus > 8 && twin_random(&p->random) % 4 ? 8 : mtus;
	len = (1 + twin_random(&p->random) % mtus) * p->mtu;
	len += twin_random(&p->random) % 5 - 2;
	return len < PUMP_MAX_LEN ? len : PUMP_MAX_LEN;
}

/* Cuts @len bytes into pieces; returns how many. */
static int cut(struct pump *p, struct ibv_sge sge[PIECES], uint8_t *at,
	       uint32_t len, uint32_t key)
{
	int n = 1 + twin_random(&p->random) % PIECES, i;

	for (i = 0; i < n; i++) {
		uint32_t part = i == n - 1 ? len :
				twin_random(&p->random) % (len + 1);

		sge[i] = (struct ibv_sge) { (uintptr_t)at, part, key };
		at += part;
		len -= part;
	}
	return n;
}

static void prepare_atomic(struct pump *p, struct pump_op *op,
			   struct ibv_send_wr *wr, uint8_t *far)
{
	uint64_t word = (uint64_t)twin_random(&p->random) << 32 | op->seed;
	uint64_t operand = (uint64_t)op->seed << 17 | 1;

	op->len = 8;
	op->orig = word;
	memcpy(far, &word, 8);
	if (op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.compare_add = operand;
		op->after = word + operand;
	} else if (op->seed & 1) {
		wr->wr.atomic.compare_add = word;
		wr->wr.atomic.swap = operand;
		op->after = operand;
	} else {
		wr->wr.atomic.compare_add = word + 1;
		wr->wr.atomic.swap = operand;
		op->after = word;
	}
}

static void expect(struct pump_flow *f, const struct pump_op *op)
{
	f->expects[f->expect_head++ % PUMP_EXPECTS] = (struct pump_expect) {
		.seed = op->seed,
		.len = op->len,
		.has_imm = op->opcode != IBV_WR_SEND,
		.is_write = op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM,
	};
}

/* Fills in the memory of both sides, and the request. */
static void prepare(struct pump *p, struct pump_flow *f, struct pump_op *op,
		    struct ibv_send_wr *wr, uint8_t *near, uint8_t *far)
{
	memcpy(near, canary, PUMP_STRIDE);
	memcpy(far, canary, PUMP_STRIDE);
	wr->wr.rdma.remote_addr = (uintptr_t)far;
	wr->wr.rdma.rkey = f->far_key;
	wr->imm_data = htonl(op->seed);
	switch (op->opcode) {
	case IBV_WR_RDMA_READ:
		memcpy(far, pattern(op->seed), op->len);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr->wr.atomic.remote_addr = (uintptr_t)far;
		wr->wr.atomic.rkey = f->far_key;
		prepare_atomic(p, op, wr, far);
		break;
	default:
		memcpy(near, pattern(op->seed), op->len);
		if (op->len <= INLINE_MAX && (op->seed & 2))
			wr->send_flags |= IBV_SEND_INLINE;
	}
	if (op->opcode != IBV_WR_RDMA_WRITE && op->opcode != IBV_WR_RDMA_READ &&
	    op->opcode != IBV_WR_ATOMIC_CMP_AND_SWP &&
	    op->opcode != IBV_WR_ATOMIC_FETCH_AND_ADD)
		expect(f, op);
}

static enum ibv_wr_opcode pick_opcode(struct pump *p)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};

	return opcodes[twin_random(&p->random) %
		       (sizeof(opcodes) / sizeof(opcodes[0]))];
}

static bool post_one(struct pump *p, struct pump_flow *f, bool is_last)
{
	uint8_t *near = f->near + f->head % PUMP_SLOTS * PUMP_STRIDE;
	uint8_t *far = f->far + f->head % PUMP_SLOTS * PUMP_STRIDE;
	struct pump_op *op = &f->ops[f->head % PUMP_SLOTS];
	struct ibv_send_wr wr = {}, *bad;
	struct ibv_sge sge[PIECES];

	*op = (struct pump_op) {
		.opcode = pick_opcode(p),
		.seed = twin_random(&p->random),
		.len = pick_len(p),
		.is_signaled = is_last || twin_random(&p->random) % 4 ||
			       f->head - f->tail == PUMP_SLOTS - 1,
	};
	wr.wr_id = (uint64_t)(f - p->flow) << 32 | (f->head & (ID_RECV - 1));
	wr.opcode = op->opcode;
	wr.send_flags = op->is_signaled ? IBV_SEND_SIGNALED : 0;
	wr.send_flags |= twin_random(&p->random) % 8 ? 0 : IBV_SEND_FENCE;
	prepare(p, f, op, &wr, near, far);
	wr.sg_list = sge;
	wr.num_sge = cut(p, sge, near, op->len, f->near_key);
	f->head++;
	if (ibv_post_send(f->qp, &wr, &bad))
		return fail(p, "ibv_post_send");
	/* Inline data are out of the buffer by now. */
	if (wr.send_flags & IBV_SEND_INLINE)
		memcpy(near, canary, op->len);
	return true;
}

static bool check_atomic(struct pump *p, const struct pump_op *op,
			 const uint8_t *near, const uint8_t *far)
{
	uint64_t orig, after;

	memcpy(&orig, near, 8);
	memcpy(&after, far, 8);
	if (orig != op->orig)
		return fail(p, "atomic returned another value");
	if (after != op->after)
		return fail(p, "atomic not done, or done twice");
	return true;
}

static bool check_op(struct pump *p, struct pump_flow *f, uint32_t number)
{
	const uint8_t *near = f->near + number % PUMP_SLOTS * PUMP_STRIDE;
	const uint8_t *far = f->far + number % PUMP_SLOTS * PUMP_STRIDE;
	const struct pump_op *op = &f->ops[number % PUMP_SLOTS];

	p->done++;
	p->bytes += op->len;
	switch (op->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return check_bytes(p, "write", far, op->seed, op->len);
	case IBV_WR_RDMA_READ:
		return check_bytes(p, "read", near, op->seed, op->len);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return check_atomic(p, op, near, far);
	default:
		return true;
	}
}

static bool check_sent(struct pump *p, struct pump_flow *f,
		       const struct ibv_wc *wc)
{
	uint32_t last = wc->wr_id & (ID_RECV - 1);

	/* It tells of those before it that were not signaled, too. */
	for (;;) {
		uint32_t number = f->tail;
		bool is_it = (number & (ID_RECV - 1)) == last;

		if (number == f->head)
			return fail(p, "completion of no request");
		if (f->ops[number % PUMP_SLOTS].is_signaled != is_it)
			return fail(p, "request %u completed, %u did not",
				    last, number);
		if (!check_op(p, f, number))
			return false;
		f->tail++;
		if (is_it)
			return true;
	}
}

/* ---- running ---- */

/* Returns how many completions there were, or -1. */
static int poll_side(struct pump *p, int side)
{
	struct ibv_wc wc[16];
	int n = ibv_poll_cq(p->sets[side].cq, 16, wc), i;

	for (i = 0; i < n; i++) {
		struct pump_flow *f = &p->flow[wc[i].wr_id >> 32];
		bool ok;

		if (wc[i].status) {
			fail(p, "%s: %s, vendor %u",
			     wc[i].wr_id & ID_RECV ? "receive" : "request",
			     ibv_wc_status_str(wc[i].status), wc[i].vendor_err);
			return -1;
		}
		ok = wc[i].wr_id & ID_RECV ? check_recv(p, f, &wc[i]) :
					     check_sent(p, f, &wc[i]);
		if (!ok)
			return -1;
	}
	return n;
}

static bool is_idle(const struct pump *p)
{
	int i;

	for (i = 0; i < p->flows; i++) {
		const struct pump_flow *f = &p->flow[i];

		if (f->head != f->tail || f->expect_head != f->expect_tail)
			return false;
	}
	return true;
}

/* Receives are posted late at times, so that the sender is told to wait. */
static bool post(struct pump *p, bool is_on)
{
	int i;

	for (i = 0; i < p->flows; i++) {
		struct pump_flow *f = &p->flow[i];

		if ((!is_on || twin_random(&p->random) % 4) &&
		    !post_recvs(p, f))
			return false;
		while (is_on && f->head - f->tail < PUMP_SLOTS &&
		       f->expect_head - f->expect_tail < PUMP_EXPECTS / 2)
			if (!post_one(p, f, false))
				return false;
		/* What is not signaled shall not be the last. */
		if (!is_on && f->head != f->tail &&
		    f->head - f->tail < PUMP_SLOTS &&
		    !f->ops[(f->head - 1) % PUMP_SLOTS].is_signaled &&
		    !post_one(p, f, true))
			return false;
	}
	return true;
}

bool pump_run(struct pump *p, int run_ms)
{
	long start = topo_now_ms(), now = start, progress = start;
	int a, b;

	while (now < start + run_ms || !is_idle(p)) {
		if (!post(p, now < start + run_ms))
			return false;
		a = poll_side(p, 0);
		b = a < 0 ? a : poll_side(p, 1);
		if (b < 0)
			return false;
		now = topo_now_ms();
		if (a || b)
			progress = now;
		else if (now > progress + STUCK_MS)
			return fail(p, "nothing has moved for %d s",
				    STUCK_MS / 1000);
	}
	return true;
}

/* ---- life ---- */

static struct ibv_qp *make_qp(struct verbs_set *set)
{
	struct ibv_qp_init_attr init = {
		.send_cq = set->cq,
		.recv_cq = set->cq,
		.cap = {
			.max_send_wr = PUMP_SLOTS,
			.max_recv_wr = PUMP_RECVS,
			.max_send_sge = PIECES,
			.max_recv_sge = 1,
			.max_inline_data = INLINE_MAX,
		},
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(set->pd, &init);
}

static int make_memory(struct pump *p, int side)
{
	size_t size = (size_t)p->flows * FLOW_STRIDES * PUMP_STRIDE;

	p->mem[side] = malloc(size);
	if (!p->mem[side])
		return ENOMEM;
	p->mr[side] = ibv_reg_mr(p->sets[side].pd, p->mem[side], size,
				 IBV_ACCESS_LOCAL_WRITE |
				 IBV_ACCESS_REMOTE_WRITE |
				 IBV_ACCESS_REMOTE_READ |
				 IBV_ACCESS_REMOTE_ATOMIC);
	return p->mr[side] ? 0 : ENOMEM;
}

static void init_flow(struct pump *p, int index, struct ibv_qp *qp,
		      struct ibv_qp *peer, int side)
{
	size_t at = (size_t)index * FLOW_STRIDES * PUMP_STRIDE;

	p->flow[index] = (struct pump_flow) {
		.qp = qp,
		.peer = peer,
		.near = p->mem[side] + at,
		.far = p->mem[!side] + at + PUMP_SLOTS * PUMP_STRIDE,
		.in = p->mem[!side] + at + 2 * PUMP_SLOTS * PUMP_STRIDE,
		.near_key = p->mr[side]->lkey,
		.far_key = p->mr[!side]->rkey,
	};
}

int pump_init(struct pump *p, struct verbs_set sets[2], int connections,
	      const struct twin_attr *attr, uint32_t seed)
{
	int i, ret;

	memset(p, 0, sizeof(*p));
	fill_pools();
	p->sets = sets;
	p->flows = 2 * connections;
	p->mtu = 128 << attr->mtu;
	p->random = seed;
	ret = make_memory(p, 0) ?: make_memory(p, 1);
	for (i = 0; !ret && i < connections; i++) {
		struct ibv_qp *a = make_qp(&sets[0]), *b = make_qp(&sets[1]);

		if (!a || !b)
			return ENOMEM;
		init_flow(p, 2 * i, a, b, 0);
		init_flow(p, 2 * i + 1, b, a, 1);
		ret = twin_connect(sets, a, b, attr);
	}
	return ret;
}

void pump_destroy(struct pump *p)
{
	int i;

	for (i = 0; i < p->flows; i++)
		if (p->flow[i].qp)
			ibv_destroy_qp(p->flow[i].qp);
	for (i = 0; i < 2; i++) {
		if (p->mr[i])
			ibv_dereg_mr(p->mr[i]);
		free(p->mem[i]);
	}
}
