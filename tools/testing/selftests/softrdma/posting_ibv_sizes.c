// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages that ibv_post_send(3) can describe: of no length, of as many pieces
 * as the device allows, of any length around packet boundaries at each path
 * MTU, and of the largest that there is.
 */
#define _GNU_SOURCE
#include "pair_fixture.h"

#include <errno.h>
#include <sys/mman.h>

#define SGES	32
#define MIB	(1024 * 1024)

static int send_len(struct pair *pair, enum ibv_wr_opcode opcode, uint32_t len)
{
	struct pair_wr wr;

	pair_wr_init(&wr, &pair->a, &pair->b, opcode, 0, len);
	return pair_post(&pair->a, &wr) ?: pair_wait_sent(&pair->a);
}

/* No pieces at all, and one piece of no length, which is not looked at. */
static int send_nothing(struct pair *pair, enum ibv_wr_opcode opcode,
			bool with_piece)
{
	struct pair_wr wr;

	pair_wr_init(&wr, &pair->a, &pair->b, opcode, 0, 0);
	wr.sge[0].addr = 0;
	wr.sge[0].lkey = 0;
	wr.wr.num_sge = with_piece;
	return pair_post(&pair->a, &wr) ?: pair_wait_sent(&pair->a);
}

TEST_F(pair, messages_of_no_length)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
	};
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	/* How many of the opcodes each type has, the first so many complete
	 * a receive.
	 */
	static const int count[] = { 5, 4, 2 };
	struct ibv_wc wc;
	int i, t, with;

	for (t = 0; t < 3; t++) {
		struct pair_options options = { .type = types[t] };

		ASSERT_EQ(0, pair_connect(&self->pair, &options));
		memset(self->b->buffer, 0, self->b->size);
		for (i = 0; i < count[t]; i++) {
			for (with = 0; with < 2; with++) {
				if (i < 3)
					ASSERT_EQ(0, pair_post_recv(self->b, 0,
								    64));
				EXPECT_EQ(IBV_WC_SUCCESS,
					  send_nothing(&self->pair, opcodes[i],
						       with));
				if (i >= 3)
					continue;
				ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
				EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
				EXPECT_EQ(t == 2 ? PAIR_GRH : 0, wc.byte_len);
			}
		}
		if (t < 2)
			EXPECT_EQ(0, self->b->buffer[0]);
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

/* A request of no length needs no key: 9.7.4.1.4 and the like. */
TEST_F(pair, rdma_of_no_length_needs_no_key)
{
	struct pair_options options = { .type = IBV_QPT_RC };
	struct pair_wr wr;
	int i;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	for (i = 0; i < 2; i++) {
		pair_wr_init(&wr, self->a, self->b,
			     i ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0, 0);
		wr.wr.wr.rdma.rkey = 0xdeadbeef;
		wr.wr.wr.rdma.remote_addr = 1;
		ASSERT_EQ(0, pair_post(self->a, &wr));
		EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	}
}

/* 32 pieces of uneven length, with gaps, from or to the end's buffer. */
static uint32_t make_pieces(struct pair_end *end, struct ibv_sge *sge, int count)
{
	uint32_t sum = 0;
	int i;

	for (i = 0; i < count; i++) {
		sge[i].addr = (uintptr_t)end->buffer + 1024 * i + i;
		sge[i].length = 1 + i * 29 % 113;
		sge[i].lkey = end->mr->lkey;
		sum += sge[i].length;
	}
	return sum;
}

static void gather(struct pair_end *end, const struct ibv_sge *sge, int count,
		   uint8_t *to)
{
	int i;

	for (i = 0; i < count; i++) {
		memcpy(to, (void *)(uintptr_t)sge[i].addr, sge[i].length);
		to += sge[i].length;
	}
}

static int post_recv_pieces(struct pair_end *end, struct ibv_sge *sge, int count)
{
	struct ibv_recv_wr *bad, wr = { .sg_list = sge, .num_sge = count };

	return ibv_post_recv(end->qp, &wr, &bad);
}

TEST_F(pair, messages_of_32_pieces)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
	};
	struct ibv_sge to[SGES];
	uint8_t sent[8192], got[8192];
	struct pair_wr wr;
	struct ibv_wc wc;
	uint32_t len;
	int t;

	for (t = 0; t < 3; t++) {
		struct pair_options options = { .type = types[t], .sge = SGES,
						.mtu = IBV_MTU_256 };
		uint32_t head = t == 2 ? PAIR_GRH : 0;

		ASSERT_EQ(0, pair_connect(&self->pair, &options));
		pair_fill(self->a->buffer, self->a->size, t);
		pair_wr_init(&wr, self->a, self->b, IBV_WR_SEND, 0, 0);
		wr.wr.num_sge = SGES;
		len = make_pieces(self->a, wr.sge, SGES);
		gather(self->a, wr.sge, SGES, sent);
		make_pieces(self->b, to, SGES);
		/* The GRH comes before it all. */
		to[31].length += head;
		ASSERT_EQ(0, post_recv_pieces(self->b, to, SGES));
		ASSERT_EQ(0, pair_post(self->a, &wr));
		EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
		ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
		EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
		EXPECT_EQ(len + head, wc.byte_len);
		gather(self->b, to, SGES, got);
		EXPECT_EQ(0, memcmp(got + head, sent, len));
		EXPECT_EQ(0, pair_disconnect(&self->pair));
	}
}

TEST_F(pair, writes_and_reads_of_32_pieces)
{
	struct pair_options options = { .type = IBV_QPT_RC, .sge = SGES,
					.mtu = IBV_MTU_256 };
	uint8_t bytes[8192];
	struct pair_wr wr;
	uint32_t len;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	pair_fill(self->a->buffer, self->a->size, 1);
	pair_wr_init(&wr, self->a, self->b, IBV_WR_RDMA_WRITE, 0, 0);
	wr.wr.num_sge = SGES;
	len = make_pieces(self->a, wr.sge, SGES);
	gather(self->a, wr.sge, SGES, bytes);
	ASSERT_EQ(0, pair_post(self->a, &wr));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	EXPECT_EQ(0, memcmp(self->b->buffer, bytes, len));

	memset(self->a->buffer, 0, self->a->size);
	wr.wr.opcode = IBV_WR_RDMA_READ;
	ASSERT_EQ(0, pair_post(self->a, &wr));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	gather(self->a, wr.sge, SGES, bytes);
	EXPECT_EQ(0, memcmp(self->b->buffer, bytes, len));
	/* The gaps are as they were. */
	EXPECT_EQ(0, self->a->buffer[1]);
	EXPECT_EQ(0, self->a->buffer[1024]);
}

TEST_F(pair, piece_33_is_refused)
{
	struct pair_options options = { .type = IBV_QPT_RC, .sge = SGES };
	struct ibv_device_attr attr;
	struct ibv_send_wr *bad;
	struct ibv_sge sge[33];
	struct pair_wr wr;

	ASSERT_EQ(0, ibv_query_device(self->a->set.ctx, &attr));
	EXPECT_EQ(SGES, attr.max_sge);
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	pair_wr_init(&wr, self->a, self->b, IBV_WR_RDMA_WRITE, 0, 0);
	make_pieces(self->a, sge, 33);
	wr.wr.sg_list = sge;
	wr.wr.num_sge = 33;
	EXPECT_EQ(EINVAL, ibv_post_send(self->a->qp, &wr.wr, &bad));
	EXPECT_EQ(&wr.wr, bad);
	EXPECT_EQ(0, pair_disconnect(&self->pair));
	options.sge = 33;
	EXPECT_NE(0, pair_create(&self->pair, &options));
}

/* Lengths around one, two and many packets, all ways, at each path MTU. */
TEST_F(pair, every_path_mtu)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC };
	enum ibv_mtu mtu;
	struct ibv_wc wc;
	int i, t;

	for (t = 0; t < 2; t++) {
		for (mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++) {
			struct pair_options options = {
				.type = types[t], .mtu = mtu,
			};
			uint32_t bytes = 128 << mtu;
			const uint32_t lengths[] = {
				1, 3, bytes - 1, bytes, bytes + 1,
				2 * bytes, 5 * bytes + 7,
			};

			ASSERT_EQ(0, pair_connect(&self->pair, &options));
			pair_fill(self->a->buffer, self->a->size, mtu);
			for (i = 0; i < 7; i++) {
				uint32_t len = lengths[i];

				memset(self->b->buffer, 0, len + 1);
				ASSERT_EQ(0, pair_post_recv(self->b, 0, len));
				ASSERT_EQ(IBV_WC_SUCCESS,
					  send_len(&self->pair, IBV_WR_SEND,
						   len));
				ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
				EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
				EXPECT_EQ(len, wc.byte_len);
				EXPECT_EQ(0, memcmp(self->a->buffer,
						    self->b->buffer, len));
				EXPECT_EQ(0, self->b->buffer[len]);
				if (t)
					continue;
				memset(self->a->buffer, 0, len + 1);
				ASSERT_EQ(IBV_WC_SUCCESS,
					  send_len(&self->pair,
						   IBV_WR_RDMA_READ, len));
				EXPECT_TRUE(pair_filled(self->a->buffer, len,
							mtu));
				EXPECT_EQ(0, self->a->buffer[len]);
				pair_fill(self->a->buffer, len + 1, mtu);
			}
			EXPECT_EQ(0, pair_disconnect(&self->pair));
		}
	}
}

/* A datagram is one packet: the port's MTU is the most. */
TEST_F(pair, ud_is_bounded_by_the_mtu)
{
	struct pair_options options = { .type = IBV_QPT_UD };
	struct ibv_port_attr port;
	struct ibv_wc wc;
	uint32_t mtu;

	ASSERT_EQ(0, ibv_query_port(self->a->set.ctx, 1, &port));
	mtu = 128 << port.active_mtu;
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	pair_fill(self->a->buffer, self->a->size, 2);
	ASSERT_EQ(0, pair_post_recv(self->b, 0, mtu + PAIR_GRH));
	EXPECT_EQ(IBV_WC_SUCCESS, send_len(&self->pair, IBV_WR_SEND, mtu));
	ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
	EXPECT_EQ(mtu + PAIR_GRH, wc.byte_len);
	EXPECT_TRUE(pair_filled(self->b->buffer + PAIR_GRH, mtu, 2));
	ASSERT_EQ(0, pair_post_recv(self->b, 0, 2 * mtu));
	EXPECT_EQ(IBV_WC_LOC_LEN_ERR,
		  send_len(&self->pair, IBV_WR_SEND, mtu + 1));
	EXPECT_EQ(0, ibv_poll_cq(self->b->recv_cq, 1, &wc));
}

/* A message that does not fit into its receive fails at both ends. */
TEST_F(pair, receive_must_have_room)
{
	struct pair_options options = { .type = IBV_QPT_RC };
	struct ibv_wc wc;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	ASSERT_EQ(0, pair_post_recv(self->b, 0, 4999));
	EXPECT_EQ(IBV_WC_REM_INV_REQ_ERR,
		  send_len(&self->pair, IBV_WR_SEND, 5000));
	ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
	EXPECT_EQ(IBV_WC_LOC_LEN_ERR, wc.status);
}

/* Longer than the window, longer than what is sent in one go. */
TEST_F(pair, messages_of_64_mib)
{
	struct pair_options options = {
		.type = IBV_QPT_RC, .buffer = 64 * MIB, .mtu = IBV_MTU_4096,
	};
	struct ibv_wc wc;
	size_t i;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	for (i = 0; i < 64 * MIB / 8; i++)
		((uint64_t *)self->a->buffer)[i] = i * 0x9e3779b97f4a7c15;
	ASSERT_EQ(0, pair_post_recv(self->b, 0, 64 * MIB));
	ASSERT_EQ(IBV_WC_SUCCESS, send_len(&self->pair, IBV_WR_SEND, 64 * MIB));
	ASSERT_EQ(0, pair_wait(self->b->recv_cq, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(64 * MIB, wc.byte_len);
	EXPECT_EQ(0, memcmp(self->a->buffer, self->b->buffer, 64 * MIB));
	memset(self->b->buffer, 0, 64 * MIB);
	ASSERT_EQ(IBV_WC_SUCCESS, send_len(&self->pair, IBV_WR_RDMA_WRITE,
					   64 * MIB));
	EXPECT_EQ(0, memcmp(self->a->buffer, self->b->buffer, 64 * MIB));
	memset(self->a->buffer, 0, 64 * MIB);
	ASSERT_EQ(IBV_WC_SUCCESS, send_len(&self->pair, IBV_WR_RDMA_READ,
					   64 * MIB));
	EXPECT_EQ(0, memcmp(self->a->buffer, self->b->buffer, 64 * MIB));
}

#define GIB2	(1ul << 31)
#define WINDOW	(16ul * MIB)

/* 2 GiB and a page of addresses, all of the same little memory. */
static uint8_t *map_many(void)
{
	int fd = memfd_create("posting", 0);
	uint8_t *at;
	size_t i;

	if (fd < 0 || ftruncate(fd, WINDOW))
		return NULL;
	at = mmap(NULL, GIB2 + WINDOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		  -1, 0);
	for (i = 0; i <= GIB2; i += WINDOW)
		if (mmap(at + i, WINDOW, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			return NULL;
	close(fd);
	return at;
}

/* One byte more than max_msg_sz, in one piece and in two: not sent at all. */
TEST_F(pair, messages_over_2_gib_are_refused)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	struct pair_options options = { .type = IBV_QPT_RC };
	struct ibv_port_attr port;
	struct pair_wr wr;
	int i, pieces;

	ASSERT_EQ(0, ibv_query_port(self->a->set.ctx, 1, &port));
	EXPECT_EQ(GIB2, port.max_msg_sz);
	for (i = 0; i < 3; i++) {
		for (pieces = 1; pieces < 3; pieces++) {
			ASSERT_EQ(0, pair_connect(&self->pair, &options));
			pair_wr_init(&wr, self->a, self->b, opcodes[i], 0, 0);
			wr.wr.num_sge = pieces;
			wr.sge[0].length = pieces == 1 ? GIB2 + 1 : GIB2;
			wr.sge[1] = wr.sge[0];
			wr.sge[1].length = 1;
			ASSERT_EQ(0, pair_post(self->a, &wr));
			EXPECT_EQ(IBV_WC_LOC_LEN_ERR, pair_wait_sent(self->a));
			EXPECT_EQ(0, pair_disconnect(&self->pair));
		}
	}
}

/* The largest message; over a wire it is the 64 MiB one, only longer. */
TEST_F_TIMEOUT(pair, message_of_2_gib, 300)
{
	struct pair_options options = { .type = IBV_QPT_RC,
					.mtu = IBV_MTU_4096 };
	struct ibv_mr *from, *to;
	uint8_t *source, *sink;
	struct pair_wr wr;

	if (variant->wire != PAIR_LOOPBACK)
		return;
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	source = map_many();
	sink = map_many();
	ASSERT_NE(NULL, source);
	ASSERT_NE(NULL, sink);
	pair_fill(source, WINDOW, 3);
	from = ibv_reg_mr(self->a->set.pd, source, GIB2, IBV_ACCESS_LOCAL_WRITE);
	to = ibv_reg_mr(self->b->set.pd, sink, GIB2, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_REMOTE_WRITE);
	ASSERT_NE(NULL, from);
	ASSERT_NE(NULL, to);
	pair_wr_init(&wr, self->a, self->b, IBV_WR_RDMA_WRITE, 0, 0);
	wr.sge[0].addr = (uintptr_t)source;
	wr.sge[0].lkey = from->lkey;
	wr.sge[0].length = GIB2;
	wr.wr.wr.rdma.remote_addr = (uintptr_t)sink;
	wr.wr.wr.rdma.rkey = to->rkey;
	ASSERT_EQ(0, pair_post(self->a, &wr));
	EXPECT_EQ(IBV_WC_SUCCESS, pair_wait_sent(self->a));
	EXPECT_EQ(0, memcmp(source, sink, WINDOW));
	EXPECT_EQ(0, ibv_dereg_mr(from));
	EXPECT_EQ(0, ibv_dereg_mr(to));
}

TEST_HARNESS_MAIN
