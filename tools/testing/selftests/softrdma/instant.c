// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who posts also sends, and on one host receives and completes: a small message
 * is at its receiver when ibv_post_send() returns, and no kernel thread is in
 * the path of a packet or a doorbell.
 */
#include "fixture.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "duo.h"
#include "tracefs.h"

FIXTURE(instant)
{
	struct verbs_set set;
	struct duo duo;
};

/*
 * On one CPU a timer of the QP cannot run at the very moment of a doorbell,
 * which then would only leave word.
 */
FIXTURE_SETUP(instant)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(cpus), &cpus));
	memset(&self->duo, 0, sizeof(self->duo));
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
}

FIXTURE_TEARDOWN(instant)
{
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

/* Every poll is made once, right after the call. */
#define EXPECT_INSTANT(duo, len, flags, rounds)				\
	do {								\
		struct duo_end *end_ = (duo)->end;			\
		struct ibv_wc wc_;					\
		int i_;							\
									\
		for (i_ = 0; i_ < (rounds); i_++) {			\
			ASSERT_EQ(0, duo_recv(&end_[1], i_, 65536, 4096)); \
			ASSERT_EQ(0, duo_send(&end_[0], i_, 0, len, flags)); \
			ASSERT_EQ(1, ibv_poll_cq(end_[1].recv_cq, 1, &wc_)); \
			ASSERT_EQ(IBV_WC_SUCCESS, wc_.status);		\
			ASSERT_EQ(i_, wc_.wr_id);			\
			ASSERT_EQ(len, wc_.byte_len);			\
			ASSERT_EQ(1, ibv_poll_cq(end_[0].send_cq, 1, &wc_)); \
			ASSERT_EQ(IBV_WC_SUCCESS, wc_.status);		\
		}							\
	} while (0)

TEST_F(instant, rc_send_is_received_and_completed_when_the_call_returns)
{
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	EXPECT_INSTANT(&self->duo, 64, 0, 1000);
	EXPECT_INSTANT(&self->duo, 0, 0, 100);
	EXPECT_INSTANT(&self->duo, 64, IBV_SEND_INLINE, 100);
	EXPECT_INSTANT(&self->duo, 1024, 0, 100);
	EXPECT_INSTANT(&self->duo, 4096, 0, 100);
}

TEST_F(instant, uc_send_is_received_and_completed_when_the_call_returns)
{
	self->duo.type = IBV_QPT_UC;
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	EXPECT_INSTANT(&self->duo, 64, 0, 1000);
	EXPECT_INSTANT(&self->duo, 4096, 0, 100);
}

TEST_F(instant, rdma_write_has_landed_when_the_call_returns)
{
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc;
	int i;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	for (i = 1; i <= 200; i++) {
		memset(end[0].buf, i, 256);
		ASSERT_EQ(0, duo_write(&end[0], &end[1], i, 256,
				       end[1].mr->rkey));
		ASSERT_EQ(i % 256, end[1].buf[0]);
		ASSERT_EQ(i % 256, end[1].buf[255]);
		ASSERT_EQ(1, ibv_poll_cq(end[0].send_cq, 1, &wc));
	}
}

/* It is lent in parts, and lies in many pages: each byte is where it should be. */
TEST_F(instant, long_message_is_whole)
{
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc;
	uint32_t i;

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	for (i = 0; i < DUO_BUF; i++)
		end[0].buf[i] = i * 7 + i / 251 + i / 65536;
	ASSERT_EQ(0, duo_recv(&end[1], 1, 0, DUO_BUF));
	ASSERT_EQ(0, duo_send(&end[0], 2, 0, DUO_BUF, 0));
	ASSERT_EQ(1, duo_poll(end[1].recv_cq, &wc, 1));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(DUO_BUF, wc.byte_len);
	ASSERT_EQ(1, duo_poll(end[0].send_cq, &wc, 1));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(0, memcmp(end[0].buf, end[1].buf, DUO_BUF));
}

/* A UC sender learns in its own way that what it has lent was copied. */
TEST_F(instant, long_unreliable_message_is_whole)
{
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc;
	uint32_t i;

	self->duo.type = IBV_QPT_UC;
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	for (i = 0; i < DUO_BUF; i++)
		end[0].buf[i] = i * 5 + i / 249 + i / 65536;
	ASSERT_EQ(0, duo_recv(&end[1], 1, 0, DUO_BUF));
	ASSERT_EQ(0, duo_send(&end[0], 2, 0, DUO_BUF, 0));
	ASSERT_EQ(1, ibv_poll_cq(end[1].recv_cq, 1, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(DUO_BUF, wc.byte_len);
	ASSERT_EQ(1, ibv_poll_cq(end[0].send_cq, 1, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(0, memcmp(end[0].buf, end[1].buf, DUO_BUF));
}

struct uc_writer {
	struct duo_end *from;
	struct duo_end *to;
	int done;
	bool stop;
	int failed;
};

static void *write_long(void *arg)
{
	struct uc_writer *writer = arg;
	struct ibv_wc wc;

	while (!writer->failed && !__atomic_load_n(&writer->stop,
						    __ATOMIC_ACQUIRE)) {
		writer->failed = duo_write(writer->from, writer->to, 0,
					   DUO_BUF / 2, writer->to->mr->rkey);
		if (!writer->failed &&
		    (duo_poll(writer->from->send_cq, &wc, 1) != 1 || wc.status))
			writer->failed = EIO;
		writer->done++;
	}
	return NULL;
}

/* Each completes, also when its receiver goes, or is not ready, on another CPU. */
TEST_F(instant, long_unreliable_messages_complete_without_a_receiver)
{
	struct ibv_qp_attr err = { .qp_state = IBV_QPS_ERR };
	struct duo_end *end = self->duo.end;
	struct uc_writer writer = { .from = &end[0], .to = &end[1] };
	pthread_t thread;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	CPU_SET(1, &cpus);
	self->duo.type = IBV_QPT_UC;
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(cpus), &cpus));
	ASSERT_EQ(0, pthread_create(&thread, NULL, write_long, &writer));
	usleep(200000);
	EXPECT_EQ(0, ibv_modify_qp(end[1].qp, &err, IBV_QP_STATE));
	usleep(200000);
	EXPECT_EQ(0, ibv_destroy_qp(end[1].qp));
	end[1].qp = NULL;
	usleep(200000);
	__atomic_store_n(&writer.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, writer.failed);
	EXPECT_LT(3, writer.done);
}

static int exchange(struct duo *duo, int messages)
{
	struct ibv_wc wc[32];
	int i, n, ret;

	for (i = 0; i < messages; i += 20) {
		for (n = 0; n < 20; n++) {
			ret = duo_recv(&duo->end[1], n, 65536, 1024);
			if (ret)
				return ret;
		}
		for (n = 0; n < 20; n++) {
			ret = duo_send(&duo->end[0], n, 0, 512, 0);
			if (ret)
				return ret;
		}
		if (duo_poll(duo->end[0].send_cq, wc, 20) != 20 ||
		    duo_poll(duo->end[1].recv_cq, wc, 20) != 20)
			return ETIMEDOUT;
		while (n--)
			if (wc[n].status)
				return EIO;
	}
	return 0;
}

#define EXECUTE	"workqueue_execute_start"

/* The last is to hear that IPv6 addresses are no duplicates, which takes two seconds. */
#define QUIET_MS	3000

/* What the links' coming has left to RDMA core is done: for a while it does nothing. */
static bool core_is_quiet(void)
{
	long end = topo_now_ms() + DUO_WAIT_MS;
	int seen;

	do {
		if (tracefs_clear())
			return false;
		usleep(QUIET_MS * 1000);
		seen = tracefs_count(EXECUTE, "[ib_");
	} while (seen > 0 && topo_now_ms() < end);
	return !seen;
}

/*
 * Work items are traced while 10000 messages go, looped and over a veth. That
 * the trace would show them is seen by those of the RDMA core when a netdev
 * goes, and its link with it.
 */
TEST_F(instant, no_kernel_thread_is_in_the_path)
{
	struct verbs_set sets[2];
	struct duo veth = {};

	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, duo_veth_setup());
	ASSERT_EQ(0, duo_veth_open(sets));
	ASSERT_EQ(0, duo_up(&veth, &sets[0], &sets[1]));
	/* Neighbours are looked up before the first message arrives. */
	ASSERT_EQ(0, exchange(&veth, 20));

	ASSERT_EQ(0, tracefs_open());
	ASSERT_EQ(0, tracefs_enable("workqueue/" EXECUTE, NULL));
	ASSERT_TRUE(core_is_quiet());
	EXPECT_EQ(0, exchange(&self->duo, 5000));
	EXPECT_EQ(0, exchange(&veth, 5000));
	EXPECT_EQ(0, tracefs_count(EXECUTE, "[softrdma]"));
	EXPECT_EQ(0, tracefs_count(EXECUTE, "[ib_"));
	tracefs_show("[softrdma]");
	tracefs_show("[ib_");

	EXPECT_EQ(0, duo_close(&veth));
	EXPECT_EQ(0, verbs_close_set(&sets[0]));
	EXPECT_EQ(0, verbs_close_set(&sets[1]));
	EXPECT_EQ(0, topo_ip("link del " DUO_NEAR_NETDEV));
	EXPECT_EQ(0, topo_wait_link(DUO_NEAR, false, DUO_WAIT_MS));
	EXPECT_LT(0, tracefs_count(EXECUTE, "ib_"));
	tracefs_close();
	duo_veth_teardown();
}

TEST_HARNESS_MAIN
