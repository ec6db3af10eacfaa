// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections of rdma_cm between addresses that are in a VLAN, by links on the
 * VLAN's interfaces or on those below. (Links on both: see quickstart.rst.)
 *
 *	namespace A				namespace B
 *	srtl0 (VLAN 7) 10.79.7.1 fd79::1	srtl1 (VLAN 7) 10.79.7.2 fd79::2
 *	srtv0 (veth) <-- srta			srtv1 (veth) <-- srtb
 */
#include "../kselftest_harness.h"

#include <errno.h>

#include "cm.h"
#include "counters.h"
#include "ends.h"
#include "nldev.h"
#include "topo.h"
#include "verbs.h"

#undef TEST_F
#define TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 120)

#define VLAN_A		"srtl0"
#define VLAN_B		"srtl1"
#define LEN		20000
#define SOON_MS		10000
#define MESSAGES	20

/* The sides of a connection, where they are: enum ends_side. */
static const struct side {
	const char *netdev, *vlan, *link, *ipv4, *ipv6;
} sides[] = {
	{ ENDS_NETDEV_A, VLAN_A, ENDS_LINK_A, "10.79.7.1", "fd79::1" },
	{ ENDS_NETDEV_B, VLAN_B, ENDS_LINK_B, "10.79.7.2", "fd79::2" },
};

static int add_vlan(const struct side *side)
{
	return topo_ip("link add link %s name %s type vlan id 7\n"
		       "addr add %s/24 dev %s\n"
		       "addr add %s/64 nodad dev %s\n"
		       "link set %s up", side->netdev, side->vlan, side->ipv4,
		       side->vlan, side->ipv6, side->vlan, side->vlan);
}

/* The link of a side, on one of its netdevs, when it has the VLAN's GIDs. */
static int put_link(const struct side *side, const char *netdev)
{
	struct ibv_context *ctx;
	int ret;

	nldev_link_del(side->link);
	ret = topo_link_add(side->link, netdev);
	ctx = ret ? NULL : verbs_open(side->link);
	if (!ctx)
		return ret ?: -ENODEV;
	ret = verbs_wait_gid(ctx, side->ipv4, true, SOON_MS) ?:
	      verbs_wait_gid(ctx, side->ipv6, true, SOON_MS);
	ibv_close_device(ctx);
	return ret;
}

static void __attribute__((constructor)) setup(void)
{
	int ret = topo_setup() ?: ends_setup();

	if (!ret && !add_vlan(&sides[ENDS_A]) && !ends_enter(ENDS_B) &&
	    !add_vlan(&sides[ENDS_B]) && !ends_enter(ENDS_A))
		return;
	printf("Bail out! no VLAN to test on: %s\n", strerror(-ret));
	exit(1);
}

static void __attribute__((destructor)) teardown(void)
{
	ends_teardown();
	topo_teardown();
}

FIXTURE(vlan)
{
	struct cm_pair pair;
};

FIXTURE_VARIANT(vlan)
{
	bool is_below;
	bool is_v6;
};

FIXTURE_VARIANT_ADD(vlan, ipv4_by_links_below) { .is_below = true };
FIXTURE_VARIANT_ADD(vlan, ipv6_by_links_below) { .is_below = true,
						 .is_v6 = true };
FIXTURE_VARIANT_ADD(vlan, ipv4_by_links_on_it) { };
FIXTURE_VARIANT_ADD(vlan, ipv6_by_links_on_it) { .is_v6 = true };

FIXTURE_SETUP(vlan)
{
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, ends_enter(i));
		ASSERT_EQ(0, put_link(&sides[i], variant->is_below ?
				      sides[i].netdev : sides[i].vlan));
	}
	ASSERT_EQ(0, ends_enter(ENDS_A));
}

FIXTURE_TEARDOWN(vlan)
{
	EXPECT_EQ(0, cm_close(&self->pair));
}

/* Packets that have come out of our VLAN. */
static long count_tagged(void)
{
	FILE *file = fopen("/sys/class/net/" VLAN_A "/statistics/rx_packets",
			   "r");
	long count = -1;

	if (file && fscanf(file, "%ld", &count) != 1)
		count = -1;
	if (file)
		fclose(file);
	return count;
}

static bool deliver(struct cm_pair *pair)
{
	struct cm_end *client = &pair->client;
	struct cm_end *server = &pair->server;
	struct ibv_wc wc = {};

	memset(server->buf, 0, LEN);
	cm_fill(client->buf, LEN, 4);
	return !rdma_post_recv(server->id, NULL, server->buf, LEN,
			       server->mr) &&
	       !rdma_post_send(client->id, NULL, client->buf, LEN, client->mr,
			       IBV_SEND_SIGNALED) &&
	       cm_poll(server->id->recv_cq, &wc, SOON_MS) == 1 &&
	       wc.status == IBV_WC_SUCCESS && wc.byte_len == LEN &&
	       cm_holds(server->buf, LEN, 4) &&
	       cm_poll(client->id->send_cq, &wc, SOON_MS) == 1 &&
	       wc.status == IBV_WC_SUCCESS;
}

/* Past the stack only by the link on the interface that they come out of. */
TEST_F(vlan, connects_and_delivers)
{
	struct cm_config config = { .across = true };
	struct cm_end *client = &self->pair.client;
	struct cm_end *server = &self->pair.server;
	long tagged = count_tagged();
	int64_t direct;
	int i;

	config.server = variant->is_v6 ? sides[ENDS_B].ipv6 :
					 sides[ENDS_B].ipv4;
	ASSERT_EQ(0, cm_open(&self->pair, &config));
	/* REP and more. */
	EXPECT_LT(tagged, count_tagged());
	client->mr = rdma_reg_msgs(client->id, client->buf, CM_BUF_LEN);
	server->mr = rdma_reg_msgs(server->id, server->buf, CM_BUF_LEN);
	ASSERT_NE(NULL, client->mr);
	ASSERT_NE(NULL, server->mr);
	counters_use(sides[ENDS_B].link);
	direct = counters_get("rx_direct");
	ASSERT_LE(0, direct);
	for (i = 0; i < MESSAGES; i++)
		ASSERT_TRUE(deliver(&self->pair));
	EXPECT_EQ(variant->is_below, counters_get("rx_direct") == direct);
	EXPECT_EQ(0, cm_disconnect(&self->pair));
}

TEST_HARNESS_MAIN
