// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What two CPUs do to each other: a pair of connected QPs is driven by a thread on
 * a CPU of its own, which keeps WRITEs outstanding and polls. For each run a line
 * has the messages in a second of one pair alone, of two with a region each, and of
 * two with one region, measured one after another.
 *
 *	pairs DEVICE GID_INDEX DEVICE GID_INDEX SIZE MS RUNS
 *
 * The first device has the QPs that write, the second those written to.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "connect.h"

#define PAIRS	2
#define DEPTH	32

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	union ibv_gid gid;
	int gid_index;
	char *buf;
	struct ibv_mr *mr[PAIRS];	/* all of @buf, each */
};

static struct end writer, target;

struct pair {
	int number;
	struct ibv_cq *cq;
	struct ibv_qp *qp[2];
	struct ibv_mr *from, *to;
	char *src, *dst;
	unsigned long done;		/* while it counted */
};

static struct pair pairs[PAIRS];
static size_t size;

/* Threads work; what completes while they count is counted. */
static bool working, counting;

static void die(const char *what)
{
	fprintf(stderr, "pairs: %s\n", what);
	exit(1);
}

static void open_end(struct end *e, const char *name, int gid_index)
{
	int i;

	e->ctx = open_by_name(name);
	e->gid_index = gid_index;
	if (!e->ctx || ibv_query_gid(e->ctx, 1, gid_index, &e->gid))
		die("no such device or GID");
	e->pd = ibv_alloc_pd(e->ctx);
	e->buf = aligned_alloc(4096, PAIRS * size);
	if (!e->pd || !e->buf)
		die("no PD or memory");
	memset(e->buf, 1, PAIRS * size);
	for (i = 0; i < PAIRS; i++) {
		e->mr[i] = ibv_reg_mr(e->pd, e->buf, PAIRS * size,
				      IBV_ACCESS_LOCAL_WRITE |
				      IBV_ACCESS_REMOTE_WRITE);
		if (!e->mr[i])
			die("no region");
	}
}

static struct ibv_qp *make_qp(struct end *e, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(e->pd, &init);

	if (!qp)
		die("no QP");
	return qp;
}

static void make_pair(struct pair *p, int number)
{
	struct ibv_cq *unused = ibv_create_cq(target.ctx, 1, NULL, NULL, 0);
	struct qp_way out, back;

	p->number = number;
	p->cq = ibv_create_cq(writer.ctx, DEPTH, NULL, NULL, 0);
	if (!p->cq || !unused)
		die("no CQ");
	p->qp[0] = make_qp(&writer, p->cq);
	p->qp[1] = make_qp(&target, unused);
	out = (struct qp_way) { p->qp[1]->qp_num, target.gid, writer.gid_index, 1 };
	back = (struct qp_way) { p->qp[0]->qp_num, writer.gid, target.gid_index, 1 };
	if (connect_qp_to(p->qp[0], &out) || connect_qp_to(p->qp[1], &back))
		die("cannot connect");
	p->src = writer.buf + number * size;
	p->dst = target.buf + number * size;
}

static void post(struct pair *p)
{
	struct ibv_sge sge = { (uintptr_t)p->src, size, p->from->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)p->dst, p->to->rkey },
	};

	if (ibv_post_send(p->qp[0], &wr, &bad))
		die("cannot post");
}

static void *drive(void *arg)
{
	struct ibv_wc wc[DEPTH];
	struct pair *p = arg;
	int outstanding, n, i;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(p->number, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu))
		die("no such CPU");
	for (outstanding = 0; outstanding < DEPTH; outstanding++)
		post(p);
	while (outstanding) {
		n = ibv_poll_cq(p->cq, DEPTH, wc);
		for (i = 0; i < n; i++)
			if (wc[i].status)
				die(ibv_wc_status_str(wc[i].status));
		if (n < 0)
			die("cannot poll");
		if (__atomic_load_n(&counting, __ATOMIC_RELAXED))
			p->done += n;
		outstanding -= n;
		if (!__atomic_load_n(&working, __ATOMIC_RELAXED))
			continue;
		for (; n; n--, outstanding++)
			post(p);
	}
	return NULL;
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void pass(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/* Messages in a second of so many pairs, once all of them are at work. */
static double rate(int count, bool one_region, long ms)
{
	unsigned long done = 0;
	pthread_t threads[PAIRS];
	double took;
	int i;

	working = true;
	for (i = 0; i < count; i++) {
		pairs[i].from = writer.mr[one_region ? 0 : i];
		pairs[i].to = target.mr[one_region ? 0 : i];
		pairs[i].done = 0;
		if (pthread_create(&threads[i], NULL, drive, &pairs[i]))
			die("no thread");
	}
	pass(ms / 5);
	took = now_s();
	__atomic_store_n(&counting, true, __ATOMIC_RELAXED);
	pass(ms);
	__atomic_store_n(&counting, false, __ATOMIC_RELAXED);
	took = now_s() - took;
	__atomic_store_n(&working, false, __ATOMIC_RELAXED);
	for (i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		done += pairs[i].done;
	}
	return done / took;
}

int main(int argc, char **argv)
{
	double alone, own, shared;
	int i, runs;
	long ms;

	if (argc != 8)
		die("usage: pairs DEVICE GID_INDEX DEVICE GID_INDEX SIZE MS RUNS");
	size = strtoul(argv[5], NULL, 0);
	ms = atol(argv[6]);
	runs = atoi(argv[7]);
	/* A line of the cache is not to have bytes of both. */
	if (size < 64 || ms < 1)
		die("SIZE is 64 or more");
	open_end(&writer, argv[1], atoi(argv[2]));
	open_end(&target, argv[3], atoi(argv[4]));
	for (i = 0; i < PAIRS; i++)
		make_pair(&pairs[i], i);
	setlinebuf(stdout);
	for (i = 0; i < runs; i++) {
		alone = rate(1, false, ms);
		own = rate(PAIRS, false, ms);
		shared = rate(PAIRS, true, ms);
		printf("pairs %.0f %.0f %.0f\n", alone, own, shared);
	}
	return 0;
}
