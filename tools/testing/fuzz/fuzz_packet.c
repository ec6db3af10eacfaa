// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The packet parser on arbitrary bytes. What it accepts must add up, must be
 * the same again after being built and parsed, and must not surprise those
 * who look at it next.
 */
#include "fuzz.h"
#include "proto/aeth.h"
#include "proto/packet.h"
#include "proto/ud.h"

/* The bits of a header that mean something, by building from what was read. */
static void check_rebuilt(const struct srdma_pkt *pkt, uint32_t udp_len)
{
	uint8_t hdr[SRDMA_HDR_MAX], again[SRDMA_HDR_MAX];
	struct srdma_pkt got;
	uint32_t len;

	len = srdma_pkt_build(hdr, pkt);
	CHECK(len == pkt->hdr_len);
	CHECK(srdma_pkt_parse(&got, hdr, len, udp_len) == SRDMA_PARSE_OK ||
	      srdma_pkt_pad(pkt->payload_len) != pkt->pad);
	if (srdma_pkt_pad(pkt->payload_len) != pkt->pad)
		return;
	CHECK(got.psn == pkt->psn && got.dest_qpn == pkt->dest_qpn);
	CHECK(got.payload_len == pkt->payload_len && got.op == pkt->op);
	CHECK(got.se == pkt->se && got.mig == pkt->mig);
	CHECK(got.ack_req == pkt->ack_req && got.pkey == pkt->pkey);
	CHECK(srdma_pkt_build(again, &got) == len);
	CHECK(!memcmp(hdr, again, len));
}

static void check_consumers(const struct srdma_pkt *pkt)
{
	static const struct srdma_ud_env env = {
		.qkey = 0x11111111, .pkey = 0xffff, .mtu = 1024,
	};
	enum srdma_ud_recv verdict = srdma_ud_recv_check(pkt, &env);

	if (verdict == SRDMA_UD_RECV_OK) {
		CHECK(pkt->payload_len <= 1024);
		CHECK(srdma_ud_recv_need(pkt) == 40 + pkt->payload_len);
	}
	if (pkt->op->flags & SRDMA_OP_AETH) {
		srdma_aeth_kind(pkt->aeth.syndrome);
		srdma_rnr_timer_ns(pkt->aeth.syndrome);
		srdma_credit_decode(pkt->aeth.syndrome);
	}
}

/* A receiver that pulled the first @avail bytes only says no more than that. */
static void check_headers_only(const uint8_t *data, size_t size, size_t avail,
			       enum srdma_parse whole)
{
	uint8_t *hdr = malloc(avail ? avail : 1);
	enum srdma_parse part;
	struct srdma_pkt pkt;

	CHECK(hdr);
	memcpy(hdr, data, avail);
	part = srdma_pkt_parse(&pkt, hdr, avail, size);
	free(hdr);
	CHECK(part == whole || part == SRDMA_PARSE_SHORT);
	if (avail == SRDMA_HDR_MAX)
		CHECK(part == whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t avail = size < SRDMA_HDR_MAX ? size : SRDMA_HDR_MAX;
	enum srdma_parse verdict;
	struct srdma_pkt pkt;

	verdict = srdma_pkt_parse(&pkt, data, size, size);
	CHECK(verdict < SRDMA_PARSE_NR);
	check_headers_only(data, size, avail, verdict);
	if (avail > 12)
		check_headers_only(data, size, 12 + data[0] % (avail - 12),
				   verdict);
	if (verdict != SRDMA_PARSE_OK)
		return 0;
	CHECK(pkt.op && pkt.op->name);
	CHECK(pkt.hdr_len <= SRDMA_HDR_MAX && pkt.pad <= 3);
	CHECK(pkt.payload_len <= SRDMA_MTU_MAX);
	CHECK(pkt.hdr_len + pkt.payload_len + pkt.pad + 4 == size);
	CHECK(pkt.psn <= 0xffffff && pkt.dest_qpn <= 0xffffff);
	check_rebuilt(&pkt, size);
	check_consumers(&pkt);
	return 0;
}
