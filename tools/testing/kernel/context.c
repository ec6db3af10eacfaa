// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* From where a consumer may call verbs, and where it is called back. */
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "consumer.h"

static void free_priv(void *arg)
{
	kfree(arg);
}

static void *priv_new(struct world *w, size_t bytes)
{
	void *priv = kzalloc(bytes, GFP_KERNEL);

	if (!priv || world_keep(w, free_priv, priv))
		return NULL;
	w->priv = priv;
	return priv;
}

/* ---- from completions ---- */

struct game;

/**
 * struct player - one of two
 * @in: its receives
 * @out: its sends
 * @qp: where it plays
 * @game: what
 */
struct player {
	struct ib_cqe in;
	struct ib_cqe out;
	struct ib_qp *qp;
	struct game *game;
};

/**
 * struct game - a ball that goes to and fro by completions alone
 * @players: who
 * @left: exchanges to be made
 * @errors: completions and posts that failed
 * @over: no exchanges are left
 */
struct game {
	struct player players[2];
	atomic_t left;
	atomic_t errors;
	struct completion over;
};

static void note(struct game *game, bool wrong)
{
	if (wrong) {
		atomic_inc(&game->errors);
		complete(&game->over);
	}
}

static void hit(struct player *player)
{
	struct ib_send_wr wr = {
		.wr_cqe = &player->out,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	note(player->game, ib_post_send(player->qp, &wr, NULL));
}

static void expect_ball(struct player *player)
{
	struct ib_recv_wr wr = { .wr_cqe = &player->in };

	note(player->game, ib_post_recv(player->qp, &wr, NULL));
}

static void ball_came(struct ib_cq *cq, struct ib_wc *wc)
{
	struct player *player = container_of(wc->wr_cqe, struct player, in);
	struct game *game = player->game;

	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return;
	note(game, wc->status);
	if (atomic_dec_return(&game->left) <= 0) {
		complete(&game->over);
		return;
	}
	expect_ball(player);
	hit(player);
}

static void ball_left(struct ib_cq *cq, struct ib_wc *wc)
{
	struct player *player = container_of(wc->wr_cqe, struct player, out);

	note(player->game, wc->status && wc->status != IB_WC_WR_FLUSH_ERR);
}

static int posted_in_completions(struct world *w)
{
	struct game *game = priv_new(w, sizeof(*game));
	int i;

	CHECK(w, game);
	atomic_set(&game->left, 1000);
	init_completion(&game->over);
	for (i = 0; i < 2; i++) {
		struct player *player = &game->players[i];

		player->in.done = ball_came;
		player->out.done = ball_left;
		player->qp = i ? w->b.qp : w->a.qp;
		player->game = game;
	}
	expect_ball(&game->players[0]);
	expect_ball(&game->players[1]);
	hit(&game->players[0]);
	CHECK(w, wait_for_completion_timeout(&game->over, PATIENCE));
	CHECK_EQ(w, 0, atomic_read(&game->errors));
	CHECK_EQ(w, 0, atomic_read(&game->left));
	return 0;
}

/* ---- with interrupts disabled, in interrupts ---- */

/* A send and the receive it goes to, whose ends are waited for later. */
static int post_both(struct world *w, struct req *sent, struct req *got)
{
	TRY(post_recv(&w->b, got, NULL, 0));
	return post_send(&w->a, sent, NULL, 0, 0);
}

/**
 * struct held - a lock that posts are made under, and completions take
 * @sent: the send
 * @got: the receive
 * @lock: lock
 * @ended: completions
 * @both: the send and the receive have completed
 */
struct held {
	struct ib_cqe sent;
	struct ib_cqe got;
	spinlock_t lock;
	int ended;
	struct completion both;
};

static void held_done(struct held *held)
{
	unsigned long flags;

	spin_lock_irqsave(&held->lock, flags);
	if (++held->ended % 2 == 0)
		complete(&held->both);
	spin_unlock_irqrestore(&held->lock, flags);
}

static void held_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	held_done(container_of(wc->wr_cqe, struct held, sent));
}

static void held_got(struct ib_cq *cq, struct ib_wc *wc)
{
	held_done(container_of(wc->wr_cqe, struct held, got));
}

static int posted_irqs_disabled(struct world *w)
{
	struct held *held = priv_new(w, sizeof(*held));
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_recv_wr rwr = {};
	bool still_disabled, untouched;
	unsigned long flags;
	int i, err, before;

	CHECK(w, held);
	spin_lock_init(&held->lock);
	init_completion(&held->both);
	held->sent.done = held_sent;
	held->got.done = held_got;
	wr.wr_cqe = &held->sent;
	rwr.wr_cqe = &held->got;
	for (i = 0; i < 200; i++) {
		spin_lock_irqsave(&held->lock, flags);
		before = held->ended;
		err = ib_post_recv(w->b.qp, &rwr, NULL) ?:
		      ib_post_send(w->a.qp, &wr, NULL);
		still_disabled = irqs_disabled();
		untouched = held->ended == before;
		spin_unlock_irqrestore(&held->lock, flags);
		CHECK_EQ(w, 0, err);
		/* A real-time kernel has them enabled, but the lock is held. */
		CHECK(w, still_disabled || IS_ENABLED(CONFIG_PREEMPT_RT));
		CHECK(w, untouched);
		CHECK(w, wait_for_completion_timeout(&held->both, PATIENCE));
	}
	return 0;
}

/* The same with a lock that only softirqs are kept out by. */
static int posted_bh_disabled(struct world *w)
{
	struct held *held = priv_new(w, sizeof(*held));
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_recv_wr rwr = {};
	int i, err;

	CHECK(w, held);
	spin_lock_init(&held->lock);
	init_completion(&held->both);
	held->sent.done = held_sent;
	held->got.done = held_got;
	wr.wr_cqe = &held->sent;
	rwr.wr_cqe = &held->got;
	for (i = 0; i < 200; i++) {
		spin_lock_bh(&held->lock);
		err = ib_post_recv(w->b.qp, &rwr, NULL) ?:
		      ib_post_send(w->a.qp, &wr, NULL);
		spin_unlock_bh(&held->lock);
		CHECK_EQ(w, 0, err);
		CHECK(w, wait_for_completion_timeout(&held->both, PATIENCE));
	}
	return 0;
}

/**
 * struct interrupt - posts made in one
 * @w: world
 * @irq: a hard interrupt
 * @softirq: a soft one
 * @sent: the send
 * @got: the receive
 * @err: how posting ended
 * @was_right: it was in the interrupt it was to be in
 * @posted: it has
 */
struct interrupt {
	struct world *w;
	struct irq_work irq;
	struct tasklet_struct softirq;
	struct req *sent;
	struct req *got;
	int err;
	bool was_right;
	struct completion posted;
};

static void post_in_irq(struct irq_work *work)
{
	struct interrupt *it = container_of(work, struct interrupt, irq);

	/* On a real-time kernel what takes locks is a thread. */
	it->was_right = in_hardirq() || IS_ENABLED(CONFIG_PREEMPT_RT);
	it->err = post_both(it->w, it->sent, it->got);
	complete(&it->posted);
}

static void post_in_softirq(struct tasklet_struct *tasklet)
{
	struct interrupt *it = from_tasklet(it, tasklet, softirq);

	it->was_right = in_serving_softirq();
	it->err = post_both(it->w, it->sent, it->got);
	complete(&it->posted);
}

static int posted_in_interrupts(struct world *w, bool hard)
{
	struct interrupt *it = priv_new(w, sizeof(*it));
	int i;

	CHECK(w, it);
	it->w = w;
	it->sent = req_new(w);
	it->got = req_new(w);
	CHECK(w, it->sent && it->got);
	init_irq_work(&it->irq, post_in_irq);
	tasklet_setup(&it->softirq, post_in_softirq);
	init_completion(&it->posted);
	for (i = 0; i < 100; i++) {
		if (hard)
			irq_work_queue(&it->irq);
		else
			tasklet_schedule(&it->softirq);
		wait_for_completion(&it->posted);
		irq_work_sync(&it->irq);
		tasklet_kill(&it->softirq);
		TRY(it->err);
		CHECK(w, it->was_right);
		TRY(req_expect(w, it->sent, IB_WC_SUCCESS));
		TRY(req_expect(w, it->got, IB_WC_SUCCESS));
	}
	return 0;
}

static int posted_in_hardirq(struct world *w)
{
	return posted_in_interrupts(w, true);
}

static int posted_in_softirq(struct world *w)
{
	return posted_in_interrupts(w, false);
}

/* ---- from many CPUs ---- */

#define THREADS		4
#define MESSAGES	300
#define WINDOW		8

/**
 * struct crowd - threads that post to one QP
 * @w: world
 * @recv: of receives, which are posted again by their completion
 * @got: receives completed
 * @errors: what went wrong
 * @left: threads at work
 * @over: none is
 */
struct crowd {
	struct world *w;
	struct ib_cqe recv;
	atomic_t got;
	atomic_t errors;
	atomic_t left;
	struct completion over;
};

static void crowd_recv(struct crowd *crowd)
{
	struct ib_recv_wr wr = { .wr_cqe = &crowd->recv };

	if (ib_post_recv(crowd->w->b.qp, &wr, NULL))
		atomic_inc(&crowd->errors);
}

static void crowd_got(struct ib_cq *cq, struct ib_wc *wc)
{
	struct crowd *crowd = container_of(wc->wr_cqe, struct crowd, recv);

	if (wc->status)
		return;
	atomic_inc(&crowd->got);
	crowd_recv(crowd);
}

static int one_of_the_crowd(void *arg)
{
	struct crowd *crowd = arg;
	struct world *w = crowd->w;
	int i, wanted = 0;
	struct req *req;

	req = w->priv;
	for (i = 0; i < MESSAGES; i++) {
		struct ib_send_wr wr = {
			.wr_cqe = &req->cqe,
			.opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
		};

		if (ib_post_send(w->a.qp, &wr, NULL))
			atomic_inc(&crowd->errors);
		/* One completion is worth one send, whoever's it was. */
		if (++wanted <= WINDOW)
			continue;
		if (!wait_for_completion_timeout(&req->done, PATIENCE)) {
			atomic_inc(&crowd->errors);
			break;
		}
		wanted--;
	}
	if (atomic_dec_and_test(&crowd->left))
		complete(&crowd->over);
	return 0;
}

static int posted_by_many(struct world *w)
{
	struct crowd *crowd = priv_new(w, sizeof(*crowd));
	struct req *req = req_new(w);
	int i;

	CHECK(w, crowd && req);
	w->priv = req;
	crowd->w = w;
	crowd->recv.done = crowd_got;
	init_completion(&crowd->over);
	atomic_set(&crowd->left, THREADS);
	for (i = 0; i < DEPTH; i++)
		crowd_recv(crowd);
	for (i = 0; i < THREADS; i++) {
		struct task_struct *task;

		task = kthread_run(one_of_the_crowd, crowd, "srt_crowd/%d", i);
		if (IS_ERR(task)) {
			atomic_inc(&crowd->errors);
			if (atomic_dec_and_test(&crowd->left))
				complete(&crowd->over);
		}
	}
	/* They end by themselves, each wait of theirs has an end. */
	wait_for_completion(&crowd->over);
	CHECK_EQ(w, 0, atomic_read(&crowd->errors));
	for (i = 0; i < THREADS * WINDOW; i++)
		TRY(req_expect(w, req, IB_WC_SUCCESS));
	CHECK_EQ(w, THREADS * MESSAGES, atomic_read(&req->times));
	return 0;
}

/* ---- other verbs ---- */

/**
 * struct chore - work done in a completion
 * @cqe: completion
 * @w: world
 * @err: how it ended
 * @done: it has
 */
struct chore {
	struct ib_cqe cqe;
	struct world *w;
	int err;
	struct completion done;
};

static int replace_a_qp(struct world *w)
{
	struct ib_qp_init_attr init = {
		.send_cq = w->b.send_cq,
		.recv_cq = w->b.recv_cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp *qp = ib_create_qp(w->b.pd, &init);

	if (IS_ERR(qp))
		return FAIL(w, "no QP: %ld", PTR_ERR(qp));
	CHECK_EQ(w, 0, ib_destroy_qp(qp));
	return 0;
}

static void do_chore(struct ib_cq *cq, struct ib_wc *wc)
{
	struct chore *chore = container_of(wc->wr_cqe, struct chore, cqe);

	chore->err = wc->status ? -EIO : replace_a_qp(chore->w);
	complete(&chore->done);
}

/* Where completions may sleep, a QP of the same CQ may be destroyed. */
static int qp_destroyed_in_completion(struct world *w)
{
	struct chore *chore = priv_new(w, sizeof(*chore));
	struct ib_recv_wr wr = {};
	struct req *sent;
	int i;

	CHECK(w, chore);
	chore->w = w;
	chore->cqe.done = do_chore;
	init_completion(&chore->done);
	wr.wr_cqe = &chore->cqe;
	for (i = 0; i < 50; i++) {
		sent = req_new(w);
		CHECK_EQ(w, 0, ib_post_recv(w->b.qp, &wr, NULL));
		TRY(post_send(&w->a, sent, NULL, 0, 0));
		TRY(req_expect(w, sent, IB_WC_SUCCESS));
		CHECK(w, wait_for_completion_timeout(&chore->done, PATIENCE));
		CHECK_EQ(w, 0, chore->err);
	}
	return 0;
}

/**
 * struct locked - address handles are made and destroyed under a lock
 * @lock: lock
 * @softirq: what must not run meanwhile
 * @ran: it has
 */
struct locked {
	spinlock_t lock;
	struct tasklet_struct softirq;
	bool ran;
};

static void note_softirq(struct tasklet_struct *tasklet)
{
	struct locked *locked = from_tasklet(locked, tasklet, softirq);

	WRITE_ONCE(locked->ran, true);
}

/* A real-time kernel has interrupts enabled, and runs softirqs elsewhere. */
static bool kept_out(struct locked *locked)
{
	return IS_ENABLED(CONFIG_PREEMPT_RT) ||
	       (irqs_disabled() && !READ_ONCE(locked->ran));
}

/*
 * As the connection manager does, from under its locks. Whoever enables bottom
 * halves there runs the softirq that waits.
 */
static int ah_made_irqs_disabled(struct world *w)
{
	struct locked *locked = priv_new(w, sizeof(*locked));
	struct rdma_ah_attr attr;
	unsigned long flags;
	struct ib_ah *ah;
	bool disabled;
	int i;

	CHECK(w, locked);
	spin_lock_init(&locked->lock);
	tasklet_setup(&locked->softirq, note_softirq);
	for (i = 0; i < 50; i++) {
		end_ah_attr(&w->a, &w->b, &attr);
		locked->ran = false;
		spin_lock_irqsave(&locked->lock, flags);
		tasklet_schedule(&locked->softirq);
		ah = rdma_create_ah(w->a.pd, &attr, 0);
		disabled = kept_out(locked);
		if (!IS_ERR(ah))
			rdma_destroy_ah(ah, 0);
		disabled = disabled && kept_out(locked);
		spin_unlock_irqrestore(&locked->lock, flags);
		tasklet_kill(&locked->softirq);
		if (IS_ERR(ah))
			return FAIL(w, "no AH: %ld", PTR_ERR(ah));
		CHECK(w, disabled);
	}
	return 0;
}

/* Polling and arming, under a lock that keeps interrupts out. */
static int cq_polled_irqs_disabled(struct world *w)
{
	struct req *sent = req_new(w), *got = req_new(w);
	struct ib_wc wc;
	unsigned long flags;
	int i, polls, n = 0;
	bool disabled = true;

	CHECK(w, sent && got);
	for (i = 0; i < 50; i++) {
		TRY(post_both(w, sent, got));
		for (polls = 0; polls < 1000000 && n < 2 * (i + 1); polls++) {
			local_irq_save(flags);
			n += ib_poll_cq(w->a.send_cq, 1, &wc);
			n += ib_poll_cq(w->b.recv_cq, 1, &wc);
			disabled = disabled && irqs_disabled();
			local_irq_restore(flags);
			cond_resched();
		}
		CHECK_EQ(w, 2 * (i + 1), n);
	}
	CHECK(w, disabled);
	return 0;
}

#define RC(context)	.how = { .type = IB_QPT_RC, .poll = context }

const struct test context_tests[] = {
	{ "posted_in_completions__softirq", posted_in_completions,
	  RC(IB_POLL_SOFTIRQ) },
	{ "posted_in_completions__workqueue", posted_in_completions,
	  RC(IB_POLL_WORKQUEUE) },
	{ "posted_irqs_disabled", posted_irqs_disabled, RC(IB_POLL_SOFTIRQ) },
	{ "posted_bh_disabled", posted_bh_disabled, RC(IB_POLL_SOFTIRQ) },
	{ "posted_in_hardirq", posted_in_hardirq, RC(IB_POLL_SOFTIRQ) },
	{ "posted_in_softirq", posted_in_softirq, RC(IB_POLL_WORKQUEUE) },
	{ "posted_by_many__softirq", posted_by_many, RC(IB_POLL_SOFTIRQ) },
	{ "posted_by_many__workqueue", posted_by_many, RC(IB_POLL_WORKQUEUE) },
	{ "qp_destroyed_in_completion", qp_destroyed_in_completion,
	  RC(IB_POLL_WORKQUEUE) },
	{ "ah_made_irqs_disabled", ah_made_irqs_disabled, RC(IB_POLL_SOFTIRQ) },
	/* The process that runs it adds a rule that looks at this verb. */
	{ "ah_made_irqs_disabled__rule", ah_made_irqs_disabled,
	  RC(IB_POLL_SOFTIRQ) },
	{ "cq_polled_irqs_disabled", cq_polled_irqs_disabled,
	  RC(IB_POLL_DIRECT) },
	{}
};
