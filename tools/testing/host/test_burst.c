// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bursts: each packet is as it would be alone, and as many go together as may,
 * also when their headers differ.
 */
#include "proto/burst.h"
#include "proto/rc_resp.h"
#include "test.h"

#define MTU	256
#define FIRST	0xfffffe	/* so that everything crosses zero */

static uint8_t hdr_len_of(const struct srdma_burst *b, uint32_t i)
{
	return srdma_opcode_get(srdma_burst_opcode(b, i))->hdr_len;
}

static void check_alike(const struct srdma_burst *b, uint32_t first)
{
	uint32_t n = 1;

	while (first + n < b->count &&
	       hdr_len_of(b, first + n) == hdr_len_of(b, first))
		n++;
	EXPECT_EQ(srdma_burst_alike(b, first), n);
}

/* What is left is what would have been cut for so many. */
static void check_trim(const struct srdma_burst *b, const struct srdma_burst *w)
{
	struct srdma_burst got = *b;

	got.ack_req = true;
	got.solicited = true;
	srdma_burst_trim(&got, w->count);
	EXPECT_EQ(got.count, w->count);
	EXPECT_EQ(got.offset, w->offset);
	EXPECT_EQ(got.len, w->len);
	EXPECT_EQ(got.seg, w->seg);
	EXPECT_EQ(got.first, w->first);
	EXPECT_EQ(got.last, w->last);
	EXPECT_EQ(got.mixed, w->mixed);
	EXPECT(!got.ack_req && !got.solicited);
	if (got.count > 1)
		EXPECT_EQ(got.middle, w->middle);
}

/* Packets are as they are alone, as many as may go together. */
static void check_mixed(uint8_t op, uint32_t len, uint32_t pos, uint32_t max)
{
	uint32_t packets = srdma_burst_packets(len, 8);
	bool differ = false;
	struct srdma_burst b;
	uint32_t i, sum = 0;

	srdma_burst_cut(&b, SRDMA_QPT_RC, op, len, pos, max, 8);
	EXPECT(b.count && b.count <= max && b.count <= packets - pos);
	EXPECT_EQ(b.offset, pos * MTU);
	for (i = 0; i < b.count; i++) {
		uint8_t opcode = srdma_burst_opcode(&b, i);
		const struct srdma_opcode_info *info = srdma_opcode_get(opcode);

		EXPECT_EQ(opcode, srdma_opcode_select(SRDMA_QPT_RC, op,
						      pos + i == 0,
						      pos + i + 1 == packets));
		differ |= info->hdr_len != srdma_opcode_get(b.first)->hdr_len;
		sum += srdma_burst_payload(&b, i);
	}
	EXPECT_EQ(sum, b.len);
	EXPECT_EQ(b.mixed, differ);
	/* All that may go goes, but for a WRITE's packet with immediate. */
	if (op != SRDMA_WR_WRITE_IMM || pos + max < packets)
		EXPECT_EQ(b.count, max < packets - pos ? max : packets - pos);
	else
		EXPECT_EQ(b.count, pos + 1 == packets ? 1 : packets - pos - 1);
	for (i = 0; i < b.count; i++)
		check_alike(&b, i);
	for (i = 1; i < b.count; i++) {
		struct srdma_burst less = { 0 };

		srdma_burst_cut(&less, SRDMA_QPT_RC, op, len, pos, i, 8);
		check_trim(&b, &less);
	}
}

TEST(srdma_burst_cut__mixed)
{
	static const uint8_t ops[] = {
		SRDMA_WR_SEND, SRDMA_WR_SEND_IMM, SRDMA_WR_SEND_INV,
		SRDMA_WR_WRITE, SRDMA_WR_WRITE_IMM,
	};
	static const uint32_t lens[] = {
		0, 1, MTU, MTU + 1, 2 * MTU, 3 * MTU, 5 * MTU + 7,
	};
	uint32_t i, j, pos, max;

	for (i = 0; i < sizeof(ops); i++)
		for (j = 0; j < 7; j++)
			for (pos = 0; pos < srdma_burst_packets(lens[j], 8);
			     pos++)
				for (max = 1; max < 8; max++)
					check_mixed(ops[i], lens[j], pos, max);
}

/* A READ of five packets: how many bursts answer it, and which are mixed? */
static void expect_read(uint32_t most, uint32_t bytes, const char *counts)
{
	const struct srdma_rc_resp_attr attr = { .psn = FIRST, .mtu = MTU };
	struct srdma_burst_limit limit = { .packets = most, .bytes = bytes };
	struct srdma_pkt pkt = {
		.opcode = SRDMA_RC_READ_REQ, .psn = FIRST,
		.op = srdma_opcode_get(SRDMA_RC_READ_REQ),
	};
	struct srdma_rc_resp_burst out;
	struct srdma_rc_resp_act act;
	struct srdma_rc_resp resp;
	struct srdma_rc_res res[1];
	uint32_t i, at = 0;

	srdma_rc_resp_init(&resp, &attr, res, 1);
	pkt.reth.len = 4 * MTU + 1;
	REQUIRE(srdma_rc_resp_request(&resp, &pkt, &act) == SRDMA_RESP_READ);
	srdma_rc_resp_commit(&resp, &pkt, &act);
	for (; *counts; counts++) {
		bool ends = at == 0;

		REQUIRE(srdma_rc_resp_next(&resp, &limit,
					   SRDMA_RESP_NO_CREDITS, &out) ==
			SRDMA_OUT_READ);
		EXPECT_EQ(out.b.count, *counts - '0');
		for (i = 0; i < out.b.count; i++, at++)
			EXPECT_EQ(srdma_burst_opcode(&out.b, i),
				  srdma_opcode_read_resp(!at, at == 4));
		ends |= at == 5;
		EXPECT_EQ(out.b.mixed, out.b.count > 1 && ends);
		for (i = 0; i < out.b.count; i++)
			check_alike(&out.b, i);
		srdma_rc_resp_sent(&resp, &out);
	}
	EXPECT_EQ(at, 5);
	EXPECT(!srdma_rc_resp_due(&resp));
}

TEST(resp_read__mixed_bursts)
{
	expect_read(64, 65000, "5");
	expect_read(3, 65000, "5");
	expect_read(2, 65000, "32");
	expect_read(1, 65000, "212");
	expect_read(64, 3 * MTU, "32");
	expect_read(64, 2 * MTU, "221");
	expect_read(64, MTU, "11111");
	expect_read(64, 1, "11111");
}
