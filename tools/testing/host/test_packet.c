// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The parser and the builder, against packets typed byte by byte.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/packet.h"
#include "test.h"

/* A packet as it lies behind the UDP header, ICRC (any four bytes) included. */
struct frame {
	uint8_t bytes[64];
	uint32_t len;
};

#define FRAME(...)							\
	{								\
		.bytes = { __VA_ARGS__ },				\
		.len = sizeof((uint8_t []){ __VA_ARGS__ }),		\
	}

#define ICRC	0xde, 0xad, 0xbe, 0xef

/* RC SEND ONLY, 5 payload bytes and 3 of pad; SE, M, AckReq; FECN, BECN. */
static const struct frame send_only = FRAME(
	0x04, 0xf0, 0x80, 0x01, 0xc0, 0x12, 0x34, 0x56, 0x80, 0xab, 0xcd, 0xef,
	1, 2, 3, 4, 5, 0, 0, 0, ICRC);

static const struct frame write_only_imm = FRAME(
	0x0b, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x00, 0xff, 0xff, 0xff,
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x11, 0x22, 0x33, 0x44,
	0x00, 0x00, 0x00, 0x04, 0xca, 0xfe, 0xf0, 0x0d,
	9, 8, 7, 6, ICRC);

static const struct frame read_req = FRAME(
	0x0c, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00, 0x01,
	0xff, 0xff, 0x88, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x12, 0x34,
	0x80, 0x00, 0x00, 0x00, ICRC);

static const struct frame cmp_swap = FRAME(
	0x13, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x80, 0x00, 0x00, 0x02,
	0x00, 0x00, 0x00, 0x00, 0x12, 0x34, 0x56, 0x78, 0x00, 0x00, 0xab, 0xcd,
	0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x22, 0x22,
	0x33, 0x33, 0x33, 0x33, 0x44, 0x44, 0x44, 0x44, ICRC);

static const struct frame ack = FRAME(
	0x11, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00, 0x03,
	0x63, 0x01, 0x02, 0x03, ICRC);

static const struct frame atomic_ack = FRAME(
	0x12, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00, 0x04,
	0x1f, 0x00, 0x00, 0x09,
	0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, ICRC);

static const struct frame send_inv = FRAME(
	0x17, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00, 0x05,
	0x00, 0xc0, 0xff, 0xee, ICRC);

static const struct frame flush = FRAME(
	0x1c, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x80, 0x00, 0x00, 0x06,
	0x00, 0x00, 0x00, 0x12,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x77,
	0x00, 0x00, 0x01, 0x00, ICRC);

static const struct frame atomic_write = FRAME(
	0x1d, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x80, 0x00, 0x00, 0x07,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20, 0x08, 0x00, 0x00, 0x00, 0x78,
	0x00, 0x00, 0x00, 0x08, 1, 2, 3, 4, 5, 6, 7, 8, ICRC);

static const struct frame ud_imm = FRAME(
	0x65, 0xc0, 0xff, 0xff, 0x00, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x08,
	0x11, 0x11, 0x11, 0x11, 0x00, 0x00, 0x00, 0x2a, 0x01, 0x02, 0x03, 0x04,
	0xaa, 0xbb, 0xcc, 0xdd, ICRC);

/* As captured from hardware: BECN set, P_Key ffff. */
static const struct frame cnp = FRAME(
	0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ICRC);

static enum srdma_parse parse(struct srdma_pkt *pkt, const struct frame *f)
{
	return srdma_pkt_parse(pkt, f->bytes, f->len, f->len);
}

TEST(pkt_parse__bth_fields)
{
	struct srdma_pkt pkt;

	REQUIRE(parse(&pkt, &send_only) == SRDMA_PARSE_OK);
	EXPECT(pkt.op == srdma_opcode_get(0x04));
	EXPECT_EQ(pkt.opcode, 0x04);
	EXPECT_EQ(pkt.pkey, 0x8001);
	EXPECT_EQ(pkt.dest_qpn, 0x123456);
	EXPECT_EQ(pkt.psn, 0xabcdef);
	EXPECT_EQ(pkt.hdr_len, 12);
	EXPECT_EQ(pkt.pad, 3);
	EXPECT_EQ(pkt.payload_len, 5);
	EXPECT(pkt.se);
	EXPECT(pkt.mig);
	EXPECT(pkt.ack_req);
	EXPECT(pkt.fecn);
	EXPECT(pkt.becn);
}

TEST(pkt_parse__each_flag_alone)
{
	struct srdma_pkt pkt;
	struct frame f = send_only;

	f.bytes[1] = 0x30;
	f.bytes[4] = 0x00;
	f.bytes[8] = 0x00;
	REQUIRE(parse(&pkt, &f) == SRDMA_PARSE_OK);
	EXPECT(!pkt.se && !pkt.mig && !pkt.ack_req && !pkt.fecn && !pkt.becn);
	f.bytes[1] = 0xb0;
	REQUIRE(parse(&pkt, &f) == SRDMA_PARSE_OK);
	EXPECT(pkt.se && !pkt.mig);
	f.bytes[1] = 0x70;
	REQUIRE(parse(&pkt, &f) == SRDMA_PARSE_OK);
	EXPECT(!pkt.se && pkt.mig);
	f.bytes[4] = 0x80;
	REQUIRE(parse(&pkt, &f) == SRDMA_PARSE_OK);
	EXPECT(pkt.fecn && !pkt.becn);
	f.bytes[4] = 0x40;
	REQUIRE(parse(&pkt, &f) == SRDMA_PARSE_OK);
	EXPECT(!pkt.fecn && pkt.becn);
	/* Reserved bits are ignored (7 beside AckReq, 6 beside BECN). */
	f.bytes[4] = 0x3f;
	f.bytes[8] = 0x7f;
	REQUIRE(parse(&pkt, &f) == SRDMA_PARSE_OK);
	EXPECT(!pkt.fecn && !pkt.becn && !pkt.ack_req);
	EXPECT_EQ(pkt.psn, 0xabcdef);
	EXPECT_EQ(pkt.dest_qpn, 0x123456);
}

TEST(pkt_parse__write_only_imm)
{
	struct srdma_pkt pkt;
	static const uint8_t imm[4] = { 0xca, 0xfe, 0xf0, 0x0d };

	REQUIRE(parse(&pkt, &write_only_imm) == SRDMA_PARSE_OK);
	EXPECT_EQ(pkt.reth.va, 0x0102030405060708);
	EXPECT_EQ(pkt.reth.rkey, 0x11223344);
	EXPECT_EQ(pkt.reth.len, 4);
	EXPECT_MEM(&pkt.imm, imm, 4);
	EXPECT_EQ(pkt.hdr_len, 32);
	EXPECT_EQ(pkt.payload_len, 4);
	EXPECT_EQ(pkt.psn, 0xffffff);
}

TEST(pkt_parse__read_request)
{
	struct srdma_pkt pkt;

	REQUIRE(parse(&pkt, &read_req) == SRDMA_PARSE_OK);
	EXPECT_EQ(pkt.reth.va, 0xffff880000001000);
	EXPECT_EQ(pkt.reth.rkey, 0x1234);
	EXPECT_EQ(pkt.reth.len, 0x80000000);
	EXPECT_EQ(pkt.payload_len, 0);
}

TEST(pkt_parse__cmp_swap)
{
	struct srdma_pkt pkt;

	REQUIRE(parse(&pkt, &cmp_swap) == SRDMA_PARSE_OK);
	EXPECT_EQ(pkt.atomic.va, 0x12345678);
	EXPECT_EQ(pkt.atomic.rkey, 0xabcd);
	EXPECT_EQ(pkt.atomic.swap_add, 0x1111111122222222);
	EXPECT_EQ(pkt.atomic.compare, 0x3333333344444444);
	EXPECT_EQ(pkt.hdr_len, 40);
}

TEST(pkt_parse__acknowledges)
{
	struct srdma_pkt pkt;

	REQUIRE(parse(&pkt, &ack) == SRDMA_PARSE_OK);
	EXPECT_EQ(pkt.aeth.syndrome, 0x63);
	EXPECT_EQ(pkt.aeth.msn, 0x010203);
	REQUIRE(parse(&pkt, &atomic_ack) == SRDMA_PARSE_OK);
	EXPECT_EQ(pkt.aeth.syndrome, 0x1f);
	EXPECT_EQ(pkt.aeth.msn, 9);
	EXPECT_EQ(pkt.aeth.orig, 0x0123456789abcdef);
	EXPECT_EQ(pkt.hdr_len, 24);
}

/* Four holes at most, and what is held behind them. */
TEST(pkt_parse__selective_acknowledge)
{
	struct srdma_pkt want = {
		.opcode = SRDMA_RC_SACK, .psn = 0x123456, .stamp = 0x3f,
		.aeth.syndrome = 0x1f, .aeth.msn = 0xfedcba,
		.aeth.held = 0x0304,
	};
	struct srdma_pkt pkt;
	uint8_t buf[SRDMA_HDR_MAX + SRDMA_ICRC_LEN];
	unsigned int i;

	for (i = 0; i < SRDMA_SACK_HOLES; i++) {
		want.sack.holes[i].psn = 0xabcde0 + i;
		want.sack.holes[i].count = 0xf0 + i;
	}
	EXPECT_EQ(srdma_pkt_build(buf, &want), 36);
	EXPECT_EQ(buf[8], 0x3f);
	EXPECT_EQ(buf[18], 0x03);
	EXPECT_EQ(buf[20], 0xf0);
	EXPECT_EQ(buf[35], 0xe3);
	REQUIRE(srdma_pkt_parse(&pkt, buf, 36, 40) == SRDMA_PARSE_OK);
	EXPECT_EQ(pkt.stamp, 0x3f);
	EXPECT_EQ(pkt.aeth.msn, 0xfedcba);
	EXPECT_EQ(pkt.aeth.held, 0x0304);
	for (i = 0; i < SRDMA_SACK_HOLES; i++) {
		EXPECT_EQ(pkt.sack.holes[i].psn, 0xabcde0 + i);
		EXPECT_EQ(pkt.sack.holes[i].count, 0xf0 + i);
	}
	EXPECT_EQ(srdma_pkt_parse(&pkt, buf, 36, 36), SRDMA_PARSE_SHORT);
	EXPECT_EQ(srdma_pkt_parse(&pkt, buf, 36, 44), SRDMA_PARSE_LENGTH);
	/* More than can be said. */
	buf[16] = 1;
	REQUIRE(srdma_pkt_parse(&pkt, buf, 36, 40) == SRDMA_PARSE_OK);
	EXPECT_EQ(pkt.aeth.held, 0xffff);
}

TEST(pkt_parse__send_with_invalidate)
{
	struct srdma_pkt pkt;

	REQUIRE(parse(&pkt, &send_inv) == SRDMA_PARSE_OK);
	EXPECT_EQ(pkt.inv_rkey, 0xc0ffee);
	EXPECT_EQ(pkt.payload_len, 0);
}

TEST(pkt_parse__flush)
{
	struct srdma_pkt pkt;

	REQUIRE(parse(&pkt, &flush) == SRDMA_PARSE_OK);
	EXPECT_EQ(pkt.feth.plt, SRDMA_FLUSH_PERSISTENT);
	EXPECT_EQ(pkt.feth.sel, SRDMA_FLUSH_MR);
	EXPECT_EQ(pkt.reth.va, 0x2000);
	EXPECT_EQ(pkt.reth.rkey, 0x77);
	EXPECT_EQ(pkt.reth.len, 0x100);
}

TEST(pkt_parse__atomic_write)
{
	struct srdma_pkt pkt;
	struct frame f = atomic_write;

	REQUIRE(parse(&pkt, &f) == SRDMA_PARSE_OK);
	EXPECT_EQ(pkt.reth.va, 0x2008);
	EXPECT_EQ(pkt.payload_len, 8);
	f.len -= 4;
	EXPECT_EQ(parse(&pkt, &f), SRDMA_PARSE_LENGTH);
	f.len += 8;
	EXPECT_EQ(parse(&pkt, &f), SRDMA_PARSE_LENGTH);
}

TEST(pkt_parse__datagram)
{
	struct srdma_pkt pkt;
	struct frame f = ud_imm;

	REQUIRE(parse(&pkt, &f) == SRDMA_PARSE_OK);
	EXPECT_EQ(pkt.deth.qkey, 0x11111111);
	EXPECT_EQ(pkt.deth.src_qpn, 0x2a);
	EXPECT_EQ(pkt.dest_qpn, 0xffffff);
	EXPECT_EQ(pkt.payload_len, 4);
	EXPECT(pkt.se);
	/* The 8 bits above the source QP are reserved. */
	f.bytes[16] = 0xff;
	REQUIRE(parse(&pkt, &f) == SRDMA_PARSE_OK);
	EXPECT_EQ(pkt.deth.src_qpn, 0x2a);
}

TEST(pkt_parse__congestion_notification)
{
	struct srdma_pkt pkt;
	struct frame f = cnp;

	REQUIRE(parse(&pkt, &f) == SRDMA_PARSE_OK);
	EXPECT_EQ(pkt.op->transport, SRDMA_TP_CNP);
	EXPECT(pkt.becn);
	EXPECT(!pkt.fecn);
	EXPECT_EQ(pkt.dest_qpn, 0x118);
	f.len -= 4;
	EXPECT_EQ(parse(&pkt, &f), SRDMA_PARSE_SHORT);
}

TEST(pkt_parse__too_short)
{
	struct srdma_pkt pkt;

	EXPECT_EQ(srdma_pkt_parse(&pkt, ack.bytes, 0, 0), SRDMA_PARSE_SHORT);
	EXPECT_EQ(srdma_pkt_parse(&pkt, ack.bytes, 12, 12), SRDMA_PARSE_SHORT);
	/* BTH and ICRC, but no AETH. */
	EXPECT_EQ(srdma_pkt_parse(&pkt, ack.bytes, 16, 16), SRDMA_PARSE_SHORT);
	EXPECT_EQ(srdma_pkt_parse(&pkt, ack.bytes, 20, 20), SRDMA_PARSE_OK);
	/* Headers that the caller did not make readable. */
	EXPECT_EQ(srdma_pkt_parse(&pkt, ack.bytes, 11, 20), SRDMA_PARSE_SHORT);
	EXPECT_EQ(srdma_pkt_parse(&pkt, ack.bytes, 15, 20), SRDMA_PARSE_SHORT);
	EXPECT_EQ(srdma_pkt_parse(&pkt, ack.bytes, 16, 20), SRDMA_PARSE_OK);
}

TEST(pkt_parse__odd_length)
{
	struct srdma_pkt pkt;
	uint32_t len;

	for (len = 17; len < 24; len++)
		EXPECT_EQ(srdma_pkt_parse(&pkt, send_only.bytes, 24, len),
			  len & 3 ? SRDMA_PARSE_UNALIGNED : SRDMA_PARSE_OK);
}

TEST(pkt_parse__transport_version)
{
	struct srdma_pkt pkt;
	struct frame f = ack;
	int tver;

	for (tver = 1; tver < 16; tver++) {
		f.bytes[1] = 0x40 | tver;
		EXPECT_EQ(parse(&pkt, &f), SRDMA_PARSE_TVER);
	}
}

TEST(pkt_parse__unknown_opcode)
{
	static const uint8_t unknown[] = {
		0x15, 0x18, 0x1e, 0x1f, 0x2c, 0x36, 0x37, 0x44, 0x66, 0x80,
		0x82, 0xa4, 0xff,
	};
	struct frame f = send_only;
	struct srdma_pkt pkt;
	size_t i;

	for (i = 0; i < sizeof(unknown); i++) {
		f.bytes[0] = unknown[i];
		EXPECT_EQ(parse(&pkt, &f), SRDMA_PARSE_OPCODE);
	}
}

TEST(pkt_parse__pad)
{
	struct srdma_pkt pkt;
	struct frame f = send_only;
	int pad;

	for (pad = 0; pad < 4; pad++) {
		f.bytes[1] = pad << 4;
		REQUIRE(parse(&pkt, &f) == SRDMA_PARSE_OK);
		EXPECT_EQ(pkt.pad, pad);
		EXPECT_EQ(pkt.payload_len, 8 - pad);
	}
	/* No payload to pad. */
	f.len = 16;
	for (pad = 1; pad < 4; pad++) {
		f.bytes[1] = pad << 4;
		EXPECT_EQ(parse(&pkt, &f), SRDMA_PARSE_PAD);
	}
	f = ack;
	f.bytes[1] = 0x10;
	EXPECT_EQ(parse(&pkt, &f), SRDMA_PARSE_PAD);
}

/* The verdict for a packet of @opcode with @payload bytes on the wire. */
static enum srdma_parse parse_length(uint8_t opcode, uint8_t pad,
				     uint32_t payload)
{
	uint8_t hdr[40] = { opcode, pad << 4 };
	struct srdma_pkt pkt;
	uint32_t len = srdma_opcode_get(opcode)->hdr_len + payload + 4;

	return srdma_pkt_parse(&pkt, hdr, 40, len);
}

TEST(pkt_parse__length_first_and_middle)
{
	static const uint8_t ops[] = { 0x00, 0x01, 0x06, 0x07, 0x0d, 0x0e,
				       0x20, 0x21, 0x26, 0x27 };
	size_t i;

	for (i = 0; i < sizeof(ops); i++) {
		EXPECT_EQ(parse_length(ops[i], 0, 0), SRDMA_PARSE_LENGTH);
		EXPECT_EQ(parse_length(ops[i], 0, 128), SRDMA_PARSE_LENGTH);
		EXPECT_EQ(parse_length(ops[i], 0, 252), SRDMA_PARSE_LENGTH);
		EXPECT_EQ(parse_length(ops[i], 0, 256), SRDMA_PARSE_OK);
		EXPECT_EQ(parse_length(ops[i], 1, 256), SRDMA_PARSE_LENGTH);
		EXPECT_EQ(parse_length(ops[i], 0, 512), SRDMA_PARSE_OK);
		EXPECT_EQ(parse_length(ops[i], 0, 768), SRDMA_PARSE_LENGTH);
		EXPECT_EQ(parse_length(ops[i], 0, 1024), SRDMA_PARSE_OK);
		EXPECT_EQ(parse_length(ops[i], 0, 2048), SRDMA_PARSE_OK);
		EXPECT_EQ(parse_length(ops[i], 0, 4096), SRDMA_PARSE_OK);
		EXPECT_EQ(parse_length(ops[i], 0, 8192), SRDMA_PARSE_LENGTH);
	}
}

TEST(pkt_parse__length_last)
{
	static const uint8_t ops[] = { 0x02, 0x03, 0x08, 0x09, 0x0f, 0x16,
				       0x22, 0x23, 0x28, 0x29 };
	size_t i;

	for (i = 0; i < sizeof(ops); i++) {
		EXPECT_EQ(parse_length(ops[i], 0, 0), SRDMA_PARSE_LENGTH);
		EXPECT_EQ(parse_length(ops[i], 3, 4), SRDMA_PARSE_OK);
		EXPECT_EQ(parse_length(ops[i], 0, 4096), SRDMA_PARSE_OK);
		EXPECT_EQ(parse_length(ops[i], 3, 4100), SRDMA_PARSE_LENGTH);
	}
}

TEST(pkt_parse__length_only)
{
	static const uint8_t ops[] = { 0x04, 0x05, 0x0a, 0x0b, 0x10, 0x17,
				       0x24, 0x25, 0x2a, 0x2b, 0x64, 0x65 };
	size_t i;

	for (i = 0; i < sizeof(ops); i++) {
		EXPECT_EQ(parse_length(ops[i], 0, 0), SRDMA_PARSE_OK);
		EXPECT_EQ(parse_length(ops[i], 0, 4096), SRDMA_PARSE_OK);
		EXPECT_EQ(parse_length(ops[i], 3, 4100), SRDMA_PARSE_LENGTH);
		EXPECT_EQ(parse_length(ops[i], 0, 65000), SRDMA_PARSE_LENGTH);
	}
}

TEST(pkt_parse__length_none)
{
	static const uint8_t ops[] = { 0x0c, 0x11, 0x12, 0x13, 0x14, 0x1c,
				       0x81 };
	size_t i;

	for (i = 0; i < sizeof(ops); i++) {
		EXPECT_EQ(parse_length(ops[i], 0, 0), SRDMA_PARSE_OK);
		EXPECT_EQ(parse_length(ops[i], 0, 4), SRDMA_PARSE_LENGTH);
		EXPECT_EQ(parse_length(ops[i], 3, 4), SRDMA_PARSE_LENGTH);
	}
}

TEST(pkt_fits_mtu__full_and_up_to)
{
	struct srdma_pkt pkt = { .payload_len = 1024 };

	pkt.op = srdma_opcode_get(SRDMA_RC_WRITE_MIDDLE);
	EXPECT(srdma_pkt_fits_mtu(&pkt, 1024));
	EXPECT(!srdma_pkt_fits_mtu(&pkt, 512));
	EXPECT(!srdma_pkt_fits_mtu(&pkt, 2048));
	pkt.op = srdma_opcode_get(SRDMA_RC_WRITE_LAST);
	EXPECT(srdma_pkt_fits_mtu(&pkt, 1024));
	EXPECT(!srdma_pkt_fits_mtu(&pkt, 512));
	EXPECT(srdma_pkt_fits_mtu(&pkt, 2048));
}

TEST(pkt_pad__to_four)
{
	EXPECT_EQ(srdma_pkt_pad(0), 0);
	EXPECT_EQ(srdma_pkt_pad(1), 3);
	EXPECT_EQ(srdma_pkt_pad(2), 2);
	EXPECT_EQ(srdma_pkt_pad(3), 1);
	EXPECT_EQ(srdma_pkt_pad(4096), 0);
}

TEST(pkt_wire_len__everything_behind_udp)
{
	EXPECT_EQ(srdma_pkt_wire_len(12, 0), 16);
	EXPECT_EQ(srdma_pkt_wire_len(12, 1), 20);
	EXPECT_EQ(srdma_pkt_wire_len(28, 1024), 1056);
}

/* What is parsed and built again is the same bytes. */
static void rebuild(const struct frame *f, int line)
{
	uint8_t out[SRDMA_HDR_MAX];
	struct srdma_pkt pkt;
	uint32_t len;

	memset(out, 0xa5, sizeof(out));
	REQUIRE(parse(&pkt, f) == SRDMA_PARSE_OK);
	pkt.pad = 2;
	pkt.hdr_len = 0;
	len = srdma_pkt_build(out, &pkt);
	if (!EXPECT_EQ(len, pkt.op->hdr_len) ||
	    !EXPECT_MEM(out, f->bytes, len))
		test_fail(__FILE__, line, "%s", pkt.op->name);
}

TEST(pkt_build__same_bytes)
{
	rebuild(&send_only, __LINE__);
	rebuild(&write_only_imm, __LINE__);
	rebuild(&read_req, __LINE__);
	rebuild(&cmp_swap, __LINE__);
	rebuild(&ack, __LINE__);
	rebuild(&atomic_ack, __LINE__);
	rebuild(&send_inv, __LINE__);
	rebuild(&flush, __LINE__);
	rebuild(&atomic_write, __LINE__);
	rebuild(&ud_imm, __LINE__);
	rebuild(&cnp, __LINE__);
}

TEST(pkt_build__every_opcode_parses)
{
	uint8_t buf[SRDMA_HDR_MAX];
	struct srdma_pkt pkt, got;
	uint32_t len, payload;
	unsigned int opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		memset(&pkt, 0, sizeof(pkt));
		pkt.opcode = opcode;
		pkt.psn = 0x123456;
		payload = 0;
		switch (srdma_opcode_get(opcode)->payload) {
		case SRDMA_PAY_MTU:
			payload = 2048;
			break;
		case SRDMA_PAY_LAST:
			payload = 1;
			break;
		case SRDMA_PAY_EIGHT:
			payload = 8;
			break;
		}
		pkt.payload_len = payload;
		len = srdma_pkt_build(buf, &pkt);
		if (!srdma_opcode_get(opcode)->name) {
			EXPECT_EQ(len, 0);
			continue;
		}
		EXPECT_EQ(len, srdma_opcode_get(opcode)->hdr_len);
		EXPECT_EQ(srdma_pkt_parse(&got, buf, len,
					  srdma_pkt_wire_len(len, payload)),
			  SRDMA_PARSE_OK);
		EXPECT_EQ(got.opcode, opcode);
		EXPECT_EQ(got.payload_len, payload);
		EXPECT_EQ(got.psn, 0x123456);
	}
}

TEST(pkt_build__masks_what_is_too_wide)
{
	struct srdma_pkt pkt = {
		.opcode = 0x64, .psn = 0xff000001, .dest_qpn = 0xff000002,
	};
	static const uint8_t want[12] = {
		0x64, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
		0x00, 0x00, 0x00, 0x01,
	};
	uint8_t buf[SRDMA_HDR_MAX];

	srdma_pkt_build(buf, &pkt);
	EXPECT_MEM(buf, want, 12);
}

TEST(put_bth__from_template)
{
	static const uint8_t want[12] = {
		0x02, 0xe0, 0x80, 0x01, 0x00, 0x12, 0x34, 0x56,
		0x80, 0xab, 0xcd, 0xef,
	};
	static const uint8_t plain[12] = {
		0x01, 0x40, 0x80, 0x01, 0x00, 0x12, 0x34, 0x56,
		0x00, 0x00, 0x00, 0x00,
	};
	struct srdma_bth_tmpl tmpl;
	uint8_t buf[16];

	srdma_bth_tmpl_init(&tmpl, 0xff123456, 0x8001);
	/* At an odd address too. */
	EXPECT(srdma_put_bth(buf + 1, &tmpl, 0x02, 2, true, true, 0xabcdef) ==
	       buf + 13);
	EXPECT_MEM(buf + 1, want, 12);
	srdma_put_bth(buf, &tmpl, 0x01, 0, false, false, 0);
	EXPECT_MEM(buf, plain, 12);
}

/* Parsing random bytes ends in a verdict and never reads past the packet. */
TEST(pkt_parse__random_bytes)
{
	uint64_t state = 1;
	struct srdma_pkt pkt;
	uint8_t *exact;
	uint32_t len;
	int i;

	for (i = 0; i < 200000; i++) {
		len = test_random(&state) % 64;
		exact = malloc(len ? len : 1);
		REQUIRE(exact);
		test_random_bytes(&state, exact, len);
		if (len > 1 && i & 1)
			exact[1] &= 0xf0;
		if (srdma_pkt_parse(&pkt, exact, len, len) == SRDMA_PARSE_OK)
			EXPECT_EQ(pkt.hdr_len + pkt.payload_len + pkt.pad + 4,
				  len);
		free(exact);
	}
}
