// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Cutting a message into bursts: where a packet differs in headers from its
 * neighbours it goes alone, so that the others can share one segmented skb.
 */
#include <linux/minmax.h>
#include <linux/types.h>

#include "burst.h"
#include "opcode.h"

static bool same_headers(u8 a, u8 b)
{
	return srdma_opcode_get(a)->hdr_len == srdma_opcode_get(b)->hdr_len;
}

/*
 * May @op be first or last of a burst of @middle ones? A last packet that takes
 * a receive WQE may be told to come again, and then it has to be alone.
 */
static bool may_join(u8 op, u8 middle, bool mixed)
{
	if (same_headers(op, middle))
		return true;
	return mixed && !(srdma_opcode_get(op)->flags & SRDMA_OP_RWQE &&
			  srdma_opcode_get(op)->flags & SRDMA_OP_END);
}

void srdma_burst_cut(struct srdma_burst *b, enum srdma_qpt qpt, u8 wr_op,
		     u32 len, u32 pos, u32 max, bool mixed, u8 mtu_shift)
{
	u32 packets = srdma_burst_packets(len, mtu_shift);
	u32 count = min(max, packets - pos);
	bool start = pos == 0;
	u8 op, middle;
	bool end;

	b->mixed = false;
	if (packets == 1) {
		op = srdma_opcode_select(qpt, wr_op, true, true);
		b->count = 1;
		b->offset = 0;
		b->seg = len;
		b->len = len;
		b->first = op;
		b->middle = op;
		b->last = op;
		return;
	}
	middle = srdma_opcode_select(qpt, wr_op, false, false);
	if (start) {
		op = srdma_opcode_select(qpt, wr_op, true, false);
		if (!may_join(op, middle, mixed))
			count = 1;
		b->mixed = count > 1 && !same_headers(op, middle);
	}
	end = pos + count == packets;
	if (end && count > 1) {
		op = srdma_opcode_select(qpt, wr_op, false, true);
		if (!may_join(op, middle, mixed)) {
			end = false;
			count--;
		}
		b->mixed |= end && !same_headers(op, middle);
		/* Without that last packet the first may be alone. */
		b->mixed &= count > 1;
	}

	b->count = count;
	b->offset = pos << mtu_shift;
	b->seg = min(len - b->offset, 1u << mtu_shift);
	b->len = end ? len - b->offset : count << mtu_shift;
	b->first = srdma_opcode_select(qpt, wr_op, start, end && count == 1);
	b->middle = middle;
	b->last = count == 1 ? b->first :
		  srdma_opcode_select(qpt, wr_op, false, end);
}
