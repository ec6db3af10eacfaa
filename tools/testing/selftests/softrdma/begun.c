// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* More requests posted at once than a QP has room for at first. */
#include "fixture.h"

#define DEEP	300		/* 256 can be begun at once */
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

/* In lists of these lengths: each is executed once. 0, or what was wrong. */
static int write_lists(struct verbs_set *set, enum ibv_qp_type type,
		       const int *counts, int lists)
{
	struct ibv_qp_init_attr init = {
		.cap = { DEEP, 1, 1, 1, 0 },
		.qp_type = type,
	};
	static uint64_t words[2 * DEEP];
	uint64_t first = 1;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct ibv_wc wc;
	int i, ret;

	init.send_cq = ibv_create_cq(set->ctx, 2 * DEEP, NULL, NULL, 0);
	init.recv_cq = init.send_cq;
	mr = ibv_reg_mr(set->pd, words, sizeof(words),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!init.send_cq || !mr)
		return -errno;
	qp = ibv_create_qp(set->pd, &init);
	ret = qp ? verbs_qp_connect_self(set, qp) : -errno;
	for (i = 0; i < lists && !ret; i++) {
		ret = write_words(qp, mr, words, counts[i], first) ?:
		      take_completions(init.send_cq, counts[i], first);
		if (!ret && memcmp(words, words + DEEP, counts[i] * sizeof(*words)))
			ret = -EBADMSG;
		first += counts[i];
	}
	if (!ret && ibv_poll_cq(init.send_cq, 1, &wc))
		ret = -EEXIST;
	return ret ?: ibv_destroy_qp(qp) ?: ibv_dereg_mr(mr) ?:
	       ibv_destroy_cq(init.send_cq);
}

/* Few, then more than there is room for at first, at every position. */
TEST_F(dev, requests_that_do_not_fit_at_first_are_executed)
{
	static const int counts[] = { 3, 17, 5, 40, 100, 7, 250, 1, DEEP };

	EXPECT_EQ(0, write_lists(&self->set, IBV_QPT_RC, counts,
				 ARRAY_SIZE(counts)));
}

/* What was sent on UC is done at once, and leaves room for the few that are left. */
TEST_F(dev, requests_that_do_not_fit_are_executed_once)
{
	static const int counts[] = { 259, 17, 257, DEEP, 259 };

	EXPECT_EQ(0, write_lists(&self->set, IBV_QPT_UC, counts,
				 ARRAY_SIZE(counts)));
}

TEST_HARNESS_MAIN
