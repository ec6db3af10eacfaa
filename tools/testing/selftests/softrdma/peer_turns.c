// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Programs that take turns: an acknowledge that waits for the answer, packet by packet.
 */
#include "wire_fixture.h"

#include "cm.h"
#include "knobs.h"
#include "peer.h"

#define PSN	PEER_PSN
#define MTU	PEER_MTU

/* So many messages are acknowledged at once before one waits. */
#define TURNS	17

/* The peer's message, the @n th of the connection. */
static int ask(struct peer *peer, int n)
{
	return peer_post_recv(peer, n, MTU, MTU) ?:
	       peer_send(peer, RC_SEND_ONLY, PSN + n, 2);
}

static bool was_asked(struct peer *peer)
{
	struct ibv_wc wc;

	return ibv_poll_cq(peer->recv_cq, 1, &wc) == 1 && !wc.status;
}

static int answer(struct peer *peer, int n)
{
	return peer_post(peer, IBV_WR_SEND, n, 2);
}

/* The peer acknowledges the answer. */
static bool is_heard(struct peer *peer, int n)
{
	return !peer_ack(peer, PSN + n, ACK_UNLIMITED, n + 1) &&
	       peer_completed(peer, n, IBV_WC_SUCCESS);
}

/* Turns of which each message is acknowledged before it is answered. */
static bool take_turns(struct peer *peer, struct peer_heard *heard, int from,
		       int to)
{
	int n;

	for (n = from; n < to; n++)
		if (ask(peer, n) || !peer_awaits(heard, RC_ACK, PSN + n) ||
		    !was_asked(peer) || answer(peer, n) ||
		    !peer_awaits(heard, RC_SEND_ONLY, PSN + n) ||
		    !is_heard(peer, n))
			return false;
	return true;
}

/* A minute is long enough for the slowest program, where it can be had. */
FIXTURE(turns)
{
	struct peer_attr attr;
	struct peer peer;
	struct peer_heard heard;
	bool possible;
};

FIXTURE_SETUP(turns)
{
	self->attr = PEER_ATTR_DEFAULT;
	self->possible = knob_exists("linger");
	ASSERT_EQ(0, peer_open(&self->peer, &self->attr));
	if (self->possible)
		ASSERT_EQ(0, knob_turn("linger", true));
	ASSERT_TRUE(take_turns(&self->peer, &self->heard, 0, TURNS));
}

FIXTURE_TEARDOWN(turns)
{
	if (self->possible)
		EXPECT_EQ(0, knob_turn("linger", false));
	EXPECT_EQ(0, peer_close(&self->peer));
}

TEST_F(turns, acknowledge_travels_with_the_answer)
{
	struct peer *peer = &self->peer;
	int64_t carried = counters_get("ack_carried");

	if (!self->possible)
		SKIP(return, "no CONFIG_FAULT_INJECTION");
	ASSERT_EQ(0, ask(peer, TURNS));
	EXPECT_TRUE(was_asked(peer));
	ASSERT_EQ(0, answer(peer, TURNS));
	EXPECT_EQ(carried + 1, counters_get("ack_carried"));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + TURNS));
	EXPECT_TRUE(peer_hears_count(PSN + TURNS, TURNS + 1));
	EXPECT_TRUE(is_heard(peer, TURNS));

	/* And so with each that follows, of whatever length. */
	ASSERT_EQ(0, ask(peer, TURNS + 1));
	EXPECT_TRUE(was_asked(peer));
	ASSERT_EQ(0, peer_post(peer, IBV_WR_SEND, TURNS + 1, 2 * MTU + 1));
	EXPECT_EQ(carried + 2, counters_get("ack_carried"));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_SEND_LAST, PSN + TURNS + 3));
	EXPECT_TRUE(peer_hears_count(PSN + TURNS + 1, TURNS + 2));
}

/* The peer did not wait for the answer. */
TEST_F(turns, one_acknowledge_for_two_messages)
{
	struct peer *peer = &self->peer;
	int64_t said;

	if (!self->possible)
		SKIP(return, "no CONFIG_FAULT_INJECTION");
	said = peer_said(peer);
	ASSERT_EQ(0, ask(peer, TURNS));
	EXPECT_EQ(said, peer_said(peer));
	ASSERT_EQ(0, ask(peer, TURNS + 1));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_ACK, PSN + TURNS + 1));
	EXPECT_EQ(TURNS + 2, self->heard.msn);
	/* Then turns begin anew. */
	EXPECT_TRUE(was_asked(peer));
	EXPECT_TRUE(was_asked(peer));
	ASSERT_EQ(0, answer(peer, TURNS));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + TURNS));
	EXPECT_TRUE(is_heard(peer, TURNS));
	ASSERT_EQ(0, ask(peer, TURNS + 2));
	EXPECT_TRUE(peer_hears_count(PSN + TURNS + 2, TURNS + 3));
}

/* An answer that was not given counts, also before any acknowledge has waited. */
TEST_F(turns, one_message_without_an_answer)
{
	struct peer *peer = &self->peer;

	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	peer_drain();
	ASSERT_TRUE(take_turns(peer, &self->heard, 0, TURNS - 1));
	ASSERT_EQ(0, ask(peer, TURNS - 1));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_ACK, PSN + TURNS - 1));
	ASSERT_EQ(0, ask(peer, TURNS));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_ACK, PSN + TURNS));
	ASSERT_EQ(0, answer(peer, TURNS - 1));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + TURNS - 1));
	EXPECT_TRUE(is_heard(peer, TURNS - 1));
	ASSERT_EQ(0, ask(peer, TURNS + 1));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_ACK, PSN + TURNS + 1));
}

/* Who has the message may end the connection: the peer is to know. */
TEST_F(turns, acknowledge_leaves_before_a_reset)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct peer *peer = &self->peer;
	int64_t said;

	if (!self->possible)
		SKIP(return, "no CONFIG_FAULT_INJECTION");
	said = peer_said(peer);
	ASSERT_EQ(0, ask(peer, TURNS));
	EXPECT_TRUE(was_asked(peer));
	EXPECT_EQ(said, peer_said(peer));
	ASSERT_EQ(0, ibv_modify_qp(peer->qp, &attr, IBV_QP_STATE));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_ACK, PSN + TURNS));
	EXPECT_EQ(TURNS + 1, self->heard.msn);
}

/*
 * So it is where the QP fails by itself: what was received is acknowledged. A request that
 * is sent again may have taken it along.
 */
TEST_F(turns, acknowledge_leaves_before_the_error_state)
{
	struct peer *peer = &self->peer;

	if (!self->possible)
		SKIP(return, "no CONFIG_FAULT_INJECTION");
	ASSERT_EQ(0, answer(peer, TURNS));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + TURNS));
	ASSERT_EQ(0, ask(peer, TURNS));
	EXPECT_TRUE(was_asked(peer));
	ASSERT_EQ(0, peer_ack(peer, PSN + TURNS, NAK_OPERATION, TURNS + 1));
	EXPECT_TRUE(peer_completed(peer, TURNS, IBV_WC_REM_OP_ERR));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_ACK, PSN + TURNS));
	EXPECT_EQ(TURNS + 1, self->heard.msn);
}

/* What waited with one connection is nothing to the next. */
TEST_F(turns, nothing_waits_with_a_new_connection)
{
	struct peer *peer = &self->peer;
	int64_t carried = counters_get("ack_carried");

	ASSERT_EQ(0, ask(peer, TURNS));
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	peer_drain();
	EXPECT_TRUE(was_asked(peer));
	EXPECT_TRUE(take_turns(peer, &self->heard, 0, TURNS));
	EXPECT_EQ(carried, counters_get("ack_carried"));
}

/* In vain: the acknowledge goes alone, and it takes twice as many turns until the next. */
TEST_F(turns, wait_for_no_answer_is_short)
{
	struct peer *peer = &self->peer;

	if (self->possible)
		ASSERT_EQ(0, knob_turn("linger", false));
	ASSERT_EQ(0, ask(peer, TURNS));
	/* An answer of before may have been sent again. */
	EXPECT_TRUE(peer_awaits(&self->heard, RC_ACK, PSN + TURNS));
	EXPECT_EQ(TURNS + 1, self->heard.msn);
	EXPECT_TRUE(was_asked(peer));
	ASSERT_EQ(0, answer(peer, TURNS));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + TURNS));
	EXPECT_TRUE(is_heard(peer, TURNS));
	if (self->possible)
		ASSERT_EQ(0, knob_turn("linger", true));
	EXPECT_TRUE(take_turns(peer, &self->heard, TURNS + 1,
			       TURNS + 1 + 2 * (TURNS - 1)));
}

TEST_HARNESS_MAIN
