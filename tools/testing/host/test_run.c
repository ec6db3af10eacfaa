// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs: which packet may be added to which, and that a run leaves responder
 * and requester as its packets would have left them one by one.
 */
#include <string.h>

#include "proto/packet.h"
#include "proto/psn.h"
#include "proto/rc_req.h"
#include "proto/rc_resp.h"
#include "proto/run.h"
#include "proto/wire.h"
#include "test.h"

#define MTU	256
#define FIRST	0xfffffe	/* so that everything crosses zero */
#define QPN	0x123456
#define PKEY	0x8001
#define SLOTS	8

/* What a packet with all the payload of the two, and between, is called. */
TEST(srdma_run_opcode__every_pair)
{
	/* FIRST, MIDDLE, LAST .. of a kind, and ONLY .. for each LAST. */
	static const uint8_t kinds[][8] = {
		{ 0x00, 0x01, 0x02, 0x04, 0x03, 0x05, 0x16, 0x17 },
		{ 0x06, 0x07, 0x08, 0x0a, 0x09, 0x0b },
		{ 0x0d, 0x0e, 0x0f, 0x10 },
		{ 0x20, 0x21, 0x22, 0x24, 0x23, 0x25 },
		{ 0x26, 0x27, 0x28, 0x2a, 0x29, 0x2b },
	};
	unsigned int i, j;

	for (i = 0; i < 5; i++) {
		const uint8_t *k = kinds[i];

		EXPECT_EQ(srdma_run_opcode(k[0], k[0]), k[0]);
		EXPECT_EQ(srdma_run_opcode(k[0], k[1]), k[0]);
		EXPECT_EQ(srdma_run_opcode(k[1], k[1]), k[1]);
		for (j = 2; j < 8 && k[j]; j += 2) {
			EXPECT_EQ(srdma_run_opcode(k[0], k[j]), k[j + 1]);
			EXPECT_EQ(srdma_run_opcode(k[1], k[j]), k[j]);
			EXPECT_EQ(srdma_run_opcode(k[j], k[j]), k[j]);
			EXPECT_EQ(srdma_run_opcode(k[j + 1], k[j + 1]),
				  k[j + 1]);
		}
	}
}

/* Its packets have the opcodes that they had before they were one. */
TEST(srdma_run_part__undoes_it)
{
	static const uint8_t kinds[][4] = {
		/* FIRST, MIDDLE, LAST, ONLY */
		{ 0x00, 0x01, 0x02, 0x04 }, { 0x00, 0x01, 0x03, 0x05 },
		{ 0x00, 0x01, 0x16, 0x17 }, { 0x06, 0x07, 0x08, 0x0a },
		{ 0x06, 0x07, 0x09, 0x0b }, { 0x0d, 0x0e, 0x0f, 0x10 },
		{ 0x20, 0x21, 0x22, 0x24 }, { 0x20, 0x21, 0x23, 0x25 },
		{ 0x26, 0x27, 0x28, 0x2a }, { 0x26, 0x27, 0x29, 0x2b },
	};
	unsigned int i, j;

	for (i = 0; i < 10; i++) {
		const uint8_t *k = kinds[i];

		for (j = 0; j < 4; j++)
			EXPECT_EQ(srdma_run_part(k[j], 0, 1), k[j]);
		EXPECT_EQ(srdma_run_part(k[3], 0, 3), k[0]);
		EXPECT_EQ(srdma_run_part(k[3], 1, 3), k[1]);
		EXPECT_EQ(srdma_run_part(k[3], 2, 3), k[2]);
		EXPECT_EQ(srdma_run_part(k[0], 0, 2), k[0]);
		EXPECT_EQ(srdma_run_part(k[0], 1, 2), k[1]);
		EXPECT_EQ(srdma_run_part(k[1], 0, 2), k[1]);
		EXPECT_EQ(srdma_run_part(k[1], 1, 2), k[1]);
		EXPECT_EQ(srdma_run_part(k[2], 0, 2), k[1]);
		EXPECT_EQ(srdma_run_part(k[2], 1, 2), k[2]);
	}
	EXPECT_EQ(srdma_run_part(0x64, 0, 1), 0x64);
}

/**
 * struct wire_packet - headers as they come
 * @bth: the first of them
 * @hdr: all of them
 * @wire_len: bytes behind the UDP header
 */
struct wire_packet {
	union {
		struct srdma_wire_bth bth;
		uint8_t hdr[SRDMA_HDR_MAX];
	};
	uint32_t wire_len;
};

static void put(struct wire_packet *w, const struct srdma_pkt *pkt)
{
	uint32_t len = srdma_pkt_build(w->hdr, pkt);

	w->wire_len = srdma_pkt_wire_len(len, pkt->payload_len);
}

static void put_plain(struct wire_packet *w, uint8_t opcode, uint32_t step,
		      uint32_t len)
{
	const struct srdma_pkt pkt = {
		.opcode = opcode, .psn = (FIRST + step) & 0xffffff,
		.dest_qpn = QPN, .pkey = PKEY, .mig = true,
		.payload_len = len,
	};

	put(w, &pkt);
}

static bool get(struct srdma_pkt *pkt, const struct wire_packet *w)
{
	memset(pkt, 0, sizeof(*pkt));
	return srdma_pkt_parse(pkt, w->hdr, sizeof(w->hdr), w->wire_len) ==
	       SRDMA_PARSE_OK;
}

static uint32_t add(struct srdma_pkt *run, const struct wire_packet *w)
{
	return srdma_run_add(run, &w->bth, w->wire_len, MTU);
}

/* The first @packets of a SEND. */
static void begin_run(struct srdma_pkt *run, uint32_t packets)
{
	struct wire_packet w;
	uint32_t i;

	put_plain(&w, SRDMA_RC_SEND_FIRST, 0, MTU);
	REQUIRE(get(run, &w));
	for (i = 1; i < packets; i++) {
		REQUIRE(srdma_run_is_open(run, MTU));
		put_plain(&w, SRDMA_RC_SEND_MIDDLE, i, MTU);
		EXPECT_EQ(add(run, &w), MTU);
	}
	EXPECT_EQ(run->more, packets - 1);
	EXPECT_EQ(run->payload_len, packets * MTU);
}

/* Each thing by which a packet may fail to continue SEND FIRST, MIDDLE. */
static const struct {
	const char *what;
	uint8_t opcode;
	uint8_t flags;		/* changed */
	uint32_t psn;		/* changed */
	uint32_t qpn;		/* changed */
	uint16_t pkey;		/* changed */
	int32_t longer;
} deviations[] = {
	{ .what = "PSN of the second", .opcode = 0x01, .psn = 0xffffff },
	{ .what = "PSN of the first", .opcode = 0x01, .psn = 0xfffffe },
	{ .what = "PSN with a high bit changed", .opcode = 0x01,
	  .psn = 0x800000 },
	{ .what = "number of another report", .opcode = 0x01,
	  .psn = 0x01000000 },
	{ .what = "one is missing", .opcode = 0x01, .psn = 1 },
	{ .what = "more are missing", .opcode = 0x02, .psn = 4 },
	{ .what = "FIRST", .opcode = 0x00 },
	{ .what = "ONLY", .opcode = 0x04 },
	{ .what = "MIDDLE of a WRITE", .opcode = 0x07 },
	{ .what = "LAST of a WRITE", .opcode = 0x08 },
	{ .what = "MIDDLE of UC", .opcode = 0x21 },
	{ .what = "READ response MIDDLE", .opcode = 0x0e },
	{ .what = "LAST with immediate data", .opcode = 0x03 },
	{ .what = "LAST with a key", .opcode = 0x16 },
	{ .what = "unknown opcode", .opcode = 0x1e },
	{ .what = "transport version", .opcode = 0x01, .flags = 0x01 },
	{ .what = "transport version, high bit", .opcode = 0x01,
	  .flags = 0x08 },
	{ .what = "not migrated", .opcode = 0x01, .flags = SRDMA_BTH_MIG },
	{ .what = "pad in a MIDDLE", .opcode = 0x01, .flags = 0x10 },
	{ .what = "MIDDLE too short", .opcode = 0x01, .longer = -4 },
	{ .what = "MIDDLE too long", .opcode = 0x01, .longer = 4 },
	{ .what = "MIDDLE of the next MTU", .opcode = 0x01, .longer = MTU },
	{ .what = "MIDDLE not aligned", .opcode = 0x01,
	  .flags = 0x10, .longer = 1 },
	{ .what = "LAST too long", .opcode = 0x02, .longer = 4 },
	{ .what = "LAST too long for its pad", .opcode = 0x02,
	  .flags = 0x30, .longer = 4 },
	{ .what = "LAST of nothing", .opcode = 0x02, .longer = -MTU },
	{ .what = "LAST of pad only", .opcode = 0x02,
	  .flags = 0x30, .longer = -MTU },
	{ .what = "LAST with more pad than bytes", .opcode = 0x02,
	  .flags = 0x30,
	  .longer = -MTU + 2 },
	{ .what = "LAST not aligned", .opcode = 0x02, .longer = -2 },
	{ .what = "shorter than a BTH", .opcode = 0x02, .longer = -MTU - 8 },
	{ .what = "no bytes at all", .opcode = 0x02, .longer = -MTU - 16 },
	{ .what = "partition", .opcode = 0x01, .pkey = 0x8000 },
	{ .what = "other partition", .opcode = 0x01, .pkey = 0x0002 },
	{ .what = "QP", .opcode = 0x01, .qpn = 1 },
	{ .what = "FECN", .opcode = 0x01, .qpn = SRDMA_BTH_FECN },
	{ .what = "BECN", .opcode = 0x01, .qpn = SRDMA_BTH_BECN },
	{ .what = "reserved bits beside the QP", .opcode = 0x01,
	  .qpn = 0x01000000 },
};

TEST(srdma_run_add__refuses_what_does_not_continue)
{
	struct srdma_pkt run, was;
	struct wire_packet w;
	unsigned int i;

	for (i = 0; i < sizeof(deviations) / sizeof(deviations[0]); i++) {
		begin_run(&run, 2);
		put_plain(&w, 0x01, 2, MTU);
		w.bth.opcode = deviations[i].opcode;
		w.bth.flags ^= deviations[i].flags;
		w.bth.apsn ^= cpu_to_be32(deviations[i].psn);
		w.bth.qpn ^= cpu_to_be32(deviations[i].qpn);
		w.bth.pkey ^= cpu_to_be16(deviations[i].pkey);
		w.wire_len += deviations[i].longer;
		was = run;
		if (add(&run, &w) || memcmp(&run, &was, sizeof(run)))
			test_fail(__FILE__, __LINE__, "added: %s",
				  deviations[i].what);
	}
}

TEST(srdma_run_add__last_of_any_length)
{
	struct srdma_pkt run;
	struct wire_packet w;
	uint32_t len;

	for (len = 1; len <= MTU; len++) {
		begin_run(&run, 3);
		put_plain(&w, 0x02, 3, len);
		EXPECT_EQ(add(&run, &w), len);
		EXPECT_EQ(run.opcode, SRDMA_RC_SEND_ONLY);
		EXPECT(run.op == srdma_opcode_get(SRDMA_RC_SEND_ONLY));
		EXPECT_EQ(run.payload_len, 3 * MTU + len);
		EXPECT_EQ(run.more, 3);
		EXPECT_EQ(run.psn, FIRST);
		EXPECT(srdma_pkt_fits_mtu(&run, MTU));
		EXPECT(!srdma_run_is_open(&run, MTU));
	}
}

TEST(srdma_run_add__what_the_last_packet_asks_for)
{
	struct srdma_pkt run;
	struct wire_packet w;

	begin_run(&run, 2);
	EXPECT(!run.ack_req && !run.se);
	put_plain(&w, 0x01, 2, MTU);
	w.bth.apsn |= cpu_to_be32(SRDMA_BTH_ACKREQ);
	EXPECT_EQ(add(&run, &w), MTU);
	EXPECT(run.ack_req && !run.se);
	/* Who has asked once has asked. */
	put_plain(&w, 0x02, 3, 1);
	w.bth.flags |= SRDMA_BTH_SE;
	EXPECT_EQ(add(&run, &w), 1);
	EXPECT(run.ack_req && run.se);
}

/* A packet that is not migrated goes with its like. */
TEST(srdma_run_add__unmigrated)
{
	struct srdma_pkt run;
	struct wire_packet w;

	put_plain(&w, 0x06, 0, MTU);
	w.bth.flags &= ~SRDMA_BTH_MIG;
	REQUIRE(get(&run, &w));
	put_plain(&w, 0x07, 1, MTU);
	EXPECT_EQ(add(&run, &w), 0);
	w.bth.flags &= ~SRDMA_BTH_MIG;
	EXPECT_EQ(add(&run, &w), MTU);
	EXPECT_EQ(run.opcode, SRDMA_RC_WRITE_FIRST);
}

TEST(srdma_run_is_open__full_first_and_middle_only)
{
	struct srdma_pkt run;
	struct wire_packet w;

	begin_run(&run, 2);
	EXPECT(srdma_run_is_open(&run, MTU));
	/* Of a larger path MTU: it is wrong, and alone. */
	put_plain(&w, 0x00, 0, 2 * MTU);
	REQUIRE(get(&run, &w));
	EXPECT(!srdma_run_is_open(&run, MTU));
	put_plain(&w, 0x02, 0, MTU);
	REQUIRE(get(&run, &w));
	EXPECT(!srdma_run_is_open(&run, MTU));
	put_plain(&w, 0x04, 0, MTU);
	REQUIRE(get(&run, &w));
	EXPECT(!srdma_run_is_open(&run, MTU));
}

/**
 * struct stream - the packets of one message
 * @w: they
 * @count: their number
 */
struct stream {
	struct wire_packet w[16];
	uint32_t count;
};

static void put_message(struct stream *st, uint8_t wr_op, uint32_t len,
			uint32_t asks)
{
	struct srdma_burst b;
	uint32_t i;

	st->count = srdma_burst_packets(len, 8);
	REQUIRE(st->count <= 16);
	srdma_burst_cut(&b, SRDMA_QPT_RC, wr_op, len, 0, 16, 8);
	for (i = 0; i < st->count; i++) {
		bool tail = i + 1 == st->count;
		struct srdma_pkt pkt = {
			.psn = (FIRST + i) & 0xffffff, .dest_qpn = QPN,
			.pkey = PKEY, .mig = true, .ack_req = asks >> i & 1,
			.se = tail,
			.opcode = srdma_opcode_select(SRDMA_QPT_RC, wr_op,
						      !i, tail),
			.payload_len = tail ? len - i * MTU : MTU,
		};

		pkt.reth.va = 0x1000;
		pkt.reth.rkey = 7;
		pkt.reth.len = len;
		put(&st->w[i], &pkt);
	}
}

/*
 * To the packet at *@at, which is in @run, all is added that @cuts, a bit for
 * each packet that begins anew, allows.
 */
static void take_run(const struct stream *st, uint32_t *at, uint32_t cuts,
		     struct srdma_pkt *run)
{
	while (++*at < st->count && !(cuts >> *at & 1))
		if (!srdma_run_is_open(run, MTU) || !add(run, &st->w[*at]))
			return;
}

/* What is left of the responder when packet @fail cannot be executed. */
static uint32_t receive(struct srdma_rc_resp *resp, const struct stream *st,
			uint32_t cuts, uint32_t fail, enum srdma_resp_why why)
{
	static const struct srdma_rc_resp_attr attr = {
		.psn = FIRST, .mtu = MTU, .min_rnr_timer = 12,
	};
	struct srdma_rc_resp_act act;
	uint32_t begin, at = 0, calls = 0;
	struct srdma_pkt run;
	bool join;

	srdma_rc_resp_init(resp, &attr, NULL, 0);
	while (at < st->count) {
		begin = at;
		EXPECT(get(&run, &st->w[at]));
		join = srdma_rc_resp_expects(resp, &run);
		take_run(st, &at, join ? cuts : ~0u, &run);
		calls++;
		if (srdma_rc_resp_request(resp, &run, &act) >
		    SRDMA_RESP_DUP_READ)
			continue;
		if (fail >= begin && fail < at)
			srdma_rc_resp_fail(resp, &run, &act, why);
		else
			srdma_rc_resp_commit(resp, &run, &act);
	}
	return calls;
}

TEST(run__responder_is_left_as_by_packets)
{
	static const uint8_t ops[] = {
		SRDMA_WR_SEND, SRDMA_WR_SEND_IMM, SRDMA_WR_SEND_INV,
		SRDMA_WR_WRITE, SRDMA_WR_WRITE_IMM,
	};
	struct srdma_rc_resp one, many;
	struct stream st;
	uint32_t i, cuts, asks;

	for (i = 0; i < sizeof(ops); i++)
		for (asks = 0; asks < 32; asks += 5)
			for (cuts = 0; cuts < 32; cuts++) {
				put_message(&st, ops[i], 4 * MTU + 9, asks);
				receive(&one, &st, 31, 99, 0);
				receive(&many, &st, cuts, 99, 0);
				EXPECT_MEM(&many, &one, sizeof(one));
				EXPECT_EQ(one.epsn, (FIRST + 5) & 0xffffff);
				EXPECT_EQ(one.msn, 1);
				EXPECT_EQ(one.ack_due, asks != 0);
			}
}

/* In fact they were runs: a message without extension headers is one. */
TEST(run__whole_message_at_once)
{
	struct srdma_rc_resp resp;
	struct stream st;

	put_message(&st, SRDMA_WR_SEND, 16 * MTU, 0);
	EXPECT_EQ(receive(&resp, &st, 0, 99, 0), 1);
	put_message(&st, SRDMA_WR_WRITE, 15 * MTU + 3, 0);
	EXPECT_EQ(receive(&resp, &st, 0, 99, 0), 1);
	put_message(&st, SRDMA_WR_SEND_IMM, 15 * MTU, 0);
	EXPECT_EQ(receive(&resp, &st, 0, 99, 0), 2);
}

/* No receive WQE: nothing of it is executed, and there is one RNR NAK. */
TEST(run__responder_not_ready)
{
	struct srdma_rc_resp one, many;
	struct stream st;
	uint32_t cuts;

	put_message(&st, SRDMA_WR_SEND, 4 * MTU, 8);
	receive(&one, &st, 15, 0, SRDMA_WHY_NO_RWQE);
	EXPECT_EQ(one.epsn, FIRST);
	EXPECT_EQ(one.gap_psn, (FIRST + 3) & 0xffffff);
	for (cuts = 0; cuts < 16; cuts++) {
		receive(&many, &st, cuts, 0, SRDMA_WHY_NO_RWQE);
		EXPECT_MEM(&many, &one, sizeof(one));
	}
}

/*
 * Fatal: the NAK is for the first packet of the run that could not be placed,
 * and what is in front of that was executed.
 */
TEST(run__responder_fails)
{
	struct srdma_rc_resp one, many;
	struct stream st;
	uint32_t cuts, fail, first;

	put_message(&st, SRDMA_WR_WRITE, 4 * MTU, 8);
	for (fail = 0; fail < 4; fail++)
		for (cuts = 0; cuts < 16; cuts++) {
			for (first = fail; first && !(cuts >> first & 1);)
				first--;
			receive(&one, &st, 15, first, SRDMA_WHY_ACCESS);
			receive(&many, &st, cuts, fail, SRDMA_WHY_ACCESS);
			EXPECT(many.dead && many.nak_due);
			EXPECT_EQ(many.nak_psn, (FIRST + first) & 0xffffff);
			/* Nobody looks at it any more. */
			many.gap_psn = one.gap_psn;
			EXPECT_MEM(&many, &one, sizeof(one));
		}
}

static struct srdma_rc_req req;
static struct srdma_rc_msg ring[SLOTS];

static void put_read_responses(struct stream *st, uint32_t len)
{
	uint32_t i;

	st->count = srdma_burst_packets(len, 8);
	for (i = 0; i < st->count; i++) {
		bool tail = i + 1 == st->count;
		struct srdma_pkt pkt = {
			.psn = (FIRST + i) & 0xffffff, .dest_qpn = QPN,
			.pkey = PKEY, .mig = true,
			.opcode = srdma_opcode_read_resp(!i, tail),
			.payload_len = tail ? len - i * MTU : MTU,
		};

		pkt.aeth.syndrome = 0x1f;
		pkt.aeth.msn = 1;
		put(&st->w[i], &pkt);
	}
}

static void ask_for(uint32_t len)
{
	static const struct srdma_rc_req_attr attr = {
		.psn = FIRST, .mtu = MTU, .max_rd_atomic = 4, .retry_cnt = 7,
		.rnr_retry = 7, .timeout = 14,
	};
	static const struct srdma_burst_limit limit = {
		.packets = 64, .bytes = 65000,
	};
	struct srdma_rc_burst burst;

	memset(ring, 0, sizeof(ring));
	srdma_rc_req_init(&req, &attr, ring, sizeof(ring[0]), SLOTS - 1);
	ring[0].op = SRDMA_WR_READ;
	ring[0].len = len;
	ring[0].flags = SRDMA_WR_SIGNALED;
	srdma_rc_req_push(&req);
	REQUIRE(srdma_rc_req_next(&req, 1000, &limit, &burst) ==
		SRDMA_NEXT_SEND);
	srdma_rc_req_sent(&req, &burst, 1000);
}

static void answer(const struct stream *st, uint32_t cuts)
{
	struct srdma_rc_req_act act;
	uint32_t begin, at = 0;
	struct srdma_pkt run;

	while (at < st->count) {
		begin = at;
		REQUIRE(get(&run, &st->w[at]));
		EXPECT(srdma_rc_req_expects(&req, &run));
		take_run(st, &at, cuts, &run);
		REQUIRE(srdma_rc_req_response(&req, &run, 9000, &act) ==
			SRDMA_REQ_PLACE);
		EXPECT_EQ(act.offset, begin * MTU);
		EXPECT_EQ(act.len, run.payload_len);
		srdma_rc_req_placed(&req, &act, 9000);
	}
}

TEST(run__requester_is_left_as_by_packets)
{
	static const uint32_t lens[] = { 5 * MTU, 5 * MTU + 1, 2 * MTU };
	struct srdma_rc_msg ring_one[SLOTS];
	struct srdma_rc_req one;
	struct stream st;
	uint32_t i, cuts;

	for (i = 0; i < 3; i++) {
		put_read_responses(&st, lens[i]);
		ask_for(lens[i]);
		answer(&st, 63);
		one = req;
		memcpy(ring_one, ring, sizeof(ring));
		EXPECT(ring[0].answered);
		EXPECT_EQ(ring[0].done, lens[i]);
		for (cuts = 0; cuts < 64; cuts++) {
			ask_for(lens[i]);
			answer(&st, cuts);
			EXPECT_MEM(&req, &one, sizeof(one));
			EXPECT_MEM(ring, ring_one, sizeof(ring));
		}
	}
}

TEST(srdma_rc_req_expects__only_what_comes_next)
{
	struct srdma_rc_req_act act;
	struct srdma_pkt pkt;
	struct stream st;
	uint32_t i;

	put_read_responses(&st, 4 * MTU);
	ask_for(4 * MTU);
	for (i = 0; i < 4; i++) {
		REQUIRE(get(&pkt, &st.w[i]));
		EXPECT_EQ(srdma_rc_req_expects(&req, &pkt), i == 0);
	}
	REQUIRE(get(&pkt, &st.w[0]));
	REQUIRE(srdma_rc_req_response(&req, &pkt, 9000, &act) ==
		SRDMA_REQ_PLACE);
	srdma_rc_req_placed(&req, &act, 9000);
	EXPECT(!srdma_rc_req_expects(&req, &pkt));
	/* Not outstanding, or no READ response. */
	pkt.psn = (FIRST + 4) & 0xffffff;
	EXPECT(!srdma_rc_req_expects(&req, &pkt));
	pkt.psn = (FIRST + 1) & 0xffffff;
	EXPECT(srdma_rc_req_expects(&req, &pkt));
	pkt.op = srdma_opcode_get(SRDMA_RC_ACK);
	EXPECT(!srdma_rc_req_expects(&req, &pkt));
	pkt.op = srdma_opcode_get(SRDMA_RC_ATOMIC_ACK);
	EXPECT(!srdma_rc_req_expects(&req, &pkt));
}

/* A run with a byte too few or too many is no better than such a packet. */
TEST(run__requester_refuses_a_wrong_length)
{
	struct srdma_rc_req_act act;
	struct srdma_pkt run;
	struct stream st;
	uint32_t at = 0;

	put_read_responses(&st, 4 * MTU);
	ask_for(2 * MTU + 10);
	REQUIRE(get(&run, &st.w[0]));
	take_run(&st, &at, 0, &run);
	EXPECT_EQ(run.more, 2);
	EXPECT_EQ(srdma_rc_req_response(&req, &run, 9000, &act),
		  SRDMA_REQ_FAILED);
	EXPECT_EQ(req.fail_status, SRDMA_ST_BAD_RESP);
}
