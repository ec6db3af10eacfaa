// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Objects that others use are not destroyed; the rest is, in any order. */
#include "fixture.h"

#include "nldev.h"

TEST_F(dev, pd_in_use_is_busy)
{
	struct ibv_srq_init_attr init = { .attr = { 4, 1, 0 } };
	static char buffer[4096];
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;

	mr = ibv_reg_mr(self->set.pd, buffer, sizeof(buffer), 0);
	ASSERT_NE(NULL, mr);
	EXPECT_EQ(EBUSY, ibv_dealloc_pd(self->set.pd));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	srq = ibv_create_srq(self->set.pd, &init);
	ASSERT_NE(NULL, srq);
	EXPECT_EQ(EBUSY, ibv_dealloc_pd(self->set.pd));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
	qp = verbs_qp(&self->set, IBV_QPT_UD);
	ASSERT_NE(NULL, qp);
	EXPECT_EQ(EBUSY, ibv_dealloc_pd(self->set.pd));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, cq_in_use_is_busy)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);

	ASSERT_NE(NULL, qp);
	EXPECT_EQ(EBUSY, ibv_destroy_cq(self->set.cq));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, busy_objects_still_work)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);

	ASSERT_NE(NULL, qp);
	EXPECT_EQ(EBUSY, ibv_destroy_cq(self->set.cq));
	EXPECT_EQ(EBUSY, ibv_dealloc_pd(self->set.pd));
	EXPECT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_RTS, qp->qp_num));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, channel_in_use_is_busy)
{
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;

	channel = ibv_create_comp_channel(self->set.ctx);
	ASSERT_NE(NULL, channel);
	cq = ibv_create_cq(self->set.ctx, 4, NULL, channel, 0);
	ASSERT_NE(NULL, cq);
	EXPECT_EQ(EBUSY, ibv_destroy_comp_channel(channel));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
	EXPECT_EQ(0, ibv_destroy_comp_channel(channel));
}

/* Exit with everything open: the kernel cleans up, and rmmod later proves it. */
TEST_F(dev, process_exit_frees_everything)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < 10; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			static char buffer[65536];
			struct verbs_set set;
			struct ibv_qp *qp;

			if (verbs_open_set(&set, TOPO_LINK))
				_exit(1);
			qp = verbs_qp(&set, IBV_QPT_RC);
			if (!qp || verbs_qp_to(&set, qp, IBV_QPS_RTS,
					       qp->qp_num) ||
			    !ibv_reg_mr(set.pd, buffer, sizeof(buffer),
					IBV_ACCESS_LOCAL_WRITE) ||
			    !ibv_alloc_mw(set.pd, IBV_MW_TYPE_2))
				_exit(2);
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
	}
}

TEST_F(dev, link_can_be_taken_away_after_all_that)
{
	EXPECT_EQ(0, nldev_link_del(TOPO_LINK));
	EXPECT_EQ(0, topo_link_add(TOPO_LINK, TOPO_NETDEV));
}

TEST_HARNESS_MAIN
