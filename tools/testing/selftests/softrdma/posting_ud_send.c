// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rdma_post_ud_send(3), sentence by sentence, between ids of the UDP port
 * space: the client has learned the server's QP and how to reach it.
 */
#define POSTING_DATAGRAM true
#include "posting_fixture.h"

#include <poll.h>

#define GRH	40

static int receive_into(struct cm_pair *pair, uint32_t len)
{
	return rdma_post_recv(pair->server.id, CONTEXT(9), pair->server.buf,
			      len, pair->server.mr);
}

static int send_to(struct cm_pair *pair, uint32_t qpn, uint32_t len)
{
	return rdma_post_ud_send(pair->client.id, CONTEXT(1), pair->client.buf,
				 len, pair->client.mr, IBV_SEND_SIGNALED,
				 pair->ah, qpn);
}

static bool sent(struct cm_pair *pair, enum ibv_wc_status status)
{
	return completes(pair->client.id->send_cq, CONTEXT(1), IBV_WC_SEND,
			 status);
}

static bool received(struct cm_pair *pair)
{
	return completes(pair->server.id->recv_cq, CONTEXT(9), IBV_WC_RECV,
			 IBV_WC_SUCCESS);
}

TEST_F(rc, posts_to_the_send_queue_of_the_qp_of_the_id)
{
	struct rdma_cm_id *id = self->client->id;
	struct ibv_wc wc;

	ASSERT_EQ(0, receive_into(&self->pair, 4096));
	ASSERT_EQ(0, send_to(&self->pair, self->pair.qpn, 10));
	ASSERT_EQ(1, rdma_get_send_comp(id, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(IBV_WC_SEND, wc.opcode);
	EXPECT_EQ((uintptr_t)CONTEXT(1), wc.wr_id);
	EXPECT_EQ(id->qp->qp_num, wc.qp_num);
	EXPECT_TRUE(is_quiet(id->recv_cq));
	ASSERT_EQ(1, rdma_get_recv_comp(self->server->id, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(IBV_WC_RECV, wc.opcode);
	EXPECT_EQ(GRH + 10, wc.byte_len);
	EXPECT_EQ(IBV_WC_GRH, wc.wc_flags);
	EXPECT_EQ(id->qp->qp_num, wc.src_qp);
	EXPECT_EQ(self->server->id->qp->qp_num, wc.qp_num);
}

TEST_F(rc, contents_are_sent_behind_the_grh_area)
{
	static const uint32_t lengths[] = { 0, 1, 2, 3, 4, 100, 1023, 1024 };
	uint8_t *to = self->server->buf;
	uint32_t len;
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		len = lengths[i];
		memset(to, 0, 4096);
		cm_fill(self->client->buf, len, i);
		ASSERT_EQ(0, receive_into(&self->pair, GRH + 1024));
		ASSERT_EQ(0, send_to(&self->pair, self->pair.qpn, len));
		EXPECT_TRUE(sent(&self->pair, IBV_WC_SUCCESS));
		ASSERT_TRUE(received(&self->pair));
		EXPECT_TRUE(cm_holds(to + GRH, len, i)) {
			TH_LOG("%u bytes", len);
		}
		EXPECT_TRUE(cm_is_all(to + GRH + len, 1024, 0));
	}
}

TEST_F(rc, only_the_specified_destination_queue_pair_receives)
{
	struct cm_pair other;
	struct ibv_wc wc;

	ASSERT_EQ(0, cm_open(&other, &self->config));
	ASSERT_EQ(0, register_both(&other));
	ASSERT_NE(other.qpn, self->pair.qpn);
	ASSERT_EQ(0, receive_into(&self->pair, 4096));
	ASSERT_EQ(0, receive_into(&other, 4096));
	ASSERT_EQ(0, send_to(&self->pair, other.qpn, 64));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_SUCCESS));
	EXPECT_TRUE(received(&other));
	EXPECT_TRUE(cm_holds(other.server.buf + GRH, 64, 1));
	EXPECT_EQ(0, cm_poll(self->server->id->recv_cq, &wc, 20));
	EXPECT_EQ(0, cm_close(&other));
}

TEST_F(rc, error_is_minus_one_with_errno)
{
	errno = 0;
	EXPECT_EQ(-1, rdma_post_ud_send(self->client->id, CONTEXT(1),
					self->client->buf, 1024, NULL,
					IBV_SEND_SIGNALED | IBV_SEND_INLINE,
					self->pair.ah, self->pair.qpn));
	EXPECT_EQ(EINVAL, errno);
	/* It was not posted. */
	ASSERT_EQ(0, receive_into(&self->pair, 4096));
	ASSERT_EQ(0, send_to(&self->pair, self->pair.qpn, 5));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_SUCCESS));
	EXPECT_TRUE(received(&self->pair));
	EXPECT_TRUE(cm_is_all(self->server->buf + GRH + 5, 1024, 0));
}

/* Who does not queue a receive loses the datagram, and no more. */
TEST_F(rc, without_a_receive_the_datagram_is_lost)
{
	struct ibv_wc wc;

	ASSERT_EQ(0, send_to(&self->pair, self->pair.qpn, 64));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_SUCCESS));
	self->client->buf[0] = 0x99;
	ASSERT_EQ(0, receive_into(&self->pair, 4096));
	EXPECT_EQ(0, cm_poll(self->server->id->recv_cq, &wc, 20));
	ASSERT_EQ(0, send_to(&self->pair, self->pair.qpn, 64));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_SUCCESS));
	EXPECT_TRUE(received(&self->pair));
	EXPECT_EQ(0x99, self->server->buf[GRH]);
}

/* Nor is one received that does not fit what was queued; that stays queued. */
TEST_F(rc, datagram_too_long_for_its_receive_is_lost)
{
	struct ibv_wc wc;

	ASSERT_EQ(0, receive_into(&self->pair, GRH + 63));
	ASSERT_EQ(0, send_to(&self->pair, self->pair.qpn, 64));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_SUCCESS));
	EXPECT_EQ(0, cm_poll(self->server->id->recv_cq, &wc, 20));
	ASSERT_EQ(0, send_to(&self->pair, self->pair.qpn, 63));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_SUCCESS));
	ASSERT_EQ(1, cm_poll(self->server->id->recv_cq, &wc, SOON_MS));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(GRH + 63, wc.byte_len);
	EXPECT_TRUE(cm_holds(self->server->buf + GRH, 63, 1));
}

TEST_F(rc, flag_signaled_asks_for_the_completion)
{
	ASSERT_EQ(0, receive_into(&self->pair, 4096));
	ASSERT_EQ(0, receive_into(&self->pair, 4096));
	ASSERT_EQ(0, rdma_post_ud_send(self->client->id, CONTEXT(2),
				       self->client->buf, 8, self->client->mr,
				       0, self->pair.ah, self->pair.qpn));
	ASSERT_EQ(0, send_to(&self->pair, self->pair.qpn, 8));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_SUCCESS));
	EXPECT_TRUE(is_quiet(self->client->id->send_cq));
	EXPECT_TRUE(received(&self->pair));
	EXPECT_TRUE(received(&self->pair));
}

TEST_F(rc, flag_inline_takes_unregistered_memory_at_once)
{
	uint8_t stack[64];

	cm_fill(stack, sizeof(stack), 4);
	ASSERT_EQ(0, receive_into(&self->pair, 4096));
	ASSERT_EQ(0, rdma_post_ud_send(self->client->id, CONTEXT(1), stack,
				       sizeof(stack), NULL,
				       IBV_SEND_INLINE | IBV_SEND_SIGNALED,
				       self->pair.ah, self->pair.qpn));
	memset(stack, 0xff, sizeof(stack));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_SUCCESS));
	EXPECT_TRUE(received(&self->pair));
	EXPECT_TRUE(cm_holds(self->server->buf + GRH, sizeof(stack), 4));
}

/* A receiver that waits for solicited completions only wakes for this one. */
TEST_F(rc, flag_solicited_wakes_the_receiver)
{
	struct ibv_comp_channel *channel = self->server->id->recv_cq_channel;
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;
	int i;

	ASSERT_EQ(0, ibv_req_notify_cq(self->server->id->recv_cq, 1));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, receive_into(&self->pair, 4096));
		ASSERT_EQ(0, rdma_post_ud_send(self->client->id, CONTEXT(1),
					       self->client->buf, 8,
					       self->client->mr,
					       IBV_SEND_SIGNALED |
					       (i ? IBV_SEND_SOLICITED : 0),
					       self->pair.ah, self->pair.qpn));
		EXPECT_TRUE(sent(&self->pair, IBV_WC_SUCCESS));
		EXPECT_TRUE(received(&self->pair));
		EXPECT_EQ(i, poll(&fd, 1, i ? SOON_MS : 0));
	}
	ASSERT_EQ(0, ibv_get_cq_event(channel, &cq, &context));
	ibv_ack_cq_events(cq, 1);
}

TEST_F(rc, buffer_must_be_registered)
{
	struct ibv_wc wc;

	/* No mr and not inline: the lkey is 0. */
	ASSERT_EQ(0, receive_into(&self->pair, 4096));
	ASSERT_EQ(0, rdma_post_ud_send(self->client->id, CONTEXT(1),
				       self->client->buf, 8, NULL,
				       IBV_SEND_SIGNALED, self->pair.ah,
				       self->pair.qpn));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_LOC_PROT_ERR));
	EXPECT_EQ(0, cm_poll(self->server->id->recv_cq, &wc, 20));
}

/* Nothing can hold a datagram back but SQD: the registration ends before. */
TEST_F(rc, buffer_must_stay_registered)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	struct ibv_qp *qp = self->client->id->qp;
	struct ibv_wc wc;

	ASSERT_EQ(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	ASSERT_EQ(0, receive_into(&self->pair, 4096));
	ASSERT_EQ(0, send_to(&self->pair, self->pair.qpn, 8));
	ASSERT_EQ(0, rdma_dereg_mr(self->client->mr));
	self->client->mr = NULL;
	attr.qp_state = IBV_QPS_RTS;
	ASSERT_EQ(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_LOC_PROT_ERR));
	EXPECT_EQ(0, cm_poll(self->server->id->recv_cq, &wc, 20));
}

TEST_F(rc, context_is_returned_in_wr_id)
{
	int i;

	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, rdma_post_recv(self->server->id, CONTEXT(20 + i),
					    self->server->buf + i * 2000, 2000,
					    self->server->mr));
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, rdma_post_ud_send(self->client->id, CONTEXT(i),
					       self->client->buf + i, 100,
					       self->client->mr,
					       IBV_SEND_SIGNALED,
					       self->pair.ah, self->pair.qpn));
	for (i = 0; i < 10; i++) {
		EXPECT_TRUE(completes(self->client->id->send_cq, CONTEXT(i),
				      IBV_WC_SEND, IBV_WC_SUCCESS));
		EXPECT_TRUE(completes(self->server->id->recv_cq,
				      CONTEXT(20 + i), IBV_WC_RECV,
				      IBV_WC_SUCCESS));
		EXPECT_EQ(0, memcmp(self->server->buf + i * 2000 + GRH,
				    self->client->buf + i, 100));
	}
}

TEST_F(rc, longer_than_the_path_mtu_is_an_error_of_the_sender)
{
	struct ibv_wc wc;

	ASSERT_EQ(0, receive_into(&self->pair, 8192));
	ASSERT_EQ(0, send_to(&self->pair, self->pair.qpn, 1025));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_LOC_LEN_ERR));
	EXPECT_EQ(0, cm_poll(self->server->id->recv_cq, &wc, 20));
}

TEST_F(rc, receiver_can_answer_by_what_it_received)
{
	struct ibv_grh *grh = (void *)self->server->buf;
	struct ibv_ah *ah;
	struct ibv_wc wc;

	ASSERT_EQ(0, receive_into(&self->pair, 4096));
	ASSERT_EQ(0, send_to(&self->pair, self->pair.qpn, 8));
	ASSERT_EQ(1, cm_poll(self->server->id->recv_cq, &wc, SOON_MS));
	ah = ibv_create_ah_from_wc(self->server->id->pd, &wc, grh, 1);
	ASSERT_NE(NULL, ah);
	memset(self->client->buf, 0, 4096);
	cm_fill(self->server->buf, 500, 3);
	ASSERT_EQ(0, rdma_post_recv(self->client->id, CONTEXT(5),
				    self->client->buf, 4096,
				    self->client->mr));
	ASSERT_EQ(0, rdma_post_ud_send(self->server->id, CONTEXT(6),
				       self->server->buf, 500,
				       self->server->mr, IBV_SEND_SIGNALED,
				       ah, wc.src_qp));
	EXPECT_TRUE(completes(self->server->id->send_cq, CONTEXT(6),
			      IBV_WC_SEND, IBV_WC_SUCCESS));
	EXPECT_TRUE(completes(self->client->id->recv_cq, CONTEXT(5),
			      IBV_WC_RECV, IBV_WC_SUCCESS));
	EXPECT_TRUE(cm_holds(self->client->buf + GRH, 500, 3));
	EXPECT_EQ(0, ibv_destroy_ah(ah));
}

TEST_F(rc, ah_of_another_pd_is_refused)
{
	struct ibv_pd *pd = ibv_alloc_pd(self->client->id->verbs);
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;

	ASSERT_NE(NULL, pd);
	attr = self->client->id->event->param.ud.ah_attr;
	ah = ibv_create_ah(pd, &attr);
	ASSERT_NE(NULL, ah);
	ASSERT_EQ(0, rdma_post_ud_send(self->client->id, CONTEXT(1),
				       self->client->buf, 8, self->client->mr,
				       IBV_SEND_SIGNALED, ah,
				       self->pair.qpn));
	EXPECT_TRUE(sent(&self->pair, IBV_WC_LOC_QP_OP_ERR));
	EXPECT_EQ(0, ibv_destroy_ah(ah));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
}

TEST_HARNESS_MAIN
