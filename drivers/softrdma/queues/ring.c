// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory of rings: whole pages, charged to the user, contiguous for the kernel.
 * It is kept until both the object and the last mapping are gone.
 */
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "base/bounds.h"
#include "compat/compat.h"
#include "queues/ring.h"

/* No single ring may be larger; user space maps it through a 32-bit size. */
#define RING_MAX_BYTES	SZ_512M

/* Contiguous pages are asked for up to this. */
#define RING_LINEAR_BYTES	(PAGE_SIZE << PAGE_ALLOC_COSTLY_ORDER)

/**
 * struct srdma_ring_mem - memory of one ring
 * @entry: handle of the mapping in the user's context; its reference count
 *	keeps the memory while an mmap() is under way
 * @base: kernel address of the first byte
 * @bytes: length, whole pages
 * @mappable: whether @entry is in use (rings of user objects)
 */
struct srdma_ring_mem {
	struct rdma_user_mmap_entry entry;
	void *base;
	size_t bytes;
	bool mappable;
};

/*
 * Small rings are contiguous pages, each with a reference count of its own: no
 * page table of the kernel has to be changed for them. Where so many are not at
 * hand it is not worth waiting for them.
 */
static void *alloc_linear(size_t bytes)
{
	if (bytes > RING_LINEAR_BYTES)
		return NULL;
	return alloc_pages_exact(bytes, GFP_NOWAIT | __GFP_ACCOUNT |
				 __GFP_ZERO | __GFP_NOWARN);
}

static void free_pages_array(struct page **pages, unsigned long count)
{
	while (count--)
		__free_page(pages[count]);
	kvfree(pages);
}

/* Some of @most pages, many at a time where they are at hand. */
static unsigned long alloc_some(struct page **pages, unsigned long most)
{
	int order = min(ilog2(most), PAGE_ALLOC_COSTLY_ORDER);
	struct page *page = NULL;
	int i;

	if (order)
		page = alloc_pages(GFP_NOWAIT | __GFP_ACCOUNT | __GFP_ZERO |
				   __GFP_NOWARN, order);
	if (page) {
		split_page(page, order);
	} else {
		order = 0;
		page = alloc_page(SRDMA_GFP | __GFP_ZERO);
	}
	if (!page)
		return 0;
	for (i = 0; i < 1 << order; i++)
		pages[i] = page + i;
	return i;
}

/*
 * vmalloc_user() would do but for the charge: its pages are not accounted. To
 * charge each for itself is half of the time that a ring takes.
 */
static void *alloc_mapped(size_t bytes)
{
	unsigned long count = bytes >> PAGE_SHIFT;
	unsigned long i, got;
	struct page **pages;
	void *base;

	pages = kvmalloc_array(count, sizeof(*pages), SRDMA_GFP);
	if (!pages)
		return NULL;
	for (i = 0; i < count; i += got) {
		got = alloc_some(pages + i, count - i);
		if (!got)
			goto err_pages;
		cond_resched();
	}
	base = vmap(pages, count, VM_MAP | VM_MAP_PUT_PAGES | VM_USERMAP,
		    PAGE_KERNEL);
	if (!base)
		goto err_pages;
	/* vfree() now frees the pages and the array. */
	return base;

err_pages:
	free_pages_array(pages, i);
	return NULL;
}

static struct srdma_ring_mem *mem_create(size_t bytes, bool mappable)
{
	struct srdma_ring_mem *mem;

	mem = kzalloc(sizeof(*mem), SRDMA_GFP);
	if (!mem)
		return NULL;
	mem->bytes = bytes;
	mem->mappable = mappable;
	if (mappable)
		mem->base = alloc_linear(bytes) ?: alloc_mapped(bytes);
	else
		mem->base = kvzalloc(bytes, GFP_KERNEL | __GFP_RETRY_MAYFAIL |
				     __GFP_NOWARN);
	if (!mem->base) {
		kfree(mem);
		return NULL;
	}
	return mem;
}

static void mem_free(struct srdma_ring_mem *mem)
{
	/* User space's mapping holds references to pages. */
	if (mem->mappable && !is_vmalloc_addr(mem->base))
		free_pages_exact(mem->base, mem->bytes);
	else
		kvfree(mem->base);
	kfree(mem);
}

/* The object is gone and no mmap() looks at the memory any more. */
void srdma_ring_mmap_free(struct rdma_user_mmap_entry *entry)
{
	mem_free(container_of(entry, struct srdma_ring_mem, entry));
}

static int ring_bytes(const struct srdma_ring_spec *spec, u32 *shift,
		      u32 *slots, size_t *bytes)
{
	u64 data;

	if (!spec->entries || spec->entries >= BIT(30) ||
	    spec->elem_size > SZ_64K)
		return -EINVAL;
	*shift = order_base_2(max_t(u32, spec->elem_size, 64));
	*slots = roundup_pow_of_two(spec->entries + 1);
	data = ((u64)*slots << *shift) + SRDMA_ABI_RING_DATA;
	if (data > RING_MAX_BYTES)
		return -EINVAL;
	*bytes = PAGE_ALIGN(data);
	return 0;
}

/**
 * srdma_ring_create - allocate a ring
 * @ring: filled
 * @spec: how many elements of what size
 * @ucontext: context that may map it, or NULL for a ring of the kernel's
 * @map: filled with what user space gives to mmap(); may be NULL
 *
 * Return: 0, -EINVAL when it would be too large, -ENOMEM.
 */
int srdma_ring_create(struct srdma_ring *ring,
		      const struct srdma_ring_spec *spec,
		      struct ib_ucontext *ucontext, struct srdma_abi_map *map)
{
	struct srdma_abi_ring *head;
	struct srdma_ring_mem *mem;
	u32 shift, slots;
	size_t bytes;
	int err;

	err = ring_bytes(spec, &shift, &slots, &bytes);
	if (err)
		return err;
	if (ucontext && srdma_bounds_before(bytes))
		return -ENOMEM;
	mem = mem_create(bytes, ucontext);
	if (!mem)
		return -ENOMEM;

	head = mem->base;
	head->log2_elem_size = shift;
	head->index_mask = slots - 1;
	*ring = (struct srdma_ring) {
		.data = (u8 *)head + SRDMA_ABI_RING_DATA,
		.producer = (void *)&head->producer_index,
		.consumer = (void *)&head->consumer_index,
		.mask = slots - 1,
		.shift = shift,
		.mem = mem,
	};
	if (!ucontext)
		return 0;

	/* The core would note it for each page; mmap() looks at the first. */
	err = srdma_bounds_after(bytes) ?:
	      rdma_user_mmap_entry_insert(ucontext, &mem->entry, PAGE_SIZE);
	if (err) {
		mem_free(mem);
		ring->mem = NULL;
		return err;
	}
	if (map) {
		map->offset = rdma_user_mmap_get_offset(&mem->entry);
		map->size = bytes;
		map->pad = 0;
	}
	return 0;
}

/* The caller has silenced every user of the ring in the kernel. */
void srdma_ring_destroy(struct srdma_ring *ring)
{
	struct srdma_ring_mem *mem = ring->mem;

	if (!mem)
		return;
	ring->mem = NULL;
	if (mem->mappable)
		rdma_user_mmap_entry_remove(&mem->entry);
	else
		mem_free(mem);
}

/**
 * srdma_ring_copy - copy elements of one ring into another
 * @to: ring with elements of the same size
 * @to_index: where the first one goes
 * @from: ring
 * @index: the first one
 * @count: how many
 */
void srdma_ring_copy(const struct srdma_ring *to, u32 to_index,
		     const struct srdma_ring *from, u32 index, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		memcpy(srdma_ring_slot(to, to_index + i),
		       srdma_ring_slot(from, index + i), 1 << from->shift);
}

/* The same for any number, without a lock: it may be 64 MB. */
void srdma_ring_copy_slowly(const struct srdma_ring *to, u32 to_index,
			    const struct srdma_ring *from, u32 index,
			    u32 count)
{
	u32 some;

	for (; count; count -= some) {
		some = min(count, SZ_64K >> from->shift);
		srdma_ring_copy(to, to_index, from, index, some);
		to_index += some;
		index += some;
		cond_resched();
	}
}

static int map_linear(struct vm_area_struct *vma, void *base)
{
	unsigned long at;
	int err = 0;

	srdma_compat_vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	for (at = vma->vm_start; !err && at < vma->vm_end; at += PAGE_SIZE) {
		err = vm_insert_page(vma, at, virt_to_page(base));
		base += PAGE_SIZE;
	}
	return err;
}

/**
 * srdma_ring_mmap - map a ring into user space
 * @ucontext: context of the caller; only its own rings can be found
 * @vma: area to fill; at most the ring's size, shared
 */
int srdma_ring_mmap(struct ib_ucontext *ucontext, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	struct srdma_ring_mem *mem;
	int err;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	entry = rdma_user_mmap_entry_get_pgoff(ucontext, vma->vm_pgoff);
	if (!entry)
		return -EINVAL;
	mem = container_of(entry, struct srdma_ring_mem, entry);
	err = -EINVAL;
	if (vma->vm_end - vma->vm_start <= mem->bytes)
		err = is_vmalloc_addr(mem->base) ?
			remap_vmalloc_range(vma, mem->base, 0) :
			map_linear(vma, mem->base);
	rdma_user_mmap_entry_put(entry);
	return err;
}
