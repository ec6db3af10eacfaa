/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Limits of the memory that packets in inboxes take. No limit of a process
 * counts that memory, and it stays in use as long as the engines do not run.
 */
#ifndef SRDMA_BACKLOG_H
#define SRDMA_BACKLOG_H

#include <linux/sizes.h>
#include <linux/types.h>

struct sk_buff;
struct srdma_backlog;

/*
 * An inbox that holds less than this takes one more skb, whatever other inboxes
 * hold. So each QP makes progress, if slowly, while another user has drawn the
 * whole share.
 */
#define SRDMA_BACKLOG_OWN	SZ_64K

/* For more it draws from what all have in common, so much at a time. */
#define SRDMA_BACKLOG_CHUNK	SZ_256K

struct srdma_backlog *srdma_backlog_get(void);
void srdma_backlog_put(struct srdma_backlog *backlog);

bool srdma_backlog_draw(struct srdma_backlog *backlog);
void srdma_backlog_return(struct srdma_backlog *backlog, u32 chunks);

u32 srdma_backlog_charge(const struct sk_buff *skb);
struct sk_buff *srdma_backlog_compact(struct sk_buff *skb);

void srdma_backlog_init(void);

#endif
