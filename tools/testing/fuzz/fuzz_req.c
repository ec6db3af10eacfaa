// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A stream of response packets, timeouts and posts into a requester. Input
 * bytes choose what is posted, how much may be sent, which response comes
 * with which PSN and syndrome, and how time passes. Whatever a peer says:
 * messages leave in order, once, and after a failure only as flushed.
 */
#include "fuzz.h"
#include "proto/packet.h"
#include "proto/psn.h"
#include "proto/rc_req.h"

#define STEPS		600
#define RING		16
#define NS_PER_STEP	1000

static const uint8_t responses[] = {
	0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x11, 0x11, 0x12, 0xd1, 0xd1,
};

static const uint8_t posts[] = {
	SRDMA_WR_WRITE, SRDMA_WR_WRITE_IMM, SRDMA_WR_SEND, SRDMA_WR_SEND_IMM,
	SRDMA_WR_READ, SRDMA_WR_READ, SRDMA_WR_CMP_SWAP, SRDMA_WR_FETCH_ADD,
	SRDMA_WR_LOCAL_INV, SRDMA_WR_SEND_INV, SRDMA_WR_FLUSH,
	SRDMA_WR_ATOMIC_WRITE,
};

/**
 * struct fuzz_req - the requester and what must hold of it
 * @req: under test
 * @mend: memory that it gets when something is lost
 * @ring: its messages
 * @mtu: path MTU, bytes
 * @now: the clock, ns
 * @retired: messages retired so far
 * @failed: one of them was not a success
 * @reason: one of them said why
 */
struct fuzz_req {
	struct srdma_rc_req req;
	struct srdma_rc_req_mend mend;
	struct srdma_rc_msg ring[RING];
	uint32_t mtu;
	uint64_t now;
	uint32_t retired;
	bool failed;
	bool reason;
};

static void check_order(const struct fuzz_req *f)
{
	const struct srdma_rc_req *r = &f->req;

	CHECK(r->head - r->tail <= RING);
	CHECK(r->una - r->tail <= r->head - r->tail);
	CHECK(r->fresh - r->tail <= r->head - r->tail || f->failed);
	CHECK(r->tail == f->retired);
	CHECK(r->cur_psn <= 0xffffff && r->una_psn <= 0xffffff);
	CHECK(r->max_psn <= 0xffffff && r->cwnd >= 1);
}

static void post(struct fuzz_req *f, struct input *in)
{
	struct srdma_rc_msg *msg;

	if (srdma_rc_req_full(&f->req))
		return;
	msg = srdma_rc_req_msg(&f->req, f->req.head);
	memset(msg, 0, sizeof(*msg));
	msg->op = posts[in_u8(in) % sizeof(posts)];
	msg->flags = in_u8(in) & (SRDMA_WR_FENCE | SRDMA_WR_SIGNALED |
				  SRDMA_WR_SOLICITED | SRDMA_MSG_DRAIN);
	msg->len = in_u8(in);
	if (msg->len >= 0xf8)
		msg->len = in_u32(in) & 0x7fffffff;
	else if (msg->len >= 0x80)
		msg->len = (msg->len - 0x80) * f->mtu;
	switch (msg->op) {
	case SRDMA_WR_CMP_SWAP:
	case SRDMA_WR_FETCH_ADD:
	case SRDMA_WR_ATOMIC_WRITE:
		msg->len = 8;
		break;
	case SRDMA_WR_LOCAL_INV:
		msg->len = 0;
		break;
	}
	srdma_rc_req_push(&f->req);
}

static void check_burst(const struct fuzz_req *f,
			const struct srdma_rc_burst *out,
			const struct srdma_burst_limit *limit)
{
	const struct srdma_burst *b = &out->b;
	uint64_t sum = 0;
	uint32_t i;

	CHECK(b->count);
	check_limit(b, limit);
	CHECK(out->idx - f->req.tail < f->req.head - f->req.tail);
	CHECK((uint64_t)b->offset + b->len <= out->msg->len);
	CHECK(srdma_opcode_get(b->first)->flags & SRDMA_OP_REQ);
	if (srdma_opcode_get(b->first)->flags & SRDMA_OP_RD_ATOMIC)
		return;
	for (i = 0; i < b->count; i++) {
		CHECK(srdma_burst_payload(b, i) <= f->mtu);
		sum += srdma_burst_payload(b, i);
	}
	CHECK(sum == b->len);
}

static void send(struct fuzz_req *f, struct input *in)
{
	struct srdma_burst_limit limit = {
		.packets = in_u8(in) % 64 + 1,
		.bytes = in_u16(in),
	};
	uint32_t most = in_u8(in) % 32;
	struct srdma_rc_burst out;
	enum srdma_req_next next;

	/* The module does not ask when all is sent. */
	while (most-- && !srdma_rc_req_all_sent(&f->req)) {
		next = srdma_rc_req_next(&f->req, f->now, &limit, &out);
		CHECK(next < SRDMA_NEXT_NR);
		if (next == SRDMA_NEXT_LOCAL) {
			srdma_rc_req_local_done(&f->req, &out);
			continue;
		}
		if (next != SRDMA_NEXT_SEND)
			return;
		check_burst(f, &out, &limit);
		if (in_u8(in) == 0xff) {
			srdma_rc_req_fail(&f->req, out.idx,
					  SRDMA_ST_LOC_PROT);
			return;
		}
		srdma_rc_req_sent(&f->req, &out, f->now);
	}
}

static void choose_holes(struct input *in, const struct fuzz_req *f,
			 struct srdma_pkt *want)
{
	uint32_t psn = f->req.una_psn;
	uint32_t i;

	want->aeth.held = in_u8(in) < 0xf0 ? in_u8(in) : in_u32(in);
	for (i = in_u8(in) % (SRDMA_SACK_HOLES + 1); i; i--) {
		psn = srdma_psn_add(psn, in_step(in));
		want->sack.holes[i - 1].psn = psn;
		want->sack.holes[i - 1].count = in_u8(in);
	}
}

static bool choose_response(struct input *in, const struct fuzz_req *f,
			    struct srdma_pkt *pkt)
{
	struct srdma_pkt want = {};
	uint8_t hdr[SRDMA_HDR_MAX];
	const struct srdma_opcode_info *op;
	uint8_t base = in_u8(in);
	uint32_t len;

	want.opcode = responses[in_u8(in) % sizeof(responses)];
	op = srdma_opcode_get(want.opcode);
	want.psn = base & 1 ? f->req.una_psn : f->req.max_psn - 1;
	want.psn = srdma_psn_add(want.psn, in_step(in));
	if (base & 2)
		want.psn = srdma_psn_add(want.psn, in_u8(in));
	want.aeth.syndrome = base & 4 ? in_u8(in) : 0x1f;
	want.aeth.msn = (f->req.ssn + in_step(in)) & 0xffffff;
	if (base & 0x10)
		want.stamp = in_u8(in) & 0x7f;
	if (op->flags & SRDMA_OP_SACK)
		choose_holes(in, f, &want);
	if (op->payload == SRDMA_PAY_MTU)
		want.payload_len = f->mtu;
	else if (op->payload != SRDMA_PAY_NONE)
		want.payload_len = base & 8 ? in_u8(in) : f->mtu;
	len = srdma_pkt_build(hdr, &want);
	return srdma_pkt_parse(pkt, hdr, len,
			       srdma_pkt_wire_len(len, want.payload_len)) ==
	       SRDMA_PARSE_OK;
}

static void take_response(struct fuzz_req *f, struct input *in)
{
	struct srdma_rc_req_act act;
	enum srdma_req_resp verdict;
	struct srdma_rc_msg *msg;
	struct srdma_pkt pkt;

	if (!choose_response(in, f, &pkt))
		return;
	/* Now and then there is no memory. */
	if (srdma_rc_req_lacks_mend(&f->req, &pkt) && pkt.psn & 3)
		f->req.mend = &f->mend;
	verdict = srdma_rc_req_response(&f->req, &pkt, f->now, &act);
	CHECK(verdict < SRDMA_REQ_RESP_NR);
	if (verdict != SRDMA_REQ_PLACE && verdict != SRDMA_REQ_ATOMIC)
		return;
	CHECK(act.idx - f->req.tail < f->req.head - f->req.tail);
	msg = srdma_rc_req_msg(&f->req, act.idx);
	/* Never beyond the buffer, never what is in place already. */
	CHECK(act.offset >= msg->done && !msg->answered);
	if (msg->op != SRDMA_WR_FLUSH && msg->op != SRDMA_WR_ATOMIC_WRITE)
		CHECK((uint64_t)act.offset + act.len <= msg->len);
	else
		CHECK(!act.len);
	if (in_u8(in) == 0xff) {
		srdma_rc_req_settle(&f->req, f->now);
		srdma_rc_req_fail(&f->req, act.idx, SRDMA_ST_LOC_PROT);
	} else {
		srdma_rc_req_placed(&f->req, &act, f->now);
	}
}

static void retire(struct fuzz_req *f)
{
	struct srdma_rc_done done;

	while (srdma_rc_req_retire(&f->req, &done)) {
		CHECK(done.idx == f->retired);
		f->retired++;
		/*
		 * One reason at most; a READ in front of the message that has
		 * it, and whose answer never came, is flushed before.
		 */
		CHECK(done.status != SRDMA_ST_OK || !f->failed);
		if (done.status == SRDMA_ST_OK)
			continue;
		f->failed = true;
		CHECK(done.status == SRDMA_ST_FLUSH || !f->reason);
		f->reason |= done.status != SRDMA_ST_FLUSH;
	}
	CHECK(!f->failed || f->req.tail == f->req.head);
}

static void pass_time(struct fuzz_req *f, struct input *in)
{
	uint8_t how = in_u8(in);

	if (how & 1 && f->req.deadline > f->now)
		f->now = f->req.deadline;
	else
		f->now += (uint64_t)how * NS_PER_STEP;
	CHECK(srdma_rc_req_timeout(&f->req, f->now) < SRDMA_TIMER_NR);
}

static void control(struct fuzz_req *f, struct input *in,
		    struct srdma_rc_req_attr *attr)
{
	uint8_t how = in_u8(in);

	if (how < 0x40)
		srdma_rc_req_drain(&f->req, how & 1);
	else if (how < 0x80)
		srdma_rc_req_congested(&f->req);
	else if (how < 0xf0)
		srdma_rc_req_update(&f->req, attr);
	else if (how == 0xff)
		srdma_rc_req_abort(&f->req);
}

static void choose_attr(struct input *in, struct srdma_rc_req_attr *attr)
{
	uint8_t how;

	memset(attr, 0, sizeof(*attr));
	attr->mtu = 256u << in_u8(in) % 5;
	attr->psn = in_u32(in) & 0xffffff;
	attr->max_inflight = in_u8(in) * 1024;
	attr->max_rd_atomic = in_u8(in) % 17;
	attr->retry_cnt = in_u8(in) & 7;
	how = in_u8(in);
	attr->rnr_retry = how & 7;
	attr->settles = how & 8;
	attr->near_inflight = how & 0x10 ? 64 * 1024 : 0;
	attr->start_inflight = how & 0x20 ? 16 * 1024 : 0;
	attr->first_inflight = how & 0x40 ? 4 * 1024 : 0;
	attr->timeout = in_u8(in) & 31;
}

/* Several responses come together, and what they ask for is done behind them. */
static bool is_response(uint8_t what)
{
	return what >= 0x80 && what < 0xd0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct srdma_rc_req_attr attr;
	struct fuzz_req f = { .now = 1 };
	int steps = STEPS;
	uint8_t what;

	choose_attr(&in, &attr);
	f.mtu = attr.mtu;
	srdma_rc_req_init(&f.req, &attr, f.ring, sizeof(f.ring[0]), RING - 1);
	while (in.left && steps--) {
		f.now += NS_PER_STEP;
		what = in_u8(&in);
		if (is_response(what)) {
			take_response(&f, &in);
			if (attr.settles)
				continue;
		} else {
			srdma_rc_req_settle(&f.req, f.now);
		}
		if (what < 0x40)
			post(&f, &in);
		else if (what < 0x80)
			send(&f, &in);
		else if (what >= 0xf0)
			control(&f, &in, &attr);
		else if (what >= 0xd0)
			pass_time(&f, &in);
		retire(&f);
		check_order(&f);
	}
	/* The QP goes to error: everything comes out, and nothing is left. */
	srdma_rc_req_settle(&f.req, f.now);
	srdma_rc_req_abort(&f.req);
	retire(&f);
	check_order(&f);
	CHECK(f.req.tail == f.req.head && !f.req.deadline);
	return 0;
}
