// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that the interface has merged into one skb: each is verified and
 * delivered as if it had come alone.
 */
/* A tap with GRO. */
#define WIRE_SETUP wire_setup_merging
#include "wire_fixture.h"

#include <arpa/inet.h>

#include "knobs.h"
#include "rules.h"
#include "tracefs.h"

#define SLOT		2048
#define SLOTS		16
#define GRH		40
#define BATCH		4
#define TRIES		200
#define OTHER_ADDRESS	"10.78.0.1"

struct end {
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
	unsigned int posted;
};

FIXTURE(merged)
{
	struct verbs_set set;
	struct end end[2];
};

static bool post(struct end *end)
{
	unsigned int slot = end->posted++ % SLOTS;
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->buf + slot * SLOT, .length = SLOT,
		.lkey = end->mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = slot, .sg_list = &sge, .num_sge = 1,
	};
	struct ibv_recv_wr *bad;

	return !ibv_post_recv(end->qp, &wr, &bad);
}

static bool open_end(struct verbs_set *set, struct end *end)
{
	int i;

	end->qp = verbs_qp(set, IBV_QPT_UD);
	end->buf = calloc(SLOTS, SLOT);
	if (!end->qp || !end->buf)
		return false;
	end->mr = ibv_reg_mr(set->pd, end->buf, SLOTS * SLOT,
			     IBV_ACCESS_LOCAL_WRITE);
	if (!end->mr || verbs_qp_to(set, end->qp, IBV_QPS_RTR, 0))
		return false;
	for (i = 0; i < SLOTS; i++)
		if (!post(end))
			return false;
	return true;
}

FIXTURE_SETUP(merged)
{
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
	ASSERT_TRUE(open_end(&self->set, &self->end[0]));
	ASSERT_TRUE(open_end(&self->set, &self->end[1]));
}

FIXTURE_TEARDOWN(merged)
{
	int i;

	if (knob_exists("hold"))
		EXPECT_EQ(0, knob_turn("hold", false));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, ibv_destroy_qp(self->end[i].qp));
		EXPECT_EQ(0, ibv_dereg_mr(self->end[i].mr));
		free(self->end[i].buf);
	}
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

/**
 * struct batch - packets sent in one go
 * @to: which QP each is for
 * @id_step: how the IPv4 identification goes on from one to the next
 * @bad: which has a wrong ICRC, -1 for none
 * @bad_len: or a wrong length in its UDP header
 * @without_sum: they have no UDP checksums, like those of many NICs
 * @v6: they go by IPv6, without UDP checksums
 * @first_parts: they are first fragments
 * @to_other: they are for an address that no device has
 * @first_id: identification of the first
 * @serial: what their payload begins with
 */
struct batch {
	int to[BATCH];
	int id_step;
	int bad;
	bool bad_len;
	bool without_sum;
	bool v6;
	bool first_parts;
	bool to_other;
	uint16_t first_id;
	uint32_t serial;
};

static size_t payload_len(int i)
{
	/* Only the last packet may be shorter, or there is no merging. */
	return i == BATCH - 1 ? 600 : 1000;
}

static void fill(uint8_t *payload, const struct batch *batch, int i)
{
	size_t n;

	for (n = 0; n < payload_len(i); n++)
		payload[n] = n * 13 + i * 17 + batch->serial;
}

static int send_one(const struct batch *batch, struct ibv_qp *qp, int i)
{
	static const uint8_t deth[8] = { 0x11, 0x11, 0x11, 0x11, 0, 0, 0, 9 };
	static struct wire_frame frame;
	uint8_t payload[SLOT];
	struct wire_packet packet = {
		.v6 = batch->v6, .opcode = UD_SEND_ONLY,
		.qpn = qp->qp_num, .psn = i,
		.ip_id = batch->first_id + i * batch->id_step,
		.ext = deth, .ext_len = sizeof(deth),
		.payload = payload, .payload_len = payload_len(i),
	};

	fill(payload, batch, i);
	wire_build(&frame, &packet);
	if (i == batch->bad && batch->bad_len)
		wire_bth(&frame)[-3] ^= 1;
	else if (i == batch->bad)
		frame.bytes[frame.len - 1] ^= 1;
	if (batch->first_parts)
		frame.bytes[WIRE_IP + 6] = 0x20;
	if (batch->to_other)
		inet_pton(AF_INET, OTHER_ADDRESS, frame.bytes + WIRE_IP + 16);
	if (batch->first_parts || batch->to_other)
		wire_seal(&frame);
	if (!batch->without_sum && !batch->v6)
		wire_put_udp_sum(&frame);
	return wire_inject(&frame, false);
}

static uint16_t get16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

/* The IPv4 header that the packet had, without what the ICRC skips. */
static bool grh_is_right(const uint8_t *slot, const struct batch *batch, int i)
{
	const uint8_t *ip = slot + 20;
	uint32_t sum = 0;
	int n;

	for (n = 0; n < 20; n++)
		if (slot[n])
			return false;
	for (n = 0; n < 20; n += 2)
		sum += get16(ip + n);
	sum = (sum & 0xffff) + (sum >> 16);
	if (ip[0] != 0x45 || sum != 0xffff)
		return false;
	if (get16(ip + 4) != (uint16_t)(batch->first_id + i * batch->id_step))
		return false;
	return get16(ip + 2) == 20 + 8 + 12 + 8 + payload_len(i) + 4 &&
	       get16(ip + 14) == (WIRE_PEER4 & 0xffff) &&
	       get16(ip + 18) == (WIRE_OURS4 & 0xffff);
}

/* Which packet of the batch is in this slot? -1: none. */
static int identify(const uint8_t *slot, const struct batch *batch, int end)
{
	uint8_t payload[SLOT];
	int i;

	for (i = 0; i < BATCH; i++) {
		fill(payload, batch, i);
		if (batch->to[i] == end &&
		    !memcmp(slot + GRH, payload, payload_len(i)))
			return i;
	}
	return -1;
}

/* Each packet of the batch but the bad one completes, once, as it was sent. */
static bool all_arrive(struct verbs_set *set, struct end *ends,
		       const struct batch *batch)
{
	unsigned int want = (1u << BATCH) - 1, got = 0;
	long deadline = topo_now_ms() + 5000;
	struct ibv_wc wc;
	const uint8_t *slot;
	int end, i;

	if (batch->bad >= 0)
		want &= ~(1u << batch->bad);
	while (got != want) {
		if (topo_now_ms() > deadline) {
			fprintf(stderr, "# of %#x came %#x\n", want, got);
			return false;
		}
		if (ibv_poll_cq(set->cq, 1, &wc) != 1) {
			usleep(500);
			continue;
		}
		end = wc.qp_num == ends[1].qp->qp_num;
		slot = ends[end].buf + wc.wr_id * SLOT;
		i = identify(slot, batch, end);
		if (wc.status || i < 0 || (got & 1u << i) ||
		    wc.byte_len != GRH + payload_len(i) || wc.src_qp != 9 ||
		    (!batch->v6 && !grh_is_right(slot, batch, i))) {
			fprintf(stderr, "# completion %d, packet %d, %u bytes\n",
			       wc.status, i, wc.byte_len);
			return false;
		}
		got |= 1u << i;
		if (!post(&ends[end]))
			return false;
	}
	return true;
}

/*
 * Packets are merged only if they come within one tick, so this is tried until
 * one batch was. Batches that were not have to arrive as well.
 */
static bool send_merged(struct verbs_set *set, struct end *ends,
			struct batch *batch)
{
	int64_t trains, now;
	int try, i;

	for (try = 0; try < TRIES; try++) {
		batch->serial++;
		batch->first_id += 0x101;
		trains = counters_get("rx_trains");
		for (i = 0; i < BATCH; i++)
			if (send_one(batch, ends[batch->to[i]].qp, i))
				return false;
		if (!all_arrive(set, ends, batch))
			return false;
		now = counters_get("rx_trains");
		if (trains < 0 || now < trains)
			return false;
		if (now > trains)
			return true;
	}
	fprintf(stderr, "# nothing was ever merged\n");
	return false;
}

TEST_F(merged, ids_count_up)
{
	struct batch batch = { .id_step = 1, .bad = -1, .first_id = 0xfff0 };

	EXPECT_TRUE(send_merged(&self->set, self->end, &batch));
}

TEST_F(merged, ids_are_equal)
{
	struct batch batch = { .id_step = 0, .bad = -1 };

	EXPECT_TRUE(send_merged(&self->set, self->end, &batch));
}

/* A rule that looks at packets takes them apart, and finds the same ones. */
TEST_F(merged, ids_are_equal_and_a_rule_looks)
{
	struct batch batch = { .id_step = 0, .bad = -1 };

	ASSERT_LT(0, rules_add(TOPO_LINK, "rx op WRITE* drop"));
	EXPECT_TRUE(send_merged(&self->set, self->end, &batch));
	EXPECT_EQ(0, rules_flush(TOPO_LINK));
}

TEST_F(merged, without_udp_checksums)
{
	struct batch batch = { .id_step = 1, .bad = -1, .without_sum = true };

	EXPECT_TRUE(send_merged(&self->set, self->end, &batch));
}

/* Neither the stack nor merging vouches for them. */
TEST_F(merged, without_udp_checksums_one_is_corrupt)
{
	struct batch batch = { .id_step = 1, .bad = 2, .without_sum = true };
	int64_t before, after;

	before = counters_get("rx_drop_icrc");
	EXPECT_TRUE(send_merged(&self->set, self->end, &batch));
	after = counters_get("rx_drop_icrc");
	EXPECT_EQ(batch.serial, after - before);
}

/* Its ICRC is right for the length that it has, but alone it is dropped. */
TEST_F(merged, one_says_another_length)
{
	struct batch batch = {
		.id_step = 1, .bad = 1, .bad_len = true, .without_sum = true,
	};
	int64_t before, after;

	before = counters_get("rx_drop_malformed");
	EXPECT_TRUE(send_merged(&self->set, self->end, &batch));
	after = counters_get("rx_drop_malformed");
	EXPECT_EQ(batch.serial, after - before);
}

TEST_F(merged, over_ipv6)
{
	struct batch batch = { .v6 = true, .bad = -1 };

	EXPECT_TRUE(send_merged(&self->set, self->end, &batch));
}

/* In one poll of the interface, most of the time: and yet none is merged. */
static bool stay_apart(struct end *ends, struct batch *batch)
{
	const char *in = "netif_receive_skb", *dev = "dev=" WIRE_NETDEV " ";
	long deadline = topo_now_ms() + 5000, bytes = 0;
	int batches, i, count;

	if (tracefs_open() || tracefs_enable("net/netif_receive_skb", NULL))
		return false;
	for (batches = 0; batches < 50; batches++) {
		batch->first_id += 0x101;
		for (i = 0; i < BATCH; i++) {
			/* From the IP header on. */
			bytes += 20 + 8 + 12 + 8 + payload_len(i) + 4;
			if (send_one(batch, ends[batch->to[i]].qp, i))
				return false;
		}
	}
	while (tracefs_sum(in, dev, "len") < bytes &&
	       topo_now_ms() < deadline)
		usleep(1000);
	bytes -= tracefs_sum(in, dev, "len");
	count = tracefs_count(in, dev);
	tracefs_close();
	if (bytes || count != 50 * BATCH)
		fprintf(stderr, "# %d arrived, %ld bytes too few\n", count,
			bytes);
	return !bytes && count == 50 * BATCH;
}

/* Whoever forwards a merged one cuts it up, and knows nothing of ICRCs. */
TEST_F(merged, what_is_for_no_device_stays_apart)
{
	struct batch batch = { .id_step = 1, .bad = -1, .to_other = true };

	ASSERT_EQ(0, topo_ip("addr add " OTHER_ADDRESS "/32 dev lo"));
	EXPECT_TRUE(stay_apart(self->end, &batch));
	ASSERT_EQ(0, topo_ip("addr del " OTHER_ADDRESS "/32 dev lo"));
}

TEST_F(merged, fragments_stay_apart)
{
	struct batch batch = {
		.bad = -1, .first_parts = true, .without_sum = true,
	};

	EXPECT_TRUE(stay_apart(self->end, &batch));
}

TEST_F(merged, one_is_corrupt)
{
	struct batch batch = { .id_step = 1, .bad = 1 };
	int64_t before, after;

	before = counters_get("rx_drop_icrc");
	EXPECT_TRUE(send_merged(&self->set, self->end, &batch));
	after = counters_get("rx_drop_icrc");
	/* One in each batch. */
	EXPECT_EQ(batch.serial, after - before);
}

/* None waits for the engine of the other, or is lost with what it cannot take. */
TEST_F(merged, what_is_for_different_qps_stays_apart)
{
	struct batch batch = { .to = { 0, 1, 0, 1 }, .id_step = 1, .bad = -1 };

	EXPECT_TRUE(stay_apart(self->end, &batch));
}

/* Three batches wait for an engine that a fourth one starts. */
static bool send_to_lagging(struct verbs_set *set, struct end *ends,
			    struct batch *last, bool *merged)
{
	struct batch batch[4];
	int64_t trains = 0;
	int n, i;

	for (n = 0; n < 4; n++) {
		last->serial++;
		last->first_id += 0x101;
		batch[n] = *last;
		trains = counters_get("rx_trains");
		if (trains < 0 || (!n && knob_turn("hold", true)))
			return false;
		for (i = 0; i < BATCH; i++)
			if (send_one(last, ends[0].qp, i))
				return false;
		/* It is flushed long before, where all goes well. */
		usleep(20000);
		if (n == 2) {
			*merged = counters_get("rx_trains") > trains;
			if (knob_turn("hold", false))
				return false;
		}
	}
	for (n = 0; n < 4; n++)
		if (!all_arrive(set, ends, &batch[n]))
			return false;
	return true;
}

/* Behind others it waits in memory of its own (srdma_backlog_compact()). */
TEST_F(merged, the_engine_lags)
{
	struct batch batch = { .id_step = 1, .bad = -1 };
	bool merged = false;
	int try;

	if (!knob_exists("hold"))
		SKIP(return, "no CONFIG_FAULT_INJECTION");
	for (try = 0; try < TRIES && !merged; try++)
		ASSERT_TRUE(send_to_lagging(&self->set, self->end, &batch,
					    &merged));
	EXPECT_TRUE(merged);
}

TEST_F(merged, for_two_qps)
{
	struct batch batch = { .to = { 0, 1, 1, 0 }, .id_step = 1, .bad = -1 };

	EXPECT_TRUE(send_merged(&self->set, self->end, &batch));
}

TEST_F(merged, for_two_qps_one_corrupt)
{
	struct batch batch = { .to = { 1, 1, 0, 0 }, .id_step = 1, .bad = 2 };

	EXPECT_TRUE(send_merged(&self->set, self->end, &batch));
}

TEST_HARNESS_MAIN
