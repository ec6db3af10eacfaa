// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory of the ends, and the patterns that are sent. */
#include <linux/slab.h>

#include "consumer.h"

/* Changes with the place, the page and the seed. */
static u8 pattern(u32 at, u32 seed)
{
	return at * 7 + (at >> 8) * 13 + (at >> 16) * 29 + seed * 31 + 1;
}

static void buf_free(void *arg)
{
	struct buf *buf = arg;

	ib_dma_unmap_single(buf->dev, buf->addr, buf->len, DMA_BIDIRECTIONAL);
	free_pages((unsigned long)buf->va, buf->order);
	kfree(buf);
}

/* Contiguous memory, zeroed, or NULL. */
struct buf *buf_new(struct end *e, u32 len)
{
	struct buf *buf = kzalloc(sizeof(*buf), GFP_KERNEL);

	if (!buf)
		return NULL;
	buf->dev = e->dev;
	buf->len = len;
	buf->lkey = e->pd->local_dma_lkey;
	buf->order = get_order(len);
	buf->va = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, buf->order);
	if (!buf->va) {
		kfree(buf);
		return NULL;
	}
	buf->addr = ib_dma_map_single(e->dev, buf->va, len, DMA_BIDIRECTIONAL);
	return world_keep(e->w, buf_free, buf) ? NULL : buf;
}

void buf_fill(struct buf *buf, u32 at, u32 len, u32 seed)
{
	u32 i;

	for (i = 0; i < len; i++)
		buf->va[at + i] = pattern(i, seed);
}

int buf_expect(struct world *w, const struct buf *buf, u32 at, u32 len,
	       u32 seed)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (buf->va[at + i] != pattern(i, seed))
			return FAIL(w, "byte %u of %u is %#x and not %#x", i,
				    len, buf->va[at + i], pattern(i, seed));
	return 0;
}

struct ib_sge buf_sge(const struct buf *buf, u32 at, u32 len)
{
	return (struct ib_sge) {
		.addr = buf->addr + at,
		.length = len,
		.lkey = buf->lkey,
	};
}

static void pages_free(void *arg)
{
	struct pages *p = arg;
	struct scatterlist *sg;
	int i;

	ib_dma_unmap_sg(p->dev, p->sgt.sgl, p->nents, DMA_BIDIRECTIONAL);
	for_each_sg(p->sgt.sgl, sg, p->nents, i)
		__free_pages(sg_page(sg), p->order);
	sg_free_table(&p->sgt);
	kfree(p);
}

/* Pieces of 2^@order pages each, zeroed, or NULL. */
struct pages *pages_new(struct end *e, u32 nents, unsigned int order)
{
	struct pages *p = kzalloc(sizeof(*p), GFP_KERNEL);
	struct scatterlist *sg;
	int i;

	if (!p)
		return NULL;
	p->dev = e->dev;
	p->order = order;
	if (sg_alloc_table(&p->sgt, nents, GFP_KERNEL)) {
		kfree(p);
		return NULL;
	}
	for_each_sg(p->sgt.sgl, sg, nents, i) {
		struct page *page;

		page = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP, order);
		if (!page)
			break;
		sg_set_page(sg, page, PAGE_SIZE << order, 0);
		p->nents++;
	}
	if (p->nents == nents &&
	    ib_dma_map_sg(p->dev, p->sgt.sgl, nents, DMA_BIDIRECTIONAL) == nents)
		return world_keep(e->w, pages_free, p) ? NULL : p;
	for_each_sg(p->sgt.sgl, sg, p->nents, i)
		__free_pages(sg_page(sg), order);
	sg_free_table(&p->sgt);
	kfree(p);
	return NULL;
}

/* Calls @each for each byte of a range with its number there; stops at false. */
static bool pages_walk(struct pages *p, u32 at, u32 len, u32 seed,
		       bool (*each)(u8 *byte, u8 want))
{
	u32 piece = PAGE_SIZE << p->order, start = 0, i, j;
	struct scatterlist *sg;

	for_each_sg(p->sgt.sgl, sg, p->nents, i) {
		u8 *va = page_address(sg_page(sg));

		for (j = at > start ? min(at - start, piece) : 0;
		     j < piece && start + j < at + len; j++)
			if (!each(va + j, pattern(start + j - at, seed)))
				return false;
		start += piece;
	}
	return true;
}

static bool set_byte(u8 *byte, u8 value)
{
	*byte = value;
	return true;
}

static bool is_byte(u8 *byte, u8 value)
{
	return *byte == value;
}

void pages_fill(struct pages *p, u32 at, u32 len, u32 seed)
{
	pages_walk(p, at, len, seed, set_byte);
}

int pages_expect(struct world *w, struct pages *p, u32 at, u32 len, u32 seed)
{
	if (!pages_walk(p, at, len, seed, is_byte))
		return FAIL(w, "wrong bytes in the pages");
	return 0;
}
