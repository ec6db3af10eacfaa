// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rdma_post_read(3) and rdma_post_readv(3), sentence by sentence. The client
 * reads, the server's memory is the remote one.
 */
#define POSTING_REGISTER rdma_reg_read
#define POSTING_FILLED server
#include "posting_fixture.h"

/* Read from an offset of the server to the start of our buffer, signaled. */
static int read_one(struct cm_pair *pair, uint32_t len, size_t offset,
		    uint32_t rkey)
{
	return rdma_post_read(pair->client.id, CONTEXT(1), pair->client.buf,
			      len, pair->client.mr, IBV_SEND_SIGNALED,
			      (uintptr_t)pair->server.buf + offset, rkey);
}

static bool succeeds(struct cm_pair *pair)
{
	return completes(pair->client.id->send_cq, CONTEXT(1),
			 IBV_WC_RDMA_READ, IBV_WC_SUCCESS);
}

/* How a read ends that fails, and that nothing was brought. */
static bool fails(struct cm_pair *pair, enum ibv_wc_status status)
{
	return completes(pair->client.id->send_cq, CONTEXT(1), 0, status) &&
	       cm_is_all(pair->client.buf, CM_BUF_LEN, 0);
}

TEST_F(rc, posts_to_the_send_queue_of_the_qp_of_the_id)
{
	struct rdma_cm_id *id = self->client->id;
	struct ibv_wc wc;

	ASSERT_EQ(0, read_one(&self->pair, 100, 0, self->server->mr->rkey));
	ASSERT_EQ(1, cm_poll(id->send_cq, &wc, SOON_MS));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(IBV_WC_RDMA_READ, wc.opcode);
	EXPECT_EQ(100, wc.byte_len);
	EXPECT_EQ(id->qp->qp_num, wc.qp_num);
	EXPECT_TRUE(is_quiet(id->recv_cq));
	EXPECT_TRUE(is_quiet(self->server->id->recv_cq));
	EXPECT_TRUE(is_quiet(self->server->id->send_cq));
}

TEST_F(rc, remote_region_is_read_into_the_local_buffer)
{
	static const uint32_t lengths[] = {
		0, 1, 3, 1023, 1024, 1025, 2048, 4095, 65537, CM_BUF_LEN - 64,
	};
	uint8_t *to = self->client->buf;
	uint32_t len;
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		len = lengths[i];
		memset(to, 0, CM_BUF_LEN);
		cm_fill(self->server->buf + 33, len, i);
		ASSERT_EQ(0, read_one(&self->pair, len, 33,
				      self->server->mr->rkey));
		ASSERT_TRUE(succeeds(&self->pair));
		EXPECT_TRUE(cm_holds(to, len, i)) {
			TH_LOG("%u bytes", len);
		}
		EXPECT_TRUE(cm_is_all(to + len, CM_BUF_LEN - len, 0));
		EXPECT_TRUE(cm_holds(self->server->buf + 33, len, i));
	}
}

/* More than initiator_depth, so that some wait for others. */
TEST_F(rc, reads_complete_in_order)
{
	int i;

	for (i = 0; i < 12; i++)
		ASSERT_EQ(0, rdma_post_read(self->client->id, CONTEXT(i),
					    self->client->buf + i * 5000, 5000,
					    self->client->mr,
					    IBV_SEND_SIGNALED,
					    (uintptr_t)self->server->buf +
					    i * 5000,
					    self->server->mr->rkey));
	for (i = 0; i < 12; i++)
		EXPECT_TRUE(completes(self->client->id->send_cq, CONTEXT(i),
				      IBV_WC_RDMA_READ, IBV_WC_SUCCESS));
	EXPECT_TRUE(cm_holds(self->client->buf, 60000, 1));
	EXPECT_TRUE(cm_is_all(self->client->buf + 60000, 1000, 0));
}

TEST_F(rc, rdma_post_readv_scatters_in_the_order_of_the_list)
{
	struct ibv_sge sgl[5] = {
		piece(self->client, 5000, 1500), piece(self->client, 0, 1),
		piece(self->client, 70000, 0), piece(self->client, 100, 3001),
		piece(self->client, 9000, 1),
	};
	uint8_t *from = self->server->buf;
	size_t at = 0;
	int i;

	ASSERT_EQ(0, rdma_post_readv(self->client->id, CONTEXT(1), sgl, 4,
				     IBV_SEND_SIGNALED, (uintptr_t)from,
				     self->server->mr->rkey));
	ASSERT_TRUE(succeeds(&self->pair));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, memcmp(from + at, (void *)(uintptr_t)sgl[i].addr,
				    sgl[i].length));
		at += sgl[i].length;
	}
	EXPECT_EQ(0, self->client->buf[1]);
	EXPECT_EQ(0, self->client->buf[99]);
	EXPECT_TRUE(cm_is_all(self->client->buf + 3101, 1899, 0));
	EXPECT_TRUE(cm_is_all(self->client->buf + 6500, 1000, 0));
}

TEST_F(rc, error_is_minus_one_with_errno)
{
	struct ibv_sge sgl[33];
	int i;

	for (i = 0; i < 33; i++)
		sgl[i] = piece(self->client, i, 1);
	errno = 0;
	EXPECT_EQ(-1, rdma_post_readv(self->client->id, CONTEXT(1), sgl, 33,
				      IBV_SEND_SIGNALED,
				      (uintptr_t)self->server->buf,
				      self->server->mr->rkey));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(0, read_one(&self->pair, 8, 0, self->server->mr->rkey));
	EXPECT_TRUE(succeeds(&self->pair));
	EXPECT_TRUE(cm_is_all(self->client->buf + 8, 100, 0));
}

TEST_F(rc, flag_signaled_asks_for_the_completion)
{
	ASSERT_EQ(0, rdma_post_read(self->client->id, CONTEXT(2),
				    self->client->buf + 8, 8, self->client->mr,
				    0, (uintptr_t)self->server->buf + 8,
				    self->server->mr->rkey));
	ASSERT_EQ(0, read_one(&self->pair, 8, 0, self->server->mr->rkey));
	EXPECT_TRUE(succeeds(&self->pair));
	EXPECT_TRUE(is_quiet(self->client->id->send_cq));
	EXPECT_TRUE(cm_holds(self->client->buf, 16, 1));
}

/* The second read starts when the first has brought what it overwrites. */
TEST_F(rc, flag_fence_waits_for_earlier_reads)
{
	ASSERT_EQ(0, rdma_post_read(self->client->id, CONTEXT(2),
				    self->client->buf, 65536, self->client->mr,
				    0, (uintptr_t)self->server->buf,
				    self->server->mr->rkey));
	ASSERT_EQ(0, rdma_post_read(self->client->id, CONTEXT(1),
				    self->client->buf, 4096, self->client->mr,
				    IBV_SEND_SIGNALED | IBV_SEND_FENCE,
				    (uintptr_t)self->server->buf + 1,
				    self->server->mr->rkey));
	ASSERT_TRUE(succeeds(&self->pair));
	EXPECT_EQ(0, memcmp(self->client->buf, self->server->buf + 1, 4096));
	EXPECT_EQ(0, memcmp(self->client->buf + 4096,
			    self->server->buf + 4096, 65536 - 4096));
}

TEST_F(rc, local_buffer_must_be_registered)
{
	struct ibv_sge sge = piece(self->client, 0, 8);

	sge.lkey ^= 0x100;
	ASSERT_EQ(0, rdma_post_readv(self->client->id, CONTEXT(1), &sge, 1,
				     IBV_SEND_SIGNALED,
				     (uintptr_t)self->server->buf,
				     self->server->mr->rkey));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_LOC_PROT_ERR));

	ASSERT_EQ(0, open_again(&self->pair, &self->config));
	sge = piece(self->client, CM_BUF_LEN - 7, 8);
	ASSERT_EQ(0, rdma_post_readv(self->client->id, CONTEXT(1), &sge, 1,
				     IBV_SEND_SIGNALED,
				     (uintptr_t)self->server->buf,
				     self->server->mr->rkey));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_LOC_PROT_ERR));
}

TEST_F(rc, local_buffer_must_be_writable)
{
	struct ibv_mr *mr;

	mr = ibv_reg_mr(self->client->id->pd, self->client->buf, CM_BUF_LEN,
			IBV_ACCESS_REMOTE_READ);
	ASSERT_NE(NULL, mr);
	ASSERT_EQ(0, rdma_post_read(self->client->id, CONTEXT(1),
				    self->client->buf, 8, mr,
				    IBV_SEND_SIGNALED,
				    (uintptr_t)self->server->buf,
				    self->server->mr->rkey));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_LOC_PROT_ERR));
	EXPECT_EQ(0, rdma_dereg_mr(mr));
}

/* The read waits behind a send for which no receive is posted yet. */
static int post_waiting_read(struct cm_pair *pair)
{
	int ret = rdma_post_send(pair->client.id, NULL, NULL, 0, NULL,
				 IBV_SEND_INLINE);

	return ret ?: read_one(pair, 8, 0, pair->server.mr->rkey);
}

TEST_F(rc, local_buffer_must_stay_registered)
{
	ASSERT_EQ(0, post_waiting_read(&self->pair));
	ASSERT_EQ(0, rdma_dereg_mr(self->client->mr));
	self->client->mr = NULL;
	ASSERT_EQ(0, rdma_post_recv(self->server->id, NULL, self->server->buf,
				    4096, self->server->mr));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_LOC_PROT_ERR));
}

TEST_F(rc, remote_buffer_must_stay_registered)
{
	struct ibv_mr *mr;

	mr = rdma_reg_msgs(self->server->id, self->server->buf, 4096);
	ASSERT_NE(NULL, mr);
	ASSERT_EQ(0, post_waiting_read(&self->pair));
	ASSERT_EQ(0, rdma_dereg_mr(self->server->mr));
	self->server->mr = NULL;
	ASSERT_EQ(0, rdma_post_recv(self->server->id, NULL, self->server->buf,
				    4096, mr));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_REM_ACCESS_ERR));
	EXPECT_EQ(0, rdma_dereg_mr(mr));
}

TEST_F(rc, remote_buffer_must_be_registered)
{
	ASSERT_EQ(0, read_one(&self->pair, 8, 0,
			      self->server->mr->rkey ^ 0x100));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_REM_ACCESS_ERR));
	ASSERT_EQ(0, open_again(&self->pair, &self->config));
	ASSERT_EQ(0, read_one(&self->pair, 8, CM_BUF_LEN - 7,
			      self->server->mr->rkey));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_REM_ACCESS_ERR));
}

TEST_F(rc, remote_buffer_must_be_registered_for_reading)
{
	struct ibv_mr *mr;

	mr = rdma_reg_write(self->server->id, self->server->buf, CM_BUF_LEN);
	ASSERT_NE(NULL, mr);
	ASSERT_EQ(0, read_one(&self->pair, 8, 0, mr->rkey));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_REM_ACCESS_ERR));
	EXPECT_EQ(0, rdma_dereg_mr(mr));

	ASSERT_EQ(0, open_again(&self->pair, &self->config));
	mr = rdma_reg_msgs(self->server->id, self->server->buf, CM_BUF_LEN);
	ASSERT_NE(NULL, mr);
	ASSERT_EQ(0, read_one(&self->pair, 8, 0, mr->rkey));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_REM_ACCESS_ERR));
	EXPECT_EQ(0, rdma_dereg_mr(mr));
}

TEST_F(rc, may_not_be_posted_before_connecting)
{
	struct cm_pair *pair = &self->pair;

	ASSERT_EQ(0, cm_close(pair));
	ASSERT_EQ(0, cm_prepare(pair, &self->config));
	pair->client.mr = rdma_reg_read(pair->client.id, pair->client.buf,
					CM_BUF_LEN);
	ASSERT_NE(NULL, pair->client.mr);
	errno = 0;
	EXPECT_EQ(-1, rdma_post_read(pair->client.id, CONTEXT(7),
				     pair->client.buf, 1, pair->client.mr,
				     IBV_SEND_SIGNALED,
				     (uintptr_t)pair->client.buf + 1,
				     pair->client.mr->rkey));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(0, rdma_dereg_mr(pair->client.mr));

	/* What was refused does not happen later either. */
	ASSERT_EQ(0, cm_connect(pair, &self->config));
	ASSERT_EQ(0, register_both(pair));
	ASSERT_EQ(0, read_one(pair, 100, 0, pair->server.mr->rkey));
	EXPECT_TRUE(succeeds(pair));
	EXPECT_TRUE(is_quiet(pair->client.id->send_cq));
	EXPECT_TRUE(cm_holds(pair->client.buf, 100, 1));
}

TEST_F(rc, may_not_be_posted_after_disconnecting)
{
	ASSERT_EQ(0, cm_disconnect(&self->pair));
	ASSERT_EQ(0, read_one(&self->pair, 8, 0, self->server->mr->rkey));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_WR_FLUSH_ERR));
}

TEST_HARNESS_MAIN
