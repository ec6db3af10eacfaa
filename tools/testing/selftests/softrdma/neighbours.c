// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who asks for a new peer over a veth does not wait until the time for it is over: the
 * answer to ARP, or to a neighbour solicitation, comes before RDMA core waits for it.
 *
 *	namespace A				namespace B
 *	srtl0 (VLAN 7) 10.79.7.1		srtl1 (VLAN 7) 10.79.7.2
 *	srtv0 (veth) <-- srta			srtv1 (veth) <-- srtb
 */
#include "../kselftest_harness.h"

#include <errno.h>

#include "cm.h"
#include "ends.h"
#include "topo.h"
#include "verbs.h"

#undef TEST_F
#define TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 120)

#define VLAN_A		"srtl0"
#define VLAN_B		"srtl1"
#define VLAN_A4		"10.79.7.1"
#define VLAN_B4		"10.79.7.2"
#define SOON_MS		10000

/* What rdma_cm is given, and what it must not need. */
#define PATIENCE_MS	8000
#define CM_MOST_MS	4000

/* A QP on its way to RTR is given a second by the core. */
#define QP_MOST_MS	900

/* Each is tried until one was fast: a busy machine has its own reasons to be slow. */
#define TRIES		5

static int add_vlan(const char *netdev, const char *vlan, const char *ipv4)
{
	return topo_ip("link add link %s name %s type vlan id 7\n"
		       "addr add %s/24 dev %s\n"
		       "link set %s up", netdev, vlan, ipv4, vlan, vlan);
}

static int add_vlans(void)
{
	int ret;

	ret = add_vlan(ENDS_NETDEV_A, VLAN_A, VLAN_A4) ?: ends_enter(ENDS_B) ?:
	      add_vlan(ENDS_NETDEV_B, VLAN_B, VLAN_B4);
	return ends_enter(ENDS_A) ?: ret;
}

static int forget_here(const char *netdev, const char *vlan)
{
	return topo_ip("neigh flush dev %s\nneigh flush dev %s", netdev, vlan);
}

/* Both ends. */
static int forget_neighbours(void)
{
	int ret;

	ret = forget_here(ENDS_NETDEV_A, VLAN_A) ?: ends_enter(ENDS_B) ?:
	      forget_here(ENDS_NETDEV_B, VLAN_B);
	return ends_enter(ENDS_A) ?: ret;
}

static void __attribute__((constructor)) setup(void)
{
	int ret = topo_setup() ?: ends_setup() ?: add_vlans();

	if (!ret)
		return;
	printf("Bail out! no peer to ask for: %s\n", strerror(-ret));
	exit(1);
}

static void __attribute__((destructor)) teardown(void)
{
	ends_teardown();
	topo_teardown();
}

FIXTURE(neighbours)
{
	struct verbs_set set;
};

FIXTURE_VARIANT(neighbours)
{
	const char *own;
	const char *peer;
};

FIXTURE_VARIANT_ADD(neighbours, ipv4) { .own = ENDS_A4, .peer = ENDS_B4 };
FIXTURE_VARIANT_ADD(neighbours, ipv6) { .own = ENDS_A6, .peer = ENDS_B6 };
FIXTURE_VARIANT_ADD(neighbours, in_a_vlan) { .own = VLAN_A4, .peer = VLAN_B4 };

FIXTURE_SETUP(neighbours)
{
	struct ibv_context *ctx = verbs_open(ENDS_LINK_A);

	ASSERT_NE(NULL, ctx);
	ASSERT_EQ(0, verbs_wait_gid(ctx, variant->own, true, SOON_MS));
	ibv_close_device(ctx);
	ASSERT_EQ(0, verbs_open_at(&self->set, ENDS_LINK_A, variant->own));
}

FIXTURE_TEARDOWN(neighbours)
{
	EXPECT_EQ(0, verbs_close_set(&self->set));
}

/* How long rdma_resolve_addr() of a peer takes that is not known, ms; or -errno. */
static long resolve(const char *peer)
{
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;
	long begin, took;

	cm_address(&addr, peer, 7471);
	if (forget_neighbours() || rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP))
		return -EIO;
	begin = topo_now_ms();
	took = rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr,
				 PATIENCE_MS) ? -errno : topo_now_ms() - begin;
	rdma_destroy_id(id);
	return took;
}

TEST_F(neighbours, rdma_cm_finds_a_new_peer_at_once)
{
	long took = CM_MOST_MS;
	int i;

	for (i = 0; i < TRIES && took >= CM_MOST_MS; i++)
		took = resolve(variant->peer);
	EXPECT_LE(0, took);
	EXPECT_GT(CM_MOST_MS, took);
}

/* Of an address, as a GID. */
static void gid_of(union ibv_gid *gid, const char *address)
{
	struct sockaddr_storage addr;

	cm_address(&addr, address, 0);
	memset(gid, 0, sizeof(*gid));
	if (addr.ss_family == AF_INET6) {
		memcpy(gid->raw, &((struct sockaddr_in6 *)&addr)->sin6_addr, 16);
	} else {
		memset(gid->raw + 10, 0xff, 2);
		memcpy(gid->raw + 12, &((struct sockaddr_in *)&addr)->sin_addr, 4);
	}
}

/* How long a new peer keeps a QP from RTR, ms; or -errno. */
static long connect_qp(struct verbs_set *set, struct ibv_qp *qp,
		       const char *peer)
{
	struct ibv_qp_attr attr = {};
	long begin;
	int ret;

	ret = verbs_qp_to(set, qp, IBV_QPS_INIT, 0) ?: forget_neighbours();
	if (ret)
		return -EIO;
	verbs_attr(set, &attr, IBV_QPS_RTR, 17);
	gid_of(&attr.ah_attr.grh.dgid, peer);
	begin = topo_now_ms();
	ret = ibv_modify_qp(qp, &attr, verbs_mask(IBV_QPT_UC, IBV_QPS_INIT,
						  IBV_QPS_RTR));
	return ret ? -ret : topo_now_ms() - begin;
}

TEST_F(neighbours, qp_finds_a_new_peer_at_once)
{
	long took = QP_MOST_MS;
	struct ibv_qp *qp;
	int i;

	self->set.cq = ibv_create_cq(self->set.ctx, 1, NULL, NULL, 0);
	ASSERT_NE(NULL, self->set.cq);
	qp = verbs_qp(&self->set, IBV_QPT_UC);
	ASSERT_NE(NULL, qp);
	for (i = 0; i < TRIES && took >= QP_MOST_MS; i++)
		took = connect_qp(&self->set, qp, variant->peer);
	EXPECT_LE(0, took);
	EXPECT_GT(QP_MOST_MS, took);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

TEST_HARNESS_MAIN
