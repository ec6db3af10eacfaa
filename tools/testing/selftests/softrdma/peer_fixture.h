/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Included once by each test program about a peer made of frames: the link of
 * wire_fixture.h, and for each test a QP that is connected to the peer.
 */
#ifndef SRT_PEER_FIXTURE_H
#define SRT_PEER_FIXTURE_H

#include "wire_fixture.h"

#include "cm.h"
#include "peer.h"

#define PSN	PEER_PSN
#define MTU	PEER_MTU

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
