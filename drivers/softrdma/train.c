// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Trains: one skb that carries consecutive packets, of one burst or of many,
 * each complete with BTH, pad and ICRC, to be cut by UDP segmentation where
 * they have to go one by one. And their counterpart for a QP of the same
 * device, which needs no more than the payload.
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
#include "crc.h"
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

/* A packet alone that is shorter does not repay taking vector registers. */
#define SINGLE_VECTOR_MIN	256

/*
 * Memory for fragments: used in turn, so that a page that comes round again is
 * likely to be free, and neither allocated nor cleared anew.
 */
#define FRAG_PAGES	8

/**
 * struct frag_pool - memory for fragments; used with bottom halves disabled
 * @pf: pages, and how much of each is used
 * @now: the one in use
 */
struct frag_pool {
	struct page_frag pf[FRAG_PAGES];
	u32 now;
};

static DEFINE_PER_CPU(struct frag_pool, frag_pool);

/* As many as one run is likely to have on their way at once. */
#define SPARE_LOOPS	16

/**
 * struct spare_loops - looped skbs that were used up: the next ones that this
 *	CPU needs, since an answer, or the next message, is likely to follow at
 *	once. Used with bottom halves disabled.
 * @skb: they
 * @count: how many
 */
struct spare_loops {
	struct sk_buff *skb[SPARE_LOOPS];
	u32 count;
};

static DEFINE_PER_CPU(struct spare_loops, spare_loops);

/* KASAN is to see who uses one too long. */
#define KEEP_SPARE	(!IS_ENABLED(CONFIG_KASAN))

/**
 * struct builder - a train in the making
 * @tx: what is to be sent
 * @path: the way, with the headers before the BTH
 * @hdr_len: BTH and extension headers, bytes
 * @hdr: these, of a packet of the burst without opcode, pad, SE, PSN, AckReq
 * @flags: byte 1 of the BTH without pad and SE
 * @vector: vector registers may be used
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
	bool vector;
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

/* Payload is walked over from packet @first of the burst on, until closed. */
static int open_payload(const struct srdma_tx *tx, u32 first)
{
	const struct srdma_burst *burst = tx->burst;

	if (!tx->payload || !burst->len || !has_payload(burst))
		return 0;
	return tx->payload->ops->open(tx->payload,
				      burst->offset + first * burst->seg);
}

static void close_payload(const struct srdma_tx *tx)
{
	if (tx->payload && tx->burst->len && has_payload(tx->burst))
		tx->payload->ops->close(tx->payload);
}

/* Writes packet @i of the burst, the @nth of its skb, to @p. */
static int put_packet(struct builder *b, u32 i, u32 nth, u8 *p, u32 wire_len)
{
	u32 len = payload_len(b->tx, i);
	u8 *end = p + b->hdr_len + len;
	__le32 icrc;
	u32 crc;

	put_headers(b, i, p, len);
	crc = start_icrc(b, p, wire_len, b->path->id + nth);
	if (b->hdr_len > SRDMA_BTH_LEN)
		crc = srdma_icrc_update(crc, p + SRDMA_BTH_LEN,
					b->hdr_len - SRDMA_BTH_LEN);
	if (len) {
		u32 pad = srdma_pkt_pad(len);

		if (srdma_mem_read_sum(&b->tx->payload->it, p + b->hdr_len, len,
				       &crc, b->vector))
			return -EFAULT;
		if (pad) {
			memset(end, 0, pad);
			crc = srdma_icrc_update(crc, end, pad);
			end += pad;
		}
	}
	icrc = srdma_icrc_final(crc);
	memcpy(end, &icrc, sizeof(icrc));
	return 0;
}

/*
 * Sees that there are at least @min bytes for fragments of @skb in one piece.
 * Returns how many there are, or 0.
 */
static u32 frag_open(struct sk_buff *skb, struct frag_pool *pool, u32 min)
{
	struct page_frag *pf = &pool->pf[pool->now];

	if (!pf->page || pf->size - pf->offset < min) {
		pool->now = (pool->now + 1) % FRAG_PAGES;
		pf = &pool->pf[pool->now];
		/* It falls back on single pages, however much is asked for. */
		if (!skb_page_frag_refill(min, pf,
					  GFP_ATOMIC | __GFP_NOWARN) ||
		    pf->size - pf->offset < min)
			return 0;
	}
	if (skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS &&
	    !skb_can_coalesce(skb, MAX_SKB_FRAGS, pf->page, pf->offset))
		return 0;
	return pf->size - pf->offset;
}

static u8 *frag_at(const struct frag_pool *pool)
{
	const struct page_frag *pf = &pool->pf[pool->now];

	return page_address(pf->page) + pf->offset;
}

/* Adds the next @len bytes that frag_open() found to the end of @skb. */
static void frag_take(struct sk_buff *skb, struct frag_pool *pool, u32 len)
{
	struct page_frag *pf = &pool->pf[pool->now];
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

/* Puts packets back to back to @p; returns the bytes used, or an error. */
static int put_packets(struct builder *b, u32 first, u32 nth, u32 count, u8 *p)
{
	u8 *end = p;
	u32 i, len;

	for (i = 0; i < count; i++, end += len) {
		len = packet_len(b, first + i);
		if (put_packet(b, first + i, nth + i, end, len))
			return -EFAULT;
	}
	return end - p;
}

/* Puts packets into fragments; returns how many it could, or an error. */
static int put_train(struct builder *b, struct srdma_train *train, u32 first,
		     u32 count)
{
	struct frag_pool *pool = this_cpu_ptr(&frag_pool);
	u32 each = packet_len(b, first);
	u32 i, n, room;
	int bytes;

	for (i = 0; i < count; i += n) {
		room = frag_open(train->skb, pool, each);
		if (!room)
			break;
		n = min(count - i, room / each);
		bytes = put_packets(b, first + i, train->count, n,
				    frag_at(pool));
		if (bytes < 0)
			return bytes;
		frag_take(train->skb, pool, bytes);
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
	put_udp(skb, path, udp_hdr(skb));

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

	n = open_payload(b->tx, first);
	if (!n) {
		b->vector = repays_vector(count * packet_len(b, first)) &&
			    srdma_crc_begin();
		n = put_train(b, train, first, count);
		srdma_crc_end(b->vector);
		close_payload(b->tx);
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
	u32 hdr_len = srdma_opcode_get(tx->burst->first)->hdr_len;
	u32 len = srdma_pkt_wire_len(hdr_len, payload_len(tx, first));

	return !train->full &&
	       (len == train->each || (len < train->each && count == 1));
}

/**
 * srdma_train_add - add packets to a train, or begin one
 * @train: train; srdma_train_takes() said yes, or there is none
 * @tx: what is to be sent; the path has a route
 * @first: first packet of the burst that is added
 * @count: how many; filled with how many were
 *
 * Return: 0; -EFAULT when the payload cannot be had, or -ENOMEM: none was added.
 */
int srdma_train_add(struct srdma_train *train, const struct srdma_tx *tx,
		    u32 first, u32 *count)
{
	struct builder b;
	int n;

	init_builder(&b, tx);
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
	u32 len;
	int err;

	init_builder(&b, tx);
	len = packet_len(&b, first);
	skb = alloc_wire_skb(tx->path, len);
	if (!skb)
		return ERR_PTR(-ENOMEM);
	err = open_payload(tx, first);
	if (!err) {
		b.vector = repays_vector(len) && srdma_crc_begin();
		err = put_packet(&b, first, 0, skb_put(skb, len), len);
		srdma_crc_end(b.vector);
		close_payload(tx);
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
	if (*count > 1) {
		struct sk_buff *skb = build_train(tx, first, count);

		if (skb != ERR_PTR(-ENOMEM))
			return skb;
		/* Memory in pieces may still hold one packet. */
		*count = 1;
	}
	return build_single(tx, first);
}

static int copy_to_frags(struct srdma_mem_iter *it, struct sk_buff *skb,
			 u32 len)
{
	struct frag_pool *pool = this_cpu_ptr(&frag_pool);

	while (len) {
		u32 n = min(frag_open(skb, pool, 1), len);

		if (!n)
			return -ENOMEM;
		if (srdma_mem_read(it, frag_at(pool), n))
			return -EFAULT;
		frag_take(skb, pool, n);
		len -= n;
	}
	return 0;
}

/* Lends the pages of the next @len bytes; -E2BIG when they cannot be had so. */
static int refer_to_pages(struct srdma_mem_iter *it, struct sk_buff *skb,
			  u32 len)
{
	struct srdma_mem_piece piece;
	enum srdma_mem_why why;
	int frag = 0;

	for (; len; len -= piece.len) {
		if (frag == MAX_SKB_FRAGS)
			return -E2BIG;
		why = srdma_mem_piece(it, len, &piece);
		if (why)
			return why == SRDMA_MEM_COPY ? -E2BIG : -EFAULT;
		get_page(piece.page);
		skb_add_rx_frag(skb, frag++, piece.page, piece.offset,
				piece.len, piece.len);
	}
	return 0;
}

static void drop_pages(struct sk_buff *skb)
{
	int i;

	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++)
		put_page(skb_frag_page(&skb_shinfo(skb)->frags[i]));
	skb_shinfo(skb)->nr_frags = 0;
	skb->truesize -= skb->data_len;
	skb->len -= skb->data_len;
	skb->data_len = 0;
}

static int copy_loop_payload(struct srdma_mem_iter *it, struct sk_buff *skb,
			     u32 len)
{
	if (len > skb_tailroom(skb))
		return copy_to_frags(it, skb, len);
	return srdma_mem_read(it, skb_put(skb, len), len) ? -EFAULT : 0;
}

static int put_loop_payload(const struct srdma_tx *tx, struct sk_buff *skb,
			    u32 len)
{
	int err = -E2BIG;

	if (len >= LOOP_REFER_MIN && tx->may_refer) {
		err = open_payload(tx, 0);
		if (err)
			return err;
		err = refer_to_pages(&tx->payload->it, skb, len);
		close_payload(tx);
		if (err)
			drop_pages(skb);
	}
	if (err != -E2BIG)
		return err;
	err = open_payload(tx, 0);
	if (err)
		return err;
	err = copy_loop_payload(&tx->payload->it, skb, len);
	close_payload(tx);
	return err;
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

/* Empty, with room for @len bytes, or for none where they go into fragments. */
static struct sk_buff *alloc_loop(u32 len)
{
	struct spare_loops *spare = this_cpu_ptr(&spare_loops);

	if (spare->count)
		return spare->skb[--spare->count];
	/* One that is going to be kept serves for any. */
	if (KEEP_SPARE)
		len = LOOP_LINEAR_MAX;
	else if (len > LOOP_LINEAR_MAX)
		len = 0;
	return alloc_skb(sizeof(struct srdma_loop) + len,
			 GFP_ATOMIC | __GFP_NOWARN);
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

	skb = alloc_loop(len);
	if (!skb)
		return ERR_PTR(-ENOMEM);
	fill_loop(tx, skb_put(skb, sizeof(struct srdma_loop)), len);
	fill_arrival(tx, skb);
	if (len)
		err = put_loop_payload(tx, skb, len);
	if (err) {
		srdma_train_free_loop(skb);
		return ERR_PTR(err);
	}
	return skb;
}

/**
 * srdma_train_free_loop - give back what srdma_train_build_loop() has built
 * @skb: looped skb, or a clone of one
 *
 * Bottom halves are disabled.
 */
void srdma_train_free_loop(struct sk_buff *skb)
{
	struct spare_loops *spare = this_cpu_ptr(&spare_loops);

	if (!KEEP_SPARE || spare->count == SPARE_LOOPS || skb_cloned(skb) ||
	    skb_shared(skb)) {
		consume_skb(skb);
		return;
	}
	if (skb_is_nonlinear(skb))
		drop_pages(skb);
	skb->len = 0;
	skb_reset_tail_pointer(skb);
	spare->skb[spare->count++] = skb;
}

/* Nothing is built any more. */
void srdma_train_exit(void)
{
	struct spare_loops *spare;
	int cpu, i;

	for_each_possible_cpu(cpu) {
		struct frag_pool *pool = per_cpu_ptr(&frag_pool, cpu);

		for (i = 0; i < FRAG_PAGES; i++) {
			if (pool->pf[i].page)
				put_page(pool->pf[i].page);
			pool->pf[i].page = NULL;
		}
		spare = per_cpu_ptr(&spare_loops, cpu);
		while (spare->count)
			consume_skb(spare->skb[--spare->count]);
	}
}
