/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rings of fixed-size elements with one producer and one consumer, shared
 * with user space or private to the kernel.
 */
#ifndef SRDMA_RING_H
#define SRDMA_RING_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/softrdma-abi.h>

struct srdma_ring_mem;

/**
 * struct srdma_shared_index - an index word that the other side may change
 * @word: never touched but through load and store helpers, so that a plain
 *	access does not compile
 */
struct srdma_shared_index {
	u32 word;
};

/**
 * struct srdma_ring - the kernel's view of one ring
 * @data: first element
 * @producer: where the producer's index is shared
 * @consumer: where the consumer's index is shared
 * @mask: number of slots - 1; the shared copy is never read
 * @shift: log2 of the bytes of an element; the shared copy is never read
 * @index: masked index of the kernel's own side (producer of a CQ, consumer of
 *	a work queue); the owner of the ring writes it
 * @mem: the memory under it
 */
struct srdma_ring {
	u8 *data;
	struct srdma_shared_index *producer;
	struct srdma_shared_index *consumer;
	u32 mask;
	u32 shift;
	u32 index;
	struct srdma_ring_mem *mem;
};

/**
 * struct srdma_ring_spec - what a ring is to hold
 * @entries: elements that must fit at once
 * @elem_size: bytes of one; rounded up to a power of two of 64 or more
 */
struct srdma_ring_spec {
	u32 entries;
	u32 elem_size;
};

int srdma_ring_create(struct srdma_ring *ring,
		      const struct srdma_ring_spec *spec,
		      struct ib_ucontext *ucontext, struct srdma_abi_map *map);
void srdma_ring_destroy(struct srdma_ring *ring);
void srdma_ring_copy(const struct srdma_ring *to, u32 to_index,
		     const struct srdma_ring *from, u32 index, u32 count);
void srdma_ring_copy_slowly(const struct srdma_ring *to, u32 to_index,
			    const struct srdma_ring *from, u32 index,
			    u32 count);
int srdma_ring_mmap(struct ib_ucontext *ucontext, struct vm_area_struct *vma);
void srdma_ring_mmap_free(struct rdma_user_mmap_entry *entry);

/* How many elements fit: one slot always stays empty. */
static inline u32 srdma_ring_entries(const struct srdma_ring *ring)
{
	return ring->mask;
}

static inline void *srdma_ring_slot(const struct srdma_ring *ring, u32 index)
{
	return ring->data + ((size_t)(index & ring->mask) << ring->shift);
}

static inline u32 srdma_ring_load(const struct srdma_ring *ring,
				  const struct srdma_shared_index *index)
{
	/* Pairs with srdma_ring_store(), or with user space's release. */
	return smp_load_acquire(&index->word) & ring->mask;
}

static inline void srdma_ring_store(struct srdma_shared_index *index, u32 value)
{
	/* Pairs with srdma_ring_load(), or with user space's acquire. */
	smp_store_release(&index->word, value);
}

/* Elements that the producer has added and the kernel has not yet taken. */
static inline u32 srdma_ring_filled(const struct srdma_ring *ring)
{
	return (srdma_ring_load(ring, ring->producer) - ring->index) &
	       ring->mask;
}

/* Gives @count taken slots back to the producer. */
static inline void srdma_ring_consume(struct srdma_ring *ring, u32 count)
{
	ring->index = (ring->index + count) & ring->mask;
	srdma_ring_store(ring->consumer, ring->index);
}

/* Shows @count filled slots to the consumer. */
static inline void srdma_ring_produce(struct srdma_ring *ring, u32 count)
{
	ring->index = (ring->index + count) & ring->mask;
	srdma_ring_store(ring->producer, ring->index);
}

/* Empties the ring; neither side may be using it. */
static inline void srdma_ring_reset(struct srdma_ring *ring)
{
	ring->index = 0;
	srdma_ring_store(ring->producer, 0);
	srdma_ring_store(ring->consumer, 0);
}

#endif
