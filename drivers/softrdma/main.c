// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Loading and unloading.
 */
#include <linux/module.h>

#include "base/crc.h"
#include "base/version.h"
#include "control/family.h"
#include "device/link.h"
#include "device/neighbours.h"
#include "engine/backlog.h"
#include "engine/engine.h"
#include "engine/upcall.h"
#include "objects/qp.h"
#include "observe/stall.h"
#include "proto/icrc.h"
#include "wire/inflight.h"
#include "wire/loop.h"
#include "wire/netns.h"
#include "wire/skb_pool.h"

static int __init softrdma_init(void)
{
	int err;

	srdma_icrc_init();
	srdma_crc_init();
	srdma_backlog_init();
	srdma_upcalls_init();
	err = srdma_qps_init();
	if (err)
		goto err_crc;
	err = srdma_engines_init();
	if (err)
		goto err_qps;
	err = srdma_netns_init();
	if (err)
		goto err_engines;
	/* Its requests find no link yet. */
	err = srdma_family_init();
	if (err)
		goto err_net;
	err = srdma_neighbours_init();
	if (err)
		goto err_family;
	/* The last that can fail: from then on there may be links. */
	err = srdma_link_init();
	if (err)
		goto err_neighbours;
	srdma_stall_init();
	return 0;

err_neighbours:
	srdma_neighbours_exit();
err_family:
	srdma_family_exit();
err_net:
	srdma_netns_exit();
err_engines:
	srdma_engines_exit();
err_qps:
	srdma_qps_exit();
err_crc:
	srdma_crc_exit();
	return err;
}

static void __exit softrdma_exit(void)
{
	srdma_stall_exit();
	srdma_link_exit();
	srdma_neighbours_exit();
	srdma_family_exit();
	srdma_netns_exit();
	srdma_inflight_exit();
	/* Objects that readers could still see are freed by RCU callbacks. */
	rcu_barrier();
	srdma_qps_exit();
	srdma_engines_exit();
	srdma_upcalls_exit();
	srdma_loop_exit();
	srdma_skb_pool_exit();
	srdma_crc_exit();
}

/* gcc takes this file for the whole program (Kbuild); callers are not in it. */
int init_module(void) __visible;
void cleanup_module(void) __visible;

module_init(softrdma_init);
module_exit(softrdma_exit);

MODULE_DESCRIPTION("RDMA device in software (RoCEv2 over UDP)");
MODULE_AUTHOR("softrdma contributors");
MODULE_VERSION(SRDMA_VERSION);
MODULE_LICENSE("Dual BSD/GPL");
