// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams and their address handles, seen from the wire: what of the handle
 * is in the headers, what of the headers a receiver is given, and how it
 * answers.
 */
#include "wire_fixture.h"

#include <arpa/inet.h>

#include "cm.h"

#define GRH		40
#define LEN		100
#define PEER_QPN	0x77
#define SOON_MS		10000

FIXTURE(ud)
{
	struct verbs_set set;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
	union ibv_gid peer;
	int gid_index;
	bool v6;
};

FIXTURE_VARIANT(ud)
{
	const char *ours, *theirs;
	bool v6;
};

FIXTURE_VARIANT_ADD(ud, ipv4)
{
	.ours = TOPO_IPV4, .theirs = WIRE_PEER,
};

FIXTURE_VARIANT_ADD(ud, ipv6)
{
	.ours = TOPO_IPV6, .theirs = WIRE_PEER6, .v6 = true,
};

static bool post_recv(struct ibv_qp *qp, struct ibv_mr *mr, uint8_t *buf)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buf, .length = 4096, .lkey = mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = 7, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	return !ibv_post_recv(qp, &wr, &bad);
}

FIXTURE_SETUP(ud)
{
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
	ASSERT_EQ(0, verbs_wait_gid(self->set.ctx, variant->ours, true, 5000));
	self->v6 = variant->v6;
	self->gid_index = verbs_gid_index(self->set.ctx, variant->ours, NULL);
	if (inet_pton(AF_INET6, variant->theirs, self->peer.raw) != 1) {
		memset(self->peer.raw, 0, 10);
		memset(self->peer.raw + 10, 0xff, 2);
		inet_pton(AF_INET, variant->theirs, self->peer.raw + 12);
	}
	self->qp = verbs_qp(&self->set, IBV_QPT_UD);
	ASSERT_NE(NULL, self->qp);
	ASSERT_EQ(0, verbs_qp_to(&self->set, self->qp, IBV_QPS_RTS, 0));
	self->buf = aligned_alloc(4096, 8192);
	ASSERT_NE(NULL, self->buf);
	memset(self->buf, 0xee, 4096);
	cm_fill(self->buf + 4096, 4096, 1);
	self->mr = ibv_reg_mr(self->set.pd, self->buf, 8192,
			      IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, self->mr);
	ASSERT_TRUE(post_recv(self->qp, self->mr, self->buf));
}

FIXTURE_TEARDOWN(ud)
{
	EXPECT_EQ(0, ibv_destroy_qp(self->qp));
	EXPECT_EQ(0, ibv_dereg_mr(self->mr));
	EXPECT_EQ(0, verbs_close_set(&self->set));
	free(self->buf);
}

static struct ibv_ah_attr ah_attr(const union ibv_gid *dgid, int gid_index)
{
	return (struct ibv_ah_attr) {
		.is_global = 1,
		.port_num = VERBS_PORT,
		.grh = {
			.dgid = *dgid,
			.sgid_index = gid_index,
			.hop_limit = 17,
			.traffic_class = 0xb8,
			.flow_label = 0x54321,
		},
	};
}

static bool post_datagram(struct ibv_qp *qp, struct ibv_mr *mr,
			  struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)mr->addr + 4096,
		.length = LEN,
		.lkey = mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = 9,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = {
			.ah = ah, .remote_qpn = qpn, .remote_qkey = qkey,
		},
	};

	return ah && !ibv_post_send(qp, &wr, &bad);
}

/* A datagram of LEN bytes to PEER_QPN, which has left if there is a way. */
static bool send_to_peer(struct verbs_set *set, struct ibv_qp *qp,
			 struct ibv_mr *mr, struct ibv_ah *ah, uint32_t qkey)
{
	struct ibv_wc wc;

	return post_datagram(qp, mr, ah, PEER_QPN, qkey) &&
	       cm_poll(set->cq, &wc, SOON_MS) == 1 &&
	       wc.status == IBV_WC_SUCCESS && wc.wr_id == 9;
}

/* The same; what left is in @frame. */
static bool send_datagram(struct verbs_set *set, struct ibv_qp *qp,
			  struct ibv_mr *mr, struct ibv_ah *ah, uint32_t qkey,
			  struct wire_frame *frame)
{
	return send_to_peer(set, qp, mr, ah, qkey) &&
	       !wire_capture(frame, SOON_MS);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

TEST_F(ud, handle_is_in_the_headers)
{
	struct ibv_ah_attr attr = ah_attr(&self->peer, self->gid_index);
	struct ibv_ah *ah = ibv_create_ah(self->set.pd, &attr);
	struct wire_frame frame;
	uint8_t *ip = frame.bytes + WIRE_IP, *bth;
	uint16_t port;

	ASSERT_TRUE(send_datagram(&self->set, self->qp, self->mr, ah,
				  VERBS_QKEY, &frame));
	ASSERT_EQ(self->v6, frame.v6);
	/* The core replaces the hop limit by that of the route to the peer. */
	if (self->v6) {
		EXPECT_EQ(0x6b854321, get32(ip));
		EXPECT_EQ(64, ip[7]);
		EXPECT_EQ(0, memcmp(ip + 24, self->peer.raw, 16));
	} else {
		EXPECT_EQ(0x45, ip[0]);
		EXPECT_EQ(0xb8, ip[1]);
		EXPECT_EQ(64, ip[8]);
		EXPECT_EQ(WIRE_OURS4, get32(ip + 12));
		EXPECT_EQ(WIRE_PEER4, get32(ip + 16));
	}
	bth = wire_bth(&frame);
	/* Annex A17: the port is of the dynamic range, from the flow label. */
	port = bth[-8] << 8 | bth[-7];
	EXPECT_LE(0xc000, port);
	EXPECT_EQ(UD_SEND_ONLY, bth[0]);
	EXPECT_EQ(0xffff, bth[2] << 8 | bth[3]);
	EXPECT_EQ(PEER_QPN, get32(bth + 4) & 0xffffff);
	EXPECT_EQ(VERBS_QKEY, get32(bth + 12));
	EXPECT_EQ(self->qp->qp_num, get32(bth + 16));
	EXPECT_TRUE(cm_holds(bth + 20, LEN, 1));
	EXPECT_EQ(0, ibv_destroy_ah(ah));
}

/* No packet is built for a QP of the same device; its receiver finds the same. */
TEST_F(ud, handle_is_in_the_header_of_a_looped_datagram)
{
	const uint8_t *ip = self->buf + (self->v6 ? 0 : 20);
	struct ibv_ah_attr attr;
	union ibv_gid ours;
	struct ibv_ah *ah;
	struct ibv_wc wc;
	int i;

	ASSERT_EQ(0, ibv_query_gid(self->set.ctx, VERBS_PORT, self->gid_index,
				   &ours));
	attr = ah_attr(&ours, self->gid_index);
	ah = ibv_create_ah(self->set.pd, &attr);
	ASSERT_TRUE(post_datagram(self->qp, self->mr, ah, self->qp->qp_num,
				  VERBS_QKEY));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(1, cm_poll(self->set.cq, &wc, SOON_MS));
		EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	}
	if (self->v6) {
		EXPECT_EQ(0x6b854321, get32(ip));
		EXPECT_EQ(0, memcmp(ip + 8, ours.raw, 16));
		EXPECT_EQ(0, memcmp(ip + 24, ours.raw, 16));
	} else {
		EXPECT_EQ(0xb8, ip[1]);
		EXPECT_EQ(WIRE_OURS4, get32(ip + 12));
		EXPECT_EQ(WIRE_OURS4, get32(ip + 16));
	}
	EXPECT_EQ(0, ibv_destroy_ah(ah));
}

/* Flows of one label take one way; others may take others (A17.9.4). */
TEST_F(ud, source_port_follows_the_flow_label)
{
	struct ibv_ah_attr attr = ah_attr(&self->peer, self->gid_index);
	uint16_t port[3];
	struct wire_frame frame;
	struct ibv_ah *ah;
	int i;

	for (i = 0; i < 3; i++) {
		attr.grh.flow_label = i < 2 ? 0x12345 : 0x54321;
		ah = ibv_create_ah(self->set.pd, &attr);
		ASSERT_TRUE(send_datagram(&self->set, self->qp, self->mr, ah,
					  VERBS_QKEY, &frame));
		port[i] = wire_bth(&frame)[-8] << 8 | wire_bth(&frame)[-7];
		EXPECT_EQ(0, ibv_destroy_ah(ah));
	}
	EXPECT_EQ(port[0], port[1]);
	EXPECT_NE(port[0], port[2]);
}

/* No more than 20 bits of it are sent, and nothing in front of them is hurt. */
TEST_F(ud, flow_label_is_cut_to_20_bits)
{
	struct ibv_ah_attr attr = ah_attr(&self->peer, self->gid_index);
	uint8_t bytes[2][WIRE_IP + 4];
	struct wire_frame frame;
	uint16_t port[2];
	struct ibv_ah *ah;
	int i;

	for (i = 0; i < 2; i++) {
		attr.grh.flow_label = i ? 0xfff54321 : 0x54321;
		ah = ibv_create_ah(self->set.pd, &attr);
		ASSERT_TRUE(send_datagram(&self->set, self->qp, self->mr, ah,
					  VERBS_QKEY, &frame));
		memcpy(bytes[i], frame.bytes, sizeof(bytes[i]));
		port[i] = wire_bth(&frame)[-8] << 8 | wire_bth(&frame)[-7];
		EXPECT_EQ(0, ibv_destroy_ah(ah));
	}
	EXPECT_EQ(port[0], port[1]);
	EXPECT_EQ(0, memcmp(bytes[0], bytes[1], sizeof(bytes[0])));
}

/* With the high bit set it is the QP's own that is sent (10.2.5). */
TEST_F(ud, controlled_qkey_is_replaced_by_that_of_the_qp)
{
	struct ibv_ah_attr attr = ah_attr(&self->peer, self->gid_index);
	struct ibv_ah *ah = ibv_create_ah(self->set.pd, &attr);
	struct wire_frame frame;

	ASSERT_TRUE(send_datagram(&self->set, self->qp, self->mr, ah,
				  0x80000001, &frame));
	EXPECT_EQ(VERBS_QKEY, get32(wire_bth(&frame) + 12));
	ASSERT_TRUE(send_datagram(&self->set, self->qp, self->mr, ah,
				  0x7fffffff, &frame));
	EXPECT_EQ(0x7fffffff, get32(wire_bth(&frame) + 12));
	EXPECT_EQ(0, ibv_destroy_ah(ah));
}

/* A datagram from the peer's PEER_QPN. */
static void build(struct wire_frame *frame, bool v6, uint32_t qpn,
		  uint32_t qkey, size_t len)
{
	static uint8_t payload[4400];
	uint8_t deth[8] = {
		qkey >> 24, qkey >> 16, qkey >> 8, qkey, 0, 0, 0, PEER_QPN,
	};
	struct wire_packet packet = {
		.v6 = v6,
		.opcode = UD_SEND_ONLY,
		.qpn = qpn,
		.ip_id = 0x4711,
		.ext = deth,
		.ext_len = sizeof(deth),
		.payload = payload,
		.payload_len = len,
	};
	uint8_t *ip = frame->bytes + WIRE_IP;

	cm_fill(payload, sizeof(payload), 5);
	wire_build(frame, &packet);
	if (v6) {
		ip[0] = 0x6b;
		ip[1] = 0x81;
		ip[2] = 0x23;
		ip[3] = 0x45;
	} else {
		ip[1] = 0xb8;
	}
	wire_seal(frame);
}

TEST_F(ud, receiver_is_given_the_header)
{
	uint8_t zero[20] = {};
	struct wire_frame frame;
	struct ibv_wc wc;

	build(&frame, self->v6, self->qp->qp_num, VERBS_QKEY, LEN);
	ASSERT_EQ(0, wire_inject(&frame, false));
	ASSERT_EQ(1, cm_poll(self->set.cq, &wc, SOON_MS));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(IBV_WC_RECV, wc.opcode);
	EXPECT_EQ(GRH + LEN, wc.byte_len);
	EXPECT_EQ(PEER_QPN, wc.src_qp);
	EXPECT_EQ(0, wc.pkey_index);
	EXPECT_EQ(IBV_WC_GRH, wc.wc_flags);
	/* Where mlx5 says which header it was, and UCX looks. */
	EXPECT_EQ(self->v6 ? 1 : 2, wc.sl);
	EXPECT_TRUE(cm_holds(self->buf + GRH, LEN, 5));
	/* IPv4: 20 bytes of nothing, then the header (A17.4.5.1). */
	if (self->v6) {
		EXPECT_EQ(0, memcmp(self->buf, frame.bytes + WIRE_IP, 40));
	} else {
		EXPECT_EQ(0, memcmp(self->buf, zero, 20));
		EXPECT_EQ(0, memcmp(self->buf + 20, frame.bytes + WIRE_IP,
				    20));
	}
}

TEST_F(ud, wrong_keys_and_lengths_are_dropped_and_counted)
{
	static const char *const counters[] = {
		"ud_drop_qkey", "rx_drop_length", "rx_drop_pkey",
	};
	struct wire_frame frame;
	int64_t before;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 3; i++) {
		build(&frame, self->v6, self->qp->qp_num,
		      i == 0 ? VERBS_QKEY ^ 1 : VERBS_QKEY,
		      i == 1 ? 4100 : LEN);
		if (i == 2) {
			wire_bth(&frame)[3] = 0xfe;
			wire_seal(&frame);
		}
		before = counters_get(counters[i]);
		ASSERT_EQ(0, wire_inject(&frame, false));
		EXPECT_EQ(before + 1, counters_get(counters[i])) {
			TH_LOG("%s", counters[i]);
		}
	}
	EXPECT_EQ(0, ibv_poll_cq(self->set.cq, 1, &wc));
	EXPECT_TRUE(cm_is_all(self->buf, 4096, 0xee));
	/* A limited member of the default partition is one nevertheless. */
	build(&frame, self->v6, self->qp->qp_num, VERBS_QKEY, LEN);
	wire_bth(&frame)[2] = 0x7f;
	wire_seal(&frame);
	ASSERT_EQ(0, wire_inject(&frame, false));
	EXPECT_EQ(1, cm_poll(self->set.cq, &wc, SOON_MS));
}

/* Class A of 9.9.3: what is posted behind it is flushed, and not used. */
TEST_F(ud, receive_whose_memory_is_gone_ends_the_qp)
{
	struct ibv_mr nothing = { .lkey = 0xfffff600 };
	struct wire_frame frame;
	struct ibv_wc wc;
	int i;

	ASSERT_TRUE(post_recv(self->qp, &nothing, self->buf));
	ASSERT_TRUE(post_recv(self->qp, self->mr, self->buf));
	build(&frame, self->v6, self->qp->qp_num, VERBS_QKEY, LEN);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, wire_inject(&frame, false));
		ASSERT_EQ(1, cm_poll(self->set.cq, &wc, SOON_MS));
		EXPECT_EQ(i ? IBV_WC_LOC_PROT_ERR : IBV_WC_SUCCESS, wc.status);
	}
	ASSERT_EQ(1, cm_poll(self->set.cq, &wc, SOON_MS));
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc.status);
	EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(self->qp));
}

/* The answer goes where the datagram came from, with what it came with. */
TEST_F(ud, ibv_create_ah_from_wc_answers)
{
	struct ibv_ah_attr attr;
	struct wire_frame frame;
	struct ibv_ah *ah;
	struct ibv_wc wc;
	uint8_t *ip = frame.bytes + WIRE_IP;

	build(&frame, self->v6, self->qp->qp_num, VERBS_QKEY, LEN);
	ASSERT_EQ(0, wire_inject(&frame, false));
	ASSERT_EQ(1, cm_poll(self->set.cq, &wc, SOON_MS));
	ASSERT_EQ(0, ibv_init_ah_from_wc(self->set.ctx, VERBS_PORT, &wc,
					 (void *)self->buf, &attr));
	EXPECT_EQ(1, attr.is_global);
	EXPECT_EQ(self->gid_index, attr.grh.sgid_index);
	EXPECT_EQ(0, memcmp(&self->peer, &attr.grh.dgid, 16));
	if (self->v6)
		EXPECT_EQ(0x12345, attr.grh.flow_label);
	EXPECT_EQ(0xb8, attr.grh.traffic_class);

	ah = ibv_create_ah_from_wc(self->set.pd, &wc, (void *)self->buf,
				   VERBS_PORT);
	ASSERT_NE(NULL, ah);
	ASSERT_TRUE(send_datagram(&self->set, self->qp, self->mr, ah,
				  VERBS_QKEY, &frame));
	if (self->v6) {
		EXPECT_EQ(0, memcmp(ip + 24, self->peer.raw, 16));
		EXPECT_EQ(0x6b812345, get32(ip));
	} else {
		EXPECT_EQ(WIRE_PEER4, get32(ip + 16));
		EXPECT_EQ(0xb8, ip[1]);
	}
	EXPECT_TRUE(cm_holds(wire_bth(&frame) + 20, LEN, 1));
	EXPECT_EQ(0, ibv_destroy_ah(ah));
}

/* The MAC of a group follows from its address, nobody is asked for it. */
TEST_F(ud, group_has_the_mac_of_its_address)
{
	static const union ibv_gid group4 = {
		.raw = { [10] = 0xff, [11] = 0xff, 239, 0x81, 1, 2 },
	};
	static const union ibv_gid group6 = {
		.raw = { 0xff, 0x0e, [12] = 0x81, 1, 2, 3 },
	};
	static const uint8_t mac4[6] = { 1, 0, 0x5e, 1, 1, 2 };
	static const uint8_t mac6[6] = { 0x33, 0x33, 0x81, 1, 2, 3 };
	struct ibv_ah_attr attr = ah_attr(self->v6 ? &group6 : &group4,
					  self->gid_index);
	struct ibv_ah *ah = ibv_create_ah(self->set.pd, &attr);
	struct wire_frame frame;

	ASSERT_TRUE(send_datagram(&self->set, self->qp, self->mr, ah,
				  VERBS_QKEY, &frame));
	EXPECT_EQ(0, memcmp(frame.bytes, self->v6 ? mac6 : mac4, 6));
	EXPECT_EQ(17, frame.bytes[WIRE_IP + (self->v6 ? 7 : 8)]);
	EXPECT_EQ(0, ibv_destroy_ah(ah));
}

static struct ibv_ah *handle_for(struct verbs_set *set,
				 const union ibv_gid *peer, int gid_index,
				 uint32_t flow_label)
{
	struct ibv_ah_attr attr = ah_attr(peer, gid_index);

	attr.grh.flow_label = flow_label;
	return ibv_create_ah(set->pd, &attr);
}

static uint16_t port_of(struct wire_frame *frame)
{
	return wire_bth(frame)[-8] << 8 | wire_bth(frame)[-7];
}

/* The route of one flow serves another one only where no rule tells them apart. */
TEST_F(ud, rule_for_a_source_port_is_obeyed)
{
	const char *ip = self->v6 ? "ip -6" : "ip";
	struct wire_frame frame;
	struct ibv_ah *ah[2];
	uint16_t port[2];
	int64_t before;
	int i;

	for (i = 0; i < 2; i++) {
		ah[i] = handle_for(&self->set, &self->peer, self->gid_index,
				   i ? 0x54321 : 0x12345);
		ASSERT_TRUE(send_datagram(&self->set, self->qp, self->mr, ah[i],
					  VERBS_QKEY, &frame));
		port[i] = port_of(&frame);
	}
	ASSERT_NE(port[0], port[1]);
	ASSERT_EQ(0, topo_run("%s rule add priority 7 sport %u blackhole", ip,
			      port[1]));
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(send_datagram(&self->set, self->qp, self->mr, ah[0],
					  VERBS_QKEY, &frame));
		EXPECT_EQ(port[0], port_of(&frame));
		before = counters_get("tx_no_route");
		EXPECT_TRUE(send_to_peer(&self->set, self->qp, self->mr,
					  ah[1], VERBS_QKEY));
		EXPECT_EQ(before + 1, counters_get("tx_no_route"));
		EXPECT_NE(0, wire_capture(&frame, 0));
	}
	ASSERT_EQ(0, topo_run("%s rule del priority 7", ip));
	ASSERT_TRUE(send_datagram(&self->set, self->qp, self->mr, ah[1],
				  VERBS_QKEY, &frame));
	EXPECT_EQ(port[1], port_of(&frame));
	EXPECT_EQ(0, ibv_destroy_ah(ah[0]));
	EXPECT_EQ(0, ibv_destroy_ah(ah[1]));
}

TEST_HARNESS_MAIN
