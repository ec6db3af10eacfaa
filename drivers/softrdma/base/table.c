// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Allocates tables and changes their entries.
 */
#include <linux/slab.h>

#include "base/bounds.h"
#include "base/table.h"

/* The node in a slot, made if need be. Two that make it at once make one. */
static struct srdma_table_node *grow_node(struct srdma_table_node *parent,
					  u32 slot)
{
	struct srdma_table_node *node, *other;

	/* Once there, it stays. */
	node = rcu_dereference_raw(parent->slot[slot]);
	if (node)
		return node;
	node = kzalloc(sizeof(*node), SRDMA_GFP);
	if (!node)
		return NULL;
	other = unrcu_pointer(cmpxchg(&parent->slot[slot], NULL,
				      RCU_INITIALIZER(node)));
	if (!other)
		return node;
	kfree(node);
	return other;
}

static void __rcu **leaf_slot(struct srdma_table *table, u32 number)
{
	const u32 mask = SRDMA_TABLE_SLOTS - 1;
	struct srdma_table_node *node;

	node = rcu_dereference_raw(
		table->root.slot[number >> 2 * SRDMA_TABLE_BITS & mask]);
	node = rcu_dereference_raw(
		node->slot[number >> SRDMA_TABLE_BITS & mask]);
	return &node->slot[number & mask];
}

/**
 * srdma_table_reserve - see that a number can be set
 * @table: table
 * @number: 24 bits
 *
 * Return: 0 or -ENOMEM.
 */
int srdma_table_reserve(struct srdma_table *table, u32 number)
{
	const u32 mask = SRDMA_TABLE_SLOTS - 1;
	struct srdma_table_node *node;

	node = grow_node(&table->root, number >> 2 * SRDMA_TABLE_BITS & mask);
	if (!node || !grow_node(node, number >> SRDMA_TABLE_BITS & mask))
		return -ENOMEM;
	return 0;
}

/**
 * srdma_table_set - let a number lead to an object, or to none
 * @table: table
 * @number: a number that the caller has reserved
 * @object: complete object, or NULL; look-ups may see the last one until the
 *	next grace period
 */
void srdma_table_set(struct srdma_table *table, u32 number, void *object)
{
	rcu_assign_pointer(*leaf_slot(table, number), object);
}

/* There are no more look-ups. */
void srdma_table_free(struct srdma_table *table)
{
	struct srdma_table_node *node;
	u32 i, j;

	for (i = 0; i < SRDMA_TABLE_SLOTS; i++) {
		node = rcu_dereference_protected(table->root.slot[i], true);
		if (!node)
			continue;
		for (j = 0; j < SRDMA_TABLE_SLOTS; j++)
			kfree(rcu_dereference_protected(node->slot[j], true));
		kfree(node);
	}
}
