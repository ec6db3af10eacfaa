// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A requester made of frames: what a QP answers to requests that are repeated,
 * lost, or no requests at all, packet by packet.
 */
#include "peer_fixture.h"

#include <endian.h>

#include "knobs.h"

#define IN	32768		/* where receives go; WRITEs stay below */

static bool post_recvs(struct peer *peer, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (peer_post_recv(peer, i, IN + i * MTU, MTU))
			return false;
	return true;
}

/* The next receive is this one, and holds the packet with this PSN. */
static bool received(struct peer *peer, uint64_t wr_id, uint32_t psn,
		     uint32_t len)
{
	struct ibv_wc wc;

	return ibv_poll_cq(peer->recv_cq, 1, &wc) == 1 && !wc.status &&
	       wc.wr_id == wr_id && wc.byte_len == len &&
	       cm_holds(peer->buf + IN + wr_id * MTU, len, psn);
}

static bool received_nothing(struct peer *peer)
{
	struct ibv_wc wc;

	return ibv_poll_cq(peer->recv_cq, 1, &wc) == 0;
}

/* ---- gaps (9.7.5.2) ---- */

TEST_F(peer, gap_is_answered_by_one_nak)
{
	struct peer *peer = &self->peer;
	int i;

	ASSERT_TRUE(post_recvs(peer, 8));
	for (i = 1; i <= 5; i++)
		ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN + i, 100));
	EXPECT_TRUE(peer_hears_ack(PSN, NAK_SEQUENCE));
	EXPECT_EQ(1, peer_said(peer));
	EXPECT_TRUE(received_nothing(peer));

	/* Closed: what was behind it need not come again. */
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN, 100));
	EXPECT_TRUE(peer_hears_count(PSN + 5, 6));
	for (i = 0; i <= 5; i++)
		EXPECT_TRUE(received(peer, i, PSN + i, 100));
	EXPECT_TRUE(received_nothing(peer));
	EXPECT_EQ(2, peer_said(peer));

	/* Open again: that is another gap. */
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN + 7, 100));
	EXPECT_TRUE(peer_hears_ack(PSN + 6, NAK_SEQUENCE));
	EXPECT_EQ(3, peer_said(peer));
	EXPECT_TRUE(received_nothing(peer));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN + 6, 100));
	EXPECT_TRUE(peer_hears_count(PSN + 7, 8));
	EXPECT_TRUE(received(peer, 6, PSN + 6, 100));
	EXPECT_TRUE(received(peer, 7, PSN + 7, 100));
}

/* As it does of a requester that goes back, and of a network that repeats. */
TEST_F(peer, what_is_held_is_executed_once)
{
	static const int order[] = { 3, 1, 3, 3, 2, 1 };
	struct peer *peer = &self->peer;
	struct peer_heard heard;
	unsigned int i;

	ASSERT_TRUE(post_recvs(peer, 8));
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN + order[i], 100));
	EXPECT_TRUE(received_nothing(peer));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN, 100));
	EXPECT_TRUE(peer_awaits(&heard, RC_ACK, PSN + 3));
	EXPECT_EQ(4, heard.msn);
	for (i = 0; i <= 3; i++)
		EXPECT_TRUE(received(peer, i, PSN + i, 100));
	EXPECT_TRUE(received_nothing(peer));
}

/* There is no receive for what was held: it comes again, as without a gap. */
TEST_F(peer, what_is_held_can_be_refused)
{
	struct peer *peer = &self->peer;
	int i;

	ASSERT_TRUE(post_recvs(peer, 2));
	for (i = 1; i <= 3; i++)
		ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN + i, 100));
	EXPECT_TRUE(peer_hears_ack(PSN, NAK_SEQUENCE));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN, 100));
	EXPECT_TRUE(peer_hears_ack(PSN + 2, RNR_NAK | 12));
	EXPECT_TRUE(received(peer, 0, PSN, 100));
	EXPECT_TRUE(received(peer, 1, PSN + 1, 100));
	ASSERT_TRUE(post_recvs(peer, 2));
	for (i = 2; i <= 3; i++) {
		ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN + i, 100));
		EXPECT_TRUE(peer_hears_count(PSN + i, 1 + i));
	}
}

/* READs and atomics as well, each in its place. */
TEST_F(peer, all_kinds_are_held)
{
	struct peer *peer = &self->peer;
	struct peer_heard heard;

	memset(peer->buf, 0, MTU);
	ASSERT_EQ(0, peer_atomic(peer, RC_FETCH_ADD, PSN + 1, 8, 5, 0));
	ASSERT_EQ(0, peer_rdma(peer, RC_READ, PSN + 2, 0, MTU, 0));
	ASSERT_EQ(0, peer_rdma(peer, RC_WRITE_ONLY, PSN + 3, MTU, 100, 100));
	EXPECT_TRUE(peer_hears_ack(PSN, NAK_SEQUENCE));
	EXPECT_EQ(0, *(uint64_t *)(peer->buf + 8));
	ASSERT_EQ(0, peer_rdma(peer, RC_WRITE_ONLY, PSN, 0, 4, 4));
	EXPECT_TRUE(peer_hears(&heard, RC_ATOMIC_ACK, PSN + 1));
	EXPECT_TRUE(peer_hears(&heard, RC_READ_RESP_ONLY, PSN + 2));
	EXPECT_TRUE(peer_hears_count(PSN + 3, 4));
	EXPECT_EQ(5, *(uint64_t *)(peer->buf + 8));
	EXPECT_TRUE(cm_holds(peer->buf + MTU, 100, PSN + 3));
}

/*
 * A packet that does not follow the one before it shows that the requester has
 * gone back, and that the first packet was lost once more. To be silent then
 * would leave the requester to its timeout.
 */
TEST_F(peer, packet_lost_twice_is_asked_for_twice)
{
	struct peer *peer = &self->peer;
	int i, round;

	ASSERT_TRUE(post_recvs(peer, 4));
	for (round = 1; round <= 3; round++) {
		for (i = 1; i <= 3; i++)
			ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN + i,
					       100));
		EXPECT_TRUE(peer_hears_ack(PSN, NAK_SEQUENCE));
		EXPECT_EQ(round, peer_said(peer));
	}
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN, 100));
	EXPECT_TRUE(peer_hears_count(PSN + 3, 4));
}

/* In the middle of a message, too; the part that is there counts. */
TEST_F(peer, gap_in_a_message)
{
	struct peer *peer = &self->peer;

	ASSERT_EQ(0, peer_rdma(peer, RC_WRITE_FIRST, PSN, 0, 3 * MTU, MTU));
	EXPECT_TRUE(peer_hears_count(PSN, 0));
	ASSERT_EQ(0, peer_send(peer, RC_WRITE_LAST, PSN + 2, MTU));
	EXPECT_TRUE(peer_hears_ack(PSN + 1, NAK_SEQUENCE));
	ASSERT_EQ(0, peer_send(peer, RC_WRITE_MIDDLE, PSN + 1, MTU));
	EXPECT_TRUE(peer_hears_count(PSN + 2, 1));
	EXPECT_TRUE(cm_holds(peer->buf, MTU, PSN));
	EXPECT_TRUE(cm_holds(peer->buf + MTU, MTU, PSN + 1));
	EXPECT_TRUE(cm_holds(peer->buf + 2 * MTU, MTU, PSN + 2));
}

/* ---- acknowledges ---- */

TEST_F(peer, one_acknowledge_for_many)
{
	struct peer_packet packet = {
		.opcode = RC_SEND_ONLY, .payload = "coalesced", .len = 9,
	};
	struct peer *peer = &self->peer;
	int i;

	ASSERT_TRUE(post_recvs(peer, 8));
	for (i = 0; i < 8; i++) {
		packet.psn = PSN + i;
		packet.ask = i == 7;
		ASSERT_EQ(0, peer_say(peer, &packet));
	}
	EXPECT_EQ(1, peer_said(peer));
	EXPECT_TRUE(peer_hears_count(PSN + 7, 8));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(1, ibv_poll_cq(peer->recv_cq, 1, &self->wc));
}

/* 9.7.1: 24 bits, and what is behind the turn is not older. */
TEST_F(peer, psns_wrap)
{
	static const uint32_t first = 0xfffffe;
	struct peer *peer = &self->peer;
	uint32_t i;

	self->attr.psn = first;
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	ASSERT_TRUE(post_recvs(peer, 4));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, first + i, 100));
		EXPECT_TRUE(peer_hears_count(first + i, i + 1));
		EXPECT_TRUE(received(peer, i, first + i, 100));
	}
	/* From in front of the turn: again. From behind a gap: too early. */
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, first, 100));
	EXPECT_TRUE(peer_hears_count(first + 3, 4));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, first + 5, 100));
	EXPECT_TRUE(peer_hears_ack(2, NAK_SEQUENCE));
	EXPECT_TRUE(received_nothing(peer));
}

TEST_F(peer, read_across_the_turn_of_the_psns)
{
	static const uint32_t first = 0xffffff;
	static const uint8_t opcodes[] = {
		RC_READ_RESP_FIRST, RC_READ_RESP_MIDDLE, RC_READ_RESP_LAST,
	};
	struct peer *peer = &self->peer;
	int i, round;

	self->attr.psn = first;
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	for (round = 0; round < 2; round++) {
		ASSERT_EQ(0, peer_rdma(peer, RC_READ, first, 0, 3 * MTU, 0));
		for (i = 0; i < 3; i++) {
			EXPECT_TRUE(peer_hears(&self->heard, opcodes[i],
					       first + i));
			EXPECT_EQ(0, memcmp(peer->buf + i * MTU,
					    self->heard.payload, MTU));
		}
	}
	/* The rest of it, which begins behind the turn. */
	ASSERT_EQ(0, peer_rdma(peer, RC_READ, first + 1, MTU, 2 * MTU, 0));
	EXPECT_TRUE(peer_hears(&self->heard, RC_READ_RESP_FIRST, 0));
	EXPECT_TRUE(peer_hears(&self->heard, RC_READ_RESP_LAST, 1));
	EXPECT_EQ(8, peer_said(peer));
}

/* ---- repetitions (9.7.5.1) ---- */

TEST_F(peer, read_again_is_executed_again)
{
	struct peer *peer = &self->peer;
	struct peer_heard *heard = &self->heard;
	int round;

	for (round = 0; round < 3; round++) {
		cm_fill(peer->buf, 3000, 40 + round);
		ASSERT_EQ(0, peer_rdma(peer, RC_READ, PSN, 0, 3000, 0));
		EXPECT_TRUE(peer_hears(heard, RC_READ_RESP_FIRST, PSN));
		EXPECT_EQ(MTU, heard->len);
		EXPECT_EQ(0, memcmp(peer->buf, heard->payload, MTU));
		EXPECT_EQ(1, heard->msn);
		EXPECT_TRUE(peer_hears(heard, RC_READ_RESP_MIDDLE, PSN + 1));
		EXPECT_EQ(MTU, heard->len);
		EXPECT_EQ(0, memcmp(peer->buf + MTU, heard->payload, MTU));
		EXPECT_TRUE(peer_hears(heard, RC_READ_RESP_LAST, PSN + 2));
		EXPECT_EQ(3000 - 2 * MTU, heard->len);
		EXPECT_EQ(0, memcmp(peer->buf + 2 * MTU, heard->payload,
				    3000 - 2 * MTU));
		EXPECT_EQ(1, heard->msn);
	}
	EXPECT_EQ(9, peer_said(peer));
}

TEST_F(peer, part_of_a_read_again)
{
	struct peer *peer = &self->peer;
	struct peer_heard *heard = &self->heard;

	ASSERT_EQ(0, peer_rdma(peer, RC_READ, PSN, 0, 3000, 0));
	EXPECT_TRUE(peer_awaits(heard, RC_READ_RESP_LAST, PSN + 2));

	cm_fill(peer->buf, 3000, 50);
	ASSERT_EQ(0, peer_rdma(peer, RC_READ, PSN + 1, MTU, 3000 - MTU, 0));
	EXPECT_TRUE(peer_hears(heard, RC_READ_RESP_FIRST, PSN + 1));
	EXPECT_EQ(0, memcmp(peer->buf + MTU, heard->payload, MTU));
	EXPECT_TRUE(peer_hears(heard, RC_READ_RESP_LAST, PSN + 2));
	EXPECT_EQ(3000 - 2 * MTU, heard->len);
	EXPECT_EQ(0, memcmp(peer->buf + 2 * MTU, heard->payload, heard->len));

	ASSERT_EQ(0, peer_rdma(peer, RC_READ, PSN + 2, 2 * MTU, 3000 - 2 * MTU,
			       0));
	EXPECT_TRUE(peer_hears(heard, RC_READ_RESP_ONLY, PSN + 2));
	EXPECT_EQ(0, memcmp(peer->buf + 2 * MTU, heard->payload, heard->len));

	/* The next request is the one behind all of it. */
	ASSERT_EQ(0, peer_rdma(peer, RC_READ, PSN + 3, 100, 8, 0));
	EXPECT_TRUE(peer_hears(heard, RC_READ_RESP_ONLY, PSN + 3));
	EXPECT_EQ(2, heard->msn);
}

TEST_F(peer, write_and_send_again_are_acknowledged_and_not_executed)
{
	struct peer *peer = &self->peer;

	ASSERT_TRUE(post_recvs(peer, 2));
	ASSERT_EQ(0, peer_rdma(peer, RC_WRITE_ONLY, PSN, 0, 500, 500));
	EXPECT_TRUE(peer_hears_count(PSN, 1));
	EXPECT_TRUE(cm_holds(peer->buf, 500, PSN));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN + 1, 500));
	EXPECT_TRUE(peer_hears_count(PSN + 1, 2));
	EXPECT_TRUE(received(peer, 0, PSN + 1, 500));

	memset(peer->buf, 0xaa, PEER_BUF);
	ASSERT_EQ(0, peer_rdma(peer, RC_WRITE_ONLY, PSN, 0, 500, 500));
	EXPECT_TRUE(peer_hears_count(PSN + 1, 2));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN + 1, 500));
	EXPECT_TRUE(peer_hears_count(PSN + 1, 2));
	EXPECT_TRUE(cm_is_all(peer->buf, PEER_BUF, 0xaa));
	EXPECT_TRUE(received_nothing(peer));

	/* The second receive is still there. */
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN + 2, 500));
	EXPECT_TRUE(received(peer, 1, PSN + 2, 500));
}

TEST_F(peer, atomic_again_is_answered_from_the_record)
{
	struct peer *peer = &self->peer;
	uint64_t *word = (uint64_t *)peer->buf;
	struct peer_heard *heard = &self->heard;
	int i;

	*word = 1000;
	ASSERT_EQ(0, peer_atomic(peer, RC_FETCH_ADD, PSN, 0, 5, 0));
	EXPECT_TRUE(peer_hears(heard, RC_ATOMIC_ACK, PSN));
	EXPECT_EQ(1000, heard->orig);
	ASSERT_EQ(0, peer_atomic(peer, RC_CMP_SWAP, PSN + 1, 0, 77, 1005));
	EXPECT_TRUE(peer_hears(heard, RC_ATOMIC_ACK, PSN + 1));
	EXPECT_EQ(1005, heard->orig);
	EXPECT_EQ(77, *word);

	*word = 1005;
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, peer_atomic(peer, RC_FETCH_ADD, PSN, 0, 5, 0));
		EXPECT_TRUE(peer_hears(heard, RC_ATOMIC_ACK, PSN));
		EXPECT_EQ(1000, heard->orig);
		ASSERT_EQ(0, peer_atomic(peer, RC_CMP_SWAP, PSN + 1, 0, 77,
					 1005));
		EXPECT_TRUE(peer_hears(heard, RC_ATOMIC_ACK, PSN + 1));
		EXPECT_EQ(1005, heard->orig);
	}
	EXPECT_EQ(1005, *word);
}

/* As many answers are kept as were agreed upon, and no more. */
TEST_F(peer, answers_are_kept_for_as_many_as_were_agreed_upon)
{
	int64_t old = counters_get("req_drop_old");
	struct peer *peer = &self->peer;
	uint64_t *word = (uint64_t *)peer->buf;
	uint32_t i;

	*word = 0;
	for (i = 0; i <= self->attr.rd_atomic; i++) {
		ASSERT_EQ(0, peer_atomic(peer, RC_FETCH_ADD, PSN + i, 0, 1, 0));
		EXPECT_TRUE(peer_hears(&self->heard, RC_ATOMIC_ACK, PSN + i));
	}
	for (i = 0; i <= self->attr.rd_atomic; i++)
		ASSERT_EQ(0, peer_atomic(peer, RC_FETCH_ADD, PSN + i, 0, 1, 0));
	EXPECT_EQ(old + 1, counters_get("req_drop_old"));
	for (i = 1; i <= self->attr.rd_atomic; i++) {
		EXPECT_TRUE(peer_hears(&self->heard, RC_ATOMIC_ACK, PSN + i));
		EXPECT_EQ(i, self->heard.orig);
	}
	EXPECT_EQ(self->attr.rd_atomic + 1, *word);
}

/* ---- no receive (9.7.5.2.8) ---- */

TEST_F(peer, no_receive_is_answered_by_rnr_nak)
{
	struct peer *peer = &self->peer;
	int i;

	self->attr.min_rnr_timer = 23;
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, peer_send(peer, RC_SEND_FIRST, PSN, MTU));
		EXPECT_TRUE(peer_hears_ack(PSN, RNR_NAK | 23));
		/* What follows is dropped, and nothing said of it. */
		ASSERT_EQ(0, peer_send(peer, RC_SEND_LAST, PSN + 1, 10));
		ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN + 2, 10));
	}
	EXPECT_EQ(3, peer_said(peer));
	ASSERT_EQ(0, peer_post_recv(peer, 0, IN, 2 * MTU));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_FIRST, PSN, MTU));
	EXPECT_TRUE(peer_hears_count(PSN, 0));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_LAST, PSN + 1, 10));
	EXPECT_TRUE(peer_hears_count(PSN + 1, 1));
	EXPECT_EQ(1, ibv_poll_cq(peer->recv_cq, 1, &self->wc));
	EXPECT_EQ(MTU + 10, self->wc.byte_len);
	EXPECT_TRUE(cm_holds(peer->buf + IN, MTU, PSN));
	EXPECT_TRUE(cm_holds(peer->buf + IN + MTU, 10, PSN + 1));
}

/* The receive comes behind the packets: at once, unless somebody else runs. */
static int post_late(struct peer *peer)
{
	return peer_send(peer, RC_SEND_FIRST, PSN, MTU) ?:
	       peer_send(peer, RC_SEND_LAST, PSN + 1, 10) ?:
	       peer_post_recv(peer, 0, IN, 2 * MTU);
}

static bool is_rnr_nak(const struct peer_heard *heard)
{
	return heard->opcode == RC_ACK && heard->psn == PSN &&
	       (heard->syndrome & 0xe0) == RNR_NAK;
}

/*
 * The program is about to post. If it is slow, the test begins anew. What waits is
 * counted when it is taken, and once.
 */
TEST_F(peer, no_receive_for_a_moment_is_no_rnr_nak)
{
	struct peer *peer = &self->peer;
	int64_t waited, sends, packets;
	int tries = 1000;

	for (;;) {
		waited = counters_get("req_waited");
		sends = counters_get("req_send");
		packets = counters_get("rx_packets");
		ASSERT_EQ(0, post_late(peer));
		ASSERT_EQ(0, peer_hear(&self->heard, PEER_WAIT_MS));
		if (!is_rnr_nak(&self->heard))
			break;
		ASSERT_NE(0, --tries);
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	}
	EXPECT_EQ(RC_ACK, self->heard.opcode);
	EXPECT_EQ(0, self->heard.syndrome & 0xe0);
	EXPECT_EQ(PSN + 1, self->heard.psn);
	EXPECT_EQ(1, self->heard.msn);
	EXPECT_EQ(1, ibv_poll_cq(peer->recv_cq, 1, &self->wc));
	EXPECT_EQ(MTU + 10, self->wc.byte_len);
	EXPECT_TRUE(cm_holds(peer->buf + IN, MTU, PSN));
	EXPECT_TRUE(cm_holds(peer->buf + IN + MTU, 10, PSN + 1));
	EXPECT_EQ(waited + 1, counters_get("req_waited"));
	EXPECT_EQ(sends + 2, counters_get("req_send"));
	EXPECT_EQ(packets + 2, counters_get("rx_packets"));
}

/* What waits is forgotten with the QP; so is that it has waited. */
TEST_F(peer, reset_forgets_what_waits)
{
	bool longer = knob_exists("linger");
	struct peer *peer = &self->peer;
	int i;

	/* What could be over before, elsewhere, is not there. */
	if (longer)
		ASSERT_EQ(0, knob_turn("linger", true));
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, peer_send(peer, RC_SEND_FIRST, PSN, MTU));
		ASSERT_EQ(0, peer_send(peer, RC_SEND_LAST, PSN + 1, 10));
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	}
	while (!peer_hear(&self->heard, 10))
		EXPECT_TRUE(is_rnr_nak(&self->heard));
	ASSERT_EQ(0, peer_post_recv(peer, 0, IN, 2 * MTU));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN, 10));
	EXPECT_TRUE(peer_hears_count(PSN, 1));
	EXPECT_EQ(1, ibv_poll_cq(peer->recv_cq, 1, &self->wc));
	EXPECT_EQ(10, self->wc.byte_len);
	/* So does the end of the QP, which follows. */
	EXPECT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN + 1, 10));
	if (longer)
		EXPECT_EQ(0, knob_turn("linger", false));
}

/* It is the last packet that takes the receive: what is before it counts. */
TEST_F(peer, write_with_immediate_data_waits_for_a_receive)
{
	struct peer *peer = &self->peer;

	ASSERT_EQ(0, peer_rdma(peer, RC_WRITE_FIRST, PSN, 0, MTU + 8, MTU));
	EXPECT_TRUE(peer_hears_count(PSN, 0));
	ASSERT_EQ(0, peer_send(peer, RC_WRITE_LAST_IMM, PSN + 1, 8));
	EXPECT_TRUE(peer_hears_ack(PSN + 1, RNR_NAK | 12));
	ASSERT_TRUE(post_recvs(peer, 1));
	ASSERT_EQ(0, peer_send(peer, RC_WRITE_LAST_IMM, PSN + 1, 8));
	EXPECT_TRUE(peer_hears_count(PSN + 1, 1));
	EXPECT_EQ(1, ibv_poll_cq(peer->recv_cq, 1, &self->wc));
	EXPECT_EQ(IBV_WC_RECV_RDMA_WITH_IMM, self->wc.opcode);
	EXPECT_EQ(htobe32(PSN + 1), self->wc.imm_data);
	EXPECT_EQ(MTU + 8, self->wc.byte_len);
	EXPECT_TRUE(cm_holds(peer->buf, MTU, PSN));
	EXPECT_TRUE(cm_holds(peer->buf + MTU, 8, PSN + 1));
}

/* ---- what changes nothing ---- */

static bool is_request(int opcode)
{
	return opcode <= RC_READ || opcode == RC_CMP_SWAP ||
	       opcode == RC_FETCH_ADD || opcode == 0x16 || opcode == 0x17 ||
	       opcode == 0x1c || opcode == RC_ATOMIC_WRITE;
}

/* Those of nobody, of other transports, and responses to what was not asked. */
TEST_F(peer, opcodes_that_are_no_request_change_nothing)
{
	static const uint8_t payload[64] = { 1, 2, 3 };
	struct peer *peer = &self->peer;
	struct peer_packet packet = {
		.psn = PSN, .ask = true, .payload = payload,
	};

	ASSERT_TRUE(post_recvs(peer, 1));
	memset(peer->buf, 0x33, PEER_BUF);
	for (packet.len = 0; packet.len <= 64; packet.len += 8) {
		int opcode;

		for (opcode = 0; opcode < 256; opcode++) {
			packet.opcode = opcode;
			if (!is_request(opcode))
				ASSERT_EQ(0, peer_say(peer, &packet));
		}
	}
	EXPECT_EQ(0, peer_said(peer));
	EXPECT_EQ(IBV_QPS_RTS, verbs_qp_state(peer->qp));
	EXPECT_TRUE(received_nothing(peer));
	EXPECT_TRUE(cm_is_all(peer->buf, PEER_BUF, 0x33));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN, 100));
	EXPECT_TRUE(peer_hears_count(PSN, 1));
	EXPECT_TRUE(received(peer, 0, PSN, 100));
}

/* Annex A17.9.3: BTH and 16 reserved bytes, to the QP that sends too fast. */
TEST_F(peer, congestion_notifications_are_tolerated)
{
	static const struct {
		const char *counter;
		size_t len;
		bool is_stranger;
	} cases[] = {
		{ "rx_packets", 16 }, { "rx_drop_unknown_qp", 16, true },
		{ "rx_drop_short", 0 }, { "rx_drop_short", 12 },
		{ "rx_drop_length", 20 }, { "rx_drop_length", 1024 },
	};
	static const uint8_t payload[1024];
	struct peer *peer = &self->peer;
	int64_t before;
	size_t i;

	ASSERT_TRUE(post_recvs(peer, 1));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct peer_packet packet = {
			.opcode = CNP, .psn = PSN + 0x1000 * i,
			.payload = payload, .len = cases[i].len,
		};

		if (cases[i].is_stranger)
			packet.qpn = 0xfffffe;
		before = counters_get(cases[i].counter);
		ASSERT_EQ(0, peer_say(peer, &packet));
		EXPECT_EQ(before + 1, counters_get(cases[i].counter)) {
			TH_LOG("case %zu", i);
		}
	}
	EXPECT_EQ(0, peer_said(peer));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN, 100));
	EXPECT_TRUE(peer_hears_count(PSN, 1));
	EXPECT_TRUE(received(peer, 0, PSN, 100));
}

/* A QP without a second path is always migrated, and takes both (17.2.8). */
TEST_F(peer, either_migration_state_is_accepted)
{
	struct peer_packet packet = {
		.opcode = RC_SEND_ONLY, .ask = true, .payload = "migrated",
		.len = 8,
	};
	struct peer *peer = &self->peer;
	int i;

	ASSERT_TRUE(post_recvs(peer, 2));
	for (i = 0; i < 2; i++) {
		packet.psn = PSN + i;
		packet.not_migrated = i;
		ASSERT_EQ(0, peer_say(peer, &packet));
		EXPECT_TRUE(peer_hears(&self->heard, RC_ACK, PSN + i));
		EXPECT_EQ(i + 1, self->heard.msn);
		EXPECT_TRUE(self->heard.migrated);
	}
}

/* ---- events ---- */

static bool notified(struct peer *peer)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(peer->channel, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	return true;
}

/* 11.4.2.2: who waits for solicited completions is woken by the SE bit. */
TEST_F(peer, solicited_event_bit_wakes)
{
	struct peer_packet packet = {
		.opcode = RC_SEND_ONLY, .psn = PSN, .ask = true,
		.payload = "wake up", .len = 7,
	};
	struct peer *peer = &self->peer;

	ASSERT_TRUE(post_recvs(peer, 3));
	ASSERT_EQ(0, ibv_req_notify_cq(peer->recv_cq, 1));
	ASSERT_EQ(0, peer_say(peer, &packet));
	EXPECT_TRUE(peer_hears_count(PSN, 1));
	EXPECT_FALSE(notified(peer));
	/* On a WRITE without immediate data nothing completes. */
	ASSERT_EQ(0, peer_rdma(peer, RC_WRITE_ONLY, PSN + 1, 0, 8, 8));
	EXPECT_FALSE(notified(peer));

	packet.psn = PSN + 2;
	packet.solicited = true;
	ASSERT_EQ(0, peer_say(peer, &packet));
	EXPECT_TRUE(notified(peer));
}

TEST_HARNESS_MAIN
