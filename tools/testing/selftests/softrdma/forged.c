// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A neighbour that lies about its frames: a virtual machine, or a container with
 * a packet socket, says beside each what is still to be done to it, and that
 * need not be true. Its packets are then dropped and counted, or are what they
 * would have been alone; never more than a host on the wire could say.
 *
 * SRT_SEED repeats a run's frames, SRT_SOAK=1 sends twenty times as many.
 */
#include <linux/virtio_net.h>

#include "knobs.h"
#include "peer_fixture.h"
#include "rules.h"
#include "twin.h"

/* A WRITE of nothing: BTH, RETH, ICRC. */
#define PACKET		32

/* What no kernel makes a longer train than. */
#define TRAIN_MOST	128

#define FORGERIES	30000

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

/* From BTH to ICRC, which is right only if nothing comes before or behind it. */
static void put_packet(uint8_t *at, const struct peer *peer, uint32_t psn)
{
	memset(at, 0, PACKET);
	at[0] = RC_WRITE_ONLY;
	at[1] = 0x40;
	at[2] = at[3] = 0xff;
	at[5] = peer->qp->qp_num >> 16;
	at[6] = peer->qp->qp_num >> 8;
	at[7] = peer->qp->qp_num;
	at[9] = psn >> 16;
	at[10] = psn >> 8;
	at[11] = psn;
}

/* So many packets behind one UDP header, lengths and IP checksum right. */
static void build_train(struct wire_frame *frame, const struct peer *peer,
			uint32_t psn, int count)
{
	static const uint8_t room[sizeof(frame->bytes)];
	struct wire_packet packet = {
		.payload = room, .payload_len = count * PACKET - 16,
	};
	int i;

	wire_build(frame, &packet);
	for (i = 0; i < count; i++)
		put_packet(frame->bytes + WIRE_BTH + i * PACKET, peer, psn + i);
}

static struct virtio_net_hdr train_header(void)
{
	return (struct virtio_net_hdr) {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4,
		.hdr_len = WIRE_BTH,
		.gso_size = PACKET,
		.csum_start = WIRE_UDP,
		.csum_offset = 6,
	};
}

/* Kernels before 6.2 do not take trains from a neighbour at all. */
static bool takes_trains(const struct peer *peer)
{
	struct virtio_net_hdr hdr = train_header();
	struct wire_frame frame;

	/* For a QP that is not there. */
	build_train(&frame, peer, PSN, 2);
	memset(frame.bytes + WIRE_BTH + 5, 0, 3);
	memset(frame.bytes + WIRE_BTH + PACKET + 5, 0, 3);
	return wire_inject_as(&frame, &hdr) != -EINVAL;
}

/* The QP hears what its peer says, from @psn on. */
static bool hears(struct peer *peer, uint32_t psn)
{
	return !peer_rdma(peer, RC_WRITE_ONLY, psn, 0, 4, 4) &&
	       peer_awaits(&(struct peer_heard){}, RC_ACK, psn);
}

/* One packet with a wrong ICRC, and the checksum of something left to others. */
static bool is_dropped(const struct wire_frame *frame,
		       struct virtio_net_hdr *hdr, uint16_t start,
		       uint16_t offset)
{
	int64_t wrong = counters_get("rx_drop_icrc");

	hdr->csum_start = start;
	hdr->csum_offset = offset;
	return !wire_inject_as(frame, hdr) &&
	       counters_get("rx_drop_icrc") == wrong + 1;
}

/*
 * Who leaves the UDP checksum to others has not sent the packet over a wire, and
 * its ICRC is not looked at. Who leaves something else to them may have. So it is
 * also where a rule looks at packets.
 */
static void forge_checksums(struct __test_metadata *_metadata,
			    struct peer *peer)
{
	static const uint16_t elsewhere[][2] = {
		{ WIRE_UDP, 4 }, { WIRE_UDP, 2 }, { WIRE_UDP + 8, 6 },
		{ WIRE_UDP + 2, 4 },
	};
	struct virtio_net_hdr hdr = train_header();
	int64_t heard = counters_get("req_write");
	struct wire_frame frame;
	size_t i;

	hdr.gso_type = VIRTIO_NET_HDR_GSO_NONE;
	hdr.gso_size = 0;
	build_train(&frame, peer, PSN, 1);
	for (i = 0; i < 4; i++)
		EXPECT_TRUE(is_dropped(&frame, &hdr, elsewhere[i][0],
				       elsewhere[i][1]));
	EXPECT_EQ(heard, counters_get("req_write"));
	hdr.csum_start = WIRE_UDP;
	hdr.csum_offset = 6;
	ASSERT_EQ(0, wire_inject_as(&frame, &hdr));
	EXPECT_EQ(heard + 1, counters_get("req_write"));
	EXPECT_TRUE(hears(peer, PSN + 1));
}

TEST_F(peer, only_the_udp_checksum_vouches_for_the_icrc)
{
	forge_checksums(_metadata, &self->peer);
}

TEST_F(peer, nor_does_anything_else_where_a_rule_looks)
{
	ASSERT_LT(0, rules_add(TOPO_LINK, "rx op ATOMIC* drop"));
	forge_checksums(_metadata, &self->peer);
	EXPECT_EQ(0, rules_flush(TOPO_LINK));
}

TEST_F(peer, trains_are_as_long_as_their_bytes)
{
	struct virtio_net_hdr hdr = train_header();
	int64_t heard = counters_get("req_write");
	struct wire_frame frame;
	uint32_t psn = PSN;
	int count;

	if (!takes_trains(&self->peer))
		return;
	for (count = 2; count <= 64; count *= 2) {
		build_train(&frame, &self->peer, psn, count);
		ASSERT_EQ(0, wire_inject_as(&frame, &hdr));
		psn += count;
		EXPECT_EQ(heard + psn - PSN, counters_get("req_write"));
	}
	/* One packet that calls itself a train. */
	hdr.gso_size = 1400;
	build_train(&frame, &self->peer, psn, 1);
	ASSERT_EQ(0, wire_inject_as(&frame, &hdr));
	EXPECT_EQ(heard + psn + 1 - PSN, counters_get("req_write"));
	EXPECT_TRUE(hears(&self->peer, psn + 1));
}

#define PARTS	3
#define PART	(12 + MTU + 4)

/* A SEND of full packets, from @psn on, of which @bad has another byte. */
static void build_message(struct wire_frame *train, const struct peer *peer,
			  uint32_t psn, int bad)
{
	static const uint8_t opcodes[PARTS] = {
		RC_SEND_FIRST, RC_SEND_MIDDLE, RC_SEND_LAST,
	};
	static uint8_t payload[MTU];
	struct wire_frame part;
	int i;

	for (i = 0; i < PARTS; i++) {
		struct wire_packet packet = {
			.opcode = opcodes[i], .psn = psn + i,
			.qpn = peer->qp->qp_num, .ip_id = i,
			.payload = payload, .payload_len = MTU,
		};

		cm_fill(payload, MTU, i);
		wire_build(&part, &packet);
		if (i == bad)
			part.bytes[WIRE_BTH + 500] ^= 1;
		if (!i)
			*train = part;
		memcpy(train->bytes + WIRE_BTH + i * PART,
		       part.bytes + WIRE_BTH, PART);
	}
	train->len = WIRE_BTH + PARTS * PART;
	wire_seal(train);
	/* That was of the whole. */
	memcpy(train->bytes + train->len - 4, part.bytes + part.len - 4, 4);
}

/* Also where those behind the first are taken for the rest of its message. */
TEST_F(peer, each_packet_of_a_train_has_an_icrc)
{
	struct virtio_net_hdr hdr = train_header();
	struct peer *peer = &self->peer;
	struct wire_frame frame;
	int64_t wrong;
	int bad;

	if (!takes_trains(peer))
		return;
	hdr.gso_size = PART;
	/* The checksum of something else vouches for nothing. */
	hdr.csum_start = WIRE_BTH;
	for (bad = 0; bad <= PARTS; bad++) {
		wrong = counters_get("rx_drop_icrc");
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		memset(peer->buf, 0x33, PARTS * MTU);
		ASSERT_EQ(0, peer_post_recv(peer, 7, 0, PARTS * MTU));
		build_message(&frame, peer, PSN, bad);
		ASSERT_EQ(0, wire_inject_as(&frame, &hdr));
		EXPECT_EQ(bad == PARTS, ibv_poll_cq(peer->recv_cq, 1,
						    &self->wc)) {
			TH_LOG("packet %d", bad);
		}
		EXPECT_EQ(wrong + (bad < PARTS), counters_get("rx_drop_icrc"));
		if (bad < PARTS)
			EXPECT_TRUE(cm_is_all(peer->buf + bad * MTU,
					      (PARTS - bad) * MTU, 0x33));
	}
}

/* The stack asks how many there are behind the checksum, wherever that is. */
TEST_F(peer, a_train_of_too_many_is_none)
{
	struct virtio_net_hdr hdr = train_header();
	int64_t bad = counters_get("rx_drop_malformed");
	int64_t packets = counters_get("rx_packets");
	int64_t wrong = counters_get("rx_drop_icrc");
	struct wire_frame frame;

	if (!takes_trains(&self->peer))
		return;
	build_train(&frame, &self->peer, PSN, TRAIN_MOST + 1);
	hdr.csum_start = WIRE_BTH + TRAIN_MOST / 2 * PACKET;
	ASSERT_EQ(0, wire_inject_as(&frame, &hdr));
	EXPECT_EQ(bad + 1, counters_get("rx_drop_malformed"));
	EXPECT_EQ(packets, counters_get("rx_packets"));
	EXPECT_EQ(wrong, counters_get("rx_drop_icrc"));
	EXPECT_TRUE(hears(&self->peer, PSN));
}

/* What goes again in a train, and is held, too, is executed once; the rest stays held. */
TEST_F(peer, a_train_again_leaves_what_is_held)
{
	struct virtio_net_hdr hdr = train_header();
	int64_t done = counters_get("req_write");
	struct peer *peer = &self->peer;
	struct wire_frame frame;

	if (!takes_trains(peer))
		return;
	ASSERT_EQ(0, peer_rdma(peer, RC_WRITE_ONLY, PSN + 1, 0, 4, 4));
	ASSERT_EQ(0, peer_rdma(peer, RC_WRITE_ONLY, PSN + 5, 0, 4, 4));
	EXPECT_TRUE(peer_hears_ack(PSN, NAK_SEQUENCE));
	build_train(&frame, peer, PSN, 3);
	ASSERT_EQ(0, wire_inject_as(&frame, &hdr));
	ASSERT_EQ(0, peer_rdma(peer, RC_WRITE_ONLY, PSN + 3, 0, 4, 4));
	ASSERT_EQ(0, peer_rdma(peer, RC_WRITE_ONLY, PSN + 4, 0, 4, 4));
	EXPECT_TRUE(peer_awaits(&(struct peer_heard){}, RC_ACK, PSN + 5));
	EXPECT_EQ(done + 6, counters_get("req_write"));
}

/* ---- a train for two QPs, which may be the work of a host that merges others' packets */

/* One that executes nothing, in a train with what another one executes. */
static int inject_for_two(const struct peer *first, const struct peer *second,
			  uint8_t opcode)
{
	struct virtio_net_hdr hdr = train_header();
	struct wire_frame frame;

	build_train(&frame, first, PSN, 2);
	frame.bytes[WIRE_BTH] = opcode;
	put_packet(frame.bytes + WIRE_BTH + PACKET, second, PSN);
	return wire_inject_as(&frame, &hdr);
}

/* What waits for a receive does so for a minute here. */
TEST_F(peer, what_waits_does_not_hold_up_another_qp)
{
	int64_t done = counters_get("req_write");
	struct peer other;

	if (!knob_exists("linger"))
		SKIP(return, "no CONFIG_FAULT_INJECTION");
	if (!takes_trains(&self->peer))
		return;
	ASSERT_EQ(0, peer_open(&other, &self->attr));
	ASSERT_EQ(0, knob_turn("linger", true));
	EXPECT_EQ(0, inject_for_two(&self->peer, &other, RC_SEND_ONLY));
	EXPECT_EQ(done + 1, counters_get("req_write"));
	EXPECT_EQ(0, knob_turn("linger", false));
	EXPECT_EQ(0, peer_close(&other));
}

/* It comes to receive nothing before its engine has looked at the train. */
TEST_F(peer, what_is_dropped_takes_nothing_of_another_qp_with_it)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int64_t done = counters_get("req_write");
	struct peer other;

	if (!knob_exists("hold"))
		SKIP(return, "no CONFIG_FAULT_INJECTION");
	if (!takes_trains(&self->peer))
		return;
	ASSERT_EQ(0, peer_open(&other, &self->attr));
	ASSERT_EQ(0, knob_turn("hold", true));
	EXPECT_EQ(0, inject_for_two(&self->peer, &other, RC_WRITE_ONLY));
	EXPECT_EQ(0, knob_turn("hold", false));
	EXPECT_EQ(done, counters_get("req_write"));
	EXPECT_EQ(0, ibv_modify_qp(self->peer.qp, &attr, IBV_QP_STATE));
	EXPECT_EQ(done + 1, counters_get("req_write"));
	EXPECT_EQ(0, peer_close(&other));
}

TEST_F(peer, both_qps_of_a_train_have_their_packets)
{
	int64_t done = counters_get("req_write");
	struct peer other;

	if (!takes_trains(&self->peer))
		return;
	ASSERT_EQ(0, peer_open(&other, &self->attr));
	EXPECT_EQ(0, inject_for_two(&self->peer, &other, RC_WRITE_ONLY));
	EXPECT_EQ(done + 2, counters_get("req_write"));
	EXPECT_EQ(0, peer_close(&other));
}

/* Each is dropped whole, or packet by packet, and a live QP goes on. */
TEST_F(peer, segments_of_no_packet_are_dropped)
{
	static const uint16_t sizes[] = { 1, 15, 16, 17, 31, 33, 63, 1000 };
	struct virtio_net_hdr hdr = train_header();
	int64_t heard = counters_get("req_write");
	struct wire_frame frame;
	size_t i;

	if (!takes_trains(&self->peer))
		return;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		/* None of them is what is expected. */
		build_train(&frame, &self->peer, PSN - 5000, 64);
		hdr.gso_size = sizes[i];
		wire_inject_as(&frame, &hdr);
	}
	EXPECT_EQ(heard, counters_get("req_write"));
	EXPECT_TRUE(hears(&self->peer, PSN));
}

static uint16_t any_offset(uint32_t *random, const struct wire_frame *frame)
{
	static const uint16_t known[] = {
		0, 1, WIRE_IP, WIRE_UDP, WIRE_UDP + 6, WIRE_BTH, 0xffff,
	};

	return twin_random(random) & 1 ? known[twin_random(random) % 7] :
	       twin_random(random) % (frame->len + 8);
}

static void forge(uint32_t *random, const struct wire_frame *frame,
		  struct virtio_net_hdr *hdr)
{
	static const uint8_t types[] = {
		VIRTIO_NET_HDR_GSO_NONE, VIRTIO_NET_HDR_GSO_TCPV4,
		VIRTIO_NET_HDR_GSO_UDP, VIRTIO_NET_HDR_GSO_TCPV6,
		VIRTIO_NET_HDR_GSO_UDP_L4, VIRTIO_NET_HDR_GSO_UDP_L4,
		VIRTIO_NET_HDR_GSO_UDP_L4 | VIRTIO_NET_HDR_GSO_ECN,
	};

	*hdr = train_header();
	if (twin_random(random) % 8 == 0)
		hdr->flags = twin_random(random);
	hdr->gso_type = types[twin_random(random) % sizeof(types)];
	hdr->hdr_len = any_offset(random, frame);
	if (twin_random(random) % 4 == 0)
		hdr->csum_start = any_offset(random, frame);
	if (twin_random(random) % 4 == 0)
		hdr->csum_offset = twin_random(random) % 64;
	hdr->gso_size = any_offset(random, frame);
}

TEST_F(peer, no_forgery_hurts)
{
	uint32_t seed = twin_seed(), random = seed;
	struct virtio_net_hdr hdr;
	struct wire_frame frame;
	int i, taken = 0;

	TH_LOG("SRT_SEED=%u", seed);
	for (i = 0; i < FORGERIES * twin_soak(); i++) {
		build_train(&frame, &self->peer, PSN + i,
			    1 + twin_random(&random) % 200);
		/* Cut off anywhere, and now and then with lengths to match. */
		if (twin_random(&random) % 4 == 0)
			frame.len = WIRE_IP + twin_random(&random) %
					      (frame.len - WIRE_IP);
		if (frame.len > WIRE_BTH && twin_random(&random) % 2)
			wire_seal(&frame);
		if (frame.len > WIRE_BTH && twin_random(&random) % 4 == 0)
			frame.bytes[WIRE_BTH + twin_random(&random) %
				    (frame.len - WIRE_BTH)] =
				twin_random(&random);
		forge(&random, &frame, &hdr);
		taken += !wire_inject_as(&frame, &hdr);
	}
	EXPECT_LT(FORGERIES / 8, taken);
	ASSERT_EQ(0, peer_reconnect(&self->peer, &self->attr));
	EXPECT_TRUE(hears(&self->peer, PSN));
}

TEST_HARNESS_MAIN
