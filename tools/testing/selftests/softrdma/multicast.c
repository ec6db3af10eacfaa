// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast datagrams: who gets them, by attaching QPs (verbs) and by joining
 * (rdma_cm). The topology is that of posting.h: a sender and receivers of the
 * same device, and receivers in the other namespace.
 */
#include "posting.h"

#include "verbs.h"

#define GRH		40
#define LEN		300
#define MULTICAST_QPN	0xffffff
#define RECEIVES	4

/* 239.78.1.2 and ff0e::78:1:2 */
static const union ibv_gid group4 = {
	.raw = { [10] = 0xff, [11] = 0xff, 239, 78, 1, 2 },
};

static const union ibv_gid group6 = {
	.raw = { 0xff, 0x0e, [11] = 0x78, [13] = 1, [15] = 2 },
};

#define GROUP4		"239.78.1.2"
#define GROUP6		"ff0e::78:1:2"

/**
 * struct member - a UD QP with receives posted
 * @ctx: device
 * @pd: its protection domain
 * @cq: its completion queue for receives
 * @sent: the one for sends
 * @qp: itself, in RTS
 * @mr: @buf
 * @gid_index: its address
 * @buf: RECEIVES times 2048 bytes, then what it sends
 */
struct member {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq, *sent;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	int gid_index;
	uint8_t buf[(RECEIVES + 1) * 2048];
};

static bool post_receive(struct member *m, int slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)m->buf + slot * 2048,
		.length = 2048,
		.lkey = m->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	return !ibv_post_recv(m->qp, &wr, &bad);
}

static bool open_member(struct member *m, const char *device,
			const char *address)
{
	struct ibv_qp_init_attr init = {
		.cap = {
			.max_send_wr = 8, .max_recv_wr = 8,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_UD,
	};
	struct verbs_set set = {};
	int i;

	memset(m, 0, sizeof(*m));
	m->ctx = verbs_open(device);
	if (!m->ctx || verbs_wait_gid(m->ctx, address, true, 5000))
		return false;
	m->gid_index = verbs_gid_index(m->ctx, address, NULL);
	m->pd = ibv_alloc_pd(m->ctx);
	m->cq = ibv_create_cq(m->ctx, 16, NULL, NULL, 0);
	m->sent = ibv_create_cq(m->ctx, 16, NULL, NULL, 0);
	if (!m->pd || !m->cq || !m->sent)
		return false;
	m->mr = ibv_reg_mr(m->pd, m->buf, sizeof(m->buf),
			   IBV_ACCESS_LOCAL_WRITE);
	init.send_cq = m->sent;
	init.recv_cq = m->cq;
	m->qp = ibv_create_qp(m->pd, &init);
	if (!m->mr || !m->qp || verbs_qp_to(&set, m->qp, IBV_QPS_RTS, 0))
		return false;
	for (i = 0; i < RECEIVES; i++)
		if (!post_receive(m, i))
			return false;
	return true;
}

static bool close_member(struct member *m)
{
	return !ibv_destroy_qp(m->qp) && !ibv_dereg_mr(m->mr) &&
	       !ibv_destroy_cq(m->cq) && !ibv_destroy_cq(m->sent) &&
	       !ibv_dealloc_pd(m->pd) &&
	       !ibv_close_device(m->ctx);
}

/* A datagram of LEN bytes to the group; true when it has left. */
static bool send_to_group(struct member *m, const union ibv_gid *group,
			  unsigned int seed)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = VERBS_PORT,
		.grh = {
			.dgid = *group,
			.sgid_index = m->gid_index,
			.hop_limit = 4,
		},
	};
	struct ibv_sge sge = {
		.addr = (uintptr_t)m->buf + RECEIVES * 2048,
		.length = LEN,
		.lkey = m->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = 99,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	bool good;

	cm_fill(m->buf + RECEIVES * 2048, LEN, seed);
	wr.wr.ud.ah = ibv_create_ah(m->pd, &attr);
	wr.wr.ud.remote_qpn = MULTICAST_QPN;
	wr.wr.ud.remote_qkey = VERBS_QKEY;
	if (!wr.wr.ud.ah)
		return false;
	good = !ibv_post_send(m->qp, &wr, &bad) &&
	       completes(m->sent, (void *)99, IBV_WC_SEND, IBV_WC_SUCCESS);
	return !ibv_destroy_ah(wr.wr.ud.ah) && good;
}

/* Does this datagram arrive, once? */
static bool gets(struct member *m, unsigned int seed)
{
	struct ibv_wc wc;
	bool good;

	if (cm_poll(m->cq, &wc, SOON_MS) != 1)
		return false;
	good = wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV &&
	       wc.byte_len == GRH + LEN && (wc.wc_flags & IBV_WC_GRH) &&
	       cm_holds(m->buf + wc.wr_id * 2048 + GRH, LEN, seed);
	return post_receive(m, wc.wr_id) && good;
}

/* Everything that was sent before has arrived elsewhere. */
static bool gets_nothing(struct member *m)
{
	struct ibv_wc wc;

	return cm_poll(m->cq, &wc, 30) == 0;
}

FIXTURE(group)
{
	struct member a, b, far;
};

FIXTURE_VARIANT(group)
{
	const char *near, *far, *text;
	const union ibv_gid *gid;
};

FIXTURE_VARIANT_ADD(group, ipv4)
{
	.near = ENDS_A4, .far = ENDS_B4, .text = GROUP4, .gid = &group4,
};

FIXTURE_VARIANT_ADD(group, ipv6)
{
	.near = ENDS_A6, .far = ENDS_B6, .text = GROUP6, .gid = &group6,
};

FIXTURE_SETUP(group)
{
	ASSERT_TRUE(open_member(&self->a, ENDS_LINK_A, variant->near));
	ASSERT_TRUE(open_member(&self->b, ENDS_LINK_A, variant->near));
	ASSERT_TRUE(open_member(&self->far, ENDS_LINK_B, variant->far));
}

FIXTURE_TEARDOWN(group)
{
	EXPECT_TRUE(close_member(&self->a));
	EXPECT_TRUE(close_member(&self->b));
	EXPECT_TRUE(close_member(&self->far));
}

TEST_F(group, reaches_the_other_namespace_from_a_sender_not_attached)
{
	ASSERT_EQ(0, ibv_attach_mcast(self->far.qp, variant->gid, 0));
	ASSERT_TRUE(send_to_group(&self->a, variant->gid, 1));
	EXPECT_TRUE(gets(&self->far, 1));
	EXPECT_TRUE(gets_nothing(&self->a));
	EXPECT_TRUE(gets_nothing(&self->b));
	ASSERT_EQ(0, ibv_detach_mcast(self->far.qp, variant->gid, 0));
}

TEST_F(group, reaches_another_qp_of_the_same_device)
{
	ASSERT_EQ(0, ibv_attach_mcast(self->b.qp, variant->gid, 0));
	ASSERT_TRUE(send_to_group(&self->a, variant->gid, 2));
	EXPECT_TRUE(gets(&self->b, 2));
	EXPECT_TRUE(gets_nothing(&self->b));
	EXPECT_TRUE(gets_nothing(&self->a));
	ASSERT_EQ(0, ibv_detach_mcast(self->b.qp, variant->gid, 0));
}

TEST_F(group, all_receivers_get_one_copy_each)
{
	int i;

	ASSERT_EQ(0, ibv_attach_mcast(self->b.qp, variant->gid, 0));
	ASSERT_EQ(0, ibv_attach_mcast(self->far.qp, variant->gid, 0));
	for (i = 0; i < 10; i++) {
		ASSERT_TRUE(send_to_group(&self->a, variant->gid, i));
		EXPECT_TRUE(gets(&self->b, i));
		EXPECT_TRUE(gets(&self->far, i));
	}
	EXPECT_TRUE(gets_nothing(&self->b));
	EXPECT_TRUE(gets_nothing(&self->far));
	EXPECT_TRUE(gets_nothing(&self->a));
	ASSERT_EQ(0, ibv_detach_mcast(self->b.qp, variant->gid, 0));
	ASSERT_EQ(0, ibv_detach_mcast(self->far.qp, variant->gid, 0));
}

/* A sender that is attached gets a copy as any member does (10.5.2.2). */
TEST_F(group, sender_that_is_attached_gets_its_own)
{
	ASSERT_EQ(0, ibv_attach_mcast(self->a.qp, variant->gid, 0));
	ASSERT_EQ(0, ibv_attach_mcast(self->far.qp, variant->gid, 0));
	ASSERT_TRUE(send_to_group(&self->far, variant->gid, 1));
	EXPECT_TRUE(gets(&self->a, 1));
	EXPECT_TRUE(gets(&self->far, 1));
	ASSERT_TRUE(send_to_group(&self->a, variant->gid, 5));
	EXPECT_TRUE(gets(&self->a, 5));
	EXPECT_TRUE(gets(&self->far, 5));
	EXPECT_TRUE(gets_nothing(&self->a));
	EXPECT_TRUE(gets_nothing(&self->far));
	ASSERT_EQ(0, ibv_detach_mcast(self->a.qp, variant->gid, 0));
	ASSERT_EQ(0, ibv_detach_mcast(self->far.qp, variant->gid, 0));
}

TEST_F(group, attached_twice_receives_once)
{
	ASSERT_EQ(0, ibv_attach_mcast(self->far.qp, variant->gid, 0));
	ibv_attach_mcast(self->far.qp, variant->gid, 0);
	ASSERT_TRUE(send_to_group(&self->a, variant->gid, 3));
	EXPECT_TRUE(gets(&self->far, 3));
	EXPECT_TRUE(gets_nothing(&self->far));
	while (!ibv_detach_mcast(self->far.qp, variant->gid, 0))
		;
}

TEST_F(group, detaching_stops_it)
{
	ASSERT_EQ(0, ibv_attach_mcast(self->far.qp, variant->gid, 0));
	ASSERT_EQ(0, ibv_attach_mcast(self->b.qp, variant->gid, 0));
	ASSERT_TRUE(send_to_group(&self->a, variant->gid, 4));
	EXPECT_TRUE(gets(&self->far, 4));
	EXPECT_TRUE(gets(&self->b, 4));
	ASSERT_EQ(0, ibv_detach_mcast(self->far.qp, variant->gid, 0));
	ASSERT_TRUE(send_to_group(&self->a, variant->gid, 5));
	EXPECT_TRUE(gets(&self->b, 5));
	EXPECT_TRUE(gets_nothing(&self->far));
	ASSERT_EQ(0, ibv_detach_mcast(self->b.qp, variant->gid, 0));
}

TEST_F(group, other_groups_do_not_arrive)
{
	union ibv_gid other = *variant->gid;

	other.raw[14] ^= 0x40;
	ASSERT_EQ(0, ibv_attach_mcast(self->far.qp, variant->gid, 0));
	ASSERT_TRUE(send_to_group(&self->a, &other, 4));
	ASSERT_TRUE(send_to_group(&self->a, variant->gid, 6));
	EXPECT_TRUE(gets(&self->far, 6));
	EXPECT_TRUE(gets_nothing(&self->far));
	ASSERT_EQ(0, ibv_detach_mcast(self->far.qp, variant->gid, 0));
}

TEST_F(group, wrong_qkey_is_dropped)
{
	struct ibv_qp_attr attr = { .qkey = 0x22222222 };

	ASSERT_EQ(0, ibv_attach_mcast(self->far.qp, variant->gid, 0));
	ASSERT_EQ(0, ibv_modify_qp(self->far.qp, &attr, IBV_QP_QKEY));
	ASSERT_TRUE(send_to_group(&self->a, variant->gid, 4));
	EXPECT_TRUE(gets_nothing(&self->far));
	attr.qkey = VERBS_QKEY;
	ASSERT_EQ(0, ibv_modify_qp(self->far.qp, &attr, IBV_QP_QKEY));
	ASSERT_TRUE(send_to_group(&self->a, variant->gid, 7));
	EXPECT_TRUE(gets(&self->far, 7));
	ASSERT_EQ(0, ibv_detach_mcast(self->far.qp, variant->gid, 0));
}

/* As "ip maddr" shows it: the interface has joined, and leaves. */
TEST_F(group, membership_is_seen_on_the_netdev)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "ip maddr show dev %s | grep -qw %s", ENDS_NETDEV_A,
		 variant->text);
	EXPECT_NE(0, topo_run("%s", command));
	ASSERT_EQ(0, ibv_attach_mcast(self->a.qp, variant->gid, 0));
	EXPECT_EQ(0, topo_run("%s", command));
	ASSERT_EQ(0, ibv_detach_mcast(self->a.qp, variant->gid, 0));
	EXPECT_NE(0, topo_run("%s", command));
}

/* ---- joining by rdma_cm, as mckey(1) does ---- */

/**
 * struct joined - an id that has joined a group
 * @id: with a UD QP of its own, attached
 * @buf: memory
 * @mr: @buf
 * @ah: leads to the group
 * @qpn: what to send to
 * @qkey: with which Q_Key
 * @in_group: it has not left again
 */
struct joined {
	struct rdma_cm_id *id;
	bool in_group;
	uint8_t buf[8192];
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	uint32_t qpn;
	uint32_t qkey;
};

static bool join_group(struct joined *j, enum ends_side side,
		       const char *source)
{
	struct ibv_qp_init_attr init = {
		.cap = {
			.max_send_wr = 8, .max_recv_wr = 8,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_UD,
	};
	struct sockaddr_storage from, to;
	struct rdma_ud_param *ud;
	bool good;

	memset(j, 0, sizeof(*j));
	cm_address(&from, source, 0);
	cm_address(&to, GROUP4, 0);
	good = !ends_enter(side) &&
	       !rdma_create_id(NULL, &j->id, NULL, RDMA_PS_UDP) &&
	       !rdma_resolve_addr(j->id, (struct sockaddr *)&from,
				  (struct sockaddr *)&to, 2000) &&
	       !rdma_create_qp(j->id, NULL, &init) &&
	       !rdma_join_multicast(j->id, (struct sockaddr *)&to, NULL);
	if (ends_enter(ENDS_A) || !good)
		return false;
	j->in_group = true;
	ud = &j->id->event->param.ud;
	j->qpn = ud->qp_num;
	j->qkey = ud->qkey;
	j->ah = ibv_create_ah(j->id->pd, &ud->ah_attr);
	/* Leaving waits until every event of the group is acknowledged. */
	rdma_ack_cm_event(j->id->event);
	j->id->event = NULL;
	j->mr = rdma_reg_msgs(j->id, j->buf, sizeof(j->buf));
	return j->ah && j->mr &&
	       !rdma_post_recv(j->id, CONTEXT(1), j->buf, 4096, j->mr);
}

static bool leave_group(struct joined *j)
{
	struct sockaddr_storage to;

	cm_address(&to, GROUP4, 0);
	j->in_group = false;
	return !rdma_leave_multicast(j->id, (struct sockaddr *)&to);
}

static bool close_joined(struct joined *j)
{
	bool good = !ibv_destroy_ah(j->ah) && !rdma_dereg_mr(j->mr);

	if (j->in_group)
		good = leave_group(j) && good;
	rdma_destroy_ep(j->id);
	return good;
}

static bool send_joined(struct joined *j, unsigned int seed)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)j->buf + 4096,
		.length = LEN,
		.lkey = j->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = 99,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = {
			.ah = j->ah,
			.remote_qpn = j->qpn,
			.remote_qkey = j->qkey,
		},
	};

	cm_fill(j->buf + 4096, LEN, seed);
	return !ibv_post_send(j->id->qp, &wr, &bad) &&
	       completes(j->id->send_cq, (void *)99, IBV_WC_SEND,
			 IBV_WC_SUCCESS);
}

static bool joined_gets(struct joined *j, unsigned int seed)
{
	return completes(j->id->recv_cq, CONTEXT(1), IBV_WC_RECV,
			 IBV_WC_SUCCESS) &&
	       cm_holds(j->buf + GRH, LEN, seed) &&
	       !rdma_post_recv(j->id, CONTEXT(1), j->buf, 4096, j->mr);
}

/* IPv4 only: rdma_cm joins no IPv6 group on RoCEv2, but says ENOTSUPP. */
FIXTURE(joining)
{
	int unused;
};

FIXTURE_SETUP(joining)
{
}

FIXTURE_TEARDOWN(joining)
{
}

TEST_F(joining, rdma_join_multicast_joins)
{
	struct joined near, far;
	struct ibv_wc wc;

	ASSERT_TRUE(join_group(&near, ENDS_A, ENDS_A4));
	ASSERT_TRUE(join_group(&far, ENDS_B, ENDS_B4));
	EXPECT_EQ(MULTICAST_QPN, near.qpn);
	ASSERT_TRUE(send_joined(&near, 6));
	EXPECT_TRUE(joined_gets(&far, 6));
	EXPECT_TRUE(joined_gets(&near, 6));
	ASSERT_TRUE(send_joined(&far, 7));
	EXPECT_TRUE(joined_gets(&far, 7));
	EXPECT_TRUE(joined_gets(&near, 7));

	ASSERT_TRUE(leave_group(&far));
	ASSERT_TRUE(send_joined(&near, 8));
	EXPECT_TRUE(joined_gets(&near, 8));
	EXPECT_EQ(0, cm_poll(far.id->recv_cq, &wc, 30));
	EXPECT_TRUE(close_joined(&near));
	EXPECT_TRUE(close_joined(&far));
}

TEST_F(joining, two_ids_that_join_both_receive)
{
	struct joined one, two, far;

	ASSERT_TRUE(join_group(&one, ENDS_A, ENDS_A4));
	ASSERT_TRUE(join_group(&two, ENDS_A, ENDS_A4));
	ASSERT_TRUE(join_group(&far, ENDS_B, ENDS_B4));
	ASSERT_TRUE(send_joined(&far, 9));
	EXPECT_TRUE(joined_gets(&one, 9));
	EXPECT_TRUE(joined_gets(&two, 9));
	/* The group stays joined as long as one of them is there. */
	EXPECT_TRUE(close_joined(&one));
	ASSERT_TRUE(send_joined(&far, 10));
	EXPECT_TRUE(joined_gets(&two, 10));
	EXPECT_TRUE(close_joined(&two));
	EXPECT_TRUE(close_joined(&far));
}

TEST_HARNESS_MAIN
