// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What an RC requester does and does not do: what waits for what, how often
 * it tries, what it believes of a responder. One rule a test; that they work
 * together is what the simulator shows.
 */
#include <string.h>

#include "proto/rc_req.h"
#include "test.h"

#define MTU	256
#define FIRST	0xfffffd	/* so that everything crosses zero */
#define SLOTS	16
#define START	1000000ull	/* ns */

static struct srdma_rc_msg ring[SLOTS];
static struct srdma_rc_req req;
static struct srdma_rc_burst burst;
static struct srdma_rc_req_act act;
static uint64_t now;

static struct srdma_rc_req_attr usual(void)
{
	return (struct srdma_rc_req_attr){
		.psn = FIRST, .mtu = MTU, .max_rd_atomic = 4, .retry_cnt = 2,
		.rnr_retry = 2, .timeout = 14,
	};
}

static void begin(const struct srdma_rc_req_attr *attr)
{
	now = START;
	srdma_rc_req_init(&req, attr, ring, sizeof(ring[0]), SLOTS - 1);
}

static void begin_usual(void)
{
	struct srdma_rc_req_attr attr = usual();

	begin(&attr);
}

static void post(uint8_t op, uint32_t len, uint8_t flags)
{
	struct srdma_rc_msg *msg = srdma_rc_req_msg(&req, req.head);

	memset(msg, 0, sizeof(*msg));
	msg->op = op;
	msg->len = len;
	msg->flags = flags;
	srdma_rc_req_push(&req);
}

static enum srdma_req_next next(void)
{
	static const struct srdma_burst_limit limit = {
		.packets = 64,
		.bytes = 65536,
	};

	return srdma_rc_req_next(&req, now, &limit, &burst);
}

/* Sends until there is a reason to wait; returns that. Counts the packets. */
static uint32_t packets;

static enum srdma_req_next send_all(void)
{
	enum srdma_req_next why;

	packets = 0;
	for (;;) {
		why = next();
		if (why != SRDMA_NEXT_SEND)
			return why;
		packets += burst.b.count;
		srdma_rc_req_sent(&req, &burst, now);
	}
}

static struct srdma_pkt response(uint8_t opcode, uint32_t step,
				 uint8_t syndrome)
{
	return (struct srdma_pkt){
		.op = srdma_opcode_get(opcode),
		.opcode = opcode,
		.psn = (FIRST + step) & 0xffffff,
		.aeth = { .syndrome = syndrome },
	};
}

/* An ACK packet for the PSN @step behind the first. */
static enum srdma_req_resp ack(uint32_t step, uint8_t syndrome)
{
	struct srdma_pkt pkt = response(SRDMA_RC_ACK, step, syndrome);

	now += 1000;
	return srdma_rc_req_response(&req, &pkt, now, &act);
}

static enum srdma_req_resp read_resp(uint8_t opcode, uint32_t step,
				     uint32_t len)
{
	struct srdma_pkt pkt = response(opcode, step, 0x1f);
	enum srdma_req_resp verdict;

	pkt.payload_len = len;
	now += 1000;
	verdict = srdma_rc_req_response(&req, &pkt, now, &act);
	if (verdict == SRDMA_REQ_PLACE)
		srdma_rc_req_placed(&req, &act, now);
	return verdict;
}

/* The next message to leave is @idx with this status. */
static void expect_done(int line, uint32_t idx, int status)
{
	struct srdma_rc_done done = { .idx = 99 };
	bool any = srdma_rc_req_retire(&req, &done);

	if (!any || done.idx != idx || (int)done.status != status)
		test_fail(__FILE__, line, "retired %d: message %u, status %d",
			  any, done.idx, any ? (int)done.status : -1);
}

#define EXPECT_DONE(idx, status)	expect_done(__LINE__, idx, status)

static bool none_done(void)
{
	struct srdma_rc_done done;

	return !srdma_rc_req_retire(&req, &done);
}

/* Time passes until the ACK timeout, probes on the way; what comes of it. */
static enum srdma_req_timer wait_for_timeout(void)
{
	enum srdma_req_timer what = SRDMA_TIMER_EARLY;
	int steps;

	for (steps = 0; steps < 100; steps++) {
		if (!req.deadline)
			break;
		now = req.deadline;
		what = srdma_rc_req_timeout(&req, now);
		if (what != SRDMA_TIMER_PROBE)
			break;
		send_all();
	}
	return what;
}

TEST(req_next__nothing_posted)
{
	begin_usual();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(req.deadline, 0);
	EXPECT(none_done());
}

TEST(req_next__message_of_three_packets)
{
	begin_usual();
	post(SRDMA_WR_SEND, 2 * MTU + 1, SRDMA_WR_SIGNALED |
	     SRDMA_WR_SOLICITED);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, FIRST);
	EXPECT_EQ(burst.b.count, 3);
	EXPECT_EQ(burst.b.first, SRDMA_RC_SEND_FIRST);
	EXPECT_EQ(burst.b.middle, SRDMA_RC_SEND_MIDDLE);
	EXPECT_EQ(burst.b.last, SRDMA_RC_SEND_LAST);
	EXPECT_EQ(burst.b.seg, MTU);
	EXPECT_EQ(burst.b.len, 2 * MTU + 1);
	EXPECT(burst.b.ack_req);
	EXPECT(burst.b.solicited);
	EXPECT(!burst.b.resend);
}

TEST(req_next__asking_changes_nothing)
{
	begin_usual();
	post(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, FIRST);
	srdma_rc_req_sent(&req, &burst, now);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_next__last_in_the_queue_need_not_ask_for_an_ack)
{
	begin_usual();
	post(SRDMA_WR_SEND, 1, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(!burst.b.ack_req);
	EXPECT(!burst.b.solicited);
	post(SRDMA_WR_SEND, 1, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(!burst.b.ack_req);
}

TEST(req_next__signaled_asks_for_an_ack)
{
	begin_usual();
	post(SRDMA_WR_WRITE, 1, SRDMA_WR_SIGNALED);
	post(SRDMA_WR_WRITE, 1, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(burst.b.ack_req);
}

TEST(req_next__fence_waits_for_the_read)
{
	begin_usual();
	post(SRDMA_WR_READ, 4, 0);
	post(SRDMA_WR_SEND, 4, 0);
	post(SRDMA_WR_SEND, 4, SRDMA_WR_FENCE);
	EXPECT_EQ(send_all(), SRDMA_NEXT_FENCE);
	EXPECT_EQ(packets, 2);
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_ONLY, 0, 4), SRDMA_REQ_PLACE);
	EXPECT_EQ(send_all(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(packets, 1);
}

TEST(req_next__as_many_reads_as_agreed)
{
	struct srdma_rc_req_attr attr = usual();

	attr.max_rd_atomic = 2;
	begin(&attr);
	post(SRDMA_WR_READ, 4, 0);
	post(SRDMA_WR_FETCH_ADD, 8, 0);
	post(SRDMA_WR_READ, 4, 0);
	EXPECT_EQ(send_all(), SRDMA_NEXT_RD_ATOMIC);
	EXPECT_EQ(packets, 2);
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_ONLY, 0, 4), SRDMA_REQ_PLACE);
	EXPECT_EQ(send_all(), SRDMA_NEXT_EMPTY);
}

TEST(req_next__local_invalidate_waits_for_all)
{
	begin_usual();
	post(SRDMA_WR_SEND, 4, 0);
	post(SRDMA_WR_LOCAL_INV, 0, SRDMA_MSG_DRAIN);
	EXPECT_EQ(send_all(), SRDMA_NEXT_ORDER);
	EXPECT_EQ(ack(0, 0x1f), SRDMA_REQ_ACK);
	REQUIRE(next() == SRDMA_NEXT_LOCAL);
	EXPECT_EQ(burst.idx, 1);
	srdma_rc_req_local_done(&req, &burst);
	EXPECT_DONE(0, SRDMA_ST_OK);
	EXPECT_DONE(1, SRDMA_ST_OK);
}

TEST(req_drain__begins_nothing)
{
	begin_usual();
	post(SRDMA_WR_SEND, 4, 0);
	send_all();
	post(SRDMA_WR_SEND, 4, 0);
	srdma_rc_req_drain(&req, true);
	/* Only the end of what was begun, to hear of it. */
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(burst.probe);
	srdma_rc_req_sent(&req, &burst, now);
	EXPECT_EQ(next(), SRDMA_NEXT_SQD);
	EXPECT(!srdma_rc_req_drained(&req));
	EXPECT_EQ(ack(0, 0x1f), SRDMA_REQ_ACK);
	EXPECT(srdma_rc_req_drained(&req));
	srdma_rc_req_drain(&req, false);
	EXPECT(!srdma_rc_req_drained(&req));
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
}

TEST(req_window__bytes_in_flight)
{
	struct srdma_rc_req_attr attr = usual();

	attr.max_inflight = 4 * MTU;
	begin(&attr);
	post(SRDMA_WR_SEND, 10 * MTU, 0);
	EXPECT_EQ(send_all(), SRDMA_NEXT_WINDOW);
	EXPECT_EQ(packets, 4);
	EXPECT_EQ(ack(1, 0x1f), SRDMA_REQ_ACK);
	EXPECT_EQ(send_all(), SRDMA_NEXT_WINDOW);
	EXPECT_EQ(packets, 2);
}

TEST(req_window__shrinks_by_loss_and_grows_again)
{
	struct srdma_rc_req_attr attr = usual();
	uint32_t acked, after;

	attr.max_inflight = 1024 * MTU;
	begin(&attr);
	post(SRDMA_WR_SEND, 20000 * MTU, 0);
	EXPECT_EQ(send_all(), SRDMA_NEXT_WINDOW);
	EXPECT_EQ(packets, 1024);
	EXPECT_EQ(ack(0, 0x60), SRDMA_REQ_RETRY);
	EXPECT_EQ(send_all(), SRDMA_NEXT_WINDOW);
	after = packets;
	EXPECT(after < 1024 && after >= 1);
	/* Only while less is sent than was before the loss. */
	for (acked = 0; acked + after < 4000; acked += packets) {
		EXPECT_EQ(ack(acked + req.cwnd / 2, 0x1f), SRDMA_REQ_ACK);
		send_all();
	}
	EXPECT(req.cwnd > after);
	EXPECT(req.cwnd <= 1024);
}

TEST(req_ack__what_it_covers_and_no_more)
{
	begin_usual();
	post(SRDMA_WR_SEND, MTU + 1, 0);
	post(SRDMA_WR_WRITE, 1, 0);
	post(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(ack(0, 0x1f), SRDMA_REQ_ACK);
	EXPECT(none_done());
	EXPECT_EQ(ack(1, 0x1f), SRDMA_REQ_ACK);
	EXPECT_DONE(0, SRDMA_ST_OK);
	EXPECT(none_done());
	EXPECT_EQ(ack(3, 0x1f), SRDMA_REQ_ACK);
	EXPECT_DONE(1, SRDMA_ST_OK);
	EXPECT_DONE(2, SRDMA_ST_OK);
	EXPECT_EQ(req.deadline, 0);
}

TEST(req_ack__of_what_was_not_sent)
{
	begin_usual();
	post(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(ack(1, 0x1f), SRDMA_REQ_DROP_GHOST);
	EXPECT_EQ(ack(0x100, 0x1f), SRDMA_REQ_DROP_GHOST);
	EXPECT(none_done());
	EXPECT_EQ(ack(0, 0x1f), SRDMA_REQ_ACK);
	/* The same again; it may bring credits, but no other message. */
	EXPECT_EQ(ack(0, 0x1f), SRDMA_REQ_ACK);
	EXPECT_EQ(ack(0, 0x60), SRDMA_REQ_DROP_GHOST);
	EXPECT_DONE(0, SRDMA_ST_OK);
	EXPECT(none_done());
}

TEST(req_ack__does_not_answer_a_read)
{
	begin_usual();
	post(SRDMA_WR_READ, 4, 0);
	post(SRDMA_WR_SEND, 4, 0);
	send_all();
	ack(0, 0x1f);
	EXPECT(none_done());
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_ONLY, 0, 4), SRDMA_REQ_PLACE);
	EXPECT_DONE(0, SRDMA_ST_OK);
}

TEST(req_ack__reserved_syndromes)
{
	begin_usual();
	post(SRDMA_WR_SEND, 4, 0);
	send_all();
	EXPECT_EQ(ack(0, 0x40), SRDMA_REQ_DROP_KIND);
	EXPECT_EQ(ack(0, 0x64), SRDMA_REQ_DROP_KIND);
	EXPECT_EQ(ack(0, 0x65), SRDMA_REQ_DROP_KIND);
	EXPECT(none_done());
}

TEST(req_response__request_opcode)
{
	struct srdma_pkt pkt = response(SRDMA_RC_SEND_ONLY, 0, 0);

	begin_usual();
	post(SRDMA_WR_SEND, 4, 0);
	send_all();
	EXPECT_EQ(srdma_rc_req_response(&req, &pkt, now, &act),
		  SRDMA_REQ_DROP_KIND);
}

TEST(req_nak__each_code_has_its_status)
{
	static const struct {
		uint8_t syndrome;
		int status;
	} rows[] = {
		{ 0x61, 9 },	/* invalid request: IB_WC_REM_INV_REQ_ERR */
		{ 0x62, 10 },	/* IB_WC_REM_ACCESS_ERR */
		{ 0x63, 11 },	/* IB_WC_REM_OP_ERR */
	};
	int i;

	for (i = 0; i < 3; i++) {
		begin_usual();
		post(SRDMA_WR_SEND, 4, 0);
		post(SRDMA_WR_WRITE, 4, 0);
		post(SRDMA_WR_WRITE, 4, 0);
		send_all();
		/* It acknowledges what is in front of it. */
		EXPECT_EQ(ack(1, rows[i].syndrome), SRDMA_REQ_FAILED);
		EXPECT_DONE(0, SRDMA_ST_OK);
		EXPECT_DONE(1, rows[i].status);
		EXPECT_DONE(2, 5);
		EXPECT_EQ(next(), SRDMA_NEXT_ERROR);
		EXPECT_EQ(req.deadline, 0);
		/* Nothing succeeds from now on. */
		post(SRDMA_WR_SEND, 4, 0);
		EXPECT_EQ(ack(2, 0x1f), SRDMA_REQ_DROP_ERROR);
		EXPECT_DONE(3, 5);
		EXPECT(none_done());
	}
}

TEST(req_nak__overtaken_by_the_ack)
{
	begin_usual();
	post(SRDMA_WR_READ, 4, 0);
	post(SRDMA_WR_SEND, 4, 0);
	post(SRDMA_WR_SEND, 4, 0);
	send_all();
	ack(1, 0x1f);
	EXPECT_EQ(ack(1, 0x62), SRDMA_REQ_DROP_DUP);
	EXPECT_EQ(ack(1, 0x60), SRDMA_REQ_DROP_DUP);
}

TEST(req_seq_nak__goes_back)
{
	begin_usual();
	post(SRDMA_WR_SEND, 3 * MTU, 0);
	send_all();
	EXPECT_EQ(ack(1, 0x60), SRDMA_REQ_RETRY);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, (FIRST + 1) & 0xffffff);
	EXPECT_EQ(burst.b.offset, MTU);
	EXPECT_EQ(burst.b.count, 2);
	EXPECT_EQ(burst.b.first, SRDMA_RC_SEND_MIDDLE);
	EXPECT(burst.b.resend);
	EXPECT(burst.b.ack_req);
	srdma_rc_req_sent(&req, &burst, now);
	EXPECT_EQ(ack(2, 0x1f), SRDMA_REQ_ACK);
	EXPECT_DONE(0, SRDMA_ST_OK);
}

/* One of two retries each, being too far apart for copies; then no more. */
TEST(req_seq_nak__is_a_retry)
{
	int i;

	begin_usual();
	post(SRDMA_WR_SEND, 1, 0);
	for (i = 0; i < 2; i++) {
		send_all();
		now += 1000000;
		EXPECT_EQ(ack(0, 0x60), SRDMA_REQ_RETRY);
	}
	send_all();
	now += 2000000;
	EXPECT_EQ(ack(0, 0x60), SRDMA_REQ_FAILED);
	EXPECT_DONE(0, 12);	/* IB_WC_RETRY_EXC_ERR */
}

TEST(req_rnr__waits_as_long_as_told)
{
	uint64_t at;

	begin_usual();
	post(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(ack(0, 0x2c), SRDMA_REQ_RNR_WAIT);	/* 0.64 ms */
	at = now + 640000;
	EXPECT_EQ(next(), SRDMA_NEXT_RNR);
	EXPECT_EQ(req.deadline, at);
	now = at - 1;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_EARLY);
	EXPECT_EQ(next(), SRDMA_NEXT_RNR);
	now = at;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_RNR);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, FIRST);
	EXPECT(burst.b.resend);
}

/* One RNR NAK and its wait; false when it was one too many. */
static bool rnr_round(void)
{
	if (ack(0, 0x21) != SRDMA_REQ_RNR_WAIT)
		return false;
	now = req.deadline;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_RNR);
	send_all();
	return true;
}

TEST(req_rnr__retries_are_counted)
{
	begin_usual();
	post(SRDMA_WR_SEND, 1, 0);
	post(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT(rnr_round());
	EXPECT(rnr_round());
	EXPECT(!rnr_round());
	EXPECT_DONE(0, 13);	/* IB_WC_RNR_RETRY_EXC_ERR */
	EXPECT_DONE(1, 5);
}

TEST(req_rnr__progress_gives_retries_back)
{
	begin_usual();
	post(SRDMA_WR_SEND, 1, 0);
	post(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT(rnr_round());
	EXPECT(rnr_round());
	EXPECT_EQ(ack(0, 0x1f), SRDMA_REQ_ACK);
	EXPECT_EQ(ack(1, 0x21), SRDMA_REQ_RNR_WAIT);
}

TEST(req_rnr__seven_is_without_end)
{
	struct srdma_rc_req_attr attr = usual();
	int i;

	attr.rnr_retry = 7;
	begin(&attr);
	post(SRDMA_WR_SEND, 1, 0);
	send_all();
	for (i = 0; i < 100; i++)
		REQUIRE(rnr_round());
}

TEST(req_timeout__retries_are_counted)
{
	struct srdma_rc_req_attr attr = usual();
	uint32_t retries;
	int cnt;

	for (cnt = 0; cnt <= 7; cnt++) {
		attr.retry_cnt = cnt;
		begin(&attr);
		post(SRDMA_WR_SEND, 1, 0);
		retries = 0;
		do {
			EXPECT_EQ(send_all(), SRDMA_NEXT_EMPTY);
			retries++;
		} while (retries < 20 &&
			 wait_for_timeout() == SRDMA_TIMER_RETRY);
		/* The first time is no retry; 7 is seven, not without end. */
		EXPECT_EQ(retries, cnt + 1);
		EXPECT_DONE(0, 12);
	}
}

TEST(req_timeout__no_earlier_than_agreed)
{
	begin_usual();
	post(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	EXPECT(now - START >= 67108864);	/* 4.096 us * 2^14 */
	EXPECT(now - START <= 4 * 67108864ull);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, FIRST);
	EXPECT(burst.b.resend);
	EXPECT(burst.b.ack_req);
}

TEST(req_timeout__progress_gives_retries_back)
{
	begin_usual();
	post(SRDMA_WR_SEND, 1, 0);
	post(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	send_all();
	EXPECT_EQ(ack(0, 0x1f), SRDMA_REQ_ACK);
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_FAILED);
}

TEST(req_probe__a_silent_peer_is_asked_soon)
{
	begin_usual();
	post(SRDMA_WR_SEND, 2 * MTU, 0);
	send_all();
	now = req.deadline;
	EXPECT(now - START < 67108864 / 2 + 1);
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_PROBE);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(burst.probe);
	EXPECT_EQ(burst.b.count, 1);
	EXPECT(burst.b.ack_req);
}

TEST(req_read__places_each_packet_once)
{
	begin_usual();
	post(SRDMA_WR_READ, 2 * MTU + 3, 0);
	send_all();
	EXPECT_EQ(burst.b.len, 2 * MTU + 3);
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_FIRST, 0, MTU),
		  SRDMA_REQ_PLACE);
	EXPECT_EQ(act.offset, 0);
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_FIRST, 0, MTU),
		  SRDMA_REQ_DROP_GHOST);
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_LAST, 2, 3),
		  SRDMA_REQ_DROP_GAP);
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_MIDDLE, 1, MTU),
		  SRDMA_REQ_PLACE);
	EXPECT_EQ(act.offset, MTU);
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_LAST, 2, 3), SRDMA_REQ_PLACE);
	EXPECT_EQ(act.offset, 2 * MTU);
	EXPECT_EQ(act.len, 3);
	EXPECT_DONE(0, SRDMA_ST_OK);
}

/* Behind another READ what is in place is still known to be so. */
TEST(req_read__second_of_two)
{
	begin_usual();
	post(SRDMA_WR_READ, 4, 0);
	post(SRDMA_WR_READ, 2 * MTU, 0);
	send_all();
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_FIRST, 1, MTU),
		  SRDMA_REQ_PLACE);
	EXPECT_EQ(act.idx, 1);
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_FIRST, 1, MTU),
		  SRDMA_REQ_DROP_DUP);
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_LAST, 2, MTU),
		  SRDMA_REQ_PLACE);
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_LAST, 2, MTU),
		  SRDMA_REQ_DROP_DUP);
	EXPECT(none_done());
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_ONLY, 0, 4), SRDMA_REQ_PLACE);
	EXPECT_DONE(0, SRDMA_ST_OK);
	EXPECT_DONE(1, SRDMA_ST_OK);
}

TEST(req_read__asks_for_the_rest_only)
{
	begin_usual();
	post(SRDMA_WR_READ, 2 * MTU + 3, 0);
	send_all();
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_FIRST, 0, MTU),
		  SRDMA_REQ_PLACE);
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.first, SRDMA_RC_READ_REQ);
	EXPECT_EQ(burst.b.psn, (FIRST + 1) & 0xffffff);
	EXPECT_EQ(burst.b.offset, MTU);
	EXPECT_EQ(burst.b.len, MTU + 3);
}

TEST(req_read__response_of_wrong_length)
{
	begin_usual();
	post(SRDMA_WR_READ, MTU + 3, 0);
	send_all();
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_ONLY, 0, 3), SRDMA_REQ_FAILED);
	EXPECT_DONE(0, 7);	/* IB_WC_BAD_RESP_ERR */
	begin_usual();
	post(SRDMA_WR_READ, 3, 0);
	send_all();
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_ONLY, 0, 4), SRDMA_REQ_FAILED);
}

/* 9.7.5.1: what neither a first answer nor a repetition would look like. */
TEST(req_read__response_of_wrong_opcode)
{
	static const struct {
		u8 opcode;
		u32 offset;
	} bad[] = {
		{ SRDMA_RC_READ_RESP_MIDDLE, 0 }, { SRDMA_RC_READ_RESP_LAST, 0 },
		{ SRDMA_RC_READ_RESP_ONLY, 0 }, { SRDMA_RC_READ_RESP_LAST, 1 },
		{ SRDMA_RC_READ_RESP_ONLY, 1 }, { SRDMA_RC_READ_RESP_MIDDLE, 2 },
		{ SRDMA_RC_READ_RESP_FIRST, 2 },
	};
	u32 i, at;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin_usual();
		post(SRDMA_WR_READ, 3 * MTU, 0);
		send_all();
		for (at = 0; at < bad[i].offset; at++)
			EXPECT_EQ(read_resp(at ? SRDMA_RC_READ_RESP_MIDDLE :
					    SRDMA_RC_READ_RESP_FIRST, at, MTU),
				  SRDMA_REQ_PLACE);
		EXPECT_EQ(read_resp(bad[i].opcode, at, MTU), SRDMA_REQ_FAILED);
		EXPECT_DONE(0, 7);	/* IB_WC_BAD_RESP_ERR */
	}
}

/* Some begin a repetition with FIRST, others go on as if it were none. */
TEST(req_read__repetition_of_either_opcode)
{
	static const u8 opcodes[] = {
		SRDMA_RC_READ_RESP_FIRST, SRDMA_RC_READ_RESP_MIDDLE,
	};
	int i;

	for (i = 0; i < 2; i++) {
		begin_usual();
		post(SRDMA_WR_READ, 3 * MTU, 0);
		send_all();
		EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_FIRST, 0, MTU),
			  SRDMA_REQ_PLACE);
		EXPECT_EQ(read_resp(opcodes[i], 1, MTU), SRDMA_REQ_PLACE);
		EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_LAST, 2, MTU),
			  SRDMA_REQ_PLACE);
		EXPECT_DONE(0, 0);
	}
}

TEST(req_read__response_to_something_else)
{
	begin_usual();
	post(SRDMA_WR_SEND, 3, 0);
	send_all();
	EXPECT_EQ(read_resp(SRDMA_RC_READ_RESP_ONLY, 0, 3), SRDMA_REQ_FAILED);
	EXPECT_DONE(0, 7);
}

static enum srdma_req_resp atomic_resp(uint32_t step)
{
	struct srdma_pkt pkt = response(SRDMA_RC_ATOMIC_ACK, step, 0x1f);

	pkt.aeth.orig = 0x55;
	return srdma_rc_req_response(&req, &pkt, now, &act);
}

TEST(req_atomic__result_once)
{
	begin_usual();
	post(SRDMA_WR_READ, 4, 0);
	post(SRDMA_WR_CMP_SWAP, 8, 0);
	send_all();
	EXPECT_EQ(atomic_resp(1), SRDMA_REQ_ATOMIC);
	EXPECT_EQ(act.orig, 0x55);
	EXPECT_EQ(act.idx, 1);
	srdma_rc_req_placed(&req, &act, now);
	EXPECT_EQ(atomic_resp(1), SRDMA_REQ_DROP_DUP);
	EXPECT_EQ(atomic_resp(0), SRDMA_REQ_FAILED);
}

TEST(req_credit__none_means_one_at_a_time)
{
	begin_usual();
	post(SRDMA_WR_SEND, 1, 0);
	post(SRDMA_WR_SEND, 1, 0);
	post(SRDMA_WR_SEND, 1, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	srdma_rc_req_sent(&req, &burst, now);
	/* MSN 0, no credit: not even this one had a receive WQE yet. */
	EXPECT_EQ(ack(0, 0x00), SRDMA_REQ_ACK);
	EXPECT_EQ(send_all(), SRDMA_NEXT_CREDIT);
	EXPECT_EQ(packets, 1);
	EXPECT_EQ(ack(1, 0x1f), SRDMA_REQ_ACK);
	EXPECT_EQ(send_all(), SRDMA_NEXT_EMPTY);
}

TEST(req_fail__earlier_messages_still_complete)
{
	begin_usual();
	post(SRDMA_WR_SEND, 1, 0);
	post(SRDMA_WR_SEND, 1, 0);
	post(SRDMA_WR_SEND, 1, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	srdma_rc_req_sent(&req, &burst, now);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	srdma_rc_req_fail(&req, burst.idx, SRDMA_ST_LOC_PROT);
	EXPECT_EQ(next(), SRDMA_NEXT_FAILING);
	EXPECT(none_done());
	EXPECT_EQ(ack(0, 0x1f), SRDMA_REQ_FAILED);
	EXPECT_DONE(0, SRDMA_ST_OK);
	EXPECT_DONE(1, 4);
	EXPECT_DONE(2, 5);
}

TEST(req_abort__everything_is_flushed_once)
{
	begin_usual();
	post(SRDMA_WR_SEND, 1, 0);
	post(SRDMA_WR_READ, 1, 0);
	send_all();
	post(SRDMA_WR_SEND, 1, 0);
	srdma_rc_req_abort(&req);
	EXPECT_DONE(0, 5);
	EXPECT_DONE(1, 5);
	EXPECT_DONE(2, 5);
	EXPECT(none_done());
	EXPECT_EQ(req.deadline, 0);
	EXPECT_EQ(ack(0, 0x1f), SRDMA_REQ_DROP_ERROR);
	EXPECT(none_done());
}
