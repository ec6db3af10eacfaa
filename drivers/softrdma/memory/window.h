/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory windows, types 1 and 2B.
 */
#ifndef SRDMA_WINDOW_H
#define SRDMA_WINDOW_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>

#include "memory/keys.h"

struct srdma_mr;

/**
 * struct srdma_mw_set - the type 2 windows that are bound to a QP
 * @lock: guards @windows; taken inside the lock of a window
 * @windows: struct srdma_mw, by their entry
 */
struct srdma_mw_set {
	spinlock_t lock;
	struct list_head windows;
};

/**
 * struct srdma_mw - a memory window
 * @key: what look-ups find; its lock is taken before that of a region or set
 * @type: 1 or 2; constant
 * @mr: region it is bound to and counted at, or NULL; under the key's lock
 * @set: type 2: windows of the QP it is bound to, or NULL; likewise
 * @entry: in @set; under that one's lock
 */
struct srdma_mw {
	struct srdma_key key;
	enum ib_mw_type type;
	struct srdma_mr *mr;
	struct srdma_mw_set *set;
	struct list_head entry;
};

/**
 * struct srdma_mw_bind - what a BIND_MW work request says
 * @mw_rkey: key of the window so far
 * @new_rkey: its lower 8 bits become those of the window's key
 * @mr_lkey: key of the region
 * @addr: first address of the window, in the region
 * @length: bytes; 0 unbinds a type 1 window
 * @access: IB_ACCESS_* flags
 */
struct srdma_mw_bind {
	u32 mw_rkey;
	u32 new_rkey;
	u32 mr_lkey;
	u64 addr;
	u64 length;
	u32 access;
};

void srdma_mw_end(struct srdma_mw *mw);

enum srdma_mem_why __must_check
srdma_mw_bind(const struct srdma_mem_who *who,
	      const struct srdma_mw_bind *bind);
enum srdma_mem_why __must_check
srdma_mw_invalidate(const struct srdma_mem_who *who, struct srdma_mw *mw,
		    u32 key, bool remote);

void srdma_mw_set_init(struct srdma_mw_set *set);
void srdma_mw_set_drop(struct srdma_mw_set *set);

#endif
