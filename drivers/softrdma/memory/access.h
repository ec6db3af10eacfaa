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
 *
 * Where many short messages use the same memory, one iterator serves a run of them. It
 * rests in between, behind the gate of the key: the key is checked but not looked up for
 * each of them. It does not rest while anything may start another engine, or goes to
 * the network:
 *
 *	srdma_mem_init(&it);
 *	for each of them {
 *		srdma_mem_next_list(&it, who, wqe->sge, wqe->num_sge, access, NULL);
 *		why = srdma_mem_write(&it, buf, len);
 *		srdma_mem_rest(&it);
 *	}
 *	srdma_mem_end(&it);
 */
#ifndef SRDMA_ACCESS_H
#define SRDMA_ACCESS_H

#include "memory/keys.h"
#include "memory/skb_walk.h"
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

/* It is behind no gate, and rests. */
static inline void srdma_mem_init(struct srdma_mem_iter *it)
{
	it->pos = (struct srdma_mem_pos) {};
	it->span.key = NULL;
	it->span.seat = NULL;
	it->span.left = 0;
	it->run = 0;
}

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
void srdma_mem_next_list(struct srdma_mem_iter *it,
			 const struct srdma_mem_who *who,
			 const struct srdma_sge *sge, u32 num_sge, u32 access,
			 const struct srdma_mem_pos *from);
enum srdma_mem_why __must_check
srdma_mem_next_remote(struct srdma_mem_iter *it,
		      const struct srdma_mem_who *who, u32 rkey, u64 va,
		      u64 len, u32 access);
void srdma_mem_rest(struct srdma_mem_iter *it);
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
srdma_mem_check_next(struct srdma_mem_span *span,
		     const struct srdma_mem_who *who,
		     const struct srdma_sge *sge, u32 num_sge, u32 access);
void srdma_mem_leave(struct srdma_mem_span *span);

enum srdma_mem_why __must_check
srdma_mem_fetch_add(struct srdma_mem_iter *it, u64 add, u64 *orig);
enum srdma_mem_why __must_check
srdma_mem_cmp_swap(struct srdma_mem_iter *it, u64 compare, u64 swap,
		   u64 *orig);
enum srdma_mem_why __must_check
srdma_mem_store(struct srdma_mem_iter *it, const void *value);

#endif
