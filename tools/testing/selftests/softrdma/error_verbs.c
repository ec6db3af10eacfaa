// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Verbs that are refused: what softrdma(8) says of each (troubleshooting.rst).
 */
#include "fixture.h"

#include <sys/prctl.h>

#include <rdma/softrdma-errors.h>

#include "duo.h"
#include "errlog.h"

FIXTURE(error_verbs)
{
	struct verbs_set set;
};

FIXTURE_SETUP(error_verbs)
{
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
}

FIXTURE_TEARDOWN(error_verbs)
{
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

#define SAYS(words)	EXPECT_TRUE(errlog_says(TOPO_LINK, 0, words))

TEST_F(error_verbs, completion_queue_that_is_too_long)
{
	struct ibv_device_attr attr;

	ASSERT_EQ(0, ibv_query_device(self->set.ctx, &attr));
	EXPECT_EQ(NULL, ibv_create_cq(self->set.ctx, attr.max_cqe + 7, NULL,
				      NULL, 0));
	SAYS("(257, cq_size)");
	SAYS("verb failed with EINVAL");
}

/* What reads it is an administrator's terminal. */
TEST_F(error_verbs, name_of_a_program_commands_no_terminal)
{
	struct ibv_device_attr attr;

	ASSERT_EQ(0, ibv_query_device(self->set.ctx, &attr));
	ASSERT_EQ(0, prctl(PR_SET_NAME, "a\033[2J\302\233b\nc"));
	EXPECT_EQ(NULL, ibv_create_cq(self->set.ctx, attr.max_cqe + 9, NULL,
				      NULL, 0));
	SAYS(" (a?[2J??b?c): verb failed with EINVAL");
}

TEST_F(error_verbs, completion_queue_made_smaller_than_what_waits)
{
	struct duo duo = {};

	ASSERT_EQ(0, duo_up(&duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_state(&duo.end[0], IBV_QPS_ERR));
	EXPECT_EQ(0, duo_send(&duo.end[0], 1, 0, 64, 0));
	EXPECT_EQ(0, duo_send(&duo.end[0], 2, 0, 64, 0));
	EXPECT_EQ(EINVAL, ibv_resize_cq(duo.end[0].send_cq, 1));
	SAYS("more completions wait in it than 1");
	EXPECT_EQ(0, duo_close(&duo));
}

static bool refused_srq(struct verbs_set *set, uint32_t wr, uint32_t sge,
			uint32_t limit)
{
	struct ibv_srq_init_attr init = { .attr = { wr, sge, limit } };

	return !ibv_create_srq(set->pd, &init);
}

TEST_F(error_verbs, shared_receive_queues_beyond_the_limits)
{
	EXPECT_TRUE(refused_srq(&self->set, 1 << 24, 1, 0));
	SAYS("(265, srq_wr)");
	EXPECT_TRUE(refused_srq(&self->set, 16, 4096, 0));
	SAYS("a receive has 32 pieces at most, not 4096");
	EXPECT_TRUE(refused_srq(&self->set, 16, 1, 99));
	SAYS("the limit 99 is above the 16 receives");
}

static bool refused_qp(struct verbs_set *set, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr init = {
		.send_cq = set->cq,
		.recv_cq = set->cq,
		.cap = cap,
		.qp_type = IBV_QPT_RC,
	};

	return !ibv_create_qp(set->pd, &init);
}

#define CAP(...)	((struct ibv_qp_cap){ __VA_ARGS__ })

TEST_F(error_verbs, queue_pairs_beyond_the_limits)
{
	EXPECT_TRUE(refused_qp(&self->set, CAP(.max_send_wr = 1 << 24)));
	SAYS("send requests at most, not 16777216 (275, qp_send_wr)");
	EXPECT_TRUE(refused_qp(&self->set, CAP(.max_send_sge = 300)));
	SAYS("32 pieces at most, not 300 (276, qp_send_sge)");
	EXPECT_TRUE(refused_qp(&self->set, CAP(.max_inline_data = 70000)));
	SAYS("inline bytes at most, not 70000 (277, qp_inline)");
	EXPECT_TRUE(refused_qp(&self->set, CAP(.max_recv_wr = 1 << 23)));
	SAYS("receives at most, not 8388608 (278, qp_recv_wr)");
	EXPECT_TRUE(refused_qp(&self->set, CAP(.max_recv_sge = 301)));
	SAYS("32 pieces at most, not 301 (279, qp_recv_sge)");
}

TEST_F(error_verbs, steps_that_a_queue_pair_cannot_take)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);
	struct ibv_qp_attr attr;
	int mask = verbs_mask(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR);

	ASSERT_NE(NULL, qp);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS };
	EXPECT_NE(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	SAYS("from RESET to state 3 is no step");
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_INIT, qp->qp_num));
	verbs_attr(&self->set, &attr, IBV_QPS_RTR, qp->qp_num);
	attr.min_rnr_timer = 99;
	EXPECT_NE(0, ibv_modify_qp(qp, &attr, mask));
	SAYS("cannot be 99; it goes up to 31 (289, modify_value)");
	verbs_attr(&self->set, &attr, IBV_QPS_RTR, qp->qp_num);
	attr.path_mtu = IBV_MTU_4096;
	EXPECT_NE(0, ibv_modify_qp(qp, &attr, mask));
	SAYS("the path MTU 5 is above that of the port, 3");
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_ERR,
				     .cur_qp_state = IBV_QPS_RTS };
	EXPECT_NE(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE));
	SAYS("the QP is in INIT, and cur_qp_state is 3");
	attr = (struct ibv_qp_attr){ .alt_port_num = 1, .rate_limit = 1 };
	EXPECT_NE(0, ibv_modify_qp(qp, &attr, IBV_QP_RATE_LIMIT));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(error_verbs, requests_before_a_queue_pair_can_send)
{
	struct duo duo = {};

	ASSERT_EQ(0, duo_open(&duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_step(&duo, 0, IBV_QPS_INIT));
	EXPECT_NE(0, duo_send(&duo.end[0], 1, 0, 64, 0));
	EXPECT_TRUE(errlog_says(TOPO_LINK, duo.end[0].qp->qp_num,
				"a QP in INIT takes no send requests"));
	EXPECT_EQ(0, duo_close(&duo));
}

TEST_F(error_verbs, address_of_another_family)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = { .sgid_index = self->set.gid_index, .hop_limit = 64 },
	};

	attr.grh.dgid.raw[0] = 0xff;
	attr.grh.dgid.raw[1] = 0x0e;
	attr.grh.dgid.raw[15] = 9;
	EXPECT_EQ(NULL, ibv_create_ah(self->set.pd, &attr));
	SAYS("not both of IPv4 or both of IPv6 (306, ah_family)");
}

TEST_F(error_verbs, memory_that_cannot_be_registered)
{
	EXPECT_EQ(NULL, ibv_reg_mr(self->set.pd, (void *)0x1000, 1ul << 47,
				   0));
	SAYS("a region of 140737488355328 bytes is longer");
	EXPECT_EQ(NULL, ibv_reg_mr(self->set.pd, (void *)0x1000, 4096, 0));
	SAYS("its memory, 4096 bytes, cannot be pinned");
	SAYS("verb failed with EFAULT");
}

TEST_F(error_verbs, region_with_windows)
{
	struct duo duo = {};
	struct ibv_mw *mw = ibv_alloc_mw(self->set.pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {};
	struct ibv_wc wc;
	struct ibv_mr *mr;

	ASSERT_EQ(0, duo_up(&duo, &self->set, &self->set));
	mr = ibv_reg_mr(self->set.pd, duo.end[0].buf, 4096, IBV_ACCESS_MW_BIND);
	ASSERT_NE(NULL, mr);
	ASSERT_NE(NULL, mw);
	bind.bind_info = (struct ibv_mw_bind_info){
		mr, (uintptr_t)duo.end[0].buf, 64, IBV_ACCESS_REMOTE_READ };
	bind.send_flags = IBV_SEND_SIGNALED;
	ASSERT_EQ(0, ibv_bind_mw(duo.end[0].qp, mw, &bind));
	ASSERT_EQ(1, duo_poll(duo.end[0].send_cq, &wc, 1));
	EXPECT_EQ(EBUSY, ibv_dereg_mr(mr));
	SAYS("windows are bound to it (318, mr_bound)");
	EXPECT_EQ(0, ibv_dealloc_mw(mw));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, duo_close(&duo));
}

TEST_HARNESS_MAIN
