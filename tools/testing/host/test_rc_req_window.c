// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The window of a requester: how it shrinks and grows. Several requesters that
 * share a queue are in test_rc_req_queue.c.
 */
#include "req_fixture.h"
#include "proto/rc_req_priv.h"

TEST(req_next__window_in_bytes)
{
	struct srdma_rc_req_attr a = usual;

	a.max_inflight = 5 * MTU;
	begin(&a);
	push(SRDMA_WR_SEND, 8 * MTU, 0);
	EXPECT_EQ(send_all(), 5);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	EXPECT(burst.b.ack_req);
	ack(1);
	EXPECT_EQ(send_all(), 2);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
}

TEST(req_next__window_smaller_than_a_packet)
{
	struct srdma_rc_req_attr a = usual;

	a.max_inflight = 1;
	begin(&a);
	push(SRDMA_WR_SEND, 2 * MTU, 0);
	EXPECT_EQ(send_all(), 1);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
}

TEST(req_window__shrinks_once_for_a_loss_and_grows_again)
{
	struct srdma_rc_req_attr a = usual;
	uint32_t i, cwnd;

	a.max_inflight = 400 * MTU;
	begin(&a);
	push(SRDMA_WR_READ, 100 * MTU, 0);
	push(SRDMA_WR_READ, 100 * MTU, 0);
	push(SRDMA_WR_READ, 100 * MTU, 0);
	send_all();
	place_resp(1, MTU);
	/* Half of what was on the way. */
	EXPECT_EQ(req.cwnd, 150);
	send_one();
	/* Of the same flight: paid for. */
	place_resp(102, MTU);
	EXPECT_EQ(req.cwnd, 150);
	cwnd = req.cwnd;
	for (i = 0; i < 100; i++)
		place_resp(i, MTU);
	/* An eighth for every packet acknowledged. */
	EXPECT_EQ(req.cwnd, cwnd + 100 / 8);
}

TEST(req_window__not_below_its_floor)
{
	uint32_t i;

	begin(NULL);
	push(SRDMA_WR_SEND, 15 * MTU, 0);
	send_all();
	for (i = 0; i < 15; i++) {
		nak(i, SRDMA_NAK_PSN_SEQ);
		send_all();
		now += 1 * US;
	}
	/* Half of fifteen packets would be less. */
	EXPECT(req.cwnd >= 32 && req.cwnd < 32 + 512);
}

static void begin_path(uint32_t packets)
{
	struct srdma_rc_req_attr a = usual;

	a.max_inflight = 4 * packets * MTU;
	begin(&a);
	push(SRDMA_WR_SEND, 2000 * MTU, 0);
}

/* So many packets go, and are answered after @ns. */
static void make_trip(uint32_t packets, uint64_t ns)
{
	uint32_t end = srdma_psn_add(req.max_psn, packets);

	/* Over a long path not all at once. */
	while (req.max_psn != end) {
		limit.packets = srdma_psn_dist(req.max_psn, end);
		req.slow.next_at = 0;
		send_one();
	}
	EXPECT(burst.b.ack_req);
	now += ns;
	ack(srdma_psn_dist(FIRST, req.max_psn) - 1);
}

/* Much passes in no time. */
static void begin_fast_path(void)
{
	begin_path(16);
	make_trip(16, 60 * US);
	make_trip(16, 60 * US);
	EXPECT_EQ(req.cwnd_floor, 64);
}

/* So many packets at a time over a path that takes @first, then @trip; a loss. */
static void lose_of(uint32_t packets, uint64_t first, uint64_t trip)
{
	uint32_t i;

	begin_path(packets);
	for (i = 0; i < 8; i++)
		make_trip(packets, i ? trip : first);
	req.slow.next_at = 0;
	send_one();
	nak(srdma_psn_dist(FIRST, req.una_psn), SRDMA_NAK_PSN_SEQ);
}

static void lose_after(uint64_t first, uint64_t trip)
{
	lose_of(16, first, trip);
}

/* Of many that share a slow line nobody keeps more than there is room for. */
TEST(req_window__down_to_what_a_slow_path_takes)
{
	lose_after(50 * US, 8 * MS);
	EXPECT_EQ(req.cwnd_floor, 2);
	EXPECT_EQ(req.cwnd, 8);
	lose_after(50 * US, 50 * MS);
	EXPECT_EQ(req.cwnd_floor, 1);
}

/* Where it passes in no time, a small window only costs acknowledges. */
TEST(req_window__not_so_small_on_a_fast_path)
{
	lose_after(50 * US, 60 * US);
	EXPECT_EQ(req.cwnd_floor, 64);
	/* To who drops all that is in it, it costs more. */
	EXPECT_EQ(req.cwnd, 32);
	lose_after(50 * US, 10 * US);
	EXPECT_EQ(req.cwnd_floor, 64);
	lose_after(50 * US, 1 * MS);
	EXPECT_EQ(req.cwnd, 16);
}

TEST(req_window__larger_to_who_holds_what_comes)
{
	begin_fast_path();
	send_one();
	pkt.stamp = 9;
	nak(srdma_psn_dist(FIRST, req.una_psn), SRDMA_NAK_PSN_SEQ);
	EXPECT_EQ(req.cwnd, 64);
	pkt.stamp = 0;
}

/* What of an answer has come is kept. */
TEST(req_window__larger_for_reads)
{
	begin(NULL);
	push(SRDMA_WR_READ, 100 * MTU, 0);
	send_one();
	req.cwnd_floor = 64;
	srdma_req_note_loss(&req);
	EXPECT_EQ(req.cwnd, 64);
}

/* Nobody may have had the CPU to answer it, or to hear the answer. */
TEST(req_window__one_long_trip_is_no_slow_path)
{
	begin_fast_path();
	make_trip(16, 4 * MS);
	EXPECT_EQ(req.cwnd_floor, 32);
	make_trip(16, 60 * US);
	EXPECT_EQ(req.cwnd_floor, 64);
	make_trip(16, 4 * MS);
	make_trip(16, 4 * MS);
	EXPECT_EQ(req.cwnd_floor, 4);
	/* Nobody waits so long for that. */
	begin_fast_path();
	make_trip(16, 8 * MS);
	EXPECT_EQ(req.cwnd_floor, 2);
}

/* Nor one in which little was sent. */
TEST(req_window__little_that_passes_is_no_slow_path)
{
	begin_path(2);
	make_trip(2, 20 * US);
	make_trip(2, 20 * US);
	make_trip(2, 500 * US);
	EXPECT_EQ(req.cwnd_floor, 64 - 60 / 8 - 1);
	make_trip(2, 500 * US);
	EXPECT_EQ(req.cwnd_floor, 56 - 52 / 8 - 1);
}

/* It is the distance that takes the time, no queue. */
TEST(req_window__not_so_small_on_a_long_path)
{
	lose_after(10 * MS, 12 * MS);
	EXPECT_EQ(req.cwnd, 32);
	lose_after(10 * MS, 13 * MS);
	EXPECT_EQ(req.cwnd_floor, 1);
}

/* Others may keep its queue full all the time. */
TEST(req_window__as_small_as_little_passes_on_a_long_path)
{
	lose_of(8, 10 * MS, 12 * MS);
	EXPECT_EQ(req.cwnd_floor, 32);
	lose_of(7, 10 * MS, 12 * MS);
	EXPECT_EQ(req.cwnd_floor, 1);
}

TEST(req_window__timeout_begins_anew)
{
	enum srdma_req_timer what;

	begin(NULL);
	push(SRDMA_WR_SEND, 300 * MTU, 0);
	send_all();
	do {
		what = expire();
		if (what == SRDMA_TIMER_PROBE)
			send_one();
	} while (what == SRDMA_TIMER_PROBE);
	EXPECT_EQ(what, SRDMA_TIMER_RETRY);
	/* Many at once that repeat more would only lengthen a queue. */
	EXPECT_EQ(req.cwnd, 2);
	EXPECT_EQ(req.ssthresh, 150);
	EXPECT_EQ(send_all(), 2);
	ack(1);
	EXPECT_EQ(req.cwnd, 4);
	EXPECT_EQ(send_all(), 4);
}

TEST(req_window__starts_small_and_doubles)
{
	struct srdma_rc_req_attr a = usual;
	u32 sent;

	a.max_inflight = 64 * MTU;
	a.start_inflight = 8 * MTU;
	begin(&a);
	EXPECT_EQ(req.cwnd, 8);
	push(SRDMA_WR_WRITE, 64 * MTU, 0);
	sent = send_all();
	REQUIRE(sent);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	ack(7);
	EXPECT_EQ(req.cwnd, 16);
}

/* So that many who begin at once hear of their peers soon. */
TEST(req_window__is_smaller_until_the_first_answer)
{
	struct srdma_rc_req_attr a = usual;

	a.max_inflight = 64 * MTU;
	a.start_inflight = 32 * MTU;
	a.first_inflight = 8 * MTU;
	begin(&a);
	push(SRDMA_WR_WRITE, 64 * MTU, 0);
	EXPECT_EQ(send_all(), 8);
	EXPECT(burst.b.ack_req);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	/* An answer to something else says nothing. */
	ack(100);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	ack(3);
	send_all();
	EXPECT(srdma_psn_dist(req.una_psn, req.max_psn) > 16);
	EXPECT_EQ(req.cwnd, 36);
}

static void begin_with_window(u32 packets)
{
	struct srdma_rc_req_attr a = usual;

	a.max_inflight = packets * MTU;
	begin(&a);
}

/* As long as the round trip is not known, what nobody answers is missed late. */
TEST(req_window__asks_early_on_a_way_that_is_not_known)
{
	struct srdma_rc_req_attr a = usual;

	a.first_inflight = 64 * MTU;
	begin(&a);
	push(SRDMA_WR_WRITE, 200 * MTU, 0);
	/* One alone, since who knows how much of what follows gets through. */
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 1);
	EXPECT(burst.b.ack_req);
	sent();
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 32);
	EXPECT(burst.b.ack_req);
	EXPECT_EQ(send_all(), 32);
	ack(32);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(burst.b.count > 32);
}

/* As a train: what is known is not asked for. */
TEST(req_window__nothing_goes_alone_when_a_trip_is_known)
{
	struct srdma_rc_req_attr a = usual;

	a.first_inflight = 64 * MTU;
	begin(&a);
	push(SRDMA_WR_WRITE, 2 * MTU, SRDMA_WR_SIGNALED);
	EXPECT_EQ(send_all(), 2);
	now += 10 * US;
	ack(1);
	push(SRDMA_WR_WRITE, 20 * MTU, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 20);
}

/* How long after the first packet took @trip, and the others followed, a probe is due. */
static uint64_t probe_after(uint64_t trip)
{
	struct srdma_rc_req_attr a = usual;

	a.first_inflight = 64 * MTU;
	a.max_inflight = 128 * MTU;
	a.timeout = 20;
	begin(&a);
	push(SRDMA_WR_WRITE, 200 * MTU, 0);
	send_one();
	now += trip;
	ack(0);
	send_one();
	EXPECT(burst.b.count > 16);
	return req.probe_at - now;
}

/* One that took longer has waited in a queue, or come far. */
TEST(req_window__a_first_packet_that_took_long_says_less)
{
	EXPECT_EQ(probe_after(MS), 32 * MS);
	EXPECT_EQ(probe_after(2 * MS), 16 * 2 * MS);
	EXPECT_EQ(probe_after(3 * MS), 16 * 3 * MS);
}

/* Behind a packet that took a while alone, many may wait for as long, each. */
TEST(req_window__what_follows_the_first_packet_may_take_its_time)
{
	EXPECT_EQ(probe_after(400 * US), burst.b.count * 400 * US);
	EXPECT_EQ(req.srtt_ns, 400 * US);
	now += 25 * MS;
	ack(burst.b.count);
	/* Another trip is known now: twice that, and its spread. */
	EXPECT(!req.rtt_alone);
	EXPECT_EQ(req.probe_at, now + 2 * req.srtt_ns + 4 * req.rttvar_ns);
}

/*
 * If some of them come together, they need not, even if none of that is timed: what is lost
 * behind them is not waited for as long as all would take then.
 */
TEST(req_window__what_followed_the_first_packet_together_took_no_longer)
{
	probe_after(MS);
	now += 5 * MS;
	ack(1);
	EXPECT(req.rtt_alone);
	EXPECT_EQ(req.srtt_ns, MS);
	now += 3 * MS;
	ack(3);
	EXPECT(!req.rtt_alone);
	EXPECT(req.rtt_guessed);
	EXPECT_EQ(req.srtt_ns, 3 * MS);
	EXPECT_EQ(req.probe_at, now + 2 * req.srtt_ns + 4 * req.rttvar_ns);
	/* But no less than the first one did. */
	probe_after(MS);
	now += MS / 2;
	ack(3);
	EXPECT_EQ(req.srtt_ns, MS);
	/* If one was measured, that says more. */
	probe_after(MS);
	now += 2 * MS;
	ack(burst.b.count);
	EXPECT_EQ(req.srtt_ns, MS + MS / 8);
}

/* Else a train is as long as an acknowledge let it be, and the next one, too. */
TEST(req_window__waits_rather_than_cut_a_train_short)
{
	begin_with_window(32);
	push(SRDMA_WR_SEND, 100 * MTU, 0);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	/* Half of the window, so that two are on the way, and both ask. */
	EXPECT_EQ(burst.b.count, 16);
	EXPECT(burst.b.ack_req);
	EXPECT_EQ(send_all(), 32);
	ack(0);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	ack(14);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	ack(15);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.count, 16);
	EXPECT(burst.b.ack_req);
}

TEST(req_window__does_not_wait_at_the_end_of_a_message)
{
	begin_with_window(32);
	push(SRDMA_WR_SEND, 34 * MTU, 0);
	EXPECT_EQ(send_all(), 32);
	ack(0);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	ack(1);
	EXPECT_EQ(send_all(), 2);
}

TEST(req_window__does_not_wait_at_the_end_of_what_is_sent_again)
{
	begin_with_window(32);
	push(SRDMA_WR_SEND, 20 * MTU, 0);
	push(SRDMA_WR_SEND, 20 * MTU, 0);
	EXPECT_EQ(send_all(), 32);
	nak(8, SRDMA_NAK_PSN_SEQ);
	/* 12 to the end, 12 that were sent, and what is new waits. */
	EXPECT_EQ(send_all(), 32);
	EXPECT_EQ(req.cur_psn, psn(40));
}

TEST(req_window__does_not_wait_for_what_nobody_asked_for)
{
	begin_with_window(32);
	limit.packets = 6;
	push(SRDMA_WR_SEND, 100 * MTU, 0);
	/* Every other one asks; of five, the last did not. */
	EXPECT_EQ(send_all(), 32);
	EXPECT_EQ(burst.b.count, 2);
	EXPECT(burst.b.ack_req);
	begin_with_window(32);
	limit.packets = 5;
	push(SRDMA_WR_SEND, 100 * MTU, 0);
	EXPECT_EQ(send_all(), 30);
	EXPECT(burst.b.ack_req);
}

TEST(req_window__a_read_is_one_packet)
{
	begin_with_window(32);
	push(SRDMA_WR_SEND, 30 * MTU, 0);
	push(SRDMA_WR_READ, 10 * MTU, 0);
	EXPECT_EQ(send_all(), 31);
}

TEST(req_window__bytes_in_flight)
{
	struct srdma_rc_req_attr attr = few;

	attr.max_inflight = 4 * MTU;
	begin(&attr);
	push(SRDMA_WR_SEND, 10 * MTU, 0);
	EXPECT_EQ(send_all(), 4);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	EXPECT_EQ(ack(1), SRDMA_REQ_ACK);
	EXPECT_EQ(send_all(), 2);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
}

TEST(req_window__shrinks_by_loss_and_grows_again)
{
	struct srdma_rc_req_attr attr = few;
	uint32_t acked, after;

	attr.max_inflight = 1024 * MTU;
	begin(&attr);
	push(SRDMA_WR_SEND, 20000 * MTU, 0);
	EXPECT_EQ(send_all(), 1024);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	EXPECT_EQ(aeth(0, 0x60), SRDMA_REQ_RETRY);
	after = send_all();
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	EXPECT(after < 1024 && after >= 1);
	/* Only while less is sent than was before the loss. */
	for (acked = 0; acked + after < 4000; acked += send_all())
		EXPECT_EQ(ack(acked + req.cwnd / 2), SRDMA_REQ_ACK);
	EXPECT(req.cwnd > after);
	EXPECT(req.cwnd <= 1024);
}
