// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ibv_post_send(3), send_flags: each flag where it is valid, and elsewhere. */
#include "pair_fixture.h"

#include <errno.h>

#define LENGTH	64

/* The request behind which another is to be fenced: many packets. */
#define LONG	(48 * 1024)

static const struct pair_options rc = { .type = IBV_QPT_RC };
static const struct pair_options uc = { .type = IBV_QPT_UC };
static const struct pair_options ud = { .type = IBV_QPT_UD };

static const struct pair_options *const all_types[] = { &rc, &uc, &ud };

/* A receive was completed with success; its bytes are this seed's. */
static bool received(struct pair *pair, uint32_t len, unsigned int seed)
{
	uint32_t head = pair->a.qp->qp_type == IBV_QPT_UD ? PAIR_GRH : 0;
	struct ibv_wc wc;

	return !pair_wait(pair->b.recv_cq, &wc) && !wc.status &&
	       wc.byte_len == len + head &&
	       pair_filled(pair->b.buffer + wc.wr_id + head, len, seed);
}

static int send_with(struct pair *pair, enum ibv_wr_opcode opcode, int flags)
{
	struct pair_wr wr;

	pair_wr_init(&wr, &pair->a, &pair->b, opcode, 0, LENGTH);
	wr.wr.send_flags = flags;
	return pair_post(&pair->a, &wr);
}

/* "send_flags ... is either 0 or the bitwise OR of ... the following flags" */
TEST_F(pair, flags_are_ored)
{
	int flags, t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		for (flags = 0; flags < 16; flags++) {
			ASSERT_EQ(0, pair_post_recv(self->b, 0, 128));
			pair_fill(self->a->buffer, LENGTH, flags);
			ASSERT_EQ(0, send_with(&self->pair, IBV_WR_SEND,
					       flags));
			EXPECT_TRUE(received(&self->pair, LENGTH, flags));
			if (flags & IBV_SEND_SIGNALED)
				EXPECT_EQ(IBV_WC_SUCCESS,
					  pair_wait_sent(self->a));
		}
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* Others are not ours: the driver does not guess what they ask for. */
TEST_F(pair, unknown_flags_are_refused)
{
	static const int flags[] = { IBV_SEND_IP_CSUM, 1 << 8, 1 << 30 };
	int i, t;

	for (t = 0; t < 3; t++) {
		for (i = 0; i < 3; i++) {
			ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
			ASSERT_EQ(0, send_with(&self->pair, IBV_WR_SEND,
					       flags[i]));
			EXPECT_EQ(IBV_WC_LOC_QP_OP_ERR,
				  pair_wait_sent(self->a));
			EXPECT_EQ(0, pair_disconnect(&self->pair));
		}
	}
}

/*
 * IBV_SEND_FENCE: a request waits for the READs before it, so that it can send
 * what they brought.
 */
TEST_F(pair, fence_waits_for_reads)
{
	struct pair_options options = { .type = IBV_QPT_RC, .mtu = IBV_MTU_256,
					.buffer = 4 * LONG };
	struct pair_wr read, send;
	struct ibv_send_wr *bad;
	int round;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	for (round = 0; round < 8; round++) {
		pair_fill(self->b->buffer, LONG, round);
		memset(self->a->buffer, 0xee, LONG);
		ASSERT_EQ(0, pair_post_recv(self->b, 2 * LONG, LONG));
		pair_wr_init(&read, self->a, self->b, IBV_WR_RDMA_READ, 0,
			     LONG);
		pair_wr_init(&send, self->a, self->b, IBV_WR_SEND, 0, LONG);
		send.wr.send_flags |= IBV_SEND_FENCE;
		read.wr.next = &send.wr;
		ASSERT_EQ(0, ibv_post_send(self->a->qp, &read.wr, &bad));
		EXPECT_TRUE(received(&self->pair, LONG, round));
		EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
		EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	}
}

/* The same for atomics: a chain of which each sends the result before it. */
TEST_F(pair, fence_waits_for_atomics)
{
	struct pair_wr add, send;
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	uint64_t round;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	for (round = 0; round < 16; round++) {
		*(uint64_t *)self->a->buffer = ~0ull;
		ASSERT_EQ(0, pair_post_recv(self->b, 4096, LENGTH));
		pair_wr_init(&add, self->a, self->b,
			     IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8);
		add.wr.wr.atomic.compare_add = 1;
		pair_wr_init(&send, self->a, self->b, IBV_WR_SEND, 0, 8);
		send.wr.send_flags = IBV_SEND_FENCE;
		add.wr.send_flags = 0;
		add.wr.next = &send.wr;
		ASSERT_EQ(0, ibv_post_send(self->a->qp, &add.wr, &bad));
		ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
		EXPECT_EQ(round, *(uint64_t *)(self->b->buffer + 4096));
	}
}

/* "Valid only for QPs with Transport Service Type IBV_QPT_RC": else ignored. */
TEST_F(pair, fence_says_nothing_on_uc_and_ud)
{
	int t;

	for (t = 1; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, pair_post_recv(self->b, 0, 128));
		pair_fill(self->a->buffer, LENGTH, t);
		ASSERT_EQ(0, send_with(&self->pair, IBV_WR_SEND,
				       IBV_SEND_SIGNALED | IBV_SEND_FENCE));
		EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
		EXPECT_TRUE(received(&self->pair, LENGTH, t));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* IBV_SEND_SIGNALED, sq_sig_all=0: who asks for a completion gets one. */
TEST_F(pair, signaled_completes_only_what_asks)
{
	static struct pair_wr wr;
	struct ibv_wc wc;
	int i, t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		for (i = 0; i < 12; i++)
			ASSERT_EQ(0, pair_post_recv(self->b, 0, 128));
		for (i = 0; i < 12; i++) {
			pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, 1);
			wr.wr.wr_id = i;
			wr.wr.send_flags = i % 4 == 3 ? IBV_SEND_SIGNALED : 0;
			ASSERT_EQ(0, pair_post(self->a, &wr));
		}
		for (i = 3; i < 12; i += 4) {
			ASSERT_EQ(0, pair_wait(self->a->set.cq, &wc));
			EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
			EXPECT_EQ(i, wc.wr_id);
		}
		EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* An error is completed whether asked for or not. */
TEST_F(pair, unsignaled_errors_complete)
{
	struct pair_wr wr;
	struct ibv_wc wc;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_RDMA_WRITE, 77, LENGTH);
	wr.wr.send_flags = 0;
	wr.wr.wr.rdma.rkey ^= 1;
	ASSERT_EQ(0, pair_post(self->a, &wr));
	ASSERT_EQ(0, pair_wait(self->a->set.cq, &wc));
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, wc.status);
	EXPECT_EQ(77, wc.wr_id);
	/* So is what is flushed behind it. */
	wr.wr.wr_id = 78;
	ASSERT_EQ(0, pair_post(self->a, &wr));
	ASSERT_EQ(0, pair_wait(self->a->set.cq, &wc));
	EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc.status);
	EXPECT_EQ(78, wc.wr_id);
}

/* "Relevant only if QP was created with sq_sig_all=0" */
TEST_F(pair, sq_sig_all_completes_everything)
{
	struct pair_options options;
	struct ibv_wc wc;
	int i, t;

	for (t = 0; t < 3; t++) {
		options = *all_types[t];
		options.sq_sig_all = true;
		ASSERT_EQ(0, pair_connect(&self->pair, &options));
		for (i = 0; i < 8; i++) {
			ASSERT_EQ(0, pair_post_recv(self->b, 0, 128));
			ASSERT_EQ(0, send_with(&self->pair, IBV_WR_SEND,
					       i & 1 ? IBV_SEND_SIGNALED : 0));
			EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
		}
		EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* Queue full of unsignaled requests: one signaled one gives all room back. */
TEST_F(pair, unsignaled_requests_give_their_room_back)
{
	struct pair_options options = { .type = IBV_QPT_RC, .send_wr = 15 };
	struct ibv_wc wc;
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	for (i = 0; i < 200; i++) {
		ASSERT_EQ(0, send_with(&self->pair, IBV_WR_RDMA_WRITE,
				       i % 10 == 9 ? IBV_SEND_SIGNALED : 0));
		if (i % 10 == 9)
			ASSERT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	}
	EXPECT_EQ(0, ibv_poll_cq(self->a->set.cq, 1, &wc));
}

/* Send, see it received, and tell whether a solicited-only CQ had an event. */
static int solicits(struct pair *pair, enum ibv_wr_opcode opcode, int flags)
{
	struct ibv_wc wc;

	if (ibv_req_notify_cq(pair->b.recv_cq, 1) ||
	    pair_post_recv(&pair->b, 0, 128) ||
	    send_with(pair, opcode, IBV_SEND_SIGNALED | flags) ||
	    pair_wait_sent(&pair->a) || pair_wait(pair->b.recv_cq, &wc))
		return -1;
	/* The event comes with the completion or never. */
	return pair_event(&pair->b, flags & IBV_SEND_SOLICITED ? 5000 : 50);
}

/* IBV_SEND_SOLICITED: "Valid only for Send and RDMA Write with immediate" */
TEST_F(pair, solicited_raises_the_event)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	int i, t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		for (i = 0; i < (t == 2 ? 2 : 3); i++) {
			EXPECT_EQ(0, solicits(&self->pair, opcodes[i], 0));
			EXPECT_EQ(1, solicits(&self->pair, opcodes[i],
					      IBV_SEND_SOLICITED));
		}
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* A message of many packets raises it too: the bit is in the last. */
TEST_F(pair, solicited_works_for_long_messages)
{
	struct pair_wr wr;
	struct ibv_wc wc;
	int t;

	for (t = 0; t < 2; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, ibv_req_notify_cq(self->b->recv_cq, 1));
		ASSERT_EQ(0, pair_post_recv(self->b, 0, 20000));
		pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, 20000);
		wr.wr.send_flags |= IBV_SEND_SOLICITED;
		ASSERT_EQ(0, pair_post(self->a, &wr));
		EXPECT_TRUE(pair_event(self->b, 5000));
		EXPECT_EQ(0, pair_wait(self->b->recv_cq, &wc));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* Elsewhere it says nothing: no receive completes that could raise an event. */
TEST_F(pair, solicited_says_nothing_elsewhere)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, ibv_req_notify_cq(self->b->recv_cq, 0));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, send_with(&self->pair, opcodes[i],
				       IBV_SEND_SIGNALED | IBV_SEND_SOLICITED));
		EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	}
	EXPECT_FALSE(pair_event(self->b, 50));
}

/* A failed receive raises the event of who waits for solicited ones only. */
TEST_F(pair, errors_are_solicited)
{
	ASSERT_EQ(0, pair_connect(&self->pair, &rc));
	ASSERT_EQ(0, ibv_req_notify_cq(self->b->recv_cq, 1));
	ASSERT_EQ(0, pair_post_recv(self->b, 0, LENGTH - 1));
	ASSERT_EQ(0, send_with(&self->pair, IBV_WR_SEND, IBV_SEND_SIGNALED));
	EXPECT_EQ(IBV_WC_REM_INV_REQ_ERR, pair_wait_sent(self->a));
	EXPECT_TRUE(pair_event(self->b, 5000));
}

/*
 * IBV_SEND_INLINE: "The L_Key will not be checked", and "the buffer can be
 * reused immediately after the call returns", also when nothing can be sent
 * yet: the peer has no receive.
 */
TEST_F(pair, inline_data_is_taken_at_once)
{
	struct pair_options options = { .type = IBV_QPT_RC, .rnr_retry = 7,
					.inline_data = 512 };
	static const uint32_t lengths[] = { 0, 1, 63, 64, 65, 511, 512 };
	uint8_t data[512];	/* in no region */
	struct pair_wr wr;
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	for (i = 0; i < 7; i++) {
		pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, lengths[i]);
		wr.wr.send_flags |= IBV_SEND_INLINE;
		wr.sge[0].addr = (uintptr_t)data;
		wr.sge[0].lkey = 0xdeadbeef;
		pair_fill(data, lengths[i], i);
		ASSERT_EQ(0, pair_post(self->a, &wr));
		memset(data, 0xff, sizeof(data));
	}
	for (i = 0; i < 7; i++)
		ASSERT_EQ(0, pair_post_recv(self->b, i * 512, 512));
	for (i = 0; i < 7; i++) {
		EXPECT_TRUE(received(&self->pair, lengths[i], i));
		EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	}
}

/* "Valid only for Send and RDMA Write", with and without immediate. */
TEST_F(pair, inline_works_for_send_and_write)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	uint8_t data[LENGTH];
	struct pair_wr wr;
	struct ibv_wc wc;
	int i, t;

	for (t = 0; t < 3; t++) {
		uint32_t head = t == 2 ? PAIR_GRH : 0;

		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		for (i = 0; i < (t == 2 ? 2 : 4); i++) {
			memset(self->b->buffer, 0, self->b->size);
			ASSERT_EQ(0, pair_post_recv(self->b, 0, 128));
			pair_wr_init(&wr, self->a, self->b, opcodes[i], 0,
				     LENGTH);
			wr.wr.send_flags |= IBV_SEND_INLINE;
			wr.sge[0].addr = (uintptr_t)data;
			wr.sge[0].lkey = 0;
			pair_fill(data, LENGTH, i);
			ASSERT_EQ(0, pair_post(self->a, &wr));
			memset(data, 0xff, sizeof(data));
			EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
			if (opcodes[i] == IBV_WR_RDMA_WRITE) {
				/* What comes behind it tells of it. */
				pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND,
					     0, 0);
				wr.wr.send_flags = 0;
				ASSERT_EQ(0, pair_post(self->a, &wr));
			}
			ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
			EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
			EXPECT_TRUE(pair_filled(self->b->buffer + head, LENGTH,
						i));
		}
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* Pieces of inline data are put together. */
TEST_F(pair, inline_gathers_pieces)
{
	uint8_t data[LENGTH];
	struct pair_wr wr;
	int i, t;

	for (t = 0; t < 3; t++) {
		ASSERT_EQ(0, pair_connect(&self->pair, all_types[t]));
		ASSERT_EQ(0, pair_post_recv(self->b, 0, 128));
		pair_fill(data, LENGTH, t);
		pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, 0);
		wr.wr.send_flags |= IBV_SEND_INLINE;
		wr.wr.num_sge = 4;
		for (i = 0; i < 4; i++) {
			wr.sge[i].addr = (uintptr_t)data + i * LENGTH / 4;
			wr.sge[i].length = LENGTH / 4;
			wr.sge[i].lkey = i;
		}
		ASSERT_EQ(0, pair_post(self->a, &wr));
		EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
		EXPECT_TRUE(received(&self->pair, LENGTH, t));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* Elsewhere it would be data that nobody asked for: an error. */
TEST_F(pair, inline_is_refused_elsewhere)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct pair_wr wr;
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, pair_connect(&self->pair, &rc));
		pair_wr_init(&wr, self->a, self->b, opcodes[i], 0, 8);
		wr.wr.send_flags |= IBV_SEND_INLINE;
		memset(self->b->buffer, 0, 64);
		if (!pair_post(self->a, &wr))
			EXPECT_EQ(IBV_WC_LOC_QP_OP_ERR,
				  pair_wait_sent(self->a));
		EXPECT_EQ(0, *(uint64_t *)self->b->buffer);
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

TEST_HARNESS_MAIN
