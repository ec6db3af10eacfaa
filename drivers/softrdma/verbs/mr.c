// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions: registration, change, deregistration.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "objects/device.h"
#include "verbs/mr.h"
#include "verbs/refuse.h"
#include "verbs/ucontext.h"

/* A region that names nothing yet. */
static struct srdma_mr *mr_create(struct ib_pd *pd, enum srdma_mr_kind kind)
{
	struct srdma_dev *dev = to_sdev(pd->device);
	struct srdma_mr *mr;
	int err;

	err = srdma_refuse_beyond(dev, kind == SRDMA_MR_USER, SRDMA_OBJ_MR);
	if (err)
		return ERR_PTR(err);
	mr = kzalloc(sizeof(*mr), SRDMA_GFP);
	if (!mr) {
		err = -ENOMEM;
		goto err_count;
	}
	mr->kind = kind;
	spin_lock_init(&mr->key.lock);
	/* Those of work requests are invalidated where nobody may sleep. */
	mr->key.has_seats = kind != SRDMA_MR_FAST;
	err = srdma_key_publish(&dev->keys, &mr->key, SRDMA_KEY_MR, pd);
	if (err)
		goto err_mr;
	mr->ib.lkey = mr->key.key;
	mr->ib.rkey = mr->key.key;
	return mr;

err_mr:
	kfree(mr);
err_count:
	srdma_dev_uncount(dev, SRDMA_OBJ_MR);
	return ERR_PTR(err);
}

/* The gate is closed and drained. */
static void mr_destroy(struct srdma_dev *dev, struct srdma_mr *mr)
{
	srdma_key_erase(&dev->keys, &mr->key);
	/* Marks the pages of a writable region dirty. */
	ib_umem_release(mr->umem);
	kvfree(mr->map.blocks);
	kvfree(mr->staged.blocks);
	srdma_dev_uncount(dev, SRDMA_OBJ_MR);
	kfree_rcu(mr, key.rcu);
}

static int refuse_region(struct ib_device *ib,
			 const struct srdma_refused *refused)
{
	return srdma_refuse(ib, true, refused);
}

/* May a process have such a region? */
static int check_region(struct ib_device *ib, u64 start, u64 length, u64 iova,
			u32 access)
{
	int err = srdma_mr_check_access(access);

	if (err)
		return err;
	err = srdma_mr_check_range(start, length, iova);
	if (!err)
		return 0;
	if (length > SRDMA_MAX_MR_BYTES)
		return refuse_region(ib, SRDMA_REFUSED(MR_LENGTH, -err, length,
						       SRDMA_MAX_MR_BYTES));
	return refuse_region(ib, SRDMA_REFUSED(MR_WRAPS, -err, length, 0));
}

/**
 * srdma_mr_get_dma - a region of all kernel memory, for a kernel consumer
 * @pd: protection domain
 * @access: IB_ACCESS_* flags
 */
struct ib_mr *srdma_mr_get_dma(struct ib_pd *pd, int access)
{
	struct srdma_mr *mr;
	int err;

	if (pd->uobject)
		return ERR_PTR(-EINVAL);
	/* The core asks for remote access alone; the owner may write anyway. */
	access |= IB_ACCESS_LOCAL_WRITE;
	err = srdma_mr_check_access(access);
	if (err)
		return ERR_PTR(err);
	mr = mr_create(pd, SRDMA_MR_DMA);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->map.length = U64_MAX;
	srdma_mr_open(mr, pd, 0, access);
	return &mr->ib;
}

/*
 * Pins a range of the calling process and maps it. There is nothing to pin for a
 * region of no length: that is NULL.
 */
static struct ib_umem *pin(struct srdma_page_map *map, struct ib_device *ib,
			   u64 start, u64 length, u32 access)
{
	struct ib_umem *umem;
	int err;

	if (!length) {
		srdma_page_map_none(map);
		return NULL;
	}
	umem = srdma_compat_umem_get(ib, start, length, access);
	if (IS_ERR(umem))
		return umem;
	err = srdma_page_map_build(map, &umem->sgt_append.sgt,
				   ib_umem_offset(umem), umem->length);
	if (err) {
		ib_umem_release(umem);
		return ERR_PTR(err);
	}
	return umem;
}

/**
 * srdma_mr_reg_user - register memory of the calling process
 * @pd: protection domain
 * @start: its address in the process
 * @length: bytes; a region of 0 has a key, and no byte that it could name
 * @iova: address of its first byte in work requests and at peers, unless
 *	@access has IB_ZERO_BASED: then that is 0
 * @access: IB_ACCESS_* flags
 * @udata: carries nothing
 */
struct ib_mr *srdma_mr_reg_user(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access, struct ib_udata *udata)
{
	struct srdma_mr *mr;
	int err;

	err = srdma_refuse_by_rule(pd->device, true,
				   SRDMA_NL_VERB_REG_MR, 0) ?:
	      srdma_udata_no_input(udata) ?:
	      check_region(pd->device, start, length, iova, access) ?:
	      srdma_bounds_before(0);
	if (err)
		return ERR_PTR(err);
	mr = mr_create(pd, SRDMA_MR_USER);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->umem = pin(&mr->map, pd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		err = refuse_region(pd->device,
				    SRDMA_REFUSED(MR_PIN, -PTR_ERR(mr->umem),
						  length, 0));
		mr->umem = NULL;
		goto err_mr;
	}
	err = srdma_bounds_after(0);
	if (err)
		goto err_mr;
	/* Not all of the core's ways here fill this in. */
	mr->ib.iova = iova;
	mr->ib.length = length;
	srdma_mr_open(mr, pd, iova, access);
	return &mr->ib;

err_mr:
	mr_destroy(to_sdev(pd->device), mr);
	return ERR_PTR(err);
}

/* For kernels that can pass a hint on how a device is to reach the memory. */
struct ib_mr *srdma_mr_reg_user_dmah(struct ib_pd *pd, u64 start, u64 length,
				     u64 iova, int access,
				     struct ib_dmah *dmah,
				     struct ib_udata *udata)
{
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return srdma_mr_reg_user(pd, start, length, iova, access, udata);
}

/**
 * srdma_mr_rereg_user - change a region of user memory, keeping its key
 * @ib: the region
 * @flags: IB_MR_REREG_*: which of the following are to change
 * @start: TRANS: address in the process
 * @length: TRANS: bytes
 * @iova: TRANS: address of its first byte in work requests
 * @access: ACCESS: IB_ACCESS_* flags
 * @pd: PD: protection domain; else the present one
 * @udata: carries nothing
 *
 * While it changes, accesses fail. When it fails, the region stays as it was.
 *
 * Return: NULL, which says that @ib itself has changed, or an error.
 */
struct ib_mr *srdma_mr_rereg_user(struct ib_mr *ib, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *pd, struct ib_udata *udata)
{
	struct srdma_mr *mr = to_smr(ib);
	struct ib_umem *umem = NULL;
	struct srdma_page_map map = {};
	bool repin;
	int err;

	if (flags & ~IB_MR_REREG_SUPPORTED)
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->key.access;
	if (!(flags & IB_MR_REREG_TRANS)) {
		start = mr->umem ? mr->umem->address : 0;
		length = mr->umem ? mr->umem->length : 0;
		iova = ib->iova;
	}
	err = srdma_refuse_by_rule(ib->device, true,
				   SRDMA_NL_VERB_REREG_MR, 0) ?:
	      srdma_udata_no_input(udata) ?:
	      check_region(ib->device, start, length, iova, access);
	if (err)
		return ERR_PTR(err);

	/* Pages that were pinned to be read may not be writable ones. */
	repin = flags & IB_MR_REREG_TRANS ||
		(mr->umem && ib_access_writable(access) &&
		 !mr->umem->writable);
	if (repin) {
		/* The addresses are those of one process. */
		if (!(flags & IB_MR_REREG_TRANS) &&
		    mr->umem->owning_mm != current->mm)
			return ERR_PTR(-EINVAL);
		umem = pin(&map, ib->device, start, length, access);
		if (IS_ERR(umem))
			return ERR_CAST(umem);
	}
	err = srdma_mr_close(mr, SRDMA_KEY_FREE);
	if (!err) {
		if (repin) {
			swap(mr->umem, umem);
			swap(mr->map, map);
		}
		srdma_mr_open(mr, pd, iova, access);
	} else {
		refuse_region(ib->device, SRDMA_REFUSED(MR_BOUND, -err, 0, 0));
	}
	ib_umem_release(umem);
	kvfree(map.blocks);
	return ERR_PTR(err);
}

static void **alloc_blocks(u32 count)
{
	return kvmalloc_array(count, sizeof(void *), GFP_KERNEL);
}

/**
 * srdma_mr_alloc - a region that work requests of a kernel consumer register
 * @pd: protection domain
 * @type: IB_MR_TYPE_MEM_REG
 * @max_sg: blocks it shall have room for
 */
struct ib_mr *srdma_mr_alloc(struct ib_pd *pd, enum ib_mr_type type,
			     u32 max_sg)
{
	struct srdma_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_sg || max_sg > SRDMA_MAX_FRMR_PAGES)
		return ERR_PTR(-EINVAL);
	err = srdma_refuse_by_rule(pd->device, false, SRDMA_NL_VERB_REG_MR,
				   0);
	if (err)
		return ERR_PTR(err);
	mr = mr_create(pd, SRDMA_MR_FAST);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->capacity = max_sg;
	mr->map.blocks = alloc_blocks(max_sg);
	mr->staged.blocks = alloc_blocks(max_sg);
	if (!mr->map.blocks || !mr->staged.blocks) {
		mr_destroy(to_sdev(pd->device), mr);
		return ERR_PTR(-ENOMEM);
	}
	return &mr->ib;
}

static int stage_block(struct ib_mr *ib, u64 address)
{
	struct srdma_mr *mr = to_smr(ib);

	if (mr->staged.count == mr->capacity)
		return -ENOMEM;
	mr->staged.blocks[mr->staged.count++] = (void *)(uintptr_t)address;
	return 0;
}

/**
 * srdma_mr_map_sg - what the next registration of a region shall name
 * @ib: region of srdma_mr_alloc(); its page_size is that of the blocks
 * @sg: the memory; of this device, DMA addresses are kernel addresses
 * @nents: entries of @sg
 * @offset: where in the first entry to begin
 *
 * What is registered at present stays so. That no registration of the region is
 * posted and not yet complete is up to the consumer.
 *
 * Return: entries mapped, or an error.
 */
int srdma_mr_map_sg(struct ib_mr *ib, struct scatterlist *sg, int nents,
		    unsigned int *offset)
{
	struct srdma_mr *mr = to_smr(ib);
	int mapped;

	if (mr->kind != SRDMA_MR_FAST || ib->page_size < SZ_4K ||
	    !is_power_of_2(ib->page_size))
		return -EINVAL;
	mr->staged.count = 0;
	mapped = ib_sg_to_pages(ib, sg, nents, offset, stage_block);
	if (mapped > 0) {
		mr->staged.shift = ilog2(ib->page_size);
		mr->staged.offset = ib->iova & (ib->page_size - 1);
		mr->staged.length = ib->length;
	}
	mr->is_staged = mapped > 0;
	return mapped;
}

/**
 * srdma_mr_dereg - end a region
 * @ib: region
 * @udata: carries nothing
 *
 * When it returns no access is under way and none will begin.
 *
 * Return: 0, or -EBUSY while windows are bound to it.
 */
int srdma_mr_dereg(struct ib_mr *ib, struct ib_udata *udata)
{
	struct srdma_mr *mr = to_smr(ib);
	int err;

	err = srdma_mr_close(mr, SRDMA_KEY_DEAD);
	if (err)
		return srdma_refuse(ib->device, mr->kind == SRDMA_MR_USER,
				    SRDMA_REFUSED(MR_BOUND, -err, 0, 0));
	mr_destroy(to_sdev(ib->device), mr);
	return 0;
}
