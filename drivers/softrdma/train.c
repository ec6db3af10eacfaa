// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Trains: one skb that carries consecutive packets, of one burst or of many,
 * each complete with BTH, pad and ICRC, to be cut by UDP segmentation where
 * they have to go one by one.
 *
 * A train is a linear part with the IP and the UDP header, and fragments with
 * the packets back to back. Each packet is contiguous in memory: so its headers
 * are written in place, and its sum runs once over what was just copied.
 */
#include <linux/skbuff.h>
#include <net/ip6_checksum.h>
#include <net/sock.h>
#include <net/udp.h>

#include "crc.h"
#include "frags.h"
#include "path.h"
#include "train.h"
#include "tx.h"

/* A packet alone that is shorter does not repay taking vector registers. */
#define SINGLE_VECTOR_MIN	256

/**
 * struct builder - a train in the making
 * @tx: what is to be sent
 * @path: the way, with the headers before the BTH
 * @hdr_len: BTH and extension headers, bytes
 * @seg: bytes of payload of every packet but the last of the burst
 * @seg_last: of that one
 * @hdr: these, of each packet without opcode, pad, SE, PSN, AckReq
 * @flags: byte 1 of the BTH without pad and SE
 * @vector: vector registers may be used
 */
struct builder {
	const struct srdma_tx *tx;
	struct srdma_path *path;
	u32 hdr_len;
	u32 seg;
	u32 seg_last;
	u8 hdr[SRDMA_HDR_MAX];
	u8 flags;
	bool vector;
};

/* For packets that have the headers of packet @first of the burst. */
static void init_builder(struct builder *b, const struct srdma_tx *tx,
			 u32 first)
{
	const struct srdma_burst *burst = tx->burst;
	u8 opcode = srdma_burst_opcode(burst, first);
	bool has_payload = srdma_tx_has_payload(tx);
	const struct srdma_wire_bth *bth;

	b->tx = tx;
	b->path = tx->path;
	b->hdr_len = srdma_pkt_build_as(b->hdr, tx->hdr, opcode);
	b->seg = has_payload ? burst->seg : 0;
	b->seg_last = has_payload ?
		      srdma_burst_payload(burst, burst->count - 1) : 0;
	bth = (const struct srdma_wire_bth *)b->hdr;
	b->flags = bth->flags & ~(SRDMA_BTH_SE | SRDMA_BTH_PAD_MASK);
}

static u32 payload_len(const struct builder *b, u32 i)
{
	return i + 1 == b->tx->burst->count ? b->seg_last : b->seg;
}

static u32 packet_len(const struct builder *b, u32 i)
{
	return srdma_pkt_wire_len(b->hdr_len, payload_len(b, i));
}

/* Writes the headers of packet @i of the burst. */
static void put_headers(const struct builder *b, u32 i, u8 *p, u32 len)
{
	const struct srdma_burst *burst = b->tx->burst;
	struct srdma_wire_bth *bth = (struct srdma_wire_bth *)p;
	bool last = i + 1 == burst->count;

	/* Most packets of a train have nothing but this. */
	if (b->hdr_len == SRDMA_BTH_LEN)
		memcpy(p, b->hdr, SRDMA_BTH_LEN);
	else
		memcpy(p, b->hdr, b->hdr_len);
	bth->opcode = srdma_burst_opcode(burst, i);
	bth->flags = b->flags | srdma_pkt_pad(len) << SRDMA_BTH_PAD_SHIFT |
		     (last && burst->solicited ? SRDMA_BTH_SE : 0);
	bth->apsn = cpu_to_be32(srdma_burst_psn(burst, i) |
			(last && burst->ack_req ? SRDMA_BTH_ACKREQ : 0));
}

/* The ICRC up to the BTH; most of it is the same for packets of a kind. */
static u32 start_icrc(struct srdma_path *path, u32 nth, const u8 *p,
		      u32 wire_len)
{
	const struct srdma_wire_bth *bth = (const struct srdma_wire_bth *)p;
	struct srdma_path_kind *kind;
	u64 head;

	kind = &path->kinds[bth->opcode % SRDMA_PATH_KINDS];
	memcpy(&head, p, sizeof(head));
	if (kind->bth != head || kind->len != wire_len) {
		kind->bth = head;
		kind->len = wire_len;
		kind->icrc = srdma_icrc_base(&path->icrc,
					     sizeof(struct udphdr) + wire_len,
					     bth);
	}
	return srdma_icrc_start(&path->icrc, kind->icrc, path->id + nth,
				bth->apsn);
}

/*
 * Writes packet @i of the burst, the @nth of its skb, to @p; returns the bytes
 * used, or an error.
 */
static int put_packet(struct builder *b, u32 i, u32 nth, u8 *p)
{
	u32 len = payload_len(b, i);
	u32 wire_len = srdma_pkt_wire_len(b->hdr_len, len);
	u8 *end = p + b->hdr_len + len;
	__le32 icrc;
	u32 crc;

	put_headers(b, i, p, len);
	crc = start_icrc(b->path, nth, p, wire_len);
	if (b->hdr_len > SRDMA_BTH_LEN)
		crc = srdma_icrc_update(crc, p + SRDMA_BTH_LEN,
					b->hdr_len - SRDMA_BTH_LEN);
	if (len) {
		struct srdma_payload *payload = b->tx->payload;
		u32 pad = srdma_pkt_pad(len);

		if (srdma_mem_read_sum(&payload->it, p + b->hdr_len, len, &crc,
				       b->vector)) {
			/* It has stopped somewhere. */
			srdma_payload_close(payload);
			return -EFAULT;
		}
		payload->next += len;
		if (pad) {
			memset(end, 0, pad);
			crc = srdma_icrc_update(crc, end, pad);
			end += pad;
		}
	}
	icrc = srdma_icrc_final(crc);
	memcpy(end, &icrc, sizeof(icrc));
	return wire_len;
}

/* Puts packets back to back to @p; returns the bytes used, or an error. */
static int put_packets(struct builder *b, u32 first, u32 nth, u32 count, u8 *p)
{
	u8 *end = p;
	int len;
	u32 i;

	for (i = 0; i < count; i++, end += len) {
		len = put_packet(b, first + i, nth + i, end);
		if (len < 0)
			return len;
	}
	return end - p;
}

/* Puts packets into fragments; returns how many it could, or an error. */
static int put_train(struct builder *b, struct srdma_train *train, u32 first,
		     u32 count)
{
	u32 each = packet_len(b, first);
	u32 i, n, room;
	int bytes;
	u8 *p;

	for (i = 0; i < count; i += n) {
		room = srdma_frags_open(train->skb, each, &p);
		if (!room)
			break;
		n = min(count - i, room / each);
		bytes = put_packets(b, first + i, train->count, n, p);
		if (bytes < 0)
			return bytes;
		srdma_frags_take(train->skb, bytes);
		train->count += n;
	}
	return i;
}

/* An skb with room for the headers before the BTH, and @linear bytes. */
static struct sk_buff *alloc_wire_skb(const struct srdma_path *path, u32 linear)
{
	u32 room = LL_RESERVED_SPACE(path->dst->dev) + path->dst->header_len +
		   path->hdr_len;
	struct sk_buff *skb;

	skb = srdma_frags_skb(room + linear);
	if (skb)
		skb_reserve(skb, room);
	return skb;
}

/*
 * The UDP checksum is left to whoever needs it: with a train that is the one
 * way there is, and packets that stay on this host need none.
 */
static void put_udp_header(struct sk_buff *skb, const struct srdma_path *path,
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

/*
 * Puts IP and UDP before @count packets of @each bytes, the last of which may
 * be shorter; the stack fills in the IP length.
 */
static void finish(struct srdma_path *path, struct sk_buff *skb, u32 each,
		   u32 count)
{
	bool is_v6 = path->av.is_v6;

	memcpy(skb_push(skb, path->hdr_len), path->hdr, path->hdr_len);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, path->hdr_len - sizeof(struct udphdr));
	if (!is_v6)
		ip_hdr(skb)->id = htons(path->id);
	path->id += count;
	put_udp_header(skb, path, udp_hdr(skb));

	if (count > 1) {
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
		skb_shinfo(skb)->gso_size = each;
		skb_shinfo(skb)->gso_segs = count;
	}
	skb->protocol = is_v6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	skb->dev = path->dst->dev;
	skb->priority = path->priority;
	skb_set_hash(skb, path->hash, PKT_HASH_TYPE_L4);
	skb_dst_set_noref(skb, path->dst);
}

static bool repays_vector(u32 bytes)
{
	return bytes > SINGLE_VECTOR_MIN;
}

/* Begins a train that has nothing yet, with packet @first of the burst next. */
static int open_train(struct srdma_train *train, const struct builder *b,
		      u32 first)
{
	train->skb = alloc_wire_skb(b->path, 0);
	train->count = 0;
	train->each = packet_len(b, first);
	train->full = false;
	return train->skb ? 0 : -ENOMEM;
}

/* Back to what it was; a train of nothing is none. */
static void cut_back(struct srdma_train *train, u32 count, u32 len)
{
	if (count && !pskb_trim(train->skb, len)) {
		train->count = count;
		return;
	}
	kfree_skb(train->skb);
	train->skb = NULL;
}

/* Returns how many packets found room, 0 without memory, or an error. */
static int add(struct builder *b, struct srdma_train *train, u32 first,
	       u32 count)
{
	u32 had = train->count, len = train->skb->len;
	int n;

	n = srdma_tx_open_payload(b->tx, first);
	if (!n) {
		b->vector = repays_vector(count * packet_len(b, first)) &&
			    srdma_crc_begin();
		n = put_train(b, train, first, count);
		srdma_crc_end(b->vector);
	}
	if (n <= 0)
		cut_back(train, had, len);
	else
		train->full = packet_len(b, first + n - 1) != train->each;
	return n;
}

/**
 * srdma_train_takes - may packets be added to a train
 * @train: one that there is
 * @tx: what is to be sent
 * @first: first packet of the burst that would be added
 * @count: how many
 *
 * UDP segmentation cuts all but the last to one length.
 */
bool srdma_train_takes(const struct srdma_train *train,
		       const struct srdma_tx *tx, u32 first, u32 count)
{
	u32 len = srdma_tx_packet_len(tx, first);

	return !train->full &&
	       (len == train->each || (len < train->each && count == 1));
}

/**
 * srdma_train_add - add packets to a train, or begin one
 * @train: train; srdma_train_takes() said yes, or there is none
 * @tx: what is to be sent; the path has a route
 * @first: first packet of the burst that is added
 * @count: how many, all with the same headers; filled with how many were
 *
 * The payload is left open, for the next ones.
 *
 * Return: 0; -EFAULT when the payload cannot be had, or -ENOMEM: none was added.
 */
int srdma_train_add(struct srdma_train *train, const struct srdma_tx *tx,
		    u32 first, u32 *count)
{
	struct builder b;
	int n;

	init_builder(&b, tx, first);
	if (!train->skb) {
		n = open_train(train, &b, first);
		if (n)
			return n;
	}
	n = add(&b, train, first, *count);
	if (n <= 0)
		return n ?: -ENOMEM;
	*count = n;
	return 0;
}

/**
 * srdma_train_close - make an skb of a train; there is none any more
 * @train: train
 * @path: the path that it was built for; it has a route
 *
 * Return: an skb as of srdma_train_build().
 */
struct sk_buff *srdma_train_close(struct srdma_train *train,
				  struct srdma_path *path)
{
	struct sk_buff *skb = train->skb;

	finish(path, skb, train->each, train->count);
	train->skb = NULL;
	return skb;
}

static struct sk_buff *build_train(const struct srdma_tx *tx, u32 first,
				   u32 *count)
{
	struct srdma_train train = {};
	int err;

	err = srdma_train_add(&train, tx, first, count);
	return err ? ERR_PTR(err) : srdma_train_close(&train, tx->path);
}

static struct sk_buff *build_single(const struct srdma_tx *tx, u32 first)
{
	struct sk_buff *skb;
	struct builder b;
	int err, n;
	u32 len;

	init_builder(&b, tx, first);
	len = packet_len(&b, first);
	skb = alloc_wire_skb(tx->path, len);
	if (!skb)
		return ERR_PTR(-ENOMEM);
	err = srdma_tx_open_payload(tx, first);
	if (!err) {
		b.vector = repays_vector(len) && srdma_crc_begin();
		n = put_packet(&b, first, 0, skb_put(skb, len));
		err = n < 0 ? n : 0;
		srdma_crc_end(b.vector);
	}
	if (err) {
		kfree_skb(skb);
		return ERR_PTR(-EFAULT);
	}
	finish(tx->path, skb, len, 1);
	return skb;
}

/**
 * srdma_train_build - packets for the wire
 * @tx: what is to be sent; the path has a route
 * @first: first packet of the burst that goes into the skb
 * @count: most packets that may, all with the same headers; filled with how
 *	many did, 1 at least
 *
 * The caller is in an RCU section, on whose end the skb's route must not be
 * relied on. The payload is left open, for the packets behind these.
 *
 * Return: an skb to be handed to the stack, -EFAULT when the payload cannot
 * be had, or -ENOMEM.
 */
struct sk_buff *srdma_train_build(const struct srdma_tx *tx, u32 first,
				  u32 *count)
{
	if (*count > 1) {
		struct sk_buff *skb = build_train(tx, first, count);

		if (skb != ERR_PTR(-ENOMEM))
			return skb;
		/* Memory in pieces may still hold one packet. */
		*count = 1;
	}
	return build_single(tx, first);
}
