// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Trains: one skb that carries consecutive packets, of one burst or of many,
 * each complete with BTH, pad and ICRC. UDP segmentation cuts it where packets
 * have to go one by one.
 *
 * Packets are back to back, behind the IP and UDP headers in a short train, and
 * in fragments in a long one. Each packet is contiguous in memory. So its
 * headers are written in place, and its sum runs once over what was just
 * copied.
 */
#include <linux/skbuff.h>
#include <net/checksum.h>
#include <net/sock.h>
#include <net/udp.h>

#include "base/crc.h"
#include "wire/outgoing.h"
#include "wire/skb_pool.h"
#include "wire/train.h"

/* A payload that is shorter does not repay taking vector registers (crc32.c). */
#define VECTOR_MIN	64

/* Most bytes of a train without fragments, and room where more may follow. */
#define SHORT_TRAIN	(SZ_4K + SZ_1K)
#define OPEN_TRAIN	SZ_2K

/* No extension headers are like these. */
#define NO_HDRS		(~0U)

/* Taking them costs as much as summing up a short message. */
static bool take_vector(bool *held)
{
	if (!held)
		return srdma_crc_begin();
	if (!*held)
		*held = srdma_crc_begin();
	return *held;
}

/**
 * srdma_builder_begin - begin to build a burst
 * @b: builder
 * @tx: what is to be sent; the path has a route
 * @held: whether vector registers are held already: the caller lets them go, for more
 *	bursts may follow. NULL: nobody holds them
 *
 * Until srdma_builder_end() bottom halves are disabled, vector registers may be
 * taken, and nothing is handed over.
 */
void srdma_builder_begin(struct srdma_builder *b, const struct srdma_tx *tx,
			 bool *held)
{
	const struct srdma_burst *burst = tx->burst;
	bool has_payload = srdma_tx_has_payload(tx);

	b->tx = tx;
	b->path = tx->path;
	b->last = burst->count - 1;
	b->seg = has_payload ? burst->seg : 0;
	b->seg_last = has_payload ? srdma_burst_payload(burst, b->last) : 0;
	b->hdrs = NO_HDRS;
	b->held = held;
	b->vector = has_payload && burst->len >= VECTOR_MIN &&
		    take_vector(held);
}

/* To be called once, however the building ends. */
void srdma_builder_end(struct srdma_builder *b)
{
	if (!b->held)
		srdma_crc_end(b->vector);
	srdma_tx_close_payload(b->tx);
}

static u32 payload_len(const struct srdma_builder *b, u32 i)
{
	return i == b->last ? b->seg_last : b->seg;
}

static u32 packet_len(const struct srdma_builder *b, u32 i)
{
	return srdma_pkt_wire_len(b->hdr_len, payload_len(b, i));
}

/**
 * srdma_builder_go_to - choose what is built next
 * @b: builder
 * @first: a packet of the burst; those behind it that are built before the next
 *	call have the same headers
 */
void srdma_builder_go_to(struct srdma_builder *b, u32 first)
{
	u8 opcode = srdma_burst_opcode(b->tx->burst, first);
	const struct srdma_opcode_info *op = srdma_opcode_get(opcode);
	const struct srdma_wire_bth *bth = (struct srdma_wire_bth *)b->hdr;
	u32 hdrs = op->flags & SRDMA_OP_HDRS;

	/* Most have none of a kind of their own; a LAST may have a FIRST's. */
	if (b->hdrs == NO_HDRS || (hdrs && hdrs != b->hdrs)) {
		srdma_pkt_build_as(b->hdr, b->tx->hdr, opcode);
		b->flags = bth->flags & ~(SRDMA_BTH_SE | SRDMA_BTH_PAD_MASK);
		b->hdrs = hdrs;
	}
	b->first = first;
	b->hdr_len = op->hdr_len;
	b->each = packet_len(b, first);
}

/* Writes the headers of packet @i of the burst. */
static void put_headers(const struct srdma_builder *b, u32 i, u8 *p, u32 len)
{
	const struct srdma_burst *burst = b->tx->burst;
	struct srdma_wire_bth *bth = (struct srdma_wire_bth *)p;
	bool last = i == b->last;

	/* Most packets have no other headers; what is constant needs no call. */
	switch (b->hdr_len) {
	case SRDMA_BTH_LEN:
		memcpy(p, b->hdr, SRDMA_BTH_LEN);
		break;
	case SRDMA_BTH_LEN + sizeof(struct srdma_wire_aeth):
		memcpy(p, b->hdr,
		       SRDMA_BTH_LEN + sizeof(struct srdma_wire_aeth));
		break;
	case SRDMA_BTH_LEN + sizeof(struct srdma_wire_deth):
		memcpy(p, b->hdr,
		       SRDMA_BTH_LEN + sizeof(struct srdma_wire_deth));
		break;
	case SRDMA_BTH_LEN + sizeof(struct srdma_wire_reth):
		memcpy(p, b->hdr,
		       SRDMA_BTH_LEN + sizeof(struct srdma_wire_reth));
		break;
	default:
		memcpy(p, b->hdr, b->hdr_len);
	}
	bth->opcode = srdma_burst_opcode(burst, i);
	bth->flags = b->flags | srdma_pkt_pad(len) << SRDMA_BTH_PAD_SHIFT |
		     (last && burst->solicited ? SRDMA_BTH_SE : 0);
	bth->apsn = cpu_to_be32(srdma_burst_psn(burst, i) |
			(u32)burst->stamp << SRDMA_BTH_STAMP_SHIFT |
			(last && burst->ack_req ? SRDMA_BTH_ACKREQ : 0));
}

static struct srdma_path_kind *kind_of(struct srdma_path *path, const u8 *p)
{
	const struct srdma_wire_bth *bth = (const struct srdma_wire_bth *)p;

	return &path->kinds[bth->opcode % SRDMA_PATH_KINDS];
}

/* The ICRC up to the BTH; most of it is the same for packets of a kind. */
static u32 start_icrc(struct srdma_path *path, u32 nth, const u8 *p,
		      u32 wire_len)
{
	const struct srdma_wire_bth *bth = (const struct srdma_wire_bth *)p;
	struct srdma_path_kind *kind = kind_of(path, p);
	u64 head;

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
 * And over what follows the BTH: a datagram's QP sends the same each time. Datagrams are
 * of two kinds, so the last one of a path is free for that: of zeros, it adds nothing.
 */
static u32 extend_icrc(struct srdma_path *path, u32 crc, const u8 *p,
		       u32 hdr_len)
{
	const u8 *ext = p + SRDMA_BTH_LEN;
	u32 len = hdr_len - SRDMA_BTH_LEN;
	struct srdma_path_kind *kind = &path->kinds[SRDMA_PATH_KINDS - 1];
	u64 all;

	if (len != sizeof(all))
		return srdma_icrc_update(crc, ext, len);
	memcpy(&all, ext, sizeof(all));
	if (kind->bth != all) {
		kind->bth = all;
		kind->icrc = srdma_icrc_of8(ext);
	}
	return srdma_icrc_add8(crc, kind->icrc);
}

/*
 * Writes packet @i of the burst, the @nth of its skb, to @p; returns the bytes
 * used, or an error.
 */
static __always_inline int put_packet(struct srdma_builder *b, u32 i, u32 nth,
				      u8 *p)
{
	u32 len = payload_len(b, i);
	u32 wire_len = srdma_pkt_wire_len(b->hdr_len, len);
	u8 *end = p + b->hdr_len + len;
	__le32 icrc;
	u32 crc;

	put_headers(b, i, p, len);
	crc = start_icrc(b->path, nth, p, wire_len);
	if (b->hdr_len > SRDMA_BTH_LEN)
		crc = extend_icrc(b->path, crc, p, b->hdr_len);
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

/*
 * Puts @count packets from @i on, the @nth of their skb and so on, back to back
 * to @p; returns the bytes used, or an error. The loop is quickest when it has
 * all registers for itself.
 */
static noinline int put_packets(struct srdma_builder *b, u32 i, u32 nth, u32 count,
		       u8 *p)
{
	u32 end = nth + count;
	u8 *at = p;
	int len;

	for (; nth < end; i++, nth++, at += len) {
		len = put_packet(b, i, nth, at);
		if (len < 0)
			return len;
	}
	return at - p;
}

/* Puts packets where there is room; returns how many it could, or an error. */
static int put_train(struct srdma_builder *b, struct srdma_train *train,
		     u32 count)
{
	struct sk_buff *skb = train->skb;
	u32 i, n, room;
	bool linear;
	int bytes;
	u8 *p;

	for (i = 0; i < count; i += n) {
		room = train->room;
		linear = room >= b->each;
		if (linear)
			p = skb_tail_pointer(skb);
		else
			room = srdma_skb_pool_open(skb, b->each, &p);
		if (!room)
			break;
		n = count - i;
		if (room < n * b->each)
			n = room / b->each;
		bytes = put_packets(b, b->first + i, train->count, n, p);
		if (!linear)
			srdma_skb_pool_take(skb, max(bytes, 0));
		if (bytes < 0)
			return bytes;
		if (linear)
			__skb_put(skb, bytes);
		train->room = linear ? room - bytes : 0;
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

	skb = srdma_skb_pool_alloc(room + linear);
	if (skb)
		skb_reserve(skb, room);
	return skb;
}

/*
 * The UDP checksum is partial, for a device to complete. A train allows nothing
 * else, and packets that stay on this host need no checksum.
 */
static void put_udp_header(struct sk_buff *skb, const struct srdma_path *path,
			   struct udphdr *uh)
{
	u32 len = skb->len - skb_transport_offset(skb);

	uh->len = htons(len);
	uh->check = ~csum_fold(csum_add(path->pseudo,
					(__force __wsum)htonl(len)));
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

	__skb_push(skb, path->hdr_len);
	if (is_v6)
		memcpy(skb->data, path->hdr, SRDMA_PATH_HDR_MAX);
	else
		memcpy(skb->data, path->hdr, SRDMA_PATH_HDR_V4);
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
	skb_set_dst_pending_confirm(skb, path->confirms);
	path->confirms = false;
}

/*
 * Bytes of a train that begins with @count packets. The next burst may begin with what
 * this one ends with. Short messages that follow have room if all are as long.
 */
static u32 linear_room(const struct srdma_builder *b, u32 count)
{
	u32 bytes = count * b->each;
	u32 all = bytes + b->tx->more * b->each;

	if (!b->tx->more)
		return bytes;
	if (all > OPEN_TRAIN && all <= SHORT_TRAIN)
		return all;
	return max3(bytes, b->each * 2, (u32)OPEN_TRAIN);
}

/* Begins a train that has nothing yet, with @count packets next. */
static int open_train(struct srdma_train *train, const struct srdma_builder *b,
		      u32 count)
{
	u32 bytes = linear_room(b, count);

	train->room = bytes <= SHORT_TRAIN ? bytes : 0;
	train->skb = alloc_wire_skb(b->path, train->room);
	if (!train->skb && train->room) {
		/* Memory in pieces may still hold the packets. */
		train->room = 0;
		train->skb = alloc_wire_skb(b->path, 0);
	}
	train->count = 0;
	train->each = b->each;
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

/**
 * srdma_train_takes - may packets be added to a train
 * @train: one that there is
 * @b: builder, at the first packet that would be added
 * @count: how many
 *
 * UDP segmentation cuts all but the last to one length.
 */
bool srdma_train_takes(const struct srdma_train *train,
		       const struct srdma_builder *b, u32 count)
{
	return !train->full && (b->each == train->each ||
				(b->each < train->each && count == 1));
}

/**
 * srdma_train_add - add packets to a train, or begin one
 * @train: train; srdma_train_takes() said yes, or there is none
 * @b: builder, at the first packet that is added
 * @count: how many, all with the same headers; filled with how many were
 *
 * Return: 0; -EFAULT when the payload cannot be had, or -ENOMEM: none was added.
 */
int srdma_train_add(struct srdma_train *train, struct srdma_builder *b,
		    u32 *count)
{
	u32 had, len;
	int n;

	n = train->skb ? 0 : open_train(train, b, *count);
	if (n)
		return n;
	had = train->count;
	len = train->skb->len;
	n = srdma_tx_open_payload(b->tx, b->first);
	if (!n)
		n = put_train(b, train, *count);
	if (n <= 0) {
		cut_back(train, had, len);
		return n ?: -ENOMEM;
	}
	train->full = packet_len(b, b->first + n - 1) != train->each;
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

static struct sk_buff *build_train(struct srdma_builder *b, u32 *count)
{
	struct srdma_train train = {};
	int err;

	err = srdma_train_add(&train, b, count);
	return err ? ERR_PTR(err) : srdma_train_close(&train, b->path);
}

static struct sk_buff *build_single(struct srdma_builder *b)
{
	struct sk_buff *skb;
	int err;

	skb = alloc_wire_skb(b->path, b->each);
	if (!skb)
		return ERR_PTR(-ENOMEM);
	err = srdma_tx_open_payload(b->tx, b->first);
	if (!err)
		err = put_packets(b, b->first, 0, 1, __skb_put(skb, b->each));
	if (err < 0) {
		kfree_skb(skb);
		return ERR_PTR(-EFAULT);
	}
	finish(b->path, skb, b->each, 1);
	return skb;
}

/**
 * srdma_train_build - packets for the wire
 * @b: builder, at the first packet that goes into the skb
 * @count: most packets that may, all with the same headers; filled with how
 *	many did, 1 at least
 *
 * The caller is in an RCU section, on whose end the skb's route must not be
 * relied on.
 *
 * Return: an skb to be handed to the stack, -EFAULT when the payload cannot
 * be had, or -ENOMEM.
 */
struct sk_buff *srdma_train_build(struct srdma_builder *b, u32 *count)
{
	if (*count > 1) {
		struct sk_buff *skb = build_train(b, count);

		if (skb != ERR_PTR(-ENOMEM))
			return skb;
		/* Or one of them. */
		*count = 1;
	}
	return build_single(b);
}
