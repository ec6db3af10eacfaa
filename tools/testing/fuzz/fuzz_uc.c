// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Both ends of an unreliable connection. The first input byte chooses: a
 * sender of UC messages or datagrams, whose bursts must cover each message
 * once and leave in order, whoever notifies it of congestion; or a receiver,
 * whose every accepted byte must lie inside the message that it belongs to.
 */
#include "fuzz.h"
#include "proto/packet.h"
#include "proto/psn.h"
#include "proto/uc.h"

#define STEPS		600
#define RING		8

/**
 * struct fuzz_uc - a sender and what must hold of it
 * @req: under test
 * @ring: its messages
 * @sent: bytes of the message at req.cur that were given out
 * @retired: messages retired so far
 * @stopped: something failed, until it is resumed
 * @qpt: UC or UD
 * @mtu: path MTU, bytes
 * @now: time, ns
 */
struct fuzz_uc {
	struct srdma_uc_req req;
	struct srdma_rc_msg ring[RING];
	uint64_t sent;
	uint32_t retired;
	bool stopped;
	enum srdma_qpt qpt;
	uint32_t mtu;
	uint64_t now;
};

static void post(struct fuzz_uc *f, struct input *in)
{
	static const uint8_t ops[] = {
		SRDMA_WR_SEND, SRDMA_WR_SEND_IMM, SRDMA_WR_WRITE,
		SRDMA_WR_WRITE_IMM, SRDMA_WR_BIND_MW,
	};
	struct srdma_rc_msg *msg;

	if (srdma_uc_req_full(&f->req))
		return;
	msg = srdma_uc_req_msg(&f->req, f->req.head);
	memset(msg, 0, sizeof(*msg));
	msg->op = ops[in_u8(in) % (f->qpt == SRDMA_QPT_UC ? 5 : 2)];
	msg->flags = in_u8(in) & 0x86;
	msg->len = in_u8(in);
	if (f->qpt == SRDMA_QPT_UC && msg->len >= 0x80)
		msg->len = (msg->len - 0x80) * f->mtu;
	if (msg->op == SRDMA_WR_BIND_MW)
		msg->len = 0;
	srdma_uc_req_push(&f->req);
}

static void check_burst(struct fuzz_uc *f, const struct srdma_rc_burst *out)
{
	const struct srdma_burst *b = &out->b;
	uint32_t sum = 0;
	uint32_t i;

	CHECK(out->idx == f->req.cur);
	CHECK(b->count && b->offset == f->sent);
	CHECK((uint64_t)b->offset + b->len <= out->msg->len);
	for (i = 0; i < b->count; i++) {
		CHECK(srdma_opcode_get(srdma_burst_opcode(b, i))->name);
		CHECK(srdma_burst_payload(b, i) <= f->mtu);
		sum += srdma_burst_payload(b, i);
	}
	CHECK(sum == b->len);
}

static void send(struct fuzz_uc *f, struct input *in)
{
	struct srdma_burst_limit limit = {
		.packets = in_u8(in) % 64 + 1,
		.bytes = in_u16(in),
	};
	uint32_t most = in_u8(in) % 32;
	struct srdma_rc_burst out;
	enum srdma_req_next next;
	uint8_t how;

	while (most--) {
		next = srdma_uc_req_next(&f->req, f->now, &limit, &out);
		if (next == SRDMA_NEXT_LOCAL) {
			srdma_uc_req_local_done(&f->req, &out);
			continue;
		}
		CHECK(next != SRDMA_NEXT_PACE ||
		      (f->qpt == SRDMA_QPT_UC && f->req.rate.wake_at > f->now));
		if (next != SRDMA_NEXT_SEND)
			return;
		check_burst(f, &out);
		how = in_u8(in);
		if (how == 0xff) {
			srdma_uc_req_fail(&f->req, out.idx, SRDMA_ST_LOC_PROT);
			f->sent = 0;
			return;
		}
		srdma_uc_req_sent(&f->req, &out, f->now);
		f->sent += out.b.len;
		if (f->req.cur != out.idx) {
			CHECK(f->sent == out.msg->len);
			f->sent = 0;
		}
		/* Its memory comes free now, or as late as retire(). */
		if (how & 1)
			srdma_uc_req_released(&f->req, out.idx);
	}
}

static void retire(struct fuzz_uc *f, bool release)
{
	struct srdma_rc_done done;
	uint32_t idx;

	for (idx = f->req.tail; release && idx != f->req.head; idx++)
		while (srdma_uc_req_msg(&f->req, idx)->done)
			srdma_uc_req_released(&f->req, idx);
	while (srdma_uc_req_retire(&f->req, &done)) {
		CHECK(done.idx == f->retired);
		CHECK(done.status != SRDMA_ST_OK || !f->stopped);
		f->retired++;
		if (done.status != SRDMA_ST_OK)
			f->stopped = true;
	}
	CHECK(f->req.tail == f->retired);
	CHECK(f->req.cur - f->req.tail <= f->req.head - f->req.tail);
}

static void fuzz_sender(struct input *in)
{
	struct fuzz_uc f = {};
	int steps = STEPS;
	uint8_t what;

	f.qpt = in_u8(in) & 1 ? SRDMA_QPT_UC : SRDMA_QPT_UD;
	f.mtu = 256u << in_u8(in) % 5;
	srdma_uc_req_init(&f.req, f.qpt, in_u32(in) & 0xffffff, f.mtu, f.ring,
			  sizeof(f.ring[0]), RING - 1);
	while (in->left && steps--) {
		what = in_u8(in);
		if (what < 0x50) {
			post(&f, in);
		} else if (what < 0xc0) {
			send(&f, in);
		} else if (what < 0xf0) {
			retire(&f, what & 1);
		} else if (what < 0xfc) {
			srdma_uc_req_drain(&f.req, what & 1);
		} else if (f.req.mode == SRDMA_REQ_ERROR) {
			retire(&f, true);
			CHECK(f.req.tail == f.req.head);
			srdma_uc_req_resume(&f.req);
			f.stopped = false;
		} else {
			f.now += (uint64_t)in_u16(in) << in_u8(in) % 24;
			if (f.qpt == SRDMA_QPT_UC && what & 1)
				srdma_uc_req_congested(&f.req, f.now);
		}
	}
	srdma_uc_req_abort(&f.req);
	retire(&f, true);
	CHECK(f.req.tail == f.req.head);
}

static bool choose_packet(struct input *in, const struct srdma_uc_resp *resp,
			  struct srdma_pkt *pkt)
{
	uint8_t hdr[SRDMA_HDR_MAX], how;
	struct srdma_pkt want = {};
	uint32_t len;

	want.opcode = 0x20 + in_u8(in) % 12;
	want.psn = srdma_psn_add(resp->epsn, in_step(in));
	how = in_u8(in);
	if (srdma_opcode_get(want.opcode)->payload == SRDMA_PAY_MTU)
		want.payload_len = how < 0xf0 ? resp->mtu : 256u << how % 5;
	else
		want.payload_len = how < 0x40 ? resp->mtu : how % 16;
	want.reth.va = in_u8(in) * 64ull;
	want.reth.len = in_u8(in) * resp->mtu + in_step(in);
	if (how & 1)
		want.reth.len = want.payload_len;
	len = srdma_pkt_build(hdr, &want);
	return srdma_pkt_parse(pkt, hdr, len,
			       srdma_pkt_wire_len(len, want.payload_len)) ==
	       SRDMA_PARSE_OK;
}

static void fuzz_receiver(struct input *in)
{
	struct srdma_uc_resp resp;
	struct srdma_rc_resp_act act;
	enum srdma_uc_verdict verdict;
	uint64_t base = 0, end = 0;
	struct srdma_pkt pkt;
	int steps = STEPS;

	srdma_uc_resp_init(&resp, in_u32(in) & 0xffffff,
			   256u << in_u8(in) % 5);
	while (in->left && steps--) {
		if (!choose_packet(in, &resp, &pkt))
			continue;
		verdict = srdma_uc_resp_request(&resp, &pkt, &act);
		CHECK(verdict < SRDMA_UC_NR);
		CHECK(resp.epsn == srdma_psn_next(pkt.psn));
		if (verdict > SRDMA_UC_WRITE)
			continue;
		CHECK(act.len == pkt.payload_len && act.len <= resp.mtu);
		CHECK(act.len <= SRDMA_MSG_MAX - act.offset);
		if (verdict == SRDMA_UC_WRITE) {
			if (act.flags & SRDMA_ACT_START) {
				base = act.va;
				end = act.va + act.total;
			}
			CHECK(act.va == base + act.offset);
			CHECK(act.va + act.len <= end);
		}
		if (in_u8(in) == 0xff)
			srdma_uc_resp_fail(&resp);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	if (in_u8(&in) & 1)
		fuzz_sender(&in);
	else
		fuzz_receiver(&in);
	return 0;
}
