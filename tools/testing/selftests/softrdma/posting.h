/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Included once by each program that tests calls of librdmacm: the topology, and
 * what they ask about completions. posting_fixture.h has a connection for each test.
 *
 *	namespace A				namespace B
 *	srtd0 (dummy) <-- srt0			srtv1 (veth) <-- srtb
 *	10.77.0.1 fd77::1			10.78.0.2 fd78::2
 *	srtv0 (veth) <-- srta
 *	10.78.0.1 fd78::1
 */
#ifndef SRT_POSTING_H
#define SRT_POSTING_H

#include "../kselftest_harness.h"

#include <errno.h>

#include "cm.h"
#include "ends.h"
#include "topo.h"

#undef TEST_F
#define TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 120)

/* A completion comes at once; a failing connection may retry for a while. */
#define SOON_MS		10000

static void __attribute__((constructor)) posting_setup(void)
{
	int ret = topo_setup() ?: ends_setup();

	if (!ret)
		return;
	printf("Bail out! no links to test on: %s\n", strerror(-ret));
	exit(1);
}

/* Runs in the program only: its forked tests leave by _exit(). */
static void __attribute__((destructor)) posting_teardown(void)
{
	ends_teardown();
	topo_teardown();
}

/* The connection of a test, and a context to recognize. */
#define CONTEXT(n) ((void *)(uintptr_t)(0xc0ffee0000000000ull + (n)))

static struct ibv_sge __attribute__((unused))
piece(const struct cm_end *end, size_t offset, uint32_t length)
{
	return (struct ibv_sge) {
		.addr = (uintptr_t)end->buf + offset,
		.length = length,
		.lkey = end->mr->lkey,
	};
}

/* The next completion, which has to be this one. */
static bool __attribute__((unused))
completes(struct ibv_cq *cq, void *context, enum ibv_wc_opcode opcode,
	  enum ibv_wc_status status)
{
	struct ibv_wc wc = {};

	if (cm_poll(cq, &wc, SOON_MS) != 1) {
		fprintf(stderr, "# no completion\n");
		return false;
	}
	if (wc.wr_id == (uintptr_t)context && wc.status == status &&
	    (status || wc.opcode == opcode))
		return true;
	fprintf(stderr, "# wr_id %#lx, opcode %d, %s\n", (long)wc.wr_id,
		wc.opcode, ibv_wc_status_str(wc.status));
	return false;
}

/* Nothing is there, nor about to come from what has completed. */
static bool __attribute__((unused)) is_quiet(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	return ibv_poll_cq(cq, 1, &wc) == 0;
}

#endif
