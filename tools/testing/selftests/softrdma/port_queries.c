// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queries of the port's counters that come from a peer by QP 1, in frames by hand: what
 * is answered, with what, and that nothing else is to be had. Sections are those of
 * the InfiniBand specification.
 */
#include "wire_fixture.h"

#include <unistd.h>

#define GSI_QKEY	0x80010000u
#define MAD		256
/* Of a datagram with a MAD, from BTH to ICRC, in units of 4 bytes. */
#define MAD_WORDS	((12 + 8 + MAD + 4) / 4)

/* Methods (13.4.5), and attributes of the class (16.1.3). */
#define GET		0x01
#define SET		0x02
#define GET_RESP	0x81
#define CLASS_INFO	0x0001
#define SAMPLES		0x0010
#define COUNTERS	0x0012
#define COUNTERS_EXT	0x001d

/* Status (13.4.7). */
#define NOT_SUPPORTED	0x000c
#define INVALID		0x001c

/* Where the attribute begins in a MAD. */
#define ATTR		64

#define WAIT_MS		20000

/**
 * struct query - a datagram to QP 1, and the answer
 * @mad: what is sent
 * @reply: what came back
 */
struct query {
	uint8_t mad[MAD];
	uint8_t reply[MAD];
};

static uint64_t last_tid = 0x1234567800ull;

static void put_be(uint8_t *at, uint64_t value, int bytes)
{
	while (bytes--) {
		at[bytes] = value;
		value >>= 8;
	}
}

static uint64_t get_be(const uint8_t *at, int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

static void query_init(struct query *q, uint8_t method, uint16_t attribute)
{
	memset(q, 0, sizeof(*q));
	q->mad[0] = 1;
	q->mad[1] = 0x04;
	q->mad[2] = 1;
	q->mad[3] = method;
	put_be(q->mad + 8, ++last_tid, 8);
	put_be(q->mad + 16, attribute, 2);
	q->mad[ATTR + 1] = 1;
}

static void frame_of(struct wire_frame *frame, const struct query *q, bool v6)
{
	uint8_t deth[8] = { 0, 0, 0, 0, 0, 0, 0, 1 };
	struct wire_packet packet = {
		.v6 = v6,
		.opcode = UD_SEND_ONLY,
		.qpn = 1,
		.ext = deth,
		.ext_len = sizeof(deth),
		.payload = q->mad,
		.payload_len = MAD,
	};

	put_be(deth, GSI_QKEY, 4);
	wire_build(frame, &packet);
}

/* The next datagram that the kernel sends to QP 1; 0, or an error. */
static int take_reply(struct query *q)
{
	struct wire_frame frame;
	uint8_t *bth;

	if (wire_capture(&frame, WAIT_MS))
		return -ETIMEDOUT;
	bth = wire_bth(&frame);
	if (bth[0] != UD_SEND_ONLY || get_be(bth + 5, 3) != 1 ||
	    bth - frame.bytes + 20 + MAD + 4 != (ssize_t)frame.len ||
	    !wire_is_sealed(&frame))
		return -EPROTO;
	memcpy(q->reply, bth + 20, MAD);
	return 0;
}

static int ask(struct query *q, bool v6)
{
	struct wire_frame frame;

	frame_of(&frame, q, v6);
	return wire_inject(&frame, false) ?: take_reply(q);
}

static uint16_t status_of(const struct query *q)
{
	return get_be(q->reply + 4, 2);
}

/* An answer to this query, whatever it says (13.4.3, 13.4.6). */
static bool is_answer(const struct query *q)
{
	return q->reply[0] == 1 && q->reply[1] == 0x04 &&
	       q->reply[3] == GET_RESP && !memcmp(q->reply + 8, q->mad + 8, 10);
}

/* A counter, by its place in the attribute. */
static uint64_t field(const struct query *q, int at, int bytes)
{
	return get_be(q->reply + ATTR + at, bytes);
}

static bool is_zero(const uint8_t *at, size_t len)
{
	while (len--)
		if (*at++)
			return false;
	return true;
}

static int64_t from_sysfs(const char *name)
{
	int folder = counters_open_folder(TOPO_LINK);
	int64_t value;

	if (folder < 0)
		return folder;
	value = counters_get_file(folder, name);
	close(folder);
	return value;
}

FIXTURE(queries)
{
	bool v6;
};

FIXTURE_VARIANT(queries)
{
	bool v6;
};

FIXTURE_VARIANT_ADD(queries, ipv4)
{
	.v6 = false,
};

FIXTURE_VARIANT_ADD(queries, ipv6)
{
	.v6 = true,
};

FIXTURE_SETUP(queries)
{
	struct ibv_context *ctx = verbs_open(TOPO_LINK);
	struct wire_frame frame;

	ASSERT_NE(NULL, ctx);
	EXPECT_EQ(0, verbs_wait_gid(ctx, TOPO_IPV4, true, 5000));
	EXPECT_EQ(0, verbs_wait_gid(ctx, TOPO_IPV6, true, 5000));
	EXPECT_EQ(0, ibv_close_device(ctx));
	while (!wire_capture(&frame, 0))
		;
	self->v6 = variant->v6;
}

FIXTURE_TEARDOWN(queries)
{
}

TEST_F(queries, class_says_that_counters_are_wide)
{
	struct query q;

	query_init(&q, GET, CLASS_INFO);
	/* It says no port (16.1.3.1). */
	q.mad[ATTR + 1] = 0;
	ASSERT_EQ(0, ask(&q, self->v6));
	EXPECT_TRUE(is_answer(&q));
	EXPECT_EQ(0, status_of(&q));
	EXPECT_EQ(1, field(&q, 0, 1));
	EXPECT_EQ(1, field(&q, 1, 1));
	EXPECT_EQ(0x0200, field(&q, 2, 2));
	EXPECT_EQ(18, field(&q, 4, 4));
	EXPECT_TRUE(is_zero(q.reply + ATTR + 8, MAD - ATTR - 8));
}

/* The query itself is counted before the answer is made, and that is not yet. */
TEST_F(queries, wide_counters_are_exact)
{
	struct query first, second;
	int i;

	query_init(&first, GET, COUNTERS_EXT);
	ASSERT_EQ(0, ask(&first, self->v6));
	EXPECT_TRUE(is_answer(&first));
	EXPECT_EQ(0, status_of(&first));
	query_init(&second, GET, COUNTERS_EXT);
	ASSERT_EQ(0, ask(&second, self->v6));
	EXPECT_EQ(1, field(&second, 1, 1));
	EXPECT_EQ(field(&first, 8, 8) + MAD_WORDS, field(&second, 8, 8));
	EXPECT_EQ(field(&first, 16, 8) + MAD_WORDS, field(&second, 16, 8));
	/* Packets, all and unicast, sent and received. */
	for (i = 24; i < 56; i += 8)
		EXPECT_EQ(field(&first, i, 8) + 1, field(&second, i, 8)) {
			TH_LOG("at %d", i);
		}
	for (i = 56; i < 72; i += 8)
		EXPECT_EQ(field(&first, i, 8), field(&second, i, 8));
	EXPECT_EQ(from_sysfs("port_rcv_packets"), field(&second, 32, 8));
	EXPECT_EQ(from_sysfs("port_xmit_packets"), field(&second, 24, 8) + 1);
}

TEST_F(queries, narrow_counters_are_the_same)
{
	struct query narrow, wide;
	int i;

	query_init(&narrow, GET, COUNTERS);
	ASSERT_EQ(0, ask(&narrow, self->v6));
	EXPECT_TRUE(is_answer(&narrow));
	EXPECT_EQ(0, status_of(&narrow));
	EXPECT_EQ(1, field(&narrow, 1, 1));
	query_init(&wide, GET, COUNTERS_EXT);
	ASSERT_EQ(0, ask(&wide, self->v6));
	for (i = 0; i < 4; i++) {
		uint64_t more = i < 2 ? MAD_WORDS : 1;

		EXPECT_EQ(field(&narrow, 24 + 4 * i, 4) + more,
			  field(&wide, 8 + 8 * i, 8)) {
			TH_LOG("counter %d", i);
		}
	}
	EXPECT_EQ(from_sysfs("link_downed"), field(&narrow, 7, 1));
	EXPECT_EQ(from_sysfs("port_rcv_errors"), field(&narrow, 8, 2));
	EXPECT_EQ(0, field(&narrow, 40, 4));
}

/* What is reserved in the answer, or not of the attribute, is nobody's memory. */
TEST_F(queries, answers_are_zero_where_they_say_nothing)
{
	struct query q;

	query_init(&q, GET, COUNTERS);
	memset(q.mad + 24, 0xa5, MAD - 24);
	q.mad[ATTR + 1] = 1;
	ASSERT_EQ(0, ask(&q, self->v6));
	EXPECT_TRUE(is_answer(&q));
	EXPECT_EQ(0, status_of(&q));
	EXPECT_TRUE(is_zero(q.reply + 24, ATTR + 1 - 24));
	EXPECT_TRUE(is_zero(q.reply + ATTR + 44, MAD - ATTR - 44));
	EXPECT_NE(0, field(&q, 36, 4));
}

TEST_F(queries, what_is_broken_is_an_error)
{
	int64_t errors = from_sysfs("port_rcv_errors");
	int64_t received = from_sysfs("port_rcv_packets");
	struct wire_frame frame;
	struct query q;
	int i;

	query_init(&q, GET, COUNTERS);
	for (i = 0; i < 3; i++) {
		frame_of(&frame, &q, self->v6);
		frame.bytes[frame.len - 1] ^= 1;
		ASSERT_EQ(0, wire_inject(&frame, false));
	}
	/* A transport version, and an opcode, that there is not. */
	frame_of(&frame, &q, self->v6);
	wire_bth(&frame)[1] ^= 0x0f;
	wire_seal(&frame);
	ASSERT_EQ(0, wire_inject(&frame, false));
	frame_of(&frame, &q, self->v6);
	wire_bth(&frame)[0] = 0x7f;
	wire_seal(&frame);
	ASSERT_EQ(0, wire_inject(&frame, false));
	EXPECT_EQ(errors + 5, from_sysfs("port_rcv_errors"));
	EXPECT_EQ(received, from_sysfs("port_rcv_packets"));
	/* Only this one is answered. */
	query_init(&q, GET, COUNTERS);
	ASSERT_EQ(0, ask(&q, self->v6));
	EXPECT_TRUE(is_answer(&q));
	EXPECT_EQ(errors + 5, field(&q, 8, 2));
}

/* 16.1.3.5: they stop at all ones. Of 8 bits this one is. */
TEST_F(queries, counters_stop_at_all_ones)
{
	struct wire_frame frame;
	struct query q;
	int i;

	query_init(&q, GET, COUNTERS);
	frame_of(&frame, &q, self->v6);
	wire_bth(&frame)[2] = 0x12;
	wire_seal(&frame);
	if (!self->v6) {
		ASSERT_EQ(0, wire_inject(&frame, false));
		EXPECT_EQ(1, from_sysfs("port_rcv_constraint_errors"));
	}
	for (i = 0; i < 300; i++)
		ASSERT_EQ(0, wire_inject(&frame, false));
	EXPECT_EQ(255, from_sysfs("port_rcv_constraint_errors"));
	ASSERT_EQ(0, ask(&q, self->v6));
	EXPECT_EQ(255, field(&q, 17, 1));
	/* Its neighbours have nothing of it. */
	EXPECT_EQ(0, field(&q, 16, 1));
	EXPECT_EQ(0, field(&q, 18, 1));
	EXPECT_LT(300, counters_get("rx_drop_pkey"));
}

/* Ours never go back. */
TEST_F(queries, nobody_clears_counters)
{
	static const uint16_t attributes[] = { COUNTERS, COUNTERS_EXT };
	int64_t before = from_sysfs("port_rcv_data");
	struct query q;
	int i;

	for (i = 0; i < 2; i++) {
		query_init(&q, SET, attributes[i]);
		put_be(q.mad + ATTR + 2, 0xffff, 2);
		ASSERT_EQ(0, ask(&q, self->v6));
		EXPECT_TRUE(is_answer(&q));
		EXPECT_EQ(NOT_SUPPORTED, status_of(&q));
	}
	EXPECT_LT(before, from_sysfs("port_rcv_data"));
}

TEST_F(queries, what_is_not_supported_is_said_to_be_so)
{
	struct query q;

	query_init(&q, GET, SAMPLES);
	ASSERT_EQ(0, ask(&q, self->v6));
	EXPECT_TRUE(is_answer(&q));
	EXPECT_EQ(NOT_SUPPORTED, status_of(&q));
	query_init(&q, GET, 0xffff);
	ASSERT_EQ(0, ask(&q, self->v6));
	EXPECT_EQ(NOT_SUPPORTED, status_of(&q));
	query_init(&q, GET, COUNTERS);
	q.mad[2] = 2;
	ASSERT_EQ(0, ask(&q, self->v6));
	EXPECT_NE(0, status_of(&q));
	/* Another class, with the number of an attribute of ours. */
	query_init(&q, GET, COUNTERS);
	q.mad[1] = 0x06;
	ASSERT_EQ(0, ask(&q, self->v6));
	EXPECT_EQ(NOT_SUPPORTED, status_of(&q));
}

TEST_F(queries, there_is_one_port_and_no_modifier)
{
	static const uint8_t ports[] = { 0, 2, 255 };
	struct query q;
	int i;

	for (i = 0; i < 3; i++) {
		query_init(&q, GET, i & 1 ? COUNTERS_EXT : COUNTERS);
		q.mad[ATTR + 1] = ports[i];
		ASSERT_EQ(0, ask(&q, self->v6));
		EXPECT_TRUE(is_answer(&q));
		EXPECT_EQ(INVALID, status_of(&q));
		EXPECT_TRUE(is_zero(q.reply + 24, MAD - 24));
	}
	query_init(&q, GET, CLASS_INFO);
	put_be(q.mad + 20, 1, 4);
	ASSERT_EQ(0, ask(&q, self->v6));
	EXPECT_TRUE(is_answer(&q));
	EXPECT_EQ(INVALID, status_of(&q));
}

/* An answer is no question, and other versions of MADs are nobody's. */
TEST_F(queries, what_is_no_query_has_no_answer)
{
	struct wire_frame frame;
	struct query q;

	query_init(&q, GET_RESP, COUNTERS);
	frame_of(&frame, &q, self->v6);
	ASSERT_EQ(0, wire_inject(&frame, false));
	query_init(&q, 0x05, COUNTERS);
	frame_of(&frame, &q, self->v6);
	ASSERT_EQ(0, wire_inject(&frame, false));
	query_init(&q, GET, COUNTERS);
	q.mad[0] = 0x80;
	frame_of(&frame, &q, self->v6);
	ASSERT_EQ(0, wire_inject(&frame, false));
	/* They are processed in order: had one been answered, that came first. */
	query_init(&q, GET, COUNTERS);
	ASSERT_EQ(0, ask(&q, self->v6));
	EXPECT_TRUE(is_answer(&q));
}

/* Queries with anything in them; each has one answer at most. */
TEST_F(queries, garbage_of_the_class_is_survived)
{
	static const uint16_t attributes[] = {
		CLASS_INFO, COUNTERS, COUNTERS_EXT,
	};
	uint32_t state = 0x2545f491;
	struct wire_frame frame;
	struct query q;
	int i, k;

	for (i = 0; i < 300; i++) {
		query_init(&q, GET, attributes[i % 3]);
		for (k = i & 1 ? 20 : 4; k < MAD; k++) {
			state ^= state << 13;
			state ^= state >> 17;
			state ^= state << 5;
			q.mad[k] = state;
		}
		frame_of(&frame, &q, self->v6);
		ASSERT_EQ(0, wire_inject(&frame, false));
	}
	query_init(&q, GET, COUNTERS);
	frame_of(&frame, &q, self->v6);
	ASSERT_EQ(0, wire_inject(&frame, false));
	for (i = 0; i <= 300; i++) {
		ASSERT_EQ(0, take_reply(&q));
		if (is_answer(&q))
			break;
	}
	EXPECT_EQ(0, status_of(&q));
	EXPECT_EQ(-ETIMEDOUT, wire_capture(&frame, 0));
}

TEST_HARNESS_MAIN
