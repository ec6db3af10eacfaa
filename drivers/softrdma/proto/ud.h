/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Decisions about datagrams: whether one may be sent, whether it is for this
 * QP, whether it fits. Also the P_Key comparison, which every transport makes.
 */
#ifndef SRDMA_PROTO_UD_H
#define SRDMA_PROTO_UD_H

#include <linux/types.h>

#include "packet.h"

/* Bytes of a management datagram (section 13.4.2). */
#define SRDMA_MAD_LEN	256

/* Do two P_Keys let their owners talk (section 10.9.3)? */
static inline bool srdma_pkey_match(u16 a, u16 b)
{
	return !((a ^ b) & SRDMA_PKEY_BASE) && (a & SRDMA_PKEY_BASE) &&
	       ((a | b) & SRDMA_PKEY_FULL);
}

/*
 * The Q_Key of an outgoing datagram (section 10.2.5): a work request that
 * names a controlled one gets that of its QP instead.
 */
static inline u32 srdma_ud_send_qkey(u32 wr_qkey, u32 qp_qkey)
{
	return wr_qkey & SRDMA_QKEY_CONTROLLED ? qp_qkey : wr_qkey;
}

/* Why a datagram does not go out. */
enum srdma_ud_send {
	SRDMA_UD_SEND_OK,
	SRDMA_UD_SEND_LENGTH,	/* longer than the path MTU */
};

enum srdma_ud_send srdma_ud_send_check(u64 length, u32 mtu);

/* What becomes of a datagram that arrived. */
enum srdma_ud_recv {
	SRDMA_UD_RECV_OK,
	SRDMA_UD_RECV_OPCODE,	/* not a datagram: drop */
	SRDMA_UD_RECV_PKEY,	/* drop */
	SRDMA_UD_RECV_QKEY,	/* drop */
	SRDMA_UD_RECV_LENGTH,	/* more than the path MTU, or no MAD: drop */
	SRDMA_UD_RECV_NR,
};

/**
 * struct srdma_ud_env - the receiving QP as far as a datagram sees it
 * @qkey: its Q_Key
 * @pkey: its P_Key
 * @mtu: largest payload of its port, bytes
 * @mads_only: it is QP 1, where a payload is a MAD
 */
struct srdma_ud_env {
	u32 qkey;
	u16 pkey;
	u16 mtu;
	bool mads_only;
};

enum srdma_ud_recv srdma_ud_recv_check(const struct srdma_pkt *pkt,
				       const struct srdma_ud_env *env);

/*
 * The room that a receive WQE needs for the datagram, GRH area included. With
 * less the datagram is dropped and the queue stays as it is: of the responder's
 * errors in 9.9.3 a message that is too long is one of class D for UD, as is one
 * with a wrong Q_Key.
 */
static inline u32 srdma_ud_recv_need(const struct srdma_pkt *pkt)
{
	return SRDMA_GRH_LEN + pkt->payload_len;
}

/*
 * The 40 bytes before the message (annex A17): the IPv6 header, or 20 zero
 * bytes and the IPv4 header without options.
 */
void srdma_ud_grh_v4(u8 grh[SRDMA_GRH_LEN], const void *ip);
void srdma_ud_grh_v6(u8 grh[SRDMA_GRH_LEN], const void *ip);

#endif
