/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A responder to be tested, and short words for what is said to it. PSNs are
 * given as steps from the first, which is near the wrap.
 */
#ifndef HOST_RESP_FIXTURE_H
#define HOST_RESP_FIXTURE_H

#include <string.h>

#include "proto/psn.h"
#include "proto/rc_resp.h"
#include "test.h"

#define MTU	256
#define FIRST	0xfffffe

static struct srdma_rc_resp resp;
static struct srdma_rc_res res[8];
static struct srdma_rc_resp_mend mend;
static struct srdma_rc_resp_act act;
static struct srdma_pkt pkt;
static struct srdma_rc_resp_burst out;

static inline void begin(uint32_t nres)
{
	static const struct srdma_rc_resp_attr attr = {
		.psn = FIRST, .mtu = MTU, .min_rnr_timer = 12,
	};

	srdma_rc_resp_init(&resp, &attr, res, nres);
	resp.mend = &mend;
}

/* A request @step PSNs behind the first one, judged; @len payload bytes. */
static inline enum srdma_resp_verdict request(uint8_t opcode, uint32_t step,
					      uint32_t len)
{
	pkt.op = srdma_opcode_get(opcode);
	pkt.opcode = opcode;
	pkt.psn = (FIRST + step) & 0xffffff;
	pkt.payload_len = len;
	return srdma_rc_resp_request(&resp, &pkt, &act);
}

/* A new packet, all of it zero but for what the caller fills in next. */
static inline void fresh(void)
{
	memset(&pkt, 0, sizeof(pkt));
}

static inline enum srdma_resp_verdict send(uint8_t opcode, uint32_t step,
					   uint32_t len)
{
	fresh();
	return request(opcode, step, len);
}

static inline enum srdma_resp_verdict rdma(uint8_t opcode, uint32_t step,
					   uint32_t len, uint64_t va,
					   uint32_t total)
{
	fresh();
	pkt.reth.va = va;
	pkt.reth.rkey = 7;
	pkt.reth.len = total;
	return request(opcode, step, len);
}

static inline enum srdma_resp_verdict atomic(uint8_t opcode, uint32_t step,
					     uint64_t va)
{
	fresh();
	pkt.atomic.va = va;
	return request(opcode, step, 0);
}

static inline void commit(void)
{
	srdma_rc_resp_commit(&resp, &pkt, &act);
}

/* The next response, sent. */
static inline enum srdma_resp_out respond_some(u32 packets)
{
	const struct srdma_burst_limit limit = {
		.packets = 64, .bytes = packets * MTU,
	};
	enum srdma_resp_out kind;

	kind = srdma_rc_resp_next(&resp, &limit, SRDMA_RESP_NO_CREDITS, &out);
	if (kind != SRDMA_OUT_NONE)
		srdma_rc_resp_sent(&resp, &out);
	return kind;
}

static inline enum srdma_resp_out respond(void)
{
	return respond_some(64);
}

/* The next response is an ACK packet with this syndrome for this step. */
static inline void expect_ack(const char *file, int line, uint8_t syndrome,
			      uint32_t step)
{
	enum srdma_resp_out kind = respond();

	if (kind == SRDMA_OUT_ACK && out.syndrome == syndrome &&
	    out.b.psn == ((FIRST + step) & 0xffffff))
		return;
	test_fail(file, line, "response %d, syndrome 0x%02x, PSN 0x%06x",
		  kind, out.syndrome, out.b.psn);
}

#define EXPECT_ACK(syndrome, step)					\
	expect_ack(__FILE__, __LINE__, syndrome, step)

/* Invalid: NAK 0x61 for @step, and nothing is executed from then on. */
static inline void expect_inv_req(const char *file, int line,
				  enum srdma_resp_verdict verdict,
				  uint32_t step)
{
	if (verdict != SRDMA_RESP_NAK_INV_REQ)
		test_fail(file, line, "verdict %d", verdict);
	expect_ack(file, line, 0x61, step);
	if (!out.fatal)
		test_fail(file, line, "the QP lives on");
	if (send(SRDMA_RC_SEND_ONLY, step, 0) != SRDMA_RESP_DROP_ERROR)
		test_fail(file, line, "executed after a fatal NAK");
}

#define EXPECT_INV_REQ(verdict, step)					\
	expect_inv_req(__FILE__, __LINE__, verdict, step)

/* A READ of three packets and a byte that was answered. */
static inline void answered_read(void)
{
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 3 * MTU + 1),
		  SRDMA_RESP_READ);
	commit();
	while (respond() != SRDMA_OUT_NONE)
		;
}

#endif
