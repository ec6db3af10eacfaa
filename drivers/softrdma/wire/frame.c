// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Frames: made from outgoing or received packets, and changed.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>

#include "objects/ah.h"
#include "observe/rule.h"
#include "proto/icrc.h"
#include "wire/arrived.h"
#include "wire/frame.h"
#include "wire/packet_in.h"

/* Room before the IP header: whatever link it goes over. */
#define LINK_ROOM	(LL_MAX_HEADER + 32)

static u32 ip_len(bool is_v6)
{
	return is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
}

static struct udphdr *udp_of(const struct sk_buff *frame)
{
	return (struct udphdr *)(frame->data + srdma_frame(frame)->begin) - 1;
}

/* ---- sums and lengths ---- */

static u16 ip_id(const struct sk_buff *frame)
{
	return srdma_frame(frame)->is_v6 ? 0 : ntohs(ip_hdr(frame)->id);
}

/* The ICRC that belongs behind the frame's bytes as they are. */
static __le32 icrc_of(const struct sk_buff *frame)
{
	const struct srdma_wire_bth *bth = srdma_frame_bth(frame);
	u32 len = srdma_frame_len(frame);
	struct srdma_icrc_flow flow;
	u32 crc;

	if (srdma_frame(frame)->is_v6)
		srdma_icrc_flow_v6(&flow, frame->data, udp_of(frame));
	else
		srdma_icrc_flow_v4(&flow, frame->data, udp_of(frame));
	crc = srdma_icrc_base(&flow, sizeof(struct udphdr) + len, bth);
	crc = srdma_icrc_start(&flow, crc, ip_id(frame), bth->apsn);
	crc = srdma_icrc_update(crc, bth + 1,
				len - sizeof(*bth) - SRDMA_ICRC_LEN);
	return srdma_icrc_final(crc);
}

static bool has_right_icrc(const struct sk_buff *frame)
{
	__le32 icrc = icrc_of(frame);

	return !memcmp(skb_tail_pointer(frame) - SRDMA_ICRC_LEN, &icrc,
		       SRDMA_ICRC_LEN);
}

/* Has the frame its ICRC again, if it had it before. */
void srdma_frame_seal(struct sk_buff *frame)
{
	__le32 icrc = icrc_of(frame);

	if (srdma_frame(frame)->icrc_is_right)
		memcpy(skb_tail_pointer(frame) - SRDMA_ICRC_LEN, &icrc,
		       SRDMA_ICRC_LEN);
}

/* The sum of the header that the UDP checksum stands for. */
static __sum16 pseudo_sum(const struct sk_buff *frame, u32 len)
{
	const struct ipv6hdr *ip6 = ipv6_hdr(frame);
	const struct iphdr *ip = ip_hdr(frame);

	if (srdma_frame(frame)->is_v6)
		return ~csum_ipv6_magic(&ip6->saddr, &ip6->daddr, len,
					IPPROTO_UDP, 0);
	return ~csum_tcpudp_magic(ip->saddr, ip->daddr, len, IPPROTO_UDP, 0);
}

static u32 udp_len(const struct sk_buff *frame)
{
	return frame->len - ip_len(srdma_frame(frame)->is_v6);
}

static void set_lengths(struct sk_buff *frame)
{
	if (srdma_frame(frame)->is_v6) {
		ipv6_hdr(frame)->payload_len = htons(udp_len(frame));
	} else {
		ip_hdr(frame)->tot_len = htons(frame->len);
		ip_send_check(ip_hdr(frame));
	}
	udp_of(frame)->len = htons(udp_len(frame));
}

/* True lengths, and a partial UDP checksum for a device to complete. */
static void finish_headers(struct sk_buff *frame)
{
	struct udphdr *uh = udp_of(frame);

	set_lengths(frame);
	uh->check = pseudo_sum(frame, udp_len(frame));
	frame->ip_summed = CHECKSUM_PARTIAL;
	frame->csum_start = (unsigned char *)uh - frame->head;
	frame->csum_offset = offsetof(struct udphdr, check);
}

/*
 * Makes the ICRC wrong. A partial checksum would tell the receiver that this host
 * vouches for the bytes: so the checksum is completed.
 */
void srdma_frame_unseal(struct sk_buff *frame)
{
	skb_tail_pointer(frame)[-1] ^= 0xff;
	if (frame->ip_summed == CHECKSUM_PARTIAL)
		skb_checksum_help(frame);
}

/* @bytes fewer, as far as there is a BTH and an ICRC left. */
void srdma_frame_shorten(struct sk_buff *frame, u32 bytes)
{
	u32 len = srdma_frame_len(frame);

	bytes = min_t(u32, bytes, len - SRDMA_BTH_LEN - SRDMA_ICRC_LEN);
	skb_trim(frame, frame->len - bytes);
	if (frame->ip_summed == CHECKSUM_PARTIAL)
		finish_headers(frame);
	else
		set_lengths(frame);
}

void srdma_frame_mark_ce(struct sk_buff *frame)
{
	if (srdma_frame(frame)->is_v6) {
		ipv6_change_dsfield(ipv6_hdr(frame), 0xff, INET_ECN_CE);
	} else {
		ip_hdr(frame)->tos |= INET_ECN_CE;
		ip_send_check(ip_hdr(frame));
	}
}

void srdma_frame_addresses(const struct sk_buff *frame, struct in6_addr *src,
			   struct in6_addr *dst)
{
	if (srdma_frame(frame)->is_v6) {
		*src = ipv6_hdr(frame)->saddr;
		*dst = ipv6_hdr(frame)->daddr;
	} else {
		ipv6_addr_set_v4mapped(ip_hdr(frame)->saddr, src);
		ipv6_addr_set_v4mapped(ip_hdr(frame)->daddr, dst);
	}
}

/* ---- fields ---- */

/**
 * struct field - where a field of a header is
 * @hdr: SRDMA_OP_* of its header; 0: the BTH
 * @at: offset in the header
 * @len: bytes that it is in, big endian
 * @shift: of its lowest bit
 * @bits: how many
 */
struct field {
	u32 hdr;
	u8 at;
	u8 len;
	u8 shift;
	u8 bits;
};

static const struct field fields[SRDMA_NL_FIELD_NR] = {
	[SRDMA_NL_FIELD_OPCODE] = { 0, 0, 1, 0, 8 },
	[SRDMA_NL_FIELD_SE] = { 0, 1, 1, 7, 1 },
	[SRDMA_NL_FIELD_PAD] = { 0, 1, 1, SRDMA_BTH_PAD_SHIFT, 2 },
	[SRDMA_NL_FIELD_TVER] = { 0, 1, 1, 0, 4 },
	[SRDMA_NL_FIELD_PKEY] = { 0, 2, 2, 0, 16 },
	[SRDMA_NL_FIELD_QPN] = { 0, 4, 4, 0, 24 },
	[SRDMA_NL_FIELD_ACKREQ] = { 0, 8, 1, 7, 1 },
	[SRDMA_NL_FIELD_PSN] = { 0, 8, 4, 0, 24 },
	[SRDMA_NL_FIELD_VA] = { SRDMA_OP_RETH, 0, 8, 0, 64 },
	[SRDMA_NL_FIELD_RKEY] = { SRDMA_OP_RETH, 8, 4, 0, 32 },
	[SRDMA_NL_FIELD_LENGTH] = { SRDMA_OP_RETH, 12, 4, 0, 32 },
	[SRDMA_NL_FIELD_SYNDROME] = { SRDMA_OP_AETH, 0, 1, 0, 8 },
	[SRDMA_NL_FIELD_MSN] = { SRDMA_OP_AETH, 0, 4, 0, 24 },
	[SRDMA_NL_FIELD_QKEY] = { SRDMA_OP_DETH, 0, 4, 0, 32 },
	[SRDMA_NL_FIELD_SRC_QPN] = { SRDMA_OP_DETH, 4, 4, 0, 24 },
	[SRDMA_NL_FIELD_IMM] = { SRDMA_OP_IMM, 0, 4, 0, 32 },
	[SRDMA_NL_FIELD_INV_RKEY] = { SRDMA_OP_IETH, 0, 4, 0, 32 },
};

/* Extension headers in the order in which they follow the BTH. */
static const struct {
	u32 hdr;
	u8 len;
} extensions[] = {
	{ SRDMA_OP_FETH, sizeof(struct srdma_wire_feth) },
	{ SRDMA_OP_RETH, sizeof(struct srdma_wire_reth) },
	{ SRDMA_OP_ATOMIC_ETH, sizeof(struct srdma_wire_atomic_eth) },
	{ SRDMA_OP_AETH, sizeof(struct srdma_wire_aeth) },
	{ SRDMA_OP_ATOMIC_ACK, sizeof(struct srdma_wire_atomic_ack) },
	{ SRDMA_OP_DETH, sizeof(struct srdma_wire_deth) },
	{ SRDMA_OP_IMM, sizeof(struct srdma_wire_imm) },
	{ SRDMA_OP_IETH, sizeof(struct srdma_wire_ieth) },
};

/* Address and key of an atomic lie as those of a RETH do. */
static bool is_in(const struct field *field, enum srdma_nl_field which, u32 hdr)
{
	if (hdr == SRDMA_OP_ATOMIC_ETH)
		return which == SRDMA_NL_FIELD_VA ||
		       which == SRDMA_NL_FIELD_RKEY;
	return field->hdr == hdr;
}

/* The first byte of a field, or NULL when the frame has none. */
static u8 *find_field(const struct sk_buff *frame, enum srdma_nl_field which)
{
	const struct srdma_wire_bth *bth = srdma_frame_bth(frame);
	u32 flags = srdma_opcode_get(bth->opcode)->flags;
	const struct field *field = &fields[which];
	u32 at = sizeof(*bth), i;

	if (!field->hdr)
		return (u8 *)bth + field->at;
	for (i = 0; i < ARRAY_SIZE(extensions); i++) {
		if (!(flags & extensions[i].hdr))
			continue;
		if (is_in(field, which, extensions[i].hdr) &&
		    at + extensions[i].len <= srdma_frame_len(frame))
			return (u8 *)bth + at + field->at;
		at += extensions[i].len;
	}
	return NULL;
}

/**
 * srdma_frame_set_field - give a field of a frame another value
 * @frame: frame
 * @order: which, and to what; or its lowest bit is flipped
 *
 * Return: false when the frame has no such field.
 */
bool srdma_frame_set_field(struct sk_buff *frame,
			   const struct srdma_order *order)
{
	const struct field *field = &fields[order->field];
	u64 mask = GENMASK_ULL(field->bits - 1, 0) << field->shift;
	u8 *p = find_field(frame, order->field);
	u64 all = 0, value;
	int i;

	if (!p)
		return false;
	for (i = 0; i < field->len; i++)
		all = all << 8 | p[i];
	value = order->has_value ? order->value << field->shift :
				   all ^ BIT_ULL(field->shift);
	all = (all & ~mask) | (value & mask);
	for (i = field->len - 1; i >= 0; i--, all >>= 8)
		p[i] = all;
	return true;
}

/* Changes the byte at @at of the payload; false when there is none. */
bool srdma_frame_spoil_payload(struct sk_buff *frame, u32 at)
{
	const struct srdma_wire_bth *bth = srdma_frame_bth(frame);
	const struct srdma_opcode_info *op = srdma_opcode_get(bth->opcode);
	u32 pad = (bth->flags & SRDMA_BTH_PAD_MASK) >> SRDMA_BTH_PAD_SHIFT;
	u32 len = srdma_frame_len(frame);

	if (!op->name || op->hdr_len + pad + SRDMA_ICRC_LEN >= len ||
	    at >= len - op->hdr_len - pad - SRDMA_ICRC_LEN)
		return false;
	((u8 *)bth)[op->hdr_len + at] ^= 0xff;
	return true;
}

/* ---- of packets on the wire ---- */

static struct sk_buff *alloc_frame(bool is_v6, u32 len)
{
	u32 begin = ip_len(is_v6) + sizeof(struct udphdr);
	struct sk_buff *frame;

	frame = alloc_skb(LINK_ROOM + begin + len, GFP_ATOMIC | __GFP_NOWARN);
	if (!frame)
		return NULL;
	skb_reserve(frame, LINK_ROOM);
	skb_reset_network_header(frame);
	skb_set_transport_header(frame, ip_len(is_v6));
	skb_put(frame, begin + len);
	*srdma_frame(frame) = (struct srdma_frame) {
		.begin = begin,
		.is_v6 = is_v6,
	};
	frame->protocol = is_v6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	return frame;
}

/* Is the ICRC right with this identification? */
static bool is_right_with_id(struct sk_buff *frame, u16 id)
{
	if (!srdma_frame(frame)->is_v6)
		ip_hdr(frame)->id = htons(id);
	return has_right_icrc(frame);
}

/*
 * Segments count their identification up. Packets that the stack has merged may
 * all have had that of the first: as in wire/packet_in.c, the ICRC decides.
 */
static void number(struct sk_buff *frame, u32 nth)
{
	u16 id = ip_id(frame);

	/* Of a train the last may be shorter than any packet. */
	if (srdma_frame_len(frame) < SRDMA_PKT_MIN)
		return;
	srdma_frame(frame)->icrc_is_right =
		is_right_with_id(frame, id + nth) ||
		(nth && is_right_with_id(frame, id)) ||
		is_right_with_id(frame, id + nth);
}

/* Bytes behind the UDP header at @at of an skb that holds @seg each, as a frame. */
static struct sk_buff *cut_one(const struct sk_buff *skb, bool is_v6,
			       bool vouched, u32 at, u32 seg, u32 nth)
{
	u32 begin = ip_len(is_v6) + sizeof(struct udphdr);
	u32 len = min(seg, skb->len - at);
	struct sk_buff *frame = alloc_frame(is_v6, len);

	if (!frame)
		return NULL;
	if (skb_copy_bits(skb, 0, frame->data, begin) ||
	    skb_copy_bits(skb, at, frame->data + begin, len)) {
		kfree_skb(frame);
		return NULL;
	}
	if (skb_dst(skb))
		skb_dst_set(frame, dst_clone(skb_dst(skb)));
	frame->dev = skb->dev;
	frame->priority = skb->priority;
	frame->mark = skb->mark;
	skb_copy_hash(frame, skb);
	number(frame, nth);
	finish_headers(frame);
	/* The receiver takes an unfinished checksum for a stack that vouches. */
	if (!vouched)
		frame->ip_summed = CHECKSUM_UNNECESSARY;
	return frame;
}

/**
 * srdma_frames_cut - a frame of each packet of an skb
 * @skb: one packet or a train, from the IP header on; not consumed
 * @is_v6: IPv6
 * @vouched: a stack on this host has built it, and its ICRCs need no check
 * @list: frames are added to it
 *
 * Return: how many packets there was no memory for.
 */
int srdma_frames_cut(struct sk_buff *skb, bool is_v6, bool vouched,
		     struct sk_buff_head *list)
{
	u32 begin = ip_len(is_v6) + sizeof(struct udphdr);
	u32 seg = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size :
				    skb->len - begin;
	struct sk_buff *frame;
	int lost = 0;
	u32 at, nth;

	for (at = begin, nth = 0; at < skb->len; at += seg, nth++) {
		frame = cut_one(skb, is_v6, vouched, at, seg, nth);
		if (frame)
			__skb_queue_tail(list, frame);
		else
			lost++;
	}
	return lost;
}

/* ---- of looped bursts ---- */

static void write_ip(struct sk_buff *frame, const struct srdma_loop *loop, u16 id)
{
	struct udphdr *uh = udp_of(frame);

	if (loop->av.is_v6) {
		struct ipv6hdr *ip6 = ipv6_hdr(frame);

		*ip6 = (struct ipv6hdr) {
			.nexthdr = IPPROTO_UDP,
			.hop_limit = srdma_loop_hop_limit(loop),
			.saddr = loop->av.src,
			.daddr = loop->av.dst,
		};
		ip6_flow_hdr(ip6, loop->av.traffic_class, htonl(loop->av.flow_label));
	} else {
		*ip_hdr(frame) = (struct iphdr) {
			.version = 4,
			.ihl = sizeof(struct iphdr) / 4,
			.tos = loop->av.traffic_class,
			.id = htons(id),
			.frag_off = htons(IP_DF),
			.ttl = srdma_loop_hop_limit(loop),
			.protocol = IPPROTO_UDP,
			.saddr = loop->av.src.s6_addr32[3],
			.daddr = loop->av.dst.s6_addr32[3],
		};
	}
	*uh = (struct udphdr) {
		.source = htons(loop->av.udp_sport),
		.dest = htons(SRDMA_UDP_PORT),
	};
}

/* The packet of a looped burst with a number, as it would be on the wire. */
static struct sk_buff *write_one(const struct sk_buff *skb, u32 i, u16 id)
{
	const struct srdma_loop *loop = srdma_loop_of(skb);
	const struct srdma_burst *burst = &loop->burst;
	u8 opcode = srdma_burst_opcode(burst, i);
	const struct srdma_opcode_info *op = srdma_opcode_get(opcode);
	u32 len = op->payload == SRDMA_PAY_NONE ? 0 :
		  srdma_burst_payload(burst, i);
	bool last = i + 1 == burst->count;
	struct srdma_pkt pkt = loop->hdr;
	struct sk_buff *frame;
	u8 *p;

	frame = alloc_frame(loop->av.is_v6, srdma_pkt_wire_len(op->hdr_len, len));
	if (!frame)
		return NULL;
	write_ip(frame, loop, id + i);
	pkt.psn = srdma_burst_psn(burst, i);
	pkt.payload_len = len;
	pkt.ack_req = last && burst->ack_req;
	pkt.se = last && burst->solicited;
	p = (u8 *)srdma_frame_bth(frame);
	p += srdma_pkt_build_as(p, &pkt, opcode);
	if (skb_copy_bits(skb, sizeof(*loop) + i * burst->seg, p, len)) {
		kfree_skb(frame);
		return NULL;
	}
	memset(p + len, 0, srdma_pkt_pad(len));
	srdma_frame(frame)->is_looped = true;
	srdma_frame(frame)->icrc_is_right = true;
	srdma_frame_seal(frame);
	finish_headers(frame);
	return frame;
}

/**
 * srdma_frames_write - the frames that a looped burst would have been
 * @skb: looped skb with its payload behind it, not lent; not consumed
 * @id: IPv4 identification of the first
 * @list: frames are added to it
 *
 * Return: how many packets there was no memory for.
 */
int srdma_frames_write(const struct sk_buff *skb, u16 id, struct sk_buff_head *list)
{
	u32 i, count = srdma_loop_of(skb)->burst.count;
	struct sk_buff *frame;
	int lost = 0;

	for (i = 0; i < count; i++) {
		frame = write_one(skb, i, id);
		if (frame)
			__skb_queue_tail(list, frame);
		else
			lost++;
	}
	return lost;
}
