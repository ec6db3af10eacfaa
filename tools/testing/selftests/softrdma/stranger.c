// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "stranger.h"

/* For so long it is seen whether the owner notices that the thief is stopped. */
#define HOG_US		20000

/* ---- both ---- */

bool stranger_await(struct table *table, int round, enum step step)
{
	long deadline = topo_now_ms() + PATIENCE_MS;

	while (table->at < round * STEPS + step) {
		if (table->wrong || topo_now_ms() > deadline)
			return false;
		/* Who is to be run seldom is to be run at all. */
		usleep(100);
	}
	return table->at != OVER;
}

bool stranger_is_at(struct table *table, enum step step)
{
	return table->at != OVER && table->at % STEPS == step;
}

void stranger_reach(struct table *table, enum step step)
{
	int at = table->at;

	/* Who ends it may have been first. */
	if (at != OVER)
		atomic_compare_exchange_strong(&table->at, &at,
					       at - at % STEPS + step);
}

void stranger_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

void stranger_become(uid_t uid)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		_exit(1);
	/* The device's files are found by what is open of /proc. */
	prctl(PR_SET_DUMPABLE, 1);
}

static struct ibv_qp *make_qp(struct user *u, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = u->set.cq,
		.recv_cq = u->set.cq,
		.cap = { .max_send_wr = 2 * DEPTH, .max_recv_wr = 2 * DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = type,
	};

	return ibv_create_qp(u->set.pd, &init);
}

static int connect_qp(struct user *u, enum ending ending)
{
	enum ibv_qp_type type = u->qp->qp_type;
	enum ibv_qp_state state;
	struct ibv_qp_attr attr;
	int ret = 0;

	for (state = IBV_QPS_INIT; !ret && state <= IBV_QPS_RTS; state++) {
		verbs_attr(&u->set, &attr, state, u->table->qpn[!u->who]);
		attr.sq_psn = attr.rq_psn;
		attr.path_mtu = IBV_MTU_1024;
		/* Who waits for the end of its patience has little. */
		attr.timeout = ending == END_RETRIES ? 1 : 12;
		attr.retry_cnt = ending == END_RETRIES ? 0 : 7;
		attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				       IBV_ACCESS_LOCAL_WRITE;
		if (type == IBV_QPT_RC)
			attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ;
		ret = ibv_modify_qp(u->qp, &attr,
				    verbs_mask(type, state - 1, state));
	}
	return ret;
}

bool stranger_open(struct user *u, struct table *table, int who,
		      uint8_t *mem)
{
	*u = (struct user) { .table = table, .who = who, .mem = mem };
	if (!MUST(table, !verbs_open_set(&u->set, TOPO_LINK)))
		return false;
	u->mr = ibv_reg_mr(u->set.pd, mem, DEPTH * LENGTH, ACCESS_ALL);
	return MUST(table, u->mr);
}

bool stranger_meet(struct user *u, enum deed deed, enum ending ending)
{
	u->qp = make_qp(u, deed == DEED_UC_SEND ? IBV_QPT_UC : IBV_QPT_RC);
	if (!MUST(u->table, u->qp))
		return false;
	u->table->qpn[u->who] = u->qp->qp_num;
	while (!u->table->qpn[!u->who])
		if (u->table->wrong || u->table->at == OVER)
			return false;
	return MUST(u->table, !connect_qp(u, ending));
}

int stranger_post(struct user *u, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(u->qp, wr, &bad);
}

void stranger_drain_cq(struct user *u)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(u->set.cq, 1, &wc) > 0)
		;
}

long stranger_count(const uint8_t *mem, uint8_t byte)
{
	long n = 0;
	int i;

	for (i = 0; i < DEPTH * LENGTH; i++)
		n += mem[i] == byte;
	return n;
}

/* ---- the thief ---- */

static bool is_over(const struct user *u)
{
	return u->table->at == OVER;
}

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/*
 * Modifies the QP, which stops its engines: where one is running, it waits for
 * that, and is seldom let go on, as it shares its CPU with the one below.
 */
static void *keep_stopped(void *arg)
{
	struct sched_param param = {};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.min_rnr_timer = 1,
	};
	struct user *u = arg;
	struct ibv_qp *qp;
	int mask;

	stranger_pin(1);
	sched_setscheduler(0, SCHED_IDLE, &param);
	while (!is_over(u)) {
		u->in_use = true;
		qp = u->qp;
		mask = IBV_QP_STATE;
		if (qp && qp->qp_type == IBV_QPT_RC)
			mask |= IBV_QP_MIN_RNR_TIMER;
		if (qp)
			ibv_modify_qp(qp, &attr, mask);
		u->in_use = false;
		u->table->modified++;
	}
	return NULL;
}

static void *keep_busy(void *arg)
{
	struct user *u = arg;
	uint32_t random = 1;
	long modified, end;

	stranger_pin(1);
	while (!is_over(u)) {
		modified = u->table->modified;
		random = random * 1103515245 + 12345;
		usleep(50 + random / 65536 % 1000);
		/* It has not come far: perhaps it is where it should be. */
		if (!u->qp || u->let_run || u->table->modified > modified + 1)
			continue;
		end = now_us() + HOG_US;
		while (!is_over(u) && !u->let_run &&
		       (now_us() < end || u->table->stay))
			;
	}
	return NULL;
}

static void post_receives(struct user *u)
{
	struct ibv_recv_wr *bad;
	int i;

	for (i = 0; i < DEPTH; i++) {
		struct ibv_sge sge = {
			(uintptr_t)u->mem + i * LENGTH, LENGTH, u->mr->lkey
		};
		struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

		MUST(u->table, !ibv_post_recv(u->qp, &wr, &bad));
	}
}

static int post_access(struct user *u, enum deed deed, int slot)
{
	struct table *table = u->table;
	struct ibv_sge sge = {
		(uintptr_t)u->mem + slot * LENGTH, LENGTH, u->mr->lkey
	};
	struct ibv_send_wr wr = {
		.opcode = deed == DEED_READ ? IBV_WR_RDMA_READ :
					      IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma.remote_addr = table->addr[OWNER] + slot * LENGTH,
		.wr.rdma.rkey = table->key[OWNER],
	};

	return stranger_post(u, &wr);
}

static int post_invalidation(struct user *u)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND_WITH_INV,
		.invalidate_rkey = u->table->key[OWNER],
	};

	return stranger_post(u, &wr);
}

/* Accesses the owner's memory for as long as it can, and a little longer. */
static void access_all(struct user *u, enum deed deed, enum ending ending)
{
	struct table *table = u->table;
	int head = 0, tail = 0;
	bool failed = false;
	struct ibv_wc wc;

	while (stranger_is_at(table, STEP_GO) && !failed) {
		for (; head - tail < DEPTH && !failed; head++)
			failed = post_access(u, deed, head % DEPTH);
		while (ibv_poll_cq(u->set.cq, 1, &wc) > 0) {
			if (wc.opcode == IBV_WC_SEND)
				continue;
			tail++;
			failed |= wc.status;
			/* Not before some have been served. */
			if (++table->done == DEPTH && ending == END_SEND_INV)
				failed |= post_invalidation(u);
		}
		sched_yield();
	}
}

/* What has come before is executed by now, if it ever is. */
static void let_run(struct user *u, bool by_hold)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	long deadline = topo_now_ms() + PATIENCE_MS;
	long modified = u->table->modified;

	u->let_run = true;
	if (by_hold)
		ibv_modify_qp(u->qp, &attr, IBV_QP_STATE);
	else
		while (u->table->modified < modified + 2 &&
		       MUST(u->table, topo_now_ms() < deadline))
			usleep(200);
	usleep(500);
}

void stranger_be_thief(struct table *table, enum deed deed, enum ending ending,
		     bool by_hold)
{
	uint8_t *mem = mmap(NULL, DEPTH * LENGTH, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t threads[2];
	struct ibv_qp *qp;
	struct user u;
	int round;

	stranger_become(THIEF_UID);
	stranger_pin(0);
	if (!stranger_open(&u, table, THIEF, mem))
		return;
	table->addr[THIEF] = (uintptr_t)mem;
	table->key[THIEF] = u.mr->rkey;
	if (!by_hold) {
		pthread_create(&threads[0], NULL, keep_busy, &u);
		pthread_create(&threads[1], NULL, keep_stopped, &u);
	}
	for (round = 1; stranger_await(table, round, STEP_CONNECT); round++) {
		memset(mem, THIEFS, DEPTH * LENGTH);
		if (!stranger_meet(&u, deed, ending))
			break;
		if (is_owners_deed(deed))
			post_receives(&u);
		stranger_reach(table, STEP_READY);
		if (!stranger_await(table, round, STEP_GO))
			break;
		if (!is_owners_deed(deed))
			access_all(&u, deed, ending);
		if (!stranger_await(table, round, STEP_TAKEN))
			break;
		let_run(&u, by_hold);
		table->leaked += stranger_count(mem, SECRET);
		qp = u.qp;
		u.qp = NULL;
		while (u.in_use)
			sched_yield();
		u.let_run = false;
		if (ending != END_LINK)
			MUST(table, !ibv_destroy_qp(qp));
		stranger_drain_cq(&u);
		stranger_reach(table, STEP_JUDGED);
	}
	table->at = OVER;
}
