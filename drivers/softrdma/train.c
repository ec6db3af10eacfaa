// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Trains: one skb that carries consecutive packets of a burst, each complete
 * with BTH, pad and ICRC, to be cut by UDP segmentation where they have to go
 * one by one. And their counterpart for a QP of the same device, which needs
 * no more than the payload.
 *
 * A train is a linear part with the IP and the UDP header, and fragments with
 * the packets back to back. Each packet is contiguous in memory: so its headers
 * are written in place, and its sum runs once over what was just copied.
 */
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <net/ip6_checksum.h>
#include <net/sock.h>
#include <net/udp.h>

#include "arrival.h"
#include "device.h"
#include "qp.h"
#include "train.h"
#include "tx.h"

/*
 * A looped payload up to this is copied next to the struct srdma_loop before
 * it: cheaper than the references to its pages and their release.
 */
#define LOOP_REFER_MIN	2048

/* A looped payload that is copied and longer goes into fragments. */
#define LOOP_LINEAR_MAX	2048

/* Memory for fragments; bottom halves are disabled where it is used. */
static DEFINE_PER_CPU(struct page_frag, frag_cache);

/**
 * struct builder - a train in the making
 * @tx: what is to be sent
 * @path: the way, with the headers before the BTH
 * @hdr_len: BTH and extension headers, bytes
 * @hdr: these, of a packet of the burst without opcode, pad, SE, PSN, AckReq
 * @flags: byte 1 of the BTH without pad and SE
 * @start: where the ICRCs of packets like the last one start
 * @start_opcode: opcode that @start is for
 * @start_flags: byte 1 of the BTH that @start is for
 * @start_len: packet length that @start is for, 0 when it is for none
 */
struct builder {
	const struct srdma_tx *tx;
	struct srdma_path *path;
	u32 hdr_len;
	u8 hdr[SRDMA_HDR_MAX];
	u8 flags;
	struct srdma_icrc_train start;
	u8 start_opcode;
	u8 start_flags;
	u32 start_len;
};

/* READ requests, atomics and FLUSH ask for bytes and carry none. */
static bool has_payload(const struct srdma_burst *burst)
{
	return srdma_opcode_get(burst->first)->payload != SRDMA_PAY_NONE;
}

static u32 payload_len(const struct srdma_tx *tx, u32 i)
{
	return has_payload(tx->burst) ? srdma_burst_payload(tx->burst, i) : 0;
}

static void init_builder(struct builder *b, const struct srdma_tx *tx)
{
	struct srdma_pkt pkt = *tx->hdr;
	struct srdma_wire_bth *bth;

	pkt.opcode = tx->burst->first;
	pkt.payload_len = 0;
	pkt.psn = 0;
	pkt.ack_req = false;
	pkt.se = false;

	b->tx = tx;
	b->path = tx->path;
	b->hdr_len = srdma_pkt_build(b->hdr, &pkt);
	bth = (struct srdma_wire_bth *)b->hdr;
	b->flags = bth->flags;
	b->start_len = 0;
}

static u32 packet_len(const struct builder *b, u32 i)
{
	return srdma_pkt_wire_len(b->hdr_len, payload_len(b->tx, i));
}

/* Writes the headers of packet @i of the burst. */
static void put_headers(const struct builder *b, u32 i, u8 *p, u32 len)
{
	const struct srdma_burst *burst = b->tx->burst;
	struct srdma_wire_bth *bth = (struct srdma_wire_bth *)p;
	bool last = i + 1 == burst->count;

	memcpy(p, b->hdr, b->hdr_len);
	bth->opcode = srdma_burst_opcode(burst, i);
	bth->flags = b->flags | srdma_pkt_pad(len) << SRDMA_BTH_PAD_SHIFT |
		     (last && burst->solicited ? SRDMA_BTH_SE : 0);
	bth->apsn = cpu_to_be32(srdma_burst_psn(burst, i) |
			(last && burst->ack_req ? SRDMA_BTH_ACKREQ : 0));
}

/* The ICRC up to the BTH; most of it is the same for packets in a row. */
static u32 start_icrc(struct builder *b, const u8 *p, u32 wire_len, u16 id)
{
	const struct srdma_wire_bth *bth = (const struct srdma_wire_bth *)p;

	if (b->start_len != wire_len || b->start_opcode != bth->opcode ||
	    b->start_flags != bth->flags) {
		srdma_icrc_pseudo_set(&b->path->pseudo, id,
				      sizeof(struct udphdr) + wire_len);
		srdma_icrc_train_init(&b->start, &b->path->pseudo, p);
		b->start_len = wire_len;
		b->start_opcode = bth->opcode;
		b->start_flags = bth->flags;
	}
	return srdma_icrc_train_start(&b->start, id, bth->apsn);
}

/* Writes packet @i of the burst, the @nth of its skb, to @p. */
static int put_packet(struct builder *b, u32 i, u32 nth, u8 *p, u32 wire_len)
{
	const struct srdma_burst *burst = b->tx->burst;
	u32 icrc_off = wire_len - SRDMA_ICRC_LEN;
	u32 len = payload_len(b->tx, i);
	__le32 icrc;
	u32 crc;

	put_headers(b, i, p, len);
	if (len) {
		struct srdma_payload *payload = b->tx->payload;

		if (payload->ops->copy(payload, burst->offset + i * burst->seg,
				       p + b->hdr_len, len))
			return -EFAULT;
		memset(p + b->hdr_len + len, 0, srdma_pkt_pad(len));
	}
	crc = start_icrc(b, p, wire_len, b->path->id + nth);
	crc = srdma_icrc_update(crc, p + SRDMA_BTH_LEN,
				icrc_off - SRDMA_BTH_LEN);
	icrc = srdma_icrc_final(crc);
	memcpy(p + icrc_off, &icrc, sizeof(icrc));
	return 0;
}

/*
 * Sees that there are at least @min bytes for fragments of @skb in one piece.
 * Returns how many there are, or 0.
 */
static u32 frag_open(struct sk_buff *skb, struct page_frag *pf, u32 min)
{
	if (!pf->page || pf->size - pf->offset < min) {
		/* It falls back on single pages, however much is asked for. */
		if (!skb_page_frag_refill(min, pf, GFP_ATOMIC | __GFP_NOWARN) ||
		    pf->size - pf->offset < min)
			return 0;
	}
	if (skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS &&
	    !skb_can_coalesce(skb, MAX_SKB_FRAGS, pf->page, pf->offset))
		return 0;
	return pf->size - pf->offset;
}

/* Adds the next @len bytes that frag_open() found to the end of @skb. */
static void frag_take(struct sk_buff *skb, struct page_frag *pf, u32 len)
{
	int n = skb_shinfo(skb)->nr_frags;

	if (skb_can_coalesce(skb, n, pf->page, pf->offset)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[n - 1], len);
	} else {
		get_page(pf->page);
		skb_fill_page_desc(skb, n, pf->page, pf->offset, len);
	}
	pf->offset += len;
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
}

/* Puts packets into fragments; returns how many it could, or an error. */
static int put_train(struct builder *b, struct sk_buff *skb, u32 first,
		     u32 count)
{
	struct page_frag *pf = this_cpu_ptr(&frag_cache);
	u32 i;

	for (i = 0; i < count; i++) {
		u32 len = packet_len(b, first + i);
		u8 *p;

		if (!frag_open(skb, pf, len))
			break;
		p = page_address(pf->page) + pf->offset;
		if (put_packet(b, first + i, i, p, len))
			return -EFAULT;
		frag_take(skb, pf, len);
	}
	return i;
}

/* An skb with room for the headers before the BTH, and @linear bytes. */
static struct sk_buff *alloc_wire_skb(const struct srdma_path *path, u32 linear)
{
	u32 room = LL_RESERVED_SPACE(path->dst->dev) + path->dst->header_len +
		   path->hdr_len;
	struct sk_buff *skb;

	skb = alloc_skb(room + linear, GFP_ATOMIC | __GFP_NOWARN);
	if (skb)
		skb_reserve(skb, room);
	return skb;
}

/*
 * The UDP checksum is left to whoever needs it: with a train that is the one
 * way there is, and packets that stay on this host need none.
 */
static void put_udp(struct sk_buff *skb, const struct srdma_path *path,
		    struct udphdr *uh)
{
	const struct srdma_av *av = &path->av;
	u32 len = skb->len - skb_transport_offset(skb);
	__sum16 sum;

	if (av->is_v6)
		sum = csum_ipv6_magic(&av->src, &av->dst, len, IPPROTO_UDP, 0);
	else
		sum = csum_tcpudp_magic(av->src.s6_addr32[3],
					av->dst.s6_addr32[3], len, IPPROTO_UDP,
					0);
	uh->len = htons(len);
	uh->check = ~sum;
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = (unsigned char *)uh - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
}

/* Puts IP and UDP before @count packets; the stack fills in the IP length. */
static void finish(const struct builder *b, struct sk_buff *skb, u32 first,
		   u32 count)
{
	struct srdma_path *path = b->path;
	bool is_v6 = path->av.is_v6;

	memcpy(skb_push(skb, path->hdr_len), path->hdr, path->hdr_len);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, path->hdr_len - sizeof(struct udphdr));
	if (!is_v6)
		ip_hdr(skb)->id = htons(path->id);
	path->id += count;
	put_udp(skb, path, udp_hdr(skb));

	if (count > 1) {
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
		skb_shinfo(skb)->gso_size = packet_len(b, first);
		skb_shinfo(skb)->gso_segs = count;
	}
	skb->protocol = is_v6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	skb->dev = path->dst->dev;
	skb->priority = path->priority;
	skb_set_hash(skb, path->hash, PKT_HASH_TYPE_L4);
	skb_dst_set_noref(skb, path->dst);
}

static struct sk_buff *build_train(struct builder *b, u32 first, u32 *count)
{
	struct sk_buff *skb;
	int n;

	skb = alloc_wire_skb(b->path, 0);
	if (!skb)
		return ERR_PTR(-ENOMEM);
	n = put_train(b, skb, first, *count);
	if (n <= 0) {
		kfree_skb(skb);
		return ERR_PTR(n ?: -ENOMEM);
	}
	*count = n;
	finish(b, skb, first, n);
	return skb;
}

static struct sk_buff *build_single(struct builder *b, u32 first)
{
	u32 len = packet_len(b, first);
	struct sk_buff *skb;

	skb = alloc_wire_skb(b->path, len);
	if (!skb)
		return ERR_PTR(-ENOMEM);
	if (put_packet(b, first, 0, skb_put(skb, len), len)) {
		kfree_skb(skb);
		return ERR_PTR(-EFAULT);
	}
	finish(b, skb, first, 1);
	return skb;
}

/**
 * srdma_train_build - packets for the wire
 * @tx: what is to be sent; the path has a route
 * @first: first packet of the burst that goes into the skb
 * @count: most packets that may; filled with how many did, 1 at least
 *
 * The caller is in an RCU section, on whose end the skb's route must not be
 * relied on.
 *
 * Return: an skb to be handed to the stack, -EFAULT when the payload cannot
 * be had, or -ENOMEM.
 */
struct sk_buff *srdma_train_build(const struct srdma_tx *tx, u32 first,
				  u32 *count)
{
	struct builder b;

	init_builder(&b, tx);
	if (*count > 1) {
		struct sk_buff *skb = build_train(&b, first, count);

		if (skb != ERR_PTR(-ENOMEM))
			return skb;
		/* Memory in pieces may still hold one packet. */
		*count = 1;
		b.start_len = 0;
	}
	return build_single(&b, first);
}

static int copy_to_frags(struct srdma_payload *payload, u32 offset,
			 struct sk_buff *skb, u32 len)
{
	struct page_frag *pf = this_cpu_ptr(&frag_cache);

	while (len) {
		u32 n = min(frag_open(skb, pf, 1), len);

		if (!n)
			return -ENOMEM;
		if (payload->ops->copy(payload, offset,
				       page_address(pf->page) + pf->offset, n))
			return -EFAULT;
		frag_take(skb, pf, n);
		offset += n;
		len -= n;
	}
	return 0;
}

static int put_loop_payload(const struct srdma_tx *tx, struct sk_buff *skb,
			    u32 len)
{
	struct srdma_payload *payload = tx->payload;
	u32 offset = tx->burst->offset;

	if (len >= LOOP_REFER_MIN && tx->may_refer) {
		int err = payload->ops->refer(payload, offset, skb, len);

		if (err != -E2BIG)
			return err;
	}
	if (len <= skb_tailroom(skb))
		return payload->ops->copy(payload, offset, skb_put(skb, len),
					  len);
	return copy_to_frags(payload, offset, skb, len);
}

static void fill_loop(const struct srdma_tx *tx, struct srdma_loop *loop,
		      u32 len)
{
	const struct srdma_av *av = tx->av;

	loop->hdr = *tx->hdr;
	loop->burst = *tx->burst;
	/* The packets of a READ request and its like carry nothing. */
	loop->burst.len = len;
	if (!len)
		loop->burst.seg = 0;
	loop->src = av->src;
	loop->dst = av->dst;
	loop->traffic_class = av->traffic_class;
	loop->hop_limit = av->hop_limit ?: IPDEFTTL;
	loop->is_v6 = av->is_v6;
}

static void fill_arrival(const struct srdma_tx *tx, struct sk_buff *skb)
{
	*srdma_arrival(skb) = (struct srdma_arrival){
		.dev = tx->qp->dev,
		.left = tx->burst->count,
		.kind = SRDMA_ARRIVAL_LOOP,
	};
}

/**
 * srdma_train_build_loop - a burst for a QP of the same device
 * @tx: what is to be sent
 *
 * Return: an skb to be dispatched, or an error as of srdma_train_build().
 */
struct sk_buff *srdma_train_build_loop(const struct srdma_tx *tx)
{
	u32 len = has_payload(tx->burst) ? tx->burst->len : 0;
	struct sk_buff *skb;
	int err = 0;

	skb = alloc_skb(sizeof(struct srdma_loop) +
			(len <= LOOP_LINEAR_MAX ? len : 0),
			GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return ERR_PTR(-ENOMEM);
	fill_loop(tx, skb_put(skb, sizeof(struct srdma_loop)), len);
	fill_arrival(tx, skb);
	if (len)
		err = put_loop_payload(tx, skb, len);
	if (err) {
		kfree_skb(skb);
		return ERR_PTR(err);
	}
	return skb;
}

/* Nothing is built any more. */
void srdma_train_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct page_frag *pf = per_cpu_ptr(&frag_cache, cpu);

		if (pf->page)
			put_page(pf->page);
		pf->page = NULL;
	}
}
