// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Received packets, one by one. Each is found in its skb and parsed, its ICRC
 * is verified unless the stack vouches for it, and it is matched with the
 * engine that asks. The bytes stay where they are and are never written to: a
 * packet socket may read the same ones.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include "objects/device.h"
#include "objects/qp.h"
#include "proto/run.h"
#include "wire/drop.h"
#include "wire/hook.h"
#include "wire/loop.h"
#include "wire/packet_in.h"

/* What a CRC-32 becomes that runs over its own complement as well. */
#define CRC_RESIDUE	0xdebb20e3u

/* What was done when it came is not done again; the rest is about its answer. */
static void forget_order(struct srdma_packet_in *in)
{
	if (in->order == SRDMA_NL_ACT_CNP)
		in->order = 0;
}

/**
 * srdma_packet_in_hold - the packet last returned, to be looked at later
 * @skb: what arrived; not looped
 * @psn: of the packet
 *
 * It becomes the next and only one.
 */
void srdma_packet_in_hold(struct sk_buff *skb, u32 psn)
{
	struct srdma_packet_in *in = srdma_packet_in(skb);

	in->index--;
	in->next -= in->seg;
	in->left = 1;
	in->psn = psn;
	in->is_held = true;
	forget_order(in);
}

/**
 * srdma_packet_in_hold_more - the packet last returned, behind one that is held
 * @held: what srdma_packet_in_hold() has made of a packet in front of it
 * @skb: what it came in
 * @psn: of the packet
 *
 * Return: whether it is the next one in the same skb, and held with those before it.
 */
bool srdma_packet_in_hold_more(struct sk_buff *held, const struct sk_buff *skb,
			       u32 psn)
{
	struct srdma_packet_in *in = srdma_packet_in(held);

	if (in->index + in->left + 1 != srdma_packet_in(skb)->index ||
	    srdma_psn_add(in->psn, in->left) != psn)
		return false;
	in->left++;
	return true;
}

/* The rest goes to its own engine. Not inlined: others would save registers for it. */
static noinline void hand_on(struct sk_buff *skb)
{
	struct srdma_packet_in *in = srdma_packet_in(skb);

	in->left = in->rest;
	in->is_foreign = false;
	srdma_hook_dispatch(skb);
}

/*
 * What arrived has been dealt with, or all that is for the engine that has it. Bottom
 * halves are disabled.
 */
void srdma_packet_in_free(struct sk_buff *skb)
{
	if (srdma_packet_in_is_loop(skb))
		srdma_loop_free(skb);
	else if (unlikely(srdma_packet_in(skb)->is_foreign))
		hand_on(skb);
	else
		napi_consume_skb(skb, 1);
}

/**
 * srdma_packet_in_peek - the destination of the next packet, without checks
 * @skb: what arrived; there is a next packet
 * @qpn: its destination
 * @response: whether it is for the send engine; an unknown opcode is taken for
 *	a request, and the receive engine finds out
 *
 * Return: false when it is too short to say.
 */
bool srdma_packet_in_peek(const struct sk_buff *skb, u32 *qpn, bool *response)
{
	const struct srdma_packet_in *in = srdma_packet_in(skb);
	const struct srdma_wire_bth *bth;
	struct srdma_wire_bth buf;
	u8 opcode;

	if (srdma_packet_in_is_loop(skb)) {
		*qpn = srdma_loop_of(skb)->hdr.dest_qpn;
		opcode = srdma_loop_of(skb)->burst.first;
	} else {
		bth = skb_header_pointer(skb, in->next, sizeof(buf), &buf);
		if (!bth)
			return false;
		*qpn = be32_to_cpu(bth->qpn) & SRDMA_QPN_MASK;
		opcode = bth->opcode;
	}
	*response = srdma_opcode_is_response(srdma_opcode_get(opcode));
	return true;
}

/* The next packet of a looped burst, as its headers would have said it. */
static void read_looped(struct sk_buff *skb, struct srdma_pkt *pkt)
{
	struct srdma_packet_in *in = srdma_packet_in(skb);
	const struct srdma_loop *loop = srdma_loop_of(skb);
	const struct srdma_burst *burst = &loop->burst;
	u32 i = in->index;
	bool last = i + 1 == burst->count;

	*pkt = loop->hdr;
	in->payload = sizeof(*loop) + i * burst->seg;
	if (likely(burst->count == 1))
		return;
	pkt->more = 0;
	pkt->opcode = srdma_burst_opcode(burst, i);
	pkt->op = srdma_opcode_get(pkt->opcode);
	pkt->psn = srdma_burst_psn(burst, i);
	pkt->ack_req = last && burst->ack_req;
	pkt->se = last && burst->solicited;
	pkt->payload_len = pkt->op->payload == SRDMA_PAY_NONE ? 0 :
			   srdma_burst_payload(burst, i);
	pkt->hdr_len = pkt->op->hdr_len;
	pkt->pad = 0;
}

/* Returns false where there is no UDP header, which cannot be. */
static bool find_flow(struct sk_buff *skb, struct srdma_icrc_flow *flow)
{
	bool v6 = srdma_packet_in(skb)->is_v6;
	const struct udphdr *udp;
	struct udphdr buf;

	udp = skb_header_pointer(skb, v6 ? sizeof(struct ipv6hdr) :
					   sizeof(struct iphdr),
				 sizeof(buf), &buf);
	if (!udp)
		return false;
	if (v6)
		srdma_icrc_flow_v6(flow, ipv6_hdr(skb), udp);
	else
		srdma_icrc_flow_v4(flow, ip_hdr(skb), udp);
	return true;
}

/*
 * The state behind the BTH. What comes before it is summed up once for each skb,
 * and most of the BTH only where it differs from the packet before.
 */
static u32 icrc_start(struct sk_buff *skb, const struct srdma_wire_bth *bth,
		      u32 len, u16 ip_id)
{
	struct srdma_packet_in *in = srdma_packet_in(skb);

	if (in->icrc_len != len ||
	    memcmp(in->bth, bth, sizeof(in->bth))) {
		if (!in->icrc_len && !find_flow(skb, &in->icrc))
			return 0;
		in->icrc_base = srdma_icrc_base(&in->icrc,
						sizeof(struct udphdr) +
						len, bth);
		memcpy(in->bth, bth, sizeof(in->bth));
		in->icrc_len = len;
	}
	return srdma_icrc_start(&in->icrc, in->icrc_base, ip_id,
				bth->apsn);
}

/* Wherever the bytes are: linear, in page fragments, in a list of skbs. */
static u32 crc_of_range(struct srdma_skb_walk *walk, u32 offset, u32 len,
			u32 crc)
{
	const void *p;
	u32 n;

	for (; len; len -= n, offset += n) {
		n = len;
		p = srdma_skb_walk_to(walk, offset, &n);
		/* Nothing is there: it cannot be right. */
		if (!n)
			return 0;
		crc = srdma_icrc_update(crc, p, n);
	}
	return crc;
}

static bool icrc_matches(struct sk_buff *skb, struct srdma_skb_walk *walk,
			 const struct srdma_wire_bth *bth, u32 len, u16 ip_id)
{
	u32 crc = icrc_start(skb, bth, len, ip_id);

	return crc_of_range(walk, srdma_packet_in(skb)->next + sizeof(*bth),
			    len - sizeof(*bth), crc) == CRC_RESIDUE;
}

/*
 * Segments of a train count their identification up, no matter what cut it. Packets
 * that have been merged may all have had the same one, and nothing in the skb
 * says so: what was right for one is tried first for the next.
 */
static bool icrc_is_right(struct sk_buff *skb, struct srdma_skb_walk *walk,
			  const struct srdma_wire_bth *bth, u32 len)
{
	struct srdma_packet_in *in = srdma_packet_in(skb);
	u16 step = in->same_id ? 0 : in->index;
	u16 ip_id;

	if (in->kind == SRDMA_PACKET_IN_TRUSTED || in->is_held)
		return true;
	if (in->is_v6)
		return icrc_matches(skb, walk, bth, len, 0);
	ip_id = ntohs(ip_hdr(skb)->id);
	if (icrc_matches(skb, walk, bth, len, ip_id + step))
		return true;
	if (!in->index ||
	    !icrc_matches(skb, walk, bth, len, ip_id + in->index - step))
		return false;
	in->same_id = !in->same_id;
	return true;
}

/*
 * The headers of the packet at @offset, @len bytes at least; NULL where there
 * are none. What is not linear is copied, and read once: the owner of the pages
 * may write to them meanwhile.
 */
static const void *headers_at(struct sk_buff *skb, struct srdma_skb_walk *walk,
			      u32 offset, u32 len, u8 buf[SRDMA_HDR_MAX])
{
	u32 n = SRDMA_HDR_MAX;
	const void *p;

	if (offset + len <= skb_headlen(skb))
		return skb->data + offset;
	p = srdma_skb_walk_to(walk, offset, &n);
	if (n == SRDMA_HDR_MAX)
		memcpy(buf, p, SRDMA_HDR_MAX);
	else if (skb_copy_bits(skb, offset, buf, len))
		return NULL;
	barrier_data(buf);
	return buf;
}

/* The next packet from the wire; if it is none, @why says what to count. */
static bool read_wire(struct sk_buff *skb, struct srdma_skb_walk *walk,
		      struct srdma_pkt *pkt, enum srdma_stat *why)
{
	struct srdma_packet_in *in = srdma_packet_in(skb);
	u32 len = srdma_packet_in_wire_len(skb, in->next);
	u32 avail = min_t(u32, len, SRDMA_HDR_MAX);
	enum srdma_parse parse = SRDMA_PARSE_SHORT;
	u8 buf[SRDMA_HDR_MAX];
	const void *hdr;

	hdr = headers_at(skb, walk, in->next, avail, buf);
	if (hdr)
		parse = srdma_pkt_parse(pkt, hdr, avail, len);
	if (parse != SRDMA_PARSE_OK) {
		*why = SRDMA_STAT_RX_BAD + parse;
		return false;
	}
	if (!icrc_is_right(skb, walk, hdr, len)) {
		*why = SRDMA_STAT_RX_ICRC;
		return false;
	}
	in->payload = in->next + pkt->hdr_len;
	return true;
}

static const u8 transport_of[SRDMA_QPT_NR] = {
	[SRDMA_QPT_RC] = SRDMA_TP_RC,
	[SRDMA_QPT_UC] = SRDMA_TP_UC,
	[SRDMA_QPT_UD] = SRDMA_TP_UD,
	[SRDMA_QPT_GSI] = SRDMA_TP_UD,
};

/* What does not depend on the state of an engine (9.6.1). */
static bool suits_qp(const struct srdma_packet_in *in,
		     const struct srdma_qp *qp, const struct srdma_pkt *pkt,
		     enum srdma_stat *why)
{
	if (pkt->op->transport != transport_of[qp->qpt] &&
	    (pkt->op->transport != SRDMA_TP_CNP || in->to_group))
		*why = SRDMA_STAT_RX_WRONG_TRANSPORT;
	else if (in->to_group && pkt->dest_qpn != SRDMA_QPN_MULTICAST)
		*why = SRDMA_STAT_RX_UNKNOWN_QP;
	else if (!srdma_pkey_match(pkt->pkey, SRDMA_PKEY_DEFAULT))
		*why = SRDMA_STAT_RX_WRONG_PKEY;
	else
		return true;
	return false;
}

/* This engine finds nothing left; see hand_on(). */
static void leave_rest(struct srdma_packet_in *in)
{
	in->rest = in->left;
	in->left = 0;
	in->is_foreign = true;
}

/**
 * srdma_packet_in_next - the next packet of what arrived
 * @skb: what arrived; there is a next packet
 * @walk: walk over it
 * @qp: the QP whose engine asks
 * @responses: it is the send engine, which takes responses
 * @pkt: filled in when there is a packet; its payload is @pkt->payload_len
 *	bytes in @skb at srdma_packet_in(@skb)->payload
 *
 * Acknowledges travel behind requests, and what others have merged may be for several QPs:
 * then the rest is for another engine, and goes there when this one frees the skb.
 *
 * Whether the payload fits the path MTU is left to the protocol core, which
 * has an answer to it other than silence.
 */
enum srdma_found srdma_packet_in_next(struct sk_buff *skb,
				      struct srdma_skb_walk *walk,
				      struct srdma_qp *qp, bool responses,
				      struct srdma_pkt *pkt)
{
	struct srdma_packet_in *in = srdma_packet_in(skb);
	enum srdma_stat why;
	bool good = true;

	if (srdma_packet_in_is_loop(skb))
		read_looped(skb, pkt);
	else
		good = read_wire(skb, walk, pkt, &why);

	if (good && !in->to_group &&
	    (pkt->dest_qpn != qp->qpn ||
	     srdma_opcode_is_response(pkt->op) != responses)) {
		leave_rest(in);
		return SRDMA_FOUND_FOREIGN;
	}
	good = good && suits_qp(in, qp, pkt, &why);
	srdma_packet_in_skip(in);
	if (!good) {
		srdma_drop(in->dev, why, 1);
		return SRDMA_FOUND_BAD;
	}
	srdma_stat_inc(in->dev, SRDMA_STAT_RX_PACKETS);
	srdma_stat_add(in->dev, SRDMA_STAT_RX_BYTES,
		       srdma_pkt_wire_len(pkt->hdr_len, pkt->payload_len));
	if (unlikely(in->to_group))
		srdma_stat_inc(in->dev, SRDMA_STAT_RX_MULTICAST);
	return SRDMA_FOUND_PACKET;
}

/*
 * The rest of a looped burst, which is the same message. Returns the bytes of
 * headers that its last packet has and others lack.
 */
static u32 join_looped(struct sk_buff *skb, struct srdma_pkt *pkt)
{
	struct srdma_packet_in *in = srdma_packet_in(skb);
	const struct srdma_burst *burst = &srdma_loop_of(skb)->burst;

	pkt->opcode = srdma_run_opcode(pkt->opcode, burst->last);
	pkt->op = srdma_opcode_get(pkt->opcode);
	pkt->more = in->left;
	pkt->payload_len = burst->len - (in->index - 1) * burst->seg;
	pkt->ack_req = burst->ack_req;
	pkt->se = burst->solicited;
	in->index += in->left;
	in->left = 0;
	return srdma_opcode_get(burst->last)->hdr_len - SRDMA_BTH_LEN;
}

static void join_wire(struct sk_buff *skb, struct srdma_skb_walk *walk,
		      struct srdma_pkt *pkt, u32 mtu)
{
	struct srdma_packet_in *in = srdma_packet_in(skb);
	struct srdma_wire_bth bth;
	const void *p;
	u32 len, n;

	while (in->left && srdma_run_is_open(pkt, mtu)) {
		len = srdma_packet_in_wire_len(skb, in->next);
		n = sizeof(bth);
		p = srdma_skb_walk_to(walk, in->next, &n);
		if (n == sizeof(bth))
			memcpy(&bth, p, sizeof(bth));
		else if (skb_copy_bits(skb, in->next, &bth, sizeof(bth)))
			break;
		barrier_data(&bth);
		if (!icrc_is_right(skb, walk, &bth, len) ||
		    !srdma_run_add(pkt, &bth, len, mtu))
			break;
		srdma_packet_in_skip(in);
	}
}

/*
 * srdma_packet_in_join(), where there is a next packet and room for it. Not
 * inlined: the engines would save registers for it that a packet alone needs not.
 */
noinline void srdma_packet_in_join_more(struct sk_buff *skb,
					struct srdma_skb_walk *walk,
					struct srdma_pkt *pkt, u32 mtu)
{
	struct srdma_packet_in *in = srdma_packet_in(skb);
	u32 alone = pkt->payload_len, headers = 0;

	if (srdma_packet_in_is_loop(skb))
		headers = join_looped(skb, pkt);
	else
		join_wire(skb, walk, pkt, mtu);
	srdma_stat_add(in->dev, SRDMA_STAT_RX_PACKETS, pkt->more);
	srdma_stat_add(in->dev, SRDMA_STAT_RX_BYTES,
		       ALIGN(pkt->payload_len - alone, 4) + headers +
		       pkt->more * (SRDMA_BTH_LEN + SRDMA_ICRC_LEN));
}

/**
 * srdma_packet_in_place - copy the payload of a packet, or a run, to memory
 * @skb: what arrived
 * @walk: walk over it
 * @pkt: the packet last returned, or the run made of it
 * @it: where to
 */
enum srdma_mem_why srdma_packet_in_place(struct sk_buff *skb,
					 struct srdma_skb_walk *walk,
					 const struct srdma_pkt *pkt,
					 struct srdma_mem_iter *it)
{
	const struct srdma_packet_in *in = srdma_packet_in(skb);
	u32 at = in->payload, left = pkt->payload_len;
	u32 begin = at - pkt->hdr_len;
	enum srdma_mem_why why = SRDMA_MEM_OK;
	u32 each = left;

	if (srdma_packet_in_is_loop(skb) && srdma_loop_of(skb)->loan)
		return srdma_loop_place(skb, in->dev,
					at - sizeof(struct srdma_loop), left,
					it);
	/* From the wire they lie apart, all but the last equally long. */
	if (pkt->more && !srdma_packet_in_is_loop(skb))
		each = in->seg - pkt->hdr_len - SRDMA_ICRC_LEN;
	while (left && !why) {
		each = min(each, left);
		why = srdma_mem_write_skb(it, walk, at, each);
		left -= each;
		/* Only the first may have headers behind its BTH. */
		begin += in->seg;
		at = begin + SRDMA_BTH_LEN;
	}
	return why;
}

/**
 * srdma_packet_in_back - the packet last returned was not taken
 * @skb: what arrived
 * @pkt: that packet, or the run made of it
 *
 * It becomes the next one again, and is counted when it is taken.
 */
void srdma_packet_in_back(struct sk_buff *skb, const struct srdma_pkt *pkt)
{
	struct srdma_packet_in *in = srdma_packet_in(skb);
	u32 count = pkt->more + 1, bytes = 0, i;

	for (i = 0; i < count; i++) {
		bytes += srdma_packet_in_len(skb);
		in->left++;
		in->index--;
		in->next -= in->seg;
	}
	forget_order(in);
	srdma_stat_add(in->dev, SRDMA_STAT_RX_PACKETS, -(u64)count);
	srdma_stat_add(in->dev, SRDMA_STAT_RX_BYTES, -(u64)bytes);
}

/* Of the packets that are left, how many are in front of the first for another engine? */
static u32 requests_left(const struct sk_buff *skb, u32 qpn)
{
	const struct srdma_packet_in *in = srdma_packet_in(skb);
	const struct srdma_wire_bth *bth;
	struct srdma_wire_bth buf;
	u32 i;

	for (i = 0; i < in->left; i++) {
		bth = skb_header_pointer(skb, in->next + i * in->seg,
					 sizeof(buf), &buf);
		if (!bth || (be32_to_cpu(bth->qpn) & SRDMA_QPN_MASK) != qpn ||
		    srdma_opcode_is_response(srdma_opcode_get(bth->opcode)))
			break;
	}
	return i;
}

/**
 * srdma_packet_in_let_pass - requests are to wait, but not what is behind them
 * @skb: what arrived; a request was returned last
 * @qp: the QP that it is for
 *
 * What is for another engine, and came with requests, does not wait for what they wait
 * for: an acknowledge, or what is for another QP. If there is no memory for that, it does.
 */
noinline void srdma_packet_in_let_pass(struct sk_buff *skb,
				       const struct srdma_qp *qp)
{
	struct srdma_packet_in *in = srdma_packet_in(skb), *rest;
	struct sk_buff *clone;
	u32 wait;

	if (srdma_packet_in_is_loop(skb))
		return;
	wait = requests_left(skb, qp->qpn);
	if (wait == in->left)
		return;
	clone = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
	if (!clone)
		return;
	rest = srdma_packet_in(clone);
	rest->index += wait;
	rest->next += wait * in->seg;
	rest->left -= wait;
	in->left = wait;
	srdma_hook_dispatch(clone);
}
