// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions: what they name, and how verbs and work requests change that
 * or take it away.
 */
#include <linux/overflow.h>

#include "memory/region.h"

/* Flags that a region may be asked for; those that are hints do nothing. */
#define MR_ACCESS_KNOWN	(IB_ACCESS_LOCAL_WRITE | SRDMA_ACCESS_REMOTE | \
			 IB_ACCESS_MW_BIND | IB_ZERO_BASED | \
			 IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

/* The core asks the same of user space, but not of kernel consumers. */
int srdma_mr_check_access(u32 access)
{
	if (access & IB_ACCESS_ON_DEMAND)
		return -EOPNOTSUPP;
	if (access & ~(u32)MR_ACCESS_KNOWN)
		return -EINVAL;
	/* C10-62: what a peer may write its owner must be able to write. */
	if (access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IB_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return 0;
}

int srdma_mr_check_range(u64 start, u64 length, u64 iova)
{
	u64 end;

	if (length > SRDMA_MAX_MR_BYTES)
		return -EINVAL;
	if (check_add_overflow(start, length, &end) ||
	    check_add_overflow(iova, length, &end))
		return -EINVAL;
	return 0;
}

/* Makes the region name what its map has. */
void srdma_mr_open(struct srdma_mr *mr, struct ib_pd *pd, u64 iova,
		    u32 access)
{
	spin_lock_bh(&mr->key.lock);
	mr->key.pd = pd;
	mr->key.access = access;
	mr->key.start = access & IB_ZERO_BASED ? 0 : iova;
	mr->key.length = mr->map.length;
	mr->key.map = &mr->map;
	mr->key.offset = mr->map.offset;
	srdma_key_open(&mr->key);
	spin_unlock_bh(&mr->key.lock);
}

/* Takes the region from its users, unless windows are bound to it. */
int srdma_mr_close(struct srdma_mr *mr, enum srdma_key_state state)
{
	int err = 0;

	spin_lock_bh(&mr->key.lock);
	if (mr->windows)
		err = -EBUSY;
	else
		srdma_key_close(&mr->key, state,
				state == SRDMA_KEY_DEAD ? SRDMA_BY_DEREG :
							  SRDMA_BY_REREG);
	spin_unlock_bh(&mr->key.lock);
	if (!err)
		srdma_key_drain(&mr->key);
	return err;
}

/**
 * srdma_mr_fast_reg - execute a REG_MR work request
 * @who: for whom
 * @ib: region of srdma_mr_alloc(), in state FREE
 * @key: its key from now on; only the lower 8 bits may differ
 * @access: IB_ACCESS_* flags
 *
 * Called with bottom halves disabled. Consumers may set the region's iova to
 * another one than srdma_mr_map_sg() chose.
 */
enum srdma_mem_why srdma_mr_fast_reg(const struct srdma_mem_who *who,
				     struct ib_mr *ib, u32 key, u32 access)
{
	struct srdma_mr *mr = to_smr(ib);
	enum srdma_mem_why why = SRDMA_MEM_OK;

	if (srdma_mr_check_access(access))
		return SRDMA_MEM_ACCESS;
	spin_lock(&mr->key.lock);
	if (mr->kind != SRDMA_MR_FAST || mr->key.state != SRDMA_KEY_FREE)
		why = SRDMA_MEM_STATE;
	else if (mr->key.pd != who->pd)
		why = SRDMA_MEM_PD;
	else if (srdma_key_index(key) != srdma_key_index(mr->key.key))
		why = SRDMA_MEM_KEY;
	if (why)
		goto out;

	/* What was mapped once may be registered again and again. */
	if (mr->is_staged) {
		swap(mr->map, mr->staged);
		mr->is_staged = false;
	}
	if (!mr->map.length || srdma_mr_check_range(0, mr->map.length, ib->iova)) {
		why = SRDMA_MEM_RANGE;
		goto out;
	}
	mr->key.key = key;
	mr->key.access = access;
	mr->key.start = access & IB_ZERO_BASED ? 0 : ib->iova;
	mr->key.length = mr->map.length;
	mr->key.map = &mr->map;
	mr->key.offset = mr->map.offset;
	srdma_key_open(&mr->key);
out:
	spin_unlock(&mr->key.lock);
	return why;
}

/**
 * srdma_mr_invalidate - execute a local or remote invalidation
 * @who: for whom
 * @mr: what was found at the key's index
 * @key: the key
 * @remote: the peer asks for it
 *
 * Called with bottom halves disabled. On return no access is under way. Only
 * what a work request has registered a work request can invalidate: a user's
 * region stays until it is deregistered.
 */
enum srdma_mem_why srdma_mr_invalidate(const struct srdma_mem_who *who,
				       struct srdma_mr *mr, u32 key,
				       bool remote)
{
	enum srdma_mem_why why = SRDMA_MEM_OK;

	spin_lock(&mr->key.lock);
	if (mr->key.state != SRDMA_KEY_VALID || mr->key.key != key)
		why = SRDMA_MEM_KEY;
	else if (mr->key.pd != who->pd)
		why = SRDMA_MEM_PD;
	else if (mr->kind != SRDMA_MR_FAST)
		why = SRDMA_MEM_STATE;
	else if (remote && !(mr->key.access & SRDMA_ACCESS_REMOTE))
		why = SRDMA_MEM_ACCESS;
	else if (mr->windows)
		why = SRDMA_MEM_BUSY;
	if (!why) {
		srdma_key_close(&mr->key, SRDMA_KEY_FREE,
				remote ? SRDMA_BY_REMOTE_INV :
					 SRDMA_BY_LOCAL_INV);
		srdma_key_drain_spin(&mr->key);
	}
	spin_unlock(&mr->key.lock);
	return why;
}
