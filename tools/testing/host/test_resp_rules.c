// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What an RC responder says to a requester that does not keep to the rules,
 * or whose packets do not arrive as they were sent. The simulator has only
 * requesters that mean well, so this is not seen there.
 */
#include <string.h>

#include "proto/psn.h"
#include "proto/rc_resp.h"
#include "test.h"

#define MTU	256
#define FIRST	0xfffffe	/* so that everything crosses zero */

static struct srdma_rc_resp resp;
static struct srdma_rc_res res[4];
static struct srdma_rc_resp_act act;
static struct srdma_pkt pkt;

static void begin(uint32_t nres)
{
	static const struct srdma_rc_resp_attr attr = {
		.psn = FIRST, .mtu = MTU, .min_rnr_timer = 12,
	};

	srdma_rc_resp_init(&resp, &attr, res, nres);
}

/* A request @step PSNs behind the first one, judged; @len payload bytes. */
static enum srdma_resp_verdict request(uint8_t opcode, uint32_t step,
				       uint32_t len)
{
	pkt.op = srdma_opcode_get(opcode);
	pkt.opcode = opcode;
	pkt.psn = (FIRST + step) & 0xffffff;
	pkt.payload_len = len;
	return srdma_rc_resp_request(&resp, &pkt, &act);
}

/* A new packet, all of it zero but for what the caller fills in next. */
static void fresh(void)
{
	memset(&pkt, 0, sizeof(pkt));
}

static enum srdma_resp_verdict send(uint8_t opcode, uint32_t step,
				    uint32_t len)
{
	fresh();
	return request(opcode, step, len);
}

static enum srdma_resp_verdict rdma(uint8_t opcode, uint32_t step,
				    uint32_t len, uint64_t va,
				    uint32_t total)
{
	fresh();
	pkt.reth.va = va;
	pkt.reth.rkey = 7;
	pkt.reth.len = total;
	return request(opcode, step, len);
}

static enum srdma_resp_verdict atomic(uint8_t opcode, uint32_t step,
				      uint64_t va)
{
	fresh();
	pkt.atomic.va = va;
	return request(opcode, step, 0);
}

static void commit(void)
{
	srdma_rc_resp_commit(&resp, &pkt, &act);
}

static struct srdma_rc_resp_burst out;

/* The next response, sent. */
static enum srdma_resp_out respond_some(u32 packets)
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

static enum srdma_resp_out respond(void)
{
	return respond_some(64);
}

/* The next response is an ACK packet with this syndrome for this step. */
static void expect_ack(int line, uint8_t syndrome, uint32_t step)
{
	enum srdma_resp_out kind = respond();

	if (kind == SRDMA_OUT_ACK && out.syndrome == syndrome &&
	    out.b.psn == ((FIRST + step) & 0xffffff))
		return;
	test_fail(__FILE__, line, "response %d, syndrome 0x%02x, PSN 0x%06x",
		  kind, out.syndrome, out.b.psn);
}

#define EXPECT_ACK(syndrome, step)	expect_ack(__LINE__, syndrome, step)

/* Invalid: NAK 0x61 for @step, and nothing is executed from then on. */
static void expect_inv_req(int line, enum srdma_resp_verdict verdict,
			   uint32_t step)
{
	if (verdict != SRDMA_RESP_NAK_INV_REQ)
		test_fail(__FILE__, line, "verdict %d", verdict);
	expect_ack(line, 0x61, step);
	if (!out.fatal)
		test_fail(__FILE__, line, "the QP lives on");
	if (send(SRDMA_RC_SEND_ONLY, step, 0) != SRDMA_RESP_DROP_ERROR)
		test_fail(__FILE__, line, "executed after a fatal NAK");
}

#define EXPECT_INV_REQ(verdict, step)					\
	expect_inv_req(__LINE__, verdict, step)

TEST(resp_gap__one_nak)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_ACK(0x60, 0);
	EXPECT(!out.fatal);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 2, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 3, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_gap__another_when_the_requester_went_back)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 3, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_ACK(0x60, 0);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_ACK(0x60, 0);
}

TEST(resp_gap__another_for_the_next_gap)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_ACK(0x60, 0);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_SEND);
	commit();
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 2, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_ACK(0x60, 1);
}

TEST(resp_gap__nak_is_withdrawn_when_the_packet_comes)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_SEND);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_rnr__nothing_changes_and_it_comes_again)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_SEND);
	EXPECT(act.flags & SRDMA_ACT_RWQE);
	srdma_rc_resp_fail(&resp, &pkt, &act, SRDMA_WHY_NO_RWQE);
	EXPECT_ACK(0x2c, 0);
	EXPECT(!out.fatal);
	/* What was sent behind it is dropped without another word. */
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_SEND);
	EXPECT_EQ(resp.msn, 0);
	srdma_rc_resp_update(&resp, 1);
	srdma_rc_resp_fail(&resp, &pkt, &act, SRDMA_WHY_NO_RWQE);
	EXPECT_ACK(0x21, 0);
}

/* A network that duplicates and reorders: two packets come in every order. */
TEST(resp_rnr__what_is_behind_it_gets_no_nak_in_any_order)
{
	static const uint8_t steps[] = { 1, 2, 2, 1, 3, 1 };
	unsigned int i;

	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_SEND);
	srdma_rc_resp_fail(&resp, &pkt, &act, SRDMA_WHY_NO_RWQE);
	/* Not in place of the RNR NAK, and not after it. */
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 2, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 1, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_ACK(0x2c, 0);
	for (i = 0; i < sizeof(steps); i++)
		EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, steps[i], 4),
			  SRDMA_RESP_DROP_GAP);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_SEND);
	commit();
	/* From now on a gap is one again. */
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 3, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_ACK(0x60, 1);
}

TEST(resp_fail__each_reason_has_its_nak)
{
	static const struct {
		enum srdma_resp_why why;
		uint8_t syndrome;
	} rows[] = {
		{ SRDMA_WHY_INV_REQ, 0x61 },
		{ SRDMA_WHY_ACCESS, 0x62 },
		{ SRDMA_WHY_OP, 0x63 },
	};
	int i;

	for (i = 0; i < 3; i++) {
		begin(1);
		EXPECT_EQ(rdma(SRDMA_RC_WRITE_ONLY, 0, 4, 0x1000, 4),
			  SRDMA_RESP_WRITE);
		srdma_rc_resp_fail(&resp, &pkt, &act, rows[i].why);
		EXPECT_ACK(rows[i].syndrome, 0);
		EXPECT(out.fatal);
		EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4),
			  SRDMA_RESP_DROP_ERROR);
	}
}

TEST(resp_duplicate__acknowledged_again)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_SEND);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);	/* not asked for */
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 4), SRDMA_RESP_DUP);
	EXPECT_ACK(0x1f, 0);
	EXPECT_EQ(out.msn, 1);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_duplicate__write_is_not_executed_again)
{
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_WRITE_ONLY, 0, 4, 0x1000, 4),
		  SRDMA_RESP_WRITE);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_WRITE_ONLY, 0, 4, 0x1000, 4), SRDMA_RESP_DUP);
	EXPECT_EQ(resp.msn, 1);
}

TEST(resp_ack__only_when_asked_for)
{
	begin(1);
	fresh();
	pkt.ack_req = true;
	EXPECT_EQ(request(SRDMA_RC_SEND_FIRST, 0, MTU), SRDMA_RESP_SEND);
	commit();
	EXPECT_ACK(0x1f, 0);
	EXPECT_EQ(out.msn, 0);
	EXPECT_EQ(send(SRDMA_RC_SEND_LAST, 1, 1), SRDMA_RESP_SEND);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT_EQ(resp.msn, 1);
}

TEST(resp_credit__code_in_the_acknowledge)
{
	static const struct srdma_burst_limit limit = {
		.packets = 1,
		.bytes = 256,
	};

	begin(1);
	srdma_rc_resp_credit(&resp);
	REQUIRE(srdma_rc_resp_next(&resp, &limit, 7, &out) == SRDMA_OUT_ACK);
	EXPECT_EQ(out.syndrome, 0x05);	/* 6, the next code would be 8 */
}

TEST(resp_sequence__message_inside_a_message)
{
	static const uint8_t starts[] = {
		SRDMA_RC_SEND_FIRST, SRDMA_RC_SEND_ONLY, SRDMA_RC_WRITE_ONLY,
		SRDMA_RC_READ_REQ, SRDMA_RC_CMP_SWAP, SRDMA_RC_FLUSH,
		SRDMA_RC_ATOMIC_WRITE,
	};
	size_t i;

	for (i = 0; i < sizeof(starts); i++) {
		begin(4);
		EXPECT_EQ(send(SRDMA_RC_SEND_FIRST, 0, MTU), SRDMA_RESP_SEND);
		commit();
		fresh();
		if (starts[i] == SRDMA_RC_ATOMIC_WRITE)
			pkt.reth.len = 8;
		EXPECT_INV_REQ(request(starts[i], 1, starts[i] ==
				       SRDMA_RC_SEND_FIRST ? MTU :
				       pkt.reth.len), 1);
	}
}

TEST(resp_sequence__middle_or_last_of_nothing)
{
	begin(1);
	EXPECT_INV_REQ(send(SRDMA_RC_SEND_MIDDLE, 0, MTU), 0);
	begin(1);
	EXPECT_INV_REQ(send(SRDMA_RC_SEND_LAST, 0, 1), 0);
	begin(1);
	EXPECT_INV_REQ(send(SRDMA_RC_WRITE_LAST, 0, 1), 0);
}

TEST(resp_sequence__send_continued_as_write)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_FIRST, 0, MTU), SRDMA_RESP_SEND);
	commit();
	EXPECT_INV_REQ(send(SRDMA_RC_WRITE_LAST, 1, 1), 1);
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_WRITE_FIRST, 0, MTU, 0, MTU + 1),
		  SRDMA_RESP_WRITE);
	commit();
	EXPECT_INV_REQ(send(SRDMA_RC_SEND_LAST, 1, 1), 1);
}

TEST(resp_length__not_the_path_mtu)
{
	begin(1);
	EXPECT_INV_REQ(send(SRDMA_RC_SEND_FIRST, 0, 2 * MTU), 0);
	begin(1);
	EXPECT_INV_REQ(send(SRDMA_RC_SEND_ONLY, 0, MTU + 1), 0);
}

TEST(resp_length__write_must_add_up)
{
	begin(1);
	EXPECT_INV_REQ(rdma(SRDMA_RC_WRITE_ONLY, 0, 5, 0, 4), 0);
	begin(1);
	EXPECT_INV_REQ(rdma(SRDMA_RC_WRITE_ONLY, 0, 3, 0, 4), 0);
	/* FIRST leaves nothing for a LAST. */
	begin(1);
	EXPECT_INV_REQ(rdma(SRDMA_RC_WRITE_FIRST, 0, MTU, 0, MTU), 0);
	begin(1);
	EXPECT_INV_REQ(rdma(SRDMA_RC_WRITE_FIRST, 0, MTU, 0, 0x80000001), 0);
}

TEST(resp_length__write_goes_too_far)
{
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_WRITE_FIRST, 0, MTU, 0x1000, 2 * MTU),
		  SRDMA_RESP_WRITE);
	EXPECT_EQ(act.total, 2 * MTU);
	commit();
	EXPECT_INV_REQ(send(SRDMA_RC_WRITE_MIDDLE, 1, MTU), 1);
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_WRITE_FIRST, 0, MTU, 0x1000, MTU + 4),
		  SRDMA_RESP_WRITE);
	commit();
	EXPECT_INV_REQ(send(SRDMA_RC_WRITE_LAST, 1, 5), 1);
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_WRITE_FIRST, 0, MTU, 0x1000, MTU + 4),
		  SRDMA_RESP_WRITE);
	commit();
	EXPECT_INV_REQ(send(SRDMA_RC_WRITE_LAST, 1, 3), 1);
}

TEST(resp_length__longest_send)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_FIRST, 0, MTU), SRDMA_RESP_SEND);
	commit();
	resp.offset = 0x80000000u - MTU;	/* 2^23 packets later */
	EXPECT_EQ(send(SRDMA_RC_SEND_MIDDLE, 1, MTU), SRDMA_RESP_SEND);
	commit();
	EXPECT_INV_REQ(send(SRDMA_RC_SEND_LAST, 2, 1), 2);
}

TEST(resp_write__where_each_packet_goes)
{
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_WRITE_FIRST, 0, MTU, 0x1000, 2 * MTU + 3),
		  SRDMA_RESP_WRITE);
	EXPECT_EQ(act.va, 0x1000);
	EXPECT_EQ(act.flags, SRDMA_ACT_START);
	commit();
	EXPECT_EQ(send(SRDMA_RC_WRITE_MIDDLE, 1, MTU), SRDMA_RESP_WRITE);
	EXPECT_EQ(act.va, 0x1100);
	EXPECT_EQ(act.rkey, 7);
	EXPECT_EQ(act.offset, MTU);
	commit();
	fresh();
	pkt.se = true;
	EXPECT_EQ(request(SRDMA_RC_WRITE_LAST_IMM, 2, 3), SRDMA_RESP_WRITE);
	EXPECT_EQ(act.va, 0x1200);
	EXPECT_EQ(act.total, 2 * MTU + 3);
	EXPECT_EQ(act.flags, SRDMA_ACT_END | SRDMA_ACT_RWQE | SRDMA_ACT_COMP |
		  SRDMA_ACT_SE);
}

TEST(resp_send__solicited_only_if_it_says_so)
{
	begin(1);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 0, 3), SRDMA_RESP_SEND);
	EXPECT_EQ(act.flags, SRDMA_ACT_START | SRDMA_ACT_END | SRDMA_ACT_RWQE |
		  SRDMA_ACT_COMP);
}

TEST(resp_read__none_agreed)
{
	begin(0);
	EXPECT_INV_REQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0, 4), 0);
	begin(0);
	EXPECT_INV_REQ(atomic(SRDMA_RC_FETCH_ADD, 0, 8), 0);
}

TEST(resp_read__more_than_agreed)
{
	begin(2);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0, 4), SRDMA_RESP_READ);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, 0, 4), SRDMA_RESP_READ);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 2, 0, 0, 4),
		  SRDMA_RESP_NAK_INV_REQ);
	/* What was accepted is answered before the NAK. */
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_ACK(0x61, 2);
}

TEST(resp_read__longer_than_a_message)
{
	begin(1);
	EXPECT_INV_REQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0, 0x80000001), 0);
}

TEST(resp_read__its_packets)
{
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 3 * MTU + 5),
		  SRDMA_RESP_READ);
	commit();
	EXPECT_EQ(resp.epsn, 2);
	EXPECT_EQ(respond_some(1), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_FIRST);
	EXPECT_EQ(out.b.psn, FIRST);
	EXPECT_EQ(out.va, 0x2000);
	EXPECT_EQ(out.rkey, 7);
	EXPECT_EQ(respond_some(2), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_MIDDLE);
	EXPECT_EQ(out.b.count, 2);
	EXPECT(!out.b.mixed);
	EXPECT_EQ(out.va, 0x2100);
	EXPECT_EQ(out.b.len, 2 * MTU);
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_LAST);
	EXPECT_EQ(out.b.psn, 1);
	EXPECT_EQ(out.va, 0x2300);
	EXPECT_EQ(out.b.len, 5);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

/* A READ of three packets and a byte, answered; then asked for again. */
static void answered_read(void)
{
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 3 * MTU + 1),
		  SRDMA_RESP_READ);
	commit();
	while (respond() != SRDMA_OUT_NONE)
		;
}

TEST(resp_duplicate_read__from_any_packet_on)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 2, 0, 0x2200, MTU + 1),
		  SRDMA_RESP_DUP_READ);
	EXPECT(act.flags & SRDMA_ACT_DUP);
	EXPECT_EQ(act.len, MTU + 1);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_FIRST);
	EXPECT_EQ(out.b.psn, 0);
	EXPECT_EQ(out.va, 0x2200);
	EXPECT_EQ(resp.epsn, 2);
	EXPECT_EQ(resp.msn, 1);
}

TEST(resp_duplicate_read__other_range_is_dropped)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2001, 4),
		  SRDMA_RESP_DROP_RANGE);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 3 * MTU + 2),
		  SRDMA_RESP_DROP_RANGE);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, 0x2100, 2 * MTU + 2),
		  SRDMA_RESP_DROP_RANGE);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, 0x2000, 1),
		  SRDMA_RESP_DROP_RANGE);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_duplicate_read__other_kind_is_dropped)
{
	answered_read();
	EXPECT_EQ(atomic(SRDMA_RC_CMP_SWAP, 0, 0x2000), SRDMA_RESP_DROP_RANGE);
	EXPECT_EQ(rdma(SRDMA_RC_FLUSH, 0, 0, 0x2000, 4),
		  SRDMA_RESP_DROP_RANGE);
}

TEST(resp_duplicate_read__bad_key_is_not_fatal)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 4),
		  SRDMA_RESP_DUP_READ);
	srdma_rc_resp_fail(&resp, &pkt, &act, SRDMA_WHY_ACCESS);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 4, 0), SRDMA_RESP_SEND);
}

/* Its key is nobody's: it is not looked at, nor for what is asked for next. */
TEST(resp_duplicate_read__of_nothing_keeps_the_key)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, 0x2100, 2 * MTU + 1),
		  SRDMA_RESP_DUP_READ);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 2, 0, 0x2200, 0),
		  SRDMA_RESP_DUP_READ);
	act.rkey = 8;
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(out.rkey, 7);
}

TEST(resp_duplicate_read__no_longer_kept)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 4, 0, 0x9000, 1), SRDMA_RESP_READ);
	commit();
	while (respond() != SRDMA_OUT_NONE)
		;
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 4),
		  SRDMA_RESP_DROP_OLD);
}

TEST(resp_atomic__replayed_not_executed)
{
	begin(2);
	EXPECT_EQ(atomic(SRDMA_RC_FETCH_ADD, 0, 0x3000), SRDMA_RESP_ATOMIC);
	act.orig = 0x1122334455667788;
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_ATOMIC);
	EXPECT_EQ(out.orig, 0x1122334455667788);
	EXPECT_EQ(atomic(SRDMA_RC_FETCH_ADD, 0, 0x3000), SRDMA_RESP_DUP);
	EXPECT_EQ(respond(), SRDMA_OUT_ATOMIC);
	EXPECT_EQ(out.orig, 0x1122334455667788);
	EXPECT_EQ(out.b.psn, FIRST);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

TEST(resp_atomic__unaligned)
{
	int off;

	for (off = 1; off < 8; off++) {
		begin(1);
		EXPECT_INV_REQ(atomic(SRDMA_RC_CMP_SWAP, 0, 0x3000 + off), 0);
		begin(1);
		EXPECT_INV_REQ(rdma(SRDMA_RC_ATOMIC_WRITE, 0, 8, 0x3000 + off,
				    8), 0);
	}
}

TEST(resp_atomic_write__length_in_the_header)
{
	begin(1);
	EXPECT_INV_REQ(rdma(SRDMA_RC_ATOMIC_WRITE, 0, 8, 0x3000, 4), 0);
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_ATOMIC_WRITE, 0, 8, 0x3000, 8),
		  SRDMA_RESP_ATOMIC_WRITE);
	EXPECT_EQ(act.va, 0x3000);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_ONLY);
	EXPECT_EQ(out.b.len, 0);
}

TEST(resp_flush__answered_like_a_read_of_nothing)
{
	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_FLUSH, 0, 0, 0x3000, 64), SRDMA_RESP_FLUSH);
	EXPECT_EQ(act.len, 64);
	EXPECT_EQ(act.va, 0x3000);
	commit();
	EXPECT_EQ(resp.epsn, 0xffffff);
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_ONLY);
	EXPECT_EQ(out.b.len, 0);
	EXPECT_EQ(rdma(SRDMA_RC_FLUSH, 0, 0, 0x3000, 64), SRDMA_RESP_DUP);
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
}

TEST(resp_nak__behind_the_read_data)
{
	begin(2);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 4), SRDMA_RESP_READ);
	commit();
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 2, 4), SRDMA_RESP_DROP_GAP);
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_ACK(0x60, 1);
}

TEST(resp_read_fail__nothing_behind_it_is_answered)
{
	static const struct srdma_burst_limit limit = {
		.packets = 64,
		.bytes = 65536,
	};

	begin(2);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 4), SRDMA_RESP_READ);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, 0x2000, 4), SRDMA_RESP_READ);
	commit();
	REQUIRE(srdma_rc_resp_next(&resp, &limit, 1, &out) == SRDMA_OUT_READ);
	srdma_rc_resp_read_fail(&resp, &out, SRDMA_WHY_ACCESS);
	EXPECT_ACK(0x62, 0);
	EXPECT(out.fatal);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

/* The memory is taken away when a part of the data has left. */
TEST(resp_read_fail__behind_a_part_of_a_burst)
{
	static const struct srdma_burst_limit limit = {
		.packets = 64,
		.bytes = 65536,
	};

	begin(1);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 5 * MTU),
		  SRDMA_RESP_READ);
	commit();
	REQUIRE(srdma_rc_resp_next(&resp, &limit, 1, &out) == SRDMA_OUT_READ);
	EXPECT_EQ(out.b.count, 5);
	srdma_burst_trim(&out.b, 4);
	srdma_rc_resp_sent(&resp, &out);
	REQUIRE(srdma_rc_resp_next(&resp, &limit, 1, &out) == SRDMA_OUT_READ);
	EXPECT_EQ(out.b.count, 1);
	EXPECT_EQ(out.b.first, SRDMA_RC_READ_RESP_LAST);
	EXPECT_EQ(out.va, 0x2000 + 4 * MTU);
	srdma_rc_resp_read_fail(&resp, &out, SRDMA_WHY_ACCESS);
	EXPECT_ACK(0x62, 4);
	EXPECT(out.fatal);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

/* The memory of what is to be sent next cannot be read. */
static void fail_read(u32 packets)
{
	const struct srdma_burst_limit limit = {
		.packets = 64,
		.bytes = packets * MTU,
	};

	REQUIRE(srdma_rc_resp_next(&resp, &limit, 1, &out) == SRDMA_OUT_READ);
	srdma_rc_resp_read_fail(&resp, &out, SRDMA_WHY_ACCESS);
}

TEST(resp_read_fail__of_a_repetition_is_not_fatal)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, 3 * MTU + 1),
		  SRDMA_RESP_DUP_READ);
	commit();
	EXPECT_EQ(respond_some(1), SRDMA_OUT_READ);
	fail_read(64);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 4, 0), SRDMA_RESP_SEND);
}

TEST(resp_read_fail__of_the_front_repeated_is_not_fatal)
{
	answered_read();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, MTU),
		  SRDMA_RESP_DUP_READ);
	commit();
	fail_read(64);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
	EXPECT_EQ(send(SRDMA_RC_SEND_ONLY, 4, 0), SRDMA_RESP_SEND);
}

TEST(resp_read_fail__behind_a_repetition_is_where_the_data_ends)
{
	begin(2);
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, MTU),
		  SRDMA_RESP_READ);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, 0x3000, 4 * MTU),
		  SRDMA_RESP_READ);
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_READ);
	EXPECT_EQ(respond_some(1), SRDMA_OUT_READ);
	/* Both are asked for again, of the second one packet is out. */
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 0, 0, 0x2000, MTU),
		  SRDMA_RESP_DUP_READ);
	commit();
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, 1, 0, 0x3000, 4 * MTU),
		  SRDMA_RESP_DUP_READ);
	commit();
	fail_read(64);
	EXPECT_EQ(out.b.psn, FIRST);
	fail_read(64);
	EXPECT_EQ(out.b.psn, FIRST + 1);
	fail_read(64);
	EXPECT_EQ(out.b.psn, (FIRST + 2) & 0xffffff);
	EXPECT_ACK(0x62, 2);
	EXPECT(out.fatal);
	EXPECT_EQ(respond(), SRDMA_OUT_NONE);
}

#define GIB	(1u << 30)

/* All PSNs are used up by four of these; the responses to eight are kept. */
static struct srdma_rc_res many[8];

static uint32_t read_gib(uint32_t step, uint64_t va, uint32_t len)
{
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, step, 0, va, len), SRDMA_RESP_READ);
	commit();
	while (respond_some(64) != SRDMA_OUT_NONE)
		;
	return step + len / MTU;
}

TEST(resp_dup__of_this_time_round_the_circle)
{
	static const struct srdma_rc_resp_attr attr = {
		.psn = FIRST, .mtu = MTU, .min_rnr_timer = 12,
	};
	uint32_t step = 0;
	int i;

	srdma_rc_resp_init(&resp, &attr, many, 8);
	for (i = 0; i < 5; i++)
		step = read_gib(step, (uint64_t)GIB * i, GIB);
	/* The last packet of the fifth is where that of the first was. */
	EXPECT_EQ(rdma(SRDMA_RC_READ_REQ, step - 1, 0,
		       (uint64_t)GIB * 5 - MTU, MTU), SRDMA_RESP_DUP_READ);
}

TEST(resp_dup__atomic_of_this_time_round_the_circle)
{
	static const struct srdma_rc_resp_attr attr = {
		.psn = FIRST, .mtu = MTU, .min_rnr_timer = 12,
	};
	uint32_t step = 1;
	int i;

	srdma_rc_resp_init(&resp, &attr, many, 8);
	EXPECT_EQ(atomic(SRDMA_RC_FETCH_ADD, 0, 8), SRDMA_RESP_ATOMIC);
	act.orig = 111;
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_ATOMIC);
	for (i = 0; i < 4; i++)
		step = read_gib(step, 0, i ? GIB : GIB - MTU);
	EXPECT_EQ(atomic(SRDMA_RC_FETCH_ADD, step, 8), SRDMA_RESP_ATOMIC);
	act.orig = 222;
	commit();
	EXPECT_EQ(respond(), SRDMA_OUT_ATOMIC);
	EXPECT_EQ(atomic(SRDMA_RC_FETCH_ADD, step, 8), SRDMA_RESP_DUP);
	EXPECT_EQ(respond(), SRDMA_OUT_ATOMIC);
	EXPECT_EQ(out.orig, 222);
}
