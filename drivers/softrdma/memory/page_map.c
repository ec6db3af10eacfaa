// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How pages are divided into blocks. Blocks are as large as the pages'
 * contiguity allows. So a region of huge pages needs a short table, and a shift
 * finds any position.
 */
#include <linux/bitops.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "base/bounds.h"
#include "memory/page_map.h"

/**
 * pick_shift - find the largest blocks that pinned pages can be cut into
 * @sgt: the pages
 * @first: set to the kernel address of the first byte
 * @bytes: set to the bytes of all pages
 *
 * Within a block memory is contiguous: wherever it is not, a block must end and
 * the next one begin, at an address that is a multiple of its size.
 */
static unsigned int pick_shift(struct sg_table *sgt, unsigned long *first,
			       u64 *bytes)
{
	unsigned long breaks = 0, end = 0;
	struct scatterlist *sg;
	unsigned int shift, i;
	u64 done = 0;

	for_each_sgtable_sg(sgt, sg, i) {
		unsigned long at = (unsigned long)sg_virt(sg);

		if (!i)
			*first = at;
		else if (at != end)
			breaks |= at | (*first + done);
		end = at + sg->length;
		done += sg->length;
	}
	*bytes = done;
	/* One block that holds it all, unless breaks ask for smaller ones. */
	shift = fls64(*first ^ (*first + done - 1));
	if (breaks)
		shift = min_t(unsigned int, shift, __ffs(breaks));
	return max_t(unsigned int, shift, PAGE_SHIFT);
}

static void fill_blocks(struct srdma_page_map *map, struct sg_table *sgt)
{
	unsigned long size = 1UL << map->shift;
	struct scatterlist *sg;
	unsigned int i;
	u32 count = 0;

	for_each_sgtable_sg(sgt, sg, i) {
		unsigned long at = (unsigned long)sg_virt(sg);
		unsigned long left = sg->length;

		while (left) {
			unsigned long within = at & (size - 1);
			unsigned long step = min(left, size - within);

			/* Else it goes on where the last one ended. */
			if (!within || !count)
				map->blocks[count++] = (void *)(at - within);
			at += step;
			left -= step;
		}
		cond_resched();
	}
	WARN_ON_ONCE(count != map->count);
}

/**
 * srdma_page_map_none - a map of no bytes
 * @map: filled; it has blocks, since a map without any stands for all memory
 */
void srdma_page_map_none(struct srdma_page_map *map)
{
	*map = (struct srdma_page_map) {
		.blocks = ZERO_SIZE_PTR,
		.shift = PAGE_SHIFT,
	};
}

/**
 * srdma_page_map_build - map pages
 * @map: filled; its blocks are to be freed by kvfree()
 * @sgt: the pages, whole ones
 * @skip: bytes of them before the first one of the region
 * @length: bytes of the region
 *
 * Return: 0, -EINVAL for more blocks than can be counted, -ENOMEM.
 */
int srdma_page_map_build(struct srdma_page_map *map, struct sg_table *sgt,
			 u64 skip, u64 length)
{
	unsigned long first = 0;
	u64 bytes, count;

	map->shift = pick_shift(sgt, &first, &bytes);
	first &= (1UL << map->shift) - 1;
	count = (first + bytes + (1UL << map->shift) - 1) >> map->shift;
	if (count > U32_MAX)
		return -EINVAL;
	map->count = count;
	map->offset = first + skip;
	map->length = length;
	map->blocks = kvmalloc_array(count, sizeof(*map->blocks), SRDMA_GFP);
	if (!map->blocks)
		return -ENOMEM;
	fill_blocks(map, sgt);
	return 0;
}
