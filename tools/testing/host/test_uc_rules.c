// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bursts, and both ends of an unreliable connection: what goes at once,
 * what is left of a message of which a packet is lost, and when memory is
 * given back.
 */
#include <string.h>

#include "proto/burst.h"
#include "proto/uc.h"
#include "test.h"

#define MTU	256
#define SHIFT	8
#define FIRST	0xffffff
#define SLOTS	8

static struct srdma_burst b;

static void cut(uint8_t op, uint32_t len, uint32_t pos, uint32_t max)
{
	memset(&b, 0, sizeof(b));
	srdma_burst_cut(&b, SRDMA_QPT_RC, op, len, pos, max, SHIFT);
}

TEST(burst_cut__a_send)
{
	cut(SRDMA_WR_SEND, 3 * MTU + 7, 0, 64);
	EXPECT_EQ(b.count, 4);
	EXPECT_EQ(b.first, SRDMA_RC_SEND_FIRST);
	EXPECT_EQ(b.middle, SRDMA_RC_SEND_MIDDLE);
	EXPECT_EQ(b.last, SRDMA_RC_SEND_LAST);
	EXPECT_EQ(b.seg, MTU);
	EXPECT_EQ(b.len, 3 * MTU + 7);
	EXPECT_EQ(srdma_burst_payload(&b, 0), MTU);
	EXPECT_EQ(srdma_burst_payload(&b, 3), 7);
	EXPECT_EQ(srdma_burst_opcode(&b, 0), SRDMA_RC_SEND_FIRST);
	EXPECT_EQ(srdma_burst_opcode(&b, 2), SRDMA_RC_SEND_MIDDLE);
	EXPECT_EQ(srdma_burst_opcode(&b, 3), SRDMA_RC_SEND_LAST);
	EXPECT(!b.mixed);
}

TEST(burst_cut__a_write_has_a_first_packet_unlike_the_others)
{
	cut(SRDMA_WR_WRITE, 4 * MTU, 0, 64);
	EXPECT_EQ(b.count, 4);
	EXPECT_EQ(b.first, SRDMA_RC_WRITE_FIRST);
	EXPECT_EQ(b.len, 4 * MTU);
	EXPECT(b.mixed);
	cut(SRDMA_WR_WRITE, 4 * MTU, 0, 1);
	EXPECT_EQ(b.count, 1);
	EXPECT_EQ(b.len, MTU);
	EXPECT(!b.mixed);
	cut(SRDMA_WR_WRITE, 4 * MTU, 1, 64);
	EXPECT_EQ(b.count, 3);
	EXPECT(!b.mixed);
	EXPECT_EQ(b.offset, MTU);
	EXPECT_EQ(b.first, SRDMA_RC_WRITE_MIDDLE);
	EXPECT_EQ(b.last, SRDMA_RC_WRITE_LAST);
	EXPECT_EQ(b.len, 3 * MTU);
}

TEST(burst_cut__the_last_write_with_immediate_goes_alone)
{
	cut(SRDMA_WR_SEND_IMM, 3 * MTU, 0, 64);
	EXPECT_EQ(b.count, 3);
	EXPECT_EQ(b.last, SRDMA_RC_SEND_LAST_IMM);
	EXPECT(b.mixed);
	cut(SRDMA_WR_WRITE_IMM, 3 * MTU, 0, 64);
	EXPECT_EQ(b.count, 2);
	EXPECT_EQ(b.last, SRDMA_RC_WRITE_MIDDLE);
	EXPECT_EQ(b.len, 2 * MTU);
	cut(SRDMA_WR_WRITE_IMM, 3 * MTU, 2, 64);
	EXPECT_EQ(b.count, 1);
	EXPECT_EQ(b.first, SRDMA_RC_WRITE_LAST_IMM);
	EXPECT_EQ(b.offset, 2 * MTU);
	EXPECT_EQ(b.len, MTU);
}

TEST(burst_cut__no_more_than_asked_for)
{
	cut(SRDMA_WR_SEND, 10 * MTU, 2, 3);
	EXPECT_EQ(b.count, 3);
	EXPECT_EQ(b.first, SRDMA_RC_SEND_MIDDLE);
	EXPECT_EQ(b.last, SRDMA_RC_SEND_MIDDLE);
	EXPECT_EQ(b.offset, 2 * MTU);
	EXPECT_EQ(b.len, 3 * MTU);
}

TEST(burst_most__beside_the_first_of_a_write)
{
	struct srdma_burst_limit limit = { .packets = 5, .bytes = 10 * MTU };

	EXPECT_EQ(srdma_burst_most(&limit, SRDMA_WR_SEND, 0, SHIFT), 5);
	EXPECT_EQ(srdma_burst_most(&limit, SRDMA_WR_WRITE, 0, SHIFT), 6);
	EXPECT_EQ(srdma_burst_most(&limit, SRDMA_WR_WRITE_IMM, 0, SHIFT), 6);
	EXPECT_EQ(srdma_burst_most(&limit, SRDMA_WR_WRITE, 1, SHIFT), 5);
	limit.bytes = 5 * MTU;
	EXPECT_EQ(srdma_burst_most(&limit, SRDMA_WR_WRITE, 0, SHIFT), 5);
	limit = (struct srdma_burst_limit){ 0 };
	EXPECT_EQ(srdma_burst_most(&limit, SRDMA_WR_SEND, 0, SHIFT), 1);
}

TEST(burst_cut__empty_message)
{
	cut(SRDMA_WR_WRITE_IMM, 0, 0, 64);
	EXPECT_EQ(b.count, 1);
	EXPECT_EQ(b.first, SRDMA_RC_WRITE_ONLY_IMM);
	EXPECT_EQ(b.len, 0);
}

static struct srdma_rc_msg ring[SLOTS];
static struct srdma_uc_req req;
static struct srdma_rc_burst burst;

static void begin(enum srdma_qpt qpt)
{
	srdma_uc_req_init(&req, qpt, FIRST, MTU, ring, sizeof(ring[0]),
			  SLOTS - 1);
}

static void post(uint8_t op, uint32_t len, uint8_t flags)
{
	struct srdma_rc_msg *msg = srdma_uc_req_msg(&req, req.head);

	memset(msg, 0, sizeof(*msg));
	msg->op = op;
	msg->len = len;
	msg->flags = flags;
	srdma_uc_req_push(&req);
}

static enum srdma_req_next next_some(u32 packets)
{
	const struct srdma_burst_limit limit = {
		.packets = 64,
		.bytes = packets * MTU,
	};

	return srdma_uc_req_next(&req, 0, &limit, &burst);
}

static enum srdma_req_next next(void)
{
	return next_some(64);
}

static void expect_done(int line, uint32_t idx, int status)
{
	struct srdma_rc_done done = { .idx = 99 };
	bool any = srdma_uc_req_retire(&req, &done);

	if (!any || done.idx != idx || (int)done.status != status)
		test_fail(__FILE__, line, "retired %d: message %u, status %d",
			  any, done.idx, any ? (int)done.status : -1);
}

#define EXPECT_DONE(idx, status)	expect_done(__LINE__, idx, status)

static bool none_done(void)
{
	struct srdma_rc_done done;

	return !srdma_uc_req_retire(&req, &done);
}

TEST(uc_retire__not_while_the_memory_is_in_use)
{
	begin(SRDMA_QPT_UC);
	post(SRDMA_WR_WRITE, 2 * MTU, SRDMA_WR_SOLICITED);
	REQUIRE(next_some(1) == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, FIRST);
	EXPECT(!burst.b.solicited);
	srdma_uc_req_sent(&req, &burst, 0);
	EXPECT(none_done());
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, 0);
	EXPECT(burst.b.solicited);
	EXPECT(!burst.b.ack_req);
	srdma_uc_req_sent(&req, &burst, 0);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT(none_done());
	srdma_uc_req_released(&req, 0);
	EXPECT(none_done());
	srdma_uc_req_released(&req, 0);
	EXPECT_DONE(0, SRDMA_ST_OK);
}

TEST(uc_next__no_more_than_the_limit_but_all_of_that)
{
	begin(SRDMA_QPT_UC);
	post(SRDMA_WR_SEND, MTU, 0);
	post(SRDMA_WR_SEND, 4 * MTU + 1, 0);
	REQUIRE(next_some(3) == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 1);
	EXPECT_EQ(burst.b.len, MTU);
	srdma_uc_req_sent(&req, &burst, 0);
	REQUIRE(next_some(3) == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 3);
	srdma_uc_req_sent(&req, &burst, 0);
	REQUIRE(next_some(3) == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 2);
	EXPECT_EQ(burst.b.len, MTU + 1);
}

/* Who only learns how many bursts are over takes them for the oldest. */
TEST(uc_done__released_by_number)
{
	begin(SRDMA_QPT_UC);
	post(SRDMA_WR_WRITE, 2 * MTU, 0);
	post(SRDMA_WR_WRITE, 0, 0);
	post(SRDMA_WR_WRITE, MTU, 0);
	REQUIRE(next_some(1) == SRDMA_NEXT_SEND);
	srdma_uc_req_sent(&req, &burst, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	srdma_uc_req_sent(&req, &burst, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	srdma_uc_req_sent(&req, &burst, 0);
	srdma_uc_req_released(&req, 1);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	srdma_uc_req_sent(&req, &burst, 0);
	srdma_uc_req_release_oldest(&req);
	EXPECT(none_done());
	/* The next is of the third, whether the first two were retired meanwhile or not. */
	srdma_uc_req_release_oldest(&req);
	srdma_uc_req_release_oldest(&req);
	EXPECT_DONE(0, SRDMA_ST_OK);
	EXPECT_DONE(1, SRDMA_ST_OK);
	EXPECT_DONE(2, SRDMA_ST_OK);
	srdma_uc_req_release_oldest(&req);
	EXPECT(none_done());
}

TEST(uc_done__all_released)
{
	begin(SRDMA_QPT_UC);
	post(SRDMA_WR_WRITE, 2 * MTU, 0);
	post(SRDMA_WR_WRITE, MTU, 0);
	post(SRDMA_WR_WRITE, MTU, 0);
	REQUIRE(next_some(1) == SRDMA_NEXT_SEND);
	srdma_uc_req_sent(&req, &burst, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	srdma_uc_req_sent(&req, &burst, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	srdma_uc_req_sent(&req, &burst, 0);
	srdma_uc_req_release_all(&req);
	EXPECT_DONE(0, SRDMA_ST_OK);
	EXPECT_DONE(1, SRDMA_ST_OK);
	EXPECT(none_done());
}

TEST(uc_fail__status_then_flush_then_resumed)
{
	begin(SRDMA_QPT_UD);
	post(SRDMA_WR_SEND, 4, 0);
	post(SRDMA_WR_SEND, 4, 0);
	post(SRDMA_WR_SEND, 4, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.first, SRDMA_UD_SEND_ONLY);
	srdma_uc_req_sent(&req, &burst, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	srdma_uc_req_fail(&req, burst.idx, SRDMA_ST_LOC_PROT);
	EXPECT_EQ(next(), SRDMA_NEXT_ERROR);
	srdma_uc_req_released(&req, 0);
	EXPECT_DONE(0, SRDMA_ST_OK);
	EXPECT_DONE(1, 4);
	EXPECT_DONE(2, 5);
	srdma_uc_req_resume(&req);
	post(SRDMA_WR_SEND, 4, 0);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.idx, 3);
}

/* As when a batch is fetched, and one in the middle of it makes no sense. */
TEST(uc_fail__of_a_later_one_lets_those_before_it_go)
{
	begin(SRDMA_QPT_UC);
	post(SRDMA_WR_WRITE, 2 * MTU, 0);
	post(SRDMA_WR_SEND, 4, 0);
	post(SRDMA_WR_SEND, 4, 0);
	post(SRDMA_WR_SEND, 4, 0);
	REQUIRE(next_some(1) == SRDMA_NEXT_SEND);
	srdma_uc_req_sent(&req, &burst, 0);
	srdma_uc_req_released(&req, 0);
	srdma_uc_req_fail(&req, 2, SRDMA_ST_LOC_QP_OP);
	srdma_uc_req_fail(&req, 3, SRDMA_ST_LOC_LEN);
	EXPECT(none_done());
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.idx, 0);
	EXPECT_EQ(burst.b.offset, MTU);
	srdma_uc_req_sent(&req, &burst, 0);
	srdma_uc_req_released(&req, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.idx, 1);
	srdma_uc_req_sent(&req, &burst, 0);
	srdma_uc_req_released(&req, 1);
	EXPECT_EQ(next(), SRDMA_NEXT_ERROR);
	EXPECT_DONE(0, SRDMA_ST_OK);
	EXPECT_DONE(1, SRDMA_ST_OK);
	EXPECT_DONE(2, SRDMA_ST_LOC_QP_OP);
	EXPECT_DONE(3, SRDMA_ST_FLUSH);
	EXPECT(none_done());
}

TEST(uc_fail__of_an_earlier_one_comes_first)
{
	begin(SRDMA_QPT_UD);
	post(SRDMA_WR_SEND, 4, 0);
	post(SRDMA_WR_SEND, 4, 0);
	srdma_uc_req_fail(&req, 1, SRDMA_ST_LOC_QP_OP);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	srdma_uc_req_fail(&req, burst.idx, SRDMA_ST_LOC_PROT);
	EXPECT_EQ(next(), SRDMA_NEXT_ERROR);
	EXPECT_DONE(0, SRDMA_ST_LOC_PROT);
	EXPECT_DONE(1, SRDMA_ST_FLUSH);
}

TEST(uc_fail__waits_while_the_queue_drains)
{
	begin(SRDMA_QPT_UC);
	post(SRDMA_WR_SEND, 4, 0);
	srdma_uc_req_drain(&req, true);
	post(SRDMA_WR_SEND, 4, 0);
	EXPECT_EQ(next(), SRDMA_NEXT_SQD);
	srdma_uc_req_fail(&req, 1, SRDMA_ST_LOC_QP_OP);
	EXPECT_EQ(next(), SRDMA_NEXT_SQD);
	srdma_uc_req_drain(&req, false);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	srdma_uc_req_sent(&req, &burst, 0);
	srdma_uc_req_released(&req, 0);
	EXPECT_EQ(next(), SRDMA_NEXT_ERROR);
	EXPECT_DONE(0, SRDMA_ST_OK);
	EXPECT_DONE(1, SRDMA_ST_LOC_QP_OP);
}

TEST(uc_fail__of_the_next_one_waits_as_well)
{
	begin(SRDMA_QPT_UC);
	srdma_uc_req_drain(&req, true);
	post(SRDMA_WR_SEND, 4, 0);
	srdma_uc_req_fail(&req, 0, SRDMA_ST_LOC_QP_OP);
	EXPECT_EQ(next(), SRDMA_NEXT_SQD);
	EXPECT(none_done());
	EXPECT(srdma_uc_req_drained(&req));
	srdma_uc_req_drain(&req, false);
	EXPECT_EQ(next(), SRDMA_NEXT_ERROR);
	EXPECT_DONE(0, SRDMA_ST_LOC_QP_OP);
}

TEST(uc_abort__flushes_also_what_was_to_fail)
{
	begin(SRDMA_QPT_UC);
	post(SRDMA_WR_SEND, 4, 0);
	post(SRDMA_WR_SEND, 4, 0);
	srdma_uc_req_fail(&req, 1, SRDMA_ST_LOC_QP_OP);
	srdma_uc_req_abort(&req);
	EXPECT_DONE(0, SRDMA_ST_FLUSH);
	EXPECT_DONE(1, SRDMA_ST_FLUSH);
}

TEST(uc_drain__finishes_what_is_begun)
{
	begin(SRDMA_QPT_UC);
	post(SRDMA_WR_WRITE, 2 * MTU, 0);
	post(SRDMA_WR_WRITE, 4, 0);
	REQUIRE(next_some(1) == SRDMA_NEXT_SEND);
	srdma_uc_req_sent(&req, &burst, 0);
	srdma_uc_req_drain(&req, true);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.idx, 0);
	srdma_uc_req_sent(&req, &burst, 0);
	EXPECT_EQ(next(), SRDMA_NEXT_SQD);
	EXPECT(!srdma_uc_req_drained(&req));
	srdma_uc_req_released(&req, 0);
	srdma_uc_req_released(&req, 0);
	EXPECT_DONE(0, SRDMA_ST_OK);
	EXPECT(srdma_uc_req_drained(&req));
	srdma_uc_req_drain(&req, false);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
}

static struct srdma_uc_resp resp;
static struct srdma_rc_resp_act act;

static enum srdma_uc_verdict request(uint8_t opcode, uint32_t step,
				     uint32_t len, uint32_t total)
{
	struct srdma_pkt pkt = {
		.op = srdma_opcode_get(opcode),
		.opcode = opcode,
		.psn = (FIRST + step) & 0xffffff,
		.payload_len = len,
		.reth = { .va = 0x1000, .rkey = 7, .len = total },
	};

	return srdma_uc_resp_request(&resp, &pkt, &act);
}

static void begin_resp(void)
{
	srdma_uc_resp_init(&resp, FIRST, MTU);
}

TEST(uc_request__write_of_three_packets)
{
	begin_resp();
	EXPECT_EQ(request(SRDMA_UC_WRITE_FIRST, 0, MTU, 2 * MTU + 1),
		  SRDMA_UC_WRITE);
	EXPECT_EQ(act.total, 2 * MTU + 1);
	EXPECT_EQ(act.va, 0x1000);
	EXPECT_EQ(request(SRDMA_UC_WRITE_MIDDLE, 1, MTU, 0), SRDMA_UC_WRITE);
	EXPECT_EQ(act.va, 0x1100);
	EXPECT_EQ(request(SRDMA_UC_WRITE_LAST_IMM, 2, 1, 0), SRDMA_UC_WRITE);
	EXPECT_EQ(act.va, 0x1200);
	EXPECT_EQ(act.total, 2 * MTU + 1);
	EXPECT_EQ(act.flags, SRDMA_ACT_END | SRDMA_ACT_RWQE | SRDMA_ACT_COMP);
}

/* A run of a FIRST and a MIDDLE, and the LAST that follows. */
TEST(uc_request__run_counts_as_its_packets)
{
	struct srdma_pkt run = {
		.op = srdma_opcode_get(SRDMA_UC_WRITE_FIRST),
		.opcode = SRDMA_UC_WRITE_FIRST,
		.psn = FIRST,
		.more = 1,
		.payload_len = 2 * MTU,
		.reth = { .va = 0x1000, .rkey = 7, .len = 2 * MTU + 1 },
	};

	begin_resp();
	EXPECT(srdma_uc_resp_expects(&resp, &run));
	EXPECT_EQ(srdma_uc_resp_request(&resp, &run, &act), SRDMA_UC_WRITE);
	EXPECT_EQ(act.len, 2 * MTU);
	EXPECT(!srdma_uc_resp_expects(&resp, &run));
	EXPECT_EQ(request(SRDMA_UC_WRITE_LAST, 2, 1, 0), SRDMA_UC_WRITE);
	EXPECT_EQ(act.va, 0x1000 + 2 * MTU);
	/* One that says more than it holds is no run. */
	run.payload_len--;
	EXPECT_EQ(srdma_uc_resp_request(&resp, &run, &act),
		  SRDMA_UC_DROP_LEN);
}

TEST(uc_request__rest_of_a_broken_message)
{
	begin_resp();
	EXPECT_EQ(request(SRDMA_UC_SEND_FIRST, 0, MTU, 0), SRDMA_UC_SEND);
	/* PSN 1 is lost. */
	EXPECT_EQ(request(SRDMA_UC_SEND_MIDDLE, 2, MTU, 0),
		  SRDMA_UC_DROP_LOST);
	EXPECT_EQ(request(SRDMA_UC_SEND_MIDDLE, 3, MTU, 0),
		  SRDMA_UC_DROP_LOST);
	EXPECT_EQ(request(SRDMA_UC_SEND_LAST, 4, 1, 0), SRDMA_UC_DROP_LOST);
	/* The next message counts, whatever its PSN. */
	EXPECT_EQ(request(SRDMA_UC_SEND_ONLY, 9, 1, 0), SRDMA_UC_SEND);
	EXPECT_EQ(act.flags, SRDMA_ACT_START | SRDMA_ACT_END | SRDMA_ACT_RWQE |
		  SRDMA_ACT_COMP);
}

TEST(uc_request__only_the_psn_tells)
{
	begin_resp();
	EXPECT_EQ(request(SRDMA_UC_SEND_FIRST, 0, MTU, 0), SRDMA_UC_SEND);
	/* All but the first of the next message is lost, and it is not LAST. */
	EXPECT_EQ(request(SRDMA_UC_SEND_LAST, 5, 1, 0), SRDMA_UC_DROP_LOST);
	EXPECT_EQ(request(SRDMA_UC_SEND_LAST, 6, 1, 0), SRDMA_UC_DROP_LOST);
}

TEST(uc_request__send_continued_as_write)
{
	begin_resp();
	EXPECT_EQ(request(SRDMA_UC_SEND_FIRST, 0, MTU, 0), SRDMA_UC_SEND);
	EXPECT_EQ(request(SRDMA_UC_WRITE_LAST, 1, 1, 0), SRDMA_UC_DROP_SEQ);
	EXPECT_EQ(request(SRDMA_UC_SEND_LAST, 2, 1, 0), SRDMA_UC_DROP_LOST);
}

TEST(uc_request__message_cut_short_by_the_next)
{
	begin_resp();
	EXPECT_EQ(request(SRDMA_UC_SEND_FIRST, 0, MTU, 0), SRDMA_UC_SEND);
	EXPECT_EQ(request(SRDMA_UC_SEND_ONLY, 1, 3, 0), SRDMA_UC_SEND);
	EXPECT_EQ(act.offset, 0);
	EXPECT_EQ(act.total, 3);
}

TEST(uc_request__length)
{
	begin_resp();
	EXPECT_EQ(request(SRDMA_UC_SEND_FIRST, 0, 2 * MTU, 0),
		  SRDMA_UC_DROP_LEN);
	EXPECT_EQ(request(SRDMA_UC_SEND_ONLY, 1, MTU + 1, 0),
		  SRDMA_UC_DROP_LEN);
	EXPECT_EQ(request(SRDMA_UC_WRITE_ONLY, 2, 3, 4), SRDMA_UC_DROP_LEN);
	EXPECT_EQ(request(SRDMA_UC_WRITE_ONLY, 3, 5, 4), SRDMA_UC_DROP_LEN);
	EXPECT_EQ(request(SRDMA_UC_WRITE_FIRST, 4, MTU, MTU),
		  SRDMA_UC_DROP_LEN);
	EXPECT_EQ(request(SRDMA_UC_WRITE_FIRST, 5, MTU, 0x80000001),
		  SRDMA_UC_DROP_LEN);
	EXPECT_EQ(request(SRDMA_UC_WRITE_FIRST, 6, MTU, MTU + 1),
		  SRDMA_UC_WRITE);
	EXPECT_EQ(request(SRDMA_UC_WRITE_LAST, 7, 2, 0), SRDMA_UC_DROP_LEN);
}

TEST(uc_resp_fail__the_rest_is_dropped)
{
	begin_resp();
	EXPECT_EQ(request(SRDMA_UC_WRITE_FIRST, 0, MTU, 2 * MTU),
		  SRDMA_UC_WRITE);
	srdma_uc_resp_fail(&resp);
	EXPECT_EQ(request(SRDMA_UC_WRITE_LAST, 1, MTU, 0), SRDMA_UC_DROP_LOST);
	EXPECT_EQ(request(SRDMA_UC_SEND_ONLY, 2, 0, 0), SRDMA_UC_SEND);
}
