// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands as no library sends them: wrong lengths, bad pointers, handles that
 * are not there, udata that should be zero. Each is refused with an errno, and
 * the device still works afterwards.
 */
#include "fixture.h"

#include <rdma/ib_user_verbs.h>

#include "uverbs.h"

#define BAD_POINTER ((void *)(uintptr_t)0x10)

FIXTURE(raw)
{
	int fd;
	int pd;
};

FIXTURE_SETUP(raw)
{
	self->fd = uverbs_open(TOPO_LINK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, uverbs_get_context(self->fd));
	self->pd = uverbs_alloc_pd(self->fd);
	ASSERT_LE(0, self->pd);
}

/* Whatever was sent before: a whole create and destroy still goes through. */
FIXTURE_TEARDOWN(raw)
{
	struct uverbs_ring ring;
	int cq;

	cq = uverbs_create_cq(self->fd, 16, &ring);
	EXPECT_LE(0, cq);
	EXPECT_EQ(0, uverbs_destroy_cq(self->fd, cq));
	close(self->fd);
}

/* What CREATE_CQ answers, with the driver's part behind the core's. */
struct cq_resp {
	struct ib_uverbs_create_cq_resp core;
	struct uverbs_ring ring;
};

static int create_cq(int fd, uint32_t cqe, void *resp, size_t resp_len)
{
	struct ib_uverbs_create_cq command = {
		.cqe = cqe,
		.comp_channel = -1,
	};

	return uverbs_write(fd, IB_USER_VERBS_CMD_CREATE_CQ, &command,
			    sizeof(command), resp, resp_len);
}

TEST_F(raw, commands_before_get_context_are_refused)
{
	int fd = uverbs_open(TOPO_LINK);

	ASSERT_LE(0, fd);
	EXPECT_GT(0, uverbs_alloc_pd(fd));
	EXPECT_EQ(0, uverbs_get_context(fd));
	EXPECT_EQ(-EINVAL, uverbs_get_context(fd));
	EXPECT_LE(0, uverbs_alloc_pd(fd));
	close(fd);
}

TEST_F(raw, create_cq_answers_where_the_ring_is)
{
	struct cq_resp resp = {};

	ASSERT_EQ(0, create_cq(self->fd, 100, &resp, sizeof(resp)));
	EXPECT_LE(100, resp.core.cqe);
	EXPECT_EQ(0, resp.ring.pad);
	EXPECT_EQ(0, resp.ring.offset % 4096);
	/* Header, 101 slots or more, 64 bytes each. */
	EXPECT_LE(384 + 101 * 64, resp.ring.size);
	EXPECT_EQ(0, uverbs_destroy_cq(self->fd, resp.core.cq_handle));
}

/* Without room for the ring's place, the queue would be of no use. */
TEST_F(raw, create_cq_with_a_short_answer_is_refused)
{
	struct cq_resp resp = {};
	size_t len;

	for (len = sizeof(resp.core); len < sizeof(resp); len += 4)
		EXPECT_GT(0, create_cq(self->fd, 16, &resp, len)) {
			TH_LOG("answer of %zu bytes", len);
		}
}

TEST_F(raw, create_cq_of_wild_sizes_is_refused)
{
	static const uint32_t sizes[] = {
		0, 0x80000000u, 0x7fffffffu, 0xffffffffu, 0x40000000u,
	};
	struct cq_resp resp;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		EXPECT_EQ(-EINVAL, create_cq(self->fd, sizes[i], &resp,
					     sizeof(resp))) {
			TH_LOG("%#x entries", sizes[i]);
		}
}

TEST_F(raw, unwritable_answer_leaves_nothing_behind)
{
	int i;

	for (i = 0; i < 200; i++)
		ASSERT_EQ(-EFAULT, create_cq(self->fd, 64, BAD_POINTER,
					     sizeof(struct cq_resp)));
}

/* The answer starts on a good page and ends on none. */
TEST_F(raw, answer_that_faults_half_way_leaves_nothing_behind)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, munmap(page + 4096, 4096));
	for (i = 0; i < 200; i++)
		ASSERT_EQ(-EFAULT, create_cq(self->fd, 64, page + 4096 - 8,
					     sizeof(struct cq_resp)));
	for (i = 0; i < 200; i++)
		ASSERT_EQ(-EFAULT, create_cq(self->fd, 64, page + 4096 - 16,
					     sizeof(struct cq_resp)));
}

static void cq_command(struct ib_uverbs_ex_create_cq *command)
{
	memset(command, 0, sizeof(*command));
	command->cqe = 16;
	command->comp_channel = -1;
}

TEST_F(raw, unknown_cq_flags_are_refused)
{
	struct {
		struct ib_uverbs_ex_create_cq_resp core;
		struct uverbs_ring ring;
	} resp;
	struct ib_uverbs_ex_create_cq command;

	cq_command(&command);
	command.flags = 1u << 20;
	EXPECT_GT(0, uverbs_write_ex(self->fd, IB_USER_VERBS_EX_CMD_CREATE_CQ,
				     &command, sizeof(command),
				     sizeof(command), &resp, sizeof(resp),
				     sizeof(resp.core)));
	/* Timestamps would be promised and not delivered. */
	command.flags = 1;
	EXPECT_GT(0, uverbs_write_ex(self->fd, IB_USER_VERBS_EX_CMD_CREATE_CQ,
				     &command, sizeof(command),
				     sizeof(command), &resp, sizeof(resp),
				     sizeof(resp.core)));
	command.flags = 0;
	EXPECT_EQ(0, uverbs_write_ex(self->fd, IB_USER_VERBS_EX_CMD_CREATE_CQ,
				     &command, sizeof(command),
				     sizeof(command), &resp, sizeof(resp),
				     sizeof(resp.core)));
	EXPECT_EQ(0, uverbs_destroy_cq(self->fd, resp.core.base.cq_handle));
}

/* udata that a later library might mean something by must not be ignored. */
TEST_F(raw, unknown_udata_is_refused)
{
	struct {
		struct ib_uverbs_ex_create_cq core;
		uint64_t udata;
	} command = {};
	struct {
		struct ib_uverbs_ex_create_cq_resp core;
		struct uverbs_ring ring;
	} resp;

	cq_command(&command.core);
	command.udata = 1;
	EXPECT_GT(0, uverbs_write_ex(self->fd, IB_USER_VERBS_EX_CMD_CREATE_CQ,
				     &command, sizeof(command),
				     sizeof(command.core), &resp, sizeof(resp),
				     sizeof(resp.core)));
}

struct qp_resp {
	struct ib_uverbs_create_qp_resp core;
	struct uverbs_ring rq;
	struct uverbs_ring sq;
};

static int create_qp(int fd, struct ib_uverbs_create_qp *command, void *resp,
		     size_t resp_len)
{
	return uverbs_write(fd, IB_USER_VERBS_CMD_CREATE_QP, command,
			    sizeof(*command), resp, resp_len);
}

static void qp_command(struct ib_uverbs_create_qp *command, int pd, int cq)
{
	memset(command, 0, sizeof(*command));
	command->pd_handle = pd;
	command->send_cq_handle = cq;
	command->recv_cq_handle = cq;
	command->max_send_wr = 8;
	command->max_recv_wr = 8;
	command->max_send_sge = 1;
	command->max_recv_sge = 1;
	command->qp_type = IBV_QPT_RC;
}

static int destroy_qp(int fd, uint32_t handle)
{
	struct ib_uverbs_destroy_qp_resp resp;
	struct ib_uverbs_destroy_qp command = { .qp_handle = handle };

	return uverbs_write(fd, IB_USER_VERBS_CMD_DESTROY_QP, &command,
			    sizeof(command), &resp, sizeof(resp));
}

TEST_F(raw, create_qp_checks_handles_lengths_and_pointers)
{
	struct ib_uverbs_create_qp command;
	struct uverbs_ring ring;
	struct qp_resp resp;
	size_t len;
	int cq, i;

	cq = uverbs_create_cq(self->fd, 16, &ring);
	ASSERT_LE(0, cq);
	qp_command(&command, self->pd, cq);
	ASSERT_EQ(0, create_qp(self->fd, &command, &resp, sizeof(resp)));
	EXPECT_NE(resp.rq.offset, resp.sq.offset);
	/* A send slot is 208 bytes and an SGE: nine of 256, or more. */
	EXPECT_LE(384 + 9 * 256, resp.sq.size);
	EXPECT_EQ(0, destroy_qp(self->fd, resp.core.qp_handle));

	for (len = sizeof(resp.core); len < sizeof(resp); len += 4)
		EXPECT_GT(0, create_qp(self->fd, &command, &resp, len));
	for (i = 0; i < 100; i++)
		ASSERT_EQ(-EFAULT, create_qp(self->fd, &command, BAD_POINTER,
					     sizeof(resp)));
	command.pd_handle = 0xfff0;
	EXPECT_GT(0, create_qp(self->fd, &command, &resp, sizeof(resp)));
	command.pd_handle = self->pd;
	command.send_cq_handle = 0xfff0;
	EXPECT_GT(0, create_qp(self->fd, &command, &resp, sizeof(resp)));
	/* A handle of the wrong kind. */
	command.send_cq_handle = self->pd;
	if (self->pd != cq)
		EXPECT_GT(0, create_qp(self->fd, &command, &resp,
				       sizeof(resp)));
	EXPECT_EQ(0, uverbs_destroy_cq(self->fd, cq));
}

TEST_F(raw, create_qp_of_wild_sizes_is_refused)
{
	static const uint32_t wild[] = {
		0x7fffffffu, 0x80000000u, 0xffffffffu, 0x00ffffffu,
	};
	struct ib_uverbs_create_qp command;
	struct uverbs_ring ring;
	struct qp_resp resp;
	unsigned int i;
	int cq;

	cq = uverbs_create_cq(self->fd, 16, &ring);
	ASSERT_LE(0, cq);
	for (i = 0; i < ARRAY_SIZE(wild); i++) {
		qp_command(&command, self->pd, cq);
		command.max_send_wr = wild[i];
		EXPECT_GT(0, create_qp(self->fd, &command, &resp,
				       sizeof(resp)));
		qp_command(&command, self->pd, cq);
		command.max_recv_wr = wild[i];
		EXPECT_GT(0, create_qp(self->fd, &command, &resp,
				       sizeof(resp)));
		qp_command(&command, self->pd, cq);
		command.max_send_sge = wild[i];
		EXPECT_GT(0, create_qp(self->fd, &command, &resp,
				       sizeof(resp)));
		qp_command(&command, self->pd, cq);
		command.max_inline_data = wild[i];
		EXPECT_GT(0, create_qp(self->fd, &command, &resp,
				       sizeof(resp)));
	}
	EXPECT_EQ(0, uverbs_destroy_cq(self->fd, cq));
}

struct srq_resp {
	struct ib_uverbs_create_srq_resp core;
	struct uverbs_ring ring;
	uint32_t srq_num;
	uint32_t reserved;
};

static int create_srq(int fd, int pd, uint32_t wr, uint32_t sge,
		      struct srq_resp *resp, size_t resp_len)
{
	struct ib_uverbs_create_srq command = {
		.pd_handle = pd,
		.max_wr = wr,
		.max_sge = sge,
	};

	return uverbs_write(fd, IB_USER_VERBS_CMD_CREATE_SRQ, &command,
			    sizeof(command), resp, resp_len);
}

TEST_F(raw, create_srq_checks_lengths_and_sizes)
{
	struct ib_uverbs_destroy_srq_resp destroyed;
	struct ib_uverbs_destroy_srq destroy = {};
	struct srq_resp resp = {};
	size_t len;

	ASSERT_EQ(0, create_srq(self->fd, self->pd, 16, 1, &resp,
				sizeof(resp)));
	EXPECT_NE(0, resp.ring.size);
	EXPECT_EQ(0, resp.reserved);
	destroy.srq_handle = resp.core.srq_handle;
	EXPECT_EQ(0, uverbs_write(self->fd, IB_USER_VERBS_CMD_DESTROY_SRQ,
				  &destroy, sizeof(destroy), &destroyed,
				  sizeof(destroyed)));
	for (len = sizeof(resp.core); len < sizeof(resp.core) + 16; len += 4)
		EXPECT_GT(0, create_srq(self->fd, self->pd, 16, 1, &resp,
					len));
	EXPECT_GT(0, create_srq(self->fd, self->pd, 0xffffffff, 1, &resp,
				sizeof(resp)));
	EXPECT_GT(0, create_srq(self->fd, self->pd, 16, 0xffffffff, &resp,
				sizeof(resp)));
}

TEST_F(raw, srq_numbers_differ)
{
	struct srq_resp resp[16] = {};
	int i, j;

	for (i = 0; i < 16; i++) {
		ASSERT_EQ(0, create_srq(self->fd, self->pd, 16, 1, &resp[i],
					sizeof(resp[i])));
		for (j = 0; j < i; j++)
			EXPECT_NE(resp[j].srq_num, resp[i].srq_num);
	}
}

/* MODIFY_SRQ carries a pointer of its own, for the resized ring's place. */
TEST_F(raw, modify_srq_with_a_bad_pointer_keeps_the_queue)
{
	struct {
		struct ib_uverbs_modify_srq core;
		uint64_t pointer;
	} command = {};
	struct uverbs_ring moved = {};
	struct srq_resp resp = {};
	int i;

	ASSERT_EQ(0, create_srq(self->fd, self->pd, 16, 1, &resp,
				sizeof(resp)));
	command.core.srq_handle = resp.core.srq_handle;
	command.core.attr_mask = IBV_SRQ_MAX_WR;
	command.core.max_wr = 64;
	command.pointer = (uintptr_t)BAD_POINTER;
	for (i = 0; i < 100; i++)
		ASSERT_EQ(-EFAULT,
			  uverbs_write(self->fd, IB_USER_VERBS_CMD_MODIFY_SRQ,
				       &command, sizeof(command), NULL, 0));
	command.pointer = (uintptr_t)&moved;
	EXPECT_EQ(0, uverbs_write(self->fd, IB_USER_VERBS_CMD_MODIFY_SRQ,
				  &command, sizeof(command), NULL, 0));
	EXPECT_LT(resp.ring.size, moved.size);
	/* Unknown attribute bits. */
	command.core.attr_mask = 1u << 10;
	EXPECT_GT(0, uverbs_write(self->fd, IB_USER_VERBS_CMD_MODIFY_SRQ,
				  &command, sizeof(command), NULL, 0));
}

TEST_F(raw, resize_cq_with_a_bad_pointer_keeps_the_queue)
{
	struct {
		struct ib_uverbs_resize_cq_resp core;
		struct uverbs_ring ring;
	} resp = {};
	struct ib_uverbs_resize_cq command = {};
	struct uverbs_ring ring;
	int cq, i;

	cq = uverbs_create_cq(self->fd, 16, &ring);
	ASSERT_LE(0, cq);
	command.cq_handle = cq;
	command.cqe = 200;
	for (i = 0; i < 100; i++)
		ASSERT_EQ(-EFAULT,
			  uverbs_write(self->fd, IB_USER_VERBS_CMD_RESIZE_CQ,
				       &command, sizeof(command), BAD_POINTER,
				       sizeof(resp)));
	EXPECT_EQ(0, uverbs_write(self->fd, IB_USER_VERBS_CMD_RESIZE_CQ,
				  &command, sizeof(command), &resp,
				  sizeof(resp)));
	EXPECT_NE(ring.offset, resp.ring.offset);
	EXPECT_EQ(0, uverbs_destroy_cq(self->fd, cq));
}

/*
 * What answers do not set is zero, and not what the kernel had there before: on
 * the debug kernel that is a pattern.
 */
TEST_F(raw, pads_of_answers_are_zero)
{
	struct {
		struct ib_uverbs_resize_cq_resp core;
		struct uverbs_ring ring;
	} resized;
	struct {
		struct ib_uverbs_modify_srq core;
		uint64_t pointer;
	} modify = {};
	struct ib_uverbs_resize_cq resize = { .cqe = 200 };
	struct ib_uverbs_create_qp command;
	struct uverbs_ring moved;
	struct srq_resp srq;
	struct cq_resp cq;
	struct qp_resp qp;

	memset(&cq, 0xff, sizeof(cq));
	memset(&qp, 0xff, sizeof(qp));
	memset(&srq, 0xff, sizeof(srq));
	memset(&moved, 0xff, sizeof(moved));
	memset(&resized, 0xff, sizeof(resized));

	ASSERT_EQ(0, create_cq(self->fd, 16, &cq, sizeof(cq)));
	EXPECT_EQ(0, cq.ring.pad);
	resize.cq_handle = cq.core.cq_handle;
	ASSERT_EQ(0, uverbs_write(self->fd, IB_USER_VERBS_CMD_RESIZE_CQ,
				  &resize, sizeof(resize), &resized,
				  sizeof(resized)));
	EXPECT_EQ(0, resized.ring.pad);

	qp_command(&command, self->pd, cq.core.cq_handle);
	ASSERT_EQ(0, create_qp(self->fd, &command, &qp, sizeof(qp)));
	EXPECT_EQ(0, qp.rq.pad);
	EXPECT_EQ(0, qp.sq.pad);

	ASSERT_EQ(0, create_srq(self->fd, self->pd, 16, 1, &srq, sizeof(srq)));
	EXPECT_EQ(0, srq.ring.pad);
	EXPECT_EQ(0, srq.reserved);
	modify.core.srq_handle = srq.core.srq_handle;
	modify.core.attr_mask = IBV_SRQ_MAX_WR;
	modify.core.max_wr = 64;
	modify.pointer = (uintptr_t)&moved;
	ASSERT_EQ(0, uverbs_write(self->fd, IB_USER_VERBS_CMD_MODIFY_SRQ,
				  &modify, sizeof(modify), NULL, 0));
	EXPECT_EQ(0, moved.pad);
	/* A QP that receives from an SRQ has no ring of its own for that. */
	command.srq_handle = srq.core.srq_handle;
	command.is_srq = 1;
	memset(&qp, 0xff, sizeof(qp));
	ASSERT_EQ(0, create_qp(self->fd, &command, &qp, sizeof(qp)));
	EXPECT_EQ(0, qp.rq.offset);
	EXPECT_EQ(0, qp.rq.size);
	EXPECT_EQ(0, qp.rq.pad);
}

TEST_F(raw, modify_qp_with_unknown_bits_is_refused)
{
	struct ib_uverbs_modify_qp modify = {};
	struct ib_uverbs_create_qp command;
	struct uverbs_ring ring;
	struct qp_resp resp;
	int cq, bit;

	cq = uverbs_create_cq(self->fd, 16, &ring);
	ASSERT_LE(0, cq);
	qp_command(&command, self->pd, cq);
	ASSERT_EQ(0, create_qp(self->fd, &command, &resp, sizeof(resp)));
	modify.qp_handle = resp.core.qp_handle;
	modify.qp_state = IBV_QPS_INIT;
	modify.port_num = VERBS_PORT;
	for (bit = 21; bit < 32; bit++) {
		modify.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				   IBV_QP_PORT | IBV_QP_ACCESS_FLAGS |
				   (1u << bit);
		EXPECT_GT(0, uverbs_write(self->fd,
					  IB_USER_VERBS_CMD_MODIFY_QP,
					  &modify, sizeof(modify), NULL, 0)) {
			TH_LOG("attribute bit %d", bit);
		}
	}
	EXPECT_EQ(0, destroy_qp(self->fd, resp.core.qp_handle));
	EXPECT_EQ(0, uverbs_destroy_cq(self->fd, cq));
}

static int modify_qp(int fd, uint32_t handle, enum ibv_qp_state state)
{
	struct ib_uverbs_modify_qp command = {
		.qp_handle = handle,
		.attr_mask = IBV_QP_STATE,
		.qp_state = state,
		.port_num = VERBS_PORT,
	};

	if (state == IBV_QPS_INIT)
		command.attr_mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     IBV_QP_ACCESS_FLAGS;
	return uverbs_write(fd, IB_USER_VERBS_CMD_MODIFY_QP, &command,
			    sizeof(command), NULL, 0);
}

/*
 * A QP in error takes requests, without a peer. What the address of an inline
 * one points to, if anybody copied it, would be the kernel's.
 */
TEST_F(raw, post_send_with_requests_in_the_command_is_refused_in_error_too)
{
	struct {
		struct ib_uverbs_post_send core;
		struct ib_uverbs_send_wr wr;
		struct ib_uverbs_sge sge;
	} command = {};
	struct ib_uverbs_post_send_resp posted = {};
	struct ib_uverbs_create_qp create;
	struct uverbs_ring ring;
	struct qp_resp resp;
	int cq;

	cq = uverbs_create_cq(self->fd, 16, &ring);
	ASSERT_LE(0, cq);
	qp_command(&create, self->pd, cq);
	create.max_inline_data = 64;
	ASSERT_EQ(0, create_qp(self->fd, &create, &resp, sizeof(resp)));
	ASSERT_EQ(0, modify_qp(self->fd, resp.core.qp_handle, IBV_QPS_INIT));
	ASSERT_EQ(0, modify_qp(self->fd, resp.core.qp_handle, IBV_QPS_ERR));

	command.core.qp_handle = resp.core.qp_handle;
	command.core.wqe_size = sizeof(command.wr);
	/* A doorbell is all right. */
	EXPECT_EQ(0, uverbs_write(self->fd, IB_USER_VERBS_CMD_POST_SEND,
				  &command, sizeof(command.core), &posted,
				  sizeof(posted)));
	command.core.wr_count = 1;
	command.wr.opcode = IB_UVERBS_WR_SEND;
	ASSERT_EQ(-EINVAL,
		  uverbs_write(self->fd, IB_USER_VERBS_CMD_POST_SEND, &command,
			       sizeof(command) - sizeof(command.sge), &posted,
			       sizeof(posted)));
	EXPECT_EQ(1, posted.bad_wr);
	command.core.sge_count = 1;
	command.wr.num_sge = 1;
	command.wr.send_flags = IBV_SEND_INLINE;
	command.sge.addr = 0xdead000000000000;
	command.sge.length = 64;
	EXPECT_EQ(-EINVAL,
		  uverbs_write(self->fd, IB_USER_VERBS_CMD_POST_SEND, &command,
			       sizeof(command), &posted, sizeof(posted)));
	EXPECT_EQ(0, destroy_qp(self->fd, resp.core.qp_handle));
	EXPECT_EQ(0, uverbs_destroy_cq(self->fd, cq));
}

/* What would read or write the rings of user space is not for it to call. */
TEST_F(raw, receives_and_completions_are_the_rings_alone)
{
	static const int commands[] = {
		IB_USER_VERBS_CMD_POST_RECV,
		IB_USER_VERBS_CMD_POST_SRQ_RECV,
		IB_USER_VERBS_CMD_POLL_CQ,
		IB_USER_VERBS_CMD_PEEK_CQ,
	};
	uint32_t body[32] = {}, resp[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		EXPECT_EQ(-EOPNOTSUPP,
			  uverbs_write(self->fd, commands[i], body,
				       sizeof(body), resp, sizeof(resp)))
			TH_LOG("command %d", commands[i]);
}

/* Work requests come by the ring; through the command there are none. */
TEST_F(raw, post_send_with_requests_in_the_command_is_refused)
{
	struct {
		struct ib_uverbs_post_send core;
		struct ib_uverbs_send_wr wr;
	} command = {};
	struct ib_uverbs_post_send_resp posted;
	struct ib_uverbs_create_qp create;
	struct uverbs_ring ring;
	struct qp_resp resp;
	int cq;

	cq = uverbs_create_cq(self->fd, 16, &ring);
	ASSERT_LE(0, cq);
	qp_command(&create, self->pd, cq);
	ASSERT_EQ(0, create_qp(self->fd, &create, &resp, sizeof(resp)));
	command.core.qp_handle = resp.core.qp_handle;
	command.core.wr_count = 1;
	command.core.wqe_size = sizeof(command.wr);
	EXPECT_GT(0, uverbs_write(self->fd, IB_USER_VERBS_CMD_POST_SEND,
				  &command, sizeof(command), &posted,
				  sizeof(posted)));
	/* And a doorbell for a QP that may not send yet says so. */
	command.core.wr_count = 0;
	command.core.wqe_size = sizeof(command.wr);
	EXPECT_GT(0, uverbs_write(self->fd, IB_USER_VERBS_CMD_POST_SEND,
				  &command, sizeof(command.core), &posted,
				  sizeof(posted)));
	EXPECT_EQ(0, destroy_qp(self->fd, resp.core.qp_handle));
	EXPECT_EQ(0, uverbs_destroy_cq(self->fd, cq));
}

/* Every command number with a body of noise: no crash, and errno each time. */
TEST_F(raw, noise_in_every_command)
{
	uint32_t body[32], resp[64];
	unsigned int seed = 20260101;
	int command, round, i, ret;

	for (command = 0; command < 45; command++) {
		/* Those that open a descriptor or wait would do just that. */
		if (command == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL ||
		    command == IB_USER_VERBS_CMD_OPEN_XRCD)
			continue;
		for (round = 0; round < 20; round++) {
			for (i = 0; i < 32; i++)
				body[i] = rand_r(&seed);
			ret = uverbs_write(self->fd, command, body,
					   4 * (2 + rand_r(&seed) % 30), resp,
					   4 * (rand_r(&seed) % 64));
			EXPECT_GE(0, ret);
		}
	}
}

TEST_HARNESS_MAIN
