// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process that writes into its rings whatever it likes, while another of its
 * threads posts. It may break its own queue pairs. It must not get at memory
 * that it has not been given, and others must not notice.
 *
 *   hostile process                           bystander process
 *     PD 1: "open" region, read-only region     QPs that exchange checked data
 *     PD 2: region that PD 1 may not touch      a region whose key is known to
 *     memory that is in no region               the hostile process
 *     QPs of each type on PD 1, an SRQ
 *
 * SRT_SEED repeats a run, as far as threads repeat; SRT_SOAK=1 makes it longer.
 */
#include "twin_fixture.h"

#include <linux/types.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <sys/mman.h>

#include "pump.h"
#include "topo.h"
#include "uverbs.h"

#define RUN_MS		7000
#define REGION		16384
#define RINGS_MAX	16
#define QPS		4

/* What foreign memory is full of: the same byte, however it is looked at. */
#define SECRET_LOOSE	0xa7a7a7a7a7a7a7a7ull
#define SECRET_PD	0xb9b9b9b9b9b9b9b9ull
#define SECRET_OTHER	0xd3d3d3d3d3d3d3d3ull
#define PLAIN_READONLY	0x0123456789abcdefull

/* Offsets in the head of a ring, and in slots, in words. */
enum {
	HEAD_PRODUCER = 128 / 4,
	HEAD_CONSUMER = 256 / 4,
	HEAD_WORDS = 384 / 4,
	SEND_OPCODE = 12 / 4,
	SEND_FLAGS = 16 / 4,
	SEND_INV = 20 / 4,
	SEND_ADDR = 24 / 4,
	SEND_RKEY = 32 / 4,
	SEND_ATOMIC_RKEY = 48 / 4,
	SEND_DMA = 184 / 4,
	SEND_SGE = 208 / 4,
	RECV_DMA = 16 / 4,
	RECV_SGE = 40 / 4,
	DMA_LENGTH = 0,
	DMA_NUM_SGE = 12 / 4,
};

/**
 * struct ring - a ring as it is mapped
 * @words: its memory
 * @count: 4-byte words of it
 * @slot_words: of a slot
 * @slots: how many
 */
struct ring {
	volatile uint32_t *words;
	size_t count;
	size_t slot_words;
	size_t slots;
};

/**
 * struct other - the bystander, in memory that both processes see
 * @rkey: of its region
 * @va: where that is
 * @ready: both are there
 * @stop: it shall finish
 */
struct other {
	volatile uint32_t rkey;
	volatile uint64_t va;
	volatile bool ready;
	volatile bool stop;
};

/**
 * struct hostile - the hostile process
 * @set: context, PD 1 and CQ
 * @pd2: PD 2
 * @srq: in PD 1
 * @qp: RC, UC and UD QPs, and an RC QP with @srq; each connected to itself
 * @mw: a type 2 window of PD 1
 * @ah: to ourselves
 * @loose: memory in no region; the others follow it, with more between them
 * @open: memory of PD 1 that everybody may use
 * @readonly: memory of PD 1 that nobody may write
 * @forbidden: memory of PD 2
 * @mr: regions of @open, @readonly, @forbidden
 * @ring: all rings
 * @rings: how many
 * @other: the bystander
 * @end_ms: when to stop
 * @seed: random numbers start here
 * @written: words written into rings
 * @posted: doorbells rung
 * @revived: QPs taken out of the error state
 */
struct hostile {
	struct verbs_set set;
	struct ibv_pd *pd2;
	struct ibv_srq *srq;
	struct ibv_qp *qp[QPS];
	struct ibv_mw *mw;
	struct ibv_ah *ah;
	uint64_t *loose;
	uint64_t *open;
	uint64_t *readonly;
	uint64_t *forbidden;
	struct ibv_mr *mr[3];
	struct ring ring[RINGS_MAX];
	int rings;
	struct other *other;
	long end_ms;
	uint32_t seed;
	uint64_t written;
	uint64_t posted;
	uint64_t revived;
};

/* ---- memory ---- */

static void fill(uint64_t *at, uint64_t value)
{
	size_t i;

	for (i = 0; i < REGION / 8; i++)
		at[i] = value;
}

static bool holds(const uint64_t *at, uint64_t value)
{
	size_t i;

	for (i = 0; i < REGION / 8; i++)
		if (at[i] != value)
			return false;
	return true;
}

/* Is there what can only have been read where nothing may be? */
static bool has_secret(const uint64_t *at)
{
	const uint32_t *word = (const uint32_t *)at;
	size_t i;

	for (i = 0; i < REGION / 4; i++)
		if (word[i] == (uint32_t)SECRET_LOOSE ||
		    word[i] == (uint32_t)SECRET_PD ||
		    word[i] == (uint32_t)SECRET_OTHER)
			return true;
	return false;
}

/* ---- the bystander ---- */

static int stand_by(struct other *other, uint32_t seed)
{
	struct twin_attr attr = TWIN_ATTR_DEFAULT;
	struct verbs_set sets[2];
	static struct pump pump;
	uint64_t *memory;
	struct ibv_mr *mr;

	memory = mmap(NULL, REGION, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fill(memory, SECRET_OTHER);
	if (twin_open(sets, TWIN_LOOPBACK))
		return 2;
	mr = ibv_reg_mr(sets[0].pd, memory, REGION,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	if (!mr || pump_init(&pump, sets, 1, &attr, seed))
		return 3;
	other->rkey = mr->rkey;
	other->va = (uintptr_t)memory;
	other->ready = true;
	while (!other->stop) {
		if (!pump_run(&pump, 50)) {
			fprintf(stderr, "# bystander: %s\n", pump.failed);
			return 4;
		}
		usleep(20000);
	}
	if (!holds(memory, SECRET_OTHER))
		return 5;
	pump_destroy(&pump);
	return ibv_dereg_mr(mr) || twin_close(sets) ? 6 : 0;
}

/* ---- the hostile one: what it has ---- */

/* All rings that are mapped, by the file that they are mapped from. */
static int find_rings(struct hostile *h)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		struct ring *ring = &h->ring[h->rings];

		if (!strstr(line, "/uverbs") || h->rings == RINGS_MAX ||
		    sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		ring->words = (void *)from;
		ring->count = (to - from) / 4;
		ring->slot_words = (1 << ring->words[0]) / 4;
		ring->slots = ring->words[1] + 1;
		h->rings++;
	}
	if (maps)
		fclose(maps);
	return h->rings;
}

static int make_memory(struct hostile *h)
{
	static const int access[] = {
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC |
		IBV_ACCESS_MW_BIND,
		IBV_ACCESS_REMOTE_READ,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
	};
	int i;

	/* loose, open, loose, readonly, loose, forbidden, loose */
	h->loose = mmap(NULL, 7 * REGION, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (h->loose == MAP_FAILED)
		return 1;
	for (i = 0; i < 7; i += 2)
		fill(h->loose + i * REGION / 8, SECRET_LOOSE);
	h->open = h->loose + REGION / 8;
	h->readonly = h->loose + 3 * REGION / 8;
	h->forbidden = h->loose + 5 * REGION / 8;
	fill(h->readonly, PLAIN_READONLY);
	fill(h->forbidden, SECRET_PD);
	for (i = 0; i < 3; i++) {
		h->mr[i] = ibv_reg_mr(i == 2 ? h->pd2 : h->set.pd,
				      h->loose + (2 * i + 1) * REGION / 8,
				      REGION, access[i]);
		if (!h->mr[i])
			return 1;
	}
	return 0;
}

static const char *memory_is_wrong(const struct hostile *h)
{
	int i;

	for (i = 0; i < 7; i += 2)
		if (!holds(h->loose + i * REGION / 8, SECRET_LOOSE))
			return "memory of no region was written";
	if (!holds(h->readonly, PLAIN_READONLY))
		return "a read-only region was written";
	if (!holds(h->forbidden, SECRET_PD))
		return "another PD's region was written";
	if (has_secret(h->open))
		return "foreign memory was read";
	return NULL;
}

static struct ibv_qp *make_qp(struct hostile *h, enum ibv_qp_type type,
			      struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = h->set.cq,
		.recv_cq = h->set.cq,
		.srq = srq,
		.cap = {
			.max_send_wr = 15, .max_recv_wr = 15,
			.max_send_sge = 4, .max_recv_sge = 4,
			.max_inline_data = 64,
		},
		.qp_type = type,
	};

	return ibv_create_qp(h->set.pd, &init);
}

static int revive(struct hostile *h, struct ibv_qp *qp)
{
	struct twin_attr attr = TWIN_ATTR_DEFAULT;

	/* What never arrives shall not take long. */
	attr.timeout = 8;
	attr.retry_cnt = 1;
	attr.rnr_retry = 1;
	h->revived++;
	return twin_connect_one(&h->set, qp, &h->set, qp->qp_num, &attr);
}

static int make_qps(struct hostile *h)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RC,
	};
	struct ibv_srq_init_attr srq_init = { .attr = { 15, 4, 0 } };
	struct ibv_qp_attr attr;
	int i;

	h->srq = ibv_create_srq(h->set.pd, &srq_init);
	if (!h->srq)
		return 1;
	for (i = 0; i < QPS; i++) {
		h->qp[i] = make_qp(h, types[i], i == 3 ? h->srq : NULL);
		if (!h->qp[i] || revive(h, h->qp[i]))
			return 1;
	}
	verbs_attr(&h->set, &attr, IBV_QPS_RTR, 0);
	h->ah = ibv_create_ah(h->set.pd, &attr.ah_attr);
	h->mw = ibv_alloc_mw(h->set.pd, IBV_MW_TYPE_2);
	return !h->ah || !h->mw;
}

/* ---- the hostile one: what it does ---- */

static uint32_t any_key(struct hostile *h, uint32_t *random)
{
	uint32_t r = twin_random(random);

	switch (r >> 8 & 15) {
	case 0:
		return h->mr[1]->lkey;
	case 1:
		return h->mr[2]->lkey;
	case 2:
		return h->other->rkey;
	case 3:
		return h->mw->rkey + (r & 1);
	case 4:
		return h->mr[0]->rkey ^ 1u << (r & 31);
	case 5:
		return r;
	case 6:
		return 0;
	default:
		return h->mr[0]->rkey;
	}
}

static uint64_t any_address(struct hostile *h, uint32_t *random)
{
	uint32_t r = twin_random(random);
	uint64_t open = (uintptr_t)h->open;

	switch (r >> 16 & 15) {
	case 0:
		return (uintptr_t)h->loose + r % (7 * REGION);
	case 1:
		return h->other->va + r % REGION;
	case 2:
		return (uintptr_t)h->forbidden + r % REGION;
	case 3:
		return (uintptr_t)h->readonly + r % REGION;
	case 4:
		return ~0ull - r % 4096;
	case 5:
		return 0xffff888000000000ull + r;
	case 6:
		return open + REGION - r % 64;
	default:
		return open + r % (REGION / 2) / 8 * 8;
	}
}

static uint32_t any_length(uint32_t *random)
{
	uint32_t r = twin_random(random);

	switch (r >> 20 & 15) {
	case 0:
		return r;
	case 1:
		return 0x80000000u + (r & 3) - 1;
	case 2:
		return REGION + r % 4096;
	case 3:
		return 0;
	default:
		return r % 4096;
	}
}

static void put_address(volatile uint32_t *at, uint64_t address)
{
	at[0] = address;
	at[1] = address >> 32;
}

static void put_sges(struct hostile *h, volatile uint32_t *sge, int count,
		     uint32_t *random)
{
	int i;

	for (i = 0; i < count; i++, sge += 4) {
		put_address(sge, any_address(h, random));
		sge[2] = any_length(random);
		sge[3] = any_key(h, random);
	}
}

/* A send slot that could almost be meant. */
static void put_send(struct hostile *h, volatile uint32_t *slot,
		     uint32_t *random)
{
	uint32_t r = twin_random(random);

	slot[SEND_OPCODE] = r % 17;
	slot[SEND_FLAGS] = r >> 8 & 15 & ~(r >> 12 & 8);
	slot[SEND_INV] = any_key(h, random);
	put_address(slot + SEND_ADDR, any_address(h, random));
	slot[SEND_RKEY] = any_key(h, random);
	slot[SEND_ATOMIC_RKEY] = any_key(h, random);
	switch (r >> 16 & 7) {
	case 0:
		/* Of a datagram: to ourselves, with our key. */
		slot[SEND_ADDR] = h->qp[2]->qp_num;
		slot[SEND_ADDR + 1] = VERBS_QKEY;
		slot[SEND_ADDR + 3] = h->ah->handle;
		break;
	case 1:
		/* Of a window: length, region, window, its new key, access. */
		put_address(slot + SEND_ADDR + 2, any_length(random));
		slot[SEND_ADDR + 4] = any_key(h, random);
		slot[SEND_ADDR + 5] = h->mw->rkey;
		slot[SEND_ADDR + 6] = h->mw->rkey + 1;
		slot[SEND_ADDR + 7] = twin_random(random) & 0x2f;
		break;
	}
	slot[SEND_DMA + DMA_LENGTH] = any_length(random);
	slot[SEND_DMA + DMA_NUM_SGE] = r >> 20 & 7;
	put_sges(h, slot + SEND_SGE, 2, random);
}

static void put_recv(struct hostile *h, volatile uint32_t *slot,
		     uint32_t *random)
{
	slot[RECV_DMA + DMA_NUM_SGE] = twin_random(random) % 3;
	put_sges(h, slot + RECV_SGE, 1, random);
}

static void scribble(struct hostile *h, struct ring *ring, uint32_t *random)
{
	size_t at = HEAD_WORDS + twin_random(random) % ring->slots *
				 ring->slot_words;
	uint32_t r = twin_random(random);

	switch (r >> 24 & 7) {
	case 0:
		ring->words[r % ring->count] = twin_random(random);
		break;
	case 1:
		ring->words[r % ring->count] ^= 1u << (r >> 19 & 31);
		break;
	case 2:
		ring->words[r & 1 ? HEAD_PRODUCER : HEAD_CONSUMER] =
			r & 2 ? r : r % ring->slots;
		break;
	case 3:
		ring->words[HEAD_PRODUCER] =
			(ring->words[HEAD_CONSUMER] + (r & 15)) % ring->slots;
		break;
	default:
		if (ring->slot_words > SEND_SGE)
			put_send(h, ring->words + at, random);
		else
			put_recv(h, ring->words + at, random);
	}
	h->written++;
}

static void *scribble_on(void *arg)
{
	struct hostile *h = arg;
	uint32_t random = h->seed;

	while (topo_now_ms() < h->end_ms) {
		int i;

		for (i = 0; i < 64; i++)
			scribble(h, &h->ring[twin_random(&random) % h->rings],
				 &random);
	}
	return NULL;
}

/* The provider would read the rings itself. */
static int ring_doorbell(struct hostile *h, struct ibv_qp *qp)
{
	struct ib_uverbs_post_send command = {
		.qp_handle = qp->handle,
		.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};
	struct ib_uverbs_post_send_resp resp;

	h->posted++;
	return uverbs_write(h->set.ctx->cmd_fd, IB_USER_VERBS_CMD_POST_SEND,
			    &command, sizeof(command), &resp, sizeof(resp));
}

/* Requests that are meant, among what the other thread writes. */
static void post(struct hostile *h, uint32_t *random)
{
	struct ring *ring = &h->ring[twin_random(random) % h->rings];
	uint32_t index = ring->words[HEAD_PRODUCER] % ring->slots;
	volatile uint32_t *slot = ring->words + HEAD_WORDS +
				  index * ring->slot_words;

	if (ring->slot_words > SEND_SGE)
		put_send(h, slot, random);
	else
		put_recv(h, slot, random);
	ring->words[HEAD_PRODUCER] = (index + 1) % ring->slots;
}

static void post_on(struct hostile *h)
{
	uint32_t random = h->seed ^ 0x55555555, round = 0;
	struct ibv_qp *qp;

	for (; topo_now_ms() < h->end_ms; round++) {
		post(h, &random);
		qp = h->qp[twin_random(&random) % QPS];
		ring_doorbell(h, qp);
		if (round % 16)
			continue;
		ibv_req_notify_cq(h->set.cq, round & 1);
		if (verbs_qp_state(qp) != IBV_QPS_RTS)
			revive(h, qp);
	}
}

/* ---- tests ---- */

FIXTURE(hostile)
{
	struct hostile h;
	pid_t bystander;
};

FIXTURE_SETUP(hostile)
{
	struct hostile *h = &self->h;
	struct verbs_set sets[2];

	memset(h, 0, sizeof(*h));
	h->seed = twin_seed();
	TH_LOG("seed %u", h->seed);
	h->other = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	self->bystander = fork();
	ASSERT_LE(0, self->bystander);
	if (!self->bystander)
		_exit(stand_by(h->other, h->seed));

	ASSERT_EQ(0, twin_open(sets, TWIN_LOOPBACK));
	ASSERT_EQ(0, verbs_close_set(&sets[1]));
	h->set = sets[0];
	h->pd2 = ibv_alloc_pd(h->set.ctx);
	ASSERT_NE(NULL, h->pd2);
	ASSERT_EQ(0, make_memory(h));
	ASSERT_EQ(0, make_qps(h));
	/* CQ, SRQ, a send ring for each QP, three receive rings. */
	ASSERT_EQ(2 + QPS + 3, find_rings(h));
	while (!h->other->ready &&
	       !waitpid(self->bystander, NULL, WNOHANG))
		usleep(1000);
	ASSERT_TRUE(h->other->ready);
}

FIXTURE_TEARDOWN(hostile)
{
	struct hostile *h = &self->h;
	int i, status = -1;

	h->other->stop = true;
	ASSERT_EQ(self->bystander, waitpid(self->bystander, &status, 0));
	EXPECT_EQ(0, status) {
		TH_LOG("the bystander ended with status %d",
		       WEXITSTATUS(status));
	}
	EXPECT_EQ(0, ibv_destroy_ah(h->ah));
	for (i = 0; i < QPS; i++)
		EXPECT_EQ(0, ibv_destroy_qp(h->qp[i]));
	EXPECT_EQ(0, ibv_dealloc_mw(h->mw));
	EXPECT_EQ(0, ibv_destroy_srq(h->srq));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, ibv_dereg_mr(h->mr[i]));
	EXPECT_EQ(0, ibv_dealloc_pd(h->pd2));
	EXPECT_EQ(0, verbs_close_set(&h->set));
}

TEST_F_TIMEOUT(hostile, rings_rewritten_under_the_driver_hurt_nobody_else, 600)
{
	struct twin_attr attr = TWIN_ATTR_DEFAULT;
	struct hostile *h = &self->h;
	struct verbs_set sets[2];
	static struct pump pump;
	pthread_t thread;
	const char *wrong;
	int i;

	h->end_ms = topo_now_ms() + RUN_MS * twin_soak();
	ASSERT_EQ(0, pthread_create(&thread, NULL, scribble_on, h));
	post_on(h);
	pthread_join(thread, NULL);
	/* Nothing is executed any more when this is answered. */
	for (i = 0; i < QPS; i++) {
		struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

		EXPECT_EQ(0, ibv_modify_qp(h->qp[i], &reset, IBV_QP_STATE));
	}
	TH_LOG("%llu words written, %llu doorbells, %llu QPs revived",
	       (unsigned long long)h->written, (unsigned long long)h->posted,
	       (unsigned long long)h->revived);
	EXPECT_LT(200, h->posted);
	EXPECT_LT(10, h->revived);
	wrong = memory_is_wrong(h);
	EXPECT_EQ(NULL, wrong) {
		TH_LOG("%s", wrong);
	}

	/* What is new works, here as elsewhere. */
	ASSERT_EQ(0, twin_open(sets, TWIN_LOOPBACK));
	ASSERT_EQ(0, pump_init(&pump, sets, 1, &attr, h->seed));
	EXPECT_TRUE(pump_run(&pump, 100)) {
		TH_LOG("%s", pump.failed);
	}
	pump_destroy(&pump);
	EXPECT_EQ(0, twin_close(sets));
}

TEST_HARNESS_MAIN
