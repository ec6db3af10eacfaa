// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Looped skbs: a burst for a QP of the same device is one skb. It has a struct
 * srdma_loop in place of the packets' headers, and then the payload, or where
 * the payload is lent from.
 */
#include <linux/percpu.h>
#include <linux/skbuff.h>

#include "compat/compat.h"
#include "memory/loan.h"
#include "objects/device.h"
#include "objects/qp.h"
#include "wire/arrived.h"
#include "wire/loop.h"
#include "wire/outgoing.h"
#include "wire/skb_pool.h"

/* A looped payload that is copied and longer goes into fragments. */
#define LINEAR_MAX	2048

/* As many as one run is likely to have on their way at once. */
#define SPARES_MAX	16

/**
 * struct spares - looped skbs that were used up: the next ones that this
 *	CPU needs, since an answer, or the next message, is likely to follow at
 *	once. Used with bottom halves disabled.
 * @lock: held while they are used
 * @skb: the skbs
 * @count: how many
 */
struct spares {
	local_lock_t lock;
	struct sk_buff *skb[SPARES_MAX];
	u32 count;
};

static DEFINE_PER_CPU(struct spares, spares) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

/* Lets KASAN see a use after this. */
#define KEEP_SPARE	(!IS_ENABLED(CONFIG_KASAN))

static int copy_to_frags(struct srdma_mem_iter *it, struct sk_buff *skb,
			 u32 len)
{
	bool failed;
	u8 *p;

	while (len) {
		u32 n = min(srdma_skb_pool_open(skb, 1, &p), len);

		if (!n)
			return -ENOMEM;
		failed = srdma_mem_read(it, p, n);
		srdma_skb_pool_take(skb, failed ? 0 : n);
		if (failed)
			return -EFAULT;
		len -= n;
	}
	return 0;
}

static void drop_pages(struct sk_buff *skb)
{
	int i;

	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++)
		put_page(skb_frag_page(&skb_shinfo(skb)->frags[i]));
	skb_shinfo(skb)->nr_frags = 0;
	skb->truesize -= skb->data_len;
	skb->len -= skb->data_len;
	skb->data_len = 0;
}

static int copy_payload(struct srdma_mem_iter *it, struct sk_buff *skb,
			     u32 len)
{
	if (len > skb_tailroom(skb))
		return copy_to_frags(it, skb, len);
	return srdma_mem_read(it, __skb_put(skb, len), len) ? -EFAULT : 0;
}

static int put_payload(const struct srdma_tx *tx, struct sk_buff *skb,
		       u32 len)
{
	int err = srdma_tx_open_payload(tx, 0);

	if (err)
		return err;
	err = copy_payload(&tx->payload->it, skb, len);
	srdma_tx_close_payload(tx);
	return err;
}

static bool can_lend(struct srdma_qp *qp)
{
	/* Rules look at bytes, not at where they are. */
	return !srdma_rules_look_at_packets(&qp->dev->rules) &&
	       srdma_loans_are_open(&qp->req.loans, qp->owner);
}

/* Destructor of an skb whose payload is lent: nobody copies from it any more. */
static void give_back(struct sk_buff *skb)
{
	struct srdma_qp *lender = skb_shinfo(skb)->destructor_arg;

	/* Pairs with take_back() in requester/send.c. */
	atomic_inc_return_release(&lender->req.returned);
	srdma_engine_kick_later(&lender->send, SRDMA_EVENT_RETURNED);
	srdma_qp_put(lender);
}

static void expect_back(struct srdma_qp *lender, struct sk_buff *skb)
{
	refcount_inc(&lender->refs);
	skb_shinfo(skb)->destructor_arg = lender;
	skb->destructor = give_back;
}

/* Notes where the payload is, which can be had at present. */
static int lend_payload(const struct srdma_tx *tx, struct sk_buff *skb, u32 len)
{
	struct srdma_loan_offer *offer = tx->offer;
	struct srdma_loop *loop = (struct srdma_loop *)skb->data;
	u32 bytes = offer->num_sge * sizeof(*offer->sge);
	int err = srdma_tx_open_payload(tx, 0);

	if (err)
		return err;
	if (srdma_mem_skip(&tx->payload->it, len))
		err = -EFAULT;
	srdma_tx_close_payload(tx);
	if (err)
		return err;
	loop->lender = tx->qp->qpn;
	loop->idx = offer->idx;
	loop->num_sge = offer->num_sge;
	memcpy(__skb_put(skb, bytes), offer->sge, bytes);
	loop->loan = srdma_loan_give(&tx->qp->req.loans, offer->idx);
	if (offer->returns)
		expect_back(tx->qp, skb);
	offer->lent = true;
	return 0;
}

/* A packet alone has all that its headers would say. */
static void fill_alone(struct srdma_pkt *pkt, const struct srdma_burst *burst,
		       u32 len)
{
	pkt->op = srdma_opcode_get(burst->first);
	pkt->opcode = burst->first;
	pkt->psn = burst->psn;
	pkt->ack_req = burst->ack_req;
	pkt->se = burst->solicited;
	pkt->payload_len = len;
	pkt->hdr_len = pkt->op->hdr_len;
	pkt->pad = 0;
	pkt->more = 0;
}

static void fill_header(const struct srdma_tx *tx, struct srdma_loop *loop,
		      u32 len)
{
	loop->hdr = *tx->hdr;
	loop->hdr.stamp = tx->burst->stamp;
	loop->burst = *tx->burst;
	/* The packets of a READ request and its like carry nothing. */
	loop->burst.len = len;
	if (!len)
		loop->burst.seg = 0;
	if (tx->burst->count == 1)
		fill_alone(&loop->hdr, tx->burst, len);
	loop->av = *tx->av;
	loop->loan = 0;
}

static struct sk_buff *take_spare(void)
{
	struct sk_buff *skb = NULL;
	struct spares *spare;

	srdma_compat_lock_nested_bh(&spares.lock);
	spare = this_cpu_ptr(&spares);
	if (spare->count)
		skb = spare->skb[--spare->count];
	srdma_compat_unlock_nested_bh(&spares.lock);
	return skb;
}

/* Returns false when there are enough. */
static bool keep_spare(struct sk_buff *skb)
{
	struct spares *spare;
	bool room;

	srdma_compat_lock_nested_bh(&spares.lock);
	spare = this_cpu_ptr(&spares);
	room = spare->count < SPARES_MAX;
	if (room)
		spare->skb[spare->count++] = skb;
	srdma_compat_unlock_nested_bh(&spares.lock);
	return room;
}

/* Empty, with room for @len bytes, or for none where they go into fragments. */
static struct sk_buff *alloc_empty(u32 len)
{
	struct sk_buff *skb = take_spare();

	if (skb)
		return skb;
	/* One that is going to be kept serves for any. */
	if (KEEP_SPARE)
		len = LINEAR_MAX;
	else if (len > LINEAR_MAX)
		len = 0;
	return alloc_skb(sizeof(struct srdma_loop) + len,
			 GFP_ATOMIC | __GFP_NOWARN);
}

static void fill_arrival(const struct srdma_tx *tx, struct sk_buff *skb)
{
	struct srdma_packet_in *in = srdma_packet_in(skb);

	/* What is behind it is for packets of the wire. */
	memset(in, 0, offsetof(struct srdma_packet_in, icrc));
	in->dev = tx->qp->dev;
	in->left = tx->burst->count;
	in->kind = SRDMA_PACKET_IN_LOOP;
	in->is_looped = true;
}

/**
 * srdma_loop_build - a burst for a QP of the same device
 * @tx: what is to be sent
 *
 * Return: an skb to be dispatched, or an error as of srdma_train_build().
 */
struct sk_buff *srdma_loop_build(const struct srdma_tx *tx)
{
	u32 len = srdma_tx_has_payload(tx) ? tx->burst->len : 0;
	bool lend = tx->offer && len && can_lend(tx->qp);
	struct sk_buff *skb;
	int err = 0;

	skb = alloc_empty(lend ? tx->offer->num_sge * sizeof(struct srdma_sge) :
				 len);
	if (!skb)
		return ERR_PTR(-ENOMEM);
	fill_header(tx, __skb_put(skb, sizeof(struct srdma_loop)), len);
	fill_arrival(tx, skb);
	if (lend)
		err = lend_payload(tx, skb, len);
	else if (len)
		err = put_payload(tx, skb, len);
	if (err) {
		srdma_loop_free(skb);
		return ERR_PTR(err);
	}
	return skb;
}

static enum srdma_mem_why copy_lent(const struct srdma_loop *loop,
				    const struct srdma_mem_who *who, u32 offset,
				    u32 len, struct srdma_mem_iter *it)
{
	const struct srdma_sge *sge = (const struct srdma_sge *)(loop + 1);
	enum srdma_mem_why why = SRDMA_MEM_GONE;
	struct srdma_mem_iter from;

	srdma_mem_begin_list(&from, who, sge, loop->num_sge, 0, NULL);
	if (!srdma_mem_seek(&from, loop->burst.offset + offset))
		why = srdma_mem_copy(it, &from, len);
	srdma_mem_end(&from);
	return why;
}

/**
 * srdma_loop_place - copy a payload that was lent to memory
 * @skb: looped skb
 * @dev: device that it has come to
 * @offset: in its payload
 * @len: bytes
 * @it: where to
 *
 * The pieces are looked up anew: a region may have gone, or be another. Both
 * the keys of the lender and the loan are held while the bytes are copied.
 *
 * Return: SRDMA_MEM_GONE when it is no more lent, or not to be had any more.
 */
enum srdma_mem_why srdma_loop_place(const struct sk_buff *skb,
				    struct srdma_dev *dev, u32 offset, u32 len,
				    struct srdma_mem_iter *it)
{
	const struct srdma_loop *loop = srdma_loop_of(skb);
	enum srdma_mem_why why = SRDMA_MEM_GONE;
	struct srdma_qp *lender;

	lender = srdma_table_find(&dev->qps, loop->lender);
	if (!lender ||
	    !srdma_loan_enter(&lender->req.loans, loop->idx, loop->loan))
		return SRDMA_MEM_GONE;
	/* It may have failed, and not yet come to calling back. */
	if (srdma_qp_may(lender, SRDMA_MAY_SEND))
		why = copy_lent(loop, &lender->who, offset, len, it);
	srdma_loan_leave(&lender->req.loans, loop->idx);
	return why;
}

/**
 * srdma_loop_free - give back what srdma_loop_build() has built
 * @skb: looped skb, or a clone of one
 *
 * Bottom halves are disabled.
 */
void srdma_loop_free(struct sk_buff *skb)
{
	if (!KEEP_SPARE || skb_cloned(skb) || skb_shared(skb)) {
		consume_skb(skb);
		return;
	}
	if (unlikely(skb->destructor))
		skb_orphan(skb);
	if (skb_is_nonlinear(skb))
		drop_pages(skb);
	skb->len = 0;
	skb_reset_tail_pointer(skb);
	if (!keep_spare(skb))
		consume_skb(skb);
}

/* Nothing is built any more. */
void srdma_loop_exit(void)
{
	struct spares *spare;
	int cpu;

	for_each_possible_cpu(cpu) {
		spare = per_cpu_ptr(&spares, cpu);
		while (spare->count)
			consume_skb(spare->skb[--spare->count]);
	}
}
