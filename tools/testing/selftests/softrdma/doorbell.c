// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that nobody waits for, posted one by one and fast: some wait in the
 * ring until others follow, and leave together. None of that may be noticed but
 * by the counters.
 */
#include "pair_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "counters.h"
#include "ends.h"
#include "knobs.h"

/* Doorbells in a row before the first one waits (doorbell.c of the driver). */
#define ROW	16

/* Requests that may wait, of the rings below. */
#define MOST	16

/* A request in each: its number, where nothing was before. */
#define SLOT	64

static const struct pair_options rc = {
	.type = IBV_QPT_RC, .send_wr = 500, .rnr_retry = 7,
};

static void use_counters(struct pair *pair)
{
	counters_use(pair->wire == PAIR_LOOPBACK ? TOPO_LINK : ENDS_LINK_A);
}

/* Words that appear in the memory of the peer, or the peer's in ours. */
static volatile uint32_t *slot(struct pair_end *end, int i)
{
	return (volatile uint32_t *)(end->buffer + i * SLOT);
}

/* Posts a request that completes without a word. 0 or errno. */
static int post_quietly(struct pair *pair, enum ibv_wr_opcode opcode,
			size_t offset, uint32_t len)
{
	struct pair_wr wr;

	pair_wr_init(&wr, &pair->a, &pair->b, opcode, offset, len);
	wr.wr.send_flags = 0;
	return pair_post(&pair->a, &wr);
}

/* WRITEs of numbers [first, end), each by a doorbell of its own. 0 or errno. */
static int write_numbers(struct pair *pair, int first, int end)
{
	int i, ret;

	for (i = first; i < end; i++) {
		*slot(&pair->a, i) = i + 1;
		ret = post_quietly(pair, IBV_WR_RDMA_WRITE, i * SLOT, 4);
		if (ret)
			return ret;
	}
	return 0;
}

/* How many of the numbers have arrived when all have, or time is up. */
static int numbers_arrived(struct pair *pair, int count)
{
	long end = topo_now_ms() + PAIR_PATIENCE_MS;
	int i = 0;

	while (i < count && topo_now_ms() < end) {
		if (*slot(&pair->b, i) == i + 1)
			i++;
		else
			sched_yield();
	}
	return i;
}

/* However many there are: the last ones are not left behind. */
TEST_F(pair, requests_arrive_though_none_follows)
{
	int64_t waited;
	int more;

	use_counters(&self->pair);
	waited = counters_get("doorbell_waited");
	for (more = 0; more <= MOST + 1; more++) {
		ASSERT_EQ(0, pair_connect(&self->pair, &rc));
		ASSERT_EQ(0, write_numbers(&self->pair, 0, ROW + more));
		EXPECT_EQ(ROW + more, numbers_arrived(&self->pair, ROW + more));
		ASSERT_EQ(0, pair_disconnect(&self->pair));
	}
	EXPECT_LT(waited, counters_get("doorbell_waited"));
}

/* After a wait in vain there are more doorbells until the next one. */
TEST_F(pair, waits_in_vain_become_rare)
{
	int64_t late, waited;
	int i;

	use_counters(&self->pair);
	late = counters_get("doorbell_late");
	waited = counters_get("doorbell_waited");
	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	for (i = 0; i < 16 * ROW; i++) {
		ASSERT_EQ(0, write_numbers(&self->pair, i, i + 1));
		while (*slot(&self->pair.b, i) != i + 1)
			sched_yield();
	}
	late = counters_get("doorbell_late") - late;
	waited = counters_get("doorbell_waited") - waited;
	TH_LOG("%ld waited, %ld in vain", (long)waited, (long)late);
	EXPECT_LT(0, late);
	EXPECT_GE(4, late);
	/* Something else may end a wait before it is in vain. */
	EXPECT_GE(32, waited);
}

/* What was posted before the state changes is begun before. */
TEST_F(pair, destroying_the_qp_leaves_nothing_behind)
{
	int count = ROW + MOST / 2;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, write_numbers(&self->pair, 0, count));
	ASSERT_EQ(0, ibv_destroy_qp(self->a->qp));
	self->a->qp = NULL;
	EXPECT_EQ(count, numbers_arrived(&self->pair, count));
}

TEST_F(pair, the_error_state_leaves_nothing_behind)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int count = ROW + MOST / 2;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, write_numbers(&self->pair, 0, count));
	ASSERT_EQ(0, ibv_modify_qp(self->a->qp, &attr, IBV_QP_STATE));
	EXPECT_EQ(count, numbers_arrived(&self->pair, count));
}

/* Posts @count signalled WRITEs, of numbers from @first on. 0 or errno. */
static int write_signalled(struct pair *pair, int first, int count)
{
	struct pair_wr wr;
	int i, ret = 0;

	for (i = first; i < first + count && !ret; i++) {
		*slot(&pair->a, i) = i + 1;
		pair_wr_init(&wr, &pair->a, &pair->b, IBV_WR_RDMA_WRITE,
			     i * SLOT, 4);
		ret = pair_post(&pair->a, &wr);
	}
	return ret;
}

/* Completions that a program leaves say that it does not wait for the next one. */
TEST_F(pair, who_leaves_completions_is_not_waiting)
{
	int count = ROW + 4 * MOST + 3, i;
	int64_t waited;

	use_counters(&self->pair);
	waited = counters_get("doorbell_waited");
	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, write_signalled(&self->pair, 0, count));
	EXPECT_LT(waited, counters_get("doorbell_waited"));
	for (i = 0; i < count; i++)
		ASSERT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	EXPECT_EQ(count, numbers_arrived(&self->pair, count));
}

/* The same where nothing but the QP says that requests are signalled. */
TEST_F(pair, who_takes_each_completion_is_not_kept_waiting)
{
	struct pair_options options = rc;
	int64_t waited;
	int i;

	use_counters(&self->pair);
	options.sq_sig_all = true;
	waited = counters_get("doorbell_waited");
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	for (i = 0; i < 4 * ROW; i++) {
		ASSERT_EQ(0, write_numbers(&self->pair, i, i + 1));
		ASSERT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	}
	EXPECT_EQ(waited, counters_get("doorbell_waited"));
}

/* Atomics are as short as any; each finds what the one before it left. */
TEST_F(pair, atomics_wait_for_each_other)
{
	int count = ROW + 2 * MOST + 1, i;
	struct pair_wr wr;
	int64_t waited;

	use_counters(&self->pair);
	waited = counters_get("doorbell_waited");
	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	memset(self->b->buffer, 0, 8);
	for (i = 0; i <= count; i++) {
		pair_wr_init(&wr, self->a, self->b,
			     IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8);
		wr.sge[0].addr += i * SLOT;
		wr.wr.wr.atomic.compare_add = 1;
		wr.wr.send_flags = i < count ? 0 : IBV_SEND_SIGNALED;
		ASSERT_EQ(0, pair_post(self->a, &wr));
	}
	ASSERT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	EXPECT_LT(waited, counters_get("doorbell_waited"));
	for (i = 0; i <= count; i++)
		EXPECT_EQ(i, *(uint64_t *)(self->a->buffer + i * SLOT));
}

TEST_F(pair, requests_before_and_behind_sqd_arrive)
{
	struct ibv_qp_attr sqd = { .qp_state = IBV_QPS_SQD };
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };
	int count = ROW + MOST / 2;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, write_numbers(&self->pair, 0, count));
	ASSERT_EQ(0, ibv_modify_qp(self->a->qp, &sqd, IBV_QP_STATE));
	EXPECT_EQ(count, numbers_arrived(&self->pair, count));
	ASSERT_EQ(0, write_numbers(&self->pair, count, 2 * count));
	ASSERT_EQ(0, ibv_modify_qp(self->a->qp, &rts, IBV_QP_STATE));
	ASSERT_EQ(0, write_numbers(&self->pair, 2 * count, 3 * count));
	EXPECT_EQ(3 * count, numbers_arrived(&self->pair, 3 * count));
}

/* A completion that was asked for comes, whatever waits in front of it. */
TEST_F(pair, completions_come_in_a_stream)
{
	struct pair_wr wr;
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	for (i = 0; i < 30; i++) {
		ASSERT_EQ(0, write_numbers(&self->pair, 10 * i, 10 * i + 9));
		*slot(self->a, 10 * i + 9) = 10 * i + 10;
		pair_wr_init(&wr, self->a, self->b, IBV_WR_RDMA_WRITE,
			     (10 * i + 9) * SLOT, 4);
		ASSERT_EQ(0, pair_post(self->a, &wr));
		ASSERT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
		EXPECT_EQ(10 * i + 10, *slot(self->b, 10 * i + 9));
	}
}

/* Whoever is asked by the peer between its own requests does not wait. */
TEST_F(pair, answers_do_not_wait)
{
	struct pair back;
	int64_t waited;
	int i;

	use_counters(&self->pair);
	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	back = (struct pair){ .a = self->pair.b, .b = self->pair.a };
	waited = counters_get("doorbell_waited");
	for (i = 0; i < 4 * ROW; i += 2) {
		ASSERT_EQ(0, write_numbers(&self->pair, i, i + 1));
		while (*slot(self->b, i) != i + 1)
			sched_yield();
		ASSERT_EQ(0, write_numbers(&back, i + 1, i + 2));
		while (*slot(self->a, i + 1) != i + 2)
			sched_yield();
	}
	EXPECT_EQ(waited, counters_get("doorbell_waited"));
}

/* The long wait for an answer is what the test wants, where it can be had. */
FIXTURE(turns)
{
	struct pair pair;
	struct pair back;
	bool possible;
};

FIXTURE_VARIANT(turns)
{
	enum pair_wire wire;
};

FIXTURE_VARIANT_ADD(turns, loopback) { .wire = PAIR_LOOPBACK };
FIXTURE_VARIANT_ADD(turns, veth) { .wire = PAIR_VETH };

FIXTURE_SETUP(turns)
{
	ASSERT_EQ(0, pair_open(&self->pair, variant->wire));
	use_counters(&self->pair);
	self->possible = knob_exists("linger");
	if (self->possible)
		ASSERT_EQ(0, knob_turn("linger", true));
}

FIXTURE_TEARDOWN(turns)
{
	if (self->possible)
		EXPECT_EQ(0, knob_turn("linger", false));
	EXPECT_EQ(0, pair_disconnect(&self->pair));
	EXPECT_EQ(0, pair_close(&self->pair));
}

/* Number @i goes one way, and the next one back; then the first has completed. */
static bool take_turn(struct pair *pair, struct pair *back, int i)
{
	if (write_signalled(pair, i, 1))
		return false;
	while (*slot(&pair->b, i) != i + 1)
		sched_yield();
	if (write_signalled(back, i + 1, 1))
		return false;
	while (*slot(&pair->a, i + 1) != i + 2)
		sched_yield();
	return pair_wait_sent(&pair->a) == IBV_WC_SUCCESS;
}

/* A connection that has taken so many turns. */
static bool take_turns(struct pair *pair, struct pair *back, int count)
{
	int i;

	if (pair_connect(pair, &rc))
		return false;
	*back = (struct pair){ .a = pair->b, .b = pair->a };
	for (i = 0; i < count; i++)
		if (!take_turn(pair, back, 2 * i))
			return false;
	return true;
}

/*
 * Once the ends have taken turns for a while, an acknowledge goes with the answer, in one
 * skb. On a busy machine an end may lose its patience, and ask, each time.
 */
TEST_F(turns, acknowledges_go_with_answers)
{
	int64_t carried, trains;
	int tries;

	if (!self->possible)
		SKIP(return, "no CONFIG_FAULT_INJECTION");
	for (tries = 0; tries < 50; tries++) {
		carried = counters_get("ack_carried");
		trains = counters_get("tx_trains");
		ASSERT_TRUE(take_turns(&self->pair, &self->back, 3 * ROW));
		carried = counters_get("ack_carried") - carried;
		trains = counters_get("tx_trains") - trains;
		if (carried || variant->wire == PAIR_LOOPBACK)
			break;
		ASSERT_EQ(0, pair_disconnect(&self->pair));
	}
	TH_LOG("%ld carried, %ld trains", (long)carried, (long)trains);
	/* What is looped crosses no stack. */
	EXPECT_EQ(variant->wire == PAIR_VETH, carried > 0);
	EXPECT_EQ(carried, trains);
}

/* The answer comes, and with it the acknowledge; or the end that asked asks again. */
static bool completes_with_the_answer(struct pair *pair, struct pair *back, int i)
{
	int64_t probes = counters_get("timer_probe");
	struct pair_wr wr;

	if (!take_turns(pair, back, i / 2) || write_signalled(pair, i, 1))
		return false;
	while (*slot(&pair->b, i) != i + 1)
		sched_yield();
	pair_wr_init(&wr, &pair->b, &pair->a, IBV_WR_SEND, 0, 8);
	return !pair_post(&pair->b, &wr) &&
	       pair_wait_sent(&pair->a) == IBV_WC_SUCCESS &&
	       counters_get("timer_probe") == probes;
}

/*
 * A program that posts a receive for the answer only when its own request is complete:
 * the answer waits for that, but not the acknowledge that came with it.
 */
TEST_F(turns, acknowledges_pass_what_waits_for_a_receive)
{
	struct pair *pair = &self->pair;
	int last = 3 * ROW, tries;
	struct ibv_wc wc;

	if (!self->possible)
		SKIP(return, "no CONFIG_FAULT_INJECTION");
	/* What is looped comes in skbs of its own. */
	if (variant->wire == PAIR_LOOPBACK)
		return;
	for (tries = 0; tries < 50; tries++) {
		if (completes_with_the_answer(pair, &self->back, last))
			break;
		ASSERT_EQ(0, pair_disconnect(pair));
	}
	ASSERT_LT(tries, 50);
	EXPECT_EQ(0, ibv_poll_cq(pair->a.recv_cq, 1, &wc));

	/* Whatever the engine runs for, it looks again. */
	ASSERT_EQ(0, pair_post_recv(&pair->a, last * SLOT, 8));
	ASSERT_EQ(0, write_signalled(&self->back, last + 1, 1));
	ASSERT_EQ(0, pair_wait(pair->a.recv_cq, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
}

/*
 * Lengths that are the same for a while, and grow, and shrink: what goes with
 * what into one skb changes all the time. Some are of several packets.
 */
static uint32_t length_of(int i)
{
	static const uint32_t lengths[] = {
		64, 64, 64, 64, 64, 60, 64, 64, 1, 1, 2, 3, 4, 5, 200, 200,
		1024, 1024, 1024, 2050, 1024, 2050, 2050, 1500, 2048, 3000,
		3072, 3072, 1024, 1, 0, 0, 2050, 8, 8, 8, 8, 8, 7, 8, 3071,
	};

	return lengths[i % 41];
}

/* Rows of READs, and rows of WRITEs. */
static bool is_read(int i)
{
	return i / 30 % 2;
}

TEST_F(pair, messages_of_all_lengths_arrive)
{
	struct pair_options options = rc;
	int count = 480, room = 3200, i;
	struct pair_wr wr;
	size_t at;

	options.buffer = count * room;
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	for (i = 0, at = 0; i < count; i++, at += room)
		pair_fill((is_read(i) ? self->b : self->a)->buffer + at, room,
			  i);
	for (i = 0, at = 0; i < count; i++, at += room)
		ASSERT_EQ(0, post_quietly(&self->pair, is_read(i) ?
					  IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
					  at, length_of(i)));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_RDMA_WRITE, 0, 0);
	ASSERT_EQ(0, pair_post(self->a, &wr));
	ASSERT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	for (i = 0, at = 0; i < count; i++, at += room) {
		struct pair_end *to = is_read(i) ? self->a : self->b;

		EXPECT_TRUE(pair_filled(to->buffer + at, length_of(i), i))
			TH_LOG("message %d", i);
		/* Nothing behind its end. */
		EXPECT_EQ(0, to->buffer[at + length_of(i)]);
	}
}

/* SENDs fill the receives in their order, each with its own length. */
TEST_F(pair, sends_arrive_in_their_order)
{
	struct pair_options options = rc;
	int count = 400, room = 3200, i;
	struct ibv_wc wc;

	options.buffer = 200 * room;
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	for (i = 0; i < 200; i++)
		ASSERT_EQ(0, pair_post_recv(self->b, i * room, room));
	for (i = 0; i < count; i++)
		ASSERT_EQ(0, post_quietly(&self->pair, IBV_WR_SEND, 0,
					  length_of(i)));
	for (i = 0; i < count; i++) {
		ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
		ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
		EXPECT_EQ(length_of(i), wc.byte_len);
		EXPECT_EQ(i % 200 * room, wc.wr_id);
		ASSERT_EQ(0, pair_post_recv(self->b, wc.wr_id, room));
	}
}

/* UC has no acknowledges that would end a wait. */
TEST_F(pair, unreliable_writes_arrive)
{
	struct pair_options options = rc;
	int count = ROW + MOST / 2;

	options.type = IBV_QPT_UC;
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	ASSERT_EQ(0, write_numbers(&self->pair, 0, count));
	EXPECT_EQ(count, numbers_arrived(&self->pair, count));
}

/* Datagrams: all of the stream that are for the peer arrive, whoever gets others. */
static void stream_datagrams(struct __test_metadata *_metadata,
			     struct pair *pair, int every)
{
	struct pair_options options = rc;
	int count = 160, room = 2048, got = 0, i;
	struct pair_wr wr;
	struct ibv_wc wc;

	options.type = IBV_QPT_UD;
	options.buffer = 200 * room;
	ASSERT_EQ(0, pair_connect(pair, &options));
	for (i = 0; i < count; i++)
		ASSERT_EQ(0, pair_post_recv(&pair->b, i * room, room));
	for (i = 0; i < count; i++) {
		pair_wr_init(&wr, &pair->a, &pair->b, IBV_WR_SEND, i * SLOT,
			     1 + i / 40 % 4 * 8);
		wr.wr.send_flags = 0;
		/* There is no such QP. */
		if (every && i % every == every - 1)
			wr.wr.wr.ud.remote_qpn ^= 0x5000;
		pair->a.buffer[i * SLOT] = i + 1;
		ASSERT_EQ(0, pair_post(&pair->a, &wr));
	}
	for (i = 0; i < count; i++) {
		if (every && i % every == every - 1)
			continue;
		ASSERT_EQ(0, pair_wait(pair->b.recv_cq, &wc));
		ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
		EXPECT_EQ(PAIR_GRH + 1 + i / 40 % 4 * 8, wc.byte_len);
		EXPECT_EQ((uint8_t)(i + 1),
			  pair->b.buffer[got++ * room + PAIR_GRH]);
	}
}

TEST_F(pair, datagrams_wait_for_each_other)
{
	int64_t waited;

	use_counters(&self->pair);
	waited = counters_get("doorbell_waited");
	stream_datagrams(_metadata, &self->pair, 0);
	EXPECT_LT(waited, counters_get("doorbell_waited"));
}

TEST_F(pair, datagrams_to_others_part_the_stream)
{
	stream_datagrams(_metadata, &self->pair, 5);
}

/*
 * A handle that leads to no receive: of the sender's own address, if the peer has
 * another one, and else of one that nobody has (RFC 5737). NULL: there is none.
 */
static struct ibv_ah *handle_to_nowhere(struct pair *pair)
{
	static const uint8_t nobody[] = { 192, 0, 2, 1 };
	struct pair_end *end = &pair->a;
	struct ibv_qp_attr attr;

	verbs_attr(&end->set, &attr, IBV_QPS_RTR, 0);
	if (pair->wire == PAIR_LOOPBACK)
		memcpy(attr.ah_attr.grh.dgid.raw + 12, nobody, sizeof(nobody));
	return ibv_create_ah(end->set.pd, &attr.ah_attr);
}

/* Datagrams by two handles in turn: each goes where its handle says. */
TEST_F(pair, datagrams_by_other_handles_part_the_stream)
{
	struct pair *pair = &self->pair;
	struct pair_options options = rc;
	int count = 96, room = 2048, i;
	struct ibv_ah *nowhere;
	struct pair_wr wr;
	struct ibv_wc wc;

	options.type = IBV_QPT_UD;
	options.buffer = 100 * room;
	ASSERT_EQ(0, pair_connect(pair, &options));
	nowhere = handle_to_nowhere(pair);
	ASSERT_NE(NULL, nowhere);
	for (i = 0; i < count; i++)
		ASSERT_EQ(0, pair_post_recv(&pair->b, i * room, room));
	for (i = 0; i < count; i++) {
		pair_wr_init(&wr, &pair->a, &pair->b, IBV_WR_SEND, i * SLOT, 8);
		wr.wr.send_flags = 0;
		if (i % 3 == 2)
			wr.wr.wr.ud.ah = nowhere;
		pair->a.buffer[i * SLOT] = i + 1;
		ASSERT_EQ(0, pair_post(&pair->a, &wr));
	}
	for (i = 0; i < count / 3 * 2; i++) {
		ASSERT_EQ(0, pair_wait(pair->b.recv_cq, &wc));
		ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
		EXPECT_EQ((uint8_t)(i / 2 * 3 + i % 2 + 1),
			  pair->b.buffer[i * room + PAIR_GRH]);
	}
	EXPECT_EQ(0, ibv_poll_cq(pair->b.recv_cq, 1, &wc));
	EXPECT_EQ(0, ibv_destroy_ah(nowhere));
}

/* Behind a message of many packets the program stays; on some kernels it may not. */
TEST_F(pair, who_posts_much_sees_to_it)
{
	struct pair_options small = rc;
	int64_t attended;
	struct pair_wr wr;
	bool realtime;

	realtime = !access("/sys/kernel/realtime", F_OK);
	use_counters(&self->pair);
	small.mtu = IBV_MTU_256;
	ASSERT_EQ(0, pair_connect(&self->pair, &small));
	attended = counters_get("doorbell_attended");
	ASSERT_EQ(0, write_signalled(&self->pair, 0, 1));
	ASSERT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	EXPECT_EQ(attended, counters_get("doorbell_attended"));

	pair_wr_init(&wr, &self->pair.a, &self->pair.b, IBV_WR_RDMA_WRITE, 0,
		     PAIR_BUFFER);
	self->a->buffer[PAIR_BUFFER - 1] = 0x5a;
	ASSERT_EQ(0, pair_post(self->a, &wr));
	ASSERT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	EXPECT_EQ(0x5a, self->pair.b.buffer[PAIR_BUFFER - 1]);
	EXPECT_EQ(attended + !realtime, counters_get("doorbell_attended"));
}

#define THREADS	4
#define EACH	240

/**
 * struct writer - a thread that posts
 * @pair: where
 * @first: number of its first request
 * @wrong: an errno that should not have been
 * @thread: itself
 */
struct writer {
	struct pair *pair;
	int first;
	int wrong;
	pthread_t thread;
};

static void *write_own_numbers(void *arg)
{
	struct writer *writer = arg;
	int i = writer->first, ret;

	while (i < writer->first + EACH && !writer->wrong) {
		ret = write_numbers(writer->pair, i, i + 1);
		if (!ret)
			i++;
		else if (ret == ENOMEM)
			sched_yield();
		else
			writer->wrong = ret;
	}
	return NULL;
}

TEST_F(pair, threads_leave_nothing_behind)
{
	struct writer writers[THREADS];
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	for (i = 0; i < THREADS; i++) {
		writers[i] = (struct writer){ .pair = &self->pair,
					      .first = i * EACH };
		ASSERT_EQ(0, pthread_create(&writers[i].thread, NULL,
					    write_own_numbers, &writers[i]));
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(writers[i].thread, NULL);
		EXPECT_EQ(0, writers[i].wrong);
	}
	EXPECT_EQ(THREADS * EACH,
		  numbers_arrived(&self->pair, THREADS * EACH));
}

TEST_HARNESS_MAIN
