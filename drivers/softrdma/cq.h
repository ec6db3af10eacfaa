/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Completion queues.
 */
#ifndef SRDMA_CQ_H
#define SRDMA_CQ_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "notice.h"
#include "ring.h"

/* What a consumer asked to be told. */
enum srdma_cq_arm {
	SRDMA_CQ_UNARMED,
	SRDMA_CQ_ARMED_SOLICITED,
	SRDMA_CQ_ARMED_ANY,
};

/* What the handlers of a kernel consumer are told. */
enum srdma_cq_notice {
	SRDMA_CQ_NOTICE_COMP,
	SRDMA_CQ_NOTICE_ERR,
};

/**
 * struct srdma_cq - a completion queue
 * @ib: the core's part
 * @lock: guards @ring, @most, @arm and @overrun; taken from any context
 * @ring: struct ib_uverbs_wc for user space, struct ib_wc for the kernel
 * @most: entries that the consumer may have left at most, by what it has shown
 * @arm: enum srdma_cq_arm
 * @overrun: an entry was lost; nothing is added any more
 * @resizing: one at a time; taken before @lock
 * @notice: tells a kernel consumer's handlers; enum srdma_cq_notice
 */
struct srdma_cq {
	struct ib_cq ib;
	spinlock_t lock;
	struct srdma_ring ring;
	u32 most;
	u8 arm;
	bool overrun;
	struct mutex resizing;
	struct srdma_notice notice;
};

static inline struct srdma_cq *to_scq(struct ib_cq *ib)
{
	return container_of(ib, struct srdma_cq, ib);
}

typedef int (*srdma_create_cq_udata_t)(struct ib_cq *ib,
				       const struct ib_cq_init_attr *attr,
				       struct ib_udata *udata);
struct uverbs_attr_bundle;

int srdma_cq_create(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		    struct ib_udata *udata);
int srdma_cq_create_attrs(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs);
#ifdef SRDMA_HAVE_RESIZE_USER_CQ
int srdma_cq_resize(struct ib_cq *ib, unsigned int cqe, struct ib_udata *udata);
#else
int srdma_cq_resize(struct ib_cq *ib, int cqe, struct ib_udata *udata);
#endif
int srdma_cq_destroy(struct ib_cq *ib, struct ib_udata *udata);
int srdma_cq_poll(struct ib_cq *ib, int max, struct ib_wc *wc);
int srdma_cq_peek(struct ib_cq *ib, int max);
int srdma_cq_arm(struct ib_cq *ib, enum ib_cq_notify_flags flags);

bool srdma_cq_add(struct srdma_cq *cq, const struct ib_wc *wc, bool solicited);

#endif
