// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A peer that holds back what comes behind a hole: what it reports is repeated, and
 * nothing else.
 */
#include "req_fixture.h"
#include "proto/packet.h"
#include "proto/rc_req_priv.h"

/* Twelve packets of three WRITEs are out. */
static void begin_writes(void)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 4 * MTU, 0);
	push(SRDMA_WR_WRITE, 4 * MTU, 0);
	push(SRDMA_WR_WRITE, 4 * MTU, SRDMA_WR_SIGNALED);
	EXPECT_EQ(send_all(), 12);
	now += 50 * US;
}

/* The next burst repeats these, with that number. */
static void expect_again(uint32_t step, uint32_t count, uint8_t number)
{
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, psn(step));
	EXPECT_EQ(burst.b.count, count);
	EXPECT_EQ(burst.b.stamp, number);
	sent();
}

TEST(req_again__a_numbered_nak_asks_for_one_packet)
{
	begin_writes();
	EXPECT(srdma_rc_req_all_sent(&req));
	no_holes();
	pkt.stamp = 9;
	EXPECT_EQ(nak(5, 0), SRDMA_REQ_RETRY);
	EXPECT(!srdma_rc_req_all_sent(&req));
	expect_again(5, 1, 9);
	EXPECT(burst.b.ack_req);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* What got through in a trip, wherever there were holes meanwhile. */
TEST(req_again__what_is_held_got_through)
{
	begin_writes();
	no_holes();
	hole(0, 1, 1);
	hole(1, 8, 1);
	EXPECT_EQ(sack(0, 3, 9), SRDMA_REQ_SACK);
	req.rtt_min_ns = 1 * MS - 1;
	EXPECT_EQ(srdma_req_through(&req), psn(1));
	req.rtt_min_ns = 5 * MS;
	EXPECT_EQ(srdma_req_through(&req), psn(10));
	req.delay.holds = 0;
	srdma_req_time_trip(&req, psn(3), false, now);
	now += 5 * MS;
	/* Only the first hole was filled: what is behind the other one came before. */
	no_holes();
	EXPECT_EQ(sack(7, 3, 3), SRDMA_REQ_SACK);
	EXPECT_EQ(req.delay.holds, 1);
	/* No more than was sent, whatever it says. */
	srdma_req_time_trip(&req, psn(8), false, now);
	now += 5 * MS;
	EXPECT_EQ(sack(9, 3, 1000), SRDMA_REQ_SACK);
	EXPECT_EQ(req.delay.holds, 2);
	/* What was overtaken is not believed beyond that. */
	EXPECT_EQ(sack(10, 2, 1), SRDMA_REQ_SACK);
	EXPECT_EQ(req.held_all, 0);
}

/* What had only been late is answered sooner than the path is long. */
TEST(req_again__an_answer_to_a_late_packet_is_not_measured)
{
	begin_writes();
	ack(11);
	EXPECT_EQ(req.rtt_min_ns, 50 * US);
	push(SRDMA_WR_WRITE, 4 * MTU, SRDMA_WR_SIGNALED);
	send_all();
	now += 60 * US;
	no_holes();
	pkt.stamp = 9;
	EXPECT_EQ(nak(13, 0), SRDMA_REQ_RETRY);
	expect_again(13, 1, 9);
	now += US;
	ack(15);
	EXPECT_EQ(req.rtt_min_ns, 50 * US);
}

/* Without a number all of it. */
TEST(req_again__a_plain_nak_goes_back)
{
	begin_writes();
	no_holes();
	EXPECT_EQ(nak(5, 0), SRDMA_REQ_RETRY);
	expect_again(5, 3, 0);
}

/* Without memory for what is missing it does as if it did not know numbers. */
TEST(req_again__nothing_is_noted_without_memory)
{
	begin_writes();
	req.mend = NULL;
	no_holes();
	hole(0, 6, 1);
	EXPECT_EQ(sack(1, 9, 5), SRDMA_REQ_SACK);
	EXPECT_EQ(req.held, 0);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	pkt.stamp = 10;
	EXPECT(srdma_rc_req_lacks_mend(&req, &pkt));
	EXPECT_EQ(nak(5, 0), SRDMA_REQ_RETRY);
	expect_again(5, 3, 0);
}

TEST(req_again__a_copy_of_the_nak_is_one)
{
	begin_writes();
	no_holes();
	pkt.stamp = 9;
	EXPECT_EQ(nak(5, 0), SRDMA_REQ_RETRY);
	EXPECT_EQ(nak(5, 0), SRDMA_REQ_DROP_DUP);
	now += 10 * MS;
	EXPECT_EQ(nak(5, 0), SRDMA_REQ_DROP_DUP);
	pkt.stamp = 10;
	EXPECT_EQ(nak(5, 0), SRDMA_REQ_RETRY);
}

TEST(req_again__holes_are_filled_in_their_order)
{
	begin_writes();
	no_holes();
	hole(0, 2, 1);
	hole(1, 5, 4);
	EXPECT_EQ(sack(1, 3, 5), SRDMA_REQ_SACK);
	expect_again(2, 1, 3);
	EXPECT(burst.b.ack_req);
	/* It goes from one message into the next. */
	expect_again(5, 3, 3);
	EXPECT(!burst.b.ack_req);
	expect_again(8, 1, 3);
	EXPECT(burst.b.ack_req);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	EXPECT_EQ(ack(11), SRDMA_REQ_ACK);
	EXPECT_EQ(req.una_psn, psn(12));
	EXPECT_EQ(req.held, 0);
}

TEST(req_again__a_copy_repeats_nothing)
{
	begin_writes();
	no_holes();
	hole(0, 2, 1);
	EXPECT_EQ(sack(1, 3, 5), SRDMA_REQ_SACK);
	expect_again(2, 1, 3);
	EXPECT_EQ(sack(1, 3, 5), SRDMA_REQ_SACK);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	/* And one that was overtaken says nothing new. */
	hole(0, 6, 1);
	EXPECT_EQ(req.reorders, 0);
	EXPECT_EQ(sack(1, 2, 9), SRDMA_REQ_SACK);
	EXPECT_EQ(req.reorders, 2);
	EXPECT_EQ(req.held, 5);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
	/* Numbers begin anew. */
	EXPECT_EQ(sack(1, 33, 5), SRDMA_REQ_SACK);
	expect_again(6, 1, 33);
	EXPECT_EQ(sack(1, 63, 5), SRDMA_REQ_SACK);
	expect_again(6, 1, 63);
	EXPECT_EQ(sack(1, 1, 5), SRDMA_REQ_SACK);
	expect_again(6, 1, 1);
	EXPECT_EQ(sack(1, 63, 5), SRDMA_REQ_SACK);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* What has come meanwhile, or was never sent, is not repeated. */
TEST(req_again__holes_are_of_what_is_out)
{
	begin_writes();
	no_holes();
	hole(0, 0, 4);
	hole(1, 11, 40);
	EXPECT_EQ(sack(1, 3, 5), SRDMA_REQ_SACK);
	expect_again(2, 2, 3);
	expect_again(11, 1, 3);
	no_holes();
	hole(0, 100, 40);
	hole(1, -9, 3);
	EXPECT_EQ(sack(1, 4, 5), SRDMA_REQ_SACK);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_again__what_has_come_before_it_is_sent_is_not)
{
	begin_writes();
	no_holes();
	hole(0, 2, 3);
	hole(1, 8, 1);
	EXPECT_EQ(sack(1, 3, 5), SRDMA_REQ_SACK);
	no_holes();
	EXPECT_EQ(ack(3), SRDMA_REQ_ACK);
	expect_again(4, 1, 3);
	EXPECT_EQ(ack(9), SRDMA_REQ_ACK);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* What the peer holds opens the window. */
TEST(req_again__what_is_held_is_not_on_its_way)
{
	static const struct srdma_rc_req_attr small = {
		.psn = FIRST, .mtu = MTU, .max_rd_atomic = 8, .retry_cnt = 7,
		.rnr_retry = 6, .timeout = 14, .max_inflight = 8 * MTU,
	};

	begin(&small);
	push(SRDMA_WR_WRITE, 32 * MTU, SRDMA_WR_SIGNALED);
	EXPECT_EQ(send_all(), 8);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	no_holes();
	EXPECT_EQ(sack(-1, 3, 5), SRDMA_REQ_SACK);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, psn(8));
	EXPECT_EQ(burst.b.count, 5);
	/* New packets say up to which report all was repeated. */
	EXPECT_EQ(burst.b.stamp, 3 | SRDMA_STAMP_FRESH);
	sent();
	EXPECT_EQ(ack(12), SRDMA_REQ_ACK);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.stamp, 0);
}

/* More than there is cannot be held. */
TEST(req_again__a_peer_that_lies_opens_no_window)
{
	begin_writes();
	no_holes();
	EXPECT_EQ(sack(1, 3, 0xffff), SRDMA_REQ_SACK);
	EXPECT_EQ(req.held, 10);
}

/* 24 packets of a message are out, of which a window of four is left. */
static void begin_with_small_window(void)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, 30 * MTU, SRDMA_WR_SIGNALED);
	/* The first one, with its header, comes on top. */
	limit.packets = 23;
	send_one();
	EXPECT_EQ(burst.b.count, 24);
	limit.packets = 64;
	now += 50 * US;
	no_holes();
	req.cwnd = 4;
	req.win_top = 4;
	req.recovering = true;
	req.recover_psn = req.max_psn;
}

/* What did not get through at once does not get through at once. */
TEST(req_again__no_more_than_the_window)
{
	begin_with_small_window();
	hole(0, 2, 10);
	hole(1, 20, 3);
	EXPECT_EQ(sack(1, 3, 9), SRDMA_REQ_SACK);
	expect_again(2, 4, 3);
	EXPECT(burst.b.ack_req);
	/* Nor anything new in front of it. */
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	EXPECT_EQ(sack(3, 3, 9), SRDMA_REQ_SACK);
	expect_again(6, 2, 3);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	EXPECT_EQ(sack(7, 3, 9), SRDMA_REQ_SACK);
	expect_again(8, 4, 3);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	EXPECT_EQ(sack(19, 3, 1), SRDMA_REQ_SACK);
	expect_again(20, 3, 3);
	EXPECT(burst.b.ack_req);
}

/* More may be lost than is known of: what all the rest waits for is not held up. */
TEST(req_again__what_all_wait_for_in_any_case)
{
	begin_with_small_window();
	hole(0, 2, 1);
	hole(1, 6, 1);
	EXPECT_EQ(sack(1, 3, 5), SRDMA_REQ_SACK);
	expect_again(2, 1, 3);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	EXPECT_EQ(sack(5, 3, 1), SRDMA_REQ_SACK);
	expect_again(6, 1, 3);
}

TEST(req_again__a_probe_is_not_held_up)
{
	begin_with_small_window();
	hole(0, 2, 10);
	EXPECT_EQ(sack(1, 3, 12), SRDMA_REQ_SACK);
	expect_again(2, 4, 3);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(burst.probe);
	EXPECT_EQ(req.again_count, 1);
	sent();
	/* It has the peer report all of it anew. */
	EXPECT_EQ(req.again_count, 0);
}

/* What had been sent before it, and is not held when it is answered, is not on its way. */
TEST(req_again__what_a_probe_does_not_find_makes_room)
{
	begin_with_small_window();
	hole(0, 2, 2);
	EXPECT_EQ(sack(1, 3, 1), SRDMA_REQ_SACK);
	expect_again(2, 2, 3);
	EXPECT_EQ(expire(), SRDMA_TIMER_PROBE);
	REQUIRE(next() == SRDMA_NEXT_SEND);
	EXPECT(burst.probe);
	sent();
	no_holes();
	hole(0, 3, 1);
	hole(1, 5, 1);
	hole(2, 7, 1);
	hole(3, 9, 9);
	EXPECT_EQ(sack(2, 4, 2), SRDMA_REQ_SACK);
	expect_again(3, 1, 4);
	expect_again(5, 1, 4);
	expect_again(7, 1, 4);
	expect_again(9, 1, 4);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
	/* There was no memory yet to say what that was. */
	req.mend->probe_end = psn(25);
	req.probe_out = true;
	EXPECT_EQ(sack(2, 5, 2), SRDMA_REQ_SACK);
	EXPECT_EQ(req.mend->gone, 0);
}

TEST(req_again__a_lost_read_is_asked_again)
{
	begin(NULL);
	push(SRDMA_WR_WRITE, MTU, 0);
	push(SRDMA_WR_READ, 3 * MTU, SRDMA_WR_SIGNALED);
	push(SRDMA_WR_WRITE, MTU, SRDMA_WR_SIGNALED);
	EXPECT_EQ(send_all(), 3);
	now += 50 * US;
	no_holes();
	hole(0, 1, 3);
	EXPECT_EQ(sack(0, 3, 1), SRDMA_REQ_SACK);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.msg->op, SRDMA_WR_READ);
	EXPECT_EQ(burst.b.stamp, 3);
	sent();
	/* And what is held is not sent behind it. */
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_again__between_lost_reads_nothing_is_sent_again)
{
	begin(NULL);
	push(SRDMA_WR_READ, MTU, 0);
	push(SRDMA_WR_WRITE, MTU, 0);
	push(SRDMA_WR_READ, MTU, SRDMA_WR_SIGNALED);
	EXPECT_EQ(send_all(), 3);
	now += 50 * US;
	no_holes();
	hole(0, 0, 1);
	hole(1, 2, 1);
	EXPECT_EQ(sack(-1, 3, 1), SRDMA_REQ_SACK);
	expect_again(0, 1, 3);
	expect_again(2, 1, 3);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

/* How far the window is opened by 20000 packets that are held, if it is this. */
static uint32_t opened(uint32_t window)
{
	struct srdma_rc_req_attr a = usual;

	a.max_inflight = 60000 * MTU;
	begin(&a);
	push(SRDMA_WR_WRITE, 60000 * MTU, SRDMA_WR_SIGNALED);
	send_all();
	req.cwnd = window;
	no_holes();
	EXPECT_EQ(sack(-1, 3, 20000), SRDMA_REQ_SACK);
	return req.held;
}

/* By another window, unless the peer could not hold as much: 3 MB in all. */
TEST(req_again__what_is_held_opens_what_can_be_held)
{
	uint32_t most = (3 << 20) / MTU;

	EXPECT_EQ(opened(100), 256);
	EXPECT_EQ(opened(most / 4), most / 4);
	EXPECT_EQ(opened(most - 1000), 1000);
	EXPECT_EQ(opened(most - 10), 256);
	EXPECT_EQ(opened(2 * most), 256);
}

/* A probe has all reported again; what it finds lost is lost behind it as well. */
TEST(req_again__a_probe_asks_for_all)
{
	begin_writes();
	no_holes();
	EXPECT_EQ(sack(1, 3, 5), SRDMA_REQ_SACK);
	now = req.deadline;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_PROBE);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT(burst.probe);
	EXPECT_EQ(burst.b.stamp, SRDMA_STAMP_ALL);
	sent();
	EXPECT_EQ(sack(2, 3, 5), SRDMA_REQ_SACK);
	EXPECT_EQ(next(), SRDMA_NEXT_EMPTY);
}

TEST(req_again__a_probe_of_who_knows_nothing_has_no_number)
{
	begin_writes();
	now = req.deadline;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_PROBE);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT(burst.probe);
	EXPECT_EQ(burst.b.stamp, 0);
}

TEST(req_again__nothing_is_repeated_behind_a_refused_message)
{
	begin_writes();
	no_holes();
	EXPECT_EQ(rnr(0, 1), SRDMA_REQ_RNR_WAIT);
	hole(0, 9, 1);
	EXPECT_EQ(sack(-1, 3, 1), SRDMA_REQ_SACK);
	now = req.deadline;
	EXPECT_EQ(srdma_rc_req_timeout(&req, now), SRDMA_TIMER_RNR);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, psn(0));
}

TEST(req_again__going_back_is_all_of_it)
{
	begin_writes();
	no_holes();
	hole(0, 2, 1);
	EXPECT_EQ(sack(1, 3, 5), SRDMA_REQ_SACK);
	no_holes();
	EXPECT_EQ(nak(2, 0), SRDMA_REQ_RETRY);
	EXPECT_EQ(req.held, 0);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.psn, psn(2));
	EXPECT(!burst.again);
}

TEST(req_again__only_an_acknowledge_can_be_selective)
{
	begin_writes();
	no_holes();
	pkt.aeth.syndrome = 0x60;
	EXPECT_EQ(response(SRDMA_RC_SACK, 1), SRDMA_REQ_DROP_KIND);
}

/* A window of 100 packets, and @floor pass in a millisecond. */
static void begin_with_window(u8 floor)
{
	begin_writes();
	req.cwnd = 100;
	req.win_top = 1000;
	req.cwnd_floor = floor;
}

/* The second packet is reported. */
static void reports_one(void)
{
	no_holes();
	hole(0, 1, 1);
	EXPECT_EQ(sack(0, 9, 10), SRDMA_REQ_SACK);
}

/* All up to the sixth have come, and @late had only been late. */
static void tells_late(uint32_t late)
{
	no_holes();
	hole(0, late, 0);
	EXPECT_EQ(sack(5, 9, 0), SRDMA_REQ_SACK);
}

static void reports_in_vain(uint32_t late)
{
	begin_with_window(16);
	reports_one();
	EXPECT(req.cwnd < 50);
	expect_again(1, 1, 9);
	tells_late(late);
}

TEST(req_again__what_was_late_gives_the_window_back)
{
	reports_in_vain(1);
	EXPECT(req.cwnd >= 100);
	EXPECT(req.ssthresh >= 100);
	EXPECT(!req.recovering);
	/* What was sent since then says nothing of that loss. */
	reports_in_vain(20);
	EXPECT(req.cwnd < 50);
}

/* What is still missing gives nothing back. */
TEST(req_again__what_is_missing_is_not_late)
{
	begin_with_window(16);
	reports_one();
	reports_one();
	EXPECT(req.cwnd < 50);
}

/* The oldest part of a hole goes whatever the window says, and the next part does not. */
TEST(req_again__the_oldest_part_of_a_hole_asks)
{
	begin_writes();
	req.cwnd = 40;
	req.cwnd_floor = 16;
	no_holes();
	hole(0, 0, 11);
	EXPECT_EQ(sack(-1, 9, 1), SRDMA_REQ_SACK);
	expect_again(0, 4, 9);
	EXPECT(burst.b.ack_req);
}

/* So does what fills the window: the rest waits for the answer. */
TEST(req_again__what_fills_the_window_asks)
{
	begin_writes();
	no_holes();
	hole(0, 0, 1);
	hole(1, 2, 8);
	EXPECT_EQ(sack(-1, 9, 3), SRDMA_REQ_SACK);
	req.cwnd = 4;
	expect_again(0, 1, 9);
	expect_again(2, 2, 9);
	EXPECT(!burst.b.ack_req);
	expect_again(4, 1, 9);
	EXPECT(burst.b.ack_req);
	EXPECT_EQ(next(), SRDMA_NEXT_WINDOW);
}

/* What was repeated and is missing again is another loss, one for all of that round. */
TEST(req_again__lost_again_is_another_loss)
{
	begin_with_window(1);
	no_holes();
	hole(0, 1, 1);
	hole(1, 8, 1);
	EXPECT_EQ(sack(0, 9, 8), SRDMA_REQ_SACK);
	EXPECT_EQ(req.cwnd, 5);
	expect_again(1, 1, 9);
	expect_again(8, 1, 9);
	now += 1 * MS;
	no_holes();
	hole(0, 1, 1);
	EXPECT_EQ(sack(0, 10, 8), SRDMA_REQ_SACK);
	EXPECT_EQ(req.cwnd, 2);
	now += 1 * MS;
	no_holes();
	hole(0, 8, 1);
	EXPECT_EQ(sack(0, 11, 8), SRDMA_REQ_SACK);
	EXPECT_EQ(req.cwnd, 2);
}

/* Within half a round trip it was only told once more. */
TEST(req_again__told_at_once_is_no_other_loss)
{
	begin_with_window(1);
	no_holes();
	hole(0, 1, 1);
	EXPECT_EQ(sack(0, 9, 8), SRDMA_REQ_SACK);
	EXPECT_EQ(req.cwnd, 5);
	expect_again(1, 1, 9);
	req.srtt_ns = 2 * MS;
	now += 1 * MS - 1;
	EXPECT_EQ(sack(0, 10, 8), SRDMA_REQ_SACK);
	EXPECT_EQ(req.cwnd, 5);
	expect_again(1, 1, 10);
	now++;
	EXPECT_EQ(sack(0, 11, 8), SRDMA_REQ_SACK);
	EXPECT_EQ(req.cwnd, 2);
}

/* More than an eighth of what is sent, or less than a 256th. */
TEST(req_again__who_repeats_much_overfills_a_queue)
{
	begin_writes();
	no_holes();
	hole(0, 1, 1);
	EXPECT_EQ(sack(0, 9, 4), SRDMA_REQ_SACK);
	req.mend->counted_psn = psn(12 - 300);
	req.mend->repeated = 37;
	expect_again(1, 1, 9);
	EXPECT(req.overfills);
	EXPECT_EQ(req.mend->repeated, 0);
	no_holes();
	hole(0, 2, 1);
	EXPECT_EQ(sack(0, 10, 4), SRDMA_REQ_SACK);
	req.mend->counted_psn = psn(12 - 600);
	expect_again(2, 1, 10);
	EXPECT(!req.overfills);
}

/* A request for a READ that is repeated does not say that its answers find room. */
TEST(req_again__who_reads_may_still_overfill_a_queue)
{
	begin(NULL);
	push(SRDMA_WR_READ, 4 * MTU, 0);
	push(SRDMA_WR_SEND, 1, SRDMA_WR_SIGNALED);
	send_all();
	srdma_rc_req_msg(&req, 0)->part = 1;
	req.overfills = true;
	req.mend->counted_psn = psn(5 - 1000);
	no_holes();
	hole(0, 2, 2);
	EXPECT_EQ(sack(-1, 9, 1), SRDMA_REQ_SACK);
	EXPECT_EQ(next(), SRDMA_NEXT_SEND);
	EXPECT_EQ(burst.b.first, SRDMA_RC_READ_REQ);
	EXPECT(burst.again);
	sent();
	EXPECT(req.overfills);
}

/* As it is on a slow line. */
TEST(req_again__what_was_late_is_no_reason_on_a_slow_line)
{
	begin_with_window(8);
	reports_one();
	tells_late(1);
	EXPECT(req.cwnd < 50);
}

/* A long queue seems to have overflowed. */
static void reports_congestion(void)
{
	begin_with_window(16);
	req.heard = true;
	req.srtt_ns = 3 * MS;
	req.rtt_min_ns = 1 * MS;
	req.delay.top_ns = 3 * MS;
	req.rtt_timed = false;
	reports_one();
	EXPECT(req.slow.win);
	EXPECT_EQ(req.delay.full_ns, 3 * MS);
}

TEST(req_again__what_was_late_is_no_congestion)
{
	reports_congestion();
	tells_late(1);
	EXPECT_EQ(req.slow.win, 0);
	EXPECT_EQ(req.delay.full_ns, 0);
	EXPECT(req.cwnd >= 100);
	/* What was to be paced is not any more, and if all is complete no timer is. */
	reports_congestion();
	req.slow.pace_at = now + 1 * MS;
	no_holes();
	hole(0, 1, 0);
	EXPECT_EQ(sack(11, 9, 0), SRDMA_REQ_SACK);
	EXPECT_EQ(req.una_psn, req.max_psn);
	EXPECT_EQ(req.deadline, 0);
}

/* Nor does it end what a notification has said. */
TEST(req_again__what_was_late_ends_no_other_congestion)
{
	reports_congestion();
	srdma_rc_req_congested(&req);
	tells_late(1);
	EXPECT(req.slow.win);
	EXPECT(req.cwnd < 100);
}
