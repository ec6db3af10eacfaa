/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Where the payload of packets comes from: the pieces of a work request, inline
 * data, or the region that a peer reads.
 */
#ifndef SRDMA_PAYLOAD_H
#define SRDMA_PAYLOAD_H

#include <linux/types.h>

#include "memory/access.h"

struct srdma_payload;

/**
 * struct srdma_payload_ops - how to get at a payload
 * @open: begin to walk at @offset of the message, with bottom halves disabled
 *	until @close; 0, or -EFAULT when it cannot be had: then nothing is to
 *	be closed
 * @close: end the walk; the next one is likely to begin here
 */
struct srdma_payload_ops {
	int (*open)(struct srdma_payload *payload, u32 offset);
	void (*close)(struct srdma_payload *payload);
};

/**
 * struct srdma_payload - a payload; embedded in a larger struct
 * @ops: how to get at it
 * @is_open: there is a walk over it
 * @next: while there is: its position in the message; updated by the code that
 *	moves the walk, unless that closes it
 * @it: the walk; inside the gates of keys
 */
struct srdma_payload {
	const struct srdma_payload_ops *ops;
	bool is_open;
	u32 next;
	struct srdma_mem_iter it;
};

static inline void srdma_payload_close(struct srdma_payload *payload)
{
	if (payload->is_open)
		payload->ops->close(payload);
	payload->is_open = false;
}

/* Goes to @offset of the message, or on if the walk is there already. */
static inline int srdma_payload_open(struct srdma_payload *payload, u32 offset)
{
	int err;

	if (payload->is_open && payload->next == offset)
		return 0;
	srdma_payload_close(payload);
	err = payload->ops->open(payload, offset);
	payload->is_open = !err;
	payload->next = offset;
	return err;
}

#endif
