// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection domains and address handles. */
#include "fixture.h"

#include <rdma/ib_user_verbs.h>

#include "uverbs.h"

TEST_F(dev, many_pds_can_be_held)
{
	struct ibv_pd *pd[256];
	int i;

	for (i = 0; i < 256; i++) {
		pd[i] = ibv_alloc_pd(self->set.ctx);
		ASSERT_NE(NULL, pd[i]);
	}
	for (i = 0; i < 256; i++)
		EXPECT_EQ(0, ibv_dealloc_pd(pd[i]));
}

static void ah_attr(struct verbs_set *set, struct ibv_ah_attr *attr)
{
	struct ibv_qp_attr qp_attr;

	verbs_attr(set, &qp_attr, IBV_QPS_RTR, 0);
	*attr = qp_attr.ah_attr;
}

TEST_F(dev, ah_to_a_local_address_is_made)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;

	ah_attr(&self->set, &attr);
	ah = ibv_create_ah(self->set.pd, &attr);
	ASSERT_NE(NULL, ah);
	EXPECT_EQ(0, ibv_destroy_ah(ah));
}

TEST_F(dev, ah_without_grh_is_refused)
{
	struct ibv_ah_attr attr;

	ah_attr(&self->set, &attr);
	attr.is_global = 0;
	EXPECT_EQ(NULL, ibv_create_ah(self->set.pd, &attr));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(dev, ah_with_a_port_that_is_not_there_is_refused)
{
	struct ibv_ah_attr attr;

	ah_attr(&self->set, &attr);
	attr.port_num = 2;
	EXPECT_EQ(NULL, ibv_create_ah(self->set.pd, &attr));
	EXPECT_EQ(EINVAL, errno);
	attr.port_num = 0;
	EXPECT_EQ(NULL, ibv_create_ah(self->set.pd, &attr));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(dev, ah_with_an_empty_gid_index_is_refused)
{
	struct ibv_port_attr port;
	struct ibv_ah_attr attr;

	ASSERT_EQ(0, ibv_query_port(self->set.ctx, VERBS_PORT, &port));
	ah_attr(&self->set, &attr);
	attr.grh.sgid_index = port.gid_tbl_len < 256 ? port.gid_tbl_len - 1 :
						       255;
	EXPECT_EQ(NULL, ibv_create_ah(self->set.pd, &attr));
	EXPECT_NE(0, errno);
}

/* A packet cannot leave as IPv4 and arrive as IPv6; nor can one to a group. */
TEST_F(dev, ah_of_two_families_is_refused)
{
	static const uint8_t groups[][16] = {
		{ 0xff, 0x1e, [15] = 7 },
		{ [10] = 0xff, 0xff, 239, 7, 7, 7 },
	};
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;
	int from, to;

	ASSERT_EQ(0, verbs_wait_gid(self->set.ctx, TOPO_IPV6, true, 5000));
	for (from = 0; from < 2; from++) {
		for (to = 0; to < 2; to++) {
			ah_attr(&self->set, &attr);
			attr.grh.sgid_index = verbs_gid_index(self->set.ctx,
					from ? TOPO_IPV4 : TOPO_IPV6, NULL);
			memcpy(attr.grh.dgid.raw, groups[to], 16);
			ah = ibv_create_ah(self->set.pd, &attr);
			EXPECT_EQ(from == to, ah != NULL) {
				TH_LOG("from IPv%d to IPv%d", from ? 4 : 6,
				       to ? 4 : 6);
			}
			if (ah)
				EXPECT_EQ(0, ibv_destroy_ah(ah));
		}
	}
}

/*
 * With a bound netdev the kernel takes an address without route for on-link, so
 * this may succeed; what it must not do is wait for a neighbour for long.
 */
TEST_F(dev, ah_without_route_is_answered_soon)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;
	long start;

	ah_attr(&self->set, &attr);
	/* 203.0.113.1: nothing routes there from this namespace. */
	attr.grh.dgid.raw[12] = 203;
	attr.grh.dgid.raw[13] = 0;
	attr.grh.dgid.raw[14] = 113;
	start = topo_now_ms();
	ah = ibv_create_ah(self->set.pd, &attr);
	EXPECT_GT(10000, topo_now_ms() - start);
	if (ah)
		EXPECT_EQ(0, ibv_destroy_ah(ah));
}

/* Raw, for the number that libibverbs hides: the provider needs it non-zero. */
TEST_F(dev, ah_num_is_never_zero_nor_shared)
{
	struct {
		struct ib_uverbs_create_ah_resp core;
		uint32_t ah_num;
		uint32_t reserved;
	} resp[32];
	struct ib_uverbs_create_ah command = {};
	int fd = uverbs_open(TOPO_LINK);
	int i, j;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, uverbs_get_context(fd));
	command.pd_handle = uverbs_alloc_pd(fd);
	command.attr.is_global = 1;
	command.attr.port_num = VERBS_PORT;
	memcpy(command.attr.grh.dgid, self->set.gid.raw, 16);
	command.attr.grh.sgid_index = self->set.gid_index;
	command.attr.grh.hop_limit = 64;
	for (i = 0; i < 32; i++) {
		memset(&resp[i], 0, sizeof(resp[i]));
		ASSERT_EQ(0, uverbs_write(fd, IB_USER_VERBS_CMD_CREATE_AH,
					  &command, sizeof(command), &resp[i],
					  sizeof(resp[i])));
		EXPECT_NE(0, resp[i].ah_num);
		EXPECT_EQ(0, resp[i].reserved);
		for (j = 0; j < i; j++)
			EXPECT_NE(resp[j].ah_num, resp[i].ah_num);
	}
	close(fd);
}

TEST_F(dev, ah_survives_its_netdev_going_down)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;

	ah_attr(&self->set, &attr);
	ah = ibv_create_ah(self->set.pd, &attr);
	ASSERT_NE(NULL, ah);
	EXPECT_EQ(0, topo_set_up(TOPO_NETDEV, false));
	EXPECT_EQ(0, topo_set_up(TOPO_NETDEV, true));
	EXPECT_EQ(0, ibv_destroy_ah(ah));
	/* The kernel drops IPv6 addresses of a netdev that goes down. */
	EXPECT_EQ(0, topo_ip("addr add " TOPO_IPV6 "/64 nodad dev "
			     TOPO_NETDEV));
}

TEST_HARNESS_MAIN
