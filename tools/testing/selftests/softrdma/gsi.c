// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * QP 1 survives whatever is sent to it: what is no management datagram is
 * dropped and counted, and connections can be made afterwards.
 */
#include "wire_fixture.h"

#include "cm.h"

#define GSI_QKEY	0x80010000u
#define MAD_LEN		256

/* More than the receives that the kernel keeps posted on QP 1. */
#define MANY		1200

FIXTURE(gsi)
{
	bool v6;
};

FIXTURE_VARIANT(gsi)
{
	bool v6;
};

FIXTURE_VARIANT_ADD(gsi, ipv4)
{
	.v6 = false,
};

FIXTURE_VARIANT_ADD(gsi, ipv6)
{
	.v6 = true,
};

FIXTURE_SETUP(gsi)
{
	struct ibv_context *ctx = verbs_open(TOPO_LINK);

	ASSERT_NE(NULL, ctx);
	EXPECT_EQ(0, verbs_wait_gid(ctx, TOPO_IPV4, true, 5000));
	EXPECT_EQ(0, verbs_wait_gid(ctx, TOPO_IPV6, true, 5000));
	EXPECT_EQ(0, ibv_close_device(ctx));
	self->v6 = variant->v6;
}

FIXTURE_TEARDOWN(gsi)
{
}

/* A datagram of @len bytes to QP 1. */
static void build(struct wire_frame *frame, bool v6, size_t len, uint32_t qkey,
		  unsigned int seed)
{
	static uint8_t payload[4400];
	uint8_t deth[8] = {
		qkey >> 24, qkey >> 16, qkey >> 8, qkey, 0, 0, 0, 1,
	};
	struct wire_packet packet = {
		.v6 = v6,
		.opcode = UD_SEND_ONLY,
		.pad = -len & 3,
		.qpn = 1,
		.ip_id = seed,
		.ext = deth,
		.ext_len = sizeof(deth),
		.payload = payload,
		.payload_len = (len + 3) & ~3ul,
	};

	cm_fill(payload, sizeof(payload), seed);
	wire_build(frame, &packet);
}

/* Injected, does this counter go up by one? */
static bool counts(const struct wire_frame *frame, const char *counter)
{
	int64_t before = counters_get(counter), after;

	if (wire_inject(frame, false))
		return false;
	after = counters_get(counter);
	if (before >= 0 && after == before + 1)
		return true;
	fprintf(stderr, "# %s went from %ld to %ld\n", counter, (long)before,
		(long)after);
	return false;
}

/* A connection by QP 1 of the same device, and a message over it. */
static bool is_alive(bool v6)
{
	struct cm_config config = { .server = v6 ? TOPO_IPV6 : TOPO_IPV4 };
	struct cm_pair pair;
	struct ibv_wc wc;
	bool good;

	good = !cm_open(&pair, &config) &&
	       (pair.server.mr = rdma_reg_msgs(pair.server.id, pair.server.buf,
					       CM_BUF_LEN)) &&
	       !rdma_post_recv(pair.server.id, NULL, pair.server.buf, 64,
			       pair.server.mr) &&
	       !rdma_post_send(pair.client.id, NULL, "alive", 6, NULL,
			       IBV_SEND_INLINE) &&
	       cm_poll(pair.server.id->recv_cq, &wc, 10000) == 1 &&
	       wc.status == IBV_WC_SUCCESS &&
	       !strcmp((char *)pair.server.buf, "alive");
	return !cm_close(&pair) && good;
}

TEST_F(gsi, what_is_no_mad_is_dropped)
{
	static const size_t lengths[] = {
		0, 1, 4, 24, 255, 257, 260, 512, 2048, 4096,
	};
	struct wire_frame frame;
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		build(&frame, self->v6, lengths[i], GSI_QKEY, i);
		EXPECT_TRUE(counts(&frame, "ud_drop_length")) {
			TH_LOG("%zu bytes", lengths[i]);
		}
	}
	EXPECT_TRUE(is_alive(self->v6));
}

TEST_F(gsi, wrong_keys_and_opcodes_are_dropped)
{
	struct wire_frame frame;

	build(&frame, self->v6, MAD_LEN, 0x11111111, 1);
	EXPECT_TRUE(counts(&frame, "ud_drop_qkey"));
	build(&frame, self->v6, MAD_LEN, GSI_QKEY & ~0x80000000u, 1);
	EXPECT_TRUE(counts(&frame, "ud_drop_qkey"));
	build(&frame, self->v6, MAD_LEN, GSI_QKEY, 1);
	wire_bth(&frame)[2] = 0x12;
	wire_seal(&frame);
	EXPECT_TRUE(counts(&frame, "rx_drop_pkey"));
	build(&frame, self->v6, MAD_LEN, GSI_QKEY, 1);
	wire_bth(&frame)[0] = RC_SEND_ONLY;
	wire_seal(&frame);
	EXPECT_TRUE(counts(&frame, "rx_drop_transport"));
	build(&frame, self->v6, MAD_LEN, GSI_QKEY, 1);
	frame.bytes[frame.len - 1] ^= 1;
	EXPECT_TRUE(counts(&frame, "rx_drop_icrc"));
	EXPECT_TRUE(is_alive(self->v6));
}

/* Each would take one of the receives, which nobody would post again. */
TEST_F(gsi, oversized_datagrams_use_up_no_receives)
{
	struct wire_frame frame;
	int i;

	build(&frame, self->v6, 1024, GSI_QKEY, 1);
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(0, wire_inject(&frame, false));
	EXPECT_TRUE(is_alive(self->v6));
}

/* Of the right length, and nonsense: the kernel reads and forgets them. */
TEST_F(gsi, garbage_mads_are_survived)
{
	struct wire_frame frame;
	int i;

	for (i = 0; i < MANY; i++) {
		build(&frame, self->v6, MAD_LEN, GSI_QKEY, i);
		/* Now and then with the versions and classes of real ones. */
		if (i & 1) {
			wire_bth(&frame)[20] = 1;
			wire_bth(&frame)[21] = i & 2 ? 0x07 : 0x03;
			wire_bth(&frame)[22] = 2;
			wire_bth(&frame)[23] = i & 4 ? 0x03 : 0x81;
			wire_bth(&frame)[36] = 0;
			wire_bth(&frame)[37] = 0x10 + i % 16;
			wire_seal(&frame);
		}
		ASSERT_EQ(0, wire_inject(&frame, false));
	}
	EXPECT_TRUE(is_alive(self->v6));
}

TEST_F(gsi, piece_of_a_mad_is_none)
{
	struct wire_frame frame;
	int64_t before;

	if (self->v6)
		return;
	/* The first fragment of a packet of which no other comes. */
	build(&frame, false, MAD_LEN, GSI_QKEY, 1);
	frame.bytes[WIRE_IP + 6] = 0x20;
	wire_seal(&frame);
	before = counters_get("ud_received");
	ASSERT_EQ(0, wire_inject(&frame, false));
	EXPECT_EQ(before, counters_get("ud_received"));
	/* One that says it is a MAD, and is cut off. */
	build(&frame, false, MAD_LEN, GSI_QKEY, 1);
	frame.len -= 128;
	wire_seal(&frame);
	EXPECT_TRUE(counts(&frame, "ud_drop_length"));
	EXPECT_TRUE(is_alive(false));
}

TEST_HARNESS_MAIN
