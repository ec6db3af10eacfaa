// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Syndromes, credits and timers, against values typed from the tables of the
 * specification.
 */
#include <stdint.h>

#include "proto/aeth.h"
#include "test.h"

TEST(aeth_ack__type_and_credit)
{
	EXPECT_EQ(srdma_aeth_ack(0), 0x00);
	EXPECT_EQ(srdma_aeth_ack(31), 0x1f);
	EXPECT_EQ(srdma_aeth_ack(0xff), 0x1f);
}

TEST(aeth_rnr__type_and_timer)
{
	EXPECT_EQ(srdma_aeth_rnr(0), 0x20);
	EXPECT_EQ(srdma_aeth_rnr(12), 0x2c);
	EXPECT_EQ(srdma_aeth_rnr(31), 0x3f);
	EXPECT_EQ(srdma_aeth_rnr(0xe1), 0x21);
}

TEST(aeth_nak__codes)
{
	EXPECT_EQ(srdma_aeth_nak(SRDMA_NAK_PSN_SEQ), 0x60);
	EXPECT_EQ(srdma_aeth_nak(SRDMA_NAK_INV_REQ), 0x61);
	EXPECT_EQ(srdma_aeth_nak(SRDMA_NAK_REM_ACCESS), 0x62);
	EXPECT_EQ(srdma_aeth_nak(SRDMA_NAK_REM_OP), 0x63);
	EXPECT_EQ(srdma_aeth_nak(SRDMA_NAK_INV_RD_REQ), 0x64);
}

TEST(aeth_value__low_five_bits)
{
	EXPECT_EQ(srdma_aeth_value(0x2c), 12);
	EXPECT_EQ(srdma_aeth_value(0x63), 3);
	EXPECT_EQ(srdma_aeth_value(0x1f), 31);
}

TEST(aeth_kind__every_syndrome)
{
	int s;

	for (s = 0x00; s <= 0x1f; s++)
		EXPECT_EQ(srdma_aeth_kind(s), SRDMA_AETH_KIND_ACK);
	for (s = 0x20; s <= 0x3f; s++)
		EXPECT_EQ(srdma_aeth_kind(s), SRDMA_AETH_KIND_RNR);
	for (s = 0x40; s <= 0x5f; s++)
		EXPECT_EQ(srdma_aeth_kind(s), SRDMA_AETH_KIND_BAD);
	for (s = 0x60; s <= 0x64; s++)
		EXPECT_EQ(srdma_aeth_kind(s), SRDMA_AETH_KIND_NAK);
	for (s = 0x65; s <= 0x7f; s++)
		EXPECT_EQ(srdma_aeth_kind(s), SRDMA_AETH_KIND_BAD);
	/* Bit 7 is reserved: ignored on receipt. */
	EXPECT_EQ(srdma_aeth_kind(0x80), SRDMA_AETH_KIND_ACK);
	EXPECT_EQ(srdma_aeth_kind(0xe0), SRDMA_AETH_KIND_NAK);
}

/* Code by code: 0 1 2 3 4 6 8 12 ... each pair doubles the pair before. */
static const struct {
	uint8_t code;
	uint32_t credits;
} credit_table[] = {
	{ 0x00, 0 },	 { 0x01, 1 },	  { 0x02, 2 },	   { 0x03, 3 },
	{ 0x04, 4 },	 { 0x05, 6 },	  { 0x06, 8 },	   { 0x07, 12 },
	{ 0x08, 16 },	 { 0x09, 24 },	  { 0x0a, 32 },	   { 0x0b, 48 },
	{ 0x0c, 64 },	 { 0x0d, 96 },	  { 0x0e, 128 },   { 0x0f, 192 },
	{ 0x10, 256 },	 { 0x11, 384 },	  { 0x12, 512 },   { 0x13, 768 },
	{ 0x14, 1024 },	 { 0x15, 1536 },  { 0x16, 2048 },  { 0x17, 3072 },
	{ 0x18, 4096 },	 { 0x19, 6144 },  { 0x1a, 8192 },  { 0x1b, 12288 },
	{ 0x1c, 16384 }, { 0x1d, 24576 }, { 0x1e, 32768 },
};

#define CREDIT_CODES	(sizeof(credit_table) / sizeof(credit_table[0]))

TEST(credit_encode__exact_values)
{
	size_t i;

	for (i = 0; i < CREDIT_CODES; i++)
		EXPECT_EQ(srdma_credit_encode(credit_table[i].credits),
			  credit_table[i].code);
}

TEST(credit_encode__never_promises_more)
{
	size_t i;

	for (i = 3; i + 1 < CREDIT_CODES; i++)
		EXPECT_EQ(srdma_credit_encode(credit_table[i + 1].credits - 1),
			  credit_table[i].code);
	EXPECT_EQ(srdma_credit_encode(UINT32_MAX), 0x1e);
}

TEST(credit_decode__every_code)
{
	size_t i;

	for (i = 0; i < CREDIT_CODES; i++)
		EXPECT_EQ(srdma_credit_decode(credit_table[i].code),
			  credit_table[i].credits);
	EXPECT_EQ(srdma_credit_decode(0x1f), UINT32_MAX);
	/* Only the low five bits are the code. */
	EXPECT_EQ(srdma_credit_decode(0x65), 6);
}

TEST(rnr_timer_ns__every_code)
{
	static const uint64_t ns[32] = {
		655360000,
		10000, 20000, 30000, 40000, 60000, 80000,
		120000, 160000, 240000, 320000, 480000, 640000, 960000,
		1280000, 1920000, 2560000, 3840000, 5120000, 7680000,
		10240000, 15360000, 20480000, 30720000, 40960000, 61440000,
		81920000, 122880000, 163840000, 245760000, 327680000,
		491520000,
	};
	int i;

	for (i = 0; i < 32; i++)
		EXPECT_EQ(srdma_rnr_timer_ns(i), ns[i]);
	EXPECT_EQ(srdma_rnr_timer_ns(32 + 5), 60000);
}

TEST(ack_timeout_ns__powers_of_two)
{
	EXPECT_EQ(srdma_ack_timeout_ns(0), 0);
	EXPECT_EQ(srdma_ack_timeout_ns(1), 8192);
	EXPECT_EQ(srdma_ack_timeout_ns(14), 67108864);
	EXPECT_EQ(srdma_ack_timeout_ns(18), 1073741824);
	EXPECT_EQ(srdma_ack_timeout_ns(31), 8796093022208ll);
	EXPECT_EQ(srdma_ack_timeout_ns(32), 0);
}
