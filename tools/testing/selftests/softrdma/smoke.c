// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The shortest way through every object: first to fail when all is wrong. */
#include "fixture.h"

TEST_F(dev, every_object_is_made_and_freed)
{
	struct ibv_srq_init_attr srq_init = {
		.attr = { .max_wr = 16, .max_sge = 1 },
	};
	struct verbs_set *set = &self->set;
	static char buffer[4096];
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;

	mr = ibv_reg_mr(set->pd, buffer, sizeof(buffer),
			IBV_ACCESS_LOCAL_WRITE);
	ASSERT_NE(NULL, mr);
	srq = ibv_create_srq(set->pd, &srq_init);
	ASSERT_NE(NULL, srq);
	qp = verbs_qp(set, IBV_QPT_RC);
	ASSERT_NE(NULL, qp);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_F(dev, rc_qp_reaches_rts)
{
	struct verbs_set *set = &self->set;
	struct ibv_qp *qp = verbs_qp(set, IBV_QPT_RC);

	ASSERT_NE(NULL, qp);
	EXPECT_EQ(0, verbs_qp_to(set, qp, IBV_QPS_RTS, qp->qp_num));
	EXPECT_EQ(IBV_QPS_RTS, verbs_qp_state(qp));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, port_is_active)
{
	EXPECT_EQ(0, verbs_wait_port(self->set.ctx, IBV_PORT_ACTIVE, 5000));
}

TEST_HARNESS_MAIN
