// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ib_drain_*(): afterwards no completion of a QP is outstanding. */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "consumer.h"

#define IN_FLIGHT	16
#define WARM_UP		500

/**
 * struct load - traffic that keeps itself going, from a to b
 * @w: world
 * @lock: posting and @stopped
 * @stopped: nothing is to be posted any more
 * @send: of the sends
 * @recv: of the receives
 * @from: what is sent
 * @to: where it goes
 * @sent: sends posted
 * @send_ended: sends completed
 * @recvs: receives posted
 * @recv_ended: receives completed
 * @failed: posts that were refused
 */
struct load {
	struct world *w;
	spinlock_t lock;
	bool stopped;
	struct ib_cqe send;
	struct ib_cqe recv;
	struct buf *from;
	struct buf *to;
	atomic_t sent;
	atomic_t send_ended;
	atomic_t recvs;
	atomic_t recv_ended;
	atomic_t failed;
};

/* Under the lock, as it is often done, with interrupts disabled. */
static void load_send(struct load *load)
{
	struct ib_sge sge = buf_sge(load->from, 0, 3000);
	struct ib_send_wr wr = {
		.wr_cqe = &load->send,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	unsigned long flags;

	spin_lock_irqsave(&load->lock, flags);
	if (!load->stopped) {
		atomic_inc(&load->sent);
		if (ib_post_send(load->w->a.qp, &wr, NULL))
			atomic_inc(&load->failed);
	}
	spin_unlock_irqrestore(&load->lock, flags);
}

static void load_recv(struct load *load)
{
	struct ib_sge sge = buf_sge(load->to, 0, 3000);
	struct end *b = &load->w->b;
	struct ib_recv_wr wr = {
		.wr_cqe = &load->recv,
		.sg_list = &sge,
		.num_sge = 1,
	};
	unsigned long flags;
	int err;

	spin_lock_irqsave(&load->lock, flags);
	if (!load->stopped) {
		atomic_inc(&load->recvs);
		err = b->srq ? ib_post_srq_recv(b->srq, &wr, NULL) :
			       ib_post_recv(b->qp, &wr, NULL);
		if (err)
			atomic_inc(&load->failed);
	}
	spin_unlock_irqrestore(&load->lock, flags);
}

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct load *load = container_of(wc->wr_cqe, struct load, send);

	atomic_inc(&load->send_ended);
	if (wc->status == IB_WC_SUCCESS)
		load_send(load);
}

static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct load *load = container_of(wc->wr_cqe, struct load, recv);

	atomic_inc(&load->recv_ended);
	if (wc->status == IB_WC_SUCCESS)
		load_recv(load);
}

static void free_load(void *arg)
{
	kfree(arg);
}

static int start(struct world *w, struct load **out)
{
	struct load *load = kzalloc(sizeof(*load), GFP_KERNEL);
	unsigned long end = jiffies + PATIENCE;
	int i;

	CHECK(w, load);
	TRY(world_keep(w, free_load, load));
	load->w = w;
	spin_lock_init(&load->lock);
	load->send.done = send_done;
	load->recv.done = recv_done;
	load->from = buf_new(&w->a, 3000);
	load->to = buf_new(&w->b, 3000);
	CHECK(w, load->from && load->to);
	for (i = 0; i < 2 * IN_FLIGHT; i++)
		load_recv(load);
	for (i = 0; i < IN_FLIGHT; i++)
		load_send(load);
	while (atomic_read(&load->recv_ended) < WARM_UP) {
		if (time_after(jiffies, end))
			return FAIL(w, "only %d of the load arrive",
				    atomic_read(&load->recv_ended));
		usleep_range(1000, 2000);
	}
	*out = load;
	return 0;
}

static void stop(struct load *load)
{
	spin_lock_irq(&load->lock);
	load->stopped = true;
	spin_unlock_irq(&load->lock);
}

static int check_sends(struct world *w, struct load *load)
{
	CHECK_EQ(w, atomic_read(&load->sent), atomic_read(&load->send_ended));
	CHECK_EQ(w, 0, atomic_read(&load->failed));
	return 0;
}

static int check_recvs(struct world *w, struct load *load)
{
	CHECK_EQ(w, atomic_read(&load->recvs), atomic_read(&load->recv_ended));
	CHECK_EQ(w, 0, atomic_read(&load->failed));
	return 0;
}

static int drain_both(struct world *w)
{
	struct load *load;

	TRY(start(w, &load));
	stop(load);
	ib_drain_qp(w->a.qp);
	TRY(check_sends(w, load));
	ib_drain_qp(w->b.qp);
	return check_recvs(w, load);
}

static int drain_receiver_first(struct world *w)
{
	struct load *load;

	TRY(start(w, &load));
	stop(load);
	ib_drain_rq(w->b.qp);
	TRY(check_recvs(w, load));
	ib_drain_sq(w->a.qp);
	return check_sends(w, load);
}

/* A shared queue keeps its requests; draining does not wait for them. */
static int drain_with_srq(struct world *w)
{
	unsigned long begun;
	struct load *load;

	TRY(start(w, &load));
	stop(load);
	begun = jiffies;
	ib_drain_qp(w->b.qp);
	ib_drain_qp(w->a.qp);
	CHECK(w, time_before(jiffies, begun + 5 * HZ));
	return check_sends(w, load);
}

static int drain_idle_direct(struct world *w)
{
	struct req *got = req_new(w);
	int i;

	for (i = 0; i < IN_FLIGHT; i++)
		TRY(post_recv(&w->b, got, NULL, 0));
	ib_drain_qp(w->b.qp);
	ib_drain_qp(w->a.qp);
	CHECK_EQ(w, IN_FLIGHT, atomic_read(&got->times));
	CHECK_EQ(w, IB_WC_WR_FLUSH_ERR, got->wc.status);
	return 0;
}

/* Again and again, with a new connection each time on the same queues. */
static int drain_and_reconnect(struct world *w)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };
	struct load *load;
	int i;

	for (i = 0; i < 10; i++) {
		TRY(start(w, &load));
		stop(load);
		ib_drain_qp(w->a.qp);
		ib_drain_qp(w->b.qp);
		TRY(check_sends(w, load));
		TRY(check_recvs(w, load));
		CHECK_EQ(w, 0, ib_modify_qp(w->a.qp, &attr, IB_QP_STATE));
		CHECK_EQ(w, 0, ib_modify_qp(w->b.qp, &attr, IB_QP_STATE));
		TRY(end_qp_connect(&w->a, w->a.qp, &w->b, w->b.qp->qp_num,
				   false));
		TRY(end_qp_connect(&w->b, w->b.qp, &w->a, w->a.qp->qp_num,
				   false));
	}
	return exchange(w, 10000, 1);
}

/*
 * The device of b goes: its remove callback waits until we have let go of it,
 * which must not take longer than a drain does.
 */
static int removed_under_load(struct world *w)
{
	unsigned long end = jiffies + PATIENCE;
	struct load *load;

	TRY(start(w, &load));
	while (!READ_ONCE(*w->b.is_going)) {
		if (time_after(jiffies, end))
			return FAIL(w, "nobody removes the device");
		usleep_range(1000, 2000);
	}
	stop(load);
	ib_drain_qp(w->b.qp);
	TRY(check_recvs(w, load));
	ib_drain_qp(w->a.qp);
	return check_sends(w, load);
}

#define RC(context)	.how = { .type = IB_QPT_RC, .poll = context }

const struct test drain_tests[] = {
	{ "drain__both__softirq", drain_both, RC(IB_POLL_SOFTIRQ) },
	{ "drain__both__workqueue", drain_both, RC(IB_POLL_WORKQUEUE) },
	{ "drain__receiver_first", drain_receiver_first, RC(IB_POLL_SOFTIRQ) },
	{ "drain__with_srq", drain_with_srq,
	  .how = { .type = IB_QPT_RC, .poll = IB_POLL_SOFTIRQ,
		   .use_srq = true } },
	{ "drain__idle_direct", drain_idle_direct, RC(IB_POLL_DIRECT) },
	{ "drain__and_reconnect", drain_and_reconnect, RC(IB_POLL_SOFTIRQ) },
	{}
};

const struct test removal_tests[] = {
	{ "removed__under_load", removed_under_load, RC(IB_POLL_SOFTIRQ) },
	{}
};
