// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Walks the tables of Documentation/softrdma/guide/attributes.rst: every field that a
 * program passes, with values that are taken, masked or ignored, which have to
 * work, and with those that are refused, which have to be refused as it says.
 */
#include "pair_fixture.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "topo.h"

/* ---- address vectors ---- */

/**
 * struct av_case - one change to an address vector that is good
 * @what: in words
 * @change: makes it
 * @err: what comes of it; 0 if it is to work, -1 for any errno
 */
struct av_case {
	const char *what;
	void (*change)(struct ibv_ah_attr *attr);
	int err;
};

#define AV(name, statement)						\
	static void av_##name(struct ibv_ah_attr *attr) { statement; }

AV(dlid, attr->dlid = 0xffff)
AV(sl, attr->sl = 255)
AV(src_path_bits, attr->src_path_bits = 127)
AV(static_rate, attr->static_rate = IBV_RATE_600_GBPS)
AV(flow_label, attr->grh.flow_label = 0xffffffff)
AV(no_hops, attr->grh.hop_limit = 0)
AV(all_hops, attr->grh.hop_limit = 255)
AV(traffic_class, attr->grh.traffic_class = 255)
AV(no_grh, attr->is_global = 0)
AV(port, attr->port_num = 2)
AV(sgid_index, attr->grh.sgid_index = 200)
AV(family, inet_pton(AF_INET6, "fd77::99", attr->grh.dgid.raw))

static const struct av_case av_cases[] = {
	{ "dlid", av_dlid },
	{ "sl", av_sl },
	{ "src_path_bits", av_src_path_bits },
	{ "static_rate", av_static_rate },
	{ "flow_label of 32 bits", av_flow_label },
	{ "hop_limit 0", av_no_hops },
	{ "hop_limit 255", av_all_hops },
	{ "traffic_class 255", av_traffic_class },
	{ "no GRH", av_no_grh, EINVAL },
	{ "port 2", av_port, EINVAL },
	{ "sgid_index of no GID", av_sgid_index, -1 },
	{ "dgid of another family", av_family, EINVAL },
};

/* A message of 64 bytes from a to b, with the AV of a changed. */
static int by_av(struct pair *pair, enum ibv_qp_type type,
		 const struct av_case *c)
{
	struct pair_options options = { .type = type };
	struct ibv_qp_attr attr;
	struct pair_wr wr;
	struct ibv_wc wc;
	int ret;

	ret = pair_create(pair, &options) ?:
	      pair_modify(&pair->a, IBV_QPS_RESET, IBV_QPS_INIT, 0, &options) ?:
	      pair_modify(&pair->b, IBV_QPS_RESET, IBV_QPS_INIT, 0, &options) ?:
	      pair_modify(&pair->b, IBV_QPS_INIT, IBV_QPS_RTR,
			  pair->a.qp->qp_num, &options);
	if (ret)
		return ret;
	verbs_attr(&pair->a.set, &attr, IBV_QPS_RTR, pair->b.qp->qp_num);
	attr.ah_attr.grh.dgid = pair->a.peer;
	attr.path_mtu = IBV_MTU_1024;
	c->change(&attr.ah_attr);
	errno = 0;
	if (type == IBV_QPT_UD) {
		pair->a.ah = ibv_create_ah(pair->a.set.pd, &attr.ah_attr);
		ret = pair->a.ah ? 0 : errno;
	}
	ret = ret ?: ibv_modify_qp(pair->a.qp, &attr,
				   verbs_mask(type, IBV_QPS_INIT,
					      IBV_QPS_RTR));
	if (ret)
		return ret;
	ret = pair_modify(&pair->a, IBV_QPS_RTR, IBV_QPS_RTS, 0, &options) ?:
	      pair_post_recv(&pair->b, 0, PAIR_GRH + 64);
	pair_wr_init(&wr, &pair->a, &pair->b, IBV_WR_SEND, 0, 64);
	return ret ?: pair_post(&pair->a, &wr) ?:
	       pair_wait_sent(&pair->a) ?:
	       pair_wait(pair->b.recv_cq, &wc) ?: wc.status;
}

TEST_F(pair, address_vectors)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UD };
	int i, t;

	for (i = 0; i < ARRAY_SIZE(av_cases); i++) {
		const struct av_case *c = &av_cases[i];

		for (t = 0; t < 2; t++) {
			int ret = by_av(&self->pair, types[t], c);

			EXPECT_TRUE(c->err < 0 ? ret != 0 : ret == c->err) {
				TH_LOG("%s, type %d: %d", c->what, types[t],
				       ret);
			}
			EXPECT_EQ(0, pair_disconnect(&self->pair));
		}
	}
}

static int change_address(struct ibv_qp *qp, enum ibv_qp_state state,
		  const struct ibv_qp_attr *address)
{
	struct ibv_qp_attr attr = *address;

	attr.qp_state = state;
	return ibv_modify_qp(qp, &attr, state == IBV_QPS_SQD ?
			     IBV_QP_STATE : IBV_QP_STATE | IBV_QP_CUR_STATE) ?:
	       state == IBV_QPS_SQD ? ibv_modify_qp(qp, &attr, IBV_QP_AV) : 0;
}

/* In SQD the address may be another one: where packets went before does not matter. */
TEST_F(pair, another_address_is_followed)
{
	struct pair_options options = { .type = IBV_QPT_RC };
	struct ibv_qp_attr right, wrong;
	struct ibv_qp_init_attr init;
	struct pair_wr wr;
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	ASSERT_EQ(0, ibv_query_qp(self->a->qp, &right, IBV_QP_AV, &init));
	wrong = right;
	/* Of a neighbour the link address has to be known, at least. */
	if (variant->wire == PAIR_LOOPBACK)
		wrong.ah_attr.grh.dgid.raw[15] ^= 0x40;
	else
		wrong.ah_attr.grh.dgid = self->a->set.gid;
	wrong.cur_qp_state = IBV_QPS_SQD;
	right.cur_qp_state = IBV_QPS_SQD;
	for (i = 0; i < 3; i++) {
		const struct ibv_qp_attr *address = i == 1 ? &wrong : &right;

		if (i) {
			ASSERT_EQ(0, change_address(self->a->qp, IBV_QPS_SQD, address));
			ASSERT_EQ(0, change_address(self->a->qp, IBV_QPS_RTS, address));
		}
		self->a->buffer[i] = 'a' + i;
		pair_wr_init(&wr, self->a, self->b, IBV_WR_RDMA_WRITE, i, 1);
		ASSERT_EQ(0, pair_post(self->a, &wr));
		if (i != 1) {
			ASSERT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
			continue;
		}
		/* Its peer is not there. */
		usleep(50000);
		EXPECT_NE('b', self->b->buffer[1]);
	}
	/* What was posted meanwhile has come, too. */
	ASSERT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	EXPECT_EQ(0, memcmp(self->a->buffer, self->b->buffer, 3));
}

/* ---- attributes of queue pairs ---- */

/**
 * struct qp_case - one change to the attributes of a transition
 * @what: in words
 * @change: makes it
 * @from: where the QP is
 * @to: where it is to go
 * @mask: more of the mask
 * @err: what comes of it; 0 if it is to work
 */
struct qp_case {
	const char *what;
	void (*change)(struct ibv_qp_attr *attr);
	enum ibv_qp_state from;
	enum ibv_qp_state to;
	int mask;
	int err;
};

#define QP(name, statement)						\
	static void qp_##name(struct ibv_qp_attr *attr) { statement; }

QP(access_mr, attr->qp_access_flags |= IBV_ACCESS_ON_DEMAND |
	IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB |
	IBV_ACCESS_RELAXED_ORDERING)
QP(access_all, attr->qp_access_flags = -1)
QP(pkey_index, attr->pkey_index = 1)
QP(port_0, attr->port_num = 0)
QP(port_2, attr->port_num = 2)
QP(dest, attr->dest_qp_num |= 0xff000000)
QP(rq_psn, attr->rq_psn |= 0xff000000)
QP(sq_psn, attr->sq_psn |= 0xff000000)
QP(mtu_0, attr->path_mtu = 0)
QP(mtu_6, attr->path_mtu = 6)
QP(no_dest_rd, attr->max_dest_rd_atomic = 0)
QP(dest_rd, attr->max_dest_rd_atomic = 255)
QP(rnr_timer, attr->min_rnr_timer = 32)
QP(no_timeout, attr->timeout = 0)
QP(timeout, attr->timeout = 32)
QP(retry, attr->retry_cnt = 8)
QP(rnr_retry, attr->rnr_retry = 8)
QP(no_rd, attr->max_rd_atomic = 0)
QP(rd, attr->max_rd_atomic = 255)
QP(migrated, attr->path_mig_state = IBV_MIG_MIGRATED)
QP(armed, attr->path_mig_state = IBV_MIG_ARMED)
QP(alt, attr->alt_ah_attr = attr->ah_attr; attr->alt_port_num = 1)
QP(cur, attr->cur_qp_state = IBV_QPS_RTR)
QP(wrong_cur, attr->cur_qp_state = IBV_QPS_SQD)

#define INIT	IBV_QPS_RESET, IBV_QPS_INIT
#define RTR	IBV_QPS_INIT, IBV_QPS_RTR
#define RTS	IBV_QPS_RTR, IBV_QPS_RTS

static const struct qp_case qp_cases[] = {
	{ "access flags of regions", qp_access_mr, INIT },
	{ "all access flags", qp_access_all, INIT },
	{ "pkey_index 1", qp_pkey_index, INIT, 0, EINVAL },
	{ "port 0", qp_port_0, INIT, 0, EINVAL },
	{ "port 2", qp_port_2, INIT, 0, EINVAL },
	{ "dest_qp_num of 32 bits", qp_dest, RTR },
	{ "rq_psn of 32 bits", qp_rq_psn, RTR },
	{ "path_mtu 0", qp_mtu_0, RTR, 0, EINVAL },
	{ "path_mtu 6", qp_mtu_6, RTR, 0, EINVAL },
	{ "max_dest_rd_atomic 0", qp_no_dest_rd, RTR },
	{ "max_dest_rd_atomic 255", qp_dest_rd, RTR, 0, EINVAL },
	{ "min_rnr_timer 32", qp_rnr_timer, RTR, 0, EINVAL },
	{ "alternate path", qp_alt, RTR, IBV_QP_ALT_PATH, EINVAL },
	{ "sq_psn of 32 bits", qp_sq_psn, RTS },
	{ "timeout 0", qp_no_timeout, RTS },
	{ "timeout 32", qp_timeout, RTS, 0, EINVAL },
	{ "retry_cnt 8", qp_retry, RTS, 0, EINVAL },
	{ "rnr_retry 8", qp_rnr_retry, RTS, 0, EINVAL },
	{ "max_rd_atomic 0", qp_no_rd, RTS },
	{ "max_rd_atomic 255", qp_rd, RTS, 0, EINVAL },
	{ "path_mig_state MIGRATED", qp_migrated, RTS, IBV_QP_PATH_MIG_STATE },
	{ "path_mig_state ARMED", qp_armed, RTS, IBV_QP_PATH_MIG_STATE,
	  EINVAL },
	{ "cur_qp_state", qp_cur, RTS, IBV_QP_CUR_STATE },
	{ "wrong cur_qp_state", qp_wrong_cur, RTS, IBV_QP_CUR_STATE, EINVAL },
};

TEST_F(pair, attributes_of_queue_pairs)
{
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;
	int i, mask;

	for (i = 0; i < ARRAY_SIZE(qp_cases); i++) {
		const struct qp_case *c = &qp_cases[i];

		qp = verbs_qp(&self->a->set, IBV_QPT_RC);
		ASSERT_NE(NULL, qp);
		ASSERT_EQ(0, verbs_qp_to(&self->a->set, qp, c->from,
					 qp->qp_num));
		verbs_attr(&self->a->set, &attr, c->to, qp->qp_num);
		c->change(&attr);
		mask = verbs_mask(IBV_QPT_RC, c->from, c->to) | c->mask;
		EXPECT_EQ(c->err, ibv_modify_qp(qp, &attr, mask)) {
			TH_LOG("%s", c->what);
		}
		EXPECT_EQ(c->err ? c->from : c->to, verbs_qp_state(qp)) {
			TH_LOG("%s", c->what);
		}
		EXPECT_EQ(0, ibv_destroy_qp(qp));
	}
}

/* Rights that a QP is not given by flags that are none. */
TEST_F(pair, access_flags_of_regions_give_no_right)
{
	struct pair_options options = {
		.type = IBV_QPT_RC,
		.access = IBV_ACCESS_ON_DEMAND | IBV_ACCESS_ZERO_BASED,
	};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct pair_wr wr;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	ASSERT_EQ(0, ibv_query_qp(self->b->qp, &attr, IBV_QP_ACCESS_FLAGS,
				  &init));
	EXPECT_EQ(0, attr.qp_access_flags);
	pair_wr_init(&wr, self->a, self->b, IBV_WR_RDMA_WRITE, 0, 8);
	ASSERT_EQ(0, pair_post(self->a, &wr));
	EXPECT_EQ(IBV_WC_REM_INV_REQ_ERR, pair_wait_sent(self->a));
}

/* ---- sizes ---- */

/**
 * struct cap_case - sizes of a QP
 * @cap: as asked for
 * @err: what comes of it; 0 if it is to work
 */
struct cap_case {
	struct ibv_qp_cap cap;
	int err;
};

static const struct cap_case cap_cases[] = {
	{ { .max_send_wr = 0 } },
	{ { .max_send_wr = 1, .max_send_sge = 0 } },
	{ { .max_send_wr = 65536, .max_send_sge = 1 } },
	{ { .max_send_wr = 65537, .max_send_sge = 1 }, EINVAL },
	{ { .max_recv_wr = 65537, .max_recv_sge = 1 }, EINVAL },
	{ { .max_send_wr = 1, .max_send_sge = 32 } },
	{ { .max_send_wr = 1, .max_send_sge = 33 }, EINVAL },
	{ { .max_recv_wr = 1, .max_recv_sge = 33 }, EINVAL },
	{ { .max_send_wr = 1, .max_inline_data = 512 } },
	{ { .max_send_wr = 1, .max_inline_data = 513 }, EINVAL },
};

TEST_F(pair, sizes_of_queue_pairs)
{
	struct ibv_qp *qp;
	int i;

	for (i = 0; i < ARRAY_SIZE(cap_cases); i++) {
		struct ibv_qp_init_attr init = {
			.send_cq = self->a->set.cq,
			.recv_cq = self->a->set.cq,
			.qp_type = IBV_QPT_RC,
			.cap = cap_cases[i].cap,
		};

		errno = 0;
		qp = ibv_create_qp(self->a->set.pd, &init);
		EXPECT_EQ(cap_cases[i].err, qp ? 0 : errno) {
			TH_LOG("case %d", i);
		}
		if (qp)
			EXPECT_EQ(0, ibv_destroy_qp(qp));
	}
}

static int create_cq(struct pair_end *end, int cqe, int vector)
{
	struct ibv_cq *cq;

	errno = 0;
	cq = ibv_create_cq(end->set.ctx, cqe, NULL, NULL, vector);
	return cq ? ibv_destroy_cq(cq) : errno;
}

static int create_srq(struct pair_end *end, uint32_t wr, uint32_t sge,
		      uint32_t limit)
{
	struct ibv_srq_init_attr init = { .attr = { wr, sge, limit } };
	struct ibv_srq *srq;

	errno = 0;
	srq = ibv_create_srq(end->set.pd, &init);
	return srq ? ibv_destroy_srq(srq) : errno;
}

TEST_F(pair, sizes_of_completion_queues)
{
	int vectors = self->a->set.ctx->num_comp_vectors;

	EXPECT_EQ(0, create_cq(self->a, 1, 0));
	EXPECT_EQ(0, create_cq(self->a, 65536, vectors - 1));
	EXPECT_EQ(EINVAL, create_cq(self->a, 0, 0));
	EXPECT_EQ(EINVAL, create_cq(self->a, 1 << 20, 0));
	EXPECT_EQ(EINVAL, create_cq(self->a, 1, vectors));
	EXPECT_EQ(EINVAL, create_cq(self->a, 1, -1));
}

TEST_F(pair, sizes_of_shared_receive_queues)
{
	EXPECT_EQ(0, create_srq(self->a, 1, 1, 0));
	EXPECT_EQ(0, create_srq(self->a, 65536, 32, 0));
	EXPECT_EQ(EINVAL, create_srq(self->a, 0, 1, 0));
	EXPECT_EQ(EINVAL, create_srq(self->a, 65537, 1, 0));
	EXPECT_EQ(EINVAL, create_srq(self->a, 1, 33, 0));
}

/* ---- memory ---- */

static int reg_mr(struct pair_end *end, size_t length, uint64_t iova,
		  unsigned int access)
{
	struct ibv_mr *mr;
	void *at;
	int ret;

	at = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = 0;
	mr = ibv_reg_mr_iova(end->set.pd, at, length, iova ?: (uintptr_t)at,
			     access);
	ret = mr ? ibv_dereg_mr(mr) : errno;
	munmap(at, 8192);
	return ret;
}

TEST_F(pair, regions)
{
	EXPECT_EQ(0, reg_mr(self->a, 0, 0, IBV_ACCESS_LOCAL_WRITE));
	EXPECT_EQ(0, reg_mr(self->a, 8192, 0, 0));
	EXPECT_EQ(0, reg_mr(self->a, 8192, 0, IBV_ACCESS_ZERO_BASED));
	EXPECT_EQ(0, reg_mr(self->a, 8192, 0, IBV_ACCESS_RELAXED_ORDERING |
					      IBV_ACCESS_LOCAL_WRITE));
	EXPECT_EQ(0, reg_mr(self->a, 8192, 0, IBV_ACCESS_HUGETLB));
	EXPECT_EQ(0, reg_mr(self->a, 8192, 0x1000, 0));
	EXPECT_EQ(EINVAL, reg_mr(self->a, 8192, -4096ull, 0));
	EXPECT_EQ(EINVAL, reg_mr(self->a, 8192, 0, IBV_ACCESS_REMOTE_WRITE));
	EXPECT_EQ(EINVAL, reg_mr(self->a, 8192, 0, IBV_ACCESS_REMOTE_ATOMIC));
	EXPECT_NE(0, reg_mr(self->a, 8192, 0, IBV_ACCESS_ON_DEMAND));
	EXPECT_NE(0, reg_mr(self->a, 8192, 0, 1 << 18));
}

/* ---- work requests ---- */

/**
 * struct wr_case - one change to a request that is good
 * @what: in words
 * @type: QP type
 * @opcode: of the request, of 64 bytes (an atomic: of 8)
 * @change: makes it
 * @status: how it completes
 */
struct wr_case {
	const char *what;
	enum ibv_qp_type type;
	enum ibv_wr_opcode opcode;
	void (*change)(struct pair_wr *wr);
	enum ibv_wc_status status;
};

#define WR(name, statement)						\
	static void wr_##name(struct pair_wr *wr) { statement; }

WR(plain, (void)wr)
WR(fence, wr->wr.send_flags |= IBV_SEND_FENCE)
WR(solicited, wr->wr.send_flags |= IBV_SEND_SOLICITED)
WR(inline, wr->wr.send_flags |= IBV_SEND_INLINE)
WR(csum, wr->wr.send_flags |= IBV_SEND_IP_CSUM)
WR(flag, wr->wr.send_flags |= 1 << 20)
WR(imm, wr->wr.imm_data = 0xffffffff)
WR(none, wr->wr.num_sge = 0)
WR(empty, wr->sge[0].length = 0; wr->sge[0].lkey = 0xdeadbeef;
	wr->sge[0].addr = 0)
WR(empty_remote, wr->sge[0].length = 0; wr->wr.wr.rdma.rkey = 0xdeadbeef;
	wr->wr.wr.rdma.remote_addr = 0)
WR(lkey, wr->sge[0].lkey ^= 0x100)
WR(inline_lkey, wr->wr.send_flags |= IBV_SEND_INLINE;
	wr->sge[0].lkey = 0xdeadbeef)
WR(addr, wr->sge[0].addr += 1 << 30)
WR(rkey, wr->wr.wr.rdma.rkey ^= 0x100)
WR(qpn, wr->wr.wr.ud.remote_qpn |= 0xff000000)
WR(long_ud, wr->sge[0].length = 8192)
WR(nine, wr->sge[0].length = 9)
WR(qkey, wr->wr.wr.ud.remote_qkey = 0x80000000)

#define SEND	IBV_WR_SEND
#define WRITE	IBV_WR_RDMA_WRITE
#define READ	IBV_WR_RDMA_READ
#define FAA	IBV_WR_ATOMIC_FETCH_AND_ADD

static const struct wr_case wr_cases[] = {
	{ "plain", IBV_QPT_RC, SEND, wr_plain },
	{ "plain", IBV_QPT_UC, SEND, wr_plain },
	{ "plain", IBV_QPT_UD, SEND, wr_plain },
	{ "plain", IBV_QPT_RC, FAA, wr_plain },
	{ "FENCE", IBV_QPT_RC, SEND, wr_fence },
	{ "FENCE", IBV_QPT_UC, WRITE, wr_fence },
	{ "FENCE", IBV_QPT_UD, SEND, wr_fence },
	{ "SOLICITED", IBV_QPT_RC, WRITE, wr_solicited },
	{ "SOLICITED", IBV_QPT_RC, READ, wr_solicited },
	{ "INLINE", IBV_QPT_RC, WRITE, wr_inline },
	{ "INLINE", IBV_QPT_RC, READ, wr_inline, IBV_WC_LOC_QP_OP_ERR },
	{ "IP_CSUM", IBV_QPT_UD, SEND, wr_csum, IBV_WC_LOC_QP_OP_ERR },
	{ "no flag", IBV_QPT_RC, SEND, wr_flag, IBV_WC_LOC_QP_OP_ERR },
	{ "imm_data without use", IBV_QPT_RC, SEND, wr_imm },
	{ "no piece", IBV_QPT_RC, SEND, wr_none },
	{ "no piece", IBV_QPT_RC, WRITE, wr_none },
	{ "no piece", IBV_QPT_RC, READ, wr_none },
	{ "key of an empty piece", IBV_QPT_RC, SEND, wr_empty },
	{ "key of an empty piece", IBV_QPT_RC, READ, wr_empty },
	{ "rkey of no bytes", IBV_QPT_RC, WRITE, wr_empty_remote },
	{ "rkey of no bytes", IBV_QPT_RC, READ, wr_empty_remote },
	{ "lkey of inline data", IBV_QPT_RC, SEND, wr_inline_lkey },
	{ "lkey", IBV_QPT_RC, SEND, wr_lkey, IBV_WC_LOC_PROT_ERR },
	{ "lkey", IBV_QPT_UD, SEND, wr_lkey, IBV_WC_LOC_PROT_ERR },
	{ "addr", IBV_QPT_RC, READ, wr_addr, IBV_WC_LOC_PROT_ERR },
	{ "rkey", IBV_QPT_RC, WRITE, wr_rkey, IBV_WC_REM_ACCESS_ERR },
	{ "rkey", IBV_QPT_RC, READ, wr_rkey, IBV_WC_REM_ACCESS_ERR },
	{ "remote_qpn of 32 bits", IBV_QPT_UD, SEND, wr_qpn },
	{ "controlled Q_Key", IBV_QPT_UD, SEND, wr_qkey },
	{ "above the MTU", IBV_QPT_UD, SEND, wr_long_ud, IBV_WC_LOC_LEN_ERR },
	{ "9 bytes", IBV_QPT_RC, FAA, wr_nine, IBV_WC_LOC_LEN_ERR },
	{ "WRITE", IBV_QPT_UD, WRITE, wr_plain, IBV_WC_LOC_QP_OP_ERR },
	{ "READ", IBV_QPT_UC, READ, wr_plain, IBV_WC_LOC_QP_OP_ERR },
	{ "atomic", IBV_QPT_UC, FAA, wr_plain, IBV_WC_LOC_QP_OP_ERR },
};

TEST_F(pair, send_requests)
{
	struct pair_wr wr;
	int i;

	for (i = 0; i < ARRAY_SIZE(wr_cases); i++) {
		const struct wr_case *c = &wr_cases[i];
		struct pair_options options = { .type = c->type };

		ASSERT_EQ(0, pair_connect(&self->pair, &options));
		ASSERT_EQ(0, pair_post_recv(self->b, 0, 4096));
		pair_wr_init(&wr, self->a, self->b, c->opcode, 0,
			     c->opcode == FAA ? 8 : 64);
		c->change(&wr);
		ASSERT_EQ(0, pair_post(self->a, &wr));
		EXPECT_EQ(c->status, pair_wait_sent(self->a)) {
			TH_LOG("%s, type %d, opcode %d", c->what, c->type,
			       c->opcode);
		}
		ASSERT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* ---- receives ---- */

static int receive_into(struct pair *pair, uint32_t lkey, uint32_t len,
			uint32_t message)
{
	struct pair_options options = { .type = IBV_QPT_RC };
	struct ibv_recv_wr *bad, wr = { .wr_id = 1, .num_sge = 1 };
	struct ibv_sge sge;
	struct pair_wr send;
	struct ibv_wc wc;
	int ret;

	ret = pair_connect(pair, &options);
	if (ret)
		return ret;
	sge.addr = (uintptr_t)pair->b.buffer;
	sge.length = len;
	sge.lkey = lkey ?: pair->b.mr->lkey;
	wr.sg_list = &sge;
	pair_wr_init(&send, &pair->a, &pair->b, IBV_WR_SEND, 0, message);
	ret = ibv_post_recv(pair->b.qp, &wr, &bad) ?:
	      pair_post(&pair->a, &send) ?:
	      pair_wait(pair->b.recv_cq, &wc) ?: wc.status;
	return pair_disconnect(pair) ?: ret;
}

TEST_F(pair, receive_requests)
{
	EXPECT_EQ(IBV_WC_SUCCESS, receive_into(&self->pair, 0, 64, 64));
	EXPECT_EQ(IBV_WC_SUCCESS, receive_into(&self->pair, 0, 4096, 64));
	/* Keys of what no byte goes into are not looked at. */
	EXPECT_EQ(IBV_WC_SUCCESS, receive_into(&self->pair, 0xdeadbeef, 0, 0));
	EXPECT_EQ(IBV_WC_SUCCESS, receive_into(&self->pair, 0xdeadbeef, 64, 0));
	EXPECT_EQ(IBV_WC_LOC_PROT_ERR,
		  receive_into(&self->pair, 0xdeadbeef, 64, 64));
	EXPECT_EQ(IBV_WC_LOC_LEN_ERR, receive_into(&self->pair, 0, 63, 64));
}

TEST_HARNESS_MAIN
