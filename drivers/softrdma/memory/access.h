/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The only code that touches registered memory.
 *
 * An iterator walks over the bytes of a piece list, of a range at a peer's
 * request, or of a kernel buffer. It lives on the stack, for one burst:
 *
 *	srdma_mem_begin_list(&it, who, wqe->sge, wqe->num_sge, access, &pos);
 *	why = srdma_mem_seek(&it, offset) ?: srdma_mem_read(&it, buf, len);
 *	pos = it.pos;
 *	srdma_mem_end(&it);
 *
 * with bottom halves disabled from begin to end, since it may be inside the
 * gate of a key. The position is kept from burst to burst, so that no burst
 * of a long message walks over the pieces before it.
 */
#ifndef SRDMA_ACCESS_H
#define SRDMA_ACCESS_H

#include <linux/skbuff.h>

#include "memory/keys.h"
#include "queues/wqe.h"

/**
 * struct srdma_mem_pos - where in a message, and hence in its pieces
 * @offset: bytes of the message before it
 * @idx: piece
 * @within: bytes of that piece before it
 *
 * Zeroed for the start of the message.
 */
struct srdma_mem_pos {
	u32 offset;
	u32 idx;
	u32 within;
};

/**
 * struct srdma_mem_span - a range that has passed every check
 * @key: whose gate has been entered, or NULL for memory without one
 * @seat: of the access, or NULL
 * @map: where the bytes are, or NULL when @pos is a kernel address
 * @pos: next byte, position in @map
 * @left: bytes from there on
 */
struct srdma_mem_span {
	struct srdma_key *key;
	struct srdma_key_seat *seat;
	const struct srdma_page_map *map;
	u64 pos;
	u64 left;
};

/**
 * struct srdma_mem_iter - a walk over memory
 * @who: on whose behalf
 * @sge: the pieces
 * @num_sge: their number; 0 when the one span is all there is
 * @access: what every piece must allow, 0 for reading
 * @pos: of the next byte, in the pieces
 * @span: what is left of the present piece
 * @at: kernel address of the next byte, while @run is not 0
 * @run: bytes that are contiguous from there on, all in @span
 */
struct srdma_mem_iter {
	const struct srdma_mem_who *who;
	const struct srdma_sge *sge;
	u32 num_sge;
	u32 access;
	struct srdma_mem_pos pos;
	struct srdma_mem_span span;
	void *at;
	u32 run;
};

/**
 * struct srdma_skb_walk - a walk over the bytes of an skb, made for going forward
 * @skb: skb
 * @data: bytes found last
 * @at: their offset in the skb
 * @len: their number
 * @beyond: behind the linear part, where the core's walker finds them
 * @st: of that one
 */
struct srdma_skb_walk {
	struct sk_buff *skb;
	const u8 *data;
	u32 at;
	u32 len;
	bool beyond;
	struct skb_seq_state st;
};

void srdma_mem_begin_list(struct srdma_mem_iter *it,
			  const struct srdma_mem_who *who,
			  const struct srdma_sge *sge, u32 num_sge, u32 access,
			  const struct srdma_mem_pos *from);
enum srdma_mem_why __must_check
srdma_mem_begin_remote(struct srdma_mem_iter *it,
		       const struct srdma_mem_who *who, u32 rkey, u64 va,
		       u64 len, u32 access);
enum srdma_mem_why __must_check
srdma_mem_begin_region(struct srdma_mem_iter *it,
		       const struct srdma_mem_who *who, u32 rkey, u32 access);
void srdma_mem_begin_kernel(struct srdma_mem_iter *it, void *addr, u32 len);
void srdma_mem_end(struct srdma_mem_iter *it);

enum srdma_mem_why __must_check
srdma_mem_seek(struct srdma_mem_iter *it, u32 offset);
enum srdma_mem_why __must_check
srdma_mem_read(struct srdma_mem_iter *it, void *dst, u32 len);
enum srdma_mem_why __must_check
srdma_mem_read_sum(struct srdma_mem_iter *it, void *dst, u32 len, u32 *crc,
		   bool vector);
enum srdma_mem_why __must_check
srdma_mem_write(struct srdma_mem_iter *it, const void *src, u32 len);
enum srdma_mem_why __must_check
srdma_mem_write_skb(struct srdma_mem_iter *it, struct srdma_skb_walk *walk,
		    u32 off, u32 len);
enum srdma_mem_why __must_check
srdma_mem_copy(struct srdma_mem_iter *dst, struct srdma_mem_iter *src,
	       u32 len);
enum srdma_mem_why __must_check
srdma_mem_skip(struct srdma_mem_iter *it, u32 len);

enum srdma_mem_why __must_check
srdma_mem_check_list(const struct srdma_mem_who *who,
		     const struct srdma_sge *sge, u32 num_sge, u32 access);
enum srdma_mem_why __must_check
srdma_mem_check_remote(const struct srdma_mem_who *who, u32 rkey, u64 va,
		       u64 len, u32 access);

enum srdma_mem_why __must_check
srdma_mem_fetch_add(struct srdma_mem_iter *it, u64 add, u64 *orig);
enum srdma_mem_why __must_check
srdma_mem_cmp_swap(struct srdma_mem_iter *it, u64 compare, u64 swap,
		   u64 *orig);
enum srdma_mem_why __must_check
srdma_mem_store(struct srdma_mem_iter *it, const void *value);

enum srdma_mem_why __must_check
srdma_mem_invalidate(const struct srdma_mem_who *who, u32 key, bool remote);

void srdma_skb_walk_begin(struct srdma_skb_walk *walk, struct sk_buff *skb);
void srdma_skb_walk_find(struct srdma_skb_walk *walk, u32 off);
void srdma_skb_walk_end(struct srdma_skb_walk *walk);

/* Bytes of the skb from @off on; lowers @len to what is contiguous there. */
static inline const void *srdma_skb_walk_to(struct srdma_skb_walk *walk,
					    u32 off, u32 *len)
{
	u32 within = off - walk->at;

	/* Also where @off lies before them. */
	if (within >= walk->len) {
		srdma_skb_walk_find(walk, off);
		within = off - walk->at;
	}
	*len = min(*len, walk->len - within);
	return walk->data + within;
}

#endif
