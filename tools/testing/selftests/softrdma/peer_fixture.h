/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Included once by each test program about a peer made of frames: the link, and
 * for each test a QP that is connected to the peer.
 *
 *	test program				softrdma
 *	frames <--> tap descriptor | srtw0 (tap) <-- srt0
 *	10.77.0.2				10.77.0.1
 */
#ifndef SRT_PEER_FIXTURE_H
#define SRT_PEER_FIXTURE_H

#include "../kselftest_harness.h"

#include "cm.h"
#include "counters.h"
#include "peer.h"
#include "topo.h"
#include "wire.h"

#undef TEST_F
#define TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 120)

#define PSN	PEER_PSN
#define MTU	PEER_MTU

static void __attribute__((constructor)) setup(void)
{
	int ret = wire_setup();

	if (!ret)
		return;
	printf("Bail out! no link to test on: %s\n", strerror(-ret));
	exit(1);
}

static void __attribute__((destructor)) teardown(void)
{
	wire_teardown();
}

FIXTURE(peer)
{
	struct peer_attr attr;
	struct peer peer;
	struct peer_heard heard;
	struct ibv_wc wc;
};

FIXTURE_SETUP(peer)
{
	self->attr = PEER_ATTR_DEFAULT;
	ASSERT_EQ(0, peer_open(&self->peer, &self->attr));
}

FIXTURE_TEARDOWN(peer)
{
	EXPECT_EQ(0, peer_close(&self->peer));
}

#endif
