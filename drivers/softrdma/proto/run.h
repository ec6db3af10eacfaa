/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A run: consecutive packets of one message that arrived together, judged and
 * placed as if they were one. It has the opcode that a packet with all of
 * their payload would have: FIRST to LAST are an ONLY, MIDDLE to LAST a LAST.
 */
#ifndef SRDMA_PROTO_RUN_H
#define SRDMA_PROTO_RUN_H

#include <linux/types.h>

#include "packet.h"

struct srdma_wire_bth;

/* May packets be added behind @pkt, the QP of which has this path MTU? */
static inline bool srdma_run_is_open(const struct srdma_pkt *pkt, u32 mtu)
{
	return pkt->op->payload == SRDMA_PAY_MTU &&
	       pkt->payload_len == (pkt->more + 1u) * mtu;
}

/* Opcode of a run that begins with @first and ends with @last. */
u8 srdma_run_opcode(u8 first, u8 last);

/**
 * srdma_run_part() - opcode of a packet of a run
 * @opcode: of the run
 * @i: which packet, from 0
 * @count: how many there are
 */
u8 srdma_run_part(u8 opcode, u32 i, u32 count);

/**
 * srdma_run_add() - add the next packet to a run
 * @run: a packet that was parsed, and what was added to it
 * @bth: the next packet
 * @wire_len: bytes behind its UDP header
 * @mtu: path MTU, bytes; the run is open for it
 *
 * Packets with extension headers are never added: what they say is for the
 * one packet.
 *
 * Return: its payload bytes, 0 when it does not continue the run.
 */
u32 srdma_run_add(struct srdma_pkt *run, const struct srdma_wire_bth *bth,
		  u32 wire_len, u32 mtu);

#endif
