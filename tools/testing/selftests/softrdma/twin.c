// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nldev.h"
#include "rtnl.h"
#include "twin.h"
#include "topo.h"

static int netns[2] = { -1, -1 };

static int open_own_netns(void)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int twin_enter(enum twin_side side)
{
	return setns(netns[side], CLONE_NEWNET) ? -errno : 0;
}

/*
 * The neighbours are told and not asked for: RDMA core gives up resolving one
 * after a second, in which ARP asks once, and a test's network may lose that.
 */
static int make_side(enum twin_side side)
{
	static const char * const netdev[] = { TWIN_NETDEV_A, TWIN_NETDEV_B };
	static const char * const link[] = { TWIN_LINK_A, TWIN_LINK_B };
	static const char * const ipv4[] = { TWIN_IPV4_A, TWIN_IPV4_B };
	static const char * const ipv6[] = { "fd77:1::1", "fd77:1::2" };
	static const char * const mac[] = { TWIN_MAC_A, TWIN_MAC_B };

	return twin_enter(side) ?: topo_set_up("lo", true) ?:
	       topo_set_mtu(netdev[side], TWIN_MTU) ?:
	       rtnl_set_mac(netdev[side], mac[side]) ?:
	       rtnl_add_address(netdev[side], ipv4[side], 24) ?:
	       rtnl_add_address(netdev[side], ipv6[side], 64) ?:
	       topo_set_up(netdev[side], true) ?:
	       rtnl_add_neighbour(netdev[side], ipv4[!side], mac[!side]) ?:
	       rtnl_add_neighbour(netdev[side], ipv6[!side], mac[!side]) ?:
	       topo_link_add(link[side], netdev[side]);
}

int twin_remake(void)
{
	int ret;

	nldev_link_del(TWIN_LINK_A);
	nldev_link_del(TWIN_LINK_B);
	if (netns[TWIN_B] < 0) {
		if (unshare(CLONE_NEWNET))
			return -errno;
		netns[TWIN_B] = open_own_netns();
	}
	ret = twin_enter(TWIN_A);
	if (!ret && if_nametoindex(TWIN_NETDEV_A))
		ret = rtnl_del(TWIN_NETDEV_A);
	return ret ?: rtnl_add_veth(TWIN_NETDEV_A, TWIN_NETDEV_B,
				    netns[TWIN_B]) ?:
	       make_side(TWIN_B) ?: make_side(TWIN_A);
}

int twin_setup(void)
{
	int ret;

	ret = topo_enter_netns();
	if (ret)
		return ret;
	netns[TWIN_A] = open_own_netns();
	return twin_remake();
}

void twin_drop_b(void)
{
	close(netns[TWIN_B]);
	netns[TWIN_B] = -1;
}

void twin_teardown(void)
{
	nldev_link_del(TWIN_LINK_A);
	nldev_link_del(TWIN_LINK_B);
}

/* Replaced by its like, a discipline would keep what the new one does not mention. */
static int set_netem(const char *netdev, const char *args)
{
	return topo_tc("qdisc replace dev %s root pfifo\n"
		       "qdisc replace dev %s root %s %s", netdev, netdev,
		       args ? "netem" : "noqueue", args ?: "");
}

int twin_netem(const char *args)
{
	static const char * const netdev[] = { TWIN_NETDEV_A, TWIN_NETDEV_B };
	int side, ret = 0;

	for (side = TWIN_A; side <= TWIN_B && !ret; side++)
		ret = twin_enter(side) ?: set_netem(netdev[side], args);
	return twin_enter(TWIN_A) ?: ret;
}

static int open_one(struct verbs_set *set, enum twin_side side)
{
	int ret = verbs_open_at(set, side ? TWIN_LINK_B : TWIN_LINK_A,
				side ? TWIN_IPV4_B : TWIN_IPV4_A);

	if (ret)
		return ret;
	set->cq = ibv_create_cq(set->ctx, 1024, NULL, NULL, 0);
	return set->cq ? 0 : -ENOMEM;
}

int twin_open(struct verbs_set sets[2], enum twin_kind kind)
{
	int ret = open_one(&sets[0], TWIN_A);

	memset(&sets[1], 0, sizeof(sets[1]));
	return ret ?: open_one(&sets[1], kind == TWIN_VETH ? TWIN_B : TWIN_A);
}

int twin_close(struct verbs_set sets[2])
{
	int ret = verbs_close_set(&sets[0]);

	return verbs_close_set(&sets[1]) ?: ret;
}

static int step(struct verbs_set *set, struct ibv_qp *qp,
		enum ibv_qp_state to, const struct verbs_set *peer,
		uint32_t qpn, const struct twin_attr *a)
{
	struct ibv_qp_attr attr;

	verbs_attr(set, &attr, to, qpn);
	attr.ah_attr.grh.dgid = peer->gid;
	attr.sq_psn = attr.rq_psn;
	attr.path_mtu = a->mtu;
	attr.timeout = a->timeout;
	attr.retry_cnt = a->retry_cnt;
	attr.rnr_retry = a->rnr_retry;
	attr.min_rnr_timer = a->min_rnr_timer;
	attr.max_rd_atomic = a->rd_atomic;
	attr.max_dest_rd_atomic = a->rd_atomic;
	attr.qp_access_flags |= qp->qp_type == IBV_QPT_RC ?
				IBV_ACCESS_REMOTE_ATOMIC : 0;
	return ibv_modify_qp(qp, &attr, verbs_mask(qp->qp_type, to - 1, to));
}

int twin_connect_one(struct verbs_set *set, struct ibv_qp *qp,
		     const struct verbs_set *peer, uint32_t qpn,
		     const struct twin_attr *attr)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	return ibv_modify_qp(qp, &reset, IBV_QP_STATE) ?:
	       step(set, qp, IBV_QPS_INIT, peer, qpn, attr) ?:
	       step(set, qp, IBV_QPS_RTR, peer, qpn, attr) ?:
	       step(set, qp, IBV_QPS_RTS, peer, qpn, attr);
}

int twin_connect(struct verbs_set sets[2], struct ibv_qp *a, struct ibv_qp *b,
		 const struct twin_attr *attr)
{
	return twin_connect_one(&sets[0], a, &sets[1], b->qp_num, attr) ?:
	       twin_connect_one(&sets[1], b, &sets[0], a->qp_num, attr);
}

uint32_t twin_seed(void)
{
	const char *seed = getenv("SRT_SEED");

	return (seed ? strtoul(seed, NULL, 0) : (uint32_t)time(NULL)) | 1;
}

int twin_soak(void)
{
	const char *soak = getenv("SRT_SOAK");
	int factor = soak ? atoi(soak) : 0;

	return factor == 1 ? 20 : factor > 1 ? factor : 1;
}
