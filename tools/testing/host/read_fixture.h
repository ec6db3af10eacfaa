/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Requests for parts of READs, and their answers. */
#ifndef HOST_READ_FIXTURE_H
#define HOST_READ_FIXTURE_H

#include "req_fixture.h"
#include "proto/rc_req_priv.h"

/* Something was lost before, and there is room for @window packets. */
static __maybe_unused void begin_narrow(const struct srdma_rc_req_attr *a,
					uint32_t window)
{
	begin(a);
	req.heard = true;
	req.ssthresh = window;
	req.cwnd = window;
	req.cwnd_floor = 2;
}

/* It asks for these packets of the READ. */
static __maybe_unused void expect_asks(uint32_t first, uint32_t end, bool again)
{
	REQUIRE(EXPECT_EQ(next(), SRDMA_NEXT_SEND));
	expect_burst(first, 1, first * MTU, (end - first) * MTU,
		     SRDMA_RC_READ_REQ);
	EXPECT_EQ(burst.b.resend, again);
	sent();
}

/* The answer to a request for these. */
static __maybe_unused void answer(uint32_t first, uint32_t end)
{
	uint32_t i;

	for (i = first; i < end; i++)
		EXPECT_EQ(take_read(srdma_opcode_read_resp(i == first, i + 1 == end),
				    i, MTU), SRDMA_REQ_PLACE);
}

#endif
