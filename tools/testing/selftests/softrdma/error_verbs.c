// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Verbs that are refused: what softrdma(8) says of each (troubleshooting.rst).
 */
#include "fixture.h"

#include <sys/prctl.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/softrdma-errors.h>

#include "duo.h"
#include "errlog.h"
#include "rules.h"
#include "uverbs.h"

FIXTURE(error_verbs)
{
	struct verbs_set set;
};

FIXTURE_SETUP(error_verbs)
{
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
}

FIXTURE_TEARDOWN(error_verbs)
{
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

#define SAYS(code, words)						\
	EXPECT_TRUE(errlog_says(TOPO_LINK, 0, SRDMA_ERR_##code, words))

TEST_F(error_verbs, completion_queue_that_is_too_long)
{
	struct ibv_device_attr attr;

	ASSERT_EQ(0, ibv_query_device(self->set.ctx, &attr));
	EXPECT_EQ(NULL, ibv_create_cq(self->set.ctx, attr.max_cqe + 7, NULL,
				      NULL, 0));
	SAYS(CQ_SIZE, "create_cq or resize_cq failed with EINVAL");
	SAYS(CQ_SIZE, "a CQ has 1 to ");
}

/* The library does not pass on what it does not know. */
TEST_F(error_verbs, completion_queue_with_timestamps)
{
	struct {
		struct ib_uverbs_ex_create_cq_resp core;
		struct uverbs_ring ring;
	} resp;
	struct ib_uverbs_ex_create_cq command = {
		.cqe = 16,
		.comp_channel = -1,
		.flags = IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION,
	};

	EXPECT_EQ(-EOPNOTSUPP,
		  uverbs_write_ex(self->set.ctx->cmd_fd,
				  IB_USER_VERBS_EX_CMD_CREATE_CQ, &command,
				  sizeof(command), sizeof(command), &resp,
				  sizeof(resp), sizeof(resp.core)));
	SAYS(CQ_FLAGS, "a CQ has no flags like 0x1");
}

/* What reads it is an administrator's terminal. */
TEST_F(error_verbs, name_of_a_program_commands_no_terminal)
{
	struct ibv_device_attr attr;

	ASSERT_EQ(0, ibv_query_device(self->set.ctx, &attr));
	ASSERT_EQ(0, prctl(PR_SET_NAME, "a\033[2J\302\233b\nc"));
	EXPECT_EQ(NULL, ibv_create_cq(self->set.ctx, attr.max_cqe + 9, NULL,
				      NULL, 0));
	SAYS(CQ_SIZE, " (a?[2J??b?c): create_cq or resize_cq failed with EINVAL");
}

TEST_F(error_verbs, completion_queue_made_smaller_than_what_waits)
{
	struct duo duo = {};

	ASSERT_EQ(0, duo_up(&duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_state(&duo.end[0], IBV_QPS_ERR));
	EXPECT_EQ(0, duo_send(&duo.end[0], 1, 0, 64, 0));
	EXPECT_EQ(0, duo_send(&duo.end[0], 2, 0, 64, 0));
	EXPECT_EQ(EINVAL, ibv_resize_cq(duo.end[0].send_cq, 1));
	SAYS(CQ_FULL, "more completions wait in it than 1");
	EXPECT_EQ(0, duo_close(&duo));
}

static struct ibv_srq *make_srq(struct verbs_set *set, uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr init = { .attr = { wr, sge } };

	return ibv_create_srq(set->pd, &init);
}

TEST_F(error_verbs, shared_receive_queues_beyond_the_limits)
{
	struct ibv_srq_attr attr = { .srq_limit = 99 };
	struct ibv_srq *srq;

	EXPECT_EQ(NULL, make_srq(&self->set, 1 << 24, 1));
	SAYS(SRQ_WR, "receives, not 16777216");
	EXPECT_EQ(NULL, make_srq(&self->set, 16, 4096));
	SAYS(SRQ_SGE, "a receive has 32 pieces at most, not 4096");
	srq = make_srq(&self->set, 15, 1);
	ASSERT_NE(NULL, srq);
	EXPECT_EQ(EINVAL, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	SAYS(SRQ_LIMIT, "the limit 99 is above the 15 receives");
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

TEST_F(error_verbs, shared_receive_queue_of_another_type)
{
	struct ib_uverbs_create_srq_resp resp;
	struct ib_uverbs_create_xsrq command = {
		.srq_type = IB_UVERBS_SRQT_TM,
		.pd_handle = self->set.pd->handle,
		.max_wr = 16,
		.max_sge = 1,
		.cq_handle = self->set.cq->handle,
	};

	EXPECT_EQ(-EOPNOTSUPP,
		  uverbs_write(self->set.ctx->cmd_fd,
			       IB_USER_VERBS_CMD_CREATE_XSRQ, &command,
			       sizeof(command), &resp, sizeof(resp)));
	SAYS(SRQ_TYPE, "SRQs of type 2 are not offered");
}

TEST_F(error_verbs, shared_receive_queue_made_smaller_than_what_waits)
{
	struct ibv_srq_init_attr init = { .attr = { 63, 1, 0 } };
	struct ibv_srq *srq = ibv_create_srq(self->set.pd, &init);
	struct ibv_srq_attr attr = { .max_wr = 3 };
	struct ibv_recv_wr *bad, wr = {};
	int i;

	ASSERT_NE(NULL, srq);
	for (i = 0; i < 40; i++)
		ASSERT_EQ(0, ibv_post_srq_recv(srq, &wr, &bad));
	EXPECT_NE(0, ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	SAYS(SRQ_FULL, "more receives are posted to it than 3");
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

static bool refused_qp(struct verbs_set *set, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr init = {
		.send_cq = set->cq,
		.recv_cq = set->cq,
		.cap = cap,
		.qp_type = IBV_QPT_RC,
	};

	return !ibv_create_qp(set->pd, &init);
}

#define CAP(...)	((struct ibv_qp_cap){ __VA_ARGS__ })

TEST_F(error_verbs, queue_pairs_beyond_the_limits)
{
	EXPECT_TRUE(refused_qp(&self->set, CAP(.max_send_wr = 1 << 24)));
	SAYS(QP_SEND_WR, "send requests at most, not 16777216");
	EXPECT_TRUE(refused_qp(&self->set, CAP(.max_send_sge = 300)));
	SAYS(QP_SEND_SGE, "32 pieces at most, not 300");
	EXPECT_TRUE(refused_qp(&self->set, CAP(.max_inline_data = 70000)));
	SAYS(QP_INLINE, "inline bytes at most, not 70000");
	EXPECT_TRUE(refused_qp(&self->set, CAP(.max_recv_wr = 1 << 23)));
	SAYS(QP_RECV_WR, "receives at most, not 8388608");
	EXPECT_TRUE(refused_qp(&self->set, CAP(.max_recv_sge = 301)));
	SAYS(QP_RECV_SGE, "32 pieces at most, not 301");
}

TEST_F(error_verbs, queue_pairs_of_other_kinds)
{
	struct {
		struct ib_uverbs_ex_create_qp_resp core;
		struct uverbs_ring rings[2];
	} resp;
	struct ibv_qp_init_attr init = {
		.send_cq = self->set.cq,
		.recv_cq = self->set.cq,
		.cap = CAP(.max_send_wr = 1, .max_send_sge = 1),
		.qp_type = IBV_QPT_RAW_PACKET,
	};
	struct ib_uverbs_ex_create_qp command = {
		.pd_handle = self->set.pd->handle,
		.send_cq_handle = self->set.cq->handle,
		.recv_cq_handle = self->set.cq->handle,
		.max_send_wr = 1,
		.max_send_sge = 1,
		.qp_type = IBV_QPT_UD,
		.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB,
	};

	EXPECT_EQ(NULL, ibv_create_qp(self->set.pd, &init));
	SAYS(QP_TYPE, "QPs of type 8 are not offered");
	EXPECT_EQ(-EOPNOTSUPP,
		  uverbs_write_ex(self->set.ctx->cmd_fd,
				  IB_USER_VERBS_EX_CMD_CREATE_QP, &command,
				  sizeof(command), sizeof(command), &resp,
				  sizeof(resp), sizeof(resp.core)));
	SAYS(QP_FLAGS, "it asks for flags 0x2, an XRC domain");
}

TEST_F(error_verbs, rate_limit)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);
	struct ib_uverbs_ex_modify_qp_resp resp;
	struct ib_uverbs_ex_modify_qp command = {
		.base.attr_mask = IBV_QP_RATE_LIMIT,
		.rate_limit = 1000,
	};

	ASSERT_NE(NULL, qp);
	command.base.qp_handle = qp->handle;
	EXPECT_EQ(-EOPNOTSUPP,
		  uverbs_write_ex(self->set.ctx->cmd_fd,
				  IB_USER_VERBS_EX_CMD_MODIFY_QP, &command,
				  sizeof(command), sizeof(command), &resp,
				  sizeof(resp), sizeof(resp)));
	SAYS(MODIFY_ATTR, "attributes in the mask 0x2000000 are not offered");
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(error_verbs, answers_to_reads_that_come_too_late)
{
	struct ibv_qp_attr attr = { .max_dest_rd_atomic = 7 };
	struct duo duo = {};

	ASSERT_EQ(0, duo_up(&duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_state(&duo.end[0], IBV_QPS_SQD));
	EXPECT_EQ(EOPNOTSUPP, ibv_modify_qp(duo.end[0].qp, &attr,
					    IBV_QP_MAX_DEST_RD_ATOMIC));
	EXPECT_TRUE(errlog_says(TOPO_LINK, duo.end[0].qp->qp_num,
				SRDMA_ERR_MODIFY_RD_ATOMIC,
				"is set once: not to 7 any more"));
	EXPECT_EQ(0, duo_close(&duo));
}

TEST_F(error_verbs, steps_that_a_queue_pair_cannot_take)
{
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_RC);
	struct ibv_qp_attr attr;
	int mask = verbs_mask(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR);

	ASSERT_NE(NULL, qp);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS };
	EXPECT_NE(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	SAYS(MODIFY_STEP, "from RESET to state 3 is no step");
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_INIT, qp->qp_num));
	verbs_attr(&self->set, &attr, IBV_QPS_RTR, qp->qp_num);
	attr.min_rnr_timer = 99;
	EXPECT_NE(0, ibv_modify_qp(qp, &attr, mask));
	SAYS(MODIFY_VALUE, "cannot be 99; it goes up to 31");
	verbs_attr(&self->set, &attr, IBV_QPS_RTR, qp->qp_num);
	attr.path_mtu = IBV_MTU_4096;
	EXPECT_NE(0, ibv_modify_qp(qp, &attr, mask));
	SAYS(MODIFY_MTU, "the path MTU 5 is above that of the port, 3");
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_ERR,
				     .cur_qp_state = IBV_QPS_RTS };
	EXPECT_NE(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE));
	SAYS(MODIFY_CURRENT, "the QP is in INIT, and cur_qp_state is 3");
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_F(error_verbs, requests_before_a_queue_pair_can_send)
{
	struct duo duo = {};

	ASSERT_EQ(0, duo_open(&duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_step(&duo, 0, IBV_QPS_INIT));
	EXPECT_NE(0, duo_send(&duo.end[0], 1, 0, 64, 0));
	EXPECT_TRUE(errlog_says(TOPO_LINK, duo.end[0].qp->qp_num,
				SRDMA_ERR_POST_STATE,
				"a QP in INIT takes no send requests"));
	EXPECT_EQ(0, duo_close(&duo));
}

TEST_F(error_verbs, address_of_another_family)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = { .sgid_index = self->set.gid_index, .hop_limit = 64 },
	};

	attr.grh.dgid.raw[0] = 0xff;
	attr.grh.dgid.raw[1] = 0x0e;
	attr.grh.dgid.raw[15] = 9;
	EXPECT_EQ(NULL, ibv_create_ah(self->set.pd, &attr));
	SAYS(AH_FAMILY, "not both of IPv4 or both of IPv6");
}

TEST_F(error_verbs, memory_that_cannot_be_registered)
{
	EXPECT_EQ(NULL, ibv_reg_mr(self->set.pd, (void *)0x1000, 1ul << 47,
				   0));
	SAYS(MR_LENGTH, "a region of 140737488355328 bytes is longer");
	EXPECT_EQ(NULL, ibv_reg_mr(self->set.pd, (void *)0x1000, 4096, 0));
	SAYS(MR_PIN, "reg_mr failed with EFAULT");
	SAYS(MR_PIN, "its memory, 4096 bytes, cannot be pinned");
}

TEST_F(error_verbs, memory_beyond_the_last_address)
{
	void *buf = aligned_alloc(4096, 8192);

	ASSERT_NE(NULL, buf);
	EXPECT_EQ(NULL, ibv_reg_mr_iova(self->set.pd, buf, 8192,
					0xfffffffffffff000, 0));
	SAYS(MR_WRAPS, "8192 bytes from there go beyond the last address");
	free(buf);
}

TEST_F(error_verbs, group_that_is_full)
{
	struct ibv_device_attr attr;
	union ibv_gid group = {};
	struct ibv_qp *qp[256];
	int i, n;

	ASSERT_EQ(0, ibv_query_device(self->set.ctx, &attr));
	n = attr.max_mcast_qp_attach + 1;
	ASSERT_GE(ARRAY_SIZE(qp), n);
	group.raw[0] = 0xff;
	group.raw[1] = 0x0e;
	group.raw[15] = 77;
	for (i = 0; i < n; i++) {
		qp[i] = verbs_qp(&self->set, IBV_QPT_UD);
		ASSERT_NE(NULL, qp[i]);
		EXPECT_EQ(i == n - 1 ? ENOMEM : 0,
			  ibv_attach_mcast(qp[i], &group, 0));
	}
	SAYS(MCAST_FULL, "the group has as many members as it can");
	for (i = 0; i < n; i++) {
		if (i < n - 1)
			EXPECT_EQ(0, ibv_detach_mcast(qp[i], &group, 0));
		EXPECT_EQ(0, ibv_destroy_qp(qp[i]));
	}
}

TEST_F(error_verbs, rule_that_wants_it)
{
	ASSERT_LE(0, rules_add(TOPO_LINK, "verb create_cq errno ENOMEM"));
	EXPECT_EQ(NULL, ibv_create_cq(self->set.ctx, 16, NULL, NULL, 0));
	SAYS(VERB_RULE, "failed with ENOMEM");
	SAYS(VERB_RULE, "a rule wants create_cq to fail");
	EXPECT_EQ(0, rules_flush(TOPO_LINK));
}

TEST_F(error_verbs, more_objects_than_there_can_be)
{
	struct ibv_srq_init_attr init = { .attr = { 1, 1, 0 } };
	struct ibv_device_attr attr;
	struct ibv_srq **srq;
	int n;

	ASSERT_EQ(0, ibv_query_device(self->set.ctx, &attr));
	srq = calloc(attr.max_srq + 1, sizeof(*srq));
	ASSERT_NE(NULL, srq);
	for (n = 0; n <= attr.max_srq; n++) {
		srq[n] = ibv_create_srq(self->set.pd, &init);
		if (!srq[n])
			break;
	}
	EXPECT_EQ(ENOMEM, errno);
	EXPECT_EQ(attr.max_srq, n);
	SAYS(VERB_OBJECTS, "and cannot have more");
	while (n--)
		EXPECT_EQ(0, ibv_destroy_srq(srq[n]));
	free(srq);
}

TEST_F(error_verbs, region_with_windows)
{
	struct duo duo = {};
	struct ibv_mw *mw = ibv_alloc_mw(self->set.pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {};
	struct ibv_wc wc;
	struct ibv_mr *mr;

	ASSERT_EQ(0, duo_up(&duo, &self->set, &self->set));
	mr = ibv_reg_mr(self->set.pd, duo.end[0].buf, 4096, IBV_ACCESS_MW_BIND);
	ASSERT_NE(NULL, mr);
	ASSERT_NE(NULL, mw);
	bind.bind_info = (struct ibv_mw_bind_info){
		mr, (uintptr_t)duo.end[0].buf, 64, IBV_ACCESS_REMOTE_READ };
	bind.send_flags = IBV_SEND_SIGNALED;
	ASSERT_EQ(0, ibv_bind_mw(duo.end[0].qp, mw, &bind));
	ASSERT_EQ(1, duo_poll(duo.end[0].send_cq, &wc, 1));
	EXPECT_EQ(EBUSY, ibv_dereg_mr(mr));
	SAYS(MR_BOUND, "windows are bound to it");
	EXPECT_EQ(0, ibv_dealloc_mw(mw));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, duo_close(&duo));
}

TEST_HARNESS_MAIN
