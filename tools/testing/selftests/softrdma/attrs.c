// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Device, port, GID and P_Key attributes; what is advertised is attainable. */
#include "fixture.h"

#include <arpa/inet.h>
#include <unistd.h>

#include "kmsg.h"

static struct ibv_qp *qp_with(struct verbs_set *set, uint32_t send_wr,
			      uint32_t recv_wr, uint32_t send_sge,
			      uint32_t recv_sge)
{
	struct ibv_qp_init_attr init = {
		.send_cq = set->cq,
		.recv_cq = set->cq,
		.cap = {
			.max_send_wr = send_wr,
			.max_recv_wr = recv_wr,
			.max_send_sge = send_sge,
			.max_recv_sge = recv_sge,
		},
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(set->pd, &init);
}

TEST_F(dev, device_limits_are_sane)
{
	struct ibv_device_attr_ex attr = {};
	struct ibv_device_attr *orig = &attr.orig_attr;

	ASSERT_EQ(0, ibv_query_device_ex(self->set.ctx, NULL, &attr));
	EXPECT_NE(0, orig->node_guid);
	EXPECT_NE(0, orig->sys_image_guid);
	EXPECT_EQ(1, orig->phys_port_cnt);
	EXPECT_LE(1024, orig->max_qp);
	EXPECT_LE(16384, orig->max_qp_wr);
	EXPECT_LE(16, orig->max_sge);
	EXPECT_LE(1024, orig->max_cq);
	/* libfabric's ofi_rxm asks for more than 32767. */
	EXPECT_LT(32767, orig->max_cqe);
	EXPECT_LE(65536, orig->max_mr);
	EXPECT_LE(1024, orig->max_pd);
	EXPECT_LE(1024, orig->max_ah);
	EXPECT_LE(256, orig->max_srq);
	EXPECT_LE(16384, orig->max_srq_wr);
	EXPECT_LE(1, orig->max_srq_sge);
	EXPECT_LE(16, orig->max_qp_rd_atom);
	EXPECT_LE(16, orig->max_qp_init_rd_atom);
	/* Kernel consumers take its pages as 32 bits: there are to be some. */
	EXPECT_NE(0, (uint32_t)(orig->max_mr_size >> 12));
	EXPECT_EQ(UINT64_MAX, orig->max_mr_size);
	EXPECT_LE(1, orig->max_pkeys);
	EXPECT_LE(1, orig->max_mcast_grp);
	EXPECT_NE(0, orig->page_size_cap & 4096);
	/* What programs look for, though more is true: see limits.rst. */
	EXPECT_EQ(IBV_ATOMIC_HCA, orig->atomic_cap);
}

TEST_F(dev, unimplemented_capabilities_are_not_advertised)
{
	struct ibv_device_attr_ex attr = {};
	unsigned int flags;

	ASSERT_EQ(0, ibv_query_device_ex(self->set.ctx, NULL, &attr));
	flags = attr.orig_attr.device_cap_flags;
	EXPECT_EQ(0, flags & IBV_DEVICE_AUTO_PATH_MIG);
	EXPECT_EQ(0, flags & IBV_DEVICE_RAW_MULTI);
	EXPECT_EQ(0, flags & IBV_DEVICE_XRC);
	EXPECT_EQ(0, attr.odp_caps.general_caps);
	EXPECT_EQ(0, attr.completion_timestamp_mask);
}

TEST_F(dev, max_qp_wr_is_attainable_and_more_is_refused)
{
	struct verbs_set *set = &self->set;
	struct ibv_device_attr attr;
	struct ibv_qp *qp;

	ASSERT_EQ(0, ibv_query_device(set->ctx, &attr));
	qp = qp_with(set, attr.max_qp_wr, 1, 1, 1);
	ASSERT_NE(NULL, qp);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	qp = qp_with(set, 1, attr.max_qp_wr, 1, 1);
	ASSERT_NE(NULL, qp);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(NULL, qp_with(set, attr.max_qp_wr + 1, 1, 1, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(NULL, qp_with(set, 1, attr.max_qp_wr + 1, 1, 1));
	EXPECT_EQ(EINVAL, errno);
}

/* The verbs write into what they are given how much it became. */
TEST_F(dev, what_was_given_may_be_asked_for_again)
{
	struct verbs_set *set = &self->set;
	struct ibv_qp_init_attr qp_init = {
		.send_cq = set->cq,
		.recv_cq = set->cq,
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_srq_init_attr srq_init = { .attr = { .max_sge = 1 } };
	struct ibv_device_attr attr;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	int i;

	ASSERT_EQ(0, ibv_query_device(set->ctx, &attr));
	qp_init.cap.max_send_wr = attr.max_qp_wr;
	qp_init.cap.max_recv_wr = attr.max_qp_wr;
	srq_init.attr.max_wr = attr.max_srq_wr;
	for (i = 0; i < 2; i++) {
		qp = ibv_create_qp(set->pd, &qp_init);
		ASSERT_NE(NULL, qp);
		EXPECT_EQ(attr.max_qp_wr, qp_init.cap.max_send_wr);
		EXPECT_EQ(attr.max_qp_wr, qp_init.cap.max_recv_wr);
		EXPECT_EQ(0, ibv_destroy_qp(qp));
		srq = ibv_create_srq(set->pd, &srq_init);
		ASSERT_NE(NULL, srq);
		EXPECT_EQ(attr.max_srq_wr, srq_init.attr.max_wr);
		EXPECT_EQ(0, ibv_modify_srq(srq, &srq_init.attr,
					    IBV_SRQ_MAX_WR));
		EXPECT_EQ(attr.max_srq_wr, srq_init.attr.max_wr);
		EXPECT_EQ(0, ibv_destroy_srq(srq));
	}
}

TEST_F(dev, max_sge_is_attainable_and_more_is_refused)
{
	struct verbs_set *set = &self->set;
	struct ibv_device_attr attr;
	struct ibv_qp *qp;

	ASSERT_EQ(0, ibv_query_device(set->ctx, &attr));
	qp = qp_with(set, 8, 8, attr.max_sge, attr.max_sge);
	ASSERT_NE(NULL, qp);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(NULL, qp_with(set, 8, 8, attr.max_sge + 1, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(NULL, qp_with(set, 8, 8, 1, attr.max_sge + 1));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(dev, max_cqe_is_attainable_and_more_is_refused)
{
	struct verbs_set *set = &self->set;
	struct ibv_device_attr attr;
	struct ibv_cq *cq;

	ASSERT_EQ(0, ibv_query_device(set->ctx, &attr));
	cq = ibv_create_cq(set->ctx, attr.max_cqe, NULL, NULL, 0);
	ASSERT_NE(NULL, cq);
	EXPECT_LE(attr.max_cqe, cq->cqe);
	EXPECT_EQ(0, ibv_destroy_cq(cq));
	EXPECT_EQ(NULL, ibv_create_cq(set->ctx, attr.max_cqe + 1, NULL, NULL,
				      0));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(dev, max_srq_is_attainable_and_more_is_refused)
{
	struct ibv_srq_init_attr init = { .attr = { .max_sge = 1 } };
	struct verbs_set *set = &self->set;
	struct ibv_device_attr attr;
	struct ibv_srq *srq;

	ASSERT_EQ(0, ibv_query_device(set->ctx, &attr));
	init.attr.max_wr = attr.max_srq_wr;
	srq = ibv_create_srq(set->pd, &init);
	ASSERT_NE(NULL, srq);
	EXPECT_EQ(0, ibv_destroy_srq(srq));
	init.attr.max_wr = attr.max_srq_wr + 1;
	EXPECT_EQ(NULL, ibv_create_srq(set->pd, &init));
	EXPECT_EQ(EINVAL, errno);
	init.attr.max_wr = 4;
	init.attr.max_sge = attr.max_srq_sge;
	srq = ibv_create_srq(set->pd, &init);
	ASSERT_NE(NULL, srq);
	EXPECT_EQ(0, ibv_destroy_srq(srq));
	init.attr.max_sge = attr.max_srq_sge + 1;
	EXPECT_EQ(NULL, ibv_create_srq(set->pd, &init));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(dev, port_attributes_are_those_of_the_netdev)
{
	struct ibv_port_attr attr;

	ASSERT_EQ(0, ibv_query_port(self->set.ctx, VERBS_PORT, &attr));
	EXPECT_EQ(IBV_LINK_LAYER_ETHERNET, attr.link_layer);
	EXPECT_EQ(IBV_MTU_4096, attr.max_mtu);
	EXPECT_EQ(IBV_MTU_1024, attr.active_mtu);
	EXPECT_LE(64, attr.gid_tbl_len);
	EXPECT_EQ(1, attr.pkey_tbl_len);
	EXPECT_LE(1u << 30, attr.max_msg_sz);
	EXPECT_NE(0, attr.active_width);
	EXPECT_NE(0, attr.active_speed);
	EXPECT_EQ(5, attr.phys_state);
	EXPECT_EQ(0, attr.lid);
}

/* What programs choose protocols by, without a line in the log for each query. */
TEST_F(dev, port_of_a_netdev_without_speed_has_a_sane_one)
{
	int log = kmsg_mark();
	struct ibv_port_attr attr;
	int i;

	ASSERT_LE(0, log);
	for (i = 0; i < 20; i++)
		ASSERT_EQ(0, ibv_query_port(self->set.ctx, VERBS_PORT, &attr));
	/* 10 Gb/s */
	EXPECT_EQ(1, attr.active_width);
	EXPECT_EQ(8, attr.active_speed);
	EXPECT_FALSE(kmsg_has(log, "speed is unknown", NULL));
	close(log);
}

TEST_F(dev, port_number_is_checked)
{
	struct ibv_port_attr attr;

	EXPECT_EQ(EINVAL, ibv_query_port(self->set.ctx, 0, &attr));
	EXPECT_EQ(EINVAL, ibv_query_port(self->set.ctx, 2, &attr));
}

TEST_F(dev, pkey_table_holds_the_default_key)
{
	__be16 pkey = 0;

	ASSERT_EQ(0, ibv_query_pkey(self->set.ctx, VERBS_PORT, 0, &pkey));
	EXPECT_EQ(0xffff, ntohs(pkey));
	EXPECT_NE(0, ibv_query_pkey(self->set.ctx, VERBS_PORT, 1, &pkey));
}

TEST_F(dev, gids_of_both_families_are_rocev2)
{
	struct ibv_context *ctx = self->set.ctx;
	struct ibv_gid_entry entry;
	int ipv4, ipv6;

	ipv4 = verbs_gid_index(ctx, TOPO_IPV4, NULL);
	EXPECT_LE(0, ipv4);
	EXPECT_EQ(0, verbs_wait_gid(ctx, TOPO_IPV6, true, 5000));
	ipv6 = verbs_gid_index(ctx, TOPO_IPV6, NULL);
	EXPECT_LE(0, ipv6);
	EXPECT_NE(ipv4, ipv6);
	ASSERT_EQ(0, ibv_query_gid_ex(ctx, VERBS_PORT, ipv4, &entry, 0));
	EXPECT_EQ(IBV_GID_TYPE_ROCE_V2, entry.gid_type);
	EXPECT_NE(0, entry.ndev_ifindex);
}

TEST_F(dev, gid_table_has_no_rocev1)
{
	struct ibv_gid_entry table[64];
	ssize_t count, i;

	count = ibv_query_gid_table(self->set.ctx, table, 64, 0);
	ASSERT_LT(0, count);
	for (i = 0; i < count; i++)
		EXPECT_EQ(IBV_GID_TYPE_ROCE_V2, table[i].gid_type);
}

TEST_HARNESS_MAIN
