// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets from the wire to host order and back.
 */
#include <linux/minmax.h>
#include <linux/types.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "packet.h"
#include "psn.h"

/*
 * May a packet with this payload rule have this many payload bytes? The path
 * MTU is not known yet; whatever it is, FIRST and MIDDLE fill one of the five
 * there are, and nothing is longer than the largest.
 */
static bool payload_possible(u8 rule, u32 len)
{
	switch ((enum srdma_payload_rule)rule) {
	case SRDMA_PAY_NONE:
		return !len;
	case SRDMA_PAY_MTU:
		return len >= SRDMA_MTU_MIN && len <= SRDMA_MTU_MAX &&
		       !(len & (len - 1));
	case SRDMA_PAY_LAST:
		return len && len <= SRDMA_MTU_MAX;
	case SRDMA_PAY_ONLY:
		return len <= SRDMA_MTU_MAX;
	case SRDMA_PAY_EIGHT:
		return len == SRDMA_ATOMIC_LEN;
	}
	return false;
}

static const void *get_reth(struct srdma_pkt *pkt, const void *p)
{
	const struct srdma_wire_reth *reth = p;

	pkt->reth.va = be64_to_cpu(reth->va);
	pkt->reth.rkey = be32_to_cpu(reth->rkey);
	pkt->reth.len = be32_to_cpu(reth->len);
	return reth + 1;
}

static const void *get_atomic_eth(struct srdma_pkt *pkt, const void *p)
{
	const struct srdma_wire_atomic_eth *eth = p;

	pkt->atomic.va = be64_to_cpu(eth->va);
	pkt->atomic.rkey = be32_to_cpu(eth->rkey);
	pkt->atomic.swap_add = be64_to_cpu(eth->swap_add);
	pkt->atomic.compare = be64_to_cpu(eth->compare);
	return eth + 1;
}

static const void *get_aeth(struct srdma_pkt *pkt, const void *p)
{
	u32 smsn = be32_to_cpu(((const struct srdma_wire_aeth *)p)->smsn);

	pkt->aeth.syndrome = smsn >> 24;
	pkt->aeth.msn = smsn & SRDMA_PSN_MASK;
	return (const u8 *)p + sizeof(struct srdma_wire_aeth);
}

/* Not inlined: it is rare. */
static noinline void get_sack(struct srdma_pkt *pkt, const void *p)
{
	const struct srdma_wire_sack *sack = p;
	u32 i, hole;

	pkt->aeth.held = min(be32_to_cpu(sack->held), SRDMA_SACK_HELD_MAX);
	for (i = 0; i < SRDMA_SACK_HOLES; i++) {
		hole = be32_to_cpu(sack->holes[i]);
		pkt->sack.holes[i].psn = hole & SRDMA_PSN_MASK;
		pkt->sack.holes[i].count = hole >> SRDMA_SACK_COUNT_SHIFT;
	}
}

/* Not inlined: it is rare. */
static noinline void put_sack(void *p, const struct srdma_pkt *pkt)
{
	struct srdma_wire_sack *sack = p;
	u32 i;

	sack->held = cpu_to_be32(pkt->aeth.held);
	for (i = 0; i < SRDMA_SACK_HOLES; i++)
		sack->holes[i] = cpu_to_be32(pkt->sack.holes[i].psn |
					     (u32)pkt->sack.holes[i].count <<
					     SRDMA_SACK_COUNT_SHIFT);
}

static const void *get_deth(struct srdma_pkt *pkt, const void *p)
{
	const struct srdma_wire_deth *deth = p;

	pkt->deth.qkey = be32_to_cpu(deth->qkey);
	pkt->deth.src_qpn = be32_to_cpu(deth->src_qpn) & SRDMA_QPN_MASK;
	return deth + 1;
}

static const void *get_feth(struct srdma_pkt *pkt, const void *p)
{
	u32 bits = be32_to_cpu(((const struct srdma_wire_feth *)p)->bits);

	pkt->feth.plt = bits & SRDMA_FETH_PLT_MASK;
	pkt->feth.sel = (bits & SRDMA_FETH_SEL_MASK) >> SRDMA_FETH_SEL_SHIFT;
	return (const u8 *)p + sizeof(struct srdma_wire_feth);
}

/* Unpack what follows the BTH at @p; the caller knows that it is all there. */
static void get_extensions(struct srdma_pkt *pkt, u32 flags, const void *p)
{
	if (flags & SRDMA_OP_FETH)
		p = get_feth(pkt, p);
	if (flags & SRDMA_OP_RETH)
		p = get_reth(pkt, p);
	else if (flags & SRDMA_OP_AETH)
		p = get_aeth(pkt, p);
	else if (flags & SRDMA_OP_DETH)
		p = get_deth(pkt, p);
	else if (flags & SRDMA_OP_ATOMIC_ETH)
		p = get_atomic_eth(pkt, p);
	if (flags & SRDMA_OP_IMM)
		pkt->imm = ((const struct srdma_wire_imm *)p)->imm;
	else if (flags & SRDMA_OP_IETH)
		pkt->inv_rkey =
			be32_to_cpu(((const struct srdma_wire_ieth *)p)->rkey);
	else if (flags & SRDMA_OP_ATOMIC_ACK)
		pkt->aeth.orig = be64_to_cpu(
			((const struct srdma_wire_atomic_ack *)p)->orig);
	else if (flags & SRDMA_OP_SACK)
		get_sack(pkt, p);
}

static void get_bth(struct srdma_pkt *pkt, const struct srdma_wire_bth *bth)
{
	u32 apsn = be32_to_cpu(bth->apsn);
	u32 qpn = be32_to_cpu(bth->qpn);

	pkt->psn = apsn & SRDMA_PSN_MASK;
	pkt->more = 0;
	pkt->ack_req = apsn & SRDMA_BTH_ACKREQ;
	pkt->stamp = apsn >> SRDMA_BTH_STAMP_SHIFT & SRDMA_BTH_STAMP_MASK;
	pkt->dest_qpn = qpn & SRDMA_QPN_MASK;
	pkt->fecn = qpn & SRDMA_BTH_FECN;
	pkt->becn = qpn & SRDMA_BTH_BECN;
	pkt->pkey = be16_to_cpu(bth->pkey);
	pkt->opcode = bth->opcode;
	pkt->se = bth->flags & SRDMA_BTH_SE;
	pkt->mig = bth->flags & SRDMA_BTH_MIG;
	pkt->pad = (bth->flags & SRDMA_BTH_PAD_MASK) >> SRDMA_BTH_PAD_SHIFT;
}

enum srdma_parse srdma_pkt_parse(struct srdma_pkt *pkt, const void *hdr,
				 u32 hdr_avail, u32 udp_payload_len)
{
	const struct srdma_wire_bth *bth = hdr;
	const struct srdma_opcode_info *op;
	u32 body;

	if (hdr_avail < SRDMA_BTH_LEN ||
	    udp_payload_len < SRDMA_BTH_LEN + SRDMA_ICRC_LEN)
		return SRDMA_PARSE_SHORT;
	if (udp_payload_len & 3)
		return SRDMA_PARSE_UNALIGNED;
	if (bth->flags & SRDMA_BTH_TVER_MASK)
		return SRDMA_PARSE_TVER;
	op = srdma_opcode_get(bth->opcode);
	if (!op->name)
		return SRDMA_PARSE_OPCODE;
	if (hdr_avail < op->hdr_len ||
	    udp_payload_len < op->hdr_len + SRDMA_ICRC_LEN)
		return SRDMA_PARSE_SHORT;

	get_bth(pkt, bth);
	body = udp_payload_len - op->hdr_len - SRDMA_ICRC_LEN;
	if (pkt->pad > body)
		return SRDMA_PARSE_PAD;
	pkt->op = op;
	pkt->hdr_len = op->hdr_len;
	pkt->payload_len = body - pkt->pad;
	if (!payload_possible(op->payload, pkt->payload_len))
		return SRDMA_PARSE_LENGTH;
	if (op->flags & SRDMA_OP_HDRS)
		get_extensions(pkt, op->flags, bth + 1);
	return SRDMA_PARSE_OK;
}

void srdma_bth_tmpl_init(struct srdma_bth_tmpl *tmpl, u32 dest_qpn, u16 pkey)
{
	/* MigReq set: "migrated", what a QP without a second path says. */
	tmpl->bth = (struct srdma_wire_bth){
		.flags = SRDMA_BTH_MIG,
		.pkey = cpu_to_be16(pkey),
		.qpn = cpu_to_be32(dest_qpn & SRDMA_QPN_MASK),
	};
}

static void *put_bth(void *buf, const struct srdma_pkt *pkt, u8 opcode)
{
	struct srdma_wire_bth *bth = buf;

	bth->opcode = opcode;
	bth->flags = (pkt->se ? SRDMA_BTH_SE : 0) |
		     (pkt->mig ? SRDMA_BTH_MIG : 0) |
		     srdma_pkt_pad(pkt->payload_len) << SRDMA_BTH_PAD_SHIFT;
	bth->pkey = cpu_to_be16(pkt->pkey);
	bth->qpn = cpu_to_be32((pkt->dest_qpn & SRDMA_QPN_MASK) |
			       (pkt->fecn ? SRDMA_BTH_FECN : 0) |
			       (pkt->becn ? SRDMA_BTH_BECN : 0));
	bth->apsn = cpu_to_be32((pkt->psn & SRDMA_PSN_MASK) |
				(u32)pkt->stamp << SRDMA_BTH_STAMP_SHIFT |
				(pkt->ack_req ? SRDMA_BTH_ACKREQ : 0));
	return bth + 1;
}

/* Packs what follows the BTH to @p. */
static void put_extensions(void *p, const struct srdma_pkt *pkt, u32 flags)
{
	if (flags & SRDMA_OP_FETH)
		p = srdma_put_feth(p, pkt->feth.plt, pkt->feth.sel);
	if (flags & SRDMA_OP_RETH)
		p = srdma_put_reth(p, pkt->reth.va, pkt->reth.rkey,
				   pkt->reth.len);
	if (flags & SRDMA_OP_ATOMIC_ETH)
		p = srdma_put_atomic_eth(p, pkt->atomic.va, pkt->atomic.rkey,
					 pkt->atomic.swap_add,
					 pkt->atomic.compare);
	if (flags & SRDMA_OP_AETH)
		p = srdma_put_aeth(p, pkt->aeth.syndrome, pkt->aeth.msn);
	if (flags & SRDMA_OP_ATOMIC_ACK)
		p = srdma_put_atomic_ack(p, pkt->aeth.orig);
	if (flags & SRDMA_OP_SACK)
		put_sack(p, pkt);
	if (flags & SRDMA_OP_DETH)
		p = srdma_put_deth(p, pkt->deth.qkey, pkt->deth.src_qpn);
	if (flags & SRDMA_OP_IMM)
		p = srdma_put_imm(p, pkt->imm);
	if (flags & SRDMA_OP_IETH)
		srdma_put_ieth(p, pkt->inv_rkey);
}

u32 srdma_pkt_build_as(void *buf, const struct srdma_pkt *pkt, u8 opcode)
{
	const struct srdma_opcode_info *op = srdma_opcode_get(opcode);
	void *p;

	if (!op->name)
		return 0;

	p = put_bth(buf, pkt, opcode);
	if (op->flags & SRDMA_OP_HDRS)
		put_extensions(p, pkt, op->flags);
	else if (op->transport == SRDMA_TP_CNP)
		memset(p, 0, SRDMA_CNP_RESV_LEN);
	return op->hdr_len;
}
