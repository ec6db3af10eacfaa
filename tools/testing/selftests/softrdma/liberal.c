// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What programs pass although the specification does not ask for it, since
 * adapters mask it, ignore it or make sense of it. Each test is a program that
 * failed.
 */
#include "pair_fixture.h"

#include <poll.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "counters.h"
#include "ends.h"
#include "kmsg.h"
#include "uverbs.h"

/* UCX always gives 0xffffffff: no more than 20 bits ever leave (8.3.1). */
TEST_F(pair, flow_label_above_20_bits_is_cut)
{
	struct pair_options options = { .type = IBV_QPT_RC };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_ah *ah;

	verbs_attr(&self->a->set, &attr, IBV_QPS_RTR, 0);
	attr.ah_attr.grh.flow_label = 0xffffffff;
	ah = ibv_create_ah(self->a->set.pd, &attr.ah_attr);
	ASSERT_NE(NULL, ah);
	EXPECT_EQ(0, ibv_destroy_ah(ah));

	ASSERT_EQ(0, pair_create(&self->pair, &options));
	ASSERT_EQ(0, pair_modify(self->a, IBV_QPS_RESET, IBV_QPS_INIT, 0,
				 &options));
	verbs_attr(&self->a->set, &attr, IBV_QPS_RTR, self->b->qp->qp_num);
	attr.ah_attr.grh.flow_label = 0xffffffff;
	ASSERT_EQ(0, ibv_modify_qp(self->a->qp, &attr,
				   verbs_mask(IBV_QPT_RC, IBV_QPS_INIT,
					      IBV_QPS_RTR)));
	ASSERT_EQ(0, ibv_query_qp(self->a->qp, &attr, IBV_QP_AV, &init));
	EXPECT_EQ(0xfffff, attr.ah_attr.grh.flow_label);
}

TEST_F(pair, qp_number_above_24_bits_is_cut)
{
	struct pair_options options = { .type = IBV_QPT_UD };
	struct pair_wr wr;
	struct ibv_wc wc;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	ASSERT_EQ(0, pair_post_recv(self->b, 0, PAIR_GRH + 64));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, 64);
	wr.wr.wr.ud.remote_qpn |= 0xa5000000;
	ASSERT_EQ(0, pair_post(self->a, &wr));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
}

TEST_F(pair, qp_number_of_a_peer_above_24_bits_is_cut)
{
	struct pair_options options = { .type = IBV_QPT_RC };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_wc wc;
	struct pair_wr wr;
	int i;

	ASSERT_EQ(0, pair_create(&self->pair, &options));
	for (i = IBV_QPS_INIT; i <= IBV_QPS_RTS; i++) {
		ASSERT_EQ(0, pair_modify(self->a, i - 1, i,
					 self->b->qp->qp_num | 0xa5000000,
					 &options));
		ASSERT_EQ(0, pair_modify(self->b, i - 1, i,
					 self->a->qp->qp_num, &options));
	}
	ASSERT_EQ(0, ibv_query_qp(self->a->qp, &attr, IBV_QP_DEST_QPN, &init));
	EXPECT_EQ(self->b->qp->qp_num, attr.dest_qp_num);
	ASSERT_EQ(0, pair_post_recv(self->b, 0, 64));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, 64);
	ASSERT_EQ(0, pair_post(self->a, &wr));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
}

/* One request of @len bytes by the keys of empty regions. */
static int by_empty_regions(struct pair *pair, struct ibv_mr *local,
			    struct ibv_mr *remote, enum ibv_wr_opcode opcode,
			    uint32_t len)
{
	struct pair_options options = { .type = IBV_QPT_RC };
	struct pair_wr wr;
	int ret;

	ret = pair_connect(pair, &options) ?: pair_post_recv(&pair->b, 0, 64);
	if (ret)
		return ret;
	pair_wr_init(&wr, &pair->a, &pair->b, opcode, 0, len);
	if (local) {
		wr.sge[0].addr = (uintptr_t)local->addr;
		wr.sge[0].lkey = local->lkey;
	}
	if (remote) {
		wr.wr.wr.rdma.remote_addr = (uintptr_t)remote->addr;
		wr.wr.wr.rdma.rkey = remote->rkey;
	}
	ret = pair_post(&pair->a, &wr) ?: pair_wait_sent(&pair->a);
	return pair_disconnect(pair) ?: ret;
}

TEST_F(pair, region_of_no_length_has_no_byte)
{
	static const enum ibv_wr_opcode rdma[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	static char at[8192] __attribute__((aligned(4096)));
	int i;

	/* Within a page, and at its begin, where no page is left of it. */
	for (i = 0; i < 2; i++) {
		struct ibv_mr *a, *b;
		int j;

		a = ibv_reg_mr(self->a->set.pd, at + 64 * i, 0, PAIR_ACCESS);
		ASSERT_NE(NULL, a);
		b = ibv_reg_mr(self->b->set.pd, at + 64 * i, 0, PAIR_ACCESS);
		ASSERT_NE(NULL, b);
		EXPECT_NE(a->lkey, 0);
		EXPECT_EQ(IBV_WC_SUCCESS,
			  by_empty_regions(&self->pair, a, NULL, IBV_WR_SEND,
					   0));
		EXPECT_EQ(IBV_WC_LOC_PROT_ERR,
			  by_empty_regions(&self->pair, a, NULL, IBV_WR_SEND,
					   1));
		for (j = 0; j < 2; j++) {
			EXPECT_EQ(IBV_WC_SUCCESS,
				  by_empty_regions(&self->pair, a, b, rdma[j],
						   0));
			EXPECT_EQ(IBV_WC_LOC_PROT_ERR,
				  by_empty_regions(&self->pair, a, NULL,
						   rdma[j], 1));
			EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
				  by_empty_regions(&self->pair, NULL, b,
						   rdma[j], 1));
		}
		EXPECT_EQ(0, ibv_dereg_mr(a));
		EXPECT_EQ(0, ibv_dereg_mr(b));
	}
}

/* The library thinks that this driver cannot change regions. */
static int rereg(struct ibv_mr *mr, uint32_t flags, void *start,
		 uint64_t length, uint32_t access)
{
	struct ib_uverbs_rereg_mr cmd = {
		.mr_handle = mr->handle,
		.flags = flags,
		.start = (uintptr_t)start,
		.length = length,
		.hca_va = (uintptr_t)start,
		.pd_handle = mr->pd->handle,
		.access_flags = access,
	};
	struct ib_uverbs_rereg_mr_resp resp;

	return uverbs_write(mr->context->cmd_fd, IB_USER_VERBS_CMD_REREG_MR,
			    &cmd, sizeof(cmd), &resp, sizeof(resp));
}

TEST_F(pair, region_of_no_length_becomes_longer)
{
	static char at[8192] __attribute__((aligned(4096)));
	struct ibv_mr *mr;

	mr = ibv_reg_mr(self->b->set.pd, at, 0, 0);
	ASSERT_NE(NULL, mr);
	/* There is no page that might not be writable. */
	EXPECT_EQ(0, rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, at, 0,
			   PAIR_ACCESS));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR,
		  by_empty_regions(&self->pair, NULL, mr, IBV_WR_RDMA_WRITE,
				   1));
	EXPECT_EQ(0, rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, at, 4096, 0));
	EXPECT_EQ(IBV_WC_SUCCESS,
		  by_empty_regions(&self->pair, NULL, mr, IBV_WR_RDMA_WRITE,
				   1));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
}

static long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int to_error(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static int by_value(const void *a, const void *b)
{
	const long *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * So programs drain: the flush of a marker, posted after the QP went to error,
 * says that nothing is left. No doorbell tells of a receive.
 */
TEST_F(pair, receive_posted_in_error_is_flushed_soon)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
	};
	struct ibv_wc wc;
	long took[15];
	int i, n;

	for (i = 0; i < 3; i++) {
		struct pair_options options = { .type = types[i] };

		ASSERT_EQ(0, pair_connect(&self->pair, &options));
		ASSERT_EQ(0, pair_post_recv(self->a, 1, 64));
		ASSERT_EQ(0, to_error(self->a->qp));
		ASSERT_EQ(0, pair_wait(self->a->recv_cq, &wc));
		EXPECT_EQ(1, wc.wr_id);
		for (n = 0; n < 15; n++) {
			/* Nothing else is going on, and not in step with it. */
			usleep(20000 + 1300 * n);
			took[n] = now_us();
			ASSERT_EQ(0, pair_post_recv(self->a, 100 + n, 64));
			ASSERT_EQ(0, pair_wait(self->a->recv_cq, &wc));
			took[n] = now_us() - took[n];
			EXPECT_EQ(100 + n, wc.wr_id);
			EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc.status);
		}
		/* The machine may be busy with others now and then. */
		qsort(took, 15, sizeof(took[0]), by_value);
		EXPECT_GE(10000, took[7]) {
			TH_LOG("type %d: %ld us", types[i], took[7]);
		}
		ASSERT_EQ(0, pair_disconnect(&self->pair));
	}
}

TEST_F(pair, receive_posted_in_error_raises_the_event)
{
	struct pair_options options = { .type = IBV_QPT_RC };
	struct ibv_wc wc;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	ASSERT_EQ(0, to_error(self->a->qp));
	ASSERT_EQ(0, ibv_req_notify_cq(self->a->recv_cq, 0));
	ASSERT_EQ(0, pair_post_recv(self->a, 5, 64));
	EXPECT_TRUE(pair_event(self->a, PAIR_PATIENCE_MS));
	ASSERT_EQ(1, ibv_poll_cq(self->a->recv_cq, 1, &wc));
	EXPECT_EQ(5, wc.wr_id);
}

/* Nobody looks after a QP that has left the error state, or is gone. */
TEST_F(pair, receive_posted_in_reset_is_not_flushed)
{
	struct pair_options options = { .type = IBV_QPT_RC };
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, pair_connect(&self->pair, &options));
		ASSERT_EQ(0, to_error(self->a->qp));
		ASSERT_EQ(0, to_error(self->b->qp));
		if (i % 2) {
			ASSERT_EQ(0, ibv_modify_qp(self->a->qp, &reset,
						   IBV_QP_STATE));
			ASSERT_EQ(0, pair_modify(self->a, IBV_QPS_RESET,
						 IBV_QPS_INIT, 0, &options));
			ASSERT_EQ(0, pair_post_recv(self->a, 5, 64));
			usleep(30000);
			EXPECT_EQ(0, ibv_poll_cq(self->a->recv_cq, 1, &wc));
		}
		ASSERT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* An atomic of @first and, if not 0, @second bytes to put the answer into. */
static int atomic_of(struct pair *pair, enum ibv_wr_opcode opcode,
		     uint32_t first, uint32_t second)
{
	struct pair_wr wr;

	pair_wr_init(&wr, &pair->a, &pair->b, opcode, 64, first);
	wr.wr.wr.atomic.compare_add = 0x1111111111111111;
	wr.wr.wr.atomic.swap = 0x2222222222222222;
	if (second) {
		wr.wr.num_sge = 2;
		wr.sge[1] = wr.sge[0];
		wr.sge[1].addr += 4096;
		wr.sge[1].length = second;
	}
	return pair_post(&pair->a, &wr) ?: pair_wait_sent(&pair->a);
}

TEST_F(pair, atomic_takes_eight_bytes_and_nothing_else)
{
	static const uint32_t wrong[][2] = {
		{ 9, 0 }, { 16, 0 }, { 64, 0 }, { 8, 8 }, { 8, 1 },
	};
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct pair_options options = { .type = IBV_QPT_RC };
	int i;

	for (i = 0; i < 2 * ARRAY_SIZE(wrong); i++) {
		const uint32_t *len = wrong[i / 2];

		ASSERT_EQ(0, pair_connect(&self->pair, &options));
		memset(self->a->buffer, 0x77, self->a->size);
		memset(self->b->buffer, 0x11, self->b->size);
		EXPECT_EQ(IBV_WC_LOC_LEN_ERR,
			  atomic_of(&self->pair, ops[i % 2], len[0], len[1])) {
			TH_LOG("opcode %d, %u and %u bytes", ops[i % 2],
			       len[0], len[1]);
		}
		EXPECT_EQ(0x11, self->b->buffer[64]);
		EXPECT_EQ(0x11, self->b->buffer[71]);
		EXPECT_EQ(0x77, self->a->buffer[64]);
		EXPECT_EQ(0x77, self->a->buffer[71]);
		EXPECT_EQ(0x77, self->a->buffer[64 + 4096]);
		ASSERT_EQ(0, pair_disconnect(&self->pair));
	}
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	memset(self->b->buffer, 0x11, self->b->size);
	EXPECT_EQ(IBV_WC_SUCCESS, atomic_of(&self->pair, ops[0], 8, 0));
	EXPECT_EQ(0x22, self->b->buffer[64]);
	EXPECT_EQ(0x11, self->a->buffer[64]);
}

/* A datagram of @len bytes from a to b. */
static int send_datagram(struct pair *pair, uint32_t len)
{
	struct pair_wr wr;

	pair_wr_init(&wr, &pair->a, &pair->b, IBV_WR_SEND, 0, len);
	return pair_post(&pair->a, &wr) ?: pair_wait_sent(&pair->a);
}

/* Class D of the responder's errors (9.9.3): as if it had been lost. */
TEST_F(pair, datagram_longer_than_the_receive_is_lost)
{
	struct pair_options options = { .type = IBV_QPT_UD };
	struct ibv_wc wc;
	int64_t before;

	counters_use(variant->wire == PAIR_VETH ? ENDS_LINK_B : TOPO_LINK);
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	ASSERT_EQ(0, pair_post_recv(self->b, 0, PAIR_GRH + 99));
	ASSERT_EQ(0, pair_post_recv(self->b, 4096, PAIR_GRH + 100));
	before = counters_get("ud_short_receive_wqe");
	ASSERT_LE(0, before);
	pair_fill(self->a->buffer, 100, 3);
	memset(self->b->buffer, 0xee, 4096);
	EXPECT_EQ(IBV_WC_SUCCESS, send_datagram(&self->pair, 100));
	EXPECT_EQ(IBV_WC_SUCCESS, send_datagram(&self->pair, 99));
	ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
	EXPECT_EQ(0, wc.wr_id);
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(PAIR_GRH + 99, wc.byte_len);
	EXPECT_TRUE(pair_filled(self->b->buffer + PAIR_GRH, 99, 3));
	EXPECT_EQ(before + 1, counters_get("ud_short_receive_wqe"));
	/* The one behind it was not touched either. */
	EXPECT_EQ(IBV_WC_SUCCESS, send_datagram(&self->pair, 100));
	ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
	EXPECT_EQ(4096, wc.wr_id);
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(IBV_QPS_RTS, verbs_qp_state(self->b->qp));
}

/* Not even the place for the header: the first 40 bytes are for nobody else. */
TEST_F(pair, datagram_needs_room_for_its_header)
{
	struct pair_options options = { .type = IBV_QPT_UD };
	struct ibv_wc wc;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	ASSERT_EQ(0, pair_post_recv(self->b, 0, PAIR_GRH - 1));
	EXPECT_EQ(IBV_WC_SUCCESS, send_datagram(&self->pair, 0));
	EXPECT_EQ(IBV_WC_SUCCESS, send_datagram(&self->pair, 64));
	usleep(30000);
	EXPECT_EQ(0, ibv_poll_cq(self->b->recv_cq, 1, &wc));
	ASSERT_EQ(0, to_error(self->b->qp));
	ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc.status);
}

/* Others that share the queue may have longer ones. */
TEST_F(pair, datagram_leaves_short_receives_in_a_shared_queue)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 8, .max_sge = 1 },
	};
	struct pair_options options = { .type = IBV_QPT_UD };
	struct ibv_qp_init_attr qp_init = {
		.send_cq = self->b->set.cq,
		.recv_cq = self->b->recv_cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_recv_wr *bad, wr = { .wr_id = 7, .num_sge = 1 };
	struct ibv_sge sge;
	struct ibv_srq *srq;
	struct ibv_wc wc;

	srq = ibv_create_srq(self->b->set.pd, &init);
	ASSERT_NE(NULL, srq);
	ASSERT_EQ(0, pair_create(&self->pair, &options));
	ASSERT_EQ(0, ibv_destroy_qp(self->b->qp));
	qp_init.srq = srq;
	self->b->qp = ibv_create_qp(self->b->set.pd, &qp_init);
	ASSERT_NE(NULL, self->b->qp);
	ASSERT_EQ(0, pair_to_rts(&self->pair, &options));
	sge.addr = (uintptr_t)self->b->buffer;
	sge.length = PAIR_GRH + 99;
	sge.lkey = self->b->mr->lkey;
	wr.sg_list = &sge;
	ASSERT_EQ(0, ibv_post_srq_recv(srq, &wr, &bad));
	EXPECT_EQ(IBV_WC_SUCCESS, send_datagram(&self->pair, 100));
	EXPECT_EQ(IBV_WC_SUCCESS, send_datagram(&self->pair, 99));
	ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
	EXPECT_EQ(7, wc.wr_id);
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(0, pair_disconnect(&self->pair));
	EXPECT_EQ(0, ibv_destroy_srq(srq));
}

#define SILENT_TIMEOUT	16	/* 4.096 us * 2^16: 268 ms */
#define SILENT_US	268435
#define SILENT_RETRIES	2

/* Connect a to b, which is left as it is. */
static int connect_to_silence(struct pair *pair,
			      const struct pair_options *options)
{
	struct ibv_qp_attr attr;
	int ret;

	ret = pair_modify(&pair->a, IBV_QPS_RESET, IBV_QPS_INIT,
			  pair->b.qp->qp_num, options) ?:
	      pair_modify(&pair->a, IBV_QPS_INIT, IBV_QPS_RTR,
			  pair->b.qp->qp_num, options);
	if (ret)
		return ret;
	verbs_attr(&pair->a.set, &attr, IBV_QPS_RTS, pair->b.qp->qp_num);
	attr.timeout = SILENT_TIMEOUT;
	attr.retry_cnt = SILENT_RETRIES;
	return ibv_modify_qp(pair->a.qp, &attr,
			     verbs_mask(IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS));
}

/* Users choose the timeout for this: that they soon hear of a peer's death. */
TEST_F(pair, peer_that_never_answers_is_given_up_in_time)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	struct pair_options options = { .type = IBV_QPT_RC };
	long took, wanted = SILENT_US * (SILENT_RETRIES + 1);
	struct pair_wr wr;
	int i;

	/* RESET, INIT, ERR */
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, pair_create(&self->pair, &options));
		if (i)
			ASSERT_EQ(0, pair_modify(self->b, IBV_QPS_RESET,
						 IBV_QPS_INIT, 0, &options));
		if (i == 2)
			ASSERT_EQ(0, to_error(self->b->qp));
		ASSERT_EQ(0, connect_to_silence(&self->pair, &options));
		pair_wr_init(&wr, self->a, self->b, ops[i], 0, 64);
		took = now_us();
		ASSERT_EQ(0, pair_post(self->a, &wr));
		EXPECT_EQ(IBV_WC_RETRY_EXC_ERR, pair_wait_sent(self->a));
		took = now_us() - took;
		EXPECT_LE(wanted, took);
		EXPECT_GE(wanted * 3 / 2, took);
		ASSERT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* Words of a ring's head. */
#define HEAD_PRODUCER	(128 / 4)
#define HEAD_CONSUMER	(256 / 4)
#define HEAD_WORDS	(384 / 4)
#define RINGS_MAX	16

/* The rings that are mapped: how many, and where. */
static int find_rings(unsigned long at[RINGS_MAX])
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int count = 0;

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "/uverbs") && count < RINGS_MAX)
			count += sscanf(line, "%lx-", &at[count]) == 1;
	if (maps)
		fclose(maps);
	return count;
}

/* The ring that is there now and was not before. */
static volatile uint32_t *new_ring(const unsigned long *before, int count)
{
	unsigned long now[RINGS_MAX];
	int i, j, n = find_rings(now);

	for (i = 0; i < n; i++) {
		for (j = 0; j < count && before[j] != now[i]; j++)
			;
		if (j == count)
			return (volatile uint32_t *)now[i];
	}
	return NULL;
}

FIXTURE(beyond)
{
	struct verbs_set set;
	struct ibv_comp_channel *channel;
	struct ibv_cq *first;
	volatile uint32_t *ring;
	uint32_t mask;
	struct ibv_qp *qp;
};

/* A CQ of 15 of which we have the ring, and a QP that talks to itself. */
FIXTURE_SETUP(beyond)
{
	unsigned long before[RINGS_MAX];
	int count;

	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
	self->first = self->set.cq;
	self->channel = ibv_create_comp_channel(self->set.ctx);
	ASSERT_NE(NULL, self->channel);
	count = find_rings(before);
	ASSERT_LE(1, count);
	self->set.cq = ibv_create_cq(self->set.ctx, 15, NULL, self->channel,
				     0);
	ASSERT_NE(NULL, self->set.cq);
	self->ring = new_ring(before, count);
	ASSERT_NE(NULL, self->ring);
	self->mask = self->ring[1];
	ASSERT_EQ(15, self->mask);
	self->qp = verbs_qp(&self->set, IBV_QPT_RC);
	ASSERT_NE(NULL, self->qp);
	ASSERT_EQ(0, verbs_qp_connect_self(&self->set, self->qp));
}

FIXTURE_TEARDOWN(beyond)
{
	EXPECT_EQ(0, ibv_destroy_qp(self->qp));
	EXPECT_EQ(0, ibv_destroy_cq(self->set.cq));
	self->set.cq = self->first;
	EXPECT_EQ(0, ibv_destroy_comp_channel(self->channel));
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

/* A WRITE of nothing, done when this returns: there is a completion more. */
static int write_nothing(struct ibv_qp *qp, volatile uint32_t *ring,
			 uint64_t wr_id)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};
	uint32_t from = ring[HEAD_PRODUCER];
	long end = topo_now_ms() + PAIR_PATIENCE_MS;
	int ret = ibv_post_send(qp, &wr, &bad);

	while (!ret && ring[HEAD_PRODUCER] == from)
		if (topo_now_ms() > end)
			ret = ETIMEDOUT;
	return ret;
}

static uint64_t wr_id_at(volatile uint32_t *ring, uint32_t index)
{
	return ring[HEAD_WORDS + index * 16] |
	       (uint64_t)ring[HEAD_WORDS + index * 16 + 1] << 32;
}

/*
 * What ibv_start_poll(), ibv_next_poll() until there is none, ibv_end_poll() of
 * rdma-core before 55 leave behind: the consumer one beyond the producer.
 */
TEST_F(beyond, consumer_beyond_the_producer_is_followed)
{
	volatile uint32_t *ring = self->ring;
	int log = kmsg_mark();
	int64_t before;
	uint32_t at;
	int i, j;

	before = counters_get("cq_consumer_beyond");
	ASSERT_LE(0, before);
	for (i = 0; i < 40; i++) {
		for (j = 0; j <= i % 14; j++)
			ASSERT_EQ(0, write_nothing(self->qp, ring, j));
		at = (ring[HEAD_PRODUCER] + 1) & self->mask;
		ring[HEAD_CONSUMER] = at;
		ASSERT_EQ(0, write_nothing(self->qp, ring, 1000 + i));
		EXPECT_EQ(1000 + i, wr_id_at(ring, at));
		EXPECT_EQ((at + 1) & self->mask, ring[HEAD_PRODUCER]);
		ring[HEAD_CONSUMER] = ring[HEAD_PRODUCER];
	}
	EXPECT_EQ(IBV_QPS_RTS, verbs_qp_state(self->qp));
	EXPECT_EQ(before + 40, counters_get("cq_consumer_beyond"));
	/* Once for all, so perhaps by an earlier test. */
	if (!before)
		EXPECT_TRUE(kmsg_has(log, "softrdma", "rdma-core before 55"));
	close(log);
}

/* Who asks to be told of the next one finds the queue empty, as it is. */
TEST_F(beyond, arming_shows_that_the_queue_is_empty)
{
	volatile uint32_t *ring = self->ring;
	struct pollfd fd = { .fd = self->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;
	int i;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, write_nothing(self->qp, ring, i));
		ring[HEAD_CONSUMER] = (ring[HEAD_PRODUCER] + 1) & self->mask;
		ASSERT_EQ(0, ibv_req_notify_cq(self->set.cq, 0));
		EXPECT_EQ(ring[HEAD_CONSUMER], ring[HEAD_PRODUCER]);
		ASSERT_EQ(0, write_nothing(self->qp, ring, 100 + i));
		EXPECT_EQ(100 + i, wr_id_at(ring, ring[HEAD_CONSUMER]));
		ASSERT_EQ(1, poll(&fd, 1, PAIR_PATIENCE_MS));
		ASSERT_EQ(0, ibv_get_cq_event(self->channel, &cq, &context));
		ibv_ack_cq_events(cq, 1);
		ring[HEAD_CONSUMER] = ring[HEAD_PRODUCER];
	}
}

/* Anything else that is no index of this ring: only this queue suffers. */
TEST_F(beyond, consumer_anywhere_breaks_no_queue_pair)
{
	volatile uint32_t *ring = self->ring;
	uint32_t i;

	for (i = 0; i < 200; i++) {
		ASSERT_EQ(0, write_nothing(self->qp, ring, i));
		ring[HEAD_CONSUMER] = ring[HEAD_PRODUCER];
		ASSERT_EQ(0, write_nothing(self->qp, ring, i));
		/* Backwards and forwards, and with bits that no index has. */
		ring[HEAD_CONSUMER] = ring[HEAD_PRODUCER] + 1 + i % 13 +
				      (i << 16);
	}
	EXPECT_EQ(IBV_QPS_RTS, verbs_qp_state(self->qp));
	EXPECT_EQ(0, ibv_resize_cq(self->set.cq, 31));
}

/* A queue that is full because nobody empties it is full. */
TEST_F(beyond, overflow_is_still_one)
{
	volatile uint32_t *ring = self->ring;
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
	};
	long end = topo_now_ms() + PAIR_PATIENCE_MS;
	int i;

	for (i = 0; i < 15; i++)
		ASSERT_EQ(0, write_nothing(self->qp, ring, i));
	ASSERT_EQ(0, ibv_post_send(self->qp, &wr, &bad));
	while (verbs_qp_state(self->qp) != IBV_QPS_ERR)
		ASSERT_GT(end, topo_now_ms());
}

TEST_HARNESS_MAIN
