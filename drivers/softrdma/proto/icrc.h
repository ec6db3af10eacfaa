/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The invariant CRC of RoCEv2 (section 7.8.1 and annex A17).
 *
 * It runs over eight bytes of ff (the link header RoCEv2 does not have), the
 * IP and UDP headers and the BTH with what routers may change read as ones,
 * then everything behind up to and including the padding. The state is a
 * plain u32 that is carried over scattered payload:
 *
 *	srdma_icrc_flow_v4(&flow, ip, udp);		once per flow
 *	base = srdma_icrc_base(&flow, udp_len, bth);	per kind of packet
 *	crc = srdma_icrc_start(&flow, base, id, apsn);	per packet
 *	crc = srdma_icrc_update(crc, p, len);	headers behind the BTH, payload
 *	crc = srdma_icrc_add8(crc, of8);	or headers that were seen before
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

/**
 * struct srdma_icrc_flow - what the packets of a flow share before the BTH
 * @state: of the sum there, where lengths and identification are 0
 * @ipv4: which of the headers
 */
struct srdma_icrc_flow {
	u32 state;
	bool ipv4;
};

/*
 * From an IPv4 header of 20 bytes (a RoCEv2 packet has no options) and a UDP
 * header of 8. Lengths and identification in them do not matter.
 */
void srdma_icrc_flow_v4(struct srdma_icrc_flow *flow, const void *ip,
			const void *udp);

/* From an IPv6 header of 40 bytes, no extension headers, and UDP. */
void srdma_icrc_flow_v6(struct srdma_icrc_flow *flow, const void *ip,
			const void *udp);

/*
 * State before the last word of the BTH, with identification 0: the same for
 * packets that are as long, @udp_len with the UDP header, and have the same
 * first 8 bytes of their BTHs as @bth.
 */
u32 srdma_icrc_base(const struct srdma_icrc_flow *flow, u16 udp_len,
		    const void *bth);

/*
 * State behind the BTH, the last word of which is @apsn. @ip_id, host order, is
 * the identification of IPv4; IPv6 has none.
 */
u32 srdma_icrc_start(const struct srdma_icrc_flow *flow, u32 base, u16 ip_id,
		     __be32 apsn);

/*
 * Eight bytes that many packets have behind the BTH, as datagrams of one QP do: what
 * they add to the state behind them, whatever is before; and the state there.
 */
static inline u32 srdma_icrc_of8(const void *p)
{
	return srdma_crc32_portable(0, p, 8);
}

static inline u32 srdma_icrc_add8(u32 crc, u32 of8)
{
	return srdma_crc32_zeros8(crc) ^ of8;
}

static inline u32 srdma_icrc_update(u32 crc, const void *p, size_t len)
{
	return srdma_crc32(crc, p, len);
}

/* What is stored behind the padding; the one little-endian field there is. */
static inline __le32 srdma_icrc_final(u32 crc)
{
	return cpu_to_le32(~crc);
}

#endif
