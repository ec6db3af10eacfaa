/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Bounds: how many objects a device offers on a machine of this size, and
 * whether there is room for one more. The driver refuses an object while there
 * is still memory for everybody else, so that the OOM killer need not act.
 */
#ifndef SRDMA_BOUNDS_H
#define SRDMA_BOUNDS_H

#include <linux/gfp.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/*
 * Memory that users make us hold: charged to them, and refused where it could be
 * had by killing a process only.
 */
#define SRDMA_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | \
			 __GFP_NOWARN)

/**
 * enum srdma_object - kinds of objects that are counted against a limit
 * @SRDMA_OBJ_UCONTEXT: user contexts
 * @SRDMA_OBJ_PD: protection domains
 * @SRDMA_OBJ_AH: address handles
 * @SRDMA_OBJ_CQ: completion queues
 * @SRDMA_OBJ_SRQ: shared receive queues
 * @SRDMA_OBJ_QP: queue pairs
 * @SRDMA_OBJ_MR: memory regions
 * @SRDMA_OBJ_MW: memory windows
 * @SRDMA_OBJ_MCAST: multicast groups with a member
 * @SRDMA_OBJ_COUNT: number of kinds
 */
enum srdma_object {
	SRDMA_OBJ_UCONTEXT,
	SRDMA_OBJ_PD,
	SRDMA_OBJ_AH,
	SRDMA_OBJ_CQ,
	SRDMA_OBJ_SRQ,
	SRDMA_OBJ_QP,
	SRDMA_OBJ_MR,
	SRDMA_OBJ_MW,
	SRDMA_OBJ_MCAST,
	SRDMA_OBJ_COUNT,
};

/**
 * struct srdma_bounds - what a device promises
 * @objects: most objects of each kind
 * @wr: most requests in a work queue
 * @cqe: most entries of a completion queue
 *
 * Written when the device is made.
 */
struct srdma_bounds {
	u32 objects[SRDMA_OBJ_COUNT];
	u32 wr;
	u32 cqe;
};

void srdma_bounds_init(struct srdma_bounds *bounds);
int srdma_bounds_before(size_t bytes);
int srdma_bounds_after(size_t bytes);
int srdma_bounds_room(void);
kuid_t srdma_bounds_owner(void);

#endif
