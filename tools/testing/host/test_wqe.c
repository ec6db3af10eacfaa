// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The work request decoder. Slots are written at the byte offsets that the
 * provider uses, typed here, not taken from the header under test.
 */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "queues/wqe.h"

#define SLOT_SIZE	512
#define MAX_SGE		8
#define MAX_INLINE	160

static const struct srdma_wqe_limits rc = {
	.qpt = SRDMA_QPT_RC, .max_sge = MAX_SGE, .max_inline = MAX_INLINE,
};

static const struct srdma_wqe_limits uc = {
	.qpt = SRDMA_QPT_UC, .max_sge = MAX_SGE, .max_inline = MAX_INLINE,
};

static const struct srdma_wqe_limits ud = {
	.qpt = SRDMA_QPT_UD, .max_sge = MAX_SGE, .max_inline = MAX_INLINE,
};

/* A slot, and what became of it. */
static union {
	uint8_t bytes[SLOT_SIZE];
	uint64_t align;
} slot;

static union {
	struct srdma_wqe wqe;
	uint8_t bytes[sizeof(struct srdma_wqe) + 512];
} out;

static void put32(size_t off, uint32_t v)
{
	memcpy(slot.bytes + off, &v, 4);
}

static void put64(size_t off, uint64_t v)
{
	memcpy(slot.bytes + off, &v, 8);
}

/* A slot full of rubbish but for what every request has. */
static void begin(uint32_t opcode, uint32_t flags)
{
	uint64_t state = opcode + 1;

	test_random_bytes(&state, slot.bytes, SLOT_SIZE);
	put64(0, 0x1122334455667788);
	put32(12, opcode);
	put32(16, flags);
	put32(184, 0);
	put32(196, 0);
}

static void put_sge(int i, uint64_t addr, uint32_t length, uint32_t lkey)
{
	put64(208 + 16 * i, addr);
	put32(208 + 16 * i + 8, length);
	put32(208 + 16 * i + 12, lkey);
	put32(196, i + 1);
}

static enum srdma_wqe_why decode(const struct srdma_wqe_limits *lim)
{
	memset(&out, 0xa5, sizeof(out));
	return srdma_wqe_decode(&out.wqe, slot.bytes, SLOT_SIZE, lim);
}

TEST(wqe_size__room_for_the_larger)
{
	struct srdma_wqe_limits lim = { .max_sge = 4, .max_inline = 10 };

	EXPECT_EQ(srdma_wqe_size(&lim), sizeof(struct srdma_wqe) + 64);
	lim.max_inline = 100;
	EXPECT_EQ(srdma_wqe_size(&lim), sizeof(struct srdma_wqe) + 100);
	lim = (struct srdma_wqe_limits){};
	EXPECT_EQ(srdma_wqe_size(&lim), sizeof(struct srdma_wqe) + 8);
	EXPECT_EQ(srdma_rwqe_size(3), sizeof(struct srdma_rwqe) + 48);
}

TEST(wqe_decode__send_sums_the_pieces)
{
	begin(2, 0x6);
	put_sge(0, 0x1000, 100, 0x10);
	put_sge(1, 0x2000, 0, 0x20);
	put_sge(2, 0x3000, 23, 0x30);
	put32(184, 0xffffffff);		/* a wrong length is not believed */
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.wr_id, 0x1122334455667788);
	EXPECT_EQ(out.wqe.msg.op, SRDMA_WR_SEND);
	EXPECT_EQ(out.wqe.msg.flags, SRDMA_WR_SIGNALED | SRDMA_WR_SOLICITED);
	EXPECT_EQ(out.wqe.msg.len, 123);
	EXPECT_EQ(out.wqe.num_sge, 3);
	EXPECT(!out.wqe.is_inline);
	EXPECT_EQ(out.wqe.sge[0].addr, 0x1000);
	EXPECT_EQ(out.wqe.sge[2].addr, 0x3000);
	EXPECT_EQ(out.wqe.sge[2].length, 23);
	EXPECT_EQ(out.wqe.sge[2].lkey, 0x30);
}

TEST(wqe_decode__the_core_gets_a_fresh_message)
{
	begin(2, 0);
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.msg.psn, 0);
	EXPECT_EQ(out.wqe.msg.npsn, 0);
	EXPECT_EQ(out.wqe.msg.done, 0);
	EXPECT(!out.wqe.msg.answered);
	EXPECT_EQ(out.wqe.msg.len, 0);
}

TEST(wqe_decode__write_imm)
{
	static const uint8_t imm[4] = { 1, 2, 3, 4 };

	begin(1, 0);
	memcpy(slot.bytes + 20, imm, 4);
	put64(24, 0xabcdef0123456789);
	put32(32, 0x55667788);
	REQUIRE(decode(&uc) == SRDMA_WQE_OK);
	EXPECT_MEM(&out.wqe.imm, imm, 4);
	EXPECT_EQ(out.wqe.rdma.remote_addr, 0xabcdef0123456789);
	EXPECT_EQ(out.wqe.rdma.rkey, 0x55667788);
}

TEST(wqe_decode__read)
{
	begin(4, 0x3);
	put64(24, 0x4000);
	put32(32, 0x99);
	put_sge(0, 0x1000, 4096, 0x10);
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.msg.len, 4096);
	EXPECT_EQ(out.wqe.msg.flags, SRDMA_WR_FENCE | SRDMA_WR_SIGNALED);
	EXPECT_EQ(out.wqe.rdma.remote_addr, 0x4000);
	EXPECT_EQ(out.wqe.rdma.rkey, 0x99);
}

TEST(wqe_decode__read_without_pieces_is_not_inline)
{
	begin(4, 0);
	put32(184, 77);
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT(!out.wqe.is_inline);
	EXPECT_EQ(out.wqe.msg.len, 0);
}

TEST(wqe_decode__cmp_swap)
{
	begin(5, 0);
	put64(24, 0x8000);
	put64(32, 0x1111);		/* compare */
	put64(40, 0x2222);		/* swap */
	put32(48, 0x33);
	put_sge(0, 0x1000, 8, 0x10);
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.atomic.remote_addr, 0x8000);
	EXPECT_EQ(out.wqe.atomic.compare, 0x1111);
	EXPECT_EQ(out.wqe.atomic.swap_add, 0x2222);
	EXPECT_EQ(out.wqe.atomic.rkey, 0x33);
	EXPECT_EQ(out.wqe.msg.len, 8);
}

TEST(wqe_decode__fetch_add)
{
	begin(6, 0);
	put64(24, 0x8000);
	put64(32, 0x1111);		/* add */
	put32(48, 0x33);
	put_sge(0, 0x1000, 3, 0x10);
	put_sge(1, 0x2000, 5, 0x10);
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.atomic.swap_add, 0x1111);
	EXPECT_EQ(out.wqe.atomic.compare, 0);
	EXPECT_EQ(out.wqe.atomic.rkey, 0x33);
	EXPECT_EQ(out.wqe.msg.len, 8);
	EXPECT_EQ(out.wqe.num_sge, 2);
}

TEST(wqe_decode__atomic_needs_eight_bytes)
{
	uint32_t op;

	for (op = 5; op <= 6; op++) {
		begin(op, 0);
		put_sge(0, 0x1000, 7, 0x10);
		EXPECT_EQ(decode(&rc), SRDMA_WQE_ATOMIC_LEN);
		begin(op, 0);
		EXPECT_EQ(decode(&rc), SRDMA_WQE_ATOMIC_LEN);
		begin(op, 0);
		put_sge(0, 0x1000, 9, 0x10);
		EXPECT_EQ(decode(&rc), SRDMA_WQE_ATOMIC_LEN);
		begin(op, 0);
		put_sge(0, 0x1000, 8, 0x10);
		put_sge(1, 0x2000, 8, 0x10);
		EXPECT_EQ(decode(&rc), SRDMA_WQE_ATOMIC_LEN);
		begin(op, 0);
		put32(196, MAX_SGE + 1);
		EXPECT_EQ(decode(&rc), SRDMA_WQE_NUM_SGE);
	}
}

TEST(wqe_decode__local_inv)
{
	begin(7, 0);
	put32(20, 0xbeef);
	put32(196, 100);		/* no pieces: not looked at */
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.inv_rkey, 0xbeef);
	EXPECT_EQ(out.wqe.msg.len, 0);
	EXPECT_EQ(out.wqe.num_sge, 0);
	/* Not while a message in front may have to be sent again. */
	EXPECT_EQ(out.wqe.msg.flags, SRDMA_MSG_DRAIN);
}

TEST(wqe_decode__bind_mw)
{
	begin(8, 0x2);
	put64(24, 0x10000);
	put64(32, 0x20000);
	put32(40, 0x1);
	put32(44, 0x2);
	put32(48, 0x3);
	put32(52, 0xf);
	REQUIRE(decode(&uc) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.mw.addr, 0x10000);
	EXPECT_EQ(out.wqe.mw.length, 0x20000);
	EXPECT_EQ(out.wqe.mw.mr_lkey, 1);
	EXPECT_EQ(out.wqe.mw.mw_rkey, 2);
	EXPECT_EQ(out.wqe.mw.rkey, 3);
	EXPECT_EQ(out.wqe.mw.access, 0xf);
	EXPECT_EQ(out.wqe.msg.flags, SRDMA_WR_SIGNALED);
}

TEST(wqe_decode__send_inv)
{
	begin(9, 0);
	put32(20, 0xcafe);
	put_sge(0, 0x1000, 1, 0x10);
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.inv_rkey, 0xcafe);
	EXPECT_EQ(out.wqe.msg.len, 1);
}

static void begin_flush(uint8_t type, uint8_t level, uint32_t len)
{
	begin(14, 0);
	put64(24, 0x9000);
	put32(36, 0x44);
	slot.bytes[40] = type;
	slot.bytes[41] = level;
	put32(184, len);
}

TEST(wqe_decode__flush)
{
	begin_flush(3, 0, 0x1000);
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.rdma.remote_addr, 0x9000);
	EXPECT_EQ(out.wqe.rdma.rkey, 0x44);
	EXPECT_EQ(out.wqe.rdma.plt, 3);
	EXPECT_EQ(out.wqe.rdma.sel, 0);
	EXPECT_EQ(out.wqe.msg.len, 0x1000);
	EXPECT(!out.wqe.is_inline);
}

TEST(wqe_decode__flush_of_a_region_has_no_length)
{
	begin_flush(1, 1, 0xdeadbeef);
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.rdma.sel, 1);
	EXPECT_EQ(out.wqe.msg.len, 0);
}

TEST(wqe_decode__flush_refused)
{
	begin_flush(0, 0, 0);
	EXPECT_EQ(decode(&rc), SRDMA_WQE_FLUSH_TYPE);
	begin_flush(4, 0, 0);
	EXPECT_EQ(decode(&rc), SRDMA_WQE_FLUSH_TYPE);
	begin_flush(1, 2, 0);
	EXPECT_EQ(decode(&rc), SRDMA_WQE_FLUSH_TYPE);
	begin_flush(1, 0, 0x80000001);
	EXPECT_EQ(decode(&rc), SRDMA_WQE_LENGTH);
	begin_flush(1, 0, 0x80000000);
	EXPECT_EQ(decode(&rc), SRDMA_WQE_OK);
}

TEST(wqe_decode__atomic_write)
{
	static const struct srdma_wqe_limits none = { .qpt = SRDMA_QPT_RC };
	static const uint8_t data[8] = { 8, 7, 6, 5, 4, 3, 2, 1 };

	begin(15, 0);
	put64(24, 0x9000);
	put32(32, 0x44);
	put32(184, 8);
	memcpy(slot.bytes + 208, data, 8);
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT(out.wqe.is_inline);
	EXPECT_EQ(out.wqe.msg.len, 8);
	EXPECT_MEM(srdma_wqe_inline(&out.wqe), data, 8);
	EXPECT_EQ(out.wqe.rdma.remote_addr, 0x9000);
	EXPECT_EQ(out.wqe.rdma.rkey, 0x44);
	/* On a queue made for neither pieces nor inline data as well. */
	EXPECT_EQ(decode(&none), SRDMA_WQE_OK);
	EXPECT_EQ(srdma_wqe_decode(&out.wqe, slot.bytes, 212, &none),
		  SRDMA_WQE_INLINE);
}

TEST(wqe_decode__datagram)
{
	begin(3, 0);
	put32(24, 0x123456);
	put32(28, 0x11111111);
	slot.bytes[32] = 5;
	slot.bytes[33] = 0;
	put32(36, 77);
	put_sge(0, 0x1000, 64, 0x10);
	REQUIRE(decode(&ud) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.ud.remote_qpn, 0x123456);
	EXPECT_EQ(out.wqe.ud.qkey, 0x11111111);
	EXPECT_EQ(out.wqe.ud.pkey_index, 5);
	EXPECT_EQ(out.wqe.ud.ah_num, 77);
	EXPECT_EQ(out.wqe.msg.len, 64);
	put32(36, 0);
	EXPECT_EQ(decode(&ud), SRDMA_WQE_AH);
}

TEST(wqe_decode__gsi_is_a_datagram_too)
{
	struct srdma_wqe_limits gsi = ud;

	gsi.qpt = SRDMA_QPT_GSI;
	begin(2, 0);
	put32(24, 1);
	put32(36, 3);
	REQUIRE(decode(&gsi) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.ud.remote_qpn, 1);
	EXPECT_EQ(out.wqe.ud.ah_num, 3);
	put32(36, 0);
	EXPECT_EQ(decode(&gsi), SRDMA_WQE_AH);
}

TEST(wqe_decode__inline_by_flag)
{
	begin(2, 0xa);
	put32(196, 3);		/* pieces the library had gathered from */
	put32(184, MAX_INLINE);
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT(out.wqe.is_inline);
	EXPECT_EQ(out.wqe.num_sge, 0);
	EXPECT_EQ(out.wqe.msg.len, MAX_INLINE);
	EXPECT_MEM(srdma_wqe_inline(&out.wqe), slot.bytes + 208, MAX_INLINE);
	put32(184, MAX_INLINE + 1);
	EXPECT_EQ(decode(&rc), SRDMA_WQE_INLINE);
	put32(184, 0);
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.msg.len, 0);
}

TEST(wqe_decode__inline_without_flag)
{
	begin(0, 0);
	put32(184, 20);
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT(out.wqe.is_inline);
	EXPECT_EQ(out.wqe.msg.len, 20);
	EXPECT_MEM(srdma_wqe_inline(&out.wqe), slot.bytes + 208, 20);
}

TEST(wqe_decode__inline_where_none_can_be)
{
	static const uint32_t ops[] = { 4, 5, 6, 7, 8, 14 };
	size_t i;

	for (i = 0; i < 6; i++) {
		begin(ops[i], 0x8);
		put32(184, 8);
		EXPECT_EQ(decode(&rc), SRDMA_WQE_FLAGS);
	}
}

TEST(wqe_decode__inline_within_the_slot)
{
	struct srdma_wqe_limits wide = rc;

	wide.max_inline = 300;
	begin(2, 0x8);
	put32(184, 300);
	memset(&out, 0, sizeof(out));
	EXPECT_EQ(srdma_wqe_decode(&out.wqe, slot.bytes, 256, &wide),
		  SRDMA_WQE_INLINE);
	put32(184, 48);
	EXPECT_EQ(srdma_wqe_decode(&out.wqe, slot.bytes, 256, &wide),
		  SRDMA_WQE_OK);
}

TEST(wqe_decode__pieces_within_the_slot)
{
	begin(2, 0);
	put32(196, MAX_SGE);
	EXPECT_EQ(srdma_wqe_decode(&out.wqe, slot.bytes, 256, &rc),
		  SRDMA_WQE_NUM_SGE);
	put_sge(2, 0, 0, 0);
	put_sge(1, 0, 0, 0);
	put_sge(0, 0, 0, 0);
	put32(196, 3);
	EXPECT_EQ(srdma_wqe_decode(&out.wqe, slot.bytes, 256, &rc),
		  SRDMA_WQE_OK);
}

TEST(wqe_decode__too_many_pieces)
{
	begin(2, 0);
	put32(196, MAX_SGE + 1);
	EXPECT_EQ(decode(&rc), SRDMA_WQE_NUM_SGE);
	put32(196, UINT32_MAX);
	EXPECT_EQ(decode(&rc), SRDMA_WQE_NUM_SGE);
	/* Still enough known for the completion. */
	EXPECT_EQ(out.wqe.wr_id, 0x1122334455667788);
	EXPECT_EQ(out.wqe.msg.op, SRDMA_WR_SEND);
}

TEST(wqe_decode__longest_message)
{
	begin(0, 0);
	put_sge(0, 0, 0x7fffffff, 1);
	put_sge(1, 0, 1, 1);
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.msg.len, 0x80000000);
	put_sge(1, 0, 2, 1);
	EXPECT_EQ(decode(&rc), SRDMA_WQE_LENGTH);
	/* A sum that would be small in 32 bits. */
	put_sge(0, 0, 0xffffffff, 1);
	put_sge(1, 0, 2, 1);
	EXPECT_EQ(decode(&rc), SRDMA_WQE_LENGTH);
}

TEST(wqe_decode__unknown_flags)
{
	int bit;

	for (bit = 4; bit < 32; bit++) {
		begin(2, 1u << bit | SRDMA_WR_SIGNALED);
		EXPECT_EQ(decode(&rc), SRDMA_WQE_FLAGS);
		EXPECT_EQ(out.wqe.msg.flags, SRDMA_WR_SIGNALED);
	}
}

TEST(wqe_decode__flags_that_say_nothing)
{
	begin(0, 0x7);		/* WRITE: SOLICITED means nothing */
	REQUIRE(decode(&rc) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.msg.flags, SRDMA_WR_FENCE | SRDMA_WR_SIGNALED);
	begin(2, 0x7);		/* UC: FENCE means nothing */
	REQUIRE(decode(&uc) == SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.msg.flags, SRDMA_WR_SIGNALED | SRDMA_WR_SOLICITED);
}

TEST(wqe_decode__opcode_per_qp_type)
{
	static const struct srdma_wqe_limits *const lims[] = { &rc, &uc, &ud };
	uint32_t op;
	int i;

	for (i = 0; i < 3; i++) {
		for (op = 0; op < 40; op++) {
			begin(op, 0);
			EXPECT_EQ(decode(lims[i]) == SRDMA_WQE_OPCODE,
				  op >= 16 ||
				  !srdma_wr_may_post(lims[i]->qpt, op));
			/* Who tells of a refused one looks it up. */
			EXPECT(srdma_wr_info_get(out.wqe.msg.op));
		}
	}
}

TEST(wqe_decode__kernel_opcodes_refused)
{
	begin(SRDMA_WR_REG_MR, 0);
	EXPECT_EQ(decode(&rc), SRDMA_WQE_OPCODE);
	begin(0x20, 0);
	EXPECT_EQ(decode(&rc), SRDMA_WQE_OPCODE);
	/* Not cut to eight bits before it is looked at. */
	begin(0x102, 0);
	EXPECT_EQ(decode(&rc), SRDMA_WQE_OPCODE);
	EXPECT_EQ(out.wqe.msg.op, SRDMA_WR_SEND);
	EXPECT_EQ(out.wqe.wr_id, 0x1122334455667788);
}

TEST(wqe_check__kernel_request)
{
	memset(&out, 0, sizeof(out));
	out.wqe.msg.op = SRDMA_WR_REG_MR;
	out.wqe.msg.len = 5;
	out.wqe.num_sge = 5;
	EXPECT_EQ(srdma_wqe_check(&out.wqe, &rc), SRDMA_WQE_OK);
	EXPECT_EQ(out.wqe.msg.len, 0);
	EXPECT_EQ(out.wqe.num_sge, 0);
	EXPECT_EQ(srdma_wqe_check(&out.wqe, &uc), SRDMA_WQE_OPCODE);
	out.wqe.msg.op = 13;
	EXPECT_EQ(srdma_wqe_check(&out.wqe, &rc), SRDMA_WQE_OPCODE);
	out.wqe.msg.op = SRDMA_WR_SEND;
	out.wqe.num_sge = MAX_SGE + 1;
	EXPECT_EQ(srdma_wqe_check(&out.wqe, &rc), SRDMA_WQE_NUM_SGE);
	out.wqe.msg.flags = 0x10;
	EXPECT_EQ(srdma_wqe_check(&out.wqe, &rc), SRDMA_WQE_FLAGS);
}

TEST(wqe_check__kernel_inline)
{
	memset(&out, 0, sizeof(out));
	out.wqe.msg.op = SRDMA_WR_SEND;
	out.wqe.is_inline = true;
	out.wqe.msg.len = MAX_INLINE + 1;
	EXPECT_EQ(srdma_wqe_check(&out.wqe, &rc), SRDMA_WQE_INLINE);
	out.wqe.msg.len = MAX_INLINE;
	EXPECT_EQ(srdma_wqe_check(&out.wqe, &rc), SRDMA_WQE_OK);
	out.wqe.msg.op = SRDMA_WR_ATOMIC_WRITE;
	EXPECT_EQ(srdma_wqe_check(&out.wqe, &rc), SRDMA_WQE_ATOMIC_LEN);
	out.wqe.msg.len = 8;
	EXPECT_EQ(srdma_wqe_check(&out.wqe, &rc), SRDMA_WQE_OK);
	out.wqe.is_inline = false;
	EXPECT_EQ(srdma_wqe_check(&out.wqe, &rc), SRDMA_WQE_ATOMIC_LEN);
}

/* ib_wc_status numbers: 0 success, 1 length, 2 QP operation. */
TEST(wqe_status__numbers_of_the_verbs)
{
	EXPECT_EQ(srdma_wqe_status(SRDMA_WQE_OK), 0);
	EXPECT_EQ(srdma_wqe_status(SRDMA_WQE_LENGTH), 1);
	EXPECT_EQ(srdma_wqe_status(SRDMA_WQE_ATOMIC_LEN), 1);
	EXPECT_EQ(srdma_wqe_status(SRDMA_WQE_OPCODE), 2);
	EXPECT_EQ(srdma_wqe_status(SRDMA_WQE_FLAGS), 2);
	EXPECT_EQ(srdma_wqe_status(SRDMA_WQE_NUM_SGE), 2);
	EXPECT_EQ(srdma_wqe_status(SRDMA_WQE_INLINE), 2);
	EXPECT_EQ(srdma_wqe_status(SRDMA_WQE_AH), 2);
	EXPECT_EQ(srdma_wqe_status(SRDMA_WQE_FLUSH_TYPE), 2);
	EXPECT_EQ(srdma_wqe_status(SRDMA_WQE_NR), 19);
}

static union {
	struct srdma_rwqe rwqe;
	uint8_t bytes[sizeof(struct srdma_rwqe) + MAX_SGE * 16];
} rout;

static void put_recv_sge(int i, uint64_t addr, uint32_t length, uint32_t lkey)
{
	put64(40 + 16 * i, addr);
	put32(40 + 16 * i + 8, length);
	put32(40 + 16 * i + 12, lkey);
	put32(28, i + 1);
}

TEST(rwqe_decode__sums_the_pieces)
{
	memset(&slot, 0, sizeof(slot));
	put64(0, 99);
	put32(16, 3);			/* a wrong length */
	put_recv_sge(0, 0x1000, 0xffffffff, 7);
	put_recv_sge(1, 0x2000, 0xffffffff, 8);
	REQUIRE(srdma_rwqe_decode(&rout.rwqe, slot.bytes, 256, MAX_SGE) ==
		SRDMA_WQE_OK);
	EXPECT_EQ(rout.rwqe.wr_id, 99);
	EXPECT_EQ(rout.rwqe.num_sge, 2);
	EXPECT_EQ(rout.rwqe.length, 0x1fffffffell);
	EXPECT_EQ(rout.rwqe.sge[1].addr, 0x2000);
	EXPECT_EQ(rout.rwqe.sge[1].lkey, 8);
}

TEST(rwqe_decode__too_many_pieces)
{
	memset(&slot, 0, sizeof(slot));
	put64(0, 99);
	put32(28, MAX_SGE + 1);
	EXPECT_EQ(srdma_rwqe_decode(&rout.rwqe, slot.bytes, 256, MAX_SGE),
		  SRDMA_WQE_NUM_SGE);
	EXPECT_EQ(rout.rwqe.wr_id, 99);
	EXPECT_EQ(rout.rwqe.num_sge, 0);
	EXPECT_EQ(rout.rwqe.length, 0);
	put32(28, MAX_SGE);
	EXPECT_EQ(srdma_rwqe_decode(&rout.rwqe, slot.bytes, 256, MAX_SGE),
		  SRDMA_WQE_OK);
	/* No further than the slot goes. */
	EXPECT_EQ(srdma_rwqe_decode(&rout.rwqe, slot.bytes, 64, MAX_SGE),
		  SRDMA_WQE_NUM_SGE);
}

/* Rubbish in, a verdict out, nothing beyond the limits written or read. */
TEST(wqe_decode__random_slots)
{
	struct srdma_wqe_limits lim;
	uint64_t state = 77;
	struct srdma_wqe *wqe;
	uint32_t size;
	void *copy;
	int i;

	for (i = 0; i < 100000; i++) {
		lim.qpt = test_random(&state) % SRDMA_QPT_NR;
		lim.max_sge = test_random(&state) % 20;
		lim.max_inline = test_random(&state) % 300;
		size = 256 << test_random(&state) % 2;
		test_random_bytes(&state, slot.bytes, SLOT_SIZE);
		put32(12, test_random(&state) % 18);
		put32(16, test_random(&state) % 17);
		put32(184, test_random(&state) % 400);
		put32(196, test_random(&state) % 24);
		copy = malloc(size);
		wqe = malloc(srdma_wqe_size(&lim));
		REQUIRE(copy && wqe);
		memcpy(copy, slot.bytes, size);
		if (srdma_wqe_decode(wqe, copy, size, &lim) == SRDMA_WQE_OK)
			EXPECT(wqe->num_sge <= lim.max_sge);
		free(wqe);
		free(copy);
	}
}
