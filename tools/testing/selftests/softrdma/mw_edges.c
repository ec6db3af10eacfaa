// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows at their edges: ranges that just fit and ranges that do not,
 * addresses that wrap, addresses from zero, rights that the region lacks, keys
 * that have been others. Windows are B's; A accesses through them.
 */
#include "pair_fixture.h"

#include <errno.h>

#define ZERO_BASED	IBV_ACCESS_ZERO_BASED
#define READ_WRITE	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

static const struct pair_options rc = { .type = IBV_QPT_RC };

static const enum ibv_mw_type types[] = { IBV_MW_TYPE_1, IBV_MW_TYPE_2 };

static int reconnect(struct pair *pair)
{
	return pair_disconnect(pair) ?: pair_connect(pair, &rc);
}

static int wait_bound(struct pair_end *end)
{
	struct ibv_wc wc;
	int ret = pair_wait(end->set.cq, &wc);

	if (!ret && !wc.status && wc.opcode != IBV_WC_BIND_MW)
		ret = -EPROTO;
	return ret ?: wc.status;
}

/* A type 2 window gets @rkey. The completion's status, or -errno. */
static int bind_as(struct pair_end *end, struct ibv_mw *mw, uint32_t rkey,
		   struct ibv_mr *mr, uint64_t addr, uint64_t length,
		   int access)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw,
			.rkey = rkey,
			.bind_info = { mr, addr, length, access },
		},
	};
	int ret = ibv_post_send(end->qp, &wr, &bad);

	ret = ret ? -ret : wait_bound(end);
	if (!ret)
		mw->rkey = rkey;
	return ret;
}

/* A window of either type. The completion's status, or -errno. */
static int bind(struct pair_end *end, struct ibv_mw *mw, struct ibv_mr *mr,
		uint64_t addr, uint64_t length, int access)
{
	struct ibv_mw_bind info = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = { mr, addr, length, access },
	};
	uint32_t rkey = mw->rkey;
	int ret;

	if (mw->type == IBV_MW_TYPE_2)
		return bind_as(end, mw, ibv_inc_rkey(rkey), mr, addr, length,
			       access);
	ret = ibv_bind_mw(end->qp, mw, &info);
	ret = ret ? -ret : wait_bound(end);
	/* The library takes what is posted for done. */
	if (ret)
		mw->rkey = rkey;
	return ret;
}

static int invalidate(struct pair_end *end, uint32_t rkey)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = rkey,
	};
	int ret = ibv_post_send(end->qp, &wr, &bad);

	return ret ? -ret : pair_wait_sent(end);
}

/* One access of A's by key and address; its status, or -errno. */
static int access_at(struct pair *pair, enum ibv_wr_opcode opcode,
		     uint32_t rkey, uint64_t addr, uint32_t len)
{
	struct pair_wr wr;
	int ret;

	pair_wr_init(&wr, &pair->a, &pair->b, opcode, 0, len);
	wr.wr.wr.rdma.remote_addr = addr;
	wr.wr.wr.rdma.rkey = rkey;
	ret = pair_post(&pair->a, &wr);
	return ret ? -ret : pair_wait_sent(&pair->a);
}

/**
 * struct scene - memory of B that outlives connections
 * @mem: PAIR_BUFFER bytes
 * @mr: its region
 * @mw: a window
 */
struct scene {
	uint8_t *mem;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
};

static int open_scene(struct scene *s, struct pair *pair, enum ibv_mw_type type,
		      uint64_t iova, int access)
{
	int ret = pair_connect(pair, &rc);

	if (ret)
		return ret;
	s->mem = aligned_alloc(4096, PAIR_BUFFER);
	if (access & ZERO_BASED)
		s->mr = ibv_reg_mr(pair->b.set.pd, s->mem, PAIR_BUFFER, access);
	else
		s->mr = ibv_reg_mr_iova(pair->b.set.pd, s->mem, PAIR_BUFFER,
					iova ?: (uintptr_t)s->mem, access);
	s->mw = ibv_alloc_mw(pair->b.set.pd, type);
	return s->mr && s->mw ? 0 : ENOMEM;
}

static int close_scene(struct scene *s, struct pair *pair)
{
	int ret = ibv_dealloc_mw(s->mw) ?: ibv_dereg_mr(s->mr) ?:
		  pair_disconnect(pair);

	free(s->mem);
	return ret;
}

#define ALL_ACCESS	(IBV_ACCESS_LOCAL_WRITE | READ_WRITE | \
			 IBV_ACCESS_MW_BIND)

/* ---- ranges ---- */

/* The whole of it can be read and written; a byte more on either side not. */
static void probe(struct __test_metadata *_metadata, struct pair *pair,
		  uint32_t rkey, uint64_t start, uint64_t len)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ
	};
	int i;

	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, access_at(pair, opcodes[i], rkey, start, len));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
		  access_at(pair, IBV_WR_RDMA_WRITE, rkey, start - 1, 2));
}

static const struct { uint64_t start, len; } windows[] = {
	{ 0, 1 }, { PAIR_BUFFER - 1, 1 }, { 0, PAIR_BUFFER / 2 },
	{ 1, PAIR_BUFFER / 2 }, { PAIR_BUFFER / 2 + 1, PAIR_BUFFER / 2 - 1 },
};

/* Each refusal is the end of the connection: two of them for two edges. */
static void probe_edges(struct __test_metadata *_metadata, struct pair *pair,
			enum ibv_mw_type type, uint64_t start, uint64_t len)
{
	struct scene s;
	uint64_t at;

	ASSERT_EQ(0, open_scene(&s, pair, type, 0, ALL_ACCESS));
	at = (uintptr_t)s.mem + start;
	ASSERT_EQ(0, bind(&pair->b, s.mw, s.mr, at, len, READ_WRITE));
	probe(_metadata, pair, s.mw->rkey, at, len);
	ASSERT_EQ(0, close_scene(&s, pair));

	ASSERT_EQ(0, open_scene(&s, pair, type, 0, ALL_ACCESS));
	at = (uintptr_t)s.mem + start;
	ASSERT_EQ(0, bind(&pair->b, s.mw, s.mr, at, len, READ_WRITE));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
		  access_at(pair, IBV_WR_RDMA_READ, s.mw->rkey, at + len - 1,
			    2));
	ASSERT_EQ(0, close_scene(&s, pair));
}

TEST_F(pair, windows_of_every_edge)
{
	size_t i, t;

	for (t = 0; t < 2; t++)
		for (i = 0; i < sizeof(windows) / sizeof(windows[0]); i++)
			probe_edges(_metadata, &self->pair, types[t],
				    windows[i].start, windows[i].len);
}

/* Offsets are from the region's first byte, in 64 bits. */
static void refuse_ranges(struct __test_metadata *_metadata, struct pair *pair,
			  struct scene *s)
{
	const uint64_t base = (uintptr_t)s->mem;
	const struct { uint64_t at, len; } outside[] = {
		{ -1, 1 }, { -1, 2 }, { -1, PAIR_BUFFER + 1 },
		{ PAIR_BUFFER, 1 }, { PAIR_BUFFER - 1, 2 },
		{ 0, PAIR_BUFFER + 1 }, { 0, 1ull << 32 },
		/* Their sums are 0, within, and the end again. */
		{ 0, -base }, { 1, -1ull }, { 8, -4ull }, { PAIR_BUFFER, -1ull },
		/* The ends of the address space. */
		{ -base, 1 }, { -base, -1ull }, { -base - 1, 1 },
		{ -base - 1, 2 }, { -base - 1, base + PAIR_BUFFER },
	};
	size_t i;

	for (i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		EXPECT_EQ(IBV_WC_MW_BIND_ERR,
			  bind(&pair->b, s->mw, s->mr, base + outside[i].at,
			       outside[i].len, READ_WRITE)) {
			TH_LOG("range %zu", i);
		}
		ASSERT_EQ(0, reconnect(pair));
	}
}

TEST_F(pair, ranges_that_leave_the_region_are_not_bound)
{
	struct pair *pair = &self->pair;
	struct scene s;
	size_t t;

	for (t = 0; t < 2; t++) {
		ASSERT_EQ(0, open_scene(&s, pair, types[t], 0, ALL_ACCESS));
		refuse_ranges(_metadata, pair, &s);
		/* Refused as it was, the window can still be bound. */
		EXPECT_EQ(0, bind(&pair->b, s.mw, s.mr, (uintptr_t)s.mem,
				  PAIR_BUFFER, READ_WRITE));
		probe(_metadata, pair, s.mw->rkey, (uintptr_t)s.mem,
		      PAIR_BUFFER);
		ASSERT_EQ(0, close_scene(&s, pair));
	}
}

TEST_F(pair, windows_at_the_end_of_the_address_space)
{
	const uint64_t iova = -4096ull - PAIR_BUFFER;
	struct pair *pair = &self->pair;
	struct scene s;
	size_t t;

	for (t = 0; t < 2; t++) {
		ASSERT_EQ(0, open_scene(&s, pair, types[t], iova, ALL_ACCESS));
		EXPECT_EQ(IBV_WC_MW_BIND_ERR,
			  bind(&pair->b, s.mw, s.mr, -4097ull, 4098,
			       READ_WRITE));
		ASSERT_EQ(0, reconnect(pair));
		ASSERT_EQ(0, bind(&pair->b, s.mw, s.mr, -4097ull, 1,
				  READ_WRITE));
		s.mem[PAIR_BUFFER - 1] = 0x5a;
		memset(pair->a.buffer, 0xa5, 2);
		EXPECT_EQ(0, access_at(pair, IBV_WR_RDMA_WRITE, s.mw->rkey,
				       -4097ull, 1));
		EXPECT_EQ(0xa5, s.mem[PAIR_BUFFER - 1]);
		EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
			  access_at(pair, IBV_WR_RDMA_READ, s.mw->rkey,
				    -4097ull, 4098));
		ASSERT_EQ(0, close_scene(&s, pair));
	}
}

/* ---- addresses from zero ---- */

#define START	12345
#define LENGTH	1000

TEST_F(pair, zero_based_window_begins_at_zero)
{
	struct pair *pair = &self->pair;
	struct scene s;

	ASSERT_EQ(0, open_scene(&s, pair, IBV_MW_TYPE_2, 0, ALL_ACCESS));
	ASSERT_EQ(0, bind(&pair->b, s.mw, s.mr, (uintptr_t)s.mem + START,
			  LENGTH, READ_WRITE | ZERO_BASED));
	memset(s.mem, 0, PAIR_BUFFER);
	pair_fill(pair->a.buffer, LENGTH, 8);
	EXPECT_EQ(0, access_at(pair, IBV_WR_RDMA_WRITE, s.mw->rkey, 0, LENGTH));
	EXPECT_TRUE(pair_filled(s.mem + START, LENGTH, 8));
	EXPECT_EQ(0, s.mem[START - 1]);
	EXPECT_EQ(0, s.mem[START + LENGTH]);
	EXPECT_EQ(0, access_at(pair, IBV_WR_RDMA_READ, s.mw->rkey, LENGTH - 1,
			       1));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
		  access_at(pair, IBV_WR_RDMA_READ, s.mw->rkey, LENGTH - 1, 2));
	ASSERT_EQ(0, close_scene(&s, pair));

	/* Not where it would be otherwise. */
	ASSERT_EQ(0, open_scene(&s, pair, IBV_MW_TYPE_2, 0, ALL_ACCESS));
	ASSERT_EQ(0, bind(&pair->b, s.mw, s.mr, (uintptr_t)s.mem + START,
			  LENGTH, READ_WRITE | ZERO_BASED));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
		  access_at(pair, IBV_WR_RDMA_READ, s.mw->rkey,
			    (uintptr_t)s.mem + START, 1));
	ASSERT_EQ(0, close_scene(&s, pair));
}

/* Type 1 windows know virtual addresses only (o10-36.2.2). */
TEST_F(pair, region_from_zero_takes_type_2)
{
	struct pair *pair = &self->pair;
	struct scene s;

	ASSERT_EQ(0, open_scene(&s, pair, IBV_MW_TYPE_2, 0,
				ALL_ACCESS | ZERO_BASED));
	EXPECT_EQ(IBV_WC_MW_BIND_ERR,
		  bind(&pair->b, s.mw, s.mr, PAIR_BUFFER - 1, 2, READ_WRITE));
	ASSERT_EQ(0, reconnect(pair));
	ASSERT_EQ(0, bind(&pair->b, s.mw, s.mr, START, LENGTH, READ_WRITE));
	probe(_metadata, pair, s.mw->rkey, START, LENGTH);
	ASSERT_EQ(0, close_scene(&s, pair));

	ASSERT_EQ(0, open_scene(&s, pair, IBV_MW_TYPE_1, 0,
				ALL_ACCESS | ZERO_BASED));
	EXPECT_NE(0, bind(&pair->b, s.mw, s.mr, START, LENGTH, READ_WRITE));
	ASSERT_EQ(0, close_scene(&s, pair));

	ASSERT_EQ(0, open_scene(&s, pair, IBV_MW_TYPE_1, 0, ALL_ACCESS));
	EXPECT_NE(0, bind(&pair->b, s.mw, s.mr, (uintptr_t)s.mem, LENGTH,
			  READ_WRITE | ZERO_BASED));
	ASSERT_EQ(0, close_scene(&s, pair));
}

/* ---- rights ---- */

/* A window gives what it says, although the region gives peers nothing. */
TEST_F(pair, window_needs_no_remote_rights_of_the_region)
{
	struct pair *pair = &self->pair;
	struct scene s;
	size_t t;

	for (t = 0; t < 2; t++) {
		ASSERT_EQ(0, open_scene(&s, pair, types[t], 0,
					IBV_ACCESS_LOCAL_WRITE |
					IBV_ACCESS_MW_BIND));
		ASSERT_EQ(0, bind(&pair->b, s.mw, s.mr, (uintptr_t)s.mem,
				  LENGTH, READ_WRITE));
		EXPECT_EQ(0, access_at(pair, IBV_WR_RDMA_WRITE, s.mw->rkey,
				       (uintptr_t)s.mem, LENGTH));
		EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
			  access_at(pair, IBV_WR_RDMA_READ, s.mr->rkey,
				    (uintptr_t)s.mem, LENGTH));
		ASSERT_EQ(0, close_scene(&s, pair));
	}
}

/* C10-73, C10-74 */
TEST_F(pair, rights_that_the_region_lacks_are_not_bound)
{
	static const struct { int region, window, status; } cases[] = {
		{ IBV_ACCESS_LOCAL_WRITE | READ_WRITE,
		  IBV_ACCESS_REMOTE_READ, IBV_WC_MW_BIND_ERR },
		{ IBV_ACCESS_MW_BIND,
		  IBV_ACCESS_REMOTE_WRITE, IBV_WC_MW_BIND_ERR },
		{ IBV_ACCESS_MW_BIND,
		  IBV_ACCESS_REMOTE_ATOMIC, IBV_WC_MW_BIND_ERR },
		{ IBV_ACCESS_MW_BIND | IBV_ACCESS_REMOTE_READ,
		  READ_WRITE, IBV_WC_MW_BIND_ERR },
		{ IBV_ACCESS_MW_BIND, IBV_ACCESS_REMOTE_READ, 0 },
	};
	struct pair *pair = &self->pair;
	struct scene s;
	size_t i, t;

	for (t = 0; t < 2; t++) {
		for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			ASSERT_EQ(0, open_scene(&s, pair, types[t], 0,
						cases[i].region));
			EXPECT_EQ(cases[i].status,
				  bind(&pair->b, s.mw, s.mr, (uintptr_t)s.mem,
				       LENGTH, cases[i].window)) {
				TH_LOG("type %zu, case %zu", t + 1, i);
			}
			ASSERT_EQ(0, close_scene(&s, pair));
		}
	}
}

/* ---- keys ---- */

/*
 * The consumer chooses the lower 8 bits: one key at a time is good, and what
 * was good once is not any more.
 */
TEST_F(pair, only_the_last_key_of_a_type_2_window_is_good)
{
	struct pair *pair = &self->pair;
	uint32_t first, second;
	struct scene s;
	uint64_t at;
	size_t i;

	ASSERT_EQ(0, open_scene(&s, pair, IBV_MW_TYPE_2, 0, ALL_ACCESS));
	at = (uintptr_t)s.mem;
	first = s.mw->rkey ^ 0x5a;
	second = s.mw->rkey ^ 0xa5;
	ASSERT_EQ(0, bind_as(&pair->b, s.mw, first, s.mr, at, LENGTH,
			     READ_WRITE));
	EXPECT_EQ(0, access_at(pair, IBV_WR_RDMA_READ, first, at, 8));
	/* Bound, it is not bound again, nor unbound by no length. */
	EXPECT_EQ(IBV_WC_MW_BIND_ERR, bind_as(&pair->b, s.mw, second, s.mr, at,
					      LENGTH, READ_WRITE));
	ASSERT_EQ(0, reconnect(pair));
	for (i = 0; i < 3; i++) {
		uint32_t stale[] = { first, second ^ 1, second ^ 0x100 };

		ASSERT_EQ(0, bind_as(&pair->b, s.mw, second, s.mr, at, LENGTH,
				     READ_WRITE));
		EXPECT_EQ(0, access_at(pair, IBV_WR_RDMA_READ, second, at, 8));
		EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
			  access_at(pair, IBV_WR_RDMA_READ, stale[i], at, 8));
		/* The end of its QP has unbound it. */
		ASSERT_EQ(0, reconnect(pair));
	}
	/* Bound to nothing it gives nothing, and cannot be bound to nothing. */
	ASSERT_EQ(0, bind_as(&pair->b, s.mw, first, s.mr, at, LENGTH,
			     READ_WRITE));
	ASSERT_EQ(0, invalidate(&pair->b, first));
	EXPECT_EQ(IBV_WC_MW_BIND_ERR, bind_as(&pair->b, s.mw, second, s.mr, at,
					      0, READ_WRITE));
	ASSERT_EQ(0, reconnect(pair));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
		  access_at(pair, IBV_WR_RDMA_READ, first, at, 8));
	ASSERT_EQ(0, close_scene(&s, pair));
}

/* A window in use by another QP is not taken from it. */
TEST_F(pair, another_qp_can_neither_use_nor_bind_nor_invalidate)
{
	struct pair *pair = &self->pair;
	struct pair other;
	struct scene s;
	uint64_t at;

	ASSERT_EQ(0, open_scene(&s, pair, IBV_MW_TYPE_2, 0, ALL_ACCESS));
	at = (uintptr_t)s.mem;
	/* The same devices and protection domains, other QPs. */
	other = *pair;
	ASSERT_EQ(0, pair_connect(&other, &rc));
	ASSERT_EQ(0, bind(&pair->b, s.mw, s.mr, at, LENGTH, READ_WRITE));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
		  access_at(&other, IBV_WR_RDMA_READ, s.mw->rkey, at, 8));
	ASSERT_EQ(0, reconnect(&other));
	EXPECT_EQ(IBV_WC_MW_BIND_ERR,
		  bind(&other.b, s.mw, s.mr, at, LENGTH, READ_WRITE));
	ASSERT_EQ(0, reconnect(&other));
	EXPECT_EQ(IBV_WC_MW_BIND_ERR, invalidate(&other.b, s.mw->rkey));
	/* Nothing of that has touched it. */
	EXPECT_EQ(0, access_at(pair, IBV_WR_RDMA_READ, s.mw->rkey, at, 8));
	/* Free, it may be bound by whoever comes. */
	ASSERT_EQ(0, reconnect(&other));
	ASSERT_EQ(0, invalidate(&pair->b, s.mw->rkey));
	EXPECT_EQ(0, bind(&other.b, s.mw, s.mr, at, LENGTH, READ_WRITE));
	EXPECT_EQ(0, access_at(&other, IBV_WR_RDMA_READ, s.mw->rkey, at, 8));
	EXPECT_EQ(0, pair_disconnect(&other));
	ASSERT_EQ(0, close_scene(&s, pair));
}

TEST_HARNESS_MAIN
