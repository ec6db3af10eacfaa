// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How fast an unreliable connection sends that is notified of congestion.
 */
#include <string.h>

#include "proto/uc.h"
#include "test.h"

#define SLOTS	64
#define MTU	1024
#define FULL	(MTU + 58)		/* a packet, with all that is around it */
#define US	1000ull
#define MS	1000000ull
#define SECOND	1000000000ull

static struct srdma_rc_msg ring[SLOTS];
static struct srdma_uc_req req;
static struct srdma_rc_burst burst;
static uint64_t now;

static void begin(void)
{
	now = SECOND;
	srdma_uc_req_init(&req, SRDMA_QPT_UC, 0, MTU, ring, sizeof(ring[0]),
			  SLOTS - 1);
}

static void post(uint32_t len)
{
	struct srdma_rc_msg *msg = srdma_uc_req_msg(&req, req.head);

	memset(msg, 0, sizeof(*msg));
	msg->op = SRDMA_WR_WRITE;
	msg->len = len;
	srdma_uc_req_push(&req);
}

static enum srdma_req_next next(void)
{
	const struct srdma_burst_limit limit = {
		.packets = 64,
		.bytes = 64 * MTU,
	};

	return srdma_uc_req_next(&req, now, &limit, &burst);
}

static void sent(void)
{
	srdma_uc_req_sent(&req, &burst, now);
	srdma_uc_req_released(&req, burst.idx);
}

static void retire(void)
{
	struct srdma_rc_done done;

	while (srdma_uc_req_retire(&req, &done))
		;
}

/* Sends as much as it may of what never ends, up to @until; how many packets? */
static uint32_t send_until(uint64_t until)
{
	uint32_t packets = 0;

	for (;;) {
		while (!srdma_uc_req_full(&req))
			post(64 * MTU);
		switch (next()) {
		case SRDMA_NEXT_SEND:
			packets += burst.b.count;
			sent();
			retire();
			if (req.rate.rate)
				break;
			/* What the host takes at most. */
			now += burst.b.count * US;
			if (now >= until)
				return packets;
			break;
		case SRDMA_NEXT_PACE:
			if (req.rate.wake_at <= now)
				return 0;
			if (req.rate.wake_at >= until) {
				now = until;
				return packets;
			}
			now = req.rate.wake_at;
			break;
		default:
			return 0;
		}
	}
}

static uint32_t send_for(uint64_t ns)
{
	return send_until(now + ns);
}

static void told(void)
{
	srdma_uc_req_congested(&req, now);
}

/* Sends for @ns at a time, and is notified after each, @times. */
static void told_each(uint64_t ns, uint32_t times)
{
	while (times--) {
		send_for(ns);
		told();
	}
}

/*
 * Notified of each packet that passes at @rate: the rate halves until little more is sent
 * than that.
 */
static void fall_to(uint64_t rate)
{
	int i;

	begin();
	send_for(4 * MS);
	told();
	for (i = 0; i < 1000 && req.rate.rate > rate; i++) {
		send_for(FULL * SECOND / rate);
		told();
	}
}

/* And then it searches, and is told of that. */
static void share(uint64_t rate)
{
	fall_to(rate);
	send_for(110 * MS);
	told();
}

static bool is_near(uint64_t got, uint64_t want)
{
	return got >= want - want / 16 && got <= want + want / 16;
}

TEST(uc_rate__none_before_a_notification)
{
	begin();
	post(64 * MTU);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 64);
	sent();
	post(MTU);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(req.rate.wake_at, 0);
}

TEST(uc_rate__first_notification_halves_what_is_sent)
{
	uint32_t packets;

	begin();
	packets = send_for(4 * MS);
	EXPECT(packets >= 4000);
	told();
	packets = send_for(10 * MS);
	/* Until then it was a packet in a microsecond. */
	EXPECT(is_near(packets, 5000));
}

/* Whatever was measured, what is reckoned with it has room. */
TEST(uc_rate__has_an_end)
{
	begin();
	req.rate.seen = 1ull << 50;
	told();
	EXPECT_EQ(req.rate.rate, 100 * SECOND);
}

/* What was sent before the last idle time says nothing. */
TEST(uc_rate__is_measured_where_little_was_sent)
{
	begin();
	post(MTU);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	sent();
	now += SECOND;
	post(64 * MTU);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	sent();
	told();
	EXPECT_EQ(req.rate.rate, 64 * FULL * 1000 / 2);
}

/* What they do not tell of was lost. */
TEST(uc_rate__each_second_notification_halves_a_rate_that_falls)
{
	uint64_t before;
	int i;

	begin();
	send_for(4 * MS);
	told();
	for (i = 0; i < 3; i++) {
		before = req.rate.rate;
		send_for(500 * US);
		told();
		EXPECT_EQ(req.rate.rate, before);
		send_for(500 * US);
		told();
		EXPECT_EQ(req.rate.rate, before / 2);
	}
}

/* Sends as many bursts, and is told of each. */
static void told_of_each(uint32_t bursts)
{
	while (bursts) {
		while (next() == SRDMA_NEXT_PACE)
			now = req.rate.wake_at;
		sent();
		retire();
		if (req.cur == req.head)
			post(64 * MTU);
		told();
		bursts--;
	}
}

/* All arrives, and a queue has to drain: a quarter less, in 25 ms. */
TEST(uc_rate__falls_slowly_if_each_burst_is_told_of)
{
	uint64_t before, from;

	fall_to(1250000);
	EXPECT(req.rate.rate <= 1250000 && req.rate.rate > 1250000 / 2);
	told_of_each(4);
	before = req.rate.rate;
	from = now;
	told_of_each(10);
	EXPECT_EQ(req.rate.rate, before);
	EXPECT(now - from < 25 * MS);
	told_of_each(15);
	EXPECT(now - from > 25 * MS);
	EXPECT(req.rate.rate <= before - before / 4);
	EXPECT(req.rate.rate > before / 4);
}

/* More come through than this QP sends. */
TEST(uc_rate__no_notification_lets_it_grow)
{
	uint64_t before;
	int i;

	begin();
	for (i = 0; i < 4; i++, now += 2 * MS) {
		post(MTU);
		REQUIRE(next() == SRDMA_NEXT_SEND);
		sent();
	}
	told();
	for (i = 0; i < 10; i++) {
		before = req.rate.rate;
		now += 50 * US;
		told();
		EXPECT(req.rate.rate <= before);
	}
}

TEST(uc_rate__is_never_nothing)
{
	begin();
	now += SECOND;
	told();
	EXPECT_EQ(req.rate.rate, 5000);
	EXPECT(send_for(SECOND) >= 4);
}

/* 8 times in 100 ms; what is not sent meanwhile does not count. */
TEST(uc_rate__searches_when_notifications_stop)
{
	uint64_t before;

	fall_to(1250000);
	before = req.rate.rate;
	send_until(req.rate.told_at + 98 * MS);
	EXPECT_EQ(req.rate.phase, SRDMA_UC_FALLS);
	EXPECT_EQ(req.rate.rate, before);
	send_for(100 * MS);
	EXPECT_EQ(req.rate.phase, SRDMA_UC_SEARCHES);
	EXPECT(req.rate.rate > 6 * before && req.rate.rate < 12 * before);
	before = req.rate.rate;
	now += SECOND;
	post(MTU);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	sent();
	EXPECT(req.rate.rate > before && req.rate.rate < 8 * before);
}

/* They have not stopped where they are far apart. */
TEST(uc_rate__falls_as_long_as_notifications_come)
{
	fall_to(1250000);
	told_each(50 * MS, 10);
	send_for(150 * MS);
	EXPECT_EQ(req.rate.phase, SRDMA_UC_FALLS);
	send_for(100 * MS);
	EXPECT_EQ(req.rate.phase, SRDMA_UC_SEARCHES);
}

TEST(uc_rate__ends_when_it_is_of_no_use)
{
	fall_to(1250000);
	told();
	EXPECT_EQ(req.rate.told, 1);
	send_for(SECOND);
	EXPECT_EQ(req.rate.rate, 0);
	post(64 * MTU);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 64);
	/* And begins anew. */
	send_for(4 * MS);
	told();
	EXPECT_EQ(req.rate.phase, SRDMA_UC_FALLS);
	EXPECT_EQ(req.rate.told, 0);
	EXPECT_EQ(req.rate.apart, 0);
	EXPECT(is_near(req.rate.rate, FULL * SECOND / US / 2));
}

/* An eighth less than it had, when the queue has drained. */
TEST(uc_rate__shares_from_the_next_notification_on)
{
	uint64_t had;

	share(1250000);
	EXPECT_EQ(req.rate.phase, SRDMA_UC_SHARES);
	send_for(100 * MS);
	had = req.rate.rate;
	/* Several of one queue: not each within 4 ms, and one eighth in the end. */
	told_each(500 * US, 20);
	EXPECT(is_near(req.rate.rate, had * 7 / 8 * 7 / 8 * 7 / 8));
	EXPECT(req.rate.target <= had * 7 / 8 + had / 100);
	EXPECT(req.rate.target >= had * 7 / 8);
	send_for(60 * MS);
	EXPECT(is_near(req.rate.rate, had * 7 / 8));
}

/* If they do not end, the queue is not only to be drained. */
TEST(uc_rate__goes_down_for_good_when_told_again_and_again)
{
	uint64_t had;

	share(1250000);
	send_for(100 * MS);
	had = req.rate.rate;
	told_each(10 * MS, 40);
	EXPECT(req.rate.target < had * 5 / 8);
	EXPECT(req.rate.target > had * 7 / 16);
}

TEST(uc_rate__nothing_to_go_back_to_after_the_end)
{
	share(1250000);
	send_for(100 * MS);
	told();
	EXPECT(req.rate.target > 0);
	send_for(2 * SECOND);
	EXPECT_EQ(req.rate.rate, 0);
	told();
	EXPECT_EQ(req.rate.target, 0);
}

/* Who has more gives more, and both get as much. */
TEST(uc_rate__shares_become_equal)
{
	struct srdma_uc_rate few = { 0 }, many = { 0 };
	uint64_t at;
	int i;

	srdma_uc_rate_set_mtu(&few, MTU);
	srdma_uc_rate_set_mtu(&many, MTU);
	few.phase = SRDMA_UC_SHARES;
	many.phase = SRDMA_UC_SHARES;
	few.rate = 100000;
	many.rate = 1000000;
	few.step = 2000;
	many.step = 2000;
	for (at = SECOND, i = 0; i < 100000; i++, at += MS) {
		srdma_uc_rate_sent(&few, 1, MTU, at);
		srdma_uc_rate_sent(&many, 1, MTU, at);
		if (few.rate + many.rate > 1250000) {
			srdma_uc_rate_told(&few, at);
			srdma_uc_rate_told(&many, at);
		}
	}
	EXPECT(is_near(few.rate, many.rate));
	EXPECT(few.rate + many.rate > 1250000 * 3 / 4);
}

/* The longer nobody complains, the faster. */
TEST(uc_rate__steps_grow)
{
	uint64_t had, first;

	share(1250000);
	send_for(20 * MS);
	had = req.rate.rate;
	send_for(100 * MS);
	first = req.rate.rate - had;
	had = req.rate.rate;
	send_for(100 * MS);
	EXPECT(req.rate.rate - had > 2 * first);
	EXPECT(req.rate.rate - had < 4 * first);
}

/* ---- what goes when ---- */

TEST(uc_rate__one_packet_at_once_where_it_is_slow)
{
	fall_to(1250000);
	while (next() == SRDMA_NEXT_PACE)
		now = req.rate.wake_at;
	EXPECT_EQ(burst.b.count, 1);
	sent();
	REQUIRE(next() == SRDMA_NEXT_PACE);
	EXPECT(is_near(req.rate.wake_at - now + 250 * US,
		       FULL * SECOND / req.rate.rate) ||
	       is_near(req.rate.wake_at - now, FULL * SECOND / req.rate.rate));
}

TEST(uc_rate__no_more_than_16_where_it_is_fast)
{
	begin();
	send_for(4 * MS);
	told();
	while (next() == SRDMA_NEXT_PACE)
		now = req.rate.wake_at;
	EXPECT_EQ(burst.b.count, 16);
}

/* It cannot have been sent meanwhile. */
TEST(uc_rate__idle_time_is_not_made_up_for)
{
	uint32_t packets = 0;

	fall_to(12500000);
	now += 10 * MS;
	while (!srdma_uc_req_full(&req))
		post(MTU);
	for (; next() == SRDMA_NEXT_SEND; packets += burst.b.count)
		sent();
	EXPECT(packets >= 2 && packets <= 3);
}

/* A timer that is late each time. */
TEST(uc_rate__little_time_is_made_up_for)
{
	uint32_t packets = 0;
	uint64_t from, rate;

	fall_to(12500000);
	while (next() == SRDMA_NEXT_SEND)
		sent();
	from = now;
	rate = req.rate.rate;
	while (now < from + 3 * MS) {
		if (next() == SRDMA_NEXT_PACE) {
			now = req.rate.wake_at + 100 * US;
			continue;
		}
		packets += burst.b.count;
		sent();
		retire();
	}
	EXPECT(packets * FULL >= rate * 3 / 1000 * 7 / 8);
}

/* What carries no packet, or goes to nobody, waits for nothing. */
TEST(uc_rate__only_packets_wait)
{
	fall_to(1250000);
	retire();
	while (next() != SRDMA_NEXT_PACE)
		sent();
	srdma_uc_req_abort(&req);
	EXPECT_EQ(next(), SRDMA_NEXT_ERROR);
	EXPECT_EQ(req.rate.wake_at, 0);
	srdma_uc_req_release_all(&req);
	retire();
	EXPECT_EQ(req.tail, req.head);
}

static void send_the_rest(void)
{
	while (req.cur != req.head) {
		while (next() == SRDMA_NEXT_PACE)
			now = req.rate.wake_at;
		sent();
	}
}

TEST(uc_rate__nothing_to_send_is_not_waited_for)
{
	fall_to(1250000);
	send_the_rest();
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(req.rate.wake_at, 0);
	EXPECT_EQ(srdma_uc_req_timeout(&req, now + SECOND), SRDMA_TIMER_EARLY);
}

/* Of a timer that was left alone, when what waits has to wait longer. */
TEST(uc_rate__timer_fires_early_or_in_time)
{
	fall_to(1250000);
	while (next() != SRDMA_NEXT_PACE)
		sent();
	EXPECT_EQ(srdma_uc_req_timeout(&req, req.rate.wake_at - 1),
		  SRDMA_TIMER_EARLY);
	EXPECT_EQ(srdma_uc_req_timeout(&req, req.rate.wake_at),
		  SRDMA_TIMER_PACE);
}

/* A local operation is none of the network's business. */
TEST(uc_rate__local_operations_do_not_wait)
{
	fall_to(1250000);
	send_the_rest();
	retire();
	post(0);
	srdma_uc_req_msg(&req, req.head - 1)->op = SRDMA_WR_LOCAL_INV;
	EXPECT_EQ(next(), SRDMA_NEXT_LOCAL);
}

/* A QP that is connected again knows nothing of the last connection. */
TEST(uc_rate__is_forgotten_with_the_connection)
{
	fall_to(1250000);
	begin();
	EXPECT_EQ(req.rate.rate, 0);
	EXPECT_EQ(req.rate.told_at, 0);
}
