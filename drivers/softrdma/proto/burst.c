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

void srdma_burst_cut(struct srdma_burst *b, enum srdma_qpt qpt, u8 wr_op,
		     u32 len, u32 pos, u32 max, u8 mtu_shift)
{
	u8 middle = srdma_opcode_select(qpt, wr_op, false, false);
	u32 packets = srdma_burst_packets(len, mtu_shift);
	u32 count = min(max, packets - pos);
	bool start = pos == 0;
	bool end;
	u8 op;

	if (start && packets > 1) {
		op = srdma_opcode_select(qpt, wr_op, true, false);
		if (!same_headers(op, middle))
			count = 1;
	}
	end = pos + count == packets;
	if (end && count > 1) {
		op = srdma_opcode_select(qpt, wr_op, false, true);
		if (!same_headers(op, middle)) {
			end = false;
			count--;
		}
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
