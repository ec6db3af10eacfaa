// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Work requests that are written into rings by hand, as no library does. */
#include "slots.h"

#include <inttypes.h>
#include <rdma/ib_user_verbs.h>
#include <stdio.h>
#include <string.h>

#include "uverbs.h"

static void *slot_at(struct srdma_abi_ring *ring, uint32_t index)
{
	return (uint8_t *)ring + SRDMA_ABI_RING_DATA +
	       ((size_t)index << ring->log2_elem_size);
}

struct srdma_abi_ring *slots_find(uint64_t wr_id, size_t least)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct srdma_abi_ring *ring, *found = NULL;
	uintptr_t start;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "uverbs") ||
		    sscanf(line, "%" SCNxPTR, &start) != 1)
			continue;
		ring = (struct srdma_abi_ring *)start;
		/* All begin with the number of the request. */
		if ((size_t)1 << ring->log2_elem_size >= least &&
		    *(uint64_t *)slot_at(ring, 0) == wr_id)
			found = ring;
	}
	if (maps)
		fclose(maps);
	return found;
}

void *slots_next(struct srdma_abi_ring *ring, uint64_t wr_id)
{
	void *slot = slot_at(ring, ring->producer_index);

	memset(slot, 0, (size_t)1 << ring->log2_elem_size);
	*(uint64_t *)slot = wr_id;
	return slot;
}

void slots_post(struct srdma_abi_ring *ring)
{
	uint32_t next = (ring->producer_index + 1) & ring->index_mask;

	__atomic_store_n(&ring->producer_index, next, __ATOMIC_RELEASE);
}

int slots_tell(struct ibv_qp *qp)
{
	struct ib_uverbs_post_send cmd = {
		.qp_handle = qp->handle,
		.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};
	struct ib_uverbs_post_send_resp resp;

	return uverbs_write(qp->context->cmd_fd, IB_USER_VERBS_CMD_POST_SEND,
			    &cmd, sizeof(cmd), &resp, sizeof(resp));
}
