// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Everything can be taken away in the middle of traffic from both sides: it
 * takes milliseconds and leaves nothing. The traffic is in each of the states
 * that hold something: trains in a queue, packets on their way, armed timers,
 * waits for receives, retries.
 *
 * SRT_SEED repeats a run, SRT_SOAK=1 makes it twenty times as long.
 */
#include "../kselftest_harness.h"

#include <signal.h>

#include "cm.h"
#include "nldev.h"
#include "program.h"
#include "pump.h"
#include "rtnl.h"
#include "twin.h"
#include "topo.h"

#define LENGTH		16384
#define DEPTH		16
#define QP_ROUNDS	60
#define MEMORY_ROUNDS	30
#define AH_ROUNDS	60
#define KILL_ROUNDS	3
#define LINK_ROUNDS	1
#define CONNECTIONS	3

/* Milliseconds are promised; an emulated machine under load gets more. */
#define PROMPT_MS	3000
#define AVERAGE_MS	60

FIXTURE(destroy)
{
	uint32_t random;
	char before[2048];
};

FIXTURE_VARIANT(destroy)
{
	enum twin_kind kind;
	const char *netem;
};

FIXTURE_VARIANT_ADD(destroy, loopback) { TWIN_LOOPBACK };
FIXTURE_VARIANT_ADD(destroy, veth) { TWIN_VETH };
FIXTURE_VARIANT_ADD(destroy, packets_on_their_way) { TWIN_VETH, "delay 3ms" };
FIXTURE_VARIANT_ADD(destroy, retries) { TWIN_VETH, "loss 10%" };

/* What there is of each kind, in the words of the rdma tool. */
static void count_resources(char *text, size_t size)
{
	program_says(text, size, "rdma resource show");
}

/* The netdevs are new. */
static int shape(const char *netem)
{
	return netem ? twin_netem(netem) : 0;
}

FIXTURE_SETUP(destroy)
{
	self->random = twin_seed();
	TH_LOG("seed %u", self->random);
	/* Of this process, so that a namespace has no other holder. */
	ASSERT_EQ(0, twin_setup());
	ASSERT_EQ(0, shape(variant->netem));
	count_resources(self->before, sizeof(self->before));
	ASSERT_NE(NULL, strstr(self->before, TWIN_LINK_A));
}

FIXTURE_TEARDOWN(destroy)
{
	twin_teardown();
}

/* ---- objects of this process ---- */

/**
 * struct scene - two QPs that bother each other
 * @sets: of both sides
 * @mem: memory of each side
 * @mr: region of it
 * @mw: window on it, or NULL
 * @key: what the other side names it by
 * @srq: of side B's QP, and the only place where it finds receives
 * @qp: the QPs
 */
struct scene {
	struct verbs_set sets[2];
	void *mem[2];
	struct ibv_mr *mr[2];
	struct ibv_mw *mw[2];
	uint32_t key[2];
	struct ibv_srq *srq;
	struct ibv_qp *qp[2];
};

static struct ibv_qp *make_qp(struct scene *s, int side)
{
	struct ibv_qp_init_attr init = {
		.send_cq = s->sets[side].cq,
		.recv_cq = s->sets[side].cq,
		.srq = side ? s->srq : NULL,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(s->sets[side].pd, &init);
}

/* Some receives, fewer than there will be messages. */
static int post_receives(struct scene *s)
{
	struct ibv_recv_wr *bad;
	int side, i;

	for (side = 0; side < 2; side++) {
		struct ibv_sge sge = {
			(uintptr_t)s->mr[side]->addr, LENGTH, s->mr[side]->lkey
		};
		struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

		for (i = 0; i < 2; i++) {
			int ret = side ? ibv_post_srq_recv(s->srq, &wr, &bad) :
					 ibv_post_recv(s->qp[0], &wr, &bad);

			/* What a QP before this one left in the SRQ. */
			if (ret && !side)
				return ret;
		}
	}
	return 0;
}

static int post_everything(struct scene *s, uint32_t *random)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND,
		IBV_WR_RDMA_WRITE, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_send_wr *bad;
	int side, i;

	for (i = 0; i < 2 * DEPTH; i++) {
		enum ibv_wr_opcode opcode = opcodes[twin_random(random) % 5];
		bool atomic = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
		struct ibv_mr *near, *far;
		struct ibv_sge sge;
		struct ibv_send_wr wr;

		side = i & 1;
		near = s->mr[side];
		far = s->mr[!side];
		sge = (struct ibv_sge) {
			(uintptr_t)near->addr, atomic ? 8 : LENGTH, near->lkey
		};
		wr = (struct ibv_send_wr) {
			.opcode = opcode,
			.sg_list = &sge,
			.num_sge = 1,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { (uintptr_t)far->addr, s->key[!side] },
		};
		if (atomic) {
			wr.wr.atomic.remote_addr = (uintptr_t)far->addr;
			wr.wr.atomic.rkey = s->key[!side];
		}
		if (ibv_post_send(s->qp[side], &wr, &bad))
			return 1;
	}
	return 0;
}

static int reg_memory(struct scene *s)
{
	int side;

	for (side = 0; side < 2; side++) {
		s->mr[side] = ibv_reg_mr(s->sets[side].pd, s->mem[side],
					 LENGTH, IBV_ACCESS_LOCAL_WRITE |
					 IBV_ACCESS_REMOTE_READ |
					 IBV_ACCESS_REMOTE_WRITE |
					 IBV_ACCESS_REMOTE_ATOMIC |
					 IBV_ACCESS_MW_BIND);
		if (!s->mr[side])
			return 1;
		s->key[side] = s->mr[side]->rkey;
	}
	return 0;
}

static int open_scene(struct scene *s, enum twin_kind kind)
{
	int side;

	memset(s, 0, sizeof(*s));
	if (twin_open(s->sets, kind))
		return 1;
	for (side = 0; side < 2; side++)
		s->mem[side] = calloc(1, LENGTH);
	return 0;
}

static int dereg_memory(struct scene *s)
{
	return ibv_dereg_mr(s->mr[0]) ?: ibv_dereg_mr(s->mr[1]);
}

static int destroy_srq(struct scene *s)
{
	struct ibv_srq *srq = s->srq;

	s->srq = NULL;
	return srq ? ibv_destroy_srq(srq) : 0;
}

static int close_scene(struct scene *s)
{
	int ret = destroy_srq(s);

	free(s->mem[0]);
	free(s->mem[1]);
	return ret ?: twin_close(s->sets);
}

static int connect_round(struct scene *s)
{
	struct ibv_srq_init_attr init = { .attr = { DEPTH, 1, 0 } };
	struct twin_attr attr = TWIN_ATTR_DEFAULT;

	if (!s->srq)
		s->srq = ibv_create_srq(s->sets[1].pd, &init);
	if (!s->srq)
		return 1;
	s->qp[0] = make_qp(s, 0);
	s->qp[1] = make_qp(s, 1);
	if (!s->qp[0] || !s->qp[1])
		return 1;
	return twin_connect(s->sets, s->qp[0], s->qp[1], &attr) ? 2 : 0;
}

static int start_round(struct scene *s, uint32_t *random)
{
	return post_receives(s) || post_everything(s, random) ? 3 : 0;
}

static void drain(struct ibv_cq *cq)
{
	struct ibv_wc wc[16];

	while (ibv_poll_cq(cq, 16, wc) > 0)
		;
}

TEST_F_TIMEOUT(destroy, queue_pairs_in_traffic, 600)
{
	int round, rounds = QP_ROUNDS * twin_soak(), first;
	long start, took = 0, worst = 0;
	static struct scene s;
	char after[2048];

	ASSERT_EQ(0, open_scene(&s, variant->kind));
	ASSERT_EQ(0, reg_memory(&s));
	for (round = 0; round < rounds; round++) {
		ASSERT_EQ(0, connect_round(&s));
		ASSERT_EQ(0, start_round(&s, &self->random));
		usleep(twin_random(&self->random) % 4000);
		/* What they use cannot go before them. */
		EXPECT_EQ(EBUSY, ibv_destroy_cq(s.sets[0].cq));
		EXPECT_EQ(EBUSY, ibv_destroy_srq(s.srq));
		EXPECT_EQ(EBUSY, ibv_dealloc_pd(s.sets[1].pd));
		first = twin_random(&self->random) & 1;
		start = topo_now_ms();
		EXPECT_EQ(0, ibv_destroy_qp(s.qp[first]));
		EXPECT_EQ(0, ibv_destroy_qp(s.qp[!first]));
		start = topo_now_ms() - start;
		took += start;
		worst = start > worst ? start : worst;
		drain(s.sets[0].cq);
		drain(s.sets[1].cq);
	}
	TH_LOG("%d rounds; two QPs go in %ld ms on average, %ld at worst",
	       rounds, took / rounds, worst);
	EXPECT_GT(AVERAGE_MS, took / rounds);
	EXPECT_EQ(0, dereg_memory(&s));
	EXPECT_EQ(0, close_scene(&s));
	count_resources(after, sizeof(after));
	EXPECT_STREQ(self->before, after);
}

/* A window on all of a side's memory, which the other side is to use. */
static int open_window(struct scene *s, int side)
{
	long deadline = topo_now_ms() + PROMPT_MS;
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = s->mr[side],
			.addr = (uintptr_t)s->mem[side],
			.length = LENGTH,
			.mw_access_flags = IBV_ACCESS_REMOTE_READ |
					   IBV_ACCESS_REMOTE_WRITE |
					   IBV_ACCESS_REMOTE_ATOMIC,
		},
	};
	struct ibv_wc wc;

	s->mw[side] = ibv_alloc_mw(s->sets[side].pd, IBV_MW_TYPE_1);
	if (!s->mw[side] || ibv_bind_mw(s->qp[side], s->mw[side], &bind))
		return 1;
	while (ibv_poll_cq(s->sets[side].cq, 1, &wc) != 1)
		if (topo_now_ms() > deadline)
			return 2;
	s->key[side] = s->mw[side]->rkey;
	return wc.status;
}

/* What both sides send from, receive into and access goes, then the QPs. */
TEST_F_TIMEOUT(destroy, memory_in_traffic, 600)
{
	int round, rounds = MEMORY_ROUNDS * twin_soak(), first;
	long start, took = 0, worst = 0;
	static struct scene s;
	char after[2048];

	ASSERT_EQ(0, open_scene(&s, variant->kind));
	for (round = 0; round < rounds; round++) {
		ASSERT_EQ(0, reg_memory(&s));
		ASSERT_EQ(0, connect_round(&s));
		first = twin_random(&self->random) & 1;
		ASSERT_EQ(0, open_window(&s, first));
		ASSERT_EQ(0, start_round(&s, &self->random));
		usleep(twin_random(&self->random) % 4000);
		start = topo_now_ms();
		EXPECT_EQ(EBUSY, ibv_dereg_mr(s.mr[first]));
		EXPECT_EQ(0, ibv_dealloc_mw(s.mw[first]));
		EXPECT_EQ(0, ibv_dereg_mr(s.mr[first]));
		EXPECT_EQ(0, ibv_dereg_mr(s.mr[!first]));
		start = topo_now_ms() - start;
		took += start;
		worst = start > worst ? start : worst;
		EXPECT_EQ(0, ibv_destroy_qp(s.qp[!first]));
		EXPECT_EQ(0, ibv_destroy_qp(s.qp[first]));
		/* Its receives name the memory that is gone. */
		EXPECT_EQ(0, destroy_srq(&s));
		drain(s.sets[0].cq);
		drain(s.sets[1].cq);
	}
	TH_LOG("%d rounds; memory goes in %ld ms on average, %ld at worst",
	       rounds, took / rounds, worst);
	EXPECT_GT(AVERAGE_MS, took / rounds);
	EXPECT_EQ(0, close_scene(&s));
	count_resources(after, sizeof(after));
	EXPECT_STREQ(self->before, after);
}

/* ---- address handles ---- */

static struct ibv_qp *make_ud_qp(struct verbs_set *set)
{
	struct ibv_qp_init_attr init = {
		.send_cq = set->cq,
		.recv_cq = set->cq,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_qp *qp = ibv_create_qp(set->pd, &init);

	return qp && !verbs_qp_to(set, qp, IBV_QPS_RTS, 0) ? qp : NULL;
}

static struct ibv_ah *make_ah(struct scene *s)
{
	struct ibv_qp_attr attr;

	verbs_attr(&s->sets[0], &attr, IBV_QPS_RTR, 0);
	attr.ah_attr.grh.dgid = s->sets[1].gid;
	return ibv_create_ah(s->sets[0].pd, &attr.ah_attr);
}

static int post_datagrams(struct scene *s, struct ibv_ah *ah, int count)
{
	struct ibv_sge sge = {
		(uintptr_t)s->mem[0], 1024, s->mr[0]->lkey
	};
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.ud = { ah, s->qp[1]->qp_num, VERBS_QKEY },
	};
	int ret = 0;

	while (count-- && !ret)
		ret = ibv_post_send(s->qp[0], &wr, &bad);
	return ret;
}

/*
 * How many of so many datagrams went. Those that came too late for their
 * handle say so; -1 if they do not, or are not complete in time.
 */
static int count_gone(struct scene *s, int count)
{
	long deadline = topo_now_ms() + PROMPT_MS;
	struct ibv_wc wc;
	int gone = 0;

	while (count) {
		if (topo_now_ms() > deadline)
			return -1;
		if (ibv_poll_cq(s->sets[0].cq, 1, &wc) != 1)
			continue;
		count--;
		if (wc.status != IBV_WC_SUCCESS &&
		    wc.status != IBV_WC_LOC_QP_OP_ERR &&
		    wc.status != IBV_WC_WR_FLUSH_ERR)
			return -1;
		gone += !wc.status;
	}
	return gone;
}

TEST_F_TIMEOUT(destroy, address_handles_in_traffic, 600)
{
	int round, rounds = AH_ROUNDS * twin_soak(), gone, total = 0;
	static struct scene s;
	struct ibv_ah *ah;
	char after[2048];

	ASSERT_EQ(0, open_scene(&s, variant->kind));
	ASSERT_EQ(0, reg_memory(&s));
	for (round = 0; round < rounds; round++) {
		s.qp[0] = make_ud_qp(&s.sets[0]);
		s.qp[1] = make_ud_qp(&s.sets[1]);
		ah = make_ah(&s);
		ASSERT_NE(NULL, s.qp[0]);
		ASSERT_NE(NULL, s.qp[1]);
		ASSERT_NE(NULL, ah);
		ASSERT_EQ(0, post_datagrams(&s, ah, DEPTH));
		if (round & 1)
			usleep(twin_random(&self->random) % 4000);
		EXPECT_EQ(0, ibv_destroy_ah(ah));
		gone = count_gone(&s, DEPTH);
		ASSERT_LE(0, gone);
		total += gone;
		EXPECT_EQ(0, ibv_destroy_qp(s.qp[round & 1]));
		EXPECT_EQ(0, ibv_destroy_qp(s.qp[!(round & 1)]));
	}
	TH_LOG("%d of %d datagrams went", total, rounds * DEPTH);
	EXPECT_LT(rounds * DEPTH / 4, total);
	EXPECT_EQ(0, dereg_memory(&s));
	EXPECT_EQ(0, close_scene(&s));
	count_resources(after, sizeof(after));
	EXPECT_STREQ(self->before, after);
}

/* ---- other processes ---- */

/* The exit status of a process that does this until it cannot any more. */
typedef int traffic_t(enum twin_kind kind, uint32_t seed, int ready);

static int checked_traffic(enum twin_kind kind, uint32_t seed, int ready)
{
	struct twin_attr attr = TWIN_ATTR_DEFAULT;
	struct verbs_set sets[2];
	static struct pump pump;

	twin_drop_b();
	if (twin_open(sets, kind) ||
	    pump_init(&pump, sets, CONNECTIONS, &attr, seed) ||
	    !pump_run(&pump, 20) || write(ready, "", 1) != 1)
		return 1;
	/* Goes wrong when something is taken away, as it should. */
	return pump_run(&pump, 600000) ? 2 : 0;
}

static bool has_address(const char *link, const char *address)
{
	struct ibv_context *ctx = verbs_open(link);
	bool has = ctx && !verbs_wait_gid(ctx, address, true, PROMPT_MS);

	if (ctx)
		ibv_close_device(ctx);
	return has;
}

static int enter_b(void)
{
	return twin_enter(TWIN_B);
}

/* Management datagrams through QP 1, both ways. */
static int connections(enum twin_kind kind, uint32_t seed, int ready)
{
	struct cm_config config = {
		.server = kind == TWIN_VETH ? TWIN_IPV4_B : TWIN_IPV4_A,
		.enter = kind == TWIN_VETH ? enter_b : NULL,
	};
	struct cm_pair pair;
	bool is_first = true;

	if (!has_address(TWIN_LINK_A, TWIN_IPV4_A) ||
	    !has_address(TWIN_LINK_B, TWIN_IPV4_B))
		return 1;
	while (!cm_open(&pair, &config)) {
		if (is_first && write(ready, "", 1) != 1)
			return 1;
		is_first = false;
		if (cm_disconnect(&pair) || cm_close(&pair))
			break;
	}
	return 0;
}

/* The traffic runs when this returns its process; or -1. */
static pid_t start_traffic(traffic_t *traffic, enum twin_kind kind,
			   uint32_t seed)
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		close(ready[0]);
		_exit(traffic(kind, seed, ready[1]));
	}
	close(ready[1]);
	if (pid > 0 && read(ready[0], &c, 1) != 1)
		pid = -1;
	close(ready[0]);
	return pid;
}

static int end_traffic(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	return waitpid(pid, &status, 0) == pid ? 0 : -1;
}

TEST_F_TIMEOUT(destroy, processes_in_traffic, 600)
{
	int round, rounds = KILL_ROUNDS * twin_soak();
	long start, took = 0;
	char after[2048];

	for (round = 0; round < rounds; round++) {
		pid_t pid = start_traffic(checked_traffic, variant->kind,
					  self->random);

		ASSERT_LT(0, pid);
		usleep(twin_random(&self->random) % 20000);
		start = topo_now_ms();
		ASSERT_EQ(0, end_traffic(pid));
		took += topo_now_ms() - start;
	}
	TH_LOG("killed %d times, gone in %ld ms on average", rounds,
	       took / rounds);
	EXPECT_GT(PROMPT_MS, took / rounds);
	count_resources(after, sizeof(after));
	EXPECT_STREQ(self->before, after);
}

/* ---- links ---- */

enum what { WHAT_LINK, WHAT_NETDEV, WHAT_NAMESPACE };

static int take_away(enum what what)
{
	switch (what) {
	case WHAT_LINK:
		return nldev_link_del(TWIN_LINK_A) ?:
		       nldev_link_del(TWIN_LINK_B);
	case WHAT_NETDEV:
		return rtnl_del(TWIN_NETDEV_A);
	case WHAT_NAMESPACE:
		twin_drop_b();
		return 0;
	}
	return -1;
}

static void links_go(struct __test_metadata *_metadata, uint32_t *random,
		     traffic_t *traffic,
		     const struct _fixture_variant_destroy *variant,
		     enum what what)
{
	int round, rounds = LINK_ROUNDS * twin_soak();
	long start, worst = 0;

	for (round = 0; round < rounds; round++) {
		pid_t pid;

		ASSERT_EQ(0, round ? shape(variant->netem) : 0);
		pid = start_traffic(traffic, variant->kind,
				    twin_random(random) | 1);
		ASSERT_LT(0, pid);
		usleep(twin_random(random) % 20000);
		start = topo_now_ms();
		ASSERT_EQ(0, take_away(what));
		/* With loopback side B is nobody's business, but goes too. */
		EXPECT_EQ(0, topo_wait_link(TWIN_LINK_A, false, PROMPT_MS));
		EXPECT_EQ(0, topo_wait_link(TWIN_LINK_B, false, PROMPT_MS));
		start = topo_now_ms() - start;
		worst = start > worst ? start : worst;
		EXPECT_EQ(0, end_traffic(pid));
		ASSERT_EQ(0, twin_remake());
	}
	TH_LOG("gone in %ld ms at worst", worst);
}

TEST_F_TIMEOUT(destroy, links_in_traffic, 600)
{
	links_go(_metadata, &self->random, checked_traffic, variant, WHAT_LINK);
}

TEST_F_TIMEOUT(destroy, netdevs_in_traffic, 600)
{
	links_go(_metadata, &self->random, checked_traffic, variant, WHAT_NETDEV);
}

TEST_F_TIMEOUT(destroy, namespaces_in_traffic, 600)
{
	links_go(_metadata, &self->random, checked_traffic, variant,
		 WHAT_NAMESPACE);
}

TEST_F_TIMEOUT(destroy, links_while_connecting, 600)
{
	links_go(_metadata, &self->random, connections, variant, WHAT_LINK);
}

TEST_F_TIMEOUT(destroy, netdevs_while_connecting, 600)
{
	links_go(_metadata, &self->random, connections, variant, WHAT_NETDEV);
}

TEST_HARNESS_MAIN
