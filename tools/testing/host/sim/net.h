/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets to bytes, bytes through the network, bytes to packets.
 */
#ifndef SIM_NET_H
#define SIM_NET_H

#include "sim.h"

/*
 * A frame with the headers of @pkt in place; the caller writes
 * @pkt->payload_len bytes at *@payload.
 */
struct frame *net_frame(struct sim *s, struct node *from,
			const struct srdma_pkt *pkt, u8 **payload);

/* Puts it on the wire, or loses it if @lost. */
void net_send(struct sim *s, struct node *from, struct frame *f, bool lost);

/* A burst is to be sent. Is it lost as a whole? */
bool net_begin_train(struct sim *s);

/* Checks and parses a frame that arrived; false: it is dropped. */
bool net_receive(struct sim *s, struct node *to, struct frame *f);

/*
 * Makes a run of @f, which came out of the inbox and is what is expected, and
 * of what is next in the inbox. Its payload stays until the next call.
 */
void net_join(struct sim *s, struct node *to, struct frame *f);

/* The oldest packet that came and was not looked at, or NULL. */
struct frame *net_inbox_take(struct node *n);

/* "READ_REQ psn 000012 ..." */
const char *net_describe(const struct srdma_pkt *pkt);

void net_init(void);

#endif
