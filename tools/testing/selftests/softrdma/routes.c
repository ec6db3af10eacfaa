// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The way to the peer: asked for again when it has changed, refused as the stack
 * refuses it, and no fuller than it has room. What a post sends has left when the
 * call returns.
 */
#include "peer_fixture.h"

#include <arpa/inet.h>

#include "duo.h"

/* Nobody there answers when the host asks. */
#define PEER_MAC	"02:00:00:00:77:02"

/* As much as a QP may hand to the network before it knows how fast that is. */
#define INFLIGHT_START	(128 * 1024)

/* And a burst more, with its headers; and what leaves the slow queue at once. */
#define INFLIGHT_MOST	(INFLIGHT_START + 72 * 1024 + 100 * 1024)

static int post_send(struct peer *peer, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)peer->buf, len, peer->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1,
	};

	return ibv_post_send(peer->qp, &wr, &bad);
}

/* One more message leaves, and the peer says that it has come. */
static bool leaves(struct peer *peer, uint32_t psn)
{
	struct peer_heard heard;
	struct ibv_wc wc;

	return !post_send(peer, 8) &&
	       peer_awaits(&heard, RC_SEND_ONLY, psn) &&
	       !peer_ack(peer, psn, ACK_UNLIMITED, 1) &&
	       peer_completes(peer->set.cq, &wc) && !wc.status;
}

/* The packet with this PSN, passing over what was repeated. 0 or -ETIMEDOUT. */
static int capture(struct wire_frame *frame, uint32_t psn, int timeout_ms)
{
	const uint8_t *bth;
	int ret;

	do {
		ret = wire_capture(frame, timeout_ms);
		bth = wire_bth(frame);
	} while (!ret && (bth[0] != RC_SEND_ONLY || bth[9] != (psn >> 16) ||
			  bth[10] != (psn >> 8 & 0xff) ||
			  bth[11] != (psn & 0xff)));
	return ret;
}

/* One more message has no way to go: does this counter say so? */
static bool is_stopped(struct peer *peer, uint32_t psn, const char *counter)
{
	int64_t before = counters_get(counter);
	struct wire_frame frame;

	return !post_send(peer, 8) && counters_get(counter) > before &&
	       capture(&frame, psn, 0);
}

/* Once a minute: as good as never. */
#define SELDOM	24

TEST_F(peer, route_that_changes_is_asked_again)
{
	struct peer *peer = &self->peer;

	self->attr.timeout = SELDOM;
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	EXPECT_TRUE(leaves(peer, PSN));
	ASSERT_EQ(0, topo_ip("route add unreachable " WIRE_PEER));
	EXPECT_TRUE(is_stopped(peer, PSN + 1, "tx_no_route"));
	ASSERT_EQ(0, topo_ip("route del unreachable " WIRE_PEER));
	/* What had no way was lost: another connection. */
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	EXPECT_TRUE(leaves(peer, PSN));
}

/* In the middle of one: the next packet goes, and a lost one comes again. */
TEST_F(peer, route_that_comes_back_is_taken)
{
	struct peer *peer = &self->peer;

	self->attr.timeout = 16;
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	EXPECT_TRUE(leaves(peer, PSN));
	ASSERT_EQ(0, topo_ip("route add unreachable " WIRE_PEER));
	EXPECT_TRUE(is_stopped(peer, PSN + 1, "tx_no_route"));
	ASSERT_EQ(0, topo_ip("route del unreachable " WIRE_PEER));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 1));
}

TEST_F(peer, refusal_of_a_filter_is_counted)
{
	struct peer *peer = &self->peer;

	self->attr.timeout = SELDOM;
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	EXPECT_TRUE(leaves(peer, PSN));
	ASSERT_EQ(0, topo_run("nft 'table ip srt { chain c { type filter hook "
			      "output priority 0; udp dport 4791 drop; }; }'"));
	EXPECT_TRUE(is_stopped(peer, PSN + 1, "tx_dropped"));
	ASSERT_EQ(0, topo_run("nft delete table ip srt"));
}

/* A rule of the host may look at the traffic class. */
TEST_F(peer, traffic_class_chooses_the_route)
{
	static const uint8_t classes[] = { 0x10, 0x08 };
	struct verbs_set to = self->peer.set;
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;
	enum ibv_qp_state state;
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	int64_t before;
	int i;

	inet_pton(AF_INET, WIRE_PEER, to.gid.raw + 12);
	ASSERT_EQ(0, topo_ip("rule add tos 0x10 unreachable"));
	for (i = 0; i < 2; i++) {
		qp = verbs_qp(&to, IBV_QPT_UC);
		ASSERT_NE(NULL, qp);
		for (state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
			verbs_attr(&to, &attr, state, 0x77);
			attr.ah_attr.grh.traffic_class = classes[i];
			ASSERT_EQ(0, ibv_modify_qp(qp, &attr,
				  verbs_mask(IBV_QPT_UC, state - 1, state)));
		}
		before = counters_get("tx_no_route");
		ASSERT_EQ(0, ibv_post_send(qp, &wr, &bad));
		EXPECT_EQ(before + (i == 0), counters_get("tx_no_route")) {
			TH_LOG("class 0x%02x", classes[i]);
		}
		EXPECT_EQ(0, ibv_destroy_qp(qp));
	}
	ASSERT_EQ(0, topo_ip("rule del tos 0x10 unreachable"));
}

/* What fills a packet up to a multiple of four is nothing that was there before. */
TEST_F(peer, padding_is_zero)
{
	struct peer *peer = &self->peer;
	struct wire_frame frame;
	uint32_t psn = PSN;
	int round, len;
	uint8_t *end;

	memset(peer->buf, 0xff, PEER_BUF);
	for (round = 0; round < 16; round++) {
		for (len = 9; len <= 12; len++, psn++) {
			ASSERT_EQ(0, post_send(peer, len));
			ASSERT_EQ(0, capture(&frame, psn, PEER_WAIT_MS));
			end = frame.bytes + frame.len - 4;
			EXPECT_EQ(0xff, end[len - 13]);
			EXPECT_TRUE(cm_is_all(end + len - 12, 12 - len, 0)) {
				TH_LOG("%d bytes", len);
			}
			ASSERT_EQ(0, peer_ack(peer, psn, ACK_UNLIMITED, 1));
			ASSERT_TRUE(peer_completes(peer->set.cq, &self->wc));
		}
	}
}

/**
 * struct uc_writer - a UC QP, which waits for nobody's answer
 * @set: where it is, and its peer
 * @qp: in RTS
 * @mr: of @buf
 * @buf: what it writes
 */
struct uc_writer {
	struct verbs_set set;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t buf[1 << 20];
};

static int uc_begin(struct uc_writer *writer, const struct verbs_set *set)
{
	enum ibv_qp_state state;
	struct ibv_qp_attr attr;
	int ret = 0;

	writer->set = *set;
	inet_pton(AF_INET, WIRE_PEER, writer->set.gid.raw + 12);
	writer->mr = ibv_reg_mr(set->pd, writer->buf, sizeof(writer->buf), 0);
	writer->qp = verbs_qp(&writer->set, IBV_QPT_UC);
	if (!writer->mr || !writer->qp)
		return -1;
	for (state = IBV_QPS_INIT; !ret && state <= IBV_QPS_RTS; state++) {
		verbs_attr(&writer->set, &attr, state, 0x77);
		ret = ibv_modify_qp(writer->qp, &attr,
				    verbs_mask(IBV_QPT_UC, state - 1, state));
	}
	return ret;
}

static int uc_post(struct uc_writer *writer)
{
	struct ibv_sge sge = { (uintptr_t)writer->buf, sizeof(writer->buf),
			       writer->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
	};

	return ibv_post_send(writer->qp, &wr, &bad);
}

static int uc_end(struct uc_writer *writer)
{
	return ibv_destroy_qp(writer->qp) ?: ibv_dereg_mr(writer->mr);
}

/* All of it through a tbf; by how much @counter has grown then, or -1. */
static int64_t uc_write_behind(const struct verbs_set *set, const char *tbf,
			       const char *counter)
{
	static struct uc_writer writer;
	int64_t before = counters_get(counter);
	char add[128];
	struct ibv_wc wc;
	bool done;

	snprintf(add, sizeof(add), "tc qdisc add dev " WIRE_NETDEV " root tbf %s", tbf);
	if (uc_begin(&writer, set) || topo_run(add) || uc_post(&writer))
		return -1;
	done = peer_completes(writer.set.cq, &wc) && !wc.status;
	if (uc_end(&writer) || topo_run("tc qdisc del dev " WIRE_NETDEV " root") || !done)
		return -1;
	return counters_get(counter) - before;
}

/* In a queue that is slow. */
TEST_F(peer, no_more_is_in_flight_than_there_is_room)
{
	int64_t busy = counters_get("tx_busy"), bytes;
	static struct uc_writer writer;

	ASSERT_EQ(0, uc_begin(&writer, &self->peer.set));
	/* So slow that next to nothing leaves while packets are made. */
	ASSERT_EQ(0, topo_run("tc qdisc add dev " WIRE_NETDEV " root tbf "
			      "rate 1mbit burst 100kb limit 4mb"));
	bytes = counters_get("tx_bytes");
	ASSERT_EQ(0, uc_post(&writer));
	EXPECT_GE(INFLIGHT_MOST, counters_get("tx_bytes") - bytes);
	EXPECT_LT(busy, counters_get("tx_busy"));
	/* And who waits for room is told. */
	ASSERT_EQ(0, topo_run("tc qdisc change dev " WIRE_NETDEV " root tbf "
			      "rate 40mbit burst 100kb limit 4mb"));
	ASSERT_TRUE(peer_completes(writer.set.cq, &self->wc));
	EXPECT_EQ(IBV_WC_SUCCESS, self->wc.status);
	EXPECT_LE((int)sizeof(writer.buf), counters_get("tx_bytes") - bytes);
	EXPECT_EQ(0, uc_end(&writer));
	EXPECT_EQ(0, topo_run("tc qdisc del dev " WIRE_NETDEV " root"));
}

/* Others may share it, and want their part of it. */
TEST_F(peer, who_waits_long_in_a_queue_has_less_of_it)
{
	int64_t busy = uc_write_behind(&self->peer.set,
				       "rate 40mbit burst 100kb limit 4mb", "tx_busy");

	TH_LOG("waited %ld times in 1 MB", (long)busy);
	/* With half of 128 KB less each time it would be less than half as often. */
	EXPECT_LT(14, busy);
}

/* What a queue refuses says how short it is: the rest of a message waits for room. */
TEST_F(peer, a_queue_that_is_full_gets_no_more)
{
	int64_t dropped = uc_write_behind(&self->peer.set,
					  "rate 40mbit burst 10kb limit 100kb", "tx_dropped");

	TH_LOG("%ld packets of 1 MB dropped", (long)dropped);
	/* The rest of one burst, which was built before the first was refused. */
	EXPECT_LT(0, dropped);
	EXPECT_GE(64, dropped);
}

/* What the host knows of where the peer is may be old; it asks after this. */
#define DOUBTS_S	"3"

/* Half of that, since a timer may be late; and more than what a peer takes to ask again. */
#define LATER_US	1500000

static int doubt_neighbour(void)
{
	return topo_put("/proc/sys/net/ipv4/neigh/" WIRE_NETDEV
			"/delay_first_probe_time", DOUBTS_S) ?:
	       topo_ip("neigh replace " WIRE_PEER " lladdr " PEER_MAC
		       " dev " WIRE_NETDEV " nud stale");
}

/* Is it sure after that, though nobody would answer it? */
static bool host_is_sure(void)
{
	long end = topo_now_ms() + PEER_WAIT_MS;
	bool is_sure;

	while (!topo_run("ip neigh show " WIRE_PEER
			 " | grep -q -e DELAY -e STALE") &&
	       topo_now_ms() < end)
		usleep(100000);
	is_sure = !topo_run("ip neigh show " WIRE_PEER " | grep -q REACHABLE");
	topo_ip("neigh replace " WIRE_PEER " lladdr " PEER_MAC
		" dev " WIRE_NETDEV);
	return is_sure;
}

/* TCP is not held up by a lost ARP either. */
TEST_F(peer, host_need_not_ask_where_a_peer_is_that_acknowledges)
{
	struct peer *peer = &self->peer;

	ASSERT_EQ(0, doubt_neighbour());
	EXPECT_TRUE(leaves(peer, PSN));
	usleep(LATER_US);
	EXPECT_TRUE(leaves(peer, PSN + 1));
	EXPECT_TRUE(host_is_sure());
}

TEST_F(peer, host_asks_where_a_peer_is_that_is_silent)
{
	struct peer *peer = &self->peer;

	EXPECT_TRUE(leaves(peer, PSN));
	/* With this it hears of the acknowledge. */
	ASSERT_EQ(0, post_send(peer, 8));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 1));
	ASSERT_EQ(0, doubt_neighbour());
	ASSERT_EQ(0, post_send(peer, 8));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_SEND_ONLY, PSN + 2));
	EXPECT_FALSE(host_is_sure());
}

static bool is_read(const struct peer *peer, struct peer_heard *heard, uint32_t psn)
{
	return !peer_rdma(peer, RC_READ, psn, 0, 8, 0) &&
	       peer_awaits(heard, RC_READ_RESP_ONLY, psn);
}

/* These it may have asked for without an answer. On a busy machine they may take longer. */
TEST_F(peer, host_asks_where_a_peer_is_that_may_have_heard_no_answer)
{
	long begun;

	do {
		ASSERT_EQ(0, peer_reconnect(&self->peer, &self->attr));
		ASSERT_EQ(0, doubt_neighbour());
		begun = topo_now_ms();
		ASSERT_TRUE(is_read(&self->peer, &self->heard, PSN));
		usleep(200000);
		ASSERT_TRUE(is_read(&self->peer, &self->heard, PSN + 1));
	} while (topo_now_ms() - begun > 900);
	EXPECT_FALSE(host_is_sure());
}

TEST_F(peer, host_need_not_ask_where_a_peer_is_that_goes_on_asking)
{
	ASSERT_EQ(0, doubt_neighbour());
	EXPECT_TRUE(is_read(&self->peer, &self->heard, PSN));
	usleep(LATER_US);
	EXPECT_TRUE(is_read(&self->peer, &self->heard, PSN + 1));
	EXPECT_TRUE(host_is_sure());
}

/* The last: neighbours are forgotten with the address. */
TEST_F(peer, address_that_goes_is_not_ours_any_more)
{
	struct verbs_set *set = &self->peer.set;
	int64_t before = counters_get("tx_no_route");
	struct duo duo = {};
	struct ibv_wc wc;

	ASSERT_EQ(0, duo_up(&duo, set, set));
	ASSERT_EQ(0, duo_recv(&duo.end[1], 1, 0, 64));
	ASSERT_EQ(0, duo_recv(&duo.end[1], 2, 0, 64));
	ASSERT_EQ(0, duo_send(&duo.end[0], 3, 0, 64, 0));
	ASSERT_EQ(1, duo_poll(duo.end[1].recv_cq, &wc, 1));
	ASSERT_EQ(1, duo_poll(duo.end[0].send_cq, &wc, 1));
	ASSERT_EQ(0, topo_ip("addr del " TOPO_IPV4 "/24 dev " WIRE_NETDEV));
	ASSERT_EQ(0, verbs_wait_gid(set->ctx, TOPO_IPV4, false, PEER_WAIT_MS));
	ASSERT_EQ(0, duo_send(&duo.end[0], 4, 0, 64, 0));
	EXPECT_EQ(0, ibv_poll_cq(duo.end[1].recv_cq, 1, &wc));
	EXPECT_LT(before, counters_get("tx_no_route"));
	EXPECT_EQ(0, duo_close(&duo));
	ASSERT_EQ(0, topo_ip("addr add " TOPO_IPV4 "/24 dev " WIRE_NETDEV "\n"
			     "neigh replace " WIRE_PEER " lladdr "
			     "02:00:00:00:77:02 dev " WIRE_NETDEV));
}

TEST_HARNESS_MAIN
