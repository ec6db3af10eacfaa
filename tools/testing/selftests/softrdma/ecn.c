// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ECN (annex A17.9): which packets say that they may be marked, who is told of those
 * that were, and how often.
 */
#include "peer_fixture.h"

#include <arpa/inet.h>

#include "duo.h"
#include "rules.h"

#define SOON_MS		20000
#define APART_US	50
#define PEER_QPN	0x123456
#define RESERVED	16
#define GSI_QKEY	0x80010000

/* BTH of a notification: BECN, PSN 0; the default P_Key. */
static bool is_notification(struct wire_frame *frame, uint32_t qpn)
{
	const uint8_t want[] = {
		CNP, 0x00, 0xff, 0xff, 0x40, qpn >> 16, qpn >> 8, qpn,
	};
	uint8_t *bth = wire_bth(frame);
	static const uint8_t rest[4 + RESERVED];

	return wire_is_sealed(frame) &&
	       bth + 12 + RESERVED + 4 == frame->bytes + frame->len &&
	       !memcmp(bth, want, sizeof(want)) &&
	       !memcmp(bth + sizeof(want), rest, sizeof(rest));
}

static uint32_t peer_qpn_of(const struct peer *peer)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	ibv_query_qp(peer->qp, &attr, IBV_QP_DEST_QPN, &init);
	return attr.dest_qp_num;
}

/* The next frame of the QP: one with this opcode? */
static bool next_is(struct wire_frame *frame, uint8_t opcode)
{
	return !wire_capture(frame, SOON_MS) && wire_bth(frame)[0] == opcode;
}

static bool hears_notification(const struct peer *peer)
{
	struct wire_frame frame;

	return next_is(&frame, CNP) &&
	       is_notification(&frame, peer_qpn_of(peer));
}

/* Notifications are some time apart: is the next one due? */
static void let_one_be_due(void)
{
	usleep(2 * APART_US);
}

static int say_congested(const struct peer *peer, uint8_t opcode, uint32_t psn)
{
	struct peer_packet packet = {
		.opcode = opcode, .psn = psn, .ask = true,
		.has_met_congestion = true,
	};

	return peer_say(peer, &packet);
}

/* ---- what may be marked ---- */

TEST_F(peer, requests_answers_and_acknowledges_may_be_marked)
{
	struct peer *peer = &self->peer;
	struct wire_frame frame;

	ASSERT_EQ(0, peer_post(peer, IBV_WR_RDMA_WRITE, 1, 3 * MTU));
	ASSERT_TRUE(next_is(&frame, RC_WRITE_FIRST));
	EXPECT_EQ(ECT_0, wire_ecn(&frame));
	ASSERT_TRUE(next_is(&frame, RC_WRITE_MIDDLE));
	EXPECT_EQ(ECT_0, wire_ecn(&frame));
	EXPECT_TRUE(wire_is_sealed(&frame));
	ASSERT_TRUE(next_is(&frame, RC_WRITE_LAST));
	EXPECT_EQ(ECT_0, wire_ecn(&frame));
	ASSERT_EQ(0, peer_ack(peer, PSN + 2, ACK_UNLIMITED, 1));
	EXPECT_TRUE(peer_completed(peer, 1, IBV_WC_SUCCESS));

	ASSERT_EQ(0, peer_rdma(peer, RC_WRITE_ONLY, PSN, 0, 100, 100));
	ASSERT_TRUE(next_is(&frame, RC_ACK));
	EXPECT_EQ(ECT_0, wire_ecn(&frame));
	ASSERT_EQ(0, peer_rdma(peer, RC_READ, PSN + 1, 0, 100, 0));
	ASSERT_TRUE(next_is(&frame, RC_READ_RESP_ONLY));
	EXPECT_EQ(ECT_0, wire_ecn(&frame));
}

/* Nothing but two bits: a program's own class stays, and its own ECN bits. */
TEST_F(peer, class_of_a_program_is_kept)
{
	static const struct {
		uint8_t given, sent;
	} cases[] = {
		{ 0xb8, 0xba }, { 0xb9, 0xb9 }, { 0xba, 0xba }, { 0xbb, 0xbb },
	};
	struct peer *peer = &self->peer;
	struct wire_frame frame;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		self->attr.traffic_class = cases[i].given;
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		ASSERT_EQ(0, peer_post(peer, IBV_WR_RDMA_WRITE, i, 100));
		ASSERT_TRUE(next_is(&frame, RC_WRITE_ONLY));
		EXPECT_EQ(cases[i].sent, frame.bytes[WIRE_IP + 1]);
		EXPECT_TRUE(wire_is_sealed(&frame));
		ASSERT_EQ(0, ibv_query_qp(peer->qp, &attr, IBV_QP_AV, &init));
		EXPECT_EQ(cases[i].given, attr.ah_attr.grh.traffic_class);
	}
}

/* ---- who is told ---- */

TEST_F(peer, sender_of_a_marked_request_is_told)
{
	int64_t marked = counters_get("np_ecn_marked_roce_packets");
	int64_t sent = counters_get("np_cnp_sent");
	struct peer *peer = &self->peer;

	ASSERT_EQ(0, peer_post_recv(peer, 0, 0, 100));
	ASSERT_EQ(0, say_congested(peer, RC_SEND_ONLY, PSN));
	EXPECT_TRUE(hears_notification(peer));
	EXPECT_TRUE(peer_hears_count(PSN, 1));
	EXPECT_EQ(marked + 1, counters_get("np_ecn_marked_roce_packets"));
	EXPECT_EQ(sent + 1, counters_get("np_cnp_sent"));
	/* It need not be a new one, nor one that fits. */
	let_one_be_due();
	ASSERT_EQ(0, say_congested(peer, RC_SEND_ONLY, PSN));
	EXPECT_TRUE(hears_notification(peer));
	EXPECT_TRUE(peer_hears_count(PSN, 1));
}

/* What is held until a hole is filled has met congestion once. */
TEST_F(peer, marked_request_behind_a_hole_counts_once)
{
	int64_t marked = counters_get("np_ecn_marked_roce_packets");
	int64_t held = counters_get("req_held");
	struct peer *peer = &self->peer;
	int i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, peer_post_recv(peer, i, 0, 100));
	ASSERT_EQ(0, say_congested(peer, RC_SEND_ONLY, PSN + 1));
	EXPECT_EQ(held + 1, counters_get("req_held"));
	EXPECT_TRUE(hears_notification(peer));
	let_one_be_due();
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN, 0));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_ACK, PSN + 1));
	EXPECT_EQ(marked + 1, counters_get("np_ecn_marked_roce_packets"));
}

/* Of a READ the responder is told, and it is the same QP. */
TEST_F(peer, sender_of_marked_read_data_is_told)
{
	static const uint8_t data[100];
	struct peer *peer = &self->peer;
	const __be32 aeth = htonl(0x1f000001);
	struct peer_packet packet = {
		.opcode = RC_READ_RESP_ONLY, .psn = PSN,
		.has_met_congestion = true, .ext = &aeth,
		.ext_len = sizeof(aeth), .payload = data, .len = 100,
	};

	ASSERT_EQ(0, peer_post(peer, IBV_WR_RDMA_READ, 1, 100));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_READ, PSN));
	ASSERT_EQ(0, peer_say(peer, &packet));
	EXPECT_TRUE(peer_completed(peer, 1, IBV_WC_SUCCESS));
	EXPECT_TRUE(hears_notification(peer));
}

/* Or two QPs would tell each other for ever. */
TEST_F(peer, nobody_is_told_of_marked_acknowledges_and_notifications)
{
	static const uint8_t reserved[RESERVED];
	const __be32 aeth = htonl(0x1f000001);
	struct peer_packet ack = {
		.opcode = RC_ACK, .psn = PSN, .has_met_congestion = true,
		.ext = &aeth, .ext_len = sizeof(aeth),
	};
	struct peer_packet cnp = {
		.opcode = CNP, .has_met_congestion = true,
		.payload = reserved, .len = sizeof(reserved),
	};
	int64_t marked = counters_get("np_ecn_marked_roce_packets");
	int64_t sent = counters_get("np_cnp_sent");
	struct peer *peer = &self->peer;

	ASSERT_EQ(0, peer_post(peer, IBV_WR_RDMA_WRITE, 1, 100));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_WRITE_ONLY, PSN));
	ASSERT_EQ(0, peer_say(peer, &ack));
	EXPECT_TRUE(peer_completed(peer, 1, IBV_WC_SUCCESS));
	ASSERT_EQ(0, peer_say(peer, &cnp));
	EXPECT_EQ(marked + 2, counters_get("np_ecn_marked_roce_packets"));
	EXPECT_EQ(sent, counters_get("np_cnp_sent"));
	EXPECT_EQ(-ETIMEDOUT, peer_hear(&self->heard, 0));
}

/* Nor of what is none of the QP's packets, whoever has marked it. */
TEST_F(peer, nobody_is_told_of_what_is_not_taken)
{
	struct peer_packet packet = {
		.opcode = RC_SEND_ONLY, .psn = PSN, .ask = true,
		.has_met_congestion = true, .is_stranger = true,
	};
	int64_t marked = counters_get("np_ecn_marked_roce_packets");
	int64_t sent = counters_get("np_cnp_sent");
	struct peer *peer = &self->peer;
	struct wire_frame frame;
	struct wire_packet bad = {
		.opcode = RC_SEND_ONLY, .qpn = peer->qp->qp_num, .psn = PSN,
	};

	ASSERT_EQ(0, peer_say(peer, &packet));
	packet.is_stranger = false;
	packet.opcode = UC_SEND_ONLY;
	ASSERT_EQ(0, peer_say(peer, &packet));
	wire_build(&frame, &bad);
	wire_meet_congestion(&frame);
	wire_seal(&frame);
	frame.bytes[frame.len - 1] ^= 1;
	ASSERT_EQ(0, wire_inject(&frame, false));
	EXPECT_EQ(marked, counters_get("np_ecn_marked_roce_packets"));
	EXPECT_EQ(sent, counters_get("np_cnp_sent"));
}

/* ---- notifications that come ---- */

TEST_F(peer, notification_is_followed_by_the_qp_it_is_for)
{
	static const uint8_t reserved[RESERVED];
	struct peer_packet cnp = {
		.opcode = CNP, .payload = reserved, .len = sizeof(reserved),
	};
	int64_t handled = counters_get("rp_cnp_handled");
	int64_t stray = counters_get("rx_drop_source");
	struct peer *peer = &self->peer;

	ASSERT_EQ(0, peer_say(peer, &cnp));
	EXPECT_EQ(handled + 1, counters_get("rp_cnp_handled"));
	cnp.is_stranger = true;
	ASSERT_EQ(0, peer_say(peer, &cnp));
	EXPECT_EQ(handled + 1, counters_get("rp_cnp_handled"));
	EXPECT_EQ(stray + 1, counters_get("rx_drop_source"));
}

/* 64 packets go at once before; then eight, and nothing until they had their time. */
TEST_F(peer, notified_qp_spreads_its_packets)
{
	static const uint8_t reserved[RESERVED];
	struct peer_packet cnp = {
		.opcode = CNP, .payload = reserved, .len = sizeof(reserved),
	};
	int64_t paced = counters_get("timer_pace");
	struct peer *peer = &self->peer;
	const int count = PEER_BUF / MTU;
	int i, early = 0;

	ASSERT_EQ(0, peer_post(peer, IBV_WR_RDMA_WRITE, 1, PEER_BUF));
	ASSERT_TRUE(peer_awaits(&self->heard, RC_WRITE_LAST, PSN + count - 1));
	/* That is how long a round trip takes. */
	usleep(50000);
	ASSERT_EQ(0, peer_say(peer, &cnp));
	ASSERT_EQ(0, peer_ack(peer, PSN + count - 1, ACK_UNLIMITED, 1));
	ASSERT_TRUE(peer_completed(peer, 1, IBV_WC_SUCCESS));
	peer_drain();

	ASSERT_EQ(0, peer_post(peer, IBV_WR_RDMA_WRITE, 2, PEER_BUF));
	for (i = 0; i < count; i++) {
		ASSERT_EQ(0, peer_hear(&self->heard, PEER_WAIT_MS));
		early += self->heard.ask && i < 24;
		/* Not at first, so that only time lets it go on. */
		if (self->heard.ask && i >= 24)
			ASSERT_EQ(0, peer_ack(peer, self->heard.psn,
					      ACK_UNLIMITED, 1));
	}
	EXPECT_LE(3, early);
	ASSERT_EQ(0, peer_ack(peer, PSN + 2 * count - 1, ACK_UNLIMITED, 2));
	EXPECT_TRUE(peer_completed(peer, 2, IBV_WC_SUCCESS));
	EXPECT_LT(paced, counters_get("timer_pace"));
}

/* ---- how often ---- */

static long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

TEST_F(peer, a_qp_tells_once_in_50_us_at_most)
{
	int64_t marked, sent, handled;
	struct verbs_set set;
	struct duo duo = {};
	struct ibv_wc wc;
	long begin, took;

	ASSERT_EQ(0, verbs_open_set(&set, TOPO_LINK));
	ASSERT_EQ(0, duo_up(&duo, &set, &set));
	ASSERT_LT(0, rules_add(TOPO_LINK, "rx op WRITE* ce"));
	marked = counters_get("np_ecn_marked_roce_packets");
	sent = counters_get("np_cnp_sent");
	handled = counters_get("rp_cnp_handled");

	begin = now_us();
	ASSERT_EQ(0, duo_write(&duo.end[0], &duo.end[1], 1, 200 * MTU,
			       duo.end[1].mr->rkey));
	ASSERT_EQ(1, duo_poll(duo.end[0].send_cq, &wc, 1));
	took = now_us() - begin;
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);

	marked = counters_get("np_ecn_marked_roce_packets") - marked;
	sent = counters_get("np_cnp_sent") - sent;
	TH_LOG("%d marked, %d notifications in %ld us", (int)marked, (int)sent,
	       took);
	EXPECT_LE(200, marked);
	EXPECT_LE(1, sent);
	EXPECT_GE(took / APART_US + 1, sent);
	/* Where a packet takes longer than that, as with KASAN, each is told of. */
	if (took < marked * APART_US)
		EXPECT_GT(marked, sent);
	EXPECT_EQ(sent, counters_get("rp_cnp_handled") - handled);

	EXPECT_EQ(0, rules_flush(TOPO_LINK));
	EXPECT_EQ(0, duo_close(&duo));
	EXPECT_EQ(0, verbs_close_set(&set));
}

/* ---- other transports ---- */

FIXTURE(unreliable)
{
	struct verbs_set set;
	struct ibv_qp *qp;
};

FIXTURE_VARIANT(unreliable)
{
	bool v6;
};

FIXTURE_VARIANT_ADD(unreliable, ipv4) { .v6 = false };

FIXTURE_VARIANT_ADD(unreliable, ipv6) { .v6 = true };

FIXTURE_SETUP(unreliable)
{
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
	self->qp = verbs_qp(&self->set, IBV_QPT_UD);
	ASSERT_NE(NULL, self->qp);
	ASSERT_EQ(0, verbs_qp_to(&self->set, self->qp, IBV_QPS_RTS, 0));
}

FIXTURE_TEARDOWN(unreliable)
{
	EXPECT_EQ(0, ibv_destroy_qp(self->qp));
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

static int say_datagram(uint32_t qpn, bool v6, uint32_t qkey)
{
	static const uint8_t mad[256];
	__be32 deth[2] = { htonl(qkey), htonl(PEER_QPN) };
	struct wire_packet packet = {
		.v6 = v6, .opcode = UD_SEND_ONLY, .qpn = qpn,
		.ext = deth, .ext_len = sizeof(deth),
		.payload = mad, .payload_len = sizeof(mad),
	};
	struct wire_frame frame;

	wire_build(&frame, &packet);
	wire_meet_congestion(&frame);
	wire_seal(&frame);
	if (v6)
		wire_put_udp_sum(&frame);
	return wire_inject(&frame, false);
}

/* It has said in its DETH who it is. */
TEST_F(unreliable, sender_of_a_marked_datagram_is_told)
{
	int64_t sent = counters_get("np_cnp_sent");
	struct wire_frame frame;

	ASSERT_EQ(0, say_datagram(self->qp->qp_num, variant->v6,
				  VERBS_QKEY + 1));
	EXPECT_EQ(sent, counters_get("np_cnp_sent"));
	ASSERT_EQ(0, say_datagram(self->qp->qp_num, variant->v6, VERBS_QKEY));
	ASSERT_EQ(0, wire_capture(&frame, SOON_MS));
	EXPECT_EQ(variant->v6, frame.v6);
	EXPECT_TRUE(is_notification(&frame, PEER_QPN));
	EXPECT_EQ(sent + 1, counters_get("np_cnp_sent"));
}

/* Its Q_Key is no secret: the source may be forged. */
TEST_F(unreliable, nobody_is_told_of_management_datagrams)
{
	int64_t marked = counters_get("np_ecn_marked_roce_packets");
	int64_t sent = counters_get("np_cnp_sent");

	ASSERT_EQ(0, say_datagram(1, variant->v6, GSI_QKEY));
	EXPECT_EQ(marked + 1, counters_get("np_ecn_marked_roce_packets"));
	EXPECT_EQ(sent, counters_get("np_cnp_sent"));
}

/* There is nothing that would slow a datagram QP down. */
TEST_F(unreliable, notification_is_counted_and_ignored)
{
	static const uint8_t reserved[RESERVED];
	struct wire_packet packet = {
		.v6 = variant->v6, .opcode = CNP, .qpn = self->qp->qp_num,
		.payload = reserved, .payload_len = sizeof(reserved),
	};
	int64_t ignored = counters_get("rp_cnp_ignored");
	struct wire_frame frame;

	wire_build(&frame, &packet);
	if (variant->v6)
		wire_put_udp_sum(&frame);
	ASSERT_EQ(0, wire_inject(&frame, false));
	EXPECT_EQ(ignored + 1, counters_get("rp_cnp_ignored"));
}

TEST_HARNESS_MAIN
