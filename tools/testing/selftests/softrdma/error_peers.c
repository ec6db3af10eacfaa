// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that fail at the peer, or because of it: the vendor_err of each, and what
 * softrdma(8) says of it, on both sides (troubleshooting.rst).
 */
#include "errors_fixture.h"

#include "tap.h"

#define UP()	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set))

/* The log says so of the QP that was asked. */
#define PEER_SAYS(code, words)						\
	EXPECT_TRUE(errlog_says(TOPO_LINK, self->rx->qp->qp_num,	\
				SRDMA_ERR_##code, words))

#define WRITE(len, rkey)						\
	ASSERT_EQ(0, duo_write(self->tx, self->rx, 5, len, rkey))

static int post(struct duo_end *from, struct duo_end *to,
		enum ibv_wr_opcode opcode, uint32_t len, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)from->buf, len, from->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = 5,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)to->buf;
		wr.wr.atomic.rkey = rkey;
	} else if (opcode == IBV_WR_SEND_WITH_INV) {
		wr.invalidate_rkey = rkey;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)to->buf;
		wr.wr.rdma.rkey = rkey;
	}
	return ibv_post_send(from->qp, &wr, &bad);
}

/* ---- keys at the peer ---- */

TEST_F(errors, rkey_that_nothing_has)
{
	UP();
	WRITE(64, 0xfffff500);
	FAILS(REM_ACCESS_ERR, NAK_ACCESS,
	      "its log says: nothing has the rkey 0xfffff500");
	PEER_SAYS(RKEY_NONE, "was refused");
	/* The one that has refused it follows its NAK. */
	ASSERT_EQ(0, duo_recv(self->rx, 6, 0, 64));
	EXPECT_TRUE(errlog_completes(self->rx->recv_cq, IBV_WC_WR_FLUSH_ERR,
				     SRDMA_ERR_FLUSH_REFUSED));
}

TEST_F(errors, rkey_that_was_deregistered)
{
	struct ibv_mr *mr;
	uint32_t rkey;

	UP();
	mr = ibv_reg_mr(self->set.pd, self->rx->buf, 4096,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	ASSERT_NE(NULL, mr);
	rkey = mr->rkey;
	ASSERT_EQ(0, ibv_dereg_mr(mr));
	WRITE(64, rkey);
	FAILS(REM_ACCESS_ERR, NAK_ACCESS, "was deregistered");
	PEER_SAYS(RKEY_GONE, "was deregistered");
}

TEST_F(errors, rkey_of_another_domain)
{
	struct ibv_pd *pd = ibv_alloc_pd(self->set.ctx);
	struct ibv_mr *mr;

	UP();
	mr = ibv_reg_mr(pd, self->rx->buf, 4096,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	ASSERT_NE(NULL, mr);
	WRITE(64, mr->rkey);
	FAILS(REM_ACCESS_ERR, NAK_ACCESS, "remote access error");
	PEER_SAYS(RKEY_PD, "belongs to another protection domain");
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, ibv_dealloc_pd(pd));
}

TEST_F(errors, rkey_that_does_not_allow_it)
{
	struct ibv_mr *mr;

	UP();
	mr = ibv_reg_mr(self->set.pd, self->rx->buf, 4096,
			IBV_ACCESS_REMOTE_READ);
	ASSERT_NE(NULL, mr);
	WRITE(64, mr->rkey);
	FAILS(REM_ACCESS_ERR, NAK_ACCESS, "WRITE of 64 bytes to 0x");
	PEER_SAYS(RKEY_ACCESS, "has REMOTE_READ and not REMOTE_WRITE");
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_F(errors, range_that_leaves_the_region)
{
	struct ibv_mr *mr;

	UP();
	mr = ibv_reg_mr(self->set.pd, self->rx->buf, 4096,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	ASSERT_NE(NULL, mr);
	WRITE(8192, mr->rkey);
	FAILS(REM_ACCESS_ERR, NAK_ACCESS, "the region ends 4096 bytes before");
	PEER_SAYS(RKEY_RANGE, "8192 bytes at 0x");
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

TEST_F(errors, key_that_the_peer_cannot_invalidate)
{
	UP();
	ASSERT_EQ(0, duo_recv(self->rx, 6, 0, 64));
	ASSERT_EQ(0, post(self->tx, self->rx, IBV_WR_SEND_WITH_INV, 64,
			  self->rx->mr->rkey));
	FAILS(REM_ACCESS_ERR, NAK_ACCESS, "the peer cannot invalidate 0x");
	PEER_SAYS(RKEY_INVALIDATE, "the peer cannot invalidate 0x");
}

/* ---- requests that the peer finds invalid ---- */

/* Ends with other attributes than duo_up() gives them. */
static int connect_with(struct duo *duo, int access, int max_dest_rd_atomic)
{
	static const enum ibv_qp_state ladder[] = {
		IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
	};
	struct duo_end *end = &duo->end[1];
	struct ibv_qp_attr attr;
	int i, ret = 0;

	for (i = 0; i < 3 && !ret; i++) {
		ret = duo_step(duo, 0, ladder[i]);
		verbs_attr(end->set, &attr, ladder[i], duo->end[0].qp->qp_num);
		attr.ah_attr.grh.dgid = duo->end[0].set->gid;
		attr.sq_psn = attr.rq_psn;
		attr.qp_access_flags = access;
		attr.max_dest_rd_atomic = max_dest_rd_atomic;
		ret = ret ?: ibv_modify_qp(end->qp, &attr,
					   verbs_mask(IBV_QPT_RC, ladder[i] - 1,
						      ladder[i]));
	}
	return ret;
}

TEST_F(errors, receive_that_is_too_short)
{
	UP();
	ASSERT_EQ(0, duo_recv(self->rx, 6, 0, 64));
	ASSERT_EQ(0, duo_recv(self->rx, 7, 0, 64));
	ASSERT_EQ(0, duo_send(self->tx, 5, 0, 100, 0));
	FAILS(REM_INV_REQ_ERR, NAK_INVALID, "a message of 100 bytes or more");
	EXPECT_TRUE(errlog_completes(self->rx->recv_cq, IBV_WC_LOC_LEN_ERR,
				     SRDMA_ERR_RECV_SHORT));
	EXPECT_TRUE(errlog_completes(self->rx->recv_cq, IBV_WC_WR_FLUSH_ERR,
				     SRDMA_ERR_FLUSH_REFUSED));
	PEER_SAYS(RECV_SHORT, "met a receive of 64");
}

TEST_F(errors, receive_whose_memory_is_gone)
{
	struct ibv_sge sge;
	struct ibv_recv_wr *bad, wr = { .wr_id = 6, .sg_list = &sge,
					.num_sge = 1 };

	UP();
	sge = (struct ibv_sge){ (uintptr_t)self->rx->buf, 64, 0xfffff600 };
	ASSERT_EQ(0, ibv_post_recv(self->rx->qp, &wr, &bad));
	ASSERT_EQ(0, duo_recv(self->rx, 7, 0, 64));
	ASSERT_EQ(0, duo_send(self->tx, 5, 0, 64, 0));
	FAILS(REM_OP_ERR, NAK_OPERATION, "remote operational error");
	EXPECT_TRUE(errlog_completes(self->rx->recv_cq, IBV_WC_LOC_PROT_ERR,
				     SRDMA_ERR_LKEY_NONE));
	EXPECT_TRUE(errlog_completes(self->rx->recv_cq, IBV_WC_WR_FLUSH_ERR,
				     SRDMA_ERR_FLUSH_RECEIVE));
	PEER_SAYS(LKEY_NONE, "receive (wr_id 6) failed with LOC_PROT_ERR");
}

/* On UC the peer does not learn of it; the QP is in error as on RC (9.9.3, class A). */
TEST_F(errors, receive_on_uc_whose_memory_is_gone)
{
	struct ibv_sge sge;
	struct ibv_recv_wr *bad, wr = { .wr_id = 6, .sg_list = &sge,
					.num_sge = 1 };

	self->duo.type = IBV_QPT_UC;
	UP();
	sge = (struct ibv_sge){ (uintptr_t)self->rx->buf, 64, 0xfffff600 };
	ASSERT_EQ(0, ibv_post_recv(self->rx->qp, &wr, &bad));
	ASSERT_EQ(0, duo_recv(self->rx, 7, 0, 64));
	ASSERT_EQ(0, duo_send(self->tx, 5, 0, 64, 0));
	EXPECT_TRUE(errlog_completes(self->rx->recv_cq, IBV_WC_LOC_PROT_ERR,
				     SRDMA_ERR_LKEY_NONE));
	EXPECT_TRUE(errlog_completes(self->rx->recv_cq, IBV_WC_WR_FLUSH_ERR,
				     SRDMA_ERR_FLUSH_RECEIVE));
	EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(self->rx->qp));
	PEER_SAYS(LKEY_NONE, "receive (wr_id 6) failed with LOC_PROT_ERR");
}

/* A message that is too long is the peer's fault: the next receive takes one. */
TEST_F(errors, receive_on_uc_that_is_too_short)
{
	self->duo.type = IBV_QPT_UC;
	UP();
	ASSERT_EQ(0, duo_recv(self->rx, 6, 0, 64));
	ASSERT_EQ(0, duo_recv(self->rx, 7, 0, 64));
	ASSERT_EQ(0, duo_send(self->tx, 5, 0, 100, 0));
	EXPECT_TRUE(errlog_completes(self->rx->recv_cq, IBV_WC_LOC_LEN_ERR,
				     SRDMA_ERR_RECV_SHORT));
	ASSERT_EQ(0, duo_send(self->tx, 5, 0, 64, 0));
	EXPECT_TRUE(errlog_completes(self->rx->recv_cq, IBV_WC_SUCCESS, 0));
	EXPECT_EQ(IBV_QPS_RTS, verbs_qp_state(self->rx->qp));
}

TEST_F(errors, what_the_queue_pair_does_not_allow)
{
	ASSERT_EQ(0, duo_open(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, connect_with(&self->duo, IBV_ACCESS_REMOTE_READ, 4));
	WRITE(64, self->rx->mr->rkey);
	FAILS(REM_INV_REQ_ERR, NAK_INVALID, "and not REMOTE_WRITE");
	PEER_SAYS(REQ_QP_ACCESS, "the QP was given REMOTE_READ for its peer");
}

TEST_F(errors, more_reads_than_agreed)
{
	ASSERT_EQ(0, duo_open(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, connect_with(&self->duo, IBV_ACCESS_REMOTE_READ, 0));
	ASSERT_EQ(0, post(self->tx, self->rx, IBV_WR_RDMA_READ, 64,
			  self->rx->mr->rkey));
	FAILS(REM_INV_REQ_ERR, NAK_INVALID, "more READs and atomics");
	PEER_SAYS(REQ_RD_ATOMIC, "than max_dest_rd_atomic, 0");
}

TEST_F(errors, atomic_that_is_not_aligned)
{
	UP();
	ASSERT_LE(0, rules_add(TOPO_LINK, "tx op FETCH* corrupt header va"));
	ASSERT_EQ(0, post(self->tx, self->rx, IBV_WR_ATOMIC_FETCH_AND_ADD, 8,
			  self->rx->mr->rkey));
	FAILS(REM_INV_REQ_ERR, NAK_INVALID, "is no multiple of 8");
	PEER_SAYS(REQ_ALIGN, "is no multiple of 8");
}

TEST_F(errors, packets_that_make_no_message)
{
	UP();
	ASSERT_LE(0, rules_add(TOPO_LINK,
			       "tx op WRITE_ONLY corrupt header length"));
	WRITE(64, self->rx->mr->rkey);
	FAILS(REM_INV_REQ_ERR, NAK_INVALID, "packets do not make a message");
	PEER_SAYS(REQ_MALFORMED, "packets do not make a message");
}

/* ---- peers that do not answer, or nonsense ---- */

TEST_F(errors, no_receive_is_posted)
{
	self->duo.rnr_retry = 3;
	UP();
	ASSERT_EQ(0, duo_send(self->tx, 5, 0, 64, 0));
	FAILS(RNR_RETRY_EXC_ERR, RNR,
	      "after 3 retries as well; it asked to wait 10 us");
}

TEST_F(errors, the_peer_never_answers)
{
	UP();
	ASSERT_LE(0, rules_add(TOPO_LINK, "rx op ACK drop"));
	WRITE(64, self->rx->mr->rkey);
	FAILS(RETRY_EXC_ERR, NEVER_ANSWERED, "the peer has never answered");
}

/* What is captured is sent another way, which is a way. */
TEST_F(errors, the_peer_never_answers_and_somebody_captures)
{
	int fd = tap_open(TOPO_NETDEV);

	ASSERT_LE(0, fd);
	UP();
	ASSERT_LE(0, rules_add(TOPO_LINK, "rx op ACK drop"));
	WRITE(64, self->rx->mr->rkey);
	FAILS(RETRY_EXC_ERR, NEVER_ANSWERED, "the peer has never answered");
	close(fd);
}

TEST_F(errors, the_peer_stops_answering)
{
	UP();
	WRITE(64, self->rx->mr->rkey);
	EXPECT_TRUE(errlog_completes(self->tx->send_cq, IBV_WC_SUCCESS, 0));
	ASSERT_LE(0, rules_add(TOPO_LINK, "rx op ACK drop"));
	WRITE(64, self->rx->mr->rkey);
	FAILS(RETRY_EXC_ERR, NO_ANSWER, "has answered before");
}

TEST_F(errors, the_peer_wants_the_same_packet_again)
{
	UP();
	ASSERT_LE(0, rules_add(TOPO_LINK, "rx op WRITE* answer nak sequence"));
	WRITE(64, self->rx->mr->rkey);
	FAILS(RETRY_EXC_ERR, SEQUENCE, "asked for the same packet");
}

TEST_F(errors, the_peer_is_gone)
{
	UP();
	ASSERT_EQ(0, ibv_destroy_qp(self->rx->qp));
	self->rx->qp = NULL;
	WRITE(64, self->rx->mr->rkey);
	FAILS(RETRY_EXC_ERR, PEER_NO_QP, "no QP of that number");
}

TEST_F(errors, the_peer_is_in_init)
{
	ASSERT_EQ(0, duo_open(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_step(&self->duo, 1, IBV_QPS_INIT));
	ASSERT_EQ(0, duo_step(&self->duo, 0, IBV_QPS_INIT));
	ASSERT_EQ(0, duo_step(&self->duo, 0, IBV_QPS_RTR));
	ASSERT_EQ(0, duo_step(&self->duo, 0, IBV_QPS_RTS));
	WRITE(64, self->rx->mr->rkey);
	FAILS(RETRY_EXC_ERR, PEER_STATE, "the peer's QP is in INIT");
}

TEST_F(errors, the_port_is_down)
{
	UP();
	ASSERT_LE(0, rules_add(TOPO_LINK, "port-down"));
	WRITE(64, self->rx->mr->rkey);
	FAILS(RETRY_EXC_ERR, PORT_DOWN, "the port is down");
	EXPECT_LE(0, rules_add(TOPO_LINK, "port-up"));
}

TEST_F(errors, the_address_has_gone)
{
	UP();
	ASSERT_EQ(0, topo_ip("addr del " TOPO_IPV4 "/24 dev " TOPO_NETDEV));
	ASSERT_EQ(0, verbs_wait_gid(self->set.ctx, TOPO_IPV4, false, 5000));
	WRITE(64, self->rx->mr->rkey);
	FAILS(RETRY_EXC_ERR, GID_GONE, "has gone from the interface");
	ASSERT_EQ(0, topo_ip("addr add " TOPO_IPV4 "/24 dev " TOPO_NETDEV));
	EXPECT_EQ(0, verbs_wait_gid(self->set.ctx, TOPO_IPV4, true, 5000));
}

/* One that is not of this host, and behind a route that goes. */
TEST_F(errors, the_route_has_gone)
{
	struct duo_end *tx = self->tx;
	union ibv_gid nobody;
	struct ibv_qp_attr attr;

	ASSERT_EQ(0, duo_open(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_step(&self->duo, 0, IBV_QPS_INIT));
	nobody = self->set.gid;
	nobody.raw[15] = 99;
	verbs_attr(&self->set, &attr, IBV_QPS_RTR, self->rx->qp->qp_num);
	attr.ah_attr.grh.dgid = nobody;
	ASSERT_EQ(0, ibv_modify_qp(tx->qp, &attr,
				   verbs_mask(IBV_QPT_RC, IBV_QPS_INIT,
					      IBV_QPS_RTR)));
	ASSERT_EQ(0, duo_step(&self->duo, 0, IBV_QPS_RTS));
	ASSERT_EQ(0, topo_ip("route del 10.77.0.0/24 dev " TOPO_NETDEV));
	WRITE(64, self->rx->mr->rkey);
	FAILS(RETRY_EXC_ERR, NO_ROUTE, "there is no route to the peer");
	EXPECT_EQ(0, topo_ip("route add 10.77.0.0/24 dev " TOPO_NETDEV
			     " proto kernel scope link src " TOPO_IPV4));
}

TEST_F(errors, the_peer_answers_what_was_not_asked)
{
	UP();
	ASSERT_LE(0, rules_add(TOPO_LINK, "rx op READ_RESPONSE* truncate"));
	ASSERT_EQ(0, post(self->tx, self->rx, IBV_WR_RDMA_READ, 64,
			  self->rx->mr->rkey));
	FAILS(BAD_RESP_ERR, BAD_RESPONSE, "answered what was not asked");
}

/* ---- queues, states, rules ---- */

TEST_F(errors, a_completion_queue_overruns)
{
	self->duo.cqe = 1;
	UP();
	WRITE(64, self->rx->mr->rkey);
	WRITE(64, self->rx->mr->rkey);
	EXPECT_TRUE(errlog_says(TOPO_LINK, self->tx->qp->qp_num,
				SRDMA_ERR_CQ_OVERRUN,
				"found its completion queue full"));
	/* The receives have a queue of their own. */
	EXPECT_EQ(0, duo_recv(self->tx, 6, 0, 64));
	EXPECT_TRUE(errlog_completes(self->tx->recv_cq, IBV_WC_WR_FLUSH_ERR,
				     SRDMA_ERR_FLUSH_CQ));
}

TEST_F(errors, the_program_flushes)
{
	UP();
	ASSERT_EQ(0, duo_recv(self->tx, 6, 0, 64));
	ASSERT_EQ(0, duo_state(self->tx, IBV_QPS_ERR));
	WRITE(64, self->rx->mr->rkey);
	EXPECT_TRUE(errlog_completes(self->tx->send_cq, IBV_WC_WR_FLUSH_ERR,
				     SRDMA_ERR_FLUSH_MODIFIED));
	EXPECT_TRUE(errlog_completes(self->tx->recv_cq, IBV_WC_WR_FLUSH_ERR,
				     SRDMA_ERR_FLUSH_MODIFIED));
}

TEST_F(errors, a_rule_flushes)
{
	UP();
	ASSERT_LE(0, rules_add(TOPO_LINK, "now qp %u qp-error",
			       self->tx->qp->qp_num));
	WRITE(64, self->rx->mr->rkey);
	EXPECT_TRUE(errlog_completes(self->tx->send_cq, IBV_WC_WR_FLUSH_ERR,
				     SRDMA_ERR_FLUSH_RULE));
}

TEST_F(errors, a_rule_fails_a_request)
{
	UP();
	ASSERT_LE(0, rules_add(TOPO_LINK, "wr status REM_OP_ERR"));
	WRITE(64, self->rx->mr->rkey);
	FAILS(REM_OP_ERR, RULE, "a rule wants it");
}

TEST_HARNESS_MAIN
