// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Limits of the memory that may wait in inboxes. Each inbox has a little of its
 * own. Beyond that it draws chunks from one pool, and returns them when it is
 * empty.
 *
 * A user may draw while less is drawn for that user than remains in the pool.
 * So one user gets half of the pool at most, and two get a third each. A user
 * that comes last finds as much as any other has, and no user has to give
 * anything back.
 */
#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "base/bounds.h"
#include "engine/backlog.h"

/*
 * A part of the memory, as skbs are charged; what they pin besides is bounded
 * by srdma_backlog_compact(). The least is enough for a QP at full speed.
 */
#define POOL_SHARE	64
#define POOL_MIN	SZ_4M
#define POOL_MAX	SZ_1G

/* How much an skb may pin for each byte that it is charged. */
#define PINS_MOST	4

/* In chunks. */
static atomic_t pool_free;

/**
 * struct srdma_backlog - what the QPs of a user have drawn
 * @entry: in the table of all
 * @uid: the user, as srdma_bounds_owner() says
 * @users: QPs that may draw; guarded by the table's lock
 * @chunks: what they have
 */
struct srdma_backlog {
	struct hlist_node entry;
	kuid_t uid;
	u32 users;
	atomic_t chunks;
};

static DEFINE_SPINLOCK(backlogs_lock);
static DEFINE_HASHTABLE(backlogs, 6);

/* One more QP of a user who has some, or NULL. */
static struct srdma_backlog *join_backlog(kuid_t uid)
{
	struct srdma_backlog *backlog;

	lockdep_assert_held(&backlogs_lock);
	hash_for_each_possible(backlogs, backlog, entry, __kuid_val(uid)) {
		if (!uid_eq(backlog->uid, uid))
			continue;
		backlog->users++;
		return backlog;
	}
	return NULL;
}

/* The user's first QP. Allocates before it takes the lock. */
static struct srdma_backlog *open_backlog(kuid_t uid)
{
	struct srdma_backlog *fresh, *backlog;

	fresh = kzalloc(sizeof(*fresh), SRDMA_GFP);
	if (!fresh)
		return NULL;
	fresh->uid = uid;
	fresh->users = 1;

	spin_lock(&backlogs_lock);
	backlog = join_backlog(uid);
	if (!backlog)
		hash_add(backlogs, &fresh->entry, __kuid_val(uid));
	spin_unlock(&backlogs_lock);
	if (!backlog)
		return fresh;
	kfree(fresh);
	return backlog;
}

/**
 * srdma_backlog_get - the account of the user who creates a QP
 *
 * Return: the current user's account, or NULL for want of memory.
 */
struct srdma_backlog *srdma_backlog_get(void)
{
	kuid_t uid = srdma_bounds_owner();
	struct srdma_backlog *backlog;

	spin_lock(&backlogs_lock);
	backlog = join_backlog(uid);
	spin_unlock(&backlogs_lock);
	return backlog ?: open_backlog(uid);
}

/* The QP has given back what it had. */
void srdma_backlog_put(struct srdma_backlog *backlog)
{
	spin_lock(&backlogs_lock);
	if (--backlog->users)
		backlog = NULL;
	else
		hash_del(&backlog->entry);
	spin_unlock(&backlogs_lock);
	kfree(backlog);
}

/**
 * srdma_backlog_draw - take a chunk out of the pool
 * @backlog: for whom
 *
 * From any context. Two that draw for one user at once may get one chunk more
 * than he should have.
 *
 * Return: whether there was one for him.
 */
bool srdma_backlog_draw(struct srdma_backlog *backlog)
{
	int left = atomic_read(&pool_free);

	do {
		if (atomic_read(&backlog->chunks) >= left)
			return false;
	} while (!atomic_try_cmpxchg(&pool_free, &left, left - 1));
	atomic_inc(&backlog->chunks);
	return true;
}

/* From any context. */
void srdma_backlog_return(struct srdma_backlog *backlog, u32 chunks)
{
	atomic_sub(chunks, &backlog->chunks);
	atomic_add(chunks, &pool_free);
}

/*
 * The pages that an skb keeps from being freed. Other users of parts of them may
 * free theirs: then this skb alone keeps the whole page.
 */
static u64 bytes_pinned(const struct sk_buff *skb)
{
	const struct skb_shared_info *shared = skb_shinfo(skb);
	struct page *page;
	u64 bytes = 0;
	int i;

	if (skb->head_frag)
		bytes = page_size(virt_to_head_page(skb->head));
	for (i = 0; i < shared->nr_frags; i++) {
		page = skb_frag_page(&shared->frags[i]);
		/* A device's own memory has none. */
		if (page)
			bytes += page_size(compound_head(page));
	}
	return bytes;
}

/**
 * srdma_backlog_charge - what an skb counts while it is held as it is, bytes
 * @skb: skb; has no list of fragments
 *
 * Return: its truesize; or more, so that it pins no more than it may for that. It is
 * the same as long as nobody changes the skb.
 */
u32 srdma_backlog_charge(const struct sk_buff *skb)
{
	return max_t(u64, skb->truesize, bytes_pinned(skb) / PINS_MOST);
}

static bool pins_too_much(const struct sk_buff *skb)
{
	/* Those in the list may pin as much as any. */
	return skb_has_frag_list(skb) ||
	       bytes_pinned(skb) > (u64)PINS_MOST * skb->truesize;
}

/*
 * With the headroom of the first one, and all data behind it. skb_copy() does not
 * take what has been merged (wire/merge.c), since whoever knows of lists would
 * look for one: here lengths tell the packets apart.
 */
static struct sk_buff *copy_to_one_head(const struct sk_buff *skb)
{
	unsigned int headroom = skb_headroom(skb);
	struct sk_buff *copy;

	copy = alloc_skb(headroom + skb->len, GFP_ATOMIC | __GFP_NOWARN);
	if (!copy)
		return NULL;
	skb_reserve(copy, headroom);
	skb_put(copy, skb->len);
	if (skb_copy_bits(skb, -headroom, copy->head, headroom + skb->len)) {
		kfree_skb(copy);
		return NULL;
	}
	skb_copy_header(copy, skb);
	skb_shinfo(copy)->gso_type &= ~SKB_GSO_FRAGLIST;
	return copy;
}

/**
 * srdma_backlog_compact - an skb that keeps no more memory than it needs
 * @skb: skb from the network, that only the caller refers to; consumed
 *
 * Heads and fragments are parts of larger pages, ours (wire/skb_pool.c) or those
 * of a NIC's driver: a few bytes in an inbox can keep a page of 32 KB. Such an
 * skb is replaced by a copy with its own memory.
 *
 * Return: the skb or its copy; NULL for want of memory.
 */
struct sk_buff *srdma_backlog_compact(struct sk_buff *skb)
{
	struct sk_buff *copy;

	if (!pins_too_much(skb))
		return skb;
	copy = copy_to_one_head(skb);
	if (copy)
		consume_skb(skb);
	return copy;
}

/* Before there is a QP. */
void srdma_backlog_init(void)
{
	u64 bytes = ((u64)totalram_pages() << PAGE_SHIFT) / POOL_SHARE;

	atomic_set(&pool_free, clamp_t(u64, bytes, POOL_MIN, POOL_MAX) /
			       SRDMA_BACKLOG_CHUNK);
}
