// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_post_send(3), the table of opcodes: each row on each type of QP. What the
 * table allows arrives, byte for byte; what it does not is an error.
 */
#include "pair_fixture.h"

#include <endian.h>

/* The table's wires, and the other family besides. */
FIXTURE_VARIANT_ADD(pair, veth6) { .wire = PAIR_VETH6 };

#define LENGTH	3000	/* several packets, the last not whole */
#define SMALL	700	/* what a datagram can carry */
#define OFFSET	4096
#define IMM	0x01020304

static const uint8_t imm_bytes[4] = { 1, 2, 3, 4 };

static struct pair_options of_type(enum ibv_qp_type type)
{
	return (struct pair_options){ .type = type };
}

static uint32_t length_for(enum ibv_qp_type type)
{
	return type == IBV_QPT_UD ? SMALL : LENGTH;
}

/* What both ends have before anything is sent. */
static void fill_both(struct pair *pair)
{
	pair_fill(pair->a.buffer, pair->a.size, 1);
	memset(pair->b.buffer, 0, pair->b.size);
}

/* Nothing around the bytes that were meant was touched. */
static bool untouched_around(const struct pair_end *end, size_t from, size_t to)
{
	size_t i;

	for (i = 0; i < end->size; i++)
		if ((i < from || i >= to) && end->buffer[i])
			return false;
	return true;
}

/* The receive completion of a SEND that carried OFFSET..., at offset 0. */
static const char *judge_send(struct pair *pair, uint32_t len, bool imm)
{
	uint32_t head = pair->a.qp->qp_type == IBV_QPT_UD ? PAIR_GRH : 0;
	static uint8_t expected[PAIR_BUFFER];
	struct ibv_wc wc;

	if (pair_wait(pair->b.recv_cq, &wc))
		return "no receive completion";
	if (wc.status || wc.opcode != IBV_WC_RECV)
		return "receive completion in error";
	if (wc.byte_len != len + head || wc.qp_num != pair->b.qp->qp_num)
		return "receive completion of something else";
	if (!!(wc.wc_flags & IBV_WC_WITH_IMM) != imm)
		return "immediate flag";
	if (imm && memcmp(&wc.imm_data, imm_bytes, 4))
		return "immediate data";
	memcpy(expected, pair->a.buffer + OFFSET, len);
	if (memcmp(pair->b.buffer + head, expected, len))
		return "bytes";
	return untouched_around(&pair->b, 0, head + len) ? NULL : "overrun";
}

static const char *judge_sent(struct pair *pair, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	if (pair_wait(pair->a.set.cq, &wc))
		return "no send completion";
	if (wc.status)
		return ibv_wc_status_str(wc.status);
	if (wc.opcode != opcode || wc.wr_id != OFFSET ||
	    wc.qp_num != pair->a.qp->qp_num)
		return "send completion of something else";
	return NULL;
}

/* SEND and SEND_WITH_IMM; what was wrong, or NULL. */
static const char *try_send(struct pair *pair, enum ibv_qp_type type,
			    enum ibv_wr_opcode opcode)
{
	struct pair_options options = of_type(type);
	bool imm = opcode == IBV_WR_SEND_WITH_IMM;
	uint32_t len = length_for(type);
	const char *wrong;
	struct pair_wr wr;

	if (pair_connect(pair, &options))
		return "connecting";
	fill_both(pair);
	if (pair_post_recv(&pair->b, 0, PAIR_GRH + len))
		return "posting the receive";
	pair_wr_init(&wr, &pair->a, &pair->b, opcode, OFFSET, len);
	wr.wr.imm_data = htobe32(IMM);
	if (pair_post(&pair->a, &wr))
		return "posting";
	wrong = judge_sent(pair, IBV_WC_SEND);
	if (!wrong)
		wrong = judge_send(pair, len, imm);
	return pair_disconnect(pair) ? "disconnecting" : wrong;
}

/* RDMA_WRITE and RDMA_WRITE_WITH_IMM. */
static const char *try_write(struct pair *pair, enum ibv_qp_type type,
			     enum ibv_wr_opcode opcode)
{
	bool imm = opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct pair_options options = of_type(type);
	const char *wrong;
	struct pair_wr wr;
	struct ibv_wc wc;

	if (pair_connect(pair, &options))
		return "connecting";
	fill_both(pair);
	/* Where an immediate arrives, its receive takes no bytes. */
	if (pair_post_recv(&pair->b, 0, 64))
		return "posting the receive";
	pair_wr_init(&wr, &pair->a, &pair->b, opcode, OFFSET, LENGTH);
	wr.wr.imm_data = htobe32(IMM);
	if (pair_post(&pair->a, &wr))
		return "posting";
	wrong = judge_sent(pair, IBV_WC_RDMA_WRITE);
	if (wrong)
		return wrong;
	if (imm && pair_wait(pair->b.recv_cq, &wc))
		return "no receive completion";
	if (imm && (wc.status || wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM ||
		    wc.byte_len != LENGTH || !(wc.wc_flags & IBV_WC_WITH_IMM) ||
		    memcmp(&wc.imm_data, imm_bytes, 4)))
		return "receive completion";
	if (!imm && type == IBV_QPT_UC) {
		/* Nothing says that it has arrived but what comes behind it. */
		pair_wr_init(&wr, &pair->a, &pair->b, IBV_WR_SEND, OFFSET, 0);
		if (pair_post(&pair->a, &wr) ||
		    pair_wait(pair->b.recv_cq, &wc) || wc.status)
			return "marker behind the write";
	} else if (!imm && ibv_poll_cq(pair->b.recv_cq, 1, &wc)) {
		return "a receive was consumed";
	}
	if (memcmp(pair->b.buffer + OFFSET, pair->a.buffer + OFFSET, LENGTH))
		return "bytes";
	if (!untouched_around(&pair->b, OFFSET, OFFSET + LENGTH))
		return "overrun";
	return pair_disconnect(pair) ? "disconnecting" : NULL;
}

/*
 * What the table does not allow: refused when posted, or completed in error,
 * but never executed.
 */
static const char *try_refused(struct pair *pair, enum ibv_qp_type type,
			       enum ibv_wr_opcode opcode, uint32_t len)
{
	struct pair_options options = of_type(type);
	static uint8_t before[PAIR_BUFFER];
	enum ibv_wc_status status;
	struct pair_wr wr;
	struct ibv_wc wc;
	int ret;

	if (pair_connect(pair, &options))
		return "connecting";
	fill_both(pair);
	memcpy(before, pair->a.buffer, sizeof(before));
	if (pair_post_recv(&pair->b, 0, PAIR_GRH + LENGTH))
		return "posting the receive";
	pair_wr_init(&wr, &pair->a, &pair->b, opcode, OFFSET, len);
	ret = pair_post(&pair->a, &wr);
	if (!ret) {
		status = pair_wait_sent(&pair->a);
		if (status != IBV_WC_LOC_QP_OP_ERR)
			return "no IBV_WC_LOC_QP_OP_ERR";
	}
	if (ibv_poll_cq(pair->b.recv_cq, 1, &wc))
		return "something arrived";
	if (!untouched_around(&pair->b, 0, 0))
		return "the peer's memory changed";
	if (memcmp(before, pair->a.buffer, sizeof(before)))
		return "own memory changed";
	return pair_disconnect(pair) ? "disconnecting" : NULL;
}

static const char *try_read(struct pair *pair)
{
	struct pair_options options = of_type(IBV_QPT_RC);
	const char *wrong;
	struct pair_wr wr;

	if (pair_connect(pair, &options))
		return "connecting";
	memset(pair->a.buffer, 0, pair->a.size);
	pair_fill(pair->b.buffer, pair->b.size, 2);
	pair_wr_init(&wr, &pair->a, &pair->b, IBV_WR_RDMA_READ, OFFSET, LENGTH);
	if (pair_post(&pair->a, &wr))
		return "posting";
	wrong = judge_sent(pair, IBV_WC_RDMA_READ);
	if (wrong)
		return wrong;
	if (memcmp(pair->a.buffer + OFFSET, pair->b.buffer + OFFSET, LENGTH))
		return "bytes";
	if (!untouched_around(&pair->a, OFFSET, OFFSET + LENGTH))
		return "overrun";
	return pair_disconnect(pair) ? "disconnecting" : NULL;
}

/* One atomic on the word at OFFSET; what was there is told. */
static const char *atomic(struct pair *pair, enum ibv_wr_opcode opcode,
			  uint64_t compare_add, uint64_t swap,
			  uint64_t *original)
{
	struct pair_wr wr;
	const char *wrong;

	pair_wr_init(&wr, &pair->a, &pair->b, opcode, OFFSET, 8);
	wr.wr.wr.atomic.compare_add = compare_add;
	wr.wr.wr.atomic.swap = swap;
	if (pair_post(&pair->a, &wr))
		return "posting";
	wrong = judge_sent(pair, opcode == IBV_WR_ATOMIC_CMP_AND_SWP ?
				 IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD);
	memcpy(original, pair->a.buffer + OFFSET, 8);
	return wrong;
}

#define EXPECT_RIGHT(call)						\
	do {								\
		const char *wrong_ = (call);				\
									\
		EXPECT_EQ(NULL, wrong_)					\
			TH_LOG(#call ": %s", wrong_);			\
		pair_disconnect(&self->pair);				\
	} while (0)

TEST_F(pair, send_is_for_ud_uc_rc)
{
	EXPECT_RIGHT(try_send(&self->pair, IBV_QPT_UD, IBV_WR_SEND));
	EXPECT_RIGHT(try_send(&self->pair, IBV_QPT_UC, IBV_WR_SEND));
	EXPECT_RIGHT(try_send(&self->pair, IBV_QPT_RC, IBV_WR_SEND));
}

TEST_F(pair, send_with_imm_is_for_ud_uc_rc)
{
	EXPECT_RIGHT(try_send(&self->pair, IBV_QPT_UD, IBV_WR_SEND_WITH_IMM));
	EXPECT_RIGHT(try_send(&self->pair, IBV_QPT_UC, IBV_WR_SEND_WITH_IMM));
	EXPECT_RIGHT(try_send(&self->pair, IBV_QPT_RC, IBV_WR_SEND_WITH_IMM));
}

TEST_F(pair, rdma_write_is_for_uc_rc)
{
	EXPECT_RIGHT(try_refused(&self->pair, IBV_QPT_UD, IBV_WR_RDMA_WRITE,
				 SMALL));
	EXPECT_RIGHT(try_write(&self->pair, IBV_QPT_UC, IBV_WR_RDMA_WRITE));
	EXPECT_RIGHT(try_write(&self->pair, IBV_QPT_RC, IBV_WR_RDMA_WRITE));
}

TEST_F(pair, rdma_write_with_imm_is_for_uc_rc)
{
	EXPECT_RIGHT(try_refused(&self->pair, IBV_QPT_UD,
				 IBV_WR_RDMA_WRITE_WITH_IMM, SMALL));
	EXPECT_RIGHT(try_write(&self->pair, IBV_QPT_UC,
			       IBV_WR_RDMA_WRITE_WITH_IMM));
	EXPECT_RIGHT(try_write(&self->pair, IBV_QPT_RC,
			       IBV_WR_RDMA_WRITE_WITH_IMM));
}

TEST_F(pair, rdma_read_is_for_rc)
{
	EXPECT_RIGHT(try_refused(&self->pair, IBV_QPT_UD, IBV_WR_RDMA_READ,
				 SMALL));
	EXPECT_RIGHT(try_refused(&self->pair, IBV_QPT_UC, IBV_WR_RDMA_READ,
				 LENGTH));
	EXPECT_RIGHT(try_read(&self->pair));
}

TEST_F(pair, atomic_cmp_and_swp_is_for_rc)
{
	struct pair_options options = of_type(IBV_QPT_RC);
	uint64_t original, word = 0x1122334455667788;

	EXPECT_RIGHT(try_refused(&self->pair, IBV_QPT_UD,
				 IBV_WR_ATOMIC_CMP_AND_SWP, 8));
	EXPECT_RIGHT(try_refused(&self->pair, IBV_QPT_UC,
				 IBV_WR_ATOMIC_CMP_AND_SWP, 8));

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	memcpy(self->b->buffer + OFFSET, &word, 8);
	/* Not equal: what is there stays, and is told. */
	EXPECT_EQ(NULL, atomic(&self->pair, IBV_WR_ATOMIC_CMP_AND_SWP, 5, 6,
			       &original));
	EXPECT_EQ(word, original);
	EXPECT_EQ(word, *(uint64_t *)(self->b->buffer + OFFSET));
	/* Equal: it is swapped. */
	EXPECT_EQ(NULL, atomic(&self->pair, IBV_WR_ATOMIC_CMP_AND_SWP, word,
			       ~0x0102030405060708, &original));
	EXPECT_EQ(word, original);
	EXPECT_EQ(~0x0102030405060708, *(uint64_t *)(self->b->buffer + OFFSET));
	memset(self->b->buffer + OFFSET, 0, 8);
	EXPECT_TRUE(untouched_around(self->b, 0, 0));
}

TEST_F(pair, atomic_fetch_and_add_is_for_rc)
{
	struct pair_options options = of_type(IBV_QPT_RC);
	uint64_t original, word = ~0ull;

	EXPECT_RIGHT(try_refused(&self->pair, IBV_QPT_UD,
				 IBV_WR_ATOMIC_FETCH_AND_ADD, 8));
	EXPECT_RIGHT(try_refused(&self->pair, IBV_QPT_UC,
				 IBV_WR_ATOMIC_FETCH_AND_ADD, 8));

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	memcpy(self->b->buffer + OFFSET, &word, 8);
	/* It wraps, and does not carry into the neighbour. */
	EXPECT_EQ(NULL, atomic(&self->pair, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 0,
			       &original));
	EXPECT_EQ(word, original);
	EXPECT_EQ(7, *(uint64_t *)(self->b->buffer + OFFSET));
	EXPECT_EQ(NULL, atomic(&self->pair, IBV_WR_ATOMIC_FETCH_AND_ADD,
			       1ull << 40, 0, &original));
	EXPECT_EQ(7, original);
	EXPECT_EQ((1ull << 40) + 7,
		  *(uint64_t *)(self->b->buffer + OFFSET));
	memset(self->b->buffer + OFFSET, 0, 8);
	EXPECT_TRUE(untouched_around(self->b, 0, 0));
}

/* The page is older than it; the opcode is like SEND_WITH_IMM on RC only. */
TEST_F(pair, send_with_inv_is_refused_on_ud_uc)
{
	EXPECT_RIGHT(try_refused(&self->pair, IBV_QPT_UD, IBV_WR_SEND_WITH_INV,
				 SMALL));
	EXPECT_RIGHT(try_refused(&self->pair, IBV_QPT_UC, IBV_WR_SEND_WITH_INV,
				 LENGTH));
}

TEST_F(pair, unknown_opcodes_are_refused)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
	};
	static const unsigned int opcodes[] = {
		IBV_WR_TSO, IBV_WR_DRIVER1, 12, 13, 16, 0x20, 0x80, 0xffffffff,
	};
	int i, j;

	for (i = 0; i < 3; i++)
		for (j = 0; j < sizeof(opcodes) / sizeof(opcodes[0]); j++)
			EXPECT_RIGHT(try_refused(&self->pair, types[i],
						 opcodes[j], SMALL));
}

TEST_HARNESS_MAIN
