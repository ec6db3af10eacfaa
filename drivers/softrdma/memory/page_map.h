/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Where the bytes of a region are: a table of blocks of equal size.
 */
#ifndef SRDMA_PAGE_MAP_H
#define SRDMA_PAGE_MAP_H

#include <linux/scatterlist.h>
#include <linux/types.h>

/**
 * struct srdma_page_map - where the bytes of a region are
 * @blocks: kernel addresses of the blocks; NULL when positions are kernel
 *	addresses themselves
 * @count: number of blocks
 * @shift: log2 of the bytes of a block
 * @offset: position of the region's first byte, within the first block
 * @length: bytes of the region
 */
struct srdma_page_map {
	void **blocks;
	u32 count;
	u8 shift;
	u64 offset;
	u64 length;
};

void srdma_page_map_none(struct srdma_page_map *map);
int srdma_page_map_build(struct srdma_page_map *map, struct sg_table *sgt,
			 u64 skip, u64 length);

#endif
