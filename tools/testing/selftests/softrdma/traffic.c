// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Traffic whose every byte is checked, over networks that lose, duplicate,
 * reorder and corrupt (netem on both ends of a veth). A reliable connection
 * delivers everything once; datagrams and unreliable connections deliver whole
 * messages or none.
 *
 * SRT_SEED repeats a run, SRT_SOAK=1 makes it twenty times as long.
 */
#include "twin_fixture.h"

#include "pump.h"
#include "topo.h"

#define RUN_MS		1200
#define CONNECTIONS	4

FIXTURE(net)
{
	struct verbs_set sets[2];
	uint32_t seed;
};

FIXTURE_VARIANT(net)
{
	enum twin_kind kind;
	enum ibv_mtu mtu;
	const char *netem;
};

#define VARIANT(name, ...) \
	FIXTURE_VARIANT_ADD(net, name) { __VA_ARGS__ }

VARIANT(loopback_256, TWIN_LOOPBACK, IBV_MTU_256);
VARIANT(loopback_4096, TWIN_LOOPBACK, IBV_MTU_4096);
VARIANT(veth_256, TWIN_VETH, IBV_MTU_256);
VARIANT(veth_1024, TWIN_VETH, IBV_MTU_1024);
VARIANT(veth_4096, TWIN_VETH, IBV_MTU_4096);
VARIANT(loss_1, TWIN_VETH, IBV_MTU_1024, "loss 1%");
VARIANT(loss_5, TWIN_VETH, IBV_MTU_1024, "loss 5%");
VARIANT(duplicate_1, TWIN_VETH, IBV_MTU_1024, "duplicate 1%");
VARIANT(duplicate_5, TWIN_VETH, IBV_MTU_256, "duplicate 5%");
VARIANT(reorder_1, TWIN_VETH, IBV_MTU_1024, "delay 500us reorder 1%");
VARIANT(reorder_5, TWIN_VETH, IBV_MTU_256, "delay 500us reorder 5%");
VARIANT(corrupt_1, TWIN_VETH, IBV_MTU_1024, "corrupt 1%");
VARIANT(corrupt_5, TWIN_VETH, IBV_MTU_4096, "corrupt 5%");
VARIANT(all_of_it, TWIN_VETH, IBV_MTU_512,
	"delay 300us reorder 5% loss 5% duplicate 5% corrupt 5%");

FIXTURE_SETUP(net)
{
	self->seed = twin_seed();
	TH_LOG("seed %u", self->seed);
	ASSERT_EQ(0, twin_netem(variant->netem));
	ASSERT_EQ(0, twin_open(self->sets, variant->kind));
}

FIXTURE_TEARDOWN(net)
{
	EXPECT_EQ(0, twin_close(self->sets));
}

TEST_F_TIMEOUT(net, rc_delivers_everything_once, 600)
{
	struct twin_attr attr = TWIN_ATTR_DEFAULT;
	static struct pump pump;
	long start = topo_now_ms();

	attr.mtu = variant->mtu;
	ASSERT_EQ(0, pump_init(&pump, self->sets, CONNECTIONS, &attr,
			       self->seed));
	EXPECT_TRUE(pump_run(&pump, RUN_MS * twin_soak())) {
		TH_LOG("%s", pump.failed);
	}
	TH_LOG("%u requests, %llu bytes in %ld ms", pump.done,
	       (unsigned long long)pump.bytes, topo_now_ms() - start);
	EXPECT_LT(50, pump.done);
	pump_destroy(&pump);
}

TEST_HARNESS_MAIN
