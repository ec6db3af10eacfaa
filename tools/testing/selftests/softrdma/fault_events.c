// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rules about more than a packet: work requests that fail, verbs that do, queues,
 * QPs, ports and devices that break (Documentation/softrdma/guide/faults.rst).
 */
#include "fixture.h"

#include "duo.h"
#include "nldev.h"
#include "rules.h"
#include "uverbs.h"

FIXTURE(fault_events)
{
	struct verbs_set set;
	struct duo duo;
	bool removed;
};

FIXTURE_SETUP(fault_events)
{
	memset(&self->duo, 0, sizeof(self->duo));
	ASSERT_EQ(0, rules_flush(TOPO_LINK));
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
}

/* The interface has its link until all of that is gone, a little later. */
static int add_again(void)
{
	long end = topo_now_ms() + DUO_WAIT_MS;
	int ret;

	do {
		usleep(100000);
		ret = topo_link_add(TOPO_LINK, TOPO_NETDEV);
	} while (ret == -EEXIST && topo_now_ms() < end);
	return ret;
}

FIXTURE_TEARDOWN(fault_events)
{
	if (self->removed) {
		EXPECT_EQ(0, add_again());
		return;
	}
	EXPECT_EQ(0, rules_flush(TOPO_LINK));
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

static int send_status(struct duo *duo)
{
	struct ibv_wc wc;

	if (duo_recv(&duo->end[1], 1, 0, 64) ||
	    duo_send(&duo->end[0], 1, 0, 64, 0) ||
	    duo_poll(duo->end[0].send_cq, &wc, 1) != 1)
		return -1;
	return wc.status;
}

/* ---- work requests ---- */

TEST_F(fault_events, a_request_completes_with_the_status_that_is_asked_for)
{
	static const struct {
		const char *word;
		int status;
	} all[] = {
		{ "LOC_LEN_ERR", IBV_WC_LOC_LEN_ERR },
		{ "LOC_QP_OP_ERR", IBV_WC_LOC_QP_OP_ERR },
		{ "LOC_PROT_ERR", IBV_WC_LOC_PROT_ERR },
		{ "MW_BIND_ERR", IBV_WC_MW_BIND_ERR },
		{ "BAD_RESP_ERR", IBV_WC_BAD_RESP_ERR },
		{ "LOC_ACCESS_ERR", IBV_WC_LOC_ACCESS_ERR },
		{ "REM_INV_REQ_ERR", IBV_WC_REM_INV_REQ_ERR },
		{ "REM_ACCESS_ERR", IBV_WC_REM_ACCESS_ERR },
		{ "REM_OP_ERR", IBV_WC_REM_OP_ERR },
		{ "RETRY_EXC_ERR", IBV_WC_RETRY_EXC_ERR },
		{ "RNR_RETRY_EXC_ERR", IBV_WC_RNR_RETRY_EXC_ERR },
		{ "FATAL_ERR", IBV_WC_FATAL_ERR },
	};
	int i, id;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
		id = rules_add(TOPO_LINK, "wr op SEND nth 2 status %s",
			       all[i].word);
		ASSERT_LT(0, id);
		EXPECT_EQ(0, send_status(&self->duo));
		EXPECT_EQ(all[i].status, send_status(&self->duo));
		EXPECT_EQ(1, rules_hits(TOPO_LINK, id));
		ASSERT_EQ(0, rules_flush(TOPO_LINK));
		ASSERT_EQ(0, duo_close(&self->duo));
	}
}

/* ---- verbs ---- */

/* The verb fails, with that errno, once. */
#define EXPECT_FAILS(word, errno_word, call)				\
	do {								\
		ASSERT_LT(0, rules_add(TOPO_LINK,			\
				       "verb " word " times 1 errno "	\
				       #errno_word));			\
		errno = 0;						\
		EXPECT_EQ(NULL, call);					\
		EXPECT_EQ(errno_word, errno);				\
		ASSERT_EQ(0, rules_flush(TOPO_LINK));			\
	} while (0)

TEST_F(fault_events, verbs_fail_with_the_errno_that_is_asked_for)
{
	struct verbs_set *set = &self->set;
	struct ibv_srq_init_attr srq = { .attr = { 16, 1, 0 } };
	struct ibv_qp_init_attr init = {
		.send_cq = set->cq,
		.recv_cq = set->cq,
		.cap = { 4, 4, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_ah_attr ah = {
		.is_global = 1,
		.port_num = VERBS_PORT,
		.grh = { .dgid = set->gid, .sgid_index = set->gid_index },
	};
	static uint8_t mem[4096];

	EXPECT_FAILS("alloc_pd", ENOMEM, ibv_alloc_pd(set->ctx));
	EXPECT_FAILS("create_cq", ENOSPC,
		     ibv_create_cq(set->ctx, 16, NULL, NULL, 0));
	EXPECT_FAILS("create_srq", EAGAIN, ibv_create_srq(set->pd, &srq));
	EXPECT_FAILS("create_qp", ENOMEM, ibv_create_qp(set->pd, &init));
	EXPECT_FAILS("create_ah", EHOSTUNREACH, ibv_create_ah(set->pd, &ah));
	EXPECT_FAILS("reg_mr", EFAULT,
		     ibv_reg_mr(set->pd, mem, sizeof(mem), 0));
	EXPECT_FAILS("alloc_mw", EPERM, ibv_alloc_mw(set->pd, IBV_MW_TYPE_1));
}

/* By the old command: with the new one the core loses a task when this fails. */
TEST_F(fault_events, a_device_cannot_be_opened)
{
	int fd = uverbs_open(TOPO_LINK);

	ASSERT_LE(0, fd);
	ASSERT_LT(0, rules_add(TOPO_LINK,
			       "verb open_device times 1 errno EIO"));
	EXPECT_EQ(EIO, abs(uverbs_get_context(fd)));
	EXPECT_EQ(0, uverbs_get_context(fd));
	close(fd);
}

TEST_F(fault_events, each_step_of_a_connection_can_fail)
{
	static const char * const steps[] = {
		[IBV_QPS_INIT] = "init", [IBV_QPS_RTR] = "rtr",
		[IBV_QPS_RTS] = "rts",
	};
	int i;

	ASSERT_EQ(0, duo_open(&self->duo, &self->set, &self->set));
	for (i = IBV_QPS_INIT; i <= IBV_QPS_RTS; i++) {
		ASSERT_LT(0, rules_add(TOPO_LINK,
				       "verb modify_qp_%s qp %u times 1 errno ETIMEDOUT",
				       steps[i], self->duo.end[0].qp->qp_num));
		EXPECT_EQ(ETIMEDOUT, duo_step(&self->duo, 0, i));
		EXPECT_EQ(0, duo_step(&self->duo, 0, i));
		EXPECT_EQ(0, duo_step(&self->duo, 1, i));
	}
	EXPECT_EQ(0, send_status(&self->duo));
}

/* ---- QPs and their queues ---- */

#define EXPECT_EVENT(type)						\
	EXPECT_EQ(0, verbs_wait_event(self->set.ctx, type, DUO_WAIT_MS))

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = {};

	ibv_query_qp(qp, &attr, IBV_QP_STATE, &init);
	return attr.qp_state;
}

static bool await_error(struct ibv_qp *qp)
{
	long end = topo_now_ms() + DUO_WAIT_MS;

	while (state_of(qp) != IBV_QPS_ERR)
		if (topo_now_ms() > end)
			return false;
	return true;
}

TEST_F(fault_events, a_qp_breaks_at_once)
{
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	EXPECT_EQ(0, rules_add(TOPO_LINK, "now qp %u qp-fatal",
			       self->duo.end[0].qp->qp_num));
	EXPECT_EVENT(IBV_EVENT_QP_FATAL);
	EXPECT_TRUE(await_error(self->duo.end[0].qp));
	EXPECT_EQ(0, rules_add(TOPO_LINK, "qp %u qp-error",
			       self->duo.end[1].qp->qp_num));
	EXPECT_TRUE(await_error(self->duo.end[1].qp));
	EXPECT_EQ(0, duo_count_events(self->set.ctx, IBV_EVENT_QP_FATAL));
}

TEST_F(fault_events, a_qp_breaks_when_its_third_packet_comes)
{
	struct ibv_qp *qp = self->duo.end[1].qp;
	int i;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	qp = self->duo.end[1].qp;
	ASSERT_LT(0, rules_add(TOPO_LINK, "rx qp %u op SEND* nth 3 qp-fatal",
			       qp->qp_num));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, send_status(&self->duo));
	EXPECT_EQ(IBV_QPS_RTS, state_of(qp));
	duo_recv(&self->duo.end[1], 1, 0, 64);
	duo_send(&self->duo.end[0], 1, 0, 64, 0);
	EXPECT_EVENT(IBV_EVENT_QP_FATAL);
	EXPECT_TRUE(await_error(qp));
}

TEST_F(fault_events, the_last_receive_of_a_qp_is_told_of)
{
	struct ibv_srq_init_attr init = { .attr = { 16, 1, 0 } };

	self->duo.srq = ibv_create_srq(self->set.pd, &init);
	ASSERT_NE(NULL, self->duo.srq);
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	EXPECT_EQ(0, rules_add(TOPO_LINK, "qp %u last-wqe",
			       self->duo.end[1].qp->qp_num));
	EXPECT_EVENT(IBV_EVENT_QP_LAST_WQE_REACHED);
	EXPECT_EQ(0, duo_count_events(self->set.ctx,
				      IBV_EVENT_QP_LAST_WQE_REACHED));
	EXPECT_EQ(0, rules_add(TOPO_LINK, "qp %u srq-error",
			       self->duo.end[0].qp->qp_num));
	EXPECT_EVENT(IBV_EVENT_SRQ_ERR);
	EXPECT_TRUE(await_error(self->duo.end[0].qp));
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, ibv_destroy_srq(self->duo.srq));
	self->duo.srq = NULL;
}

TEST_F(fault_events, a_full_queue_loses_a_completion_and_breaks)
{
	struct ibv_wc wc;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	EXPECT_EQ(0, send_status(&self->duo));
	EXPECT_EQ(0, rules_add(TOPO_LINK, "qp %u cq-overrun",
			       self->duo.end[0].qp->qp_num));
	EXPECT_EQ(0, duo_count_events(self->set.ctx, IBV_EVENT_CQ_ERR));
	ASSERT_EQ(0, duo_recv(&self->duo.end[1], 1, 0, 64));
	ASSERT_EQ(0, duo_send(&self->duo.end[0], 1, 0, 64, 0));
	EXPECT_EVENT(IBV_EVENT_CQ_ERR);
	EXPECT_TRUE(await_error(self->duo.end[0].qp));
	EXPECT_EQ(0, ibv_poll_cq(self->duo.end[0].send_cq, 1, &wc));
}

#define EXPECT_CQ_ERR(which)						\
	do {								\
		struct ibv_async_event event;				\
									\
		ASSERT_EQ(0, duo_event(self->set.ctx, &event,		\
				       DUO_WAIT_MS));			\
		EXPECT_EQ(IBV_EVENT_CQ_ERR, event.event_type);		\
		EXPECT_EQ(which, event.element.cq);			\
		ibv_ack_async_event(&event);				\
	} while (0)

/* That of what is sent, or that of what is received. */
TEST_F(fault_events, a_queue_breaks_by_itself)
{
	struct duo_end *end = self->duo.end;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	EXPECT_EQ(0, rules_add(TOPO_LINK, "qp %u cq-error",
			       end[0].qp->qp_num));
	EXPECT_CQ_ERR(end[0].send_cq);
	EXPECT_TRUE(await_error(end[0].qp));
	ASSERT_EQ(0, duo_close(&self->duo));

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_LT(0, rules_add(TOPO_LINK, "rx op SEND* cq-error"));
	ASSERT_EQ(0, duo_recv(&end[1], 1, 0, 64));
	ASSERT_EQ(0, duo_send(&end[0], 1, 0, 64, 0));
	EXPECT_CQ_ERR(end[1].recv_cq);
	EXPECT_TRUE(await_error(end[1].qp));
}

/* ---- the port and the device ---- */

TEST_F(fault_events, the_port_goes_down_and_comes_up)
{
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	EXPECT_EQ(0, rules_add(TOPO_LINK, "port-down"));
	EXPECT_EVENT(IBV_EVENT_PORT_ERR);
	EXPECT_EQ(IBV_PORT_DOWN, verbs_port_state(self->set.ctx));
	EXPECT_EQ(0, rules_add(TOPO_LINK, "port-up"));
	EXPECT_EVENT(IBV_EVENT_PORT_ACTIVE);
	EXPECT_EQ(IBV_PORT_ACTIVE, verbs_port_state(self->set.ctx));
	EXPECT_EQ(0, send_status(&self->duo));
}

/* Nothing is lost for good: what was sent meanwhile arrives when it is up. */
TEST_F(fault_events, the_port_flaps)
{
	long begin = topo_now_ms();

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	EXPECT_EQ(0, rules_add(TOPO_LINK, "port-down 300ms"));
	EXPECT_EVENT(IBV_EVENT_PORT_ERR);
	EXPECT_EQ(0, send_status(&self->duo));
	EXPECT_LE(300, topo_now_ms() - begin);
	EXPECT_EVENT(IBV_EVENT_PORT_ACTIVE);
}

TEST_F(fault_events, addresses_seem_to_change)
{
	EXPECT_EQ(0, rules_add(TOPO_LINK, "gid-change"));
	EXPECT_EVENT(IBV_EVENT_GID_CHANGE);
}

TEST_F(fault_events, a_broken_device_carries_nothing)
{
	struct ibv_wc wc;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	EXPECT_EQ(0, rules_add(TOPO_LINK, "device-fatal"));
	EXPECT_EVENT(IBV_EVENT_DEVICE_FATAL);
	EXPECT_EQ(IBV_PORT_DOWN, verbs_port_state(self->set.ctx));
	ASSERT_EQ(0, duo_recv(&self->duo.end[1], 1, 0, 64));
	ASSERT_EQ(0, duo_send(&self->duo.end[0], 1, 0, 64, 0));
	EXPECT_EQ(0, ibv_poll_cq(self->duo.end[1].recv_cq, 1, &wc));
	EXPECT_EQ(0, rules_add(TOPO_LINK, "port-up"));
	EXPECT_EQ(1, duo_poll(self->duo.end[1].recv_cq, &wc, 1));
}

TEST_F(fault_events, the_link_is_removed)
{
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	self->removed = true;
	ASSERT_LT(0, rules_add(TOPO_LINK, "rx op SEND* nth 1 remove"));
	duo_recv(&self->duo.end[1], 1, 0, 64);
	duo_send(&self->duo.end[0], 1, 0, 64, 0);
	EXPECT_EVENT(IBV_EVENT_DEVICE_FATAL);
	duo_close(&self->duo);
	verbs_close_set(&self->set);
}

static bool is_member(const char *group)
{
	return !topo_run("ip maddr show dev %s | grep -qw %s", TOPO_NETDEV,
			 group);
}

static bool has_left(const char *group)
{
	long end = topo_now_ms() + DUO_WAIT_MS;

	while (is_member(group)) {
		if (topo_now_ms() > end)
			return false;
		usleep(20000);
	}
	return true;
}

/* The interface stays, and so would its memberships. */
TEST_F(fault_events, a_link_that_is_removed_leaves_its_groups)
{
	static const union ibv_gid group4 = {
		.raw = { [10] = 0xff, [11] = 0xff, 239, 77, 9, 1 },
	};
	static const union ibv_gid group6 = {
		.raw = { 0xff, 0x0e, [12] = 0x77, 0x09, 0x00, 0x01 },
	};
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_UD);

	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_RTS, 0));
	ASSERT_EQ(0, ibv_attach_mcast(qp, &group4, 0));
	ASSERT_EQ(0, ibv_attach_mcast(qp, &group6, 0));
	EXPECT_TRUE(is_member("239.77.9.1"));
	EXPECT_TRUE(is_member("ff0e::7709:1"));
	self->removed = true;
	ASSERT_EQ(0, rules_add(TOPO_LINK, "remove"));
	EXPECT_EVENT(IBV_EVENT_DEVICE_FATAL);
	EXPECT_TRUE(has_left("239.77.9.1"));
	EXPECT_TRUE(has_left("ff0e::7709:1"));
	ibv_destroy_qp(qp);
	verbs_close_set(&self->set);
}

TEST_HARNESS_MAIN
