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

/* Bytes within the headers, from the start of the pseudo header. */
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

/* What lies between the identification and the last word of the BTH. */
#define ID_DISTANCE	(LINK_LEN + V4_LEN + UDP_LEN - V4_ID - 2 + \
			 SRDMA_BTH_LEN - 4)

/* id_table[i][b]: what byte i of the identification does to a train's base. */
static u32 id_table[2][256] __ro_after_init;

static void put_be16(u8 *p, u16 v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static u16 get_be16(const u8 *p)
{
	return p[0] << 8 | p[1];
}

void srdma_icrc_init(void)
{
	u8 bytes[2 + ID_DISTANCE] = {};
	u32 b;
	int i;

	srdma_crc32_init();
	for (i = 0; i < 2; i++) {
		for (b = 0; b < 256; b++) {
			bytes[i] = b;
			id_table[i][b] = srdma_crc32_portable(0, bytes,
							      sizeof(bytes));
		}
		bytes[i] = 0;
	}
}

static void put_udp(u8 *p, const void *udp)
{
	memcpy(p, udp, UDP_LEN);
	memset(p + UDP_CHECK, 0xff, 2);
}

void srdma_icrc_pseudo_v4(struct srdma_icrc_pseudo *ps, const void *ip,
			  const void *udp)
{
	u8 *b = ps->bytes;

	memset(b, 0xff, LINK_LEN);
	memcpy(b + LINK_LEN, ip, V4_LEN);
	b[V4_TOS] = 0xff;
	b[V4_TTL] = 0xff;
	memset(b + V4_CHECK, 0xff, 2);
	put_udp(b + LINK_LEN + V4_LEN, udp);
	ps->len = LINK_LEN + V4_LEN + UDP_LEN;
}

void srdma_icrc_pseudo_v6(struct srdma_icrc_pseudo *ps, const void *ip,
			  const void *udp)
{
	u8 *b = ps->bytes;

	memset(b, 0xff, LINK_LEN);
	memcpy(b + LINK_LEN, ip, V6_LEN);
	/* Traffic class and flow label; the four bits of the version stay. */
	b[V6_FLOW] |= 0x0f;
	memset(b + V6_FLOW + 1, 0xff, 3);
	b[V6_HOP_LIMIT] = 0xff;
	put_udp(b + LINK_LEN + V6_LEN, udp);
	ps->len = LINK_LEN + V6_LEN + UDP_LEN;
}

static bool is_ipv4(const struct srdma_icrc_pseudo *ps)
{
	return ps->len == LINK_LEN + V4_LEN + UDP_LEN;
}

void srdma_icrc_pseudo_set(struct srdma_icrc_pseudo *ps, u16 ip_id, u16 udp_len)
{
	u8 *b = ps->bytes;

	if (is_ipv4(ps)) {
		put_be16(b + V4_TOT_LEN, V4_LEN + udp_len);
		put_be16(b + V4_ID, ip_id);
	} else {
		put_be16(b + V6_PAYLOAD_LEN, udp_len);
	}
	put_be16(b + ps->len - UDP_LEN + UDP_LENGTH, udp_len);
}

/* State before the last word of the BTH. */
static u32 start_base(const struct srdma_icrc_pseudo *ps, const void *bth)
{
	u8 head[SRDMA_BTH_LEN - 4];
	u32 crc;

	memcpy(head, bth, sizeof(head));
	head[SRDMA_BTH_RESV8_OFF] = 0xff;
	crc = srdma_crc32_portable(~0u, ps->bytes, ps->len);
	return srdma_crc32_portable(crc, head, sizeof(head));
}

u32 srdma_icrc_start(const struct srdma_icrc_pseudo *ps, const void *bth)
{
	const u8 *apsn = (const u8 *)bth + SRDMA_BTH_LEN - 4;

	return srdma_crc32_portable(start_base(ps, bth), apsn, 4);
}

void srdma_icrc_train_init(struct srdma_icrc_train *tr,
			   const struct srdma_icrc_pseudo *ps, const void *bth)
{
	tr->base = start_base(ps, bth);
	tr->ipv4 = is_ipv4(ps);
	tr->id = tr->ipv4 ? get_be16(ps->bytes + V4_ID) : 0;
}

u32 srdma_icrc_train_start(const struct srdma_icrc_train *tr, u16 ip_id,
			   __be32 apsn)
{
	u16 differ = tr->ipv4 ? tr->id ^ ip_id : 0;
	u32 crc = tr->base ^ id_table[0][differ >> 8] ^
		  id_table[1][differ & 0xff];

	return srdma_crc32_word(crc, apsn);
}
