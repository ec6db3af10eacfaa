/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Included once by each program about one posting call: for each test a connection
 * (fixture "rc"), inside a namespace and between two, with both buffers registered
 * and that of the sending end filled. The other two ways, IPv6 inside and IPv4
 * between, are posting_ways.c's.
 *
 * Before it, a program may define
 *
 * POSTING_DATAGRAM
 *	true for the UDP port space
 * POSTING_REGISTER
 *	what registers the server's buffer; rdma_reg_msgs otherwise
 * POSTING_FILLED
 *	the end whose buffer is filled; client otherwise
 */
#ifndef SRT_POSTING_FIXTURE_H
#define SRT_POSTING_FIXTURE_H

#include "posting.h"

#ifndef POSTING_DATAGRAM
#define POSTING_DATAGRAM false
#endif
#ifndef POSTING_REGISTER
#define POSTING_REGISTER rdma_reg_msgs
#endif
#ifndef POSTING_FILLED
#define POSTING_FILLED client
#endif

FIXTURE(rc)
{
	struct cm_pair pair;
	struct cm_end *client, *server;
	struct cm_config config;
};

FIXTURE_VARIANT(rc)
{
	const char *server;
	bool across;
};

FIXTURE_VARIANT_ADD(rc, loopback_ipv4)
{
	.server = TOPO_IPV4,
};

FIXTURE_VARIANT_ADD(rc, netns_ipv6)
{
	.server = ENDS_B6,
	.across = true,
};

static int register_both(struct cm_pair *pair)
{
	struct cm_end *client = &pair->client, *server = &pair->server;

	client->mr = rdma_reg_msgs(client->id, client->buf, CM_BUF_LEN);
	server->mr = POSTING_REGISTER(server->id, server->buf, CM_BUF_LEN);
	cm_fill(pair->POSTING_FILLED.buf, CM_BUF_LEN, 1);
	return client->mr && server->mr ? 0 : -errno;
}

/* A new connection for a test that has lost its own to an error. */
static int __attribute__((unused))
open_again(struct cm_pair *pair, const struct cm_config *config)
{
	return cm_close(pair) ?: cm_open(pair, config) ?: register_both(pair);
}

FIXTURE_SETUP(rc)
{
	self->config = (struct cm_config) {
		.server = variant->server,
		.across = variant->across,
		.datagram = POSTING_DATAGRAM,
	};
	self->client = &self->pair.client;
	self->server = &self->pair.server;
	ASSERT_EQ(0, cm_open(&self->pair, &self->config));
	ASSERT_EQ(0, register_both(&self->pair));
}

FIXTURE_TEARDOWN(rc)
{
	EXPECT_EQ(0, cm_close(&self->pair));
}

#endif
