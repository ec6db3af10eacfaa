// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Creating queue pairs: types, capabilities, what is refused. */
#include "fixture.h"

FIXTURE(type)
{
	struct verbs_set set;
	struct ibv_qp_init_attr init;
};

FIXTURE_VARIANT(type)
{
	enum ibv_qp_type type;
};

FIXTURE_VARIANT_ADD(type, rc) { .type = IBV_QPT_RC };
FIXTURE_VARIANT_ADD(type, uc) { .type = IBV_QPT_UC };
FIXTURE_VARIANT_ADD(type, ud) { .type = IBV_QPT_UD };

FIXTURE_SETUP(type)
{
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
	self->init.send_cq = self->set.cq;
	self->init.recv_cq = self->set.cq;
	self->init.qp_type = variant->type;
	self->init.cap.max_send_wr = 10;
	self->init.cap.max_recv_wr = 10;
	self->init.cap.max_send_sge = 1;
	self->init.cap.max_recv_sge = 1;
}

FIXTURE_TEARDOWN(type)
{
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

TEST_F(type, caps_are_at_least_what_was_asked)
{
	static const struct ibv_qp_cap wanted[] = {
		{ 1, 1, 1, 1, 0 }, { 10, 20, 3, 4, 0 }, { 64, 64, 16, 16, 0 },
		{ 100, 1, 1, 1, 100 }, { 1, 1000, 2, 1, 333 },
		{ 127, 128, 1, 2, 64 },
	};
	struct ibv_qp_init_attr query;
	struct ibv_qp_cap *cap;
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		self->init.cap = wanted[i];
		qp = ibv_create_qp(self->set.pd, &self->init);
		ASSERT_NE(NULL, qp);
		cap = &self->init.cap;
		EXPECT_LE(wanted[i].max_send_wr, cap->max_send_wr);
		EXPECT_LE(wanted[i].max_recv_wr, cap->max_recv_wr);
		EXPECT_LE(wanted[i].max_send_sge, cap->max_send_sge);
		EXPECT_LE(wanted[i].max_recv_sge, cap->max_recv_sge);
		EXPECT_LE(wanted[i].max_inline_data, cap->max_inline_data);
		ASSERT_EQ(0, ibv_query_qp(qp, &attr, IBV_QP_CAP, &query));
		EXPECT_EQ(0, memcmp(cap, &attr.cap, sizeof(*cap)));
		EXPECT_EQ(0, memcmp(cap, &query.cap, sizeof(*cap)));
		EXPECT_EQ(0, ibv_destroy_qp(qp));
	}
}

TEST_F(type, returned_caps_can_be_posted)
{
	struct ibv_recv_wr wr = {}, *bad;
	struct ibv_qp *qp;
	uint32_t i;

	qp = ibv_create_qp(self->set.pd, &self->init);
	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_INIT, 0));
	for (i = 0; i < self->init.cap.max_recv_wr; i++)
		ASSERT_EQ(0, ibv_post_recv(qp, &wr, &bad));
	EXPECT_NE(0, ibv_post_recv(qp, &wr, &bad));
	EXPECT_EQ(&wr, bad);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(type, huge_inline_data_is_refused)
{
	self->init.cap.max_inline_data = 1 << 20;
	EXPECT_EQ(NULL, ibv_create_qp(self->set.pd, &self->init));
	EXPECT_EQ(EINVAL, errno);
	self->init.cap.max_inline_data = UINT32_MAX;
	EXPECT_EQ(NULL, ibv_create_qp(self->set.pd, &self->init));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(type, overflowing_counts_are_refused)
{
	self->init.cap.max_send_wr = UINT32_MAX;
	EXPECT_EQ(NULL, ibv_create_qp(self->set.pd, &self->init));
	EXPECT_EQ(EINVAL, errno);
	self->init.cap.max_send_wr = 1;
	self->init.cap.max_recv_sge = UINT32_MAX;
	EXPECT_EQ(NULL, ibv_create_qp(self->set.pd, &self->init));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(type, qp_numbers_differ_and_are_not_reserved)
{
	struct ibv_qp *qp[64];
	int i, j;

	for (i = 0; i < 64; i++) {
		qp[i] = ibv_create_qp(self->set.pd, &self->init);
		ASSERT_NE(NULL, qp[i]);
		EXPECT_LT(1, qp[i]->qp_num);
		EXPECT_GT(0xffffffu, qp[i]->qp_num);
		for (j = 0; j < i; j++)
			EXPECT_NE(qp[j]->qp_num, qp[i]->qp_num);
	}
	for (i = 0; i < 64; i++)
		EXPECT_EQ(0, ibv_destroy_qp(qp[i]));
}

TEST_F(type, new_qp_is_in_reset)
{
	struct ibv_qp *qp = ibv_create_qp(self->set.pd, &self->init);

	ASSERT_NE(NULL, qp);
	EXPECT_EQ(IBV_QPS_RESET, verbs_qp_state(qp));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(type, signal_all_is_remembered)
{
	struct ibv_qp_init_attr query;
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;
	int all;

	for (all = 0; all < 2; all++) {
		self->init.sq_sig_all = all;
		qp = ibv_create_qp(self->set.pd, &self->init);
		ASSERT_NE(NULL, qp);
		ASSERT_EQ(0, ibv_query_qp(qp, &attr, IBV_QP_STATE, &query));
		EXPECT_EQ(all, query.sq_sig_all);
		EXPECT_EQ(0, ibv_destroy_qp(qp));
	}
}

TEST_F(type, separate_completion_queues)
{
	struct ibv_cq *other;
	struct ibv_qp *qp;

	other = ibv_create_cq(self->set.ctx, 8, NULL, NULL, 0);
	ASSERT_NE(NULL, other);
	self->init.recv_cq = other;
	qp = ibv_create_qp(self->set.pd, &self->init);
	ASSERT_NE(NULL, qp);
	EXPECT_EQ(EBUSY, ibv_destroy_cq(other));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(0, ibv_destroy_cq(other));
}

TEST_F(dev, unsupported_types_are_refused)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_DRIVER,
		(enum ibv_qp_type)0, (enum ibv_qp_type)1,
	};
	struct ibv_qp_init_attr init = {
		.send_cq = self->set.cq,
		.recv_cq = self->set.cq,
		.cap = { 4, 4, 1, 1, 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		init.qp_type = types[i];
		EXPECT_EQ(NULL, ibv_create_qp(self->set.pd, &init));
		EXPECT_NE(0, errno);
	}
}

TEST_F(dev, extended_create_flags_are_refused)
{
	static const uint32_t flags[] = {
		IBV_QP_CREATE_BLOCK_SELF_MCAST_LB, IBV_QP_CREATE_SCATTER_FCS,
		IBV_QP_CREATE_CVLAN_STRIPPING, IBV_QP_CREATE_SOURCE_QPN,
		IBV_QP_CREATE_PCI_WRITE_END_PADDING, 1u << 0, 1u << 31,
	};
	struct ibv_qp_init_attr_ex init = {
		.send_cq = self->set.cq,
		.recv_cq = self->set.cq,
		.cap = { 4, 4, 1, 1, 0 },
		.qp_type = IBV_QPT_UD,
		.pd = self->set.pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_CREATE_FLAGS,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		init.create_flags = flags[i];
		EXPECT_EQ(NULL, ibv_create_qp_ex(self->set.ctx, &init));
		EXPECT_NE(0, errno);
	}
}

TEST_F(dev, objects_of_another_context_do_not_mix)
{
	struct ibv_qp_init_attr init = {
		.cap = { 4, 4, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	struct verbs_set other;

	ASSERT_EQ(0, verbs_open_set(&other, TOPO_LINK));
	/* Handles are numbers of one context: the other's CQ is not ours. */
	init.send_cq = other.cq;
	init.recv_cq = other.cq;
	other.cq->handle += 1000;
	EXPECT_EQ(NULL, ibv_create_qp(self->set.pd, &init));
	EXPECT_NE(0, errno);
	other.cq->handle -= 1000;
	EXPECT_EQ(0, verbs_close_set(&other));
}

TEST_HARNESS_MAIN
