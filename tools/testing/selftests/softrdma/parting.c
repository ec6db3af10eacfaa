// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A program that has received its last message ends its QP at once, and the
 * peer's request succeeds all the same: what was executed is acknowledged.
 *
 * The debug kernel leaves the answers to a later run ("reply", debug-kernel.rst).
 */
#include "twin_fixture.h"

#include "duo.h"
#include "knobs.h"

#define COUNT		3
#define LEN		3000

/* How the QP ends. */
enum parting {
	BY_DESTROY,
	BY_ERROR,
	BY_RESET,
};

FIXTURE(parting)
{
	struct verbs_set sets[2];
	struct duo duo;
	bool possible;
};

FIXTURE_VARIANT(parting)
{
	enum twin_kind kind;
	enum parting how;
};

#define VARIANT(name, kind, how)			\
	FIXTURE_VARIANT_ADD(parting, name) { kind, how }

VARIANT(loopback_destroy, TWIN_LOOPBACK, BY_DESTROY);
VARIANT(loopback_error, TWIN_LOOPBACK, BY_ERROR);
VARIANT(loopback_reset, TWIN_LOOPBACK, BY_RESET);
VARIANT(veth_destroy, TWIN_VETH, BY_DESTROY);
VARIANT(veth_error, TWIN_VETH, BY_ERROR);
VARIANT(veth_reset, TWIN_VETH, BY_RESET);

FIXTURE_SETUP(parting)
{
	self->possible = knob_exists("reply");
	ASSERT_EQ(0, twin_open(self->sets, variant->kind));
	ASSERT_EQ(0, duo_up(&self->duo, &self->sets[0], &self->sets[1]));
	if (self->possible)
		ASSERT_EQ(0, knob_turn("reply", true));
}

FIXTURE_TEARDOWN(parting)
{
	if (self->possible)
		EXPECT_EQ(0, knob_turn("reply", false));
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, twin_close(self->sets));
}

static int part(struct duo_end *end, enum parting how)
{
	int ret;

	if (how == BY_ERROR)
		return duo_state(end, IBV_QPS_ERR);
	if (how == BY_RESET)
		return duo_state(end, IBV_QPS_RESET);
	ret = ibv_destroy_qp(end->qp);
	end->qp = NULL;
	return ret;
}

/* All came, and nobody was told so yet. */
static int received(struct duo *duo, int count)
{
	struct ibv_wc wc[COUNT];
	int i, n = duo_poll(duo->end[1].recv_cq, wc, count);

	for (i = 0; i < n; i++)
		if (wc[i].status)
			return -1;
	return ibv_poll_cq(duo->end[0].send_cq, 1, wc) ? -1 : n;
}

TEST_F(parting, sends_that_were_received_succeed)
{
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc[COUNT];
	int i;

	if (!self->possible)
		SKIP(return, "no CONFIG_FAULT_INJECTION");
	for (i = 0; i < COUNT; i++)
		ASSERT_EQ(0, duo_recv(&end[1], i, 0, LEN));
	for (i = 0; i < COUNT; i++)
		ASSERT_EQ(0, duo_send(&end[0], i, 0, LEN, 0));
	ASSERT_EQ(COUNT, received(&self->duo, COUNT));
	ASSERT_EQ(0, part(&end[1], variant->how));
	ASSERT_EQ(COUNT, duo_poll(end[0].send_cq, wc, COUNT));
	for (i = 0; i < COUNT; i++)
		EXPECT_EQ(IBV_WC_SUCCESS, wc[i].status);
}

static int post_read(struct duo_end *from, struct duo_end *to)
{
	struct ibv_sge sge = { (uintptr_t)from->buf, LEN, from->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ,
		.wr.rdma = { (uintptr_t)to->buf, to->mr->rkey },
	};

	return ibv_post_send(from->qp, &wr, &bad);
}

/* Answers keep their order: the data goes before the acknowledge. */
TEST_F(parting, read_before_a_send_is_answered)
{
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc[2];

	if (!self->possible)
		SKIP(return, "no CONFIG_FAULT_INJECTION");
	memset(end[1].buf, 0x5a, LEN);
	ASSERT_EQ(0, duo_recv(&end[1], 0, LEN, LEN));
	ASSERT_EQ(0, post_read(&end[0], &end[1]));
	ASSERT_EQ(0, duo_send(&end[0], 1, LEN, LEN, 0));
	ASSERT_EQ(1, received(&self->duo, 1));
	ASSERT_EQ(0, part(&end[1], variant->how));
	ASSERT_EQ(2, duo_poll(end[0].send_cq, wc, 2));
	EXPECT_EQ(IBV_WC_SUCCESS, wc[0].status);
	EXPECT_EQ(IBV_WC_SUCCESS, wc[1].status);
	EXPECT_EQ(0, memcmp(end[0].buf, end[1].buf, LEN));
}

TEST_HARNESS_MAIN
