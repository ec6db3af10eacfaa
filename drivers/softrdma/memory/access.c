// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The only code that accesses registered memory: it checks keys, finds the
 * bytes, copies them, and executes atomics on them.
 */
#include <linux/cache.h>
#include <linux/libnvdimm.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/nospec.h>
#include <linux/overflow.h>

#include "base/crc.h"
#include "memory/access.h"
#include "memory/page_map.h"
#include "memory/region.h"
#include "memory/window.h"

static void span_close(struct srdma_mem_span *span)
{
	if (span->key)
		srdma_key_leave(span->key, span->seat);
	span->key = NULL;
	/* The rest means nothing without bytes that are left. */
	span->left = 0;
}

/* Behind the gate: does the key allow this? */
static enum srdma_mem_why check_key(const struct srdma_key *key,
				    const struct srdma_mem_who *who,
				    u32 number, u64 va, u64 len, u32 access)
{
	if (key->key != number)
		return SRDMA_MEM_KEY;
	if (key->pd != who->pd)
		return SRDMA_MEM_PD;
	if (key->set && key->set != who->set)
		return SRDMA_MEM_QP;
	if ((key->access & access) != access)
		return SRDMA_MEM_ACCESS;
	if (!srdma_range_ok(key->start, key->length, va, len))
		return SRDMA_MEM_RANGE;
	return SRDMA_MEM_OK;
}

/* It has been checked, and @span is behind its gate. */
static void fill_span(struct srdma_mem_span *span, const struct srdma_key *key,
		      u64 va, u64 len)
{
	span->map = key->map->blocks ? key->map : NULL;
	span->pos = key->offset + (va - key->start);
	span->left = len;
}

static enum srdma_mem_why enter_key(struct srdma_mem_span *span,
				    struct srdma_key *key,
				    const struct srdma_mem_who *who,
				    u32 number, u64 va, u64 len, u32 access)
{
	struct srdma_key_seat *seat;
	enum srdma_mem_why why;

	if (!srdma_key_enter(key, &seat))
		return SRDMA_MEM_KEY;
	why = check_key(key, who, number, va, len, access);
	if (why) {
		srdma_key_leave(key, seat);
		return why;
	}
	span->key = key;
	span->seat = seat;
	fill_span(span, key, va, len);
	return SRDMA_MEM_OK;
}

/*
 * Is @span behind the gate of this key already? As long as it is, the key stays what
 * it is, whatever the number is that others may look up.
 */
static bool has_entered(const struct srdma_mem_span *span, u32 number)
{
	return span->key && span->key->key == number;
}

/* enter_key() where has_entered(): it stays behind the gate, or leaves. */
static enum srdma_mem_why stay_with_key(struct srdma_mem_span *span,
					const struct srdma_mem_who *who,
					u32 number, u64 va, u64 len, u32 access)
{
	enum srdma_mem_why why;

	why = check_key(span->key, who, number, va, len, access);
	if (why)
		span_close(span);
	else
		fill_span(span, span->key, va, len);
	return why;
}

/*
 * Only kernel consumers may name kernel memory by its address; the protection
 * domain of a process belongs to a user object.
 */
static bool is_trusted(const struct srdma_mem_who *who)
{
	return !who->pd->uobject;
}

/* open_local() where the key is another one than before, or the first. */
static __always_inline enum srdma_mem_why
look_up_local(struct srdma_mem_span *span, const struct srdma_mem_who *who,
	      const struct srdma_sge *sge, u32 access)
{
	struct srdma_key *key;

	span_close(span);
	if (sge->lkey == SRDMA_KEY_KERNEL && is_trusted(who)) {
		*span = (struct srdma_mem_span) {
			.pos = sge->addr,
			.left = sge->length,
		};
		return SRDMA_MEM_OK;
	}
	key = srdma_key_find(who->keys, sge->lkey);
	/* A window's key is for peers only. */
	if (!key || key->kind != SRDMA_KEY_MR)
		return SRDMA_MEM_KEY;
	return enter_key(span, key, who, sge->lkey, sge->addr, sge->length,
			 access);
}

/* A range of a work request's own memory; @span may be that of one before. */
static __always_inline enum srdma_mem_why
open_local(struct srdma_mem_span *span, const struct srdma_mem_who *who,
	   const struct srdma_sge *sge, u32 access)
{
	if (has_entered(span, sge->lkey))
		return stay_with_key(span, who, sge->lkey, sge->addr,
				     sge->length, access);
	return look_up_local(span, who, sge, access);
}

/*
 * A kernel consumer that gives its peers a key of all memory trusts them; but
 * an address that is none is their mistake and shall not be ours.
 */
static bool is_memory(const struct srdma_mem_span *span)
{
	return virt_addr_valid((void *)(uintptr_t)span->pos) &&
	       virt_addr_valid((void *)(uintptr_t)(span->pos + span->left - 1));
}

/* A range that a peer names; @span is behind no gate. */
static __always_inline enum srdma_mem_why
look_up_remote(struct srdma_mem_span *span, const struct srdma_mem_who *who,
	       u32 rkey, u64 va, u64 len, u32 access)
{
	struct srdma_key *key = srdma_key_find(who->keys, rkey);

	return key ? enter_key(span, key, who, rkey, va, len, access) :
		     SRDMA_MEM_KEY;
}

/* Of a range that is allowed. */
static __always_inline enum srdma_mem_why
must_be_memory(struct srdma_mem_span *span)
{
	if (span->map || is_memory(span))
		return SRDMA_MEM_OK;
	span_close(span);
	return SRDMA_MEM_RANGE;
}

/**
 * srdma_mem_begin_remote - begin an access that a peer asks for
 * @it: iterator; to be ended only when this succeeds
 * @who: queue pair that was asked
 * @rkey: key
 * @va: first address
 * @len: bytes; with 0 the key is not looked at (C9-88)
 * @access: IB_ACCESS_REMOTE_*, SRDMA_ACCESS_FLUSH
 */
enum srdma_mem_why srdma_mem_begin_remote(struct srdma_mem_iter *it,
					  const struct srdma_mem_who *who,
					  u32 rkey, u64 va, u64 len,
					  u32 access)
{
	enum srdma_mem_why why;

	*it = (struct srdma_mem_iter) { .who = who, .access = access };
	if (!len)
		return SRDMA_MEM_OK;
	why = look_up_remote(&it->span, who, rkey, va, len, access);
	return why ?: must_be_memory(&it->span);
}

/**
 * srdma_mem_next_remote - srdma_mem_begin_remote() with an iterator that rests
 * @it: iterator, which srdma_mem_rest() has left, or srdma_mem_init(); whatever the
 *	result is, it may be used so again, and is to be ended once
 * @who: queue pair that was asked, always the same
 * @rkey: key
 * @va: first address
 * @len: bytes, not 0
 * @access: IB_ACCESS_REMOTE_*
 */
enum srdma_mem_why srdma_mem_next_remote(struct srdma_mem_iter *it,
					 const struct srdma_mem_who *who,
					 u32 rkey, u64 va, u64 len, u32 access)
{
	struct srdma_mem_span *span = &it->span;
	enum srdma_mem_why why;

	it->who = who;
	it->num_sge = 0;
	it->access = access;
	it->run = 0;
	if (has_entered(span, rkey)) {
		why = stay_with_key(span, who, rkey, va, len, access);
	} else {
		span_close(span);
		why = look_up_remote(span, who, rkey, va, len, access);
	}
	return why ?: must_be_memory(span);
}

/**
 * srdma_mem_begin_region - the same for all that a key names
 * @it: iterator; to be ended only when this succeeds
 * @who: queue pair that was asked
 * @rkey: key
 * @access: SRDMA_ACCESS_FLUSH
 */
enum srdma_mem_why srdma_mem_begin_region(struct srdma_mem_iter *it,
					  const struct srdma_mem_who *who,
					  u32 rkey, u32 access)
{
	struct srdma_key *key = srdma_key_find(who->keys, rkey);
	struct srdma_key_seat *seat;
	enum srdma_mem_why why;

	*it = (struct srdma_mem_iter) { .who = who, .access = access };
	if (!key || !srdma_key_enter(key, &seat))
		return SRDMA_MEM_KEY;
	/* Inside the gate of its own, the key says what there is. */
	why = enter_key(&it->span, key, who, rkey, key->start, key->length,
			access);
	srdma_key_leave(key, seat);
	return why;
}

/*
 * As srdma_mem_begin_list() below, with an iterator that rests; @who is the same as
 * before. It is to be ended once, behind the last walk.
 */
void srdma_mem_next_list(struct srdma_mem_iter *it,
			 const struct srdma_mem_who *who,
			 const struct srdma_sge *sge, u32 num_sge, u32 access,
			 const struct srdma_mem_pos *from)
{
	it->who = who;
	it->sge = sge;
	it->num_sge = num_sge;
	it->access = access;
	it->pos = from ? *from : (struct srdma_mem_pos) {};
	it->span.left = 0;
	it->run = 0;
}

/**
 * srdma_mem_begin_list - begin to walk over the pieces of a work request
 * @it: iterator
 * @who: queue that the work request was posted to
 * @sge: pieces
 * @num_sge: their number
 * @access: 0 to read, IB_ACCESS_LOCAL_WRITE to write
 * @from: position kept from an earlier walk, or NULL for the start
 *
 * Keys are checked when the walk gets to them; those of empty pieces never.
 */
void srdma_mem_begin_list(struct srdma_mem_iter *it,
			  const struct srdma_mem_who *who,
			  const struct srdma_sge *sge, u32 num_sge, u32 access,
			  const struct srdma_mem_pos *from)
{
	/* The rest means nothing before there is a piece: this is for each message. */
	srdma_mem_init(it);
	srdma_mem_next_list(it, who, sge, num_sge, access, from);
}

/* A walk over a buffer of the kernel's own, inline data for example. */
void srdma_mem_begin_kernel(struct srdma_mem_iter *it, void *addr, u32 len)
{
	*it = (struct srdma_mem_iter) {
		.span.pos = (uintptr_t)addr,
		.span.left = len,
	};
}

/* Leaves the gate; the position stays valid. */
void srdma_mem_end(struct srdma_mem_iter *it)
{
	span_close(&it->span);
	it->run = 0;
}

/**
 * srdma_mem_rest - end a walk, and stay ready for another one with the same key
 * @it: iterator, to be used with srdma_mem_next_list() or srdma_mem_next_remote()
 *
 * It stays behind the gate if its access has a seat, and has to leave soon: who waits for
 * it sleeps.
 */
void srdma_mem_rest(struct srdma_mem_iter *it)
{
	if (!it->span.seat)
		span_close(&it->span);
	it->span.left = 0;
	it->run = 0;
}

/*
 * Goes on to the next piece that has bytes left; not for each packet. Not inlined: ranges
 * that a peer names would pay for its registers.
 */
static noinline enum srdma_mem_why next_piece(struct srdma_mem_iter *it)
{
	const struct srdma_sge *sge;
	enum srdma_mem_why why;

	while (it->pos.idx < it->num_sge) {
		sge = &it->sge[it->pos.idx];
		if (it->pos.within < sge->length) {
			/* As a whole: what is before may be out of bounds. */
			why = open_local(&it->span, it->who, sge, it->access);
			if (why)
				return why;
			it->span.pos += it->pos.within;
			it->span.left -= it->pos.within;
			return SRDMA_MEM_OK;
		}
		it->pos.idx++;
		it->pos.within = 0;
	}
	return SRDMA_MEM_LENGTH;
}

static void pass(struct srdma_mem_iter *it, u32 len)
{
	it->span.pos += len;
	it->span.left -= len;
	it->pos.within += len;
	it->pos.offset += len;
}

static void advance(struct srdma_mem_iter *it, u32 len)
{
	it->at += len;
	it->run -= len;
	pass(it, len);
}

/* Finds where the next byte is, and how many more are contiguous there. */
static noinline enum srdma_mem_why next_run(struct srdma_mem_iter *it)
{
	const struct srdma_mem_span *span = &it->span;
	const struct srdma_page_map *map;
	enum srdma_mem_why why;
	u64 size, within, block;

	if (!span->left) {
		why = next_piece(it);
		if (why)
			return why;
	}
	it->run = min_t(u64, span->left, SZ_1G);
	map = span->map;
	if (!map) {
		it->at = (void *)(uintptr_t)span->pos;
		return SRDMA_MEM_OK;
	}
	size = 1ULL << map->shift;
	within = span->pos & (size - 1);
	block = array_index_nospec(span->pos >> map->shift, map->count);
	it->run = min_t(u64, it->run, size - within);
	it->at = map->blocks[block] + within;
	return SRDMA_MEM_OK;
}

/* The next contiguous bytes, @len of them at most; for each packet. */
static __always_inline enum srdma_mem_why
next_chunk(struct srdma_mem_iter *it, void **at, u32 *len)
{
	enum srdma_mem_why why;

	if (!it->run) {
		why = next_run(it);
		if (why)
			return why;
	}
	*at = it->at;
	*len = min(*len, it->run);
	return SRDMA_MEM_OK;
}

/**
 * srdma_mem_seek - go to an offset in the message of a piece list
 * @it: iterator over a list
 * @offset: bytes from the start of the message
 *
 * Going forward only steps over pieces from the present position on.
 *
 * Return: SRDMA_MEM_OK, or SRDMA_MEM_LENGTH when the pieces end before.
 */
enum srdma_mem_why srdma_mem_seek(struct srdma_mem_iter *it, u32 offset)
{
	struct srdma_mem_pos *pos = &it->pos;
	u32 rest;

	if (offset == pos->offset)
		return SRDMA_MEM_OK;
	span_close(&it->span);
	it->run = 0;
	if (offset < pos->offset)
		*pos = (struct srdma_mem_pos) {};
	while (pos->offset < offset) {
		if (pos->idx >= it->num_sge)
			return SRDMA_MEM_LENGTH;
		rest = it->sge[pos->idx].length - pos->within;
		if (rest > offset - pos->offset) {
			pos->within += offset - pos->offset;
			pos->offset = offset;
		} else {
			pos->offset += rest;
			pos->idx++;
			pos->within = 0;
		}
	}
	return SRDMA_MEM_OK;
}

/* Copies @len bytes out of the memory, into @dst. */
enum srdma_mem_why srdma_mem_read(struct srdma_mem_iter *it, void *dst,
				  u32 len)
{
	enum srdma_mem_why why;
	void *at;
	u32 n;

	for (; len; len -= n, dst += n) {
		n = len;
		why = next_chunk(it, &at, &n);
		if (why)
			return why;
		memcpy(dst, at, n);
		advance(it, n);
	}
	return SRDMA_MEM_OK;
}

/**
 * srdma_mem_read_sum - copy out of the memory, and sum up what was copied
 * @it: iterator
 * @dst: where to
 * @len: bytes
 * @crc: the sum, advanced
 * @vector: what srdma_crc_begin() said
 */
enum srdma_mem_why srdma_mem_read_sum(struct srdma_mem_iter *it, void *dst,
				      u32 len, u32 *crc, bool vector)
{
	enum srdma_mem_why why;
	void *at;
	u32 n;

	for (; len; len -= n, dst += n) {
		n = len;
		why = next_chunk(it, &at, &n);
		if (why)
			return why;
		*crc = srdma_crc_copy(*crc, dst, at, n, vector);
		advance(it, n);
	}
	return SRDMA_MEM_OK;
}

/* Copies @len bytes from @src into the memory. */
static __always_inline enum srdma_mem_why
write_bytes(struct srdma_mem_iter *it, const void *src, u32 len)
{
	enum srdma_mem_why why;
	void *at;
	u32 n;

	for (; len; len -= n, src += n) {
		n = len;
		why = next_chunk(it, &at, &n);
		if (why)
			return why;
		memcpy(at, src, n);
		advance(it, n);
	}
	return SRDMA_MEM_OK;
}

/* The same, for everybody. */
enum srdma_mem_why srdma_mem_write(struct srdma_mem_iter *it, const void *src,
				   u32 len)
{
	return write_bytes(it, src, len);
}

/**
 * srdma_mem_copy - copy from memory that was lent
 * @dst: where to; checked to be writable when it was begun
 * @src: where from
 * @len: bytes
 *
 * Return: SRDMA_MEM_GONE when it is the source that cannot be had.
 */
enum srdma_mem_why srdma_mem_copy(struct srdma_mem_iter *dst,
				  struct srdma_mem_iter *src, u32 len)
{
	enum srdma_mem_why why;
	void *from, *to;
	u32 n;

	for (; len; len -= n) {
		n = len;
		if (next_chunk(src, &from, &n))
			return SRDMA_MEM_GONE;
		why = next_chunk(dst, &to, &n);
		if (why)
			return why;
		/* A peer may well write onto what it reads. */
		memmove(to, from, n);
		advance(src, n);
		advance(dst, n);
	}
	return SRDMA_MEM_OK;
}

/**
 * srdma_mem_write_skb - copy from an skb into the memory
 * @it: iterator
 * @walk: walk over the skb; going back makes it start again
 * @off: offset in the skb
 * @len: bytes
 */
enum srdma_mem_why srdma_mem_write_skb(struct srdma_mem_iter *it,
				       struct srdma_skb_walk *walk, u32 off,
				       u32 len)
{
	enum srdma_mem_why why;
	const void *src;
	u32 n;

	for (; len; len -= n, off += n) {
		n = len;
		src = srdma_skb_walk_to(walk, off, &n);
		if (!n)
			return SRDMA_MEM_LENGTH;
		why = write_bytes(it, src, n);
		if (why)
			return why;
	}
	return SRDMA_MEM_OK;
}

/**
 * srdma_mem_skip - go on without touching the memory
 * @it: iterator
 * @len: bytes
 *
 * What is passed over is checked as if it were read.
 */
enum srdma_mem_why srdma_mem_skip(struct srdma_mem_iter *it, u32 len)
{
	enum srdma_mem_why why;
	u32 n;

	it->run = 0;
	for (; len; len -= n) {
		if (!it->span.left) {
			why = next_piece(it);
			if (why)
				return why;
		}
		n = min_t(u64, len, it->span.left);
		pass(it, n);
	}
	return SRDMA_MEM_OK;
}

/**
 * srdma_mem_check_next - would a walk over these pieces succeed at present?
 * @span: of the last piece that was asked for in this run; zeroed at first. It stays
 *	behind the gate if its access has a seat; srdma_mem_leave() is to follow soon
 * @who: queue that the work request was posted to, always the same
 * @sge: pieces
 * @num_sge: their number
 * @access: 0 to read, IB_ACCESS_LOCAL_WRITE to write
 */
enum srdma_mem_why srdma_mem_check_next(struct srdma_mem_span *span,
					const struct srdma_mem_who *who,
					const struct srdma_sge *sge,
					u32 num_sge, u32 access)
{
	enum srdma_mem_why why = SRDMA_MEM_OK;
	u32 i;

	for (i = 0; i < num_sge && !why; i++)
		if (sge[i].length)
			why = open_local(span, who, &sge[i], access);
	if (!span->seat)
		span_close(span);
	return why;
}

/* What srdma_mem_check_next() is behind the gate of, if it is. */
void srdma_mem_leave(struct srdma_mem_span *span)
{
	span_close(span);
}

/*
 * The word that an atomic works on. An aligned address may still be a word
 * that is not aligned, in a region that starts at an odd place.
 */
static enum srdma_mem_why next_word(struct srdma_mem_iter *it, u64 **word)
{
	enum srdma_mem_why why;
	u32 len = sizeof(u64);
	void *at;

	why = next_chunk(it, &at, &len);
	if (why)
		return why;
	if (!IS_ALIGNED((uintptr_t)at, sizeof(u64)))
		return SRDMA_MEM_ALIGN;
	if (len < sizeof(u64))
		return SRDMA_MEM_LENGTH;
	*word = at;
	return SRDMA_MEM_OK;
}

/**
 * srdma_mem_fetch_add - FetchAdd, atomic to every CPU and every other access
 * @it: iterator over 8 bytes, begun with IB_ACCESS_REMOTE_ATOMIC
 * @add: to be added
 * @orig: set to what was there
 *
 * Numbers are in the byte order of this host, as the memory's are.
 */
enum srdma_mem_why srdma_mem_fetch_add(struct srdma_mem_iter *it, u64 add,
				       u64 *orig)
{
	enum srdma_mem_why why;
	u64 *word;

	why = next_word(it, &word);
	if (!why)
		*orig = atomic64_fetch_add(add, (atomic64_t *)word);
	return why;
}

/* CmpSwap, likewise: @swap is stored if the word is @compare. */
enum srdma_mem_why srdma_mem_cmp_swap(struct srdma_mem_iter *it, u64 compare,
				      u64 swap, u64 *orig)
{
	enum srdma_mem_why why;
	u64 *word;

	why = next_word(it, &word);
	if (!why)
		*orig = cmpxchg64(word, compare, swap);
	return why;
}

/**
 * srdma_mem_store - atomic write
 * @it: iterator over 8 bytes, begun with IB_ACCESS_REMOTE_WRITE
 * @value: 8 bytes, in the order they came
 *
 * Never seen by halves, and not before what was written earlier.
 */
enum srdma_mem_why srdma_mem_store(struct srdma_mem_iter *it,
				   const void *value)
{
	enum srdma_mem_why why;
	u64 *word, copy;

	memcpy(&copy, value, sizeof(copy));
	why = next_word(it, &word);
	if (why)
		return why;
	/* Pairs with the acquire of a reader that polls this word. */
	smp_store_release(word, copy);
	return SRDMA_MEM_OK;
}
