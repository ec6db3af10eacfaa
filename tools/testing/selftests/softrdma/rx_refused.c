// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that are well formed and that must not be executed: keys that are
 * gone, ranges that leave a region or the address space, datagrams for somebody
 * else. They come as frames, so that each can be sent twice, or late.
 */
#include "wire_fixture.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>

#define PEER_QPN	0x77
#define FIRST_PSN	0x123456	/* rq_psn of verbs_attr() */
#define LENGTH		4096
#define UNTOUCHED	0xee
#define GSI_QKEY	0x80010000u
#define MAD_LEN		256

FIXTURE(refused)
{
	struct verbs_set set;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *page;
	uint32_t rkey;
	uint64_t va;
};

/* To RTR, from whatever it is in, with all remote access. */
static int connect_qp(struct verbs_set *set, struct ibv_qp *qp)
{
	enum ibv_qp_state to;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct verbs_set peer = *set;
	int ret = ibv_modify_qp(qp, &attr, IBV_QP_STATE);

	inet_pton(AF_INET, WIRE_PEER, peer.gid.raw + 12);
	for (to = IBV_QPS_INIT; !ret && to <= IBV_QPS_RTR; to++) {
		verbs_attr(&peer, &attr, to, PEER_QPN);
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
		ret = ibv_modify_qp(qp, &attr,
				    verbs_mask(qp->qp_type, to - 1, to));
	}
	return ret;
}

FIXTURE_SETUP(refused)
{
	ASSERT_EQ(0, verbs_open_set(&self->set, TOPO_LINK));
	self->qp = verbs_qp(&self->set, IBV_QPT_RC);
	ASSERT_NE(NULL, self->qp);
	ASSERT_EQ(0, connect_qp(&self->set, self->qp));
	self->page = aligned_alloc(LENGTH, 3 * LENGTH);
	memset(self->page, UNTOUCHED, 3 * LENGTH);
	/* With memory of nobody's concern on both sides. */
	self->mr = ibv_reg_mr(self->set.pd, self->page + LENGTH, LENGTH,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			      IBV_ACCESS_REMOTE_WRITE |
			      IBV_ACCESS_REMOTE_ATOMIC);
	ASSERT_NE(NULL, self->mr);
	self->rkey = self->mr->rkey;
	self->va = (uintptr_t)self->page + LENGTH;
}

FIXTURE_TEARDOWN(refused)
{
	EXPECT_EQ(0, ibv_destroy_qp(self->qp));
	if (self->mr)
		EXPECT_EQ(0, ibv_dereg_mr(self->mr));
	EXPECT_EQ(0, verbs_close_set(&self->set));
	free(self->page);
}

static bool untouched(const uint8_t *page)
{
	return page[0] == UNTOUCHED && !memcmp(page, page + 1, 3 * LENGTH - 1);
}

/* ---- frames ---- */

static int rdma(uint8_t opcode, uint32_t qpn, uint32_t psn, uint64_t va,
		uint32_t rkey, uint32_t len)
{
	struct {
		__be64 va;
		__be32 rkey;
		__be32 len;
	} reth = { htobe64(va), htobe32(rkey), htobe32(len) };
	static const uint8_t payload[1024] = { 0x55 };
	struct wire_packet packet = {
		.opcode = opcode, .qpn = qpn, .psn = psn, .ip_id = 1,
		.ack_req = true, .ext = &reth, .ext_len = sizeof(reth),
	};
	struct wire_frame frame;

	if (opcode == RC_WRITE_ONLY) {
		packet.payload = payload;
		packet.payload_len = (len + 3) & ~3u;
		packet.pad = -len & 3;
	}
	wire_build(&frame, &packet);
	return wire_inject(&frame, false);
}

static int atomic(uint8_t opcode, uint32_t qpn, uint32_t psn, uint64_t va,
		  uint32_t rkey, uint64_t swap_add, uint64_t compare)
{
	struct {
		__be64 va;
		__be32 rkey;
		__be32 words[4];
	} __attribute__((packed)) eth = {
		htobe64(va), htobe32(rkey),
		{ htobe32(swap_add >> 32), htobe32(swap_add),
		  htobe32(compare >> 32), htobe32(compare) },
	};
	struct wire_packet packet = {
		.opcode = opcode, .qpn = qpn, .psn = psn, .ip_id = 1,
		.ack_req = true, .ext = &eth, .ext_len = sizeof(eth),
	};
	struct wire_frame frame;

	wire_build(&frame, &packet);
	return wire_inject(&frame, false);
}

static int datagram(uint32_t qpn, uint32_t qkey, uint32_t len)
{
	struct {
		__be32 qkey;
		__be32 src_qpn;
	} deth = { htobe32(qkey), htobe32(PEER_QPN) };
	static const uint8_t payload[8192];
	struct wire_packet packet = {
		.opcode = UD_SEND_ONLY, .qpn = qpn, .psn = 1, .ip_id = 1,
		.ext = &deth, .ext_len = sizeof(deth),
		.payload = payload, .payload_len = len,
	};
	struct wire_frame frame;

	wire_build(&frame, &packet);
	return wire_inject(&frame, false);
}

/* ---- repetitions of what was allowed ---- */

TEST_F(refused, read_repeated_after_its_key_is_gone)
{
	uint32_t qpn = self->qp->qp_num;
	int64_t sent = counters_get("tx_packets");
	int64_t repeated = counters_get("req_duplicate_read");

	ASSERT_EQ(0, rdma(RC_READ, qpn, FIRST_PSN, self->va, self->rkey, 64));
	EXPECT_EQ(sent + 1, counters_get("tx_packets"));
	ASSERT_EQ(0, rdma(RC_READ, qpn, FIRST_PSN, self->va, self->rkey, 64));
	EXPECT_EQ(sent + 2, counters_get("tx_packets"));

	ASSERT_EQ(0, ibv_dereg_mr(self->mr));
	self->mr = NULL;
	ASSERT_EQ(0, rdma(RC_READ, qpn, FIRST_PSN, self->va, self->rkey, 64));
	/* Nothing left. And it was right when it was asked first. */
	EXPECT_EQ(sent + 2, counters_get("tx_packets"));
	EXPECT_EQ(repeated + 2, counters_get("req_duplicate_read"));
	EXPECT_EQ(IBV_QPS_RTR, verbs_qp_state(self->qp));

	/* What is new is refused, and the peer told. */
	ASSERT_EQ(0, rdma(RC_READ, qpn, FIRST_PSN + 1, self->va, self->rkey,
			  64));
	EXPECT_EQ(sent + 3, counters_get("tx_packets"));
	EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(self->qp));
}

TEST_F(refused, read_repeated_with_another_range)
{
	int64_t refused = counters_get("req_drop_range");
	int64_t sent = counters_get("tx_packets");
	uint32_t qpn = self->qp->qp_num;

	ASSERT_EQ(0, rdma(RC_READ, qpn, FIRST_PSN, self->va, self->rkey, 64));
	ASSERT_EQ(0, rdma(RC_READ, qpn, FIRST_PSN, self->va + 64, self->rkey,
			  64));
	ASSERT_EQ(0, rdma(RC_READ, qpn, FIRST_PSN, self->va, self->rkey, 65));
	EXPECT_EQ(sent + 1, counters_get("tx_packets"));
	EXPECT_EQ(refused + 2, counters_get("req_drop_range"));
	EXPECT_EQ(IBV_QPS_RTR, verbs_qp_state(self->qp));
}

TEST_F(refused, atomics_are_done_once_and_never_after_their_key_is_gone)
{
	uint64_t *word = (uint64_t *)(self->page + LENGTH);
	int64_t sent = counters_get("tx_packets");
	uint32_t qpn = self->qp->qp_num;
	int i;

	*word = 100;
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, atomic(RC_FETCH_ADD, qpn, FIRST_PSN, self->va,
				    self->rkey, 7, 0));
	EXPECT_EQ(107, *word);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, atomic(RC_CMP_SWAP, qpn, FIRST_PSN + 1, self->va,
				    self->rkey, 200, 107));
	EXPECT_EQ(200, *word);
	*word = 107;
	ASSERT_EQ(0, atomic(RC_CMP_SWAP, qpn, FIRST_PSN + 1, self->va,
			    self->rkey, 200, 107));
	EXPECT_EQ(107, *word);
	EXPECT_EQ(sent + 7, counters_get("tx_packets"));

	ASSERT_EQ(0, ibv_dereg_mr(self->mr));
	self->mr = NULL;
	/* The result is kept, and is not in the memory. */
	ASSERT_EQ(0, atomic(RC_FETCH_ADD, qpn, FIRST_PSN, self->va, self->rkey,
			    7, 0));
	EXPECT_EQ(sent + 8, counters_get("tx_packets"));
	EXPECT_EQ(107, *word);
	EXPECT_EQ(IBV_QPS_RTR, verbs_qp_state(self->qp));
	ASSERT_EQ(0, atomic(RC_FETCH_ADD, qpn, FIRST_PSN + 2, self->va,
			    self->rkey, 7, 0));
	EXPECT_EQ(107, *word);
	EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(self->qp));
}

/* ---- ranges ---- */

/* Offsets are from the start of the region. */
static const struct range {
	int64_t offset;
	uint32_t len;
} outside[] = {
	{ -1, 1 }, { -1, 2 }, { -8, 8 }, { -1024, 1024 },
	{ LENGTH, 1 }, { LENGTH - 1, 2 }, { LENGTH - 1023, 1024 },
	{ -LENGTH, 1024 }, { 2 * LENGTH, 8 }, { 1ll << 40, 8 },
};

/* Absolute addresses: the sum with the length leaves 64 bits. */
static const struct range wrapping[] = {
	{ -1, 2 }, { -8, 16 }, { -1, 1 }, { -1024, 1024 }, { 0, 1024 },
};

static void refuse_range(struct __test_metadata *_metadata, struct ibv_qp *qp,
			 struct verbs_set *set, uint32_t rkey, uint64_t va,
			 uint32_t len)
{
	static const uint8_t opcodes[] = { RC_WRITE_ONLY, RC_READ };
	size_t i;

	for (i = 0; i < sizeof(opcodes); i++) {
		int64_t data = counters_get("tx_bytes");

		ASSERT_EQ(0, connect_qp(set, qp));
		ASSERT_EQ(0, rdma(opcodes[i], qp->qp_num, FIRST_PSN, va, rkey,
				  len));
		EXPECT_EQ(IBV_QPS_ERR, verbs_qp_state(qp)) {
			TH_LOG("opcode 0x%x, %u bytes at 0x%llx", opcodes[i],
			       len, (unsigned long long)va);
		}
		/* The NAK and nothing else: BTH, AETH, ICRC. */
		EXPECT_EQ(data + 20, counters_get("tx_bytes"));
	}
}

TEST_F(refused, ranges_that_leave_the_region)
{
	size_t i;

	for (i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		refuse_range(_metadata, self->qp, &self->set, self->rkey,
			     self->va + outside[i].offset, outside[i].len);
	for (i = 0; i < sizeof(wrapping) / sizeof(wrapping[0]); i++)
		refuse_range(_metadata, self->qp, &self->set, self->rkey,
			     wrapping[i].offset, wrapping[i].len);
	EXPECT_TRUE(untouched(self->page));
}

TEST_F(refused, ranges_that_leave_a_region_near_the_end_of_the_address_space)
{
	struct ibv_mr *mr;

	mr = ibv_reg_mr_iova(self->set.pd, self->page + LENGTH, LENGTH,
			     -2ull * LENGTH, IBV_ACCESS_LOCAL_WRITE |
			     IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	ASSERT_NE(NULL, mr);
	refuse_range(_metadata, self->qp, &self->set, mr->rkey, -1ull, 2);
	refuse_range(_metadata, self->qp, &self->set, mr->rkey,
		     -LENGTH - 512ull, 1024);
	refuse_range(_metadata, self->qp, &self->set, mr->rkey, 0, 8);
	refuse_range(_metadata, self->qp, &self->set, mr->rkey,
		     -2ull * LENGTH - 1, 8);
	EXPECT_TRUE(untouched(self->page));

	/* All of it may be used, to the last byte. */
	ASSERT_EQ(0, connect_qp(&self->set, self->qp));
	ASSERT_EQ(0, rdma(RC_WRITE_ONLY, self->qp->qp_num, FIRST_PSN,
			  -LENGTH - 1024ull, mr->rkey, 1024));
	EXPECT_EQ(IBV_QPS_RTR, verbs_qp_state(self->qp));
	EXPECT_EQ(0x55, self->page[2 * LENGTH - 1024]);
	EXPECT_EQ(0, self->page[2 * LENGTH - 1]);
	EXPECT_EQ(UNTOUCHED, self->page[2 * LENGTH]);
	EXPECT_EQ(0, ibv_dereg_mr(mr));

	/* None that goes on at address 0. */
	EXPECT_EQ(NULL, ibv_reg_mr_iova(self->set.pd, self->page, 2 * LENGTH,
					-1ull * LENGTH,
					IBV_ACCESS_LOCAL_WRITE));
}

TEST_F(refused, other_keys)
{
	uint32_t keys[] = {
		self->rkey ^ 1, self->rkey ^ 0x100, self->rkey ^ 0x80000000,
		0, 0xffffffff,
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		refuse_range(_metadata, self->qp, &self->set, keys[i],
			     self->va, 8);
	EXPECT_TRUE(untouched(self->page));
}

/* ---- datagrams ---- */

/* Did this counter go up by one, and was nothing received? */
static bool only_dropped(const char *name, int64_t before, int64_t received)
{
	return counters_get(name) == before + 1 &&
	       counters_get("ud_received") == received;
}

TEST_F(refused, datagrams_with_another_qkey)
{
	static const uint32_t qkeys[] = { 0, VERBS_QKEY + 1, GSI_QKEY, ~0u };
	struct ibv_qp *qp = verbs_qp(&self->set, IBV_QPT_UD);
	struct ibv_sge sge = {
		(uintptr_t)self->page + LENGTH, LENGTH, self->mr->lkey
	};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	int64_t dropped, received;
	struct ibv_wc wc;
	size_t i;

	ASSERT_NE(NULL, qp);
	ASSERT_EQ(0, verbs_qp_to(&self->set, qp, IBV_QPS_RTS, 0));
	ASSERT_EQ(0, ibv_post_recv(qp, &wr, &bad));
	for (i = 0; i < sizeof(qkeys) / sizeof(qkeys[0]); i++) {
		dropped = counters_get("ud_drop_qkey");
		received = counters_get("ud_received");
		ASSERT_EQ(0, datagram(qp->qp_num, qkeys[i], 64));
		EXPECT_TRUE(only_dropped("ud_drop_qkey", dropped, received));
	}
	EXPECT_TRUE(untouched(self->page));
	EXPECT_EQ(0, ibv_poll_cq(self->set.cq, 1, &wc));
	ASSERT_EQ(0, datagram(qp->qp_num, VERBS_QKEY, 64));
	EXPECT_EQ(1, ibv_poll_cq(self->set.cq, 1, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(0, ibv_destroy_qp(qp));
}

/* QP1 belongs to the kernel's connection manager, which expects 256 bytes. */
TEST_F(refused, datagrams_to_qp1_of_the_wrong_size)
{
	static const uint32_t sizes[] = {
		0, 4, MAD_LEN - 4, MAD_LEN + 4, 1024, 2048, 4096
	};
	int64_t received, dropped;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ASSERT_EQ(0, datagram(1, GSI_QKEY, sizes[i])) {
			TH_LOG("%u bytes", sizes[i]);
		}
	}
	dropped = counters_get("ud_drop_qkey");
	received = counters_get("ud_received");
	ASSERT_EQ(0, datagram(1, VERBS_QKEY, MAD_LEN));
	EXPECT_TRUE(only_dropped("ud_drop_qkey", dropped, received));
	/* It lives, and has receives: more than its queue would ever hold. */
	for (i = 0; i < 2000; i++)
		ASSERT_EQ(0, datagram(1, GSI_QKEY, MAD_LEN));
	EXPECT_LT(received + 1000, counters_get("ud_received"));
}

TEST_HARNESS_MAIN
