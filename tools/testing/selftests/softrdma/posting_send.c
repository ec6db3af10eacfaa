// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the three pages refer to: rdma_post_send(3), rdma_post_sendv(3),
 * rdma_post_recv(3), rdma_post_recvv(3), rdma_reg_msgs(3),
 * rdma_get_send_comp(3), rdma_get_recv_comp(3), rdma_create_srq(3). The client
 * sends, the server receives.
 */
#include "posting_fixture.h"

#include <pthread.h>

/* One message of @len bytes, from the start of one buffer to the other's. */
static int receive_into(struct cm_pair *pair, uint32_t len)
{
	return rdma_post_recv(pair->server.id, CONTEXT(9), pair->server.buf,
			      len, pair->server.mr);
}

static int send_from(struct cm_pair *pair, uint32_t len, int flags)
{
	return rdma_post_send(pair->client.id, CONTEXT(1), pair->client.buf,
			      len, pair->client.mr, flags | IBV_SEND_SIGNALED);
}

static bool sent(struct cm_pair *pair, enum ibv_wc_status status)
{
	return completes(pair->client.id->send_cq, CONTEXT(1), IBV_WC_SEND,
			 status);
}

TEST_F(rc, send_arrives_in_the_posted_receive)
{
	static const uint32_t lengths[] = {
		0, 1, 3, 1023, 1024, 1025, 2048, 4095, 65537, CM_BUF_LEN - 64,
	};
	uint8_t *to = self->server->buf;
	struct ibv_wc wc;
	uint32_t len;
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		len = lengths[i];
		memset(to, 0, CM_BUF_LEN);
		cm_fill(self->client->buf, len, i);
		ASSERT_EQ(0, receive_into(&self->pair, CM_BUF_LEN));
		ASSERT_EQ(0, send_from(&self->pair, len, 0));
		ASSERT_EQ(1, rdma_get_recv_comp(self->server->id, &wc));
		EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
		EXPECT_EQ(IBV_WC_RECV, wc.opcode);
		EXPECT_EQ((uintptr_t)CONTEXT(9), wc.wr_id);
		EXPECT_EQ(len, wc.byte_len);
		EXPECT_EQ(0, wc.wc_flags);
		EXPECT_EQ(self->server->id->qp->qp_num, wc.qp_num);
		ASSERT_EQ(1, rdma_get_send_comp(self->client->id, &wc));
		EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
		EXPECT_EQ(IBV_WC_SEND, wc.opcode);
		EXPECT_EQ((uintptr_t)CONTEXT(1), wc.wr_id);
		EXPECT_TRUE(cm_holds(to, len, i));
		EXPECT_TRUE(cm_is_all(to + len, CM_BUF_LEN - len, 0));
	}
}

TEST_F(rc, server_sends_too)
{
	memset(self->client->buf, 0, 8192);
	cm_fill(self->server->buf, 5000, 3);
	ASSERT_EQ(0, rdma_post_recv(self->client->id, CONTEXT(2),
				    self->client->buf, 8192,
				    self->client->mr));
	ASSERT_EQ(0, rdma_post_send(self->server->id, CONTEXT(3),
				    self->server->buf, 5000, self->server->mr,
				    IBV_SEND_SIGNALED));
	EXPECT_TRUE(completes(self->client->id->recv_cq, CONTEXT(2),
			      IBV_WC_RECV, IBV_WC_SUCCESS));
	EXPECT_TRUE(completes(self->server->id->send_cq, CONTEXT(3),
			      IBV_WC_SEND, IBV_WC_SUCCESS));
	EXPECT_TRUE(cm_holds(self->client->buf, 5000, 3));
	EXPECT_TRUE(cm_is_all(self->client->buf + 5000, 3192, 0));
}

TEST_F(rc, sendv_gathers_and_recvv_scatters)
{
	struct ibv_sge from[4] = {
		piece(self->client, 7000, 700), piece(self->client, 0, 1),
		piece(self->client, 90000, 0), piece(self->client, 33, 2000),
	};
	struct ibv_sge to[4] = {
		piece(self->server, 100, 1024), piece(self->server, 50, 1),
		piece(self->server, 9000, 1500), piece(self->server, 20000, 900),
	};
	uint8_t expected[2701], got[2701];
	struct ibv_wc wc;

	memcpy(expected, self->client->buf + 7000, 700);
	memcpy(expected + 700, self->client->buf, 1);
	memcpy(expected + 701, self->client->buf + 33, 2000);
	ASSERT_EQ(0, rdma_post_recvv(self->server->id, CONTEXT(2), to, 4));
	ASSERT_EQ(0, rdma_post_sendv(self->client->id, CONTEXT(1), from, 4,
				     IBV_SEND_SIGNALED));
	ASSERT_EQ(1, rdma_get_recv_comp(self->server->id, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(2701, wc.byte_len);
	EXPECT_TRUE(sent(&self->pair, IBV_WC_SUCCESS));
	memcpy(got, self->server->buf + 100, 1024);
	memcpy(got + 1024, self->server->buf + 50, 1);
	memcpy(got + 1025, self->server->buf + 9000, 1500);
	memcpy(got + 2525, self->server->buf + 20000, 176);
	EXPECT_EQ(0, memcmp(expected, got, sizeof(got)));
	EXPECT_TRUE(cm_is_all(self->server->buf + 20176, 1000, 0));
}

TEST_F(rc, message_longer_than_the_receive_fails_at_both_ends)
{
	ASSERT_EQ(0, receive_into(&self->pair, 1500));
	ASSERT_EQ(0, send_from(&self->pair, 1501, 0));
	EXPECT_TRUE(completes(self->server->id->recv_cq, CONTEXT(9),
			      IBV_WC_RECV, IBV_WC_LOC_LEN_ERR));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_REM_INV_REQ_ERR));
	EXPECT_TRUE(cm_is_all(self->server->buf + 1500, 4096, 0));
}

/* rnr_retry_count 7 is for ever. */
TEST_F(rc, send_waits_for_a_receive)
{
	struct ibv_wc wc;

	ASSERT_EQ(0, send_from(&self->pair, 100, 0));
	EXPECT_EQ(0, cm_poll(self->client->id->send_cq, &wc, 20));
	ASSERT_EQ(0, receive_into(&self->pair, 4096));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_SUCCESS));
	EXPECT_TRUE(completes(self->server->id->recv_cq, CONTEXT(9),
			      IBV_WC_RECV, IBV_WC_SUCCESS));
	EXPECT_TRUE(cm_holds(self->server->buf, 100, 1));
}

TEST_F(rc, receives_are_used_in_the_order_of_posting)
{
	int i;

	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, rdma_post_recv(self->server->id, CONTEXT(i),
					    self->server->buf + i * 100, 100,
					    self->server->mr));
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, rdma_post_send(self->client->id, CONTEXT(i),
					    self->client->buf + i * 100, 100,
					    self->client->mr,
					    IBV_SEND_SIGNALED));
	for (i = 0; i < 10; i++) {
		EXPECT_TRUE(completes(self->server->id->recv_cq, CONTEXT(i),
				      IBV_WC_RECV, IBV_WC_SUCCESS));
		EXPECT_TRUE(completes(self->client->id->send_cq, CONTEXT(i),
				      IBV_WC_SEND, IBV_WC_SUCCESS));
	}
	EXPECT_TRUE(cm_holds(self->server->buf, 1000, 1));
}

/* Receives may be posted from INIT on, as a server does before it accepts. */
TEST_F(rc, receive_may_be_posted_before_connecting)
{
	struct cm_pair *pair = &self->pair;

	ASSERT_EQ(0, cm_close(pair));
	ASSERT_EQ(0, cm_prepare(pair, &self->config));
	pair->client.mr = rdma_reg_msgs(pair->client.id, pair->client.buf,
					CM_BUF_LEN);
	ASSERT_NE(NULL, pair->client.mr);
	ASSERT_EQ(0, rdma_post_recv(pair->client.id, CONTEXT(4),
				    pair->client.buf, 4096, pair->client.mr));
	ASSERT_EQ(0, cm_connect(pair, &self->config));
	cm_fill(pair->server.buf, 60, 2);
	ASSERT_EQ(0, rdma_post_send(pair->server.id, CONTEXT(5),
				    pair->server.buf, 60, NULL,
				    IBV_SEND_SIGNALED | IBV_SEND_INLINE));
	EXPECT_TRUE(completes(pair->client.id->recv_cq, CONTEXT(4),
			      IBV_WC_RECV, IBV_WC_SUCCESS));
	EXPECT_TRUE(cm_holds(pair->client.buf, 60, 2));
}

TEST_F(rc, send_may_not_be_posted_before_connecting)
{
	struct cm_pair *pair = &self->pair;

	ASSERT_EQ(0, cm_close(pair));
	ASSERT_EQ(0, cm_prepare(pair, &self->config));
	errno = 0;
	EXPECT_EQ(-1, rdma_post_send(pair->client.id, CONTEXT(7), NULL, 0,
				     NULL, IBV_SEND_INLINE));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(0, cm_connect(pair, &self->config));
	ASSERT_EQ(0, register_both(pair));
	ASSERT_EQ(0, receive_into(pair, 4096));
	ASSERT_EQ(0, send_from(pair, 12, 0));
	EXPECT_TRUE(sent(pair, IBV_WC_SUCCESS));
	EXPECT_TRUE(completes(pair->server.id->recv_cq, CONTEXT(9),
			      IBV_WC_RECV, IBV_WC_SUCCESS));
	EXPECT_TRUE(cm_holds(pair->server.buf, 12, 1));
}

TEST_F(rc, send_needs_registered_memory_unless_inline)
{
	struct ibv_sge sge = piece(self->client, 0, 8);
	uint8_t stack[64];

	ASSERT_EQ(0, receive_into(&self->pair, 4096));
	cm_fill(stack, sizeof(stack), 6);
	ASSERT_EQ(0, rdma_post_send(self->client->id, CONTEXT(1), stack,
				    sizeof(stack), NULL,
				    IBV_SEND_INLINE | IBV_SEND_SIGNALED));
	memset(stack, 0xff, sizeof(stack));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_SUCCESS));
	EXPECT_TRUE(completes(self->server->id->recv_cq, CONTEXT(9),
			      IBV_WC_RECV, IBV_WC_SUCCESS));
	EXPECT_TRUE(cm_holds(self->server->buf, sizeof(stack), 6));

	sge.lkey ^= 0x100;
	ASSERT_EQ(0, rdma_post_sendv(self->client->id, CONTEXT(1), &sge, 1,
				     IBV_SEND_SIGNALED));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_LOC_PROT_ERR));
}

TEST_F(rc, receive_needs_registered_memory)
{
	struct ibv_sge sge = piece(self->server, 0, 4096);

	sge.lkey ^= 0x100;
	ASSERT_EQ(0, rdma_post_recvv(self->server->id, CONTEXT(9), &sge, 1));
	ASSERT_EQ(0, send_from(&self->pair, 8, 0));
	EXPECT_TRUE(completes(self->server->id->recv_cq, CONTEXT(9),
			      IBV_WC_RECV, IBV_WC_LOC_PROT_ERR));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_REM_OP_ERR));
	EXPECT_TRUE(cm_is_all(self->server->buf, 4096, 0));

	/* Deregistered between posting and use. */
	ASSERT_EQ(0, open_again(&self->pair, &self->config));
	ASSERT_EQ(0, receive_into(&self->pair, 4096));
	ASSERT_EQ(0, rdma_dereg_mr(self->server->mr));
	self->server->mr = NULL;
	ASSERT_EQ(0, send_from(&self->pair, 8, 0));
	EXPECT_TRUE(completes(self->server->id->recv_cq, CONTEXT(9),
			      IBV_WC_RECV, IBV_WC_LOC_PROT_ERR));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_REM_OP_ERR));
}

TEST_F(rc, errors_are_minus_one_with_errno)
{
	struct ibv_sge sgl[33];
	int i;

	for (i = 0; i < 33; i++)
		sgl[i] = piece(self->client, i, 1);
	errno = 0;
	EXPECT_EQ(-1, rdma_post_sendv(self->client->id, CONTEXT(1), sgl, 33,
				      IBV_SEND_SIGNALED));
	EXPECT_EQ(EINVAL, errno);
	errno = 0;
	EXPECT_EQ(-1, rdma_post_recvv(self->client->id, CONTEXT(1), sgl, 33));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(rc, full_queues_are_enomem)
{
	int posted;

	for (posted = 0; posted < 1000; posted++) {
		errno = 0;
		if (rdma_post_recv(self->server->id, CONTEXT(9),
				   self->server->buf, 8, self->server->mr))
			break;
	}
	EXPECT_EQ(ENOMEM, errno);
	EXPECT_LE(16, posted);
	/* The client has no receives: what it is sent waits. */
	for (posted = 0; posted < 1000; posted++) {
		errno = 0;
		if (rdma_post_send(self->server->id, CONTEXT(1),
				   self->server->buf, 8, self->server->mr,
				   IBV_SEND_SIGNALED))
			break;
	}
	EXPECT_EQ(ENOMEM, errno);
	EXPECT_LE(16, posted);
}

static void *get_recv_comp(void *arg)
{
	static struct ibv_wc wc;

	return rdma_get_recv_comp(arg, &wc) == 1 ? &wc : NULL;
}

/* The completion channel of the id wakes who sleeps in the call. */
TEST_F(rc, get_recv_comp_sleeps_until_a_completion)
{
	struct ibv_wc *wc;
	pthread_t thread;
	int i;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, receive_into(&self->pair, 4096));
		ASSERT_EQ(0, pthread_create(&thread, NULL, get_recv_comp,
					    self->server->id));
		usleep(5000);
		ASSERT_EQ(0, send_from(&self->pair, 8, i & 1 ?
				       IBV_SEND_SOLICITED : 0));
		ASSERT_EQ(0, pthread_join(thread, (void **)&wc));
		ASSERT_NE(NULL, wc);
		EXPECT_EQ(IBV_WC_SUCCESS, wc->status);
		EXPECT_EQ((uintptr_t)CONTEXT(9), wc->wr_id);
		EXPECT_TRUE(sent(&self->pair, IBV_WC_SUCCESS));
	}
}

TEST_F(rc, disconnecting_flushes_receives)
{
	ASSERT_EQ(0, receive_into(&self->pair, 4096));
	ASSERT_EQ(0, cm_disconnect(&self->pair));
	EXPECT_TRUE(completes(self->server->id->recv_cq, CONTEXT(9), 0,
			      IBV_WC_WR_FLUSH_ERR));
	ASSERT_EQ(0, rdma_post_recv(self->server->id, CONTEXT(2),
				    self->server->buf, 64, self->server->mr));
	EXPECT_EQ(0, rdma_post_send(self->server->id, CONTEXT(3), NULL, 0,
				    NULL, IBV_SEND_INLINE |
				    IBV_SEND_SIGNALED));
	EXPECT_TRUE(completes(self->server->id->send_cq, CONTEXT(3), 0,
			      IBV_WC_WR_FLUSH_ERR));
	EXPECT_TRUE(completes(self->server->id->recv_cq, CONTEXT(2), 0,
			      IBV_WC_WR_FLUSH_ERR));
}

TEST_F(rc, rdma_reg_msgs_lets_no_peer_in)
{
	ASSERT_EQ(0, rdma_post_read(self->client->id, CONTEXT(1),
				    self->client->buf, 8, self->client->mr,
				    IBV_SEND_SIGNALED,
				    (uintptr_t)self->server->buf,
				    self->server->mr->rkey));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_REM_ACCESS_ERR));
}

/* Receives of the server come from an SRQ, of the id's or a given one. */
static bool srq_serves(struct cm_pair *pair, struct cm_config *config,
		       bool attr_srq)
{
	struct ibv_sge sge;
	struct ibv_recv_wr *bad, wr = {
		.wr_id = (uintptr_t)CONTEXT(8), .sg_list = &sge, .num_sge = 1,
	};
	int i;

	config->srq_wr = 8;
	config->attr_srq = attr_srq;
	if (open_again(pair, config))
		return false;
	for (i = 0; i < 20; i++) {
		sge = piece(&pair->server, i * 3000, 3000);
		/* The call takes the SRQ that the id knows. */
		if (pair->server.id->srq ?
		    rdma_post_recvv(pair->server.id, CONTEXT(8), &sge, 1) :
		    ibv_post_srq_recv(pair->server.srq, &wr, &bad))
			return false;
		if (send_from(pair, 3000, 0) ||
		    !sent(pair, IBV_WC_SUCCESS) ||
		    !completes(pair->server.id->recv_cq, CONTEXT(8),
			       IBV_WC_RECV, IBV_WC_SUCCESS) ||
		    !cm_holds(pair->server.buf + i * 3000, 3000, 1))
			return false;
	}
	return cm_is_all(pair->server.buf + i * 3000, 3000, 0);
}

TEST_F(rc, rdma_create_srq_serves_the_id)
{
	EXPECT_TRUE(srq_serves(&self->pair, &self->config, false));
	EXPECT_NE(NULL, self->server->id->srq);
}

TEST_F(rc, srq_of_the_attributes_serves_the_id)
{
	EXPECT_TRUE(srq_serves(&self->pair, &self->config, true));
	EXPECT_NE(NULL, self->server->srq);
}

TEST_HARNESS_MAIN
