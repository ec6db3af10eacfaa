// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ECN (annex A17.9) of unreliable connections: their packets may be marked, and a QP that
 * is notified sends at a rate. The peer is made of frames.
 */
#include "wire_fixture.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "cm.h"
#include "duo.h"
#include "rules.h"

#define SOON_MS		20000
#define MTU		1024
#define BUF		(64 * MTU)
#define PACKETS		64
#define RESERVED	16
#define NOTIFICATIONS	32
#define PEER_QPN	0x123456

FIXTURE(uc)
{
	struct verbs_set set;
	struct ibv_qp *qp;
	uint8_t *buf;
	struct ibv_mr *mr;
};

FIXTURE_SETUP(uc)
{
	struct verbs_set to;
	struct ibv_qp_attr attr;
	enum ibv_qp_state state;
	struct wire_frame frame;

	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
	self->qp = verbs_qp(&self->set, IBV_QPT_UC);
	self->buf = aligned_alloc(4096, BUF);
	ASSERT_NE(NULL, self->qp);
	ASSERT_NE(NULL, self->buf);
	self->mr = ibv_reg_mr(self->set.pd, self->buf, BUF, 0);
	ASSERT_NE(NULL, self->mr);
	to = self->set;
	inet_pton(AF_INET, WIRE_PEER, to.gid.raw + 12);
	for (state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
		verbs_attr(&to, &attr, state, PEER_QPN);
		ASSERT_EQ(0, ibv_modify_qp(self->qp, &attr,
					   verbs_mask(IBV_QPT_UC, state - 1,
						      state)));
	}
	while (!wire_capture(&frame, 0))
		;
}

FIXTURE_TEARDOWN(uc)
{
	EXPECT_EQ(0, ibv_destroy_qp(self->qp));
	EXPECT_EQ(0, ibv_dereg_mr(self->mr));
	free(self->buf);
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

static int post_write(struct ibv_qp *qp, struct ibv_mr *mr, uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr, BUF, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { 0x1000, 0x77 },
	};

	return ibv_post_send(qp, &wr, &bad);
}

static int say_notification(struct ibv_qp *qp)
{
	static const uint8_t reserved[RESERVED];
	struct wire_packet packet = {
		.opcode = CNP, .qpn = qp->qp_num,
		.payload = reserved, .payload_len = sizeof(reserved),
	};
	struct wire_frame frame;

	wire_build(&frame, &packet);
	return wire_inject(&frame, false);
}

/* How many of @most packets are heard, and when the last was there, ms. */
static int hear(int most, int timeout_ms, long *took)
{
	long begin = topo_now_ms();
	struct wire_frame frame;
	int count = 0;

	while (count < most && !wire_capture(&frame, timeout_ms)) {
		*took = topo_now_ms() - begin;
		count++;
	}
	return count;
}

static bool completes(struct verbs_set *set, uint64_t wr_id,
		      enum ibv_wc_status status)
{
	struct ibv_wc wc;

	return cm_poll(set->cq, &wc, SOON_MS) == 1 && wc.wr_id == wr_id &&
	       wc.status == status;
}

/*
 * Longer apart than a rate is held that each burst is told of: it falls to a packet in
 * several ms.
 */
static int notify_often(struct ibv_qp *qp)
{
	int i, ret = 0;

	for (i = 0; i < NOTIFICATIONS && !ret; i++) {
		ret = say_notification(qp);
		usleep(26000);
	}
	return ret;
}

TEST_F(uc, packets_may_be_marked)
{
	struct wire_frame frame;
	int i;

	ASSERT_EQ(0, post_write(self->qp, self->mr, 1));
	for (i = 0; i < PACKETS; i++) {
		ASSERT_EQ(0, wire_capture(&frame, SOON_MS));
		EXPECT_EQ(ECT_0, wire_ecn(&frame));
	}
	EXPECT_TRUE(completes(&self->set, 1, IBV_WC_SUCCESS));
}

/* All of a message goes at once; then it takes its time, and none is missing. */
TEST_F(uc, notified_qp_spreads_its_packets)
{
	int64_t handled = counters_get("rp_cnp_handled");
	int64_t paced = counters_get("timer_pace");
	long took = 0;

	ASSERT_EQ(0, post_write(self->qp, self->mr, 1));
	ASSERT_EQ(PACKETS, hear(PACKETS, SOON_MS, &took));
	ASSERT_TRUE(completes(&self->set, 1, IBV_WC_SUCCESS));
	ASSERT_EQ(0, notify_often(self->qp));
	EXPECT_EQ(handled + NOTIFICATIONS, counters_get("rp_cnp_handled"));

	ASSERT_EQ(0, post_write(self->qp, self->mr, 2));
	EXPECT_EQ(PACKETS, hear(PACKETS, SOON_MS, &took));
	EXPECT_TRUE(completes(&self->set, 2, IBV_WC_SUCCESS));
	TH_LOG("%d packets took %ld ms", PACKETS, took);
	EXPECT_LE(100, took);
	EXPECT_LT(paced, counters_get("timer_pace"));
}

/* What waits to be sent is flushed as anything is. */
TEST_F(uc, what_waits_for_its_time_is_flushed)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	long took = 0;
	int heard;

	ASSERT_EQ(0, post_write(self->qp, self->mr, 1));
	ASSERT_EQ(PACKETS, hear(PACKETS, SOON_MS, &took));
	ASSERT_TRUE(completes(&self->set, 1, IBV_WC_SUCCESS));
	ASSERT_EQ(0, notify_often(self->qp));
	ASSERT_EQ(0, post_write(self->qp, self->mr, 2));
	ASSERT_EQ(0, post_write(self->qp, self->mr, 3));
	ASSERT_EQ(0, ibv_modify_qp(self->qp, &attr, IBV_QP_STATE));
	EXPECT_TRUE(completes(&self->set, 2, IBV_WC_WR_FLUSH_ERR));
	EXPECT_TRUE(completes(&self->set, 3, IBV_WC_WR_FLUSH_ERR));
	heard = hear(2 * PACKETS, 0, &took);
	EXPECT_GT(PACKETS, heard);
	EXPECT_EQ(0, hear(1, 200, &took));
}

/* The QP goes while its timer runs. */
TEST_F(uc, qp_is_destroyed_while_packets_wait)
{
	long took = 0;

	ASSERT_EQ(0, post_write(self->qp, self->mr, 1));
	ASSERT_EQ(PACKETS, hear(PACKETS, SOON_MS, &took));
	ASSERT_EQ(0, notify_often(self->qp));
	ASSERT_EQ(0, post_write(self->qp, self->mr, 2));
	ASSERT_EQ(0, ibv_destroy_qp(self->qp));
	self->qp = verbs_qp(&self->set, IBV_QPT_UC);
	ASSERT_NE(NULL, self->qp);
}

/* Nothing of it is left when the QP is connected anew. */
TEST_F(uc, qp_that_was_reset_is_as_fast_as_before)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	int64_t paced;
	long took = 0;

	ASSERT_EQ(0, post_write(self->qp, self->mr, 1));
	ASSERT_EQ(PACKETS, hear(PACKETS, SOON_MS, &took));
	ASSERT_TRUE(completes(&self->set, 1, IBV_WC_SUCCESS));
	ASSERT_EQ(0, notify_often(self->qp));
	ASSERT_EQ(0, post_write(self->qp, self->mr, 2));
	ASSERT_EQ(0, ibv_modify_qp(self->qp, &attr, IBV_QP_STATE));
	hear(PACKETS, 0, &took);
	ASSERT_EQ(0, verbs_qp_connect_self(&self->set, self->qp));
	paced = counters_get("timer_pace");
	ASSERT_EQ(0, post_write(self->qp, self->mr, 3));
	EXPECT_TRUE(completes(&self->set, 3, IBV_WC_SUCCESS));
	EXPECT_EQ(paced, counters_get("timer_pace"));
}

/* Both ends: some are marked, and all arrive. More would be slower and slower. */
TEST_F(uc, both_ends_follow)
{
	int64_t sent = counters_get("np_cnp_sent");
	int64_t handled = counters_get("rp_cnp_handled");
	struct duo duo = { .type = IBV_QPT_UC };
	struct ibv_wc wc;
	int i;

	ASSERT_EQ(0, duo_up(&duo, &self->set, &self->set));
	ASSERT_LT(0, rules_add(TOPO_LINK, "rx op WRITE* every 16 ce"));
	for (i = 0; i < 4; i++) {
		cm_fill(duo.end[0].buf, BUF, i);
		ASSERT_EQ(0, duo_write(&duo.end[0], &duo.end[1], i, BUF,
				       duo.end[1].mr->rkey));
		ASSERT_EQ(1, duo_poll(duo.end[0].send_cq, &wc, 1));
		EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	}
	EXPECT_EQ(0, memcmp(duo.end[0].buf, duo.end[1].buf, BUF));
	EXPECT_LT(sent, counters_get("np_cnp_sent"));
	EXPECT_EQ(counters_get("np_cnp_sent") - sent,
		  counters_get("rp_cnp_handled") - handled);
	EXPECT_EQ(0, rules_flush(TOPO_LINK));
	EXPECT_EQ(0, duo_close(&duo));
}

TEST_HARNESS_MAIN
