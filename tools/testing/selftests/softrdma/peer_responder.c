// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A responder made of frames: what a QP does about acknowledges that are late,
 * missing, repeated or wrong, packet by packet. The answers to READs and atomics
 * are in peer_read.c.
 */
#include "peer_fixture.h"

/* ---- requests ---- */

TEST_F(peer, message_of_many_packets)
{
	static const uint32_t len = 4 * MTU + 7;
	struct peer *peer = &self->peer;
	struct peer_heard *heard = &self->heard;
	int i;

	cm_fill(peer->buf, len, 3);
	ASSERT_EQ(0, peer_post(peer, IBV_WR_RDMA_WRITE, 1, len));
	for (i = 0; i < 5; i++) {
		uint8_t opcode = i == 0 ? RC_WRITE_FIRST :
				 i == 4 ? RC_WRITE_LAST : RC_WRITE_MIDDLE;

		ASSERT_TRUE(peer_awaits(heard, opcode, PSN + i));
		EXPECT_EQ(i == 4 ? 7 : MTU, heard->len);
		EXPECT_EQ(0, memcmp(peer->buf + i * MTU, heard->payload,
				    heard->len));
		EXPECT_TRUE(heard->migrated);
		if (i)
			continue;
		EXPECT_EQ(PEER_FAR, heard->va);
		EXPECT_EQ(len, heard->dma_len);
	}
	EXPECT_TRUE(heard->ask);
	EXPECT_TRUE(peer_completed_nothing(peer));
	ASSERT_EQ(0, peer_ack(peer, PSN + 4, ACK_UNLIMITED, 1));
	EXPECT_TRUE(peer_completed(peer, 1, IBV_WC_SUCCESS));
}

/* 9.7.1: 24 bits, and what is behind the turn is not older. */
TEST_F(peer, psns_wrap)
{
	static const uint32_t first = 0xfffffd;
	struct peer *peer = &self->peer;
	int i;

	self->attr.psn = first;
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	ASSERT_TRUE(peer_post_sends(peer, 6));
	for (i = 0; i < 6; i++)
		ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, first + i));
	ASSERT_EQ(0, peer_ack(peer, first + 3, ACK_UNLIMITED, 4));
	for (i = 0; i < 4; i++)
		EXPECT_TRUE(peer_completed(peer, i, IBV_WC_SUCCESS));
	/* Of before the turn: old. */
	ASSERT_EQ(0, peer_ack(peer, first, NAK_ACCESS, 1));
	EXPECT_TRUE(peer_completed_nothing(peer));
	ASSERT_EQ(0, peer_ack(peer, first + 4, NAK_SEQUENCE, 4));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, first + 5));
	ASSERT_EQ(0, peer_ack(peer, first + 5, ACK_UNLIMITED, 6));
	EXPECT_TRUE(peer_completed(peer, 4, IBV_WC_SUCCESS));
	EXPECT_TRUE(peer_completed(peer, 5, IBV_WC_SUCCESS));
}

/* ---- acknowledges ---- */

TEST_F(peer, one_acknowledge_completes_all_before_it)
{
	struct peer *peer = &self->peer;
	int i;

	ASSERT_TRUE(peer_post_sends(peer, 8));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 7));
	EXPECT_TRUE(peer_completed_nothing(peer));
	ASSERT_EQ(0, peer_ack(peer, PSN + 5, ACK_UNLIMITED, 6));
	for (i = 0; i < 6; i++)
		EXPECT_TRUE(peer_completed(peer, i, IBV_WC_SUCCESS));
	EXPECT_TRUE(peer_completed_nothing(peer));
	ASSERT_EQ(0, peer_ack(peer, PSN + 7, ACK_UNLIMITED, 8));
	for (i = 6; i < 8; i++)
		EXPECT_TRUE(peer_completed(peer, i, IBV_WC_SUCCESS));
}

/* 9.7.5.1: responses to what is not outstanding, whatever they say. */
TEST_F(peer, ghosts_are_ignored)
{
	static const uint8_t syndromes[] = {
		NAK_SEQUENCE, NAK_INVALID, NAK_ACCESS, NAK_OPERATION,
		NAK_RESERVED, RNR_NAK | 1,
	};
	static const int32_t psns[] = { -0x700000, -1, 1, 2, 0x700000 };
	struct peer *peer = &self->peer;
	int64_t ghosts, acks;
	size_t i, j;

	ASSERT_TRUE(peer_post_sends(peer, 1));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
	ghosts = counters_get("resp_drop_ghost");
	for (i = 0; i < 5; i++)
		for (j = 0; j < sizeof(syndromes); j++)
			ASSERT_EQ(0, peer_ack(peer, PSN + psns[i], syndromes[j],
					      1));
	EXPECT_TRUE(counters_reach("resp_drop_ghost", ghosts + 30));
	acks = counters_get("resp_acks");
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, peer_ack(peer, PSN + psns[i], ACK_UNLIMITED, 1));
	/* Old acknowledges are heard, for they may bring credits. */
	EXPECT_TRUE(counters_reach("resp_acks", acks + 2));
	EXPECT_TRUE(peer_completed_nothing(peer));
	EXPECT_EQ(IBV_QPS_RTS, verbs_qp_state(peer->qp));

	ASSERT_EQ(0, peer_ack(peer, PSN, ACK_UNLIMITED, 1));
	EXPECT_TRUE(peer_completed(peer, 0, IBV_WC_SUCCESS));
	/* Once more, and other things about it. */
	ASSERT_EQ(0, peer_ack(peer, PSN, ACK_UNLIMITED, 1));
	for (j = 0; j < sizeof(syndromes); j++)
		ASSERT_EQ(0, peer_ack(peer, PSN, syndromes[j], 1));
	EXPECT_TRUE(peer_completed_nothing(peer));
	EXPECT_EQ(IBV_QPS_RTS, verbs_qp_state(peer->qp));
}

TEST_F(peer, sequence_nak_is_answered_from_there)
{
	struct peer *peer = &self->peer;
	int i;

	ASSERT_TRUE(peer_post_sends(peer, 4));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 3));
	peer_drain();
	ASSERT_EQ(0, peer_ack(peer, PSN + 2, NAK_SEQUENCE, 2));
	for (i = 0; i < 2; i++)
		EXPECT_TRUE(peer_completed(peer, i, IBV_WC_SUCCESS));
	EXPECT_TRUE(peer_completed_nothing(peer));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 2));
	EXPECT_TRUE(peer_hears(&self->heard, RC_SEND_ONLY, PSN + 3));
	ASSERT_EQ(0, peer_ack(peer, PSN + 3, ACK_UNLIMITED, 4));
	for (i = 2; i < 4; i++)
		EXPECT_TRUE(peer_completed(peer, i, IBV_WC_SUCCESS));
}

TEST_F(peer, fatal_naks_say_what_was_wrong)
{
	static const struct {
		uint8_t syndrome;
		enum ibv_wc_status status;
	} naks[] = {
		{ NAK_INVALID, IBV_WC_REM_INV_REQ_ERR },
		{ NAK_ACCESS, IBV_WC_REM_ACCESS_ERR },
		{ NAK_OPERATION, IBV_WC_REM_OP_ERR },
	};
	struct peer *peer = &self->peer;
	size_t i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		ASSERT_TRUE(peer_post_sends(peer, 3));
		ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 2));
		peer_drain();
		ASSERT_EQ(0, peer_ack(peer, PSN + 1, naks[i].syndrome, 1));
		EXPECT_TRUE(peer_completed(peer, 0, IBV_WC_SUCCESS));
		EXPECT_TRUE(peer_completed(peer, 1, naks[i].status));
		EXPECT_TRUE(peer_completed(peer, 2, IBV_WC_WR_FLUSH_ERR));
		EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(peer->qp));
	}
}

TEST_F(peer, reserved_naks_are_ignored)
{
	struct peer *peer = &self->peer;
	int64_t dropped;
	int code;

	ASSERT_TRUE(peer_post_sends(peer, 1));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
	dropped = counters_get("resp_drop_kind");
	for (code = 5; code < 32; code++)
		ASSERT_EQ(0, peer_ack(peer, PSN, NAK_SEQUENCE | code, 0));
	ASSERT_EQ(0, peer_ack(peer, PSN, 0x40, 0));
	EXPECT_TRUE(counters_reach("resp_drop_kind", dropped + 28));
	EXPECT_TRUE(peer_completed_nothing(peer));
	ASSERT_EQ(0, peer_ack(peer, PSN, ACK_UNLIMITED, 1));
	EXPECT_TRUE(peer_completed(peer, 0, IBV_WC_SUCCESS));
}

/* ---- a receiver that is not ready ---- */

/* Timer codes of table 46: 163.84 ms, 40.96 ms. */
#define RNR_LONG	28
#define RNR_LONG_MS	163
#define RNR_SHORT	24

TEST_F(peer, rnr_nak_is_honoured)
{
	struct peer *peer = &self->peer;
	int64_t naks = counters_get("resp_nak_rnr");
	int round;
	long said;

	ASSERT_TRUE(peer_post_sends(peer, 2));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 1));
	for (round = 0; round < 3; round++) {
		said = topo_now_ms();
		ASSERT_EQ(0, peer_ack(peer, PSN, RNR_NAK | RNR_LONG, 0));
		ASSERT_TRUE(counters_reach("resp_nak_rnr", naks + round + 1));
		peer_drain();
		/* Silence, and then what was refused again, alone. */
		ASSERT_TRUE(peer_hears(&self->heard, RC_SEND_ONLY, PSN));
		EXPECT_LE(RNR_LONG_MS, topo_now_ms() - said);
	}
	/* What is behind it waits until that was taken. */
	ASSERT_EQ(0, peer_ack(peer, PSN, ACK_UNLIMITED, 1));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 1));
	ASSERT_EQ(0, peer_ack(peer, PSN + 1, ACK_UNLIMITED, 2));
	EXPECT_TRUE(peer_completed(peer, 0, IBV_WC_SUCCESS));
	EXPECT_TRUE(peer_completed(peer, 1, IBV_WC_SUCCESS));
}

/* One attempt, and so many more. */
TEST_F(peer, rnr_retries_are_counted)
{
	struct peer *peer = &self->peer;
	int64_t naks;
	int round;

	self->attr.rnr_retry = 3;
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	naks = counters_get("resp_nak_rnr");
	ASSERT_TRUE(peer_post_sends(peer, 2));
	for (round = 1; round <= 3; round++) {
		ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
		ASSERT_EQ(0, peer_ack(peer, PSN, RNR_NAK | RNR_SHORT, 0));
		ASSERT_TRUE(counters_reach("resp_nak_rnr", naks + round));
		EXPECT_TRUE(peer_completed_nothing(peer));
		peer_drain();
	}
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
	ASSERT_EQ(0, peer_ack(peer, PSN, RNR_NAK | RNR_SHORT, 0));
	EXPECT_TRUE(peer_completed(peer, 0, IBV_WC_RNR_RETRY_EXC_ERR));
	EXPECT_TRUE(peer_completed(peer, 1, IBV_WC_WR_FLUSH_ERR));
	EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(peer->qp));
}

TEST_F(peer, seven_rnr_retries_are_without_end)
{
	struct peer *peer = &self->peer;
	int round;

	ASSERT_TRUE(peer_post_sends(peer, 1));
	for (round = 0; round < 12; round++) {
		ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
		ASSERT_EQ(0, peer_ack(peer, PSN, RNR_NAK | 1, 0));
	}
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
	ASSERT_EQ(0, peer_ack(peer, PSN, ACK_UNLIMITED, 1));
	EXPECT_TRUE(peer_completed(peer, 0, IBV_WC_SUCCESS));
}

/* ---- silence ---- */

TEST_F(peer, lost_acknowledge_is_asked_for_again)
{
	struct peer *peer = &self->peer;

	self->attr.timeout = 17;
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	ASSERT_TRUE(peer_post_sends(peer, 2));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 1));
	/* The first packet again, so both are missed. */
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
	EXPECT_TRUE(self->heard.ask);
	ASSERT_EQ(0, peer_ack(peer, PSN + 1, ACK_UNLIMITED, 2));
	EXPECT_TRUE(peer_completed(peer, 0, IBV_WC_SUCCESS));
	EXPECT_TRUE(peer_completed(peer, 1, IBV_WC_SUCCESS));
}

/*
 * 9.7.6.1.3: a timeout is seen no sooner than 4.096 us * 2^timeout, and no later
 * than four times that; it is the one after the last retry that ends it.
 */
TEST_F(peer, silence_ends_after_the_last_retry)
{
	static const long timeout_ms = 67;	/* 4.096 us * 2^14 */
	static const int tries = 3;
	struct peer *peer = &self->peer;
	int64_t retries;
	int heard = 0;
	long took;

	self->attr.timeout = 14;
	self->attr.retry_cnt = tries - 1;
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	retries = counters_get("timer_retry");
	took = topo_now_ms();
	ASSERT_TRUE(peer_post_sends(peer, 2));
	EXPECT_TRUE(peer_completed(peer, 0, IBV_WC_RETRY_EXC_ERR));
	took = topo_now_ms() - took;
	EXPECT_TRUE(peer_completed(peer, 1, IBV_WC_WR_FLUSH_ERR));
	EXPECT_TRUE(counters_reach("timer_retry", retries + tries - 1));
	EXPECT_LE(tries * timeout_ms, took);
	/* Our own clock may be late, on a machine that does other things. */
	EXPECT_GE(tries * 4 * timeout_ms + PEER_WAIT_MS / 2, took);
	while (!peer_hear(&self->heard, 0))
		heard += self->heard.psn == PSN;
	EXPECT_LE(tries, heard);
}

/* ---- credits (9.7.7.2) ---- */

TEST_F(peer, credits_limit_what_is_sent)
{
	struct peer *peer = &self->peer;

	ASSERT_EQ(0, peer_post(peer, IBV_WR_SEND, 0, 100));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
	/* One more receive. */
	ASSERT_EQ(0, peer_ack(peer, PSN, 1, 1));
	EXPECT_TRUE(peer_completed(peer, 0, IBV_WC_SUCCESS));
	peer_drain();
	ASSERT_EQ(0, peer_post(peer, IBV_WR_SEND, 1, 100));
	ASSERT_EQ(0, peer_post(peer, IBV_WR_SEND, 2, 3 * MTU));
	ASSERT_EQ(0, peer_post(peer, IBV_WR_SEND, 3, 100));
	EXPECT_TRUE(peer_sends_up_to(1));

	/* None left: one packet may go, to see. */
	ASSERT_EQ(0, peer_ack(peer, PSN + 1, 0, 2));
	EXPECT_TRUE(peer_completed(peer, 1, IBV_WC_SUCCESS));
	EXPECT_TRUE(peer_sends_up_to(2));
	/* It found one: the rest of the message may go. */
	ASSERT_EQ(0, peer_ack(peer, PSN + 2, 0, 2));
	EXPECT_TRUE(peer_sends_up_to(4));
	/* No limit any more. */
	ASSERT_EQ(0, peer_ack(peer, PSN + 4, ACK_UNLIMITED, 3));
	EXPECT_TRUE(peer_completed(peer, 2, IBV_WC_SUCCESS));
	ASSERT_EQ(0, peer_post(peer, IBV_WR_SEND, 4, 100));
	ASSERT_EQ(0, peer_post(peer, IBV_WR_SEND, 5, 100));
	EXPECT_TRUE(peer_sends_up_to(7));
	ASSERT_EQ(0, peer_ack(peer, PSN + 7, ACK_UNLIMITED, 6));
	EXPECT_TRUE(peer_completed(peer, 3, IBV_WC_SUCCESS));
	EXPECT_TRUE(peer_completed(peer, 4, IBV_WC_SUCCESS));
	EXPECT_TRUE(peer_completed(peer, 5, IBV_WC_SUCCESS));
}

/* Credits that come by themselves, in an acknowledge of what is known. */
TEST_F(peer, unsolicited_acknowledge_brings_credits)
{
	struct peer *peer = &self->peer;

	ASSERT_EQ(0, peer_post(peer, IBV_WR_SEND, 0, 100));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
	ASSERT_EQ(0, peer_ack(peer, PSN, 0, 1));
	EXPECT_TRUE(peer_completed(peer, 0, IBV_WC_SUCCESS));
	peer_drain();
	ASSERT_EQ(0, peer_post(peer, IBV_WR_SEND, 1, 100));
	ASSERT_EQ(0, peer_post(peer, IBV_WR_SEND, 2, 100));
	ASSERT_EQ(0, peer_post(peer, IBV_WR_SEND, 3, 100));
	EXPECT_TRUE(peer_sends_up_to(1));
	ASSERT_EQ(0, peer_ack(peer, PSN, 2, 1));
	EXPECT_TRUE(peer_sends_up_to(2));
	ASSERT_EQ(0, peer_ack(peer, PSN, 3, 1));
	EXPECT_TRUE(peer_sends_up_to(3));
	/* Writes need no receive. */
	ASSERT_EQ(0, peer_post(peer, IBV_WR_RDMA_WRITE, 4, 100));
	EXPECT_TRUE(peer_sends_up_to(4));
}

/* ---- congestion ---- */

TEST_F(peer, congestion_notification_slows_down_and_no_more)
{
	static const uint8_t reserved[16];
	struct peer_packet packet = {
		.opcode = CNP, .payload = reserved, .len = sizeof(reserved),
	};
	static const uint32_t len = 48 * MTU;
	struct peer *peer = &self->peer;
	int i;

	cm_fill(peer->buf, len, 5);
	ASSERT_EQ(0, peer_post(peer, IBV_WR_RDMA_WRITE, 1, len));
	for (i = 0; i < 48; i++) {
		ASSERT_TRUE(peer_awaits(&self->heard, i == 0 ? RC_WRITE_FIRST :
					i == 47 ? RC_WRITE_LAST :
					RC_WRITE_MIDDLE, PSN + i));
		EXPECT_EQ(0, memcmp(peer->buf + i * MTU, self->heard.payload,
				    MTU));
		packet.psn = PSN + i;
		ASSERT_EQ(0, peer_say(peer, &packet));
		if (self->heard.ask)
			ASSERT_EQ(0, peer_ack(peer, PSN + i, ACK_UNLIMITED,
					      i == 47));
	}
	EXPECT_TRUE(peer_completed(peer, 1, IBV_WC_SUCCESS));
}

TEST_HARNESS_MAIN
