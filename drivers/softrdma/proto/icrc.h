/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The invariant CRC of RoCEv2 (section 7.8.1 and annex A17).
 *
 * It runs over eight bytes of ff (the link header RoCEv2 does not have), the
 * IP and UDP headers and the BTH with what routers may change read as ones,
 * then everything behind up to and including the padding. The state is a
 * plain u32 that is carried over scattered payload:
 *
 *	srdma_icrc_pseudo_v4(&ps, ip, udp);	once per flow or train
 *	srdma_icrc_pseudo_set(&ps, id, udp_len);	once per packet
 *	crc = srdma_icrc_start(&ps, bth);
 *	crc = srdma_icrc_update(crc, p, len);	headers behind the BTH, payload
 *	icrc = srdma_icrc_final(crc);		stored right behind
 */
#ifndef SRDMA_PROTO_ICRC_H
#define SRDMA_PROTO_ICRC_H

#include <linux/types.h>
#include <asm/byteorder.h>

#include "crc32.h"
#include "wire.h"

/* Make the tables: once, before anything else here. */
void srdma_icrc_init(void);

#define SRDMA_ICRC_PSEUDO_MAX	(8 + 40 + 8)

/**
 * struct srdma_icrc_pseudo - what the ICRC covers before the BTH
 * @bytes: eight ff, IP header, UDP header, variant fields set to ones
 * @len: bytes used: 36 for IPv4, 56 for IPv6
 *
 * Written by srdma_icrc_pseudo_v4() or _v6(), then srdma_icrc_pseudo_set().
 */
struct srdma_icrc_pseudo {
	u8 bytes[SRDMA_ICRC_PSEUDO_MAX];
	u8 len;
};

/*
 * Take over an IPv4 header of 20 bytes (a RoCEv2 packet has no options) and
 * a UDP header of 8, lengths and identification included.
 */
void srdma_icrc_pseudo_v4(struct srdma_icrc_pseudo *ps, const void *ip,
			  const void *udp);

/* Take over an IPv6 header of 40 bytes, no extension headers, and UDP. */
void srdma_icrc_pseudo_v6(struct srdma_icrc_pseudo *ps, const void *ip,
			  const void *udp);

/*
 * Change what differs from packet to packet of a flow: @ip_id, host order,
 * the IPv4 identification (ignored for IPv6), and @udp_len, the UDP length
 * with its header, from which the length in the IP header follows.
 */
void srdma_icrc_pseudo_set(struct srdma_icrc_pseudo *ps, u16 ip_id,
			   u16 udp_len);

/* State behind the BTH at @bth (12 bytes). */
u32 srdma_icrc_start(const struct srdma_icrc_pseudo *ps, const void *bth);

static inline u32 srdma_icrc_update(u32 crc, const void *p, size_t len)
{
	return srdma_crc32(crc, p, len);
}

/* What is stored behind the padding; the one little-endian field there is. */
static inline __le32 srdma_icrc_final(u32 crc)
{
	return cpu_to_le32(~crc);
}

/**
 * struct srdma_icrc_train - the start of every ICRC of a train, precomputed
 * @base: state before the last four bytes of the BTH, with @id
 * @id: IPv4 identification that @base holds, host order
 * @ipv4: whether there is an identification under the sum
 *
 * The CRC is linear: packets of a train that differ in identification, PSN
 * and AckReq only have starts that differ by a few table words. Written by
 * srdma_icrc_train_init().
 */
struct srdma_icrc_train {
	u32 base;
	u16 id;
	bool ipv4;
};

/* Prepare for packets that share @ps (set for the first) and 8 bytes of BTH. */
void srdma_icrc_train_init(struct srdma_icrc_train *tr,
			   const struct srdma_icrc_pseudo *ps,
			   const void *bth);

/* As srdma_icrc_start() for identification @ip_id and last BTH word @apsn. */
u32 srdma_icrc_train_start(const struct srdma_icrc_train *tr, u16 ip_id,
			   __be32 apsn);

#endif
