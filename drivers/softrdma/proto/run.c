// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs: which packet continues another one, and what they are together.
 */
#include <linux/types.h>

#include "opcode.h"
#include "psn.h"
#include "run.h"
#include "wire.h"

u8 srdma_run_opcode(u8 first, u8 last)
{
	u32 ends = srdma_opcode_get(last)->flags;

	if (!(srdma_opcode_get(first)->flags & SRDMA_OP_START))
		return last;
	if (!(ends & SRDMA_OP_END) || first == last)
		return first;
	if (ends & SRDMA_OP_READ_RESP)
		return srdma_opcode_read_resp(true, true);
	/* ONLY follows LAST, with and without immediate data, in the table. */
	return ends & SRDMA_OP_IETH ? last + 1 : last + 2;
}

/* FIRST of the opcodes among which one with these flags is; MIDDLE follows it. */
static u8 first_like(u8 opcode, u32 flags)
{
	u8 transport = opcode & ~0x1f;

	if (flags & SRDMA_OP_READ_RESP)
		return SRDMA_RC_READ_RESP_FIRST;
	return transport | (flags & SRDMA_OP_WRITE ? SRDMA_RC_WRITE_FIRST :
						     SRDMA_RC_SEND_FIRST);
}

u8 srdma_run_part(u8 opcode, u32 i, u32 count)
{
	u32 flags = srdma_opcode_get(opcode)->flags;
	u8 first = first_like(opcode, flags);

	if (count == 1)
		return opcode;
	if (!i && (flags & SRDMA_OP_START))
		return first;
	if (i + 1 < count || !(flags & SRDMA_OP_END))
		return first + 1;
	if (!(flags & SRDMA_OP_START))
		return opcode;
	if (flags & SRDMA_OP_READ_RESP)
		return SRDMA_RC_READ_RESP_LAST;
	/* As in srdma_run_opcode(). */
	return flags & SRDMA_OP_IETH ? opcode - 1 : opcode - 2;
}

/* The MIDDLE that may follow a FIRST or a MIDDLE. */
static u8 middle_after(const struct srdma_pkt *run)
{
	return run->opcode + !!(run->op->flags & SRDMA_OP_START);
}

static bool same_connection(const struct srdma_pkt *run,
			    const struct srdma_wire_bth *bth)
{
	u8 fixed = bth->flags & ~(SRDMA_BTH_SE | SRDMA_BTH_PAD_MASK);
	/* With a congestion mark this is not equal. */
	u32 qpn = be32_to_cpu(bth->qpn);

	return fixed == (run->mig ? SRDMA_BTH_MIG : 0) &&
	       be16_to_cpu(bth->pkey) == run->pkey && qpn == run->dest_qpn;
}

u32 srdma_run_add(struct srdma_pkt *run, const struct srdma_wire_bth *bth,
		  u32 wire_len, u32 mtu)
{
	u32 apsn = be32_to_cpu(bth->apsn);
	u8 middle = middle_after(run);
	u32 len = wire_len - SRDMA_BTH_LEN - SRDMA_ICRC_LEN;
	u8 pad = (bth->flags & SRDMA_BTH_PAD_MASK) >> SRDMA_BTH_PAD_SHIFT;

	if (bth->opcode != middle && bth->opcode != middle + 1)
		return 0;
	if (srdma_opcode_get(bth->opcode)->hdr_len != SRDMA_BTH_LEN ||
	    !same_connection(run, bth))
		return 0;
	if ((apsn & ~SRDMA_BTH_ACKREQ) !=
	    (srdma_psn_add(run->psn, run->more + 1u) |
	     (u32)run->stamp << SRDMA_BTH_STAMP_SHIFT))
		return 0;
	if (wire_len & 3 || wire_len <= SRDMA_BTH_LEN + SRDMA_ICRC_LEN + pad)
		return 0;
	len -= pad;
	if (bth->opcode == middle ? len != mtu : len > mtu)
		return 0;
	/* A MIDDLE changes nothing. */
	if (bth->opcode != middle) {
		run->opcode = srdma_run_opcode(run->opcode, bth->opcode);
		run->op = srdma_opcode_get(run->opcode);
	}
	run->more++;
	run->payload_len += len;
	run->ack_req |= !!(apsn & SRDMA_BTH_ACKREQ);
	run->se = bth->flags & SRDMA_BTH_SE;
	return len;
}
