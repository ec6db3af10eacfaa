// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A responder made of frames: what a QP does about responses that are late,
 * missing, repeated or wrong, packet by packet.
 */
#include "peer_fixture.h"

/* Memory of the peer, of which there is nothing but its address. */
#define FAR	0x1122334455000000ull
#define FAR_KEY	0x778899

/* Of or into the QP's memory at offset 0; 0 or errno. */
static int post(struct peer *peer, enum ibv_wr_opcode opcode, uint64_t wr_id,
		uint32_t len)
{
	struct ibv_sge sge = {
		(uintptr_t)peer->buf, len, peer->mr->lkey
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
	};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = FAR;
		wr.wr.atomic.rkey = FAR_KEY;
	} else {
		wr.wr.rdma.remote_addr = FAR;
		wr.wr.rdma.rkey = FAR_KEY;
	}
	return ibv_post_send(peer->qp, &wr, &bad);
}

static bool post_sends(struct peer *peer, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (post(peer, IBV_WR_SEND, i, 100))
			return false;
	return true;
}

/* Forgets what has been heard up to now. */
static void drain(void)
{
	struct peer_heard heard;

	while (!peer_hear(&heard, 0))
		;
}

/* Does the QP send up to this packet, counted from PSN, and nothing behind? */
static bool sends_up_to(uint32_t last)
{
	struct peer_heard heard;
	uint32_t at = 0, most = 0;

	while (at != last && !peer_hear(&heard, PEER_WAIT_MS)) {
		at = (heard.psn - PSN) & 0xffffff;
		most = at > most ? at : most;
	}
	while (!peer_hear(&heard, 0)) {
		at = (heard.psn - PSN) & 0xffffff;
		most = at > most ? at : most;
	}
	return most == last;
}

/* Does the counter get there, and no further? A timer may hold the QP busy. */
static bool counts_up_to(const char *name, int64_t value)
{
	long end = topo_now_ms() + PEER_WAIT_MS;

	while (counters_get(name) < value && topo_now_ms() < end)
		;
	return counters_get(name) == value;
}

static bool completed(struct peer *peer, uint64_t wr_id,
		      enum ibv_wc_status status)
{
	struct ibv_wc wc;

	if (!peer_completes(peer->set.cq, &wc))
		return false;
	if (wc.wr_id == wr_id && wc.status == status)
		return true;
	fprintf(stderr, "# request %lu: %s\n", (unsigned long)wc.wr_id,
		ibv_wc_status_str(wc.status));
	return false;
}

static bool completed_nothing(struct peer *peer)
{
	struct ibv_wc wc;

	return ibv_poll_cq(peer->set.cq, 1, &wc) == 0;
}

/* ---- requests ---- */

TEST_F(peer, message_of_many_packets)
{
	static const uint32_t len = 4 * MTU + 7;
	struct peer *peer = &self->peer;
	struct peer_heard *heard = &self->heard;
	int i;

	cm_fill(peer->buf, len, 3);
	ASSERT_EQ(0, post(peer, IBV_WR_RDMA_WRITE, 1, len));
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
		EXPECT_EQ(FAR, heard->va);
		EXPECT_EQ(len, heard->dma_len);
	}
	EXPECT_TRUE(heard->ask);
	EXPECT_TRUE(completed_nothing(peer));
	ASSERT_EQ(0, peer_ack(peer, PSN + 4, ACK_UNLIMITED, 1));
	EXPECT_TRUE(completed(peer, 1, IBV_WC_SUCCESS));
}

/* 9.7.1: 24 bits, and what is behind the turn is not older. */
TEST_F(peer, psns_wrap)
{
	static const uint32_t first = 0xfffffd;
	struct peer *peer = &self->peer;
	int i;

	self->attr.psn = first;
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	ASSERT_TRUE(post_sends(peer, 6));
	for (i = 0; i < 6; i++)
		ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, first + i));
	ASSERT_EQ(0, peer_ack(peer, first + 3, ACK_UNLIMITED, 4));
	for (i = 0; i < 4; i++)
		EXPECT_TRUE(completed(peer, i, IBV_WC_SUCCESS));
	/* Of before the turn: old. */
	ASSERT_EQ(0, peer_ack(peer, first, NAK_ACCESS, 1));
	EXPECT_TRUE(completed_nothing(peer));
	ASSERT_EQ(0, peer_ack(peer, first + 4, NAK_SEQUENCE, 4));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, first + 5));
	ASSERT_EQ(0, peer_ack(peer, first + 5, ACK_UNLIMITED, 6));
	EXPECT_TRUE(completed(peer, 4, IBV_WC_SUCCESS));
	EXPECT_TRUE(completed(peer, 5, IBV_WC_SUCCESS));
}

/* ---- acknowledges ---- */

TEST_F(peer, one_acknowledge_completes_all_before_it)
{
	struct peer *peer = &self->peer;
	int i;

	ASSERT_TRUE(post_sends(peer, 8));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 7));
	EXPECT_TRUE(completed_nothing(peer));
	ASSERT_EQ(0, peer_ack(peer, PSN + 5, ACK_UNLIMITED, 6));
	for (i = 0; i < 6; i++)
		EXPECT_TRUE(completed(peer, i, IBV_WC_SUCCESS));
	EXPECT_TRUE(completed_nothing(peer));
	ASSERT_EQ(0, peer_ack(peer, PSN + 7, ACK_UNLIMITED, 8));
	for (i = 6; i < 8; i++)
		EXPECT_TRUE(completed(peer, i, IBV_WC_SUCCESS));
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

	ASSERT_TRUE(post_sends(peer, 1));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
	ghosts = counters_get("resp_drop_ghost");
	for (i = 0; i < 5; i++)
		for (j = 0; j < sizeof(syndromes); j++)
			ASSERT_EQ(0, peer_ack(peer, PSN + psns[i], syndromes[j],
					      1));
	EXPECT_TRUE(counts_up_to("resp_drop_ghost", ghosts + 30));
	acks = counters_get("resp_acks");
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, peer_ack(peer, PSN + psns[i], ACK_UNLIMITED, 1));
	/* Old acknowledges are heard, for they may bring credits. */
	EXPECT_TRUE(counts_up_to("resp_acks", acks + 2));
	EXPECT_TRUE(completed_nothing(peer));
	EXPECT_EQ(IBV_QPS_RTS, verbs_qp_state(peer->qp));

	ASSERT_EQ(0, peer_ack(peer, PSN, ACK_UNLIMITED, 1));
	EXPECT_TRUE(completed(peer, 0, IBV_WC_SUCCESS));
	/* Once more, and other things about it. */
	ASSERT_EQ(0, peer_ack(peer, PSN, ACK_UNLIMITED, 1));
	for (j = 0; j < sizeof(syndromes); j++)
		ASSERT_EQ(0, peer_ack(peer, PSN, syndromes[j], 1));
	EXPECT_TRUE(completed_nothing(peer));
	EXPECT_EQ(IBV_QPS_RTS, verbs_qp_state(peer->qp));
}

TEST_F(peer, sequence_nak_is_answered_from_there)
{
	struct peer *peer = &self->peer;
	int i;

	ASSERT_TRUE(post_sends(peer, 4));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 3));
	drain();
	ASSERT_EQ(0, peer_ack(peer, PSN + 2, NAK_SEQUENCE, 2));
	for (i = 0; i < 2; i++)
		EXPECT_TRUE(completed(peer, i, IBV_WC_SUCCESS));
	EXPECT_TRUE(completed_nothing(peer));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 2));
	EXPECT_TRUE(peer_hears(&self->heard, RC_SEND_ONLY, PSN + 3));
	ASSERT_EQ(0, peer_ack(peer, PSN + 3, ACK_UNLIMITED, 4));
	for (i = 2; i < 4; i++)
		EXPECT_TRUE(completed(peer, i, IBV_WC_SUCCESS));
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
		ASSERT_TRUE(post_sends(peer, 3));
		ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 2));
		drain();
		ASSERT_EQ(0, peer_ack(peer, PSN + 1, naks[i].syndrome, 1));
		EXPECT_TRUE(completed(peer, 0, IBV_WC_SUCCESS));
		EXPECT_TRUE(completed(peer, 1, naks[i].status));
		EXPECT_TRUE(completed(peer, 2, IBV_WC_WR_FLUSH_ERR));
		EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(peer->qp));
	}
}

TEST_F(peer, reserved_naks_are_ignored)
{
	struct peer *peer = &self->peer;
	int64_t dropped;
	int code;

	ASSERT_TRUE(post_sends(peer, 1));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
	dropped = counters_get("resp_drop_kind");
	for (code = 5; code < 32; code++)
		ASSERT_EQ(0, peer_ack(peer, PSN, NAK_SEQUENCE | code, 0));
	ASSERT_EQ(0, peer_ack(peer, PSN, 0x40, 0));
	EXPECT_TRUE(counts_up_to("resp_drop_kind", dropped + 28));
	EXPECT_TRUE(completed_nothing(peer));
	ASSERT_EQ(0, peer_ack(peer, PSN, ACK_UNLIMITED, 1));
	EXPECT_TRUE(completed(peer, 0, IBV_WC_SUCCESS));
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

	ASSERT_TRUE(post_sends(peer, 2));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 1));
	for (round = 0; round < 3; round++) {
		said = topo_now_ms();
		ASSERT_EQ(0, peer_ack(peer, PSN, RNR_NAK | RNR_LONG, 0));
		ASSERT_TRUE(counts_up_to("resp_nak_rnr", naks + round + 1));
		drain();
		/* Silence, and then what was refused again, alone. */
		ASSERT_TRUE(peer_hears(&self->heard, RC_SEND_ONLY, PSN));
		EXPECT_LE(RNR_LONG_MS, topo_now_ms() - said);
	}
	/* What is behind it waits until that was taken. */
	ASSERT_EQ(0, peer_ack(peer, PSN, ACK_UNLIMITED, 1));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 1));
	ASSERT_EQ(0, peer_ack(peer, PSN + 1, ACK_UNLIMITED, 2));
	EXPECT_TRUE(completed(peer, 0, IBV_WC_SUCCESS));
	EXPECT_TRUE(completed(peer, 1, IBV_WC_SUCCESS));
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
	ASSERT_TRUE(post_sends(peer, 2));
	for (round = 1; round <= 3; round++) {
		ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
		ASSERT_EQ(0, peer_ack(peer, PSN, RNR_NAK | RNR_SHORT, 0));
		ASSERT_TRUE(counts_up_to("resp_nak_rnr", naks + round));
		EXPECT_TRUE(completed_nothing(peer));
		drain();
	}
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
	ASSERT_EQ(0, peer_ack(peer, PSN, RNR_NAK | RNR_SHORT, 0));
	EXPECT_TRUE(completed(peer, 0, IBV_WC_RNR_RETRY_EXC_ERR));
	EXPECT_TRUE(completed(peer, 1, IBV_WC_WR_FLUSH_ERR));
	EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(peer->qp));
}

TEST_F(peer, seven_rnr_retries_are_without_end)
{
	struct peer *peer = &self->peer;
	int round;

	ASSERT_TRUE(post_sends(peer, 1));
	for (round = 0; round < 12; round++) {
		ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
		ASSERT_EQ(0, peer_ack(peer, PSN, RNR_NAK | 1, 0));
	}
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
	ASSERT_EQ(0, peer_ack(peer, PSN, ACK_UNLIMITED, 1));
	EXPECT_TRUE(completed(peer, 0, IBV_WC_SUCCESS));
}

/* ---- silence ---- */

TEST_F(peer, lost_acknowledge_is_asked_for_again)
{
	struct peer *peer = &self->peer;

	self->attr.timeout = 17;
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	ASSERT_TRUE(post_sends(peer, 2));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 1));
	/* The first packet again, so both are missed. */
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
	EXPECT_TRUE(self->heard.ask);
	ASSERT_EQ(0, peer_ack(peer, PSN + 1, ACK_UNLIMITED, 2));
	EXPECT_TRUE(completed(peer, 0, IBV_WC_SUCCESS));
	EXPECT_TRUE(completed(peer, 1, IBV_WC_SUCCESS));
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
	ASSERT_TRUE(post_sends(peer, 2));
	EXPECT_TRUE(completed(peer, 0, IBV_WC_RETRY_EXC_ERR));
	took = topo_now_ms() - took;
	EXPECT_TRUE(completed(peer, 1, IBV_WC_WR_FLUSH_ERR));
	EXPECT_TRUE(counts_up_to("timer_retry", retries + tries - 1));
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

	ASSERT_EQ(0, post(peer, IBV_WR_SEND, 0, 100));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
	/* One more receive. */
	ASSERT_EQ(0, peer_ack(peer, PSN, 1, 1));
	EXPECT_TRUE(completed(peer, 0, IBV_WC_SUCCESS));
	drain();
	ASSERT_EQ(0, post(peer, IBV_WR_SEND, 1, 100));
	ASSERT_EQ(0, post(peer, IBV_WR_SEND, 2, 3 * MTU));
	ASSERT_EQ(0, post(peer, IBV_WR_SEND, 3, 100));
	EXPECT_TRUE(sends_up_to(1));

	/* None left: one packet may go, to see. */
	ASSERT_EQ(0, peer_ack(peer, PSN + 1, 0, 2));
	EXPECT_TRUE(completed(peer, 1, IBV_WC_SUCCESS));
	EXPECT_TRUE(sends_up_to(2));
	/* It found one: the rest of the message may go. */
	ASSERT_EQ(0, peer_ack(peer, PSN + 2, 0, 2));
	EXPECT_TRUE(sends_up_to(4));
	/* No limit any more. */
	ASSERT_EQ(0, peer_ack(peer, PSN + 4, ACK_UNLIMITED, 3));
	EXPECT_TRUE(completed(peer, 2, IBV_WC_SUCCESS));
	ASSERT_EQ(0, post(peer, IBV_WR_SEND, 4, 100));
	ASSERT_EQ(0, post(peer, IBV_WR_SEND, 5, 100));
	EXPECT_TRUE(sends_up_to(7));
	ASSERT_EQ(0, peer_ack(peer, PSN + 7, ACK_UNLIMITED, 6));
	EXPECT_TRUE(completed(peer, 3, IBV_WC_SUCCESS));
	EXPECT_TRUE(completed(peer, 4, IBV_WC_SUCCESS));
	EXPECT_TRUE(completed(peer, 5, IBV_WC_SUCCESS));
}

/* Credits that come by themselves, in an acknowledge of what is known. */
TEST_F(peer, unsolicited_acknowledge_brings_credits)
{
	struct peer *peer = &self->peer;

	ASSERT_EQ(0, post(peer, IBV_WR_SEND, 0, 100));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN));
	ASSERT_EQ(0, peer_ack(peer, PSN, 0, 1));
	EXPECT_TRUE(completed(peer, 0, IBV_WC_SUCCESS));
	drain();
	ASSERT_EQ(0, post(peer, IBV_WR_SEND, 1, 100));
	ASSERT_EQ(0, post(peer, IBV_WR_SEND, 2, 100));
	ASSERT_EQ(0, post(peer, IBV_WR_SEND, 3, 100));
	EXPECT_TRUE(sends_up_to(1));
	ASSERT_EQ(0, peer_ack(peer, PSN, 2, 1));
	EXPECT_TRUE(sends_up_to(2));
	ASSERT_EQ(0, peer_ack(peer, PSN, 3, 1));
	EXPECT_TRUE(sends_up_to(3));
	/* Writes need no receive. */
	ASSERT_EQ(0, post(peer, IBV_WR_RDMA_WRITE, 4, 100));
	EXPECT_TRUE(sends_up_to(4));
}

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
	return completed(peer, 1, IBV_WC_SUCCESS) &&
	       cm_holds(peer->buf, len, 9) &&
	       cm_is_all(peer->buf + len, PEER_BUF - len, 0x33);
}

/* A READ that the peer has heard. */
static bool post_read(struct peer *peer, struct peer_heard *heard, uint32_t len)
{
	memset(peer->buf, 0x33, PEER_BUF);
	return !post(peer, IBV_WR_RDMA_READ, 1, len) &&
	       peer_awaits(heard, RC_READ, PSN) && heard->va == FAR &&
	       heard->dma_len == len;
}

TEST_F(peer, read)
{
	static const uint32_t len = 2 * MTU + 5;
	struct peer *peer = &self->peer;

	ASSERT_TRUE(post_read(peer, &self->heard, len));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_FIRST, 0, len));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_MIDDLE, 1, len));
	EXPECT_TRUE(completed_nothing(peer));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_LAST, 2, len));
	EXPECT_TRUE(was_read(peer, len));
}

/* What is missing is asked for, and from there on (9.7.5.1). */
TEST_F(peer, gap_in_read_data_is_asked_for)
{
	static const uint32_t len = 3 * MTU + 5;
	struct peer *peer = &self->peer;
	struct peer_heard *heard = &self->heard;

	ASSERT_TRUE(post_read(peer, heard, len));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_FIRST, 0, len));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_MIDDLE, 2, len));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_LAST, 3, len));
	EXPECT_TRUE(cm_is_all(peer->buf + MTU, PEER_BUF - MTU, 0x33));
	ASSERT_TRUE(peer_awaits(heard, RC_READ, PSN + 1));
	EXPECT_EQ(FAR + MTU, heard->va);
	EXPECT_EQ(len - MTU, heard->dma_len);
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_FIRST, 1, len));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_MIDDLE, 2, len));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_LAST, 3, len));
	EXPECT_TRUE(was_read(peer, len));
}

/* The first one: then it is all of it that is asked for. */
TEST_F(peer, lost_beginning_of_read_data_is_asked_for)
{
	static const uint32_t len = 2 * MTU;
	struct peer *peer = &self->peer;

	ASSERT_TRUE(post_read(peer, &self->heard, len));
	drain();
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_LAST, 1, len));
	EXPECT_TRUE(cm_is_all(peer->buf, PEER_BUF, 0x33));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_READ, PSN));
	EXPECT_EQ(len, self->heard.dma_len);
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_FIRST, 0, len));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_LAST, 1, len));
	EXPECT_TRUE(was_read(peer, len));
}

/* An acknowledge has no data; one of a later request says they are lost. */
TEST_F(peer, acknowledge_is_no_answer_to_a_read)
{
	struct peer *peer = &self->peer;

	ASSERT_TRUE(post_read(peer, &self->heard, 100));
	ASSERT_EQ(0, peer_ack(peer, PSN, ACK_UNLIMITED, 1));
	EXPECT_TRUE(completed_nothing(peer));
	ASSERT_EQ(0, post(peer, IBV_WR_RDMA_WRITE, 2, 0));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_WRITE_ONLY, PSN + 1));
	drain();
	ASSERT_EQ(0, peer_ack(peer, PSN + 1, ACK_UNLIMITED, 2));
	EXPECT_TRUE(completed_nothing(peer));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_READ, PSN));
	ASSERT_EQ(0, answer(peer, RC_READ_RESP_ONLY, 0, 100));
	EXPECT_TRUE(was_read(peer, 100));
	EXPECT_TRUE(completed(peer, 2, IBV_WC_SUCCESS));
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
	EXPECT_TRUE(counts_up_to("rx_drop_source", dropped + 1));
	EXPECT_TRUE(completed_nothing(peer));
	EXPECT_TRUE(cm_is_all(peer->buf, PEER_BUF, 0x33));
	/* It is still asked for. */
	drain();
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
		EXPECT_TRUE(completed(peer, 1, IBV_WC_BAD_RESP_ERR)) {
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
		EXPECT_TRUE(completed(peer, 1, IBV_WC_BAD_RESP_ERR)) {
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

	ASSERT_EQ(0, post(peer, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 8));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_FETCH_ADD, PSN));
	EXPECT_EQ(FAR, self->heard.va);
	ASSERT_EQ(0, peer_atomic_ack(peer, PSN, 0x0123456789abcdefull));
	EXPECT_TRUE(completed(peer, 1, IBV_WC_SUCCESS));
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
		ASSERT_EQ(0, post(peer, cases[i].asked, 1, 8));
		if (cases[i].is_atomic)
			EXPECT_EQ(0, peer_atomic_ack(peer, PSN, 1));
		if (!cases[i].is_atomic)
			EXPECT_EQ(0, peer_read_response(peer, RC_READ_RESP_ONLY,
							PSN, data, 8));
		EXPECT_TRUE(completed(peer, 1, IBV_WC_BAD_RESP_ERR)) {
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
		ASSERT_EQ(0, post(peer, IBV_WR_RDMA_READ, i, 8));
	EXPECT_TRUE(sends_up_to(1));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, peer_read_response(peer, RC_READ_RESP_ONLY,
						PSN + i, data, 8));
		EXPECT_TRUE(completed(peer, i, IBV_WC_SUCCESS));
		if (i < 3)
			EXPECT_TRUE(sends_up_to(i + 2));
	}
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
	ASSERT_EQ(0, post(peer, IBV_WR_RDMA_WRITE, 1, len));
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
	EXPECT_TRUE(completed(peer, 1, IBV_WC_SUCCESS));
}

TEST_HARNESS_MAIN
