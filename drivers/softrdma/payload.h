/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Where the payload of packets comes from: the pieces of a work request, inline
 * data, or the region that a peer reads.
 */
#ifndef SRDMA_PAYLOAD_H
#define SRDMA_PAYLOAD_H

#include <linux/types.h>

struct sk_buff;
struct srdma_payload;

/**
 * struct srdma_payload_ops - the two ways to get at a payload
 * @copy: copy @len bytes at @offset of the message to @to; 0 or -EFAULT
 * @refer: add @len bytes at @offset to the fragments of @skb without copying;
 *	0, -EFAULT, or -E2BIG when there are not enough fragments: then none
 *	was added
 */
struct srdma_payload_ops {
	int (*copy)(struct srdma_payload *payload, u32 offset, void *to,
		    u32 len);
	int (*refer)(struct srdma_payload *payload, u32 offset,
		     struct sk_buff *skb, u32 len);
};

/**
 * struct srdma_payload - a payload; embedded in what knows more
 * @ops: how to get at it
 */
struct srdma_payload {
	const struct srdma_payload_ops *ops;
};

#endif
