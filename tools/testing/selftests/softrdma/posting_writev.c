// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rdma_post_writev(3), sentence by sentence. The client writes, the server's
 * memory is the remote one.
 */
#define POSTING_REGISTER rdma_reg_write
#include "posting_fixture.h"

#include "counters.h"

/* Write one piece to an address, signaled. */
static int write_one(struct cm_pair *pair, struct ibv_sge sge, int flags,
		     size_t offset, uint32_t rkey)
{
	return rdma_post_writev(pair->client.id, CONTEXT(1), &sge, 1,
				IBV_SEND_SIGNALED | flags,
				(uintptr_t)pair->server.buf + offset, rkey);
}

/* How a write ends that fails, and that the server's memory is untouched. */
static bool fails(struct cm_pair *pair, enum ibv_wc_status status)
{
	return completes(pair->client.id->send_cq, CONTEXT(1), 0, status) &&
	       cm_is_all(pair->server.buf, CM_BUF_LEN, 0);
}

TEST_F(rc, posts_to_the_send_queue_of_the_qp_of_the_id)
{
	struct rdma_cm_id *id = self->client->id;
	struct ibv_wc wc;

	ASSERT_EQ(0, write_one(&self->pair, piece(self->client, 0, 100), 0, 0,
			       self->server->mr->rkey));
	ASSERT_EQ(1, cm_poll(id->send_cq, &wc, SOON_MS));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(IBV_WC_RDMA_WRITE, wc.opcode);
	EXPECT_EQ(id->qp->qp_num, wc.qp_num);
	/* The server does not notice, and no receive is used up. */
	EXPECT_TRUE(is_quiet(id->recv_cq));
	EXPECT_TRUE(is_quiet(self->server->id->recv_cq));
	EXPECT_TRUE(is_quiet(self->server->id->send_cq));
}

TEST_F(rc, local_buffers_are_written_into_the_remote_region)
{
	static const uint32_t lengths[] = {
		1, 3, 1023, 1024, 1025, 2048, 4095, 65537, CM_BUF_LEN - 64,
	};
	uint8_t *to = self->server->buf;
	uint32_t len;
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		len = lengths[i];
		memset(to, 0, CM_BUF_LEN);
		cm_fill(self->client->buf, CM_BUF_LEN, i);
		ASSERT_EQ(0, write_one(&self->pair,
				       piece(self->client, 0, len), 0, 33,
				       self->server->mr->rkey));
		ASSERT_TRUE(completes(self->client->id->send_cq, CONTEXT(1),
				      IBV_WC_RDMA_WRITE, IBV_WC_SUCCESS));
		EXPECT_TRUE(cm_holds(to + 33, len, i)) {
			TH_LOG("%u bytes", len);
		}
		EXPECT_TRUE(cm_is_all(to, 33, 0));
		EXPECT_TRUE(cm_is_all(to + 33 + len, CM_BUF_LEN - 33 - len,
				      0));
	}
}

TEST_F(rc, sgl_is_gathered_in_its_order)
{
	struct ibv_sge sgl[4] = {
		piece(self->client, 5000, 1500), piece(self->client, 0, 1),
		piece(self->client, 70000, 0), piece(self->client, 100, 3001),
	};
	uint8_t *to = self->server->buf;
	size_t at = 0;
	int i;

	ASSERT_EQ(0, rdma_post_writev(self->client->id, CONTEXT(1), sgl, 4,
				      IBV_SEND_SIGNALED, (uintptr_t)to,
				      self->server->mr->rkey));
	ASSERT_TRUE(completes(self->client->id->send_cq, CONTEXT(1),
			      IBV_WC_RDMA_WRITE, IBV_WC_SUCCESS));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, memcmp(to + at, (void *)(uintptr_t)sgl[i].addr,
				    sgl[i].length));
		at += sgl[i].length;
	}
	EXPECT_TRUE(cm_is_all(to + at, CM_BUF_LEN - at, 0));
}

TEST_F(rc, nsge_may_be_zero_to_the_maximum)
{
	struct ibv_sge sgl[5];
	int i;

	for (i = 0; i < 5; i++)
		sgl[i] = piece(self->client, i * 10, 10);
	for (i = 0; i <= 4; i++) {
		memset(self->server->buf, 0, 64);
		ASSERT_EQ(0, rdma_post_writev(self->client->id, CONTEXT(i),
					      sgl, i, IBV_SEND_SIGNALED,
					      (uintptr_t)self->server->buf,
					      self->server->mr->rkey));
		ASSERT_TRUE(completes(self->client->id->send_cq, CONTEXT(i),
				      IBV_WC_RDMA_WRITE, IBV_WC_SUCCESS));
		EXPECT_TRUE(cm_holds(self->server->buf, i * 10, 1));
		EXPECT_EQ(0, self->server->buf[i * 10]);
	}
}

TEST_F(rc, error_is_minus_one_with_errno)
{
	struct ibv_sge sgl[33];
	int i;

	for (i = 0; i < 33; i++)
		sgl[i] = piece(self->client, i, 1);
	errno = 0;
	EXPECT_EQ(-1, rdma_post_writev(self->client->id, CONTEXT(1), sgl, 33,
				       IBV_SEND_SIGNALED,
				       (uintptr_t)self->server->buf,
				       self->server->mr->rkey));
	EXPECT_EQ(EINVAL, errno);
	/* Longer than what the QP takes inline. */
	errno = 0;
	EXPECT_EQ(-1, write_one(&self->pair, piece(self->client, 0, 4096),
				IBV_SEND_INLINE, 0, self->server->mr->rkey));
	EXPECT_EQ(EINVAL, errno);
	/* Nothing of it was posted. */
	ASSERT_EQ(0, write_one(&self->pair, piece(self->client, 0, 8), 0, 0,
			       self->server->mr->rkey));
	EXPECT_TRUE(completes(self->client->id->send_cq, CONTEXT(1),
			      IBV_WC_RDMA_WRITE, IBV_WC_SUCCESS));
	EXPECT_TRUE(is_quiet(self->client->id->send_cq));
	EXPECT_TRUE(cm_is_all(self->server->buf + 8, 4096, 0));
}

TEST_F(rc, context_is_returned_in_wr_id)
{
	struct ibv_sge sge = piece(self->client, 0, 1);
	int i;

	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, rdma_post_writev(self->client->id, CONTEXT(i),
					      &sge, 1, IBV_SEND_SIGNALED,
					      (uintptr_t)self->server->buf,
					      self->server->mr->rkey));
	for (i = 0; i < 10; i++)
		EXPECT_TRUE(completes(self->client->id->send_cq, CONTEXT(i),
				      IBV_WC_RDMA_WRITE, IBV_WC_SUCCESS));
}

TEST_F(rc, flag_signaled_asks_for_the_completion)
{
	struct ibv_sge sge = piece(self->client, 0, 8);
	uintptr_t to = (uintptr_t)self->server->buf;

	ASSERT_EQ(0, rdma_post_writev(self->client->id, CONTEXT(1), &sge, 1, 0,
				      to, self->server->mr->rkey));
	ASSERT_EQ(0, rdma_post_writev(self->client->id, CONTEXT(2), &sge, 1,
				      IBV_SEND_SIGNALED, to + 8,
				      self->server->mr->rkey));
	EXPECT_TRUE(completes(self->client->id->send_cq, CONTEXT(2),
			      IBV_WC_RDMA_WRITE, IBV_WC_SUCCESS));
	EXPECT_TRUE(is_quiet(self->client->id->send_cq));
	EXPECT_TRUE(cm_holds(self->server->buf, 8, 1));
}

TEST_F(rc, flag_inline_takes_unregistered_memory_at_once)
{
	uint8_t stack[60];
	struct ibv_sge sge = { (uintptr_t)stack, sizeof(stack), 0 };

	cm_fill(stack, sizeof(stack), 9);
	ASSERT_EQ(0, write_one(&self->pair, sge, IBV_SEND_INLINE, 0,
			       self->server->mr->rkey));
	memset(stack, 0xff, sizeof(stack));
	ASSERT_TRUE(completes(self->client->id->send_cq, CONTEXT(1),
			      IBV_WC_RDMA_WRITE, IBV_WC_SUCCESS));
	EXPECT_TRUE(cm_holds(self->server->buf, sizeof(stack), 9));
}

/* What a read brings, a write behind it with a fence takes elsewhere. */
TEST_F(rc, flag_fence_waits_for_reads)
{
	struct ibv_sge sge = piece(self->client, 0, 65536);
	struct ibv_mr *from;

	from = rdma_reg_read(self->server->id, self->server->buf, CM_BUF_LEN);
	ASSERT_NE(NULL, from);
	cm_fill(self->server->buf, 65536, 77);
	ASSERT_EQ(0, rdma_post_readv(self->client->id, CONTEXT(1), &sge, 1, 0,
				     (uintptr_t)self->server->buf,
				     from->rkey));
	ASSERT_EQ(0, write_one(&self->pair, sge, IBV_SEND_FENCE, 65536,
			       self->server->mr->rkey));
	ASSERT_TRUE(completes(self->client->id->send_cq, CONTEXT(1),
			      IBV_WC_RDMA_WRITE, IBV_WC_SUCCESS));
	EXPECT_TRUE(cm_holds(self->server->buf + 65536, 65536, 77));
	EXPECT_EQ(0, rdma_dereg_mr(from));
}

TEST_F(rc, local_buffers_must_be_registered)
{
	struct ibv_sge sge = piece(self->client, 0, 8);

	sge.lkey ^= 0x100;
	ASSERT_EQ(0, write_one(&self->pair, sge, 0, 0,
			       self->server->mr->rkey));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_LOC_PROT_ERR));

	/* Beyond the end of what was registered. */
	ASSERT_EQ(0, open_again(&self->pair, &self->config));
	sge = piece(self->client, CM_BUF_LEN - 7, 8);
	ASSERT_EQ(0, write_one(&self->pair, sge, 0, 0,
			       self->server->mr->rkey));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_LOC_PROT_ERR));
}

/*
 * Has the peer refused more messages than @naks? As long as it may wait for a receive, what
 * was sent behind the message is on its way, and may be executed.
 */
static bool is_refused(int64_t naks)
{
	long end = topo_now_ms() + SOON_MS;

	while (counters_get("resp_nak_rnr") <= naks)
		if (topo_now_ms() > end)
			return false;
	return true;
}

/* The write waits behind a send for which no receive is posted yet. */
TEST_F(rc, local_buffers_must_stay_registered)
{
	struct ibv_sge sge = piece(self->client, 0, 8);
	struct ibv_mr *mr;
	int64_t naks;

	counters_use(ibv_get_device_name(self->client->id->verbs->device));
	naks = counters_get("resp_nak_rnr");
	ASSERT_LE(0, naks);

	mr = rdma_reg_msgs(self->server->id, self->server->buf + 4096, 4096);
	ASSERT_NE(NULL, mr);
	ASSERT_EQ(0, rdma_post_send(self->client->id, NULL, NULL, 0, NULL,
				    IBV_SEND_INLINE));
	ASSERT_EQ(0, write_one(&self->pair, sge, IBV_SEND_FENCE, 0,
			       self->server->mr->rkey));
	sge.addr += 100;
	ASSERT_EQ(0, rdma_post_writev(self->client->id, CONTEXT(2), &sge, 1,
				      IBV_SEND_SIGNALED,
				      (uintptr_t)self->server->buf + 64,
				      self->server->mr->rkey));
	ASSERT_TRUE(is_refused(naks));
	ASSERT_EQ(0, rdma_dereg_mr(self->client->mr));
	self->client->mr = NULL;
	ASSERT_EQ(0, rdma_post_recv(self->server->id, NULL,
				    self->server->buf + 4096, 4096, mr));
	EXPECT_TRUE(completes(self->client->id->send_cq, CONTEXT(1), 0,
			      IBV_WC_LOC_PROT_ERR));
	EXPECT_TRUE(completes(self->client->id->send_cq, CONTEXT(2), 0,
			      IBV_WC_WR_FLUSH_ERR));
	EXPECT_TRUE(cm_is_all(self->server->buf, CM_BUF_LEN, 0));
	EXPECT_EQ(0, rdma_dereg_mr(mr));
}

TEST_F(rc, remote_buffers_must_be_registered)
{
	struct ibv_sge sge = piece(self->client, 0, 8);
	uint32_t rkey = self->server->mr->rkey;

	ASSERT_EQ(0, rdma_dereg_mr(self->server->mr));
	self->server->mr = NULL;
	ASSERT_EQ(0, write_one(&self->pair, sge, 0, 0, rkey));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_REM_ACCESS_ERR));

	/* Inline data dispense with the local registration only. */
	ASSERT_EQ(0, open_again(&self->pair, &self->config));
	sge = piece(self->client, 0, 8);
	ASSERT_EQ(0, write_one(&self->pair, sge, IBV_SEND_INLINE, 0,
			       self->server->mr->rkey ^ 0x100));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_REM_ACCESS_ERR));

	/* One byte beyond the end. */
	ASSERT_EQ(0, open_again(&self->pair, &self->config));
	sge = piece(self->client, 0, 8);
	ASSERT_EQ(0, write_one(&self->pair, sge, 0, CM_BUF_LEN - 7,
			       self->server->mr->rkey));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_REM_ACCESS_ERR));
}

TEST_F(rc, remote_buffers_must_be_registered_for_writing)
{
	struct ibv_mr *mr;

	mr = rdma_reg_msgs(self->server->id, self->server->buf, CM_BUF_LEN);
	ASSERT_NE(NULL, mr);
	ASSERT_EQ(0, write_one(&self->pair, piece(self->client, 0, 8), 0, 0,
			       mr->rkey));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_REM_ACCESS_ERR));
	EXPECT_EQ(0, rdma_dereg_mr(mr));

	ASSERT_EQ(0, open_again(&self->pair, &self->config));
	mr = rdma_reg_read(self->server->id, self->server->buf, CM_BUF_LEN);
	ASSERT_NE(NULL, mr);
	ASSERT_EQ(0, write_one(&self->pair, piece(self->client, 0, 8), 0, 0,
			       mr->rkey));
	EXPECT_TRUE(fails(&self->pair, IBV_WC_REM_ACCESS_ERR));
	EXPECT_EQ(0, rdma_dereg_mr(mr));
}

TEST_F(rc, may_not_be_posted_before_connecting)
{
	struct cm_pair *pair = &self->pair;

	ASSERT_EQ(0, cm_close(pair));
	ASSERT_EQ(0, cm_prepare(pair, &self->config));
	pair->client.mr = rdma_reg_write(pair->client.id, pair->client.buf,
					 CM_BUF_LEN);
	ASSERT_NE(NULL, pair->client.mr);
	/* To itself, as long as there is no other memory to name. */
	pair->client.buf[0] = 0xab;
	errno = 0;
	EXPECT_EQ(-1, rdma_post_write(pair->client.id, CONTEXT(7),
				      pair->client.buf, 1, pair->client.mr,
				      IBV_SEND_SIGNALED,
				      (uintptr_t)pair->client.buf + 1,
				      pair->client.mr->rkey));
	EXPECT_EQ(EINVAL, errno);

	/* What was refused does not happen later either. */
	ASSERT_EQ(0, cm_connect(pair, &self->config));
	pair->server.mr = rdma_reg_write(pair->server.id, pair->server.buf,
					 CM_BUF_LEN);
	ASSERT_NE(NULL, pair->server.mr);
	ASSERT_EQ(0, write_one(pair, piece(&pair->client, 0, 1), 0, 0,
			       pair->server.mr->rkey));
	EXPECT_TRUE(completes(pair->client.id->send_cq, CONTEXT(1),
			      IBV_WC_RDMA_WRITE, IBV_WC_SUCCESS));
	EXPECT_TRUE(is_quiet(pair->client.id->send_cq));
	EXPECT_EQ(0xab, pair->server.buf[0]);
}

TEST_F(rc, after_an_error_writes_are_flushed)
{
	struct ibv_sge sge = piece(self->client, 0, 8);
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, rdma_post_writev(self->client->id, CONTEXT(i),
					      &sge, 1, IBV_SEND_SIGNALED,
					      (uintptr_t)self->server->buf,
					      self->server->mr->rkey ^
					      (i ? 0 : 0x100)));
	EXPECT_TRUE(completes(self->client->id->send_cq, CONTEXT(0), 0,
			      IBV_WC_REM_ACCESS_ERR));
	for (i = 1; i < 3; i++)
		EXPECT_TRUE(completes(self->client->id->send_cq, CONTEXT(i), 0,
				      IBV_WC_WR_FLUSH_ERR));
	EXPECT_TRUE(cm_is_all(self->server->buf, 64, 0));
}

/* rdma_post_write(3): the same with one buffer, and no mr when inline. */
TEST_F(rc, rdma_post_write_writes_one_buffer)
{
	uint8_t *from = self->client->buf, *to = self->server->buf;
	uint8_t stack[16];

	ASSERT_EQ(0, rdma_post_write(self->client->id, CONTEXT(1), from, 3000,
				     self->client->mr, 0, (uintptr_t)to,
				     self->server->mr->rkey));
	cm_fill(stack, sizeof(stack), 5);
	ASSERT_EQ(0, rdma_post_write(self->client->id, CONTEXT(2), stack,
				     sizeof(stack), NULL,
				     IBV_SEND_INLINE | IBV_SEND_SIGNALED,
				     (uintptr_t)to + 3000,
				     self->server->mr->rkey));
	memset(stack, 0xff, sizeof(stack));
	ASSERT_TRUE(completes(self->client->id->send_cq, CONTEXT(2),
			      IBV_WC_RDMA_WRITE, IBV_WC_SUCCESS));
	EXPECT_TRUE(cm_holds(to, 3000, 1));
	EXPECT_TRUE(cm_holds(to + 3000, sizeof(stack), 5));
	EXPECT_TRUE(cm_is_all(to + 3016, CM_BUF_LEN - 3016, 0));
}

TEST_HARNESS_MAIN
