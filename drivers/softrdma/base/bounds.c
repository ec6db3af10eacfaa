// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How many objects a machine of this size may hold, and whether there is room
 * for another one.
 */
#include <linux/cred.h>
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/user_namespace.h>

#include "base/bounds.h"

/* What is left to everybody else: of the memory a part, but not more than. */
#define RESERVE_PART	16
#define RESERVE_MOST	SZ_128M

/* No ring takes more of the memory than this part. */
#define RING_PART	16

/* The widest slot of a work queue, and the slot of a completion queue. */
#define WR_BYTES	SZ_1K
#define CQE_BYTES	64

/*
 * What a cgroup must have left when an object is made: for what the core and
 * the process allocate before they ask us again, which may not fail.
 */
#define SPARE_PAGES	8

/**
 * struct bound - how many objects of a kind there may be
 * @most: on a large machine
 * @least: on a small one
 * @bytes: of memory that the machine has for each; small objects, with what the
 *	core keeps for them, take a twelfth of it or less
 */
struct bound {
	u32 most;
	u32 least;
	u32 bytes;
};

static const struct bound object_bounds[SRDMA_OBJ_COUNT] = {
	[SRDMA_OBJ_UCONTEXT] = { 65536, 1024, SZ_128K },
	[SRDMA_OBJ_PD] = { 65536, 1024, SZ_32K },
	[SRDMA_OBJ_AH] = { 65536, 1024, SZ_32K },
	[SRDMA_OBJ_CQ] = { 32768, 1024, SZ_256K },
	[SRDMA_OBJ_SRQ] = { 16384, 256, SZ_512K },
	[SRDMA_OBJ_QP] = { 32768, 1024, SZ_256K },
	[SRDMA_OBJ_MR] = { 524288, 4096, SZ_16K },
	[SRDMA_OBJ_MW] = { 524288, 4096, SZ_16K },
	[SRDMA_OBJ_MCAST] = { 8192, 256, SZ_64K },
};

static u32 bound(u64 memory, u32 bytes, u32 least, u32 most)
{
	return clamp_t(u64, div_u64(memory, bytes), least, most);
}

/**
 * srdma_bounds_init - what a device shall promise
 * @bounds: filled, from the memory that the machine has now
 */
void srdma_bounds_init(struct srdma_bounds *bounds)
{
	u64 memory = (u64)totalram_pages() << PAGE_SHIFT;
	const struct bound *b;
	int kind;

	for (kind = 0; kind < SRDMA_OBJ_COUNT; kind++) {
		b = &object_bounds[kind];
		bounds->objects[kind] = bound(memory, b->bytes, b->least,
					      b->most);
	}
	/*
	 * A ring has a power of two of slots, one of which stays empty: for so
	 * many requests, which is one, twice as many.
	 */
	bounds->wr = rounddown_pow_of_two(bound(memory,
						RING_PART * 2 * WR_BYTES,
						1024, 65536));
	bounds->cqe = rounddown_pow_of_two(bound(memory, RING_PART * CQE_BYTES,
						 4096, 1 << 20)) - 1;
}

/**
 * srdma_bounds_before - may so much be allocated for a user?
 * @bytes: how much
 *
 * Asked before the memory of an object is allocated. What is available counts
 * as the kernel reports it: free, or to be had without swapping.
 *
 * Return: 0, or -ENOMEM when too little would be left to everybody else.
 */
int srdma_bounds_before(size_t bytes)
{
	unsigned long reserve = min_t(unsigned long,
				      totalram_pages() / RESERVE_PART,
				      RESERVE_MOST >> PAGE_SHIFT);

	return si_mem_available() - (long)(bytes >> PAGE_SHIFT) <
	       (long)reserve ? -ENOMEM : 0;
}

/* One page after the other, so that only the charge decides. */
static int charge_pages(unsigned long count)
{
	void **page, **chain = NULL;
	int err = 0;

	while (count-- && !err) {
		page = (void **)__get_free_page(SRDMA_GFP);
		if (page) {
			*page = chain;
			chain = page;
		} else {
			err = -ENOMEM;
		}
	}
	while (chain) {
		page = chain;
		chain = *page;
		free_page((unsigned long)page);
	}
	return err;
}

/*
 * Would so many pages be charged without reclaiming any? What is asked for is
 * not taken, which would cost more than most of what is made.
 */
static bool has_margin(unsigned long pages)
{
	bool has = true;
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(current->mm), *up;

	for (up = memcg; up && has; up = parent_mem_cgroup(up))
		has = page_counter_read(&up->memory) + pages <=
		      READ_ONCE(up->memory.max);
	mem_cgroup_put(memcg);
#endif
	return has;
}

/**
 * srdma_bounds_after - has the user's cgroup something left?
 * @bytes: how much will be mapped, which takes page tables
 *
 * Asked when an object is complete. What the core allocates for the next one and
 * what the process touches is charged as well, and there the kernel kills where
 * nothing is left. So where there may be too little, the room is charged here, by
 * an allocation that may fail, and given back.
 *
 * Return: 0, or -ENOMEM: the object is to be given up.
 */
int srdma_bounds_after(size_t bytes)
{
	unsigned long pages = SPARE_PAGES + (bytes / PTRS_PER_PTE >> PAGE_SHIFT);

	/* In most cases there is room, and no need to wait for anything. */
	return has_margin(pages) ? 0 : charge_pages(pages);
}

/**
 * srdma_bounds_owner - the user charged for what the current task creates
 *
 * Limits are shared among users. An ordinary user has a range of user IDs for user
 * namespaces, each of which would get a share. So in a user namespace the owner of
 * the outermost namespace that an ordinary user owns is charged. Users in the
 * namespaces that root creates for containers count as different users.
 */
kuid_t srdma_bounds_owner(void)
{
	const struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();

	for (; ns != &init_user_ns; ns = ns->parent)
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			uid = ns->owner;
	return uid;
}

/* Both, for an object of less than a page. */
int srdma_bounds_room(void)
{
	return srdma_bounds_before(0) ?: srdma_bounds_after(0);
}
