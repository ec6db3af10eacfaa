// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CRC-32 and ICRC: against published frames, and against an implementation
 * made differently (bit by bit, most significant first, over a masked copy).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/icrc.h"
#include "test.h"

#define ETH_LEN	14

/* Bits of @v in reverse order, @n of them. */
static uint32_t reverse(uint32_t v, int n)
{
	uint32_t r = 0;

	while (n--) {
		r = r << 1 | (v & 1);
		v >>= 1;
	}
	return r;
}

/* The sum of the specification's figure: generator 04c11db7, plain order. */
static uint32_t slow_crc32(const uint8_t *p, size_t len)
{
	uint32_t crc = 0xffffffff;
	int bit;

	while (len--) {
		crc ^= reverse(*p++, 8) << 24;
		for (bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc >> 31 ? 0x04c11db7 : 0);
	}
	return ~reverse(crc, 32);
}

/* ICRC of a frame from the IP header (@v4, @v6) or GRH up to the ICRC. */
static uint32_t slow_icrc(const uint8_t *ip, size_t len, bool v4, bool udp)
{
	uint8_t *copy = malloc(8 + len);
	uint8_t *h = copy + 8;
	uint8_t *bth;
	uint32_t crc;

	memset(copy, 0xff, 8);
	memcpy(h, ip, len);
	if (v4) {
		h[1] = 0xff;			/* type of service */
		h[8] = 0xff;			/* time to live */
		h[10] = h[11] = 0xff;		/* header checksum */
		bth = h + 20;
	} else {
		h[0] = (h[0] & 0xf0) | 0x0f;	/* traffic class */
		h[1] = h[2] = h[3] = 0xff;	/* and flow label */
		h[7] = 0xff;			/* hop limit */
		bth = h + 40;
	}
	if (udp) {
		bth[6] = bth[7] = 0xff;		/* checksum */
		bth += 8;
	}
	bth[4] = 0xff;				/* FECN, BECN, reserved */
	crc = slow_crc32(copy, 8 + len);
	free(copy);
	return crc;
}

static __be32 apsn_of(const uint8_t *bth)
{
	__be32 apsn;

	memcpy(&apsn, bth + 8, sizeof(apsn));
	return apsn;
}

static uint16_t load_be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static void store_be16(uint8_t *p, uint16_t v)
{
	p[0] = v >> 8;
	p[1] = v;
}

/* The lengths of a random frame are to agree. */
static void set_udp_len(uint8_t *ip, bool v4, uint16_t udp_len)
{
	store_be16(ip + (v4 ? 2 : 4), v4 ? 20 + udp_len : udp_len);
	store_be16(ip + (v4 ? 20 : 40) + 4, udp_len);
}

/* The module's answer for the same frame, payload in two pieces. */
static uint32_t fast_icrc(const uint8_t *ip, size_t len, bool v4, size_t cut)
{
	const uint8_t *udp = ip + (v4 ? 20 : 40);
	const uint8_t *rest = udp + 8 + 12;
	size_t rest_len = len - (rest - ip);
	struct srdma_icrc_flow flow;
	uint32_t crc;

	if (v4)
		srdma_icrc_flow_v4(&flow, ip, udp);
	else
		srdma_icrc_flow_v6(&flow, ip, udp);
	crc = srdma_icrc_base(&flow, load_be16(udp + 4), udp + 8);
	crc = srdma_icrc_start(&flow, crc, load_be16(ip + 4), apsn_of(udp + 8));
	if (cut > rest_len)
		cut = rest_len;
	crc = srdma_icrc_update(crc, rest, cut);
	crc = srdma_icrc_update(crc, rest + cut, rest_len - cut);
	return le32_to_cpu(srdma_icrc_final(crc));
}

/**
 * struct vector - one published frame
 * @name: how the file calls it
 * @frame: from the Ethernet header on
 * @len: bytes, ICRC included
 */
struct vector {
	char name[32];
	uint8_t frame[512];
	size_t len;
};

static bool vector_next(FILE *f, struct vector *v)
{
	char line[1200], hex[1100];
	unsigned int byte;
	size_t i;

	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%31[a-zA-Z0-9_] %1099s", v->name, hex) != 2)
			continue;
		for (i = 0; sscanf(hex + 2 * i, "%2x", &byte) == 1; i++)
			v->frame[i] = byte;
		v->len = i;
		return true;
	}
	return false;
}

static uint32_t load_le32(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool is_type(const struct vector *v, int type)
{
	return (v->frame[12] << 8 | v->frame[13]) == type;
}

TEST(icrc__published_frames)
{
	FILE *f = fopen(TEST_DATA "/icrc-vectors.txt", "r");
	int v4 = 0, v6 = 0, v1 = 0;
	struct vector v;
	uint32_t want;
	size_t len;

	REQUIRE(f);
	while (vector_next(f, &v)) {
		len = v.len - ETH_LEN - 4;
		want = load_le32(v.frame + v.len - 4);
		if (is_type(&v, 0x8915)) {
			/* RoCE v1: the masking rule of the oracle itself. */
			EXPECT_EQ(slow_icrc(v.frame + ETH_LEN, len, false,
					    false), want);
			v1++;
			continue;
		}
		if (is_type(&v, 0x0800))
			v4++;
		else
			v6++;
		EXPECT_EQ(slow_icrc(v.frame + ETH_LEN, len,
				    is_type(&v, 0x0800), true), want);
		if (!EXPECT_EQ(fast_icrc(v.frame + ETH_LEN, len,
					 is_type(&v, 0x0800), 7), want))
			test_fail(__FILE__, __LINE__, "%s", v.name);
	}
	fclose(f);
	EXPECT_EQ(v4, 4);
	EXPECT_EQ(v6, 1);
	EXPECT_EQ(v1, 2);
}

TEST(icrc__random_frames)
{
	uint8_t ip[40 + 8 + 12 + 4096];
	uint64_t state = 42;
	size_t len, hdr;
	bool v4;
	int i;

	for (i = 0; i < 400; i++) {
		v4 = i & 1;
		hdr = (v4 ? 20 : 40) + 8 + 12;
		len = hdr + test_random(&state) % 1100;
		test_random_bytes(&state, ip, len);
		set_udp_len(ip, v4, test_random(&state));
		EXPECT_EQ(fast_icrc(ip, len, v4, test_random(&state) % 64),
			  slow_icrc(ip, len, v4, true));
	}
}

/*
 * Which bits of the headers are under the sum: flip each. The length in the IP
 * header follows from that of UDP.
 */
TEST(icrc_start__covers_what_routers_leave_alone)
{
	static const uint8_t v4_free[] = { 1, 2, 3, 8, 10, 11, 26, 27, 32 };
	uint8_t ip[40], flipped[40];
	uint32_t base, sum;
	uint64_t state = 7;
	bool is_free;
	size_t i, j;

	test_random_bytes(&state, ip, sizeof(ip));
	base = fast_icrc(ip, sizeof(ip), true, 0);
	for (i = 0; i < sizeof(ip) * 8; i++) {
		memcpy(flipped, ip, sizeof(ip));
		flipped[i / 8] ^= 1 << i % 8;
		sum = fast_icrc(flipped, sizeof(ip), true, 0);
		is_free = false;
		for (j = 0; j < sizeof(v4_free); j++)
			is_free |= i / 8 == v4_free[j];
		EXPECT_EQ(sum == base, is_free);
	}
}

/* One flow and one base for packets that differ as those of a train do. */
static void train_agrees(bool v4, uint64_t seed)
{
	uint8_t ip[40 + 8 + 12];
	uint8_t *udp = ip + (v4 ? 20 : 40), *bth = udp + 8;
	size_t len = bth + 12 - ip;
	struct srdma_icrc_flow flow;
	uint32_t base, crc;
	uint16_t id;
	int i;

	test_random_bytes(&seed, ip, sizeof(ip));
	if (v4)
		srdma_icrc_flow_v4(&flow, ip, udp);
	else
		srdma_icrc_flow_v6(&flow, ip, udp);
	set_udp_len(ip, v4, 1048);
	base = srdma_icrc_base(&flow, 1048, bth);
	id = test_random(&seed);
	for (i = 0; i < 64; i++, id++) {
		if (v4)
			store_be16(ip + 4, id);
		bth[8] = test_random(&seed);
		bth[11] = i;
		crc = srdma_icrc_start(&flow, base, id, apsn_of(bth));
		EXPECT_EQ(le32_to_cpu(srdma_icrc_final(crc)),
			  slow_icrc(ip, len, v4, true));
	}
}

TEST(icrc_start__same_as_one_by_one)
{
	uint64_t seed;

	for (seed = 1; seed < 40; seed++) {
		train_agrees(true, seed);
		train_agrees(false, seed);
	}
}

TEST(icrc_start__any_identification)
{
	uint8_t ip[20 + 8 + 12];
	uint64_t seed = 5;
	int bit;

	test_random_bytes(&seed, ip, sizeof(ip));
	set_udp_len(ip, true, 1048);
	for (bit = 0; bit < 16; bit++) {
		store_be16(ip + 4, 1 << bit);
		EXPECT_EQ(fast_icrc(ip, sizeof(ip), true, 0),
			  slow_icrc(ip, sizeof(ip), true, true));
	}
}

static void any_length_agrees(bool v4)
{
	uint8_t ip[40 + 8 + 12];
	size_t len = (v4 ? 20 : 40) + 8 + 12;
	uint64_t seed = 6;
	int udp_len;

	test_random_bytes(&seed, ip, sizeof(ip));
	/* 20 more is to fit into 16 bits. */
	for (udp_len = 24; udp_len <= 0xffff - 20; udp_len += 7) {
		set_udp_len(ip, v4, udp_len);
		EXPECT_EQ(fast_icrc(ip, len, v4, 0),
			  slow_icrc(ip, len, v4, true));
	}
}

TEST(icrc_base__any_length)
{
	any_length_agrees(true);
	any_length_agrees(false);
}

/* Headers that were seen before, whatever the state before them. */
TEST(icrc_add8__same_as_byte_by_byte)
{
	uint64_t state = 11;
	uint8_t ext[8];
	uint32_t crc;
	int i;

	EXPECT_EQ(srdma_icrc_of8("\0\0\0\0\0\0\0"), 0);
	for (i = 0; i < 1000; i++) {
		test_random_bytes(&state, ext, sizeof(ext));
		crc = test_random(&state);
		EXPECT_EQ(srdma_icrc_add8(crc, srdma_icrc_of8(ext)),
			  srdma_icrc_update(crc, ext, sizeof(ext)));
	}
}

TEST(icrc_final__little_endian)
{
	static const uint8_t want[4] = { 0x87, 0x96, 0xa5, 0xb4 };
	__le32 icrc = srdma_icrc_final(0x4b5a6978);

	EXPECT_MEM(&icrc, want, 4);
}

TEST(crc32__check_value)
{
	EXPECT_EQ((uint32_t)~srdma_crc32(~0u, "123456789", 9), 0xcbf43926);
	EXPECT_EQ(slow_crc32((const uint8_t *)"123456789", 9), 0xcbf43926);
	EXPECT_EQ((uint32_t)~srdma_crc32(~0u, "", 0), 0);
}

TEST(crc32__every_length_and_offset)
{
	uint8_t buf[200];
	uint64_t state = 3;
	size_t off, len;

	test_random_bytes(&state, buf, sizeof(buf));
	for (off = 0; off < 8; off++)
		for (len = 0; len < 150; len++)
			EXPECT_EQ((uint32_t)~srdma_crc32(~0u, buf + off, len),
				  slow_crc32(buf + off, len));
}

TEST(crc32__chains)
{
	uint8_t buf[300];
	uint64_t state = 8;
	uint32_t crc;
	size_t cut;

	test_random_bytes(&state, buf, sizeof(buf));
	for (cut = 0; cut <= sizeof(buf); cut++) {
		crc = srdma_crc32(~0u, buf, cut);
		crc = srdma_crc32(crc, buf + cut, sizeof(buf) - cut);
		EXPECT_EQ((uint32_t)~crc, slow_crc32(buf, sizeof(buf)));
	}
}

static size_t bulk_bytes;

/* A faster function of the environment, as far as the hook can tell. */
static uint32_t counting_bulk(uint32_t crc, const void *p, size_t len)
{
	bulk_bytes += len;
	return srdma_crc32_portable(crc, p, len);
}

TEST(crc32_set_bulk__long_runs_only)
{
	uint8_t buf[1024];
	uint64_t state = 11;

	test_random_bytes(&state, buf, sizeof(buf));
	srdma_crc32_set_bulk(counting_bulk);
	EXPECT_EQ((uint32_t)~srdma_crc32(~0u, buf, 12), slow_crc32(buf, 12));
	EXPECT_EQ(bulk_bytes, 0);
	EXPECT_EQ((uint32_t)~srdma_crc32(~0u, buf, 1024),
		  slow_crc32(buf, 1024));
	EXPECT_EQ(bulk_bytes, 1024);
	srdma_crc32_set_bulk(NULL);
	srdma_crc32(~0u, buf, 1024);
	EXPECT_EQ(bulk_bytes, 1024);
}
