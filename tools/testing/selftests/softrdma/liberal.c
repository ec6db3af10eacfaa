// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What programs pass although the specification does not ask for it, since
 * adapters mask it, ignore it or make sense of it. Each test is a program that
 * failed.
 */
#include "pair_fixture.h"

/* UCX always gives 0xffffffff: no more than 20 bits ever leave (8.3.1). */
TEST_F(pair, flow_label_above_20_bits_is_cut)
{
	struct pair_options options = { .type = IBV_QPT_RC };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_ah *ah;

	verbs_attr(&self->a->set, &attr, IBV_QPS_RTR, 0);
	attr.ah_attr.grh.flow_label = 0xffffffff;
	ah = ibv_create_ah(self->a->set.pd, &attr.ah_attr);
	ASSERT_NE(NULL, ah);
	EXPECT_EQ(0, ibv_destroy_ah(ah));

	ASSERT_EQ(0, pair_create(&self->pair, &options));
	ASSERT_EQ(0, pair_modify(self->a, IBV_QPS_RESET, IBV_QPS_INIT, 0,
				 &options));
	verbs_attr(&self->a->set, &attr, IBV_QPS_RTR, self->b->qp->qp_num);
	attr.ah_attr.grh.flow_label = 0xffffffff;
	ASSERT_EQ(0, ibv_modify_qp(self->a->qp, &attr,
				   verbs_mask(IBV_QPT_RC, IBV_QPS_INIT,
					      IBV_QPS_RTR)));
	ASSERT_EQ(0, ibv_query_qp(self->a->qp, &attr, IBV_QP_AV, &init));
	EXPECT_EQ(0xfffff, attr.ah_attr.grh.flow_label);
}

TEST_HARNESS_MAIN
