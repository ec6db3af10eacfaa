/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tables that map a 24-bit number to an object. Look-ups have to be fast: each
 * packet and each piece of memory needs one.
 *
 * A table has three levels. Nodes are allocated when they are first needed, and
 * are kept until the table is freed. So a look-up is three loads, even while
 * entries change. The caller allocates the numbers.
 */
#ifndef SRDMA_TABLE_H
#define SRDMA_TABLE_H

#include <linux/rcupdate.h>
#include <linux/types.h>

#define SRDMA_TABLE_BITS	8
#define SRDMA_TABLE_SLOTS	(1U << SRDMA_TABLE_BITS)

/**
 * struct srdma_table_node - a node of a table
 * @slot: nodes of the next level, or objects
 */
struct srdma_table_node {
	void __rcu *slot[SRDMA_TABLE_SLOTS];
};

/**
 * struct srdma_table - a table
 * @root: the node of the first level; zeroed is an empty table
 */
struct srdma_table {
	struct srdma_table_node root;
};

int srdma_table_reserve(struct srdma_table *table, u32 number);
void srdma_table_set(struct srdma_table *table, u32 number, void *object);
void srdma_table_free(struct srdma_table *table);

/**
 * srdma_table_find - what has a number
 * @table: table
 * @number: 24 bits, from whomever: what lies above them is ignored
 *
 * The caller is in an RCU section or has bottom halves disabled.
 */
static inline void *srdma_table_find(const struct srdma_table *table,
				     u32 number)
{
	const u32 mask = SRDMA_TABLE_SLOTS - 1;
	const struct srdma_table_node *node;

	node = rcu_dereference_check(
		table->root.slot[number >> 2 * SRDMA_TABLE_BITS & mask],
		rcu_read_lock_bh_held());
	if (!node)
		return NULL;
	node = rcu_dereference_check(
		node->slot[number >> SRDMA_TABLE_BITS & mask],
		rcu_read_lock_bh_held());
	if (!node)
		return NULL;
	return rcu_dereference_check(node->slot[number & mask],
				     rcu_read_lock_bh_held());
}

#endif
