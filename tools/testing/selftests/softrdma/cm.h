/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two ends of an rdma_cm connection in one process, made by the calls of
 * librdmacm(7): the server listens and accepts in a thread, in its namespace.
 */
#ifndef SRT_CM_H
#define SRT_CM_H

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define CM_BUF_LEN	(256 * 1024)

/**
 * struct cm_config - what to connect, and how
 * @server: address of the server
 * @across: the server is in the other namespace (ends.h)
 * @enter: takes the server's thread to where it shall be, in place of @across;
 *	0 or -errno
 * @datagram: RDMA_PS_UDP instead of RDMA_PS_TCP
 * @srq_wr: the server has an SRQ of so many receives; 0: none
 * @attr_srq: give the SRQ to rdma_create_qp() in its attributes, as one that
 *	several ids could share
 * @sig_all: each send is signaled
 * @max_sge: pieces of a send or a receive; 0 is 4
 * @max_send_wr: depth of the send queue; 0 is 16
 */
struct cm_config {
	const char *server;
	bool across;
	int (*enter)(void);
	bool datagram;
	int srq_wr;
	bool attr_srq;
	bool sig_all;
	int max_sge;
	int max_send_wr;
};

/**
 * struct cm_end - one end
 * @id: its identifier; the QP and the completion queues are the id's
 * @buf: memory, CM_BUF_LEN bytes
 * @mr: @buf as the end registered it, or NULL
 * @srq: an SRQ that is not the id's
 */
struct cm_end {
	struct rdma_cm_id *id;
	uint8_t *buf;
	struct ibv_mr *mr;
	struct ibv_srq *srq;
};

/**
 * struct cm_pair - a connection
 * @client: who connected
 * @server: who accepted
 * @listen: where the server heard
 * @ah: datagram: leads the client to the server
 * @qpn: datagram: number of the server's QP
 */
struct cm_pair {
	struct cm_end client;
	struct cm_end server;
	struct rdma_cm_id *listen;
	struct ibv_ah *ah;
	uint32_t qpn;
};

/*
 * The steps up to a connection. After cm_prepare() both ends have buffers and
 * the client's id has an address, a route and a QP; cm_connect() connects.
 * 0 or -errno; each can be followed by cm_close().
 */
int cm_prepare(struct cm_pair *pair, const struct cm_config *config);
int cm_connect(struct cm_pair *pair, const struct cm_config *config);
int cm_open(struct cm_pair *pair, const struct cm_config *config);

/*
 * rdma_disconnect() of both ends at once: each waits until the other has heard
 * of it. What it returned.
 */
int cm_disconnect(struct cm_pair *pair);

/* 0, or what rdma_dereg_mr() or ibv_destroy_ah() said. */
int cm_close(struct cm_pair *pair);

/* One completion; 1, or 0 when none came in time. */
int cm_poll(struct ibv_cq *cq, struct ibv_wc *wc, int timeout_ms);

/* Address and port as a socket address. */
void cm_address(struct sockaddr_storage *to, const char *address, int port);

/* Bytes that tell their place and the message from others. */
void cm_fill(uint8_t *buf, size_t len, unsigned int seed);
bool cm_holds(const uint8_t *buf, size_t len, unsigned int seed);
bool cm_is_all(const uint8_t *buf, size_t len, uint8_t byte);

#endif
