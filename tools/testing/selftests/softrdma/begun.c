// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* More requests posted at once than a QP has room for at first. */
#include "fixture.h"

#define DEEP	250
#define DONE_MS	30000

/* So many WRITEs in one list, each of its own word; what was wrong, or 0. */
static int write_words(struct ibv_qp *qp, struct ibv_mr *mr, uint64_t *words,
		       int count, uint64_t first)
{
	static struct ibv_send_wr wr[DEEP];
	static struct ibv_sge sge[DEEP];
	struct ibv_send_wr *bad;
	int i;

	for (i = 0; i < count; i++) {
		words[i] = first + i;
		words[DEEP + i] = 0;
		sge[i] = (struct ibv_sge) {
			.addr = (uintptr_t)&words[i],
			.length = sizeof(*words),
			.lkey = mr->lkey,
		};
		wr[i] = (struct ibv_send_wr) {
			.wr_id = first + i,
			.next = i + 1 < count ? &wr[i + 1] : NULL,
			.sg_list = &sge[i],
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = {
				.remote_addr = (uintptr_t)&words[DEEP + i],
				.rkey = mr->rkey,
			},
		};
	}
	return ibv_post_send(qp, wr, &bad);
}

static int take_completions(struct ibv_cq *cq, int count, uint64_t first)
{
	long deadline = topo_now_ms() + DONE_MS;
	struct ibv_wc wc;
	int i = 0;

	while (i < count) {
		if (topo_now_ms() > deadline)
			return -ETIMEDOUT;
		if (ibv_poll_cq(cq, 1, &wc) != 1)
			continue;
		if (wc.status || wc.wr_id != first + i)
			return -EIO;
		i++;
	}
	return 0;
}

/* Few, then more than there is room for at first, at every position. */
TEST_F(dev, requests_that_do_not_fit_at_first_are_executed)
{
	static const int counts[] = { 3, 17, 5, 40, 100, 7, DEEP, 1, DEEP };
	struct ibv_qp_init_attr init = {
		.cap = { DEEP, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	static uint64_t words[2 * DEEP];
	uint64_t first = 1;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	int i;

	cq = ibv_create_cq(self->set.ctx, 2 * DEEP, NULL, NULL, 0);
	ASSERT_NE(NULL, cq);
	mr = ibv_reg_mr(self->set.pd, words, sizeof(words),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	ASSERT_NE(NULL, mr);
	init.send_cq = cq;
	init.recv_cq = cq;
	qp = ibv_create_qp(self->set.pd, &init);
	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, verbs_qp_connect_self(&self->set, qp));
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		ASSERT_EQ(0, write_words(qp, mr, words, counts[i], first));
		ASSERT_EQ(0, take_completions(cq, counts[i], first));
		EXPECT_EQ(0, memcmp(words, words + DEEP,
				    counts[i] * sizeof(*words)));
		first += counts[i];
	}
	EXPECT_EQ(0, ibv_destroy_qp(qp));
	EXPECT_EQ(0, ibv_dereg_mr(mr));
	EXPECT_EQ(0, ibv_destroy_cq(cq));
}

TEST_HARNESS_MAIN
