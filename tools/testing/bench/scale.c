// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What many objects cost: the instructions that making and destroying regions
 * and queue pairs takes, the first and the last of 10,000; the memory that an
 * idle connected QP takes; the instructions of a 64 byte WRITE when 1, 100
 * or 1000 connections take turns, or are idle beside it; and what a QP costs of
 * the size that perftest asks for, beside that of another device. Prints TAP.
 *
 *	scale DEVICE GID_INDEX usual			what such a QP costs there
 *	scale DEVICE GID_INDEX BYTES INSTRUCTIONS	all, judged by that
 *
 * Run where a nanosecond is an instruction (scripts/bench-scale).
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "connect.h"

#define OBJECTS		10000
#define SOME		1000	/* the first ones and the last ones */
#define CONNECTIONS	1000
#define MESSAGES	4000
#define SIZE		64

/* What ibv_rc_pingpong asks for. */
#define PINGPONG_RECV	500

/* What perftest asks for. */
#define USUAL_SEND	128
#define USUAL_RECV	512

/* What must hold. */
#define OBJECT_GROWTH	1.25
#define MESSAGE_GROWTH	1.10
#define IDLE_GROWTH	1.02
#define QP_BYTES	16384
#define IDLE_SOFTIRQS	100

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static union ibv_gid gid;
static int gid_index;
static char *buf;
static int tests, failed;

static void die(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(2);
}

static void judge(bool good, const char *name, const char *figures)
{
	printf("%s %d %s: %s\n", good ? "ok" : "not ok", ++tests, name, figures);
	failed += !good;
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void open_device(const char *name)
{
	ctx = open_by_name(name);
	if (!ctx || ibv_query_gid(ctx, 1, gid_index, &gid))
		die("no such device or GID");
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 1024, NULL, NULL, 0);
	buf = aligned_alloc(4096, 8192);
	if (!pd || !cq || !buf)
		die("no PD, CQ or memory");
	memset(buf, 1, 8192);
	mr = ibv_reg_mr(pd, buf, 8192,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr)
		die("no region");
}

static struct ibv_qp *make_qp(uint32_t send_wr, uint32_t recv_wr)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = send_wr, .max_recv_wr = recv_wr,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(pd, &init);
}

static void connect_to(struct ibv_qp *qp, uint32_t qpn)
{
	struct qp_way way = { .qpn = qpn, .gid = gid, .gid_index = gid_index,
			      .reads = 1 };

	if (connect_qp_to(qp, &way))
		die("cannot connect");
}

/* ---- making and destroying ---- */

static void *make_region(void)
{
	return ibv_reg_mr(pd, buf, 4096, IBV_ACCESS_LOCAL_WRITE);
}

static int destroy_region(void *object)
{
	return ibv_dereg_mr(object);
}

static void *make_small_qp(void)
{
	return make_qp(1, 1);
}

static int destroy_qp(void *object)
{
	return ibv_destroy_qp(object);
}

static void judge_growth(const char *name, const double *at, bool down)
{
	double few = (at[1] - at[0]) / SOME, many = (at[3] - at[2]) / SOME;
	double growth = down ? few / many : many / few;
	char figures[100];

	snprintf(figures, sizeof(figures),
		 "%.0f instructions with few, %.0f with %d (%.2f)",
		 down ? many : few, down ? few : many, OBJECTS, growth);
	judge(growth <= OBJECT_GROWTH, name, figures);
}

/* Times before and after the first SOME and the last SOME of OBJECTS. */
static void many_objects(const char *what, void *(*make)(void),
			 int (*destroy)(void *))
{
	static void *objects[OBJECTS];
	char name[50];
	double at[4];
	int i;

	at[0] = now_ns();
	for (i = 0; i < OBJECTS; i++) {
		if (i == SOME)
			at[1] = now_ns();
		if (i == OBJECTS - SOME)
			at[2] = now_ns();
		objects[i] = make();
		if (!objects[i])
			die("cannot make so many");
	}
	at[3] = now_ns();
	snprintf(name, sizeof(name), "make %s", what);
	judge_growth(name, at, false);

	at[0] = now_ns();
	for (i = 0; i < OBJECTS; i++) {
		if (i == SOME)
			at[1] = now_ns();
		if (i == OBJECTS - SOME)
			at[2] = now_ns();
		if (destroy(objects[i]))
			die("cannot destroy");
	}
	at[3] = now_ns();
	snprintf(name, sizeof(name), "destroy %s", what);
	judge_growth(name, at, true);
}

/* ---- memory ---- */

static long meminfo_bytes(const char *field)
{
	FILE *f = fopen("/proc/meminfo", "r");
	long kb = -1;
	char line[200];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, field, strlen(field)))
			kb = atol(line + strlen(field) + 1);
	if (f)
		fclose(f);
	if (kb < 0)
		die("no such line in /proc/meminfo");
	return kb * 1024;
}

/* Free pages that CPUs keep for themselves are not in MemFree. */
static long cpus_pages(void)
{
	FILE *f = fopen("/proc/zoneinfo", "r");
	char line[200];
	long n, sum = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " count: %ld", &n) == 1)
			sum += n;
	if (f)
		fclose(f);
	return sum;
}

/* Rings are what is mapped of the device. */
static long ring_bytes(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[300];
	long sum = 0;

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "uverbs") &&
		    sscanf(line, "%lx-%lx", &start, &end) == 2)
			sum += end - start;
	if (f)
		fclose(f);
	return sum;
}

/* The process' own pages and page tables are not the driver's. */
static long bytes_in_use(void)
{
	long free = meminfo_bytes("MemFree") +
		    cpus_pages() * sysconf(_SC_PAGESIZE);

	return -free - meminfo_bytes("AnonPages") -
	       meminfo_bytes("PageTables") - ring_bytes();
}

static struct ibv_qp *qps[2 * CONNECTIONS];

static void make_connections(void)
{
	long before, each;
	char figures[100];
	int i;

	before = bytes_in_use();
	for (i = 0; i < 2 * CONNECTIONS; i++) {
		qps[i] = make_qp(1, PINGPONG_RECV);
		if (!qps[i])
			die("cannot make so many QPs");
	}
	for (i = 0; i < 2 * CONNECTIONS; i++)
		connect_to(qps[i], qps[i ^ 1]->qp_num);
	each = (bytes_in_use() - before) / (2 * CONNECTIONS);
	snprintf(figures, sizeof(figures), "%ld bytes beside %ld of rings", each,
		 ring_bytes() / (2 * CONNECTIONS));
	judge(each > 0 && each <= QP_BYTES, "memory of an idle connected QP",
	      figures);
}

/**
 * struct cost - what a QP of the usual size costs
 * @bytes: of memory, rings and what they take in page tables included
 * @instructions: to make it
 */
struct cost {
	long bytes;
	double instructions;
};

/* The memory is that of connected ones. */
static struct cost usual_cost(void)
{
	long before = bytes_in_use() + ring_bytes() +
		      meminfo_bytes("PageTables");
	double start = now_ns();
	struct cost cost;
	int i;

	for (i = 0; i < CONNECTIONS; i++) {
		qps[i] = make_qp(USUAL_SEND, USUAL_RECV);
		if (!qps[i])
			die("cannot make so many QPs");
	}
	cost.instructions = (now_ns() - start) / CONNECTIONS;
	for (i = 0; i < CONNECTIONS; i++)
		connect_to(qps[i], qps[i ^ 1]->qp_num);
	cost.bytes = (bytes_in_use() + ring_bytes() +
		      meminfo_bytes("PageTables") - before) / CONNECTIONS;
	for (i = 0; i < CONNECTIONS; i++)
		if (ibv_destroy_qp(qps[i]))
			die("cannot destroy");
	return cost;
}

static void judge_usual(const struct cost *cost, const struct cost *other)
{
	char figures[100];

	snprintf(figures, sizeof(figures), "%ld bytes, the other device %ld",
		 cost->bytes, other->bytes);
	judge(cost->bytes > 0 && cost->bytes <= other->bytes,
	      "memory of a connected QP of 128/512", figures);
	snprintf(figures, sizeof(figures),
		 "%.0f instructions, the other device %.0f",
		 cost->instructions, other->instructions);
	judge(cost->instructions <= other->instructions,
	      "make a QP of 128/512", figures);
}

/* ---- messages ---- */

static void write_once(struct ibv_qp *qp)
{
	struct ibv_sge sge = { (uintptr_t)buf, SIZE, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)buf + 4096, mr->rkey },
	};
	double deadline = now_ns() + 10e9;
	struct ibv_wc wc;

	if (ibv_post_send(qp, &wr, &bad))
		die("cannot post");
	while (!ibv_poll_cq(cq, 1, &wc))
		if (now_ns() > deadline)
			die("nothing completes");
	if (wc.status)
		die(ibv_wc_status_str(wc.status));
}

/* Instructions of a WRITE when so many connections take turns. */
static double message_cost(int connections)
{
	double start;
	int i;

	/* What is done once for each is not what a message costs. */
	for (i = 0; i < connections; i++)
		write_once(qps[2 * i]);
	start = now_ns();
	for (i = 0; i < MESSAGES; i++)
		write_once(qps[2 * (i % connections)]);
	return (now_ns() - start) / MESSAGES;
}

static void judge_messages(double alone)
{
	double one = message_cost(1), hundred = message_cost(100);
	double thousand = message_cost(CONNECTIONS);
	char figures[100];

	snprintf(figures, sizeof(figures), "%.0f, %.0f, %.0f instructions", one,
		 hundred, thousand);
	judge(hundred <= one * MESSAGE_GROWTH && thousand <= one * MESSAGE_GROWTH,
	      "WRITEs by 1, 100, 1000 connections in turn", figures);
	snprintf(figures, sizeof(figures), "%.0f alone, %.0f instructions",
		 alone, one);
	judge(one <= alone * IDLE_GROWTH, "WRITEs beside 1000 idle connections",
	      figures);
}

/* Softirqs of all kinds and CPUs so far. */
static long softirqs(void)
{
	FILE *f = fopen("/proc/stat", "r");
	char line[4096];
	long sum = -1;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "softirq ", 8))
			sum = atol(line + 8);
	if (f)
		fclose(f);
	return sum;
}

static long softirqs_of_a_second(void)
{
	long before = softirqs();

	sleep(1);
	return softirqs() - before;
}

static void judge_idle(long alone)
{
	long beside = softirqs_of_a_second();
	char figures[100];

	snprintf(figures, sizeof(figures), "%ld softirqs without them, %ld with",
		 alone, beside);
	judge(beside <= alone + IDLE_SOFTIRQS,
	      "a second with 1000 idle connections", figures);
}

int main(int argc, char **argv)
{
	bool usual = argc == 4 && !strcmp(argv[3], "usual");
	struct cost other, here;
	double cost;
	long idle;
	int i;

	if (argc != 5 && !usual)
		die("usage: scale DEVICE GID_INDEX usual | BYTES INSTRUCTIONS");
	setlinebuf(stdout);
	gid_index = atoi(argv[2]);
	open_device(argv[1]);
	here = usual_cost();
	if (usual) {
		printf("usual %ld %.0f\n", here.bytes, here.instructions);
		return 0;
	}
	printf("TAP version 13\n");
	other = (struct cost) { atol(argv[3]), atof(argv[4]) };
	judge_usual(&here, &other);
	idle = softirqs_of_a_second();

	for (i = 0; i < 2; i++)
		qps[i] = make_qp(1, PINGPONG_RECV);
	if (!qps[0] || !qps[1])
		die("no QP");
	connect_to(qps[0], qps[1]->qp_num);
	connect_to(qps[1], qps[0]->qp_num);
	cost = message_cost(1);
	if (ibv_destroy_qp(qps[0]) || ibv_destroy_qp(qps[1]))
		die("cannot destroy");

	/* Memory first: what was freed would be used again. */
	make_connections();
	judge_messages(cost);
	judge_idle(idle);
	many_objects("regions", make_region, destroy_region);
	many_objects("QPs", make_small_qp, destroy_qp);
	printf("1..%d\n", tests);
	return failed != 0;
}
