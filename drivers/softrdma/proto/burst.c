// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Cutting a message into bursts.
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
 * A last packet that takes a receive WQE may be told to come again, and then it
 * has to be alone.
 */
static bool goes_alone(u8 last)
{
	const u32 both = SRDMA_OP_RWQE | SRDMA_OP_END;

	return (srdma_opcode_get(last)->flags & both) == both;
}

u32 srdma_burst_most(const struct srdma_burst_limit *limit, u8 wr_op, u32 pos,
		     u8 mtu_shift)
{
	u32 packets = max(limit->packets, 1u);

	/* The first of a WRITE has headers of its own. */
	if (!pos && srdma_wr_info_get(wr_op)->flags & SRDMA_WRI_RDMA)
		packets++;
	return min(packets, max(limit->bytes >> mtu_shift, 1u));
}

void srdma_burst_cut(struct srdma_burst *b, enum srdma_qpt qpt, u8 wr_op,
		     u32 len, u32 pos, u32 max, u8 mtu_shift)
{
	u32 packets = srdma_burst_packets(len, mtu_shift);
	u32 count = min(max, packets - pos);
	bool start = pos == 0;
	bool end;
	u8 op;

	if (packets == 1) {
		op = srdma_opcode_select(qpt, wr_op, true, true);
		b->count = 1;
		b->offset = 0;
		b->seg = len;
		b->len = len;
		b->first = op;
		b->middle = op;
		b->last = op;
		b->mixed = false;
		return;
	}
	end = pos + count == packets;
	if (end && count > 1) {
		op = srdma_opcode_select(qpt, wr_op, false, true);
		if (goes_alone(op)) {
			end = false;
			count--;
		}
	}

	b->count = count;
	b->offset = pos << mtu_shift;
	b->seg = min(len - b->offset, 1u << mtu_shift);
	b->len = end ? len - b->offset : count << mtu_shift;
	b->first = srdma_opcode_select(qpt, wr_op, start, end && count == 1);
	b->middle = srdma_opcode_select(qpt, wr_op, false, false);
	b->last = count == 1 ? b->first :
		  srdma_opcode_select(qpt, wr_op, false, end);
	b->mixed = count > 1 && !(same_headers(b->first, b->middle) &&
				  same_headers(b->last, b->middle));
}

u32 srdma_burst_alike(const struct srdma_burst *b, u32 first)
{
	u32 left = b->count - first;

	if (!b->mixed || left == 1)
		return left;
	if (!first && !same_headers(b->first, b->middle))
		return 1;
	return same_headers(b->last, b->middle) ? left : left - 1;
}

void srdma_burst_trim(struct srdma_burst *b, u32 count)
{
	b->count = count;
	b->len = count * b->seg;
	b->last = count == 1 ? b->first : b->middle;
	b->ack_req = false;
	b->solicited = false;
	b->mixed = count > 1 && !same_headers(b->first, b->middle);
}
