// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What rules do to single packets, looped and on a wire, where trains carry them
 * (Documentation/softrdma/guide/faults.rst).
 */
#include "fixture.h"

#include <rdma/softrdma-errors.h>

#include "counters.h"
#include "duo.h"
#include "rules.h"

#define MTU		1024
#define PACKETS(n)	((n) * MTU)

FIXTURE(fault_packets)
{
	struct verbs_set sets[2];
	struct duo duo;
	const char *near;
	bool wire;
};

FIXTURE_VARIANT(fault_packets)
{
	bool wire;
};

FIXTURE_VARIANT_ADD(fault_packets, looped) { .wire = false };
FIXTURE_VARIANT_ADD(fault_packets, wire) { .wire = true };

FIXTURE_SETUP(fault_packets)
{
	memset(&self->duo, 0, sizeof(self->duo));
	self->wire = variant->wire;
	if (self->wire) {
		ASSERT_EQ(0, duo_veth_setup());
		/* So that nobody on the way vouches for an ICRC. */
		ASSERT_EQ(0, topo_set_feature(DUO_NEAR_NETDEV,
					     "tx-checksum-ip-generic", false));
		ASSERT_EQ(0, duo_veth_open(self->sets));
		self->near = DUO_NEAR;
	} else {
		ASSERT_EQ(0, verbs_open_set(&self->sets[0], TOPO_LINK));
		self->near = TOPO_LINK;
	}
	counters_use(self->near);
	ASSERT_EQ(0, duo_up(&self->duo, &self->sets[0],
			    &self->sets[self->wire]));
}

FIXTURE_TEARDOWN(fault_packets)
{
	EXPECT_EQ(0, rules_flush(self->near));
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, verbs_close_set(&self->sets[0]));
	if (self->wire) {
		EXPECT_EQ(0, verbs_close_set(&self->sets[1]));
		duo_veth_teardown();
	}
	counters_use(TOPO_LINK);
}

/*
 * One WRITE of @len by the end with a number, its bytes checked; its status, -1, or
 * -2: other bytes.
 */
static int write_from(struct duo *duo, int from, uint32_t len)
{
	struct duo_end *tx = &duo->end[from], *rx = &duo->end[!from];
	struct ibv_wc wc;
	static uint8_t n;
	uint32_t i;

	n++;
	for (i = 0; i < len; i++)
		tx->buf[i] = i * 7 + n;
	if (duo_write(tx, rx, 1, len, rx->mr->rkey) ||
	    duo_poll(tx->send_cq, &wc, 1) != 1)
		return -1;
	if (wc.status)
		return wc.status;
	return memcmp(tx->buf, rx->buf, len) ? -2 : 0;
}

static int write_checked(struct duo *duo, uint32_t len)
{
	return write_from(duo, 0, len);
}

/* Posts a READ of @len by the end with a number. */
static int post_read(struct duo *duo, int from, uint32_t len)
{
	struct duo_end *tx = &duo->end[from], *rx = &duo->end[!from];
	struct ibv_sge sge = {
		(uintptr_t)tx->buf, len, tx->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma.remote_addr = (uintptr_t)rx->buf,
		.wr.rdma.rkey = rx->mr->rkey,
	}, *bad;

	memset(tx->buf, 1, len);
	memset(rx->buf, 2, len);
	return ibv_post_send(tx->qp, &wr, &bad);
}

/* As write_from(). */
static int read_from(struct duo *duo, int from, uint32_t len)
{
	struct duo_end *tx = &duo->end[from], *rx = &duo->end[!from];
	struct ibv_wc wc;

	if (post_read(duo, from, len) || duo_poll(tx->send_cq, &wc, 1) != 1)
		return -1;
	if (wc.status)
		return wc.status;
	return memcmp(tx->buf, rx->buf, len) ? -2 : 0;
}

/*
 * A message of 8 packets, one of which meets the rule, @tx where it is sent. The
 * message is whole all the same.
 */
#define EXPECT_MENDED(words)						\
	do {								\
		int id = rules_add(self->near, words);			\
									\
		ASSERT_LT(0, id);					\
		EXPECT_EQ(0, write_checked(&self->duo, PACKETS(8)));	\
		EXPECT_EQ(1, rules_hits(self->near, id));		\
		EXPECT_EQ(0, rules_flush(self->near));			\
	} while (0)

TEST_F(fault_packets, one_of_a_message_is_lost)
{
	int64_t before = counters_get("tx_drop_injected");

	EXPECT_MENDED("tx op WRITE* nth 3 drop");
	EXPECT_EQ(before + 1, counters_get("tx_drop_injected"));
	EXPECT_MENDED("tx op WRITE_FIRST nth 1 drop");
	EXPECT_MENDED("tx op WRITE_LAST nth 1 drop");
	EXPECT_MENDED("rx op ACK nth 1 drop");
}

/* What the end that is sent WRITEs by the near one has got for nothing. */
static int64_t got_again(bool wire)
{
	int64_t again;

	counters_use(wire ? DUO_FAR : TOPO_LINK);
	again = counters_get("req_out_of_sequence") +
		counters_get("req_duplicate");
	counters_use(wire ? DUO_NEAR : TOPO_LINK);
	return again;
}

/*
 * Once the ends know each other, what is repeated is what was lost: not the five that
 * followed it. Where this takes long, one may be sent again to ask for an answer.
 */
TEST_F(fault_packets, only_what_is_lost_is_sent_again)
{
	int64_t again;

	EXPECT_MENDED("tx op WRITE_FIRST nth 1 drop");
	again = got_again(self->wire);
	EXPECT_MENDED("tx op WRITE* nth 3 drop");
	EXPECT_GT(again + 5, got_again(self->wire));
}

/* What is behind a packet that never comes ends with the QP, and is in the counters. */
TEST_F(fault_packets, what_was_held_in_vain_is_counted)
{
	struct duo_end *end = self->duo.end;
	int64_t held, dropped;

	ASSERT_LT(0, rules_add(self->near, "tx psn +2 drop"));
	counters_use(self->wire ? DUO_FAR : TOPO_LINK);
	held = counters_get("req_held");
	dropped = counters_get("rx_drop_state");
	ASSERT_EQ(0, duo_write(&end[0], &end[1], 1, PACKETS(8),
			       end[1].mr->rkey));
	EXPECT_TRUE(counters_reach("req_held", held + 5));
	EXPECT_EQ(dropped, counters_get("rx_drop_state"));
	EXPECT_EQ(0, duo_state(&end[1], IBV_QPS_RESET));
	EXPECT_EQ(dropped + 5, counters_get("rx_drop_state"));
	counters_use(self->near);
}

TEST_F(fault_packets, one_of_a_response_is_lost)
{
	int id = rules_add(self->near, "rx op READ_RESPONSE* nth 5 drop");

	ASSERT_LT(0, id);
	EXPECT_EQ(0, read_from(&self->duo, 0, PACKETS(9)));
	EXPECT_EQ(1, rules_hits(self->near, id));
}

TEST_F(fault_packets, one_of_a_message_comes_twice)
{
	EXPECT_MENDED("tx op WRITE* nth 3 duplicate");
	EXPECT_MENDED("tx op WRITE_LAST nth 1 duplicate");
	EXPECT_MENDED("rx op ACK nth 1 duplicate");
}

TEST_F(fault_packets, one_of_a_message_comes_late)
{
	EXPECT_MENDED("tx op WRITE_LAST nth 1 delay 200ms");
	EXPECT_MENDED("tx op WRITE* nth 4 reorder 2");
	/* Nobody overtakes it: it is not kept for ever. */
	EXPECT_MENDED("tx op WRITE_LAST nth 1 reorder 5");
}

/* Nobody repeats what is unreliable: it is there when its time has come. */
TEST_F(fault_packets, what_is_delayed_comes_then)
{
	struct duo uc = { .type = IBV_QPT_UC };
	long begin = topo_now_ms();
	struct ibv_wc wc;

	ASSERT_EQ(0, duo_up(&uc, &self->sets[0], &self->sets[self->wire]));
	ASSERT_LT(0, rules_add(self->near, "tx op SEND* nth 1 delay 200ms"));
	ASSERT_EQ(0, duo_recv(&uc.end[1], 1, 0, 64));
	ASSERT_EQ(0, duo_send(&uc.end[0], 1, 0, 64, 0));
	EXPECT_EQ(1, duo_poll(uc.end[1].recv_cq, &wc, 1));
	EXPECT_EQ(0, wc.status);
	EXPECT_LE(200, topo_now_ms() - begin);
	EXPECT_EQ(0, duo_close(&uc));
}

/* A receiver on the same host trusts what its stack has not finished: not these. */
TEST_F(fault_packets, wrong_sums_are_found)
{
	int64_t before = counters_get("rx_drop_icrc");

	ASSERT_LT(0, rules_add(self->near, "rx op WRITE* nth 3 corrupt icrc"));
	EXPECT_EQ(0, write_from(&self->duo, 1, PACKETS(8)));
	EXPECT_EQ(before + 1, counters_get("rx_drop_icrc"));
	EXPECT_EQ(0, rules_flush(self->near));
	before = counters_get("resp_nak_sequence");
	EXPECT_MENDED("tx op WRITE* nth 3 corrupt icrc");
	EXPECT_LT(before, counters_get("resp_nak_sequence"));
}

/* With a good ICRC: what finds it is the next thing that looks. */
TEST_F(fault_packets, headers_say_something_else)
{
	EXPECT_MENDED("tx op WRITE* nth 3 corrupt header psn");
	EXPECT_MENDED("tx op WRITE* nth 3 corrupt header qpn");
	EXPECT_MENDED("tx op WRITE* nth 3 corrupt header pkey 0x1234");
	EXPECT_MENDED("tx op WRITE* nth 3 corrupt header tver 1");
	EXPECT_MENDED("tx op WRITE* nth 3 truncate 4");
}

/*
 * The lengths in front of it fit: it is a packet, and one that is too short; also one
 * that nobody vouches for, as from a card.
 */
TEST_F(fault_packets, a_short_packet_is_an_invalid_request)
{
	if (self->wire)
		ASSERT_EQ(0, duo_veth_set_far_feature("tx-checksum-ip-generic",
						     false));
	ASSERT_LT(0, rules_add(self->near,
			       "rx op WRITE_LAST nth 1 truncate 4"));
	EXPECT_EQ(IBV_WC_REM_INV_REQ_ERR,
		  write_from(&self->duo, 1, PACKETS(8)));
}

TEST_F(fault_packets, a_wrong_key_is_an_access_error)
{
	ASSERT_LT(0, rules_add(self->near,
			       "tx op WRITE_ONLY corrupt header rkey"));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_checked(&self->duo, 64));
}

TEST_F(fault_packets, an_opcode_that_is_none_here_is_an_invalid_request)
{
	/* A WRITE_LAST that no WRITE_FIRST came before. */
	ASSERT_LT(0, rules_add(self->near,
			       "tx op WRITE_ONLY corrupt header opcode 8"));
	EXPECT_EQ(IBV_WC_REM_INV_REQ_ERR, write_checked(&self->duo, 64));
}

TEST_F(fault_packets, other_bytes_with_a_good_sum_are_delivered)
{
	struct duo_end *end = self->duo.end;

	ASSERT_LT(0, rules_add(self->near,
			       "tx op WRITE_MIDDLE nth 2 corrupt payload 100"));
	EXPECT_EQ(-2, write_checked(&self->duo, PACKETS(8)));
	end[1].buf[PACKETS(2) + 100] ^= 0xff;
	EXPECT_EQ(0, memcmp(end[0].buf, end[1].buf, PACKETS(8)));
}

/* ---- answers of the QP that the packet comes to, which is the near one ---- */

#define EXPECT_ANSWERED(status, words)					\
	do {								\
		ASSERT_LT(0, rules_add(self->near, words));		\
		EXPECT_EQ(status, write_from(&self->duo, 1, 64));	\
	} while (0)

TEST_F(fault_packets, refusals_fail_the_request)
{
	EXPECT_ANSWERED(IBV_WC_REM_ACCESS_ERR,
			"rx op WRITE_ONLY nth 1 answer nak access");
}

TEST_F(fault_packets, an_invalid_request_fails_the_request)
{
	EXPECT_ANSWERED(IBV_WC_REM_INV_REQ_ERR,
			"rx op WRITE_ONLY nth 1 answer nak invalid-request");
}

TEST_F(fault_packets, an_operational_error_fails_the_request)
{
	EXPECT_ANSWERED(IBV_WC_REM_OP_ERR,
			"rx op WRITE_ONLY nth 1 answer nak operation");
}

TEST_F(fault_packets, not_ready_is_tried_again)
{
	long begin = topo_now_ms();

	/* 31 is 491.52 ms. */
	EXPECT_ANSWERED(0, "rx op WRITE_ONLY nth 1 answer rnr 31");
	EXPECT_LE(491, topo_now_ms() - begin);
	EXPECT_ANSWERED(0, "rx op WRITE_ONLY nth 1 answer nak sequence");
}

/* What the far end, or the only one, has been refused. */
static int64_t refused(bool wire)
{
	int64_t times;

	counters_use(wire ? DUO_FAR : TOPO_LINK);
	times = counters_get("resp_nak_rnr");
	counters_use(wire ? DUO_NEAR : TOPO_LINK);
	return times;
}

/*
 * What a refusal would acknowledge has been lost: it is not acknowledged. The refused
 * one waits for it, and is refused then.
 */
TEST_F(fault_packets, a_refusal_does_not_hide_a_loss)
{
	static const char * const answers[] = { "rnr 1", "nak sequence" };
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc[2];
	int64_t before = refused(self->wire);
	char words[64];
	unsigned int i;
	int refusal;

	for (i = 0; i < 2; i++) {
		memset(end[0].buf, 0, 64);
		memset(end[1].buf, i + 1, 64);
		snprintf(words, sizeof(words),
			 "rx op WRITE_ONLY nth 2 answer %s", answers[i]);
		refusal = rules_add(self->near, words);
		ASSERT_LT(0, refusal);
		ASSERT_LT(0, rules_add(self->near,
				       "rx op WRITE_ONLY nth 1 drop"));
		ASSERT_EQ(0, duo_write(&end[1], &end[0], 1, 64,
				       end[0].mr->rkey));
		ASSERT_EQ(0, duo_write(&end[1], &end[0], 2, 64,
				       end[0].mr->rkey));
		ASSERT_EQ(2, duo_poll(end[1].send_cq, wc, 2));
		EXPECT_EQ(IBV_WC_SUCCESS, wc[0].status);
		EXPECT_EQ(IBV_WC_SUCCESS, wc[1].status);
		EXPECT_EQ(0, memcmp(end[0].buf, end[1].buf, 64));
		EXPECT_EQ(1, rules_hits(self->near, refusal));
		EXPECT_EQ(before + 1, refused(self->wire));
		EXPECT_EQ(0, rules_flush(self->near));
	}
}

/* The answer to what is in front of it comes first. */
TEST_F(fault_packets, a_refusal_does_not_take_a_read_along)
{
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc[2];

	ASSERT_LT(0, rules_add(self->near,
			       "rx op WRITE_ONLY nth 1 answer nak access"));
	ASSERT_EQ(0, post_read(&self->duo, 1, PACKETS(8)));
	ASSERT_EQ(0, duo_write(&end[1], &end[0], 2, 64, end[0].mr->rkey));
	ASSERT_EQ(2, duo_poll(end[1].send_cq, wc, 2));
	EXPECT_EQ(IBV_WC_SUCCESS, wc[0].status);
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, wc[1].status);
}

/* It completes in front of the one that has failed, and tells of it all the same. */
TEST_F(fault_packets, a_read_without_an_answer_is_flushed_by_a_refusal)
{
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc[2];

	ASSERT_LT(0, rules_add(self->near, "tx op READ_RESPONSE* drop"));
	ASSERT_LT(0, rules_add(self->near,
			       "rx op WRITE_ONLY nth 1 answer nak access"));
	ASSERT_EQ(0, post_read(&self->duo, 1, 64));
	ASSERT_EQ(0, duo_write(&end[1], &end[0], 2, 64, end[0].mr->rkey));
	ASSERT_EQ(2, duo_poll(end[1].send_cq, wc, 2));
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc[0].status);
	EXPECT_EQ(SRDMA_ERR_FLUSH_REQUEST, wc[0].vendor_err);
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, wc[1].status);
}

/* A datagram is delayed so long, and then the port is down: 0, 1: too late, or -1. */
static int delay_past_port(struct duo *uc, const char *near, int ms)
{
	struct duo_end *end = uc->end;
	struct ibv_wc wc;
	long sent;

	if (rules_add(near, "rx op SEND* nth 1 delay %dms", ms) <= 0 ||
	    duo_recv(&end[0], 1, 0, 64))
		return -1;
	sent = topo_now_ms();
	if (duo_send(&end[1], 1, 0, 64, 0) ||
	    duo_poll(end[1].send_cq, &wc, 1) != 1 ||
	    rules_add(near, "port-down"))
		return -1;
	return topo_now_ms() - sent >= ms;
}

/* What waits when the port goes down has not come. A busy machine takes its time. */
TEST_F(fault_packets, a_port_that_is_down_does_not_let_in_what_was_delayed)
{
	struct duo uc = { .type = IBV_QPT_UC };
	int64_t before = 0;
	int late = 1, ms;
	struct ibv_wc wc;

	for (ms = 300; late && ms < 10000; ms *= 2) {
		EXPECT_EQ(0, duo_close(&uc));
		EXPECT_EQ(0, rules_flush(self->near));
		ASSERT_EQ(0, rules_add(self->near, "port-up"));
		ASSERT_EQ(0, duo_up(&uc, &self->sets[0],
				    &self->sets[self->wire]));
		before = counters_get("rx_drop_injected");
		late = delay_past_port(&uc, self->near, ms);
	}
	ASSERT_EQ(0, late);
	EXPECT_TRUE(counters_reach("rx_drop_injected", before + 1));
	ASSERT_EQ(0, rules_add(self->near, "port-up"));
	EXPECT_EQ(0, ibv_poll_cq(uc.end[0].recv_cq, 1, &wc));
	EXPECT_EQ(0, duo_close(&uc));
}

TEST_F(fault_packets, silence_is_asked_again)
{
	int64_t before = counters_get("req_duplicate");

	EXPECT_ANSWERED(0, "rx op WRITE_ONLY nth 1 answer nothing");
	EXPECT_LT(before, counters_get("req_duplicate"));
	ASSERT_LT(0, rules_add(self->near,
			       "rx op READ_REQUEST nth 1 answer nothing"));
	EXPECT_EQ(0, read_from(&self->duo, 1, 64));
}

/* ---- congestion ---- */

TEST_F(fault_packets, a_notification_is_sent_and_nothing_is_lost)
{
	int cnps;

	cnps = rules_add(self->near, "tx op CNP duplicate");
	ASSERT_LT(0, cnps);
	ASSERT_LT(0, rules_add(self->near, "rx op WRITE* nth 3 cnp"));
	EXPECT_EQ(0, write_from(&self->duo, 1, PACKETS(8)));
	EXPECT_EQ(1, rules_hits(self->near, cnps));
}

TEST_HARNESS_MAIN
