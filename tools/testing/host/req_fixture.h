/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A requester to be tested, and short words for what is done to it. PSNs are
 * given as steps from the first, which is near the wrap.
 */
#ifndef HOST_REQ_FIXTURE_H
#define HOST_REQ_FIXTURE_H

#include <string.h>

#include "proto/aeth.h"
#include "proto/psn.h"
#include "proto/rc_req.h"
#include "test.h"

#define MTU	256
#define RING	16
#define FIRST	0xfffffe
#define US	1000ull
#define MS	1000000ull

static struct srdma_rc_req req;
static __maybe_unused struct srdma_rc_req_mend mend;
static struct srdma_rc_msg ring[RING];
static struct srdma_rc_burst burst;
static struct srdma_rc_req_act act;
static struct srdma_burst_limit limit;
static struct srdma_pkt pkt;
static uint64_t now;

/* ACK timeout 4.096 us * 2^14: 67 ms. */
static const struct srdma_rc_req_attr usual = {
	.psn = FIRST, .mtu = MTU, .max_rd_atomic = 8, .retry_cnt = 7,
	.rnr_retry = 6, .timeout = 14,
};

/* Retries that are soon used up. */
static const __maybe_unused struct srdma_rc_req_attr few = {
	.psn = FIRST, .mtu = MTU, .max_rd_atomic = 4, .retry_cnt = 2,
	.rnr_retry = 2, .timeout = 14,
};

static __maybe_unused uint32_t psn(uint32_t step)
{
	return (FIRST + step) & 0xffffff;
}

static __maybe_unused void begin(const struct srdma_rc_req_attr *a)
{
	limit = (struct srdma_burst_limit){ .packets = 64, .bytes = 65000 };
	memset(&pkt, 0, sizeof(pkt));
	now = 1 * MS;
	srdma_rc_req_init(&req, a ? a : &usual, ring, sizeof(ring[0]),
			  RING - 1);
	memset(&mend, 0, sizeof(mend));
	req.mend = &mend;
}

static __maybe_unused void push(uint8_t op, uint32_t len, uint8_t flags)
{
	*srdma_rc_req_msg(&req, req.head) = (struct srdma_rc_msg){
		.op = op, .len = len, .flags = flags,
	};
	srdma_rc_req_push(&req);
}

static __maybe_unused enum srdma_req_next next(void)
{
	return srdma_rc_req_next(&req, now, &limit, &burst);
}

static __maybe_unused void sent(void)
{
	srdma_rc_req_sent(&req, &burst, now);
}

static __maybe_unused void send_one(void)
{
	REQUIRE(next() == SRDMA_NEXT_SEND);
	sent();
}

/* Sends all it may; how many packets? */
static __maybe_unused uint32_t send_all(void)
{
	uint32_t count = 0;

	while (next() == SRDMA_NEXT_SEND && count < 10000) {
		count += burst.b.count;
		sent();
	}
	return count;
}

/* Nor does anything wait to be spread over a round trip. */
static __maybe_unused uint32_t send_paced(void)
{
	uint32_t count = 0, more;

	do {
		req.slow.next_at = 0;
		more = send_all();
		count += more;
	} while (more);
	return count;
}

static __maybe_unused void expect_burst(uint32_t step, uint32_t count,
					uint32_t offset, uint32_t len,
					uint8_t opcode)
{
	EXPECT_EQ(burst.b.psn, psn(step));
	EXPECT_EQ(burst.b.count, count);
	EXPECT_EQ(burst.b.offset, offset);
	EXPECT_EQ(burst.b.len, len);
	EXPECT_EQ(srdma_burst_opcode(&burst.b, 0), opcode);
}

static __maybe_unused enum srdma_req_resp response(uint8_t opcode,
						   uint32_t step)
{
	pkt.op = srdma_opcode_get(opcode);
	pkt.opcode = opcode;
	pkt.psn = psn(step);
	return srdma_rc_req_response(&req, &pkt, now, &act);
}

static __maybe_unused enum srdma_req_resp aeth(uint32_t step, uint8_t syndrome)
{
	pkt.aeth.syndrome = syndrome;
	return response(SRDMA_RC_ACK, step);
}

static __maybe_unused enum srdma_req_resp aeth_psn(uint32_t at,
						   uint8_t syndrome)
{
	return aeth((at - FIRST) & 0xffffff, syndrome);
}

static __maybe_unused enum srdma_req_resp ack(uint32_t step)
{
	return aeth(step, 0x1f);
}

static __maybe_unused enum srdma_req_resp nak(uint32_t step, uint8_t code)
{
	return aeth(step, 0x60 | code);
}

static __maybe_unused enum srdma_req_resp rnr(uint32_t step, uint8_t timer)
{
	return aeth(step, 0x20 | timer);
}

/* ACK with MSN @msn and credit code @code. */
static __maybe_unused enum srdma_req_resp credits(uint32_t step, uint8_t code,
						  uint32_t msn)
{
	pkt.aeth.msn = msn;
	return aeth(step, code);
}

/* What a packet there has in a response that was given at once. */
static __maybe_unused uint8_t read_resp_opcode(uint32_t step)
{
	const struct srdma_rc_msg *msg;
	uint32_t idx, at;

	for (idx = req.una; idx != req.fresh; idx++) {
		msg = srdma_rc_req_msg(&req, idx);
		at = srdma_psn_dist(msg->psn, psn(step));
		if (at < msg->npsn)
			return srdma_opcode_read_resp(!at, at + 1 == msg->npsn);
	}
	return SRDMA_RC_READ_RESP_ONLY;
}

/* A READ response; what it is called follows from nothing but its place. */
static __maybe_unused enum srdma_req_resp read_resp(uint32_t step,
						    uint32_t len)
{
	enum srdma_req_resp v;

	pkt.aeth.syndrome = 0x1f;
	pkt.payload_len = len;
	v = response(read_resp_opcode(step), step);
	pkt.payload_len = 0;
	return v;
}

static __maybe_unused enum srdma_req_resp atomic_ack(uint32_t step,
						     uint64_t orig)
{
	pkt.aeth.syndrome = 0x1f;
	pkt.aeth.orig = orig;
	return response(SRDMA_RC_ATOMIC_ACK, step);
}

static __maybe_unused void placed(void)
{
	srdma_rc_req_placed(&req, &act, now);
}

/* A READ response that says by itself what it is, placed if it may be. */
static __maybe_unused enum srdma_req_resp take_read(uint8_t opcode,
						    uint32_t step, uint32_t len)
{
	enum srdma_req_resp v;

	pkt.aeth.syndrome = 0x1f;
	pkt.payload_len = len;
	v = response(opcode, step);
	pkt.payload_len = 0;
	if (v == SRDMA_REQ_PLACE)
		placed();
	return v;
}

/* The same, called what follows from its place. */
static __maybe_unused enum srdma_req_resp place_resp(uint32_t step,
						     uint32_t len)
{
	return take_read(read_resp_opcode(step), step, len);
}

static struct srdma_rc_done done;

static __maybe_unused bool retired(void)
{
	return srdma_rc_req_retire(&req, &done);
}

static __maybe_unused void expect_retired(uint32_t idx,
					  enum srdma_status status)
{
	REQUIRE(EXPECT(retired()));
	EXPECT_EQ(done.idx, idx);
	EXPECT_EQ(done.status, status);
}

/* Lets the time come for the timer, and tells what it finds. */
static __maybe_unused enum srdma_req_timer expire(void)
{
	now = req.deadline;
	return srdma_rc_req_timeout(&req, now);
}

/* Time passes until the ACK timeout, probes on the way; what comes of it. */
static __maybe_unused enum srdma_req_timer wait_for_timeout(void)
{
	enum srdma_req_timer what = SRDMA_TIMER_EARLY;
	int steps;

	for (steps = 0; steps < 100 && req.deadline; steps++) {
		what = expire();
		if (what != SRDMA_TIMER_PROBE)
			break;
		send_all();
	}
	return what;
}

static __maybe_unused void no_holes(void)
{
	memset(&pkt, 0, sizeof(pkt));
}

static __maybe_unused void hole(uint32_t i, uint32_t step, uint32_t count)
{
	pkt.sack.holes[i].psn = psn(step);
	pkt.sack.holes[i].count = count;
}

/* A selective acknowledge up to @step, the @number-th; the holes are filled in. */
static __maybe_unused enum srdma_req_resp sack(uint32_t step, uint8_t number,
						uint32_t held)
{
	pkt.stamp = number;
	pkt.aeth.held = held;
	pkt.aeth.syndrome = 0x1f;
	return response(SRDMA_RC_SACK, step);
}

#endif
