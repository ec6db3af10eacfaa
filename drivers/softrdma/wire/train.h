/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Building skbs for the wire, with many packets in one.
 */
#ifndef SRDMA_TRAIN_H
#define SRDMA_TRAIN_H

#include <linux/types.h>

#include "proto/wire.h"

struct sk_buff;
struct srdma_path;
struct srdma_tx;

/**
 * struct srdma_train - packets for the wire that others may join
 * @skb: they, without the headers before the first BTH; NULL: there are none,
 *	and the other members mean nothing
 * @count: how many
 * @each: bytes of each but the last
 * @room: bytes before the skb gets fragments
 * @full: nothing may follow: the last is shorter
 */
struct srdma_train {
	struct sk_buff *skb;
	u32 count;
	u32 each;
	u32 room;
	bool full;
};

/**
 * struct srdma_builder - the packets of one burst in the making
 * @tx: what is to be sent
 * @path: the way, with the headers before the BTH
 * @last: the last packet of the burst
 * @seg: bytes of payload of the others
 * @seg_last: of that one
 * @first: packet that is next
 * @each: its bytes behind the UDP header, and those of the others like it
 * @hdr_len: of these, BTH and extension headers
 * @hdrs: which extension headers are in @hdr
 * @hdr: the headers, without opcode, pad, SE, PSN, AckReq
 * @flags: byte 1 of the BTH without pad and SE
 * @vector: vector registers are ours
 * @held: whether they are held beyond this burst; NULL: they are not
 */
struct srdma_builder {
	const struct srdma_tx *tx;
	struct srdma_path *path;
	u32 last;
	u32 seg;
	u32 seg_last;
	u32 first;
	u32 each;
	u32 hdr_len;
	u32 hdrs;
	u8 hdr[SRDMA_HDR_MAX];
	u8 flags;
	bool vector;
	bool *held;
};

void srdma_builder_begin(struct srdma_builder *b, const struct srdma_tx *tx,
			 bool *held);
void srdma_builder_go_to(struct srdma_builder *b, u32 first);
void srdma_builder_end(struct srdma_builder *b);

struct sk_buff *srdma_train_build(struct srdma_builder *b, u32 *count);
bool srdma_train_takes(const struct srdma_train *train,
		       const struct srdma_builder *b, u32 count);
int srdma_train_add(struct srdma_train *train, struct srdma_builder *b,
		    u32 *count);
struct sk_buff *srdma_train_close(struct srdma_train *train,
				  struct srdma_path *path);

#endif
