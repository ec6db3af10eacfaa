// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What "softrdma monitor" shows (Documentation/softrdma/guide/monitor.rst): each
 * packet with its numbers, as many as the counters say, and whatever else happens;
 * to whom it may be shown, and what becomes of those who are slow.
 */
#include "fixture.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <rdma/softrdma-errors.h>

#include "counters.h"
#include "duo.h"
#include "listen.h"
#include "rules.h"

#define MTU		1024
#define PACKETS(n)	((n) * MTU)

#define TX	"\"event\":\"packet\",\"dir\":\"tx\""
#define RX	"\"event\":\"packet\",\"dir\":\"rx\""
#define EVENT(kind)	"\"event\":\"" kind "\""

/**
 * struct scene - two QPs that are connected, and who listens
 * @sets: what they are made of; one, or one for each
 * @duo: they
 * @listen: the listener, if there is one
 * @near: link of the first
 * @wire: over a veth; else looped
 * @psn: first PSN of the first
 * @qp: its number, as it stands in events
 */
struct scene {
	struct verbs_set sets[2];
	struct duo duo;
	struct listen listen;
	const char *near;
	bool wire;
	uint32_t psn;
	char qp[32];
};

static void set_up(struct __test_metadata *_metadata,
		   struct scene *self, bool wire)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	memset(&self->duo, 0, sizeof(self->duo));
	memset(&self->listen, 0, sizeof(self->listen));
	self->wire = wire;
	self->near = wire ? DUO_NEAR : TOPO_LINK;
	if (wire) {
		ASSERT_EQ(0, duo_veth_setup());
		ASSERT_EQ(0, duo_veth_open(self->sets));
	} else {
		ASSERT_EQ(0, verbs_open_set(&self->sets[0], TOPO_LINK));
	}
	counters_use(self->near);
	ASSERT_EQ(0, duo_up(&self->duo, &self->sets[0], &self->sets[wire]));
	ASSERT_EQ(0, ibv_query_qp(self->duo.end[0].qp, &attr, IBV_QP_SQ_PSN,
				  &init));
	self->psn = attr.sq_psn;
	snprintf(self->qp, sizeof(self->qp), "\"qp\":%u,",
		 self->duo.end[0].qp->qp_num);
}

static void tear_down(struct __test_metadata *_metadata, struct scene *self)
{
	EXPECT_TRUE(listen_is_json(&self->listen));
	listen_end(&self->listen);
	EXPECT_EQ(0, rules_flush(self->near));
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, verbs_close_set(&self->sets[0]));
	if (self->wire) {
		EXPECT_EQ(0, verbs_close_set(&self->sets[1]));
		duo_veth_teardown();
	}
	counters_use(TOPO_LINK);
}

FIXTURE(monitor)
{
	struct scene scene;
};

FIXTURE_SETUP(monitor)
{
	set_up(_metadata, &self->scene, false);
}

FIXTURE_TEARDOWN(monitor)
{
	tear_down(_metadata, &self->scene);
}

/* The same over a veth. */
FIXTURE(monitor_wire)
{
	struct scene scene;
};

FIXTURE_SETUP(monitor_wire)
{
	set_up(_metadata, &self->scene, true);
}

FIXTURE_TEARDOWN(monitor_wire)
{
	tear_down(_metadata, &self->scene);
}

static int post_one(struct duo *duo, enum ibv_wr_opcode op, uint32_t len)
{
	struct duo_end *tx = &duo->end[0], *rx = &duo->end[1];
	struct ibv_sge sge = { (uintptr_t)tx->buf, len, tx->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = 77,
		.opcode = op,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma.remote_addr = (uintptr_t)rx->buf,
		.wr.rdma.rkey = rx->mr->rkey,
	}, *bad;
	struct ibv_wc wc;

	if (ibv_post_send(tx->qp, &wr, &bad) ||
	    duo_poll(tx->send_cq, &wc, 1) != 1)
		return -1;
	return wc.status;
}

/* What the near QP does last: behind it all has been told. */
#define END_OF_EVENTS(self) do {					\
	ASSERT_EQ(0, duo_state(&(self)->duo.end[0], IBV_QPS_RESET));	\
	ASSERT_EQ(0, listen_until(&(self)->listen, (self)->qp,		\
				  "\"to\":\"RESET\""));			\
} while (0)

static int64_t sent_packets(bool wire)
{
	return counters_get(wire ? "tx_packets" : "loop_packets");
}

/* ---- packets ---- */

static void show_packets(struct __test_metadata *_metadata, struct scene *self)
{
	struct listen *listen = &self->listen;
	int64_t sent, got, bytes;
	int i;

	ASSERT_EQ(0, listen_begin(listen, "%s", self->near));
	sent = sent_packets(self->wire);
	got = counters_get("rx_packets");
	bytes = counters_get("rx_bytes");
	ASSERT_EQ(0, post_one(&self->duo, IBV_WR_RDMA_WRITE, PACKETS(8) - 3));
	/* What was told is not told again with what follows. */
	ASSERT_EQ(0, listen_until(listen, TX, "WRITE_LAST"));
	ASSERT_EQ(0, post_one(&self->duo, IBV_WR_RDMA_READ, PACKETS(4)));
	sent = sent_packets(self->wire) - sent;
	got = counters_get("rx_packets") - got;
	bytes = counters_get("rx_bytes") - bytes;
	END_OF_EVENTS(self);
	for (i = 0; i < 8; i++) {
		EXPECT_EQ((self->psn + i) & 0xffffff,
			  listen_number(listen, "psn", i, TX, self->qp));
		EXPECT_EQ(i < 7 ? MTU : MTU - 3,
			  listen_number(listen, "payload", i, TX, self->qp));
		EXPECT_EQ(i ? 12 + MTU + 4 : 12 + 16 + MTU + 4,
			  listen_number(listen, "length", i, TX, self->qp));
	}
	EXPECT_EQ((self->psn + 8) & 0xffffff,
		  listen_number(listen, "psn", 8, TX, self->qp));
	EXPECT_EQ(0, listen_number(listen, "payload", 8, TX, self->qp));
	EXPECT_EQ(1, listen_count(listen, TX, "WRITE_FIRST", self->qp));
	EXPECT_EQ(6, listen_count(listen, TX, "WRITE_MIDDLE", self->qp));
	EXPECT_EQ(1, listen_count(listen, TX, "WRITE_LAST", self->qp));
	EXPECT_EQ(1, listen_count(listen, TX, "READ_REQUEST", self->qp));
	EXPECT_EQ(1, listen_count(listen, RX, "READ_RESPONSE_FIRST", self->qp));
	EXPECT_EQ(2, listen_count(listen, RX, "READ_RESPONSE_MIDDLE", self->qp));
	EXPECT_EQ(1, listen_count(listen, RX, "READ_RESPONSE_LAST", self->qp));
	for (i = 0; i < 4; i++)
		EXPECT_EQ((self->psn + 8 + i) & 0xffffff,
			  listen_number(listen, "psn", i, RX, "READ_RESP"));
	/* As many, and as long, as the counters say. */
	EXPECT_EQ(sent, listen_count(listen, TX, NULL, NULL));
	EXPECT_EQ(got, listen_count(listen, RX, NULL, NULL));
	EXPECT_EQ(bytes, listen_sum(listen, "length", RX, NULL));
	EXPECT_EQ(self->wire ? 0 : sent + got,
		  listen_count(listen, EVENT("packet"), "\"looped\":true", NULL));
	if (!self->wire)
		EXPECT_EQ(0, listen_count(listen, "\"again\":true", NULL, NULL));
}

TEST_F(monitor, packets_have_their_numbers)
{
	show_packets(_metadata, &self->scene);
}

TEST_F(monitor_wire, packets_have_their_numbers)
{
	show_packets(_metadata, &self->scene);
}

/* A looped message of one run, seen by its receiver. */
TEST_F(monitor, received_packets_have_theirs)
{
	struct listen *listen = &self->scene.listen;
	char qp[32];
	int i;

	snprintf(qp, sizeof(qp), "\"qp\":%u,", self->scene.duo.end[1].qp->qp_num);
	ASSERT_EQ(0, listen_begin(listen, "%s", self->scene.near));
	ASSERT_EQ(0, post_one(&self->scene.duo, IBV_WR_RDMA_WRITE, PACKETS(8)));
	END_OF_EVENTS(&self->scene);
	for (i = 0; i < 8; i++) {
		EXPECT_EQ((self->scene.psn + i) & 0xffffff,
			  listen_number(listen, "psn", i, RX, qp));
		EXPECT_EQ(MTU, listen_number(listen, "payload", i, RX, qp));
	}
	EXPECT_EQ(1, listen_count(listen, RX, "WRITE_FIRST", qp));
	EXPECT_EQ(6, listen_count(listen, RX, "WRITE_MIDDLE", qp));
	EXPECT_EQ(1, listen_count(listen, RX, "WRITE_LAST", qp));
	EXPECT_EQ(8, listen_count(listen, RX, "\"verdict\":\"req_write\"", qp));
}

/* All that were to be told are, or are counted, and stand where they belong. */
TEST_F(monitor, who_is_slow_is_told_how_much_was_lost)
{
	struct listen *listen = &self->scene.listen;
	int64_t sent, got, lost, told, last;
	int i;

	ASSERT_EQ(0, listen_begin(listen, "%s only packet,link,state room 256",
				  TOPO_LINK));
	kill(listen->pid, SIGSTOP);
	sent = sent_packets(false);
	got = counters_get("rx_packets");
	for (i = 0; i < 50; i++)
		ASSERT_EQ(0, post_one(&self->scene.duo, IBV_WR_RDMA_WRITE,
				      PACKETS(4)));
	sent = sent_packets(false) - sent;
	got = counters_get("rx_packets") - got;
	kill(listen->pid, SIGCONT);
	ASSERT_EQ(0, listen_until(listen, EVENT("lost"), NULL));
	END_OF_EVENTS(&self->scene);
	lost = listen_sum(listen, "count", EVENT("lost"), NULL);
	told = listen_count(listen, EVENT("packet"), NULL, NULL);
	EXPECT_LE(256, told);
	EXPECT_EQ(sent + got, lost + told);
	/* The link came first, and the state last. */
	last = listen_number(listen, "seq", 0, EVENT("state"), NULL);
	EXPECT_EQ(1 + sent + got + 1, last);
}

/* ---- what goes wrong ---- */

static void lose_one(struct __test_metadata *_metadata, struct scene *self)
{
	struct listen *listen = &self->listen;
	int64_t naks, drops;
	int id;

	id = rules_add(self->near, "tx op WRITE_MIDDLE nth 3 drop");
	ASSERT_LT(0, id);
	ASSERT_EQ(0, listen_begin(listen, "%s", self->near));
	naks = counters_get("resp_nak_sequence");
	drops = counters_get("tx_drop_injected");
	ASSERT_EQ(0, post_one(&self->duo, IBV_WR_RDMA_WRITE, PACKETS(8)));
	naks = counters_get("resp_nak_sequence") - naks;
	drops = counters_get("tx_drop_injected") - drops;
	END_OF_EVENTS(self);
	EXPECT_EQ(1, listen_count(listen, EVENT("rule"), "\"action\":\"drop\"",
				  "WRITE_MIDDLE"));
	EXPECT_EQ(id, listen_number(listen, "id", 0, EVENT("rule"), self->qp));
	EXPECT_EQ((self->psn + 3) & 0xffffff,
		  listen_number(listen, "psn", 0, EVENT("rule"), NULL));
	EXPECT_EQ(drops, listen_sum(listen, "count", EVENT("drop"),
				    "\"reason\":\"tx_drop_injected\""));
	EXPECT_EQ(1, drops);
	EXPECT_EQ(1, naks);
	EXPECT_EQ(naks, listen_count(listen, EVENT("nak") ",\"dir\":\"rx\"",
				     "\"nak\":\"sequence\"", self->qp));
	EXPECT_EQ((self->psn + 3) & 0xffffff,
		  listen_number(listen, "psn", 0, EVENT("nak"), self->qp));
	EXPECT_EQ(1, listen_count(listen, EVENT("retry"), "\"cause\":\"nak\"",
				  self->qp));
	EXPECT_EQ((self->psn + 3) & 0xffffff,
		  listen_number(listen, "psn", 0, EVENT("retry"), self->qp));
	EXPECT_LE(1, listen_count(listen, TX, "\"again\":true", self->qp));
	EXPECT_LE(1, listen_count(listen, EVENT("window"), self->qp, NULL));
}

TEST_F(monitor, a_loss_is_told_by_all_whom_it_concerns)
{
	lose_one(_metadata, &self->scene);
}

TEST_F(monitor_wire, a_loss_is_told_by_all_whom_it_concerns)
{
	lose_one(_metadata, &self->scene);
}

TEST_F(monitor, who_is_not_ready_is_told_of)
{
	struct listen *listen = &self->scene.listen;
	struct ibv_wc wc;
	int64_t naks;

	ASSERT_LT(0, rules_add(TOPO_LINK, "rx op SEND* times 2 answer rnr 12"));
	ASSERT_EQ(0, listen_begin(listen, "%s", TOPO_LINK));
	naks = counters_get("resp_nak_rnr");
	ASSERT_EQ(0, duo_recv(&self->scene.duo.end[1], 1, 0, 64));
	ASSERT_EQ(0, duo_send(&self->scene.duo.end[0], 1, 0, 64, 0));
	ASSERT_EQ(1, duo_poll(self->scene.duo.end[0].send_cq, &wc, 1));
	naks = counters_get("resp_nak_rnr") - naks;
	END_OF_EVENTS(&self->scene);
	EXPECT_EQ(2, naks);
	/* Once where it is sent, and once where it has come. */
	EXPECT_EQ(2, listen_count(listen, EVENT("nak") ",\"dir\":\"rx\"",
				  "\"rnr_us\":640,", self->scene.qp));
	EXPECT_EQ(2, listen_count(listen, EVENT("nak") ",\"dir\":\"tx\"",
				  "\"rnr_us\":640,", NULL));
	EXPECT_EQ(2, listen_count(listen, EVENT("retry"), "\"cause\":\"rnr\"",
				  self->scene.qp));
	/* One by one they are looped as well. */
	EXPECT_EQ(listen_count(listen, EVENT("packet"), NULL, NULL),
		  listen_count(listen, EVENT("packet"), "\"looped\":true", NULL));
}

TEST_F(monitor, time_that_runs_out_is_told_of)
{
	struct listen *listen = &self->scene.listen;
	int64_t retries, ends, probes;

	ASSERT_LT(0, rules_add(TOPO_LINK, "rx op ACK drop"));
	ASSERT_EQ(0, listen_begin(listen, "%s", TOPO_LINK));
	retries = counters_get("timer_retry");
	probes = counters_get("timer_probe");
	ends = counters_get("timer_retry_exceeded");
	ASSERT_EQ(IBV_WC_RETRY_EXC_ERR,
		  post_one(&self->scene.duo, IBV_WR_RDMA_WRITE, 64));
	retries = counters_get("timer_retry") - retries;
	probes = counters_get("timer_probe") - probes;
	ends = counters_get("timer_retry_exceeded") - ends;
	END_OF_EVENTS(&self->scene);
	EXPECT_EQ(1, ends);
	EXPECT_EQ(retries, listen_count(listen, EVENT("timeout"),
					"\"cause\":\"timeout\"", self->scene.qp));
	EXPECT_EQ(retries, listen_count(listen, EVENT("retry"),
					"\"cause\":\"timeout\"", self->scene.qp));
	EXPECT_EQ(probes, listen_count(listen, EVENT("timeout"),
				       "\"cause\":\"probe\"", self->scene.qp));
	EXPECT_EQ(1, listen_count(listen, EVENT("timeout"),
				  "\"cause\":\"exceeded\"", self->scene.qp));
	EXPECT_EQ(1, listen_count(listen, EVENT("completion"), "\"wr_id\":77,",
				  "\"status\":\"RETRY_EXC_ERR\""));
	EXPECT_EQ(SRDMA_ERR_NEVER_ANSWERED,
		  listen_number(listen, "vendor_err", 0, EVENT("completion"),
				"\"wr_id\":77,"));
	EXPECT_EQ(1, listen_count(listen, EVENT("state"), self->scene.qp,
				  "\"from\":\"RTS\",\"to\":\"ERR\""));
}

TEST_F(monitor, flushed_receives_and_async_events_are_told_of)
{
	struct listen *listen = &self->scene.listen;

	ASSERT_EQ(0, duo_recv(&self->scene.duo.end[0], 5, 0, 64));
	ASSERT_EQ(0, listen_begin(listen, "%s qp %u", TOPO_LINK,
				  self->scene.duo.end[0].qp->qp_num));
	ASSERT_EQ(0, rules_add(TOPO_LINK, "qp %u qp-fatal",
			       self->scene.duo.end[0].qp->qp_num));
	EXPECT_EQ(0, listen_until(listen, EVENT("async"), "\"QP_FATAL\""));
	EXPECT_EQ(0, listen_until(listen, "\"queue\":\"receive\"",
				  "\"status\":\"WR_FLUSH_ERR\""));
	EXPECT_EQ(1, listen_count(listen, "\"wr_id\":5,", NULL, NULL));
}

/* ---- ports and links ---- */

TEST_F(monitor, ports_and_links_are_told_of)
{
	struct listen *listen = &self->scene.listen, one = {};

	ASSERT_EQ(0, topo_ip("link add srtm0 type dummy\nlink set srtm0 up"));
	ASSERT_EQ(0, listen_begin(listen, "only link,port"));
	ASSERT_EQ(0, topo_link_add("srtm", "srtm0"));
	EXPECT_EQ(0, listen_until(listen, "\"link\":\"srtm\"", "\"is\":\"new\""));
	ASSERT_EQ(0, listen_begin(&one, "srtm only link,port"));
	EXPECT_EQ(1, listen_count(&one, EVENT("link"), NULL, NULL));
	ASSERT_EQ(0, topo_set_up("srtm0", false));
	EXPECT_EQ(0, listen_until(listen, "\"link\":\"srtm\"",
				  "\"port\":\"down\""));
	ASSERT_EQ(0, topo_set_up("srtm0", true));
	EXPECT_EQ(0, listen_until(&one, EVENT("port"), "\"port\":\"up\""));
	ASSERT_EQ(0, topo_ip("link del srtm0"));
	EXPECT_EQ(0, listen_until(listen, "\"link\":\"srtm\"",
				  "\"is\":\"gone\""));
	/* Who listens to it alone has nothing to listen to any more. */
	EXPECT_EQ(0, listen_wait(&one));
	EXPECT_EQ(0, listen_count(&one, "srt0", NULL, NULL));
	EXPECT_EQ(0, listen_count(listen, EVENT("packet"), NULL, NULL));
	listen_end(&one);
}

/* Whoever is slow, and listens to one link: else it would listen for ever. */
TEST_F(monitor, the_end_of_a_link_is_not_lost)
{
	struct listen *listen = &self->scene.listen;
	char flaps[1024];
	size_t len = 0;
	int i;

	for (i = 0; i < 20; i++)
		len += snprintf(flaps + len, sizeof(flaps) - len, "%s",
				"link set srtm0 down\nlink set srtm0 up\n");
	ASSERT_GT(sizeof(flaps), len);
	ASSERT_EQ(0, topo_ip("link add srtm0 type dummy\nlink set srtm0 up"));
	ASSERT_EQ(0, topo_link_add("srtm", "srtm0"));
	ASSERT_EQ(0, listen_begin(listen, "srtm only link,port room 16"));
	kill(listen->pid, SIGSTOP);
	ASSERT_EQ(0, topo_ip("%s", flaps));
	ASSERT_EQ(0, topo_ip("link del srtm0"));
	ASSERT_EQ(0, topo_wait_link("srtm", false, DUO_WAIT_MS));
	kill(listen->pid, SIGCONT);
	EXPECT_EQ(0, listen_wait(listen));
	EXPECT_LT(0, listen_sum(listen, "count", EVENT("lost"), NULL));
	EXPECT_LE(15, listen_count(listen, EVENT("port"), NULL, NULL));
	EXPECT_EQ(1, listen_count(listen, "\"is\":\"gone\"", NULL, NULL));
}

/* ---- who hears what ---- */

TEST_F(monitor, a_listener_of_one_qp_hears_of_that)
{
	struct listen *listen = &self->scene.listen, all = {};
	struct duo other = {};
	char qp[32];

	ASSERT_EQ(0, duo_up(&other, &self->scene.sets[0], &self->scene.sets[0]));
	snprintf(qp, sizeof(qp), "\"qp\":%u,", other.end[0].qp->qp_num);
	ASSERT_EQ(0, listen_begin(listen, "%s qp %u", TOPO_LINK,
				  self->scene.duo.end[0].qp->qp_num));
	ASSERT_EQ(0, listen_begin(&all, "%s", TOPO_LINK));
	ASSERT_EQ(0, post_one(&other, IBV_WR_RDMA_WRITE, PACKETS(4)));
	ASSERT_EQ(0, post_one(&self->scene.duo, IBV_WR_RDMA_WRITE, PACKETS(4)));
	END_OF_EVENTS(&self->scene);
	EXPECT_EQ(0, listen_until(&all, self->scene.qp, "\"to\":\"RESET\""));
	EXPECT_EQ(4, listen_count(listen, TX, self->scene.qp, NULL));
	EXPECT_EQ(4, listen_count(listen, TX, NULL, NULL));
	EXPECT_EQ(0, listen_count(listen, RX, "WRITE", NULL));
	EXPECT_EQ(4, listen_count(&all, TX, qp, NULL));
	EXPECT_EQ(8, listen_count(&all, RX, "WRITE", NULL));
	listen_end(&all);
	EXPECT_EQ(0, duo_close(&other));
}

/* It goes, and its place with it. */
TEST_F(monitor, who_dies_leaves_nothing_behind)
{
	struct listen many[16] = {};
	int i;

	for (i = 0; i < 16; i++)
		ASSERT_EQ(0, listen_begin(&many[i], "%s", TOPO_LINK));
	EXPECT_NE(0, listen_begin(&self->scene.listen, "%s", TOPO_LINK));
	listen_end(&self->scene.listen);
	for (i = 0; i < 16; i++) {
		ASSERT_EQ(0, post_one(&self->scene.duo, IBV_WR_RDMA_WRITE, 64));
		listen_end(&many[i]);
	}
	EXPECT_EQ(0, listen_begin(&self->scene.listen, "%s", TOPO_LINK));
}

static int wait_for_child(void)
{
	int status;

	if (wait(&status) < 0 || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

TEST_F(monitor, who_is_no_administrator_may_not)
{
	char said[1024];

	if (!fork()) {
		if (setgid(65534) || setuid(65534))
			_exit(1);
		if (rules_tool(said, sizeof(said), "monitor") != 1 ||
		    !strstr(said, "CAP_NET_ADMIN"))
			_exit(2);
		_exit(0);
	}
	EXPECT_EQ(0, wait_for_child());
}

TEST_F(monitor, what_cannot_be_watched_is_refused)
{
	char said[1024];

	EXPECT_EQ(1, rules_tool(said, sizeof(said), "monitor nolink"));
	EXPECT_NE(NULL, strstr(said, "no softrdma link of that name"));
	EXPECT_EQ(1, rules_tool(said, sizeof(said), "monitor qp 17"));
	EXPECT_NE(NULL, strstr(said, "of which?"));
	EXPECT_EQ(2, rules_tool(said, sizeof(said), "monitor only nothing"));
	EXPECT_NE(NULL, strstr(said, "kinds: lost packet"));
	EXPECT_EQ(1, rules_tool(said, sizeof(said), "monitor room 7"));
}

/* A link belongs to the namespace of its interface, and so do its events. */
TEST_F(monitor, other_namespaces_are_not_heard)
{
	struct listen *listen = &self->scene.listen;
	int ready[2], over[2];
	char c = 0;

	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(over));
	if (!fork()) {
		if (unshare(CLONE_NEWNET) || topo_ip("link set lo up") ||
		    topo_ip("link add srtm0 type dummy\nlink set srtm0 up") ||
		    topo_link_add("srtm", "srtm0") ||
		    listen_begin(listen, "only packet,link,state,port"))
			_exit(1);
		if (write(ready[1], &c, 1) != 1 || read(over[0], &c, 1) != 1)
			_exit(4);
		topo_ip("link del srtm0");
		if (listen_until(listen, "\"is\":\"gone\"", NULL))
			_exit(2);
		/* The link that was there has QPs as well: of the kernel. */
		_exit(listen_count(listen, EVENT("packet"), NULL, NULL) ||
		      listen_count(listen, self->scene.qp, NULL, NULL) ||
		      listen_count(listen, "srt0", NULL, NULL) ? 3 : 0);
	}
	ASSERT_EQ(1, read(ready[0], &c, 1));
	ASSERT_EQ(0, post_one(&self->scene.duo, IBV_WR_RDMA_WRITE, PACKETS(4)));
	ASSERT_EQ(0, duo_state(&self->scene.duo.end[0], IBV_QPS_ERR));
	ASSERT_EQ(1, write(over[1], &c, 1));
	EXPECT_EQ(0, wait_for_child());
}

TEST_HARNESS_MAIN
