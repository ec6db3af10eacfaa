// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Unreliable connections and datagrams over networks that lose, duplicate,
 * reorder and corrupt (netem on both ends of a veth): a message arrives whole
 * or not at all, with no byte wrong. It comes twice, or late, only where the
 * network does that: a packet that begins a message counts whatever its PSN
 * (9.8.2), and datagrams have no order.
 *
 * SRT_SEED repeats a run, SRT_SOAK=1 makes it twenty times as long.
 */
#include "twin_fixture.h"

#include <arpa/inet.h>

#include "topo.h"

#define MESSAGES	500
#define OUTSTANDING	8
#define BATCH		64
#define RECVS		(2 * BATCH)
#define GRH		40
#define UC_MAX_LEN	6000
#define UD_MAX_LEN	4096
#define STRIDE		6144
#define CANARY		0xc5
#define STUCK_MS	20000
#define QUIET_MS	30
#define SETTLE_MS	100

/**
 * struct stream - numbered messages from one QP to another
 * @sets: of both ends
 * @qp: of both ends
 * @ah: datagrams: where they go
 * @opcode: with immediate data, which are a message's number
 * @max_len: longest message
 * @seed: of sizes and bytes
 * @count: messages to send
 * @out: OUTSTANDING strides to send from
 * @in: RECVS strides to receive into
 * @far: a stride for each message that is written
 * @mr: regions of these three, and one more of @in: receives are of either in turn
 * @posted: messages posted so far
 * @sent: how many of them have completed
 * @limit: end of the batch of messages that may be posted
 * @missing: messages of earlier batches that nobody waits for any more
 * @arrived: messages that came
 * @seen: the same with repetitions
 * @times: how often each came
 * @last: number of the last one that came, or -1
 * @late: how many came after one with a higher number
 */
struct stream {
	struct verbs_set sets[2];
	struct ibv_qp *qp[2];
	struct ibv_ah *ah;
	enum ibv_wr_opcode opcode;
	uint32_t max_len;
	uint32_t seed;
	int count;
	uint8_t *out;
	uint8_t *in;
	uint8_t *far;
	struct ibv_mr *mr[4];
	int posted;
	int sent;
	int limit;
	int missing;
	int arrived;
	int seen;
	uint8_t *times;
	int last;
	int late;
};

static uint8_t pool[8192 + STRIDE];

static void fill_pool(void)
{
	uint32_t state = 0x2545f491, i;

	for (i = 0; i < sizeof(pool); i++)
		pool[i] = twin_random(&state);
}

/* What message @number has to say, and how much of it. */
static const uint8_t *bytes_of(const struct stream *st, uint32_t number)
{
	return pool + ((number + st->seed) * 2654435761u >> 19);
}

static uint32_t len_of(const struct stream *st, uint32_t number)
{
	uint32_t state = (number ^ st->seed) * 2246822519u | 1;

	twin_random(&state);
	switch (twin_random(&state) % 4) {
	case 0:
		return twin_random(&state) % 64;
	case 1:
		return 1024 * (1 + twin_random(&state) % (st->max_len / 1024)) -
		       twin_random(&state) % 3;
	}
	return twin_random(&state) % (st->max_len + 1);
}

/* ---- making ---- */

static struct ibv_qp *make_qp(struct verbs_set *set, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = set->cq,
		.recv_cq = set->cq,
		.cap = { .max_send_wr = OUTSTANDING, .max_recv_wr = RECVS,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = type,
	};

	return ibv_create_qp(set->pd, &init);
}

static struct ibv_ah *make_ah(struct stream *st)
{
	struct ibv_qp_attr attr;

	verbs_attr(&st->sets[0], &attr, IBV_QPS_RTR, 0);
	attr.ah_attr.grh.dgid = st->sets[1].gid;
	return ibv_create_ah(st->sets[0].pd, &attr.ah_attr);
}

static uint8_t *make_memory(struct verbs_set *set, size_t strides,
			    struct ibv_mr **mr)
{
	uint8_t *mem = malloc(strides * STRIDE);

	memset(mem, CANARY, strides * STRIDE);
	*mr = ibv_reg_mr(set->pd, mem, strides * STRIDE,
			 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	return mem;
}

static int stream_open(struct stream *st, enum ibv_qp_type type)
{
	struct twin_attr attr = TWIN_ATTR_DEFAULT;

	fill_pool();
	st->count = MESSAGES * twin_soak();
	st->last = -1;
	st->times = calloc(st->count, 1);
	st->out = make_memory(&st->sets[0], OUTSTANDING, &st->mr[0]);
	st->in = make_memory(&st->sets[1], RECVS, &st->mr[1]);
	st->far = make_memory(&st->sets[1], st->count, &st->mr[2]);
	st->mr[3] = ibv_reg_mr(st->sets[1].pd, st->in, RECVS * STRIDE, IBV_ACCESS_LOCAL_WRITE);
	st->qp[0] = make_qp(&st->sets[0], type);
	st->qp[1] = make_qp(&st->sets[1], type);
	if (!st->mr[0] || !st->mr[1] || !st->mr[2] || !st->mr[3] || !st->qp[0] || !st->qp[1])
		return ENOMEM;
	if (type == IBV_QPT_UD) {
		st->ah = make_ah(st);
		if (!st->ah)
			return ENOMEM;
	}
	return twin_connect(st->sets, st->qp[0], st->qp[1], &attr);
}

static int stream_close(struct stream *st)
{
	int ret = st->ah ? ibv_destroy_ah(st->ah) : 0;
	int i;

	for (i = 0; i < 2; i++)
		ret = ret ?: ibv_destroy_qp(st->qp[i]);
	for (i = 0; i < 4; i++)
		ret = ret ?: ibv_dereg_mr(st->mr[i]);
	free(st->out);
	free(st->in);
	free(st->far);
	free(st->times);
	return ret;
}

/* ---- running ---- */

static int post_recv(struct stream *st, int slot)
{
	struct ibv_sge sge = {
		(uintptr_t)st->in + slot * STRIDE, STRIDE,
		st->mr[slot % 2 ? 1 : 3]->lkey
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = slot, .sg_list = &sge, .num_sge = 1,
	};

	return ibv_post_recv(st->qp[1], &wr, &bad);
}

static int post_message(struct stream *st)
{
	uint8_t *out = st->out + st->posted % OUTSTANDING * STRIDE;
	uint32_t number = st->posted++;
	struct ibv_sge sge = {
		(uintptr_t)out, len_of(st, number), st->mr[0]->lkey
	};
	struct ibv_send_wr *bad, wr = {
		.opcode = st->opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(number),
		.sg_list = &sge,
		.num_sge = 1,
	};

	memcpy(out, bytes_of(st, number), sge.length);
	if (st->ah) {
		wr.wr.ud.ah = st->ah;
		wr.wr.ud.remote_qpn = st->qp[1]->qp_num;
		wr.wr.ud.remote_qkey = VERBS_QKEY;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)st->far + number * STRIDE;
		wr.wr.rdma.rkey = st->mr[2]->rkey;
	}
	return ibv_post_send(st->qp[0], &wr, &bad);
}

/* NULL, or what is wrong with a message that came. */
static const char *check(struct stream *st, const struct ibv_wc *wc)
{
	uint32_t number = ntohl(wc->imm_data), grh = st->ah ? GRH : 0;
	const uint8_t *at = st->in + wc->wr_id * STRIDE + grh;

	if (wc->status)
		return ibv_wc_status_str(wc->status);
	if (!(wc->wc_flags & IBV_WC_WITH_IMM) || number >= st->posted)
		return "a message that nobody has sent";
	if (st->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		at = st->far + number * STRIDE;
	if (wc->byte_len != len_of(st, number) + grh)
		return "not the whole message";
	if (memcmp(at, bytes_of(st, number), len_of(st, number)))
		return "wrong bytes";
	st->seen++;
	if (!st->times[number]++)
		st->arrived++;
	if ((int)number < st->last)
		st->late++;
	st->last = number;
	return post_recv(st, wc->wr_id) ? "no receive can be posted" : NULL;
}

static const char *poll_both(struct stream *st)
{
	const char *wrong = NULL;
	struct ibv_wc wc;

	while (!wrong && ibv_poll_cq(st->sets[1].cq, 1, &wc) > 0)
		wrong = check(st, &wc);
	while (!wrong && ibv_poll_cq(st->sets[0].cq, 1, &wc) > 0) {
		st->sent++;
		if (wc.status)
			wrong = ibv_wc_status_str(wc.status);
	}
	return wrong;
}

/*
 * The next batch may go when the last one is here, or nothing of it comes any
 * more: there are receives for two.
 */
static void begin_batch(struct stream *st, bool is_quiet)
{
	if (st->posted < st->limit ||
	    (!is_quiet && st->posted - st->arrived > st->missing))
		return;
	st->missing = st->posted - st->arrived;
	st->limit += st->count - st->limit < BATCH ? st->count - st->limit :
						     BATCH;
}

/* All messages; then what is still under way. NULL, or what went wrong. */
static const char *stream_run(struct stream *st)
{
	long now = topo_now_ms(), came = now, end = now + STUCK_MS * twin_soak();
	const char *wrong = NULL;
	int i, before;

	for (i = 0; i < RECVS; i++)
		if (post_recv(st, i))
			return "no receive can be posted";
	while (!wrong && (st->sent < st->count || now < came + SETTLE_MS)) {
		before = st->posted + st->seen;
		begin_batch(st, now > came + QUIET_MS);
		while (st->posted < st->limit &&
		       st->posted - st->sent < OUTSTANDING)
			if (post_message(st))
				return "ibv_post_send";
		wrong = poll_both(st);
		now = topo_now_ms();
		if (st->posted + st->seen != before)
			came = now;
		if (now > end)
			return "stuck";
	}
	return wrong;
}

/* ---- tests ---- */

FIXTURE(net)
{
	struct stream stream;
};

FIXTURE_VARIANT(net)
{
	enum twin_kind kind;
	const char *netem;
	bool loses;
	bool repeats;
	bool reorders;
};

#define VARIANT(name, ...) \
	FIXTURE_VARIANT_ADD(net, name) { __VA_ARGS__ }

VARIANT(loopback, TWIN_LOOPBACK);
VARIANT(veth, TWIN_VETH);
VARIANT(loss, TWIN_VETH, "loss 5%", .loses = true);
VARIANT(corrupt, TWIN_VETH, "corrupt 5%", .loses = true);
VARIANT(duplicate, TWIN_VETH, "duplicate 5%", .repeats = true);
VARIANT(reorder, TWIN_VETH, "delay 500us reorder 5%", .reorders = true);
VARIANT(all_of_it, TWIN_VETH,
	"delay 300us reorder 5% loss 5% duplicate 5% corrupt 5%",
	.loses = true, .repeats = true, .reorders = true);

FIXTURE_SETUP(net)
{
	struct stream *st = &self->stream;

	memset(st, 0, sizeof(*st));
	st->seed = twin_seed();
	TH_LOG("seed %u", st->seed);
	ASSERT_EQ(0, twin_netem(variant->netem));
	ASSERT_EQ(0, twin_open(st->sets, variant->kind));
}

FIXTURE_TEARDOWN(net)
{
	EXPECT_EQ(0, stream_close(&self->stream));
	EXPECT_EQ(0, twin_close(self->stream.sets));
}

static void whole_or_not(struct __test_metadata *_metadata, struct stream *st,
			 const struct _fixture_variant_net *variant)
{
	int number, repeated = 0;
	const char *wrong = stream_run(st);

	EXPECT_EQ(NULL, wrong) {
		TH_LOG("after %d: %s", st->seen, wrong);
	}
	for (number = 0; number < st->count; number++)
		repeated += st->times[number] > 1;
	TH_LOG("%d sent, %d came, %d of them again, %d late", st->count,
	       st->arrived, repeated, st->late);
	if (!variant->repeats)
		EXPECT_EQ(0, repeated);
	if (!variant->repeats && !variant->reorders)
		EXPECT_EQ(0, st->late);
	if (variant->loses) {
		EXPECT_GT(st->count, st->arrived);
		EXPECT_LT(st->count / 4, st->arrived);
	} else if (variant->reorders || (variant->repeats && !st->ah)) {
		/* A packet out of its order breaks a message of several. */
		EXPECT_LT(st->count / 4, st->arrived);
	} else {
		EXPECT_EQ(st->count, st->arrived);
	}
}

TEST_F_TIMEOUT(net, uc_sends, 600)
{
	self->stream.opcode = IBV_WR_SEND_WITH_IMM;
	self->stream.max_len = UC_MAX_LEN;
	ASSERT_EQ(0, stream_open(&self->stream, IBV_QPT_UC));
	whole_or_not(_metadata, &self->stream, variant);
}

TEST_F_TIMEOUT(net, uc_writes, 600)
{
	self->stream.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	self->stream.max_len = UC_MAX_LEN;
	ASSERT_EQ(0, stream_open(&self->stream, IBV_QPT_UC));
	whole_or_not(_metadata, &self->stream, variant);
}

TEST_F_TIMEOUT(net, ud_sends, 600)
{
	self->stream.opcode = IBV_WR_SEND_WITH_IMM;
	self->stream.max_len = UD_MAX_LEN;
	ASSERT_EQ(0, stream_open(&self->stream, IBV_QPT_UD));
	whole_or_not(_metadata, &self->stream, variant);
}

TEST_HARNESS_MAIN
