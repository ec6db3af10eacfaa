// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A requester made of frames: requests that are refused, with which NAK, and
 * that nothing of them is done (9.7.4.1, 9.7.5.2).
 */
#include "peer_fixture.h"

#include "errlog.h"

#define IN	32768		/* where receives go; WRITEs stay below */
#define LONG	(1024 * MTU)	/* more than a QP hands to the network at once */

/* What follows what: 0xff is nothing at all. */
static const struct {
	uint8_t before, after;
} out_of_order[] = {
	{ 0xff, RC_SEND_MIDDLE }, { 0xff, RC_SEND_LAST },
	{ 0xff, RC_SEND_LAST_IMM }, { 0xff, RC_WRITE_MIDDLE },
	{ 0xff, RC_WRITE_LAST }, { 0xff, RC_WRITE_LAST_IMM },
	{ RC_SEND_FIRST, RC_SEND_FIRST }, { RC_SEND_FIRST, RC_SEND_ONLY },
	{ RC_SEND_FIRST, RC_WRITE_FIRST }, { RC_SEND_FIRST, RC_WRITE_MIDDLE },
	{ RC_SEND_FIRST, RC_WRITE_LAST }, { RC_SEND_FIRST, RC_WRITE_ONLY },
	{ RC_SEND_FIRST, RC_READ }, { RC_SEND_FIRST, RC_FETCH_ADD },
	{ RC_WRITE_FIRST, RC_WRITE_FIRST }, { RC_WRITE_FIRST, RC_WRITE_ONLY },
	{ RC_WRITE_FIRST, RC_SEND_FIRST }, { RC_WRITE_FIRST, RC_SEND_MIDDLE },
	{ RC_WRITE_FIRST, RC_SEND_LAST }, { RC_WRITE_FIRST, RC_SEND_ONLY },
	{ RC_WRITE_FIRST, RC_READ }, { RC_WRITE_FIRST, RC_CMP_SWAP },
};

/* A packet of a message of which nothing else is wrong. */
static int say_part(struct peer *peer, uint8_t opcode, uint32_t psn, size_t len)
{
	switch (opcode) {
	case RC_WRITE_FIRST:
		return peer_rdma(peer, opcode, psn, 0, 8 * MTU, len);
	case RC_WRITE_ONLY:
		return peer_rdma(peer, opcode, psn, 0, len, len);
	case RC_READ:
		return peer_rdma(peer, opcode, psn, 0, 8, 0);
	case RC_CMP_SWAP:
	case RC_FETCH_ADD:
		return peer_atomic(peer, opcode, psn, 0, 1, 1);
	default:
		return peer_send(peer, opcode, psn, len);
	}
}

TEST_F(peer, parts_of_messages_out_of_order_are_refused)
{
	struct peer *peer = &self->peer;
	uint32_t psn;
	size_t i;

	for (i = 0; i < sizeof(out_of_order) / sizeof(out_of_order[0]); i++) {
		uint8_t before = out_of_order[i].before;
		uint8_t after = out_of_order[i].after;

		psn = PSN;
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		ASSERT_EQ(0, peer_post_recv(peer, 0, IN, 8 * MTU));
		if (before != 0xff) {
			ASSERT_EQ(0, say_part(peer, before, psn, MTU));
			ASSERT_TRUE(peer_hears_count(psn, 0));
			psn++;
		}
		memset(peer->buf, 0x33, PEER_BUF);
		ASSERT_EQ(0, say_part(peer, after, psn, MTU));
		EXPECT_TRUE(peer_refuses(peer, psn, NAK_INVALID)) {
			TH_LOG("0x%02x after 0x%02x", after, before);
		}
		EXPECT_TRUE(cm_is_all(peer->buf, PEER_BUF, 0x33));
		/* The receive comes back, and not as a message. */
		ASSERT_TRUE(peer_completes(peer->recv_cq, &self->wc));
		EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, self->wc.status);
	}
}

/* More or fewer bytes than the RETH has announced. */
TEST_F(peer, write_of_another_length_than_announced_is_refused)
{
	static const struct {
		uint8_t opcode;
		uint32_t dma_len, len;
	} wrong[] = {
		{ RC_WRITE_ONLY, 100, 101 }, { RC_WRITE_ONLY, 100, 99 },
		{ RC_WRITE_ONLY, 0, 1 }, { RC_WRITE_ONLY, MTU + 1, MTU },
		{ RC_WRITE_FIRST, MTU, MTU }, { RC_WRITE_FIRST, 0, MTU },
		{ RC_WRITE_FIRST, MTU - 1, MTU },
		{ RC_WRITE_FIRST, 0x80000001, MTU },
	};
	struct peer *peer = &self->peer;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memset(peer->buf, 0x33, PEER_BUF);
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		ASSERT_EQ(0, peer_rdma(peer, wrong[i].opcode, PSN, 0,
				       wrong[i].dma_len, wrong[i].len));
		EXPECT_TRUE(peer_refuses(peer, PSN, NAK_INVALID)) {
			TH_LOG("case %zu", i);
		}
		EXPECT_TRUE(cm_is_all(peer->buf, PEER_BUF, 0x33));
	}
}

/* The first packet is placed, and nothing behind it. */
TEST_F(peer, write_that_goes_on_otherwise_than_announced_is_refused)
{
	static const struct {
		uint32_t dma_len;
		uint8_t opcode;
		uint32_t len;
	} wrong[] = {
		{ MTU + 10, RC_WRITE_LAST, 11 }, { MTU + 10, RC_WRITE_LAST, 9 },
		{ MTU + 10, RC_WRITE_LAST_IMM, 11 },
		{ 2 * MTU, RC_WRITE_MIDDLE, MTU },
		{ MTU + 1, RC_WRITE_MIDDLE, MTU },
		{ 3 * MTU, RC_WRITE_LAST, MTU },
	};
	struct peer *peer = &self->peer;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memset(peer->buf, 0x33, PEER_BUF);
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		ASSERT_EQ(0, peer_rdma(peer, RC_WRITE_FIRST, PSN, 0,
				       wrong[i].dma_len, MTU));
		ASSERT_TRUE(peer_hears_count(PSN, 0));
		ASSERT_EQ(0, peer_send(peer, wrong[i].opcode, PSN + 1,
				       wrong[i].len));
		EXPECT_TRUE(peer_refuses(peer, PSN + 1, NAK_INVALID)) {
			TH_LOG("case %zu", i);
		}
		EXPECT_TRUE(cm_is_all(peer->buf + MTU, PEER_BUF - MTU, 0x33));
	}
}

/* Sizes that another path MTU would have. */
TEST_F(peer, parts_of_the_wrong_size_are_refused)
{
	static const struct {
		uint8_t opcode;
		uint32_t len;
	} wrong[] = {
		{ RC_SEND_FIRST, MTU / 2 }, { RC_SEND_FIRST, 2 * MTU },
		{ RC_SEND_ONLY, MTU + 1 }, { RC_SEND_ONLY, 2 * MTU },
		{ RC_WRITE_FIRST, MTU / 2 }, { RC_WRITE_FIRST, 2 * MTU },
		{ RC_WRITE_ONLY, 2 * MTU },
	};
	struct peer *peer = &self->peer;
	size_t i;

	memset(peer->buf, 0x33, PEER_BUF);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		ASSERT_EQ(0, peer_post_recv(peer, 0, IN, 8 * MTU));
		ASSERT_EQ(0, say_part(peer, wrong[i].opcode, PSN,
				      wrong[i].len));
		EXPECT_TRUE(peer_refuses(peer, PSN, NAK_INVALID)) {
			TH_LOG("case %zu", i);
		}
		ASSERT_TRUE(peer_completes(peer->recv_cq, &self->wc));
		EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, self->wc.status);
	}
	EXPECT_TRUE(cm_is_all(peer->buf, PEER_BUF, 0x33));
}

TEST_F(peer, message_longer_than_the_receive_fails_it)
{
	struct peer *peer = &self->peer;

	memset(peer->buf + IN, 0x33, IN);
	ASSERT_EQ(0, peer_post_recv(peer, 9, IN, 99));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_ONLY, PSN, 100));
	EXPECT_TRUE(peer_refuses(peer, PSN, NAK_INVALID));
	ASSERT_TRUE(peer_completes(peer->recv_cq, &self->wc));
	EXPECT_EQ(IBV_WC_LOC_LEN_ERR, self->wc.status);
	EXPECT_EQ(9, self->wc.wr_id);
	EXPECT_TRUE(cm_is_all(peer->buf + IN + 99, IN - 99, 0x33));

	/* Seen only when its second packet comes. */
	memset(peer->buf + IN, 0x33, IN);
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	ASSERT_EQ(0, peer_post_recv(peer, 9, IN, MTU + 99));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_FIRST, PSN, MTU));
	EXPECT_TRUE(peer_hears_count(PSN, 0));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_LAST, PSN + 1, 100));
	EXPECT_TRUE(peer_refuses(peer, PSN + 1, NAK_INVALID));
	ASSERT_TRUE(peer_completes(peer->recv_cq, &self->wc));
	EXPECT_EQ(IBV_WC_LOC_LEN_ERR, self->wc.status);
	EXPECT_TRUE(cm_is_all(peer->buf + IN + MTU + 99, IN - MTU - 99, 0x33));
}

TEST_F(peer, atomic_of_the_wrong_length_or_place_is_not_done)
{
	static const uint8_t opcodes[] = { RC_CMP_SWAP, RC_FETCH_ADD };
	static const uint8_t ext[32];
	struct peer *peer = &self->peer;
	struct peer_packet packet = { .psn = PSN, .ask = true, .ext = ext };
	int64_t short_ones = counters_get("rx_drop_short");
	int64_t long_ones = counters_get("rx_drop_length");
	size_t i;

	memset(peer->buf, 0, PEER_BUF);
	for (i = 0; i < 2; i++) {
		packet.opcode = opcodes[i];
		packet.ext_len = 24;
		ASSERT_EQ(0, peer_say(peer, &packet));
		packet.ext_len = 32;
		ASSERT_EQ(0, peer_say(peer, &packet));
	}
	/* No atomic at all: nobody can say what was asked for. */
	EXPECT_EQ(0, peer_said(peer));
	EXPECT_EQ(short_ones + 2, counters_get("rx_drop_short"));
	EXPECT_EQ(long_ones + 2, counters_get("rx_drop_length"));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		ASSERT_EQ(0, peer_atomic(peer, opcodes[i], PSN, 4, 1, 0));
		EXPECT_TRUE(peer_refuses(peer, PSN, NAK_INVALID));
	}
	/* The length of an ATOMIC WRITE is said twice. */
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	ASSERT_EQ(0, peer_rdma(peer, RC_ATOMIC_WRITE, PSN, 0, 4, 8));
	EXPECT_TRUE(peer_refuses(peer, PSN, NAK_INVALID));
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	ASSERT_EQ(0, peer_rdma(peer, RC_ATOMIC_WRITE, PSN, 4, 8, 8));
	EXPECT_TRUE(peer_refuses(peer, PSN, NAK_INVALID));
	EXPECT_TRUE(cm_is_all(peer->buf, PEER_BUF, 0));

	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	ASSERT_EQ(0, peer_rdma(peer, RC_ATOMIC_WRITE, PSN, 0, 8, 8));
	EXPECT_TRUE(peer_hears(&self->heard, RC_READ_RESP_ONLY, PSN));
	EXPECT_EQ(0, self->heard.len);
	EXPECT_TRUE(cm_holds(peer->buf, 8, PSN));
}

/* What no packet can be, whatever the connection, and what counts it. */
static const struct {
	uint8_t opcode;
	size_t ext_len, len;
	const char *counter;
} no_packets[] = {
	{ 0x15, 0, 0, "rx_drop_opcode" }, { 0x18, 0, 0, "rx_drop_opcode" },
	{ 0x19, 28, 0, "rx_drop_opcode" }, { 0x1a, 16, 8, "rx_drop_opcode" },
	{ 0x1b, 0, MTU, "rx_drop_opcode" }, { 0x1e, 0, 7, "rx_drop_opcode" },
	{ 0x1f, 4, 100, "rx_drop_opcode" },
	{ RC_CMP_SWAP, 24, 0, "rx_drop_short" },
	{ RC_CMP_SWAP, 28, 4, "rx_drop_length" },
	{ RC_FETCH_ADD, 16, 0, "rx_drop_short" },
	{ RC_FETCH_ADD, 28, 8, "rx_drop_length" },
	{ RC_ATOMIC_WRITE, 16, 4, "rx_drop_length" },
	{ RC_ATOMIC_WRITE, 16, 9, "rx_drop_length" },
	{ RC_READ, 12, 0, "rx_drop_short" },
	{ RC_READ, 16, 1, "rx_drop_length" },
	{ RC_WRITE_ONLY, 12, 0, "rx_drop_short" },
	{ RC_SEND_FIRST, 0, 1000, "rx_drop_length" },
	{ RC_SEND_MIDDLE, 0, 1000, "rx_drop_length" },
	{ RC_SEND_LAST, 0, 0, "rx_drop_length" },
};

/* At the PSN that is expected: not refused, for that would change the state. */
TEST_F(peer, what_is_no_packet_changes_nothing)
{
	static const uint8_t ext[28], payload[MTU];
	struct peer_packet packet = {
		.psn = PSN + 1, .ask = true, .ext = ext, .payload = payload,
	};
	struct peer *peer = &self->peer;
	int64_t said, count;
	size_t i;

	memset(peer->buf, 0x33, PEER_BUF);
	ASSERT_EQ(0, peer_post_recv(peer, 7, IN, 8 * MTU));
	ASSERT_EQ(0, peer_send(peer, RC_SEND_FIRST, PSN, MTU));
	ASSERT_TRUE(peer_hears_count(PSN, 0));
	said = peer_said(peer);
	for (i = 0; i < sizeof(no_packets) / sizeof(no_packets[0]); i++) {
		count = counters_get(no_packets[i].counter);
		packet.opcode = no_packets[i].opcode;
		packet.ext_len = no_packets[i].ext_len;
		packet.len = no_packets[i].len;
		ASSERT_EQ(0, peer_say(peer, &packet));
		EXPECT_EQ(count + 1, counters_get(no_packets[i].counter)) {
			TH_LOG("0x%02x, %zu and %zu bytes",
			       no_packets[i].opcode, no_packets[i].ext_len,
			       no_packets[i].len);
		}
	}
	EXPECT_EQ(said, peer_said(peer));

	/* The message goes on as if nothing had come. */
	ASSERT_EQ(0, peer_send(peer, RC_SEND_LAST, PSN + 1, 100));
	EXPECT_TRUE(peer_hears_count(PSN + 1, 1));
	ASSERT_TRUE(peer_completes(peer->recv_cq, &self->wc));
	EXPECT_EQ(IBV_WC_SUCCESS, self->wc.status);
	EXPECT_EQ(7, self->wc.wr_id);
	EXPECT_EQ(MTU + 100, self->wc.byte_len);
	EXPECT_TRUE(cm_holds(peer->buf + IN, MTU, PSN));
	EXPECT_TRUE(cm_holds(peer->buf + IN + MTU, 100, PSN + 1));
	EXPECT_TRUE(cm_is_all(peer->buf, IN, 0x33));
}

TEST_F(peer, foreign_memory_is_refused_by_its_own_nak)
{
	static const uint8_t opcodes[] = { RC_READ, RC_WRITE_ONLY };
	struct peer *peer = &self->peer;
	int64_t said;
	size_t i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
		ASSERT_EQ(0, peer_rdma(peer, opcodes[i], PSN, PEER_BUF, 8,
				       opcodes[i] == RC_READ ? 0 : 8));
		EXPECT_TRUE(peer_refuses(peer, PSN, NAK_ACCESS));
	}
	ASSERT_EQ(0, peer_reconnect(peer, &self->attr));
	ASSERT_EQ(0, peer_atomic(peer, RC_FETCH_ADD, PSN, -8, 1, 0));
	EXPECT_TRUE(peer_refuses(peer, PSN, NAK_ACCESS));
	/* No requests are heard any more. */
	said = peer_said(peer);
	ASSERT_EQ(0, peer_rdma(peer, RC_READ, PSN, 0, 8, 0));
	ASSERT_EQ(0, peer_rdma(peer, RC_READ, PSN + 1, 0, 8, 0));
	EXPECT_EQ(said, peer_said(peer));
}

/* ---- answers that are held up on their way out ---- */

/*
 * What is sent waits until the neighbour is known, which takes as long as we
 * want. What is held up leaves at once later, faster than anybody reads it: the
 * queue of the interface has room for all of it. 0 or not.
 */
static int forget_neighbour(void)
{
	return topo_run("cd /proc/sys/net/ipv4/neigh/" WIRE_NETDEV " && "
			"echo 100000000 >unres_qlen_bytes && "
			"echo 1000 >mcast_solicit") ?:
	       topo_ip("link set " WIRE_NETDEV " txqueuelen 4096\n"
		       "neigh del " WIRE_PEER " dev " WIRE_NETDEV);
}

static int learn_neighbour(void)
{
	return topo_ip("neigh replace " WIRE_PEER
		       " lladdr 02:00:00:00:77:02 dev " WIRE_NETDEV);
}

/* The same peer, which thinks of other memory. */
static int think_of(struct peer *peer, size_t length)
{
	peer->buf = calloc(1, length);
	if (!peer->buf)
		return ENOMEM;
	peer->mr = ibv_reg_mr(peer->set.pd, peer->buf, length,
			      IBV_ACCESS_REMOTE_READ);
	return peer->mr ? 0 : errno;
}

static int forget(struct peer *peer)
{
	int ret = ibv_dereg_mr(peer->mr);

	free(peer->buf);
	return ret;
}

/*
 * So many READs are outstanding. One more than max_dest_rd_atomic is refused,
 * once the others are answered.
 */
TEST_F(peer, more_reads_than_agreed_upon_are_refused)
{
	int64_t refused = counters_get("req_invalid");
	struct peer *peer = &self->peer;
	struct peer with_long = *peer;
	uint32_t psn = PSN;
	int i;

	ASSERT_EQ(0, think_of(&with_long, LONG));
	ASSERT_EQ(0, forget_neighbour());
	ASSERT_EQ(0, peer_rdma(&with_long, RC_READ, psn, 0, LONG, 0));
	psn += LONG / MTU;
	for (i = 1; i < self->attr.rd_atomic; i++)
		ASSERT_EQ(0, peer_rdma(peer, RC_READ, psn++, 0, 8, 0));
	EXPECT_EQ(refused, counters_get("req_invalid"));
	ASSERT_EQ(0, peer_rdma(peer, RC_READ, psn, 0, 8, 0));
	EXPECT_EQ(refused + 1, counters_get("req_invalid"));

	ASSERT_EQ(0, learn_neighbour());
	EXPECT_TRUE(peer_awaits(&self->heard, RC_READ_RESP_ONLY, psn - 1));
	EXPECT_TRUE(peer_awaits(&self->heard, RC_ACK, psn));
	EXPECT_EQ(NAK_INVALID, self->heard.syndrome);
	EXPECT_EQ(0, forget(&with_long));
}

/*
 * READ data is asked for again, as if it had got lost, and its memory goes
 * before it is sent again: the peer may have had it the first time.
 */
TEST_F(peer, repetition_of_what_is_gone_breaks_no_connection)
{
	struct peer *peer = &self->peer;
	struct peer with_long = *peer;
	struct peer with_brief = *peer;

	ASSERT_EQ(0, think_of(&with_long, LONG));
	ASSERT_EQ(0, think_of(&with_brief, MTU));
	ASSERT_EQ(0, peer_rdma(&with_brief, RC_READ, PSN, 0, 8, 0));
	EXPECT_TRUE(peer_hears(&self->heard, RC_READ_RESP_ONLY, PSN));
	ASSERT_EQ(0, forget_neighbour());
	ASSERT_EQ(0, peer_rdma(&with_long, RC_READ, PSN + 1, 0, LONG, 0));
	ASSERT_EQ(0, peer_rdma(&with_brief, RC_READ, PSN, 0, 8, 0));
	ASSERT_EQ(0, forget(&with_brief));

	ASSERT_EQ(0, learn_neighbour());
	EXPECT_TRUE(peer_awaits(&self->heard, RC_READ_RESP_LAST,
				PSN + LONG / MTU));
	EXPECT_EQ(IBV_QPS_RTS, verbs_qp_state(peer->qp));
	EXPECT_EQ(0, forget(&with_long));
}

/* A copy that a network has made of a READ, and that comes when its memory is gone. */
TEST_F(peer, late_copy_of_what_is_gone_is_no_refusal)
{
	struct peer *peer = &self->peer;
	struct peer with_brief = *peer;

	ASSERT_EQ(0, think_of(&with_brief, MTU));
	ASSERT_EQ(0, peer_rdma(&with_brief, RC_READ, PSN, 0, 8, 0));
	EXPECT_TRUE(peer_hears(&self->heard, RC_READ_RESP_ONLY, PSN));
	ASSERT_EQ(0, forget(&with_brief));
	ASSERT_EQ(0, peer_rdma(&with_brief, RC_READ, PSN, 0, 8, 0));
	EXPECT_EQ(IBV_QPS_RTS, verbs_qp_state(peer->qp));
	EXPECT_FALSE(errlog_says(TOPO_LINK, peer->qp->qp_num, 0, "refused"));
	/* Asked for anew it is one. */
	ASSERT_EQ(0, peer_rdma(&with_brief, RC_READ, PSN + 1, 0, 8, 0));
	EXPECT_TRUE(errlog_says(TOPO_LINK, peer->qp->qp_num, 0, "refused"));
}

/* But of what goes while it is sent the first time no more is to be had. */
TEST_F(peer, rest_of_what_is_gone_is_refused)
{
	struct peer *peer = &self->peer;
	struct peer with_long = *peer;
	int64_t trains = counters_get("tx_trains");
	uint32_t heard = 0, end = LONG / MTU;
	uint8_t syndrome = 0;

	ASSERT_EQ(0, think_of(&with_long, LONG));
	ASSERT_EQ(0, forget_neighbour());
	ASSERT_EQ(0, peer_rdma(&with_long, RC_READ, PSN, 0, LONG, 0));
	/* From the middle, which has not been sent yet or is sent again. */
	ASSERT_EQ(0, peer_rdma(&with_long, RC_READ, PSN + 1, MTU, LONG - MTU,
			       0));
	ASSERT_EQ(0, forget(&with_long));
	/* More of them find room where they wait for the neighbour. */
	EXPECT_LT(trains, counters_get("tx_trains"));

	ASSERT_EQ(0, learn_neighbour());
	/* What waits for the neighbour may be overtaken when that is known. */
	while ((heard < end || !syndrome) &&
	       !peer_hear(&self->heard, PEER_WAIT_MS)) {
		if (self->heard.opcode == RC_ACK) {
			syndrome = self->heard.syndrome;
			end = self->heard.psn - PSN;
			continue;
		}
		EXPECT_EQ(PSN + heard++, self->heard.psn);
	}
	EXPECT_LT(1, heard);
	EXPECT_GT(LONG / MTU, heard);
	EXPECT_EQ(NAK_ACCESS, syndrome);
	EXPECT_EQ(end, heard);
	EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(peer->qp));
}

TEST_HARNESS_MAIN
