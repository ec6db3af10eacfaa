// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * FLUSH, which the library of the day cannot post: the request is written into
 * the send ring by hand, as newer libraries do. And what is advertised of it
 * and of ATOMIC WRITE (posting_ibv_wr tests that itself).
 */
#include "pair_fixture.h"

#include <errno.h>
#include <sys/utsname.h>

#include "slots.h"

#define CAP_FLUSH_GLOBAL	(1ull << 38)
#define CAP_FLUSH_PERSISTENT	(1ull << 39)
#define CAP_ATOMIC_WRITE	(1ull << 40)

#define ACCESS_FLUSH_GLOBAL	(1 << 8)
#define ACCESS_FLUSH_PERSISTENT	(1 << 9)

#define WC_FLUSH		8

#define GLOBAL			1
#define PERSISTENT		2
#define RANGE			0
#define REGION			1

#define OFFSET			4096
#define LENGTH			512

#define MARK			0x6d61726b6d61726b

/* A's send ring: known by the first request in it, which does nothing. */
static struct srdma_abi_ring *
connect_and_find_ring(struct pair *pair, const struct pair_options *options)
{
	struct pair_wr wr;

	if (pair_connect(pair, options))
		return NULL;
	pair_wr_init(&wr, &pair->a, &pair->b, options->type == IBV_QPT_UD ?
		     IBV_WR_SEND : IBV_WR_RDMA_WRITE, 0, 0);
	wr.wr.wr_id = MARK;
	if (pair_post(&pair->a, &wr) || pair_wait_sent(&pair->a))
		return NULL;
	return slots_find(MARK, SLOTS_OF_SENDS);
}

/**
 * struct flush - what a FLUSH says
 * @addr: first byte
 * @length: bytes
 * @rkey: key
 * @type: GLOBAL and PERSISTENT
 * @level: RANGE or REGION
 */
struct flush {
	uint64_t addr;
	uint32_t length;
	uint32_t rkey;
	uint8_t type;
	uint8_t level;
};

/* Post it, and the status of its completion. */
static int flush(struct pair *pair, struct srdma_abi_ring *ring,
		 const struct flush *flush)
{
	struct srdma_abi_send_wqe *wqe = slots_next(ring, 99);
	struct ibv_wc wc;

	wqe->opcode = SRDMA_ABI_WR_FLUSH;
	wqe->send_flags = SRDMA_ABI_SEND_SIGNALED;
	wqe->flush.remote_addr = flush->addr;
	wqe->flush.rkey = flush->rkey;
	wqe->flush.type = flush->type;
	wqe->flush.level = flush->level;
	wqe->dma.length = flush->length;
	slots_post(ring);
	if (slots_tell(pair->a.qp))
		return -EIO;
	if (pair_wait(pair->a.set.cq, &wc))
		return -ETIMEDOUT;
	if (wc.wr_id != 99 || (!wc.status && wc.opcode != WC_FLUSH))
		return -EPROTO;
	return wc.status;
}

static uint64_t capabilities(struct pair *pair)
{
	struct ibv_device_attr_ex attr = {};

	if (ibv_query_device_ex(pair->a.set.ctx, NULL, &attr))
		return 0;
	return attr.device_cap_flags_ex;
}

/* Kernels before 6.2 do not know that memory can be flushed. */
static bool kernel_knows_flush(void)
{
	struct utsname name;
	int major, minor;

	uname(&name);
	if (sscanf(name.release, "%d.%d", &major, &minor) != 2)
		return false;
	return major > 6 || (major == 6 && minor >= 2);
}

static const struct pair_options flushable = {
	.type = IBV_QPT_RC, .access = PAIR_ACCESS | ACCESS_FLUSH_GLOBAL,
};

TEST_F(pair, flush_is_advertised_where_memory_can_be_flushed)
{
	uint64_t caps = capabilities(&self->pair);

	EXPECT_EQ(kernel_knows_flush(), !!(caps & CAP_FLUSH_GLOBAL));
	EXPECT_EQ(0, caps & CAP_FLUSH_PERSISTENT);
	EXPECT_NE(0, caps & CAP_ATOMIC_WRITE);
}

TEST_F(pair, memory_is_flushable_as_advertised)
{
	uint64_t caps = capabilities(&self->pair);
	static uint8_t buffer[4096];
	struct ibv_mr *mr;

	mr = ibv_reg_mr(self->a->set.pd, buffer, sizeof(buffer),
			PAIR_ACCESS | ACCESS_FLUSH_GLOBAL);
	EXPECT_EQ(!!(caps & CAP_FLUSH_GLOBAL), !!mr);
	if (mr)
		EXPECT_EQ(0, ibv_dereg_mr(mr));
	/* Nobody can promise that of memory that forgets. */
	EXPECT_EQ(NULL, ibv_reg_mr(self->a->set.pd, buffer, sizeof(buffer),
				   PAIR_ACCESS | ACCESS_FLUSH_PERSISTENT));
}

/* What was written before it is there when it completes. */
TEST_F(pair, flush_global_makes_writes_visible)
{
	struct srdma_abi_ring *ring;
	struct ibv_mr *mr = NULL;
	struct flush what;
	struct pair_wr wr;
	int round;

	ring = connect_and_find_ring(&self->pair, &flushable);
	ASSERT_NE(NULL, ring);
	if (kernel_knows_flush()) {
		mr = ibv_reg_mr(self->b->set.pd, self->b->buffer,
				self->b->size,
				PAIR_ACCESS | ACCESS_FLUSH_GLOBAL);
		ASSERT_NE(NULL, mr);
	}
	/* Of a region the bounds are its own: the last time none are said. */
	for (round = 0; mr && round < 6; round++) {
		pair_fill(self->a->buffer + OFFSET, LENGTH, round);
		pair_wr_init(&wr, self->a, self->b, IBV_WR_RDMA_WRITE, OFFSET,
			     LENGTH);
		wr.wr.send_flags = 0;
		ASSERT_EQ(0, pair_post(self->a, &wr));
		what = (struct flush){
			.addr = (uintptr_t)self->b->buffer + OFFSET,
			.length = LENGTH,
			.rkey = mr->rkey,
			.type = GLOBAL,
			.level = round & 1 ? REGION : RANGE,
		};
		if (round == 5) {
			what.addr = -1;
			what.length = -1;
		}
		EXPECT_EQ(IBV_WC_SUCCESS, flush(&self->pair, ring, &what));
		EXPECT_TRUE(pair_filled(self->b->buffer + OFFSET, LENGTH,
					round));
	}
	if (mr)
		EXPECT_EQ(0, ibv_dereg_mr(mr));
}

/* A region, a QP, a placement, a range that it is not allowed for. */
TEST_F(pair, flush_needs_what_allows_it)
{
	struct pair_options forbidding = { .type = IBV_QPT_RC };
	struct srdma_abi_ring *ring;
	struct flush what;
	struct ibv_mr *mr;
	int i;

	for (i = 0; i < 5; i++) {
		if (i && !kernel_knows_flush())
			break;
		ring = connect_and_find_ring(&self->pair, i == 1 ?
					     &forbidding : &flushable);
		ASSERT_NE(NULL, ring);
		mr = ibv_reg_mr(self->b->set.pd, self->b->buffer,
				self->b->size, i ? PAIR_ACCESS |
				ACCESS_FLUSH_GLOBAL : PAIR_ACCESS);
		ASSERT_NE(NULL, mr);
		what = (struct flush){
			.addr = (uintptr_t)self->b->buffer,
			.length = LENGTH,
			.rkey = mr->rkey,
			.type = GLOBAL,
		};
		if (i == 2)
			what.type = PERSISTENT;
		else if (i == 3)
			what.type = GLOBAL | PERSISTENT;
		else if (i == 4)
			what.addr += self->b->size;
		EXPECT_EQ(i == 1 ? IBV_WC_REM_INV_REQ_ERR :
				   IBV_WC_REM_ACCESS_ERR,
			  flush(&self->pair, ring, &what))
			TH_LOG("case %d", i);
		EXPECT_EQ(0, ibv_dereg_mr(mr));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* What makes no sense is not sent. */
TEST_F(pair, flush_of_unknown_kind_is_refused)
{
	static const struct flush kinds[] = {
		{ .type = 0 },
		{ .type = 4 },
		{ .type = GLOBAL, .level = 2 },
	};
	struct srdma_abi_ring *ring;
	struct flush what;
	int i;

	for (i = 0; i < 3; i++) {
		ring = connect_and_find_ring(&self->pair, &flushable);
		ASSERT_NE(NULL, ring);
		what = kinds[i];
		what.addr = (uintptr_t)self->b->buffer;
		what.rkey = self->b->mr->rkey;
		what.length = LENGTH;
		EXPECT_EQ(IBV_WC_LOC_QP_OP_ERR,
			  flush(&self->pair, ring, &what));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

TEST_F(pair, flush_is_for_rc)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_UC, IBV_QPT_UD };
	struct srdma_abi_ring *ring;
	struct flush what;
	int i;

	for (i = 0; i < 2; i++) {
		struct pair_options options = { .type = types[i] };

		ring = connect_and_find_ring(&self->pair, &options);
		ASSERT_NE(NULL, ring);
		what = (struct flush){
			.addr = (uintptr_t)self->b->buffer,
			.length = LENGTH,
			.rkey = self->b->mr->rkey,
			.type = GLOBAL,
		};
		EXPECT_EQ(IBV_WC_LOC_QP_OP_ERR,
			  flush(&self->pair, ring, &what));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

TEST_HARNESS_MAIN
