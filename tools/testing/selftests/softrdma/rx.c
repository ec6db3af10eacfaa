// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receiving, packet by packet: a peer made of frames talks to an RC QP, with
 * packets that are right and with packets that are not.
 */
#include "wire_fixture.h"

#include <arpa/inet.h>
#include <errno.h>

#define PEER_QPN	0x77
#define FIRST_PSN	0x123456	/* rq_psn of verbs_attr() */
#define BUF_LEN		8192

/* What the counters were before what a test does next. */
static struct counters before;

FIXTURE(rx)
{
	struct verbs_set set;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
};

static bool post_recv(struct ibv_qp *qp, struct ibv_mr *mr, uint8_t *buf)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buf, .length = BUF_LEN, .lkey = mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = 7, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	return !ibv_post_recv(qp, &wr, &bad);
}

/* To RTR. Ours is the address @ours; the peer is behind @theirs. */
static int connect_qp(struct verbs_set *set, struct ibv_qp *qp,
		      const char *ours, const char *theirs, enum ibv_mtu mtu)
{
	struct verbs_set to = *set;
	struct ibv_qp_attr attr;
	int ret;

	to.gid_index = verbs_gid_index(set->ctx, ours, NULL);
	if (to.gid_index < 0)
		return ENOENT;
	memset(&to.gid, 0, sizeof(to.gid));
	if (inet_pton(AF_INET6, theirs, to.gid.raw) != 1) {
		memset(to.gid.raw + 10, 0xff, 2);
		inet_pton(AF_INET, theirs, to.gid.raw + 12);
	}
	ret = verbs_qp_to(&to, qp, IBV_QPS_INIT, PEER_QPN);
	if (ret)
		return ret;
	verbs_attr(&to, &attr, IBV_QPS_RTR, PEER_QPN);
	attr.path_mtu = mtu;
	return ibv_modify_qp(qp, &attr,
			     verbs_mask(qp->qp_type, IBV_QPS_INIT,
					IBV_QPS_RTR));
}

FIXTURE_SETUP(rx)
{
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
	self->qp = verbs_qp(&self->set, IBV_QPT_RC);
	ASSERT_NE(NULL, self->qp);
	self->buf = aligned_alloc(4096, BUF_LEN);
	ASSERT_NE(NULL, self->buf);
	memset(self->buf, 0xee, BUF_LEN);
	self->mr = ibv_reg_mr(self->set.pd, self->buf, BUF_LEN,
			      IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, self->mr);
	ASSERT_EQ(0, connect_qp(&self->set, self->qp, TOPO_IPV4, WIRE_PEER,
				IBV_MTU_1024));
	ASSERT_TRUE(post_recv(self->qp, self->mr, self->buf));
}

FIXTURE_TEARDOWN(rx)
{
	EXPECT_EQ(0, ibv_destroy_qp(self->qp));
	EXPECT_EQ(0, ibv_dereg_mr(self->mr));
	EXPECT_EQ(0, verbs_close_set(&self->set));
	free(self->buf);
}

/* ---- counters ---- */

static bool is_of_receiving(const char *name)
{
	return !strncmp(name, "rx_drop_", 8) || !strcmp(name, "rx_packets");
}

/* Did this counter go up by one, and no other of those of receiving? */
static bool only_counted(const struct counters *before, const char *name)
{
	static struct counters now;
	bool right, good = false;
	int i;

	if (counters_read(&now) || now.count != before->count)
		return false;
	for (i = 0; i < now.count; i++) {
		right = !strcmp(now.name[i], name);
		if (!is_of_receiving(now.name[i]))
			continue;
		if (now.value[i] != before->value[i] + right) {
			fprintf(stderr, "# %s went from %lu to %lu\n",
				now.name[i], before->value[i], now.value[i]);
			return false;
		}
		good |= right;
	}
	return good;
}

/* Is the frame, once injected, counted there and nowhere else? */
static bool is_counted(const struct wire_frame *frame, const char *name)
{
	return !counters_read(&before) && !wire_inject(frame, false) &&
	       only_counted(&before, name);
}

/* ---- packets that are wrong ---- */

static void flip_payload(struct wire_frame *f)
{
	wire_bth(f)[12] ^= 1;
}

static void flip_icrc(struct wire_frame *f)
{
	f->bytes[f->len - 1] ^= 0x80;
}

static void set_opcode_unknown(struct wire_frame *f)
{
	wire_bth(f)[0] = 0x1f;
	wire_seal(f);
}

static void set_version(struct wire_frame *f)
{
	wire_bth(f)[1] |= 1;
	wire_seal(f);
}

static void pad_without_payload(struct wire_frame *f)
{
	f->len -= 8;
	wire_bth(f)[1] |= 0x10;
	wire_seal(f);
}

static void add_byte(struct wire_frame *f)
{
	f->len++;
	wire_seal(f);
}

static void short_middle(struct wire_frame *f)
{
	wire_bth(f)[0] = RC_SEND_MIDDLE;
	wire_seal(f);
}

static void cut_in_bth(struct wire_frame *f)
{
	f->len = WIRE_BTH + 8;
	wire_seal(f);
}

static void cut_in_icrc(struct wire_frame *f)
{
	f->len = WIRE_BTH + 15;
	wire_seal(f);
}

/* BTH, 8 bytes and the ICRC: a WRITE's RETH has 16. */
static void cut_in_reth(struct wire_frame *f)
{
	wire_bth(f)[0] = RC_WRITE_ONLY;
	wire_seal(f);
}

static void set_qpn(struct wire_frame *f)
{
	wire_bth(f)[5] = 0xfe;
	wire_seal(f);
}

static void set_pkey(struct wire_frame *f)
{
	wire_bth(f)[2] = 0x92;
	wire_seal(f);
}

static void set_opcode_uc(struct wire_frame *f)
{
	wire_bth(f)[0] = UC_SEND_ONLY;
	wire_seal(f);
}

/* Its DETH is where the payload was. */
static void set_opcode_ud(struct wire_frame *f)
{
	wire_bth(f)[0] = UD_SEND_ONLY;
	wire_seal(f);
}

static void set_source(struct wire_frame *f)
{
	f->bytes[WIRE_IP + 15] = 3;
	wire_seal(f);
}

/* The QP is in RTR: it has asked for nothing. */
static void set_opcode_ack(struct wire_frame *f)
{
	wire_bth(f)[0] = RC_ACK;
	f->len -= 4;
	wire_seal(f);
}

static void udp_too_long(struct wire_frame *f)
{
	f->bytes[WIRE_UDP + 5] += 4;
	wire_seal_sums(f);
}

static void udp_too_short(struct wire_frame *f)
{
	f->bytes[WIRE_UDP + 5] -= 4;
	wire_seal_sums(f);
}

static void add_ip_option(struct wire_frame *f)
{
	uint8_t *udp = f->bytes + WIRE_UDP;

	memmove(udp + 4, udp, f->len - WIRE_UDP);
	memset(udp, 1, 4);
	f->bytes[WIRE_IP] = 0x46;
	f->len += 4;
	wire_seal(f);
}

static const struct wrong {
	const char *counter;
	void (*spoil)(struct wire_frame *frame);
} wrongs[] = {
	{ "rx_drop_icrc", flip_payload },
	{ "rx_drop_icrc", flip_icrc },
	{ "rx_drop_opcode", set_opcode_unknown },
	{ "rx_drop_version", set_version },
	{ "rx_drop_pad", pad_without_payload },
	{ "rx_drop_unaligned", add_byte },
	{ "rx_drop_length", short_middle },
	{ "rx_drop_short", cut_in_bth },
	{ "rx_drop_short", cut_in_icrc },
	{ "rx_drop_short", cut_in_reth },
	{ "rx_drop_unknown_qp", set_qpn },
	{ "rx_drop_pkey", set_pkey },
	{ "rx_drop_transport", set_opcode_uc },
	{ "rx_drop_transport", set_opcode_ud },
	{ "rx_drop_source", set_source },
	{ "rx_drop_state", set_opcode_ack },
	{ "rx_drop_malformed", udp_too_long },
	{ "rx_drop_malformed", udp_too_short },
	{ "rx_drop_malformed", add_ip_option },
};

static const uint8_t data[8] = "received";

static void build_send(struct wire_frame *f, uint32_t qpn, uint32_t psn)
{
	struct wire_packet packet = {
		.opcode = RC_SEND_ONLY, .qpn = qpn, .psn = psn, .ip_id = 0x4711,
		.payload = data, .payload_len = sizeof(data),
	};

	wire_build(f, &packet);
}

/* Nothing has happened to memory or queues. */
static bool untouched(struct ibv_cq *cq, const uint8_t *buf)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; i < BUF_LEN; i++)
		if (buf[i] != 0xee)
			return false;
	return ibv_poll_cq(cq, 1, &wc) == 0;
}

static bool completed(struct ibv_cq *cq, const uint8_t *buf, uint32_t len)
{
	struct ibv_wc wc;

	return ibv_poll_cq(cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS &&
	       wc.opcode == IBV_WC_RECV && wc.byte_len == len &&
	       !memcmp(buf, data, sizeof(data));
}

TEST_F(rx, wrong_packets_are_counted_and_change_nothing)
{
	struct wire_frame frame;
	size_t i;

	for (i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		ASSERT_EQ(0, counters_read(&before));
		build_send(&frame, self->qp->qp_num, FIRST_PSN);
		wrongs[i].spoil(&frame);
		ASSERT_EQ(0, wire_inject(&frame, false));
		EXPECT_TRUE(only_counted(&before, wrongs[i].counter)) {
			TH_LOG("case %zu, %s", i, wrongs[i].counter);
		}
		EXPECT_TRUE(untouched(self->set.cq, self->buf));
		EXPECT_EQ(IBV_QPS_RTR, verbs_qp_state(self->qp));
	}
	/* The PSN is still the expected one. */
	ASSERT_EQ(0, counters_read(&before));
	build_send(&frame, self->qp->qp_num, FIRST_PSN);
	ASSERT_EQ(0, wire_inject(&frame, false));
	EXPECT_TRUE(only_counted(&before, "rx_packets"));
	EXPECT_TRUE(completed(self->set.cq, self->buf, sizeof(data)));
}

TEST_F(rx, ip_id_is_under_the_icrc)
{
	struct wire_frame frame;
	uint8_t icrc[4];

	ASSERT_EQ(0, counters_read(&before));
	build_send(&frame, self->qp->qp_num, FIRST_PSN);
	memcpy(icrc, frame.bytes + frame.len - 4, 4);
	frame.bytes[WIRE_IP + 4] ^= 1;
	wire_seal(&frame);
	memcpy(frame.bytes + frame.len - 4, icrc, 4);
	ASSERT_EQ(0, wire_inject(&frame, false));
	EXPECT_TRUE(only_counted(&before, "rx_drop_icrc"));
	EXPECT_TRUE(untouched(self->set.cq, self->buf));
}

TEST_F(rx, what_routers_change_is_not_under_the_icrc)
{
	struct wire_frame frame;
	uint8_t icrc[4];

	ASSERT_EQ(0, counters_read(&before));
	build_send(&frame, self->qp->qp_num, FIRST_PSN);
	memcpy(icrc, frame.bytes + frame.len - 4, 4);
	frame.bytes[WIRE_IP + 1] = 0x03;
	frame.bytes[WIRE_IP + 8] = 17;
	wire_bth(&frame)[4] = 0xc0;
	wire_seal(&frame);
	memcpy(frame.bytes + frame.len - 4, icrc, 4);
	ASSERT_EQ(0, wire_inject(&frame, false));
	EXPECT_TRUE(only_counted(&before, "rx_packets"));
	EXPECT_TRUE(completed(self->set.cq, self->buf, sizeof(data)));
}

/* A stack that still owes the UDP checksum has not sent it over a wire. */
TEST_F(rx, icrc_of_a_virtio_peer_is_trusted)
{
	struct wire_frame frame;

	ASSERT_EQ(0, counters_read(&before));
	build_send(&frame, self->qp->qp_num, FIRST_PSN);
	flip_icrc(&frame);
	ASSERT_EQ(0, wire_inject(&frame, true));
	EXPECT_TRUE(only_counted(&before, "rx_packets"));
	EXPECT_TRUE(completed(self->set.cq, self->buf, sizeof(data)));
}

TEST_F(rx, qp_in_init_and_error_hears_nothing)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_INIT, IBV_QPS_ERR };
	struct wire_frame frame;
	struct ibv_qp *qp;
	int i;

	for (i = 0; i < 2; i++) {
		qp = verbs_qp(&self->set, IBV_QPT_RC);
		ASSERT_NE(NULL, qp);
		ASSERT_EQ(0, verbs_qp_to(&self->set, qp, states[i], PEER_QPN));
		ASSERT_EQ(0, counters_read(&before));
		build_send(&frame, qp->qp_num, FIRST_PSN);
		ASSERT_EQ(0, wire_inject(&frame, false));
		EXPECT_TRUE(only_counted(&before, "rx_drop_state"));
		EXPECT_EQ(0, ibv_destroy_qp(qp));
	}
}

TEST_F(rx, ipv6_packets_arrive)
{
	struct wire_packet packet = {
		.v6 = true, .opcode = RC_SEND_ONLY, .psn = FIRST_PSN,
		.payload = data, .payload_len = sizeof(data),
	};
	struct wire_frame frame;

	ASSERT_EQ(0, connect_qp(&self->set, self->qp, TOPO_IPV6, WIRE_PEER6,
				IBV_MTU_1024));
	ASSERT_TRUE(post_recv(self->qp, self->mr, self->buf));
	packet.qpn = self->qp->qp_num;

	wire_build(&frame, &packet);
	flip_icrc(&frame);
	EXPECT_TRUE(is_counted(&frame, "rx_drop_icrc"));
	EXPECT_TRUE(untouched(self->set.cq, self->buf));

	wire_build(&frame, &packet);
	EXPECT_TRUE(is_counted(&frame, "rx_packets"));
	EXPECT_TRUE(completed(self->set.cq, self->buf, sizeof(data)));
}

/* Longer than the linear part of the skb that a tap makes. */
TEST_F(rx, packet_in_fragments_arrives)
{
	static uint8_t payload[4096];
	struct wire_packet packet = {
		.opcode = RC_SEND_ONLY, .psn = FIRST_PSN, .ip_id = 1,
		.payload = payload, .payload_len = sizeof(payload),
	};
	struct wire_frame frame;
	size_t i;

	ASSERT_EQ(0, connect_qp(&self->set, self->qp, TOPO_IPV4, WIRE_PEER,
				IBV_MTU_4096));
	ASSERT_TRUE(post_recv(self->qp, self->mr, self->buf));
	packet.qpn = self->qp->qp_num;
	for (i = 0; i < sizeof(payload); i++)
		payload[i] = i * 7 + (i >> 8);
	memcpy(payload, data, sizeof(data));

	wire_build(&frame, &packet);
	frame.bytes[frame.len - 5] ^= 0x10;
	EXPECT_TRUE(is_counted(&frame, "rx_drop_icrc"));
	EXPECT_TRUE(untouched(self->set.cq, self->buf));

	wire_build(&frame, &packet);
	EXPECT_TRUE(is_counted(&frame, "rx_packets"));
	EXPECT_TRUE(completed(self->set.cq, self->buf, sizeof(payload)));
	EXPECT_EQ(0, memcmp(self->buf, payload, sizeof(payload)));
}

TEST_HARNESS_MAIN
