// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Decisions about datagrams, both directions.
 */
#include <linux/string.h>
#include <linux/types.h>

#include "ud.h"

enum srdma_ud_send srdma_ud_send_check(u64 length, u32 mtu)
{
	return length > mtu ? SRDMA_UD_SEND_LENGTH : SRDMA_UD_SEND_OK;
}

/*
 * In the order of section 9.6.1: opcode, partition, Q_Key, length. Who receives
 * on QP 1 takes a failed receive for the end of the QP, and what is shorter
 * than a MAD for a whole one.
 */
enum srdma_ud_recv srdma_ud_recv_check(const struct srdma_pkt *pkt,
				       const struct srdma_ud_env *env)
{
	if (pkt->op->transport != SRDMA_TP_UD)
		return SRDMA_UD_RECV_OPCODE;
	if (!srdma_pkey_match(pkt->pkey, env->pkey))
		return SRDMA_UD_RECV_PKEY;
	if (pkt->deth.qkey != env->qkey)
		return SRDMA_UD_RECV_QKEY;
	if (!srdma_pkt_fits_mtu(pkt, env->mtu))
		return SRDMA_UD_RECV_LENGTH;
	if (env->mads_only && pkt->payload_len != SRDMA_MAD_LEN)
		return SRDMA_UD_RECV_LENGTH;
	return SRDMA_UD_RECV_OK;
}

void srdma_ud_grh_v4(u8 grh[SRDMA_GRH_LEN], const void *ip)
{
	memset(grh, 0, SRDMA_GRH_LEN - 20);
	memcpy(grh + SRDMA_GRH_LEN - 20, ip, 20);
}

void srdma_ud_grh_v6(u8 grh[SRDMA_GRH_LEN], const void *ip)
{
	memcpy(grh, ip, SRDMA_GRH_LEN);
}
