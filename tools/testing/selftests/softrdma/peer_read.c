// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A responder made of frames: what a QP does about the answers to its READs and
 * atomics, also those that are missing, repeated or wrong, packet by packet.
 */
#include "peer_fixture.h"

/* ---- READs ---- */

static uint8_t data[4 * MTU];

/* One packet of the response to a READ of @len bytes that began at PSN. */
static int answer(struct peer *peer, uint8_t opcode, uint32_t at, uint32_t len)
{
	uint32_t left = len - at * MTU;

	cm_fill(data, sizeof(data), 9);
	return peer_read_response(peer, opcode, PSN + at, data + at * MTU,
				  left < MTU ? left : MTU);
}

/* All of what was asked for is in its place, and nothing is behind it. */
static bool was_read(struct peer *peer, uint32_t len)
{
	return peer_completed(peer, 1, IBV_WC_SUCCESS) &&
	       cm_holds(peer->buf, len, 9) &&
	       cm_is_all(peer->buf + len, PEER_BUF - len, 0x33);
}

/* A READ that the peer has heard. */
static bool post_read(struct peer *peer, struct peer_heard *heard, uint32_t len)
{
	memset(peer->buf, 0x33, PEER_BUF);
	return !peer_post(peer, IBV_WR_RDMA_READ, 1, len) &&
	       peer_awaits(heard, RC_READ, PSN) && heard->va == PEER_FAR &&
	       heard->dma_len == len;
}

TEST_F(peer, read)
{
	static const uint32_t len = 2 * MTU + 5;
	struct peer *peer = &self->peer;

	ASSERT_TRUE(post_read(peer, &self->heard, len));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_FIRST, 0, len));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_MIDDLE, 1, len));
	EXPECT_TRUE(peer_completed_nothing(peer));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_LAST, 2, len));
	EXPECT_TRUE(was_read(peer, len));
}

/*
 * A READ of which the answer lacks the packet @at; does it ask for that alone? Had this
 * end been slow, a probe has asked for all that had not come by then.
 */
static bool hole_is_asked_for(struct peer *peer, struct peer_heard *heard,
			      uint32_t len, uint32_t at)
{
	uint32_t last = (len - 1) / MTU, i;

	if (!post_read(peer, heard, len))
		return false;
	peer_drain();
	for (i = 0; i <= last; i++)
		if (i != at &&
		    answer(peer, !i ? RC_READ_RESP_FIRST :
			   i == last ? RC_READ_RESP_LAST : RC_READ_RESP_MIDDLE,
			   i, len))
			return false;
	do {
		if (!peer_awaits(heard, RC_READ, PSN + at))
			return false;
	} while (heard->dma_len == len - at * MTU);
	return heard->va == PEER_FAR + at * MTU && heard->dma_len == MTU;
}

/* What is behind the hole is in its place already (9.7.5.1). */
TEST_F(peer, hole_in_read_data_is_asked_for)
{
	static const uint32_t len = 3 * MTU + 5;
	struct peer *peer = &self->peer;

	ASSERT_TRUE(hole_is_asked_for(peer, &self->heard, len, 1));
	EXPECT_TRUE(cm_is_all(peer->buf + MTU, MTU, 0x33));
	EXPECT_EQ(0, memcmp(peer->buf + 2 * MTU, data + 2 * MTU, MTU + 5));
	EXPECT_TRUE(peer_completed_nothing(peer));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_ONLY, 1, len));
	EXPECT_TRUE(was_read(peer, len));
}

TEST_F(peer, lost_beginning_of_read_data_is_asked_for)
{
	static const uint32_t len = 2 * MTU;
	struct peer *peer = &self->peer;

	ASSERT_TRUE(hole_is_asked_for(peer, &self->heard, len, 0));
	EXPECT_TRUE(cm_is_all(peer->buf, MTU, 0x33));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_ONLY, 0, len));
	EXPECT_TRUE(was_read(peer, len));
}

/* Some answer a part as if it were the rest of the first answer. */
TEST_F(peer, part_of_read_data_may_be_called_the_last)
{
	static const uint32_t len = 4 * MTU;
	struct peer *peer = &self->peer;

	ASSERT_TRUE(hole_is_asked_for(peer, &self->heard, len, 1));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_LAST, 1, len));
	EXPECT_TRUE(was_read(peer, len));
}

/* And some repeat all of it. */
TEST_F(peer, all_of_read_data_may_be_repeated)
{
	static const uint32_t len = 3 * MTU;
	struct peer *peer = &self->peer;

	ASSERT_TRUE(hole_is_asked_for(peer, &self->heard, len, 1));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_FIRST, 1, len));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_LAST, 2, len));
	EXPECT_TRUE(was_read(peer, len));
}

/* An acknowledge has no data; one of a later request says they are lost. */
TEST_F(peer, acknowledge_is_no_answer_to_a_read)
{
	struct peer *peer = &self->peer;

	ASSERT_TRUE(post_read(peer, &self->heard, 100));
	ASSERT_EQ(0, peer_ack(peer, PSN, ACK_UNLIMITED, 1));
	EXPECT_TRUE(peer_completed_nothing(peer));
	ASSERT_EQ(0, peer_post(peer, IBV_WR_RDMA_WRITE, 2, 0));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_WRITE_ONLY, PSN + 1));
	peer_drain();
	ASSERT_EQ(0, peer_ack(peer, PSN + 1, ACK_UNLIMITED, 2));
	EXPECT_TRUE(peer_completed_nothing(peer));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_READ, PSN));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_ONLY, 0, 100));
	EXPECT_TRUE(was_read(peer, 100));
	EXPECT_TRUE(peer_completed(peer, 2, IBV_WC_SUCCESS));
}

TEST_F(peer, answers_of_strangers_are_not_heard)
{
	static const uint8_t lie[104] = { 0x1f };
	struct peer_packet packet = {
		.opcode = RC_READ_RESP_ONLY, .psn = PSN, .is_stranger = true,
		.payload = lie, .len = sizeof(lie),
	};
	int64_t dropped = counters_get("rx_drop_source");
	struct peer *peer = &self->peer;

	ASSERT_TRUE(post_read(peer, &self->heard, 100));
	ASSERT_EQ(0, peer_say(peer, &packet));
	EXPECT_TRUE(counters_reach("rx_drop_source", dropped + 1));
	EXPECT_TRUE(peer_completed_nothing(peer));
	EXPECT_TRUE(cm_is_all(peer->buf, PEER_BUF, 0x33));
	/* It is still asked for. */
	peer_drain();
	ASSERT_TRUE(peer_awaits(&self->heard, RC_READ, PSN));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_ONLY, 0, 100));
	EXPECT_TRUE(was_read(peer, 100));
}

TEST_F(peer, read_data_of_the_wrong_length)
{
	static const struct {
		uint32_t asked;
		uint8_t opcode;
		uint32_t len;
	} wrong[] = {
		{ 100, RC_READ_RESP_ONLY, 99 }, { 100, RC_READ_RESP_ONLY, 101 },
		{ 100, RC_READ_RESP_ONLY, 0 }, { 0, RC_READ_RESP_ONLY, 1 },
		{ 3000, RC_READ_RESP_FIRST, MTU / 2 },
		{ 3000, RC_READ_RESP_FIRST, 2 * MTU },
		{ 3000, RC_READ_RESP_ONLY, 3000 },
	};
	struct peer *peer = &self->peer;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		ASSERT_TRUE(post_read(peer, &self->heard, wrong[i].asked));
		ASSERT_EQ(0, peer_read_response(peer, wrong[i].opcode, PSN,
						data, wrong[i].len));
		EXPECT_TRUE(peer_completed(peer, 1, IBV_WC_BAD_RESP_ERR)) {
			TH_LOG("case %zu", i);
		}
		EXPECT_TRUE(cm_is_all(peer->buf, PEER_BUF, 0x33));
	}
}

/* Such as neither a first answer nor a repetition would have (9.7.5.1). */
TEST_F(peer, read_data_with_the_wrong_opcode)
{
	static const struct {
		uint8_t opcode;
		uint32_t at;
	} wrong[] = {
		{ RC_READ_RESP_MIDDLE, 0 }, { RC_READ_RESP_LAST, 0 },
		{ RC_READ_RESP_ONLY, 0 }, { RC_READ_RESP_LAST, 1 },
		{ RC_READ_RESP_ONLY, 1 }, { RC_READ_RESP_MIDDLE, 2 },
		{ RC_READ_RESP_FIRST, 2 },
	};
	static const uint32_t len = 3 * MTU;
	struct peer *peer = &self->peer;
	uint32_t at;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		ASSERT_TRUE(post_read(peer, &self->heard, len));
		for (at = 0; at < wrong[i].at; at++)
			ASSERT_EQ(0, answer(peer, at ? RC_READ_RESP_MIDDLE :
					    RC_READ_RESP_FIRST, at, len));
		ASSERT_EQ(0, answer(peer, wrong[i].opcode, at, len));
		EXPECT_TRUE(peer_completed(peer, 1, IBV_WC_BAD_RESP_ERR)) {
			TH_LOG("case %zu", i);
		}
		EXPECT_TRUE(cm_is_all(peer->buf + at * MTU,
				      PEER_BUF - at * MTU, 0x33));
	}
}

/* Some peers begin a repetition with FIRST, others go on as if it were none. */
TEST_F(peer, repeated_read_data_with_either_opcode)
{
	static const uint8_t opcodes[] = {
		RC_READ_RESP_FIRST, RC_READ_RESP_MIDDLE,
	};
	static const uint32_t len = 3 * MTU;
	struct peer *peer = &self->peer;
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		ASSERT_TRUE(post_read(peer, &self->heard, len));
		ASSERT_EQ(0, answer(peer, RC_READ_RESP_FIRST, 0, len));
		ASSERT_EQ(0, answer(peer, RC_READ_RESP_LAST, 2, len));
		ASSERT_TRUE(peer_awaits(&self->heard, RC_READ, PSN + 1));
		ASSERT_EQ(0, answer(peer, opcodes[i], 1, len));
		ASSERT_EQ(0, answer(peer, RC_READ_RESP_LAST, 2, len));
		EXPECT_TRUE(was_read(peer, len));
	}
}

/* ---- atomics, and answers to another question ---- */

TEST_F(peer, atomic_is_answered)
{
	struct peer *peer = &self->peer;
	uint64_t result;

	ASSERT_EQ(0, peer_post(peer, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 8));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_FETCH_ADD, PSN));
	EXPECT_EQ(PEER_FAR, self->heard.va);
	ASSERT_EQ(0, peer_atomic_ack(peer, PSN, 0x0123456789abcdefull));
	EXPECT_TRUE(peer_completed(peer, 1, IBV_WC_SUCCESS));
	memcpy(&result, peer->buf, sizeof(result));
	EXPECT_EQ(0x0123456789abcdefull, result);
	/* Once more with something else: it is done with. */
	ASSERT_EQ(0, peer_atomic_ack(peer, PSN, 1));
	memcpy(&result, peer->buf, sizeof(result));
	EXPECT_EQ(0x0123456789abcdefull, result);
}

TEST_F(peer, answers_to_another_question)
{
	static const struct {
		enum ibv_wr_opcode asked;
		bool is_atomic;
	} cases[] = {
		{ IBV_WR_SEND, false }, { IBV_WR_SEND, true },
		{ IBV_WR_RDMA_WRITE, false }, { IBV_WR_RDMA_WRITE, true },
		{ IBV_WR_RDMA_READ, true },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, false },
	};
	struct peer *peer = &self->peer;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(peer->buf, 0x33, PEER_BUF);
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		ASSERT_EQ(0, peer_post(peer, cases[i].asked, 1, 8));
		if (cases[i].is_atomic)
			EXPECT_EQ(0, peer_atomic_ack(peer, PSN, 1));
		if (!cases[i].is_atomic)
			EXPECT_EQ(0, peer_read_response(peer, RC_READ_RESP_ONLY,
							PSN, data, 8));
		EXPECT_TRUE(peer_completed(peer, 1, IBV_WC_BAD_RESP_ERR)) {
			TH_LOG("case %zu", i);
		}
		EXPECT_TRUE(cm_is_all(peer->buf, PEER_BUF, 0x33));
		EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(peer->qp));
	}
}

/* 10.7.2.5: not more outstanding than the peer has said it can take. */
TEST_F(peer, reads_outstanding_are_limited)
{
	struct peer *peer = &self->peer;
	int i;

	self->attr.rd_atomic = 2;
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, peer_post(peer, IBV_WR_RDMA_READ, i, 8));
	EXPECT_TRUE(peer_sends_up_to(1));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, peer_read_response(peer, RC_READ_RESP_ONLY,
						PSN + i, data, 8));
		EXPECT_TRUE(peer_completed(peer, i, IBV_WC_SUCCESS));
		if (i < 3)
			EXPECT_TRUE(peer_sends_up_to(i + 2));
	}
}

TEST_HARNESS_MAIN
