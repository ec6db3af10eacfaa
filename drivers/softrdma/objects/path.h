/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A path to a peer: the route and headers that an engine keeps.
 */
#ifndef SRDMA_PATH_H
#define SRDMA_PATH_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include "objects/ah.h"
#include "proto/icrc.h"

struct dst_entry;

/* What precedes a BTH: UDP and IPv4, or IPv6, which is the most. */
#define SRDMA_PATH_HDR_V4	(sizeof(struct iphdr) + sizeof(struct udphdr))
#define SRDMA_PATH_HDR_MAX	(sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/* The packets of a message differ in the lowest bits of their opcodes. */
#define SRDMA_PATH_KINDS	4

/**
 * struct srdma_path_kind - packets that differ in identification, last word of
 *	the BTH, and what follows
 * @bth: the first 8 bytes of their BTHs
 * @len: bytes behind their UDP headers; 0: none are meant
 * @icrc: the sum where they begin to differ, with identification 0
 */
struct srdma_path_kind {
	u64 bth;
	u32 len;
	u32 icrc;
};

/**
 * struct srdma_path - the way that an engine last took; its owner's alone
 * @dst: cached route, or NULL
 * @cookie: to see whether @dst is still good
 * @heard: PSN up to which the peer had heard what went this way
 * @av: addresses that it is for
 * @is_local: @av leads to this very device
 * @is_heard: @heard and @heard_at are known
 * @confirms: the next skb tells the host that the next hop is there
 * @generation: of the namespace's addresses that @is_local is known for
 * @checked: @is_local is known for @av
 * @hdr_len: bytes of @hdr, IP and UDP together
 * @pseudo: sum of the header that the UDP checksum stands for, without the length
 * @hdr: IP and UDP header without lengths, identification and checksums
 * @icrc: the same as the ICRC sees it
 * @kinds: of packets that were sent last, by opcode
 * @hash: of the flow, so that the stack need not dissect our packets
 * @priority: of the skbs
 * @id: IPv4 identification of the next packet
 * @train_bytes: most bytes behind the UDP header that the egress takes as one
 * @train_max: most packets that it takes as one
 * @train_now: the same, after losses
 * @train_sent: packets sent since @train_now grew: by that many it grows again
 * @next_psn: PSN behind the last burst: one that is sent again elsewhere than
 *	there means that something was lost
 * @back_psn: PSN that was last sent again for that
 * @heard_at: when @heard was noted, jiffies
 */
struct srdma_path {
	struct dst_entry *dst;
	u32 cookie;
	u32 heard;
	struct srdma_av av;
	bool is_local;
	bool checked;
	bool is_heard;
	bool confirms;
	u32 generation;
	u8 hdr_len;
	__wsum pseudo;
	u8 hdr[SRDMA_PATH_HDR_MAX] __aligned(4);
	struct srdma_icrc_flow icrc;
	struct srdma_path_kind kinds[SRDMA_PATH_KINDS];
	u32 hash;
	u32 priority;
	u16 id;
	u16 train_bytes;
	u16 train_max;
	u16 train_now;
	u32 train_sent;
	u32 next_psn;
	u32 back_psn;
	u32 heard_at;
};

#endif
