// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Setup for the KUnit tests of trains.
 */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>

#include "kunit/train_world.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "wire/inflight.h"
#include "wire/path.h"

static int open_message(struct srdma_payload *payload, u32 offset)
{
	struct train_world *w = container_of(payload, struct train_world,
					     payload);
	u32 end = min_t(u32, w->fault_at, MESSAGE);

	w->opens++;
	if (offset >= end)
		return -EFAULT;
	srdma_mem_begin_kernel(&payload->it, w->message + offset, end - offset);
	return 0;
}

static void close_message(struct srdma_payload *payload)
{
	srdma_mem_end(&payload->it);
}

static const struct srdma_payload_ops payload_ops = {
	.open = open_message,
	.close = close_message,
};

int srdma_train_world_init(struct kunit *test)
{
	struct train_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->dev = kunit_kzalloc(test, sizeof(*w->dev), GFP_KERNEL);
	w->qp = kunit_kzalloc(test, sizeof(*w->qp), GFP_KERNEL);
	w->message = kunit_kzalloc(test, MESSAGE, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, w->dev && w->qp && w->message);
	for (i = 0; i < MESSAGE; i++)
		w->message[i] = i * 13 + (i >> 7);
	w->ndev = alloc_netdev(0, "train%d", NET_NAME_UNKNOWN, ether_setup);
	KUNIT_ASSERT_NOT_NULL(test, w->ndev);
	w->ndev->features = NETIF_F_GSO_UDP_L4;
	w->dst.dev = w->ndev;
	w->payload.ops = &payload_ops;
	w->fault_at = NO_FAULT;
	w->qp->dev = w->dev;
	srdma_inflight_begin(w->qp);
	w->hdr = (struct srdma_pkt) {
		.pkey = SRDMA_PKEY_DEFAULT, .mig = true, .dest_qpn = 0x123456,
		.reth.va = 0x1122334455667788, .reth.rkey = 0x99aabbcc,
		.reth.len = MESSAGE, .imm = htonl(0xdeadbeef),
	};
	w->tx = (struct srdma_tx) {
		.qp = w->qp, .engine = &w->qp->send, .av = &w->path.av,
		.path = &w->path, .hdr = &w->hdr, .burst = &w->burst,
		.payload = &w->payload,
	};
	test->priv = w;
	return 0;
}

void srdma_train_world_exit(struct kunit *test)
{
	struct train_world *w = test->priv;

	if (w && w->ndev)
		free_netdev(w->ndev);
}

/* The path leads to a peer of that family; identifications wrap within a train. */
void srdma_train_world_aim(struct train_world *w, bool is_v6)
{
	struct srdma_av *av = &w->path.av;

	*av = (struct srdma_av) {
		.is_v6 = is_v6, .hop_limit = 7, .traffic_class = 0x48,
		.flow_label = 0x54321, .udp_sport = 0xc123,
	};
	if (is_v6) {
		av->src.s6_addr32[0] = htonl(0xfd000000);
		av->dst.s6_addr32[0] = htonl(0xfd000001);
	} else {
		ipv6_addr_set_v4mapped(htonl(0x0a000001), &av->src);
		ipv6_addr_set_v4mapped(htonl(0x0a000002), &av->dst);
	}
	w->path.dst = &w->dst;
	w->path.id = 0xfffe;
	srdma_path_fill(&w->path);
}
