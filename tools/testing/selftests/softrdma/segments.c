// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A long message crosses a veth as a few skbs that hold many packets, and is
 * answered by one acknowledge; where the netdev cannot take them it goes as
 * single packets, with ICRCs that are verified.
 *
 *	namespace of the program	another one
 *	srtn0 10.79.0.1 <-- srt1 ------ srtn1 10.79.0.2 <-- srt2
 */
#include "../kselftest_harness.h"

#include <errno.h>

#include "duo.h"
#include "topo.h"
#include "tracefs.h"

#undef TEST_F
#define TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 120)

#define LONG	65536
#define PACKETS	(LONG / 1024)

static void __attribute__((constructor)) setup(void)
{
	int ret = duo_veth_setup();

	if (!ret)
		ret = tracefs_open();
	if (!ret)
		return;
	printf("Bail out! no veth to test on: %s\n", strerror(-ret));
	exit(1);
}

static void __attribute__((destructor)) teardown(void)
{
	tracefs_close();
	duo_veth_teardown();
}

FIXTURE(segments)
{
	struct verbs_set set[2];
	struct duo duo;
};

FIXTURE_SETUP(segments)
{
	struct ibv_wc wc;

	memset(&self->duo, 0, sizeof(self->duo));
	ASSERT_EQ(0, duo_veth_open(self->set));
	ASSERT_EQ(0, duo_up(&self->duo, &self->set[0], &self->set[1]));
	/*
	 * When the tracing begins the neighbour is known, and the sender has
	 * heard of a receive more: without credit it sends one packet and
	 * waits (9.7.7.2.5).
	 */
	ASSERT_EQ(0, duo_recv(&self->duo.end[1], 0, 0, 64));
	ASSERT_EQ(0, duo_recv(&self->duo.end[1], 5, 0, LONG));
	ASSERT_EQ(0, duo_send(&self->duo.end[0], 0, 0, 64, 0));
	ASSERT_EQ(1, duo_poll(self->duo.end[0].send_cq, &wc, 1));
	ASSERT_EQ(1, duo_poll(self->duo.end[1].recv_cq, &wc, 1));
	/* Frames of either netdev, IPv4 only: IPv6 talks by itself. */
	ASSERT_EQ(0, tracefs_enable("net/net_dev_start_xmit",
				    "protocol == 0x0800"));
	ASSERT_EQ(0, tracefs_enable("softrdma/srdma_tx", NULL));
	ASSERT_EQ(0, tracefs_enable("softrdma/srdma_rx", NULL));
	ASSERT_EQ(0, tracefs_enable("softrdma/srdma_packet",
				    "opcode == 0x11"));
	ASSERT_EQ(0, tracefs_enable("softrdma/srdma_drop", NULL));
	ASSERT_EQ(0, tracefs_enable("softrdma/srdma_timer_fire", NULL));
	ASSERT_EQ(0, tracefs_clear());
}

FIXTURE_TEARDOWN(segments)
{
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, verbs_close_set(&self->set[0]));
	EXPECT_EQ(0, verbs_close_set(&self->set[1]));
}

/* One message of 64 KB, checked byte by byte. 0, or what went wrong. */
static int send_long(struct duo *duo)
{
	struct duo_end *end = duo->end;
	struct ibv_wc wc;
	int i, ret;

	for (i = 0; i < LONG; i++)
		end[0].buf[i] = i * 7 + i / 251;
	memset(end[1].buf, 0, LONG);
	ret = duo_send(&end[0], 6, 0, LONG, 0);
	if (ret)
		return ret;
	if (duo_poll(end[1].recv_cq, &wc, 1) != 1 || wc.status ||
	    wc.byte_len != LONG)
		return -1;
	if (duo_poll(end[0].send_cq, &wc, 1) != 1 || wc.status)
		return -2;
	return memcmp(end[0].buf, end[1].buf, LONG) ? -3 : 0;
}

/*
 * On a machine that is kept waiting the requester loses patience and repeats a
 * packet, which may be answered.
 */
static int probes(void)
{
	return tracefs_count("srdma_timer_fire", "meaning=timer_probe");
}

#define EXPECT_PACKETS(count)						\
	do {								\
		int packets = (count);					\
									\
		EXPECT_LE(PACKETS, packets);				\
		EXPECT_GE(PACKETS + probes(), packets);			\
	} while (0)

/* One ACK was sent by the far netdev, and heard. */
#define EXPECT_ONE_ACK()						\
	do {								\
		int sent = tracefs_count("net_dev_start_xmit",		\
					 "dev=" DUO_FAR_NETDEV " ");	\
		int heard = tracefs_count("srdma_packet",		\
					  "verdict=resp_acks");		\
									\
		EXPECT_LE(1, sent);					\
		EXPECT_GE(1 + probes(), sent);				\
		EXPECT_LE(1, heard);					\
		EXPECT_GE(1 + probes(), heard);				\
	} while (0)

TEST_F(segments, long_message_crosses_as_trains_and_is_answered_by_one_ack)
{
	const char *near = "dev=" DUO_NEAR_NETDEV " ";

	ASSERT_EQ(0, send_long(&self->duo));
	EXPECT_GE(3 + probes(), tracefs_count("net_dev_start_xmit", near));
	EXPECT_PACKETS(tracefs_sum("srdma_tx", "opcode=0x0", "packets"));
	EXPECT_GE(3 + probes(), tracefs_count("srdma_rx", "requests"));
	EXPECT_PACKETS(tracefs_sum("srdma_rx", "requests", "packets"));
	EXPECT_ONE_ACK();
}

TEST_F(segments, netdev_without_segmentation_gets_single_packets)
{
	const char *near = "dev=" DUO_NEAR_NETDEV " ";

	ASSERT_EQ(0, topo_set_feature(DUO_NEAR_NETDEV, "tx-udp-segmentation",
				 false));
	EXPECT_EQ(0, send_long(&self->duo));
	/* Built so, and not cut on their way: each is accounted for. */
	EXPECT_PACKETS(tracefs_count("srdma_tx", "opcode=0x0"));
	EXPECT_PACKETS(tracefs_count("net_dev_start_xmit", near));
	EXPECT_EQ(0, tracefs_sum("net_dev_start_xmit", near, "gso_size"));
	EXPECT_PACKETS(tracefs_count("srdma_rx", "requests packets=1 "));
	EXPECT_EQ(0, tracefs_count("srdma_drop", ""));
	EXPECT_EQ(0, topo_set_feature(DUO_NEAR_NETDEV, "tx-udp-segmentation",
				 true));
}

/*
 * As to a NIC: the stack completes the checksums, so nobody vouches for the
 * packets, and their ICRCs are verified.
 */
TEST_F(segments, single_packets_have_the_icrc_of_the_wire)
{
	ASSERT_EQ(0, topo_set_feature(DUO_NEAR_NETDEV, "tx-udp-segmentation",
				 false));
	ASSERT_EQ(0, topo_set_feature(DUO_NEAR_NETDEV, "tx-checksum-ip-generic",
				 false));
	EXPECT_EQ(0, send_long(&self->duo));
	EXPECT_PACKETS(tracefs_count("srdma_rx", "requests packets=1 "));
	EXPECT_PACKETS(tracefs_count("requests packets=1 ", " wire"));
	EXPECT_EQ(0, tracefs_count("srdma_drop", ""));
	EXPECT_EQ(0, topo_set_feature(DUO_NEAR_NETDEV, "tx-checksum-ip-generic",
				 true));
	EXPECT_EQ(0, topo_set_feature(DUO_NEAR_NETDEV, "tx-udp-segmentation",
				 true));
}

/* In how many skbs four WRITEs left, 1 MB; or -1. */
static int send_four(struct duo_end end[2])
{
	struct ibv_wc wc[4];
	int i;

	if (tracefs_clear())
		return -1;
	for (i = 0; i < 4; i++)
		if (duo_write(&end[0], &end[1], i, DUO_BUF, end[1].mr->rkey))
			return -1;
	if (duo_poll(end[0].send_cq, wc, 4) != 4)
		return -1;
	for (i = 0; i < 4; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			return -1;
	return tracefs_count("net_dev_start_xmit", "dev=" DUO_NEAR_NETDEV " ");
}

/*
 * What waits long in a slow queue is to leave room to others, and parts of a train fit.
 * Where the machine is slower than the queue, that is not seen.
 */
TEST_F(segments, trains_are_short_in_a_slow_queue)
{
	int tries, skbs = 0;

	ASSERT_EQ(0, topo_run("tc qdisc add dev " DUO_NEAR_NETDEV " root tbf "
			      "rate 40mbit burst 100kb limit 4mb"));
	/* Whole trains would be 24. */
	for (tries = 0; tries < 4 && skbs >= 0 && skbs <= 40; tries++) {
		skbs = send_four(self->duo.end);
		TH_LOG("%d skbs of 1 MB", skbs);
	}
	EXPECT_LT(40, skbs);
	EXPECT_EQ(0, topo_run("tc qdisc del dev " DUO_NEAR_NETDEV " root"));
}

/* A message of one packet is no train. */
TEST_F(segments, short_message_is_one_packet_with_one_ack)
{
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc;

	ASSERT_EQ(0, duo_send(&end[0], 0, 0, 1000, 0));
	ASSERT_EQ(1, duo_poll(end[0].send_cq, &wc, 1));
	EXPECT_EQ(1, tracefs_count("net_dev_start_xmit",
				   "dev=" DUO_NEAR_NETDEV " "));
	EXPECT_EQ(0, tracefs_sum("net_dev_start_xmit",
				 "dev=" DUO_NEAR_NETDEV " ", "gso_size"));
	EXPECT_ONE_ACK();
}

/* One request, its bytes in two pieces; the second by a key that may be wrong. */
static int post_pieces(struct duo *duo, enum ibv_wr_opcode opcode, uint32_t len,
		       uint32_t wrong)
{
	struct duo_end *end = duo->end;
	struct ibv_sge sge[2] = {
		{ (uintptr_t)end[0].buf, 1024, end[0].mr->lkey },
		{ (uintptr_t)end[0].buf + 1024, len - 1024,
		  end[0].mr->lkey ^ wrong },
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = sge, .num_sge = 2, .opcode = opcode,
		.wr.rdma = { (uintptr_t)end[1].buf, end[1].mr->rkey },
	};

	return ibv_post_send(end[0].qp, &wr, &bad);
}

/* 16 KB from one end, checked byte by byte. 0, or what went wrong. */
static int move(struct duo *duo, enum ibv_wr_opcode opcode, int from)
{
	struct duo_end *end = duo->end;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 16384; i++)
		end[from].buf[i] = i * 5 + i / 253;
	memset(end[!from].buf, 0, 16384);
	if (post_pieces(duo, opcode, 16384, 0))
		return -1;
	if (duo_poll(end[0].send_cq, &wc, 1) != 1 || wc.status)
		return -2;
	return memcmp(end[0].buf, end[1].buf, 16384) ? -3 : 0;
}

/* A WRITE has a first packet unlike the others: that and they are an skb each. */
TEST_F(segments, write_is_two_skbs)
{
	ASSERT_EQ(0, move(&self->duo, IBV_WR_RDMA_WRITE, 0));
	EXPECT_EQ(0, tracefs_count("srdma_drop", ""));
	EXPECT_GE(2 + probes(), tracefs_count("net_dev_start_xmit",
					      "dev=" DUO_NEAR_NETDEV " "));
}

/* The answer to a READ has a last one, too. A probe has it all again. */
TEST_F(segments, answer_to_a_read_is_three_skbs)
{
	ASSERT_EQ(0, move(&self->duo, IBV_WR_RDMA_READ, 1));
	if (!probes())
		EXPECT_EQ(0, tracefs_count("srdma_drop", ""));
	EXPECT_GE(3 * (1 + probes()),
		  tracefs_count("net_dev_start_xmit",
				"dev=" DUO_FAR_NETDEV " "));
}

/* What cannot be had is nothing that was lost: nobody waits for it. */
TEST_F(segments, bad_piece_behind_a_packet_that_left_fails_at_once)
{
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc;

	ASSERT_EQ(0, post_pieces(&self->duo, IBV_WR_RDMA_WRITE, 16384, 0x100));
	ASSERT_EQ(1, duo_poll(end[0].send_cq, &wc, 1));
	EXPECT_EQ(IBV_WC_LOC_PROT_ERR, wc.status);
	EXPECT_EQ(1, tracefs_count("net_dev_start_xmit",
				   "dev=" DUO_NEAR_NETDEV " "));
	EXPECT_EQ(0, tracefs_count("srdma_drop", ""));
	EXPECT_EQ(0, probes());
	EXPECT_EQ(0, tracefs_count("srdma_timer_fire", "meaning=timer_retry"));
}

/* WRITEs of one packet each, posted at once, one of them shorter. 0 or errno. */
static int post_short_one(struct duo *duo, int count, int which)
{
	struct ibv_send_wr *bad, wr[8] = { };
	struct duo_end *end = duo->end;
	struct ibv_sge sge[8];
	int i;

	for (i = 0; i < count; i++) {
		sge[i] = (struct ibv_sge){ (uintptr_t)end[0].buf + i * 64,
					   i == which ? 60 : 64,
					   end[0].mr->lkey };
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
		wr[i].opcode = IBV_WR_RDMA_WRITE;
		wr[i].wr.rdma.remote_addr = (uintptr_t)end[1].buf + i * 64;
		wr[i].wr.rdma.rkey = end[1].mr->rkey;
		wr[i].next = i + 1 < count ? &wr[i + 1] : NULL;
	}
	return ibv_post_send(end[0].qp, wr, &bad);
}

/* Only the last packet of an skb may be shorter: what follows is in another. */
TEST_F(segments, shorter_message_ends_its_skb)
{
	struct duo_end *end = self->duo.end;
	struct ibv_wc wc[8];
	int i;

	for (i = 0; i < 8 * 64; i++)
		end[0].buf[i] = i * 7 + 1;
	memset(end[1].buf, 0, 8 * 64);
	ASSERT_EQ(0, post_short_one(&self->duo, 8, 3));
	ASSERT_EQ(8, duo_poll(end[0].send_cq, wc, 8));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(IBV_WC_SUCCESS, wc[i].status);
	memset(end[0].buf + 3 * 64 + 60, 0, 4);
	EXPECT_EQ(0, memcmp(end[0].buf, end[1].buf, 8 * 64));
	EXPECT_EQ(0, tracefs_count("srdma_drop", ""));
}

TEST_HARNESS_MAIN
