// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit tests of trains. They compare each packet of a train, as built and as
 * the stack cuts it, with the packet that the protocol core builds by itself.
 * They also test how long trains become.
 */
#include <kunit/test.h>
#include <linux/netdevice.h>
#include <net/dst.h>
#include <net/ip6_checksum.h>

#include "compat/compat.h"
#include "kunit/train_world.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "wire/loop.h"
#include "wire/packet_in.h"
#include "wire/path.h"
#include "wire/train.h"
#include "wire/tx.h"

/* The state of the ICRC behind the packet at @bth: over all of it. */
static u32 plain_icrc(const struct srdma_path *path, u16 id, const u8 *bth,
		      u32 body)
{
	u8 p[8 + SRDMA_PATH_HDR_MAX + SRDMA_BTH_LEN] __aligned(8);
	struct udphdr *uh = (void *)p + 8 + path->hdr_len - sizeof(*uh);
	u32 udp_len = sizeof(*uh) + body + SRDMA_ICRC_LEN;
	struct ipv6hdr *ip6h = (void *)p + 8;
	struct iphdr *iph = (void *)p + 8;
	u8 *bth_copy = (u8 *)(uh + 1);
	u32 crc;

	memset(p, 0xff, 8);
	memcpy(p + 8, path->hdr, path->hdr_len);
	if (path->av.is_v6) {
		*(__be32 *)ip6h |= htonl(0x0fffffff);
		ip6h->payload_len = htons(udp_len);
		ip6h->hop_limit = 0xff;
	} else {
		iph->tos = 0xff;
		iph->tot_len = htons(sizeof(*iph) + udp_len);
		iph->id = htons(id);
		iph->ttl = 0xff;
		iph->check = (__force __sum16)0xffff;
	}
	uh->len = htons(udp_len);
	uh->check = (__force __sum16)0xffff;
	memcpy(bth_copy, bth, SRDMA_BTH_LEN);
	bth_copy[SRDMA_BTH_RESV8_OFF] = 0xff;
	crc = srdma_crc32_portable(~0u, p, bth_copy + SRDMA_BTH_LEN - p);
	return srdma_crc32_portable(crc, bth + SRDMA_BTH_LEN,
				    body - SRDMA_BTH_LEN);
}

/* Packet @i of the burst, with its IP and UDP headers, by the other way. */
static u32 expected(const struct train_world *w, u32 i, u8 *buf)
{
	const struct srdma_burst *b = &w->burst;
	u32 len = b->len ? srdma_burst_payload(b, i) : 0;
	const struct srdma_path *path = &w->path;
	u8 *bth = buf + path->hdr_len;
	struct srdma_pkt pkt = w->hdr;
	u32 hdr_len, body;
	__le32 icrc;

	memset(buf, 0, sizeof(w->wire));
	pkt.opcode = srdma_burst_opcode(b, i);
	pkt.psn = srdma_burst_psn(b, i);
	pkt.payload_len = len;
	pkt.ack_req = b->ack_req && i + 1 == b->count;
	pkt.se = b->solicited && i + 1 == b->count;
	hdr_len = srdma_pkt_build(bth, &pkt);
	memcpy(bth + hdr_len, w->message + b->offset + i * b->seg, len);
	body = hdr_len + len + srdma_pkt_pad(len);
	icrc = srdma_icrc_final(plain_icrc(path, 0xfffe + w->nth + i, bth,
					   body));
	memcpy(bth + body, &icrc, sizeof(icrc));
	return path->hdr_len + body + SRDMA_ICRC_LEN;
}

/* 0 when the UDP checksum is right. */
static u16 udp_sum(struct sk_buff *skb, u32 len)
{
	__wsum sum = skb_checksum(skb, skb_transport_offset(skb), len, 0);

	if (skb->protocol == htons(ETH_P_IPV6))
		return (__force u16)csum_ipv6_magic(&ipv6_hdr(skb)->saddr,
						    &ipv6_hdr(skb)->daddr, len,
						    IPPROTO_UDP, sum);
	return (__force u16)csum_tcpudp_magic(ip_hdr(skb)->saddr,
					      ip_hdr(skb)->daddr, len,
					      IPPROTO_UDP, sum);
}

/* Are the headers before the BTH those of one packet, as long as that? */
static void check_ip(struct kunit *test, struct sk_buff *skb, u32 i)
{
	struct train_world *w = test->priv;
	const struct udphdr *uh = udp_hdr(skb);
	u32 len = skb->len - skb_transport_offset(skb);

	KUNIT_EXPECT_EQ(test, ntohs(uh->len), len);
	KUNIT_EXPECT_EQ(test, ntohs(uh->dest), 4791);
	KUNIT_EXPECT_EQ(test, ntohs(uh->source), 0xc123);
	KUNIT_EXPECT_NE(test, (__force u16)uh->check, 0);
	KUNIT_EXPECT_EQ(test, udp_sum(skb, len), 0);
	if (w->path.av.is_v6) {
		KUNIT_EXPECT_EQ(test, ntohs(ipv6_hdr(skb)->payload_len), len);
		KUNIT_EXPECT_EQ(test, ipv6_hdr(skb)->hop_limit, 7);
		return;
	}
	KUNIT_EXPECT_EQ(test, ntohs(ip_hdr(skb)->tot_len), len + 20);
	KUNIT_EXPECT_EQ(test, ntohs(ip_hdr(skb)->id), (u16)(0xfffe + i));
	KUNIT_EXPECT_EQ(test, ntohs(ip_hdr(skb)->frag_off), IP_DF);
	KUNIT_EXPECT_EQ(test, ip_hdr(skb)->ttl, 7);
	KUNIT_EXPECT_EQ(test, ip_hdr(skb)->tos, 0x48);
}

/* Compares what is behind the UDP header of @skb at @off with packet @i. */
static u32 check_packet(struct kunit *test, struct sk_buff *skb, u32 off, u32 i)
{
	struct train_world *w = test->priv;
	u32 len = expected(w, i, w->wire) - w->path.hdr_len;
	u8 *got = kunit_kzalloc(test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, got);
	KUNIT_ASSERT_EQ(test, skb_copy_bits(skb, off, got, len), 0);
	KUNIT_EXPECT_EQ_MSG(test, memcmp(got, w->wire + w->path.hdr_len, len),
			    0, "packet %u of %u", i, w->burst.count);
	kunit_kfree(test, got);
	return len;
}

/* As the stack does for an interface that can do nothing. */
static void check_cut(struct kunit *test, struct sk_buff *skb, u32 first,
		      u32 count)
{
	struct train_world *w = test->priv;
	struct sk_buff *segs, *seg, *next;
	u32 i = 0;

	if (w->path.av.is_v6) {
		ipv6_hdr(skb)->payload_len = htons(skb->len - 40);
	} else {
		ip_hdr(skb)->tot_len = htons(skb->len);
		ip_send_check(ip_hdr(skb));
	}
	skb_push(skb, ETH_HLEN);
	skb_reset_mac_header(skb);
	segs = skb_gso_segment(skb, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, segs);
	skb_list_walk_safe(segs, seg, next) {
		skb_pull(seg, ETH_HLEN);
		check_ip(test, seg, i);
		check_packet(test, seg, w->path.hdr_len, first + i);
		KUNIT_EXPECT_EQ(test, (int)seg->ip_summed, CHECKSUM_NONE);
		i++;
		consume_skb(seg);
	}
	KUNIT_EXPECT_EQ(test, i, count);
}

/* Of the burst that has been begun, up to @n packets from @first on. */
static struct sk_buff *build_at(struct train_world *w, u32 first, u32 *n)
{
	srdma_builder_go_to(&w->builder, first);
	return srdma_train_build(&w->builder, n);
}

/* Of a burst by itself. */
static struct sk_buff *build_first(struct train_world *w, u32 *n)
{
	struct sk_buff *skb;

	srdma_builder_begin(&w->builder, &w->tx, NULL);
	skb = build_at(w, 0, n);
	srdma_builder_end(&w->builder);
	return skb;
}

/* Builds the whole burst, in one skb. */
static void check_train(struct kunit *test, bool cut)
{
	struct train_world *w = test->priv;
	u32 n = w->burst.count;
	struct sk_buff *skb;
	u32 off, i;

	local_bh_disable();
	rcu_read_lock();
	skb = build_first(w, &n);
	if (!IS_ERR(skb))
		skb_dst_drop(skb);
	rcu_read_unlock();
	local_bh_enable();
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, skb);
	KUNIT_EXPECT_EQ(test, n, w->burst.count);
	KUNIT_EXPECT_EQ(test, w->path.id, (u16)(0xfffe + n));
	KUNIT_EXPECT_EQ(test, (int)skb->ip_summed, CHECKSUM_PARTIAL);
	KUNIT_EXPECT_EQ(test, skb_is_gso(skb), n > 1);
	KUNIT_EXPECT_LE(test, skb->len, 0xffff);
	off = w->path.hdr_len;
	for (i = 0; i < n; i++)
		off += check_packet(test, skb, off, i);
	KUNIT_EXPECT_EQ(test, off, skb->len);
	if (n > 1) {
		KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_segs, n);
		/* Short ones have no fragments, long ones nothing else. */
		if (skb->len <= SZ_4K)
			KUNIT_EXPECT_FALSE(test, skb_is_nonlinear(skb));
		if (skb->len > 2 * SZ_4K)
			KUNIT_EXPECT_EQ(test, skb_headlen(skb),
					w->path.hdr_len);
	}
	if (cut && n > 1)
		check_cut(test, skb, 0, n);
	consume_skb(skb);
}

static void train_build__packets_are_right(struct kunit *test)
{
	static const u32 lens[] = { 1, 3, 64, 255, 256, 257, 1021, 1024, 1025,
		4095, 4096, 4097, 8189, 20001, 33000, 60000 };
	static const u8 shifts[] = { 8, 10, 12 };
	struct train_world *w = test->priv;
	u32 i, k, v6;

	for (v6 = 0; v6 < 2; v6++) {
		for (k = 0; k < ARRAY_SIZE(shifts); k++) {
			for (i = 0; i < ARRAY_SIZE(lens); i++) {
				w->burst = (struct srdma_burst) {
					.psn = 0xfffffd, .ack_req = i & 1,
					.solicited = i & 2,
				};
				srdma_train_world_aim(w, v6);
				/* The end of a longer message */
				srdma_burst_cut(&w->burst, SRDMA_QPT_RC,
						SRDMA_WR_SEND,
						lens[i] + (4 << shifts[k]), 4,
						128, shifts[k]);
				if (w->burst.count * (16 + w->burst.seg) >
				    w->path.train_bytes)
					continue;
				check_train(test, true);
			}
		}
	}
}

/**
 * struct part - packets of a burst in one skb
 * @first: the first of them
 * @count: how many
 * @skb: they
 */
struct part {
	u32 first;
	u32 count;
	struct sk_buff *skb;
};

/* Bottom halves are disabled, in an RCU section. */
static void build_part(struct train_world *w, struct part *part)
{
	part->skb = build_at(w, part->first, &part->count);
	if (!IS_ERR(part->skb))
		skb_dst_drop(part->skb);
}

static void check_part(struct kunit *test, const struct part *part)
{
	struct train_world *w = test->priv;
	u32 off = w->path.hdr_len, i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, part->skb);
	KUNIT_EXPECT_EQ(test, skb_is_gso(part->skb), part->count > 1);
	for (i = 0; i < part->count; i++)
		off += check_packet(test, part->skb, off, part->first + i);
	KUNIT_EXPECT_EQ(test, off, part->skb->len);
	consume_skb(part->skb);
}

/* Builds what has the same headers together; returns how many parts that is. */
static u32 build_parts(struct train_world *w, struct part *parts, u32 most)
{
	u32 n, first = 0;

	local_bh_disable();
	rcu_read_lock();
	srdma_builder_begin(&w->builder, &w->tx, NULL);
	for (n = 0; n < most && first < w->burst.count; n++) {
		parts[n].first = first;
		parts[n].count = srdma_burst_alike(&w->burst, first);
		build_part(w, &parts[n]);
		first += parts[n].count;
	}
	srdma_builder_end(&w->builder);
	rcu_read_unlock();
	local_bh_enable();
	return n;
}

/* Of a message whose ends have headers that the middle lacks. */
static void train_build__parts_of_a_mixed_burst(struct kunit *test)
{
	static const u8 ops[] = { SRDMA_WR_WRITE, SRDMA_WR_SEND_IMM,
		SRDMA_WR_SEND_INV, SRDMA_WR_READ };
	struct train_world *w = test->priv;
	struct part parts[4];
	u32 i, j, n;

	for (i = 0; i < 2 * ARRAY_SIZE(ops); i++) {
		u8 op = ops[i / 2];

		w->burst = (struct srdma_burst) {
			.psn = 0xfffffd, .ack_req = true, .solicited = true,
			.count = 5, .len = 5000, .seg = 1024, .mixed = true,
			.first = SRDMA_RC_READ_RESP_FIRST,
			.middle = SRDMA_RC_READ_RESP_MIDDLE,
			.last = SRDMA_RC_READ_RESP_LAST,
		};
		if (op != SRDMA_WR_READ)
			srdma_burst_cut(&w->burst, SRDMA_QPT_RC, op, 5000, 0,
					64, 10);
		KUNIT_EXPECT_EQ(test, w->burst.count, 5);
		KUNIT_EXPECT_TRUE(test, w->burst.mixed);
		srdma_train_world_aim(w, i & 1);
		w->opens = 0;
		n = build_parts(w, parts, ARRAY_SIZE(parts));
		for (j = 0; j < n; j++)
			check_part(test, &parts[j]);
		KUNIT_EXPECT_EQ(test, n, op == SRDMA_WR_READ ? 3 : 2);
		/* One walk for all of them. */
		KUNIT_EXPECT_EQ(test, w->opens, 1);
	}
}

static void train_build__walks_on_or_begins_again(struct kunit *test)
{
	static const struct {
		u32 first, count, opens;
	} steps[] = {
		{ 0, 2, 1 }, { 2, 2, 1 }, { 1, 2, 2 }, { 3, 2, 2 }, { 0, 1, 3 },
	};
	struct train_world *w = test->priv;
	struct part parts[ARRAY_SIZE(steps)];
	u32 opens[ARRAY_SIZE(steps)];
	u32 i;

	srdma_burst_cut(&w->burst, SRDMA_QPT_RC, SRDMA_WR_SEND, 5000, 0, 128,
			10);
	srdma_train_world_aim(w, false);
	w->opens = 0;
	local_bh_disable();
	rcu_read_lock();
	srdma_builder_begin(&w->builder, &w->tx, NULL);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		w->path.id = 0xfffe + steps[i].first;
		parts[i].first = steps[i].first;
		parts[i].count = steps[i].count;
		build_part(w, &parts[i]);
		opens[i] = w->opens;
	}
	srdma_builder_end(&w->builder);
	rcu_read_unlock();
	local_bh_enable();
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		KUNIT_EXPECT_EQ(test, parts[i].count, steps[i].count);
		KUNIT_EXPECT_EQ(test, opens[i], steps[i].opens);
		check_part(test, &parts[i]);
	}
}

static void train_build__every_opcode_alone(struct kunit *test)
{
	static const u8 ops[] = { SRDMA_RC_WRITE_FIRST, SRDMA_RC_WRITE_ONLY_IMM,
		SRDMA_RC_READ_REQ, SRDMA_RC_CMP_SWAP, SRDMA_RC_SEND_ONLY_INV,
		SRDMA_RC_FLUSH, SRDMA_RC_ATOMIC_WRITE, SRDMA_RC_ACK,
		SRDMA_UD_SEND_ONLY, SRDMA_UD_SEND_ONLY_IMM };
	struct train_world *w = test->priv;
	struct sk_buff *skb;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		u32 len = 0;

		if (srdma_opcode_get(ops[i])->payload != SRDMA_PAY_NONE)
			len = ops[i] == SRDMA_RC_ATOMIC_WRITE ? 8 : 1024;
		w->burst = (struct srdma_burst) {
			.psn = i, .count = 1, .len = len, .seg = len,
			.first = ops[i], .middle = ops[i], .last = ops[i],
			.ack_req = true,
		};
		srdma_train_world_aim(w, i & 1);
		check_train(test, false);
		if (len)
			continue;
		/* As the core gives it: bytes that are asked for. */
		w->burst.len = MESSAGE;
		w->burst.seg = MESSAGE;
		local_bh_disable();
		rcu_read_lock();
		skb = build_first(w, &w->burst.count);
		KUNIT_EXPECT_EQ(test, skb->len, w->path.hdr_len +
				srdma_opcode_get(ops[i])->hdr_len +
				SRDMA_ICRC_LEN);
		consume_skb(skb);
		rcu_read_unlock();
		local_bh_enable();
	}
}

/* The @i-th of some messages that follow each other, of one packet each. */
static void set_message(struct train_world *w, u32 i, u32 len)
{
	if (w->builder.tx)
		srdma_builder_end(&w->builder);
	w->nth = i;
	w->burst = (struct srdma_burst) {
		.psn = srdma_psn_add(0xfffffd, i), .count = 1, .len = len,
		.seg = len, .offset = 100 * i, .first = SRDMA_RC_WRITE_ONLY,
		.middle = SRDMA_RC_WRITE_ONLY, .last = SRDMA_RC_WRITE_ONLY,
		.ack_req = i % 3 == 1, .solicited = i % 3 == 2,
	};
	srdma_builder_begin(&w->builder, &w->tx, NULL);
	srdma_builder_go_to(&w->builder, 0);
}

static bool takes(struct train_world *w, const struct srdma_train *train,
		  u32 len)
{
	set_message(w, 0, len);
	return srdma_train_takes(train, &w->builder, 1);
}

/* Of the same length, but for padding, until a shorter one ends it. */
static void train_add__messages_share_a_skb(struct kunit *test)
{
	static const u32 lens[] = { 64, 64, 61, 64, 63, 60 };
	struct train_world *w = test->priv;
	u32 v6, i, off, n, last = ARRAY_SIZE(lens) - 1;
	struct srdma_train train;
	struct sk_buff *skb;

	for (v6 = 0; v6 < 2; v6++) {
		train.skb = NULL;
		srdma_train_world_aim(w, v6);
		local_bh_disable();
		rcu_read_lock();
		for (i = 0; i <= last; i++) {
			if (i)
				KUNIT_EXPECT_FALSE(test, takes(w, &train, 65));
			if (i)
				KUNIT_EXPECT_TRUE(test,
						  takes(w, &train, lens[i]));
			set_message(w, i, lens[i]);
			n = 1;
			KUNIT_EXPECT_EQ(test, 0,
					srdma_train_add(&train, &w->builder,
							&n));
			KUNIT_EXPECT_EQ(test, n, 1);
			KUNIT_EXPECT_EQ(test, train.count, i + 1);
		}
		KUNIT_EXPECT_FALSE(test, takes(w, &train, 60));
		KUNIT_EXPECT_FALSE(test, takes(w, &train, 64));
		skb = srdma_train_close(&train, &w->path);
		skb_dst_drop(skb);
		rcu_read_unlock();
		local_bh_enable();
		KUNIT_EXPECT_PTR_EQ(test, train.skb, NULL);
		KUNIT_EXPECT_EQ(test, w->path.id, (u16)(0xfffe + last + 1));
		KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_segs, last + 1);
		off = w->path.hdr_len;
		for (i = 0; i <= last; i++) {
			set_message(w, i, lens[i]);
			off += check_packet(test, skb, off, 0);
		}
		KUNIT_EXPECT_EQ(test, off, skb->len);
		consume_skb(skb);
	}
}

/* What is not the payload's keeps what came before. */
static void train_add__fault(struct kunit *test)
{
	struct train_world *w = test->priv;
	struct srdma_train train = {};
	u32 n = 1;

	srdma_train_world_aim(w, false);
	w->fault_at = 100;
	local_bh_disable();
	set_message(w, 0, 64);
	KUNIT_EXPECT_EQ(test, 0, srdma_train_add(&train, &w->builder, &n));
	set_message(w, 1, 64);
	KUNIT_EXPECT_EQ(test, -EFAULT,
			srdma_train_add(&train, &w->builder, &n));
	KUNIT_EXPECT_EQ(test, train.count, 1);
	KUNIT_EXPECT_FALSE(test, train.full);
	KUNIT_EXPECT_EQ(test, train.skb->len, train.each);
	kfree_skb(train.skb);
	/* And what has nothing is none. */
	train.skb = NULL;
	KUNIT_EXPECT_EQ(test, -EFAULT,
			srdma_train_add(&train, &w->builder, &n));
	KUNIT_EXPECT_PTR_EQ(test, train.skb, NULL);
	local_bh_enable();
}

static void train_build__fault(struct kunit *test)
{
	static const u32 at[] = { 0, 5000, 19999 };
	struct train_world *w = test->priv;
	struct sk_buff *skb;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		srdma_train_world_aim(w, false);
		w->fault_at = at[i];
		srdma_burst_cut(&w->burst, SRDMA_QPT_RC, SRDMA_WR_SEND, 20000,
				0, 128, 10);
		n = w->burst.count;
		local_bh_disable();
		rcu_read_lock();
		skb = build_first(w, &n);
		rcu_read_unlock();
		local_bh_enable();
		KUNIT_EXPECT_PTR_EQ(test, skb, ERR_PTR(-EFAULT));
		KUNIT_EXPECT_FALSE(test, w->payload.is_open);
	}
}

static void loop_build__carries_the_payload(struct kunit *test)
{
	static const u32 lens[] = { 0, 1, 100, 2048, 2049, 4096, 65536 };
	struct train_world *w = test->priv;
	u8 *got = kunit_kzalloc(test, SZ_64K, GFP_KERNEL);
	const u32 at = sizeof(struct srdma_loop);
	const struct srdma_loop *loop;
	struct sk_buff *skb;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, got);
	srdma_train_world_aim(w, false);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		srdma_burst_cut(&w->burst, SRDMA_QPT_RC, SRDMA_WR_SEND, lens[i],
				0, 128, 10);
		w->opens = 0;
		local_bh_disable();
		skb = srdma_loop_build(&w->tx);
		local_bh_enable();
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, skb);
		loop = (struct srdma_loop *)skb->data;
		KUNIT_EXPECT_EQ(test, loop->burst.count, w->burst.count);
		KUNIT_EXPECT_EQ(test, loop->burst.len, lens[i]);
		KUNIT_EXPECT_EQ(test, loop->loan, 0);
		KUNIT_EXPECT_EQ(test, srdma_packet_in(skb)->left, w->burst.count);
		KUNIT_EXPECT_EQ(test, skb->len, at + lens[i]);
		KUNIT_EXPECT_EQ(test, skb_copy_bits(skb, at, got, lens[i]), 0);
		KUNIT_EXPECT_EQ(test, memcmp(got, w->message, lens[i]), 0);
		KUNIT_EXPECT_EQ(test, w->opens, !!lens[i]);
		consume_skb(skb);
	}
	w->fault_at = 50;
	local_bh_disable();
	skb = srdma_loop_build(&w->tx);
	local_bh_enable();
	KUNIT_EXPECT_PTR_EQ(test, skb, ERR_PTR(-EFAULT));
}

static void path_train__shrinks_and_grows(struct kunit *test)
{
	struct train_world *w = test->priv;
	struct srdma_burst b = { .psn = 100, .count = 62, .resend = true };
	u32 n, i;

	srdma_train_world_aim(w, false);
	/* Lost by chance, here and further on */
	KUNIT_EXPECT_EQ(test, srdma_path_train(&w->path, &b, 1040), 62);
	for (i = 0; i < 8; i++) {
		b.psn += b.count + 2;
		KUNIT_EXPECT_EQ(test, srdma_path_train(&w->path, &b, 1040), 62);
	}
	/* Lost again. What follows it without a gap is no further loss. */
	KUNIT_EXPECT_EQ(test, srdma_path_train(&w->path, &b, 1040), 15);
	b.psn += b.count;
	KUNIT_EXPECT_EQ(test, srdma_path_train(&w->path, &b, 1040), 15);
	/* Only single packets come through: a NAK tells, or a probe each time. */
	KUNIT_EXPECT_EQ(test, srdma_path_train(&w->path, &b, 1040), 15);
	KUNIT_EXPECT_EQ(test, srdma_path_train(&w->path, &b, 1040), 3);
	b.psn++;
	KUNIT_EXPECT_EQ(test, srdma_path_train(&w->path, &b, 1040), 1);
	b.psn++;
	KUNIT_EXPECT_EQ(test, srdma_path_train(&w->path, &b, 1040), 1);
	b.resend = false;
	for (i = 0; i < 40; i++)
		n = srdma_path_train(&w->path, &b, 1040);
	KUNIT_EXPECT_EQ(test, n, 62);

	/* Ways that are narrow from the start */
	w->ndev->gso_max_segs = 3;
	srdma_train_world_aim(w, false);
	KUNIT_EXPECT_EQ(test, srdma_path_train(&w->path, &b, 1040), 3);
	w->ndev->gso_max_segs = 65535;
	w->ndev->gso_max_size = 8000;
	srdma_train_world_aim(w, false);
	KUNIT_EXPECT_EQ(test, srdma_path_train(&w->path, &b, 1040), 7);
	/* A NIC that would cut IPv4 trains itself */
	w->ndev->gso_max_size = 65536;
	w->ndev->features |= NETIF_F_GSO_UDP_L4;
	w->ndev->dev.parent = &w->ndev->dev;
	srdma_train_world_aim(w, false);
	KUNIT_EXPECT_EQ(test, srdma_path_train(&w->path, &b, 1040), 1);
	srdma_train_world_aim(w, true);
	KUNIT_EXPECT_EQ(test, srdma_path_train(&w->path, &b, 1040), 62);
	w->ndev->dev.parent = NULL;
}

static struct kunit_case train_cases[] = {
	KUNIT_CASE(train_build__packets_are_right),
	KUNIT_CASE(train_build__parts_of_a_mixed_burst),
	KUNIT_CASE(train_build__walks_on_or_begins_again),
	KUNIT_CASE(train_build__every_opcode_alone),
	KUNIT_CASE(train_add__messages_share_a_skb),
	KUNIT_CASE(train_add__fault),
	KUNIT_CASE(train_build__fault),
	KUNIT_CASE(loop_build__carries_the_payload),
	KUNIT_CASE(path_train__shrinks_and_grows),
	{}
};

static struct kunit_suite train_suite = {
	.name = "srdma_train",
	.init = srdma_train_world_init,
	.exit = srdma_train_world_exit,
	.test_cases = train_cases,
};

kunit_test_suite(train_suite);
