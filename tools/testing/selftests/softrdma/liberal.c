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

TEST_F(pair, qp_number_above_24_bits_is_cut)
{
	struct pair_options options = { .type = IBV_QPT_UD };
	struct pair_wr wr;
	struct ibv_wc wc;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	ASSERT_EQ(0, pair_post_recv(self->b, 0, PAIR_GRH + 64));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, 64);
	wr.wr.wr.ud.remote_qpn |= 0xa5000000;
	ASSERT_EQ(0, pair_post(self->a, &wr));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
}

TEST_F(pair, qp_number_of_a_peer_above_24_bits_is_cut)
{
	struct pair_options options = { .type = IBV_QPT_RC };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_wc wc;
	struct pair_wr wr;
	int i;

	ASSERT_EQ(0, pair_create(&self->pair, &options));
	for (i = IBV_QPS_INIT; i <= IBV_QPS_RTS; i++) {
		ASSERT_EQ(0, pair_modify(self->a, i - 1, i,
					 self->b->qp->qp_num | 0xa5000000,
					 &options));
		ASSERT_EQ(0, pair_modify(self->b, i - 1, i,
					 self->a->qp->qp_num, &options));
	}
	ASSERT_EQ(0, ibv_query_qp(self->a->qp, &attr, IBV_QP_DEST_QPN, &init));
	EXPECT_EQ(self->b->qp->qp_num, attr.dest_qp_num);
	ASSERT_EQ(0, pair_post_recv(self->b, 0, 64));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, 64);
	ASSERT_EQ(0, pair_post(self->a, &wr));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
}

TEST_HARNESS_MAIN
