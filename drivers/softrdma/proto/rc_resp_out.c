// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which response to send next. Responses leave in the order of their PSNs: READ
 * data and atomic results first, oldest first, then one acknowledge for
 * everything, or the NAK. A repeated READ starts where the requester asks for
 * it, before later ones. A part that was sent already, while the answer goes on, is
 * sent in front of what goes on, and takes nothing away from that.
 */
#include <linux/minmax.h>
#include <linux/types.h>

#include "aeth.h"
#include "burst.h"
#include "opcode.h"
#include "psn.h"
#include "rc_resp.h"
#include "rc_resp_priv.h"

/* How many slots were filled after @slot. */
static u32 age(const struct srdma_rc_resp *resp, u32 slot)
{
	u32 newest = resp->res_head ? resp->res_head - 1 : resp->nres - 1;

	return newest >= slot ? newest - slot : newest + resp->nres - slot;
}

/* @cut bytes of the last packet are not asked for. */
static void answer(struct srdma_rc_resp *resp, u32 slot, u32 psn, u32 end, u32 cut)
{
	struct srdma_rc_res *res = &resp->res[slot];
	s32 further = res->pending ? srdma_psn_dist(res->psn, end) -
				     srdma_psn_dist(res->psn, res->end_psn) : 1;

	if (!resp->res_pending || age(resp, slot) > age(resp, resp->res_out))
		resp->res_out = slot;
	/* A repetition of the front part does not take the rest away. */
	if (further > 0 || (!further && cut < res->end_cut)) {
		res->end_psn = end;
		res->end_cut = cut;
	}
	if (!res->pending)
		resp->res_pending++;
	res->pending = true;
	res->start_psn = psn;
	res->cur_psn = psn;
}

void srdma_resp_answer(struct srdma_rc_resp *resp, u32 slot, u32 psn, u32 end)
{
	answer(resp, slot, psn, end, 0);
}

void srdma_resp_answered(struct srdma_rc_resp *resp, u32 slot)
{
	resp->res[slot].pending = false;
	if (!--resp->res_pending)
		return;
	while (!resp->res[resp->res_out].pending)
		if (++resp->res_out == resp->nres)
			resp->res_out = 0;
}

static struct srdma_rc_part *part_at(struct srdma_rc_resp *resp, u32 i)
{
	return &resp->mend->parts[(resp->part_out + i) % SRDMA_RESP_PARTS];
}

static void part_answered(struct srdma_rc_resp *resp)
{
	resp->part_out = (resp->part_out + 1) % SRDMA_RESP_PARTS;
	resp->part_count--;
}

/* Not inlined: it is rare. */
noinline void srdma_resp_forget_parts(struct srdma_rc_resp *resp, u32 slot)
{
	u32 i, kept = 0;

	for (i = 0; i < resp->part_count; i++)
		if (part_at(resp, i)->slot != slot)
			*part_at(resp, kept++) = *part_at(resp, i);
	resp->part_count = kept;
}

/* Not inlined: it is rare. */
noinline void srdma_resp_repeat(struct srdma_rc_resp *resp, u32 slot, u32 psn,
				u32 len)
{
	const struct srdma_rc_res *res = &resp->res[slot];
	u32 packets = srdma_burst_packets(len, resp->mtu_shift);
	u32 begin = srdma_psn_dist(res->psn, psn) << resp->mtu_shift;
	u32 whole = min(packets << resp->mtu_shift, res->len - begin);
	u32 cur = srdma_psn_dist(res->psn, res->cur_psn);
	u32 last = srdma_psn_dist(res->psn, res->end_psn);
	u32 end = srdma_psn_add(psn, packets);

	if (!res->pending || (srdma_psn_dist(res->psn, end) > cur &&
			      srdma_psn_dist(res->psn, psn) < last)) {
		answer(resp, slot, psn, end, whole - len);
		return;
	}
	/* If there is no room, the requester asks again. */
	if (!resp->mend || resp->part_count == SRDMA_RESP_PARTS)
		return;
	*part_at(resp, resp->part_count++) = (struct srdma_rc_part){
		.slot = slot, .end_cut = whole - len,
		.start_psn = psn, .cur_psn = psn, .end_psn = end,
	};
}

static void fill_single(struct srdma_rc_resp_burst *out, u8 opcode, u32 psn)
{
	out->b.psn = psn;
	out->b.count = 1;
	out->b.first = opcode;
	out->b.middle = opcode;
	out->b.last = opcode;
}

/*
 * From @cur on, in an answer or a part of one that goes from @first to @last, less @cut
 * bytes.
 */
static void fill_read(const struct srdma_rc_resp *resp,
		      const struct srdma_rc_res *res, u32 first, u32 cur, u32 last,
		      u32 cut, const struct srdma_burst_limit *limit,
		      struct srdma_rc_resp_burst *out)
{
	u32 pos = srdma_psn_dist(res->psn, cur);
	u32 left = srdma_psn_dist(cur, last);
	bool start = cur == first;
	u32 most = max(limit->packets, 1u);
	u32 count = 1;
	bool end;

	/* First and last have a header that the others lack. */
	if (start)
		most++;
	if (left == most + 1)
		most++;
	if (left > 1) {
		count = min(left, most);
		count = min(count, max(limit->bytes >> resp->mtu_shift, 1u));
	}
	end = count == left;
	fill_single(out, srdma_opcode_read_resp(start, end && count == 1), cur);
	if (count > 1) {
		out->b.middle = SRDMA_RC_READ_RESP_MIDDLE;
		out->b.last = srdma_opcode_read_resp(false, end);
		out->b.mixed = start || end;
	}
	out->b.count = count;
	out->b.offset = pos << resp->mtu_shift;
	out->b.len = count << resp->mtu_shift;
	if (end)
		out->b.len = min(out->b.len, res->len - out->b.offset) - cut;
	out->b.seg = min(out->b.len, resp->mtu);
	out->va = res->va + out->b.offset;
	out->rkey = res->rkey;
}

static enum srdma_resp_out fill_res(const struct srdma_rc_resp *resp,
				    const struct srdma_burst_limit *limit,
				    struct srdma_rc_resp_burst *out)
{
	const struct srdma_rc_res *res = &resp->res[resp->res_out];

	out->res = resp->res_out;
	if (srdma_opcode_get(res->opcode)->flags & SRDMA_OP_ATOMIC) {
		fill_single(out, SRDMA_RC_ATOMIC_ACK, res->psn);
		out->orig = res->orig;
		return SRDMA_OUT_ATOMIC;
	}
	fill_read(resp, res, res->start_psn, res->cur_psn, res->end_psn,
		  res->end_cut, limit, out);
	return SRDMA_OUT_READ;
}

/* It waits for what is in front of it in the same READ, if that is all there is. */
static bool part_is_next(const struct srdma_rc_resp *resp)
{
	const struct srdma_rc_part *part;
	const struct srdma_rc_res *res;

	if (!resp->part_count)
		return false;
	part = &resp->mend->parts[resp->part_out];
	res = &resp->res[part->slot];
	return !res->pending || srdma_psn_dist(res->psn, part->start_psn) <
				srdma_psn_dist(res->psn, res->end_psn);
}

/* Not inlined: it is rare. */
static noinline enum srdma_resp_out
fill_part(const struct srdma_rc_resp *resp,
	  const struct srdma_burst_limit *limit,
	  struct srdma_rc_resp_burst *out)
{
	const struct srdma_rc_part *part = &resp->mend->parts[resp->part_out];

	out->res = part->slot;
	out->is_part = true;
	fill_read(resp, &resp->res[part->slot], part->start_psn, part->cur_psn,
		  part->end_psn, part->end_cut, limit, out);
	return SRDMA_OUT_READ;
}

static u8 ack_syndrome(u32 credits)
{
	if (credits == SRDMA_RESP_NO_CREDITS)
		return srdma_aeth_ack(SRDMA_CREDIT_UNLIMITED);
	return srdma_aeth_ack(srdma_credit_encode(credits));
}

enum srdma_resp_out srdma_rc_resp_next(struct srdma_rc_resp *resp,
				       const struct srdma_burst_limit *limit,
				       u32 credits,
				       struct srdma_rc_resp_burst *out)
{
	*out = (struct srdma_rc_resp_burst){
		.msn = resp->msn,
		.syndrome = ack_syndrome(credits),
	};
	if (part_is_next(resp))
		return fill_part(resp, limit, out);
	if (resp->res_pending)
		return fill_res(resp, limit, out);
	if (resp->nak_due) {
		fill_single(out, SRDMA_RC_ACK, resp->nak_psn);
		out->syndrome = resp->nak_syndrome;
		if (resp->hole_count)
			out->b.stamp = srdma_resp_next_number(resp);
		out->fatal = resp->dead;
		return SRDMA_OUT_ACK;
	}
	if (resp->ack_due) {
		/*
		 * Not the PSN of a READ or atomic, even if it was executed:
		 * some requesters would take this for its response.
		 */
		fill_single(out, SRDMA_RC_ACK, resp->ack_psn);
		if (!resp->sacks || !(resp->hole_count || resp->late_due))
			return SRDMA_OUT_ACK;
		out->b.stamp = srdma_resp_next_number(resp);
		return SRDMA_OUT_SACK;
	}
	return SRDMA_OUT_NONE;
}

void srdma_rc_resp_sent(struct srdma_rc_resp *resp,
			const struct srdma_rc_resp_burst *out)
{
	u32 end = srdma_psn_add(out->b.psn, out->b.count);
	struct srdma_rc_res *res;

	if (out->b.first == SRDMA_RC_ACK) {
		/* A NAK acknowledges what is in front of it as well. */
		resp->nak_due = false;
		resp->ack_due = false;
		if (out->b.stamp)
			srdma_resp_reported(resp, out->b.stamp);
		return;
	}
	if (out->is_part) {
		resp->mend->parts[resp->part_out].cur_psn = end;
		if (end == resp->mend->parts[resp->part_out].end_psn)
			part_answered(resp);
		return;
	}
	res = &resp->res[out->res];
	res->cur_psn = end;
	/* But of holes it says nothing. */
	if (end == resp->epsn && !resp->hole_count)
		resp->ack_due = false;
	if (srdma_psn_dist(res->psn, end) >
	    srdma_psn_dist(res->psn, res->sent_psn))
		res->sent_psn = end;
	if (end == res->end_psn)
		srdma_resp_answered(resp, out->res);
}

/* The rest of a repetition is not sent. What was never sent before still is. */
static void skip_repetition(struct srdma_rc_resp *resp, u32 slot)
{
	struct srdma_rc_res *res = &resp->res[slot];

	res->cur_psn = res->sent_psn;
	if (srdma_psn_dist(res->psn, res->cur_psn) >=
	    srdma_psn_dist(res->psn, res->end_psn))
		srdma_resp_answered(resp, slot);
}

void srdma_rc_resp_read_fail(struct srdma_rc_resp *resp,
			     const struct srdma_rc_resp_burst *out,
			     enum srdma_resp_why why)
{
	const struct srdma_rc_res *res = &resp->res[out->res];

	if (out->is_part) {
		part_answered(resp);
		return;
	}
	/*
	 * As with a late copy of the request: the requester may have received
	 * all of it, and the memory may have been taken back since.
	 */
	if (srdma_psn_dist(res->psn, out->b.psn) <
	    srdma_psn_dist(res->psn, res->sent_psn)) {
		skip_repetition(resp, out->res);
		return;
	}
	/* Nothing behind the NAK may be answered. */
	resp->part_count = 0;
	while (resp->res_pending)
		srdma_resp_answered(resp, resp->res_out);
	srdma_resp_nak_why(resp, why, out->b.psn);
}
