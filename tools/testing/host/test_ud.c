// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Datagram decisions. */
#include <string.h>

#include "proto/ud.h"
#include "test.h"

TEST(pkey_match__membership)
{
	EXPECT(srdma_pkey_match(0xffff, 0xffff));
	EXPECT(srdma_pkey_match(0xffff, 0x7fff));
	EXPECT(srdma_pkey_match(0x7fff, 0xffff));
	EXPECT(srdma_pkey_match(0x8001, 0x0001));
	/* Two limited members may not talk. */
	EXPECT(!srdma_pkey_match(0x7fff, 0x7fff));
	EXPECT(!srdma_pkey_match(0x8001, 0x8002));
	/* The invalid P_Keys 0 and 8000 match nothing. */
	EXPECT(!srdma_pkey_match(0x8000, 0x8000));
	EXPECT(!srdma_pkey_match(0x0000, 0x8000));
}

TEST(ud_send_qkey__controlled_takes_that_of_the_qp)
{
	EXPECT_EQ(srdma_ud_send_qkey(0x11111111, 0x22222222), 0x11111111);
	EXPECT_EQ(srdma_ud_send_qkey(0x7fffffff, 0x22222222), 0x7fffffff);
	EXPECT_EQ(srdma_ud_send_qkey(0x80000000, 0x22222222), 0x22222222);
	EXPECT_EQ(srdma_ud_send_qkey(0x80010000, 0x22222222), 0x22222222);
}

TEST(ud_send_check__length)
{
	EXPECT_EQ(srdma_ud_send_check(0, 1024), SRDMA_UD_SEND_OK);
	EXPECT_EQ(srdma_ud_send_check(1024, 1024), SRDMA_UD_SEND_OK);
	EXPECT_EQ(srdma_ud_send_check(1025, 1024), SRDMA_UD_SEND_LENGTH);
	EXPECT_EQ(srdma_ud_send_check(0x100000000ull, 1024),
		  SRDMA_UD_SEND_LENGTH);
}

static const struct srdma_ud_env env = {
	.qkey = 0x11111111, .pkey = 0xffff, .mtu = 1024,
};

static struct srdma_pkt datagram(uint32_t payload_len)
{
	return (struct srdma_pkt){
		.op = srdma_opcode_get(SRDMA_UD_SEND_ONLY),
		.opcode = SRDMA_UD_SEND_ONLY,
		.pkey = 0xffff,
		.payload_len = payload_len,
		.deth = { .qkey = 0x11111111, .src_qpn = 7 },
	};
}

TEST(ud_recv_check__verdicts)
{
	struct srdma_pkt pkt = datagram(1024);

	EXPECT_EQ(srdma_ud_recv_check(&pkt, &env), SRDMA_UD_RECV_OK);
	pkt.payload_len = 1025;
	EXPECT_EQ(srdma_ud_recv_check(&pkt, &env), SRDMA_UD_RECV_LENGTH);
	pkt.deth.qkey++;
	EXPECT_EQ(srdma_ud_recv_check(&pkt, &env), SRDMA_UD_RECV_QKEY);
	pkt.pkey = 0x8001;
	EXPECT_EQ(srdma_ud_recv_check(&pkt, &env), SRDMA_UD_RECV_PKEY);
	pkt.op = srdma_opcode_get(SRDMA_RC_SEND_ONLY);
	EXPECT_EQ(srdma_ud_recv_check(&pkt, &env), SRDMA_UD_RECV_OPCODE);
}

TEST(ud_recv_check__qp1_takes_whole_mads_only)
{
	static const struct srdma_ud_env qp1 = {
		.qkey = 0x11111111, .pkey = 0xffff, .mtu = 1024,
		.mads_only = true,
	};
	struct srdma_pkt pkt = datagram(256);

	EXPECT_EQ(srdma_ud_recv_check(&pkt, &qp1), SRDMA_UD_RECV_OK);
	pkt.payload_len = 255;
	EXPECT_EQ(srdma_ud_recv_check(&pkt, &qp1), SRDMA_UD_RECV_LENGTH);
	EXPECT_EQ(srdma_ud_recv_check(&pkt, &env), SRDMA_UD_RECV_OK);
	pkt.payload_len = 257;
	EXPECT_EQ(srdma_ud_recv_check(&pkt, &qp1), SRDMA_UD_RECV_LENGTH);
}

TEST(ud_recv_need__grh_area_counts)
{
	struct srdma_pkt pkt = datagram(100);

	EXPECT_EQ(srdma_ud_recv_need(&pkt), 140);
	pkt.payload_len = 0;
	EXPECT_EQ(srdma_ud_recv_need(&pkt), 40);
}

TEST(ud_grh_v4__last_twenty_bytes)
{
	uint8_t ip[20], grh[40], zero[20] = {};
	uint64_t state = 4;

	test_random_bytes(&state, ip, sizeof(ip));
	memset(grh, 0xa5, sizeof(grh));
	srdma_ud_grh_v4(grh, ip);
	EXPECT_MEM(grh, zero, 20);
	EXPECT_MEM(grh + 20, ip, 20);
}

TEST(ud_grh_v6__as_it_is)
{
	uint8_t ip[40], grh[40];
	uint64_t state = 6;

	test_random_bytes(&state, ip, sizeof(ip));
	srdma_ud_grh_v6(grh, ip);
	EXPECT_MEM(grh, ip, 40);
}
