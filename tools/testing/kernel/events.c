// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Asynchronous events: which, how often, and that no verb calls the handler. */
#include <linux/delay.h>
#include <linux/jiffies.h>

#include "consumer.h"

#define KINDS	32

/**
 * struct seen - what the handler was called with
 * @caller: task that is inside a verb, bottom halves disabled
 * @inside: times that it was called by that task
 * @count: times, for each kind
 */
struct seen {
	struct task_struct *caller;
	atomic_t inside;
	atomic_t count[KINDS];
};

static struct seen seen;

static void on_event(struct ib_event *event, void *context)
{
	if (READ_ONCE(seen.caller) == current)
		atomic_inc(&seen.inside);
	if (event->event < KINDS)
		atomic_inc(&seen.count[event->event]);
}

static void forget(void)
{
	memset(&seen, 0, sizeof(seen));
}

/* With softirqs kept out, whoever calls the handler as us is a verb of ours. */
static void enter(void)
{
	local_bh_disable();
	WRITE_ONCE(seen.caller, current);
}

static void leave(void)
{
	WRITE_ONCE(seen.caller, NULL);
	local_bh_enable();
}

static int expect_event(struct world *w, enum ib_event_type type)
{
	unsigned long end = jiffies + PATIENCE;

	while (!atomic_read(&seen.count[type])) {
		if (time_after(jiffies, end))
			return FAIL(w, "no event '%s'", ib_event_msg(type));
		usleep_range(1000, 2000);
	}
	/* One too many would come soon. */
	msleep(20);
	CHECK_EQ(w, 1, atomic_read(&seen.count[type]));
	CHECK_EQ(w, 0, atomic_read(&seen.inside));
	return 0;
}

static int established(struct world *w)
{
	struct req *got = req_new(w), *sent = req_new(w);
	int err;

	forget();
	TRY(post_recv(&w->b, got, NULL, 0));
	enter();
	err = post_send(&w->a, sent, NULL, 0, 0);
	leave();
	TRY(err);
	TRY(req_expect(w, got, IB_WC_SUCCESS));
	TRY(req_expect(w, sent, IB_WC_SUCCESS));
	TRY(expect_event(w, IB_EVENT_COMM_EST));
	return end_ready(&w->b);
}

static int srq_limit(struct world *w)
{
	struct ib_srq_attr attr = { .srq_limit = 2 };
	struct req *got = req_new(w), *sent;
	int i, err;

	forget();
	for (i = 0; i < 4; i++)
		TRY(post_recv(&w->b, got, NULL, 0));
	CHECK_EQ(w, 0, ib_modify_srq(w->b.srq, &attr, IB_SRQ_LIMIT));
	for (i = 0; i < 4; i++) {
		sent = req_new(w);
		enter();
		err = post_send(&w->a, sent, NULL, 0, 0);
		leave();
		TRY(err);
		TRY(req_expect(w, sent, IB_WC_SUCCESS));
		if (i < 2)
			CHECK_EQ(w, 0, atomic_read(
				 &seen.count[IB_EVENT_SRQ_LIMIT_REACHED]));
	}
	return expect_event(w, IB_EVENT_SRQ_LIMIT_REACHED);
}

static int last_wqe(struct world *w)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	forget();
	CHECK_EQ(w, 0, ib_modify_qp(w->b.qp, &attr, IB_QP_STATE));
	return expect_event(w, IB_EVENT_QP_LAST_WQE_REACHED);
}

/* A CQ that nobody polls runs over; its QP tells. */
static int cq_overrun(struct world *w)
{
	int i, err = 0, room = w->a.send_cq->cqe;
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	forget();
	for (i = 0; i <= room && !err; i++) {
		struct req *req = req_new(w);

		enter();
		err = post_rdma(&w->a, req, IB_WR_RDMA_WRITE, NULL, 0, 0, 0);
		leave();
	}
	TRY(err);
	TRY(expect_event(w, IB_EVENT_QP_FATAL));
	CHECK_EQ(w, 0, ib_query_qp(w->a.qp, &attr, IB_QP_STATE, &init));
	CHECK_EQ(w, IB_QPS_ERR, attr.qp_state);
	return 0;
}

const struct test event_tests[] = {
	{ "event__communication_established", established,
	  .how = { .type = IB_QPT_RC, .poll = IB_POLL_SOFTIRQ,
		   .only_rtr = true, .on_event = on_event } },
	{ "event__srq_limit", srq_limit,
	  .how = { .type = IB_QPT_RC, .poll = IB_POLL_SOFTIRQ,
		   .use_srq = true, .on_event = on_event } },
	{ "event__last_wqe", last_wqe,
	  .how = { .type = IB_QPT_RC, .poll = IB_POLL_SOFTIRQ,
		   .use_srq = true, .on_event = on_event } },
	{ "event__cq_overrun", cq_overrun,
	  .how = { .type = IB_QPT_RC, .poll = IB_POLL_DIRECT, .cqe = 4,
		   .on_event = on_event } },
	{}
};
