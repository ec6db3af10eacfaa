/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * User contexts and protection domains, and how driver data of commands is
 * checked and answered.
 */
#ifndef SRDMA_UCONTEXT_H
#define SRDMA_UCONTEXT_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/softrdma-abi.h>

/**
 * struct srdma_ucontext - an open command file
 * @ib: the core's part
 * @mm: of the program that opened it: only its address
 */
struct srdma_ucontext {
	struct ib_ucontext ib;
	const struct mm_struct *mm;
};

/**
 * struct srdma_pd - a protection domain
 * @ib: the core's part
 */
struct srdma_pd {
	struct ib_pd ib;
};

int srdma_ucontext_alloc(struct ib_ucontext *ib, struct ib_udata *udata);
void srdma_ucontext_dealloc(struct ib_ucontext *ib);
void srdma_ucontext_disassociate(struct ib_ucontext *ib);
int srdma_pd_alloc(struct ib_pd *ib, struct ib_udata *udata);
int srdma_pd_dealloc(struct ib_pd *ib, struct ib_udata *udata);

struct ib_ucontext *srdma_udata_ucontext(struct ib_udata *udata);
int srdma_udata_no_input(struct ib_udata *udata);
int srdma_udata_answer(struct ib_udata *udata, void *answer, size_t bytes);

#endif
