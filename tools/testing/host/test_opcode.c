// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The opcode tables, against rows typed from the specification: opcode
 * numbers and headers of section 9.2.1, and the table of ibv_post_send(3).
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "proto/opcode.h"
#include "test.h"

/* The rules of a payload length, by letter. */
#define N	SRDMA_PAY_NONE
#define F	SRDMA_PAY_MTU
#define L	SRDMA_PAY_LAST
#define O	SRDMA_PAY_ONLY
#define E	SRDMA_PAY_EIGHT

/*
 * Opcode, transport, headers behind the BTH, payload, then: request or
 * answer, begins a message, ends it, needs a receive WQE, completes it.
 */
static const struct row {
	uint8_t opcode;
	uint8_t transport;
	const char *headers;
	uint8_t payload;
	const char *role;
} rows[] = {
	{ 0x00, SRDMA_TP_RC, "",		F, "q<.r." },
	{ 0x01, SRDMA_TP_RC, "",		F, "q...." },
	{ 0x02, SRDMA_TP_RC, "",		L, "q.>.c" },
	{ 0x03, SRDMA_TP_RC, "ImmDt",		L, "q.>.c" },
	{ 0x04, SRDMA_TP_RC, "",		O, "q<>rc" },
	{ 0x05, SRDMA_TP_RC, "ImmDt",		O, "q<>rc" },
	{ 0x06, SRDMA_TP_RC, "RETH",		F, "q<..." },
	{ 0x07, SRDMA_TP_RC, "",		F, "q...." },
	{ 0x08, SRDMA_TP_RC, "",		L, "q.>.." },
	{ 0x09, SRDMA_TP_RC, "ImmDt",		L, "q.>rc" },
	{ 0x0a, SRDMA_TP_RC, "RETH",		O, "q<>.." },
	{ 0x0b, SRDMA_TP_RC, "RETH ImmDt",	O, "q<>rc" },
	{ 0x0c, SRDMA_TP_RC, "RETH",		N, "q<>.." },
	{ 0x0d, SRDMA_TP_RC, "AETH",		F, "a<..." },
	{ 0x0e, SRDMA_TP_RC, "",		F, "a...." },
	{ 0x0f, SRDMA_TP_RC, "AETH",		L, "a.>.." },
	{ 0x10, SRDMA_TP_RC, "AETH",		O, "a<>.." },
	{ 0x11, SRDMA_TP_RC, "AETH",		N, "a<>.." },
	{ 0x12, SRDMA_TP_RC, "AETH AtomicAckETH", N, "a<>.." },
	{ 0x13, SRDMA_TP_RC, "AtomicETH",	N, "q<>.." },
	{ 0x14, SRDMA_TP_RC, "AtomicETH",	N, "q<>.." },
	{ 0x16, SRDMA_TP_RC, "IETH",		L, "q.>.c" },
	{ 0x17, SRDMA_TP_RC, "IETH",		O, "q<>rc" },
	{ 0x1c, SRDMA_TP_RC, "FETH RETH",	N, "q<>.." },
	{ 0x1d, SRDMA_TP_RC, "RETH",		E, "q<>.." },
	{ 0x20, SRDMA_TP_UC, "",		F, "q<.r." },
	{ 0x21, SRDMA_TP_UC, "",		F, "q...." },
	{ 0x22, SRDMA_TP_UC, "",		L, "q.>.c" },
	{ 0x23, SRDMA_TP_UC, "ImmDt",		L, "q.>.c" },
	{ 0x24, SRDMA_TP_UC, "",		O, "q<>rc" },
	{ 0x25, SRDMA_TP_UC, "ImmDt",		O, "q<>rc" },
	{ 0x26, SRDMA_TP_UC, "RETH",		F, "q<..." },
	{ 0x27, SRDMA_TP_UC, "",		F, "q...." },
	{ 0x28, SRDMA_TP_UC, "",		L, "q.>.." },
	{ 0x29, SRDMA_TP_UC, "ImmDt",		L, "q.>rc" },
	{ 0x2a, SRDMA_TP_UC, "RETH",		O, "q<>.." },
	{ 0x2b, SRDMA_TP_UC, "RETH ImmDt",	O, "q<>rc" },
	{ 0x64, SRDMA_TP_UD, "DETH",		O, "q<>rc" },
	{ 0x65, SRDMA_TP_UD, "DETH ImmDt",	O, "q<>rc" },
	{ 0x81, SRDMA_TP_CNP, "reserved",	N, ".<>.." },
	{ 0xd1, SRDMA_TP_RC, "AETH SACK",	N, "a<>.." },
};

#define ROWS	(sizeof(rows) / sizeof(rows[0]))

/* Headers: name, flag, length. */
static const struct {
	const char *name;
	uint32_t flag;
	uint8_t len;
} headers[] = {
	{ "AtomicETH", SRDMA_OP_ATOMIC_ETH, 28 },
	{ "AtomicAckETH", SRDMA_OP_ATOMIC_ACK, 8 },
	{ "RETH", SRDMA_OP_RETH, 16 },
	{ "AETH", SRDMA_OP_AETH, 4 },
	{ "DETH", SRDMA_OP_DETH, 8 },
	{ "ImmDt", SRDMA_OP_IMM, 4 },
	{ "IETH", SRDMA_OP_IETH, 4 },
	{ "FETH", SRDMA_OP_FETH, 4 },
	{ "SACK", SRDMA_OP_SACK, 20 },
	{ "reserved", 0, 16 },
};

/* Add up the words of @list; false if one is not a header. */
static bool headers_of(const char *list, uint32_t *flags, unsigned int *len)
{
	char words[64], *word, *save;
	size_t i;

	*flags = 0;
	*len = 12;
	snprintf(words, sizeof(words), "%s", list);
	for (word = strtok_r(words, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
			if (!strcmp(word, headers[i].name))
				break;
		if (i == sizeof(headers) / sizeof(headers[0]))
			return false;
		*flags |= headers[i].flag;
		*len += headers[i].len;
	}
	return true;
}

static bool has(uint8_t opcode, uint32_t flag)
{
	return srdma_opcode_get(opcode)->flags & flag;
}

TEST(opcode_get__rows_of_the_specification)
{
	const struct srdma_opcode_info *op;
	const struct row *r;
	unsigned int len;
	uint32_t flags;

	for (r = rows; r < rows + ROWS; r++) {
		op = srdma_opcode_get(r->opcode);
		REQUIRE(op->name);
		REQUIRE(headers_of(r->headers, &flags, &len));
		if (!EXPECT_EQ(op->transport, r->transport) ||
		    !EXPECT_EQ(op->hdr_len, len) ||
		    !EXPECT_EQ(op->flags & SRDMA_OP_HDRS, flags) ||
		    !EXPECT_EQ(op->payload, r->payload) ||
		    !EXPECT_EQ(has(r->opcode, SRDMA_OP_REQ),
			       r->role[0] == 'q') ||
		    !EXPECT_EQ(has(r->opcode, SRDMA_OP_RESP),
			       r->role[0] == 'a') ||
		    !EXPECT_EQ(has(r->opcode, SRDMA_OP_START),
			       r->role[1] == '<') ||
		    !EXPECT_EQ(has(r->opcode, SRDMA_OP_END),
			       r->role[2] == '>') ||
		    !EXPECT_EQ(has(r->opcode, SRDMA_OP_RWQE),
			       r->role[3] == 'r') ||
		    !EXPECT_EQ(has(r->opcode, SRDMA_OP_COMP),
			       r->role[4] == 'c'))
			test_fail(__FILE__, __LINE__, "opcode 0x%02x",
				  r->opcode);
	}
}

TEST(opcode_get__nothing_else_is_defined)
{
	unsigned int opcode, defined = 0;

	for (opcode = 0; opcode < 256; opcode++)
		if (srdma_opcode_get(opcode)->name)
			defined++;
	EXPECT_EQ(defined, ROWS);
	EXPECT(!srdma_opcode_get(0x15)->name);
	EXPECT(!srdma_opcode_get(0x18)->name);
	EXPECT(!srdma_opcode_get(0x80)->name);
	EXPECT(!srdma_opcode_get(SRDMA_OPCODE_NONE)->name);
}

/* What kind of message a packet belongs to. */
static uint32_t kind_of(uint8_t opcode)
{
	return srdma_opcode_get(opcode)->flags &
	       (SRDMA_OP_SEND | SRDMA_OP_WRITE | SRDMA_OP_READ |
		SRDMA_OP_READ_RESP | SRDMA_OP_ATOMIC | SRDMA_OP_ATOMIC_WRITE |
		SRDMA_OP_FLUSH);
}

TEST(opcode_get__kind)
{
	int i;

	for (i = 0; i <= 5; i++) {
		EXPECT_EQ(kind_of(i), SRDMA_OP_SEND);
		EXPECT_EQ(kind_of(0x20 + i), SRDMA_OP_SEND);
	}
	for (i = 6; i <= 0xb; i++) {
		EXPECT_EQ(kind_of(i), SRDMA_OP_WRITE);
		EXPECT_EQ(kind_of(0x20 + i), SRDMA_OP_WRITE);
	}
	EXPECT_EQ(kind_of(0x0c), SRDMA_OP_READ);
	for (i = 0x0d; i <= 0x10; i++)
		EXPECT_EQ(kind_of(i), SRDMA_OP_READ_RESP);
	EXPECT_EQ(kind_of(0x11), 0);
	EXPECT_EQ(kind_of(0x12), 0);
	EXPECT_EQ(kind_of(0x13), SRDMA_OP_ATOMIC);
	EXPECT_EQ(kind_of(0x14), SRDMA_OP_ATOMIC);
	EXPECT_EQ(kind_of(0x16), SRDMA_OP_SEND);
	EXPECT_EQ(kind_of(0x17), SRDMA_OP_SEND);
	EXPECT_EQ(kind_of(0x1c), SRDMA_OP_FLUSH);
	EXPECT_EQ(kind_of(0x1d), SRDMA_OP_ATOMIC_WRITE);
	EXPECT_EQ(kind_of(0x64), SRDMA_OP_SEND);
	EXPECT_EQ(kind_of(0x65), SRDMA_OP_SEND);
	EXPECT_EQ(kind_of(0x81), 0);
}

TEST(wr_info_get__only_what_exists)
{
	static const uint16_t numbers = 0xc3ff;	/* 0 .. 9, 14, 15 */
	unsigned int op;

	for (op = 0; op < 16; op++)
		EXPECT_EQ(!!srdma_wr_info_get(op), numbers >> op & 1);
	EXPECT(srdma_wr_info_get(SRDMA_WR_REG_MR));
	EXPECT(!srdma_wr_info_get(SRDMA_WR_NR));
	EXPECT(!srdma_wr_info_get(0x20));
	EXPECT(!srdma_wr_info_get(UINT32_MAX));
}

/* ibv_post_send(3), "supports a specific set of opcodes"; UD, UC, RC. */
TEST(wr_may_post__table_of_the_manual_page)
{
	static const struct {
		uint32_t op;
		bool ud, uc, rc;
	} page[] = {
		{ 2, true,  true,  true },	/* SEND */
		{ 3, true,  true,  true },	/* SEND_WITH_IMM */
		{ 0, false, true,  true },	/* RDMA_WRITE */
		{ 1, false, true,  true },	/* RDMA_WRITE_WITH_IMM */
		{ 4, false, false, true },	/* RDMA_READ */
		{ 5, false, false, true },	/* ATOMIC_CMP_AND_SWP */
		{ 6, false, false, true },	/* ATOMIC_FETCH_AND_ADD */
	};
	size_t i;

	for (i = 0; i < sizeof(page) / sizeof(page[0]); i++) {
		EXPECT_EQ(srdma_wr_may_post(SRDMA_QPT_UD, page[i].op),
			  page[i].ud);
		EXPECT_EQ(srdma_wr_may_post(SRDMA_QPT_GSI, page[i].op),
			  page[i].ud);
		EXPECT_EQ(srdma_wr_may_post(SRDMA_QPT_UC, page[i].op),
			  page[i].uc);
		EXPECT_EQ(srdma_wr_may_post(SRDMA_QPT_RC, page[i].op),
			  page[i].rc);
	}
}

/* The opcodes the manual page is too old for. */
TEST(wr_may_post__newer_opcodes)
{
	static const struct {
		uint32_t op;
		bool uc, rc;
	} newer[] = {
		{ 7,  true,  true },	/* LOCAL_INV */
		{ 8,  true,  true },	/* BIND_MW */
		{ 9,  false, true },	/* SEND_WITH_INV */
		{ 10, false, false },	/* TSO */
		{ 11, false, false },	/* DRIVER1 */
		{ 12, false, false },
		{ 13, false, false },
		{ 14, false, true },	/* FLUSH */
		{ 15, false, true },	/* ATOMIC_WRITE */
		{ SRDMA_WR_REG_MR, false, true },
		{ 0x20, false, false },
		{ UINT32_MAX, false, false },
	};
	size_t i;

	for (i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
		EXPECT(!srdma_wr_may_post(SRDMA_QPT_UD, newer[i].op));
		EXPECT(!srdma_wr_may_post(SRDMA_QPT_GSI, newer[i].op));
		EXPECT_EQ(srdma_wr_may_post(SRDMA_QPT_UC, newer[i].op),
			  newer[i].uc);
		EXPECT_EQ(srdma_wr_may_post(SRDMA_QPT_RC, newer[i].op),
			  newer[i].rc);
	}
}

/* ibv_post_send(3): which opcodes SOLICITED and INLINE are valid for. */
TEST(wr_info_get__flags_of_the_manual_page)
{
	static const uint32_t sends[] = { 2, 3, 9 };
	uint32_t op;
	size_t i;

	for (i = 0; i < 3; i++)
		EXPECT_EQ(srdma_wr_info_get(sends[i])->wr_flags, 0xf);
	EXPECT_EQ(srdma_wr_info_get(0)->wr_flags, 0xb);	 /* WRITE */
	EXPECT_EQ(srdma_wr_info_get(1)->wr_flags, 0xf);	 /* WRITE_IMM */
	for (op = 4; op <= 8; op++)
		EXPECT_EQ(srdma_wr_info_get(op)->wr_flags, 0x3);
	EXPECT_EQ(srdma_wr_info_get(14)->wr_flags, 0x3); /* FLUSH */
	EXPECT_EQ(srdma_wr_info_get(15)->wr_flags, 0xb); /* ATOMIC_WRITE */
}

TEST(wr_info_get__properties)
{
	static const struct {
		uint32_t op;
		uint32_t flags;
	} want[] = {
		{ 0, SRDMA_WRI_PAYLOAD | SRDMA_WRI_RDMA },
		{ 1, SRDMA_WRI_PAYLOAD | SRDMA_WRI_RDMA | SRDMA_WRI_IMM |
		     SRDMA_WRI_RWQE },
		{ 2, SRDMA_WRI_PAYLOAD | SRDMA_WRI_RWQE },
		{ 3, SRDMA_WRI_PAYLOAD | SRDMA_WRI_IMM | SRDMA_WRI_RWQE },
		{ 4, SRDMA_WRI_FILL | SRDMA_WRI_RDMA | SRDMA_WRI_RD_ATOMIC },
		{ 5, SRDMA_WRI_FILL | SRDMA_WRI_ATOMIC | SRDMA_WRI_RD_ATOMIC },
		{ 6, SRDMA_WRI_FILL | SRDMA_WRI_ATOMIC | SRDMA_WRI_RD_ATOMIC },
		{ 7, SRDMA_WRI_LOCAL | SRDMA_WRI_INV },
		{ 8, SRDMA_WRI_LOCAL },
		{ 9, SRDMA_WRI_PAYLOAD | SRDMA_WRI_INV | SRDMA_WRI_RWQE },
		{ 14, SRDMA_WRI_RDMA | SRDMA_WRI_RD_ATOMIC },
		{ 15, SRDMA_WRI_PAYLOAD | SRDMA_WRI_RDMA |
		      SRDMA_WRI_RD_ATOMIC },
		{ SRDMA_WR_REG_MR, SRDMA_WRI_LOCAL },
	};
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		EXPECT_EQ(srdma_wr_info_get(want[i].op)->flags, want[i].flags);
}

/* Work request, then the opcodes of its first, middle, last, only packet. */
static const struct {
	uint32_t op;
	uint8_t first, middle, last, only;
} pieces[] = {
	{ 0, 0x06, 0x07, 0x08, 0x0a },
	{ 1, 0x06, 0x07, 0x09, 0x0b },
	{ 2, 0x00, 0x01, 0x02, 0x04 },
	{ 3, 0x00, 0x01, 0x03, 0x05 },
	{ 4, 0x0c, 0x0c, 0x0c, 0x0c },
	{ 5, 0x13, 0x13, 0x13, 0x13 },
	{ 6, 0x14, 0x14, 0x14, 0x14 },
	{ 9, 0x00, 0x01, 0x16, 0x17 },
	{ 14, 0x1c, 0x1c, 0x1c, 0x1c },
	{ 15, 0x1d, 0x1d, 0x1d, 0x1d },
};

TEST(opcode_select__rc)
{
	size_t i;

	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_RC, pieces[i].op,
					      true, false), pieces[i].first);
		EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_RC, pieces[i].op,
					      false, false), pieces[i].middle);
		EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_RC, pieces[i].op,
					      false, true), pieces[i].last);
		EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_RC, pieces[i].op,
					      true, true), pieces[i].only);
	}
}

TEST(opcode_select__uc)
{
	size_t i;

	for (i = 0; i < 4; i++) {
		EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_UC, pieces[i].op, true,
					      false), 0x20 + pieces[i].first);
		EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_UC, pieces[i].op, false,
					      false), 0x20 + pieces[i].middle);
		EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_UC, pieces[i].op, false,
					      true), 0x20 + pieces[i].last);
		EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_UC, pieces[i].op, true,
					      true), 0x20 + pieces[i].only);
	}
	for (; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_UC, pieces[i].op, true,
					      true), 0xff);
}

TEST(opcode_select__ud)
{
	EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_UD, 2, true, true), 0x64);
	EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_UD, 3, true, true), 0x65);
	EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_GSI, 2, true, true), 0x64);
	EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_GSI, 3, true, true), 0x65);
	EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_UD, 2, true, false), 0xff);
	EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_UD, 2, false, true), 0xff);
	EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_GSI, 0, true, true), 0xff);
}

TEST(opcode_select__local_and_unknown)
{
	EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_RC, 7, true, true), 0xff);
	EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_RC, 8, true, true), 0xff);
	EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_RC, 16, true, true), 0xff);
	EXPECT_EQ(srdma_opcode_select(SRDMA_QPT_RC, 10, true, true), 0xff);
}

TEST(opcode_read_resp__positions)
{
	EXPECT_EQ(srdma_opcode_read_resp(true, false), 0x0d);
	EXPECT_EQ(srdma_opcode_read_resp(false, false), 0x0e);
	EXPECT_EQ(srdma_opcode_read_resp(false, true), 0x0f);
	EXPECT_EQ(srdma_opcode_read_resp(true, true), 0x10);
}
