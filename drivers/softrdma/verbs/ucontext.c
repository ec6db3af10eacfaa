// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * User contexts and protection domains; driver data of commands.
 */
#include <linux/sched.h>
#include <rdma/rdma_user_rxe.h>

#include "engine/urge.h"
#include "objects/device.h"
#include "verbs/refuse.h"
#include "verbs/ucontext.h"

/* The layout that the stock provider was built with. */
#define SAME_OFFSET(ours, member, theirs, their_member)			\
	static_assert(offsetof(ours, member) ==				\
		      offsetof(theirs, their_member))

SAME_OFFSET(struct srdma_abi_ring, index_mask,
	    struct rxe_queue_buf, index_mask);
SAME_OFFSET(struct srdma_abi_ring, producer_index,
	    struct rxe_queue_buf, producer_index);
SAME_OFFSET(struct srdma_abi_ring, consumer_index,
	    struct rxe_queue_buf, consumer_index);
static_assert(sizeof(struct srdma_abi_ring) == SRDMA_ABI_RING_DATA);
static_assert(offsetof(struct rxe_queue_buf, data) == SRDMA_ABI_RING_DATA);

SAME_OFFSET(struct srdma_abi_send_wqe, opcode,
	    struct rxe_send_wqe, wr.opcode);
SAME_OFFSET(struct srdma_abi_send_wqe, send_flags,
	    struct rxe_send_wqe, wr.send_flags);
SAME_OFFSET(struct srdma_abi_send_wqe, imm_data,
	    struct rxe_send_wqe, wr.ex.imm_data);
SAME_OFFSET(struct srdma_abi_send_wqe, rdma.rkey,
	    struct rxe_send_wqe, wr.wr.rdma.rkey);
SAME_OFFSET(struct srdma_abi_send_wqe, atomic.compare_add,
	    struct rxe_send_wqe, wr.wr.atomic.compare_add);
SAME_OFFSET(struct srdma_abi_send_wqe, atomic.rkey,
	    struct rxe_send_wqe, wr.wr.atomic.rkey);
SAME_OFFSET(struct srdma_abi_send_wqe, ud.remote_qkey,
	    struct rxe_send_wqe, wr.wr.ud.remote_qkey);
SAME_OFFSET(struct srdma_abi_send_wqe, ud.ah_num,
	    struct rxe_send_wqe, wr.wr.ud.ah_num);
SAME_OFFSET(struct srdma_abi_send_wqe, mw.mw_rkey,
	    struct rxe_send_wqe, wr.wr.mw.mw_rkey);
SAME_OFFSET(struct srdma_abi_send_wqe, mw.access,
	    struct rxe_send_wqe, wr.wr.mw.access);
SAME_OFFSET(struct srdma_abi_send_wqe, dma.length,
	    struct rxe_send_wqe, dma.length);
SAME_OFFSET(struct srdma_abi_send_wqe, dma.num_sge,
	    struct rxe_send_wqe, dma.num_sge);
static_assert(sizeof(struct srdma_abi_send_wqe) ==
	      offsetof(struct rxe_send_wqe, dma.sge));

SAME_OFFSET(struct srdma_abi_recv_wqe, dma.num_sge,
	    struct rxe_recv_wqe, dma.num_sge);
static_assert(sizeof(struct srdma_abi_recv_wqe) ==
	      offsetof(struct rxe_recv_wqe, dma.sge));
static_assert(sizeof(struct srdma_abi_sge) == sizeof(struct rxe_sge));
static_assert(sizeof(struct srdma_abi_map) == sizeof(struct mminfo));
static_assert(sizeof(struct srdma_abi_create_qp_resp) ==
	      sizeof(struct rxe_create_qp_resp));
static_assert(sizeof(struct srdma_abi_create_srq_resp) ==
	      sizeof(struct rxe_create_srq_resp));
static_assert(sizeof(struct srdma_abi_create_ah_resp) ==
	      sizeof(struct rxe_create_ah_resp));

/* The context of the caller of a command; NULL for a kernel consumer. */
struct ib_ucontext *srdma_udata_ucontext(struct ib_udata *udata)
{
	struct srdma_ucontext *uc;

	uc = rdma_udata_to_drv_context(udata, struct srdma_ucontext, ib);
	return uc ? &uc->ib : NULL;
}

/* For commands without driver data of their own: a later user space could
 * mean something by it that we would miss.
 */
int srdma_udata_no_input(struct ib_udata *udata)
{
	if (udata && udata->inlen &&
	    !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EINVAL;
	return 0;
}

/**
 * srdma_udata_answer - hand the driver's part of an answer to user space
 * @udata: of the command; NULL for a kernel consumer
 * @answer: what to hand over
 * @bytes: its length; user space cannot do without any of it
 */
int srdma_udata_answer(struct ib_udata *udata, void *answer, size_t bytes)
{
	if (!udata)
		return 0;
	if (udata->outlen < bytes)
		return -EINVAL;
	return ib_copy_to_udata(udata, answer, bytes);
}

static struct srdma_ucontext *to_suc(struct ib_ucontext *ib)
{
	return container_of(ib, struct srdma_ucontext, ib);
}

int srdma_ucontext_alloc(struct ib_ucontext *ib, struct ib_udata *udata)
{
	struct srdma_dev *dev = to_sdev(ib->device);
	int err;

	err = srdma_refuse_by_rule(ib->device, true,
				   SRDMA_NL_VERB_OPEN_DEVICE, 0) ?:
	      srdma_udata_no_input(udata) ?: srdma_bounds_room();
	err = err ?: srdma_refuse_beyond(dev, true, SRDMA_OBJ_UCONTEXT);
	if (err)
		return err;
	to_suc(ib)->mm = current->mm;
	srdma_urge_for(current->mm);
	return 0;
}

void srdma_ucontext_dealloc(struct ib_ucontext *ib)
{
	srdma_urge_no_more_for(to_suc(ib)->mm);
	srdma_dev_uncount(to_sdev(ib->device), SRDMA_OBJ_UCONTEXT);
}

/*
 * The device goes away while the context is open. Nothing needs to be unmapped:
 * rings are plain memory that the mapping keeps, and the core destroys every
 * object after this. The core does not wait for user space because this operation
 * exists.
 */
void srdma_ucontext_disassociate(struct ib_ucontext *ib)
{
}

int srdma_pd_alloc(struct ib_pd *ib, struct ib_udata *udata)
{
	struct srdma_dev *dev = to_sdev(ib->device);
	int err;

	err = srdma_refuse_by_rule(ib->device, udata,
				   SRDMA_NL_VERB_ALLOC_PD, 0) ?:
	      srdma_udata_no_input(udata);
	/* A kernel consumer's is not charged to the task that happens to run. */
	if (!err && udata)
		err = srdma_bounds_room();
	return err ?: srdma_refuse_beyond(dev, udata, SRDMA_OBJ_PD);
}

int srdma_pd_dealloc(struct ib_pd *ib, struct ib_udata *udata)
{
	srdma_dev_uncount(to_sdev(ib->device), SRDMA_OBJ_PD);
	return 0;
}
