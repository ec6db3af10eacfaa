// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The distribution's own tools see the device. */
#include "fixture.h"

/* Does the command succeed and print this? */
static bool shows(const char *command, const char *text)
{
	char line[512];
	bool found = false;
	FILE *pipe = popen(command, "r");

	if (!pipe)
		return false;
	while (fgets(line, sizeof(line), pipe))
		found = found || strstr(line, text);
	return pclose(pipe) == 0 && found;
}

TEST_F(dev, rdma_link)
{
	EXPECT_TRUE(shows("rdma link show", "link " TOPO_LINK "/1"));
	EXPECT_TRUE(shows("rdma link show " TOPO_LINK "/1",
			  "netdev " TOPO_NETDEV));
	EXPECT_TRUE(shows("rdma link show " TOPO_LINK "/1", "state ACTIVE"));
}

TEST_F(dev, rdma_dev)
{
	EXPECT_TRUE(shows("rdma dev show", TOPO_LINK ": node_type ca"));
}

TEST_F(dev, rdma_resources)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);
	char text[64];

	ASSERT_NE(NULL, qp);
	EXPECT_TRUE(shows("rdma res show", TOPO_LINK));
	snprintf(text, sizeof(text), "lqpn %u", qp->qp_num);
	EXPECT_TRUE(shows("rdma res show qp link " TOPO_LINK, text));
	EXPECT_TRUE(shows("rdma res show cq dev " TOPO_LINK, "cqe"));
	EXPECT_TRUE(shows("rdma res show pd dev " TOPO_LINK, TOPO_LINK));
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(dev, rdma_statistics)
{
	EXPECT_TRUE(shows("rdma statistic show link " TOPO_LINK "/1",
			  TOPO_LINK));
}

TEST_F(dev, ibv_devices)
{
	EXPECT_TRUE(shows("ibv_devices", TOPO_LINK));
}

TEST_F(dev, ibv_devinfo)
{
	EXPECT_TRUE(shows("ibv_devinfo -d " TOPO_LINK, "PORT_ACTIVE"));
	EXPECT_TRUE(shows("ibv_devinfo -v -d " TOPO_LINK, TOPO_IPV4));
	EXPECT_TRUE(shows("ibv_devinfo -v -d " TOPO_LINK, "RoCE v2"));
}

TEST_HARNESS_MAIN
