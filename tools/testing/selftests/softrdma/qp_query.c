// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ibv_query_qp returns exactly what was set. */
#include "fixture.h"

#define EVERYTHING							\
	(IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS |	\
	 IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_AV |	\
	 IBV_QP_PATH_MTU | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |		\
	 IBV_QP_RNR_RETRY | IBV_QP_RQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |	\
	 IBV_QP_MIN_RNR_TIMER | IBV_QP_SQ_PSN |				\
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_CAP | IBV_QP_DEST_QPN)

static void same_path(struct __test_metadata *_metadata,
		      const struct ibv_ah_attr *want,
		      const struct ibv_ah_attr *got)
{
	EXPECT_EQ(want->is_global, got->is_global);
	EXPECT_EQ(want->port_num, got->port_num);
	EXPECT_EQ(want->sl, got->sl);
	EXPECT_EQ(0, memcmp(&want->grh.dgid, &got->grh.dgid, 16));
	EXPECT_EQ(want->grh.sgid_index, got->grh.sgid_index);
	EXPECT_EQ(want->grh.hop_limit, got->grh.hop_limit);
	EXPECT_EQ(want->grh.traffic_class, got->grh.traffic_class);
	EXPECT_EQ(want->grh.flow_label, got->grh.flow_label);
}

TEST_F(dev, rc_attributes_come_back)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr want, got;

	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_RTS, 0x00abcd));
	verbs_attr(&self->set, &want, IBV_QPS_RTS, 0x00abcd);
	memset(&got, 0xff, sizeof(got));
	ASSERT_EQ(0, ibv_query_qp(qp, &got, EVERYTHING, &init));
	EXPECT_EQ(IBV_QPS_RTS, got.qp_state);
	EXPECT_EQ(IBV_QPS_RTS, got.cur_qp_state);
	EXPECT_EQ(want.path_mtu, got.path_mtu);
	EXPECT_EQ(want.rq_psn, got.rq_psn);
	EXPECT_EQ(want.sq_psn, got.sq_psn);
	EXPECT_EQ(want.dest_qp_num, got.dest_qp_num);
	EXPECT_EQ(want.qp_access_flags, got.qp_access_flags);
	EXPECT_EQ(0, got.pkey_index);
	EXPECT_EQ(VERBS_PORT, got.port_num);
	EXPECT_EQ(want.max_rd_atomic, got.max_rd_atomic);
	EXPECT_EQ(want.max_dest_rd_atomic, got.max_dest_rd_atomic);
	EXPECT_EQ(want.min_rnr_timer, got.min_rnr_timer);
	EXPECT_EQ(want.timeout, got.timeout);
	EXPECT_EQ(want.retry_cnt, got.retry_cnt);
	EXPECT_EQ(want.rnr_retry, got.rnr_retry);
	EXPECT_EQ(0, got.sq_draining);
	EXPECT_EQ(IBV_MIG_MIGRATED, got.path_mig_state);
	same_path(_metadata, &want.ah_attr, &got.ah_attr);
	EXPECT_EQ(self->set.cq, init.send_cq);
	EXPECT_EQ(self->set.cq, init.recv_cq);
	EXPECT_EQ(IBV_QPT_RC, init.qp_type);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, uc_attributes_come_back)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_UC);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr want, got;

	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_RTS, 0x7654));
	verbs_attr(&self->set, &want, IBV_QPS_RTS, 0x7654);
	ASSERT_EQ(0, ibv_query_qp(qp, &got, EVERYTHING, &init));
	EXPECT_EQ(IBV_QPS_RTS, got.qp_state);
	EXPECT_EQ(want.path_mtu, got.path_mtu);
	EXPECT_EQ(want.rq_psn, got.rq_psn);
	EXPECT_EQ(want.sq_psn, got.sq_psn);
	EXPECT_EQ(want.dest_qp_num, got.dest_qp_num);
	EXPECT_EQ(want.qp_access_flags, got.qp_access_flags);
	same_path(_metadata, &want.ah_attr, &got.ah_attr);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, ud_attributes_come_back)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_UD);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr got;

	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_RTS, 0));
	ASSERT_EQ(0, ibv_query_qp(qp, &got, EVERYTHING, &init));
	EXPECT_EQ(IBV_QPS_RTS, got.qp_state);
	EXPECT_EQ(VERBS_QKEY, got.qkey);
	EXPECT_EQ(0x654321, got.sq_psn);
	EXPECT_EQ(VERBS_PORT, got.port_num);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, every_path_mtu_that_fits_comes_back)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int mtu, mask;

	ASSERT_NE(NULL, qp);
	mask = verbs_mask(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR);
	for (mtu = IBV_MTU_256; mtu <= IBV_MTU_1024; mtu++) {
		ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_INIT, 0));
		verbs_attr(&self->set, &attr, IBV_QPS_RTR, qp->qp_num);
		attr.path_mtu = mtu;
		ASSERT_EQ(0, ibv_modify_qp(qp, &attr, mask));
		ASSERT_EQ(0, ibv_query_qp(qp, &attr, IBV_QP_PATH_MTU, &init));
		EXPECT_EQ(mtu, attr.path_mtu);
	}
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

/* The extremes of each field: nothing rounds, masks or truncates them. */
TEST_F(dev, extreme_values_come_back)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int high;

	ASSERT_NE(NULL, qp);
	for (high = 0; high < 2; high++) {
		ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_INIT, 0));
		verbs_attr(&self->set, &attr, IBV_QPS_RTR, 0xfffffe);
		attr.rq_psn = high ? 0xffffff : 0;
		attr.min_rnr_timer = high ? 31 : 0;
		attr.max_dest_rd_atomic = high ? 16 : 0;
		ASSERT_EQ(0, ibv_modify_qp(qp, &attr,
					   verbs_mask(IBV_QPT_RC, IBV_QPS_INIT,
						      IBV_QPS_RTR)));
		verbs_attr(&self->set, &attr, IBV_QPS_RTS, 0);
		attr.sq_psn = high ? 0xffffff : 0;
		attr.timeout = high ? 31 : 0;
		attr.retry_cnt = high ? 7 : 0;
		attr.rnr_retry = high ? 7 : 0;
		attr.max_rd_atomic = high ? 16 : 0;
		ASSERT_EQ(0, ibv_modify_qp(qp, &attr,
					   verbs_mask(IBV_QPT_RC, IBV_QPS_RTR,
						      IBV_QPS_RTS)));
		ASSERT_EQ(0, ibv_query_qp(qp, &attr, EVERYTHING, &init));
		EXPECT_EQ(0xfffffe, attr.dest_qp_num);
		EXPECT_EQ(high ? 0xffffff : 0, attr.rq_psn);
		EXPECT_EQ(high ? 0xffffff : 0, attr.sq_psn);
		EXPECT_EQ(high ? 31 : 0, attr.min_rnr_timer);
		EXPECT_EQ(high ? 16 : 0, attr.max_dest_rd_atomic);
		EXPECT_EQ(high ? 31 : 0, attr.timeout);
		EXPECT_EQ(high ? 7 : 0, attr.retry_cnt);
		EXPECT_EQ(high ? 7 : 0, attr.rnr_retry);
		EXPECT_EQ(high ? 16 : 0, attr.max_rd_atomic);
	}
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, access_flags_change_in_rts)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_RTS, qp->qp_num));
	attr.qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC;
	ASSERT_EQ(0, ibv_modify_qp(qp, &attr, IBV_QP_ACCESS_FLAGS));
	attr.qp_access_flags = 0;
	ASSERT_EQ(0, ibv_query_qp(qp, &attr, IBV_QP_ACCESS_FLAGS, &init));
	EXPECT_EQ(IBV_ACCESS_REMOTE_ATOMIC, attr.qp_access_flags);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, reset_forgets_the_connection)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_RTS, qp->qp_num));
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_RESET, 0));
	ASSERT_EQ(0, ibv_query_qp(qp, &attr, IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				  IBV_QP_ACCESS_FLAGS | IBV_QP_TIMEOUT, &init));
	EXPECT_EQ(0, attr.dest_qp_num);
	EXPECT_EQ(0, attr.rq_psn);
	EXPECT_EQ(0, attr.qp_access_flags);
	EXPECT_EQ(0, attr.timeout);
	/* What RTR needs is needed again. */
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_INIT, 0));
	EXPECT_EQ(IBV_QPS_INIT, verbs_qp_state(qp));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

/* An idle send queue has drained as soon as it is told to. */
TEST_F(dev, draining_an_idle_queue_raises_sq_drained)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD,
		.en_sqd_async_notify = 1,
	};

	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_RTS, qp->qp_num));
	ASSERT_EQ(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE |
					      IBV_QP_EN_SQD_ASYNC_NOTIFY));
	EXPECT_EQ(0, verbs_wait_event(self->set.ctx, IBV_EVENT_SQ_DRAINED,
				      10000));
	ASSERT_EQ(0, ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	EXPECT_EQ(IBV_QPS_SQD, attr.qp_state);
	EXPECT_EQ(0, attr.sq_draining);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_HARNESS_MAIN
