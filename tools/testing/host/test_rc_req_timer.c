// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A requester that hears nothing: probes, timeouts, retries, and the round trip
 * that it measures. Round trips that are long are in test_rc_req_far.c.
 */
#include "req_fixture.h"

TEST(req_timeout__nothing_outstanding)
{
	begin(NULL);
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_EARLY);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT(req.deadline);
	ack(0);
	EXPECT_EQ(req.deadline, 0);
	EXPECT_EQ(srdma_rc_req_timeout(&req, now + 1000 * MS),
		  SRDMA_TIMER_EARLY);
}

TEST(req_timeout__sends_all_again)
{
	uint64_t start;
	uint32_t probes = 0;

	begin(NULL);
	push(SRDMA_WR_SEND, 2 * MTU, 0);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	send_all();
	start = now;
	while (expire() == SRDMA_TIMER_PROBE) {
		send_one();
		probes++;
	}
	EXPECT_EQ(probes, 1);
	EXPECT_EQ(now, start + 4096ull * (1 << 14));
	EXPECT_EQ(req.retry_left, 6);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(0, 2, 0, 2 * MTU, SRDMA_RC_SEND_FIRST);
	sent();
	/* The window is that of a beginner. */
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	ack(1);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(2, 1, 0, 2 * MTU, SRDMA_RC_READ_REQ);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* Deadlines move away with every packet: the timer may be left alone. */
TEST(req_timeout__early_is_harmless)
{
	uint64_t armed;

	begin(NULL);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_one();
	armed = req.deadline;
	now += 1 * MS;
	send_one();
	EXPECT(req.deadline > armed);
	EXPECT_EQ(srdma_rc_req_timeout(&req, armed), SRDMA_TIMER_EARLY);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* How long until message @first, the oldest of two, has no retries left? */
static uint64_t give_up(uint32_t first)
{
	uint32_t copies = 0, probes = 0;
	enum srdma_req_timer v;
	uint64_t start = now;

	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	do {
		while (next() == SRDMA_NEXT_SEND) {
			if (burst.probe)
				probes++;
			else if (burst.idx == first)
				copies++;
			sent();
		}
		v = expire();
	} while (v != SRDMA_TIMER_FAILED);
	EXPECT_EQ(copies, 4);
	EXPECT(probes >= 1 && probes <= 40);
	expect_retired(first, SRDMA_ST_RETRY_EXC);
	expect_retired(first + 1, SRDMA_ST_FLUSH);
	EXPECT_EQ(req.deadline, 0);
	return now - start;
}

/* Nobody may be there: the timeout, and as often as was asked for. */
TEST(req_timeout__retries_used_up)
{
	struct srdma_rc_req_attr a = usual;

	a.retry_cnt = 3;
	begin(&a);
	EXPECT_EQ(give_up(0), 4 * 4096ull * (1 << 14));
}

/* Whatever the peer has said, it is there: four times that (9.7.6.1.3). */
TEST(req_timeout__retries_used_up_with_who_answered)
{
	struct srdma_rc_req_attr a = usual;
	uint32_t kind;

	a.retry_cnt = 3;
	for (kind = 0; kind < 3; kind++) {
		begin(&a);
		push(kind == 2 ? SRDMA_WR_READ : SRDMA_WR_SEND, 8, 0);
		send_all();
		if (kind == 1) {
			EXPECT_EQ(rnr(0, 1), SRDMA_REQ_RNR_WAIT);
			EXPECT_EQ(expire(), SRDMA_TIMER_RNR);
			send_all();
		}
		if (kind == 2) {
			EXPECT_EQ(read_resp(0, 8), SRDMA_REQ_PLACE);
			placed();
		} else {
			EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
		}
		expect_retired(0, SRDMA_ST_OK);
		EXPECT_EQ(give_up(1), 4 * 4 * 4096ull * (1 << 14));
	}
}

/* What is no answer to anything says nothing: an old connection's, say. */
TEST(req_timeout__ghosts_are_not_the_peer)
{
	struct srdma_rc_req_attr a = usual;

	a.retry_cnt = 3;
	begin(&a);
	EXPECT_EQ(ack(100), SRDMA_REQ_DROP_GHOST);
	EXPECT_EQ(give_up(0), 4 * 4096ull * (1 << 14));
}

/* The first answer moves the deadline that was computed before it. */
TEST(req_timeout__first_answer_gives_time)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_READ, 2 * MTU, 0);
	send_all();
	now += 4096ull * (1 << 14) - 1;
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	now += 4096ull * (1 << 14);
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_EARLY);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	EXPECT_EQ(req.retry_left, 7);
}

TEST(req_timeout__retries_are_counted)
{
	struct srdma_rc_req_attr attr = few;
	uint32_t retries;
	int cnt;

	for (cnt = 0; cnt <= 7; cnt++) {
		attr.retry_cnt = cnt;
		begin(&attr);
		push(SRDMA_WR_SEND, 1, 0);
		retries = 0;
		do {
			send_all();
			EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
			retries++;
		} while (retries < 20 &&
			 wait_for_timeout() == SRDMA_TIMER_RETRY);
		/* The first time is no retry; 7 is seven, not without end. */
		EXPECT_EQ(retries, cnt + 1);
		expect_retired(0, 12);
	}
}

TEST(req_timeout__no_earlier_than_agreed)
{
	begin(&few);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	EXPECT(now - MS >= 67108864);	/* 4.096 us * 2^14 */
	EXPECT(now - MS <= 4 * 67108864ull);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, FIRST);
	EXPECT(burst.b.resend);
	EXPECT(burst.b.ack_req);
}

TEST(req_timeout__progress_gives_retries_back)
{
	begin(&few);
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	send_all();
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_FAILED);
}

TEST(req_probe__oldest_packet_with_ack_req)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 4 * MTU, 0);
	send_all();
	ack(0);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(burst.probe);
	expect_burst(1, 1, MTU, MTU, SRDMA_RC_WRITE_MIDDLE);
	EXPECT(burst.b.ack_req);
	EXPECT(burst.b.resend);
	sent();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(req.retry_left, 7);
	/* It was only the ACK that was lost. */
	ack(3);
	expect_retired(0, SRDMA_ST_OK);
}

TEST(req_probe__shows_that_the_rest_is_lost)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 4 * MTU, 0);
	send_all();
	expire();
	send_one();
	EXPECT_EQ(ack(0), SRDMA_REQ_ACK);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(!burst.probe);
	expect_burst(1, 3, MTU, 3 * MTU, SRDMA_RC_WRITE_MIDDLE);
	/* A later ACK of the same packet is not the probe's answer. */
	sent();
	ack(0);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_probe__asks_a_read_for_its_rest)
{
	begin(NULL);
	push(SRDMA_WR_READ, 4 * MTU, 0);
	send_all();
	read_resp(0, MTU);
	placed();
	expire();
	REQUIRE(next() == SRDMA_NEXT_SEND);
	expect_burst(1, 1, MTU, 3 * MTU, SRDMA_RC_READ_REQ);
	EXPECT(burst.probe);
}

TEST(req_probe__waits_twice_as_long_each_time)
{
	struct srdma_rc_req_attr a = usual;
	uint64_t wait = 0, last;
	uint32_t i;

	a.timeout = 0;
	begin(&a);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(req.deadline, now + 1000 * MS);
	for (i = 0; i < 10; i++) {
		last = now;
		EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
		if (i)
			EXPECT_EQ(now - last, i == 1 ? wait : 2 * wait);
		wait = now - last;
		send_one();
		EXPECT(burst.probe);
	}
	/* Without an ACK timeout that is all. */
	EXPECT_EQ(req.deadline, 0);
	EXPECT_EQ(srdma_rc_req_timeout(&req, now + 10000 * MS),
		  SRDMA_TIMER_EARLY);
}

TEST(req_probe__sooner_once_the_round_trip_is_known)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_one();
	/* Shortly before the local ACK timeout, which is less than a second. */
	EXPECT_EQ(req.deadline, now + (4096ull << 14) / 8 * 7);
	now += 80 * US;
	ack(0);
	EXPECT_EQ(req.srtt_ns, 80 * US);
	/* Twice the round trip and four times its deviation. */
	send_one();
	EXPECT_EQ(req.deadline, now + 320 * US);
	now += 40 * US;
	ack(1);
	EXPECT_EQ(req.srtt_ns, 75 * US);
	EXPECT_EQ(req.rttvar_ns, 37500);
	send_one();
	EXPECT_EQ(req.deadline, now + 300 * US);
}

TEST(req_probe__not_sooner_than_its_floor)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_one();
	ack(0);
	EXPECT_EQ(req.srtt_ns, 1);
	send_one();
	EXPECT_EQ(req.deadline, now + 100 * US);
}

TEST(req_probe__a_silent_peer_is_asked_soon)
{
	begin(&few);
	push(SRDMA_WR_SEND, 2 * MTU, 0);
	send_all();
	now = req.deadline;
	EXPECT(now - MS < 67108864 / 2 + 1);
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_PROBE);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(burst.probe);
	EXPECT_EQ(burst.b.count, 1);
	EXPECT(burst.b.ack_req);
}

/* Whichever copy that answers: the trip took no less. What it is, the next one says. */
TEST(req_rtt__what_answers_a_probe_took_no_less)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	now += 50 * US;
	ack(0);
	EXPECT_EQ(req.srtt_ns, 50 * US);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	expire();
	send_one();
	now += 49 * US;
	ack(1);
	EXPECT_EQ(req.srtt_ns, 50 * US);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	expire();
	send_one();
	now += 900 * US;
	ack(2);
	EXPECT_EQ(req.srtt_ns, 900 * US);
	EXPECT_EQ(req.rtt_min_ns, 50 * US);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	now += 60 * US;
	ack(3);
	EXPECT_EQ(req.srtt_ns, 60 * US);
}

/* Not even if the peer has refused the first copy: that was not the only other one. */
TEST(req_rtt__a_probe_for_what_was_refused_is_no_measure)
{
	static const uint32_t took[] = { 50, 900 };
	uint32_t i;

	for (i = 0; i < 2; i++) {
		begin(NULL);
		push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
		send_all();
		now += 50 * US;
		ack(0);
		push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
		send_all();
		expire();
		req.rtt_resend = true;
		send_one();
		EXPECT(burst.probe);
		req.backoff = 2;
		now += took[i] * US;
		ack(1);
		EXPECT_EQ(req.srtt_ns, took[i] * US);
		EXPECT_EQ(req.rtt_min_ns, 50 * US);
		EXPECT_EQ(req.backoff, i ? 0 : 2);
	}
}

/* It is answered soon where trips are longer than was waited for. */
TEST(req_rtt__a_probe_that_is_answered_soon_ends_no_doubling)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	now += 50 * US;
	ack(0);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	expire();
	send_one();
	req.backoff = 2;
	now += 20 * US;
	ack(1);
	EXPECT_EQ(req.backoff, 2);
}

TEST(req_rtt__not_of_what_was_sent_twice)
{
	begin(NULL);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	expire();
	send_one();
	now += 50 * US;
	ack(0);
	EXPECT_EQ(req.srtt_ns, 0);
	/* But the first copy of what a sequence NAK asks for was dropped. */
	push(SRDMA_WR_SEND, 1, 0);
	push(SRDMA_WR_SEND, 1, 0);
	send_all();
	nak(1, SRDMA_NAK_PSN_SEQ);
	send_all();
	now += 50 * US;
	ack(2);
	EXPECT_EQ(req.srtt_ns, 50 * US);
}

/* The first copies got lost, or the answers: any trip that may be is better than none. */
TEST(req_rtt__of_what_was_sent_twice_if_none_is_known)
{
	begin(NULL);
	push(SRDMA_WR_SEND, MTU, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	send_all();
	now += 20 * MS;
	ack(0);
	EXPECT_EQ(req.srtt_ns, 20 * MS);
	/* But it is not said to be the shortest one. */
	EXPECT_EQ(req.rtt_min_ns, 0);
	EXPECT(req.cwnd_floor == 1);
	push(SRDMA_WR_SEND, MTU, SRDMA_WR_SIGNALED);
	send_all();
	now += 2 * MS;
	ack(1);
	EXPECT_EQ(req.srtt_ns, 2 * MS);
	EXPECT_EQ(req.rtt_min_ns, 2 * MS);
}

/* It was @known, until probes said that trips are longer; then one takes @took. */
static void time_a_second_copy(uint64_t known, uint8_t backoff, uint64_t took)
{
	begin(NULL);
	push(SRDMA_WR_SEND, MTU, SRDMA_WR_SIGNALED);
	send_all();
	now += known;
	ack(0);
	EXPECT_EQ(req.srtt_ns, known);
	push(SRDMA_WR_SEND, MTU, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	req.backoff = backoff;
	req.probes = 0;
	send_all();
	now += took;
	ack(1);
}

/* Twice the trip and four times its spread, of 5 ms, is 20 ms; they have shown 64 ms. */
TEST(req_rtt__is_not_doubled_for_what_it_is_known_by)
{
	time_a_second_copy(1 * MS, 4, 5 * MS);
	EXPECT_EQ(req.srtt_ns, 5 * MS);
	EXPECT_EQ(req.backoff, 1);
	time_a_second_copy(1 * MS, 4, 20 * MS);
	EXPECT_EQ(req.srtt_ns, 20 * MS);
	EXPECT_EQ(req.backoff, 0);
}

/* What comes in time, whichever copy it answers, need not be waited for so long. */
TEST(req_rtt__doublings_end_when_answers_come_in_time)
{
	time_a_second_copy(5 * MS, 4, 2 * MS);
	EXPECT_EQ(req.srtt_ns, 5 * MS);
	EXPECT_EQ(req.backoff, 3);
	req.rtt_alone = true;
	push(SRDMA_WR_SEND, MTU, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	req.probes = 0;
	send_all();
	now += 2 * MS;
	ack(2);
	EXPECT_EQ(req.backoff, 2);
	EXPECT(!req.rtt_alone);
}

/* In the time until it is answered so much passes, if no trip has said it better. */
TEST(req_rtt__what_answers_any_copy_shows_how_fast_the_line_is)
{
	begin(NULL);
	push(SRDMA_WR_SEND, MTU, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	req.probes = 0;
	req.srtt_ns = 23 * MS;
	req.rtt_resend = true;
	send_all();
	EXPECT(req.rtt_timed);
	now += 20 * MS;
	ack(0);
	EXPECT_EQ(req.srtt_ns, 23 * MS);
	EXPECT_EQ(req.rtt_min_ns, 0);
	EXPECT_EQ(req.cwnd_floor, 1);
}

/* The first answer of all, to something that was sent twice, is no measure. */
TEST(req_rtt__no_first_one_of_what_was_sent_twice)
{
	begin(NULL);
	push(SRDMA_WR_SEND, MTU, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	req.probes = 0;
	req.rtt_resend = true;
	send_all();
	now += 1 * US;
	ack(0);
	EXPECT_EQ(req.rtt_min_ns, 0);
	EXPECT_EQ(req.delay.top_ns, 0);
}

TEST(req_rtt__of_what_was_sent_twice_if_the_known_one_is_wrong)
{
	time_a_second_copy(MS, 2, 20 * MS);
	EXPECT_EQ(req.srtt_ns, 20 * MS);
	EXPECT_EQ(req.rtt_min_ns, MS);
	time_a_second_copy(MS, 1, 20 * MS);
	EXPECT_EQ(req.srtt_ns, MS);
	/* It takes no less, but may take more. */
	time_a_second_copy(30 * MS, 2, 20 * MS);
	EXPECT_EQ(req.srtt_ns, 30 * MS);
}

/* Through a queue that others keep full each one has little hope: so there are more. */
TEST(req_timeout__second_one_is_followed_by_more_probes)
{
	uint64_t begun;

	begin(NULL);
	push(SRDMA_WR_SEND, MTU, SRDMA_WR_SIGNALED);
	send_all();
	now += MS;
	ack(0);
	push(SRDMA_WR_SEND, MTU, SRDMA_WR_SIGNALED);
	send_all();
	EXPECT_EQ(wait_for_timeout(), SRDMA_TIMER_RETRY);
	req.probes = 0;
	req.backoff = 10;
	send_all();
	EXPECT_EQ(req.deadline, req.heard_at + req.timeout_ns);
	EXPECT_EQ(expire(), SRDMA_TIMER_RETRY);
	begun = now;
	send_all();
	EXPECT_EQ(req.deadline, begun + req.timeout_ns / 4);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	send_all();
	EXPECT_EQ(req.deadline, begun + req.timeout_ns / 4 * 2);
}
