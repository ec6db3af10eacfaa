/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Looped skbs: what a burst is for a QP of the same device.
 */
#ifndef SRDMA_LOOP_H
#define SRDMA_LOOP_H

#include <linux/in6.h>
#include <linux/skbuff.h>

#include "memory/access.h"
#include "proto/burst.h"
#include "proto/packet.h"

struct srdma_dev;
struct srdma_tx;

/**
 * struct srdma_loop - at skb->data of a looped skb. Behind it is the payload,
 *	packet by packet without headers, pads or ICRCs; or, where that is lent,
 *	the pieces (struct srdma_sge) of the message that it is part of
 * @hdr: what the packets' headers would say; opcode, PSN, AckReq, SE and
 *	payload length are those of @burst
 * @burst: the packets
 * @src: sender's address; IPv4 mapped into IPv6
 * @dst: our address, likewise
 * @traffic_class: of the IP header that there would be
 * @hop_limit: likewise
 * @is_v6: whether that would be an IPv6 header
 * @loan: serial of the loan, 0 when the payload follows
 * @lender: number of the QP that lends
 * @idx: of its request
 * @num_sge: number of pieces
 */
struct srdma_loop {
	struct srdma_pkt hdr;
	struct srdma_burst burst;
	struct in6_addr src;
	struct in6_addr dst;
	u8 traffic_class;
	u8 hop_limit;
	bool is_v6;
	u64 loan;
	u32 lender;
	u32 idx;
	u32 num_sge;
};

static inline const struct srdma_loop *srdma_loop_of(const struct sk_buff *skb)
{
	return (const struct srdma_loop *)skb->data;
}

struct sk_buff *srdma_loop_build(const struct srdma_tx *tx);
enum srdma_mem_why __must_check
srdma_loop_place(const struct sk_buff *skb, struct srdma_dev *dev, u32 offset,
		 u32 len, struct srdma_mem_iter *it);
void srdma_loop_free(struct sk_buff *skb);
void srdma_loop_exit(void);

#endif
