// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults on demand (Documentation/softrdma/guide/faults.rst): whatever is lost or
 * missing now and then, a reliable connection delivers each message once and
 * in order.
 */
#include "fixture.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "counters.h"
#include "duo.h"

#define KNOBS "/sys/kernel/debug/softrdma"

FIXTURE(faults)
{
	struct verbs_set set;
	struct duo duo;
	bool possible;
};

FIXTURE_SETUP(faults)
{
	struct stat st;

	memset(&self->duo, 0, sizeof(self->duo));
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
	if (stat(KNOBS, &st))
		mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	self->possible = !stat(KNOBS, &st);
}

/* The harness of older kernels runs a test whose set-up was skipped. */
#define NEED_FAULTS()							\
	do {								\
		if (!self->possible)					\
			SKIP(return, "no CONFIG_FAULT_INJECTION");	\
	} while (0)

FIXTURE_TEARDOWN(faults)
{
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

static int set_knob(const char *fault, const char *knob, const char *value)
{
	char path[128];
	int fd, ret;

	snprintf(path, sizeof(path), KNOBS "/%s/%s", fault, knob);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write(fd, value, strlen(value)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

static int begin(const char *fault, const char *percent)
{
	return set_knob(fault, "verbose", "0") ?:
	       set_knob(fault, "times", "-1") ?:
	       set_knob(fault, "probability", percent);
}

static int end(const char *fault)
{
	return set_knob(fault, "probability", "0");
}

/* Messages of many lengths, each checked. 0, or what went wrong. */
static int exchange(struct duo *duo, int messages)
{
	struct duo_end *tx = &duo->end[0], *rx = &duo->end[1];
	struct ibv_wc wc;
	int i, ret;

	for (i = 0; i < messages; i++) {
		uint32_t len = 1 + i * 37 % 9000;

		memset(tx->buf, i, len);
		memset(rx->buf, ~i, len);
		ret = duo_recv(rx, i, 0, 16384) ?: duo_send(tx, i, 0, len, 0);
		if (ret)
			return ret;
		if (duo_poll(rx->recv_cq, &wc, 1) != 1 || wc.status ||
		    wc.wr_id != i || wc.byte_len != len)
			return -1;
		if (duo_poll(tx->send_cq, &wc, 1) != 1 || wc.status ||
		    wc.wr_id != i)
			return -2;
		if (memcmp(tx->buf, rx->buf, len))
			return -3;
	}
	return 0;
}

TEST_F(faults, what_is_lost_is_sent_again)
{
	int64_t before = counters_get("rx_drop_injected");

	NEED_FAULTS();
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, begin("fail_rx", "5"));
	EXPECT_EQ(0, exchange(&self->duo, 200));
	EXPECT_EQ(0, end("fail_rx"));
	EXPECT_LT(before, counters_get("rx_drop_injected"));
}

TEST_F(faults, want_of_memory_is_a_loss)
{
	int64_t before = counters_get("timer_retry") +
			 counters_get("timer_probe");

	NEED_FAULTS();
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, begin("fail_memory", "5"));
	EXPECT_EQ(0, exchange(&self->duo, 200));
	EXPECT_EQ(0, end("fail_memory"));
	EXPECT_LT(before, counters_get("timer_retry") +
			  counters_get("timer_probe"));
}

TEST_F(faults, want_of_a_route_is_a_loss)
{
	int64_t before = counters_get("tx_no_route");

	NEED_FAULTS();
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, begin("fail_route", "5"));
	EXPECT_EQ(0, exchange(&self->duo, 200));
	EXPECT_EQ(0, end("fail_route"));
	EXPECT_LT(before, counters_get("tx_no_route"));
}

/* Always: nothing is there any more when the call returns, but it comes. */
TEST_F(faults, softirq_does_what_the_caller_did_not)
{
	struct ibv_wc wc;

	NEED_FAULTS();
	ASSERT_EQ(0, duo_up(&self->duo, &self->set, &self->set));
	ASSERT_EQ(0, begin("defer", "100"));
	EXPECT_EQ(0, exchange(&self->duo, 300));
	EXPECT_EQ(0, end("defer"));
	EXPECT_EQ(0, duo_recv(&self->duo.end[1], 1, 0, 64));
	EXPECT_EQ(0, duo_send(&self->duo.end[0], 1, 0, 64, 0));
	EXPECT_EQ(1, duo_poll(self->duo.end[0].send_cq, &wc, 1));
}

TEST_HARNESS_MAIN
