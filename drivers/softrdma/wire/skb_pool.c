// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory for the heads and fragments of skbs that the driver builds: a few
 * pages for each CPU, used in turn. A page that comes round again is likely to
 * be free, and needs neither allocation nor clearing.
 */
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <net/sock.h>

#include "compat/compat.h"
#include "wire/skb_pool.h"

#define FRAG_PAGES	8

/* Lets KASAN see a use after this. */
#define POOL_HEADS	(!IS_ENABLED(CONFIG_KASAN))

/**
 * struct frag_pool - memory for skbs; used with bottom halves disabled
 * @lock: held while it is used
 * @pf: pages, and how much of each is used
 * @now: the one in use
 */
struct frag_pool {
	local_lock_t lock;
	struct page_frag pf[FRAG_PAGES];
	u32 now;
};

static DEFINE_PER_CPU(struct frag_pool, frag_pool) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

static struct page_frag *page_in_use(struct frag_pool *pool)
{
	return &pool->pf[pool->now];
}

/* The page in use, with at least @min bytes in one piece, or NULL. */
static struct page_frag *page_with(struct frag_pool *pool, u32 min)
{
	struct page_frag *pf = page_in_use(pool);

	if (pf->page && pf->size - pf->offset >= min)
		return pf;
	pool->now = (pool->now + 1) % FRAG_PAGES;
	pf = page_in_use(pool);
	/*
	 * One of the last reserves is not to stay here, nor a single page where
	 * more are wanted: it would be used again and again, and none tried
	 * for, long after there is memory again.
	 */
	if (pf->page && (page_is_pfmemalloc(pf->page) || pf->size < min)) {
		put_page(pf->page);
		pf->page = NULL;
	}
	/* It falls back on single pages, however much is asked for. */
	if (!skb_page_frag_refill(min, pf, GFP_ATOMIC | __GFP_NOWARN) ||
	    pf->size - pf->offset < min)
		return NULL;
	return pf;
}

static struct sk_buff *skb_from_pool(u32 len)
{
	u32 size = SKB_DATA_ALIGN(len) +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct page_frag *pf;
	struct sk_buff *skb;
	u32 at;

	pf = page_with(this_cpu_ptr(&frag_pool), size + SMP_CACHE_BYTES - 1);
	if (!pf)
		return NULL;
	at = ALIGN(pf->offset, SMP_CACHE_BYTES);
	skb = napi_build_skb(page_address(pf->page) + at, size);
	if (skb) {
		get_page(pf->page);
		pf->offset = at + size;
	}
	return skb;
}

/**
 * srdma_skb_pool_alloc - an empty skb
 * @len: bytes of its head
 *
 * Bottom halves are disabled.
 *
 * Return: an skb, or NULL.
 */
struct sk_buff *srdma_skb_pool_alloc(u32 len)
{
	struct sk_buff *skb = NULL;

	if (POOL_HEADS) {
		srdma_compat_lock_nested_bh(&frag_pool.lock);
		skb = skb_from_pool(len);
		srdma_compat_unlock_nested_bh(&frag_pool.lock);
	}
	return skb ?: alloc_skb(len, GFP_ATOMIC | __GFP_NOWARN);
}

/* The rest of a page, at least @min bytes of it, that @skb has room for. */
static struct page_frag *page_for(struct sk_buff *skb, u32 min)
{
	struct page_frag *pf = page_with(this_cpu_ptr(&frag_pool), min);

	if (pf && skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS &&
	    !skb_can_coalesce(skb, MAX_SKB_FRAGS, pf->page, pf->offset))
		return NULL;
	return pf;
}

/**
 * srdma_skb_pool_open - have memory that can be added to an skb
 * @skb: skb
 * @min: least bytes, in one piece
 * @at: filled with where they are
 *
 * Bottom halves are disabled, and stay so until srdma_skb_pool_take(), which is to
 * follow if there are any.
 *
 * Return: how many bytes there are, or 0.
 */
u32 srdma_skb_pool_open(struct sk_buff *skb, u32 min, u8 **at)
{
	struct page_frag *pf;

	srdma_compat_lock_nested_bh(&frag_pool.lock);
	pf = page_for(skb, min);
	if (!pf) {
		srdma_compat_unlock_nested_bh(&frag_pool.lock);
		return 0;
	}
	*at = page_address(pf->page) + pf->offset;
	return pf->size - pf->offset;
}

static void add_to_skb(struct sk_buff *skb, struct page_frag *pf, u32 len)
{
	int n = skb_shinfo(skb)->nr_frags;

	if (skb_can_coalesce(skb, n, pf->page, pf->offset)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[n - 1], len);
	} else {
		get_page(pf->page);
		skb_fill_page_desc(skb, n, pf->page, pf->offset, len);
	}
	pf->offset += len;
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
}

/**
 * srdma_skb_pool_take - add to the end of an skb what was found for it
 * @skb: skb of srdma_skb_pool_open()
 * @len: bytes, no more than that has returned; 0: none
 */
void srdma_skb_pool_take(struct sk_buff *skb, u32 len)
{
	if (len)
		add_to_skb(skb, page_in_use(this_cpu_ptr(&frag_pool)), len);
	srdma_compat_unlock_nested_bh(&frag_pool.lock);
}

/* No skb is built any more. */
void srdma_skb_pool_exit(void)
{
	struct frag_pool *pool;
	int cpu, i;

	for_each_possible_cpu(cpu) {
		pool = per_cpu_ptr(&frag_pool, cpu);
		for (i = 0; i < FRAG_PAGES; i++) {
			if (pool->pf[i].page)
				put_page(pool->pf[i].page);
			pool->pf[i].page = NULL;
		}
	}
}
