// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The recipes of Documentation/softrdma/guide/testing-your-program.rst, each as the
 * page has it (scripts/check-docs compares them), and what the page says comes of it.
 */
#include "fixture.h"

#include "duo.h"
#include "nldev.h"
#include "rules.h"

#define MTU		1024
#define PACKETS(n)	((n) * MTU)

FIXTURE(recipes)
{
	struct verbs_set set;
	struct duo duo;
	bool removed;
};

FIXTURE_SETUP(recipes)
{
	memset(&self->duo, 0, sizeof(self->duo));
	ASSERT_EQ(0, rules_flush(TOPO_LINK));
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
	self->duo.depth = 128;
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
}

FIXTURE_TEARDOWN(recipes)
{
	if (self->removed)
		return;
	EXPECT_EQ(0, rules_flush(TOPO_LINK));
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

/* A command of the page. */
#define RECIPE(words)	ASSERT_LE(0, rules_add(TOPO_LINK, words))

static int status_of(struct duo_end *end)
{
	struct ibv_wc wc;

	return duo_poll(end->send_cq, &wc, 1) == 1 ? (int)wc.status : -1;
}

static int write_status(struct duo *duo, uint32_t len)
{
	if (duo_write(&duo->end[0], &duo->end[1], 1, len,
		      duo->end[1].mr->rkey))
		return -1;
	return status_of(&duo->end[0]);
}

static int send_status(struct duo *duo)
{
	if (duo_recv(&duo->end[1], 1, 0, 64) ||
	    duo_send(&duo->end[0], 1, 0, 64, 0))
		return -1;
	return status_of(&duo->end[0]);
}

static int read_status(struct duo *duo, uint32_t len)
{
	struct duo_end *end = duo->end;
	struct ibv_sge sge = { (uintptr_t)end[0].buf, len, end[0].mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma.remote_addr = (uintptr_t)end[1].buf,
		.wr.rdma.rkey = end[1].mr->rkey,
	}, *bad;

	if (ibv_post_send(end[0].qp, &wr, &bad))
		return -1;
	return status_of(&end[0]);
}

TEST_F(recipes, a_packet_is_lost)
{
	RECIPE("rx op WRITE_MIDDLE nth 3 drop");
	EXPECT_EQ(0, write_status(&self->duo, PACKETS(8)));
}

TEST_F(recipes, the_receiver_is_not_ready)
{
	long begin = topo_now_ms();

	RECIPE("rx op SEND* times 1 answer rnr 20");
	EXPECT_EQ(0, send_status(&self->duo));
	EXPECT_LE(10, topo_now_ms() - begin);
}

TEST_F(recipes, nobody_answers)
{
	RECIPE("rx op ACK drop");
	EXPECT_EQ(IBV_WC_RETRY_EXC_ERR, write_status(&self->duo, 64));
}

TEST_F(recipes, the_peer_dies_in_the_middle_of_a_read)
{
	RECIPE("tx op READ_RESPONSE_MIDDLE nth 2 qp-error");
	RECIPE("tx op READ_RESPONSE* after 4 drop");
	EXPECT_EQ(IBV_WC_RETRY_EXC_ERR, read_status(&self->duo, PACKETS(64)));
}

TEST_F(recipes, a_key_is_wrong)
{
	RECIPE("tx op WRITE_FIRST,WRITE_ONLY times 1 corrupt header rkey");
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, write_status(&self->duo, 64));
}

TEST_F(recipes, the_port_flaps)
{
	RECIPE("port-down 200ms");
	EXPECT_EQ(0, verbs_wait_event(self->set.ctx, IBV_EVENT_PORT_ERR,
				      DUO_WAIT_MS));
	EXPECT_EQ(0, send_status(&self->duo));
	EXPECT_EQ(0, verbs_wait_event(self->set.ctx, IBV_EVENT_PORT_ACTIVE,
				      DUO_WAIT_MS));
}

TEST_F(recipes, the_hundredth_request_fails)
{
	int i;

	RECIPE("wr nth 100 status LOC_PROT_ERR");
	for (i = 1; i < 100; i++)
		ASSERT_EQ(0, write_status(&self->duo, 64));
	EXPECT_EQ(IBV_WC_LOC_PROT_ERR, write_status(&self->duo, 64));
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, write_status(&self->duo, 64));
}

TEST_F(recipes, there_are_no_more_queue_pairs)
{
	struct ibv_qp_init_attr init = {
		.send_cq = self->set.cq,
		.recv_cq = self->set.cq,
		.cap = { 4, 4, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp[8];
	int i;

	RECIPE("verb create_qp after 8 errno ENOMEM");
	for (i = 0; i < 8; i++) {
		qp[i] = ibv_create_qp(self->set.pd, &init);
		ASSERT_NE(NULL, qp[i]);
	}
	errno = 0;
	EXPECT_EQ(NULL, ibv_create_qp(self->set.pd, &init));
	EXPECT_EQ(ENOMEM, errno);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(0, ibv_destroy_qp(qp[i]));
}

TEST_F(recipes, a_completion_queue_overflows)
{
	RECIPE("wr nth 3 cq-overrun");
	EXPECT_EQ(0, write_status(&self->duo, 64));
	EXPECT_EQ(0, write_status(&self->duo, 64));
	duo_write(&self->duo.end[0], &self->duo.end[1], 1, 64,
		  self->duo.end[1].mr->rkey);
	duo_write(&self->duo.end[0], &self->duo.end[1], 1, 64,
		  self->duo.end[1].mr->rkey);
	EXPECT_EQ(0, verbs_wait_event(self->set.ctx, IBV_EVENT_CQ_ERR,
				      DUO_WAIT_MS));
}

TEST_F(recipes, the_device_goes_away)
{
	self->removed = true;
	RECIPE("rx op SEND* nth 3 remove");
	EXPECT_EQ(0, send_status(&self->duo));
	EXPECT_EQ(0, send_status(&self->duo));
	send_status(&self->duo);
	EXPECT_EQ(0, verbs_wait_event(self->set.ctx, IBV_EVENT_DEVICE_FATAL,
				      DUO_WAIT_MS));
	duo_close(&self->duo);
	verbs_close_set(&self->set);
}

TEST_HARNESS_MAIN
