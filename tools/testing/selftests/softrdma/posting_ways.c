// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * All posting calls of librdmacm over every way there is: by IPv4 and IPv6,
 * inside a namespace and between two; with the queues of the id, an SRQ of the
 * id's, and one that is given.
 */
#include "posting.h"

#define LEN 20000

static bool exchange(struct cm_pair *pair)
{
	struct cm_end *client = &pair->client, *server = &pair->server;
	struct ibv_sge sge = {
		.addr = (uintptr_t)server->buf, .length = LEN,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = (uintptr_t)CONTEXT(2), .sg_list = &sge, .num_sge = 1,
	};
	struct ibv_mr *mr;
	bool good;

	client->mr = rdma_reg_msgs(client->id, client->buf, CM_BUF_LEN);
	server->mr = rdma_reg_write(server->id, server->buf, CM_BUF_LEN);
	mr = rdma_reg_read(server->id, server->buf, CM_BUF_LEN);
	if (!client->mr || !server->mr || !mr)
		return false;
	sge.lkey = server->mr->lkey;
	cm_fill(client->buf, LEN, 8);
	/* A send, a write of what was sent behind it, and that read back. */
	good = !(server->srq ? ibv_post_srq_recv(server->srq, &wr, &bad) :
		 rdma_post_recvv(server->id, CONTEXT(2), &sge, 1)) &&
	       !rdma_post_send(client->id, CONTEXT(1), client->buf, LEN,
			       client->mr, 0) &&
	       !rdma_post_write(client->id, CONTEXT(3), client->buf, LEN,
				client->mr, 0, (uintptr_t)server->buf + LEN,
				server->mr->rkey) &&
	       !rdma_post_read(client->id, CONTEXT(4), client->buf + LEN,
			       2 * LEN, client->mr, IBV_SEND_SIGNALED,
			       (uintptr_t)server->buf, mr->rkey) &&
	       completes(server->id->recv_cq, CONTEXT(2), IBV_WC_RECV,
			 IBV_WC_SUCCESS) &&
	       completes(client->id->send_cq, CONTEXT(4), IBV_WC_RDMA_READ,
			 IBV_WC_SUCCESS) &&
	       is_quiet(client->id->send_cq) &&
	       cm_holds(client->buf + LEN, LEN, 8) &&
	       cm_holds(client->buf + 2 * LEN, LEN, 8) &&
	       cm_holds(server->buf, LEN, 8);
	return !rdma_dereg_mr(mr) && good;
}

static bool serves(const char *server, bool across)
{
	struct cm_config config = { .server = server, .across = across };
	struct cm_pair pair;
	bool good = true;
	int i;

	for (i = 0; i < 3 && good; i++) {
		config.srq_wr = i ? 4 : 0;
		config.attr_srq = i == 2;
		good = !cm_open(&pair, &config) && exchange(&pair);
		good = !cm_close(&pair) && good;
	}
	return good;
}

FIXTURE(way)
{
	int unused;
};

FIXTURE_SETUP(way)
{
}

FIXTURE_TEARDOWN(way)
{
}

TEST_F(way, ipv4_inside_a_namespace)
{
	EXPECT_TRUE(serves(TOPO_IPV4, false));
}

TEST_F(way, ipv6_inside_a_namespace)
{
	EXPECT_TRUE(serves(TOPO_IPV6, false));
}

TEST_F(way, ipv4_between_namespaces)
{
	EXPECT_TRUE(serves(ENDS_B4, true));
}

TEST_F(way, ipv6_between_namespaces)
{
	EXPECT_TRUE(serves(ENDS_B6, true));
}

TEST_HARNESS_MAIN
