// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What tests stand on: two ends, memory, and requests that are waited for. */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "consumer.h"

#define PORT	1

/**
 * struct thing - something that goes with the world
 * @entry: in world.things or world.memory
 * @end: ends it
 * @arg: for @end
 */
struct thing {
	struct list_head entry;
	void (*end)(void *arg);
	void *arg;
};

/* Keeps the first complaint; later ones are consequences. */
int complain(struct world *w, const char *file, int line, const char *fmt, ...)
{
	size_t at = 0;
	va_list args;

	if (w->why[0])
		return -EBADE;
	at = scnprintf(w->why, sizeof(w->why), "%s:%d: ", kbasename(file),
		       line);
	va_start(args, fmt);
	vscnprintf(w->why + at, sizeof(w->why) - at, fmt, args);
	va_end(args);
	return -EBADE;
}

static int remember(struct world *w, struct list_head *list,
		    void (*end)(void *arg), void *arg)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL);

	if (!thing) {
		end(arg);
		return FAIL(w, "no memory");
	}
	thing->end = end;
	thing->arg = arg;
	list_add(&thing->entry, list);
	return 0;
}

static void forget_all(struct list_head *list)
{
	struct thing *thing, *next;

	list_for_each_entry_safe(thing, next, list, entry) {
		thing->end(thing->arg);
		list_del(&thing->entry);
		kfree(thing);
	}
}

/* Has @end called with @arg when the world ends; at once where it cannot. */
int world_own(struct world *w, void (*end)(void *arg), void *arg)
{
	return remember(w, &w->things, end, arg);
}

/* The same for memory, once no QP and no CQ uses it any more. */
int world_keep(struct world *w, void (*end)(void *arg), void *arg)
{
	return remember(w, &w->memory, end, arg);
}

/* ---- ends ---- */

/* The core fills the GID table a moment after the link is there. */
static int find_gid(struct end *e)
{
	unsigned long end = jiffies + PATIENCE;
	const struct ib_gid_attr *attr;
	bool found;
	int i;

	do {
		for (i = 0; i < 16; i++) {
			attr = rdma_get_gid_attr(e->dev, PORT, i);
			if (IS_ERR(attr))
				continue;
			found = attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
				ipv6_addr_v4mapped((void *)&attr->gid);
			e->gid = attr->gid;
			rdma_put_gid_attr(attr);
			e->gid_index = i;
			if (found)
				return 0;
		}
		msleep(20);
	} while (time_before(jiffies, end));
	return FAIL(e->w, "%s has no GID", dev_name(&e->dev->dev));
}

void end_ah_attr(const struct end *e, const struct end *to,
		 struct rdma_ah_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(attr, PORT);
	rdma_ah_set_grh(attr, NULL, 0, e->gid_index, 64, 0);
	rdma_ah_set_dgid_raw(attr, (void *)&to->gid);
}

static void end_qp(void *arg)
{
	struct ib_qp *qp = arg;

	ib_destroy_qp(qp);
}

int end_qp_create(struct end *e, const struct setup *how, struct ib_qp **qp)
{
	struct ib_qp_init_attr init = {
		.event_handler = how->on_event,
		.qp_context = e->w,
		.send_cq = e->send_cq,
		.recv_cq = e->recv_cq,
		.srq = e->srq,
		.cap = {
			.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = how->max_sge ?: 4,
			.max_recv_sge = how->max_sge ?: 4,
			.max_inline_data = how->max_inline,
			.max_rdma_ctxs = e == &e->w->a ? how->rw_ctxs : 0,
		},
		.sq_sig_type = how->sig_all ? IB_SIGNAL_ALL_WR :
					      IB_SIGNAL_REQ_WR,
		.qp_type = how->type,
		.port_num = PORT,
	};

	*qp = ib_create_qp(e->pd, &init);
	if (IS_ERR(*qp))
		return FAIL(e->w, "no QP: %ld", PTR_ERR(*qp));
	return world_own(e->w, end_qp, *qp);
}

static int to_init(struct end *e, struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = ALL_ACCESS,
		.qkey = 0x11111111,
	};
	int mask = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT;

	mask |= qp->qp_type == IB_QPT_UD ? IB_QP_QKEY : IB_QP_ACCESS_FLAGS;
	CHECK_EQ(e->w, 0, ib_modify_qp(qp, &attr, mask));
	return 0;
}

static int to_rtr(struct end *e, struct ib_qp *qp, const struct end *to,
		  u32 dest_qpn)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = dest_qpn,
		.rq_psn = 0xfffff0,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = 1,
	};
	int mask = IB_QP_STATE;

	end_ah_attr(e, to, &attr.ah_attr);
	if (qp->qp_type != IB_QPT_UD)
		mask |= IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
			IB_QP_RQ_PSN;
	if (qp->qp_type == IB_QPT_RC)
		mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	CHECK_EQ(e->w, 0, ib_modify_qp(qp, &attr, mask));
	return 0;
}

static int to_rts(struct end *e, struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.sq_psn = 0xfffff0,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 16,
	};
	int mask = IB_QP_STATE | IB_QP_SQ_PSN;

	if (qp->qp_type == IB_QPT_RC)
		mask |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			IB_QP_MAX_QP_RD_ATOMIC;
	CHECK_EQ(e->w, 0, ib_modify_qp(qp, &attr, mask));
	return 0;
}

int end_ready(struct end *e)
{
	return to_rts(e, e->qp);
}

int end_qp_connect(struct end *e, struct ib_qp *qp, const struct end *to,
		   u32 dest_qpn, bool only_rtr)
{
	TRY(to_init(e, qp));
	TRY(to_rtr(e, qp, to, dest_qpn));
	return only_rtr ? 0 : to_rts(e, qp);
}

static int open_srq(struct end *e, const struct setup *how)
{
	struct ib_srq_init_attr init = {
		.event_handler = how->on_event,
		.srq_context = e->w,
		.attr.max_wr = DEPTH,
		.attr.max_sge = how->max_sge ?: 4,
		.srq_type = IB_SRQT_BASIC,
	};
	struct ib_srq *srq = ib_create_srq(e->pd, &init);

	if (IS_ERR(srq))
		return FAIL(e->w, "no SRQ: %ld", PTR_ERR(srq));
	e->srq = srq;
	return 0;
}

static int open_cq(struct end *e, const struct setup *how, struct ib_cq **out)
{
	int cqe = how->cqe ?: 4 * DEPTH;
	struct ib_cq *cq;

	cq = ib_alloc_cq(e->dev, e->w, cqe, 0, how->poll);
	if (IS_ERR(cq))
		return FAIL(e->w, "no CQ: %ld", PTR_ERR(cq));
	*out = cq;
	return 0;
}

static int open_end(struct world *w, struct end *e, struct ib_device *dev)
{
	const struct setup *how = &w->test->how;
	struct ib_pd *pd;

	e->w = w;
	e->dev = dev;
	TRY(find_gid(e));
	pd = ib_alloc_pd(dev, how->global_rkey ? IB_PD_UNSAFE_GLOBAL_RKEY : 0);
	if (IS_ERR(pd))
		return FAIL(w, "no PD: %ld", PTR_ERR(pd));
	e->pd = pd;
	TRY(open_cq(e, how, &e->send_cq));
	TRY(open_cq(e, how, &e->recv_cq));
	if (how->use_srq)
		TRY(open_srq(e, how));
	return how->type ? end_qp_create(e, how, &e->qp) : 0;
}

int world_open(struct world *w, struct ib_device *a, struct ib_device *b)
{
	const struct setup *how = &w->test->how;

	INIT_LIST_HEAD(&w->things);
	INIT_LIST_HEAD(&w->memory);
	/* The core asks the device whether reads shall be registered. */
	w->max_sgl_rd = a->attrs.max_sgl_rd;
	if (how->rw_mrs)
		a->attrs.max_sgl_rd = 1;
	TRY(open_end(w, &w->a, a));
	TRY(open_end(w, &w->b, b));
	if (!how->type)
		return 0;
	TRY(end_qp_connect(&w->a, w->a.qp, &w->b, w->b.qp->qp_num, false));
	return end_qp_connect(&w->b, w->b.qp, &w->a, w->a.qp->qp_num,
			      how->only_rtr);
}

static void close_queues(struct end *e)
{
	if (e->srq)
		ib_destroy_srq(e->srq);
	/* No handler runs any more when these return. */
	if (e->recv_cq)
		ib_free_cq(e->recv_cq);
	if (e->send_cq)
		ib_free_cq(e->send_cq);
}

static void close_pd(struct end *e)
{
	if (e->pd)
		ib_dealloc_pd(e->pd);
}

void world_close(struct world *w)
{
	forget_all(&w->things);
	close_queues(&w->a);
	close_queues(&w->b);
	forget_all(&w->memory);
	close_pd(&w->a);
	close_pd(&w->b);
	if (w->a.dev)
		w->a.dev->attrs.max_sgl_rd = w->max_sgl_rd;
}

/* ---- requests ---- */

static void req_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct req *req = container_of(wc->wr_cqe, struct req, cqe);

	req->wc = *wc;
	atomic_inc(&req->times);
	complete(&req->done);
}

static void free_memory(void *arg)
{
	kfree(arg);
}

/* NULL without memory, which the posting of it complains of. */
struct req *req_new(struct world *w)
{
	struct req *req = kzalloc(sizeof(*req), GFP_KERNEL);

	if (!req)
		return NULL;
	req->cqe.done = req_done;
	init_completion(&req->done);
	return world_keep(w, free_memory, req) ? NULL : req;
}

static void poll_directly(struct world *w)
{
	ib_process_cq_direct(w->a.send_cq, 16);
	ib_process_cq_direct(w->a.recv_cq, 16);
	ib_process_cq_direct(w->b.send_cq, 16);
	ib_process_cq_direct(w->b.recv_cq, 16);
}

/* Until it has completed, however. */
int req_wait(struct world *w, struct req *req)
{
	unsigned long end = jiffies + PATIENCE;

	if (w->test->how.poll != IB_POLL_DIRECT) {
		if (!wait_for_completion_timeout(&req->done, PATIENCE))
			return FAIL(w, "a request does not complete");
		return 0;
	}
	while (!try_wait_for_completion(&req->done)) {
		if (time_after(jiffies, end))
			return FAIL(w, "a request does not complete");
		poll_directly(w);
		cond_resched();
	}
	return 0;
}

int req_expect(struct world *w, struct req *req, enum ib_wc_status status)
{
	TRY(req_wait(w, req));
	if (req->wc.status != status)
		return FAIL(w, "completed with '%s' and not with '%s'",
			    ib_wc_status_msg(req->wc.status),
			    ib_wc_status_msg(status));
	return 0;
}

static int refused(struct end *e, int err)
{
	return err ? FAIL(e->w, "posting fails with %d", err) : 0;
}

int post_recv(struct end *e, struct req *req, struct ib_sge *sge, int num_sge)
{
	struct ib_recv_wr wr = {
		.wr_cqe = req ? &req->cqe : NULL,
		.sg_list = sge,
		.num_sge = num_sge,
	};

	CHECK(e->w, req);
	return refused(e, e->srq ? ib_post_srq_recv(e->srq, &wr, NULL) :
				   ib_post_recv(e->qp, &wr, NULL));
}

int post_list(struct end *e, const struct ib_send_wr *wr)
{
	return refused(e, ib_post_send(e->qp, wr, NULL));
}

int post_send(struct end *e, struct req *req, struct ib_sge *sge, int num_sge,
	      int flags)
{
	struct ib_send_wr wr = {
		.wr_cqe = req ? &req->cqe : NULL,
		.sg_list = sge,
		.num_sge = num_sge,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED | flags,
	};

	CHECK(e->w, req);
	return post_list(e, &wr);
}

int post_rdma(struct end *e, struct req *req, enum ib_wr_opcode opcode,
	      struct ib_sge *sge, int num_sge, u64 remote_addr, u32 rkey)
{
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = req ? &req->cqe : NULL,
		.wr.sg_list = sge,
		.wr.num_sge = num_sge,
		.wr.opcode = opcode,
		.wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = remote_addr,
		.rkey = rkey,
	};

	CHECK(e->w, req);
	return post_list(e, &wr.wr);
}

/* One message from a to b, which shows that all is well. */
int exchange(struct world *w, u32 len, u32 seed)
{
	struct buf *from = buf_new(&w->a, max(len, 1U));
	struct buf *to = buf_new(&w->b, max(len, 1U));
	struct req *sent = req_new(w), *got = req_new(w);
	struct ib_sge from_sge, to_sge;

	CHECK(w, from && to);
	from_sge = buf_sge(from, 0, len);
	to_sge = buf_sge(to, 0, len);
	buf_fill(from, 0, len, seed);
	TRY(post_recv(&w->b, got, &to_sge, 1));
	TRY(post_send(&w->a, sent, &from_sge, 1, 0));
	TRY(req_expect(w, sent, IB_WC_SUCCESS));
	TRY(req_expect(w, got, IB_WC_SUCCESS));
	CHECK_EQ(w, len, got->wc.byte_len);
	return buf_expect(w, to, 0, len, seed);
}
