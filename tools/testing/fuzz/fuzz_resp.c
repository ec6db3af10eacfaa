// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A stream of request packets into a responder. Input bytes choose opcode,
 * PSN near the expected one, lengths and addresses, what executing it comes
 * to, and when responses leave. Every packet goes through builder and parser.
 */
#include "fuzz.h"
#include "proto/packet.h"
#include "proto/psn.h"
#include "proto/rc_resp.h"
#include "proto/run.h"

#define STEPS		400	/* per input, and so per second */
#define RESPONSES	64	/* sent in one go */

static const uint8_t requests[] = {
	0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a,
	0x0b, 0x0c, 0x13, 0x14, 0x16, 0x17, 0x1c, 0x1d,
};

/**
 * struct fuzz_resp - the responder and what must hold of it
 * @resp: under test
 * @res: its kept responses
 * @mend: memory that it gets when something is lost
 * @mtu: path MTU, bytes
 * @dead: it has said that the QP goes to error
 * @msn: highest number of messages it may have counted
 * @now: the clock, ns
 */
struct fuzz_resp {
	struct srdma_rc_resp resp;
	struct srdma_rc_res res[16];
	struct srdma_rc_resp_mend mend;
	uint32_t mtu;
	bool dead;
	uint32_t msn;
	uint64_t now;
};

/* A payload length that the opcode may have, or nearly. */
static uint32_t choose_length(struct input *in, uint8_t opcode, uint32_t mtu)
{
	uint8_t how = in_u8(in);

	switch (srdma_opcode_get(opcode)->payload) {
	case SRDMA_PAY_NONE:
		return 0;
	case SRDMA_PAY_MTU:
		return how < 0xf0 ? mtu : 256u << how % 5;
	case SRDMA_PAY_EIGHT:
		return 8;
	}
	if (how < 0x40)
		return mtu;
	return how < 0xf8 ? how % 8 : in_u16(in) % 4097;
}

static bool choose_packet(struct input *in, const struct fuzz_resp *f,
			  struct srdma_pkt *pkt)
{
	struct srdma_pkt want = {};
	uint8_t hdr[SRDMA_HDR_MAX];
	uint32_t len;

	want.opcode = requests[in_u8(in) % sizeof(requests)];
	want.psn = srdma_psn_add(f->resp.epsn, in_step(in));
	want.payload_len = choose_length(in, want.opcode, f->mtu);
	want.stamp = in_u8(in);
	want.ack_req = want.stamp & 1;
	want.stamp = want.stamp < 0x80 ? 0 : want.stamp & 0x7f;
	if (srdma_opcode_get(want.opcode)->flags & SRDMA_OP_ATOMIC) {
		want.atomic.va = in_u8(in) * 8ull;
		want.atomic.swap_add = in_u8(in);
	} else {
		want.reth.va = in_u8(in) * 64ull;
		want.reth.rkey = in_u8(in);
		want.reth.len = want.payload_len;
		if (in_u8(in) & 1)
			want.reth.len = in_step(in) + in_u8(in) * f->mtu;
	}
	len = srdma_pkt_build(hdr, &want);
	return srdma_pkt_parse(pkt, hdr, len,
			       srdma_pkt_wire_len(len, want.payload_len)) ==
	       SRDMA_PARSE_OK;
}

/* Packets that came together with the one expected; most continue it. */
static void join(struct input *in, const struct fuzz_resp *f,
		 struct srdma_pkt *run)
{
	struct srdma_pkt want = { .mig = run->mig };
	uint8_t hdr[SRDMA_HDR_MAX];
	uint32_t len, most;

	if (!srdma_rc_resp_expects(&f->resp, run) ||
	    !srdma_run_is_open(run, f->mtu))
		return;
	for (most = in_u8(in) % 8; most; most--) {
		want.opcode = (run->opcode & ~1u) + in_u8(in) % 4;
		want.psn = srdma_psn_add(run->psn, run->more + 1u);
		want.payload_len = choose_length(in, want.opcode, f->mtu);
		want.ack_req = in_u8(in) & 1;
		len = srdma_pkt_build(hdr, &want);
		len = srdma_pkt_wire_len(len, want.payload_len);
		if (!srdma_run_add(run, (const void *)hdr, len, f->mtu) ||
		    !srdma_run_is_open(run, f->mtu))
			return;
	}
}

static void check_act(const struct fuzz_resp *f,
		      const struct srdma_pkt *pkt,
		      const struct srdma_rc_resp_act *act,
		      enum srdma_resp_verdict verdict)
{
	if (verdict == SRDMA_RESP_SEND || verdict == SRDMA_RESP_WRITE) {
		CHECK(act->len <= (pkt->more + 1u) * f->mtu);
		CHECK(act->offset <= SRDMA_MSG_MAX);
		CHECK(act->len <= SRDMA_MSG_MAX - act->offset);
	}
	if (verdict == SRDMA_RESP_WRITE)
		CHECK((uint64_t)act->offset + act->len <= act->total ||
		      !(act->flags & SRDMA_ACT_START));
	if (verdict == SRDMA_RESP_READ || verdict == SRDMA_RESP_DUP_READ)
		CHECK(act->len <= SRDMA_MSG_MAX);
	if (verdict == SRDMA_RESP_ATOMIC || verdict == SRDMA_RESP_ATOMIC_WRITE)
		CHECK(!(act->va & 7));
}

static bool is_fatal(enum srdma_resp_why why)
{
	return why != SRDMA_WHY_NO_RWQE;
}

static void execute(struct fuzz_resp *f, struct input *in,
		    const struct srdma_pkt *pkt, struct srdma_rc_resp_act *act)
{
	uint8_t how = in_u8(in);
	uint32_t epsn = f->resp.epsn;

	if (how < 0xe0) {
		act->orig = how;
		srdma_rc_resp_commit(&f->resp, pkt, act);
		if (act->flags & SRDMA_ACT_END &&
		    !(act->flags & SRDMA_ACT_DUP))
			f->msn = srdma_psn_next(f->msn);
		return;
	}
	srdma_rc_resp_fail(&f->resp, pkt, act, how % 4);
	CHECK(f->resp.epsn == epsn);
	if (!(act->flags & SRDMA_ACT_DUP) && is_fatal(how % 4))
		f->dead = true;
}

/* What is missing lies between what is expected and what is held, in order. */
static void check_holes(const struct fuzz_resp *f)
{
	const struct srdma_rc_resp *r = &f->resp;
	uint32_t last = 0, i;

	CHECK(r->hole_count <= SRDMA_RESP_HOLES);
	for (i = 0; i < r->hole_count; i++) {
		uint32_t psn = srdma_psn_dist(r->epsn, r->mend->holes[i].psn);
		uint32_t end = srdma_psn_dist(r->epsn, r->mend->holes[i].end);

		CHECK(psn >= last && psn < end);
		CHECK(end < srdma_psn_dist(r->epsn, r->held_end));
		last = end + 1;
	}
}

/* A caller without memory for it gives it to be dropped. */
static bool hold(struct fuzz_resp *f, struct input *in,
		 const struct srdma_pkt *pkt)
{
	if (!srdma_rc_resp_wants(&f->resp, pkt) || in_u8(in) > 0xe0)
		return false;
	CHECK(!f->dead && srdma_psn_after(pkt->psn, f->resp.epsn));
	f->resp.mend = &f->mend;
	srdma_rc_resp_hold(&f->resp, pkt);
	check_holes(f);
	return true;
}

/* And one that has lost it, or been told that it is not needed, forgets. */
static void pass_time(struct fuzz_resp *f, struct input *in)
{
	uint64_t at;

	f->now += 1 + in_u16(in);
	at = srdma_rc_resp_report(&f->resp, f->now);
	CHECK(!at || at > f->now);
	CHECK(!srdma_rc_resp_waits(&f->resp));
	if (in_u8(in) == 0xff)
		srdma_rc_resp_forget(&f->resp);
}

static void take_request(struct fuzz_resp *f, struct input *in)
{
	struct srdma_rc_resp_act act;
	enum srdma_resp_verdict verdict;
	uint32_t epsn = f->resp.epsn;
	struct srdma_pkt pkt;

	if (!choose_packet(in, f, &pkt))
		return;
	join(in, f, &pkt);
	if (hold(f, in, &pkt))
		return;
	verdict = srdma_rc_resp_request(&f->resp, &pkt, &act);
	CHECK(verdict < SRDMA_RESP_NR);
	CHECK(f->resp.epsn == epsn);
	if (f->dead)
		CHECK(verdict == SRDMA_RESP_DROP_ERROR);
	if (verdict == SRDMA_RESP_NAK_INV_REQ)
		f->dead = true;
	if (verdict > SRDMA_RESP_DUP_READ)
		return;
	CHECK(pkt.psn == epsn || act.flags & SRDMA_ACT_DUP);
	/* Now and then there is no memory. */
	if (verdict == SRDMA_RESP_DUP_READ && pkt.psn & 3)
		f->resp.mend = &f->mend;
	check_act(f, &pkt, &act, verdict);
	execute(f, in, &pkt, &act);
	/* As those that were held are given before any other. */
	if (f->resp.hole_count && f->resp.mend->holes[0].psn != f->resp.epsn)
		srdma_rc_resp_forget(&f->resp);
	check_holes(f);
	CHECK(f->resp.epsn <= 0xffffff);
	CHECK(f->resp.msn == f->msn);
}

static void check_out(const struct fuzz_resp *f, enum srdma_resp_out kind,
		      const struct srdma_rc_resp_burst *out,
		      const struct srdma_burst_limit *limit)
{
	const struct srdma_rc_res *res;
	uint32_t i, sum = 0;

	CHECK(out->b.count);
	check_limit(&out->b, limit);
	CHECK(out->b.psn <= 0xffffff);
	/* What is answered was executed, and all of it lies inside. */
	if (kind != SRDMA_OUT_ACK && kind != SRDMA_OUT_SACK) {
		res = &f->res[out->res];
		CHECK(out->res < f->resp.nres);
		CHECK(srdma_psn_dist(res->psn, out->b.psn) + out->b.count <=
		      res->npsn);
	}
	if (kind != SRDMA_OUT_READ)
		return;
	for (i = 0; i < out->b.count; i++) {
		CHECK(srdma_burst_payload(&out->b, i) <= f->mtu);
		sum += srdma_burst_payload(&out->b, i);
	}
	CHECK(sum == out->b.len);
	CHECK(out->b.offset + out->b.len <= SRDMA_MSG_MAX);
}

static void check_sack(const struct fuzz_resp *f)
{
	struct srdma_burst b;
	struct srdma_pkt pkt;
	uint32_t i;

	srdma_rc_resp_fill_sack(&f->resp, &pkt, &b);
	/* Without a hole it says what had only been late. */
	if (!f->resp.hole_count)
		CHECK(!pkt.aeth.held);
	else
		CHECK(pkt.aeth.held <
		      srdma_psn_dist(f->resp.epsn, f->resp.held_end));
	for (i = 0; i < SRDMA_SACK_HOLES; i++)
		CHECK(!pkt.sack.holes[i].count ||
		      srdma_psn_before(pkt.sack.holes[i].psn, f->resp.held_end));
}

/* What was answered before may be gone: only the first time it is an error. */
static void fail_read(struct fuzz_resp *f, const struct srdma_rc_resp_burst *out)
{
	const struct srdma_rc_res *res = &f->res[out->res];
	uint32_t answered = srdma_psn_dist(res->psn, res->sent_psn);

	if (srdma_psn_dist(res->psn, out->b.psn) >= answered)
		f->dead = true;
	srdma_rc_resp_read_fail(&f->resp, out, SRDMA_WHY_ACCESS);
}

static void send_responses(struct fuzz_resp *f, struct input *in)
{
	struct srdma_burst_limit limit = {
		.packets = in_u8(in) % 64 + 1,
		.bytes = in_u16(in),
	};
	uint32_t credits = in_u8(in) & 1 ? SRDMA_RESP_NO_CREDITS : in_u8(in);
	uint32_t most = in_u8(in) % RESPONSES;
	struct srdma_rc_resp_burst out;
	enum srdma_resp_out kind;

	while (most--) {
		kind = srdma_rc_resp_next(&f->resp, &limit, credits, &out);
		CHECK((kind != SRDMA_OUT_NONE) == srdma_rc_resp_due(&f->resp));
		if (kind == SRDMA_OUT_NONE)
			return;
		check_out(f, kind, &out, &limit);
		if (kind == SRDMA_OUT_SACK)
			check_sack(f);
		if (kind == SRDMA_OUT_READ && in_u8(in) == 0xff) {
			fail_read(f, &out);
			continue;
		}
		srdma_rc_resp_sent(&f->resp, &out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct srdma_rc_resp_attr attr;
	struct fuzz_resp f = {};
	int steps = STEPS;
	uint8_t what;

	f.mtu = 256u << in_u8(&in) % 5;
	attr.mtu = f.mtu;
	attr.psn = in_u32(&in) & 0xffffff;
	attr.min_rnr_timer = in_u8(&in) & 31;
	srdma_rc_resp_init(&f.resp, &attr, f.res, in_u8(&in) % 17);
	while (in.left && steps--) {
		what = in_u8(&in);
		if (what < 0xb0)
			take_request(&f, &in);
		else if (what < 0xf0)
			send_responses(&f, &in);
		else if (what < 0xf4)
			pass_time(&f, &in);
		else if (what < 0xf8)
			srdma_rc_resp_credit(&f.resp);
		else
			srdma_rc_resp_update(&f.resp, what & 31);
	}
	return 0;
}
