// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * GID 0, which follows from the MAC: it is there whatever addresses the interface has,
 * but is reached only where it is an address of the interface. Here it is not, for one
 * of three reasons, and is made one.
 */
#include "twin_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <rdma/softrdma-errors.h>

#include "cm.h"
#include "duo.h"
#include "errlog.h"
#include "topo.h"

#undef TEST_F
#define TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 120)

#define LEN	3000
#define GRH	40
#define GID_A	"fe80::ff:fe77:101"
#define GID_B	"fe80::ff:fe77:102"
/* On a busy machine. */
#define READY_MS 20000

static const char * const netdevs[] = { TWIN_NETDEV_A, TWIN_NETDEV_B };

FIXTURE(gid0)
{
	struct verbs_set sets[2];
	struct duo duo;
};

/*
 * @mode: how the interface makes link-local addresses
 * @disabled: it has no IPv6
 * @error: what the core says where a peer's address is asked for
 */
FIXTURE_VARIANT(gid0)
{
	const char *mode;
	bool disabled;
	int error;
};

FIXTURE_VARIANT_ADD(gid0, of_which_the_address_is_private)
{
	.mode = "random", .error = ETIMEDOUT,
};

FIXTURE_VARIANT_ADD(gid0, without_a_link_local_address)
{
	.mode = "none", .error = ENETUNREACH,
};

FIXTURE_VARIANT_ADD(gid0, with_ipv6_disabled)
{
	.mode = "eui64", .disabled = true, .error = ENETUNREACH,
};

/* In the namespace of a side: 0 or -errno. */
static int put(const char *netdev, const char *setting, const char *value)
{
	char path[80];

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/%s", netdev,
		 setting);
	return topo_put(path, value);
}

/* Has it this address, or any that is link-local, and may that be used? */
static bool has_address(const char *netdev, const struct in6_addr *wanted)
{
	FILE *all = fopen("/proc/net/if_inet6", "r");
	struct in6_addr address;
	unsigned int flags;
	bool has = false;
	char name[32];
	int i;

	while (all && !has) {
		for (i = 0; i < 16; i++)
			if (fscanf(all, "%2hhx", &address.s6_addr[i]) != 1)
				break;
		if (i < 16 || fscanf(all, "%*x %*x %*x %x %31s", &flags,
				     name) != 2)
			break;
		has = !strcmp(name, netdev) && !(flags & IFA_F_TENTATIVE) &&
		      (wanted ? IN6_ARE_ADDR_EQUAL(&address, wanted) :
				IN6_IS_ADDR_LINKLOCAL(&address));
	}
	if (all)
		fclose(all);
	return has;
}

/* NULL: any that is link-local. */
static int await_address(const char *netdev, const char *address)
{
	long end = topo_now_ms() + READY_MS;
	struct in6_addr wanted;

	if (address && inet_pton(AF_INET6, address, &wanted) != 1)
		return -EINVAL;
	while (!has_address(netdev, address ? &wanted : NULL)) {
		if (topo_now_ms() > end)
			return -ETIMEDOUT;
		usleep(2000);
	}
	return 0;
}

/*
 * Addresses go with the interface. The kernel would wait for up to a second before there
 * is a new one, and then look for duplicates for another.
 */
static int go_down(const char *netdev, const char *mode)
{
	return put(netdev, "accept_dad", "0") ?:
	       topo_ip("link set %s down\nlink set %s addrgenmode %s", netdev, netdev,
		       mode);
}

/*
 * Both are up. The address that an interface gets, and its route, come when the kernel
 * has seen that it has a carrier; and if that were after IPv6 was disabled and enabled,
 * at any time.
 */
static int lose_address(const char *netdev, const char *mode, bool disabled)
{
	int ret = strcmp(mode, "none") ? await_address(netdev, NULL) : 0;

	if (ret || !disabled)
		return ret;
	return put(netdev, "disable_ipv6", "1");
}

/* As the log says, and troubleshooting.rst. */
static int get_address(enum twin_side side)
{
	const char *address = side ? GID_B : GID_A;

	/* The kernel may have made it. */
	return put(netdevs[side], "disable_ipv6", "0") ?:
	       topo_ip("addr replace %s/64 dev %s", address, netdevs[side]) ?:
	       await_address(netdevs[side], address);
}

static int get_addresses(void)
{
	int ret = twin_enter(TWIN_B) ?: get_address(TWIN_B);

	return twin_enter(TWIN_A) ?: ret ?: get_address(TWIN_A);
}

FIXTURE_SETUP(gid0)
{
	int i;

	memset(&self->duo, 0, sizeof(self->duo));
	/* While one of them is down, neither has a carrier. */
	for (i = TWIN_A; i <= TWIN_B; i++) {
		ASSERT_EQ(0, twin_enter(i));
		ASSERT_EQ(0, go_down(netdevs[i], variant->mode));
	}
	for (i = TWIN_A; i <= TWIN_B; i++) {
		ASSERT_EQ(0, twin_enter(i));
		ASSERT_EQ(0, topo_set_up(netdevs[i], true));
	}
	for (i = TWIN_B; i >= TWIN_A; i--) {
		ASSERT_EQ(0, twin_enter(i));
		ASSERT_EQ(0, lose_address(netdevs[i], variant->mode,
					  variant->disabled));
	}
	ASSERT_EQ(0, twin_open(self->sets, TWIN_VETH));
	for (i = TWIN_A; i <= TWIN_B; i++) {
		ASSERT_EQ(0, ibv_query_gid(self->sets[i].ctx, VERBS_PORT, 0,
					   &self->sets[i].gid));
		self->sets[i].gid_index = 0;
	}
}

FIXTURE_TEARDOWN(gid0)
{
	EXPECT_EQ(0, duo_close(&self->duo));
	EXPECT_EQ(0, twin_close(self->sets));
	EXPECT_EQ(0, twin_remake());
}

static struct ibv_ah *handle_to(struct verbs_set *set, const union ibv_gid *gid)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = VERBS_PORT,
		.grh = { .dgid = *gid, .hop_limit = 64 },
	};

	return ibv_create_ah(set->pd, &attr);
}

/* Does the core refuse what needs the way to the peer, and say @error? */
static bool is_not_found(struct duo *duo, int which, int error)
{
	struct verbs_set *set = duo->end[which].set;
	int to_init = duo_step(duo, which, IBV_QPS_INIT);
	int to_rtr = duo_step(duo, which, IBV_QPS_RTR);
	struct ibv_ah *ah = handle_to(set, &duo->end[!which].set->gid);

	if (!to_init && to_rtr == error && !ah && errno == error)
		return true;
	printf("# INIT: %d, RTR: %d, handle: %s, %d\n", to_init, to_rtr,
	       ah ? "made" : "none", errno);
	return false;
}

/* It asks for the way to a peer itself, before it asks the driver for anything. */
TEST_F(gid0, is_not_found_by_others)
{
	ASSERT_EQ(0, duo_open(&self->duo, &self->sets[0], &self->sets[1]));
	EXPECT_TRUE(is_not_found(&self->duo, TWIN_A, variant->error));
	EXPECT_TRUE(is_not_found(&self->duo, TWIN_B, variant->error));
}

/* Also for a peer on the same device, to which no packet would go. */
TEST_F(gid0, is_not_found_by_its_own_host)
{
	struct verbs_set *set = &self->sets[TWIN_A];

	ASSERT_EQ(0, duo_open(&self->duo, set, set));
	EXPECT_TRUE(is_not_found(&self->duo, 0, variant->error));
}

static bool write_arrives(struct duo *duo)
{
	struct duo_end *from = &duo->end[0], *to = &duo->end[1];
	struct ibv_wc wc;

	cm_fill(from->buf, LEN, 1);
	return !duo_write(from, to, 1, LEN, to->mr->rkey) &&
	       duo_poll(from->send_cq, &wc, 1) == 1 && !wc.status &&
	       cm_holds(to->buf, LEN, 1);
}

static bool datagram_arrives(struct duo *duo, struct ibv_ah *ah)
{
	struct duo_end *from = &duo->end[0], *to = &duo->end[1];
	struct ibv_sge sge = { (uintptr_t)from->buf, 100, from->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1,
		.wr.ud = { .ah = ah, .remote_qpn = to->qp->qp_num,
			   .remote_qkey = VERBS_QKEY },
	};
	struct ibv_wc wc;

	cm_fill(from->buf, 100, 2);
	return ah && !duo_recv(to, 1, 0, 100 + GRH) &&
	       !ibv_post_send(from->qp, &wr, &bad) &&
	       duo_poll(to->recv_cq, &wc, 1) == 1 && !wc.status &&
	       cm_holds(to->buf + GRH, 100, 2);
}

TEST_F(gid0, is_found_when_it_is_an_address)
{
	struct duo ud = { .type = IBV_QPT_UD };
	struct ibv_ah *ah;

	ASSERT_EQ(0, get_addresses());
	ASSERT_EQ(0, duo_up(&self->duo, &self->sets[0], &self->sets[1]));
	EXPECT_TRUE(write_arrives(&self->duo));

	ASSERT_EQ(0, duo_up(&ud, &self->sets[0], &self->sets[1]));
	ah = handle_to(&self->sets[0], &self->sets[1].gid);
	EXPECT_TRUE(datagram_arrives(&ud, ah));
	EXPECT_EQ(0, ibv_destroy_ah(ah));
	EXPECT_EQ(0, duo_close(&ud));
}

/* A WRITE to the peer fails: does its completion say why? */
static bool write_fails(struct duo *duo, uint32_t code)
{
	struct duo_end *from = &duo->end[0], *to = &duo->end[1];

	return !duo_write(from, to, 2, LEN, to->mr->rkey) &&
	       errlog_completes(from->send_cq, IBV_WC_RETRY_EXC_ERR, code);
}

static bool has_gid_a(void)
{
	struct in6_addr address;

	return inet_pton(AF_INET6, GID_A, &address) == 1 &&
	       has_address(TWIN_NETDEV_A, &address);
}

/* Then the GID stays, and packets to it do not arrive. */
TEST_F(gid0, explains_that_its_address_is_gone)
{
	ASSERT_EQ(0, get_addresses());
	ASSERT_EQ(0, duo_up(&self->duo, &self->sets[0], &self->sets[1]));
	EXPECT_TRUE(write_arrives(&self->duo));
	ASSERT_EQ(0, topo_ip("addr del " GID_A "/64 dev " TWIN_NETDEV_A));
	EXPECT_FALSE(has_gid_a());
	EXPECT_TRUE(write_fails(&self->duo, SRDMA_ERR_GID_UNKNOWN));
	EXPECT_TRUE(errlog_says(TWIN_LINK_A, self->duo.end[0].qp->qp_num,
				SRDMA_ERR_GID_UNKNOWN,
				"GID 0 of the QP is no address of the interface"));
	EXPECT_FALSE(has_gid_a());
}

/* The address goes with it, and comes back with it. */
TEST_F(gid0, explains_no_address_of_an_interface_that_is_down)
{
	ASSERT_EQ(0, get_addresses());
	ASSERT_EQ(0, duo_up(&self->duo, &self->sets[0], &self->sets[1]));
	ASSERT_EQ(0, topo_set_up(TWIN_NETDEV_A, false));
	EXPECT_TRUE(write_fails(&self->duo, SRDMA_ERR_NO_ROUTE));
}

TEST_HARNESS_MAIN
