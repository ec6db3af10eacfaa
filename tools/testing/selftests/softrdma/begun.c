// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* More requests posted at once than a QP has room for at first. */
#include "fixture.h"

#include <sys/mount.h>

#define FAILSLAB	"/sys/kernel/debug/failslab/"

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

/*
 * The addresses of a function of the module, from its first one to that of what lies
 * behind it. 0 or -errno.
 */
static int find_function(const char *name, unsigned long *start, unsigned long *end)
{
	unsigned long at;
	char line[512], symbol[256];
	FILE *file;
	int pass;

	*start = 0;
	*end = ~0ul;
	for (pass = 0; pass < 2; pass++) {
		file = fopen("/proc/kallsyms", "r");
		while (file && fgets(line, sizeof(line), file)) {
			if (!strstr(line, "[softrdma]") ||
			    sscanf(line, "%lx %*c %255s", &at, symbol) != 2)
				continue;
			if (!pass && !strcmp(symbol, name))
				*start = at;
			if (pass && at > *start && at < *end)
				*end = at;
		}
		if (file)
			fclose(file);
	}
	return *start && *end != ~0ul ? 0 : -ENOENT;
}

static int put_number(const char *path, unsigned long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%#lx", value);
	return topo_put(path, text);
}

/* What a function of the module asks for cannot be had, in whatever context. */
static int starve(const char *function)
{
	unsigned long start, end;

	return find_function(function, &start, &end) ?:
	       put_number(FAILSLAB "require-start", start) ?:
	       put_number(FAILSLAB "require-end", end) ?:
	       topo_put(FAILSLAB "task-filter", "N") ?:
	       topo_put(FAILSLAB "verbose", "0") ?:
	       topo_put(FAILSLAB "times", "-1") ?:
	       topo_put(FAILSLAB "probability", "100");
}

static int starve_no_more(void)
{
	return topo_put(FAILSLAB "probability", "0") ?:
	       put_number(FAILSLAB "require-start", 0) ?:
	       put_number(FAILSLAB "require-end", ~0ul);
}

/* There is room for two, and never for more: what is done leaves it to the rest. */
TEST_F(dev, requests_that_find_no_memory_are_executed_once)
{
	static const int counts[] = { 3, 17, 5, 40, 7, 250, 1, DEEP };
	int rc, uc;

	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	if (access(FAILSLAB, F_OK))
		SKIP(return, "no CONFIG_FAILSLAB");
	ASSERT_EQ(0, starve("srdma_store_grow"));
	rc = write_lists(&self->set, IBV_QPT_RC, counts, ARRAY_SIZE(counts));
	uc = write_lists(&self->set, IBV_QPT_UC, counts, ARRAY_SIZE(counts));
	EXPECT_EQ(0, starve_no_more());
	EXPECT_EQ(0, rc);
	EXPECT_EQ(0, uc);
}

TEST_HARNESS_MAIN
