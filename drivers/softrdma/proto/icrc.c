// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The part of the ICRC that covers headers.
 */
#include <linux/cache.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>

#include "icrc.h"

#define LINK_LEN	8	/* stands for the link header of InfiniBand */
#define V4_LEN		20
#define V6_LEN		40
#define UDP_LEN		8

/* Bytes within the headers, from those of the link on. */
#define V4_TOS		(LINK_LEN + 1)
#define V4_TOT_LEN	(LINK_LEN + 2)
#define V4_ID		(LINK_LEN + 4)
#define V4_TTL		(LINK_LEN + 8)
#define V4_CHECK	(LINK_LEN + 10)
#define V6_FLOW		(LINK_LEN + 0)
#define V6_PAYLOAD_LEN	(LINK_LEN + 4)
#define V6_HOP_LIMIT	(LINK_LEN + 7)

/* Bytes within the UDP header. */
#define UDP_LENGTH	4
#define UDP_CHECK	6

#define V4_ALL		(LINK_LEN + V4_LEN + UDP_LEN)
#define V6_ALL		(LINK_LEN + V6_LEN + UDP_LEN)

/* The part of a BTH that packets of a kind share. */
#define BTH_SHARED	(SRDMA_BTH_LEN - 4)

/**
 * struct word_table - what 16 bits of a header do to a state some bytes on
 * @of: by the value of the first byte, and of the second
 *
 * The CRC is linear: the state with a value in a field is the one with 0 in it
 * plus what the table says.
 */
struct word_table {
	u32 of[2][256];
};

/* Up to the BTH. */
static struct word_table v4_tot_len __ro_after_init;
static struct word_table v6_payload_len __ro_after_init;
static struct word_table udp_length __ro_after_init;
/* Up to the last word of the BTH. */
static struct word_table v4_id __ro_after_init;

/* @distance: bytes between the field and the state */
static void init_table(struct word_table *table, u32 distance)
{
	u8 bytes[2 + V6_ALL] = {};
	u32 b;
	int i;

	for (i = 0; i < 2; i++) {
		for (b = 0; b < 256; b++) {
			bytes[i] = b;
			table->of[i][b] = srdma_crc32_portable(0, bytes,
							       2 + distance);
		}
		bytes[i] = 0;
	}
}

void srdma_icrc_init(void)
{
	srdma_crc32_init();
	init_table(&v4_tot_len, V4_ALL - V4_TOT_LEN - 2);
	init_table(&v6_payload_len, V6_ALL - V6_PAYLOAD_LEN - 2);
	init_table(&udp_length, UDP_LEN - UDP_LENGTH - 2);
	init_table(&v4_id, V4_ALL - V4_ID - 2 + BTH_SHARED);
}

static u32 look_up(const struct word_table *table, u16 v)
{
	return table->of[0][v >> 8] ^ table->of[1][v & 0xff];
}

static void put_udp_summed(u8 *p, const void *udp)
{
	memcpy(p, udp, UDP_LEN);
	memset(p + UDP_LENGTH, 0, 2);
	memset(p + UDP_CHECK, 0xff, 2);
}

void srdma_icrc_flow_v4(struct srdma_icrc_flow *flow, const void *ip,
			const void *udp)
{
	u8 b[V4_ALL];

	memset(b, 0xff, LINK_LEN);
	memcpy(b + LINK_LEN, ip, V4_LEN);
	b[V4_TOS] = 0xff;
	memset(b + V4_TOT_LEN, 0, 2);
	memset(b + V4_ID, 0, 2);
	b[V4_TTL] = 0xff;
	memset(b + V4_CHECK, 0xff, 2);
	put_udp_summed(b + LINK_LEN + V4_LEN, udp);
	flow->state = srdma_crc32_portable(~0u, b, sizeof(b));
	flow->ipv4 = true;
}

void srdma_icrc_flow_v6(struct srdma_icrc_flow *flow, const void *ip,
			const void *udp)
{
	u8 b[V6_ALL];

	memset(b, 0xff, LINK_LEN);
	memcpy(b + LINK_LEN, ip, V6_LEN);
	/* Traffic class and flow label; the four bits of the version stay. */
	b[V6_FLOW] |= 0x0f;
	memset(b + V6_FLOW + 1, 0xff, 3);
	memset(b + V6_PAYLOAD_LEN, 0, 2);
	b[V6_HOP_LIMIT] = 0xff;
	put_udp_summed(b + LINK_LEN + V6_LEN, udp);
	flow->state = srdma_crc32_portable(~0u, b, sizeof(b));
	flow->ipv4 = false;
}

u32 srdma_icrc_base(const struct srdma_icrc_flow *flow, u16 udp_len,
		    const void *bth)
{
	u32 crc = flow->state ^ look_up(&udp_length, udp_len);
	u8 head[BTH_SHARED];

	crc ^= flow->ipv4 ? look_up(&v4_tot_len, V4_LEN + udp_len) :
			    look_up(&v6_payload_len, udp_len);
	memcpy(head, bth, sizeof(head));
	head[SRDMA_BTH_RESV8_OFF] = 0xff;
	return srdma_crc32_portable(crc, head, sizeof(head));
}

u32 srdma_icrc_start(const struct srdma_icrc_flow *flow, u32 base, u16 ip_id,
		     __be32 apsn)
{
	if (flow->ipv4)
		base ^= look_up(&v4_id, ip_id);
	return srdma_crc32_word(base, apsn);
}
